/* SPDX-License-Identifier: GPL-2.0-only */
/* A peer whose command does what the test tells it to. */
#ifndef NTPROF_PEER_DRIVEN_H
#define NTPROF_PEER_DRIVEN_H

#include "peer/testing.h"

#include <fcntl.h>

#include "peer/starter.h"

/* Each run of the command reads one line of shell from @go. */
static struct {
	int go[2];
	char source[128];
	struct starter *starter;
	struct peer *p;
	unsigned int events;
} run;

static inline int on_event(void *context, const struct stream_event *e)
{
	run.events++;
	return 0;
}

static inline int read_some(void)
{
	return peer_read(run.p, on_event, NULL, UINT64_MAX);
}

static inline struct peer_about told(void)
{
	struct peer_about a;

	peer_about(run.p, &a);
	return a;
}

static inline int setup(void **state)
{
	char *source = run.source;

	memset(&run, 0, sizeof(run));
	assert_int_equal(pipe2(run.go, O_CLOEXEC), 0);
	snprintf(run.source, sizeof(run.source), "go=/proc/%d/fd/%d; read x <$go; eval \"$x\"",
		 (int)getpid(), run.go[0]);
	run.starter = starter_new(&source, 1, &myself);
	assert_non_null(run.starter);
	run.p = peer_new_lasting(source, NT_TARGET, run.starter, 0);
	assert_non_null(run.p);
	return 0;
}

static inline int teardown(void **state)
{
	peer_free(run.p);
	starter_free(run.starter);
	close(run.go[0]);
	close(run.go[1]);
	return 0;
}

/* The present run does this. With STEP in it, it waits there for goes_on(). */
#define STEP "; read y <$go; "
static inline void does(const char *shell)
{
	assert_int_equal(write(run.go[1], shell, strlen(shell)), (ssize_t)strlen(shell));
	assert_int_equal(write(run.go[1], "\n", 1), 1);
}

static inline void goes_on(void)
{
	assert_int_equal(write(run.go[1], "\n", 1), 1);
}

/* It writes the content of @fd, then it does @then. */
static inline void sends(int fd, const char *then)
{
	char line[256];

	snprintf(line, sizeof(line), "cat /proc/%d/fd/%d; %s", (int)getpid(), fd, then);
	does(line);
}

/* Whether it has said so many complete lines. */
static inline bool has_said(uint64_t lines)
{
	const struct messages *m;

	read_some();
	m = told().messages;
	return m->nr == lines && m->ended;
}

static inline void starts_again(void)
{
	assert_int_equal(peer_restart(run.p), 0);
}

static inline void reads_to_its_end(void)
{
	WAIT_FOR((read_some(), peer_gone(run.p)));
}

static inline int stream_of(const struct bytes *b)
{
	return file_of(b->p, b->n);
}

/* A header and nothing else. */
static inline int header_of(enum nt_side side)
{
	int fd = file_make();
	struct stream_header h = header;
	struct stream_writer *w;

	h.side = side;
	w = stream_writer_new(fd, &h);
	assert_non_null(w);
	assert_int_equal(stream_flush(w), 0);
	stream_writer_free(w);
	return fd;
}

static inline struct stream_losses losses_of(uint64_t first, uint64_t unknown)
{
	struct stream_losses l = {.unknown = unknown};

	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		l.count[i] = first + i;
	return l;
}

/* The stream has losses twice, the second time with all until then. */
static inline int losing_stream(bool ends)
{
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);

	must_write(w, clock_event());
	must_write(w, (struct stream_event){.type = STREAM_LOSSES, .losses = losses_of(1, 2)});
	must_write(w, (struct stream_event){.type = STREAM_LOSSES, .losses = losses_of(10, 5)});
	if (ends)
		must_write(w, (struct stream_event){.type = STREAM_END,
						    .end = {.losses = losses_of(100, 7)}});
	assert_int_equal(stream_flush(w), 0);
	stream_writer_free(w);
	return fd;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif /* NTPROF_PEER_DRIVEN_H */
