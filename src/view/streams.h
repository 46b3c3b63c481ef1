/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The columns of recorded streams, of the peers that send them, and of how records have matched so
 * far.
 */
#ifndef NTPROF_VIEW_STREAMS_H
#define NTPROF_VIEW_STREAMS_H

#include <stdint.h>
#include <stdio.h>

#include "merge/places.h"
#include "merge/unmatched.h"
#include "peer/live_merge.h"
#include "shared/points.h"
#include "stream/reader.h"
#include "view/columns.h"

/* INPUT_SIDE to INPUT_DURATION: no value if the stream has not begun. */
enum input_column {
	INPUT_PATH,
	INPUT_SIDE,
	INPUT_HOSTNAME,
	INPUT_KERNEL,
	INPUT_SOURCE,
	INPUT_SAMPLE,	 /* no value if every command is measured */
	INPUT_SELECTION, /* options that selected commands; no value if all were recorded */
	INPUT_COMMANDS,
	INPUT_DURATION,
	INPUT_BEGAN,	/* by the wall clock; this and the next: no value if it is not known */
	INPUT_ENDED,	/* the last command */
	INPUT_BURSTS,	/* no value if recording was not in bursts */
	INPUT_MEASURED, /* seconds of all bursts; no value if recording was not in bursts */
	INPUT_UNKNOWN_LOSSES, /* with names that this version does not know; no value if it is 0 */
	INPUT_NAMES_GONE,     /* that gave way to later ones; no value if it is 0 */
	INPUT_TCP_PAST,	      /* TCP connections and times without room; no value if it is 0 */
	INPUT_UNKNOWN_FRAMES, /* of types that this version does not know; no value if it is 0 */
	INPUT_LONGER_FRAMES,  /* with fields that this version does not know; no value if it is 0 */
};

/* Rows are struct input. */
extern const struct columns input_columns;

/**
 * struct peer_row - a peer, or a line that it wrote to its standard error
 * @number: number of the peer, from 1 on
 * @message: that line, or NULL
 */
struct peer_row {
	unsigned int number;
	struct peer_about about;
	const char *message;
};

/* ABOUT_SIDE to ABOUT_SAMPLE: no value before its stream begins. */
enum peer_column {
	ABOUT_NUMBER,
	ABOUT_SOURCE,
	ABOUT_STATE,
	ABOUT_SILENT,	   /* no value unless it is stalled */
	ABOUT_WHY,	   /* no value if there is no reason */
	ABOUT_EXIT_STATUS, /* no value unless it failed */
	ABOUT_SIGNAL,	   /* no value unless it was killed */
	ABOUT_MESSAGE,	   /* no value unless the row is a line of the peer */
	ABOUT_SIDE,
	ABOUT_HOSTNAME,
	ABOUT_KERNEL,
	ABOUT_COMMANDS,
	ABOUT_SAMPLE,	      /* no value if every command is measured */
	ABOUT_SELECTION,      /* options that selected commands; no value if all are recorded */
	ABOUT_UNKNOWN_LOSSES, /* no value if it is 0 */
	ABOUT_UNKNOWN_FRAMES, /* no value if it is 0 */
	ABOUT_LONGER_FRAMES,  /* no value if it is 0 */
};

/* Rows are struct peer_row. */
extern const struct columns peer_columns;

enum matching_column {
	MATCHING_MATCHED,
	MATCHING_HOST_ONLY,
	MATCHING_TARGET_ONLY,
	MATCHING_AMBIGUOUS,
	MATCHING_UNDECIDED,
	MATCHING_STRAYS, /* this and the next three: no value if it is 0 */
	MATCHING_PAST_LIMITS,
	MATCHING_CROWDED_OUT,
	MATCHING_IN_CROWD,
	MATCHING_EARLY,
};

/* For struct live_merge_counts, as a single row. */
extern const struct columns matching_columns;

/* Information about a recorded stream, as text. */

/**
 * inputs_print() - print who recorded the stream, how many commands it has, and what was lost; the
 * last line says what is wrong with it, if anything
 * @beside: a recording that was matched with it, with whose wall clock its own is compared; or NULL
 */
void inputs_print(const struct input *in, const struct input *beside, FILE *f);

/**
 * inputs_print_unmatched() - print a line that says why nothing of an input is matched
 * @in: input
 * @a: reasons, by stream; @stream is the number of this one
 * @m: the machines of all streams
 */
void inputs_print_unmatched(const struct input *in, const struct unmatched *a, unsigned int stream,
			    const struct machines *m, FILE *f);

/* Names the points that the kernel of a stream's machine lacks. */

/**
 * lacks_print() - print "lacks the points a, b", or that it has only the ends, with @before and
 * @after around it
 * @missing: bits of points. Only points that bound stages are printed; without any of them nothing
 *           is printed
 */
void lacks_print(FILE *f, const char *before, enum nt_side side, uint32_t missing,
		 const char *after);

/* Prints why nothing of a stream is matched. */

/**
 * unmatched_print() - print "nothing of it is matched, with target NAME: REASON" for a stream; no
 * newline
 */
void unmatched_print(const struct unmatched *a, unsigned int stream, const struct machines *m,
		     FILE *f);

#endif /* NTPROF_VIEW_STREAMS_H */
