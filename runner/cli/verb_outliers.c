/* haul outliers [RUN...]: which GPU, link or host is slower than its like. */
#include "runner/cli/selecting.h"
#include "runner/cli/verbs.h"
#include "runner/record/database.h"
#include "runner/render/outliers.h"

enum { OPTION_ALL = 0x660 };

struct outliers_options {
  struct common_options common;
  struct selecting selecting;
  const char **selectors;
  size_t selector_count, selector_capacity;
  bool all;
};

static const struct argp_option options_table[] = {
    {"all", OPTION_ALL, 0, 0, "all runs, as of a cluster in one database", 1},
    SELECTING_OPTIONS,
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct outliers_options *options = state->input;
  switch (key) {
  case OPTION_ALL:
    options->all = true;
    return 0;
  case ARGP_KEY_ARG:
    options->selectors =
        arena_grow(&options->selecting.arena, options->selectors, options->selector_count,
                   &options->selector_capacity, sizeof *options->selectors);
    options->selectors[options->selector_count++] = arg;
    return 0;
  case ARGP_KEY_END:
    if (options->all && options->selector_count > 0) {
      argp_error(state, "either runs or --all, not both");
    }
    return 0;
  default:
    return selecting_parse(key, arg, state, &options->selecting);
  }
}

static enum status show(struct outliers_options *options, struct database *database,
                        struct measured *measured, struct error *err) {
  static const char *const LATEST[] = {"latest"};
  /* --where without a run asks all of them. */
  const bool latest =
      options->selector_count == 0 && !options->all && options->selecting.where_count == 0;
  struct outliers *outliers = NULL;
  enum status status =
      selecting_runs(&options->selecting, database, measured, latest ? LATEST : options->selectors,
                     latest ? 1 : options->selector_count, err);
  if (status == STATUS_OK) {
    status = measured_load(measured, database, options->selecting.only, err);
  }
  if (status == STATUS_OK) {
    status = outliers_find(measured, &outliers, err);
  }
  if (status == STATUS_OK && outliers->cases == 0) {
    status = error_set(
        err, STATUS_UNSUPPORTED, "nothing to compare: %zu %s, but of none are there %d alike",
        outliers->alone, outliers->alone == 1 ? "result" : "results", OUTLIERS_LIKE_MIN);
  }
  if (status == STATUS_OK) {
    const struct common_options *common = &options->common;
    const struct rows_options rows = rows_to_stdout(common);
    status = outliers_print(measured, outliers, common->verbose, &rows, err);
  }
  outliers_free(outliers);
  return status;
}

static int outliers_main(const struct verb *verb, int argc, char **argv) {
  struct outliers_options options = {0};
  cli_parse(verb, argc, argv, &options);
  struct error err = {0};
  struct database *database = NULL;
  struct measured *measured = measured_new();
  enum status status = selecting_open(&options.common, &options.selecting, &database, &err);
  if (status == STATUS_OK) {
    status = show(&options, database, measured, &err);
  }
  const int code = status == STATUS_OK ? EXIT_DONE : fail(&options.common, &err);
  measured_free(measured);
  database_close(database);
  selecting_fini(&options.selecting);
  return code;
}

const struct verb VERB_OUTLIERS = {
    .name = "outliers",
    .arguments = "[RUN...]",
    .summary = "which GPU, link or host is slower than its like",
    .doc = "Of the latest run, of the runs named, or of all (--all, --where): every GPU, link and, "
           "from three hosts on, host is compared with those like it, block by block, by the "
           "robust z of its cases. -v shows all that was compared.",
    .options = options_table,
    .parse = parse,
    .argument_kind = ARGUMENTS_NONE,
    .main = outliers_main,
};
