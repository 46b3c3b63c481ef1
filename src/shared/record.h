/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data that the BPF programs and user space share: the record of a command, the state of commands
 * in flight, histograms, queues and counters. Fixed-width types only; no pointers.
 */
#ifndef NTPROF_SHARED_RECORD_H
#define NTPROF_SHARED_RECORD_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "shared/buckets.h"
#include "shared/points.h"

/* X(identifier, name): operations of commands (NVM Command Set 1.0, figure 13; Base 2.0, 5). */
#define NT_OPS(X)                       \
	X(READ, "read")                 \
	X(WRITE, "write")               \
	X(FLUSH, "flush")               \
	X(DISCARD, "discard")           \
	X(WRITE_ZEROES, "write_zeroes") \
	X(OTHER, "other")               \
	X(ADMIN, "admin")               \
	X(FABRICS, "fabrics")

#define NT_ENUM_OP(id, name) NT_OP_##id,
enum nt_op { NT_OPS(NT_ENUM_OP) NT_OPS_NR };

/*
 * X(identifier, name, meaning): counters of commands that are in no histogram or without stages, of
 * records that did not reach their reader, and of events such as timeouts.
 */
#define NT_COUNTERS(X)                                                                         \
	X(CANCELLED, "cancelled",                                                              \
	  "commands that the host gave up without a response (reset, timeout, failover)")      \
	X(DIED, "died", "commands whose connection closed before they were answered")          \
	X(REQUEUED, "requeued", "commands that were sent again (retry, reset)")                \
	X(OVERWRITTEN, "overwritten",                                                          \
	  "commands whose completion was not seen before the tag came back")                   \
	X(NO_START, "no_start",                                                                \
	  "completions of commands that began before tracing did, or unseen (probe_missed)")   \
	X(NEVER_SENT, "never_sent",                                                            \
	  "commands that the host ended unsent, its controller not being ready")               \
	X(TIMEOUTS, "timeouts", "commands that took longer than the host waits (I/O timeout)") \
	X(FAILOVERS, "failovers",                                                              \
	  "commands that the host gave to another path after this one failed")                 \
	X(ERRORS_FULL, "errors_full",                                                          \
	  "errors that are in no count by status: there are too many different ones")          \
	X(POINT_MISSING, "point_missing", "commands that could not be split into stages")      \
	X(SUBMIT_MISSING, "submit_missing",                                                    \
	  "commands without a start time (iostats off): latency is from queue_rq")             \
	X(NO_SLOT, "no_slot", "commands without a slot to keep their state in")                \
	X(HIST_FULL, "hist_full",                                                              \
	  "commands counted together, as no histogram was left for their queue")               \
	X(RING_FULL, "ring_full", "records dropped because the ring buffer was full")          \
	X(ARRIVAL_JOINED, "arrival_joined",                                                    \
	  "commands whose packets may have arrived earlier than shown: TCP joined them")       \
	X(ARRIVAL_MISSING, "arrival_missing",                                                  \
	  "commands with no known arrival, as with TLS: the network stack is in other stages") \
	X(ASYNC_EVENT, "async_event",                                                          \
	  "Asynchronous Event Requests, which wait by design: not measured")                   \
	X(DISK_STACKED, "disk_stacked",                                                        \
	  "commands whose disk is made of others (dm, md): target_subsystem has no parts")     \
	X(DISK_UNSEEN, "disk_unseen",                                                          \
	  "commands of which no request to a disk was seen: target_subsystem has no parts")    \
	X(DISKS_FULL, "disks_full",                                                            \
	  "requests of a target's disks that are in no row of --disks, for want of room")

#define NT_ENUM_COUNTER(id, name, what) NT_CNT_##id,
enum nt_counter { NT_COUNTERS(NT_ENUM_COUNTER) NT_COUNTERS_NR };

/*
 * The status code and its type in the status field of a completion queue entry, without the phase
 * tag. The other bits say how to retry (NVMe Base 2.0, 3.3.3.2).
 */
#define NT_STATUS_MASK 0x7ff

/* Flags of a record. */
#define NT_F_NO_CQE (1u << 0)	 /* a read that ended with the C2H SUCCESS flag */
#define NT_F_CANCELLED (1u << 1) /* the host gave it up without a response */
#define NT_F_REQUEUED (1u << 2)	 /* sent more than once; the points are of the last time */
#define NT_F_UNSPLIT (1u << 3)	 /* a point that its shape needs is missing or out of order */
#define NT_F_ADMIN_QUEUE (1u << 4)
#define NT_F_ENDED (1u << 5)  /* the target has given its response to the socket */
#define NT_F_FILE (1u << 6)   /* its namespace is a file with buffered I/O, see NT_FILE_POINTS */
#define NT_F_CACHED (1u << 7) /* the page cache answered it: nothing was read for it */
#define NT_F_ARRIVAL_JOINED \
	(1u << 8) /* an arrival may be that of a later packet, because TCP joined the two */
/*
 * TCP sent a segment of its connection again while bytes of it were on their way. No stream has it:
 * readers find it out, see merge/tcp_history.h
 */
#define NT_F_RETRANSMITTED (1u << 9)
/* With NT_F_RETRANSMITTED: the other side had all of that already, so nothing was lost. */
#define NT_F_NEEDLESS (1u << 11)
/*
 * It found as many commands in flight as report --max-inflight says, or it is not known how many.
 * Readers find it out, see merge/depths.h
 */
#define NT_F_CROWDED (1u << 10)
/* Those that a stream has, with the number of an origin; a reader takes no account of others. */
#define NT_F_OF_STREAM                                                                    \
	(NT_F_NO_CQE | NT_F_CANCELLED | NT_F_REQUEUED | NT_F_UNSPLIT | NT_F_ADMIN_QUEUE | \
	 NT_F_ENDED | NT_F_FILE | NT_F_CACHED | NT_F_ARRIVAL_JOINED |                     \
	 NT_ORIGIN_MASK << NT_F_ORIGIN_SHIFT)
/* its latency is counted, and its stages are not yet; readers never see this flag (target) */
#define NT_F_COUNTED (1u << 14)
/* a Connect until it is answered, or ends; readers never see this flag (host) */
#define NT_F_CONNECT (1u << 15)

/*
 * Controller id of a connection without a successful Connect. A host sends it in Connect (NVMe over
 * Fabrics 1.1, 3.3); no controller has it.
 */
#define NT_CNTLID_NONE 0xffff

/*
 * The flags below are only in records that a tracer gives to its user, and never in a stream,
 * except for the origin.
 */
/* 12 bits: where a command of a host comes from, see core/device.h; if the reader asks for it. */
#define NT_F_ORIGIN_SHIFT 16
#define NT_ORIGIN_MASK 0xfffu
/* not a command: @slba records or events before this were lost; points[0]: time of this note */
#define NT_F_LOST (1u << 28)
#define NT_F_BEGUN \
	(1u << 29) /* has just begun: the record is the first member of a struct nt_begun */
#define NT_F_IN_FLIGHT (1u << 30)   /* has not ended, and is overdue */
#define NT_F_WAS_OVERDUE (1u << 31) /* has ended; was reported with NT_F_IN_FLIGHT before */

/**
 * struct nt_record - one command as one side saw it
 * @side: enum nt_side
 * @op: enum nt_op
 * @opcode: opcode of the submission queue entry
 * @shape: enum nt_shape
 * @cid: command identifier as on the wire
 * @status: status field of the completion queue entry, without the phase tag
 * @qid: queue identifier, 0 is the admin queue
 * @cntlid: controller identifier, or NT_CNTLID_NONE
 * @slot: index into the queues map
 * @gen: generation of that slot: which connection
 * @nsid: namespace identifier
 * @length: bytes of data that the command transfers (length of its SGL descriptor)
 * @slba: starting LBA, 0 if the command has none
 * @flags: NT_F_*
 * @points: CLOCK_MONOTONIC nanoseconds, indexed by enum nt_host_point, or nt_target_point and
 *          nt_disk_point; 0: the point is missing
 * @fine: 1 + nanoseconds from a point to a finer one, indexed by enum nt_host_fine or
 *        nt_target_fine; 0: not known, which is so of each that takes longer than 4.29 s
 * @seq: TCP sequence number of the first byte of each finer point's PDU, by the same index; 0: not
 *       known, which is so of one in 2^32. Where events are asked for, which do not tell it, the
 *       host has the SQ Head Pointer of the CQE in the first one from then on
 * @wait: 1 + nanoseconds of each enum nt_wait; 0: not known, as with @fine
 * @disk: of a target's command: its own command at the disk, see nt_disk_command(). A host's state
 * has something else there, see struct nt_cmd
 * @cpu: 1 + the CPU on which a point was taken, indexed by enum nt_host_cpu or nt_target_cpu; 0:
 * not known. Of a host's command, NT_H_QUEUED is what it found queued, see NT_QUEUED_NR(). States
 *       have something else there
 */
struct nt_record {
	__u8 side;
	__u8 op;
	__u8 opcode;
	__u8 shape;
	__u16 cid;
	__u16 status;
	__u16 qid;
	__u16 cntlid;
	__u32 slot;
	__u32 gen;
	__u32 nsid;
	__u32 length;
	__u32 flags;
	__u64 slba;
	__u64 points[NT_POINTS_MAX];
	__u32 fine[NT_FINE_MAX];
	__u32 seq[NT_FINE_MAX];
	__u32 wait[NT_WAITS_NR];
	__u32 disk;
	__u16 cpu[NT_CPUS_MAX];
};
/* What a state has of a record, and what programs hand over of it without finer points. */
#define NT_RECORD_STATE __builtin_offsetof(struct nt_record, cpu)

/*
 * What a host's command found queued on its connection: 1 + how many requests wait in the driver's
 * lists to be sent, or are being sent, at most NT_QUEUED_MOST; 0: not known. NT_QUEUED_LOCKED:
 * another task or worker had the lock for sending (send_mutex); NT_QUEUED_FREE: none had it;
 * neither: not known.
 */
#define NT_QUEUED_MOST 256
#define NT_QUEUED_LOCKED (1u << 15)
#define NT_QUEUED_FREE (1u << 14)
#define NT_QUEUED_NR(queued) ((queued) & (NT_QUEUED_FREE - 1))

/* A queue id and a command id, as nt_disk_command() has them. */
#define NT_DISK_COMMAND(qid, cid) ((__u32)(qid) << 16 | (__u32)(cid))
#define NT_DISK_QID(command) ((command) >> 16)
#define NT_DISK_CID(command) ((command)&0xffff)

/*
 * The command that a target's command was for its disk, which is one of NVMe: NT_DISK_COMMAND(), of
 * the first request that was issued. 0 if that is not known: I/O queues have ids from 1 on.
 */
static inline __attribute__((always_inline)) __u32 nt_disk_command(const struct nt_record *r)
{
	return r->side == NT_TARGET && r->points[NT_TD_DONE] ? r->disk : 0;
}

/* The parts of an origin that can be asked for, see struct nt_knobs. */
#define NT_ORIGIN_PLACE 1u /* cgroup and CPU */
#define NT_ORIGIN_TASK 2u  /* who submitted it */
/* Not of an origin: records have the CPUs of points. No reader asks for it by this bit. */
#define NT_ORIGIN_POINTS 4u

#define NT_COMM_LEN 16 /* TASK_COMM_LEN */
/* Bit of @pid of struct nt_task: a kernel thread. No process has such a number (PID_MAX_LIMIT). */
#define NT_TASK_KERNEL (1u << 31)

/**
 * struct nt_task - who submitted a command
 * @pid: of the process, which the kernel calls tgid, in the first PID namespace; 0: not known
 * @comm: name of its first thread. A user chooses it: it may have any bytes
 */
struct nt_task {
	__u32 pid;
	char comm[NT_COMM_LEN];
};

/**
 * struct nt_from - where a host's command comes from, if that is asked for
 * @cgroup: id of the cgroup of its bio, 0 without
 * @cpu: the CPU that made its request
 *
 * All bytes are set: what is not asked for is 0, and the CPU NT_CPU_NONE.
 */
struct nt_from {
	__u64 cgroup;
	__u32 cpu;
	struct nt_task task;
};
#define NT_CPU_NONE (~0u)

/* struct nt_originated - a record with its origin */
struct nt_originated {
	struct nt_record r;
	struct nt_from from;
};

/**
 * struct nt_begun - a command that begins, where events are asked for
 * @r: the record as far as it is known; its flags have NT_F_BEGUN
 * @from: where it comes from, if that is asked for (host)
 * @sqe: its submission queue entry (NVMe Base 2.0, 3.3.3.1), by dword
 */
struct nt_begun {
	struct nt_record r;
	struct nt_from from;
	__u32 sqe[16];
};

/* What is known of an answer. */
#define NT_A_RESULT (1u << 0)
#define NT_A_SQ_HEAD (1u << 1)
#define NT_A_RETRIES (1u << 2)

/**
 * struct nt_answer - what an event tells of a completion queue entry (NVMe Base 2.0, 3.3.3.2)
 * @result: dwords 0 and 1, the result of the command
 * @sq_head: SQ Head Pointer
 * @retries: how often the host has sent the command again
 * @known: NT_A_*
 */
struct nt_answer {
	__u64 result;
	__u16 sq_head;
	__u8 retries;
	__u8 known;
	__u32 pad;
};

/* struct nt_ended - the record of a command that has ended, where events are asked for */
struct nt_ended {
	struct nt_record r;
	struct nt_from from;
	struct nt_answer answer;
};

/* struct nt_lost - @nr records and events were lost before the record that follows */
struct nt_lost {
	__u64 nr;
	__u64 ns; /* CLOCK_MONOTONIC, when this is written */
};

/*
 * State of a command in flight. @owner is the address of the kernel's request or nvmet command; 0
 * if there was no command yet. NT_RELEASED is added when the command has ended. NT_UNMEASURED is
 * added if the command is not in the sample and only counted: it has only the points of its
 * beginning. Each has cache lines of its own, as commands with neighbouring tags may be on
 * different CPUs. @task is who submitted it (host, where that is asked for). It begins where the
 * record has @disk, so what writes a state's record writes its members.
 */
#define NT_RELEASED 1ULL
#define NT_UNMEASURED 2ULL
/*
 * Part of the owner of a host's command of another transport than TCP, so that programs for TCP do
 * not find it.
 */
#define NT_CORE_OWNER 4ULL
/*
 * A target's command ends when its answer is handed to the socket. With finer points its record
 * waits until the answer has left TCP, too. Whichever is later hands it over. @out is the sum of
 * what has happened. A command without a note does not wait. The next command in its place, the end
 * of its connection and that of tracing end a wait: NT_OUT_NO_NOTE replaces NT_OUT_ENDED, and the
 * one that has done this hands the record over.
 */
enum { NT_OUT_ENDED = 1, NT_OUT_LEFT = 2, NT_OUT_NO_NOTE = 4 };
/*
 * A target's command whose file is read by nvmet's worker: @reader is the thread of the worker, and
 * @read what it had read from disks before, in bytes, modulo 2^32. @reader is 0 if that tells
 * nothing.
 */
struct nt_cmd {
	__u64 owner;
	union {
		struct nt_record r;
		struct {
			__u8 record[__builtin_offsetof(struct nt_record, disk)];
			union {
				struct {
					__u32 disk, out, reader, read;
				};		     /* target */
				struct nt_task task; /* host */
			};
		};
	};
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct nt_cmd) == 192, "three cache lines");

/**
 * struct nt_hist_head - the beginning of each histogram of durations. Each is of one CPU
 * @key: the owner of the histogram while it has one, see struct nt_hist and struct nt_stage_hists
 * @sum: nanoseconds
 * @max: longest duration of the interval that @max_epoch names; a pair, so that the reader can read
 *       the last interval while the next one fills
 * @max_epoch: see @max
 */
#define NT_HIST_HEAD  \
	__u64 key;    \
	__u64 sum;    \
	__u64 max[2]; \
	__u32 max_epoch[2];
struct nt_hist_head {
	NT_HIST_HEAD
};

/**
 * struct nt_hist - a histogram of latencies: NT_HIST_KEY() is its @key
 * @bytes: data transferred by the commands counted
 * @others: commands that ended and are not in the sample; they are counted only here
 * @other_bytes: data transferred by them
 * @stages: number of the struct nt_stage_hists that count the stages of the same commands; 0: none
 *          yet; NT_STAGES_SHARED: they are counted together with those of other queues' commands of
 *          the same operation on this CPU
 * @buckets: counts, modulo 2^32; the reader accumulates differences
 */
struct nt_hist {
	union {
		struct nt_hist_head head;
		struct {
			NT_HIST_HEAD
		};
	};
	__u64 bytes;
	__u64 others;
	__u64 other_bytes;
	__s32 stages;
	__u32 buckets[NT_BUCKETS_ALLOC];
} __attribute__((aligned(64)));
#define NT_STAGES_SHARED (-1)

/**
 * struct nt_stage_hist - a histogram of the durations of a stage
 * @buckets: as in struct nt_hist, but four of its buckets are one: see NT_STAGE_BUCKET()
 *
 * There is one for each stage wherever there is a latency histogram, so it has to be small.
 */
struct nt_stage_hist {
	union {
		struct nt_hist_head head;
		struct {
			NT_HIST_HEAD
		};
	};
	__u32 buckets[NT_STAGE_BUCKETS_ALLOC];
} __attribute__((aligned(64)));

/*
 * The @key of the first one is that of the latency histogram that has their number in @stages. It
 * is 1 + the operation, if a CPU's commands of that operation share them. It is NT_STAGES_UNUSED,
 * if a program took them, but another program had already set @stages of that histogram.
 */
struct nt_stage_hists {
	struct nt_stage_hist h[NT_STAGES_MAX];
};
#define NT_STAGES_UNUSED (~0ULL)

/*
 * States are kept in pieces of 128 commands, the usual queue depth. Deeper queues take several
 * pieces.
 */
#define NT_CHUNK_BITS 7
#define NT_CHUNK_CMDS (1u << NT_CHUNK_BITS)
/* Linux keeps the tag in 12 bits of the command id, so a queue has at most 4096 commands. */
#define NT_CHUNKS_PER_QUEUE 32

/* NVMe Base 2.0, 4.5: an NQN has at most 223 bytes; 224 with its terminator. */
#define NT_NQN_LEN 224

/**
 * struct nt_ends - the two ends of a TCP connection
 * @family: AF_INET, of which an address has 4 bytes, or AF_INET6; 0 if not known
 */
struct nt_ends {
	__u16 family;
	__u16 local_port;
	__u16 remote_port;
	__u16 pad;
	__u8 local[16];
	__u8 remote[16];
};

/**
 * struct nt_queue - one queue of one controller, as the BPF programs know it
 * @object: address of the kernel's controller (host) or nvmet_tcp_queue (target); 0 if never seen
 * @queue: address of the driver's queue (host, from stock probes), or of its struct sock (target)
 * @header: address of the memory in which it gathers the header of a PDU (host, from stock probes)
 * @pdu_time: CLOCK_REALTIME at which the PDU that is being received arrived, 0 if unknown, negative
 *            if it may be earlier (target, stock)
 * @sending: 1 + tag of the command that is being sent, 0 if none: a queue sends one at a time
 *           (host, stock)
 * @gen: which of the connections that had this slot; each Fabrics Connect begins a new one. Bit 0
 *       is that of @controller (host), or changes with each TCP connection (target). Another
 *       Connect of the same controller, or over the same TCP connection, leaves bit 0 as it is
 * @controller: number of its controller, see struct nt_controller (host)
 * @dead_gen: latest generation with a closed connection (target)
 * @instance: N of nvmeN (host), or the target's own queue index
 * @identified: the generation to which @cntlid, @sqsize and, on the target, @qid and the slot's
 *              struct nt_names belong; its Connect was answered successfully
 * @cpu: where its last CQE was seen (host)
 * @left_out: its commands are not selected, because of the queue; see bpf/select.bpf.h
 * @no_sqflow: it has no SQ flow control, so that reads may end without a CQE (target; valid as
 *             @cntlid is)
 * @opaque: it receives TLS records, so arrivals are not known
 * @transport: enum nt_transport (host)
 * @joins: number of the item of NT_POOL_JOINS that notes which of its packets TCP has joined, 0 if
 *         it has none; see bpf/joins.bpf.h
 * @worker: number of what is known of its worker, 0 if nothing is; see bpf/worker.bpf.h
 * @begun: @epoch of struct nt_control when the last command began
 * @chunk: numbers of the pieces that hold the states of 128 commands each, 0 if none yet
 * @hist: [operation] number of a latency histogram. Each CPU has its own one, but mostly only one
 *        CPU uses the queue. It may still belong to the previous connection, until a command of
 *        this connection looks for its own histogram
 * @ends: of its TCP connection
 *
 * Members that all commands read, members that PDUs write, and the rest have cache lines of their
 * own.
 */
struct nt_queue {
	__u64 object;
	__u64 queue;
	__u32 gen;
	__u32 dead_gen;
	__u32 instance;
	__u32 identified;
	__u16 qid;
	__u16 cntlid; /* follows @qid, as in struct nt_record: they are copied together */
	__u16 sqsize;
	__u16 controller;
	__u8 opaque;
	__u8 left_out;
	__u8 no_sqflow;
	__u8 transport;
	__u32 joins;
	__u32 begun;
	__s64 pdu_time __attribute__((aligned(64)));
	__u64 header;
	__u32 sending;
	__u16 cpu;
	__u16 burst; /* of all points, in which a command of it began last: see bpf/joins.bpf.h */
	__u32 worker;
	__u32 chunk[NT_CHUNKS_PER_QUEUE] __attribute__((aligned(64)));
	__u16 hist[NT_OPS_NR];
	struct nt_ends ends;
} __attribute__((aligned(64)));

/**
 * struct nt_header - the memory in which a queue gathers the header of a PDU (host, from stock
 * probes)
 * @address: 0: this entry is free, and a search ends here
 * @slot: slot of the queue
 */
struct nt_header {
	__u64 address;
	__u32 slot;
	__u32 pad;
};

/* The queue that a target's socket serves: generation @gen of a slot. */
struct nt_served {
	__u32 slot;
	__u32 gen;
};

/**
 * nt_target_shape() - the shape of a command from the points that the target has seen
 *
 * NVMe Base 2.0, 3.3.3.1: bit 0 of an opcode means data transfer from host to controller.
 */
static inline __attribute__((always_inline)) __u8 nt_target_shape(const struct nt_record *r)
{
	if (r->points[NT_T_SEND_R2T])
		return NT_SHAPE_R2T_WRITE;
	if (!r->length)
		return NT_SHAPE_NO_DATA;
	if (r->op == NT_OP_FABRICS || (r->opcode & 1))
		return NT_SHAPE_INLINE_WRITE;
	return NT_SHAPE_READ;
}

/* NQNs of the subsystem and of the host: of a target's queue, or of a host's controller. */
struct nt_names {
	char subsysnqn[NT_NQN_LEN];
	char hostnqn[NT_NQN_LEN];
};

/**
 * struct nt_identity - a connection is identified. User space gets this at once, because another
 * connection may soon have its slot
 * @slot: the target's queue; the admin queue of the host's controller
 * @who: which of the owners of the slot it is: the generation of the target's queue, the number of
 *       the host's controller (see struct nt_controller). It is a part of the key of histograms and
 *       errors. A host's controller that reconnects keeps its number
 * @instance, @qid, @cntlid: as in struct nt_queue; @cntlid is not known on the host
 * @names: the names at that time
 */
struct nt_identity {
	__u32 slot;
	__u32 who;
	__u32 instance;
	__u16 qid;
	__u16 cntlid;
	struct nt_names names;
};

/*
 * Size of the ring buffer for struct nt_identity, in bytes. There is room for some 270 that come
 * before user space runs again. If one finds no room, user space finds the connection when it looks
 * at its slot. If another connection has the slot by then, the row "(others)" has the commands of
 * the first one.
 */
#define NT_CALLS_BYTES (128u << 10)

/**
 * struct nt_error - the key by which programs count commands that ended with an error
 * @slot: slot of their queue
 * @who: see struct nt_identity
 * @status: masked with NT_STATUS_MASK
 * @op: enum nt_op
 */
struct nt_error {
	__u32 slot;
	__u32 who;
	__u16 status;
	__u8 op;
	__u8 pad;
};
/*
 * Different keys at a time, by queue, operation and status. Errors with further keys are counted as
 * NT_CNT_ERRORS_FULL.
 */
#define NT_ERRORS 2048
/*
 * At most so many are of admin and fabrics commands: a host that may do no more than connect can
 * make these fail.
 */
#define NT_ERRORS_CONNECTING (NT_ERRORS / 2)

/**
 * struct nt_controller - the last two controllers that a host has called nvmeN
 * @last: bits 63:48: how many there were, modulo 2^16; the other bits are those of the address of
 *        the last one's struct nvme_ctrl
 * @named: 1 + the number of the controller to which @names belong
 * @names: of a controller, by bit 0 of its number
 *
 * Bit 0 of the generation of a controller's queues is bit 0 of its number, see struct nt_queue.
 */
struct nt_controller {
	__u64 last;
	__u32 named[2];
	struct nt_names names[2];
};
#define NT_CONTROLLER_SHIFT 48

/* Which commands get a record in the ring buffer. */
enum nt_select {
	NT_SELECT_NONE = 0,
	NT_SELECT_ALL,
	NT_SELECT_SLOWER, /* only commands that took at least @slower_ns of struct nt_knobs */
};

#endif /* NTPROF_SHARED_RECORD_H */
