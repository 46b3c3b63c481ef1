// SPDX-License-Identifier: GPL-2.0-only
#include "cli/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/array.h"
#include "core/names.h"
#include "core/text.h"
#include "core/time.h"
#include "peer/child.h"
#include "trace/kernel.h"
#include "trace/tracer.h"

/* Less free space than this is soon full: 30 bytes a command, 100,000 commands a second. */
#define FREE_LEAST (1ULL << 30)

__attribute__((format(printf, 2, 3))) static void say(struct doctor_line *l, const char *format,
						      ...)
{
	size_t used = strlen(l->text);
	va_list args;

	va_start(args, format);
	vsnprintf(l->text + used, sizeof(l->text) - used, format, args);
	va_end(args);
}

/* The first line of a file; "" if there is none. */
static const char *line_of(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");

	buf[0] = '\0';
	if (!f)
		return buf;
	if (!fgets(buf, (int)size, f))
		buf[0] = '\0';
	fclose(f);
	buf[strcspn(buf, "\n")] = '\0';
	return text_harmless(buf);
}

static bool is_loaded(const struct doctor *d, enum nt_side side)
{
	char path[PATH_MAX], state[16];

	snprintf(path, sizeof(path), "%s/module/%s", d->sys, driver_name(side));
	if (access(path, F_OK) != 0)
		return false;
	/* One that is built into the kernel has no initstate. */
	snprintf(path, sizeof(path), "%s/module/%s/initstate", d->sys, driver_name(side));
	return access(path, F_OK) != 0 || !strcmp(line_of(path, state, sizeof(state)), "live");
}

static void check_driver(const struct doctor *d, struct doctor_line *l)
{
	bool any = false;

	for (unsigned int side = 0; side < NT_SIDES; side++) {
		if ((d->side != NT_SIDES && d->side != side) || !is_loaded(d, (enum nt_side)side))
			continue;
		say(l, "%s%s is loaded (%s)", any ? ", " : "", driver_name((enum nt_side)side),
		    side_name((enum nt_side)side));
		any = true;
	}
	l->ok = any;
	if (!any && d->side == NT_SIDES)
		say(l, "neither nvme_tcp nor nvmet_tcp is loaded: %s on a host, %s on a target",
		    driver_load(NT_HOST), driver_load(NT_TARGET));
	else if (!any)
		say(l, "%s is not loaded: %s", driver_name(d->side), driver_load(d->side));
}

/* Calls @fn with the folder of each controller of NVMe/TCP. Return: how many there are */
static unsigned int each_controller(const struct doctor *d, struct doctor_line *l,
				    void (*fn)(const char *folder, struct doctor_line *l))
{
	char path[PATH_MAX], transport[16];
	unsigned int nr = 0;
	glob_t g;

	snprintf(path, sizeof(path), "%s/class/nvme/nvme*", d->sys);
	if (glob(path, 0, NULL, &g))
		return 0;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		snprintf(path, sizeof(path), "%s/transport", g.gl_pathv[i]);
		if (strcmp(line_of(path, transport, sizeof(transport)), "tcp") != 0)
			continue;
		fn(g.gl_pathv[i], l);
		nr++;
	}
	globfree(&g);
	return nr;
}

static void tell_state(const char *folder, struct doctor_line *l)
{
	char path[PATH_MAX], state[32];

	snprintf(path, sizeof(path), "%s/state", folder);
	line_of(path, state, sizeof(state));
	l->ok = l->ok && !strcmp(state, "live");
	say(l, "%s%s is %s", l->text[0] ? ", " : "", strrchr(folder, '/') + 1, state);
}

static void check_controllers(const struct doctor *d, struct doctor_line *l)
{
	if (d->side == NT_TARGET || (d->side == NT_SIDES && !is_loaded(d, NT_HOST)))
		return;
	if (!each_controller(d, l, tell_state)) {
		l->ok = false;
		say(l, "no controller is connected by TCP: nvme connect -t tcp ...");
	} else if (!l->ok) {
		say(l,
		    ": commands wait until it is live; look at the network, the target and dmesg");
	}
}

static void tell_iostats(const char *folder, struct doctor_line *l)
{
	char path[PATH_MAX], on[8];
	glob_t g;

	snprintf(path, sizeof(path), "%s/nvme*n*/queue/iostats", folder);
	if (glob(path, 0, NULL, &g))
		return;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		if (strcmp(line_of(g.gl_pathv[i], on, sizeof(on)), "0") != 0)
			continue;
		say(l, "%s: echo 1 >%s", l->ok ? "commands of a disk have no start times" : "",
		    g.gl_pathv[i]);
		l->ok = false;
	}
	globfree(&g);
}

static void check_iostats(const struct doctor *d, struct doctor_line *l)
{
	if (d->side != NT_TARGET && each_controller(d, l, tell_iostats) && l->ok)
		say(l, "on for all disks");
}

static void check_kernel(const struct doctor *d, struct doctor_line *l)
{
	enum tracer_status status = TRACER_OK;
	struct utsname u = {.release = ""};
	char path[PATH_MAX];

	uname(&u);
	snprintf(path, sizeof(path), "%s/kernel/btf/vmlinux", d->sys);
	if (kernel_too_old())
		status = TRACER_OLD_KERNEL;
	else if (access(path, R_OK) != 0)
		status = TRACER_NO_BTF;
	l->ok = !status;
	if (status)
		tracer_explain(status, NT_HOST, u.release, l->text, sizeof(l->text));
	else
		say(l, "%s has type information (BTF)", u.release);
}

static void check_rights(const struct doctor *d, struct doctor_line *l)
{
	char detail[256];
	enum tracer_status status = tracer_check(detail, sizeof(detail));

	l->ok = status != TRACER_NOT_ALLOWED;
	if (l->ok)
		say(l, "this user may trace");
	else
		tracer_explain(status, NT_HOST, detail, l->text, sizeof(l->text));
}

static void check_clock(const struct doctor *d, struct doctor_line *l)
{
	struct timex t = {.modes = 0};

	l->note = true;
	l->ok = adjtimex(&t) != TIME_ERROR && !(t.status & STA_UNSYNC);
	if (l->ok)
		say(l, "the wall clock is synchronized");
	else
		say(l,
		    "the wall clock is not synchronized: figures are right, but times of two "
		    "machines differ, and --burst and --time are by each one's own; run chronyd, or "
		    "systemd-timesyncd");
}

static void check_disk(const struct doctor *d, struct doctor_line *l)
{
	struct statvfs s;
	uint64_t bytes;

	l->ok = !statvfs(".", &s);
	if (!l->ok) {
		say(l, "cannot look at this folder: %s", strerror(errno));
		return;
	}
	l->note = true;
	bytes = (uint64_t)s.f_bavail * s.f_frsize;
	l->ok = bytes >= FREE_LEAST;
	say(l, "%" PRIu64 " MB are free in this folder", bytes / 1000000);
	if (!l->ok)
		say(l, ", for %" PRIu64 " million commands of a record: record elsewhere for more",
		    bytes / 30000000);
}

/* Becomes the command, with its output and its errors in @out. */
static void become(const char *command, const struct peer_user *user, int out)
{
	int null = open("/dev/null", O_RDONLY);

	if (dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(out, STDERR_FILENO) < 0 || peer_user_become(user))
		_exit(EXIT_FAILURE);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(EXIT_FAILURE);
}

/* The last line of an output; @ended: the next character begins another one. */
struct last_line {
	char text[256];
	size_t used;
	bool ended;
};

static void last_line_add(struct last_line *l, const char *text, ssize_t n)
{
	for (ssize_t i = 0; i < n; i++) {
		if (text[i] == '\n' || text[i] == '\r') {
			l->ended = true;
			continue;
		}
		if (l->ended || l->used == sizeof(l->text) - 1)
			l->used = 0;
		l->ended = false;
		l->text[l->used++] = text[i];
		l->text[l->used] = '\0';
	}
}

/* How often it is looked whether a command that prints nothing has ended. */
#define LOOK_MS 20

/*
 * Reads what the command prints until it ends, or until @until. Others may have the pipe for
 * longer, such as an ssh that serves further connections (ControlPersist). Return: as waitpid(2)
 */
static pid_t read_until_end(pid_t pid, int fd, uint64_t until, struct last_line *line, int *status)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	pid_t ended = 0;
	char text[4096];
	ssize_t n = 0;

	while ((!ended || n > 0) && monotonic_ns() < until) {
		/* Then all that it has printed can be read. */
		if (!ended)
			ended = waitpid(pid, status, WNOHANG);
		n = poll(&p, 1, ended ? 0 : LOOK_MS) > 0 ? read(fd, text, sizeof(text)) : -1;
		last_line_add(line, text, n);
		if (!n)
			p.fd = -1;
	}
	return ended;
}

#define NO_STATUS (-1)
#define NO_END (-2)

/*
 * Return: exit status of the command, NO_STATUS, or NO_END if it took longer than @patience_ns.
 * @line: the last line that it printed
 */
static int run_as(const char *command, const struct peer_user *user, uint64_t patience_ns,
		  struct last_line *line)
{
	int out[2], status = 0;
	pid_t pid, ended;

	*line = (struct last_line){.ended = true};
	if (pipe2(out, O_CLOEXEC))
		return NO_STATUS;
	pid = fork();
	if (!pid)
		become(command, user, out[1]);
	close(out[1]);
	ended = pid < 0 ? -1
			: read_until_end(pid, out[0], monotonic_ns() + patience_ns, line, &status);
	close(out[0]);
	if (!ended) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return NO_END;
	}
	return ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : NO_STATUS;
}

/* @n: number of the peer */
static void check_peer(const struct doctor *d, unsigned int n, struct doctor_line *l)
{
	static const char ours[] = "ntprof-bpf " NTPROF_VERSION;
	const struct peer_options *o = d->peers;
	struct peer_user user = {.other = false};
	struct last_line line = {.used = 0};
	char command[512];
	int status;

	l->ok = o->machine[n];
	if (!l->ok) {
		say(l, "%s: only HOST and USER@HOST are tried here", o->source[n]);
		return;
	}
	l->ok = o->as_root || !peer_user_find(&user);
	/* No password is asked for: ssh ends if it would have to. */
	snprintf(command, sizeof(command),
		 "ssh -o BatchMode=yes -o ConnectTimeout=5 %s %sntprof-bpf --version",
		 o->machine[n], strstr(o->source[n], " sudo -n ") ? "sudo -n " : "");
	status = l->ok ? run_as(command, &user, d->patience_ns, &line) : NO_STATUS;
	l->ok = !status && !strcmp(line.text, ours);
	if (l->ok)
		say(l, "%s has %s", o->machine[n], line.text);
	else if (!status)
		say(l, "%s has %s, and this is %s: install the same version on both", o->machine[n],
		    line.text, ours);
	else if (status == NO_END)
		say(l, "%s: '%s' does not end", o->machine[n], command);
	else
		say(l, "%s: '%s' ends with status %d%s%s", o->machine[n], command, status,
		    line.text[0] ? ": " : "", line.text);
}

static const struct {
	const char *name;
	void (*check)(const struct doctor *d, struct doctor_line *l);
} checks[] = {
	{"driver", check_driver}, {"controllers", check_controllers}, {"kernel", check_kernel},
	{"rights", check_rights}, {"iostats", check_iostats},	      {"clock", check_clock},
	{"disk", check_disk},
};

bool doctor_peer(unsigned int n)
{
	return n >= ARRAY_SIZE(checks);
}

bool doctor_check(const struct doctor *d, unsigned int n, struct doctor_line *l)
{
	*l = (struct doctor_line){.name = "peer", .ok = true};
	if (!doctor_peer(n)) {
		l->name = checks[n].name;
		checks[n].check(d, l);
		return true;
	}
	n -= (unsigned int)ARRAY_SIZE(checks);
	if (n >= d->peers->nr)
		return false;
	check_peer(d, n, l);
	text_harmless(l->text);
	return true;
}
