/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of sides, sources, points, stages, operations and shapes, from the tables of points.h
 * and record.h. All are static strings; "unknown" for a number that is out of range.
 */
#ifndef NTPROF_CORE_NAMES_H
#define NTPROF_CORE_NAMES_H

#include "core/record.h"

const char *side_name(enum nt_side side);
const char *source_name(enum nt_source source); /* "none" for a number out of range */
const char *op_name(enum nt_op op);
const char *shape_name(enum nt_shape shape);
const char *stage_name(enum nt_side side, unsigned int stage);
const char *point_name(enum nt_side side, unsigned int point);

/*
 * A recorder prints this to standard error while the module is not loaded, followed by the module's
 * name.
 */
#define WAITING_FOR_MODULE "waiting for module "

/** driver_name() - name of the traced module in /sys/module: "nvme_tcp" or "nvmet_tcp" */
const char *driver_name(enum nt_side side);

/** stages_nr(), points_nr() - how many stages or points a side has */
unsigned int stages_nr(enum nt_side side);
unsigned int points_nr(enum nt_side side);

#endif /* NTPROF_CORE_NAMES_H */
