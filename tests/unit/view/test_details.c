// SPDX-License-Identifier: GPL-2.0-only
/* The intervals between points, as a table, as CSV and as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "view/groups.h"

#define US 1000ULL

/*
 * A read whose request waited 10 us before the driver got it, and that was 300 us on the network
 * and in the target; the target had it for 100 us; the device took 60 us of them.
 */
static const struct nt_record host = {
	.side = NT_HOST,
	.op = NT_OP_READ,
	.shape = NT_SHAPE_READ,
	.points = {[NT_H_SUBMIT] = 1000 * US,
		   [NT_H_QUEUE_RQ] = 1010 * US,
		   [NT_H_SEND_CMD] = 1015 * US,
		   [NT_H_RX] = 1315 * US,
		   [NT_H_COMPLETE] = 1320 * US},
};

static const struct nt_record target = {
	.side = NT_TARGET,
	.op = NT_OP_READ,
	.shape = NT_SHAPE_READ,
	.points = {[NT_T_RX] = 50 * US,
		   [NT_T_EXEC] = 80 * US,
		   [NT_T_DONE] = 140 * US,
		   [NT_T_SEND] = 150 * US},
};

static struct details *added(void)
{
	struct details *d = details_new();

	assert_non_null(d);
	assert_int_equal(details_add(d, &host, &target), 0);
	return d;
}

static char *printed(const struct details *d, const char *figures)
{
	struct figures f = {.nr = 0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (figures[0])
		assert_null(figures_parse(&f, figures));
	details_print(d, &f, out);
	fclose(out);
	return text;
}

static void an_interval_is_a_line(void **state)
{
	struct details *d = added();
	char *text = printed(d, "mean,max");

	assert_string_equal(text, "shape side    from     to       commands   mean    max\n"
				  "read  host    submit   queue_rq        1 10.0us 10.0us\n"
				  "read  host    queue_rq send_cmd        1 5.00us 5.00us\n"
				  "read  host    send_cmd rx              1  300us  300us\n"
				  "read  host    rx       complete        1 5.00us 5.00us\n"
				  "read  target  rx       exec            1 30.0us 30.0us\n"
				  "read  target  exec     done            1 60.0us 60.0us\n"
				  "read  target  done     send            1 10.0us 10.0us\n"
				  "read  network send_cmd rx              1  200us  200us\n");
	free(text);
	text = printed(d, "");
	assert_ptr_equal(
		strstr(text, "shape side    from     to       commands   mean p50 p99    max\n"),
		text);
	free(text);
	details_free(d);
}

/* A name may be wider than its heading, and a heading wider than all values. */
static void a_column_is_as_wide_as_its_widest_cell(void **state)
{
	struct details *d = details_new();
	struct nt_record r = host;
	char *text;

	memset(r.points, 0, sizeof(r.points));
	r.points[NT_H_SUBMIT] = 1;
	r.points[NT_H_QUEUE_RQ] = 1001;
	assert_int_equal(details_add(d, &r, NULL), 0);
	r.points[NT_H_QUEUE_RQ] = 3001;
	assert_int_equal(details_add(d, &r, NULL), 0);
	text = printed(d, "max,min");
	assert_string_equal(text, "shape side from   to       commands    max   min\n"
				  "read  host submit queue_rq        2 3.00us 992ns\n");
	free(text);
	details_free(d);
}

static void records_out_of_order_are_counted_below(void **state)
{
	struct details *d = details_new();
	struct nt_record r = host;
	char *text;

	assert_int_equal(details_add(d, &host, NULL), 0);
	text = printed(d, "max");
	assert_null(strstr(text, "order"));
	free(text);
	r.points[NT_H_COMPLETE] = 1;
	assert_int_equal(details_add(d, &r, NULL), 0);
	assert_int_equal(details_add(d, &r, NULL), 0);
	text = printed(d, "max");
	assert_non_null(strstr(text, "\nrecords whose points are not in order: 2\n"));
	free(text);
	details_free(d);
}

/* The stage is that of the segment that ends with the interval; what the network took is of none.
 */
static void csv_has_stages_and_sums_as_well(void **state)
{
	struct details *d = added();
	struct figures f = {.nr = 0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_null(figures_parse(&f, "max"));
	details_csv_header(&f, out);
	details_csv(d, &f, "in", out);
	fclose(out);
	assert_string_equal(text,
			    "input,shape,side,from_point,to_point,commands,stage,sum,max\r\n"
			    "in,read,host,submit,queue_rq,1,blk_submission,10000,10000\r\n"
			    "in,read,host,queue_rq,send_cmd,1,nvme_tcp_submission,5000,5000\r\n"
			    "in,read,host,send_cmd,rx,1,network_and_target,300000,300000\r\n"
			    "in,read,host,rx,complete,1,blk_completion,5000,5000\r\n"
			    "in,read,target,rx,exec,1,nvmet_tcp_submission,30000,30000\r\n"
			    "in,read,target,exec,done,1,target_subsystem,60000,60000\r\n"
			    "in,read,target,done,send,1,nvmet_tcp_completion,10000,10000\r\n"
			    "in,read,network,send_cmd,rx,1,,200000,200000\r\n");
	free(text);
	details_free(d);
}

static struct json_object *member(struct json_object *rows, size_t i, const char *name)
{
	struct json_object *m = NULL;

	if (!json_object_object_get_ex(json_object_array_get_idx(rows, i), name, &m))
		fail_msg("row %zu has no %s", i, name);
	return m;
}

/* Clocks that drift may make the network's time negative, which a sum has and a histogram has not.
 */
static void a_negative_time_lowers_sum_and_mean(void **state)
{
	struct nt_record late = target;
	struct details *d = added();
	struct figures f = {.nr = 0};
	struct json_object *rows;

	assert_null(figures_parse(&f, "mean,min,max"));
	late.points[NT_T_SEND] = late.points[NT_T_RX] + 320 * US;
	assert_int_equal(details_add(d, &host, &late), 0);
	rows = details_json(d, &f);
	assert_int_equal(json_object_array_length(rows), 8);
	assert_string_equal(json_object_get_string(member(rows, 7, "side")), "network");
	assert_int_equal(json_object_get_int64(member(rows, 7, "commands")), 2);
	assert_int_equal(json_object_get_int64(member(rows, 7, "sum")), 180000);
	assert_int_equal(json_object_get_int64(member(rows, 7, "mean")), 90000);
	assert_int_equal(json_object_get_int64(member(rows, 7, "min")), 0);
	assert_int_equal(json_object_get_int64(member(rows, 7, "max")), 200000);
	assert_null(member(rows, 7, "stage"));
	assert_string_equal(json_object_get_string(member(rows, 0, "stage")), "blk_submission");
	assert_string_equal(json_object_get_string(member(rows, 0, "from_point")), "submit");
	assert_string_equal(json_object_get_string(member(rows, 5, "stage")), "target_subsystem");
	json_object_put(rows);
	details_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interval_is_a_line),
		cmocka_unit_test(a_column_is_as_wide_as_its_widest_cell),
		cmocka_unit_test(records_out_of_order_are_counted_below),
		cmocka_unit_test(csv_has_stages_and_sums_as_well),
		cmocka_unit_test(a_negative_time_lowers_sum_and_mean),
	};

	return cmocka_run_group_tests_name("intervals between points", tests, NULL, NULL);
}
