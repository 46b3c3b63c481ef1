// SPDX-License-Identifier: GPL-2.0-only
#include "core/output.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "core/rights.h"
#include "core/time.h"

/* A queue of pieces of bytes, in a buffer of bounded size. The caller provides locking. */

struct piece {
	size_t len;
	unsigned int weight; /* the caller decides what this counts */
};

/**
 * struct pieces - the queue
 * @buffer, @size: a ring of bytes; @used bytes from @first on are taken
 * @piece, @max: a ring of pieces; @nr pieces from @first_piece on are taken
 */
struct pieces {
	uint8_t *buffer;
	size_t size;
	size_t first;
	size_t used;
	struct piece *piece;
	unsigned int max;
	unsigned int first_piece;
	unsigned int nr;
};

/**
 * pieces_init() - an empty queue of @size bytes and @max pieces
 *
 * Return: 0 or -ENOMEM. In both cases the caller calls pieces_free().
 */
static int pieces_init(struct pieces *q, size_t size, unsigned int max)
{
	*q = (struct pieces){.size = size, .max = max};
	q->buffer = malloc(size);
	q->piece = malloc(max * sizeof(*q->piece));
	return q->buffer && q->piece ? 0 : -ENOMEM;
}

static void pieces_free(struct pieces *q)
{
	free(q->buffer);
	free(q->piece);
}

/* Piece number @i of those that wait, from 0 on. */
static struct piece *piece_at(const struct pieces *q, unsigned int i)
{
	return &q->piece[(q->first_piece + i) % q->max];
}

static bool make_room(struct pieces *q, size_t n)
{
	uint8_t *grown;

	/*
	 * An empty queue begins at the start of the buffer again, so it keeps using the same
	 * memory.
	 */
	if (!q->nr)
		q->first = q->first_piece = 0;
	if (q->nr == q->max)
		return false;
	if (n <= q->size - q->used)
		return true;
	if (q->nr)
		return false;
	grown = realloc(q->buffer, n);
	if (!grown)
		return false;
	q->buffer = grown;
	q->size = n;
	return true;
}

/**
 * pieces_put() - append a piece, a copy of @n bytes; @n is at least 1
 *
 * If the queue is empty and the piece is larger than the whole buffer, the buffer grows.
 *
 * Return: whether there was room.
 */
static bool pieces_put(struct pieces *q, const void *p, size_t n, unsigned int weight)
{
	size_t at, till_end;

	if (!make_room(q, n))
		return false;
	at = (q->first + q->used) % q->size;
	till_end = q->size - at;
	if (n <= till_end) {
		memcpy(q->buffer + at, p, n);
	} else {
		memcpy(q->buffer + at, p, till_end);
		memcpy(q->buffer, (const uint8_t *)p + till_end, n - till_end);
	}
	q->used += n;
	*piece_at(q, q->nr++) = (struct piece){n, weight};
	return true;
}

/**
 * pieces_front() - what to write next: the first piece, and the pieces behind it as long as the sum
 * is at most @max bytes
 * @iov: filled with the place of the bytes, which is one part or two
 * @nr: set to the number of pieces
 *
 * The queue must not be empty. The bytes stay in place until the pieces are dropped.
 *
 * Return: number of parts.
 */
static int pieces_front(const struct pieces *q, size_t max, struct iovec iov[2], unsigned int *nr)
{
	size_t till_end = q->size - q->first, len = 0;

	*nr = 0;
	do {
		len += piece_at(q, (*nr)++)->len;
	} while (*nr < q->nr && len + piece_at(q, *nr)->len <= max);
	iov[0] = (struct iovec){q->buffer + q->first, len};
	if (len <= till_end)
		return 1;
	iov[0].iov_len = till_end;
	iov[1] = (struct iovec){q->buffer, len - till_end};
	return 2;
}

/** pieces_drop() - remove the first piece */
static void pieces_drop(struct pieces *q)
{
	size_t len = piece_at(q, 0)->len;

	q->first = (q->first + len) % q->size;
	q->used -= len;
	q->first_piece = (q->first_piece + 1) % q->max;
	q->nr--;
}

/** pieces_drop_last() - remove the last piece; Return: the removed piece */
static struct piece pieces_drop_last(struct pieces *q)
{
	struct piece last = *piece_at(q, --q->nr);

	q->used -= last.len;
	return last;
}

/* The most bytes of one write: the default size of a pipe. */
#define WRITE_MAX 65536
/* Most pieces are longer. Of shorter ones the buffer takes fewer bytes than it has room for. */
#define PIECE_USUAL 128
/* Interrupts a write() that waits for its reader; handled without SA_RESTART. */
#define OUTPUT_SIGNAL SIGRTMIN
/* How often the signal is sent, and for how long; then the write is left to the kernel. */
#define STOP_EVERY_NS 5000000ULL
#define STOP_FOR_NS 200000000ULL

/**
 * struct output - the buffer and its thread
 * @wake_fd: wakes the thread
 * @event_fd: see output_event_fd(); also readable when @settling is over
 * @lock: protects all members below
 * @q: pieces that are not written yet
 * @batch: number of the first pieces of @q that the thread is writing
 * @sync_fd: see output_sync(); -1: nothing
 * @whole: after an error: the file ends with a whole piece
 * @woken: @wake_fd has been raised already
 * @settling: output_settle() waits until everything is written
 */
struct output {
	int fd;
	int wake_fd;
	int event_fd;
	pthread_t thread;
	pthread_mutex_t lock;
	struct pieces q;
	unsigned int batch;
	uint64_t written;
	int sync_fd;
	int error;
	bool whole;
	bool woken;
	bool settling;
	bool stop;
	bool ended;
};

static void on_signal(int signal)
{
}

static void event_raise(int fd)
{
	const uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof(one));

	(void)n; /* fails only when 2^64 - 2 events are waiting already */
}

static void event_clear(int fd)
{
	uint64_t n;
	ssize_t len = read(fd, &n, sizeof(n));

	(void)len; /* fails if none is waiting, which is fine */
}

static bool stopped(const struct output *o)
{
	return __atomic_load_n(&o->stop, __ATOMIC_RELAXED);
}

/*
 * Removes an incomplete piece from the end of a regular file, unless another process has written
 * behind it. Return: whether the file ends with a whole piece.
 */
static bool leave_whole(int fd, size_t beginning)
{
	off_t at;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	if (!beginning)
		return true;
	at = lseek(fd, 0, SEEK_CUR);
	return at >= (off_t)beginning && at == st.st_size &&
	       !ftruncate(fd, at - (off_t)beginning) &&
	       lseek(fd, at - (off_t)beginning, SEEK_SET) >= 0;
}

/* Under the lock. @done: bytes written. Return: how many of them begin an incomplete piece. */
static size_t batch_done(struct output *o, size_t done)
{
	for (; o->batch && done >= piece_at(&o->q, 0)->len; o->batch--) {
		done -= piece_at(&o->q, 0)->len;
		o->written += piece_at(&o->q, 0)->len;
		pieces_drop(&o->q);
	}
	return done;
}

/* Whether the other end of a pipe, a socket or a terminal is closed. */
static bool reader_gone(int fd)
{
	struct pollfd p = {.fd = fd};

	return poll(&p, 1, 0) == 1 && p.revents & (POLLERR | POLLHUP);
}

/* Without the lock. @done: set to the bytes written. Return: 0 or a negative errno. */
static int batch_write(struct output *o, struct iovec *iov, int parts, size_t *done)
{
	while (parts && !stopped(o)) {
		struct pollfd p = {.fd = o->fd, .events = POLLOUT};
		ssize_t n = writev(o->fd, iov, parts);

		if (n < 0 && errno == EINTR)
			continue;
		/* Another process may have made the descriptor non-blocking. */
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			poll(&p, 1, -1);
			continue;
		}
		if (n < 0)
			return errno == EPIPE || reader_gone(o->fd) ? -EPIPE : -errno;
		*done += (size_t)n;
		if ((size_t)n >= iov->iov_len) {
			n -= (ssize_t)iov->iov_len;
			iov++;
			parts--;
		}
		if (parts) {
			iov->iov_base = (uint8_t *)iov->iov_base + n;
			iov->iov_len -= (size_t)n;
		}
	}
	return 0;
}

/* Call it under the lock. */
static bool idle(const struct output *o)
{
	return !o->q.nr && o->sync_fd < 0;
}

/* Call it without the lock. Return: 0 or a negative errno. */
static int sync_it(const struct output *o, int fd)
{
	while (fsync(fd)) {
		if (errno == EINVAL || errno == EOPNOTSUPP)
			return 0;
		if (errno != EINTR || stopped(o))
			return -errno;
	}
	return 0;
}

/* Call it under the lock, which is released while the thread waits for the disk. */
static void sync_all(struct output *o)
{
	int err;

	if (o->sync_fd < 0 || o->q.nr || o->error || stopped(o))
		return;
	pthread_mutex_unlock(&o->lock);
	err = sync_it(o, o->sync_fd);
	pthread_mutex_lock(&o->lock);
	o->sync_fd = -1;
	if (err)
		o->error = err;
}

static void write_all(struct output *o)
{
	while (o->q.nr && !o->error && !stopped(o)) {
		struct iovec iov[2];
		int parts = pieces_front(&o->q, WRITE_MAX, iov, &o->batch), err;
		size_t done = 0;
		bool whole;

		pthread_mutex_unlock(&o->lock);
		err = batch_write(o, iov, parts, &done);
		pthread_mutex_lock(&o->lock);
		done = batch_done(o, done);
		if (err) {
			pthread_mutex_unlock(&o->lock);
			whole = err != -EPIPE && leave_whole(o->fd, done);
			pthread_mutex_lock(&o->lock);
			o->whole = whole;
			o->error = err;
		}
		o->batch = 0;
	}
	sync_all(o);
	if (o->error || (o->settling && idle(o)))
		event_raise(o->event_fd);
}

/* Waits until there is something to write, or until the reader has gone. */
static void wait_for_work(struct output *o, bool failed)
{
	struct pollfd p[] = {{.fd = o->wake_fd, .events = POLLIN}, {.fd = failed ? -1 : o->fd}};

	if (poll(p, 2, -1) <= 0)
		return;
	pthread_mutex_lock(&o->lock);
	if (p[0].revents) {
		event_clear(o->wake_fd);
		o->woken = false;
	}
	if (p[1].revents & (POLLERR | POLLHUP | POLLNVAL)) {
		o->error = p[1].revents & POLLNVAL ? -EBADF : -EPIPE;
		o->whole = false;
	}
	pthread_mutex_unlock(&o->lock);
}

static void *output_run(void *output)
{
	struct output *o = output;
	bool failed;

	/* The thread only writes to an open descriptor, so it needs no capability. */
	rights_reduce(0);
	pthread_mutex_lock(&o->lock);
	for (;;) {
		write_all(o);
		if (stopped(o))
			break;
		failed = o->error != 0;
		pthread_mutex_unlock(&o->lock);
		wait_for_work(o, failed);
		pthread_mutex_lock(&o->lock);
	}
	o->ended = true;
	pthread_mutex_unlock(&o->lock);
	return NULL;
}

/*
 * The thread takes only its own signal, so that others reach the threads that wait for them, and
 * SIGTTOU, which stops a background program that writes to a terminal with `stty tostop`.
 */
static int thread_start(struct output *o)
{
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t set, before;
	int err;

	if (sigaction(OUTPUT_SIGNAL, &action, NULL))
		return errno;
	sigfillset(&set);
	sigdelset(&set, OUTPUT_SIGNAL);
	sigdelset(&set, SIGTTOU);
	pthread_sigmask(SIG_SETMASK, &set, &before);
	err = pthread_create(&o->thread, NULL, output_run, o);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

static void release(struct output *o)
{
	if (o->wake_fd >= 0)
		close(o->wake_fd);
	if (o->event_fd >= 0)
		close(o->event_fd);
	pthread_mutex_destroy(&o->lock);
	pieces_free(&o->q);
	free(o);
}

struct output *output_new(int fd, size_t size)
{
	struct output *o = calloc(1, sizeof(*o));
	int err = ENOMEM;

	if (!o)
		return NULL;
	o->fd = fd;
	o->sync_fd = -1;
	pthread_mutex_init(&o->lock, NULL);
	o->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	o->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (!pieces_init(&o->q, size, (unsigned int)(size / PIECE_USUAL) + 2 * OUTPUT_SPARE_PIECES))
		err = o->wake_fd < 0 || o->event_fd < 0 ? errno : thread_start(o);
	if (!err)
		return o;
	release(o);
	errno = err;
	return NULL;
}

/* Call it under the lock. */
static void wake(struct output *o)
{
	/* A thread that is writing looks for more by itself afterwards. */
	if (o->batch || o->woken)
		return;
	o->woken = true;
	event_raise(o->wake_fd);
}

int output_put(struct output *o, const void *p, size_t n, unsigned int weight)
{
	int err;

	if (!n)
		return output_error(o);
	pthread_mutex_lock(&o->lock);
	err = o->error;
	if (!err && !pieces_put(&o->q, p, n, weight))
		err = -EAGAIN;
	if (!err && o->q.used >= WRITE_MAX)
		wake(o);
	pthread_mutex_unlock(&o->lock);
	return err;
}

void output_flush(struct output *o)
{
	pthread_mutex_lock(&o->lock);
	if (o->q.nr)
		wake(o);
	pthread_mutex_unlock(&o->lock);
}

void output_sync(struct output *o, int fd)
{
	pthread_mutex_lock(&o->lock);
	o->sync_fd = fd;
	wake(o);
	pthread_mutex_unlock(&o->lock);
}

size_t output_room(struct output *o)
{
	size_t room = 0;

	pthread_mutex_lock(&o->lock);
	if (o->q.nr + OUTPUT_SPARE_PIECES < o->q.max)
		room = o->q.size - o->q.used;
	pthread_mutex_unlock(&o->lock);
	return room;
}

bool output_idle(struct output *o)
{
	bool is;

	pthread_mutex_lock(&o->lock);
	is = idle(o);
	pthread_mutex_unlock(&o->lock);
	return is;
}

uint64_t output_written(struct output *o)
{
	uint64_t n;

	pthread_mutex_lock(&o->lock);
	n = o->written;
	pthread_mutex_unlock(&o->lock);
	return n;
}

int output_error(struct output *o)
{
	int err;

	pthread_mutex_lock(&o->lock);
	err = o->error;
	pthread_mutex_unlock(&o->lock);
	return err;
}

int output_event_fd(const struct output *o)
{
	return o->event_fd;
}

/* Return: whether there is nothing to wait for. If there is, @event_fd is raised at its end. */
static bool settle_begin(struct output *o)
{
	bool settled;

	pthread_mutex_lock(&o->lock);
	settled = o->error || idle(o);
	o->settling = !settled;
	if (!settled)
		wake(o);
	pthread_mutex_unlock(&o->lock);
	return settled;
}

static int settle_end(struct output *o)
{
	int err;

	pthread_mutex_lock(&o->lock);
	o->settling = false;
	err = o->error;
	if (!err) {
		event_clear(o->event_fd);
		err = idle(o) ? 0 : -ETIMEDOUT;
	}
	pthread_mutex_unlock(&o->lock);
	return err;
}

int output_settle(struct output *o, int hurry_fd, uint64_t patience_ns)
{
	struct pollfd p[] = {{.fd = o->event_fd, .events = POLLIN},
			     {.fd = hurry_fd, .events = POLLIN}};
	uint64_t until = monotonic_ns() + patience_ns;

	if (settle_begin(o))
		return settle_end(o);
	for (;;) {
		uint64_t now = monotonic_ns();
		int left = -1;

		if (p[1].fd < 0)
			left = now < until ? (int)((until - now + 999999) / 1000000) : 0;
		poll(p, 2, left);
		if (p[0].revents || !left)
			return settle_end(o);
		if (p[1].fd >= 0 && p[1].revents) {
			p[1].fd = -1;
			until = monotonic_ns() + patience_ns;
		}
	}
}

int output_cut(struct output *o, struct output_rest *rest)
{
	int err;

	*rest = (struct output_rest){0};
	pthread_mutex_lock(&o->lock);
	err = o->whole ? 0 : o->error;
	if (!err) {
		while (o->q.nr > o->batch) {
			struct piece last = pieces_drop_last(&o->q);

			rest->pieces++;
			rest->weight += last.weight;
			rest->bytes += last.len;
		}
		if (o->error)
			event_clear(o->event_fd);
		o->error = 0;
		o->whole = false;
	}
	pthread_mutex_unlock(&o->lock);
	return err;
}

/* A signal that comes right before the write has no effect, so it is sent repeatedly. */
static bool thread_stop(struct output *o)
{
	const struct timespec nap = {.tv_nsec = STOP_EVERY_NS};
	uint64_t until = monotonic_ns() + STOP_FOR_NS;

	__atomic_store_n(&o->stop, true, __ATOMIC_RELAXED);
	event_raise(o->wake_fd);
	for (;;) {
		bool ended;

		pthread_mutex_lock(&o->lock);
		ended = o->ended;
		pthread_mutex_unlock(&o->lock);
		if (ended)
			return !pthread_join(o->thread, NULL);
		if (monotonic_ns() >= until)
			return false;
		pthread_kill(o->thread, OUTPUT_SIGNAL);
		nanosleep(&nap, NULL);
	}
}

void output_free(struct output *o)
{
	if (o && thread_stop(o))
		release(o);
}

/* The error was reported, or its caller reports it. Only one thread prints. */
static bool reported;

/* Return: 0 or a negative errno. */
static int stdout_finish(void)
{
	if (fflush(stdout))
		return -errno;
	if (!ferror(stdout))
		return 0;
	/*
	 * The error of an earlier write was not kept. Another write fails for the same reason, and
	 * gives errno.
	 */
	return write(STDOUT_FILENO, "\n", 1) < 0 ? -errno : -EIO;
}

int standard_output_finish(void)
{
	int err = stdout_finish();

	reported |= err;
	return err;
}

/* A signal's handler. Where the reader of a file is gone, the write fails and says so. */
static void is_closed(int signal)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
	const int err = errno;

	if (poll(&out, 1, 0) > 0 && out.revents & (POLLERR | POLLHUP))
		_exit(EXIT_SUCCESS);
	errno = err;
}

void standard_output_may_close(void)
{
	struct sigaction a = {.sa_handler = is_closed};

	sigaction(SIGPIPE, &a, NULL);
}

/* Called by exit(), which argp calls after it has printed a help text. */
static void stdout_check(void)
{
	int err = reported ? 0 : stdout_finish();

	if (!err)
		return;
	fprintf(stderr, "ntprof-bpf: cannot write to standard output: %s\n", strerror(-err));
	_exit(EXIT_FAILURE);
}

void standard_output_watch(void)
{
	atexit(stdout_check);
}
