/* haul history CASE: a case over time. */
#include "runner/cli/analysis.h"
#include "runner/cli/cli.h"
#include "runner/render/history.h"

static const struct argp_option VERB_HISTORY_OPTIONS[] = {FILTER_OPTIONS, {0}};

static error_t verb_history_parse(int key, char *arg, struct argp_state *state) {
  struct analysis_options *options = state->input;
  switch (key) {
  case ARGP_KEY_ARG:
    if (options->filter.only != NULL) {
      return ARGP_ERR_UNKNOWN;
    }
    options->filter.only = arg;
    return 0;
  case ARGP_KEY_END:
    if (options->filter.only == NULL) {
      argp_error(state, "missing argument: CASE, a name or glob; haul list cases lists the names");
    }
    return 0;
  default:
    return filter_options_parse(key, arg, state, &options->filter);
  }
}

static enum status verb_history_show(const struct analysis_options *options,
                                     struct measured *measured, struct error *err) {
  const struct common_options *common = &options->common;
  const struct table_options rows = table_to_stdout(common);
  struct history *history = history_new(measured);
  enum status status = STATUS_OK;
  if (history->series_count == 0) {
    status =
        error_set(err, STATUS_UNSUPPORTED, "no run has a result of \"%s\"", options->filter.only);
  } else {
    status = history_print(measured, history, common->verbose, &rows, err);
  }
  history_free(history);
  return status;
}

static int verb_history_main(const struct verb *verb, int argc, char **argv) {
  struct analysis_options options = {0};
  cli_parse(verb, argc, argv, &options);
  return analysis_main(&options, verb_history_show);
}

const struct verb VERB_HISTORY = {
    .name = "history",
    .arguments = "CASE",
    .summary = "show one case over time, and when its level changed",
    .doc =
        "CASE is the name of a case or block, or a glob. Each run is one point: the median of its "
        "processes. | marks a new driver version, ^ a new level under the same driver "
        "(Pettitt's test, one false positive in a hundred series). Several cases give one chart "
        "each; -v adds their runs.",
    .options = VERB_HISTORY_OPTIONS,
    .parse = verb_history_parse,
    .argument_kind = ARGUMENTS_NONE,
    .main = verb_history_main,
};
