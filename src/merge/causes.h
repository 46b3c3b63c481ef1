/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the slow commands of an operation come from: what the stages have of the time between the
 * median and p99, which queue, device, host, size or time has most of those commands, and the first
 * rule of one table that holds. Everything is computed from struct why.
 */
#ifndef NTPROF_MERGE_CAUSES_H
#define NTPROF_MERGE_CAUSES_H

#include "core/segments.h"
#include "merge/why.h"

/* Where a stage is; for the rules, the stages of one place are one. */
#define CAUSE_PLACES(X)                             \
	X(BLOCK, "the host's block layer")          \
	X(HOST, "the host's driver and worker")     \
	X(TARGET, "the target's driver and worker") \
	X(DISK, "the target's storage")             \
	X(NETWORK, "the network")                   \
	X(FAR, "the other side or the network")     \
	X(UNKNOWN, "commands without stages")
#define CAUSE_PLACE_ENUM(id, words) PLACE_##id,
enum cause_place { CAUSE_PLACES(CAUSE_PLACE_ENUM) PLACES_NR };

/** cause_place_words() - static string */
const char *cause_place_words(enum cause_place place);

/*
 * X(identifier, name, from which figure on the rule holds, words for the figure), the more special
 * ones first. The function of each is in causes.c. docs/verdict.md has each of them.
 */
#define CAUSE_RULES(X)                                                                             \
	X(RESET, "reset", 0.5,                                                                     \
	  "of what slow commands exceed the median by is from times with resets")                  \
	X(LOSS, "loss", 0.5,                                                                       \
	  "of the time above the median is of commands that waited for what TCP sent again")       \
	X(R2T, "r2t", 0.5, "of the time above the median is the wait for an R2T")                  \
	X(NEIGHBOUR, "neighbour", 3, "times as much work of other hosts as usual")                 \
	X(FEW_QUEUES, "few_queues", 0.8, "of the controller's commands go by one of its queues")   \
	X(ARRAY, "one_array", 0.6,                                                                 \
	  "of what slow commands exceed the median by is from one array, host or device")          \
	X(QUEUE, "one_queue", 0.6,                                                                 \
	  "of what slow commands exceed the median by is from one queue or CPU")                   \
	X(SIZE, "size", 0.6, "of what slow commands exceed the median by is of one size")          \
	X(WINDOW, "window", 0.5,                                                                   \
	  "of the time above the median is from when the peer's window was full")                  \
	X(BUFFER, "buffer", 0.5,                                                                   \
	  "of the time above the median is from when a send buffer was full")                      \
	X(CWND, "cwnd", 0.5,                                                                       \
	  "of the time above the median is from when the congestion window was full")              \
	X(DEPTH, "depth", 0.6, "of the growth in latency is growth in commands ahead")             \
	X(BLOCK, "block_layer", 0.5, "of the time above the median is in blk_submission")          \
	X(HOST_WORKER, "host_worker", 0.5, "of the time above the median is in the host's driver") \
	X(TARGET_WORKER, "target_worker", 0.5,                                                     \
	  "of the time above the median is in the target's driver")                                \
	X(DISK, "disk", 0.5, "of the time above the median is in the target's storage")            \
	X(NETWORK, "network", 0.5, "of the time above the median is in the network")               \
	X(FAR, "far", 0.5, "of the time above the median is on the other side or in the network")
#define CAUSE_RULE_ENUM(id, name, least, words) CAUSE_##id,
enum cause { CAUSE_RULES(CAUSE_RULE_ENUM) CAUSES_NR };

/* What follows if no rule is named. */
enum cause_sure {
	CAUSE_NAMED,
	CAUSE_HEALTHY, /* nothing stands out */
	CAUSE_MIXED,   /* no rule holds */
	CAUSE_THIN,    /* too few slow commands, or too many without stages */
};

const char *cause_name(enum cause cause);
const char *cause_words(enum cause cause);
double cause_least(enum cause cause);
const char *cause_sure_name(enum cause_sure sure);

/* With fewer slow commands nothing is said. */
#define CAUSE_SLOW_MIN 20u
/* The slow ones take at least so many times the median, or nothing stands out. */
#define CAUSE_RATIO_MIN 3.0
#define CAUSE_RATIO_R2T 1.5

/**
 * struct tail_key - what most of the slow commands have in common
 * @key: WHY_KEYS_NR: there is no such thing
 * @cell: one of its cells
 * @share: of all commands; @of_tail: of the time by which slow ones exceed the median
 * @p50_ns, @p99_ns, @others_p50_ns, @others_p99_ns: of its commands and of all others; 0: there are
 *                                                  too few
 * @others: how many other values the key has
 */
struct tail_key {
	enum why_key key;
	const struct why_cell *cell;
	double share;
	double of_tail;
	uint64_t p50_ns, p99_ns;
	uint64_t others_p50_ns, others_p99_ns;
	unsigned int others;
};

/**
 * struct tail - the slow commands of an operation: those in @percent's bucket and above
 * @host, @target: recordings of these sides are there
 * @percent: 99; or 98 or 95, if that leaves CAUSE_SLOW_MIN commands and 99 does not, and if a cause
 *           is named
 * @from_ns: their shortest latency
 * @mid, @slow: the commands between p45 and p55, and the slow ones
 * @ratio: how many times the mean of @mid the mean of @slow is
 * @gap_ns: what they differ by
 * @stage_gap: [stage] its part of @gap_ns; they add up to it, with @place_gap[PLACE_UNKNOWN]
 * @place_gap: [place] the same
 * @to_target: the part of the network's @place_gap that is on the way to the target; NAN: not known
 * @lead: the place that has most of it; @low, @high: its share, with 95 % confidence
 * @seconds, @slow_seconds: how long the recording is, and in how much of that there are slow ones
 * @down_seconds: how long no controller of an array was live; @down: of one such array, NULL if
 *                there is none; @downs: how many there are
 * @waited, @waited_ns: how many commands waited for that and are in no latency, and for how long,
 *                      by what came otherwise
 * @unseen: these are the slow ones, and the other figures are of others; @cause is a reset
 * @hot_seconds, @hot_tail, @hot_share: times with far more slow ones than others: how long, and
 *                                      their part of what slow commands exceed the median by,
 *                                      and of all commands
 * @hot_from_ns, @hot_to_ns: where the first of them begins and the last one ends, by the clock of
 *                           the commands; 0: there are none
 * @figure: [rule] NAN where it is not known
 * @cause: with CAUSE_NAMED
 */
struct tail {
	enum why_op op;
	bool host, target;
	uint64_t commands;
	unsigned int percent;
	uint64_t p50_ns, p99_ns;
	uint64_t from_ns;
	struct why_sum mid, slow;
	double ratio;
	double gap_ns;
	double stage_gap[NT_MERGED_STAGES_NR];
	double stage_mid[NT_MERGED_STAGES_NR];
	double place_gap[PLACES_NR];
	double to_target;
	enum cause_place lead;
	double low, high;
	double seconds, slow_seconds;
	double down_seconds;
	const struct merge_connection *down;
	unsigned int downs;
	double waited, waited_ns;
	bool unseen;
	double hot_seconds, hot_tail, hot_share;
	uint64_t hot_from_ns, hot_to_ns;
	struct tail_key key;
	double figure[CAUSES_NR];
	enum cause_sure sure;
	enum cause cause;
};

/**
 * tail_of() - fill @t for an operation
 * @host, @target: which sides were recorded; with one of them, stages are that side's
 *
 * Return: false if it has no commands.
 */
bool tail_of(const struct why *w, enum why_op op, bool host, bool target, struct tail *t);

/** tail_place() - where a stage is */
enum cause_place tail_place(const struct tail *t, const struct why *w, unsigned int stage);

#endif /* NTPROF_MERGE_CAUSES_H */
