// SPDX-License-Identifier: GPL-2.0-only
#include "peer/messages.h"

void messages_add(struct messages *m, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char *line;

		if (text[i] == '\n' || text[i] == '\r') {
			m->ended = true;
			continue;
		}
		if (m->ended || !m->nr) {
			m->nr++;
			m->len = 0;
		}
		m->ended = false;
		line = m->line[(m->nr - 1) % MESSAGES_LINES];
		/* A NUL byte would hide the rest of the line. */
		if (m->len < MESSAGES_LINE_LEN - 1)
			line[m->len++] = text[i] ? text[i] : ' ';
		line[m->len] = '\0';
	}
}

const char *messages_line(const struct messages *m, uint64_t i)
{
	return i < m->nr && i + MESSAGES_LINES >= m->nr ? m->line[i % MESSAGES_LINES] : NULL;
}
