/* SPDX-License-Identifier: GPL-2.0-only */
/* The schema of JSON output (JSON Schema, draft 2020-12), made from the same tables of columns. */
#ifndef NTPROF_VIEW_JSON_SCHEMA_H
#define NTPROF_VIEW_JSON_SCHEMA_H

#include <stdio.h>

/** json_schema_print() - print the schema of every line of all verbs; Return: 0, -EIO or -ENOMEM */
int json_schema_print(FILE *f);

#endif /* NTPROF_VIEW_JSON_SCHEMA_H */
