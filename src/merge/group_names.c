// SPDX-License-Identifier: GPL-2.0-only
#include "merge/group_names.h"

#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "core/span.h"
#include "core/statuses.h"

/* The keys that depend only on the record and on its recording. */
static void fill(struct group_name *name, const struct group_by *by, const struct nt_record *r,
		 const struct group_recorder *who)
{
	const char *host = who->source[NT_HOST], *target = who->source[NT_TARGET];

	memset(name, 0, sizeof(*name));
	name->op = r->op < NT_OPS_NR ? r->op : NT_OP_OTHER;
	name->queue = r->qid;
	name->size = r->length;
	name->nsid = r->nsid;
	name->cancelled = r->flags & NT_F_CANCELLED;
	if (!name->cancelled)
		name->status = r->status & NT_STATUS_MASK;
	if (name->status && name->op == NT_OP_FABRICS)
		name->status |= GROUP_STATUS_FABRICS;
	if (group_has(by, GROUP_SOURCE))
		snprintf(name->source, sizeof(name->source), "%s%s%s", host ?: "",
			 host && target ? "/" : "", target ?: "");
	if (who->places)
		places_name(who->places, by, r, name);
	else if (group_has(by, GROUP_CPU))
		name->cpu = ORIGIN_NO_CPU;
}

/* Controllers of one name differ if their stream or the other end of their connection differs. */
static void fill_ctrl(struct group_name *name, const struct group_recorder *who, const char *ctrl,
		      const char *peer)
{
	snprintf(name->ctrl, sizeof(name->ctrl), "%s%s%s", who->machine ?: "",
		 who->machine ? ":" : "", ctrl);
	name->ctrl_of = hash_two(who->stream, group_hash(0, peer));
}

void group_name_merged(struct group_name *name, const struct group_by *by,
		       const struct merge_connection *c, const struct nt_record *r,
		       const struct group_recorder *who)
{
	char ctrl[32];

	fill(name, by, r, who);
	name->queue = c->qid;
	snprintf(ctrl, sizeof(ctrl), "nvme%u", c->host_instance);
	if (group_has(by, GROUP_CTRL))
		fill_ctrl(name, who, ctrl, c->subsysnqn);
	if (group_has(by, GROUP_NQN))
		snprintf(name->nqn, sizeof(name->nqn), "%s", c->subsysnqn);
	if (group_has(by, GROUP_HOST))
		snprintf(name->host, sizeof(name->host), "%s", c->hostnqn);
}

void group_name_side(struct group_name *name, const struct group_by *by, enum nt_side side,
		     const struct queue_info *q, const struct nt_record *r,
		     const struct group_recorder *who)
{
	char ctrl[32];

	fill(name, by, r, who);
	name->shared = !q;
	name->queue = q ? q->qid : 0;
	if (!q)
		return;
	if (side == NT_HOST)
		snprintf(ctrl, sizeof(ctrl), "nvme%u", q->instance);
	else
		snprintf(ctrl, sizeof(ctrl), "cntlid %u", q->cntlid);
	if (group_has(by, GROUP_CTRL))
		fill_ctrl(name, who, ctrl, side == NT_HOST ? q->subsysnqn : q->hostnqn);
	if (group_has(by, GROUP_NQN))
		snprintf(name->nqn, sizeof(name->nqn), "%s", q->subsysnqn);
	if (group_has(by, GROUP_HOST))
		snprintf(name->host, sizeof(name->host), "%s", q->hostnqn);
}

int groups_add_record(struct groups *g, const struct group_name *name, const struct nt_record *r,
		      const struct group_recorder *who)
{
	uint64_t begin = record_begin_ns(r) ?: record_last_ns(r);
	bool well = !(r->flags & NT_F_CANCELLED) && !status_is_error(r->status);
	uint64_t latency = record_latency_ns(r);
	const struct group_command c = {
		.after_ns = begin > who->began_ns ? begin - who->began_ns : 0,
		.at_ns = begin + (uint64_t)who->to_common,
		.latency = latency,
		.bytes = r->length,
		.failed = !well && (!latency || !group_has(&groups_how(g)->by, GROUP_STATUS)),
		.stands_for = who->sample > 1 ? who->sample : 1,
	};

	return groups_add(g, name, &c);
}
