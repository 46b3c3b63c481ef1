/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the host's struct request says of the command that it is: when it began, and how it ended. All
 * requests are typed.
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

/* Of a request's flags: what it asks for (include/linux/blk_types.h). */
#define REQ_OP_MASK 0xff

/* Whether it reads or writes data, which is then all that its entry asks for. @rq: typed */
static __always_inline bool is_read_or_write(struct request *rq)
{
	return (rq->cmd_flags & REQ_OP_MASK) <= REQ_OP_WRITE;
}
_Static_assert(REQ_OP_READ == 0 && REQ_OP_WRITE == 1, "read and write are the first two");

/*
 * Whether the driver has ended a request before: a write that asks for a flush as well is ended once more by the block
 * layer when that is done, with its bio, and of no bytes (blk_flush_restore_request()). @rq: typed
 */
static __always_inline bool has_ended(struct request *rq)
{
	return is_read_or_write(rq) && rq->bio && !rq->__data_len;
}

/*
 * Statuses that the host makes up: for a command that it cannot send, and for one that it does not
 * wait for any more (nvme_host_path_error(), nvme_cancel_request() in drivers/nvme/host/core.c).
 */
#define NVME_SC_HOST_PATH_ERROR 0x370
#define NVME_SC_HOST_ABORTED_CMD 0x371

/*
 * Whether a request that transfers data has none any more: the host has given them to another path,
 * as it does with a command that failed where the namespace has several. @rq: typed
 */
static __always_inline bool failed_over(struct request *rq, const struct nt_record *r)
{
	return r->length && !rq->bio;
}

/*
 * How often the command of a request has been sent before: the driver counts that in nvme_retry_req(), from 0 on for each
 * command (nvme_clear_nvme_request()). This is rare, and read by helper. @rq: typed
 */
static __always_inline __u8 retries_of(struct request *rq)
{
	return BPF_CORE_READ(driver_part(rq), req.retries);
}

/* The status with which the host ends a request, which is not always that of the CQE. @rq: typed */
static __always_inline __u16 status_of_request(struct request *rq)
{
	return BPF_CORE_READ(driver_part(rq), req.status);
}

/*
 * Whether the host has ended a request that it could not send, of which no beginning was seen: it gives it the first of
 * those statuses, and where it fails over, which is a success from Linux 6.6 on, takes its data. Of what has no data that
 * is not known, and false. One that it has sent fails over as well: before, its status says so. @rq: typed
 */
static __always_inline bool never_sent(struct request *rq)
{
	__u16 status = status_of_request(rq) & NT_STATUS_MASK;

	return status == NVME_SC_HOST_PATH_ERROR || (!status && is_read_or_write(rq) && !rq->bio);
}

/*
 * Whether the host has given up a command of which no CQE was seen: it may have been answered all the
 * same, unseen. From Linux 6.6 on a command that fails over has a status of success; of one without
 * data the host's flag tells then, which otherwise may be of an earlier time: a command that is sent
 * again keeps it. @rq: typed
 */
static __always_inline bool given_up(struct request *rq, const struct nt_record *r)
{
	struct nvme_tcp_request *req = driver_part(rq);
	__u16 status = status_of_request(rq) & NT_STATUS_MASK;

	if (!status && !r->length)
		return BPF_CORE_READ(req, req.flags) & NVME_REQ_CANCELLED;
	return status == NVME_SC_HOST_PATH_ERROR || status == NVME_SC_HOST_ABORTED_CMD ||
	       failed_over(rq, r);
}

#endif /* NTPROF_REQUEST_BPF_H */
