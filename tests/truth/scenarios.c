// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes scenarios with a known truth, lets the program report them, and compares:
 *
 *   scenarios [-k FOLDER] [-v] PROGRAM FIRST_SEED NUMBER
 *
 * A seed determines a scenario: hosts, targets, their clocks, what they do, and the records of it.
 * -k keeps the streams of the last seed in FOLDER; -v prints a line for each seed. The rule is that
 * no pair is wrong. The number of pairs that were found is counted.
 */
#include <sys/stat.h>

#include "judge.h"

/*
 * The subject of a scenario. All scenarios also have losses and similar trouble from time to time.
 */
#define THEMES(X)                                                            \
	X(RANDOM, "random addresses")                                        \
	X(LOOP, "a loop over some blocks")                                   \
	X(HOT, "few hot blocks")                                             \
	X(CRON, "one job on two hosts, some time apart")                     \
	X(APART, "recordings that do not overlap")                           \
	X(RUNS, "the host's recording of one run, the target's of the next") \
	X(JUMP, "a clock that jumps")                                        \
	X(TWO_HOSTS, "two hosts, one target")                                \
	X(TWO_TARGETS, "two targets of one identity")                        \
	X(STRANGER, "another host's target of the same identity")            \
	X(RECONNECT, "a reset")                                              \
	X(DRIFT, "clocks that drift apart")                                  \
	X(NO_GENERATION, "command ids without a generation")                 \
	X(REGULAR, "one block at regular times")                             \
	X(ONE_MACHINE, "host and target on one machine")                     \
	X(IN_STEP, "hosts in step, each with its target")
#define THEME_ENUM(id, what) THEME_##id,
enum theme { THEMES(THEME_ENUM) NR_THEMES };
#define THEME_WHAT(id, what) what,
static const char *const theme_what[] = {THEMES(THEME_WHAT)};

static struct machine *add_machine(struct scenario *s, unsigned int side)
{
	static struct recorded room[MACHINES_MAX][IDS];
	struct machine *m = &s->machine[s->nr_machines];

	m->r = room[s->nr_machines++];
	m->side = side;
	m->recorded = true;
	snprintf(m->name, sizeof(m->name), "%s-%u", side == HOST ? "host" : "target",
		 s->nr_machines);
	m->boot = s->nr_machines;
	m->offset = floor(uniform(-50000, 50000) * SECOND);
	m->ppm = uniform(-50, 50);
	/* Some wall clocks are set correctly, others are not. */
	m->wall_off = chance(0.5) ? uniform(-5, 5) * MS : uniform(-4000, 4000) * SECOND;
	m->until = 1000 * SECOND;
	m->from = -m->until;
	if (chance(0.3))
		m->loss = scale(0.001, 0.2);
	m->no_arrivals = chance(0.05);
	return m;
}

static struct job random_job(void)
{
	struct job j = {.sequence = next_random(&random_state),
			.writes = chance(0.5),
			.flushes = chance(0.2),
			.end = uniform(0.5, 4) * SECOND,
			.most = pick(150, 900)};

	if (chance(0.6))
		j.gap = scale(0.02 * MS, 5 * MS);
	return j;
}

static struct queue *add_queue(struct scenario *s, struct machine *host, struct machine *target,
			       const struct job *j)
{
	struct queue *q = &s->queue[s->nr_queues++];

	*q = (struct queue){.host = host,
			    .target = target,
			    .subsysnqn = "nqn.2024-01.org.example:one",
			    .hostnqn = "nqn.2014-08.org.nvmexpress:uuid:1",
			    .qid = 1,
			    .cntlid = 1,
			    .slot = {pick(1, 200), pick(1, 200)},
			    .gen = pick(1, 9),
			    .depth = chance(0.3) ? 1 : pick(1, DEPTH_MAX),
			    .lowest_tag = chance(0.5),
			    .no_generation = chance(0.1),
			    .job = *j,
			    .reset_at = 1e18,
			    .back_at = 1e18,
			    .network = scale(5000, 200000),
			    .device = scale(20000, 2 * MS)};
	return q;
}

/* Queues of one controller. They share the job's commands. */
static void add_queues(struct scenario *s, struct machine *host, struct machine *target,
		       const struct job *j, uint16_t cntlid)
{
	unsigned int nr = pick(1, 3), first = s->nr_queues;

	for (unsigned int i = 0; i < nr && s->nr_queues < QUEUES_MAX; i++) {
		struct queue *q = add_queue(s, host, target, j);

		q->qid = (uint16_t)(i + 1);
		q->slot[HOST] += 200 * (s->nr_queues);
		q->slot[TARGET] += 200 * (s->nr_queues);
		q->cntlid = cntlid;
		q->job.sequence += 1000003ULL * i;
		q->job.most /= nr;
		q->no_generation = s->queue[first].no_generation;
	}
}

static void look_alike(struct job *j)
{
	if (chance(0.5)) {
		j->blocks = (unsigned int)scale(1, 1024);
		j->in_order = chance(0.6);
	}
}

/*
 * Recordings of the same job without a common moment: the second one begins when the first one is
 * over.
 */
static void one_after_other(struct scenario *s, struct machine *host, struct machine *target,
			    const struct job *j)
{
	bool host_first = chance(0.5);
	double middle = j->end * uniform(0.3, 0.6);

	*(host_first ? &host->until : &target->until) = middle;
	*(host_first ? &target->from : &host->from) = middle + uniform(0, 100) * MS;
	add_queues(s, host, target, j, 1);
}

/* The same job runs twice. */
static void two_runs(struct scenario *s, struct machine *host, struct machine *target, struct job j)
{
	double later = j.end + uniform(1, 500) * MS;

	add_queues(s, host, target, &j, 1);
	for (unsigned int i = 0, nr = s->nr_queues; i < nr; i++) {
		struct queue *q = &s->queue[s->nr_queues++];

		*q = s->queue[i];
		q->job.start += later;
		q->job.end += later;
	}
	host->until = later;
	target->from = later;
}

/*
 * Hosts that are clones, each with its own target. The recordings may be of one host and of the
 * other one's target.
 */
static void one_job_twice(struct scenario *s, struct machine *host, struct machine *target,
			  struct job j)
{
	struct machine *host2 = add_machine(s, HOST), *target2 = add_machine(s, TARGET);

	add_queues(s, host, target, &j, 1);
	j.start = scale(0.1 * MS, SECOND);
	j.end += j.start;
	add_queues(s, host2, target2, &j, 1);
	host2->recorded = chance(0.3);
	target->recorded = chance(0.3);
}

/*
 * Two or three hosts that are clones do the same at the same time, each with its own target.
 * Devices and networks are so even that records of one host fit those of another one's target.
 * Hosts or targets may not have been recorded.
 */
static void in_step(struct scenario *s, struct machine *host, struct machine *target, struct job j)
{
	unsigned int queues, copies = pick(1, 2), side = pick(HOST, TARGET);

	j.gap = scale(0.1 * MS, 5 * MS);
	j.regular = 0;
	j.blocks = (unsigned int)scale(1, 256);
	add_queues(s, host, target, &j, 1);
	queues = s->nr_queues;
	for (unsigned int i = 0; i < queues; i++) {
		s->queue[i].network = scale(500, 20000);
		s->queue[i].device = scale(500, 20000);
	}
	for (unsigned int c = 0; c < copies; c++) {
		double later = scale(100, 3 * MS);

		host = add_machine(s, HOST);
		target = add_machine(s, TARGET);
		for (unsigned int i = 0; i < queues; i++) {
			struct queue *q = &s->queue[s->nr_queues++];

			*q = s->queue[i];
			q->host = host;
			q->target = target;
			q->job.start += later;
		}
	}
	for (unsigned int i = 0; i < s->nr_machines; i++)
		s->machine[i].recorded = s->machine[i].side != side || chance(0.5);
}

static void with_second_target(struct scenario *s, struct machine *host, struct machine *target,
			       const struct job *j)
{
	struct machine *target2 = add_machine(s, TARGET);
	struct job other = random_job();

	look_alike(&other);
	add_queues(s, host, target, j, 1);
	add_queues(s, s->theme == THEME_STRANGER ? add_machine(s, HOST) : host, target2, &other, 1);
	if (s->theme == THEME_STRANGER) {
		s->machine[3].recorded = false;
		target->recorded = chance(0.5);
	}
	for (unsigned int i = 0; i < s->nr_queues; i++)
		s->queue[i].instance = s->queue[i].target == target2;
}

static void with_second_host(struct scenario *s, struct machine *host, struct machine *target,
			     const struct job *j)
{
	struct job other = chance(0.5) ? *j : random_job();

	other.sequence += pick(0, 1);
	add_queues(s, host, target, j, 1);
	add_queues(s, add_machine(s, HOST), target, &other, 2);
}

static void reset_queues(struct scenario *s)
{
	double at = s->queue[0].job.end * 0.4;

	for (unsigned int i = 0; i < s->nr_queues; i++) {
		struct queue *q = &s->queue[i];

		q->reset_at = at;
		q->back_at = q->reset_at + 300 * MS;
		q->job.end += 300 * MS;
	}
}

/* The jump is a multiple of IDS, so that the numbers that records carry stay the same. */
static void let_jump(struct machine *m, double end)
{
	m->jump = IDS * floor(scale(10 * MS, 5 * SECOND) / IDS);
	m->jump_at = end * uniform(0.2, 0.8);
}

static struct job themed_job(unsigned int theme)
{
	struct job j = random_job();

	if (theme != THEME_RANDOM)
		look_alike(&j);
	if (theme == THEME_LOOP || theme == THEME_HOT || theme == THEME_NO_GENERATION) {
		j.blocks = (unsigned int)scale(1, theme == THEME_LOOP ? 1024 : 16);
		j.in_order |= theme == THEME_LOOP;
	}
	if (theme == THEME_REGULAR || theme == THEME_ONE_MACHINE) {
		j.blocks = 1;
		j.gap = scale(0.5 * MS, 5 * MS);
	}
	if (theme == THEME_REGULAR || theme == THEME_ONE_MACHINE || (j.gap && chance(0.3)))
		j.regular = scale(0.001, 1);
	return j;
}

static void connect_all(struct scenario *s, struct machine *host, struct machine *target,
			const struct job *j)
{
	switch (s->theme) {
	case THEME_CRON:
		one_job_twice(s, host, target, *j);
		break;
	case THEME_APART:
		one_after_other(s, host, target, j);
		break;
	case THEME_RUNS:
		two_runs(s, host, target, *j);
		break;
	case THEME_IN_STEP:
		in_step(s, host, target, *j);
		break;
	case THEME_TWO_HOSTS:
		with_second_host(s, host, target, j);
		break;
	case THEME_TWO_TARGETS:
	case THEME_STRANGER:
		with_second_target(s, host, target, j);
		break;
	default:
		add_queues(s, host, target, j, 1);
		break;
	}
}

/*
 * The difference between two clocks that NTP may steer, and sometimes what chronyd does to a clock
 * that is far off.
 */
static void let_drift(struct machine *m, struct machine *other)
{
	m->ppm = uniform(-500, 500);
	other->ppm = -m->ppm;
	if (chance(0.2))
		m->ppm = uniform(-100000, 100000);
}

/*
 * Both have one boot id. The target may be a copy of the host's virtual machine; then they have two
 * clocks.
 */
static void on_one_machine(const struct machine *host, struct machine *target)
{
	target->boot = host->boot;
	if (chance(0.3))
		return;
	target->offset = host->offset;
	target->ppm = host->ppm;
	target->wall_off = host->wall_off;
}

/* Of the jobs on several hosts, half are in step. */
static unsigned int theme_of(uint64_t seed)
{
	unsigned int theme = (unsigned int)(seed % THEME_IN_STEP);

	return theme == THEME_CRON && seed / THEME_IN_STEP % 2 ? THEME_IN_STEP : theme;
}

static void set_up(struct scenario *s, uint64_t seed)
{
	struct machine *host = add_machine(s, HOST), *target = add_machine(s, TARGET);
	struct job j;

	s->theme = theme_of(seed);
	j = themed_job(s->theme);
	connect_all(s, host, target, &j);
	if (s->theme == THEME_RECONNECT)
		reset_queues(s);
	if (s->theme == THEME_JUMP)
		let_jump(chance(0.5) ? host : target, j.end);
	if (s->theme == THEME_DRIFT)
		let_drift(host, target);
	if (s->theme == THEME_ONE_MACHINE)
		on_one_machine(host, target);
	for (unsigned int i = 0; s->theme == THEME_NO_GENERATION && i < s->nr_queues; i++)
		s->queue[i].no_generation = true;
	if (s->theme == THEME_NO_GENERATION)
		host->loss = scale(0.001, 0.2);
	if (chance(0.1))
		(chance(0.5) ? host : target)->id_at = j.end * uniform(0, 1.2);
	if (chance(0.1)) {
		target->gap_from = j.end * uniform(0.1, 0.8);
		target->gap_until = target->gap_from + scale(MS, 500 * MS);
	}
}

static void run_seed(uint64_t seed, const char *program, const char *folder, struct scenario *s,
		     struct result *r)
{
	char path[256];

	memset(s, 0, sizeof(*s));
	*r = (struct result){0};
	random_state = seed * 0x2545f4914f6cdd1d;
	set_up(s, seed);
	for (unsigned int i = 0; i < s->nr_queues; i++)
		run_queue(s, &s->queue[i]);
	for (unsigned int i = 0; i < s->nr_machines; i++) {
		struct machine *m = &s->machine[i];

		if (!m->recorded)
			continue;
		qsort(m->r, m->nr, sizeof(*m->r), by_end);
		snprintf(path, sizeof(path), "%s/%s.ntp", folder, m->name);
		write_stream(s, m, path);
	}
	report(s, program, folder, chance(0.5), r);
}

static void print_seed(uint64_t seed, const struct scenario *s, const struct result *r)
{
	const struct queue *q = &s->queue[0];

	printf("# seed %lu, %s: %lu wrong, %lu right of %lu that both have, %lu rows broken; "
	       "blocks %u%s, gap %.3f ms, regular %.3f, depth %u%s\n",
	       seed, theme_what[s->theme], r->wrong, r->right, r->both, r->broken, q->job.blocks,
	       q->job.in_order ? " in order" : "", q->job.gap / MS, q->job.regular, q->depth,
	       q->no_generation ? ", no generation" : "");
}

static void remove_streams(const char *folder)
{
	static const char *const sides[] = {"host", "target"};
	char path[256];

	for (unsigned int i = 0; i < 2 * MACHINES_MAX; i++) {
		snprintf(path, sizeof(path), "%s/%s-%u.ntp", folder, sides[i % 2], i / 2 + 1);
		unlink(path);
	}
	rmdir(folder);
}

/* Sums over all scenarios, and by theme. */
static struct result all, of[NR_THEMES];

static void sum_up(struct result *to, const struct result *r)
{
	to->both += r->both;
	to->right += r->right;
	to->wrong += r->wrong;
	to->broken += r->broken;
}

static void run_seeds(uint64_t first, uint64_t nr, bool verbose, const char *program,
		      const char *folder)
{
	static struct scenario s;
	static struct result r;
	uint64_t bad = 0;

	for (uint64_t seed = first; seed < first + nr; seed++) {
		run_seed(seed, program, folder, &s, &r);
		if (verbose || r.wrong || r.broken)
			print_seed(seed, &s, &r);
		bad += r.wrong || r.broken;
		sum_up(&all, &r);
		sum_up(&of[s.theme], &r);
	}
	for (unsigned int i = 0; i < NR_THEMES; i++)
		printf("# %s: %lu of %lu matched\n", theme_what[i], of[i].right, of[i].both);
	printf("# in %lu scenarios: %lu of %lu commands that both sides have were matched, %lu wrong, %lu rows "
	       "broken, in %lu of them\n",
	       nr, all.right, all.both, all.wrong, all.broken, bad);
}

int main(int argc, char **argv)
{
	char made[] = "/tmp/scenarios.XXXXXX", *folder = NULL;
	bool keeps = false, verbose = false;
	int opt;

	while ((opt = getopt(argc, argv, "k:v")) != -1) {
		keeps |= opt == 'k';
		verbose |= opt == 'v';
		folder = opt == 'k' ? optarg : folder;
	}
	if (argc - optind != 3) {
		fprintf(stderr, "usage: scenarios [-k FOLDER] [-v] PROGRAM FIRST_SEED NUMBER\n");
		return 2;
	}
	if (!keeps)
		folder = mkdtemp(made);
	else
		mkdir(folder, 0700);
	run_seeds(strtoull(argv[optind + 1], NULL, 10), strtoull(argv[optind + 2], NULL, 10),
		  verbose, argv[optind], folder);
	if (!keeps)
		remove_streams(folder);
	printf("%s 1 - no pair is wrong\n", all.wrong ? "not ok" : "ok");
	printf("%s 2 - each record is in one row\n", all.broken ? "not ok" : "ok");
	printf("%s 3 - of commands with random addresses 99 %% are matched\n",
	       of[THEME_RANDOM].right * 100 < of[THEME_RANDOM].both * 99 ? "not ok" : "ok");
	return all.wrong || all.broken;
}
