// SPDX-License-Identifier: GPL-2.0-only
#include "trace/probes.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "core/names.h"
#include "trace/kernel.h"
#include "trace/object.h"
#include "trace/refusals.h"

/*
 * The ways to the points, best first. docs/points.md says what exactly each sees, and how far apart
 * they are.
 */

#define H(point) (1u << NT_H_##point)
#define T(point) (1u << NT_T_##point)

const struct probe_way probe_ways[] = {
	{NT_HOST,
	 NT_TRACEPOINTS,
	 H(SUBMIT) | H(QUEUE_RQ),
	 {"?queue_rq_nested", "queue_rq"},
	 "nvme_tcp_queue_rq",
	 NULL},
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

	{NT_HOST,
	 NT_CORE,
	 H(SUBMIT) | H(QUEUE_RQ),
	 {"?core_setup_nested", "core_setup", NULL},
	 "tracepoint nvme_setup_cmd",
	 NULL},
	{NT_HOST,
	 NT_CORE,
	 H(CQE),
	 {"?core_cqe_nested", "core_cqe", NULL},
	 "tracepoint nvme_complete_rq",
	 NULL},
	{NT_HOST,
	 NT_CORE,
	 H(COMPLETE),
	 {"core_complete_nested", "core_complete", NULL},
	 "tracepoint block_rq_complete",
	 NULL},

	{NT_TARGET,
	 NT_TRACEPOINTS,
	 T(CMD),
	 {"done_recv_pdu", "sock_set_state", NULL},
	 "nvmet_tcp_done_recv_pdu",
	 NULL},
	{NT_TARGET,
	 NT_TRACEPOINTS,
	 T(RX),
	 {"done_recv_pdu", "?packet_joined", "?packet_waits", NULL},
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
	 {"stock_exec_nvmet_bdev_execute_rw", "stock_exec_nvmet_file_execute_rw",
	  "?stock_exec_nvmet_bdev_execute_dsm", "?stock_exec_nvmet_file_execute_dsm",
	  "?stock_exec_nvmet_bdev_execute_zone_append", "?stock_exec_nvmet_passthru_execute_cmd",
	  "?stock_exec_nvmet_execute_set_features", "?stock_exec_nvmet_execute_admin_connect",
	  "?stock_exec_nvmet_execute_io_connect", "?stock_exec_nvmet_execute_auth_send", NULL},
	 "entry of req->execute(); without data, as cmd",
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
	/*
	 * Listed before the one that it stands in for, so that it is attached later, and runs after
	 * it.
	 */
	"queue_rq_nested",
	"queue_rq",
	"stock_queue_rq_nested",
	"stock_queue_rq",
	"core_setup_nested",
	"core_setup",
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
	PROBE_SQ,
	"core_cqe_nested",
	"core_cqe",
	"rq_complete_nested",
	"rq_complete",
	"core_complete_nested",
	"core_complete",
	"packet_joined",
	"packet_waits",
	PROBE_FINE,
	PROBE_READY,
	PROBE_WORK,
	PROBE_WORK_END,
	PROBE_INSERT,
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
	PROBE_DISK_ISSUE,
	PROBE_DISK_DONE,
	PROBE_FILE_WORK,
	PROBE_DISK_USE_ISSUE,
	PROBE_DISK_USE_END_NESTED,
	PROBE_DISK_USE_END,
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
	PROBE_FINE,
	PROBE_READY,
	PROBE_WORK,
	PROBE_WORK_END,
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
	{"core_setup", "request nvme_command"},
	{"core_setup_nested", "request nvme_command"},
	{"core_cqe", "request"},
	{"core_cqe_nested", "request"},
	{"core_complete", "request - -"},
	{"core_complete_nested", "request - -"},
	{"timed_out", "request"},
	{PROBE_SQ, "request - -"},
	{PROBE_INSERT, "request"},

	{PROBE_PATH_STATE, "nvme_ctrl -"},
	{"path_failed", "work_struct"},
	{"path_timeout", "request"},
	{PROBE_PATH_TIMEOUT_PCIE, "request"},
	{"path_ana", "nvme_ctrl nvme_ana_group_desc"},

	{"packet_joined", "sk_buff"},
	{"packet_waits", "sock sk_buff"},
	{PROBE_FINE, "sock sk_buff - - -"},
	{PROBE_READY, "sock"},
	{PROBE_WORK, "work_struct"},
	{PROBE_WORK_END, "work_struct"},
	{PROBE_DISK_ISSUE, "request"},
	{PROBE_DISK_DONE, "request - -"},
	{PROBE_FILE_WORK, "work_struct"},
	{PROBE_DISK_USE_ISSUE, "request"},
	{PROBE_DISK_USE_END, "request - -"},
	{PROBE_DISK_USE_END_NESTED, "request - -"},

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

/*
 * The arguments that the program @name expects.
 *
 * Return: for each argument, separated by blanks, the name of the structure that it points to, "-"
 * for anything else. NULL where they need not be compared with those of the kernel: for tracepoints
 * of our patches, and for functions of which no argument is read.
 */
static const char *probe_takes(const char *name)
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
	return !strcmp(name, "queue_rq") || !strcmp(name, "queue_rq_nested") ||
	       !strcmp(name, "stock_queue_rq") || !strcmp(name, "stock_queue_rq_nested") ||
	       !strcmp(name, "core_setup") || !strcmp(name, "core_setup_nested") ||
	       !strcmp(name, "done_recv_pdu") || !strcmp(name, "stock_cmd") ||
	       !strcmp(name, "stock_cmd_no_cq");
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

/* Registers that a BPF trampoline saves (arch_prepare_bpf_trampoline() of x86 in Linux 6.1). */
#define TRAMPOLINE_ARGS 6

/*
 * What a program attaches to: a tracepoint or a function of the kernel.
 * @typed: type information has it, as @id of module number @module - 1, or with 0 of the kernel
 *         itself
 * @takes, @fits: its arguments, in the form of probe_takes(), and whether the program expects them
 * @traceable: ftrace can attach to it, or does not list what it can; functions only, see
 *             places_trace()
 * @refused: why the kernel does not take the program although it has all it needs; NULL if unknown
 * @symbol, @compiled: the kernel has it; its name there if that is not @name. See symbols_read()
 */
struct attach_place {
	struct bpf_program *program;
	const char *name;
	uint32_t id;
	unsigned int module;
	unsigned int args;
	char *takes;
	bool tracepoint;
	bool typed;
	bool fits;
	bool traceable;
	bool symbol;
	char *refused;
	char *compiled;
};

/*
 * @by_name: the same places, sorted; several can have the same name
 * @traced, @symbols: that list of the kernel, which is not always needed, has been read
 */
struct probes {
	enum nt_side side;
	bool loaded;
	bool core_loaded;
	bool module_btf;
	bool core_btf;
	bool traced;
	bool symbols;
	size_t nr;
	struct attach_place *places;
	struct attach_place **by_name;
};

/* The driver is the last one, and depends on the one before it. */
static const char *const modules[NT_SIDES][ATTACH_IDS_MODULES] = {
	[NT_HOST] = {"nvme", "nvme_core", "nvme_tcp"},
	[NT_TARGET] = {NULL, "nvmet", "nvmet_tcp"},
};
#define CORE_MODULE (ATTACH_IDS_MODULES - 2)

static struct attach_place *place_of(const struct probes *p, const char *program)
{
	for (size_t i = 0; i < p->nr; i++)
		if (!strcmp(bpf_program__name(p->places[i].program), program))
			return &p->places[i];
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	const struct attach_place *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/*
 * Return: the first place in by_name whose name is the first @len bytes of @name; NULL without one.
 */
static struct attach_place **places_named(const struct probes *p, const char *name, size_t len)
{
	size_t at = BISECT(i, 0, p->nr, strncmp(p->by_name[i]->name, name, len) < 0);

	/* Of the names that begin with these bytes, the shortest comes first. */
	if (at == p->nr || strncmp(p->by_name[at]->name, name, len) || p->by_name[at]->name[len])
		return NULL;
	return &p->by_name[at];
}

/* Whether @at, from places_named() or behind it, has that name as well. */
static bool place_named(const struct probes *p, struct attach_place *const *at, const char *name,
			size_t len)
{
	return at < p->by_name + p->nr && !strncmp((*at)->name, name, len) && !(*at)->name[len];
}

/* Fills the places from the sections' names: tp_btf/NAME, fentry/NAME, fexit/NAME. */
static int places_init(struct probes *p, struct bpf_object *obj)
{
	struct bpf_program *program;
	size_t nr = 0;

	bpf_object__for_each_program (program, obj)
		nr++;
	p->places = calloc(nr, sizeof(*p->places));
	p->by_name = calloc(nr, sizeof(struct attach_place *));
	if (!p->places || !p->by_name)
		return -ENOMEM;
	bpf_object__for_each_program (program, obj) {
		const char *section = bpf_program__section_name(program);
		const char *slash = strchr(section, '/');

		if (!slash)
			continue;
		p->by_name[p->nr] = &p->places[p->nr];
		p->places[p->nr++] = (struct attach_place){
			.program = program,
			.name = slash + 1,
			.tracepoint = !strncmp(section, "tp_btf/", 7),
		};
	}
	qsort(p->by_name, p->nr, sizeof(struct attach_place *), by_name);
	return 0;
}

/* The name of the structure that a parameter of type @id points to, or "-". */
static const char *argument_name(const struct btf *btf, unsigned int id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const char *name = "";

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	if (!t || !btf_is_ptr(t))
		return "-";
	/* A structure without a name has that of its typedef. */
	for (t = btf__type_by_id(btf, t->type); t && (btf_is_mod(t) || btf_is_typedef(t));
	     t = btf__type_by_id(btf, t->type))
		if (btf_is_typedef(t))
			name = btf__name_by_offset(btf, t->name_off);
	if (!t || !(btf_is_composite(t) || btf_is_fwd(t)))
		return "-";
	if (t->name_off)
		name = btf__name_by_offset(btf, t->name_off);
	return name && *name ? name : "-";
}

/* Notes the arguments of @at, whose type is @t: the function, or the tracepoint's typedef. */
static void place_arguments(struct attach_place *at, const struct btf *btf,
			    const struct btf_type *t)
{
	const char *wanted = probe_takes(bpf_program__name(at->program));
	const char *section = bpf_program__section_name(at->program);
	const struct btf_param *param;
	size_t used = 0, len = wanted ? strlen(wanted) : 0;
	char takes[256] = "";

	t = btf__type_by_id(btf, t->type);
	/* A tracepoint's function. Its first argument is what the caller had registered. */
	if (at->tracepoint)
		t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	if (!t || !btf_is_func_proto(t))
		return;
	param = btf_params(t);
	at->args = btf_vlen(t);
	for (unsigned int i = at->tracepoint ? 1 : 0; i < at->args && used < sizeof(takes); i++)
		used += (size_t)snprintf(takes + used, sizeof(takes) - used, "%s%s",
					 used ? " " : "", argument_name(btf, param[i].type));
	/* At an entry, arguments after the expected ones do not matter. */
	at->fits = !wanted ||
		   (!strncmp(takes, wanted, len) &&
		    (!takes[len] || (takes[len] == ' ' && strncmp(section, "fexit/", 6) != 0)));
	at->takes = strdup(takes);
}

/*
 * Notes which places the types of @btf have, from id @first on. The first place of a name counts;
 * those of the kernel come before those of @module.
 */
static void places_find(struct probes *p, const struct btf *btf, unsigned int first,
			unsigned int module)
{
	/* include/trace/bpf_probe.h makes one such type for each tracepoint. */
	static const char prefix[] = "btf_trace_";
	const size_t prefix_len = sizeof(prefix) - 1;

	for (unsigned int id = first; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		bool tracepoint = btf_is_typedef(t);
		const char *name;
		size_t len;

		if (!tracepoint && !btf_is_func(t))
			continue;
		name = btf__name_by_offset(btf, t->name_off);
		if (!name || (tracepoint && strncmp(name, prefix, prefix_len) != 0))
			continue;
		if (tracepoint)
			name += prefix_len;
		len = strlen(name);
		for (struct attach_place **at = places_named(p, name, len);
		     at && place_named(p, at, name, len); at++) {
			if ((*at)->tracepoint != tracepoint || (*at)->typed)
				continue;
			(*at)->typed = true;
			(*at)->id = id;
			(*at)->module = module;
			place_arguments(*at, btf, t);
		}
	}
}

void probes_read_traceable(struct probes *p)
{
	FILE *f = kernel_traceable();
	char *line = NULL;
	size_t size = 0;
	bool any = false;

	p->traced = true;
	while (f && getline(&line, &size, f) > 0) {
		size_t len = strcspn(line, " \n");

		any = true;
		for (struct attach_place **at = places_named(p, line, len);
		     at && place_named(p, at, line, len); at++)
			(*at)->traceable = true;
	}
	for (size_t i = 0; !any && i < p->nr; i++)
		p->places[i].traceable = true;
	free(line);
	if (f)
		fclose(f);
}

/* Notes which functions the kernel has, and what the compiler made of others. */
static void symbols_read(struct probes *p)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char *line = NULL;
	size_t size = 0;

	p->symbols = true;
	while (f && getline(&line, &size, f) > 0) {
		/* "ADDRESS TYPE NAME", followed by a tab and the name of the module. */
		char *name = strchr(line, ' ');
		size_t len, plain;

		name = name ? strchr(name + 1, ' ') : NULL;
		if (!name)
			continue;
		name++;
		len = strcspn(name, "\t\n");
		name[len] = '\0';
		plain = strcspn(name, ".");
		for (struct attach_place **at = places_named(p, name, plain);
		     at && place_named(p, at, name, plain); at++) {
			if (plain == len)
				(*at)->symbol = true;
			else if (!(*at)->compiled && strcmp(name + plain, ".cold") != 0)
				(*at)->compiled = strdup(name);
		}
	}
	free(line);
	if (f)
		fclose(f);
}

/* Return: false if there is no memory for it. */
static bool places_refuse(struct probes *p, const struct refusals *refused)
{
	for (size_t i = 0; i < p->nr; i++) {
		const char *why = refusals_why(refused, bpf_program__name(p->places[i].program));

		p->places[i].refused = why ? strdup(why) : NULL;
		if (why && !p->places[i].refused)
			return false;
	}
	return true;
}

struct probes *probes_new(enum nt_side side, struct bpf_object *obj, const struct refusals *refused)
{
	struct btf *base = NULL, *btf;
	struct probes *p;
	char path[64];

	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->side = side;
	if (places_init(p, obj) || !places_refuse(p, refused)) {
		errno = ENOMEM;
		goto fail;
	}
	base = btf__load_vmlinux_btf();
	if (!base)
		goto fail;
	places_find(p, base, 1, 0);
	for (unsigned int i = 0; i < ATTACH_IDS_MODULES; i++) {
		if (!modules[side][i])
			continue;
		btf = btf__load_module_btf(modules[side][i], base);
		if (btf)
			places_find(p, btf, btf__type_cnt(base), i + 1);
		p->core_btf = p->module_btf;
		p->module_btf = btf || kernel_has_builtin(modules[side][i]);
		btf__free(btf);
	}
	btf__free(base);
	snprintf(path, sizeof(path), "/sys/module/%s", driver_name(side));
	p->loaded = access(path, F_OK) == 0;
	snprintf(path, sizeof(path), "/sys/module/%s", modules[side][CORE_MODULE]);
	p->core_loaded = access(path, F_OK) == 0;
	if (refused->nr)
		probes_read_traceable(p);
	return p;
fail:
	probes_free(p);
	return NULL;
}

void probes_free(struct probes *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nr; i++) {
		free(p->places[i].refused);
		free(p->places[i].compiled);
		free(p->places[i].takes);
	}
	free(p->by_name);
	free(p->places);
	free(p);
}

bool probes_module_loaded(const struct probes *p)
{
	return p->loaded;
}

bool probes_core_loaded(const struct probes *p)
{
	return p->core_loaded;
}

bool probes_module_btf(const struct probes *p)
{
	return p->module_btf;
}

static void explain(struct probes *p, const struct attach_place *at, char *why, size_t size)
{
	bool of_core = !strncmp(bpf_program__name(at->program), "core_", strlen("core_"));
	bool of_driver = !strncmp(at->name, "nvme", 4);
	const char *module = of_core ? modules[p->side][CORE_MODULE] : driver_name(p->side);

	if (!at->typed && !at->tracepoint && !p->symbols)
		symbols_read(p);
	if (of_driver && !(of_core ? p->core_loaded : p->loaded)) {
		snprintf(why, size, "module %s is not loaded", module);
	} else if (of_driver && !(of_core ? p->core_btf : p->module_btf)) {
		snprintf(why, size, "module %s has no type information", module);
	} else if (at->tracepoint && !at->typed) {
		snprintf(why, size, "no tracepoint %s%s", at->name,
			 of_driver && !of_core ? ": the driver is not patched" : "");
	} else if (at->typed && !at->fits) {
		snprintf(why, size, "%s() has other arguments here: %s", at->name,
			 at->takes ? at->takes : "unknown");
	} else if (at->typed && !at->tracepoint && at->args > TRAMPOLINE_ARGS) {
		snprintf(why, size, "%s() has %u arguments, more than the %d that a probe takes",
			 at->name, at->args, TRAMPOLINE_ARGS);
	} else if (at->refused) {
		snprintf(why, size, "the kernel refuses %s: %s", bpf_program__name(at->program),
			 at->refused);
	} else if (at->typed) {
		snprintf(why, size, "ftrace cannot trace %s()", at->name);
	} else if (at->symbol) {
		snprintf(why, size, "no type information of %s()", at->name);
	} else if (at->compiled) {
		snprintf(why, size, "the compiler made %s() into %s", at->name, at->compiled);
	} else {
		snprintf(why, size, "no function %s(): inlined, or not of this kernel", at->name);
	}
}

static bool place_works(const struct probes *p, const struct attach_place *at)
{
	if (!at->typed || !at->fits || at->refused || at->tracepoint)
		return at->typed && at->fits && !at->refused;
	return (!p->traced || at->traceable) && at->args <= TRAMPOLINE_ARGS;
}

bool probes_works(struct probes *p, const struct probe_way *w, char *why, size_t size)
{
	const struct attach_place *other = w->unless ? place_of(p, w->unless) : NULL;

	if (other && other->typed) {
		if (why)
			snprintf(why, size, "the driver of this kernel uses %s()", other->name);
		return false;
	}
	for (int i = 0; i < PROBES_WAY_PROGRAMS && w->programs[i]; i++) {
		const struct attach_place *at;

		if (w->programs[i][0] == '?')
			continue;
		at = place_of(p, w->programs[i]);
		if (at && place_works(p, at))
			continue;
		if (why && at)
			explain(p, at, why, size);
		else if (why)
			snprintf(why, size, "no program %s", w->programs[i]);
		return false;
	}
	return true;
}

const struct probe_way *probes_way(struct probes *p, enum nt_source source, unsigned int point)
{
	for (size_t i = 0; i < probe_ways_nr; i++) {
		const struct probe_way *w = &probe_ways[i];

		if (w->side == p->side && w->source == source && (w->points & 1u << point) &&
		    probes_works(p, w, NULL, 0))
			return w;
	}
	return NULL;
}

uint32_t probes_points(struct probes *p, enum nt_source source)
{
	uint32_t points = 0;

	for (unsigned int i = 0; i < NT_POINTS_MAX; i++)
		if (probes_way(p, source, i))
			points |= 1u << i;
	return points;
}

enum nt_source probes_source(struct probes *p)
{
	unsigned int nr = p->side == NT_HOST ? NT_HOST_POINTS_NR : NT_TARGET_POINTS_NR;

	return probes_points(p, NT_TRACEPOINTS) == (1u << nr) - 1 ? NT_TRACEPOINTS : NT_STOCK;
}

bool probes_has(struct probes *p, const char *program)
{
	struct attach_place *at = place_of(p, program);

	return at && place_works(p, at);
}

bool probes_add(struct probes *p, struct object *o, const char *program)
{
	struct attach_ids *ids = &o->attach_ids;
	struct attach_place *at = place_of(p, program);

	if (!probes_has(p, program))
		return false;
	if (bpf_program__autoload(at->program))
		return true;
	bpf_program__set_autoload(at->program, true);
	ids->at[ids->nr++] = (struct attach_id){
		.program = at->program,
		.id = at->id,
		.module = at->module,
	};
	if (at->module)
		ids->modules[at->module - 1] = modules[p->side][at->module - 1];
	return true;
}

void probes_select(struct probes *p, struct object *o, unsigned int sources, uint32_t points)
{
	struct attach_ids *ids = &o->attach_ids;

	memset(ids, 0, sizeof(*ids));
	for (size_t i = 0; i < p->nr; i++)
		bpf_program__set_autoload(p->places[i].program, false);
	for (unsigned int k = 0; k < NT_SOURCES * NT_POINTS_MAX; k++) {
		enum nt_source source = k / NT_POINTS_MAX;
		unsigned int point = k % NT_POINTS_MAX;
		const struct probe_way *w = NULL;

		if (sources & 1u << source && points & 1u << point)
			w = probes_way(p, source, point);
		for (int i = 0; w && i < PROBES_WAY_PROGRAMS && w->programs[i]; i++) {
			bool optional = w->programs[i][0] == '?';

			probes_add(p, o, w->programs[i] + optional);
		}
	}
}
