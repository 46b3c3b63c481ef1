// SPDX-License-Identifier: GPL-2.0-only
#include "view/path_events.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/text.h"
#include "view/json.h"
#include "view/lines.h"

/* Lines of the live view. */
#define PATH_EVENTS_SHOWN 5
/* Lines of a report without intervals. */
#define PATH_LINES_SHOWN 20

static void get_controller(const void *row, const struct column *c, struct value *v)
{
	snprintf(v->buf, sizeof(v->buf), "nvme%u", ((const struct nt_path_event *)row)->instance);
	value_text(v, v->buf);
}

static void get_kind(const void *row, const struct column *c, struct value *v)
{
	value_text(v, path_event_name(((const struct nt_path_event *)row)->kind));
}

static void get_state(const void *row, const struct column *c, struct value *v)
{
	const char *state = path_event_state(row);

	value_text(v, state ?: "");
	v->none = !state;
}

static bool no_command(const void *row)
{
	const struct nt_path_event *e = row;

	return e->kind != NT_PATH_TIMEOUT && e->kind != NT_PATH_KEEP_ALIVE;
}

static bool no_group(const void *row)
{
	return ((const struct nt_path_event *)row)->kind != NT_PATH_ANA;
}

#define FIELD(member) COLUMN_FIELD(struct nt_path_event, member)

static const struct column path_event[] = {
	[PATH_EVENT_AT] = COLUMN("at", INSTANT, FIELD(ns)),
	[PATH_EVENT_CONTROLLER] = COLUMN("controller", NAME, .get = get_controller),
	[PATH_EVENT_SUBSYSTEM] = {"subsysnqn", "subsystem NQN", .unit = UNIT_TEXT, FIELD(subsysnqn),
				  .least = 1},
	[PATH_EVENT_KIND] = COLUMN("event", NAME, .get = get_kind),
	[PATH_EVENT_STATE] = COLUMN("state", NAME, .get = get_state),
	[PATH_EVENT_ATTEMPTS] = COLUMN("attempts", COUNT, FIELD(attempts), .least = 1),
	[PATH_EVENT_QUEUES] = COLUMN("queues", COUNT, FIELD(queues), .least = 1),
	[PATH_EVENT_GROUP] = {"ana_group", "ANA group", .unit = UNIT_NUMBER, FIELD(group),
			      .none = no_group},
	[PATH_EVENT_QUEUE] = COLUMN("queue", NUMBER, FIELD(qid), .none = no_command),
	[PATH_EVENT_COMMAND] = {"command_id", "command id", .unit = UNIT_NUMBER, FIELD(cid),
				.none = no_command},
	[PATH_EVENT_OPCODE] = {"opcode", "opcode", .unit = UNIT_CODE, FIELD(opcode), .digits = 2,
			       .none = no_command},
};

const struct columns path_event_columns = COLUMNS("path_events", path_event);

void path_events_print(const struct stats *s, bool all, FILE *f)
{
	const struct path_events *p = &s->path_events;
	const size_t from = all ? 0 : path_events_of_interval(p);
	const uint64_t of_it = all ? p->total : p->total - p->shown;
	char text[PATH_EVENT_TEXT_LEN], age[16];
	size_t i = p->nr;

	for (; i > from && p->nr - i < PATH_EVENTS_SHOWN; i--) {
		const struct nt_path_event *e = path_events_at(p, i - 1);

		duration_format(age, sizeof(age),
				s->looked_ns > e->ns ? (double)(s->looked_ns - e->ns) : 0);
		fprintf(f, "%s ago: %s\n", age, path_event_text(e, text));
	}
	if (of_it > p->nr - i)
		fprintf(f, "earlier events of controllers: %" PRIu64 "\n", of_it - (p->nr - i));
	if (all && p->lost)
		fprintf(f, "events of controllers that found no room: %" PRIu64 "\n", p->lost);
}

static int by_time(const void *a, const void *b)
{
	const struct path_line *x = a, *y = b;

	return x->after_ns != y->after_ns ? (x->after_ns > y->after_ns ? 1 : -1)
					  : (x->e > y->e) - (x->e < y->e);
}

void path_lines_sort(struct path_lines *p)
{
	if (p->nr)
		qsort(p->line, p->nr, sizeof(*p->line), by_time);
}

size_t path_lines_print(const struct path_lines *p, size_t from, int64_t until_ns, FILE *f)
{
	char text[PATH_EVENT_TEXT_LEN];

	for (; from < p->nr && p->line[from].after_ns < until_ns; from++) {
		const struct path_line *l = &p->line[from];

		fprintf(f, "  at %.3f s: ", (double)l->after_ns / 1e9);
		text_print(f, l->machine, TEXT_HEX);
		fprintf(f, "%s%s\n", l->machine[0] ? " " : "", path_event_text(l->e, text));
	}
	return from;
}

void path_lines_print_last(const struct path_lines *p, const char *input, FILE *f)
{
	size_t from = p->nr > PATH_LINES_SHOWN ? p->nr - PATH_LINES_SHOWN : 0;

	fputs("events of the controllers in ", f);
	text_print(f, input, TEXT_HEX);
	fprintf(f, ": %zu\n", p->nr);
	if (from)
		fprintf(f, "  the last %d:\n", PATH_LINES_SHOWN);
	path_lines_print(p, from, INT64_MAX, f);
}

struct json_object *path_events_json(const struct path_events *p, size_t from)
{
	struct json_object *rows = json_array();

	for (size_t i = from; i < p->nr; i++)
		json_append(rows, json_row(&path_event_columns, path_events_at(p, i)));
	return rows;
}
