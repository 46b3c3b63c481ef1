// SPDX-License-Identifier: GPL-2.0-only
#include "cli/confine.h"

#include <asm/termbits.h> /* TCGETS2; it cannot be included together with <termios.h> */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/hash.h"
#include "core/rights.h"

/* By purpose. libseccomp ignores the calls that this architecture does not have. */
static const int allowed[] = {
	/* descriptors */
	SCMP_SYS(read),
	SCMP_SYS(write),
	SCMP_SYS(readv),
	SCMP_SYS(writev),
	SCMP_SYS(pread64),
	SCMP_SYS(pwrite64),
	SCMP_SYS(lseek),
	SCMP_SYS(_llseek),
	SCMP_SYS(close),
	SCMP_SYS(dup),
	SCMP_SYS(dup2),
	SCMP_SYS(dup3),
	SCMP_SYS(pipe),
	SCMP_SYS(pipe2),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(ppoll_time64),
	SCMP_SYS(select),
	SCMP_SYS(pselect6),
	SCMP_SYS(epoll_create),
	SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_wait),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_pwait2),
	SCMP_SYS(eventfd2),
	SCMP_SYS(signalfd4),
	SCMP_SYS(timerfd_create),
	SCMP_SYS(timerfd_settime),
	SCMP_SYS(timerfd_gettime),
	/* files: recordings, sysfs, configfs and procfs */
	SCMP_SYS(open),
	SCMP_SYS(openat),
	SCMP_SYS(stat),
	SCMP_SYS(lstat),
	SCMP_SYS(fstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(fstatat64),
	SCMP_SYS(statx),
	SCMP_SYS(access),
	SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	SCMP_SYS(getdents64),
	SCMP_SYS(getcwd),
	SCMP_SYS(link),
	SCMP_SYS(linkat),
	SCMP_SYS(unlink),
	SCMP_SYS(unlinkat),
	SCMP_SYS(rename),
	SCMP_SYS(renameat),
	SCMP_SYS(renameat2),
	SCMP_SYS(ftruncate),
	SCMP_SYS(ftruncate64),
	SCMP_SYS(fsync),
	SCMP_SYS(fdatasync),
	SCMP_SYS(statfs),
	SCMP_SYS(fstatfs),
	/* clients of serve, and a service manager; the sockets are open already */
	SCMP_SYS(accept),
	SCMP_SYS(accept4),
	SCMP_SYS(recvfrom),
	SCMP_SYS(recvmsg),
	SCMP_SYS(shutdown),
	SCMP_SYS(setsockopt),
	SCMP_SYS(getsockopt),
	SCMP_SYS(getsockname),
	SCMP_SYS(getpeername),
	/* memory */
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	/* time, ids, the machine, limits and capabilities */
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_gettime64),
	SCMP_SYS(clock_getres),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(clock_nanosleep_time64),
	SCMP_SYS(nanosleep),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(time),
	SCMP_SYS(times),
	SCMP_SYS(adjtimex),
	SCMP_SYS(clock_adjtime),
	SCMP_SYS(getrusage),
	SCMP_SYS(sysinfo),
	SCMP_SYS(uname),
	SCMP_SYS(getpid),
	SCMP_SYS(getppid),
	SCMP_SYS(gettid),
	SCMP_SYS(getuid),
	SCMP_SYS(geteuid),
	SCMP_SYS(getgid),
	SCMP_SYS(getegid),
	SCMP_SYS(getpgid),
	SCMP_SYS(getpgrp),
	SCMP_SYS(getsid),
	SCMP_SYS(getrandom),
	SCMP_SYS(getcpu),
	SCMP_SYS(getrlimit),
	SCMP_SYS(capget),
	SCMP_SYS(capset),
	/* threads, signals, and child processes, which cannot execute programs */
	SCMP_SYS(futex),
	SCMP_SYS(futex_time64),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(set_tid_address),
	SCMP_SYS(rseq),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(alarm),
	SCMP_SYS(setitimer),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(rt_sigpending),
	SCMP_SYS(rt_sigsuspend),
	SCMP_SYS(rt_sigtimedwait),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(sigreturn),
	SCMP_SYS(fork),
	SCMP_SYS(wait4),
	SCMP_SYS(waitid),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
};

/*
 * Flags that make a namespace. clone3(2) has its flags in memory, where a filter cannot read them.
 */
#define CLONE_NEW_ANY                                                                  \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET)

/* The bits @mask_ of argument @arg_, counted from 0, are @value_. */
#define ARG(arg_, mask_, value_)                                             \
	{                                                                    \
		.arg = (arg_), .op = SCMP_CMP_MASKED_EQ, .datum_a = (mask_), \
		.datum_b = (scmp_datum_t)(value_)                            \
	}
/* A call that is allowed where this is so. */
#define WHERE(call_, arg_, mask_, value_)        \
	{                                        \
		SCMP_SYS(call_),                 \
		{                                \
			ARG(arg_, mask_, value_) \
		}                                \
	}
#define WHERE_IS(call_, arg_, value_) WHERE(call_, arg_, UINT64_MAX, value_)
/* fcntl64(2) is of architectures of 32 bits. */
#define WHERE_FCNTL(command_) WHERE_IS(fcntl, 1, command_), WHERE_IS(fcntl64, 1, command_)

/* socket(2): the bits of the type that are not flags. */
#define SOCKET_TYPE 0xf

static const struct condition {
	int call;
	struct scmp_arg_cmp args[3]; /* all of them hold; those without an operator are not there */
} conditions[] = {
	/*
	 * Descriptors and locks. With F_SETOWN, F_SETSIG, F_SETLEASE and F_NOTIFY the kernel would
	 * send signals to other processes, and with O_ASYNC to the foreground processes of a
	 * terminal, see tty_fasync().
	 */
	WHERE_FCNTL(F_DUPFD),
	WHERE_FCNTL(F_DUPFD_CLOEXEC),
	WHERE_FCNTL(F_GETFD),
	WHERE_FCNTL(F_SETFD),
	WHERE_FCNTL(F_GETFL),
	{SCMP_SYS(fcntl), {ARG(1, UINT64_MAX, F_SETFL), ARG(2, O_ASYNC, 0)}},
	{SCMP_SYS(fcntl64), {ARG(1, UINT64_MAX, F_SETFL), ARG(2, O_ASYNC, 0)}},
	WHERE_FCNTL(F_SETLK),
	WHERE_FCNTL(F_SETPIPE_SZ),
	/* terminals: modes, size and foreground process, but not TIOCSTI, which inserts input */
	WHERE_IS(ioctl, 1, TCGETS),
	WHERE_IS(ioctl, 1, TCSETS),
	WHERE_IS(ioctl, 1, TCSETSW),
	WHERE_IS(ioctl, 1, TCSETSF),
	WHERE_IS(ioctl, 1, TCGETS2),
	WHERE_IS(ioctl, 1, TCSETS2),
	WHERE_IS(ioctl, 1, TCSETSW2),
	WHERE_IS(ioctl, 1, TCSETSF2),
	WHERE_IS(ioctl, 1, TCFLSH),
	WHERE_IS(ioctl, 1, TIOCGPGRP),
	WHERE_IS(ioctl, 1, TIOCSPGRP),
	WHERE_IS(ioctl, 1, TIOCGWINSZ),
	WHERE_IS(ioctl, 1, FIONREAD),
	/* the socket that turns on packet time stamps; connect() and bind() are not allowed */
	{SCMP_SYS(socket),
	 {ARG(0, UINT64_MAX, AF_INET), ARG(1, SOCKET_TYPE, SOCK_DGRAM), ARG(2, UINT64_MAX, 0)}},
	/* only on a connected socket: without an address, and without connecting it */
	{SCMP_SYS(sendto), {ARG(3, MSG_FASTOPEN, 0), ARG(4, UINT64_MAX, 0)}},
	WHERE(sendmsg, 2, MSG_FASTOPEN, 0),
	/* memory that is not executable */
	WHERE(mmap, 2, PROT_EXEC, 0),
	WHERE(mmap2, 2, PROT_EXEC, 0),
	WHERE(mprotect, 2, PROT_EXEC, 0),
	/* threads and processes, in the same namespaces */
	WHERE(clone, 0, CLONE_NEW_ANY, 0),
	/* limits of this process */
	WHERE_IS(prlimit64, 0, 0),
	WHERE_IS(prctl, 0, PR_CAPBSET_DROP),
	WHERE_IS(prctl, 0, PR_SET_NAME),
	WHERE_IS(prctl, 0, PR_SET_NO_NEW_PRIVS),
	WHERE_IS(prctl, 0, PR_SET_PDEATHSIG),
};

/*
 * Commands of bpf(2) after loading: no more programs are loaded, nothing is pinned, and no objects
 * of other processes are opened.
 */
static const struct condition bpf_conditions[] = {
	WHERE_IS(bpf, 0, BPF_MAP_CREATE),
	WHERE_IS(bpf, 0, BPF_MAP_LOOKUP_ELEM),
	WHERE_IS(bpf, 0, BPF_MAP_UPDATE_ELEM),
	WHERE_IS(bpf, 0, BPF_MAP_DELETE_ELEM),
	WHERE_IS(bpf, 0, BPF_MAP_GET_NEXT_KEY),
	WHERE_IS(bpf, 0, BPF_MAP_LOOKUP_BATCH),
	WHERE_IS(bpf, 0, BPF_MAP_UPDATE_BATCH),
	WHERE_IS(bpf, 0, BPF_MAP_DELETE_BATCH),
	WHERE_IS(bpf, 0, BPF_MAP_LOOKUP_AND_DELETE_ELEM),
	WHERE_IS(bpf, 0, BPF_MAP_LOOKUP_AND_DELETE_BATCH),
	WHERE_IS(bpf, 0, BPF_MAP_FREEZE),
	WHERE_IS(bpf, 0, BPF_OBJ_GET_INFO_BY_FD),
	WHERE_IS(bpf, 0, BPF_PROG_TEST_RUN),
	WHERE_IS(bpf, 0, BPF_RAW_TRACEPOINT_OPEN),
	WHERE_IS(bpf, 0, BPF_LINK_CREATE),
	WHERE_IS(bpf, 0, BPF_LINK_DETACH),
};

/* Additional calls for loading, and for the second filter, which is installed after loading. */
static const int loading[] = {
	SCMP_SYS(bpf),
	/* libbpf 1.4 and later reserve a descriptor for each map by it. */
	SCMP_SYS(memfd_create),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(seccomp),
};

/* Return: 0 or a negative errno; the same holds for the functions below. */
static int allow(scmp_filter_ctx f, const int *calls, size_t nr)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++)
		err = seccomp_rule_add(f, SCMP_ACT_ALLOW, calls[i], 0);
	return err;
}

static int allow_where(scmp_filter_ctx f, const struct condition *c, size_t nr)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		unsigned int args = 0;

		while (args < ARRAY_SIZE(c->args) && c[i].args[args].op)
			args++;
		err = seccomp_rule_add_array(f, SCMP_ACT_ALLOW, c[i].call, args, c[i].args);
	}
	return err;
}

/* Signals that the program itself sends, to its threads and to processes that it has started. */
static int allow_signals(scmp_filter_ctx f, bool ends_processes)
{
	const struct condition own = WHERE_IS(tgkill, 0, getpid());
	const int other = SCMP_SYS(kill);

	return allow_where(f, &own, 1) ?: allow(f, &other, ends_processes);
}

static int filter_load(uint64_t keep, bool loads, bool ends_processes)
{
	/*
	 * Other calls fail with EPERM instead of killing the process: a message is better than a
	 * recorder that is gone.
	 */
	const int by_handle = SCMP_SYS(open_by_handle_at); /* finds cgroups */
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = f ? 0 : -ENOMEM;

	if (!err)
		err = seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1) ?:
		      allow(f, allowed, ARRAY_SIZE(allowed)) ?:
		      allow_where(f, conditions, ARRAY_SIZE(conditions)) ?:
		      allow_signals(f, ends_processes) ?:
		      /* With ENOSYS for clone3(2) the C library uses clone(2). */
		      seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	if (!err && keep & RIGHT(CAP_DAC_READ_SEARCH))
		err = allow(f, &by_handle, 1);
	if (!err)
		err = loads ? allow(f, loading, ARRAY_SIZE(loading))
			    : allow_where(f, bpf_conditions, ARRAY_SIZE(bpf_conditions));
	if (!err)
		err = seccomp_load(f);
	if (f)
		seccomp_release(f);
	return err;
}

static void complain(const char *what, int err)
{
	if (err)
		fprintf(stderr, "ntprof-bpf: cannot give up %s: %s\n", what, strerror(-err));
}

/* CAP_SYS_ADMIN takes the place of CAP_BPF if this process does not hold that. */
static uint64_t rights_to_keep(uint64_t keep)
{
	return keep | (rights_held() & RIGHT(CAP_BPF) ? RIGHT(CAP_BPF) : RIGHT(CAP_SYS_ADMIN));
}

void confine_begin(bool verbose)
{
	int err;

	complain("new privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0);
	err = rights_isolate();
	if (err && verbose)
		complain("the memory of other processes (Landlock)", err);
}

void confine_loading(uint64_t keep, uint64_t loads, bool ends_processes)
{
	const uint64_t needs = loads | RIGHT(CAP_BPF) | RIGHT(CAP_PERFMON) | RIGHT(CAP_SYS_ADMIN);

	if (keep == RIGHTS_ALL)
		return;
	rights_bound(rights_to_keep(keep));
	complain("capabilities", rights_reduce(keep | needs));
	complain("system calls", filter_load(keep, true, ends_processes));
}

void confine(uint64_t keep, bool ends_processes, bool verbose)
{
	char text[256];
	int err;

	if (keep == RIGHTS_ALL)
		return;
	complain("capabilities", rights_reduce(rights_to_keep(keep)));
	err = filter_load(keep, false, ends_processes);
	complain("system calls", err);
	if (verbose)
		fprintf(stderr, "held from now on: %s, %zu of bpf(2), %zu other system calls%s\n",
			rights_text(rights_held(), text, sizeof(text)), ARRAY_SIZE(bpf_conditions),
			ARRAY_SIZE(allowed), err ? " (all others as well)" : "");
}
