#include "runner/cli/analysis.h"

#include "runner/cli/compare_advice.h"

enum status analysis_open(const struct common_options *common, struct arena *arena,
                          struct database **database, struct error *err) {
  const char *path = NULL;
  enum status status = database_path(common, arena, &path, err);
  return status == STATUS_OK ? database_open(path, DATABASE_READ, database, err) : status;
}

/* ---- history, outliers ---- */

static enum status analysis_load(struct analysis_options *options, struct database *database,
                                 struct measured *measured, struct error *err) {
  const char *only = options->filter.only;
  enum status status = filter_runs(&options->filter, database, measured, options->selectors,
                                   options->selector_count, err);
  if (status == STATUS_OK) {
    status = measured_load(measured, database, only, err);
  }
  if (status == STATUS_OK && only != NULL && measured->case_count == 0) {
    return error_set(err, STATUS_NOT_FOUND,
                     "no case or block matches \"%s\"; haul list cases lists them", only);
  }
  return status;
}

int analysis_main(struct analysis_options *options, analysis_show *show) {
  struct error err = {0};
  struct database *database = NULL;
  struct measured *measured = measured_new();
  enum status status = analysis_open(&options->common, &options->filter.arena, &database, &err);
  if (status == STATUS_OK) {
    status = analysis_load(options, database, measured, &err);
  }
  if (status == STATUS_OK) {
    status = show(options, measured, &err);
  }
  const int code = status == STATUS_OK ? EXIT_DONE : fail(&options->common, &err);
  measured_free(measured);
  database_close(database);
  filter_fini(&options->filter);
  return code;
}

/* ---- diff, check ---- */

static enum status analysis_show_comparison(const struct analysis_compare_options *options,
                                            analysis_choose *choose,
                                            const struct compare_result *result,
                                            struct error *err) {
  const struct common_options *common = &options->common;
  struct diff_show what = {.all = common->verbose};
  for (size_t s = 0; s < SIDES; s++) {
    what.names[s] = options->request.names[s] != NULL ? options->request.names[s] : "";
  }
  choose(options, result, &what);
  if (common->junit) {
    return diff_print_junit(result->measured, result->comparison, &what, stdout, err);
  }
  const struct table_options rows = table_to_stdout(common);
  return diff_print(result->measured, result->comparison, &what, &rows, err);
}

int analysis_compare_main(struct analysis_compare_options *options, analysis_choose *choose,
                          analysis_judge *judge) {
  const struct common_options *common = &options->common;
  struct error err = {0};
  struct database *database = NULL;
  struct compare_result result = {0};
  int code = EXIT_DONE;
  enum status status = analysis_open(common, &options->request.filter.arena, &database, &err);
  if (status == STATUS_OK) {
    status = compare_runs(database, &options->request, &result, &err);
  }
  if (status == STATUS_OK) {
    status = analysis_show_comparison(options, choose, &result, &err);
  }
  if (status != STATUS_OK) {
    code = fail(common, &err);
  } else {
    compare_advise(common, database, &options->request, &result);
    code = judge != NULL ? judge(options, result.comparison) : EXIT_DONE;
  }
  compare_result_fini(&result);
  database_close(database);
  compare_request_fini(&options->request);
  return code;
}
