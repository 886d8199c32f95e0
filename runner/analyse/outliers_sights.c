/* outliers_sights.c - what each set of results that are alike says of the parts they are about. */
#include "runner/analyse/outliers_state.h"

#include "runner/analyse/samples.h"
#include "runner/analyse/stand_out.h"

#include <math.h>
#include <stdlib.h>

void outliers_add_sight(struct finder *f, const struct sight *sight) {
  f->sights =
      arena_grow(&f->arena, f->sights, f->sight_count, &f->sight_capacity, sizeof *f->sights);
  f->sights[f->sight_count++] = *sight;
}

static struct sight sight_of(const struct finder *f, const struct result *result) {
  return (struct sight){.part = {.host = result->host,
                                 .block = f->measured->cases[result->bench].block,
                                 .memory = result->memory,
                                 .memory_back = result->memory_back,
                                 .sizes = result->sizes},
                        .value = result->off,
                        .noise = result->noise,
                        .margin = result->margin,
                        .cases = 1,
                        .slow_cases = result_is_slow(result),
                        .environment = result->environment,
                        .worst = result->bench,
                        .worst_off = result->off,
                        .other = SIZE_MAX};
}

/* What a GPU is in the flows of a case: ROLE_NONE = some do without it. */
static enum outlier_role role_in(const struct measured_case *bench, int gpu) {
  bool source = true;
  bool target = true;
  bool any = true;
  for (size_t i = 0; i < bench->flow_count; i++) {
    const struct measured_flow *flow = &bench->flows[i];
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
  return !any ? ROLE_NONE : source ? ROLE_SOURCE : target ? ROLE_TARGET : ROLE_BOTH;
}

/* The host, the GPUs that all flows touch, and the link where all flows use one. */
static void add_parts(struct finder *f, const struct result *result) {
  const struct measured_case *bench = &f->measured->cases[result->bench];
  struct sight sight = sight_of(f, result);
  sight.part.entity = ENTITY_HOST;
  outliers_add_sight(f, &sight);
  sight.part.entity = ENTITY_GPU;
  for (int gpu = 0; gpu < OUTLIERS_GPUS_MAX; gpu++) {
    if ((bench->gpus >> gpu & 1) == 0) {
      continue;
    }
    sight.part.role = role_in(bench, gpu);
    sight.part.way = (struct way){.from_gpu = true, .from = gpu};
    if (sight.part.role != ROLE_NONE) {
      outliers_add_sight(f, &sight);
    }
  }
  const struct way *way = &result->way;
  if (way->known && !(way->from_gpu && way->to_gpu && way->from == way->to)) {
    sight.part.entity = ENTITY_LINK;
    sight.part.role = ROLE_NONE;
    sight.part.way = *way;
    outliers_add_sight(f, &sight);
  }
}

/* Two that are each other's only like. */
static void look_at_two(struct finder *f, struct result *two) {
  for (size_t i = 0; i < 2; i++) {
    const struct result *other = &two[1 - i];
    const struct way *way = &two[i].way;
    struct sight sight = sight_of(f, &two[i]);
    sight.part.of_two = true;
    sight.value = sight.worst_off = two[i].rate - other->rate;
    sight.noise = hypot(two[i].noise, other->noise);
    sight.other = other->bench;
    if (!way->known) {
      continue;
    }
    const bool local = way->from_gpu && way->to_gpu && way->from == way->to;
    sight.part.entity = local ? ENTITY_GPU : ENTITY_LINK;
    sight.part.role = local ? ROLE_LOCAL : ROLE_NONE;
    sight.part.way = local ? (struct way){.from_gpu = true, .from = way->from} : *way;
    outliers_add_sight(f, &sight);
  }
}

static size_t host_end(const struct result *results, size_t first, size_t count) {
  size_t last = first + 1;
  while (last < count && results[last].host == results[first].host) {
    last++;
  }
  return last;
}

/* The level of a host's table. */
struct host_level {
  size_t first, last; /* of the results */
  double level;
};

/* Hosts by their tables: what is off is so against the middle of the hosts, where they are many. */
static void look_at_levels(struct finder *f, struct result *results,
                           const struct host_level *levels, size_t count, double *scratch) {
  if (count < STAND_OUT_MIN) {
    return;
  }
  for (size_t h = 0; h < count; h++) {
    scratch[h] = levels[h].level;
  }
  const double middle = samples_median_in_place(scratch, count);
  for (size_t h = 0; h < count; h++) {
    size_t slow_cases = 0;
    for (size_t i = levels[h].first; i < levels[h].last; i++) {
      results[i].off = results[i].rate - middle;
      slow_cases += result_is_slow(&results[i]);
    }
    struct sight sight = sight_of(f, &results[levels[h].first]);
    sight.slow_cases = slow_cases;
    sight.part.entity = ENTITY_HOST;
    sight.value = sight.worst_off = levels[h].level - middle;
    sight.cases = levels[h].last - levels[h].first;
    outliers_add_sight(f, &sight);
  }
}

/* Three or more that are alike. */
static void look_at_many(struct finder *f, struct result *results, size_t count) {
  double *scratch = outliers_array(count, sizeof *scratch);
  struct host_level *levels = outliers_array(count, sizeof *levels);
  size_t level_count = 0;
  for (size_t i = 0; i < count; i++) {
    scratch[i] = results[i].rate;
  }
  const double middle = samples_median_in_place(scratch, count);
  for (size_t first = 0; first < count;) {
    const size_t last = host_end(results, first, count);
    double level = 0;
    if (outliers_look_at_table(f, results + first, last - first, &level)) {
      levels[level_count++] = (struct host_level){first, last, level};
    } else {
      f->outliers->small_tables += way_between_gpus(&results[first].way) && last - first == count;
      for (size_t i = first; i < last; i++) {
        results[i].off = results[i].rate - middle;
        add_parts(f, &results[i]);
      }
    }
    first = last;
  }
  look_at_levels(f, results, levels, level_count, scratch);
  f->outliers->cases += count;
  free(levels);
  free(scratch);
}

void outliers_look(struct finder *f) {
  for (size_t first = 0; first < f->result_count;) {
    size_t last = first + 1;
    while (last < f->result_count && f->results[last].likeness == f->results[first].likeness) {
      last++;
    }
    if (last - first >= STAND_OUT_MIN) {
      look_at_many(f, f->results + first, last - first);
    } else {
      f->outliers->alone += last - first;
      if (last - first == 2) {
        look_at_two(f, f->results + first);
      }
    }
    first = last;
  }
}
