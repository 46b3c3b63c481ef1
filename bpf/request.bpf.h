/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads from the host's struct request when its command began, and how that ended. All requests are
 * typed.
 */
#ifndef NTPROF_REQUEST_BPF_H
#define NTPROF_REQUEST_BPF_H

#include "control.bpf.h"
#include "start_time.bpf.h"

/* blk_mq_rq_to_pdu() */
static __always_inline struct nvme_tcp_request *driver_part(struct request *rq)
{
	return (void *)((__u64)rq + bpf_core_type_size(struct request));
}

/* nvme_req(): what a driver's part begins with, of any transport. */
static __always_inline struct nvme_request *nvme_part(struct request *rq)
{
	return (void *)((__u64)rq + bpf_core_type_size(struct request));
}

/* The bits of a request's flags that hold its operation (include/linux/blk_types.h). */
#define REQ_OP_MASK 0xff

/* Whether a request reads or writes data. Its entry then asks for nothing else. @rq: typed */
static __always_inline bool is_read_or_write(struct request *rq)
{
	return (rq->cmd_flags & REQ_OP_MASK) <= REQ_OP_WRITE;
}
_Static_assert(REQ_OP_READ == 0 && REQ_OP_WRITE == 1, "read and write are the first two");

/*
 * Whether the driver has ended a request before. A write that asks for a flush as well is ended
 * once more by the block layer when the flush is done: with its bio, and with 0 bytes
 * (blk_flush_restore_request()). @rq: typed
 */
static __always_inline bool has_ended(struct request *rq)
{
	return is_read_or_write(rq) && rq->bio && !rq->__data_len;
}

/*
 * Statuses that the host makes up: for a command that it cannot send, and for one that it no longer
 * waits for (nvme_host_path_error(), nvme_cancel_request() in drivers/nvme/host/core.c).
 */
#define NVME_SC_HOST_PATH_ERROR 0x370
#define NVME_SC_HOST_ABORTED_CMD 0x371

/* @status: masked with NT_STATUS_MASK */
static __always_inline bool is_of_host(__u16 status)
{
	return status == NVME_SC_HOST_PATH_ERROR || status == NVME_SC_HOST_ABORTED_CMD;
}

/*
 * Whether a request that transfers data has none any more, because the host has given the data to
 * another path. The host does so with a command that failed if the namespace has several paths.
 * @rq: typed
 */
static __always_inline bool failed_over(struct request *rq, const struct nt_record *r)
{
	return r->length && !rq->bio;
}

/*
 * How often the command of a request has been sent before. The driver counts that in
 * nvme_retry_req(), from 0 for each command (nvme_clear_nvme_request()). This is rare, and reads by
 * helper. @rq: typed
 */
static __always_inline __u8 retries_of(struct request *rq)
{
	return BPF_CORE_READ(nvme_part(rq), retries);
}

/* The status with which the host ends a request. It is not always that of the CQE. @rq: typed */
static __always_inline __u16 status_of_request(struct request *rq)
{
	return BPF_CORE_READ(nvme_part(rq), status);
}

/*
 * Whether the host has ended a request that it could not send, and whose beginning was not seen.
 * The host gives it the status NVME_SC_HOST_PATH_ERROR. Where it fails over, the host takes its
 * data, and from Linux 6.6 on the status is success. For a request without data this cannot be
 * known, and the result is false. A command that was sent may fail over as well; before Linux 6.6
 * its status says so. @rq: typed
 */
static __always_inline bool never_sent(struct request *rq)
{
	__u16 status = status_of_request(rq) & NT_STATUS_MASK;

	return status == NVME_SC_HOST_PATH_ERROR || (!status && is_read_or_write(rq) && !rq->bio);
}

/*
 * Whether the host has given up a command whose CQE was not seen. The command may have been
 * answered all the same, unseen. From Linux 6.6 on, a command that fails over has the status
 * success. For a command without data, the host's flag shows it then. In other cases that flag is
 * not used: a command that is sent again keeps it, so it may be of an earlier time. @rq: typed
 */
static __always_inline bool given_up(struct request *rq, const struct nt_record *r)
{
	__u16 status = status_of_request(rq) & NT_STATUS_MASK;

	if (!status && !r->length)
		return BPF_CORE_READ(nvme_part(rq), flags) & NVME_REQ_CANCELLED;
	return is_of_host(status) || failed_over(rq, r);
}

#endif /* NTPROF_REQUEST_BPF_H */
