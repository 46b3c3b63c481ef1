/* SPDX-License-Identifier: GPL-2.0-only */
/* The last events of a host's controllers, in the order in which they came. */
#ifndef NTPROF_CORE_PATH_EVENTS_H
#define NTPROF_CORE_PATH_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/path_event.h"

/* The most events that are kept, 260 KB; older ones are only counted. */
#ifndef PATH_EVENTS_MAX
#define PATH_EVENTS_MAX 1000
#endif
/* Room for the text of an event. */
#define PATH_EVENT_TEXT_LEN 128

/**
 * struct path_events - all zeroes at first
 * @event: @nr of them; the oldest one is at @first, and those before it are the newest
 * @total: all that were added
 * @lost: events that found no room on their way here
 * @shown, @collected: @total when the interval before the last one was collected, and the last one
 */
struct path_events {
	struct nt_path_event *event;
	size_t nr;
	size_t first;
	uint64_t total;
	uint64_t lost;
	uint64_t shown;
	uint64_t collected;
};

/** path_events_add() - add an event; Return: 0 or -ENOMEM */
int path_events_add(struct path_events *p, const struct nt_path_event *e);

/**
 * path_events_join() - one list of several, each with its last events; nothing is added to it
 * @into: empty
 * @of: @nr lists
 *
 * Return: 0 or -ENOMEM
 */
int path_events_join(struct path_events *into, const struct path_events *of, size_t nr);

/** path_events_at() - event @i of @p->nr, the oldest first */
const struct nt_path_event *path_events_at(const struct path_events *p, size_t i);

/** path_events_interval() - an interval has ended: events that come now are of the next one */
void path_events_interval(struct path_events *p);

/** path_events_of_interval() - number of the first event that the last interval has, to @p->nr */
size_t path_events_of_interval(const struct path_events *p);

/** path_events_free() - release; @p is empty then */
void path_events_free(struct path_events *p);

/** path_event_name() - "state", "reconnect_failed"; any number has a name */
const char *path_event_name(unsigned int kind);

/** path_event_state() - name of the state of an event: "live", "inaccessible"; NULL: it has none */
const char *path_event_state(const struct nt_path_event *e);

/** path_state_named() - a state of a controller by its name; NT_PATH_STATES_NR: there is none */
unsigned int path_state_named(const char *name);

/**
 * path_event_text() - the event as a text for people, without its time
 * @buf: filled, PATH_EVENT_TEXT_LEN bytes; nothing in it comes from another machine
 *
 * Return: @buf
 */
const char *path_event_text(const struct nt_path_event *e, char *buf);

/**
 * struct path_states - states as sysfs has them, where the kernel tells no events; zeroes at first
 * @state: [instance] enum nt_path_state and 1; 0: it is not there
 * @looked: they were looked at before
 */
struct path_states {
	uint8_t *state;
	size_t nr;
	bool looked;
};

typedef void path_event_fn(void *context, const struct nt_path_event *e);

/**
 * path_states_look() - compare the states of controllers with those of the last call
 * @sysfs: mount point of sysfs: "/sys"
 * @transports: of the controllers, see core/transport.h
 * @now: CLOCK_MONOTONIC nanoseconds, the time of the events
 * @fn: called for each that has another state, or was not there; in the first call for none
 */
void path_states_look(struct path_states *p, const char *sysfs, unsigned int transports,
		      uint64_t now, path_event_fn *fn, void *context);

/** path_states_free() - release */
void path_states_free(struct path_states *p);

#endif /* NTPROF_CORE_PATH_EVENTS_H */
