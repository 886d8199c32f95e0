/* compare_facts.c - what differs between the environments of two sides. */
#include "runner/analysis/compare_internal.h"

#include "engine/base/order.h"
#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "engine/case/transfer.h"
#include "runner/record/selector.h"

#include <string.h>

enum { TEXT_MAX = 4096, NAMES_MAX = 1 << 20, GPU_ALL = -2, NODE_CHANGES_MAX = 8 };

/* One fact of one side. */
struct item {
  const char *name;
  int gpu;
  enum side side;
  uint32_t node;     /* its first environment; UINT32_MAX = not on both sides */
  const char *value; /* NULL = no answer */
};

struct fact_finder {
  struct comparison *comparison;
  struct item *items;
  size_t count;
  size_t node_count; /* on both sides */
  struct fact_difference *facts;
  size_t fact_count;
};

/* What one fact changed from and to, and the nodes that did. */
struct fact_change {
  const char *values[SIDES];
  const char **nodes;
  size_t node_count;
};

static int facts_compare_values(const char *a, const char *b) {
  if (a == NULL || b == NULL) {
    return (a != NULL) - (b != NULL);
  }
  return strcmp(a, b);
}

ORDER_DEFINE(facts_compare_items, struct item, strcmp(x->name, y->name) ?: ORDER(x->gpu, y->gpu) ?: ORDER(x->side, y->side) ?: facts_compare_values(x->value, y->value))

ORDER_DEFINE(facts_compare_nodes, struct item, ORDER(x->node, y->node) ?: ORDER(x->side, y->side) ?: facts_compare_values(x->value, y->value))

/* Whether run i is the first of its side in its environment. */
static bool facts_is_first(const struct results *results, const enum side *sides, size_t i) {
  for (size_t j = 0; j < i; j++) {
    if (sides[j] == sides[i] && results->runs[j].environment == results->runs[i].environment) {
      return false;
    }
  }
  return sides[i] != SIDE_NONE;
}

/* By environment: the first of the node, of nodes that are on both sides, if these are several. */
static uint32_t *facts_find_nodes(const struct results *results, const enum side *sides,
                                  struct arena *arena, size_t *count) {
  uint32_t *nodes = analysis_equal_environments(results, false, arena);
  bool(*on)[SIDES] = arena_array(arena, results->environment_count, sizeof *on);
  for (size_t i = 0; i < results->run_count; i++) {
    const uint32_t node = nodes[results->runs[i].environment];
    if (sides[i] != SIDE_NONE && node != UINT32_MAX) {
      on[node][sides[i]] = true;
    }
  }
  *count = SUM_OF(e, results->environment_count, on[e][SIDE_A] && on[e][SIDE_B]);
  for (size_t e = 0; e < results->environment_count; e++) {
    const bool both = nodes[e] != UINT32_MAX && on[nodes[e]][SIDE_A] && on[nodes[e]][SIDE_B];
    nodes[e] = both && *count > 1 ? nodes[e] : UINT32_MAX;
  }
  return nodes;
}

static void facts_collect(struct fact_finder *finder, const enum side *sides, struct arena *arena) {
  const struct results *results = finder->comparison->results;
  const uint32_t *nodes = facts_find_nodes(results, sides, arena, &finder->node_count);
  for (size_t i = 0; i < results->run_count; i++) {
    if (sides[i] == SIDE_NONE) {
      continue;
    }
    const struct results_run *run = &results->runs[i];
    const struct results_environment *environment = &results->environments[run->environment];
    const size_t fact_count = facts_is_first(results, sides, i) ? environment->fact_count : 0;
    struct item item = {"haul_version", -1, sides[i], nodes[run->environment], run->haul_version};
    *ARENA_ADD(arena, finder->items, finder->count) = item;
    for (size_t f = 0; f < fact_count; f++) {
      const struct results_fact *fact = &environment->facts[f];
      item.name = fact->name;
      item.gpu = fact->gpu;
      item.value = fact->value;
      *ARENA_ADD(arena, finder->items, finder->count) = item;
    }
  }
  ORDER_SORT(finder->items, finder->count, facts_compare_items);
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

static void facts_add(struct fact_finder *finder, struct fact_difference fact) {
  *ARENA_ADD(&finder->comparison->arena, finder->facts, finder->fact_count) = fact;
}

/* Moves *i to the next answer that is not the one before. */
static bool facts_next_answer(const struct item *items, size_t count, size_t *i) {
  while (*i < count &&
         (items[*i].value == NULL ||
          (*i > 0 && facts_compare_values(items[*i].value, items[*i - 1].value) == 0))) {
    ++*i;
  }
  return *i < count;
}

static bool facts_are_same(const struct item *a, size_t a_count, const struct item *b,
                           size_t b_count) {
  size_t i = 0;
  size_t j = 0;
  while (facts_next_answer(a, a_count, &i) && facts_next_answer(b, b_count, &j)) {
    if (strcmp(a[i++].value, b[j++].value) != 0) {
      return false;
    }
  }
  return !facts_next_answer(a, a_count, &i) && !facts_next_answer(b, b_count, &j);
}

static const char *facts_join_nodes(struct arena *arena, const struct fact_change *change) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(NAMES_MAX);
  for (size_t i = 0; i < change->node_count; i++) {
    strbuf_printf(&text, "%s%s", i > 0 ? ", " : "", change->nodes[i]);
  }
  return arena_strdup(arena, text.text);
}

static bool facts_same_values(const char *const x[SIDES], const char *const y[SIDES]) {
  return ALL_OF(s, SIDES, facts_compare_values(x[s], y[s]) == 0);
}

/* What one fact changed from and to on the nodes, and on which: changes has NODE_CHANGES_MAX and
 * one that all further ones are in. */
static size_t facts_find_changes(struct fact_finder *finder, struct item *items, size_t count,
                                 struct arena *arena, struct fact_change *changes) {
  size_t change_count = 0;
  ORDER_SORT(items, count, facts_compare_nodes);
  for (size_t i = 0, b = 0, end = 0; i < count && items[i].node != UINT32_MAX; i = end) {
    for (b = i; b < count && items[b].node == items[i].node && items[b].side == SIDE_A; b++) {
    }
    for (end = b; end < count && items[end].node == items[i].node; end++) {
    }
    if (facts_are_same(&items[i], b - i, &items[b], end - b)) {
      continue;
    }
    size_t at = 0;
    const char *const values[SIDES] = {
        b > i ? facts_join_values(arena, items, b, SIDE_A, &(size_t){i}) : NULL,
        end > b ? facts_join_values(arena, items, end, SIDE_B, &(size_t){b}) : NULL};
    while (at < change_count && at < NODE_CHANGES_MAX &&
           !facts_same_values(changes[at].values, values)) {
      at++;
    }
    struct fact_change *change = &changes[at];
    if (at == change_count) {
      *change = (struct fact_change){.values = {values[SIDE_A], values[SIDE_B]}};
      change_count++;
    }
    *ARENA_ADD(arena, change->nodes, change->node_count) =
        finder->comparison->results->environments[items[i].node].node;
  }
  return change_count;
}

/* One fact, node by node; values: those of the sides. What all nodes changed alike needs no names,
 * and what is another change on each of many is one difference. */
static void facts_add_by_node(struct fact_finder *finder, struct item *items, size_t count,
                              struct fact_difference whole) {
  SCOPED(arena_fini) struct arena scratch = {0};
  struct arena *arena = &finder->comparison->arena;
  struct fact_change changes[NODE_CHANGES_MAX + 1];
  const size_t change_count = facts_find_changes(finder, items, count, &scratch, changes);
  struct fact_change all = {0};
  for (size_t i = 0; i < change_count; i++) {
    for (size_t n = 0; n < changes[i].node_count; n++) {
      *ARENA_ADD(&scratch, all.nodes, all.node_count) = changes[i].nodes[n];
    }
  }
  if (change_count == 0 || (change_count == 1 && all.node_count == finder->node_count &&
                            facts_same_values(changes[0].values, whole.values))) {
    if (facts_compare_values(whole.values[SIDE_A], whole.values[SIDE_B]) != 0) {
      facts_add(finder, whole);
    }
    return;
  }
  if (change_count > NODE_CHANGES_MAX) {
    whole.nodes = facts_join_nodes(arena, &all);
    facts_add(finder, whole);
    return;
  }
  for (size_t i = 0; i < change_count; i++) {
    struct fact_difference fact = whole;
    for (size_t s = 0; s < SIDES; s++) {
      const char *value = changes[i].values[s];
      fact.values[s] = value != NULL ? arena_strdup(arena, value) : NULL;
    }
    fact.nodes = facts_join_nodes(arena, &changes[i]);
    facts_add(finder, fact);
  }
}

/* Makes one of the differences, from `first` on, of GPUs that all changed in the same way. */
static void facts_merge_gpus(struct fact_finder *finder, size_t first, size_t gpus) {
  struct fact_difference *facts = finder->facts;
  const size_t each = gpus > 1 ? (finder->fact_count - first) / gpus : 0;
  if (each == 0 || (finder->fact_count - first) % gpus != 0) {
    return;
  }
  for (size_t i = first + each; i < finder->fact_count; i++) {
    if (!facts_same_values(facts[i].values, facts[i - each].values) ||
        facts_compare_values(facts[i].nodes, facts[i - each].nodes) != 0) {
      return;
    }
  }
  finder->fact_count = first + each;
  for (size_t i = first; i < finder->fact_count; i++) {
    facts[i].gpu = GPU_ALL;
  }
}

/* Leaves the items of a fact in the order of nodes. */
static void facts_find_differences(struct fact_finder *finder) {
  struct item *items = finder->items;
  const size_t count = finder->count;
  size_t first = 0; /* difference of this name */
  size_t gpus = 0;  /* that have a fact of this name */
  for (size_t i = 0; i < count;) {
    const size_t start = i;
    struct fact_difference whole = {.name = items[i].name, .gpu = items[i].gpu};
    while (i < count && strcmp(items[i].name, whole.name) == 0 && items[i].gpu == whole.gpu) {
      const enum side side = items[i].side;
      whole.values[side] = facts_join_values(&finder->comparison->arena, items, count, side, &i);
    }
    gpus += whole.gpu >= 0;
    if (strcmp(whole.name, "boot_id") != 0) {
      facts_add_by_node(finder, &items[start], i - start, whole);
    }
    if (i == count || strcmp(items[i].name, whole.name) != 0) {
      facts_merge_gpus(finder, first, gpus);
      first = finder->fact_count;
      gpus = 0;
    }
  }
  finder->comparison->facts = finder->facts;
  finder->comparison->fact_count = finder->fact_count;
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
  struct text_index seen = {.arena = &arena};
  for (size_t i = 0; i < results->run_count; i++) {
    if (sides[i] != side) {
      continue;
    }
    const struct results_environment *e = &results->environments[results->runs[i].environment];
    for (size_t g = 0; g < e->gpu_count + 1; g++) {
      const char *text = g == e->gpu_count ? e->boot_id : e->gpus[g].uuid;
      if (text != NULL && text_index_add(&seen, text, NULL)) {
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
  struct fact_finder finder = {.comparison = comparison};
  facts_collect(&finder, sides, &arena);
  const struct item *items = finder.items;
  const size_t count = finder.count;
  for (size_t s = 0; s < SIDES; s++) {
    struct comparison_total *total = &comparison->totals[s];
    total->hosts = facts_values(&comparison->arena, items, count, "host_name", (enum side)s);
    total->drivers = facts_values(&comparison->arena, items, count, "driver_version", (enum side)s);
    total->models = facts_values(&comparison->arena, items, count, "gpu_name", (enum side)s);
    total->which = facts_runs(&comparison->arena, results, sides, (enum side)s);
    total->scenarios = facts_scenarios(&comparison->arena, results, sides, (enum side)s);
    facts_count_machines(results, sides, (enum side)s, total);
  }
  facts_find_differences(&finder);
  comparison->driver_compiled =
      ANY_OF(i, comparison->fact_count, strcmp(comparison->facts[i].name, "driver_version") == 0) &&
      facts_have_ptx(items, count) && facts_have_kernels(results);
}
