/* outliers_table.c - the paths between the GPUs of one host: a GPU's own effect apart from that of
 * a link. */
#include "runner/analyse/outliers_state.h"

#include "runner/analyse/polish.h"
#include "runner/analyse/samples.h"

#include <math.h>
#include <stdlib.h>

/* A table while it is looked at: effects below `second` are sources, or GPUs where a path is both
 * directions at once. */
struct table {
  struct result *results;
  struct polish_cell *cells;
  size_t count, effect_count, second;
  int gpus[2 * OUTLIERS_GPUS_MAX]; /* by effect */
  double effects[2 * OUTLIERS_GPUS_MAX];
  double level;
  double noise; /* of a cell, from its processes; 0 = not known */
};

static size_t effect_of(struct table *table, int gpu, size_t first) {
  for (size_t e = first; e < table->effect_count; e++) {
    if (table->gpus[e] == gpu) {
      return e;
    }
  }
  table->gpus[table->effect_count] = gpu;
  return table->effect_count++;
}

/* False: not a table of paths between GPUs, or one that a single cell could pull. */
static bool set_cells(struct table *table) {
  const bool symmetric = table->results[0].way.both;
  for (size_t i = 0; i < table->count; i++) {
    const struct way *way = &table->results[i].way;
    if (!way_between_gpus(way) || way->both != symmetric || way->from < 0 ||
        way->from >= OUTLIERS_GPUS_MAX || way->to < 0 || way->to >= OUTLIERS_GPUS_MAX) {
      return false;
    }
    table->cells[i].value = table->results[i].rate;
    table->cells[i].a = effect_of(table, way->from, 0);
    if (symmetric) {
      table->cells[i].b = effect_of(table, way->to, 0);
    }
  }
  table->second = table->effect_count;
  for (size_t i = 0; i < table->count && !symmetric; i++) {
    table->cells[i].b = effect_of(table, table->results[i].way.to, table->second);
  }
  return polish_is_safe(table->cells, table->count, table->effect_count);
}

/* From the processes. */
static double noise_of(const struct table *table) {
  double *scratch = outliers_array(table->count, sizeof *scratch);
  for (size_t i = 0; i < table->count; i++) {
    scratch[i] = table->results[i].noise;
  }
  const double noise = samples_median_in_place(scratch, table->count);
  free(scratch);
  return noise;
}

static struct sight sight_of(const struct table *table, size_t i) {
  const struct result *result = &table->results[i];
  return (struct sight){.part = {.host = result->host,
                                 .memory = result->memory,
                                 .memory_back = result->memory_back,
                                 .sizes = result->sizes,
                                 .fitted = true},
                        .margin = result->margin,
                        .environment = result->environment,
                        .worst = result->bench,
                        .worst_off = INFINITY,
                        .other = SIZE_MAX};
}

static void add_cell_to(struct sight *sight, const struct result *result) {
  sight->cases++;
  sight->slow_cases += result_is_slow(result);
  sight->margin = fmax(sight->margin, result->margin);
  if (result->off < sight->worst_off) {
    sight->worst_off = result->off;
    sight->worst = result->bench;
    sight->environment = result->environment;
  }
}

static void add_gpu(struct finder *f, const struct table *table, size_t e) {
  struct sight sight = sight_of(table, 0);
  sight.part.block = f->measured->cases[table->results[0].bench].block;
  sight.part.entity = ENTITY_GPU;
  sight.part.role = table->second == table->effect_count ? ROLE_BOTH
                    : e < table->second                  ? ROLE_SOURCE
                                                         : ROLE_TARGET;
  sight.part.way = (struct way){.from_gpu = true, .from = table->gpus[e]};
  sight.value = table->effects[e];
  for (size_t i = 0; i < table->count; i++) {
    if (table->cells[i].a == e || table->cells[i].b == e) {
      add_cell_to(&sight, &table->results[i]);
    }
  }
  sight.noise = 1.2533 * table->noise / sqrt((double)sight.cases);
  outliers_add_sight(f, &sight);
}

static void add_link(struct finder *f, const struct table *table, size_t i, size_t parameters) {
  struct sight sight = sight_of(table, i);
  sight.part.block = f->measured->cases[table->results[i].bench].block;
  sight.part.entity = ENTITY_LINK;
  sight.part.way = table->results[i].way;
  sight.value = table->cells[i].residual;
  sight.noise = table->noise;
  sight.fitted_share = (double)parameters / (double)table->count;
  add_cell_to(&sight, &table->results[i]);
  outliers_add_sight(f, &sight);
}

bool outliers_look_at_table(struct finder *f, struct result *results, size_t count, double *level) {
  struct table table = {.results = results, .count = count};
  table.cells = outliers_array(count, sizeof *table.cells);
  const bool safe = set_cells(&table);
  if (safe) {
    polish_fit(table.cells, count, table.effect_count, table.second, table.effects, &table.level);
    const size_t parameters = polish_parameters(table.effect_count, table.second);
    table.noise = noise_of(&table);
    for (size_t i = 0; i < count; i++) {
      results[i].off = results[i].rate - table.level;
    }
    for (size_t e = 0; e < table.effect_count; e++) {
      add_gpu(f, &table, e);
    }
    for (size_t i = 0; i < count; i++) {
      add_link(f, &table, i, parameters);
    }
    *level = table.level;
  }
  free(table.cells);
  return safe;
}
