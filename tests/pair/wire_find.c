// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks for the command of a filter of "report --pcap-filter" in the packets of wire_capture:
 *
 *   wire_find PACKETS PORT FROM TO CID
 *
 * PORT is the host's; FROM and TO are nanoseconds of CLOCK_REALTIME. Prints how many command
 * capsules with that id the host sent over the connection at that time (NVMe/TCP 1.0, 3.6.2.5), and
 * how many packets there were of it in either direction: "capsules N packets N". A capsule may lie
 * in two packets, so the bytes are put together by their sequence numbers first.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

/* Type and header's length of a command capsule; the command id is in byte 2 of its command. */
#define CAPSULE_TYPE 0x04
#define CAPSULE_BYTES 72
#define CID_AT 10

/* The bytes that the host sent: those of sequence number @begin and later. */
struct sent {
	uint32_t begin;
	size_t len;
	uint8_t *data;
	bool *came;
};

static unsigned int capsules_in(const struct sent *s, unsigned int cid)
{
	unsigned int n = 0;

	for (size_t i = 0; i + CAPSULE_BYTES <= s->len; i++)
		n += s->data[i] == CAPSULE_TYPE && s->data[i + 2] == CAPSULE_BYTES &&
		     (s->data[i + CID_AT] | s->data[i + CID_AT + 1] << 8) == (int)cid &&
		     !memchr(s->came + i, false, CAPSULE_BYTES);
	return n;
}

/* Packets may come in another order than they were sent in, but none is 2^31 bytes early. */
static bool sent_add(struct sent *s, const struct wire_packet *p, const uint8_t *data)
{
	size_t early = s->len && (int32_t)(p->seq - s->begin) < 0 ? s->begin - p->seq : 0;
	size_t at, len;

	if (!s->len || early)
		s->begin = p->seq;
	at = p->seq - s->begin;
	len = s->len + early > at + p->len ? s->len + early : at + p->len;
	s->data = realloc(s->data, len);
	s->came = realloc(s->came, len * sizeof(*s->came));
	if (!s->data || !s->came)
		return false;
	memmove(s->data + early, s->data, s->len);
	memmove(s->came + early, s->came, s->len * sizeof(*s->came));
	memset(s->came, false, early * sizeof(*s->came));
	memset(s->came + early + s->len, false, (len - early - s->len) * sizeof(*s->came));
	s->len = len;
	memcpy(s->data + at, data, p->len);
	memset(s->came + at, true, p->len * sizeof(*s->came));
	return true;
}

int main(int argc, char **argv)
{
	unsigned int packets = 0, port, cid;
	struct wire_packet p;
	struct sent sent = {0};
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
			if (p.to_target && p.len && !sent_add(&sent, &p, data))
				return 1;
		}
		free(data);
	}
	fclose(f);
	printf("capsules %u packets %u\n", capsules_in(&sent, cid), packets);
	free(sent.data);
	free(sent.came);
	return 0;
}
