/* SPDX-License-Identifier: GPL-2.0-only */
/* Who uses the backing disks of a target, of an interval and of the whole run: see --disks. */
#ifndef NTPROF_CORE_DISKS_H
#define NTPROF_CORE_DISKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device.h"
#include "core/turnover.h"
#include "shared/disk_use.h"

/*
 * The most hosts and cgroups with rows. Cgroups come and go; with more of them, the row that has
 * counted nothing for longest is added to the DISK_GONE of its disk. If each has counted something
 * just now, the new one is in DISK_OTHERS.
 */
#ifndef DISK_ROWS_MAX
#define DISK_ROWS_MAX 256
#endif

/* By name: "host", "cgroup", "kernel", "others", "gone". Rows of a disk are in this order. */
enum disk_user {
	DISK_HOST,
	DISK_CGROUP,
	DISK_KERNEL, /* requests of the block layer itself */
	DISK_OTHERS,
	DISK_GONE,
	DISK_USERS_NR
};

/**
 * struct disk_use - the sum of struct nt_disk_use
 * @ns: with all the requests that are counted at a time it exceeds 2^64 on the 14th day
 */
struct disk_use {
	uint64_t requests;
	uint64_t bytes;
	unsigned __int128 ns;
};

/**
 * struct disk_row - what one user did to one disk
 * @disk: its name, such as "sda"
 * @who: NQN of a host, or path of a cgroup, as labels show it: those that are shown alike are one
 *       row, or their series would fall when one of them gives way; "" of others
 * @quiet: intervals in a row in which nothing was counted
 * @created_ms: when the interval that it is new in began, since 1970; 0 of the first one
 * @of_interval, @of_total: time of all requests to this disk
 */
struct disk_row {
	char disk[NT_DISK_NAME_LEN];
	enum disk_user user;
	char who[ORIGIN_CGROUP_LEN];
	uint32_t quiet;
	uint64_t created_ms;
	struct disk_use interval;
	struct disk_use total;
	unsigned __int128 of_interval;
	unsigned __int128 of_total;
};

/**
 * struct disk_rows - all of them, by disk, kind of user and name; zeroes at first
 * @asked: they are counted
 * @limited: how many of the rows are of a host or a cgroup
 * @turnover: those that give way to a host, and to a cgroup; @max: 0: any
 * @since_ms: when the interval began, since 1970; 0 of the first one
 */
struct disk_rows {
	bool asked;
	struct disk_row *row;
	size_t nr;
	size_t limited;
	uint64_t since_ms;
	struct turnover turnover[DISK_CGROUP + 1];
};

/**
 * struct disk_sample - what one user did to one disk in an interval, as recordings have it
 * @from_ns, @to_ns: CLOCK_MONOTONIC
 * @user: enum disk_user
 * @disk, @who: see struct disk_row
 */
struct disk_sample {
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t requests;
	uint64_t bytes;
	uint64_t ns;
	char disk[NT_DISK_NAME_LEN];
	char who[ORIGIN_CGROUP_LEN];
	uint16_t user;
};

/** disk_user_name() - "host", ...; @user: enum disk_user */
const char *disk_user_name(unsigned int user);

/**
 * disk_rows_hourly() - from now on, as many rows as there may be give way within an hour to hosts,
 * and as many to cgroups; past that, new ones are in DISK_OTHERS. For rows that a scraper keeps.
 */
void disk_rows_hourly(struct disk_rows *d);

/**
 * disk_rows_begin() - an interval has ended, and its counts come
 * @since_ms: when it began, since 1970; 0: it is the first one
 */
void disk_rows_begin(struct disk_rows *d, uint64_t since_ms);

/** disk_rows_add() - add to the row of a disk and user; Return: 0 or -ENOMEM */
int disk_rows_add(struct disk_rows *d, const char *disk, enum disk_user user, const char *who,
		  const struct nt_disk_use *use);

/** disk_rows_end() - all of an interval have been added: fill @of_interval and @of_total */
void disk_rows_end(struct disk_rows *d);

/** disk_rows_free() - release; @d is empty then */
void disk_rows_free(struct disk_rows *d);

#endif /* NTPROF_CORE_DISKS_H */
