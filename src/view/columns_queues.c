// SPDX-License-Identifier: GPL-2.0-only
#include "view/columns_queues.h"

#include <stdio.h>
#include <string.h>

#include "core/array.h"
#include "core/names.h"

void columns_queues_own(struct queue_row *r, const struct stats *s, const struct stats_row *row,
			bool summary)
{
	double seconds = summary ? s->elapsed : s->seconds;
	const struct hist *h = columns_hist_of(row, summary);
	uint64_t measured, all;

	*r = (struct queue_row){
		.base = {.h = h, .op = row->op},
		.all = summary ? row->others_total : row->others_interval,
		.s = s,
		.row = row,
		.index = QUEUE_ROW_OWN,
		.summary = summary,
		/* A damaged recording may have times of 64 bits. */
		.window_ns = seconds * 1e9 < 0x1p64 ? (uint64_t)(seconds * 1e9) : UINT64_MAX,
		.per_second = seconds > 0 ? 1 / seconds : 0,
	};
	r->base.others = r->all.commands;
	r->all.commands += h->count;
	r->all.bytes += h->bytes;
	if (s->sample > 1 && !s->counted) {
		r->unknown = stats_sample(s, summary, &measured, &all);
		r->all.commands *= s->sample;
		r->all.bytes *= s->sample;
	}
}

void columns_queues_recent(struct queue_row *r)
{
	const struct recent *recent = r->row->recent;

	if (!recent || hist_tells(r->base.h, RECENT_P99) || recent->h.count <= r->base.h->count)
		return;
	/* Together with the others, modulo 2^64, the commands stay those of the interval. */
	r->base.others += r->base.h->count - recent->h.count;
	r->base.h = &recent->h;
	r->window_ns = recent->ns;
}

static bool same_name(const struct stats_row *a, const struct stats_row *b)
{
	return !strcmp(a->controller, b->controller);
}

/* Whether two rows with the same name are of different controllers. */
static bool differs(const struct stats_row *a, const struct stats_row *b)
{
	return strcmp(a->peer, b->peer) || strcmp(a->other, b->other);
}

/* Return: &queue_row.number of the first row of a name */
static unsigned int first_number(const struct stats *s, size_t index)
{
	const struct stats_row *row = s->rows[index];
	size_t end = BISECT(i, index + 1, s->nr_rows, same_name(row, s->rows[i]));

	return differs(row, s->rows[end - 1]) ? 1 : 0;
}

bool columns_queues_next(struct queue_row *r, const struct stats *s, bool summary)
{
	const struct stats_row *before = r->row;
	size_t index = before ? r->index + 1 : 0;
	unsigned int number = r->number;

	if (index == s->nr_rows)
		return false;
	columns_queues_own(r, s, s->rows[index], summary);
	r->index = index;
	if (!before || !same_name(before, r->row))
		r->number = first_number(s, index);
	else if (number)
		r->number = number + differs(before, r->row);
	return true;
}

bool columns_queues_any(const struct queue_row *r)
{
	return r->all.commands || r->row->waiting.commands ||
	       (!r->summary && r->row->recent && r->row->recent->h.count);
}

static void get_controller(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;
	const char *name = q->row->controller;

	value_text(v, name[0] ? name : "all");
	if (q->number) {
		snprintf(v->buf, sizeof(v->buf), "%s#%u", name, q->number);
		v->text = v->buf;
	}
}

static void get_queue(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;

	if (q->row->shared)
		value_text(v, "all");
	else
		value_natural(v, q->row->qid);
}

static void get_transport(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;

	value_text(v, transport_name(q->row->transport));
	v->none = q->row->shared || q->s->side != NT_HOST;
}

static void get_iops(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;

	value_real(v, q->unknown ? 0 : (double)q->all.commands * q->per_second);
	v->none = q->unknown;
}

static void get_throughput(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;

	value_real(v, q->unknown ? 0 : (double)q->all.bytes * q->per_second);
	v->none = q->unknown;
}

static void get_in_flight(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;

	/* Little's law: mean number in flight = arrival rate * mean latency. */
	value_real(v, hist_mean(q->base.h) / 1e9 * (double)q->all.commands * q->per_second);
	v->none = q->unknown || (q->all.commands && !q->base.h->count);
}

static bool recorded(const void *row)
{
	return ((const struct queue_row *)row)->s->recorded;
}

static const struct waiting *waiting_of(const void *row)
{
	const struct queue_row *q = row;

	return &q->row->waiting;
}

static void get_oldest(const void *row, const struct column *c, struct value *v)
{
	value_natural(v, waiting_of(row)->oldest_ns);
	v->none = !waiting_of(row)->commands;
}

static void get_at_device(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;

	value_natural(v, waiting_of(row)->at_device);
	v->none = !q->s->waiting_at_device;
}

#define OF_ROW(member) COLUMN_AT(struct queue_row, row, member)

static const struct column queue[QUEUE_COLUMNS_NR] = {
	[QUEUE_CONTROLLER] = COLUMN("controller", NAME, .brief = "ctrl", .get = get_controller),
	[QUEUE_PEER] = {"peer", "peer NQN", .unit = UNIT_TEXT, OF_ROW(peer), .least = 1},
	[QUEUE_QUEUE] = COLUMN("queue", NUMBER, .brief = "qid", .get = get_queue),
	[QUEUE_OP] = COLUMN_OP,
	[QUEUE_COMMANDS] = COLUMN_COMMANDS,
	[QUEUE_MEASURED] = COLUMN_MEASURED,
	[QUEUE_IOPS] = {"iops", "IOPS", .unit = UNIT_PER_SECOND, .get = get_iops},
	[QUEUE_THROUGHPUT] = {"throughput", "MB/s", .unit = UNIT_BYTES_PER_SECOND,
			      .get = get_throughput},
	[QUEUE_IN_FLIGHT] = {"mean_in_flight", "inflight", .brief = "infl", .unit = UNIT_COUNT,
			     .get = get_in_flight},
	[QUEUE_WAITING] = {"in_flight", "inflight", .brief = "infl", .unit = UNIT_COUNT,
			   OF_ROW(waiting.commands), .none = recorded},
	[QUEUE_LEFT] = COLUMN("left", COUNT, OF_ROW(waiting.commands), .none = recorded),
	[QUEUE_OLDEST] = COLUMN("oldest", NANOSECONDS, .get = get_oldest),
	[QUEUE_AT_DEVICE] = {"at_device", "at device", .brief = "dev", .unit = UNIT_COUNT,
			     .get = get_at_device},
	[QUEUE_MEAN] = COLUMN_MEAN,
	[QUEUE_P50] = COLUMN_P50,
	[QUEUE_P90] = COLUMN_P90,
	[QUEUE_P99] = COLUMN_P99,
	[QUEUE_P99_9] = COLUMN_P99_9,
	[QUEUE_MAX] = COLUMN_MAX,
	[QUEUE_TRANSPORT] = COLUMN("transport", NAME, .get = get_transport),
	[QUEUE_WINDOW] = {"window", "over", .unit = UNIT_NANOSECONDS,
			  COLUMN_FIELD(struct queue_row, window_ns), .least = 1},
	[QUEUE_DEVICES] = {"devices", "device", .unit = UNIT_TEXT,
			   COLUMN_AT(struct queue_row, controller, devices), .least = 1},
	[QUEUE_ADDRESS] = {"address", "address", .unit = UNIT_TEXT,
			   COLUMN_AT(struct queue_row, controller, address), .least = 1},
};

const struct columns queue_columns = {"queues", queue, QUEUE_WINDOW};

const struct columns *columns_queues_screen(void)
{
	static const struct columns screen = COLUMNS("queues", queue);

	return &screen;
}
