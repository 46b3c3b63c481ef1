// SPDX-License-Identifier: GPL-2.0-only
#include "cli/cli.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "cli/config.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "core/hash.h"
#include "core/output.h"
#include "core/rights.h"
#include "core/text.h"

#define PROGRAM "ntprof-bpf"
/* The program's name and the longest name of a verb. */
#define NAME_SIZE 32

static const struct verb verb_help;

const struct verb *const all_verbs[] = {
	&verb_live,   &verb_trace, &verb_record, &verb_report, &verb_serve,
	&verb_stacks, &verb_paths, &verb_probes, &verb_help,   NULL,
};

/*
 * Words that stand for a verb and one of its options. They have no help and no manual page of their
 * own: --help shows that of the verb.
 */
static const struct short_form {
	const char *name;
	const struct verb *verb;
	const char *option;
	const char *summary;
} short_forms[] = {
	{"host", &verb_live, "--host", "live --host: the commands that this machine sends"},
	{"target", &verb_live, "--target", "live --target: those that it serves"},
	{"doctor", &verb_probes, "--checks", "probes --checks: what is missing, and what to do"},
	{"version", &verb_live, "--version", "the version of this program"},
};

/*
 * Return: the verb, NULL if there is none of that name. @option: set to the option of a short form,
 * or else to NULL
 */
static const struct verb *verb_named(const char *name, const char **option)
{
	*option = NULL;
	for (const struct verb *const *v = all_verbs; *v; v++)
		if (!strcmp((*v)->name, name))
			return *v;
	for (size_t i = 0; i < ARRAY_SIZE(short_forms); i++) {
		if (strcmp(short_forms[i].name, name) != 0)
			continue;
		*option = short_forms[i].option;
		return short_forms[i].verb;
	}
	return NULL;
}

/* Names of the verbs that have @option, or of all if it is NULL: "live, trace and record". */
static const char *names_of(const char *option, char *buf, size_t size)
{
	const char *last = NULL;
	size_t used = 0;

	buf[0] = '\0';
	for (const struct verb *const *v = all_verbs; *v; v++) {
		if (option && !verb_option(*v, option))
			continue;
		if (last && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
						 last);
		last = (*v)->name;
	}
	if (last && used < size)
		snprintf(buf + used, size - used, "%s%s", used ? " and " : "", last);
	return buf;
}

static void unknown_verb(const char *name) __attribute__((noreturn));

static void unknown_verb(const char *name)
{
	struct nearest n = {.word = name};
	char names[256];

	for (const struct verb *const *v = all_verbs; *v; v++)
		nearest_try(&n, (*v)->name);
	for (size_t i = 0; i < ARRAY_SIZE(short_forms); i++)
		nearest_try(&n, short_forms[i].name);
	if (n.name)
		fprintf(stderr, PROGRAM ": unknown verb '%s': did you mean %s?\n", name, n.name);
	else
		message("unknown verb '%s': the verbs are %s", name,
			names_of(NULL, names, sizeof(names)));
	fputs("Try `" PROGRAM " --help' for more information.\n", stderr);
	exit(EX_USAGE);
}

/* Return: the end of the message that @verb does not have @option: what to use instead, or "". */
static const char *instead_of(const struct verb *verb, const char *option)
{
	static const struct {
		const struct verb *verb;
		const char *option;
		const char *words;
	} known[] = {
		{&verb_live, "every", "; it has rows of each --interval"},
		{&verb_live, "detail", "; its histograms are of stages: record, and report that"},
		{&verb_live, "slower", "; its histograms are of all commands"},
		{&verb_live, "failed", "; --by status tells them apart"},
		{&verb_record, "stages", "; --points says which stages a recording has"},
		{&verb_trace, "every", "; it has a line for each command"},
		{&verb_trace, "by", "; it has a line for each command"},
		{&verb_report, "interval", "; --every is that of a recording"},
		{&verb_report, "duration", "; --time is a part of a recording"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].verb == verb && !strcmp(known[i].option, option))
			return known[i].words;
	return "";
}

/*
 * Return: whether @word, an option that getopt_long() does not take, looks like a misspelt option
 * of the verb; a message has been printed then. An abbreviation of several options is not misspelt.
 */
static bool refuse_like(const struct verb *verb, const struct scan *s, const char *word)
{
	char name[WORD_LEN];
	struct nearest n = {.word = name};
	size_t length = strcspn(word, "=");

	if (strncmp(word, "--", 2) != 0 || length >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)length - 2, word + 2);
	for (unsigned int i = 0; i < s->nr; i++) {
		if (!strncmp(s->options[i]->name, name, length - 2))
			return false;
		if (i < SCAN_OWN || verb_option(verb, s->options[i]->name))
			nearest_try(&n, s->options[i]->name);
	}
	if (!n.name)
		return false;
	message("%s has no option --%s: did you mean --%s?", verb->name, name, n.name);
	fprintf(stderr, "Try `" PROGRAM " %s --help' for more information.\n", verb->name);
	return true;
}

/*
 * Return: whether the line has an option that only other verbs have, or a misspelt one; a message
 * has been printed then. Options after --help are not checked.
 */
static bool refuse_foreign(const struct verb *verb, int argc, char **argv)
{
	char names[256];
	struct scan s;
	int at;

	scan_begin(&s, all_verbs);
	while ((at = scan_next(&s, argc, argv)) >= SCAN_OWN || at == SCAN_WORD) {
		const char *option = at == SCAN_WORD ? NULL : s.options[at]->name;

		if (!option || verb_option(verb, option))
			continue;
		fprintf(stderr,
			PROGRAM ": --%s is an option of %s, not of %s: see " PROGRAM
				" %s --help%s\n",
			option, names_of(option, names, sizeof(names)), verb->name, verb->name,
			instead_of(verb, option));
		return true;
	}
	return at == SCAN_ERROR && optind > 0 && refuse_like(verb, &s, argv[optind - 1]);
}

/* Return: the exit status. */
static int overview(void)
{
	printf("Usage: " PROGRAM " [VERB] [OPTION...]\n"
	       "Show where the time of NVMe/TCP commands goes: latency histograms per queue, and\n"
	       "stages.\n"
	       "\n"
	       "Verbs:\n");
	for (const struct verb *const *v = all_verbs; *v; v++)
		printf("  %-8s %s%s\n", (*v)->name, (*v)->summary,
		       *v == &verb_live ? " (also without a verb)" : "");
	printf("\n"
	       "Short forms:\n");
	for (size_t i = 0; i < ARRAY_SIZE(short_forms); i++)
		printf("  %-8s %s\n", short_forms[i].name, short_forms[i].summary);
	printf("\n"
	       "'" PROGRAM " help VERB' shows a verb's options, with examples; those of the live\n"
	       "view are in '" PROGRAM " help live'.\n"
	       "\n"
	       "Examples:\n"
	       "  ntprof-bpf                        live view of the side whose driver is loaded\n"
	       "  ntprof-bpf --host                 of the commands this machine sends\n"
	       "  ntprof-bpf --target               of those that it serves\n"
	       "  ntprof-bpf --host --peer root@target\n"
	       "                                    both machines together, in ten stages\n"
	       "  ntprof-bpf trace --host -n 100    one line for each of the next 100 commands\n"
	       "  ntprof-bpf record --host -o host.ntp -d 60\n"
	       "                                    raw records of a minute, for later\n"
	       "  ntprof-bpf report host.ntp target.ntp --slowest 3\n"
	       "                                    where the time went, in ten stages, both\n"
	       "                                    sides together\n"
	       "  ntprof-bpf serve --host           OpenMetrics at 127.0.0.1:10998\n"
	       "  ntprof-bpf stacks --host -d 10    which kernel paths submit commands\n"
	       "  ntprof-bpf paths                  from each queue's CPUs to its network card\n"
	       "  ntprof-bpf probes                 what this kernel offers\n"
	       "\n"
	       "It needs no patch. Patched nvme-tcp and nvmet-tcp modules have tracepoints,\n"
	       "which cost less; the patches come with the source. Ctrl-C ends a run and\n"
	       "prints its summary.\n");
	return EXIT_SUCCESS;
}

/* Makes the @argv[0] of a verb, which names the program in messages and help. */
static char *name_of(const struct verb *verb, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, PROGRAM " %s", verb->name);
	return name;
}

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
	const struct verb **verb = state->input;
	const char *option;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (*verb)
		options_no_word(state, arg);
	*verb = verb_named(arg, &option);
	if (!*verb)
		unknown_verb(arg);
	return 0;
}

static const struct argp help_argp = {
	.parser = parse_help,
	.args_doc = "[VERB]",
	.doc = "Show the verbs, or a verb's options.",
};

static int main_help(int argc, char **argv)
{
	const struct verb *verb = NULL;
	char name[NAME_SIZE];

	options_parse(&help_argp, argc, argv, &verb);
	if (!verb)
		return overview();
	return verb->main(2, (char *[]){name_of(verb, name), "--help", NULL});
}

static const struct verb verb_help = {
	.name = "help",
	.summary = "this text, or that of a verb",
	.argp = &help_argp,
	.main = main_help,
};

static int no_memory(void)
{
	fprintf(stderr, PROGRAM ": no memory for the command line\n");
	return EXIT_FAILURE;
}

/*
 * Lets the verb parse the options of the file of --config and then those of the line. Return: the
 * exit status
 */
static int run_line(const struct verb *verb, int argc, char **argv)
{
	struct config_line l;
	int status = config_read(&l, all_verbs, verb, argc, argv);

	if (!status) {
		options_origins((const char *const *)l.origins, l.argc);
		status = verb->main(l.argc, l.argv);
		options_origins(NULL, 0);
	}
	config_free(&l);
	return status;
}

/* Runs the verb with the name @argv[@at], or live if @at is 0, with the rest of the line. */
static int run_verb(int at, int argc, char **argv)
{
	const char *option = NULL;
	const struct verb *verb = at ? verb_named(argv[at], &option) : &verb_live;
	char name[NAME_SIZE] = PROGRAM;
	int nr = 0, status;
	char **args;

	if (!verb)
		unknown_verb(argv[at]);
	args = calloc((size_t)argc + 3, sizeof(*args));
	if (!args)
		return no_memory();
	args[nr++] = at ? name_of(verb, name) : name;
	if (option)
		args[nr++] = (char *)option;
	for (int i = 1; i < argc; i++)
		if (i != at)
			args[nr++] = argv[i];
	status = refuse_foreign(verb, nr, args) ? EX_USAGE : run_line(verb, nr, args);
	free(args);
	return status;
}

void cli_begin(void)
{
	/*
	 * open() takes the lowest free descriptor. What is printed to a closed standard output is
	 * lost, so its writes fail, and with them the program.
	 */
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
	rights_hide();
	hash_seed();
}

/*
 * Return: index of the first word that is neither an option nor an option's argument; 0 if there is
 * none, or if an option that no verb has comes before it. @help: set if --help comes before it
 */
static int find_verb(int argc, char **argv, bool *help)
{
	struct scan s;
	int at;

	*help = false;
	scan_begin(&s, all_verbs);
	while ((at = scan_next(&s, argc, argv)) >= 0)
		*help = *help || at == SCAN_HELP;
	if (at == SCAN_WORD)
		return optind - 1;
	/* All words after "--" are arguments. */
	return at == SCAN_END && optind < argc ? optind : 0;
}

int cli_main(int argc, char **argv)
{
	bool help;
	int at;

	standard_output_watch();
	at = find_verb(argc, argv, &help);
	return !at && help ? overview() : run_verb(at, argc, argv);
}
