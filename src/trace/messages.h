/* SPDX-License-Identifier: GPL-2.0-only */
/* Why tracing cannot begin, and the message for the user. */
#ifndef NTPROF_TRACE_MESSAGES_H
#define NTPROF_TRACE_MESSAGES_H

#include <stddef.h>

#include "shared/points.h"

/* Why tracing cannot begin. Each has one message. */
enum tracer_status {
	TRACER_OK = 0,
	TRACER_NO_MODULE, /* not loaded (yet, or any more): worth waiting for */
	TRACER_NO_CORE,	  /* no probes for other transports than TCP */
	TRACER_NOT_ALLOWED,
	TRACER_OLD_KERNEL,
	TRACER_NO_BTF,
	TRACER_NO_MODULE_BTF,
	TRACER_NOT_PATCHED,
	TRACER_NO_PROBES,
	TRACER_TIMESTAMPS,
	TRACER_LOAD,
	TRACER_ATTACH,
	TRACER_MEMORY,
};

/**
 * tracer_explain() - the message for a status: the fault, and what the user can do about it
 * @status: not TRACER_OK
 * @side: which side was asked for
 * @detail: from tracer_check() or tracer_open()
 * @buf: filled with one line, no newline
 * @size: of @buf
 */
void tracer_explain(enum tracer_status status, enum nt_side side, const char *detail, char *buf,
		    size_t size);

#endif /* NTPROF_TRACE_MESSAGES_H */
