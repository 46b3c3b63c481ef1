// SPDX-License-Identifier: GPL-2.0-only
#include "cli/config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <ini.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "cli/config_ntprof.h"
#include "core/hash.h"
#include "core/text.h"
#include "core/trust.h"

static const char *kind_refused(const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return strerror(EISDIR);
	if (S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode))
		return "a pipe, which may never end: write it into a file";
	return S_ISBLK(st->st_mode) ? "a block device" : NULL;
}

const char *config_file_open(struct config_file *c, const char *path)
{
	/*
	 * O_NONBLOCK: do not wait for the writer of a FIFO. O_NOCTTY: a terminal must not become
	 * ours.
	 */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *wrong;
	struct stat st;

	if (fd < 0)
		return strerror(errno);
	wrong = fstat(fd, &st) ? strerror(errno) : kind_refused(&st);
	if (!wrong) {
		c->f = fdopen(fd, "r");
		if (c->f)
			return NULL;
		wrong = strerror(errno);
	}
	close(fd);
	return wrong;
}

static void trim(char *text)
{
	const char *start = text + strspn(text, " \t\r\n\v\f");

	memmove(text, start, strlen(start) + 1);
}

/* Return: whether @c->text has a line; if not, *@wrong says why, unless the file has ended. */
static int read_line(struct config_file *c, const char **wrong)
{
	size_t used = 0;
	int byte;

	while ((byte = getc_unlocked(c->f)) != EOF && byte != '\n') {
		if (!byte)
			*wrong = "a byte is 0: not a text";
		else if (used + 1 == sizeof(c->text))
			*wrong = "the line is longer than 4095 bytes";
		if (*wrong)
			return 0;
		c->text[used++] = (char)byte;
	}
	c->bytes += used + (byte == '\n');
	if (c->bytes > CONFIG_BYTES_MAX)
		*wrong = "the file is longer than 1 MiB";
	c->text[used] = '\0';
	if (ferror(c->f))
		*wrong = strerror(errno);
	return !*wrong && (used || byte != EOF);
}

_Static_assert(CONFIG_LINE_MAX == 4096, "as the messages have it");
_Static_assert(CONFIG_BYTES_MAX == 1048576, "as the messages have it");

int config_file_next(struct config_file *c, const char **wrong)
{
	*wrong = NULL;
	c->line++;
	if (!read_line(c, wrong))
		return 0;
	/* Skip the byte order mark (UTF-8) that some editors write. */
	if (c->line == 1 && !strncmp(c->text, "\xef\xbb\xbf", 3))
		memmove(c->text, c->text + 3, strlen(c->text + 3) + 1);
	trim(c->text);
	return 1;
}

void config_file_close(struct config_file *c)
{
	if (c->f)
		fclose(c->f);
	c->f = NULL;
}

/*
 * Options that exclude each other: one of them on the command line replaces the other one in the
 * file.
 */
static const char *const rivals[][2] = {{"host", "target"}, {"interval", "burst"}};

/* Options that can be given several times; the values are combined. */
static const char *const repeated[] = {"peer", "where", "ctrl", "nsid",	 "queue",
				       "op",   "size",	"lba",	"stats", "by"};

/*
 * Options that run a command, write to a path, replace or remove files, or listen. A flight
 * recorder that is set off without end replaces all of its files, and takes memory.
 */
static const char *const acting[] = {"peer",	   "peer-as-root", "output", "force",	  "dir",
				     "listen",	   "files",	   "bytes",  "keep-free", "keep",
				     "keep-bytes", "when",	   "after"};

bool config_words_add(struct config_words *w, const char *option, char *text, unsigned int line,
		      enum config_level level)
{
	if (w->nr == CONFIG_WORDS_MAX) {
		free(text);
		return false;
	}
	w->word[w->nr++] =
		(struct config_word){.option = option, .text = text, .line = line, .level = level};
	return true;
}

static bool is_in(const char *const *names, size_t nr, const char *option)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(names[i], option))
			return true;
	return false;
}

bool config_words_act(const char *option)
{
	return is_in(acting, ARRAY_SIZE(acting), option);
}

static const struct config_word *word_find(const struct config_words *w, const char *option,
					   enum config_level level)
{
	for (unsigned int i = 0; i < w->nr; i++)
		if (w->word[i].level == level && !strcmp(w->word[i].option, option))
			return &w->word[i];
	return NULL;
}

bool config_words_has(const struct config_words *w, const char *option, enum config_level level)
{
	return word_find(w, option, level);
}

unsigned int config_words_before(const struct config_words *w, const char *option,
				 enum config_level level)
{
	const struct config_word *word =
		is_in(repeated, ARRAY_SIZE(repeated), option) ? NULL : word_find(w, option, level);

	return word ? word->line : 0;
}

static bool replaces(const char *a, const char *b)
{
	if (!strcmp(a, b))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(rivals); i++)
		if ((!strcmp(a, rivals[i][0]) && !strcmp(b, rivals[i][1])) ||
		    (!strcmp(a, rivals[i][1]) && !strcmp(b, rivals[i][0])))
			return true;
	return false;
}

bool config_words_replaced(const struct config_words *w, const char *option,
			   enum config_level level)
{
	for (unsigned int i = 0; i < w->nr; i++)
		if (w->word[i].level > level && replaces(w->word[i].option, option))
			return true;
	return false;
}

/* Return: 0 or -ENOMEM. */
static int put_word(struct config_line *l, const char *path, struct config_word *word)
{
	int at = l->argc;

	if (asprintf(&l->origins[at], "%s:%u", path, word->line) < 0) {
		l->origins[at] = NULL;
		return -ENOMEM;
	}
	l->argv[at] = word->text;
	word->text = NULL;
	l->argc++;
	return 0;
}

int config_words_put(struct config_words *w, const char *path, int argc, char **argv,
		     struct config_line *l)
{
	int err = 0;

	l->argv = calloc((size_t)argc + w->nr + 1, sizeof(*l->argv));
	l->origins = calloc((size_t)argc + w->nr + 1, sizeof(*l->origins));
	if (!l->argv || !l->origins)
		return -ENOMEM;
	l->argv[l->argc++] = argv[0];
	for (unsigned int i = 0; !err && i < w->nr; i++) {
		struct config_word *word = &w->word[i];

		if (word->text && !config_words_replaced(w, word->option, word->level))
			err = put_word(l, path, word);
	}
	for (int i = 1; !err && i < argc; i++)
		l->argv[l->argc++] = argv[i];
	return err;
}

void config_words_free(struct config_words *w)
{
	for (unsigned int i = 0; i < w->nr; i++)
		free(w->word[i].text);
}

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

static const struct argp_option *option_find(const struct argp *argp, const char *name)
{
	const struct argp_option *found = NULL;

	for (const struct argp_option *o = argp->options; o && !is_last(o); o++)
		if (o->name && !strcmp(o->name, name))
			return o;
	for (const struct argp_child *c = argp->children; c && c->argp && !found; c++)
		found = option_find(c->argp, name);
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
	const struct argp_option *o = option_find(verb->argp, option);

	*argument = o && o->arg;
	return o ? o->name : NULL;
}

bool scan_has(const struct verb *verb, const char *option)
{
	return option_find(verb->argp, option);
}

/* Room for a message: one line of a file, and the words around it. */
#define MESSAGE_LEN (CONFIG_LINE_MAX + 256)

/**
 * struct config - a configuration file while it is read
 * @file: its last line is the line that inih parses
 * @section_asked: the line that inih parses is the one that we add after each section
 * @words: the options of the command line, then those of the file
 * @distrusted: why another user may have written the file; "" if no other user can
 * @message: the first error; "" if there is none
 */
struct config {
	const struct verb *const *verbs;
	const struct verb *verb;
	const char *path;
	struct config_file file;
	bool section_asked;
	bool ended;
	struct config_words words;
	struct ntprof_file ntprof;
	bool from_ntprof;
	char distrusted[TRUST_WHY_LEN];
	char message[MESSAGE_LEN];
};

static void complain(struct config *c, unsigned int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Only the first error is reported. */
static void complain(struct config *c, unsigned int line, const char *format, ...)
{
	va_list args;
	int used = 0;

	if (c->message[0])
		return;
	if (line)
		used = snprintf(c->message, sizeof(c->message), "%s:%u: ", c->path, line);
	if (used < 0 || (size_t)used >= sizeof(c->message))
		return;
	va_start(args, format);
	vsnprintf(c->message + used, sizeof(c->message) - (size_t)used, format, args);
	va_end(args);
}

/* @value: NULL for an option without an argument */
static void add_option(struct config *c, const char *option, const char *value, unsigned int line,
		       enum config_level level)
{
	unsigned int before = config_words_before(&c->words, option, level);
	char *text;

	if (before)
		complain(c, line, "%s is there twice, first in line %u", option, before);
	else if (c->distrusted[0] && config_words_act(option))
		complain(c, line, "%s is not taken from a file that others may have written: %s %s",
			 option, c->path, c->distrusted);
	else if (asprintf(&text, "--%s%s%s", option, value ? "=" : "", value ?: "") < 0)
		complain(c, 0, "%s", strerror(ENOMEM));
	else if (!config_words_add(&c->words, option, text, line, level))
		complain(c, line, "too many options, the most are %u", CONFIG_WORDS_MAX);
}

/* Return: the verb of that name; NULL if there is none, or if it has no --config. */
static const struct verb *verb_of(const struct config *c, const char *name)
{
	for (const struct verb *const *v = c->verbs; *v; v++)
		if (!strcmp((*v)->name, name))
			return scan_has(*v, "config") ? *v : NULL;
	return NULL;
}

/* Return: a verb that has --config and @option, c->verb if it does; NULL if there is none. */
static const struct verb *any_with(const struct config *c, const char *option)
{
	if (scan_has(c->verb, option))
		return c->verb;
	for (const struct verb *const *v = c->verbs; *v; v++)
		if (scan_has(*v, "config") && scan_has(*v, option))
			return *v;
	return NULL;
}

/*
 * Removes the quotes of a value that begins with one. Only a comment may follow the closing quote.
 */
static char *unquote(struct config *c, char *value)
{
	char quote = *value, *end = strchr(value + 1, quote), *rest;

	if (!end) {
		complain(c, c->file.line, "%.*s: no closing quote", (int)strcspn(value, "\r\n"),
			 value);
		return value;
	}
	rest = end + 1 + strspn(end + 1, " \t\r\n");
	if (*rest && *rest != ';' && *rest != '#')
		complain(c, c->file.line, "'%.*s' comes after the closing quote",
			 (int)strcspn(rest, "\r\n"), rest);
	*end = '\0';
	return value + 1;
}

/*
 * The value of the line that inih has just split. It is taken from the line itself: inih knows
 * neither quotes nor comments that begin with # after a value, and it takes a ; within quotes for
 * the start of a comment.
 */
static char *value_of(struct config *c, char *value)
{
	char *raw = c->file.text + strcspn(c->file.text, "=:");

	raw += *raw ? 1 : 0;
	raw += strspn(raw, " \t");
	if (*raw == '"' || *raw == '\'')
		return unquote(c, raw);
	for (char *p = value; *p; p++) {
		if (*p != '#' || (p > value && !isspace((unsigned char)p[-1])))
			continue;
		while (p > value && isspace((unsigned char)p[-1]))
			p--;
		*p = '\0';
		break;
	}
	return value;
}

static bool is_word(const char *value, const char *const words[3])
{
	for (unsigned int i = 0; i < 3; i++)
		if (!strcasecmp(value, words[i]))
			return true;
	return false;
}

static void take_option(struct config *c, const struct verb *verb, const char *name,
			const char *value, enum config_level level)
{
	static const char *const yes[] = {"true", "yes", "1"}, *const no[] = {"false", "no", "0"};
	const char *option;
	bool argument;

	option = scan_option(verb, name, &argument);
	if (argument && !*value)
		complain(c, c->file.line, "%s has no value", name);
	else if (!argument && !is_word(value, yes) && !is_word(value, no))
		complain(c, c->file.line, "%s = %s: neither true nor false", name, value);
	else if (scan_has(c->verb, name) && (argument || is_word(value, yes)))
		add_option(c, option, argument ? value : NULL, c->file.line, level);
}

static bool section_known(const struct config *c, const char *section)
{
	return !strcmp(section, "all") || verb_of(c, section) || ntprof_section(section);
}

static void take_key(struct config *c, const char *section, const char *name, const char *value)
{
	bool all = !strcmp(section, "all");
	const struct verb *verb = all ? any_with(c, name) : verb_of(c, section);
	enum ntprof_key key = ntprof_key(section, name);
	const char *why;

	if (verb && scan_has(verb, name) && strcmp(name, "config") != 0) {
		if (all || verb == c->verb)
			take_option(c, verb, name, value, all ? CONFIG_OF_ALL : CONFIG_OF_VERB);
		return;
	}
	if (key == NTPROF_KEYS) {
		complain(c, c->file.line, "unknown key '%s' in section [%s]", name, section);
		return;
	}
	if (c->ntprof.key[key].line) {
		complain(c, c->file.line, "%s is there twice, first in line %u",
			 ntprof_key_name(key), c->ntprof.key[key].line);
		return;
	}
	c->from_ntprof = true;
	why = ntprof_set(&c->ntprof, key, value, c->file.line);
	if (why)
		complain(c, c->file.line, "%s = %s: %s", ntprof_key_name(key), value, why);
}

/* Called by inih for each key, and for the line that we add after each section. */
static int take(void *user, const char *section, const char *name, const char *value)
{
	struct config *c = user;
	char copy[CONFIG_LINE_MAX];

	if (c->message[0])
		return 1;
	if (!*section)
		complain(c, c->file.line, "'%s' is in no section", name);
	else if (!section_known(c, section))
		complain(c, c->file.line, "unknown section [%s]", section);
	if (c->section_asked || c->message[0])
		return 1;
	snprintf(copy, sizeof(copy), "%s", value);
	take_key(c, section, name, value_of(c, copy));
	return 1;
}

/* inih ignores text after a section's name, so it is checked here. */
static void check_section(struct config *c)
{
	const char *end = strchr(c->file.text, ']'), *rest;

	rest = end ? end + 1 + strspn(end + 1, " \t\r\v\f") : "";
	if (*rest && *rest != ';' && *rest != '#')
		complain(c, c->file.line, "'%.*s' comes after the section's name",
			 (int)strcspn(rest, "\r"), rest);
}

/*
 * Takes the place of fgets() for inih. inih takes a line that begins with blanks for a part of the
 * value before, so blanks at the start of a line are removed. inih does not report a section
 * without keys, so a line with a key is added after each section.
 */
static char *next_line(char *buf, int size, void *stream)
{
	struct config *c = stream;
	const char *wrong;

	if (*c->file.text == '[' && !c->section_asked) {
		c->section_asked = true;
		snprintf(buf, (size_t)size, "section =\n");
		return buf;
	}
	c->section_asked = false;
	if (c->message[0])
		return NULL;
	if (!config_file_next(&c->file, &wrong)) {
		if (wrong)
			complain(c, c->file.line, "%s", wrong);
		return NULL;
	}
	if (*c->file.text == '[')
		check_section(c);
	snprintf(buf, (size_t)size, "%s\n", c->file.text);
	return buf;
}

static void read_file(struct config *c)
{
	const char *wrong = config_file_open(&c->file, c->path);

	if (wrong) {
		complain(c, 0, "cannot read %s: %s", c->path, wrong);
		return;
	}
	if (trust_config(fileno(c->file.f), c->path, c->distrusted))
		c->distrusted[0] = '\0';
	ini_use_stack = false;
	ini_stop_on_first_error = true;
	/* inih counts the line feed as well, which CONFIG_LINE_MAX does not include. */
	ini_max_line = ini_initial_alloc = CONFIG_LINE_MAX + 1;
	/*
	 * inih returns a line number that counts the lines that we added, too. The last line that
	 * was read is the wrong one, because reading stops at the first error.
	 */
	if (ini_parse_stream(next_line, c, take, c))
		complain(c, c->file.line, "neither [section] nor key = value");
	config_file_close(&c->file);
}

/* Return: "host" or "target"; "" if neither the line nor the file says it. */
static const char *side_of(const struct config *c)
{
	for (unsigned int i = 0; i < c->words.nr; i++) {
		const struct config_word *w = &c->words.word[i];
		bool side = !strcmp(w->option, "host") || !strcmp(w->option, "target");

		if (side && !config_words_replaced(&c->words, w->option, w->level))
			return w->option;
	}
	return "";
}

/* Warns of keys that ask live to leave out what it always shows. */
static void tell_notes(const struct config *c)
{
	bool live = !strcmp(c->verb->name, "live");

	for (unsigned int i = 0; live && i < NTPROF_KEYS; i++) {
		enum ntprof_key key = (enum ntprof_key)i;
		const char *name = ntprof_key_name(key);
		unsigned int line = c->ntprof.key[i].line;

		if (ntprof_always(&c->ntprof, key))
			fprintf(stderr, "ntprof-bpf: %s:%u: %s is false, but it is always shown\n",
				c->path, line, name);
	}
}

static void take_ntprof(struct config *c)
{
	struct ntprof_option *options = calloc(NTPROF_KEYS + 1, sizeof(*options));
	unsigned int offline = ntprof_offline(&c->ntprof);

	if (!options) {
		complain(c, 0, "%s", strerror(ENOMEM));
		return;
	}
	if (offline && !strcmp(c->verb->name, "live"))
		complain(c, offline,
			 "IS_ONLINE is false, which is what record and report are for: "
			 "ntprof-bpf record --config %s",
			 c->path);
	ntprof_options(&c->ntprof, side_of(c), options);
	for (const struct ntprof_option *o = options; o->name; o++) {
		unsigned int line = c->ntprof.key[o->key].line;

		/* The series of serve are not made of these groups. */
		if (!strcmp(c->verb->name, "serve") && !strcmp(o->name, "by"))
			continue;
		if (!any_with(c, o->name))
			complain(c, line, "%s is --%s here, which no verb has yet",
				 ntprof_key_name(o->key), o->name);
		else if (scan_has(c->verb, o->name))
			add_option(c, o->name, o->arg, line, CONFIG_OF_ALL);
	}
	free(options);
	if (!c->message[0])
		tell_notes(c);
}

static void on_line(void *context, const char *option, const char *arg)
{
	struct config *c = context;

	if (!strcmp(option, "config") && c->path)
		complain(c, 0, "--config can be given once");
	if (!strcmp(option, "config"))
		c->path = arg;
	/* This cannot run out of room, because an option is added only once. */
	if (!config_words_has(&c->words, option, CONFIG_OF_LINE))
		config_words_add(&c->words, option, NULL, 0, CONFIG_OF_LINE);
}

/* Return: as config_read() */
static int ended(struct config *c, int err)
{
	bool wrong = c->message[0];

	config_words_free(&c->words);
	if (wrong)
		fprintf(stderr, "ntprof-bpf: %s\n", text_harmless(c->message));
	else if (err)
		fprintf(stderr, "ntprof-bpf: %s\n", strerror(-err));
	free(c);
	if (wrong)
		return EX_USAGE;
	return err ? EXIT_FAILURE : 0;
}

int config_read(struct config_line *l, const struct verb *const *verbs, const struct verb *verb,
		int argc, char **argv)
{
	const struct verb *const only[] = {verb, NULL};
	struct config *c = calloc(1, sizeof(*c));
	struct scan *s = scan_new(only);
	int err = 0;

	*l = (struct config_line){.argc = 0};
	if (!c || !s) {
		free(c);
		scan_free(s);
		fprintf(stderr, "ntprof-bpf: %s\n", strerror(ENOMEM));
		return EXIT_FAILURE;
	}
	c->verbs = verbs;
	c->verb = verb;
	/*
	 * If the line itself is wrong or asks for help, the file is not read: the parser's message
	 * comes first.
	 */
	if (!scan_each(s, argc, argv, on_line, c))
		c->path = NULL;
	scan_free(s);
	if (c->path && !c->message[0])
		read_file(c);
	if (c->from_ntprof && !c->message[0])
		take_ntprof(c);
	if (!c->message[0])
		err = config_words_put(&c->words, c->path, argc, argv, l);
	return ended(c, err);
}

void config_free(struct config_line *l)
{
	for (int i = 0; l->origins && i < l->argc; i++) {
		if (l->origins[i])
			free(l->argv[i]);
		free(l->origins[i]);
	}
	free(l->argv);
	free(l->origins);
}
