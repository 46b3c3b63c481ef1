// SPDX-License-Identifier: GPL-2.0-only
/* The host's object with one more program. */
#include "../../../bpf/host.bpf.c"

#define SIDE NT_HOST
#include "bpf/simulated.bpf.h"

SEC("raw_tp")
int simulate(__u64 *arguments)
{
	return simulated_run(arguments);
}
