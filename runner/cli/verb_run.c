/* haul run SCENARIO...: measure scenarios, record them, show the result. */
#include "engine/base/strbuf.h"
#include "runner/cli/cli.h"
#include "runner/cli/options.h"
#include "runner/cli/shell_word.h"
#include "runner/run/plan_view.h"
#include "runner/run/run.h"
#include "runner/supervise/probe.h"
#include "runner/table/table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_TAG = OPTION_OF_VERB, OPTION_RESUME, OPTION_DRY_RUN };

struct run_options {
  struct common_options common;
  struct batch_options batch;
  const char *tag;
  const char *resume;
  bool dry_run;
  struct plot_request plot;
};

static const struct argp_option VERB_RUN_OPTIONS[] = {
    BATCH_OPTION_ONLY,
    BATCH_OPTION_SET,
    BATCH_OPTION_PROCESSES,
    {"tag", OPTION_TAG, "NAME", 0, "tag the run: tag:NAME selects it later", 1},
    {"resume", OPTION_RESUME, "RUN", 0,
     "measure what an interrupted run did not: latest, run:ID, ...", 1},
    {"dry-run", OPTION_DRY_RUN, 0, 0, "show the plan, measure nothing", 1},
    PLOT_OPTION,
    {0},
};

static void verb_run_check_together(struct argp_state *state, const struct run_options *options) {
  const struct batch_options *batch = &options->batch;
  if (options->resume == NULL) {
    if (batch->word_count == 0) {
      argp_error(state, "missing argument: SCENARIO; name a file, a folder or a shipped scenario: "
                        "\"haul run quick\" works on every machine");
    }
  } else if (batch->word_count > 0 || batch->only != NULL || batch->override_count > 0 ||
             options->tag != NULL || options->dry_run) {
    argp_error(state, "--resume continues a run as it was begun: it cannot be combined with a "
                      "scenario, --only, --set, --processes, --tag or --dry-run");
  }
}

static error_t verb_run_parse(int key, char *arg, struct argp_state *state) {
  struct run_options *options = state->input;
  if (plot_options_parse(key, arg, state, &options->plot, &options->common) == 0) {
    return 0;
  }
  switch (key) {
  case OPTION_TAG:
    options->tag = options_non_empty(state, "tag", arg);
    return 0;
  case OPTION_RESUME:
    options->resume = arg;
    return 0;
  case OPTION_DRY_RUN:
    options->dry_run = true;
    return 0;
  case ARGP_KEY_END:
    verb_run_check_together(state, options);
    return 0;
  default:
    return batch_options_parse(key, arg, state, &options->batch, true);
  }
}

/* The command line, quoted for a shell. */
static const char *verb_run_quote_command_line(struct arena *arena, int argc, char **argv) {
  const char *line = "haul run";
  for (int i = 1; i < argc; i++) {
    line = arena_format(arena, "%s %s", line, shell_word(arena, argv[i]));
  }
  return line;
}

/* One scenario of the batch. The first is planned for the machine as probed at the start; before
 * each later one the machine is probed again, because it may have changed. */
static int verb_run_one(const struct run_request *request, const struct scenario *scenario,
                        struct machine *machine, bool look_again) {
  struct error err = {0};
  if (look_again && machine_get(NULL, machine, &err) != STATUS_OK) {
    (void)fail(request->common, &err);
    return EXIT_NOT_MEASURED;
  }
  struct plan_options plan_options = {.only = request->only};
  struct plan *plan = NULL;
  if (plan_new(scenario, machine, &plan_options, &plan, &err) != STATUS_OK) {
    return fail(request->common, &err);
  }
  int code = run_plan(request, plan);
  plan_free(plan);
  return code;
}

static int verb_run_batch(struct run_options *options, const struct batch *batch,
                          struct run_request *request) {
  struct error err = {0};
  struct machine *machine = machine_new();
  if (machine_get(NULL, machine, &err) != STATUS_OK) {
    (void)fail(&options->common, &err);
    free(machine);
    return EXIT_NOT_MEASURED;
  }
  /* Also if no case needs a GPU: the probe took its time, and the run records no GPUs. */
  if (probe_lost(machine)) {
    say_warning(&options->common, "%s", machine->cuda_state);
  }
  /* Only now: until here Ctrl-C ends haul at once, even if a driver hangs. */
  request->interrupted = watch_interrupts();
  int code = EXIT_DONE;
  for (size_t i = 0; i < batch->count; i++) {
    if (*request->interrupted != 0) {
      say_warning(&options->common, "interrupted before %s", batch->inputs[i].name);
      code = EXIT_INTERRUPTED;
      break;
    }
    if (batch->count > 1) {
      say_note(&options->common, "%s (%zu of %zu)", batch->inputs[i].name, i + 1, batch->count);
    }
    code = worse(code, verb_run_one(request, batch->scenarios[i], machine, i > 0));
  }
  free(machine);
  return code;
}

static int verb_run_show_plans(const struct run_options *options, const struct batch *batch) {
  struct machine *machine = machine_new();
  struct error err = {0};
  int code = machine_get(NULL, machine, &err) == STATUS_OK
                 ? EXIT_DONE
                 : worse(fail(&options->common, &err), EXIT_NOT_MEASURED);
  for (size_t i = 0; code == EXIT_DONE && i < batch->count; i++) {
    code = plan_show(&options->common, batch->scenarios[i], machine, options->batch.only);
  }
  free(machine);
  return code;
}

static int verb_run_resume_record(const struct run_request *request, struct record *record,
                                  const struct resumed_run *resumed, bool *record_taken) {
  const struct common_options *common = request->common;
  struct error err = {0};
  struct scenario *scenario = NULL;
  struct plan *plan = NULL;
  struct machine *machine = machine_new();
  struct diagnostics *diagnostics = diagnostics_new();
  struct plan_options plan_options = {.only = resumed->only};
  int code;
  if (scenario_parse(resumed->scenario_text, strlen(resumed->scenario_text), resumed->scenario_path,
                     NULL, 0, &scenario, diagnostics) != STATUS_OK) {
    diagnostics_print(diagnostics, stderr, use_colour(common, stderr));
    code = EXIT_USAGE;
  } else if (machine_get(NULL, machine, &err) != STATUS_OK ||
             plan_new(scenario, machine, &plan_options, &plan, &err) != STATUS_OK) {
    code = worse(fail(common, &err), EXIT_NOT_MEASURED);
  } else {
    *record_taken = true;
    code = run_resumed(request, plan, record, resumed);
  }
  plan_free(plan);
  diagnostics_free(diagnostics);
  free(machine);
  scenario_free(scenario);
  return code;
}

/* Find the run and continue it. The search must not create an empty database. */
static int verb_run_resume(const struct run_options *options, const struct run_request *request) {
  struct error err = {0};
  struct record *record = NULL;
  struct resumed_run resumed = {0};
  if (access(request->database, F_OK) != 0) {
    say_error(&options->common, "no run to resume: the database %s does not exist",
              request->database);
    return EXIT_USAGE;
  }
  if (record_open(request->database, &record, &err) != STATUS_OK) {
    return fail(&options->common, &err);
  }
  bool record_taken = false;
  int code;
  if (record_resume_find(record, options->resume, &resumed, &err) != STATUS_OK) {
    code = fail(&options->common, &err);
  } else {
    code = verb_run_resume_record(request, record, &resumed, &record_taken);
  }
  resumed_run_fini(&resumed);
  if (!record_taken) {
    record_close(record);
  }
  return code;
}

/* With the scenarios read and valid: measure. */
static int verb_run_with_database(struct run_options *options, const struct batch *batch,
                                  const char *command_line) {
  struct error err = {0};
  const char *database = NULL;
  if (database_path(&options->common, &options->batch.arena, &database, &err) != STATUS_OK) {
    return fail(&options->common, &err);
  }
  struct table *rows = open_table(&options->common, "nothing was measured");
  struct concat_sink concat;
  concat_sink_init(&concat, table_sink(rows),
                   output_layout_of(options->common.format) != LAYOUT_PAGE);
  struct run_request request = {
      .common = &options->common,
      .database = database,
      .tag = options->tag,
      .only = options->batch.only,
      .command_line = command_line,
      .result = &concat.sink,
      .plot = options->plot,
  };
  int code;
  if (options->resume != NULL) {
    request.interrupted = watch_interrupts();
    code = verb_run_resume(options, &request);
  } else {
    code = verb_run_batch(options, batch, &request);
  }
  if (concat_sink_end(&concat, &err) != STATUS_OK) {
    code = worse(code, fail(&options->common, &err));
  }
  table_free(rows);
  return code;
}

static int verb_run_main(const struct verb *verb, int argc, char **argv) {
  struct run_options options = {0};
  struct arena arena = {0};
  const char *command_line = verb_run_quote_command_line(&arena, argc, argv);
  cli_parse(verb, argc, argv, &options);
  struct batch batch;
  int code = batch_read(&options.common, &options.batch, &batch);
  if (code == EXIT_DONE) {
    code = options.dry_run ? verb_run_show_plans(&options, &batch)
                           : verb_run_with_database(&options, &batch, command_line);
  }
  batch_fini(&batch);
  batch_options_fini(&options.batch);
  arena_fini(&arena);
  return code;
}

const struct verb VERB_RUN = {
    .name = "run",
    .arguments = "SCENARIO...",
    .summary = "measure scenarios and record every trial",
    .doc =
        "SCENARIO is a file, a folder of *.toml files, or the name of a shipped scenario; each "
        "scenario becomes a run of its own. If one has a mistake, nothing is measured. The first "
        "Ctrl-C ends the run after the current case, the second at once; --resume continues it.",
    .options = VERB_RUN_OPTIONS,
    .parse = verb_run_parse,
    .argument_kind = ARGUMENTS_SCENARIOS,
    .main = verb_run_main,
};
