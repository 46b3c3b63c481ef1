/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that do nothing: what tracing costs before it has done anything. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#define EMPTY(name, section) \
	SEC(section)         \
	int name(__u64 *ctx) \
	{                    \
		return 0;    \
	}

char LICENSE[] SEC("license") = "GPL";
