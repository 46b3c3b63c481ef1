// SPDX-License-Identifier: GPL-2.0-only
#include "trace/errors.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/connections.h"
#include "trace/private.h"

/*
 * The last count of an entry of the map, which has NT_ERRORS at most.
 * @over: the connection is gone, and nothing was counted in the last interval
 */
struct error_seen {
	struct nt_error error;
	uint64_t count;
	bool over;
};

int trace_errors_init(struct tracer *t)
{
	t->errors_seen = calloc(NT_ERRORS, sizeof(*t->errors_seen));
	return t->errors_seen ? 0 : -ENOMEM;
}

void trace_errors_free(struct tracer *t)
{
	free(t->errors_seen);
}

/* Return: the last count of @error; NULL if there is no room, which cannot happen */
static struct error_seen *seen_of(struct tracer *t, const struct nt_error *error)
{
	struct error_seen *seen;

	for (unsigned int i = 0; i < t->nr_errors; i++)
		if (!memcmp(&t->errors_seen[i].error, error, sizeof(*error)))
			return &t->errors_seen[i];
	if (t->nr_errors == NT_ERRORS)
		return NULL;
	seen = &t->errors_seen[t->nr_errors++];
	*seen = (struct error_seen){.error = *error};
	return seen;
}

static void take_away(struct tracer *t, struct error_seen *seen)
{
	bpf_map_delete_elem(t->errors_fd, &seen->error);
	*seen = t->errors_seen[--t->nr_errors];
}

static int take(struct tracer *t, struct stats *s, const struct nt_error *error)
{
	const struct queue_ident *id;
	struct error_seen *seen;
	uint64_t now, more;
	int err;

	if (error->slot >= t->nr_slots || bpf_map_lookup_elem(t->errors_fd, error, &now))
		return 0;
	seen = seen_of(t, error);
	if (!seen)
		return 0;
	more = now - seen->count;
	seen->over = !more && connections_gone(t, error->slot, error->who);
	if (!more)
		return 0;
	id = connections_identify(t, error->slot, error->who);
	if (!id && !connections_unknown(t, error->slot, error->who))
		return 0;
	err = errors_add_of(&s->errors, id ? id->controller : "", id ? id->peer : "",
			    id && s->by_other ? id->other : "", id ? id->qid : 0,
			    error->op % NT_OPS_NR, error->status, more);
	if (!err)
		seen->count = now;
	return err;
}

int trace_errors_collect(struct tracer *t, struct stats *s)
{
	struct nt_error error, *before = NULL;

	while (!bpf_map_get_next_key(t->errors_fd, before, &error)) {
		int err = take(t, s, &error);

		if (err)
			return err;
		before = &error;
	}
	/* Only now, because the next key cannot be found from one that was deleted. */
	for (unsigned int i = t->nr_errors; i-- > 0;)
		if (t->errors_seen[i].over)
			take_away(t, &t->errors_seen[i]);
	return 0;
}
