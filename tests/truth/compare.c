// SPDX-License-Identifier: GPL-2.0-only
/*
 * compare - what `report --compare` says of pairs of recordings whose truth is known.
 *
 *   compare [-v] [-k FOLDER] PROGRAM FIRST NUMBER [THEME]
 *
 * Makes NUMBER pairs of each theme, from seed FIRST on. -v prints each answer; -k keeps the
 * recordings of the last pair in FOLDER. Fails if less than 95 of 100 answers of a theme are right,
 * and more than one is wrong. The streams are written from docs/stream-format.md alone.
 */
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stream.h"

#define SECOND 1e9
#define EPOCH 1e14
#define WALL 1700000000000000000LL
#define TAGS 512
#define COMMANDS_MAX 400000
#define LINE_LEN 65536
/* The answer is not to depend on which stage it is; network_transmission is the way to the target.
 */
enum {
	BLK_SUBMISSION,
	NVME_TCP_SUBMISSION,
	NETWORK,
	NSTACK_SUBMISSION,
	NVMET_TCP_SUBMISSION,
	TARGET_SUBSYSTEM,
	NVMET_TCP_COMPLETION,
	NETWORK_BACK,
	NSTACK_COMPLETION,
	NVME_TCP_COMPLETION,
	BLK_COMPLETION,
	STAGES
};
static const struct {
	const char *name;
	double ns; /* on average; one half of it always */
} stages[STAGES] = {
	{"blk_submission", 3000},	 {"nvme_tcp_submission", 9000},
	{"network_transmission", 22000}, {"nstack_submission", 12000},
	{"nvmet_tcp_submission", 6000},	 {"target_subsystem", 80000},
	{"nvmet_tcp_completion", 5000},	 {"network_transmission", 20000},
	{"nstack_completion", 14000},	 {"nvme_tcp_completion", 5000},
	{"blk_completion", 4000},
};

/**
 * struct load - how a recording comes about
 * @rate: commands a second that begin at random times; 0: as many as @depth are always in flight
 * @shift: what is added to stage @at, on average
 * @bursts: some seconds are slow, and mostly the next one as well
 * @server: commands wait for one disk, of which each takes that long
 * @writes: share of them
 * @every: recorded for a second of so many; 0: all the time
 * @two: there is another host with another target, where nothing is added to any stage
 */
struct load {
	double seconds, rate, shift, server, writes, every;
	unsigned int depth, at;
	bool bursts, no_host, no_target, ends_only, two;
};

static uint64_t random_state;

static double uniform(void)
{
	uint64_t x = random_state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return (double)((x ^ x >> 31) >> 11) / (double)(1ULL << 53);
}

static double waiting(double mean)
{
	return -mean * log(1 - uniform());
}

/* One command of both sides, and when it ended. */
struct made {
	double end;
	struct command of[2];
};

static struct made made[COMMANDS_MAX];
static double free_at[TAGS];
static unsigned int uses[TAGS];

static int by_end(const void *a, const void *b)
{
	double x = ((const struct made *)a)->end, y = ((const struct made *)b)->end;

	return x < y ? -1 : x > y;
}

/* Some points of a command are missing on a target that has the ends only. */
static const unsigned int target_only_ends = 1 << T_RX | 1 << T_SEND_R2T | 1 << T_DATA_RX |
					     1 << T_DATA | 1 << T_EXEC | 1 << T_SEND | 1 << T_SENT |
					     1 << T_DATA_DONE;

static void run_command(struct made *m, const struct load *l, double at, bool write, double slow,
			double *server)
{
	struct command c = {.op = write ? OP_WRITE : OP_READ,
			    .opcode = write ? 1 : 2,
			    .shape = write ? SHAPE_INLINE_WRITE : SHAPE_READ,
			    .nsid = 1,
			    .length = write ? 8192 : 4096,
			    .qid = 1,
			    .cntlid = 1};
	double t[STAGES + 1] = {at};
	uint64_t *h = m->of[HOST].points, *p = m->of[TARGET].points;

	for (unsigned int i = 0; i < STAGES; i++) {
		double ns = stages[i].ns / 2 + waiting(stages[i].ns / 2);

		if (i == TARGET_SUBSYSTEM)
			ns *= slow;
		if (i == TARGET_SUBSYSTEM && l->server > 0) {
			double begins = t[i] > *server ? t[i] : *server;

			*server = begins + l->server / 2 + waiting(l->server / 2);
			ns = *server - t[i];
		}
		if (i == l->at)
			ns += l->shift * 2 * uniform();
		t[i + 1] = t[i] + ns;
	}
	c.lba = (uint64_t)(uniform() * 1e9) * 8;
	m->of[HOST] = m->of[TARGET] = c;
	m->end = t[STAGES];
#define AT(i, offset) ((uint64_t)(EPOCH + (offset) + t[i]))
	h[H_SUBMIT] = AT(0, 0);
	h[H_QUEUE_RQ] = AT(1, 0);
	h[H_SEND_CMD] = AT(2, 0);
	h[H_SENT_CMD] = AT(2, 100);
	h[H_RX] = AT(8, 0);
	if (!write)
		h[H_C2H] = AT(9, 0);
	h[H_CQE] = AT(write ? 9 : 10, 0);
	h[H_COMPLETE] = AT(11, 0);
	/* The target's clock is an hour ahead. */
	p[T_RX] = AT(3, 3600e9);
	p[T_CMD] = AT(4, 3600e9);
	p[T_EXEC] = AT(5, 3600e9);
	p[T_DONE] = AT(6, 3600e9);
	p[T_SEND] = AT(7, 3600e9);
	p[T_SENT] = AT(7, 3600e9 + 400);
	for (unsigned int i = 0; l->ends_only && i < POINTS; i++)
		if (target_only_ends & 1u << i)
			p[i] = 0;
}

/* Return: number of commands. */
static unsigned int run_load(const struct load *l)
{
	double at = 0, slow = 1, until = 0, server = 0;
	unsigned int nr = 0, tag = 0, tags = l->rate > 0 ? TAGS : l->depth;

	memset(free_at, 0, sizeof(free_at));
	while (nr < COMMANDS_MAX) {
		double begin;

		if (l->rate > 0) {
			at += waiting(SECOND / l->rate);
			tag = (tag + 1) % tags;
		} else {
			tag = 0;
			for (unsigned int i = 1; i < tags; i++)
				if (free_at[i] < free_at[tag])
					tag = i;
			at = free_at[tag] + waiting(2000);
		}
		begin = at > free_at[tag] ? at : free_at[tag];
		if (begin > l->seconds * SECOND)
			break;
		/* A slow time has 1.5 seconds, one between two of them 6, on average. */
		for (; l->bursts && begin > until; until += waiting(slow > 1 ? 1.5e9 : 6e9))
			slow = slow > 1 ? 1 : 2;
		run_command(&made[nr], l, begin, uniform() < l->writes, slow, &server);
		made[nr].of[HOST].cid = made[nr].of[TARGET].cid =
			(uint16_t)(tag | (uses[tag]++ % 16) << 12);
		free_at[tag] = made[nr].end + 1000;
		nr++;
	}
	qsort(made, nr, sizeof(*made), by_end);
	return nr;
}

static void write_burst(struct writer *w, double began, double ended)
{
	end_records(w);
	put(w, (uint64_t)began, 8);
	put(w, (uint64_t)ended, 8);
	end_frame(w, FRAME_BURST);
}

/* Whether a command began and ended in one burst, and in the current one. Return: 1, 0, or -1
 * behind it. */
static int in_burst(const struct load *l, const struct made *m, double burst)
{
	double begin = (double)m->of[HOST].points[H_SUBMIT] - EPOCH;

	if (l->every <= 0)
		return 1;
	return m->end > burst + l->every * SECOND ? -1 : begin >= burst && m->end <= burst + SECOND;
}

/* @which: the first or the second pair of machines */
static void write_stream(const struct load *l, unsigned int which, unsigned int side,
			 unsigned int nr, const char *path)
{
	static struct writer w;
	double tick = 0, burst = 0, offset = side == TARGET ? 3600e9 : 0;
	static const char *const names[][2] = {{"db1", "stor1"}, {"db2", "stor2"}};

	w = (struct writer){.f = fopen(path, "w")};
	if (!w.f) {
		perror(path);
		exit(2);
	}
	write_header(&w, side, names[which][side], 2 * which + side + 1,
		     side == TARGET && l->ends_only ? target_only_ends : 0);
	write_queue(&w, &made[0].of[side], 0, which ? "nqn.b" : "nqn.a", "nqn.h");
	for (unsigned int i = 0; i < nr; i++) {
		for (; tick <= made[i].end; tick += 0.2 * SECOND)
			write_clock(&w, (uint64_t)(EPOCH + offset + tick), WALL + (int64_t)tick);
		for (; in_burst(l, &made[i], burst) < 0; burst += l->every * SECOND)
			write_burst(&w, EPOCH + offset + burst, EPOCH + offset + burst + SECOND);
		if (in_burst(l, &made[i], burst))
			write_record(&w, &made[i].of[side]);
	}
	if (l->every > 0)
		write_burst(&w, EPOCH + offset + burst, EPOCH + offset + burst + SECOND);
	write_end(&w, (uint64_t)(EPOCH + offset + tick), WALL + (int64_t)tick, 0);
	fclose(w.f);
}

/* Appends the paths of a recording to a line of a shell. */
static void record(const struct load *l, unsigned int which, const char *folder, const char *when,
		   char *line)
{
	unsigned int nr = run_load(l);
	struct load other = *l;

	for (unsigned int side = HOST; side <= TARGET; side++) {
		size_t at = strlen(line);

		if (side == HOST ? l->no_host : l->no_target)
			continue;
		snprintf(line + at, LINE_LEN - at, " %s/%s.%s%s.ntp", folder, when,
			 side == HOST ? "host" : "target", which ? "2" : "");
		write_stream(l, which, side, nr, line + at + 1);
	}
	other.two = false;
	other.at = STAGES;
	if (l->two)
		record(&other, 1, folder, when, line);
}

/* What the answer has to be. */
struct expected {
	int status;
	char said[64];	  /* in the first line */
	const char *note; /* anywhere */
	bool calm;	  /* no figure has shifted, of any stage */
	const char *options;
};

static const struct load usual = {.seconds = 24, .rate = 900, .writes = 0.3, .at = STAGES};

#define TOTAL 180000.0

static void nothing_differs(struct load l[2], struct expected *e)
{
	e->calm = true;
	snprintf(e->said, sizeof(e->said), "no difference found");
}

/* 5 % of all stages together, in one of them. */
static void one_stage_is_slower(struct load l[2], struct expected *e)
{
	l[1].at = (unsigned int)(uniform() * STAGES);
	l[1].shift = 0.05 * TOTAL;
	e->status = 1;
	e->options = "--tolerance 2";
	snprintf(e->said, sizeof(e->said), "it is in %s (", stages[l[1].at].name);
}

static void one_stage_is_faster(struct load l[2], struct expected *e)
{
	l[0].at = (unsigned int)(uniform() * STAGES);
	l[0].shift = 0.05 * TOTAL;
	snprintf(e->said, sizeof(e->said), "it is in %s (", stages[l[0].at].name);
	e->note = " is faster: ";
}

static void slow_seconds_come_in_bursts(struct load l[2], struct expected *e)
{
	l[0].bursts = l[1].bursts = true;
	l[0].seconds = l[1].seconds = 90;
	l[0].rate = l[1].rate = 300;
	e->calm = true;
	snprintf(e->said, sizeof(e->said), "no difference found");
}

/* Twice as many commands wait for the same disk. */
static void the_load_differs(struct load l[2], struct expected *e)
{
	l[0].server = l[1].server = 200000;
	l[0].rate = 1500;
	l[1].rate = 3000;
	e->note = "the loads differ in IOPS";
	e->calm = true;
	snprintf(e->said, sizeof(e->said), "no difference found");
}

static void the_load_differs_and_the_disk_is_slower(struct load l[2], struct expected *e)
{
	l[0].server = 200000;
	l[1].server = 260000;
	l[0].rate = 1500;
	l[1].rate = 2400;
	e->status = 1;
	e->note = "the loads differ in IOPS";
	snprintf(e->said, sizeof(e->said), "it is in target_subsystem (target stor1)");
}

/* Then fewer commands begin in a second. That is no other load. */
static void a_slower_disk_lowers_the_rate_of_a_full_queue(struct load l[2], struct expected *e)
{
	l[0].rate = l[1].rate = 0;
	l[0].depth = l[1].depth = 2;
	l[0].seconds = l[1].seconds = 10;
	l[1].at = TARGET_SUBSYSTEM;
	l[1].shift = 0.2 * TOTAL;
	e->status = 1;
	snprintf(e->said, sizeof(e->said), "it is in target_subsystem (target stor1)");
}

static void one_is_recorded_in_bursts(struct load l[2], struct expected *e)
{
	l[1].every = 3;
	l[1].seconds = 60;
	e->calm = true;
	snprintf(e->said, sizeof(e->said), "no difference found");
}

static void one_of_two_targets_is_slower(struct load l[2], struct expected *e)
{
	l[0].two = l[1].two = true;
	l[1].at = TARGET_SUBSYSTEM;
	l[1].shift = 0.1 * TOTAL;
	e->status = 1;
	e->options = "--tolerance 2";
	snprintf(e->said, sizeof(e->said), "it is in target_subsystem (target stor1)");
}

static void the_recording_is_too_short(struct load l[2], struct expected *e)
{
	l[0].seconds = l[1].seconds = 3;
	e->status = 2;
	snprintf(e->said, sizeof(e->said), "nothing can be said: ");
}

static void only_one_has_the_target(struct load l[2], struct expected *e)
{
	l[0].no_target = true;
	l[1].at = NSTACK_COMPLETION;
	l[1].shift = 0.05 * TOTAL;
	e->status = 1;
	e->options = "--tolerance 1";
	e->note = "only the hosts' recordings are compared";
	snprintf(e->said, sizeof(e->said), "it is in nstack_completion (host db1)");
}

static void a_target_has_the_ends_only(struct load l[2], struct expected *e)
{
	l[1].ends_only = true;
	l[1].at = TARGET_SUBSYSTEM;
	l[1].shift = 0.08 * TOTAL;
	e->status = 1;
	e->options = "--tolerance 2";
	snprintf(e->said, sizeof(e->said), "+target_subsystem");
}

static void the_targets_alone_are_compared(struct load l[2], struct expected *e)
{
	l[0].no_host = l[1].no_host = l[1].ends_only = true;
	e->calm = true;
	snprintf(e->said, sizeof(e->said), "no difference found");
}

static const struct theme {
	const char *name;
	void (*make)(struct load l[2], struct expected *e);
} themes[] = {
#define THEME(name)         \
	{                   \
#name, name \
	}
	THEME(nothing_differs),
	THEME(one_stage_is_slower),
	THEME(one_stage_is_faster),
	THEME(slow_seconds_come_in_bursts),
	THEME(the_load_differs),
	THEME(the_load_differs_and_the_disk_is_slower),
	THEME(a_slower_disk_lowers_the_rate_of_a_full_queue),
	THEME(one_of_two_targets_is_slower),
	THEME(one_is_recorded_in_bursts),
	THEME(the_recording_is_too_short),
	THEME(only_one_has_the_target),
	THEME(a_target_has_the_ends_only),
	THEME(the_targets_alone_are_compared),
};
#define THEMES (sizeof(themes) / sizeof(themes[0]))

/* Return: whether the answer is right. */
static bool judge(const struct expected *e, const char *line, bool verbose)
{
	static char text[1 << 20];
	FILE *f = popen(line, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	int status = f ? pclose(f) : -1;
	char *rest;
	bool right;

	text[n] = 0;
	rest = strchr(text, '\n');
	if (rest)
		*rest++ = 0;
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
	right = status == e->status && strstr(text, e->said) &&
		(!e->calm || !rest || (!strstr(rest, "slower") && !strstr(rest, "faster"))) &&
		(!e->note || strstr(text, e->note) || (rest && strstr(rest, e->note)));
	if (verbose || !right)
		printf("# %s %d: %s\n", right ? "right" : "wrong", status, text);
	return right;
}

static bool run_pair(const struct theme *t, const char *program, const char *folder,
		     unsigned int seed, bool verbose)
{
	struct load l[2] = {usual, usual};
	struct expected e = {.options = ""};
	char line[LINE_LEN], files[2][LINE_LEN] = {"", ""};

	random_state = seed * 0x123456789ULL + (uint64_t)(t - themes) * 77777;
	t->make(l, &e);
	record(&l[0], 0, folder, "before", files[0]);
	record(&l[1], 0, folder, "after", files[1]);
	snprintf(line, sizeof(line), "COLUMNS=2000 '%s' report %s --compare %.2000s -- %.2000s",
		 program, e.options, files[0], files[1]);
	return judge(&e, line, verbose);
}

/* Intervals of 99 % hold in 99 of 100: one answer may be wrong of however few. */
static bool is_bad(unsigned int right, unsigned int nr)
{
	return nr - right > 1 && right * 100 < nr * 95;
}

int main(int argc, char **argv)
{
	char made_folder[] = "/tmp/compare-XXXXXX", *folder = NULL;
	bool verbose = false, failed = false;
	unsigned int first, nr, tests = 0;
	char name[64];
	int c;

	while ((c = getopt(argc, argv, "vk:")) != -1) {
		verbose |= c == 'v';
		folder = c == 'k' ? optarg : folder;
	}
	if (argc - optind < 3) {
		fprintf(stderr, "usage: compare [-v] [-k FOLDER] PROGRAM FIRST NUMBER [THEME]\n");
		return 2;
	}
	first = (unsigned int)strtoul(argv[optind + 1], NULL, 10);
	nr = (unsigned int)strtoul(argv[optind + 2], NULL, 10);
	if (!folder && !mkdtemp(made_folder)) {
		perror(made_folder);
		return 2;
	}
	for (unsigned int t = 0; t < THEMES; t++) {
		unsigned int right = 0;

		if (argc - optind > 3 && strcmp(argv[optind + 3], themes[t].name) != 0)
			continue;
		for (unsigned int i = 0; i < nr; i++)
			right += run_pair(&themes[t], argv[optind], folder ? folder : made_folder,
					  first + i, verbose);
		snprintf(name, sizeof(name), "%s", themes[t].name);
		for (char *at = name; (at = strchr(at, '_'));)
			*at = ' ';
		printf("%sok %u - %s: %u of %u\n", is_bad(right, nr) ? "not " : "", ++tests, name,
		       right, nr);
		fflush(stdout);
		failed |= is_bad(right, nr);
	}
	if (!folder) {
		char line[64];

		snprintf(line, sizeof(line), "rm -r %s", made_folder);
		c = system(line);
	}
	return failed;
}
