// SPDX-License-Identifier: GPL-2.0-only
#include "cli/report_add.h"

#include "core/segments.h"
#include "merge/places.h"

static uint64_t after(const struct report *r, const struct merge_connection *c, uint64_t ns)
{
	uint64_t began = unmatched_began_ns(r->unmatched, c->host_stream);

	return ns > began ? ns - began : 0;
}

void report_groups_seen(struct report *r, const struct merge_connection *c,
			const struct nt_record *host)
{
	uint64_t first = after(r, c, record_begin_ns(host) ?: record_last_ns(host));
	uint64_t last = after(r, c, record_last_ns(host));

	if (first < r->first_ns || r->nr_matched == 1)
		r->first_ns = first;
	if (last > r->last_ns)
		r->last_ns = last;
}

/*
 * The totals have split the command already, unless it failed, or they have no room for its stages.
 * Return: whether it could be split.
 */
static bool split_of(struct report *r, const struct merge_connection *c,
		     const struct nt_record *host, const struct nt_record *target,
		     struct group_split *split)
{
	uint32_t lacks[NT_SIDES] = {
		machines_get(&r->machines, c->host_stream)->missing | record_lacks(host),
		machines_get(&r->machines, c->target_stream)->missing | record_lacks(target),
	};

	split->of = NT_SIDES;
	split->nr = NT_MERGED_STAGES_NR;
	if (r->merged.last.into) {
		memcpy(split->into, r->merged.last.into, sizeof(split->into));
		memcpy(split->ns, r->merged.last.stage, sizeof(split->ns));
		return true;
	}
	merged_split_renew(&r->how, lacks[NT_HOST], lacks[NT_TARGET]);
	memcpy(split->into, r->how.into, sizeof(split->into));
	return merged_split(&r->how, host, target, split->ns);
}

int report_groups_add(struct report *r, const struct merge_connection *c,
		      const struct nt_record *host, const struct nt_record *target)
{
	const struct input *from = &r->inputs[c->host_stream];
	const struct input *to = target ? &r->inputs[c->target_stream] : NULL;
	struct group_recorder who = {
		.machine = group_has(&r->choice->grouping.by, GROUP_CTRL) && report_several_hosts(r)
				   ? machines_get(&r->machines, c->host_stream)->name
				   : NULL,
		.source = {[NT_HOST] = from->header.source},
		.stream = c->host_stream,
		.began_ns = unmatched_began_ns(r->unmatched, c->host_stream),
		.to_common = from->to_common,
		.sample = from->header.sample,
		.places = r->places[c->host_stream],
	};
	struct group_split split;
	struct group_name name;

	if (target && split_of(r, c, host, target, &split))
		who.split = &split;
	/*
	 * A merged command is in both samples, so the smaller sample counts, which has the larger
	 * number.
	 */
	if (to && to->header.sample > who.sample)
		who.sample = to->header.sample;
	if (to)
		who.source[NT_TARGET] = to->header.source;
	group_name_merged(&name, &r->choice->grouping.by, c, host, &who);
	return groups_add_record(r->groups, &name, host, &who);
}

int report_timeline_add(struct report *r, const struct merge_connection *c,
			const struct nt_record *host)
{
	const struct totals *m = &r->merged;
	const struct timeline_command command = {
		.owner = m->last.row,
		.begin_ns = record_begin_ns(host) + (uint64_t)r->inputs[c->host_stream].to_common,
		.latency_ns = record_latency_ns(host),
		.r = host,
		.stream = c->host_stream,
		.cpu = places_cpu(r->places[c->host_stream], host),
		.places = r->places[c->host_stream],
		.nr = m->last.into ? NT_MERGED_STAGES_NR : 0,
		.stage = m->last.stage,
		.into = m->last.into,
	};

	if (!record_begin_ns(host))
		return 0;
	if (m->last.row)
		return timeline_add(r->timeline, &command);
	timeline_add_failed(r->timeline, command.begin_ns);
	return 0;
}

int report_blocks_add(struct report *r, const struct merge_connection *c,
		      const struct nt_record *host, const struct nt_record *target)
{
	const struct input *in = &r->inputs[c->host_stream];
	const struct blocks_where where = {
		.stream = {[NT_HOST] = c->host_stream, [NT_TARGET] = c->target_stream},
		.missing =
			{
				[NT_HOST] = machines_get(&r->machines, c->host_stream)->missing,
				[NT_TARGET] = machines_get(&r->machines, c->target_stream)->missing,
			},
		/* That of a pipe is corrected while it is read. */
		.to_common = in->again ? in->to_common
				       : (int64_t)-unmatched_began_ns(r->unmatched, c->host_stream),
	};

	return blocks_add(r->blocks, &where, host, target);
}

int report_why_add(struct report *r, const struct merge_connection *c, const struct nt_record *host,
		   const struct nt_record *target, unsigned int stands_for)
{
	const struct totals *m = &r->merged;
	const unsigned int limits =
		tcp_history_limits(&r->tcp, c->host_stream, host, record_begin_ns(host),
				   record_end_ns(host)) |
		tcp_history_limits(&r->tcp, c->target_stream, target, record_begin_ns(target),
				   record_end_ns(target));
	const struct why_command command = {
		.c = c,
		.r = host,
		.target = target,
		.begin_ns = record_begin_ns(host) + (uint64_t)r->inputs[c->host_stream].to_common,
		.cpu = places_cpu(r->places[c->host_stream], host),
		.limits = limits,
		.nr = m->last.into ? NT_MERGED_STAGES_NR : 0,
		.stage = m->last.stage,
		.into = m->last.into,
	};

	return why_add(r->why, &command, stands_for);
}

int report_path_event(struct report *r, unsigned int i, const struct nt_path_event *e)
{
	struct nt_path_event of = *e;

	of.input = i;
	return path_events_add(&r->input_events[i], &of);
}
