// SPDX-License-Identifier: GPL-2.0-only
#include "stream/input.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/span.h"
#include "core/time.h"

/* Whether this is a FIFO with a name. An unnamed pipe had its writer before this program got it. */
static bool is_fifo(int fd, const struct stat *st)
{
	struct statfs fs;

	return S_ISFIFO(st->st_mode) && !fstatfs(fd, &fs) && fs.f_type != PIPEFS_MAGIC;
}

/*
 * Does not wait for the writer of a FIFO. One process may write several FIFOs: it waits until each
 * of them is opened, in an order that we do not know.
 */
static int open_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0)
		fcntl(fd, F_SETFL, 0);
	return fd;
}

int input_open(struct input *in, const char *path)
{
	struct stat st;

	*in = (struct input){.path = path, .now = INT64_MIN};
	in->fd = strcmp(path, "-") ? open_path(path) : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (in->fd < 0)
		return -errno;
	if (fstat(in->fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	in->again = S_ISREG(st.st_mode) && strcmp(path, "-");
	in->unfed = strcmp(path, "-") && is_fifo(in->fd, &st);
	in->reader = stream_reader_new(in->fd);
	return in->reader ? 0 : -errno;
}

bool input_same(const struct input *a, const struct input *b)
{
	struct stat x, y;

	return !fstat(a->fd, &x) && !fstat(b->fd, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

int input_rewind(struct input *in)
{
	struct stream_reader *reader;

	if (lseek(in->fd, 0, SEEK_SET))
		return -errno;
	reader = stream_reader_new(in->fd);
	if (!reader)
		return -errno;
	stream_reader_free(in->reader);
	in->reader = reader;
	in->begun = in->ended = false;
	in->records = in->first_ns = in->last_ns = in->bursts = in->burst_ns = 0;
	in->now = INT64_MIN;
	in->result = 0;
	return 0;
}

static void take_clock(struct input *in, const struct instant *c)
{
	if (!in->lined_up)
		in->to_common = (int64_t)((uint64_t)c->realtime_ns - c->monotonic_ns);
	in->now = (int64_t)(c->monotonic_ns + (uint64_t)in->to_common);
}

static void take_record(struct input *in, const struct nt_record *r)
{
	uint64_t first = record_begin_ns(r), last = record_last_ns(r);

	in->records++;
	if (first && (!in->first_ns || first < in->first_ns))
		in->first_ns = first;
	if (!last)
		return;
	if (last > in->last_ns)
		in->last_ns = last;
	in->now = (int64_t)(last + (uint64_t)in->to_common);
}

int input_read(struct input *in, struct stream_event *e)
{
	if (in->ended)
		return 0;
	/* Without a writer, read() would return 0 as at the end of a file. */
	if (in->unfed)
		poll(&(struct pollfd){.fd = in->fd, .events = POLLIN}, 1, -1);
	in->unfed = false;
	in->result = stream_read(in->reader, e);
	if (in->result <= 0) {
		in->ended = true;
		return 0;
	}
	switch (e->type) {
	case STREAM_HEADER:
		in->header = e->header;
		in->begun = true;
		break;
	case STREAM_CLOCK:
		take_clock(in, &e->clock);
		break;
	case STREAM_RECORD:
		take_record(in, &e->record);
		break;
	case STREAM_LOSSES:
		in->losses = e->losses;
		break;
	case STREAM_END:
		in->losses = e->end.losses;
		break;
	case STREAM_BURST:
		in->bursts++;
		in->burst_ns = ns_add(in->burst_ns, burst_length_ns(&e->burst));
		break;
	case STREAM_QUEUE:
	case STREAM_ORIGIN:
	case STREAM_DEVICE:
		break;
	}
	return 1;
}

double input_seconds(const struct input *in)
{
	/* A damaged stream may have its points in any order. */
	return in->last_ns > in->first_ns ? (double)(in->last_ns - in->first_ns) / 1e9 : 0;
}

bool input_failed(const struct input *in)
{
	return in->result < 0 && (in->result != -ENODATA || !in->begun);
}

void input_close(struct input *in)
{
	stream_reader_free(in->reader);
	if (in->fd >= 0)
		close(in->fd);
}
