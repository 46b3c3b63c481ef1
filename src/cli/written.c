// SPDX-License-Identifier: GPL-2.0-only
#include "cli/written.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options.h"

/*
 * Whether there is a file that begins like one of ours. Others may have put anything there: a FIFO
 * would wait for a writer.
 */
static bool may_replace(const struct written *w, const char *path)
{
	char begins[WRITTEN_BEGINS_MAX];
	struct stat st;
	bool same;
	int fd;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	same = read(fd, begins, w->len) == (ssize_t)w->len && !memcmp(begins, w->begins, w->len);
	close(fd);
	return same;
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

		w->f = fd < 0 ? NULL : fdopen(fd, "w");
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
	int err;

	if (!w->f)
		return 0;
	err = fflush(w->f) ? -errno : 0;
	/* The error of an earlier write was not kept. Another one fails for the same reason. */
	if (!err && ferror(w->f))
		err = write(w->to.fd, "", 1) < 0 ? -errno : -EIO;
	err = err ?: destination_commit(&w->to);
	if (!err)
		return 0;
	message("%s %s: %s", w->option, w->path, strerror(-err));
	return -ECANCELED;
}

void written_close(struct written *w)
{
	if (!w->f)
		return;
	fclose(w->f);
	destination_close(&w->to);
}
