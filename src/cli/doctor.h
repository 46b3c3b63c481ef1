/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page of checks of the verb probes: what this machine and its peers need to be measured, and
 * what to do where that is not there.
 */
#ifndef NTPROF_CLI_DOCTOR_H
#define NTPROF_CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"
#include "shared/points.h"

/* A machine that lets us log in may still say nothing, or never end. */
#define DOCTOR_PATIENCE_NS 30000000000ULL

/* Room for what a check says. */
#define DOCTOR_TEXT 1024

/**
 * struct doctor - what is to be checked
 * @side: NT_SIDES: both
 * @sys: where sysfs is mounted
 * @peers: machines that are reached by ssh
 * @patience_ns: the longest that each of these may take to answer
 */
struct doctor {
	enum nt_side side;
	const char *sys;
	const struct peer_options *peers;
	uint64_t patience_ns;
};

/**
 * struct doctor_line - what a check found
 * @name: of the check
 * @ok: nothing is wrong
 * @note: what is wrong does not spoil a measurement
 * @text: what there is, or what is wrong and what to do
 */
struct doctor_line {
	const char *name;
	bool ok;
	bool note;
	char text[DOCTOR_TEXT];
};

/**
 * doctor_check() - make a check
 * @n: its number, from 0 on
 * @l: filled; its text is "" if the check does not apply here
 *
 * Return: false if there is no check of this number.
 */
bool doctor_check(const struct doctor *d, unsigned int n, struct doctor_line *l);

/** doctor_peer() - whether check @n is of a peer */
bool doctor_peer(unsigned int n);

#endif /* NTPROF_CLI_DOCTOR_H */
