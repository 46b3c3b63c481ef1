// SPDX-License-Identifier: GPL-2.0-only
#include "stream/gather.h"

#include <errno.h>
#include <stdlib.h>

#include "stream/codec.h"
#include "stream/format.h"

#if RECORD_SLACK > GATHERED_SLACK
#error "the encoder touches more"
#endif

struct gatherer {
	struct record_encoder encoder;
	struct gathered *to;
};

struct gatherer *gatherer_new(void)
{
	return calloc(1, sizeof(struct gatherer));
}

void gather_begin(struct gatherer *g, struct gathered *to)
{
	g->to = to;
	to->len = 0;
	to->records = 0;
	record_encoder_begin(&g->encoder);
}

int gather(struct gatherer *g, const struct nt_record *r, bool *first)
{
	const unsigned int connections = g->encoder.nr_connections;
	struct gathered *to = g->to;
	uint8_t *payload = to->frame + FRAME_HEAD_LEN, *end;

	if (r->op >= NT_OPS_NR || r->shape >= NT_SHAPES_NR)
		return -EINVAL;
	if (FRAME_HEAD_LEN + to->len + RECORD_LEN_MAX > STREAM_FRAME_MAX ||
	    record_encoder_full(&g->encoder))
		return -ENOSPC;
	end = record_encode(&g->encoder, payload + to->len, r);
	if (!end)
		return -ENOMEM;
	to->len = (size_t)(end - payload);
	to->records++;
	*first = g->encoder.nr_connections > connections;
	return 0;
}

void gatherer_free(struct gatherer *g)
{
	if (g)
		record_encoder_free(&g->encoder);
	free(g);
}
