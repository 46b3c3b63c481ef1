// SPDX-License-Identifier: GPL-2.0-only
#include "cli/http.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cli/http_clients.h"
#include "cli/listen.h"
#include "cli/mhd.h"
#include "cli/timer.h"
#include "core/array.h"

/* How often idle connections are checked. */
#define LOOK_NS 1000000000ULL
/*
 * The library has more to do, but the rest of the run's loop comes first. So many calls of the
 * library are made before that.
 */
#define SOON_NS 1
#define TURNS_MAX 64

#define PAGE_PATH "/metrics"

/* File-wide, as the library is loaded once. */
static const struct mhd *mhd;

struct http {
	http_render_fn *render;
	void *context;
	struct MHD_Daemon *daemon;
	int epoll_fd; /* has the daemon's descriptor and the timer */
	int timer_fd;
	int listen_fd; /* the daemon's */
	bool loopback;
	struct clients clients;
	struct MHD_Response *pages[EXPOSITION_FORMATS]; /* NULL: has to be rendered */
	unsigned int nr_pages;				/* whose memory is not freed yet */
	uint64_t rendered[EXPOSITION_FORMATS]; /* number of the rendering in @pages, from 1 */
	uint64_t renderings;
	struct MHD_Response *refusals[PAGE_CODES_NR];
	struct page_scrapes scrapes;
	char address[HTTP_ADDRESS_LEN];
};

/* The memory of a page, and the server that counts it. */
struct held {
	struct http *h;
	char *text;
};

static void release(void *context)
{
	struct held *p = context;

	p->h->nr_pages--;
	free(p->text);
	free(p);
}

/*
 * Each connection serves one request. So a client can leave only a bounded amount behind, and idle
 * clients take no memory.
 */
static struct MHD_Response *headed(struct MHD_Response *r, const char *type)
{
	if (r && mhd->MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES &&
	    mhd->MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES)
		return r;
	if (r)
		mhd->MHD_destroy_response(r);
	return NULL;
}

/* Return: the page, NULL if memory ran out or if too many pages are in use. */
static struct MHD_Response *page_new_of(struct http *h, enum exposition_format format)
{
	struct held *p;
	size_t size;

	if (h->nr_pages >= HTTP_PAGES_MAX + EXPOSITION_FORMATS)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->h = h;
	if (h->render(h->context, format, &p->text, &size)) {
		free(p);
		return NULL;
	}
	h->nr_pages++;
	h->rendered[format] = ++h->renderings;
	h->pages[format] = mhd->MHD_create_response_from_buffer_with_free_callback_cls(
		size, p->text, release, p);
	if (!h->pages[format])
		release(p);
	h->pages[format] = headed(h->pages[format], exposition_content_type(format));
	return h->pages[format];
}

/* Clients that read only the older format say so in Accept; all others get OpenMetrics. */
static enum exposition_format format_of(struct MHD_Connection *c)
{
	const char *accept =
		mhd->MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);

	if (accept && strstr(accept, "text/plain") &&
	    !strstr(accept, "application/openmetrics-text"))
		return EXPOSITION_PROMETHEUS;
	return EXPOSITION_OPENMETRICS;
}

/* Return: NULL if the connection has no place in the table, which the library's limit rules out. */
static struct client *client_of(struct MHD_Connection *c)
{
	return mhd->MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static enum MHD_Result answer(struct http *h, struct MHD_Connection *c, enum page_code code,
			      struct MHD_Response *r, uint64_t rendering)
{
	client_asked(client_of(c), rendering);
	h->scrapes.responses[code]++;
	return mhd->MHD_queue_response(c, page_code(code), r);
}

static enum MHD_Result refuse(struct http *h, struct MHD_Connection *c, enum page_code code)
{
	return answer(h, c, code, h->refusals[code], 0);
}

/*
 * Protects against DNS rebinding: a web page in a browser on this machine can send requests to a
 * host name of its own that now resolves to 127.0.0.1, and read the answers. A browser names that
 * host in the header Host. A client without Host is not a browser.
 */
static bool is_for_loopback(struct MHD_Connection *c)
{
	const char *host =
		mhd->MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);

	return !host || !host[0] || listen_is_loopback_host(host);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *data_size, void **request)
{
	struct http *h = context;
	struct MHD_Response *page;
	enum exposition_format format;

	/*
	 * The answer is sent at once, without waiting for a body. If there is one, the library
	 * calls this function again, after the answer.
	 */
	*request = h;
	if (h->loopback && !is_for_loopback(c))
		return refuse(h, c, PAGE_CODE_421);
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return refuse(h, c, PAGE_CODE_405);
	if (strcmp(url, PAGE_PATH))
		return refuse(h, c, PAGE_CODE_404);
	format = format_of(c);
	page = h->pages[format] ?: page_new_of(h, format);
	if (!page)
		return refuse(h, c, PAGE_CODE_503);
	return answer(h, c, PAGE_CODE_200, page, h->rendered[format]);
}

static void on_connection(void *context, struct MHD_Connection *c, void **client,
			  enum MHD_ConnectionNotificationCode what)
{
	struct http *h = context;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		clients_remove(&h->clients, *client);
		return;
	}
	h->scrapes.connections++;
	*client = clients_add(
		&h->clients,
		mhd->MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
}

/* Return: whether a connection waits to be accepted and the table is full. */
static bool is_awaited(const struct http *h)
{
	struct pollfd p = {.fd = h->listen_fd, .events = POLLIN};

	return clients_full(&h->clients) && poll(&p, 1, 0) > 0;
}

/*
 * Return: 0 or a negative errno. @next: nanoseconds until there is more to do, 0: only when a
 * descriptor is readable
 */
static int turn(struct http *h, uint64_t *next)
{
	const unsigned int before = h->clients.nr;
	const bool full = clients_full(&h->clients);
	MHD_UNSIGNED_LONG_LONG timeout;

	if (mhd->MHD_run(h->daemon) != MHD_YES)
		return -EIO;
	*next = h->clients.nr ? LOOK_NS : 0;
	/*
	 * If the table has become full in this turn, its new connections may have sent their
	 * requests. The next turn reads these before a connection has to go.
	 */
	if (is_awaited(h))
		*next = !full || clients_make_room(&h->clients, &h->scrapes.displaced)
				? SOON_NS
				: HTTP_STUCK_NS;
	/*
	 * The library is not notified again of descriptors that it knows to be readable. If it was
	 * at its limit of connections, it accepts again only in its next turn.
	 */
	if (h->clients.nr < before ||
	    (mhd->MHD_get_timeout(h->daemon, &timeout) == MHD_YES && !timeout))
		*next = SOON_NS;
	return 0;
}

int http_ready(struct http *h)
{
	uint64_t next = SOON_NS;
	int err = 0;

	timer_fired(h->timer_fd);
	clients_end_overdue(&h->clients, &h->scrapes.overdue);
	for (unsigned int i = 0; i < TURNS_MAX && !err && next == SOON_NS; i++)
		err = turn(h, &next);
	timer_arm(h->timer_fd, next, false);
	return err;
}

void http_stale(struct http *h)
{
	for (size_t i = 0; i < ARRAY_SIZE(h->pages); i++) {
		if (h->pages[i])
			mhd->MHD_destroy_response(h->pages[i]);
		h->pages[i] = NULL;
	}
	/* The library has to notice the shutdown before it releases the page. */
	if (h->nr_pages > HTTP_PAGES_MAX) {
		clients_end_oldest_page(&h->clients, &h->scrapes.displaced);
		mhd->MHD_run(h->daemon);
	}
}

/* Return: 0 or a negative errno. */
static int make_refusals(struct http *h)
{
	static const char *const texts[PAGE_CODES_NR] = {
		[PAGE_CODE_404] = "There is " PAGE_PATH " here, and nothing else.\n",
		[PAGE_CODE_405] = "Only GET and HEAD.\n",
		[PAGE_CODE_421] =
			"Here it is localhost, or a numeric address of the loopback interface, and by "
			"no other name (Host).\n",
		[PAGE_CODE_503] = "Too many clients are reading older pages: come back later.\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (!texts[i])
			continue;
		h->refusals[i] =
			headed(mhd->MHD_create_response_from_buffer(
				       strlen(texts[i]), (void *)texts[i], MHD_RESPMEM_PERSISTENT),
			       "text/plain; charset=utf-8");
		if (!h->refusals[i])
			return -ENOMEM;
	}
	mhd->MHD_add_response_header(h->refusals[PAGE_CODE_405], MHD_HTTP_HEADER_ALLOW,
				     "GET, HEAD");
	mhd->MHD_add_response_header(h->refusals[PAGE_CODE_503], MHD_HTTP_HEADER_RETRY_AFTER, "10");
	return 0;
}

/* Return: 0 or a negative errno. The daemon owns @fd if this succeeds. */
static int start(struct http *h, int fd)
{
	struct epoll_event e = {.events = EPOLLIN};
	const union MHD_DaemonInfo *info;
	int err;

	h->timer_fd = timer_new(0, false);
	h->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (h->timer_fd < 0 || h->epoll_fd < 0 ||
	    epoll_ctl(h->epoll_fd, EPOLL_CTL_ADD, h->timer_fd, &e))
		return -errno;
	err = make_refusals(h);
	if (err)
		return err;
	h->daemon = mhd->MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)HTTP_CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_CONNECTION_BYTES,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_END);
	info = h->daemon ? mhd->MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info)
		return -EIO;
	return epoll_ctl(h->epoll_fd, EPOLL_CTL_ADD, info->epoll_fd, &e) ? -errno : 0;
}

static void tell_address(struct http *h, int fd, bool local)
{
	char text[HTTP_ADDRESS_LEN - 32];

	listen_text(fd, text, sizeof(text));
	if (local)
		snprintf(h->address, sizeof(h->address), LISTEN_UNIX "%s", text);
	else
		snprintf(h->address, sizeof(h->address), "http://%s" PAGE_PATH, text);
}

const char *http_check(const char *listen)
{
	struct sockaddr_storage address;
	socklen_t size;

	return listen_parse(listen, &address, &size);
}

struct http *http_open(const char *listen, http_render_fn *render, void *context, char *why,
		       size_t size)
{
	struct http *h = calloc(1, sizeof(*h));
	struct sockaddr_storage address;
	const char *wrong;
	socklen_t length;
	int fd, err, bytes = HTTP_SEND_BYTES;

	wrong = listen_parse(listen, &address, &length);
	if (!wrong)
		mhd = mhd_load(&wrong);
	if (!h || wrong) {
		snprintf(why, size, "%s", wrong ?: strerror(ENOMEM));
		free(h);
		return NULL;
	}
	*h = (struct http){.render = render, .context = context, .epoll_fd = -1, .timer_fd = -1};
	fd = listen_open(&address, length, HTTP_BACKLOG);
	err = fd < 0 ? fd : 0;
	h->listen_fd = fd;
	h->loopback = listen_is_loopback(&address);
	if (!err) {
		/* Accepted connections inherit this. */
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
		tell_address(h, fd, address.ss_family == AF_UNIX);
		err = start(h, fd);
	}
	if (!err)
		return h;
	snprintf(why, size, "%s", listen_error(err));
	if (!h->daemon)
		listen_close(fd);
	http_close(h);
	return NULL;
}

const char *http_address(const struct http *h)
{
	return h->address;
}

int http_fd(const struct http *h)
{
	return h->epoll_fd;
}

const struct page_scrapes *http_scrapes(const struct http *h)
{
	return &h->scrapes;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	if (h->daemon) {
		listen_close(mhd->MHD_quiesce_daemon(h->daemon));
		mhd->MHD_stop_daemon(h->daemon);
	}
	http_stale(h);
	for (size_t i = 0; i < ARRAY_SIZE(h->refusals); i++)
		if (h->refusals[i])
			mhd->MHD_destroy_response(h->refusals[i]);
	if (h->timer_fd >= 0)
		close(h->timer_fd);
	if (h->epoll_fd >= 0)
		close(h->epoll_fd);
	free(h);
}
