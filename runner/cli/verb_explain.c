/* haul explain [RUN] [CASE]: what makes a run, or a machine, slower than it could be. */
#include "runner/cli/options.h"
#include "runner/record/record.h"
#include "runner/record/selector.h"
#include "runner/render/explain.h"

static const struct verb_option VERB_EXPLAIN_OPTIONS[] = {
    {"machine", "FILE", "explain the machine saved in FILE, without a run", OPTION_TEXT(machine)},
    {"here", NULL, "explain this machine as it is now, without a run", OPTION_FLAG(all)},
    {"rules", NULL, "list the rules: what each finds, reads, costs, and its source",
     OPTION_FLAG(clear)},
    {0}};

/* The words as a run and a case; NULL = not given. */
static void verb_explain_words(const struct command *command, const char **run, const char **only) {
  const bool has_run =
      command->word_count > 0 && (command->word_count == 2 || selector_is_one(command->words[0]));
  *run = has_run ? command->words[0] : NULL;
  *only = command->word_count > (has_run ? 1 : 0) ? command->words[has_run ? 1 : 0] : NULL;
}

static void verb_explain_check(struct command *command, struct argp_state *state) {
  const bool machine = command->machine != NULL || command->all;
  if (machine && command->word_count > 0) {
    argp_error(state,
               "a machine without a run has no '%s': name a run, or give --machine or "
               "--here, not both",
               command->words[0]);
  } else if (command->machine != NULL && command->all) {
    argp_error(state, "give --machine or --here, not both");
  }
}

/* Open what is to be explained; *run is 0 for a machine. */
static enum status verb_explain_open(struct command *command, const char *selector, int64_t *run,
                                     struct error *err) {
  bool machine = command->machine != NULL || command->all;
  struct run_ref found = {0};
  if (!machine) {
    const enum status status = command_open_database(command, DATABASE_READ, err);
    machine = status == STATUS_NOT_FOUND && command->word_count == 0;
    if (status != STATUS_OK && !machine) {
      return status;
    }
    if (machine) {
      say_note(&command->common, "%s; this machine as it is now is explained", err->message);
      *err = (struct error){0};
    }
  }
  if (machine) {
    RETURN_ON_ERROR(command_get_machine(command, err));
    return record_machine(command->target, &command->database, err);
  }
  RETURN_ON_ERROR(
      selector_find(command->database, selector != NULL ? selector : "latest", &found, err));
  *run = found.id;
  return STATUS_OK;
}

static enum status verb_explain_run(struct command *command, struct error *err) {
  const struct table_options rows = table_to_stdout(&command->common);
  const char *selector = NULL;
  const char *only = NULL;
  int64_t run = 0;
  struct explanation explanation = {0};
  if (command->clear) {
    struct explain_rules rules;
    explain_read_rules(&command->arena, &rules);
    return explain_print_rules(&rules, &rows, err);
  }
  verb_explain_words(command, &selector, &only);
  RETURN_ON_ERROR(verb_explain_open(command, selector, &run, err));
  enum status status = explain_find(command->database, run, only, &explanation, err);
  status = THEN(status, explain_print(&explanation, command->common.verbose, &rows, err));
  explanation_fini(&explanation);
  return status;
}

const struct verb VERB_EXPLAIN = {
    .name = "explain",
    .arguments = "[RUN] [CASE]",
    .summary = "say what makes a run, or a machine, slower than it could be",
    .doc = "Asks a table of rules (--rules, docs/EXPLAIN.md) of what was recorded: facts of the "
           "machine, telemetry, and the other results of the run, the latest unless RUN names "
           "another. Each finding has its evidence, the cases that it touches, what it usually "
           "costs, what to do, and its source. Notes are settings that cost nothing measurable. "
           "What was not recorded is listed as not known. CASE, globs as of --only, leaves the "
           "findings that touch such a case. -v lists the values of what was found to be in order. "
           "Where there are no results yet, this machine is explained.",
    .options = VERB_EXPLAIN_OPTIONS,
    .argument_kind = ARGUMENTS_RUNS,
    .word_max = 2,
    .check = verb_explain_check,
    .run = verb_explain_run,
};
