/* SPDX-License-Identifier: GPL-2.0-only */
/* The last lines that a peer's command wrote on its standard error. */
#ifndef NTPROF_PEER_MESSAGES_H
#define NTPROF_PEER_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ssh's warning about a changed host key has 13 lines. */
#define MESSAGES_LINES 16
/* Size of a line with its NUL; the rest of a longer line is dropped. */
#define MESSAGES_LINE_LEN 256

/**
 * struct messages - lines that are not empty
 * @nr: number of lines so far; the last MESSAGES_LINES are kept
 * @len: length of the last line
 * @ended: the last line is complete
 */
struct messages {
	char line[MESSAGES_LINES][MESSAGES_LINE_LEN];
	uint64_t nr;
	size_t len;
	bool ended;
};

/** messages_add() - add @size bytes; a carriage return, as in a progress line, begins a new line */
void messages_add(struct messages *m, const char *text, size_t size);

/** messages_line() - line @i, counted from 0; NULL if there is no such line yet, or no longer */
const char *messages_line(const struct messages *m, uint64_t i);

#endif /* NTPROF_PEER_MESSAGES_H */
