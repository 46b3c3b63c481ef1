// SPDX-License-Identifier: GPL-2.0-only
#include "serve/keep_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/time.h"

/* Size of the buffer for bytes that the disk has not taken yet. */
#define FILE_BUFFER_BYTES (1u << 20)

/* The least room in the buffer before anything is added: for a frame and what surrounds it. */
#define ROOM_BYTES (2 * STREAM_FRAME_MAX)
/*
 * How long blocks, names and events are written before the caller goes on: each may wait a moment
 * for the disk.
 */
#define FEED_NS 100000000ULL

_Static_assert(FILE_BUFFER_BYTES >= STREAM_BUFFER_MIN && FILE_BUFFER_BYTES > 2 * ROOM_BYTES,
	       "a stream needs that");

/* The path is for messages only. */
static void name_file(struct keep_file *f, unsigned int tried)
{
	folder_next(f->in, f->realtime_ns, tried, f->name);
	snprintf(f->path, sizeof(f->path), "%s/%s", f->in->path, f->name);
}

static int job_open(void *file)
{
	struct keep_file *f = file;
	int err = folder_open(f->in);

	if (err)
		return err;
	folder_begin_file(f->in);
	name_file(f, 0);
	err = folder_make_room(f->in, f->room, f->room);
	f->crowded = err == -ENOSPC;
	err = err ?: destination_open_in(&f->to, f->in->fd, f->name, folder_mark(f->in));
	if (err)
		f->to.fd = -1;
	else if (f->to.temporary[0])
		folder_claim(f->to.fd);
	return err;
}

bool keep_file_opens(const struct keep_file *f)
{
	return f->job->busy && f->job->run == job_open;
}

int keep_file_open(struct keep_file *f, const struct stream_header *header)
{
	int err = job_do(f->job, job_open, f);

	if (err)
		return err;
	f->out = output_new(f->to.fd, FILE_BUFFER_BYTES);
	f->w = f->out ? stream_writer_to(f->out, header) : NULL;
	if (f->w)
		return 0;
	/* Without a thread the file fails: with -EAGAIN it would be opened again. */
	return errno == EAGAIN ? -ENOMEM : -errno;
}

static bool turn_is_over(const struct keep_file *f)
{
	return monotonic_ns() - f->turn_ns >= FEED_NS;
}

static int job_make_room(void *file)
{
	struct keep_file *f = file;

	return folder_make_room(f->in, f->asked, f->unwritten);
}

/*
 * Checks the buffer and the folder, where older files are removed to make room. Return: 0, -EAGAIN
 * or another negative errno.
 */
static int room_for(struct keep_file *f, uint64_t bytes)
{
	int err = output_error(f->out);

	if (err)
		return err;
	if (output_room(f->out) < ROOM_BYTES)
		return -EAGAIN;
	bytes += stream_bytes(f->w) + KEEP_FILE_END_BYTES;
	if (!f->asked && bytes <= f->room)
		return 0;
	if (!f->asked && turn_is_over(f))
		return -EAGAIN;
	if (!f->asked) {
		f->asked = bytes;
		f->unwritten = bytes - output_written(f->out);
	}
	err = job_do(f->job, job_make_room, f);
	if (err == -EAGAIN)
		return err;
	if (!err)
		f->room = f->asked;
	f->asked = 0;
	f->crowded = err == -ENOSPC;
	/* If --keep-free is reached, a file that has some records is kept. */
	f->full = err == -EFBIG || (f->crowded && f->first_ns);
	/* More may be needed by now. */
	return err ?: bytes <= f->room ? 0 : -EAGAIN;
}

int keep_file_tell(struct keep_file *f, const struct stream_event *e)
{
	return room_for(f, sizeof(*e)) ?: stream_write(f->w, e);
}

static bool is_untold(const struct ring_queue *q, const struct ring *r, const struct ring_block *b)
{
	return q->told != r->file && q->last_block >= b->number;
}

/* Announces the connections that @b may have records of and that this file does not have yet. */
static int tell_queues(struct keep_file *f, struct ring *r, const struct ring_block *b)
{
	struct stream_event e = {.type = STREAM_QUEUE};
	struct ring_queue *q = NULL, *next = NULL;
	uint64_t bytes = 0;
	int err;

	HASH_ITER(hh, r->queues, q, next)
	{
		bytes += is_untold(q, r, b) ? sizeof(e) : 0;
	}
	err = bytes ? room_for(f, bytes) : 0;
	if (err)
		return err;
	HASH_ITER(hh, r->queues, q, next)
	{
		if (!is_untold(q, r, b))
			continue;
		e.queue = q->q;
		err = keep_file_tell(f, &e);
		if (err)
			return err;
		q->told = r->file;
	}
	return 0;
}

/*
 * Announces all namespaces. There are few of them, and it does no harm if this block has no record
 * of some.
 */
static int tell_devices(struct keep_file *f, struct ring *r)
{
	struct stream_event e = {.type = STREAM_DEVICE};
	struct ring_device *d = NULL, *next = NULL;
	int err;

	HASH_ITER(hh, r->devices, d, next)
	{
		if (d->told == r->file)
			continue;
		e.device = d->d;
		err = keep_file_tell(f, &e);
		if (err)
			return err;
		d->told = r->file;
	}
	return 0;
}

/*
 * Connections and namespaces may be many, and so may blocks: they are gone through only if one of
 * them is new or was given a record since the last time.
 */
static int tell_names(struct keep_file *f, struct ring *r, const struct ring_block *b)
{
	int err;

	if (!r->untold)
		return 0;
	err = tell_queues(f, r, b) ?: tell_devices(f, r);
	r->untold = err;
	return err;
}

static int write_block(struct keep_file *f, struct ring *r, struct ring_block *b)
{
	struct stream_event clock = {.type = STREAM_CLOCK, .clock = b->ended};
	int err;

	err = tell_names(f, r, b) ?:
	      room_for(f, b->records.len + sizeof(clock)) ?:
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

int keep_file_feed(struct keep_file *f, struct ring *r)
{
	struct ring_block *b;
	int err;

	while ((b = ring_from(r, f->next)) && !turn_is_over(f)) {
		err = write_block(f, r, b);
		if (err)
			return err == -EAGAIN ? 0 : err;
	}
	output_flush(f->out);
	return !b;
}

int keep_file_end(struct keep_file *f, const struct ring *r)
{
	struct stream_event e = {.type = STREAM_END, .end.clock = instant_now()};
	int err = output_error(f->out);

	if (err || f->ended)
		return err;
	/* Room may have been asked for a block that is not kept any more. */
	if (output_room(f->out) < ROOM_BYTES || (f->asked && room_for(f, 0) == -EAGAIN))
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

static int job_take_name(void *file)
{
	struct keep_file *f = file;
	int err = -EEXIST;

	for (unsigned int i = 0; i < FOLDER_NAMES_TRIED && err == -EEXIST; i++) {
		if (i)
			name_file(f, i);
		err = destination_commit(&f->to);
	}
	if (!err) {
		folder_end_file(f->in, stream_bytes(f->w));
		folder_add(f->in, f->to.folder_fd, f->name);
	}
	return err;
}

bool keep_file_takes_name(const struct keep_file *f)
{
	return f->job->run == job_take_name;
}

/* Return: 0, -EAGAIN or another negative errno */
static int take_name(struct keep_file *f)
{
	int err = job_do(f->job, job_take_name, f);

	f->named = !err;
	return err;
}

int keep_file_commit(struct keep_file *f)
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
	err = take_name(f);
	if (err == -EAGAIN)
		return 0;
	/* A new name is on the disk only when its folder has been synchronized. */
	if (!err)
		output_sync(f->out, f->to.folder_fd);
	return err;
}

int keep_file_hurry(struct keep_file *f)
{
	int err = f->w ? output_error(f->out) : -ETIMEDOUT;

	if (err || f->named)
		return err ?: 1;
	if (!f->ended || output_written(f->out) < stream_bytes(f->w))
		return 0;
	return take_name(f) ?: 1;
}

void keep_file_close(struct keep_file *f)
{
	stream_writer_free(f->w);
	f->w = NULL;
	output_free(f->out);
	f->out = NULL;
}
