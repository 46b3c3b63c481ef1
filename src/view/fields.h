/* SPDX-License-Identifier: GPL-2.0-only */
/* What the fields of a submission queue entry say, by what command it is. */
#ifndef NTPROF_VIEW_FIELDS_H
#define NTPROF_VIEW_FIELDS_H

#include "core/record.h"

/* No command has more. */
#define FIELDS_MAX 8

/**
 * struct sqe_field - a field
 * @name: as the NVMe specifications abbreviate it, in lower case
 * @value: of it
 * @word: what that value is called; NULL where it has no name
 */
struct sqe_field {
	const char *name;
	__u64 value;
	const char *word;
};

/** fields_of() - @found is filled with the fields that a command has in dwords 10 to 15; Return: how many */
unsigned int fields_of(const struct nt_begun *b, struct sqe_field found[FIELDS_MAX]);

#endif /* NTPROF_VIEW_FIELDS_H */
