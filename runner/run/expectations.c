#include "runner/run/expectations.h"

#include "runner/render/result/run_result.h"

#include <unistd.h>

static bool expectations_open_own(struct expectations *expectations,
                                  const struct common_options *common, const char *given) {
  SCOPED(arena_fini) struct arena arena = {0};
  bool named = given != NULL;
  const char *path = named ? given : console_expect_path(&arena, &named);
  bool good = true;
  if (path != NULL && (named || access(path, F_OK) == 0)) {
    struct diagnostics *diagnostics = diagnostics_new();
    good = expect_load(path, &expectations->files[0], diagnostics) == STATUS_OK;
    say_mistakes(common, diagnostics);
    diagnostics_free(diagnostics);
  }
  return good;
}

bool expectations_open(struct expectations *expectations, const struct common_options *common,
                       const char *given) {
  *expectations = (struct expectations){0};
  struct diagnostics *diagnostics = diagnostics_new();
  /* A test reads the shipped file: it has no mistakes. */
  (void)!expect_load_shipped(&expectations->files[1], diagnostics);
  diagnostics_free(diagnostics);
  const bool good = expectations_open_own(expectations, common, given);
  for (size_t i = 0; i < EXPECT_FILES_MAX; i++) {
    expectations->set.files[i] = expectations->files[i];
  }
  return good;
}

void expectations_fini(struct expectations *expectations) {
  for (size_t i = 0; i < EXPECT_FILES_MAX; i++) {
    expect_free(expectations->files[i]);
    expectations->files[i] = NULL;
  }
}

/* For people: matrices and tables. */
static enum status expectations_show_blocks(const struct result_view *view, struct query *query,
                                            const char *run, const struct query_options *options,
                                            struct error *err) {
  const struct common_options *common = view->common;
  const struct table_options table = table_to_stdout(common);
  struct document document;
  const struct query_parameter parameter = {"run", run};
  struct expect_judge *judge = NULL;
  SCOPED(result_set_fini) struct result_set cases;
  SCOPED(result_set_fini) struct result_set flows;
  result_set_init(&cases, SIZE_MAX);
  result_set_init(&flows, SIZE_MAX);
  enum status status =
      expect_judge_run(&view->expectations->set, query, run, options, &cases.sink, &judge, err);
  if (status == STATUS_OK && common->verbose) {
    status = query_run_saved(query, "run-flows", &parameter, 1, options, &flows.sink, err);
  }
  const struct run_result_options how = {.sums = view->sums,
                                         .brief = view->brief && !common->verbose && !view->sums,
                                         .answer = true,
                                         .scenario = view->scenario,
                                         .skipped_command = view->skipped_command};
  if (status == STATUS_OK) {
    document_begin(&document, &table, err);
    if (view->lead != NULL) {
      document_put(&document, "%s", view->lead);
      if (view->simulated) {
        document_put(&document, DOCUMENT_SIMULATED);
      }
    }
    if (view->incomplete != NULL) {
      document_put_toned(&document, TONE_BAD, "%s", view->incomplete);
    }
    run_result_print(&cases, common->verbose ? &flows : NULL, &how, &document);
    expect_judge_print(judge, &document);
    status = document_end(&document);
  }
  expect_judge_free(judge);
  return status;
}

enum status expectations_show_run(const struct result_view *view, struct query *query,
                                  const char *run, const struct query_options *options,
                                  struct error *err) {
  if (output_is_for_people(view->common->format)) {
    return expectations_show_blocks(view, query, run, options, err);
  }
  struct expect_judge *judge = NULL;
  const enum status status =
      expect_judge_run(&view->expectations->set, query, run, options, view->rows, &judge, err);
  expect_judge_free(judge);
  return status;
}

enum status expectations_show_times(const struct common_options *common, struct query *query,
                                    const char *run, struct error *err) {
  const struct query_parameter parameter = {"run", run};
  const struct table_options options = {.format = OUTPUT_TABLE,
                                        .stream = stderr,
                                        .width = terminal_width(stderr),
                                        .colour = use_colour(common, stderr)};
  struct table *rows = table_new(&options);
  const enum status status =
      query_run_saved(query, "run-time", &parameter, 1, NULL, table_sink(rows), err);
  table_free(rows);
  return status;
}
