// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands in groups and intervals: no command is lost, limits are reported, and the number in
 * flight is exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "merge/places.h"
#include "traffic.h"

#define MS 1000000ULL

static struct grouping by_keys(const char *keys, uint64_t every_ns)
{
	struct grouping how = {.every_ns = every_ns};
	char wrong[GROUP_WRONG_LEN] = "";

	if (keys[0] && !group_by_parse(&how.by, keys, wrong))
		fail_msg("%s: %s", keys, wrong);
	return how;
}

static struct group_name named(uint16_t queue, uint8_t op, uint32_t size)
{
	struct group_name n;

	memset(&n, 0, sizeof(n));
	n.queue = queue;
	n.op = op;
	n.size = size;
	return n;
}

static void add(struct groups *g, const struct group_name *n, uint64_t begin, uint64_t latency)
{
	const struct group_command c = {
		.after_ns = begin,
		.at_ns = begin,
		.latency = latency,
		.bytes = n->size,
		.stands_for = 1,
	};

	assert_int_equal(groups_add(g, n, &c), 0);
}

struct sums {
	uint64_t count, sum, bytes, max, min, failed, buckets[NT_BUCKETS];
};

static void sum_up(struct sums *s, const struct group_cell *c)
{
	struct hist h;

	if (!c)
		return;
	group_cell_hist(c, &h);
	s->count += c->count;
	s->sum += c->sum;
	s->bytes += c->bytes;
	s->failed += c->failed;
	if (c->max > s->max)
		s->max = c->max;
	if (c->count && (!s->min || c->min < s->min))
		s->min = c->min;
	for (unsigned int i = 0; i < NT_BUCKETS; i++)
		s->buckets[i] += h.buckets[i];
}

static void assert_sums(const struct groups *g)
{
	static struct sums rows, total;
	struct group_row r;

	memset(&rows, 0, sizeof(rows));
	memset(&total, 0, sizeof(total));
	for (size_t i = 0; i < groups_rows(g); i++) {
		groups_row(g, i, &r);
		sum_up(&rows, r.cell);
	}
	if (groups_others(g, &r))
		sum_up(&rows, r.cell);
	groups_total(g, &r);
	sum_up(&total, r.cell);
	assert_memory_equal(&rows, &total, sizeof(rows));
}

/* Host records of simulated traffic. Some commands fail. */
static void take_traffic(struct groups *g, uint64_t *nr)
{
	struct traffic_config c = traffic_of_one_queue();
	const struct group_recorder who = {.source = {"a", "b"}, .began_ns = TRAFFIC_EPOCH_NS};
	struct traffic_record r;
	struct traffic *t;

	c.queue[1] = c.queue[0];
	c.queue[1].qid = c.queue[1].slot = 2;
	c.nr_queues = 2;
	c.stream[0].offset_ns = 0;
	c.commands = 3000;
	t = traffic_new(&c);
	*nr = 0;
	while (traffic_next(t, &r)) {
		struct queue_info q = traffic_stream_queue(&c, r.queue, r.r.side);
		struct group_name name;

		if (r.r.side != NT_HOST)
			continue;
		++*nr;
		if (*nr % 7 == 0)
			r.r.status = 0x281;
		if (*nr % 31 == 0)
			r.r.flags |= NT_F_CANCELLED;
		group_name_side(&name, &groups_how(g)->by, NT_HOST, &q, &r.r, &who);
		assert_int_equal(groups_add_record(g, &name, &r.r, &who), 0);
	}
	traffic_free(t);
}

static void rows_add_up_to_the_total_whatever_they_are_by(void **state)
{
	static const char *const keys[] = {
		"",	  "ctrl",   "nqn",     "host",
		"queue",  "op",	    "size",    "nsid",
		"status", "source", "op,size", "queue,ctrl,nqn,host,op,size,nsid,status"};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(keys); i++) {
		struct grouping how = by_keys(keys[i / 2], i % 2 ? MS : 0);
		struct groups *g = groups_new(&how);
		bool status = group_has(&how.by, GROUP_STATUS);
		struct group_row total;
		uint64_t nr;

		take_traffic(g, &nr);
		assert_int_equal(groups_finish(g, 0, 100 * MS, 0), 0);
		assert_sums(g);
		groups_total(g, &total);
		assert_int_equal(total.cell->count + total.cell->failed, nr);
		assert_int_equal(total.cell->failed == 0, status);
		assert_int_equal(groups_left_out(g), 0);
		assert_true(groups_nr(g) >= 1);
		assert_true(how.every_ns ? groups_rows(g) > groups_nr(g)
					 : groups_rows(g) == groups_nr(g));
		groups_free(g);
	}
}

static void groups_past_the_limit_are_others(void **state)
{
	const struct grouping how = by_keys("size", 0);
	struct groups *g = groups_new(&how);
	struct group_row r;

	for (uint32_t i = 0; i < GROUPS_MAX + 10; i++) {
		const struct group_name n = named(1, NT_OP_READ, i + 1);

		add(g, &n, i, 100);
		add(g, &n, i, 100);
	}
	assert_int_equal(groups_finish(g, 0, 1, 0), 0);
	assert_int_equal(groups_nr(g), GROUPS_MAX);
	assert_int_equal(groups_rows(g), GROUPS_MAX);
	assert_true(groups_others(g, &r));
	assert_int_equal(r.cell->count, 20);
	assert_int_equal(r.name->kind, GROUP_OTHERS);
	assert_sums(g);
	groups_free(g);
}

static void rows_past_the_limit_are_others(void **state)
{
	const struct grouping how = by_keys("", 1000);
	const struct group_name n = named(1, NT_OP_READ, 1);
	struct groups *g = groups_new(&how);
	struct group_row r;

	for (uint64_t i = 0; i < GROUP_CELLS_MAX + 5; i++)
		add(g, &n, i * 1000, 10);
	assert_int_equal(groups_finish(g, 0, 1000, 0), 0);
	assert_int_equal(groups_rows(g), GROUP_CELLS_MAX);
	assert_true(groups_others(g, &r));
	assert_int_equal(r.cell->count, 5);
	assert_sums(g);
	groups_free(g);
}

/* Latencies that are spread take more pieces of histograms: their number is limited as well, for
 * all groups together. */
static void pieces_past_the_limit_are_others(void **state)
{
	const struct grouping how = by_keys("", 1000);
	const struct group_name n = named(1, NT_OP_READ, 1);
	struct groups *g[2] = {groups_new(&how), groups_new(&how)};
	struct group_row r;

	for (uint64_t i = 0; i < GROUP_PIECES_MAX + 5; i++)
		add(g[0], &n, i / 8 * 1000, 1ULL << (6 + i % 8));
	add(g[1], &n, 0, 10);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(groups_finish(g[i], 0, 1000, 0), 0);
		assert_true(groups_others(g[i], &r));
		assert_int_equal(r.cell->count, i ? 1 : 5);
		assert_sums(g[i]);
	}
	groups_free(g[0]);
	add(g[1], &n, 0, 10);
	assert_true(groups_others(g[1], &r));
	assert_int_equal(r.cell->count, 1);
	groups_free(g[1]);
}

static void intervals_without_commands_are_rows_unless_there_are_too_many(void **state)
{
	const struct grouping how = by_keys("op", 1000);
	struct group_name n = named(1, NT_OP_READ, 1);
	struct group_row r;

	for (uint64_t gap = 10; gap <= 1000000000; gap *= 100000000) {
		struct groups *g = groups_new(&how);

		n.op = NT_OP_READ;
		add(g, &n, 5000, 10);
		n.op = NT_OP_WRITE;
		add(g, &n, 5000 + gap * 1000, 10);
		assert_int_equal(groups_finish(g, 5000, 5500 + gap * 1000, 0), 0);
		assert_int_equal(groups_rows(g), gap == 10 ? 22 : 2);
		assert_int_equal(groups_left_out(g), gap == 10 ? 0 : 2 * gap);
		groups_row(g, 0, &r);
		assert_int_equal(r.from_ns, 5000);
		assert_int_equal(r.name->op, NT_OP_READ);
		assert_non_null(r.cell);
		groups_row(g, groups_rows(g) - 1, &r);
		assert_int_equal(r.from_ns, 5000 + gap * 1000);
		assert_int_equal(r.name->op, NT_OP_WRITE);
		/* The last interval is cut off by the end. */
		assert_true(r.seconds > 0.49e-6 && r.seconds < 0.51e-6);
		groups_free(g);
	}
}

struct simulated {
	uint64_t begin, latency;
	uint8_t op;
};

static int by_end(const void *a, const void *b)
{
	const struct simulated *x = a, *y = b;
	uint64_t end = x->begin + x->latency, other = y->begin + y->latency;

	return end < other ? -1 : end > other;
}

static void what_was_in_flight_is_what_each_beginning_saw(void **state)
{
	enum { NR = 2000 };
	static struct simulated c[NR];
	const struct grouping how = by_keys("op", 0);
	struct groups *g = groups_new(&how);
	uint64_t random = 12345;
	struct group_row r;

	for (unsigned int i = 0; i < NR; i++) {
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		c[i].begin = 1000 + i * 100 + (random >> 60);
		c[i].latency = 1 + (random >> 40) % 3000 + (i % 500 ? 0 : 100000);
		c[i].op = random >> 33 & 1 ? NT_OP_READ : NT_OP_WRITE;
	}
	/* Records come in the order of their ends. */
	qsort(c, NR, sizeof(c[0]), by_end);
	for (unsigned int i = 0; i < NR; i++) {
		const struct group_name n = named(1, c[i].op, 512);

		add(g, &n, c[i].begin, c[i].latency);
	}
	assert_int_equal(groups_finish(g, 0, 1, 0), 0);
	assert_int_equal(groups_late(g), 0);
	for (size_t k = 0; k < 3; k++) {
		uint64_t sum = 0, most = 0, nr = 0;

		if (k < 2)
			groups_row(g, k, &r);
		else
			groups_total(g, &r);
		for (unsigned int i = 0; i < NR; i++) {
			uint64_t seen = 0;

			if (k < 2 && c[i].op != r.name->op)
				continue;
			for (unsigned int j = 0; j < NR; j++)
				seen += (k == 2 || c[j].op == c[i].op) &&
					c[j].begin <= c[i].begin &&
					c[j].begin + c[j].latency > c[i].begin;
			sum += seen;
			nr++;
			most = seen > most ? seen : most;
		}
		assert_int_equal(r.cell->count, nr);
		assert_int_equal(r.cell->in_flight.count, nr);
		assert_int_equal(r.cell->in_flight.sum, sum);
		assert_int_equal(r.cell->in_flight.most, most);
	}
	groups_free(g);
}

static void one_that_ends_when_too_many_others_have_is_told(void **state)
{
	const struct grouping how = by_keys("", 0);
	const struct group_name n = named(1, NT_OP_READ, 1);
	struct groups *g = groups_new(&how);

	for (uint64_t i = 0; i < FLIGHTS_MAX + 10; i++)
		add(g, &n, 1000 + i, 1);
	add(g, &n, 999, 1000000);
	assert_int_equal(groups_finish(g, 0, 1, 0), 0);
	assert_int_equal(groups_late(g), 1);
	groups_free(g);
}

static void controllers_of_one_name_are_told_apart(void **state)
{
	const struct grouping how = by_keys("ctrl,nqn", 0);
	struct groups *g = groups_new(&how);
	struct group_row r;

	for (unsigned int i = 0; i < 3; i++) {
		struct group_recorder who = {.source = {"a"}, .stream = i / 2};
		const struct nt_record rec = {.op = NT_OP_READ};
		struct queue_info q = {.instance = 0, .qid = 1};
		struct group_name n;

		snprintf(q.subsysnqn, sizeof(q.subsysnqn), "nqn.%u:the-same-end-of-it", i);
		group_name_side(&n, &how.by, NT_HOST, &q, &rec, &who);
		add(g, &n, 1, 1);
	}
	assert_int_equal(groups_finish(g, 0, 1, 0), 0);
	assert_int_equal(groups_nr(g), 3);
	for (unsigned int i = 0; i < 3; i++) {
		char name[GROUP_SHORT_LEN], expected[16];

		groups_row(g, i, &r);
		snprintf(expected, sizeof(expected), "nvme0#%u", i + 1);
		assert_string_equal(r.name->ctrl, expected);
		group_name_short(name, r.name->nqn, r.name->nqn_twin);
		assert_int_equal(name[strlen(name) - 1], '1' + (int)i);
	}
	groups_free(g);
}

static void keys_that_are_none_are_refused_with_those_that_there_are(void **state)
{
	static const struct {
		const char *keys, *says;
	} wrong[] = {
		{"", "keys are"},
		{"op,", "keys are"},
		{",op", "keys are"},
		{"Op", "keys are"},
		{"op,queue,op", "op is there twice"},
		{"cpu,cgroup,cpu", "cpu is there twice"},
		{"opopopopopopopopopopopop", "path cgroup cpu pid comm container"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		char text[GROUP_WRONG_LEN] = "";
		struct group_by by = {.nr = 0};

		assert_false(group_by_parse(&by, wrong[i].keys, text));
		if (!strstr(text, wrong[i].says))
			fail_msg("%s: %s", wrong[i].keys, text);
	}
}

/*
 * Keys that a live view's histograms do not have, keys that only hosts know, and keys whose data
 * have to be asked for.
 */
static void a_key_says_what_it_needs(void **state)
{
	static const struct {
		const char *keys;
		enum group_key record, host, place, task;
	} of[] = {
		{"ctrl,nqn,host,queue,op,source", GROUP_KEYS_NR, GROUP_KEYS_NR, GROUP_KEYS_NR,
		 GROUP_KEYS_NR},
		{"op,size", GROUP_SIZE, GROUP_KEYS_NR, GROUP_KEYS_NR, GROUP_KEYS_NR},
		{"status", GROUP_STATUS, GROUP_KEYS_NR, GROUP_KEYS_NR, GROUP_KEYS_NR},
		{"device,path", GROUP_DEVICE, GROUP_PATH, GROUP_KEYS_NR, GROUP_KEYS_NR},
		{"nsid,cpu", GROUP_NSID, GROUP_CPU, GROUP_CPU, GROUP_KEYS_NR},
		{"cgroup", GROUP_CGROUP, GROUP_CGROUP, GROUP_CGROUP, GROUP_KEYS_NR},
		{"op,comm,cpu,pid", GROUP_COMM, GROUP_COMM, GROUP_CPU, GROUP_COMM},
	};

	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		struct grouping how = by_keys(of[i].keys, 0);

		assert_int_equal(group_by_needs(&how.by, GROUP_OF_RECORD), of[i].record);
		assert_int_equal(group_by_needs(&how.by, GROUP_OF_HOST), of[i].host);
		assert_int_equal(group_by_needs(&how.by, GROUP_OF_PLACE), of[i].place);
		assert_int_equal(group_by_needs(&how.by, GROUP_OF_TASK), of[i].task);
	}
}

/* As those of histograms do. */
static void the_sum_of_a_group_outlives_64_bits(void **state)
{
	const struct grouping how = by_keys("op", 0);
	const struct group_name n = named(1, NT_OP_READ, 4096);
	struct groups *g = groups_new(&how);
	struct group_row r;
	struct hist h;

	assert_non_null(g);
	for (unsigned int i = 0; i < 9; i++)
		add(g, &n, i, 1ULL << 62);
	assert_int_equal(groups_finish(g, 0, 9, 0), 0);
	groups_row(g, 0, &r);
	group_cell_hist(r.cell, &h);
	assert_true(h.sum == (unsigned __int128)9 << 62);
	groups_free(g);
}

/* Two paths of one disk, and the only one of another, in two intervals. */
static void a_path_has_its_share_of_the_commands_of_all_paths(void **state)
{
	static const struct {
		const char *device, *ctrl, *path;
		unsigned int commands[2];
		uint64_t all_paths[2];
	} of[] = {
		{"nvme0n1", "nvme0", "10.0.0.1", {3, 0}, {4, 8}},
		{"nvme0n1", "nvme1", "10.0.1.1", {1, 8}, {4, 8}},
		{"nvme0n2", "nvme0", "10.0.0.1", {5, 0}, {5, 0}},
	};
	struct grouping how = by_keys("ctrl,path,device", 1000);
	struct groups *g = groups_new(&how);
	size_t rows;

	for (unsigned int i = 0; i < ARRAY_SIZE(of); i++) {
		struct group_name n = named(0, NT_OPS_NR, 0);

		snprintf(n.device, sizeof(n.device), "%s", of[i].device);
		snprintf(n.ctrl, sizeof(n.ctrl), "%s", of[i].ctrl);
		snprintf(n.path, sizeof(n.path), "%s", of[i].path);
		for (unsigned int at = 0; at < 2; at++)
			for (unsigned int k = 0; k < of[i].commands[at]; k++)
				add(g, &n, 1000 * at + k, 10);
	}
	assert_int_equal(groups_finish(g, 0, 2000, 0), 0);
	rows = groups_rows(g);
	assert_int_equal(rows, 2 * ARRAY_SIZE(of));
	for (size_t i = 0; i < rows; i++) {
		struct group_row r;
		unsigned int k = 0;

		groups_row(g, i, &r);
		while (strcmp(r.name->device, of[k].device) != 0 ||
		       strcmp(r.name->path, of[k].path) != 0)
			k++;
		assert_int_equal(r.all_paths, of[k].all_paths[r.from_ns / 1000]);
	}
	groups_free(g);
	/* Without paths among the keys there is no share. */
	how = by_keys("device", 0);
	g = groups_new(&how);
	add(g, &(struct group_name){.op = NT_OPS_NR, .device = "nvme0n1"}, 0, 10);
	assert_int_equal(groups_finish(g, 0, 2000, 0), 0);
	for (size_t i = 0; i < groups_rows(g); i++) {
		struct group_row r;

		groups_row(g, i, &r);
		assert_int_equal(r.all_paths, 0);
	}
	groups_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_add_up_to_the_total_whatever_they_are_by),
		cmocka_unit_test(the_sum_of_a_group_outlives_64_bits),
		cmocka_unit_test(groups_past_the_limit_are_others),
		cmocka_unit_test(rows_past_the_limit_are_others),
		cmocka_unit_test(pieces_past_the_limit_are_others),
		cmocka_unit_test(intervals_without_commands_are_rows_unless_there_are_too_many),
		cmocka_unit_test(what_was_in_flight_is_what_each_beginning_saw),
		cmocka_unit_test(one_that_ends_when_too_many_others_have_is_told),
		cmocka_unit_test(controllers_of_one_name_are_told_apart),
		cmocka_unit_test(keys_that_are_none_are_refused_with_those_that_there_are),
		cmocka_unit_test(a_key_says_what_it_needs),
		cmocka_unit_test(a_path_has_its_share_of_the_commands_of_all_paths),
	};

	return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
