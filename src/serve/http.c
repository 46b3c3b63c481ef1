// SPDX-License-Identifier: GPL-2.0-only
#include "serve/http.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/hash.h"
#include "core/time.h"
#include "core/timer.h"
#include "serve/listen.h"

/*
 * struct client - an open connection
 * @fd: -1: it was shut down, and the library has not noticed yet
 * @since: when it was accepted, of time_of(); 0: this place is free
 * @asked: its request has come and is being answered
 * @unread: bytes in its send buffer
 * @taken: bytes that it had read at @moved, of a TCP connection
 * @moved: when it had last read enough: HTTP_STUCK_BYTES
 */
struct client {
	int fd;
	uint64_t since;
	bool asked;
	uint32_t unread;
	uint64_t taken;
	uint64_t moved;
};

/*
 * All zeroes: no connections.
 * @looked: when clients_begin() was called last
 * @lost: nanoseconds in which no client could be served
 */
struct clients {
	struct client client[HTTP_CONNECTIONS_MAX];
	unsigned int nr;
	uint64_t looked;
	uint64_t lost;
};

/* How often idle connections are checked. */
#define LOOK_NS 1000000000ULL

/*
 * Called before clients are served, which is every LOOK_NS at least while there are any. If more
 * time has passed, the process was stopped or busy, and no client is to blame for that.
 */
static void clients_begin(struct clients *all)
{
	const uint64_t now = monotonic_ns(), passed = now - all->looked;

	if (all->looked && passed > LOOK_NS)
		all->lost += passed - LOOK_NS;
	all->looked = now;
}

/* The clock of the patience with clients: it stands still while none can be served. */
static uint64_t time_of(const struct clients *all)
{
	return monotonic_ns() - all->lost;
}

/* A connection was accepted, at @fd. The caller has made room. */
static struct client *clients_add(struct clients *all, int fd)
{
	for (size_t i = 0; i < ARRAY_SIZE(all->client); i++) {
		if (all->client[i].since)
			continue;
		all->client[i] = (struct client){.fd = fd, .since = time_of(all)};
		all->nr++;
		return &all->client[i];
	}
	return NULL;
}

/* The connection was closed. @one may be NULL. */
static void clients_remove(struct clients *all, struct client *one)
{
	if (!one)
		return;
	*one = (struct client){.since = 0};
	all->nr--;
}

static bool clients_full(const struct clients *all)
{
	return all->nr == HTTP_CONNECTIONS_MAX;
}

/* The request of a connection has come. */
static void client_asked(struct client *one)
{
	if (!one)
		return;
	one->asked = true;
	one->moved = monotonic_ns();
}

static void end(struct client *one, uint64_t *ended)
{
	shutdown(one->fd, SHUT_RDWR);
	one->fd = -1;
	(*ended)++;
}

static bool is_open(const struct client *one)
{
	return one->since && one->fd >= 0;
}

/*
 * The functions below end connections by shutdown(). The owner notices that, and closes them.
 * @ended: incremented for each connection
 */

/* Ends the connections that have taken too long; called after what they have sent was read. */
static void clients_end_overdue(struct clients *all, uint64_t *ended)
{
	const uint64_t now = time_of(all);

	for (size_t i = 0; i < ARRAY_SIZE(all->client); i++) {
		struct client *one = &all->client[i];
		uint64_t patience = one->asked ? HTTP_PATIENCE_NS : HTTP_HEAD_NS;

		if (is_open(one) && now - one->since >= patience)
			end(one, ended);
	}
}

/*
 * Return: whether the client has read enough since the last time that it had: all that the kernel
 * had for it, or HTTP_STUCK_BYTES. At a Unix socket, where the kernel does not count what is read,
 * anything is enough.
 */
static bool has_read(struct client *one)
{
	uint32_t memory[SK_MEMINFO_VARS] = {0}, before = one->unread;
	struct tcp_info tcp = {.tcpi_bytes_acked = 0};
	socklen_t size = sizeof(memory);

	if (getsockopt(one->fd, SOL_SOCKET, SO_MEMINFO, memory, &size))
		return true;
	/* TCP sockets count in the one, Unix sockets in the other. */
	one->unread = memory[SK_MEMINFO_WMEM_QUEUED] + memory[SK_MEMINFO_WMEM_ALLOC];
	size = sizeof(tcp);
	if (getsockopt(one->fd, IPPROTO_TCP, TCP_INFO, &tcp, &size))
		return one->unread != before;
	if (one->unread && tcp.tcpi_bytes_acked - one->taken < HTTP_STUCK_BYTES)
		return false;
	one->taken = tcp.tcpi_bytes_acked;
	return true;
}

/* Sees how much clients have read; called before more is sent to them. */
static void clients_look(struct clients *all)
{
	const uint64_t now = monotonic_ns();

	for (size_t i = 0; i < ARRAY_SIZE(all->client); i++) {
		struct client *one = &all->client[i];

		if (is_open(one) && one->asked && has_read(one))
			one->moved = now;
	}
}

/*
 * Return: whether @a is ended before @b: first the oldest one without a request, then the one that
 * has not read enough for longest.
 */
static bool is_before(const struct client *a, const struct client *b)
{
	if (!b || a->asked != b->asked)
		return !b || !a->asked;
	return a->asked ? a->moved < b->moved : a->since < b->since;
}

/*
 * Ends one connection, unless one was ended already; called after clients_look(). Return: whether
 * there is room when the owner has noticed
 */
static bool clients_make_room(struct clients *all, uint64_t *ended)
{
	const uint64_t now = monotonic_ns();
	struct client *first = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(all->client); i++) {
		struct client *one = &all->client[i];

		if (one->fd < 0)
			return true;
		if (is_open(one) && (!one->asked || now - one->moved >= HTTP_STUCK_NS) &&
		    is_before(one, first))
			first = one;
	}
	if (first)
		end(first, ended);
	return first;
}

/*
 * libmicrohttpd, loaded only if there is something to serve. It brings GnuTLS, which takes longer
 * to start than all the rest, and no other verb needs them.
 */

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
	X(MHD_get_connection_values)                              \
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

/* The library's file by its ABI version, which is the same since 0.9.36 (2014). */
#define LIBRARY "libmicrohttpd.so.12"

/* In a statically linked program the functions are there already. */
#define MHD_WEAK(function) extern __typeof__(function) function __attribute__((weak));
MHD_FUNCTIONS(MHD_WEAK)

static struct mhd linked;

#define MHD_LINKED(function) linked.function = (function);
#define MHD_NAME(function) {#function, offsetof(struct mhd, function)},

static const struct {
	const char *name;
	size_t offset;
} functions[] = {MHD_FUNCTIONS(MHD_NAME)};

/**
 * mhd_load() - load the library
 * @why: set to the error, valid until the next call
 *
 * Return: the functions, or NULL.
 */
static const struct mhd *mhd_load(const char **why)
{
	void *library, *function;

	MHD_FUNCTIONS(MHD_LINKED)
	if (linked.MHD_start_daemon)
		return &linked;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		*why = LIBRARY " cannot be loaded: install the package libmicrohttpd12 (Debian, "
			       "Ubuntu, openSUSE; with newer ones libmicrohttpd12t64) or "
			       "libmicrohttpd (Fedora, Arch, Alpine)";
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		function = dlsym(library, functions[i].name);
		if (!function) {
			*why = dlerror();
			return NULL;
		}
		/* POSIX lets an object pointer hold a function's address. */
		*(void **)((char *)&linked + functions[i].offset) = function;
	}
	return &linked;
}

/*
 * The library has more to do, but the rest of the run's loop comes first. So many calls of the
 * library are made before that.
 */
#define SOON_NS 1
#define TURNS_MAX 64

#define PAGE_PATH "/metrics"
/* The loop that answers is the one that traces: to be started again if it does not. */
#define HEALTH_PATH "/healthz"

/* File-wide, as the library is loaded once. */
static const struct mhd *mhd;

struct http {
	http_render_fn *render;
	void *context;
	struct MHD_Daemon *daemon;
	int epoll_fd; /* has the daemon's descriptor and the timer */
	int timer_fd;
	int daemon_fd;
	int listen_fd; /* the daemon's */
	bool starved;  /* no descriptor is left for a client; the daemon's one is not watched */
	bool loopback;
	struct clients clients;
	struct MHD_Response *pages[EXPOSITION_FORMATS]; /* NULL: has to be rendered */
	unsigned int nr_pages;				/* whose memory is not freed yet */
	struct MHD_Response *fixed[PAGE_CODES_NR];	/* refusals; 200 is for HEALTH_PATH */
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

/* Return: the page, NULL if memory ran out. */
static struct MHD_Response *page_new_of(struct http *h, enum exposition_format format)
{
	struct held *p;
	size_t size;

	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->h = h;
	if (h->render(h->context, format, &p->text, &size)) {
		free(p);
		return NULL;
	}
	h->nr_pages++;
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
			      struct MHD_Response *r)
{
	client_asked(client_of(c));
	h->scrapes.responses[code]++;
	return mhd->MHD_queue_response(c, page_code(code), r);
}

static enum MHD_Result refuse(struct http *h, struct MHD_Connection *c, enum page_code code)
{
	return answer(h, c, code, h->fixed[code]);
}

/*
 * Protects against DNS rebinding: a web page in a browser on this machine can send requests to a
 * host name of its own that now resolves to 127.0.0.1, and read the answers. A browser names that
 * host in the header Host. A client without Host is not a browser. There may be several such
 * headers, and a proxy may go by another one than the first.
 */
static enum MHD_Result check_host(void *loopback, enum MHD_ValueKind kind, const char *name,
				  const char *value)
{
	if (!strcasecmp(name, MHD_HTTP_HEADER_HOST) && value && value[0] &&
	    !listen_is_loopback_host(value))
		*(bool *)loopback = false;
	return *(bool *)loopback ? MHD_YES : MHD_NO;
}

static bool is_for_loopback(struct MHD_Connection *c)
{
	bool loopback = true;

	mhd->MHD_get_connection_values(c, MHD_HEADER_KIND, check_host, &loopback);
	return loopback;
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
	if (!strcmp(url, HEALTH_PATH))
		return answer(h, c, PAGE_CODE_200, h->fixed[PAGE_CODE_200]);
	if (strcmp(url, PAGE_PATH))
		return refuse(h, c, PAGE_CODE_404);
	format = format_of(c);
	page = h->pages[format] ?: page_new_of(h, format);
	if (!page)
		return refuse(h, c, PAGE_CODE_503);
	return answer(h, c, PAGE_CODE_200, page);
}

/* The path stays as it was sent: a decoded %00 would be the end of a string. */
static size_t leave_escaped(void *context, struct MHD_Connection *c, char *text)
{
	return strlen(text);
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

/* Return: whether a connection waits to be accepted. */
static bool is_awaited(const struct http *h)
{
	struct pollfd p = {.fd = h->listen_fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

/*
 * Sets whether http_fd() is readable when the daemon has something to do. Return: 0 or a negative
 * errno
 */
static int watch(struct http *h, int operation, bool on)
{
	struct epoll_event e = {.events = on ? EPOLLIN : 0};

	return epoll_ctl(h->epoll_fd, operation, h->daemon_fd, &e) ? -errno : 0;
}

/*
 * Return: 0 or a negative errno. @next: nanoseconds until there is more to do, 0: only when a
 * descriptor is readable
 */
static int turn(struct http *h, uint64_t *next)
{
	const unsigned int before = h->clients.nr;
	const bool full = clients_full(&h->clients);
	const bool first = !before && is_awaited(h);
	const uint64_t accepted = h->scrapes.connections;
	MHD_UNSIGNED_LONG_LONG timeout;

	/* Before more is sent: a client that has read all that there was is not slow. */
	if (full)
		clients_look(&h->clients);
	if (mhd->MHD_run(h->daemon) != MHD_YES)
		return -EIO;
	*next = h->clients.nr ? LOOK_NS : 0;
	/*
	 * If the table has become full in this turn, its new connections may have sent their
	 * requests. The next turn reads these before a connection has to go.
	 */
	if (clients_full(&h->clients) && is_awaited(h))
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
	/*
	 * accept(2) fails if the process has no descriptor left. Where there are connections, the
	 * library waits until one of them is closed.
	 */
	h->starved = first && h->scrapes.connections == accepted;
	if (h->starved)
		*next = HTTP_STUCK_NS;
	return 0;
}

int http_ready(struct http *h)
{
	const bool starved = h->starved;
	uint64_t next = SOON_NS;
	int err = 0;

	timer_fired(h->timer_fd);
	clients_begin(&h->clients);
	for (unsigned int i = 0; i < TURNS_MAX && !err && next == SOON_NS; i++)
		err = turn(h, &next);
	clients_end_overdue(&h->clients, &h->scrapes.overdue);
	timer_arm(h->timer_fd, next, false);
	if (!err && h->starved != starved)
		err = watch(h, EPOLL_CTL_MOD, !h->starved);
	return err;
}

static void let_go(struct http *h)
{
	for (size_t i = 0; i < ARRAY_SIZE(h->pages); i++) {
		if (h->pages[i])
			mhd->MHD_destroy_response(h->pages[i]);
		h->pages[i] = NULL;
	}
}

void http_stale(struct http *h)
{
	/* Each format may get one more. */
	if (h->nr_pages <= HTTP_PAGES_MAX)
		let_go(h);
}

/* Return: 0 or a negative errno. */
static int make_fixed(struct http *h)
{
	static const char *const texts[PAGE_CODES_NR] = {
		[PAGE_CODE_200] = "ok\n",
		[PAGE_CODE_404] = ("There is " PAGE_PATH " here, and nothing else.\n"),
		[PAGE_CODE_405] = "Only GET and HEAD.\n",
		[PAGE_CODE_421] =
			("Here it is localhost, or a numeric address of the loopback interface, and by "
			 "no other name (Host).\n"),
		[PAGE_CODE_503] = "There is no memory for a page: come back later.\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (!texts[i])
			continue;
		h->fixed[i] =
			headed(mhd->MHD_create_response_from_buffer(
				       strlen(texts[i]), (void *)texts[i], MHD_RESPMEM_PERSISTENT),
			       "text/plain; charset=utf-8");
		if (!h->fixed[i])
			return -ENOMEM;
	}
	mhd->MHD_add_response_header(h->fixed[PAGE_CODE_405], MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	mhd->MHD_add_response_header(h->fixed[PAGE_CODE_503], MHD_HTTP_HEADER_RETRY_AFTER, "10");
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
	err = make_fixed(h);
	if (err)
		return err;
	h->daemon = mhd->MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)HTTP_CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_CONNECTION_BYTES,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_UNESCAPE_CALLBACK,
		leave_escaped, NULL, MHD_OPTION_END);
	info = h->daemon ? mhd->MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info)
		return -EIO;
	h->daemon_fd = info->epoll_fd;
	return watch(h, EPOLL_CTL_ADD, true);
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
	let_go(h);
	for (size_t i = 0; i < ARRAY_SIZE(h->fixed); i++)
		if (h->fixed[i])
			mhd->MHD_destroy_response(h->fixed[i]);
	if (h->timer_fd >= 0)
		close(h->timer_fd);
	if (h->epoll_fd >= 0)
		close(h->epoll_fd);
	free(h);
}
