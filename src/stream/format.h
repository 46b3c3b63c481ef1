/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the writer and the reader of the stream share: the sizes of docs/stream-format.md, and
 * access to numbers in little-endian order. Private to this folder.
 */
#ifndef NTPROF_STREAM_FORMAT_H
#define NTPROF_STREAM_FORMAT_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "stream/stream.h"

/*
 * As in PNG: no text begins with this, and it shows if a terminal or a text-mode transfer changed
 * the bytes.
 */
#define STREAM_MAGIC "\x89NTP\r\n\x1a\n"
#define STREAM_MAGIC_LEN 8
/* The magic and the version, before the first frame. */
#define PREAMBLE_LEN 12

/* The version that is written, and the oldest one that is read. */
#define STREAM_VERSION 3
#define STREAM_VERSION_OLDEST 2
/*
 * From this version on the header has the missing points, and later programs may append fields to
 * frames.
 */
#define STREAM_VERSION_MISSING 3
/* Room for the name of a loss; a longer name is refused as damage. */
#define STREAM_LOSS_NAME_LEN 64

/* Length, type, flags, sequence, checksum of the payload, checksum of the 16 bytes before it. */
#define FRAME_HEAD_LEN 20
#define FRAME_HEAD_SUMMED 16
/* Limits the reader's memory. */
#define FRAME_PAYLOAD_MAX (4u * STREAM_FRAME_MAX)

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

#endif /* NTPROF_STREAM_FORMAT_H */
