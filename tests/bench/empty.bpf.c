// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that do nothing, on every tracepoint that both sides' histograms need.
 */
#include "empty.h"

EMPTY(queue_rq, "tp_btf/nvme_tcp_queue_rq")
EMPTY(try_send_cmd_pdu, "tp_btf/nvme_tcp_try_send_cmd_pdu")
EMPTY(handle_r2t, "tp_btf/nvme_tcp_handle_r2t")
EMPTY(host_try_send_data_pdu, "tp_btf/nvme_tcp_try_send_data_pdu")
EMPTY(handle_c2h_data, "tp_btf/nvme_tcp_handle_c2h_data")
EMPTY(process_nvme_cqe, "tp_btf/nvme_tcp_process_nvme_cqe")
EMPTY(rq_complete, "tp_btf/block_rq_complete")
EMPTY(done_recv_pdu, "tp_btf/nvmet_tcp_done_recv_pdu")
EMPTY(exec_read_req, "tp_btf/nvmet_tcp_exec_read_req")
EMPTY(exec_write_req, "tp_btf/nvmet_tcp_exec_write_req")
EMPTY(queue_response, "tp_btf/nvmet_tcp_queue_response")
EMPTY(try_send_r2t, "tp_btf/nvmet_tcp_try_send_r2t")
EMPTY(handle_h2c_data_pdu, "tp_btf/nvmet_tcp_handle_h2c_data_pdu")
EMPTY(target_try_send_data_pdu, "tp_btf/nvmet_tcp_try_send_data_pdu")
EMPTY(try_send_response, "tp_btf/nvmet_tcp_try_send_response")
