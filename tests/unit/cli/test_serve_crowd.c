// SPDX-License-Identifier: GPL-2.0-only
/*
 * More clients than serve has room for, and slow ones. Those that ask and read get their page,
 * whatever the others and the machine do.
 */
#include "cli/server.h"

#include "in_range.h"
#include "serve/http.h"

/* Rows of a page that is too large for the buffers of two sockets. */
#define LARGE_ROWS 250

#define CONNECTIONS "\nntprof_http_connections_total{side=\"host\"} "
#define REFUSED "\nntprof_http_responses_total{side=\"host\",code=\"503\"} "
#define OVERDUE "\nntprof_http_overdue_total{side=\"host\"} "
#define DISPLACED "\nntprof_http_displaced_total{side=\"host\"} "

static void a_thousand_at_once_are_served(void **state)
{
	static struct {
		int fd;
		size_t nr;
		char last[6];
	} clients[1000];
	static struct pollfd p[ARRAY_SIZE(clients)];
	size_t left = ARRAY_SIZE(clients);
	struct server v;
	uint64_t before;

	start_tcp(&v, 1);
	assert_goes_on(&v);
	before = resident(&v);
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		clients[i].fd = connect_to(&v);
		p[i] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
		send_text(clients[i].fd, GET);
	}
	while (left) {
		assert_true(poll(p, ARRAY_SIZE(p), PATIENCE_MS) > 0);
		for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
			char text[1 << 16];
			ssize_t n;

			if (p[i].fd < 0 || !p[i].revents)
				continue;
			n = recv(p[i].fd, text, sizeof(text), 0);
			if (n >= 6)
				memcpy(clients[i].last, text + n - 6, 6);
			clients[i].nr += n > 0 ? (size_t)n : 0;
			if (n > 0)
				continue;
			assert_true(clients[i].nr > 1000);
			assert_memory_equal(clients[i].last, "# EOF\n", 6);
			close(p[i].fd);
			p[i].fd = -1;
			left--;
		}
	}
	assert_resident(&v, before + (10 << 20));
	assert_int_equal(number(&v, REFUSED), 0);
	assert_int_equal(number(&v, DISPLACED), 0);
	assert_goes_on(&v);
	stop_server(&v);
}

/*
 * Checks a page that a scraper read meanwhile: connections that are neither answered nor closed fit
 * into the room for them.
 */
static void assert_places_are_enough(const char *page, uint64_t connections)
{
	uint64_t closed = sample(page, DISPLACED) + sample(page, OVERDUE);

	assert_true(sample(page, CONNECTIONS) >= connections);
	assert_uint_in_range(connections - closed, 0, HTTP_CONNECTIONS_MAX);
}

/* Scrapes among idle connections; half of them have sent half a request. */
static void scrape_among_idle(unsigned int nr)
{
	static int fds[2000];
	struct server v;
	char *text;

	assert_true(nr <= ARRAY_SIZE(fds));
	start_tcp(&v, 1);
	for (unsigned int i = 0; i < nr; i++) {
		fds[i] = connect_to(&v);
		send_text(fds[i], i % 2 ? "GET /met" : "");
	}
	text = ask(&v, GET);
	assert_whole(text);
	assert_places_are_enough(text, nr + 1);
	assert_true(sample(text, DISPLACED) > 0);
	free(text);
	assert_goes_on(&v);
	for (unsigned int i = 0; i < nr; i++) {
		text = receive(fds[i]);
		assert_null(strstr(text, "200 OK"));
		free(text);
	}
	assert_true(number(&v, OVERDUE) > 0);
	stop_server(&v);
}

static void idle_connections_give_way(void **state)
{
	static const unsigned int numbers[] = {HTTP_CONNECTIONS_MAX + 1, 400, 2000};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		scrape_among_idle(numbers[i]);
}

/* A client that asks for a page that no buffers hold, and reads nothing. */
static int ask_and_not_read(const struct server *v)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	assert_int_equal(connect(fd, (const struct sockaddr *)&v->address, v->size), 0);
	send_text(fd, GET);
	return fd;
}

/* The client that has asked came first and is closed last. */
static void a_request_is_due_before_its_answer(void **state)
{
	struct server v;
	char *text;
	int asked, half;

	start_tcp(&v, LARGE_ROWS);
	assert_goes_on(&v);
	asked = ask_and_not_read(&v);
	half = connect_to(&v);
	send_text(half, "GET /metrics HTTP/1.1\r\nHost: loc");
	text = receive(half);
	assert_string_equal(text, "");
	free(text);
	assert_int_equal(number(&v, OVERDUE), 1);
	while (number(&v, OVERDUE) < 2)
		usleep(100000);
	close(asked);
	stop_server(&v);
}

static void clients_that_do_not_read_give_way(void **state)
{
	int fds[3 * HTTP_CONNECTIONS_MAX];
	struct server v;
	char *text;

	start_tcp(&v, LARGE_ROWS);
	assert_goes_on(&v);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = ask_and_not_read(&v);
	text = ask(&v, GET);
	assert_whole(text);
	free(text);
	text = ask(&v, GET);
	assert_whole(text);
	assert_places_are_enough(text, ARRAY_SIZE(fds));
	assert_true(sample(text, DISPLACED) > 0);
	free(text);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	assert_goes_on(&v);
	stop_server(&v);
}

/* Reads some 200 KB a second from each connection, until the process is killed. */
static void read_a_little(int *fds, size_t nr)
{
	char bytes[4096];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		for (size_t i = 0; i < nr; i++)
			recv(fds[i], bytes, sizeof(bytes), MSG_DONTWAIT);
		usleep(20000);
	}
}

/* Each of them would need seconds to read its page. */
static void clients_that_read_a_little_give_way(void **state)
{
	int fds[8 * HTTP_CONNECTIONS_MAX];
	struct server v;
	char *text;
	pid_t pid;

	start_tcp(&v, LARGE_ROWS);
	assert_goes_on(&v);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = ask_and_not_read(&v);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		read_a_little(fds, ARRAY_SIZE(fds));
	text = ask(&v, GET);
	assert_whole(text);
	assert_true(sample(text, DISPLACED) > sample(text, OVERDUE));
	free(text);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	assert_goes_on(&v);
	stop_server(&v);
}

/* New figures are collected meanwhile, so each client has another page, as far as there may be. */
static void ask_for_pages(const struct server *v, int *fds, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		fds[i] = ask_and_not_read(v);
		usleep(150000);
	}
}

/*
 * Clients read their pages late, and there are more of them than pages in memory: each gets all of
 * its page.
 */
static void newer_pages_wait_for_readers(void **state)
{
	int fds[HTTP_CONNECTIONS_MAX - 4];
	uint64_t before, page;
	struct server v;
	char *text;

	start_tcp(&v, LARGE_ROWS);
	assert_goes_on(&v);
	text = ask(&v, GET);
	page = strlen(text);
	free(text);
	before = resident(&v);
	ask_for_pages(&v, fds, ARRAY_SIZE(fds));
	/* Pages that are in use, and what the library and the allocator keep. */
	assert_resident(&v, before + (HTTP_PAGES_MAX + 4) * 2 * page + (4 << 20));
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		text = receive(fds[i]);
		assert_whole(text);
		free(text);
	}
	assert_goes_on(&v);
	assert_int_equal(number(&v, REFUSED), 0);
	assert_int_equal(number(&v, DISPLACED), 0);
	stop_server(&v);
}

/* They keep the figures as they are until they have taken too long. */
static void pages_that_are_never_read_go(void **state)
{
	int fds[2 * (HTTP_PAGES_MAX + EXPOSITION_FORMATS)];
	struct server v;

	start_tcp(&v, LARGE_ROWS);
	assert_goes_on(&v);
	ask_for_pages(&v, fds, ARRAY_SIZE(fds));
	while (!number(&v, OVERDUE))
		usleep(100000);
	assert_goes_on(&v);
	assert_int_equal(number(&v, REFUSED), 0);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	stop_server(&v);
}

/*
 * The server does not run for longer than a client may take for its request. @sends_late: the
 * client sends it when the server runs again. Return: whether it gets its page
 */
static bool server_pauses(const struct server *v, bool sends_late)
{
	int fd = connect_to(v);
	bool served;
	char *text;

	/* Connections are accepted in their order. */
	free(ask(v, GET));
	kill(v->pid, SIGSTOP);
	send_text(fd, sends_late ? "" : GET);
	usleep(HTTP_HEAD_NS / 1000 + 1000000);
	kill(v->pid, SIGCONT);
	send_text(fd, sends_late ? GET : "");
	text = receive(fd);
	served = text[0];
	if (served)
		assert_whole(text);
	free(text);
	return served;
}

static void a_pause_of_the_server_ends_no_client(void **state)
{
	bool served = false;
	struct server v;

	start_tcp(&v, 1);
	assert_goes_on(&v);
	assert_true(server_pauses(&v, false));
	/* A busy machine may let a client send nothing for 2 s. */
	for (unsigned int i = 0; i < 5 && !served; i++)
		served = server_pauses(&v, true);
	assert_true(served);
	stop_server(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_at_once_are_served),
		cmocka_unit_test(idle_connections_give_way),
		cmocka_unit_test(a_request_is_due_before_its_answer),
		cmocka_unit_test(clients_that_do_not_read_give_way),
		cmocka_unit_test(clients_that_read_a_little_give_way),
		cmocka_unit_test(newer_pages_wait_for_readers),
		cmocka_unit_test(pages_that_are_never_read_go),
		cmocka_unit_test(a_pause_of_the_server_ends_no_client),
	};
	struct rlimit files;

	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
