// SPDX-License-Identifier: GPL-2.0-only
#include "merge/unmatched.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"
#include "merge/places.h"
#include "merge/timeline.h"
#include "shared/selection.h"

#define TABLE (2 * CONTENTS_MAX)

/*
 * A hash of what both sides know of a command, without its queue: the two sides may not agree on
 * that. Never 0.
 */
static uint64_t key_of(const struct nt_record *r)
{
	uint64_t what = (uint64_t)r->length << 32 ^ (uint64_t)r->opcode << 24 ^ r->nsid;

	return hash_mix(r->slba * 0x9e3779b97f4a7c15ULL ^ what) ?: 1;
}

/* Return: the place of a key, or the free place for it. The table is never more than half full. */
static unsigned int find(const uint64_t *table, uint64_t key)
{
	unsigned int i = hash_pair(key, 0) % TABLE;

	while (table[i] && table[i] != key)
		i = (i + 1) % TABLE;
	return i;
}

static void thin_out(struct contents *c)
{
	uint64_t old[TABLE];

	memcpy(old, c->key, sizeof(old));
	memset(c->key, 0, sizeof(old));
	c->mask = c->mask << 1 | 1;
	c->nr = 0;
	for (unsigned int i = 0; i < TABLE; i++) {
		if (!old[i] || old[i] & c->mask)
			continue;
		c->key[find(c->key, old[i])] = old[i];
		c->nr++;
	}
}

int contents_add(struct contents *c, const struct nt_record *r)
{
	uint64_t key = key_of(r);
	unsigned int at;

	if (key & c->mask)
		return 0;
	if (!c->key)
		c->key = calloc(TABLE, sizeof(*c->key));
	if (!c->key)
		return -ENOMEM;
	at = find(c->key, key);
	if (c->key[at])
		return 0;
	if (c->nr == CONTENTS_MAX) {
		thin_out(c);
		return contents_add(c, r);
	}
	c->key[at] = key;
	c->nr++;
	return 0;
}

bool contents_common(const struct contents *a, const struct contents *b, unsigned int enough)
{
	uint64_t mask = a->mask | b->mask;
	unsigned int in_a = 0, in_b = 0;

	for (unsigned int i = 0; i < TABLE; i++) {
		if (a->key && a->key[i] && !(a->key[i] & mask)) {
			in_a++;
			if (b->key && b->key[find(b->key, a->key[i])])
				return true;
		}
		in_b += b->key && b->key[i] && !(b->key[i] & mask);
	}
	return in_a < enough || in_b < enough;
}

void contents_free(struct contents *c)
{
	free(c->key);
	*c = (struct contents){0};
}

/*
 * The most connections that records may refer to: more than a machine has at a time. The first one
 * added gives way.
 */
#define ONE_SIDE_QUEUES_MAX 4096
/*
 * The most rows. A controller that reconnects with another id gets new ones. Commands past the
 * limit share the row of unknown queues.
 */
#define ONE_SIDE_ROWS_MAX 2048

/* Identity of a record's queue: one of the connections that had the slot. */
struct queue_key {
	uint32_t slot;
	uint32_t gen;
};

struct queue {
	struct queue_key key;
	struct queue_info info;
	uint16_t qid;
	char controller[32];
	char peer[NT_NQN_LEN];
	char other[NT_NQN_LEN];
	bool selected;
	struct stats_row *row[NT_OPS_NR];
	struct merge_connection *connection;
	UT_hash_handle hh;
};

struct one_side {
	struct stats s;
	struct stage_split how, lacking; /* of records that lack arrivals */
	struct queue *queues;		 /* hash table */
	const struct filter *filter;
	struct filter_span span;
	const struct places *places;
	uint64_t taken;
	struct details *details;
	struct groups *groups;
	struct timeline *timeline;
	struct blocks *blocks;
	struct why *why;
	struct merge_connection **connection; /* for @why */
	unsigned int nr_connections;
	unsigned int stream;
	char source[GROUP_SOURCE_LEN];
	uint32_t sample;
};

/* @missing: bits of the points that no probe gives there */
static void one_side_lacks(struct one_side *o, uint32_t missing)
{
	o->s.missing = missing;
	stage_split_init(&o->how, o->s.side, missing);
	stage_split_init(&o->lacking, o->s.side,
			 missing | (o->s.side == NT_HOST ? NT_HOST_ARRIVALS : NT_TARGET_ARRIVALS));
}

struct one_side *one_side_new(enum nt_side side)
{
	struct one_side *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->s.side = side;
	o->s.by_other = side == NT_TARGET;
	one_side_lacks(o, 0);
	return o;
}

void one_side_free(struct one_side *o)
{
	if (!o)
		return;
	stats_free(&o->s);
	groups_free(o->groups);
	details_free(o->details);
	timeline_free(o->timeline);
	why_free(o->why);
	for (unsigned int i = 0; i < o->nr_connections; i++)
		free(o->connection[i]);
	free(o->connection);
	hash_free(o->queues);
	free(o);
}

static struct queue *queue_find(const struct one_side *o, const struct queue_key *key)
{
	struct queue *q;

	HASH_FIND_BYHASHVALUE(hh, o->queues, key, sizeof(*key), hash_pair(key->slot, key->gen), q);
	return q;
}

static bool is_selected(const struct one_side *o, const struct queue_info *info)
{
	return !o->filter || selects_queue(&o->filter->select.by, o->s.side, info);
}

int one_side_queue(struct one_side *o, const struct queue_info *info)
{
	const struct queue_key key = {.slot = info->slot, .gen = info->gen};
	bool host = o->s.side == NT_HOST;
	struct queue *q;

	q = queue_find(o, &key);
	if (q) {
		/* More of its identity may be known now. */
		q->selected = is_selected(o, info);
		q->info = *info;
		return 0;
	}
	if (HASH_COUNT(o->queues) == ONE_SIDE_QUEUES_MAX)
		hash_drop(o->queues, o->queues);
	q = calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	q->key = key;
	q->info = *info;
	q->qid = info->qid;
	q->selected = is_selected(o, info);
	if (host)
		snprintf(q->controller, sizeof(q->controller), "nvme%u", info->instance);
	else
		snprintf(q->controller, sizeof(q->controller), "cntlid %u", info->cntlid);
	snprintf(q->peer, sizeof(q->peer), "%s", host ? info->subsysnqn : info->hostnqn);
	snprintf(q->other, sizeof(q->other), "%s", host ? info->hostnqn : info->subsysnqn);
	HASH_ADD_BYHASHVALUE(hh, o->queues, key, sizeof(key), hash_pair(key.slot, key.gen), q);
	return hash_kept(q) ? 0 : -ENOMEM;
}

/* Return: the row of a queue. Past the limit, or if @q is NULL, the row that all others share. */
static struct stats_row *row_get(struct one_side *o, const struct queue *q, enum nt_op op)
{
	struct stats_row *row;

	if (!q || o->s.nr_rows >= ONE_SIDE_ROWS_MAX)
		return stats_row(&o->s, "", "", 0, op, true);
	row = stats_row_of(&o->s, q->controller, q->peer, q->other, q->qid, op, false);
	if (row)
		row->transport = q->info.transport;
	return row;
}

static int count_error(struct one_side *o, const struct queue *q, enum nt_op op, uint16_t status)
{
	return errors_add_of(&o->s.errors, q ? q->controller : "", q ? q->peer : "",
			     q && o->s.by_other ? q->other : "", q ? q->qid : 0, op, status, 1);
}

static const struct stage_split *how_of(const struct one_side *o, const struct nt_record *r)
{
	return record_lacks(r) ? &o->lacking : &o->how;
}

/* @q: NULL if the stream has not announced the queue */
static bool takes(const struct one_side *o, const struct queue *q, const struct nt_record *r)
{
	static const struct queue_info unknown;

	if (!o->filter)
		return true;
	return (q ? q->selected : is_selected(o, &unknown)) &&
	       places_takes(o->places, &o->filter->select, r) &&
	       filter_takes(o->filter, r, how_of(o, r), &o->span);
}

static int count_group(struct one_side *o, const struct queue *q, const struct nt_record *r,
		       uint64_t began_ns)
{
	struct group_recorder who = {
		.began_ns = began_ns,
		.sample = o->sample,
		.places = o->places,
	};
	struct group_split split = {.of = o->s.side, .nr = stages_nr(o->s.side)};
	const struct stage_split *how = how_of(o, r);
	uint64_t stage[NT_STAGES_MAX];
	struct group_name name;

	if (stage_split(how, r, stage))
		who.split = &split;
	for (unsigned int i = 0; i < split.nr; i++) {
		split.ns[i] = (int64_t)stage[i];
		split.into[i] = how->into[i];
	}
	who.source[o->s.side] = o->source;
	group_name_side(&name, &groups_how(o->groups)->by, o->s.side, q ? &q->info : NULL, r, &who);
	return groups_add_record(o->groups, &name, r, &who);
}

/* @stage: its stages, if @split */
static int count_time(struct one_side *o, const struct stats_row *row, const struct nt_record *r,
		      bool split, const uint64_t stage[NT_STAGES_MAX])
{
	int64_t ns[NT_STAGES_MAX];
	const struct timeline_command c = {
		.owner = row,
		.begin_ns = record_begin_ns(r),
		.latency_ns = record_latency_ns(r),
		.r = r,
		.cpu = o->places ? places_cpu(o->places, r) : ORIGIN_NO_CPU,
		.places = o->places,
		.nr = split ? stages_nr(o->s.side) : 0,
		.stage = ns,
		.into = how_of(o, r)->into,
	};

	for (unsigned int i = 0; i < c.nr; i++)
		ns[i] = (int64_t)stage[i];
	return timeline_add(o->timeline, &c);
}

static int count_block(struct one_side *o, const struct nt_record *r, uint64_t began_ns)
{
	bool host = o->s.side == NT_HOST;
	const struct blocks_where where = {
		.stream = {[NT_HOST] = host ? o->stream : MERGE_NO_STREAM,
			   [NT_TARGET] = host ? MERGE_NO_STREAM : o->stream},
		.missing = {[NT_HOST] = host ? o->how.missing : 0,
			    [NT_TARGET] = host ? 0 : o->how.missing},
		.to_common = (int64_t)-began_ns,
	};

	return blocks_add(o->blocks, &where, host ? r : NULL, host ? NULL : r);
}

/* A queue as if the merge had it. Return: NULL past the limit, or when memory ran out: see errno.
 */
static const struct merge_connection *connection_of(struct one_side *o, struct queue *q)
{
	struct merge_connection *c = q ? q->connection : NULL;

	errno = ENOSPC;
	if (c || !q || o->nr_connections == WHY_FOLLOWED)
		return c;
	errno = ENOMEM;
	c = ARRAY_MAKE(o->connection, o->nr_connections, o->nr_connections, sizeof(*c));
	if (!c)
		return NULL;
	c->index = o->nr_connections - 1;
	c->host_stream = o->s.side == NT_HOST ? o->stream : MERGE_NO_STREAM;
	c->target_stream = o->s.side == NT_TARGET ? o->stream : MERGE_NO_STREAM;
	c->host_instance = q->info.instance;
	c->cntlid = q->info.cntlid;
	c->qid = q->info.qid;
	memcpy(c->subsysnqn, q->info.subsysnqn, sizeof(c->subsysnqn));
	memcpy(c->hostnqn, q->info.hostnqn, sizeof(c->hostnqn));
	return q->connection = c;
}

/* @stage: its stages, if @split */
static int count_why(struct one_side *o, struct queue *q, const struct nt_record *r, bool split,
		     const uint64_t stage[NT_STAGES_MAX])
{
	int64_t ns[NT_STAGES_MAX];
	unsigned int stands_for = why_stands_for(o->why, r);
	bool follow = why_to_follow(o->why);
	const struct merge_connection *connection;
	struct why_command c;

	if (!stands_for && !follow)
		return 0;
	connection = connection_of(o, q);
	if (!connection)
		return errno == ENOMEM ? -ENOMEM : 0;
	c = (struct why_command){
		.c = connection,
		.r = r,
		.target = o->s.side == NT_TARGET ? r : NULL,
		.begin_ns = record_begin_ns(r),
		.cpu = o->places ? places_cpu(o->places, r) : ORIGIN_NO_CPU,
		.nr = split ? stages_nr(o->s.side) : 0,
		.stage = ns,
		.into = how_of(o, r)->into,
	};
	for (unsigned int i = 0; i < c.nr; i++)
		ns[i] = (int64_t)stage[i];
	return (stands_for && why_add(o->why, &c, stands_for)) ||
			       (follow && why_follow(o->why, c.c, r))
		       ? -ENOMEM
		       : 0;
}

int one_side_record(struct one_side *o, const struct nt_record *r, uint64_t began_ns)
{
	const struct queue_key key = {.slot = r->slot, .gen = r->gen};
	struct queue *q = queue_find(o, &key);
	enum nt_op op = r->op < NT_OPS_NR ? (enum nt_op)r->op : NT_OP_OTHER;
	uint64_t first = record_begin_ns(r), last = record_end_ns(r);
	const struct stage_split *how = how_of(o, r);
	uint64_t stage[NT_STAGES_MAX];
	struct stats_row *row;
	bool split;

	if (!takes(o, q, r))
		return 0;
	o->taken++;
	if (o->groups && ((r->flags & NT_F_CANCELLED) || (first && last >= first)) &&
	    count_group(o, q, r, began_ns))
		return -ENOMEM;
	if (o->timeline && first && ((r->flags & NT_F_CANCELLED) || status_is_error(r->status)))
		timeline_add_failed(o->timeline, first);
	if (o->why && first && (r->flags & NT_F_CANCELLED) && why_add_failed(o->why, first))
		return -ENOMEM;
	/* Commands that were given up, or lack a time, are in the stream's losses. */
	if ((r->flags & NT_F_CANCELLED) || !first || last < first)
		return 0;
	if (status_is_error(r->status))
		return count_error(o, q, op, r->status);
	row = q && q->row[op] ? q->row[op] : row_get(o, q, op);
	if (!row)
		return -ENOMEM;
	if (q)
		q->row[op] = row;
	hist_count(&row->total, last - first);
	row->total.bytes += r->length;
	o->s.alike_total[nt_alike(nt_sample_mix(r->qid, r->cid, r->length, r->slba))]++;
	if (o->details && details_add(o->details, o->s.side == NT_HOST ? r : NULL,
				      o->s.side == NT_TARGET ? r : NULL))
		return -ENOMEM;
	if (o->blocks && count_block(o, r, began_ns))
		return -ENOMEM;
	split = stage_split(how, r, stage);
	if ((o->timeline && count_time(o, row, r, split, stage)) ||
	    (o->why && count_why(o, q, r, split, stage)))
		return -ENOMEM;
	for (unsigned int i = 0; split && i < stages_nr(o->s.side); i++)
		if (how->into[i] == i)
			hist_count(&o->s.stage_total[op][i], stage[i]);
	return 0;
}

const struct stats *one_side_stats(struct one_side *o, const char *kernel, uint32_t sample,
				   const uint64_t losses[COUNTERS_NR], double seconds)
{
	text_copy(o->s.kernel, sizeof(o->s.kernel), kernel, TEXT_MARK);
	o->s.driver = driver_name(o->s.side);
	o->s.source = "recorded";
	o->s.recorded = true;
	o->s.sample = sample;
	o->s.selected = o->filter;
	o->s.elapsed = seconds;
	memcpy(o->s.counters_total, losses, sizeof(o->s.counters_total));
	stats_lacks(&o->s, o->how.missing);
	return &o->s;
}

/* This many queues of a stream are compared. With more, some are taken to be common to both. */
#define QUEUES_MAX 1024
/*
 * With fewer commands in either sample than this, it is not said that the samples have none in
 * common.
 */
#define CONTENTS_MIN 4
/* How Linux names a controller without a known id. */
#define CNTLID_ASKED 0xffff
#define CNTLID_UNKNOWN 0

/* Identity of a queue. @nqn: hash of the subsystem NQN, 0 where it is not known */
struct who {
	uint64_t nqn;
	uint16_t cntlid;
	uint16_t qid;
};

/*
 * @began_ns: first clock frame, or, without one, when the first command began
 * @first_ns, @last_ns: beginning and end of its commands, its own clock
 * @to_wall: what to add for the wall clock
 * @span: the time that the filter takes, known since @began_ns is
 * @figures: NULL where they are not wanted
 */
struct stream {
	struct unmatched_header h;
	bool begun;
	bool matched;
	bool has_clock;
	uint64_t commands;
	uint64_t began_ns;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t to_wall;
	struct filter_span span;
	uint64_t burst_ns; /* it was recorded for so much of that time; 0: all of it */
	struct who *queues;
	unsigned int nr_queues;
	struct contents contents;
	struct one_side *figures;
};

struct unmatched {
	struct stream *streams;
	unsigned int nr;
};

struct unmatched *unmatched_new(unsigned int nr)
{
	struct unmatched *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->nr = nr;
	a->streams = calloc(nr, sizeof(*a->streams));
	if (a->streams)
		return a;
	free(a);
	return NULL;
}

/* Frees all but the queues: other streams may still be compared with them. */
static void forget(struct stream *s)
{
	one_side_free(s->figures);
	contents_free(&s->contents);
	s->figures = NULL;
}

void unmatched_free(struct unmatched *a)
{
	if (!a)
		return;
	for (unsigned int i = 0; i < a->nr; i++) {
		forget(&a->streams[i]);
		free(a->streams[i].queues);
	}
	free(a->streams);
	free(a);
}

int unmatched_begin(struct unmatched *a, unsigned int stream, const struct unmatched_header *h)
{
	struct stream *s = &a->streams[stream];
	struct one_side *o;

	forget(s);
	free(s->queues);
	*s = (struct stream){.h = *h, .begun = true};
	if (!h->figures)
		return 0;
	o = s->figures = one_side_new(h->side);
	if (!o)
		return -ENOMEM;
	one_side_lacks(o, h->missing);
	o->filter = h->filter;
	o->places = h->places;
	snprintf(o->source, sizeof(o->source), "%s", h->source);
	o->sample = h->sample;
	o->blocks = h->blocks;
	o->stream = stream;
	if (h->detail)
		o->details = details_new();
	if (h->grouping)
		o->groups = groups_new(h->grouping);
	if (h->timeline)
		o->timeline = timeline_new();
	if (h->why)
		o->why = why_new(h->why);
	o->stream = stream;
	return (h->detail && !o->details) || (h->grouping && !o->groups) ||
			       (h->timeline && !o->timeline) || (h->why && !o->why)
		       ? -ENOMEM
		       : 0;
}

static struct stream *of_interest(struct unmatched *a, unsigned int stream)
{
	struct stream *s = &a->streams[stream];

	return s->begun && !s->matched ? s : NULL;
}

void unmatched_burst(struct unmatched *a, unsigned int stream, uint64_t ns)
{
	struct stream *s = of_interest(a, stream);

	if (s)
		s->burst_ns = ns_add(s->burst_ns, ns);
}

static void began(struct stream *s, const struct instant *at)
{
	s->began_ns = at->monotonic_ns;
	if (s->h.filter)
		s->span = filter_span(s->h.filter, at, s->h.end_ns);
	if (s->figures)
		s->figures->span = s->span;
}

void unmatched_clock(struct unmatched *a, unsigned int stream, const struct instant *now)
{
	struct stream *s = of_interest(a, stream);

	if (!s)
		return;
	if (!s->began_ns)
		began(s, now);
	s->has_clock = true;
	s->to_wall = (uint64_t)now->realtime_ns - now->monotonic_ns;
}

static int queue_note(struct stream *s, const struct who *who)
{
	for (unsigned int i = 0; i < s->nr_queues; i++) {
		const struct who *q = &s->queues[i];

		if (q->nqn == who->nqn && q->cntlid == who->cntlid && q->qid == who->qid)
			return 0;
	}
	if (s->nr_queues == QUEUES_MAX)
		return 0;
	if (!s->queues)
		s->queues = malloc(QUEUES_MAX * sizeof(*s->queues));
	if (!s->queues)
		return -ENOMEM;
	s->queues[s->nr_queues++] = *who;
	return 0;
}

int unmatched_queue(struct unmatched *a, unsigned int stream, const struct queue_info *q)
{
	struct stream *s = &a->streams[stream];
	struct who who = {.cntlid = q->cntlid, .qid = q->qid};

	if (!s->begun)
		return 0;
	if (q->subsysnqn[0])
		who.nqn = hash_text(0, q->subsysnqn) ?: 1;
	if (queue_note(s, &who))
		return -ENOMEM;
	if (s->figures && s->figures->why && why_queue(s->figures->why, stream, s->h.side, q))
		return -ENOMEM;
	return s->figures ? one_side_queue(s->figures, q) : 0;
}

int unmatched_record(struct unmatched *a, unsigned int stream, const struct nt_record *r)
{
	struct stream *s = of_interest(a, stream);
	uint64_t first, last;

	if (!s)
		return 0;
	first = record_begin_ns(r);
	last = record_last_ns(r);
	s->commands++;
	if (!s->began_ns)
		began(s, &(struct instant){.monotonic_ns = first});
	if (first && (!s->first_ns || first < s->first_ns))
		s->first_ns = first;
	if (last > s->last_ns)
		s->last_ns = last;
	if (contents_add(&s->contents, r))
		return -ENOMEM;
	if (s->figures && s->figures->why && s->figures->why->several_hosts)
		why_target(s->figures->why, stream, r);
	return s->figures ? one_side_record(s->figures, r, s->began_ns) : 0;
}

uint64_t unmatched_began_ns(const struct unmatched *a, unsigned int stream)
{
	return a->streams[stream].began_ns;
}

const struct filter_span *unmatched_span(const struct unmatched *a, unsigned int stream)
{
	return &a->streams[stream].span;
}

/* Of a time of a stream, what its filter takes. */
static double taken_ns(const struct stream *s, uint64_t from_ns, uint64_t to_ns)
{
	/* A broken recording may end an outage before it begins. */
	if (to_ns <= from_ns)
		return 0;
	return s->h.filter ? filter_seconds(&s->span, from_ns, to_ns) * 1e9
			   : (double)(to_ns - from_ns);
}

void unmatched_path(struct unmatched *a, struct why *all, unsigned int stream,
		    const struct nt_path_event *e)
{
	const struct stream *s = &a->streams[stream];
	struct why *figures[] = {all, s->figures ? s->figures->why : NULL};

	for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
		uint64_t since = figures[i] ? why_path(figures[i], stream, e) : 0;

		if (since)
			why_outage(figures[i], stream, e, taken_ns(s, since, e->ns));
	}
}

uint64_t unmatched_taken(const struct unmatched *a, unsigned int stream, uint64_t *of)
{
	const struct stream *s = &a->streams[stream];

	*of = s->commands;
	return s->figures ? s->figures->taken : 0;
}

void unmatched_matched(struct unmatched *a, unsigned int host, unsigned int target)
{
	const unsigned int both[] = {host, target};

	for (unsigned int i = 0; i < ARRAY_SIZE(both); i++) {
		struct stream *s = &a->streams[both[i]];

		if (s->matched)
			continue;
		s->matched = true;
		forget(s);
	}
}

bool unmatched_is(const struct unmatched *a, unsigned int stream)
{
	const struct stream *s = &a->streams[stream];

	return s->begun && !s->matched && s->commands;
}

static bool is_unknown(uint16_t cntlid)
{
	return cntlid == CNTLID_ASKED || cntlid == CNTLID_UNKNOWN;
}

/*
 * Whether two streams have a queue in common, or, without @ids, a subsystem. Unknown members may
 * agree.
 */
static bool common(const struct stream *a, const struct stream *b, bool ids)
{
	if (a->nr_queues == QUEUES_MAX || b->nr_queues == QUEUES_MAX)
		return true;
	for (unsigned int i = 0; i < a->nr_queues; i++) {
		const struct who *x = &a->queues[i];

		for (unsigned int k = 0; k < b->nr_queues; k++) {
			const struct who *y = &b->queues[k];

			if (x->nqn && y->nqn && x->nqn != y->nqn)
				continue;
			if (!ids ||
			    (x->qid == y->qid && (x->cntlid == y->cntlid || is_unknown(x->cntlid) ||
						  is_unknown(y->cntlid))))
				return true;
		}
	}
	return false;
}

/* Whether both recorded at the same time: by their common clock, or else by their wall clocks. */
static bool overlap(const struct stream *a, const struct stream *b)
{
	bool one_clock = a->h.boot_id[0] && !strcmp(a->h.boot_id, b->h.boot_id);
	int64_t a_to = one_clock ? 0 : (int64_t)a->to_wall;
	int64_t b_to = one_clock ? 0 : (int64_t)b->to_wall;

	if (!one_clock && (!a->has_clock || !b->has_clock))
		return true;
	return (int64_t)(a->first_ns + (uint64_t)a_to) <= (int64_t)(b->last_ns + (uint64_t)b_to) &&
	       (int64_t)(b->first_ns + (uint64_t)b_to) <= (int64_t)(a->last_ns + (uint64_t)a_to);
}

static enum unmatched_reason why(const struct stream *s, const struct stream *other)
{
	uint32_t sample = s->h.sample ?: 1, other_sample = other->h.sample ?: 1;

	if (!other->commands)
		return UNMATCHED_SILENT;
	if (!common(s, other, false))
		return UNMATCHED_SUBSYSTEM;
	if (!common(s, other, true))
		return UNMATCHED_QUEUE;
	/*
	 * Commands of a stream that matches others are not kept, so its contents cannot be
	 * compared.
	 */
	if (other->matched)
		return UNMATCHED_CLOCKS;
	/* Wall clocks may be wrong: what both were asked for is compared as well. */
	if (!overlap(s, other))
		return contents_common(&s->contents, &other->contents, 0) ? UNMATCHED_REPEATED
									  : UNMATCHED_TIME;
	if (sample == other_sample &&
	    !contents_common(&s->contents, &other->contents, CONTENTS_MIN))
		return UNMATCHED_CONTENT;
	return sample == other_sample ? UNMATCHED_CLOCKS : UNMATCHED_SAMPLE;
}

enum unmatched_reason unmatched_why(const struct unmatched *a, unsigned int stream,
				    unsigned int *other)
{
	const struct stream *s = &a->streams[stream];
	enum unmatched_reason most = UNMATCHED_NOBODY;

	*other = stream;
	for (unsigned int i = 0; i < a->nr; i++) {
		const struct stream *o = &a->streams[i];
		enum unmatched_reason reason;

		if (!o->begun || o->h.side == s->h.side)
			continue;
		reason = why(s, o);
		if (reason <= most)
			continue;
		most = reason;
		*other = i;
	}
	return most;
}

const char *unmatched_words(enum unmatched_reason why)
{
#define UNMATCHED_WORDS(id, words) [UNMATCHED_##id] = words,
	static const char *const words[] = {UNMATCHED_REASONS(UNMATCHED_WORDS)};

	return words[why];
}

const struct stats *unmatched_stats(struct unmatched *a, unsigned int stream, const char *kernel,
				    const uint64_t losses[COUNTERS_NR])
{
	struct stream *s = &a->streams[stream];
	double seconds = s->last_ns > s->first_ns ? (double)(s->last_ns - s->first_ns) / 1e9 : 0;

	if (s->h.filter)
		seconds = filter_seconds(&s->span, s->first_ns, s->last_ns);
	if (s->burst_ns)
		seconds = (double)s->burst_ns / 1e9;
	return s->figures ? one_side_stats(s->figures, kernel, s->h.sample, losses, seconds) : NULL;
}

struct groups *unmatched_groups(struct unmatched *a, unsigned int stream)
{
	struct stream *s = &a->streams[stream];
	struct groups *g = s->figures ? s->figures->groups : NULL;
	uint64_t from, to, taken = 0;

	if (!g)
		return NULL;
	from = s->first_ns > s->began_ns ? s->first_ns - s->began_ns : 0;
	to = s->last_ns > s->began_ns ? s->last_ns - s->began_ns : 0;
	if (s->h.filter)
		taken = filter_bounds(&s->span, s->began_ns, &from, &to);
	return groups_finish(g, from, to, s->burst_ns ?: taken) ? NULL : g;
}

const struct timeline *unmatched_timeline(const struct unmatched *a, unsigned int stream)
{
	const struct one_side *o = a->streams[stream].figures;

	return o ? o->timeline : NULL;
}

const struct why *unmatched_slow(const struct unmatched *a, unsigned int stream)
{
	const struct one_side *o = a->streams[stream].figures;

	return o ? o->why : NULL;
}

const struct details *unmatched_details(const struct unmatched *a, unsigned int stream)
{
	const struct stream *s = &a->streams[stream];

	return s->figures ? s->figures->details : NULL;
}
