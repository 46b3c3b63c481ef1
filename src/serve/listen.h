/* SPDX-License-Identifier: GPL-2.0-only */
/* A listening socket, at an address as users write it. */
#ifndef NTPROF_SERVE_LISTEN_H
#define NTPROF_SERVE_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* The start of a Unix socket's address. */
#define LISTEN_UNIX "unix:"
/*
 * Errors besides those of errno(3). LISTEN_NO_SOCKET: the path leads to something that is not a
 * socket. LISTEN_OF_OTHERS: the socket, or a folder or link on its path, is another user's, or
 * others may write to a folder: TRUST_OURS.
 */
enum { LISTEN_NO_SOCKET = 4096, LISTEN_OF_OTHERS };

/**
 * listen_parse() - read an address
 * @text: "ADDRESS:PORT", with a numeric address (IPv6 in brackets), ":PORT", which is at all IPv4
 *        addresses, or "unix:PATH"
 * @address, @size: filled
 *
 * Return: NULL, or the fault, as words that follow the address.
 */
const char *listen_parse(const char *text, struct sockaddr_storage *address, socklen_t *size);

/**
 * listen_is_loopback() - whether only this machine can reach the address; false for a Unix socket
 */
bool listen_is_loopback(const struct sockaddr_storage *address);

/**
 * listen_is_loopback_host() - whether the header Host of HTTP, with or without a port, is such an
 * address or localhost
 */
bool listen_is_loopback_host(const char *host);

/**
 * listen_open() - open a socket that listens at an address
 * @backlog: see listen(2)
 *
 * A Unix socket of ours (trust_uid()) at which no process listens is replaced, and nothing else is.
 * Owner and group of the new one may connect.
 *
 * Return: the descriptor, which does not block; a negative errno, -EADDRINUSE if a process listens
 * there; or one of the errors above, negative.
 */
int listen_open(const struct sockaddr_storage *address, socklen_t size, int backlog);

/** listen_error() - an error of listen_open() in words */
const char *listen_error(int err);

/**
 * listen_text() - where @fd listens, as in a URL: "127.0.0.1:10998", "[::1]:80". For a Unix socket,
 * its path
 */
void listen_text(int fd, char *buf, size_t size);

/** listen_close() - close, and remove the file of a Unix socket if it is still this socket's */
void listen_close(int fd);

#endif /* NTPROF_SERVE_LISTEN_H */
