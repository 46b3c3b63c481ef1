// SPDX-License-Identifier: GPL-2.0-only
#include "core/path_events.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/device.h"

/* The highest N of nvmeN whose state is compared; each takes a byte. */
#define INSTANCES_MAX 65536

int path_events_add(struct path_events *p, const struct nt_path_event *e)
{
	p->total++;
	if (p->nr < PATH_EVENTS_MAX) {
		struct nt_path_event *new = ARRAY_INSERT(p->event, p->nr, p->nr);

		if (!new)
			return -ENOMEM;
		*new = *e;
		return 0;
	}
	p->event[p->first] = *e;
	p->first = (p->first + 1) % p->nr;
	return 0;
}

int path_events_join(struct path_events *into, const struct path_events *of, size_t nr)
{
	size_t all = 0;

	for (size_t i = 0; i < nr; i++)
		all += of[i].nr;
	into->event = calloc(all + 1, sizeof(*into->event));
	if (!into->event)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		into->total += of[i].total;
		into->lost += of[i].lost;
		for (size_t k = 0; k < of[i].nr; k++)
			into->event[into->nr++] = *path_events_at(&of[i], k);
	}
	return 0;
}

const struct nt_path_event *path_events_at(const struct path_events *p, size_t i)
{
	return &p->event[(p->first + i) % p->nr];
}

void path_events_interval(struct path_events *p)
{
	p->shown = p->collected;
	p->collected = p->total;
}

size_t path_events_of_interval(const struct path_events *p)
{
	uint64_t of_it = p->total - p->shown;

	return of_it < p->nr ? p->nr - (size_t)of_it : 0;
}

void path_events_free(struct path_events *p)
{
	free(p->event);
	*p = (struct path_events){.nr = 0};
}

static const char *const kinds[NT_PATH_KINDS_NR] = {
	[NT_PATH_STATE] = "state",
	[NT_PATH_FAILED] = "reconnect_failed",
	[NT_PATH_TIMEOUT] = "io_timeout",
	[NT_PATH_KEEP_ALIVE] = "keep_alive_timeout",
	[NT_PATH_ANA] = "ana",
};

/* As sysfs has them (nvme_sysfs_show_state() in drivers/nvme/host/sysfs.c). */
static const char *const states[NT_PATH_STATES_NR] = {
	[NT_PATH_NEW] = "new",
	[NT_PATH_LIVE] = "live",
	[NT_PATH_RESETTING] = "resetting",
	[NT_PATH_CONNECTING] = "connecting",
	[NT_PATH_DELETING] = "deleting",
	[NT_PATH_DELETING_NOIO] = "deleting (no IO)",
	[NT_PATH_DEAD] = "dead",
};

/* The same (nvme_ana_state_names in drivers/nvme/host/multipath.c). */
static const char *const ana_states[] = {
	[1] = "optimized",	 [2] = "non-optimized", [3] = "inaccessible",
	[4] = "persistent-loss", [15] = "change",
};

const char *path_event_name(unsigned int kind)
{
	return kind < ARRAY_SIZE(kinds) ? kinds[kind] : "unknown";
}

const char *path_event_state(const struct nt_path_event *e)
{
	const char *name = NULL;

	if (e->kind == NT_PATH_STATE && e->state < ARRAY_SIZE(states))
		name = states[e->state];
	else if (e->kind == NT_PATH_ANA && e->state < ARRAY_SIZE(ana_states))
		name = ana_states[e->state];
	else if (e->kind != NT_PATH_STATE && e->kind != NT_PATH_ANA)
		return NULL;
	return name ?: "unknown";
}

unsigned int path_state_named(const char *name)
{
	unsigned int i = 0;

	while (i < NT_PATH_STATES_NR && strcmp(states[i], name) != 0)
		i++;
	return i;
}

/* What a controller's new state says beside it: it has queues when it is live. */
static void state_text(const struct nt_path_event *e, char *buf, size_t size)
{
	size_t used = (size_t)snprintf(buf, size, "%s", path_event_state(e));

	if (e->state == NT_PATH_LIVE && e->queues)
		used += (size_t)snprintf(buf + used, size - used, ", %u queue%s", e->queues,
					 e->queues == 1 ? "" : "s");
	if (e->attempts && e->state != NT_PATH_CONNECTING)
		snprintf(buf + used, size - used, ", after %u attempt%s", e->attempts,
			 e->attempts == 1 ? "" : "s");
}

const char *path_event_text(const struct nt_path_event *e, char *buf)
{
	const size_t used = (size_t)snprintf(buf, PATH_EVENT_TEXT_LEN, "nvme%u ", e->instance);
	const size_t size = PATH_EVENT_TEXT_LEN - used;

	buf += used;
	switch (e->kind) {
	case NT_PATH_STATE:
		state_text(e, buf, size);
		break;
	case NT_PATH_FAILED:
		snprintf(buf, size, "attempt %u to reconnect failed", e->attempts);
		break;
	case NT_PATH_TIMEOUT:
		snprintf(buf, size, "timeout: queue %u, command id %u, opcode 0x%02x", e->qid,
			 e->cid, e->opcode);
		break;
	case NT_PATH_KEEP_ALIVE:
		snprintf(buf, size, "timeout of Keep Alive");
		break;
	case NT_PATH_ANA:
		snprintf(buf, size, "ANA group %u %s", e->group, path_event_state(e));
		break;
	default:
		snprintf(buf, size, "event %u, which this program does not know", e->kind);
	}
	return buf - used;
}

/* A directory of sysfs: "nvme7". Return: whether it is a controller of one of these transports */
static bool read_state(const char *sysfs, const char *name, unsigned int transports,
		       struct nt_path_event *e)
{
	char path[PATH_MAX], value[32], rest;

	if (sscanf(name, "nvme%u%c", &e->instance, &rest) != 1 || e->instance >= INSTANCES_MAX ||
	    snprintf(path, sizeof(path), "%s/class/nvme/%s", sysfs, name) >= (int)sizeof(path) ||
	    !(transport_of_controller(path) & transports) ||
	    !device_attribute(path, "state", value, sizeof(value)))
		return false;
	e->state = (uint16_t)path_state_named(value);
	device_attribute(path, "subsysnqn", e->subsysnqn, sizeof(e->subsysnqn));
	return e->state < NT_PATH_STATES_NR;
}

void path_states_look(struct path_states *p, const char *sysfs, unsigned int transports,
		      uint64_t now, path_event_fn *fn, void *context)
{
	const uint8_t seen = 0x80;
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *d;

	snprintf(path, sizeof(path), "%s/class/nvme", sysfs);
	d = opendir(path);
	while (d && (entry = readdir(d))) {
		struct nt_path_event e = {.ns = now, .kind = NT_PATH_STATE};

		if (!read_state(sysfs, entry->d_name, transports, &e) ||
		    ARRAY_REACH(p->state, p->nr, e.instance))
			continue;
		if (p->looked && p->state[e.instance] != e.state + 1)
			fn(context, &e);
		p->state[e.instance] = (uint8_t)(e.state + 1) | seen;
	}
	if (d)
		closedir(d);
	/* Another one may get the name of one that is gone. */
	for (size_t i = 0; i < p->nr; i++)
		p->state[i] = p->state[i] & seen ? p->state[i] & (uint8_t)~seen : 0;
	p->looked = true;
}

void path_states_free(struct path_states *p)
{
	free(p->state);
	*p = (struct path_states){.nr = 0};
}
