/* The options that every verb takes, and where the database is. */
#include "runner/cli/cli.h"

#include "schema/scenario/nearest.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_DB = 0x100, OPTION_FORMAT, OPTION_JSON, OPTION_COLOUR };

const struct argp_option COMMON_OPTIONS[] = {
    {0, 0, 0, 0, "Common options:", 10},
    {"db", OPTION_DB, "FILE", 0, "results database (else HAUL_DB, else the user's data folder)",
     10},
    {"format", OPTION_FORMAT, "FORMAT", 0, "table, json, jsonl, csv or md", 10},
    {"json", OPTION_JSON, 0, 0, "the same as --format json", 10},
    {"color", OPTION_COLOUR, "WHEN", OPTION_ARG_OPTIONAL, "auto, always or never", 10},
    {"quiet", 'q', 0, 0, "errors only on stderr", 10},
    {"verbose", 'v', 0, 0, "say more on stderr", 10},
    {0},
};

static error_t parse_common(int key, char *arg, struct argp_state *state) {
  struct common_options *options = state->input;
  switch (key) {
  case OPTION_DB:
    if (arg[0] == '\0') {
      argp_error(state, "--db needs the path of a file");
    }
    options->db = arg;
    return 0;
  case OPTION_FORMAT:
    if (options->junit_allowed && strcmp(arg, "junit") == 0) {
      options->junit = options->format_given = true;
      return 0;
    }
    if (!row_format_parse(arg, &options->format)) {
      const char *meant = nearest_word(arg, row_format_names);
      argp_error(state, "unknown format '%s'%s%s%s: one of table, json, jsonl, csv, md", arg,
                 meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                 meant != NULL ? "'?)" : "");
    }
    options->format_given = true;
    return 0;
  case OPTION_JSON:
    options->format = ROW_JSON;
    options->format_given = true;
    return 0;
  case OPTION_COLOUR:
    if (arg == NULL) {
      /* "--color never" is meant as "--color=never" is. */
      const char *next = state->next < state->argc ? state->argv[state->next] : "";
      options->colour = WHEN_ALWAYS;
      state->next += when_parse(next, &options->colour);
    } else if (!when_parse(arg, &options->colour)) {
      argp_error(state, "--color is auto, always or never, not '%s'", arg);
    }
    return 0;
  case 'q':
    options->quiet = true;
    return 0;
  case 'v':
    options->verbose = true;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

/* argp hands each parser its own input: the verb's parser is wrapped to give the common options
 * theirs. */
struct parsing {
  const struct verb *verb;
  void *options;
};

static error_t parse_verb(int key, char *arg, struct argp_state *state) {
  struct parsing *parsing = state->input;
  if (key == ARGP_KEY_INIT) {
    state->child_inputs[0] = parsing->options;
  }
  state->input = parsing->options;
  error_t result =
      parsing->verb->parse != NULL ? parsing->verb->parse(key, arg, state) : ARGP_ERR_UNKNOWN;
  state->input = parsing;
  if (key == ARGP_KEY_ARG && result == ARGP_ERR_UNKNOWN) {
    argp_error(state, "too many arguments: '%s'", arg);
  }
  return result;
}

void cli_parse(const struct verb *verb, int argc, char **argv, void *options) {
  static const struct argp common_argp = {.options = COMMON_OPTIONS, .parser = parse_common};
  const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};
  char doc[2048];
  snprintf(doc, sizeof doc, "%s.%s%s", verb->summary, verb->doc != NULL ? "\v" : "",
           verb->doc != NULL ? verb->doc : "");
  const struct argp argp = {.options = verb->options,
                            .parser = parse_verb,
                            .args_doc = verb->arguments,
                            .doc = doc,
                            .children = children};
  struct parsing parsing = {verb, options};
  if (argp_parse(&argp, argc, argv, 0, NULL, &parsing) != 0) {
    exit(EXIT_USAGE);
  }
}

enum status database_path(const struct common_options *options, struct arena *arena,
                          const char **path, struct error *err) {
  const char *given = options->db != NULL ? options->db : getenv("HAUL_DB");
  if (given != NULL && given[0] != '\0') {
    *path = arena_strdup(arena, given);
    return STATUS_OK;
  }
  /* A relative XDG_DATA_HOME is to be ignored (XDG Base Directory Specification). */
  const char *data = getenv("XDG_DATA_HOME");
  if (data != NULL && data[0] == '/') {
    *path = arena_format(arena, "%s/haul/results.db", data);
    return STATUS_OK;
  }
  const char *home = getenv("HOME");
  if (home != NULL && home[0] == '/') {
    *path = arena_format(arena, "%s/.local/share/haul/results.db", home);
    return STATUS_OK;
  }
  return error_set(err, STATUS_USAGE,
                   "no place for the results database: HOME is not set; name one with --db FILE");
}
