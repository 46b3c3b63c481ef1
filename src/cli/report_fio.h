/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording as work for fio: --fio-iolog makes a folder with what was asked for, command by
 * command, and a job that replays it; --fio-job a job that asks for as much, of the same mix.
 *
 * fio's iolog version 3 (read_iolog() in the source of fio): the first line names the version;
 * "TIME FILE add" and "TIME FILE open" introduce a file, "TIME FILE read|write|sync OFFSET LENGTH"
 * is a command. TIME is in microseconds. fio waits for the difference to the line before; a first
 * TIME of 0 would say that there is none.
 */
#ifndef NTPROF_CLI_REPORT_FIO_H
#define NTPROF_CLI_REPORT_FIO_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "merge/connection.h"
#include "merge/places.h"
#include "shared/record.h"

/* The first line of a job, by which one that may be replaced is known. */
#define FIO_JOB_BEGINS "# fio job of ntprof-bpf\n"

/* fio opens an iolog, and starts a process, for each queue. */
#ifndef FIO_QUEUES_MAX
#define FIO_QUEUES_MAX 256u
#endif
/* Namespaces of a recording; in one byte of a spooled command. */
#define FIO_NAMESPACES_MAX 64u

/* For commands as fast as they can be given. */
#define FIO_PACE_FAST UINT32_MAX

/**
 * struct fio_options - options of --fio-iolog and --fio-job
 * @iolog: the folder; NULL: none
 * @job: the file of the job of the same mix; NULL: none
 * @device: what the jobs are for; NULL: the recorded disks
 * @write: the jobs write, too
 * @pace: in percent of the recorded one; 0: the recorded one; or FIO_PACE_FAST
 * @scale: LBAs are divided by this; 0: not
 * @block_bytes: of a logical block where the recording does not say it; 0: FIO_BLOCK_BYTES
 */
struct fio_options {
	const char *iolog;
	const char *job;
	const char *device;
	bool write;
	uint32_t pace;
	uint32_t scale;
	uint32_t block_bytes;
};

#define FIO_BLOCK_BYTES 512u
/* Ten times a tenth of the recorded pace, and as much more. */
#define FIO_PERCENT_MAX 10000u
#define FIO_SCALE_MAX 1000000u

extern const struct argp fio_argp; /* struct fio_options */

struct fio;

/**
 * fio_open() - begin; makes the folder
 * @o: valid until fio_free()
 *
 * Return: NULL after a message.
 */
struct fio *fio_open(const struct fio_options *o);

/**
 * fio_add() - a command of connection @c
 * @places: names of the recording that it is from
 * @to_common: is added to its times, to get those of the common clock
 * @sample: one command in this many was measured
 *
 * Return: 0 or a negative errno.
 */
int fio_add(struct fio *f, const struct merge_connection *c, const struct nt_record *r,
	    const struct places *places, int64_t to_common, uint32_t sample);

/**
 * fio_finish() - write the folder, and the job to @job, or NULL; says on standard error what is in
 * them, and what is not
 *
 * Return: 0; -ECANCELED after a message; or another negative errno.
 */
int fio_finish(struct fio *f, FILE *job);

/** fio_free() - release; a folder that was made and not written is removed; NULL is fine */
void fio_free(struct fio *f);

#endif /* NTPROF_CLI_REPORT_FIO_H */
