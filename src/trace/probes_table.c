// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ways to the points, best first. docs/points.md says what exactly each sees, and how far apart
 * they are.
 */
#include <string.h>

#include "core/names.h"
#include "core/array.h"
#include "trace/probes_table.h"

#define H(point) (1u << NT_H_##point)
#define T(point) (1u << NT_T_##point)

const struct probe_way probe_ways[] = {
	{NT_HOST, NT_TRACEPOINTS, H(SUBMIT) | H(QUEUE_RQ), {"queue_rq"}, "nvme_tcp_queue_rq", NULL},
	{NT_HOST,
	 NT_TRACEPOINTS,
	 H(SEND_CMD),
	 {"try_send_cmd_pdu"},
	 "nvme_tcp_try_send_cmd_pdu",
	 NULL},
	{NT_HOST,
	 NT_TRACEPOINTS,
	 H(SENT_CMD) | H(SENT_DATA),
	 {"done_send_req", NULL},
	 "nvme_tcp_done_send_req",
	 NULL},
	{NT_HOST,
	 NT_TRACEPOINTS,
	 H(R2T_RX) | H(R2T),
	 {"handle_r2t", "?packet_joined", "?packet_waits", NULL},
	 "nvme_tcp_handle_r2t",
	 NULL},
	{NT_HOST,
	 NT_TRACEPOINTS,
	 H(SEND_DATA),
	 {"try_send_data_pdu", NULL},
	 "nvme_tcp_try_send_data_pdu",
	 NULL},
	{NT_HOST,
	 NT_TRACEPOINTS,
	 H(RX),
	 {"handle_c2h_data", "process_nvme_cqe", "?packet_joined", "?packet_waits", NULL},
	 "the packet of nvme_tcp_handle_c2h_data or nvme_tcp_process_nvme_cqe",
	 NULL},
	{NT_HOST, NT_TRACEPOINTS, H(C2H), {"handle_c2h_data"}, "nvme_tcp_handle_c2h_data", NULL},
	{NT_HOST,
	 NT_TRACEPOINTS,
	 H(CQE),
	 {"process_nvme_cqe", "recv_data", NULL},
	 "nvme_tcp_process_nvme_cqe; without CQE, the last nvme_tcp_recv_data",
	 NULL},
	{NT_HOST,
	 NT_TRACEPOINTS,
	 H(COMPLETE),
	 {"rq_complete_nested", "rq_complete", "?timed_out", NULL},
	 "tracepoint block_rq_complete",
	 NULL},

	{NT_HOST,
	 NT_STOCK,
	 H(SUBMIT) | H(QUEUE_RQ),
	 {"?stock_queue_rq_nested", "stock_queue_rq", "stock_learn", NULL},
	 "tracepoint block_rq_issue, from nvme_tcp_queue_rq()",
	 NULL},
	{NT_HOST,
	 NT_STOCK,
	 H(SEND_CMD) | H(SEND_DATA),
	 {"stock_send_cmd", "stock_send_data", NULL},
	 "entry of nvme_tcp_try_send_cmd_pdu() and _data_pdu()",
	 NULL},
	{NT_HOST,
	 NT_STOCK,
	 H(SEND_CMD) | H(SEND_DATA),
	 {"stock_sendpage", "stock_no_sendpage", NULL},
	 "entry of kernel_sendpage() or sock_no_sendpage(), with a socket of nvme-tcp",
	 NULL},
	{NT_HOST,
	 NT_STOCK,
	 H(SEND_CMD) | H(SEND_DATA),
	 {"stock_sendmsg", NULL},
	 "entry of sock_sendmsg(), with a socket of nvme-tcp",
	 "stock_sendpage"},
	{NT_HOST,
	 NT_STOCK,
	 H(SENT_CMD) | H(SENT_DATA),
	 {"stock_sent", NULL},
	 "return of nvme_tcp_try_send()",
	 NULL},
	{NT_HOST,
	 NT_STOCK,
	 H(RX) | H(C2H) | H(R2T_RX) | H(R2T),
	 {"stock_recv_pdu", "?packet_joined", "?packet_waits", NULL},
	 "skb_copy_bits() has copied the PDU's header to its queue",
	 NULL},
	{NT_HOST,
	 NT_STOCK,
	 H(CQE),
	 {"stock_recv_pdu", "stock_in_short", NULL},
	 "skb_copy_bits() has copied the response; without CQE, entry of nvme_tcp_data_in_short()",
	 NULL},
	{NT_HOST,
	 NT_STOCK,
	 H(CQE),
	 {"stock_recv_pdu", "stock_end", NULL},
	 "skb_copy_bits() has copied the response; without CQE, entry of "
	 "blk_mq_complete_request_remote()",
	 NULL},
	{NT_HOST,
	 NT_STOCK,
	 H(COMPLETE),
	 {"rq_complete_nested", "rq_complete", "?timed_out", NULL},
	 "tracepoint block_rq_complete",
	 NULL},

	{NT_TARGET,
	 NT_TRACEPOINTS,
	 T(RX) | T(CMD),
	 {"done_recv_pdu", "sock_set_state", "?packet_joined", "?packet_waits", NULL},
	 "nvmet_tcp_done_recv_pdu",
	 NULL},
	{NT_TARGET, NT_TRACEPOINTS, T(SEND_R2T), {"try_send_r2t"}, "nvmet_tcp_try_send_r2t", NULL},
	{NT_TARGET,
	 NT_TRACEPOINTS,
	 T(DATA_RX) | T(DATA),
	 {"handle_h2c_data_pdu", NULL},
	 "nvmet_tcp_handle_h2c_data_pdu",
	 NULL},
	{NT_TARGET,
	 NT_TRACEPOINTS,
	 T(DATA_DONE),
	 {"try_recv_data"},
	 "nvmet_tcp_try_recv_data",
	 NULL},
	{NT_TARGET,
	 NT_TRACEPOINTS,
	 T(EXEC),
	 {"exec_read_req", "exec_write_req", NULL},
	 "nvmet_tcp_exec_read_req, nvmet_tcp_exec_write_req",
	 NULL},
	{NT_TARGET, NT_TRACEPOINTS, T(DONE), {"queue_response"}, "nvmet_tcp_queue_response", NULL},
	{NT_TARGET,
	 NT_TRACEPOINTS,
	 T(SEND),
	 {"try_send_data_pdu", "try_send_response", NULL},
	 "nvmet_tcp_try_send_data_pdu, nvmet_tcp_try_send_response",
	 NULL},
	{NT_TARGET,
	 NT_TRACEPOINTS,
	 T(SENT),
	 {"try_send_response", "try_send_data", NULL},
	 "nvmet_tcp_try_send_response; without CQE, the last nvmet_tcp_try_send_data",
	 NULL},

	{NT_TARGET,
	 NT_STOCK,
	 T(CMD),
	 {"stock_cmd", "sock_set_state", NULL},
	 "entry of nvmet_req_init()",
	 NULL},
	{NT_TARGET,
	 NT_STOCK,
	 T(CMD),
	 {"stock_cmd_no_cq", "sock_set_state", NULL},
	 "entry of nvmet_req_init() of Linux 6.18",
	 NULL},
	{NT_TARGET,
	 NT_STOCK,
	 T(RX),
	 {"stock_cmd", "stock_copied", "stock_try_recv", "?packet_joined", "?packet_waits", NULL},
	 "the packet that skb_copy_datagram_iter() copies the PDU's first byte from",
	 NULL},
	{NT_TARGET,
	 NT_STOCK,
	 T(RX),
	 {"stock_cmd_no_cq", "stock_copied", "stock_try_recv", "?packet_joined", "?packet_waits",
	  NULL},
	 "the packet that skb_copy_datagram_iter() copies the PDU's first byte from",
	 NULL},
	{NT_TARGET,
	 NT_STOCK,
	 T(SEND_R2T) | T(SEND) | T(SENT),
	 {"stock_send_r2t", "stock_send_data_pdu", "stock_send_response", "stock_send_data_end",
	  NULL},
	 "entry of nvmet_try_send_r2t(), _data_pdu(), _response(), return of _data()",
	 NULL},
	{NT_TARGET,
	 NT_STOCK,
	 T(SEND_R2T) | T(SEND) | T(SENT),
	 {"stock_sendpage", "stock_sendpage_end", NULL},
	 "kernel_sendpage(), from nvmet_tcp_io_work()",
	 NULL},
	{NT_TARGET,
	 NT_STOCK,
	 T(SEND_R2T) | T(SEND) | T(SENT),
	 {"stock_sendmsg", "stock_sendmsg_end", NULL},
	 "sock_sendmsg(), from nvmet_tcp_io_work()",
	 "stock_sendpage"},
	{NT_TARGET,
	 NT_STOCK,
	 T(DATA),
	 {"stock_data", NULL},
	 "entry of nvmet_tcp_build_pdu_iovec() after an R2T",
	 NULL},
	{NT_TARGET,
	 NT_STOCK,
	 T(DATA),
	 {"stock_data_map", NULL},
	 "entry of nvmet_tcp_map_pdu_iovec() after an R2T",
	 NULL},
	{NT_TARGET,
	 NT_STOCK,
	 T(DATA_RX),
	 {"stock_data", "stock_copied", "stock_try_recv", "?packet_joined", "?packet_waits", NULL},
	 "the packet that skb_copy_datagram_iter() copies the PDU's first byte from",
	 NULL},
	{NT_TARGET,
	 NT_STOCK,
	 T(DATA_RX),
	 {"stock_data_map", "stock_copied", "stock_try_recv", "?packet_joined", "?packet_waits",
	  NULL},
	 "the packet that skb_copy_datagram_iter() copies the PDU's first byte from",
	 NULL},
	{NT_TARGET,
	 NT_STOCK,
	 T(EXEC),
	 {"stock_exec_read", "stock_exec_nvmet_bdev_execute_rw", "stock_exec_nvmet_file_execute_rw",
	  "?stock_exec_nvmet_bdev_execute_dsm", "?stock_exec_nvmet_file_execute_dsm",
	  "?stock_exec_nvmet_bdev_execute_zone_append", "?stock_exec_nvmet_passthru_execute_cmd",
	  "?stock_exec_nvmet_execute_set_features", "?stock_exec_nvmet_execute_admin_connect",
	  "?stock_exec_nvmet_execute_io_connect", "?stock_exec_nvmet_execute_auth_send", NULL},
	 "return of nvmet_tcp_map_data(); with data from the host, entry of req->execute()",
	 NULL},
	{NT_TARGET,
	 NT_STOCK,
	 T(DONE),
	 {"stock_done_nested", "stock_done", NULL},
	 "entry of nvmet_tcp_queue_response()",
	 NULL},
};
const size_t probe_ways_nr = ARRAY_SIZE(probe_ways);

static const char *const host_programs[] = {
	"queue_rq",
	/*
	 * Listed before the one that it stands in for, so that it is attached later, and runs after
	 * it.
	 */
	"stock_queue_rq_nested",
	"stock_queue_rq",
	"stock_learn",
	"try_send_cmd_pdu",
	"stock_send_cmd",
	"stock_sendpage",
	"stock_no_sendpage",
	"stock_sendmsg",
	"stock_sent",
	"done_send_req",
	"stock_recv_pdu",
	"handle_r2t",
	"stock_send_data",
	"try_send_data_pdu",
	"handle_c2h_data",
	"recv_data",
	"stock_in_short",
	"process_nvme_cqe",
	"stock_end",
	"rq_complete_nested",
	"rq_complete",
	"packet_joined",
	"packet_waits",
	"timed_out",
	NULL,
};

static const char *const target_programs[] = {
	"done_recv_pdu",
	"stock_cmd",
	"stock_cmd_no_cq",
	"stock_copied",
	"stock_try_recv",
	"try_send_r2t",
	"stock_send_r2t",
	"handle_h2c_data_pdu",
	"stock_data",
	"stock_data_map",
	"try_recv_data",
	"exec_read_req",
	"exec_write_req",
	"stock_exec_read",
	"stock_exec_nvmet_bdev_execute_rw",
	"stock_exec_nvmet_file_execute_rw",
	"stock_exec_nvmet_bdev_execute_dsm",
	"stock_exec_nvmet_file_execute_dsm",
	"stock_exec_nvmet_bdev_execute_zone_append",
	"stock_exec_nvmet_passthru_execute_cmd",
	"stock_exec_nvmet_execute_set_features",
	"stock_exec_nvmet_execute_admin_connect",
	"stock_exec_nvmet_execute_io_connect",
	"stock_exec_nvmet_execute_auth_send",
	"queue_response",
	"stock_done_nested",
	"stock_done",
	"try_send_data_pdu",
	"stock_send_data_pdu",
	"try_send_data",
	"stock_send_data_end",
	"try_send_response",
	"stock_send_response",
	"stock_sendpage",
	"stock_sendpage_end",
	"stock_sendmsg",
	"stock_sendmsg_end",
	"sock_set_state",
	"packet_joined",
	"packet_waits",
	NULL,
};

/* For programs at an exit all arguments count, because the returned value comes after them. */
static const struct {
	const char *program;
	const char *takes;
} takes[] = {
	{"stock_queue_rq", "request"},
	{"stock_queue_rq_nested", "request"},
	{"rq_complete", "request - -"},
	{"rq_complete_nested", "request - -"},
	{"timed_out", "request"},

	{"packet_joined", "sk_buff"},
	{"packet_waits", "sock sk_buff"},

	{"stock_learn", "blk_mq_hw_ctx blk_mq_queue_data"},
	{"stock_send_cmd", "nvme_tcp_request"},
	{"stock_send_data", "nvme_tcp_request"},
	{"stock_sendpage", "socket page - -"},
	{"stock_no_sendpage", "socket page - -"},
	{"stock_sendmsg", "socket msghdr"},
	{"stock_sent", "nvme_tcp_queue"},
	{"stock_recv_pdu", "sk_buff - - -"},
	{"stock_in_short", "nvme_tcp_queue request"},
	{"stock_end", "request"},

	{"stock_cmd", "nvmet_req nvmet_cq nvmet_sq nvmet_fabrics_ops"},
	{"stock_cmd_no_cq", "nvmet_req nvmet_sq nvmet_fabrics_ops"},
	{"stock_copied", "sk_buff - iov_iter"},
	{"stock_try_recv", "nvmet_tcp_queue"},
	{"stock_data", "nvmet_tcp_cmd"},
	{"stock_data_map", "nvmet_tcp_cmd"},
	{"stock_exec_read", "nvmet_tcp_cmd"},
	{"stock_exec_nvmet_bdev_execute_rw", "nvmet_req"},
	{"stock_exec_nvmet_file_execute_rw", "nvmet_req"},
	{"stock_exec_nvmet_bdev_execute_dsm", "nvmet_req"},
	{"stock_exec_nvmet_file_execute_dsm", "nvmet_req"},
	{"stock_exec_nvmet_bdev_execute_zone_append", "nvmet_req"},
	{"stock_exec_nvmet_passthru_execute_cmd", "nvmet_req"},
	{"stock_exec_nvmet_execute_set_features", "nvmet_req"},
	{"stock_exec_nvmet_execute_admin_connect", "nvmet_req"},
	{"stock_exec_nvmet_execute_io_connect", "nvmet_req"},
	{"stock_exec_nvmet_execute_auth_send", "nvmet_req"},
	{"stock_done", "nvmet_req"},
	{"stock_done_nested", "nvmet_req"},
	{"stock_send_r2t", "nvmet_tcp_cmd"},
	{"stock_send_data_pdu", "nvmet_tcp_cmd"},
	{"stock_send_response", "nvmet_tcp_cmd"},
	{"stock_send_data_end", "nvmet_tcp_cmd -"},
	{"stock_sendpage_end", "socket page - - -"},
	{"stock_sendmsg_end", "socket msghdr"},
};

const char *probe_takes(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(takes); i++)
		if (!strcmp(takes[i].program, name))
			return takes[i].takes;
	return NULL;
}

const char *const *probe_programs(enum nt_side side)
{
	return side == NT_HOST ? host_programs : target_programs;
}

bool probe_begins(const char *name)
{
	return !strcmp(name, "queue_rq") || !strcmp(name, "stock_queue_rq") ||
	       !strcmp(name, "stock_queue_rq_nested") || !strcmp(name, "done_recv_pdu") ||
	       !strcmp(name, "stock_cmd") || !strcmp(name, "stock_cmd_no_cq");
}

bool probe_stands_in(const char *name)
{
	static const char suffix[] = "_nested";
	size_t length = strlen(name);

	return length > strlen(suffix) && !strcmp(name + length - strlen(suffix), suffix);
}

bool probe_watches_data(const char *name)
{
	static const char *const names[] = {
		"recv_data",	       "stock_in_short",     "stock_end",	 "try_send_data",
		"stock_send_data_end", "stock_sendpage_end", "stock_sendmsg_end"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

uint32_t probe_vital_points(enum nt_side side)
{
	return side == NT_HOST ? H(QUEUE_RQ) | H(CQE) | H(COMPLETE) : T(CMD) | T(SENT);
}
