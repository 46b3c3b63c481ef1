// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tracer asks of the machine, and what it does without a program that is attached. This
 * test stands in for the kernel's version and module, and the process's capabilities.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <bpf/libbpf.h>
#include <cmocka.h>
#include <linux/capability.h>

#include "core/array.h"
#include "core/rights.h"
#include "core/time.h"
#include "trace/kernel.h"
#include "trace/load.h"
#include "trace/private.h"
#include "trace/tracer.h"

#define SECOND 1000000000ULL
#define HOUR (3600 * (int64_t)SECOND)

static const char *release;
static uint64_t rights;

int __wrap_uname(struct utsname *u);
uint64_t __wrap_rights_effective(void);

int __wrap_uname(struct utsname *u)
{
	memset(u, 0, sizeof(*u));
	snprintf(u->release, sizeof(u->release), "%s", release);
	return 0;
}

uint64_t __wrap_rights_effective(void)
{
	return rights;
}

__attribute__((format(printf, 3, 4))) static int
print(libbpf_print_fn_t fn, enum libbpf_print_level level, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = fn(level, format, args);
	va_end(args);
	return n;
}

/* What the driver of the next tests is, and becomes while programs are loaded; 0: not there. */
static uint64_t module, module_then;
static unsigned int attempts;

uint64_t __wrap_kernel_module_id(const char *name);
int __wrap_load_open(struct tracer *t);

uint64_t __wrap_kernel_module_id(const char *name)
{
	return strcmp(name, "nvmet_tcp") ? 0 : module;
}

/* As if the kernel refused a program in each of two attempts. */
int __wrap_load_open(struct tracer *t)
{
	assert_int_equal(t->refused->nr, attempts);
	attempts++;
	if (attempts <= 2)
		refusals_add(t->refused, attempts == 1 ? "stock_data" : "stock_done", "gone");
	module = module_then;
	return -ENOENT;
}

/* Of 9,380 lines of a start, 9,343 were for debugging libbpf. */
static void messages_for_debugging_take_v_twice(void **state)
{
	libbpf_print_fn_t fn;

	tracer_log(1);
	fn = libbpf_set_print(NULL);
	assert_int_equal(print(fn, LIBBPF_DEBUG, "%s", "x"), 0);
	assert_int_equal(print(fn, LIBBPF_WARN, "%s", "\n"), 1);
	tracer_log(2);
	fn = libbpf_set_print(NULL);
	assert_int_equal(print(fn, LIBBPF_DEBUG, "%s", "\n"), 1);
	tracer_log(0);
	assert_null(libbpf_set_print(NULL));
}

/* Loading needs both of the others, and CAP_SYS_ADMIN stands for them. */
static void capabilities_that_are_lacking_are_named(void **state)
{
	static const struct {
		uint64_t rights;
		const char *lacks;
	} cases[] = {
		{RIGHT(CAP_KILL), "CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN"},
		{RIGHT(CAP_BPF), "CAP_PERFMON, CAP_SYS_ADMIN"},
		{RIGHT(CAP_BPF) | RIGHT(CAP_PERFMON), "CAP_SYS_ADMIN"},
		{RIGHT(CAP_SYS_ADMIN), NULL},
		{RIGHTS_ALL, NULL},
	};
	char detail[128];

	release = "6.12.0";
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		enum tracer_status status;

		rights = cases[i].rights;
		status = tracer_check(detail, sizeof(detail));
		assert_int_equal(status == TRACER_NOT_ALLOWED, cases[i].lacks != NULL);
		assert_string_equal(detail, cases[i].lacks ?: release);
	}
}

/* The oldest kernel that is supported, and the first one whose requests end on their own CPU. */
static void kernels_from_the_oldest_supported_one_are_accepted(void **state)
{
	static const struct {
		const char *release;
		bool old, local;
	} cases[] = {
		{"4.18.0-553.el8", true, false},
		{"5.13.19", true, false},
		{"5.14.0-427.13.1.el9_4.x86_64", false, false},
		{"5.15.0-generic", false, false},
		{"6.0.19", false, false},
		{"6.1.0-37-amd64", false, true},
		{"6.12.38", false, true},
		{"7.0.0-rc1", false, true},
		{"unknown", false, false},
	};
	char detail[128];

	rights = RIGHTS_ALL;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		release = cases[i].release;
		assert_int_equal(kernel_too_old(), cases[i].old);
		assert_int_equal(kernel_ends_locally(), cases[i].local);
		assert_int_equal(tracer_check(detail, sizeof(detail)) == TRACER_OLD_KERNEL,
				 cases[i].old);
		assert_string_equal(detail, release);
	}
}

/*
 * The clock was set forward or back by an hour since it was measured, and the timer did not become
 * readable. Half an hour is far more than measuring takes on a busy machine.
 */
static void offset_is_that_of_the_wall_clock_as_it_is(void **state)
{
	static const int64_t steps[] = {HOUR, -HOUR};

	for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++) {
		int64_t was = realtime_ns() - (int64_t)monotonic_ns() - steps[i];
		struct nt_control control = {.real_offset = was};
		struct tracer t = {
			.clock = {.stamp_fd = -1, .step_fd = -1, .low = was - 1, .high = was + 1},
			.object.control = &control,
		};

		tracer_clock_update(&t);
		assert_true(llabs(control.real_offset - was - steps[i]) < HOUR / 2);
	}
}

/* A pause without a burst before it adds nothing. */
static void all_bursts_have_been_measured(void **state)
{
	struct tracer t = {.o = {.side = NT_HOST, .bursts = true}, .clock.stamp_fd = -1};
	uint64_t measured = 0;

	assert_int_equal(object_open(&t.object, NT_HOST), 0);
	for (unsigned int i = 1; i <= 3; i++) {
		t.measures = true;
		t.attached_ns = monotonic_ns() - i * 10 * SECOND;
		t.detached_ns = 0;
		tracer_pause(&t);
		measured += t.detached_ns - t.attached_ns;
		assert_int_equal(t.measured_ns, measured);
		assert_int_equal(t.burst_ended_ns - t.burst_began_ns,
				 t.detached_ns - t.attached_ns);
		tracer_pause(&t);
		assert_int_equal(t.measured_ns, measured);
		assert_int_equal(t.bursts, i);
		assert_false(tracer_measures(&t));
	}
	assert_true(measured >= 60 * SECOND);
	object_close(&t.object);
}

static void take_a_while(void *context, const struct nt_record *r)
{
	const uint64_t until = monotonic_ns() + 10000;

	while (monotonic_ns() < until)
		;
}

/* As that of libbpf: for as long as there are records. These come as fast as they are taken. */
int __wrap_ring_buffer__consume(struct ring_buffer *ring);
int __wrap_ring_buffer__consume(struct ring_buffer *ring)
{
	struct nt_record r = {.side = NT_TARGET};
	int err;

	for (int n = 0; n < 100000; n++) {
		err = tracer_on_ring(ring, &r, sizeof(r));
		if (err < 0)
			return err;
	}
	return 100000;
}

static void records_that_do_not_end_hold_up_nothing_else(void **state)
{
	struct tracer t = {.o = {.side = NT_TARGET, .on_record = take_a_while}};
	struct nt_control control = {.slots_seen = 0};

	t.object.control = &control;
	t.ring = (struct ring_buffer *)&t;
	/* There are more. */
	assert_int_equal(tracer_drain(&t), 1);
	assert_in_range(t.drained, 1, 12000);
}

/* Opens a tracer of a target. Return: its status; @attempts is how often it tried */
static enum tracer_status open_target(uint64_t is, uint64_t becomes)
{
	const struct tracer_options o = {.side = NT_TARGET, .select = NT_SELECT_NONE};
	enum tracer_status status;
	struct tracer *t;
	char detail[128];

	module = is;
	module_then = becomes;
	attempts = 0;
	status = tracer_open(&t, &o, detail, sizeof(detail));
	assert_null(t);
	return status;
}

static void what_a_kernel_refuses_is_done_without(void **state)
{
	assert_int_equal(open_target(7, 7), TRACER_LOAD);
	assert_int_equal(attempts, 3);
}

/* Also one that has come again. Programs that were refused then are tried again. */
static void a_driver_that_goes_meanwhile_is_waited_for(void **state)
{
	assert_int_equal(open_target(0, 7), TRACER_NO_MODULE);
	assert_int_equal(attempts, 0);
	assert_int_equal(open_target(7, 0), TRACER_NO_MODULE);
	assert_int_equal(attempts, 1);
	assert_int_equal(open_target(7, 8), TRACER_NO_MODULE);
	assert_int_equal(attempts, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_for_debugging_take_v_twice),
		cmocka_unit_test(capabilities_that_are_lacking_are_named),
		cmocka_unit_test(kernels_from_the_oldest_supported_one_are_accepted),
		cmocka_unit_test(offset_is_that_of_the_wall_clock_as_it_is),
		cmocka_unit_test(all_bursts_have_been_measured),
		cmocka_unit_test(records_that_do_not_end_hold_up_nothing_else),
		cmocka_unit_test(what_a_kernel_refuses_is_done_without),
		cmocka_unit_test(a_driver_that_goes_meanwhile_is_waited_for),
	};

	return cmocka_run_group_tests_name("tracer", tests, NULL, NULL);
}
