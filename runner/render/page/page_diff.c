#include "engine/base/strings.h"
#include "runner/render/page/page.h"

#include "runner/render/diff_format.h"
#include "runner/render/diff_layout.h"
#include "runner/render/outliers.h"
#include "runner/render/page/page_maps.h"
#include "runner/table/html.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16, INTERVAL_WIDTH = 130, INTERVAL_HEIGHT = 16 };

/* How a verdict is coloured. */
static const char *page_verdict_class(enum verdict verdict) {
  switch (diff_verdict_tone(verdict)) {
  case TONE_BAD:
    return "bad";
  case TONE_GOOD:
    return "good";
  case TONE_WARN:
    return "warn";
  default:
    return "plain";
  }
}

/* ---- sides ---- */

static void page_put_sides(FILE *page, const struct comparison *comparison,
                           const char *const names[SIDES]) {
  static const struct column columns[] = {
      {"side", ALIGN_LEFT, true, false},        {"runs named", ALIGN_LEFT, false, false},
      {"scenario", ALIGN_LEFT, false, false},   {"driver", ALIGN_LEFT, false, false},
      {"host", ALIGN_LEFT, false, false},       {"runs", ALIGN_RIGHT, false, false},
      {"processes", ALIGN_RIGHT, false, false}, {"boots", ALIGN_RIGHT, false, false},
      {"GPUs", ALIGN_RIGHT, false, false},      {"model", ALIGN_LEFT, false, false},
      {"which runs", ALIGN_LEFT, false, false}};
  struct arena arena = {0};
  struct result_set sides;
  result_set_init(&sides, SIDES);
  struct error err;
  const struct row_sink *sink = &sides.sink;
  (void)sink->begin(sink->context, columns, sizeof columns / sizeof *columns, &err);
  for (size_t s = 0; s < SIDES; s++) {
    const struct comparison_total *total = &comparison->totals[s];
    const struct cell cells[] = {
        cell_text(s == SIDE_A ? "A, before" : "B, after"),
        cell_text(names[s]),
        cell_text(total->scenarios),
        cell_text(total->drivers),
        cell_text(outliers_shorten(&arena, total->hosts, DIFF_HOSTS_SHOWN)),
        cell_integer((int64_t)total->runs),
        cell_integer(total->processes),
        total->boots > 0 ? cell_integer(total->boots) : cell_text("not known"),
        cell_integer(total->gpus),
        cell_text(total->models),
        cell_text(total->which),
    };
    (void)sink_row(sink, cells, &err);
  }
  html_table(page, &sides, &(struct html_table_options){.caption = "The two sides"});
  result_set_fini(&sides);
  arena_fini(&arena);
}

static void page_put_verdicts(FILE *page, const struct comparison *comparison) {
  (void)fprintf(page, "<p>%zu %s: ", comparison->row_count,
                strings_plural(comparison->row_count, "case", "cases"));
  for (unsigned v = 0; v < verdict_name_count; v++) {
    const size_t count = comparison->summary.verdicts[v];
    if (count > 0) {
      html_print(page, "<span class=\"badge %s\">%zu %s</span> ",
                 page_verdict_class((enum verdict)v), count, verdict_text((enum verdict)v));
    }
  }
  (void)fputs("</p>\n", page);
}

/* What limits all that is said here. */
static void page_put_diff_notes(FILE *page, const struct diff_layout *layout) {
  for (size_t i = 0; i < layout->sentence_count; i++) {
    if (layout->sentences[i].kind == SENTENCE_NOTE) {
      html_print(page, "<p class=\"box\" role=\"note\">%s.</p>\n", layout->sentences[i].text);
    }
  }
}

/* "driver_version 580.95 to 590.44": the first facts that differ, the rest is a table. */
static void page_put_first_facts(FILE *page, const struct diff_layout *layout) {
  enum { SHOWN = 4 };
  (void)fputs("<li><b>Differs between the sides:</b> ", page);
  for (size_t i = 0; i < layout->fact_count && i < SHOWN; i++) {
    const struct fact_difference *fact = layout->facts[i];
    char name[DIFF_FACT_MAX];
    struct cell cells[1 + SIDES];
    diff_fact_cells(fact, "every GPU: ", name, cells);
    html_print(page, "%s%s %s to %s", i > 0 ? "; " : "", name, cells[1].as.text.bytes,
               cells[2].as.text.bytes);
  }
  if (layout->fact_count > SHOWN) {
    html_print(page, "; and %zu more, below", layout->fact_count - SHOWN);
  }
  html_print(page, "%s</li>\n", layout->fact_count == 0 ? "nothing that was recorded" : "");
}

/* What a reader with one minute wants to know: what changed, and why that may be. */
static void page_put_diff_answers(FILE *page, const struct comparison *comparison,
                                  const struct diff_layout *layout) {
  const size_t *verdicts = comparison->summary.verdicts;
  bool told = false;
  (void)fputs("<ul class=\"answers\">\n", page);
  for (size_t i = 0; i < layout->sentence_count; i++) {
    const struct diff_sentence *sentence = &layout->sentences[i];
    const bool cause = sentence->kind == SENTENCE_CONCLUSION || sentence->kind == SENTENCE_ALONE ||
                       sentence->kind == SENTENCE_ENVIRONMENT;
    if (sentence->kind == SENTENCE_NOTE) {
      continue;
    }
    if (sentence->kind == SENTENCE_CONDITION) {
      html_print(page, "<li class=\"warn\"><b>Not as it should be:</b> %s</li>\n", sentence->text);
      continue;
    }
    html_print(page, "<li class=\"%s\">%s</li>\n",
               cause ? page_verdict_class(sentence->verdict) : "plain", sentence->text);
    told = told || cause;
  }
  page_put_first_facts(page, layout);
  const size_t changed =
      verdicts[VERDICT_REGRESSED] + verdicts[VERDICT_IMPROVED] + verdicts[VERDICT_BROKEN];
  if (changed > 0 && !told) {
    html_print(page, "<li>%zu %s changed; they share no GPU, link or size</li>\n", changed,
               strings_plural(changed, "case", "cases"));
  } else if (changed == 0 && verdicts[VERDICT_SAME] > 0) {
    html_print(page, "<li class=\"%s\">%s changed by more than matters; %zu %s the same</li>\n",
               comparison->alone_count > 0 ? "plain" : "good",
               comparison->alone_count > 0 ? "In the mean of the nodes no case" : "No case",
               verdicts[VERDICT_SAME], strings_plural(verdicts[VERDICT_SAME], "is", "are"));
  }
  if (comparison->units_needed > 0) {
    html_print(
        page, "<li class=\"warn\">%zu %s undecided with so few %s; %u per side would decide</li>\n",
        comparison->undecided, strings_plural(comparison->undecided, "case is", "cases are"),
        comparison->unit == DIFF_UNIT_NODE  ? "nodes"
        : comparison->unit == DIFF_UNIT_RUN ? "runs"
                                            : "processes",
        comparison->units_needed);
  }
  (void)fputs("</ul>\n", page);
}

/* ---- blocks ---- */

static void page_put_block_rows(FILE *page, struct diff_layout *layout, size_t first, size_t last) {
  html_print(page,
             HTML_TABLE_BEGIN "<th scope=\"col\">block</th><th scope=\"col\" class=\"n\">cases</th>"
                              "<th scope=\"col\" class=\"n\">speed %%</th>"
                              "<th scope=\"col\">verdicts</th>" HTML_TABLE_ROWS,
             "Geometric mean of each block");
  for (size_t i = first; i < last; i++) {
    const struct diff_block *block = &layout->blocks[i];
    char change[DIFF_WORDS_MAX] = "";
    if (isfinite(block->change)) {
      diff_percent_words(block->change, change);
    }
    html_print(page,
               "<tr><th scope=\"row\">%s</th><td class=\"n\">%zu</td><td class=\"n\">%s</td>"
               "<td>%s</td></tr>\n",
               block->name, block->cases, change, diff_block_words(layout, block));
  }
  (void)fputs(HTML_TABLE_END, page);
}

static void page_put_blocks(FILE *page, struct diff_layout *layout) {
  const size_t quiet = layout->block_count - layout->changed_blocks;
  if (layout->block_count < 2) {
    return;
  }
  (void)fputs("<h3>Blocks</h3>\n", page);
  if (layout->changed_blocks > 0) {
    page_put_block_rows(page, layout, 0, layout->changed_blocks);
  }
  if (quiet > 0) {
    html_print(page, "<details><summary>%zu %s without a change</summary>\n", quiet,
               strings_plural(quiet, "block", "blocks"));
    page_put_block_rows(page, layout, layout->changed_blocks, layout->block_count);
    (void)fputs("</details>\n", page);
  }
  (void)fputs("<p class=\"note\">Speed: the geometric mean over the cases of the block that both "
              "sides have.</p>\n",
              page);
}

/* ---- cases ---- */

/* Per cent on either side that all intervals shown fit in. */
static double page_interval_scale(const struct comparison *comparison, const size_t *rows,
                                  size_t count) {
  double most = 0;
  for (size_t i = 0; i < count; i++) {
    const struct comparison_row *row = &comparison->rows[rows[i]];
    const double ends[] = {row->change, row->change_low, row->change_high, 2 * row->delta};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
      most = isfinite(ends[e]) ? fmax(most, fabs(ends[e])) : most;
    }
  }
  return most > 0 ? most * 1.05 : 1;
}

static double page_interval_x(double change, double scale) {
  return (double)INTERVAL_WIDTH / 2 * (1 + change / scale);
}

/* The change with its interval, over the band of changes too small to matter; its numbers are in
 * the next cell. */
static void page_put_interval(FILE *page, const struct comparison_row *row, double scale) {
  if (!isfinite(row->change)) {
    (void)fputs("<td></td>", page);
    return;
  }
  const double delta = row->delta;
  const double middle = (double)INTERVAL_HEIGHT / 2;
  (void)fprintf(page,
                "<td><svg xmlns=\"http://www.w3.org/2000/svg\" class=\"interval %s\" "
                "aria-hidden=\"true\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">"
                "<rect class=\"margin\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%d\"/>"
                "<path class=\"zero\" d=\"M%.1f 0V%d\"/>",
                page_verdict_class(row->result.verdict), INTERVAL_WIDTH, INTERVAL_HEIGHT,
                INTERVAL_WIDTH, INTERVAL_HEIGHT, page_interval_x(-delta, scale),
                page_interval_x(delta, scale) - page_interval_x(-delta, scale), INTERVAL_HEIGHT,
                page_interval_x(0, scale), INTERVAL_HEIGHT);
  if (isfinite(row->change_low) && isfinite(row->change_high)) {
    (void)fprintf(page, "<path class=\"range\" d=\"M%.1f %.1fH%.1f\"/>",
                  page_interval_x(row->change_low, scale), middle,
                  page_interval_x(row->change_high, scale));
  }
  (void)fprintf(page, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/></svg></td>",
                page_interval_x(row->change, scale), middle);
}

static void page_put_case(FILE *page, const struct measured *measured,
                          const struct comparison *comparison, size_t index,
                          const struct page_maps *maps, double scale) {
  const struct comparison_row *row = &comparison->rows[index];
  char verdict[DIFF_WORDS_MAX], a[DIFF_WORDS_MAX], b[DIFF_WORDS_MAX], change[DIFF_WORDS_MAX],
      q[DIFF_WORDS_MAX], counts[DIFF_WORDS_MAX];
  struct strbuf notes;
  strbuf_init(&notes, TEXT_MAX);
  diff_verdict_words(&row->result, verdict);
  diff_note_words(&notes, row);
  diff_figure_words(row, SIDE_A, a);
  diff_figure_words(row, SIDE_B, b);
  diff_change_words(row, change);
  diff_q_words(row->result.q, q);
  diff_counts_words(row, false, counts);
  html_print(page,
             "<tr id=\"case-%zu\"><td><span class=\"badge %s\">%s</span></td><th scope=\"row\">",
             index, page_verdict_class(row->result.verdict), verdict);
  if (page_maps_have(maps, index)) {
    html_print(page, "<a href=\"#cell-%zu\">%s</a>", index, measured->cases[row->bench].name);
  } else {
    html_print(page, "%s", measured->cases[row->bench].name);
  }
  if (row->hardware != NULL) {
    html_print(page, " <small>%s</small>", row->hardware);
  }
  if (notes.length > 0) {
    html_print(page, "<br/><small>%s</small>", notes.text);
  }
  html_print(page, "</th><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td>", a,
             b, change);
  page_put_interval(page, row, scale);
  html_print(page, "<td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n", q, counts);
  strbuf_fini(&notes);
}

static void page_put_cases(FILE *page, const struct measured *measured,
                           const struct comparison *comparison, const struct page_maps *maps,
                           const size_t *rows, size_t count, const char *caption) {
  const double scale = page_interval_scale(comparison, rows, count);
  html_print(page,
             HTML_TABLE_BEGIN
             "<th scope=\"col\">verdict</th><th scope=\"col\">case</th>"
             "<th scope=\"col\" class=\"n\">A GB/s</th><th scope=\"col\" class=\"n\">B GB/s</th>"
             "<th scope=\"col\" class=\"n\">change %%</th>"
             "<th scope=\"col\">\xe2\x88\x92%.2g to +%.2g %%</th><th scope=\"col\" class=\"n\">q"
             "</th><th scope=\"col\" class=\"n\">n</th>" HTML_TABLE_ROWS,
             caption, 100 * scale, 100 * scale);
  for (size_t i = 0; i < count; i++) {
    page_put_case(page, measured, comparison, rows[i], maps, scale);
  }
  (void)fputs(HTML_TABLE_END, page);
}

static void page_put_left_out(FILE *page, size_t left_out) {
  if (left_out > 0) {
    (void)fprintf(page,
                  "<p class=\"note\">%zu more %s not shown: <code>haul diff A B -v</code></p>\n",
                  left_out, strings_plural(left_out, "case is", "cases are"));
  }
}

/* A line for the rows of one block and verdict, which it unfolds. */
static void page_put_group(FILE *page, const struct measured *measured,
                           const struct comparison *comparison, const struct page_maps *maps,
                           struct diff_layout *layout, const struct diff_group *group,
                           size_t room) {
  const size_t shown = group->count < room ? group->count : room;
  html_print(page,
             "<details class=\"group\"><summary><span class=\"badge %s\">%s</span> %s "
             "<b>%s%s</b></summary>\n",
             page_verdict_class(group->verdict), verdict_text(group->verdict),
             diff_group_title(layout, group), diff_group_range(layout, group),
             isfinite(group->low) ? " %" : "");
  page_put_cases(page, measured, comparison, maps, group->rows, shown,
                 group->block[0] != '\0' ? group->block : "Cases");
  page_put_left_out(page, group->count - shown);
  (void)fputs("</details>\n", page);
}

/* Groups in the order of the layout; those that are not folded share a table. *room: rows that may
 * follow. */
static void page_put_groups(FILE *page, const struct measured *measured,
                            const struct comparison *comparison, const struct page_maps *maps,
                            struct diff_layout *layout, bool same, size_t *room) {
  size_t rows[PAGE_DIFF_CASES_MAX];
  size_t count = 0;
  for (size_t g = 0; g <= layout->group_count; g++) {
    const struct diff_group *group = g < layout->group_count ? &layout->groups[g] : NULL;
    if (group != NULL && (group->verdict == VERDICT_SAME) != same) {
      continue;
    }
    if (count > 0 && (group == NULL || group->folded)) {
      page_put_cases(page, measured, comparison, maps, rows, count, "Cases");
      count = 0;
    }
    if (group != NULL && group->folded) {
      page_put_group(page, measured, comparison, maps, layout, group, *room);
      *room -= group->count < *room ? group->count : *room;
    }
    for (size_t i = 0; group != NULL && !group->folded && i<group->count && * room> 0; i++) {
      rows[count++] = group->rows[i];
      --*room;
    }
  }
}

static void page_put_all_cases(FILE *page, const struct measured *measured,
                               const struct comparison *comparison, const struct page_maps *maps,
                               struct diff_layout *layout) {
  const size_t same = comparison->summary.verdicts[VERDICT_SAME];
  size_t room = PAGE_DIFF_CASES_MAX;
  struct strbuf text;
  page_put_groups(page, measured, comparison, maps, layout, false, &room);
  if (same > 0) {
    room = PAGE_DIFF_CASES_MAX;
    html_print(page, "<details><summary>%zu %s the same on both sides</summary>\n", same,
               strings_plural(same, "case is", "cases are"));
    page_put_groups(page, measured, comparison, maps, layout, true, &room);
    (void)fputs("</details>\n", page);
  }
  strbuf_init(&text, TEXT_MAX);
  strbuf_append(&text, DIFF_WORDS_CHANGE ". The grey band is what is too small to matter: ");
  diff_delta_words(&text, comparison);
  strbuf_append(&text, comparison->judged == NULL
                           ? ". " DIFF_WORDS_Q ". n: processes of A and B. "
                           : ". " DIFF_WORDS_Q ". n: how many A and B have: runs of so many "
                             "processes, or nodes; where no word says so, processes. ");
  strbuf_append(&text, diff_provisional_words(comparison));
  html_print(page, "<p class=\"note\">%s</p>\n", text.text);
  strbuf_fini(&text);
}

/* ---- environments ---- */

static void page_put_differences(FILE *page, const struct comparison *comparison,
                                 const struct diff_layout *layout) {
  (void)fputs("<h3>What differs in the environments</h3>\n", page);
  if (comparison->fact_count == 0) {
    (void)fputs(comparison->condition_count == 0
                    ? "<p>Nothing that was recorded.</p>\n"
                    : "<p>No recorded fact; the checks and marks above do.</p>\n",
                page);
    return;
  }
  static const struct column columns[] = {{"fact", ALIGN_LEFT, true, false},
                                          {"A", ALIGN_LEFT, false, false},
                                          {"B", ALIGN_LEFT, false, false}};
  struct result_set facts;
  result_set_init(&facts, SIZE_MAX);
  struct error err;
  const struct row_sink *sink = &facts.sink;
  (void)sink->begin(sink->context, columns, sizeof columns / sizeof *columns, &err);
  for (size_t i = 0; i < layout->fact_count; i++) {
    const struct fact_difference *fact = layout->facts[i];
    char name[DIFF_FACT_MAX];
    struct cell cells[1 + SIDES];
    diff_fact_cells(fact, "every GPU: ", name, cells);
    (void)sink_row(sink, cells, &err);
  }
  if (layout->fact_count > 0) {
    html_table(page, &facts, &(struct html_table_options){.caption = "Facts that differ"});
  }
  for (size_t s = 0; s < SIDES; s++) {
    html_print(page, layout->unanswered[s] != NULL ? "<p class=\"note\">%s</p>\n" : "%s",
               layout->unanswered[s]);
  }
  result_set_fini(&facts);
}

void page_diff(FILE *page, const struct measured *measured, const struct comparison *comparison,
               const char *const names[SIDES]) {
  struct diff_layout layout;
  bool shown[verdict_name_count];
  for (size_t v = 0; v < verdict_name_count; v++) {
    shown[v] = true;
  }
  diff_layout_init(&layout, measured, comparison, shown, false);
  struct page_maps *maps = page_maps_new(measured, comparison);
  (void)fputs("<section id=\"comparison\">\n<h2>What changed from A to B</h2>\n", page);
  page_put_verdicts(page, comparison);
  page_put_diff_answers(page, comparison, &layout);
  page_put_diff_notes(page, &layout);
  page_put_sides(page, comparison, names);
  page_put_differences(page, comparison, &layout);
  page_put_blocks(page, &layout);
  (void)fputs("<h3>Cases, strongest evidence first</h3>\n", page);
  page_put_all_cases(page, measured, comparison, maps, &layout);
  page_maps_put(page, maps);
  page_maps_free(maps);
  diff_layout_fini(&layout);
}

void page_diff_end(FILE *page) {
  (void)fputs("</section>\n", page);
}
