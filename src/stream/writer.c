// SPDX-License-Identifier: GPL-2.0-only
#include "stream/writer.h"

#include <errno.h>
#include <libdeflate.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/codec.h"

#if RECORD_SLACK > GATHERED_SLACK
#error "the encoder touches more"
#endif

struct gatherer {
	struct record_encoder encoder;
	struct gathered *to;
};

struct gatherer *gatherer_new(void)
{
	return calloc(1, sizeof(struct gatherer));
}

void gather_begin(struct gatherer *g, struct gathered *to)
{
	g->to = to;
	to->len = 0;
	to->records = 0;
	record_encoder_begin(&g->encoder);
}

int gather(struct gatherer *g, const struct nt_record *r, bool *first)
{
	const unsigned int connections = g->encoder.nr_connections;
	struct gathered *to = g->to;
	uint8_t *payload = to->frame + FRAME_HEAD_LEN, *end;

	if (r->op >= NT_OPS_NR || r->shape >= NT_SHAPES_NR)
		return -EINVAL;
	if (FRAME_HEAD_LEN + to->len + RECORD_LEN_MAX > STREAM_FRAME_MAX ||
	    record_encoder_full(&g->encoder))
		return -ENOSPC;
	end = record_encode(&g->encoder, payload + to->len, r);
	if (!end)
		return -ENOMEM;
	to->len = (size_t)(end - payload);
	to->records++;
	*first = g->encoder.nr_connections > connections;
	return 0;
}

void gatherer_free(struct gatherer *g)
{
	if (g)
		record_encoder_free(&g->encoder);
	free(g);
}

#define RECORDS_PAYLOAD_MAX (STREAM_FRAME_MAX - FRAME_HEAD_LEN)
/* The longest of the other frames, a closing one with all losses, takes much less. */
#define EVENT_PAYLOAD_MAX 4096
/*
 * With less room than this in an output, records are left out: the losses frame and the end must
 * fit.
 */
#define ROOM_MIN (STREAM_FRAME_MAX + STREAM_FRAME_MAX / 2)
_Static_assert(STREAM_BUFFER_MIN / 2 >= ROOM_MIN, "half an empty buffer is enough to go on");

/*
 * What a frame of records has in frames before it, for each record in their order. That of finer
 * points is the last: programs that do not know the others look for it there.
 */
enum { BESIDE_CPUS, BESIDE_FINE, BESIDES_NR };

static const struct {
	unsigned int type;
	size_t len_max; /* of a record */
	uint8_t *(*encode)(uint8_t *p, const struct nt_record *r);
	bool (*any)(const struct nt_record *r);
} besides[] = {
	[BESIDE_CPUS] = {STREAM_CPUS, CPUS_LEN_MAX, cpus_encode, cpus_any},
	[BESIDE_FINE] = {STREAM_FINE, FINE_LEN_MAX, fine_encode, fine_any},
};

/* @len: bytes of it in @frame, if @any of the records has some */
struct beside {
	size_t len;
	bool any;
	uint8_t frame[STREAM_FRAME_MAX];
};

/*
 * @out: to write to; NULL: to @fd
 * @out_size: room in @out while it was empty
 * @error: 0 or the negative errno after which nothing more is written
 * @gathered: bytes of @gathered_records records in @frame, after room for the frame's head
 * @beside: frames that go before that of these records: of enum beside. All together are no longer
 *          than STREAM_FRAME_MAX
 * @behind: the reader is slow: records are left out
 * @reader_slow: number of records that were left out
 * @losses: the last losses that the caller gave
 */
struct stream_writer {
	struct output *out;
	size_t out_size;
	int fd;
	int error;
	bool ended;
	enum nt_side side;
	uint32_t sequence;
	uint64_t bytes;
	uint64_t records;
	size_t gathered;
	unsigned int gathered_records;
	struct beside beside[BESIDES_NR];
	bool behind;
	uint64_t reader_slow;
	struct stream_losses losses;
	struct record_encoder encoder;
	uint8_t frame[STREAM_FRAME_MAX + RECORD_SLACK];
};

/* Position in a payload that is being written. */
struct put {
	uint8_t *p;
	uint8_t *end;
	bool overflow;
};

static void put_bytes(struct put *b, const void *from, size_t n)
{
	if ((size_t)(b->end - b->p) < n) {
		b->overflow = true;
		return;
	}
	memcpy(b->p, from, n);
	b->p += n;
}

static void put_number(struct put *b, uint64_t n, size_t bytes)
{
	uint8_t le[sizeof(n)];

	put_le64(le, n);
	put_bytes(b, le, bytes);
}

/* Writes at most @size - 1 bytes: the reader's field has the same size. */
static void put_text(struct put *b, const char *s, size_t size)
{
	size_t n = strnlen(s, size - 1);

	put_number(b, n, 1);
	put_bytes(b, s, n);
}
_Static_assert(NT_NQN_LEN <= 256, "the length of a string is one byte");

static uint64_t number_at(const char *member, size_t size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)member;
	case 2:
		return *(const uint16_t *)(const void *)member;
	case 4:
		return *(const uint32_t *)(const void *)member;
	default:
		return *(const uint64_t *)(const void *)member;
	}
}

static void put_fields(struct put *b, const struct wire_field *f, const struct stream_event *e)
{
	for (; f->size; f++) {
		const char *member = (const char *)e + f->offset;

		if (f->bytes)
			put_number(b, number_at(member, f->size), f->bytes);
		else
			put_text(b, member, f->size);
	}
}

static int write_all(struct stream_writer *w, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t done = write(w->fd, p, n);

		if (done >= 0) {
			p += done;
			n -= done;
			w->bytes += done;
			continue;
		}
		if (errno == EAGAIN || errno == EWOULDBLOCK) {
			struct pollfd pfd = {.fd = w->fd, .events = POLLOUT};

			if (poll(&pfd, 1, -1) >= 0)
				continue;
		}
		if (errno != EINTR)
			return w->error = -errno;
	}
	return 0;
}

/* @records: number of records in the frame */
static int hand_over(struct stream_writer *w, const uint8_t *p, size_t n, unsigned int records)
{
	int err;

	if (!w->out)
		return write_all(w, p, n);
	err = output_put(w->out, p, n, records);
	if (err) {
		/* The frame was not written, so the next one gets its number. */
		w->sequence--;
		w->records -= records;
		w->reader_slow += records;
		return w->error = err;
	}
	w->bytes += n;
	if (output_room(w->out) < ROOM_MIN)
		w->behind = true;
	return 0;
}

/* @frame: room for the head, then the payload */
static void frame_head(struct stream_writer *w, unsigned int type, uint8_t *frame, size_t len)
{
	put_le32(frame, len);
	put_le16(frame + 4, type);
	put_le16(frame + 6, 0);
	put_le32(frame + 8, w->sequence++);
	put_le32(frame + 12, libdeflate_crc32(0, frame + FRAME_HEAD_LEN, len));
	put_le32(frame + 16, libdeflate_crc32(0, frame, FRAME_HEAD_SUMMED));
}

static void put_loss(struct put *b, const char *name, uint64_t count)
{
	put_text(b, name, STREAM_LOSS_NAME_LEN);
	put_number(b, count, sizeof(count));
}

static void put_losses(struct put *b, const struct stream_losses *l)
{
	uint16_t nr = !!l->unknown;

	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		nr += !!l->count[i];
	put_number(b, nr, sizeof(nr));
	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		if (l->count[i])
			put_loss(b, counter_name(i), l->count[i]);
	/* No counter has this name, so every reader counts it among its unknown losses. */
	if (l->unknown)
		put_loss(b, "unknown", l->unknown);
}

/* Only the writer knows how many records it has left out. */
static struct stream_losses losses_of(const struct stream_writer *w, const struct stream_losses *l)
{
	struct stream_losses losses = *l;

	if (w->out)
		losses.count[COUNTER_READER_SLOW] = w->reader_slow;
	return losses;
}

static int write_event(struct stream_writer *w, const struct stream_event *event)
{
	uint8_t bytes[PREAMBLE_LEN + FRAME_HEAD_LEN + EVENT_PAYLOAD_MAX];
	uint8_t *frame = bytes + PREAMBLE_LEN, *begin = frame;
	struct put b = {.p = frame + FRAME_HEAD_LEN, .end = bytes + sizeof(bytes)};
	const struct wire_field *fields = wire_fields(event->type);
	struct stream_event e = *event;
	struct stream_losses losses;

	if (!fields)
		return w->error = -EINVAL;
	if (e.type == STREAM_HEADER) {
		begin = bytes;
		memcpy(begin, STREAM_MAGIC, STREAM_MAGIC_LEN);
		put_le32(begin + STREAM_MAGIC_LEN, STREAM_VERSION);
	}
	if (e.type == STREAM_END) {
		e.end.records = w->records;
		w->ended = true;
	}
	put_fields(&b, fields, &e);
	if (e.type == STREAM_LOSSES || e.type == STREAM_END) {
		losses = losses_of(w, e.type == STREAM_END ? &e.end.losses : &e.losses);
		put_losses(&b, &losses);
	}
	if (b.overflow)
		return w->error = -EOVERFLOW;
	frame_head(w, e.type, frame, b.p - frame - FRAME_HEAD_LEN);
	return hand_over(w, begin, b.p - begin, 0);
}

/* Bytes that frames before that of records may take by its end if @r is in it. */
static size_t beside_room(const struct stream_writer *w, const struct nt_record *r)
{
	size_t room = 0;

	for (unsigned int i = 0; i < BESIDES_NR; i++)
		if (w->beside[i].any || besides[i].any(r))
			room += FRAME_HEAD_LEN + besides[i].len_max +
				(w->beside[i].any ? w->beside[i].len : w->gathered_records);
	return room;
}

/* What record @r of the frame has beside it. The records before the first one have nothing. */
static void beside_add(struct stream_writer *w, const struct nt_record *r)
{
	for (unsigned int i = 0; i < BESIDES_NR; i++) {
		struct beside *b = &w->beside[i];
		uint8_t *payload = b->frame + FRAME_HEAD_LEN;

		if (!b->any) {
			if (!besides[i].any(r))
				continue;
			b->any = true;
			b->len = w->gathered_records;
			memset(payload, 0, b->len);
		}
		b->len = besides[i].encode(payload + b->len, r) - payload;
	}
}

static void beside_clear(struct stream_writer *w)
{
	for (unsigned int i = 0; i < BESIDES_NR; i++) {
		w->beside[i].any = false;
		w->beside[i].len = 0;
	}
}

int stream_write_record(struct stream_writer *w, const struct nt_record *r)
{
	uint8_t *records = w->frame + FRAME_HEAD_LEN, *end;
	int err;

	if (w->error)
		return w->error;
	if (w->ended || r->side != w->side || r->op >= NT_OPS_NR || r->shape >= NT_SHAPES_NR)
		return w->error = -EINVAL;
	if (w->gathered + RECORD_LEN_MAX + beside_room(w, r) > RECORDS_PAYLOAD_MAX ||
	    record_encoder_full(&w->encoder)) {
		err = stream_flush(w);
		if (err)
			return err;
	}
	if (!w->gathered)
		record_encoder_begin(&w->encoder);
	end = record_encode(&w->encoder, records + w->gathered, r);
	if (!end)
		return w->error = -ENOMEM;
	w->gathered = end - records;
	beside_add(w, r);
	w->gathered_records++;
	w->records++;
	return 0;
}

int stream_write_gathered(struct stream_writer *w, struct gathered *g)
{
	int err = stream_flush(w);

	if (err)
		return err;
	if (w->ended || !g->records)
		return w->error = -EINVAL;
	if (w->out && output_room(w->out) < FRAME_HEAD_LEN + g->len)
		return -EAGAIN;
	frame_head(w, STREAM_RECORD, g->frame, g->len);
	w->records += g->records;
	return hand_over(w, g->frame, FRAME_HEAD_LEN + g->len, g->records);
}

static struct stream_writer *writer_new(struct output *out, int fd,
					const struct stream_header *header)
{
	struct stream_event e = {.type = STREAM_HEADER, .header = *header};
	struct stream_writer *w;
	int err = EINVAL;

	if ((unsigned int)header->side >= NT_SIDES)
		goto fail;
	err = ENOMEM;
	w = calloc(1, sizeof(*w));
	if (!w)
		goto fail;
	w->out = out;
	w->out_size = out ? output_room(out) : 0;
	w->fd = fd;
	w->side = header->side;
	err = -write_event(w, &e);
	if (!err)
		return w;
	free(w);
fail:
	errno = err;
	return NULL;
}

struct stream_writer *stream_writer_new(int fd, const struct stream_header *header)
{
	return writer_new(NULL, fd, header);
}

struct stream_writer *stream_writer_to(struct output *out, const struct stream_header *header)
{
	return writer_new(out, -1, header);
}

/*
 * Stops leaving out records when there is room again, and writes how many were left out. Return:
 * whether it has stopped.
 */
static bool caught_up(struct stream_writer *w)
{
	struct stream_event e = {.type = STREAM_LOSSES, .losses = w->losses};

	w->error = output_error(w->out);
	if (w->error)
		return true;
	if (output_room(w->out) < w->out_size / 2)
		return false;
	w->behind = false;
	if (!stream_flush(w))
		write_event(w, &e);
	return true;
}

bool stream_left_out(struct stream_writer *w)
{
	if (!w->behind || w->error || caught_up(w))
		return false;
	w->reader_slow++;
	return true;
}

void stream_leave_out(struct stream_writer *w)
{
	w->reader_slow++;
}

void stream_leave_out_many(struct stream_writer *w, uint64_t n)
{
	w->reader_slow += n;
}

int stream_write(struct stream_writer *w, const struct stream_event *e)
{
	int err;

	if (w->error)
		return w->error;
	if (w->ended || e->type == STREAM_HEADER)
		return w->error = -EINVAL;
	if (e->type == STREAM_RECORD)
		return stream_write_record(w, &e->record);
	if (e->type == STREAM_LOSSES)
		w->losses = e->losses;
	/* Losses and clocks are repeated anyway, so they can wait. */
	if ((e->type == STREAM_LOSSES || e->type == STREAM_CLOCK) && w->behind && !caught_up(w))
		return w->error;
	/* Where none is read, bursts have no records. They must not take the room of the end. */
	if (e->type == STREAM_BURST && w->behind && !caught_up(w) &&
	    output_room(w->out) < ROOM_MIN / 4)
		return w->error;
	err = stream_flush(w);
	return err ? err : write_event(w, e);
}

int stream_cut(struct stream_writer *w, const struct stream_event *e)
{
	struct output_rest rest;
	int err = output_cut(w->out, &rest);

	if (err)
		return err;
	w->error = 0;
	w->gathered = 0;
	beside_clear(w);
	w->records -= rest.weight + w->gathered_records;
	w->reader_slow += rest.weight + w->gathered_records;
	w->gathered_records = 0;
	w->bytes -= rest.bytes;
	w->sequence -= rest.pieces;
	/* Without a header the stream can have no end frame. */
	if (!w->sequence)
		return w->error = -ENODATA;
	err = write_event(w, e);
	output_flush(w->out);
	return err;
}

/* Frames before the next one, of @records records. Return: 0 or a negative errno */
static int beside_flush(struct stream_writer *w, unsigned int records)
{
	for (unsigned int i = 0; i < BESIDES_NR && !w->error; i++) {
		struct beside *b = &w->beside[i];

		if (!b->any)
			continue;
		frame_head(w, besides[i].type, b->frame, b->len);
		if (hand_over(w, b->frame, FRAME_HEAD_LEN + b->len, 0) && w->out) {
			w->records -= records;
			w->reader_slow += records;
		}
	}
	beside_clear(w);
	return w->error;
}

int stream_flush(struct stream_writer *w)
{
	unsigned int records = w->gathered_records;
	size_t len = w->gathered;

	if (!w->error && len) {
		w->gathered = 0;
		w->gathered_records = 0;
		if (beside_flush(w, records))
			return w->error;
		frame_head(w, STREAM_RECORD, w->frame, len);
		hand_over(w, w->frame, FRAME_HEAD_LEN + len, records);
	}
	if (w->out && !w->error)
		output_flush(w->out);
	return w->error;
}

uint64_t stream_records(const struct stream_writer *w)
{
	return w->records;
}

uint64_t stream_reader_slow(const struct stream_writer *w)
{
	return w->reader_slow;
}

uint64_t stream_bytes(const struct stream_writer *w)
{
	uint64_t bytes = w->bytes + (w->gathered ? FRAME_HEAD_LEN + w->gathered : 0);

	for (unsigned int i = 0; i < BESIDES_NR; i++)
		bytes += w->beside[i].any ? FRAME_HEAD_LEN + w->beside[i].len : 0;
	return bytes;
}

void stream_writer_free(struct stream_writer *w)
{
	if (w)
		record_encoder_free(&w->encoder);
	free(w);
}
