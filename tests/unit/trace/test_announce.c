// SPDX-License-Identifier: GPL-2.0-only
/* When a reader of records gets the description of a connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/announce.h"

/* The description of any queue that the tracer of this test gives. */
static struct queue_info kernel = {.gen = 3};

void tracer_queue(const struct tracer *t, uint32_t slot, uint32_t gen, struct queue_info *q)
{
	*q = kernel;
	q->slot = slot;
}

static void must_announce(struct announced *a, const struct nt_record *r, int new)
{
	struct queue_info q;

	assert_int_equal(announce(a, NULL, r, &q), new);
	if (!new)
		return;
	assert_int_equal(q.slot, r->slot);
	assert_int_equal(q.gen, r->gen);
	assert_int_equal(q.cntlid, r->cntlid);
	assert_int_equal(q.qid, r->qid);
}

static void a_queue_is_told_of_when_something_is_new(void **state)
{
	struct nt_record r = {.slot = 5, .gen = 3, .cntlid = NT_CNTLID_NONE};
	struct announced a = {0};

	/* Connect comes before the controller is known, */
	must_announce(&a, &r, 1);
	must_announce(&a, &r, 0);
	/* then it has an id, */
	r.cntlid = 7;
	must_announce(&a, &r, 1);
	must_announce(&a, &r, 0);
	/* then a name. */
	strcpy(kernel.subsysnqn, "nqn.a");
	must_announce(&a, &r, 1);
	must_announce(&a, &r, 0);
	/* The connection has gone, so that nothing more will be learnt about it. */
	kernel.subsysnqn[0] = '\0';
	r.gen = 2;
	must_announce(&a, &r, 1);
	must_announce(&a, &r, 0);
	r.gen = kernel.gen = 4;
	must_announce(&a, &r, 1);
	must_announce(&a, &r, 0);
	/*
	 * I/O queues are looked up only once: there are many, and they have names from the
	 * beginning.
	 */
	r.slot = 15;
	r.qid = 2;
	must_announce(&a, &r, 1);
	strcpy(kernel.subsysnqn, "nqn.a");
	must_announce(&a, &r, 0);
	announced_free(&a);
}

static void the_address_is_of_the_connection_that_has_it(void **state)
{
	const struct nt_record r = {.slot = 5, .gen = 3, .cntlid = 7, .qid = 2};
	struct queue_info q;

	kernel = (struct queue_info){.gen = 3, .address = "traddr=a", .subsysnqn = "nqn.a"};
	assert_true(announce_describe(NULL, &r, &q));
	assert_string_equal(q.address, "traddr=a");
	assert_string_equal(q.subsysnqn, "nqn.a");
	kernel.gen = 4;
	assert_true(announce_describe(NULL, &r, &q));
	assert_string_equal(q.address, "");
	kernel = (struct queue_info){.gen = 3};
	assert_false(announce_describe(NULL, &r, &q));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_is_told_of_when_something_is_new),
		cmocka_unit_test(the_address_is_of_the_connection_that_has_it),
	};

	return cmocka_run_group_tests_name("announce", tests, NULL, NULL);
}
