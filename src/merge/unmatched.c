// SPDX-License-Identifier: GPL-2.0-only
#include "merge/unmatched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/hash.h"
#include "core/span.h"
#include "merge/contents.h"
#include "merge/one_side.h"

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

	forget(s);
	free(s->queues);
	*s = (struct stream){.h = *h, .begun = true};
	if (!h->figures)
		return 0;
	s->figures = one_side_new(h->side);
	if (!s->figures)
		return -ENOMEM;
	one_side_lacks(s->figures, h->missing);
	one_side_filter(s->figures, h->filter);
	one_side_places(s->figures, h->places);
	if (h->detail && one_side_details(s->figures))
		return -ENOMEM;
	return h->grouping ? one_side_groups(s->figures, h->grouping, h->source, h->sample) : 0;
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

void unmatched_clock(struct unmatched *a, unsigned int stream, const struct instant *now)
{
	struct stream *s = of_interest(a, stream);

	if (!s)
		return;
	if (!s->began_ns)
		s->began_ns = now->monotonic_ns;
	s->has_clock = true;
	s->to_wall = (uint64_t)now->realtime_ns - now->monotonic_ns;
}

/* FNV-1a, never 0. */
static uint64_t text_hash(const char *text)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	while (*text)
		h = (h ^ (unsigned char)*text++) * 0x100000001b3ULL;
	return h ?: 1;
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
		who.nqn = text_hash(q->subsysnqn);
	if (queue_note(s, &who))
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
		s->began_ns = first;
	if (first && (!s->first_ns || first < s->first_ns))
		s->first_ns = first;
	if (last > s->last_ns)
		s->last_ns = last;
	if (contents_add(&s->contents, r))
		return -ENOMEM;
	return s->figures ? one_side_record(s->figures, r, s->began_ns) : 0;
}

uint64_t unmatched_began_ns(const struct unmatched *a, unsigned int stream)
{
	return a->streams[stream].began_ns;
}

uint64_t unmatched_taken(const struct unmatched *a, unsigned int stream, uint64_t *of)
{
	const struct stream *s = &a->streams[stream];

	*of = s->commands;
	return s->figures ? one_side_taken(s->figures) : 0;
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
 * Whether two streams have a queue in common, or, without @ids, a subsystem. What is not known may
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
		seconds = filter_seconds(s->h.filter, s->began_ns, s->first_ns, s->last_ns);
	if (s->burst_ns)
		seconds = (double)s->burst_ns / 1e9;
	return s->figures ? one_side_stats(s->figures, kernel, s->h.sample, losses, seconds) : NULL;
}

struct groups *unmatched_groups(struct unmatched *a, unsigned int stream)
{
	struct stream *s = &a->streams[stream];
	struct groups *g = s->figures ? one_side_grouped(s->figures) : NULL;
	uint64_t from, to;

	if (!g)
		return NULL;
	from = s->first_ns > s->began_ns ? s->first_ns - s->began_ns : 0;
	to = s->last_ns > s->began_ns ? s->last_ns - s->began_ns : 0;
	if (s->h.filter)
		filter_bounds(s->h.filter, &from, &to);
	return groups_finish(g, from, to, s->burst_ns) ? NULL : g;
}

const struct details *unmatched_details(const struct unmatched *a, unsigned int stream)
{
	const struct stream *s = &a->streams[stream];

	return s->figures ? one_side_detailed(s->figures) : NULL;
}
