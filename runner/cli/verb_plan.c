/* haul plan SCENARIO...: what a run would measure on this machine or a saved one. */
#include "runner/cli/cli.h"
#include "runner/cli/options.h"
#include "runner/run/plan_view.h"

#include <stdlib.h>

enum { OPTION_MACHINE = OPTION_OF_VERB };

struct plan_verb_options {
  struct common_options common;
  struct batch_options batch;
  const char *machine;
};

static const struct argp_option VERB_PLAN_OPTIONS[] = {
    BATCH_OPTION_ONLY,
    BATCH_OPTION_SET,
    BATCH_OPTION_PROCESSES,
    {"machine", OPTION_MACHINE, "FILE", 0,
     "plan for the machine saved in FILE (by haul env --save FILE)", 1},
    {0},
};

static error_t verb_plan_parse(int key, char *arg, struct argp_state *state) {
  struct plan_verb_options *options = state->input;
  switch (key) {
  case OPTION_MACHINE:
    options->machine = arg;
    return 0;
  default:
    return batch_options_parse(key, arg, state, &options->batch, false);
  }
}

static int verb_plan_main(const struct verb *verb, int argc, char **argv) {
  struct plan_verb_options options = {0};
  cli_parse(verb, argc, argv, &options);
  struct batch batch;
  struct error err = {0};
  struct machine *machine = machine_new();
  int code = batch_read(&options.common, &options.batch, &batch);
  if (code == EXIT_DONE && machine_get(options.machine, machine, &err) != STATUS_OK) {
    code = fail(&options.common, &err);
  }
  if (code == EXIT_DONE) {
    for (size_t i = 0; i < batch.count; i++) {
      code =
          worse(code, plan_show(&options.common, batch.scenarios[i], machine, options.batch.only));
    }
  }
  free(machine);
  batch_fini(&batch);
  batch_options_fini(&options.batch);
  return code;
}

const struct verb VERB_PLAN = {
    .name = "plan",
    .arguments = "SCENARIO...",
    .summary = "show what a run would measure, what it would skip, and why",
    .doc = "SCENARIO is a file, a folder of *.toml files, or the name of a shipped scenario.",
    .options = VERB_PLAN_OPTIONS,
    .parse = verb_plan_parse,
    .argument_kind = ARGUMENTS_SCENARIOS,
    .main = verb_plan_main,
};
