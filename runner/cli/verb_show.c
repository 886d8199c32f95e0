/* haul show NAME: a shipped scenario's text, as a start for one's own. */
#include "runner/cli/cli.h"
#include "scenarios/scenarios.h"

static enum status verb_show_run(struct command *command, struct error *err) {
  const char *name = command->words[0];
  const struct embedded_file *file = scenarios_find(name);
  if (file == NULL) {
    const char *meant = input_nearest(&command->arena, name);
    return error_set(err, STATUS_NOT_FOUND,
                     "no shipped scenario '%s'%s%s%s; haul list scenarios lists them", name,
                     meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                     meant != NULL ? "'?)" : "");
  }
  (void)fwrite(file->data, 1, (size_t)(file->end - file->data), stdout);
  return STATUS_OK;
}

const struct verb VERB_SHOW = {
    .name = "show",
    .arguments = "NAME",
    .summary = "print a shipped scenario, as a start for your own",
    .argument_kind = ARGUMENTS_SCENARIOS,
    .word_max = 1,
    .missing = "argument: NAME; haul list scenarios lists them",
    .run = verb_show_run,
};
