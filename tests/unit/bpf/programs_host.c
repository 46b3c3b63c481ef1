// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's programs, for a test that also contains user space. User space needs libbpf, which has
 * functions with these names, so the programs' functions are renamed.
 */
#define bpf_map_lookup_elem program_lookup_elem
#define bpf_map_update_elem program_update_elem
#define bpf_map_delete_elem program_delete_elem
#include "bpf/host.h"

#define SIDE NT_HOST
#include "bpf/simulated.bpf.h"

#include "bpf/programs.bpf.h"

int simulate(__u64 *arguments)
{
	return simulated_run(arguments);
}
