// SPDX-License-Identifier: GPL-2.0-only
/* The sums of merged commands: one population, with nothing left out, clamped or counted twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "merge/totals.h"

static const struct merge_connection one = {.index = 0, .host_stream = 0, .target_stream = 1};
static const struct merge_connection two = {.index = 1, .host_stream = 0, .target_stream = 2};

static struct nt_record host_read(uint64_t network_ns)
{
	return (struct nt_record){.side = NT_HOST,
				  .points = {[NT_H_SUBMIT] = 1000,
					     [NT_H_QUEUE_RQ] = 1010,
					     [NT_H_SEND_CMD] = 1030,
					     [NT_H_RX] = 1030 + network_ns,
					     [NT_H_C2H] = 1070 + network_ns,
					     [NT_H_CQE] = 1150 + network_ns,
					     [NT_H_COMPLETE] = 1310 + network_ns}};
}

/* From rx to send it takes 5,000 ns. */
static struct nt_record target_read(void)
{
	return (struct nt_record){.side = NT_TARGET,
				  .points = {[NT_T_RX] = 70000,
					     [NT_T_CMD] = 70300,
					     [NT_T_EXEC] = 70900,
					     [NT_T_DONE] = 74000,
					     [NT_T_SEND] = 75000,
					     [NT_T_SENT] = 76000}};
}

static void add(struct totals *t, const struct merge_connection *c, uint64_t network_ns,
		uint32_t target_lacks)
{
	struct nt_record host = host_read(network_ns), target = target_read();

	for (unsigned int i = 0; i < NT_POINTS_MAX; i++)
		if (target_lacks & 1u << i)
			target.points[i] = 0;
	assert_int_equal(totals_add(t, c, &host, &target), 0);
}

static const struct totals_stage *stage_of(const struct totals *t, const char *name)
{
	for (unsigned int i = 0; i < t->nr_stages[NT_OP_READ]; i++)
		if (!strcmp(t->stage[NT_OP_READ][i]->name, name))
			return t->stage[NT_OP_READ][i];
	return NULL;
}

static int64_t stages_sum(const struct totals *t)
{
	int64_t sum = (int64_t)t->unsplit_latency[NT_OP_READ].sum;

	for (unsigned int i = 0; i < t->nr_stages[NT_OP_READ]; i++)
		sum += totals_stage_sum(t->stage[NT_OP_READ][i]);
	return sum;
}

/* The same sum for the commands of a connection. */
static int64_t row_sum(const struct totals_row *row)
{
	int64_t sum = (int64_t)row->unsplit_ns;

	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		sum += row->sum[i];
	return sum;
}

static void errors_are_in_no_latency(void **state)
{
	struct nt_record host = host_read(5000), target = target_read();
	struct totals t, all;

	assert_int_equal(totals_init(&t, 0), 0);
	assert_int_equal(totals_init(&all, 0), 0);
	host.status = target.status = 0x4006;
	assert_int_equal(totals_add(&t, &two, &host, &target), 0);
	add(&t, &one, 5000, 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(totals_fold(&all, &t), 0);
	assert_int_equal(all.commands, 1);
	assert_int_equal(all.latency[NT_OP_READ].count, 1);
	assert_int_equal(all.errors.nr, 1);
	assert_int_equal(all.errors.row[0].status, 0x006);
	assert_int_equal(all.errors.row[0].total, 1);
	totals_free(&t);
	totals_free(&all);
}

static void a_negative_stage_is_taken_off_every_sum(void **state)
{
	const struct totals_stage *network;
	struct totals t;

	assert_int_equal(totals_init(&t, 0), 0);
	add(&t, &one, 4990, 0);
	add(&t, &one, 4700, 0);
	add(&t, &one, 5100, 0);
	network = stage_of(&t, "network_transmission");
	assert_non_null(network);
	assert_int_equal(totals_stage_sum(network), -10 - 300 + 100);
	assert_int_equal(network->time.count, 3);
	assert_int_equal(network->time.max, 100);
	assert_int_equal(t.negative, 2);
	assert_int_equal(t.most_negative, -300);
	assert_int_equal(stages_sum(&t), t.latency[NT_OP_READ].sum);
	assert_int_equal(t.row[NT_OP_READ]->sum[NT_MS_NETWORK_TRANSMISSION],
			 totals_stage_sum(network));
	assert_int_equal(row_sum(t.row[NT_OP_READ]), t.latency[NT_OP_READ].sum);
	totals_free(&t);
}

static void a_command_without_all_stages_is_counted_as_such(void **state)
{
	struct totals t;

	assert_int_equal(totals_init(&t, 0), 0);
	add(&t, &one, 9000, 0);
	add(&t, &one, 900000, 1u << NT_T_DONE);
	add(&t, &one, 9000, 0);
	assert_int_equal(t.commands, 3);
	assert_int_equal(t.unsplit, 1);
	assert_int_equal(t.latency[NT_OP_READ].count, 3);
	assert_int_equal(t.unsplit_latency[NT_OP_READ].count, 1);
	assert_int_equal(t.unsplit_latency[NT_OP_READ].sum, 900310);
	assert_int_equal(stage_of(&t, "target_subsystem")->time.count, 2);
	assert_int_equal(stages_sum(&t), t.latency[NT_OP_READ].sum);
	assert_int_equal(t.row[NT_OP_READ]->split, 2);
	assert_int_equal(row_sum(t.row[NT_OP_READ]), t.latency[NT_OP_READ].sum);
	totals_free(&t);
}

static void set_missing(struct machines *m, unsigned int stream, uint32_t missing)
{
	struct machine what = {.side = stream ? NT_TARGET : NT_HOST, .missing = missing};

	machines_set(m, stream, &what, "label");
}

/* Two targets; one lacks a point: each command is in the stages that its target has. */
static void stages_of_machines_that_lack_points_stand_beside_those_of_others(void **state)
{
	struct machines m;
	struct totals t;

	assert_int_equal(machines_init(&m, 3), 0);
	assert_int_equal(totals_init(&t, 1), 0);
	t.machines = &m;
	set_missing(&m, 0, 0);
	set_missing(&m, 1, 1u << NT_T_DONE);
	set_missing(&m, 2, 0);
	add(&t, &one, 900000, 1u << NT_T_DONE);
	add(&t, &two, 9000, 0);
	add(&t, &two, 9000, 0);
	/* This machine has the point that is missing here. */
	add(&t, &two, 9000, 1u << NT_T_DONE);
	assert_int_equal(t.unsplit, 1);
	assert_int_equal(stage_of(&t, "target_subsystem+nvmet_tcp_completion")->time.count, 1);
	assert_int_equal(totals_stage_sum(stage_of(&t, "target_subsystem+nvmet_tcp_completion")),
			 4100);
	assert_int_equal(stage_of(&t, "target_subsystem")->time.count, 2);
	assert_int_equal(totals_stage_sum(stage_of(&t, "nvmet_tcp_completion")), 2 * 1000);
	assert_int_equal(stage_of(&t, "blk_submission")->time.count, 3);
	assert_int_equal(stages_sum(&t), t.latency[NT_OP_READ].sum);
	assert_int_equal(t.slowest[0].missing[NT_TARGET], 1u << NT_T_DONE);
	totals_free(&t);
	machines_free(&m);
}

#define ARRIVALS (1u << NT_T_RX | 1u << NT_T_DATA_RX)

/*
 * With TLS neither side has an arrival. The time of both network stacks is in the network's stage.
 */
static void commands_without_arrivals_are_in_joined_stages(void **state)
{
	static const char name[] = "nstack_submission+network_transmission+nstack_completion";
	struct nt_record host = host_read(9000);
	struct nt_record target = target_read();
	struct totals t;

	assert_int_equal(totals_init(&t, 1), 0);
	host.points[NT_H_RX] = 0;
	for (int i = 0; i < 3; i++) {
		add(&t, &one, 9000, 0);
		target.points[NT_T_RX] = 0;
		assert_int_equal(totals_add(&t, &one, &host, &target), 0);
	}
	assert_int_equal(t.unsplit, 0);
	assert_int_equal(stage_of(&t, name)->time.count, 3);
	/* From send_cmd to c2h, less the target's time from cmd to send. */
	assert_int_equal(totals_stage_sum(stage_of(&t, name)), 3 * (9040 - 4700));
	assert_int_equal(stage_of(&t, "network_transmission")->time.count, 3);
	assert_int_equal(stage_of(&t, "target_subsystem")->time.count, 6);
	assert_int_equal(stages_sum(&t), t.latency[NT_OP_READ].sum);
	assert_int_equal(row_sum(t.row[NT_OP_READ]), t.latency[NT_OP_READ].sum);
	/* The arrivals of one side are known. */
	add(&t, &one, 9000, ARRIVALS);
	assert_int_equal(stage_of(&t, "nstack_submission+network_transmission")->time.count, 1);
	/* As far as is known, the command has no response. */
	host.points[NT_H_C2H] = host.points[NT_H_CQE] = 0;
	assert_int_equal(totals_add(&t, &one, &host, &target), 0);
	assert_int_equal(t.unsplit, 1);
	assert_int_equal(stages_sum(&t), t.latency[NT_OP_READ].sum);
	totals_free(&t);
}

static void folding_intervals_gives_the_same_as_no_intervals(void **state)
{
	struct totals whole, interval, total;
	struct machines m;

	assert_int_equal(machines_init(&m, 3), 0);
	set_missing(&m, 1, 1u << NT_T_EXEC);
	assert_int_equal(totals_init(&whole, 0), 0);
	assert_int_equal(totals_init(&interval, 0), 0);
	assert_int_equal(totals_init(&total, 0), 0);
	whole.machines = interval.machines = &m;
	for (unsigned int i = 0; i < 12; i++) {
		uint32_t lacks = i % 5 ? 0 : 1u << NT_T_CMD;
		uint64_t network = 4900 + 50 * i;

		add(&whole, i % 2 ? &one : &two, network, lacks);
		add(&interval, i % 2 ? &one : &two, network, lacks);
		if (i % 4 == 3) {
			assert_int_equal(totals_fold(&total, &interval), 0);
			assert_int_equal(interval.commands, 0);
			assert_int_equal(stages_sum(&interval), 0);
		}
	}
	assert_int_equal(total.commands, whole.commands);
	assert_int_equal(total.unsplit, whole.unsplit);
	assert_int_equal(total.negative, whole.negative);
	assert_int_equal(total.most_negative, whole.most_negative);
	assert_memory_equal(&total.latency, &whole.latency, sizeof(whole.latency));
	assert_int_equal(total.nr_stages[NT_OP_READ], whole.nr_stages[NT_OP_READ]);
	for (unsigned int i = 0; i < whole.nr_stages[NT_OP_READ]; i++) {
		const struct totals_stage *a = whole.stage[NT_OP_READ][i];
		const struct totals_stage *b = stage_of(&total, a->name);

		assert_non_null(b);
		assert_int_equal(totals_stage_sum(a), totals_stage_sum(b));
		assert_memory_equal(&a->time, &b->time, sizeof(a->time));
	}
	for (unsigned int i = 0; i < whole.nr_rows; i++) {
		assert_int_equal(!whole.row[i], !total.row[i]);
		if (!whole.row[i])
			continue;
		assert_int_equal(whole.row[i]->split, total.row[i]->split);
		assert_int_equal(row_sum(whole.row[i]), row_sum(total.row[i]));
		assert_memory_equal(&whole.row[i]->how, &total.row[i]->how,
				    sizeof(whole.row[i]->how));
	}
	totals_free(&whole);
	totals_free(&interval);
	totals_free(&total);
	machines_free(&m);
}

static void assert_ctrls_add_up(const struct totals *t)
{
	struct totals sum = {.commands = 0};

	for (unsigned int i = 0; i < t->nr_ctrls; i++)
		assert_int_equal(totals_add_op(&sum, t->ctrl[i], NT_OP_READ), 0);
	assert_int_equal(sum.commands, t->commands);
	assert_memory_equal(&sum.unsplit_latency, &t->unsplit_latency, sizeof(sum.unsplit_latency));
	for (unsigned int i = 0; i < t->nr_stages[NT_OP_READ]; i++) {
		const struct totals_stage *a = t->stage[NT_OP_READ][i];
		const struct totals_stage *b = stage_of(&sum, a->name);

		assert_true(!a->time.count || b);
		assert_true(!b || a->below == b->below);
		if (b)
			assert_memory_equal(&a->time, &b->time, sizeof(a->time));
	}
	totals_free(&sum);
}

/* A queue of the same controller that connected again is among its commands. */
static void each_controller_has_its_stages_and_together_they_are_all(void **state)
{
	const struct merge_connection other = {.index = 2, .host_instance = 1, .target_stream = 1};
	const struct merge_connection again = {.index = 3, .cntlid = 7, .target_stream = 1};
	const struct merge_connection *const of[] = {&one, &other, &again};
	struct totals interval, last, total;

	assert_int_equal(totals_init(&interval, 0) ?: totals_init(&last, 0)
						   ?: totals_init(&total, 0),
			 0);
	totals_by_ctrl(&interval);
	totals_by_ctrl(&last);
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < 30; i++)
			add(&interval, of[i % 3], i % 3 == 1 ? 9000000 : 4900 + 50 * i,
			    i % 5   ? 0
			    : i % 2 ? 1u << NT_T_CMD
				    : 1u << NT_T_DONE);
		assert_int_equal(interval.nr_ctrls, 2);
		assert_int_equal(interval.ctrl[0]->commands, 20);
		assert_int_equal(interval.ctrl[1]->commands, 10);
		assert_true(stage_of(interval.ctrl[1], "network_transmission")->time.sum >
			    1000 * stage_of(interval.ctrl[0], "network_transmission")->time.sum);
		assert_ctrls_add_up(&interval);
		assert_int_equal(totals_fold(&total, &last), 0);
		assert_int_equal(totals_fold(&last, &interval), 0);
		assert_ctrls_add_up(&last);
		assert_int_equal(last.ctrl[0]->commands, 20);
		assert_int_equal(interval.ctrl[0]->commands, 0);
	}
	assert_int_equal(total.nr_ctrls, 0);
	assert_int_equal(total.commands, 60);
	totals_free(&interval);
	totals_free(&last);
	totals_free(&total);
}

static void controllers_past_the_limit_are_in_the_totals_only(void **state)
{
	struct merge_connection c[TOTALS_CTRLS_MAX + 1];
	struct totals t;

	assert_int_equal(totals_init(&t, 0), 0);
	totals_by_ctrl(&t);
	for (unsigned int i = 0; i <= TOTALS_CTRLS_MAX; i++) {
		c[i] = (struct merge_connection){.index = i, .host_instance = i};
		add(&t, &c[i], 9000, 0);
	}
	assert_int_equal(t.nr_ctrls, TOTALS_CTRLS_MAX);
	assert_int_equal(t.commands, TOTALS_CTRLS_MAX + 1);
	assert_non_null(t.row[NT_OP_READ]->ctrl);
	assert_null(t.row[TOTALS_CTRLS_MAX * NT_OPS_NR + NT_OP_READ]->ctrl);
	totals_free(&t);
}

/* A stream from a file may say that it lacks any points. */
static void more_kinds_of_stages_than_there_is_room_for_are_unsplit(void **state)
{
	enum { STREAMS = 1 << NT_TARGET_POINTS_NR };
	struct machines m;
	struct totals t;

	assert_int_equal(machines_init(&m, STREAMS + 1), 0);
	assert_int_equal(totals_init(&t, 0), 0);
	t.machines = &m;
	set_missing(&m, 0, 0);
	for (unsigned int i = 0; i < STREAMS; i += 7) {
		struct merge_connection c = {.index = i, .host_stream = 0, .target_stream = 1 + i};

		set_missing(&m, 1 + i, i);
		set_missing(&m, 0, i * 5 % (1 << NT_HOST_POINTS_NR));
		add(&t, &c, 900000, i);
	}
	assert_true(t.nr_stages[NT_OP_READ] <= TOTALS_STAGES_MAX);
	assert_int_equal(stages_sum(&t), t.latency[NT_OP_READ].sum);
	assert_true(t.unsplit > 0);
	totals_free(&t);
	machines_free(&m);
}

/* They belong to the next interval. */
static void what_was_folded_is_not_folded_again(void **state)
{
	struct totals from, first, second;

	assert_int_equal(totals_init(&from, 0) ?: totals_init(&first, 0) ?: totals_init(&second, 0),
			 0);
	add(&from, &one, 3000, 0);
	assert_int_equal(totals_fold(&first, &from), 0);
	assert_int_equal(first.negative, 1);
	assert_true(first.most_negative < 0);
	add(&from, &one, 9000, 0);
	assert_int_equal(totals_fold(&second, &from), 0);
	assert_int_equal(second.commands, 1);
	assert_int_equal(second.negative, 0);
	assert_int_equal(second.most_negative, 0);
	totals_free(&from);
	totals_free(&first);
	totals_free(&second);
}

/* They come in no order, so that each place of the heap is compared with both places below it. */
static void the_slowest_of_all_commands_are_kept(void **state)
{
	uint64_t kept = 0;
	struct totals t;

	assert_int_equal(totals_init(&t, 8), 0);
	for (unsigned int i = 0; i < 64; i++)
		add(&t, &one, 10000 + (i * 37 + 11) % 64 * 100, 0);
	assert_int_equal(t.nr_slowest, 8);
	for (unsigned int i = 0; i < t.nr_slowest; i++) {
		assert_int_equal(t.slowest[i].latency % 100, 310 % 100);
		kept |= 1ULL << (t.slowest[i].latency - 10310) / 100;
	}
	assert_int_equal(kept, 0xffULL << 56);
	totals_free(&t);
}

/* With 8,192 commands in flight, their latencies add up to 2^64 ns on day 27. */
static void sums_outlive_64_bits(void **state)
{
	const uint64_t long_ns = 1ULL << 62;
	const unsigned int nr = 9;
	struct totals t, all;

	assert_int_equal(totals_init(&t, 0) ?: totals_init(&all, 0), 0);
	for (unsigned int i = 0; i < nr; i++) {
		add(&t, &one, long_ns, 0);
		add(&t, &one, long_ns, 1u << NT_T_CMD);
		if (i % 2)
			assert_int_equal(totals_fold(&all, &t), 0);
	}
	assert_int_equal(totals_fold(&all, &t), 0);

	const struct totals_row *row = all.row[NT_OP_READ];
	const __int128 network = (__int128)nr * ((__int128)long_ns - 5000);
	const unsigned __int128 latency =
		(unsigned __int128)nr * ((unsigned __int128)long_ns + 310);

	assert_int_equal(row->commands, 2 * nr);
	assert_int_equal(row->split, nr);
	assert_true(row->sum[NT_MS_NETWORK_TRANSMISSION] == network);
	assert_true(all.network_ns == network);
	assert_true(totals_stage_sum(stage_of(&all, "network_transmission")) == network);
	assert_true(row->unsplit_ns == latency);
	assert_true(row->latency_ns == 2 * latency);
	assert_true(all.latency[NT_OP_READ].sum == 2 * latency);
	totals_free(&t);
	totals_free(&all);
}

/* So do those of negative stages, and of what may be a wait for the reader. */
static void sums_of_negative_stages_outlive_64_bits(void **state)
{
	struct nt_record host = host_read(0), target = target_read();
	const unsigned int nr = 9;
	struct totals t;

	assert_int_equal(totals_init(&t, 0), 0);
	host.flags = NT_F_ARRIVAL_JOINED;
	target.points[NT_T_SEND] += 1ULL << 62;
	target.points[NT_T_SENT] += 1ULL << 62;
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(totals_add(&t, &one, &host, &target), 0);
	assert_int_equal(t.negative, nr);
	assert_true(stage_of(&t, "network_transmission")->below ==
		    -(__int128)nr * ((1LL << 62) + 5000));
	assert_true(t.joined_network_ns == -(__int128)nr * ((1LL << 62) + 5000));
	totals_free(&t);
}

/* Those of one command do not: a broken recording may have any, and they wrap around. */
static void stages_of_centuries_wrap_around(void **state)
{
	const uint64_t network[] = {0, 10000};
	struct totals t;

	assert_int_equal(totals_init(&t, 0), 0);
	for (unsigned int i = 0; i < 4 * 40; i++) {
		struct nt_record host = host_read(network[i & 1]), target = target_read();

		host.fine[NT_HF_OUT] = target.fine[NT_TF_OUT] = i & 2 ? UINT32_MAX : 0;
		for (unsigned int p = NT_T_DONE; p <= NT_T_SENT; p++)
			target.points[p] = (uint64_t)INT64_MAX + 70880 + i / 4 + p;
		assert_int_equal(totals_add(&t, &one, &host, &target), 0);
	}
	assert_int_equal(t.row[NT_OP_READ]->split, 160);
	totals_free(&t);
}

/* A read whose host took @host_ns until its first packet left TCP, and its target @target_ns. */
static void add_fine(struct totals *t, uint64_t network_ns, uint32_t host_ns, uint32_t target_ns)
{
	struct nt_record host = host_read(5000 + network_ns), target = target_read();

	host.fine[NT_HF_OUT] = host_ns + 1;
	target.fine[NT_TF_OUT] = target_ns + 1;
	assert_int_equal(totals_add(t, &one, &host, &target), 0);
}

static void the_network_is_what_both_senders_kept_and_the_wire(void **state)
{
	struct totals t, all;

	assert_int_equal(totals_init(&t, 0), 0);
	assert_int_equal(totals_init(&all, 0), 0);
	totals_by_ctrl(&t);
	totals_by_ctrl(&all);
	add_fine(&t, 1000, 300, 0);
	add_fine(&t, 2000, 100, 500);
	assert_int_equal(stage_of(&t, "network_transmission")->time.count, 0);
	assert_int_equal(totals_stage_sum(stage_of(&t, "host_send_queue")), 400);
	assert_int_equal(totals_stage_sum(stage_of(&t, "target_send_queue")), 500);
	assert_int_equal(totals_stage_sum(stage_of(&t, "wire")), 700 + 1400);
	/* One of whose points a part is not known stays whole. */
	add(&t, &one, 5000 + 4000, 0);
	assert_int_equal(totals_stage_sum(stage_of(&t, "network_transmission")), 4000);
	assert_int_equal(stage_of(&t, "wire")->time.count, 2);
	assert_int_equal(t.network_ns, 7000);
	assert_int_equal(t.row[NT_OP_READ]->sum[NT_MS_NETWORK_TRANSMISSION], 7000);
	assert_int_equal(stages_sum(&t), t.latency[NT_OP_READ].sum);
	assert_int_equal(stages_sum(t.ctrl[0]), t.latency[NT_OP_READ].sum);
	assert_int_equal(totals_fold(&all, &t), 0);
	assert_int_equal(totals_stage_sum(stage_of(&all, "wire")), 2100);
	assert_int_equal(stages_sum(&all), all.latency[NT_OP_READ].sum);
	assert_true(all.row[NT_OP_READ]->part[NT_SP_WIRE] == 2100);
	assert_true(t.row[NT_OP_READ]->part[NT_SP_WIRE] == 0);
	/* Drift may make the wire negative, and nothing else. */
	add_fine(&all, 100, 100, 20);
	assert_int_equal(all.negative, 1);
	assert_int_equal(all.most_negative, -20);
	assert_int_equal(totals_stage_sum(stage_of(&all, "wire")), 2100 - 20);
	assert_int_equal(stages_sum(&all), all.latency[NT_OP_READ].sum);
	totals_free(&t);
	totals_free(&all);
}

/* An R2T write has two sends on either side. */
static void an_r2t_write_waits_twice_in_each_sender(void **state)
{
	struct nt_record host = {.shape = NT_SHAPE_R2T_WRITE, .fine = {11, 101}};
	struct nt_record target = {.shape = NT_SHAPE_R2T_WRITE, .fine = {1001, 1}};
	const int64_t stage[NT_MERGED_STAGES_NR] = {[NT_MS_NETWORK_TRANSMISSION] = 5000};
	int64_t part[NT_STAGE_PARTS_NR];
	struct merged_split how;

	merged_split_init(&how, 0, 0);
	assert_int_equal(stage_parts(&how, &host, &target, stage, part),
			 1u << NT_SP_HOST_SEND_QUEUE | 1u << NT_SP_WIRE |
				 1u << NT_SP_TARGET_SEND_QUEUE);
	assert_int_equal(part[NT_SP_HOST_SEND_QUEUE], 110);
	assert_int_equal(part[NT_SP_TARGET_SEND_QUEUE], 1000);
	assert_int_equal(part[NT_SP_WIRE], 5000 - 1110);
	for (unsigned int i = 0; i < 4; i++) {
		struct nt_record h = host, t = target;

		(i & 1 ? &h : &t)->fine[i / 2] = 0;
		assert_int_equal(stage_parts(&how, &h, &t, stage, part), 0);
	}
}

static uint32_t random32(void)
{
	static uint64_t x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 20);
}

/* Whether the points of a disk or file lie between exec and done, and say what it had. */
static bool in_order(const struct nt_record *r)
{
	const __u64 *at = r->points;

	if (r->flags & NT_F_FILE)
		return at[NT_TD_ISSUE] ? at[NT_TD_ISSUE] >= at[NT_T_EXEC] &&
						 at[NT_T_DONE] >= at[NT_TD_ISSUE]
				       : r->flags & NT_F_CACHED;
	return at[NT_TD_ISSUE] >= at[NT_T_EXEC] && at[NT_TD_DONE] >= at[NT_TD_ISSUE] &&
	       at[NT_T_DONE] >= at[NT_TD_DONE];
}

/*
 * Whatever finer points and waits a command has: the parts of a stage are not negative, but for the
 * wire, and add up to it, and a stage of which one is not known, or that is longer than the stage,
 * is a whole.
 */
static void parts_add_up_to_their_stage(void **state)
{
	for (unsigned int n = 0; n < 100000; n++) {
		struct nt_record host = {.shape = random32() % NT_SHAPES_NR}, target = host;
		int64_t stage[NT_MERGED_STAGES_NR], part[NT_STAGE_PARTS_NR];
		int64_t left[NT_MERGED_STAGES_NR];
		struct merged_split how;
		uint32_t parts, known;

		merged_split_init(&how, n % 7 ? 0 : 1u << NT_H_RX, n % 11 ? 0 : 1u << NT_T_SEND);
		for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
			left[i] = stage[i] = random32() >> random32() % 32;
		for (unsigned int i = 0; i < NT_FINE_MAX; i++) {
			host.fine[i] = random32() % 3 ? random32() : 0;
			target.fine[i] = random32() % 3 ? random32() : 0;
		}
		for (unsigned int i = 0; i < NT_WAITS_NR; i++) {
			host.wait[i] = random32() % 5 ? random32() >> random32() % 32 : 0;
			target.wait[i] = random32() % 5 ? random32() >> random32() % 32 : 0;
		}
		target.points[NT_T_EXEC] = 1 + random32();
		target.points[NT_T_DONE] =
			target.points[NT_T_EXEC] + (uint64_t)stage[NT_MS_TARGET_SUBSYSTEM];
		for (unsigned int i = NT_TD_ISSUE; i < NT_DISK_POINTS_END; i++)
			target.points[i] = random32() % 5 ? target.points[NT_T_EXEC] +
								    (random32() >> random32() % 32)
							  : 0;
		target.flags = random32() & (NT_F_FILE | NT_F_CACHED);
		parts = stage_parts(&how, &host, &target, stage, part);
		known = stages_of_parts(parts);
		for (unsigned int i = 0; i < NT_STAGE_PARTS_NR; i++) {
			if (!(parts & 1u << i))
				continue;
			assert_true(part[i] >= 0 || i == NT_SP_WIRE);
			left[stage_of_part(i)] -= part[i];
		}
		for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
			assert_int_equal(left[i], known & 1u << i ? 0 : stage[i]);
		assert_int_equal(!!(known & 1u << NT_MS_NVME_TCP_SUBMISSION),
				 host.wait[NT_W_SEND_WAKEUP] &&
					 host.wait[NT_W_SEND_WAKEUP] - 1 <=
						 stage[NT_MS_NVME_TCP_SUBMISSION]);
		if (known & 1u << NT_MS_NSTACK_SUBMISSION) {
			assert_int_equal(part[NT_SP_TARGET_STACK], target.wait[NT_W_STACK] - 1);
			assert_int_equal(part[NT_SP_TARGET_WAKEUP], target.wait[NT_W_WAKEUP] - 1);
		}
		if (known & 1u << NT_MS_NSTACK_COMPLETION)
			assert_int_equal(part[NT_SP_HOST_STACK], host.wait[NT_W_STACK] - 1);
		assert_int_equal(!!(known & 1u << NT_MS_TARGET_SUBSYSTEM), in_order(&target));
		/* Joined stages have no parts. */
		if (n % 7 == 0)
			assert_int_equal(known & 1u << NT_MS_NSTACK_COMPLETION, 0);
		if (n % 11 == 0)
			assert_int_equal(known & 1u << NT_MS_NVMET_TCP_COMPLETION, 0);
	}
}

/* @began: when the worker begins with it, after exec; 0: without a worker */
static void add_file(struct totals *t, __u32 flags, __u64 began)
{
	struct nt_record host = host_read(9000), target = target_read();

	target.flags |= flags;
	target.points[NT_TD_ISSUE] = began ? target.points[NT_T_EXEC] + began : 0;
	assert_int_equal(totals_add(t, &one, &host, &target), 0);
}

static void a_file_is_in_the_page_cache_or_waits_for_its_worker(void **state)
{
	const struct nt_record r = target_read();
	const int64_t all = (int64_t)(r.points[NT_T_DONE] - r.points[NT_T_EXEC]);
	struct totals t;

	assert_int_equal(totals_init(&t, 0), 0);
	add_file(&t, NT_F_FILE | NT_F_CACHED, 0);
	assert_int_equal(totals_stage_sum(stage_of(&t, "target_page_cache")), all);
	assert_null(stage_of(&t, "target_file_wait"));
	add_file(&t, NT_F_FILE, 7);
	add_file(&t, NT_F_FILE | NT_F_CACHED, 11);
	assert_int_equal(totals_stage_sum(stage_of(&t, "target_file_wait")), 7 + 11);
	assert_int_equal(stage_of(&t, "target_file_wait")->time.count, 2);
	assert_int_equal(totals_stage_sum(stage_of(&t, "target_file_io")), all - 7);
	assert_int_equal(totals_stage_sum(stage_of(&t, "target_page_cache")), 2 * all - 11);
	/* What is not known is a whole: nothing says that the worker had it, or it is out of order.
	 */
	assert_int_equal(stage_of(&t, "target_subsystem")->time.count, 0);
	add_file(&t, NT_F_FILE, 0);
	add_file(&t, NT_F_FILE, (__u64)all + 1);
	assert_int_equal(totals_stage_sum(stage_of(&t, "target_subsystem")), 2 * all);
	assert_int_equal(stages_sum(&t), t.latency[NT_OP_READ].sum);
	totals_free(&t);
}

/* Each side's waits are known by itself. */
static void waits_of_one_side_stand_beside_whole_stages_of_the_other(void **state)
{
	struct nt_record host = host_read(9000), target = target_read();
	struct totals t;

	assert_int_equal(totals_init(&t, 0), 0);
	host.wait[NT_W_STACK] = 1 + 3;
	host.wait[NT_W_WAKEUP] = 1;
	assert_int_equal(totals_add(&t, &one, &host, &target), 0);
	assert_int_equal(totals_stage_sum(stage_of(&t, "host_stack")), 3);
	assert_int_equal(totals_stage_sum(stage_of(&t, "host_wakeup")), 0);
	assert_int_equal(totals_stage_sum(stage_of(&t, "host_stack")) +
				 totals_stage_sum(stage_of(&t, "host_worker")),
			 host.points[NT_H_C2H] - host.points[NT_H_RX]);
	assert_int_equal(stage_of(&t, "nstack_submission")->time.count, 1);
	assert_int_equal(stages_sum(&t), t.latency[NT_OP_READ].sum);
	totals_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_are_in_no_latency),
		cmocka_unit_test(a_negative_stage_is_taken_off_every_sum),
		cmocka_unit_test(a_command_without_all_stages_is_counted_as_such),
		cmocka_unit_test(stages_of_machines_that_lack_points_stand_beside_those_of_others),
		cmocka_unit_test(commands_without_arrivals_are_in_joined_stages),
		cmocka_unit_test(folding_intervals_gives_the_same_as_no_intervals),
		cmocka_unit_test(what_was_folded_is_not_folded_again),
		cmocka_unit_test(each_controller_has_its_stages_and_together_they_are_all),
		cmocka_unit_test(controllers_past_the_limit_are_in_the_totals_only),
		cmocka_unit_test(the_slowest_of_all_commands_are_kept),
		cmocka_unit_test(sums_outlive_64_bits),
		cmocka_unit_test(sums_of_negative_stages_outlive_64_bits),
		cmocka_unit_test(stages_of_centuries_wrap_around),
		cmocka_unit_test(the_network_is_what_both_senders_kept_and_the_wire),
		cmocka_unit_test(an_r2t_write_waits_twice_in_each_sender),
		cmocka_unit_test(parts_add_up_to_their_stage),
		cmocka_unit_test(a_file_is_in_the_page_cache_or_waits_for_its_worker),
		cmocka_unit_test(waits_of_one_side_stand_beside_whole_stages_of_the_other),
		cmocka_unit_test(more_kinds_of_stages_than_there_is_room_for_are_unsplit),
	};

	return cmocka_run_group_tests_name("totals", tests, NULL, NULL);
}
