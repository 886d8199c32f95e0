/* haul show [RUN|NAME]: the text of a shipped scenario, or the result of a run, or its scenario. */
#include "engine/base/units.h"
#include "runner/cli/options.h"
#include "runner/expect/judge.h"
#include "runner/record/manage.h"
#include "runner/record/selector.h"
#include "runner/run/expectations.h"
#include "scenarios/scenarios.h"

#include <string.h>

struct show_options {
  bool scenario, result;
};

static const struct verb_option VERB_SHOW_OPTIONS[] = {
    {"scenario", NULL, "the scenario of the run, not its result",
     OPTION_FLAG(struct show_options, scenario)},
    {"result", NULL, NULL,
     OPTION_FLAG(struct show_options, result)}, /* until 0.2.0 the other of the two */
    SUM_OPTION,
    EXPECT_OPTION,
    {0},
};

static void verb_show_check(struct command *command, struct argp_state *state) {
  const struct show_options *options = command->options;
  if (command->word_count == 0) {
    *ARENA_ADD(&command->arena, command->words, command->word_count) = "latest";
  }
  if (!options->scenario) {
    options_check_sums(command, state);
  } else if (command->sums || command->expect != NULL || options->result) {
    options_fail(state, "--sum and --expect are of the result, not of --scenario");
  }
}

/* A shipped scenario without its "#:schema" line: that path is one of the source tree. */
static void verb_show_print_shipped(const char *text, size_t length) {
  static const char SCHEMA_LINE[] = "#:schema ";
  const char *end = memchr(text, '\n', length);
  if (end != NULL && strncmp(text, SCHEMA_LINE, sizeof SCHEMA_LINE - 1) == 0) {
    length -= (size_t)(end + 1 - text);
    text = end + 1;
  }
  (void)fwrite(text, 1, length, stdout);
}

/* Whether the file as it was read says all: nothing came from another file or from --set. */
static bool verb_show_is_whole(const struct run_scenario *recorded) {
  struct scenario *scenario = scenario_find_recorded(recorded->text, recorded->path);
  const bool whole = scenario != NULL && strcmp(scenario->resolved, recorded->resolved) == 0;
  scenario_free(scenario);
  return whole;
}

static enum status verb_show_recorded(struct command *command, struct error *err) {
  struct run_ref run;
  struct run_scenario recorded;
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(selector_find(command->database, command->words[0], &run, err));
  RETURN_ON_ERROR(run_scenario_read(command->database, run.id, &command->arena, &recorded, err));
  const bool whole = verb_show_is_whole(&recorded);
  say_note(&command->common, "run %lld (" RUN_NAME "), %s: %s%s", (long long)run.id, run.uuid,
           UNITS_UTC(recorded.started_at_ns, UNITS_UTC_SECONDS), recorded.command_line,
           whole ? "" : "; shown with its includes and --set applied");
  say_note(&command->common, "its result: haul show " RUN_NAME "%s", run.uuid,
           console_db_option(&command->common, &command->arena));
  if (strncmp(recorded.path, SCENARIOS_PREFIX, strlen(SCENARIOS_PREFIX)) == 0 && whole) {
    verb_show_print_shipped(recorded.text, strlen(recorded.text));
  } else {
    (void)fputs(whole ? recorded.text : recorded.resolved, stdout);
  }
  return STATUS_OK;
}

/* Why a run ended before its time, which its result does not say. */
static enum status verb_show_failed(struct command *command, int64_t run, struct error *err) {
  const char *reason = NULL;
  RETURN_ON_ERROR(
      run_failure_read(query_database(command->query), run, &command->arena, &reason, err));
  if (reason != NULL) {
    say_error(&command->common, "run %lld failed: %s", (long long)run, reason);
    command->code = EXIT_NOT_MEASURED;
  }
  return STATUS_OK;
}

/* "run 4 of quick, 2026-11-26 00:17 UTC, on vm, driver 590.44.01" */
static const char *verb_show_title(struct arena *arena, int64_t run,
                                   const struct run_scenario *recorded) {
  return arena_format(arena, "run %lld of %s, %s UTC%s%s", (long long)run, recorded->name,
                      UNITS_UTC(recorded->started_at_ns, UNITS_UTC_MINUTES),
                      arena_around(arena, ", on ", recorded->host, ""),
                      arena_around(arena, ", driver ", recorded->driver, ""));
}

/* "interrupted (REASON): 11 of 12 cases measured; haul run --resume run:14"; NULL: the run measured
 * all. */
static const char *verb_show_incomplete(struct command *command, int64_t run,
                                        const struct run_scenario *recorded) {
  struct arena *arena = &command->arena;
  const bool interrupted = strcmp(recorded->status, "interrupted") == 0;
  if (!interrupted && strcmp(recorded->status, "running") != 0) {
    return NULL;
  }
  return arena_format(
      arena, "%s%s: %lld of %lld cases measured%s", interrupted ? "interrupted" : "not ended",
      arena_around(arena, " (", recorded->reason, ")"), (long long)recorded->cases_measured,
      (long long)recorded->cases_wanted,
      interrupted ? arena_format(arena, "; haul run --resume run:%lld%s", (long long)run,
                                 console_db_option(&command->common, arena))
                  : "");
}

static enum status verb_show_result(struct command *command, struct error *err) {
  SCOPED(expectations_fini) struct expectations expectations = {0};
  if (!expectations_open(&expectations, &command->common, command->expect)) {
    command->code = EXIT_USAGE; /* its mistakes were printed */
    return STATUS_OK;
  }
  struct result_view view = {.common = &command->common,
                             .expectations = &expectations,
                             .rows = command_rows(command, "the run has no case"),
                             .sums = command->sums};
  enum status status = command_open_query(command, err);
  struct run_ref run = {0};
  struct run_scenario recorded = {0};
  status =
      THEN(status, selector_find(query_database(command->query), command->words[0], &run, err));
  status = THEN(status, run_scenario_read(query_database(command->query), run.id, &command->arena,
                                          &recorded, err));
  view.simulated = recorded.simulated;
  struct scenario *scenario =
      status == STATUS_OK ? scenario_find_recorded(recorded.resolved, recorded.path) : NULL;
  view.scenario = scenario;
  view.skipped_command =
      arena_format(&command->arena, "haul query --saved skipped%s%s",
                   strcmp(command->words[0], "latest") == 0
                       ? ""
                       : arena_format(&command->arena, " --param run=%lld", (long long)run.id),
                   console_db_option(&command->common, &command->arena));
  view.lead = status == STATUS_OK ? verb_show_title(&command->arena, run.id, &recorded) : NULL;
  view.incomplete = status == STATUS_OK ? verb_show_incomplete(command, run.id, &recorded) : NULL;
  status = THEN(status, expectations_show_run(&view, command->query, command->words[0], NULL, err));
  scenario_free(scenario);
  (void)fflush(stdout);
  if (command->common.verbose && output_layout_of(command->common.format) == LAYOUT_PAGE) {
    status = THEN(
        status, expectations_show_times(&command->common, command->query, command->words[0], err));
  }
  status = THEN(status, verb_show_failed(command, run.id, err));
  struct run_list killed = {0};
  status = THEN(status, command_find_killed(command, query_database(command->query), &killed, err));
  command_say_killed(command, &killed, run.id);
  return status;
}

static enum status verb_show_run(struct command *command, struct error *err) {
  const struct show_options *options = command->options;
  const char *name = command->words[0];
  const struct embedded_file *file = options->result ? NULL : scenarios_find(name);
  if (file == NULL &&
      (options->result || selector_is_one(name))) { /* nothing shipped is called so */
    return options->scenario ? verb_show_recorded(command, err) : verb_show_result(command, err);
  }
  if (file == NULL) {
    const char *meant = input_nearest(&command->arena, name);
    return error_set(
        err, STATUS_NOT_FOUND,
        "no shipped scenario or run is called \"%s\"%s. haul list scenarios lists the scenarios, "
        "haul list runs the runs; select one as latest, previous, run:ID or tag:NAME",
        name, arena_around(&command->arena, " (did you mean \"", meant, "\"?)"));
  }
  verb_show_print_shipped((const char *)file->data, (size_t)(file->end - file->data));
  return STATUS_OK;
}

const struct verb VERB_SHOW = {
    .name = "show",
    .group = VERBS_READ,
    .arguments = "[RUN|NAME]",
    .summary = "show the result of a run, or print a shipped scenario",
    .doc =
        "RUN is latest (the default), previous, run:ID or tag:NAME. Its result is shown in full, "
        "with a value for each pair of GPUs. --scenario prints its scenario instead, with "
        "includes and --set applied.\n\n"
        "NAME is a shipped scenario, which is printed as a start for one of your own: haul show "
        "quick > mine.toml. haul schema --help tells how an editor completes its keys.",
    .options = VERB_SHOW_OPTIONS,
    .options_size = sizeof(struct show_options),
    .argument_kind = ARGUMENTS_SCENARIOS,
    .takes_runs = true,
    .word_max = 1,
    .check = verb_show_check,
    .rows = (const struct verb_rows[]){{expect_judge_describe_json, "run-result"}, {0}},
    .run = verb_show_run,
};
