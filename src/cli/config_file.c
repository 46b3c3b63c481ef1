// SPDX-License-Identifier: GPL-2.0-only
#include "cli/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
