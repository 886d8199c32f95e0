/* haul prune: the trials of old runs are deleted. */
#include "engine/base/clock.h"
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "runner/cli/options.h"
#include "runner/record/manage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t NS_PER_DAY = UINT64_C(86400000000000);

struct prune_options {
  bool trials, dry_run;
  uint64_t older_than_ns;
  const char *keep;
};

/* Days, or another duration. */
static bool verb_prune_take_age(const struct option_use *use) {
  uint64_t *age_ns = use->field;
  char *end = NULL;
  const double days = strtod(use->arg, &end);
  if (end != use->arg && strcmp(end, "d") == 0 && days > 0 && days < 36500) {
    *age_ns = (uint64_t)(days * (double)NS_PER_DAY);
    return true;
  }
  return units_parse_duration(use->arg, age_ns);
}

static const struct verb_option VERB_PRUNE_OPTIONS[] = {
    {"trials", NULL, "delete the trials; each result keeps its summary",
     OPTION_FLAG(struct prune_options, trials)},
    {"older-than", "AGE", "only of runs that began longer ago than this, for example 90d",
     OPTION_AT(verb_prune_take_age, struct prune_options, older_than_ns),
     .needs = "an age such as 90d"},
    {"keep", "RUNS",
     "keep the trials of these: baseline (all runs with a baseline), or tag:NAME, run:ID ...",
     OPTION_NON_EMPTY(struct prune_options, keep)},
    {"dry-run", NULL, "say what would be deleted", OPTION_FLAG(struct prune_options, dry_run)},
    {0},
};

static void verb_prune_check(struct command *command, struct argp_state *state) {
  const struct prune_options *options = command->options;
  OPTIONS_REFUSE(!options->trials || options->older_than_ns == 0, state,
                 "missing what to prune: haul prune --trials --older-than 90d");
}

static enum status verb_prune_find_kept(struct command *command, struct run_list *kept,
                                        bool *baselines, struct error *err) {
  const struct prune_options *options = command->options;
  *kept = (struct run_list){0};
  *baselines = strings_equal(options->keep, "baseline");
  return options->keep == NULL || *baselines
             ? STATUS_OK
             : selector_find_all(command->database, options->keep, &command->arena, kept, err);
}

static enum status verb_prune_run(struct command *command, struct error *err) {
  const struct prune_options *options = command->options;
  struct run_list kept;
  struct trials_to_prune prune = {.before_ns = (int64_t)clock_read_ns(CLOCK_REALTIME) -
                                               (int64_t)options->older_than_ns,
                                  .dry_run = options->dry_run};
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(verb_prune_find_kept(command, &kept, &prune.keep_baselines, err));
  prune.kept = &kept;
  RETURN_ON_ERROR(command_open_database(command, DATABASE_WRITE, err));
  RETURN_ON_ERROR(trials_prune(command->database, &prune, err));
  say_note(&command->common, "%" PRId64 " trials of %" PRId64 " runs %s%s", prune.trials,
           prune.runs, options->dry_run ? "would be deleted" : "are deleted; their results stay",
           options->dry_run || prune.trials == 0 ? "" : "; haul compact makes the file smaller");
  return STATUS_OK;
}

const struct verb VERB_PRUNE = {
    .name = "prune",
    .group = VERBS_KEEP,
    .arguments = NULL,
    .summary = "delete the trials of old runs, whose results stay",
    .doc = "Results keep their summary: median, interval, percentiles and number of trials. "
           "So diff, history, outliers and reports of old runs do not change. v_trial, the "
           "trials of v_flow, and the energy of v_energy are gone. v_run.pruned_at marks "
           "such runs. A run that is being measured is left alone. Deleted trials do not "
           "come back when the run is merged again.",
    .options = VERB_PRUNE_OPTIONS,
    .options_size = sizeof(struct prune_options),
    .word_max = 0,
    .check = verb_prune_check,
    .run = verb_prune_run,
};
