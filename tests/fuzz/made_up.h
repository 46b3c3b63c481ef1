/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Peers without processes, for targets of src/peer/. Commands, what guards report and the time
 * are made up, so that an input does the same in each run and costs no fork. The linker
 * puts the functions below in the place of those that would ask the kernel (see the Makefile).
 *
 * Each start of a peer's command gets descriptors and a process group that no start had before. So
 * use of a closed descriptor, a descriptor that stays open, and a signal to a group that is gone
 * are seen.
 */
#ifndef NTPROF_FUZZ_MADE_UP_H
#define NTPROF_FUZZ_MADE_UP_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "asserts.h"
#include "core/array.h"
#include "core/time.h"
#include "peer/child.h"
#include "peer/starter.h"
#include "stream/codec.h"
#include "stream/writer.h"

#define MADE_PEERS 3
/* Starts of one input; further ones fail. */
#define MADE_CHILDREN 32
/* What a command has sent and we have not read; the rest is lost, as by a command that does not
 * check its writes. */
#define MADE_PIPE 65536u
#define MADE_REPORTS 8

/* Numbers of descriptors that no process has: a start's, and its end of a stream. */
#define MADE_FD (1 << 30)
enum made_fd { MADE_OUT, MADE_ERR, MADE_REPORT, MADE_STREAM, MADE_FDS };
/* Process groups: no pid of Linux is as large (PID_MAX_LIMIT is 2^22). */
#define MADE_GROUP (1 << 29)

/* What a command has written to one of its pipes; @at: how far that was read. @error: instead of
 * its end. */
struct made_pipe {
	size_t size;
	size_t at;
	bool ended;
	int error;
	uint8_t data[MADE_PIPE];
};

/*
 * One start of a command.
 * @open: our ends
 * @alive: a process of the group is left; @waited: its guard was waited for
 * @asked: signals that it got, as bits
 * @stubborn: SIGTERM does not end it
 */
struct made_child {
	unsigned int peer;
	bool open[MADE_FDS];
	bool alive;
	bool waited;
	bool stubborn;
	uint64_t asked;
	struct guard_report report[MADE_REPORTS];
	unsigned int nr_reports;
	unsigned int report_at;
};

/* Members that all starts of a peer share; the pipes are those of the last one. */
struct made_peer {
	struct made_child *child;
	struct made_pipe out;
	struct made_pipe err;
	struct stream_writer *writer;
	uint32_t sequence;
	bool is_file;
};

static struct made_up {
	bool on; /* an input runs: the fuzzer itself uses some of these functions as well */
	uint64_t now;
	unsigned int nr_children;
	struct made_child child[MADE_CHILDREN];
	struct made_peer peer[MADE_PEERS];
	bool start_fails;
	bool hurry;
} made;

/* A source is the number of a peer, as a command. */
static char *const made_source[MADE_PEERS] = {"peer 0", "peer 1 \x1b[2J\xe2\x80\xae",
					      "peer 2 \xff\n"};

static inline void made_begin(void)
{
	made.on = true;
	made.now = 1000000000;
	made.nr_children = 0;
	made.start_fails = made.hurry = false;
	for (unsigned int i = 0; i < MADE_PEERS; i++) {
		made.peer[i].child = NULL;
		made.peer[i].is_file = false;
	}
}

/* All that was started has ended, and nothing of it is left. */
static inline void made_end(void)
{
	for (unsigned int i = 0; i < made.nr_children; i++) {
		const struct made_child *c = &made.child[i];

		for (unsigned int k = 0; k < MADE_STREAM; k++)
			ASSERT(!c->open[k]);
		ASSERT(!c->alive && c->waited);
	}
	for (unsigned int i = 0; i < MADE_PEERS; i++) {
		stream_writer_free(made.peer[i].writer);
		made.peer[i].writer = NULL;
	}
	made.on = false;
}

/* Return: NULL if the descriptor is another one. */
static inline struct made_child *made_of(int fd, enum made_fd *kind)
{
	unsigned int n = (unsigned int)(fd - MADE_FD);

	if (fd < MADE_FD || n >= MADE_FDS * made.nr_children)
		return NULL;
	*kind = (enum made_fd)(n % MADE_FDS);
	return &made.child[n / MADE_FDS];
}

static inline struct made_child *made_group(pid_t group)
{
	ASSERT(group >= MADE_GROUP && (unsigned int)(group - MADE_GROUP) < made.nr_children);
	return &made.child[group - MADE_GROUP];
}

static inline void made_put(struct made_pipe *p, const void *bytes, size_t n)
{
	if (n > MADE_PIPE - p->size) {
		memmove(p->data, p->data + p->at, p->size - p->at);
		p->size -= p->at;
		p->at = 0;
	}
	if (n > MADE_PIPE - p->size)
		n = MADE_PIPE - p->size;
	memcpy(p->data + p->size, bytes, n);
	p->size += n;
}

/* The command sends a frame whose number and checksums are right. */
static inline void made_frame(struct made_peer *p, uint16_t type, const void *payload, size_t n)
{
	uint8_t head[FRAME_HEAD_LEN];

	put_le32(head, (uint32_t)n);
	put_le16(head + 4, type);
	put_le16(head + 6, 0);
	put_le32(head + 8, p->sequence++);
	put_le32(head + 12, (uint32_t)crc32(0, payload, (uInt)n));
	put_le32(head + 16, (uint32_t)crc32(0, head, FRAME_HEAD_SUMMED));
	made_put(&p->out, head, sizeof(head));
	made_put(&p->out, payload, n);
}

/* What a writer writes: frames, which get the number that is next. */
static inline void made_write(struct made_peer *p, const uint8_t *bytes, size_t n)
{
	if (n >= PREAMBLE_LEN && !memcmp(bytes, STREAM_MAGIC, STREAM_MAGIC_LEN)) {
		made_put(&p->out, bytes, PREAMBLE_LEN);
		bytes += PREAMBLE_LEN;
		n -= PREAMBLE_LEN;
	}
	while (n) {
		size_t length = get_le32(bytes);

		ASSERT(n >= FRAME_HEAD_LEN + length);
		made_frame(p, get_le16(bytes + 4), bytes + FRAME_HEAD_LEN, length);
		bytes += FRAME_HEAD_LEN + length;
		n -= FRAME_HEAD_LEN + length;
	}
}

/* The command begins its stream. */
static inline void made_header(struct made_peer *p, const struct stream_header *h)
{
	if (!p->child)
		return;
	stream_writer_free(p->writer);
	p->sequence = 0;
	p->writer = stream_writer_new(
		MADE_FD + MADE_FDS * (int)(p->child - made.child) + MADE_STREAM, h);
	ASSERT(p->writer);
}

static inline void made_event(struct made_peer *p, const struct stream_event *e)
{
	/* After its end a writer takes nothing. */
	if (p->writer)
		stream_write(p->writer, e);
}

static inline void made_report(struct made_peer *p, int kind, int value)
{
	struct made_child *c = p->child;

	if (c && c->alive && c->nr_reports < MADE_REPORTS)
		c->report[c->nr_reports++] = (struct guard_report){.kind = kind, .value = value};
}

/* No process is left that has the pipes. */
static inline void made_dies(struct made_child *c)
{
	c->alive = false;
	if (made.peer[c->peer].child == c)
		made.peer[c->peer].out.ended = made.peer[c->peer].err.ended = true;
}

ssize_t __real_read(int fd, void *buffer, size_t n);
ssize_t __wrap_read(int fd, void *buffer, size_t n);
ssize_t __real_write(int fd, const void *buffer, size_t n);
ssize_t __wrap_write(int fd, const void *buffer, size_t n);
ssize_t __wrap_recv(int fd, void *buffer, size_t n, int flags);
int __real_close(int fd);
int __wrap_close(int fd);
int __real_kill(pid_t pid, int sig);
int __wrap_kill(pid_t pid, int sig);
pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
int __real_poll(struct pollfd *fds, nfds_t nr, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t nr, int ms);
int __real_epoll_ctl(int epoll, int op, int fd, struct epoll_event *e);
int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *e);
uint64_t __wrap_monotonic_ns(void);
struct instant __wrap_instant_now(void);
int __wrap_child_start(struct child *c, const char *source, enum source_kind kind,
		       const struct peer_user *user);
void __wrap_child_kill(struct child *c);
void __wrap_child_end(struct child *c);
bool __wrap_starter_has_file(const struct starter *s, unsigned int i);
struct starter *__wrap_starter_new(char *const *sources, unsigned int nr,
				   const struct peer_user *user);
int __wrap_starter_start(struct starter *s, unsigned int i, struct child *c);
void __wrap_starter_end(struct starter *s, struct child *c);
void __wrap_starter_free(struct starter *s);

ssize_t __wrap_read(int fd, void *buffer, size_t n)
{
	enum made_fd kind;
	struct made_child *c = made.on ? made_of(fd, &kind) : NULL;
	struct made_pipe *p;

	if (!c)
		return __real_read(fd, buffer, n);
	ASSERT(c->open[kind] && (kind == MADE_OUT || kind == MADE_ERR));
	/* Pipes of an earlier start are closed before the next one. */
	ASSERT(made.peer[c->peer].child == c);
	p = kind == MADE_OUT ? &made.peer[c->peer].out : &made.peer[c->peer].err;
	if (n > p->size - p->at)
		n = p->size - p->at;
	if (!n && (p->error || !p->ended)) {
		errno = p->error ?: EAGAIN;
		p->error = p->error == EINTR ? 0 : p->error;
		return -1;
	}
	memcpy(buffer, p->data + p->at, n);
	p->at += n;
	return (ssize_t)n;
}

ssize_t __wrap_write(int fd, const void *buffer, size_t n)
{
	enum made_fd kind;
	struct made_child *c = made.on ? made_of(fd, &kind) : NULL;

	if (!c)
		return __real_write(fd, buffer, n);
	ASSERT(kind == MADE_STREAM);
	made_write(&made.peer[c->peer], buffer, n);
	return (ssize_t)n;
}

ssize_t __wrap_recv(int fd, void *buffer, size_t n, int flags)
{
	enum made_fd kind;
	struct made_child *c = made_of(fd, &kind);

	ASSERT(c && kind == MADE_REPORT && c->open[kind]);
	if (c->report_at < c->nr_reports) {
		ASSERT(n >= sizeof(c->report[0]));
		memcpy(buffer, &c->report[c->report_at++], sizeof(c->report[0]));
		return sizeof(c->report[0]);
	}
	errno = EAGAIN;
	return c->alive ? -1 : 0;
}

int __wrap_close(int fd)
{
	enum made_fd kind;
	struct made_child *c = made.on ? made_of(fd, &kind) : NULL;

	if (!c)
		return __real_close(fd);
	ASSERT(c->open[kind]);
	c->open[kind] = false;
	return 0;
}

int __wrap_kill(pid_t pid, int sig)
{
	struct made_child *c;

	if (!made.on)
		return __real_kill(pid, sig);
	c = made_group(-pid);
	ASSERT(!c->waited);
	c->asked |= 1ULL << sig;
	if (sig == SIGKILL || (sig == SIGTERM && !c->stubborn))
		made_dies(c);
	return 0;
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	struct made_child *c;

	if (!made.on)
		return __real_waitpid(pid, status, options);
	c = made_group(pid);
	ASSERT(!c->alive && !c->waited);
	c->waited = true;
	return pid;
}

/* Waits for peers at the end: time passes. */
int __wrap_poll(struct pollfd *fds, nfds_t nr, int ms)
{
	if (!made.on)
		return __real_poll(fds, nr, ms);
	ASSERT(ms > 0);
	made.now += 100000000;
	for (nfds_t i = 0; i < nr; i++)
		fds[i].revents = i == 1 && made.hurry ? POLLIN : 0;
	return 0;
}

int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *e)
{
	enum made_fd kind;
	struct made_child *c = made.on ? made_of(fd, &kind) : NULL;

	if (c)
		ASSERT(c->open[kind]);
	else
		return __real_epoll_ctl(epoll, op, fd, e);
	return 0;
}

uint64_t __wrap_monotonic_ns(void)
{
	return made.now;
}

struct instant __wrap_instant_now(void)
{
	return (struct instant){.monotonic_ns = made.now, .realtime_ns = (int64_t)made.now};
}

static inline int made_start(unsigned int peer, struct child *c)
{
	unsigned int n = made.nr_children;
	struct made_peer *p = &made.peer[peer];
	int fd = MADE_FD + MADE_FDS * (int)n;

	*c = (struct child){.report_fd = -1, .out = -1, .err = -1};
	if (made.start_fails || n == MADE_CHILDREN)
		return -EAGAIN;
	/* The last one's are closed, and its group is gone. */
	ASSERT(!p->child || (p->child->waited && !p->child->open[MADE_OUT]));
	made.nr_children++;
	made.child[n] = (struct made_child){.peer = peer, .alive = true};
	for (unsigned int i = 0; i < MADE_FDS; i++)
		made.child[n].open[i] = true;
	p->child = &made.child[n];
	stream_writer_free(p->writer);
	p->writer = NULL;
	p->out.size = p->out.at = p->err.size = p->err.at = 0;
	p->out.error = p->err.error = 0;
	p->out.ended = p->err.ended = false;
	p->sequence = 0;
	*c = (struct child){.group = MADE_GROUP + (pid_t)n,
			    .out = fd + MADE_OUT,
			    .err = fd + MADE_ERR,
			    .report_fd = fd + MADE_REPORT};
	return 0;
}

static inline unsigned int made_number(const char *source)
{
	ASSERT(!strncmp(source, "peer ", 5) && source[5] - '0' < MADE_PEERS);
	return (unsigned int)(source[5] - '0');
}

int __wrap_child_start(struct child *c, const char *source, enum source_kind kind,
		       const struct peer_user *user)
{
	return made_start(made_number(source), c);
}

/* A guard does it at once. */
void __wrap_child_kill(struct child *c)
{
	if (c->group > 0 && !c->until_ns)
		__wrap_kill(-c->group, SIGKILL);
	c->until_ns = 1;
}

void __wrap_child_end(struct child *c)
{
	const int fd[] = {c->report_fd, c->out, c->err};

	__wrap_child_kill(c);
	for (unsigned int i = 0; c->group > 0 && i < ARRAY_SIZE(fd); i++)
		if (fd[i] >= 0)
			__wrap_close(fd[i]);
	if (c->group > 0)
		__wrap_waitpid(c->group, NULL, 0);
	*c = (struct child){.report_fd = -1, .out = -1, .err = -1};
}

bool __wrap_starter_has_file(const struct starter *s, unsigned int i)
{
	return made.peer[i].is_file;
}

struct starter *__wrap_starter_new(char *const *sources, unsigned int nr,
				   const struct peer_user *user)
{
	for (unsigned int i = 0; i < nr; i++)
		ASSERT(made_number(sources[i]) == i);
	return (struct starter *)&made;
}

int __wrap_starter_start(struct starter *s, unsigned int i, struct child *c)
{
	ASSERT(s == (struct starter *)&made);
	return made_start(i, c);
}

void __wrap_starter_end(struct starter *s, struct child *c)
{
	ASSERT(s == (struct starter *)&made);
	__wrap_child_end(c);
}

void __wrap_starter_free(struct starter *s)
{
	ASSERT(!s || s == (struct starter *)&made);
}

#endif /* NTPROF_FUZZ_MADE_UP_H */
