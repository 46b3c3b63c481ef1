/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the lines of a configuration file. The path may name anything, so memory is bounded and
 * opening does not block.
 */
#ifndef NTPROF_CLI_CONFIG_FILE_H
#define NTPROF_CLI_CONFIG_FILE_H

#include <stddef.h>
#include <stdio.h>

/*
 * The longest line, with its terminator: room for an NQN, a path or a command. A longer line is an
 * error.
 */
#define CONFIG_LINE_MAX 4096
/* A longer file is an error: it is no configuration. */
#define CONFIG_BYTES_MAX (1u << 20)

/**
 * struct config_file - a file while it is read
 * @f: NULL before config_file_open() and after config_file_close()
 * @line: number of the last line that was read, from 1
 * @text: that line, without the line feed and without blanks at its start
 */
struct config_file {
	FILE *f;
	unsigned int line;
	size_t bytes;
	char text[CONFIG_LINE_MAX];
};

/**
 * config_file_open() - open a file; @c: all zeroes
 *
 * Files that would block, such as a FIFO, are refused.
 *
 * Return: NULL, or the reason for the failure, to follow "cannot read PATH: ".
 */
const char *config_file_open(struct config_file *c, const char *path);

/**
 * config_file_next() - read a line
 * @wrong: the error, or NULL at the end of the file; a text to follow the line's number
 *
 * Return: whether there is a line.
 */
int config_file_next(struct config_file *c, const char **wrong);

/** config_file_close() - close; @c may be not open */
void config_file_close(struct config_file *c);

#endif /* NTPROF_CLI_CONFIG_FILE_H */
