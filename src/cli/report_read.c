// SPDX-License-Identifier: GPL-2.0-only
#include "cli/report_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/report_groups.h"
#include "cli/report_limits.h"
#include "cli/report_print.h"
#include "core/statuses.h"
#include "merge/axis.h"
#include "merge/clock_alignment.h"

/* How far one stream is read before the others get their turn. */
#define STEP_NS 1000000
/* Clocks drift, so their offsets are corrected after this many steps. */
#define STEPS_PER_CORRECTION 1000

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

	return !r->filter ||
	       (places_takes(r->places[c->host_stream], &r->filter->select, host) &&
		filter_takes_matched(r->filter, c, host, target, missing,
				     unmatched_began_ns(r->unmatched, c->host_stream)));
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
				   unmatched_began_ns(r->unmatched, stream));
}

static bool ended_well(const struct nt_record *r)
{
	return !(r->flags & NT_F_CANCELLED) && !status_is_error(r->status);
}

void report_matched(void *context, const struct merge_connection *c, const struct nt_record *host,
		    const struct nt_record *target)
{
	struct report *r = context;

	if (!r->matched[c->host_stream] || !r->matched[c->target_stream]) {
		r->matched[c->host_stream] = r->matched[c->target_stream] = true;
		unmatched_matched(r->unmatched, c->host_stream, c->target_stream);
	}
	r->nr_matched++;
	if (r->groups)
		report_groups_seen(r, c, host);
	if (!takes_matched(r, c, host, target))
		return;
	r->nr_taken++;
	if (r->commands)
		report_command(r, c, host, target, false);
	if (totals_add(&r->merged, c, host, target) ||
	    (r->groups && report_groups_add(r, c, host, target)) ||
	    (r->details && ended_well(host) && details_add(r->details, host, target)))
		r->result = -ENOMEM;
}

void report_single(void *context, const struct merge_connection *c, const struct nt_record *rec,
		   bool ambiguous)
{
	struct report *r = context;
	bool host = rec->side == NT_HOST;

	r->cut += !ambiguous && edges_cut(r->edges, c, rec);
	if (!takes_single(r, c, rec))
		return;
	if (r->commands)
		report_command(r, c, host ? rec : NULL, host ? NULL : rec, ambiguous);
	if (host)
		totals_add_single(&r->merged, c, rec);
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
		.detail = r->details,
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
	if (e->type == STREAM_RECORD)
		return r->matched[i] ? 0 : unmatched_record(r->unmatched, i, &e->record);
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

static int take(struct report *r, unsigned int i, const struct stream_event *e)
{
	int err = take_place(r, i, e) ?: take_apart(r, i, e);

	if (!err && r->limited && e->type == STREAM_RECORD)
		err = report_limits_record(r, i, &e->record);
	/*
	 * Nothing is matched if only one side is there, but the lines of commands come from the
	 * merge.
	 */
	if (err || (r->alone[i] && !r->commands))
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

int report_read(struct report *r)
{
	struct input *in;
	unsigned int steps = 0;

	while ((in = behind(r))) {
		int64_t until = in->now < INT64_MAX - STEP_NS ? in->now + STEP_NS : INT64_MAX;
		struct stream_event e;

		while (input_read(in, &e)) {
			int err = take(r, (unsigned int)(in - r->inputs), &e);

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

int report_prepare(struct report *r)
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
				err = clock_alignment_add(l, i, &e.record);
			else if (e.type == STREAM_BURST)
				err = take_burst(r, i, &e);
		}
		to_common[i] = in->to_common;
		if (in->begun)
			sides[in->header.side]++;
		if (!err)
			err = input_rewind(in);
	}
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

int report_open(struct report *r, char *const *paths)
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
