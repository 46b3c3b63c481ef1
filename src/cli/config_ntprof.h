/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The keys of ntprof's configuration file (ntprof_config.ini), and the options with the same
 * meaning.
 */
#ifndef NTPROF_CLI_CONFIG_NTPROF_H
#define NTPROF_CLI_CONFIG_NTPROF_H

#include <stdbool.h>
#include <stddef.h>

/* Room for the value of a key, and for an option's argument. */
#define NTPROF_ARG_LEN 512

enum ntprof_key {
	NTPROF_SESSION_NAME,
	NTPROF_IO_TYPE,
	NTPROF_IO_SIZE,
	NTPROF_MIN_IO_SIZE,
	NTPROF_MAX_IO_SIZE,
	NTPROF_NETWORK_BANDWIDTH_LIMIT,
	NTPROF_NVME_DRIVE_BANDWIDTH_LIMIT,
	NTPROF_IS_ONLINE,
	NTPROF_DATA_DIR,
	NTPROF_TIME_INTERVAL,
	NTPROF_FREQUENCY,
	NTPROF_BUFFER_SIZE,
	NTPROF_AGGREGATION,
	NTPROF_ENABLE_LATENCY_DISTRIBUTION,
	NTPROF_ENABLE_THROUGHPUT,
	NTPROF_ENABLE_LATENCY_BREAKDOWN,
	NTPROF_ENABLE_QUEUE_LENGTH,
	NTPROF_ENABLE_GROUP_BY_SIZE,
	NTPROF_ENABLE_GROUP_BY_TYPE,
	NTPROF_ENABLE_GROUP_BY_SESSION,
	NTPROF_KEYS,
};

/**
 * struct ntprof_file - the keys of such a file
 * @value: "" if the file does not have the key; @line is 0 then
 * @line: number of the line that has the key
 */
struct ntprof_file {
	struct ntprof_value {
		char value[NTPROF_ARG_LEN];
		unsigned int line;
	} key[NTPROF_KEYS];
};

/**
 * struct ntprof_option - an option, and its argument from the file
 * @name: long name; NULL ends a list
 * @arg: its argument
 * @key: the key that asked for it, the first one if there are several
 */
struct ntprof_option {
	const char *name;
	char arg[NTPROF_ARG_LEN];
	enum ntprof_key key;
};

/** ntprof_section() - whether ntprof's file has a section of this name; case does not matter */
bool ntprof_section(const char *section);

/**
 * ntprof_key() - the key of that name in that section, NTPROF_KEYS if there is none; case does not
 * matter
 */
enum ntprof_key ntprof_key(const char *section, const char *name);

/** ntprof_key_name() - the key's name as ntprof writes it */
const char *ntprof_key_name(enum ntprof_key key);

/**
 * ntprof_set() - store the value of a key
 *
 * Return: NULL, or why the value is wrong, a text to follow the value.
 */
const char *ntprof_set(struct ntprof_file *f, enum ntprof_key key, const char *value,
		       unsigned int line);

/**
 * ntprof_options() - translate the file into this program's options
 * @f: the whole file
 * @side: "host" or "target"; "" if it is not known, and then DATA_DIR does not give a file
 * @options: filled
 */
void ntprof_options(const struct ntprof_file *f, const char *side,
		    struct ntprof_option options[NTPROF_KEYS + 1]);

/**
 * ntprof_offline() - number of the line that asks to record first and to report afterwards, 0 if
 * there is none
 */
unsigned int ntprof_offline(const struct ntprof_file *f);

/**
 * ntprof_always() - whether the file sets a key to false whose figures this program always shows
 */
bool ntprof_always(const struct ntprof_file *f, enum ntprof_key key);

#endif /* NTPROF_CLI_CONFIG_NTPROF_H */
