/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The latest records, as frames of a stream that has not been written. They are in blocks of a
 * bounded number, and the oldest block is dropped first. The ring also knows the connections of the
 * records and the names of their namespaces.
 */
#ifndef NTPROF_SERVE_RING_H
#define NTPROF_SERVE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/counters.h"
#include "core/device.h"
#include "core/hash.h"
#include "core/time.h"
#include "stream/writer.h"

/* Connections that the ring knows, some 9 MiB. The records of further ones stay unidentified. */
#define RING_QUEUES_MAX 16384
/* Namespaces that the ring knows, some 2 MiB. With more of them, the oldest names are dropped. */
#define RING_DEVICES_MAX 4096
/*
 * A block ends when it is full, or after this share of the time to keep. Records may stay that much
 * longer than asked for.
 */
#define RING_BLOCKS_OF_TIME 32
/* The least memory, so that blocks that are not full fit as well. */
#define RING_BYTES_MIN (4ULL << 20)

/**
 * struct ring_block - a frame of records
 * @number: counts blocks, from 1 on
 * @began_ns: when its first record came, CLOCK_MONOTONIC
 * @ended: when the block was ended
 * @losses: counters when the block began
 */
struct ring_block {
	struct ring_block *next;
	uint64_t number;
	uint64_t began_ns;
	struct instant ended;
	uint64_t losses[COUNTERS_NR];
	struct gathered records;
};

/*
 * A connection. @last_block: number of the last block with a record of it. @told: number of the
 * last file that announced it; 0: none.
 */
struct ring_queue {
	struct {
		uint32_t slot;
		uint32_t gen;
		uint32_t cntlid;
	} key;
	struct queue_info q;
	uint64_t last_block;
	uint64_t told;
	UT_hash_handle hh;
};

/*
 * The name of a namespace. It is kept as long as there is room, because it is announced only once.
 * @told: as of struct ring_queue
 */
struct ring_device {
	struct {
		char subsysnqn[NT_NQN_LEN];
		uint32_t instance;
		uint32_t nsid;
	} key;
	struct device_name d;
	uint64_t told;
	UT_hash_handle hh;
};

/**
 * struct ring - the blocks
 * @oldest: the first of the ended blocks, which are a list up to @newest
 * @open: the block that records go into, or NULL
 * @numbers: number of the last block that was begun
 * @nr: number of blocks, @open included; at most @max
 * @kept: records in the blocks
 * @left_out: records that were dropped before their time, or that found no memory
 * @reader: number of the first block that has not been written to the file in progress; 0: no file
 *          is being written
 * @at: the block that ring_from() returned last, or NULL
 * @missed: records that were dropped before they were written to that file
 * @file: number of that file, or of the last one; from 1 on
 * @untold: a connection or a namespace may be in the ring that was not announced to that file
 * @queues, @devices: hash tables
 * @unnamed: names that found no room: a connection, once for each block that has records of it, and
 *           a namespace whose name was dropped
 * @sweep_at: with this many connections, those without records are removed
 * @swept: number of the oldest block when that was done last
 * @losses: counters as of the last collection
 */
struct ring {
	uint64_t keep_ns;
	struct gatherer *gatherer;
	struct ring_block *oldest;
	struct ring_block *newest;
	struct ring_block *open;
	uint64_t numbers;
	unsigned int nr;
	unsigned int max;
	uint64_t kept;
	uint64_t left_out;
	uint64_t reader;
	struct ring_block *at;
	uint64_t missed;
	uint64_t file;
	bool untold;
	struct ring_queue *queues;
	struct ring_device *devices;
	uint64_t unnamed;
	unsigned int sweep_at;
	uint64_t swept;
	uint64_t losses[COUNTERS_NR];
};

/**
 * ring_init() - make an empty ring
 * @keep_ns: how long records are kept
 * @bytes: memory for the blocks, at least RING_BYTES_MIN
 *
 * Return: 0 or -ENOMEM.
 */
int ring_init(struct ring *r, uint64_t keep_ns, uint64_t bytes);

/**
 * ring_resize() - change both limits of ring_init(); blocks that no longer fit are dropped when the
 * next block begins
 */
void ring_resize(struct ring *r, uint64_t keep_ns, uint64_t bytes);

/**
 * ring_add() - add a record; one that finds no room is counted
 * @now_ns: CLOCK_MONOTONIC
 *
 * Return: whether the caller has to call ring_tell(), because the record's connection or the name
 * of its subsystem is not known.
 */
bool ring_add(struct ring *r, const struct nt_record *rec, uint64_t now_ns);

/**
 * ring_tell() - add the connection of the last record
 *
 * With RING_QUEUES_MAX connections in the ring, another one is left out and counted.
 *
 * Return: 0 or -ENOMEM.
 */
int ring_tell(struct ring *r, const struct queue_info *q);

/**
 * ring_tell_device() - add the name of a namespace, before its first record. Return: 0 or -ENOMEM
 */
int ring_tell_device(struct ring *r, const struct device_name *d);

/** ring_end_block() - end the open block, so that it can be written */
void ring_end_block(struct ring *r);

/** ring_age() - end a block that has been open for long, and drop blocks older than @keep_ns */
void ring_age(struct ring *r, uint64_t now_ns);

/** ring_from() - the oldest of the ended blocks from @number on; NULL if there is none */
struct ring_block *ring_from(struct ring *r, uint64_t number);

/** ring_bytes() - memory that the blocks take */
uint64_t ring_bytes(const struct ring *r);

/** ring_free() - release; a ring of all zeroes is fine */
void ring_free(struct ring *r);

#endif /* NTPROF_SERVE_RING_H */
