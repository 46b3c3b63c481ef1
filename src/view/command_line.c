// SPDX-License-Identifier: GPL-2.0-only
#include "view/command_line.h"

#include <inttypes.h>

#include "merge/merged_stages.h"
#include "core/names.h"
#include "core/text.h"

static void print_points(FILE *f, const struct nt_record *r, enum nt_side side)
{
	uint64_t first = 0;

	fprintf(f, " | %s", side_name(side));
	for (unsigned int i = 0; i < points_nr(side); i++) {
		if (!r->points[i])
			continue;
		if (!first)
			first = r->points[i];
		/* A damaged stream may have them in any order. */
		fprintf(f, " %s=%" PRId64, point_name(side, i), (int64_t)(r->points[i] - first));
	}
}

static uint64_t first_point(const struct nt_record *r)
{
	for (unsigned int i = 0; i < NT_POINTS_MAX; i++) {
		if (r->points[i])
			return r->points[i];
	}
	return 0;
}

static uint64_t last_point(const struct nt_record *r)
{
	for (unsigned int i = NT_POINTS_MAX; i-- > 0;) {
		if (r->points[i])
			return r->points[i];
	}
	return 0;
}

void view_command(FILE *f, const struct merge_connection *c, const struct nt_record *host,
		  const struct nt_record *target, bool ambiguous)
{
	const struct nt_record *r = host ?: target;
	uint64_t first = first_point(r);
	int64_t stage[NT_MERGED_STAGES_NR];

	fprintf(f, "%" PRIu64 ".%09" PRIu64 " %s ", first / 1000000000, first % 1000000000,
		host && target ? "merged"
		: ambiguous    ? "ambiguous"
		: host	       ? "host_only"
			       : "target_only");
	text_print(f, c->subsysnqn, TEXT_HEX);
	fprintf(f,
		" cntlid=%u q%u cid=0x%04x op=%s opcode=0x%02x shape=%s nsid=%u slba=%" PRIu64
		" length=%u status=0x%x",
		c->cntlid, c->qid, r->cid, op_name(r->op), r->opcode, shape_name(r->shape), r->nsid,
		(uint64_t)r->slba, r->length, r->status);
	if (r->flags & NT_F_REQUEUED)
		fprintf(f, " requeued");
	if (r->flags & NT_F_NO_CQE)
		fprintf(f, " no_cqe");
	if (r->flags & NT_F_CANCELLED)
		fprintf(f, " cancelled");
	fprintf(f, " latency=%" PRIu64, last_point(r) - first);
	if (host)
		print_points(f, host, NT_HOST);
	if (target)
		print_points(f, target, NT_TARGET);
	if (host && target && merged_stages(host, target, stage)) {
		fprintf(f, " | stages");
		for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
			fprintf(f, " %s=%" PRId64, merged_stage_name(i), stage[i]);
	} else if (host && target) {
		fprintf(f, " | unsplit");
	}
	fprintf(f, "\n");
}
