/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel types that the BPF programs touch, and of each only the members they read.
 * CO-RE finds every member's real place on the machine it runs on (preserve_access_index).
 *
 * Made by vmlinux/generate from vmlinux/types.txt and the BTF of a kernel: do not edit.
 * Kernel: 6.1.0-56-amd64, Debian linux 6.1.192-2
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

/* only pointed to */
struct bio;
struct blk_mq_ops;
struct blk_mq_tag_set;
struct nvmet_ns;
struct tcp_ulp_ops;

/* include/uapi/asm-generic/int-ll64.h */
typedef unsigned char __u8;
typedef short int __s16;
typedef short unsigned int __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long int __s64;
typedef long long unsigned int __u64;

/* include/asm-generic/int-ll64.h */
typedef __u8 u8;
typedef __s16 s16;
typedef __u16 u16;
typedef __s32 s32;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;

/* include/uapi/linux/types.h */
typedef __u16 __le16;
typedef __u32 __le32;
typedef __u64 __le64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

/* include/uapi/asm-generic/posix_types.h */
typedef long unsigned int __kernel_ulong_t;
typedef __kernel_ulong_t __kernel_size_t;

/* include/linux/types.h */
typedef _Bool bool;
typedef __kernel_size_t size_t;

/* include/linux/stddef.h */
enum {
	false = 0,
	true = 1,
};

/* include/uapi/linux/bpf.h */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum bpf_func_id {
	BPF_FUNC_ktime_get_tai_ns = 208,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

enum {
	BPF_F_NO_PREALLOC = 1,
	BPF_F_RDONLY = 8,
	BPF_F_MMAPABLE = 1024,
};

enum {
	BPF_SK_STORAGE_GET_F_CREATE = 1,
};

enum {
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
};

enum {
	BPF_RB_AVAIL_DATA = 0,
};

/* include/net/tcp_states.h */
enum {
	TCP_CLOSE = 7,
};

/* include/linux/ktime.h */
typedef s64 ktime_t;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* include/linux/skbuff.h */
struct sk_buff {
	struct sk_buff *next;
	struct sock *sk;
	ktime_t tstamp;
	unsigned int len;
	char cb[48];
};

struct sk_buff_head {
	struct sk_buff *next;
};

/* include/net/sock.h */
struct sock {
	struct sk_buff_head sk_receive_queue;
	void *sk_user_data;
};

/* include/linux/net.h */
struct socket {
	struct sock *sk;
};

/* include/linux/uio.h */
struct kvec {
	void *iov_base;
};

struct iov_iter {
	u8 iter_type;
	size_t count;
	const struct kvec *kvec;
};

/* include/linux/socket.h */
struct msghdr {
	struct iov_iter msg_iter;
};

/* include/net/inet_connection_sock.h */
struct inet_connection_sock {
	const struct tcp_ulp_ops *icsk_ulp_ops;
};

/* include/net/tcp.h */
struct tcp_skb_cb {
	__u32 seq;
	__u32 end_seq;
};

/* include/linux/blk-mq.h */
struct blk_mq_queue_data {
	struct request *rq;
};

/* include/linux/blkdev.h */
struct request_queue {
	const struct blk_mq_ops *mq_ops;
	void *queuedata;
	struct blk_mq_tag_set *tag_set;
};

/* include/linux/blk-mq.h */
enum mq_rq_state {
	MQ_RQ_IDLE = 0,
	MQ_RQ_IN_FLIGHT = 1,
	MQ_RQ_COMPLETE = 2,
};

struct blk_mq_hw_ctx {
	void *driver_data;
	unsigned int queue_num;
	short unsigned int nr_ctx;
};

/* include/linux/blk_types.h */
enum req_op {
	REQ_OP_READ = 0,
	REQ_OP_WRITE = 1,
};
typedef __u32 blk_opf_t;

/* include/linux/blk-mq.h */
struct request {
	struct request_queue *q;
	struct blk_mq_hw_ctx *mq_hctx;
	blk_opf_t cmd_flags;
	int tag;
	unsigned int __data_len;
	u64 start_time_ns;
	struct bio *bio;
	enum mq_rq_state state;
};

/* include/linux/nvme.h */
struct nvme_sgl_desc {
	__le64 addr;
	__le32 length;
	__u8 type;
};

union nvme_data_ptr {
	struct nvme_sgl_desc sgl;
};

struct nvme_common_command {
	__u8 opcode;
	__u8 flags;
	__u16 command_id;
	__le32 nsid;
	__le32 cdw2[2];
	__le64 metadata;
	union nvme_data_ptr dptr;
	__le32 cdw10;
	__le32 cdw11;
	__le32 cdw12;
	__le32 cdw13;
	__le32 cdw14;
	__le32 cdw15;
};

struct nvme_command {
	struct nvme_common_command common;
};

union nvme_result {
	__le16 u16;
	__le64 u64;
};

struct nvme_completion {
	union nvme_result result;
	__le16 sq_head;
	__u16 command_id;
	__le16 status;
};

/* include/linux/nvme-tcp.h */
struct nvme_tcp_hdr {
	__u8 type;
	__u8 flags;
};

struct nvme_tcp_cmd_pdu {
	struct nvme_command cmd;
};

struct nvme_tcp_rsp_pdu {
	struct nvme_tcp_hdr hdr;
	struct nvme_completion cqe;
};

struct nvme_tcp_r2t_pdu {
	__u16 command_id;
};

struct nvme_tcp_data_pdu {
	struct nvme_tcp_hdr hdr;
	__u16 command_id;
};

enum nvme_tcp_pdu_type {
	nvme_tcp_rsp = 5,
	nvme_tcp_c2h_data = 7,
	nvme_tcp_r2t = 9,
};

/* drivers/nvme/host/nvme.h */
struct nvme_ctrl_ops {
	const char *name;
};

struct nvme_subsystem {
	char subnqn[223];
};

struct nvme_ctrl {
	int instance;
	u16 cntlid;
	u16 sqsize;
	const struct nvme_ctrl_ops *ops;
	struct blk_mq_tag_set *tagset;
	struct nvme_subsystem *subsys;
	struct nvmf_ctrl_options *opts;
};

/* drivers/nvme/host/fabrics.h */
struct nvmf_host {
	char nqn[223];
};

struct nvmf_ctrl_options {
	char *subsysnqn;
	struct nvmf_host *host;
	bool disable_sqflow;
};

/* drivers/nvme/host/nvme.h */
enum {
	NVME_REQ_CANCELLED = 1,
};

struct nvme_request {
	struct nvme_command *cmd;
	union nvme_result result;
	u8 genctr;
	u8 retries;
	u8 flags;
	u16 status;
	struct nvme_ctrl *ctrl;
};

/* drivers/nvme/host/tcp.c */
struct nvme_tcp_request {
	struct nvme_request req;
	struct nvme_tcp_queue *queue;
};

struct nvme_tcp_ctrl {
	struct nvme_tcp_queue *queues;
	struct nvme_ctrl ctrl;
};

struct nvme_tcp_queue {
	struct socket *sock;
	int io_cpu;
	void *pdu;
	struct nvme_tcp_request *request;
	struct nvme_tcp_ctrl *ctrl;
};

/* drivers/nvme/target/nvmet.h */
struct nvmet_subsys {
	char *subsysnqn;
};

struct nvmet_ctrl {
	struct nvmet_subsys *subsys;
	u16 cntlid;
	char hostnqn[256];
};

struct nvmet_sq {
	struct nvmet_ctrl *ctrl;
	u16 qid;
	u16 size;
	bool sqhd_disabled;
};

/* include/linux/nvme.h */
enum {
	NVMF_TRTYPE_TCP = 3,
};

/* drivers/nvme/target/nvmet.h */
struct nvmet_fabrics_ops {
	unsigned int type;
};

struct nvmet_req {
	struct nvme_command *cmd;
	struct nvme_completion *cqe;
	struct nvmet_sq *sq;
	struct nvmet_ns *ns;
	size_t transfer_len;
	const struct nvmet_fabrics_ops *ops;
};

/* drivers/nvme/target/tcp.c */
enum nvmet_tcp_send_state {
	NVMET_TCP_SEND_DATA_PDU = 0,
	NVMET_TCP_SEND_DATA = 1,
	NVMET_TCP_SEND_R2T = 2,
	NVMET_TCP_SEND_RESPONSE = 4,
};

struct nvmet_tcp_cmd {
	struct nvmet_tcp_queue *queue;
	struct nvmet_req req;
	u32 rbytes_done;
	u32 wbytes_done;
	u32 offset;
	enum nvmet_tcp_send_state state;
};

struct nvmet_tcp_queue {
	struct socket *sock;
	struct nvmet_sq nvme_sq;
	struct nvmet_tcp_cmd *cmds;
	unsigned int nr_cmds;
	struct nvmet_tcp_cmd *snd_cmd;
	int idx;
	struct nvmet_tcp_cmd connect;
};

#pragma clang attribute pop

#endif /* __VMLINUX_H__ */
