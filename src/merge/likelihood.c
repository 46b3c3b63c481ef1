// SPDX-License-Identifier: GPL-2.0-only
#include "merge/likelihood.h"

#include "core/span.h"

void likelihood_stream_ends(struct topology *t, unsigned int stream)
{
	struct topology_stream *s;

	if (stream >= t->nr_streams || !t->streams[stream].known || t->streams[stream].ended)
		return;
	s = &t->streams[stream];
	s->ended = true;
	t->open[s->side]--;
	t->ended[s->side]++;
	t->changes++;
}

/* Whether an endpoint other than the partner may have records of @h, now or later. */
static bool has_candidate(const struct topology *t, const struct endpoint *h)
{
	const struct endpoint *other = topology_alike(t, h);

	for (; other; other = other->next_alike) {
		if (other != h->partner && endpoint_compatible(h, other) &&
		    (other->pending.count || !t->streams[other->stream].ended))
			return true;
	}
	return false;
}

void likelihood_rate(const struct topology *t, struct endpoint *h)
{
	enum nt_side other = h->side == NT_HOST ? NT_TARGET : NT_HOST;
	bool ended = h->partner && t->streams[h->partner->stream].ended;
	/* Possible partners are known only when the controller has an id. */
	bool nameless = !topology_is_id(h->q.cntlid) && !t->streams[h->stream].ended;

	h->rated = t->changes;
	h->over = false;
	if (h->partner && !ended && h->link->offset.known) {
		h->likelihood = h->side == NT_HOST ? PENDING_AHEAD : PENDING_OWED;
	} else if ((h->partner && !ended) || nameless || has_candidate(t, h)) {
		h->likelihood = PENDING_STRANGE;
	} else {
		h->likelihood = PENDING_NOBODY;
		/*
		 * An open stream of the other side without queues may be that of a restarted
		 * tracer.
		 */
		h->over = t->ended[other] && (!t->open[other] || ended);
	}
}

bool likelihood_has_expired(const struct topology *t, const struct endpoint *h,
			    const struct nt_record *r, uint64_t age_ns)
{
	if (likelihood_is_settled(h) && !h->over && t->streams[h->partner->stream].newest)
		return likelihood_has_passed(t, h, r, age_ns);
	return t->streams[h->stream].newest > record_last_ns(r) + age_ns;
}
