// SPDX-License-Identifier: GPL-2.0-only
#include "view/perfetto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"

/* Numbers of fields. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	COUNTER_UNIT_NAME = 6,
	INTERNED_NAMES = 2,
	NAME_IID = 1,
	NAME_NAME = 2,
	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_DOUBLE = 44,
	EVENT_FLOW = 47,
	EVENT_LAST_FLOW = 48,
	ANNOTATION_NAME = 10,
	ANNOTATION_UNSIGNED = 3,
	ANNOTATION_TEXT = 6,
};

enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
/* PACKET_FLAGS: names that earlier packets have defined are needed. */
#define NEEDS_NAMES 2
/* The track of the first packet is 1. */
#define FIRST_TRACK 2
/* Process ids, which are of no process. */
#define FIRST_PID 1000
/* Names with a number; others are written each time. */
#define NAMES_MAX 512u
/* A command's name, or those of all joined stages. */
#define NAME_LEN STAGE_NAME_LEN
/* The tag is in these bits of a command's id. */
#define TAG_MASK 0xfffu

/* A message that is being written; what has no room is left out. */
struct message {
	size_t len;
	uint8_t byte[2048];
};

enum { WIRE_VARINT, WIRE_FIXED, WIRE_BYTES };

static void put_varint(struct message *m, uint64_t v)
{
	do {
		if (m->len < sizeof(m->byte))
			m->byte[m->len++] = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
		v >>= 7;
	} while (v);
}

static void put_number(struct message *m, unsigned int field, uint64_t v)
{
	put_varint(m, field << 3 | WIRE_VARINT);
	put_varint(m, v);
}

static void put_fixed(struct message *m, unsigned int field, uint64_t v)
{
	put_varint(m, field << 3 | 1);
	for (unsigned int i = 0; i < 8 && m->len < sizeof(m->byte); i++)
		m->byte[m->len++] = (uint8_t)(v >> 8 * i);
}

static void put_bytes(struct message *m, unsigned int field, const void *bytes, size_t len)
{
	/* Two numbers of five bytes. */
	if (m->len + 10 + len > sizeof(m->byte))
		return;
	put_varint(m, field << 3 | WIRE_BYTES);
	put_varint(m, len);
	memcpy(m->byte + m->len, bytes, len);
	m->len += len;
}

static void put_message(struct message *m, unsigned int field, const struct message *in)
{
	put_bytes(m, field, in->byte, in->len);
}

/* @s: of any origin */
static void put_text(struct message *m, unsigned int field, const char *s)
{
	char seen[TEXT_UTF8_GROWS * NAME_LEN];

	text_copy(seen, sizeof(seen), s, TEXT_SEEN);
	put_bytes(m, field, seen, strlen(seen));
}

/**
 * struct kept - a command
 * @latency: first, because the slowest are a heap
 * @number: how many came before
 * @offset: target's clock - host's, and how wrong it may be
 * @has: [side] there is a record
 */
struct kept {
	uint64_t latency;
	uint64_t number;
	const struct merge_connection *c;
	int64_t to_common;
	int64_t offset;
	uint64_t error;
	bool has[NT_SIDES];
	struct nt_record r[NT_SIDES];
};

/* A track that the file has a description of. */
struct track {
	uint64_t key;
	uint64_t uuid;
	UT_hash_handle hh;
};

/* With this shift there is room for command 0 only. */
#define SHIFT_MAX 63

/**
 * struct perfetto - the commands, and what has been written
 * @slow: the slowest, a heap of at most @max / 2
 * @fair: every 2^@shift-th, at most @max
 * @seen: number of all
 * @how: [side] how the last command was split
 */
struct perfetto {
	unsigned int max;
	struct kept *slow;
	size_t nr_slow;
	struct kept *fair;
	size_t nr_fair;
	unsigned int shift;
	uint64_t seen;
	FILE *f;
	const struct machines *machines;
	struct track *tracks;
	uint64_t nr_tracks;
	char name[NAMES_MAX][NAME_LEN];
	unsigned int nr_names;
	struct stage_split how[NT_SIDES];
	bool has_how[NT_SIDES];
	int err;
};

struct perfetto *perfetto_new(unsigned int max)
{
	struct perfetto *p = calloc(1, sizeof(*p));

	if (p)
		p->max = max;
	return p;
}

void perfetto_free(struct perfetto *p)
{
	if (!p)
		return;
	hash_free(p->tracks);
	free(p->slow);
	free(p->fair);
	free(p);
}

static void thin_out(struct perfetto *p)
{
	size_t nr = 0;

	p->shift++;
	for (size_t i = 0; i < p->nr_fair; i++)
		if (!(p->fair[i].number & ((1ULL << p->shift) - 1)))
			p->fair[nr++] = p->fair[i];
	p->nr_fair = nr;
}

/* Replaces the fastest of the slowest. Return: 0 or -ENOMEM. */
static int keep_slow(struct perfetto *p, const struct kept *k)
{
	size_t at = p->nr_slow;

	if (!(p->max / 2) || (at == p->max / 2 && k->latency <= p->slow[0].latency))
		return 0;
	if (at == p->max / 2) {
		heap_down(p->slow, at, 0, k, sizeof(*k), NULL);
		return 0;
	}
	if (!ARRAY_INSERT(p->slow, p->nr_slow, at))
		return -ENOMEM;
	heap_up(p->slow, at, k, sizeof(*k), NULL);
	return 0;
}

static int keep_fair(struct perfetto *p, const struct kept *k)
{
	struct kept *room;

	/* Command 0 always stays, so with room for one it is thinned out for each further one. */
	if (p->nr_fair == p->max && p->shift < SHIFT_MAX)
		thin_out(p);
	if (k->number & ((1ULL << p->shift) - 1))
		return 0;
	/* An array that thin_out() has made shorter has its room still. */
	if (p->shift) {
		p->fair[p->nr_fair++] = *k;
		return 0;
	}
	room = ARRAY_INSERT(p->fair, p->nr_fair, p->nr_fair);
	if (!room)
		return -ENOMEM;
	*room = *k;
	return 0;
}

int perfetto_add(struct perfetto *p, const struct merge_connection *c, const struct nt_record *host,
		 const struct nt_record *target, int64_t to_common)
{
	const struct nt_record *r = host ?: target;
	struct kept k = {
		.number = p->seen,
		.c = c,
		.to_common = to_common,
		.has = {[NT_HOST] = host, [NT_TARGET] = target},
	};

	if (!r || !record_begin_ns(r))
		return 0;
	p->seen++;
	k.latency = record_latency_ns(r);
	if (host && target) {
		k.error = ((uint64_t)c->offset_high - (uint64_t)c->offset_low) / 2;
		k.offset = (int64_t)((uint64_t)c->offset_low + k.error);
	}
	if (host)
		k.r[NT_HOST] = *host;
	if (target)
		k.r[NT_TARGET] = *target;
	return keep_slow(p, &k) ?: keep_fair(p, &k);
}

static void write_packet(struct perfetto *p, const struct message *packet)
{
	struct message head = {0};

	put_varint(&head, TRACE_PACKET << 3 | WIRE_BYTES);
	put_varint(&head, packet->len);
	fwrite(head.byte, 1, head.len, p->f);
	fwrite(packet->byte, 1, packet->len, p->f);
}

/* Return: the track of this key, 0 if it has to be described, which sets @uuid to its number. */
static uint64_t track_find(struct perfetto *p, uint64_t key, uint64_t *uuid)
{
	const unsigned int place = hash_pair(key, 0);
	struct track *t;

	HASH_FIND_BYHASHVALUE(hh, p->tracks, &key, sizeof(key), place, t);
	if (t)
		return t->uuid;
	t = calloc(1, sizeof(*t));
	*uuid = FIRST_TRACK + p->nr_tracks++;
	if (t) {
		t->key = key;
		t->uuid = *uuid;
		HASH_ADD_BYHASHVALUE(hh, p->tracks, key, sizeof(key), place, t);
	}
	if (!t || !hash_kept(t))
		p->err = -ENOMEM;
	return 0;
}

/* @more: a field with a message; @parent: 0: none */
static void describe_track(struct perfetto *p, uint64_t uuid, uint64_t parent, const char *name,
			   unsigned int field, const struct message *more)
{
	struct message track = {0}, packet = {0};

	put_number(&track, TRACK_UUID, uuid);
	if (parent)
		put_number(&track, TRACK_PARENT, parent);
	put_text(&track, TRACK_NAME, name);
	if (more)
		put_message(&track, field, more);
	put_number(&packet, PACKET_SEQUENCE, 1);
	put_message(&packet, PACKET_TRACK_DESCRIPTOR, &track);
	write_packet(p, &packet);
}

/* Kinds of tracks, in the highest bits of their keys. */
enum { OF_MACHINE, OF_QUEUE, OF_TAG, OF_CONTROLLER };
#define TRACK_KEY(kind, side, index, tag) \
	((uint64_t)(kind) << 62 | (uint64_t)(side) << 61 | (uint64_t)(index) << 16 | (tag))

static uint64_t machine_track(struct perfetto *p, unsigned int stream)
{
	uint64_t uuid, found = track_find(p, TRACK_KEY(OF_MACHINE, 0, stream, 0), &uuid);
	const char *name = machines_get(p->machines, stream)->name;
	struct message process = {0};

	if (found)
		return found;
	put_number(&process, PROCESS_PID, FIRST_PID + stream);
	put_text(&process, PROCESS_NAME, name);
	describe_track(p, uuid, 0, name, TRACK_PROCESS, &process);
	return uuid;
}

static uint64_t queue_track(struct perfetto *p, enum nt_side side, const struct merge_connection *c)
{
	uint64_t uuid, found = track_find(p, TRACK_KEY(OF_QUEUE, side, c->index, 0), &uuid);
	char name[NT_NQN_LEN + 64];

	if (found)
		return found;
	if (side == NT_HOST)
		snprintf(name, sizeof(name), "nvme%u queue %u, %s", c->host_instance, c->qid,
			 c->subsysnqn);
	else
		snprintf(name, sizeof(name), "cntlid %u queue %u, %s", c->cntlid, c->qid,
			 c->subsysnqn);
	describe_track(p, uuid,
		       machine_track(p, side == NT_HOST ? c->host_stream : c->target_stream), name,
		       0, NULL);
	return uuid;
}

static uint64_t tag_track(struct perfetto *p, enum nt_side side, const struct merge_connection *c,
			  unsigned int tag)
{
	uint64_t uuid, found = track_find(p, TRACK_KEY(OF_TAG, side, c->index, tag), &uuid);
	char name[32];

	if (found)
		return found;
	snprintf(name, sizeof(name), "tag %u", tag);
	describe_track(p, uuid, queue_track(p, side, c), name, 0, NULL);
	return uuid;
}

/* Names an event: with a number, which its packet explains when it is the first with that name. */
static void put_name(struct perfetto *p, struct message *event, struct message *packet,
		     const char *name)
{
	struct message entry = {0}, names = {0};
	unsigned int i = 0;

	while (i < p->nr_names && strcmp(p->name[i], name))
		i++;
	if (i == NAMES_MAX) {
		put_text(event, EVENT_NAME, name);
		return;
	}
	put_number(event, EVENT_NAME_IID, i + 1);
	if (i < p->nr_names)
		return;
	snprintf(p->name[p->nr_names++], NAME_LEN, "%s", name);
	put_number(&entry, NAME_IID, i + 1);
	put_text(&entry, NAME_NAME, name);
	put_message(&names, INTERNED_NAMES, &entry);
	put_message(packet, PACKET_INTERNED, &names);
}

static void write_event(struct perfetto *p, uint64_t ns, struct message *packet,
			const struct message *event)
{
	put_number(packet, PACKET_TIMESTAMP, ns);
	put_number(packet, PACKET_SEQUENCE, 1);
	put_number(packet, PACKET_FLAGS, NEEDS_NAMES);
	put_message(packet, PACKET_TRACK_EVENT, event);
	write_packet(p, packet);
}

/* @event: what it has besides */
static void begin_slice(struct perfetto *p, uint64_t track, uint64_t ns, const char *name,
			struct message *event)
{
	struct message packet = {0};

	put_number(event, EVENT_TYPE, SLICE_BEGIN);
	put_number(event, EVENT_TRACK, track);
	put_name(p, event, &packet, name);
	write_event(p, ns, &packet, event);
}

static void end_slice(struct perfetto *p, uint64_t track, uint64_t ns)
{
	struct message packet = {0}, event = {0};

	put_number(&event, EVENT_TYPE, SLICE_END);
	put_number(&event, EVENT_TRACK, track);
	write_event(p, ns, &packet, &event);
}

static void annotate(struct message *event, const char *name, uint64_t v, const char *text)
{
	struct message m = {0};

	put_text(&m, ANNOTATION_NAME, name);
	if (text)
		put_text(&m, ANNOTATION_TEXT, text);
	else
		put_number(&m, ANNOTATION_UNSIGNED, v);
	put_message(event, EVENT_ANNOTATIONS, &m);
}

static const struct stage_split *split_how(struct perfetto *p, const struct kept *k,
					   enum nt_side side)
{
	unsigned int stream = side == NT_HOST ? k->c->host_stream : k->c->target_stream;
	uint32_t lacks = machines_get(p->machines, stream)->missing | record_lacks(&k->r[side]);

	if (!p->has_how[side] || p->how[side].missing != lacks)
		stage_split_init(&p->how[side], side, lacks);
	p->has_how[side] = true;
	return &p->how[side];
}

/* Arrows: from the host's wait to the target, and from its response to the host. */
static const struct {
	enum nt_side side;
	unsigned int from;
	bool last;
	bool back;
} arrows[] = {
	{NT_HOST, NT_H_SEND_CMD, false, false},
	{NT_TARGET, NT_T_RX, true, false},
	{NT_TARGET, NT_T_SEND, false, true},
	{NT_HOST, NT_H_RX, true, true},
};

/* The parts of a record: their number, 0 if it cannot be split. */
static const struct stage_shape *parts_of(struct perfetto *p, const struct kept *k,
					  enum nt_side side)
{
	const struct stage_split *how = split_how(p, k, side);
	uint64_t stage[NT_STAGES_MAX];

	if (k->r[side].shape >= NT_SHAPES_NR || !stage_split(how, &k->r[side], stage))
		return NULL;
	return &how->shape[k->r[side].shape];
}

static bool begins_a_part(const struct stage_shape *shape, unsigned int point)
{
	for (unsigned int i = 0; shape && i < shape->nr; i++)
		if (shape->part[i].from == point && shape->part[i].at != STAGE_UNKNOWN)
			return true;
	return false;
}

static void write_side(struct perfetto *p, const struct kept *k, enum nt_side side, bool flows)
{
	const struct nt_record *r = &k->r[side];
	uint64_t track = tag_track(p, side, k->c, r->cid & TAG_MASK);
	uint64_t add = (uint64_t)k->to_common - (side == NT_TARGET ? (uint64_t)k->offset : 0);
	uint64_t begin = record_begin_ns(r), end = record_last_ns(r);
	const struct stage_shape *shape = parts_of(p, k, side);
	const char *error = r->flags & NT_F_CANCELLED	 ? "given up"
			    : status_is_error(r->status) ? status_name(r->op, r->status)
							 : NULL;
	struct message event = {0};
	char name[NAME_LEN];

	if (!begin || end < begin)
		return;
	annotate(&event, "lba", r->slba, NULL);
	annotate(&event, "cid", r->cid, NULL);
	annotate(&event, "namespace", r->nsid, NULL);
	if (error)
		annotate(&event, "error", 0, error);
	if (side == NT_TARGET && k->has[NT_HOST])
		annotate(&event, "clock_error_ns", k->error, NULL);
	snprintf(name, sizeof(name), "%s %u%s", op_name(r->op < NT_OPS_NR ? r->op : NT_OP_OTHER),
		 r->length, error ? " failed" : "");
	begin_slice(p, track, begin + add, name, &event);
	for (unsigned int i = 0; shape && i < shape->nr; i++) {
		unsigned int from = shape->part[i].from, at = shape->part[i].at;

		if (!r->points[from])
			from = NT_H_QUEUE_RQ; /* submit may be missing, and only that */
		event.len = 0;
		for (size_t a = 0; flows && a < ARRAY_SIZE(arrows); a++)
			if (arrows[a].side == side && arrows[a].from == shape->part[i].from)
				put_fixed(&event, arrows[a].last ? EVENT_LAST_FLOW : EVENT_FLOW,
					  2 * k->number + 2 + arrows[a].back);
		if (at < NT_STAGES_MAX)
			stage_joined_name(side, p->how[side].into, at, name, sizeof(name));
		else
			snprintf(name, sizeof(name), "unknown");
		begin_slice(p, track, r->points[from] + add, name, &event);
		end_slice(p, track, r->points[shape->part[i].to] + add);
	}
	end_slice(p, track, end + add);
}

static void write_command(struct perfetto *p, const struct kept *k)
{
	bool flows = k->has[NT_HOST] && k->has[NT_TARGET];

	for (size_t a = 0; flows && a < ARRAY_SIZE(arrows); a++)
		flows = begins_a_part(parts_of(p, k, arrows[a].side), arrows[a].from);
	for (unsigned int side = 0; side < NT_SIDES; side++)
		if (k->has[side])
			write_side(p, k, (enum nt_side)side, flows);
}

static int by_begin(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	uint64_t at = record_begin_ns(&x->r[!x->has[NT_HOST]]) + (uint64_t)x->to_common;
	uint64_t then = record_begin_ns(&y->r[!y->has[NT_HOST]]) + (uint64_t)y->to_common;

	if (at != then)
		return at < then ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Figures of a bin that are tracks of numbers. */
enum { IN_FLIGHT, READS, WRITES, READ_BYTES, WRITTEN_BYTES, COUNTERS };

static const struct {
	const char *name;
	const char *unit;
} counters[COUNTERS] = {
	[IN_FLIGHT] = {"in flight", "commands"},  [READS] = {"reads", "reads/s"},
	[WRITES] = {"writes", "writes/s"},	  [READ_BYTES] = {"read", "bytes/s"},
	[WRITTEN_BYTES] = {"written", "bytes/s"},
};

/* Return: a new track of numbers. @parent: 0: none */
static uint64_t counter_track(struct perfetto *p, uint64_t parent, const char *name,
			      const char *unit)
{
	uint64_t uuid = FIRST_TRACK + p->nr_tracks++;
	struct message counter = {0};

	put_text(&counter, COUNTER_UNIT_NAME, unit);
	describe_track(p, uuid, parent, name, TRACK_COUNTER, &counter);
	return uuid;
}

static void write_number(struct perfetto *p, uint64_t track, uint64_t ns, double v)
{
	struct message packet = {0}, event = {0};
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put_number(&event, EVENT_TYPE, COUNTER);
	put_number(&event, EVENT_TRACK, track);
	put_fixed(&event, EVENT_DOUBLE, bits);
	write_event(p, ns, &packet, &event);
}

/*
 * The congestion window, and the segments sent again since the beginning, of each connection of a
 * stream. @nr: of connections so far
 */
static void write_tcp(struct perfetto *p, const struct perfetto_about *about, unsigned int stream,
		      uint64_t *nr)
{
	char name[NAME_LEN];

	for (const struct tcp_queue *q = tcp_history_first(about->tcp, stream); q; q = q->hh.next) {
		uint64_t machine, cwnd, again;

		if (!q->nr_points || (*nr)++ >= PERFETTO_CONNECTIONS)
			continue;
		machine = machine_track(p, stream);
		snprintf(name, sizeof(name), "%s queue %u cwnd", q->controller, q->qid);
		cwnd = counter_track(p, machine, name, "segments");
		snprintf(name, sizeof(name), "%s queue %u sent again", q->controller, q->qid);
		again = counter_track(p, machine, name, "segments");
		for (size_t i = 0; i < q->nr_points; i++) {
			const struct tcp_point *at = &q->point[i];
			uint64_t ns = at->ns + (uint64_t)about->inputs[stream].to_common;

			write_number(p, cwnd, ns, at->cwnd);
			write_number(p, again, ns, at->again - q->first.total_retrans);
		}
	}
}

static uint64_t controller_track(struct perfetto *p, const struct nt_path_event *e)
{
	uint64_t uuid, found;
	char name[32];

	found = track_find(p, TRACK_KEY(OF_CONTROLLER, 0, e->input, e->instance & 0xffff), &uuid);
	if (found)
		return found;
	snprintf(name, sizeof(name), "nvme%u", e->instance);
	describe_track(p, uuid, machine_track(p, e->input), name, 0, NULL);
	return uuid;
}

static void write_path_events(struct perfetto *p, const struct perfetto_about *about)
{
	char text[PATH_EVENT_TEXT_LEN];

	for (size_t i = 0; i < about->events->nr; i++) {
		const struct nt_path_event *e = path_events_at(about->events, i);
		struct message packet = {0}, event = {0};

		if (e->subsysnqn[0])
			annotate(&event, "subsystem", 0, e->subsysnqn);
		put_number(&event, EVENT_TYPE, INSTANT);
		put_number(&event, EVENT_TRACK, controller_track(p, e));
		put_text(&event, EVENT_NAME, path_event_text(e, text));
		write_event(p, e->ns + (uint64_t)about->inputs[e->input].to_common, &packet,
			    &event);
	}
}

static void write_counters(struct perfetto *p, const struct timeline *t)
{
	double width = (double)(1ULL << t->time.shift);
	uint64_t track[COUNTERS];

	for (unsigned int i = 0; i < COUNTERS; i++)
		track[i] = counter_track(p, 0, counters[i].name, counters[i].unit);
	for (unsigned int b = 0; b < t->time.nr; b++) {
		const struct timeline_bin *bin = &t->bin[b];
		const double v[COUNTERS] = {
			[IN_FLIGHT] = (double)bin->h.sum / width,
			[READS] = 1e9 / width * (double)bin->count[TIMELINE_READ],
			[WRITES] = 1e9 / width * (double)bin->count[TIMELINE_WRITE],
			[READ_BYTES] = 1e9 / width * (double)bin->bytes[TIMELINE_READ],
			[WRITTEN_BYTES] = 1e9 / width * (double)bin->bytes[TIMELINE_WRITE],
		};

		for (unsigned int i = 0; i < COUNTERS; i++)
			write_number(p, track[i], (t->time.base + b) << t->time.shift, v[i]);
	}
}

int perfetto_write(struct perfetto *p, const struct perfetto_about *about, FILE *f,
		   uint64_t *left_out, uint64_t *connections)
{
	size_t nr = 0;
	struct kept *all;
	uint64_t written = 0, nr_tcp = 0;

	p->f = f;
	p->machines = about->m;
	if (p->seen <= p->max)
		p->nr_slow = 0;
	while (p->nr_slow && p->nr_slow + p->nr_fair > p->max)
		thin_out(p);
	all = calloc(p->nr_slow + p->nr_fair + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	if (p->nr_slow)
		memcpy(all, p->slow, p->nr_slow * sizeof(*all));
	if (p->nr_fair)
		memcpy(all + p->nr_slow, p->fair, p->nr_fair * sizeof(*all));
	nr = p->nr_slow + p->nr_fair;
	qsort(all, nr, sizeof(*all), by_begin);
	fwrite(PERFETTO_BEGINS, 1, sizeof(PERFETTO_BEGINS) - 1, f);
	for (size_t i = 0; i < nr && !p->err; i++) {
		/* One may be among the slowest and in the sample. */
		if (i && all[i].number == all[i - 1].number)
			continue;
		write_command(p, &all[i]);
		written++;
	}
	free(all);
	if (about->t)
		write_counters(p, about->t);
	for (unsigned int i = 0; i < about->tcp->nr_streams; i++)
		write_tcp(p, about, i, &nr_tcp);
	*connections = nr_tcp > PERFETTO_CONNECTIONS ? nr_tcp - PERFETTO_CONNECTIONS : 0;
	write_path_events(p, about);
	*left_out = p->seen - written;
	return p->err;
}
