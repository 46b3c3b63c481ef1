// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for what the flight recorder keeps, and when it writes that. The first line is
 * conditions of --when, what follows is four bytes each: what happens, and to what. Besides what
 * the sanitizers see, it asserts that each record is kept, left out or too old; that blocks are as
 * many as they may be, and are in order; that a condition that comes true is one of them, and does
 * so once in an interval; and that of the files that lie in its folder those of another name, side
 * or kind are never removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "asserts.h"
#include "core/hash.h"
#include "core/segments.h"
#include "core/time.h"
#include "real_read.h"
#include "serve/folder.h"
#include "serve/ring.h"
#include "serve/when.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEEP_NS 1000000000ULL
#define BLOCKS 4
/* Files that one input puts into the folder. */
#define FILES_MAX 24

/* A directory that only this process knows, in memory if there is one: a disk takes most of the
 * time. */
static char in_memory[] = "/dev/shm/ntprof-fuzz.XXXXXX";
static char on_disk[] = "/tmp/ntprof-fuzz.XXXXXX";
static const char *directory;
static int directory_fd = -1;

/* @ours: it may be removed to make room */
struct lying {
	char name[FOLDER_NAME_LEN + 16];
	bool ours;
	bool is_directory;
};

/* @passed_ns: of time that was made up; @old: records that were too old */
struct play {
	struct ring ring;
	struct when when;
	struct stats stats;
	struct stats_row *row;
	uint64_t passed_ns;
	uint64_t added;
	uint64_t old;
	struct folder folder;
	struct lying lying[FILES_MAX];
	unsigned int nr_lying;
};

static void leave(void)
{
	unlinkat(directory_fd, ".ntprof-bpf.host.lock", 0);
	rmdir(directory);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	directory = mkdtemp(in_memory) ?: mkdtemp(on_disk);
	ASSERT(directory);
	directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT(directory_fd >= 0);
	atexit(leave);
	return 0;
}

static uint64_t now_of(const struct play *p)
{
	return monotonic_ns() + p->passed_ns;
}

static void check_ring(struct play *p)
{
	struct ring *r = &p->ring;
	uint64_t kept = r->open ? r->open->records.records : 0, last = 0;
	unsigned int nr = !!r->open;

	for (const struct ring_block *b = r->oldest; b; b = b->next, nr++) {
		ASSERT(b->number > last && b->records.records && ring_from(r, last + 1) == b);
		last = b->number;
		kept += b->records.records;
	}
	ASSERT(kept == r->kept && nr == r->nr && ring_bytes(r) == nr * sizeof(struct ring_block));
	ASSERT(p->added == r->kept + r->left_out + p->old);
	ASSERT(HASH_COUNT(r->queues) <= RING_QUEUES_MAX &&
	       HASH_COUNT(r->devices) <= RING_DEVICES_MAX);
}

static void add(struct play *p, const uint8_t b[4])
{
	const uint64_t end = now_of(p);
	const struct nt_record rec = {
		.side = NT_HOST,
		.op = b[1] % NT_OPS_NR,
		.qid = b[1] >> 6,
		.cid = b[2],
		.cntlid = 1,
		.slot = b[3] % 16,
		.gen = b[3] >> 4,
		.slba = (uint64_t)b[2] << (b[3] % 56),
		.points = {[NT_H_SUBMIT] = end - (1ULL << (b[2] % 40)), [NT_H_COMPLETE] = end},
	};
	const struct when_condition *c = when_record(&p->when, &rec);
	struct queue_info q = {.slot = rec.slot, .gen = rec.gen, .cntlid = 1, .subsysnqn = "x"};
	unsigned int most = p->ring.nr > p->ring.max ? p->ring.nr : p->ring.max;

	if (c) {
		ASSERT(c >= p->when.condition && c < p->when.condition + p->when.nr);
		ASSERT(c->kind == WHEN_LATENCY && c->now && !c->before);
		ASSERT(record_latency_ns(&rec) > c->limit);
		ASSERT(!when_record(&p->when, &rec));
	}
	p->added++;
	if (ring_add(&p->ring, &rec, end))
		ASSERT(!ring_tell(&p->ring, &q));
	ASSERT(p->ring.nr <= most || p->ring.nr == 1);
}

static void age(struct play *p, uint64_t ns)
{
	uint64_t kept = p->ring.kept;

	p->passed_ns += ns;
	ring_age(&p->ring, now_of(p));
	ASSERT(p->ring.kept <= kept);
	p->old += kept - p->ring.kept;
}

static void interval(struct play *p, const uint8_t b[4])
{
	const struct when_condition *c;

	memset(&p->row->interval, 0, sizeof(p->row->interval));
	for (unsigned int i = 0; i < b[1]; i++)
		hist_count(&p->row->interval, 1ULL << (b[2] % 40));
	p->row->op = (enum nt_op)(b[3] % NT_OPS_NR);
	p->row->qid = b[3] >> 6;
	p->row->waiting.oldest_ns = 1ULL << (b[2] % 40);
	errors_begin_interval(&p->stats.errors);
	ASSERT(!errors_add(&p->stats.errors, "nvme0", "", b[3] >> 6, p->row->op, 1, b[2]));
	p->stats.seconds = b[3] / 16.0;
	c = when_interval(&p->when, &p->stats, now_of(p));
	ASSERT(!c || (c >= p->when.condition && c < p->when.condition + p->when.nr));
	ASSERT(!c || (c->kind != WHEN_LATENCY && c->before && !c->now));
}

/* A file of the recorder's, or what only looks like it. */
static void lie(struct play *p, const uint8_t b[4])
{
	static const char *const formats[] = {"host-%06u-20240131T235959Z.ntp",
					      "host-%018u-0.ntp",
					      "host-9%018u-0.ntp",
					      "target-%06u-20240131T235959Z.ntp",
					      "host-%u.ntp",
					      "host--%u-\x1b[2J.ntp",
					      "host-%u-x.ntp%n%s",
					      "host-%042u-x.ntpp"};
	const unsigned int which = b[1] % ARRAY_SIZE(formats),
			   number = (unsigned int)b[2] << b[3] % 24;
	struct lying *l = &p->lying[p->nr_lying];
	int fd;

	if (p->nr_lying == FILES_MAX)
		return;
	*l = (struct lying){.is_directory = b[1] >> 4 == 1};
	/* What the last but one has besides a number is a part of the name. */
	if (which == 6)
		snprintf(l->name, sizeof(l->name), "host-%u-x.ntp%%n%%s", number);
	else
		snprintf(l->name, sizeof(l->name), formats[which], number);
	if (l->is_directory) {
		if (mkdirat(directory_fd, l->name, 0700))
			return;
	} else if (b[1] >> 4 == 2) {
		if (symlinkat("/dev/zero", directory_fd, l->name))
			return;
	} else {
		fd = openat(directory_fd, l->name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
		if (fd < 0)
			return;
		ASSERT(!ftruncate(fd, (off_t)b[3] << 10));
		close(fd);
		l->ours = which < 2;
	}
	p->nr_lying++;
}

/* Opens the folder, or looks again; makes room for a file, and puts it there. */
static void use_folder(struct play *p, const uint8_t b[4])
{
	struct folder *f = &p->folder;
	const uint64_t bytes = (uint64_t)b[3] << 10;
	char name[FOLDER_NAME_LEN];
	struct stat st;
	int err, fd;

	f->files = 1 + b[1] % 8;
	f->bytes = (uint64_t)b[2] << 12;
	err = folder_open(f);
	ASSERT(!err);
	err = folder_make_room(f, bytes, bytes);
	ASSERT(!err || err == -EFBIG);
	if (!err) {
		ASSERT(f->nr < f->files && f->used + bytes <= f->bytes);
		folder_next(f, (int64_t)b[1] << 54, 0, name);
		fd = openat(directory_fd, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
		if (fd >= 0 && p->nr_lying < FILES_MAX) {
			ASSERT(!ftruncate(fd, (off_t)bytes));
			folder_add(f, directory_fd, name);
			p->lying[p->nr_lying] = (struct lying){.ours = true};
			strcpy(p->lying[p->nr_lying++].name, name);
		} else if (fd >= 0) {
			unlinkat(directory_fd, name, 0);
		}
		if (fd >= 0)
			close(fd);
	}
	for (unsigned int i = 0; i < p->nr_lying; i++)
		ASSERT(p->lying[i].ours ||
		       !fstatat(directory_fd, p->lying[i].name, &st, AT_SYMLINK_NOFOLLOW));
}

static void clear(struct play *p)
{
	folder_close(&p->folder);
	for (unsigned int i = 0; i < p->nr_lying; i++)
		unlinkat(directory_fd, p->lying[i].name,
			 p->lying[i].is_directory ? AT_REMOVEDIR : 0);
}

static void happen(struct play *p, const uint8_t b[4])
{
	struct device_name d = {.subsysnqn = "x", .instance = b[1], .nsid = b[2], .name = "y"};

	switch (b[0] % 10) {
	case 0:
		for (unsigned int i = 0; i <= b[1]; i++)
			add(p, b);
		break;
	case 1:
		ring_end_block(&p->ring);
		break;
	case 2:
		age(p, (uint64_t)b[1] * KEEP_NS / 64);
		break;
	case 3:
		ring_resize(&p->ring, KEEP_NS >> (b[2] % 8),
			    b[1] % BLOCKS * sizeof(struct ring_block));
		break;
	case 4:
		p->ring.reader = b[1];
		break;
	case 5:
		ASSERT(!ring_tell_device(&p->ring, &d));
		break;
	case 8:
		lie(p, b);
		break;
	case 9:
		use_folder(p, b);
		break;
	default:
		interval(p, b);
	}
	check_ring(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	struct play p = {.folder = {.side = NT_HOST, .fd = -1, .lock_fd = -1}};
	char *text;
	size_t at;

	if (!end)
		return 0;
	text = strndup((const char *)data, (size_t)(end - data));
	ASSERT(text);
	when_parse(&p.when, text, &at);
	free(text);
	strcpy(p.folder.path, directory);
	ASSERT(!ring_init(&p.ring, KEEP_NS, BLOCKS * sizeof(struct ring_block)));
	p.row = stats_row(&p.stats, "nvme0", "", 1, NT_OP_READ, false);
	ASSERT(p.row);
	for (const uint8_t *b = end + 1; data + size - b >= 4; b += 4)
		happen(&p, b);
	clear(&p);
	stats_free(&p.stats);
	when_free(&p.when);
	ring_free(&p.ring);
	return 0;
}
