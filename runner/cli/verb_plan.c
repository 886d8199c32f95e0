/* haul plan SCENARIO...: what a run would measure on this machine or a saved one. */
#include "engine/base/order.h"
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "runner/analysis/power.h"
#include "runner/cli/input_plans.h"
#include "runner/cli/options.h"
#include "runner/document/document.h"
#include "runner/render/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct power_options {
  double detect; /* 0.01 = 1 %; 0 = not asked */
  const char *against;
};

static const struct verb_option VERB_PLAN_OPTIONS[] = {
    INPUT_OPTION_ONLY,
    INPUT_OPTION_TEST,
    INPUT_OPTION_SET,
    INPUT_OPTION_PROCESSES,
    INPUT_OPTION_PAUSE,
    {"machine", "FILE", "plan for the machine saved in FILE (by haul env --save FILE)",
     OPTION_TEXT(struct command, machine)},
    {"detect", "PERCENT",
     "instead of the plan: how many runs find a change of that size in 80 % of the cases, and how "
     "long they take",
     OPTION_PERCENT(struct power_options, detect)},
    {"compare", "A", "with --detect: take the spread of the cases from these runs: tag:before",
     OPTION_TEXT(struct power_options, against)},
    {0},
};

/* ---- --detect: how many runs find a change, and how long they take ---- */

/* What is known before anything is measured. */
struct power_request {
  struct power_spreads spreads; /* recorded; none = shipped ones */
  struct power_case *cases;     /* of the plan */
  size_t count, recorded;       /* recorded: of the cases */
  size_t runs_of_a;
  struct results_duration *durations; /* recorded, by case_key */
  size_t duration_count;
  double process_ns; /* of a process of the plan */
  double delta;      /* that the diff must be given; 0 = none */
  size_t near; /* cases whose own one is too close to the change: from near_least to near_most */
  double near_least, near_most;
};

/* One way to do it. */
struct power_way {
  unsigned processes, runs; /* runs 0 = not even DIFF_PROCESSES_MAX */
  double found;
  uint64_t duration_ns; /* of B */
};

enum { PROCESSES_TRIED = 4 };
static const unsigned PROCESSES_OF_RUNS[PROCESSES_TRIED] = {1, 2, 3, 5};

/* Where A has few runs, earlier ones of its machine, under the same driver, say how runs differ. */
static enum status power_read(struct command *command, struct power_request *request,
                              struct error *err) {
  const struct power_options *options = command->options;
  struct results *results = command->results = results_new();
  const char *const names[] = {options->against};
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(filter_runs(&command->request.filter, command->database, results, names, 1, err));
  request->runs_of_a = results->run_count;
  const size_t last = results->run_count - 1;
  if (request->runs_of_a < DIFF_PROCESSES_USUAL) {
    RETURN_ON_ERROR(results_add_earlier_runs(results, command->database, results, last,
                                             results->runs[last].started_at_ns, err));
    results_keep_runs(results, results_run_has_driver,
                      results->environments[results->runs[last].environment].driver_version);
  }
  RETURN_ON_ERROR(results_load(results, command->database, NULL, err));
  RETURN_ON_ERROR(results_read_durations(results, command->database, &command->arena,
                                         &request->durations, &request->duration_count, err));
  return power_learn(results, &request->spreads, err);
}

static int power_compare_durations(const void *a, const void *b) {
  return strcmp((const char *)a, ((const struct results_duration *)b)->case_key);
}

/* NULL = no run of A has it. */
static const struct results_duration *power_duration(const struct power_request *request,
                                                     const char *case_key) {
  return request->duration_count == 0
             ? NULL
             : bsearch(case_key, request->durations, request->duration_count,
                       sizeof *request->durations, power_compare_durations);
}

/* As recorded. What was not is as estimated: a case, or all if none of the cases was. */
static double power_process_ns(const struct power_request *request, const struct plan *plan) {
  const struct results_duration *rest = power_duration(request, "");
  double cases_ns = 0;
  bool any = false;
  for (size_t i = 0; i < plan->case_count; i++) {
    const struct results_duration *known = power_duration(request, plan->cases[i].def.key);
    cases_ns += known != NULL ? known->ns : (double)plan->cases[i].estimate_ns;
    any = any || known != NULL;
  }
  return any && rest != NULL ? rest->ns + cases_ns : (double)plan->estimate_ns;
}

static int power_compare_keys(const void *a, const void *b) {
  return strcmp((const char *)a, ((const struct power_case *)b)->key);
}

static void power_take_plan(struct command *command, const struct plan *plan,
                            struct power_request *request) {
  request->cases = arena_array(&command->arena, plan->case_count, sizeof *request->cases);
  for (size_t i = 0; i < plan->case_count; i++) {
    const struct case_def *def = &plan->cases[i].def;
    if (plan->cases[i].skip_reason != NULL) {
      continue;
    }
    const struct power_case *known =
        request->spreads.count == 0
            ? NULL
            : bsearch(def->key, request->spreads.cases, request->spreads.count, sizeof *known,
                      power_compare_keys);
    const bool rate = def->payload_bytes > 0;
    struct power_case *taken = &request->cases[request->count++];
    *taken = known != NULL
                 ? *known
                 : power_usual(def->key, rate ? FIGURE_RATE : FIGURE_TIME, def->payload_bytes,
                               diff_usual_margin(rate ? def->payload_bytes : 0));
    taken->delta = def->measure.delta > 0 ? def->measure.delta : taken->delta;
    request->recorded += known != NULL;
  }
  request->process_ns = power_process_ns(request, plan);
}

/* A change of just what matters is never shown to exceed it: what matters must be smaller then, and
 * a diff has one --delta. */
static void power_set_delta(const struct command *command, struct power_request *request) {
  const struct power_options *options = command->options;
  double least = 1;
  for (size_t i = 0; i < request->count; i++) {
    const double usual = request->cases[i].delta;
    const double own = power_delta(&request->cases[i], options->detect);
    if (own < usual) {
      request->near_least = request->near > 0 ? fmin(request->near_least, usual) : usual;
      request->near_most = fmax(request->near_most, usual);
      request->near++;
    }
    least = fmin(least, own);
  }
  for (size_t i = 0; i < request->count && request->near > 0; i++) {
    request->cases[i].delta = least;
  }
  request->delta = request->near > 0 ? least : 0;
}

ORDER_DEFINE(power_compare_ways, struct power_way,
             ORDER(x->runs == 0, y->runs == 0) ?: ORDER(x->duration_ns, y->duration_ns))

static void power_find_ways(const struct command *command, const struct plan *plan,
                            const struct power_request *request, struct power_way *ways) {
  const struct power_options *options = command->options;
  const unsigned of_a = (unsigned)request->runs_of_a;
  const uint64_t pause_ns = plan->scenario != NULL ? plan->scenario->run.pause_ns : 0;
  for (size_t i = 0; i < PROCESSES_TRIED; i++) {
    struct power_way *way = &ways[i];
    *way = (struct power_way){.processes = PROCESSES_OF_RUNS[i]};
    way->runs = power_runs(request->cases, request->count, options->detect, of_a, way->processes);
    const unsigned runs = way->runs > 0 ? way->runs : DIFF_PROCESSES_MAX;
    way->found = power_share(request->cases, request->count, options->detect,
                             of_a > runs ? of_a : runs, runs, way->processes);
    way->duration_ns =
        runs * ((uint64_t)(way->processes * request->process_ns) + (way->processes - 1) * pause_ns);
  }
  ORDER_SORT(ways, PROCESSES_TRIED, power_compare_ways);
}

static void power_say_delta(struct document *document, const struct power_request *request,
                            double detect) {
  struct arena *arena = &document->arena;
  const double least = 100 * request->near_least;
  const double most = 100 * request->near_most;
  document_put(
      document,
      "This needs a threshold of %g %%: haul diff --delta %g. Without it, the threshold %sis %g%s "
      "%%, too close to %g %%.",
      100 * request->delta, 100 * request->delta,
      request->near < request->count
          ? arena_format(arena, "of %zu of the %zu cases ", request->near, request->count)
          : "",
      least, most > least ? arena_format(arena, " to %g", most) : "", 100 * detect);
}

/* Never rounded up to all cases. */
static double power_percent(const struct power_way *way) {
  return floor(1000 * way->found) / 10;
}

/* The answer, before the table of all ways. */
static void power_say(struct document *document, const struct power_options *options,
                      const struct power_request *request, const struct power_way *best) {
  if (best->runs > 0) {
    document_put(
        document,
        "With %u %s of %u %s per side, %g %% of the %zu cases would show a change of %g %%. This "
        "takes about %s per side.",
        best->runs, strings_plural(best->runs, "run", "runs"), best->processes,
        strings_plural(best->processes, "process", "processes"), power_percent(best),
        request->count, 100 * options->detect,
        units_format_duration_short(best->duration_ns, UNITS_TEXT));
  } else {
    document_put(
        document,
        "%d runs per side are not enough to show a change of %g %% in 80 %% of the %zu cases.",
        DIFF_PROCESSES_MAX, 100 * options->detect, request->count);
  }
  if (request->delta > 0) {
    power_say_delta(document, request, options->detect);
  }
  if (request->recorded == 0) {
    document_put(document, "This assumes a quiet machine, as no run of these cases is recorded "
                           "(--compare A).");
  } else {
    document_put(
        document, "This is based on how %zu of %zu cases varied %s %zu recorded %s%s.",
        request->recorded, request->count, request->spreads.runs > 1 ? "over up to" : "within",
        request->spreads.runs, strings_plural(request->spreads.runs, "run", "runs"),
        request->spreads.between_known ? ""
                                       : "; runs are taken to differ as much as its processes do");
  }
  if (request->runs_of_a > 0 && best->runs > request->runs_of_a) {
    document_put(document, "A has %zu %s: measure %zu more, in turn with B.", request->runs_of_a,
                 strings_plural(request->runs_of_a, "run", "runs"),
                 best->runs - request->runs_of_a);
  }
  document_gap(document);
}

#define POWER_COLUMNS(X)                                                                           \
  X("processes", integer, way->processes)                                                          \
  X("runs", integer, way->runs > 0 ? way->runs : DIFF_PROCESSES_MAX)                               \
  X("found_percent", real, power_percent(way))                                                     \
  X("duration_s", real, round((double)way->duration_ns / 1e8) / 10)

static enum status power_print(struct command *command, const struct power_request *request,
                               const struct power_way *ways, struct error *err) {
  const struct table_options rows = table_to_stdout(&command->common);
  struct document document;
  document_begin(&document, &rows, err);
  if (output_layout_of(command->common.format) == LAYOUT_PAGE) {
    power_say(&document, command->options, request, &ways[0]);
  }
  DOCUMENT_COLUMNS(&document, POWER_COLUMNS, .wraps = true);
  for (const struct power_way *way = ways; way < ways + PROCESSES_TRIED; way++) {
    DOCUMENT_ROW(&document, POWER_COLUMNS(COLUMN_CELL));
  }
  document_table_end(&document);
  return document_end(&document);
}

/* Prints a row per number of processes, cheapest first. */
static enum status plan_power_show(struct command *command, struct error *err) {
  const struct power_options *options = command->options;
  struct power_request request = {0};
  struct power_way ways[PROCESSES_TRIED];
  struct plan *plan = NULL;
  enum status status = input_plan_new(command, 0, &plan, err);
  if (status == STATUS_OK && options->against != NULL) {
    status = power_read(command, &request, err);
  }
  if (status == STATUS_OK) {
    power_take_plan(command, plan, &request);
    status = request.count > 0 ? STATUS_OK
                               : error_set(err, STATUS_UNSUPPORTED,
                                           "every case is skipped: there is nothing to compare");
  }
  if (status == STATUS_OK) {
    power_set_delta(command, &request);
    power_find_ways(command, plan, &request, ways);
    status = power_print(command, &request, ways, err);
  }
  arena_fini(&request.spreads.arena);
  plan_free(plan);
  return status;
}

/* ---- the verb ---- */

static void verb_plan_check(struct command *command, struct argp_state *state) {
  const struct power_options *options = command->options;
  OPTIONS_REFUSE(options->against != NULL && !(options->detect > 0), state,
                 "--compare needs --detect PERCENT");
  OPTIONS_REFUSE(options->detect > 0 && command->word_count > 1, state,
                 "--detect takes one scenario");
}

static enum status verb_plan_run(struct command *command, struct error *err) {
  const struct power_options *options = command->options;
  if (!command_read_scenarios(command)) {
    return STATUS_OK;
  }
  RETURN_ON_ERROR(command_get_machine(command, err));
  if (options->detect > 0 && command->inputs.count > 1) {
    return error_set(err, STATUS_INVALID, "--detect takes one scenario, not %zu",
                     command->inputs.count);
  }
  return options->detect > 0 ? plan_power_show(command, err) : input_plans_show(command, err);
}

const struct verb VERB_PLAN = {
    .name = "plan",
    .group = VERBS_MEASURE,
    .arguments = "SCENARIO...",
    .summary = "show what a run would measure, what it would skip, and why",
    .doc =
        "SCENARIO is a file, - for standard input, a folder of *.toml files (with its "
        "sub-folders), or the name of a shipped scenario. More than 24 cases are shown as one "
        "row per block; -v shows every case, the settings and loads of each block, and the "
        "checks. The exit code is 3 if every case is skipped or a check would abort the run. With "
        "several scenarios, the "
        "last line names those that have nothing to measure here.\n\n"
        "--detect 1% says how many runs per side find a change of 1 % in 80 % of the cases. The "
        "table has a row per number of processes per run, the shortest time first; found_percent "
        "is the share of the cases that would show the change. The spread of the cases is "
        "that of the runs A of --compare. If these are few, earlier runs of the machine under "
        "the same driver count as well. Without --compare, haul assumes a quiet machine.",
    .options = VERB_PLAN_OPTIONS,
    .options_size = sizeof(struct power_options),
    .argument_kind = ARGUMENTS_SCENARIOS,
    .word_max = SIZE_MAX,
    .missing = INPUT_MISSING,
    .json = plan_describe_json,
    .check = verb_plan_check,
    .run = verb_plan_run,
};
