/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the loader (src/trace) and the BPF programs (bpf/) say to each other, apart from what they
 * hand on of commands: that is in core/record.h. Each side's object has one struct nt_knobs and one
 * struct nt_control.
 */
#ifndef NTPROF_CORE_CONTROL_H
#define NTPROF_CORE_CONTROL_H

#include "core/record.h"
#include "core/selection.h"

/**
 * struct nt_knobs - what the loader decides before it loads
 * @slower_ns: threshold of NT_SELECT_SLOWER
 * @select: enum nt_select
 * @wake_bytes: bytes of records that wait, from which on their reader is woken
 * @sample_below: commands are measured whose nt_sample_mix() is below; 0: all of them
 * @missing: bits of the points that no program gives on this kernel
 * @shared_mask: one less than the entries of the map hists_shared, which counts where no histogram is left; by CPU
 * @qid_stride: queue ids that a controller can have, the admin queue's included (host): queue id q
 *              of controller nvmeN has slot N * @qid_stride + q
 * @slots: entries of the map queues, one for each nvmet_tcp_queue.idx (target)
 * @no_histograms: keep none
 * @count_all: commands that @sample_below leaves out are counted, from their begin to their end
 * @selects: bits of NT_BY_*: only the commands of @only are seen at all; the others have no state
 * @tracks: not every command is measured, and @tracked of struct nt_control is kept
 * @failed: only commands that failed get a record
 * @joins_unseen: nothing shows where TCP joins packets: each arrival may be that of a later one
 * @events: commands get a struct nt_begun when they begin
 * @tells_lost: a struct nt_lost is put between records where some found no room
 * @origins: records are struct nt_originated (host)
 * @only: see @selects
 * @into: for each stage, the first of those that it cannot be parted from; see core/segments.h
 *
 * In .rodata, which is frozen before the verifier runs: it sees constants, and removes what is
 * switched off.
 */
struct nt_knobs {
	__u64 slower_ns;
	__u32 select;
	__u32 wake_bytes;
	__u32 sample_below;
	__u32 missing;
	__u32 shared_mask;
	__u32 qid_stride;
	__u32 slots;
	__u8 no_histograms;
	__u8 count_all;
	__u8 into[NT_STAGES_MAX];
	__u8 joins_unseen;
	__u8 selects;
	__u8 tracks;
	__u8 failed;
	__u8 events;
	__u8 tells_lost;
	__u8 origins;
	struct nt_selection only;
};

/* Value of @began_ns while the program that sees commands begin is being attached. */
#define NT_BEGINNING (~0ULL)

/**
 * struct nt_control - what is said while programs are attached; in .bss, all zeroes at first
 * @real_offset: CLOCK_REALTIME - CLOCK_MONOTONIC, nanoseconds, at its upper bound
 * @seen_offset: the same as a program has seen it last
 * @offset_before: what it was before the wall clock was set the last time
 * @set_after: CLOCK_MONOTONIC time at which it was seen not to be set yet; @set_ns: at which it was
 * @looked_ns: CLOCK_MONOTONIC time at which a program has looked last
 * @tai_offset: CLOCK_TAI - CLOCK_REALTIME, nanoseconds
 * @began_ns: CLOCK_MONOTONIC time from which on every command's beginning is seen. 0 where it is
 *            not: then an end without a beginning tells nothing
 * @mq_ops: addresses of the operations that nvme-tcp gave to its request queues: nvme_tcp_mq_ops
 *          and the one for admin queues. block_rq_complete is of every disk, and NVMe/TCP's are
 *          known by them
 * @queue_rq: address of nvme_tcp_queue_rq(): a request whose queue calls it is of NVMe/TCP
 * @data_ready: address of the function that sockets of the driver call when data have come: they
 *              are known by it among all sockets
 * @epoch: counts display intervals; see struct nt_hist
 * @data_watched: the programs of probe_watches_data() are attached, all of them
 * @no_sqflow: a connection without SQ flow control has been seen, whose reads may end without a CQE
 * @redirected: a queue has been seen whose commands may end in an interrupt: the block layer says so, or one
 *              has ended on another CPU than that on which its CQE was seen
 * @identified_ns: CLOCK_MONOTONIC time at which an I/O queue was seen for the first time, or connected, last; 0: none was
 * @joins_missed: runs of the programs that see packets being joined were skipped between the loader's last two looks
 * @events_lost: of those that found no room in the ring buffer, what is to be told with the next one
 * @tracked: commands in flight that are measured; counted only where not all are (@tracks), as there
 *           is often none then
 *
 * Each is one naturally aligned word, and read and written whole; no two of them have to agree. The
 * loader is one thread. Programs run on all CPUs at once, in tasks and in softirqs.
 *
 * member       | written by                               | read by
 * -------------+------------------------------------------+--------------------------------------
 * real_offset, | loader: before attaching, at each        | arrival()
 * tai_offset   | interval, and when the wall clock was    |
 *              | set                                      |
 * seen_offset, | loader: before attaching; arrival_held() | the same
 * looked_ns    |                                          |
 * offset_before| arrival_held(): when the wall clock was  | the same
 * set_after,   | set                                      |
 * set_ns       |                                          |
 * began_ns     | loader: NT_BEGINNING before the program  | ends whose beginning is not known
 *              | that sees beginnings is attached, the    |
 *              | time when all are, 0 before the first    |
 *              | goes                                     |
 * mq_ops       | host: a queue's first command            | rq_complete, stock_end
 * queue_rq     | host, stock_learn: the first request     | stock_queue_rq; loader: detaches
 *              |                                          | stock_learn
 * data_ready   | a queue's first command; stock_try_recv  | stock probes of sockets; loader:
 *              |                                          | detaches stock_try_recv
 * epoch        | loader: each interval                    | whoever counts in a histogram
 * data_watched | loader: 0 before it detaches one of      | target: the first data, and the last,
 *              | those, 1 after it has attached all       | of a read that has no CQE
 * no_sqflow    | a queue's first command; a read that has | loader: attaches and detaches the
 *              | no CQE                                   | programs of probe_watches_data();
 *              |                                          | host: not to write it again
 * redirected   | host: a queue's first command; ends      | loader: attaches and detaches the
 * identified_ns| a queue's first command                  | programs of probe_stands_in()
 * joins_missed | loader: each interval                    | joins_resolve(), note_arrival()
 * events_lost  | begin and end of commands. Atomic        | the same, to tell it with the
 *              | additions and exchanges                  | next event
 * tracked      | begin and end of commands; loader:       | all programs, with @tracks: 0 ends
 *              | commands of closed connections. Atomic   | them
 *              | additions                                |
 *
 * What is written while commands pass has cache lines of its own: @looked_ns and what is noted with it, and
 * @tracked, which is the one counter that cannot be each CPU's: a command begins on one and ends on another.
 */
struct nt_control {
	__s64 real_offset;
	__s64 tai_offset;
	__u64 began_ns;
	__u64 mq_ops[2];
	__u64 queue_rq;
	__u64 data_ready;
	__u32 epoch;
	__u32 data_watched;
	__u32 no_sqflow;
	__u32 redirected;
	__u64 identified_ns;
	__u32 joins_missed;
	__s64 seen_offset __attribute__((aligned(64)));
	__s64 offset_before;
	__u64 set_after;
	__u64 set_ns;
	__u64 looked_ns;
	__u32 tracked __attribute__((aligned(64)));
	__u64 events_lost;
} __attribute__((aligned(64)));

/* What one CPU has counted, see NT_COUNTERS: programs, by atomic additions. The loader reads it each interval. */
struct nt_counters {
	__u64 n[NT_COUNTERS_NR];
} __attribute__((aligned(64)));

#endif /* NTPROF_CORE_CONTROL_H */
