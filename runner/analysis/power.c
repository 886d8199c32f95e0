#include "runner/analysis/power.h"

#include "engine/base/order.h"
#include "runner/analysis/diff_internal.h"
#include "runner/statistics/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ORDER_DEFINE(power_compare_cases, struct power_case, strcmp(x->key, y->key))

/* Observations of a case: runs, or processes where there is one run. */
static struct process_sample power_units(const struct process_sample *side, bool by_run,
                                         struct arena *arena) {
  if (!by_run) {
    return *side;
  }
  double *values = arena_array(arena, side->count, sizeof *values);
  uint32_t *numbers = arena_array(arena, side->count, sizeof *numbers);
  return process_sample_by_run(side, values, numbers);
}

static void power_take(const struct diff_case *c, const struct diff_prior *prior,
                       const struct sample *sample, bool by_run, struct power_case *taken) {
  const struct within_runs within = process_sample_within_runs(&c->a);
  const double df = (double)sample->count - 1;
  const double variance = prior->known
                              ? variance_shrinkage_apply(&prior->both, sample->variance, df)
                              : sample->variance;
  taken->within = by_run ? within.variance : variance;
  taken->between = by_run ? fmax(variance - within.variance * within.per_run, 0) : variance;
  taken->prior_df =
      prior->known && isfinite(prior->both.df) ? fmin(prior->both.df, prior->both.pooled_df) : 0;
}

static void power_take_all(const struct comparison *comparison, struct power_spreads *spreads) {
  struct arena *arena = &spreads->arena;
  const size_t count = comparison->input_count;
  struct prior_case *learning = arena_array(arena, count, sizeof *learning);
  struct diff_prior *priors = arena_array(arena, count, sizeof *priors);
  for (size_t i = 0; i < count; i++) {
    const struct diff_case *c = &comparison->inputs[i];
    const size_t runs = process_sample_count_runs(&c->a);
    spreads->runs = runs > spreads->runs ? runs : spreads->runs;
  }
  spreads->between_known = spreads->runs > 1;
  for (size_t i = 0; i < count; i++) {
    const struct diff_case *c = &comparison->inputs[i];
    const struct process_sample units = power_units(&c->a, spreads->between_known, arena);
    struct sample sample = sample_summary(units.values, units.count);
    sample.variance = fmax(sample.variance, DIFF_SPREAD_MIN * DIFF_SPREAD_MIN);
    learning[i] = (struct prior_case){.families = units.count > 1 ? c->families : NULL,
                                      .unit = DIFF_UNIT_RUN,
                                      .a = units,
                                      .a_sample = sample};
  }
  diff_learn_priors(learning, count, priors, arena);
  spreads->cases = arena_array(arena, count, sizeof *spreads->cases);
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const size_t at = row->input;
    if (learning[at].families != NULL) {
      struct power_case *taken = &spreads->cases[spreads->count++];
      *taken = (struct power_case){.key = comparison->results->cases[row->bench].key,
                                   .delta = row->delta};
      power_take(&comparison->inputs[at], &priors[at], &learning[at].a_sample,
                 spreads->between_known, taken);
    }
  }
  ORDER_SORT(spreads->cases, spreads->count, power_compare_cases);
}

enum status power_learn(const struct results *results, struct power_spreads *spreads,
                        struct error *err) {
  struct comparison *comparison = NULL;
  const struct compare_options options = {
      .diff = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05}, .one_side = true};
  *spreads = (struct power_spreads){0};
  enum side *sides = arena_array(&spreads->arena, results->run_count, sizeof *sides);
  RETURN_ON_ERROR(compare(results, sides, &options, &comparison, err)); /* all are SIDE_A, 0 */
  power_take_all(comparison, spreads);
  comparison_free(comparison);
  return STATUS_OK;
}

struct power_case power_usual(const char *key, enum figure figure, uint64_t size_bytes,
                              double delta) {
  const bool large = figure == FIGURE_RATE && size_bytes >= UINT64_C(1) << 20;
  const double sd = large ? ROBUST_SPREAD : 3 * ROBUST_SPREAD;
  return (struct power_case){
      .key = key, .between = sd * sd, .within = sd * sd, .prior_df = ROBUST_DF, .delta = delta};
}

double power_delta(const struct power_case *c, double change) {
  return fmin(c->delta, change / 2);
}

double power_share(const struct power_case *cases, size_t count, double change, unsigned runs_a,
                   unsigned runs_b, unsigned processes) {
  const struct effect_levels levels = {0.05 / (double)(count > 0 ? count : 1), EQUIVALENCE_LEVEL};
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    const double sd = sqrt(cases[i].between + cases[i].within / processes);
    const double error = fmax(sd, DIFF_SPREAD_MIN) * sqrt(1.0 / runs_a + 1.0 / runs_b);
    const struct effect_criteria criteria =
        effect_criteria_find((double)runs_a + runs_b - 2 + cases[i].prior_df, &levels);
    const struct effect_seen seen = {log1p(change), error, error};
    sum += effect_power(&criteria, log1p(change), &seen, log1p(power_delta(&cases[i], change)));
  }
  return count > 0 ? sum / (double)count : 0;
}

unsigned power_runs(const struct power_case *cases, size_t count, double change, unsigned runs_a,
                    unsigned processes) {
  for (unsigned runs = DIFF_PROCESSES_FIRM; runs <= DIFF_PROCESSES_MAX; runs++) {
    const unsigned of_a = runs_a > runs ? runs_a : runs;
    if (power_share(cases, count, change, of_a, runs, processes) >= POWER_WANTED) {
      return runs;
    }
  }
  return 0;
}

/* ---- a request ---- */

enum status power_read(struct power_request *request, struct database *database,
                       struct filter *filter, const char *a, struct results *results,
                       struct error *err) {
  RETURN_ON_ERROR(filter_runs(filter, database, results, &a, 1, err));
  request->has_a = true;
  RETURN_ON_ERROR(results_read_durations(results, database, &request->arena, &request->durations,
                                         &request->duration_count, err));
  const size_t last = results->run_count - 1;
  if (results->run_count < DIFF_PROCESSES_USUAL) {
    RETURN_ON_ERROR(results_add_earlier_runs(results, database, results, last,
                                             results->runs[last].started_at_ns, err));
    results_keep_runs(results, results_run_has_driver,
                      results->environments[results->runs[last].environment].driver_version);
  }
  RETURN_ON_ERROR(results_load(results, database, NULL, err));
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

static int power_compare_keys(const void *a, const void *b) {
  return strcmp((const char *)a, ((const struct power_case *)b)->key);
}

void power_add_case(struct power_request *request, const char *key, uint64_t payload_bytes,
                    double delta, uint64_t estimate_ns) {
  const struct power_case *known =
      request->spreads.count == 0 ? NULL
                                  : bsearch(key, request->spreads.cases, request->spreads.count,
                                            sizeof *known, power_compare_keys);
  const struct results_duration *duration = power_duration(request, key);
  struct power_case *added = ARENA_ADD(&request->arena, request->cases, request->count);
  *added = known != NULL ? *known
                         : power_usual(key, payload_bytes > 0 ? FIGURE_RATE : FIGURE_TIME,
                                       payload_bytes, diff_usual_margin(payload_bytes));
  added->delta = delta > 0 ? delta : added->delta;
  if (known != NULL) { /* recorded ones come first */
    const struct power_case moved = request->cases[request->recorded];
    request->cases[request->recorded++] = *added;
    *added = moved;
  }
  if (duration != NULL && duration->runs > request->runs_of_a) {
    request->runs_of_a = duration->runs;
  }
  request->cases_ns += duration != NULL ? duration->ns : (double)estimate_ns;
  request->timed = request->timed || duration != NULL;
}

/* A change of just what matters is never shown to exceed it: what matters must be smaller then, and
 * a diff has one --delta. */
static void power_set_delta(struct power_request *request) {
  double least = 1;
  for (size_t i = 0; i < request->count; i++) {
    const double usual = request->cases[i].delta;
    const double own = power_delta(&request->cases[i], request->change);
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

/* As recorded. What was not is as estimated: a case, or all if none of the cases was. */
static double power_process_ns(const struct power_request *request) {
  const struct results_duration *rest = power_duration(request, "");
  return request->timed && rest != NULL ? rest->ns + request->cases_ns
                                        : (double)request->estimate_ns;
}

ORDER_DEFINE(power_compare_ways, struct power_way,
             ORDER(x->runs == 0, y->runs == 0) ?: ORDER(x->duration_ns, y->duration_ns))

enum status power_find_ways(struct power_request *request, struct error *err) {
  static const unsigned PROCESSES[POWER_WAYS] = {1, 2, 3, 5};
  const unsigned of_a = (unsigned)request->runs_of_a;
  const double process_ns = power_process_ns(request);
  if (request->count == 0) {
    return error_set(err, STATUS_UNSUPPORTED, "every case is skipped: there is nothing to compare");
  }
  request->left_out = request->recorded > 0 ? request->count - request->recorded : 0;
  request->count -= request->left_out;
  power_set_delta(request);
  for (size_t i = 0; i < POWER_WAYS; i++) {
    struct power_way *way = &request->ways[i];
    *way = (struct power_way){.processes = PROCESSES[i]};
    way->runs = power_runs(request->cases, request->count, request->change, of_a, way->processes);
    const unsigned runs = way->runs > 0 ? way->runs : DIFF_PROCESSES_MAX;
    way->found = power_share(request->cases, request->count, request->change,
                             of_a > runs ? of_a : runs, runs, way->processes);
    way->duration_ns =
        runs * ((uint64_t)(way->processes * process_ns) + (way->processes - 1) * request->pause_ns);
  }
  ORDER_SORT(request->ways, POWER_WAYS, power_compare_ways);
  return STATUS_OK;
}

void power_request_fini(struct power_request *request) {
  arena_fini(&request->spreads.arena);
  arena_fini(&request->arena);
}
