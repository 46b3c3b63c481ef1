// SPDX-License-Identifier: GPL-2.0-only
#include "core/counters.h"

#define COUNTER_NAME(id, name, what) name,
#define COUNTER_HELP(id, name, what) what,

const char *counter_name(unsigned int counter)
{
	static const char *const names[COUNTERS_NR] = {
		NT_COUNTERS(COUNTER_NAME)[COUNTER_PROBE_MISSED] = "probe_missed",
		[COUNTER_READER_SLOW] = "reader_slow",
		[COUNTER_IN_FLIGHT] = "in_flight",
		[COUNTER_BURST_EDGE] = "burst_edge",
		[COUNTER_NAMES_GONE] = "names_gone",
	};

	return counter < COUNTERS_NR ? names[counter] : "unknown";
}

const char *counter_help(unsigned int counter)
{
	static const char *const help[COUNTERS_NR] = {
		NT_COUNTERS(COUNTER_HELP)[COUNTER_PROBE_MISSED] =
			"runs of a BPF program that the kernel skipped because one was under way",
		[COUNTER_READER_SLOW] =
			"records, lines or blocks left out, as their reader was too slow",
		[COUNTER_IN_FLIGHT] = "commands begun and not ended when the run ended: not a loss",
		[COUNTER_BURST_EDGE] =
			"commands that began before a burst or ended after it, and are in no figure",
		[COUNTER_NAMES_GONE] =
			"names of connections and disks that gave way to others: not a loss",
	};

	return counter < COUNTERS_NR ? help[counter] : "unknown";
}

const char *counter_advice(unsigned int counter)
{
	static const char *const advice[COUNTERS_NR] = {
		[NT_CNT_CANCELLED] = "The kernel log says why; look at the target at that time.",
		[NT_CNT_DIED] = "The kernel logs of both machines say why connections close.",
		[NT_CNT_REQUEUED] = "The kernel log and the errors say why they were sent again.",
		[NT_CNT_OVERWRITTEN] =
			"Their figures are missing; if it grows, see probe_missed, and "
			"ntprof-bpf probes.",
		[NT_CNT_NO_START] = "Nothing to do for those under way when tracing began; if it "
				    "grows, see probe_missed.",
		[NT_CNT_NEVER_SENT] = "nvme list-subsys and the kernel log tell of the controller.",
		[NT_CNT_TIMEOUTS] =
			"The controller is reset then: look at the target, the network and "
			"the kernel log.",
		[NT_CNT_FAILOVERS] =
			"nvme list-subsys shows the paths, the kernel log why one failed.",
		[NT_CNT_ERRORS_FULL] = "ntprof-bpf trace prints each command with its status.",
		[NT_CNT_POINT_MISSING] =
			"Their latencies count; ntprof-bpf probes tells which points "
			"this kernel gives.",
		[NT_CNT_SUBMIT_MISSING] = "Write 1 to /sys/block/DEVICE/queue/iostats.",
		[NT_CNT_NO_SLOT] =
			"They are in no other figure. -v tells what is taken of what there is.",
		[NT_CNT_HIST_FULL] = "They are in the row (others).",
		[NT_CNT_RING_FULL] =
			"--sample N has fewer records; a CPU that is less busy takes more.",
		[NT_CNT_ARRIVAL_JOINED] =
			"Latencies are right; of the network's stage and what waits "
			"for the reader only the sum is.",
		[NT_CNT_ARRIVAL_MISSING] =
			"Nothing to do with TLS: the network's stage has what waits for "
			"the reader, too.",
		[NT_CNT_ASYNC_EVENT] = "Nothing to do.",
		[NT_CNT_DISK_STACKED] =
			"Nothing to do: the disks below have figures of their own (iostat).",
		[NT_CNT_DISK_UNSEEN] =
			"Nothing to do for direct I/O of files, disks without requests, and "
			"flushes.",
		[NT_CNT_DISKS_FULL] = "No command is less: only who uses the disks is.",
		[COUNTER_PROBE_MISSED] =
			"If counts agree it did no harm: stock probes sit on functions "
			"that others call, too.",
		[COUNTER_READER_SLOW] = "Read faster, or take a longer interval or --sample N.",
		[COUNTER_IN_FLIGHT] = "Nothing to do.",
		[COUNTER_BURST_EDGE] = "Nothing to do; longer bursts have fewer of them.",
		[COUNTER_NAMES_GONE] =
			"Some commands may be without disk and path; a shorter run has fewer of "
			"them.",
	};

	return counter < COUNTERS_NR && advice[counter] ? advice[counter] : "";
}

bool counter_is_loss(unsigned int counter)
{
	return counter != NT_CNT_ASYNC_EVENT && counter != NT_CNT_NO_START &&
	       counter != NT_CNT_DISK_STACKED && counter != NT_CNT_DISK_UNSEEN &&
	       counter != COUNTER_IN_FLIGHT && counter != COUNTER_BURST_EDGE &&
	       counter != COUNTER_NAMES_GONE;
}
