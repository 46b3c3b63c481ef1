/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records of the last while, as frames of a stream that has not been written: a bounded number of blocks, the oldest of
 * which go first. With them who their connections are, and what their namespaces are called.
 */
#ifndef NTPROF_KEEP_RING_H
#define NTPROF_KEEP_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/counters.h"
#include "core/device.h"
#include "core/hash.h"
#include "core/queue.h"
#include "core/time.h"
#include "stream/gather.h"

/* Connections that are known beside the records, some 9 MiB: of more it is not known who they are. */
#define RING_QUEUES_MAX 16384
/* Namespaces that are known, some 2 MiB: of more the ones that were told first have no name. */
#define RING_DEVICES_MAX 4096
/* A block ends when it is full, or after this share of the time: so much more than that may be kept. */
#define RING_BLOCKS_OF_TIME 32
/* The least memory: blocks that are not full have to fit as well. */
#define RING_BYTES_MIN (4ULL << 20)

/**
 * struct ring_block - a frame of records
 * @number: from 1 on, one more each
 * @began_ns: when its first record came, CLOCK_MONOTONIC; @ended: when it was ended
 * @losses: so far, when it began
 */
struct ring_block {
	struct ring_block *next;
	uint64_t number;
	uint64_t began_ns;
	struct instant ended;
	uint64_t losses[COUNTERS_NR];
	struct gathered records;
};

/* A connection: @last_block has records of it. @told: in which file it was told; 0: in none. */
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

/* What a namespace is called. It stays as long as there is room: nobody tells again. @told: as above */
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
 * @oldest: of those that are ended, up to @newest
 * @open: the one that records go into, or NULL
 * @nr: how many there are, @open included; @max at most
 * @kept: records in them
 * @left_out: records that went before their time, or never came in
 * @reader: somebody reads blocks from this one on; 0: nobody does
 * @missed: records that went before he had read them
 * @queues, @devices: hash tables
 * @sweep_at: with so many of them it is time to look for those that are not needed
 * @losses: as of the last collection
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
	uint64_t missed;
	struct ring_queue *queues;
	struct ring_device *devices;
	unsigned int sweep_at;
	uint64_t losses[COUNTERS_NR];
};

/**
 * ring_init() - an empty one
 * @keep_ns: how long records are kept
 * @bytes: of memory, RING_BYTES_MIN at least
 *
 * Return: 0 or -ENOMEM.
 */
int ring_init(struct ring *r, uint64_t keep_ns, uint64_t bytes);

/** ring_resize() - the same of one that has records; those for which there is no room any more go with the next one */
void ring_resize(struct ring *r, uint64_t keep_ns, uint64_t bytes);

/**
 * ring_add() - a record has come; what finds no room is counted
 * @now_ns: CLOCK_MONOTONIC
 *
 * Return: whether it is to be told whose it is, by ring_tell(): nobody knows, or not by name.
 */
bool ring_add(struct ring *r, const struct nt_record *rec, uint64_t now_ns);

/** ring_tell() - who the connection of the last record is. Of more than RING_QUEUES_MAX it is not known. 0 or -ENOMEM */
int ring_tell(struct ring *r, const struct queue_info *q);

/** ring_tell_device() - what a namespace is called, before its first record. 0 or -ENOMEM */
int ring_tell_device(struct ring *r, const struct device_name *d);

/** ring_end_block() - what has come so far can be written */
void ring_end_block(struct ring *r);

/** ring_age() - end what is open for long, and release what is older than is to be kept */
void ring_age(struct ring *r, uint64_t now_ns);

/** ring_from() - the oldest block that has ended, of those from @number on; NULL if there is none */
struct ring_block *ring_from(const struct ring *r, uint64_t number);

/** ring_bytes() - memory of the blocks */
uint64_t ring_bytes(const struct ring *r);

/** ring_free() - release; one that is all zero is fine */
void ring_free(struct ring *r);

#endif /* NTPROF_KEEP_RING_H */
