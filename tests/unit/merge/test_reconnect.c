// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands are matched across resets and reconnects, whichever stream records the connection later.
 */
#include <malloc.h>

#include "merge/merge.h"
#include "merge/testing.h"

/* A phase of a controller with two queues, from @from_ms to @to_ms. */
static void phase(struct traffic_config *c, uint32_t instance, uint16_t cntlid, uint32_t gen,
		  uint32_t target_gen, uint64_t from_ms, uint64_t to_ms)
{
	for (unsigned int i = 0; i < 2; i++)
		c->queue[c->nr_queues++] = (struct traffic_queue){.target = 1,
								  .nqn = "nqn.a",
								  .cntlid = cntlid,
								  .qid = (uint16_t)(1 + i),
								  .slot = 2 * instance + i,
								  .gen = gen,
								  .target_gen = target_gen,
								  .instance = instance,
								  .depth = 8,
								  .start_ns = from_ms * MS,
								  .end_ns = to_ms * MS};
}

static struct traffic_config machines(void)
{
	return (struct traffic_config){
		.stream = {{NT_HOST, 0, 0}, {NT_TARGET, -300 * (int64_t)SECOND, 20}},
		.nr_streams = 2,
		.seed = 88172645463325252ULL,
		.percent = {40, 25, 25, 10},
		.network_ns = 20000,
		.device_ns = 100000,
		.think_ns = 2 * MS,
	};
}

static void must_match_all(const struct traffic_config *c, const struct feed *f)
{
	struct outcome o;

	run(&o, c, f);
	assert_true(o.both > 0);
	assert_int_equal(o.wrong, 0);
	assert_int_equal(o.right, o.both);
}

static void however_it_comes(const struct traffic_config *c)
{
	must_match_all(c, &(struct feed){0});
	must_match_all(c, &(struct feed){.batch_ns = {[NT_TARGET] = 200 * MS}});
	must_match_all(c, &(struct feed){.batch_ns = {[NT_HOST] = 200 * MS}});
	must_match_all(
		c, &(struct feed){.batch_ns = {[NT_TARGET] = 200 * MS}, .expire_ns = 2 * SECOND});
}

/* The host's controller object and its generation stay the same. The controller id changes. */
static void a_controller_that_is_reset_gets_another_id(void **state)
{
	struct traffic_config c = machines();

	phase(&c, 0, 1, 1, 1, 0, 1000);
	phase(&c, 0, 2, 1, 2, 1020, 2000);
	phase(&c, 0, 1, 1, 3, 2020, 3000);
	however_it_comes(&c);
}

static void a_reset_begins_a_generation_on_both_sides(void **state)
{
	struct traffic_config c = machines();

	phase(&c, 0, 1, 1, 1, 0, 1000);
	phase(&c, 0, 1, 2, 2, 1001, 2000);
	phase(&c, 0, 7, 3, 3, 2001, 3000);
	phase(&c, 0, 1, 4, 4, 3001, 4000);
	however_it_comes(&c);
}

/* A controller id comes back as that of another controller of the same host. */
static void two_controllers_swap_their_ids(void **state)
{
	struct traffic_config c = machines();

	phase(&c, 0, 1, 1, 1, 0, 1000);
	phase(&c, 1, 2, 1, 1, 0, 1000);
	phase(&c, 0, 2, 2, 2, 1020, 2000);
	phase(&c, 1, 1, 2, 2, 1020, 2000);
	phase(&c, 0, 1, 3, 3, 2020, 3000);
	phase(&c, 1, 2, 3, 3, 2020, 3000);
	however_it_comes(&c);
}

/*
 * Each connect makes a controller with another number on the host, and with the same id at the
 * target.
 */
static void a_subsystem_goes_and_comes_as_another_controller(void **state)
{
	struct traffic_config c = machines();

	for (unsigned int i = 0; i < 5; i++) {
		phase(&c, i, 1, 1, 1 + i, 400 * i, 400 * i + 390);
		/* The target has the slots of the first controller. */
		c.queue[2 * i].slot = c.queue[2 * i + 1].slot = 0;
		c.queue[2 * i + 1].slot++;
		c.queue[2 * i].gen = c.queue[2 * i + 1].gen = 1 + i;
	}
	however_it_comes(&c);
}

static void a_new_controller_of_the_host_takes_over_an_id(void **state)
{
	struct traffic_config c = machines();

	phase(&c, 0, 1, 1, 1, 0, 1000);
	phase(&c, 3, 1, 1, 1, 1010, 2000);
	however_it_comes(&c);
}

static void a_tracer_that_is_started_again_is_another_stream(void **state)
{
	struct traffic_config c = machines();

	c.nr_streams = 3;
	c.stream[2] = c.stream[1];
	phase(&c, 0, 1, 1, 1, 0, 1000);
	phase(&c, 0, 1, 1, 2, 1000, 2000);
	c.queue[2].target = c.queue[3].target = 2;
	however_it_comes(&c);

	/* Another host. */
	c.stream[2] = c.stream[0];
	c.queue[2].target = c.queue[3].target = 1;
	c.queue[2].host = c.queue[3].host = 2;
	must_match_all(&c, &(struct feed){0});
	must_match_all(&c, &(struct feed){.batch_ns = {[NT_TARGET] = 200 * MS}});
}

/* Everything that can change may change at any time, a hundred times. */
static void resets_at_random_match_all_and_nothing_wrongly(void **state)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct traffic chance = {.random = seed * 2654435761ULL};
		struct traffic_config c = machines();
		uint64_t at[2] = {0};
		uint32_t gen[2] = {0};
		struct feed f = {0};

		c.seed = seed * 7919;
		for (unsigned int i = 0; i < 20; i++) {
			unsigned int who = i % 2;
			uint64_t until = at[who] + 50 + traffic_random(&chance, 400);
			uint16_t cntlid = (uint16_t)(1 + who + 2 * traffic_random(&chance, 2));

			gen[who]++;
			phase(&c, who, cntlid, traffic_random(&chance, 2) ? gen[who] : gen[who] / 2,
			      gen[who], at[who], until);
			at[who] = until + 1 + traffic_random(&chance, 20);
		}
		if (seed % 3)
			f.batch_ns[seed % 3 - 1] = 200 * MS;
		must_match_all(&c, &f);
	}
}

#define QUEUES 65
#define RECONNECTS 1000
#define PER_CONNECT 4

struct counted {
	uint64_t matched, wrong, single;
};

static void count_matched(void *context, const struct merge_connection *c,
			  const struct nt_record *host, const struct nt_record *target)
{
	struct counted *n = context;

	assert_int_equal(c->cntlid, host->cntlid);
	n->matched++;
	n->wrong += host->slba != target->slba;
}

static void count_single(void *context, const struct merge_connection *c, const struct nt_record *r,
			 bool ambiguous)
{
	struct counted *n = context;

	n->single++;
}

static void tell(struct merge *m, unsigned int stream, enum nt_side side, uint32_t qid,
		 uint16_t cntlid, uint32_t gen)
{
	struct queue_info q = {.slot = qid,
			       .gen = gen,
			       .cntlid = cntlid,
			       .qid = (uint16_t)qid,
			       .subsysnqn = "nqn.a",
			       .hostnqn = "nqn.host"};

	snprintf(q.subsysnqn, sizeof(q.subsysnqn), "nqn.%u", stream ? stream : 1);
	assert_int_equal(merge_queue(m, stream, side, &q), 0);
}

/* One command. From send to done it takes 10 us in each direction. */
static void command(struct merge *m, uint32_t qid, uint16_t cntlid, uint32_t gen, uint64_t n)
{
	uint64_t at = SECOND + n * 50000;
	struct nt_record r = {.side = NT_HOST,
			      .op = NT_OP_READ,
			      .opcode = 2,
			      .cid = (uint16_t)n,
			      .qid = (uint16_t)qid,
			      .cntlid = cntlid,
			      .slot = qid,
			      .gen = gen,
			      .nsid = 1,
			      .length = 4096,
			      .slba = 8 * n};
	struct nt_record t = r;

	r.points[NT_H_SUBMIT] = at;
	r.points[NT_H_QUEUE_RQ] = at + 1000;
	r.points[NT_H_SEND_CMD] = at + 2000;
	r.points[NT_H_RX] = at + 30000;
	r.points[NT_H_CQE] = at + 31000;
	r.points[NT_H_COMPLETE] = at + 32000;
	t.side = NT_TARGET;
	t.points[NT_T_RX] = at + 12000 + HOUR;
	t.points[NT_T_CMD] = at + 13000 + HOUR;
	t.points[NT_T_EXEC] = at + 14000 + HOUR;
	t.points[NT_T_DONE] = at + 18000 + HOUR;
	t.points[NT_T_SEND] = at + 20000 + HOUR;
	t.points[NT_T_SENT] = at + 21000 + HOUR;
	assert_int_equal(merge_record(m, 1, &t), 0);
	assert_int_equal(merge_record(m, 0, &r), 0);
}

/* The number of reconnects in a test. Memory is measured when a tenth are done, and at the end. */
#define MANY_RECONNECTS 10000
/*
 * Memory may differ by this much: it depends on how long ago the last clean-up was at the last
 * reconnect.
 */
#define HELD_BYTES (1 << 20)

static size_t held(void)
{
	return mallinfo2().uordblks;
}

/*
 * Both records of command @n of a queue to @peer. From send to done it takes 10 us in each
 * direction.
 */
static void command_of(struct merge *m, unsigned int peer, uint32_t qid, uint16_t cntlid,
		       uint32_t gen, uint64_t n)
{
	uint64_t at = SECOND + n * 20000;
	struct nt_record r = {.side = NT_HOST,
			      .op = NT_OP_READ,
			      .opcode = 2,
			      .cid = (uint16_t)n,
			      .qid = (uint16_t)qid,
			      .cntlid = cntlid,
			      .slot = peer * QUEUES + qid,
			      .gen = gen,
			      .nsid = 1,
			      .length = 4096,
			      .slba = 8 * n};
	struct nt_record t = r;

	r.points[NT_H_SEND_CMD] = at + 2000;
	r.points[NT_H_RX] = at + 30000;
	r.points[NT_H_CQE] = at + 31000;
	r.points[NT_H_COMPLETE] = at + 32000;
	t.side = NT_TARGET;
	t.slot = qid;
	t.points[NT_T_RX] = at + 12000 + HOUR + peer * SECOND;
	t.points[NT_T_EXEC] = at + 14000 + HOUR + peer * SECOND;
	t.points[NT_T_DONE] = at + 18000 + HOUR + peer * SECOND;
	t.points[NT_T_SEND] = at + 20000 + HOUR + peer * SECOND;
	t.points[NT_T_SENT] = at + 21000 + HOUR + peer * SECOND;
	assert_int_equal(merge_record(m, peer, &t), 0);
	assert_int_equal(merge_record(m, 0, &r), 0);
}

/* All queues to a peer connect. */
static void connect_peer(struct merge *m, unsigned int peer, uint16_t cntlid, uint32_t gen)
{
	for (uint32_t qid = 1; qid <= QUEUES; qid++) {
		struct queue_info q = {.slot = peer * QUEUES + qid,
				       .gen = gen,
				       .instance = peer,
				       .cntlid = cntlid,
				       .qid = (uint16_t)qid,
				       .hostnqn = "nqn.host"};

		snprintf(q.subsysnqn, sizeof(q.subsysnqn), "nqn.%u", peer);
		assert_int_equal(merge_queue(m, 0, NT_HOST, &q), 0);
		q.slot = qid;
		assert_int_equal(merge_queue(m, peer, NT_TARGET, &q), 0);
	}
}

/* Of @peers peers, the last one reconnects all the time, and gets @ids ids in turn. */
static void ten_thousand_reconnects(unsigned int peers, unsigned int ids)
{
	struct counted n = {0};
	struct merge_callbacks callbacks = {count_matched, count_single, &n};
	struct merge *m = merge_new(&callbacks);
	uint64_t commands = 0;
	size_t before = 0;

	assert_non_null(m);
	for (unsigned int peer = 1; peer < peers; peer++)
		connect_peer(m, peer, 1, 1);
	for (uint32_t gen = 1; gen <= MANY_RECONNECTS; gen++) {
		uint16_t cntlid = (uint16_t)(1 + gen % ids);

		connect_peer(m, peers, cntlid, gen);
		for (uint32_t i = 0; i < 8; i++) {
			uint32_t qid = 1 + gen % QUEUES;

			command_of(m, peers, qid, cntlid, gen, commands++);
			if (peers > 1)
				command_of(m, 1 + i % (peers - 1), qid, 1, 1, commands++);
		}
		expire_all(m, 5 * SECOND);
		if (gen == MANY_RECONNECTS / 10)
			before = held();
	}
	assert_true(held() <= before + HELD_BYTES);
	merge_finish(m);
	print_message(
		"# %llu commands, matched %llu, single %llu, unknown %llu, held %zu then %zu\n",
		(unsigned long long)commands, (unsigned long long)n.matched,
		(unsigned long long)n.single, (unsigned long long)merge_strays(m)->records, before,
		held());
	assert_int_equal(n.wrong, 0);
	assert_int_equal(2 * n.matched + n.single + merge_strays(m)->records, 2 * commands);
	assert_int_equal(n.matched, commands);
	merge_free(m);
}

static void ten_thousand_reconnects_cost_no_memory_and_no_command(void **state)
{
	ten_thousand_reconnects(1, 1);
	ten_thousand_reconnects(1, 60000);
}

static void ten_thousand_reconnects_of_one_of_16_peers_spoil_nothing(void **state)
{
	ten_thousand_reconnects(16, 1);
	ten_thousand_reconnects(16, 60000);
}

/* @ids: number of ids that the target gives in turn */
static void reconnecting(unsigned int ids)
{
	struct counted n = {0};
	struct merge_callbacks callbacks = {count_matched, count_single, &n};
	struct merge *m = merge_new(&callbacks);
	uint64_t commands = 0;

	assert_non_null(m);
	for (uint32_t gen = 1; gen <= RECONNECTS; gen++) {
		uint16_t cntlid = (uint16_t)(1 + gen % ids);

		for (uint32_t qid = 1; qid <= QUEUES; qid++) {
			tell(m, 0, NT_HOST, qid, cntlid, gen);
			tell(m, 1, NT_TARGET, qid, cntlid, gen);
		}
		for (uint32_t i = 0; i < PER_CONNECT; i++)
			for (uint32_t qid = 1; qid <= QUEUES; qid++)
				command(m, qid, cntlid, gen, commands++);
	}
	merge_finish(m);
	assert_int_equal(n.wrong, 0);
	assert_int_equal(merge_strays(m)->records, 0);
	assert_int_equal(n.single, 0);
	assert_int_equal(n.matched, commands);
	assert_true(merge_connections(m) <= QUEUES * (ids < 16 ? ids : 16));
	merge_free(m);
}

static void a_thousand_reconnects_are_one_connection(void **state)
{
	reconnecting(1);
	reconnecting(3);
}

static void ids_that_never_come_back_do_not_use_up_what_there_is(void **state)
{
	reconnecting(60000);
}

/* A peer that reconnects its queues all the time leaves room for the queues of others. */
static void one_of_many_peers_that_reconnects_spoils_nothing(void **state)
{
	struct counted n = {0};
	struct merge_callbacks callbacks = {count_matched, count_single, &n};
	struct merge *m = merge_new(&callbacks);
	uint64_t commands = 0;

	assert_non_null(m);
	for (uint32_t qid = 1; qid <= QUEUES; qid++) {
		tell(m, 0, NT_HOST, qid, 1, 1);
		tell(m, 1, NT_TARGET, qid, 1, 1);
	}
	for (uint32_t gen = 1; gen <= RECONNECTS; gen++) {
		for (uint32_t qid = 1; qid <= QUEUES; qid++)
			for (unsigned int peer = 2; gen == 1 && peer <= 16; peer++)
				tell(m, peer, NT_TARGET, qid, 1, 1);
		for (uint32_t qid = 1; qid <= QUEUES; qid++)
			tell(m, 16, NT_TARGET, qid, (uint16_t)gen, gen);
		for (uint32_t i = 0; i < 2; i++)
			command(m, 1 + (uint32_t)(commands % QUEUES), 1, 1, commands), commands++;
	}
	merge_finish(m);
	assert_int_equal(n.wrong, 0);
	assert_int_equal(merge_strays(m)->records, 0);
	assert_int_equal(n.matched, commands);
	merge_free(m);
}

/*
 * Traffic of one connection. The stream of @late describes the controller's id after @when of its
 * records. @again: an earlier connection had that id, too. Return: how many commands were matched
 */
static uint64_t matched_though_the_id_came_late(enum nt_side late, uint64_t when, bool again)
{
	struct traffic_config c = traffic_of_one_queue();
	struct queue_info known[NT_SIDES];
	struct traffic_record r;
	struct outcome o;
	struct merge *m;
	struct traffic *t;
	uint64_t nr = 0;

	c.commands = 10000;
	t = traffic_new(&c);
	m = outcome_merge(&o, &c);
	for (unsigned int i = 0; i < c.nr_streams; i++) {
		struct queue_info q = traffic_stream_queue(&c, 0, (enum nt_side)i);

		known[i] = q;
		q.gen--;
		if (again && i == late)
			assert_int_equal(merge_queue(m, i, (enum nt_side)i, &q), 0);
		q.gen++;
		q.cntlid = i == late ? NT_CNTLID_NONE : q.cntlid;
		assert_int_equal(merge_queue(m, i, (enum nt_side)i, &q), 0);
	}
	while (traffic_next(t, &r)) {
		if (r.r.side == late && nr++ == when)
			assert_int_equal(merge_queue(m, late, late, &known[late]), 0);
		/* Some records were made before that, and come after it. */
		if (r.r.side == late && nr < when + 100)
			r.r.cntlid = NT_CNTLID_NONE;
		outcome_note(&o, &r);
		assert_int_equal(merge_record(m, r.stream, &r.r), 0);
	}
	merge_end(m, !late);
	if (nr <= when)
		assert_int_equal(merge_queue(m, late, late, &known[late]), 0);
	merge_end(m, late);
	merge_finish(m);
	outcome_check(&o, m);
	assert_int_equal(o.wrong, 0);
	assert_int_equal(merge_strays(m)->records, 0);
	merge_free(m);
	traffic_free(t);
	outcome_free(&o);
	return o.right;
}

static void records_made_before_the_id_is_known_are_matched_when_it_is(void **state)
{
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(matched_though_the_id_came_late(i & 1 ? NT_HOST : NT_TARGET,
								 i & 2 ? 5000 : 10000, i & 4),
				 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_controller_that_is_reset_gets_another_id),
		cmocka_unit_test(a_reset_begins_a_generation_on_both_sides),
		cmocka_unit_test(two_controllers_swap_their_ids),
		cmocka_unit_test(a_subsystem_goes_and_comes_as_another_controller),
		cmocka_unit_test(a_new_controller_of_the_host_takes_over_an_id),
		cmocka_unit_test(a_tracer_that_is_started_again_is_another_stream),
		cmocka_unit_test(resets_at_random_match_all_and_nothing_wrongly),
		cmocka_unit_test(a_thousand_reconnects_are_one_connection),
		cmocka_unit_test(ids_that_never_come_back_do_not_use_up_what_there_is),
		cmocka_unit_test(one_of_many_peers_that_reconnects_spoils_nothing),
		cmocka_unit_test(records_made_before_the_id_is_known_are_matched_when_it_is),
		cmocka_unit_test(ten_thousand_reconnects_cost_no_memory_and_no_command),
		cmocka_unit_test(ten_thousand_reconnects_of_one_of_16_peers_spoil_nothing),
	};

	return cmocka_run_group_tests_name("reconnect", tests, NULL, NULL);
}
