// SPDX-License-Identifier: GPL-2.0-only
#include "core/job.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <time.h>

#include "core/rights.h"

#define NS_PER_SECOND 1000000000ULL

uint64_t job_moment_ns = 10000000;

static void *job_run(void *job)
{
	struct job *j = job;

	/* It may still wait when the caller has given up more: each thread has rights of its own.
	 */
	rights_reduce(RIGHT(CAP_DAC_OVERRIDE) | RIGHT(CAP_DAC_READ_SEARCH));
	j->result = j->run(j->context);
	sem_post(&j->ended);
	return NULL;
}

/* Return: 0 or a negative errno */
static int begin(struct job *j, job_fn *run, void *context)
{
	sigset_t all, before;
	int err;

	j->run = run;
	j->context = context;
	j->unwanted = false;
	sem_init(&j->ended, 0, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&j->thread, NULL, job_run, j);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	j->busy = !err;
	if (err)
		sem_destroy(&j->ended);
	/* No thread can be made, which is no reason to ask again. */
	return err == EAGAIN ? -ENOMEM : -err;
}

static bool has_ended(struct job *j, uint64_t patience_ns)
{
	struct timespec until;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &until);
	patience_ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(patience_ns / NS_PER_SECOND);
	until.tv_nsec = (long)(patience_ns % NS_PER_SECOND);
	do {
		err = sem_clockwait(&j->ended, CLOCK_MONOTONIC, &until) ? errno : 0;
	} while (err == EINTR);
	if (err)
		return false;
	pthread_join(j->thread, NULL);
	sem_destroy(&j->ended);
	j->busy = false;
	return true;
}

int job_do(struct job *j, job_fn *run, void *context)
{
	const bool began = j->busy && !j->unwanted;
	int err;

	/* Another caller takes that result. */
	if (began && j->run != run)
		return -EAGAIN;
	if (j->busy && !has_ended(j, 0))
		return -EAGAIN;
	if (began)
		return j->result;
	err = begin(j, run, context);
	if (err)
		return err;
	return has_ended(j, job_moment_ns) ? j->result : -EAGAIN;
}

void job_leave(struct job *j)
{
	j->unwanted = true;
}

bool job_runs(struct job *j)
{
	return j->busy && !has_ended(j, 0);
}
