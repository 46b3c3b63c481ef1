/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the fields of a frame's payload. Private to this folder. */
#ifndef NTPROF_STREAM_FIELDS_H
#define NTPROF_STREAM_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stream/format.h"

/* Position in a payload. Fields past its end read as 0, and set @bad. */
struct get {
	const uint8_t *p;
	const uint8_t *end;
	bool bad;
};

static inline const uint8_t *get_bytes(struct get *b, size_t n)
{
	static const uint8_t zero[256];
	const uint8_t *p = b->p;

	if ((size_t)(b->end - p) < n) {
		b->bad = true;
		return zero;
	}
	b->p += n;
	return p;
}

static inline uint8_t get_u8(struct get *b)
{
	return *get_bytes(b, 1);
}

static inline uint16_t get_u16(struct get *b)
{
	return get_le16(get_bytes(b, 2));
}

static inline uint32_t get_u32(struct get *b)
{
	return get_le32(get_bytes(b, 4));
}

static inline uint64_t get_u64(struct get *b)
{
	return get_le64(get_bytes(b, 8));
}

/* The rest of @s is filled with NUL. */
static inline void get_string(struct get *b, char *s, size_t size)
{
	size_t n = get_u8(b);
	const uint8_t *p = get_bytes(b, n);

	memset(s, 0, size);
	if (n >= size || memchr(p, 0, n))
		b->bad = true;
	else
		memcpy(s, p, n);
}

#define GET_ARRAY(b, s) get_string(b, s, sizeof(s))

#endif /* NTPROF_STREAM_FIELDS_H */
