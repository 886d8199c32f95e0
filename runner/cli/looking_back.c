#include "runner/cli/looking_back.h"

#include "runner/record/database.h"

static enum status load(struct looking_back *options, struct database *database,
                        struct measured *measured, struct error *err) {
  const char *only = options->selecting.only;
  enum status status = selecting_runs(&options->selecting, database, measured, options->selectors,
                                      options->selector_count, err);
  if (status == STATUS_OK) {
    status = measured_load(measured, database, only, err);
  }
  if (status == STATUS_OK && only != NULL && measured->case_count == 0) {
    return error_set(err, STATUS_NOT_FOUND,
                     "no case or block is named like \"%s\"; haul list cases shows them", only);
  }
  return status;
}

int look_back(struct looking_back *options, show_measured *show) {
  struct error err = {0};
  struct database *database = NULL;
  struct measured *measured = measured_new();
  enum status status = selecting_open(&options->common, &options->selecting, &database, &err);
  if (status == STATUS_OK) {
    status = load(options, database, measured, &err);
  }
  if (status == STATUS_OK) {
    status = show(options, measured, &err);
  }
  const int code = status == STATUS_OK ? EXIT_DONE : fail(&options->common, &err);
  measured_free(measured);
  database_close(database);
  selecting_fini(&options->selecting);
  return code;
}
