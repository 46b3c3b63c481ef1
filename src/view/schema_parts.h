/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds the parts of a JSON Schema (draft 2020-12). A function that makes an object returns a new
 * one. The object into which it is put owns it.
 */
#ifndef NTPROF_VIEW_SCHEMA_PARTS_H
#define NTPROF_VIEW_SCHEMA_PARTS_H

#include <json-c/json_object.h>

struct column;
struct columns;

/** schema_types() - { "type": [...] }; @types: words separated by blanks */
struct json_object *schema_types(const char *types);
/** schema_described() - add a description to @schema, and return it */
struct json_object *schema_described(struct json_object *schema, const char *text);
/** schema_list() - an array of @items */
struct json_object *schema_list(struct json_object *items);
/** schema_or_null() - allow null as well for @schema, and return it */
struct json_object *schema_or_null(struct json_object *schema);

/** schema_object() - an object that may have only the members that the next two functions add */
struct json_object *schema_object(void);
/** schema_has() - add a required member @name to @object */
void schema_has(struct json_object *object, const char *name, struct json_object *schema);
/** schema_may_have() - add an optional member @name to @object */
void schema_may_have(struct json_object *object, const char *name, struct json_object *schema);
/** schema_requires() - make the member @name of @object a required one */
void schema_requires(struct json_object *object, const char *name);
/** schema_part() - the value of @name in @o; NULL if there is none */
struct json_object *schema_part(struct json_object *o, const char *name);

/** schema_column() - the type of the values of one column */
struct json_object *schema_column(const struct column *c);
/** schema_has_columns() - add a required member to @object for each column of @t */
void schema_has_columns(struct json_object *object, const struct columns *t);
/** schema_longer_row() - a row of @t to which the caller adds more members */
struct json_object *schema_longer_row(const struct columns *t);
/** schema_row() - a reference to a row of @t, which is defined in @defs */
struct json_object *schema_row(struct json_object *defs, const struct columns *t);
/**
 * schema_defined() - a reference to @name in @defs; if it is not defined yet, @make makes the
 * definition
 */
struct json_object *schema_defined(struct json_object *defs, const char *name,
				   struct json_object *(*make)(struct json_object *defs));

#endif /* NTPROF_VIEW_SCHEMA_PARTS_H */
