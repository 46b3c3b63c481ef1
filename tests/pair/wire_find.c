// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks for the command of a filter of "report --pcap-filter" in the packets of wire_capture:
 *
 *   wire_find PACKETS PORT FROM TO CID
 *
 * PORT is the host's; FROM and TO are nanoseconds of CLOCK_REALTIME. Prints how many command
 * capsules with that id the host sent over the connection at that time (NVMe/TCP 1.0, 3.6.2.5), and
 * how many packets there were of it in either direction: "capsules N packets N".
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire.h"

/* Type and header's length of a command capsule; the command id is in byte 2 of its command. */
#define CAPSULE_TYPE 0x04
#define CAPSULE_BYTES 72
#define CID_AT 10

static unsigned int capsules_in(const uint8_t *data, size_t size, unsigned int cid)
{
	unsigned int n = 0;

	for (size_t i = 0; i + CAPSULE_BYTES <= size; i++)
		n += data[i] == CAPSULE_TYPE && data[i + 2] == CAPSULE_BYTES &&
		     (data[i + CID_AT] | data[i + CID_AT + 1] << 8) == (int)cid;
	return n;
}

int main(int argc, char **argv)
{
	unsigned int capsules = 0, packets = 0, port, cid;
	struct wire_packet p;
	long long from, to;
	FILE *f;

	if (argc != 6)
		return 2;
	f = fopen(argv[1], "r");
	if (!f) {
		perror(argv[1]);
		return 1;
	}
	port = (unsigned int)strtoul(argv[2], NULL, 10);
	from = strtoll(argv[3], NULL, 10);
	to = strtoll(argv[4], NULL, 10);
	cid = (unsigned int)strtoul(argv[5], NULL, 0);
	while (fread(&p, sizeof(p), 1, f) == 1) {
		uint8_t *data = malloc(p.len + 1);

		if (!data || fread(data, 1, p.len, f) != p.len)
			return 1;
		if (p.port == port && p.ns >= from && p.ns <= to) {
			packets++;
			capsules += p.to_target ? capsules_in(data, p.len, cid) : 0;
		}
		free(data);
	}
	fclose(f);
	printf("capsules %u packets %u\n", capsules, packets);
	return 0;
}
