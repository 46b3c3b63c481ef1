// SPDX-License-Identifier: GPL-2.0-only
#include "merge/blocked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/hash.h"
#include "core/segments.h"

/* A connection of a target: hashes of its names, which are long. */
struct served {
	struct {
		uint32_t stream;
		uint32_t slot;
		uint32_t gen;
	} key;
	unsigned int subsystem;
	unsigned int host;
	UT_hash_handle hh;
};

/*
 * A namespace of a target: hashes of the names of its subsystem and its disk. @requests: that of
 * the disk whose requests its are; 0: not known
 */
struct backing {
	struct {
		uint32_t stream;
		uint32_t subsystem;
		uint32_t nsid;
	} key;
	unsigned int disk;
	unsigned int requests;
	UT_hash_handle hh;
};

struct blocked_reader {
	const struct slow_command *slow;
	unsigned int nr;
	struct served *served;
	struct backing *backing;
	struct blocked of[BLOCKED_MAX];
};

struct blocked_reader *blocked_new(const struct slow_command *slow, unsigned int nr)
{
	struct blocked_reader *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->slow = slow;
	b->nr = nr < BLOCKED_MAX ? nr : BLOCKED_MAX;
	return b;
}

static struct served *find(const struct blocked_reader *b, unsigned int stream, uint32_t slot,
			   uint32_t gen)
{
	const struct served like = {.key = {.stream = stream, .slot = slot, .gen = gen}};
	struct served *s;

	HASH_FIND(hh, b->served, &like.key, sizeof(like.key), s);
	return s;
}

int blocked_queue(struct blocked_reader *b, unsigned int stream, const struct queue_info *q)
{
	struct served *s = find(b, stream, q->slot, q->gen);

	if (!s) {
		if (HASH_COUNT(b->served) >= BLOCKED_QUEUES)
			return 0;
		s = calloc(1, sizeof(*s));
		if (!s)
			return -ENOMEM;
		s->key.stream = stream;
		s->key.slot = q->slot;
		s->key.gen = q->gen;
		HASH_ADD(hh, b->served, key, sizeof(s->key), s);
		if (!hash_kept(s))
			return -ENOMEM;
	}
	s->subsystem = hash_bytes(q->subsysnqn, strlen(q->subsysnqn));
	s->host = hash_bytes(q->hostnqn, strlen(q->hostnqn));
	return 0;
}

static struct backing *backing(const struct blocked_reader *b, unsigned int stream,
			       unsigned int subsystem, uint32_t nsid)
{
	const struct backing like = {
		.key = {.stream = stream, .subsystem = subsystem, .nsid = nsid}};
	struct backing *d;

	HASH_FIND(hh, b->backing, &like.key, sizeof(like.key), d);
	return d;
}

int blocked_device(struct blocked_reader *b, unsigned int stream, const struct device_name *d)
{
	unsigned int subsystem = hash_bytes(d->subsysnqn, strlen(d->subsysnqn));
	struct backing *on = backing(b, stream, subsystem, d->nsid);

	if (!on) {
		if (HASH_COUNT(b->backing) >= BLOCKED_QUEUES)
			return 0;
		on = calloc(1, sizeof(*on));
		if (!on)
			return -ENOMEM;
		on->key.stream = stream;
		on->key.subsystem = subsystem;
		on->key.nsid = d->nsid;
		HASH_ADD(hh, b->backing, key, sizeof(on->key), on);
		if (!hash_kept(on))
			return -ENOMEM;
	}
	on->disk = hash_bytes(d->name, strlen(d->name));
	on->requests = d->disk[0] ? hash_bytes(d->disk, strlen(d->disk)) : 0;
	return 0;
}

/* Whether commands of two connections, of these namespaces, are for one disk. */
static bool same_disk(const struct blocked_reader *b, unsigned int stream, const struct served *x,
		      uint32_t x_nsid, const struct served *y, uint32_t y_nsid)
{
	const struct backing *d, *e;

	if (x->subsystem == y->subsystem && x_nsid == y_nsid)
		return true;
	d = backing(b, stream, x->subsystem, x_nsid);
	e = backing(b, stream, y->subsystem, y_nsid);
	return d && e && d->disk == e->disk;
}

/* Whether a point of another command is in the time that this one waited, from @from to @to. */
static bool within(uint64_t at, uint64_t from, uint64_t to)
{
	return at && from && at >= from && at < to;
}

static bool same_queue(const struct nt_record *a, const struct nt_record *b)
{
	return a->slot == b->slot && a->gen == b->gen;
}

/*
 * TCP keeps the order: data of which the first packet comes before a PDU are all before it.
 * @came, @read: when it came, and when all data had been read; @sent, @rx: of the PDU
 */
static uint64_t bytes_before(const struct nt_record *r, uint64_t came, uint64_t read, uint64_t sent,
			     uint64_t rx)
{
	return came && came < rx && read > sent ? r->length : 0;
}

static void count_host(struct blocked *to, const struct slow_command *c, const struct nt_record *r)
{
	const struct nt_record *own = &c->host;
	uint64_t begin = record_begin_ns(own), end = record_end_ns(own);

	if (!same_queue(own, r) || (r->cid == own->cid && record_begin_ns(r) == begin))
		return;
	if (within(record_end_ns(r), begin, end)) {
		to->ahead += record_begin_ns(r) < begin;
		to->overtook += record_begin_ns(r) >= begin;
	}
	to->sent += within(r->points[NT_H_SEND_CMD], own->points[NT_H_QUEUE_RQ],
			   own->points[NT_H_SEND_CMD]);
	if (!c->alone && c->target.points[NT_T_SEND] && r->op == NT_OP_READ)
		to->to_host += bytes_before(r, r->points[NT_H_RX], r->points[NT_H_CQE],
					    c->target.points[NT_T_SEND] -
						    connection_offset(&c->connection),
					    own->points[NT_H_RX]);
}

static void count_target(const struct blocked_reader *b, unsigned int stream, struct blocked *to,
			 const struct slow_command *c, const struct nt_record *r)
{
	const struct nt_record *own = &c->target;
	const struct served *x, *y;

	if (same_queue(own, r)) {
		if (r->cid == own->cid && r->points[NT_T_CMD] == own->points[NT_T_CMD])
			return;
		to->handled +=
			within(r->points[NT_T_CMD], own->points[NT_T_RX], own->points[NT_T_CMD]);
		to->answered += within(r->points[NT_T_SEND], own->points[NT_T_DONE],
				       own->points[NT_T_SEND]);
		if (c->host.points[NT_H_SEND_CMD] && r->op == NT_OP_WRITE)
			to->to_target += bytes_before(
				r, r->points[NT_T_DATA_RX] ?: r->points[NT_T_RX],
				r->points[NT_T_EXEC],
				c->host.points[NT_H_SEND_CMD] + connection_offset(&c->connection),
				own->points[NT_T_RX]);
	}
	if (r->points[NT_T_EXEC] > r->points[NT_T_DONE] ||
	    !within(r->points[NT_T_DONE], own->points[NT_T_EXEC], own->points[NT_T_DONE]))
		return;
	if (!r->points[NT_T_EXEC])
		return;
	x = find(b, stream, own->slot, own->gen);
	y = find(b, stream, r->slot, r->gen);
	to->disk_unknown += (!x || !y) && r->nsid == own->nsid;
	if (!x || !y || !same_disk(b, stream, x, own->nsid, y, r->nsid))
		return;
	to->disk++;
	to->disk_ns += r->points[NT_T_DONE] - r->points[NT_T_EXEC];
	to->disk_others += x->host != y->host;
}

void blocked_record(struct blocked_reader *b, unsigned int stream, const struct nt_record *r)
{
	for (unsigned int i = 0; i < b->nr; i++) {
		const struct slow_command *c = &b->slow[i];

		if (r->side == NT_HOST && stream == c->connection.host_stream)
			count_host(&b->of[i], c, r);
		if (r->side == NT_TARGET && !c->alone && stream == c->connection.target_stream)
			count_target(b, stream, &b->of[i], c, r);
	}
}

/* Requests of multipath are those of its paths: of nvme0c1n1, for nvme0n1. */
static unsigned int hash_disk(const char *disk)
{
	unsigned int subsystem, head;
	char name[NT_DISK_NAME_LEN];

	snprintf(name, sizeof(name), "%s", disk);
	if (device_is_namespace(disk, &subsystem, &head))
		snprintf(name, sizeof(name), "nvme%un%u", subsystem, head);
	return hash_bytes(name, strlen(name));
}

void blocked_use(struct blocked_reader *b, unsigned int stream, const struct disk_sample *u)
{
	unsigned int disk = hash_disk(u->disk);

	for (unsigned int i = 0; i < b->nr; i++) {
		const struct slow_command *c = &b->slow[i];
		const struct nt_record *own = &c->target;
		struct blocked *to = &b->of[i];
		const struct served *s;
		const struct backing *d;

		if (c->alone || stream != c->connection.target_stream || !own->points[NT_T_EXEC] ||
		    u->from_ns >= own->points[NT_T_DONE] || u->to_ns <= own->points[NT_T_EXEC])
			continue;
		s = find(b, stream, own->slot, own->gen);
		d = s ? backing(b, stream, s->subsystem, own->nsid) : NULL;
		if (!d || d->requests != disk)
			continue;
		to->use_ns = ns_add(to->use_ns, u->ns);
		if (u->user != DISK_CGROUP)
			continue;
		to->local_ns = ns_add(to->local_ns, u->ns);
		if (u->ns <= to->local_most)
			continue;
		to->local_most = u->ns;
		snprintf(to->local, sizeof(to->local), "%s", u->who);
	}
}

const struct blocked *blocked_of(const struct blocked_reader *b, unsigned int i)
{
	return b && i < b->nr ? &b->of[i] : NULL;
}

void blocked_free(struct blocked_reader *b)
{
	if (!b)
		return;
	hash_free(b->served);
	hash_free(b->backing);
	free(b);
}
