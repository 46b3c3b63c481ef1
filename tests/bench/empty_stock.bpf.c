// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that do nothing, on every function and tracepoint that both sides' histograms need on the stock
 * drivers of Linux 6.1.
 */
#include "empty.h"

EMPTY(queue_rq, "tp_btf/block_rq_issue")
EMPTY(host_sendpage, "fentry/kernel_sendpage")
EMPTY(recv_skb, "fentry/nvme_tcp_recv_skb")
EMPTY(recv_pdu, "fexit/skb_copy_bits")
EMPTY(rq_complete, "tp_btf/block_rq_complete")
EMPTY(recvmsg, "fentry/kernel_recvmsg")
EMPTY(cmd, "fentry/nvmet_req_init")
EMPTY(data, "fentry/nvmet_tcp_build_pdu_iovec")
EMPTY(exec_read, "fexit/nvmet_tcp_map_data")
EMPTY(exec_rw, "fentry/nvmet_bdev_execute_rw")
EMPTY(done, "fentry/nvmet_tcp_queue_response")
EMPTY(done_nested, "fentry/nvmet_tcp_queue_response")
EMPTY(target_sendpage, "fentry/kernel_sendpage")
