// SPDX-License-Identifier: GPL-2.0-only
#include "cli/config_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

/*
 * Options that exclude each other: one of them on the command line replaces the other one in the
 * file.
 */
static const char *const rivals[][2] = {{"host", "target"}, {"interval", "burst"}};

/* Options that can be given several times; the values are combined. */
static const char *const repeated[] = {"peer", "where", "ctrl", "nsid",	 "queue",
				       "op",   "size",	"lba",	"stats", "by"};

/* Options that run a command, write to a path, replace or remove files, or listen. */
static const char *const acting[] = {"peer",   "peer-as-root", "output", "force",    "dir",
				     "listen", "files",	       "bytes",	 "keep-free"};

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

static const struct config_word *find(const struct config_words *w, const char *option,
				      enum config_level level)
{
	for (unsigned int i = 0; i < w->nr; i++)
		if (w->word[i].level == level && !strcmp(w->word[i].option, option))
			return &w->word[i];
	return NULL;
}

bool config_words_has(const struct config_words *w, const char *option, enum config_level level)
{
	return find(w, option, level);
}

unsigned int config_words_before(const struct config_words *w, const char *option,
				 enum config_level level)
{
	const struct config_word *word =
		is_in(repeated, ARRAY_SIZE(repeated), option) ? NULL : find(w, option, level);

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
