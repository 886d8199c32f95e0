/* haul validate SCENARIO...: report every mistake in scenarios. */
#include "engine/base/strings.h"
#include "runner/cli/options.h"

static const struct verb_option VERB_VALIDATE_OPTIONS[] = {INPUT_OPTION_SET, {0}};

static enum status verb_validate_run(struct command *command, struct error *err) {
  (void)err;
  const struct inputs *inputs = &command->inputs;
  if (!command_read_scenarios(command)) {
    return STATUS_OK;
  }
  for (size_t i = 0; i < inputs->count; i++) {
    size_t settings = 0;
    const size_t blocks = inputs->scenarios[i]->block_count;
    for (size_t b = 0; b < blocks; b++) {
      settings += block_setting_count(inputs->scenarios[i]->blocks[b]);
    }
    say_note(&command->common,
             "%s is valid: %zu block%s with %zu combination%s of values; haul plan shows the cases "
             "of this machine",
             inputs->items[i].name, blocks, strings_plural(blocks, "", "s"), settings,
             strings_plural(settings, "", "s"));
  }
  return STATUS_OK;
}

const struct verb VERB_VALIDATE = {
    .name = "validate",
    .group = VERBS_MEASURE,
    .arguments = "SCENARIO...",
    .summary = "check scenarios for mistakes; needs no GPU",
    .doc = "SCENARIO is a file, - for standard input, a folder of *.toml files (with its "
           "sub-folders), or the name of a shipped scenario.",
    .options = VERB_VALIDATE_OPTIONS,
    .argument_kind = ARGUMENTS_SCENARIOS,
    .word_max = SIZE_MAX,
    .missing = INPUT_MISSING,
    .run = verb_validate_run,
};
