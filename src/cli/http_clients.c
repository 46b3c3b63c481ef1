// SPDX-License-Identifier: GPL-2.0-only
#include "cli/http_clients.h"

#include <linux/sock_diag.h>
#include <stddef.h>
#include <sys/socket.h>

#include "core/array.h"
#include "core/time.h"

struct client *clients_add(struct clients *all, int fd)
{
	for (size_t i = 0; i < ARRAY_SIZE(all->client); i++) {
		if (all->client[i].since)
			continue;
		all->client[i] = (struct client){.fd = fd, .since = monotonic_ns()};
		all->nr++;
		return &all->client[i];
	}
	return NULL;
}

void clients_remove(struct clients *all, struct client *one)
{
	if (!one)
		return;
	*one = (struct client){.since = 0};
	all->nr--;
}

bool clients_full(const struct clients *all)
{
	return all->nr == HTTP_CONNECTIONS_MAX;
}

void client_asked(struct client *one, uint64_t page)
{
	if (!one)
		return;
	one->asked = true;
	one->page = page;
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

void clients_end_overdue(struct clients *all, uint64_t *ended)
{
	const uint64_t now = monotonic_ns();

	for (size_t i = 0; i < ARRAY_SIZE(all->client); i++) {
		struct client *one = &all->client[i];
		uint64_t patience = one->asked ? HTTP_PATIENCE_NS : HTTP_HEAD_NS;

		if (is_open(one) && now - one->since >= patience)
			end(one, ended);
	}
}

/* Return: whether the client has not read for a while, although the kernel has data for it. */
static bool does_not_read(struct client *one, uint64_t now)
{
	uint32_t memory[SK_MEMINFO_VARS] = {0}, unread;
	socklen_t size = sizeof(memory);

	if (getsockopt(one->fd, SOL_SOCKET, SO_MEMINFO, memory, &size))
		return false;
	/* TCP sockets count in the one, Unix sockets in the other. */
	unread = memory[SK_MEMINFO_WMEM_QUEUED] + memory[SK_MEMINFO_WMEM_ALLOC];
	if (unread != one->unread) {
		one->unread = unread;
		one->moved = now;
	}
	return now - one->moved >= HTTP_STUCK_NS;
}

/*
 * Return: whether @a is ended before @b: first the oldest one without a request, then the one that
 * has not read for longest.
 */
static bool is_before(const struct client *a, const struct client *b)
{
	if (!b || a->asked != b->asked)
		return !b || !a->asked;
	return a->asked ? a->moved < b->moved : a->since < b->since;
}

bool clients_make_room(struct clients *all, uint64_t *ended)
{
	const uint64_t now = monotonic_ns();
	struct client *first = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(all->client); i++) {
		struct client *one = &all->client[i];

		if (one->fd < 0)
			return true;
		if (is_open(one) && (!one->asked || does_not_read(one, now)) &&
		    is_before(one, first))
			first = one;
	}
	if (first)
		end(first, ended);
	return first;
}

void clients_end_oldest_page(struct clients *all, uint64_t *ended)
{
	uint64_t oldest = UINT64_MAX;

	for (size_t i = 0; i < ARRAY_SIZE(all->client); i++) {
		const struct client *one = &all->client[i];

		if (is_open(one) && one->page && one->page < oldest)
			oldest = one->page;
	}
	for (size_t i = 0; i < ARRAY_SIZE(all->client); i++)
		if (is_open(&all->client[i]) && all->client[i].page == oldest)
			end(&all->client[i], ended);
}
