#include "runner/cli/analysis.h"

#include "runner/cli/compare_advice.h"

enum status analysis_load(struct command *command, const char *const *selectors,
                          size_t selector_count, struct error *err) {
  struct filter *filter = &command->request.filter;
  struct measured *measured = command->measured = measured_new();
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(filter_runs(filter, command->database, measured, selectors, selector_count, err));
  RETURN_ON_ERROR(measured_load(measured, command->database, filter->only, err));
  return filter->only != NULL && measured->case_count == 0
             ? error_set(err, STATUS_NOT_FOUND,
                         "no case or block matches \"%s\"; haul list cases lists them",
                         filter->only)
             : STATUS_OK;
}

enum status analysis_compare(struct command *command, struct compare_result *result,
                             struct error *err) {
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  return compare_runs(command->database, &command->request, result, err);
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
  const enum status status =
      common->tests != TEST_NONE
          ? diff_print_tests(result->measured, result->comparison, show, common->tests, stdout, err)
          : diff_print(result->measured, result->comparison, show, &rows, err);
  if (status == STATUS_OK) {
    compare_advise(common, command->database, &command->request, result);
  }
  return status;
}
