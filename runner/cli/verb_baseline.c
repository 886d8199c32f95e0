/* haul baseline set NAME RUN | list | remove NAME: named runs, to compare later ones with. */
#include "engine/base/strings.h"
#include "runner/cli/options.h"
#include "runner/record/saved.h"
#include "runner/record/selector.h"

#include <string.h>

#define BASELINE_ACTION_LIST(X)                                                                    \
  X(BASELINE_SET, "set")                                                                           \
  X(BASELINE_LIST, "list")                                                                         \
  X(BASELINE_REMOVE, "remove")
ENUM_NAMES_DECLARE(baseline_action, BASELINE_ACTION_LIST)
ENUM_NAMES_DEFINE(baseline_action, BASELINE_ACTION_LIST)

static void verb_baseline_check(struct command *command, struct argp_state *state) {
  static const size_t WORDS[] = {[BASELINE_SET] = 3, [BASELINE_LIST] = 1, [BASELINE_REMOVE] = 2};
  const size_t wanted = WORDS[command->choice];
  if (command->word_count > wanted) {
    options_fail(state, "too many arguments: \"%s\"", command->words[wanted]);
  } else if (command->word_count < wanted) {
    options_fail(state,
                 command->choice == BASELINE_SET
                     ? "missing arguments: haul baseline set NAME RUN, for example: set good latest"
                     : "missing argument: NAME; haul baseline list lists them");
  } else if (wanted > 1 &&
             (command->words[1][0] == '\0' || strchr(command->words[1], ',') != NULL)) {
    options_fail(state, "the name of a baseline cannot be empty or contain a comma");
  }
}

static enum status verb_baseline_set(struct command *command, struct error *err) {
  const char *name = command->words[1];
  struct run_list runs = {0};
  bool replaced = false;
  RETURN_ON_ERROR(
      selector_find_all(command->database, command->words[2], &command->arena, &runs, err));
  RETURN_ON_ERROR(command_open_database(command, DATABASE_WRITE, err));
  RETURN_ON_ERROR(baseline_set(command->database, name, &runs, &replaced, err));
  int64_t *ids = arena_array(&command->arena, runs.count, sizeof *ids);
  for (size_t i = 0; i < runs.count; i++) {
    ids[i] = runs.runs[i].id;
  }
  say_note(&command->common, "baseline:%s is now %s %s%s", name,
           strings_plural(runs.count, "run", "runs"),
           selector_numbers(&command->arena, ids, runs.count),
           replaced ? "; the earlier baseline of that name is replaced" : "");
  return STATUS_OK;
}

static enum status verb_baseline_run(struct command *command, struct error *err) {
  if (command->choice == BASELINE_LIST) {
    const struct row_sink *sink = command_rows(command, "no baselines");
    struct saved_query saved;
    RETURN_ON_ERROR(command_open_query(command, err));
    RETURN_ON_ERROR(saved_query_find("baselines", &command->arena, &saved, err));
    table_narrow(command->table, saved.narrow, 0);
    return query_run_saved(command->query, "baselines", NULL, 0, NULL, sink, err);
  }
  /* Read first: writing would make a database where there is none. */
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  if (command->choice == BASELINE_SET) {
    return verb_baseline_set(command, err);
  }
  RETURN_ON_ERROR(command_open_database(command, DATABASE_WRITE, err));
  return baseline_remove(command->database, command->words[1], err);
}

const struct verb VERB_BASELINE = {
    .name = "baseline",
    .group = VERBS_COMPARE,
    .arguments = "set|list|remove [NAME [RUN]]",
    .summary = "name runs, to compare later ones with them",
    .doc = "set needs NAME and RUN, remove needs NAME. For example: haul baseline set good latest, "
           "and later haul check baseline:good. The name "
           "keeps the runs that RUN selected when it was set. haul merge does not copy baselines.",
    .argument_kind = ARGUMENTS_WORDS,
    .runs_after = "set",
    .words = baseline_action_names,
    .noun = "action",
    .word_max = SIZE_MAX,
    .missing = "argument: set, list or remove",
    .check = verb_baseline_check,
    .rows = (const struct verb_rows[]){{.saved = "baselines"}, {0}},
    .run = verb_baseline_run,
};
