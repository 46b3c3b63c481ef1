// SPDX-License-Identifier: GPL-2.0-only
#include "merge/spool.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "core/array.h"

/* Commands of a run that are in memory while it is read. */
#define BUFFERED 128u

_Static_assert(sizeof(struct spool_command) == 32, "as in the limits of the header");

/**
 * struct run - commands that lie sorted in the file
 * @key: when its next command began; first, because runs are a heap
 * @at: number of its next command in the file, and @end of the one behind its last
 * @buffer: @nr commands up to @at, of which @next is the next one
 */
struct run {
	uint64_t key;
	uint64_t at;
	uint64_t end;
	unsigned int nr;
	unsigned int next;
	struct spool_command *buffer;
};

struct spool {
	int fd;
	uint64_t written;
	unsigned int nr;
	struct run *runs;
	size_t nr_runs;
	size_t left; /* runs that are not read to their end: a heap */
	struct spool_command command[SPOOL_RUN];
};

struct spool *spool_new(int fd)
{
	struct spool *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	s->fd = fd;
	s->written = 0;
	s->nr = 0;
	s->runs = NULL;
	s->nr_runs = s->left = 0;
	return s;
}

static int by_begin(const void *a, const void *b)
{
	const struct spool_command *x = a, *y = b;

	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static int write_all(int fd, const void *data, size_t size, off_t at)
{
	const char *p = data;

	while (size) {
		ssize_t n = pwrite(fd, p, size, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_run(struct spool *s)
{
	size_t size = s->nr * sizeof(s->command[0]);
	struct run *run;
	int err;

	if (!s->nr)
		return 0;
	qsort(s->command, s->nr, sizeof(s->command[0]), by_begin);
	err = write_all(s->fd, s->command, size, (off_t)(s->written * sizeof(s->command[0])));
	if (err)
		return err;
	run = ARRAY_INSERT(s->runs, s->nr_runs, s->nr_runs);
	if (!run)
		return -ENOMEM;
	*run = (struct run){.at = s->written, .end = s->written + s->nr};
	s->written += s->nr;
	s->nr = 0;
	return 0;
}

int spool_add(struct spool *s, const struct spool_command *c)
{
	s->command[s->nr++] = *c;
	return s->nr == SPOOL_RUN ? write_run(s) : 0;
}

/* Return: 1, 0 if the run has ended, or a negative errno. */
static int refill(struct spool *s, struct run *run)
{
	size_t nr = run->end - run->at < BUFFERED ? (size_t)(run->end - run->at) : BUFFERED;
	size_t size = nr * sizeof(run->buffer[0]), got = 0;

	while (got < size) {
		ssize_t n = pread(s->fd, (char *)run->buffer + got, size - got,
				  (off_t)(run->at * sizeof(run->buffer[0]) + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		got += (size_t)n;
	}
	run->at += nr;
	run->nr = (unsigned int)nr;
	run->next = 0;
	if (nr)
		run->key = run->buffer[0].begin_ns;
	return nr > 0;
}

int spool_read(struct spool *s)
{
	int err = write_run(s);

	for (size_t i = 0; !err && i < s->nr_runs; i++) {
		struct run run = s->runs[i];

		run.buffer = malloc(BUFFERED * sizeof(*run.buffer));
		s->runs[i].buffer = run.buffer;
		if (!run.buffer)
			return -ENOMEM;
		err = refill(s, &run);
		if (err < 0)
			return err;
		heap_up(s->runs, s->left++, &run, sizeof(run), NULL);
		err = 0;
	}
	return err;
}

int spool_next(struct spool *s, struct spool_command *c)
{
	struct run run;
	int more = 1;

	if (!s->left)
		return 0;
	run = s->runs[0];
	*c = run.buffer[run.next++];
	if (run.next < run.nr)
		run.key = run.buffer[run.next].begin_ns;
	else
		more = refill(s, &run);
	if (more < 0)
		return more;
	if (!more) {
		/* Its place is the last one's, and it takes that place. */
		struct run last = s->runs[--s->left];

		s->runs[s->left] = run;
		if (s->left)
			heap_down(s->runs, s->left, 0, &last, sizeof(last), NULL);
	} else {
		heap_down(s->runs, s->left, 0, &run, sizeof(run), NULL);
	}
	return 1;
}

void spool_free(struct spool *s)
{
	for (size_t i = 0; s && i < s->nr_runs; i++)
		free(s->runs[i].buffer);
	if (s)
		free(s->runs);
	free(s);
}
