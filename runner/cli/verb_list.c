/* haul list runs|cases|scenarios|queries. */
#include "engine/base/strbuf.h"
#include "runner/cli/options.h"
#include "runner/record/saved.h"
#include "runner/table/json_shape.h"
#include "scenarios/scenarios.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

enum { RUN_LIST_MAX = 16 << 20, TITLE_WIDTH = 40 };

#define LIST_WHAT_LIST(X)                                                                          \
  X(LIST_RUNS, "runs")                                                                             \
  X(LIST_CASES, "cases")                                                                           \
  X(LIST_SCENARIOS, "scenarios")                                                                   \
  X(LIST_QUERIES, "queries")
ENUM_NAMES_DECLARE(list_what, LIST_WHAT_LIST)
ENUM_NAMES_DEFINE(list_what, LIST_WHAT_LIST)

struct list_options {
  const char *run, *tag, *limit;
};

static const struct verb_option VERB_LIST_OPTIONS[] = {
    {"run", "RUN", "list cases: the cases of that run (default: latest)",
     OPTION_TEXT(struct list_options, run)},
    {"tag", "GLOB", "list runs: only runs with such a tag",
     OPTION_NON_EMPTY(struct list_options, tag)},
    {"limit", "N", "list runs: that many of the latest runs (default: 50; -1: all)",
     OPTION_NON_EMPTY(struct list_options, limit)},
    WHERE_OPTION,
    {0}};

static void verb_list_check(struct command *command, struct argp_state *state) {
  const struct list_options *options = command->options;
  if (command->word_count == 0) {
    *ARENA_ADD(&command->arena, command->words, command->word_count) =
        list_what_text(LIST_RUNS); /* which is command->choice, 0 */
  }
  OPTIONS_REFUSE(options->run != NULL && command->choice != LIST_CASES, state,
                 "--run can only be combined with list cases");
  const bool filtered =
      options->tag != NULL || options->limit != NULL || command->request.filter.where_count > 0;
  OPTIONS_REFUSE(filtered && command->choice != LIST_RUNS, state,
                 "--tag, --where and --limit can only be combined with list runs");
  char *end = NULL;
  const long limit = options->limit != NULL ? strtol(options->limit, &end, 10) : 1;
  OPTIONS_REFUSE(limit == 0 || limit < -1 || limit == LONG_MAX || (end != NULL && *end != '\0'),
                 state, "--limit needs a whole number, such as 10, or -1 for all runs");
}

#define SCENARIO_COLUMNS(X)                                                                        \
  X("name", text, input_shipped_name(&arena, file))                                                \
  X("description", text, scenario->description)

JSON_DESCRIBER_STATIC(verb_list_describe_scenarios, SCENARIO_COLUMNS, JSON_COLUMN)

enum status verb_list_scenarios(const struct row_sink *sink, struct error *err) {
  enum status status = SINK_COLUMNS(sink, SCENARIO_COLUMNS, err);
  for (size_t i = 0; i < scenarios_count() && status == STATUS_OK; i++) {
    const struct embedded_file *file = scenarios_at(i);
    if (!scenarios_runnable(file)) {
      continue;
    }
    struct input input = {.name = file->name, .embedded = file};
    struct scenario *scenario = NULL;
    struct diagnostics *diagnostics = diagnostics_new();
    if (input_read(&input, NULL, 0, &scenario, diagnostics) == STATUS_OK) {
      SCOPED(arena_fini) struct arena arena = {0};
      status = SINK_ROW(sink, err, SCENARIO_COLUMNS(COLUMN_CELL));
    } else {
      status = error_set(err, STATUS_INVALID, "the shipped scenario %s is not valid", file->name);
    }
    scenario_free(scenario);
    diagnostics_free(diagnostics);
  }
  return THEN(status, sink_end(sink, err));
}

/* ":run=latest :block=*"; what a query does without a value says haul schema NAME. */
static const char *verb_list_describe_parameters(struct arena *arena,
                                                 const struct saved_query *query) {
  const char *text = "";
  for (size_t i = 0; i < query->parameter_count; i++) {
    const struct saved_parameter *parameter = &query->parameters[i];
    const bool has_value = parameter->standard != NULL && strcmp(parameter->standard, "null") != 0;
    text = arena_format(arena, "%s%s%s%s%s", text, i > 0 ? " " : "", parameter->name,
                        has_value ? "=" : "", has_value ? parameter->standard : "");
  }
  return text;
}

#define QUERY_COLUMNS(X)                                                                           \
  X("about", text, about)                                                                          \
  X("name", text, query.name)                                                                      \
  X("title", text, query.title)                                                                    \
  X("parameters", text, verb_list_describe_parameters(&arena, &query))

JSON_DESCRIBER_STATIC(verb_list_describe_queries, QUERY_COLUMNS, JSON_COLUMN)

static enum status verb_list_queries(const struct row_sink *sink, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  enum status status = SINK_COLUMNS(sink, QUERY_COLUMNS, err);
  /* By what they are about, then by name. */
  static const char *const ABOUTS[] = {"results", "machine", "comparison", "fleet", "a scenario"};
  for (size_t a = 0; a < COUNT_OF(ABOUTS); a++) {
    for (size_t i = 0; i < saved_query_count() && status == STATUS_OK; i++) {
      struct saved_query query;
      saved_query_at(i, &arena, &query);
      const char *about = query.about != NULL ? query.about : "a scenario";
      if (strcmp(about, ABOUTS[a]) == 0) {
        status = SINK_ROW(sink, err, QUERY_COLUMNS(COLUMN_CELL));
      }
    }
  }
  return THEN(status, sink_end(sink, err));
}

/* "[1,4]", for json_each(). */
static const char *verb_list_ids(struct arena *arena, const struct run_list *runs) {
  SCOPED(strbuf_fini) struct strbuf list = STRBUF(RUN_LIST_MAX);
  strbuf_append(&list, "[");
  for (size_t i = 0; i < runs->count; i++) {
    strbuf_printf(&list, "%s%" PRId64, i > 0 ? "," : "", runs->runs[i].id);
  }
  strbuf_append(&list, "]");
  return arena_strdup(arena, list.text);
}

/* Those that --where leaves, as the parameter :runs of the query. */
static enum status verb_list_find_runs(struct command *command, const char **runs,
                                       struct error *err) {
  struct results *results = command->results = results_new();
  RETURN_ON_ERROR(
      filter_runs(&command->request.filter, query_database(command->query), results, NULL, 0, err));
  SCOPED(strbuf_fini) struct strbuf list = STRBUF(RUN_LIST_MAX);
  results_run_ids(results, &list);
  *runs = arena_strdup(&command->arena, list.text);
  return STATUS_OK;
}

/* For people: where a run has not all of its results, its ok says "14 of 78". That takes the place
 * of the column planned. */
struct list_rows {
  const struct row_sink *to;
  size_t count;
  size_t numbers[2]; /* of the columns ok and planned */
};

static enum status list_rows_begin(void *context, const struct column *columns, size_t count,
                                   struct error *err) {
  static const char *const NAMES[] = {"ok", "planned", NULL};
  struct list_rows *rows = context;
  SCOPED(memory_free) struct column *shown = memory_new(count, sizeof *shown);
  columns_number(columns, count, NAMES, rows->numbers);
  rows->count = count;
  for (size_t i = 0, at = 0; i < count; i++) {
    shown[at] = columns[i];
    shown[at].align = i == rows->numbers[0] ? ALIGN_RIGHT : columns[i].align;
    at += i != rows->numbers[1];
  }
  return rows->to->begin(rows->to->context, shown, count - 1, err);
}

static enum status list_rows_row(void *context, const struct cell *cells, struct error *err) {
  const struct list_rows *rows = context;
  const int64_t ok = cells[rows->numbers[0]].as.integer;
  const int64_t planned = cells[rows->numbers[1]].as.integer;
  SCOPED(memory_free) struct cell *shown = memory_new(rows->count, sizeof *shown);
  SCOPED(memory_free) char *text = memory_format("%" PRId64 " of %" PRId64, ok, planned);
  for (size_t i = 0, at = 0; i < rows->count; i++) {
    shown[at] = i == rows->numbers[0] && ok != planned ? cell_text(text) : cells[i];
    at += i != rows->numbers[1];
  }
  return sink_row(rows->to, shown, err);
}

static enum status list_rows_end(void *context, struct error *err) {
  return sink_end(((const struct list_rows *)context)->to, err);
}

static bool list_rows_enough(void *context) {
  return sink_has_enough(((const struct list_rows *)context)->to);
}

/* What stands in place of a table without rows. */
static const char *verb_list_empty(struct command *command) {
  const struct list_options *options = command->options;
  return command->choice == LIST_CASES  ? "no results; haul list runs says why"
         : command->choice != LIST_RUNS ? NULL
         : options->tag != NULL
             ? arena_format(&command->arena, "no runs with the tag %s", options->tag)
             : "no runs";
}

static enum status verb_list_run(struct command *command, struct error *err) {
  const struct list_options *options = command->options;
  const struct row_sink *sink = command_rows(command, verb_list_empty(command));
  if (command->choice == LIST_SCENARIOS) {
    return verb_list_scenarios(sink, err);
  }
  if (command->choice == LIST_QUERIES) {
    table_narrow(command->table, "parameters", TITLE_WIDTH);
    return verb_list_queries(sink, err);
  }
  /* The others are saved queries. */
  RETURN_ON_ERROR(command_open_query(command, err));
  const char *runs = NULL;
  if (command->request.filter.where_count > 0) {
    RETURN_ON_ERROR(verb_list_find_runs(command, &runs, err));
  }
  struct run_list killed = {0};
  if (command->choice == LIST_RUNS) {
    RETURN_ON_ERROR(command_find_killed(command, query_database(command->query), &killed, err));
  }
  const struct query_parameter given[] = {
      {"run", options->run},
      {"tag", options->tag},
      {"limit", options->limit},
      {"runs", runs},
      {"killed", command->choice == LIST_RUNS ? verb_list_ids(&command->arena, &killed) : NULL}};
  struct query_parameter parameters[COUNT_OF(given)];
  size_t count = 0;
  for (size_t i = 0; i < COUNT_OF(given); i++) {
    if (given[i].value != NULL) {
      parameters[count++] = given[i];
    }
  }
  struct saved_query saved;
  RETURN_ON_ERROR(saved_query_find(command->words[0], &command->arena, &saved, err));
  table_narrow(command->table, saved.narrow, 0);
  struct list_rows rows = {.to = sink};
  const struct row_sink people = {&rows, list_rows_begin, list_rows_row, list_rows_end,
                                  list_rows_enough};
  const bool words = command->choice == LIST_RUNS && output_is_for_people(command->common.format);
  RETURN_ON_ERROR(query_run_saved(command->query, command->words[0], parameters, count, NULL,
                                  words ? &people : sink, err));
  command_say_killed(command, &killed, 0);
  return STATUS_OK;
}

const struct verb VERB_LIST = {
    .name = "list",
    .group = VERBS_READ,
    .arguments = "[runs|cases|scenarios|queries]",
    .summary = "list runs, cases, shipped scenarios or saved queries",
    .doc = "Without a word it lists runs. haul query --saved NAME runs a saved query, and haul "
           "schema NAME explains it. haul schema NAME also gives the default of each parameter.",
    .options = VERB_LIST_OPTIONS,
    .options_size = sizeof(struct list_options),
    .argument_kind = ARGUMENTS_WORDS,
    .words = list_what_names,
    .noun = "list",
    .word_max = 1,
    .check = verb_list_check,
    .rows = (const struct verb_rows[]){{.saved = "runs"},
                                       {.saved = "cases"},
                                       {verb_list_describe_scenarios, NULL},
                                       {verb_list_describe_queries, NULL},
                                       {0}},
    .run = verb_list_run,
};
