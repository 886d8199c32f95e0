/* html.h - text and tables of a page.
 *
 * Pages are HTML 5 that XML parsers read as well: elements are closed, attributes quoted, and what
 * comes from outside is escaped: markup as entities, control characters and invalid bytes as on a
 * terminal (text.h). Markup itself is written to the stream as it is; a failure to write is told by
 * the stream (ferror()). */
#ifndef HAUL_RUNNER_RENDER_HTML_H
#define HAUL_RUNNER_RENDER_HTML_H

#include "runner/render/kept.h"

#include <stdio.h>

/* Escaped for content and for attributes in double quotes; NULL = nothing. */
void html_text(FILE *page, const char *text);
/* Appended to a buffer instead. */
void html_escape(struct strbuf *buffer, const char *text);
/* <tag class="class">text</tag>; class NULL = none. */
void html_element(FILE *page, const char *tag, const char *class, const char *text);

/* A table of kept rows; columns without a value are left out, numbers stand to the right, "_" in
 * names of columns is a space. caption: for who does not see the heading above. more: how to get
 * the rows that were not kept. */
void html_table(FILE *page, const struct kept *rows, const char *caption, const char *more);

#endif
