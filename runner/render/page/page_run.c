#include "runner/render/page/page.h"

#include "engine/base/units.h"
#include "engine/machine/check.h"
#include "runner/render/result/matrix.h"
#include "runner/table/html.h"

#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(run_part, RUN_PART_LIST)

static const char *page_run_text(const struct page_run *run, const char *column) {
  return result_set_text(&run->parts[RUN_PART_SUMMARY], 0, column);
}

static long long page_run_count_of(const struct page_run *run, const char *column) {
  return result_set_integer(&run->parts[RUN_PART_SUMMARY], 0, column);
}

/* "2026-08-01 12:30" of "2026-08-01T12:30:59Z"; seconds: ":59" as well. */
static const char *page_run_moment(struct arena *arena, const char *text, bool seconds) {
  return strlen(text) < 19 ? text
                           : arena_format(arena, "%.10s %.*s", text, seconds ? 8 : 5, text + 11);
}

const char *page_run_title(struct page_run *run) {
  struct arena *arena = run->parts[RUN_PART_SUMMARY].arena;
  return arena_format(arena, "%s on %s, %s", page_run_text(run, "scenario"),
                      page_run_text(run, "host_name"),
                      page_run_moment(arena, page_run_text(run, "started_at"), false));
}

/* ---- title and badges ---- */

static void page_run_put_badge(FILE *page, const char *tone, const char *text) {
  html_print(page, "<span class=\"badge %s\">%s</span> ", tone, text);
}

/* What is in order, which is nothing to be green beside cases that went wrong. */
static const char *page_run_good(const struct page_run *run) {
  return page_run_count_of(run, "wrong") > 0 ? "plain" : "good";
}

static void page_run_put_badges(FILE *page, const struct page_run *run) {
  static const struct {
    const char *tone, *column, *one, *many;
  } COUNTS[] = {{"plain", "measured", "case measured", "cases measured"},
                {"bad", "wrong", "case went wrong", "cases went wrong"},
                {"plain", "skipped", "case skipped", "cases skipped"},
                {"warn", "checks_failed", "check failed", "checks failed"}};
  (void)fputs("<p>", page);
  if (page_run_count_of(run, "simulated") != 0) {
    page_run_put_badge(page, "warn", "simulated");
  }
  if (strcmp(page_run_text(run, "origin"), "imported") == 0) {
    page_run_put_badge(page, "plain", "imported");
  }
  const bool done = strcmp(page_run_text(run, "status"), "done") == 0;
  page_run_put_badge(page, done ? page_run_good(run) : "bad", page_run_text(run, "status"));
  for (size_t i = 0; i < COUNT_OF(COUNTS); i++) {
    const long long count = page_run_count_of(run, COUNTS[i].column);
    if (count > 0) {
      html_print(page, "<span class=\"badge %s\">%zu %s</span> ", COUNTS[i].tone, (size_t)count,
                 count == 1 ? COUNTS[i].one : COUNTS[i].many);
    }
  }
  (void)fputs("</p>\n", page);
}

static void page_run_put_box(FILE *page, const char *title, const char *text) {
  html_print(page, "<p class=\"box\" role=\"note\"><b>%s</b> %s</p>\n", title, text);
}

/* GPUs whose clocks something kept down. */
static void page_run_put_throttling(FILE *page, const struct result_set *gpus) {
  const char *text = "";
  for (size_t i = 0; i < gpus->row_count; i++) {
    const char *share = result_set_optional(gpus, i, "slowed_percent");
    const char *by = result_set_optional(gpus, i, "slowed_by");
    if (share != NULL && by != NULL) {
      text = arena_join(gpus->arena, text, "; ",
                        arena_format(gpus->arena, "%s in %s %% of the samples (%s)",
                                     result_set_text(gpus, i, "gpu"), share, by));
    }
  }
  if (text[0] != '\0') {
    page_run_put_box(page, "Throttled.",
                     arena_format(gpus->arena, "Clocks were kept down: %s.", text));
  }
}

static void page_run_put_boxes(FILE *page, const struct page_run *run) {
  if (page_run_count_of(run, "simulated") != 0) {
    page_run_put_box(page, "Simulated.",
                     "A fake driver answered: these numbers say nothing about hardware.");
  }
  if (strcmp(page_run_text(run, "status"), "running") == 0) {
    struct arena *arena = run->parts[RUN_PART_SUMMARY].arena;
    page_run_put_box(page, "Not ended.",
                     arena_format(arena,
                                  "The run goes on, or was killed: what follows is %lld of %lld "
                                  "cases.",
                                  page_run_count_of(run, "measured"),
                                  page_run_count_of(run, "cases")));
  } else if (page_run_text(run, "reason")[0] != '\0') {
    const bool done = strcmp(page_run_text(run, "status"), "done") == 0;
    page_run_put_box(page, done ? "Not all GPUs." : "Ended early.", page_run_text(run, "reason"));
  }
  page_run_put_throttling(page, &run->parts[RUN_PART_GPUS]);
}

/* ---- facts ---- */

/* "12:31 UTC, took 1 min 20 s" */
static const char *page_run_time_words(struct arena *arena, const struct page_run *run) {
  const char *took = page_run_text(run, "duration_s");
  const double seconds = strtod(took, NULL);
  return arena_format(
      arena, "%s UTC%s%s", page_run_moment(arena, page_run_text(run, "started_at"), true),
      seconds > 0 ? ", took " : "",
      seconds > 0
          ? units_format_duration_short(seconds > 0 ? (uint64_t)(seconds * 1e9) : 0, UNITS_TEXT)
          : "");
}

static void page_run_put_facts(FILE *page, const struct page_run *run) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct arena *at = &arena;
  const long long nodes = page_run_count_of(run, "node_count");
  const char *scenario = page_run_text(run, "scenario");
  const char *host =
      arena_join(at, page_run_text(run, "host_name"), ", ", page_run_text(run, "os"));
  const char *cuda = page_run_text(run, "cuda_driver_version");
  const char *driver = page_run_text(run, "driver_version");
  const char *only = page_run_text(run, "only_glob");
  const struct {
    const char *name, *value;
  } facts[] = {
      {"Measured", page_run_time_words(at, run)},
      {"Scenario", arena_join(at, scenario, ": ", page_run_text(run, "description"))},
      {"Tag", page_run_text(run, "tag")},
      {"Host", arena_join(at, host, ", kernel ", page_run_text(run, "kernel"))},
      {"Processors",
       arena_join(at, page_run_text(run, "cpu_model"), ", ",
                  arena_format(at, "%lld NUMA %s", nodes, nodes == 1 ? "node" : "nodes"))},
      {"GPUs", page_run_count_of(run, "gpu_count") > 0
                   ? arena_format(at, "%s \xc3\x97 %s", page_run_text(run, "gpu_count"),
                                  page_run_text(run, "gpu_name"))
                   : "none"},
      {"Driver", driver[0] != '\0' && cuda[0] != '\0'
                     ? arena_format(at, "%s (CUDA %s)", driver, cuda)
                     : driver},
      {"Cases", arena_format(at, "%s planned in %s %s%s%s", page_run_text(run, "cases"),
                             page_run_text(run, "processes"),
                             page_run_count_of(run, "processes") == 1 ? "process" : "processes",
                             only[0] != '\0' ? ", only " : "", only)},
      {"haul", page_run_text(run, "haul_version")},
      {"Run", arena_format(at, "%s, number %s of its database", page_run_text(run, "run_uuid"),
                           page_run_text(run, "run"))},
  };
  (void)fputs("<details><summary>Host, software, command and number of this run</summary>\n<dl>\n",
              page);
  for (size_t i = 0; i < COUNT_OF(facts); i++) {
    if (facts[i].value[0] != '\0') {
      html_print(page, "<dt>%s</dt><dd>%s</dd>\n", facts[i].name, facts[i].value);
    }
  }
  if (page_run_text(run, "command_line")[0] != '\0') {
    html_print(page, "<dt>Command</dt><dd><code>%s</code></dd>\n",
               page_run_text(run, "command_line"));
  }
  (void)fputs("</dl></details>\n", page);
}

/* ---- checks ---- */

static bool page_run_is(const struct result_set *checks, size_t i, const char *status) {
  return strcmp(result_set_text(checks, i, "status"), status) == 0;
}

static void page_run_put_not_passed(FILE *page, const struct result_set *checks) {
  html_print(page,
             "<div class=\"wide\"><table class=\"checks\">" HTML_TABLE_CAPTION
             "<th scope=\"col\">check</th><th scope=\"col\">of</th><th scope=\"col\">outcome</th>"
             "<th scope=\"col\">wanted</th><th scope=\"col\">found</th>" HTML_TABLE_ROWS,
             "Checks that did not pass");
  for (size_t i = 0; i < checks->row_count; i++) {
    const char *gpu = result_set_optional(checks, i, "gpu");
    if (!page_run_is(checks, i, "passed")) {
      html_print(page,
                 "<tr><th scope=\"row\">%s</th><td>%s%s</td><td><span class=\"badge %s\">%s</span> "
                 "</td><td>%s</td><td>%s</td></tr>\n",
                 result_set_text(checks, i, "check"), gpu != NULL ? "gpu" : "machine", gpu,
                 page_run_is(checks, i, "failed") ? "warn" : "plain",
                 result_set_text(checks, i, "status"), result_set_text(checks, i, "want"),
                 result_set_text(checks, i, "found"));
    }
  }
  (void)fputs(HTML_TABLE_END, page);
}

/* The rows of a saved query, and the command that shows those for which there is no room. */
static void page_run_put_rows(FILE *page, const struct page_run *run, enum run_part part,
                              const char *caption) {
  const struct html_table_options options = {
      .caption = caption,
      .more = arena_format(run->parts[part].arena, "haul query --saved %s --param run=%s",
                           run_part_text(part), run->number)};
  html_table(page, &run->parts[part], &options);
}

static void page_run_put_checks(FILE *page, const struct page_run *run) {
  const struct result_set *checks = &run->parts[RUN_PART_CHECKS];
  const size_t passed = SUM_OF(i, checks->row_count, page_run_is(checks, i, "passed"));
  if (checks->row_count == 0) {
    return;
  }
  if (passed < checks->row_count) {
    (void)fputs("<h3>Checks of the machine</h3>\n", page);
    page_run_put_not_passed(page, checks);
  }
  (void)fprintf(page, "<details><summary>Checks of the machine: %zu of %zu passed</summary>\n",
                passed, checks->row_count);
  page_run_put_rows(page, run, RUN_PART_CHECKS, "All checks");
  (void)fputs("</details>\n", page);
}

/* ---- what a reader with one minute wants to know ---- */

/* The most frequent reason for which cases failed, crashed, hung or were corrupt. */
static void page_run_put_wrong(FILE *page, const struct page_run *run) {
  const struct result_set *reasons = &run->parts[RUN_PART_NOT_MEASURED];
  const long long wrong = page_run_count_of(run, "wrong");
  const char *reason = result_set_optional(reasons, 0, "reason");
  if (wrong > 0) {
    html_print(page, "<li class=\"bad\"><b>Went wrong:</b> %zu %s: %s", (size_t)wrong,
               wrong == 1 ? "case" : "cases", result_set_text(reasons, 0, "example"));
    html_print(page, wrong > 1 ? " and %zu more" : "", (size_t)wrong - 1);
    html_print(page, "; %s: %s</li>\n", result_set_text(reasons, 0, "status"),
               reason != NULL ? reason : "no reason is known");
  }
}

static void page_run_put_check_answer(FILE *page, const struct result_set *checks) {
  size_t counts[check_status_name_count] = {0};
  for (size_t i = 0; i < checks->row_count; i++) {
    enum check_status status;
    if (check_status_parse(result_set_text(checks, i, "status"), &status)) {
      counts[status]++;
    }
  }
  if (checks->row_count == 0) {
    return;
  }
  html_print(page, "<li class=\"%s\"><b>Checks:</b> %zu of %zu passed",
             counts[CHECK_PASSED] == checks->row_count ? "good" : "warn", counts[CHECK_PASSED],
             checks->row_count);
  for (unsigned s = 0; s < check_status_name_count; s++) {
    if (s != CHECK_PASSED && counts[s] > 0) {
      html_print(page, ", %zu %s", counts[s], check_status_text((enum check_status)s));
    }
  }
  (void)fputs("</li>\n", page);
}

/* As the machine should be, by expectations, and as its peers are. */
static void page_run_put_comparisons(FILE *page, const struct page_run *run) {
  if (run->expected != NULL) {
    html_print(page, "<li class=\"%s\"><b>%s:</b> %s</li>\n",
               run->shortfall_count > 0 ? "bad" : page_run_good(run),
               run->shortfall_count > 0 ? "Below the expected range" : "As expected",
               run->expected);
  }
  for (size_t i = 0; i < run->shortfall_count; i++) {
    html_print(page, "<li class=\"bad\">%s</li>\n", run->shortfalls[i]);
  }
  for (size_t i = 0; i < run->verdict_count; i++) {
    html_print(page, "<li class=\"bad\"><b>Outlier:</b> %s</li>\n", run->verdicts[i]);
  }
  if (run->next != NULL && run->verdict_count + run->shortfall_count > 0) {
    html_print(page, "<li>To see what changed: <code>%s</code></li>\n", run->next);
  }
  for (size_t i = 0; i < run->doubt_count; i++) {
    html_print(page, "<li class=\"warn\"><b>Undecided:</b> %s</li>\n", run->doubts[i]);
  }
  if (run->verdict_count + run->doubt_count == 0 && run->compared > 0) {
    html_print(page,
               "<li class=\"%s\"><b>No GPU, link or host is slower than the others</b> (%zu "
               "results compared)</li>\n",
               page_run_good(run), run->compared);
  } else if (run->compared == 0 && run->expected == NULL) {
    html_print(page, "<li><b>As expected:</b> not known: no expectation fits these cases on this "
                     "machine, and no result of this run has two peers</li>\n");
  }
}

/* "gpu0 is throttled" and the like are boxes above; here: what was measured, and whether it is as
 * expectations, its peers and the checks say it should be. */
static void page_run_put_answers(FILE *page, const struct page_run *run) {
  SCOPED(arena_fini) struct arena arena = {0};
  const long long cases = page_run_count_of(run, "cases");
  const long long measured = page_run_count_of(run, "measured");
  const char *driver = page_run_text(run, "driver_version");
  const bool gpus = page_run_count_of(run, "gpu_count") > 0;
  html_print(page,
             "<ul class=\"answers\">\n<li><b>Measured:</b> %s of %s cases on %s%s%s%s%s</li>\n",
             arena_format(&arena, "%lld", measured), arena_format(&arena, "%lld", cases),
             gpus ? arena_format(&arena, "%s \xc3\x97 ", page_run_text(run, "gpu_count")) : "",
             gpus ? page_run_text(run, "gpu_name") : page_run_text(run, "cpu_model"),
             driver[0] != '\0' ? ", driver " : "", driver,
             arena_format(&arena, ", %s", page_run_time_words(&arena, run)));
  page_run_put_comparisons(page, run);
  page_run_put_wrong(page, run);
  page_run_put_check_answer(page, &run->parts[RUN_PART_CHECKS]);
  (void)fputs("</ul>\n", page);
}

/* As it was written: lines and tabs stay, other control characters are shown. */
static void page_run_put_file(FILE *page, const char *text) {
  SCOPED(arena_fini) struct arena arena = {0};
  (void)fputs("<pre>", page);
  while (text[0] != '\0') {
    const size_t length = strcspn(text, "\n\t");
    html_print(page, "%s", arena_strndup(&arena, text, length));
    text += length;
    if (text[0] != '\0') {
      (void)fputc(*text++, page);
    }
  }
  (void)fputs("</pre>\n", page);
}

static void page_run_put_scenario(FILE *page, const struct page_run *run) {
  const struct result_set *scenario = &run->parts[RUN_PART_SCENARIO];
  const char *text = result_set_text(scenario, 0, "text");
  const char *resolved = result_set_optional(scenario, 0, "resolved");
  if (text[0] != '\0') {
    (void)fputs("<details><summary>The scenario</summary>\n", page);
    page_run_put_file(page, text);
    if (resolved != NULL && strcmp(resolved, text) != 0) {
      (void)fputs("<details><summary>with its includes and --set applied</summary>\n", page);
      page_run_put_file(page, resolved);
      (void)fputs("</details>\n", page);
    }
    (void)fputs("</details>\n", page);
  }
}

/* ---- the rest ---- */

static void page_run_put_folded(FILE *page, const struct page_run *run, enum run_place place) {
  static const struct {
    enum run_place place;
    const char *title;
  } FOLDED[] = {
#define FOLDED_(id, query, place, title) [id] = {place, title},
      RUN_PART_LIST(FOLDED_)};
  for (unsigned part = 0; part < run_part_name_count; part++) {
    if (FOLDED[part].place == place && run->parts[part].row_count > 0) {
      html_print(page, "<details><summary>%s</summary>\n", FOLDED[part].title);
      page_run_put_rows(page, run, (enum run_part)part, FOLDED[part].title);
      (void)fputs("</details>\n", page);
    }
  }
}

void page_run_begin(FILE *page, const struct page_run *run) {
  const char *tag = page_run_text(run, "tag");
  const bool several = page_run_count_of(run, "processes") > 1;
  html_print(page, "<section id=\"%s\">\n", run->id);
  (void)fputs(run->alone ? "<h2 class=\"away\">" : "<h2>", page);
  html_print(page, tag[0] != '\0' ? "%s on %s <small>%s</small></h2>\n" : "%s on %s%s</h2>\n",
             page_run_text(run, "scenario"), page_run_text(run, "host_name"), tag);
  page_run_put_badges(page, run);
  if (run->tiles != NULL && run->tiles[0] != '\0') {
    (void)fprintf(page, "<dl class=\"tiles\">\n%s</dl>\n", run->tiles);
  }
  page_run_put_boxes(page, run);
  page_run_put_answers(page, run);
  page_run_put_facts(page, run);
  page_run_put_scenario(page, run);
  page_run_put_folded(page, run, RUN_PLACE_ABOVE);
  page_run_put_checks(page, run);
  html_print(page,
             "<h3 id=\"%s-results\">Results</h3>\n<p class=\"words\">Numbers are medians%s. "
             "\xc2\xb1 %% is half %s. Above %.0f %%, it has both ends: -40/+57.</p>\n",
             run->id, several ? " over the processes" : "",
             several ? "the range of the processes"
                     : "the width of the 95 % confidence interval, or half the range of a "
                       "case's measurements if haul measured it again",
             MATRIX_ROUGH_PERCENT);
  if (page_run_text(run, "pruned_at")[0] != '\0') {
    html_print(page,
               "<p class=\"note\">haul prune deleted its trials on %s: their distributions are not "
               "shown.</p>\n",
               page_run_text(run, "pruned_at"));
  }
}

void page_run_end(FILE *page, const struct page_run *run, size_t results_left_out) {
  if (results_left_out > 0) {
    html_print(page,
               "<p class=\"box\" role=\"note\"><b>Shortened.</b> %zu more %s not shown: "
               "<code>haul query --saved run-result --param run=%s --format csv</code></p>\n",
               results_left_out, results_left_out == 1 ? "case is" : "cases are", run->number);
  }
  if (run->parts[RUN_PART_NOT_MEASURED].row_count > 0) {
    (void)fputs("<h3>What has no number, and why</h3>\n", page);
    page_run_put_rows(page, run, RUN_PART_NOT_MEASURED,
                      "Reasons for which cases were not measured");
  }
  page_run_put_folded(page, run, RUN_PLACE_BELOW);
  (void)fputs("</section>\n", page);
}
