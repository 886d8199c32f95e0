/* haul baseline set NAME RUN | list | remove NAME: named runs, to compare later ones with. */
#include "runner/cli/options.h"
#include "runner/record/query.h"
#include "runner/record/selector.h"

#include <string.h>

#define BASELINE_ACTION_LIST(X)                                                                    \
  X(BASELINE_SET, "set")                                                                           \
  X(BASELINE_LIST, "list")                                                                         \
  X(BASELINE_REMOVE, "remove")
ENUM_NAMES_DECLARE(baseline_action, BASELINE_ACTION_LIST)
ENUM_NAMES_DEFINE(baseline_action, BASELINE_ACTION_LIST)

enum { WORDS_MAX = 2 };

struct baseline_options {
  struct common_options common;
  bool given;
  enum baseline_action action;
  const char *words[WORDS_MAX];
  size_t word_count;
};

/* Number of arguments after the action. */
static size_t verb_baseline_wanted_words(enum baseline_action action) {
  switch (action) {
  case BASELINE_SET:
    return 2;
  case BASELINE_REMOVE:
    return 1;
  case BASELINE_LIST:
  case baseline_action_name_count:
    break;
  }
  return 0;
}

static error_t verb_baseline_parse(int key, char *arg, struct argp_state *state) {
  struct baseline_options *options = state->input;
  switch (key) {
  case ARGP_KEY_ARG:
    if (!options->given) {
      options->given = baseline_action_parse(arg, &options->action);
      if (!options->given) {
        options_reject_name(state, "action", arg, baseline_action_names);
      }
      return 0;
    }
    if (options->word_count == verb_baseline_wanted_words(options->action)) {
      return ARGP_ERR_UNKNOWN;
    }
    options->words[options->word_count++] = arg;
    return 0;
  case ARGP_KEY_END:
    if (!options->given) {
      argp_error(state, "missing argument: set, list or remove");
    } else if (options->word_count < verb_baseline_wanted_words(options->action)) {
      argp_error(state,
                 options->action == BASELINE_SET
                     ? "missing arguments: haul baseline set NAME RUN, for example: set good latest"
                     : "missing argument: NAME; haul baseline list lists them");
    } else if (options->word_count > 0 &&
               (options->words[0][0] == '\0' || strchr(options->words[0], ',') != NULL)) {
      argp_error(state, "the name of a baseline cannot be empty or contain a comma");
    }
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static enum status verb_baseline_set(const struct baseline_options *options, const char *path,
                                     struct arena *arena, struct error *err) {
  const char *name = options->words[0];
  struct database *database = NULL;
  struct run_list runs = {0};
  bool replaced = false;
  /* Read first: writing would make a database where there is none. */
  enum status status = database_open(path, DATABASE_READ, &database, err);
  if (status == STATUS_OK) {
    status = selector_find_all(database, options->words[1], arena, &runs, err);
  }
  database_close(database);
  database = NULL;
  if (status == STATUS_OK) {
    status = database_open(path, DATABASE_WRITE, &database, err);
  }
  if (status == STATUS_OK) {
    status = baseline_set(database, name, &runs, &replaced, err);
  }
  database_close(database);
  if (status == STATUS_OK) {
    say_note(&options->common, "baseline %s is now %s %.8s%s%s", name,
             runs.count == 1 ? "run" : "the runs from", runs.runs[0].uuid,
             runs.count > 1 ? " on" : "",
             replaced ? "; the earlier baseline of that name is replaced" : "");
  }
  return status;
}

static enum status verb_baseline_list(const struct baseline_options *options, const char *path,
                                      struct error *err) {
  struct query *query = NULL;
  struct table *rows = open_table(&options->common, "no baselines");
  enum status status = query_open(path, &query, err);
  if (status == STATUS_OK) {
    status = query_run_saved(query, "baselines", NULL, 0, NULL, table_sink(rows), err);
  }
  query_close(query);
  table_free(rows);
  return status;
}

static enum status verb_baseline_remove_one(const struct baseline_options *options,
                                            const char *path, struct error *err) {
  struct database *database = NULL;
  enum status status = database_open(path, DATABASE_READ, &database, err);
  database_close(database);
  database = NULL;
  if (status == STATUS_OK) {
    status = database_open(path, DATABASE_WRITE, &database, err);
  }
  if (status == STATUS_OK) {
    status = baseline_remove(database, options->words[0], err);
  }
  database_close(database);
  return status;
}

static int verb_baseline_main(const struct verb *verb, int argc, char **argv) {
  struct baseline_options options = {0};
  cli_parse(verb, argc, argv, &options);
  struct arena arena = {0};
  struct error err = {0};
  const char *path = NULL;
  enum status status = database_path(&options.common, &arena, &path, &err);
  if (status == STATUS_OK) {
    switch (options.action) {
    case BASELINE_SET:
      status = verb_baseline_set(&options, path, &arena, &err);
      break;
    case BASELINE_LIST:
      status = verb_baseline_list(&options, path, &err);
      break;
    case BASELINE_REMOVE:
      status = verb_baseline_remove_one(&options, path, &err);
      break;
    case baseline_action_name_count:
      break;
    }
  }
  const int code = status == STATUS_OK ? EXIT_DONE : fail(&options.common, &err);
  arena_fini(&arena);
  return code;
}

const struct verb VERB_BASELINE = {
    .name = "baseline",
    .arguments = "set|list|remove [NAME [RUN]]",
    .summary = "name runs, to compare later ones with them",
    .doc = "set needs NAME and RUN, remove needs NAME. For example: haul baseline set good latest, "
           "and later haul check baseline:good. The name "
           "keeps the runs that RUN selected when it was set. haul merge does not copy baselines.",
    .parse = verb_baseline_parse,
    .argument_kind = ARGUMENTS_WORDS,
    .words = baseline_action_names,
    .main = verb_baseline_main,
};
