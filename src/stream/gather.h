/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames of records that are made before it is known whether they will be written: stream_write_gathered() puts them into
 * a stream as they are.
 */
#ifndef NTPROF_STREAM_GATHER_H
#define NTPROF_STREAM_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"

/* What a frame takes while it is made: so many bytes past its end are touched. */
#define GATHERED_SLACK 8
#define GATHERED_BYTES (STREAM_FRAME_MAX + GATHERED_SLACK)

/**
 * struct gathered - a frame
 * @len: bytes of its payload, behind room for its head
 * @records: in it
 */
struct gathered {
	size_t len;
	unsigned int records;
	uint8_t frame[GATHERED_BYTES];
};

struct gatherer;

/** gatherer_new() - what knows the frame that is being made; NULL when memory ran out */
struct gatherer *gatherer_new(void);

/** gather_begin() - records go into @to from now on, which is made empty */
void gather_begin(struct gatherer *g, struct gathered *to);

/**
 * gather() - append a record
 * @g: gatherer, after gather_begin()
 * @r: record, its side is that of the stream
 * @first: whether it is the first one of its connection in this frame
 *
 * Return: 0; -ENOSPC when the frame is full, and the record is not in it; -EINVAL for a record that no stream has; -ENOMEM.
 */
int gather(struct gatherer *g, const struct nt_record *r, bool *first);

/** gatherer_free() - release; NULL is fine. Frames are their owners' */
void gatherer_free(struct gatherer *g);

#endif /* NTPROF_STREAM_GATHER_H */
