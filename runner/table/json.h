/* json.h - JSON written value by value into a buffer, which the caller may write out and clear at
 * any time. What is not plain ASCII, and every real number, is encoded by jansson. */
#pragma once

#include "engine/base/error.h"
#include "engine/base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_OUT_DEPTH_MAX = 16 };

/* Zeroed but for the first two: nothing is written yet. */
struct json_out {
  struct strbuf *text; /* borrowed */
  unsigned indent;     /* blanks per level, a line per value; 0 = as short as can be */
  unsigned depth;
  char close[JSON_OUT_DEPTH_MAX];
  bool filled; /* the innermost object or array has a value */
  bool breaks; /* see json_out_break() */
};

/* Values. key: of the member; NULL in an array and for the outermost value. */
void json_out_open(struct json_out *json, const char *key, char bracket); /* '{' or '[' */
void json_out_close(struct json_out *json);
void json_out_null(struct json_out *json, const char *key);
void json_out_boolean(struct json_out *json, const char *key, bool value);
void json_out_integer(struct json_out *json, const char *key, int64_t value);
/* 17 digits; null where it is not finite. */
void json_out_real(struct json_out *json, const char *key, double value);
/* null for NULL. Invalid bytes become U+FFFD. */
void json_out_text(struct json_out *json, const char *key, const char *value);
/* Encoded by the caller. */
void json_out_raw(struct json_out *json, const char *key, const char *value);
/* The first member of what a verb prints: "schema": "haul.NAME/1". Programs read on where they know
 * it; the number grows when a member is renamed, removed or means something else. */
void json_out_schema(struct json_out *json, const char *name);
/* "haul.NAME/1" */
void json_out_schema_name(struct strbuf *text, const char *name);
/* The object that a verb prints, to an empty text; then it and a newline are written to the stream,
 * as in table.h. */
struct json_out json_out_begin(struct strbuf *text, const char *schema, unsigned indent);
enum status json_out_end(struct json_out *json, FILE *stream, struct error *err) CHECK_RESULT;
/* With indent 0: the next value begins a line. */
void json_out_break(struct json_out *json);
