// SPDX-License-Identifier: GPL-2.0-only
/* Controllers and disks in a made-up sysfs, of a host and of a target. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/controllers.h"
#include "core/hash.h"
#include "tree.h"

#define SECOND 1000000000ULL

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

static struct {
	char root[40];
	struct controllers c;
	struct stats s;
} t;

static int set_up(void **state)
{
	memset(&t, 0, sizeof(t));
	snprintf(t.root, sizeof(t.root), "/tmp/ntprof-sysfs-XXXXXX");
	return mkdtemp(t.root) ? 0 : -1;
}

static void gone(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", t.root, name);
	assert_int_equal(tree_remove(path), 0);
}

static int tear_down(void **state)
{
	gone("");
	controllers_free(&t.c);
	stats_free(&t.s);
	return 0;
}

static void put(const char *name, const char *text)
{
	tree_put(t.root, name, text);
}

static void look(uint64_t now)
{
	assert_int_equal(controllers_look(&t.c, t.root, &t.s, now), 0);
}

static void host(void)
{
	t.s.side = NT_HOST;
	put("class/nvme/nvme0/transport", "tcp");
	put("class/nvme/nvme0/subsysnqn", "nqn.one");
	put("class/nvme/nvme0/state", "live");
	put("class/nvme/nvme0/address", "traddr=10.0.0.1,trsvcid=4420,src_addr=10.0.0.2");
	put("class/nvme/nvme0/nvme0n1/inflight", "       3        5");
	put("class/nvme/nvme0/nvme3c0n2/inflight", "       1        0");
	put("class/nvme/nvme1/transport", "pcie");
	put("class/nvme/nvme1/state", "live");
}

static void a_host_knows_state_address_disks_and_commands(void **state)
{
	const struct controller *c;

	host();
	look(10 * SECOND);
	assert_int_equal(t.c.nr, 1);
	c = &t.c.row[0];
	assert_string_equal(c->name, "nvme0");
	assert_string_equal(c->peer, "nqn.one");
	assert_string_equal(c->state, "live");
	assert_string_equal(c->address, "10.0.0.1:4420");
	assert_non_null(strstr(c->devices, "nvme0n1"));
	assert_non_null(strstr(c->devices, "nvme3n2"));
	assert_int_equal(c->in_flight, 9);
	assert_int_equal(c->before, 9);
	assert_true(controller_is_up(c));
	assert_false(controller_stalls(&t.c, c));
	gone("class/nvme/nvme0");
	look(11 * SECOND);
	assert_int_equal(t.c.nr, 0);
	t.s.transports = 1u << NT_TRANSPORT_PCIE;
	look(12 * SECOND);
	assert_int_equal(t.c.nr, 1);
	assert_string_equal(t.c.row[0].name, "nvme1");
}

static void a_state_is_as_old_as_it_has_been_seen(void **state)
{
	host();
	put("class/nvme/nvme0/state", "connecting");
	look(10 * SECOND);
	look(12 * SECOND);
	assert_false(controller_is_up(&t.c.row[0]));
	assert_false(t.c.row[0].changed);
	assert_int_equal(t.c.row[0].since_ns, 10 * SECOND);
	put("class/nvme/nvme0/state", "live");
	look(13 * SECOND);
	put("class/nvme/nvme0/state", "resetting");
	look(14 * SECOND);
	look(15 * SECOND);
	assert_true(t.c.row[0].changed);
	assert_int_equal(t.c.row[0].since_ns, 14 * SECOND);
	put("class/nvme/nvme2/transport", "tcp");
	look(16 * SECOND);
	assert_int_equal(t.c.nr, 2);
	assert_int_equal(t.c.row[0].since_ns, 14 * SECOND);
}

/* A command that the tracer has seen begin is none of those. */
static void commands_from_before_are_those_that_the_tracer_does_not_see(void **state)
{
	struct stats_row *row;

	host();
	row = stats_row(&t.s, "nvme0", "nqn.one", 1, NT_OP_READ, false);
	assert_non_null(row);
	row->waiting.commands = 2;
	look(10 * SECOND);
	assert_int_equal(t.c.row[0].before, 7);
	look(11 * SECOND);
	assert_true(controller_stalls(&t.c, &t.c.row[0]));
	/* They are so many at most: others that came later are no more of them. */
	row->waiting.commands = 4;
	look(12 * SECOND);
	assert_int_equal(t.c.row[0].before, 5);
	row->waiting.commands = 0;
	hist_count(&row->interval, SECOND);
	look(13 * SECOND);
	assert_int_equal(t.c.row[0].before, 5);
	assert_int_equal(t.c.row[0].ended_ns, 13 * SECOND);
	assert_false(controller_stalls(&t.c, &t.c.row[0]));
	assert_ptr_equal(controllers_find(&t.c, row), &t.c.row[0]);
}

/* The tracer's first block of a dead network, of a second: it saw nothing begin and nothing end. */
static void what_hangs_before_tracing_is_seen_in_the_first_block(void **state)
{
	struct stats_row *row;

	host();
	t.s.elapsed = 1;
	t.s.quiet = true;
	look(10 * SECOND);
	assert_int_equal(t.c.nr, 1);
	assert_int_equal(controllers_before(&t.c), 9);
	assert_int_equal(t.c.row[0].ended_ns, 9 * SECOND);
	assert_true(controller_stalls(&t.c, &t.c.row[0]));
	/* In a shorter block it may be a slow disk. */
	controllers_free(&t.c);
	t.s.elapsed = 0.5;
	look(10 * SECOND);
	assert_false(controller_stalls(&t.c, &t.c.row[0]));
	/* In another one a command has ended. */
	controllers_free(&t.c);
	t.s.elapsed = 1;
	row = stats_row(&t.s, "nvme0", "nqn.one", 1, NT_OP_READ, false);
	assert_non_null(row);
	hist_count(&row->interval, SECOND);
	look(10 * SECOND);
	assert_false(controller_stalls(&t.c, &t.c.row[0]));
	/* A controller that comes later has not been waited for since then. */
	t.s.elapsed = 3;
	put("class/nvme/nvme2/transport", "tcp");
	put("class/nvme/nvme2/nvme2n1/inflight", "1 0");
	look(12 * SECOND);
	assert_int_equal(t.c.row[1].ended_ns, 12 * SECOND);
}

static void a_target_knows_hosts_and_what_its_disks_owe(void **state)
{
	struct stats_row *row;

	t.s.side = NT_TARGET;
	put("kernel/debug/nvmet/nqn.one/ctrl7/state", "ready");
	put("kernel/debug/nvmet/nqn.one/ctrl7/hostnqn", "nqn.host");
	put("kernel/debug/nvmet/nqn.one/ctrl7/host_traddr", "10.0.0.2");
	put("kernel/config/nvmet/subsystems/nqn.one/namespaces/1/device_path", "/dev/null");
	put("kernel/config/nvmet/subsystems/nqn.one/namespaces/2/device_path", "/tmp/file");
	put("class/block/null/inflight", "4 0");
	row = stats_row(&t.s, "cntlid 7", "nqn.host", 1, NT_OP_READ, false);
	assert_non_null(row);
	row->waiting.at_device = 1;
	look(10 * SECOND);
	assert_int_equal(t.c.nr, 2);
	assert_string_equal(t.c.row[0].name, "/dev/null");
	assert_int_equal(t.c.row[0].before, 3);
	assert_string_equal(controllers_find(&t.c, row)->address, "10.0.0.2");
	assert_true(controller_is_up(&t.c.row[1]));
	look(12 * SECOND);
	assert_true(controller_stalls(&t.c, &t.c.row[0]));
	assert_false(controller_stalls(&t.c, &t.c.row[1]));
}

/* Such as /dev/disk/by-id/...: what is longer than a name has the disk's own one. */
static void a_disk_with_a_long_path_stays_the_same_one(void **state)
{
	t.s.side = NT_TARGET;
	put("kernel/config/nvmet/subsystems/nqn.one/namespaces/1/device_path",
	    "/dev/./././././././././././././././null");
	put("class/block/null/inflight", "4 0");
	for (unsigned int i = 0; i < 3; i++) {
		look((10 + i) * SECOND);
		assert_int_equal(t.c.nr, 1);
		assert_string_equal(t.c.row[0].name, "/dev/null");
		assert_int_equal(controller_stalls(&t.c, &t.c.row[0]), i > 0);
	}
}

static void one_id_for_one_host_is_one_row(void **state)
{
	t.s.side = NT_TARGET;
	put("kernel/debug/nvmet/nqn.one/ctrl7/hostnqn", "nqn.host");
	put("kernel/debug/nvmet/nqn.two/ctrl7/hostnqn", "nqn.host");
	put("kernel/debug/nvmet/nqn.two/ctrl7/host_traddr", "10.0.0.2");
	put("kernel/debug/nvmet/nqn.two/ctrl8/hostnqn", "nqn.host");
	for (unsigned int i = 0; i < 2; i++) {
		look((10 + i) * SECOND);
		assert_int_equal(t.c.nr, 2);
		assert_string_equal(t.c.row[0].name, "cntlid 7");
		assert_string_equal(t.c.row[1].name, "cntlid 8");
	}
}

/* Hosts decide how many a target has. The unit is basic blocks: see merge/test_cost.c. */
static void many_controllers_cost_each_as_much_as_few(void **state)
{
	const unsigned int nr = 1000;
	char name[80], text[32];
	uint64_t before;

	t.s.side = NT_TARGET;
	for (unsigned int i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "kernel/debug/nvmet/nqn.one/ctrl%u/hostnqn", i);
		snprintf(text, sizeof(text), "nqn.%u", i);
		put(name, text);
		snprintf(name, sizeof(name), "cntlid %u", i);
		assert_non_null(stats_row(&t.s, name, text, 0, NT_OP_READ, false));
	}
	before = blocks;
	for (unsigned int i = 1; i <= 2; i++) {
		look(i * SECOND);
		assert_int_equal(t.c.nr, nr);
	}
	for (unsigned int i = 0; i < nr; i++)
		assert_string_equal(controllers_find(&t.c, t.s.rows[i])->name,
				    t.s.rows[i]->controller);
	print_message("# %llu blocks\n", (unsigned long long)(blocks - before));
	assert_true(blocks - before > nr && blocks - before < 2000ULL * nr);
}

/* Unless a disk has commands that the tracer does not see. */
static void states_are_not_read_in_a_quiet_interval(void **state)
{
	host();
	put("class/nvme/nvme0/nvme0n1/inflight", "0 0");
	put("class/nvme/nvme0/nvme3c0n2/inflight", "0 0");
	look(10 * SECOND);
	t.s.quiet = true;
	put("class/nvme/nvme0/state", "connecting");
	put("class/nvme/nvme0/nvme0n1/inflight", "1 0");
	look(11 * SECOND);
	assert_int_equal(t.c.nr, 1);
	assert_string_equal(t.c.row[0].state, "live");
	assert_int_equal(t.c.now_ns, 11 * SECOND);
	t.s.quiet = false;
	look(15 * SECOND);
	assert_string_equal(t.c.row[0].state, "connecting");
	t.s.quiet = true;
	put("class/nvme/nvme0/state", "live");
	look(16 * SECOND);
	assert_string_equal(t.c.row[0].state, "live");
}

static void a_machine_without_any_of_it_has_none(void **state)
{
	for (unsigned int side = 0; side < NT_SIDES; side++) {
		t.s.side = side;
		look(SECOND);
		assert_int_equal(t.c.nr, 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_host_knows_state_address_disks_and_commands),
		TEST(a_state_is_as_old_as_it_has_been_seen),
		TEST(commands_from_before_are_those_that_the_tracer_does_not_see),
		TEST(what_hangs_before_tracing_is_seen_in_the_first_block),
		TEST(a_target_knows_hosts_and_what_its_disks_owe),
		TEST(a_disk_with_a_long_path_stays_the_same_one),
		TEST(one_id_for_one_host_is_one_row),
		TEST(many_controllers_cost_each_as_much_as_few),
		TEST(states_are_not_read_in_a_quiet_interval),
		TEST(a_machine_without_any_of_it_has_none),
	};

	return cmocka_run_group_tests_name("controllers", tests, NULL, NULL);
}
