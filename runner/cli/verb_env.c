/* haul env: the machine and its software; --save writes it for haul plan --machine. */
#include "runner/cli/options.h"
#include "runner/console/output_file.h"
#include "runner/render/env.h"
#include "schema/machine/machine_file.h"

#include <string.h>

static const struct verb_option VERB_ENV_OPTIONS[] = {
    {"save", "FILE", "write the machine to FILE as TOML instead of showing it",
     OPTION_TEXT(output)},
    {"machine", "FILE", "show the machine saved in FILE", OPTION_TEXT(machine)},
    {0},
};

static enum status verb_env_run(struct command *command, struct error *err) {
  RETURN_ON_ERROR(command_get_machine(command, err));
  if (command->output == NULL) {
    const struct table_options options = table_to_stdout(&command->common);
    return env_print(command->target, &options, err);
  }
  struct output_file file;
  RETURN_ON_ERROR(
      output_file_open(strcmp(command->output, "-") == 0 ? NULL : command->output, &file, err));
  const enum status status = machine_file_save(file.stream, command->target, err);
  return output_file_close(&file, status, err);
}

const struct verb VERB_ENV = {
    .name = "env",
    .summary = "show this machine: GPUs, links, NUMA nodes and software",
    .doc = "Everything:" OUTPUT_OBJECT_FORMAT_NAMES "; one row per fact:" OUTPUT_ROW_FORMAT_NAMES
           ". --save - writes to standard output.",
    .options = VERB_ENV_OPTIONS,
    .run = verb_env_run,
};
