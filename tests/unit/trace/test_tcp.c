// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of a TCP connection as the program reads it from a socket of this machine, against what
 * the kernel itself says of that socket (TCP_INFO). The socket's address is what /proc/net/tcp has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/tcp.h"
#include "shared/control.h"
#include "trace/tcp_state.h"

#include "tcp.skel.h"

/* A connection of this process with itself; nothing reads what is sent on @fd. */
struct loop {
	int listener;
	int fd;
	int other;
	struct sockaddr_in local;
	struct sockaddr_in peer;
};

static void loop_open(struct loop *l)
{
	socklen_t n = sizeof(l->peer);

	*l = (struct loop){.peer = {.sin_family = AF_INET}};
	l->peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	l->listener = socket(AF_INET, SOCK_STREAM, 0);
	l->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(l->listener, (struct sockaddr *)&l->peer, n), 0);
	assert_int_equal(listen(l->listener, 1), 0);
	assert_int_equal(getsockname(l->listener, (struct sockaddr *)&l->peer, &n), 0);
	assert_int_equal(connect(l->fd, (struct sockaddr *)&l->peer, n), 0);
	assert_int_equal(getsockname(l->fd, (struct sockaddr *)&l->local, &n), 0);
	l->other = accept(l->listener, NULL, NULL);
	assert_true(l->other >= 0);
}

static void loop_close(const struct loop *l)
{
	close(l->fd);
	close(l->other);
	close(l->listener);
}

/* Return: the address of the socket whose local port is @port; 0: the kernel does not show it */
static uint64_t socket_address(uint16_t port)
{
	FILE *f = fopen("/proc/net/tcp", "re");
	unsigned long long at, found = 0;
	unsigned int local;
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " %*u: %*[0-9A-F]:%x %*s %*s %*s %*s %*s %*u %*u %*u %*u %llx",
			   &local, &at) == 2 &&
		    local == port)
			found = at;
	fclose(f);
	return found >> 48 == 0xffff ? found : 0;
}

/* The kernel shows addresses of sockets only if kptr_restrict is 1; @value: NULL reads it */
static int kptr_restrict(const char *value)
{
	FILE *f = fopen("/proc/sys/kernel/kptr_restrict", value ? "we" : "re");
	int now = -1;

	if (!f)
		return -1;
	if (value)
		fputs(value, f);
	else if (fscanf(f, "%d", &now) != 1)
		now = -1;
	return fclose(f) ? -1 : now;
}

/* The others need what not every kernel has, and the states do not need them. */
static void only_states(const struct nt_tcp *bpf)
{
	bpf_program__set_autoload(bpf->progs.tcp_resent, false);
	bpf_program__set_autoload(bpf->progs.queue_sockets, false);
	libbpf_set_print(NULL);
}

/*
 * Loads the program with a map that this test can write. Its sockets have no driver, so nothing is
 * in their sk_user_data, as in @queue of the map.
 */
static int load_writable(const struct nt_tcp *bpf)
{
	only_states(bpf);
	bpf_map__set_map_flags(bpf->maps.kernel_queues, 0);
	return nt_tcp__load((struct nt_tcp *)bpf);
}

static void state_read(struct nt_tcp *bpf, struct nt_tcp_state *s, uint64_t at)
{
	struct bpf_test_run_opts run = {.sz = sizeof(run), .ctx_in = s, .ctx_size_in = sizeof(*s)};
	const struct nt_kernel_queue k = {.sock = at};
	const uint32_t slot = 0;

	*s = (struct nt_tcp_state){.slot = slot};
	assert_int_equal(
		bpf_map_update_elem(bpf_map__fd(bpf->maps.kernel_queues), &slot, &k, BPF_ANY), 0);
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.tcp_state), &run), 0);
}

static void a_socket_s_state_is_what_the_kernel_says_of_it(void **state)
{
	const int before = kptr_restrict(NULL);
	struct nt_tcp *bpf = nt_tcp__open();
	char text[2] = {(char)('0' + before), 0};
	static char bytes[100000];
	struct nt_tcp_state s;
	struct tcp_info info;
	socklen_t n = sizeof(info);
	struct loop l;
	uint64_t at;

	assert_non_null(bpf);
	if (before < 0 || load_writable(bpf)) {
		nt_tcp__destroy(bpf);
		skip(); /* not root, or a kernel without BTF */
	}
	loop_open(&l);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(send(l.fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0, 1);
	kptr_restrict("1");
	at = socket_address(ntohs(l.local.sin_port));
	kptr_restrict(text);
	if (!at) {
		nt_tcp__destroy(bpf);
		loop_close(&l);
		skip(); /* this kernel never shows addresses */
	}
	/* What is on its way may arrive in between. */
	usleep(200000);
	state_read(bpf, &s, at);
	assert_int_equal(getsockopt(l.fd, IPPROTO_TCP, TCP_INFO, &info, &n), 0);
	assert_int_equal(s.known, 1);
	assert_int_equal(s.family, AF_INET);
	assert_int_equal(s.local_port, ntohs(l.local.sin_port));
	assert_int_equal(s.peer_port, ntohs(l.peer.sin_port));
	assert_memory_equal(s.local, &l.local.sin_addr, 4);
	assert_memory_equal(s.peer, &l.peer.sin_addr, 4);
	assert_int_equal(s.srtt_us, info.tcpi_rtt);
	assert_int_equal(s.rttvar_us, info.tcpi_rttvar);
	assert_int_equal(s.snd_cwnd, info.tcpi_snd_cwnd);
	assert_int_equal(s.snd_ssthresh, info.tcpi_snd_ssthresh);
	assert_int_equal(s.unacked, info.tcpi_unacked);
	assert_int_equal(s.lost, info.tcpi_lost);
	assert_int_equal(s.retrans, info.tcpi_retrans);
	assert_int_equal(s.total_retrans, info.tcpi_total_retrans);
	assert_int_equal(s.dsack_dups, info.tcpi_dsack_dups);
	assert_int_equal(s.snd_mss, info.tcpi_snd_mss);
	assert_int_equal(s.notsent, info.tcpi_notsent_bytes);
	assert_true(s.notsent > 0 && s.queued >= s.notsent);
	assert_int_equal(s.bytes_sent, info.tcpi_bytes_sent);
	assert_int_equal(s.bytes_retrans, info.tcpi_bytes_retrans);
	assert_int_equal(s.pacing_rate, info.tcpi_pacing_rate);
	/* The reader that does not read is what limits it. */
	assert_true(s.rwnd_limited > 0 && s.rwnd_limited <= s.busy);
	assert_true(s.congestion[0]);
	loop_close(&l);
	nt_tcp__destroy(bpf);
}

/* An address that leads nowhere does no harm. */
static void an_address_of_nothing_is_no_socket(void **state)
{
	struct nt_tcp *bpf = nt_tcp__open();
	struct nt_tcp_state s;

	assert_non_null(bpf);
	if (load_writable(bpf)) {
		nt_tcp__destroy(bpf);
		skip();
	}
	state_read(bpf, &s, 0);
	assert_int_equal(s.known, 0);
	state_read(bpf, &s, 0xffff800000001000ULL);
	assert_int_equal(s.srtt_us, 0);
	assert_int_equal(s.total_retrans, 0);
	nt_tcp__destroy(bpf);
}

/*
 * Code that an attacker brings into the process asks for a slot. It cannot say which memory that
 * is: it writes neither the map as it is made, nor a slot that the map has not.
 */
static void user_space_cannot_say_which_address_is_read(void **state)
{
	struct nt_tcp_state s = {.slot = 1, .sock = 1};
	struct bpf_test_run_opts run = {.sz = sizeof(run), .ctx_in = &s, .ctx_size_in = sizeof(s)};
	const struct nt_kernel_queue k = {.sock = 0xffff888000000000ULL};
	struct nt_tcp *bpf = nt_tcp__open();
	const uint32_t slot = 0;
	int map;

	assert_non_null(bpf);
	only_states(bpf);
	if (nt_tcp__load(bpf)) {
		nt_tcp__destroy(bpf);
		skip();
	}
	map = bpf_map__fd(bpf->maps.kernel_queues);
	assert_int_equal(bpf_map_update_elem(map, &slot, &k, BPF_ANY), -EPERM);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0), MAP_FAILED);
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.tcp_state), &run), 0);
	assert_int_equal(s.known, 0);
	nt_tcp__destroy(bpf);
}

/* Connections that come again get each other's addresses: each stays watched as its own slot. */
static void a_connection_that_takes_another_s_address_is_watched(void **state)
{
	const int map = bpf_map_create(BPF_MAP_TYPE_HASH, NULL, sizeof(uint64_t),
				       sizeof(struct nt_resent), 4, NULL);
	const struct nt_resent first = {.gen = 2}, second = {.slot = 1, .gen = 2};
	const uint64_t a = 0xa00, b = 0xb00;
	struct nt_resent is;

	if (map < 0)
		skip(); /* not root */
	tcp_watch(map, 0, a, &first);
	tcp_watch(map, 0, b, &second);
	tcp_watch(map, a, b, &first);
	tcp_watch(map, b, a, &second);
	assert_int_equal(bpf_map_lookup_elem(map, &b, &is), 0);
	assert_int_equal(is.slot, 0);
	assert_int_equal(bpf_map_lookup_elem(map, &a, &is), 0);
	assert_int_equal(is.slot, 1);
	tcp_watch(map, b, 0, &first);
	assert_int_not_equal(bpf_map_lookup_elem(map, &b, &is), 0);
	tcp_watch(map, b, 0, &second);
	assert_int_equal(bpf_map_lookup_elem(map, &a, &is), 0);
	close(map);
}

/* What waits is 10 segments, a round takes 4 of them, so three rounds. */
static void the_expected_time_is_whole_rounds(void **state)
{
	struct nt_tcp_state s = {.snd_mss = 1000, .snd_cwnd = 4, .srtt_us = 100, .queued = 9001};

	assert_int_equal(tcp_expected_ns(&s), 300000);
	s.queued = 4000;
	assert_int_equal(tcp_expected_ns(&s), 100000);
	s.queued = 0;
	assert_int_equal(tcp_expected_ns(&s), 0);
	s.snd_cwnd = 0;
	assert_int_equal(tcp_expected_ns(&s), 0);
}

static void rows_past_the_limit_are_counted(void **state)
{
	struct tcp_rows rows = {0};

	for (unsigned int i = 0; i < TCP_ROWS_MAX; i++) {
		struct tcp_row *r = tcp_rows_add(&rows);

		assert_non_null(r);
		snprintf(r->controller, sizeof(r->controller), "nvme%u", (TCP_ROWS_MAX - i) / 4);
		r->qid = (uint16_t)((TCP_ROWS_MAX - i) % 4);
	}
	assert_null(tcp_rows_add(&rows));
	assert_int_equal(rows.past, 1);
	tcp_rows_sort(&rows);
	for (size_t i = 1; i < rows.nr; i++)
		assert_true(strverscmp(rows.row[i - 1].controller, rows.row[i].controller) < 0 ||
			    rows.row[i - 1].qid < rows.row[i].qid);
	tcp_rows_begin(&rows);
	assert_int_equal(rows.nr, 0);
	assert_non_null(tcp_rows_add(&rows));
	tcp_rows_free(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_socket_s_state_is_what_the_kernel_says_of_it),
		cmocka_unit_test(an_address_of_nothing_is_no_socket),
		cmocka_unit_test(user_space_cannot_say_which_address_is_read),
		cmocka_unit_test(a_connection_that_takes_another_s_address_is_watched),
		cmocka_unit_test(the_expected_time_is_whole_rounds),
		cmocka_unit_test(rows_past_the_limit_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
