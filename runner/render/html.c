#include "runner/render/html.h"

#include "runner/render/text.h"

#include <string.h>

enum { TEXT_MAX = 1 << 20 };

static const char *entity_of(char c) {
  switch (c) {
  case '&':
    return "&amp;";
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '"':
    return "&quot;";
  default:
    return NULL;
  }
}

/* U+FFFE and U+FFFF, which XML does not allow: how many bytes, 0 = it is none. */
static size_t no_character(const char *text) {
  return strncmp(text, "\xef\xbf\xbe", 3) == 0 || strncmp(text, "\xef\xbf\xbf", 3) == 0 ? 3 : 0;
}

void html_escape(struct strbuf *buffer, const char *text) {
  struct strbuf plain;
  strbuf_init(&plain, TEXT_MAX);
  text_escape(&plain, text, strlen(text), ESCAPE_TERMINAL);
  for (const char *at = plain.text; *at != '\0';) {
    const char *entity = entity_of(*at);
    const size_t dropped = no_character(at);
    if (dropped > 0) {
      strbuf_append(buffer, "\xef\xbf\xbd");
    } else if (entity != NULL) {
      strbuf_append(buffer, entity);
    } else {
      strbuf_append_char(buffer, *at);
    }
    at += dropped > 0 ? dropped : 1;
  }
  strbuf_fini(&plain);
}

void html_text(FILE *page, const char *text) {
  struct strbuf escaped;
  if (text == NULL) {
    return;
  }
  strbuf_init(&escaped, (size_t)8 * TEXT_MAX);
  html_escape(&escaped, text);
  (void)fwrite(escaped.text, 1, escaped.length, page);
  strbuf_fini(&escaped);
}

void html_element(FILE *page, const char *tag, const char *class, const char *text) {
  (void)fprintf(page, "<%s", tag);
  if (class != NULL) {
    (void)fprintf(page, " class=\"%s\"", class);
  }
  (void)fputc('>', page);
  html_text(page, text);
  (void)fprintf(page, "</%s>", tag);
}

static void put_heading(FILE *page, const char *name, bool number) {
  (void)fprintf(page, "<th scope=\"col\"%s>", number ? " class=\"n\"" : "");
  for (; *name != '\0'; name++) {
    const char c[2] = {*name, '\0'};
    html_text(page, *name == '_' ? " " : c);
  }
  (void)fputs("</th>", page);
}

void html_table(FILE *page, const struct kept *rows, const char *caption, const char *more) {
  (void)fputs("<div class=\"wide\"><table>", page);
  html_element(page, "caption", "away", caption);
  (void)fputs("<thead><tr>", page);
  for (size_t c = 0; c < rows->column_count; c++) {
    if (rows->columns[c].filled) {
      put_heading(page, rows->columns[c].name, rows->columns[c].number);
    }
  }
  (void)fputs("</tr></thead>\n<tbody>\n", page);
  for (size_t r = 0; r < rows->count; r++) {
    (void)fputs("<tr>", page);
    for (size_t c = 0; c < rows->column_count; c++) {
      if (rows->columns[c].filled) {
        html_element(page, "td", rows->columns[c].number ? "n" : NULL, kept_at(rows, r, c));
      }
    }
    (void)fputs("</tr>\n", page);
  }
  (void)fputs("</tbody></table></div>\n", page);
  if (rows->left_out > 0) {
    (void)fprintf(page, "<p class=\"note\">%zu more %s: <code>", rows->left_out,
                  rows->left_out == 1 ? "row is not shown" : "rows are not shown");
    html_text(page, more);
    (void)fputs("</code></p>\n", page);
  }
}
