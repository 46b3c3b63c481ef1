// SPDX-License-Identifier: GPL-2.0-only
/*
 * report --fio-iolog and --fio-job: every command of a recording is in an iolog, jobs do not write
 * unless that was asked for, and names and folders of others are left alone.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cli/recordings.h"
#include "cli/report_fio.h"

#define SEEN_MAX 4000

/* A read, write or sync: of a recording, or of an iolog. */
struct seen {
	uint64_t us;
	unsigned int op;
	uint64_t offset;
	unsigned int length;
};

static char folder[64], dir[80], job[80];
static struct seen asked[SEEN_MAX], replayed[SEEN_MAX];
static unsigned int nr_asked, nr_replayed;
static uint64_t first_ns;
static char text[1 << 19];

static int setup(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/ntprof-fio.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(dir, sizeof(dir), "%s/replay", folder);
	snprintf(job, sizeof(job), "%s/mix.fio", folder);
	return find_program(state);
}

static void remove_all(void)
{
	char path[400];
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(dir);
	unlink(job);
}

static int teardown(void **state)
{
	remove_all();
	return rmdir(folder);
}

static const char *read_text(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static const char *in_dir(const char *name)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_text(const char *path, const char *what)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(what, f);
	fclose(f);
}

/* Of the host's records: what an iolog has to have. */
static bool note(struct nt_record *r)
{
	uint64_t begin = r->points[NT_H_SUBMIT] ?: r->points[NT_H_QUEUE_RQ];

	if (r->op > NT_OP_FLUSH)
		return true;
	assert_true(nr_asked < SEEN_MAX);
	asked[nr_asked++] = (struct seen){.us = begin,
					  .op = r->op,
					  .offset = r->op == NT_OP_FLUSH ? 0 : r->slba * 512,
					  .length = r->op == NT_OP_FLUSH ? 0 : r->length};
	first_ns = begin < first_ns ? begin : first_ns;
	return true;
}

static int by_all(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->us != y->us)
		return x->us < y->us ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (int)x->op - (int)y->op;
}

/* Reads an iolog as read_iolog() of fio does. */
static void read_iolog(const char *name, const char *file)
{
	static const char *const words[] = {"read", "write", "sync"};
	unsigned int adds = 0, opens = 0;
	uint64_t last = 0;
	char *rest;

	read_text(in_dir(name));
	assert_int_equal(strncmp(text, "fio version 3 iolog\n", 20), 0);
	rest = text + 20;
	for (char *line; (line = strsep(&rest, "\n")) && *line;) {
		char path[257], word[257];
		unsigned long long us, offset;
		unsigned int length, op = 0;
		int nr =
			sscanf(line, "%llu %256s %256s %llu %u", &us, path, word, &offset, &length);

		assert_string_equal(path, file);
		assert_true(us && us >= last);
		last = us;
		if (nr == 3) {
			adds += !strcmp(word, "add");
			opens += !strcmp(word, "open");
			assert_int_equal(us, 1);
			continue;
		}
		assert_int_equal(nr, 5);
		assert_true(adds == 1 && opens == 1);
		while (strcmp(word, words[op]))
			assert_true(++op < ARRAY_SIZE(words));
		assert_true(nr_replayed < SEEN_MAX);
		replayed[nr_replayed++] = (struct seen){us, op, offset, length};
	}
}

static struct traffic_config two_queues(void)
{
	struct traffic_config c = traffic_of_one_queue();

	c.queue[1] = c.queue[0];
	c.queue[1].qid = c.queue[1].slot = 2;
	c.nr_queues = 2;
	c.commands = 2000;
	return c;
}

static void make(struct recording f[2], const struct traffic_config *c)
{
	nr_asked = nr_replayed = 0;
	first_ns = UINT64_MAX;
	recordings_make(f, c);
	qsort(asked, nr_asked, sizeof(asked[0]), by_all);
}

static void an_iolog_has_each_command_when_it_began(void **state)
{
	struct traffic_config c = two_queues();
	struct recording f[2] = {{.edit = note, .device = {"nvme7n1"}}};
	struct result r;

	make(f, &c);
	for (unsigned int both = 0; both < 2; both++) {
		nr_replayed = 0;
		RUN(&r, "report", f[0].path, both ? f[1].path : "--format=json", "--fio-iolog", dir,
		    "--fio-write", "--fio-device=/dev/nvme8n1", "--fio-pace=200%");
		assert_int_equal(r.status, 0);
		assert_contains(r.err, " WRITES to the device\n");
		read_iolog("queue-1.iolog", "/dev/nvme7n1");
		assert_in_range(nr_replayed, 500, 1500);
		read_iolog("queue-2.iolog", "/dev/nvme7n1");
		qsort(replayed, nr_replayed, sizeof(replayed[0]), by_all);
		assert_int_equal(nr_replayed, nr_asked);
		for (unsigned int i = 0; i < nr_asked; i++) {
			struct seen want = asked[i];

			want.us = 1 + (want.us - first_ns) / 1000;
			/* In the same microsecond the order is that of nanoseconds. */
			assert_int_equal(replayed[i].us, want.us);
			if (i && i + 1 < nr_asked && replayed[i - 1].us != want.us &&
			    replayed[i + 1].us != want.us) {
				assert_int_equal(replayed[i].op, want.op);
				assert_int_equal(replayed[i].offset, want.offset);
				assert_int_equal(replayed[i].length, want.length);
			}
		}
	}
	read_text(in_dir("replay.fio"));
	assert_contains(text, "# THIS WRITES to /dev/nvme8n1: what is there is lost.\n");
	assert_contains(text, "replay_redirect=/dev/nvme8n1\n");
	assert_contains(text, "replay_time_scale=200\n");
	assert_contains(text, "[queue-2]\nread_iolog=queue-2.iolog\niodepth=8\n");
	assert_lacks(text, "replay_skip");
	remove_all();
	recordings_free(f, 2);
}

static void nothing_is_written_unless_that_was_asked_for(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.device = {"nvme7n1"}}};
	struct result r;

	make(f, &c);
	RUN(&r, "report", f[0].path, "--fio-iolog", dir, "--fio-job", job, "--fio-pace", "fast");
	assert_int_equal(r.status, 0);
	assert_contains(r.err, ": in the folder, fio --readonly replay.fio\n");
	assert_contains(r.err, " that write or flush, as --fio-write is not given\n");
	assert_contains(r.err, " discard, of which the ranges are not recorded\n");
	read_text(in_dir("queue-1.iolog"));
	assert_contains(text, " read ");
	assert_lacks(text, " write ");
	assert_lacks(text, " sync ");
	read_text(in_dir("replay.fio"));
	assert_contains(text, "# It only reads.");
	assert_contains(text, "\nreplay_skip=write,trim\n");
	assert_contains(text, "\nreplay_no_stall=1\n");
	read_text(job);
	assert_contains(text, "\nrw=randread\n");
	assert_contains(text, "\nfilename=/dev/nvme7n1\n");
	assert_lacks(text, "rate_iops");
	RUN(&r, "report", f[0].path, "--fio-job", job, "--fio-write");
	assert_int_equal(r.status, 1);
	assert_string_equal(r.err,
			    "ntprof-bpf: --fio-write destroys what is on a disk: name it with "
			    "--fio-device\n");
	remove_all();
	recordings_free(f, 2);
}

static bool strange(struct nt_record *r)
{
	switch (r->cid % 8) {
	case 0:
		r->status = 0x281;
		break;
	case 1:
		r->op = NT_OP_WRITE_ZEROES;
		break;
	case 2:
		r->op = NT_OP_OTHER;
		break;
	case 3:
		r->flags |= NT_F_CANCELLED;
		break;
	case 4:
		r->slba = UINT64_MAX / 2;
		break;
	default:
		break;
	}
	return true;
}

static void a_name_of_a_recording_opens_nothing_but_a_disk(void **state)
{
	static const char *const names[] = {"../../etc/passwd", "nvme0n1 write 0 4096", "nvme+1n1",
					    "nvme0n1\n[x]",	"=\xe2\x80\xae",	"/dev/sda"};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		struct recording f[2] = {{.device = {names[i]}, .edit = strange}};

		make(f, &c);
		RUN(&r, "report", f[0].path, "--fio-iolog", dir, "--fio-job", job);
		assert_int_equal(r.status, 0);
		assert_contains(r.err, " that failed\n");
		assert_contains(r.err, " write_zeroes, for which an iolog has no word\n");
		assert_contains(r.err, " passthrough and others, for which an iolog has no word\n");
		assert_contains(r.err, " with no beginning, or with an LBA past all disks\n");
		assert_contains(read_text(in_dir("queue-1.iolog")),
				"\n1 /dev/ntprof-bpf/namespace-1 open\n");
		assert_lacks(text, "passwd");
		assert_lacks(text, "nvme");
		assert_contains(read_text(job), "\nfilename=${DEVICE}\n");
		remove_all();
		recordings_free(f, 2);
	}
}

static void only_a_replay_is_replaced(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.device = {"nvme7n1"}}};
	struct result r;
	char one[200];

	make(f, &c);
	for (unsigned int i = 0; i < 2; i++) {
		RUN(&r, "report", f[0].path, "--fio-iolog", dir);
		assert_int_equal(r.status, 0);
	}
	/* What an earlier one had more of goes. */
	snprintf(one, sizeof(one), "%s", in_dir("queue-7.iolog"));
	write_text(one, "fio version 3 iolog\n");
	RUN(&r, "report", f[0].path, "--fio-iolog", dir);
	assert_int_equal(r.status, 0);
	assert_int_equal(access(one, F_OK), -1);
	write_text(in_dir("mine"), "mine");
	RUN(&r, "report", f[0].path, "--fio-iolog", dir);
	assert_int_equal(r.status, 1);
	assert_contains(r.err,
			"it has mine in it, which is no part of a replay; take a new folder\n");
	assert_string_equal(read_text(in_dir("mine")), "mine");
	unlink(in_dir("mine"));
	/* An iolog of fio's own. */
	unlink(in_dir("replay.fio"));
	RUN(&r, "report", f[0].path, "--fio-iolog", dir);
	assert_int_equal(r.status, 1);
	assert_contains(r.err, "it has queue-1.iolog in it");
	remove_all();
	/* A link that leads elsewhere. */
	write_text(job, FIO_JOB_BEGINS);
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(symlink(job, in_dir("replay.fio")), 0);
	RUN(&r, "report", f[0].path, "--fio-iolog", dir);
	assert_int_equal(r.status, 1);
	assert_contains(r.err, "it has replay.fio in it");
	assert_string_equal(read_text(job), FIO_JOB_BEGINS);
	remove_all();
	write_text(job, "mine");
	RUN(&r, "report", f[0].path, "--fio-job", job);
	assert_int_equal(r.status, 1);
	assert_contains(r.err, "it is there already");
	RUN(&r, "report", f[0].path, "--fio-iolog", "/nowhere/more");
	assert_int_equal(r.status, 1);
	assert_string_equal(r.err,
			    "ntprof-bpf: --fio-iolog /nowhere/more: No such file or directory\n");
	remove_all();
	recordings_free(f, 2);
}

/* Runs a report that may write no file of more than @bytes. */
static void run_with_room(struct result *r, const char *recording, rlim_t bytes)
{
	struct rlimit all, less;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
	less = all;
	less.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
	RUN(r, "report", (char *)recording, "--fio-iolog", dir, "--fio-pace", "fast");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
}

static void an_earlier_replay_stays_until_the_new_one_is_written(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit = NULL}};
	char iolog[200], unfinished[210];
	static char before[sizeof(text)];
	struct result r;
	struct stat st;

	make(f, &c);
	snprintf(iolog, sizeof(iolog), "%s", in_dir("queue-1.iolog"));
	snprintf(unfinished, sizeof(unfinished), "%s.new", iolog);
	RUN(&r, "report", f[0].path, "--fio-iolog", dir);
	assert_int_equal(r.status, 0);
	assert_int_equal(stat(iolog, &st), 0);
	memcpy(before, read_text(iolog), sizeof(before));
	for (unsigned int killed = 0; killed < 2; killed++) {
		signal(SIGXFSZ, killed ? SIG_DFL : SIG_IGN);
		run_with_room(&r, f[0].path, (rlim_t)st.st_size - 1);
		signal(SIGXFSZ, SIG_DFL);
		assert_int_equal(r.status, killed ? 128 + SIGXFSZ : 1);
		if (!killed)
			assert_contains(r.err, "/replay: File too large\n");
		assert_int_equal(access(unfinished, F_OK), killed ? 0 : -1);
		assert_string_equal(read_text(iolog), before);
		assert_lacks(read_text(in_dir("replay.fio")), "replay_no_stall");
	}
	RUN(&r, "report", f[0].path, "--fio-iolog", dir, "--fio-pace", "fast");
	assert_int_equal(r.status, 0);
	assert_int_equal(access(unfinished, F_OK), -1);
	assert_contains(read_text(in_dir("replay.fio")), "\nreplay_no_stall=1\n");
	remove_all();
	/* Of the first one nothing stays. */
	signal(SIGXFSZ, SIG_IGN);
	run_with_room(&r, f[0].path, (rlim_t)st.st_size - 1);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(r.status, 1);
	assert_int_equal(access(dir, F_OK), -1);
	recordings_free(f, 2);
}

static bool only_flushes(struct nt_record *r)
{
	r->op = NT_OP_FLUSH;
	return true;
}

static void without_a_command_for_fio_nothing_is_left(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit = only_flushes}};
	struct result r;

	make(f, &c);
	RUN(&r, "report", f[0].path, "--fio-iolog", dir, "--fio-job", job);
	assert_int_equal(r.status, 1);
	assert_contains(r.err, "ntprof-bpf: there is nothing for fio: no reads\n  left out: ");
	assert_int_equal(access(dir, F_OK), -1);
	assert_int_equal(access(job, F_OK), -1);
	recordings_free(f, 2);
}

/*
 * Nor is anything made or removed by the way there, if it leads through what another user has put
 * in a folder that others may write to: the next moment it may lead elsewhere.
 */
static void a_way_of_another_user_is_not_gone(void **state)
{
	static const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit = NULL}};
	char way[100], ours[100], replay[120];
	struct result r;
	struct stat st;

	if (geteuid())
		skip();
	make(f, &c);
	snprintf(way, sizeof(way), "%s/way", folder);
	snprintf(ours, sizeof(ours), "%s/ours", folder);
	snprintf(replay, sizeof(replay), "%s/replay", way);
	assert_int_equal(chmod(folder, 01777), 0);
	assert_int_equal(mkdir(ours, 0755), 0);
	assert_int_equal(symlink("ours", way), 0);
	assert_int_equal(lchown(way, 1234, 1234), 0);
	assert_int_equal(utimensat(AT_FDCWD, ours, long_ago, 0), 0);
	RUN(&r, "report", f[0].path, "--fio-iolog", replay);
	assert_int_equal(r.status, 1);
	assert_contains(r.err, strerror(EPERM));
	assert_int_equal(stat(ours, &st), 0);
	assert_int_equal(st.st_mtim.tv_sec, long_ago[1].tv_sec);
	assert_int_equal(unlink(way), 0);
	assert_int_equal(rmdir(ours), 0);
	assert_int_equal(chmod(folder, 0700), 0);
	recordings_free(f, 2);
}

/* As a shell completes its name. */
static void a_slash_may_follow_the_name_of_the_folder(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit = NULL}};
	char slash[100];
	struct result r;

	make(f, &c);
	snprintf(slash, sizeof(slash), "%s//", dir);
	for (unsigned int i = 0; i < 2; i++) {
		RUN(&r, "report", f[0].path, "--fio-iolog", slash);
		assert_int_equal(r.status, 0);
		assert_int_equal(access(in_dir("queue-1.iolog"), F_OK), 0);
	}
	remove_all();
	recordings_free(f, 2);
}

/* On a full disk, nothing is left that would keep the folder from the next try. */
static void a_replay_that_cannot_be_written_leaves_nothing(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit = NULL}};
	struct rlimit all, limit;
	struct result r = {.status = 1};

	make(f, &c);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
	signal(SIGXFSZ, SIG_IGN);
	limit = all;
	for (limit.rlim_cur = 1 << 12; r.status; limit.rlim_cur += limit.rlim_cur / 8) {
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		RUN(&r, "report", f[0].path, "--fio-iolog", dir, "--format=csv");
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
		if (!r.status)
			break;
		assert_int_equal(r.status, 1);
		assert_contains(r.err, strerror(EFBIG));
		assert_int_equal(access(dir, F_OK), -1);
	}
	assert_int_equal(access(in_dir("queue-1.iolog"), F_OK), 0);
	remove_all();
	recordings_free(f, 2);
}

/* Half of the commands go on where another one ended. */
static bool mixed(struct nt_record *r)
{
	static uint64_t at;
	bool write = r->cid % 4 == 3;

	*r = (struct nt_record){.side = r->side,
				.cid = r->cid,
				.slot = r->slot,
				.gen = r->gen,
				.qid = r->qid,
				.cntlid = r->cntlid,
				.nsid = 1,
				.points = {[NT_H_SUBMIT] = r->points[NT_H_SUBMIT],
					   [NT_H_COMPLETE] = r->points[NT_H_COMPLETE]}};
	r->op = write ? NT_OP_WRITE : NT_OP_READ;
	r->opcode = write ? 1 : 2;
	r->shape = write ? NT_SHAPE_INLINE_WRITE : NT_SHAPE_READ;
	r->length = write ? 16384 : 4096;
	r->slba = at & 1 ? 8 * (at - 1) + 1000000 : 9999 * at;
	if (!write)
		at++;
	return true;
}

static bool large(struct nt_record *r)
{
	r->slba = 0;
	r->length = 3 << 20;
	return true;
}

/* fio takes a size of 0 for the whole device, and refuses one below that of a command. */
static void a_scaled_job_has_room_for_the_largest_command(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit = large, .device = {"nvme7n1"}}};
	struct result r;

	make(f, &c);
	RUN(&r, "report", f[0].path, "--fio-job", job, "--fio-scale", "1000000");
	assert_int_equal(r.status, 0);
	assert_contains(read_text(job), "\noffset=0m\nsize=3m\n");
	remove_all();
	recordings_free(f, 2);
}

static void the_job_has_the_mix_of_the_recording(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit = mixed, .device = {"nvme7n1"}}};
	unsigned int ratio = 0, depth = 0, reads = 0, writes = 0, runtime = 0;
	struct result r;

	c.commands = 2000;
	make(f, &c);
	RUN(&r, "report", f[0].path, "--fio-job", job, "--fio-write", "--fio-device=/dev/nvme8n1",
	    "--fio-scale", "2");
	assert_int_equal(r.status, 0);
	read_text(job);
	assert_contains(text, "\nfilename=/dev/nvme8n1\nrw=randrw\n");
	assert_contains(text, "\nbssplit=4096/100,16384/100\n");
	assert_int_equal(sscanf(strstr(text, "rwmixread="), "rwmixread=%u", &ratio), 1);
	assert_in_range(ratio, 60, 90);
	assert_int_equal(sscanf(strstr(text, "iodepth="), "iodepth=%u", &depth), 1);
	assert_in_range(depth, 2, 8);
	assert_int_equal(sscanf(strstr(text, "rate_iops="), "rate_iops=%u,%u", &reads, &writes), 2);
	assert_in_range(100 * reads / (reads + writes), ratio - 1, ratio + 1);
	assert_int_equal(sscanf(strstr(text, "runtime="), "runtime=%u", &runtime), 1);
	assert_int_equal(runtime, 1);
	remove_all();
	recordings_free(f, 2);
}

static void queues_and_namespaces_past_the_limit_are_counted(void **state)
{
	const struct fio_options o = {.iolog = dir};
	struct merge_connection c = {.target_stream = MERGE_NO_STREAM};
	struct nt_record r = {.op = NT_OP_READ, .opcode = 2, .length = 4096, .slot = 1, .gen = 1};
	struct places *p = places_new();
	struct queue_info q = {.slot = 1, .gen = 1};
	struct fio *f = fio_open(&o);
	char last[40];

	assert_non_null(f);
	assert_int_equal(places_queue(p, &q), 0);
	r.points[NT_H_SUBMIT] = 1000;
	r.points[NT_H_COMPLETE] = 2000;
	for (c.index = 0; c.index < FIO_QUEUES_MAX + 5; c.index++)
		assert_int_equal(fio_add(f, &c, &r, p, 0, 1), 0);
	c.index = 0;
	for (r.nsid = 1; r.nsid < FIO_NAMESPACES_MAX + 3; r.nsid++)
		assert_int_equal(fio_add(f, &c, &r, p, 0, 1), 0);
	assert_int_equal(fio_finish(f, NULL), 0);
	fio_free(f);
	read_text(in_dir("replay.fio"));
	assert_contains(text, "# left out: 5 commands of more queues than fit\n");
	assert_contains(text, "# left out: 3 commands of more namespaces than fit\n");
	snprintf(last, sizeof(last), "\n[queue-%u]\n", FIO_QUEUES_MAX);
	assert_contains(text, last);
	snprintf(last, sizeof(last), "queue-%u.iolog", FIO_QUEUES_MAX);
	assert_int_equal(access(in_dir(last), R_OK), 0);
	remove_all();
	places_free(p);
}

static void wrong_arguments_are_refused(void **state)
{
	static const char *const wrong[][2] = {
		{"--fio-device=nvme0n1", "--fio-device needs a path such as /dev/nvme1n1"},
		{"--fio-device=/dev/a b", "--fio-device needs a path"},
		{"--fio-device=/dev/a\nexec_prerun=x", "--fio-device needs a path"},
		{"--fio-device=/dev/a:b", "--fio-device needs a path"},
		{"--fio-pace=%", "--fio-pace %: give recorded, fast, or a percentage such as 200%"},
		{"--fio-pace=0%", "--fio-pace"},
		{"--fio-pace=quick", "--fio-pace quick: give recorded"},
		{"--fio-block=700", "--fio-block 700: a power of 2 from 512 on"},
		{"--fio-job=-", "--fio-job needs the name of a file"},
		{"--fio-iolog=", "--fio-iolog needs the name of a folder"},
	};
	struct result r;

	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		RUN(&r, "report", "x.ntp", "--fio-job=/nowhere/job", (char *)wrong[i][0]);
		assert_int_equal(r.status, EX_USAGE);
		assert_contains(r.err, wrong[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_iolog_has_each_command_when_it_began),
		cmocka_unit_test(nothing_is_written_unless_that_was_asked_for),
		cmocka_unit_test(a_name_of_a_recording_opens_nothing_but_a_disk),
		cmocka_unit_test(only_a_replay_is_replaced),
		cmocka_unit_test(an_earlier_replay_stays_until_the_new_one_is_written),
		cmocka_unit_test(without_a_command_for_fio_nothing_is_left),
		cmocka_unit_test(a_way_of_another_user_is_not_gone),
		cmocka_unit_test(a_slash_may_follow_the_name_of_the_folder),
		cmocka_unit_test(a_replay_that_cannot_be_written_leaves_nothing),
		cmocka_unit_test(the_job_has_the_mix_of_the_recording),
		cmocka_unit_test(a_scaled_job_has_room_for_the_largest_command),
		cmocka_unit_test(queues_and_namespaces_past_the_limit_are_counted),
		cmocka_unit_test(wrong_arguments_are_refused),
	};

	return cmocka_run_group_tests_name("report --fio", tests, setup, teardown);
}
