/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What others did while one of the slowest commands waited: its queue, its socket, the target's
 * worker and the disk. Counted when the recordings are read once more, as it is known only at the
 * end which commands are the slowest.
 */
#ifndef NTPROF_MERGE_BLOCKED_H
#define NTPROF_MERGE_BLOCKED_H

#include "core/device.h"
#include "core/disks.h"
#include "merge/totals.h"

/* Of more of the slowest commands this is not counted: each record is compared with all of them. */
#define BLOCKED_MAX 32u
/*
 * Connections whose subsystems are known; commands of others are counted apart. As many namespaces
 * have a known disk; commands of others are of no other namespace's.
 */
#ifndef BLOCKED_QUEUES
#define BLOCKED_QUEUES 65536u
#endif

/**
 * struct blocked - counts of other commands
 * @ahead: of its queue, that were there when it began and ended before it
 * @overtook: of its queue, that began after it and ended before it
 * @sent: of its queue, that were sent while it waited to be sent
 * @to_target, @to_host: bytes of data of its queue that came before its capsule, or its answer,
 *                       and were not all read yet when that was sent; of matched commands
 * @handled: of its queue at the target, whose capsules were handled while its own waited
 * @answered: of its queue at the target, whose answers were sent while its own waited
 * @disk: of the same namespace, or of another one on the same disk, that it ended while it did this
 *        one; @disk_ns: their times there, @disk_others: those of other hosts
 * @disk_unknown: of a namespace with its id, likewise, of connections past BLOCKED_QUEUES
 * @use_ns: time that the disk had requests of any kind, in the intervals in which it did this one;
 *          0: not recorded
 * @local_ns: of processes of the target itself; @local: the cgroup that had most of it in one of
 *            these intervals, @local_most
 */
struct blocked {
	uint64_t ahead;
	uint64_t overtook;
	uint64_t sent;
	uint64_t to_target;
	uint64_t to_host;
	uint64_t handled;
	uint64_t answered;
	uint64_t disk;
	uint64_t disk_ns;
	uint64_t disk_others;
	uint64_t disk_unknown;
	uint64_t use_ns;
	uint64_t local_ns;
	uint64_t local_most;
	char local[ORIGIN_CGROUP_LEN];
};

struct blocked_reader;

/** blocked_new() - for the first BLOCKED_MAX of @slow, which stay there; NULL: no memory */
struct blocked_reader *blocked_new(const struct slow_command *slow, unsigned int nr);

/** blocked_queue() - a stream says what a connection is of; Return: 0 or -ENOMEM */
int blocked_queue(struct blocked_reader *b, unsigned int stream, const struct queue_info *q);

/** blocked_device() - a stream says what disk a namespace is on; Return: 0 or -ENOMEM */
int blocked_device(struct blocked_reader *b, unsigned int stream, const struct device_name *d);

/** blocked_record() - take the next record of a stream */
void blocked_record(struct blocked_reader *b, unsigned int stream, const struct nt_record *r);

/** blocked_use() - a stream says who used a disk in an interval */
void blocked_use(struct blocked_reader *b, unsigned int stream, const struct disk_sample *u);

/** blocked_of() - the counts of command @i; NULL: it is past BLOCKED_MAX */
const struct blocked *blocked_of(const struct blocked_reader *b, unsigned int i);

/** blocked_free() - release; NULL is fine */
void blocked_free(struct blocked_reader *b);

#endif /* NTPROF_MERGE_BLOCKED_H */
