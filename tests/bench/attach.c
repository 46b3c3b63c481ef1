// SPDX-License-Identifier: GPL-2.0-only
/*
 * attach - what the benchmark attaches in place of the tracer, until it is killed:
 *
 *   attach like                    for each BPF program that is attached now, a program that does
 *                                  nothing, at the same place
 *   attach OBJECT [PROGRAM...]     these programs of a BPF object, or all
 *   attach stamps                  no program: it asks the kernel to note when packets arrive
 *
 * Prints "attached" when it is done.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* More than both sides have. */
#define PLACES_MAX 128

/* Where a program is attached: to a BTF tracepoint, or to the entry or the return of a function. */
struct place {
	enum bpf_attach_type type;
	__u32 btf_id;	  /* of the tracepoint or function */
	__u32 btf_object; /* of the kernel or a module */
	char name[BPF_OBJ_NAME_LEN];
};

static int complain(const char *what, const char *name)
{
	fprintf(stderr, "attach: cannot %s %s: %s\n", what, name, strerror(errno));
	return 1;
}

/* Return: 1 if the link is of a program that can be imitated, 0 if not, or -1 with errno set. */
static int place_of_link(__u32 id, struct place *p)
{
	struct bpf_link_info link = {};
	struct bpf_prog_info prog = {};
	__u32 link_size = sizeof(link), prog_size = sizeof(prog);
	int link_fd = bpf_link_get_fd_by_id(id), prog_fd = -1, ret = -1;

	if (link_fd < 0)
		return -1;
	if (bpf_obj_get_info_by_fd(link_fd, &link, &link_size))
		goto out;
	prog_fd = bpf_prog_get_fd_by_id(link.prog_id);
	if (prog_fd < 0 || bpf_obj_get_info_by_fd(prog_fd, &prog, &prog_size))
		goto out;
	ret = prog.type == BPF_PROG_TYPE_TRACING;
	p->type = link.type == BPF_LINK_TYPE_TRACING ? link.tracing.attach_type : BPF_TRACE_RAW_TP;
	p->btf_id = prog.attach_btf_id;
	p->btf_object = prog.attach_btf_obj_id;
	snprintf(p->name, sizeof(p->name), "%s", prog.name);
out:
	if (prog_fd >= 0)
		close(prog_fd);
	close(link_fd);
	return ret;
}

static int attach_empty(const struct place *p)
{
	static const struct bpf_insn return_0[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = p->type,
		    .attach_btf_id = p->btf_id);
	int fd, btf_fd = bpf_btf_get_fd_by_id(p->btf_object);

	if (btf_fd < 0)
		return complain("find the BTF of", p->name);
	o.attach_btf_obj_fd = btf_fd;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "empty", "GPL", return_0,
			   sizeof(return_0) / sizeof(*return_0), &o);
	close(btf_fd);
	if (fd < 0)
		return complain("load what is like", p->name);
	return bpf_raw_tracepoint_open(NULL, fd) < 0 ? complain("attach what is like", p->name) : 0;
}

/* All places are found before the first program of ours is attached. */
static int attach_like(void)
{
	struct place places[PLACES_MAX];
	unsigned int n = 0;
	__u32 id = 0;

	while (n < PLACES_MAX && !bpf_link_get_next_id(id, &id)) {
		int ret = place_of_link(id, &places[n]);

		if (ret < 0)
			return complain("look at", "a link");
		n += (unsigned int)ret;
	}
	if (!n) {
		fprintf(stderr, "attach: no program is attached\n");
		return 1;
	}
	for (unsigned int i = 0; i < n; i++)
		if (attach_empty(&places[i]))
			return 1;
	return 0;
}

static bool is_wanted(const char *name, char **programs)
{
	bool wanted = !*programs;

	for (; *programs; programs++)
		wanted |= !strcmp(*programs, name);
	return wanted;
}

/* @programs: names, up to a NULL; no names: all programs */
static int attach_object(const char *path, char **programs)
{
	struct bpf_object *o = bpf_object__open(path);
	struct bpf_program *p;

	if (!o)
		return complain("open", path);
	bpf_object__for_each_program (p, o)
		bpf_program__set_autoload(p, is_wanted(bpf_program__name(p), programs));
	if (bpf_object__load(o))
		return complain("load", path);
	bpf_object__for_each_program (p, o)
		if (bpf_program__autoload(p) && !bpf_program__attach(p))
			return complain("attach", bpf_program__name(p));
	return 0;
}

static int ask_for_stamps(void)
{
	int on = 1, fd = socket(AF_INET, SOCK_DGRAM, 0);

	return fd < 0 || setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on))
		       ? complain("ask for", "stamps")
		       : 0;
}

int main(int argc, char **argv)
{
	int status;

	if (argc < 2) {
		fprintf(stderr, "usage: attach like | stamps | OBJECT [PROGRAM...]\n");
		return 2;
	}
	/* A background job of a shell ignores this signal. */
	signal(SIGINT, SIG_DFL);
	if (!strcmp(argv[1], "like"))
		status = attach_like();
	else if (!strcmp(argv[1], "stamps"))
		status = ask_for_stamps();
	else
		status = attach_object(argv[1], argv + 2);
	if (status)
		return status;
	printf("attached\n");
	fflush(stdout);
	pause();
	return 0;
}
