/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters that show the packets of a command in a capture that was made meanwhile, of either
 * machine: its connection, when it was on its way, and the sequence numbers of its bytes, as far as
 * its records have them (--points fine). The numbers are the same on both machines. PDUs of other
 * commands in the same segments are shown as well.
 */
#ifndef NTPROF_VIEW_PCAP_H
#define NTPROF_VIEW_PCAP_H

#include <stdio.h>

#include "core/device.h"
#include "core/time.h"
#include "merge/totals.h"

/*
 * So much before its first point and after its last one a packet may be stamped: packets are
 * stamped by the wall clock, points by another one.
 */
#define PCAP_MARGIN_NS 1000000u

/**
 * struct pcap_side - where a command was recorded
 * @machine: its name
 * @clock: both of its clocks at two instants: the wall clock was set faster or slower meanwhile
 * @ends: of its connection; NULL: not known
 */
struct pcap_side {
	const char *machine;
	const struct instant *clock[2];
	const struct queue_ends *ends;
};

/**
 * pcap_print() - @side: the target's @machine is NULL where it has no record of the command
 *
 * Return: whether the filters have the sequence numbers of both directions.
 */
bool pcap_print(const struct slow_command *c, const struct pcap_side side[NT_SIDES], FILE *f);

#endif /* NTPROF_VIEW_PCAP_H */
