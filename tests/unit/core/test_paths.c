// SPDX-License-Identifier: GPL-2.0-only
/* The kind of path that a stack is, and the sums of paths with the same functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "core/paths.h"

#define FRAMES 8

/* The address of a name is its index in this table plus 1. */
static const char *const names[] = {
	"bpf_prog_1234_stack_begin",
	"bpf_trampoline_1",
	"nvme_tcp_queue_rq",
	"nvme_setup_cmd",
	"blk_mq_dispatch_rq_list",
	"__blk_mq_sched_dispatch_requests.constprop.0",
	"blk_mq_sched_dispatch_requests",
	"blk_mq_run_work_fn",
	"blk_mq_flush_plug_list",
	"blk_mq_submit_bio",
	"__blk_mq_try_issue_directly",
	"blk_mq_requeue_work",
	"blk_execute_rq",
	"blk_mq_submit_bio_of_somebody_else",
	"process_one_work",
	"worker_thread",
};

static const char *name_of(const void *context, uint64_t address)
{
	assert_ptr_equal(context, names);
	return address <= ARRAY_SIZE(names) ? names[address - 1] : NULL;
}

static struct nt_stack stack_of(const char *const functions[FRAMES])
{
	struct nt_stack s = {{0}};

	for (unsigned int i = 0; i < FRAMES && functions[i]; i++) {
		s.frames[i] = ARRAY_SIZE(names) + 1;
		for (unsigned int n = 0; n < ARRAY_SIZE(names); n++)
			if (!strcmp(names[n], functions[i]))
				s.frames[i] = n + 1;
	}
	return s;
}

static void a_path_is_of_the_first_kind_that_fits(void **state)
{
	static const struct {
		const char *functions[FRAMES];
		uint32_t flags;
		enum path_kind kind;
	} cases[] = {
		{{"nvme_tcp_queue_rq", "__blk_mq_try_issue_directly", "blk_mq_submit_bio"},
		 0,
		 PATH_DIRECT_ISSUE},
		{{"nvme_tcp_queue_rq", "blk_mq_submit_bio"}, 0, PATH_DIRECT_ISSUE},
		{{"nvme_tcp_queue_rq", "blk_mq_flush_plug_list", "blk_mq_submit_bio"},
		 0,
		 PATH_PLUG_FLUSH},
		{{"nvme_tcp_queue_rq", "__blk_mq_sched_dispatch_requests.constprop.0",
		  "blk_mq_flush_plug_list"},
		 NT_STACK_SCHEDULED,
		 PATH_SCHEDULER},
		{{"nvme_tcp_queue_rq", "blk_mq_sched_dispatch_requests", "blk_mq_flush_plug_list"},
		 0,
		 PATH_SOFTWARE_QUEUE},
		{{"nvme_tcp_queue_rq", "blk_mq_sched_dispatch_requests", "blk_mq_run_work_fn"},
		 NT_STACK_SCHEDULED,
		 PATH_WORKQUEUE},
		{{"nvme_tcp_queue_rq", "blk_mq_run_work_fn", "blk_mq_requeue_work"},
		 0,
		 PATH_REQUEUE},
		{{"nvme_tcp_queue_rq", "blk_mq_submit_bio"}, NT_STACK_POLLED, PATH_POLLED},
		{{"nvme_tcp_queue_rq", "blk_execute_rq"}, NT_STACK_PASSTHROUGH, PATH_PASSTHROUGH},
		{{"nvme_tcp_queue_rq", "blk_mq_sched_dispatch_requests", "blk_execute_rq"},
		 NT_STACK_PASSTHROUGH,
		 PATH_PASSTHROUGH},
		/* Another driver's thread that submits a bio does not run a hardware queue. */
		{{"nvme_tcp_queue_rq", "blk_mq_submit_bio", "process_one_work", "worker_thread"},
		 0,
		 PATH_DIRECT_ISSUE},
		{{"nvme_tcp_queue_rq", "blk_mq_submit_bio_of_somebody_else"}, 0, PATH_OTHER},
		{{"nvme_tcp_queue_rq", "of no name"}, 0, PATH_OTHER},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct nt_stack s = stack_of(cases[i].functions);
		const struct path_figures one = {.commands = 1};
		struct paths paths = {0};

		assert_int_equal(paths_add(&paths, &s, cases[i].flags, name_of, names, &one), 0);
		assert_int_equal(paths.nr, 1);
		assert_string_equal(path_kind_name(paths.path[0].kind),
				    path_kind_name(cases[i].kind));
		paths_free(&paths);
	}
}

static struct path_figures figures(uint64_t commands, uint64_t ns)
{
	struct path_figures f = {.commands = commands, .waited = commands, .waited_ns = commands};

	for (uint64_t i = 0; i < commands; i++)
		hist_count(&f.latency, ns);
	return f;
}

static void what_is_further_in_than_the_driver_is_left_out(void **state)
{
	static const char *const functions[FRAMES] = {"bpf_prog_1234_stack_begin",
						      "bpf_trampoline_1", "nvme_tcp_queue_rq",
						      "blk_mq_submit_bio", "no name"};
	const struct nt_stack s = stack_of(functions);
	/* Drivers of other transports. */
	static const char *const others[FRAMES] = {"bpf_prog_1234_stack_begin", "nvme_setup_cmd",
						   "blk_mq_submit_bio"};
	const struct nt_stack other = stack_of(others);
	const struct path_figures one = figures(1, 10);
	struct paths paths = {0};

	assert_int_equal(paths_add(&paths, &other, 0, name_of, names, &one), 0);
	assert_string_equal(paths.path[0].names[0], "nvme_setup_cmd");
	paths_free(&paths);
	assert_int_equal(paths_add(&paths, &s, 0, name_of, names, &one), 0);
	assert_int_equal(paths.path[0].nr, 3);
	assert_string_equal(paths.path[0].names[0], "nvme_tcp_queue_rq");
	assert_string_equal(paths.path[0].names[1], "blk_mq_submit_bio");
	assert_string_equal(paths.path[0].names[2], "unknown");
	paths_free(&paths);
}

static void the_same_functions_are_one_path_and_kinds_add_up(void **state)
{
	static const char *const direct[FRAMES] = {"nvme_tcp_queue_rq", "blk_mq_submit_bio"};
	static const char *const tried[FRAMES] = {"bpf_prog_1234_stack_begin", "nvme_tcp_queue_rq",
						  "blk_mq_submit_bio"};
	static const char *const plug[FRAMES] = {"nvme_tcp_queue_rq", "blk_mq_flush_plug_list"};
	const struct nt_stack a = stack_of(direct), b = stack_of(tried), c = stack_of(plug);
	const struct path_figures few = figures(3, 10), more = figures(4, 1000),
				  most = figures(9, 50);
	struct paths paths = {0};

	assert_int_equal(paths_add(&paths, &a, 0, name_of, names, &few), 0);
	assert_int_equal(paths_add(&paths, &b, 0, name_of, names, &more), 0);
	assert_int_equal(paths_add(&paths, &c, 0, name_of, names, &most), 0);
	paths_sort(&paths);
	assert_int_equal(paths.nr, 2);
	assert_int_equal(paths.commands, 16);
	assert_int_equal(paths.path[0].kind, PATH_PLUG_FLUSH);
	assert_int_equal(paths.path[0].figures.commands, 9);
	assert_int_equal(paths.path[1].figures.commands, 7);
	assert_int_equal(paths.path[1].figures.latency.sum, 3 * 10 + 4 * 1000);
	assert_int_equal(paths.path[1].figures.latency.max, 1000);
	assert_int_equal(paths.kinds[PATH_DIRECT_ISSUE].commands, 7);
	assert_int_equal(paths.kinds[PATH_DIRECT_ISSUE].waited_ns, 7);
	assert_int_equal(paths.kinds[PATH_PLUG_FLUSH].latency.count, 9);
	paths_free(&paths);
}

static void a_stack_that_fills_its_room_has_all_frames(void **state)
{
	struct path_figures one = figures(1, 1);
	struct paths paths = {0};
	struct nt_stack s;

	for (unsigned int i = 0; i < NT_STACK_DEPTH; i++)
		s.frames[i] = 14;
	assert_int_equal(paths_add(&paths, &s, 0, name_of, names, &one), 0);
	assert_int_equal(paths.path[0].nr, NT_STACK_DEPTH);
	paths_free(&paths);
}

/* Here the address of a function is that of its name. */
static const char *name_at(const void *context, uint64_t address)
{
	return (const char *)(uintptr_t)address;
}

static int add(struct paths *paths, const char *inner, const char *outer, uint32_t flags,
	       uint64_t commands)
{
	const struct nt_stack s = {
		.frames = {(uintptr_t) "nvme_tcp_queue_rq", (uintptr_t)inner, (uintptr_t)outer}};
	const struct path_figures f = figures(commands, 10);

	return paths_add(paths, &s, flags, name_at, NULL, &f);
}

/* Names of Linux 5.15 to 7.3, and what compilers call a clone of such a function. */
static void each_function_is_of_its_kind(void **state)
{
	static const struct {
		const char *function;
		const char *kind;
	} known[] = {
		{"blk_mq_requeue_work", "requeue"},
		{"nvme_requeue_work", "requeue"},
		{"blk_mq_run_work_fn", "workqueue"},
		{"blk_mq_sched_dispatch_requests", "scheduler"},
		{"__blk_mq_sched_dispatch_requests", "scheduler"},
		{"blk_mq_do_dispatch_sched", "scheduler"},
		{"__blk_mq_do_dispatch_sched", "scheduler"},
		{"blk_mq_flush_plug_list", "plug_flush"},
		{"__blk_flush_plug", "plug_flush"},
		{"blk_flush_plug_list", "plug_flush"},
		{"blk_finish_plug", "plug_flush"},
		{"blk_mq_try_issue_directly", "direct_issue"},
		{"__blk_mq_try_issue_directly", "direct_issue"},
		{"__blk_mq_issue_directly", "direct_issue"},
		{"blk_mq_submit_bio", "direct_issue"},
		{"blk_finish_plug.part.0", "plug_flush"},
		{"blk_finish_plugs", "other"},
		{"blk_finish_plu", "other"},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++) {
		struct paths paths = {0};

		assert_int_equal(add(&paths, "x", known[i].function, NT_STACK_SCHEDULED, 1), 0);
		assert_string_equal(path_kind_name(paths.path[0].kind), known[i].kind);
		assert_string_equal(paths.path[0].names[2], known[i].function);
		paths_free(&paths);
		assert_null(paths.path);
		assert_int_equal(paths.nr, 0);
	}
}

/* A request that is polled or passed through, too, is of the kind that comes first. */
static void kinds_have_an_order(void **state)
{
	static const struct {
		const char *function;
		uint32_t flags;
		enum path_kind kind;
	} known[] = {
		{"blk_mq_requeue_work", NT_STACK_POLLED, PATH_REQUEUE},
		{"blk_mq_run_work_fn", NT_STACK_POLLED, PATH_WORKQUEUE},
		{"x", NT_STACK_POLLED | NT_STACK_PASSTHROUGH, PATH_POLLED},
		{"blk_mq_sched_dispatch_requests", NT_STACK_PASSTHROUGH | NT_STACK_SCHEDULED,
		 PATH_PASSTHROUGH},
		{"x", NT_STACK_SCHEDULED, PATH_OTHER},
		{"blk_mq_submit_bio", NT_STACK_SCHEDULED, PATH_DIRECT_ISSUE},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++) {
		struct paths paths = {0};

		assert_int_equal(add(&paths, known[i].function, NULL, known[i].flags, 1), 0);
		assert_int_equal(paths.path[0].kind, known[i].kind);
		paths_free(&paths);
	}
}

/* Most commands first; paths of equally many by their names, the shorter before the longer. */
static void paths_are_sorted_by_commands_and_names(void **state)
{
	struct paths paths = {0};

	assert_int_equal(add(&paths, "b", NULL, 0, 2), 0);
	assert_int_equal(add(&paths, "a", "b", 0, 2), 0);
	assert_int_equal(add(&paths, "a", NULL, 0, 2), 0);
	assert_int_equal(add(&paths, "z", NULL, 0, 3), 0);
	assert_int_equal(add(&paths, "a", NULL, NT_STACK_POLLED, 2), 0);
	assert_int_equal(add(&paths, "c", NULL, 0, 1), 0);
	paths_sort(&paths);
	/* The same functions are another path if it is of another kind. */
	assert_int_equal(paths.nr, 6);
	assert_string_equal(paths.path[0].names[1], "z");
	assert_string_equal(paths.path[1].names[1], "a");
	assert_int_equal(paths.path[1].kind, PATH_POLLED);
	assert_int_equal(paths.path[1].nr, 2);
	assert_string_equal(paths.path[2].names[1], "a");
	assert_int_equal(paths.path[2].kind, PATH_OTHER);
	assert_int_equal(paths.path[2].nr, 2);
	assert_int_equal(paths.path[3].nr, 3);
	assert_string_equal(paths.path[4].names[1], "b");
	assert_string_equal(paths.path[5].names[1], "c");
	assert_int_equal(paths.commands, 12);
	assert_int_equal(paths.kinds[PATH_OTHER].commands, 10);
	assert_int_equal(paths.kinds[PATH_OTHER].waited, 10);
	assert_int_equal(paths.kinds[PATH_POLLED].commands, 2);
	assert_int_equal(paths.path[0].figures.waited, 3);
	assert_int_equal(paths.path[0].figures.waited_ns, 3);
	paths_free(&paths);
	paths_sort(&paths);
}

static void kinds_and_losses_have_names(void **state)
{
	assert_string_equal(path_kind_name(PATH_REQUEUE), "requeue");
	assert_string_equal(path_kind_name(PATH_OTHER), "other");
	assert_string_equal(path_kind_name(PATH_KINDS_NR), "unknown");
	assert_string_equal(path_kind_meaning(PATH_OTHER), "none of these");
	assert_string_equal(path_kind_meaning(PATH_KINDS_NR), "unknown");
	assert_string_equal(path_loss_name(PATH_LOST_NO_ROOM), "stack_no_room");
	assert_string_equal(path_loss_name(PATH_LOST_MISSED), "probe_missed");
	assert_string_equal(path_loss_name(PATH_LOSSES_NR), "unknown");
	assert_string_equal(path_loss_meaning(PATH_LOST_UNREAD),
			    "commands whose stack the kernel could not walk");
	assert_string_equal(path_loss_meaning(PATH_LOSSES_NR), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_of_the_first_kind_that_fits),
		cmocka_unit_test(what_is_further_in_than_the_driver_is_left_out),
		cmocka_unit_test(the_same_functions_are_one_path_and_kinds_add_up),
		cmocka_unit_test(a_stack_that_fills_its_room_has_all_frames),
		cmocka_unit_test(each_function_is_of_its_kind),
		cmocka_unit_test(kinds_have_an_order),
		cmocka_unit_test(paths_are_sorted_by_commands_and_names),
		cmocka_unit_test(kinds_and_losses_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
