// SPDX-License-Identifier: GPL-2.0-only
#include "cli/report_limits.h"

#include <errno.h>

#include "core/span.h"
#include "core/statuses.h"
#include "merge/group_names.h"

/* The default interval of the live view. */
#define INTERVAL_NS 1000000000ULL

int report_limits_open(struct report *r)
{
	const struct grouping how = {.by = {.nr = 2, .key = {GROUP_CTRL, GROUP_OP}},
				     .every_ns = INTERVAL_NS};

	r->limited = groups_new(&how);
	return r->limited ? 0 : -ENOMEM;
}

static unsigned int count_of(const struct report *r, enum nt_side side)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < r->nr; i++)
		n += r->inputs[i].begun && r->inputs[i].header.side == side;
	return n;
}

int report_limits_record(struct report *r, unsigned int i, const struct nt_record *rec)
{
	const struct input *in = &r->inputs[i];
	uint64_t began = unmatched_began_ns(r->unmatched, i), end = record_last_ns(rec);
	const struct group_command c = {
		.after_ns = end > began ? end - began : 0,
		.bytes = rec->length,
		.stands_for = in->header.sample > 1 ? in->header.sample : 1,
	};
	struct group_name name;

	if ((in->header.side == NT_TARGET && count_of(r, NT_HOST)) ||
	    status_is_error(rec->status) || (rec->flags & NT_F_CANCELLED))
		return 0;
	if (c.after_ns > r->limited_ns)
		r->limited_ns = c.after_ns;
	places_ctrl(r->places[i], in->header.side, rec,
		    count_of(r, in->header.side) > 1 ? machines_get(&r->machines, i)->name : NULL,
		    &name);
	name.op = rec->op;
	return groups_add(r->limited, &name, &c);
}

int report_limits_finish(struct report *r)
{
	return groups_finish(r->limited, 0, r->limited_ns, 0)
		       ?: limits_groups(r->limits, r->limited);
}
