// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "merge/tcp_history.h"

#define MS 1000000ULL

static const unsigned int streams[NT_SIDES] = {[NT_HOST] = 0, [NT_TARGET] = 1};

static uint32_t sent_again(const struct tcp_history *h, const struct nt_record *host,
			   const struct nt_record *target, int64_t ahead)
{
	const struct nt_record *const record[NT_SIDES] = {[NT_HOST] = host, [NT_TARGET] = target};

	return tcp_history_sent_again(h, streams, record, ahead);
}

/* A read; the target's clock is @ahead of the host's. */
static void make_read(struct nt_record *host, struct nt_record *target, uint64_t begin,
		      uint64_t ahead)
{
	*host = (struct nt_record){.side = NT_HOST, .slot = 3, .gen = 2};
	host->points[NT_H_SUBMIT] = begin;
	host->points[NT_H_SEND_CMD] = begin + 1 * MS;
	host->points[NT_H_RX] = begin + 8 * MS;
	host->points[NT_H_COMPLETE] = begin + 9 * MS;
	*target = (struct nt_record){.side = NT_TARGET, .slot = 7, .gen = 4};
	target->points[NT_T_RX] = begin + ahead + 3 * MS;
	target->points[NT_T_CMD] = begin + ahead + 3 * MS;
	target->points[NT_T_SEND] = begin + ahead + 5 * MS;
	target->points[NT_T_SENT] = begin + ahead + 6 * MS;
}

static void commands_on_their_way_are_marked_and_no_others(void **state)
{
	const uint64_t ahead = 5000 * MS;
	struct nt_record host, target;
	struct tcp_history h = {.stream = NULL};
	const struct {
		unsigned int stream;
		uint32_t slot, gen;
		uint64_t at; /* ms after the command began, by the host's clock */
		bool marked;
	} cases[] = {
		{0, 3, 2, 2, true}, {0, 3, 2, 4, false}, {0, 4, 2, 2, false},  {0, 3, 4, 2, false},
		{1, 7, 4, 7, true}, {1, 7, 4, 4, false}, {1, 7, 4, 10, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct nt_resent resent = {
			.slot = cases[i].slot,
			.gen = cases[i].gen,
			.ns = (100 + cases[i].at) * MS + (cases[i].stream ? ahead : 0),
		};

		make_read(&host, &target, 100 * MS, ahead);
		assert_false(sent_again(&h, &host, &target, (int64_t)ahead));
		assert_int_equal(tcp_history_resent(&h, cases[i].stream, &resent), 0);
		assert_int_equal(sent_again(&h, &host, &target, (int64_t)ahead),
				 cases[i].marked ? NT_F_RETRANSMITTED : 0);
		tcp_history_free(&h);
	}
}

static void one_side_marks_what_it_sees_itself(void **state)
{
	struct nt_record host, target;
	struct tcp_history h = {.stream = NULL};
	struct nt_resent resent = {.slot = 3, .gen = 2, .ns = 104 * MS};

	make_read(&host, &target, 100 * MS, 0);
	tcp_history_resent(&h, 0, &resent);
	assert_true(sent_again(&h, &host, NULL, 0));
	assert_false(sent_again(&h, NULL, &target, 0));
	resent = (struct nt_resent){.slot = 7, .gen = 4, .ns = 105 * MS + 1};
	tcp_history_resent(&h, 1, &resent);
	assert_true(sent_again(&h, NULL, &target, 0));
	tcp_history_free(&h);
}

/* It arrived before that was sent again which had been lost before it. */
static void what_waits_for_a_lost_segment_before_it_is_marked(void **state)
{
	const struct nt_resent resent = {.slot = 3, .gen = 2, .ns = 104 * MS};
	struct nt_record host, target;
	struct tcp_history h = {.stream = NULL};

	make_read(&host, &target, 100 * MS, 0);
	tcp_history_resent(&h, 0, &resent);
	assert_false(sent_again(&h, &host, &target, 0));
	target.points[NT_T_CMD] = 105 * MS;
	assert_int_equal(sent_again(&h, &host, &target, 0), NT_F_RETRANSMITTED);
	tcp_history_free(&h);
}

/*
 * A read that waits from @begin on, in ms, during which its answer is sent again; @needless of the
 * @again segments of that second were there already.
 */
static uint32_t marks_of(struct tcp_history *h, struct nt_tcp_state *s, uint64_t begin,
			 uint32_t again, uint32_t needless)
{
	struct nt_record host, target;

	make_read(&host, &target, begin * MS, 0);
	for (uint32_t i = 0; i < again; i++) {
		const struct nt_resent resent = {
			.slot = 7, .gen = 4, .ns = target.points[NT_T_SEND] + 1 + i};

		assert_int_equal(tcp_history_resent(h, 1, &resent), 0);
	}
	s->total_retrans += again;
	s->dsack_dups += needless;
	assert_int_equal(tcp_history_state(h, 1, 7, 4, (begin + 900) * MS, s), 0);
	return sent_again(h, &host, &target, 0);
}

static void what_the_other_side_had_already_was_not_lost(void **state)
{
	const uint32_t lost = NT_F_RETRANSMITTED, none = NT_F_RETRANSMITTED | NT_F_NEEDLESS;
	struct nt_tcp_state s = {.snd_cwnd = 10, .total_retrans = 5, .dsack_dups = 5};
	struct tcp_history h = {.stream = NULL};
	struct nt_record host, target;

	assert_int_equal(tcp_history_state(&h, 1, 7, 4, 900 * MS, &s), 0);
	assert_int_equal(marks_of(&h, &s, 1000, 3, 3), none);
	assert_int_equal(marks_of(&h, &s, 2000, 3, 1), lost);
	/* What follows takes nothing away from that. */
	assert_int_equal(marks_of(&h, &s, 3000, 3, 2), none);
	make_read(&host, &target, 2000 * MS, 0);
	assert_int_equal(sent_again(&h, &host, &target, 0), lost);
	/* The answer may come in the next second, but not for ever. */
	assert_int_equal(marks_of(&h, &s, 4000, 1, 0), lost);
	assert_int_equal(marks_of(&h, &s, 5000, 0, 1), 0);
	make_read(&host, &target, 4000 * MS, 0);
	assert_int_equal(sent_again(&h, &host, &target, 0), none);
	assert_int_equal(marks_of(&h, &s, 6000, 1, 0), lost);
	assert_int_equal(marks_of(&h, &s, 20000, 0, 0), 0);
	assert_int_equal(marks_of(&h, &s, 21000, 0, 1), 0);
	make_read(&host, &target, 6000 * MS, 0);
	assert_int_equal(sent_again(&h, &host, &target, 0), lost);
	tcp_history_free(&h);
}

static unsigned int limits_at(const struct tcp_history *h, uint64_t ns)
{
	const struct nt_record r = {.slot = 3, .gen = 2};

	return tcp_history_limits(h, 0, &r, ns, ns);
}

static void what_limits_a_connection_is_known_for_each_time_between_two_states(void **state)
{
	struct nt_tcp_state s = {.snd_cwnd = 10, .srtt_us = 50, .jiffies = 1000};
	struct tcp_history h = {.stream = NULL};

	tcp_history_state(&h, 0, 3, 2, 1000 * MS, &s);
	s.jiffies += 250;
	s.rwnd_limited += 200;
	s.srtt_us = 900;
	tcp_history_state(&h, 0, 3, 2, 2000 * MS, &s);
	s.jiffies += 250;
	s.rwnd_limited += 100;
	s.sndbuf_limited += 125;
	s.snd_cwnd = s.unacked = 4;
	s.notsent = 7000;
	tcp_history_state(&h, 0, 3, 2, 3000 * MS, &s);
	s.jiffies += 250;
	s.notsent = 0;
	s.snd_cwnd = 20;
	tcp_history_state(&h, 0, 3, 2, 4000 * MS, &s);
	assert_int_equal(limits_at(&h, 999 * MS), 0);
	assert_int_equal(limits_at(&h, 1500 * MS), TCP_BY_WINDOW);
	assert_int_equal(limits_at(&h, 2000 * MS), TCP_BY_WINDOW);
	assert_int_equal(limits_at(&h, 2001 * MS), TCP_BY_BUFFER | TCP_BY_CWND);
	assert_int_equal(limits_at(&h, 3500 * MS), 0);
	assert_int_equal(limits_at(&h, 4001 * MS), 0);
	/* A command of seconds was held up by what was in any of them. */
	assert_int_equal(tcp_history_limits(&h, 0, &(struct nt_record){.slot = 3, .gen = 2},
					    1500 * MS, 3500 * MS),
			 TCP_BY_WINDOW | TCP_BY_BUFFER | TCP_BY_CWND);
	assert_int_equal(h.stream->queues->srtt_us_max, 900);
	assert_int_equal(h.stream->queues->cwnd_min, 4);
	assert_int_equal(h.stream->queues->notsent_max, 7000);
	assert_int_equal(h.stream->queues->states, 4);
	/* A stream that goes back in time. */
	assert_int_equal(tcp_history_state(&h, 0, 3, 2, 3999 * MS, &s), 0);
	assert_int_equal(h.stream->queues->states, 4);
	tcp_history_free(&h);
}

static void rows_have_extremes_and_what_was_added(void **state)
{
	const struct queue_info info = {
		.slot = 3,
		.gen = 2,
		.instance = 1,
		.qid = 5,
		.subsysnqn = "nqn.a",
		.ends = {.local = "192.0.2.7", .remote = "192.0.2.1", .remote_port = 4420}};
	struct nt_tcp_state s = {.snd_cwnd = 10,
				 .srtt_us = 900,
				 .jiffies = 1000,
				 .bytes_sent = 500,
				 .total_retrans = 3};
	struct tcp_history h = {.stream = NULL};
	struct tcp_rows rows = {.asked = true};

	tcp_history_queue(&h, 0, NT_HOST, &info);
	/* Nothing is known of its connection. */
	tcp_history_queue(&h, 0, NT_HOST, &(struct queue_info){.slot = 4, .gen = 2});
	tcp_history_state(&h, 0, 3, 2, 1000 * MS, &s);
	s = (struct nt_tcp_state){.snd_cwnd = 20,
				  .srtt_us = 50,
				  .jiffies = 1250,
				  .bytes_sent = 1500,
				  .total_retrans = 7,
				  .rwnd_limited = 50};
	tcp_history_state(&h, 0, 3, 2, 2000 * MS, &s);
	tcp_history_rows(&h, 1, &rows);
	assert_int_equal(rows.nr, 0);
	tcp_history_rows(&h, 0, &rows);
	assert_int_equal(rows.nr, 1);
	assert_string_equal(rows.row->controller, "nvme1");
	assert_string_equal(rows.row->peer, "nqn.a");
	assert_int_equal(rows.row->qid, 5);
	assert_int_equal(rows.row->now.snd_cwnd, 10);
	assert_int_equal(rows.row->now.srtt_us, 900);
	assert_int_equal(rows.row->sent, 1000);
	assert_memory_equal(rows.row->now.peer, "\300\0\2\1", 4);
	assert_int_equal(rows.row->now.peer_port, 4420);
	assert_int_equal(rows.row->retransmitted, 4);
	assert_true(rows.row->rwnd_limited == 0.2);
	assert_true(rows.row->seconds == 1);
	tcp_rows_free(&rows);
	tcp_history_free(&h);
}

/* As those of recordings that were made without --tcp. */
static void connections_without_a_state_take_no_room(void **state)
{
	struct queue_info info = {.gen = 1, .qid = 5, .subsysnqn = "nqn.a"};
	struct nt_tcp_state s = {.snd_cwnd = 10};
	struct tcp_rows rows = {.asked = true};
	struct tcp_history h = {.stream = NULL};

	for (; info.slot < 2 * TCP_HISTORY_NAMED; info.slot++)
		assert_int_equal(tcp_history_queue(&h, 0, NT_HOST, &info), 0);
	assert_int_equal(h.stream[0].past_queues, 0);
	assert_int_equal(HASH_COUNT(h.stream[0].named), TCP_HISTORY_NAMED);
	for (unsigned int i = 1; i <= TCP_HISTORY_QUEUES + 3; i++)
		for (unsigned int k = 0; k < 2; k++)
			assert_int_equal(
				tcp_history_state(&h, 0, info.slot - i, 1, (1 + k) * MS, &s), 0);
	assert_int_equal(h.stream[0].past_queues, 3);
	tcp_history_rows(&h, 0, &rows);
	assert_int_equal(rows.nr, TCP_HISTORY_QUEUES);
	assert_string_equal(rows.row[0].peer, "nqn.a");
	assert_string_equal(rows.row[rows.nr - 1].peer, "nqn.a");
	tcp_rows_free(&rows);
	tcp_history_free(&h);
}

static void what_finds_no_room_is_counted(void **state)
{
	struct nt_tcp_state s = {.snd_cwnd = 10};
	struct tcp_history h = {.stream = NULL};

	for (unsigned int i = 0; i < TCP_HISTORY_QUEUES + 3; i++)
		assert_int_equal(tcp_history_state(&h, 0, i, 1, MS, &s), 0);
	assert_int_equal(h.stream[0].past_queues, 3);
	h.stream[0].resent = TCP_HISTORY_TIMES;
	assert_int_equal(tcp_history_resent(&h, 0, &(struct nt_resent){.gen = 1, .ns = 1}), 0);
	assert_int_equal(h.stream[0].past_times, 1);
	tcp_history_free(&h);
}

/* Many connections in one file take no room from those of the next. */
static void each_stream_has_room_of_its_own(void **state)
{
	struct nt_tcp_state s = {.snd_cwnd = 10};
	struct queue_info info = {.gen = 1, .qid = 5, .subsysnqn = "nqn.b"};
	struct tcp_rows rows = {.asked = true};
	struct tcp_history h = {.stream = NULL};

	assert_int_equal(tcp_history_queue(&h, 1, NT_HOST, &info), 0);
	for (info.slot = 0; info.slot < 2 * TCP_HISTORY_NAMED; info.slot++)
		assert_int_equal(tcp_history_queue(&h, 0, NT_HOST, &info), 0);
	for (unsigned int i = 0; i < TCP_HISTORY_QUEUES + 3; i++)
		assert_int_equal(tcp_history_state(&h, 0, i, 1, MS, &s), 0);
	assert_int_equal(h.stream[0].past_queues, 3);
	assert_int_equal(tcp_history_state(&h, 1, 0, 1, MS, &s), 0);
	assert_int_equal(tcp_history_past(&h, 1), 0);
	tcp_history_rows(&h, 1, &rows);
	assert_int_equal(rows.nr, 1);
	assert_string_equal(rows.row[0].peer, "nqn.b");
	tcp_history_rows(&h, 0, &rows);
	assert_int_equal(rows.nr, TCP_HISTORY_QUEUES);
	/* The times of all connections of a stream are as many, too. */
	for (uint64_t ns = 1; ns <= TCP_HISTORY_TIMES + 2; ns++)
		assert_int_equal(tcp_history_resent(&h, 0, &(struct nt_resent){.gen = 1, .ns = ns}),
				 0);
	assert_int_equal(h.stream[0].past_times, 2);
	assert_int_equal(tcp_history_resent(&h, 1, &(struct nt_resent){.gen = 1, .ns = 1}), 0);
	assert_int_equal(tcp_history_past(&h, 1), 0);
	assert_int_equal(tcp_history_past(&h, 0), 5);
	assert_int_equal(tcp_history_past(&h, 2), 0);
	tcp_rows_free(&rows);
	tcp_history_free(&h);
}

/* However long it is recorded, a curve has as many points; each has the worst of its states. */
static void curves_become_coarser_and_lose_no_extreme(void **state)
{
	const unsigned int states = 8 * TCP_HISTORY_POINTS + 5;
	struct tcp_history h = {.curves = true};
	struct nt_tcp_state s;
	const struct tcp_queue *q;
	unsigned int high = 0, low = 0;

	for (unsigned int i = 0; i < states; i++) {
		s = (struct nt_tcp_state){.srtt_us = i == 77 ? 900 : 50,
					  .snd_cwnd = i == 1234 ? 2 : 10,
					  .total_retrans = i};
		assert_int_equal(tcp_history_state(&h, 0, 3, 2, (i + 1) * MS, &s), 0);
	}
	q = tcp_history_queue_of(&h, 0, &(struct tcp_row){.slot = 3, .gen = 2});
	assert_ptr_equal(q, h.stream[0].queues);
	assert_null(tcp_history_queue_of(&h, 1, &(struct tcp_row){.slot = 3, .gen = 2}));
	assert_in_range(q->nr_points, TCP_HISTORY_POINTS / 2, TCP_HISTORY_POINTS);
	for (size_t i = 0; i < q->nr_points; i++) {
		high += q->point[i].srtt_us == 900;
		low += q->point[i].cwnd == 2;
		assert_int_equal(q->point[i].ns, (q->point[i].again + 1) * MS);
		assert_true(!i || q->point[i].ns > q->point[i - 1].ns);
	}
	assert_int_equal(high, 1);
	assert_int_equal(low, 1);
	assert_int_equal(q->point[q->nr_points - 1].ns, states * MS);
	tcp_history_free(&h);
	/* Without curves there are none. */
	assert_int_equal(tcp_history_state(&h, 0, 3, 2, MS, &s), 0);
	assert_int_equal(h.stream->queues->nr_points, 0);
	tcp_history_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_on_their_way_are_marked_and_no_others),
		cmocka_unit_test(one_side_marks_what_it_sees_itself),
		cmocka_unit_test(what_waits_for_a_lost_segment_before_it_is_marked),
		cmocka_unit_test(what_the_other_side_had_already_was_not_lost),
		cmocka_unit_test(
			what_limits_a_connection_is_known_for_each_time_between_two_states),
		cmocka_unit_test(rows_have_extremes_and_what_was_added),
		cmocka_unit_test(connections_without_a_state_take_no_room),
		cmocka_unit_test(what_finds_no_room_is_counted),
		cmocka_unit_test(each_stream_has_room_of_its_own),
		cmocka_unit_test(curves_become_coarser_and_lose_no_extreme),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
