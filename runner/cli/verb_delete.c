/* haul delete RUN...: take runs out of the database. */
#include "engine/base/strings.h"
#include "runner/cli/options.h"
#include "runner/record/manage.h"
#include "runner/record/selector.h"

#include <string.h>
#include <unistd.h>

struct delete_options {
  bool yes, force;
};

static const struct verb_option VERB_DELETE_OPTIONS[] = {
    {"yes", NULL, "do not ask", OPTION_FLAG(struct delete_options, yes), .letter = 'y'},
    {"force", NULL, "also runs that a baseline names, or that are being measured",
     OPTION_FLAG(struct delete_options, force)},
    {0},
};

/* Whether the run may be deleted; says it on stderr when somebody is to be asked. */
static enum status verb_delete_look(struct command *command, const struct run_ref *run, bool ask,
                                    struct error *err) {
  const struct delete_options *options = command->options;
  struct run_to_delete found;
  RETURN_ON_ERROR(run_to_delete_read(command->database, run->id, &command->arena, &found, err));
  if (found.baselines != NULL && !options->force) {
    return error_set(err, STATUS_USAGE,
                     "run %lld is in the baseline %s: nothing was deleted; haul baseline remove "
                     "NAME first, or --force",
                     (long long)run->id, found.baselines);
  }
  if (found.running && !options->force) {
    struct claim_request claiming;
    struct lock *owner = NULL;
    RETURN_ON_ERROR(command_claiming(command, &claiming, err));
    const enum status status = claim_run(&claiming, run->uuid, &owner, err);
    claim_leave_run(owner);
    if (status != STATUS_OK) {
      err->status = STATUS_USAGE;
      (void)error_prefix(err, "nothing was deleted: ");
      return STATUS_USAGE;
    }
  }
  if (ask) {
    say_note(&command->common, "run %lld of %s, %s%s%s: %lld %s", (long long)run->id,
             found.scenario, found.started_at, found.tag != NULL ? ", tag " : "",
             found.tag != NULL ? found.tag : "", (long long)found.results,
             strings_plural((size_t)found.results, "result", "results"));
  }
  return STATUS_OK;
}

/* "run 5 (run:01a2..., quick, tag before)", while it is still there. */
static enum status verb_delete_name(struct command *command, const struct run_ref *run,
                                    const char **name, struct error *err) {
  struct run_to_delete found;
  RETURN_ON_ERROR(run_to_delete_read(command->database, run->id, &command->arena, &found, err));
  *name = arena_format(&command->arena, "run %lld (" RUN_NAME ", %s%s%s)", (long long)run->id,
                       run->uuid, found.scenario, found.tag != NULL ? ", tag " : "",
                       found.tag != NULL ? found.tag : "");
  return STATUS_OK;
}

static bool verb_delete_is_wanted(size_t count) {
  char answer[16] = "";
  fprintf(stderr, "Delete %s for good? [y/N] ", strings_plural(count, "this run", "these runs"));
  (void)fflush(stderr);
  if (fgets(answer, sizeof answer, stdin) == NULL) {
    (void)fputc('\n', stderr); /* that no answer has ended the line with */
  }
  return answer[0] == 'y' || answer[0] == 'Y';
}

static enum status verb_delete_shrink(struct command *command) {
  struct error why = {0};
  bool shrunk = false;
  if (database_shrink(command->database, &shrunk, &why) != STATUS_OK) {
    say_warning(&command->common, "%s; the room is kept in the file, and later runs fill it",
                why.message);
  }
  return STATUS_OK;
}

static enum status verb_delete_run(struct command *command, struct error *err) {
  const struct delete_options *options = command->options;
  struct run_list runs = {0};
  const char *path = NULL;
  const bool ask = !options->yes && isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
  RETURN_ON_ERROR(command_path(command, &path, err));
  /* Read first: writing would make a database where there is none. */
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(selector_find_all(command->database, command_join_words(command), &command->arena,
                                    &runs, err));
  for (size_t i = 0; i < runs.count; i++) {
    RETURN_ON_ERROR(verb_delete_look(command, &runs.runs[i], ask, err));
  }
  if (!options->yes && !ask) {
    return error_set(err, STATUS_USAGE, "%zu run%s would be deleted for good: confirm with --yes",
                     runs.count, strings_plural(runs.count, "", "s"));
  }
  if (ask && !verb_delete_is_wanted(runs.count)) {
    say_note(&command->common, "nothing was deleted");
    return STATUS_OK;
  }
  const char **names = arena_array(&command->arena, runs.count, sizeof *names);
  for (size_t i = 0; i < runs.count; i++) {
    RETURN_ON_ERROR(verb_delete_name(command, &runs.runs[i], &names[i], err));
  }
  RETURN_ON_ERROR(command_open_database(command, DATABASE_WRITE, err));
  RETURN_ON_ERROR(runs_delete(command->database, &runs, err));
  for (size_t i = 0; i < runs.count; i++) {
    say_note(&command->common, "%s is deleted", names[i]);
  }
  say_note(&command->common, "deleted %zu run%s from %s", runs.count,
           strings_plural(runs.count, "", "s"), path);
  return verb_delete_shrink(command);
}

const struct verb VERB_DELETE = {
    .name = "delete",
    .group = VERBS_KEEP,
    .arguments = "RUN...",
    .summary = "delete runs and all their results from the database",
    .doc = "RUN is run:ID, tag:NAME, driver:VERSION, latest or previous; tag: and driver: "
           "name all of their runs. Asks on a terminal, and needs --yes elsewhere. A run "
           "that is being measured or that a baseline names is refused unless --force is "
           "given. Cases, scenarios and environments that no other run has are deleted too. "
           "If a quarter of the file is then free, it is made smaller, which needs room for "
           "a copy. A deleted run that is merged again comes back under a new number.",
    .options = VERB_DELETE_OPTIONS,
    .options_size = sizeof(struct delete_options),
    .argument_kind = ARGUMENTS_RUNS,
    .word_max = SIZE_MAX,
    .missing = "argument: RUN; haul list runs lists them",
    .run = verb_delete_run,
};
