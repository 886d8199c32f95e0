/* haul export: results for other programs. */
#include "runner/cli/analysis.h"
#include "runner/console/output_file.h"
#include "runner/record/database.h"
#include "runner/record/query.h"
#include "runner/render/prometheus.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT_FORMAT_LIST(X)                                                                      \
  X(EXPORT_CSV, "csv")                                                                             \
  X(EXPORT_JSONL, "jsonl")                                                                         \
  X(EXPORT_PROMETHEUS, "prometheus")
ENUM_NAMES_DECLARE(export_format, EXPORT_FORMAT_LIST)
ENUM_NAMES_DEFINE(export_format, EXPORT_FORMAT_LIST)

enum { OPTION_RUN = OPTION_OF_VERB, OPTION_TRIALS, OPTION_AGAINST };

struct export_options {
  struct common_options common;
  bool given;
  enum export_format format;
  const char *run;
  const char *against;
  const char *output;
  bool trials;
  struct filter filter; /* prometheus; its arena serves the others as well */
};

static const struct argp_option VERB_EXPORT_OPTIONS[] = {
    {"output", 'o', "FILE", 0,
     "write to FILE, which is replaced as a whole (default: standard output)", 1},
    {"run", OPTION_RUN, "RUN", 0, "csv, jsonl: only that run (default: all)", 1},
    {"trials", OPTION_TRIALS, 0, 0,
     "csv, jsonl: one row per trial instead of one per case and process", 1},
    {"against", OPTION_AGAINST, "RUNS", 0,
     "prometheus: compare with these, for example baseline:NAME or driver:VERSION (default: the "
     "runs under the previous driver of each host)",
     1},
    FILTER_OPTIONS,
    {0},
};

static void verb_export_parse_format(struct export_options *options, const char *arg,
                                     struct argp_state *state) {
  if (options->given) {
    argp_error(state, "too many arguments: '%s'; one format can be exported at a time", arg);
  }
  if (!export_format_parse(arg, &options->format)) {
    options_reject_name(state, "format", arg, export_format_names);
  }
  options->given = true;
}

static void verb_export_check_together(const struct export_options *options,
                                       struct argp_state *state) {
  if (!options->given) {
    argp_error(state, "missing argument: csv, jsonl or prometheus");
  }
  if (options->common.format_given) {
    argp_error(state, "--format cannot be combined with export: the format is its argument");
  }
  const bool prometheus = options->format == EXPORT_PROMETHEUS;
  const bool selected = options->filter.only != NULL || options->filter.where_count > 0;
  if (prometheus && (options->run != NULL || options->trials)) {
    argp_error(state,
               "prometheus exports the latest result of every case: --run and --trials cannot "
               "be combined with it; use --where and --only");
  }
  if (!prometheus && (options->against != NULL || selected)) {
    argp_error(state,
               "--against, --where and --only can only be combined with prometheus; haul query "
               "selects rows with SQL");
  }
}

static error_t verb_export_parse(int key, char *arg, struct argp_state *state) {
  struct export_options *options = state->input;
  switch (key) {
  case 'o':
    options->output = arg;
    return 0;
  case OPTION_RUN:
    options->run = arg;
    return 0;
  case OPTION_TRIALS:
    options->trials = true;
    return 0;
  case OPTION_AGAINST:
    options->against = arg;
    return 0;
  case ARGP_KEY_ARG:
    verb_export_parse_format(options, arg, state);
    return 0;
  case ARGP_KEY_END:
    verb_export_check_together(options, state);
    return 0;
  default:
    return filter_options_parse(key, arg, state, &options->filter);
  }
}

/* ---- rows ---- */

static enum status verb_export_rows(struct export_options *options, enum output_format format,
                                    FILE *stream, struct error *err) {
  const char *path = NULL;
  struct query *query = NULL;
  const struct query_parameter run = {"run", options->run};
  const struct query_options query_options = {.interrupted = watch_interrupts()};
  const struct table_options table_options = {.format = format, .stream = stream};
  struct table *table = table_new(&table_options);
  const char *name = options->trials ? "export/trials" : "export/cases";
  if (options->run != NULL) {
    name = options->trials ? "export/run_trials" : "export/run_cases";
  }
  enum status status = database_path(&options->common, &options->filter.arena, &path, err);
  if (status == STATUS_OK) {
    status = query_open(path, &query, err);
  }
  char *sql = database_sql(name);
  if (status == STATUS_OK) {
    status = query_run(query, sql, &run, options->run != NULL ? 1 : 0, &query_options,
                       table_sink(table), err);
  }
  if (table_reader_gone(table)) {
    status = STATUS_OK;
  }
  free(sql);
  query_close(query);
  table_free(table);
  return status;
}

/* ---- prometheus ---- */

static bool verb_export_same_text(const char *a, const char *b) {
  return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static const struct measured_environment *
verb_export_environment_of(const struct measured *measured, size_t run) {
  return &measured->environments[measured->runs[run].environment];
}

static bool verb_export_same_host(const struct measured *measured, size_t a, size_t b) {
  const struct measured_environment *left = verb_export_environment_of(measured, a);
  const struct measured_environment *right = verb_export_environment_of(measured, b);
  return strcmp(left->host_name, right->host_name) == 0 && left->simulated == right->simulated;
}

static bool verb_export_same_driver(const struct measured *measured, size_t a, size_t b) {
  return verb_export_same_text(verb_export_environment_of(measured, a)->driver_version,
                               verb_export_environment_of(measured, b)->driver_version);
}

/* The run of that host that started last, before `before` (SIZE_MAX: of all) and under another
 * driver than it. SIZE_MAX = none. */
static size_t verb_export_latest_of_host(const struct measured *measured, size_t host,
                                         size_t before) {
  size_t latest = SIZE_MAX;
  for (size_t i = 0; i < measured->run_count; i++) {
    if (!verb_export_same_host(measured, i, host) ||
        (before != SIZE_MAX && verb_export_same_driver(measured, i, before))) {
      continue;
    }
    if (latest == SIZE_MAX ||
        measured->runs[i].started_at_ns >= measured->runs[latest].started_at_ns) {
      latest = i;
    }
  }
  return latest;
}

struct verdicts {
  struct comparison **comparisons;
  size_t count;
};

/* What the runs of one host are compared with. */
struct before {
  const bool *named; /* by run: --against; NULL = not given */
  size_t then;       /* else: the last run under the driver before; SIZE_MAX = none */
};

static bool verb_export_was_before(const struct measured *measured, size_t run, size_t host,
                                   const struct before *before) {
  if (before->named != NULL) {
    return before->named[run] && verb_export_environment_of(measured, run)->simulated ==
                                     verb_export_environment_of(measured, host)->simulated;
  }
  return before->then != SIZE_MAX && verb_export_same_host(measured, run, host) &&
         verb_export_same_driver(measured, run, before->then);
}

/* Runs of one host under its present driver, against those before. */
static enum status verb_export_compare_host(const struct measured *measured, size_t host,
                                            const bool *against, enum side *sides,
                                            struct verdicts *verdicts, struct error *err) {
  static const struct compare_options OPTIONS = {
      .diff = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05}};
  const size_t now = verb_export_latest_of_host(measured, host, SIZE_MAX);
  const struct before before = {
      .named = against,
      .then = against == NULL ? verb_export_latest_of_host(measured, host, now) : SIZE_MAX};
  size_t counts[SIDES] = {0};
  for (size_t i = 0; i < measured->run_count; i++) {
    sides[i] = SIDE_NONE;
    if (verb_export_was_before(measured, i, host, &before)) {
      sides[i] = SIDE_A;
    } else if (verb_export_same_host(measured, i, host) &&
               verb_export_same_driver(measured, i, now)) {
      sides[i] = SIDE_B;
    }
    if (sides[i] != SIDE_NONE) {
      counts[sides[i]]++;
    }
  }
  if (counts[SIDE_A] == 0 || counts[SIDE_B] == 0) {
    return STATUS_OK;
  }
  enum status status =
      compare(measured, sides, &OPTIONS, &verdicts->comparisons[verdicts->count], err);
  verdicts->count += status == STATUS_OK ? 1 : 0;
  return status;
}

/* One comparison per host. */
static enum status verb_export_compare_hosts(struct arena *arena, const struct measured *measured,
                                             const bool *against, struct verdicts *verdicts,
                                             struct error *err) {
  enum side *sides = arena_array(arena, measured->run_count, sizeof *sides);
  verdicts->comparisons = arena_array(arena, measured->run_count, sizeof(struct comparison *));
  enum status status = STATUS_OK;
  for (size_t i = 0; i < measured->run_count && status == STATUS_OK; i++) {
    bool done = false;
    for (size_t j = 0; j < i && !done; j++) {
      done = verb_export_same_host(measured, i, j);
    }
    if (!done) {
      status = verb_export_compare_host(measured, i, against, sides, verdicts, err);
    }
  }
  return status;
}

/* Which runs --against names; NULL where it is not given. */
static enum status verb_export_find_against(struct export_options *options,
                                            struct database *database,
                                            const struct measured *measured, bool **against,
                                            struct error *err) {
  *against = NULL;
  if (options->against == NULL) {
    return STATUS_OK;
  }
  struct arena *arena = &options->filter.arena;
  struct run_list list;
  enum status status = selector_find_all(database, options->against, arena, &list, err);
  if (status != STATUS_OK) {
    return error_prefix(err, "--against: ");
  }
  *against = arena_array(arena, measured->run_count, sizeof **against);
  for (size_t i = 0; i < measured->run_count; i++) {
    for (size_t j = 0; j < list.count; j++) {
      (*against)[i] = (*against)[i] || measured->runs[i].ref.id == list.runs[j].id;
    }
  }
  return STATUS_OK;
}

static bool verb_export_was_measured(const struct measured *measured, size_t run,
                                     const void *context) {
  (void)context;
  return strcmp(measured->runs[run].origin, "measured") == 0;
}

static enum status verb_export_prometheus(struct export_options *options, FILE *stream,
                                          struct error *err) {
  struct filter *filter = &options->filter;
  struct database *database = NULL;
  struct measured *measured = measured_new();
  struct verdicts verdicts = {0};
  bool *against = NULL;
  enum status status = analysis_open(&options->common, &filter->arena, &database, err);
  if (status == STATUS_OK) {
    status = filter_runs(filter, database, measured, NULL, 0, err);
  }
  if (status == STATUS_OK) {
    measured_keep_runs(measured, verb_export_was_measured, NULL);
    status = measured_load(measured, database, filter->only, err);
  }
  if (status == STATUS_OK) {
    status = verb_export_find_against(options, database, measured, &against, err);
  }
  if (status == STATUS_OK) {
    status = verb_export_compare_hosts(&filter->arena, measured, against, &verdicts, err);
  }
  if (status == STATUS_OK) {
    size_t count = 0;
    const struct latest_case *cases = latest_cases(measured, &filter->arena, &count);
    status =
        prometheus_print(measured, cases, count, verdicts.comparisons, verdicts.count, stream, err);
  }
  for (size_t i = 0; i < verdicts.count; i++) {
    comparison_free(verdicts.comparisons[i]);
  }
  measured_free(measured);
  database_close(database);
  return status;
}

static enum status verb_export_to(struct export_options *options, FILE *stream, struct error *err) {
  switch (options->format) {
  case EXPORT_CSV:
    return verb_export_rows(options, OUTPUT_CSV, stream, err);
  case EXPORT_JSONL:
    return verb_export_rows(options, OUTPUT_JSONL, stream, err);
  case EXPORT_PROMETHEUS:
    return verb_export_prometheus(options, stream, err);
  case export_format_name_count:
    break;
  }
  abort();
}

static int verb_export_main(const struct verb *verb, int argc, char **argv) {
  struct export_options options = {0};
  cli_parse(verb, argc, argv, &options);
  struct error err = {0};
  struct output_file file;
  enum status status = output_file_open(options.output, &file, &err);
  if (status == STATUS_OK) {
    status = verb_export_to(&options, file.stream, &err);
    status = output_file_close(&file, status, &err);
  }
  const int code = status == STATUS_OK ? EXIT_DONE : fail(&options.common, &err);
  filter_fini(&options.filter);
  return code;
}

const struct verb VERB_EXPORT = {
    .name = "export",
    .arguments = "csv|jsonl|prometheus",
    .summary = "write results for other programs",
    .doc = "csv and jsonl write the columns of v_case, or of v_trial with --trials; haul schema "
           "results "
           "describes them. prometheus writes the latest median of every measured case and its "
           "verdict, in the text format that the textfile collector of node_exporter reads: haul "
           "export prometheus -o /var/lib/node_exporter/haul.prom",
    .options = VERB_EXPORT_OPTIONS,
    .parse = verb_export_parse,
    .argument_kind = ARGUMENTS_WORDS,
    .words = export_format_names,
    .main = verb_export_main,
};
