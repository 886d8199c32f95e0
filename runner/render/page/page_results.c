#include "runner/render/page/page.h"

#include "runner/render/plot/plot.h"
#include "runner/table/html.h"

#include <stdlib.h>
#include <string.h>

enum { SVG_MAX = 32 << 20, POINTS_LEAST = 3, CONTENTS_LEAST = 4 };

/* ---- charts ---- */

/* Enough for a line: fewer points are read off the table. */
static bool results_is_drawn(const struct plot *plot) {
  return ANY_OF(i, plot->curve_count, plot->curves[i].count >= POINTS_LEAST);
}

/* The picture in the results' arena. what: "figure", "chart", with its number a part of its id. */
static const char *results_draw(struct page_results *results, const struct plot *plot,
                                enum plot_scale scale, const char *what, size_t number) {
  SCOPED(strbuf_fini) struct strbuf svg = STRBUF(SVG_MAX);
  plot_svg(plot, scale, arena_format(&results->arena, "%s-%s%zu", results->id, what, number), &svg);
  return arena_strdup(&results->arena, svg.text);
}

void page_results_figure(void *context, const struct plot *plot, enum plot_scale scale) {
  struct page_results *results = context;
  if (results_is_drawn(plot)) {
    html_print(results->page, "<figure><figcaption>%s</figcaption>\n", plot->title);
    (void)fprintf(results->page, "%s</figure>\n",
                  results_draw(results, plot, scale, "figure", ++results->figure_count));
  }
}

void page_results_chart(void *context, const struct plot *plot, enum plot_scale scale) {
  struct page_results *results = context;
  if (results_is_drawn(plot)) {
    struct page_chart *chart = ARENA_ADD(&results->arena, results->charts, results->chart_count);
    *chart = (struct page_chart){arena_strdup(&results->arena, plot->title),
                                 results_draw(results, plot, scale, "chart", results->chart_count)};
  }
}

/* ---- blocks ---- */

static void results_close_block(struct page_results *results) {
  if (results->block != NULL && results->spread != NULL) {
    page_put_spread(results->page, results->spread, results->block);
  }
  results->block = NULL;
  if (results->open) {
    (void)fputs("</section>\n", results->page);
  }
  results->open = false;
}

/* Of what is good or bad, which is a list. */
static void results_end_list(struct document *document) {
  (void)fputs(document->in_list ? "</ul>\n" : "", document->options.stream);
  document->in_list = false;
}

static void results_section(struct document *document, const char *name) {
  struct page_results *results = document->context;
  results_end_list(document);
  results_close_block(results);
  if (name != NULL) {
    html_print(results->page, "<section id=\"%s-%s\">\n", results->id, name);
    *ARENA_ADD(&results->arena, results->names, results->name_count) =
        arena_strdup(&results->arena, name);
  } else {
    (void)fputs("<section>\n", results->page);
  }
  results->open = true;
  results->block = name != NULL ? results->names[results->name_count - 1] : NULL;
  results->headings = 0;
  results->title = name != NULL ? arena_strdup(&results->arena, name) : "";
  results->chart = NULL;
  for (size_t i = 0; name != NULL && i < results->chart_count; i++) {
    if (strcmp(results->charts[i].name, name) == 0) {
      results->chart = &results->charts[i];
    }
  }
}

/* Where it has not been drawn yet. */
static bool results_put_chart(struct page_results *results) {
  const struct page_chart *chart = results->chart;
  results->chart = NULL;
  if (chart != NULL) {
    (void)fprintf(results->page, "<figure>\n%s</figure>\n", chart->svg);
  }
  return chart != NULL;
}

/* A chart is of the whole block: it stands above the headings of its parts. */
static void results_heading(struct document *document, const char *text) {
  struct page_results *results = document->context;
  results_end_list(document);
  if (results->headings > 0) {
    (void)results_put_chart(results);
  }
  html_print(results->page, results->headings == 0 ? "<h4>%s</h4>\n" : "<h5>%s</h5>\n", text);
  if (results->headings++ == 0 && results->block != NULL && results->trend != NULL) {
    page_put_trend(results->page, results->trend, results->block);
  }
  results->title = arena_strdup(&results->arena, text);
}

static void results_paragraph(struct document *document, unsigned tone, const char *first,
                              const char *text) {
  static const char *const CLASSES[] = {
      [TONE_BAD] = "bad", [TONE_WARN] = "warn", [TONE_GOOD] = "good", [TONE_HEADING] = "plain"};
  const struct page_results *results = document->context;
  if (tone != TONE_NONE && CLASSES[tone] != NULL) {
    (void)fputs(document->in_list ? "" : "<ul class=\"answers\">\n", results->page);
    document->in_list = true;
    html_print(results->page, "<li class=\"%s\">%s</li>\n", CLASSES[tone], text);
    return;
  }
  results_end_list(document);
  if (first[0] != '\0') {
    html_print(results->page, "<p class=\"note\"><b>%s</b>%s</p>\n", first, text);
  } else {
    html_print(results->page, "<p class=\"words\">%s</p>\n", text);
  }
}

/* ---- tables ---- */

/* What the colours of matrices mean. */
static void results_put_key(struct page_results *results) {
  static const char *const WORDS[TONE_HEATS] = {"within 1 %", "3 %", "10 %", "25 %", "further"};
  (void)fputs(
      "<p class=\"note key\">Colour: distance from the best cell of the matrix, or of the row "
      "if rows are sizes: ",
      results->page);
  for (unsigned i = 0; i < TONE_HEATS; i++) {
    (void)fprintf(results->page, "<span class=\"h%u\">%s</span> ", i, WORDS[i]);
  }
  (void)fputs("</p>\n", results->page);
}

static void results_table(struct document *document, struct result_set *table,
                          const struct document_table *how) {
  struct page_results *results = document->context;
  FILE *page = results->page;
  const struct html_table_options options = {
      .caption = results->title[0] != '\0' ? results->title : table->columns[0].name,
      .results = true};
  results_end_list(document);
  if (table->is_matrix && !results->key_shown) {
    results->key_shown = true;
    results_put_key(results);
  }
  const bool folded = results_put_chart(results) && !table->is_matrix;
  if (folded) {
    (void)fprintf(page, "<details><summary>%zu rows of numbers</summary>\n", table->row_count);
  }
  html_table(page, table, &options);
  (void)fputs(folded ? "</details>\n" : "", page);
  if (how->csv != NULL) {
    document->status = page_put_csv(page, table, how->csv, "This list", document->err);
  }
}

static void results_summary(struct document *document, const char *text) {
  const struct page_results *results = document->context;
  results_end_list(document);
  html_print(results->page, "<p class=\"summary\">%s</p>\n", text);
}

static void results_key(struct document *document, unsigned tone, const char *key,
                        const char *text) {
  results_paragraph(document, tone, arena_format(&document->arena, "%s: ", key), text);
}

static void results_verbatim(struct document *document, const char *lines) {
  results_end_list(document);
  html_print(document->options.stream, "<pre>%s</pre>\n", lines);
}

static const struct document_backend RESULTS_BACKEND = {
    results_section, results_end_list, results_heading, results_paragraph,
    results_key,     results_verbatim, results_table,   results_summary};

/* ---- the whole ---- */

void page_results_init(struct page_results *results, FILE *page, const char *id) {
  *results = (struct page_results){.out = page, .id = id, .title = ""};
  results->page = open_memstream(&results->text, &results->length);
  results->page = results->page != NULL ? results->page : page;
  results->document = (struct document){
      .options = {.stream = results->page}, .backend = &RESULTS_BACKEND, .context = results};
}

static void results_put_contents(const struct page_results *results) {
  if (results->name_count >= CONTENTS_LEAST) {
    (void)fputs("<nav class=\"blocks\" aria-label=\"Blocks of this run\"><ol>\n", results->out);
    for (size_t i = 0; i < results->name_count; i++) {
      html_print(results->out, "<li><a href=\"#%s-%s\">%s</a></li>\n", results->id,
                 results->names[i], results->names[i]);
    }
    (void)fputs("</ol></nav>\n", results->out);
  }
}

/* Blocks that share a table have no section of their own. */
static void results_put_shared(struct page_results *results) {
  const struct result_set *spread = results->spread;
  for (size_t i = 0; spread != NULL && i < spread->row_count; i++) {
    const char *block = result_set_text(spread, i, "block");
    if (!ANY_OF(k, results->name_count, strcmp(results->names[k], block) == 0)) {
      results_section(&results->document, block);
      results_heading(&results->document, block);
    }
  }
}

void page_results_fini(struct page_results *results) {
  results_end_list(&results->document);
  results_put_shared(results);
  results_close_block(results);
  if (results->page != results->out) {
    (void)fclose(results->page);
    results_put_contents(results);
    (void)fwrite(results->text, 1, results->length, results->out);
    free(results->text);
  }
  arena_fini(&results->document.arena);
  arena_fini(&results->arena);
}

/* ---- tiles ---- */

/* "Host to GPU   " and "52.0-52.8 GB/s; lowest: numa0 to gpu1": the number stands out. */
static void tiles_paragraph(struct document *document, unsigned tone, const char *first,
                            const char *text) {
  size_t named = strlen(first);
  const size_t number = strcspn(text, " ");
  (void)tone;
  while (named > 0 && first[named - 1] == ' ') {
    named--;
  }
  html_print(document->options.stream, "<div><dt>%s</dt><dd><b>%s</b>%s</dd></div>\n",
             arena_strndup(&document->arena, first, named),
             arena_strndup(&document->arena, text, number), text + number);
}

const struct document_backend PAGE_TILES = {.paragraph = tiles_paragraph};
