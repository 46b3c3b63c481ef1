// SPDX-License-Identifier: GPL-2.0-only
#include "trace/disks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "core/disks.h"
#include "core/hash.h"
#include "core/stats.h"
#include "core/time.h"
#include "trace/private.h"

/*
 * A user that has done nothing for this long gives back its place, so that there is one for
 * cgroups that come. A request that ends at that very moment may not count. Of users that found
 * no room a disk keeps the place for as long as the machine has that disk.
 */
#define FORGET_NS 60000000000ULL

/**
 * struct disk_seen - what the programs had counted of a user
 * @at: the counts at the last look, and @ns the last time that they were others
 * @who: its name, looked up when it was new: its cgroup may be gone by now
 */
struct disk_seen {
	struct nt_disk_user key;
	struct nt_disk_use at;
	uint64_t ns;
	char disk[NT_DISK_NAME_LEN];
	char who[ORIGIN_CGROUP_LEN];
	UT_hash_handle hh;
};

static int map_fd(const struct tracer *t, const char *name)
{
	return bpf_map__fd(object_map(&t->object, name));
}

static enum disk_user user_of(const struct nt_disk_user *key)
{
	if (key->cgroup == NT_DISK_OF_HOST)
		return DISK_HOST;
	if (key->cgroup == NT_DISK_OTHERS)
		return DISK_OTHERS;
	return key->cgroup == NT_DISK_NOBODY ? DISK_KERNEL : DISK_CGROUP;
}

/* Return: NULL: no memory */
static struct disk_seen *seen_of(struct tracer *t, const struct nt_disk_user *key, uint64_t now)
{
	struct disk_seen *s;

	HASH_FIND(hh, t->disks_seen, key, sizeof(*key), s);
	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->key = *key;
	s->ns = now;
	if (bpf_map_lookup_elem(map_fd(t, "disks"), &key->disk, s->disk))
		snprintf(s->disk, sizeof(s->disk), "?");
	if (user_of(key) == DISK_HOST)
		snprintf(s->who, sizeof(s->who), "%s", key->host);
	else if (user_of(key) == DISK_CGROUP)
		cgroup_name(key->cgroup, s->who, sizeof(s->who));
	HASH_ADD(hh, t->disks_seen, key, sizeof(s->key), s);
	return hash_kept(s) ? s : NULL;
}

/* Whether the machine has that disk no more: no other one gets its sequence number. */
static bool is_gone(const struct disk_seen *s)
{
	char dir[sizeof("/sys/block/") + NT_DISK_NAME_LEN], seq[24];

	snprintf(dir, sizeof(dir), "/sys/block/%s", s->disk);
	for (char *c = dir + strlen("/sys/block/"); (c = strchr(c, '/'));)
		*c = '!';
	return !device_attribute(dir, "diskseq", seq, sizeof(seq)) ||
	       strtoull(seq, NULL, 10) != s->key.disk;
}

static int take(struct tracer *t, struct stats *stats, const struct nt_disk_user *key, uint64_t now,
		bool *forget)
{
	struct disk_seen *s = seen_of(t, key, now);
	struct nt_disk_use sum = {0}, grown;

	*forget = false;
	if (!s)
		return -ENOMEM;
	/* It may have been taken away by now. */
	if (bpf_map_lookup_elem(map_fd(t, "disk_uses"), key, t->disk_cpus))
		return 0;
	for (unsigned int i = 0; i < t->cpus; i++) {
		sum.requests += t->disk_cpus[i].requests;
		sum.bytes += t->disk_cpus[i].bytes;
		sum.ns += t->disk_cpus[i].ns;
	}
	grown = (struct nt_disk_use){
		.requests = sum.requests - s->at.requests,
		.bytes = sum.bytes - s->at.bytes,
		.ns = sum.ns - s->at.ns,
	};
	if (grown.requests || grown.bytes) {
		s->at = sum;
		s->ns = now;
		return disk_rows_add(&stats->disks, s->disk, user_of(key), s->who, &grown);
	}
	*forget = now - s->ns > FORGET_NS && (user_of(key) != DISK_OTHERS || is_gone(s));
	return 0;
}

static void forget_user(struct tracer *t, const struct nt_disk_user *key)
{
	struct disk_seen *s;

	HASH_FIND(hh, t->disks_seen, key, sizeof(*key), s);
	if (s)
		hash_drop(t->disks_seen, s);
	bpf_map_delete_elem(map_fd(t, "disk_uses"), key);
	if (user_of(key) == DISK_OTHERS)
		bpf_map_delete_elem(map_fd(t, "disks"), &key->disk);
}

int disks_collect(struct tracer *t, struct stats *s, uint64_t now)
{
	struct nt_disk_user key, next;
	int err = 0, fd;

	if (!t->counts_disks)
		return 0;
	if (!t->disk_cpus)
		t->disk_cpus = calloc(t->cpus, sizeof(*t->disk_cpus));
	if (!t->disk_cpus)
		return -ENOMEM;
	s->disks.asked = true;
	disk_rows_begin(&s->disks, t->disks_ms);
	t->disks_ms = (uint64_t)realtime_ns() / 1000000;
	fd = map_fd(t, "disk_uses");
	for (int more = !bpf_map_get_next_key(fd, NULL, &next); more && !err;) {
		bool forget;

		key = next;
		err = take(t, s, &key, now, &forget);
		more = !bpf_map_get_next_key(fd, &key, &next);
		if (forget)
			forget_user(t, &key);
	}
	disk_rows_end(&s->disks);
	return err;
}

void disks_close(struct tracer *t)
{
	hash_free(t->disks_seen);
	free(t->disk_cpus);
}
