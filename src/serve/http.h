/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The HTTP server with the one page of serve, in the run's own loop: no threads; the number of
 * connections, the memory for each and the time are bounded; one request a connection. Clients are
 * not trusted. A request changes nothing, it only shows what was collected.
 */
#ifndef NTPROF_SERVE_HTTP_H
#define NTPROF_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "serve/page.h"

/*
 * Connections at a time. For another one, one is ended: the oldest that has not sent its whole
 * request, or else the one that reads too slowly for longest.
 */
#define HTTP_CONNECTIONS_MAX 32
/*
 * A connection whose request has come is ended to make room only if, for this long, it has read
 * neither so many bytes nor all that there was to read. All of these bytes fit into the send buffer
 * (HTTP_SEND_BYTES).
 */
#define HTTP_STUCK_NS 100000000ULL
#define HTTP_STUCK_BYTES 65536
/*
 * From accepting a connection to the last byte of the request's header. Time in which the process
 * does not run, or does other things for over a second, does not count, neither here nor below.
 */
#define HTTP_HEAD_NS 2000000000ULL
/*
 * From accepting a connection to the last byte of the answer. Then the connection is closed in any
 * case.
 */
#define HTTP_PATIENCE_NS 10000000000ULL

struct http;

/*
 * Connections beyond HTTP_CONNECTIONS_MAX wait in the kernel's queue. If the queue is full, the
 * client tries again after a second. With a short queue, a scraper would lose more time by that
 * than it waits in a long one.
 */
#define HTTP_BACKLOG 1024
/*
 * For the request and the header of the answer. A longer request gets status 431 or 414. The
 * library takes from this for each argument as well, and may close the connection where that is too
 * much.
 */
#define HTTP_CONNECTION_BYTES 16384
/*
 * The send buffer of a TCP connection, for a client that does not read; the kernel takes twice this
 * value. Without a limit it would grow to megabytes.
 */
#define HTTP_SEND_BYTES 65536
/*
 * If more pages are in memory, as clients still read them, no newer ones are made: requests get the
 * newest that there is. Each client is done, or is disconnected, after HTTP_PATIENCE_NS.
 */
#define HTTP_PAGES_MAX 4

/* Room for an address in a message: the longest path of a Unix socket, and the words around it. */
#define HTTP_ADDRESS_LEN 160

/**
 * http_render_fn - make the page
 * @text: set to memory of @size bytes, to be released with free()
 *
 * Return: 0 or a negative errno.
 */
typedef int http_render_fn(void *context, enum exposition_format format, char **text, size_t *size);

/**
 * http_open() - listen
 * @listen: "ADDRESS:PORT", with a numeric address (IPv6 in brackets) and 0 for any port, or
 *          "unix:PATH". On the loopback interface, requests for hosts other than that are refused.
 * @render: called with @context to make a page that is not there yet
 * @why: filled with the error, of @size bytes
 *
 * A Unix socket that an earlier run left behind is replaced.
 *
 * Return: NULL on failure.
 */
struct http *http_open(const char *listen, http_render_fn *render, void *context, char *why,
		       size_t size);

/** http_check() - check an address; Return: NULL, or what is wrong with it */
const char *http_check(const char *listen);

/**
 * http_address() - where clients find the page: "http://127.0.0.1:10998/metrics" or "unix:/run/x"
 */
const char *http_address(const struct http *h);

/** http_fd() - readable when http_ready() has something to do */
int http_fd(const struct http *h);

/**
 * http_ready() - serve clients as far as possible without blocking; Return: 0 or a negative errno
 */
int http_ready(struct http *h);

/** http_stale() - there are new figures: the next request gets a new page, see HTTP_PAGES_MAX */
void http_stale(struct http *h);

/** http_scrapes() - counts of connections and answers */
const struct page_scrapes *http_scrapes(const struct http *h);

/** http_close() - close all connections and release; NULL is fine */
void http_close(struct http *h);

#endif /* NTPROF_SERVE_HTTP_H */
