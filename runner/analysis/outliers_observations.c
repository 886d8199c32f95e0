/* outliers_observations.c - what each peer group tells of the components of the machine. */
#include "runner/analysis/outliers_internal.h"

#include "engine/base/order.h"
#include "runner/statistics/robust.h"
#include "runner/statistics/sample.h"

#include <math.h>

static void observations_add(struct finder *f, const struct observation *observation) {
  *MEMORY_ADD(f->observations, f->observation_count) = *observation;
}

struct observation result_observation(const struct result *result) {
  return (struct observation){.component = {.host = result->host, .traits = result->traits},
                              .value = result->deviation,
                              .noise = result->noise,
                              .error = result->error,
                              .margin = result->traits->margin,
                              .cases = 1,
                              .slow_cases = result_is_slow(result),
                              .environment = result->environment,
                              .worst = result->bench,
                              .worst_deviation = result->deviation,
                              .other = SIZE_MAX};
}

/* ---- two-way tables: the effect of a GPU apart from that of a link ---- */

/* The two-way table of one host: effects below `second` are sources, or GPUs where a path is
 * bidirectional. */
struct place_table {
  struct result *results;
  struct median_polish_cell *cells;
  size_t count, effect_count, second;
  int gpus[2 * ANALYSIS_GPUS_MAX]; /* by effect */
  double effects[2 * ANALYSIS_GPUS_MAX];
  double level;
  double noise; /* of a cell, from its processes; 0 = not known */
  double error; /* the least that it is in the middle cell */
};

static size_t table_effect(struct place_table *table, int gpu, size_t first) {
  for (size_t e = first; e < table->effect_count; e++) {
    if (table->gpus[e] == gpu) {
      return e;
    }
  }
  table->gpus[table->effect_count] = gpu;
  return table->effect_count++;
}

/* False: the results are not all of paths between GPUs, or one cell could pull the fit. */
static bool table_set_cells(struct place_table *table) {
  const bool symmetric = table->results[0].traits->path.bidirectional;
  for (size_t i = 0; i < table->count; i++) {
    const struct path *path = &table->results[i].traits->path;
    if (!path_is_between_gpus(path) || path->bidirectional != symmetric || path->from < 0 ||
        path->from >= ANALYSIS_GPUS_MAX || path->to < 0 || path->to >= ANALYSIS_GPUS_MAX) {
      return false;
    }
    table->cells[i].value = table->results[i].rate;
    table->cells[i].a = table_effect(table, path->from, 0);
    if (symmetric) {
      table->cells[i].b = table_effect(table, path->to, 0);
    }
  }
  table->second = table->effect_count;
  for (size_t i = 0; i < table->count && !symmetric; i++) {
    table->cells[i].b = table_effect(table, table->results[i].traits->path.to, table->second);
  }
  return median_polish_is_safe(table->cells, table->count, table->effect_count);
}

static void table_set_noise(struct place_table *table) {
  SCOPED(memory_free) double *scratch = sample_values_new(table->count);
  for (size_t i = 0; i < table->count; i++) {
    scratch[i] = table->results[i].noise;
  }
  table->noise = sample_median_in_place(scratch, table->count);
  for (size_t i = 0; i < table->count; i++) {
    scratch[i] = table->results[i].error;
  }
  table->error = sample_median_in_place(scratch, table->count);
}

static struct observation table_observation(const struct result *result) {
  struct observation observation = result_observation(result);
  observation.component.fitted = true;
  observation.cases = observation.slow_cases = 0;
  observation.worst_deviation = INFINITY;
  return observation;
}

static void table_add_cell(struct observation *observation, const struct result *result) {
  observation->cases++;
  observation->slow_cases += result_is_slow(result);
  observation->margin = fmax(observation->margin, result->traits->margin);
  if (result->deviation < observation->worst_deviation) {
    observation->worst_deviation = result->deviation;
    observation->worst = result->bench;
    observation->environment = result->environment;
  }
}

static void table_add_gpu(struct finder *f, const struct place_table *table, size_t e) {
  struct observation observation = table_observation(table->results);
  observation.component.entity = ENTITY_GPU;
  observation.component.role = table->second == table->effect_count ? ROLE_BOTH
                               : e < table->second                  ? ROLE_SOURCE
                                                                    : ROLE_TARGET;
  observation.component.path = (struct path){.from_gpu = true, .from = table->gpus[e]};
  observation.value = table->effects[e];
  for (size_t i = 0; i < table->count; i++) {
    if (table->cells[i].a == e || table->cells[i].b == e) {
      table_add_cell(&observation, &table->results[i]);
    }
  }
  observation.fit_cells = observation.cases;
  observation.noise = 1.2533 * table->noise / sqrt((double)observation.cases);
  observation.error = 1.2533 * table->error / sqrt((double)observation.cases);
  observations_add(f, &observation);
}

static void table_add_link(struct finder *f, const struct place_table *table, size_t i,
                           size_t parameters) {
  struct observation observation = table_observation(&table->results[i]);
  observation.component.entity = ENTITY_LINK;
  observation.component.path = table->results[i].traits->path;
  observation.value = table->cells[i].residual;
  observation.noise = table->noise;
  observation.error = fmax(table->error, table->results[i].error);
  observation.fitted_share = (double)parameters / (double)table->count;
  table_add_cell(&observation, &table->results[i]);
  observations_add(f, &observation);
}

/* Fits the paths between the GPUs of one host; false = the table is too small. *level: the host's.
 */
static bool table_observe(struct finder *f, struct result *results, size_t count, double *level) {
  struct place_table table = {.results = results, .count = count};
  table.cells = arena_array(&f->arena, count, sizeof *table.cells);
  const bool safe = table_set_cells(&table);
  if (safe) {
    median_polish_fit(table.cells, count, table.effect_count, table.second, table.effects,
                      &table.level);
    const size_t parameters = median_polish_parameters(table.effect_count, table.second);
    table_set_noise(&table);
    for (size_t i = 0; i < count; i++) {
      results[i].deviation = results[i].rate - table.level;
    }
    for (size_t e = 0; e < table.effect_count; e++) {
      table_add_gpu(f, &table, e);
    }
    for (size_t i = 0; i < count; i++) {
      table_add_link(f, &table, i, parameters);
    }
    *level = table.level;
  }
  return safe;
}

/* ---- all else ---- */

/* Role of a GPU in the flows of a case; ROLE_NONE = some flows do not touch it. */
static enum outlier_role observations_role(const struct results_case *bench, int gpu) {
  bool source = true;
  bool target = true;
  bool any = true;
  for (size_t i = 0; i < bench->flow_count; i++) {
    const struct results_flow *flow = &bench->flows[i];
    if (flow->load) {
      continue;
    }
    const bool from = flow->source_is_gpu && flow->source == gpu;
    const bool to = flow->target_is_gpu && flow->target == gpu;
    source = source && from;
    target = target && to;
    any = any && (from || to);
  }
  if (source && target) {
    return ROLE_LOCAL;
  }
  if (result_is_chase(bench)) {
    const bool was_source = source;
    source = target;
    target = was_source;
  }
  return !any ? ROLE_NONE : source ? ROLE_SOURCE : target ? ROLE_TARGET : ROLE_BOTH;
}

/* The host, the GPUs that all flows touch, and the link where all flows use one. */
static void observations_add_components(struct finder *f, const struct result *result) {
  const struct results_case *bench = &f->results->cases[result->bench];
  struct observation observation = result_observation(result);
  observation.component.entity = ENTITY_HOST;
  observations_add(f, &observation);
  observation.component.entity = ENTITY_GPU;
  for (int gpu = 0; gpu < ANALYSIS_GPUS_MAX; gpu++) {
    if ((bench->gpus >> gpu & 1) == 0) {
      continue;
    }
    observation.component.role = observations_role(bench, gpu);
    observation.component.path = (struct path){.from_gpu = true, .from = gpu};
    if (observation.component.role != ROLE_NONE) {
      observations_add(f, &observation);
    }
  }
  const struct path *path = &result->traits->path;
  if (path->known && !path_is_local(path)) {
    observation.component.entity = ENTITY_LINK;
    observation.component.role = ROLE_NONE;
    observation.component.path = *path;
    observations_add(f, &observation);
  }
}

/* Two results that are each other's only peer. */
static void observations_of_two(struct finder *f, struct result *two) {
  for (size_t i = 0; i < 2; i++) {
    const struct result *other = &two[1 - i];
    const struct path *path = &two[i].traits->path;
    struct observation observation = result_observation(&two[i]);
    observation.component.of_two = true;
    observation.value = observation.worst_deviation = two[i].rate - other->rate;
    observation.noise = hypot(two[i].noise, other->noise);
    observation.error = hypot(two[i].error, other->error);
    observation.other = other->bench;
    if (!path->known) {
      continue;
    }
    const bool local = path_is_local(path);
    observation.component.entity = local ? ENTITY_GPU : ENTITY_LINK;
    observation.component.role = local ? ROLE_LOCAL : ROLE_NONE;
    observation.component.path =
        local ? (struct path){.from_gpu = true, .from = path->from} : *path;
    observations_add(f, &observation);
  }
}

/* The level of a host's table. */
struct host_level {
  size_t first, last; /* of the results */
  double level;
};

/* Compares the levels of the hosts' tables, where there are enough hosts. */
static void observations_of_hosts(struct finder *f, struct result *results,
                                  const struct host_level *levels, size_t count, double *scratch) {
  if (count < ROBUST_COUNT_MIN) {
    return;
  }
  for (size_t h = 0; h < count; h++) {
    scratch[h] = levels[h].level;
  }
  const double middle = outliers_usual(f, scratch, count);
  for (size_t h = 0; h < count; h++) {
    size_t slow_cases = 0;
    for (size_t i = levels[h].first; i < levels[h].last; i++) {
      results[i].deviation = results[i].rate - middle;
      slow_cases += result_is_slow(&results[i]);
    }
    struct observation observation = result_observation(&results[levels[h].first]);
    observation.slow_cases = slow_cases;
    observation.component.entity = ENTITY_HOST;
    observation.value = observation.worst_deviation = levels[h].level - middle;
    observation.cases = levels[h].last - levels[h].first;
    observations_add(f, &observation);
  }
}

/* A peer group of three or more. */
static void observations_of_many(struct finder *f, struct result *results, size_t count) {
  double *scratch = arena_array(&f->arena, count, sizeof *scratch);
  struct host_level *levels = arena_array(&f->arena, count, sizeof *levels);
  size_t level_count = 0;
  for (size_t i = 0; i < count; i++) {
    scratch[i] = results[i].rate;
  }
  const double middle = outliers_usual(f, scratch, count);
  FOR_EACH_GROUP(first, last, count, results[last].host == results[first].host) {
    double level = 0;
    if (table_observe(f, results + first, last - first, &level)) {
      levels[level_count++] = (struct host_level){first, last, level};
    } else {
      f->outliers->small_tables +=
          path_is_between_gpus(&results[first].traits->path) && last - first == count;
      for (size_t i = first; i < last; i++) {
        results[i].deviation = results[i].rate - middle;
        observations_add_components(f, &results[i]);
      }
    }
  }
  observations_of_hosts(f, results, levels, level_count, scratch);
  f->outliers->cases += count;
}

void outliers_observe(struct finder *f) {
  FOR_EACH_GROUP(first, last, f->host_result_count,
                 f->host_results[last].peer_group == f->host_results[first].peer_group) {
    if (last - first >= ROBUST_COUNT_MIN) {
      observations_of_many(f, f->host_results + first, last - first);
    } else {
      f->outliers->without_peers += last - first;
      if (last - first == 2) {
        observations_of_two(f, f->host_results + first);
      }
    }
  }
}
