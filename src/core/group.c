// SPDX-License-Identifier: GPL-2.0-only
#include "core/group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/text.h"

static const struct {
	const char *name;
	unsigned int needs;
} keys[] = {
#define GROUP_KEY_ROW(id, name, needs) [GROUP_##id] = {name, needs},
	GROUP_KEYS(GROUP_KEY_ROW)};

const char *group_key_name(enum group_key key)
{
	return key < GROUP_KEYS_NR ? keys[key].name : "unknown";
}

const char *group_key_column(const struct group_by *by, enum group_key key)
{
	return key == GROUP_SIZE && by->nr_bounds ? "size_class" : group_key_name(key);
}

enum group_key group_by_needs(const struct group_by *by, unsigned int bits)
{
	for (unsigned int i = 0; i < by->nr; i++)
		if (keys[by->key[i]].needs & bits)
			return (enum group_key)by->key[i];
	return GROUP_KEYS_NR;
}

unsigned int group_by_origins(const struct group_by *by)
{
	unsigned int needs = 0;

	for (unsigned int i = 0; i < by->nr; i++)
		needs |= keys[by->key[i]].needs;
	return needs / GROUP_OF(1);
}

/* Words for keys that are not those of their options. */
static const struct {
	const char *word;
	enum group_key key;
} other_words[] = {
	{"controller", GROUP_CTRL}, {"subsystem", GROUP_NQN}, {"operation", GROUP_OP},
	{"namespace", GROUP_NSID},  {"disk", GROUP_DEVICE},   {"process", GROUP_COMM},
	{"qid", GROUP_QUEUE},
};

static unsigned int find_key(const char *word)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(other_words); i++)
		if (!strcmp(other_words[i].word, word))
			return other_words[i].key;
	for (unsigned int i = 0; i < GROUP_KEYS_NR; i++)
		if (!strcmp(keys[i].name, word))
			return i;
	return GROUP_KEYS_NR;
}

static void all_keys(char wrong[GROUP_WRONG_LEN])
{
	size_t used =
		(size_t)snprintf(wrong, GROUP_WRONG_LEN, "keys are, with commas between several:");

	for (unsigned int i = 0; i < GROUP_KEYS_NR && used < GROUP_WRONG_LEN; i++)
		used += (size_t)snprintf(wrong + used, GROUP_WRONG_LEN - used, " %s", keys[i].name);
}

static bool key_add(struct group_by *by, const char *word, char wrong[GROUP_WRONG_LEN])
{
	unsigned int key = find_key(word);

	if (key == GROUP_KEYS_NR) {
		all_keys(wrong);
		return false;
	}
	if (group_has(by, (enum group_key)key)) {
		snprintf(wrong, GROUP_WRONG_LEN, "%s is there twice", word);
		return false;
	}
	by->key[by->nr++] = (unsigned char)key;
	return true;
}

bool group_by_parse(struct group_by *by, const char *text, char wrong[GROUP_WRONG_LEN])
{
	struct words w = {.p = text};
	char word[WORD_LEN];
	bool more, right;

	do {
		more = words_item(&w, word);
		right = key_add(by, word, wrong);
	} while (more && right);
	return right;
}

static const char *bound_add(void *context, char *word)
{
	struct group_by *by = context;
	uint64_t bytes;

	if (parse_size(word, &bytes) || bytes > UINT32_MAX)
		return "not sizes below 4G (such as 4k,64k)";
	if (by->nr_bounds && bytes <= by->bound[by->nr_bounds - 1])
		return "not in ascending order";
	if (by->nr_bounds == GROUP_BOUNDS_MAX)
		return "too many, the most are 16";
	by->bound[by->nr_bounds++] = (uint32_t)bytes;
	return NULL;
}

const char *group_bounds_parse(struct group_by *by, const char *text)
{
	by->nr_bounds = 0;
	return words_each(text, bound_add, by);
}

void group_name_size(struct group_name *name, const struct group_by *by, uint32_t bytes)
{
	unsigned int at = 0;

	name->size = bytes;
	name->size_is = GROUP_SIZE_EXACT;
	if (!by->nr_bounds)
		return;
	while (at < by->nr_bounds - 1 && bytes > by->bound[at])
		at++;
	name->size = by->bound[at];
	name->size_is = bytes > by->bound[at] ? GROUP_SIZE_ABOVE : GROUP_SIZE_UP_TO;
}

void group_name_only(struct group_name *name, const struct group_by *by)
{
	if (!group_has(by, GROUP_CTRL)) {
		memset(name->ctrl, 0, sizeof(name->ctrl));
		name->ctrl_of = 0;
	}
	if (!group_has(by, GROUP_NQN))
		memset(name->nqn, 0, sizeof(name->nqn));
	if (!group_has(by, GROUP_HOST))
		memset(name->host, 0, sizeof(name->host));
	if (!group_has(by, GROUP_QUEUE)) {
		name->queue = 0;
		name->shared = false;
	}
	if (!group_has(by, GROUP_OP))
		name->op = NT_OPS_NR;
	if (!group_has(by, GROUP_SIZE)) {
		name->size = 0;
		name->size_is = GROUP_SIZE_EXACT;
	}
	if (!group_has(by, GROUP_OPCODE))
		name->opcode = 0;
	if (!group_has(by, GROUP_NSID))
		name->nsid = 0;
	if (!group_has(by, GROUP_STATUS)) {
		name->status = 0;
		name->cancelled = false;
	}
	if (!group_has(by, GROUP_SOURCE))
		memset(name->source, 0, sizeof(name->source));
	if (!group_has(by, GROUP_DEVICE))
		memset(name->device, 0, sizeof(name->device));
	if (!group_has(by, GROUP_PATH))
		memset(name->path, 0, sizeof(name->path));
	if (!group_has(by, GROUP_CGROUP))
		memset(name->cgroup, 0, sizeof(name->cgroup));
	if (!group_has(by, GROUP_CPU))
		name->cpu = 0;
	if (!group_has(by, GROUP_PID))
		name->pid = 0;
	if (!group_has(by, GROUP_COMM))
		memset(name->comm, 0, sizeof(name->comm));
	if (!group_has(by, GROUP_CONTAINER))
		memset(name->container, 0, sizeof(name->container));
}

static int order_of(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* strverscmp() takes long for names that are equal, as most are. */
static int version_order(const char *a, const char *b)
{
	return strcmp(a, b) ? strverscmp(a, b) : 0;
}

static int key_order(const struct group_name *a, const struct group_name *b, enum group_key key)
{
	int c;

	switch (key) {
	case GROUP_CTRL:
		c = version_order(a->ctrl, b->ctrl);
		return c ? c : order_of(a->ctrl_of, b->ctrl_of);
	case GROUP_NQN:
		return strcmp(a->nqn, b->nqn);
	case GROUP_HOST:
		return strcmp(a->host, b->host);
	case GROUP_QUEUE:
		c = (int)a->shared - (int)b->shared;
		return c ? c : order_of(a->queue, b->queue);
	case GROUP_OP:
		return order_of(a->op, b->op);
	case GROUP_SIZE:
		c = order_of(a->size, b->size);
		return c ? c : order_of(a->size_is, b->size_is);
	case GROUP_OPCODE:
		return order_of(a->opcode, b->opcode);
	case GROUP_NSID:
		return order_of(a->nsid, b->nsid);
	case GROUP_STATUS:
		c = (int)a->cancelled - (int)b->cancelled;
		return c ? c : order_of(a->status, b->status);
	case GROUP_SOURCE:
		return strcmp(a->source, b->source);
	case GROUP_DEVICE:
		return version_order(a->device, b->device);
	case GROUP_PATH:
		return strcmp(a->path, b->path);
	case GROUP_CGROUP:
		return strcmp(a->cgroup, b->cgroup);
	case GROUP_CPU:
		return order_of(a->cpu, b->cpu);
	case GROUP_PID:
		return order_of(a->pid, b->pid);
	case GROUP_COMM:
		return strcmp(a->comm, b->comm);
	case GROUP_CONTAINER:
		return strcmp(a->container, b->container);
	default:
		return 0;
	}
}

int group_name_order(const struct group_name *a, const struct group_name *b,
		     const struct group_by *by)
{
	int c = 0;

	for (unsigned int i = 0; i < by->nr && !c; i++)
		c = key_order(a, b, (enum group_key)by->key[i]);
	return c;
}

void *group_row(struct group_rows *g, const struct group_name *name, size_t size)
{
	struct group_name *row;
	size_t at;

	if (g->last && !group_name_order(name, g->last, &g->by))
		return g->last;
	at = BISECT(i, 0, g->nr, group_name_order(name, g->row[i], &g->by) > 0);
	if (at < g->nr && !group_name_order(name, g->row[at], &g->by))
		return g->last = g->row[at];
	if (g->most && g->nr == g->most) {
		errno = ENOSPC;
		return NULL;
	}
	row = ARRAY_MAKE(g->row, g->nr, at, size);
	if (!row)
		return NULL;
	memcpy(row, name, sizeof(*row));
	group_name_only(row, &g->by);
	return g->last = row;
}

void group_rows_free(struct group_rows *g)
{
	for (size_t i = 0; i < g->nr; i++)
		free(g->row[i]);
	free(g->row);
}

char *group_name_short(char buf[GROUP_SHORT_LEN], const char *nqn, unsigned int twin)
{
	size_t length = strlen(nqn);
	const char *end = length > GROUP_TAIL_LEN ? nqn + length - GROUP_TAIL_LEN : nqn;
	char tail[GROUP_TAIL_LEN + 3 + 1];

	/* What is cut is cut between two parts of the name. */
	if (end != nqn && end[strcspn(end, ":.")])
		end += strcspn(end, ":.");
	snprintf(tail, sizeof(tail), "%s%.*s", end != nqn ? "..." : "", GROUP_TAIL_LEN, end);
	text_copy(buf, GROUP_SHORT_LEN, length ? tail : "-", TEXT_MARK);
	if (twin)
		snprintf(buf + strlen(buf), GROUP_SHORT_LEN - strlen(buf), "#%u", twin % 100000);
	return buf;
}

/*
 * looks_alike() says whether a table shows the same text for two names, key_order() whether the
 * names are equal, and twin_of() has the number that tells different ones apart.
 */
static bool looks_alike(const struct group_name *a, const struct group_name *b, enum group_key key)
{
	char x[GROUP_SHORT_LEN], y[GROUP_SHORT_LEN];

	if (key == GROUP_CTRL)
		return !strcmp(a->ctrl, b->ctrl);
	group_name_short(x, key == GROUP_NQN ? a->nqn : a->host, 0);
	group_name_short(y, key == GROUP_NQN ? b->nqn : b->host, 0);
	return !strcmp(x, y);
}

static unsigned int *twin_of(struct group_name *name, enum group_key key)
{
	if (key == GROUP_CTRL)
		return &name->ctrl_twin;
	return key == GROUP_NQN ? &name->nqn_twin : &name->host_twin;
}

/* Sets the number of name @at. All names before it have theirs. */
static void tell_apart(struct group_name *(*get)(void *context, size_t i), void *context, size_t at,
		       enum group_key key)
{
	struct group_name *name = get(context, at);
	unsigned int *twin = twin_of(name, key);

	*twin = 0;
	for (size_t i = 0; i < at; i++) {
		if (key_order(get(context, i), name, key))
			continue;
		*twin = *twin_of(get(context, i), key);
		return;
	}
	for (size_t i = 0; i < at; i++) {
		unsigned int *other = twin_of(get(context, i), key);

		if (!looks_alike(get(context, i), name, key))
			continue;
		if (!*other)
			*other = 1;
		if (*twin <= *other)
			*twin = *other + 1;
	}
}

void group_names_tell_apart(struct group_name *(*get)(void *context, size_t i), void *context,
			    size_t nr)
{
	static const enum group_key of[] = {GROUP_CTRL, GROUP_NQN, GROUP_HOST};

	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < ARRAY_SIZE(of); k++)
			tell_apart(get, context, i, of[k]);
	for (size_t i = 0; i < nr; i++) {
		struct group_name *name = get(context, i);
		size_t used = strlen(name->ctrl);

		if (name->ctrl_twin)
			snprintf(name->ctrl + used, sizeof(name->ctrl) - used, "#%u",
				 name->ctrl_twin);
	}
}
