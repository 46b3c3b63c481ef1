// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for the merge, as live streams feed it. Inputs are plays (scenario.h). Besides
 * what the sanitizers see, it asserts that:
 *  - every record that the merge gets comes back once, unchanged, or is counted as unknown;
 *  - both records of a match asked for the same, and are of two sides;
 *  - connections add up to what came back, and fewer records wait than may.
 */
#include <stddef.h>

#include "asserts.h"
#include "merge/merge.h"
#include "merge/pending.h"
#include "real_read.h"
#include "scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct scenario play;

/* What became of the play's records, by the number of their event, which their flags have. */
struct book {
	const struct merge *merge;
	uint64_t fed;
	uint64_t matched;
	uint64_t only[NT_SIDES];
	uint64_t ambiguous;
	bool back[SCENARIO_EVENTS_MAX];
};

static struct book book;

static void is_back(struct book *b, const struct merge_connection *c, const struct nt_record *r)
{
	ASSERT(r->flags < play.nr_events);
	ASSERT(play.event[r->flags].type == STREAM_RECORD);
	ASSERT(!memcmp(r, &play.event[r->flags].record, sizeof(*r)));
	ASSERT(!b->back[r->flags]);
	b->back[r->flags] = true;
	ASSERT(c == merge_connection(b->merge, c->index));
}

static void on_matched(void *context, const struct merge_connection *c,
		       const struct nt_record *host, const struct nt_record *target)
{
	struct book *b = context;

	is_back(b, c, host);
	is_back(b, c, target);
	ASSERT(host->side == NT_HOST && target->side == NT_TARGET);
	ASSERT(pending_same(host, target));
	ASSERT(c->host_stream == play.event[host->flags].stream);
	ASSERT(c->target_stream == play.event[target->flags].stream);
	b->matched++;
}

static void on_single(void *context, const struct merge_connection *c, const struct nt_record *r,
		      bool ambiguous)
{
	struct book *b = context;

	is_back(b, c, r);
	if (ambiguous)
		b->ambiguous++;
	else
		b->only[r->side]++;
}

static void check_book(const struct book *b, const struct merge *m)
{
	const struct merge_connection *c;
	uint64_t matched = 0, only[NT_SIDES] = {0}, ambiguous = 0;

	for (unsigned int i = 0; (c = merge_connection(m, i)); i++) {
		ASSERT(c->host_only <= b->fed && c->target_only <= b->fed);
		ASSERT(c->ambiguous <= b->fed && c->drift_ppm == c->drift_ppm);
		matched += c->matched;
		only[NT_HOST] += c->host_only;
		only[NT_TARGET] += c->target_only;
		ambiguous += c->ambiguous;
	}
	ASSERT(matched == b->matched && ambiguous == b->ambiguous);
	ASSERT(only[NT_HOST] == b->only[NT_HOST] && only[NT_TARGET] == b->only[NT_TARGET]);
	ASSERT(2 * matched + only[NT_HOST] + only[NT_TARGET] + ambiguous +
		       merge_strays(m)->records + merge_strays(m)->past_limits + merge_pending(m) ==
	       b->fed);
	ASSERT(merge_pending(m) <= PENDING_POOL_MAX && merge_strays(m)->crowded_out <= b->fed);
	ASSERT(merge_strays(m)->in_crowd <= b->fed);
}

static void feed(struct book *b, struct merge *m, struct scenario_event *e, unsigned int number)
{
	enum nt_side side = play.stream[e->stream].side;
	struct queue_info q;

	switch (e->type) {
	case STREAM_QUEUE:
		q = scenario_queue_info(&e->queue, side);
		ASSERT(!merge_queue(m, e->stream, side, &q));
		break;
	case STREAM_RECORD:
		e->record.flags = number;
		b->fed++;
		ASSERT(!merge_record(m, e->stream, &e->record));
		break;
	case SCENARIO_EXPIRE:
		merge_expire(m, e->number);
		check_book(b, m);
		break;
	default:
		break;
	}
}

static void merge_live(void)
{
	struct merge_callbacks callbacks = {on_matched, on_single, &book};
	struct merge *m = merge_new(&callbacks);

	ASSERT(m);
	memset(&book, 0, offsetof(struct book, back) + play.nr_events);
	book.merge = m;
	for (unsigned int i = 0; i < play.nr_events; i++)
		feed(&book, m, &play.event[play.order[i]], play.order[i]);
	merge_finish(m);
	ASSERT(!merge_pending(m));
	check_book(&book, m);
	merge_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	scenario_make(&play, data, size);
	merge_live();
	return 0;
}
