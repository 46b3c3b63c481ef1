/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A peer: a command that the user trusts to bring the other side's stream, such as ssh; read without
 * ever waiting for it. Whatever it does, it is told, and nothing else suffers.
 */
#ifndef NTPROF_PEER_PEER_H
#define NTPROF_PEER_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "peer/messages.h"
#include "peer/starter.h"
#include "peer/user.h"
#include "stream/stream.h"

/* X(identifier, name): what a peer does. */
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

/* A recorder writes five times a second, whatever there is to tell. */
#define PEER_STALL_NS 3000000000ULL

struct peer;

/**
 * peer_new() - start a peer
 * @source: a shell command; or a file, which is read as it grows; or a FIFO
 * @side: whose stream it has to be
 * @user: as whom the command runs
 *
 * Return: the peer, or NULL with errno set.
 */
struct peer *peer_new(const char *source, enum nt_side side, const struct peer_user *user);

/**
 * peer_new_lasting() - a peer that can be started again, when it is over
 * @starter: starts it, as its source @index
 *
 * Return: as peer_new().
 */
struct peer *peer_new_lasting(const char *source, enum nt_side side, struct starter *starter,
			      unsigned int index);

/** peer_lasts() - whether it can be: a file has no more than it had */
bool peer_lasts(const struct peer *p);

/**
 * peer_again() - make sure that all its processes have ended, and start it again
 *
 * What it told counts on; its descriptors are others. Return: 0 or a negative errno: then it is refused, and over.
 */
int peer_again(struct peer *p);

/* How many descriptors a peer has. */
#define PEER_FDS 3

/** peer_fds() - readable when peer_read() has something to do; -1 where there is none */
void peer_fds(const struct peer *p, int fd[PEER_FDS]);

/**
 * peer_read() - take what has come
 * @p: peer
 * @event: takes each event; returns 0 or a negative errno
 * @context: its first argument
 * @until_ns: stop at this time (CLOCK_MONOTONIC), so that others have their turn
 *
 * Return: 1 when there may be more at once, 0 when not, or what @event returned.
 */
int peer_read(struct peer *p, int (*event)(void *context, const struct stream_event *e),
	      void *context, uint64_t until_ns);

/** peer_state() - what it does now */
enum peer_state peer_state(const struct peer *p);

/**
 * struct peer_about - what there is to tell of a peer
 * @source: as it was given
 * @silent_ns: since something came from it
 * @why: of a peer that was refused or died: what the reader of its stream said; or what keeps it from what it is
 *       expected to do; "" if nothing
 * @exit_status, @signal: of a peer that died: of its command, 0 where there is none
 * @messages: what it wrote on its standard error; of interest from line @first_message on
 * @header: of its stream; NULL before it has come
 * @records: commands that its stream told of
 * @losses: what its stream said that it lost
 * @skipped: frames of its stream that are of types which this program does not know; @longer: with fields
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

/** peer_about() - @a is filled; valid until the peer is read again */
void peer_about(const struct peer *p, struct peer_about *a);

/** peer_asks() - it cannot go on before it may use the terminal, which is to be lent to its group */
bool peer_asks(const struct peer *p);

/** peer_answered() - it has what it asked for: it asks again when it tries to use the terminal again */
void peer_answered(struct peer *p);

/** peer_interrupt() - what was pressed while it had the terminal: a signal's number, told once, or 0 */
int peer_interrupt(struct peer *p);

/** peer_group() - the process group of its command; no other one has that number before peer_free() */
pid_t peer_group(const struct peer *p);

/** peer_ask_to_end() - ask all processes of a command whose stream is over to end, too */
void peer_ask_to_end(const struct peer *p);

/** peer_stop() - ask all processes of the command to end; what they still say can be read */
void peer_stop(struct peer *p);

/** peer_settled() - its stream has begun, or waits for its module, or is over: it will not ask for anything any more */
bool peer_settled(const struct peer *p);

/** peer_over() - nothing more can come */
bool peer_over(const struct peer *p);

/** peer_gone() - and no process of it is left */
bool peer_gone(const struct peer *p);

/** peer_free() - make sure that all its processes have ended, and release; NULL is fine */
void peer_free(struct peer *p);

#endif /* NTPROF_PEER_PEER_H */
