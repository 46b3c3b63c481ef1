/* SPDX-License-Identifier: GPL-2.0-only */
/* What a JSON Schema (draft 2020-12) is made of. All return new objects, which are given to whom they are put into. */
#ifndef NTPROF_VIEW_SCHEMA_PARTS_H
#define NTPROF_VIEW_SCHEMA_PARTS_H

#include <json-c/json_object.h>

struct column;
struct columns;

/** schema_types() - { "type": [...] }; @types: words that blanks part */
struct json_object *schema_types(const char *types);
/** schema_described() - @schema, which has got a description */
struct json_object *schema_described(struct json_object *schema, const char *text);
/** schema_list() - an array of @items */
struct json_object *schema_list(struct json_object *items);
/** schema_or_null() - @schema, which may be null as well */
struct json_object *schema_or_null(struct json_object *schema);

/** schema_object() - an object that has no members but those that it is given by the next two */
struct json_object *schema_object(void);
/** schema_has() - @object has a member @name */
void schema_has(struct json_object *object, const char *name, struct json_object *schema);
/** schema_may_have() - the same, which may be absent */
void schema_may_have(struct json_object *object, const char *name, struct json_object *schema);
/** schema_requires() - @object always has its member @name */
void schema_requires(struct json_object *object, const char *name);
/** schema_part() - what @o has under @name; NULL without it */
struct json_object *schema_part(struct json_object *o, const char *name);

/** schema_column() - the figures of one column */
struct json_object *schema_column(const struct column *c);
/** schema_has_columns() - @object has a member for each column of @t */
void schema_has_columns(struct json_object *object, const struct columns *t);
/** schema_longer_row() - a row of @t that is given more members */
struct json_object *schema_longer_row(const struct columns *t);
/** schema_row() - a reference to a row of @t, which is defined in @defs */
struct json_object *schema_row(struct json_object *defs, const struct columns *t);
/** schema_defined() - a reference to what @make makes and @defs has under @name from now on */
struct json_object *schema_defined(struct json_object *defs, const char *name,
				   struct json_object *(*make)(struct json_object *defs));

#endif /* NTPROF_VIEW_SCHEMA_PARTS_H */
