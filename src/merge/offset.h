/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The offset between two machines' clocks (target - host, both CLOCK_MONOTONIC), from causality:
 * neither a command nor its answer is received before it is sent. Every pair of records bounds the
 * offset; many of them give an estimate with a known error.
 */
#ifndef NTPROF_MERGE_OFFSET_H
#define NTPROF_MERGE_OFFSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/record.h"

/*
 * The most by which two clocks drift apart if no faster rate is known: NTP steers each by up to 500
 * ppm (adjtimex(2)), and its crystal is within 100 ppm or so.
 */
#define OFFSET_DRIFT_PPM 1250
/* The highest rate, as a fraction. No clock is slewed as fast (chronyd: by up to 1/12). */
#define OFFSET_RATE_MAX 0.11

/* The bounds by one command: @low <= target - host <= @high, at @at (host's clock). Nanoseconds. */
struct offset_bounds {
	int64_t low;
	int64_t high;
	uint64_t at;
};

/*
 * The largest error of a difference between two time stamps of one command, which several CPUs of a
 * machine may have taken.
 */
#define OFFSET_SLACK_NS 10000

/**
 * offset_from() - when the host sent a command, or the target received it; 0: not known
 *
 * If that point is missing, it is an earlier one of the host, or a later one of the target.
 */
static inline uint64_t offset_from(const struct nt_record *r)
{
	if (r->side == NT_HOST)
		return r->points[NT_H_SEND_CMD] ?: r->points[NT_H_QUEUE_RQ] ?: r->points[NT_H_SUBMIT];
	return r->points[NT_T_RX] ?: r->points[NT_T_CMD] ?: r->points[NT_T_EXEC];
}

/**
 * offset_until() - when the host received the answer, or the target sent it; 0: not known
 *
 * If a command was never answered, it is when the host gave it up, or the last point of the target.
 */
static inline uint64_t offset_until(const struct nt_record *r)
{
	if (r->side == NT_HOST)
		return r->points[NT_H_RX] ?: r->points[NT_H_CQE] ?: r->points[NT_H_COMPLETE];
	return r->points[NT_T_SEND] ?: r->points[NT_T_DONE] ?: r->points[NT_T_EXEC] ?: offset_from(r);
}

/** offset_apart() - the distance of two times */
static inline uint64_t offset_apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/** offset_drift_ns() - nanoseconds by which the clocks may drift apart in @ns */
static inline int64_t offset_drift_ns(uint64_t ns)
{
	return (int64_t)(ns / (1000000 / OFFSET_DRIFT_PPM));
}

/* Time stamps further apart than 73 years are wrong; differences below that cannot overflow. */
#define OFFSET_SANE_NS (1LL << 61)

static inline bool offset_sane(int64_t ns)
{
	return ns >= -OFFSET_SANE_NS && ns <= OFFSET_SANE_NS;
}

static inline void offset_not_above(int64_t *high, uint64_t target, uint64_t host)
{
	int64_t d = (int64_t)(target - host);

	if (target && host && *high > d)
		*high = d;
}

static inline void offset_not_below(int64_t *low, uint64_t target, uint64_t host)
{
	int64_t d = (int64_t)(target - host);

	if (target && host && *low < d)
		*low = d;
}

/**
 * offset_gained() - nanoseconds that one clock gains on the other between two instants, at @rate
 */
static inline int64_t offset_gained(double rate, uint64_t from, uint64_t to)
{
	return rate != 0 ? (int64_t)(rate * (double)(int64_t)(to - from)) : 0;
}

/**
 * offset_widened() - the bounds at another instant, if the offset changes at @rate, plus or minus
 * the drift
 */
static inline struct offset_bounds offset_widened(const struct offset_bounds *b, uint64_t at,
						  double rate)
{
	int64_t drift = offset_drift_ns(offset_apart(at, b->at));
	int64_t gained = offset_gained(rate, b->at, at);

	return (struct offset_bounds){
		.low = b->low + gained - drift, .high = b->high + gained + drift, .at = at};
}

/**
 * offset_bounds() - the bounds of the offset by a pair of records, if it is one command
 * @host, @target: the records
 * @rate: at which the offset changes
 * @b: filled. The command is sent at send_cmd and received at the target's rx; its answer is
 *     sent at send and received at the host's rx. An R2T and its data bound the offset in the
 *     same way. A missing point is replaced by a later or an earlier one, which only widens the
 *     bounds.
 *
 * Return: false when it cannot be one command: the target took longer than the host waited, or
 * either record lacks offset_from() or offset_until().
 */
static inline __attribute__((always_inline)) bool offset_bounds(const struct nt_record *host,
								const struct nt_record *target,
								double rate,
								struct offset_bounds *b)
{
	uint64_t sent = offset_from(host), answered = offset_until(host);
	uint64_t received = offset_from(target);
	/* If the host gave up, the target had received the command, but may have answered later. */
	uint64_t sent_back = host->flags & NT_F_CANCELLED ? received : offset_until(target);
	int64_t low = (int64_t)(sent_back - answered), high = (int64_t)(received - sent), drift,
		gained;

	if (!sent || !answered || !received || !sent_back || !offset_sane(low) ||
	    !offset_sane(high))
		return false;
	if (host->shape == NT_SHAPE_R2T_WRITE && target->shape == NT_SHAPE_R2T_WRITE) {
		offset_not_below(&low, target->points[NT_T_SEND_R2T], host->points[NT_H_R2T_RX]);
		offset_not_above(&high, target->points[NT_T_DATA_RX], host->points[NT_H_SEND_DATA]);
	}
	if (low > OFFSET_SANE_NS || high < -OFFSET_SANE_NS)
		return false;
	/* The offset itself changes while the command runs. */
	drift = offset_drift_ns(offset_apart(sent, answered));
	gained = offset_gained(rate, sent, answered);
	*b = (struct offset_bounds){.low = low - drift - (gained > 0 ? gained : 0),
				    .high = high + drift - (gained < 0 ? gained : 0),
				    .at = sent};
	return b->low <= b->high;
}

/*
 * A pair that contradicts the bounds adds this to &offset.crossed, and a pair that does not takes 1
 * off. At OFFSET_CROSSED_MAX the bounds are taken to be wrong.
 */
#define OFFSET_CROSSED_WEIGHT 8
#define OFFSET_CROSSED_MAX (64 * OFFSET_CROSSED_WEIGHT)
/* Time stamps of one machine's CPUs differ by less than this. */
#define OFFSET_CROSSED_NS 2000

/* The most samples from which the drift is fitted. With more, one of two neighbours is dropped. */
#define OFFSET_SAMPLES 64

/**
 * struct offset - an offset, as far as it is known
 * @known: the rest is valid
 * @now: bounds at an instant
 * @rate: at which the offset changes; 0 if that is not faster than OFFSET_DRIFT_PPM
 * @width: width of the bounds when they were last narrowed
 * @sample: the tightest bounds of each of @nr windows of time, @span_ns long (RFC 5905, 10: the
 *          clock filter takes the sample of least delay)
 * @last_ns: when the last window begins
 * @jumps: how often the offset was found to have jumped
 * @crossed: how much pairs have contradicted the bounds lately: see OFFSET_CROSSED_WEIGHT
 */
struct offset {
	bool known;
	struct offset_bounds now;
	double rate;
	int64_t width;
	struct offset_bounds sample[OFFSET_SAMPLES];
	unsigned int nr;
	uint64_t span_ns;
	uint64_t last_ns;
	unsigned int crossed;
	unsigned int jumps;
};

/** offset_set() - begin with the bounds of offset_vote(), and the rate at which they change */
void offset_set(struct offset *o, const struct offset_bounds *b, double rate);

/** offset_jumped() - count a jump if newly found bounds do not agree with the former ones */
void offset_jumped(struct offset *o, const struct offset_bounds *found);

/**
 * offset_at() - the bounds at @at of the host's clock: wider the further @at is from the last pair
 */
static inline struct offset_bounds offset_at(const struct offset *o, uint64_t at)
{
	return offset_widened(&o->now, at, o->rate);
}

/** offset_fits() - whether a pair's bounds agree with the known ones */
static inline bool offset_fits(const struct offset *o, const struct offset_bounds *b)
{
	struct offset_bounds now = offset_at(o, b->at);

	return b->low <= now.high + OFFSET_SLACK_NS && b->high >= now.low - OFFSET_SLACK_NS;
}

/**
 * offset_then() - the offset as it was known near an instant, which may be long ago
 * @o: offset, known
 * @at: the instant, of the host's clock
 * @then: filled, except samples: its bounds are those that were seen nearest to @at
 */
void offset_then(const struct offset *o, uint64_t at, struct offset *then);

/* Bounds that have widened by no more than this still tell commands apart. */
#define OFFSET_LOOSE_NS 100000

/**
 * offset_vague() - whether the bounds at an instant are too wide to tell commands apart as before
 */
static inline bool offset_vague(const struct offset *o, uint64_t at)
{
	int64_t limit = o->width > OFFSET_LOOSE_NS ? o->width : OFFSET_LOOSE_NS;
	uint64_t apart = offset_apart(at, o->now.at);

	/* In this time the bounds widen by no more than OFFSET_LOOSE_NS. */
	if (apart <= OFFSET_LOOSE_NS / 2 * (1000000 / OFFSET_DRIFT_PPM))
		return false;
	return 2 * offset_drift_ns(apart) > limit;
}

/** offset_loose() - the same, for an instant after the last pair only */
static inline bool offset_loose(const struct offset *o, uint64_t at)
{
	return at > o->now.at && offset_vague(o, at);
}

/**
 * offset_follow() - move bounds on to the next pair, which is taken to be one command
 * @now: bounds; if the pair agrees, they become those at its time
 * @b: bounds of the pair
 * @rate: at which the offset changes
 *
 * A pair that agrees only within OFFSET_SLACK_NS does not narrow the bounds. So bounds of a wrong
 * pair do not wander from pair to pair, as they would with offset_learn().
 *
 * Return: whether the pair agrees.
 */
bool offset_follow(struct offset_bounds *now, const struct offset_bounds *b, double rate);

/** offset_learn() - narrow the bounds by a pair that is known to be one command */
void offset_learn(struct offset *o, const struct offset_bounds *b);

/**
 * offset_is_refuted() - whether so many pairs contradicted the bounds that these are wrong
 *
 * All bounds of true pairs contain the true offset, except for errors of time stamps.
 */
static inline bool offset_is_refuted(const struct offset *o)
{
	return o->crossed >= OFFSET_CROSSED_MAX;
}

/**
 * offset_learn_back() - offset_learn() for pairs from the latest to the earliest, on a copy of the
 * offset: the bounds become those at @b->at
 */
void offset_learn_back(struct offset *o, const struct offset_bounds *b);

/**
 * offset_drift_ppm() - how fast the target's clock gains on the host's: least squares; 0 if unknown
 */
double offset_drift_ppm(const struct offset *o);

/* Result of offset_vote(). */
struct offset_vote {
	struct offset_bounds best; /* where most bounds overlap */
	size_t votes;		   /* how many overlap there */
	size_t rival;		   /* how many of the other bounds overlap in another place */
	double rate;		   /* rate at which the offset changes */
};

/** offset_vote_is_better() - whether @a has more votes than @b, or as many and a weaker rival */
static inline bool offset_vote_is_better(const struct offset_vote *a, const struct offset_vote *b)
{
	return a->votes > b->votes || (a->votes == b->votes && a->rival < b->rival);
}

/**
 * offset_vote() - find the offset on which most pairs agree, even if many pairs are wrong
 * @b: bounds of candidate pairs, @nr of them; reordered
 * @at: the instant for which to find it; bounds are widened by their distance from it
 * @rate: at which the offset changes
 * @v: filled; all zero when @nr is 0
 *
 * Return: 0 or -ENOMEM.
 */
int offset_vote(struct offset_bounds *b, size_t nr, uint64_t at, double rate,
		struct offset_vote *v);

/**
 * offset_rate() - how fast the offset changes, by the bounds of pairs that are mostly right
 * @b: bounds in the order of time, @nr of them
 * @slopes: room for @nr
 *
 * The result is the median of the slopes between pairs that are nr / 2 apart (Theil and Sen).
 *
 * Return: at most OFFSET_RATE_MAX either way; 0 if there are too few pairs.
 */
double offset_rate(const struct offset_bounds *b, size_t nr, double *slopes);

#endif /* NTPROF_MERGE_OFFSET_H */
