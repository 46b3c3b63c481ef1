/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections as text: where the time of their commands goes, and how their records were matched.
 */
#ifndef NTPROF_VIEW_CONNECTIONS_H
#define NTPROF_VIEW_CONNECTIONS_H

#include <stdio.h>

#include "merge/merge.h"
#include "merge/totals.h"

/**
 * connections_print_stages() - print a table with a row for each connection and operation: its
 * commands, mean latency, the number of unsplit commands, and the mean of each stage of the others
 *
 * Return: 0 or -ENOMEM.
 */
int connections_print_stages(const struct totals *m, FILE *f);

/**
 * connections_print() - print one line about the records of each connection, in the order of their
 * names:
 *   connection NQN cntlid C queue Q: matched M, host only H, target only T, ambiguous A, clock
 *   offset NS ns +- NS ns, drift PPM ppm; host NAME, target NAME
 *
 * Return: 0 or -ENOMEM.
 */
int connections_print(const struct merge *m, const struct machines *machines, FILE *f);

/**
 * connections_print_strays() - print lines about records that belong to no connection, and about
 * records that were given up to make room, if there are any
 */
void connections_print_strays(const struct merge *m, FILE *f);

#endif /* NTPROF_VIEW_CONNECTIONS_H */
