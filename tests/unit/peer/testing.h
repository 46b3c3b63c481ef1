/* SPDX-License-Identifier: GPL-2.0-only */
/* Common code of the tests of peers, which run real commands and wait for what they do. */
#ifndef NTPROF_PEER_TESTING_H
#define NTPROF_PEER_TESTING_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>

#include "core/array.h"
#include "core/time.h"
#include "peer/live_merge.h"
#include "streams.h"

/* Starting a command may take long on a busy machine. */
#define PATIENCE_NS 60000000000ULL

/* Commands run as the user who runs the test. */
static const struct peer_user myself;

static uint64_t give_up_ns;

static inline void be_patient(void)
{
	give_up_ns = monotonic_ns() + PATIENCE_NS;
}

/* Waits until @condition is true, and fails when time is up. */
#define WAIT_FOR(condition)                                                  \
	do {                                                                 \
		be_patient();                                                \
		while (!(condition)) {                                       \
			if (monotonic_ns() > give_up_ns)                     \
				fail_msg("never came true: %s", #condition); \
			poll(NULL, 0, 5);                                    \
		}                                                            \
	} while (0)

/* The same, while a live merge is read. */
#define READ_UNTIL(l, condition)                                             \
	do {                                                                 \
		be_patient();                                                \
		while (!(condition)) {                                       \
			struct pollfd ready = {live_merge_fd(l), POLLIN, 0}; \
			if (monotonic_ns() > give_up_ns)                     \
				fail_msg("never came true: %s", #condition); \
			poll(&ready, 1, 5);                                  \
			assert_int_equal(live_merge_ready(l), 0);            \
		}                                                            \
	} while (0)

static inline struct live_merge *start_as(const struct peer_user *user, char *source)
{
	struct live_merge *l = live_merge_new(NT_HOST, &source, 1, user);

	assert_non_null(l);
	return l;
}

static inline struct live_merge *start(char *source)
{
	return start_as(&myself, source);
}

static inline struct peer_about about(const struct live_merge *l)
{
	struct peer_about a;

	peer_about(live_merge_peer(l, 0), &a);
	return a;
}

/* The last line that begins with @beginning, without that beginning; NULL if there is none. */
static inline const char *said(const struct live_merge *l, const char *beginning)
{
	const struct messages *m = about(l).messages;

	for (uint64_t i = m->nr; i--;) {
		const char *line = messages_line(m, i);

		if (line && !strncmp(line, beginning, strlen(beginning)) &&
		    (m->ended || i != m->nr - 1))
			return line + strlen(beginning);
	}
	return NULL;
}

/* The process id in the command's line "@what NUMBER". */
static inline pid_t pid_said(const struct live_merge *l, const char *what)
{
	const char *text = said(l, what);

	return text ? (pid_t)strtol(text, NULL, 10) : 0;
}

/* A process that has ended and was not waited for counts as gone. */
static inline bool process_gone(pid_t pid)
{
	char path[64], text[512] = "", *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return true;
	state = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
	fclose(f);
	return !state || state[2] == 'Z' || state[2] == 'X';
}

#endif /* NTPROF_PEER_TESTING_H */
