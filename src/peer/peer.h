/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A peer is a command that the user trusts to send the other side's stream, such as ssh. Reading it
 * never waits. Its failures are reported, and affect nothing else.
 */
#ifndef NTPROF_PEER_PEER_H
#define NTPROF_PEER_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "peer/child.h"
#include "peer/starter.h"
#include "stream/stream.h"

/* The last lines that a peer's command wrote on its standard error. */

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

/** messages_line() - line @i, counted from 0; NULL if there is no such line yet, or no longer */
const char *messages_line(const struct messages *m, uint64_t i);

/* X(identifier, name): states of a peer. */
#define PEER_STATES(X)                                                      \
	X(STARTING, "starting") /* nothing has come yet */                  \
	X(WAITING, "waiting")	/* it is there, and waits for its module */ \
	X(RUNNING, "running")                                               \
	X(STALLED, "stalled") /* nothing has come for PEER_STALL_NS */      \
	X(ENDED, "ended")     /* its recording ended well */                \
	X(DIED, "died")	      /* its stream broke off */                    \
	X(REFUSED, "refused") /* no stream, damaged, of another version or of the wrong side */

#define PEER_ENUM(id, name) PEER_##id,
enum peer_state { PEER_STATES(PEER_ENUM) PEER_STATES_NR };

/* A recorder writes five times a second, even if there is nothing to send. */
#define PEER_STALL_NS 3000000000ULL

struct peer;

/**
 * peer_new() - start a peer
 * @source: a shell command; or a file, which is read as it grows; or a FIFO
 * @side: side that its stream has to be of
 * @user: user that the command runs as
 *
 * Return: the peer, or NULL with errno set.
 */
struct peer *peer_new(const char *source, enum nt_side side, const struct peer_user *user);

/**
 * peer_new_lasting() - start a peer that can be started again when its stream is over
 * @starter: starts it, as its source @index
 *
 * Return: as peer_new().
 */
struct peer *peer_new_lasting(const char *source, enum nt_side side, struct starter *starter,
			      unsigned int index);

/**
 * peer_lasts() - whether it can be started again; a file cannot, as it would send the same data
 * again
 */
bool peer_lasts(const struct peer *p);

/**
 * peer_restart() - make sure that all its processes have ended, and start it again
 *
 * Its counters continue; its descriptors change.
 *
 * Return: 0 or a negative errno; then it is refused, and its stream is over.
 */
int peer_restart(struct peer *p);

/* Number of a peer's descriptors. */
#define PEER_FDS 3

/** peer_fds() - descriptors that are readable when peer_read() has something to do; -1: none */
void peer_fds(const struct peer *p, int fd[PEER_FDS]);

/**
 * peer_read() - take what has come
 * @p: peer
 * @event: takes each event; returns 0 or a negative errno
 * @context: first argument of @event
 * @until_ns: stop at this time (CLOCK_MONOTONIC), so that other peers have their turn
 *
 * Return: 1 if more can be read at once, 0 if not, or what @event returned.
 */
int peer_read(struct peer *p, int (*event)(void *context, const struct stream_event *e),
	      void *context, uint64_t until_ns);

/** peer_state() - its present state */
enum peer_state peer_state(const struct peer *p);

/**
 * struct peer_about - what can be shown of a peer
 * @source: as of peer_new()
 * @silent_ns: since something came from it
 * @why: why the peer was refused or died, as the reader of its stream has it, or why it does not do
 *       what is expected; "" if there is no reason
 * @exit_status, @signal: how the command of a peer that died ended; 0: unknown
 * @messages: what it wrote on its standard error; of interest from line @first_message on
 * @header: header of its stream; NULL before that has come
 * @records: number of commands in its stream
 * @losses: losses that its stream reported
 * @skipped: frames in its stream of types that this program does not know
 * @longer: frames with fields that it does not know
 * @restarts: how often it was started again
 *
 * Strings come from the peer and may hold anything.
 */
struct peer_about {
	const char *source;
	enum peer_state state;
	uint64_t silent_ns;
	const char *why;
	int exit_status;
	int signal;
	const struct messages *messages;
	uint64_t first_message;
	const struct stream_header *header;
	uint64_t records;
	const struct stream_losses *losses;
	uint64_t skipped;
	uint64_t longer;
	uint64_t restarts;
};

/** peer_about() - fill @a; valid until the peer is read again */
void peer_about(const struct peer *p, struct peer_about *a);

/** peer_is_command() - whether its source is a command, and not a file or a FIFO */
bool peer_is_command(const struct peer *p);

/**
 * peer_interrupt() - the signal of a key that was pressed while the peer had the terminal, or 0;
 * each is returned once
 */
int peer_interrupt(struct peer *p);

/**
 * peer_group() - the process group of its command; no other group gets that number before
 * peer_free()
 */
pid_t peer_group(const struct peer *p);

/** peer_ask_to_end() - send SIGTERM to all processes of a command whose stream is over */
void peer_ask_to_end(const struct peer *p);

/** peer_stop() - ask all processes of the command to end; what they still send can be read */
void peer_stop(struct peer *p);

/**
 * peer_settled() - whether it will not ask for anything: its stream has begun or is over, or it
 * waits for its module
 */
bool peer_settled(const struct peer *p);

/** peer_over() - whether nothing more can come */
bool peer_over(const struct peer *p);

/** peer_gone() - whether its stream is over and none of its processes is left */
bool peer_gone(const struct peer *p);

/** peer_kill() - have all its processes killed; peer_free() has to follow, and waits for their end
 */
void peer_kill(struct peer *p);

/** peer_free() - make sure that all its processes have ended, and release; NULL is fine */
void peer_free(struct peer *p);

#endif /* NTPROF_PEER_PEER_H */
