/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of sides, sources, points, stages, operations and shapes, from the tables of points.h
 * and record.h, and those of opcodes and status codes. All are static strings; "unknown" for a
 * number that is out of range.
 */
#ifndef NTPROF_CORE_NAMES_H
#define NTPROF_CORE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/record.h"

const char *side_name(enum nt_side side);
const char *source_name(enum nt_source source);	    /* "none" for a number out of range */
const char *transport_name(unsigned int transport); /* see NT_TRANSPORTS */
/* @len bytes of @name; NT_TRANSPORTS_NR if there is none */
unsigned int transport_named(const char *name, size_t len);
const char *op_name(enum nt_op op);
enum nt_op op_named(const char *name); /* NT_OPS_NR if there is none */
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

/**
 * module_traced() - the module that has to be loaded: driver_name(), or nvme_core for a host's
 * controllers of other transports alone
 * @transports: bits of enum nt_transport; 0: TCP
 */
const char *module_traced(enum nt_side side, unsigned int transports);

/** module_load() - command that loads it */
const char *module_load(enum nt_side side, unsigned int transports);

/** driver_load() - command that loads the module: "modprobe nvme-tcp" or "modprobe nvmet-tcp" */
const char *driver_load(enum nt_side side);

/** stages_nr(), points_nr() - how many stages or points a side has */
unsigned int stages_nr(enum nt_side side);
unsigned int points_nr(enum nt_side side);

/** record_points_nr() - the same for a record, which may have points of a disk as well */
unsigned int record_points_nr(enum nt_side side);

/** record_point() - the point that @r has in place @i: of a file, another one than of a disk */
static inline unsigned int record_point(const struct nt_record *r, unsigned int i)
{
	return i == NT_TD_ISSUE && r->side == NT_TARGET && r->flags & NT_F_FILE ? NT_FILE_WORK : i;
}

/* The names of opcodes. */

/**
 * opcode_fabrics_type() - the type of a Fabrics command; it is in the first byte of the field that
 * is the NSID of other commands
 */
static inline __u8 opcode_fabrics_type(const struct nt_record *r)
{
	return r->nsid & 0xff;
}

/**
 * opcode_name() - name of a command
 * @op: operation of the command: admin and Fabrics commands have names of their own
 * @opcode: its opcode
 * @type: type of a Fabrics command
 *
 * Return: the name in the NVMe specifications (Base 2.0, figures 138 and 519; NVM Command Set 1.0;
 * Zoned Namespace Command Set 1.1), in lower case and with underscores; static string.
 * "vendor_specific" or "reserved" for other opcodes.
 */
const char *opcode_name(enum nt_op op, __u8 opcode, __u8 type);

/* The status codes of commands, and their names. */

/** status_is_error() - whether @status, of a record, means that the command failed */
static inline bool status_is_error(__u16 status)
{
	return status & NT_STATUS_MASK;
}

/**
 * status_name() - name of a status
 * @op: operation of the command: Fabrics commands have status codes of their own
 * @status: of a record; the bits about retries (CRD, More, DNR) are ignored
 *
 * Return: the name in the NVMe specifications (Base 2.0, 3.3.3.2.1; NVM Command Set 1.0; Zoned
 * Namespace Command Set 1.1; over Fabrics 1.1, 3), in lower case and with underscores; static
 * string. "unknown" if no specification has the status.
 */
const char *status_name(enum nt_op op, __u16 status);

#endif /* NTPROF_CORE_NAMES_H */
