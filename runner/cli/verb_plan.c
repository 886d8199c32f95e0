/* haul plan FILE...: what would be measured, what not and why, on this machine or another. */
#include "runner/cli/batch.h"
#include "runner/cli/planning.h"
#include "runner/cli/verbs.h"

#include <stdlib.h>

enum { OPTION_MACHINE = 0x600 };

struct plan_verb_options {
  struct common_options common;
  struct batch_options batch;
  const char *machine;
};

static const struct argp_option options_table[] = {
    BATCH_OPTION_ONLY,
    BATCH_OPTION_SET,
    BATCH_OPTION_PROCESSES,
    {"machine", OPTION_MACHINE, "FILE", 0, "plan for the machine in FILE (haul env --save FILE)",
     1},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct plan_verb_options *options = state->input;
  switch (key) {
  case OPTION_MACHINE:
    options->machine = arg;
    return 0;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "which scenario? Name a file, a folder or a shipped scenario");
    return 0;
  default:
    return batch_parse(key, arg, state, &options->batch);
  }
}

static int plan(const struct verb *verb, int argc, char **argv) {
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
    for (size_t i = 0; i < batch.inputs.count; i++) {
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
    .arguments = "FILE...",
    .summary = "show what a run would measure, and what not and why",
    .doc = "FILE is a scenario, a folder of them, or the name of a shipped one.",
    .options = options_table,
    .parse = parse,
    .argument_kind = ARGUMENTS_SCENARIOS,
    .main = plan,
};
