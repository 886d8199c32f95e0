/* haul history CASE: a case over time. */
#include "engine/base/globs.h"
#include "runner/cli/analysis.h"
#include "runner/render/history.h"

#include <string.h>

static const struct verb_option VERB_HISTORY_OPTIONS[] = {FILTER_OPTIONS, {0}};

static void verb_history_check(struct command *command, struct argp_state *state) {
  const char **only = &command->request.filter.only;
  if (command->word_count > 0) {
    *only = globs_add(*only, command->words[0], &command->request.filter.arena);
  }
  OPTIONS_REFUSE(*only == NULL, state,
                 "missing argument: CASE, a name or glob; haul list cases lists the names");
}

/* More series than anybody reads, of machines that can be compared. */
static bool verb_history_is_of_a_fleet(const struct command *command,
                                       const struct history *history) {
  enum { SERIES_MAX = 16 };
  const struct results *results = command->results;
  const struct results_environment *first = &results->environments[results->runs[0].environment];
  bool mixed = false;
  bool several = false;
  for (size_t r = 0; r < results->run_count; r++) {
    const struct results_environment *e = &results->environments[results->runs[r].environment];
    mixed = mixed || e->simulated != first->simulated;
    several = several || strcmp(e->node, first->node) != 0;
  }
  return history->series_count > SERIES_MAX && several && !mixed && !command->common.verbose &&
         output_layout_of(command->common.format) == LAYOUT_PAGE;
}

static enum status verb_history_run(struct command *command, struct error *err) {
  const struct common_options *common = &command->common;
  const struct table_options rows = table_to_stdout(common);
  RETURN_ON_ERROR(analysis_load(command, NULL, 0, err));
  struct history *history = history_new(command->results);
  enum status status = STATUS_OK;
  if (history->series_count == 0) {
    status = error_set(err, STATUS_UNSUPPORTED, "no run has a result of \"%s\"",
                       command->request.filter.only);
  } else if (verb_history_is_of_a_fleet(command, history)) {
    struct machines *machines = machines_new(command->results);
    status = history_print_machines(command->results, machines, history, &rows, err);
    machines_free(machines);
  } else {
    status = history_print(command->results, history, common->verbose, &rows, err);
  }
  history_free(history);
  return status;
}

const struct verb VERB_HISTORY = {
    .name = "history",
    .group = VERBS_COMPARE,
    .arguments = "CASE",
    .summary = "show one case over time, and when its level changed",
    .doc =
        "CASE is the name of a case or block, or a glob. Each run is one point: the median of "
        "its processes. | marks a new driver version. ^ marks a new level under the same "
        "driver, or that the latest runs differ from the level before them. If one series is "
        "shown, at most 4 % of such calls have a false mark: 1 % for a step (Pettitt's test) and "
        "3 % for the latest runs (t test). Of several cases, each that changed has a chart, "
        "and each other one a line. At most 5 % of their marks are expected to be false. "
        "More than 16 series of several machines are shown as their median, the lowest tenth, "
        "the machines that are unlike the others, and the cases that changed most. -v shows "
        "each series, with its runs.",
    .options = VERB_HISTORY_OPTIONS,
    .word_max = 1,
    .check = verb_history_check,
    .rows = (const struct verb_rows[]){{history_describe_json, NULL}, {0}},
    .run = verb_history_run,
};
