/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scans a command line before a verb parses it, with the options of all verbs at once: the verb may
 * come after options with arguments, and an option may belong to another verb.
 */
#ifndef NTPROF_CLI_SCAN_H
#define NTPROF_CLI_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/verbs.h"

struct scan;

/**
 * scan_new() - collect the options of all verbs
 * @verbs: all verbs; the last one is NULL
 *
 * Return: release it with scan_free(); NULL if memory ran out.
 */
struct scan *scan_new(const struct verb *const *verbs);

/**
 * scan_verb() - find the verb's name
 * @s: from scan_new()
 * @argc, @argv: from main()
 * @help: set if --help comes before the verb
 *
 * Return: index of the first word that is neither an option nor an option's argument; 0 if there is
 * none, or if an option that no verb has comes before it.
 */
int scan_verb(const struct scan *s, int argc, char **argv, bool *help);

/**
 * scan_foreign() - find an option that only other verbs have
 * @s: from scan_new()
 * @verb: the verb that will parse the line
 * @argc, @argv: the line, without the verb's name
 *
 * Return: the long name of the first one; NULL if there is none before --help or before an option
 * that no verb has.
 */
const char *scan_foreign(const struct scan *s, const struct verb *verb, int argc, char **argv);

/**
 * scan_each() - call a function for each option of a line
 * @s: from scan_new()
 * @argc, @argv: the line, without the verb's name
 * @fn: gets the option's long name, which stays valid, and its argument or NULL
 *
 * Return: whether the whole line was scanned: false if it has --help or an option that no verb has.
 */
bool scan_each(const struct scan *s, int argc, char **argv,
	       void (*fn)(void *context, const char *option, const char *arg), void *context);

/**
 * scan_option() - the long name of an option that @verb has, as in its table; @argument: set if it
 * takes one
 */
const char *scan_option(const struct verb *verb, const char *option, bool *argument);

/** scan_has() - whether @verb has the option with the long name @option */
bool scan_has(const struct verb *verb, const char *option);

/** scan_free() - NULL is fine */
void scan_free(struct scan *s);

#endif /* NTPROF_CLI_SCAN_H */
