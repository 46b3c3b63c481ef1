/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What commands are put into groups by: the keys of --by, and the name of a group, which is what its commands have in
 * common.
 */
#ifndef NTPROF_CORE_GROUP_H
#define NTPROF_CORE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device.h"
#include "core/origin.h"
#include "core/queue.h"
#include "core/record.h"

/* Who is asked for groups. */
#define GROUP_LIVE 1u
#define GROUP_REPORT 2u

/* What a live view needs for a key: nothing but its histograms, of queues and operations, or each command's record... */
#define GROUP_OF_RECORD 1u
/* ...which only a host's tell; in a recording as well... */
#define GROUP_OF_HOST 2u
/* ...and only where their origins are asked for, see core/origin.h. */
#define GROUP_OF_ORIGIN 4u

/* X(identifier, name, what it needs: bits). */
#define GROUP_KEYS(X)                                                          \
	X(CTRL, "ctrl", 0)                                                     \
	X(NQN, "nqn", 0)                                                       \
	X(HOST, "host", 0)                                                     \
	X(QUEUE, "queue", 0)                                                   \
	X(OP, "op", 0)                                                         \
	X(SIZE, "size", GROUP_OF_RECORD)                                       \
	X(NSID, "nsid", GROUP_OF_RECORD)                                       \
	X(STATUS, "status", GROUP_OF_RECORD)                                   \
	X(SOURCE, "source", 0)                                                 \
	X(DEVICE, "device", GROUP_OF_RECORD)                                   \
	X(PATH, "path", GROUP_OF_RECORD | GROUP_OF_HOST)                       \
	X(CGROUP, "cgroup", GROUP_OF_RECORD | GROUP_OF_HOST | GROUP_OF_ORIGIN) \
	X(CPU, "cpu", GROUP_OF_RECORD | GROUP_OF_HOST | GROUP_OF_ORIGIN)

#define GROUP_KEY_ENUM(id, name, who) GROUP_##id,
enum group_key { GROUP_KEYS(GROUP_KEY_ENUM) GROUP_KEYS_NR };

/** struct group_by - @nr keys, in the order in which they are shown; 0: all commands are one group */
struct group_by {
	unsigned int nr;
	unsigned char key[GROUP_KEYS_NR];
};

/* Room for what is wrong with keys. */
#define GROUP_WRONG_LEN 160

/** group_key_name() - static string */
const char *group_key_name(enum group_key key);

/** group_has() - whether a key is one of them */
bool group_has(const struct group_by *by, enum group_key key);

/** group_by_needs() - the first of the keys that needs one of these bits, GROUP_OF_*; GROUP_KEYS_NR if none does */
enum group_key group_by_needs(const struct group_by *by, unsigned int bits);

/**
 * group_by_parse() - read the argument of --by: keys, with commas
 * @by: they are added
 * @wrong: filled where it is none, in words that follow it
 *
 * Return: whether it is right.
 */
bool group_by_parse(struct group_by *by, const char *text, char wrong[GROUP_WRONG_LEN]);

/* A controller as its machine calls it, with the machine's name in front where there are several. */
#define GROUP_CTRL_LEN 160
/* "tracepoints/stock": both sides' */
#define GROUP_SOURCE_LEN 40

/* Beside NT_STATUS_MASK. */
#define GROUP_STATUS_FABRICS 0x8000

enum group_kind { GROUP_ONE, GROUP_OTHERS, GROUP_TOTAL };

/**
 * struct group_name - what the commands of a group have in common
 * @kind: a group; all those that found no room, together; or the sum of all
 * @op: NT_OPS_NR where it is not known
 * @shared: no queue by itself: commands of several
 * @ctrl, @ctrl_of: the controller; those of another @ctrl_of are different ones of that name
 * @status: and GROUP_STATUS_FABRICS of a Fabrics command, which have statuses of their own
 * @cpu: ORIGIN_NO_CPU where it is not known
 * @device, @path, @cgroup: "" where they are not known: of struct device_name, of where a connection goes, of struct origin
 * @nqn_twin, @host_twin: which of several that look alike in a table, from 1; 0: there is one
 *
 * What it is not by is 0, or "". Who makes one sets all of its bytes, so that two of one group are the same bytes.
 */
struct group_name {
	enum group_kind kind;
	uint8_t op;
	bool shared;
	uint16_t queue;
	uint16_t status;
	bool cancelled;
	uint16_t cpu;
	uint32_t nsid;
	uint32_t size;
	uint64_t ctrl_of;
	char ctrl[GROUP_CTRL_LEN];
	char nqn[NT_NQN_LEN];
	char host[NT_NQN_LEN];
	char source[GROUP_SOURCE_LEN];
	char device[DEVICE_NAME_LEN];
	char path[QUEUE_ADDRESS_LEN];
	char cgroup[ORIGIN_CGROUP_LEN];
	unsigned int ctrl_twin;
	unsigned int nqn_twin;
	unsigned int host_twin;
};

/** group_name_only() - clear what a group that is @by these keys is not by */
void group_name_only(struct group_name *name, const struct group_by *by);

/** group_name_order() - as qsort() wants it, key by key; 0: the very same group */
int group_name_order(const struct group_name *a, const struct group_name *b,
		     const struct group_by *by);

/** group_hash() - of a text, FNV-1a, going on from @h; 0 begins */
uint64_t group_hash(uint64_t h, const char *text);

/* Of a name that is too long for a table its end tells more than its beginning, which many share. */
#define GROUP_TAIL_LEN 12
/* Its dots, a number of those that look alike, and the terminator. */
#define GROUP_SHORT_LEN (GROUP_TAIL_LEN + 3 + 6 + 1)

/** group_name_short() - the end of an NQN, so that a terminal can show it; "-" of none; Return: @buf */
char *group_name_short(char buf[GROUP_SHORT_LEN], const char *nqn, unsigned int twin);

/** group_names_tell_apart() - set the twins of @nr names, and "#2" behind controllers; @get(@context, i) is one */
void group_names_tell_apart(struct group_name *(*get)(void *context, size_t i), void *context,
			    size_t nr);

#endif /* NTPROF_CORE_GROUP_H */
