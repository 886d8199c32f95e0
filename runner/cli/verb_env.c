/* haul env: the machine and its software; --save writes it for haul plan --machine. */
#include "runner/cli/options.h"
#include "runner/console/output_file.h"
#include "runner/render/env.h"
#include "runner/run/plan_view.h"
#include "schema/machine/machine_file.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_SAVE = OPTION_OF_VERB, OPTION_MACHINE };

struct env_verb_options {
  struct common_options common;
  char *save;
  char *machine;
};

static const struct argp_option VERB_ENV_OPTIONS[] = {
    {"save", OPTION_SAVE, "FILE", 0, "write the machine to FILE as TOML instead of showing it", 1},
    {"machine", OPTION_MACHINE, "FILE", 0, "show the machine saved in FILE", 1},
    {0},
};

static error_t verb_env_parse(int key, char *arg, struct argp_state *state) {
  struct env_verb_options *options = state->input;
  switch (key) {
  case OPTION_SAVE:
    options->save = arg;
    return 0;
  case OPTION_MACHINE:
    options->machine = arg;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static enum status verb_env_save(const char *path, const struct machine *machine,
                                 struct error *err) {
  struct output_file file;
  enum status status = output_file_open(path, &file, err);
  if (status == STATUS_OK) {
    status = machine_file_save(file.stream, machine, err);
    status = output_file_close(&file, status, err);
  }
  return status;
}

static enum status verb_env_print(const struct common_options *common,
                                  const struct machine *machine, struct error *err) {
  const struct table_options options = table_to_stdout(common);
  return env_print(machine, &options, err);
}

static int verb_env_main(const struct verb *verb, int argc, char **argv) {
  struct env_verb_options options = {0};
  cli_parse(verb, argc, argv, &options);
  struct error err = {0};
  struct machine *machine = machine_new();
  enum status status = machine_get(options.machine, machine, &err);
  if (status == STATUS_OK) {
    status = options.save == NULL             ? verb_env_print(&options.common, machine, &err)
             : strcmp(options.save, "-") == 0 ? machine_file_save(stdout, machine, &err)
                                              : verb_env_save(options.save, machine, &err);
  }
  free(machine);
  return status == STATUS_OK ? EXIT_DONE : fail(&options.common, &err);
}

const struct verb VERB_ENV = {
    .name = "env",
    .summary = "show this machine: GPUs, links, NUMA nodes and software",
    .doc =
        "json has everything; jsonl, csv and md have one row per fact. --save - writes to standard "
        "output.",
    .options = VERB_ENV_OPTIONS,
    .parse = verb_env_parse,
    .argument_kind = ARGUMENTS_NONE,
    .main = verb_env_main,
};
