/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Feeds simulated traffic to the merge, and keeps a book of what happened to every record. Each
 * record must come back exactly once and unchanged. A match is right if both records are of one
 * command.
 */
#ifndef NTPROF_MERGE_TESTING_H
#define NTPROF_MERGE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "in_range.h"
#include "merge/merge.h"
#include "merge/pending.h"
#include "traffic.h"

static inline void expire_all(struct merge *m, uint64_t age_ns)
{
	while (merge_expire(m, age_ns))
		;
}

#define MS 1000000ULL
#define SECOND (1000 * MS)
#define HOUR (3600 * (int64_t)SECOND)
/* More than any test has. */
#define OUTCOME_CONNECTIONS_MAX 64

/* How the traffic of a test reaches the merge. */
struct feed {
	unsigned int loss_percent; /* of each side's records, chosen at random */
	/* a side records only in this period; 0: always */
	uint64_t from_ns[NT_SIDES], to_ns[NT_SIDES];
	uint64_t batch_ns[NT_SIDES]; /* length of the batches in which a side's records come */
	/* age at which waiting records are given up from time to time */
	uint64_t expire_ns;
	bool without_target; /* the target's stream does not exist */
	bool ends;	     /* the merge learns when a side stops recording */
};

/* The book of all records. */
struct outcome {
	const struct traffic_config *config;
	uint64_t fed[NT_SIDES];
	uint64_t both; /* commands with both records fed */
	uint64_t right, wrong;
	uint64_t only[NT_SIDES];
	uint64_t ambiguous[NT_SIDES];
	uint64_t pending_max;
	unsigned int nr_connections;
	struct merge_connection connection[OUTCOME_CONNECTIONS_MAX]; /* as they were at the end */

	struct entry {
		uint64_t hash;
		uint64_t id;
		uint8_t side, queue;
		bool used, back;
	} * entry;
	uint64_t nr_entries, max_entries;
	uint8_t *seen; /* [id]: bits of the sides whose records were fed */
	uint64_t max_seen;
};

static inline uint64_t record_hash(const struct nt_record *r)
{
	uint64_t word[sizeof(*r) / 8], h = 0x9e3779b97f4a7c15ULL;

	_Static_assert(sizeof(*r) % 8 == 0, "a record is whole words");
	memcpy(word, r, sizeof(word));
	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		h = (h ^ word[i]) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
	}
	return h;
}

static inline struct entry *outcome_find(const struct outcome *o, uint64_t hash)
{
	uint64_t i = hash & (o->max_entries - 1);

	while (o->entry[i].used && o->entry[i].hash != hash)
		i = (i + 1) & (o->max_entries - 1);
	return &o->entry[i];
}

static inline void outcome_grow(struct outcome *o)
{
	struct entry *old = o->entry;
	uint64_t max = o->max_entries;

	o->max_entries = max ? 2 * max : 4096;
	o->entry = calloc(o->max_entries, sizeof(*o->entry));
	assert_non_null(o->entry);
	for (uint64_t i = 0; i < max; i++)
		if (old[i].used)
			*outcome_find(o, old[i].hash) = old[i];
	free(old);
}

static inline void outcome_note(struct outcome *o, const struct traffic_record *r)
{
	struct entry *e;

	if (2 * ++o->nr_entries > o->max_entries)
		outcome_grow(o);
	e = outcome_find(o, record_hash(&r->r));
	assert_false(e->used);
	*e = (struct entry){record_hash(&r->r), r->id, r->r.side, (uint8_t)r->queue, true, false};
	if (r->id >= o->max_seen) {
		uint64_t max = 2 * r->id + 4096;

		o->seen = realloc(o->seen, max);
		assert_non_null(o->seen);
		memset(o->seen + o->max_seen, 0, max - o->max_seen);
		o->max_seen = max;
	}
	o->seen[r->id] |= (uint8_t)(1 << r->r.side);
	o->both += o->seen[r->id] == 3;
	o->fed[r->r.side]++;
}

/*
 * A record comes back. It must be one that was fed, be unchanged, and come back for the first time.
 */
static inline const struct entry *outcome_back(struct outcome *o, const struct nt_record *r)
{
	struct entry *e = outcome_find(o, record_hash(r));

	assert_true(e->used);
	assert_false(e->back);
	e->back = true;
	return e;
}

static inline void outcome_matched(void *context, const struct merge_connection *c,
				   const struct nt_record *host, const struct nt_record *target)
{
	struct outcome *o = context;
	const struct entry *h = outcome_back(o, host), *t = outcome_back(o, target);
	const struct traffic_queue *q = &o->config->queue[h->queue];

	assert_true(c->index < OUTCOME_CONNECTIONS_MAX);
	assert_int_equal(host->side, NT_HOST);
	assert_int_equal(target->side, NT_TARGET);
	if (h->id != t->id) {
		o->wrong++;
		return;
	}
	o->right++;
	assert_int_equal(c->host_stream, q->host);
	assert_int_equal(c->target_stream, q->target);
	assert_int_equal(c->host_instance, q->instance);
	assert_int_equal(c->cntlid, q->cntlid);
	assert_int_equal(c->qid, q->qid);
	assert_string_equal(c->subsysnqn, q->nqn);
}

static inline void outcome_single(void *context, const struct merge_connection *c,
				  const struct nt_record *r, bool ambiguous)
{
	struct outcome *o = context;
	const struct entry *e = outcome_back(o, r);

	assert_true(c->index < OUTCOME_CONNECTIONS_MAX);
	assert_int_equal(e->side, r->side);
	if (ambiguous)
		o->ambiguous[r->side]++;
	else
		o->only[r->side]++;
}

static inline struct merge *outcome_merge(struct outcome *o, const struct traffic_config *c)
{
	struct merge_callbacks callbacks = {outcome_matched, outcome_single, o};
	struct merge *m = merge_new(&callbacks);

	*o = (struct outcome){.config = c};
	outcome_grow(o);
	assert_non_null(m);
	return m;
}

/*
 * The target's clock less the host's, at the moment when the host's clock reads @host_ns. The
 * host's clock must not drift.
 */
static inline int64_t true_offset(const struct traffic_config *c, const struct traffic_queue *q,
				  uint64_t host_ns)
{
	const struct traffic_stream *host = &c->stream[q->host];

	assert_int_equal(host->drift_ppm, 0);
	return (int64_t)(traffic_clock(&c->stream[q->target], host_ns - (uint64_t)host->offset_ns) -
			 host_ns);
}

static inline void check_offset(const struct traffic_config *c, const struct merge_connection *at)
{
	for (unsigned int i = 0; i < c->nr_queues; i++) {
		const struct traffic_queue *q = &c->queue[i];
		int64_t offset;

		if (q->host != at->host_stream || q->target != at->target_stream)
			continue;
		offset = true_offset(c, q, at->offset_at_ns);
		assert_true(offset >= at->offset_low - 1000);
		assert_true(offset <= at->offset_high + 1000);
		return;
	}
	fail_msg("nobody sends from stream %u to %u", at->host_stream, at->target_stream);
}

/* When the merge is finished, its counters, the callbacks and the book must agree. */
static inline void outcome_check(struct outcome *o, struct merge *m)
{
	uint64_t matched = 0, only[NT_SIDES] = {0}, ambiguous = 0;

	assert_int_equal(merge_pending(m), 0);
	assert_int_equal(o->right + o->wrong + o->only[NT_HOST] + o->ambiguous[NT_HOST],
			 o->fed[NT_HOST]);
	assert_int_equal(o->right + o->wrong + o->only[NT_TARGET] + o->ambiguous[NT_TARGET],
			 o->fed[NT_TARGET]);
	o->nr_connections = merge_connections(m);
	assert_true(o->nr_connections <= OUTCOME_CONNECTIONS_MAX);
	assert_null(merge_connection(m, o->nr_connections));
	for (unsigned int i = 0; i < o->nr_connections; i++) {
		const struct merge_connection *c = merge_connection(m, i);

		o->connection[i] = *c;
		assert_int_equal(c->index, i);
		matched += c->matched;
		only[NT_HOST] += c->host_only;
		only[NT_TARGET] += c->target_only;
		ambiguous += c->ambiguous;
		if (c->matched && c->offset_low <= c->offset_high && !o->wrong)
			check_offset(o->config, c);
	}
	/*
	 * Only the sums over all connections are compared: a record that was given up before its
	 * connection was known may be counted in another one.
	 */
	assert_int_equal(matched, o->right + o->wrong);
	assert_int_equal(only[NT_HOST], o->only[NT_HOST]);
	assert_int_equal(only[NT_TARGET], o->only[NT_TARGET]);
	assert_int_equal(ambiguous, o->ambiguous[NT_HOST] + o->ambiguous[NT_TARGET]);
	assert_true(o->pending_max <= PENDING_MAX);
}

static inline void outcome_free(struct outcome *o)
{
	free(o->entry);
	free(o->seen);
}

/* Feeds a record. A stream describes a queue before the first record of that queue. */
static inline void feed_record(struct outcome *o, struct merge *m, const struct traffic_record *r,
			       bool told[TRAFFIC_QUEUES_MAX][NT_SIDES])
{
	enum nt_side side = r->r.side;

	if (!told[r->queue][side]) {
		struct queue_info q = traffic_stream_queue(o->config, r->queue, side);

		told[r->queue][side] = true;
		assert_int_equal(merge_queue(m, r->stream, side, &q), 0);
	}
	outcome_note(o, r);
	assert_int_equal(merge_record(m, r->stream, &r->r), 0);
	o->pending_max = traffic_max(o->pending_max, merge_pending(m));
}

static inline bool feed_keeps(const struct feed *f, struct traffic *chance,
			      const struct traffic_record *r)
{
	uint64_t since = r->at_ns - TRAFFIC_EPOCH_NS;
	enum nt_side side = r->r.side;

	if ((f->without_target && side == NT_TARGET) || since < f->from_ns[side] ||
	    (f->to_ns[side] && since >= f->to_ns[side]))
		return false;
	return !f->loss_percent || traffic_random(chance, 100) >= f->loss_percent;
}

/* Reports the streams that have ended by @at_ns with all of their records fed. */
static inline void feed_ends(struct merge *m, const struct traffic_config *c, const struct feed *f,
			     uint64_t at_ns)
{
	for (unsigned int i = 0; f->ends && i < c->nr_streams; i++) {
		enum nt_side side = c->stream[i].side;

		if (f->to_ns[side] && at_ns > TRAFFIC_EPOCH_NS + f->to_ns[side] + f->batch_ns[side])
			merge_end(m, i);
	}
}

struct later {
	uint64_t at_ns;
	uint64_t order;
	struct traffic_record r;
};

static inline int later_compare(const void *a, const void *b)
{
	const struct later *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/*
 * Feeds both sides' records in the order in which they were made, or in batches as in a live view.
 */
static inline void run(struct outcome *o, const struct traffic_config *c, const struct feed *f)
{
	bool told[TRAFFIC_QUEUES_MAX][NT_SIDES] = {{false}};
	bool live = f->batch_ns[NT_HOST] || f->batch_ns[NT_TARGET];
	struct merge *m = outcome_merge(o, c);
	struct traffic *t = traffic_new(c), chance = {.random = 77777};
	struct later *later = NULL;
	size_t nr = 0, max = 0;
	struct traffic_record r;

	for (unsigned int i = 0; f->ends && i < c->nr_streams; i++)
		assert_int_equal(merge_stream(m, i, c->stream[i].side), 0);
	while (traffic_next(t, &r)) {
		uint64_t batch = f->batch_ns[r.r.side];

		if (!live)
			feed_ends(m, c, f, r.at_ns);

		if (!feed_keeps(f, &chance, &r))
			continue;
		if (!live) {
			feed_record(o, m, &r, told);
			if (f->expire_ns && o->fed[NT_HOST] % 1000 == 0)
				expire_all(m, f->expire_ns);
			continue;
		}
		if (nr == max) {
			max = max ? 2 * max : 4096;
			later = realloc(later, max * sizeof(*later));
			assert_non_null(later);
		}
		later[nr] = (struct later){batch ? (r.at_ns / batch + 1) * batch : r.at_ns, nr, r};
		nr++;
	}
	if (live)
		qsort(later, nr, sizeof(*later), later_compare);
	for (size_t i = 0; i < nr; i++) {
		feed_ends(m, c, f, later[i].at_ns);
		feed_record(o, m, &later[i].r, told);
		if (f->expire_ns && i % 1000 == 0)
			expire_all(m, f->expire_ns);
	}
	free(later);
	traffic_free(t);
	if (f->ends) {
		for (unsigned int i = 0; i < c->nr_streams; i++)
			merge_end(m, i);
	}
	merge_finish(m);
	outcome_check(o, m);
	print_message(
		"# fed %llu + %llu, both %llu, right %llu, wrong %llu, only %llu + %llu, "
		"ambiguous %llu + %llu, pending at most %llu\n",
		(unsigned long long)o->fed[NT_HOST], (unsigned long long)o->fed[NT_TARGET],
		(unsigned long long)o->both, (unsigned long long)o->right,
		(unsigned long long)o->wrong, (unsigned long long)o->only[NT_HOST],
		(unsigned long long)o->only[NT_TARGET], (unsigned long long)o->ambiguous[NT_HOST],
		(unsigned long long)o->ambiguous[NT_TARGET], (unsigned long long)o->pending_max);
	merge_free(m);
	outcome_free(o);
}

#endif /* NTPROF_MERGE_TESTING_H */
