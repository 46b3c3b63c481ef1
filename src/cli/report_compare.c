// SPDX-License-Identifier: GPL-2.0-only
#include "cli/report_compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/report_filter.h"
#include "view/html.h"
#include "view/lines.h"

/* The stages may have to be joined first, then the loads matched, and stages again. */
#define READS_MAX 4u
/* More than any regression that is tolerated, in percent. */
#define TOLERANCE_MAX 1000
#define WHY_LEN 512

enum { KEY_COMPARE = 0x300, KEY_TOLERANCE };

/* How many words stand behind the first "--", which argp takes away when it sorts the words. */
static unsigned int words_behind(const struct argp_state *state)
{
	for (int i = 1; i < state->argc; i++)
		if (!strcmp(state->argv[i], "--"))
			return (unsigned int)(state->argc - i - 1);
	return 0;
}

static error_t parse_compare(int key, char *arg, struct argp_state *state)
{
	struct compare_options *o = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		o->nr_after = words_behind(state);
		o->tolerance = COMPARE_TOLERANCE;
		return 0;
	case KEY_COMPARE:
		o->on = true;
		return 0;
	case KEY_TOLERANCE:
		o->tolerance = strtod(arg, &end) / 100;
		if (*end == '%')
			end++;
		if (end == arg || *end ||
		    !(o->tolerance >= 0 && o->tolerance * 100 <= TOLERANCE_MAX))
			options_error(state, "--tolerance %s: not a number of percent from 0 to %d",
				      arg, TOLERANCE_MAX);
		return 0;
	case ARGP_KEY_END:
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void compare_options_end(const struct compare_options *o, const struct argp_state *state,
			 unsigned int nr)
{
	if (o->on && (nr != 2 || o->nr_after) && (!o->nr_after || o->nr_after >= nr))
		options_error(state, "--compare needs the files of one recording, --, and those of "
				     "the other one; or two files");
}

static const struct argp_option compare_options[] = {
	{"compare", KEY_COMPARE, NULL, 0,
	 "Compare two recordings: FILE... -- FILE..., those before and those after; each of one side or of both. Exit "
	 "status: 0 if there is no evidence of a regression, 1 if there is, 2 if nothing can be said",
	 SECTION_SHOW},
	{"tolerance", KEY_TOLERANCE, "PERCENT", 0,
	 "With --compare: a regression is what got slower by more, surely (default 5)",
	 SECTION_SHOW},
	{0},
};

const struct argp compare_argp = {.options = compare_options, .parser = parse_compare};

/**
 * struct recordings - both of them
 * @files: [when] @nr of them
 * @side: [when][file] of a reading before
 */
struct recordings {
	struct compare c;
	struct report r[COMPARE_WHENS];
	char **files[COMPARE_WHENS];
	unsigned int nr[COMPARE_WHENS];
	char why[WHY_LEN];
};

/* Leaves out the files of the side that the other recording has not. */
static void leave_out(struct recordings *s, unsigned int when)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < s->nr[when]; i++)
		if (s->r[when].inputs[i].header.side == s->c.only)
			s->files[when][nr++] = s->files[when][i];
	s->nr[when] = nr;
}

/* Return: whether all files can be read once more. */
static bool can_again(struct recordings *s)
{
	for (unsigned int w = 0; w < COMPARE_WHENS; w++)
		for (unsigned int i = 0; i < s->r[w].nr; i++)
			if (!s->r[w].inputs[i].again) {
				snprintf(s->why, sizeof(s->why),
					 "%s is no file, and has to be read once more to be "
					 "compared",
					 s->r[w].inputs[i].path);
				return false;
			}
	return true;
}

/* Fills in what a recording says besides its commands. */
static void take_headers(struct recordings *s, unsigned int w)
{
	struct report *r = &s->r[w];
	uint64_t burst = 0;

	s->c.sample[w] = 1;
	for (unsigned int i = 0; i < r->nr; i++) {
		if (r->inputs[i].begun && r->inputs[i].header.sample > s->c.sample[w])
			s->c.sample[w] = r->inputs[i].header.sample;
		if (r->burst_ns[i] > burst)
			burst = r->burst_ns[i];
	}
	s->c.blocks[w].measured_ns = burst;
}

/* Says why there is nothing to compare with. */
static void explain(struct recordings *s)
{
	static const char *const name[] = {"before", "after"};
	unsigned int other;

	for (unsigned int w = 0; w < COMPARE_WHENS && !s->why[0]; w++) {
		const struct report *r = &s->r[w];

		if (s->c.blocks[w].commands)
			continue;
		snprintf(s->why, sizeof(s->why), "of %s no command ended well", name[w]);
		for (unsigned int i = 0; i < r->nr; i++)
			if (r->inputs[i].begun && unmatched_is(r->unmatched, i) && !r->alone[i])
				snprintf(s->why, sizeof(s->why),
					 "of %s no command of both sides was found: %s", name[w],
					 unmatched_words(unmatched_why(r->unmatched, i, &other)));
	}
	if (!s->why[0] && s->c.blocks[0].side != s->c.blocks[1].side)
		snprintf(s->why, sizeof(s->why),
			 "one recording is of a host, and the other one of a target");
}

/* Reads both recordings. Return: as @read of the reader */
static int read_both(struct recordings *s, const struct compare_reader *reader,
		     enum output_format format)
{
	int err = 0;

	for (unsigned int w = 0; !err && w < COMPARE_WHENS; w++) {
		reader->clear(&s->r[w]);
		s->r[w] = (struct report){.blocks = &s->c.blocks[w], .format = format};
		err = reader->read(reader->context, &s->r[w], s->files[w], s->nr[w]);
		if (!err)
			err = blocks_finish(&s->c.blocks[w]);
		if (!err)
			take_headers(s, w);
	}
	return err;
}

/* Return: as read_both() */
static int read_all(struct recordings *s, const struct compare_reader *reader,
		    enum output_format format)
{
	int err = read_both(s, reader, format);

	for (unsigned int i = 1; !err && i < READS_MAX; i++) {
		enum nt_side only = s->c.only;
		int again = compare_again(&s->c);

		if (again <= 0)
			return again;
		if (!can_again(s))
			return 0;
		for (unsigned int w = 0; s->c.only != only && w < COMPARE_WHENS; w++)
			leave_out(s, w);
		err = read_both(s, reader, format);
	}
	return err;
}

static bool any_failed(const struct recordings *s)
{
	bool failed = false;

	for (unsigned int w = 0; w < COMPARE_WHENS; w++) {
		report_depths_told(&s->r[w]);
		for (unsigned int i = 0; i < s->r[w].nr; i++) {
			const struct input *in = &s->r[w].inputs[i];

			if (!stream_error(in->reader)[0])
				continue;
			message("%s: %s", in->path, stream_error(in->reader));
			failed |= input_failed(in);
		}
	}
	return failed;
}

static int print(const struct recordings *s, const struct compare_options *o, int *status)
{
	const struct comparison v = {
		.c = &s->c,
		.of = {{s->r[0].inputs, s->r[0].nr, &s->r[0].machines},
		       {s->r[1].inputs, s->r[1].nr, &s->r[1].machines}},
		.why = s->why[0] ? s->why : NULL,
		.verbose = o->verbose,
	};
	struct view_options options;

	*status = comparison_status(&v);
	if (o->html && html_comparison(o->html, &v))
		return -ENOMEM;
	if (o->format == FORMAT_JSON)
		return json_write(stdout, comparison_json(&v));
	view_setup(&options, stdout);
	comparison_print(&v, stdout,
			 isatty(STDOUT_FILENO) ? (unsigned int)options.columns : WRAP_NEVER);
	return 0;
}

int report_compare(const struct compare_options *o, const struct compare_reader *reader,
		   char *const *files, unsigned int nr)
{
	struct recordings *s = calloc(1, sizeof(*s));
	int status = COMPARISON_FAILED, err = s ? 0 : -ENOMEM;
	unsigned int after = o->nr_after ?: nr / 2;

	for (unsigned int w = 0; !err && w < COMPARE_WHENS; w++) {
		s->nr[w] = w == COMPARE_AFTER ? after : nr - after;
		s->files[w] = calloc(s->nr[w] + 1, sizeof(*s->files[w]));
		if (!s->files[w])
			err = -ENOMEM;
		for (unsigned int i = 0; !err && i < s->nr[w]; i++)
			s->files[w][i] = files[(w == COMPARE_AFTER ? nr - after : 0) + i];
	}
	if (!err) {
		s->c.only = NT_SIDES;
		s->c.tolerance = o->tolerance;
		err = read_all(s, reader, o->format);
	}
	if (!err)
		explain(s);
	if (!err && !s->why[0])
		err = compare_solve(&s->c);
	if (!err)
		err = print(s, o, &status) ?: standard_output_finish();
	if (err < 0)
		message("cannot compare: %s", strerror(-err));
	if (!err && any_failed(s))
		status = COMPARISON_FAILED;
	for (unsigned int w = 0; s && w < COMPARE_WHENS; w++) {
		reader->clear(&s->r[w]);
		free(s->files[w]);
	}
	if (s)
		compare_free(&s->c);
	free(s);
	return err ? COMPARISON_FAILED : status;
}
