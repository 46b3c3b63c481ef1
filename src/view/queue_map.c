// SPDX-License-Identifier: GPL-2.0-only
#include "view/queue_map.h"

#include <string.h>

#include "view/csv.h"
#include "view/json.h"
#include "view/lines.h"

enum {
	CONTROLLER_NAME,
	CONTROLLER_STATE,
	CONTROLLER_TRANSPORT,
	CONTROLLER_ADDRESS,
	CONTROLLER_RESETS,
	CONTROLLER_RECONNECTS,
	CONTROLLER_ERRORS,
	CONTROLLER_NQN,
};

static bool no_resets(const void *row)
{
	return ((const struct mapped_controller *)row)->reset_count < 0;
}

static bool no_reconnects(const void *row)
{
	return ((const struct mapped_controller *)row)->reconnect_count < 0;
}

static bool no_errors(const void *row)
{
	return ((const struct mapped_controller *)row)->command_error_count < 0;
}

#define OF_CONTROLLER(member) COLUMN_FIELD(struct mapped_controller, member)

static const struct column controller[] = {
	[CONTROLLER_NAME] = COLUMN("controller", NAME, OF_CONTROLLER(name)),
	[CONTROLLER_STATE] = COLUMN("state", NAME, OF_CONTROLLER(state), .least = 1),
	[CONTROLLER_TRANSPORT] = COLUMN("transport", NAME, OF_CONTROLLER(transport), .least = 1),
	[CONTROLLER_ADDRESS] = COLUMN("address", TEXT, OF_CONTROLLER(address), .least = 1),
	[CONTROLLER_RESETS] = {"reset_count", "resets", .unit = UNIT_COUNT,
			       OF_CONTROLLER(reset_count), .none = no_resets},
	[CONTROLLER_RECONNECTS] = {"reconnect_count", "reconnects", .unit = UNIT_COUNT,
				   OF_CONTROLLER(reconnect_count), .none = no_reconnects},
	[CONTROLLER_ERRORS] = {"command_error_count", "errors", .unit = UNIT_COUNT,
			       OF_CONTROLLER(command_error_count), .none = no_errors},
	[CONTROLLER_NQN] = {"nqn", "subsystem NQN", .unit = UNIT_TEXT, OF_CONTROLLER(subsysnqn),
			    .least = 1},
};

const struct columns mapped_controller_columns = COLUMNS("mapped_controllers", controller);

/* A number of something; no value if it is -1. */
static void get_number(const void *row, const struct column *c, struct value *v)
{
	const int32_t *n = (const void *)((const char *)row + c->offset);

	value_integer(v, *n);
	v->none = *n < 0;
}

#define OF_QUEUE(member) COLUMN_FIELD(struct mapped_queue, member), .least = 1
#define NUMBER_OF(member) .get = get_number, .offset = offsetof(struct mapped_queue, member)

static const struct column queue[] = {
	[MAPPED_CONTROLLER] = COLUMN("controller", NAME, OF_QUEUE(controller)),
	[MAPPED_QUEUE] = COLUMN("queue", NUMBER, COLUMN_FIELD(struct mapped_queue, qid)),
	[MAPPED_CPUS] = {"cpus", "CPUs", .unit = UNIT_NAME, OF_QUEUE(cpus)},
	[MAPPED_IO_CPU] = COLUMN("io_cpu", NUMBER, NUMBER_OF(io_cpu)),
	[MAPPED_LOCAL] = {"local", "from", .unit = UNIT_NAME, OF_QUEUE(local)},
	[MAPPED_REMOTE] = {"remote", "to", .unit = UNIT_NAME, OF_QUEUE(remote)},
	[MAPPED_NIC] = {"nic", "NIC", .unit = UNIT_TEXT, OF_QUEUE(nic)},
	[MAPPED_RX_QUEUE] = {"rx_queue", "its queue", .unit = UNIT_NUMBER, NUMBER_OF(rx_queue)},
	[MAPPED_IRQ_CPUS] = {"irq_cpus", "IRQ CPUs", .unit = UNIT_NAME, OF_QUEUE(irq_cpus)},
	[MAPPED_RX_CPU] = {"rx_cpu", "rx CPU", .unit = UNIT_NUMBER, NUMBER_OF(rx_cpu)},
	[MAPPED_NODE] = {"numa_node", "node", .unit = UNIT_NUMBER, NUMBER_OF(node)},
};

const struct columns mapped_queue_columns = COLUMNS("mapped_queues", queue);

/* Prints all columns of @nr rows, each of @size bytes. */
static void print(const struct columns *columns, const void *rows, size_t nr, size_t size, FILE *f)
{
	struct table t = {.columns = columns};

	for (unsigned int i = 0; i < columns->nr; i++)
		table_add(&t, i, NULL, 0);
	for (size_t i = 0; i < nr; i++)
		table_measure(&t, (const char *)rows + i * size);
	table_lay_out(&t, TABLE_WIDE);
	table_titles(&t, f);
	for (size_t i = 0; i < nr; i++)
		table_row(&t, (const char *)rows + i * size, f);
}

void queue_map_print(const struct queue_map *m, FILE *f)
{
	print(&mapped_controller_columns, m->controller, m->nr, sizeof(*m->controller), f);
	if (!m->nr_queues)
		return;
	fputc('\n', f);
	print(&mapped_queue_columns, m->queue, m->nr_queues, sizeof(*m->queue), f);
}

int queue_map_print_json(const struct queue_map *m, const char *missing, FILE *f)
{
	struct json_object *o = json_new("paths"), *controllers = json_array();
	struct json_object *queues = json_array();

	for (size_t i = 0; i < m->nr; i++)
		json_append(controllers, json_row(&mapped_controller_columns, &m->controller[i]));
	for (size_t i = 0; i < m->nr_queues; i++)
		json_append(queues, json_row(&mapped_queue_columns, &m->queue[i]));
	json_put_time(o);
	json_put(o, "missing", missing ? json_text(missing) : NULL);
	json_put(o, "controllers", controllers);
	json_put(o, "queues", queues);
	return json_write(f, o);
}

void queue_map_print_csv(const struct queue_map *m, FILE *f)
{
	csv_header(f, &mapped_queue_columns);
	for (size_t i = 0; i < m->nr_queues; i++)
		csv_row(f, &mapped_queue_columns, &m->queue[i]);
}
