// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of a program that the kernel does not let attach. libbpf and the objects are this test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <bpf/libbpf.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "trace/attach.h"
#include "trace/private.h"

/* A program is its name, and a link as well. */
static struct {
	const char *refused;
	int err;
	const char *attached[TRACER_PROGRAMS_MAX];
	struct bpf_link *link[TRACER_PROGRAMS_MAX];
	unsigned int nr;
} kernel;

struct bpf_program *bpf_object__find_program_by_name(const struct bpf_object *obj, const char *name)
{
	(void)obj;
	return (struct bpf_program *)name;
}

bool bpf_program__autoload(const struct bpf_program *program)
{
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
	return (struct bpf_link *)program;
}

int bpf_link__destroy(struct bpf_link *link)
{
	(void)link;
	return 0;
}

struct bpf_link **object_link(const struct object *o, const char *name)
{
	(void)o;
	(void)name;
	kernel.link[kernel.nr] = NULL;
	return &kernel.link[kernel.nr];
}

static enum tracer_status attach(struct refusals *refused, const char *program, int err,
				 char *detail, size_t size)
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
	return attach_all(&t, detail, size);
}

static void what_cannot_be_attached_is_refused_with_the_reason(void **state)
{
	struct refusals refused = {0};
	char detail[128], why[128];

	(void)state;
	assert_int_equal(attach(&refused, "stock_send_cmd", E2BIG, detail, sizeof(detail)),
			 TRACER_ATTACH);
	assert_int_equal(refused.nr, 1);
	snprintf(why, sizeof(why), "it cannot be attached: %s", strerror(E2BIG));
	assert_string_equal(refusals_why(&refused, "stock_send_cmd"), why);
	/* Nothing that comes before it in a command's life has been attached. */
	for (unsigned int i = 0; i < kernel.nr; i++)
		assert_string_not_equal(kernel.attached[i], "stock_queue_rq");
}

static void want_of_memory_is_no_refusal(void **state)
{
	struct refusals refused = {0};
	char detail[128];

	(void)state;
	assert_int_equal(attach(&refused, "stock_send_cmd", ENOMEM, detail, sizeof(detail)),
			 TRACER_ATTACH);
	assert_int_equal(refused.nr, 0);
}

static void what_can_be_attached_is_attached_from_the_last_point_on(void **state)
{
	struct refusals refused = {0};
	char detail[128];

	(void)state;
	assert_int_equal(attach(&refused, "", 0, detail, sizeof(detail)), TRACER_OK);
	assert_int_equal(refused.nr, 0);
	assert_string_equal(kernel.attached[0], "stock_end");
	assert_string_equal(kernel.attached[kernel.nr - 1], "stock_queue_rq");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_attached_is_refused_with_the_reason),
		cmocka_unit_test(want_of_memory_is_no_refusal),
		cmocka_unit_test(what_can_be_attached_is_attached_from_the_last_point_on),
	};

	return cmocka_run_group_tests_name("attach", tests, NULL, NULL);
}
