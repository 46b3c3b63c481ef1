// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tracer does when the kernel refuses to attach a program. This test stands in for libbpf
 * and the objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/time.h"
#include "trace/attach.h"
#include "trace/kernel.h"
#include "trace/private.h"

#define NS_PER_S 1000000000ULL

/* In this test a program, and its link as well, is a pointer to the program's name. */
static struct {
	const char *refused;
	bool nested; /* twins (programs named *_nested) are loaded, too */
	int err;
	const char *attached[TRACER_PROGRAMS_MAX]; /* all that were ever attached, in order */
	unsigned int nr;
	struct {
		const char *name;
		struct bpf_link *link;
	} links[TRACER_PROGRAMS_MAX];
	unsigned int missed_looks;
	uint64_t attached_ns;	  /* when the last program was attached */
	uint64_t first_detach_ns; /* when detaching began after that */
	unsigned int waits;	  /* calls that wait for running programs while none is attached */
	/* Whether runs of those programs that have twins were skipped. */
	bool end_was_skipped;
	bool beginning_was_skipped;
} kernel;

enum { FD_END = 10, FD_BEGINNING, FD_GRACE };

struct bpf_program *bpf_object__find_program_by_name(const struct bpf_object *obj, const char *name)
{
	return (struct bpf_program *)name;
}

bool bpf_program__autoload(const struct bpf_program *program)
{
	if (strstr((const char *)program, "_nested"))
		return kernel.nested;
	return !strncmp((const char *)program, "stock_", 6);
}

const char *bpf_program__section_name(const struct bpf_program *program)
{
	return (const char *)program;
}

struct bpf_link *bpf_program__attach_trace(const struct bpf_program *program)
{
	if (!strcmp((const char *)program, kernel.refused)) {
		errno = kernel.err;
		return NULL;
	}
	kernel.attached[kernel.nr++] = (const char *)program;
	kernel.attached_ns = monotonic_ns();
	kernel.first_detach_ns = 0;
	return (struct bpf_link *)program;
}

int bpf_link__destroy(struct bpf_link *link)
{
	if (!kernel.first_detach_ns)
		kernel.first_detach_ns = monotonic_ns();
	return 0;
}

struct bpf_link **object_link(const struct object *o, const char *name)
{
	unsigned int i = 0;

	while (kernel.links[i].name && strcmp(kernel.links[i].name, name))
		i++;
	kernel.links[i].name = name;
	return &kernel.links[i].link;
}

/*
 * A program's skipped runs are read only while its twin is attached: after the twin was attached
 * and before it is detached.
 */
int bpf_obj_get_info_by_fd(int fd, void *info, __u32 *size)
{
	if (fd == FD_END || fd == FD_BEGINNING) {
		((struct bpf_prog_info *)info)->recursion_misses =
			fd == FD_END ? kernel.end_was_skipped : kernel.beginning_was_skipped;
		return 0;
	}
	assert_non_null(*object_link(NULL, "rq_complete_nested"));
	kernel.missed_looks++;
	return 0;
}

static unsigned int attached_now(void);

/* For a map of maps: see pool_wait(). */
int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	assert_int_equal(fd, FD_GRACE);
	kernel.waits += attached_now() == 0;
	return 0;
}

static unsigned int attached_now(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < TRACER_PROGRAMS_MAX; i++)
		n += kernel.links[i].link != NULL;
	return n;
}

/* @attach_fn: attach_all() or attach_try() */
static enum tracer_status
attach_by(enum tracer_status (*attach_fn)(struct tracer *, char *, size_t),
	  struct refusals *refused, const char *program, int err, char *detail, size_t size)
{
	struct nt_control control = {0};
	struct tracer t = {
		.o.side = NT_HOST,
		.object.control = &control,
		.refused = refused,
	};

	memset(&kernel, 0, sizeof(kernel));
	kernel.refused = program;
	kernel.err = err;
	return attach_fn(&t, detail, size);
}

static enum tracer_status attach(struct refusals *refused, const char *program, int err,
				 char *detail, size_t size)
{
	return attach_by(attach_all, refused, program, err, detail, size);
}

static void what_cannot_be_attached_is_refused_with_the_reason(void **state)
{
	struct refusals refused = {0};
	char detail[128], why[128];

	assert_int_equal(attach(&refused, "stock_send_cmd", E2BIG, detail, sizeof(detail)),
			 TRACER_ATTACH);
	assert_int_equal(refused.nr, 1);
	snprintf(why, sizeof(why), "it cannot be attached: %s", strerror(E2BIG));
	assert_string_equal(refusals_why(&refused, "stock_send_cmd"), why);
	/* No program of an earlier point in a command's life has been attached. */
	for (unsigned int i = 0; i < kernel.nr; i++)
		assert_string_not_equal(kernel.attached[i], "stock_queue_rq");
}

static void want_of_memory_is_no_refusal(void **state)
{
	struct refusals refused = {0};
	char detail[128];

	assert_int_equal(attach(&refused, "stock_send_cmd", ENOMEM, detail, sizeof(detail)),
			 TRACER_ATTACH);
	assert_int_equal(refused.nr, 0);
}

static void what_can_be_attached_is_attached_from_the_last_point_on(void **state)
{
	struct refusals refused = {0};
	char detail[128];

	assert_int_equal(attach(&refused, "", 0, detail, sizeof(detail)), TRACER_OK);
	assert_int_equal(refused.nr, 0);
	assert_string_equal(kernel.attached[0], "stock_end");
	assert_string_equal(kernel.attached[kernel.nr - 1], "stock_queue_rq");
}

/* This comes before the first burst, so that another way to the point can be chosen. */
static void what_cannot_be_attached_is_found_by_trying(void **state)
{
	struct refusals refused = {0};
	char detail[128];

	assert_int_equal(
		attach_by(attach_try, &refused, "stock_send_cmd", E2BIG, detail, sizeof(detail)),
		TRACER_ATTACH);
	assert_int_equal(refused.nr, 1);
	assert_string_equal(refused.of[0].program, "stock_send_cmd");
	assert_int_equal(attached_now(), 0);
}

/* A program that sees a command begin would leave the command in flight. */
static void what_was_tried_is_detached_and_has_seen_no_command(void **state)
{
	struct refusals refused = {0};
	char detail[128];

	assert_int_equal(attach_by(attach_try, &refused, "", 0, detail, sizeof(detail)), TRACER_OK);
	assert_int_equal(refused.nr, 0);
	assert_int_not_equal(kernel.nr, 0);
	assert_int_equal(attached_now(), 0);
	for (unsigned int i = 0; i < kernel.nr; i++)
		assert_string_not_equal(kernel.attached[i], "stock_queue_rq");
}

static void between_two_bursts_nothing_is_attached(void **state)
{
	struct nt_control control = {.no_sqflow = 1, .redirected = 1};
	struct tracer t = {
		.o = {.side = NT_HOST, .bursts = true},
		.object.control = &control,
		.object.pools[NT_POOL_CMDS].grace.outer_fd = FD_GRACE,
		.bursts = 1,
		.measures = true,
		.missed = {{.fd = -1, .twin_fd = -1}},
		.nr_missed = 1,
	};
	char detail[128];
	unsigned int all;

	memset(&kernel, 0, sizeof(kernel));
	kernel.refused = "";
	assert_int_equal(attach_all(&t, detail, sizeof(detail)), TRACER_OK);
	all = attached_now();
	assert_int_equal(kernel.waits, 0);
	attach_pause(&t);
	/* All runs of the programs are over, too, even where membarrier(2) is refused. */
	assert_int_equal(kernel.waits, 1);
	t.measures = false;
	assert_int_equal(attached_now(), 0);
	/* The timer of attach_adapt() was due when the burst ended. */
	control.data_watched = 0;
	attach_adapt(&t);
	assert_int_equal(attached_now(), 0);
	t.measures = true;
	assert_int_equal(attach_all(&t, detail, sizeof(detail)), TRACER_OK);
	assert_int_equal(attached_now(), all);
}

static bool is_attached(const char *name)
{
	return *object_link(NULL, name) != NULL;
}

/* What has run is detached, as it would cost each command. What then does not run stays. */
static void what_has_not_run_stays_after_a_burst_of_all_points(void **state)
{
	static const char rw[] = "stock_exec_nvmet_bdev_execute_rw";
	struct nt_control control = {0};
	struct tracer t = {
		.o = {.side = NT_TARGET, .stages = true},
		.object.control = &control,
		.object.pools[NT_POOL_CMDS].grace.outer_fd = FD_GRACE,
		.missed = {{.fd = -1, .twin_fd = -1}},
		.nr_missed = 1,
	};
	char detail[128];

	memset(&kernel, 0, sizeof(kernel));
	kernel.refused = "";
	assert_int_equal(attach_burst(&t, detail, sizeof(detail)), TRACER_OK);
	assert_true(is_attached(rw));
	control.ran[NT_SELDOM_stock_exec_nvmet_bdev_execute_rw] = 1;
	attach_burst_over(&t);
	assert_false(is_attached(rw));
	assert_false(is_attached("stock_copied"));
	assert_true(is_attached("stock_exec_nvmet_file_execute_rw"));
	assert_true(is_attached("stock_data"));
	assert_int_equal(attach_burst(&t, detail, sizeof(detail)), TRACER_OK);
	assert_true(is_attached("stock_copied"));
	attach_burst_over(&t);
	assert_true(is_attached(rw));
	attach_detach_all(&t);
	assert_int_equal(attached_now(), 0);
}

/*
 * The twin runs where an interrupt finds its program running. It stays attached until it is known
 * that no interrupt does so.
 */
static void who_stands_in_is_there_until_queues_with_io_have_been_seen(void **state)
{
	struct nt_control control = {0};
	struct tracer t = {
		.o.side = NT_HOST,
		.object.control = &control,
		.measures = true,
		.missed = {{.fd = FD_END, .twin = "rq_complete_nested", .twin_fd = 0}},
		.nr_missed = 1,
	};
	char detail[128];

	if (!kernel_ends_locally())
		skip();
	memset(&kernel, 0, sizeof(kernel));
	kernel.refused = "";
	kernel.nested = true;
	assert_int_equal(attach_all(&t, detail, sizeof(detail)), TRACER_OK);
	assert_true(is_attached("rq_complete_nested"));
	/* The time without I/O does not count. */
	t.attached_ns -= 3600 * NS_PER_S;
	attach_adapt(&t);
	assert_true(is_attached("rq_complete_nested"));
	control.identified_ns = monotonic_ns();
	attach_adapt(&t);
	assert_true(is_attached("rq_complete_nested"));
	assert_int_equal(kernel.missed_looks, 0);
	control.identified_ns -= 3600 * NS_PER_S;
	attach_adapt(&t);
	assert_false(is_attached("rq_complete_nested"));
	assert_int_equal(kernel.missed_looks, 1);
	control.identified_ns = monotonic_ns();
	attach_adapt(&t);
	assert_true(is_attached("rq_complete_nested"));
	assert_int_equal(kernel.missed_looks, 2);
	control.identified_ns -= 3600 * NS_PER_S;
	attach_adapt(&t);
	assert_false(is_attached("rq_complete_nested"));
	control.redirected = 1;
	attach_adapt(&t);
	assert_true(is_attached("rq_complete_nested"));
}

/* A host's tracer after queues with I/O have been seen and twins were detached. */
static struct tracer settled_tracer(struct nt_control *control)
{
	struct tracer t = {
		.o.side = NT_HOST,
		.object.control = control,
		.measures = true,
		.missed = {{.fd = FD_END, .twin = "rq_complete_nested", .twin_fd = -1},
			   {.fd = FD_BEGINNING, .twin = "stock_queue_rq_nested", .twin_fd = -1}},
		.nr_missed = 2,
	};
	char detail[128];

	*control = (struct nt_control){.identified_ns = 1};
	memset(&kernel, 0, sizeof(kernel));
	kernel.refused = "";
	kernel.nested = true;
	assert_int_equal(attach_all(&t, detail, sizeof(detail)), TRACER_OK);
	assert_true(is_attached("stock_queue_rq_nested"));
	assert_true(is_attached("rq_complete_nested"));
	attach_adapt(&t);
	assert_false(is_attached("stock_queue_rq_nested"));
	return t;
}

/* A target's stands in until it is settled, and again once a run was skipped, however settled. */
static void who_stands_in_on_a_target_is_there_once_a_run_was_skipped(void **state)
{
	struct nt_control control = {.identified_ns = 1};
	struct tracer t = {
		.o.side = NT_TARGET,
		.object.control = &control,
		.measures = true,
		.missed = {{.fd = FD_END, .twin = "stock_done_nested", .twin_fd = -1}},
		.nr_missed = 1,
	};
	char detail[128];

	memset(&kernel, 0, sizeof(kernel));
	kernel.refused = "";
	kernel.nested = true;
	assert_int_equal(attach_all(&t, detail, sizeof(detail)), TRACER_OK);
	assert_true(is_attached("stock_done_nested"));
	attach_adapt(&t);
	assert_false(is_attached("stock_done_nested"));
	kernel.end_was_skipped = true;
	attach_adapt(&t);
	assert_true(is_attached("stock_done_nested"));
	kernel.end_was_skipped = false;
	attach_adapt(&t);
	assert_true(is_attached("stock_done_nested"));
}

static void burst_again(struct tracer *t)
{
	char detail[128];

	attach_pause(t);
	t->bursts++;
	assert_int_equal(attach_all(t, detail, sizeof(detail)), TRACER_OK);
}

/*
 * Tasks are preempted within programs, so the twins stay. It does not matter on which CPU commands
 * end, and it holds from one burst to the next.
 */
static void who_stands_in_stays_once_a_beginning_was_skipped(void **state)
{
	struct nt_control control;
	struct tracer t;

	/* The twin comes back at once, or with the next burst if the burst ended first. */
	for (int adapts = 0; adapts < 2; adapts++) {
		t = settled_tracer(&control);
		kernel.beginning_was_skipped = true;
		if (adapts) {
			attach_adapt(&t);
			assert_true(is_attached("stock_queue_rq_nested"));
			assert_true(is_attached("rq_complete_nested"));
		}
		burst_again(&t);
		assert_true(is_attached("stock_queue_rq_nested"));
		assert_true(is_attached("rq_complete_nested"));
		assert_false(t.missed[0].alone || t.missed[1].alone);
	}
}

/*
 * An end was skipped, or came on another CPU. Both are due to an interrupt of some driver, and no
 * command begins in one.
 */
static void who_stands_in_for_ends_is_there_without_the_other(void **state)
{
	struct nt_control control;
	struct tracer t;

	for (int skipped = 0; skipped < 2; skipped++) {
		t = settled_tracer(&control);
		if (kernel_ends_locally())
			assert_false(is_attached("rq_complete_nested"));
		kernel.end_was_skipped = skipped;
		control.redirected = !skipped;
		attach_adapt(&t);
		assert_true(is_attached("rq_complete_nested"));
		assert_false(is_attached("stock_queue_rq_nested"));
		burst_again(&t);
		assert_true(is_attached("rq_complete_nested"));
		assert_false(is_attached("stock_queue_rq_nested"));
		assert_false(t.missed[0].alone);
		assert_true(t.missed[1].alone);
	}
}

/*
 * To attach or detach all takes some 100 ms with stock drivers. Nothing more is counted in that
 * time.
 */
static void time_is_from_the_last_attached_to_the_first_detached(void **state)
{
	void (*const detach[])(struct tracer *) = {attach_pause, attach_detach_all,
						   attach_detach_beginnings};
	struct nt_control control = {0};
	struct tracer t = {.o.side = NT_HOST, .object.control = &control};
	char detail[128];
	uint64_t before, ended;

	for (unsigned int i = 0; i < sizeof(detach) / sizeof(detach[0]); i++) {
		memset(&kernel, 0, sizeof(kernel));
		kernel.refused = "";
		assert_int_equal(attach_all(&t, detail, sizeof(detail)), TRACER_OK);
		assert_true(t.attached_ns >= kernel.attached_ns);
		assert_int_equal(control.began_ns, t.attached_ns);
		assert_int_equal(t.detached_ns, 0);
		before = monotonic_ns();
		detach[i](&t);
		assert_true(t.detached_ns >= before && t.detached_ns <= kernel.first_detach_ns);
		assert_int_equal(control.began_ns, 0);
		/* Those that were left for ends are detached later. */
		ended = t.detached_ns;
		attach_detach_all(&t);
		assert_int_equal(t.detached_ns, ended);
	}
}

/* Such a driver has no file "initstate". */
static void a_driver_that_is_built_in_is_there(void **state)
{
	if (access("/sys/module/kernel", F_OK))
		skip();
	assert_true(kernel_has_module("kernel"));
	assert_int_equal(kernel_module_id("kernel"), kernel_module_id("kernel"));
	assert_true(kernel_has_builtin("kernel"));
	assert_false(kernel_has_builtin("ntprof_no_such_module"));
	assert_false(kernel_has_module("ntprof_no_such_module"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_attached_is_refused_with_the_reason),
		cmocka_unit_test(want_of_memory_is_no_refusal),
		cmocka_unit_test(what_can_be_attached_is_attached_from_the_last_point_on),
		cmocka_unit_test(what_cannot_be_attached_is_found_by_trying),
		cmocka_unit_test(what_was_tried_is_detached_and_has_seen_no_command),
		cmocka_unit_test(between_two_bursts_nothing_is_attached),
		cmocka_unit_test(what_has_not_run_stays_after_a_burst_of_all_points),
		cmocka_unit_test(who_stands_in_is_there_until_queues_with_io_have_been_seen),
		cmocka_unit_test(who_stands_in_on_a_target_is_there_once_a_run_was_skipped),
		cmocka_unit_test(who_stands_in_stays_once_a_beginning_was_skipped),
		cmocka_unit_test(who_stands_in_for_ends_is_there_without_the_other),
		cmocka_unit_test(time_is_from_the_last_attached_to_the_first_detached),
		cmocka_unit_test(a_driver_that_is_built_in_is_there),
	};

	return cmocka_run_group_tests_name("attach", tests, NULL, NULL);
}
