// SPDX-License-Identifier: GPL-2.0-only
/* Keys of groups: how they are read and ordered, and how names that look alike get numbers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/group.h"
#include "core/hash.h"

#define NAMES 4

static struct group_by by_text(const char *text)
{
	char wrong[GROUP_WRONG_LEN] = "";
	struct group_by by = {0};

	if (!group_by_parse(&by, text, wrong))
		fail_msg("%s %s", text, wrong);
	return by;
}

static void keys_are_read_in_their_order(void **state)
{
	struct group_by by = by_text("op");
	char wrong[GROUP_WRONG_LEN] = "";

	assert_int_equal(by.nr, 1);
	assert_int_equal(by.key[0], GROUP_OP);
	/* A second option adds to the first. */
	assert_true(group_by_parse(&by, "cgroup,ctrl", wrong));
	assert_int_equal(by.nr, 3);
	assert_int_equal(by.key[1], GROUP_CGROUP);
	assert_int_equal(by.key[2], GROUP_CTRL);
	assert_true(group_has(&by, GROUP_OP));
	assert_true(group_has(&by, GROUP_CTRL));
	assert_false(group_has(&by, GROUP_NQN));
	for (unsigned int i = 0; i < GROUP_KEYS_NR; i++) {
		by = by_text(group_key_name((enum group_key)i));
		assert_int_equal(by.key[0], i);
	}
	assert_string_equal(group_key_name(GROUP_KEYS_NR), "unknown");
	/* Words of the documents are keys as well. */
	by = by_text("controller,subsystem,operation,namespace,disk,process");
	assert_int_equal(by.nr, 6);
	assert_true(by.key[0] == GROUP_CTRL && by.key[1] == GROUP_NQN && by.key[2] == GROUP_OP);
	assert_true(by.key[3] == GROUP_NSID && by.key[4] == GROUP_DEVICE &&
		    by.key[5] == GROUP_COMM);
}

static void wrong_keys_are_refused(void **state)
{
	static const char *const texts[] = {
		"",	   "ops", "o",
		"op,",	   ",op", "op,,size",
		"op size", "OP",  "op,averyveryverylongword",
	};
	char wrong[GROUP_WRONG_LEN];
	struct group_by by = {0};

	for (unsigned int i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		by.nr = 0;
		assert_false(group_by_parse(&by, texts[i], wrong));
		assert_string_equal(
			wrong,
			"keys are, with commas between several: ctrl nqn host queue op size "
			"opcode nsid status source device path cgroup cpu pid comm container");
	}
	by.nr = 0;
	assert_false(group_by_parse(&by, "op,size,op", wrong));
	assert_string_equal(wrong, "op is there twice");
	assert_int_equal(by.nr, 2);
}

static void the_first_key_that_needs_something_is_found(void **state)
{
	static const struct {
		const char *keys;
		unsigned int bits;
		enum group_key first;
	} known[] = {
		{"ctrl,nqn,host,queue,op,source", GROUP_OF_RECORD | GROUP_OF_HOST | GROUP_OF_PLACE,
		 GROUP_KEYS_NR},
		{"op,size,nsid", GROUP_OF_RECORD, GROUP_SIZE},
		{"op,nsid,size", GROUP_OF_RECORD, GROUP_NSID},
		{"status", GROUP_OF_RECORD, GROUP_STATUS},
		{"size,device,path", GROUP_OF_HOST, GROUP_PATH},
		{"size,device,path,cpu,cgroup", GROUP_OF_PLACE, GROUP_CPU},
		{"size,device,status", GROUP_OF_HOST | GROUP_OF_PLACE, GROUP_KEYS_NR},
		{"op,cgroup", GROUP_OF_HOST, GROUP_CGROUP},
		{"size,path", GROUP_OF_HOST | GROUP_OF_PLACE, GROUP_PATH},
		{"cpu,comm,pid", GROUP_OF_TASK, GROUP_COMM},
		{"pid", GROUP_OF_PLACE, GROUP_KEYS_NR},
		{"op,pid", GROUP_OF_HOST, GROUP_PID},
	};

	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct group_by by = by_text(known[i].keys);

		assert_int_equal(group_by_needs(&by, known[i].bits), known[i].first);
	}
}

static void keys_say_which_parts_of_an_origin_they_need(void **state)
{
	static const struct {
		const char *keys;
		unsigned int parts;
	} known[] = {
		{"op,status,path", 0},	     {"cpu", NT_ORIGIN_PLACE},
		{"cgroup", NT_ORIGIN_PLACE}, {"pid", NT_ORIGIN_TASK},
		{"comm,op", NT_ORIGIN_TASK}, {"op,pid,comm,cpu", NT_ORIGIN_PLACE | NT_ORIGIN_TASK},
	};

	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct group_by by = by_text(known[i].keys);

		assert_int_equal(group_by_origins(&by), known[i].parts);
	}
}

/* Every member that is a key has a value. */
static void fill(struct group_name *n)
{
	memset(n, 0, sizeof(*n));
	n->op = NT_OP_WRITE;
	n->shared = n->cancelled = true;
	n->queue = 7;
	n->status = 0x281;
	n->cpu = 5;
	n->pid = 77;
	n->nsid = 9;
	n->size = 4096;
	n->size_is = GROUP_SIZE_ABOVE;
	n->opcode = GROUP_OPCODE_ADMIN | 6;
	n->ctrl_of = 11;
	strcpy(n->ctrl, "nvme0");
	strcpy(n->nqn, "nqn.sub");
	strcpy(n->host, "nqn.host");
	strcpy(n->source, "stock");
	strcpy(n->device, "nvme0n1");
	strcpy(n->path, "traddr=10.0.0.1");
	strcpy(n->cgroup, "/a/b");
	strcpy(n->comm, "fio");
	strcpy(n->container, "0123456789ab");
}

static void a_size_is_in_the_first_class_that_it_does_not_exceed(void **state)
{
	static const struct {
		uint32_t bytes, size;
		enum group_size is;
	} of[] = {
		{0, 512, GROUP_SIZE_UP_TO},
		{512, 512, GROUP_SIZE_UP_TO},
		{513, 4096, GROUP_SIZE_UP_TO},
		{4096, 4096, GROUP_SIZE_UP_TO},
		{4097, 65536, GROUP_SIZE_UP_TO},
		{65537, 65536, GROUP_SIZE_ABOVE},
		{UINT32_MAX, 65536, GROUP_SIZE_ABOVE},
	};
	struct group_by by = {.nr = 1, .key = {GROUP_SIZE}};
	struct group_name n, other;

	fill(&n);
	assert_string_equal(group_key_column(&by, GROUP_SIZE), "size");
	group_name_size(&n, &by, 513);
	assert_true(n.size == 513 && n.size_is == GROUP_SIZE_EXACT);
	/* The last one counts. */
	assert_null(group_bounds_parse(&by, "1M"));
	assert_null(group_bounds_parse(&by, "512,4k,64KiB"));
	assert_int_equal(by.nr_bounds, 3);
	assert_string_equal(group_key_column(&by, GROUP_SIZE), "size_class");
	assert_string_equal(group_key_column(&by, GROUP_OP), "op");
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		group_name_size(&n, &by, of[i].bytes);
		assert_int_equal(n.size, of[i].size);
		assert_int_equal(n.size_is, of[i].is);
	}
	/* What is above the last bound comes last. */
	other = n;
	group_name_size(&other, &by, 65536);
	assert_true(group_name_order(&other, &n, &by) < 0);
	assert_true(group_name_order(&n, &other, &by) > 0);
	/* One bound: two classes. */
	assert_null(group_bounds_parse(&by, "0"));
	group_name_size(&n, &by, 0);
	assert_true(n.size == 0 && n.size_is == GROUP_SIZE_UP_TO);
	group_name_size(&n, &by, 1);
	assert_true(n.size == 0 && n.size_is == GROUP_SIZE_ABOVE);
}

/* Members of one key, which has to be the only one of them that is left. */
static void only_the_members_of_a_key_are_left(void **state)
{
	for (unsigned int key = 0; key < GROUP_KEYS_NR; key++) {
		const struct group_by by = {.nr = 1, .key = {(unsigned char)key}};
		struct group_name all, n, left;

		memset(&left, 0, sizeof(left));
		left.op = NT_OPS_NR;
		fill(&all);
		switch (key) {
		case GROUP_CTRL:
			strcpy(left.ctrl, all.ctrl);
			left.ctrl_of = all.ctrl_of;
			break;
		case GROUP_NQN:
			strcpy(left.nqn, all.nqn);
			break;
		case GROUP_HOST:
			strcpy(left.host, all.host);
			break;
		case GROUP_QUEUE:
			left.queue = all.queue;
			left.shared = all.shared;
			break;
		case GROUP_OP:
			left.op = all.op;
			break;
		case GROUP_SIZE:
			left.size = all.size;
			left.size_is = all.size_is;
			break;
		case GROUP_OPCODE:
			left.opcode = all.opcode;
			break;
		case GROUP_NSID:
			left.nsid = all.nsid;
			break;
		case GROUP_STATUS:
			left.status = all.status;
			left.cancelled = all.cancelled;
			break;
		case GROUP_SOURCE:
			strcpy(left.source, all.source);
			break;
		case GROUP_DEVICE:
			strcpy(left.device, all.device);
			break;
		case GROUP_PATH:
			strcpy(left.path, all.path);
			break;
		case GROUP_CGROUP:
			strcpy(left.cgroup, all.cgroup);
			break;
		case GROUP_CPU:
			left.cpu = all.cpu;
			break;
		case GROUP_PID:
			left.pid = all.pid;
			break;
		case GROUP_CONTAINER:
			strcpy(left.container, all.container);
			break;
		case GROUP_COMM:
			strcpy(left.comm, all.comm);
			break;
		default:
			fail();
		}
		fill(&n);
		group_name_only(&n, &by);
		assert_memory_equal(&n, &left, sizeof(n));
	}
}

static void assert_order(const struct group_name *a, const struct group_name *b, const char *keys)
{
	const struct group_by by = by_text(keys);

	assert_true(group_name_order(a, b, &by) < 0);
	assert_true(group_name_order(b, a, &by) > 0);
	assert_int_equal(group_name_order(a, a, &by), 0);
}

static void each_key_orders_by_its_members(void **state)
{
	struct group_name a, b;

#define ORDER(keys, member, less, more)     \
	do {                                \
		fill(&a);                   \
		fill(&b);                   \
		a.member = less;            \
		b.member = more;            \
		assert_order(&a, &b, keys); \
	} while (0)
#define ORDER_TEXT(keys, member, less, more) \
	do {                                 \
		fill(&a);                    \
		fill(&b);                    \
		strcpy(a.member, less);      \
		strcpy(b.member, more);      \
		assert_order(&a, &b, keys);  \
	} while (0)
	ORDER_TEXT("ctrl", ctrl, "nvme9", "nvme10");
	ORDER("ctrl", ctrl_of, 1, 1ULL << 40);
	ORDER_TEXT("nqn", nqn, "nqn.10", "nqn.9");
	ORDER_TEXT("host", host, "nqn.10", "nqn.9");
	ORDER("queue", queue, 9, 10);
	ORDER("queue", shared, false, true);
	ORDER("op", op, NT_OP_READ, NT_OP_WRITE);
	ORDER("size", size, 512, 1u << 31);
	ORDER("nsid", nsid, 1, 0xffffffff);
	ORDER("status", status, 1, 2);
	ORDER("status", cancelled, false, true);
	ORDER_TEXT("source", source, "stock", "tracepoints");
	ORDER_TEXT("device", device, "nvme0n9", "nvme0n10");
	ORDER_TEXT("path", path, "traddr=1", "traddr=2");
	ORDER_TEXT("cgroup", cgroup, "/a", "/b");
	ORDER("cpu", cpu, 9, 10);
	ORDER("pid", pid, 999, 1u << 22);
	ORDER_TEXT("comm", comm, "dd", "fio");
	ORDER_TEXT("container", container, "0", "1");
	/* A queue of its own comes before those that share a row, whatever its number is. */
	fill(&a);
	fill(&b);
	a.shared = false;
	a.queue = 99;
	assert_order(&a, &b, "queue");
	/* So does a status before a command that was given up. */
	fill(&a);
	fill(&b);
	a.cancelled = false;
	a.status = 0x7ff;
	assert_order(&a, &b, "status");
}

/* The first key that differs decides. Members that are no keys do not matter. */
static void keys_order_one_after_the_other(void **state)
{
	const struct group_by none = {0}, cpu = by_text("cpu");
	struct group_name a, b;

	fill(&a);
	fill(&b);
	a.op = NT_OP_READ;
	b.size = 512;
	assert_order(&a, &b, "op,size");
	assert_order(&b, &a, "size,op");
	assert_order(&a, &b, "nsid,op");
	assert_int_equal(group_name_order(&a, &b, &cpu), 0);
	assert_int_equal(group_name_order(&a, &b, &none), 0);
}

struct counted {
	struct group_name name;
	unsigned int n;
};

/* Groups are in the order of their names, whatever order their commands come in. */
static void a_group_has_one_row_up_to_the_limit(void **state)
{
	struct group_rows rows = {.by = by_text("size,op"), .most = 3};
	static const uint32_t sizes[] = {4096, 512, 4096, 8192, 512, 4096};
	static const uint32_t sorted[] = {512, 4096, 8192}, times[] = {2, 3, 1};
	const struct counted *row;
	struct group_name name;

	fill(&name);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct counted *c;

		name.size = sizes[i];
		name.queue++;
		c = group_row(&rows, &name, sizeof(*c));
		assert_non_null(c);
		c->n++;
	}
	assert_int_equal(rows.nr, 3);
	for (size_t i = 0; i < rows.nr; i++) {
		row = rows.row[i];
		assert_int_equal(row->name.size, sorted[i]);
		assert_int_equal(row->name.queue, 0);
		assert_int_equal(row->n, times[i]);
	}
	name.size = 1024;
	assert_null(group_row(&rows, &name, sizeof(*row)));
	assert_int_equal(errno, ENOSPC);
	name.size = 512;
	assert_ptr_equal(group_row(&rows, &name, sizeof(*row)), rows.row[0]);
	group_rows_free(&rows);
}

/* Figures of FNV-1a, 64 bits. */
static void texts_are_hashed_one_after_the_other(void **state)
{
	assert_true(hash_text(0, "") == 0xcbf29ce484222325ULL);
	assert_true(hash_text(0, "a") == 0xaf63dc4c8601ec8cULL);
	assert_true(hash_text(0, "foobar") == 0x85944171f73967e8ULL);
	assert_true(hash_text(hash_text(0, "foo"), "bar") == 0x85944171f73967e8ULL);
}

static void a_long_name_is_shown_by_its_end(void **state)
{
	static const struct {
		const char *nqn;
		unsigned int twin;
		const char *text;
	} known[] = {
		{"", 0, "-"},
		{"", 2, "-#2"},
		{"nqn", 0, "nqn"},
		{"123456789abc", 0, "123456789abc"},
		{"0123456789abc", 0, "...123456789abc"},
		{"0123456789abc", 1, "...123456789abc#1"},
		{"nqn.2024-01.com.example:beta", 0, "...:beta"},
		{"nqn.2024-01.com.example:1", 0, "....example:1"},
		{"0123456789abc", 99999, "...123456789abc#99999"},
		{"0123456789abc", 100001, "...123456789abc#1"},
	};
	char buf[GROUP_SHORT_LEN];

	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_string_equal(group_name_short(buf, known[i].nqn, known[i].twin),
				    known[i].text);
}

static struct group_name *name_of(void *context, size_t i)
{
	return (struct group_name *)context + i;
}

static void controllers_that_look_alike_get_numbers(void **state)
{
	struct group_name n[NAMES];

	memset(n, 0, sizeof(n));
	for (unsigned int i = 0; i < NAMES; i++) {
		strcpy(n[i].ctrl, "nvme0");
		n[i].ctrl_of = i;
	}
	n[2].ctrl_of = 0; /* a second group of the first one */
	strcpy(n[3].ctrl, "nvme1");
	group_names_tell_apart(name_of, n, NAMES);
	assert_string_equal(n[0].ctrl, "nvme0#1");
	assert_string_equal(n[1].ctrl, "nvme0#2");
	assert_string_equal(n[2].ctrl, "nvme0#1");
	assert_string_equal(n[3].ctrl, "nvme1");
	assert_int_equal(n[3].ctrl_twin, 0);
}

/* Only the ends are shown, and they are equal. */
static void names_that_look_alike_get_numbers(void **state)
{
	static const char *const nqns[NAMES] = {"nqn.a:123456789abc", "nqn.b:123456789abc",
						"nqn.c:123456789abd", "nqn.d:123456789abc"};
	struct group_name n[NAMES];

	memset(n, 0, sizeof(n));
	for (unsigned int i = 0; i < NAMES; i++) {
		strcpy(n[i].nqn, nqns[i]);
		strcpy(n[i].host, nqns[NAMES - 1 - i]);
	}
	group_names_tell_apart(name_of, n, NAMES);
	assert_int_equal(n[0].nqn_twin, 1);
	assert_int_equal(n[1].nqn_twin, 2);
	assert_int_equal(n[2].nqn_twin, 0);
	assert_int_equal(n[3].nqn_twin, 3);
	assert_int_equal(n[0].host_twin, 1);
	assert_int_equal(n[1].host_twin, 0);
	assert_int_equal(n[2].host_twin, 2);
	assert_int_equal(n[3].host_twin, 3);
	assert_int_equal(n[0].ctrl_twin, 0);
	assert_string_equal(n[0].ctrl, "");
	/* The numbers of an earlier call do not count. */
	strcpy(n[1].nqn, "nqn.other");
	strcpy(n[3].nqn, "nqn.another");
	group_names_tell_apart(name_of, n, NAMES);
	assert_int_equal(n[0].nqn_twin, 0);
	assert_int_equal(n[1].nqn_twin, 0);
	assert_int_equal(n[3].nqn_twin, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_read_in_their_order),
		cmocka_unit_test(wrong_keys_are_refused),
		cmocka_unit_test(the_first_key_that_needs_something_is_found),
		cmocka_unit_test(keys_say_which_parts_of_an_origin_they_need),
		cmocka_unit_test(a_size_is_in_the_first_class_that_it_does_not_exceed),
		cmocka_unit_test(only_the_members_of_a_key_are_left),
		cmocka_unit_test(each_key_orders_by_its_members),
		cmocka_unit_test(keys_order_one_after_the_other),
		cmocka_unit_test(a_group_has_one_row_up_to_the_limit),
		cmocka_unit_test(texts_are_hashed_one_after_the_other),
		cmocka_unit_test(a_long_name_is_shown_by_its_end),
		cmocka_unit_test(controllers_that_look_alike_get_numbers),
		cmocka_unit_test(names_that_look_alike_get_numbers),
	};

	return cmocka_run_group_tests_name("keys of groups", tests, NULL, NULL);
}
