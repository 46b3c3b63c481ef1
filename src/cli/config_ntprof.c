// SPDX-License-Identifier: GPL-2.0-only
#include "cli/config_ntprof.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/hash.h"
#include "core/text.h"

/*
 * The upper bound (4 GiB less one byte) where the file gives only a lower one. No command is
 * larger.
 */
#define SIZE_MOST UINT32_MAX

/* The kinds of values. Each has a text for the error message. */
enum kind {
	KIND_BOOLEAN,
	KIND_TEXT,
	KIND_NUMBER,
	KIND_SIZE,
	KIND_SIZES,
	KIND_RATE,
	KIND_OPERATION,
	KIND_FIGURES,
};

static const char *const wrong[] = {
	[KIND_BOOLEAN] = "neither true nor false",
	[KIND_TEXT] = "says nothing",
	[KIND_NUMBER] = "not a positive whole number",
	[KIND_SIZE] = "not a size below 4G (such as 4096 or 4K)",
	[KIND_SIZES] = "not sizes below 4G, with commas between several (such as 4K,128K)",
	[KIND_RATE] = "neither MB/s, a positive number, nor INF",
	[KIND_OPERATION] = "neither read nor write nor both",
	[KIND_FIGURES] = "not min, max, avg or dist",
};

/*
 * Each key, and the option with the same meaning.
 * @arg: the option's argument, if it is not the value itself; several keys with the same @option
 *       and an @arg make one argument with commas
 * @option: NULL: the key has no option of its own, see below
 */
static const struct translation {
	const char *section;
	const char *name;
	enum kind kind;
	const char *option;
	const char *arg;
} table[NTPROF_KEYS] = {
	[NTPROF_SESSION_NAME] = {"Workload", "SESSION_NAME", KIND_TEXT, .option = "device"},
	[NTPROF_IO_TYPE] = {"Workload", "IO_TYPE", KIND_OPERATION, .option = "op"},
	[NTPROF_IO_SIZE] = {"Workload", "IO_SIZE", KIND_SIZES, .option = "size"},
	[NTPROF_MIN_IO_SIZE] = {"Workload", "MIN_IO_SIZE", KIND_SIZE, .option = "size"},
	[NTPROF_MAX_IO_SIZE] = {"Workload", "MAX_IO_SIZE", KIND_SIZE, .option = "size"},
	[NTPROF_NETWORK_BANDWIDTH_LIMIT] = {"Execution", "NETWORK_BANDWIDTH_LIMIT", KIND_RATE,
					    .option = "network-limit"},
	[NTPROF_NVME_DRIVE_BANDWIDTH_LIMIT] = {"Execution", "NVME_DRIVE_BANDWIDTH_LIMIT", KIND_RATE,
					       .option = "drive-limit"},
	[NTPROF_IS_ONLINE] = {"Profiling", "IS_ONLINE", KIND_BOOLEAN, .option = NULL},
	[NTPROF_DATA_DIR] = {"Profiling", "DATA_DIR", KIND_TEXT, .option = "output"},
	[NTPROF_TIME_INTERVAL] = {"Profiling", "TIME_INTERVAL", KIND_NUMBER, .option = "interval"},
	[NTPROF_FREQUENCY] = {"Profiling", "FREQUENCY", KIND_NUMBER, .option = "sample"},
	[NTPROF_BUFFER_SIZE] = {"Profiling", "BUFFER_SIZE", KIND_NUMBER, .option = "buffer"},
	[NTPROF_AGGREGATION] = {"Profiling", "AGGREGATION", KIND_FIGURES, .option = "stats"},
	[NTPROF_ENABLE_LATENCY_DISTRIBUTION] = {"Report", "ENABLE_LATENCY_DISTRIBUTION",
						KIND_BOOLEAN, .option = "stats",
						.arg = "p10,p50,p70,p80,p90,p95,p99,p99.9"},
	[NTPROF_ENABLE_THROUGHPUT] = {"Report", "ENABLE_THROUGHPUT", KIND_BOOLEAN, .option = NULL},
	[NTPROF_ENABLE_LATENCY_BREAKDOWN] = {"Report", "ENABLE_LATENCY_BREAKDOWN", KIND_BOOLEAN,
					     .option = NULL},
	[NTPROF_ENABLE_QUEUE_LENGTH] = {"Report", "ENABLE_QUEUE_LENGTH", KIND_BOOLEAN,
					.option = NULL},
	[NTPROF_ENABLE_GROUP_BY_SIZE] = {"Report", "ENABLE_GROUP_BY_SIZE", KIND_BOOLEAN,
					 .option = "by", .arg = "size"},
	[NTPROF_ENABLE_GROUP_BY_TYPE] = {"Report", "ENABLE_GROUP_BY_TYPE", KIND_BOOLEAN,
					 .option = "by", .arg = "op"},
	[NTPROF_ENABLE_GROUP_BY_SESSION] = {"Report", "ENABLE_GROUP_BY_SESSION", KIND_BOOLEAN,
					    .option = "by", .arg = "nqn"},
};

/* Words of ntprof, and this program's words for the same. */
static const struct {
	enum kind kind;
	const char *word;
	const char *ours;
} words[] = {
	{KIND_OPERATION, "read", "read"},
	{KIND_OPERATION, "write", "write"},
	{KIND_OPERATION, "both", "read,write"},
	{KIND_FIGURES, "min", "min"},
	{KIND_FIGURES, "max", "max"},
	{KIND_FIGURES, "avg", "mean"},
	{KIND_FIGURES, "dist", "p10,p50,p70,p80,p90,p95,p99,p99.9"},
};

bool ntprof_section(const char *section)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (!strcasecmp(section, table[i].section))
			return true;
	return false;
}

enum ntprof_key ntprof_key(const char *section, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (!strcasecmp(section, table[i].section) && !strcasecmp(name, table[i].name))
			return (enum ntprof_key)i;
	return NTPROF_KEYS;
}

const char *ntprof_key_name(enum ntprof_key key)
{
	return table[key].name;
}

static const char *word_of(enum kind kind, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].kind == kind && !strcasecmp(value, words[i].word))
			return words[i].ours;
	return NULL;
}

static bool is_true(const char *value)
{
	return !strcasecmp(value, "true") || !strcmp(value, "1");
}

static bool is_boolean(const char *value)
{
	return is_true(value) || !strcasecmp(value, "false") || !strcmp(value, "0");
}

static bool is_number(const char *value)
{
	size_t digits = strspn(value, "0123456789");

	return digits && !value[digits] && strspn(value, "0") < digits;
}

static bool is_size(const char *value)
{
	uint64_t bytes;

	return !parse_size(value, &bytes) && bytes <= SIZE_MOST;
}

static bool is_rate(const char *value)
{
	double rate;
	char *end;

	if (!strcasecmp(value, "INF"))
		return true;
	if (!*value || strspn(value, "0123456789.") != strlen(value))
		return false;
	rate = strtod(value, &end);
	return !*end && rate > 0;
}

/* @value: if it is a list, the blanks around its commas are removed */
static bool is_sizes(char *value)
{
	char *to = value, copy[NTPROF_ARG_LEN], *rest = copy, *word;

	if (!strcasecmp(value, "all"))
		return true;
	for (const char *from = value; *from; from++)
		if (*from != ' ' && *from != '\t')
			*to++ = *from;
	*to = '\0';
	strcpy(copy, value);
	while ((word = strsep(&rest, ",")))
		if (!is_size(word))
			return false;
	return true;
}

static bool is_of_kind(enum kind kind, char *value)
{
	switch (kind) {
	case KIND_BOOLEAN:
		return is_boolean(value);
	case KIND_NUMBER:
		return is_number(value);
	case KIND_SIZE:
		return is_size(value);
	case KIND_SIZES:
		return is_sizes(value);
	case KIND_RATE:
		return is_rate(value);
	case KIND_OPERATION:
	case KIND_FIGURES:
		return word_of(kind, value);
	default:
		return *value;
	}
}

const char *ntprof_set(struct ntprof_file *f, enum ntprof_key key, const char *value,
		       unsigned int line)
{
	struct ntprof_value *v = &f->key[key];

	if (strlen(value) >= sizeof(v->value))
		return "longer than any value that there is";
	strcpy(v->value, value);
	v->line = line;
	return is_of_kind(table[key].kind, v->value) ? NULL : wrong[table[key].kind];
}

unsigned int ntprof_offline(const struct ntprof_file *f)
{
	const struct ntprof_value *v = &f->key[NTPROF_IS_ONLINE];

	return v->line && !is_true(v->value) ? v->line : 0;
}

bool ntprof_always(const struct ntprof_file *f, enum ntprof_key key)
{
	const struct translation *t = &table[key];

	return f->key[key].line && t->kind == KIND_BOOLEAN && !t->option &&
	       key != NTPROF_IS_ONLINE && !is_true(f->key[key].value);
}

/*
 * Return: the option's argument for this value, "" if the option is not to be given. @buf: room for
 * it
 */
static const char *argument_of(const struct ntprof_file *f, enum ntprof_key key, const char *side,
			       char buf[NTPROF_ARG_LEN])
{
	const struct ntprof_value *least = &f->key[NTPROF_MIN_IO_SIZE],
				  *most = &f->key[NTPROF_MAX_IO_SIZE];
	const char *value = f->key[key].value, *word = word_of(table[key].kind, value);

	switch (key) {
	case NTPROF_SESSION_NAME:
		snprintf(buf, NTPROF_ARG_LEN, "%s%.*s", *value == '/' ? "" : "/dev/",
			 NTPROF_ARG_LEN - 8, value);
		return strcasecmp(value, "all") != 0 ? buf : "";
	case NTPROF_IO_SIZE:
		/* ntprof ignores this key if a lower or an upper bound is given. */
		return least->line || most->line || !strcasecmp(value, "all") ? "" : value;
	case NTPROF_MAX_IO_SIZE:
		if (least->line)
			return "";
		snprintf(buf, NTPROF_ARG_LEN, "0-%.*s", NTPROF_ARG_LEN - 8, value);
		return buf;
	case NTPROF_MIN_IO_SIZE:
		if (most->line)
			snprintf(buf, NTPROF_ARG_LEN, "%.*s-%.*s", NTPROF_ARG_LEN / 2 - 2, value,
				 NTPROF_ARG_LEN / 2 - 2, most->value);
		else
			snprintf(buf, NTPROF_ARG_LEN, "%.*s-%" PRIu32, NTPROF_ARG_LEN - 16, value,
				 SIZE_MOST);
		return buf;
	case NTPROF_NETWORK_BANDWIDTH_LIMIT:
	case NTPROF_NVME_DRIVE_BANDWIDTH_LIMIT:
		return strcasecmp(value, "INF") != 0 ? value : "";
	case NTPROF_DATA_DIR:
		snprintf(buf, NTPROF_ARG_LEN, "%.*s/%s.ntp", NTPROF_ARG_LEN - 16, value, side);
		return *side ? buf : "";
	case NTPROF_BUFFER_SIZE:
		snprintf(buf, NTPROF_ARG_LEN, "%.*sM", NTPROF_ARG_LEN - 2, value);
		return buf;
	default:
		if (table[key].arg)
			return is_true(value) ? table[key].arg : "";
		return word ?: value;
	}
}

/*
 * Return: the option of that name, if it combines several keys and one of them was seen already, or
 * NULL.
 */
static struct ntprof_option *already(struct ntprof_option *options, const char *name)
{
	bool list = !strcmp(name, "stats") || !strcmp(name, "by");

	for (struct ntprof_option *o = options; list && o->name; o++)
		if (!strcmp(o->name, name))
			return o;
	return NULL;
}

/*
 * Appends @arg after a comma. The room is enough for one value, or for all words of --stats and
 * --by.
 */
static void append(struct ntprof_option *o, const char *arg)
{
	size_t used = strlen(o->arg), len = strlen(arg);

	if (used + !!used + len >= sizeof(o->arg))
		return;
	if (used)
		o->arg[used++] = ',';
	memcpy(o->arg + used, arg, len + 1);
}

void ntprof_options(const struct ntprof_file *f, const char *side,
		    struct ntprof_option options[NTPROF_KEYS + 1])
{
	struct ntprof_option *next = options;

	memset(options, 0, (NTPROF_KEYS + 1) * sizeof(*options));
	for (unsigned int i = 0; i < NTPROF_KEYS; i++) {
		enum ntprof_key key = (enum ntprof_key)i;
		struct ntprof_option *o;
		char buf[NTPROF_ARG_LEN];
		const char *arg;

		if (!table[i].option || !f->key[i].line)
			continue;
		arg = argument_of(f, key, side, buf);
		if (!*arg)
			continue;
		o = already(options, table[i].option);
		if (!o) {
			o = next++;
			o->name = table[i].option;
			o->key = key;
		}
		/* Several keys may ask for the same word. */
		if (!*o->arg || !strstr(o->arg, arg))
			append(o, arg);
	}
}
