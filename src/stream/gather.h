/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes frames of records before it is known whether they will be written. stream_write_gathered()
 * then puts them into a stream as they are.
 */
#ifndef NTPROF_STREAM_GATHER_H
#define NTPROF_STREAM_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"

/* Size of a frame while it is made: up to GATHERED_SLACK bytes past its end are touched. */
#define GATHERED_SLACK 8
#define GATHERED_BYTES (STREAM_FRAME_MAX + GATHERED_SLACK)

/**
 * struct gathered - a frame
 * @len: length of its payload in bytes
 * @records: number of records in it
 * @frame: room for the head of the frame, then the payload
 */
struct gathered {
	size_t len;
	unsigned int records;
	uint8_t frame[GATHERED_BYTES];
};

struct gatherer;

/** gatherer_new() - makes frames one after another; NULL when memory ran out */
struct gatherer *gatherer_new(void);

/** gather_begin() - begin a frame in @to; records go there from now on */
void gather_begin(struct gatherer *g, struct gathered *to);

/**
 * gather() - append a record
 * @g: gatherer, after gather_begin()
 * @r: record; its side is that of the stream
 * @first: set to whether it is the first one of its connection in this frame
 *
 * Return: 0; -ENOSPC when the frame is full, without the record; -EINVAL for a record that no
 * stream may have; -ENOMEM.
 */
int gather(struct gatherer *g, const struct nt_record *r, bool *first);

/** gatherer_free() - release; NULL is fine. Frames belong to the caller. */
void gatherer_free(struct gatherer *g);

#endif /* NTPROF_STREAM_GATHER_H */
