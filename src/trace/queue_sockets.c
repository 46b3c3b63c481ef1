// SPDX-License-Identifier: GPL-2.0-only
#include "trace/queue_sockets.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "trace/tracer.h"

#include "tcp.skel.h"

/* Return: 0 or a negative errno. */
static int load(struct nt_tcp **bpf)
{
	struct bpf_program *p = NULL;

	*bpf = nt_tcp__open();
	if (!*bpf)
		return errno ? -errno : -ENOMEM;
	while ((p = bpf_object__next_program((*bpf)->obj, p)))
		bpf_program__set_autoload(p, p == (*bpf)->progs.queue_sockets);
	return nt_tcp__load(*bpf);
}

/* Reads what the program writes. Return: 0 or a negative errno. */
static int read_all(int fd, struct nt_queue_socket **sockets, size_t *nr)
{
	FILE *f = fdopen(fd, "r");
	struct nt_queue_socket one, *at;
	int err = 0;

	if (!f) {
		err = -errno;
		close(fd);
		return err;
	}
	while (!err && fread(&one, sizeof(one), 1, f) == 1) {
		at = ARRAY_INSERT(*sockets, *nr, *nr);
		if (at)
			*at = one;
		else
			err = -ENOMEM;
	}
	if (!err && ferror(f))
		err = -EIO;
	fclose(f);
	return err;
}

/* Return: 0 or a negative errno. */
static int iterate(const struct nt_tcp *bpf, struct nt_queue_socket **sockets, size_t *nr)
{
	struct bpf_link *link = bpf_program__attach_iter(bpf->progs.queue_sockets, NULL);
	int fd, err;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	err = fd < 0 ? -errno : read_all(fd, sockets, nr);
	bpf_link__destroy(link);
	return err;
}

enum tracer_status queue_sockets_read(struct nt_queue_socket **sockets, size_t *nr,
				      unsigned int verbose, char *detail, size_t size)
{
	enum tracer_status status = tracer_check(detail, size);
	struct nt_tcp *bpf;
	int err;

	*sockets = NULL;
	*nr = 0;
	if (status)
		return status;
	tracer_log(verbose);
	err = load(&bpf);
	status = err ? TRACER_LOAD : TRACER_ATTACH;
	if (!err)
		err = iterate(bpf, sockets, nr);
	nt_tcp__destroy(bpf);
	if (!err)
		return TRACER_OK;
	snprintf(detail, size, status == TRACER_ATTACH ? "the iterator of TCP sockets: %s" : "%s",
		 strerror(-err));
	free(*sockets);
	*sockets = NULL;
	*nr = 0;
	return err == -ENOMEM ? TRACER_MEMORY : status;
}
