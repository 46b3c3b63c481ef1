/* SPDX-License-Identifier: GPL-2.0-only */
/* The target's programs and their maps. */
#ifndef NTPROF_TESTS_BPF_TARGET_H
#define NTPROF_TESTS_BPF_TARGET_H

#define PROGRAMS "target.bpf.c"
#include "bpf/kernel.h"

/* What --disks has: maps of type BPF_MAP_TYPE_HASH, of so many elements at most. */
static struct disk_map {
	unsigned int max;
	size_t key_size;
	size_t value_size;
	unsigned int nr;
	struct {
		char key[sizeof(struct nt_disk_user)];
		char value[NT_DISK_NAME_LEN] __attribute__((aligned(8)));
	} at[8];
} disk_map[] = {
	{.max = 2, .key_size = sizeof(__u64), .value_size = NT_DISK_NAME_LEN},
	{.max = 4, .key_size = sizeof(__u64), .value_size = sizeof(struct disk_request)},
	{.max = 5,
	 .key_size = sizeof(struct nt_disk_user),
	 .value_size = sizeof(struct nt_disk_use)},
};

static struct disk_map *disk_map_of(const void *map)
{
	if (map == &disks)
		return &disk_map[0];
	if (map == &disk_requests)
		return &disk_map[1];
	return map == &disk_uses ? &disk_map[2] : NULL;
}

static void *disk_map_find(struct disk_map *m, const void *key)
{
	for (unsigned int i = 0; i < m->nr; i++)
		if (!memcmp(m->at[i].key, key, m->key_size))
			return m->at[i].value;
	return NULL;
}

static long disk_map_update(struct disk_map *m, const void *key, const void *value, __u64 flags)
{
	void *is = disk_map_find(m, key);

	if (is ? flags == BPF_NOEXIST : m->nr == m->max)
		return -1;
	if (!is) {
		memcpy(m->at[m->nr].key, key, m->key_size);
		is = m->at[m->nr++].value;
	}
	memcpy(is, value, m->value_size);
	return 0;
}

static long disk_map_delete(struct disk_map *m, const void *key)
{
	for (unsigned int i = 0; i < m->nr; i++)
		if (!memcmp(m->at[i].key, key, m->key_size))
			m->at[i] = m->at[--m->nr];
	return 0;
}

void *bpf_map_lookup_elem(void *map, const void *key)
{
	bool found;
	void *value = lookup(map, key, &found);

	if (found)
		return value;
	if (disk_map_of(map))
		return disk_map_find(disk_map_of(map), key);
	if (map == &names)
		return entry(kernel.names, sizeof(kernel.names[0]), SLOTS, key);
	assert_ptr_equal(map, &sockets);
	for (int i = 0; i < SLOTS; i++)
		if (kernel.sockets[i].sk == *(const __u64 *)key)
			return &kernel.sockets[i].serves;
	return NULL;
}

long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags)
{
	if (map == &errors) {
		assert_int_equal(flags, BPF_NOEXIST);
		return error_update(key, value);
	}
	if (disk_map_of(map))
		return disk_map_update(disk_map_of(map), key, value, flags);
	assert_ptr_equal(map, &sockets);
	assert_int_equal(flags, BPF_ANY);
	for (int i = 0; i < SLOTS; i++) {
		if (kernel.sockets[i].sk && kernel.sockets[i].sk != *(const __u64 *)key)
			continue;
		kernel.sockets[i].sk = *(const __u64 *)key;
		kernel.sockets[i].serves = *(const struct nt_served *)value;
		return 0;
	}
	return -1;
}

long bpf_map_delete_elem(void *map, const void *key)
{
	if (disk_map_of(map))
		return disk_map_delete(disk_map_of(map), key);
	assert_ptr_equal(map, &sockets);
	for (int i = 0; i < SLOTS; i++)
		if (kernel.sockets[i].sk == *(const __u64 *)key)
			kernel.sockets[i].sk = 0;
	return 0;
}

/* The driver copies bytes of @skb from @offset on to @to, and still asks for @count of them. */
static inline void copied(const struct sk_buff *skb, int offset, void *to, size_t count)
{
	struct kvec vec = {.iov_base = to};
	struct iov_iter iter = {.iter_type = ITER_KVEC___named, .count = count, .kvec = &vec};

	stock_copied(NULL, skb, offset, &iter);
}

/*
 * The driver copies the common header of a PDU, the first thing that nvmet_tcp_try_recv_pdu() asks
 * for.
 */
static inline void copied_header(const struct sk_buff *skb, int offset,
				 struct nvmet_tcp_queue *queue)
{
	copied(skb, offset, &((struct nvmet_tcp_queue___gathers *)queue)->pdu, PDU_COMMON_HEADER);
}

#endif /* NTPROF_TESTS_BPF_TARGET_H */
