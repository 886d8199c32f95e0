#include "runner/cli/analysis.h"

#include "runner/record/manage.h"
#include "runner/render/diff_format.h"

#include <string.h>

/* A run that health measured to be sure has but a few cases. */
static void analysis_say_repeats(const struct command *command) {
  const struct results *results = command->results;
  for (size_t i = 0; i < results->run_count; i++) {
    const struct results_run *run = &results->runs[i];
    if (run->repeats != 0 &&
        !ANY_OF(k, results->run_count, results->runs[k].ref.id == run->repeats)) {
      say_note(&command->common,
               "run %lld measured some cases of run %lld once more; run:%lld has all",
               (long long)run->ref.id, (long long)run->repeats, (long long)run->repeats);
    }
  }
}

enum status analysis_load(struct command *command, const char *const *selectors,
                          size_t selector_count, struct error *err) {
  struct filter *filter = &command->request.filter;
  struct results *results = command->results = results_new();
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(filter_runs(filter, command->database, results, selectors, selector_count, err));
  analysis_say_repeats(command);
  RETURN_ON_ERROR(results_load(results, command->database, filter->only, err));
  if (filter->only == NULL || results->case_count > 0) {
    return STATUS_OK;
  }
  const char *wider = arena_format(&filter->arena, "*%s*", filter->only);
  RETURN_ON_ERROR(results_load(results, command->database, wider, err));
  if (results->case_count == 0 && strchr(filter->only, '/') != NULL) {
    const size_t length = strcspn(filter->only, "/");
    const char *block = arena_strndup(&filter->arena, filter->only, length);
    RETURN_ON_ERROR(results_load(results, command->database, block, err));
    if (results->case_count > 0) {
      return error_set(err, STATUS_NOT_FOUND,
                       "no case matches \"%s\"; a case of this block is \"%s\"", filter->only,
                       results->cases[0].name);
    }
  }
  return results->case_count > 0
             ? error_set(err, STATUS_NOT_FOUND,
                         "no case or block matches \"%s\"; did you mean \"%s\"?", filter->only,
                         wider)
             : error_set(err, STATUS_NOT_FOUND,
                         "no case or block matches \"%s\"; haul list cases lists them",
                         filter->only);
}

/* The one scenario of all runs of a side; NULL = there are several, or no run. *run: its last one.
 */
static const char *analysis_scenario(const struct compare_result *result, enum side side,
                                     int64_t *run) {
  const char *scenario = NULL;
  for (size_t i = 0; i < result->results->run_count; i++) {
    const struct results_run *of = &result->results->runs[i];
    if (result->sides[i] == side && scenario != NULL && strcmp(of->scenario, scenario) != 0) {
      return NULL;
    }
    scenario = result->sides[i] == side ? of->scenario : scenario;
    *run = result->sides[i] == side ? of->ref.id : *run;
  }
  return scenario;
}

/* Why no case has a result on both sides, where runs failed or are of two scenarios. */
static enum status analysis_check_sides(struct command *command,
                                        const struct compare_result *result, struct error *err) {
  int64_t runs[SIDES] = {0};
  const char *scenarios[SIDES];
  if (diff_any_on_both(result->comparison) || command->request.compare.one_side) {
    return STATUS_OK;
  }
  for (unsigned s = 0; s < SIDES; s++) {
    const char *reason = NULL;
    scenarios[s] = analysis_scenario(result, (enum side)s, &runs[s]);
    RETURN_ON_ERROR(run_failure_read(command->database, runs[s], &command->arena, &reason, err));
    if (reason != NULL) {
      return error_set(err, STATUS_UNSUPPORTED, "nothing to compare: run %lld failed: %s",
                       (long long)runs[s], reason);
    }
  }
  const bool differ = scenarios[SIDE_A] != NULL && scenarios[SIDE_B] != NULL &&
                      strcmp(scenarios[SIDE_A], scenarios[SIDE_B]) != 0;
  return differ ? error_set(
                      err, STATUS_UNSUPPORTED,
                      "nothing to compare: run %lld is of %s, run %lld of %s; name two runs of one "
                      "scenario (haul list shows the runs)",
                      (long long)runs[SIDE_A], scenarios[SIDE_A], (long long)runs[SIDE_B],
                      scenarios[SIDE_B])
                : STATUS_OK;
}

enum status analysis_compare(struct command *command, struct compare_result *result,
                             struct error *err) {
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(compare_runs(command->database, &command->request, result, err));
  return analysis_check_sides(command, result, err);
}

enum status analysis_show(struct command *command, const struct compare_result *result,
                          struct diff_show *show, struct error *err) {
  const struct common_options *common = &command->common;
  const struct table_options rows = table_to_stdout(common);
  show->all = common->verbose;
  show->version = HAUL_VERSION;
  for (size_t s = 0; s < SIDES; s++) {
    show->names[s] = command->request.names[s] != NULL ? command->request.names[s] : "";
  }
  RETURN_ON_ERROR(common->tests != TEST_NONE
                      ? diff_print_tests(result->comparison, show, common->tests, stdout, err)
                      : diff_print(result->comparison, show, &rows, err));
  compare_advise(common, command->database, &command->request, result);
  return STATUS_OK;
}
