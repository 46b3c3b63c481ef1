// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for what comes behind the reader: the merge, as live streams feed it, and report, which
 * reads streams from files. Inputs are plays (scenario.h). Besides what the sanitizers see, it asserts
 * that:
 *  - every record that the merge gets comes back once, unchanged, or is counted as unknown;
 *  - what is matched asked for the same, and is of two sides;
 *  - connections add up to what came back, and fewer records wait than may;
 *  - report prints characters, no control sequences, and no numbers that are none.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create(), fopencookie() */
#endif
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "asserts.h"
#include "cli/verbs.h"
#include "core/counters.h"
#include "merge/counts.h"
#include "merge/merge.h"
#include "merge/pending.h"
#include "scenario.h"
#include "stream/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The linker puts it in the place of read(), which the other target needs. */
ssize_t __real_read(int fd, void *buffer, size_t n);
ssize_t __wrap_read(int fd, void *buffer, size_t n);

ssize_t __wrap_read(int fd, void *buffer, size_t n)
{
	return __real_read(fd, buffer, n);
}

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
	ASSERT(2 * matched + only[NT_HOST] + only[NT_TARGET] + ambiguous + merge_unknown(m) +
		       merge_past_limits(m) + merge_pending(m) ==
	       b->fed);
	ASSERT(merge_pending(m) <= PENDING_POOL_MAX && merge_crowded_out(m) <= b->fed);
	ASSERT(merge_in_crowd(m) <= b->fed);
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

static struct stream_event event_of(const struct scenario_event *e)
{
	struct stream_event s = {.type = e->type};

	switch (e->type) {
	case STREAM_QUEUE:
		s.queue = scenario_queue_info(&e->queue, play.stream[e->stream].side);
		break;
	case STREAM_RECORD:
		s.record = e->record;
		s.record.flags &= NT_F_NO_CQE | NT_F_CANCELLED;
		break;
	case STREAM_CLOCK:
		s.clock = (struct instant){.monotonic_ns = e->number, .realtime_ns = INT64_MAX};
		break;
	case STREAM_LOSSES:
		s.losses.count[e->number % COUNTERS_NR] = e->number;
		break;
	default:
		ASSERT(!"one of the stream's");
	}
	return s;
}

/* Writes what happens to a stream into @fd. Those of odd numbers break off. */
static void write_stream(int fd, unsigned int stream)
{
	struct stream_header h = {.side = play.stream[stream].side,
				  .source = "stock",
				  .boot_id = "01234567-89ab-cdef-0123-456789abcdef",
				  .hostname = "m\xc3\xa9\x1b[31m",
				  .kernel = "6.1.0\n",
				  .program = "0.1.0",
				  .sample = stream};
	struct stream_writer *w;

	ASSERT(!ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET));
	w = stream_writer_new(fd, &h);
	ASSERT(w);
	for (unsigned int i = 0; i < play.nr_events; i++) {
		const struct scenario_event *e = &play.event[play.order[i]];

		if (e->stream == stream && e->type != SCENARIO_EXPIRE) {
			struct stream_event s = event_of(e);

			ASSERT(!stream_write(w, &s));
		}
	}
	if (stream % 2) {
		ASSERT(!stream_flush(w));
	} else {
		struct stream_event end = {.type = STREAM_END};

		ASSERT(!stream_write(w, &end));
	}
	stream_writer_free(w);
}

/* What report prints passes by, and is forgotten. */
static ssize_t check_output(void *context, const char *text, size_t n)
{
	(void)context;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		ASSERT((c >= 0x20 && c != 0x7f) || c == '\n');
	}
	ASSERT(!memmem(text, n, "nan", 3) && !memmem(text, n, "inf ", 4));
	return (ssize_t)n;
}

static FILE *output_get(void)
{
	const cookie_io_functions_t functions = {.write = check_output};
	FILE *f = fopencookie(NULL, "w", functions);

	ASSERT(f);
	return f;
}

static void report_files(void)
{
	static char path[SCENARIO_STREAMS][32], verb[] = "report", slowest[] = "--slowest=3",
						commands[] = "--commands", json[] = "--format=json";
	char *argv[5 + SCENARIO_STREAMS] = {verb, slowest};
	static int fd[SCENARIO_STREAMS];
	static FILE *output;
	FILE *out = stdout, *err = stderr;
	int argc = 2;

	if (!output)
		output = output_get();
	if (play.now % 2)
		argv[argc++] = commands;
	if (play.now % 3 == 0)
		argv[argc++] = json;
	for (unsigned int i = 0; i < play.nr_streams; i++) {
		if (!path[i][0]) {
			fd[i] = memfd_create("stream", MFD_CLOEXEC);
			ASSERT(fd[i] >= 0);
			snprintf(path[i], sizeof(path[i]), "/proc/self/fd/%d", fd[i]);
		}
		write_stream(fd[i], i);
		argv[argc++] = path[i];
	}
	stdout = stderr = output;
	ASSERT(!verb_report.main(argc, argv));
	fflush(output);
	stdout = out;
	stderr = err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	scenario_make(&play, data, size);
	merge_live();
	report_files();
	return 0;
}
