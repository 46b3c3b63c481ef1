// SPDX-License-Identifier: GPL-2.0-only
/* Rights and system calls of a process after it has dropped those that it does not need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/sched.h> /* struct clone_args; after <sched.h> */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/confine.h"
#include "core/job.h"
#include "core/output.h"
#include "core/rights.h"
#include "stream/destination.h"

/*
 * Made before anything is dropped: memory, unconnected sockets, a connected pair, and a process
 * that has executed a program without capabilities, as the command of a peer does.
 */
static void *at;
static int unix_fd, tcp_fd, pair[2];
static pid_t command;

/* A field in the status of a thread of this process, as a number or as bits. */
static unsigned long long status_of(const char *task, const char *name, int base)
{
	char path[300], line[256];
	unsigned long long n = ~0ULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			n = strtoull(line + strlen(name), NULL, base);
	if (f)
		fclose(f);
	return n;
}

#define EXPECT(condition)                  \
	do {                               \
		if (!(condition))          \
			return #condition; \
	} while (0)

static const char *threads_are_confined(void)
{
	DIR *d = opendir("/proc/self/task");
	const struct dirent *e;
	unsigned int nr = 0;

	EXPECT(d);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		nr++;
		EXPECT(status_of(e->d_name, "Seccomp:", 10) == 2);
		EXPECT(status_of(e->d_name, "NoNewPrivs:", 10) == 1);
		if (atoi(e->d_name) != getpid()) {
			EXPECT(status_of(e->d_name, "CapPrm:", 16) == 0);
			EXPECT(status_of(e->d_name, "CapEff:", 16) == 0);
		}
	}
	closedir(d);
	EXPECT(nr == 2);
	return NULL;
}

/* The call failed with EPERM. */
#define REFUSED(call) ((call) == -1 && errno == EPERM)

static const char *nothing_is_executed_or_mounted(void)
{
	EXPECT(REFUSED(execl("/bin/true", "true", (char *)NULL)));
	EXPECT(REFUSED(mount("none", "/tmp", "tmpfs", 0, NULL)));
	EXPECT(REFUSED(setuid(getuid())));
	/* A handle leads past what a mount namespace hides. */
	EXPECT(REFUSED(syscall(SYS_open_by_handle_at, -1, NULL, 0)));
	EXPECT(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
		       MAP_FAILED &&
	       errno == EPERM);
	EXPECT(REFUSED(mprotect(at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC)));
	EXPECT(!mprotect(at, 4096, PROT_READ));
	return NULL;
}

static const char *no_namespace_is_made(void)
{
	struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};

	EXPECT(REFUSED(unshare(CLONE_NEWUSER)));
	EXPECT(REFUSED(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL)));
	EXPECT(REFUSED(syscall(SYS_clone, CLONE_NEWNET | SIGCHLD, NULL, NULL, NULL, NULL)));
	EXPECT(syscall(SYS_clone3, &args, sizeof(args)) == -1 && errno == ENOSYS);
	return NULL;
}

/* Services of root would do what root asks them. */
static const char *nothing_is_connected(void)
{
	const struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/nonexistent"};
	const struct sockaddr *to = (const struct sockaddr *)&un;

	EXPECT(REFUSED(socket(AF_UNIX, SOCK_STREAM, 0)));
	EXPECT(REFUSED(connect(unix_fd, to, sizeof(un))));
	EXPECT(REFUSED(bind(unix_fd, to, sizeof(un))));
	EXPECT(REFUSED(sendto(unix_fd, "x", 1, 0, to, sizeof(un))));
	EXPECT(send(pair[0], "x", 1, 0) == 1);
	EXPECT(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) >= 0);
	return NULL;
}

/* The flag is the only way to connect a socket without connect(2). */
static const char *no_tcp_socket_is_connected(void)
{
	const struct sockaddr_in discard = {.sin_family = AF_INET,
					    .sin_port = htons(9),
					    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct iovec data = {.iov_base = "x", .iov_len = 1};
	const struct msghdr m = {.msg_name = (void *)&discard,
				 .msg_namelen = sizeof(discard),
				 .msg_iov = &data,
				 .msg_iovlen = 1};

	EXPECT(REFUSED(socket(AF_INET, SOCK_STREAM, 0)));
	EXPECT(REFUSED(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
	EXPECT(REFUSED(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP)));
	EXPECT(REFUSED(socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP)));
	EXPECT(REFUSED(socket(AF_INET6, SOCK_DGRAM, 0)));
	EXPECT(REFUSED(sendmsg(tcp_fd, &m, MSG_FASTOPEN)));
	EXPECT(REFUSED(sendmsg(tcp_fd, &m, MSG_FASTOPEN | MSG_NOSIGNAL)));
	EXPECT(REFUSED(send(tcp_fd, "x", 1, MSG_FASTOPEN)));
	data.iov_base = "y";
	EXPECT(sendmsg(pair[0], &(struct msghdr){.msg_iov = &data, .msg_iovlen = 1},
		       MSG_NOSIGNAL) == 1);
	return NULL;
}

/* The kernel would send the signal, to any process of the same user. */
static const char *no_signal_is_sent_by_a_descriptor(void)
{
	const struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = getppid()};
	struct flock whole = {.l_type = F_WRLCK};
	int fd;

	EXPECT(REFUSED(fcntl(pair[0], F_SETOWN, getppid())));
	EXPECT(REFUSED(fcntl(pair[0], F_SETOWN_EX, &owner)));
	EXPECT(REFUSED(fcntl(pair[0], F_SETSIG, SIGKILL)));
	EXPECT(REFUSED(fcntl(pair[0], F_SETFL, O_NONBLOCK | O_ASYNC)));
	EXPECT(REFUSED(fcntl(pair[0], F_SETLEASE, F_RDLCK)));
	EXPECT(REFUSED(fcntl(pair[0], F_NOTIFY, DN_CREATE)));
	EXPECT(REFUSED(ioctl(pair[0], FIOSETOWN, &owner.pid)));
	EXPECT(REFUSED(ioctl(pair[0], SIOCSPGRP, &owner.pid)));
	EXPECT((fd = fcntl(pair[0], F_DUPFD_CLOEXEC, 0)) >= 0);
	EXPECT(fcntl(fd, F_GETFD) == FD_CLOEXEC && !fcntl(fd, F_SETFD, 0));
	EXPECT(!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK));
	close(fd);
	EXPECT((fd = open("/tmp", O_TMPFILE | O_RDWR, 0600)) >= 0 && !fcntl(fd, F_SETLK, &whole));
	close(fd);
	return NULL;
}

static int open_of_command(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", command, name);
	return open(path, O_RDONLY);
}

#define OUT_OF_REACH(name) (open_of_command(name) == -1 && errno == EACCES)

/*
 * The command is not confined, so this process could do by it what it cannot do itself. To read
 * "maps" and "environ", CAP_PERFMON is enough: mm_access() in kernel/fork.c, as of Linux 6.18.
 */
static const char *memory_of_a_command_is_not_opened(struct output *before)
{
	confine_loading(0, 0, true);
	EXPECT(OUT_OF_REACH("mem") && OUT_OF_REACH("root/") && OUT_OF_REACH("fd/0"));
	confine(0, true, false);
	EXPECT(OUT_OF_REACH("mem") && OUT_OF_REACH("root/") && OUT_OF_REACH("fd/0"));
	EXPECT(!(rights_held() & RIGHT(CAP_BPF)) || OUT_OF_REACH("environ"));
	EXPECT(open("/proc/self/environ", O_RDONLY) >= 0);
	return NULL;
}

static const char *others_are_left_alone(void)
{
	struct rlimit limit;

	EXPECT(REFUSED(ioctl(STDIN_FILENO, TIOCSTI, "x")));
	EXPECT(REFUSED(ioctl(STDIN_FILENO, TIOCSTI | 1ULL << 32, "x")));
	EXPECT(REFUSED(ioctl(STDIN_FILENO, TIOCLINUX, "x")));
	EXPECT(REFUSED(kill(getppid(), 0)));
	EXPECT(REFUSED(tgkill(getppid(), getppid(), 0)));
	EXPECT(!raise(0));
	EXPECT(REFUSED(prlimit(getppid(), RLIMIT_CORE, NULL, &limit)));
	EXPECT(!prlimit(0, RLIMIT_CORE, NULL, &limit));
	EXPECT(REFUSED(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)));
	EXPECT(isatty(pair[0]) == 0 && errno != EPERM);
	return NULL;
}

/*
 * Loading needs these system calls until it is over. They are called with wrong arguments: an error
 * about the arguments means that the call is allowed.
 */
static const char *loading_goes_on(bool on)
{
	EXPECT(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) == -1 && (errno == EFAULT) == on);
	EXPECT(syscall(SYS_seccomp, ~0u, 0, NULL) == -1 && (errno == EINVAL) == on);
	EXPECT(syscall(SYS_memfd_create, NULL, 0) == -1 && (errno == EFAULT) == on);
	return NULL;
}

/*
 * Work that must still be possible: files, the thread that writes them, and processes that read the
 * command line again.
 */
static const char *work_goes_on(struct output *before)
{
	char folder[] = "/tmp/ntprof-confine.XXXXXX", path[64];
	struct destination to;
	struct output *out;
	int status;
	pid_t pid;

	EXPECT(mkdtemp(folder) == NULL && errno == EPERM);
	snprintf(path, sizeof(path), "/tmp/ntprof-confine.%d", getpid());
	EXPECT(!destination_open(&to, path, false));
	out = output_new(to.fd, 4096);
	EXPECT(out);
	EXPECT(!output_put(out, "x", 1, 0));
	output_flush(out);
	EXPECT(!output_settle(out, -1, 10000000000ULL));
	EXPECT(!ftruncate(to.fd, 0));
	output_free(out);
	EXPECT(!destination_commit(&to));
	EXPECT(!destination_close(&to));
	EXPECT(!unlink(path));
	EXPECT(!output_error(before));
	pid = fork();
	if (!pid)
		_exit(7);
	EXPECT(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
	return NULL;
}

static const char *is_confined(struct output *before)
{
	return threads_are_confined() ?: nothing_is_executed_or_mounted() ?: no_namespace_is_made() ?:
	       nothing_is_connected() ?: no_tcp_socket_is_connected() ?:
	       no_signal_is_sent_by_a_descriptor() ?: others_are_left_alone() ?:
	       work_goes_on(before);
}

static const char *while_it_waits_and_loads(struct output *before)
{
	const uint64_t needs = RIGHT(CAP_BPF) | RIGHT(CAP_PERFMON) | RIGHT(CAP_SYS_ADMIN),
		       had = rights_held();

	confine_loading(0, RIGHT(CAP_SYSLOG), false);
	EXPECT(rights_held() == (had & (needs | RIGHT(CAP_SYSLOG))));
	return is_confined(before) ?: loading_goes_on(true);
}

static const char *when_it_traces(struct output *before)
{
	confine_loading(0, RIGHT(CAP_SYSLOG), false);
	confine(0, false, false);
	EXPECT(rights_held() == (rights_held() & (RIGHT(CAP_BPF) | RIGHT(CAP_SYS_ADMIN))));
	return is_confined(before) ?: loading_goes_on(false);
}

static int begun[2], never[2];

static int wait_for_ever(void *nothing)
{
	char c = 0;

	(void)nothing;
	if (write(begun[1], &c, 1) != 1)
		abort();
	return read(never[0], &c, 1) ? -EIO : 0;
}

/* A disk may hang while a module is waited for, and still when it is traced. */
static const char *a_job_of_before_holds_nothing_of_tracing(struct output *before)
{
	static struct job job;
	const struct dirent *e;
	unsigned int others = 0;
	char c;
	DIR *d;

	EXPECT(!pipe2(begun, O_CLOEXEC) && !pipe2(never, O_CLOEXEC));
	job_moment_ns = 0;
	confine_loading(0, RIGHT(CAP_SYSLOG), false);
	EXPECT(job_do(&job, wait_for_ever, NULL) == -EAGAIN);
	EXPECT(read(begun[0], &c, 1) == 1);
	confine(0, false, false);
	d = opendir("/proc/self/task");
	EXPECT(d);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.' || atoi(e->d_name) == getpid())
			continue;
		others++;
		EXPECT(status_of(e->d_name, "CapPrm:", 16) == 0);
		EXPECT(status_of(e->d_name, "Seccomp:", 10) == 2);
	}
	closedir(d);
	EXPECT(others == 2 && job_runs(&job));
	return NULL;
}

/* Only a process that has started others may send signals. */
static const char *processes_of_its_own_are_ended(struct output *before)
{
	confine_loading(0, 0, true);
	EXPECT(!kill(getppid(), 0));
	confine(0, true, false);
	EXPECT(!kill(getppid(), 0));
	return NULL;
}

/* It ends with this process. */
static void start_command(void)
{
	int in[2], executed[2];
	char c;

	if (pipe2(in, O_CLOEXEC) || pipe2(executed, O_CLOEXEC))
		abort();
	command = fork();
	if (!command) {
		dup2(in[0], STDIN_FILENO);
		rights_reduce(0);
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		execlp("cat", "cat", (char *)NULL);
		_exit(1);
	}
	close(executed[1]);
	if (read(executed[0], &c, 1))
		abort();
}

/* Runs in a child process, as rights cannot be regained. */
static void assert_right(const char *(*try)(struct output *before))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		struct output *before;
		const char *wrong;

		start_command();
		confine_begin(false);
		before = output_new(open("/dev/null", O_WRONLY), 4096);
		/* The thread of the output has started. */
		output_put(before, "x", 1, 0);
		output_flush(before);
		output_settle(before, -1, 10000000000ULL);
		at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		unix_fd = socket(AF_UNIX, SOCK_DGRAM, 0);
		tcp_fd = socket(AF_INET, SOCK_STREAM, 0);
		socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
		wrong = try(before);
		if (wrong)
			fprintf(stderr, "not so: %s (%s)\n", wrong, strerror(errno));
		_exit(wrong != NULL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* CAP_PERFMON and CAP_BPF are not among the first 32. */
static void all_rights_are_seen_that_the_kernel_reports(void **state)
{
	FILE *f = fopen("/proc/thread-self/status", "re");
	uint64_t permitted = 0;
	char line[256];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "CapPrm:", 7))
			permitted = strtoull(line + 7, NULL, 16);
	fclose(f);
	assert_int_equal(rights_held(), permitted);
}

static void what_tracing_does_not_need_is_given_up(void **state)
{
	assert_right(when_it_traces);
}

static void what_loading_does_not_need_is_given_up_before(void **state)
{
	assert_right(while_it_waits_and_loads);
}

static void what_asks_the_disk_holds_nothing_of_tracing(void **state)
{
	assert_right(a_job_of_before_holds_nothing_of_tracing);
	(void)state;
}

static void only_what_has_started_processes_sends_signals(void **state)
{
	assert_right(processes_of_its_own_are_ended);
}

static void no_process_opens_the_memory_of_a_peers_command(void **state)
{
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1) {
		print_message("this kernel has no Landlock\n");
		skip();
	}
	assert_right(memory_of_a_command_is_not_opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_rights_are_seen_that_the_kernel_reports),
		cmocka_unit_test(what_tracing_does_not_need_is_given_up),
		cmocka_unit_test(what_loading_does_not_need_is_given_up_before),
		cmocka_unit_test(what_asks_the_disk_holds_nothing_of_tracing),
		cmocka_unit_test(only_what_has_started_processes_sends_signals),
		cmocka_unit_test(no_process_opens_the_memory_of_a_peers_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
