#include "runner/report/report.h"

#include "engine/base/strings.h"
#include "engine/machine/machine.h"
#include "runner/analysis/history.h"
#include "runner/analysis/outliers.h"
#include "runner/record/manage.h"
#include "runner/record/selector.h"
#include "runner/render/diff_format.h"
#include "runner/render/env.h"
#include "runner/render/outliers.h"
#include "runner/render/page/page.h"
#include "runner/render/plot/curves.h"
#include "runner/render/plot/machine_drawing.h"
#include "runner/render/result/run_result.h"
#include "schema/scenario/scenario.h"

#include <inttypes.h>

/* Runs with more cases have no charts: the curves could not be told apart. */
enum { CHART_CASES_MAX = 20000, SPREAD_CASES_MAX = 1000, DRAWING_MAX = 16 << 20 };

/* One page while it is written. */
struct report {
  const struct report_request *request;
  struct arena arena;
  struct page_run *runs; /* of each only the summary is there before its section is written */
  struct query_parameter *selectors; /* of the runs */
  struct page_entry *entries;
  size_t entry_count;
};

static enum status report_load(const struct report *report, size_t i, const char *query,
                               const struct row_sink *sink, struct error *err) {
  return query_run_saved(report->request->query, query, &report->selectors[i], 1, NULL, sink, err);
}

static enum status report_load_part(const struct report *report, size_t i, enum run_part part,
                                    struct error *err) {
  return report_load(report, i, run_part_text(part), &report->runs[i].parts[part].sink, err);
}

/* As haul env has them. */
static void report_reword_facts(struct arena *arena, struct result_set *facts) {
  enum { FACT, GPU, STATE, VALUE };
  for (size_t i = 0; i < facts->row_count && facts->column_count > VALUE; i++) {
    const char *fact = result_set_text_at(facts, i, FACT);
    const char *value = result_set_text_at(facts, i, VALUE);
    if (fact != NULL && value != NULL) {
      result_set_put(facts, i, VALUE, cell_text(env_fact_words(arena, fact, value)));
    }
  }
}

static enum status report_load_summaries(struct report *report, struct error *err) {
  const struct report_request *request = report->request;
  enum status status = STATUS_OK;
  report->runs = arena_array(&report->arena, request->run_count, sizeof *report->runs);
  report->selectors = arena_array(&report->arena, request->run_count, sizeof *report->selectors);
  for (size_t i = 0; i < request->run_count; i++) {
    struct page_run *run = &report->runs[i];
    run->number = arena_format(&report->arena, "%" PRId64, request->runs[i].id);
    run->id = arena_format(&report->arena, "run-%s", run->number);
    run->alone = request->run_count == 1 && request->compared == NULL;
    report->selectors[i] = (struct query_parameter){
        "run", arena_format(&report->arena, "run:%s", request->runs[i].uuid)};
    for (unsigned part = 0; part < run_part_name_count; part++) {
      result_set_init(&run->parts[part], PAGE_RUN_ROWS_MAX);
    }
  }
  for (size_t i = 0; i < request->run_count && status == STATUS_OK; i++) {
    status = report_load_part(report, i, RUN_PART_SUMMARY, err);
  }
  return status;
}

/* ---- results ---- */

static enum status report_load_charts(const struct report *report, size_t i,
                                      struct page_results *results, struct error *err) {
  struct curves *curves = curves_new_drawn_by(page_results_chart, results);
  const enum status status = report_load(report, i, "curves", curves_sink(curves), err);
  curves_free(curves);
  return status;
}

/* The figures that belong to its scenario, as its paper or document overlays them: plots of the
 * saved queries that are of it, before everything else that it measured. */
static enum status report_put_figures(const struct report *report, size_t i,
                                      struct page_results *results, struct error *err) {
  const char *scenario = result_set_text(&report->runs[i].parts[RUN_PART_SUMMARY], 0, "scenario");
  SCOPED(arena_fini) struct arena arena = {0};
  enum status status = STATUS_OK;
  for (size_t k = 0; k < saved_query_count() && status == STATUS_OK; k++) {
    struct saved_query saved;
    saved_query_at(k, &arena, &saved);
    if (saved.plot_count > 0 && saved_query_is_of(&saved, scenario) &&
        saved_query_parameter(&saved, ":run") != NULL) {
      struct curves *curves = curves_new_drawn_by(page_results_figure, results);
      curves_draw_as(curves, &saved);
      status = report_load(report, i, saved.name, curves_sink(curves), err);
      curves_free(curves);
    }
  }
  return status;
}

/* The results of a run beside what its machine should reach; what is short is said at its top. */
static enum status report_judge(struct report *report, size_t i, struct result_set *cases,
                                struct error *err) {
  enum { SHORTFALLS_SHOWN_MAX = 6 };
  struct page_run *run = &report->runs[i];
  struct expect_judge *judge = NULL;
  RETURN_ON_ERROR(expect_judge_run(report->request->expected, report->request->query,
                                   report->selectors[i].value, NULL, &cases->sink, &judge, err));
  const char *const *lines = NULL;
  const size_t count = expect_judge_words(judge, &lines);
  const size_t shown = count > SHORTFALLS_SHOWN_MAX + 1 ? SHORTFALLS_SHOWN_MAX + 1 : count;
  const char **kept = arena_array(&report->arena, shown, sizeof *kept);
  for (size_t k = 0; k + 1 < shown; k++) {
    kept[k] = arena_strdup(&report->arena, lines[k]);
  }
  run->shortfalls = kept;
  run->shortfall_count = shown > 0 ? shown - 1 : 0;
  run->expected = count > 0 ? arena_strdup(&report->arena, lines[count - 1]) : NULL;
  expect_judge_free(judge);
  return STATUS_OK;
}

/* What the run measured, as haul run shows it. */
static enum status report_put_results(struct report *report, size_t i, struct result_set *cases,
                                      FILE *page, struct error *err) {
  const struct page_run *run = &report->runs[i];
  const bool flows_wanted = report->request->flows;
  const bool charts =
      result_set_integer(&run->parts[RUN_PART_SUMMARY], 0, "cases") <= CHART_CASES_MAX;
  SCOPED(result_set_fini) struct result_set flows;
  SCOPED(result_set_fini) struct result_set trend;
  SCOPED(result_set_fini) struct result_set spread;
  struct page_results results;
  enum status status = STATUS_OK;
  result_set_init(&flows, SIZE_MAX);
  result_set_init(&trend, SIZE_MAX);
  result_set_init(&spread, SPREAD_CASES_MAX);
  flows.limit = cases->limit;
  flows.limit.group_maximum = REPORT_ROWS_MAX;
  page_results_init(&results, page, run->id);
  if (flows_wanted) {
    status = report_load(report, i, "run-flows", &flows.sink, err);
  }
  if (charts) {
    status = THEN(status, report_load_charts(report, i, &results, err));
    status = THEN(status, report_put_figures(report, i, &results, err));
    status = THEN(status, report_load(report, i, "block-trend", &trend.sink, err));
    status = THEN(status, report_load(report, i, "distributions", &spread.sink, err));
    results.trend = &trend;
    results.spread = &spread;
  }
  const struct result_set *recorded = &run->parts[RUN_PART_SCENARIO];
  const char *resolved = result_set_optional(recorded, 0, "resolved");
  struct scenario *scenario =
      resolved != NULL ? scenario_find_recorded(resolved, result_set_text(recorded, 0, "path"))
                       : NULL;
  const struct run_result_options how = {.sums = report->request->sums, .scenario = scenario};
  if (status == STATUS_OK) {
    run_result_print(cases, flows_wanted ? &flows : NULL, &how, &results.document);
  }
  scenario_free(scenario);
  page_results_fini(&results);
  if (cases->row_count > 0) {
    const char *file = arena_format(&report->arena, "haul-run-%s.csv", run->number);
    status = THEN(status, page_put_csv(page, cases, file, "The results", err));
  }
  return status;
}

/* What is slower than its peers in this run. Where nothing can be told, as of a run whose results
 * are mixed, the page says so. */
static enum status report_find_outliers(struct report *report, size_t i, struct error *err) {
  struct page_run *run = &report->runs[i];
  struct database *database = query_database(report->request->query);
  struct results *results = results_new();
  struct outliers *outliers = NULL;
  enum status status = results_add_runs(results, database, &report->request->runs[i], 1, err);
  status = THEN(status, results_load(results, database, NULL, err));
  status = THEN(status, results_load_errors(results, database, err));
  status = THEN(status, outliers_find(results, &(struct outliers_options){.slow_only = true},
                                      &outliers, err));
  if (status == STATUS_OK) {
    const char **verdicts = arena_array(&report->arena, outliers->verdict_count, sizeof *verdicts);
    for (size_t v = 0; v < outliers->verdict_count; v++) {
      if (outliers->verdicts[v].state == OUTLIER_SLOW) {
        verdicts[run->verdict_count++] =
            outliers_verdict_words(&report->arena, results, outliers, &outliers->verdicts[v]);
      }
    }
    run->verdicts = verdicts;
    run->doubt_count = outliers_doubts(&report->arena, results, outliers, &run->doubts);
    run->compared = outliers->cases;
  }
  const char *sides = NULL;
  status = THEN(status, selector_find_sides(database, report->request->runs[i].id, &report->arena,
                                            &sides, err));
  if (sides != NULL) {
    run->next = arena_format(&report->arena, "haul diff %s%s", sides, report->request->db_option);
  }
  outliers_free(outliers);
  results_free(results);
  return status;
}

/* The machine of the run with the rates of its links, folded away. */
static enum status report_put_machine(struct report *report, size_t i, FILE *page,
                                      struct error *err) {
  SCOPED(memory_free) struct machine *machine = machine_new();
  SCOPED(result_set_fini) struct result_set rates;
  struct database *database = query_database(report->request->query);
  result_set_init(&rates, SIZE_MAX);
  SCOPED(strbuf_fini) struct strbuf drawing = STRBUF(DRAWING_MAX);
  RETURN_ON_ERROR(run_machine_read(database, report->request->runs[i].id, machine, err));
  RETURN_ON_ERROR(report_load(report, i, "link-rates", &rates.sink, err));
  const struct machine_measured measured = {arena_format(&report->arena, "run %s: %s",
                                                         report->runs[i].number,
                                                         page_run_title(&report->runs[i])),
                                            &rates};
  machine_drawing_put(machine, &measured, arena_format(&report->arena, "machine-%zu", i), &drawing);
  (void)fprintf(page,
                "<details><summary>The machine drawn, with the rates of its links</summary>\n"
                "<div class=\"wide\">\n%s</div></details>\n",
                drawing.text);
  return STATUS_OK;
}

/* What haul run ends with, as tiles. */
static enum status report_put_tiles(struct report *report, struct page_run *run,
                                    const struct result_set *cases, struct error *err) {
  SCOPED(memory_free) char *text = NULL;
  size_t length = 0;
  struct document tiles = {.options = {.stream = open_memstream(&text, &length)},
                           .backend = &PAGE_TILES};
  if (tiles.options.stream == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a page");
  }
  run_result_answer(cases, &tiles);
  (void)fclose(tiles.options.stream);
  run->tiles = arena_strdup(&report->arena, text);
  arena_fini(&tiles.arena);
  return STATUS_OK;
}

static enum status report_put_run(struct report *report, size_t i, FILE *page, struct error *err) {
  struct page_run *run = &report->runs[i];
  struct result_set cases;
  RETURN_ON_ERROR(report_find_outliers(report, i, err));
  for (unsigned part = RUN_PART_SUMMARY + 1; part < run_part_name_count; part++) {
    RETURN_ON_ERROR(report_load_part(report, i, (enum run_part)part, err));
  }
  report_reword_facts(&report->arena, &report->runs[i].parts[RUN_PART_FACTS]);
  result_set_init(&cases, SIZE_MAX);
  cases.limit = (struct result_limit){.group_column = "block",
                                      .word_column = "status",
                                      .word = "skipped",
                                      .group_maximum = REPORT_BLOCK_ROWS_MAX,
                                      .maximum = REPORT_ROWS_MAX};
  enum status status = report_judge(report, i, &cases, err);
  status = THEN(status, report_put_tiles(report, run, &cases, err));
  if (status == STATUS_OK) {
    page_run_begin(page, run);
    status = report_put_machine(report, i, page, err);
    status = THEN(status, report_put_results(report, i, &cases, page, err));
    page_run_end(page, run, cases.left_out);
  }
  result_set_fini(&cases);
  return status;
}

/* ---- history ---- */

/* For results_keep_runs(): runs on the host of that environment, simulated or not as it is. */
static bool report_keep_host(const struct results *results, size_t run, const void *context) {
  const struct results_environment *wanted = context;
  const struct results_environment *e = &results->environments[results->runs[run].environment];
  return e->simulated == wanted->simulated && strings_equal(e->node, wanted->node);
}

static enum status report_put_history(const struct report *report, size_t row, FILE *page,
                                      bool *first, struct error *err) {
  const struct results *results = report->request->compared->results;
  const struct comparison_row *changed = &report->request->compared->comparison->rows[row];
  const size_t run = changed->sides[SIDE_B].run;
  struct database *database = query_database(report->request->query);
  struct results *runs = results_new();
  struct page_history_case one = {.bench = &results->cases[changed->bench],
                                  .row = row,
                                  .hardware =
                                      results_hardware(results, run, changed->sides[SIDE_B].bench),
                                  .runs = runs};
  enum status status = results_add_all_runs(runs, database, err);
  if (status == STATUS_OK) {
    results_keep_runs(runs, report_keep_host,
                      &results->environments[results->runs[run].environment]);
    status = results_load(runs, database, one.bench->key, err);
  }
  if (status == STATUS_OK) {
    struct history *history = history_new(runs);
    one.history = history;
    *first = !page_history(page, &one, *first) && *first;
    history_free(history);
  }
  results_free(runs);
  return status;
}

/* Whether an earlier row of the comparison changed in the same block. */
static bool report_is_again(const struct comparison *comparison, const size_t *rows, size_t count,
                            size_t row) {
  const struct results *results = comparison->results;
  return ANY_OF(i, count,
                strcmp(results->cases[comparison->rows[rows[i]].bench].block,
                       results->cases[comparison->rows[row].bench].block) == 0);
}

static enum status report_put_histories(const struct report *report, FILE *page,
                                        struct error *err) {
  const struct comparison *comparison = report->request->compared->comparison;
  size_t rows[PAGE_HISTORY_CASES_MAX];
  size_t count = 0;
  bool first = true;
  for (size_t i = 0; i < comparison->row_count && count < PAGE_HISTORY_CASES_MAX; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const enum verdict verdict = row->result.verdict;
    const bool changed = verdict == VERDICT_BROKEN || verdict_is_change(verdict);
    if (changed && row->sides[SIDE_B].run != SIZE_MAX &&
        !report_is_again(comparison, rows, count, i)) {
      rows[count++] = i;
    }
  }
  enum status status = STATUS_OK;
  for (size_t i = 0; i < count && status == STATUS_OK; i++) {
    status = report_put_history(report, rows[i], page, &first, err);
  }
  return status;
}

/* ---- the page ---- */

static void report_add_entry(struct report *report, const char *id, const char *text,
                             const char *extra) {
  report->entries[report->entry_count++] = (struct page_entry){id, text, extra};
}

/* "A, run 3: quick on node1, 2026-11-26 12:21": on which side of the comparison a run is. */
static const char *report_entry_text(struct report *report, size_t i) {
  const struct compare_result *compared = report->request->compared;
  struct page_run *run = &report->runs[i];
  const char *title = page_run_title(run);
  for (size_t r = 0; compared != NULL && r < compared->results->run_count; r++) {
    if (compared->results->runs[r].ref.id == report->request->runs[i].id &&
        compared->sides[r] != SIDE_NONE) {
      return arena_format(&report->arena, "%c, run %s: %s", side_letter(compared->sides[r]),
                          run->number, title);
    }
  }
  return arena_format(&report->arena, "run %s: %s", run->number, title);
}

static void report_find_entries(struct report *report) {
  const struct report_request *request = report->request;
  report->entries = arena_array(&report->arena, request->run_count + 1, sizeof *report->entries);
  if (request->compared != NULL) {
    report_add_entry(report, "comparison", "What changed", "");
  }
  for (size_t i = 0; i < request->run_count; i++) {
    const struct page_run *run = &report->runs[i];
    const char *tag = result_set_optional(&run->parts[RUN_PART_SUMMARY], 0, "tag");
    report_add_entry(report, run->id, report_entry_text(report, i), tag != NULL ? tag : "");
  }
}

static const char *report_title(struct report *report) {
  const struct report_request *request = report->request;
  if (request->compared != NULL) {
    const struct comparison *comparison = request->compared->comparison;
    return arena_format(
        &report->arena, "%s%s", diff_found_words(&report->arena, comparison),
        arena_around(&report->arena, ": ", diff_cause_words(&report->arena, comparison), ""));
  }
  return request->run_count == 1 ? page_run_title(&report->runs[0])
                                 : arena_format(&report->arena, "%zu runs", request->run_count);
}

static const char *report_lead(struct report *report) {
  const struct report_request *request = report->request;
  const char *text = NULL;
  if (request->compared != NULL) {
    const struct comparison *comparison = request->compared->comparison;
    const bool drivers =
        strcmp(comparison->totals[SIDE_A].drivers, comparison->totals[SIDE_B].drivers) != 0;
    text = arena_format(&report->arena, "%s%s", drivers ? "Driver " : "",
                        diff_sides_words(&report->arena, comparison, request->sides->names));
  }
  if (request->compared == NULL && request->run_count == 1) {
    text = result_set_optional(&report->runs[0].parts[RUN_PART_SUMMARY], 0, "description");
  }
  return text != NULL ? text : "How fast data moves inside GPU machines, measured by haul";
}

enum status report_print(const struct report_request *request, FILE *page, struct error *err) {
  struct report report = {.request = request};
  enum status status = report_load_summaries(&report, err);
  if (status == STATUS_OK) {
    report_find_entries(&report);
    page_begin(page, report_title(&report), report_lead(&report), report.entries,
               report.entry_count);
    if (request->compared != NULL) {
      page_diff(page, request->compared->comparison, request->sides->names);
      status = report_put_histories(&report, page, err);
      page_diff_end(page);
    }
  }
  for (size_t i = 0; i < request->run_count && status == STATUS_OK; i++) {
    status = report_put_run(&report, i, page, err);
    for (unsigned part = 0; part < run_part_name_count; part++) {
      result_set_fini(&report.runs[i].parts[part]);
    }
  }
  if (status == STATUS_OK) {
    page_end(page, request->haul_version);
  }
  for (size_t i = 0; i < request->run_count; i++) {
    for (unsigned part = 0; part < run_part_name_count; part++) {
      result_set_fini(&report.runs[i].parts[part]);
    }
  }
  arena_fini(&report.arena);
  return status;
}
