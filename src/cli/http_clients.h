/* SPDX-License-Identifier: GPL-2.0-only */
/* The connections of the HTTP server: which one is overdue, and which one is ended to make room. */
#ifndef NTPROF_CLI_HTTP_CLIENTS_H
#define NTPROF_CLI_HTTP_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Connections at a time. For another one, one is ended: the oldest that has not sent its whole
 * request, or else the one that has not read for longest.
 */
#define HTTP_CONNECTIONS_MAX 32
/*
 * A connection whose request has come is ended to make room only if it has not read for this long.
 */
#define HTTP_STUCK_NS 100000000ULL
/* From accepting a connection to the last byte of the request's header. */
#define HTTP_HEAD_NS 2000000000ULL
/*
 * From accepting a connection to the last byte of the answer. Then the connection is closed in any
 * case.
 */
#define HTTP_PATIENCE_NS 10000000000ULL

/**
 * struct client - an open connection
 * @fd: -1: it was shut down, and the library has not noticed yet
 * @since: when it was accepted; 0: this place is free
 * @asked: its request has come and is being answered
 * @page: number of the rendering that it reads; 0: none
 * @unread: bytes in its send buffer
 * @moved: when @unread last changed
 */
struct client {
	int fd;
	uint64_t since;
	bool asked;
	uint64_t page;
	uint32_t unread;
	uint64_t moved;
};

/* All zeroes: no connections. */
struct clients {
	struct client client[HTTP_CONNECTIONS_MAX];
	unsigned int nr;
};

/**
 * clients_add() - a connection was accepted, at @fd. Return: NULL without room, which the caller
 * rules out
 */
struct client *clients_add(struct clients *all, int fd);

/** clients_remove() - the connection was closed; NULL is fine */
void clients_remove(struct clients *all, struct client *one);

/** clients_full() - there is no room for another connection */
bool clients_full(const struct clients *all);

/**
 * client_asked() - the request of a connection has come; NULL is fine
 * @page: number of the page that it is answered with; 0: another answer
 */
void client_asked(struct client *one, uint64_t page);

/*
 * The functions below end connections by shutdown(). The owner notices that, and closes them.
 * @ended: incremented for each connection
 */

/** clients_end_overdue() - end the connections that have taken too long */
void clients_end_overdue(struct clients *all, uint64_t *ended);

/**
 * clients_make_room() - end one connection, unless one was ended already. Return: whether there is
 * room when the owner has noticed
 */
bool clients_make_room(struct clients *all, uint64_t *ended);

/** clients_end_oldest_page() - end the connections that read the page with the lowest number */
void clients_end_oldest_page(struct clients *all, uint64_t *ended);

#endif /* NTPROF_CLI_HTTP_CLIENTS_H */
