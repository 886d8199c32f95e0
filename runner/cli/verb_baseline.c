/* haul baseline set NAME RUN | list | remove NAME: runs that others are compared with. */
#include "runner/cli/verbs.h"
#include "runner/record/baseline.h"
#include "runner/record/query.h"
#include "schema/scenario/nearest.h"

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

/* Words after each action. */
static size_t wanted_words(enum baseline_action action) {
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

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct baseline_options *options = state->input;
  switch (key) {
  case ARGP_KEY_ARG:
    if (!options->given) {
      options->given = baseline_action_parse(arg, &options->action);
      const char *meant = nearest_word(arg, baseline_action_names);
      if (!options->given) {
        argp_error(state, "cannot '%s' a baseline%s%s%s: set, list or remove", arg,
                   meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                   meant != NULL ? "'?)" : "");
      }
      return 0;
    }
    if (options->word_count == wanted_words(options->action)) {
      return ARGP_ERR_UNKNOWN;
    }
    options->words[options->word_count++] = arg;
    return 0;
  case ARGP_KEY_END:
    if (!options->given) {
      argp_error(state, "set, list or remove a baseline?");
    } else if (options->word_count < wanted_words(options->action)) {
      argp_error(state, options->action == BASELINE_SET
                            ? "haul baseline set NAME RUN, for example: set good latest"
                            : "remove which baseline? haul baseline list shows them");
    } else if (options->word_count > 0 &&
               (options->words[0][0] == '\0' || strchr(options->words[0], ',') != NULL)) {
      argp_error(state, "a baseline's name is not empty and has no comma");
    }
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static enum status set(const struct baseline_options *options, const char *path,
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
             runs.count > 1 ? " on" : "", replaced ? "; what it was before is replaced" : "");
  }
  return status;
}

static enum status list(const struct baseline_options *options, const char *path,
                        struct error *err) {
  struct query *query = NULL;
  struct rows *rows = open_rows(&options->common, "there are no baselines");
  enum status status = query_open(path, &query, err);
  if (status == STATUS_OK) {
    status = query_run_saved(query, "baselines", NULL, 0, NULL, rows_sink(rows), err);
  }
  query_close(query);
  rows_free(rows);
  return status;
}

static enum status remove_one(const struct baseline_options *options, const char *path,
                              struct error *err) {
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

static int baseline(const struct verb *verb, int argc, char **argv) {
  struct baseline_options options = {0};
  cli_parse(verb, argc, argv, &options);
  struct arena arena = {0};
  struct error err = {0};
  const char *path = NULL;
  enum status status = database_path(&options.common, &arena, &path, &err);
  if (status == STATUS_OK) {
    switch (options.action) {
    case BASELINE_SET:
      status = set(&options, path, &arena, &err);
      break;
    case BASELINE_LIST:
      status = list(&options, path, &err);
      break;
    case BASELINE_REMOVE:
      status = remove_one(&options, path, &err);
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
    .arguments = "set NAME RUN|list|remove NAME",
    .summary = "name runs that others are compared with",
    .doc = "haul baseline set good latest; haul check baseline:good. The name stays with the runs "
           "that RUN meant when it was set; baselines stay in their database when it is merged.",
    .parse = parse,
    .argument_kind = ARGUMENTS_WORDS,
    .words = baseline_action_names,
    .main = baseline,
};
