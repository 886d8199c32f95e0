/* latest_cases.c - the latest result of every case (history.h). */
#include "engine/base/order.h"
#include "engine/base/text_index.h"
#include "runner/analysis/history.h"
#include "runner/statistics/sample.h"

#include <math.h>

/* A median with what it is ordered by, as numbers: each text is compared once, not once per pair.
 */
struct latest_entry {
  uint32_t place; /* host and scenario of the run */
  uint32_t name;  /* of the case */
  int64_t started_at_ns;
  uint32_t run, bench;
  double ns;
};

/* By case: the rank of its name. */
static uint32_t *latest_rank_names(const struct results *results, struct arena *arena) {
  struct text_index names = {.arena = arena};
  uint32_t *ranks = arena_array(arena, results->case_count, sizeof *ranks);
  for (size_t i = 0; i < results->case_count; i++) {
    ranks[i] = (uint32_t)text_index_number(&names, results->cases[i].name);
  }
  text_index_sort(&names, ranks, results->case_count);
  return ranks;
}

/* By run: that of its host and scenario. */
static uint32_t *latest_rank_places(const struct results *results, struct arena *arena) {
  struct text_index places = {.arena = arena};
  uint32_t *ranks = arena_array(arena, results->run_count, sizeof *ranks);
  for (size_t i = 0; i < results->run_count; i++) {
    const struct results_run *run = &results->runs[i];
    const struct results_environment *at = &results->environments[run->environment];
    ranks[i] = (uint32_t)text_index_number(
        &places, arena_format(arena, "%s\n%d\n%s", at->node, at->simulated, run->scenario));
  }
  text_index_sort(&places, ranks, results->run_count);
  return ranks;
}

/* Of one case of one place, the latest run first. */
ORDER_DEFINE(latest_compare_entries, struct latest_entry, ORDER(x->place, y->place) ?: ORDER(x->name, y->name) ?: ORDER(y->started_at_ns, x->started_at_ns) ?: ORDER(y->run, x->run) ?: ORDER(x->bench, y->bench))

static size_t latest_collect(const struct results *results, struct arena *arena,
                             struct latest_entry *entries) {
  const uint32_t *names = latest_rank_names(results, arena);
  const uint32_t *places = latest_rank_places(results, arena);
  size_t count = 0;
  for (size_t i = 0; i < results->median_count; i++) {
    const struct results_median *median = &results->medians[i];
    if (median->process == 0 || median->above_peak) { /* skipped, or not to be compared */
      continue;
    }
    entries[count++] =
        (struct latest_entry){.place = places[median->run],
                              .name = names[median->bench],
                              .started_at_ns = results->runs[median->run].started_at_ns,
                              .run = median->run,
                              .bench = median->bench,
                              .ns = median->ns};
  }
  return count;
}

/* Of entries that are one case in one run. values holds as many. */
static struct latest_case latest_summarise(const struct latest_entry *entries, size_t count,
                                           double *values) {
  struct latest_case latest = {.run = entries[0].run, .bench = entries[0].bench};
  for (size_t i = 0; i < count; i++) {
    if (isnan(entries[i].ns)) {
      latest.went_wrong++;
    } else {
      values[latest.processes++] = entries[i].ns;
    }
  }
  latest.ns = sample_median_in_place(values, latest.processes);
  return latest;
}

struct latest_case *latest_cases(const struct results *results, struct arena *arena,
                                 size_t *count) {
  SCOPED(arena_fini) struct arena scratch = {0};
  struct latest_entry *entries = arena_array(&scratch, results->median_count, sizeof *entries);
  double *values = arena_array(&scratch, results->median_count, sizeof *values);
  const size_t entry_count = latest_collect(results, &scratch, entries);
  ORDER_SORT(entries, entry_count, latest_compare_entries);
  struct latest_case *cases = NULL;
  *count = 0;
  FOR_EACH_GROUP(first, last, entry_count,
                 entries[last].place == entries[first].place &&
                     entries[last].name == entries[first].name) {
    size_t count_of_run = 1; /* and case: of those with one name the one that the plan has first */
    while (first + count_of_run < last && entries[first + count_of_run].run == entries[first].run &&
           entries[first + count_of_run].bench == entries[first].bench) {
      count_of_run++;
    }
    *ARENA_ADD(arena, cases, *count) = latest_summarise(&entries[first], count_of_run, values);
  }
  return cases;
}
