// SPDX-License-Identifier: GPL-2.0-only
/*
 * Encodes and decodes records: docs/stream-format.md, "Records". The lengths of numbers come from
 * 2-bit codes in one 64-bit head, not from the bytes themselves as in a varint. So no branch
 * depends on a value, and the processor decodes tens of millions of records a second.
 */
#include "stream/codec.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/segments.h"

/* Fields are in the same order in all three structs. */
_Static_assert(offsetof(struct record_kind, nsid) == offsetof(struct nt_record, qid) &&
		       offsetof(struct nt_record, qid) + sizeof(struct record_connection) ==
			       offsetof(struct nt_record, nsid) &&
		       offsetof(struct record_kind, flags) - offsetof(struct record_kind, nsid) ==
			       offsetof(struct nt_record, flags) - offsetof(struct nt_record, nsid),
	       "they are copied together");

#define CONNECTION_SHIFT 16
#define KIND_SHIFT 28
#define SLBA_SHIFT 38
#define POINTS_SHIFT 40
_Static_assert(POINTS_SHIFT + 2 * NT_POINTS_MAX == 64, "the head has a code for every point");

/*
 * Records come roughly in the order of their last points. With this added to the last point of the
 * previous record, the difference is positive and fits in 3 bytes if the two are less than 8.4 ms
 * apart.
 */
#define LAST_BIAS (1ULL << 23)

/* Length of a number in bytes, and its mask, by its code. */
static const uint8_t point_len[4] = {0, 2, 3, 8};
static const uint64_t point_mask[4] = {0, 0xffff, 0xffffff, UINT64_MAX};
/* Not 0 if any point has the code 3 (8 bytes): both bits of its code are set. */
#define LONG_CODES(codes) ((codes) & ((codes) << 1) & 0xaaaaaa)
static const uint8_t slba_len[4] = {0, 4, 5, 8};
static const uint64_t slba_mask[4] = {0, 0xffffffff, 0xffffffffff, UINT64_MAX};

void record_encoder_begin(struct record_encoder *e)
{
	e->last = 0;
	e->frame++;
	e->nr_kinds = 0;
	e->nr_connections = 0;
	if (HASH_COUNT(e->known_kinds) > FRAME_KINDS_MAX ||
	    HASH_COUNT(e->known_connections) > FRAME_CONNECTIONS_MAX)
		record_encoder_free(e);
}

void record_encoder_free(struct record_encoder *e)
{
	hash_free(e->known_kinds);
	hash_free(e->known_connections);
	memset(e->recent_kinds, 0, sizeof(e->recent_kinds));
	memset(e->recent_connections, 0, sizeof(e->recent_connections));
}

/* Return: NULL when memory ran out. */
static struct known_kind *kind_look(struct record_encoder *e, const struct record_kind *k)
{
	uint64_t a = (uint64_t)k->length << 32 | k->flags;
	uint64_t b = (uint64_t)k->nsid << 32 | (uint32_t)k->status << 16 | k->opcode;
	unsigned int hash = hash_pair(a, b ^ (uint64_t)k->op << 8 ^ (uint64_t)k->shape << 12);
	struct known_kind *known;

	HASH_FIND_BYHASHVALUE(hh, e->known_kinds, k, sizeof(*k), hash, known);
	if (known)
		return known;
	known = malloc(sizeof(*known));
	if (!known)
		return NULL;
	known->k = *k;
	known->frame = 0;
	HASH_ADD_BYHASHVALUE(hh, e->known_kinds, k, sizeof(*k), hash, known);
	return hash_kept(known) ? known : NULL;
}

static struct known_connection *connection_look(struct record_encoder *e,
						const struct record_connection *c)
{
	unsigned int hash =
		hash_pair((uint64_t)c->slot << 32 | c->gen, (uint32_t)c->qid << 16 | c->cntlid);
	struct known_connection *known;

	HASH_FIND_BYHASHVALUE(hh, e->known_connections, c, sizeof(*c), hash, known);
	if (known)
		return known;
	known = malloc(sizeof(*known));
	if (!known)
		return NULL;
	known->c = *c;
	known->frame = 0;
	HASH_ADD_BYHASHVALUE(hh, e->known_connections, c, sizeof(*c), hash, known);
	return hash_kept(known) ? known : NULL;
}

static __attribute__((noinline)) struct known_kind *
kind_meet(struct record_encoder *e, const struct nt_record *r, struct known_kind **recent)
{
	const struct record_kind k = {.op = r->op,
				      .opcode = r->opcode,
				      .shape = r->shape,
				      .status = r->status,
				      .flags = r->flags,
				      .nsid = r->nsid,
				      .length = r->length};

	return *recent = kind_look(e, &k);
}

static __attribute__((noinline)) struct known_connection *
connection_meet(struct record_encoder *e, const struct nt_record *r,
		struct known_connection **recent)
{
	const struct record_connection c = {
		.slot = r->slot, .gen = r->gen, .qid = r->qid, .cntlid = r->cntlid};

	return *recent = connection_look(e, &c);
}

/*
 * The fields before @nsid as one number, without those that a kind does not have: equal for a
 * record and its kind.
 */
static inline uint64_t first_fields(const void *record_or_kind)
{
	static const struct record_kind all = {
		.op = 0xff, .opcode = 0xff, .shape = 0xff, .status = 0xffff};
	uint64_t fields, mask;

	_Static_assert(offsetof(struct record_kind, nsid) == sizeof(fields), "they are one number");
	memcpy(&fields, record_or_kind, sizeof(fields));
	memcpy(&mask, &all, sizeof(mask));
	return fields & mask;
}

static inline struct known_kind *kind_get(struct record_encoder *e, const struct nt_record *r)
{
	uint64_t first = first_fields(r), ids;
	struct known_kind **recent, *k;

	memcpy(&ids, &r->nsid, sizeof(ids));
	recent = &e->recent_kinds[hash_pair(first, ids) >> (32 - RECENT_BITS)];
	k = *recent;
	if (k && first_fields(&k->k) == first && !memcmp(&k->k.nsid, &r->nsid, sizeof(ids)) &&
	    k->k.flags == r->flags)
		return k;
	return kind_meet(e, r, recent);
}

static inline struct known_connection *connection_get(struct record_encoder *e,
						      const struct nt_record *r)
{
	struct known_connection **recent =
		&e->recent_connections[r->slot & ((1u << RECENT_BITS) - 1)];
	struct known_connection *c = *recent;

	if (c && !memcmp(&c->c, &r->qid, sizeof(c->c)))
		return c;
	return connection_meet(e, r, recent);
}

static uint8_t *kind_put(uint8_t *p, const struct record_kind *k)
{
	p[0] = k->op;
	p[1] = k->opcode;
	p[2] = k->shape;
	put_le16(p + 3, k->status);
	put_le32(p + 5, k->flags);
	put_le32(p + 9, k->nsid);
	put_le32(p + 13, k->length);
	return p + KIND_LEN;
}

static uint8_t *connection_put(uint8_t *p, const struct record_connection *c)
{
	put_le32(p, c->slot);
	put_le32(p + 4, c->gen);
	put_le16(p + 8, c->qid);
	put_le16(p + 10, c->cntlid);
	return p + CONNECTION_LEN;
}

static unsigned int code_of(const uint64_t mask[4], uint64_t v)
{
	return v <= mask[1] ? 1 : v <= mask[2] ? 2 : 3;
}

uint8_t *record_encode(struct record_encoder *e, uint8_t *p, const struct nt_record *r)
{
	struct known_connection *c = connection_get(e, r);
	struct known_kind *k = kind_get(e, r);
	uint64_t head, t = e->last + LAST_BIAS;
	uint8_t *const start = p;
	unsigned int code;

	if (!k || !c)
		return NULL;
	p += RECORD_HEAD_LEN;
	if (k->frame != e->frame) {
		k->frame = e->frame;
		k->number = e->nr_kinds++;
		p = kind_put(p, &k->k);
	}
	if (c->frame != e->frame) {
		c->frame = e->frame;
		c->number = e->nr_connections++;
		p = connection_put(p, &c->c);
	}
	head = r->cid | (uint64_t)c->number << CONNECTION_SHIFT | (uint64_t)k->number << KIND_SHIFT;
	if (r->slba) {
		code = code_of(slba_mask, r->slba);
		head |= (uint64_t)code << SLBA_SHIFT;
		put_le64(p, r->slba);
		p += slba_len[code];
	}
	_Pragma("GCC unroll 12") for (int i = NT_POINTS_MAX - 1; i >= 0; i--)
	{
		uint64_t v = t - r->points[i];

		if (!r->points[i])
			continue;
		t = r->points[i];
		code = code_of(point_mask, v);
		head |= (uint64_t)code << (POINTS_SHIFT + 2 * i);
		put_le64(p, v);
		p += point_len[code];
	}
	put_le64(start, head);
	/* The first one that was written. */
	e->last = r->points[NT_POINTS_MAX - 1] ?: r->points[NT_POINTS_MAX - 2] ?: record_last_ns(r)
			  ?: e->last;
	return p;
}

void record_decoder_begin(struct record_decoder *d, enum nt_side side)
{
	d->last = 0;
	d->side = side;
	d->nr_kinds = 0;
	d->nr_connections = 0;
}

static bool kind_define(struct record_decoder *d, const uint8_t *p)
{
	struct record_kind *k = &d->kinds[d->nr_kinds];

	k->side = d->side;
	k->op = p[0];
	k->opcode = p[1];
	k->shape = p[2];
	k->status = get_le16(p + 3);
	k->flags = get_le32(p + 5) & NT_F_OF_STREAM;
	k->nsid = get_le32(p + 9);
	k->length = get_le32(p + 13);
	d->nr_kinds++;
	return k->op < NT_OPS_NR && k->shape < NT_SHAPES_NR;
}

static void connection_define(struct record_decoder *d, const uint8_t *p)
{
	struct record_connection *c = &d->connections[d->nr_connections++];

	c->slot = get_le32(p);
	c->gen = get_le32(p + 4);
	c->qid = get_le16(p + 8);
	c->cntlid = get_le16(p + 10);
}

/*
 * Two consecutive points, each of at most 3 bytes, are decoded together from 8 bytes. One entry of
 * the table below is for one pair of codes. @keep_later and @keep_earlier are all ones if the point
 * is there.
 */
struct two_points {
	uint64_t keep_later, keep_earlier;
	uint32_t mask_later, mask_earlier;
	uint8_t shift;
	uint8_t len;
};

#define TWO_POINTS(later, earlier)                                                      \
	{                                                                               \
		(later) ? UINT64_MAX : 0, (earlier) ? UINT64_MAX : 0, LOW_BYTES(later), \
			LOW_BYTES(earlier), 8 * LEN(later), LEN(later) + LEN(earlier)   \
	}
#define LEN(code) ((code) ? (code) + 1 : 0)
#define LOW_BYTES(code) ((1u << 8 * LEN(code)) - 1)
#define NO_POINTS \
	{         \
		0 \
	}

/*
 * Index: the code of the earlier point, plus four times that of the later point, which comes first.
 */
static const struct two_points two_points[16] = {
	TWO_POINTS(0, 0), TWO_POINTS(0, 1), TWO_POINTS(0, 2), NO_POINTS,
	TWO_POINTS(1, 0), TWO_POINTS(1, 1), TWO_POINTS(1, 2), NO_POINTS,
	TWO_POINTS(2, 0), TWO_POINTS(2, 1), TWO_POINTS(2, 2), NO_POINTS,
};

/*
 * Decodes the points @i and @i + 1. Return: where the points before them begin; @t: the last time
 * that was decoded.
 */
static inline const uint8_t *decode_two(const uint8_t *p, uint32_t codes, unsigned int i,
					uint64_t *t, __u64 *points)
{
	const struct two_points *two = &two_points[codes >> (2 * i) & 15];
	uint64_t bytes = get_le64(p);

	*t -= bytes & two->mask_later;
	points[i + 1] = *t & two->keep_later;
	*t -= bytes >> two->shift & two->mask_earlier;
	points[i] = *t & two->keep_earlier;
	return p + two->len;
}

static const uint8_t *decode_short_points(const uint8_t *p, uint32_t codes, uint64_t t,
					  __u64 *points)
{
	_Static_assert(NT_POINTS_MAX == 12, "six times two");
	for (unsigned int i = 2; i < NT_POINTS_MAX; i++)
		points[i] = 0;
	/* A target mostly has no points 10 and 11. */
	if (codes >> 20)
		p = decode_two(p, codes, 10, &t, points);
	p = decode_two(p, codes, 8, &t, points);
	/* Most commands lack two of the remaining pairs: those of an R2T. */
	if (codes & 15 << 12)
		p = decode_two(p, codes, 6, &t, points);
	if (codes & 15 << 8)
		p = decode_two(p, codes, 4, &t, points);
	if (codes & 15 << 4)
		p = decode_two(p, codes, 2, &t, points);
	return decode_two(p, codes, 0, &t, points);
}

static const uint8_t *decode_points(const uint8_t *p, uint32_t codes, uint64_t t, __u64 *points)
{
	for (int i = NT_POINTS_MAX - 1; i >= 0; i--) {
		unsigned int code = codes >> (2 * i) & 3;

		t -= get_le64(p) & point_mask[code];
		p += point_len[code];
		points[i] = code ? t : 0;
	}
	return p;
}

const uint8_t *record_decode(struct record_decoder *d, const uint8_t *p, struct nt_record *r)
{
	uint64_t head = get_le64(p), t = d->last + LAST_BIAS;
	unsigned int c = head >> CONNECTION_SHIFT & (FRAME_CONNECTIONS_MAX - 1);
	unsigned int k = head >> KIND_SHIFT & (FRAME_KINDS_MAX - 1);
	unsigned int slba = head >> SLBA_SHIFT & 3;
	uint32_t codes = head >> POINTS_SHIFT;
	const struct record_connection *connection = &d->connections[c];
	const struct record_kind *kind = &d->kinds[k];

	p += RECORD_HEAD_LEN;
	/* The next free number means that the definition follows. */
	if (k >= d->nr_kinds) {
		if (k > d->nr_kinds || !kind_define(d, p))
			return NULL;
		p += KIND_LEN;
	}
	if (c >= d->nr_connections) {
		if (c > d->nr_connections)
			return NULL;
		connection_define(d, p);
		p += CONNECTION_LEN;
	}
	/* Copies several fields at a time: see struct record_kind. */
	memcpy(r, kind, offsetof(struct record_kind, nsid));
	memcpy(&r->qid, connection, sizeof(*connection));
	memcpy(&r->nsid, &kind->nsid, sizeof(*kind) - offsetof(struct record_kind, nsid));
	r->cid = head;
	r->slba = get_le64(p) & slba_mask[slba];
	p += slba_len[slba];
	if (LONG_CODES(codes))
		p = decode_points(p, codes, t, r->points);
	else
		p = decode_short_points(p, codes, t, r->points);
	if (codes)
		d->last = r->points[(31 - __builtin_clz(codes)) / 2];
	memset(r->fine, 0, sizeof(r->fine));
	memset(r->seq, 0, sizeof(r->seq));
	memset(r->wait, 0, sizeof(r->wait));
	r->disk = 0;
	memset(r->cpu, 0, sizeof(r->cpu));
	return p;
}

/* Where a record has the value of a number of docs/stream-format.md. */
static uint32_t *fine_value(struct nt_record *r, unsigned int number)
{
	if (number < NT_FINE_MAX)
		return &r->fine[number];
	number -= NT_FINE_MAX;
	if (number < NT_FINE_MAX)
		return &r->seq[number];
	number -= NT_FINE_MAX;
	return number < NT_WAITS_NR ? &r->wait[number] : &r->disk;
}

uint8_t *fine_encode(uint8_t *p, const struct nt_record *r)
{
	uint8_t *bits = p++;

	*bits = 0;
	for (unsigned int i = 0; i < FINE_VALUES; i++) {
		uint32_t v = i < FINE_VALUES - 1 ? *fine_value((struct nt_record *)r, i)
						 : nt_disk_command(r);

		if (!v)
			continue;
		*bits |= (uint8_t)(1u << i);
		put_le32(p, v);
		p += sizeof(v);
	}
	return p;
}

const uint8_t *fine_decode(const uint8_t *p, const uint8_t *end, struct nt_record *r)
{
	unsigned int bits;

	if (p == end)
		return NULL;
	bits = *p++;
	if ((size_t)(end - p) < sizeof(uint32_t) * (unsigned int)__builtin_popcount(bits))
		return NULL;
	for (unsigned int i = 0; bits; i++, bits >>= 1) {
		if (!(bits & 1))
			continue;
		if (i < FINE_VALUES)
			*fine_value(r, i) = get_le32(p);
		p += sizeof(uint32_t);
	}
	/* As it is written: other records have none. */
	r->disk = nt_disk_command(r);
	return p;
}

uint8_t *cpus_encode(uint8_t *p, const struct nt_record *r)
{
	uint8_t *bits = p++;

	*bits = 0;
	for (unsigned int i = 0; i < NT_CPUS_MAX; i++) {
		if (!r->cpu[i])
			continue;
		*bits |= (uint8_t)(1u << i);
		put_le16(p, r->cpu[i]);
		p += sizeof(r->cpu[i]);
	}
	return p;
}

const uint8_t *cpus_decode(const uint8_t *p, const uint8_t *end, struct nt_record *r)
{
	unsigned int bits;

	if (p == end)
		return NULL;
	bits = *p++;
	if ((size_t)(end - p) < sizeof(r->cpu[0]) * (unsigned int)__builtin_popcount(bits))
		return NULL;
	for (unsigned int i = 0; bits; i++, bits >>= 1) {
		if (!(bits & 1))
			continue;
		r->cpu[i] = get_le16(p);
		p += sizeof(r->cpu[i]);
	}
	return p;
}

#define FIELD_OF(member, ...)                                                   \
	{                                                                       \
		.offset = offsetof(struct stream_event, member),                \
		.size = sizeof(((struct stream_event *)0)->member), __VA_ARGS__ \
	}
#define BYTES_OF(member) .bytes = sizeof(((struct stream_event *)0)->member)
#define NUMBER(member) FIELD_OF(member, BYTES_OF(member))
#define TEXT(member) FIELD_OF(member, .bytes = 0)
#define LATER_TEXT(member) FIELD_OF(member, .later = true)
#define LATER_NUMBER(member) FIELD_OF(member, BYTES_OF(member), .later = true)

static const struct wire_field header_fields[] = {
	FIELD_OF(header.side, .bytes = 1),
	TEXT(header.source),
	TEXT(header.boot_id),
	TEXT(header.hostname),
	TEXT(header.kernel),
	TEXT(header.program),
	NUMBER(header.sample),
	NUMBER(header.missing),
	TEXT(header.selection),
	NUMBER(header.origins),
	{0},
};

static const struct wire_field clock_fields[] = {
	NUMBER(clock.monotonic_ns),
	NUMBER(clock.realtime_ns),
	{0},
};

static const struct wire_field queue_fields[] = {
	NUMBER(queue.slot),
	NUMBER(queue.gen),
	NUMBER(queue.instance),
	NUMBER(queue.cntlid),
	NUMBER(queue.qid),
	NUMBER(queue.sqsize),
	TEXT(queue.subsysnqn),
	TEXT(queue.hostnqn),
	TEXT(queue.address),
	LATER_TEXT(queue.ends.local),
	LATER_TEXT(queue.ends.remote),
	LATER_NUMBER(queue.ends.local_port),
	LATER_NUMBER(queue.ends.remote_port),
	LATER_NUMBER(queue.transport),
	LATER_NUMBER(queue.queues),
	{0},
};

static const struct wire_field losses_fields[] = {{0}};

static const struct wire_field end_fields[] = {
	NUMBER(end.records),
	NUMBER(end.clock.monotonic_ns),
	NUMBER(end.clock.realtime_ns),
	{0},
};

static const struct wire_field burst_fields[] = {
	NUMBER(burst.began_ns),
	NUMBER(burst.ended_ns),
	{0},
};

static const struct wire_field origin_fields[] = {
	NUMBER(origin.number),	  NUMBER(origin.cpu),	   TEXT(origin.cgroup),
	LATER_NUMBER(origin.pid), LATER_TEXT(origin.comm), {0},
};

static const struct wire_field device_fields[] = {
	TEXT(device.subsysnqn),
	NUMBER(device.instance),
	NUMBER(device.nsid),
	TEXT(device.name),
	LATER_NUMBER(device.block_bytes),
	LATER_TEXT(device.disk),
	{0},
};

static const struct wire_field tcp_fields[] = {
	NUMBER(tcp.slot),
	NUMBER(tcp.gen),
	NUMBER(tcp.ns),
	NUMBER(tcp.state.srtt_us),
	NUMBER(tcp.state.rttvar_us),
	NUMBER(tcp.state.snd_cwnd),
	NUMBER(tcp.state.snd_ssthresh),
	NUMBER(tcp.state.unacked),
	NUMBER(tcp.state.lost),
	NUMBER(tcp.state.retrans),
	NUMBER(tcp.state.total_retrans),
	NUMBER(tcp.state.snd_mss),
	NUMBER(tcp.state.snd_wnd),
	NUMBER(tcp.state.queued),
	NUMBER(tcp.state.notsent),
	NUMBER(tcp.state.busy),
	NUMBER(tcp.state.rwnd_limited),
	NUMBER(tcp.state.sndbuf_limited),
	NUMBER(tcp.state.jiffies),
	NUMBER(tcp.state.bytes_sent),
	NUMBER(tcp.state.bytes_retrans),
	NUMBER(tcp.state.pacing_rate),
	TEXT(tcp.state.congestion),
	LATER_NUMBER(tcp.state.dsack_dups),
	{0},
};

static const struct wire_field resent_fields[] = {
	NUMBER(resent.slot),
	NUMBER(resent.gen),
	NUMBER(resent.ns),
	{0},
};

static const struct wire_field disk_fields[] = {
	NUMBER(disk.from_ns), NUMBER(disk.to_ns), TEXT(disk.disk),
	NUMBER(disk.user),    TEXT(disk.who),	  NUMBER(disk.requests),
	NUMBER(disk.bytes),   NUMBER(disk.ns),	  {0},
};

static const struct wire_field path_fields[] = {
	NUMBER(path.ns),
	NUMBER(path.instance),
	NUMBER(path.kind),
	NUMBER(path.state),
	NUMBER(path.attempts),
	NUMBER(path.queues),
	NUMBER(path.group),
	NUMBER(path.cntlid),
	NUMBER(path.qid),
	NUMBER(path.cid),
	NUMBER(path.opcode),
	TEXT(path.subsysnqn),
	{0},
};

const struct wire_field *wire_fields(unsigned int type)
{
	static const struct wire_field *const fields[] = {
		[STREAM_HEADER] = header_fields, [STREAM_CLOCK] = clock_fields,
		[STREAM_QUEUE] = queue_fields,	 [STREAM_LOSSES] = losses_fields,
		[STREAM_END] = end_fields,	 [STREAM_BURST] = burst_fields,
		[STREAM_ORIGIN] = origin_fields, [STREAM_DEVICE] = device_fields,
		[STREAM_TCP] = tcp_fields,	 [STREAM_RESENT] = resent_fields,
		[STREAM_PATH] = path_fields,	 [STREAM_DISK] = disk_fields,
	};

	return type < ARRAY_SIZE(fields) ? fields[type] : NULL;
}
