#include "runner/render/page.h"

#include "runner/render/matrix.h"
#include "runner/render/plot.h"
#include "runner/table/html.h"

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

static void results_close_block(struct page_results *results) {
  if (results->open) {
    (void)fputs("</section>\n", results->page);
  }
  results->open = false;
}

static void results_section(void *context, const char *name) {
  struct page_results *results = context;
  results_close_block(results);
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

static void results_heading(void *context, const char *text) {
  struct page_results *results = context;
  html_element(results->page, results->headings++ == 0 ? "h4" : "h5", NULL, text);
  (void)fputc('\n', results->page);
  results->title = arena_strdup(&results->arena, text);
}

static void results_paragraph(void *context, const char *first, const char *text) {
  struct page_results *results = context;
  (void)fprintf(results->page, "<p class=\"%s\">", first[0] != '\0' ? "note" : "words");
  if (first[0] != '\0') {
    html_element(results->page, "b", NULL, first);
  }
  html_text(results->page, text);
  (void)fputs("</p>\n", results->page);
}

/* ---- tables ---- */

static const char *results_caption(const struct page_results *results) {
  return results->title[0] != '\0' ? results->title : "blocks of one case each";
}

static void results_table(void *context, const struct result_set *table) {
  struct page_results *results = context;
  FILE *page = results->page;
  const struct html_table_options options = {.caption = results_caption(results), .results = true};
  if (results->chart == NULL) {
    html_table(page, table, &options);
    return;
  }
  (void)fprintf(page, "<figure>\n%s</figure>\n<details><summary>%zu rows of numbers</summary>\n",
                results->chart->svg, table->row_count);
  html_table(page, table, &options);
  (void)fputs("</details>\n", page);
  results->chart = NULL;
}

/* ---- matrices ---- */

static void results_put_key(struct page_results *results) {
  static const char *const WORDS[TONE_HEATS] = {"within 1 %", "3 %", "10 %", "25 %", "further"};
  if (results->key_shown) {
    return;
  }
  results->key_shown = true;
  (void)fputs("<p class=\"note key\">Colours: from the best of the matrix ", results->page);
  for (unsigned i = 0; i < TONE_HEATS; i++) {
    (void)fprintf(results->page, "<span class=\"h%u\">%s</span> ", i, WORDS[i]);
  }
  (void)fputs("</p>\n", results->page);
}

/* The widest mark: then every cell leaves that room, so that numbers stay below each other. */
static size_t results_marks_width(const struct matrix *matrix) {
  size_t width = 0;
  for (size_t i = 0; i < matrix->row_count * matrix->column_count; i++) {
    const char *mark = matrix->cells[i].mark;
    const size_t own = mark != NULL ? strlen(mark) : 0;
    width = own > width ? own : width;
  }
  return width;
}

static void results_put_number(FILE *page, const struct matrix *matrix,
                               const struct matrix_extent *extent, const struct matrix_cell *cell,
                               size_t marks) {
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

static void results_matrix(void *context, const struct matrix *matrix) {
  struct page_results *results = context;
  FILE *page = results->page;
  const struct matrix_extent extent = matrix_extent(matrix);
  const size_t marks = results_marks_width(matrix);
  char summary[MATRIX_SUMMARY_MAX];
  bool labelled = false;
  results->chart = NULL;
  for (size_t r = 0; r < matrix->row_count; r++) {
    labelled = labelled || matrix->rows[r][0] != '\0';
  }
  results_put_key(results);
  html_table_begin(page, " class=\"matrix\"", results_caption(results));
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
      results_put_number(page, matrix, &extent, &matrix->cells[r * matrix->column_count + c],
                         marks);
    }
    (void)fputs("</tr>\n", page);
  }
  (void)fputs(HTML_TABLE_END, page);
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
      .backend = {results, results_section, results_heading, results_paragraph, results_table,
                  results_matrix},
  };
  /* With colour, for it says what went wrong. */
  results->output = (struct output){page, 0, true, &results->backend};
}

void page_results_fini(struct page_results *results) {
  results_close_block(results);
  arena_fini(&results->arena);
}

const struct output *page_results_output(const struct page_results *results) {
  return &results->output;
}
