// SPDX-License-Identifier: GPL-2.0-only
/* The verb report with --max-inflight: commands that found few others on their queue. */
#include "cli/recordings.h"

#include <inttypes.h>

#include "core/segments.h"

#define COMMANDS 700u

/* The commands of each side's recording. */
static struct seen {
	uint16_t qid;
	uint32_t length;
	uint64_t begin, end;
} seen[NT_SIDES][2 * COMMANDS];
static unsigned int nr_seen[NT_SIDES];

static bool see(struct nt_record *r)
{
	unsigned int *nr = &nr_seen[r->side];

	assert_true(*nr < ARRAY_SIZE(seen[0]));
	seen[r->side][(*nr)++] =
		(struct seen){r->qid, r->length, record_begin_ns(r), record_end_ns(r)};
	return true;
}

/* Whether @a was in flight on its queue when @b began. */
static bool was_there(const struct seen *a, const struct seen *b)
{
	/* Commands of one packet begin at once at the target, and count one by one. */
	return a->qid == b->qid && a->end > b->begin &&
	       (a->begin < b->begin || (a->begin == b->begin && a < b));
}

/* How many found less data of others than @bytes, and fewer others than @few. */
static unsigned int expected_bytes(enum nt_side side, unsigned int few, uint64_t bytes)
{
	const struct seen *s = seen[side];
	unsigned int taken = 0;

	for (unsigned int i = 0; i < nr_seen[side]; i++) {
		unsigned int found = 0;
		uint64_t data = 0;

		for (unsigned int k = 0; k < nr_seen[side]; k++) {
			if (!was_there(&s[k], &s[i]))
				continue;
			found++;
			data += s[k].length;
		}
		taken += found < few && data < bytes;
	}
	return taken;
}

static unsigned int expected(enum nt_side side, unsigned int few)
{
	return expected_bytes(side, few, UINT64_MAX);
}

static struct traffic_config two_queues(void)
{
	struct traffic_config c = traffic_of_one_queue();

	c.queue[1] = c.queue[0];
	c.queue[1].qid = 2;
	c.queue[1].slot = 2;
	c.queue[1].depth = 4;
	c.nr_queues = 2;
	c.commands = COMMANDS;
	return c;
}

static void make(struct recording f[NT_SIDES], const struct traffic_config *c)
{
	memset(nr_seen, 0, sizeof(nr_seen));
	recordings_make(f, c);
	assert_int_equal(nr_seen[NT_HOST], COMMANDS);
	assert_int_equal(nr_seen[NT_TARGET], COMMANDS);
}

static void assert_selected(const struct result *r, unsigned int nr, const char *what)
{
	char line[96];

	assert_int_equal(r->status, EXIT_SUCCESS);
	assert_string_equal(r->err, "");
	snprintf(line, sizeof(line), "selected: %u of %u %s; losses are of all\n", nr, COMMANDS,
		 what);
	assert_contains(r->out, line);
}

/* Of merged commands the host's queue counts, of others their own side's. */
static void commands_are_those_that_found_fewer(void **state)
{
	static const struct {
		char *word;
		unsigned int few;
	} of[] = {{"1", 1}, {"2", 2}, {"3", 3}, {"4294967295", UINT32_MAX}};
	struct recording f[] = {{.edit = see}, {.edit = see}};
	struct traffic_config c = two_queues();
	static struct result r;

	make(f, &c);
	assert_true(expected(NT_HOST, 1) > 0 && expected(NT_HOST, 1) < expected(NT_HOST, 3));
	assert_true(expected(NT_HOST, 3) < COMMANDS);
	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		RUN(&r, "report", f[0].path, f[1].path, "--max-inflight", of[i].word);
		assert_selected(&r, expected(NT_HOST, of[i].few), "merged commands");
		RUN(&r, "report", f[0].path, "--max-inflight", of[i].word);
		assert_selected(&r, expected(NT_HOST, of[i].few), "commands");
		RUN(&r, "report", f[1].path, "--max-inflight", of[i].word);
		assert_selected(&r, expected(NT_TARGET, of[i].few), "commands");
	}
	recordings_free(f, 2);
}

static void a_number_with_a_unit_is_of_bytes(void **state)
{
	struct recording f[] = {{.edit = see}, {.edit = see}};
	struct traffic_config c = two_queues();
	unsigned int some;
	static struct result r;

	make(f, &c);
	some = expected_bytes(NT_HOST, UINT32_MAX, 12288);
	assert_true(some > expected_bytes(NT_HOST, UINT32_MAX, 1024) && some < COMMANDS);
	RUN(&r, "report", f[0].path, f[1].path, "--max-inflight", "12K");
	assert_selected(&r, some, "merged commands");
	RUN(&r, "report", f[0].path, f[1].path, "--max-inflight", "12K", "--max-inflight", "2");
	assert_selected(&r, expected_bytes(NT_HOST, 2, 12288), "merged commands");
	RUN(&r, "report", f[1].path, "--max-inflight", "1KiB");
	assert_selected(&r, expected_bytes(NT_TARGET, UINT32_MAX, 1024), "commands");
	recordings_free(f, 2);
}

/* Two hosts, with queues of the same numbers. */
static void queues_of_other_hosts_do_not_count(void **state)
{
	struct recording f[] = {{.edit = see}, {.edit = see}}, g[] = {{.edit = see}, {.edit = see}};
	struct traffic_config c = two_queues(), other = two_queues();
	unsigned int nr;
	static struct result r;
	char line[96];

	make(f, &c);
	nr = expected(NT_HOST, 2);
	other.seed += 7;
	other.queue[0].nqn = other.queue[1].nqn = "nqn.2024-01.org.example:other";
	make(g, &other);
	snprintf(line, sizeof(line), "selected: %u of %u merged commands",
		 nr + expected(NT_HOST, 2), 2 * COMMANDS);
	RUN(&r, "report", f[0].path, f[1].path, g[0].path, g[1].path, "--max-inflight=2");
	assert_contains(r.out, line);
	recordings_free(f, 2);
	recordings_free(g, 2);
}

/* The deepest of --by queue is what a command found, and itself. */
static void groups_have_the_same_figure(void **state)
{
	struct recording f[] = {{.edit = see}, {.edit = see}};
	struct traffic_config c = two_queues();
	unsigned long deepest;
	static struct result r;
	char text[24];

	make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--by", "queue", "--queue=2", "--format", "json");
	assert_contains(r.out, "\"max_in_flight\":");
	deepest = strtoul(strstr(r.out, "\"max_in_flight\":") + strlen("\"max_in_flight\":"), NULL,
			  10);
	assert_true(deepest > 1);
	snprintf(text, sizeof(text), "%lu", deepest);
	RUN(&r, "report", f[0].path, f[1].path, "--queue=2", "--max-inflight", text, "--by=queue",
	    "--format=json");
	snprintf(text, sizeof(text), "\"max_in_flight\":%lu", deepest);
	assert_contains(r.out, text);
	snprintf(text, sizeof(text), "%lu", deepest - 1);
	RUN(&r, "report", f[0].path, f[1].path, "--queue=2", "--max-inflight", text, "--by=queue",
	    "--format=json");
	snprintf(text, sizeof(text), "\"max_in_flight\":%lu", deepest);
	assert_lacks(r.out, text);
	recordings_free(f, 2);
}

/* What else selects leaves out commands, but they were in flight. */
static void commands_that_are_not_selected_count(void **state)
{
	struct recording f[] = {{.edit = see}, {.edit = see}};
	struct traffic_config c = two_queues();
	static struct result r;
	unsigned int reads = 0;

	make(f, &c);
	RUN(&r, "report", f[0].path, "--commands", "--max-inflight=3");
	for (const char *p = r.out; (p = strstr(p, " op=read")); p++)
		reads++;
	assert_true(reads > 0);
	RUN(&r, "report", f[0].path, "--commands", "--max-inflight=3", "--op", "read");
	assert_selected(&r, reads, "commands");
	recordings_free(f, 2);
}

static bool give_up(struct nt_record *r)
{
	static unsigned int nr;

	if (r->side == NT_HOST && nr++ % 100 == 0)
		r->points[NT_H_COMPLETE] = 0;
	return true;
}

static void those_of_which_it_is_not_known_are_counted(void **state)
{
	struct recording f[] = {{.edit = give_up}, {.edit = NULL}, {.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;

	recordings_make(f, &c);
	recordings_make(f + 2, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--max-inflight=9999");
	assert_int_equal(r.status, EXIT_SUCCESS);
	assert_contains(r.err, "--max-inflight: of 7 commands of ");
	assert_contains(r.out, "selected: 693 of 700 merged commands");
	RUN(&r, "report", "--max-inflight=9999", "--compare", f[0].path, "--", f[2].path);
	assert_contains(r.err, "--max-inflight: of 7 commands of ");
	recordings_free(f, 4);
}

static void it_goes_with_other_options(void **state)
{
	struct recording f[] = {{.edit = see}, {.edit = see}};
	struct traffic_config c = two_queues();
	static struct result r;

	make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--max-inflight=2", "--every=1ms", "--slowest=3",
	    "--why", "--detail", "--stats=max", "-v");
	assert_selected(&r, expected(NT_HOST, 2), "merged commands");
	RUN(&r, "report", f[0].path, f[1].path, "--max-inflight=2", "--perfetto=/dev/null",
	    "--html=/dev/null");
	assert_selected(&r, expected(NT_HOST, 2), "merged commands");
	recordings_free(f, 2);
}

static void what_cannot_say_it_is_refused(void **state)
{
	static char *const wrong[] = {"0", "-1", "x", "", "1.5", "4294967296", "1,2", "0K", "1T"};
	struct recording f[] = {{.header.sample = 2}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;
	char fifo[32];
	int p[2];

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		RUN(&r, "report", "x.ntp", "--max-inflight", wrong[i]);
		assert_int_equal(r.status, EX_USAGE);
		assert_contains(r.err, "--max-inflight ");
	}
	RUN(&r, "live", "--host", "--max-inflight", "1");
	assert_int_equal(r.status, EX_USAGE);
	assert_contains(r.err, "--max-inflight is an option of report, not of live");
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, "--max-inflight=1");
	assert_int_equal(r.status, EXIT_FAILURE);
	assert_contains(r.err, " is a sample: it does not have all commands that were in flight");
	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], "x", 1), 1);
	close(p[1]);
	snprintf(fifo, sizeof(fifo), "/dev/fd/%d", p[0]);
	RUN(&r, "report", fifo, "--max-inflight=1");
	assert_int_equal(r.status, EXIT_FAILURE);
	assert_contains(r.err, " is no file, which can be read twice");
	close(p[0]);
	recordings_free(f, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_those_that_found_fewer),
		cmocka_unit_test(a_number_with_a_unit_is_of_bytes),
		cmocka_unit_test(queues_of_other_hosts_do_not_count),
		cmocka_unit_test(groups_have_the_same_figure),
		cmocka_unit_test(commands_that_are_not_selected_count),
		cmocka_unit_test(those_of_which_it_is_not_known_are_counted),
		cmocka_unit_test(it_goes_with_other_options),
		cmocka_unit_test(what_cannot_say_it_is_refused),
	};

	return cmocka_run_group_tests_name("report with --max-inflight", tests, find_program, NULL);
}
