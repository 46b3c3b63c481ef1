// SPDX-License-Identifier: GPL-2.0-only
#include "trace/attach_ids.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"

/*
 * libbpf's handlers belong to the process, and know only what they were given when they were
 * registered. So this points to what the object that is just being loaded attaches to; NULL at all
 * other times.
 */
static struct attach_ids *current;

static int prepare(struct bpf_program *program, struct bpf_prog_load_opts *opts, long cookie)
{
	for (size_t i = 0; current && i < current->nr; i++) {
		unsigned int module = current->at[i].module;

		if (current->at[i].program != program)
			continue;
		current->loading = program;
		opts->attach_btf_id = current->at[i].id;
		opts->attach_btf_obj_fd = module ? current->fds[module - 1] : 0;
		return 0;
	}
	return -ENOENT;
}

int attach_ids_register(void)
{
	static const struct {
		const char *section;
		enum bpf_attach_type type;
	} kinds[] = {
		{"tp_btf+", BPF_TRACE_RAW_TP},
		{"fentry+", BPF_TRACE_FENTRY},
		{"fexit+", BPF_TRACE_FEXIT},
	};
	const struct libbpf_prog_handler_opts opts = {
		.sz = sizeof(opts),
		.prog_prepare_load_fn = prepare,
	};
	static size_t registered;

	for (; registered < ARRAY_SIZE(kinds); registered++) {
		int id = libbpf_register_prog_handler(kinds[registered].section,
						      BPF_PROG_TYPE_TRACING, kinds[registered].type,
						      &opts);

		if (id < 0)
			return id;
	}
	return 0;
}

/* Return: a descriptor of the kernel's type information for @module, or a negative errno. */
static int module_fd(const char *module)
{
	uint32_t id = 0;

	while (!bpf_btf_get_next_id(id, &id)) {
		char name[64] = "";
		struct bpf_btf_info info = {
			.name = (uintptr_t)name,
			.name_len = sizeof(name),
		};
		uint32_t len = sizeof(info);
		int fd = bpf_btf_get_fd_by_id(id);

		/* The module has gone since. */
		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) && info.kernel_btf &&
		    !strcmp(name, module))
			return fd;
		close(fd);
	}
	return -ENOENT;
}

int attach_ids_open(struct attach_ids *ids)
{
	ids->loading = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(ids->fds); i++)
		ids->fds[i] = -1;
	for (size_t i = 0; i < ARRAY_SIZE(ids->fds); i++) {
		if (!ids->modules[i])
			continue;
		ids->fds[i] = module_fd(ids->modules[i]);
		if (ids->fds[i] < 0) {
			int err = ids->fds[i];

			attach_ids_close(ids);
			return err;
		}
	}
	current = ids;
	return 0;
}

void attach_ids_close(struct attach_ids *ids)
{
	current = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(ids->fds); i++)
		if (ids->fds[i] >= 0)
			close(ids->fds[i]);
}
