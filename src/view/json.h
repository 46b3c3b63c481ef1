/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of tables as JSON: what is described once in columns, by the library json-c. Numbers are exact, in
 * the base unit of their column; where there is no value there is null, or false of a flag.
 *
 * Memory that runs out while an object is built is noticed when it is written.
 */
#ifndef NTPROF_VIEW_JSON_H
#define NTPROF_VIEW_JSON_H

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdio.h>

#include "view/columns.h"

/** json_new() - an empty object, and the first member that each line has: what it is of */
struct json_object *json_new(const char *type);

/** json_array() - an empty array */
struct json_object *json_array(void);

/** json_empty() - an empty object without a type */
struct json_object *json_empty(void);

/** json_row() - all columns of a row, by their names; @row may be NULL: null */
struct json_object *json_row(const struct columns *t, const void *row);

/** json_put_row() - add the columns of a row to an object */
void json_put_row(struct json_object *o, const struct columns *t, const void *row);

/** json_text() - a string of anybody's: bytes that are not UTF-8 become U+FFFD */
struct json_object *json_text(const char *s);

/** json_natural() - a whole number from 0 on */
struct json_object *json_natural(uint64_t n);

/** json_integer() - a whole number, negative ones too */
struct json_object *json_integer(int64_t n);

/** json_real() - any number; NULL, which is null, where it is not finite */
struct json_object *json_real(double n);

/** json_flag() - true or false */
struct json_object *json_flag(bool on);

/** json_put() - add a member to an object, which owns it from then on; @member of NULL: null */
void json_put(struct json_object *o, const char *name, struct json_object *member);

/** json_append() - the same for an array */
void json_append(struct json_object *array, struct json_object *element);

/** json_put_time() - add "time", the wall clock now as RFC 3339 has it, in UTC */
void json_put_time(struct json_object *o);

/** json_write() - write an object as one line, and release it; Return: 0, -EIO or -ENOMEM */
int json_write(FILE *f, struct json_object *o);

/** json_write_pretty() - the same in many lines, for people */
int json_write_pretty(FILE *f, struct json_object *o);

#endif /* NTPROF_VIEW_JSON_H */
