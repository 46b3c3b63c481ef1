/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds out which two endpoints are one connection, and how far apart their clocks are. An endpoint
 * is one side's view of a connection. The result is the offset on which most pairs of records
 * agree, of all pairs that could be one command.
 */
#ifndef NTPROF_MERGE_ALIGN_H
#define NTPROF_MERGE_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "merge/pending.h"
#include "merge/topology.h"

/**
 * align_endpoint() - look for the partner of an endpoint, or for the offset between their clocks,
 * or for both
 * @t: topology; partners that are found are bound there
 * @pool: the records that wait
 * @h: an endpoint at which records wait
 * @patient: the endpoint has waited long enough: decide by the records that there are
 * @from: filled when found: the offset at one instant. Records of @h and its partner can be matched
 *        from that instant on, and back from it.
 *
 * Return: true when found.
 */
bool align_endpoint(struct topology *t, const struct pending_pool *pool, struct endpoint *h,
		    bool patient, struct offset_bounds *from);

/**
 * align_possible() - whether records wait at another endpoint that may be the partner
 * @t: topology
 * @h: endpoint
 * @but: an endpoint that does not count; NULL: all count
 * @known: the offset between the two clocks has to be known
 *
 * Return: false also where too many endpoints have the same name: nothing would tell them apart.
 */
bool align_possible(const struct topology *t, const struct endpoint *h, const struct endpoint *but,
		    bool known);

#endif /* NTPROF_MERGE_ALIGN_H */
