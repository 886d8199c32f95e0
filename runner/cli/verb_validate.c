/* haul validate SCENARIO...: report every mistake in scenarios. */
#include "runner/cli/cli.h"
#include "runner/cli/options.h"

struct validate_options {
  struct common_options common;
  struct batch_options batch;
};

static const struct argp_option VERB_VALIDATE_OPTIONS[] = {BATCH_OPTION_SET, {0}};

static error_t verb_validate_parse(int key, char *arg, struct argp_state *state) {
  struct validate_options *options = state->input;
  return batch_options_parse(key, arg, state, &options->batch, false);
}

static int verb_validate_main(const struct verb *verb, int argc, char **argv) {
  struct validate_options options = {0};
  cli_parse(verb, argc, argv, &options);
  struct batch batch;
  int code = batch_read(&options.common, &options.batch, &batch);
  for (size_t i = 0; code == EXIT_DONE && i < batch.count; i++) {
    size_t settings = 0;
    for (size_t b = 0; b < batch.scenarios[i]->block_count; b++) {
      settings += block_setting_count(batch.scenarios[i]->blocks[b]);
    }
    const size_t blocks = batch.scenarios[i]->block_count;
    say_note(&options.common, "%s is valid: %zu block%s, %zu setting%s", batch.inputs[i].name,
             blocks, blocks == 1 ? "" : "s", settings, settings == 1 ? "" : "s");
  }
  batch_fini(&batch);
  batch_options_fini(&options.batch);
  return code;
}

const struct verb VERB_VALIDATE = {
    .name = "validate",
    .arguments = "SCENARIO...",
    .summary = "check scenarios for mistakes; needs no GPU",
    .doc = "SCENARIO is a file, a folder of *.toml files, or the name of a shipped scenario.",
    .options = VERB_VALIDATE_OPTIONS,
    .parse = verb_validate_parse,
    .argument_kind = ARGUMENTS_SCENARIOS,
    .main = verb_validate_main,
};
