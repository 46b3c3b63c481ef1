// SPDX-License-Identifier: GPL-2.0-only
#include "core/controllers.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/device.h"
#include "core/hash.h"

#define HOST_CLASS "class/nvme"
#define TARGET_CONTROLLER "ctrl"
/* Where Linux 6.11 and later shows a target's controllers, with debugfs at its usual place. */
#define TARGET_DEBUG "kernel/debug/nvmet"
#define TARGET_CONFIG "kernel/config/nvmet/subsystems"

/* What all functions share that read. */
struct reading {
	struct controllers *c;
	const struct stats *s;
	const char *sysfs;
	uint64_t now;
	size_t sorted;	       /* so many are in order, and new ones are behind them */
	struct controller *at; /* the one that is being read */
	int err;
};

/* @path: filled, PATH_MAX bytes; "" if that is not enough. Return: @path. */
static char *path_join(char *path, const char *dir, const char *name)
{
	if (snprintf(path, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX)
		path[0] = '\0';
	return path;
}

/* Calls @fn for each entry of a directory whose name begins with @prefix. */
static void each_entry(struct reading *r, const char *dir, const char *prefix,
		       void (*fn)(struct reading *r, const char *dir, const char *name))
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && !r->err && (e = readdir(d)))
		if (e->d_name[0] != '.' && !strncmp(e->d_name, prefix, strlen(prefix)))
			fn(r, dir, e->d_name);
	if (d)
		closedir(d);
}

/* The order of rows. Hosts decide how many a target has: no row is compared with all others. */
static int order(const struct controller *c, const char *name, const char *peer)
{
	return strverscmp(c->name, name) ?: strcmp(c->peer, peer);
}

static int by_name(const void *a, const void *b)
{
	const struct controller *y = b;

	return order(a, y->name, y->peer);
}

/* Return: the number of the first one of @nr that is @name and @peer, or behind it. */
static size_t first_at(const struct controllers *c, size_t nr, const char *name, const char *peer)
{
	return BISECT(i, 0, nr, order(&c->row[i], name, peer) < 0);
}

/* Return: the controller, new if it was not there before; NULL if memory ran out. */
static struct controller *controller_at(struct reading *r, const char *name, const char *peer)
{
	struct controllers *c = r->c;
	size_t at = first_at(c, r->sorted, name, peer);

	if (at == r->sorted || order(&c->row[at], name, peer)) {
		struct controller *new;

		at = c->nr;
		new = ARRAY_INSERT(c->row, c->nr, at);

		if (!new) {
			r->err = -ENOMEM;
			return NULL;
		}
		*new = (struct controller){.since_ns = r->now, .before = UINT64_MAX};
		/* At the first call, nothing of it has ended since tracing began. */
		new->ended_ns = r->now - (c->look == 1 ? (uint64_t)(r->s->elapsed * 1e9) : 0);
		snprintf(new->name, sizeof(new->name), "%s", name);
		snprintf(new->peer, sizeof(new->peer), "%s", peer);
	}
	c->row[at].look = c->look;
	c->row[at].in_flight = 0;
	c->row[at].devices[0] = '\0';
	return &c->row[at];
}

static void set_state(const struct reading *r, const char *state)
{
	struct controller *c = r->at;

	if (!strcmp(c->state, state))
		return;
	c->changed = c->state[0];
	c->since_ns = r->now;
	snprintf(c->state, sizeof(c->state), "%.15s", state);
}

/* Adds the name of a disk, and what the block layer has in flight for it: "reads writes". */
static void add_disk(struct controller *c, const char *dir, const char *name)
{
	size_t used = strlen(c->devices);
	uint64_t reads, writes;
	char value[64];

	snprintf(c->devices + used, sizeof(c->devices) - used, "%s%s", used ? "," : "", name);
	if (device_attribute(dir, "inflight", value, sizeof(value)) &&
	    sscanf(value, "%" SCNu64 " %" SCNu64, &reads, &writes) == 2)
		c->in_flight += reads + writes;
}

/* Copies the address in "traddr=10.0.0.1,trsvcid=4420,src_addr=..." as "10.0.0.1:4420". */
static void set_address(struct controller *c, const char *text)
{
	const char *port = strstr(text, "trsvcid="), *host = strstr(text, "traddr=");

	if (!host)
		return;
	host += strlen("traddr=");
	snprintf(c->address, sizeof(c->address), "%.*s", (int)strcspn(host, ","), host);
	if (port) {
		size_t used = strlen(c->address);

		port += strlen("trsvcid=");
		snprintf(c->address + used, sizeof(c->address) - used, ":%.*s",
			 (int)strcspn(port, ","), port);
	}
}

static void read_namespace(struct reading *r, const char *dir, const char *name)
{
	char path[PATH_MAX], disk[32];
	unsigned int subsystem, head;

	if (!device_is_namespace(name, &subsystem, &head))
		return;
	path_join(path, dir, name);
	snprintf(disk, sizeof(disk), "nvme%un%u", subsystem, head);
	add_disk(r->at, path, disk);
}

static void read_host(struct reading *r, const char *dir, const char *name)
{
	char path[PATH_MAX], value[256] = "", nqn[NT_NQN_LEN] = "";

	path_join(path, dir, name);
	if (!(transport_of_controller(path) & (r->s->transports ?: NT_OF_TCP)))
		return;
	device_attribute(path, "subsysnqn", nqn, sizeof(nqn));
	r->at = controller_at(r, name, nqn);
	if (!r->at)
		return;
	if (device_attribute(path, "state", value, sizeof(value)))
		set_state(r, value);
	if (device_attribute(path, "address", value, sizeof(value)))
		set_address(r->at, value);
	each_entry(r, path, "nvme", read_namespace);
}

/* A controller that a target has: "ctrl7" of a subsystem. */
static void read_target(struct reading *r, const char *dir, const char *name)
{
	char path[PATH_MAX], value[256], nqn[NT_NQN_LEN] = "", cntlid[32];

	path_join(path, dir, name);
	snprintf(cntlid, sizeof(cntlid), "cntlid %.20s", name + strlen(TARGET_CONTROLLER));
	device_attribute(path, "hostnqn", nqn, sizeof(nqn));
	r->at = controller_at(r, cntlid, nqn);
	if (!r->at)
		return;
	if (device_attribute(path, "state", value, sizeof(value)))
		set_state(r, value);
	if (device_attribute(path, "host_traddr", value, sizeof(value)))
		snprintf(r->at->address, sizeof(r->at->address), "%.*s",
			 (int)sizeof(r->at->address) - 1, value);
}

static void read_subsystem(struct reading *r, const char *dir, const char *name)
{
	char path[PATH_MAX];

	path_join(path, dir, name);
	each_entry(r, path, TARGET_CONTROLLER, read_target);
}

/* A namespace that a target exports, whose disk has commands in flight. */
static void read_exported(struct reading *r, const char *dir, const char *name)
{
	char path[PATH_MAX], class[PATH_MAX], device[PATH_MAX], disk[PATH_MAX];

	path_join(path, dir, name);
	if (!device_attribute(path, "device_path", device, sizeof(device)) || device[0] != '/' ||
	    !realpath(device, disk) || strncmp(disk, "/dev/", 5) != 0)
		return;
	/* A path that does not fit would be another one at each look. */
	r->at = controller_at(r, strlen(device) < sizeof(r->at->name) ? device : disk, "");
	if (!r->at)
		return;
	path_join(class, r->sysfs, "class/block");
	add_disk(r->at, path_join(path, class, strrchr(disk, '/') + 1), strrchr(disk, '/') + 1);
}

static void read_config(struct reading *r, const char *dir, const char *name)
{
	char subsystem[PATH_MAX], path[PATH_MAX];

	path_join(path, path_join(subsystem, dir, name), "namespaces");
	each_entry(r, path, "", read_exported);
}

/*
 * Return: the number of the first controller of that row, from @at on, which begins with
 * first_of();
 * @c->nr if there is none
 */
static size_t next_of(const struct controllers *c, const struct stats_row *row, size_t at)
{
	for (; at < c->nr && !strcmp(c->row[at].name, row->controller); at++)
		if (!c->row[at].peer[0] || !row->peer[0] || !strcmp(c->row[at].peer, row->peer))
			return at;
	return c->nr;
}

static size_t first_of(const struct controllers *c, const struct stats_row *row)
{
	return next_of(c, row, first_at(c, c->nr, row->controller, ""));
}

/*
 * Adds up what the tracer has in flight of each controller, and of each disk, which may be that of
 * all. Sets the time at which a command of it ended.
 */
static void add_traced(const struct reading *r)
{
	struct controllers *c = r->c;
	uint64_t at_device = 0, ended = 0;

	for (size_t i = 0; i < r->s->nr_rows; i++) {
		const struct stats_row *row = r->s->rows[i];
		uint64_t some = row->interval.count + row->others_interval.commands;

		at_device += row->waiting.at_device;
		ended += some;
		for (size_t at = first_of(c, row); at < c->nr; at = next_of(c, row, at + 1)) {
			c->row[at].traced += row->waiting.commands;
			if (some)
				c->row[at].ended_ns = r->now;
		}
	}
	for (size_t at = 0; at < c->nr && c->row[at].name[0] == '/'; at++) {
		c->row[at].traced = at_device;
		if (ended)
			c->row[at].ended_ns = r->now;
	}
}

/*
 * Finds out how many commands began before tracing. The tracer and the block layer are not read at
 * the same time, and no command joins those of before. So the least difference of both, of all
 * times, is an upper bound.
 */
static void compare(struct controller *c)
{
	uint64_t others = c->in_flight > c->traced ? c->in_flight - c->traced : 0;

	if (others < c->before)
		c->before = others;
}

static bool any_in_flight(const struct controllers *c)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->row[i].in_flight)
			return true;
	return false;
}

int controllers_look(struct controllers *c, const char *sysfs, const struct stats *s, uint64_t now)
{
	struct reading r = {.c = c, .s = s, .sysfs = sysfs, .now = now, .sorted = c->nr};
	char dir[PATH_MAX];
	size_t left = 0;

	c->now_ns = now;
	if (s->quiet && c->look && !any_in_flight(c))
		return 0;
	c->look++;
	path_join(dir, sysfs, s->side == NT_HOST ? HOST_CLASS : TARGET_DEBUG);
	each_entry(&r, dir, "", s->side == NT_HOST ? read_host : read_subsystem);
	path_join(dir, sysfs, TARGET_CONFIG);
	if (s->side == NT_TARGET)
		each_entry(&r, dir, "", read_config);
	if (c->nr > r.sorted)
		qsort(c->row, c->nr, sizeof(*c->row), by_name);
	for (size_t i = 0; i < c->nr; i++) {
		/* Subsystems may have a controller of one id for one host, which are one row. */
		if (c->row[i].look != c->look || (left && !by_name(&c->row[left - 1], &c->row[i])))
			continue;
		if (left != i)
			c->row[left] = c->row[i];
		c->row[left++].traced = 0;
	}
	c->nr = left;
	add_traced(&r);
	for (size_t i = 0; i < c->nr; i++)
		compare(&c->row[i]);
	return r.err;
}

const struct controller *controllers_find(const struct controllers *c, const struct stats_row *row)
{
	size_t at = c ? first_of(c, row) : 0;

	return c && at < c->nr ? &c->row[at] : NULL;
}

bool controller_is_up(const struct controller *c)
{
	/* Of a host, of a target. */
	return !c->state[0] || !strcmp(c->state, "live") || !strcmp(c->state, "ready");
}

bool controller_stalls(const struct controllers *c, const struct controller *row)
{
	return row->before && c->now_ns - row->ended_ns >= STATS_STALLED_NS;
}

uint64_t controllers_before(const struct controllers *c)
{
	uint64_t sum = 0;

	for (size_t i = 0; c && i < c->nr; i++)
		sum += c->row[i].before;
	return sum;
}

void controllers_free(struct controllers *c)
{
	free(c->row);
	*c = (struct controllers){.nr = 0};
}
