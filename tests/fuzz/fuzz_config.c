// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for files of --config. Besides what the sanitizers see, it asserts that a file
 * is either refused with a message that names it, or gives words that an option parser takes: each
 * of them an option of the verb, said by a line of the file, and none of them twice where it can be
 * given once.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "asserts.h"
#include "cli/config.h"
#include "real_read.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* The names that ntprof's keys are, and some of each kind. */
static const struct argp_option options[] = {
	{"host", 1, NULL, 0, "", 0},
	{"target", 2, NULL, 0, "", 0},
	{"op", 3, "OP", OPTION_REPEATS, "", 0},
	{"size", 4, "SIZE", OPTION_REPEATS, "", 0},
	{"sample", 5, "N", 0, "", 0},
	{"interval", 6, "TIME", 0, "", 0},
	{"burst", 7, "TIME", 0, "", 0},
	{"device", 8, "DEVICE", 0, "", 0},
	{"by", 9, "KEYS", OPTION_REPEATS, "", 0},
	{"stats", 10, "FIGURES", OPTION_REPEATS, "", 0},
	{"peer", 11, "COMMAND", OPTION_REPEATS | OPTION_ACTS, "", 0},
	{"network-limit", 12, "RATE", 0, "", 0},
	{"drive-limit", 13, "R", 0, "", 0},
	{"config", 14, "FILE", 0, "", 0},
	{0},
};
static const struct argp_option record_options[] = {
	{"host", 1, NULL, 0, "", 0},
	{"output", 2, "FILE", OPTION_ACTS, "", 0},
	{"buffer", 3, "SIZE", 0, "", 0},
	{"config", 4, "FILE", 0, "", 0},
	{0},
};
static const struct argp live_argp = {.options = options};
static const struct argp record_argp = {.options = record_options};
static const struct verb live = {.name = "live", .argp = &live_argp};
static const struct verb record = {.name = "record", .argp = &record_argp};
static const struct verb *const verbs[] = {&live, &record, NULL};

static FILE *messages;
static char *said;
static size_t said_size;

/* Messages about files go there: glibc's stderr is a variable. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	messages = open_memstream(&said, &said_size);
	ASSERT(messages);
	stderr = messages;
	return 0;
}

static bool is_option(const struct verb *v, const char *word)
{
	size_t length = strcspn(word, "=");

	for (const struct argp_option *o = v->argp->options; o->name; o++)
		if (!strncmp(word + 2, o->name, length - 2) && !o->name[length - 2])
			return !o->arg == !word[length];
	return false;
}

static void check(const struct verb *v, const char *path, unsigned int given)
{
	char *argv[] = {"ntprof-bpf", "--config", (char *)path, "--sample=3", NULL};
	int argc = 3 + (int)given, nr = 0;
	struct config_line l;
	int status;

	rewind(messages);
	status = config_read(&l, verbs, v, argc, argv);
	fflush(messages);
	if (status) {
		ASSERT(status == EX_USAGE);
		ASSERT(said_size && strstr(said, path));
	} else {
		ASSERT(l.argc >= argc && l.argc <= argc + CONFIG_WORDS_MAX);
		for (; l.origins[nr + 1]; nr++) {
			const char *word = l.argv[nr + 1];

			ASSERT(!strncmp(word, "--", 2) && is_option(v, word));
			ASSERT(!strncmp(l.origins[nr + 1], path, strlen(path)));
			/* The line's takes the place of the file's. */
			ASSERT(!given || strncmp(word, "--sample", 8) != 0);
		}
		ASSERT(l.argc == argc + nr);
		ASSERT(!strcmp(l.argv[nr + 1], "--config"));
	}
	config_free(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("config", MFD_CLOEXEC);
	char path[64];

	ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	/* Sometimes others may write to it. */
	ASSERT(!fchmod(fd, size % 7 ? 0600 : 0666));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check(&live, path, size % 2);
	check(&record, path, 0);
	close(fd);
	return 0;
}
