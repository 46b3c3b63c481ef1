// SPDX-License-Identifier: GPL-2.0-only
#include "keep/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The least room in the buffer before anything is added: for a frame and what surrounds it. */
#define ROOM_BYTES (2 * STREAM_FRAME_MAX)
/* The most that the end frame and a clock take. */
#define END_BYTES 8192

_Static_assert(FILE_BUFFER_BYTES >= STREAM_BUFFER_MIN && FILE_BUFFER_BYTES > 2 * ROOM_BYTES,
	       "a stream needs that");

/* The path is for messages only. */
static void name_file(struct keep_file *f, struct folder *in, unsigned int tried)
{
	folder_next(in, f->realtime_ns, tried, f->name);
	snprintf(f->path, sizeof(f->path), "%s/%s", in->path, f->name);
}

int keep_file_open(struct keep_file *f, struct folder *in, const struct stream_header *header,
		   int64_t realtime_ns)
{
	int err;

	f->to.fd = -1;
	f->realtime_ns = realtime_ns;
	err = folder_open(in);
	if (err)
		return err;
	in->freed = 0;
	name_file(f, in, 0);
	err = folder_make_room(in, ROOM_BYTES, ROOM_BYTES);
	f->crowded = err == -ENOSPC;
	err = err ?: destination_open_in(&f->to, in->fd, f->name);
	if (err) {
		f->to.fd = -1;
		return err;
	}
	f->out = output_new(f->to.fd, FILE_BUFFER_BYTES);
	if (!f->out)
		return -errno;
	f->w = stream_writer_to(f->out, header);
	return f->w ? 0 : -errno;
}

/* Checks the buffer and the folder. Return: 0, -EAGAIN or another negative errno. */
static int room_for(struct keep_file *f, struct folder *in, uint64_t bytes)
{
	int err = output_error(f->out);

	if (err)
		return err;
	if (output_room(f->out) < ROOM_BYTES)
		return -EAGAIN;
	bytes += stream_bytes(f->w) + END_BYTES;
	err = folder_make_room(in, bytes, bytes - output_written(f->out));
	f->crowded = err == -ENOSPC;
	/* If --keep-free is reached, a file that has some records is kept. */
	f->full = err == -EFBIG || (f->crowded && f->first_ns);
	return err;
}

/* Return: as room_for(). */
static int tell(struct keep_file *f, struct folder *in, const struct stream_event *e)
{
	return room_for(f, in, sizeof(*e)) ?: stream_write(f->w, e);
}

/* Announces the connections that @b may have records of and that this file does not have yet. */
static int tell_queues(struct keep_file *f, struct ring *r, struct folder *in,
		       const struct ring_block *b)
{
	struct stream_event e = {.type = STREAM_QUEUE};
	struct ring_queue *q = NULL, *next = NULL;
	int err;

	HASH_ITER(hh, r->queues, q, next)
	{
		if (q->told == f->number || q->last_block < b->number)
			continue;
		e.queue = q->q;
		err = tell(f, in, &e);
		if (err)
			return err;
		q->told = f->number;
	}
	return 0;
}

/*
 * Announces all namespaces. There are few of them, and it does no harm if this block has no record
 * of some.
 */
static int tell_devices(struct keep_file *f, struct ring *r, struct folder *in)
{
	struct stream_event e = {.type = STREAM_DEVICE};
	struct ring_device *d = NULL, *next = NULL;
	int err;

	HASH_ITER(hh, r->devices, d, next)
	{
		if (d->told == f->number)
			continue;
		e.device = d->d;
		err = tell(f, in, &e);
		if (err)
			return err;
		d->told = f->number;
	}
	return 0;
}

static int write_block(struct keep_file *f, struct ring *r, struct folder *in, struct ring_block *b)
{
	struct stream_event clock = {.type = STREAM_CLOCK, .clock = b->ended};
	int err;

	err = tell_queues(f, r, in, b)	       ?:
	      tell_devices(f, r, in)	       ?:
	      room_for(f, in, b->records.len + sizeof(clock)) ?:
	      stream_write(f->w, &clock)	      ?:
	      stream_write_gathered(f->w, &b->records);
	if (err)
		return err;
	if (!f->first_ns) {
		f->first_ns = b->began_ns;
		memcpy(f->losses, b->losses, sizeof(f->losses));
	}
	f->next = r->reader = b->number + 1;
	return 0;
}

int keep_file_feed(struct keep_file *f, struct ring *r, struct folder *in)
{
	struct ring_block *b;
	int err;

	while ((b = ring_from(r, f->next))) {
		err = write_block(f, r, in, b);
		if (err)
			return err == -EAGAIN ? 0 : err;
	}
	output_flush(f->out);
	return 1;
}

int keep_file_end(struct keep_file *f, const struct ring *r)
{
	struct stream_event e = {.type = STREAM_END, .end.clock = instant_now()};
	int err = output_error(f->out);

	if (err || f->ended)
		return err;
	if (output_room(f->out) < ROOM_BYTES)
		return -EAGAIN;
	/* The losses during the time of the file. */
	for (unsigned int i = 0; i < COUNTERS_NR && f->first_ns; i++)
		e.end.losses.count[i] = r->losses[i] - f->losses[i];
	stream_leave_out_many(f->w, r->missed);
	err = stream_write(f->w, &e) ?: stream_flush(f->w);
	f->ended = !err;
	if (f->ended)
		output_sync(f->out, f->to.fd);
	return err;
}

/* Return: 0 or a negative errno */
static int take_name(struct keep_file *f, struct folder *in)
{
	int err = -EEXIST;

	for (unsigned int i = 0; i < FOLDER_NAMES_TRIED && err == -EEXIST; i++) {
		if (i)
			name_file(f, in, i);
		err = destination_commit(&f->to);
	}
	f->named = !err;
	if (f->named)
		folder_add(in, f->to.folder_fd, f->name);
	return err;
}

int keep_file_commit(struct keep_file *f, struct folder *in)
{
	int err = output_error(f->out);

	if (err)
		return err;
	if (!output_idle(f->out))
		return 0;
	/* The last write may have failed meanwhile. */
	err = output_error(f->out);
	if (err || f->named)
		return err ?: 1;
	err = take_name(f, in);
	/* A new name is on the disk only when its folder has been synchronized. */
	if (!err)
		output_sync(f->out, f->to.folder_fd);
	return err;
}

int keep_file_hurry(struct keep_file *f, struct folder *in)
{
	int err = output_error(f->out);

	if (err || f->named)
		return err ?: 1;
	if (!f->ended || output_written(f->out) < stream_bytes(f->w))
		return 0;
	return take_name(f, in) ?: 1;
}

void keep_file_close(struct keep_file *f)
{
	stream_writer_free(f->w);
	f->w = NULL;
	output_free(f->out);
	f->out = NULL;
	if (f->to.fd >= 0)
		destination_close(&f->to);
	f->to.fd = -1;
}
