/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The keys of --by, which put commands into groups, and the name of a group. The name is what the
 * commands of the group have in common.
 */
#ifndef NTPROF_CORE_GROUP_H
#define NTPROF_CORE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device.h"
#include "shared/record.h"

/* The users of groups: a live view, or a report. */
#define GROUP_LIVE 1u
#define GROUP_REPORT 2u

/*
 * What a live view needs for a key. 0: its histograms are enough, which are by queue and operation.
 * GROUP_OF_RECORD: the record of each command.
 */
#define GROUP_OF_RECORD 1u
/* Only a host's records have the key. This is so in a recording, too. */
#define GROUP_OF_HOST 2u
/* Records have the key only if this part of their origins was asked for, see core/device.h. */
#define GROUP_OF(part) ((part) << 2) /* of bits NT_ORIGIN_* */
#define GROUP_OF_PLACE GROUP_OF(NT_ORIGIN_PLACE)
#define GROUP_OF_TASK GROUP_OF(NT_ORIGIN_TASK)

/* X(identifier, name, bits of GROUP_OF_* that a live view needs for the key). */
#define GROUP_KEYS(X)                                                         \
	X(CTRL, "ctrl", 0)                                                    \
	X(NQN, "nqn", 0)                                                      \
	X(HOST, "host", 0)                                                    \
	X(QUEUE, "queue", 0)                                                  \
	X(OP, "op", 0)                                                        \
	X(SIZE, "size", GROUP_OF_RECORD)                                      \
	X(OPCODE, "opcode", GROUP_OF_RECORD)                                  \
	X(NSID, "nsid", GROUP_OF_RECORD)                                      \
	X(STATUS, "status", GROUP_OF_RECORD)                                  \
	X(SOURCE, "source", 0)                                                \
	X(DEVICE, "device", GROUP_OF_RECORD)                                  \
	X(PATH, "path", GROUP_OF_RECORD | GROUP_OF_HOST)                      \
	X(CGROUP, "cgroup", GROUP_OF_RECORD | GROUP_OF_HOST | GROUP_OF_PLACE) \
	X(CPU, "cpu", GROUP_OF_RECORD | GROUP_OF_HOST | GROUP_OF_PLACE)       \
	X(PID, "pid", GROUP_OF_RECORD | GROUP_OF_HOST | GROUP_OF_TASK)        \
	X(COMM, "comm", GROUP_OF_RECORD | GROUP_OF_HOST | GROUP_OF_TASK)      \
	X(CONTAINER, "container", GROUP_OF_RECORD | GROUP_OF_HOST | GROUP_OF_PLACE)

#define GROUP_KEY_ENUM(id, name, who) GROUP_##id,
enum group_key { GROUP_KEYS(GROUP_KEY_ENUM) GROUP_KEYS_NR };

/* More classes of sizes than anybody looks at. */
#define GROUP_BOUNDS_MAX 16u

/**
 * struct group_by - @nr keys, in the order in which they are shown; 0: all commands are one group
 * @bound: bytes, @nr_bounds of them, ascending: GROUP_SIZE has a group for what is above the bound
 *         before and not above this one, and one for what is above all; 0: one for each size
 */
struct group_by {
	unsigned int nr;
	unsigned char key[GROUP_KEYS_NR];
	unsigned int nr_bounds;
	uint32_t bound[GROUP_BOUNDS_MAX];
};

/* Room for the message about wrong keys. */
#define GROUP_WRONG_LEN 160

/** group_key_name() - name of a key; static string */
const char *group_key_name(enum group_key key);

/** group_key_column() - what the values of a key of @by are called: "size_class" of classes */
const char *group_key_column(const struct group_by *by, enum group_key key);

/** group_has() - whether @by contains @key */
static inline bool group_has(const struct group_by *by, enum group_key key)
{
	for (unsigned int i = 0; i < by->nr; i++)
		if (by->key[i] == key)
			return true;
	return false;
}

/**
 * group_by_needs() - the first of the keys that needs one of the bits GROUP_OF_*; GROUP_KEYS_NR if
 * no key does
 */
enum group_key group_by_needs(const struct group_by *by, unsigned int bits);

/** group_by_origins() - the parts of origins that the keys need: bits NT_ORIGIN_* */
unsigned int group_by_origins(const struct group_by *by);

/**
 * group_by_parse() - read the argument of --by: keys, separated by commas
 * @by: the keys are added here
 * @wrong: filled if the text is wrong, with words that follow the text in a message
 *
 * Return: whether the text is right.
 */
bool group_by_parse(struct group_by *by, const char *text, char wrong[GROUP_WRONG_LEN]);

/**
 * group_bounds_parse() - read the argument of --size-classes; Return: NULL, or why the text is
 * wrong, in words that follow the text in a message
 */
const char *group_bounds_parse(struct group_by *by, const char *text);

/*
 * A controller by its machine's name for it, with the machine's name in front if there are several
 * machines.
 */
#define GROUP_CTRL_LEN 160
/* Room for the sources of both sides, such as "tracepoints/stock". */
#define GROUP_SOURCE_LEN 40

/* Bit of the status of a Fabrics command. It lies outside NT_STATUS_MASK. */
#define GROUP_STATUS_FABRICS 0x8000

/* What @size of a group is: that of each command, or a bound of a class. */
enum group_size { GROUP_SIZE_EXACT, GROUP_SIZE_UP_TO, GROUP_SIZE_ABOVE };

/* @opcode of a group: what the number is an opcode of; the number is in the low 8 bits. */
#define GROUP_OPCODE_ADMIN 0x100
#define GROUP_OPCODE_FABRICS 0x200 /* the type of a Fabrics command */

enum group_kind { GROUP_ONE, GROUP_OTHERS, GROUP_TOTAL };

/**
 * struct group_name - what the commands of a group have in common
 * @kind: a group, or the row of all groups that found no room, or the sum of all
 * @op: NT_OPS_NR if it is not known
 * @size_is: an enum group_size
 * @opcode: with GROUP_OPCODE_*
 * @shared: not one queue, but the commands of several queues
 * @ctrl, @ctrl_of: the controller; names that are equal, with different @ctrl_of, are different
 *                  controllers
 * @status: with GROUP_STATUS_FABRICS for a Fabrics command, which has status codes of its own
 * @cpu: ORIGIN_NO_CPU if it is not known
 * @device, @path, @cgroup, @comm: "" if they are not known; from struct device_name, the address
 *         of the connection, and struct origin
 * @pid: 0 if it is not known
 * @container: from @cgroup, see cgroup_container()
 * @ctrl_twin, @nqn_twin, @host_twin: number from 1 on among different names that look alike in a
 *         table; 0: no other name looks like this one
 *
 * Members that are not keys of the group are 0 or "", but @op is NT_OPS_NR. Callers set all bytes,
 * so that two names of one group are equal byte by byte.
 */
struct group_name {
	enum group_kind kind;
	uint8_t op;
	uint8_t size_is;
	bool shared;
	uint16_t opcode;
	uint16_t queue;
	uint16_t status;
	bool cancelled;
	uint16_t cpu;
	uint32_t pid;
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
	char comm[ORIGIN_COMM_LEN];
	char container[CONTAINER_LEN];
	unsigned int ctrl_twin;
	unsigned int nqn_twin;
	unsigned int host_twin;
};

/** group_name_size() - set the size, or its class */
void group_name_size(struct group_name *name, const struct group_by *by, uint32_t bytes);

/** group_name_only() - clear the members that are not keys in @by */
void group_name_only(struct group_name *name, const struct group_by *by);

/** group_name_order() - compare for qsort(), key by key; 0: both are the same group */
int group_name_order(const struct group_name *a, const struct group_name *b,
		     const struct group_by *by);

/**
 * struct group_rows - groups in the order of their names, and what is counted of each
 * @by: the keys that identify a group
 * @most: limit of their number; 0: none
 * @row: @nr rows; each begins with the struct group_name of its group, and stays where it is
 * @last: the row that was asked for last, because successive commands are often of one group
 */
struct group_rows {
	struct group_by by;
	size_t most;
	void **row;
	size_t nr;
	void *last;
};

/**
 * group_row() - the row of a group
 * @name: members that are not keys do not matter
 * @size: bytes of a row; a new one is all zero but for the name
 *
 * Return: NULL if memory ran out, or if there are @g->most rows and none has this name; errno is
 * ENOMEM or ENOSPC.
 */
void *group_row(struct group_rows *g, const struct group_name *name, size_t size);

/** group_rows_free() - release the rows */
void group_rows_free(struct group_rows *g);

/* A table shows the end of a long name, because many names begin alike. */
#define GROUP_TAIL_LEN 12
/* Room for the dots, the number of a twin and the terminator as well. */
#define GROUP_SHORT_LEN (GROUP_TAIL_LEN + 3 + 6 + 1)

/**
 * group_name_short() - the end of an NQN, short enough for a terminal, from ':' or '.' on if there
 * is one in it; "-" if there is no NQN
 *
 * Return: @buf.
 */
char *group_name_short(char buf[GROUP_SHORT_LEN], const char *nqn, unsigned int twin);

/**
 * group_names_tell_apart() - set the twins of @nr names, and append "#2" and so on to controllers
 * that look alike
 * @get: @get(@context, i) returns name i
 */
void group_names_tell_apart(struct group_name *(*get)(void *context, size_t i), void *context,
			    size_t nr);

#endif /* NTPROF_CORE_GROUP_H */
