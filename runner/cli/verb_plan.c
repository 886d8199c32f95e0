/* haul plan SCENARIO...: what a run would measure on this machine or a saved one. */
#include "runner/cli/input_plans.h"
#include "runner/cli/plan_power.h"
#include "runner/render/plan.h"

static const struct verb_option VERB_PLAN_OPTIONS[] = {
    INPUT_OPTION_ONLY,
    INPUT_OPTION_TEST,
    INPUT_OPTION_SET,
    INPUT_OPTION_PROCESSES,
    INPUT_OPTION_PAUSE,
    {"machine", "FILE", "plan for the machine saved in FILE (by haul env --save FILE)",
     OPTION_TEXT(struct command, machine)},
    PLAN_POWER_OPTIONS,
    {0},
};

static void verb_plan_check(struct command *command, struct argp_state *state) {
  const struct power_options *options = command->options;
  if (options->against != NULL && !(options->detect > 0)) {
    argp_error(state, "--compare needs --detect PERCENT");
  }
  if (options->detect > 0 && command->word_count > 1) {
    argp_error(state, "--detect takes one scenario");
  }
}

static enum status verb_plan_run(struct command *command, struct error *err) {
  const struct power_options *options = command->options;
  if (!command_read_scenarios(command)) {
    return STATUS_OK;
  }
  RETURN_ON_ERROR(command_get_machine(command, err));
  if (options->detect > 0 && command->inputs.count > 1) {
    return error_set(err, STATUS_INVALID, "--detect takes one scenario, not %zu",
                     command->inputs.count);
  }
  return options->detect > 0 ? plan_power_show(command, err) : input_plans_show(command, err);
}

const struct verb VERB_PLAN = {
    .name = "plan",
    .group = VERBS_MEASURE,
    .arguments = "SCENARIO...",
    .summary = "show what a run would measure, what it would skip, and why",
    .doc =
        "SCENARIO is a file, - for standard input, a folder of *.toml files (with its "
        "sub-folders), or the name of a shipped scenario. More than 24 cases are shown as one "
        "row per block; -v shows every case, the settings and loads of each block, and the "
        "checks. The exit code is 3 if every case is skipped. With several scenarios, the "
        "last line names those that have nothing to measure here.\n\n"
        "--detect 1% says how many runs per side find a change of 1 % in 80 % of the cases. The "
        "table has a row per number of processes per run, the shortest time first; found_percent "
        "is the share of the cases that would show the change. The spread of the cases is "
        "that of the runs A of --compare. If these are few, earlier runs of the machine under "
        "the same driver count as well. Without --compare, haul assumes a quiet machine.",
    .options = VERB_PLAN_OPTIONS,
    .options_size = sizeof(struct power_options),
    .argument_kind = ARGUMENTS_SCENARIOS,
    .word_max = SIZE_MAX,
    .missing = INPUT_MISSING,
    .json = plan_describe_json,
    .check = verb_plan_check,
    .run = verb_plan_run,
};
