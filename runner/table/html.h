/* html.h - text and tables of a page.
 *
 * Pages are HTML 5 that XML parsers read as well: elements are closed, attributes quoted, and what
 * comes from outside is escaped: markup as entities, control characters and invalid bytes as on a
 * terminal (text.h). Markup itself is written to the stream as it is; a failure to write is told by
 * the stream (ferror()). */
#pragma once

#include "runner/table/result_set.h"

#include <stdio.h>

/* Markup with values in it, as printf() writes them; only %s, %d, %u, %zu, %f, %g (these with flags
 * and precision) and %%. What %s takes is escaped for content and for attributes in double quotes;
 * NULL = nothing. */
void html_print(FILE *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appended to a buffer instead. */
void html_put(struct strbuf *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void html_escape(struct strbuf *buffer, const char *text);
/* The content of a text element of SVG: at most so many characters, of a longer text the first of
 * them, "..." and the whole as its title. */
void html_put_cut(struct strbuf *buffer, const char *text, size_t characters);

struct html_table_options {
  const char *caption; /* for screen readers, which do not see the heading above */
  const char *more; /* command that shows the rows that were not kept; NULL = none were left out */
  bool results;     /* a table of results: cells have the classes of their tones, shares of a peak
                       a bar; else "_" in names of columns is a space */
};

/* Columns without a value are left out; numbers are aligned right. */
void html_table(FILE *page, const struct result_set *rows,
                const struct html_table_options *options);

/* For tables with cells that are more than text: up to the first heading, with the caption as %s;
 * from the last heading to the first row; the end. */
#define HTML_TABLE_CAPTION "<caption class=\"away\">%s</caption><thead><tr>"
#define HTML_TABLE_BEGIN   "<div class=\"wide\"><table>" HTML_TABLE_CAPTION
#define HTML_TABLE_ROWS    "</tr></thead>\n<tbody>\n"
#define HTML_TABLE_END     "</tbody></table></div>\n"
