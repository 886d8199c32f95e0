/* haul outliers [RUN...]: which GPU, link or host is slower than its peers. */
#include "engine/base/strings.h"
#include "runner/cli/analysis.h"
#include "runner/render/outliers.h"

static const struct verb_option VERB_OUTLIERS_OPTIONS[] = {
    {"all", NULL,
     "look at the latest run of each host and scenario, for example of a cluster in one database",
     OPTION_FLAG(all)},
    FILTER_OPTIONS,
    {0}};

static void verb_outliers_check(struct command *command, struct argp_state *state) {
  if (command->all && command->word_count > 0) {
    argp_error(state, "name runs or give --all, not both");
  }
}

static enum status verb_outliers_run(struct command *command, struct error *err) {
  static const char *const LATEST[] = {"latest"};
  const struct common_options *common = &command->common;
  const struct table_options rows = table_to_stdout(common);
  /* --where without a run asks all of them; of what was measured again, the latest counts: a fault
   * of today is not to be hidden by months without it. */
  const bool latest =
      command->word_count == 0 && !command->all && command->request.filter.where_count == 0;
  command->request.filter.latest_of_each = command->word_count == 0;
  enum status status = latest ? analysis_load(command, LATEST, 1, err)
                              : analysis_load(command, command->words, command->word_count, err);
  struct outliers *outliers = NULL;
  const struct outliers_options options = {
      .latest_only = command->word_count == 0,
      .slow_only = !common->verbose && output_layout_of(rows.format) == LAYOUT_PAGE};
  status = THEN(status, measured_load_errors(command->measured, command->database, err));
  status = THEN(status, outliers_find(command->measured, &options, &outliers, err));
  if (status == STATUS_OK && outliers->cases + outliers->undecided_count > 0) {
    status = outliers_print(command->measured, outliers, common->verbose, &rows, err);
  }
  if (status == STATUS_OK && outliers->cases == 0) {
    status = error_set(
        err, STATUS_UNSUPPORTED,
        "nothing can be judged: %zu %s, but no three of them are peers, which are the same "
        "measurement of other GPUs, links or hosts",
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
    .doc =
        "Compares every GPU, every link and, with three hosts or more, every host of the latest "
        "run with its peers, block by block and for each pair of memory kinds. Name other runs, "
        "whose results are pooled, or take the latest of each host and scenario (--all, --where). "
        "From four GPUs on, median polish of the paths between "
        "them separates a slow source, a slow target and a slow link. Slow means: beyond the "
        "limit of its robust z-score (one false positive in a hundred peer groups), in which a "
        "result is no surer than its own trials, and slower by "
        "more than matters, which is 1 % for bandwidth from 1 MiB on, else 3 %, or what the "
        "scenario says (delta). One result that is slower by five times that, and far beyond "
        "all others, is named by itself (only in). Two peers that differ are undecided, and so are "
        "two halves of an even "
        "number that disagree. -v "
        "shows everything that was compared. Exit code 3: there was nothing to judge.",
    .options = VERB_OUTLIERS_OPTIONS,
    .argument_kind = ARGUMENTS_RUNS,
    .word_max = SIZE_MAX,
    .check = verb_outliers_check,
    .run = verb_outliers_run,
};
