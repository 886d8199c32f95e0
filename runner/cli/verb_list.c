/* haul list runs|cases|scenarios|queries. */
#include "runner/cli/options.h"
#include "runner/record/query.h"
#include "runner/record/saved.h"
#include "scenarios/scenarios.h"

#include <string.h>

#define LIST_WHAT_LIST(X)                                                                          \
  X(LIST_RUNS, "runs")                                                                             \
  X(LIST_CASES, "cases")                                                                           \
  X(LIST_SCENARIOS, "scenarios")                                                                   \
  X(LIST_QUERIES, "queries")
ENUM_NAMES_DECLARE(list_what, LIST_WHAT_LIST)
ENUM_NAMES_DEFINE(list_what, LIST_WHAT_LIST)

enum { OPTION_RUN = OPTION_OF_VERB };

struct list_options {
  struct common_options common;
  bool given;
  enum list_what what;
  const char *run;
};

static const struct argp_option VERB_LIST_OPTIONS[] = {
    {"run", OPTION_RUN, "RUN", 0, "list cases: the cases of that run (default: latest)", 1}, {0}};

static error_t verb_list_parse(int key, char *arg, struct argp_state *state) {
  struct list_options *options = state->input;
  switch (key) {
  case OPTION_RUN:
    options->run = arg;
    return 0;
  case ARGP_KEY_ARG:
    if (options->given) {
      return ARGP_ERR_UNKNOWN;
    }
    if (!list_what_parse(arg, &options->what)) {
      options_reject_name(state, "list", arg, list_what_names);
    }
    options->given = true;
    return 0;
  case ARGP_KEY_END:
    if (!options->given) {
      argp_error(state, "missing argument: runs, cases, scenarios or queries");
    }
    if (options->run != NULL && options->what != LIST_CASES) {
      argp_error(state, "--run can only be combined with list cases");
    }
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static enum status verb_list_scenarios(const struct row_sink *sink, struct error *err) {
  static const char *const columns[] = {"name", "description"};
  enum status status = sink_begin(sink, columns, 2, err);
  for (size_t i = 0; i < scenarios_count() && status == STATUS_OK; i++) {
    const struct embedded_file *file = scenarios_at(i);
    if (!scenarios_runnable(file)) {
      continue;
    }
    struct input input = {.name = file->name, .embedded = file};
    struct scenario *scenario = NULL;
    struct diagnostics *diagnostics = diagnostics_new();
    if (input_read(&input, NULL, 0, &scenario, diagnostics) == STATUS_OK) {
      struct arena arena = {0};
      const char *dot = strrchr(file->name, '.');
      const char *name =
          dot != NULL ? arena_strndup(&arena, file->name, (size_t)(dot - file->name)) : file->name;
      struct cell cells[] = {cell_text(name), cell_text(scenario->description)};
      status = sink_row(sink, cells, err);
      arena_fini(&arena);
    } else {
      status = error_set(err, STATUS_INVALID, "the shipped scenario %s is not valid", file->name);
    }
    scenario_free(scenario);
    diagnostics_free(diagnostics);
  }
  return status == STATUS_OK ? sink_end(sink, err) : status;
}

/* ":run=latest :block=%" */
static const char *verb_list_describe_parameters(struct arena *arena,
                                                 const struct saved_query *query) {
  const char *text = "";
  for (size_t i = 0; i < query->parameter_count; i++) {
    const struct saved_parameter *parameter = &query->parameters[i];
    text = arena_format(arena, "%s%s%s%s%s", text, i > 0 ? " " : "", parameter->name,
                        parameter->standard != NULL ? "=" : "",
                        parameter->standard != NULL ? parameter->standard : "");
  }
  return text;
}

static enum status verb_list_queries(const struct row_sink *sink, struct error *err) {
  static const char *const columns[] = {"name", "title", "parameters"};
  struct arena arena = {0};
  enum status status = sink_begin(sink, columns, 3, err);
  for (size_t i = 0; i < saved_query_count() && status == STATUS_OK; i++) {
    struct saved_query query;
    saved_query_at(i, &arena, &query);
    struct cell cells[] = {cell_text(query.name), cell_text(query.title),
                           cell_text(verb_list_describe_parameters(&arena, &query))};
    status = sink_row(sink, cells, err);
  }
  arena_fini(&arena);
  return status == STATUS_OK ? sink_end(sink, err) : status;
}

/* "runs" and "cases" are saved queries. */
static enum status verb_list_saved(const struct list_options *options, const char *name,
                                   const struct row_sink *sink, struct error *err) {
  struct arena arena = {0};
  struct query *query = NULL;
  const char *path = NULL;
  const struct query_parameter run = {"run", options->run};
  enum status status = database_path(&options->common, &arena, &path, err);
  if (status == STATUS_OK) {
    status = query_open(path, &query, err);
  }
  if (status == STATUS_OK) {
    status = query_run_saved(query, name, &run, options->run != NULL ? 1 : 0, NULL, sink, err);
  }
  query_close(query);
  arena_fini(&arena);
  return status;
}

static int verb_list_main(const struct verb *verb, int argc, char **argv) {
  struct list_options options = {0};
  cli_parse(verb, argc, argv, &options);
  struct error err = {0};
  struct table *rows = open_table(&options.common, NULL);
  const struct row_sink *sink = table_sink(rows);
  enum status status = STATUS_OK;
  switch (options.what) {
  case LIST_RUNS:
  case LIST_CASES:
    status = verb_list_saved(&options, list_what_text(options.what), sink, &err);
    break;
  case LIST_SCENARIOS:
    status = verb_list_scenarios(sink, &err);
    break;
  case LIST_QUERIES:
    status = verb_list_queries(sink, &err);
    break;
  case list_what_name_count:
    break;
  }
  int code = EXIT_DONE;
  if (status != STATUS_OK && !table_reader_gone(rows)) {
    code = fail(&options.common, &err);
  }
  table_free(rows);
  return code;
}

const struct verb VERB_LIST = {
    .name = "list",
    .arguments = "runs|cases|scenarios|queries",
    .summary = "list runs, cases, shipped scenarios or saved queries",
    .options = VERB_LIST_OPTIONS,
    .parse = verb_list_parse,
    .argument_kind = ARGUMENTS_WORDS,
    .words = list_what_names,
    .main = verb_list_main,
};
