// SPDX-License-Identifier: GPL-2.0-only
/* The target's object with one more program. */
#include "../../../bpf/target.bpf.c"

#define SIDE NT_TARGET
#include "bpf/simulated.bpf.h"

SEC("raw_tp")
int simulate(__u64 *arguments)
{
	return simulated_run(arguments);
}
