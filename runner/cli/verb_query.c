/* haul query: SQL of the user and saved queries, read-only. */
#include "engine/base/units.h"
#include "runner/cli/options.h"
#include "runner/record/saved.h"
#include "scenarios/scenarios.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { SQL_MAX = 1 << 20 };

struct query_arguments {
  const char *saved;
  struct query_parameter *parameters;
  size_t parameter_count;
  uint64_t time_limit_ns;
};

static bool verb_query_take_parameter(const struct option_use *use) {
  struct query_arguments *options = use->command->options;
  struct command *command = use->command;
  struct arena *arena = &command->arena;
  struct query_parameter parameter;
  const bool good = options_split(arena, use->arg, &parameter.name, &parameter.value);
  if (good) {
    *ARENA_ADD(arena, options->parameters, options->parameter_count) = parameter;
  }
  return good;
}

static const struct verb_option VERB_QUERY_OPTIONS[] = {
    {"saved", "NAME", "run a saved query; haul list queries lists them",
     OPTION_TEXT(struct query_arguments, saved)},
    {"param", "NAME=VALUE", "value of the parameter :NAME; may be repeated",
     verb_query_take_parameter, .needs = "NAME=VALUE, for example --param run=latest"},
    {"time-limit", "DURATION", "give up after that time, for example 10s",
     OPTION_DURATION(struct query_arguments, time_limit_ns, "10s")},
    PLOT_OPTION,
    {0},
};

static void verb_query_check(struct command *command, struct argp_state *state) {
  const struct query_arguments *options = command->options;
  options_check_plot(command, state);
  OPTIONS_REFUSE(command->word_count > 0 && options->saved != NULL, state,
                 "give SQL or --saved NAME, not both");
  OPTIONS_REFUSE(command->word_count == 0 && options->saved == NULL && isatty(STDIN_FILENO), state,
                 "missing argument: SQL in quotes, or --saved NAME");
}

static enum status verb_query_give_rows(struct command *command, const struct row_sink *sink,
                                        struct error *err) {
  const struct query_arguments *options = command->options;
  const struct query_options limits = {.time_limit_ns = options->time_limit_ns,
                                       .interrupted = watch_interrupts()};
  const char *sql = command->word_count > 0 ? command->words[0] : "-";
  enum status status = STATUS_OK;
  if (options->saved == NULL && strcmp(sql, "-") == 0) {
    status = read_stdin("SQL", SQL_MAX, &command->arena, &sql, err);
  }
  RETURN_ON_ERROR(THEN(status, command_open_query(command, err)));
  status = options->saved != NULL
               ? query_run_saved(command->query, options->saved, options->parameters,
                                 options->parameter_count, &limits, sink, err)
               : query_run(command->query, sql, options->parameters, options->parameter_count,
                           &limits, sink, err);
  if (status == STATUS_DENIED) {
    /* Not a file that this user may not read: SQL that does more than read. */
    err->status = status = STATUS_USAGE;
  }
  return status;
}

/* Names those that are, where it is not. */
static enum status verb_query_check_drawn(const struct saved_query *saved, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  const char *drawn = "";
  if (saved->plot_count > 0) {
    return STATUS_OK;
  }
  for (size_t i = 0; i < saved_query_count(); i++) {
    struct saved_query other;
    saved_query_at(i, &arena, &other);
    if (other.plot_count > 0) {
      drawn = arena_add_word(&arena, drawn, other.name);
    }
  }
  return error_set(err, STATUS_USAGE,
                   "the saved query %s is a table without curves; --plot draws: %s", saved->name,
                   drawn);
}

/* What a query that gave nothing would need: ": it reads runs of the scenario energy; haul run
 * energy measures one". "" = it reads any run. */
static const char *verb_query_needed(struct arena *arena, const struct saved_query *saved) {
  const struct saved_parameter *run = saved_query_parameter(saved, ":run");
  const char *names = "";
  size_t count = 0;
  if (run != NULL && run->standard != NULL && strcmp(run->standard, "latest") == 0) {
    return "";
  }
  for (size_t i = 0; i < scenarios_count(); i++) {
    const char *name = input_shipped_name(arena, scenarios_at(i));
    char *scenario = arena_strdup(arena, name); /* comm-scope-fig02 is in comm-scope/fig02 */
    for (char *slash = strchr(scenario, '/'); slash != NULL; slash = strchr(slash, '/')) {
      *slash = '-';
    }
    if (scenarios_runnable(scenarios_at(i)) && saved_query_is_of(saved, scenario)) {
      names = arena_format(arena, "%s%s%s", names, count++ > 0 ? ", " : "", name);
    }
  }
  return count == 0
             ? ""
             : arena_format(arena, ": it reads runs of the scenario%s %s; haul run %s measures one",
                            count == 1 ? "" : "s", names, count == 1 ? names : "NAME");
}

/* Of SQL without rows: a parameter other than :run whose value names runs. true: it was said. */
static bool verb_query_note_parameters(struct command *command) {
  const struct query_arguments *options = command->options;
  for (size_t i = 0; i < options->parameter_count && command->word_count > 0; i++) {
    const struct query_parameter *given = &options->parameters[i];
    if (strcmp(given->name, "run") != 0 && selector_is_one(given->value) &&
        strspn(given->value, "0123456789") == 0) {
      say_note(&command->common,
               "no rows: only :run takes names of runs, and :%s is the text \"%s\"; write run = "
               ":run and add --param run=%s",
               given->name, given->value, given->value);
      return true;
    }
  }
  return false;
}

/* Of SQL without rows: a text in it that means something elsewhere, a run as 'tag:before' or a size
 * as '256MiB'. */
static void verb_query_note_texts(struct command *command) {
  const char *open = command->word_count > 0 ? strchr(command->words[0], '\'') : NULL;
  for (const char *close; open != NULL && (close = strchr(open + 1, '\'')) != NULL;
       open = strchr(close + 1, '\'')) {
    const char *text = arena_strndup(&command->arena, open + 1, (size_t)(close - open - 1));
    uint64_t bytes = 0;
    if (selector_is_one(text) && strspn(text, "0123456789") == 0) {
      say_note(&command->common,
               "no rows: in SQL a run is a number; write run = :run and add --param run=%s", text);
      return;
    }
    if (strspn(text, "0123456789") > 0 && units_parse_size(text, &bytes)) {
      say_note(&command->common, "no rows: in SQL a size is a number of bytes; '%s' is %" PRIu64,
               text, bytes);
      return;
    }
  }
}

/* Of a saved query without rows: why. */
static void verb_query_note_empty(struct command *command, const struct saved_query *saved) {
  const struct query_arguments *options = command->options;
  const char *needed = saved->of != NULL ? verb_query_needed(&command->arena, saved) : "";
  for (size_t i = 0; i < options->parameter_count; i++) {
    const struct query_parameter *given = &options->parameters[i];
    const struct saved_parameter *parameter =
        saved_query_parameter(saved, arena_format(&command->arena, ":%s", given->name));
    if (needed[0] == '\0' && parameter != NULL && parameter->type == PARAMETER_TEXT) {
      say_note(&command->common, "%s has no rows: nothing matches %s=%s%s", saved->name,
               given->name, given->value,
               strcmp(given->name, "name") == 0 || strcmp(given->name, "block") == 0
                   ? "; haul list cases lists names"
                   : "");
      return;
    }
  }
  if (needed[0] != '\0') {
    say_note(&command->common, "%s has no rows%s", saved->name, needed);
  } else if (saved->empty != NULL) {
    say_note(&command->common, "%s has no rows: %s", saved->name, saved->empty);
  }
}

static enum status verb_query_run(struct command *command, struct error *err) {
  const struct query_arguments *options = command->options;
  struct saved_query saved = {.name = NULL};
  if (options->saved != NULL) {
    RETURN_ON_ERROR(saved_query_find(options->saved, &command->arena, &saved, err));
  }
  if (!command->plot.wanted) {
    const struct row_sink *rows = command_rows(command, NULL);
    table_narrow(command->table, saved.narrow, 0);
    RETURN_ON_ERROR(verb_query_give_rows(command, rows, err));
    if (table_row_count(command->table) == 0 && saved.name != NULL) {
      verb_query_note_empty(command, &saved);
    } else if (table_row_count(command->table) == 0 && !verb_query_note_parameters(command)) {
      verb_query_note_texts(command);
    }
    return STATUS_OK;
  }
  if (options->saved != NULL) {
    RETURN_ON_ERROR(verb_query_check_drawn(&saved, err));
  }
  const char *needed = saved.of != NULL ? verb_query_needed(&command->arena, &saved) : "";
  struct curves *curves = plot_open(&command->common, &command->plot,
                                    arena_format(&command->arena, "nothing to draw%s", needed));
  if (options->saved != NULL) {
    curves_draw_as(curves, &saved);
  }
  const enum status status = verb_query_give_rows(command, curves_sink(curves), err);
  const bool reader_gone = sink_has_enough(curves_sink(curves));
  curves_free(curves);
  return reader_gone ? STATUS_OK : status;
}

const struct verb VERB_QUERY = {
    .name = "query",
    .group = VERBS_READ,
    .arguments = "[SQL]",
    .summary = "ask the results database with SQL or a saved query",
    .doc = "Without SQL and --saved, the statement is read from standard input. No query can "
           "change the database. Parameters are written :name in SQL. :run takes a number, latest, "
           "previous, tag:NAME, driver:VERSION (the latest run with it) or the first digits of a "
           "run_uuid. Without --param it is the latest run. Begin with the view v_result: haul "
           "schema v_result explains its columns, and haul schema views lists all views.\n\n--plot "
           "draws the rows. A saved query names its columns of x and y. Of other SQL, x is the "
           "first numeric column, and text columns before it name the curves. y is the next "
           "numeric column. If no text column comes first, every further numeric column is a "
           "curve. low and high are error bars, peak_gbps is a line. --format svg writes a "
           "picture.",
    .options = VERB_QUERY_OPTIONS,
    .options_size = sizeof(struct query_arguments),
    .word_max = 1,
    .too_many = "; put the SQL statement in quotes",
    .format = &FORMAT_OR_SVG,
    .check = verb_query_check,
    .rows = (const struct verb_rows[]){{.saved = "*"}, {0}},
    .run = verb_query_run,
};
