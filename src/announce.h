/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which connections a reader of records has been told of: the first record of each is preceded by who
 * it is.
 */
#ifndef NTPROF_ANNOUNCE_H
#define NTPROF_ANNOUNCE_H

#include <stdint.h>

#include "stream.h"
#include "tracer.h"

/**
 * struct announced - begins as all zeroes
 * @gen: [slot] the connection last told of
 */
struct announced {
	uint32_t *gen;
	uint32_t nr;
};

/**
 * announce() - whether a record's connection is new
 * @a: what has been announced; from now on that one is, too
 * @t: whose record it is
 * @r: record
 * @q: filled when it is new
 *
 * Return: 1 when new, 0 when not, -ENOMEM.
 */
int announce(struct announced *a, const struct tracer *t, const struct nt_record *r,
	     struct stream_queue *q);

/** announced_free() - release */
void announced_free(struct announced *a);

#endif /* NTPROF_ANNOUNCE_H */
