/* haul history CASE: a case over time. */
#include "runner/cli/looking_back.h"
#include "runner/cli/verbs.h"
#include "runner/render/history.h"

static const struct argp_option options_table[] = {SELECTING_OPTIONS, {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct looking_back *options = state->input;
  switch (key) {
  case ARGP_KEY_ARG:
    if (options->selecting.only != NULL) {
      return ARGP_ERR_UNKNOWN;
    }
    options->selecting.only = arg;
    return 0;
  case ARGP_KEY_END:
    if (options->selecting.only == NULL) {
      argp_error(state, "which case? A name or glob, as haul list cases shows them");
    }
    return 0;
  default:
    return selecting_parse(key, arg, state, &options->selecting);
  }
}

static enum status show(const struct looking_back *options, struct measured *measured,
                        struct error *err) {
  const struct common_options *common = &options->common;
  const struct rows_options rows = rows_to_stdout(common);
  struct history *history = history_new(measured);
  enum status status = STATUS_OK;
  if (history->series_count == 0) {
    status = error_set(err, STATUS_UNSUPPORTED, "\"%s\" has no result in any run",
                       options->selecting.only);
  } else {
    status = history_print(measured, history, common->verbose, &rows, err);
  }
  history_free(history);
  return status;
}

static int history_main(const struct verb *verb, int argc, char **argv) {
  struct looking_back options = {0};
  cli_parse(verb, argc, argv, &options);
  return look_back(&options, show);
}

const struct verb VERB_HISTORY = {
    .name = "history",
    .arguments = "CASE",
    .summary = "one case over time, with what changed it",
    .doc = "CASE is a name of a case or block, or a glob. One point a run: the median of its "
           "processes. | marks another driver version, ^ another level under the same driver "
           "(Pettitt's test, one false alarm in a hundred series). Several cases: a chart each; "
           "-v adds their runs.",
    .options = options_table,
    .parse = parse,
    .argument_kind = ARGUMENTS_NONE,
    .main = history_main,
};
