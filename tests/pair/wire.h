/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What wire_capture writes and wire_compare reads: the TCP segments of NVMe/TCP connections, as
 * they passed a network card, each a struct wire_packet and as many bytes of payload as it says.
 */
#ifndef NTPROF_TESTS_WIRE_H
#define NTPROF_TESTS_WIRE_H

#include <stdint.h>

#define NVME_TCP_PORT 4420

/**
 * struct wire_packet - head of a segment
 * @ns: CLOCK_REALTIME at which the kernel stamped it: received, or handed to the card
 * @seq: of its first byte of payload; of SYN itself where @syn
 * @len: bytes of payload that follow
 * @port: of the host, by which a connection is known
 * @to_target: else it is from the target
 * @syn: it opens the connection
 */
struct wire_packet {
	int64_t ns;
	uint32_t seq;
	uint32_t len;
	uint16_t port;
	uint8_t to_target;
	uint8_t syn;
	uint32_t pad;
};

#endif /* NTPROF_TESTS_WIRE_H */
