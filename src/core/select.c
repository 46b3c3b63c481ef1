// SPDX-License-Identifier: GPL-2.0-only
#include "core/select.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"

typedef int parse_fn(const char *text, uint64_t *n);

/* Decimal, or hexadecimal with 0x. */
static int parse_number(const char *text, uint64_t *n)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;
	size_t length = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");

	if (!length || digits[length])
		return -EINVAL;
	errno = 0;
	*n = strtoull(digits, NULL, hex ? 16 : 10);
	return errno ? -ERANGE : 0;
}

static const char *ranges_add(struct nt_ranges *l, uint64_t from, uint64_t to)
{
	if (from > to)
		return "ends before it begins";
	if (l->nr == NT_RANGES_MAX)
		return "too many, the most are 8 numbers or ranges";
	l->range[l->nr].from = from;
	l->range[l->nr++].to = to;
	return NULL;
}

struct numbers {
	struct nt_ranges *l;
	parse_fn *parse;
	uint64_t most;
	const char *wrong;
};

/* Parses a number or a range. */
static const char *numbers_word(void *context, char *word)
{
	const struct numbers *n = context;
	char *dash = strchr(word, '-');
	uint64_t from, to;

	if (dash)
		*dash = '\0';
	if (n->parse(word, &from) || from > n->most)
		return n->wrong;
	to = from;
	if (dash && (n->parse(dash + 1, &to) || to > n->most))
		return n->wrong;
	return ranges_add(n->l, from, to);
}

static const char *numbers_parse(struct numbers n, const char *text)
{
	return words_each(text, numbers_word, &n);
}

#define CTRL_WRONG "not a controller (such as nvme0, or 1, a controller id)"

static const char *ctrl_word(void *context, char *word)
{
	struct nt_selection *s = context;
	bool named = !strncmp(word, "nvme", 4);
	uint64_t n;

	if (parse_number(named ? word + 4 : word, &n) || n > (named ? INT32_MAX : UINT16_MAX))
		return CTRL_WRONG;
	return ranges_add(named ? &s->instances : &s->cntlids, n, n);
}

const char *select_ctrl(struct nt_selection *s, const char *text)
{
	return words_each(text, ctrl_word, s);
}

static const char *nqn_parse(char nqn[NT_NQN_LEN], const char *text)
{
	size_t length = strlen(text);

	/* NVMe Base 2.0, 4.5 */
	if (!length || length >= NT_NQN_LEN)
		return "not an NQN, which has 1 to 223 bytes";
	memcpy(nqn, text, length + 1);
	return NULL;
}

const char *select_nqn(struct nt_selection *s, const char *text)
{
	return nqn_parse(s->subsysnqn, text);
}

const char *select_hostnqn(struct nt_selection *s, const char *text)
{
	return nqn_parse(s->hostnqn, text);
}

const char *select_nsid(struct nt_selection *s, const char *text)
{
	const struct numbers n = {&s->nsids, parse_number, UINT32_MAX,
				  "not namespace ids from 0 to 4294967295 (such as 1 or 1,3-5)"};

	return numbers_parse(n, text);
}

const char *select_queue(struct nt_selection *s, const char *text)
{
	const struct numbers n = {&s->queues, parse_number, UINT16_MAX,
				  "not queue ids from 0 to 65535 (such as 3 or 3,5-7)"};

	return numbers_parse(n, text);
}

const char *select_size(struct nt_selection *s, const char *text)
{
	const struct numbers n = {&s->sizes, parse_size, UINT32_MAX,
				  "not sizes below 4G (such as 4k or 4k-128k)"};

	return numbers_parse(n, text);
}

const char *select_lba(struct nt_selection *s, const char *text)
{
	const struct numbers n = {&s->lbas, parse_number, UINT64_MAX,
				  "not LBAs (such as 0-2047 or 0x1000-0x1fff)"};

	return numbers_parse(n, text);
}

#define OP_COMMA(id, name) name ", "
#define OP_WRONG "not operations: there are " NT_OPS(OP_COMMA) "with commas between several"

static const char *op_word(void *context, char *word)
{
	struct nt_selection *s = context;
	enum nt_op op = op_named(word);

	if (op == NT_OPS_NR)
		return OP_WRONG;
	s->ops |= 1u << op;
	return NULL;
}

const char *select_op(struct nt_selection *s, const char *text)
{
	return words_each(text, op_word, s);
}

const char *select_device(struct nt_selection *s, const char *sysfs, const char *path,
			  unsigned int *transports)
{
	const char *wrong;
	struct device d;

	if (s->nsids.nr || s->subsysnqn[0])
		return "says which namespace and subsystem: leave out --nsid and --nqn";
	wrong = device_find(sysfs, path, &d);
	if (wrong)
		return wrong;
	if (!d.head && (s->instances.nr || s->cntlids.nr))
		return "has one controller: leave out --ctrl";
	*transports = d.transports;
	strcpy(s->subsysnqn, d.subsysnqn);
	wrong = ranges_add(&s->nsids, d.nsid, d.nsid);
	return wrong || d.head ? wrong : ranges_add(&s->instances, d.instance, d.instance);
}

const char *select_cgroup(struct nt_selection *s, const char *path)
{
	struct cgroup_place place;
	const char *wrong = cgroup_find(path, &place);

	if (wrong)
		return wrong;
	s->cgroup = place.id;
	s->cgroup_level = place.level;
	return NULL;
}

#define PID_WRONG "not process ids from 1 on (such as 4711 or 4711,4800-4900)"

const char *select_pid(struct select *s, const char *text)
{
	const struct numbers n = {&s->pids, parse_number, UINT32_MAX, PID_WRONG};
	const char *wrong = numbers_parse(n, text);

	/* 0 is a process that is not known. */
	return wrong ?: nt_in_ranges(&s->pids, 0) ? PID_WRONG : NULL;
}

const char *select_comm(struct select *s, const char *text)
{
	size_t length = strlen(text);

	if (!length)
		return "not the name of a process";
	if (length >= sizeof(s->comm))
		return "too long: the kernel keeps 15 bytes of a process's name";
	memcpy(s->comm, text, length + 1);
	return NULL;
}

bool selects_origin(const struct select *s, const struct origin *o)
{
	if (!s->cgroup[0] && !s->pids.nr && !s->comm[0])
		return true;
	return o && (!s->cgroup[0] || cgroup_in(o->cgroup, s->cgroup)) &&
	       (!s->pids.nr || nt_in_ranges(&s->pids, o->pid)) &&
	       (!s->comm[0] || !strcmp(o->comm, s->comm));
}

/* What @said ends with where it is not whole. */
static const char cut[] = "...";

void select_said(struct select *s, const char *option, const char *arg)
{
	size_t used = strlen(s->said), room = sizeof(s->said) - used;
	const char *quote = !arg || text_is_plain(arg) ? "" : "'";
	int length;

	/* Quotes do not hold a quote. */
	if (*quote && strchr(arg, '\'')) {
		quote = "";
		arg = cut;
	}
	length = snprintf(s->said + used, room, "%s--%s%s%s%s%s", used ? " " : "", option,
			  arg ? " " : "", quote, arg ?: "", quote);
	if (length >= 0 && (size_t)length >= room)
		memcpy(s->said + sizeof(s->said) - sizeof(cut), cut, sizeof(cut));
}

bool select_told(const char *said)
{
	return !strstr(said, cut);
}

bool selects_queue(const struct nt_selection *s, enum nt_side side, const struct queue_info *q)
{
	return nt_selects_ids(s, side == NT_HOST, q->instance, q->cntlid, q->qid) &&
	       (!s->subsysnqn[0] || !strcmp(s->subsysnqn, q->subsysnqn)) &&
	       (!s->hostnqn[0] || !strcmp(s->hostnqn, q->hostnqn));
}

bool selects_record(const struct select *s, const struct nt_record *r)
{
	/* A stream may contain any value: see one_side_record(). */
	__u8 op = r->op < NT_OPS_NR ? r->op : NT_OP_OTHER;

	if (!nt_selects_command(&s->by, op, r->opcode, r->length, r->nsid, r->slba))
		return false;
	if (s->failed && !status_is_error(r->status) && !(r->flags & NT_F_CANCELLED))
		return false;
	return record_latency_ns(r) >= s->slower_ns;
}
