// SPDX-License-Identifier: GPL-2.0-only
/*
 * burst_reader DEVICE COUNT BEFORE WAIT SPIN [OTHER] - reads a block COUNT times, one by one, and
 * keeps the processor for itself meanwhile: from WAIT microseconds after it was submitted on, for
 * SPIN microseconds, under SCHED_FIFO. With BEFORE, a read of so many bytes is submitted in front
 * of it, from the device OTHER if there is one.
 *
 * Prints the mean time from the submission to the end of all in nanoseconds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec t = {.tv_sec = (time_t)(ns / 1000000000),
				   .tv_nsec = (long)(ns % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

int main(int argc, char **argv)
{
	const struct sched_param first = {.sched_priority = 50};
	uint64_t count, before, wait, spin, sum = 0;
	aio_context_t context = 0;
	char *to, *to_before;
	int fd, other, block;

	if (argc != 6 && argc != 7)
		return 2;
	count = strtoull(argv[2], NULL, 10);
	before = strtoull(argv[3], NULL, 10);
	wait = strtoull(argv[4], NULL, 10) * 1000;
	spin = strtoull(argv[5], NULL, 10) * 1000;
	fd = open(argv[1], O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, BLKSSZGET, &block))
		fail(argv[1]);
	other = argc == 7 ? open(argv[6], O_RDONLY | O_DIRECT | O_CLOEXEC) : fd;
	if (other < 0)
		fail(argv[6]);
	to = aligned_alloc(4096, 4096);
	to_before = aligned_alloc(4096, (before | 4095) + 1);
	if (!to || !to_before || syscall(SYS_io_setup, 2, &context))
		fail("io_setup");
	memset(to_before, 1, before);
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		fail("sched_setscheduler");
	for (uint64_t i = 0; i < count; i++) {
		struct iocb small = {.aio_lio_opcode = IOCB_CMD_PREAD,
				     .aio_fildes = (uint32_t)fd,
				     .aio_buf = (uintptr_t)to,
				     .aio_nbytes = (uint64_t)block,
				     .aio_offset = block * (int64_t)i};
		struct iocb large = {.aio_lio_opcode = IOCB_CMD_PREAD,
				     .aio_fildes = (uint32_t)other,
				     .aio_buf = (uintptr_t)to_before,
				     .aio_nbytes = before,
				     .aio_offset = (int64_t)((i + 1) << 20)};
		struct iocb *all[2] = {before ? &large : &small, &small};
		const long nr = before ? 2 : 1;
		struct io_event end[2];
		uint64_t begun = now_ns();

		if (syscall(SYS_io_submit, context, nr, all) != nr)
			fail("io_submit");
		if (spin) {
			if (wait)
				sleep_until(begun + wait);
			while (now_ns() < begun + wait + spin)
				;
		}
		if (syscall(SYS_io_getevents, context, nr, nr, end, NULL) != nr)
			fail("io_getevents");
		sum += now_ns() - begun;
		for (long k = 0; k < nr; k++)
			if (end[k].res <= 0)
				fail("a read");
		sleep_until(now_ns() + 2000000);
	}
	printf("%llu\n", (unsigned long long)(sum / count));
	return 0;
}
