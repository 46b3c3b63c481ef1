/* SPDX-License-Identifier: GPL-2.0-only */
/* The last lines that a peer's command wrote on its standard error. */
#ifndef NTPROF_PEER_MESSAGES_H
#define NTPROF_PEER_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What ssh says of a host key that has changed has 13 lines. */
#define MESSAGES_LINES 16
/* With the 0 at its end; the rest of a longer line is passed over. */
#define MESSAGES_LINE_LEN 256

/**
 * struct messages - lines that are not empty
 * @nr: lines so far, of which the last MESSAGES_LINES are there; the last one may go on
 * @ended: the last one does not
 */
struct messages {
	char line[MESSAGES_LINES][MESSAGES_LINE_LEN];
	uint64_t nr;
	size_t len;
	bool ended;
};

/** messages_add() - @size bytes came; a progress line that is redrawn begins with a return, and is a new line */
void messages_add(struct messages *m, const char *text, size_t size);

/** messages_line() - line @i, counted from 0; NULL where it is not there, or no longer */
const char *messages_line(const struct messages *m, uint64_t i);

#endif /* NTPROF_PEER_MESSAGES_H */
