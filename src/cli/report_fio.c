// SPDX-License-Identifier: GPL-2.0-only
#include "cli/report_fio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/verbs.h"
#include "core/array.h"
#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"
#include "core/trust.h"
#include "merge/spool.h"

#define JOB "replay.fio"
#define IOLOG_BEGINS "fio version 3 iolog\n"
/*
 * Names of files: JOB, and "queue-N.iolog"; with NEW behind them until all are written. The spool
 * has none any more when it is written.
 */
#define NAME_LEN 48
#define NEW ".new"
#define SPOOL ".ntprof-bpf.spool"
/* fio reads at most 256 characters of a file's name, without white space. */
#define FILE_LEN 256
/* The most commands in flight of one queue: the driver keeps the tag in 12 bits. */
#define IN_FLIGHT_MAX 4096u
/* fio takes so many sizes (BSSPLIT_MAX); commands of further ones are those of the last one. */
#define SIZES_MAX 64u
/* A command that begins where one of so many before it ended is part of a sequence. */
#define RECENT 8u

/* X(identifier, words): why a command is in no iolog. */
#define LEFT_OUT(X)                                                        \
	X(READ_ONLY, "that write or flush, as --fio-write is not given")   \
	X(FAILED, "that failed")                                           \
	X(TARGET, "that only the target has recorded")                     \
	X(DISCARD, "discard, of which the ranges are not recorded")        \
	X(ZEROES, "write_zeroes, for which an iolog has no word")          \
	X(OTHER, "passthrough and others, for which an iolog has no word") \
	X(ADMIN, "admin and fabrics")                                      \
	X(NO_TIME, "with no beginning, or with an LBA past all disks")     \
	X(QUEUES, "of more queues than fit")                               \
	X(NAMESPACES, "of more namespaces than fit")

#define ENUM_LEFT(id, words) LEFT_##id,
enum left { LEFT_OUT(ENUM_LEFT) LEFT_NR };
#define LEFT_WORDS(id, words) words,
static const char *const left_words[] = {LEFT_OUT(LEFT_WORDS)};

/**
 * struct fio_queue - a connection that has an iolog
 * @commands: in it
 * @nsid, @file: the namespace of its last command, and its number + 1; 0: none yet
 * @recent: where its last reads and writes ended, with the namespace's number in the upper bits
 * @f: its iolog while it is written
 * @opened: [file] the iolog has opened it
 * @ends: a heap: when the @in_flight commands end that are under way
 * @most: of them at a time
 */
struct fio_queue {
	char name[64];
	uint64_t commands;
	uint32_t nsid;
	unsigned int file;
	uint64_t recent[2][RECENT];
	unsigned int nr_recent[2];
	FILE *f;
	uint64_t *ends;
	unsigned int in_flight;
	unsigned int most;
};

/* A namespace, as @path of an iolog; @known: that is a disk which was recorded. */
struct fio_namespace {
	char path[FILE_LEN];
	bool known;
	uint32_t block_bytes;
};

/* Of one operation, NT_OP_READ or NT_OP_WRITE. */
struct mix {
	uint64_t commands;
	uint64_t in_sequence;
	struct {
		uint32_t bytes;
		uint64_t commands;
	} size[SIZES_MAX];
	unsigned int nr_sizes;
};

/**
 * struct fio - the state
 * @number: [index of a connection] number of its queue + 1; 0: none
 * @clock: [stream] what was added to its times first. A later correction would shift the pauses
 * @dir: the folder, or -1; @made: it did not exist
 * @way: where it lies, if it was made
 * @first_ns, @last_ns: from the first beginning to the last end
 * @busy_ns: latencies of all
 * @low, @high: bytes of namespaces that were used
 */
struct fio {
	const struct fio_options *o;
	int dir;
	struct trust_walk way;
	bool made;
	bool written;
	int spool_fd;
	struct spool *spool;
	unsigned int *number;
	size_t nr_numbers;
	struct {
		bool known;
		int64_t to_common;
	} * clock;
	size_t nr_clocks;
	struct fio_queue *queue;
	size_t nr_queues;
	struct fio_namespace *namespace;
	size_t nr_namespaces;
	uint64_t left[LEFT_NR];
	uint64_t replayed;
	uint64_t flushes;
	uint32_t sample;
	bool guessed;
	struct mix mix[2];
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t busy_ns;
	uint64_t low;
	uint64_t high;
};

_Static_assert(NT_OP_READ == 0 && NT_OP_WRITE == 1, "they are indices of a mix");

static void iolog_name(size_t queue, char name[NAME_LEN])
{
	snprintf(name, NAME_LEN, "queue-%zu.iolog", queue + 1);
}

/* Return: the number of its queue; FIO_QUEUES_MAX if it is no name of an iolog. */
static size_t queue_of_iolog(const char *name)
{
	char again[NAME_LEN];
	size_t n;

	if (sscanf(name, "queue-%zu", &n) != 1 || !n || n > FIO_QUEUES_MAX)
		return FIO_QUEUES_MAX;
	iolog_name(n - 1, again);
	return strcmp(name, again) ? FIO_QUEUES_MAX : n - 1;
}

static bool is_new(const char *name)
{
	size_t len = strlen(name);

	return len > sizeof(NEW) - 1 && !strcmp(name + len - (sizeof(NEW) - 1), NEW);
}

static bool is_regular(const struct fio *f, const char *name)
{
	struct stat st;

	return !fstatat(f->dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
}

static bool begins_like_ours(const struct fio *f)
{
	char begins[sizeof(FIO_JOB_BEGINS)];
	int fd = openat(f->dir, JOB, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, begins, sizeof(begins) - 1);

	if (fd >= 0)
		close(fd);
	return n == sizeof(begins) - 1 && !memcmp(begins, FIO_JOB_BEGINS, sizeof(begins) - 1);
}

/*
 * Calls for each entry of the folder until @each says no. Return: what it said of the last one;
 * @name is that
 */
static bool for_each_entry(const struct fio *f, bool (*each)(const struct fio *f, const char *name),
			   char *name)
{
	int fd = openat(f->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	bool good = entries;

	if (fd >= 0 && !entries)
		close(fd);
	while (good && (e = readdir(entries))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(name, NAME_MAX + 1, "%s", e->d_name);
		good = each(f, e->d_name);
	}
	if (entries)
		closedir(entries);
	return good;
}

static bool may_go(const struct fio *f, const char *name)
{
	char old[NAME_MAX + 1];

	snprintf(old, sizeof(old), "%s", name);
	if (is_new(old))
		old[strlen(old) - (sizeof(NEW) - 1)] = '\0';
	return (queue_of_iolog(old) < FIO_QUEUES_MAX || !strcmp(old, JOB)) && is_regular(f, name) &&
	       begins_like_ours(f);
}

/* A file that an unfinished replay has left. The first replay of a folder has no job yet. */
static bool unfinished_goes(const struct fio *f, const char *name)
{
	return !is_new(name) || !is_regular(f, name) || !unlinkat(f->dir, name, 0);
}

/* An iolog that the job does not name. */
static bool idle_goes(const struct fio *f, const char *name)
{
	size_t queue = queue_of_iolog(name);

	return queue == FIO_QUEUES_MAX || (queue < f->nr_queues && f->queue[queue].commands) ||
	       !may_go(f, name) || !unlinkat(f->dir, name, 0);
}

static int remove_each(const struct fio *f, bool (*goes)(const struct fio *f, const char *name))
{
	char name[NAME_MAX + 1];

	return for_each_entry(f, goes, name) ? 0 : -errno;
}

static int take_place(const struct fio *f, const char *name)
{
	char written[NAME_LEN + sizeof(NEW)];

	snprintf(written, sizeof(written), "%s" NEW, name);
	return renameat(f->dir, written, f->dir, name) ? -errno : 0;
}

/* All is written. The job is there at any time, because the folder is ours by it. */
static int replace_old(const struct fio *f)
{
	char name[NAME_LEN];
	int err = 0;

	for (size_t i = 0; !err && i < f->nr_queues; i++) {
		iolog_name(i, name);
		if (f->queue[i].commands)
			err = take_place(f, name);
	}
	return err ?: take_place(f, JOB) ?: remove_each(f, idle_goes);
}

/*
 * Makes the folder by a way that has been checked. By its path another user could have it made, and
 * a folder removed, anywhere.
 *
 * Return: 0 or a negative errno
 */
static int make_folder(struct fio *f)
{
	char path[PATH_MAX];
	size_t len = strlen(f->o->iolog);
	int err;

	if (len >= sizeof(path))
		return -ENAMETOOLONG;
	while (len > 1 && f->o->iolog[len - 1] == '/')
		len--;
	snprintf(path, sizeof(path), "%.*s", (int)len, f->o->iolog);
	err = trust_walk(&f->way, path, TRUST_NOT_PLANTED, false);
	if (err)
		return err;
	f->made = !mkdirat(f->way.fd, f->way.rest, 0777);
	return f->made ? 0 : -errno;
}

/* Return: 0, -ECANCELED after a message, or a negative errno. */
static int open_folder(struct fio *f)
{
	int err = trust_walk(&f->way, f->o->iolog, TRUST_NOT_PLANTED, true);
	char name[NAME_MAX + 1] = "";
	struct stat st;

	if (err == -ENOENT)
		err = make_folder(f);
	if (err)
		return err;
	f->dir = openat(f->way.fd, f->way.rest, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (f->dir < 0)
		return -errno;
	if (fstat(f->dir, &st) || !trust_uid(st.st_uid)) {
		message("--fio-iolog %s: the folder is another user's", f->o->iolog);
		return -ECANCELED;
	}
	if (!for_each_entry(f, may_go, name)) {
		message("--fio-iolog %s: it has %s in it, which is no part of a replay; take a new folder",
			f->o->iolog, name);
		return -ECANCELED;
	}
	/* Nothing is left of it, however this ends. */
	f->spool_fd =
		openat(f->dir, SPOOL, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (f->spool_fd < 0 || unlinkat(f->dir, SPOOL, 0))
		return -errno;
	f->spool = spool_new(f->spool_fd);
	return f->spool ? 0 : -ENOMEM;
}

struct fio *fio_open(const struct fio_options *o)
{
	struct fio *f;
	int err;

	if (o->write && !o->device) {
		message("--fio-write destroys what is on a disk: name it with --fio-device");
		return NULL;
	}
	f = calloc(1, sizeof(*f));
	err = f ? 0 : -ENOMEM;
	if (f) {
		f->o = o;
		f->dir = f->spool_fd = f->way.fd = -1;
		f->first_ns = f->low = UINT64_MAX;
	}
	if (!err && o->iolog)
		err = open_folder(f);
	if (!err)
		return f;
	if (err != -ECANCELED)
		message("--fio-iolog %s: %s", o->iolog ?: "", strerror(-err));
	fio_free(f);
	return NULL;
}

/* The name comes from a recording, and fio opens it as root: only names of disks are taken. */
static bool is_disk(const char *name)
{
	char again[FILE_LEN];
	unsigned int subsystem, head;

	if (!device_is_namespace(name, &subsystem, &head))
		return false;
	snprintf(again, sizeof(again), "nvme%un%u", subsystem, head);
	return !strcmp(again, name);
}

/* Return: its number + 1, 0 if there are too many, or -ENOMEM. */
static int namespace_of(struct fio *f, const struct nt_record *r, const struct places *places)
{
	const struct device_name *d = places_device_of(places, r);
	struct fio_namespace n = {.block_bytes = d ? d->block_bytes : 0};
	struct fio_namespace *new;

	n.known = d && r->side == NT_HOST && is_disk(d->name);
	if (n.known)
		snprintf(n.path, sizeof(n.path), "/dev/%s", d->name);
	else /* In a folder that there is not, so that nothing is opened or made. */
		snprintf(n.path, sizeof(n.path), "/dev/ntprof-bpf/namespace-%u", r->nsid);
	/* fio's replay_align takes nothing but powers of 2. */
	if (n.block_bytes < 512 || n.block_bytes > (1u << 20) ||
	    (n.block_bytes & (n.block_bytes - 1))) {
		n.block_bytes = f->o->block_bytes ?: FIO_BLOCK_BYTES;
		f->guessed |= !f->o->block_bytes;
	}
	for (size_t i = 0; i < f->nr_namespaces; i++)
		if (!strcmp(f->namespace[i].path, n.path) &&
		    f->namespace[i].block_bytes == n.block_bytes)
			return (int)i + 1;
	if (f->nr_namespaces == FIO_NAMESPACES_MAX)
		return 0;
	new = ARRAY_INSERT(f->namespace, f->nr_namespaces, f->nr_namespaces);
	if (!new)
		return -ENOMEM;
	*new = n;
	return (int)f->nr_namespaces;
}

/* Return: NULL with @err 0 if there are too many, or with -ENOMEM. */
static struct fio_queue *queue_of(struct fio *f, const struct merge_connection *c, int *err)
{
	struct fio_queue *q;

	*err = ARRAY_REACH(f->number, f->nr_numbers, c->index);
	if (*err)
		return NULL;
	if (f->number[c->index])
		return &f->queue[f->number[c->index] - 1];
	if (f->nr_queues == FIO_QUEUES_MAX)
		return NULL;
	q = ARRAY_INSERT(f->queue, f->nr_queues, f->nr_queues);
	if (!q) {
		*err = -ENOMEM;
		return NULL;
	}
	f->number[c->index] = (unsigned int)f->nr_queues;
	memset(q, 0, sizeof(*q));
	if (c->host_stream != MERGE_NO_STREAM)
		snprintf(q->name, sizeof(q->name), "nvme%u queue %u", c->host_instance, c->qid);
	else
		snprintf(q->name, sizeof(q->name), "cntlid %u queue %u", c->cntlid, c->qid);
	return q;
}

static void mix_add(struct fio *f, struct fio_queue *q, const struct spool_command *c)
{
	struct mix *m = &f->mix[c->op];
	uint64_t *recent = q->recent[c->op];
	/* Of an LBA's bytes, the highest 8 bits are not used. */
	uint64_t begin = c->offset | (uint64_t)c->file << 56, end = begin + c->length;
	unsigned int i = 0;

	m->commands++;
	f->low = c->offset < f->low ? c->offset : f->low;
	f->high = c->offset + c->length > f->high ? c->offset + c->length : f->high;
	while (i < m->nr_sizes && m->size[i].bytes != c->length)
		i++;
	if (i == SIZES_MAX)
		i--;
	else if (i == m->nr_sizes)
		m->size[m->nr_sizes++].bytes = c->length;
	m->size[i].commands++;
	for (i = 0; i < RECENT && recent[i] != begin; i++)
		;
	/* A sequence goes on in its own place; another one takes that of the oldest. */
	if (i < RECENT && q->nr_recent[c->op])
		m->in_sequence++;
	else
		i = q->nr_recent[c->op]++ % RECENT;
	recent[i] = end;
}

/* Return: LEFT_NR if an iolog can say it. */
static enum left why_not(const struct fio *f, const struct merge_connection *c,
			 const struct nt_record *r)
{
	bool writes = r->op == NT_OP_WRITE || r->op == NT_OP_FLUSH;

	if (r->op == NT_OP_ADMIN || r->op == NT_OP_FABRICS)
		return LEFT_ADMIN;
	if (r->side == NT_TARGET && c->host_stream != MERGE_NO_STREAM)
		return LEFT_TARGET;
	if (status_is_error(r->status) || r->flags & NT_F_CANCELLED)
		return LEFT_FAILED;
	if (r->op == NT_OP_DISCARD)
		return LEFT_DISCARD;
	if (r->op == NT_OP_WRITE_ZEROES)
		return LEFT_ZEROES;
	if (r->op > NT_OP_FLUSH || (r->op != NT_OP_FLUSH && !r->length))
		return LEFT_OTHER;
	/* Compare and its like are no writes, though they send data. */
	if ((r->op == NT_OP_READ && r->opcode != 2) || (r->op == NT_OP_WRITE && r->opcode != 1))
		return LEFT_OTHER;
	if (!record_begin_ns(r))
		return LEFT_NO_TIME;
	return writes && !f->o->write ? LEFT_READ_ONLY : LEFT_NR;
}

int fio_add(struct fio *f, const struct merge_connection *c, const struct nt_record *r,
	    const struct places *places, int64_t to_common, uint32_t sample)
{
	unsigned int stream = r->side == NT_HOST ? c->host_stream : c->target_stream;
	struct spool_command s = {
		.latency_ns = record_latency_ns(r),
		.length = r->op == NT_OP_FLUSH ? 0 : r->length,
		.op = r->op,
	};
	enum left why = why_not(f, c, r);
	struct fio_queue *q;
	uint64_t blocks;
	int err = 0;

	if (sample > f->sample)
		f->sample = sample;
	if (why != LEFT_NR) {
		f->left[why]++;
		return 0;
	}
	err = ARRAY_REACH(f->clock, f->nr_clocks, stream);
	if (err)
		return err;
	if (!f->clock[stream].known)
		f->clock[stream].to_common = to_common;
	f->clock[stream].known = true;
	s.begin_ns = record_begin_ns(r) + (uint64_t)f->clock[stream].to_common;
	q = queue_of(f, c, &err);
	if (!q) {
		f->left[LEFT_QUEUES] += !err;
		return err;
	}
	if (!q->file || q->nsid != r->nsid) {
		err = namespace_of(f, r, places);
		if (err < 0)
			return err;
		q->nsid = r->nsid;
		q->file = (unsigned int)err;
	}
	if (!q->file) {
		f->left[LEFT_NAMESPACES]++;
		return 0;
	}
	blocks = r->op == NT_OP_FLUSH ? 0 : r->slba;
	/* So that ends have room in 56 bits. */
	if (blocks >= (1ULL << 55) / f->namespace[q->file - 1].block_bytes) {
		f->left[LEFT_NO_TIME]++;
		return 0;
	}
	s.queue = (uint16_t)(q - f->queue);
	s.file = (uint8_t)(q->file - 1);
	s.offset = blocks * f->namespace[s.file].block_bytes;
	q->commands++;
	f->replayed++;
	f->flushes += r->op == NT_OP_FLUSH;
	f->busy_ns += s.latency_ns;
	f->first_ns = s.begin_ns < f->first_ns ? s.begin_ns : f->first_ns;
	if (s.begin_ns + s.latency_ns > f->last_ns)
		f->last_ns = s.begin_ns + s.latency_ns;
	if (r->op != NT_OP_FLUSH)
		mix_add(f, q, &s);
	return f->spool ? spool_add(f->spool, &s) : 0;
}

static FILE *create(struct fio *f, const char *name)
{
	char new[NAME_LEN + sizeof(NEW)];
	int fd;
	FILE *file;

	snprintf(new, sizeof(new), "%s" NEW, name);
	fd = openat(f->dir, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	file = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

static int finish_file(FILE *file, int err)
{
	if (!err && (fflush(file) || ferror(file)))
		err = -(errno ?: EIO);
	return fclose(file) && !err ? -errno : err;
}

static uint64_t left_sum(const struct fio *f)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < LEFT_NR; i++)
		sum += f->left[i];
	return sum;
}

/* A line for each reason, after @before. */
static void print_left_out(const struct fio *f, const char *before, FILE *to)
{
	for (unsigned int i = 0; i < LEFT_NR; i++)
		if (f->left[i])
			fprintf(to, "%sleft out: %" PRIu64 " commands %s\n", before, f->left[i],
				left_words[i]);
	if (f->sample > 1)
		fprintf(to, "%sthe recording has about one command in %u\n", before, f->sample);
	if (f->guessed)
		fprintf(to,
			"%sthe recording does not say how large a logical block is: taken as %u bytes; "
			"see --fio-block\n",
			before, FIO_BLOCK_BYTES);
}

static const char *switch_of(const struct fio *f)
{
	return f->o->write ? "" : "--readonly ";
}

static void print_warning(const struct fio *f, FILE *to)
{
	if (f->o->write)
		fprintf(to, "# THIS WRITES to %s: what is there is lost.\n", f->o->device);
	else
		fprintf(to, "# It only reads. fio's switch --readonly makes sure of that; see "
			    "--fio-write of ntprof-bpf report.\n");
}

/* Return: 0 or a negative errno. */
static int write_replay(struct fio *f)
{
	uint32_t align = FIO_BLOCK_BYTES;
	FILE *to = create(f, JOB);

	if (!to)
		return -errno;
	fprintf(to, FIO_JOB_BEGINS);
	fprintf(to, "# Replays %" PRIu64 " commands of %zu queues. In this folder: fio %s" JOB "\n",
		f->replayed, f->nr_queues, switch_of(f));
	print_warning(f, to);
	print_left_out(f, "# ", to);
	fprintf(to, "[global]\nioengine=libaio\ndirect=1\ngroup_reporting=1\n");
	if (!f->o->write)
		fprintf(to, "replay_skip=write,trim\n");
	if (f->o->pace == FIO_PACE_FAST)
		fprintf(to, "replay_no_stall=1\n");
	else if (f->o->pace)
		fprintf(to, "replay_time_scale=%u\n", f->o->pace);
	if (f->o->device)
		fprintf(to, "replay_redirect=%s\n", f->o->device);
	for (size_t i = 0; i < f->nr_namespaces; i++)
		if (f->namespace[i].block_bytes > align)
			align = f->namespace[i].block_bytes;
	if (f->o->scale > 1)
		fprintf(to, "replay_scale=%u\nreplay_align=%u\n", f->o->scale, align);
	for (size_t i = 0; i < f->nr_queues; i++) {
		const struct fio_queue *q = &f->queue[i];

		if (q->commands)
			fprintf(to,
				"\n# %s: %" PRIu64 " commands, at most %u in flight\n"
				"[queue-%zu]\nread_iolog=queue-%zu.iolog\niodepth=%u\n",
				q->name, q->commands, q->most, i + 1, i + 1, q->most ?: 1);
	}
	return finish_file(to, 0);
}

/* fio waits for the time between two lines, so all iologs have to begin at the same time. */
static int begin_iolog(struct fio *f, size_t i)
{
	struct fio_queue *q = &f->queue[i];
	char name[NAME_LEN];

	iolog_name(i, name);
	q->f = create(f, name);
	if (!q->f)
		return -errno;
	q->ends = calloc(IN_FLIGHT_MAX, sizeof(*q->ends));
	if (!q->ends)
		return -ENOMEM;
	fputs(IOLOG_BEGINS, q->f);
	for (unsigned int k = 0; k < 2; k++)
		for (size_t n = 0; n < f->nr_namespaces; n++)
			fprintf(q->f, "1 %s %s\n", f->namespace[n].path, k ? "open" : "add");
	return 0;
}

static void count_in_flight(struct fio_queue *q, const struct spool_command *c)
{
	uint64_t end = c->begin_ns + c->latency_ns;

	while (q->in_flight && q->ends[0] <= c->begin_ns) {
		uint64_t last = q->ends[--q->in_flight];

		if (q->in_flight)
			heap_down(q->ends, q->in_flight, 0, &last, sizeof(last), NULL);
	}
	if (q->in_flight < IN_FLIGHT_MAX)
		heap_up(q->ends, q->in_flight++, &end, sizeof(end), NULL);
	q->most = q->in_flight > q->most ? q->in_flight : q->most;
}

static int write_iologs(struct fio *f)
{
	static const char *const words[] = {
		[NT_OP_READ] = "read", [NT_OP_WRITE] = "write", [NT_OP_FLUSH] = "sync"};
	struct spool_command c;
	int err = spool_read(f->spool), got = 0;

	for (size_t i = 0; !err && i < f->nr_queues; i++)
		if (f->queue[i].commands)
			err = begin_iolog(f, i);
	while (!err && (got = spool_next(f->spool, &c)) > 0) {
		struct fio_queue *q = &f->queue[c.queue];

		count_in_flight(q, &c);
		fprintf(q->f, "%" PRIu64 " %s %s %" PRIu64 " %u\n",
			1 + (c.begin_ns - f->first_ns) / 1000, f->namespace[c.file].path,
			words[c.op], c.offset, c.length);
	}
	err = err ?: got;
	for (size_t i = 0; i < f->nr_queues; i++) {
		if (f->queue[i].f)
			err = finish_file(f->queue[i].f, err);
		f->queue[i].f = NULL;
	}
	return err;
}

static void print_sizes(const struct mix *m, FILE *to)
{
	uint64_t rest = 100;
	const char *colon = "";
	unsigned int most = 0;

	for (unsigned int i = 0; i < m->nr_sizes; i++)
		if (m->size[i].commands > m->size[most].commands)
			most = i;
	/* Sizes of less than 1 % are with the most frequent one. */
	for (unsigned int i = 0; i < m->nr_sizes; i++) {
		uint64_t percent = 100 * m->size[i].commands / m->commands;

		if (i == most || !percent)
			continue;
		rest -= percent;
		fprintf(to, "%s%u/%" PRIu64, colon, m->size[i].bytes, percent);
		colon = ":";
	}
	if (m->nr_sizes)
		fprintf(to, "%s%u/%" PRIu64, colon, m->size[most].bytes, rest);
}

/* Two figures, of reads and of writes; fio takes one for both if there is one only. */
static void print_rate(const struct fio *f, uint64_t ns, FILE *to)
{
	uint64_t pace = f->o->pace ?: 100, rate[2];

	if (f->o->pace == FIO_PACE_FAST)
		return;
	for (unsigned int i = 0; i < 2; i++) {
		double per_s = 1e7 * (double)f->mix[i].commands * (double)pace / (double)ns;

		rate[i] = f->mix[i].commands ? (uint64_t)(per_s + 0.5) ?: 1 : 0;
	}
	/* 0 would be no limit, and fio has no reads or no writes then. */
	fprintf(to, "rate_iops=%" PRIu64 ",%" PRIu64 "\n", rate[0] ?: rate[1], rate[1] ?: rate[0]);
}

static uint64_t largest(const struct mix *m)
{
	uint32_t bytes = 1;

	for (unsigned int i = 0; i < m->nr_sizes; i++)
		bytes = m->size[i].bytes > bytes ? m->size[i].bytes : bytes;
	return bytes;
}

static void write_mix(const struct fio *f, FILE *to)
{
	const struct mix *r = &f->mix[NT_OP_READ], *w = &f->mix[NT_OP_WRITE];
	uint64_t ns = f->last_ns > f->first_ns ? f->last_ns - f->first_ns : 1;
	uint64_t depth = (uint64_t)((double)f->busy_ns / (double)ns + 0.999), mib = 1 << 20;
	uint64_t all = r->commands + w->commands, scale = f->o->scale ?: 1;
	uint64_t low = f->low / scale / mib, high = (f->high / scale + mib - 1) / mib;
	uint64_t most = largest(r) > largest(w) ? largest(r) : largest(w);
	uint64_t least = (most + mib - 1) / mib;
	bool known = f->nr_namespaces == 1 && f->namespace[0].known;

	fprintf(to, FIO_JOB_BEGINS);
	fprintf(to,
		"# The mix of %" PRIu64
		" commands: sizes, operations, rate, commands in flight, and "
		"how many go on where another one ended.\n",
		f->replayed);
	print_warning(f, to);
	if (!f->o->device && !known)
		fprintf(to, "# DEVICE=/dev/nvmeXnY fio %s... says which disk.\n", switch_of(f));
	print_left_out(f, "# ", to);
	fprintf(to, "[mix]\nioengine=libaio\ndirect=1\nnorandommap=1\nfilename=%s\n",
		f->o->device
			?: known ? f->namespace[0].path
				 : "${DEVICE}");
	fprintf(to, "rw=%s\n", !w->commands ? "randread" : !r->commands ? "randwrite" : "randrw");
	if (r->commands && w->commands)
		fprintf(to, "rwmixread=%" PRIu64 "\n", (100 * r->commands + all / 2) / all);
	fprintf(to, "percentage_random=%" PRIu64 "\n",
		100 - 100 * (r->in_sequence + w->in_sequence) / all);
	fprintf(to, "bssplit=");
	print_sizes(r->commands ? r : w, to);
	fprintf(to, ",");
	print_sizes(w->commands ? w : r, to);
	fprintf(to, "\n");
	if (f->flushes && w->commands)
		fprintf(to, "fsync=%" PRIu64 "\n", w->commands / f->flushes ?: 1);
	fprintf(to, "iodepth=%" PRIu64 "\n",
		depth < 1		? 1
		: depth > IN_FLIGHT_MAX ? IN_FLIGHT_MAX
					: depth);
	print_rate(f, ns, to);
	/* The largest command needs room after scaling, and 0 would be the whole device. */
	fprintf(to, "offset=%" PRIu64 "m\nsize=%" PRIu64 "m\n", low,
		high - low > least ? high - low : least);
	fprintf(to, "time_based=1\nruntime=%" PRIu64 "\n", ns / 1000000000 ?: 1);
}

int fio_finish(struct fio *f, FILE *job)
{
	uint64_t reads_and_writes = f->mix[0].commands + f->mix[1].commands;
	int err = 0;

	if (!reads_and_writes) {
		message("there is nothing for fio: no reads%s", f->o->write ? " or writes" : "");
		print_left_out(f, "  ", stderr);
		return -ECANCELED;
	}
	if (f->spool) {
		err = remove_each(f, unfinished_goes)
			      ?: write_iologs(f) ?: write_replay(f) ?: replace_old(f);
		if (err) {
			remove_each(f, unfinished_goes);
			message("--fio-iolog %s: %s", f->o->iolog, strerror(-err));
			return -ECANCELED;
		}
		f->written = true;
	}
	if (job)
		write_mix(f, job);
	fprintf(stderr, "ntprof-bpf: %" PRIu64 " of %" PRIu64 " commands are for fio%s\n",
		f->replayed, f->replayed + left_sum(f),
		!f->spool     ? ""
		: f->o->write ? ": in the folder, fio " JOB " WRITES to the device"
			      : ": in the folder, fio --readonly " JOB);
	print_left_out(f, "  ", stderr);
	return 0;
}

void fio_free(struct fio *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->nr_queues; i++) {
		if (f->queue[i].f)
			fclose(f->queue[i].f);
		free(f->queue[i].ends);
	}
	spool_free(f->spool);
	if (f->spool_fd >= 0)
		close(f->spool_fd);
	if (f->dir >= 0)
		close(f->dir);
	if (f->made && !f->written)
		unlinkat(f->way.fd, f->way.rest, AT_REMOVEDIR);
	if (f->way.fd >= 0)
		close(f->way.fd);
	free(f->queue);
	free(f->number);
	free(f->clock);
	free(f->namespace);
	free(f);
}

enum { KEY_IOLOG = 0x100, KEY_JOB, KEY_WRITE, KEY_DEVICE, KEY_PACE, KEY_SCALE, KEY_BLOCK };

/* Return: whether it can stand in a job, and in an iolog. */
static bool is_path(const char *path)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789/._-+@=";

	return path[0] == '/' && strlen(path) < FILE_LEN && path[strspn(path, letters)] == '\0';
}

static uint32_t parse_pace(const struct argp_state *state, const char *arg)
{
	char number[16];
	size_t len = strnlen(arg, sizeof(number));

	if (!strcmp(arg, "fast"))
		return FIO_PACE_FAST;
	if (!strcmp(arg, "recorded"))
		return 0;
	if (len < 2 || len == sizeof(number) || arg[len - 1] != '%')
		options_error(state,
			      "--fio-pace %s: give recorded, fast, or a percentage such as "
			      "200%%",
			      arg);
	memcpy(number, arg, len - 1);
	number[len - 1] = '\0';
	return (uint32_t)options_count(state, "--fio-pace", number, FIO_PERCENT_MAX);
}

static error_t parse_fio(int key, char *arg, struct argp_state *state)
{
	struct fio_options *o = state->input;

	switch (key) {
	case KEY_IOLOG:
		if (!*arg)
			options_error(state, "--fio-iolog needs the name of a folder");
		o->iolog = arg;
		break;
	case KEY_JOB:
		if (!*arg || !strcmp(arg, "-"))
			options_error(state, "--fio-job needs the name of a file");
		o->job = arg;
		break;
	case KEY_WRITE:
		o->write = true;
		break;
	case KEY_DEVICE:
		if (!is_path(arg))
			options_error(state, "--fio-device needs a path such as /dev/nvme1n1");
		o->device = arg;
		break;
	case KEY_PACE:
		o->pace = parse_pace(state, arg);
		break;
	case KEY_SCALE:
		o->scale = (uint32_t)options_count(state, "--fio-scale", arg, FIO_SCALE_MAX);
		break;
	case KEY_BLOCK:
		o->block_bytes = (uint32_t)options_count(state, "--fio-block", arg, 1 << 20);
		if (o->block_bytes < 512 || (o->block_bytes & (o->block_bytes - 1)))
			options_error(state, "--fio-block %s: a power of 2 from 512 on", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option fio_options[] = {
	{"fio-iolog", KEY_IOLOG, "DIR", OPTION_ACTS,
	 "Also write the commands to folder DIR, with a job by which fio replays them",
	 SECTION_OUTPUT},
	{"fio-job", KEY_JOB, "FILE", OPTION_ACTS,
	 "Also write a job to FILE by which fio does as much: the same sizes, operations, rate and "
	 "commands in flight",
	 SECTION_OUTPUT},
	{"fio-write", KEY_WRITE, NULL, OPTION_ACTS,
	 "These jobs also write and flush, which destroys what is on the device; without it they only "
	 "read",
	 SECTION_OUTPUT},
	{"fio-device", KEY_DEVICE, "DEVICE", OPTION_ACTS,
	 "These jobs are for DEVICE, and not for the disk that was recorded", SECTION_OUTPUT},
	{"fio-pace", KEY_PACE, "PACE", 0,
	 "How fast: recorded (the default), fast, which is without a pause, or a percentage such as 200%",
	 SECTION_OUTPUT},
	{"fio-scale", KEY_SCALE, "N", 0, "For a smaller device: divide offsets by N",
	 SECTION_OUTPUT},
	{"fio-block", KEY_BLOCK, "BYTES", 0,
	 "Bytes of a logical block, where the recording does not say it (default 512)",
	 SECTION_OUTPUT},
	{0},
};

const struct argp fio_argp = {.options = fio_options, .parser = parse_fio};
