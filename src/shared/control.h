/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data that the loader (src/trace) and the BPF programs (bpf/) exchange, except for the data
 * about commands, which shared/record.h has. Each side's object has one struct nt_knobs and one
 * struct nt_control.
 */
#ifndef NTPROF_SHARED_CONTROL_H
#define NTPROF_SHARED_CONTROL_H

#include "shared/record.h"
#include "shared/selection.h"

/**
 * struct nt_knobs - settings that the loader fixes before it loads the programs
 * @slower_ns: threshold of NT_SELECT_SLOWER
 * @select: enum nt_select
 * @wake_bytes: the reader is woken when this many bytes of records wait for it
 * @sample_below: commands are measured if their nt_sample_mix() is below this; 0: all of them
 * @missing: bits of the points that no program gives on this kernel
 * @shared_mask: one less than the number of entries of the map hists_shared, which counts by CPU
 *               when no histogram is left
 * @stages_kept: queues take no histograms of stages of their own when only this many are left,
 * which are for those that CPUs share
 * @qid_stride: queue ids that a controller can have, including the admin queue (host): queue id q
 *              of controller nvmeN has slot N * @qid_stride + q
 * @slots: entries of the map queues, one for each nvmet_tcp_queue.idx (target)
 * @no_histograms: keep no histograms
 * @count_all: count the commands that @sample_below leaves out, from their beginning to their end
 * @selects: bits of NT_BY_*: programs see only the commands of @only; other commands have no state
 * @tracks: not every command is measured, and programs keep @tracked of struct nt_control: the
 *          number, with @sample_below, or else enum nt_tracked
 * @failed: only commands that failed get a record
 * @joins_unseen: no program sees where TCP joins packets, so each arrival may be that of a later
 *                packet
 * @events: commands get a struct nt_begun when they begin
 * @tells_lost: where records found no room, a struct nt_lost is put before the next record
 * @origins: records are struct nt_originated, with the parts of these bits NT_ORIGIN_* (host)
 * @ends: only the first and the last point of a command have a program, see core/segments.h
 * @stages: all points have one in bursts, besides @ends; there are no records then
 * @fine: commands have finer points, see NT_HOST_FINE, and CPUs of points, see NT_HOST_CPUS
 * @no_outs: with @fine: no program sees packets leave, so those finer points are not known
 * @notes_cqe: @events or @fine: one look for both where each answer passes (host)
 * @workers: commands have waits, see NT_WAITS
 * @bio_done: address of nvmet_bio_done(), by which programs know a bio of nvmet; 0 if no program
 *            looks for them (target)
 * @bio_chained: address of bio_chain_endio(): the bio is a part of another one; 0 if not known
 * @passthru_done: address of nvmet_passthru_req_done(), the same of a request that hands a command
 *                 on to a controller; 0 if not known
 * @disk_points: commands have the points of a disk, see NT_DISK_POINTS (target)
 * @transports: bits of the transports whose commands are seen (host), of which those of TCP have
 *              programs of their own
 * @only: see @selects
 * @into: for each stage, the first of the stages that it cannot be separated from; see
 *        core/segments.h
 *
 * They are in .rodata, which is frozen before the verifier runs. So the verifier sees constants,
 * and removes the code that they switch off.
 */
struct nt_knobs {
	__u64 slower_ns;
	__u64 bio_done;
	__u64 bio_chained;
	__u64 passthru_done;
	__u32 select;
	__u32 wake_bytes;
	__u32 sample_below;
	__u32 missing;
	__u32 shared_mask;
	__u32 stages_kept;
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
	__u8 ends;
	__u8 stages;
	__u8 fine;
	__u8 no_outs;
	__u8 notes_cqe;
	__u8 workers;
	__u8 disk_points;
	__u8 transports;
	struct nt_selection only;
};

/* Commands whose CPUs are kept at a time, see bpf/cpus.bpf.h: 2 MiB. */
#define NT_TAKEN_MAX (1u << 15)

/**
 * enum nt_tracked - values of &nt_control.tracked where commands are selected
 * @NT_TRACKED_NONE: no measured command is in flight
 * @NT_TRACKED_SOME: some may be in flight: one has begun
 * @NT_TRACKED_FADING: as before, but the loader writes NONE at its next interval if it finds none
 *
 * A command that begins publishes its state, and writes SOME if it then reads another value. The
 * loader writes FADING in place of SOME, and an interval later NONE in place of FADING, unless a
 * state is in flight. So either the command has read FADING, and the loader finds SOME, or its
 * state was published before, and the loader finds that.
 */
enum nt_tracked {
	NT_TRACKED_NONE,
	NT_TRACKED_SOME,
	NT_TRACKED_FADING,
};

/*
 * Programs on functions that many loads never call. Attaching one and detaching it again takes the
 * kernel some 20 million instructions, so those that have not run stay attached between two bursts
 * of all points.
 */
/* clang-format off */
#define NT_SELDOM(X)							\
	X(packet_joined)						\
	X(packet_waits)							\
	X(stock_no_sendpage)						\
	X(stock_data)							\
	X(stock_data_map)						\
	X(stock_exec_nvmet_bdev_execute_rw)				\
	X(stock_exec_nvmet_file_execute_rw)				\
	X(stock_exec_nvmet_bdev_execute_dsm)				\
	X(stock_exec_nvmet_file_execute_dsm)				\
	X(stock_exec_nvmet_bdev_execute_zone_append)			\
	X(stock_exec_nvmet_passthru_execute_cmd)			\
	X(stock_exec_nvmet_execute_set_features)			\
	X(stock_exec_nvmet_execute_admin_connect)			\
	X(stock_exec_nvmet_execute_io_connect)				\
	X(stock_exec_nvmet_execute_auth_send)
/* clang-format on */

#define NT_SELDOM_ID(name) NT_SELDOM_##name,
enum nt_seldom { NT_SELDOM(NT_SELDOM_ID) NT_SELDOM_NR };

/* Value of @began_ns while the loader attaches the program that sees commands begin. */
#define NT_BEGINNING (~0ULL)

/**
 * struct nt_control - state that changes while programs are attached; in .bss, all zeroes at first
 * @real_offset: CLOCK_REALTIME - CLOCK_MONOTONIC, nanoseconds: the upper bound of the
 *               loader's measurement
 * @seen_offset: the value of the same difference that a program saw last
 * @offset_before: its value before the wall clock was set the last time
 * @set_after: CLOCK_MONOTONIC time of the last look of a program before the wall clock was set
 * @set_ns: CLOCK_MONOTONIC time at which a program first saw that the wall clock was set
 * @looked_ns: CLOCK_MONOTONIC time at which a program last looked at the clock
 * @tai_offset: CLOCK_TAI - CLOCK_REALTIME, nanoseconds
 * @began_ns: CLOCK_MONOTONIC time from which on programs see the beginning of every command. 0:
 *            they do not, and an end without a beginning means nothing
 * @queue_rq, @data_ready: as in struct nt_learned
 * @epoch: counts display intervals; see struct nt_hist
 * @data_watched: all programs of probe_watches_data() are attached
 * @no_sqflow: a connection without SQ flow control has been seen; its reads may end without a CQE
 * @redirected: a queue has been seen whose commands may end in an interrupt: the settings of the
 *              block layer allow it, or a command ended on another CPU than the one on which its
 *              CQE was seen
 * @identified_ns: CLOCK_MONOTONIC time of the latest first sight or Connect of an I/O queue; 0:
 *                 there was none
 * @joins_missed: between the loader's last two looks, the kernel skipped runs of the programs that
 *                see packets being joined
 * @burst: number of the burst in which all points have a program, with @stages; 0: they have not.
 *         Only commands that begin and end in the same burst have stages
 * @slots_seen: one more than the highest slot in which a queue was seen
 * @ran: for each program of NT_SELDOM, whether it has run since the last burst of all
 *       points ended, with @stages
 * @events_lost: number of events and records that found no room in the ring buffer; the next one
 *               that finds room reports it
 * @failed: the interval in which a command was counted that failed, or an earlier one
 * @tracked: whether measured commands may be in flight, where not all commands are measured
 *           (@tracks). With a sample it is their number, which is often 0 then. Where commands are
 *           selected, it is one of enum nt_tracked, so that CPUs do not write it for each of them
 *
 * Each member is one naturally aligned word, and is read and written as a whole. No two members
 * have to agree with each other. The loader is one thread. Programs run on all CPUs at once, in
 * tasks and in softirqs.
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
 * began_ns     | loader: NT_BEGINNING before the program  | ends of commands with an unknown
 *              | that sees beginnings is attached, the    | beginning, ends of requests to disks
 *              | time when all are attached, 0 before the |
 *              | first one is detached                    |
 * queue_rq     | host, stock_learn: the first request     | stock_queue_rq; loader: detaches
 *              |                                          | stock_learn
 * data_ready   | a queue's first command; stock_try_recv  | stock probes of sockets; loader:
 *              |                                          | detaches stock_try_recv
 * epoch        | loader: each interval                    | programs that count in a histogram
 * data_watched | loader: 0 before it detaches one of      | target: the first data, and the last,
 *              | these programs, 1 after it has attached  | of a read that has no CQE
 *              | all                                      |
 * no_sqflow    | a queue's first command; a read that has | loader: attaches and detaches the
 *              | no CQE                                   | programs of probe_watches_data();
 *              |                                          | host: so as not to write it again
 * redirected   | host: a queue's first command; ends      | loader: attaches and detaches the
 * identified_ns| a queue's first command                  | programs of probe_stands_in()
 * joins_missed | loader: each interval                    | joins_resolve(), note_arrival()
 * burst        | loader: 0 before it detaches the first   | begin and end of commands
 *              | of these programs, a new number after it |
 *              | has attached all                         |
 * slots_seen   | a queue's first command: exchanged if it | loader: looks for nothing behind it
 *              | is too small                             |
 * ran          | these programs; loader: 0 when a burst   | loader: detaches after a burst only
 *              | ends                                     | those that have run
 * events_lost  | begin and end of commands. Atomic        | the same, to report it with the
 *              | additions and exchanges                  | next event
 * failed       | ends of commands that failed             | loader, which looks for errors then
 * errors_past  | ends of commands that failed, without    | loader. Atomic additions
 *              | room for their error, by operation       |
 * errors_      | ends of admin and fabrics commands that  | the same. Atomic additions
 *   connecting | failed; loader: those that it takes away |
 * tracked      | begin and end of commands; loader:       | all programs, with @tracks: they
 *              | commands of closed connections. Atomic   | leave at once if it is 0
 *              | additions; or as enum nt_tracked says    |
 *
 * Members that are written while commands pass have cache lines of their own: @looked_ns with the
 * members that are noted with it, and @tracked. @tracked is the only counter that cannot be per
 * CPU, because a command begins on one CPU and may end on another.
 */
struct nt_control {
	__s64 real_offset;
	__s64 tai_offset;
	__u64 began_ns;
	__u64 queue_rq;
	__u64 data_ready;
	__u32 epoch;
	__u32 data_watched;
	__u32 no_sqflow;
	__u32 redirected;
	__u64 identified_ns;
	__u32 joins_missed;
	__u32 burst;
	__u32 slots_seen;
	__u8 ran[NT_SELDOM_NR];
	__s64 seen_offset __attribute__((aligned(64)));
	__s64 offset_before;
	__u64 set_after;
	__u64 set_ns;
	__u64 looked_ns;
	__u32 tracked __attribute__((aligned(64)));
	__u32 failed;
	__u64 events_lost;
	__u64 errors_past[NT_OPS_NR];
	__u64 errors_connecting;
} __attribute__((aligned(64)));

/**
 * struct nt_learned - addresses by which programs know the driver's structures among those of
 * others. They decide which memory is read, so user space cannot write them (BPF_F_RDONLY): code
 * that an attacker brings into it cannot have programs take other structures for the driver's
 * @mq_ops: addresses of the operations that nvme-tcp gave to its request queues: nvme_tcp_mq_ops
 *          and the operations of admin queues. block_rq_complete fires for every disk; these
 *          addresses identify requests of NVMe/TCP
 * @queue_rq: address of nvme_tcp_queue_rq(): a request is of NVMe/TCP if its queue calls this
 *            function
 * @data_ready: address of the function that the driver's sockets call when data have come. It
 *              identifies the driver's sockets among all sockets
 * @core_ops: addresses of the operations of request queues of any controller whose commands were
 *            seen by programs for transports other than TCP, each with its enum nt_transport in the
 *            lowest bits; by hash of the address. The last one with a hash is there
 *
 * The copies in struct nt_control cost less to compare with. Programs compare with these first, and
 * before they read anything with the ones here.
 */
#define NT_CORE_OPS_BITS 6
struct nt_learned {
	__u64 mq_ops[2];
	__u64 queue_rq;
	__u64 data_ready;
	__u64 core_ops[1 << NT_CORE_OPS_BITS];
};
#define NT_CORE_TRANSPORT 7ULL /* these bits */
_Static_assert(NT_TRANSPORTS_NR <= NT_CORE_TRANSPORT, "each has a number there");

/**
 * struct nt_kernel_queue - where a queue lies; user space cannot write it, as struct nt_learned
 * @queue: address of the driver's structure for it; 0: no command of it was seen
 * @sock: address of its struct sock
 */
struct nt_kernel_queue {
	__u64 queue;
	__u64 sock;
};

/*
 * What one CPU has counted, see NT_COUNTERS. Programs write it with atomic additions. The loader
 * reads it each interval.
 */
struct nt_counters {
	__u64 n[NT_COUNTERS_NR];
} __attribute__((aligned(64)));

#endif /* NTPROF_SHARED_CONTROL_H */
