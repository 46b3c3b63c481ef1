// SPDX-License-Identifier: GPL-2.0-only
#include "cli/confine.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "core/array.h"
#include "core/rights.h"

/* By purpose. Those that a machine does not have are passed over by libseccomp. */
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
	SCMP_SYS(fcntl),
	SCMP_SYS(fcntl64),
	SCMP_SYS(dup),
	SCMP_SYS(dup2),
	SCMP_SYS(dup3),
	SCMP_SYS(pipe),
	SCMP_SYS(pipe2),
	SCMP_SYS(ioctl),
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
	/* files: a recording's, sysfs, configfs and procfs */
	SCMP_SYS(open),
	SCMP_SYS(openat),
	SCMP_SYS(open_by_handle_at),
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
	SCMP_SYS(umask),
	/* scrapers, a service manager, the socket that has packets stamped */
	SCMP_SYS(socket),
	SCMP_SYS(bind),
	SCMP_SYS(connect),
	SCMP_SYS(accept),
	SCMP_SYS(accept4),
	SCMP_SYS(listen),
	SCMP_SYS(sendto),
	SCMP_SYS(sendmsg),
	SCMP_SYS(recvfrom),
	SCMP_SYS(recvmsg),
	SCMP_SYS(shutdown),
	SCMP_SYS(setsockopt),
	SCMP_SYS(getsockopt),
	SCMP_SYS(getsockname),
	SCMP_SYS(getpeername),
	SCMP_SYS(sendfile),
	SCMP_SYS(sendfile64),
	/* memory */
	SCMP_SYS(brk),
	SCMP_SYS(mmap),
	SCMP_SYS(mmap2),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(mprotect),
	SCMP_SYS(madvise),
	/* time, and who and where it is */
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
	SCMP_SYS(prlimit64),
	SCMP_SYS(capget),
	SCMP_SYS(capset),
	SCMP_SYS(prctl),
	/* threads, signals, and processes of its own, which may not execute anything */
	SCMP_SYS(futex),
	SCMP_SYS(futex_time64),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(set_tid_address),
	SCMP_SYS(rseq),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(rt_sigpending),
	SCMP_SYS(rt_sigsuspend),
	SCMP_SYS(rt_sigtimedwait),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(sigreturn),
	SCMP_SYS(kill),
	SCMP_SYS(tgkill),
	SCMP_SYS(tkill),
	SCMP_SYS(setpgid),
	SCMP_SYS(fork),
	SCMP_SYS(clone),
	SCMP_SYS(clone3),
	SCMP_SYS(wait4),
	SCMP_SYS(waitid),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
};

/* Of bpf(2): no program is loaded any more, nothing is pinned, nothing of others is opened. */
static const int bpf_allowed[] = {
	BPF_MAP_CREATE,
	BPF_MAP_LOOKUP_ELEM,
	BPF_MAP_UPDATE_ELEM,
	BPF_MAP_DELETE_ELEM,
	BPF_MAP_GET_NEXT_KEY,
	BPF_MAP_LOOKUP_BATCH,
	BPF_MAP_UPDATE_BATCH,
	BPF_MAP_DELETE_BATCH,
	BPF_MAP_LOOKUP_AND_DELETE_ELEM,
	BPF_MAP_LOOKUP_AND_DELETE_BATCH,
	BPF_MAP_FREEZE,
	BPF_OBJ_GET_INFO_BY_FD,
	BPF_RAW_TRACEPOINT_OPEN,
	BPF_LINK_CREATE,
	BPF_LINK_DETACH,
};

/* Return: 0 or a negative errno. */
static int filter_load(void)
{
	/* Others fail, and what called them goes on: a message is better than a recorder that died. */
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = f ? 0 : -ENOMEM;

	if (!err)
		err = seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1);
	for (size_t i = 0; !err && i < ARRAY_SIZE(allowed); i++)
		err = seccomp_rule_add(f, SCMP_ACT_ALLOW, allowed[i], 0);
	for (size_t i = 0; !err && i < ARRAY_SIZE(bpf_allowed); i++) {
		const struct scmp_arg_cmp command = {.op = SCMP_CMP_EQ,
						     .datum_a = (scmp_datum_t)bpf_allowed[i]};

		err = seccomp_rule_add_array(f, SCMP_ACT_ALLOW, SCMP_SYS(bpf), 1, &command);
	}
	if (!err)
		err = seccomp_load(f);
	if (f)
		seccomp_release(f);
	return err;
}

void confine(uint64_t keep, bool verbose)
{
	uint64_t held = rights_held(), bpf = RIGHT(CAP_BPF);
	char text[256];
	int err;

	if (keep == RIGHTS_ALL)
		return;
	/* CAP_SYS_ADMIN stands for CAP_BPF where that is not there. */
	keep |= held & bpf ? bpf : RIGHT(CAP_SYS_ADMIN);
	err = rights_reduce(keep);
	if (err)
		fprintf(stderr, "ntprof-bpf: cannot give up capabilities: %s\n", strerror(-err));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		fprintf(stderr, "ntprof-bpf: cannot give up new privileges: %s\n", strerror(errno));
	err = filter_load();
	if (err)
		fprintf(stderr, "ntprof-bpf: cannot give up system calls: %s\n", strerror(-err));
	if (verbose)
		fprintf(stderr, "held from now on: %s, %zu of bpf(2), %zu other system calls%s\n",
			rights_text(rights_held(), text, sizeof(text)), ARRAY_SIZE(bpf_allowed),
			ARRAY_SIZE(allowed), err ? " (all others as well)" : "");
}
