// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hundreds of thousands of queues: a merge knows a limited number, and the others cost nearly
 * nothing. Numbers of repetitions are so high that a test would not end if each repetition cost as
 * much as all known queues together.
 */
#include "merge/merge.h"
#include "merge/testing.h"

#include "core/array.h"
#include "merge/topology.h"

#define QUEUES 150000u
_Static_assert(QUEUES<TOPOLOGY_SLOTS_MAX && QUEUES> TOPOLOGY_ENDPOINTS_MAX, "too many, in slots");

static struct queue_info queue_of(uint32_t slot, uint32_t gen, unsigned int id)
{
	struct queue_info q = {.slot = slot,
			       .gen = gen,
			       .instance = id / 64,
			       .cntlid = (uint16_t)(1 + id / 64),
			       .qid = (uint16_t)(1 + id % 64),
			       .subsysnqn = "nqn.disk"};

	return q;
}

/* The host's record of a command of the queue. */
static struct nt_record host_record(const struct queue_info *q, uint64_t at)
{
	struct nt_record r = {.side = NT_HOST,
			      .op = NT_OP_READ,
			      .opcode = 2,
			      .slot = q->slot,
			      .gen = q->gen,
			      .qid = q->qid,
			      .cntlid = q->cntlid,
			      .nsid = 1,
			      .cid = (uint16_t)(at / 1000000 % 64),
			      .slba = at,
			      .length = 4096};

	r.points[NT_H_QUEUE_RQ] = at;
	r.points[NT_H_SEND_CMD] = at + 1000;
	r.points[NT_H_RX] = at + 50000;
	r.points[NT_H_COMPLETE] = at + 60000;
	return r;
}

static void host_alone(struct merge *m, const struct queue_info *q, uint64_t at)
{
	struct nt_record r = host_record(q, at);

	assert_int_equal(merge_record(m, 0, &r), 0);
}

/*
 * One command of the queue, recorded by both sides. @at: by either side's clock
 *
 * Return: how many of the two records are of a queue past the limits
 */
static uint64_t command(struct merge *m, const struct queue_info *q, uint64_t at)
{
	struct nt_record host = host_record(q, at), target = host;
	uint64_t before = merge_strays(m)->past_limits;

	memset(target.points, 0, sizeof(target.points));
	target.side = NT_TARGET;
	target.points[NT_T_RX] = at + 10000;
	target.points[NT_T_SEND] = at + 40000;
	target.points[NT_T_SENT] = at + 41000;
	assert_int_equal(merge_record(m, 0, &host), 0);
	assert_int_equal(merge_record(m, 1, &target), 0);
	return merge_strays(m)->past_limits - before;
}

static void queues_that_there_is_no_room_for_cost_little(void **state)
{
	struct merge *m = merge_new(&(struct merge_callbacks){0});
	uint64_t past = 0, at = SECOND;
	unsigned int commands = 0;

	assert_non_null(m);
	for (unsigned int round = 0; round < 4; round++) {
		for (unsigned int id = 0; id < QUEUES; id++) {
			struct queue_info q = queue_of(id, 1, id);

			assert_int_equal(merge_queue(m, 0, NT_HOST, &q), 0);
			assert_int_equal(merge_queue(m, 1, NT_TARGET, &q), 0);
		}
	}
	for (unsigned int id = 0; id < QUEUES; id += 16) {
		struct queue_info q = queue_of(id, 1, id);

		for (unsigned int i = 0; i < 4; i++, commands++, at += MS)
			past += command(m, &q, at);
	}
	merge_finish(m);
	/* Queues that were described first are known, and all their commands are matched. */
	assert_int_equal(past, 2 * (commands - TOPOLOGY_ENDPOINTS_MAX / 2 / 16 * 4));
	for (unsigned int i = 0; i < merge_connections(m); i++)
		assert_int_equal(merge_connection(m, i)->matched, 4);
	assert_int_equal(merge_connections(m), TOPOLOGY_ENDPOINTS_MAX / 2 / 16);
	merge_free(m);
}

/* The last slot number, and the first one past the limit. */
static void slots_past_the_limit_are_counted(void **state)
{
	struct merge *m = merge_new(&(struct merge_callbacks){0});
	struct queue_info last = queue_of(TOPOLOGY_SLOTS_MAX - 1, 1, 1);
	struct queue_info past = queue_of(TOPOLOGY_SLOTS_MAX, 1, 2);
	uint64_t at = SECOND;

	assert_non_null(m);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(merge_queue(m, i, i ? NT_TARGET : NT_HOST, &last), 0);
		assert_int_equal(merge_queue(m, i, i ? NT_TARGET : NT_HOST, &past), 0);
	}
	for (unsigned int i = 0; i < 100; i++, at += MS) {
		assert_int_equal(command(m, &last, at), 0);
		assert_int_equal(command(m, &past, at), 2);
	}
	merge_finish(m);
	assert_int_equal(merge_connections(m), 1);
	assert_int_equal(merge_connection(m, 0)->matched, 100);
	assert_int_equal(merge_strays(m)->records, 0);
	merge_free(m);
}

/* The queues that follow in the slot of a queue are already known from other slots. */
static void release(struct merge *m, unsigned int slot)
{
	struct queue_info gone = queue_of(slot, 1, slot);

	for (unsigned int gen = 2; gen < 2 + TOPOLOGY_GENERATIONS; gen++) {
		struct queue_info other = queue_of(slot, gen, 1000 + gen);

		assert_int_equal(merge_queue(m, 0, NT_HOST, &other), 0);
		assert_int_equal(merge_queue(m, 1, NT_TARGET, &other), 0);
	}
	assert_int_equal(command(m, &gone, SECOND), 2);
}

/*
 * The slot of the queue belongs to others now. It makes room for another one at once, although
 * there were too many queues.
 */
static void a_queue_that_is_gone_makes_room(void **state)
{
	struct merge *m = merge_new(&(struct merge_callbacks){0});
	unsigned int next = TOPOLOGY_ENDPOINTS_MAX / 2;

	assert_non_null(m);
	for (unsigned int id = 0; id < QUEUES; id++) {
		struct queue_info q = queue_of(id, 1, id);

		assert_int_equal(merge_queue(m, 0, NT_HOST, &q), 0);
		assert_int_equal(merge_queue(m, 1, NT_TARGET, &q), 0);
	}
	/* The second of two is released when there is room already. */
	for (unsigned int slot = 0; slot < 100; slot += 2) {
		release(m, slot);
		release(m, slot + 1);
		for (unsigned int i = 0; i < 2; i++, next++) {
			struct queue_info q = queue_of(next, 2, next);

			assert_int_equal(command(m, &q, SECOND), 2);
			assert_int_equal(merge_queue(m, 0, NT_HOST, &q), 0);
			assert_int_equal(merge_queue(m, 1, NT_TARGET, &q), 0);
			assert_int_equal(command(m, &q, SECOND), 0);
		}
	}
	merge_free(m);
}

/* Without a target every queue is a connection of its own. There is room for endpoint of the
 * queues. */
static void commands_past_the_last_connection_cost_little(void **state)
{
	struct merge *m = merge_new(&(struct merge_callbacks){0});
	enum { ROUNDS = 12, NR = TOPOLOGY_ENDPOINTS_MAX };
	uint64_t told = 0;

	assert_non_null(m);
	for (unsigned int id = 0; id < NR; id++) {
		struct queue_info q = queue_of(id, 1, id);

		assert_int_equal(merge_queue(m, 0, NT_HOST, &q), 0);
	}
	for (unsigned int i = 0; i < ROUNDS * NR; i++) {
		struct queue_info q = queue_of(i % NR, 1, i % NR);
		struct nt_record r = {.side = NT_HOST,
				      .opcode = 2,
				      .slot = q.slot,
				      .gen = q.gen,
				      .qid = q.qid,
				      .cntlid = q.cntlid,
				      .slba = i};

		r.points[NT_H_SEND_CMD] = i * 1000ULL;
		r.points[NT_H_COMPLETE] = (i + 50) * 1000ULL;
		assert_int_equal(merge_record(m, 0, &r), 0);
	}
	merge_finish(m);
	assert_int_equal(merge_connections(m), TOPOLOGY_CONNECTIONS_MAX);
	for (unsigned int i = 0; i < merge_connections(m); i++)
		told += merge_connection(m, i)->host_only;
	assert_int_equal(told, ROUNDS * TOPOLOGY_CONNECTIONS_MAX);
	assert_int_equal(told + merge_strays(m)->past_limits, ROUNDS * NR);
	merge_free(m);
}

/*
 * Thousands of controllers with one name and one id. They look the same, so the merge does not
 * compare them.
 */
static void a_crowd_of_one_name_costs_little(void **state)
{
	struct merge *m = merge_new(&(struct merge_callbacks){0});
	enum { ALIKE = TOPOLOGY_ALIKE_MAX + 64, EACH = 4 };
	uint64_t at = SECOND, all = 0;

	assert_non_null(m);
	/* The last 64 are past the limit. */
	for (unsigned int i = 0; i < ALIKE; i++) {
		struct queue_info q = queue_of(i, 1, 0);

		q.instance = i;
		assert_int_equal(merge_queue(m, 0, NT_HOST, &q), 0);
		if (!i)
			assert_int_equal(merge_queue(m, 1, NT_TARGET, &q), 0);
	}
	for (unsigned int i = 0; i < EACH * ALIKE; i++, at += MS / 10) {
		struct queue_info q = queue_of(i % ALIKE, 1, 0);

		command(m, &q, at);
	}
	merge_finish(m);
	for (unsigned int i = 0; i < merge_connections(m); i++) {
		const struct merge_connection *c = merge_connection(m, i);

		assert_int_equal(c->matched, 0);
		all += c->host_only + c->target_only + c->ambiguous;
	}
	assert_int_equal(all + merge_strays(m)->past_limits + merge_strays(m)->records,
			 2 * EACH * ALIKE);
	assert_int_equal(merge_strays(m)->past_limits, EACH * 64);
	/* The target has described the first slot only. */
	assert_int_equal(merge_strays(m)->records, EACH * (ALIKE - 1));
	merge_free(m);
}

/* What a stream may do to another one of its side. */
struct hostile {
	const char *what;
	uint32_t queues;     /* that it has at a time */
	uint32_t ids;	     /* controller ids of its queues; their queue ids are 1 */
	unsigned int rounds; /* it has so many times that many queues, one after the other */
	bool records;	     /* it has a record of each queue */
};

static void add_hostile(struct merge *m, const struct hostile *h)
{
	uint64_t at = SECOND;

	for (uint32_t i = 0; i < h->rounds * h->queues; i++, at += 1000) {
		struct queue_info q = {.slot = i % h->queues, .gen = 1 + i / h->queues, .qid = 1};
		struct nt_record r = {.side = NT_TARGET, .slot = q.slot, .gen = q.gen, .qid = 1};

		q.cntlid = r.cntlid = (uint16_t)(1 + i % h->ids);
		r.points[NT_T_RX] = at;
		r.points[NT_T_SENT] = at + 100;
		snprintf(q.subsysnqn, sizeof(q.subsysnqn), "nqn.%u", i);
		assert_int_equal(merge_queue(m, 2, NT_TARGET, &q), 0);
		if (h->records)
			assert_int_equal(merge_record(m, 2, &r), 0);
		if (h->records && i % h->queues == 0)
			expire_all(m, 0);
	}
}

/* A host, its target, and another target that has all that it can get before these come. */
static void no_stream_takes_the_room_of_another(void **state)
{
	static const struct hostile hostile[] = {
		{"queues", .queues = 140000, .ids = 60000, .rounds = 1},
		{"queues that look like the target's", .queues = 10000, .ids = 1, .rounds = 1},
		{"connections", .queues = 30000, .ids = 60000, .rounds = 4, .records = true},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(hostile); i++) {
		struct merge *m = merge_new(&(struct merge_callbacks){0});
		const struct merge_connection *c;
		uint64_t past = 0, at = SECOND;
		unsigned int matched = 0;

		print_message("# %s\n", hostile[i].what);
		assert_non_null(m);
		for (unsigned int stream = 0; stream < 3; stream++)
			assert_int_equal(merge_stream(m, stream, stream ? NT_TARGET : NT_HOST), 0);
		add_hostile(m, &hostile[i]);
		for (unsigned int k = 0; k < 100; k++) {
			struct queue_info q = queue_of(k, 1, k);

			assert_int_equal(merge_queue(m, 0, NT_HOST, &q), 0);
			assert_int_equal(merge_queue(m, 1, NT_TARGET, &q), 0);
			for (unsigned int n = 0; n < 4; n++, at += MS)
				past += command(m, &q, at);
		}
		merge_finish(m);
		assert_int_equal(past, 0);
		for (unsigned int k = 0; (c = merge_connection(m, k)); k++)
			if (c->host_stream == 0 && c->target_stream == 1)
				matched += (unsigned int)c->matched;
		assert_int_equal(matched, 400);
		merge_free(m);
	}
}

/* Only this many queues of one name are compared. */
#define CROWD 64u

/*
 * The host has @nr queues of one name. The target has the commands of the last one.
 *
 * Return: the number of matched commands
 */
static uint64_t matched_in_crowd(unsigned int nr, uint64_t *in_crowd)
{
	struct merge *m = merge_new(&(struct merge_callbacks){0});
	enum { COMMANDS = 200, OTHERS = 2 };
	uint64_t at = SECOND, matched = 0, all = 0;

	assert_non_null(m);
	for (unsigned int i = 0; i < nr; i++) {
		struct queue_info q = queue_of(i, 1, 0);

		q.instance = i;
		assert_int_equal(merge_queue(m, 0, NT_HOST, &q), 0);
		/*
		 * Records wait at each of these queues. The target's records, of the last queue,
		 * match none of them.
		 */
		for (unsigned int k = 0; k < OTHERS && i < nr - 1; k++, at += MS)
			host_alone(m, &q, at);
	}
	for (unsigned int k = 0; k < COMMANDS; k++, at += MS + k * 1000) {
		struct queue_info q = queue_of(nr - 1, 1, 0);

		if (!k)
			assert_int_equal(merge_queue(m, 1, NT_TARGET, &q), 0);
		command(m, &q, at);
	}
	merge_finish(m);
	for (unsigned int i = 0; i < merge_connections(m); i++) {
		const struct merge_connection *c = merge_connection(m, i);

		matched += c->matched;
		all += c->host_only + c->target_only + c->ambiguous;
	}
	assert_int_equal(all + 2 * matched, (nr - 1) * OTHERS + 2 * COMMANDS);
	*in_crowd = merge_strays(m)->in_crowd;
	assert_true(*in_crowd == 0 || *in_crowd == all);
	merge_free(m);
	return matched;
}

/*
 * Another host's stream has so many queues that may be any host's, with records at each. They are
 * left alone, and not the host whose commands the target has.
 */
static void a_crowd_of_one_stream_hides_no_other(void **state)
{
	struct merge *m = merge_new(&(struct merge_callbacks){0});
	enum { COMMANDS = 1000, HOSTILE = 2 };
	const struct queue_info q = queue_of(0, 1, 0);
	struct queue_info like = {.gen = 1, .cntlid = q.cntlid, .qid = q.qid};
	uint64_t at = SECOND, matched = 0;

	assert_non_null(m);
	assert_int_equal(merge_stream(m, HOSTILE, NT_HOST), 0);
	for (like.slot = 0; like.slot < 3 * CROWD; like.slot++) {
		struct nt_record r = host_record(&like, at + like.slot);

		like.instance = like.slot;
		assert_int_equal(merge_queue(m, HOSTILE, NT_HOST, &like), 0);
		assert_int_equal(merge_record(m, HOSTILE, &r), 0);
	}
	assert_int_equal(merge_queue(m, 0, NT_HOST, &q), 0);
	assert_int_equal(merge_queue(m, 1, NT_TARGET, &q), 0);
	for (unsigned int k = 0; k < COMMANDS; k++, at += MS + k * 1000)
		command(m, &q, at);
	merge_finish(m);
	for (unsigned int i = 0; i < merge_connections(m); i++)
		matched += merge_connection(m, i)->matched;
	assert_int_equal(matched, COMMANDS);
	assert_int_equal(merge_strays(m)->in_crowd, 3 * CROWD);
	merge_free(m);
}

static void those_past_so_many_of_one_name_are_counted(void **state)
{
	uint64_t in_crowd;

	assert_int_equal(matched_in_crowd(CROWD, &in_crowd), 200);
	assert_int_equal(in_crowd, 0);
	assert_int_equal(matched_in_crowd(CROWD + 1, &in_crowd), 0);
	assert_int_equal(in_crowd, CROWD * 2 + 2 * 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues_that_there_is_no_room_for_cost_little),
		cmocka_unit_test(slots_past_the_limit_are_counted),
		cmocka_unit_test(a_queue_that_is_gone_makes_room),
		cmocka_unit_test(commands_past_the_last_connection_cost_little),
		cmocka_unit_test(a_crowd_of_one_name_costs_little),
		cmocka_unit_test(no_stream_takes_the_room_of_another),
		cmocka_unit_test(a_crowd_of_one_stream_hides_no_other),
		cmocka_unit_test(those_past_so_many_of_one_name_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
