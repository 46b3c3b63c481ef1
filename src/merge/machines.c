// SPDX-License-Identifier: GPL-2.0-only
#include "merge/machines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int machines_init(struct machines *m, unsigned int nr)
{
	m->machine = calloc(nr, sizeof(*m->machine));
	m->nr = m->machine ? nr : 0;
	return m->machine ? 0 : -ENOMEM;
}

void machines_free(struct machines *m)
{
	free(m->machine);
	*m = (struct machines){0};
}

static bool is_taken(const struct machines *m, unsigned int stream, const struct machine *what)
{
	for (unsigned int i = 0; i < m->nr; i++) {
		const struct machine *other = &m->machine[i];

		if (i != stream && other->known && other->side == what->side &&
		    !strcmp(other->name, what->name))
			return true;
	}
	return false;
}

void machines_set(struct machines *m, unsigned int stream, const struct machine *what,
		  const char *label)
{
	struct machine *at = &m->machine[stream];
	size_t len = strlen(label);

	/* The end of a path says more than its beginning. */
	if (len > MACHINE_LABEL_MAX)
		label += len - MACHINE_LABEL_MAX;
	*at = *what;
	at->known = true;
	m->told++;
	if (!what->name[0])
		snprintf(at->name, sizeof(at->name), "%s", label);
	else if (is_taken(m, stream, what))
		snprintf(at->name, sizeof(at->name), "%.64s(%.*s)", what->name, MACHINE_LABEL_MAX,
			 label);
}

const struct machine *machines_get(const struct machines *m, unsigned int stream)
{
	static const struct machine none;

	return m && stream < m->nr ? &m->machine[stream] : &none;
}
