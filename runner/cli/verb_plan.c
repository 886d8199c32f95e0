/* haul plan SCENARIO...: what a run would measure on this machine or a saved one. */
#include "runner/analysis/power.h"
#include "runner/cli/input_plans.h"
#include "runner/cli/options.h"
#include "runner/render/plan.h"

struct detect_options {
  double detect; /* 0.01 = 1 %; 0 = not asked */
  const char *against;
};

static const struct verb_option VERB_PLAN_OPTIONS[] = {
    INPUT_OPTION_ONLY,
    INPUT_OPTION_TEST,
    INPUT_OPTION_SET,
    INPUT_OPTION_PROCESSES,
    INPUT_OPTION_PAUSE,
    {"machine", "FILE", "plan for the machine saved in FILE (by haul env --save FILE)",
     OPTION_TEXT(struct command, machine)},
    {"detect", "PERCENT",
     "instead of the plan: how many runs find a change of that size in 80 % of the cases, and how "
     "long they take",
     OPTION_PERCENT(struct detect_options, detect)},
    {"compare", "A", "with --detect: take the spread of the cases from these runs: tag:before",
     OPTION_TEXT(struct detect_options, against)},
    {0},
};

/* Prints how many runs find a change, and how long they take. */
static enum status plan_detect_show(struct command *command, struct error *err) {
  const struct detect_options *options = command->options;
  const struct table_options rows = table_to_stdout(&command->common);
  struct power_request request = {.change = options->detect};
  struct plan *plan = NULL;
  enum status status = input_plan_new(command, 0, &plan, err);
  if (status == STATUS_OK && options->against != NULL) {
    command->results = results_new();
    status = command_open_database(command, DATABASE_READ, err);
    status = THEN(status, power_read(&request, command->database, &command->request.filter,
                                     options->against, command->results, err));
  }
  for (size_t i = 0; status == STATUS_OK && i < plan->case_count; i++) {
    const struct plan_case *c = &plan->cases[i];
    if (c->skip_reason == NULL) {
      power_add_case(&request, c->def.key, c->def.payload_bytes, c->def.measure.delta,
                     c->estimate_ns);
    }
  }
  if (status == STATUS_OK) {
    request.estimate_ns = plan->estimate_ns;
    request.pause_ns = plan->scenario->run.pause_ns;
    status = power_find_ways(&request, err);
  }
  status = THEN(status, plan_detect_print(&request, &rows, err));
  power_request_fini(&request);
  plan_free(plan);
  return status;
}

static void verb_plan_check(struct command *command, struct argp_state *state) {
  const struct detect_options *options = command->options;
  OPTIONS_REFUSE(options->against != NULL && !(options->detect > 0), state,
                 "--compare needs --detect PERCENT");
  OPTIONS_REFUSE(options->detect > 0 && command->word_count > 1, state,
                 "--detect takes one scenario");
}

static enum status verb_plan_run(struct command *command, struct error *err) {
  const struct detect_options *options = command->options;
  if (!command_read_scenarios(command)) {
    return STATUS_OK;
  }
  RETURN_ON_ERROR(command_get_machine(command, err));
  if (options->detect > 0 && command->inputs.count > 1) {
    return error_set(err, STATUS_INVALID, "--detect takes one scenario, not %zu",
                     command->inputs.count);
  }
  return options->detect > 0 ? plan_detect_show(command, err) : input_plans_show(command, err);
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
        "checks. The exit code is 3 if every case is skipped or a check would abort the run. With "
        "several scenarios, the "
        "last line names those that have nothing to measure here.\n\n"
        "--detect 1% says how many runs per side find a change of 1 % in 80 % of the cases. The "
        "table has a row per number of processes per run, the shortest time first; found_percent "
        "is the share of the cases that would show the change. The spread of the cases is "
        "that of the runs A of --compare. If these are few, earlier runs of the machine under "
        "the same driver count as well. Without --compare, haul assumes a quiet machine.",
    .options = VERB_PLAN_OPTIONS,
    .options_size = sizeof(struct detect_options),
    .argument_kind = ARGUMENTS_SCENARIOS,
    .word_max = SIZE_MAX,
    .missing = INPUT_MISSING,
    .json = plan_describe_json,
    .check = verb_plan_check,
    .run = verb_plan_run,
};
