/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns of the errors: how many commands of a queue ended with which status. */
#ifndef NTPROF_VIEW_COLUMNS_ERRORS_H
#define NTPROF_VIEW_COLUMNS_ERRORS_H

#include "core/errors.h"
#include "view/columns.h"

enum error_column {
	/* this and the next three: no value if the row counts errors of several queues together */
	ERROR_CONTROLLER,
	ERROR_PEER,
	ERROR_QUEUE,
	ERROR_STATUS,
	ERROR_OP,
	ERROR_NAME,
	ERROR_TOTAL,
	ERROR_ADDED, /* in the last interval; no value if it is 0 */
};

/* Rows are struct error_count. */
extern const struct columns error_columns;

#endif /* NTPROF_VIEW_COLUMNS_ERRORS_H */
