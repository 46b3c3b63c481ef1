// SPDX-License-Identifier: GPL-2.0-only
/* Peers that send far more than usual: how much memory of serve they may take. */
#include "peer/testing.h"

#include <malloc.h>

#define PEERS 15
/* As many queues as one side's table has rows for. */
#define QUEUES 4096
#define RECORDS (2 * QUEUES)
/*
 * The limit covers a peer's buffers, connections and waiting records. Its own statistics would take
 * 35 MB.
 */
#define PEER_BYTES (8u << 20)

static int stream_of_strangers(void)
{
	int fd = memfd_create("strangers", 0);
	struct stream_writer *w = stream_writer_new(fd, &header);
	struct stream_event clock = clock_event();

	assert_non_null(w);
	assert_int_equal(stream_write(w, &clock), 0);
	for (uint32_t i = 0; i < RECORDS; i++) {
		const uint16_t slot = i % QUEUES;
		struct stream_event q = queue_event(), r = {.type = STREAM_RECORD};

		q.queue.slot = slot;
		q.queue.gen = 1;
		q.queue.cntlid = slot;
		q.queue.qid = slot % 8;
		snprintf(q.queue.subsysnqn, sizeof(q.queue.subsysnqn), "nqn.sub%u", slot);
		snprintf(q.queue.hostnqn, sizeof(q.queue.hostnqn), "nqn.host%u", slot);
		r.record = (struct nt_record){
			.side = NT_TARGET,
			.op = i / QUEUES ? NT_OP_READ : NT_OP_WRITE,
			.slot = slot,
			.gen = 1,
			.cntlid = slot,
			.qid = slot % 8,
			.points = {[NT_T_RX] = 1000 + i, [NT_T_SENT] = 2000 + i}};
		if (i < QUEUES)
			assert_int_equal(stream_write(w, &q), 0);
		assert_int_equal(stream_write(w, &r), 0);
	}
	assert_int_equal(stream_flush(w), 0);
	stream_writer_free(w);
	return fd;
}

static bool all_read(const struct live_merge *l)
{
	struct peer_about a;

	for (unsigned int i = 0; i < PEERS; i++) {
		peer_about(live_merge_peer(l, i), &a);
		if (a.records < RECORDS)
			return false;
	}
	return true;
}

/* serve does not show a peer's own statistics, so they are not kept. */
static void figures_that_serve_never_shows_take_no_memory(void **state)
{
	char text[PEERS][64], *sources[PEERS];
	int fd = stream_of_strangers();
	const size_t before = mallinfo2().uordblks;
	struct live_merge *l;

	for (unsigned int i = 0; i < PEERS; i++) {
		snprintf(text[i], sizeof(text[i]), "/proc/%d/fd/%d", (int)getpid(), fd);
		sources[i] = text[i];
	}
	l = live_merge_new_lasting(NT_HOST, sources, PEERS, &myself);
	assert_non_null(l);
	READ_UNTIL(l, all_read(l));
	assert_int_equal(live_merge_tend(l), 0);
	assert_true(mallinfo2().uordblks - before < (size_t)PEERS * PEER_BYTES);
	for (unsigned int i = 0; i < PEERS; i++)
		assert_null(live_merge_peer_stats(l, i));
	live_merge_free(l);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_that_serve_never_shows_take_no_memory),
	};

	return cmocka_run_group_tests_name("hostile peers", tests, NULL, NULL);
}
