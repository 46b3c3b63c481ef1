/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the sockets of a host's queues, also of those on which no command runs: the kernel goes
 * through its TCP sockets once (bpf/tcp.bpf.c). It uses no tracer.
 */
#ifndef NTPROF_TRACE_QUEUE_SOCKETS_H
#define NTPROF_TRACE_QUEUE_SOCKETS_H

#include <stddef.h>

#include "shared/record.h"
#include "shared/tcp.h"
#include "trace/messages.h"

/**
 * queue_sockets_read() - find them; nvme-tcp is loaded
 * @sockets, @nr: filled with those of this network namespace; free() the array
 * @verbose: see &tracer_options.verbose
 * @detail: on failure filled with the text to insert into the message; @size bytes
 *
 * Return: TRACER_OK, or why not.
 */
enum tracer_status queue_sockets_read(struct nt_queue_socket **sockets, size_t *nr,
				      unsigned int verbose, char *detail, size_t size);

#endif /* NTPROF_TRACE_QUEUE_SOCKETS_H */
