/* SPDX-License-Identifier: GPL-2.0-only */
/* The host's programs, and the maps that they look into. */
#ifndef NTPROF_TESTS_BPF_HOST_H
#define NTPROF_TESTS_BPF_HOST_H

#define PROGRAMS "host.bpf.c"
#include "bpf/kernel.h"

void *bpf_map_lookup_elem(void *map, const void *key)
{
	if (map == &queues)
		return entry(kernel.queues, sizeof(kernel.queues[0]), SLOTS, key);
	if (map == &hists)
		return entry(kernel.hists, sizeof(kernel.hists[0]), SLOTS * NT_OPS_NR, key);
	if (map == &errors)
		return error_find(key);
	if (map == &controllers)
		return entry(kernel.controllers, sizeof(kernel.controllers[0]), SLOTS, key);
	assert_ptr_equal(map, &stages);
	return entry(kernel.stages, sizeof(kernel.stages[0]), NT_OPS_NR, key);
}

long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags)
{
	assert_ptr_equal(map, &errors);
	assert_int_equal(flags, BPF_NOEXIST);
	return error_update(key, value);
}

#endif /* NTPROF_TESTS_BPF_HOST_H */
