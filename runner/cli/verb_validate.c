/* haul validate FILE...: read scenarios and say all that is wrong with them. */
#include "runner/cli/batch.h"
#include "runner/cli/verbs.h"

struct validate_options {
  struct common_options common;
  struct batch_options batch;
};

static const struct argp_option options_table[] = {BATCH_OPTION_SET, {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct validate_options *options = state->input;
  if (key == ARGP_KEY_NO_ARGS) {
    argp_error(state, "which scenario? Name a file, a folder or a shipped scenario");
    return 0;
  }
  return batch_parse(key, arg, state, &options->batch);
}

static int validate(const struct verb *verb, int argc, char **argv) {
  struct validate_options options = {0};
  cli_parse(verb, argc, argv, &options);
  struct batch batch;
  int code = batch_read(&options.common, &options.batch, &batch);
  for (size_t i = 0; code == EXIT_DONE && i < batch.inputs.count; i++) {
    size_t settings = 0;
    for (size_t b = 0; b < batch.scenarios[i]->block_count; b++) {
      settings += block_setting_count(batch.scenarios[i]->blocks[b]);
    }
    const size_t blocks = batch.scenarios[i]->block_count;
    say_note(&options.common, "%s is valid: %zu block%s, %zu setting%s", batch.inputs.items[i].name,
             blocks, blocks == 1 ? "" : "s", settings, settings == 1 ? "" : "s");
  }
  batch_fini(&batch);
  batch_options_fini(&options.batch);
  return code;
}

const struct verb VERB_VALIDATE = {
    .name = "validate",
    .arguments = "FILE...",
    .summary = "check scenarios; needs no GPU",
    .doc = "FILE is a scenario, a folder of them, or the name of a shipped one.",
    .options = options_table,
    .parse = parse,
    .argument_kind = ARGUMENTS_SCENARIOS,
    .main = validate,
};
