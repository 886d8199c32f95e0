/* compare_facts.c - what differs between the environments of two sides. */
#include "runner/analysis/compare_internal.h"

#include "engine/base/order.h"
#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "engine/case/transfer.h"
#include "runner/record/selector.h"

#include <string.h>

enum { TEXT_MAX = 4096, GPU_ALL = -2, TIME_MAX = 32 };

/* One fact of one side. */
struct item {
  const char *name;
  int gpu;
  enum side side;
  const char *value; /* NULL = no answer */
};

static int facts_compare_values(const char *a, const char *b) {
  if (a == NULL || b == NULL) {
    return (a != NULL) - (b != NULL);
  }
  return strcmp(a, b);
}

ORDER_DEFINE(facts_compare_items, struct item, strcmp(x->name, y->name) ?: ORDER(x->gpu, y->gpu) ?: ORDER(x->side, y->side) ?: facts_compare_values(x->value, y->value))

/* Whether run i is the first of its side in its environment. */
static bool facts_is_first(const struct results *results, const enum side *sides, size_t i) {
  for (size_t j = 0; j < i; j++) {
    if (sides[j] == sides[i] && results->runs[j].environment == results->runs[i].environment) {
      return false;
    }
  }
  return sides[i] != SIDE_NONE;
}

static struct item *facts_collect(const struct results *results, const enum side *sides,
                                  struct arena *arena, size_t *count) {
  struct item *items = NULL;
  size_t capacity = 0;
  for (size_t i = 0; i < results->run_count; i++) {
    if (!facts_is_first(results, sides, i)) {
      continue;
    }
    const struct results_environment *environment =
        &results->environments[results->runs[i].environment];
    for (size_t f = 0; f < environment->fact_count; f++) {
      const struct results_fact *fact = &environment->facts[f];
      *ARENA_ADD(arena, items, *count, &capacity) =
          (struct item){fact->name, fact->gpu, sides[i], fact->value};
    }
  }
  for (size_t i = 0; i < results->run_count; i++) {
    if (sides[i] != SIDE_NONE) {
      *ARENA_ADD(arena, items, *count, &capacity) =
          (struct item){"haul_version", -1, sides[i], results->runs[i].haul_version};
    }
  }
  return items;
}

/* All distinct values of one fact on one side, ", " between. items[*i] is the first of them; *i is
 * moved behind the last. */
static const char *facts_join_values(struct arena *arena, const struct item *items, size_t count,
                                     enum side side, size_t *i) {
  const struct item *first = &items[*i];
  const char *last_value = NULL;
  bool any = false;
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(TEXT_MAX);
  for (; *i < count && items[*i].side == side && items[*i].gpu == first->gpu &&
         strcmp(items[*i].name, first->name) == 0;
       ++*i) {
    const char *value = items[*i].value;
    if (value != NULL && (last_value == NULL || strcmp(value, last_value) != 0)) {
      strbuf_printf(&text, "%s%s", any ? ", " : "", value);
      any = true;
    }
    last_value = value;
  }
  return any ? arena_strdup(arena, text.text) : NULL;
}

/* Makes one difference of GPUs that all changed in the same way. */
static size_t facts_merge_gpus(struct fact_difference *facts, size_t first, size_t count,
                               size_t gpus) {
  if (count - first < 2 || count - first < gpus) {
    return count;
  }
  for (size_t i = first + 1; i < count; i++) {
    for (size_t s = 0; s < SIDES; s++) {
      if (facts_compare_values(facts[i].values[s], facts[first].values[s]) != 0) {
        return count;
      }
    }
  }
  facts[first].gpu = GPU_ALL;
  return first + 1;
}

static void facts_find_differences(struct comparison *comparison, const struct item *items,
                                   size_t count) {
  struct fact_difference *facts = NULL;
  size_t fact_count = 0;
  size_t capacity = 0;
  size_t first = 0; /* difference of this name */
  size_t gpus = 0;  /* that have a fact of this name */
  for (size_t i = 0; i < count;) {
    const char *name = items[i].name;
    const int gpu = items[i].gpu;
    const char *values[SIDES] = {NULL, NULL};
    while (i < count && strcmp(items[i].name, name) == 0 && items[i].gpu == gpu) {
      const enum side side = items[i].side;
      values[side] = facts_join_values(&comparison->arena, items, count, side, &i);
    }
    gpus += gpu >= 0;
    if (facts_compare_values(values[SIDE_A], values[SIDE_B]) != 0 && strcmp(name, "boot_id") != 0) {
      *ARENA_ADD(&comparison->arena, facts, fact_count, &capacity) =
          (struct fact_difference){name, gpu, {values[SIDE_A], values[SIDE_B]}};
    }
    if (i == count || strcmp(items[i].name, name) != 0) {
      fact_count = facts_merge_gpus(facts, first, fact_count, gpus);
      first = fact_count;
      gpus = 0;
    }
  }
  comparison->facts = facts;
  comparison->fact_count = fact_count;
}

static bool facts_have_ptx(const struct item *items, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(items[i].name, "kernel_code") == 0 && items[i].value != NULL &&
        strncmp(items[i].value, "PTX", 3) == 0) {
      return true;
    }
  }
  return false;
}

/* Whether a kernel of ours does the work of some case, and no copy engine, processor or call of
 * the driver. */
static bool facts_have_kernels(const struct results *results) {
  for (size_t i = 0; i < results->case_count; i++) {
    const struct results_case *c = &results->cases[i];
    if (c->figure != FIGURE_CALL && !strings_equal(c->method, method_text(METHOD_CE)) &&
        !strings_equal(c->method, method_text(METHOD_CPU))) {
      return true;
    }
  }
  return false;
}

/* The values of one fact on one side; "none" without any. */
static const char *facts_values(struct arena *arena, const struct item *items, size_t count,
                                const char *name, enum side side) {
  for (size_t i = 0; i < count; i++) {
    if (items[i].side == side && items[i].gpu == -1 && strcmp(items[i].name, name) == 0) {
      const char *text = facts_join_values(arena, items, count, side, &i);
      return text != NULL ? text : "none";
    }
  }
  return "none";
}

/* Counts the distinct boots and GPUs of one side's runs. */
static void facts_count_machines(const struct results *results, const enum side *sides,
                                 enum side side, struct comparison_total *total) {
  SCOPED(arena_fini) struct arena arena = {0};
  const char **seen = NULL;
  size_t count = 0;
  size_t capacity = 0;
  for (size_t i = 0; i < results->run_count; i++) {
    if (sides[i] != side || !facts_is_first(results, sides, i)) {
      continue;
    }
    const struct results_environment *e = &results->environments[results->runs[i].environment];
    for (size_t g = 0; g < e->gpu_count + 1; g++) {
      const char *text = g == e->gpu_count ? e->boot_id : e->gpus[g].uuid;
      bool known = text == NULL;
      for (size_t k = 0; k < count && !known; k++) {
        known = strcmp(seen[k], text) == 0;
      }
      if (!known) {
        *ARENA_ADD(&arena, seen, count, &capacity) = text;
        *(g == e->gpu_count ? &total->boots : &total->gpus) += 1;
      }
    }
  }
}

/* Every different scenario of one side's runs once. */
static const char *facts_scenarios(struct arena *arena, const struct results *results,
                                   const enum side *sides, enum side side) {
  const char *text = NULL;
  for (size_t i = 0; i < results->run_count; i++) {
    bool named = sides[i] != side;
    for (size_t k = 0; k < i && !named; k++) {
      named = sides[k] == side && strcmp(results->runs[k].scenario, results->runs[i].scenario) == 0;
    }
    if (!named) {
      const char *name = results->runs[i].scenario;
      text = text == NULL ? name : arena_format(arena, "%s, %s", text, name);
    }
  }
  return text != NULL ? text : "none";
}

/* The numbers of one side's runs, and when they were started. */
static const char *facts_runs(struct arena *arena, const struct results *results,
                              const enum side *sides, enum side side) {
  int64_t *ids = arena_array(arena, results->run_count, sizeof *ids);
  size_t count = 0;
  int64_t first = INT64_MAX;
  int64_t last = INT64_MIN;
  for (size_t i = 0; i < results->run_count; i++) {
    const struct results_run *run = &results->runs[i];
    if (sides[i] == side) {
      ids[count++] = run->ref.id;
      first = run->started_at_ns < first ? run->started_at_ns : first;
      last = run->started_at_ns > last ? run->started_at_ns : last;
    }
  }
  if (count == 0) {
    return "none";
  }
  const char *from = UNITS_UTC(first, UNITS_UTC_MINUTES);
  const char *to = UNITS_UTC(last, UNITS_UTC_MINUTES);
  const size_t date = strlen("2026-11-22 ");
  const char *until =
      strcmp(from, to) == 0
          ? ""
          : arena_format(arena, " to %s", strncmp(from, to, date) == 0 ? to + date : to);
  return arena_format(arena, "%s of %s%s UTC", selector_numbers(arena, ids, count), from, until);
}

void compare_environments(const enum side *sides, struct comparison *comparison) {
  const struct results *results = comparison->results;
  SCOPED(arena_fini) struct arena arena = {0};
  size_t count = 0;
  struct item *items = facts_collect(results, sides, &arena, &count);
  ORDER_SORT(items, count, facts_compare_items);
  facts_find_differences(comparison, items, count);
  for (size_t s = 0; s < SIDES; s++) {
    struct comparison_total *total = &comparison->totals[s];
    total->hosts = facts_values(&comparison->arena, items, count, "host_name", (enum side)s);
    total->drivers = facts_values(&comparison->arena, items, count, "driver_version", (enum side)s);
    total->models = facts_values(&comparison->arena, items, count, "gpu_name", (enum side)s);
    total->which = facts_runs(&comparison->arena, results, sides, (enum side)s);
    total->scenarios = facts_scenarios(&comparison->arena, results, sides, (enum side)s);
    facts_count_machines(results, sides, (enum side)s, total);
  }
  comparison->driver_compiled =
      strcmp(comparison->totals[SIDE_A].drivers, comparison->totals[SIDE_B].drivers) != 0 &&
      facts_have_ptx(items, count) && facts_have_kernels(results);
}
