/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls a function that may wait for long, such as for a disk that hangs, in a thread of its own.
 * The caller goes on meanwhile. There is one function at a time.
 */
#ifndef NTPROF_CORE_JOB_H
#define NTPROF_CORE_JOB_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

/* How long the caller waits for a function that it has begun. Only tests change it. */
extern uint64_t job_moment_ns;

/** job_fn - the function; Return: 0 or a negative errno other than -EAGAIN */
typedef int job_fn(void *context);

/**
 * struct job - all zeroes at first
 * @busy: @run was begun, and its result has not been taken
 * @unwanted: the result of @run is dropped
 */
struct job {
	pthread_t thread;
	sem_t ended;
	job_fn *run;
	void *context;
	int result;
	bool busy;
	bool unwanted;
};

/**
 * job_do() - call @run(@context), or take the result of the call that was begun
 *
 * Waits a moment for a call that it begins, as most end at once. Of the capabilities of the caller
 * the thread has those by which files are opened, and it takes no signals.
 *
 * Return: what @run returned, or -EAGAIN: call this again. That is also the answer as long as the
 * result of another function has not been taken. -ENOMEM where no thread can be made.
 */
int job_do(struct job *j, job_fn *run, void *context);

/** job_leave() - if a function runs, drop its result */
void job_leave(struct job *j);

/**
 * job_runs() - whether a function is still running; what it uses must not be released then
 *
 * If the one that was begun last has ended, and its result was not taken, @j->result has it from
 * now on.
 */
bool job_runs(struct job *j);

#endif /* NTPROF_CORE_JOB_H */
