// SPDX-License-Identifier: GPL-2.0-only
#include "core/output.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/pieces.h"
#include "core/rights.h"
#include "core/time.h"

/* So much is handed over at once: what a pipe holds, unless somebody changed that. */
#define WRITE_MAX 65536
/* Frames and lines are mostly longer: of shorter ones the buffer does not take as many as there is room for. */
#define PIECE_USUAL 128
/* Ends a write() that waits for its reader; without SA_RESTART. */
#define OUTPUT_SIGNAL SIGRTMIN
/* How often that is sent, and how long in all: a write that the kernel does not let go is left alone. */
#define STOP_EVERY_NS 5000000ULL
#define STOP_FOR_NS 200000000ULL

/**
 * struct output - the buffer and its thread
 * @wake_fd: the thread has something to do
 * @event_fd: see output_event_fd(); also readable when @settling is over
 * @lock: protects all below
 * @q: what is not written yet
 * @batch: so many of @q, from the first on, the thread is writing
 * @sync_fd: see output_sync(); -1: nothing
 * @whole: after an error: what is written ends with a whole piece
 * @woken: @wake_fd tells the thread already
 * @settling: somebody waits until all is written
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
	(void)signal;
}

static void event_raise(int fd)
{
	const uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof(one));

	(void)n; /* fails only when 2^64 - 2 are waiting already */
}

static void event_clear(int fd)
{
	uint64_t n;
	ssize_t len = read(fd, &n, sizeof(n));

	(void)len; /* none is waiting: fine as well */
}

static bool stopped(const struct output *o)
{
	return __atomic_load_n(&o->stop, __ATOMIC_RELAXED);
}

/*
 * Takes the beginning of a piece off the end of a regular file, unless somebody else has written behind
 * it. Return: whether what is left ends with a whole piece.
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

/* Under the lock: @done bytes of the batch are written. Return: how many of them begin a piece. */
static size_t batch_done(struct output *o, size_t done)
{
	for (; o->batch && done >= pieces_at(&o->q, 0)->len; o->batch--) {
		done -= pieces_at(&o->q, 0)->len;
		o->written += pieces_at(&o->q, 0)->len;
		pieces_drop(&o->q);
	}
	return done;
}

/* Whether nobody is at the other end any more, of a pipe, a socket or a terminal. */
static bool reader_gone(int fd)
{
	struct pollfd p = {.fd = fd};

	return poll(&p, 1, 0) == 1 && p.revents & (POLLERR | POLLHUP);
}

/* Without the lock. @done: bytes written. Return: 0 or a negative errno. */
static int batch_write(struct output *o, struct iovec *iov, int parts, size_t *done)
{
	while (parts && !stopped(o)) {
		struct pollfd p = {.fd = o->fd, .events = POLLOUT};
		ssize_t n = writev(o->fd, iov, parts);

		if (n < 0 && errno == EINTR)
			continue;
		/* Somebody else has made it so. */
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

/* Under the lock. */
static bool idle(const struct output *o)
{
	return !o->q.nr && o->sync_fd < 0;
}

/* Without the lock. Return: 0 or a negative errno. */
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

/* Under the lock. */
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

/* Until there is something to write. A reader that goes is noticed meanwhile. */
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

	/* It writes to what is open, and nothing else. */
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
 * The thread takes no signals but its own, so that they reach who waits for them; and SIGTTOU, which stops
 * a program in the background that writes to a terminal of `stty tostop`.
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

/* Under the lock. */
static void wake(struct output *o)
{
	/* While it writes it looks for more by itself. */
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

/* Return: whether there is nothing to wait for. From then on until this is over @event_fd tells of that. */
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

/* The signal may come right before the write, so once is not enough. */
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
