#include "runner/render/page.h"

#include "engine/base/units.h"
#include "runner/table/html.h"

#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(run_part, RUN_PART_LIST)

static const char *page_run_say(const struct page_run *run, const char *column) {
  const char *text = result_set_text(&run->parts[RUN_PART_SUMMARY], 0, column);
  return text != NULL ? text : "";
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
  return arena_format(arena, "%s on %s, %s", page_run_say(run, "scenario"),
                      page_run_say(run, "host_name"),
                      page_run_moment(arena, page_run_say(run, "started_at"), false));
}

/* ---- title and badges ---- */

static void page_run_put_badge(FILE *page, const char *tone, const char *text) {
  (void)fprintf(page, "<span class=\"badge %s\">", tone);
  html_text(page, text);
  (void)fputs("</span> ", page);
}

static void page_run_put_count(FILE *page, const char *tone, long long count, const char *one,
                               const char *many) {
  if (count > 0) {
    (void)fprintf(page, "<span class=\"badge %s\">%lld %s</span> ", tone, count,
                  count == 1 ? one : many);
  }
}

static void page_run_put_badges(FILE *page, const struct page_run *run) {
  (void)fputs("<p>", page);
  if (page_run_count_of(run, "simulated") != 0) {
    page_run_put_badge(page, "warn", "simulated");
  }
  if (strcmp(page_run_say(run, "origin"), "imported") == 0) {
    page_run_put_badge(page, "plain", "imported");
  }
  page_run_put_badge(page, strcmp(page_run_say(run, "status"), "done") == 0 ? "good" : "bad",
                     page_run_say(run, "status"));
  page_run_put_count(page, "plain", page_run_count_of(run, "measured"), "case measured",
                     "cases measured");
  page_run_put_count(page, "bad", page_run_count_of(run, "wrong"), "case went wrong",
                     "cases went wrong");
  page_run_put_count(page, "plain", page_run_count_of(run, "skipped"), "case skipped",
                     "cases skipped");
  page_run_put_count(page, "warn", page_run_count_of(run, "checks_failed"), "check failed",
                     "checks failed");
  (void)fputs("</p>\n", page);
}

static void page_run_begin_box(FILE *page, const char *title) {
  (void)fprintf(page, "<p class=\"box\" role=\"note\"><b>%s</b> ", title);
}

/* GPUs whose clocks something kept down. */
static void page_run_put_throttling(FILE *page, const struct result_set *gpus) {
  size_t shown = 0;
  for (size_t i = 0; i < gpus->row_count; i++) {
    const char *share = result_set_text(gpus, i, "slowed_pct");
    if (share == NULL || result_set_text(gpus, i, "slowed_by") == NULL) {
      continue;
    }
    if (shown++ == 0) {
      page_run_begin_box(page, "Throttled.");
    }
    (void)fputs(shown > 1 ? "; " : "Clocks were kept down: ", page);
    html_text(page, result_set_text(gpus, i, "gpu"));
    (void)fputs(" in ", page);
    html_text(page, share);
    (void)fputs(" % of the samples (", page);
    html_text(page, result_set_text(gpus, i, "slowed_by"));
    (void)fputc(')', page);
  }
  (void)fputs(shown > 0 ? ".</p>\n" : "", page);
}

static void page_run_put_boxes(FILE *page, const struct page_run *run) {
  if (page_run_count_of(run, "simulated") != 0) {
    page_run_begin_box(page, "Simulated.");
    (void)fputs("A fake driver answered: these numbers say nothing of hardware.</p>\n", page);
  }
  if (strcmp(page_run_say(run, "status"), "running") == 0) {
    page_run_begin_box(page, "Not ended.");
    (void)fputs("The run goes on, or was killed: what follows is what there was.</p>\n", page);
  } else if (page_run_say(run, "reason")[0] != '\0') {
    page_run_begin_box(page, "Ended early.");
    html_text(page, page_run_say(run, "reason"));
    (void)fputs("</p>\n", page);
  }
  page_run_put_throttling(page, &run->parts[RUN_PART_GPUS]);
}

/* ---- facts ---- */

static void page_run_put_fact(FILE *page, const char *name, const char *value) {
  if (value[0] == '\0') {
    return;
  }
  html_element(page, "dt", NULL, name);
  html_element(page, "dd", NULL, value);
  (void)fputc('\n', page);
}

/* "12:31 UTC, took 1 min 20 s" */
static const char *page_run_time_words(struct arena *arena, const struct page_run *run) {
  const char *took = page_run_say(run, "duration_s");
  const char *text =
      arena_format(arena, "%s UTC", page_run_moment(arena, page_run_say(run, "started_at"), true));
  if (took[0] != '\0') {
    char duration[UNITS_TEXT_MAX];
    const double seconds = strtod(took, NULL);
    units_format_duration_short(seconds > 0 ? (uint64_t)(seconds * 1e9) : 0, duration);
    text = arena_format(arena, "%s, took %s", text, duration);
  }
  return text;
}

/* "text, more"; "more" where there is no text. */
static const char *page_run_join(struct arena *arena, const char *text, const char *before,
                                 const char *more, const char *after) {
  if (more[0] == '\0') {
    return text;
  }
  return text[0] == '\0' ? arena_format(arena, "%s%s", more, after)
                         : arena_format(arena, "%s%s%s%s", text, before, more, after);
}

static void page_run_put_facts(FILE *page, const struct page_run *run) {
  struct arena arena = {0};
  struct arena *at = &arena;
  const long long gpus = page_run_count_of(run, "gpu_count");
  const long long nodes = page_run_count_of(run, "node_count");
  const char *host =
      page_run_join(at, page_run_say(run, "host_name"), ", ", page_run_say(run, "os"), "");
  const char *cuda = page_run_say(run, "cuda_driver_version");
  (void)fputs("<dl>\n", page);
  page_run_put_fact(page, "Measured", page_run_time_words(at, run));
  page_run_put_fact(
      page, "Scenario",
      page_run_join(at, page_run_say(run, "scenario"), ": ", page_run_say(run, "description"), ""));
  page_run_put_fact(page, "Tag", page_run_say(run, "tag"));
  page_run_put_fact(page, "Host",
                    page_run_join(at, host, ", kernel ", page_run_say(run, "kernel"), ""));
  page_run_put_fact(page, "Processors",
                    arena_format(at, "%s%s%lld NUMA %s", page_run_say(run, "cpu_model"),
                                 page_run_say(run, "cpu_model")[0] != '\0' ? ", " : "", nodes,
                                 nodes == 1 ? "node" : "nodes"));
  page_run_put_fact(page, "GPUs",
                    gpus > 0
                        ? arena_format(at, "%lld \xc3\x97 %s", gpus, page_run_say(run, "gpu_name"))
                        : "none");
  page_run_put_fact(
      page, "Driver",
      cuda[0] != '\0' ? page_run_join(at, page_run_say(run, "driver_version"), " (CUDA ", cuda, ")")
                      : page_run_say(run, "driver_version"));
  page_run_put_fact(page, "Cases",
                    arena_format(at, "%s planned in %s %s%s%s", page_run_say(run, "cases"),
                                 page_run_say(run, "processes"),
                                 page_run_count_of(run, "processes") == 1 ? "process" : "processes",
                                 page_run_say(run, "only_glob")[0] != '\0' ? ", only " : "",
                                 page_run_say(run, "only_glob")));
  page_run_put_fact(page, "haul", page_run_say(run, "haul_version"));
  page_run_put_fact(page, "Run",
                    arena_format(at, "%s, number %s of its database", page_run_say(run, "run_uuid"),
                                 page_run_say(run, "run")));
  if (page_run_say(run, "command_line")[0] != '\0') {
    (void)fputs("<dt>Command</dt><dd>", page);
    html_element(page, "code", NULL, page_run_say(run, "command_line"));
    (void)fputs("</dd>\n", page);
  }
  (void)fputs("</dl>\n", page);
  arena_fini(&arena);
}

/* ---- checks ---- */

static bool page_run_is_passed(const struct result_set *checks, size_t i) {
  const char *status = result_set_text(checks, i, "status");
  return status != NULL && strcmp(status, "passed") == 0;
}

static void page_run_put_not_passed(FILE *page, const struct result_set *checks) {
  html_table_begin(page, "", "Checks that did not pass");
  (void)fputs("<th scope=\"col\">check</th><th scope=\"col\">of</th>"
              "<th scope=\"col\">outcome</th><th scope=\"col\">wanted</th>"
              "<th scope=\"col\">found</th>" HTML_TABLE_ROWS,
              page);
  for (size_t i = 0; i < checks->row_count; i++) {
    const char *gpu = result_set_text(checks, i, "gpu");
    const char *status = result_set_text(checks, i, "status");
    if (page_run_is_passed(checks, i)) {
      continue;
    }
    (void)fputs("<tr><th scope=\"row\">", page);
    html_text(page, result_set_text(checks, i, "check"));
    (void)fputs("</th><td>", page);
    (void)fputs(gpu != NULL ? "gpu" : "machine", page);
    html_text(page, gpu);
    (void)fputs("</td><td>", page);
    page_run_put_badge(page, status != NULL && strcmp(status, "failed") == 0 ? "warn" : "plain",
                       status);
    (void)fputs("</td>", page);
    html_element(page, "td", NULL, result_set_text(checks, i, "want"));
    html_element(page, "td", NULL, result_set_text(checks, i, "found"));
    (void)fputs("</tr>\n", page);
  }
  (void)fputs(HTML_TABLE_END, page);
}

/* The rows of a saved query, and the command that shows those for which there is no room. */
static void page_run_put_rows(FILE *page, const struct page_run *run, enum run_part part,
                              const char *caption, struct arena *arena) {
  const struct html_table_options options = {
      .caption = caption,
      .more = arena_format(arena, "haul query --saved %s --param run=%s", run_part_text(part),
                           run->number)};
  html_table(page, &run->parts[part], &options);
}

static void page_run_put_checks(FILE *page, const struct page_run *run, struct arena *arena) {
  const struct result_set *checks = &run->parts[RUN_PART_CHECKS];
  size_t passed = 0;
  if (checks->row_count == 0) {
    return;
  }
  for (size_t i = 0; i < checks->row_count; i++) {
    passed += page_run_is_passed(checks, i);
  }
  (void)fputs("<h3>Checks of the machine</h3>\n", page);
  if (passed < checks->row_count) {
    page_run_put_not_passed(page, checks);
  }
  (void)fprintf(page, "<details><summary>%zu of %zu %s passed</summary>\n", passed,
                checks->row_count, checks->row_count == 1 ? "check" : "checks");
  page_run_put_rows(page, run, RUN_PART_CHECKS, "All checks", arena);
  (void)fputs("</details>\n", page);
}

/* ---- the rest ---- */

static void page_run_put_folded(FILE *page, const struct page_run *run, enum run_part part,
                                const char *title, struct arena *arena) {
  if (run->parts[part].row_count == 0) {
    return;
  }
  (void)fprintf(page, "<details><summary>%s</summary>\n", title);
  page_run_put_rows(page, run, part, title, arena);
  (void)fputs("</details>\n", page);
}

void page_run_begin(FILE *page, const struct page_run *run) {
  struct arena arena = {0};
  (void)fprintf(page, "<section id=\"%s\">\n<h2%s>", run->id, run->alone ? " class=\"away\"" : "");
  html_text(page, page_run_say(run, "scenario"));
  (void)fputs(" on ", page);
  html_text(page, page_run_say(run, "host_name"));
  if (page_run_say(run, "tag")[0] != '\0') {
    (void)fputs(" <small>", page);
    html_text(page, page_run_say(run, "tag"));
    (void)fputs("</small>", page);
  }
  (void)fputs("</h2>\n", page);
  page_run_put_badges(page, run);
  page_run_put_boxes(page, run);
  page_run_put_facts(page, run);
  page_run_put_folded(page, run, RUN_PART_GPUS,
                      "GPUs: clocks, power and temperature while it measured", &arena);
  page_run_put_folded(page, run, RUN_PART_FACTS,
                      "All that was recorded of the machine and its software", &arena);
  page_run_put_checks(page, run, &arena);
  (void)fprintf(page,
                "<h3 id=\"%s-results\">Results</h3>\n<p class=\"words\">Numbers are medians%s "
                "\xc2\xb1 %% is half %s.</p>\n",
                run->id, page_run_count_of(run, "processes") > 1 ? " over the processes;" : ";",
                page_run_count_of(run, "processes") > 1
                    ? "of what lies between the slowest and the fastest "
                      "process"
                    : "the 95 % interval of the median");
  arena_fini(&arena);
}

void page_run_end(FILE *page, const struct page_run *run, size_t results_left_out) {
  struct arena arena = {0};
  const struct result_set *reasons = &run->parts[RUN_PART_NOT_MEASURED];
  if (results_left_out > 0) {
    (void)fprintf(page,
                  "<p class=\"box\" role=\"note\"><b>Shortened.</b> %zu more %s not shown: "
                  "<code>haul query --saved run-result --param run=%s --format csv</code></p>\n",
                  results_left_out, results_left_out == 1 ? "case is" : "cases are", run->number);
  }
  if (reasons->row_count > 0) {
    (void)fputs("<h3>What has no number, and why</h3>\n", page);
    page_run_put_rows(page, run, RUN_PART_NOT_MEASURED, "Reasons for which cases were not measured",
                      &arena);
  }
  page_run_put_folded(page, run, RUN_PART_TIMES, "Where the time went", &arena);
  (void)fputs("</section>\n", page);
  arena_fini(&arena);
}
