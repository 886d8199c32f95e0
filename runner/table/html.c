#include "runner/table/html.h"

#include "engine/base/strings.h"
#include "runner/table/text.h"

#include <stdarg.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20 };

/* What the text begins with, if markup or XML do not allow it, and what stands for it. */
static const struct {
  const char *bytes, *shown;
} ESCAPES[] = {{"&", "&amp;"},
               {"<", "&lt;"},
               {">", "&gt;"},
               {"\"", "&quot;"},
               {"\xef\xbf\xbe", "\xef\xbf\xbd"},
               {"\xef\xbf\xbf", "\xef\xbf\xbd"}};

void html_escape(struct strbuf *buffer, const char *text) {
  SCOPED(strbuf_fini) struct strbuf plain = STRBUF(TEXT_MAX);
  text_put(&plain, text);
  for (const char *at = plain.text; *at != '\0';) {
    const size_t i = FIRST_OF(k, COUNT_OF(ESCAPES),
                              strncmp(at, ESCAPES[k].bytes, strlen(ESCAPES[k].bytes)) == 0);
    if (i < COUNT_OF(ESCAPES)) {
      strbuf_append(buffer, ESCAPES[i].shown);
      at += strlen(ESCAPES[i].bytes);
    } else {
      strbuf_append_char(buffer, *at++);
    }
  }
}

void html_put_cut(struct strbuf *buffer, const char *text, size_t characters) {
  if (text_width(text) <= characters) {
    html_escape(buffer, text);
    return;
  }
  size_t bytes = 0;
  for (size_t left = characters > 1 ? characters - 1 : 1; left > 0; left--) {
    do {
      bytes++;
    } while (((unsigned char)text[bytes] & 0xc0) == 0x80); /* continues the character */
  }
  SCOPED(strbuf_fini) struct strbuf part = STRBUF(bytes);
  strbuf_append_n(&part, text, bytes);
  html_put(buffer, "<title>%s</title>%s\xe2\x80\xa6", text, part.text);
}

static void html_put_list(struct strbuf *buffer, const char *format, va_list arguments) {
  for (const char *at = format; *at != '\0';) {
    char conversion[16];
    const size_t plain = strcspn(at, "%");
    strbuf_append_n(buffer, at, plain);
    at += plain;
    const size_t length = *at == '\0' ? 0 : 2 + strcspn(at + 1, "%dfgsu");
    (void)snprintf(conversion, sizeof conversion, "%.*s", (int)length, at);
    at += length;
    if (length == 0) {
      return;
    }
    if (strcmp(conversion, "%%") == 0) {
      strbuf_append_char(buffer, '%');
    } else if (strcmp(conversion, "%s") == 0) {
      const char *text = va_arg(arguments, const char *);
      html_escape(buffer, text != NULL ? text : "");
    } else if (strcmp(conversion, "%zu") == 0) {
      const size_t count = va_arg(arguments, size_t);
      strbuf_printf(buffer, conversion, count);
    } else if (at[-1] == 'd' || at[-1] == 'u') {
      const int number = va_arg(arguments, int);
      strbuf_printf(buffer, conversion, number);
    } else {
      strbuf_printf(buffer, conversion, va_arg(arguments, double));
    }
  }
}

void html_put(struct strbuf *buffer, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  html_put_list(buffer, format, arguments);
  va_end(arguments);
}

void html_print(FILE *page, const char *format, ...) {
  va_list arguments;
  SCOPED(strbuf_fini) struct strbuf text = STRBUF((size_t)8 * TEXT_MAX);
  va_start(arguments, format);
  html_put_list(&text, format, arguments);
  va_end(arguments);
  (void)fwrite(text.text, 1, text.length, page);
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
    html_print(writer->page, "<span class=\"mark\" style=\"min-width:%zuch\">%s</span>",
               writer->mark_width, mark);
  }
}

static bool html_has_mark(const struct result_set *rows, size_t column) {
  return column + 1 < rows->column_count && rows->columns[column + 1].is_mark;
}

static void html_table_heading(const struct html_table_writer *writer, size_t column) {
  FILE *page = writer->page;
  const struct result_set *rows = writer->rows;
  const bool right = result_set_is_right(rows, column);
  const char *name = rows->columns[column].name;
  if (writer->results && name[0] == '\0') {
    (void)fputs("<td></td>", page);
    return;
  }
  (void)fputs("<th scope=\"col\"", page);
  if (writer->results) {
    html_print(page, " class=\"%s\">%s", right ? "n" : "name",
               strcmp(name, "+/- %") == 0 ? "\xc2\xb1 %" : name);
  } else {
    (void)fputs(right ? " class=\"n\">" : ">", page);
    for (; *name != '\0'; name++) {
      const char c[2] = {(char)(*name == '_' ? ' ' : *name), '\0'};
      html_print(page, "%s", c);
    }
  }
  if (html_has_mark(rows, column)) {
    html_mark(writer, "");
  }
  (void)fputs("</th>", page);
}

static void html_table_result(const struct html_table_writer *writer, size_t row, size_t column) {
  static const char *const classes[] = {"",    " dim", " bad", " warn", " good",
                                        " h0", " h1",  " h2",  " h3",   " h4"}; /* by tone */
  FILE *page = writer->page;
  const struct result_set *rows = writer->rows;
  const char *text = result_set_text_at(rows, row, column);
  const unsigned tone = result_set_cell(rows, row, column)->tone;
  const bool share = strncmp(rows->columns[column].name, "% of", 4) == 0 && text != NULL;
  html_print(page, "<td class=\"%s%s%s\"", result_set_is_right(rows, column) ? "n" : "name",
             rows->is_matrix && tone == TONE_DIM ? " none" : classes[tone], share ? " share" : "");
  if (share) {
    html_print(page, " style=\"--share:%s%%\"", text);
  }
  html_print(page, ">%s", text);
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
    const char *text = result_set_text_at(rows, row, c);
    if (rows->columns[c].is_row_header) {
      html_print(writer->page, "<th scope=\"row\">%s</th>", text);
    } else if (writer->results) {
      html_table_result(writer, row, c);
    } else {
      (void)fputs(result_set_is_right(rows, c) ? "<td class=\"n\">" : "<td>", writer->page);
      html_print(writer->page, "%s</td>", text);
    }
  }
  (void)fputs("</tr>\n", writer->page);
}

void html_table(FILE *page, const struct result_set *rows,
                const struct html_table_options *options) {
  const struct html_table_writer writer = {page, rows, options->results, html_mark_width(rows)};
  (void)fputs(rows->is_matrix ? "<div class=\"wide\"><table class=\"matrix\">"
                              : "<div class=\"wide\"><table>",
              page);
  html_print(page, HTML_TABLE_CAPTION, options->caption);
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
    html_print(page, "<p class=\"note\">%zu more %s: <code>%s</code></p>\n", rows->left_out,
               strings_plural(rows->left_out, "row is not shown", "rows are not shown"),
               options->more);
  }
}
