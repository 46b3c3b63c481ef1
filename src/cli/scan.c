// SPDX-License-Identifier: GPL-2.0-only
#include "cli/scan.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/*
 * getopt_long() returns this plus the index for an option's long name. It is beyond all characters.
 */
#define LONG 0x100

/* The options that argp adds to each table. The parser acts when it meets them. */
enum { STANDARD_HELP, STANDARD_NR = 3 };

static const struct argp_option standard_options[] = {
	[STANDARD_HELP] = {.name = "help", .key = '?'},
	{.name = "usage", .key = LONG},
	{.name = "version", .key = 'V'},
	{0},
};

static const struct argp standard_argp = {.options = standard_options};

/* The options of all verbs, each once; the standard options come first. */
struct scan {
	const struct argp_option **options;
	size_t nr;
	struct option *longs;
	char *shorts;
};

static bool is_last(const struct argp_option *o)
{
	return !o->name && !o->key && !o->doc && !o->group;
}

/* Number of options in a table and in its children. */
static size_t count(const struct argp *argp)
{
	size_t nr = 0;

	for (const struct argp_option *o = argp->options; o && !is_last(o); o++)
		nr++;
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		nr += count(c->argp);
	return nr;
}

static const struct argp_option *find(const struct argp *argp, const char *name)
{
	const struct argp_option *found = NULL;

	for (const struct argp_option *o = argp->options; o && !is_last(o); o++)
		if (o->name && !strcmp(o->name, name))
			return o;
	for (const struct argp_child *c = argp->children; c && c->argp && !found; c++)
		found = find(c->argp, name);
	return found;
}

static bool is_known(const struct scan *s, const char *name)
{
	for (size_t i = 0; i < s->nr; i++)
		if (!strcmp(s->options[i]->name, name))
			return true;
	return false;
}

static void add(struct scan *s, const struct argp *argp)
{
	for (const struct argp_option *o = argp->options; o && !is_last(o); o++)
		if (o->name && !is_known(s, o->name))
			s->options[s->nr++] = o;
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		add(s, c->argp);
}

/*
 * getopt_long() returns '?' for errors as well as for -?. As '?' is not in the table, optopt shows
 * which it was.
 */
static bool has_letter(const struct argp_option *o)
{
	return o->key < LONG && o->key != '?';
}

/*
 * With a leading dash, getopt_long() returns each word at its place and does not change the order.
 */
static void fill(struct scan *s)
{
	char *p = s->shorts;

	*p++ = '-';
	for (size_t i = 0; i < s->nr; i++) {
		const struct argp_option *o = s->options[i];

		s->longs[i].name = o->name;
		s->longs[i].has_arg = o->arg ? required_argument : no_argument;
		s->longs[i].val = LONG + (int)i;
		if (!has_letter(o))
			continue;
		*p++ = (char)o->key;
		if (o->arg)
			*p++ = ':';
	}
}

struct scan *scan_new(const struct verb *const *verbs)
{
	struct scan *s = calloc(1, sizeof(*s));
	size_t most = STANDARD_NR;

	if (!s)
		return NULL;
	for (const struct verb *const *v = verbs; *v; v++)
		most += count((*v)->argp);
	s->options = calloc(most, sizeof(*s->options));
	s->longs = calloc(most + 1, sizeof(*s->longs));
	s->shorts = calloc(2 * most + 2, 1);
	if (!s->options || !s->longs || !s->shorts) {
		scan_free(s);
		return NULL;
	}
	add(s, &standard_argp);
	for (const struct verb *const *v = verbs; *v; v++)
		add(s, (*v)->argp);
	fill(s);
	return s;
}

void scan_free(struct scan *s)
{
	if (!s)
		return;
	free(s->options);
	free(s->longs);
	free(s->shorts);
	free(s);
}

/* Results of getopt_long() other than the index of an option. */
enum { AT_END = -1, AT_WORD = -2, AT_ERROR = -3 };

static void start(void)
{
	optind = 0; /* GNU: start again, and forget an earlier line */
	opterr = 0;
}

static int step(const struct scan *s, int argc, char **argv)
{
	int c = getopt_long(argc, argv, s->shorts, s->longs, NULL);

	if (c == -1)
		return AT_END;
	if (c == 1)
		return AT_WORD;
	if (c >= LONG)
		return c - LONG;
	if (c == '?')
		return optopt == '?' ? STANDARD_HELP : AT_ERROR;
	for (size_t i = 0; i < s->nr; i++)
		if (s->options[i]->key == c)
			return (int)i;
	return AT_ERROR;
}

int scan_verb(const struct scan *s, int argc, char **argv, bool *help)
{
	int at;

	*help = false;
	start();
	while ((at = step(s, argc, argv)) >= 0)
		*help = *help || at == STANDARD_HELP;
	if (at == AT_WORD)
		return optind - 1;
	/* All words after "--" are arguments. */
	return at == AT_END && optind < argc ? optind : 0;
}

const char *scan_foreign(const struct scan *s, const struct verb *verb, int argc, char **argv)
{
	int at;

	start();
	while ((at = step(s, argc, argv)) != AT_END) {
		if (at == AT_WORD)
			continue;
		if (at < STANDARD_NR)
			break;
		if (!scan_has(verb, s->options[at]->name))
			return s->options[at]->name;
	}
	return NULL;
}

bool scan_each(const struct scan *s, int argc, char **argv,
	       void (*fn)(void *context, const char *option, const char *arg), void *context)
{
	int at;

	start();
	while ((at = step(s, argc, argv)) != AT_END) {
		if (at == AT_WORD)
			continue;
		if (at < STANDARD_NR)
			return false;
		fn(context, s->options[at]->name, s->options[at]->arg ? optarg : NULL);
	}
	return true;
}

const char *scan_option(const struct verb *verb, const char *option, bool *argument)
{
	const struct argp_option *o = find(verb->argp, option);

	*argument = o && o->arg;
	return o ? o->name : NULL;
}

bool scan_has(const struct verb *verb, const char *option)
{
	return find(verb->argp, option);
}
