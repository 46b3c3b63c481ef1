/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of tables as JSON, from the same columns as tables, with the library json-c. Numbers are
 * exact, in the base unit of their column. A missing value is null, or false for a flag.
 *
 * If memory runs out while an object is built, json_write() returns the error.
 */
#ifndef NTPROF_VIEW_JSON_H
#define NTPROF_VIEW_JSON_H

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/text.h"
#include "view/columns.h"

/*
 * The version of docs/output.schema.json: raised when a member goes, or gets another name or
 * another meaning.
 */
#define JSON_SCHEMA_VERSION 1

/** json_new() - an object with the first members of each line: its type, and the schema's version
 */
struct json_object *json_new(const char *type);

/** json_array() - an empty array */
struct json_object *json_array(void);

/** json_empty() - an empty object without a type */
struct json_object *json_empty(void);

/** json_row() - all columns of a row, by their names; if @row is NULL: null */
struct json_object *json_row(const struct columns *t, const void *row);

/** json_put_row() - add the columns of a row to an object */
void json_put_row(struct json_object *o, const struct columns *t, const void *row);

/** json_text() - a string of any origin: bytes that are not UTF-8 become U+FFFD */
struct json_object *json_text(const char *s);

/** json_natural() - a whole number, not negative */
struct json_object *json_natural(uint64_t n);

/** json_integer() - a whole number, which may be negative */
struct json_object *json_integer(int64_t n);

/** json_real() - any number; NULL, which is written as null, if it is not finite */
struct json_object *json_real(double n);

/** json_flag() - true or false */
struct json_object *json_flag(bool on);

/** json_put() - add a member to an object, which takes ownership; if @member is NULL: null */
void json_put(struct json_object *o, const char *name, struct json_object *member);

/** json_append() - add an element to an array, which takes ownership */
void json_append(struct json_object *array, struct json_object *element);

/** json_put_time() - add "time", the wall clock now in UTC, as of RFC 3339 */
void json_put_time(struct json_object *o);

/** json_write() - write an object as one line, and release it; Return: 0, -EIO or -ENOMEM */
int json_write(FILE *f, struct json_object *o);

/*
 * A line that is written while it is made, without objects, which take most of the time where there
 * are millions of lines. Its bytes are those of json_write() for the same members in the same
 * order.
 */

/**
 * struct json_line - an object
 * @separates: a member would not be the first one of its object
 */
struct json_line {
	bool separates;
	struct text_line line;
};

/** json_line_begin() - as json_new(); @l: filled */
void json_line_begin(struct json_line *l, FILE *f, const char *type);

/** json_line_row() - add the columns of a row */
void json_line_row(struct json_line *l, const struct columns *t, const void *row);

/** json_line_open() - add an object, whose members follow until json_line_close() */
void json_line_open(struct json_line *l, const char *name);
void json_line_close(struct json_line *l);

/** json_line_integer() - add a member, as json_line_text() does; @s: NULL for null */
void json_line_integer(struct json_line *l, const char *name, int64_t n);
void json_line_text(struct json_line *l, const char *name, const char *s);

/** json_line_end() - write what is left; Return: 0 or -EIO */
int json_line_end(struct json_line *l);

#endif /* NTPROF_VIEW_JSON_H */
