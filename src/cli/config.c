// SPDX-License-Identifier: GPL-2.0-only
#include "cli/config.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "cli/config_ntprof.h"
#include "cli/notify.h"
#include "cli/options.h"
#include "core/hash.h"
#include "core/rights.h"
#include "core/trust.h"

/*
 * getopt_long() returns this plus the index for an option's long name. It is beyond all characters.
 */
#define LONG 0x100

static bool is_last(const struct argp_option *o)
{
	return !o->name && !o->key && !o->doc && !o->group;
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

const struct argp_option *verb_option(const struct verb *verb, const char *name)
{
	return option_find(verb->argp, name);
}

static bool is_known(const struct scan *s, const char *name)
{
	for (unsigned int i = 0; i < s->nr; i++)
		if (!strcmp(s->options[i]->name, name))
			return true;
	return false;
}

/*
 * getopt_long() returns '?' for errors as well as for -?. As '?' is not in the table of letters,
 * optopt shows which it was.
 */
static void add_table(struct scan *s, const struct argp *argp)
{
	char *letter = s->shorts + strlen(s->shorts);

	for (const struct argp_option *o = argp->options; o && !is_last(o); o++) {
		if (!o->name || is_known(s, o->name))
			continue;
		assert(s->nr < SCAN_OPTIONS_MAX);
		s->longs[s->nr] = (struct option){
			.name = o->name,
			.has_arg = o->arg ? required_argument : no_argument,
			.val = LONG + (int)s->nr,
		};
		s->options[s->nr++] = o;
		if (o->key < LONG && o->key != '?')
			*letter++ = (char)o->key;
		if (o->key < LONG && o->arg)
			*letter++ = ':';
	}
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		add_table(s, c->argp);
}

void scan_begin(struct scan *s, const struct verb *const *verbs)
{
	/*
	 * With a leading dash, getopt_long() returns each word at its place and does not change the
	 * order.
	 */
	*s = (struct scan){.shorts = "-"};
	add_table(s, &standard_argp);
	assert(s->nr == SCAN_OWN);
	for (const struct verb *const *v = verbs; *v; v++)
		add_table(s, (*v)->argp);
	optind = 0; /* GNU: start again, and forget an earlier line */
	opterr = 0;
}

int scan_next(struct scan *s, int argc, char **argv)
{
	int c = getopt_long(argc, argv, s->shorts, s->longs, NULL);

	if (c == -1)
		return SCAN_END;
	if (c == 1)
		return SCAN_WORD;
	if (c >= LONG)
		return c - LONG;
	if (c == '?')
		return optopt == '?' ? SCAN_HELP : SCAN_ERROR;
	for (unsigned int i = 0; i < s->nr; i++)
		if (s->options[i]->key == c)
			return (int)i;
	return SCAN_ERROR;
}

/*
 * Options that exclude each other: one of them on the command line replaces the other one in the
 * file.
 */
static const char *const rivals[][2] = {{"host", "target"}, {"interval", "burst"}};

/*
 * Options that change nothing without one of two others. The command line may not have them then; a
 * file may, for when the other one is given.
 */
static const struct {
	const char *option;
	const char *with[2];
} companions[] = {
	{"fio-write", {"fio-iolog", "fio-job"}},
	{"fio-device", {"fio-iolog", "fio-job"}},
	{"fio-pace", {"fio-iolog", "fio-job"}},
	{"fio-scale", {"fio-iolog", "fio-job"}},
	{"fio-block", {"fio-iolog", "fio-job"}},
	{"perfetto-max", {"perfetto"}},
	{"tolerance", {"compare"}},
};

/*
 * Where an option is given: in section [all], in the verb's section, on the command line. A later
 * one of these replaces an earlier one.
 */
enum level { OF_ALL, OF_VERB, OF_LINE };

/**
 * struct word - an option that was given
 * @value: its argument; NULL if it has none, or if it is from the command line
 * @line: of the file
 */
struct word {
	const struct argp_option *option;
	const char *value;
	unsigned int line;
	enum level level;
};

/* Room for a message: one line of a file, and the words around it. */
#define MESSAGE_LEN (CONFIG_LINE_MAX + 256)

/**
 * struct config - a configuration file while it is read
 * @text: the whole file; words point to it
 * @line: number of the line that is read, from 1
 * @section: that it is in; NULL before the first one
 * @word: the options of the command line, then those of the file
 * @distrusted: why another user may have written the file; "" if no other user can
 * @message: the first error; "" if there is none
 */
struct config {
	const struct verb *const *verbs;
	const struct verb *verb;
	const char *path;
	char *text;
	unsigned int line;
	const char *section;
	struct word word[CONFIG_WORDS_MAX];
	unsigned int nr_words;
	struct ntprof_file ntprof;
	struct ntprof_option from_ntprof[NTPROF_KEYS + 1];
	char distrusted[TRUST_WHY_LEN];
	char message[MESSAGE_LEN];
};

static void complain(struct config *c, unsigned int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Only the first error is reported. @line: 0 if it is not of a line */
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

static const struct word *word_find(const struct config *c, const struct argp_option *option,
				    enum level level)
{
	for (unsigned int i = 0; i < c->nr_words; i++)
		if (c->word[i].level == level && !strcmp(c->word[i].option->name, option->name))
			return &c->word[i];
	return NULL;
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

/* Return: whether an option of a later level takes the place of @word */
static bool is_replaced(const struct config *c, const struct word *word)
{
	for (unsigned int i = 0; i < c->nr_words; i++)
		if (c->word[i].level > word->level &&
		    replaces(c->word[i].option->name, word->option->name))
			return true;
	return false;
}

static void add_word(struct config *c, const struct argp_option *option, const char *value,
		     unsigned int line, enum level level)
{
	const struct word *before =
		option->flags & OPTION_REPEATS ? NULL : word_find(c, option, level);

	if (before)
		complain(c, line, "%s is there twice, first in line %u", option->name,
			 before->line);
	else if (c->distrusted[0] && option->flags & OPTION_ACTS)
		complain(c, line, "%s is not taken from a file that others may have written: %s %s",
			 option->name, c->path, c->distrusted);
	else if (c->nr_words == CONFIG_WORDS_MAX)
		complain(c, line, "too many options, the most are %u", CONFIG_WORDS_MAX);
	else
		c->word[c->nr_words++] = (struct word){option, value, line, level};
}

/* Return: the verb of that name; NULL if there is none, or if it has no --config. */
static const struct verb *verb_of(const struct config *c, const char *name)
{
	for (const struct verb *const *v = c->verbs; *v; v++)
		if (!strcmp((*v)->name, name))
			return verb_option(*v, "config") ? *v : NULL;
	return NULL;
}

/* Return: the option as c->verb has it, or else as any verb with --config has it, or NULL. */
static const struct argp_option *option_of_any(const struct config *c, const char *name)
{
	const struct argp_option *found = verb_option(c->verb, name);

	for (const struct verb *const *v = c->verbs; *v && !found; v++)
		if (verb_option(*v, "config"))
			found = verb_option(*v, name);
	return found;
}

static bool is_comment(const char *text)
{
	return *text == ';' || *text == '#';
}

/*
 * Removes the quotes of a value that begins with one. Only a comment may follow the closing quote.
 */
static char *unquote(struct config *c, char *value)
{
	char *end = strchr(value + 1, *value), *rest;

	if (!end) {
		complain(c, c->line, "%s: no closing quote", value);
		return value;
	}
	rest = end + 1 + strspn(end + 1, " \t");
	if (*rest && !is_comment(rest))
		complain(c, c->line, "'%s' comes after the closing quote", rest);
	*end = '\0';
	return value + 1;
}

/* Cuts blanks at the end of @text. Return: @text without those at its beginning */
static char *trim(char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

/*
 * @text: what follows the = of a line. Return: the value, without quotes, and without a comment,
 * which begins behind a blank
 */
static char *value_of(struct config *c, char *text)
{
	char *value = trim(text);

	if (*value == '"' || *value == '\'')
		return unquote(c, value);
	for (char *p = value; *p; p++) {
		if (is_comment(p) && isspace((unsigned char)p[-1])) {
			*p = '\0';
			break;
		}
	}
	return trim(value);
}

static bool is_word(const char *value, const char *const words[3])
{
	for (unsigned int i = 0; i < 3; i++)
		if (!strcasecmp(value, words[i]))
			return true;
	return false;
}

/* A key that is an option; @own: the option of our verb, NULL if only others have it */
static void take_option(struct config *c, const struct argp_option *option,
			const struct argp_option *own, const char *value, enum level level)
{
	static const char *const yes[] = {"true", "yes", "1"}, *const no[] = {"false", "no", "0"};
	bool on = is_word(value, yes);

	if (option->arg && !*value)
		complain(c, c->line, "%s has no value", option->name);
	else if (!option->arg && !on && !is_word(value, no))
		complain(c, c->line, "%s = %s: neither true nor false", option->name, value);
	else if (own && (option->arg || on))
		add_word(c, own, option->arg ? value : NULL, c->line, level);
}

static void take_key(struct config *c, const char *name, const char *value)
{
	bool all = !strcmp(c->section, "all");
	const struct verb *verb = all ? NULL : verb_of(c, c->section);
	const struct argp_option *option = all	  ? option_of_any(c, name)
					   : verb ? verb_option(verb, name)
						  : NULL;
	enum ntprof_key key = ntprof_key(c->section, name);
	const char *why;

	if (option && strcmp(name, "config") != 0) {
		if (all || verb == c->verb)
			take_option(c, option, verb_option(c->verb, name), value,
				    all ? OF_ALL : OF_VERB);
		return;
	}
	if (key == NTPROF_KEYS) {
		complain(c, c->line, "unknown key '%s' in section [%s]", name, c->section);
		return;
	}
	if (c->ntprof.key[key].line) {
		complain(c, c->line, "%s is there twice, first in line %u", ntprof_key_name(key),
			 c->ntprof.key[key].line);
		return;
	}
	why = ntprof_set(&c->ntprof, key, value, c->line);
	if (why)
		complain(c, c->line, "%s = %s: %s", ntprof_key_name(key), value, why);
}

static bool section_known(const struct config *c)
{
	return !strcmp(c->section, "all") || verb_of(c, c->section) || ntprof_section(c->section);
}

static void take_line(struct config *c, char *text)
{
	char *end = text + strcspn(text, *text == '[' ? "]" : "=:"), *rest = end + !!*end;

	if (!*text || is_comment(text))
		return;
	if (!*end) {
		complain(c, c->line, "neither [section] nor key = value");
		return;
	}
	*end = '\0';
	if (*text == '[') {
		c->section = text + 1;
		rest = trim(rest);
		if (*rest && !is_comment(rest))
			complain(c, c->line, "'%.*s' comes after the section's name",
				 (int)strcspn(rest, "\r"), rest);
		if (!section_known(c))
			complain(c, c->line, "unknown section [%s]", c->section);
		return;
	}
	text = trim(text);
	if (!c->section)
		complain(c, c->line, "'%s' is in no section", text);
	else
		take_key(c, text, value_of(c, rest));
}

_Static_assert(CONFIG_LINE_MAX == 4096, "as the message has it");
_Static_assert(CONFIG_BYTES_MAX == 1048576, "as the message has it");

static void take_text(struct config *c, size_t size)
{
	char *next = c->text, *end = next + size, *line;
	size_t len;

	/* Skip the byte order mark (UTF-8) that some editors write. */
	if (size >= 3 && !memcmp(next, "\xef\xbb\xbf", 3))
		next += 3;
	for (c->line = 1; next < end && !c->message[0]; c->line++) {
		line = next;
		next = memchr(line, '\n', (size_t)(end - line)) ?: end;
		len = (size_t)(next - line);
		*next = '\0';
		if (next < end)
			next++;
		if (memchr(line, '\0', len < CONFIG_LINE_MAX ? len : CONFIG_LINE_MAX))
			complain(c, c->line, "a byte is 0: not a text");
		else if (len >= CONFIG_LINE_MAX)
			complain(c, c->line, "the line is longer than 4095 bytes");
		else if (next > c->text + CONFIG_BYTES_MAX)
			complain(c, c->line, "the file is longer than 1 MiB");
		else
			take_line(c, trim(line));
	}
}

/* The memory devices, such as /dev/null: opening them has no effect. */
#define MEMORY_MAJOR 1

static const char *kind_refused(const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return strerror(EISDIR);
	if (S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode))
		return "a pipe, which may never end: write it into a file";
	if (S_ISCHR(st->st_mode) && major(st->st_rdev) != MEMORY_MAJOR)
		return "a device";
	return S_ISBLK(st->st_mode) ? "a block device" : NULL;
}

/*
 * The path may name anything, and opening some files has effects: a watchdog starts, a process that
 * writes to a FIFO goes on. So the file is looked at before it is opened.
 *
 * Return: a descriptor, or -1 with the reason in @wrong
 */
static int open_file(const char *path, const char **wrong)
{
	int there = open(path, O_PATH | O_CLOEXEC), fd = -1;
	char own[32];
	struct stat st;

	*wrong = there < 0 || fstat(there, &st) ? strerror(errno) : kind_refused(&st);
	if (!*wrong) {
		snprintf(own, sizeof(own), "/proc/self/fd/%d", there);
		/* O_NOCTTY: a terminal must not become ours. */
		fd = open(own, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			*wrong = strerror(errno);
	}
	if (there >= 0)
		close(there);
	return fd;
}

/* Reads at most one byte more than a file may have. Return: NULL, or why it failed */
static const char *read_all(struct config *c, int fd, size_t *size)
{
	ssize_t n;

	c->text = malloc(CONFIG_BYTES_MAX + 2);
	if (!c->text)
		return strerror(ENOMEM);
	do {
		n = read(fd, c->text + *size, CONFIG_BYTES_MAX + 1 - *size);
		*size += n > 0 ? (size_t)n : 0;
	} while (n > 0 && *size <= CONFIG_BYTES_MAX);
	return n < 0 ? strerror(errno) : NULL;
}

static void read_file(struct config *c)
{
	const char *wrong;
	int fd = open_file(c->path, &wrong);
	size_t size = 0;

	wrong = wrong ?: read_all(c, fd, &size);
	if (wrong)
		complain(c, 0, "cannot read %s: %s", c->path, wrong);
	else if (trust_config(fd, c->path, c->distrusted))
		c->distrusted[0] = '\0';
	if (!wrong)
		take_text(c, size);
	if (fd >= 0)
		close(fd);
}

/* Return: "host" or "target"; "" if neither the line nor the file says it. */
static const char *side_of(const struct config *c)
{
	for (unsigned int i = 0; i < c->nr_words; i++) {
		const char *name = c->word[i].option->name;

		if ((!strcmp(name, "host") || !strcmp(name, "target")) &&
		    !is_replaced(c, &c->word[i]))
			return name;
	}
	return "";
}

/* Warns of keys that ask live to leave out what it always shows. */
static void tell_notes(const struct config *c)
{
	for (unsigned int i = 0; i < NTPROF_KEYS; i++)
		if (ntprof_always(&c->ntprof, (enum ntprof_key)i))
			fprintf(stderr, "ntprof-bpf: %s:%u: %s is false, but it is always shown\n",
				c->path, c->ntprof.key[i].line,
				ntprof_key_name((enum ntprof_key)i));
}

/* The options that keys of ntprof mean. */
static void take_ntprof(struct config *c)
{
	bool live = !strcmp(c->verb->name, "live"), serve = !strcmp(c->verb->name, "serve");
	unsigned int offline = ntprof_offline(&c->ntprof);

	if (offline && live)
		complain(c, offline,
			 "IS_ONLINE is false, which is what record and report are for: "
			 "ntprof-bpf record --config %s",
			 c->path);
	ntprof_options(&c->ntprof, side_of(c), c->from_ntprof);
	for (const struct ntprof_option *o = c->from_ntprof; o->name; o++) {
		const struct argp_option *own = verb_option(c->verb, o->name);
		unsigned int line = c->ntprof.key[o->key].line;

		/* The series of serve are not made of these groups. */
		if (serve && !strcmp(o->name, "by"))
			continue;
		if (!option_of_any(c, o->name))
			complain(c, line, "%s is --%s here, which no verb has yet",
				 ntprof_key_name(o->key), o->name);
		else if (own)
			add_word(c, own, o->arg, line, OF_ALL);
	}
	if (live && !c->message[0])
		tell_notes(c);
}

/*
 * The options of the command line, and the path of --config among them. Return: whether it has no
 * fault that the parser will find
 */
static bool take_command_line(struct config *c, int argc, char **argv)
{
	const struct verb *const only[] = {c->verb, NULL};
	struct scan s;
	int at;

	scan_begin(&s, only);
	while ((at = scan_next(&s, argc, argv)) != SCAN_END) {
		if (at == SCAN_WORD)
			continue;
		/*
		 * If the line itself is wrong or asks for help, the file is not read: the parser's
		 * message comes first.
		 */
		if (at < SCAN_OWN) {
			c->path = NULL;
			return false;
		}
		if (!strcmp(s.options[at]->name, "config")) {
			if (c->path)
				complain(c, 0, "--config can be given once");
			c->path = optarg;
		}
		/* There is room, because each option is added once. */
		if (!word_find(c, s.options[at], OF_LINE))
			c->word[c->nr_words++] =
				(struct word){.option = s.options[at], .level = OF_LINE};
	}
	return true;
}

static bool is_given(const struct config *c, const char *name, enum level from)
{
	for (unsigned int i = 0; name && i < c->nr_words; i++)
		if (c->word[i].level >= from && !strcmp(c->word[i].option->name, name))
			return true;
	return false;
}

static void refuse_alone(struct config *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(companions); i++) {
		const char *const *with = companions[i].with;

		if (is_given(c, companions[i].option, OF_LINE) && !is_given(c, with[0], OF_ALL) &&
		    !is_given(c, with[1], OF_ALL))
			complain(c, 0, "--%s is for --%s%s%s", companions[i].option, with[0],
				 with[1] ? " and --" : "", with[1] ?: "");
	}
}
_Static_assert(SCAN_OPTIONS_MAX <= CONFIG_WORDS_MAX, "each option once");

/* Return: 0 or -ENOMEM. */
static int put_word(struct config_line *l, const char *path, const struct word *word)
{
	int at = l->argc++;

	if (asprintf(&l->origins[at], "%s:%u", path, word->line) < 0) {
		l->origins[at] = NULL;
		return -ENOMEM;
	}
	if (asprintf(&l->argv[at], "--%s%s%s", word->option->name, word->value ? "=" : "",
		     word->value ?: "") < 0) {
		l->argv[at] = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* The file's options that were not replaced come before the words of the line. */
static int put_all(const struct config *c, int argc, char **argv, struct config_line *l)
{
	int err = 0;

	l->argv = calloc((size_t)argc + c->nr_words + 1, sizeof(*l->argv));
	l->origins = calloc((size_t)argc + c->nr_words + 1, sizeof(*l->origins));
	if (!l->argv || !l->origins)
		return -ENOMEM;
	l->argv[l->argc++] = argv[0];
	for (unsigned int i = 0; !err && i < c->nr_words; i++)
		if (c->word[i].level != OF_LINE && !is_replaced(c, &c->word[i]))
			err = put_word(l, c->path, &c->word[i]);
	for (int i = 1; !err && i < argc; i++)
		l->argv[l->argc++] = argv[i];
	return err;
}

/* The arguments of config_read(). File-wide, as a process has one command line. */
static struct {
	const struct config_line *l;
	const struct verb *const *verbs;
	const struct verb *verb;
	int argc;
	char **argv;
} last;

int config_read(struct config_line *l, const struct verb *const *verbs, const struct verb *verb,
		int argc, char **argv)
{
	struct config *c = calloc(1, sizeof(*c));
	int err = c ? 0 : -ENOMEM, status = 0;
	bool right;

	*l = (struct config_line){.argc = 0};
	last.l = l;
	last.verbs = verbs;
	last.verb = verb;
	last.argc = argc;
	last.argv = argv;
	if (c) {
		c->verbs = verbs;
		c->verb = verb;
		right = take_command_line(c, argc, argv);
		if (c->path && !c->message[0])
			read_file(c);
		if (!c->message[0])
			take_ntprof(c);
		if (right)
			refuse_alone(c);
		if (!c->message[0])
			err = put_all(c, argc, argv, l);
		if (c->message[0]) {
			message("%s", c->message);
			status = EX_USAGE;
		}
		free(c->text);
	}
	free(c);
	if (err)
		message("%s", strerror(-err));
	return err ? EXIT_FAILURE : status;
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

/*
 * Seconds that reading again may take. A file that does not answer, such as a FIFO, must not hold
 * up tracing.
 */
#define PATIENCE_S 1

/*
 * The child inherits the tracer's descriptors and must not outlive the tracer. The parent may be
 * unable to kill it (cli/confine.h), so the child has an alarm and a parent death signal.
 */
static void end_in_time(void)
{
	sigset_t set;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	alarm(PATIENCE_S);
}

/* Return: the status of the child, as of waitpid(2). */
static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

bool config_searches(void)
{
	struct config_line l;
	pid_t pid;

	if (!last.verb)
		return false;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		/* Faults of the file were reported when it was first read. */
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		end_in_time();
		dup2(null, STDERR_FILENO);
		rights_reduce(0);
		_exit(config_read(&l, last.verbs, last.verb, last.argc, last.argv) != 0);
	}
	return pid > 0 && wait_for(pid);
}

/* The values of each option, one a line: @said[] of its index */
static void gather(struct scan *s, const struct verb *const *verbs, const struct config_line *l,
		   char *said[SCAN_OPTIONS_MAX])
{
	int at;

	scan_begin(s, verbs);
	while ((at = scan_next(s, l->argc, l->argv)) != SCAN_END)
		if (at >= SCAN_OWN &&
		    asprintf(&said[at], "%s\n%s", said[at] ?: "", optarg ?: "") < 0)
			said[at] = NULL;
}

/* Names the options that differ and that only a restart changes. */
static void tell_changes(const struct config_line *was, const struct config_line *is)
{
	const struct verb *const only[] = {last.verb, NULL};
	char *before[SCAN_OPTIONS_MAX] = {NULL}, *now[SCAN_OPTIONS_MAX] = {NULL};
	struct scan s;

	gather(&s, only, was, before);
	gather(&s, only, is, now);
	for (unsigned int i = SCAN_OWN; i < s.nr; i++)
		if (!(s.options[i]->flags & OPTION_RELOADS) &&
		    strcmp(before[i] ?: "", now[i] ?: "") != 0)
			journal(JOURNAL_WARNING,
				"--%s is another now, which takes a restart: it stays",
				s.options[i]->name);
}

/* Messages, and the result behind them, go to @fd; see config_reload(). */
static void run_child(int fd, void (*parse)(int argc, char **argv, void *context, void *result),
		      void *context, void *result, size_t size) __attribute__((noreturn));

static void run_child(int fd, void (*parse)(int argc, char **argv, void *context, void *result),
		      void *context, void *result, size_t size)
{
	const struct config_line *was = last.l;
	FILE *f = fdopen(fd, "w");
	struct config_line l;

	end_in_time();
	if (!f)
		_exit(EXIT_FAILURE);
	/* Only the parent has the thread that waits for a standard error that is full (cli/run.c).
	 */
	stderr = f;
	if (config_read(&l, last.verbs, last.verb, last.argc, last.argv)) {
		fflush(stderr);
		_exit(EXIT_FAILURE);
	}
	options_origins((const char *const *)l.origins, l.argc);
	parse(l.argc, l.argv, context, result);
	tell_changes(was, &l);
	_exit(fwrite(result, size, 1, f) == 1 && !fflush(f) ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Return: all that comes before the end of the pipe, to be freed; NULL if there is no memory. */
static char *receive(int fd, size_t *size)
{
	char *text = NULL, part[4096];
	FILE *f = open_memstream(&text, size);
	ssize_t n;

	while (f && ((n = read(fd, part, sizeof(part))) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			fwrite(part, (size_t)n, 1, f);
	if (f && !fclose(f))
		return text;
	free(text);
	*size = 0;
	return NULL;
}

int config_reload(void (*parse)(int argc, char **argv, void *context, void *result), void *context,
		  void *result, size_t size)
{
	size_t nr = 0;
	int p[2], status;
	char *text;
	bool right;
	pid_t pid;

	if (!last.verb)
		return -ENOENT;
	if (pipe2(p, O_CLOEXEC))
		return -errno;
	fflush(stderr);
	pid = fork();
	if (pid < 0) {
		int err = -errno;

		close(p[0]);
		close(p[1]);
		return err;
	}
	if (!pid)
		run_child(p[1], parse, context, result, size);
	close(p[1]);
	text = receive(p[0], &nr);
	close(p[0]);
	status = wait_for(pid);
	right = text && !status && nr >= size;
	if (right) {
		nr -= size;
		memcpy(result, text + nr, size);
	}
	fwrite(text ?: "", 1, nr, stderr);
	free(text);
	if (WIFSIGNALED(status))
		return -ETIMEDOUT;
	return right ? 0 : -ECANCELED;
}
