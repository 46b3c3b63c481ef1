/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one page of serve, by HTTP, out of the run's own loop: no thread, a bounded number of connections, of memory for each
 * and of time, one request each. Whoever asks is not trusted, and sees what has been collected: asking does nothing.
 */
#ifndef NTPROF_CLI_HTTP_H
#define NTPROF_CLI_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "cli/http_clients.h"
#include "serve/page.h"

struct http;

/*
 * Connections that are not among HTTP_CONNECTIONS_MAX wait in the kernel's queue. Behind that they have to try again after a
 * second: a short queue delays a scraper more than those that are before it in a long one.
 */
#define HTTP_BACKLOG 1024
/* For a connection's request and the head of its answer. Longer requests are refused by 431 or 414. */
#define HTTP_CONNECTION_BYTES 16384
/* What the kernel keeps for a TCP connection that is not read from; left to itself, it would be megabytes. It takes twice that. */
#define HTTP_SEND_BYTES 65536
/* Pages that clients have not read to the end, besides the newest: those that read the oldest one then are closed. */
#define HTTP_PAGES_MAX 4

/* An address as it is told: the longest path of a Unix socket, and what is around it. */
#define HTTP_ADDRESS_LEN 160

/**
 * http_render_fn - make the page
 * @text: set to what free() releases, of @size bytes
 *
 * Return: 0 or a negative errno.
 */
typedef int http_render_fn(void *context, enum exposition_format format, char **text, size_t *size);

/**
 * http_open() - listen
 * @listen: "ADDRESS:PORT", with a numeric address (one of IPv6 in brackets) and 0 for any port, or "unix:PATH". On
 *	the loopback interface, requests for other hosts than that are refused
 * @render: called with @context when the page is asked for that is not there
 * @why: filled with what is wrong, of @size bytes
 *
 * A socket that nobody listens at any more, of an earlier run, is replaced.
 * Return: NULL on failure.
 */
struct http *http_open(const char *listen, http_render_fn *render, void *context, char *why,
		       size_t size);

/** http_check() - whether that is an address: NULL, or what is wrong with it */
const char *http_check(const char *listen);

/** http_address() - where it can be read: "http://127.0.0.1:10998/metrics" or "unix:/run/x" */
const char *http_address(const struct http *h);

/** http_fd() - readable when http_ready() has something to do */
int http_fd(const struct http *h);

/** http_ready() - serve whoever can be served without waiting. Return: 0 or a negative errno */
int http_ready(struct http *h);

/** http_stale() - there is something new to show: the next one who asks gets a new page */
void http_stale(struct http *h);

/** http_scrapes() - what has become of connections */
const struct page_scrapes *http_scrapes(const struct http *h);

/** http_close() - close all connections and release; NULL is fine */
void http_close(struct http *h);

#endif /* NTPROF_CLI_HTTP_H */
