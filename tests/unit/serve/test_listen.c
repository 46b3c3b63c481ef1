// SPDX-License-Identifier: GPL-2.0-only
/* What the socket of --listen unix:PATH may replace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/array.h"
#include "serve/http.h"
#include "serve/listen.h"

#define OTHER_USER 1234

/* How long listen(2) takes. */
static useconds_t pause_us;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved. */
int listen(int fd, int backlog)
{
	usleep(pause_us);
	return (int)syscall(SYS_listen, fd, backlog);
}

static char base[] = "/tmp/ntprof-listen.XXXXXX";

static int enter(void **state)
{
	return mkdtemp(base) && !chdir(base) ? 0 : -1;
}

static int leave(void **state)
{
	return chdir("/") || rmdir(base);
}

/* Return: as listen_open() */
static int listen_at(const char *name)
{
	char text[128];
	struct sockaddr_storage address;
	socklen_t size;

	snprintf(text, sizeof(text), LISTEN_UNIX "%s/%s", base, name);
	assert_null(listen_parse(text, &address, &size));
	return listen_open(&address, size, 1);
}

static struct stat look(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(name, &st), 0);
	return st;
}

/* It is refused, and what lies there stays as it was. */
static void assert_stays(const char *name, int want)
{
	struct stat before = look(name), after;
	int fd = listen_at(name);

	if (fd != want)
		fail_msg("%s: %d and not %d", name, fd, want);
	after = look(name);
	assert_int_equal(after.st_ino, before.st_ino);
	assert_int_equal(after.st_mode, before.st_mode);
	assert_int_equal(after.st_size, before.st_size);
}

/* A socket at which no process listens any more. */
static void leave_socket(const char *name)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", name);
	assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	close(fd);
}

static void what_is_no_socket_is_not_replaced(void **state)
{
	int fd = open("file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, "data", 4), 4);
	close(fd);
	assert_stays("file", -LISTEN_NO_SOCKET);
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_stays("folder", -LISTEN_NO_SOCKET);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_stays("fifo", -LISTEN_NO_SOCKET);
	leave_socket("left");
	assert_int_equal(symlink("left", "link"), 0);
	assert_stays("link", -LISTEN_NO_SOCKET);
	assert_true(S_ISSOCK(look("left").st_mode));
	assert_int_equal(symlink("nothing", "dangling"), 0);
	assert_stays("dangling", -LISTEN_NO_SOCKET);
	assert_int_equal(access("nothing", F_OK), -1);
	assert_int_equal(unlink("file") | rmdir("folder") | unlink("fifo") | unlink("left") |
				 unlink("link") | unlink("dangling"),
			 0);
}

static void a_socket_that_was_left_is_replaced(void **state)
{
	int fd;

	leave_socket("socket");
	assert_int_equal(chmod("socket", 0600), 0);
	fd = listen_at("socket");
	assert_true(fd >= 0);
	assert_int_equal(look("socket").st_mode & 0777, 0660);
	/* A process listens now. */
	assert_stays("socket", -EADDRINUSE);
	listen_close(fd);
	assert_int_equal(access("socket", F_OK), -1);
}

/* It has bound the socket, and does not listen at it yet. */
static void one_that_begins_at_the_same_time_keeps_its_socket(void **state)
{
	pid_t first = fork();
	struct stat st;
	int fd;

	if (!first) {
		pause_us = 300000;
		if (listen_at("race") < 0)
			_exit(EXIT_FAILURE);
		for (;;)
			pause();
	}
	assert_true(first > 0);
	while (lstat("race", &st))
		usleep(1000);
	fd = listen_at("race");
	kill(first, SIGKILL);
	assert_int_equal(waitpid(first, NULL, 0), first);
	assert_int_equal(unlink("race"), 0);
	assert_int_equal(fd, -EADDRINUSE);
}

/* It may be full, or of another kind. */
static void a_socket_that_is_in_use_is_not_replaced(void **state)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "datagrams"};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), waiting[3];

	assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	assert_stays("datagrams", -EADDRINUSE);
	close(fd);
	unlink("datagrams");
	fd = listen_at("full");
	strcpy(un.sun_path, "full");
	for (int i = 0; i < 3; i++) {
		waiting[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (connect(waiting[i], (struct sockaddr *)&un, sizeof(un)))
			assert_int_equal(errno, EAGAIN);
	}
	assert_stays("full", -EADDRINUSE);
	for (int i = 0; i < 3; i++)
		close(waiting[i]);
	listen_close(fd);
}

static void a_socket_of_another_user_is_not_replaced(void **state)
{
	int fd;

	if (geteuid())
		skip();
	leave_socket("socket");
	assert_int_equal(lchown("socket", OTHER_USER, OTHER_USER), 0);
	assert_stays("socket", -LISTEN_OF_OTHERS);
	setenv("SUDO_UID", "1235", 1);
	assert_stays("socket", -LISTEN_OF_OTHERS);
	/* The caller of sudo may have left it behind. */
	setenv("SUDO_UID", "1234", 1);
	fd = listen_at("socket");
	unsetenv("SUDO_UID");
	assert_true(fd >= 0);
	listen_close(fd);
}

/* Another user's folder or link decides where the socket is, and that user can replace it. */
static void a_way_that_another_user_has_put_there_is_refused(void **state)
{
	int fd;

	if (geteuid())
		skip();
	assert_int_equal(
		mkdir("shared", 0700) | chmod("shared", 01777) | mkdir("shared/folder", 0755), 0);
	assert_int_equal(symlink("folder", "shared/link"), 0);
	fd = listen_at("shared/link/socket");
	assert_true(fd >= 0);
	listen_close(fd);
	assert_int_equal(lchown("shared/link", OTHER_USER, OTHER_USER), 0);
	assert_int_equal(listen_at("shared/link/socket"), -LISTEN_OF_OTHERS);
	assert_int_equal(lchown("shared/folder", OTHER_USER, OTHER_USER), 0);
	assert_int_equal(listen_at("shared/folder/socket"), -LISTEN_OF_OTHERS);
	assert_int_equal(access("shared/folder/socket", F_OK), -1);
	assert_int_equal(unlink("shared/link") | rmdir("shared/folder") | rmdir("shared"), 0);
	assert_int_equal(listen_at("none/socket"), -ENOENT);
}

/* Whoever may write to a folder can put a socket of their own in the place of ours. */
static void a_folder_that_others_may_write_to_is_refused(void **state)
{
	static const struct {
		mode_t above, folder;
		bool listens;
	} cases[] = {
		{0755, 0755, true},  {0755, 0775, false}, {0755, 0757, false},
		{0777, 0755, false}, {0755, 01777, true},
	};

	assert_int_equal(mkdir("above", 0700) | mkdir("above/folder", 0700), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int fd;

		assert_int_equal(
			chmod("above", cases[i].above) | chmod("above/folder", cases[i].folder), 0);
		fd = listen_at("above/folder/socket");
		if (cases[i].listens != (fd >= 0))
			fail_msg("case %zu: %d", i, fd);
		if (fd < 0)
			assert_int_equal(fd, -LISTEN_OF_OTHERS);
		listen_close(fd);
		assert_int_equal(access("above/folder/socket", F_OK), -1);
	}
	assert_int_equal(rmdir("above/folder") | rmdir("above"), 0);
}

static void a_port_alone_is_at_all_addresses(void **state)
{
	struct sockaddr_storage address;
	const struct sockaddr_in *four = (const struct sockaddr_in *)&address;
	socklen_t size;

	assert_null(listen_parse(":9100", &address, &size));
	assert_int_equal(address.ss_family, AF_INET);
	assert_int_equal(four->sin_addr.s_addr, htonl(INADDR_ANY));
	assert_int_equal(four->sin_port, htons(9100));
	assert_int_equal(size, sizeof(*four));
	assert_false(listen_is_loopback(&address));
	assert_non_null(listen_parse(":", &address, &size));
	assert_non_null(listen_parse(":x", &address, &size));
	assert_false(listen_is_loopback_host(""));
}

/* libmicrohttpd is not there. */
void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlopen(const char *file, int mode)
{
	return NULL;
}

static void a_library_that_is_missing_is_named_with_its_package(void **state)
{
	char why[512];

	assert_null(http_open("127.0.0.1:0", NULL, NULL, why, sizeof(why)));
	assert_string_equal(why, "libmicrohttpd.so.12 cannot be loaded: install the package "
				 "libmicrohttpd12 (Debian, Ubuntu, openSUSE; with newer ones "
				 "libmicrohttpd12t64) or libmicrohttpd (Fedora, Arch, Alpine)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_alone_is_at_all_addresses),
		cmocka_unit_test(a_library_that_is_missing_is_named_with_its_package),
		cmocka_unit_test(what_is_no_socket_is_not_replaced),
		cmocka_unit_test(a_socket_that_was_left_is_replaced),
		cmocka_unit_test(a_socket_that_is_in_use_is_not_replaced),
		cmocka_unit_test(one_that_begins_at_the_same_time_keeps_its_socket),
		cmocka_unit_test(a_socket_of_another_user_is_not_replaced),
		cmocka_unit_test(a_way_that_another_user_has_put_there_is_refused),
		cmocka_unit_test(a_folder_that_others_may_write_to_is_refused),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
