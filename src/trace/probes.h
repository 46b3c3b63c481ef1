/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which BPF programs set a point on this kernel: a table of ways. The kernel's type information
 * shows which of them work, and so which one is used for each point.
 */
#ifndef NTPROF_TRACE_PROBES_H
#define NTPROF_TRACE_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/points.h"

/* The most programs that a way has. */
#define PROBES_WAY_PROGRAMS 13

/**
 * struct probe_way - a way to get some points
 * @side: host or target
 * @source: the source that its programs belong to
 * @points: bit N is point N of the side
 * @programs: all of them are needed except those that begin with '?', which are used where they
 *            work; NULL ends the list
 * @unless: a program, or NULL: where that one's function exists, the driver does not go this way
 * @sees: what exactly is seen, for people
 */
struct probe_way {
	enum nt_side side;
	enum nt_source source;
	uint32_t points;
	const char *programs[PROBES_WAY_PROGRAMS];
	const char *sees;
	const char *unless;
};

/* All ways. Of those with the same side, source and point, the first that works is the best. */
extern const struct probe_way probe_ways[];
extern const size_t probe_ways_nr;

/**
 * probe_programs() - a side's programs in the order in which a command meets them
 * @side: host or target
 *
 * To be attached from last to first, so that a command's beginning is seen only once all that
 * follows it is. The first ones, up to and including the last for which probe_begins() is true, see
 * the beginning.
 *
 * Return: names, NULL-terminated.
 */
const char *const *probe_programs(enum nt_side side);

/** probe_begins() - whether the program @name sees commands begin */
bool probe_begins(const char *name);

/**
 * probe_stands_in() - whether the program @name runs for events that another one was skipped for: a
 * "nested" one
 */
bool probe_stands_in(const char *name);

/**
 * probe_watches_data() - whether the program @name only sees the end of reads that have no CQE
 *
 * There are such reads on connections without SQ flow control.
 */
bool probe_watches_data(const char *name);

/* The program that gives finer points: see bpf/out.bpf.h. */
#define PROBE_FINE "packet_leaves"
/* The programs that give waits: see bpf/worker_programs.bpf.h. */
#define PROBE_READY "data_ready"
#define PROBE_WORK "io_work"
#define PROBE_WORK_END "io_work_end"
/* The programs that give the points of a disk: see bpf/disk.bpf.h. */
#define PROBE_DISK_ISSUE "disk_issue"
#define PROBE_DISK_DONE "disk_done"
/* The same of a file. */
#define PROBE_FILE_WORK "file_work"
/* The program that sees the head of a submission queue of PCIe: see bpf/host_core.bpf.h. */
#define PROBE_SQ "core_sq"
/* The programs that count who uses disks: see bpf/disk_use.bpf.h. */
#define PROBE_DISK_USE "disk_use_" /* all of them begin so */
#define PROBE_DISK_USE_ISSUE "disk_use_issue"
#define PROBE_DISK_USE_END "disk_use_end"
#define PROBE_DISK_USE_END_NESTED "disk_use_end_nested"
/* The program that notes who submits a request that waits: see bpf/origin.bpf.h. */
#define PROBE_INSERT "rq_insert"
/* Events of controllers: another state, and a timeout of PCIe. See bpf/path_events.bpf.h. */
#define PROBE_PATH_STATE "path_state"
#define PROBE_PATH_TIMEOUT_PCIE "path_timeout_pcie"

/** probe_vital_points() - the points without which no command is seen, or none ends */
uint32_t probe_vital_points(enum nt_side side);

struct bpf_object;
struct object;
struct refusals;

struct probes;

/**
 * probes_new() - examine the running kernel
 * @side: host or target
 * @obj: its BPF object, open and not loaded, which says what its programs attach to. Stays the
 *       caller's
 * @refused: programs that this kernel is known not to take. Copied as far as it is needed
 *
 * Return: release it with probes_free(); NULL with errno set if there is no memory, or the kernel
 * has no type information.
 */
struct probes *probes_new(enum nt_side side, struct bpf_object *obj,
			  const struct refusals *refused);
void probes_free(struct probes *p);

/**
 * probes_read_traceable() - read which functions ftrace can trace
 *
 * The kernel takes longer to write that list than all else here takes. Without it, and in a kernel
 * that has none, all functions count as traceable, and those that are not are refused when their
 * programs are attached. probes_new() reads it where a program was refused.
 */
void probes_read_traceable(struct probes *p);

/** probes_module_loaded() - whether the driver is loaded */
bool probes_module_loaded(const struct probes *p);

/** probes_core_loaded() - whether nvme_core or nvmet, which the driver needs, is loaded */
bool probes_core_loaded(const struct probes *p);

/** probes_module_btf() - whether the driver, loaded or built in, has type information */
bool probes_module_btf(const struct probes *p);

/**
 * probes_works() - whether a way works on this kernel
 * @why: filled with the reason where it does not; @size bytes. May be NULL
 */
bool probes_works(struct probes *p, const struct probe_way *w, char *why, size_t size);

/** probes_has() - whether @program works on this kernel */
bool probes_has(struct probes *p, const char *program);

/** probes_way() - the best way to get @point from @source, or NULL */
const struct probe_way *probes_way(struct probes *p, enum nt_source source, unsigned int point);

/** probes_points() - bits of the points that @source can set on this kernel */
uint32_t probes_points(struct probes *p, enum nt_source source);

/**
 * probes_source() - the source to use if none is asked for: tracepoints where the driver has all,
 * else stock
 */
enum nt_source probes_source(struct probes *p);

/**
 * probes_select() - make the object load the programs of the best way to each point, and no others
 * @o: the object that @p was made with
 * @sources: bits of the sources of the points
 * @points: bits of the points wanted
 */
void probes_select(struct probes *p, struct object *o, unsigned int sources, uint32_t points);

/** probes_add() - make it load @program, too; Return: whether it works on this kernel */
bool probes_add(struct probes *p, struct object *o, const char *program);

#endif /* NTPROF_TRACE_PROBES_H */
