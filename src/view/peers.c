// SPDX-License-Identifier: GPL-2.0-only
#include "view/peers.h"

#include <inttypes.h>

#include "core/array.h"
#include "core/counters.h"
#include "core/names.h"
#include "core/text.h"
#include "view/ten_stages.h"

static void print_why(const struct peer_about *a, FILE *f)
{
	if (a->state == PEER_STALLED)
		fprintf(f, ", silent for %.0f s", (double)a->silent_ns / 1e9);
	if (a->why[0])
		fprintf(f, ", %s", a->why);
	if (a->exit_status)
		fprintf(f, ", exit status %d", a->exit_status);
	if (a->signal)
		fprintf(f, ", killed by signal %d", a->signal);
	if (a->state == PEER_DIED && a->message[0]) {
		fprintf(f, ", \"");
		text_print(f, a->message, TEXT_HEX);
		fprintf(f, "\"");
	}
}

/* One line, without a newline: source, state and why, whose stream, how many commands. */
static void print_peer(const struct peer_about *a, FILE *f)
{
	static const char *const names[] = {
#define PEER_NAME(id, name) [PEER_##id] = name,
		PEER_STATES(PEER_NAME)};

	text_print(f, a->source, TEXT_HEX);
	fprintf(f, ": %s", names[a->state]);
	print_why(a, f);
	if (!a->header)
		return;
	fprintf(f, "; %s ", side_name(a->header->side));
	text_print(f, a->header->hostname, TEXT_HEX);
	fprintf(f, ", Linux ");
	text_print(f, a->header->kernel, TEXT_HEX);
	fprintf(f, ", %" PRIu64 " commands", a->records);
	if (a->header->sample > 1)
		fprintf(f, ", a sample of 1 in %u", a->header->sample);
}

static void print_peers(const struct live_merge *p, const struct view_extra_place *v)
{
	const struct peer *peer;

	for (unsigned int i = 0; (peer = live_merge_peer(p, i)); i++) {
		struct peer_about about;

		peer_about(peer, &about);
		fprintf(v->peers, "peer %u ", i + 1);
		print_peer(&about, v->peers);
		for (unsigned int c = 0; c < COUNTERS_NR; c++) {
			uint64_t lost = about.losses->count[c];

			if (!lost)
				continue;
			if (v->summary)
				fprintf(v->peers, "\npeer %u loss %s %" PRIu64, i + 1,
					counter_name(c), lost);
			else
				fprintf(v->peers, ", lost %s=%" PRIu64, counter_name(c), lost);
		}
		fprintf(v->peers, "\n");
	}
}

static void print_matching(const struct live_merge *p, FILE *f)
{
	struct live_merge_counts n;

	live_merge_counts(p, &n);
	fprintf(f,
		"matched %" PRIu64 ", host only %" PRIu64 ", target only %" PRIu64
		", ambiguous %" PRIu64 ", undecided %" PRIu64 ", before any peer recorded %" PRIu64
		"\n",
		n.matched, n.host_only, n.target_only, n.ambiguous, n.undecided, n.early);
}

bool view_peers(void *context, const struct view_extra_place *v)
{
	const struct live_merge *p = context;
	const struct totals *m = live_merge_totals(p, v->summary);
	bool any = false;

	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		any |= m->latency[op].count != 0;
	view_merged_stages(m, v->stages, v->width, v->unicode);
	view_merged_connections(m, v->connections);
	print_peers(p, v);
	print_matching(p, v->peers);
	if (v->summary) {
		view_connections(live_merge_merge(p), v->peers);
		view_merged_numbers(m, v->peers);
	}
	return any;
}
