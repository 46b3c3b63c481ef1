// SPDX-License-Identifier: GPL-2.0-only
/*
 * The programs of the verb stacks, compiled for this machine: which commands are counted under
 * which stack, how long they took, and which counters count where there is no room.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wunknown-attributes"
#pragma clang diagnostic ignored "-Wignored-attributes"
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wattributes"
#endif

#include "vmlinux.h"

#include "shared/selection.h"
#include "shared/stacks.h"

#include "start_time.bpf.h"

#include <bpf/bpf_tracing.h>

/* The loader sets the constants of the programs; here a test sets them. */
#define const
#include "stacks.bpf.c" /* NOLINT(bugprone-suspicious-include): it is the whole program */
#undef const

#pragma GCC diagnostic pop

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* The machine has one CPU. */
#define ENTRIES 8
#define KEY_MAX sizeof(struct nt_stack_key)
#define VALUE_MAX sizeof(struct nt_stack_count)

/* A hash map. @max: entries that it has room for */
struct table {
	const void *map;
	size_t key_size, value_size;
	unsigned int max;
	struct {
		bool used;
		char key[KEY_MAX];
		_Alignas(8) char value[VALUE_MAX];
	} entries[ENTRIES];
};

static struct {
	__u64 now;
	__u32 random;
	struct table begun, stacks, counts;
	struct nt_stack scratch;
	__u64 frames[NT_STACK_DEPTH]; /* the stack of the running task */
	long depth;		      /* how many there are; negative: it cannot be read */
	union {
		struct blk_mq_hw_ctx hctx;
		struct blk_mq_hw_ctx___path path;
	} hctx;
	/* The members that the programs read by themselves lie over others here. */
	union {
		struct request rq;
		struct request___path path;
	} rq[3];
} m;

static struct table *table_of(const void *map)
{
	if (map == &begun)
		return &m.begun;
	if (map == &stacks)
		return &m.stacks;
	assert_ptr_equal(map, &counts);
	return &m.counts;
}

void *bpf_map_lookup_elem(void *map, const void *key)
{
	struct table *t;

	if (map == &scratch)
		return &m.scratch;
	t = table_of(map);
	for (unsigned int i = 0; i < ENTRIES; i++)
		if (t->entries[i].used && !memcmp(t->entries[i].key, key, t->key_size))
			return t->entries[i].value;
	return NULL;
}

long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags)
{
	struct table *t = table_of(map);
	void *there = bpf_map_lookup_elem(map, key);

	if (there && flags == BPF_NOEXIST)
		return -17;
	for (unsigned int i = 0; !there && i < t->max; i++) {
		if (t->entries[i].used)
			continue;
		t->entries[i].used = true;
		memcpy(t->entries[i].key, key, t->key_size);
		there = t->entries[i].value;
	}
	if (!there)
		return -7;
	memcpy(there, value, t->value_size);
	return 0;
}

long bpf_map_delete_elem(void *map, const void *key)
{
	struct table *t = table_of(map);

	for (unsigned int i = 0; i < ENTRIES; i++)
		if (t->entries[i].used && !memcmp(t->entries[i].key, key, t->key_size))
			t->entries[i].used = false;
	return 0;
}

__u64 bpf_ktime_get_ns(void)
{
	return m.now;
}

/* No test has a controller of another transport. */
long bpf_probe_read_kernel_str(void *dst, __u32 size, const void *src)
{
	fail();
	return -14;
}

__u32 bpf_get_prandom_u32(void)
{
	return m.random;
}

long bpf_get_stack(void *ctx, void *buf, __u32 size, __u64 flags)
{
	assert_int_equal(size, sizeof(struct nt_stack));
	assert_int_equal(flags, 0);
	if (m.depth <= 0)
		return m.depth;
	memcpy(buf, m.frames, (size_t)m.depth * sizeof(m.frames[0]));
	return m.depth * (long)sizeof(m.frames[0]);
}

static int setup(void **state)
{
	memset(&m, 0, sizeof(m));
	memset(stacks_losses, 0, sizeof(stacks_losses));
	stacks_below = 0;
	m.now = 1000000;
	m.begun = (struct table){.key_size = 8, .value_size = sizeof(struct begun), .max = ENTRIES};
	m.stacks = (struct table){
		.key_size = 8, .value_size = sizeof(struct nt_stack), .max = ENTRIES};
	m.counts = (struct table){.key_size = sizeof(struct nt_stack_key),
				  .value_size = sizeof(struct nt_stack_count),
				  .max = ENTRIES};
	m.depth = 3;
	for (unsigned int i = 0; i < NT_STACK_DEPTH; i++)
		m.frames[i] = 0xffffffff81000000 + i;
	for (unsigned int i = 0; i < 3; i++)
		m.rq[i].path.internal_tag = BLK_MQ_NO_TAG;
	return 0;
}

/* The block layer begins with a request @waited ns before the driver gets it. */
static void begin(unsigned int i, __u64 waited)
{
	const struct blk_mq_queue_data bd = {.rq = &m.rq[i].rq};

	m.rq[i].rq.mq_hctx = &m.hctx.hctx;
	m.rq[i].rq.start_time_ns = m.now - waited;
	stack_begin(NULL, &m.hctx.hctx, (struct blk_mq_queue_data *)&bd);
}

static void end(unsigned int i)
{
	stack_end(NULL, &m.rq[i].rq, 0);
}

static unsigned int used(const struct table *t)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < ENTRIES; i++)
		n += t->entries[i].used;
	return n;
}

/* The count with number @nr. */
static const struct nt_stack_count *count_at(unsigned int nr)
{
	assert_true(m.counts.entries[nr].used);
	return (const void *)m.counts.entries[nr].value;
}

static struct nt_stack_key key_at(unsigned int nr)
{
	struct nt_stack_key key;

	assert_true(m.counts.entries[nr].used);
	memcpy(&key, m.counts.entries[nr].key, sizeof(key));
	return key;
}

static const struct nt_stack *stack_at(unsigned int nr)
{
	assert_true(m.stacks.entries[nr].used);
	return (const void *)m.stacks.entries[nr].value;
}

static void assert_lost(__u64 no_room, __u64 untimed, __u64 unread)
{
	assert_int_equal(stacks_losses[NT_STACK_NO_ROOM], no_room);
	assert_int_equal(stacks_losses[NT_STACK_UNTIMED], untimed);
	assert_int_equal(stacks_losses[NT_STACK_UNREAD], unread);
}

static void latency_begins_in_the_block_layer(void **state)
{
	const struct nt_stack_count *c;

	begin(0, 300);
	c = count_at(0);
	assert_int_equal(c->commands, 1);
	assert_int_equal(c->ended, 0);
	assert_int_equal(used(&m.begun), 1);
	m.now += 2000;
	end(0);
	assert_int_equal(used(&m.begun), 0);
	assert_int_equal(c->ended, 1);
	assert_int_equal(c->latency_ns, 2300);
	assert_int_equal(c->latency_max_ns, 2300);
	assert_int_equal(c->buckets[nt_bucket(2300)], 1);
	assert_int_equal(c->waited, 1);
	assert_int_equal(c->waited_ns, 300);
	/* A shorter one and a longer one, which are in flight together. */
	begin(0, 100);
	begin(1, 100);
	m.now += 900;
	end(1);
	m.now += 4000;
	end(0);
	assert_int_equal(c->commands, 3);
	assert_int_equal(c->ended, 3);
	assert_int_equal(c->latency_ns, 2300 + 1000 + 5000);
	assert_int_equal(c->latency_max_ns, 5000);
	assert_int_equal(c->buckets[nt_bucket(1000)], 1);
	assert_int_equal(c->buckets[nt_bucket(5000)], 1);
	assert_int_equal(c->waited, 3);
	assert_int_equal(c->waited_ns, 500);
	/* The longest one stays the longest. */
	begin(0, 100);
	end(0);
	assert_int_equal(c->latency_max_ns, 5000);
	assert_int_equal(used(&m.counts), 1);
	assert_lost(0, 0, 0);
}

/* With iostats off, the block layer reads no clock. */
static void without_its_begin_latency_begins_at_the_driver(void **state)
{
	begin(0, m.now);
	m.now += 2000;
	end(0);
	assert_int_equal(count_at(0)->ended, 1);
	assert_int_equal(count_at(0)->latency_ns, 2000);
	assert_int_equal(count_at(0)->waited, 0);
	assert_int_equal(count_at(0)->waited_ns, 0);
}

static void an_end_counts_once_and_only_after_a_begin(void **state)
{
	end(0);
	assert_int_equal(used(&m.counts), 0);
	begin(0, 0);
	end(1);
	assert_int_equal(count_at(0)->ended, 0);
	end(0);
	end(0);
	assert_int_equal(count_at(0)->ended, 1);
	assert_lost(0, 0, 0);
}

static void flags_say_what_kind_of_command_it_is(void **state)
{
	static const struct {
		__u32 cmd_flags;
		int internal_tag;
		unsigned short type;
		__u32 flags;
	} kinds[] = {
		{0, BLK_MQ_NO_TAG, 0, 0},
		{1, BLK_MQ_NO_TAG, 1, 0},
		{0, BLK_MQ_NO_TAG, 2, NT_STACK_POLLED},
		{34, BLK_MQ_NO_TAG, 0, NT_STACK_PASSTHROUGH},
		{35, BLK_MQ_NO_TAG, 0, NT_STACK_PASSTHROUGH},
		{33, BLK_MQ_NO_TAG, 0, 0},
		/* Flags lie above the operation. */
		{1 | 34 << 8, BLK_MQ_NO_TAG, 0, 0},
		{35 | 1 << 8, BLK_MQ_NO_TAG, 0, NT_STACK_PASSTHROUGH},
		{0, 0, 0, NT_STACK_SCHEDULED},
		{35, 7, 2, NT_STACK_POLLED | NT_STACK_PASSTHROUGH | NT_STACK_SCHEDULED},
	};

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		setup(state);
		m.rq[0].path.cmd_flags = kinds[i].cmd_flags;
		m.rq[0].path.internal_tag = kinds[i].internal_tag;
		m.hctx.path.type = kinds[i].type;
		begin(0, 0);
		assert_int_equal(key_at(0).flags, kinds[i].flags);
		assert_int_equal(used(&m.counts), 1);
	}
}

/* Commands of one stack may differ in their flags. */
static void a_stack_is_kept_once(void **state)
{
	begin(0, 0);
	m.rq[1].path.internal_tag = 5;
	begin(1, 0);
	begin(2, 0);
	assert_int_equal(used(&m.stacks), 1);
	assert_int_equal(used(&m.counts), 2);
	assert_int_equal(key_at(0).stack, key_at(1).stack);
	assert_memory_equal(m.stacks.entries[0].key, &(__u64){key_at(0).stack}, 8);
	assert_int_equal(count_at(0)->commands, 2);
	assert_int_equal(count_at(1)->commands, 1);
	m.now += 500;
	end(1);
	assert_int_equal(count_at(0)->ended, 0);
	assert_int_equal(count_at(1)->ended, 1);
}

/* Each of these differs from the others in one frame, or in how many there are. */
static void stacks_that_differ_are_apart(void **state)
{
	m.depth = NT_STACK_DEPTH;
	begin(0, 0);
	assert_int_equal(stack_at(0)->frames[NT_STACK_DEPTH - 1], m.frames[NT_STACK_DEPTH - 1]);
	m.frames[NT_STACK_DEPTH - 1]++;
	begin(0, 0);
	m.frames[0]++;
	begin(0, 0);
	m.depth = 2;
	begin(0, 0);
	m.depth = 1;
	begin(0, 0);
	assert_int_equal(used(&m.stacks), 5);
	assert_int_equal(used(&m.counts), 5);
	assert_int_equal(stack_at(3)->frames[0], m.frames[0]);
	assert_int_equal(stack_at(3)->frames[1], m.frames[1]);
	/* Nothing is left of the longer ones that were read before. */
	for (unsigned int i = 2; i < NT_STACK_DEPTH; i++)
		assert_int_equal(stack_at(3)->frames[i], 0);
	assert_int_equal(stack_at(4)->frames[0], m.frames[0]);
	assert_int_equal(stack_at(4)->frames[1], 0);
	/* Nor do entries behind the last frame make another stack of the same one. */
	m.depth = NT_STACK_DEPTH;
	begin(0, 0);
	m.depth = 1;
	begin(0, 0);
	assert_int_equal(used(&m.stacks), 5);
	assert_int_equal(count_at(4)->commands, 2);
}

/* The request was used before, and the end of that command was not seen. */
static void assert_end_is_not_that_of_another(void)
{
	assert_int_equal(used(&m.begun), 0);
	m.now += 1000000;
	end(0);
	assert_int_equal(count_at(0)->ended, 0);
	assert_int_equal(count_at(0)->commands, 1);
}

static void an_end_is_that_of_the_last_begin(void **state)
{
	begin(0, 0);
	m.frames[0]++;
	m.now += 1000;
	begin(0, 0);
	m.now += 10;
	end(0);
	assert_int_equal(count_at(0)->ended, 0);
	assert_int_equal(count_at(1)->ended, 1);
	assert_int_equal(count_at(1)->latency_ns, 10);
}

static void a_stack_that_cannot_be_read_is_counted(void **state)
{
	for (long result = -14; result <= 0; result += 14) {
		setup(state);
		begin(0, 0);
		m.depth = result;
		begin(0, 0);
		assert_lost(0, 0, 1);
		assert_end_is_not_that_of_another();
	}
}

static void what_is_not_in_the_sample_is_not_counted(void **state)
{
	stacks_below = 100;
	m.random = 99;
	begin(0, 0);
	assert_int_equal(count_at(0)->commands, 1);
	m.random = 100;
	begin(0, 0);
	assert_end_is_not_that_of_another();
	assert_lost(0, 0, 0);
	/* Without a sample, every command is. */
	stacks_below = 0;
	m.random = ~0u;
	begin(0, 0);
	assert_int_equal(count_at(0)->commands, 2);
}

static void stacks_without_room_are_counted(void **state)
{
	begin(0, 0);
	m.stacks.max = 1;
	m.frames[0]++;
	begin(0, 0);
	assert_lost(1, 0, 0);
	assert_end_is_not_that_of_another();
	m.frames[0]--;
	begin(0, 0);
	assert_int_equal(count_at(0)->commands, 2);
	assert_lost(1, 0, 0);
}

static void counts_without_room_are_counted(void **state)
{
	begin(0, 0);
	m.counts.max = 1;
	m.frames[0]++;
	begin(0, 0);
	assert_lost(1, 0, 0);
	assert_end_is_not_that_of_another();
}

/* They are counted all the same, but not how long they took. */
static void commands_without_a_state_are_untimed(void **state)
{
	m.begun.max = 1;
	begin(0, 0);
	begin(1, 0);
	assert_lost(0, 1, 0);
	assert_int_equal(count_at(0)->commands, 2);
	end(1);
	assert_int_equal(count_at(0)->ended, 0);
	end(0);
	begin(1, 0);
	assert_lost(0, 1, 0);
}

/* What the command was counted under is gone, and there is no room for it any more. */
static void an_end_without_room_is_untimed(void **state)
{
	begin(0, 0);
	m.counts.entries[0].used = false;
	m.counts.max = 0;
	end(0);
	assert_lost(0, 1, 0);
	assert_int_equal(used(&m.begun), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(latency_begins_in_the_block_layer),
		TEST(without_its_begin_latency_begins_at_the_driver),
		TEST(an_end_counts_once_and_only_after_a_begin),
		TEST(flags_say_what_kind_of_command_it_is),
		TEST(a_stack_is_kept_once),
		TEST(stacks_that_differ_are_apart),
		TEST(an_end_is_that_of_the_last_begin),
		TEST(a_stack_that_cannot_be_read_is_counted),
		TEST(what_is_not_in_the_sample_is_not_counted),
		TEST(stacks_without_room_are_counted),
		TEST(counts_without_room_are_counted),
		TEST(commands_without_a_state_are_untimed),
		TEST(an_end_without_room_is_untimed),
	};

	return cmocka_run_group_tests_name("stacks", tests, NULL, NULL);
}
