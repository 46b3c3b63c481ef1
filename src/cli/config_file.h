/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the lines of a configuration file, whatever somebody names as one: in bounded memory, and without waiting for
 * anybody.
 */
#ifndef NTPROF_CLI_CONFIG_FILE_H
#define NTPROF_CLI_CONFIG_FILE_H

#include <stddef.h>
#include <stdio.h>

/* A line that is longer is refused: room for an NQN, a path or a command, and for the terminator. */
#define CONFIG_LINE_MAX 4096
/* A file that is longer is none that somebody wrote. */
#define CONFIG_BYTES_MAX (1u << 20)

/**
 * struct config_file - while it is read
 * @f: NULL before config_file_open() and after config_file_close()
 * @line: number of the last line that was read, from 1
 * @text: it, without its end and without blanks in front
 */
struct config_file {
	FILE *f;
	unsigned int line;
	size_t bytes;
	char text[CONFIG_LINE_MAX];
};

/**
 * config_file_open() - begin; @c: all zeroes
 *
 * What would have to be waited for, such as a FIFO, is refused.
 *
 * Return: NULL, or why it cannot be read, in words that follow "cannot read PATH: ".
 */
const char *config_file_open(struct config_file *c, const char *path);

/**
 * config_file_next() - read a line
 * @wrong: set where it is none, in words that follow its number
 *
 * Return: whether there is one; else the file has ended, or, with *@wrong, cannot be read any further.
 */
int config_file_next(struct config_file *c, const char **wrong);

/** config_file_close() - also of one that was not opened */
void config_file_close(struct config_file *c);

#endif /* NTPROF_CLI_CONFIG_FILE_H */
