/* SPDX-License-Identifier: GPL-2.0-only */
/* The target's programs, and the maps that they look into. */
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

/* What a test has for every socket, if anything. */
static struct tcp_sock *tcp_of_sockets;

struct tcp_sock *bpf_skc_to_tcp_sock(void *sk)
{
	(void)sk;
	return tcp_of_sockets;
}

#endif /* NTPROF_TESTS_BPF_TARGET_H */
