// SPDX-License-Identifier: GPL-2.0-only
#include "cli/written.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/options.h"

/* The fastest: traces are large, and most of what is in them comes again and again. */
#define GZIP_MODE "wb1"

/*
 * Whether there is a file that begins like one of ours, compressed or not. Others may have put
 * anything there: a FIFO would wait for a writer.
 */
static bool may_replace(const struct written *w, const char *path)
{
	char begins[WRITTEN_BEGINS_MAX];
	struct stat st;
	bool same;
	gzFile gz;
	int fd;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	gz = gzdopen(fd, "rb");
	if (!gz) {
		close(fd);
		return false;
	}
	same = gzread(gz, begins, (unsigned int)w->len) == (int)w->len &&
	       !memcmp(begins, w->begins, w->len);
	gzclose(gz);
	return same;
}

static ssize_t gzip_write(void *gz, const char *bytes, size_t size)
{
	int n = gzwrite(gz, bytes, (unsigned int)size);

	return n > 0 ? n : 0;
}

static int gzip_close(void *gz)
{
	return gzclose(gz) == Z_OK ? 0 : EOF;
}

/* Takes @fd. Return: NULL, with errno set. */
static FILE *gzip_open(int fd)
{
	static const cookie_io_functions_t to = {.write = gzip_write, .close = gzip_close};
	gzFile gz = gzdopen(fd, GZIP_MODE);
	FILE *f = gz ? fopencookie(gz, "w", to) : NULL;

	if (!gz)
		close(fd);
	else if (!f)
		gzclose(gz);
	if (!f)
		errno = ENOMEM;
	return f;
}

static bool is_compressed(const struct written *w, const char *path)
{
	size_t len = strlen(path);

	return w->gzip && len > 3 && !strcmp(path + len - 3, ".gz");
}

bool written_open(struct written *w, const char *path)
{
	int err = destination_open(&w->to, path, may_replace(w, path));

	w->path = path;
	if (err == -EEXIST) {
		message("%s %s: it is there already, and is no such report", w->option, path);
		return false;
	}
	if (!err) {
		int fd = dup(w->to.fd);

		if (fd >= 0)
			w->f = is_compressed(w, path) ? gzip_open(fd) : fdopen(fd, "w");
		w->open = w->f;
		err = w->f ? 0 : -errno;
		if (err)
			destination_close(&w->to);
	}
	if (err)
		message("%s %s: %s", w->option, path, strerror(-err));
	return !err;
}

int written_finish(struct written *w)
{
	bool failed;
	int err;

	if (!w->f)
		return 0;
	failed = ferror(w->f);
	errno = 0;
	err = !fclose(w->f) ? 0 : errno ? -errno : -EIO;
	w->f = NULL;
	/* The error of an earlier write was not kept. Another one fails for the same reason. */
	if (!err && failed)
		err = write(w->to.fd, "", 1) < 0 ? -errno : -EIO;
	err = err ?: destination_commit(&w->to);
	if (!err)
		return 0;
	message("%s %s: %s", w->option, w->path, strerror(-err));
	return -ECANCELED;
}

void written_close(struct written *w)
{
	if (w->f)
		fclose(w->f);
	if (w->open)
		destination_close(&w->to);
	w->open = false;
}
