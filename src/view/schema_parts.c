// SPDX-License-Identifier: GPL-2.0-only
#include "view/schema_parts.h"

#include <stdio.h>

#include "view/columns.h"
#include "view/json.h"

struct json_object *schema_types(const char *types)
{
	struct json_object *o = json_empty(), *list = json_array();
	char word[16];
	int length;

	for (; sscanf(types, "%15s%n", word, &length) == 1; types += length)
		json_append(list, json_text(word));
	json_put(o, "type", list);
	return o;
}

struct json_object *schema_described(struct json_object *schema, const char *text)
{
	json_put(schema, "description", json_text(text));
	return schema;
}

struct json_object *schema_list(struct json_object *items)
{
	struct json_object *o = schema_types("array");

	json_put(o, "items", items);
	return o;
}

struct json_object *schema_object(void)
{
	struct json_object *o = schema_types("object");

	json_put(o, "properties", json_empty());
	json_put(o, "additionalProperties", json_object_new_boolean(false));
	return o;
}

struct json_object *schema_part(struct json_object *o, const char *name)
{
	struct json_object *found = NULL;

	json_object_object_get_ex(o, name, &found);
	return found;
}

void schema_may_have(struct json_object *object, const char *name, struct json_object *schema)
{
	json_put(schema_part(object, "properties"), name, schema);
}

void schema_requires(struct json_object *object, const char *name)
{
	/*
	 * json-c versions print an empty list differently, so a list is made only for its first
	 * element.
	 */
	if (!schema_part(object, "required"))
		json_put(object, "required", json_array());
	json_append(schema_part(object, "required"), json_text(name));
}

void schema_has(struct json_object *object, const char *name, struct json_object *schema)
{
	schema_may_have(object, name, schema);
	schema_requires(object, name);
}

struct json_object *schema_or_null(struct json_object *schema)
{
	json_append(schema_part(schema, "type"), json_text("null"));
	return schema;
}

struct json_object *schema_column(const struct column *c)
{
	char text[128];

	snprintf(text, sizeof(text), "%s: %s", c->title, unit_name(c->unit));
	switch (c->unit) {
	case UNIT_NAME:
	case UNIT_TEXT:
		return schema_described(schema_types("string null"), text);
	case UNIT_FLAG:
		return schema_described(schema_types("boolean"), text);
	case UNIT_NUMBER:
		/* The value may be "all", for all queues. */
		return schema_described(schema_types("integer string null"), text);
	case UNIT_CODE:
	case UNIT_INSTANT:
		return schema_described(schema_types("integer null"), text);
	default:
		return schema_described(schema_types("number null"), text);
	}
}

void schema_has_columns(struct json_object *object, const struct columns *t)
{
	for (unsigned int i = 0; i < t->nr; i++)
		schema_has(object, t->column[i].name, schema_column(&t->column[i]));
}

struct json_object *schema_longer_row(const struct columns *t)
{
	struct json_object *o = schema_object();

	schema_has_columns(o, t);
	return o;
}

static struct json_object *reference_to(const char *name)
{
	struct json_object *o = json_empty();
	char text[64];

	snprintf(text, sizeof(text), "#/$defs/%s", name);
	json_put(o, "$ref", json_text(text));
	return o;
}

struct json_object *schema_defined(struct json_object *defs, const char *name,
				   struct json_object *(*make)(struct json_object *defs))
{
	if (!schema_part(defs, name))
		json_put(defs, name, make(defs));
	return reference_to(name);
}

struct json_object *schema_row(struct json_object *defs, const struct columns *t)
{
	if (!schema_part(defs, t->name))
		json_put(defs, t->name, schema_longer_row(t));
	return reference_to(t->name);
}
