/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The keys of ntprof's configuration file (ntprof_config.ini), and which options say the same.
 */
#ifndef NTPROF_CLI_CONFIG_NTPROF_H
#define NTPROF_CLI_CONFIG_NTPROF_H

#include <stdbool.h>
#include <stddef.h>

/* What a key says, as an option's argument. */
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
 * struct ntprof_file - what such a file says
 * @value: "" and @line 0 of what it does not say
 * @line: where
 */
struct ntprof_file {
	struct ntprof_value {
		char value[NTPROF_ARG_LEN];
		unsigned int line;
	} key[NTPROF_KEYS];
};

/**
 * struct ntprof_option - an option, and what the file says of it
 * @name: long name; NULL ends a list
 * @arg: its argument
 * @key: which key says so, the first one of several
 */
struct ntprof_option {
	const char *name;
	char arg[NTPROF_ARG_LEN];
	enum ntprof_key key;
};

/** ntprof_section() - whether ntprof's file has a section of this name; upper and lower case are one */
bool ntprof_section(const char *section);

/** ntprof_key() - the key of that name in that section; NTPROF_KEYS if there is none. Case as above */
enum ntprof_key ntprof_key(const char *section, const char *name);

/** ntprof_key_name() - as ntprof writes it */
const char *ntprof_key_name(enum ntprof_key key);

/**
 * ntprof_set() - take the value of a key
 *
 * Return: NULL, or why the value is none, in words that follow it.
 */
const char *ntprof_set(struct ntprof_file *f, enum ntprof_key key, const char *value,
		       unsigned int line);

/**
 * ntprof_options() - what the file says, in this program's options
 * @f: all of it
 * @side: "host", "target" or "", where it is not known: DATA_DIR gives no file then
 * @options: filled
 */
void ntprof_options(const struct ntprof_file *f, const char *side,
		    struct ntprof_option options[NTPROF_KEYS + 1]);

/** ntprof_offline() - the line that says so: record first, and look at it afterwards; 0: none does */
unsigned int ntprof_offline(const struct ntprof_file *f);

/** ntprof_always() - whether a key is false of which everything is shown in any case */
bool ntprof_always(const struct ntprof_file *f, enum ntprof_key key);

#endif /* NTPROF_CLI_CONFIG_NTPROF_H */
