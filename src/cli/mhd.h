/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libmicrohttpd, which is loaded when something is to be served: with it comes GnuTLS, which takes longer to start than all
 * the rest, and no other verb needs either.
 */
#ifndef NTPROF_CLI_MHD_H
#define NTPROF_CLI_MHD_H

#include <microhttpd.h>

/* X(function): those that are called. */
#define MHD_FUNCTIONS(X)                                          \
	X(MHD_start_daemon)                                       \
	X(MHD_quiesce_daemon)                                     \
	X(MHD_stop_daemon)                                        \
	X(MHD_get_daemon_info)                                    \
	X(MHD_get_connection_info)                                \
	X(MHD_get_timeout)                                        \
	X(MHD_run)                                                \
	X(MHD_lookup_connection_value)                            \
	X(MHD_queue_response)                                     \
	X(MHD_create_response_from_buffer)                        \
	X(MHD_create_response_from_buffer_with_free_callback_cls) \
	X(MHD_add_response_header)                                \
	X(MHD_destroy_response)

#define MHD_MEMBER(function) __typeof__(&(function)) function;

/* The library's functions, by their names. */
struct mhd {
	MHD_FUNCTIONS(MHD_MEMBER)
};

/** mhd_load() - Return: them, or NULL with *@why told, in words that are valid until the next call */
const struct mhd *mhd_load(const char **why);

#endif /* NTPROF_CLI_MHD_H */
