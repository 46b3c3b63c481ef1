/* SPDX-License-Identifier: GPL-2.0-only */
/* A recorder with made-up records, in a folder of its own. */
#ifndef NTPROF_KEEP_TESTING_H
#define NTPROF_KEEP_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/job.h"
#include "core/time.h"
#include "serve/recorder.h"
#include "serve/ring.h"

#define MS 1000000ULL
#define S 1000000000ULL
#define PATIENCE_NS (60 * S)
/* The lock file stays, as another process may be about to lock it. */
#define LOCK ".ntprof-bpf.host.lock"

static const struct stream_header header = {.side = NT_HOST, .source = "stock", .boot_id = "x"};

struct run {
	char folder[64];
	struct recorder *r;
	uint64_t records;
	char told[RECORDER_LINE_LEN];
	unsigned int lines;
	unsigned int heard; /* of @lines, by work() */
	unsigned int failures;
};

static inline void tell(void *context, bool failed, const char *line)
{
	struct run *v = context;

	snprintf(v->told, sizeof(v->told), "%s", line);
	v->lines++;
	v->failures += failed;
}

static inline struct recorder_options options_of(const struct run *v)
{
	return (struct recorder_options){
		.keep_ns = 3600 * S,
		.memory_bytes = RING_BYTES_MIN,
		.folder = v->folder,
		.files = 16,
		.disk_bytes = 1ULL << 30,
	};
}

static inline void begin_with(struct run *v, struct recorder_options *o)
{
	v->r = recorder_new(o, NT_HOST, tell, v);
	assert_non_null(v->r);
	recorder_begin(v->r, &header);
}

static inline int setup(void **state)
{
	struct run *v = calloc(1, sizeof(*v));

	/* However busy this machine is, its disk answers. */
	job_moment_ns = PATIENCE_NS;
	strcpy(v->folder, "/tmp/ntprof-keep.XXXXXX");
	*state = v;
	return mkdtemp(v->folder) ? 0 : -1;
}

static inline unsigned int each_file(const struct run *v, char first[PATH_MAX], uint64_t *bytes)
{
	struct dirent **names;
	int n = scandir(v->folder, &names, NULL, alphasort);
	unsigned int nr = 0;
	struct stat st;

	*bytes = 0;
	first[0] = '\0';
	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", v->folder, names[i]->d_name);
		if (strcmp(names[i]->d_name, LOCK) != 0 && !lstat(path, &st) &&
		    S_ISREG(st.st_mode)) {
			if (!nr++)
				strcpy(first, path);
			*bytes += (uint64_t)st.st_size;
		}
		free(names[i]);
	}
	free(names);
	return nr;
}

static inline int teardown(void **state)
{
	struct run *v = *state;
	char path[PATH_MAX];
	uint64_t bytes;

	recorder_free(v->r);
	while (each_file(v, path, &bytes))
		unlink(path);
	snprintf(path, sizeof(path), "%s/" LOCK, v->folder);
	unlink(path);
	rmdir(v->folder);
	free(v);
	return 0;
}

/* Adds a record as serve does; its number is its block address. */
static inline void record(struct run *v, unsigned int slot, uint64_t ns)
{
	const uint64_t now = monotonic_ns();
	struct nt_record r = {
		.side = NT_HOST,
		.op = NT_OP_READ,
		.cid = (uint16_t)v->records,
		.qid = 1,
		.cntlid = 1,
		.slot = slot,
		.gen = 1,
		.slba = v->records + 1,
		.points = {[NT_H_SUBMIT] = now - ns, [NT_H_COMPLETE] = now},
	};
	struct queue_info q = {.slot = slot, .gen = 1, .cntlid = 1, .qid = 1, .subsysnqn = "nqn.x"};

	v->records++;
	if (recorder_record(v->r, &r))
		recorder_queue(v->r, &q);
}

static inline void records(struct run *v, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		record(v, i % 7, MS);
}

/* Works until there is a line that no test has seen. */
static inline void work(struct run *v)
{
	const uint64_t until = monotonic_ns() + PATIENCE_NS;

	while (v->lines == v->heard) {
		assert_true(monotonic_ns() < until);
		recorder_work(v->r);
		usleep(200);
	}
	v->heard = v->lines;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif /* NTPROF_KEEP_TESTING_H */
