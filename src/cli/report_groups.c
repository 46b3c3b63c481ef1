// SPDX-License-Identifier: GPL-2.0-only
#include "cli/report_groups.h"

#include <errno.h>
#include <stdio.h>

#include "core/span.h"
#include "core/text.h"
#include "merge/group_names.h"
#include "view/groups.h"

/*
 * Room for the device names in the message that a device was not found: those of the first input
 * that has any.
 */
#define DEVICES_LEN 512

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

static bool several_hosts(const struct report *r)
{
	unsigned int hosts = 0;

	for (unsigned int i = 0; i < r->nr; i++)
		hosts += r->inputs[i].begun && r->inputs[i].header.side == NT_HOST;
	return hosts > 1;
}

int report_groups_add(struct report *r, const struct merge_connection *c,
		      const struct nt_record *host, const struct nt_record *target)
{
	const struct input *from = &r->inputs[c->host_stream];
	const struct input *to = target ? &r->inputs[c->target_stream] : NULL;
	struct group_recorder who = {
		.machine = group_has(&r->choice->grouping.by, GROUP_CTRL) && several_hosts(r)
				   ? machines_get(&r->machines, c->host_stream)->name
				   : NULL,
		.source = {[NT_HOST] = from->header.source},
		.stream = c->host_stream,
		.began_ns = unmatched_began_ns(r->unmatched, c->host_stream),
		.to_common = from->to_common,
		.sample = from->header.sample,
		.places = r->places[c->host_stream],
	};
	struct group_name name;

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

bool report_lacks(const struct report *r)
{
	static const struct group_by none;
	const struct group_by *by = r->choice ? &r->choice->grouping.by : &none;
	bool cgroup = r->filter && r->filter->select.cgroup[0], begun = false, host = false;
	enum group_key of_host = group_by_needs(by, GROUP_OF_HOST);
	enum group_key of_origin = group_by_needs(by, GROUP_OF_ORIGIN);
	const char *option = cgroup ? "--cgroup" : "--by ", *key = "";

	for (unsigned int i = 0; i < r->nr; i++) {
		const struct input *in = &r->inputs[i];

		begun |= in->begun;
		if (!in->begun || in->header.side != NT_HOST)
			continue;
		host = true;
		if (in->header.origins || (of_origin == GROUP_KEYS_NR && !cgroup))
			continue;
		key = cgroup ? "" : group_key_name(of_origin);
		fprintf(stderr,
			"ntprof-bpf: %s%s: %s does not tell it: record it with ntprof-bpf record "
			"--host --origin\n",
			option, key, in->path);
		return true;
	}
	if (!begun || host || (of_host == GROUP_KEYS_NR && !cgroup))
		return false;
	key = cgroup ? "" : group_key_name(of_host);
	fprintf(stderr, "ntprof-bpf: %s%s: only a host's recording tells it, and none is there\n",
		option, key);
	return true;
}

/*
 * For merged commands the host's names of devices count. The target's count only if there is no
 * recording of a host.
 */
bool report_no_device(const struct report *r)
{
	const struct select *s = r->filter ? &r->filter->select : NULL;
	char names[DEVICES_LEN] = "", shown[DEVICES_LEN];
	bool host = false, begun = false;

	if (!s || !s->device)
		return false;
	for (unsigned int i = 0; i < r->nr; i++)
		host |= r->inputs[i].begun && r->inputs[i].header.side == NT_HOST;
	for (unsigned int i = 0; i < r->nr; i++) {
		const struct input *in = &r->inputs[i];

		if (!in->begun || (host && in->header.side != NT_HOST))
			continue;
		begun = true;
		if (places_devices(r->places[i], s->device, shown, sizeof(shown)))
			return false;
		if (!names[0])
			text_copy(names, sizeof(names), shown, TEXT_MARK);
	}
	/* If no input is a recording, another message says so. */
	if (!begun)
		return false;
	fprintf(stderr, "ntprof-bpf: %s%s--device %s: ", s->device_origin ?: "",
		s->device_origin ? ": " : "",
		text_copy(shown, sizeof(shown), s->device, TEXT_MARK));
	if (names[0])
		fprintf(stderr, "no %s recording has it: there are %s\n",
			host ? "host's" : "target's", names);
	else
		fprintf(stderr, "the recording has no names of devices: take --nqn and --nsid\n");
	return true;
}

int report_groups_finish(struct report *r)
{
	uint64_t from = r->first_ns, to = r->last_ns, burst = 0;

	if (r->filter)
		filter_bounds(r->filter, &from, &to);
	for (unsigned int i = 0; i < r->nr; i++)
		if (r->matched[i] && r->inputs[i].header.side == NT_HOST && r->burst_ns[i] > burst)
			burst = r->burst_ns[i];
	return groups_finish(r->groups, from, to, burst);
}

int report_groups_csv(struct report *r)
{
	groups_csv_header(r->choice, stdout);
	if (r->nr_matched)
		groups_csv(r->groups, r->choice, "merged", stdout);
	for (unsigned int i = 0; i < r->nr; i++) {
		struct groups *g;

		if (!r->inputs[i].begun || !unmatched_is(r->unmatched, i))
			continue;
		g = unmatched_groups(r->unmatched, i);
		if (!g)
			return -ENOMEM;
		groups_csv(g, r->choice, r->inputs[i].path, stdout);
	}
	return 0;
}
