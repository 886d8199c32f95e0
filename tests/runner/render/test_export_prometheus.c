/* The latest result of every case, and Prometheus' text of it. */
#include "runner/render/export_prometheus.h"

#include "tests/cmocka.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct results_environment environments[] = {
    {.id = 1, .host_name = "node\"1\\", .driver_version = "550.54"},
    {.id = 2, .host_name = "node\"1\\", .driver_version = "580.65"},
    {.id = 3, .host_name = "node\"1\\", .driver_version = "580.65", .simulated = true},
};
static struct results_run runs[] = {
    {.scenario = "small", .origin = "measured", .started_at_ns = 2000000000, .environment = 1},
    {.scenario = "small", .origin = "measured", .started_at_ns = 1000000000, .environment = 0},
    {.scenario = "small", .origin = "measured", .started_at_ns = 3000000000, .environment = 2},
};
static struct results_case cases[] = {
    {.key = "k0",
     .block = "copy",
     .name = "copy/1KiB",
     .path = "numa0-gpu0\nx\033",
     .method = "ce",
     .figure = FIGURE_RATE,
     .units = 1024,
     .size_bytes = 1024},
    {.key = "k1",
     .block = "chase",
     .name = "chase",
     .path = "gpu0",
     .method = "chase",
     .figure = FIGURE_HOP,
     .units = 10},
    {.key = "k2",
     .block = "launch",
     .name = "launch",
     .path = "gpu0",
     .method = "kernel_launch",
     .figure = FIGURE_CALL,
     .units = 1},
};
static struct results_median medians[] = {
    {0, 0, 1, 110, CASE_OK, 0, false, 0, 0},      {0, 0, 2, 90, CASE_OK, 0, false, 0, 0},
    {0, 0, 3, 100, CASE_OK, 0, false, 0, 0},      {1, 0, 4, 50, CASE_OK, 0, false, 0, 0},
    {2, 0, 5, 1, CASE_OK, 0, false, 0, 0},        {0, 1, 1, 500, CASE_OK, 0, false, 0, 0},
    {0, 1, 2, NAN, CASE_FAILED, 0, false, 0, 0},  {1, 1, 4, 400, CASE_OK, 0, false, 0, 0},
    {0, 2, 0, NAN, CASE_SKIPPED, 0, false, 0, 0}, {1, 2, 4, NAN, CASE_FAILED, 0, false, 0, 0},
};

static struct results everything(void) {
  return (struct results){.runs = runs,
                          .run_count = COUNT(runs),
                          .environments = environments,
                          .environment_count = COUNT(environments),
                          .cases = cases,
                          .case_count = COUNT(cases),
                          .medians = medians,
                          .median_count = COUNT(medians)};
}

TEST(the_latest_run_counts) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct results results = everything();
  size_t count = 0;
  const struct latest_case *latest = latest_cases(&results, &arena, &count);
  assert_int_equal(count, 4);
  /* In the order of hosts and names; simulated results apart, and after. */
  assert_int_equal(latest[0].bench, 1);
  assert_int_equal(latest[0].run, 0);
  assert_int_equal(latest[0].processes, 1);
  assert_int_equal(latest[0].went_wrong, 1);
  assert_true(latest[0].ns == 500);
  assert_int_equal(latest[1].bench, 0);
  assert_int_equal(latest[1].run, 0);
  assert_int_equal(latest[1].processes, 3);
  assert_int_equal(latest[1].went_wrong, 0);
  assert_true(latest[1].ns == 100);
  /* Skipped in the latest run: the one before, in which it went wrong. */
  assert_int_equal(latest[2].bench, 2);
  assert_int_equal(latest[2].run, 1);
  assert_int_equal(latest[2].processes, 0);
  assert_true(isnan(latest[2].ns));
  assert_int_equal(latest[3].bench, 0);
  assert_int_equal(latest[3].run, 2);
  assert_true(latest[3].ns == 1);
}

TEST(nothing_is_measured) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct results results = {0};
  size_t count = 1;
  (void)latest_cases(&results, &arena, &count);
  assert_int_equal(count, 0);
}

static char *print(struct results *results, struct comparison *const *comparisons,
                   size_t comparison_count) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct error err = {0};
  size_t count = 0;
  CAPTURE(out);
  const struct latest_case *latest = latest_cases(results, &arena, &count);
  assert_ok(
      prometheus_print(results, latest, count, comparisons, comparison_count, out.stream, &err),
      &err);
  return capture_take(&out);
}

static void assert_line(const char *text, const char *line) {
  const char *found = strstr(text, line);
  if (found == NULL || (found > text && found[-1] != '\n') || found[strlen(line)] != '\n') {
    fail_msg("no line\n%s\nin\n%s", line, text);
  }
}

#define COPY_LABELS(more)                                                                          \
  "{host=\"node\\\"1\\\\\",scenario=\"small\",block=\"copy\",case="                                \
  "\"copy/"                                                                                        \
  "1KiB\",path=\"numa0-gpu0\\nx \",method=\"ce\",size_bytes=\"1024\"" more "}"
#define CHASE_LABELS                                                                               \
  "{host=\"node\\\"1\\\\\",scenario=\"small\",block=\"chase\",case="                               \
  "\"chase\",path=\"gpu0\",method=\"chase\"}"

TEST(samples_have_base_units_and_escapes) {
  struct results results = everything();
  SCOPED(memory_free) char *text = print(&results, NULL, 0);
  assert_line(text, "# TYPE haul_bandwidth_bytes_per_second gauge");
  assert_line(text, "haul_bandwidth_bytes_per_second" COPY_LABELS("") " 10240000000");
  assert_line(text,
              "haul_bandwidth_bytes_per_second" COPY_LABELS(",simulated=\"1\"") " 1024000000000");
  assert_line(text, "haul_iteration_seconds" COPY_LABELS("") " 1e-07");
  assert_line(text, "haul_hop_seconds" CHASE_LABELS " 5e-08");
  assert_line(text, "haul_case_ok" CHASE_LABELS " 0");
  assert_line(text, "haul_case_processes" COPY_LABELS("") " 3");
  assert_line(text, "haul_case_run_start_timestamp_seconds" COPY_LABELS("") " 2");
  /* Nothing is compared; nothing of a case without a result but that it is not ok. */
  assert_null(strstr(text, "haul_case_verdict"));
  assert_null(strstr(text, "haul_call_seconds{"));
  assert_line(text, "haul_host_info{host=\"node\\\"1\\\\\",driver_version=\"580.65\"} 1");
  assert_null(strstr(text, "550.54"));
  assert_null(strcasestr(text, "nan"));
}

/* A line is whole however long its names are. */
TEST(long_names_are_not_cut) {
  enum { LONG = 200000 };
  struct results results = everything();
  SCOPED(memory_free) char *name = calloc(1, LONG + 1);
  memset(name, 'x', LONG);
  const char *before = cases[0].name;
  cases[0].name = name;
  SCOPED(memory_free) char *text = print(&results, NULL, 0);
  cases[0].name = before;
  for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
    const size_t length = strcspn(line, "\n");
    const char *brace = memchr(line, '{', length);
    assert_true(line[0] == '#' || (brace != NULL && memmem(line, length, "\"} ", 3) != NULL));
  }
  const char *in_text = strstr(text, name);
  assert_non_null(in_text);
  assert_int_equal(in_text[LONG], '"');
}

TEST(verdicts_are_labels) {
  struct results results = everything();
  struct comparison_row rows[] = {
      {.bench = 0, .result = {.verdict = VERDICT_REGRESSED}, .change = -0.03},
      {.bench = 0, .result = {.verdict = VERDICT_SAME}, .change = 0.001},
      {.bench = 1, .result = {.verdict = VERDICT_MISSING}, .change = NAN},
  };
  rows[0].sides[SIDE_B].run = rows[1].sides[SIDE_B].run = 0;
  rows[2].sides[SIDE_B].run = SIZE_MAX;
  rows[2].sides[SIDE_A].run = 1;
  struct comparison comparison = {.rows = rows, .row_count = COUNT(rows)};
  struct comparison *comparisons[] = {&comparison};
  SCOPED(memory_free) char *text = print(&results, comparisons, 1);
  assert_line(text, "haul_case_verdict" COPY_LABELS(",verdict=\"regressed\"") " 1");
  assert_line(text, "haul_case_change_ratio" COPY_LABELS("") " -0.03");
  assert_contains(text, "verdict=\"missing\"} 1\n");
  assert_null(strstr(text, "verdict=\"same\""));
}
