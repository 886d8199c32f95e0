/* haul plan SCENARIO...: what a run would measure on this machine or a saved one. */
#include "runner/cli/selection.h"
#include "runner/render/plan.h"

static const struct verb_option VERB_PLAN_OPTIONS[] = {
    BATCH_OPTION_ONLY,
    BATCH_OPTION_TEST,
    BATCH_OPTION_SET,
    BATCH_OPTION_PROCESSES,
    BATCH_OPTION_PAUSE,
    {"machine", "FILE", "plan for the machine saved in FILE (by haul env --save FILE)",
     OPTION_TEXT(machine)},
    {0},
};

static enum status verb_plan_run(struct command *command, struct error *err) {
  if (!command_read_scenarios(command)) {
    return STATUS_OK;
  }
  return THEN(command_get_machine(command, err), selection_show_plans(command, err));
}

const struct verb VERB_PLAN = {
    .name = "plan",
    .group = VERBS_MEASURE,
    .arguments = "SCENARIO...",
    .summary = "show what a run would measure, what it would skip, and why",
    .doc = "SCENARIO is a file, - for standard input, a folder of *.toml files, which is searched "
           "with the "
           "folders in it, or the name of a shipped scenario. More than 24 cases are shown as one "
           "row per block; -v shows every case, the settings and loads of each block, and the "
           "checks. The exit code is 3 where every case is skipped; of several "
           "scenarios, those of which every case is are named at the end.",
    .options = VERB_PLAN_OPTIONS,
    .argument_kind = ARGUMENTS_SCENARIOS,
    .word_max = SIZE_MAX,
    .missing = BATCH_MISSING,
    .json = plan_describe_json,
    .run = verb_plan_run,
};
