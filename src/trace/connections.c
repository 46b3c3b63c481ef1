// SPDX-License-Identifier: GPL-2.0-only
#include "trace/connections.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/private.h"

int connections_init(struct tracer *t)
{
	t->ident = calloc(t->nr_slots, sizeof(*t->ident));
	t->counted = calloc(t->nr_slots, sizeof(*t->counted));
	return t->ident && t->counted ? 0 : -ENOMEM;
}

void connections_free(struct tracer *t)
{
	free(t->ident);
	free(t->counted);
}

/* Reads one line of a sysfs attribute of a controller; "" when there is none. */
static void sysfs_read(char *buf, size_t size, const char *controller, const char *attribute)
{
	char path[320];
	FILE *f;

	buf[0] = '\0';
	snprintf(path, sizeof(path), "/sys/class/nvme/%s/%s", controller, attribute);
	f = fopen(path, "re");
	if (!f)
		return;
	if (!fgets(buf, (int)size, f))
		buf[0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	fclose(f);
}

/* How many pieces of states a queue's tags are in. */
static uint32_t pieces_of(uint32_t depth)
{
	uint32_t n = (depth + NT_CHUNK_CMDS - 1) / NT_CHUNK_CMDS;

	return n ? n : 1;
}

static void host_now(struct connections_now *now)
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
		sysfs_read(text, sizeof(text), e->d_name, "transport");
		if (strcmp(text, "tcp"))
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

/* Ports that a target listens on. */
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

/* Of /proc/net/tcp and its like: how many connections are established to one of the ports. */
static uint32_t established(const char *path, const uint16_t *ports, unsigned int nr)
{
	const unsigned int is_established = 1; /* TCP_ESTABLISHED in include/net/tcp_states.h */
	unsigned int port, state;
	uint32_t n = 0;
	char line[256];
	FILE *f = fopen(path, "re");

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %*u: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x", &port, &state) != 2 ||
		    state != is_established)
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

	now->queues = nr ? established("/proc/net/tcp", ports, nr) +
				      established("/proc/net/tcp6", ports, nr)
			 : 0;
	/* A target has twice as many commands as the queue's depth, and uses the first ones first. */
	now->pieces = now->queues + now->queues / 8;
}

void connections_now(enum nt_side side, struct connections_now *now)
{
	*now = (struct connections_now){0};
	if (side == NT_HOST)
		host_now(now);
	else
		target_now(now);
}

static void count_host(struct stats *s)
{
	char text[64];
	struct dirent *e;
	DIR *d;

	s->controllers = s->queues = 0;
	d = opendir("/sys/class/nvme");
	if (!d)
		return;
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		sysfs_read(text, sizeof(text), e->d_name, "transport");
		if (strcmp(text, "tcp"))
			continue;
		s->controllers++;
		sysfs_read(text, sizeof(text), e->d_name, "queue_count");
		s->queues += (unsigned int)atoi(text);
	}
	closedir(d);
}

static bool connected(const struct nt_queue *q)
{
	return q->object && q->dead_gen != q->gen;
}

/* Queues of one id and subsystem are one controller's. */
static int by_controller(const void *a, const void *b)
{
	const struct queue_controller *x = a, *y = b;

	return x->cntlid != y->cntlid ? x->cntlid - y->cntlid : strcmp(x->subsysnqn, y->subsysnqn);
}

/* A target may have thousands of queues, and this is done each interval: they are sorted, not compared with all others. */
static void count_target(const struct tracer *t, struct stats *s)
{
	s->controllers = s->queues = 0;
	for (uint32_t i = 0; i < t->nr_slots; i++) {
		const struct nt_queue *q = &t->object.queues[i];

		if (!connected(q) || q->identified != q->gen)
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

/* The controller whose queues have that bit 0 in their generations; NULL without one. */
static const struct nt_names *names_of_controller(const struct tracer *t, const struct nt_queue *q,
						  uint32_t gen)
{
	const struct nt_names *names = &t->object.controllers[q->instance].names[gen & 1];

	return names->subsysnqn[0] ? names : NULL;
}

/* A host's controllers are named when they begin, and keep it until the next but one of that name does. */
static const struct queue_ident *identify_host(struct tracer *t, uint32_t slot, uint32_t bank)
{
	const struct nt_queue *q = &t->object.queues[slot];
	struct queue_ident *id = &t->ident[slot][bank];
	const struct nt_names *names = names_of_controller(t, q, bank);

	if (!q->gen || !names)
		return id->gen ? id : NULL;
	id->gen = (q->gen & 1) == bank ? q->gen : q->gen - 1;
	id->qid = q->qid;
	id->cntlid = q->cntlid;
	snprintf(id->controller, sizeof(id->controller), "nvme%u", q->instance);
	snprintf(id->peer, sizeof(id->peer), "%s", names->subsysnqn);
	snprintf(id->other, sizeof(id->other), "%s", names->hostnqn);
	return id;
}

/*
 * Refreshes the name of the connection that has a slot now. A target's connection has none before
 * its Connect command has ended; its counts wait in the kernel until then.
 */
const struct queue_ident *connections_identify(struct tracer *t, uint32_t slot, uint32_t bank)
{
	const struct nt_queue *q = &t->object.queues[slot];
	struct queue_ident *id = &t->ident[slot][bank];
	uint32_t gen = q->gen;

	if (t->o.side == NT_HOST)
		return identify_host(t, slot, bank);
	if ((gen & 1) != bank || (id->gen == gen && id->peer[0]))
		return id->gen ? id : NULL;
	if (q->identified != gen)
		return NULL;
	id->gen = gen;
	id->qid = q->qid;
	id->cntlid = q->cntlid;
	snprintf(id->controller, sizeof(id->controller), "cntlid %u", q->cntlid);
	snprintf(id->peer, sizeof(id->peer), "%s", t->object.names[slot].hostnqn);
	snprintf(id->other, sizeof(id->other), "%s", t->object.names[slot].subsysnqn);
	return id;
}

void connections_count(const struct tracer *t, struct stats *s)
{
	if (t->o.side == NT_HOST)
		count_host(s);
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

void connections_queue(const struct tracer *t, uint32_t slot, uint32_t gen, struct queue_info *q)
{
	const struct nt_queue *k = &t->object.queues[slot];
	bool identified = k->identified == k->gen;
	const struct nt_names *names;
	char controller[32];

	*q = (struct queue_info){
		.slot = slot,
		.gen = k->gen,
		.instance = k->instance,
		.cntlid = identified ? k->cntlid : NT_CNTLID_NONE,
		.qid = identified || t->o.side == NT_HOST ? k->qid : 0,
		.sqsize = identified ? k->sqsize : 0,
	};
	if (t->o.side == NT_HOST) {
		snprintf(controller, sizeof(controller), "nvme%u", k->instance);
		names = names_of_controller(t, k, gen);
		if (names) {
			snprintf(q->subsysnqn, sizeof(q->subsysnqn), "%s", names->subsysnqn);
			snprintf(q->hostnqn, sizeof(q->hostnqn), "%s", names->hostnqn);
		}
		sysfs_read(q->address, sizeof(q->address), controller, "address");
	} else if (identified && k->gen == gen) {
		snprintf(q->subsysnqn, sizeof(q->subsysnqn), "%s", t->object.names[slot].subsysnqn);
		snprintf(q->hostnqn, sizeof(q->hostnqn), "%s", t->object.names[slot].hostnqn);
	}
}

/* Of connections that closed meanwhile nobody was told, and theirs would fill the map. */
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

void connections_forget(struct tracer *t)
{
	for (uint32_t slot = 0; slot < t->nr_slots; slot++) {
		struct nt_queue *q = &t->object.queues[slot];

		if (!q->object)
			continue;
		q->pdu_time = 0;
		q->sending = 0;
		if (t->o.side == NT_TARGET) {
			q->dead_gen = q->gen;
		} else {
			q->object = 0;
			q->queue = 0;
		}
	}
	forget_sockets(t);
}
