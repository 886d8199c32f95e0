/* Results on a page: the tables and matrices of a terminal, coloured the same, charts beside them.
 */
#include "runner/render/page/page.h"

#include "tests/runner/render/result/said.h"
#include "tests/runner/table/markup.h"

/* Of blocks called `chart` there is a chart; NULL = of none. */
static char *page_of(const struct said *said, size_t count, const char *chart) {
  static const struct plot_point points[] = {{1024, 10}, {2048, 20}, {4096, 30}};
  static const struct plot_curve curve = {"", points, 3, NULL};
  struct result_set rows;
  struct page_results results;
  CAPTURE(out);
  said_rows(&rows, said, count);
  page_results_init(&results, out.stream, "run-7");
  if (chart != NULL) {
    const struct plot plot = {.title = chart,
                              .x_name = "size",
                              .y_name = "GB/s",
                              .x_bytes = true,
                              .curves = &curve,
                              .curve_count = 1};
    page_results_chart(&results, &plot, PLOT_LOG);
  }
  run_result_print(&rows, NULL, &(struct run_result_options){0}, &results.document);
  page_results_fini(&results);
  result_set_fini(&rows);
  assert_markup(capture_text(&out));
  return capture_take(&out);
}

#define PAIR(a, b)                                                                                 \
  .block = "up", .path = "gpu" #a "-gpu" #b, .source = "gpu" #a, .target = "gpu" #b,               \
  .size_bytes = 1 << 20
static const struct said PAIRS[] = {
    {PAIR(0, 1), .gbps = 100},
    {PAIR(1, 0), .gbps = 98},
    {PAIR(0, 2), .gbps = 95},
    {PAIR(2, 0), .gbps = 80},
    {PAIR(1, 2), .gbps = 50},
    {PAIR(2, 1), .status = "failed", .reason = "out of <memory>"},
    {PAIR(0, 0), .status = "skipped", .reason = "itself"},
};

TEST(pairs_are_coloured_by_the_rule_of_the_terminal) {
  SCOPED(memory_free) char *text = page_of(PAIRS, COUNT_OF(PAIRS), NULL);
  assert_contains(text, "<h4>up</h4>");
  assert_contains(text, "<table class=\"matrix\"><caption class=\"away\">up</caption>");
  assert_contains(text, "<th scope=\"row\">gpu0</th>");
  assert_contains(text, "<td class=\"n h0\">100.0");
  assert_contains(text, "<td class=\"n h1\">98.00");
  assert_contains(text, "<td class=\"n h2\">95.00");
  assert_contains(text, "<td class=\"n h3\">80.00");
  assert_contains(text, "<td class=\"n h4\">50.00");
  assert_contains(text, "<td class=\"n none\">N/A");
  assert_contains(text, "<td class=\"n bad\">failed<span class=\"mark\"");
  assert_contains(text, "<b>a  </b>out of &lt;memory&gt;</p>");
  assert_contains(text, "min 50.00, mean 84.60, max 100.0 GB/s");
  assert_contains(text, "<span class=\"h4\">further</span>");
}

#define STEP(bytes)                                                                                \
  .block = "s", .path = "numa0-gpu0", .source = "numa0", .target = "gpu0", .size_bytes = (bytes)
static const struct said SWEEP[] = {
    {STEP(1024), .gbps = 10, .spread = 1},
    {STEP(2048), .gbps = 20, .spread = 1},
    {STEP(4096), .gbps = 30, .spread = 1},
    {STEP(8192), .status = "hung", .reason = "no answer"},
};

TEST(a_sweep_is_a_chart_with_its_numbers_folded_away) {
  SCOPED(memory_free) char *text = page_of(SWEEP, COUNT_OF(SWEEP), "s");
  const char *chart = strstr(text, "<svg");
  const char *folded = strstr(text, "<details><summary>4 rows of numbers</summary>");
  const char *table = strstr(text, "<table>");
  const char *note = strstr(text, "no answer</p>");
  assert_true(chart != NULL && folded > chart && table > folded && note > table);
  assert_contains(text, "id=\"run-7-chart1-title\"");
  assert_contains(text, "<th scope=\"col\" class=\"n\">± %</th>");
  assert_contains(text, "<td class=\"n\">1.00</td>");
  assert_contains(text, "<td class=\"n share\" style=\"--share:5.0%\">5.0</td>");
  assert_contains(text, "<td class=\"name bad\">hung a</td>");
}

TEST(a_chart_stands_with_its_own_block_only) {
  char *text = page_of(SWEEP, COUNT_OF(SWEEP), "another");
  assert_lacks(text, "<svg");
  assert_lacks(text, "<details");
  assert_contains(text, "<table>");
  free(text);
  text = page_of(PAIRS, COUNT_OF(PAIRS), "up"); /* its numbers are not folded away */
  assert_contains(text, "</svg>\n</figure>\n<div class=\"wide\"><table class=\"matrix\">");
  assert_lacks(text, "<details");
  free(text);
}

TEST(nothing_measured_is_said) {
  SCOPED(memory_free) char *text = page_of(NULL, 0, "s");
  assert_string_equal(text, "<p class=\"words\">nothing was measured</p>\n");
}

/* Blocks of two sizes each, so that none shares a table with its neighbour. */
TEST(several_blocks_have_contents) {
  struct said said[8];
  static const char *const NAMES[] = {"one", "two", "three", "four"};
  for (size_t i = 0; i < 8; i++) {
    said[i] = SWEEP[i % 2];
    said[i].block = NAMES[i / 2];
  }
  char *text = page_of(said, 8, NULL);
  const char *contents = strstr(text, "<nav class=\"blocks\"");
  assert_non_null(contents);
  assert_true(contents < strstr(text, "<section"));
  for (size_t i = 0; i < 4; i++) {
    PRINTED(link, 64, "<a href=\"#run-7-%s\">%s</a>", NAMES[i], NAMES[i]);
    assert_contains(text, link);
    (void)snprintf(link, sizeof link, "<section id=\"run-7-%s\">", NAMES[i]);
    assert_contains(text, link);
  }
  free(text);
  text = page_of(said, 6, NULL); /* few enough to be seen at once */
  assert_null(strstr(text, "<nav"));
  free(text);
}

TEST(tiles_have_the_answer) {
  struct result_set rows;
  SCOPED(memory_free) char *text = NULL;
  size_t length = 0;
  struct document tiles = {.options = {.stream = open_memstream(&text, &length)},
                           .backend = &PAGE_TILES};
  said_rows(&rows, PAIRS, COUNT_OF(PAIRS));
  run_result_answer(&rows, &tiles);
  result_set_fini(&rows);
  assert_int_equal(fclose(tiles.options.stream), 0);
  arena_fini(&tiles.arena);
  assert_string_equal(text, "<div><dt>No result</dt><dd><b>1</b> of 7 cases: failed</dd></div>\n"
                            "<div><dt>GPU to GPU</dt><dd><b>50.00-100.0</b> GB/s (1MiB); lowest: "
                            "gpu1 to gpu2</dd></div>\n");
}
