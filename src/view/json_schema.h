/* SPDX-License-Identifier: GPL-2.0-only */
/* What JSON output looks like, as JSON Schema (draft 2020-12) has it, out of the same tables of columns. */
#ifndef NTPROF_VIEW_JSON_SCHEMA_H
#define NTPROF_VIEW_JSON_SCHEMA_H

#include <stdio.h>

/** json_schema_print() - the schema of every line that any verb prints; Return: 0, -EIO or -ENOMEM */
int json_schema_print(FILE *f);

#endif /* NTPROF_VIEW_JSON_SCHEMA_H */
