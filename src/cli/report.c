// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verb report: reads the streams of any number of hosts and targets side by side, merges them,
 * and prints the result. It needs neither root nor BPF, and its memory does not grow with the
 * streams.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/report_add.h"
#include "cli/report_compare.h"
#include "cli/report_filter.h"
#include "cli/report_fio.h"
#include "cli/report_print.h"
#include "cli/verbs.h"
#include "cli/written.h"
#include "core/names.h"
#include "core/output.h"
#include "merge/clock_alignment.h"
#include "merge/merge.h"
#include "merge/places.h"
#include "merge/totals.h"
#include "merge/unmatched.h"
#include "stream/reader.h"
#include "view/html.h"

/* How far one stream is read before the others get their turn. */
#define STEP_NS 1000000
/* Clocks drift, so their offsets are corrected after this many steps. */
#define STEPS_PER_CORRECTION 1000
/* Recordings without a match whose slow commands are explained: each takes some 10 MiB. */
#define WHY_ALONE_MAX 4u

static uint32_t missing_of(const struct report *r, unsigned int stream)
{
	return machines_get(&r->machines, stream)->missing;
}

static bool takes_matched(struct report *r, const struct merge_connection *c,
			  const struct nt_record *host, const struct nt_record *target)
{
	const uint32_t missing[NT_SIDES] = {
		[NT_HOST] = missing_of(r, c->host_stream),
		[NT_TARGET] = missing_of(r, c->target_stream),
	};

	return !r->filter || (places_takes(r->places[c->host_stream], &r->filter->select, host) &&
			      filter_takes_matched(r->filter, c, host, target, missing,
						   unmatched_span(r->unmatched, c->host_stream)));
}

static bool takes_single(const struct report *r, const struct merge_connection *c,
			 const struct nt_record *rec)
{
	unsigned int stream = rec->side == NT_HOST ? c->host_stream : c->target_stream;
	bool far = rec->side == NT_TARGET && c->host_stream != MERGE_NO_STREAM;

	if (!r->filter)
		return true;
	if (far ? !places_takes_far(r->places[c->host_stream], &r->filter->select, c, rec)
		: !places_takes(r->places[stream], &r->filter->select, rec))
		return false;
	return filter_takes_single(r->filter, c, rec, missing_of(r, stream),
				   unmatched_span(r->unmatched, stream));
}

static bool ended_well(const struct nt_record *r)
{
	return !(r->flags & NT_F_CANCELLED) && !status_is_error(r->status);
}

/* Return: 0 or a negative errno. */
static int add_fio(struct report *r, const struct merge_connection *c, const struct nt_record *rec)
{
	unsigned int i = rec->side == NT_HOST ? c->host_stream : c->target_stream;

	return r->fio ? fio_add(r->fio, c, rec, r->places[i], r->inputs[i].to_common,
				r->inputs[i].header.sample)
		      : 0;
}

static int add_why(struct report *r, const struct merge_connection *c, const struct nt_record *host,
		   const struct nt_record *target)
{
	unsigned int stands_for = why_stands_for(r->why, host);

	if (stands_for && report_why_add(r, c, host, target, stands_for))
		return -ENOMEM;
	return why_to_follow(r->why) ? why_follow(r->why, c, host) : 0;
}

/*
 * Return: the host's record, or the target's if there is no other; where TCP sent bytes of the
 * command again, @marked has it with the flag
 */
static const struct nt_record *mark(const struct report *r, unsigned int host_stream,
				    const struct nt_record *host, unsigned int target_stream,
				    const struct nt_record *target, int64_t ahead,
				    struct nt_record *marked)
{
	const unsigned int stream[NT_SIDES] = {
		[NT_HOST] = host_stream, [NT_TARGET] = target_stream};
	const struct nt_record *const record[NT_SIDES] = {[NT_HOST] = host, [NT_TARGET] = target};
	const struct nt_record *known = host ?: target;
	uint32_t again =
		r->tcp.any_resent ? tcp_history_sent_again(&r->tcp, stream, record, ahead) : 0;

	if (!again)
		return known;
	*marked = *known;
	marked->flags |= again;
	return marked;
}

/* The middle of the offset's bounds, which places inputs beside each other roughly. */
static int64_t target_ahead(const struct report *r, const struct merge_connection *c)
{
	if (c->offset_low > c->offset_high)
		return r->inputs[c->host_stream].to_common - r->inputs[c->target_stream].to_common;
	return (int64_t)connection_offset(c);
}

/** report_matched(), report_single() - the callbacks of the merge; @context is a struct report */
static void report_matched(void *context, const struct merge_connection *c,
			   const struct nt_record *host, const struct nt_record *target)
{
	struct report *r = context;
	struct nt_record marked;

	if (!r->matched[c->host_stream] || !r->matched[c->target_stream]) {
		r->matched[c->host_stream] = r->matched[c->target_stream] = true;
		unmatched_matched(r->unmatched, c->host_stream, c->target_stream);
	}
	r->nr_matched++;
	host = mark(r, c->host_stream, host, c->target_stream, target, target_ahead(r, c), &marked);
	r->nr_retransmitted += host == &marked;
	if (r->groups)
		report_groups_seen(r, c, host);
	if (!takes_matched(r, c, host, target))
		return;
	r->nr_taken++;
	if (r->commands)
		report_command(r, c, host, target, false);
	if (totals_add(&r->merged, c, host, target) ||
	    (r->blocks && ended_well(host) && report_blocks_add(r, c, host, target)) ||
	    (r->timeline && report_timeline_add(r, c, host)) ||
	    (r->perfetto &&
	     perfetto_add(r->perfetto, c, host, target, r->inputs[c->host_stream].to_common)) ||
	    (r->groups && report_groups_add(r, c, host, target)) ||
	    (r->details && ended_well(host) && details_add(r->details, host, target)) ||
	    (r->merged.last.row && add_why(r, c, host, target)))
		r->result = -ENOMEM;
	r->result = r->result ?: add_fio(r, c, host);
}

static void report_single(void *context, const struct merge_connection *c,
			  const struct nt_record *rec, bool ambiguous)
{
	struct report *r = context;
	bool host = rec->side == NT_HOST;
	struct nt_record marked;

	rec = mark(r, c->host_stream, host ? rec : NULL, c->target_stream, host ? NULL : rec, 0,
		   &marked);
	r->cut += !ambiguous && edges_cut(r->edges, c, rec);
	if (!takes_single(r, c, rec))
		return;
	if (r->commands)
		report_command(r, c, host ? rec : NULL, host ? NULL : rec, ambiguous);
	if (host)
		totals_add_single(&r->merged, c, rec);
	r->result = r->result ?: add_fio(r, c, rec);
	if (r->perfetto &&
	    perfetto_add(r->perfetto, c, host ? rec : NULL, host ? NULL : rec,
			 r->inputs[host ? c->host_stream : c->target_stream].to_common))
		r->result = -ENOMEM;
	if (host && r->timeline && (rec->flags & NT_F_CANCELLED) && record_begin_ns(rec))
		timeline_add_failed(r->timeline,
				    record_begin_ns(rec) +
					    (uint64_t)r->inputs[c->host_stream].to_common);
	if (host && (rec->flags & NT_F_CANCELLED) && record_begin_ns(rec) &&
	    why_add_failed(r->why,
			   record_begin_ns(rec) + (uint64_t)r->inputs[c->host_stream].to_common))
		r->result = -ENOMEM;
	if (host && r->groups && (rec->flags & NT_F_CANCELLED) &&
	    report_groups_add(r, c, rec, NULL))
		r->result = -ENOMEM;
}

/* Called when the header of an input is read. Return: 0 or -ENOMEM */
static int tell_machine(struct report *r, unsigned int i)
{
	const struct stream_header *h = &r->inputs[i].header;
	struct machine m = {.side = h->side, .sample = h->sample, .missing = h->missing};
	struct unmatched_header a = {
		.side = h->side,
		.sample = h->sample,
		.missing = h->missing,
		.figures = true,
		.filter = r->filter,
		.end_ns = r->inputs[i].end_ns,
		.detail = r->details,
		.timeline = r->timeline && i < HTML_ALONE_MAX,
		.blocks = r->alone[i] ? r->blocks : NULL,
		.why = i < WHY_ALONE_MAX ? r->why->sample : 0,
		.grouping = r->choice ? &r->choice->grouping : NULL,
		.places = r->places[i],
	};

	snprintf(m.name, sizeof(m.name), "%s", h->hostname);
	machines_set(&r->machines, i, &m, r->inputs[i].path);
	snprintf(a.boot_id, sizeof(a.boot_id), "%s", h->boot_id);
	snprintf(a.source, sizeof(a.source), "%s", h->source);
	return unmatched_begin(r->unmatched, i, &a);
}

static int take_burst(struct report *r, unsigned int i, const struct stream_event *e)
{
	return edges_burst(r->edges, i, e->burst.began_ns, e->burst.ended_ns);
}

/*
 * Stores a name that a stream announces; it comes before the first record that needs it. Return: 0
 * or -ENOMEM
 */
static int take_place(struct report *r, unsigned int i, const struct stream_event *e)
{
	switch (e->type) {
	case STREAM_QUEUE:
		return places_queue(r->places[i], &e->queue);
	case STREAM_DEVICE:
		return places_device(r->places[i], &e->device);
	case STREAM_ORIGIN:
		return places_origin(r->places[i], &e->origin);
	default:
		return 0;
	}
}

static int take_apart(struct report *r, unsigned int i, const struct stream_event *e)
{
	if (e->type == STREAM_RECORD) {
		const struct nt_record *rec = &e->record;
		bool host = rec->side == NT_HOST;
		struct nt_record marked;

		if (r->matched[i])
			return 0;
		rec = mark(r, i, host ? rec : NULL, i, host ? NULL : rec, 0, &marked);
		return unmatched_record(r->unmatched, i, rec);
	}
	if (e->type == STREAM_CLOCK)
		unmatched_clock(r->unmatched, i, &e->clock);
	if (e->type == STREAM_BURST) {
		unmatched_burst(r->unmatched, i, burst_length_ns(&e->burst));
		r->burst_ns[i] = ns_add(r->burst_ns[i], burst_length_ns(&e->burst));
	}
	/* The bursts of inputs that can be read twice are known already. */
	if (e->type == STREAM_BURST && !r->inputs[i].again)
		return take_burst(r, i, e);
	return e->type == STREAM_QUEUE ? unmatched_queue(r->unmatched, i, &e->queue) : 0;
}

/* Return: 0 or -ENOMEM */
static int take_tcp(struct report *r, unsigned int i, const struct stream_event *e)
{
	if (e->type == STREAM_QUEUE)
		return tcp_history_queue(&r->tcp, i, r->inputs[i].header.side, &e->queue);
	if (e->type == STREAM_RESENT)
		return tcp_history_resent(&r->tcp, i, &e->resent);
	if (e->type != STREAM_TCP)
		return 0;
	r->why->has_tcp = true;
	return tcp_history_state(&r->tcp, i, e->tcp.slot, e->tcp.gen, e->tcp.ns, &e->tcp.state);
}

static int take(struct report *r, unsigned int i, const struct stream_event *e)
{
	int err = take_place(r, i, e) ?: take_apart(r, i, e);

	/* That of inputs that can be read twice is known already. */
	if (!err && !r->inputs[i].again)
		err = take_tcp(r, i, e);
	if (!err && e->type == STREAM_QUEUE)
		err = why_queue(r->why, i, r->inputs[i].header.side, &e->queue);
	if (!err && e->type == STREAM_PATH) {
		unmatched_path(r->unmatched, r->why, i, &e->path);
		err = report_path_event(r, i, &e->path);
	}
	if (r->why->several_hosts && e->type == STREAM_RECORD &&
	    r->inputs[i].header.side == NT_TARGET)
		why_target(r->why, i, &e->record);

	if (!err && r->limited && e->type == STREAM_RECORD)
		err = report_limits_record(r, i, &e->record);
	/*
	 * Nothing is matched if only one side is there, but single commands come from the merge.
	 */
	if (err || (r->alone[i] && !r->commands && !r->perfetto && !r->fio))
		return err;
	if (e->type == STREAM_QUEUE)
		return merge_queue(r->merge, i, r->inputs[i].header.side, &e->queue);
	if (e->type == STREAM_CLOCK)
		merge_clock(r->merge, i, r->inputs[i].header.boot_id, &e->clock);
	if (e->type == STREAM_RECORD)
		return merge_record(r->merge, i, &e->record) ?: r->result;
	return 0;
}

/* Return: the input that is furthest behind; NULL if all have ended. */
static struct input *behind(struct report *r)
{
	struct input *least = NULL;

	for (unsigned int i = 0; i < r->nr; i++)
		if (!r->inputs[i].ended && (!least || r->inputs[i].now < least->now))
			least = &r->inputs[i];
	return least;
}

/* The merge knows the clocks better now than when the streams began. */
static int correct_all(struct report *r)
{
	int64_t *to_common = calloc(r->nr, sizeof(*to_common));
	bool *linked = calloc(r->nr, sizeof(*linked));
	int err = to_common && linked ? 0 : -ENOMEM;

	for (unsigned int i = 0; !err && i < r->nr; i++)
		to_common[i] = r->inputs[i].to_common;
	if (!err)
		err = axis_correct(r->merge, r->nr, to_common, linked);
	for (unsigned int i = 0; !err && i < r->nr; i++) {
		r->inputs[i].to_common = to_common[i];
		r->inputs[i].lined_up |= linked[i];
	}
	free(to_common);
	free(linked);
	return err;
}

/**
 * report_read() - read all streams; damage ends one input, whose data up to there counts. Return: 0
 * or a negative errno
 */
static int report_read(struct report *r)
{
	struct input *in;
	unsigned int steps = 0;

	while ((in = behind(r))) {
		int64_t until = in->now < INT64_MAX - STEP_NS ? in->now + STEP_NS : INT64_MAX;
		struct stream_event e;

		while (input_read(in, &e)) {
			int err;

			report_depths_mark(r, (unsigned int)(in - r->inputs), &e);
			err = take(r, (unsigned int)(in - r->inputs), &e);
			if (err)
				return err;
			if (in->now >= until)
				break;
		}
		if (in->ended)
			merge_end(r->merge, (unsigned int)(in - r->inputs));
		if (++steps % STEPS_PER_CORRECTION == 0) {
			int err = correct_all(r);

			if (err)
				return err;
		}
	}
	merge_finish(r->merge);
	return r->result;
}

/**
 * report_prepare() - find out which streams have no other side, and estimate the offsets of clocks
 *
 * Streams that can be read twice are read once for this, and aligned by the commands that they have
 * in common. For pipes the wall clocks have to do until the merge knows better.
 *
 * Return: 0 or a negative errno.
 */
static int report_prepare(struct report *r)
{
	struct clock_alignment *l = clock_alignment_new(r->nr);
	int64_t *to_common = calloc(r->nr, sizeof(*to_common));
	unsigned int sides[NT_SIDES] = {0};
	int err = l && to_common ? 0 : -ENOMEM;

	for (unsigned int i = 0; !err && i < r->nr; i++) {
		struct input *in = &r->inputs[i];
		struct stream_event e;

		if (!in->again)
			continue;
		while (!err && input_read(in, &e)) {
			if (e.type == STREAM_RECORD)
				err = clock_alignment_add(l, i, &e.record)
					      ?: report_depths_add(r, i, &e.record);
			else if (e.type == STREAM_BURST)
				err = take_burst(r, i, &e);
			else
				err = take_tcp(r, i, &e);
		}
		to_common[i] = in->to_common;
		if (in->begun)
			sides[in->header.side]++;
		if (!err)
			err = input_rewind(in);
	}
	err = err ?: report_depths_finish(r);
	if (!err)
		err = clock_alignment_solve(l, to_common);
	for (unsigned int i = 0; !err && i < r->nr; i++) {
		struct input *in = &r->inputs[i];
		struct stream_event e;

		if (in->again) {
			in->to_common = to_common[i];
			in->lined_up = true;
		}
		/* The side of a pipe is known only from its header. */
		if (input_read(in, &e) && !in->again)
			sides[in->header.side]++;
	}
	for (unsigned int i = 0; !err && i < r->nr; i++) {
		struct input *in = &r->inputs[i];

		if (!in->begun)
			continue;
		err = merge_stream(r->merge, i, in->header.side);
		if (err)
			break;
		r->alone[i] = !sides[in->header.side == NT_HOST ? NT_TARGET : NT_HOST];
		err = tell_machine(r, i);
	}
	free(to_common);
	clock_alignment_free(l);
	return err;
}

/** report_open() - open @r->nr inputs; prints errors. Return: 0 or a negative errno */
static int report_open(struct report *r, char *const *paths)
{
	for (unsigned int i = 0; i < r->nr; i++) {
		int err = input_open(&r->inputs[i], paths[i]);

		if (err) {
			message("cannot read %s: %s", paths[i], strerror(-err));
			return err;
		}
		/* The same file twice would have each command twice. */
		for (unsigned int k = 0; k < i; k++) {
			if (input_same(&r->inputs[i], &r->inputs[k])) {
				message("%s and %s are the same file", paths[k], paths[i]);
				return -EINVAL;
			}
		}
	}
	return 0;
}

/* More hosts and targets than users compare. */
#define FILES_MAX 256u
/* The shortest interval, in nanoseconds and as users write it. */
#define EVERY_MIN_NS 1000000ULL
#define EVERY_MIN "1ms"
/* More stories than users read. */
#define SLOWEST_MAX 1000u

/**
 * struct report_options - the options of the verb report
 * @files: @nr_files streams to read
 * @slowest: print the stories of this many of the slowest commands
 * @pcap: print filters for captures of this many of them
 * @commands: print a line for each command
 * @detail: show every interval between points
 * @verbose: show each queue of a connection
 * @why: say in full where slow commands come from
 * @tcp: show what the recordings have of TCP connections
 * @html: a file for the report with pictures; NULL: none
 * @perfetto: a file for a trace of at most @perfetto_max commands; NULL: none
 * @fio: work for fio
 * @compare: compare two recordings
 * @groups: the groups and intervals that rows are made of
 * @filter: the commands that are reported
 * @limits: the rates that network and drives can carry
 * @format: format of the output
 */
struct report_options {
	char **files;
	unsigned int nr_files;
	unsigned int slowest;
	unsigned int pcap;
	bool commands;
	bool detail;
	bool verbose;
	bool why;
	bool tcp;
	const char *html;
	const char *perfetto;
	unsigned int perfetto_max;
	struct fio_options fio;
	struct compare_options compare;
	struct group_options groups;
	struct filter filter;
	struct limits limits;
	enum output_format format;
};

/*
 * Damage of an input is in the report already. It is printed here again, on standard error, for
 * those who read only that.
 */
static int status_of(const struct report *r)
{
	int status = EXIT_SUCCESS;

	report_depths_told(r);
	for (unsigned int i = 0; i < r->nr; i++) {
		const struct input *in = &r->inputs[i];

		if (!stream_error(in->reader)[0])
			continue;
		message("%s: %s", in->path, stream_error(in->reader));
		if (input_failed(in))
			status = EXIT_FAILURE;
	}
	return status;
}

static bool grouped(const struct report_options *o)
{
	return o->groups.by || o->groups.choice.scale.on || (o->groups.stats && !o->detail) ||
	       o->groups.choice.grouping.every_ns;
}

/* Return: false if memory ran out. */
static bool places_make(struct report *r)
{
	for (unsigned int i = 0; r->places && i < r->nr; i++) {
		r->places[i] = places_new();
		if (!r->places[i])
			return false;
	}
	return r->places;
}

/* Return: how many of the slowest commands the outputs need. */
static unsigned int slowest_of(const struct report_options *o)
{
	unsigned int shown = o->html && !o->slowest ? HTML_SLOWEST : o->slowest;

	return shown > o->pcap ? shown : o->pcap;
}

/* Releases all that report_run() has filled in. */
static void report_clear(struct report *r)
{
	merge_free(r->merge);
	totals_free(&r->merged);
	machines_free(&r->machines);
	for (unsigned int i = 0; i < r->nr; i++) {
		if (r->inputs)
			input_close(&r->inputs[i]);
		if (r->input_events)
			path_events_free(&r->input_events[i]);
	}
	unmatched_free(r->unmatched);
	edges_free(r->edges);
	groups_free(r->groups);
	groups_free(r->limited);
	details_free(r->details);
	timeline_free(r->timeline);
	perfetto_free(r->perfetto);
	fio_free(r->fio);
	why_free(r->why);
	blocked_free(r->blocked);
	tcp_history_free(&r->tcp);
	path_events_free(&r->path_events);
	free(r->input_events);
	for (unsigned int i = 0; r->places && i < r->nr; i++)
		places_free(r->places[i]);
	report_depths_free(r);
	free(r->places);
	free(r->burst_ns);
	free(r->matched);
	free(r->inputs);
	free(r->alone);
}

/*
 * Reads all inputs, with what @r says that is wanted; r->filter and r->limits point to what the
 * caller keeps. Return: 0, a negative errno, or 1 after a message.
 */
static int report_run(struct report *r, const struct report_options *o, char *const *files,
		      unsigned int nr)
{
	struct merge_callbacks callbacks = {
		.matched = report_matched, .single = report_single, .context = r};
	int err;

	r->nr = nr;
	if (grouped(o)) {
		r->choice = &o->groups.choice;
		r->groups = groups_new(&r->choice->grouping);
		r->with_stages = o->groups.stats && !o->groups.by && !r->choice->grouping.every_ns;
	}
	if (o->detail) {
		r->figures = &o->groups.choice.figures;
		r->details = details_new();
	}
	if (r->html || r->trace)
		r->timeline = timeline_new();
	if (r->trace)
		r->perfetto = perfetto_new(o->perfetto_max ?: PERFETTO_COMMANDS);
	r->burst_ns = calloc(r->nr, sizeof(*r->burst_ns));
	r->inputs = calloc(r->nr, sizeof(*r->inputs));
	r->input_events = calloc(r->nr, sizeof(*r->input_events));
	r->alone = calloc(r->nr, sizeof(*r->alone));
	r->matched = calloc(r->nr, sizeof(*r->matched));
	r->places = calloc(r->nr, sizeof(struct places *));
	r->unmatched = unmatched_new(r->nr);
	r->edges = edges_new(r->nr);
	r->merge = merge_new(&callbacks);
	r->why = why_new(o->why ? 1 : WHY_SAMPLE);
	for (unsigned int i = 0; r->inputs && i < r->nr; i++)
		r->inputs[i].fd = -1;
	err = r->burst_ns && !r->groups == !r->choice && !r->details == !r->figures && r->inputs &&
			      !(r->html || r->trace) == !r->timeline && !r->trace == !r->perfetto &&
			      r->input_events && r->alone && r->matched && places_make(r) &&
			      r->unmatched && r->edges && r->merge && r->why
		      ? totals_init(&r->merged, slowest_of(o))
		      : -ENOMEM;
	if (!err)
		err = machines_init(&r->machines, r->nr);
	r->merged.machines = &r->machines;
	if (!err && r->limits)
		err = report_limits_open(r);
	if (!err && report_open(r, files))
		return 1;
	if (!err && (o->fio.job || o->fio.iolog)) {
		r->fio = fio_open(&o->fio);
		if (!r->fio)
			return 1;
	}
	report_begin(r);
	if (!err)
		err = report_prepare(r);
	if (!err && (report_lacks(r) || report_depths_lack(r)))
		return 1;
	if (!err)
		err = report_read(r);
	if (!err)
		err = path_events_join(&r->path_events, r->input_events, r->nr);
	return !err && report_no_device(r) ? 1 : err;
}

static int report(const struct report_options *o)
{
	struct report r = {
		.commands = o->commands,
		.verbose = o->verbose,
		.with_why = o->why,
		.with_tcp = o->tcp,
		.tcp.curves = o->html || o->perfetto,
		.files = o->files,
		.slowest = o->slowest,
		.pcap = o->pcap,
		.format = o->format,
	};
	struct filter filter = o->filter;
	struct limits limits = o->limits;
	struct written html = {"--html", HTML_BEGINS, sizeof(HTML_BEGINS) - 1, .f = NULL};
	struct written perfetto = {"--perfetto", PERFETTO_BEGINS, sizeof(PERFETTO_BEGINS) - 1,
				   .gzip = true};
	struct written job = {"--fio-job", FIO_JOB_BEGINS, sizeof(FIO_JOB_BEGINS) - 1, .f = NULL};
	int status = EXIT_FAILURE, err;

	if ((o->html && !written_open(&html, o->html)) ||
	    (o->perfetto && !written_open(&perfetto, o->perfetto)) ||
	    (o->fio.job && !written_open(&job, o->fio.job))) {
		written_close(&html);
		written_close(&perfetto);
		return EXIT_FAILURE;
	}
	r.html = html.f;
	r.trace = perfetto.f;
	r.filter = filter_any(&filter) ? &filter : NULL;
	r.limits = limits_any(&limits) ? &limits : NULL;
	err = report_run(&r, o, o->files, o->nr_files);
	if (err > 0)
		goto out;
	if (!err)
		err = report_print(&r);
	if (!err)
		err = written_finish(&html) ?: written_finish(&perfetto);
	if (!err)
		err = standard_output_finish();
	if (!err && r.fio)
		err = fio_finish(r.fio, job.f) ?: written_finish(&job);
	if (err == -ECANCELED)
		goto out;
	if (err)
		fprintf(stderr, "ntprof-bpf: cannot report: %s\n", strerror(-err));
	else
		status = status_of(&r);
out:
	report_clear(&r);
	limits_free(&limits);
	written_close(&job);
	written_close(&html);
	written_close(&perfetto);
	return status;
}

/* Reads one of two recordings that are compared. Return: as report_run() */
static int compare_read(void *context, struct report *r, char *const *files, unsigned int nr)
{
	const struct report_options *o = context;
	struct filter filter = o->filter;
	int err;

	r->filter = filter_any(&filter) ? &filter : NULL;
	err = report_run(r, o, files, nr);
	r->filter = NULL;
	return err;
}

static int compare(struct report_options *o)
{
	const struct compare_reader reader = {compare_read, report_clear, o};
	struct written html = {"--html", HTML_BEGINS, sizeof(HTML_BEGINS) - 1, .f = NULL};
	int status = COMPARISON_FAILED, err;

	if (o->html && !written_open(&html, o->html))
		return status;
	o->compare.html = html.f;
	o->compare.format = o->format;
	status = report_compare(&o->compare, &reader, o->files, o->nr_files);
	/* Without a comparison, an older file stays. A FIFO has no place to tell. */
	err = html.f && ftello(html.f) != 0 ? written_finish(&html) : 0;
	if (err)
		status = COMPARISON_FAILED;
	written_close(&html);
	return status;
}

enum {
	KEY_SLOWEST = 0x100,
	KEY_COMMANDS,
	KEY_EVERY,
	KEY_DETAIL,
	KEY_WHY,
	KEY_TCP,
	KEY_HTML,
	KEY_PERFETTO,
	KEY_MAX,
	KEY_PCAP
};

enum {
	CHILD_FORMAT,
	CHILD_SELECT,
	CHILD_ENDED,
	CHILD_FILTER,
	CHILD_GROUP,
	CHILD_LIMITS,
	CHILD_FIO,
	CHILD_COMPARE
};

static error_t parse_report(int key, char *arg, struct argp_state *state)
{
	struct report_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_FORMAT] = &o->format;
		state->child_inputs[CHILD_SELECT] = &o->filter.select;
		state->child_inputs[CHILD_ENDED] = &o->filter.select;
		state->child_inputs[CHILD_FILTER] = &o->filter;
		o->groups.who = GROUP_REPORT;
		state->child_inputs[CHILD_GROUP] = &o->groups;
		state->child_inputs[CHILD_LIMITS] = &o->limits;
		state->child_inputs[CHILD_FIO] = &o->fio;
		state->child_inputs[CHILD_COMPARE] = &o->compare;
		break;
	case KEY_SLOWEST:
		o->slowest = (unsigned int)options_count(state, "--slowest", arg, SLOWEST_MAX);
		break;
	case KEY_COMMANDS:
		o->commands = true;
		break;
	case KEY_EVERY:
		o->groups.choice.grouping.every_ns =
			options_time(state, "--every", arg, EVERY_MIN_NS, EVERY_MIN);
		break;
	case KEY_DETAIL:
		o->detail = true;
		break;
	case KEY_WHY:
		o->why = true;
		break;
	case KEY_TCP:
		o->tcp = true;
		break;
	case 'v':
		o->verbose = o->compare.verbose = true;
		break;
	case KEY_HTML:
		if (!*arg || !strcmp(arg, "-"))
			options_error(state, "--html needs the name of a file");
		o->html = arg;
		break;
	case KEY_PERFETTO:
		if (!*arg || !strcmp(arg, "-"))
			options_error(state, "--perfetto needs the name of a file");
		o->perfetto = arg;
		break;
	case KEY_MAX:
		o->perfetto_max = (unsigned int)options_count(state, "--perfetto-max", arg,
							      PERFETTO_COMMANDS_MAX);
		break;
	case KEY_PCAP:
		o->pcap = (unsigned int)options_count(state, "--pcap-filter", arg, SLOWEST_MAX);
		break;
	case ARGP_KEY_ARGS:
		o->files = &state->argv[state->next];
		o->nr_files = (unsigned int)(state->argc - state->next);
		if (o->nr_files > FILES_MAX)
			options_error(state, "report takes %u files at most", FILES_MAX);
		break;
	case ARGP_KEY_NO_ARGS:
		options_error(state, "report needs the files that record has written");
	case ARGP_KEY_END:
		/*
		 * With --detail, the figures may be those of intervals between points, so no groups
		 * are needed.
		 */
		if (!o->detail || o->groups.choice.scale.on)
			group_options_end(&o->groups);
		if (o->format == FORMAT_CSV && o->commands + grouped(o) + o->detail > 1)
			options_error(state,
				      "--format csv has one table, of --commands, of --by and "
				      "--every, or of --detail: json has all");
		if (o->format == FORMAT_LINES && (grouped(o) || o->detail || o->slowest))
			options_error(state,
				      "--format lines has no rows of --by, --every or --stats, no "
				      "--detail and no --slowest: text and json have them");
		if (o->groups.choice.grouping.seconds && !grouped(o))
			options_error(state,
				      "--stats %s is of groups: --detail has none without "
				      "--by or --every",
				      figures_low(&o->groups.choice.figures)->title);
		if (o->format == FORMAT_CSV && o->groups.choice.scale.on)
			options_error(state,
				      "--min-latency and --bucket-shift are for --format text "
				      "and json");
		if (o->format == FORMAT_CSV && limits_any(&o->limits))
			options_error(state, "--network-limit and --drive-limit are for --format "
					     "text and json");
		if (o->filter.nr_times > 1 && o->groups.choice.grouping.every_ns)
			options_error(state, "--every takes one --time");
		if (o->why && (o->format == FORMAT_CSV || o->format == FORMAT_LINES))
			options_error(state, "--why is for --format text and json");
		if (o->format == FORMAT_CSV && o->slowest)
			options_error(state, "--slowest is for --format text and json");
		if (o->pcap && o->format != FORMAT_TEXT && o->format != FORMAT_TEXT_AND_LINES)
			options_error(state, "--pcap-filter is for --format text");
		if (o->compare.on &&
		    (grouped(o) || o->detail || o->why || o->commands || o->slowest || o->pcap ||
		     o->perfetto || o->fio.job || o->fio.iolog || limits_any(&o->limits) ||
		     o->format == FORMAT_CSV || o->format == FORMAT_LINES))
			options_error(
				state,
				"--compare has selections, --tolerance, --html, -v, and --format text "
				"and json: the other options are for each recording by itself");
		compare_options_end(&o->compare, state, o->nr_files);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option report_options[] = {
	{"slowest", KEY_SLOWEST, "N", 0, "Show the N slowest commands, point by point",
	 SECTION_SHOW},
	{"pcap-filter", KEY_PCAP, "N", 0,
	 "Show filters of tcpdump and Wireshark, by which captures of both machines show the N slowest commands",
	 SECTION_SHOW},
	{"commands", KEY_COMMANDS, NULL, 0, "First print a line for each command", SECTION_SHOW},
	{"detail", KEY_DETAIL, NULL, 0,
	 "Show every interval between two points, for each shape of a command: each round trip by itself",
	 SECTION_SHOW},
	{"tcp", KEY_TCP, NULL, 0,
	 "Show the TCP connection of each queue, of recordings that were made with --tcp: the longest round trip, the "
	 "smallest congestion window, what was sent again and what limited it",
	 SECTION_SHOW},
	{"why", KEY_WHY, NULL, 0,
	 "Say where slow commands come from: which stages, which queue, device, host or time, by which rule, and "
	 "what speaks against it",
	 SECTION_SHOW},
	{"every", KEY_EVERY, "TIME", 0,
	 "Rows of groups for each TIME of the recording, by when commands began", SECTION_SHOW},
	{"verbose", 'v', NULL, 0,
	 "Also show each queue: its stages, how its records matched, and its clocks' offset",
	 SECTION_SHOW},
	{"html", KEY_HTML, "FILE", OPTION_ACTS,
	 "Also write the report with pictures to FILE, which a browser shows without a network",
	 SECTION_OUTPUT},
	{"perfetto", KEY_PERFETTO, "FILE", OPTION_ACTS,
	 "Also write the commands to FILE, as a trace for ui.perfetto.dev; compressed if its name ends with .gz",
	 SECTION_OUTPUT},
	{"perfetto-max", KEY_MAX, "N", 0,
	 "At most N commands in that file: half of them the slowest, the others a sample (default 200000)",
	 SECTION_OUTPUT},
	{NULL, 0, NULL, 0,
	 "Options that begin with Only select commands: all figures but losses are of those that are in each of "
	 "them. Numbers, ranges, times and words can be given several at a time, with commas.",
	 SECTION_NOTES},
	{0},
};

static const struct argp_child report_children[] = {
	[CHILD_FORMAT] = {.argp = &report_format_argp},
	[CHILD_SELECT] = {.argp = &select_argp},
	[CHILD_ENDED] = {.argp = &ended_argp},
	[CHILD_FILTER] = {.argp = &filter_argp},
	[CHILD_GROUP] = {.argp = &group_argp},
	[CHILD_LIMITS] = {.argp = &limits_argp},
	[CHILD_FIO] = {.argp = &fio_argp},
	[CHILD_COMPARE] = {.argp = &compare_argp},
	{.argp = &config_argp},
	{0},
};

static const struct argp report_argp = {
	.options = report_options,
	.parser = parse_report,
	.children = report_children,
	.args_doc = "FILE...",
	.doc = "Bring the recorded sides together, of any number of hosts and targets, in any order of "
	       "the files, and show where the time went in ten stages; of one side alone, and of what "
	       "does not match, that side's stages. Needs neither root nor BPF.\n"
	       "\v"
	       "Examples:\n"
	       "  ntprof-bpf report host.ntp target.ntp\n"
	       "                                    where the time went, both sides together\n"
	       "  ntprof-bpf report host.ntp target.ntp --slowest 3\n"
	       "                                    and the story of the 3 slowest commands\n"
	       "  ntprof-bpf report host.ntp target.ntp --why\n"
	       "                                    where the slow commands come from\n"
	       "  ntprof-bpf report host.ntp target.ntp --op read --size 4k\n"
	       "                                    only reads of 4 KiB\n"
	       "  ntprof-bpf report host.ntp target.ntp --where 'network_transmission>1ms'\n"
	       "                                    only what took long on its way\n"
	       "  ntprof-bpf report host.ntp target.ntp --by op,size --stats p50,p99.9\n"
	       "                                    a row for each operation and size\n"
	       "  ntprof-bpf report host.ntp target.ntp --every 1s --format csv\n"
	       "                                    a line for each second\n"
	       "  ntprof-bpf report host.ntp target.ntp --html report.html\n"
	       "                                    pictures, in one file for a browser\n"
	       "  ntprof-bpf report --compare before.ntp -- after.ntp\n"
	       "                                    what got slower or faster, how surely\n"
	       "  ntprof-bpf report host.ntp --commands\n"
	       "                                    one side, and a line for each command",
};

static int main_report(int argc, char **argv)
{
	struct report_options o = {.format = FORMAT_TEXT_AND_LINES};

	options_parse(&report_argp, argc, argv, &o);
	if (o.format == FORMAT_TEXT_AND_LINES && isatty(STDOUT_FILENO))
		o.format = FORMAT_TEXT;
	standard_output_may_close();
	return o.compare.on ? compare(&o) : report(&o);
}

const struct verb verb_report = {
	.name = "report",
	.summary = "what was recorded, both sides together, in ten stages",
	.argp = &report_argp,
	.main = main_report,
};
