#include "runner/table/html.h"

#include "runner/table/text.h"

#include <string.h>

enum { TEXT_MAX = 1 << 20 };

static const char *html_entity(char c) {
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

/* The bytes of U+FFFE and U+FFFF, which XML does not allow; 0 = another character. */
static size_t html_invalid_bytes(const char *text) {
  return strncmp(text, "\xef\xbf\xbe", 3) == 0 || strncmp(text, "\xef\xbf\xbf", 3) == 0 ? 3 : 0;
}

void html_escape(struct strbuf *buffer, const char *text) {
  struct strbuf plain;
  strbuf_init(&plain, TEXT_MAX);
  text_append(&plain, text);
  for (const char *at = plain.text; *at != '\0';) {
    const char *entity = html_entity(*at);
    const size_t dropped = html_invalid_bytes(at);
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

/* ---- tables ---- */

/* One table that is written. */
struct html_table_writer {
  FILE *page;
  const struct result_set *rows;
  bool results;
  size_t mark_width; /* the widest mark; 0 = there is none */
};

static size_t html_mark_width(const struct result_set *rows) {
  size_t width = 0;
  for (size_t c = 0; c < rows->column_count; c++) {
    for (size_t r = 0; rows->columns[c].is_mark && r < rows->row_count; r++) {
      const char *mark = result_set_text_at(rows, r, c);
      width = mark != NULL && strlen(mark) > width ? strlen(mark) : width;
    }
  }
  return width;
}

/* Every number leaves room for the widest mark, so that numbers stay below each other. */
static void html_mark(const struct html_table_writer *writer, const char *mark) {
  if (writer->mark_width > 0) {
    (void)fprintf(writer->page, "<span class=\"mark\" style=\"min-width:%zuch\">",
                  writer->mark_width);
    html_text(writer->page, mark);
    (void)fputs("</span>", writer->page);
  }
}

static bool html_has_mark(const struct result_set *rows, size_t column) {
  return column + 1 < rows->column_count && rows->columns[column + 1].is_mark;
}

static void html_table_heading(const struct html_table_writer *writer, size_t column) {
  FILE *page = writer->page;
  const struct result_set *rows = writer->rows;
  const char *name = rows->columns[column].name;
  const bool right = result_set_is_right(rows, column);
  if (writer->results && name[0] == '\0') {
    (void)fputs("<td></td>", page);
    return;
  }
  if (writer->results) {
    (void)fprintf(page, "<th scope=\"col\" class=\"%s\">", right ? "n" : "name");
    html_text(page, strcmp(name, "+/- %") == 0 ? "\xc2\xb1 %" : name);
  } else {
    (void)fprintf(page, "<th scope=\"col\"%s>", right ? " class=\"n\"" : "");
    for (; *name != '\0'; name++) {
      const char c[2] = {(char)(*name == '_' ? ' ' : *name), '\0'};
      html_text(page, c);
    }
  }
  if (html_has_mark(rows, column)) {
    html_mark(writer, NULL);
  }
  (void)fputs("</th>", page);
}

static void html_table_result(const struct html_table_writer *writer, size_t row, size_t column) {
  static const char *const classes[] = {"",    " dim", " bad", " h0",
                                        " h1", " h2",  " h3",  " h4"}; /* by tone */
  FILE *page = writer->page;
  const struct result_set *rows = writer->rows;
  const char *text = result_set_text_at(rows, row, column);
  const unsigned tone = result_set_cell(rows, row, column)->tone;
  const bool share = strncmp(rows->columns[column].name, "% of", 4) == 0 && text != NULL;
  (void)fprintf(page, "<td class=\"%s%s%s\"", result_set_is_right(rows, column) ? "n" : "name",
                rows->is_matrix && tone == TONE_DIM ? " none" : classes[tone],
                share ? " share" : "");
  if (share) {
    (void)fputs(" style=\"--share:", page);
    html_text(page, text);
    (void)fputs("%\"", page);
  }
  (void)fputc('>', page);
  html_text(page, text);
  if (html_has_mark(rows, column)) {
    html_mark(writer, result_set_text_at(rows, row, column + 1));
  }
  (void)fputs("</td>", page);
}

static void html_table_row(const struct html_table_writer *writer, size_t row) {
  const struct result_set *rows = writer->rows;
  (void)fputs("<tr>", writer->page);
  for (size_t c = 0; c < rows->column_count; c++) {
    if (!rows->facts[c].filled || rows->columns[c].is_mark) {
      continue;
    }
    if (rows->columns[c].is_row_header) {
      (void)fputs("<th scope=\"row\">", writer->page);
      html_text(writer->page, result_set_text_at(rows, row, c));
      (void)fputs("</th>", writer->page);
    } else if (writer->results) {
      html_table_result(writer, row, c);
    } else {
      html_element(writer->page, "td", result_set_is_right(rows, c) ? "n" : NULL,
                   result_set_text_at(rows, row, c));
    }
  }
  (void)fputs("</tr>\n", writer->page);
}

void html_table_begin(FILE *page, const char *class, const char *caption) {
  (void)fprintf(page, "<div class=\"wide\"><table%s>", class);
  html_element(page, "caption", "away", caption);
  (void)fputs("<thead><tr>", page);
}

void html_table(FILE *page, const struct result_set *rows,
                const struct html_table_options *options) {
  const struct html_table_writer writer = {page, rows, options->results, html_mark_width(rows)};
  html_table_begin(page, rows->is_matrix ? " class=\"matrix\"" : "", options->caption);
  for (size_t c = 0; c < rows->column_count; c++) {
    if (rows->facts[c].filled && !rows->columns[c].is_mark) {
      html_table_heading(&writer, c);
    }
  }
  (void)fputs(HTML_TABLE_ROWS, page);
  for (size_t r = 0; r < rows->row_count; r++) {
    html_table_row(&writer, r);
  }
  (void)fputs(HTML_TABLE_END, page);
  if (rows->left_out > 0) {
    (void)fprintf(page, "<p class=\"note\">%zu more %s: <code>", rows->left_out,
                  rows->left_out == 1 ? "row is not shown" : "rows are not shown");
    html_text(page, options->more);
    (void)fputs("</code></p>\n", page);
  }
}
