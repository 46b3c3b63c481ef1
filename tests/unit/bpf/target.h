/* SPDX-License-Identifier: GPL-2.0-only */
/* The target's programs and their maps. */
#ifndef NTPROF_TESTS_BPF_TARGET_H
#define NTPROF_TESTS_BPF_TARGET_H

#define PROGRAMS "target.bpf.c"
#include "bpf/kernel.h"

void *bpf_map_lookup_elem(void *map, const void *key)
{
	bool found;
	void *value = lookup(map, key, &found);

	if (found)
		return value;
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
