/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the map of a host's queues, for people and for programs. */
#ifndef NTPROF_VIEW_QUEUE_MAP_H
#define NTPROF_VIEW_QUEUE_MAP_H

#include <stdio.h>

#include "core/queue_map.h"
#include "view/columns.h"

/* Rows are struct mapped_controller. */
extern const struct columns mapped_controller_columns;

enum mapped_queue_column {
	MAPPED_CONTROLLER,
	MAPPED_QUEUE,
	MAPPED_CPUS,
	MAPPED_IO_CPU,
	MAPPED_LOCAL,
	MAPPED_REMOTE,
	MAPPED_NIC,
	MAPPED_RX_QUEUE,
	MAPPED_IRQ_CPUS,
	MAPPED_RX_CPU,
	MAPPED_NODE,
};

/* Rows are struct mapped_queue. */
extern const struct columns mapped_queue_columns;

/** queue_map_print() - as two tables: controllers and queues */
void queue_map_print(const struct queue_map *m, FILE *f);

/**
 * queue_map_print_json() - as one object
 * @missing: why sockets are not known; NULL: they are
 *
 * Return: 0, -EIO or -ENOMEM.
 */
int queue_map_print_json(const struct queue_map *m, const char *missing, FILE *f);

/** queue_map_print_csv() - a line for each queue */
void queue_map_print_csv(const struct queue_map *m, FILE *f);

#endif /* NTPROF_VIEW_QUEUE_MAP_H */
