/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns of recorded streams, of the peers that bring them, and of how records matched so far. */
#ifndef NTPROF_VIEW_COLUMNS_STREAMS_H
#define NTPROF_VIEW_COLUMNS_STREAMS_H

#include "peer/live_merge.h"
#include "stream/input.h"
#include "view/columns.h"

/* INPUT_SIDE to INPUT_DURATION: none where the stream has not begun. */
enum input_column {
	INPUT_PATH,
	INPUT_SIDE,
	INPUT_HOSTNAME,
	INPUT_KERNEL,
	INPUT_SOURCE,
	INPUT_SAMPLE,	 /* none where every command is measured */
	INPUT_SELECTION, /* options that selected commands; none where all were recorded */
	INPUT_COMMANDS,
	INPUT_DURATION,
	INPUT_BURSTS,	      /* none where it was recorded all the time */
	INPUT_MEASURED,	      /* in bursts; likewise */
	INPUT_UNKNOWN_LOSSES, /* of names that this version does not know; none where there are none */
	INPUT_UNKNOWN_FRAMES, /* of types that this version does not know; none where there are none */
	INPUT_LONGER_FRAMES, /* with fields that this version does not know; none where there are none */
};

/* Of struct input. */
extern const struct columns input_columns;

/**
 * struct peer_row - a peer, or a line that it wrote on its standard error
 * @number: which of them it is, counted from 1
 * @message: that line, or NULL
 */
struct peer_row {
	unsigned int number;
	struct peer_about about;
	const char *message;
};

/* ABOUT_SIDE to ABOUT_SAMPLE: none before its stream begins. */
enum peer_column {
	ABOUT_NUMBER,
	ABOUT_SOURCE,
	ABOUT_STATE,
	ABOUT_SILENT,	   /* none unless it is stalled */
	ABOUT_WHY,	   /* none where there is nothing to say */
	ABOUT_EXIT_STATUS, /* none unless it failed */
	ABOUT_SIGNAL,	   /* none unless it was killed */
	ABOUT_MESSAGE,	   /* none of a row that is not of a line */
	ABOUT_SIDE,
	ABOUT_HOSTNAME,
	ABOUT_KERNEL,
	ABOUT_COMMANDS,
	ABOUT_SAMPLE,	      /* none where every command is measured */
	ABOUT_SELECTION,      /* options that selected commands; none where it tells of all */
	ABOUT_UNKNOWN_FRAMES, /* none where there are none */
	ABOUT_LONGER_FRAMES,  /* none where there are none */
};

/* Of struct peer_row. */
extern const struct columns peer_columns;

enum matching_column {
	MATCHING_MATCHED,
	MATCHING_HOST_ONLY,
	MATCHING_TARGET_ONLY,
	MATCHING_AMBIGUOUS,
	MATCHING_UNDECIDED,
	MATCHING_STRAYS,      /* none where there are none */
	MATCHING_PAST_LIMITS, /* as well */
	MATCHING_CROWDED_OUT, /* none where there are none */
	MATCHING_IN_CROWD,    /* as well */
	MATCHING_EARLY,
};

/* Of struct live_merge_counts, a single row. */
extern const struct columns matching_columns;

#endif /* NTPROF_VIEW_COLUMNS_STREAMS_H */
