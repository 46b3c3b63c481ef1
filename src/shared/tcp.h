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
 * @at: address of the driver's struct nvme_tcp_queue (host), or of the socket (target)
 * @known: 1: the socket was found, and the other members are filled
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
 * @jiffies: when this was read
 * @pacing_rate: bytes a second; ~0: not limited
 * @congestion: name of the congestion control; "" if there is none
 */
struct nt_tcp_state {
	__u64 at;
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
	__u64 jiffies;
	__u64 bytes_sent;
	__u64 bytes_retrans;
	__u64 pacing_rate;
	char congestion[NT_TCP_CA_NAME];
};

#endif /* NTPROF_SHARED_TCP_H */
