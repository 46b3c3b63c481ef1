/* SPDX-License-Identifier: GPL-2.0-only */
/* The flight recorder of serve: what run() calls back, handed to keep/recorder.h, and what that tells, to the journal. */
#ifndef NTPROF_CLI_FLIGHT_H
#define NTPROF_CLI_FLIGHT_H

#include "cli/flight_options.h"
#include "cli/naming.h"
#include "cli/run.h"

/* How long the end of the run waits for a disk that has to take the last file. */
#define FLIGHT_PATIENCE_NS 10000000000ULL

/** flight_open() - begin to keep; NULL with a message on standard error. @o's conditions are taken over */
struct recorder *flight_open(struct flight_options *o, enum nt_side side);

/** flight_begin() - tracing has begun */
void flight_begin(struct recorder *r, const struct run_options *o, const struct tracer *t);

/** flight_record() - a command has ended. @n: what has been told of others */
void flight_record(struct recorder *r, struct naming *n, const struct tracer *t,
		   const struct nt_record *rec);

/** flight_change() - other options from now on; a message tells how that went */
void flight_change(struct recorder *r, struct flight_options *o);

#endif /* NTPROF_CLI_FLIGHT_H */
