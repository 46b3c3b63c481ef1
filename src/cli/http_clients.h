/* SPDX-License-Identifier: GPL-2.0-only */
/* The connections of the HTTP server: which of them has had its time, and which gives way when there is no place. */
#ifndef NTPROF_CLI_HTTP_CLIENTS_H
#define NTPROF_CLI_HTTP_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * At a time. When another one comes, one gives way: the oldest that has not sent all of its request, or else the one that has
 * read nothing for longest.
 */
#define HTTP_CONNECTIONS_MAX 32
/* One that has asked does not give way before it has read nothing for so long. */
#define HTTP_STUCK_NS 100000000ULL
/* From accepting a connection to the last byte of its request's head. */
#define HTTP_HEAD_NS 2000000000ULL
/* From accepting a connection to the last byte of its answer; then it is closed, whatever its client is about. */
#define HTTP_PATIENCE_NS 10000000000ULL

/**
 * struct client - a connection that is open
 * @fd: -1: it has been ended, and the library has not noticed yet
 * @since: when it was accepted; 0: there is none
 * @asked: its request has come and is answered
 * @page: which rendering of the page it reads; 0: none
 * @unread: bytes that the kernel has for it, as of @moved, when that was another number the last time
 */
struct client {
	int fd;
	uint64_t since;
	bool asked;
	uint64_t page;
	uint32_t unread;
	uint64_t moved;
};

/* All zeroes: there are none. */
struct clients {
	struct client client[HTTP_CONNECTIONS_MAX];
	unsigned int nr;
};

/** clients_add() - one has been accepted, at @fd. Return: NULL if there is no place, which the caller rules out */
struct client *clients_add(struct clients *all, int fd);

/** clients_remove() - it is closed; NULL is fine */
void clients_remove(struct clients *all, struct client *one);

/** clients_full() - there is no place for another one */
bool clients_full(const struct clients *all);

/** client_asked() - its request has come, and is answered with the page of number @page, or 0: another one; NULL is fine */
void client_asked(struct client *one, uint64_t page);

/*
 * Those that end a connection shut it down, which its owner sees and then closes it.
 * @ended: grows by each
 */

/** clients_end_overdue() - end those whose time is over */
void clients_end_overdue(struct clients *all, uint64_t *ended);

/** clients_make_room() - end one if none has been ended. Return: whether a place becomes free when its owner sees it */
bool clients_make_room(struct clients *all, uint64_t *ended);

/** clients_end_oldest_page() - end those that read the page of the lowest number */
void clients_end_oldest_page(struct clients *all, uint64_t *ended);

#endif /* NTPROF_CLI_HTTP_CLIENTS_H */
