/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A second writer of streams. It follows docs/stream-format.md alone and must not include anything
 * of src/, so that a mistake in the program's own writer or reader shows as a difference.
 */
#ifndef TRUTH_STREAM_H
#define TRUTH_STREAM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOST, TARGET };

/* See "Records (4)" of the document. */
enum { OP_READ, OP_WRITE, OP_FLUSH };
enum { SHAPE_READ, SHAPE_INLINE_WRITE, SHAPE_R2T_WRITE, SHAPE_NO_DATA };
enum { FLAG_CANCELLED = 1 << 1, FLAG_REQUEUED = 1 << 2 };
enum {
	H_SUBMIT,
	H_QUEUE_RQ,
	H_SEND_CMD,
	H_SENT_CMD,
	H_R2T_RX,
	H_R2T,
	H_SEND_DATA,
	H_SENT_DATA,
	H_RX,
	H_C2H,
	H_CQE,
	H_COMPLETE
};
enum { T_RX, T_CMD, T_SEND_R2T, T_DATA_RX, T_DATA, T_DATA_DONE, T_EXEC, T_DONE, T_SEND, T_SENT };
#define POINTS 12

enum {
	FRAME_HEADER = 1,
	FRAME_CLOCK,
	FRAME_QUEUE,
	FRAME_RECORDS,
	FRAME_LOSSES,
	FRAME_END,
	FRAME_BURST,
	FRAME_TCP = 11,
	FRAME_RESENT
};
#define FRAME_HEAD 20
#define RECORDS_MAX 65536
/* The largest record: head, kind, connection, LBA and points. */
#define RECORD_MAX (8 + 17 + 12 + 8 + 8 * POINTS)
#define KINDS_MAX 1024

struct command {
	uint8_t op, opcode, shape;
	uint16_t status;
	uint32_t flags, nsid, length;
	uint32_t slot, gen;
	uint16_t qid, cntlid, cid;
	uint64_t lba;
	uint64_t points[POINTS];
};

/* @nr_kinds, @nr_connections: number that the current frame of records has defined */
struct writer {
	FILE *f;
	uint32_t sequence;
	uint64_t records;
	uint8_t payload[RECORDS_MAX];
	size_t length;
	struct command kind[KINDS_MAX], connection[KINDS_MAX];
	unsigned int nr_kinds, nr_connections;
	uint64_t before;     /* the first point that was written of the last record */
	unsigned int queues; /* of each controller; 0: a writer that does not say it */
};

static uint32_t crc32_of(const uint8_t *p, size_t n)
{
	static uint32_t table[256];
	uint32_t crc = 0xffffffff;

	for (uint32_t i = 0; i < 256 && !table[255]; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	while (n--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return ~crc;
}

static void put_at(uint8_t *p, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

static void put(struct writer *w, uint64_t value, unsigned int bytes)
{
	put_at(w->payload + w->length, value, bytes);
	w->length += bytes;
}

static void put_string(struct writer *w, const char *s)
{
	put(w, strlen(s), 1);
	memcpy(w->payload + w->length, s, strlen(s));
	w->length += strlen(s);
}

static void end_frame(struct writer *w, unsigned int type)
{
	uint8_t head[FRAME_HEAD] = {0};

	put_at(head, w->length, 4);
	put_at(head + 4, type, 2);
	put_at(head + 8, w->sequence++, 4);
	put_at(head + 12, crc32_of(w->payload, w->length), 4);
	put_at(head + 16, crc32_of(head, 16), 4);
	fwrite(head, 1, sizeof(head), w->f);
	fwrite(w->payload, 1, w->length, w->f);
	w->length = 0;
}

static void end_records(struct writer *w)
{
	if (w->length)
		end_frame(w, FRAME_RECORDS);
	w->nr_kinds = w->nr_connections = 0;
	w->before = 0;
}

static void write_header(struct writer *w, unsigned int side, const char *name, unsigned int boot,
			 uint32_t missing)
{
	char boot_id[40];

	fwrite("\x89NTP\r\n\x1a\n\3\0\0", 1, 12, w->f);
	put(w, side, 1);
	put_string(w, "stock");
	snprintf(boot_id, sizeof(boot_id), "%08x-0000-4000-8000-000000000000", boot);
	put_string(w, boot_id);
	put_string(w, name);
	put_string(w, "6.1.0");
	put_string(w, "1");
	put(w, 0, 4);
	put(w, missing, 4);
	put_string(w, "");
	put(w, 0, 1);
	end_frame(w, FRAME_HEADER);
}

static void put_clock(struct writer *w, uint64_t monotonic, int64_t real)
{
	put(w, monotonic, 8);
	put(w, (uint64_t)real, 8);
}

static void write_clock(struct writer *w, uint64_t monotonic, int64_t real)
{
	end_records(w);
	put_clock(w, monotonic, real);
	end_frame(w, FRAME_CLOCK);
}

static void write_queue(struct writer *w, const struct command *c, uint32_t instance,
			const char *subsysnqn, const char *hostnqn)
{
	end_records(w);
	put(w, c->slot, 4);
	put(w, c->gen, 4);
	put(w, instance, 4);
	put(w, c->cntlid, 2);
	put(w, c->qid, 2);
	put(w, 128, 2);
	put_string(w, subsysnqn);
	put_string(w, hostnqn);
	put_string(w, "");
	if (w->queues) {
		put_string(w, "");
		put_string(w, "");
		put(w, 0, 2 + 2 + 1);
		put(w, w->queues, 2);
	}
	end_frame(w, FRAME_QUEUE);
}

static void write_end(struct writer *w, uint64_t monotonic, int64_t real, uint64_t lost)
{
	end_records(w);
	put(w, w->records, 8);
	put_clock(w, monotonic, real);
	put(w, 1, 2);
	put_string(w, "ring_full");
	put(w, lost, 8);
	end_frame(w, FRAME_END);
}

static int same_kind(const struct command *a, const struct command *b)
{
	return a->op == b->op && a->opcode == b->opcode && a->shape == b->shape &&
	       a->status == b->status && a->flags == b->flags && a->nsid == b->nsid &&
	       a->length == b->length;
}

static int same_connection(const struct command *a, const struct command *b)
{
	return a->slot == b->slot && a->gen == b->gen && a->qid == b->qid && a->cntlid == b->cntlid;
}

/*
 * Return: the number of @c in @table, where @same compares. *@nr entries are there; a new one is
 * added.
 */
static unsigned int number_of(struct command *table, unsigned int *nr, const struct command *c,
			      int (*same)(const struct command *, const struct command *))
{
	unsigned int i = 0;

	while (i < *nr && !same(&table[i], c))
		i++;
	if (i == *nr)
		table[(*nr)++] = *c;
	return i;
}

static void put_kind(struct writer *w, const struct command *c)
{
	put(w, c->op, 1);
	put(w, c->opcode, 1);
	put(w, c->shape, 1);
	put(w, c->status, 2);
	put(w, c->flags, 4);
	put(w, c->nsid, 4);
	put(w, c->length, 4);
}

static void put_connection(struct writer *w, const struct command *c)
{
	put(w, c->slot, 4);
	put(w, c->gen, 4);
	put(w, c->qid, 2);
	put(w, c->cntlid, 2);
}

static uint64_t put_points(struct writer *w, const struct command *c)
{
	static const unsigned int bytes_of[] = {0, 2, 3, 8};
	uint64_t codes = 0, t = w->before + (1 << 23);
	int first = 1;

	for (int i = POINTS - 1; i >= 0; i--) {
		uint64_t delta = t - c->points[i], code;

		if (!c->points[i])
			continue;
		code = delta < 1 << 16 ? 1 : delta < 1 << 24 ? 2 : 3;
		put(w, delta, bytes_of[code]);
		codes |= code << (40 + 2 * i);
		t = c->points[i];
		if (first)
			w->before = t;
		first = 0;
	}
	return codes;
}

static void write_record(struct writer *w, const struct command *c)
{
	static const unsigned int lba_bytes[] = {0, 4, 5, 8};
	unsigned int kinds, connections, lba;
	uint64_t head;
	uint8_t *at;

	if (w->length + RECORD_MAX > RECORDS_MAX - FRAME_HEAD || w->nr_kinds == KINDS_MAX ||
	    w->nr_connections == KINDS_MAX)
		end_records(w);
	kinds = w->nr_kinds;
	connections = w->nr_connections;
	at = w->payload + w->length;
	put(w, 0, 8);
	lba = !c->lba ? 0 : c->lba >> 32 == 0 ? 1 : c->lba >> 40 == 0 ? 2 : 3;
	head = c->cid | (uint64_t)lba << 38 |
	       (uint64_t)number_of(w->connection, &w->nr_connections, c, same_connection) << 16 |
	       (uint64_t)number_of(w->kind, &w->nr_kinds, c, same_kind) << 28;
	if (w->nr_kinds > kinds)
		put_kind(w, c);
	if (w->nr_connections > connections)
		put_connection(w, c);
	put(w, c->lba, lba_bytes[lba]);
	put_at(at, head | put_points(w, c), 8);
	w->records++;
}

#endif /* TRUTH_STREAM_H */
