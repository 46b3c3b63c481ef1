/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Encodes and decodes records: docs/stream-format.md, "Records". What many records of a frame have
 * in common is written once per frame. Private to this folder.
 */
#ifndef NTPROF_STREAM_CODEC_H
#define NTPROF_STREAM_CODEC_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/hash.h"
#include "shared/record.h"
#include "stream/stream.h"

/* The head of a record has 10 bits for the number of its kind and 12 for that of its connection. */
#define FRAME_KINDS_MAX (1u << 10)
#define FRAME_CONNECTIONS_MAX (1u << 12)
#define KIND_LEN 17
#define CONNECTION_LEN 12
#define RECORD_HEAD_LEN 8
#define RECORD_LEN_MAX (RECORD_HEAD_LEN + KIND_LEN + CONNECTION_LEN + 8 + NT_POINTS_MAX * 8)
/*
 * Numbers of 2 to 5 bytes are loaded and stored as 8, so up to this many bytes past a record are
 * touched.
 */
#define RECORD_SLACK 8

/*
 * What many commands of a frame have in common. These are keys of hash tables, so padding would
 * have to be 0. Fields are in the order of those of a record, so that several are copied at once.
 * @side: used by the decoder only
 */
struct record_kind {
	uint8_t side;
	uint8_t op;
	uint8_t opcode;
	uint8_t shape;
	uint16_t none;
	uint16_t status;
	uint32_t nsid;
	uint32_t length;
	uint32_t flags;
};
_Static_assert(sizeof(struct record_kind) == 20, "no padding");

struct record_connection {
	uint16_t qid;
	uint16_t cntlid;
	uint32_t slot;
	uint32_t gen;
};
_Static_assert(sizeof(struct record_connection) == 12, "no padding");

/* A kind that an encoder knows, and the @number under which the frame @frame defined it. */
struct known_kind {
	struct record_kind k;
	unsigned int number;
	uint64_t frame;
	UT_hash_handle hh;
};

struct known_connection {
	struct record_connection c;
	unsigned int number;
	uint64_t frame;
	UT_hash_handle hh;
};

/*
 * Bits of the hash that finds the kinds and connections used last: most records use one of these.
 * The tables are small enough to stay in the processor's first cache.
 */
#define RECENT_BITS 6

/**
 * struct record_encoder - what the current frame has defined so far
 * @last: last point of the previous record; the points of the next one are stored relative to it
 * @frame: counts frames, from 1
 * @nr_kinds, @nr_connections: how many this frame has defined
 * @known_kinds, @known_connections: hash tables of those of this and earlier frames
 * @recent_kinds, @recent_connections: those of them that were used last; NULL where none was
 *
 * A frame mostly defines what the previous one did. So definitions stay in the tables, until there
 * are more than one frame can define.
 */
struct record_encoder {
	uint64_t last;
	uint64_t frame;
	unsigned int nr_kinds;
	unsigned int nr_connections;
	struct known_kind *known_kinds;
	struct known_connection *known_connections;
	struct known_kind *recent_kinds[1 << RECENT_BITS];
	struct known_connection *recent_connections[1 << RECENT_BITS];
};

/** struct record_decoder - the same for the reader; @side: side of all records */
struct record_decoder {
	uint64_t last;
	enum nt_side side;
	unsigned int nr_kinds;
	unsigned int nr_connections;
	struct record_kind kinds[FRAME_KINDS_MAX];
	struct record_connection connections[FRAME_CONNECTIONS_MAX];
};

/**
 * record_encoder_begin(), record_decoder_begin() - a new frame: nothing is defined. An encoder has
 * to be all zero before its first frame.
 */
void record_encoder_begin(struct record_encoder *e);
void record_decoder_begin(struct record_decoder *d, enum nt_side side);

/** record_encoder_free() - release the tables; not the encoder itself */
void record_encoder_free(struct record_encoder *e);

/**
 * record_encoder_full() - whether the frame has to end, as the definitions of one more record may
 * not fit
 */
static inline bool record_encoder_full(const struct record_encoder *e)
{
	return e->nr_kinds == FRAME_KINDS_MAX || e->nr_connections == FRAME_CONNECTIONS_MAX;
}

/**
 * record_encode() - append one record
 * @e: encoder, not full
 * @p: room for RECORD_LEN_MAX + RECORD_SLACK bytes
 * @r: record; its side is not written
 *
 * Return: the end of the written bytes, NULL when memory ran out.
 */
uint8_t *record_encode(struct record_encoder *e, uint8_t *p, const struct nt_record *r);

/**
 * record_decode() - decode the next record
 * @d: decoder
 * @p: RECORD_LEN_MAX + RECORD_SLACK readable bytes
 * @r: filled
 *
 * Return: the end of the record, which the caller has to compare with the end of the frame; NULL if
 * it is not a valid record.
 */
const uint8_t *record_decode(struct record_decoder *d, const uint8_t *p, struct nt_record *r);

/*
 * Finer points of a record, their TCP sequence numbers, waits, and the command at its disk: bits of
 * those that are there, then each of these. Those of all records of a frame are in the frame before
 * it.
 */
#define STREAM_FINE 13 /* type of that frame; it is no event of its own */
#define FINE_VALUES (2 * NT_FINE_MAX + NT_WAITS_NR + 1)
_Static_assert(FINE_VALUES <= 8, "each has a bit");
#define FINE_LEN_MAX (1 + 4 * FINE_VALUES)

/** fine_encode() - append those of @r to @p, FINE_LEN_MAX bytes; Return: their end */
uint8_t *fine_encode(uint8_t *p, const struct nt_record *r);

/**
 * fine_decode() - fill those of @r from @p; more than this program knows are passed over
 *
 * Return: their end; NULL if that is not before @end.
 */
const uint8_t *fine_decode(const uint8_t *p, const uint8_t *end, struct nt_record *r);

/** fine_any() - whether a record has any */
static inline bool fine_any(const struct nt_record *r)
{
	_Static_assert(NT_FINE_MAX == 2 && NT_WAITS_NR == 3, "all of them");
	return r->fine[0] | r->fine[1] | r->seq[0] | r->seq[1] | r->wait[0] | r->wait[1] |
	       r->wait[2] | nt_disk_command(r);
}

/* CPUs of the points of a record, and what it found queued, likewise; 2 bytes each. */
#define STREAM_CPUS 15 /* type of that frame; it is no event of its own */
#define CPUS_LEN_MAX (1 + 2 * NT_CPUS_MAX)
_Static_assert(NT_CPUS_MAX <= 8, "each has a bit");

/** cpus_encode() - as fine_encode(), CPUS_LEN_MAX bytes */
uint8_t *cpus_encode(uint8_t *p, const struct nt_record *r);

/** cpus_decode() - as fine_decode() */
const uint8_t *cpus_decode(const uint8_t *p, const uint8_t *end, struct nt_record *r);

/** cpus_any() - whether any is known */
static inline bool cpus_any(const struct nt_record *r)
{
	uint64_t words[2];

	_Static_assert(sizeof(r->cpu) == sizeof(words), "all of them");
	memcpy(words, r->cpu, sizeof(words));
	return words[0] | words[1];
}

/*
 * What the writer and the reader of the stream share: the sizes of docs/stream-format.md, and
 * access to numbers in little-endian order. Only for files of stream/.
 */

/*
 * As in PNG: no text begins with this, and it shows if a terminal or a text-mode transfer changed
 * the bytes.
 */
#define STREAM_MAGIC "\x89NTP\r\n\x1a\n"
#define STREAM_MAGIC_LEN 8
/* The magic and the version, before the first frame. */
#define PREAMBLE_LEN 12

/* The version that is written, and the only one that is read. */
#define STREAM_VERSION 3
/* Room for the name of a loss; a longer name is refused as damage. */
#define STREAM_LOSS_NAME_LEN 64

/* Length, type, flags, sequence, checksum of the payload, checksum of the 16 bytes before it. */
#define FRAME_HEAD_LEN 20
#define FRAME_HEAD_SUMMED 16
/* Limits the reader's memory. */
#define FRAME_PAYLOAD_MAX (4u * STREAM_FRAME_MAX)

/**
 * struct wire_field - a member of struct stream_event, of @size bytes at @offset
 * @bytes: of the number in the stream; 0: a text, whose length comes before it in one byte
 * @later: streams of older programs end before it, and then it is 0
 */
struct wire_field {
	uint16_t offset;
	uint16_t size;
	uint8_t bytes;
	bool later;
};

/**
 * wire_fields() - the fields of a frame, in their order; behind the last one is one of size 0
 *
 * Losses, whose number differs, come behind these.
 *
 * Return: NULL for frames of records, and for types that are not known.
 */
const struct wire_field *wire_fields(unsigned int type);

static inline uint16_t get_le16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

static inline uint32_t get_le32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline uint64_t get_le64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static inline void put_le16(uint8_t *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_le32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_le64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

#endif /* NTPROF_STREAM_CODEC_H */
