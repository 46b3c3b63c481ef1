// SPDX-License-Identifier: GPL-2.0-only
#include "view/json.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "core/time.h"

/* Room for the digits that a double always keeps (DBL_DIG). */
#define REAL_LEN 32

/* Memory ran out while the current line was built. */
static bool out_of_memory;

static struct json_object *made(struct json_object *o)
{
	out_of_memory |= !o;
	return o;
}

struct json_object *json_new(const char *type)
{
	struct json_object *o = json_empty();

	json_put(o, "type", json_text(type));
	json_put(o, "schema_version", json_natural(JSON_SCHEMA_VERSION));
	return o;
}

struct json_object *json_empty(void)
{
	return made(json_object_new_object());
}

struct json_object *json_array(void)
{
	return made(json_object_new_array());
}

struct json_object *json_text(const char *s)
{
	size_t size = strlen(s) * TEXT_UTF8_GROWS + 1;
	struct json_object *o;
	char *utf8;

	if (text_is_printable(s))
		return made(json_object_new_string(s));
	utf8 = malloc(size);
	if (!utf8)
		return made(NULL);
	o = made(json_object_new_string(text_copy(utf8, size, s, TEXT_UTF8)));
	free(utf8);
	return o;
}

struct json_object *json_natural(uint64_t n)
{
	return made(json_object_new_uint64(n));
}

struct json_object *json_integer(int64_t n)
{
	return made(json_object_new_int64(n));
}

struct json_object *json_real(double n)
{
	char text[REAL_LEN];

	/* JSON has no numbers that are not finite. */
	if (!isfinite(n))
		return NULL;
	snprintf(text, sizeof(text), "%.15g", n);
	return made(json_object_new_double_s(n, text));
}

struct json_object *json_flag(bool on)
{
	return made(json_object_new_boolean(on));
}

static struct json_object *value(const struct column *c, const struct value *v)
{
	if (c->unit == UNIT_FLAG)
		return json_flag(!v->none && v->natural);
	if (v->none && !v->zero)
		return NULL;
	switch (v->type) {
	case VALUE_TEXT:
		return json_text(v->text);
	case VALUE_NATURAL:
		return json_natural(v->natural);
	case VALUE_INTEGER:
		return json_integer(v->integer);
	case VALUE_REAL:
		return json_real(v->real);
	}
	return NULL;
}

void json_put_row(struct json_object *o, const struct columns *t, const void *row)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		struct value v;

		columns_get(t, i, row, &v);
		json_put(o, t->column[i].name, value(&t->column[i], &v));
	}
}

struct json_object *json_row(const struct columns *t, const void *row)
{
	struct json_object *o;

	if (!row)
		return NULL;
	o = json_empty();
	json_put_row(o, t, row);
	return o;
}

void json_put(struct json_object *o, const char *name, struct json_object *member)
{
	if (!o || json_object_object_add(o, name, member)) {
		out_of_memory = true;
		json_object_put(member);
	}
}

void json_append(struct json_object *array, struct json_object *element)
{
	if (!array || json_object_array_add(array, element)) {
		out_of_memory = true;
		json_object_put(element);
	}
}

void json_put_time(struct json_object *o)
{
	char now[RFC3339_LEN];

	json_put(o, "time", json_text(rfc3339_now(now)));
}

int json_write(FILE *f, struct json_object *o)
{
	const char *text = NULL;
	int err = 0;

	if (!out_of_memory)
		text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
								 JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!text)
		err = -ENOMEM;
	else
		text_print(f, text, TEXT_JSON);
	if (text && (fputc('\n', f) == EOF || ferror(f)))
		err = errno ? -errno : -EIO;
	out_of_memory = false;
	json_object_put(o);
	return err;
}

/* Names are words of the program, far shorter than a line's room. */
static void line_name(struct json_line *l, const char *name)
{
	size_t length = strlen(name);
	char *at;

	if (sizeof(l->line.text) - l->line.used < length + 4)
		text_line_flush(&l->line);
	at = l->line.text + l->line.used;
	*at = ',';
	at += l->separates;
	*at++ = '"';
	memcpy(at, name, length);
	memcpy(at + length, "\":", 2);
	l->line.used = (size_t)(at + length + 2 - l->line.text);
	l->separates = true;
}

/* As json_write() writes it. */
static void line_object(struct json_line *l, struct json_object *o)
{
	text_line_flush(&l->line);
	text_print(l->line.f,
		   json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
							     JSON_C_TO_STRING_NOSLASHESCAPE),
		   TEXT_JSON);
	json_object_put(o);
}

static void line_text(struct json_line *l, const char *s)
{
	size_t n = 0;

	while (s[n] >= ' ' && s[n] <= '~' && s[n] != '"' && s[n] != '\\')
		n++;
	if (s[n]) {
		line_object(l, json_text(s));
		return;
	}
	text_line_char(&l->line, '"');
	text_line_put(&l->line, s, n);
	text_line_char(&l->line, '"');
}

static void line_value(struct json_line *l, const struct column *c, const struct value *v)
{
	if (c->unit == UNIT_FLAG)
		text_line_puts(&l->line, !v->none && v->natural ? "true" : "false");
	else if (v->none && !v->zero)
		text_line_puts(&l->line, "null");
	else if (v->type == VALUE_TEXT)
		line_text(l, v->text);
	else if (v->type == VALUE_NATURAL)
		text_line_natural(&l->line, v->natural);
	else if (v->type == VALUE_INTEGER)
		text_line_integer(&l->line, v->integer);
	else
		line_object(l, json_real(v->real));
}

void json_line_begin(struct json_line *l, FILE *f, const char *type)
{
	l->line.f = f;
	l->line.used = 0;
	l->separates = false;
	text_line_char(&l->line, '{');
	json_line_text(l, "type", type);
	json_line_integer(l, "schema_version", JSON_SCHEMA_VERSION);
}

void json_line_row(struct json_line *l, const struct columns *t, const void *row)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		struct value v;

		columns_get(t, i, row, &v);
		line_name(l, t->column[i].name);
		line_value(l, &t->column[i], &v);
	}
}

void json_line_open(struct json_line *l, const char *name)
{
	line_name(l, name);
	text_line_char(&l->line, '{');
	l->separates = false;
}

void json_line_close(struct json_line *l)
{
	text_line_char(&l->line, '}');
	l->separates = true;
}

void json_line_integer(struct json_line *l, const char *name, int64_t n)
{
	line_name(l, name);
	text_line_integer(&l->line, n);
}

void json_line_text(struct json_line *l, const char *name, const char *s)
{
	line_name(l, name);
	if (s)
		line_text(l, s);
	else
		text_line_puts(&l->line, "null");
}

int json_line_end(struct json_line *l)
{
	text_line_put(&l->line, "}\n", 2);
	text_line_flush(&l->line);
	return ferror(l->line.f) ? (errno ? -errno : -EIO) : 0;
}
