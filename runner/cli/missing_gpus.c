#include "runner/cli/missing_gpus.h"

#include <stdlib.h>
#include <string.h>

void missing_gpus_warn(struct command *command) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(ERROR_MESSAGE_MAX);
  command->gpus_missing =
      command->machine == NULL &&
      probe_describe_loss(command->target, getenv("CUDA_VISIBLE_DEVICES"), &text);
  if (text.length > 0 && (command->loss == NULL || strcmp(command->loss, text.text) != 0)) {
    say_warning(&command->common, "%s", text.text);
    command->loss = arena_strdup(&command->arena, text.text);
  }
}

const char *missing_gpus_words(struct command *command) {
  return arena_strndup(&command->arena, command->loss, strcspn(command->loss, ":;"));
}

int missing_gpus_code(struct command *command, const struct plan *plan, int code) {
  if (!command->gpus_missing || !plan->for_gpus) {
    return code;
  }
  if (code == EXIT_DONE && plan->scenario->run.verdict != RUN_VERDICT_EXPECTED) {
    /* Nothing else says why; what to do is in the warning. */
    say_error(&command->common,
              "not all GPUs of this machine can be measured: %s; to leave some out on purpose, "
              "name the others in CUDA_VISIBLE_DEVICES",
              missing_gpus_words(command));
  }
  return worse(code, EXIT_NOT_MEASURED);
}
