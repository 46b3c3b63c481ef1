// SPDX-License-Identifier: GPL-2.0-only
#include "core/tcp.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"

void tcp_rows_begin(struct tcp_rows *t)
{
	t->nr = t->past = t->nr_resent = 0;
}

struct tcp_row *tcp_rows_add(struct tcp_rows *t)
{
	struct tcp_row *r = NULL;

	if (t->nr < TCP_ROWS_MAX)
		r = ARRAY_INSERT(t->row, t->nr, t->nr);
	if (r)
		*r = (struct tcp_row){0};
	else
		t->past++;
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct tcp_row *x = a, *y = b;

	return strverscmp(x->controller, y->controller) ?: strcmp(x->peer, y->peer)
		       ?: (int)x->qid - (int)y->qid;
}

void tcp_rows_sort(struct tcp_rows *t)
{
	if (t->nr)
		qsort(t->row, t->nr, sizeof(*t->row), compare);
}

uint64_t tcp_expected_ns(const struct nt_tcp_state *s)
{
	uint64_t segments, rounds;

	if (!s->snd_mss || !s->snd_cwnd)
		return 0;
	segments = ((uint64_t)s->queued + s->snd_mss - 1) / s->snd_mss;
	rounds = (segments + s->snd_cwnd - 1) / s->snd_cwnd;
	return rounds * s->srtt_us * 1000;
}

void tcp_rows_free(struct tcp_rows *t)
{
	free(t->row);
	free(t->resent);
	*t = (struct tcp_rows){.asked = t->asked};
}
