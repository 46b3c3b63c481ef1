/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histograms and counters as user space accumulates them, of an interval and of the whole run.
 * Collectors fill them and views read them. This module does not know BPF or terminals.
 */
#ifndef NTPROF_CORE_STATS_H
#define NTPROF_CORE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/counters.h"
#include "core/disks.h"
#include "core/hist.h"
#include "core/recent.h"
#include "core/path_events.h"
#include "core/tcp.h"
#include "core/time.h"
#include "shared/record.h"
#include "shared/selection.h"

/*
 * Commands that ended with a status other than success, by queue, operation and status, of an
 * interval and of the whole run. Histograms do not have them, because the duration of a failed
 * command is not a latency.
 */

/*
 * The most rows, far more than a person reads. They are limited because a stream may have any
 * number, and unknown hosts may connect. With more of them, the row that has counted nothing for
 * longest is added to the row of unknown queue and status. If every row has counted something just
 * now, that happens to the new one.
 */
#define ERRORS_MAX 4096

/* The status of that row; no command has it. */
#define ERRORS_OTHER 0xffff

/**
 * struct error_count - number of commands that ended with a status
 * @controller, @peer, @other, @qid, @op: see struct stats_row
 * @status: status code and type, or ERRORS_OTHER
 * @quiet: number of intervals in a row in which nothing was counted
 */
struct error_count {
	char controller[32];
	char peer[NT_NQN_LEN];
	char other[NT_NQN_LEN];
	uint16_t qid;
	enum nt_op op;
	uint16_t status;
	uint32_t quiet;
	uint64_t interval;
	uint64_t total;
};

/**
 * struct errors - all rows, sorted by controller, peer, queue, operation and status; zeroes at
 * first
 */
struct errors {
	struct error_count *row;
	size_t nr;
};

/**
 * errors_add() - count commands
 * @status: status of a record; the bits that say how to retry are ignored
 * @n: number of commands
 *
 * Return: 0 or -ENOMEM.
 */
int errors_add(struct errors *e, const char *controller, const char *peer, uint16_t qid,
	       enum nt_op op, uint16_t status, uint64_t n);

/** errors_add_of() - like errors_add(), if the other NQN is known */
int errors_add_of(struct errors *e, const char *controller, const char *peer, const char *other,
		  uint16_t qid, enum nt_op op, uint16_t status, uint64_t n);

/** errors_fold() - add the totals of @from to @into, and zero them; 0 or -ENOMEM */
int errors_fold(struct errors *into, struct errors *from);

/** errors_begin_interval() - zero everything that belongs to one interval */
void errors_begin_interval(struct errors *e);

/** errors_free() - release; @e is empty then */
void errors_free(struct errors *e);

/* Commands, and the data that they transferred. */
struct workload {
	uint64_t commands;
	uint64_t bytes;
};

/**
 * struct waiting - commands in flight at the end of an interval
 * @commands: number of commands that have begun and not ended
 * @oldest_ns: age of the oldest one
 * @at_device: target: number of commands that the device has got and not answered
 * @stage: the same of the measured commands that are in a stage now
 */
struct waiting {
	uint64_t commands;
	uint64_t oldest_ns;
	uint64_t at_device;
	struct waiting_stage {
		uint64_t commands;
		uint64_t oldest_ns;
	} stage[NT_STAGES_MAX];
};

/* A command that is in flight for so long is stalled. */
#define STATS_STALLED_NS 1000000000ULL

/**
 * struct stalls - times in which the oldest command in flight was STATS_STALLED_NS old or older
 * @nr: how many; @now: one is under way
 * @longest_ns: the oldest that any command was seen
 * @first_ns: CLOCK_MONOTONIC, when the first one was seen
 * @at_once: its command began when tracing did, so it may have been so before
 * @controller, @qid, @op: of the command that was the oldest in the last one
 */
struct stalls {
	uint64_t nr;
	bool now;
	uint64_t longest_ns;
	uint64_t first_ns;
	bool at_once;
	char controller[32];
	uint16_t qid;
	enum nt_op op;
};

/** waiting_add(), waiting_stage_add() - add up commands in flight */
void waiting_add(struct waiting *into, const struct waiting *from);
void waiting_stage_add(struct waiting_stage *into, const struct waiting_stage *from);

/* While nothing is read or written, controllers are looked for this often. */
#define STATS_QUIET_NS 5000000000ULL

/* The name of the row for all connections that ended a while ago; one row for each operation. */
#define STATS_GONE "(gone)"
/* The same for commands without a row of their own; those without a histogram are NT_OP_OTHER. */
#define STATS_OTHERS "(others)"

/*
 * A row is 17 KiB. Any host that may connect causes rows, with names that it chooses, so their
 * number is limited. What finds no room is counted in STATS_OTHERS. 1,000 hosts with 8 queues that
 * read and write have as many, but for admin and fabrics commands.
 */
#ifndef STATS_ROWS_MAX
#define STATS_ROWS_MAX 16384
#endif
/*
 * With so many rows, admin and fabrics commands get no more. A host that may do no more than
 * connect can cause no others.
 */
#define STATS_ROWS_CONNECTING (STATS_ROWS_MAX / 2)
/*
 * The row of a connection that ended is added to STATS_GONE after this time, or earlier if there
 * are more such rows than that.
 */
#define STATS_ENDED_NS 60000000000ULL
#define STATS_ENDED_MAX 1024

/**
 * struct stats_row - commands of a queue and an operation
 * @others_interval, @others_total: commands outside the sample; they are not in @interval and
 *     @total
 * @other: the other NQN of the connection, of the host or of the subsystem; "" if it is not known
 *         or not asked for
 * @slot, @who: the last connection that was counted here, see struct nt_identity
 * @ended_ns: CLOCK_MONOTONIC time when stats_fold() found that the connection had ended; 0: it has
 *            not
 * @unstaged_interval, @unstaged_total: some of its commands are not in the stages of its controller
 * @series, @series_of: for serve/page.c
 * @recent: its last ten seconds, if stats_remember() is called; NULL: none
 *
 * Only stats_fold() removes a row.
 */
struct stats_row {
	char controller[32];   /* "nvme0" on the host, "cntlid 3" on the target */
	char peer[NT_NQN_LEN]; /* subsystem NQN on the host; host NQN on the target */
	char other[NT_NQN_LEN];
	uint16_t qid;
	bool shared; /* several queues together: STATS_GONE, STATS_OTHERS */
	bool unstaged_interval;
	bool unstaged_total;
	uint8_t transport; /* enum nt_transport */
	enum nt_op op;
	struct hist interval;
	struct hist total;
	struct workload others_interval;
	struct workload others_total;
	struct waiting waiting;
	uint32_t slot;
	uint32_t who;
	uint64_t ended_ns;
	uint32_t series;
	uint32_t series_of;
	struct recent *recent;
};

/*
 * The most struct stats_stages, of 99 KiB each. They are enough for 256 controllers that read and
 * write. With more of them, the one that has counted nothing for longest is given up. If each of
 * them has counted something just now, a new one finds no room. The machine's stages have all
 * commands in any case.
 */
#ifndef STATS_STAGES_MAX
#define STATS_STAGES_MAX 512
#endif

/**
 * struct stage_counts - for trace/histograms.c
 * @counted: commands that the kernel has counted in a stage
 * @zeros: zeros that were added for commands that did not pass it
 * @owed: of these, zeros too many that intervals have counted
 * @grown: something was counted in this interval
 */
struct stage_counts {
	uint64_t counted[NT_STAGES_MAX];
	uint64_t zeros[NT_STAGES_MAX];
	uint64_t owed[NT_STAGES_MAX];
	bool grown;
};

/**
 * struct stats_stages - stages of a controller's commands of an operation
 * @controller, @peer, @other, @op: of its rows
 * @idle: number of intervals in a row in which nothing was counted
 * @has_row: for stats_fold()
 * @interval, @total: [stage of this side]
 */
struct stats_stages {
	char controller[32];
	char peer[NT_NQN_LEN];
	char other[NT_NQN_LEN];
	enum nt_op op;
	uint32_t idle;
	bool has_row;
	struct stage_counts counts;
	struct hist interval[NT_STAGES_MAX];
	struct hist total[NT_STAGES_MAX];
};

/**
 * struct stats - everything that a side saw
 * @side: selects host or target stages in the tables below
 * @kernel: release of the running kernel
 * @driver: the traced module, e.g. "nvme_tcp"; "" while waiting for the module
 * @source: source of the points, see source_name()
 * @missing: bits of the points that bound stages and that nothing gives here, see core/segments.h
 * @sample: one of this many commands was measured; 0 and 1: all of them
 * @ends: only the ends of commands have points, see segments_ends()
 * @stages_burst: when all points are there, and stages of commands that begin and end then;
 * burst_any(): not all the time
 * @selected: all figures but losses are of selected commands only
 * @counted: commands outside the sample were counted, see &stats_row.others_total; otherwise rates
 *           of a sample are estimates
 * @alike_interval, @alike_total: commands in the sample, see nt_alike()
 * @by_other: rows are by &stats_row.other as well
 * @waiting_at_device: &waiting.at_device is known
 * @recorded: the statistics are of a recorded stream, which does not have the members from here to
 *            @seconds, nor the commands in flight
 * @probes: BPF programs attached
 * @controllers, @queues: connected now
 * @quiet: no I/O queue had a command, so what only connections change was not read; it is every
 *         STATS_QUIET_NS
 * @looked_ns: CLOCK_MONOTONIC time that &waiting.oldest_ns counts back from
 * @seconds: length of the last interval
 * @elapsed: time that was measured
 * @passed: time since tracing began; longer than @elapsed with bursts
 * @burst: when commands are measured; burst_any(): not all the time
 * @bursts: number of bursts that have ended
 * @burst_began_ns, @burst_ended_ns: CLOCK_MONOTONIC times of the last burst's beginning and end
 * @rows: sorted by controller, queue, operation; @nr_rows of them
 * @rows_gone: number of rows that stats_fold() has removed
 * @stage_interval, @stage_total: [operation][stage of this side], of all commands
 * @stages: @nr_stages of single controllers, sorted as rows are; admin and Fabrics commands, those
 *          of unknown connections, and those past the limits are in @stage_interval and
 *          @stage_total only
 * @errors: commands that are in no histogram, because they ended with an error
 * @tcp: the connections' state when the last interval ended
 * @disks: who uses a target's disks
 * @path_events: what happened to a host's controllers
 * @counters_interval, @counters_total: enum nt_counter, then COUNTER_*
 * @counters_queues: the least number of queues that the events in @counters_total belong to; 0: not
 *                   known
 */
struct stats {
	enum nt_side side;
	char kernel[65];
	const char *driver;
	unsigned int transports; /* that are traced, see &tracer_options.transports */
	const char *source;
	uint32_t missing;
	uint32_t sample;
	bool ends;
	struct burst stages_burst;
	bool selected;
	bool counted;
	uint32_t alike_interval[NT_ALIKE];
	uint32_t alike_total[NT_ALIKE];
	bool by_other;
	bool waiting_at_device;
	bool recorded;
	unsigned int probes;
	unsigned int controllers;
	unsigned int queues;
	bool quiet;
	uint64_t looked_ns;
	double seconds;
	double elapsed;
	double passed;
	struct burst burst;
	uint64_t bursts;
	uint64_t burst_began_ns;
	uint64_t burst_ended_ns;
	struct stats_row **rows;
	size_t nr_rows;
	uint64_t rows_gone;
	struct hist stage_interval[NT_OPS_NR][NT_STAGES_MAX];
	struct hist stage_total[NT_OPS_NR][NT_STAGES_MAX];
	struct stats_stages **stages;
	size_t nr_stages;
	struct errors errors;
	struct tcp_rows tcp;
	struct disk_rows disks;
	struct path_events path_events;
	uint64_t counters_interval[COUNTERS_NR];
	uint64_t counters_total[COUNTERS_NR];
	uint32_t counters_queues[COUNTERS_NR];
};

/**
 * stats_row() - find the row of a queue and operation, or make it
 * @s: statistics; the row stays valid until stats_fold() or stats_free()
 * @controller, @qid, @op, @shared: identify the row, see struct stats_row
 * @peer: NQN to show, "" if unknown; part of the identity
 *
 * Return: the row; that of stats_others() if there are too many rows; or NULL when memory ran out.
 */
struct stats_row *stats_row(struct stats *s, const char *controller, const char *peer, uint16_t qid,
			    enum nt_op op, bool shared);

/**
 * stats_row_of() - like stats_row(), if the other NQN is known
 *
 * @other is part of the identity if &stats.by_other is true.
 */
struct stats_row *stats_row_of(struct stats *s, const char *controller, const char *peer,
			       const char *other, uint16_t qid, enum nt_op op, bool shared);

/**
 * stats_stages_at() - the index in &stats.stages of those of a row's controller and operation;
 * &stats.nr_stages if there are none
 */
size_t stats_stages_at(const struct stats *s, const struct stats_row *row);

/** stats_stages_find() - the same stages; NULL if there are none */
struct stats_stages *stats_stages_find(const struct stats *s, const struct stats_row *row);

/**
 * stats_stages_make() - the same, made if there are none
 *
 * Return: NULL if there is no room; then the row is @unstaged_interval and @unstaged_total.
 */
struct stats_stages *stats_stages_make(struct stats *s, struct stats_row *row);

/**
 * stats_others() - the row of an operation's commands that have no row of their own; NULL when
 * memory ran out
 */
struct stats_row *stats_others(struct stats *s, enum nt_op op);

/**
 * stats_fold() - add rows of connections that ended to STATS_GONE, and remove them
 * @now: CLOCK_MONOTONIC nanoseconds
 * @ended: whether the connection of a row has ended
 * @context: first argument of @ended
 *
 * Call it after an interval has been collected. Totals of all rows together do not change.
 *
 * Return: 0 or -ENOMEM.
 */
int stats_fold(struct stats *s, uint64_t now,
	       bool (*ended)(const void *context, const struct stats_row *row),
	       const void *context);

/*
 * The least number of distinct commands in a sample for an estimate of all commands: the standard
 * deviation is 18 % then. Commands that come again often count for less.
 */
#define STATS_DISTINCT_MIN 32

/**
 * stats_lacks() - fill &stats.missing
 * @missing: bits of the points that nothing gives
 *
 * If a host does not know the arrival of any command, as with TLS, the time of its network stack is
 * part of network_and_target, and so are the names. If it knows some arrivals, the loss
 * arrival_missing counts the commands without one.
 */
void stats_lacks(struct stats *s, uint32_t missing);

/** stats_begin_interval() - zero everything that belongs to one interval */
void stats_begin_interval(struct stats *s);

/**
 * stats_wait() - count one more command in flight
 * @row: row of its queue and operation
 * @r: its record so far; if it is not measured, only its beginning
 * @measured: it is measured
 * @now: CLOCK_MONOTONIC nanoseconds
 */
void stats_wait(struct stats_row *row, const struct nt_record *r, bool measured, uint64_t now);

/**
 * stats_sample() - count the commands, and those of them that were measured
 * @s: statistics
 * @summary: of the whole run, otherwise of the last interval
 * @measured: set to the number of measured commands
 * @all: set to the number of all commands; to @measured if the others were not counted
 *
 * The sample is chosen by the contents of commands (shared/selection.h). Of commands that are
 * alike, such as reads of one block, all are in it or none is.
 *
 * Return: whether the sample is not a fair one. If all commands were counted, this is so when it
 * cannot be one command in &stats.sample by chance (five standard deviations of the binomial
 * distribution), or when it has fewer than STATS_DISTINCT_MIN distinct commands although there were
 * enough for twice as many. If not, this is so when it has fewer than STATS_DISTINCT_MIN distinct
 * commands.
 */
bool stats_sample(const struct stats *s, bool summary, uint64_t *measured, uint64_t *all);

/** stats_stalled() - the row whose command is the oldest, if it is stalled; or NULL */
const struct stats_row *stats_stalled(const struct stats *s);

/** stalls_look() - call it after each interval; @now: CLOCK_MONOTONIC nanoseconds */
void stalls_look(struct stalls *t, const struct stats *s, uint64_t now);

/**
 * stats_remember() - add the last interval to &stats_row.recent of each row; @now: CLOCK_MONOTONIC
 * nanoseconds. Return: 0 or -ENOMEM
 */
int stats_remember(const struct stats *s, uint64_t now);

/** stats_free() - release the rows and errors */
void stats_free(struct stats *s);

#endif /* NTPROF_CORE_STATS_H */
