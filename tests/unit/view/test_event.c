// SPDX-License-Identifier: GPL-2.0-only
/* Events as lines and as JSON, and the fields of submission queue entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "core/names.h"
#include "view/event.h"

static struct nt_begun begun_make(enum nt_side side, enum nt_op op, __u8 opcode)
{
	struct nt_begun b = {
		.r = {.side = side,
		      .op = op,
		      .opcode = opcode,
		      .cid = 0x1002,
		      .qid = op == NT_OP_ADMIN || op == NT_OP_FABRICS ? 0 : 3,
		      .nsid = 1,
		      .slba = 40,
		      .length = 4096,
		      .flags = NT_F_BEGUN},
		.sqe = {0x4000, [9] = 0x5a000000},
	};

	b.r.points[NT_H_SUBMIT] = 1000;
	b.r.points[NT_H_QUEUE_RQ] = 1500;
	return b;
}

/* The same command when it has ended. */
static struct nt_ended ended_make(const struct nt_begun *b)
{
	struct nt_ended e = {.r = b->r};

	e.r.flags = 0;
	e.r.points[NT_H_COMPLETE] = 9000;
	return e;
}

static void assert_line(const struct nt_record *r, const char *expected)
{
	struct event_row row;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	event_init(&row, "nvme0", r, 0, &(struct instant){0});
	event_print(&row, f);
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
}

static void a_command_begins_and_ends(void **state)
{
	struct nt_begun b = begun_make(NT_HOST, NT_OP_READ, 0x02);
	struct nt_ended e = ended_make(&b);

	b.sqe[12] = 7 | 1u << 30;
	assert_line(&b.r,
		    "0.000001500 host nvme0 q3 begin cid=0x1002 read opcode=0x02 nsid=1 slba=40 "
		    "length=4096 data=transport_sgl flags=0x40 nlb=7 fua=1 lr=0\n");
	e.r.flags = NT_F_REQUEUED;
	e.answer = (struct nt_answer){.retries = 2, .known = NT_A_RETRIES};
	assert_line(&e.r,
		    "0.000009000 host nvme0 q3 end cid=0x1002 read opcode=0x02 nsid=1 slba=40 "
		    "length=4096 requeued status=0x0 success retries=2 latency=8000 | unsplit\n");
	/* With all of its points the command has stages. */
	e.r.flags = 0;
	e.answer = (struct nt_answer){
		.result = 0x12, .sq_head = 17, .known = NT_A_RESULT | NT_A_SQ_HEAD | NT_A_RETRIES};
	e.r.points[NT_H_SEND_CMD] = 2000;
	e.r.points[NT_H_RX] = 5000;
	e.r.points[NT_H_C2H] = 6000;
	e.r.points[NT_H_CQE] = 7000;
	assert_line(&e.r,
		    "0.000009000 host nvme0 q3 end cid=0x1002 read opcode=0x02 nsid=1 slba=40 "
		    "length=4096 status=0x0 success result=0x12 sq_head=17 retries=0 latency=8000 "
		    "| blk_submission=500 nvme_tcp_submission=500 network_and_target=3000 "
		    "nstack_completion=1000 nvme_tcp_completion=1000 blk_completion=2000\n");
	/* A target has no retries. */
	b = begun_make(NT_TARGET, NT_OP_WRITE, 0x01);
	e = ended_make(&b);
	e.r.flags = NT_F_CANCELLED;
	e.r.status = 0x4080;
	e.r.points[NT_T_SENT] = 9000;
	assert_line(
		&e.r,
		"0.000009000 target nvme0 q3 end cid=0x1002 write opcode=0x01 nsid=1 slba=40 "
		"length=4096 status=0x4080 lba_out_of_range cancelled latency=8000 | unsplit\n");
}

static void commands_of_zones_say_what_they_are_about(void **state)
{
	struct nt_begun b = begun_make(NT_HOST, NT_OP_OTHER, 0x79);
	struct nt_ended e;

	b.r.length = 0;
	b.sqe[10] = 0x8000;
	b.sqe[13] = 0x104;
	assert_line(&b.r, "0.000001500 host nvme0 q3 begin cid=0x1002 zone_management_send "
			  "opcode=0x79 nsid=1 length=0 flags=0x40 slba=32768 zsa=reset selall=1\n");
	b = begun_make(NT_HOST, NT_OP_OTHER, 0x7a);
	b.sqe[12] = 1023;
	assert_line(&b.r,
		    "0.000001500 host nvme0 q3 begin cid=0x1002 zone_management_receive "
		    "opcode=0x7a nsid=1 length=4096 data=transport_sgl flags=0x40 slba=0 numd=1023 "
		    "zra=report\n");
	b = begun_make(NT_HOST, NT_OP_OTHER, 0x7d);
	b.sqe[11] = 1;
	b.sqe[12] = 7;
	assert_line(&b.r, "0.000001500 host nvme0 q3 begin cid=0x1002 zone_append opcode=0x7d "
			  "nsid=1 length=4096 data=transport_sgl flags=0x40 zslba=4294967296 nlb=7 "
			  "fua=0\n");
	/* Its answer says where the data are. */
	e = ended_make(&b);
	e.answer = (struct nt_answer){.result = 0x100000010, .known = NT_A_RESULT};
	assert_line(&e.r, "0.000009000 host nvme0 q3 end cid=0x1002 zone_append opcode=0x7d nsid=1 "
			  "length=4096 status=0x0 success result=0x100000010 latency=8000 "
			  "alba=4294967312 | unsplit\n");
}

static void admin_and_fabrics_commands_say_what_they_are_about(void **state)
{
	struct nt_begun b = begun_make(NT_HOST, NT_OP_ADMIN, 0x06);

	b.sqe[10] = 0x00050001;
	b.sqe[11] = 0x02000000;
	assert_line(&b.r,
		    "0.000001500 host nvme0 q0 begin cid=0x1002 identify opcode=0x06 nsid=1 "
		    "length=4096 data=transport_sgl flags=0x40 cns=controller cntid=5 csi=2\n");
	/* A Fabrics command has its type in the place of the namespace id. */
	b = begun_make(NT_HOST, NT_OP_FABRICS, 0x7f);
	b.r.nsid = 0x00;
	b.sqe[10] = 0;
	b.sqe[11] = 0x14;
	b.sqe[12] = 0x460001;
	assert_line(
		&b.r,
		"0.000001500 host nvme0 q0 begin cid=0x1002 property_set opcode=0x7f length=4096 "
		"data=transport_sgl flags=0x40 size=0 ofst=cc value=4587521\n");
	b.r.nsid = 0x01;
	b.sqe[10] = 0x00070000;
	b.sqe[11] = 0x0004007f;
	b.sqe[12] = 120000;
	assert_line(
		&b.r,
		"0.000001500 host nvme0 q0 begin cid=0x1002 connect opcode=0x7f length=4096 "
		"data=transport_sgl flags=0x40 recfmt=0 qid=7 sqsize=127 cattr=4 kato=120000\n");
}

/* The id of the controller is in the result of Connect; of one that failed it is something else. */
static void a_result_has_fields_where_the_command_succeeded(void **state)
{
	struct nt_begun b = begun_make(NT_HOST, NT_OP_FABRICS, 0x7f);
	struct nt_ended e;

	b.r.nsid = 0x01;
	e = ended_make(&b);
	e.answer = (struct nt_answer){.result = 0x40007, .known = NT_A_RESULT};
	assert_line(
		&e.r,
		"0.000009000 host nvme0 q0 end cid=0x1002 connect opcode=0x7f length=4096 "
		"status=0x0 success result=0x40007 latency=8000 cntlid=7 authreq=4 | unsplit\n");
	e.r.status = 0x182;
	assert_line(
		&e.r,
		"0.000009000 host nvme0 q0 end cid=0x1002 connect opcode=0x7f length=4096 "
		"status=0x182 connect_invalid_parameters result=0x40007 latency=8000 | unsplit\n");
}

/* NVMe Base 2.0, 4.1.2: the type of the descriptor is in its last byte. */
static void a_data_pointer_is_of_a_kind(void **state)
{
	static const struct {
		__u32 flags;
		__u32 type;
		const char *kind;
	} known[] = {
		{0, 0x5a, "prp"},
		{0x40, 0x01, "in_capsule"},
		{0x40, 0x5a, "transport_sgl"},
		{0x40, 0x40, "keyed_sgl"},
		{0x80, 0x4f, "keyed_sgl"},
		{0x40, 0x00, "sgl"},
	};
	struct nt_begun b = begun_make(NT_HOST, NT_OP_READ, 0x02);
	struct event_row row;
	struct json_object *o;

	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++) {
		b.sqe[0] = known[i].flags << 8;
		b.sqe[9] = known[i].type << 24;
		event_init(&row, "nvme0", &b.r, 0, &(struct instant){0});
		o = event_json(&row);
		assert_string_equal(json_object_get_string(json_object_object_get(o, "data")),
				    known[i].kind);
		json_object_put(o);
	}
	b.r.length = 0;
	event_init(&row, "nvme0", &b.r, 0, &(struct instant){0});
	o = event_json(&row);
	assert_null(json_object_object_get(o, "data"));
	json_object_put(o);
	/* A driver of another transport maps the data later. */
	b.r.length = 4096;
	b.r.shape = NT_SHAPE_CORE;
	event_init(&row, "nvme0", &b.r, 0, &(struct instant){0});
	row.raw = true;
	o = event_json(&row);
	assert_null(json_object_object_get(o, "data"));
	assert_null(json_object_object_get(json_object_object_get(o, "entry"), "dptr2"));
	json_object_put(o);
}

static void the_whole_entry_its_disk_and_its_origin_are_told_where_asked_for(void **state)
{
	static const struct origin from = {.number = 1, .cpu = 2, .pid = 30, .comm = "a b"};
	struct nt_begun b = begun_make(NT_HOST, NT_OP_READ, 0x02);
	struct event_row row;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	struct json_object *o;

	for (unsigned int i = 2; i < ARRAY_SIZE(b.sqe); i++)
		b.sqe[i] = i;
	event_init(&row, "nvme0", &b.r, 0, &(struct instant){0});
	row.raw = true;
	row.disk = "nvme0n1";
	row.origin = &from;
	event_print(&row, f);
	fclose(f);
	assert_string_equal(
		text,
		"0.000001500 host nvme0 q3 begin cid=0x1002 read opcode=0x02 nsid=1 slba=40 "
		"length=4096 disk=nvme0n1 data=sgl flags=0x40 nlb=12 fua=0 lr=0 | cdw2=0x2 cdw3=0x3 "
		"mptr=0x500000004 dptr=0x700000006 dptr2=0x900000008 cdw10=0xa cdw11=0xb cdw12=0xc "
		"cdw13=0xd cdw14=0xe cdw15=0xf | from cpu=2 pid=30 comm=a\\x20b\n");
	free(text);
	o = event_json(&row);
	assert_int_equal(json_object_get_int64(json_object_object_get(
				 json_object_object_get(o, "entry"), "mptr")),
			 0x500000004);
	assert_string_equal(json_object_get_string(json_object_object_get(
				    json_object_object_get(o, "origin"), "comm")),
			    "a b");
	json_object_put(o);
}

static void a_field_may_lie_in_two_dwords(void **state)
{
	struct nt_begun b = begun_make(NT_HOST, NT_OP_ADMIN, 0x02);
	struct sqe_field fields[FIELDS_MAX];
	unsigned int nr;

	b.sqe[10] = 0xfffe8502;
	b.sqe[11] = 0x00010003;
	b.sqe[12] = 0x89abcdef;
	b.sqe[13] = 0x01234567;
	nr = fields_of(&b.r, fields);
	assert_int_equal(nr, 5);
	assert_string_equal(fields[0].word, "health_information");
	assert_int_equal(fields[1].value, 5);
	assert_int_equal(fields[2].value, 1);
	assert_string_equal(fields[3].name, "numd");
	assert_int_equal(fields[3].value, 0x0003fffe);
	assert_int_equal(fields[4].value, 0x0123456789abcdef);
	/* A value without a name is printed as a number. */
	b.sqe[10] = 0xc1;
	fields_of(&b.r, fields);
	assert_null(fields[0].word);
	assert_int_equal(fields[0].value, 0xc1);
	/* An opcode with unknown fields has none. */
	b.r.opcode = 0xc1;
	assert_int_equal(fields_of(&b.r, fields), 0);
}

static void opcodes_have_names_of_their_kind(void **state)
{
	assert_string_equal(opcode_name(NT_OP_READ, 0x02, 0), "read");
	assert_string_equal(opcode_name(NT_OP_DISCARD, 0x09, 0), "dataset_management");
	assert_string_equal(opcode_name(NT_OP_ADMIN, 0x02, 0), "get_log_page");
	assert_string_equal(opcode_name(NT_OP_FABRICS, 0x7f, 0x04), "property_get");
	assert_string_equal(opcode_name(NT_OP_ADMIN, 0xc0, 0), "vendor_specific");
	assert_string_equal(opcode_name(NT_OP_ADMIN, 0x85, 0), "reserved");
	assert_string_equal(opcode_name(NT_OP_OTHER, 0x80, 0), "vendor_specific");
	assert_string_equal(opcode_name(NT_OP_OTHER, 0x03, 0), "reserved");
	assert_string_equal(opcode_name(NT_OP_FABRICS, 0x7f, 0x7f), "reserved");
}

static void losses_are_told_where_they_were(void **state)
{
	struct nt_record lost = {.side = NT_HOST, .flags = NT_F_LOST, .slba = 12};
	struct event_row row;
	struct json_object *o;

	lost.points[0] = 777;
	assert_line(&lost, "0.000000777 lost 12 events: ring_full\n");
	event_init_slow(&row, 1, &(struct event_row){.time = 778});
	o = event_json(&row);
	assert_string_equal(
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN),
		"{\"type\":\"lost\",\"schema_version\":1,\"time\":null,\"monotonic_ns\":778,\"events\":1,\"loss\":\"reader_slow\"}");
	json_object_put(o);
}

static void json_has_names_for_values_that_have_some(void **state)
{
	struct nt_begun b = begun_make(NT_HOST, NT_OP_ADMIN, 0x0a);
	struct event_row row;
	struct nt_ended e;
	struct json_object *o;
	const char *text;

	b.sqe[10] = 0x07;
	event_init(&row, "nvme0", &b.r, 0, &(struct instant){0});
	o = event_json(&row);
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	assert_non_null(strstr(
		text,
		"{\"type\":\"submission\",\"schema_version\":1,\"time\":null,\"monotonic_ns\":1500,"));
	assert_non_null(strstr(text, "\"command\":\"get_features\""));
	assert_non_null(strstr(text, "\"status\":null"));
	assert_non_null(
		strstr(text, "\"fields\":{\"fid\":\"number_of_queues\",\"sel\":\"current\"}"));
	json_object_put(o);
	e = ended_make(&b);
	e.answer = (struct nt_answer){.result = 0x000f000f, .known = NT_A_RESULT};
	event_init(&row, "nvme0", &e.r, 0, &(struct instant){0});
	o = event_json(&row);
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	assert_non_null(strstr(
		text,
		"{\"type\":\"completion\",\"schema_version\":1,\"time\":null,\"monotonic_ns\":9000,"));
	assert_non_null(strstr(text, "\"stages\":null"));
	assert_non_null(strstr(text, "\"result\":983055"));
	assert_non_null(strstr(text, "\"fields\":{\"value\":983055}"));
	json_object_put(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_begins_and_ends),
		cmocka_unit_test(commands_of_zones_say_what_they_are_about),
		cmocka_unit_test(admin_and_fabrics_commands_say_what_they_are_about),
		cmocka_unit_test(a_result_has_fields_where_the_command_succeeded),
		cmocka_unit_test(a_data_pointer_is_of_a_kind),
		cmocka_unit_test(the_whole_entry_its_disk_and_its_origin_are_told_where_asked_for),
		cmocka_unit_test(a_field_may_lie_in_two_dwords),
		cmocka_unit_test(opcodes_have_names_of_their_kind),
		cmocka_unit_test(losses_are_told_where_they_were),
		cmocka_unit_test(json_has_names_for_values_that_have_some),
	};

	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
