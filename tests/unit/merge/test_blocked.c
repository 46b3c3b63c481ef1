// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "merge/blocked.h"

static struct nt_record host_record(uint32_t slot, uint16_t cid, uint64_t begin, uint64_t sent,
				    uint64_t end)
{
	struct nt_record r = {.side = NT_HOST, .slot = slot, .gen = 2, .cid = cid};

	r.points[NT_H_SUBMIT] = begin;
	r.points[NT_H_QUEUE_RQ] = begin + 1;
	r.points[NT_H_SEND_CMD] = sent;
	r.points[NT_H_COMPLETE] = end;
	return r;
}

static struct nt_record target_record(uint32_t slot, uint16_t cid, uint64_t exec, uint64_t done)
{
	struct nt_record r = {.side = NT_TARGET, .slot = slot, .gen = 4, .cid = cid, .nsid = 1};

	r.points[NT_T_RX] = exec - 10;
	r.points[NT_T_CMD] = exec - 5;
	r.points[NT_T_EXEC] = exec;
	r.points[NT_T_DONE] = done;
	r.points[NT_T_SEND] = done + 10;
	return r;
}

/* Streams: 0 is the host's, 1 the target's. */
static struct slow_command slow(void)
{
	return (struct slow_command){
		.connection = {.host_stream = 0, .target_stream = 1},
		.host = host_record(3, 1, 1000, 1100, 5000),
		.target = target_record(7, 1, 2000, 4000),
	};
}

static void announce(struct blocked_reader *b, uint32_t slot, const char *subsysnqn,
		     const char *hostnqn)
{
	struct queue_info q = {.slot = slot, .gen = 4};

	snprintf(q.subsysnqn, sizeof(q.subsysnqn), "%s", subsysnqn);
	snprintf(q.hostnqn, sizeof(q.hostnqn), "%s", hostnqn);
	assert_int_equal(blocked_queue(b, 1, &q), 0);
}

static void others_of_its_queue_are_counted_and_not_itself(void **state)
{
	struct slow_command c = slow();
	struct blocked_reader *b = blocked_new(&c, 1);
	const struct nt_record others[] = {
		c.host,
		host_record(3, 2, 900, 950, 1500),   /* there before it */
		host_record(3, 3, 900, 1050, 2500),  /* and sent while it waited to be sent */
		host_record(3, 4, 1200, 1300, 4900), /* came later */
		host_record(3, 5, 900, 950, 990),    /* had ended */
		host_record(3, 6, 1200, 1300, 5100), /* ended later */
		host_record(4, 7, 900, 1050, 1500),  /* another queue */
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		blocked_record(b, 0, &others[i]);
	/* Another machine's. */
	blocked_record(b, 2, &others[1]);
	assert_int_equal(blocked_of(b, 0)->ahead, 2);
	assert_int_equal(blocked_of(b, 0)->overtook, 1);
	assert_int_equal(blocked_of(b, 0)->sent, 1);
	assert_null(blocked_of(b, 1));
	blocked_free(b);
}

/* The target's clock is 500 ahead: the capsule was sent at 1600 there, and the answer at 3510 here.
 */
static void data_before_it_on_its_connection_are_counted(void **state)
{
	struct slow_command c = slow();
	struct blocked_reader *b;
	struct nt_record r;

	c.connection.offset_low = 490;
	c.connection.offset_high = 510;
	c.host.points[NT_H_RX] = 4500;
	b = blocked_new(&c, 1);
	/* Its data began to come before the capsule did, and were all there after that was sent. */
	r = target_record(7, 2, 1980, 2500);
	r.op = NT_OP_WRITE;
	r.length = 4096;
	blocked_record(b, 1, &r);
	assert_int_equal(blocked_of(b, 0)->to_target, 4096);
	/* All there before; later than the capsule; no data; another queue. */
	r.points[NT_T_EXEC] = 1600;
	blocked_record(b, 1, &r);
	r = target_record(7, 2, 2010, 2500);
	r.op = NT_OP_WRITE;
	r.length = 4096;
	blocked_record(b, 1, &r);
	r = target_record(7, 2, 1980, 2500);
	r.op = NT_OP_READ;
	r.length = 4096;
	blocked_record(b, 1, &r);
	r = target_record(8, 2, 1980, 2500);
	r.op = NT_OP_WRITE;
	r.length = 4096;
	blocked_record(b, 1, &r);
	assert_int_equal(blocked_of(b, 0)->to_target, 4096);
	/* Data of a read that came before the answer, and were all there after that was sent. */
	r = host_record(3, 2, 900, 950, 4000);
	r.op = NT_OP_READ;
	r.length = 8192;
	r.points[NT_H_RX] = 3000;
	r.points[NT_H_CQE] = 3511;
	blocked_record(b, 0, &r);
	assert_int_equal(blocked_of(b, 0)->to_host, 8192);
	r.points[NT_H_CQE] = 3510;
	blocked_record(b, 0, &r);
	r.points[NT_H_CQE] = 4800;
	r.points[NT_H_RX] = 4600;
	blocked_record(b, 0, &r);
	assert_int_equal(blocked_of(b, 0)->to_host, 8192);
	blocked_free(b);
}

static void what_the_disk_did_for_others_is_known_by_namespace_and_host(void **state)
{
	struct slow_command c = slow();
	struct blocked_reader *b = blocked_new(&c, 1);
	struct nt_record r;

	announce(b, 7, "nqn.a", "host1");
	announce(b, 8, "nqn.a", "host2");
	announce(b, 9, "nqn.b", "host1");
	blocked_record(b, 1, &c.target);
	r = target_record(7, 2, 2500, 2600);
	blocked_record(b, 1, &r);
	r = target_record(8, 2, 1500, 2800);
	blocked_record(b, 1, &r);
	/* Another subsystem's, another namespace's, one that ended later, and one before. */
	r = target_record(9, 2, 2500, 2600);
	blocked_record(b, 1, &r);
	r = target_record(8, 2, 2500, 2600);
	r.nsid = 2;
	blocked_record(b, 1, &r);
	r = target_record(8, 2, 2500, 4600);
	blocked_record(b, 1, &r);
	r = target_record(8, 2, 1500, 1900);
	blocked_record(b, 1, &r);
	assert_int_equal(blocked_of(b, 0)->disk, 2);
	assert_int_equal(blocked_of(b, 0)->disk_others, 1);
	assert_int_equal(blocked_of(b, 0)->disk_ns, 1400);
	blocked_free(b);
}

static void on_disk(struct blocked_reader *b, unsigned int stream, const char *subsysnqn,
		    uint32_t nsid, const char *name)
{
	struct device_name d = {.nsid = nsid};

	snprintf(d.subsysnqn, sizeof(d.subsysnqn), "%s", subsysnqn);
	snprintf(d.name, sizeof(d.name), "%s", name);
	assert_int_equal(blocked_device(b, stream, &d), 0);
}

static void namespaces_on_one_disk_are_one(void **state)
{
	struct slow_command c = slow();
	struct blocked_reader *b = blocked_new(&c, 1);
	struct nt_record r;

	announce(b, 7, "nqn.a", "host1");
	announce(b, 9, "nqn.b", "host2");
	on_disk(b, 1, "nqn.a", 1, "/dev/sda");
	on_disk(b, 1, "nqn.b", 3, "/dev/sda");
	on_disk(b, 1, "nqn.b", 1, "/dev/sdb");
	/* Another machine's disk. */
	on_disk(b, 2, "nqn.b", 4, "/dev/sda");
	for (uint32_t nsid = 1; nsid <= 4; nsid++) {
		r = target_record(9, 2, 2500, 2600);
		r.nsid = nsid;
		blocked_record(b, 1, &r);
		assert_int_equal(blocked_of(b, 0)->disk, nsid >= 3);
	}
	assert_int_equal(blocked_of(b, 0)->disk_others, 1);
	/* It is on this disk now. */
	on_disk(b, 1, "nqn.b", 1, "/dev/sda");
	r.nsid = 1;
	blocked_record(b, 1, &r);
	assert_int_equal(blocked_of(b, 0)->disk, 2);
	blocked_free(b);
}

static void others_of_connections_past_the_limit_are_counted_apart(void **state)
{
	struct slow_command c = slow();
	struct blocked_reader *b = blocked_new(&c, 1);
	struct nt_record r;

	for (uint32_t slot = 0; slot <= BLOCKED_QUEUES; slot++)
		announce(b, slot, "nqn.a", "nqn.host");
	for (uint32_t slot = BLOCKED_QUEUES - 1; slot <= BLOCKED_QUEUES; slot++) {
		r = target_record(slot, 2, 2500, 2600);
		blocked_record(b, 1, &r);
		r.nsid = 2;
		blocked_record(b, 1, &r);
		assert_int_equal(blocked_of(b, 0)->disk, 1);
		assert_int_equal(blocked_of(b, 0)->disk_unknown, slot - (BLOCKED_QUEUES - 1));
	}
	blocked_free(b);
}

static void the_targets_worker_and_its_answers_are_of_the_queue(void **state)
{
	struct slow_command c = slow();
	struct blocked_reader *b = blocked_new(&c, 1);
	struct nt_record r = target_record(7, 2, 1998, 3995);

	blocked_record(b, 1, &r);
	r.slot = 8;
	blocked_record(b, 1, &r);
	assert_int_equal(blocked_of(b, 0)->handled, 1);
	assert_int_equal(blocked_of(b, 0)->answered, 1);
	blocked_free(b);
}

/* Its target had it at the disk from 2000 to 4000. */
static void who_used_its_disk_then_is_known(void **state)
{
	struct slow_command c = slow();
	struct blocked_reader *b = blocked_new(&c, 1);
	struct device_name on = {.nsid = 1, .disk = "nvme0n1"};
	const struct disk_sample uses[] = {
		{.from_ns = 1000, .to_ns = 2000, .disk = "nvme0n1", .user = DISK_CGROUP, .ns = 1},
		{.from_ns = 4000, .to_ns = 5000, .disk = "nvme0n1", .user = DISK_CGROUP, .ns = 1},
		{.from_ns = 2000, .to_ns = 3000, .disk = "nvme0n2", .user = DISK_CGROUP, .ns = 1},
		{.from_ns = 1000, .to_ns = 2001, .disk = "nvme0n1", .user = DISK_HOST, .ns = 100},
		/* A path of it. */
		{.from_ns = 1000,
		 .to_ns = 2001,
		 .disk = "nvme0c3n1",
		 .user = DISK_CGROUP,
		 .who = "/backup",
		 .ns = 250},
		{.from_ns = 2001,
		 .to_ns = 5000,
		 .disk = "nvme0n1",
		 .user = DISK_CGROUP,
		 .who = "/scrub",
		 .ns = 50},
		{.from_ns = 2001, .to_ns = 5000, .disk = "nvme0n1", .user = DISK_KERNEL, .ns = 100},
	};

	snprintf(on.subsysnqn, sizeof(on.subsysnqn), "nqn.a");
	assert_int_equal(blocked_device(b, 1, &on), 0);
	blocked_use(b, 1, &uses[3]);
	assert_int_equal(blocked_of(b, 0)->use_ns, 0);
	announce(b, 7, "nqn.a", "host1");
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		blocked_use(b, 1, &uses[i]);
	/* Another machine's. */
	blocked_use(b, 2, &uses[4]);
	assert_int_equal(blocked_of(b, 0)->use_ns, 500);
	assert_int_equal(blocked_of(b, 0)->local_ns, 300);
	assert_string_equal(blocked_of(b, 0)->local, "/backup");
	blocked_free(b);
}

static void a_file_has_no_disk_that_is_used(void **state)
{
	const struct disk_sample use = {.from_ns = 1, .to_ns = 9000, .user = DISK_CGROUP, .ns = 1};
	struct device_name on = {.nsid = 1};
	struct slow_command c = slow();
	struct blocked_reader *b = blocked_new(&c, 1);

	snprintf(on.subsysnqn, sizeof(on.subsysnqn), "nqn.a");
	assert_int_equal(blocked_device(b, 1, &on), 0);
	announce(b, 7, "nqn.a", "host1");
	blocked_use(b, 1, &use);
	assert_int_equal(blocked_of(b, 0)->use_ns, 0);
	blocked_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_of_its_queue_are_counted_and_not_itself),
		cmocka_unit_test(data_before_it_on_its_connection_are_counted),
		cmocka_unit_test(what_the_disk_did_for_others_is_known_by_namespace_and_host),
		cmocka_unit_test(namespaces_on_one_disk_are_one),
		cmocka_unit_test(others_of_connections_past_the_limit_are_counted_apart),
		cmocka_unit_test(the_targets_worker_and_its_answers_are_of_the_queue),
		cmocka_unit_test(who_used_its_disk_then_is_known),
		cmocka_unit_test(a_file_has_no_disk_that_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
