// SPDX-License-Identifier: GPL-2.0-only
#include "view/columns_queues.h"

#include <stdio.h>
#include <string.h>

void columns_queues_row(struct queue_row *r, const struct stats *s, size_t index, bool summary)
{
	double seconds = summary ? s->elapsed : s->seconds;

	*r = (struct queue_row){
		.base = {columns_hist_of(s->rows[index], summary), s->rows[index]->op},
		.s = s,
		.index = index,
		.per_second = seconds > 0 ? 1 / seconds : 0,
	};
	/* A sample's rates are estimates of those of all commands. */
	if (s->sample > 1)
		r->per_second *= s->sample;
}

static void get_controller(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;
	const struct stats *s = q->s;
	const struct stats_row *r = s->rows[q->index];
	unsigned int before = 0, after = 0;

	(void)c;
	for (size_t i = q->index; i > 0 && !strcmp(s->rows[i - 1]->controller, r->controller); i--)
		before += strcmp(s->rows[i - 1]->peer, s->rows[i]->peer) != 0;
	for (size_t i = q->index + 1; i < s->nr_rows; i++) {
		if (strcmp(s->rows[i]->controller, r->controller))
			break;
		after += strcmp(s->rows[i - 1]->peer, s->rows[i]->peer) != 0;
	}
	value_text(v, r->controller[0] ? r->controller : "all");
	if (before + after) {
		snprintf(v->buf, sizeof(v->buf), "%s#%u", r->controller, before + 1);
		v->text = v->buf;
	}
}

static void get_peer(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;

	(void)c;
	value_text(v, q->s->rows[q->index]->peer);
	v->none = !v->text[0];
}

static void get_queue(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;

	(void)c;
	if (q->s->rows[q->index]->shared)
		value_text(v, "all");
	else
		value_natural(v, q->s->rows[q->index]->qid);
}

static void get_iops(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;

	(void)c;
	value_real(v, (double)q->base.h->count * q->per_second);
}

static void get_throughput(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;

	(void)c;
	value_real(v, (double)q->base.h->bytes * q->per_second);
}

static void get_in_flight(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;

	(void)c;
	/* Little's law: mean number in flight = arrival rate * mean latency. */
	value_real(v, (double)q->base.h->sum / 1e9 * q->per_second);
}

static const struct column queue[QUEUE_COLUMNS_NR] = {
	[QUEUE_CONTROLLER] = {"controller", "controller", .brief = "ctrl", .unit = UNIT_NAME,
			      .get = get_controller},
	[QUEUE_PEER] = {"peer", "peer NQN", .unit = UNIT_TEXT, .get = get_peer},
	[QUEUE_QUEUE] = {"queue", "queue", .brief = "qid", .unit = UNIT_NUMBER, .get = get_queue},
	[QUEUE_OP] = COLUMN_OP,
	[QUEUE_COMMANDS] = COLUMN_COMMANDS,
	[QUEUE_IOPS] = {"iops", "IOPS", .unit = UNIT_PER_SECOND, .get = get_iops},
	[QUEUE_THROUGHPUT] = {"throughput", "MB/s", .unit = UNIT_BYTES_PER_SECOND,
			      .get = get_throughput},
	[QUEUE_IN_FLIGHT] = {"in_flight", "inflight", .brief = "infl", .unit = UNIT_COUNT,
			     .get = get_in_flight},
	[QUEUE_MEAN] = COLUMN_MEAN,
	[QUEUE_P50] = COLUMN_P50,
	[QUEUE_P90] = COLUMN_P90,
	[QUEUE_P99] = COLUMN_P99,
	[QUEUE_P99_9] = COLUMN_P99_9,
	[QUEUE_MAX] = COLUMN_MAX,
};

const struct columns queue_columns = COLUMNS("queues", queue);
