/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a queue's TCP connection, as bpf/tcp.bpf.c reads it from the socket. The members
 * have the names and units of struct tcp_info (include/uapi/linux/tcp.h) where that has them.
 */
#ifndef NTPROF_SHARED_TCP_H
#define NTPROF_SHARED_TCP_H

/* TCP_CA_NAME_MAX (include/net/tcp.h) */
#define NT_TCP_CA_NAME 16

/**
 * struct nt_tcp_state - context of the programs: what they are asked, and their answer
 * @slot: whose socket, as in struct nt_record
 * @known: 1: the socket was found, and the other members are filled
 * @sock: address of the socket
 * @family: AF_INET or AF_INET6
 * @local, @peer: addresses, in network byte order; of IPv4 the first 4 bytes
 * @srtt_us, @rttvar_us: round trip time, smoothed, and its variation, microseconds
 * @snd_cwnd, @snd_ssthresh: congestion window and slow start threshold, segments
 * @unacked: segments that were sent and not acknowledged; @lost, @retrans: of these, those believed
 *           to be lost, and those that were sent again
 * @total_retrans: segments that were ever sent again
 * @snd_mss: bytes of a segment
 * @snd_wnd: the peer's window, bytes
 * @queued: bytes that are not acknowledged; @notsent: of these, those that have not been sent
 * @bytes_sent, @bytes_retrans: bytes ever sent, those sent again included, and those sent again
 * @busy, @rwnd_limited, @sndbuf_limited: time in which there was something to send; of this, time
 *       in which the peer's window, or the own send buffer, limited it. In the unit of @jiffies
 * @dsack_dups: segments of which the peer said that it had them already (RFC 2883): sent again
 * needlessly
 * @jiffies: when this was read
 * @pacing_rate: bytes a second; ~0: not limited
 * @congestion: name of the congestion control; "" if there is none
 */
struct nt_tcp_state {
	__u64 sock;
	__u32 slot;
	__u32 known;
	__u16 family;
	__u16 local_port;
	__u16 peer_port;
	__u16 pad;
	__u32 srtt_us;
	__u8 local[16];
	__u8 peer[16];
	__u32 rttvar_us;
	__u32 snd_cwnd;
	__u32 snd_ssthresh;
	__u32 unacked;
	__u32 lost;
	__u32 retrans;
	__u32 total_retrans;
	__u32 snd_mss;
	__u32 snd_wnd;
	__u32 queued;
	__u32 notsent;
	__u32 busy;
	__u32 rwnd_limited;
	__u32 sndbuf_limited;
	__u32 dsack_dups;
	__u32 pad2;
	__u64 jiffies;
	__u64 bytes_sent;
	__u64 bytes_retrans;
	__u64 pacing_rate;
	char congestion[NT_TCP_CA_NAME];
};

/*
 * Segments of a connection that are sent again within this time are one struct nt_resent: a lossy
 * connection makes at most 10,000 of them a second.
 */
#define NT_RESENT_GAP_NS 100000ULL
/* The most sockets whose segments are noted: TCP_ROWS_MAX. */
#define NT_TCP_SOCKETS 4096
/* Room for those between two reads: 2,700. More are counted. */
#define NT_RESENT_BYTES (64u << 10)

/**
 * struct nt_resent - TCP sent a segment of a queue again
 * @slot, @gen: which connection, as in struct nt_record
 * @ns: when, CLOCK_MONOTONIC; in the map of sockets, when the last one was handed over
 */
struct nt_resent {
	__u32 slot;
	__u32 gen;
	__u64 ns;
};

/**
 * struct nt_queue_socket - a host's queue and its socket, as a BPF iterator finds them
 * @ends: only its addresses and ports are filled
 * @instance: N of nvmeN
 * @qid: 0: the admin queue
 * @io_cpu: CPU on which the queue's worker runs; a number that no CPU has: any
 * @rx_cpu: CPU that handled the last packet that came in; -1: none has come
 * @rx_queue: queue of the network card through which it came; -1: not known
 */
struct nt_queue_socket {
	struct nt_tcp_state ends;
	__u32 instance;
	__u32 qid;
	__s32 io_cpu;
	__s32 rx_cpu;
	__s32 rx_queue;
	__u32 pad;
};

#endif /* NTPROF_SHARED_TCP_H */
