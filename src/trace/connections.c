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
	return t->ident ? 0 : -ENOMEM;
}

void connections_free(struct tracer *t)
{
	free(t->ident);
}

unsigned int connections_highest_instance(void)
{
	unsigned int highest = 0, n;
	struct dirent *e;
	DIR *d;

	d = opendir("/sys/class/nvme");
	if (!d)
		return 0;
	while ((e = readdir(d)))
		if (sscanf(e->d_name, "nvme%u", &n) == 1 && n > highest)
			highest = n;
	closedir(d);
	return highest;
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

/*
 * Whether a queue before this one belongs to the same controller: one of the same id and subsystem.
 */
static bool controller_counted(const struct tracer *t, uint32_t slot)
{
	for (uint32_t i = 0; i < slot; i++)
		if (connected(&t->object.queues[i]) &&
		    t->object.queues[i].identified == t->object.queues[i].gen &&
		    t->object.queues[i].cntlid == t->object.queues[slot].cntlid &&
		    !strcmp(t->object.names[i].subsysnqn, t->object.names[slot].subsysnqn))
			return true;
	return false;
}

static void count_target(const struct tracer *t, struct stats *s)
{
	s->controllers = s->queues = 0;
	for (uint32_t i = 0; i < t->nr_slots; i++) {
		const struct nt_queue *q = &t->object.queues[i];

		if (!connected(q) || q->identified != q->gen)
			continue;
		s->queues++;
		if (!controller_counted(t, i))
			s->controllers++;
	}
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
	snprintf(id->subsystem, sizeof(id->subsystem), "%s", t->object.names[slot].subsysnqn);
	return id;
}

struct stats_row *connections_row(struct stats *s, const struct queue_ident *id, enum nt_op op)
{
	struct stats_row *row = stats_row(s, id->controller, id->peer, id->qid, op, false);

	if (row && !row->subsystem[0])
		snprintf(row->subsystem, sizeof(row->subsystem), "%s", id->subsystem);
	return row;
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
