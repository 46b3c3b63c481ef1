// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that do nothing, on every tracepoint that both sides' histograms need: what tracing costs before
 * it has done anything.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#define EMPTY(name, tracepoint)      \
	SEC("tp_btf/" tracepoint)    \
	int name(__u64 *ctx)         \
	{                            \
		return 0;            \
	}

EMPTY(queue_rq, "nvme_tcp_queue_rq")
EMPTY(try_send_cmd_pdu, "nvme_tcp_try_send_cmd_pdu")
EMPTY(handle_r2t, "nvme_tcp_handle_r2t")
EMPTY(host_try_send_data_pdu, "nvme_tcp_try_send_data_pdu")
EMPTY(handle_c2h_data, "nvme_tcp_handle_c2h_data")
EMPTY(process_nvme_cqe, "nvme_tcp_process_nvme_cqe")
EMPTY(rq_complete, "block_rq_complete")
EMPTY(done_recv_pdu, "nvmet_tcp_done_recv_pdu")
EMPTY(exec_read_req, "nvmet_tcp_exec_read_req")
EMPTY(exec_write_req, "nvmet_tcp_exec_write_req")
EMPTY(queue_response, "nvmet_tcp_queue_response")
EMPTY(try_send_r2t, "nvmet_tcp_try_send_r2t")
EMPTY(handle_h2c_data_pdu, "nvmet_tcp_handle_h2c_data_pdu")
EMPTY(target_try_send_data_pdu, "nvmet_tcp_try_send_data_pdu")
EMPTY(try_send_response, "nvmet_tcp_try_send_response")

char LICENSE[] SEC("license") = "GPL";
