/* haul query: SQL of the user and saved queries, read-only. */
#include "engine/base/strbuf.h"
#include "engine/base/units.h"
#include "runner/cli/options.h"
#include "runner/record/query.h"
#include "runner/record/saved.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_SAVED = OPTION_OF_VERB, OPTION_PARAM, OPTION_TIME_LIMIT, SQL_MAX = 1 << 20 };

struct query_verb_options {
  struct common_options common;
  const char *sql;
  const char *saved;
  struct query_parameter *parameters;
  size_t parameter_count, parameter_capacity;
  struct query_options query;
  struct plot_request plot;
  struct arena arena;
};

static const struct argp_option VERB_QUERY_OPTIONS[] = {
    {"saved", OPTION_SAVED, "NAME", 0, "run a saved query; haul list queries lists them", 1},
    {"param", OPTION_PARAM, "NAME=VALUE", 0, "value of the parameter :NAME; may be repeated", 1},
    {"time-limit", OPTION_TIME_LIMIT, "DURATION", 0, "give up after that time, for example 10s", 1},
    PLOT_OPTION,
    {0},
};

static void verb_query_add_parameter(struct query_verb_options *options, const char *arg,
                                     struct argp_state *state) {
  const struct option_pair pair =
      options_split(state, &options->arena, "param", "NAME=VALUE", "run=latest", arg);
  options->parameters = arena_grow(&options->arena, options->parameters, options->parameter_count,
                                   &options->parameter_capacity, sizeof *options->parameters);
  options->parameters[options->parameter_count++] = (struct query_parameter){pair.name, pair.value};
}

static error_t verb_query_parse(int key, char *arg, struct argp_state *state) {
  struct query_verb_options *options = state->input;
  if (plot_options_parse(key, arg, state, &options->plot, &options->common) == 0) {
    return 0;
  }
  switch (key) {
  case OPTION_SAVED:
    options->saved = arg;
    return 0;
  case OPTION_PARAM:
    verb_query_add_parameter(options, arg, state);
    return 0;
  case OPTION_TIME_LIMIT:
    if (!units_parse_duration(arg, &options->query.time_limit_ns)) {
      argp_error(state, "--time-limit needs a duration such as 10s, not '%s'", arg);
    }
    return 0;
  case ARGP_KEY_ARG:
    if (options->sql != NULL) {
      argp_error(state, "too many arguments: '%s'; put the SQL statement in quotes", arg);
    }
    options->sql = arg;
    return 0;
  case ARGP_KEY_END:
    if (options->sql != NULL && options->saved != NULL) {
      argp_error(state, "give SQL or --saved NAME, not both");
    }
    if (options->sql == NULL && options->saved == NULL && isatty(STDIN_FILENO)) {
      argp_error(state, "missing argument: SQL in quotes, or --saved NAME");
    }
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static enum status verb_query_read_stdin(struct arena *arena, const char **sql, struct error *err) {
  struct strbuf text;
  strbuf_init(&text, SQL_MAX);
  char chunk[4096];
  size_t got;
  while ((got = fread(chunk, 1, sizeof chunk, stdin)) > 0) {
    strbuf_append_n(&text, chunk, got);
  }
  enum status status = STATUS_OK;
  if (ferror(stdin)) {
    status = error_set_errno(err, errno, "cannot read SQL from standard input");
  } else if (text.truncated) {
    status = error_set(err, STATUS_INVALID, "more than 1 MiB of SQL on standard input");
  } else {
    *sql = arena_strdup(arena, text.text);
  }
  strbuf_fini(&text);
  return status;
}

static enum status verb_query_run_query(struct query_verb_options *options,
                                        const struct row_sink *sink, struct error *err) {
  const char *path = NULL;
  struct query *query = NULL;
  enum status status = database_path(&options->common, &options->arena, &path, err);
  if (status == STATUS_OK && options->saved == NULL &&
      (options->sql == NULL || strcmp(options->sql, "-") == 0)) {
    status = verb_query_read_stdin(&options->arena, &options->sql, err);
  }
  if (status == STATUS_OK) {
    status = query_open(path, &query, err);
  }
  if (status == STATUS_OK) {
    options->query.interrupted = watch_interrupts();
    status = options->saved != NULL
                 ? query_run_saved(query, options->saved, options->parameters,
                                   options->parameter_count, &options->query, sink, err)
                 : query_run(query, options->sql, options->parameters, options->parameter_count,
                             &options->query, sink, err);
  }
  if (status == STATUS_DENIED && query != NULL) {
    /* Not a file that this user may not read: SQL that does more than read. */
    err->status = status = STATUS_USAGE;
  }
  query_close(query);
  return status;
}

static int verb_query_main(const struct verb *verb, int argc, char **argv) {
  struct query_verb_options options = {0};
  cli_parse(verb, argc, argv, &options);
  struct error err = {0};
  struct table *rows = open_table(&options.common, NULL);
  struct curves *curves = plot_open(&options.common, &options.plot, "nothing to draw");
  const struct row_sink *sink = options.plot.wanted ? curves_sink(curves) : table_sink(rows);
  enum status status = verb_query_run_query(&options, sink, &err);
  int code = EXIT_DONE;
  if (status != STATUS_OK && !sink_has_enough(sink)) {
    code = fail(&options.common, &err);
  }
  table_free(rows);
  curves_free(curves);
  arena_fini(&options.arena);
  return code;
}

const struct verb VERB_QUERY = {
    .name = "query",
    .arguments = "[SQL]",
    .summary = "ask the results database with SQL or a saved query",
    .doc =
        "Without SQL and --saved, the statement is read from standard input. No query can change "
        "the database. Parameters are written :name in SQL; :run takes latest, previous, tag:NAME, "
        "driver:VERSION or the beginning of a run's id, and is the latest run by default. haul "
        "schema results describes the views. --plot draws the rows: x is the first column of "
        "numbers, columns of text before it name the curve, and y is the next column of numbers, "
        "or without such names every one; --saved curves is made for it.",
    .options = VERB_QUERY_OPTIONS,
    .parse = verb_query_parse,
    .argument_kind = ARGUMENTS_NONE,
    .main = verb_query_main,
};
