// SPDX-License-Identifier: GPL-2.0-only
#include "merge/places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "core/hash.h"
#include "core/names.h"
#include "core/segments.h"

/*
 * A connection, found by slot and generation. @used: it was looked for since it was told, or since
 * it was to give way last
 */
struct connection {
	uint32_t slot;
	uint32_t gen;
	uint32_t instance;
	uint16_t cntlid;
	char subsysnqn[NT_NQN_LEN];
	char address[QUEUE_ADDRESS_LEN];
	struct queue_ends ends;
	bool used;
	UT_hash_handle hh;
};

/* @hash: of the subsystem NQN, begun with a secret number: a target chooses its name */
struct namespace_key {
	uint64_t hash;
	uint32_t instance;
	uint32_t nsid;
};

struct namespace
{
	struct namespace_key key;
	struct device_name d;
	bool used; /* as of struct connection */
	UT_hash_handle hh;
};

struct places {
	struct connection *connections; /* hash table */
	struct namespace *namespaces;	/* hash table */
	struct origin *origins[ORIGIN_OTHERS + 1];
	uint64_t gave_way;
};

struct places *places_new(void)
{
	return calloc(1, sizeof(struct places));
}

void places_free(struct places *p)
{
	if (!p)
		return;
	hash_free(p->connections);
	hash_free(p->namespaces);
	for (unsigned int i = 0; i <= ORIGIN_OTHERS; i++)
		free(p->origins[i]);
	free(p);
}

static struct connection *connection_of(const struct places *p, uint32_t slot, uint32_t gen)
{
	const uint32_t key[2] = {slot, gen};
	struct connection *c;

	HASH_FIND_BYHASHVALUE(hh, p->connections, key, sizeof(key), hash_pair(slot, gen), c);
	if (c)
		c->used = true;
	return c;
}

/*
 * Makes room in a full table: the element that was added first goes. One that was used is added
 * again instead, so that those that come and go do not take the place of those that stay.
 */
#define MAKE_ROOM(p, table, key_, size_)                                     \
	while (HASH_COUNT(table) == PLACES_MAX) {                            \
		__typeof__(table) first_ = (table);                          \
		unsigned int hash_ = first_->hh.hashv;                       \
                                                                             \
		if (!first_->used) {                                         \
			hash_drop(table, first_);                            \
			(p)->gave_way++;                                     \
			break;                                               \
		}                                                            \
		first_->used = false;                                        \
		HASH_DEL(table, first_);                                     \
		HASH_ADD_BYHASHVALUE(hh, table, key_, size_, hash_, first_); \
		if (!hash_kept(first_))                                      \
			break;                                               \
	}

int places_queue(struct places *p, const struct queue_info *q)
{
	struct connection *c = connection_of(p, q->slot, q->gen);

	if (!c) {
		MAKE_ROOM(p, p->connections, slot, 2 * sizeof(uint32_t));
		c = calloc(1, sizeof(*c));
		if (!c)
			return -ENOMEM;
		c->slot = q->slot;
		c->gen = q->gen;
		HASH_ADD_BYHASHVALUE(hh, p->connections, slot, 2 * sizeof(uint32_t),
				     hash_pair(q->slot, q->gen), c);
		if (!hash_kept(c))
			return -ENOMEM;
	}
	c->instance = q->instance;
	c->cntlid = q->cntlid;
	memcpy(c->subsysnqn, q->subsysnqn, sizeof(c->subsysnqn));
	memcpy(c->address, q->address, sizeof(c->address));
	c->ends = q->ends;
	return 0;
}

void places_forget(struct places *p, uint32_t slot, uint32_t gen)
{
	struct connection *c = connection_of(p, slot, gen);

	if (c)
		hash_drop(p->connections, c);
}

static struct namespace_key key_of(const char *subsysnqn, uint32_t instance, uint32_t nsid)
{
	return (struct namespace_key){hash_text(hash_secret[0], subsysnqn), instance, nsid};
}

static struct namespace *namespace_of(const struct places *p, const char *subsysnqn,
				      uint32_t instance, uint32_t nsid)
{
	const struct namespace_key key = key_of(subsysnqn, instance, nsid);
	unsigned int hash = hash_pair(key.hash, (uint64_t)instance << 32 | nsid);
	struct namespace *n;

	HASH_FIND_BYHASHVALUE(hh, p->namespaces, &key, sizeof(key), hash, n);
	if (!n || strcmp(n->d.subsysnqn, subsysnqn) != 0)
		return NULL;
	n->used = true;
	return n;
}

int places_device(struct places *p, const struct device_name *d)
{
	struct namespace *n = namespace_of(p, d->subsysnqn, d->instance, d->nsid);

	if (n) {
		n->d = *d;
		return 0;
	}
	MAKE_ROOM(p, p->namespaces, key, sizeof(n->key));
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	n->key = key_of(d->subsysnqn, d->instance, d->nsid);
	n->d = *d;
	HASH_ADD_BYHASHVALUE(hh, p->namespaces, key, sizeof(n->key),
			     hash_pair(n->key.hash, (uint64_t)d->instance << 32 | d->nsid), n);
	return hash_kept(n) ? 0 : -ENOMEM;
}

uint64_t places_gave_way(const struct places *p)
{
	return p ? p->gave_way : 0;
}

int places_origin(struct places *p, const struct origin *o)
{
	/* A damaged or hostile stream may have any number. */
	unsigned int number = o->number & ORIGIN_OTHERS;

	if (!p->origins[number])
		p->origins[number] = malloc(sizeof(*o));
	if (!p->origins[number])
		return -ENOMEM;
	*p->origins[number] = *o;
	return 0;
}

/* Return: NULL if the device is not known. */
static const struct device_name *find(const struct places *p, const char *subsysnqn,
				      uint32_t instance, uint32_t nsid)
{
	const struct namespace *n = namespace_of(p, subsysnqn, instance, nsid);

	n = n ?: namespace_of(p, subsysnqn, DEVICE_ANY_INSTANCE, nsid);
	return n ? &n->d : NULL;
}

static const struct device_name *device_of(const struct places *p, const struct connection *c,
					   uint32_t nsid)
{
	return find(p, c->subsysnqn, c->instance, nsid);
}

/* Admin commands may name a namespace, but belong to no disk; Fabrics commands name none. */
static bool has_device(const struct nt_record *r)
{
	return r->op != NT_OP_ADMIN && r->op != NT_OP_FABRICS;
}

bool places_ask(const struct places *p, const struct nt_record *r, struct device_name *d)
{
	const struct connection *c = has_device(r) ? connection_of(p, r->slot, r->gen) : NULL;

	if (!c || !c->subsysnqn[0] || device_of(p, c, r->nsid))
		return false;
	memset(d, 0, sizeof(*d));
	memcpy(d->subsysnqn, c->subsysnqn, sizeof(d->subsysnqn));
	d->instance = r->side == NT_HOST ? c->instance : DEVICE_ANY_INSTANCE;
	d->nsid = r->nsid;
	return true;
}

/* A hostile stream may have an origin 0, which stands for none. */
const struct origin *places_origin_of(const struct places *p, const struct nt_record *r)
{
	return ORIGIN_OF(r->flags) ? p->origins[ORIGIN_OF(r->flags)] : NULL;
}

uint16_t places_cpu(const struct places *p, const struct nt_record *r)
{
	const struct origin *o = places_origin_of(p, r);

	return o ? o->cpu : ORIGIN_NO_CPU;
}

void places_ctrl(const struct places *p, enum nt_side side, const struct nt_record *r,
		 const char *machine, struct group_name *name)
{
	const struct connection *c = connection_of(p, r->slot, r->gen);

	memset(name, 0, sizeof(*name));
	if (!c)
		return;
	snprintf(name->ctrl, sizeof(name->ctrl), "%s%s%s%u", machine ?: "", machine ? ":" : "",
		 side == NT_HOST ? "nvme" : "cntlid ", side == NT_HOST ? c->instance : c->cntlid);
}

static const char *without_dev(const char *device)
{
	static const char dev[] = "/dev/";

	return strncmp(device, dev, strlen(dev)) ? device : device + strlen(dev);
}

static bool is_called(const struct device_name *d, const char *device)
{
	return d->name[0] && !strcmp(without_dev(d->name), without_dev(device));
}

const struct device_name *places_device_of(const struct places *p, const struct nt_record *r)
{
	const struct connection *c = has_device(r) ? connection_of(p, r->slot, r->gen) : NULL;

	return c ? device_of(p, c, r->nsid) : NULL;
}

const struct queue_ends *places_ends(const struct places *p, const struct nt_record *r)
{
	const struct connection *c = connection_of(p, r->slot, r->gen);

	return c ? &c->ends : NULL;
}

static bool takes_device(const struct places *p, const char *device, const struct nt_record *r)
{
	const struct device_name *d = places_device_of(p, r);

	return d && is_called(d, device);
}

bool places_takes(const struct places *p, const struct select *s, const struct nt_record *r)
{
	if (s->device && !(p && takes_device(p, s->device, r)))
		return false;
	return selects_origin(s, p ? places_origin_of(p, r) : NULL);
}

bool places_takes_far(const struct places *host, const struct select *s,
		      const struct merge_connection *c, const struct nt_record *r)
{
	const struct device_name *d;

	/* A target does not know where a command comes from. */
	if (!selects_origin(s, NULL))
		return false;
	if (!s->device)
		return true;
	d = has_device(r) ? find(host, c->subsysnqn, c->host_instance, r->nsid) : NULL;
	return d && is_called(d, s->device);
}

/* Whether @names, between which ", " stands, have that one. */
static bool has_name(const char *names, const char *name)
{
	const size_t len = strlen(name);

	for (const char *at = names; (at = strstr(at, name)); at++)
		if ((at == names || at[-1] == ' ') && (!at[len] || at[len] == ','))
			return true;
	return false;
}

bool places_devices(const struct places *p, const char *device, char *buf, size_t size)
{
	bool found = false;
	size_t used = 0;

	buf[0] = '\0';
	for (const struct namespace *n = p->namespaces; n; n = n->hh.next) {
		found = found || (device && is_called(&n->d, device));
		if (!n->d.name[0] || used >= size || has_name(buf, n->d.name))
			continue;
		used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
					 n->d.name);
	}
	return found;
}

/*
 * Copies the value of a key of an address in sysfs, "traddr=...,trsvcid=...". Return: whether there
 * is one.
 */
static bool part_of(const char *address, const char *key, char part[QUEUE_ADDRESS_LEN])
{
	size_t length = strlen(key);

	for (const char *p = address; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) {
		if (strncmp(p, key, length) != 0 || p[length] != '=')
			continue;
		p += length + 1;
		snprintf(part, QUEUE_ADDRESS_LEN, "%.*s", (int)strcspn(p, ","), p);
		return part[0];
	}
	return false;
}

/*
 * Makes the name of a path from an address in sysfs: its source, if that is known, and its
 * destination, such as "10.0.0.2>10.0.0.1:4420". Any other text is copied.
 */
static void path_fill(char path[QUEUE_ADDRESS_LEN], const char *address)
{
	char to[QUEUE_ADDRESS_LEN], port[QUEUE_ADDRESS_LEN], from[QUEUE_ADDRESS_LEN];
	char whole[3 * QUEUE_ADDRESS_LEN + 8];
	bool v6;

	if (!part_of(address, "traddr", to) || !part_of(address, "trsvcid", port)) {
		snprintf(path, QUEUE_ADDRESS_LEN, "%s", address);
		return;
	}
	if (!part_of(address, "src_addr", from) && !part_of(address, "host_traddr", from))
		from[0] = '\0';
	v6 = strchr(to, ':');
	snprintf(whole, sizeof(whole), "%s%s%s%s%s:%s", from, from[0] ? ">" : "", v6 ? "[" : "", to,
		 v6 ? "]" : "", port);
	/* A real address fits. If a stream has other text in its place, the end is cut. */
	snprintf(path, QUEUE_ADDRESS_LEN, "%.*s", QUEUE_ADDRESS_LEN - 1, whole);
}

void places_name(const struct places *p, const struct group_by *by, const struct nt_record *r,
		 struct group_name *name)
{
	const struct origin *o = places_origin_of(p, r);
	const struct device_name *d = NULL;
	const struct connection *c = NULL;

	if (group_has(by, GROUP_DEVICE) || group_has(by, GROUP_PATH))
		c = connection_of(p, r->slot, r->gen);
	if (c && group_has(by, GROUP_DEVICE) && has_device(r))
		d = device_of(p, c, r->nsid);
	if (d)
		snprintf(name->device, sizeof(name->device), "%s", d->name);
	if (c && group_has(by, GROUP_PATH))
		path_fill(name->path, c->address);
	if (o && group_has(by, GROUP_CGROUP))
		snprintf(name->cgroup, sizeof(name->cgroup), "%s", o->cgroup);
	if (group_has(by, GROUP_CPU))
		name->cpu = places_cpu(p, r);
	if (o && group_has(by, GROUP_PID))
		name->pid = o->pid;
	if (o && group_has(by, GROUP_COMM))
		snprintf(name->comm, sizeof(name->comm), "%s", o->comm);
	if (o && group_has(by, GROUP_CONTAINER))
		cgroup_container(o->cgroup, name->container);
}

static uint16_t opcode_of(enum nt_op op, const struct nt_record *r)
{
	if (op == NT_OP_FABRICS)
		return GROUP_OPCODE_FABRICS | opcode_fabrics_type(r);
	return (op == NT_OP_ADMIN ? GROUP_OPCODE_ADMIN : 0) | r->opcode;
}

/* The keys that depend only on the record and on its recording. */
static void fill(struct group_name *name, const struct group_by *by, const struct nt_record *r,
		 const struct group_recorder *who)
{
	const char *host = who->source[NT_HOST], *target = who->source[NT_TARGET];

	memset(name, 0, sizeof(*name));
	name->op = r->op < NT_OPS_NR ? r->op : NT_OP_OTHER;
	name->queue = r->qid;
	group_name_size(name, by, r->length);
	name->opcode = opcode_of((enum nt_op)name->op, r);
	name->nsid = r->nsid;
	name->cancelled = r->flags & NT_F_CANCELLED;
	if (!name->cancelled)
		name->status = r->status & NT_STATUS_MASK;
	if (name->status && name->op == NT_OP_FABRICS)
		name->status |= GROUP_STATUS_FABRICS;
	if (group_has(by, GROUP_SOURCE))
		snprintf(name->source, sizeof(name->source), "%s%s%s", host ?: "",
			 host && target ? "/" : "", target ?: "");
	if (who->places)
		places_name(who->places, by, r, name);
	else if (group_has(by, GROUP_CPU))
		name->cpu = ORIGIN_NO_CPU;
}

/*
 * The keys that depend on the connection. @ctrl and @number make the controller's name, such as
 * "nvme" and 0. Two controllers of that name are different if they are of different streams, or
 * connected to different peers. @peer: the NQN of the other end
 */
static void fill_connection(struct group_name *name, const struct group_by *by,
			    const struct group_recorder *who, const char *ctrl, unsigned int number,
			    const char *subsysnqn, const char *hostnqn, const char *peer)
{
	if (group_has(by, GROUP_CTRL)) {
		snprintf(name->ctrl, sizeof(name->ctrl), "%s%s%s%u", who->machine ?: "",
			 who->machine ? ":" : "", ctrl, number);
		name->ctrl_of = hash_two(who->stream, hash_text(0, peer));
	}
	if (group_has(by, GROUP_NQN))
		snprintf(name->nqn, sizeof(name->nqn), "%s", subsysnqn);
	if (group_has(by, GROUP_HOST))
		snprintf(name->host, sizeof(name->host), "%s", hostnqn);
}

void group_name_merged(struct group_name *name, const struct group_by *by,
		       const struct merge_connection *c, const struct nt_record *r,
		       const struct group_recorder *who)
{
	fill(name, by, r, who);
	name->queue = c->qid;
	fill_connection(name, by, who, "nvme", c->host_instance, c->subsysnqn, c->hostnqn,
			c->subsysnqn);
}

void group_name_side(struct group_name *name, const struct group_by *by, enum nt_side side,
		     const struct queue_info *q, const struct nt_record *r,
		     const struct group_recorder *who)
{
	fill(name, by, r, who);
	name->shared = !q;
	name->queue = q ? q->qid : 0;
	if (q && side == NT_HOST)
		fill_connection(name, by, who, "nvme", q->instance, q->subsysnqn, q->hostnqn,
				q->subsysnqn);
	else if (q)
		fill_connection(name, by, who, "cntlid ", q->cntlid, q->subsysnqn, q->hostnqn,
				q->hostnqn);
}

int groups_add_record(struct groups *g, const struct group_name *name, const struct nt_record *r,
		      const struct group_recorder *who)
{
	uint64_t begin = record_begin_ns(r) ?: record_last_ns(r);
	bool well = !(r->flags & NT_F_CANCELLED) && !status_is_error(r->status);
	uint64_t latency = record_latency_ns(r);
	const struct group_command c = {
		.after_ns = begin > who->began_ns ? begin - who->began_ns : 0,
		.at_ns = begin + (uint64_t)who->to_common,
		.latency = latency,
		.bytes = r->length,
		.failed = !well && (!latency || !group_has(&groups_how(g)->by, GROUP_STATUS)),
		.stands_for = who->sample > 1 ? who->sample : 1,
		.split = who->split,
	};

	return groups_add(g, name, &c);
}

int machines_init(struct machines *m, unsigned int nr)
{
	m->machine = calloc(nr, sizeof(*m->machine));
	m->nr = m->machine ? nr : 0;
	return m->machine ? 0 : -ENOMEM;
}

void machines_free(struct machines *m)
{
	free(m->machine);
	*m = (struct machines){0};
}

static bool is_taken(const struct machines *m, unsigned int stream, const struct machine *what)
{
	for (unsigned int i = 0; i < m->nr; i++) {
		const struct machine *other = &m->machine[i];

		if (i != stream && other->known && other->side == what->side &&
		    !strcmp(other->name, what->name))
			return true;
	}
	return false;
}

void machines_set(struct machines *m, unsigned int stream, const struct machine *what,
		  const char *label)
{
	struct machine *at = &m->machine[stream];
	size_t len = strlen(label);

	/* The end of a path says more than its beginning. */
	if (len > MACHINE_LABEL_MAX)
		label += len - MACHINE_LABEL_MAX;
	*at = *what;
	at->known = true;
	m->told++;
	if (!what->name[0])
		snprintf(at->name, sizeof(at->name), "%s", label);
	else if (is_taken(m, stream, what))
		snprintf(at->name, sizeof(at->name), "%.64s(%.*s)", what->name, MACHINE_LABEL_MAX,
			 label);
}

const struct machine *machines_get(const struct machines *m, unsigned int stream)
{
	static const struct machine none;

	return m && stream < m->nr ? &m->machine[stream] : &none;
}
