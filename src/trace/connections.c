// SPDX-License-Identifier: GPL-2.0-only
#include "trace/connections.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/transport.h"
#include "trace/private.h"

/*
 * The name of a connection that is gone is kept for this many intervals after it was last needed.
 */
#define NAMED_INTERVALS 3

int connections_init(struct tracer *t)
{
	t->counted = calloc(t->nr_slots, sizeof(*t->counted));
	return t->counted ? 0 : -ENOMEM;
}

void connections_free(struct tracer *t)
{
	hash_free(t->ident);
	free(t->counted);
}

/* Reads one line of a sysfs attribute of a controller; "" when there is none. */
static void sysfs_read(char *buf, size_t size, const char *controller, const char *attribute)
{
	char path[300];

	snprintf(path, sizeof(path), "/sys/class/nvme/%s", controller);
	if (!device_attribute(path, attribute, buf, size))
		buf[0] = '\0';
}

/* Number of pieces for the states of a queue's tags. */
static uint32_t pieces_of(uint32_t depth)
{
	uint32_t n = (depth + NT_CHUNK_CMDS - 1) / NT_CHUNK_CMDS;

	return n ? n : 1;
}

/* Whether a controller is of a transport whose commands are traced. */
static bool is_traced(const char *controller, unsigned int transports)
{
	char path[300];

	snprintf(path, sizeof(path), "/sys/class/nvme/%s", controller);
	return transport_of_controller(path) & transports;
}

static void host_now(unsigned int transports, struct connections_now *now)
{
	uint32_t instance, queues;
	struct dirent *e;
	char text[64];
	DIR *d = opendir("/sys/class/nvme");

	if (!d)
		return;
	while ((e = readdir(d))) {
		if (sscanf(e->d_name, "nvme%u", &instance) != 1)
			continue;
		if (instance > now->highest_instance)
			now->highest_instance = instance;
		if (!is_traced(e->d_name, transports))
			continue;
		sysfs_read(text, sizeof(text), e->d_name, "queue_count");
		queues = (uint32_t)strtoul(text, NULL, 10);
		if (queues > now->most_queues)
			now->most_queues = queues;
		now->queues += queues;
		sysfs_read(text, sizeof(text), e->d_name, "sqsize");
		now->pieces += queues * pieces_of((uint32_t)strtoul(text, NULL, 10) + 1);
	}
	closedir(d);
}

/* The most ports of a target that are considered. */
#define PORTS_MAX 64

static unsigned int target_ports(uint16_t *ports)
{
	static const char dir[] = "/sys/kernel/config/nvmet/ports";
	unsigned int nr = 0;
	struct dirent *e;
	char path[320];
	unsigned int port;
	DIR *d = opendir(dir);
	FILE *f;

	if (!d)
		return 0;
	while (nr < PORTS_MAX && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/addr_trsvcid", dir, e->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fscanf(f, "%u", &port) == 1 && port && port <= UINT16_MAX)
			ports[nr++] = (uint16_t)port;
		fclose(f);
	}
	closedir(d);
	return nr;
}

uint32_t connections_established(const char *path, const uint16_t *ports, unsigned int nr)
{
	const unsigned int is_established = 1; /* TCP_ESTABLISHED in include/net/tcp_states.h */
	unsigned int port, state, uid;
	unsigned long inode;
	uint32_t n = 0;
	char line[256];
	FILE *f = fopen(path, "re");

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		/* Sockets that the target has accepted are root's; one that waits has no inode. */
		if (sscanf(line,
			   " %*u: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %u %*u %lu",
			   &port, &state, &uid, &inode) != 4 ||
		    state != is_established || uid || !inode)
			continue;
		for (unsigned int i = 0; i < nr; i++)
			n += ports[i] == port;
	}
	fclose(f);
	return n;
}

static void target_now(struct connections_now *now)
{
	uint16_t ports[PORTS_MAX];
	unsigned int nr = target_ports(ports);

	now->queues = nr ? connections_established("/proc/net/tcp", ports, nr) +
				      connections_established("/proc/net/tcp6", ports, nr)
			 : 0;
	/* A target has twice as many commands as the queue's depth, and uses the lowest first. */
	now->pieces = now->queues + now->queues / 8;
}

void connections_now(enum nt_side side, unsigned int transports, struct connections_now *now)
{
	*now = (struct connections_now){0};
	if (side == NT_HOST)
		host_now(transports, now);
	else
		target_now(now);
}

static void count_host(unsigned int transports, struct stats *s)
{
	char text[64];
	struct dirent *e;
	DIR *d;

	s->controllers = s->queues = 0;
	d = opendir("/sys/class/nvme");
	if (!d)
		return;
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.' || !is_traced(e->d_name, transports))
			continue;
		s->controllers++;
		sysfs_read(text, sizeof(text), e->d_name, "queue_count");
		s->queues += (unsigned int)atoi(text);
	}
	closedir(d);
}

/* Whether what Connect says of a queue is known. Read before that (acquire): programs write it
 * last. */
static bool is_identified(const struct nt_queue *q)
{
	return __atomic_load_n(&q->identified, __ATOMIC_ACQUIRE) == q->gen;
}

static bool connected(const struct nt_queue *q)
{
	return q->object && q->dead_gen != q->gen;
}

/* Queues with the same controller id and subsystem belong to the same controller. */
static int by_controller(const void *a, const void *b)
{
	const struct queue_controller *x = a, *y = b;

	return x->cntlid != y->cntlid ? x->cntlid - y->cntlid : strcmp(x->subsysnqn, y->subsysnqn);
}

/*
 * A target may have thousands of queues, and this runs each interval. So they are sorted, and not
 * compared with all others.
 */
static void count_target(const struct tracer *t, struct stats *s)
{
	s->controllers = s->queues = 0;
	for (uint32_t i = 0; i < t->nr_slots; i++) {
		const struct nt_queue *q = &t->object.queues[i];

		if (!connected(q) || !is_identified(q))
			continue;
		t->counted[s->queues++] = (struct queue_controller){
			.cntlid = q->cntlid, .subsysnqn = t->object.names[i].subsysnqn};
	}
	if (s->queues)
		qsort(t->counted, s->queues, sizeof(*t->counted), by_controller);
	for (uint32_t i = 0; i < s->queues; i++)
		if (!i || by_controller(&t->counted[i - 1], &t->counted[i]))
			s->controllers++;
}

/*
 * The names of controller @number of those called nvmeN. Return: false if they are gone, or are not
 * known yet: the first commands of a controller of PCIe come before it is part of a subsystem, and
 * sysfs shows "(efault)" for its NQN until then.
 */
static bool names_of_controller(const struct tracer *t, uint32_t instance, uint16_t number,
				struct nt_names *names)
{
	const struct nt_controller *c = &t->object.controllers[instance];
	const __u32 *named = &c->named[number & 1];

	if (__atomic_load_n(named, __ATOMIC_ACQUIRE) != number + 1u)
		return false;
	*names = c->names[number & 1];
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return names->subsysnqn[0] && __atomic_load_n(named, __ATOMIC_RELAXED) == number + 1u;
}

/*
 * The number of a host's controller at generation @gen: that of @q, or the one before. Bit 0 of a
 * generation is bit 0 of this number.
 */
static uint16_t number_of(const struct nt_queue *q, uint32_t gen)
{
	return (uint16_t)(q->controller - ((q->gen ^ gen) & 1));
}

/* The same for the connection that is generation @gen of a target's slot. */
static bool names_of_connection(const struct tracer *t, uint32_t slot, uint32_t gen,
				struct nt_identity *i)
{
	const struct nt_queue *q = &t->object.queues[slot];

	if (__atomic_load_n(&q->identified, __ATOMIC_ACQUIRE) != gen)
		return false;
	i->qid = q->qid;
	i->cntlid = q->cntlid;
	i->names = t->object.names[slot];
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&q->gen, __ATOMIC_RELAXED) == gen;
}

static struct queue_ident *find(const struct tracer *t, uint32_t slot, uint32_t who)
{
	const uint32_t key[2] = {slot, who};
	struct queue_ident *id;

	HASH_FIND_BYHASHVALUE(hh, t->ident, key, sizeof(key), hash_pair(slot, who), id);
	return id;
}

static struct queue_ident *learn(struct tracer *t, uint32_t slot, const struct nt_identity *i)
{
	const bool host = t->o.side == NT_HOST;
	struct queue_ident *id;

	if (HASH_COUNT(t->ident) == CONNECTIONS_NAMED_MAX)
		return NULL;
	id = calloc(1, sizeof(*id));
	if (!id)
		return NULL;
	id->slot = slot;
	id->who = i->who;
	id->qid = i->qid;
	id->cntlid = i->cntlid;
	if (host)
		snprintf(id->controller, sizeof(id->controller), "nvme%u", i->instance);
	else
		snprintf(id->controller, sizeof(id->controller), "cntlid %u", i->cntlid);
	snprintf(id->peer, sizeof(id->peer), "%s", host ? i->names.subsysnqn : i->names.hostnqn);
	id->transport = t->object.queues[slot].transport;
	snprintf(id->other, sizeof(id->other), "%s", host ? i->names.hostnqn : i->names.subsysnqn);
	id->epoch = t->object.control->epoch;
	HASH_ADD_BYHASHVALUE(hh, t->ident, slot, 2 * sizeof(uint32_t), hash_pair(slot, i->who), id);
	return hash_kept(id) ? id : NULL;
}

void connections_learn(struct tracer *t, const struct nt_identity *i)
{
	const bool known = t->o.side == NT_TARGET || i->names.subsysnqn[0];

	if (known && i->slot < t->nr_slots && !find(t, i->slot, i->who))
		learn(t, i->slot, i);
}

/* The names of the host's controller are known from its admin queue, or are still in the map. */
static struct queue_ident *learn_host(struct tracer *t, uint32_t slot, uint32_t who)
{
	const struct nt_queue *q = &t->object.queues[slot];
	struct nt_identity i = {.who = who, .instance = q->instance, .qid = q->qid};
	struct queue_ident *admin = q->qid <= slot ? find(t, slot - q->qid, who) : NULL, *id;

	if (!admin) {
		return names_of_controller(t, q->instance, (uint16_t)who, &i.names)
			       ? learn(t, slot, &i)
			       : NULL;
	}
	id = learn(t, slot, &i);
	if (!id)
		return NULL;
	admin->epoch = id->epoch;
	memcpy(id->peer, admin->peer, sizeof(id->peer));
	memcpy(id->other, admin->other, sizeof(id->other));
	return id;
}

static struct queue_ident *learn_target(struct tracer *t, uint32_t slot, uint32_t who)
{
	struct nt_identity i = {.who = who};

	return names_of_connection(t, slot, who, &i) ? learn(t, slot, &i) : NULL;
}

const struct queue_ident *connections_identify(struct tracer *t, uint32_t slot, uint32_t who)
{
	struct queue_ident *id = find(t, slot, who);

	if (id) {
		const struct nt_queue *q = &t->object.queues[slot];

		/* A controller is named by its first queue. Its admin queue is seen later. */
		if (t->o.side == NT_HOST && q->controller == who)
			id->transport = q->transport;
		id->epoch = t->object.control->epoch;
		return id;
	}
	return t->o.side == NT_HOST ? learn_host(t, slot, who) : learn_target(t, slot, who);
}

uint32_t connections_who(const struct tracer *t, const struct nt_record *r)
{
	return t->o.side == NT_HOST ? number_of(&t->object.queues[r->slot], r->gen) : r->gen;
}

bool connections_gone(const struct tracer *t, uint32_t slot, uint32_t who)
{
	const struct nt_queue *q = &t->object.queues[slot];

	if (t->o.side == NT_HOST)
		return q->controller != who;
	return q->gen != who || q->dead_gen == who;
}

struct stats_row *connections_row(const struct tracer *t, struct stats *s,
				  const struct queue_ident *id, uint32_t slot, enum nt_op op)
{
	struct stats_row *row =
		stats_row_of(s, id->controller, id->peer, id->other, id->qid, op, false);

	/* Counts of a closed connection may be read when a new one has its row already. */
	if (row && (!row->who || !connections_gone(t, slot, id->who))) {
		row->slot = slot;
		row->who = id->who;
		row->transport = id->transport;
	}
	return row;
}

static bool row_ended(const void *context, const struct stats_row *row)
{
	return connections_gone(context, row->slot, row->who);
}

int connections_fold(const struct tracer *t, struct stats *s, uint64_t now)
{
	return stats_fold(s, now, row_ended, t);
}

bool connections_unknown(struct tracer *t, uint32_t slot, uint32_t who)
{
	if (!t->detached && !connections_gone(t, slot, who))
		return false;
	if (t->calls)
		ring_buffer__consume(t->calls);
	return !find(t, slot, who);
}

/* The counts of a connection that is gone are read in the interval after that at the latest. */
void connections_tidy(struct tracer *t)
{
	const uint32_t epoch = t->object.control->epoch;
	struct queue_ident *id = NULL, *next = NULL;

	HASH_ITER(hh, t->ident, id, next)
	{
		if (epoch - id->epoch > NAMED_INTERVALS && connections_gone(t, id->slot, id->who))
			hash_drop(t->ident, id);
	}
}

void connections_count(const struct tracer *t, struct stats *s)
{
	if (t->o.side == NT_HOST)
		count_host(t->o.transports, s);
	else
		count_target(t, s);
}

void connections_controller_name(const struct tracer *t, const struct nt_record *r, char *buf,
				 size_t size)
{
	if (t->o.side == NT_HOST)
		snprintf(buf, size, "nvme%u", t->object.queues[r->slot].instance);
	else
		snprintf(buf, size, "cntlid %u", r->cntlid);
}

/* A socket of IPv6 that serves IPv4 has its addresses in those of IPv6. */
static void ip_text(uint16_t family, const uint8_t ip[16], char text[QUEUE_IP_LEN])
{
	struct in6_addr six;

	memcpy(&six, ip, sizeof(six));
	if (family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six))
		inet_ntop(AF_INET, ip + 12, text, QUEUE_IP_LEN);
	else if (family == AF_INET || family == AF_INET6)
		inet_ntop(family, ip, text, QUEUE_IP_LEN);
}

void connections_queue(const struct tracer *t, uint32_t slot, uint32_t gen, struct queue_info *q)
{
	const struct nt_queue *k = &t->object.queues[slot];
	bool identified = is_identified(k);
	struct nt_names names;
	char controller[32], queues[16];

	*q = (struct queue_info){
		.slot = slot,
		.gen = k->gen,
		.instance = k->instance,
		.cntlid = identified ? k->cntlid : NT_CNTLID_NONE,
		.qid = identified || t->o.side == NT_HOST ? k->qid : 0,
		.sqsize = identified ? k->sqsize : 0,
		.transport = k->transport,
	};
	ip_text(k->ends.family, k->ends.local, q->ends.local);
	ip_text(k->ends.family, k->ends.remote, q->ends.remote);
	q->ends.local_port = k->ends.local_port;
	q->ends.remote_port = k->ends.remote_port;
	if (t->o.side == NT_HOST) {
		snprintf(controller, sizeof(controller), "nvme%u", k->instance);
		if (names_of_controller(t, k->instance, number_of(k, gen), &names)) {
			snprintf(q->subsysnqn, sizeof(q->subsysnqn), "%s", names.subsysnqn);
			snprintf(q->hostnqn, sizeof(q->hostnqn), "%s", names.hostnqn);
		}
		sysfs_read(q->address, sizeof(q->address), controller, "address");
		sysfs_read(queues, sizeof(queues), controller, "queue_count");
		q->queues = (uint16_t)strtoul(queues, NULL, 10);
	} else if (identified && k->gen == gen) {
		snprintf(q->subsysnqn, sizeof(q->subsysnqn), "%s", t->object.names[slot].subsysnqn);
		snprintf(q->hostnqn, sizeof(q->hostnqn), "%s", t->object.names[slot].hostnqn);
	}
}

/* Connections that closed while no program was attached are still in the map, and would fill it. */
static void forget_sockets(const struct tracer *t)
{
	const struct bpf_map *sockets =
		t->o.side == NT_TARGET && t->object.obj
			? bpf_object__find_map_by_name(t->object.obj, "sockets")
			: NULL;
	__u64 key;
	int fd;

	if (!sockets)
		return;
	fd = bpf_map__fd(sockets);
	while (!bpf_map_get_next_key(fd, NULL, &key) && !bpf_map_delete_elem(fd, &key))
		;
}

void connections_new_burst(struct tracer *t)
{
	for (uint32_t slot = 0; slot < t->nr_slots; slot++) {
		struct nt_queue *q = &t->object.queues[slot];

		if (q->object)
			q->pdu_time = q->sending = 0;
	}
}

void connections_forget(struct tracer *t)
{
	connections_new_burst(t);
	for (uint32_t slot = 0; slot < t->nr_slots; slot++) {
		struct nt_queue *q = &t->object.queues[slot];

		if (!q->object)
			continue;
		if (t->o.side == NT_TARGET) {
			q->dead_gen = q->gen;
		} else {
			q->object = 0;
			q->queue = 0;
		}
	}
	forget_sockets(t);
}
