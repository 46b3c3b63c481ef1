// SPDX-License-Identifier: GPL-2.0-only
/* Records as bytes, one by one: docs/stream-format.md, "Records". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "stream/codec.h"

#define BIAS (1ULL << 23)

static struct record_encoder e;
static struct record_decoder d;
static uint8_t bytes[RECORD_LEN_MAX + RECORD_SLACK];

static int setup(void **state)
{
	memset(&e, 0, sizeof(e));
	memset(bytes, 0, sizeof(bytes));
	record_encoder_begin(&e);
	record_decoder_begin(&d, NT_TARGET);
	return 0;
}

static int teardown(void **state)
{
	record_encoder_free(&e);
	return 0;
}

/* Return: the length of a record, which reads as it was written. */
static size_t through(const struct nt_record *r)
{
	struct nt_record back;
	const uint8_t *end = record_encode(&e, bytes, r);

	assert_non_null(end);
	memset(&back, 0xa5, sizeof(back));
	assert_ptr_equal(record_decode(&d, bytes, &back), end);
	assert_int_equal(back.side, NT_TARGET);
	assert_int_equal(back.op, r->op);
	assert_int_equal(back.opcode, r->opcode);
	assert_int_equal(back.shape, r->shape);
	assert_int_equal(back.status, r->status);
	assert_int_equal(back.flags, r->flags & NT_F_OF_STREAM);
	assert_int_equal(back.nsid, r->nsid);
	assert_int_equal(back.length, r->length);
	assert_int_equal(back.slot, r->slot);
	assert_int_equal(back.gen, r->gen);
	assert_int_equal(back.qid, r->qid);
	assert_int_equal(back.cntlid, r->cntlid);
	assert_int_equal(back.cid, r->cid);
	assert_int_equal(back.slba, r->slba);
	assert_memory_equal(back.points, r->points, sizeof(back.points));
	return (size_t)(end - bytes);
}

/* Such as that a command is in flight, or waited for what TCP sent again. */
static void flags_that_no_stream_has_are_left_out(void **state)
{
	const struct nt_record r = {.side = NT_TARGET, .flags = UINT32_MAX};
	struct nt_record back;

	assert_non_null(record_encode(&e, bytes, &r));
	assert_non_null(record_decode(&d, bytes, &back));
	assert_int_equal(back.flags, 0x0fff01ff);
}

/* The bytes of a record with all its parts. */
static void a_record_has_its_parts_in_order(void **state)
{
	static const uint8_t expected[] = {/* head: cid, connection 0, kind 0, code 1 of the LBA,
					      codes 1 and 2 of points 0, 1 */
					   0x34, 0x12, 0x00, 0x00, 0x40, 0x09, 0x00, 0x00,
					   /* op, opcode, shape, status, flags, namespace, length */
					   NT_OP_WRITE, 0x01, NT_SHAPE_R2T_WRITE, 0x81, 0x02, 0x78,
					   0x56, 0x34, 0x12, 0x07, 0, 0, 0, 0x00, 0x10, 0, 0,
					   /* slot, generation, queue id, controller id */
					   0x03, 0, 0, 0, 0xef, 0xbe, 0xad, 0xde, 0x04, 0, 0x05,
					   0x06,
					   /* LBA */
					   0x01, 0, 0, 0x80,
					   /* 2^23 - point 1, point 1 - point 0 */
					   0x01, 0, 0x01, 0x10, 0x20};
	const struct nt_record r = {.side = NT_TARGET,
				    .op = NT_OP_WRITE,
				    .opcode = 1,
				    .shape = NT_SHAPE_R2T_WRITE,
				    .status = 0x281,
				    .flags = 0x12345678,
				    .nsid = 7,
				    .length = 4096,
				    .slot = 3,
				    .gen = 0xdeadbeef,
				    .qid = 4,
				    .cntlid = 0x605,
				    .cid = 0x1234,
				    .slba = 0x80000001,
				    .points = {BIAS - 0x10001 - 0x2010, BIAS - 0x10001}};

	assert_int_equal(through(&r), sizeof(expected));
	assert_memory_equal(bytes, expected, sizeof(expected));
	/* Kind and connection are known now, and times continue from this record's. */
	assert_int_equal(through(&r), RECORD_HEAD_LEN + 4 + 3 + 2);
}

/* A number takes as many bytes as it needs, and no more. */
static void numbers_have_the_shortest_length(void **state)
{
	static const struct {
		uint64_t n;
		unsigned int slba, point;
	} known[] = {
		{1, 4, 2},	     {0xffff, 4, 2},	   {0x10000, 4, 3},
		{0xffffff, 4, 3},    {0x1000000, 4, 8},	   {0xffffffff, 4, 8},
		{0x100000000, 5, 8}, {0xffffffffff, 5, 8}, {0x10000000000, 8, 8},
		{UINT64_MAX, 8, 8},
	};
	struct nt_record r = {.points = {0}};

	assert_int_equal(through(&r), RECORD_HEAD_LEN + KIND_LEN + CONNECTION_LEN);
	assert_int_equal(through(&r), RECORD_HEAD_LEN);
	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		r = (struct nt_record){.slba = known[i].n};
		assert_int_equal(through(&r), RECORD_HEAD_LEN + known[i].slba);
	}
	/* Each point in each place, alone and behind a later one. */
	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		for (unsigned int at = 0; at < NT_POINTS_MAX; at++) {
			r = (struct nt_record){.points = {0}};
			r.points[at] = BIAS - known[i].n;
			if (!r.points[at])
				continue;
			record_encoder_begin(&e);
			record_decoder_begin(&d, NT_TARGET);
			assert_int_equal(through(&r), RECORD_HEAD_LEN + KIND_LEN + CONNECTION_LEN +
							      known[i].point);
			if (!at)
				continue;
			r.points[at - 1] = r.points[at] - 5;
			record_encoder_begin(&e);
			record_decoder_begin(&d, NT_TARGET);
			assert_int_equal(through(&r), RECORD_HEAD_LEN + KIND_LEN + CONNECTION_LEN +
							      known[i].point + 2);
		}
	}
}

/* In any of its fields, with the records of both by turns. */
static void kinds_and_connections_differ_in_one_field(void **state)
{
	const struct nt_record first = {
		.op = NT_OP_READ, .opcode = 2, .nsid = 1, .length = 512, .slot = 1, .gen = 1};
	struct nt_record other[12];
	unsigned int nr = 0;

#define DIFFERS(field, value) (other[nr] = first, other[nr].field = value, nr++)
	DIFFERS(op, NT_OP_WRITE);
	DIFFERS(opcode, 3);
	DIFFERS(shape, NT_SHAPE_NO_DATA);
	DIFFERS(status, 1);
	DIFFERS(status, 0x100);
	DIFFERS(flags, 1);
	DIFFERS(nsid, 2);
	DIFFERS(length, 1024);
	DIFFERS(slot, 1 + (1u << RECENT_BITS));
	DIFFERS(gen, 2);
	DIFFERS(qid, 1);
	DIFFERS(cntlid, 1);
	assert_int_equal(nr, sizeof(other) / sizeof(other[0]));
	through(&first);
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < nr; i++) {
			size_t len = through(&other[i]);

			assert_int_equal(len > RECORD_HEAD_LEN, round == 0);
			assert_int_equal(through(&first), RECORD_HEAD_LEN);
		}
	}
	assert_int_equal(e.nr_kinds, 1 + 8);
	assert_int_equal(e.nr_connections, 1 + 4);
	/* More than the encoder finds at once: some of them have the same place there. */
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < 4u << RECENT_BITS; i++) {
			struct nt_record r = first;

			r.opcode = (uint8_t)i;
			r.nsid = 5;
			assert_int_equal(through(&r) > RECORD_HEAD_LEN, round == 0);
		}
	}
}

/* A frame begins with no definitions and at time 0. */
static void a_frame_defines_what_it_uses(void **state)
{
	struct nt_record r = {.points = {[3] = 1ULL << 40}};

	for (unsigned int frame = 0; frame < 3; frame++) {
		assert_int_equal(through(&r), RECORD_HEAD_LEN + KIND_LEN + CONNECTION_LEN + 8);
		assert_int_equal(through(&r), RECORD_HEAD_LEN + 3);
		/* A record without points leaves the time as it is. */
		assert_int_equal(through(&(struct nt_record){.cid = 1}), RECORD_HEAD_LEN);
		assert_int_equal(through(&r), RECORD_HEAD_LEN + 3);
		record_encoder_begin(&e);
		record_decoder_begin(&d, NT_TARGET);
	}
}

/* What the encoder knows beyond a frame is bounded. */
static void more_than_a_frame_has_room_for_is_forgotten(void **state)
{
	struct nt_record r = {.points = {0}};

	for (unsigned int i = 0; i <= FRAME_KINDS_MAX; i++) {
		assert_int_equal(record_encoder_full(&e), i == FRAME_KINDS_MAX);
		if (record_encoder_full(&e)) {
			record_encoder_begin(&e);
			record_decoder_begin(&d, NT_TARGET);
			assert_int_equal(HASH_COUNT(e.known_kinds), FRAME_KINDS_MAX);
		}
		r.length = i;
		through(&r);
	}
	record_encoder_begin(&e);
	record_decoder_begin(&d, NT_TARGET);
	assert_null(e.known_kinds);
	assert_null(e.known_connections);
	for (unsigned int i = 0; i < 1u << RECENT_BITS; i++) {
		assert_null(e.recent_kinds[i]);
		assert_null(e.recent_connections[i]);
	}
	through(&r);
	for (unsigned int i = 0; i <= FRAME_CONNECTIONS_MAX; i++) {
		if (record_encoder_full(&e)) {
			record_encoder_begin(&e);
			record_decoder_begin(&d, NT_TARGET);
		}
		r.gen = i;
		through(&r);
	}
	assert_int_equal(HASH_COUNT(e.known_connections), FRAME_CONNECTIONS_MAX + 1);
	record_encoder_begin(&e);
	assert_null(e.known_connections);
}

/* Numbers that are not defined, and operations and shapes that are none. */
static void damaged_records_are_refused(void **state)
{
	struct nt_record r = {.points = {0}}, back;

	through(&r);
	record_decoder_begin(&d, NT_TARGET);
	record_encoder_begin(&e);
	assert_non_null(record_encode(&e, bytes, &r));
	bytes[3] |= 0x10; /* kind 1 */
	assert_null(record_decode(&d, bytes, &back));
	bytes[3] &= ~0x10;
	bytes[2] |= 1; /* connection 1 */
	record_decoder_begin(&d, NT_TARGET);
	assert_null(record_decode(&d, bytes, &back));
	bytes[2] = 0;
	for (unsigned int wrong = 0; wrong < 2; wrong++) {
		bytes[RECORD_HEAD_LEN] = (uint8_t)(NT_OPS_NR - 1 + wrong);
		record_decoder_begin(&d, NT_TARGET);
		assert_int_equal(!record_decode(&d, bytes, &back), wrong);
	}
	bytes[RECORD_HEAD_LEN] = 0;
	for (unsigned int wrong = 0; wrong < 2; wrong++) {
		bytes[RECORD_HEAD_LEN + 2] = (uint8_t)(NT_SHAPES_NR - 1 + wrong);
		record_decoder_begin(&d, NT_TARGET);
		assert_int_equal(!record_decode(&d, bytes, &back), wrong);
	}
}

/* Bits of those that are there, then each, in the order of docs/stream-format.md. */
static void finer_points_have_their_bytes(void **state)
{
	static const uint8_t expected[] = {0x4a, 0x04, 0x03, 0x02, 0x01, 0xff, 0,
					   0,	 0xfe, 5,    0,	   0,	 1};
	static const uint8_t of_disk[] = {0x80, 0x11, 0x70, 3, 0};
	const struct nt_record r = {.fine = {0, 0x01020304},
				    .seq = {0, 0xfe0000ff},
				    .wait = {[NT_W_SEND_WAKEUP] = 0x01000005}};
	struct nt_record back = {.side = NT_HOST};

	assert_ptr_equal(fine_encode(bytes, &r), bytes + sizeof(expected));
	assert_memory_equal(bytes, expected, sizeof(expected));
	for (size_t n = 0; n < sizeof(expected); n++)
		assert_null(fine_decode(bytes, bytes + n, &back));
	assert_ptr_equal(fine_decode(bytes, bytes + sizeof(expected), &back),
			 bytes + sizeof(expected));
	assert_memory_equal(back.fine, r.fine, sizeof(r.fine));
	assert_memory_equal(back.seq, r.seq, sizeof(r.seq));
	assert_memory_equal(back.wait, r.wait, sizeof(r.wait));
	/* A host's record has something else in that place, and so has a command without a disk. */
	for (int i = 0; i < 3; i++) {
		struct nt_record at_disk = {.side = i ? NT_TARGET : NT_HOST,
					    .disk = NT_DISK_COMMAND(3, 0x7011)};

		at_disk.points[NT_TD_DONE] = i != 1;
		assert_int_equal(fine_any(&at_disk), i == 2);
		assert_ptr_equal(fine_encode(bytes, &at_disk), bytes + (i == 2 ? 5 : 1));
	}
	assert_memory_equal(bytes, of_disk, sizeof(of_disk));
	for (int i = 0; i < 3; i++) {
		back = (struct nt_record){.side = i ? NT_TARGET : NT_HOST};
		back.points[NT_TD_DONE] = i != 1;
		assert_ptr_equal(fine_decode(bytes, bytes + sizeof(of_disk), &back),
				 bytes + sizeof(of_disk));
		assert_int_equal(back.disk, i == 2 ? NT_DISK_COMMAND(3, 0x7011) : 0);
		assert_int_equal(back.wait[0], 0);
	}
}

/* The same, of 2 bytes each. A record without any has one byte. */
static void cpus_of_points_have_their_bytes(void **state)
{
	static const uint8_t expected[] = {0x85, 1, 0, 0xff, 0x1f, 5, 0x40};
	const struct nt_record r = {.cpu = {[NT_HC_QUEUE_RQ] = 1 + 0,
					    [NT_HC_R2T] = 1 + 0x1ffe,
					    [NT_H_QUEUED] = (1 + 4) | NT_QUEUED_FREE}};
	const struct nt_record none = {.fine = {1}};
	struct nt_record back = {.side = NT_HOST};

	assert_true(cpus_any(&r));
	assert_false(cpus_any(&none));
	assert_ptr_equal(cpus_encode(bytes, &none), bytes + 1);
	assert_int_equal(bytes[0], 0);
	assert_ptr_equal(cpus_encode(bytes, &r), bytes + sizeof(expected));
	assert_memory_equal(bytes, expected, sizeof(expected));
	for (size_t n = 0; n < sizeof(expected); n++)
		assert_null(cpus_decode(bytes, bytes + n, &back));
	assert_ptr_equal(cpus_decode(bytes, bytes + sizeof(expected), &back),
			 bytes + sizeof(expected));
	assert_memory_equal(back.cpu, r.cpu, sizeof(r.cpu));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(finer_points_have_their_bytes),
		TEST(cpus_of_points_have_their_bytes),
		TEST(flags_that_no_stream_has_are_left_out),
		TEST(a_record_has_its_parts_in_order),
		TEST(numbers_have_the_shortest_length),
		TEST(kinds_and_connections_differ_in_one_field),
		TEST(a_frame_defines_what_it_uses),
		TEST(more_than_a_frame_has_room_for_is_forgotten),
		TEST(damaged_records_are_refused),
	};

	return cmocka_run_group_tests_name("records as bytes", tests, NULL, NULL);
}
