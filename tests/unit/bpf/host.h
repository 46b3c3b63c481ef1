/* SPDX-License-Identifier: GPL-2.0-only */
/* The host's programs, and the maps that they look into. */
#ifndef NTPROF_TESTS_BPF_HOST_H
#define NTPROF_TESTS_BPF_HOST_H

#define PROGRAMS "host.bpf.c"
#include "bpf/kernel.h"

void *bpf_map_lookup_elem(void *map, const void *key)
{
	bool found;
	void *value = lookup(map, key, &found);

	if (found)
		return value;
	assert_ptr_equal(map, &controllers);
	return entry(kernel.controllers, sizeof(kernel.controllers[0]), SLOTS, key);
}

long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags)
{
	assert_ptr_equal(map, &errors);
	assert_int_equal(flags, BPF_NOEXIST);
	return error_update(key, value);
}

#endif /* NTPROF_TESTS_BPF_HOST_H */
