// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of a record where many commands look alike, and where the other side is late, has
 * stopped or never existed. It is at most twice the cost where all addresses are unique and both
 * sides record. And the cost of what one stream can send to hold up all others. The unit is basic
 * blocks that the merge passes: the compiler puts a call into each of them (see the Makefile), and
 * the number is the same in every run.
 */
#include "merge/testing.h"

#include "merge/places.h"
#include "merge/timeline.h"
#include "merge/topology.h"
#include "merge/unmatched.h"

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

static struct traffic_config machines(unsigned int hot_percent, unsigned int depth)
{
	struct traffic_config c = {
		.stream = {{NT_HOST, 0, 0}, {NT_TARGET, -300 * (int64_t)SECOND, 20}},
		.nr_streams = 2,
		.nr_queues = 4,
		.seed = 88172645463325252ULL,
		.percent = {100},
		.hot_percent = hot_percent,
		.network_ns = 20000,
		.device_ns = 100000,
		.think_ns = depth * 64000,
	};

	for (unsigned int i = 0; i < c.nr_queues; i++)
		c.queue[i] = (struct traffic_queue){.target = 1,
						    .nqn = "nqn.a",
						    .cntlid = 1,
						    .qid = (uint16_t)(1 + i),
						    .slot = i,
						    .gen = 1,
						    .depth = depth,
						    .end_ns = (depth > 1 ? 4 : 8) * SECOND};
	return c;
}

static uint64_t blocks_a_record(const char *what, const struct traffic_config *c,
				const struct feed *f)
{
	uint64_t before = blocks, each;
	struct outcome o;

	run(&o, c, f);
	each = (blocks - before) / (o.fed[NT_HOST] + o.fed[NT_TARGET]);
	print_message("# %s: %llu blocks a record\n", what, (unsigned long long)each);
	return each;
}

static void trouble_costs_twice_as_much_at_the_most(void **state)
{
	static const struct {
		const char *what;
		struct feed f;
	} feeds[] = {
		{"both sides", {.batch_ns = {0}}},
		{"the target is late", {.from_ns = {[NT_TARGET] = SECOND}}},
		{"the host is late", {.from_ns = {[NT_HOST] = SECOND}}},
		{"the target stops", {.to_ns = {[NT_TARGET] = SECOND}}},
		{"the target stops, live",
		 {.to_ns = {[NT_TARGET] = SECOND},
		  .batch_ns = {[NT_TARGET] = 200 * MS},
		  .expire_ns = 5 * SECOND}},
		{"the host stops", {.to_ns = {[NT_HOST] = SECOND}}},
		{"the target never was there", {.without_target = true}},
	};
	static const struct {
		unsigned int hot_percent, depth;
	} loads[] = {{0, 32}, {90, 32}, {98, 32}, {100, 1}};
	struct traffic_config unique = machines(0, 32);
	uint64_t usual = blocks_a_record("unique addresses", &unique, &(struct feed){0});

	assert_true(usual > 0);
	for (size_t l = 0; l < sizeof(loads) / sizeof(loads[0]); l++) {
		struct traffic_config c = machines(loads[l].hot_percent, loads[l].depth);

		for (size_t i = 0; i < sizeof(feeds) / sizeof(feeds[0]); i++) {
			char what[128];

			snprintf(what, sizeof(what), "%u %% hot, depth %u, %s",
				 loads[l].hot_percent, loads[l].depth, feeds[i].what);
			assert_true(blocks_a_record(what, &c, &feeds[i].f) <= 2 * usual);
		}
	}
}

/* More than a queue frame, a record or an endpoint costs, and far less than a walk of many. */
#define BLOCKS_EACH 300

enum { HOST, TARGET, OTHER_TARGET };

/* A queue of the target, of which there is one for each @i. */
static void add_queue(struct merge *m, uint32_t slot, uint32_t gen, uint16_t cntlid, uint32_t i)
{
	struct queue_info q = {.slot = slot, .gen = gen, .cntlid = cntlid, .qid = 1};

	snprintf(q.hostnqn, sizeof(q.hostnqn), "nqn.%u", i);
	assert_int_equal(merge_queue(m, TARGET, NT_TARGET, &q), 0);
}

/* Return: a merge that knows three streams. */
static struct merge *streams(void)
{
	struct merge *m = merge_new(&(struct merge_callbacks){0});

	assert_non_null(m);
	assert_int_equal(merge_stream(m, HOST, NT_HOST), 0);
	assert_int_equal(merge_stream(m, TARGET, NT_TARGET), 0);
	assert_int_equal(merge_stream(m, OTHER_TARGET, NT_TARGET), 0);
	return m;
}

static void a_stream_with_many_like_queues_costs_others_little_when_they_end(void **state)
{
	struct merge *m = streams();
	const uint32_t nr = 8000;
	uint64_t before;

	for (uint32_t i = 0; i < nr; i++)
		add_queue(m, i, 1, (uint16_t)(1 + i % 8), i);
	before = blocks;
	merge_end(m, OTHER_TARGET);
	merge_end(m, TARGET);
	assert_uint_in_range(blocks - before, nr, BLOCKS_EACH * nr);
	merge_free(m);
}

/* Each queue takes the slot of another, when there are as many queues as there may be. */
static void a_queue_costs_little_when_there_is_no_room(void **state)
{
	struct merge *m = streams();
	const uint32_t more = 2000;
	struct nt_record r = {.side = NT_TARGET, .slot = 1 + more, .gen = 6, .qid = 1};
	uint32_t i = 0;
	uint64_t before;

	for (uint32_t slot = 0; slot < TOPOLOGY_ENDPOINTS_MAX / TOPOLOGY_GENERATIONS; slot++)
		for (uint32_t gen = 1; gen <= TOPOLOGY_GENERATIONS; gen++, i++)
			add_queue(m, slot, gen, (uint16_t)(1 + i % 1000), i);
	/* A queue that is known comes again in another slot. */
	add_queue(m, 1, 5, 1, 0);
	before = blocks;
	for (uint32_t k = 0; k < more; k++, i++)
		add_queue(m, 2 + k, 6, (uint16_t)(1 + i % 1000), i);
	assert_uint_in_range(blocks - before, more, BLOCKS_EACH * more);
	r.cntlid = (uint16_t)(1 + (i - 1) % 1000);
	assert_int_equal(merge_record(m, TARGET, &r), 0);
	assert_int_equal(merge_pending(m), 1);
	merge_free(m);
}

/*
 * Records wait at thousands of queues. Each is tried before a sweep, and no queue that is announced
 * pays for all of them.
 */
static void no_queue_pays_for_all_that_wait(void **state)
{
	struct merge *m = streams();
	const uint32_t nr = TOPOLOGY_MANY_ENDPOINTS + 2000;
	struct queue_info q = {.gen = 1, .cntlid = 1};
	uint64_t worst = 0, before;

	for (q.slot = 0; q.slot < nr; q.slot++) {
		struct nt_record r = {.side = NT_TARGET, .slot = q.slot, .gen = 1, .cntlid = 1};

		q.qid = r.qid = (uint16_t)(1 + q.slot % 64);
		snprintf(q.hostnqn, sizeof(q.hostnqn), "host%u", q.slot);
		before = blocks;
		assert_int_equal(merge_queue(m, TARGET, NT_TARGET, &q), 0);
		if (blocks - before > worst)
			worst = blocks - before;
		r.slba = q.slot;
		r.points[NT_T_RX] = SECOND + q.slot * 1000ULL;
		r.points[NT_T_SENT] = r.points[NT_T_RX] + 500;
		assert_int_equal(merge_record(m, TARGET, &r), 0);
	}
	printf("# %llu blocks at the most\n", (unsigned long long)worst);
	assert_uint_in_range(worst, 1, 100000);
	merge_free(m);
}

/* All have one queue id and no name, as before a host is known that they are connections of. */
static void a_record_costs_little_where_a_queue_has_many_connections(void **state)
{
	struct merge *m = streams();
	const uint32_t nr = 8000;
	uint64_t before = blocks;

	for (uint32_t i = 0; i < nr; i++) {
		struct nt_record r = {.side = NT_TARGET, .slot = i, .gen = 1, .qid = 1};

		r.cntlid = (uint16_t)(1 + i);
		r.slba = i;
		r.points[NT_T_RX] = SECOND + i * 1000ULL;
		r.points[NT_T_SENT] = r.points[NT_T_RX] + 500;
		add_queue(m, i, 1, r.cntlid, i);
		assert_int_equal(merge_record(m, TARGET, &r), 0);
	}
	merge_finish(m);
	assert_int_equal(merge_connections(m), nr);
	assert_uint_in_range(blocks - before, nr, 10 * BLOCKS_EACH * nr);
	merge_free(m);
}

/* A host's command on queue 1 of controller 1, @i, for which a target has no record. */
static void add_alone(struct merge *m, uint32_t i)
{
	const uint64_t at = SECOND + i * MS / 10;
	struct nt_record r = {.side = NT_HOST,
			      .gen = 1,
			      .cntlid = 1,
			      .qid = 1,
			      .cid = (uint16_t)i,
			      .slba = i,
			      .length = 4096};

	r.points[NT_H_SEND_CMD] = at;
	r.points[NT_H_RX] = at + 50000;
	assert_int_equal(merge_record(m, HOST, &r), 0);
}

static struct merge *streams_and_queue(void)
{
	const struct queue_info q = {.gen = 1, .cntlid = 1, .qid = 1, .hostnqn = "nqn.host"};
	struct merge *m = streams();

	assert_int_equal(merge_queue(m, HOST, NT_HOST, &q), 0);
	return m;
}

/* Queues get the id that they have in common only when they are known already. */
static void queues_that_get_their_id_later_cost_others_little(void **state)
{
	struct merge *m = streams_and_queue();
	const uint32_t nr = 20000, records = 1000;
	uint64_t before;

	for (uint32_t i = 0; i < nr; i++) {
		add_queue(m, i, 1, NT_CNTLID_NONE, i);
		add_queue(m, i, 1, 1, i);
	}
	before = blocks;
	for (uint32_t i = 0; i < records; i++) {
		add_queue(m, nr + i, 1, NT_CNTLID_NONE, nr + i);
		add_queue(m, nr + i, 1, 1, nr + i);
		add_alone(m, i);
	}
	print_message("# %llu blocks a record\n",
		      (unsigned long long)((blocks - before) / records));
	assert_uint_in_range(blocks - before, records, 50ULL * BLOCKS_EACH * records);
	merge_free(m);
}

/* Peers have as many queues as they may that look like the host's one, which is of no peer. */
static void a_record_of_no_peer_costs_little_whatever_queues_peers_have(void **state)
{
	struct merge *m = streams_and_queue();
	const uint32_t records = 2000;
	uint64_t before;

	for (uint32_t i = 0; i < 2 * TOPOLOGY_ALIKE_MAX; i++) {
		struct queue_info q = {.slot = i / 2, .gen = 1, .cntlid = 1, .qid = 1};

		snprintf(q.hostnqn, sizeof(q.hostnqn), "nqn.%u", i);
		assert_int_equal(merge_queue(m, i % 2 ? TARGET : OTHER_TARGET, NT_TARGET, &q), 0);
	}
	before = blocks;
	for (uint32_t i = 0; i < records; i++)
		add_alone(m, i);
	expire_all(m, 0);
	print_message("# %llu blocks a record\n",
		      (unsigned long long)((blocks - before) / records));
	assert_uint_in_range(blocks - before, records, 10ULL * BLOCKS_EACH * records);
	merge_free(m);
}

/* The same command of both sides, @i, with times that overlap those of all others but fit none. */
static void add_like(struct merge *m, uint32_t i)
{
	const uint64_t at = 10 * SECOND + i * 10ULL;
	struct nt_record host = {.side = NT_HOST, .slot = 1, .gen = 1, .cntlid = 1, .qid = 1};
	struct nt_record target = {.side = NT_TARGET, .slot = 1, .gen = 1, .cntlid = 1, .qid = 1};

	host.slba = target.slba = 8;
	host.length = target.length = 4096;
	host.points[NT_H_SUBMIT] = host.points[NT_H_SEND_CMD] = at;
	host.points[NT_H_COMPLETE] = host.points[NT_H_RX] = at + SECOND;
	target.points[NT_T_RX] = at + 1000;
	target.points[NT_T_SEND] = target.points[NT_T_SENT] = at + 2 * SECOND;
	assert_int_equal(merge_record(m, HOST, &host), 0);
	assert_int_equal(merge_record(m, TARGET, &target), 0);
}

static void commands_that_look_alike_and_do_not_fit_cost_little(void **state)
{
	const struct queue_info host = {.slot = 1, .gen = 1, .cntlid = 1, .qid = 1};
	const uint32_t nr = 20000;

	for (unsigned int known = 0; known < 2; known++) {
		const struct instant clock = {.monotonic_ns = SECOND, .realtime_ns = SECOND};
		struct merge *m = streams();
		uint64_t before = blocks;

		if (known) {
			merge_clock(m, HOST, "boot", &clock);
			merge_clock(m, TARGET, "boot", &clock);
		}
		assert_int_equal(merge_queue(m, HOST, NT_HOST, &host), 0);
		add_queue(m, 1, 1, 1, 0);
		for (uint32_t i = 0; i < nr; i++)
			add_like(m, i);
		merge_finish(m);
		print_message("# %llu blocks a record\n",
			      (unsigned long long)((blocks - before) / (2ULL * nr)));
		assert_uint_in_range(blocks - before, nr, 2ULL * nr * 100 * BLOCKS_EACH);
		merge_free(m);
	}
}

/* Of reads of one block at even times four are of other blocks, which both sides have read. */
static void add_regular(struct merge *m, unsigned int stream, uint32_t slot, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		const uint64_t at = (stream == HOST ? 50 : 100) * SECOND + i * MS / 10 + slot;
		struct nt_record r = {.side = stream == HOST ? NT_HOST : NT_TARGET,
				      .opcode = 2,
				      .slot = slot,
				      .gen = 1,
				      .cntlid = 1,
				      .qid = 1,
				      .slba = i % (nr / 4) ? 8 : 1000 + i / (nr / 4),
				      .length = 4096};

		if (stream == HOST) {
			r.points[NT_H_SUBMIT] = r.points[NT_H_SEND_CMD] = at;
			r.points[NT_H_COMPLETE] = r.points[NT_H_RX] = at + MS / 20;
		} else {
			r.points[NT_T_RX] = at + 10000;
			r.points[NT_T_SEND] = r.points[NT_T_SENT] = at + 40000;
		}
		assert_int_equal(merge_record(m, stream, &r), 0);
	}
}

/* A host has many queues that each may be the target's one, and none has shown that it is. */
static void queues_that_compete_cost_others_little(void **state)
{
	enum { ALIKE = 60, OF_TARGET = 1000, OF_EACH = 40 };
	struct merge *m = streams();
	struct queue_info q = {.slot = 1, .gen = 1, .cntlid = 1, .qid = 1};
	struct nt_record r = {.side = NT_HOST, .gen = 1, .cntlid = 2, .qid = 1};
	const uint64_t nr = OF_TARGET + ALIKE * OF_EACH;
	uint64_t before;

	add_queue(m, 1, 1, 1, 0);
	add_regular(m, TARGET, 1, OF_TARGET);
	for (q.slot = 0; q.slot < ALIKE; q.slot++) {
		q.instance = q.slot;
		assert_int_equal(merge_queue(m, HOST, NT_HOST, &q), 0);
		add_regular(m, HOST, q.slot, OF_EACH);
	}
	/* One of a queue that is nobody's, later: the others have waited for long. */
	q = (struct queue_info){.slot = ALIKE, .gen = 1, .cntlid = 2, .qid = 1};
	assert_int_equal(merge_queue(m, HOST, NT_HOST, &q), 0);
	r.slot = ALIKE;
	r.points[NT_H_SEND_CMD] = r.points[NT_H_RX] = 70 * SECOND;
	assert_int_equal(merge_record(m, HOST, &r), 0);
	before = blocks;
	expire_all(m, SECOND);
	print_message("# %llu blocks a record\n", (unsigned long long)((blocks - before) / nr));
	assert_uint_in_range(blocks - before, nr, nr * 100 * BLOCKS_EACH);
	merge_free(m);
}

static bool expire_turn(struct merge *m)
{
	return merge_expire(m, SECOND);
}

static bool end_turn(struct merge *m)
{
	return merge_end_some(m, TARGET);
}

static bool restart_turn(struct merge *m)
{
	return merge_restart(m, HOST);
}

/* Takes all turns. Return: the blocks of the dearest one */
static uint64_t dearest(struct merge *m, bool (*turn)(struct merge *m), unsigned int *turns)
{
	uint64_t most = 0, before;
	bool more = true;

	for (*turns = 0; more; ++*turns) {
		before = blocks;
		more = turn(m);
		if (blocks - before > most)
			most = blocks - before;
	}
	print_message("# %llu blocks in the dearest of %u turns\n", (unsigned long long)most,
		      *turns);
	return most;
}

static void no_turn_gives_up_all_that_wait(void **state)
{
	static bool (*const turn[])(struct merge * m) = {expire_turn, end_turn, restart_turn};
	const struct queue_info q = {.slot = 1, .gen = 1, .cntlid = 1, .qid = 1};

	for (unsigned int i = 0; i < 3; i++) {
		struct nt_record r = {.side = NT_HOST, .slot = 1, .gen = 1, .cntlid = 1, .qid = 1};
		struct merge *m = streams();
		unsigned int turns;

		add_queue(m, 1, 1, 1, 0);
		merge_end(m, OTHER_TARGET);
		assert_int_equal(merge_queue(m, HOST, NT_HOST, &q), 0);
		for (r.slba = 0; r.slba < PENDING_MAX; r.slba++) {
			r.points[NT_H_SEND_CMD] = r.points[NT_H_RX] = SECOND + r.slba * 1000;
			assert_int_equal(merge_record(m, HOST, &r), 0);
		}
		/* One that has not waited for long. */
		r.points[NT_H_SEND_CMD] = r.points[NT_H_RX] = 70 * SECOND;
		assert_int_equal(merge_record(m, HOST, &r), 0);
		assert_int_equal(merge_pending(m), PENDING_MAX);
		assert_uint_in_range(dearest(m, turn[i], &turns), 1, 4096 * BLOCKS_EACH);
		assert_uint_in_range(turns, PENDING_MAX / 4096, PENDING_MAX / 4000);
		assert_int_equal(merge_pending(m), turn[i] == expire_turn);
		merge_free(m);
	}
}

/* Each of many peers has many queues of one name, as a host has, and nothing tells them apart. */
static void no_turn_looks_at_all_like_queues(void **state)
{
	enum { PEERS = 15, OF_EACH = 40 };
	struct merge *m = merge_new(&(struct merge_callbacks){0});
	struct queue_info q = {.gen = 1, .cntlid = 1, .qid = 1};
	unsigned int turns;

	assert_non_null(m);
	for (unsigned int i = 0; i <= PEERS; i++) {
		assert_int_equal(merge_stream(m, i, i ? NT_TARGET : NT_HOST), 0);
		for (q.slot = 0; q.slot < (i ? TOPOLOGY_ALIKE_MAX : 60); q.slot++) {
			q.instance = q.slot;
			assert_int_equal(merge_queue(m, i, i ? NT_TARGET : NT_HOST, &q), 0);
			add_regular(m, i, q.slot, i ? 4 : OF_EACH);
		}
	}
	for (unsigned int i = 0; i <= PEERS; i++) {
		struct nt_record r = {
			.side = i ? NT_TARGET : NT_HOST, .gen = 1, .cntlid = 1, .qid = 1};

		r.points[0] = r.points[2] = r.points[6] = 70 * SECOND;
		assert_int_equal(merge_record(m, i, &r), 0);
	}
	assert_uint_in_range(dearest(m, expire_turn, &turns), 1, 20000 * BLOCKS_EACH);
	merge_free(m);
}

/* Where many hosts are connected to many targets, the clocks of two of them are found at once. */
static void a_link_of_many_machines_costs_little(void **state)
{
	enum { MACHINES = 64, LINKS = MACHINES * MACHINES };
	static struct topology t;
	struct endpoint host = {.side = NT_HOST}, target = {.side = NT_TARGET};
	const struct link *found[LINKS];
	uint64_t before;

	for (unsigned int i = 0; i < MACHINES; i++) {
		assert_int_equal(topology_stream_begins(&t, i, NT_HOST), 0);
		assert_int_equal(topology_stream_begins(&t, MACHINES + i, NT_TARGET), 0);
	}
	before = blocks;
	for (unsigned int i = 0; i < LINKS; i++) {
		host.stream = i % MACHINES;
		target.stream = MACHINES + i / MACHINES;
		found[i] = topology_link(&t, &host, &target);
		assert_non_null(found[i]);
	}
	assert_uint_in_range(blocks - before, LINKS, BLOCKS_EACH * LINKS);
	for (unsigned int i = 0; i < LINKS; i++)
		assert_ptr_equal(topology_link_of(&t, i % MACHINES, MACHINES + i / MACHINES),
				 found[i]);
	assert_int_equal(t.nr_links, LINKS);
	assert_null(topology_link_of(&t, MACHINES, 0));
	topology_free(&t);
}

/* Half of the namespaces have one name, the others another one: as a list they are short. */
static void names_of_many_devices_are_listed_at_little_cost(void **state)
{
	struct places *p = places_new();
	const uint32_t nr = 20000;
	char names[512];
	uint64_t before;

	for (uint32_t i = 0; i < nr; i++) {
		struct device_name d = {.nsid = i};

		snprintf(d.name, sizeof(d.name), "%s", i < nr / 2 ? "a" : "b");
		assert_int_equal(places_device(p, &d), 0);
	}
	before = blocks;
	assert_false(places_devices(p, "x", names, sizeof(names)));
	assert_string_equal(names, "a, b");
	assert_uint_in_range(blocks - before, nr, BLOCKS_EACH * nr);
	places_free(p);
}

/*
 * CPUs, of which a recording has any numbers, whose places in the table follow each other, if they
 * do not depend on secret numbers; and one that is none of them and begins with the first.
 */
static void chosen_numbers_cost_a_picture_little(void **state)
{
	const struct nt_record r = {.side = NT_HOST, .op = NT_OP_READ, .length = 4096};
	struct timeline_command c = {.owner = &r, .begin_ns = 1, .latency_ns = 1, .r = &r};
	const unsigned int places = 2 * TIMELINE_CELLS, nr = 1000;
	struct timeline *t = timeline_new();
	bool taken[2 * TIMELINE_CELLS] = {false};
	unsigned int cells = 0;
	uint64_t before;

	assert_non_null(t);
	/* The size of the commands has a cell as well. */
	for (uint32_t cpu = 1; cpu < ORIGIN_NO_CPU && cells < TIMELINE_CELLS - 1; cpu++) {
		uint64_t place = ((uint64_t)cpu << 20) * 0x9e3779b97f4a7c15ULL >> 40;

		if (place % places >= TIMELINE_CELLS - 1 || taken[place % places])
			continue;
		taken[place % places] = true;
		c.cpu = (uint16_t)cpu;
		assert_int_equal(timeline_add(t, &c), 0);
		cells++;
	}
	before = blocks;
	c.cpu = 0;
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(timeline_add(t, &c), 0);
	assert_uint_in_range(blocks - before, nr, BLOCKS_EACH * nr);
	timeline_free(t);
}

/*
 * The same of the sample of what a stream asked for: addresses whose places follow each other, if
 * these are bits of the known hash of an address. Each of the last ones comes again and again.
 */
static void chosen_addresses_cost_a_sample_little(void **state)
{
	const unsigned int places = 2 * CONTENTS_MAX, nr = 1000;
	struct nt_record r = {.side = NT_HOST};
	struct contents c = {0};
	unsigned int last = 0;
	uint64_t before;

	for (uint64_t slba = 1; c.nr < CONTENTS_MAX; slba++) {
		if ((hash_mix(slba * 0x9e3779b97f4a7c15ULL) >> 40) % places >= 4)
			continue;
		r.slba = slba;
		assert_int_equal(contents_add(&c, &r), 0);
		assert_int_equal(c.nr, ++last);
	}
	before = blocks;
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(contents_add(&c, &r), 0);
	assert_uint_in_range(blocks - before, nr, BLOCKS_EACH * nr);
	contents_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chosen_numbers_cost_a_picture_little),
		cmocka_unit_test(chosen_addresses_cost_a_sample_little),
		cmocka_unit_test(trouble_costs_twice_as_much_at_the_most),
		cmocka_unit_test(a_stream_with_many_like_queues_costs_others_little_when_they_end),
		cmocka_unit_test(a_queue_costs_little_when_there_is_no_room),
		cmocka_unit_test(no_queue_pays_for_all_that_wait),
		cmocka_unit_test(a_record_costs_little_where_a_queue_has_many_connections),
		cmocka_unit_test(queues_that_get_their_id_later_cost_others_little),
		cmocka_unit_test(a_record_of_no_peer_costs_little_whatever_queues_peers_have),
		cmocka_unit_test(commands_that_look_alike_and_do_not_fit_cost_little),
		cmocka_unit_test(queues_that_compete_cost_others_little),
		cmocka_unit_test(no_turn_gives_up_all_that_wait),
		cmocka_unit_test(no_turn_looks_at_all_like_queues),
		cmocka_unit_test(a_link_of_many_machines_costs_little),
		cmocka_unit_test(names_of_many_devices_are_listed_at_little_cost),
	};

	return cmocka_run_group_tests_name("cost", tests, NULL, NULL);
}
