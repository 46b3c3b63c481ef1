/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The points and the stages of an NVMe/TCP command. Each is written only once, here: BPF programs
 * fill points, and every view, export and test reads stages from these tables. They are plain
 * X-macros, so that BPF programs get straight-line code and user space gets names.
 */
#ifndef NTPROF_SHARED_POINTS_H
#define NTPROF_SHARED_POINTS_H

enum nt_side {
	NT_HOST = 0,
	NT_TARGET = 1,
	NT_SIDES,
};

/*
 * X(identifier, name): sources of points: the tracepoints of a patched driver, or functions and
 * tracepoints of an unpatched kernel; of a host's controllers of other transports than TCP, the
 * tracepoints of nvme_core.
 */
#define NT_SOURCE_NAMES(X)            \
	X(TRACEPOINTS, "tracepoints") \
	X(STOCK, "stock")             \
	X(CORE, "nvme_core")

#define NT_ENUM_SOURCE(id, name) NT_##id,
enum nt_source { NT_SOURCE_NAMES(NT_ENUM_SOURCE) NT_SOURCES };

/*
 * X(identifier, name): transports of a host's controllers, by the names that their drivers give
 * themselves (struct nvme_ctrl_ops). Any other driver is OTHER.
 */
#define NT_TRANSPORTS(X) \
	X(TCP, "tcp")    \
	X(PCIE, "pcie")  \
	X(RDMA, "rdma")  \
	X(FC, "fc")      \
	X(LOOP, "loop")  \
	X(OTHER, "other")

#define NT_ENUM_TRANSPORT(id, name) NT_TRANSPORT_##id,
enum nt_transport { NT_TRANSPORTS(NT_ENUM_TRANSPORT) NT_TRANSPORTS_NR };

/* Sets of transports are bits, by number. */
#define NT_OF_TCP (1u << NT_TRANSPORT_TCP)
#define NT_NOT_OF_TCP (((1u << NT_TRANSPORTS_NR) - 1) & ~NT_OF_TCP)

/*
 * Bits of a set of missing points, above those of points, that say whose commands a host saw:
 * without them those of TCP alone.
 */
#define NT_WITH_CORE (1u << 30)	  /* commands of other transports, too */
#define NT_WITHOUT_TCP (1u << 31) /* none of TCP */
#define NT_MISSING_POINTS (~(NT_WITH_CORE | NT_WITHOUT_TCP))

/* X(identifier, name on screen, meaning), in the order in which a command passes the points. */
#define NT_HOST_POINTS(X)                                                                    \
	X(H_SUBMIT, "submit", "the request's start_time_ns")                                 \
	X(H_QUEUE_RQ, "queue_rq", "nvme_tcp_queue_rq; of other transports, nvme_setup_cmd")  \
	X(H_SEND_CMD, "send_cmd", "first nvme_tcp_try_send_cmd_pdu")                         \
	X(H_SENT_CMD, "sent_cmd", "nvme_tcp_done_send_req after the command capsule")        \
	X(H_R2T_RX, "r2t_rx", "arrival of the packet with the first R2T")                    \
	X(H_R2T, "r2t", "first nvme_tcp_handle_r2t")                                         \
	X(H_SEND_DATA, "send_data", "first nvme_tcp_try_send_data_pdu")                      \
	X(H_SENT_DATA, "sent_data", "last nvme_tcp_done_send_req after H2C data")            \
	X(H_RX, "rx", "arrival of the packet with the first C2H data, or else the response") \
	X(H_C2H, "c2h", "first nvme_tcp_handle_c2h_data")                                    \
	X(H_CQE, "cqe",                                                                      \
	  "nvme_tcp_process_nvme_cqe, or the last data of a read that has no CQE; of other " \
	  "transports, nvme_complete_rq")                                                    \
	X(H_COMPLETE, "complete", "block_rq_complete")

#define NT_TARGET_POINTS(X)                                                                \
	X(T_RX, "rx", "arrival of the packet with the command capsule")                    \
	X(T_CMD, "cmd", "nvmet_tcp_done_recv_pdu")                                         \
	X(T_SEND_R2T, "send_r2t", "first nvmet_tcp_try_send_r2t")                          \
	X(T_DATA_RX, "data_rx", "arrival of the packet with the first H2C data")           \
	X(T_DATA, "data", "first nvmet_tcp_handle_h2c_data_pdu")                           \
	X(T_DATA_DONE, "data_done", "last nvmet_tcp_try_recv_data")                        \
	X(T_EXEC, "exec", "nvmet_tcp_exec_read_req or nvmet_tcp_exec_write_req")           \
	X(T_DONE, "done", "nvmet_tcp_queue_response after exec")                           \
	X(T_SEND, "send", "first nvmet_tcp_try_send_data_pdu, or else _try_send_response") \
	X(T_SENT, "sent", "nvmet_tcp_try_send_response, or the last data of a read without CQE")

#define NT_ENUM_POINT(id, name, what) NT_##id,
enum nt_host_point { NT_HOST_POINTS(NT_ENUM_POINT) NT_HOST_POINTS_NR };
enum nt_target_point { NT_TARGET_POINTS(NT_ENUM_POINT) NT_TARGET_POINTS_NR };

/*
 * Points of a target's disk, which only --points fine takes: X(identifier, name, meaning). They lie
 * between exec and done, and bound no stage. In a record they follow the target's other points.
 */
#define NT_DISK_POINTS(X)                                                            \
	X(TD_ISSUE, "disk_rq", "first block_rq_issue of a request with a bio of it") \
	X(TD_DONE, "disk_end", "last block_rq_complete of such a request")

enum nt_disk_point {
	NT_TD_BEFORE = NT_TARGET_POINTS_NR - 1,
	NT_DISK_POINTS(NT_ENUM_POINT) NT_DISK_POINTS_END
};

/*
 * Points of a file with buffered I/O: X(identifier, name, meaning). Records with the flag NT_F_FILE
 * have them. The first one is in the place of disk_rq. The second one is done by another name, and
 * has no place of its own. Their numbers follow those of the other points, and are for names only.
 */
#define NT_FILE_POINTS(X)                                                           \
	X(FILE_WORK, "file_work", "nvmet's worker for buffered I/O begins with it") \
	X(FILE_CACHE, "page_cache", "done of a command that the page cache answered")

enum nt_file_point {
	NT_FILE_BEFORE = NT_DISK_POINTS_END - 1,
	NT_FILE_POINTS(NT_ENUM_POINT) NT_FILE_POINTS_END
};

/* Points that are arrivals of packets. With TLS they are not known. */
#define NT_HOST_ARRIVALS (1u << NT_H_RX | 1u << NT_H_R2T_RX)
#define NT_TARGET_ARRIVALS (1u << NT_T_RX | 1u << NT_T_DATA_RX)

/*
 * Finer points, which only --points fine takes: X(identifier, name, from, meaning). A record has
 * the time from @from, a point of the same side, to the finer one.
 */
#define NT_HOST_FINE(X)                                                                    \
	X(HF_OUT, "out", H_SEND_CMD, "TCP sends the packet with the capsule's first byte") \
	X(HF_DATA_OUT, "data_out", H_SEND_DATA,                                            \
	  "TCP sends the packet with the first byte of the first H2C data PDU")

#define NT_TARGET_FINE(X)                                                                  \
	X(TF_OUT, "out", T_SEND, "TCP sends the packet with the first byte of the answer") \
	X(TF_R2T_OUT, "r2t_out", T_SEND_R2T,                                               \
	  "TCP sends the packet with the first byte of the first R2T")

#define NT_ENUM_FINE(id, name, from, what) NT_##id,
enum nt_host_fine { NT_HOST_FINE(NT_ENUM_FINE) NT_HOST_FINE_NR };
enum nt_target_fine { NT_TARGET_FINE(NT_ENUM_FINE) NT_TARGET_FINE_NR };

/* Room for the finer points of either side in one record. */
#define NT_FINE_MAX 2
_Static_assert(NT_HOST_FINE_NR <= NT_FINE_MAX && NT_TARGET_FINE_NR <= NT_FINE_MAX,
	       "a record holds all of them");

/*
 * Waits within stages, which only --points fine takes: X(identifier, name, meaning). A record has
 * their lengths. Of a command with an R2T, each is the sum of that before its first R2T or H2C data
 * and of that of the other PDU in the same stage.
 */
#define NT_WAITS(X)                                                                          \
	X(W_STACK, "stack", "from the arrival of a PDU until TCP tells the driver of it")    \
	X(W_WAKEUP, "wakeup", "from then until the queue's worker runs; 0 if it ran before") \
	X(W_SEND_WAKEUP, "send_wakeup",                                                      \
	  "from queue_rq or done until the worker runs; 0 if it ran before, or a task sends")

#define NT_ENUM_WAIT(id, name, what) NT_##id,
enum nt_wait { NT_WAITS(NT_ENUM_WAIT) NT_WAITS_NR };

/*
 * Points of which --points fine notes the CPU: X(identifier, point). These are points that a
 * program takes and that bound a stage, and those of a target's disk. The CPU of a target's exec is
 * not noted: the same worker has taken the point before it.
 */
#define NT_HOST_CPUS(X)              \
	X(HC_QUEUE_RQ, H_QUEUE_RQ)   \
	X(HC_SEND_CMD, H_SEND_CMD)   \
	X(HC_R2T, H_R2T)             \
	X(HC_SEND_DATA, H_SEND_DATA) \
	X(HC_C2H, H_C2H)             \
	X(HC_CQE, H_CQE)             \
	X(HC_COMPLETE, H_COMPLETE)

#define NT_TARGET_CPUS(X)          \
	X(TC_CMD, T_CMD)           \
	X(TC_SEND_R2T, T_SEND_R2T) \
	X(TC_DATA, T_DATA)         \
	X(TC_DONE, T_DONE)         \
	X(TC_SEND, T_SEND)         \
	X(TC_SENT, T_SENT)         \
	X(TC_DISK_ISSUE, TD_ISSUE) \
	X(TC_DISK_DONE, TD_DONE)

#define NT_ENUM_CPU(id, point) NT_##id,
enum nt_host_cpu { NT_HOST_CPUS(NT_ENUM_CPU) NT_HOST_CPUS_NR };
enum nt_target_cpu { NT_TARGET_CPUS(NT_ENUM_CPU) NT_TARGET_CPUS_NR };

/* Room for those of either side in one record; the host's last one is what it found queued. */
#define NT_CPUS_MAX 8
#define NT_H_QUEUED (NT_CPUS_MAX - 1)
_Static_assert(NT_HOST_CPUS_NR <= (int)NT_H_QUEUED && NT_TARGET_CPUS_NR <= NT_CPUS_MAX,
	       "a record holds all of them");

/* Room for the points of either side in one record. */
#define NT_POINTS_MAX 12
_Static_assert(NT_HOST_POINTS_NR <= NT_POINTS_MAX, "a record holds every host point");
_Static_assert((int)NT_DISK_POINTS_END <= NT_POINTS_MAX, "a record holds every target point");

/*
 * X(identifier, name): the shape of a command says which points it passes (NVMe/TCP 1.0, 3.3:
 * command data transfers). CORE is that of all commands of other transports.
 */
#define NT_SHAPES(X)                    \
	X(READ, "read")                 \
	X(INLINE_WRITE, "inline_write") \
	X(R2T_WRITE, "r2t_write")       \
	X(NO_DATA, "no_data")           \
	X(CORE, "nvme_core")

#define NT_ENUM_SHAPE(id, name) NT_SHAPE_##id,
enum nt_shape { NT_SHAPES(NT_ENUM_SHAPE) NT_SHAPES_NR };

/* Sets of shapes, for the tables below. */
#define NT_SHAPES_R2T (1u << NT_SHAPE_R2T_WRITE)
#define NT_SHAPES_DATA_IN (1u << NT_SHAPE_READ)
#define NT_SHAPES_CORE (1u << NT_SHAPE_CORE)
/* All of NVMe/TCP. */
#define NT_SHAPES_ALL (((1u << NT_SHAPES_NR) - 1) & ~NT_SHAPES_CORE)
#define NT_SHAPES_NOT_R2T (NT_SHAPES_ALL & ~NT_SHAPES_R2T)
#define NT_SHAPES_NOT_DATA_IN (NT_SHAPES_ALL & ~NT_SHAPES_DATA_IN)

/*
 * The stages of one side, in the order of a command's life. Time that a side cannot split by itself
 * is one stage, and its name says what it contains: network_and_target on the host,
 * network_and_host on the target (the wait of an R2T write for its data). send_response is not in a
 * merged record, because it runs at the same time as the network. transport_and_device is all that
 * happens between the host's driver of another transport than TCP and the answer.
 */
#define NT_HOST_STAGES(X)                                \
	X(HS_BLK_SUBMISSION, "blk_submission")           \
	X(HS_NVME_TCP_SUBMISSION, "nvme_tcp_submission") \
	X(HS_NETWORK_AND_TARGET, "network_and_target")   \
	X(HS_NSTACK_COMPLETION, "nstack_completion")     \
	X(HS_NVME_TCP_COMPLETION, "nvme_tcp_completion") \
	X(HS_DEVICE, "transport_and_device")             \
	X(HS_BLK_COMPLETION, "blk_completion")

#define NT_TARGET_STAGES(X)                                \
	X(TS_NSTACK_SUBMISSION, "nstack_submission")       \
	X(TS_NVMET_TCP_SUBMISSION, "nvmet_tcp_submission") \
	X(TS_NETWORK_AND_HOST, "network_and_host")         \
	X(TS_TARGET_SUBSYSTEM, "target_subsystem")         \
	X(TS_NVMET_TCP_COMPLETION, "nvmet_tcp_completion") \
	X(TS_SEND_RESPONSE, "send_response")

#define NT_ENUM_STAGE(id, name) NT_##id,
enum nt_host_stage { NT_HOST_STAGES(NT_ENUM_STAGE) NT_HOST_STAGES_NR };
enum nt_target_stage { NT_TARGET_STAGES(NT_ENUM_STAGE) NT_TARGET_STAGES_NR };

#define NT_STAGES_MAX 7
_Static_assert(NT_HOST_STAGES_NR <= NT_STAGES_MAX, "room for every host stage");
_Static_assert(NT_TARGET_STAGES_NR <= NT_STAGES_MAX, "room for every target stage");

/*
 * Segments: X(stage, shapes, from, to). A stage is the sum of its segments that the command's shape
 * passes. For every shape the segments of a side form one unbroken chain from its first point to
 * its last. So its stages add up to the whole latency (conservation), to the nanosecond.
 */
#define NT_HOST_SEGMENTS(X)                                              \
	X(HS_BLK_SUBMISSION, NT_SHAPES_ALL, H_SUBMIT, H_QUEUE_RQ)        \
	X(HS_NVME_TCP_SUBMISSION, NT_SHAPES_ALL, H_QUEUE_RQ, H_SEND_CMD) \
	X(HS_NETWORK_AND_TARGET, NT_SHAPES_NOT_R2T, H_SEND_CMD, H_RX)    \
	X(HS_NETWORK_AND_TARGET, NT_SHAPES_R2T, H_SEND_CMD, H_R2T_RX)    \
	X(HS_NSTACK_COMPLETION, NT_SHAPES_R2T, H_R2T_RX, H_R2T)          \
	X(HS_NVME_TCP_SUBMISSION, NT_SHAPES_R2T, H_R2T, H_SEND_DATA)     \
	X(HS_NETWORK_AND_TARGET, NT_SHAPES_R2T, H_SEND_DATA, H_RX)       \
	X(HS_NSTACK_COMPLETION, NT_SHAPES_DATA_IN, H_RX, H_C2H)          \
	X(HS_NVME_TCP_COMPLETION, NT_SHAPES_DATA_IN, H_C2H, H_CQE)       \
	X(HS_NSTACK_COMPLETION, NT_SHAPES_NOT_DATA_IN, H_RX, H_CQE)      \
	X(HS_BLK_COMPLETION, NT_SHAPES_ALL, H_CQE, H_COMPLETE)

/* Those of a host's commands of other transports. */
#define NT_CORE_SEGMENTS(X)                                        \
	X(HS_BLK_SUBMISSION, NT_SHAPES_CORE, H_SUBMIT, H_QUEUE_RQ) \
	X(HS_DEVICE, NT_SHAPES_CORE, H_QUEUE_RQ, H_CQE)            \
	X(HS_BLK_COMPLETION, NT_SHAPES_CORE, H_CQE, H_COMPLETE)

#define NT_TARGET_SEGMENTS(X)                                        \
	X(TS_NSTACK_SUBMISSION, NT_SHAPES_ALL, T_RX, T_CMD)          \
	X(TS_NVMET_TCP_SUBMISSION, NT_SHAPES_NOT_R2T, T_CMD, T_EXEC) \
	X(TS_NVMET_TCP_SUBMISSION, NT_SHAPES_R2T, T_CMD, T_SEND_R2T) \
	X(TS_NETWORK_AND_HOST, NT_SHAPES_R2T, T_SEND_R2T, T_DATA_RX) \
	X(TS_NSTACK_SUBMISSION, NT_SHAPES_R2T, T_DATA_RX, T_DATA)    \
	X(TS_NVMET_TCP_SUBMISSION, NT_SHAPES_R2T, T_DATA, T_EXEC)    \
	X(TS_TARGET_SUBSYSTEM, NT_SHAPES_ALL, T_EXEC, T_DONE)        \
	X(TS_NVMET_TCP_COMPLETION, NT_SHAPES_ALL, T_DONE, T_SEND)    \
	X(TS_SEND_RESPONSE, NT_SHAPES_ALL, T_SEND, T_SENT)

#endif /* NTPROF_SHARED_POINTS_H */
