/* SPDX-License-Identifier: GPL-2.0-only */
/* The transports of a host's controllers: sets of bits 1 << enum nt_transport. */
#ifndef NTPROF_CORE_TRANSPORT_H
#define NTPROF_CORE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>

/* A message about what transports_parse() does not take. */
#define TRANSPORTS_WRONG "--transport %s: not a list of tcp, pcie, rdma, fc, loop and other"
/* Room for the names of all transports. */
#define TRANSPORTS_TEXT_LEN 64

/** transports_there() - those of all controllers of this machine; @sysfs: as for device_find() */
unsigned int transports_there(const char *sysfs);

/**
 * transports_default() - what is traced where nothing is said: TCP, or of a machine that has only
 * controllers of other transports, these
 * @tcp: it has the driver of NVMe/TCP
 */
unsigned int transports_default(const char *sysfs, bool tcp);

/** transports_parse() - a list such as "tcp,pcie"; Return: a set; 0 if a word is no transport */
unsigned int transports_parse(const char *text);

/** transports_text() - the names in a set, as transports_parse() takes them; Return: @buf */
const char *transports_text(unsigned int transports, char *buf, size_t size);

#endif /* NTPROF_CORE_TRANSPORT_H */
