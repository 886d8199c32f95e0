#include "runner/render/page_results.h"

#include "runner/render/html.h"
#include "runner/render/plot_svg.h"

#include <string.h>

enum { SVG_MAX = 32 << 20, POINTS_LEAST = 3 };

/* ---- charts ---- */

void page_results_chart(void *context, const struct plot *plot) {
  struct page_results *results = context;
  struct strbuf svg;
  size_t longest = 0;
  for (size_t i = 0; i < plot->curve_count; i++) {
    longest = plot->curves[i].count > longest ? plot->curves[i].count : longest;
  }
  if (longest < POINTS_LEAST) {
    return;
  }
  strbuf_init(&svg, SVG_MAX);
  plot_svg(plot, plot_svg_scale(plot),
           arena_format(&results->arena, "%s-chart%zu", results->id, results->chart_count + 1),
           &svg);
  results->charts = arena_grow(&results->arena, results->charts, results->chart_count,
                               &results->chart_capacity, sizeof *results->charts);
  results->charts[results->chart_count++] = (struct page_chart){
      arena_strdup(&results->arena, plot->title), arena_strdup(&results->arena, svg.text)};
  strbuf_fini(&svg);
}

/* ---- blocks ---- */

static void close_block(struct page_results *results) {
  if (results->open) {
    (void)fputs("</section>\n", results->page);
  }
  results->open = false;
}

static void section(void *context, const char *name) {
  struct page_results *results = context;
  close_block(results);
  (void)fputs("<section>\n", results->page);
  results->open = true;
  results->headings = 0;
  results->title = name != NULL ? arena_strdup(&results->arena, name) : "";
  results->chart = NULL;
  for (size_t i = 0; name != NULL && i < results->chart_count; i++) {
    if (strcmp(results->charts[i].name, name) == 0) {
      results->chart = &results->charts[i];
    }
  }
}

static void heading(void *context, const char *text) {
  struct page_results *results = context;
  html_element(results->page, results->headings++ == 0 ? "h4" : "h5", NULL, text);
  (void)fputc('\n', results->page);
  results->title = arena_strdup(&results->arena, text);
}

static void paragraph(void *context, const char *first, const char *text) {
  struct page_results *results = context;
  (void)fprintf(results->page, "<p class=\"%s\">", first[0] != '\0' ? "note" : "words");
  if (first[0] != '\0') {
    html_element(results->page, "b", NULL, first);
  }
  html_text(results->page, text);
  (void)fputs("</p>\n", results->page);
}

/* ---- tables ---- */

static void begin_table(struct page_results *results, const char *class) {
  FILE *page = results->page;
  (void)fprintf(page, "<div class=\"wide\"><table%s>", class);
  html_element(page, "caption", "away",
               results->title[0] != '\0' ? results->title : "blocks of one case each");
  (void)fputs("<thead><tr>", page);
}

static void put_cell(FILE *page, const struct sheet *sheet, size_t row, size_t column) {
  const char *text = sheet_text(sheet, row, column);
  const char *colour = sheet_colour(sheet, row, column);
  const bool right = sheet_is_right(sheet, column);
  const bool share = strncmp(sheet_heading(sheet, column), "% of", 4) == 0 && text[0] != '\0';
  const char *tone = colour == NULL                   ? ""
                     : strcmp(colour, STYLE_RED) == 0 ? " bad"
                     : strcmp(colour, STYLE_DIM) == 0 ? " dim"
                                                      : "";
  (void)fprintf(page, "<td class=\"%s%s%s\"", right ? "n" : "name", tone, share ? " share" : "");
  if (share) {
    (void)fputs(" style=\"--share:", page);
    html_text(page, text);
    (void)fputs("%\"", page);
  }
  (void)fputc('>', page);
  html_text(page, text);
  (void)fputs("</td>", page);
}

static void put_sheet(struct page_results *results, const struct sheet *sheet) {
  FILE *page = results->page;
  begin_table(results, "");
  for (size_t c = 0; c < sheet_column_count(sheet); c++) {
    if (sheet_is_filled(sheet, c)) {
      const char *name = sheet_heading(sheet, c);
      (void)fprintf(page, "<th scope=\"col\" class=\"%s\">",
                    sheet_is_right(sheet, c) ? "n" : "name");
      html_text(page, strcmp(name, "+/- %") == 0 ? "\xc2\xb1 %" : name);
      (void)fputs("</th>", page);
    }
  }
  (void)fputs("</tr></thead>\n<tbody>\n", page);
  for (size_t r = 0; r < sheet_row_count(sheet); r++) {
    (void)fputs("<tr>", page);
    for (size_t c = 0; c < sheet_column_count(sheet); c++) {
      if (sheet_is_filled(sheet, c)) {
        put_cell(page, sheet, r, c);
      }
    }
    (void)fputs("</tr>\n", page);
  }
  (void)fputs("</tbody></table></div>\n", page);
}

static void sheet_on_page(void *context, const struct sheet *sheet) {
  struct page_results *results = context;
  FILE *page = results->page;
  if (results->chart == NULL) {
    put_sheet(results, sheet);
    return;
  }
  (void)fprintf(page, "<figure>\n%s</figure>\n<details><summary>%zu rows of numbers</summary>\n",
                results->chart->svg, sheet_row_count(sheet));
  put_sheet(results, sheet);
  (void)fputs("</details>\n", page);
  results->chart = NULL;
}

/* ---- matrices ---- */

static void put_key(struct page_results *results) {
  static const char *const WORDS[MATRIX_HEATS] = {"within 1 %", "3 %", "10 %", "25 %", "further"};
  if (results->key_shown) {
    return;
  }
  results->key_shown = true;
  (void)fputs("<p class=\"note key\">Colours: from the best of the matrix ", results->page);
  for (unsigned i = 0; i < MATRIX_HEATS; i++) {
    (void)fprintf(results->page, "<span class=\"h%u\">%s</span> ", i, WORDS[i]);
  }
  (void)fputs("</p>\n", results->page);
}

/* The widest mark: then every cell leaves that room, so that numbers stay below each other. */
static size_t marks_width(const struct matrix *matrix) {
  size_t width = 0;
  for (size_t i = 0; i < matrix->row_count * matrix->column_count; i++) {
    const char *mark = matrix->cells[i].mark;
    const size_t own = mark != NULL ? strlen(mark) : 0;
    width = own > width ? own : width;
  }
  return width;
}

static void put_number(FILE *page, const struct matrix *matrix, const struct matrix_extent *extent,
                       const struct matrix_cell *cell, size_t marks) {
  char words[MATRIX_WORDS_MAX];
  matrix_cell_words(cell, words);
  switch (cell->kind) {
  case MATRIX_NONE:
    (void)fputs("<td class=\"n none\">", page);
    break;
  case MATRIX_TEXT:
    (void)fputs("<td class=\"n bad\">", page);
    break;
  case MATRIX_VALUE:
  case MATRIX_AGAIN:
    (void)fprintf(page, "<td class=\"n h%u\">", matrix_heat(matrix, extent, cell));
    break;
  }
  html_text(page, words);
  if (marks > 0) {
    (void)fprintf(page, "<span class=\"mark\" style=\"min-width:%zuch\">", marks);
    html_text(page, cell->mark);
    (void)fputs("</span>", page);
  }
  (void)fputs("</td>", page);
}

static void matrix_on_page(void *context, const struct matrix *matrix) {
  struct page_results *results = context;
  FILE *page = results->page;
  const struct matrix_extent extent = matrix_extent(matrix);
  const size_t marks = marks_width(matrix);
  char summary[MATRIX_SUMMARY_MAX];
  bool labelled = false;
  results->chart = NULL;
  for (size_t r = 0; r < matrix->row_count; r++) {
    labelled = labelled || matrix->rows[r][0] != '\0';
  }
  put_key(results);
  begin_table(results, " class=\"matrix\"");
  (void)fputs(labelled ? "<td></td>" : "", page);
  for (size_t c = 0; c < matrix->column_count; c++) {
    (void)fputs("<th scope=\"col\" class=\"n\">", page);
    html_text(page, matrix->columns[c]);
    if (marks > 0) {
      (void)fprintf(page, "<span class=\"mark\" style=\"min-width:%zuch\"></span>", marks);
    }
    (void)fputs("</th>", page);
  }
  (void)fputs("</tr></thead>\n<tbody>\n", page);
  for (size_t r = 0; r < matrix->row_count; r++) {
    (void)fputs("<tr>", page);
    if (labelled) {
      (void)fputs("<th scope=\"row\">", page);
      html_text(page, matrix->rows[r]);
      (void)fputs("</th>", page);
    }
    for (size_t c = 0; c < matrix->column_count; c++) {
      put_number(page, matrix, &extent, &matrix->cells[r * matrix->column_count + c], marks);
    }
    (void)fputs("</tr>\n", page);
  }
  (void)fputs("</tbody></table></div>\n", page);
  matrix_summary(matrix, &extent, summary);
  if (summary[0] != '\0') {
    html_element(page, "p", "summary", summary);
  }
  (void)fputc('\n', page);
}

/* ---- the whole ---- */

void page_results_init(struct page_results *results, FILE *page, const char *id) {
  *results = (struct page_results){
      .page = page,
      .id = id,
      .title = "",
      .paper = {results, section, heading, paragraph, sheet_on_page, matrix_on_page},
  };
  /* With colour, for it says what went wrong. */
  results->style = (struct style){page, 0, true, &results->paper};
}

void page_results_fini(struct page_results *results) {
  close_block(results);
  arena_fini(&results->arena);
}

const struct style *page_results_style(const struct page_results *results) {
  return &results->style;
}
