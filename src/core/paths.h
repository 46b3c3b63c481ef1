/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths through the kernel on which commands come to a driver: the chain of functions that called
 * each other, the kind of the path, and figures of the commands that came on it.
 */
#ifndef NTPROF_CORE_PATHS_H
#define NTPROF_CORE_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "core/hist.h"
#include "shared/stacks.h"

/*
 * X(identifier, name, meaning): the kinds, in the order in which they are tried. A path is of the
 * first kind that fits.
 */
#define PATH_KINDS(X)                                                                                 \
	X(REQUEUE, "requeue", "sent again, or by another path of a multipath namespace")              \
	X(WORKQUEUE, "workqueue",                                                                     \
	  "a kernel thread runs the hardware queue, as the submitter was not allowed or not able to") \
	X(POLLED, "polled", "the submitter polls for the completion")                                 \
	X(PASSTHROUGH, "passthrough",                                                                 \
	  "made by a driver or through its ioctl: admin, fabrics, io_uring commands")                 \
	X(SCHEDULER, "scheduler", "dispatched out of an I/O scheduler by the submitter")              \
	X(SOFTWARE_QUEUE, "software_queue",                                                           \
	  "dispatched out of blk-mq's software queues by the submitter")                              \
	X(PLUG_FLUSH, "plug_flush", "issued with others when the submitter's plug was flushed")       \
	X(DIRECT_ISSUE, "direct_issue", "issued at once, with its bio")                               \
	X(OTHER, "other", "none of these")

#define PATH_ENUM(id, name, meaning) PATH_##id,
enum path_kind { PATH_KINDS(PATH_ENUM) PATH_KINDS_NR };

/*
 * X(identifier, name, meaning): commands that are missing in the paths, or that have no end there.
 * BPF programs count the first ones.
 */
#define PATH_LOSSES(X)                                                                    \
	X(NO_ROOM, "stack_no_room", "commands of more stacks than there is room for")     \
	X(UNTIMED, "untimed",                                                             \
	  "commands whose end there was no room to wait for: counted, without a latency") \
	X(UNREAD, "stack_unread", "commands whose stack the kernel could not walk")       \
	X(MISSED, "probe_missed",                                                         \
	  "runs of a program that the kernel skipped because it was running on that CPU already")

#define PATH_LOSS_ENUM(id, name, meaning) PATH_LOST_##id,
enum path_loss { PATH_LOSSES(PATH_LOSS_ENUM) PATH_LOSSES_NR };
_Static_assert((int)PATH_LOST_MISSED == (int)NT_STACK_LOSSES,
	       "the first ones are those of BPF programs");

/** path_loss_name(), path_loss_meaning() - static strings */
const char *path_loss_name(enum path_loss loss);
const char *path_loss_meaning(enum path_loss loss);

/** path_kind_name(), path_kind_meaning() - static strings */
const char *path_kind_name(enum path_kind kind);
const char *path_kind_meaning(enum path_kind kind);

/**
 * struct path_figures - figures of commands
 * @commands: commands given to the driver; a command that the driver gives back and gets again
 *            counts each time
 * @latency: of the commands that ended, from the time when the block layer began with them. Where
 *           the block layer did not read the clock: from the time when the driver got them
 * @waited: number of commands for which the block layer recorded its begin time
 * @waited_ns: sum of the times that these took until the driver got them
 */
struct path_figures {
	uint64_t commands;
	struct hist latency;
	uint64_t waited;
	uint64_t waited_ns;
};

/**
 * struct path - one path
 * @kind: its kind
 * @nr: number of @names
 * @names: functions; the first one is the innermost, nvme_tcp_queue_rq() or nvme_setup_cmd()
 * @figures: figures of its commands
 */
struct path {
	enum path_kind kind;
	unsigned int nr;
	const char *names[NT_STACK_DEPTH];
	struct path_figures figures;
};

/**
 * struct paths - all paths; all zeroes if there is none
 * @path: @nr paths
 * @kinds: the sum of the paths of each kind
 * @commands: the sum of all paths
 * @lost: by enum path_loss
 */
struct paths {
	struct path *path;
	size_t nr;
	struct path_figures kinds[PATH_KINDS_NR];
	uint64_t commands;
	uint64_t lost[PATH_LOSSES_NR];
};

/**
 * path_name() - the name of the function that contains an address: see symbols_find(); NULL if it
 * is not known
 */
typedef const char *path_name_fn(const void *context, uint64_t address);

/**
 * paths_add() - count the commands of one stack
 * @paths: where they are added; strings of @name are not copied and must stay valid
 * @stack: the stack
 * @flags: NT_STACK_*
 * @name, @context: finds the names of the stack's frames
 * @figures: figures that are added
 *
 * Stacks that have different addresses but go through the same functions are one path. Frames
 * further in than that belong to the tracer and are left out.
 *
 * Return: 0 or -ENOMEM.
 */
int paths_add(struct paths *paths, const struct nt_stack *stack, uint32_t flags, path_name_fn *name,
	      const void *context, const struct path_figures *figures);

/**
 * paths_sort() - sort by commands, most first; paths with equally many by the names of their
 * functions
 */
void paths_sort(struct paths *paths);

/** paths_free() - release all paths, but not the names */
void paths_free(struct paths *paths);

/* Names of the running kernel's functions, including modules, by the addresses in them. */

#define SYMBOLS_FILE "/proc/kallsyms"

struct symbols;

/**
 * symbols_read() - read names
 * @path: SYMBOLS_FILE, or a file of the same format: "ADDRESS TYPE NAME [MODULE]", in any order
 *
 * Return: the names, for symbols_free(), or NULL with errno set: ENODATA if there are no functions,
 * EPERM if all addresses are 0. The kernel shows zeroes to readers without the right to see
 * addresses.
 */
struct symbols *symbols_read(const char *path);

/**
 * symbols_check() - whether symbols_read() will find names; fast, while the kernel has some 200,000
 * names
 * @path: as for symbols_read()
 *
 * Return: 0 or a negative errno, as for symbols_read().
 */
int symbols_check(const char *path);

/**
 * symbols_find() - the function that contains an address
 *
 * Return: its name, valid as long as @s; NULL if no function begins at or before the address.
 */
const char *symbols_find(const struct symbols *s, uint64_t address);

/** symbols_free() - release; @s may be NULL */
void symbols_free(struct symbols *s);

#endif /* NTPROF_CORE_PATHS_H */
