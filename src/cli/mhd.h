/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libmicrohttpd, loaded only if there is something to serve. It brings GnuTLS, which takes longer
 * to start than all the rest, and no other verb needs them.
 */
#ifndef NTPROF_CLI_MHD_H
#define NTPROF_CLI_MHD_H

#include <microhttpd.h>

/* X(function): the functions that are called. */
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

/**
 * mhd_load() - load the library
 * @why: set to the error, valid until the next call
 *
 * Return: the functions, or NULL.
 */
const struct mhd *mhd_load(const char **why);

#endif /* NTPROF_CLI_MHD_H */
