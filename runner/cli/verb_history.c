/* haul history CASE: a case over time. */
#include "engine/base/globs.h"
#include "runner/cli/analysis.h"
#include "runner/render/history.h"

static const struct verb_option VERB_HISTORY_OPTIONS[] = {FILTER_OPTIONS, {0}};

static void verb_history_check(struct command *command, struct argp_state *state) {
  const char **only = &command->request.filter.only;
  if (command->word_count > 0) {
    *only = globs_add(*only, command->words[0], &command->request.filter.arena);
  }
  if (*only == NULL) {
    argp_error(state, "missing argument: CASE, a name or glob; haul list cases lists the names");
  }
}

static enum status verb_history_run(struct command *command, struct error *err) {
  const struct common_options *common = &command->common;
  const struct table_options rows = table_to_stdout(common);
  RETURN_ON_ERROR(analysis_load(command, NULL, 0, err));
  struct history *history = history_new(command->measured);
  const enum status status =
      history->series_count == 0
          ? error_set(err, STATUS_UNSUPPORTED, "no run has a result of \"%s\"",
                      command->request.filter.only)
          : history_print(command->measured, history, common->verbose, &rows, err);
  history_free(history);
  return status;
}

static const struct verb_rows VERB_HISTORY_ROWS[] = {{history_describe_json, NULL}, {0}};

const struct verb VERB_HISTORY = {
    .name = "history",
    .group = VERBS_COMPARE,
    .arguments = "CASE",
    .summary = "show one case over time, and when its level changed",
    .doc = "CASE is the name of a case or block, or a glob. Each run is one point: the "
           "median of its processes. | marks a new driver version. ^ marks a new level "
           "under the same driver (Pettitt's test, one false positive in a hundred series), "
           "or that the latest runs differ from the level before them (t test, three in a "
           "hundred). Several cases give one chart each, and their marks share a false "
           "discovery rate of 5 %. -v adds their runs.",
    .options = VERB_HISTORY_OPTIONS,
    .word_max = 1,
    .check = verb_history_check,
    .rows = VERB_HISTORY_ROWS,
    .run = verb_history_run,
};
