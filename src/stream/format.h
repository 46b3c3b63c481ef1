/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the writer and the reader of the stream share: the sizes of docs/stream-format.md, bytes in
 * little-endian order, and the coding of records. Private to this folder.
 */
#ifndef NTPROF_STREAM_FORMAT_H
#define NTPROF_STREAM_FORMAT_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "stream/stream.h"

/* As in PNG: no text begins so, and a terminal or a text-mode transfer on the way shows. */
#define STREAM_MAGIC "\x89NTP\r\n\x1a\n"
#define STREAM_MAGIC_LEN 8
/* The magic and the version, before the first frame. */
#define PREAMBLE_LEN 12

/* Length, type, flags, sequence, checksum of the payload, checksum of the 16 bytes before it. */
#define FRAME_HEAD_LEN 20
#define FRAME_HEAD_SUMMED 16
/* Bounds the reader's memory. */
#define FRAME_PAYLOAD_MAX (4u * STREAM_FRAME_MAX)

/* The head of a record has 10 bits for its kind and 12 for its connection. */
#define KINDS_MAX (1u << 10)
#define CONNECTIONS_MAX (1u << 12)
#define KIND_LEN 17
#define CONNECTION_LEN 12
#define RECORD_HEAD_LEN 8
#define RECORD_LEN_MAX (RECORD_HEAD_LEN + KIND_LEN + CONNECTION_LEN + 8 + NT_POINTS_MAX * 8)
/* Numbers of 2 to 5 bytes are loaded and stored as 8: so many bytes past a record are touched. */
#define RECORD_SLACK 8

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

/* What many commands of a frame have in common, written once a frame. */
struct record_kind {
	uint8_t op;
	uint8_t opcode;
	uint8_t shape;
	uint16_t status;
	uint32_t flags;
	uint32_t nsid;
	uint32_t length;
};

struct record_connection {
	uint32_t slot;
	uint32_t gen;
	uint16_t qid;
	uint16_t cntlid;
};

/* Twice the entries: a search ends soon. 0 is free, else 1 + index. */
#define KIND_HASH_SIZE (2 * KINDS_MAX)
#define CONNECTION_HASH_SIZE (2 * CONNECTIONS_MAX)

/**
 * struct record_encoder - what the records of one frame so far have defined
 * @last: last point of the record before, which the next one's is told against
 */
struct record_encoder {
	uint64_t last;
	unsigned int nr_kinds;
	unsigned int nr_connections;
	struct record_kind kinds[KINDS_MAX];
	struct record_connection connections[CONNECTIONS_MAX];
	uint16_t kind_hash[KIND_HASH_SIZE];
	uint16_t connection_hash[CONNECTION_HASH_SIZE];
};

/** struct record_decoder - the same for the reader */
struct record_decoder {
	uint64_t last;
	unsigned int nr_kinds;
	unsigned int nr_connections;
	struct record_kind kinds[KINDS_MAX];
	struct record_connection connections[CONNECTIONS_MAX];
};

/** record_encoder_begin(), record_decoder_begin() - a new frame: nothing is defined */
void record_encoder_begin(struct record_encoder *e);
void record_decoder_begin(struct record_decoder *d);

/** record_encoder_full() - the frame must end, as not even this record's definitions may fit */
bool record_encoder_full(const struct record_encoder *e);

/**
 * record_encode() - append one record
 * @e: encoder, not full
 * @p: room for RECORD_LEN_MAX + RECORD_SLACK bytes
 * @r: record; its side is not written
 *
 * Return: the end of what was written.
 */
uint8_t *record_encode(struct record_encoder *e, uint8_t *p, const struct nt_record *r);

/**
 * record_decode() - the next record
 * @d: decoder
 * @p: RECORD_LEN_MAX + RECORD_SLACK readable bytes
 * @r: filled, but for its side
 *
 * Return: the end of the record, which the caller compares with the end of the frame; NULL when it is
 * none.
 */
const uint8_t *record_decode(struct record_decoder *d, const uint8_t *p, struct nt_record *r);

#endif /* NTPROF_STREAM_FORMAT_H */
