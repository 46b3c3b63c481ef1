// SPDX-License-Identifier: GPL-2.0-only
/* Which commands a selection has, as users write it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/array.h"
#include "core/select.h"

#define SLBA 2048
#define QID 3
#define INSTANCE 1
#define CNTLID 7

static struct nt_record a_read(void)
{
	return (struct nt_record){
		.side = NT_HOST,
		.op = NT_OP_READ,
		.opcode = 2,
		.nsid = 1,
		.length = 4096,
		.slba = SLBA,
		.points = {[NT_H_SUBMIT] = 1000, [NT_H_COMPLETE] = 2000},
	};
}

typedef const char *parse_fn(struct nt_selection *s, const char *text);

static void a_command_is_selected_by_what_it_asks_for(void **state)
{
	static const struct {
		parse_fn *parse;
		const char *text;
		bool selected;
	} known[] = {
		{select_op, "read", true},
		{select_op, "write,read", true},
		{select_op, "write,flush,admin", false},
		{select_size, "4k", true},
		{select_size, "4K", true},
		{select_size, "4KiB", true},
		{select_size, "4096", true},
		{select_size, "4097", false},
		{select_size, "0-4095", false},
		{select_size, "512-1k,4k-128k", true},
		{select_size, "4095-4095,4097-1M", false},
		{select_nsid, "1", true},
		{select_nsid, "2-4294967295", false},
		{select_lba, "2048", true},
		{select_lba, "0x800-0x800", true},
		{select_lba, "0-2047,2049-18446744073709551615", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct select s = {0};
		struct nt_record r = a_read();

		assert_null(known[i].parse(&s.by, known[i].text));
		assert_true(nt_selects_by(&s.by));
		if (selects_record(&s, &r) != known[i].selected)
			fail_msg("%s: not %d", known[i].text, known[i].selected);
	}
}

static void all_that_is_given_has_to_be_so(void **state)
{
	struct nt_record r = a_read();
	struct select s = {0};

	assert_true(selects_record(&s, &r));
	assert_false(nt_selects_by(&s.by));
	assert_null(select_op(&s.by, "read"));
	assert_null(select_size(&s.by, "8k"));
	assert_false(selects_record(&s, &r));
	/* An option that is given again adds to the first. */
	assert_null(select_size(&s.by, "4k"));
	assert_true(selects_record(&s, &r));
	s.slower_ns = 1000;
	assert_true(selects_record(&s, &r));
	s.slower_ns = 1001;
	assert_false(selects_record(&s, &r));
}

static void commands_without_lba_or_namespace_are_at_none(void **state)
{
	struct select lba = {0}, nsid = {0};
	struct nt_record r = a_read();

	assert_null(select_lba(&lba.by, "0-18446744073709551615"));
	assert_null(select_nsid(&nsid.by, "0-4294967295"));
	r.op = NT_OP_FLUSH;
	assert_false(selects_record(&lba, &r));
	assert_true(selects_record(&nsid, &r));
	r.op = NT_OP_FABRICS;
	assert_false(selects_record(&nsid, &r));
	r.op = NT_OP_OTHER;
	assert_false(selects_record(&lba, &r));
	r.opcode = NT_OPCODE_COMPARE;
	assert_true(selects_record(&lba, &r));
	/* On an admin queue that opcode is another command. */
	r.op = NT_OP_ADMIN;
	assert_false(selects_record(&lba, &r));
}

static void what_failed_has_a_status_or_was_given_up(void **state)
{
	struct select s = {.failed = true};
	struct nt_record r = a_read();

	assert_false(selects_record(&s, &r));
	r.status = 0x4000; /* do not retry */
	assert_false(selects_record(&s, &r));
	r.status = 0x281;
	assert_true(selects_record(&s, &r));
	r.status = 0;
	r.flags = NT_F_CANCELLED;
	assert_true(selects_record(&s, &r));
}

static void a_queue_is_selected_by_its_ids_and_names(void **state)
{
	static const struct {
		parse_fn *parse;
		const char *text;
		bool host, target;
	} known[] = {
		{select_ctrl, "nvme1", true, false},   {select_ctrl, "nvme0", false, false},
		{select_ctrl, "7", true, true},	       {select_ctrl, "nvme0,7", true, true},
		{select_ctrl, "1,0x8", false, false},  {select_queue, "3", true, true},
		{select_queue, "0-2,4", false, false}, {select_queue, "1,2-3", true, true},
		{select_nqn, "nqn.s", true, true},     {select_nqn, "nqn.s2", false, false},
		{select_hostnqn, "nqn.h", true, true}, {select_hostnqn, "nqn.", false, false},
	};
	const struct queue_info q = {.instance = INSTANCE,
				     .cntlid = CNTLID,
				     .qid = QID,
				     .subsysnqn = "nqn.s",
				     .hostnqn = "nqn.h"};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct select s = {0};

		assert_null(known[i].parse(&s.by, known[i].text));
		assert_true(nt_selects_by(&s.by));
		if (selects_queue(&s.by, NT_HOST, &q) != known[i].host ||
		    selects_queue(&s.by, NT_TARGET, &q) != known[i].target)
			fail_msg("%s: not %d and %d", known[i].text, known[i].host,
				 known[i].target);
	}
}

static void options_are_told_as_a_shell_takes_them(void **state)
{
	struct select s = {.device = NULL}, odd = {.device = NULL};

	select_said(&s, "op", "read,write");
	select_said(&s, "where", "latency>1ms");
	select_said(&s, "failed", NULL);
	assert_string_equal(s.said, "--op read,write --where 'latency>1ms' --failed");
	assert_true(select_told(s.said));
	select_said(&odd, "nqn", "a'$(b)'");
	assert_null(strstr(odd.said, "$(b)"));
	assert_false(select_told(odd.said));
	for (unsigned int i = 0; i < SELECT_SAID_LEN; i++)
		select_said(&s, "failed", NULL);
	assert_int_equal(strlen(s.said), SELECT_SAID_LEN - 1);
	assert_false(select_told(s.said));
}

static void nonsense_is_refused(void **state)
{
	static const struct {
		parse_fn *parse;
		const char *text;
		const char *why;
	} wrong[] = {
		{select_size, "4k-1k", "ends before it begins"},
		{select_size, "", "not sizes below 4G"},
		{select_size, "4kB", "not sizes"},
		{select_size, "4G", "not sizes"},
		{select_size, "-4k", "not sizes"},
		{select_size, "4k-", "not sizes"},
		{select_size, "4k,,8k", "not sizes"},
		{select_size, "4k-8k-16k", "not sizes"},
		{select_queue, "70000", "not queue ids from 0 to 65535"},
		{select_queue, "3,x", "not queue ids"},
		{select_queue, " 3", "not queue ids"},
		{select_queue, "1,2,3,4,5,6,7,8,9", "too many, the most are 8"},
		{select_op, "foo", "not operations: there are read, write, flush, "},
		{select_op, "read,", "not operations"},
		{select_op, "Read", "not operations"},
		{select_nsid, "4294967296", "not namespace ids"},
		{select_lba, "0x", "not LBAs"},
		{select_lba, "18446744073709551616", "not LBAs"},
		{select_ctrl, "nvme", "not a controller"},
		{select_ctrl, "nvme0n1", "not a controller"},
		{select_ctrl, "65536", "not a controller"},
		{select_nqn, "", "not an NQN"},
	};
	char nqn[NT_NQN_LEN + 1];
	struct nt_selection s = {.ops = 0};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		const char *why;

		memset(&s, 0, sizeof(s));
		why = wrong[i].parse(&s, wrong[i].text);
		if (!why || strncmp(why, wrong[i].why, strlen(wrong[i].why)) != 0)
			fail_msg("'%s': %s", wrong[i].text, why ?: "taken");
	}
	memset(nqn, 'n', NT_NQN_LEN);
	nqn[NT_NQN_LEN] = '\0';
	assert_non_null(select_hostnqn(&s, nqn));
	nqn[NT_NQN_LEN - 1] = '\0';
	assert_null(select_hostnqn(&s, nqn));
	assert_string_equal(s.hostnqn, nqn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_is_selected_by_what_it_asks_for),
		cmocka_unit_test(all_that_is_given_has_to_be_so),
		cmocka_unit_test(commands_without_lba_or_namespace_are_at_none),
		cmocka_unit_test(what_failed_has_a_status_or_was_given_up),
		cmocka_unit_test(a_queue_is_selected_by_its_ids_and_names),
		cmocka_unit_test(options_are_told_as_a_shell_takes_them),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
