/* haul outliers [RUN...]: which GPU, link or host is slower than its peers. */
#include "engine/base/strings.h"
#include "runner/cli/analysis.h"
#include "runner/render/outliers.h"

struct outliers_arguments {
  bool all;
};

static const struct verb_option VERB_OUTLIERS_OPTIONS[] = {
    {"all", NULL,
     "look at the latest run of each host and scenario, for example of a cluster in one database",
     OPTION_FLAG(struct outliers_arguments, all)},
    FILTER_OPTIONS,
    {0}};

static void verb_outliers_check(struct command *command, struct argp_state *state) {
  const struct outliers_arguments *options = command->options;
  OPTIONS_REFUSE(options->all && command->word_count > 0, state,
                 "name runs or give --all, not both");
}

/* The latest run; if it belongs to a fleet, all runs of the fleet: its peers are the other nodes.
 */
static enum status verb_outliers_load_latest(struct command *command, struct error *err) {
  static const char *const LATEST[] = {"latest"};
  struct run_list latest;
  struct run_list list;
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(selector_find_all(command->database, LATEST[0], &command->arena, &latest, err));
  RETURN_ON_ERROR(selector_find_fleet(command->database, false, &command->arena, &list, err));
  if (!ANY_OF(i, list.count, list.runs[i].id == latest.runs[0].id)) { /* a run of its own */
    return analysis_load(command, LATEST, 1, err);
  }
  const char *fleet = selector_join(&command->arena, &list);
  return analysis_load(command, &fleet, 1, err);
}

static enum status verb_outliers_run(struct command *command, struct error *err) {
  const struct outliers_arguments *options = command->options;
  const struct common_options *common = &command->common;
  const struct table_options rows = table_to_stdout(common);
  /* --where without a run asks all of them; of what was measured again, the latest counts: a fault
   * of today is not to be hidden by months without it. */
  const bool latest =
      command->word_count == 0 && !options->all && command->request.filter.where_count == 0;
  command->request.filter.latest_of_each = command->word_count == 0;
  enum status status = latest ? verb_outliers_load_latest(command, err)
                              : analysis_load(command, command->words, command->word_count, err);
  struct outliers *outliers = NULL;
  const struct outliers_options wanted = {
      .latest_only = command->word_count == 0,
      .slow_only = !common->verbose && output_layout_of(rows.format) == LAYOUT_PAGE};
  status = THEN(status, results_load_errors(command->results, command->database, err));
  status = THEN(status, outliers_find(command->results, &wanted, &outliers, err));
  if (status == STATUS_OK && outliers->cases + outliers->undecided_count > 0) {
    status = outliers_print(command->results, outliers, common->verbose, &rows, err);
  }
  if (status == STATUS_OK && outliers->cases == 0) {
    status = error_set(
        err, STATUS_UNSUPPORTED,
        "nothing can be judged: too few peers among %zu %s. It takes the same measurement of "
        "three GPUs, links or hosts",
        outliers->without_peers, strings_plural(outliers->without_peers, "result", "results"));
  }
  outliers_free(outliers);
  return status;
}

const struct verb VERB_OUTLIERS = {
    .name = "outliers",
    .group = VERBS_COMPARE,
    .arguments = "[RUN...]",
    .summary = "find GPUs, links and hosts that are slower than their peers",
    .doc = "Compares every GPU, every link and, with three hosts or more, every host with its "
           "peers: block by block, and for each pair of memory kinds. It reads the latest run, or "
           "all nodes if that run belongs to a fleet. Results of several RUN are pooled; --all and "
           "--where take the latest run of each host and scenario. From four GPUs on, median "
           "polish separates a slow source, a slow target and a slow link.\n\nA component is slow "
           "if its robust z-score is beyond the limit (one false positive in a hundred peer "
           "groups) and it is slower by more than the threshold. That is 1 % for bandwidth from 1 "
           "MiB on, else 3 %, unless the scenario says otherwise (delta). A single result is named "
           "(only in) if it is slower by five times that and far beyond all others. If "
           "two peers differ, or one half of the peers from the other, haul cannot tell which is "
           "slow, and says so. -v shows everything "
           "that was compared. Exit code 3: nothing could be compared.",
    .options = VERB_OUTLIERS_OPTIONS,
    .options_size = sizeof(struct outliers_arguments),
    .argument_kind = ARGUMENTS_RUNS,
    .word_max = SIZE_MAX,
    .check = verb_outliers_check,
    .rows = (const struct verb_rows[]){{outliers_describe_json, NULL}, {0}},
    .run = verb_outliers_run,
};
