/* haul env: the machine and its software; --save writes it for haul plan --machine. */
#include "engine/base/units.h"
#include "engine/machine/machine.h"
#include "runner/cli/missing_gpus.h"
#include "runner/cli/options.h"
#include "runner/console/output_file.h"
#include "runner/record/manage.h"
#include "runner/render/env.h"
#include "runner/render/plot/machine_drawing.h"
#include "schema/machine/machine_file.h"

#include <inttypes.h>
#include <string.h>

enum { VERB_ENV_PICTURE_MAX = 16 << 20 };

struct env_options {
  const char *output, *run;
};

static const struct verb_option VERB_ENV_OPTIONS[] = {
    {"save", "FILE", "write the machine to FILE as TOML instead of showing it",
     OPTION_TEXT(struct env_options, output)},
    {"machine", "FILE", "show the machine saved in FILE", OPTION_TEXT(struct command, machine)},
    {"run", "RUN", "show the machine of that run; --format svg: with the rates that it measured",
     OPTION_TEXT(struct env_options, run)},
    {0},
};

static void verb_env_check(struct command *command, struct argp_state *state) {
  const struct env_options *options = command->options;
  OPTIONS_REFUSE(options->run != NULL && command->machine != NULL, state,
                 "give --run or --machine, not both");
  OPTIONS_REFUSE(command->plot.picture && options->output != NULL, state,
                 "--save writes a machine file: --format svg cannot be combined with it");
}

/* command->target as that run recorded it. */
static enum status verb_env_get_run(struct command *command, struct run_ref *run,
                                    struct error *err) {
  const struct env_options *options = command->options;
  RETURN_ON_ERROR(command_open_query(command, err));
  RETURN_ON_ERROR(selector_find(query_database(command->query), options->run, run, err));
  command->target = machine_new();
  return run_machine_read(query_database(command->query), run->id, command->target, err);
}

/* The rates of that run, and how it is called. */
static enum status verb_env_get_rates(struct command *command, const struct run_ref *run,
                                      const struct result_set *rates,
                                      struct machine_measured *measured, struct error *err) {
  struct arena *arena = &command->arena;
  const struct query_parameter parameter = {"run", arena_format(arena, "run:%s", run->uuid)};
  struct run_scenario scenario;
  RETURN_ON_ERROR(
      run_scenario_read(query_database(command->query), run->id, arena, &scenario, err));
  *measured =
      (struct machine_measured){arena_format(arena, "run %" PRId64 ": %s on %s, %s", run->id,
                                             scenario.name, command->target->host_name,
                                             UNITS_UTC(scenario.started_at_ns, UNITS_UTC_SECONDS)),
                                rates};
  return query_run_saved(command->query, "link-rates", &parameter, 1, NULL, &rates->sink, err);
}

static enum status verb_env_draw(struct command *command, const struct run_ref *run,
                                 struct error *err) {
  const struct env_options *options = command->options;
  SCOPED(result_set_fini) struct result_set rates;
  struct machine_measured measured = {0};
  result_set_init(&rates, SIZE_MAX);
  SCOPED(strbuf_fini) struct strbuf picture = STRBUF(VERB_ENV_PICTURE_MAX);
  if (options->run != NULL) {
    RETURN_ON_ERROR(verb_env_get_rates(command, run, &rates, &measured, err));
  }
  machine_drawing_picture(command->target, options->run != NULL ? &measured : NULL, &picture);
  return stream_print(stdout, &picture, NULL, err);
}

static enum status verb_env_run(struct command *command, struct error *err) {
  const struct env_options *options = command->options;
  struct run_ref run = {0};
  RETURN_ON_ERROR(options->run != NULL ? verb_env_get_run(command, &run, err)
                                       : command_get_machine(command, err));
  if (options->run == NULL) {
    missing_gpus_warn(command);
  }
  if (command->plot.picture) {
    return verb_env_draw(command, &run, err);
  }
  if (options->output == NULL) {
    const struct table_options rows = table_to_stdout(&command->common);
    return env_print(command->target, &rows, err);
  }
  struct output_file file;
  RETURN_ON_ERROR(output_file_open(options->output, &file, err));
  const enum status status = machine_file_save(file.stream, command->target, err);
  return output_file_close(&file, status, err);
}

const struct verb VERB_ENV = {
    .name = "env",
    .group = VERBS_MEASURE,
    .summary = "show this machine: GPUs, links, NUMA nodes and software",
    .doc = "json holds everything, csv and jsonl have one row per fact. --save - writes to "
           "standard output. --format svg draws it: nodes, GPUs, links and "
           "their theoretical peaks; with --run also what that run measured on them.",
    .options = VERB_ENV_OPTIONS,
    .options_size = sizeof(struct env_options),
    .format = &FORMAT_OR_SVG,
    .check = verb_env_check,
    .json = env_describe_json,
    .run = verb_env_run,
};
