/* content.h - keys of rows that are identified by their content: XXH3-128, as 32 hexadecimal
 * digits, of its fields one after the other, each as a netstring ("5:hello,", a number as its
 * decimal digits). The same content has the same key in every database. */
#pragma once

#include <stdint.h>

enum { CONTENT_KEY_MAX = 33 };

struct content;

struct content *content_new(void);
/* NULL counts as a value of its own. */
void content_text(struct content *content, const char *text);
void content_int(struct content *content, int64_t value);
/* Frees the content. */
void content_finish(struct content *content, char key[CONTENT_KEY_MAX]);

/* A UUIDv7 (RFC 9562, 5.7) as 32 hexadecimal digits: sortable by its time in ms since 1970. */
void content_uuid(uint64_t time_ms, char uuid[CONTENT_KEY_MAX]);
