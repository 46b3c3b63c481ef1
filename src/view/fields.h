/* SPDX-License-Identifier: GPL-2.0-only */
/* The fields of a submission queue entry, which depend on the command. */
#ifndef NTPROF_VIEW_FIELDS_H
#define NTPROF_VIEW_FIELDS_H

#include "core/record.h"

/* No command has more fields. */
#define FIELDS_MAX 8

/**
 * struct sqe_field - a field
 * @name: the abbreviation of the NVMe specifications, in lower case
 * @value: its value
 * @word: name of that value; NULL if it has no name
 */
struct sqe_field {
	const char *name;
	__u64 value;
	const char *word;
};

/**
 * fields_of() - fill @found with the fields that a command has in dwords 10 to 15
 *
 * Return: number of fields.
 */
unsigned int fields_of(const struct nt_begun *b, struct sqe_field found[FIELDS_MAX]);

#endif /* NTPROF_VIEW_FIELDS_H */
