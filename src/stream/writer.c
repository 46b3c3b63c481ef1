// SPDX-License-Identifier: GPL-2.0-only
#include "stream/writer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "stream/codec.h"
#include "stream/format.h"

#define RECORDS_PAYLOAD_MAX (STREAM_FRAME_MAX - FRAME_HEAD_LEN)
/* The longest of the other frames, a closing one that names all losses, takes well below that. */
#define EVENT_PAYLOAD_MAX 4096

/*
 * @error: 0 or the negative errno after which nothing more is written
 * @gathered: bytes of records in @frame, behind room for the frame's head
 */
struct stream_writer {
	int fd;
	int error;
	bool ended;
	enum nt_side side;
	uint32_t sequence;
	uint64_t bytes;
	uint64_t records;
	size_t gathered;
	struct record_encoder encoder;
	uint8_t frame[STREAM_FRAME_MAX + RECORD_SLACK];
};

/* Fields of a payload, one after the other. */
struct put {
	uint8_t *p;
	uint8_t *end;
	bool overflow;
};

static uint8_t *put_room(struct put *b, size_t n)
{
	uint8_t *p = b->p;

	if ((size_t)(b->end - p) < n) {
		b->overflow = true;
		return NULL;
	}
	b->p += n;
	return p;
}

static void put_u8(struct put *b, uint8_t v)
{
	uint8_t *p = put_room(b, sizeof(v));

	if (p)
		*p = v;
}

static void put_u16(struct put *b, uint16_t v)
{
	uint8_t *p = put_room(b, sizeof(v));

	if (p)
		put_le16(p, v);
}

static void put_u32(struct put *b, uint32_t v)
{
	uint8_t *p = put_room(b, sizeof(v));

	if (p)
		put_le32(p, v);
}

static void put_u64(struct put *b, uint64_t v)
{
	uint8_t *p = put_room(b, sizeof(v));

	if (p)
		put_le64(p, v);
}

/* At most @size - 1 bytes, as the reader's field has the same size. */
static void put_string(struct put *b, const char *s, size_t size)
{
	size_t n = strnlen(s, size - 1);
	uint8_t *p;

	put_u8(b, n);
	p = put_room(b, n);
	if (p)
		memcpy(p, s, n);
}

#define PUT_ARRAY(b, s) put_string(b, s, sizeof(s))
_Static_assert(NT_NQN_LEN <= 256, "the length of a string is one byte");

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

/* @frame: room for the head, then the payload */
static int write_frame(struct stream_writer *w, enum stream_type type, uint8_t *frame, size_t len)
{
	put_le32(frame, len);
	put_le16(frame + 4, type);
	put_le16(frame + 6, 0);
	put_le32(frame + 8, w->sequence++);
	put_le32(frame + 12, crc32(0, frame + FRAME_HEAD_LEN, len));
	put_le32(frame + 16, crc32(0, frame, FRAME_HEAD_SUMMED));
	return write_all(w, frame, FRAME_HEAD_LEN + len);
}

static void put_header(struct put *b, const struct stream_header *h)
{
	put_u8(b, h->side);
	PUT_ARRAY(b, h->source);
	PUT_ARRAY(b, h->boot_id);
	PUT_ARRAY(b, h->hostname);
	PUT_ARRAY(b, h->kernel);
	PUT_ARRAY(b, h->program);
	put_u32(b, h->sample);
	put_u32(b, h->missing);
}

static void put_clock(struct put *b, const struct instant *c)
{
	put_u64(b, c->monotonic_ns);
	put_u64(b, c->realtime_ns);
}

static void put_queue(struct put *b, const struct queue_info *q)
{
	put_u32(b, q->slot);
	put_u32(b, q->gen);
	put_u32(b, q->instance);
	put_u16(b, q->cntlid);
	put_u16(b, q->qid);
	put_u16(b, q->sqsize);
	PUT_ARRAY(b, q->subsysnqn);
	PUT_ARRAY(b, q->hostnqn);
	PUT_ARRAY(b, q->address);
}

static void put_loss(struct put *b, const char *name, uint64_t count)
{
	put_string(b, name, STREAM_LOSS_NAME_LEN);
	put_u64(b, count);
}

static void put_losses(struct put *b, const struct stream_losses *l)
{
	unsigned int nr = !!l->unknown;

	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		nr += !!l->count[i];
	put_u16(b, nr);
	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		if (l->count[i])
			put_loss(b, counter_name(i), l->count[i]);
	/* A name that no reader knows either. */
	if (l->unknown)
		put_loss(b, "unknown", l->unknown);
}

static int write_event(struct stream_writer *w, const struct stream_event *e)
{
	uint8_t frame[FRAME_HEAD_LEN + EVENT_PAYLOAD_MAX];
	struct put b = {.p = frame + FRAME_HEAD_LEN, .end = frame + sizeof(frame)};

	switch (e->type) {
	case STREAM_HEADER:
		put_header(&b, &e->header);
		break;
	case STREAM_CLOCK:
		put_clock(&b, &e->clock);
		break;
	case STREAM_QUEUE:
		put_queue(&b, &e->queue);
		break;
	case STREAM_LOSSES:
		put_losses(&b, &e->losses);
		break;
	case STREAM_END:
		put_u64(&b, w->records);
		put_clock(&b, &e->end.clock);
		put_losses(&b, &e->end.losses);
		w->ended = true;
		break;
	default:
		return w->error = -EINVAL;
	}
	if (b.overflow)
		return w->error = -EOVERFLOW;
	return write_frame(w, e->type, frame, b.p - frame - FRAME_HEAD_LEN);
}

int stream_write_record(struct stream_writer *w, const struct nt_record *r)
{
	uint8_t *records = w->frame + FRAME_HEAD_LEN, *end;
	int err;

	if (w->error)
		return w->error;
	if (w->ended || r->side != w->side || r->op >= NT_OPS_NR || r->shape >= NT_SHAPES_NR)
		return w->error = -EINVAL;
	if (w->gathered + RECORD_LEN_MAX > RECORDS_PAYLOAD_MAX ||
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
	w->records++;
	return 0;
}

struct stream_writer *stream_writer_new(int fd, const struct stream_header *header)
{
	struct stream_event e = {.type = STREAM_HEADER, .header = *header};
	struct stream_writer *w;
	uint8_t preamble[PREAMBLE_LEN];
	int err = EINVAL;

	if ((unsigned int)header->side >= NT_SIDES)
		goto fail;
	err = ENOMEM;
	w = calloc(1, sizeof(*w));
	if (!w)
		goto fail;
	w->fd = fd;
	w->side = header->side;
	memcpy(preamble, STREAM_MAGIC, STREAM_MAGIC_LEN);
	put_le32(preamble + STREAM_MAGIC_LEN, STREAM_VERSION);
	err = -write_all(w, preamble, sizeof(preamble));
	if (!err)
		err = -write_event(w, &e);
	if (!err)
		return w;
	free(w);
fail:
	errno = err;
	return NULL;
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
	err = stream_flush(w);
	return err ? err : write_event(w, e);
}

int stream_flush(struct stream_writer *w)
{
	size_t len = w->gathered;

	if (w->error || !len)
		return w->error;
	w->gathered = 0;
	return write_frame(w, STREAM_RECORD, w->frame, len);
}

uint64_t stream_bytes(const struct stream_writer *w)
{
	return w->bytes;
}

void stream_writer_free(struct stream_writer *w)
{
	if (w)
		record_encoder_free(&w->encoder);
	free(w);
}
