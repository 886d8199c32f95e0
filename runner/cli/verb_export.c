/* haul export: results for other programs. */
#include "engine/base/strings.h"
#include "runner/cli/options.h"
#include "runner/console/output_file.h"
#include "runner/render/export_prometheus.h"

#define EXPORT_FORMAT_LIST(X)                                                                      \
  X(EXPORT_CSV, "csv")                                                                             \
  X(EXPORT_JSONL, "jsonl")                                                                         \
  X(EXPORT_PROMETHEUS, "prometheus")                                                               \
  X(EXPORT_OPENMETRICS, "openmetrics")
ENUM_NAMES_DECLARE(export_format, EXPORT_FORMAT_LIST)
ENUM_NAMES_DEFINE(export_format, EXPORT_FORMAT_LIST)

struct export_options {
  const char *output, *run, *against;
  bool blocks, trials;
};

static const struct verb_option VERB_EXPORT_OPTIONS[] = {
    {"output", "FILE", "write to FILE, which is replaced as a whole (default: standard output)",
     OPTION_TEXT(struct export_options, output), .letter = 'o'},
    {"run", "RUN", "csv, jsonl: only that run (default: all)",
     OPTION_TEXT(struct export_options, run)},
    {"trials", NULL, "csv, jsonl: one row per trial instead of one per case and process",
     OPTION_FLAG(struct export_options, trials)},
    {"against", "RUNS",
     "prometheus: compare with these, for example baseline:NAME or driver:VERSION (default: the "
     "runs under the previous driver of each host)",
     OPTION_TEXT(struct export_options, against)},
    {"blocks", NULL,
     "prometheus: the lowest, median and highest case of each block, not every case",
     OPTION_FLAG(struct export_options, blocks)},
    FILTER_OPTIONS_OF("prometheus, openmetrics: "),
    {0},
};

static void verb_export_check(struct command *command, struct argp_state *state) {
  const struct export_options *options = command->options;
  OPTIONS_REFUSE(command->word_count > 1, state, "the run is an option: haul export %s --run %s",
                 command->words[0], command->words[1]);
  const struct filter *filter = &command->request.filter;
  const bool prometheus =
      command->choice == EXPORT_PROMETHEUS || command->choice == EXPORT_OPENMETRICS;
  OPTIONS_REFUSE(
      prometheus && (options->run != NULL || options->trials), state,
      "%s exports cases, not one run: --run and --trials cannot be combined with it; use "
      "--where and --only",
      export_format_text((enum export_format)command->choice));
  OPTIONS_REFUSE(
      (options->blocks && command->choice != EXPORT_PROMETHEUS) ||
          (options->against != NULL && (options->blocks || command->choice == EXPORT_OPENMETRICS)),
      state, "--blocks goes with prometheus alone, and --against with its cases");
  OPTIONS_REFUSE(!prometheus &&
                     (options->against != NULL || filter->only != NULL || filter->where_count > 0),
                 state,
                 "--against, --where and --only can only be combined with prometheus; haul query "
                 "selects rows with SQL");
}

/* ---- rows ---- */

static enum status verb_export_rows(struct command *command, FILE *stream, struct error *err) {
  const struct export_options *options = command->options;
  /* By whether a run and trials were asked for. */
  static const char *const NAMES[2][2] = {{"export/cases", "export/trials"},
                                          {"export/run_cases", "export/run_trials"}};
  const bool one_run = options->run != NULL;
  const struct query_parameter run = {"run", options->run};
  const struct query_options query_options = {.interrupted = watch_interrupts()};
  const struct table_options table_options = {
      .format = command->choice == EXPORT_CSV ? OUTPUT_CSV : OUTPUT_JSONL, .stream = stream};
  command->table = table_new(&table_options);
  SCOPED(memory_free) char *sql = database_sql(NAMES[one_run][options->trials]);
  enum status status = command_open_query(command, err);
  status = THEN(status, query_run(command->query, sql, &run, one_run ? 1 : 0, &query_options,
                                  table_sink(command->table), err));
  return table_reader_gone(command->table) ? STATUS_OK : status;
}

/* ---- prometheus ---- */

static const struct results_environment *verb_export_environment_of(const struct results *results,
                                                                    size_t run) {
  return &results->environments[results->runs[run].environment];
}

static bool verb_export_same_host(const struct results *results, size_t a, size_t b) {
  const struct results_environment *left = verb_export_environment_of(results, a);
  const struct results_environment *right = verb_export_environment_of(results, b);
  return strings_equal(left->node, right->node) && left->simulated == right->simulated;
}

static bool verb_export_same_driver(const struct results *results, size_t a, size_t b) {
  return strings_equal(verb_export_environment_of(results, a)->driver_version,
                       verb_export_environment_of(results, b)->driver_version);
}

/* The run of that host that started last; but: not under its driver, SIZE_MAX = under any. SIZE_MAX
 * = none. */
static size_t verb_export_latest_of_host(const struct results *results, size_t host, size_t but) {
  size_t latest = SIZE_MAX;
  for (size_t i = 0; i < results->run_count; i++) {
    if (verb_export_same_host(results, i, host) &&
        (but == SIZE_MAX || !verb_export_same_driver(results, i, but)) &&
        (latest == SIZE_MAX ||
         results->runs[i].started_at_ns >= results->runs[latest].started_at_ns)) {
      latest = i;
    }
  }
  return latest;
}

/* What the runs of a host are compared with: those that --against names, or else those under its
 * driver before. now: the latest of its runs; then: the latest under that driver, SIZE_MAX = none.
 */
static bool verb_export_is_before(const struct results *results, const bool *against, size_t run,
                                  size_t now, size_t then) {
  if (against != NULL) {
    return against[run] && verb_export_environment_of(results, run)->simulated ==
                               verb_export_environment_of(results, now)->simulated;
  }
  return then != SIZE_MAX && verb_export_same_host(results, run, now) &&
         verb_export_same_driver(results, run, then);
}

struct verdicts {
  struct comparison **comparisons;
  size_t count;
};

/* One comparison per host: its runs under its present driver, against those before. */
static enum status verb_export_compare_hosts(struct arena *arena, const struct results *results,
                                             const bool *against, struct verdicts *verdicts,
                                             struct error *err) {
  static const struct compare_options OPTIONS = {
      .diff = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05}};
  enum side *sides = arena_array(arena, results->run_count, sizeof *sides);
  verdicts->comparisons = arena_array(arena, results->run_count, sizeof(struct comparison *));
  for (size_t now = 0; now < results->run_count; now++) {
    if (verb_export_latest_of_host(results, now, SIZE_MAX) != now) {
      continue;
    }
    const size_t then = verb_export_latest_of_host(results, now, now);
    for (size_t i = 0; i < results->run_count; i++) {
      const bool is_b =
          verb_export_same_host(results, i, now) && verb_export_same_driver(results, i, now);
      sides[i] = verb_export_is_before(results, against, i, now, then) ? SIDE_A
                 : is_b                                                ? SIDE_B
                                                                       : SIDE_NONE;
    }
    if (ANY_OF(i, results->run_count, sides[i] == SIDE_A) &&
        ANY_OF(i, results->run_count, sides[i] == SIDE_B)) {
      RETURN_ON_ERROR(
          compare(results, sides, &OPTIONS, &verdicts->comparisons[verdicts->count], err));
      verdicts->count++;
    }
  }
  return STATUS_OK;
}

/* Which runs --against names; NULL where it is not given. */
static enum status verb_export_find_against(struct command *command, const struct results *results,
                                            bool **against, struct error *err) {
  const struct export_options *options = command->options;
  *against = NULL;
  if (options->against == NULL) {
    return STATUS_OK;
  }
  struct arena *arena = &command->arena;
  struct run_list list;
  enum status status = selector_find_all(command->database, options->against, arena, &list, err);
  if (status != STATUS_OK) {
    return error_prefix(err, "--against: ");
  }
  *against = arena_array(arena, results->run_count, sizeof **against);
  for (size_t i = 0; i < results->run_count; i++) {
    (*against)[i] = ANY_OF(j, list.count, results->runs[i].ref.id == list.runs[j].id);
  }
  return STATUS_OK;
}

static enum status verb_export_prometheus(struct command *command, FILE *stream,
                                          struct error *err) {
  const struct export_options *options = command->options;
  struct filter *filter = &command->request.filter;
  struct results *results = command->results = results_new();
  struct verdicts verdicts = {0};
  bool *against = NULL;
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(filter_runs(filter, command->database, results, NULL, 0, err));
  results_keep_runs(results, results_run_is_own, NULL);
  enum status status = results_load(results, command->database, filter->only, err);
  if (status == STATUS_OK && (options->blocks || command->choice == EXPORT_OPENMETRICS)) {
    size_t count = 0;
    const struct latest_case *cases =
        options->blocks ? latest_cases(results, &command->arena, &count) : NULL;
    return prometheus_print_blocks(results, cases, count, stream, err);
  }
  status = THEN(status, verb_export_find_against(command, results, &against, err));
  status =
      THEN(status, verb_export_compare_hosts(&command->arena, results, against, &verdicts, err));
  if (status == STATUS_OK) {
    size_t count = 0;
    const struct latest_case *cases = latest_cases(results, &command->arena, &count);
    status =
        prometheus_print(results, cases, count, verdicts.comparisons, verdicts.count, stream, err);
  }
  for (size_t i = 0; i < verdicts.count; i++) {
    comparison_free(verdicts.comparisons[i]);
  }
  return status;
}

static enum status verb_export_run(struct command *command, struct error *err) {
  const struct export_options *options = command->options;
  struct output_file file;
  RETURN_ON_ERROR(output_file_open(options->output, &file, err));
  const bool rows = command->choice == EXPORT_CSV || command->choice == EXPORT_JSONL;
  const enum status status = rows ? verb_export_rows(command, file.stream, err)
                                  : verb_export_prometheus(command, file.stream, err);
  if (status == STATUS_CORRUPT) {
    say_note(&command->common,
             options->output == NULL
                 ? "the results before the damage are written; --run RUN writes those of one run"
                 : "nothing is written; without --output, the results before the damage are");
  }
  return output_file_close(&file, status, err);
}

const struct verb VERB_EXPORT = {
    .name = "export",
    .group = VERBS_READ,
    .arguments = "csv|jsonl|prometheus|openmetrics",
    .summary = "write results for other programs",
    .doc = "csv and jsonl write the columns of v_case, or of v_trial with --trials; haul schema "
           "results describes them. Years of results are a gigabyte: --run writes one run, and "
           "haul query --format csv \"SELECT ... FROM v_result\" writes the rows and columns that "
           "you name. prometheus writes the latest median of every measured case and its verdict, "
           "in the text format that the textfile collector of node_exporter reads: haul export "
           "prometheus -o /var/lib/node_exporter/haul.prom. openmetrics writes all runs with their "
           "times, per block, to fill in the past of a Prometheus: promtool tsdb "
           "create-blocks-from openmetrics haul.txt",
    .options = VERB_EXPORT_OPTIONS,
    .options_size = sizeof(struct export_options),
    .argument_kind = ARGUMENTS_WORDS,
    .words = export_format_names,
    .noun = "format",
    .word_max = 2,
    .missing =
        "argument: csv, jsonl, prometheus or openmetrics, as in haul export csv --run latest",
    .too_many = "; one run can be exported at a time, as in haul export csv --run latest",
    .no_format = ": the format is an argument, as in haul export csv --run latest",
    .check = verb_export_check,
    .run = verb_export_run,
};
