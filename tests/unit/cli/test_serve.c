// SPDX-License-Identifier: GPL-2.0-only
/* serve, with a tracer that traces made-up commands, and clients of all kinds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/notify.h"
#include "cli/server.h"
#include "serve/http.h"

static void the_page_is_served(void **state)
{
	struct server v;
	char *text;

	start_tcp(&v, 1);
	assert_goes_on(&v);
	text = ask(
		&v,
		"GET /metrics HTTP/1.0\r\nAccept: text/plain;version=0.0.4;q=1,*/*;q=0.1\r\n\r\n");
	assert_has(text, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
	assert_has(text, "\n# TYPE ntprof_commands_total counter\n");
	free(text);
	text = ask(
		&v,
		"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: application/openmetrics-text;version=1.0.0,"
		"text/plain;q=0.5\r\n\r\n");
	assert_whole(text);
	free(text);
	assert_true(number(&v, "\nntprof_tracing{side=\"host\"} ") == 1);
	assert_true(number(&v, "\nntprof_bpf_programs{side=\"host\"} ") == 11);
	assert_true(number(&v, "\nntprof_http_responses_total{side=\"host\",code=\"200\"} ") > 3);
	stop_server(&v);
}

static void between_bursts_the_driver_is_traced_and_nothing_is_attached(void **state)
{
	struct server v;

	more_words[0] = "--burst=100ms/1000000000s";
	start_tcp(&v, 1);
	more_words[0] = NULL;
	assert_goes_on(&v);
	assert_true(number(&v, "\nntprof_tracing{side=\"host\"} ") == 1);
	assert_true(number(&v, "\nntprof_bpf_programs{side=\"host\"} ") == 0);
	stop_server(&v);
}

/* Checks the page of a server with these words, which @which names. @says: on standard error */
static void assert_points(const char *which, char *const *words, const char *points,
			  const char *stages, const char *says)
{
	char wanted[128], told[4096];
	struct server v;
	char *text;

	memset(more_words, 0, sizeof(more_words));
	for (unsigned int i = 0; words[i]; i++)
		more_words[i] = words[i];
	traced.records_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	start_told(&v, 1, "127.0.0.1", told, sizeof(told));
	memset(more_words, 0, sizeof(more_words));
	assert_goes_on(&v);
	text = ask(&v, GET);
	snprintf(wanted, sizeof(wanted), "\nntprof_points_info{side=\"host\",points=\"%s\"} 1\n",
		 points);
	if (!strstr(text, wanted))
		fail_msg("%s: no %s", which, wanted);
	snprintf(wanted, sizeof(wanted), "\nntprof_stages_ratio{side=\"host\"} %s\n", stages);
	if (!strstr(text, wanted))
		fail_msg("%s: no %s", which, wanted);
	if (!says != !strstr(told, "as its ends or more: see --points\n") ||
	    (says && !strstr(told, says)))
		fail_msg("%s: it said %s", which, told);
	free(text);
	stop_server(&v);
	close(traced.records_fd);
}

/*
 * All commands have their ends, and those of a fifteenth of the time have stages; records need all
 * points of each command, and bursts leave nothing in between.
 */
static void ends_and_a_part_of_the_stages_are_served_unless_options_say_more(void **state)
{
	char folder[] = "/tmp/ntprof-serve.XXXXXX", path[64];
	char dir[64], all[64], stages[64];
	const struct {
		char *words[5];
		const char *points, *stages, *says;
	} cases[] = {
		{{NULL}, "ends", "0.0666666667", NULL},
		{{"--sample=100"}, "ends", "0.0666666667", NULL},
		{{"--op=read", "--source=stock", "--series=9"}, "ends", "0.0666666667", NULL},
		{{"--points=all"}, "all", "1", NULL},
		{{"--points=ends"}, "ends", "1", NULL},
		{{"--stages=2s/8s"}, "ends", "0.25", NULL},
		{{"--points=ends", "--stages=2s/8s"}, "ends", "0.25", NULL},
		{{"--burst=100s/200s"}, "all", "1", NULL},
		{{"--points=ends", "--burst=100s/200s"}, "ends", "1", NULL},
		{{"--keep=30s", dir}, "all", "1", "--keep: each command has all of its points"},
		{{"--keep=30s", dir, "--points=all"}, "all", "1", NULL},
		{{"--keep=30s", dir, "--points=ends"}, "ends", "1", NULL},
		{{"--peer=sleep 1000"}, "all", "1", "--peer: each command has all of its points"},
		{{all}, "all", "1", NULL},
		{{all, "--points=ends"}, "ends", "1", NULL},
		{{stages}, "ends", "0.5", NULL},
	};
	static const char *const files[] = {"all", "points = all", "stages", "stages = 1s/2s"};
	const struct dirent *e;
	DIR *d;

	assert_non_null(mkdtemp(folder));
	snprintf(dir, sizeof(dir), "--dir=%s", folder);
	snprintf(all, sizeof(all), "--config=%s/all", folder);
	snprintf(stages, sizeof(stages), "--config=%s/stages", folder);
	for (size_t i = 0; i < ARRAY_SIZE(files); i += 2) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		f = fopen(path, "we");
		assert_non_null(f);
		fprintf(f, "[serve]\n%s\n", files[i + 1]);
		assert_int_equal(fclose(f), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char which[16];

		snprintf(which, sizeof(which), "case %zu", i);
		assert_points(which, cases[i].words, cases[i].points, cases[i].stages,
			      cases[i].says);
	}
	d = opendir(folder);
	assert_non_null(d);
	while ((e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	assert_int_equal(rmdir(folder), 0);
}

static void only_the_page_can_be_read(void **state)
{
	static const struct {
		const char *request;
		const char *part;
	} cases[] = {
		{"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 404 "},
		{"GET /metrics/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
		 "HTTP/1.1 404 "},
		/* The library would decode it, and a string ends at a NUL. */
		{"GET /metrics%00x HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 404 "},
		{"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
		 "HTTP/1.1 405 "},
		{"PUT /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n",
		 "Allow: GET, HEAD\r\n"},
		{"DELETE /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 405 "},
		{"BREW /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 405 "},
	};
	struct server v;
	char *text;

	start_tcp(&v, 1);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		text = ask(&v, cases[i].request);
		assert_has(text, cases[i].part);
		assert_has(text, "Connection: close\r\n");
		free(text);
	}
	text = ask(&v, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
	assert_memory_equal(text, "HTTP/1.1 200 OK\r\n", 17);
	assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\nok\n");
	free(text);
	text = ask(&v, "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
	assert_memory_equal(text, "HTTP/1.1 200 OK\r\n", 17);
	assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\n");
	free(text);
	assert_int_equal(number(&v, "\nntprof_http_responses_total{side=\"host\",code=\"405\"} "),
			 4);
	assert_goes_on(&v);
	stop_server(&v);
}

/*
 * A browser sends such a Host header if a web page's name resolves to this machine (DNS rebinding).
 */
static void on_loopback_other_hosts_are_refused(void **state)
{
	static const char *const right[] = {
		"localhost", "LocalHost:10998", "localhost.", "127.0.0.1",	     "127.3.2.1:80",
		"[::1]",     "[::1]:10998",	"",	      "[::ffff:127.0.0.1]:1"};
	static const char *const wrong[] = {"x",
					    "evil.example:10998",
					    "127.0.0.1.evil.example",
					    "localhost.evil",
					    "notlocalhost",
					    "128.0.0.1",
					    "[::2]",
					    "[::1",
					    "[::1]x",
					    "127.0.0.1:x",
					    "0x7f.1",
					    "[::ffff:10.0.0.1]",
					    "localhost\r\nHost: evil.example",
					    "\r\nhost: evil.example"};
	char request[128], *text;
	struct server v;

	start_tcp(&v, 1);
	for (size_t i = 0; i < ARRAY_SIZE(right); i++) {
		snprintf(request, sizeof(request), "GET /metrics HTTP/1.1\r\nHost: %s\r\n\r\n",
			 right[i]);
		text = ask(&v, request);
		if (strncmp(text, "HTTP/1.1 200 ", 13))
			fail_msg("'%s' is refused: %s", right[i], text);
		free(text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		snprintf(request, sizeof(request), "GET /metrics HTTP/1.1\r\nHost: %s\r\n\r\n",
			 wrong[i]);
		text = ask(&v, request);
		if (strncmp(text, "HTTP/1.1 421 ", 13))
			fail_msg("'%s' is taken", wrong[i]);
		assert_has(text, "localhost");
		assert_null(strstr(text, "ntprof_"));
		free(text);
	}
	assert_goes_on(&v);
	assert_int_equal(number(&v, "\nntprof_http_responses_total{side=\"host\",code=\"421\"} "),
			 ARRAY_SIZE(wrong));
	stop_server(&v);
	/* A server that listens at other addresses accepts any name. */
	start_at(&v, 1, "0.0.0.0");
	text = ask(&v, "GET /metrics HTTP/1.1\r\nHost: storage7.example\r\n\r\n");
	assert_whole(text);
	free(text);
	stop_server(&v);
}

static void what_is_no_request_gets_no_page(void **state)
{
	static const char *const requests[] = {
		"\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\nx\r\n\r\n",
		"\x16\x03\x01\x02\x05\x01\x01\xfc\r\n\r\n",
		"GET\r\n\r\n",
		"GET /metrics HTTP/9.9\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
	};
	struct server v;

	start_tcp(&v, 1);
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		int fd = connect_to(&v);
		char *text;

		send_text(fd, requests[i]);
		shutdown(fd, SHUT_WR);
		text = receive(fd);
		if (!strncmp(text, "HTTP/1.1 200", 12))
			fail_msg("request %zu got a page", i);
		free(text);
	}
	assert_goes_on(&v);
	stop_server(&v);
}

/* The library has no room for them, and may close the connection without an answer. */
static void a_thousand_arguments_get_no_page(void **state)
{
	char request[4096] = "GET /metrics?";
	struct server v;
	char *text;

	start_tcp(&v, 1);
	assert_goes_on(&v);
	memset(request + strlen(request), '&', 1000);
	strcat(request, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
	text = ask(&v, request);
	assert_null(strstr(text, "HTTP/1.1 200"));
	free(text);
	assert_goes_on(&v);
	stop_server(&v);
}

static void a_megabyte_of_headers_is_refused(void **state)
{
	static char request[(1 << 20) + 64];
	struct server v;
	uint64_t before;
	char *text;

	start_tcp(&v, 1);
	assert_goes_on(&v);
	before = resident(&v);
	strcpy(request, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ");
	memset(request + strlen(request), 'x', 1 << 20);
	for (unsigned int i = 0; i < 50; i++) {
		text = ask(&v, request);
		assert_null(strstr(text, "HTTP/1.1 200"));
		free(text);
	}
	/* Each of them would have taken a megabyte. */
	assert_resident(&v, before + (10 << 20));
	memcpy(request, "GET /xx", 7);
	memset(request + 7, 'x', 1 << 20);
	text = ask(&v, request);
	assert_null(strstr(text, "HTTP/1.1 200"));
	free(text);
	assert_goes_on(&v);
	stop_server(&v);
}

static void a_unix_socket_is_served_and_goes_away(void **state)
{
	char directory[] = "/tmp/ntprof-serve.XXXXXX", path[64], listen[80], text[512];
	struct sockaddr_un *un;
	struct server v, other;
	struct stat st;
	int status;
	char *page;

	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/socket", directory);
	snprintf(listen, sizeof(listen), "unix:%s", path);
	un = (struct sockaddr_un *)&v.address;
	*un = (struct sockaddr_un){.sun_family = AF_UNIX};
	strcpy(un->sun_path, path);
	v.size = sizeof(*un);
	for (unsigned int i = 0; i < 2; i++) {
		start(&v, 1, listen);
		wait_told(&v, text, sizeof(text), "\n");
		assert_has(text, listen);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0660);
		page = ask(&v, "GET /metrics HTTP/1.1\r\nHost: storage7.example\r\n\r\n");
		assert_whole(page);
		free(page);
		if (i)
			break;
		/* A killed server leaves its socket behind. The next server replaces it. */
		kill(v.pid, SIGKILL);
		assert_int_equal(waitpid(v.pid, &status, 0), v.pid);
		close(v.told);
		assert_int_equal(stat(path, &st), 0);
	}
	/* A socket at which another server listens is not replaced. */
	start(&other, 1, listen);
	wait_told(&other, text, sizeof(text), "\n");
	assert_has(text, "cannot listen at unix:");
	assert_int_equal(waitpid(other.pid, &status, 0), other.pid);
	assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
	close(other.told);
	page = ask(&v, GET);
	assert_whole(page);
	free(page);
	stop_server(&v);
	assert_int_not_equal(stat(path, &st), 0);
	/* Neither is a file. */
	assert_int_equal(mkfifo(path, 0600), 0);
	start(&other, 1, listen);
	wait_told(&other, text, sizeof(text), "\n");
	assert_has(text, "something else than a socket");
	assert_int_equal(waitpid(other.pid, &status, 0), other.pid);
	assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
	close(other.told);
	assert_int_equal(unlink(path) | rmdir(directory), 0);
}

static void a_unix_socket_of_another_instance_stays(void **state)
{
	char directory[] = "/tmp/ntprof-serve.XXXXXX", path[64], listen[80], text[512];
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct server first, second = {.size = sizeof(un)};
	char *page;

	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/socket", directory);
	snprintf(listen, sizeof(listen), "unix:%s", path);
	strcpy(un.sun_path, path);
	memcpy(&second.address, &un, sizeof(un));
	start(&first, 1, listen);
	wait_told(&first, text, sizeof(text), "\n");
	assert_int_equal(unlink(path), 0);
	start(&second, 1, listen);
	wait_told(&second, text, sizeof(text), "\n");
	stop_server(&first);
	page = ask(&second, GET);
	assert_whole(page);
	free(page);
	stop_server(&second);
	assert_int_equal(rmdir(directory), 0);
}

/* Reads messages to the service manager until one is @what. */
static void assert_told(int fd, const char *what)
{
	char text[256];

	do {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		ssize_t n;

		assert_true(poll(&p, 1, PATIENCE_MS) > 0);
		n = recv(fd, text, sizeof(text) - 1, 0);
		assert_true(n > 0);
		text[n] = '\0';
	} while (!strstr(text, what));
}

/* @name: name of the socket, as in $NOTIFY_SOCKET */
static void assert_manager_is_told(const char *name)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct server v;

	strcpy(un.sun_path, name);
	if (name[0] == '@')
		un.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&un,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
			 0);
	setenv("NOTIFY_SOCKET", name, 1);
	setenv("WATCHDOG_USEC", "200000", 1);
	start_tcp(&v, 1);
	assert_told(fd, "READY=1\nSTATUS=Tracing\n");
	for (unsigned int i = 0; i < 3; i++)
		assert_told(fd, "WATCHDOG=1\n");
	stop_server(&v);
	assert_told(fd, "STOPPING=1\n");
	close(fd);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
}

static void a_service_manager_is_told(void **state)
{
	char directory[] = "/tmp/ntprof-notify.XXXXXX", name[64];

	assert_non_null(mkdtemp(directory));
	snprintf(name, sizeof(name), "%s/socket", directory);
	assert_manager_is_told(name);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(rmdir(directory), 0);
	snprintf(name, sizeof(name), "@ntprof-notify.%d", getpid());
	assert_manager_is_told(name);
}

/* The socket of a manager, which $NOTIFY_SOCKET names from now on. */
static int open_manager(struct sockaddr_un *un, socklen_t *size)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char name[64];

	snprintf(name, sizeof(name), "@ntprof-manager.%d", getpid());
	memset(un, 0, sizeof(*un));
	un->sun_family = AF_UNIX;
	strcpy(un->sun_path + 1, name + 1);
	*size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	assert_int_equal(bind(fd, (const struct sockaddr *)un, *size), 0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

/* Any user may do that to the socket of systemd. Return: a descriptor that sends to it */
static int fill_manager(const struct sockaddr_un *un, socklen_t size)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_int_equal(connect(fd, (const struct sockaddr *)un, size), 0);
	while (send(fd, "X=1\n", 4, 0) == 4)
		;
	assert_int_equal(errno, EAGAIN);
	return fd;
}

/* Reads one message that is there. */
static void hear(int fd, char *text, size_t size)
{
	ssize_t n = recv(fd, text, size - 1, MSG_DONTWAIT);

	assert_true(n > 0);
	text[n] = '\0';
}

/* With CAP_SYS_ADMIN another process has the manager's socket. */
static void may_speak_for_others(bool may)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	assert_int_equal(syscall(SYS_capget, &h, data), 0);
	data[0].effective &= ~(1u << CAP_SYS_ADMIN);
	if (may)
		data[0].effective = data[0].permitted;
	assert_int_equal(syscall(SYS_capset, &h, data), 0);
}

/* States that found no room are sent later. Pings are not. */
static void a_manager_without_room_is_told_later(void **state)
{
	char text[512];
	struct sockaddr_un un;
	socklen_t size;
	int fd = open_manager(&un, &size), other;

	may_speak_for_others(false);
	assert_int_equal(notify_open(), 1);
	may_speak_for_others(true);
	other = fill_manager(&un, size);
	assert_int_equal(notify(NOTIFY_READY), -EAGAIN);
	assert_int_equal(notify(NOTIFY_ALIVE), -EAGAIN);
	assert_int_equal(notify(NOTIFY_ALIVE), -EAGAIN);
	while (recv(fd, text, sizeof(text), MSG_DONTWAIT) > 0)
		;
	assert_int_equal(notify(NOTIFY_ALIVE), 1);
	hear(fd, text, sizeof(text));
	assert_string_equal(text, NOTIFY_READY NOTIFY_ALIVE);
	assert_int_equal(notify(NOTIFY_ALIVE), 1);
	assert_int_equal(recv(fd, text, sizeof(text), MSG_DONTWAIT), strlen(NOTIFY_ALIVE));
	/* Of too many states the last one is told. */
	close(other);
	other = fill_manager(&un, size);
	for (unsigned int i = 0; i < 13; i++) {
		assert_int_equal(notify(NOTIFY_RELOADING), -EAGAIN);
		assert_int_equal(notify(NOTIFY_READY), -EAGAIN);
	}
	while (recv(fd, text, sizeof(text), MSG_DONTWAIT) > 0)
		;
	assert_int_equal(notify(NOTIFY_ALIVE), 1);
	hear(fd, text, sizeof(text));
	assert_string_equal(text + strlen(text) - strlen(NOTIFY_READY NOTIFY_ALIVE),
			    NOTIFY_READY NOTIFY_ALIVE);
	close(other);
	close(fd);
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify_open(), 0);
}

/* Reads the next message that is not of fill_manager(). It says that it is of this process. */
static void assert_says_of_us(int fd, const char *what)
{
	char text[512], control[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec v = {.iov_base = text, .iov_len = sizeof(text) - 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control};
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct ucred who;
	ssize_t n;

	do {
		assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
		m.msg_controllen = sizeof(control);
		n = recvmsg(fd, &m, MSG_DONTWAIT);
		assert_true(n > 0);
		text[n] = '\0';
	} while (!strcmp(text, "X=1\n"));
	assert_string_equal(text, what);
	memcpy(&who, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(who));
	assert_int_equal(who.pid, getpid());
	assert_int_equal(who.uid, 0);
}

/* Return: the end of ours of the socket to the process that has the manager's. */
static int handed_over(void)
{
	for (int fd = STDERR_FILENO + 1; fd < 64; fd++) {
		socklen_t size = sizeof(int);
		int type = 0;

		if (!getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_SEQPACKET)
			return fd;
	}
	return -1;
}

/* What systemd would do for root with other states: it would end any process of the machine. */
static void a_manager_is_told_nothing_else(void **state)
{
	static const char zero[] = NOTIFY_READY "\0MAINPID=1\n";
	struct sockaddr_un un;
	socklen_t size;
	int fd, on = 1, other;

	if (geteuid())
		skip();
	fd = open_manager(&un, &size);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
	assert_int_equal(notify_open(), 1);
	notify("MAINPID=1\n");
	notify("WATCHDOG=trigger\n");
	notify(NOTIFY_READY "MAINPID=1\n");
	notify(NOTIFY_STATUS "MAINPID=1\nMAINPID=1");
	notify(NOTIFY_STATUS "\rMAINPID=1\n");
	assert_int_equal(send(handed_over(), zero, sizeof(zero) - 1, 0), sizeof(zero) - 1);
	notify(NOTIFY_STATUS "MAINPID=1\n" NOTIFY_READY);
	assert_says_of_us(fd, NOTIFY_STATUS "MAINPID=1\n" NOTIFY_READY);
	other = fill_manager(&un, size);
	assert_int_equal(notify(NOTIFY_RELOADING), 1);
	assert_int_equal(notify(NOTIFY_READY), 1);
	/* Longer than a sender waits for its turn. */
	poll(NULL, 0, 500);
	assert_says_of_us(fd, NOTIFY_RELOADING);
	assert_says_of_us(fd, NOTIFY_READY);
	close(other);
	close(fd);
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify_open(), 0);
}

/* One process of any user sends without a pause: pings and READY get their turn. */
static void a_manager_that_is_flooded_is_told(void **state)
{
	struct sockaddr_un un;
	socklen_t size;
	struct server v;
	int fd = open_manager(&un, &size);
	pid_t flood;

	flood = fork();
	if (!flood) {
		int to = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (connect(to, (const struct sockaddr *)&un, size))
			_exit(1);
		while (send(to, "X=1\n", 4, 0) == 4)
			;
		_exit(0);
	}
	setenv("WATCHDOG_USEC", "200000", 1);
	start_tcp(&v, 1);
	assert_told(fd, "READY=1\nSTATUS=Tracing\n");
	for (unsigned int i = 0; i < 3; i++)
		assert_told(fd, "WATCHDOG=1\n");
	stop_server(&v);
	kill(flood, SIGKILL);
	waitpid(flood, NULL, 0);
	close(fd);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
}

static void a_watchdog_of_others_is_none(void **state)
{
	char pid[16];

	assert_int_equal(notify_watchdog_ns(), 0);
	setenv("WATCHDOG_USEC", "3000000", 1);
	assert_int_equal(notify_watchdog_ns(), 1500000000);
	setenv("WATCHDOG_PID", "1", 1);
	assert_int_equal(notify_watchdog_ns(), 0);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("WATCHDOG_PID", pid, 1);
	assert_int_equal(notify_watchdog_ns(), 1500000000);
	setenv("WATCHDOG_USEC", "-1", 1);
	assert_int_equal(notify_watchdog_ns(), 0);
	setenv("WATCHDOG_USEC", "3s", 1);
	assert_int_equal(notify_watchdog_ns(), 0);
	unsetenv("WATCHDOG_PID");
	unsetenv("WATCHDOG_USEC");
	setenv("NOTIFY_SOCKET", "relative", 1);
	assert_int_equal(notify_open(), -EINVAL);
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify_open(), 0);
	assert_int_equal(notify(NOTIFY_READY), 0);
}

static void addresses_are_numbers(void **state)
{
	static const char *const right[] = {"127.0.0.1:1", "0.0.0.0:0", "[::]:65535", "[::1]:10998",
					    "unix:/run/x"};
	static const char *const wrong[] = {"",
					    "1",
					    "localhost:1",
					    "127.0.0.1",
					    "127.0.0.1:",
					    "127.0.0.1:65536",
					    "127.0.0.1:-1",
					    "127.0.0.1:1x",
					    "::1:80",
					    "[::1:80",
					    "[::g]:80",
					    "unix:",
					    "unix:x",
					    "127.0.0.1:99999999999999999999"};

	for (size_t i = 0; i < ARRAY_SIZE(right); i++)
		if (http_check(right[i]))
			fail_msg("%s: %s", right[i], http_check(right[i]));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (!http_check(wrong[i]))
			fail_msg("%s is taken", wrong[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_is_served),
		cmocka_unit_test(between_bursts_the_driver_is_traced_and_nothing_is_attached),
		cmocka_unit_test(ends_and_a_part_of_the_stages_are_served_unless_options_say_more),
		cmocka_unit_test(only_the_page_can_be_read),
		cmocka_unit_test(on_loopback_other_hosts_are_refused),
		cmocka_unit_test(what_is_no_request_gets_no_page),
		cmocka_unit_test(a_thousand_arguments_get_no_page),
		cmocka_unit_test(a_megabyte_of_headers_is_refused),
		cmocka_unit_test(a_unix_socket_is_served_and_goes_away),
		cmocka_unit_test(a_unix_socket_of_another_instance_stays),
		cmocka_unit_test(a_service_manager_is_told),
		cmocka_unit_test(a_manager_without_room_is_told_later),
		cmocka_unit_test(a_manager_is_told_nothing_else),
		cmocka_unit_test(a_manager_that_is_flooded_is_told),
		cmocka_unit_test(a_watchdog_of_others_is_none),
		cmocka_unit_test(addresses_are_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
