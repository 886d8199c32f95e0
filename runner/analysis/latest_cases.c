/* latest_cases.c - the latest result of every case (history.h). */
#include "engine/base/strings.h"
#include "runner/analysis/history.h"
#include "runner/statistics/sample.h"

#include "engine/base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A median with what it is ordered by, as numbers: each text is compared once, not once per pair.
 */
struct latest_entry {
  uint32_t place; /* host and scenario of the run */
  uint32_t name;  /* of the case */
  int64_t started_at_ns;
  uint32_t run, bench;
  double ns;
};

/* The rank of a text among sorted ones without duplicates. */
static uint32_t latest_rank(const char *text, const char *const *sorted, size_t count) {
  const char *const *found = bsearch(&text, sorted, count, sizeof *sorted, strings_compare);
  return (uint32_t)(found - sorted);
}

static size_t latest_sort_texts(const char **texts, size_t count) {
  ORDER_SORT(texts, count, strings_compare);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (kept == 0 || strcmp(texts[kept - 1], texts[i]) != 0) {
      texts[kept++] = texts[i];
    }
  }
  return kept;
}

static uint32_t *latest_rank_names(const struct measured *measured, struct arena *arena) {
  const size_t count = measured->case_count;
  const char **names = arena_array(arena, count, sizeof *names);
  uint32_t *ranks = arena_array(arena, count, sizeof *ranks);
  for (size_t i = 0; i < count; i++) {
    names[i] = measured->cases[i].name;
  }
  const size_t different = latest_sort_texts(names, count);
  for (size_t i = 0; i < count; i++) {
    ranks[i] = latest_rank(measured->cases[i].name, names, different);
  }
  return ranks;
}

static uint32_t *latest_rank_places(const struct measured *measured, struct arena *arena) {
  const size_t count = measured->run_count;
  const char **places = arena_array(arena, count, sizeof *places);
  const char **own = arena_array(arena, count, sizeof *own);
  uint32_t *ranks = arena_array(arena, count, sizeof *ranks);
  for (size_t i = 0; i < count; i++) {
    const struct measured_run *run = &measured->runs[i];
    const struct measured_environment *at = &measured->environments[run->environment];
    own[i] = arena_format(arena, "%s\n%d\n%s", at->node, at->simulated, run->scenario);
    places[i] = own[i];
  }
  const size_t different = latest_sort_texts(places, count);
  for (size_t i = 0; i < count; i++) {
    ranks[i] = latest_rank(own[i], places, different);
  }
  return ranks;
}

/* Of one case of one place, the latest run first. */
ORDER_DEFINE(latest_compare_entries, struct latest_entry, ORDER(x->place, y->place) ?: ORDER(x->name, y->name) ?: ORDER(y->started_at_ns, x->started_at_ns) ?: ORDER(y->run, x->run) ?: ORDER(x->bench, y->bench))

static size_t latest_collect(const struct measured *measured, struct arena *arena,
                             struct latest_entry *entries) {
  const uint32_t *names = latest_rank_names(measured, arena);
  const uint32_t *places = latest_rank_places(measured, arena);
  size_t count = 0;
  for (size_t i = 0; i < measured->median_count; i++) {
    const struct measured_median *median = &measured->medians[i];
    if (median->process == 0 || median->above_peak) { /* skipped, or not to be compared */
      continue;
    }
    entries[count++] =
        (struct latest_entry){.place = places[median->run],
                              .name = names[median->bench],
                              .started_at_ns = measured->runs[median->run].started_at_ns,
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

struct latest_case *latest_cases(const struct measured *measured, struct arena *arena,
                                 size_t *count) {
  SCOPED(arena_fini) struct arena scratch = {0};
  struct latest_entry *entries = arena_array(&scratch, measured->median_count, sizeof *entries);
  double *values = arena_array(&scratch, measured->median_count, sizeof *values);
  const size_t entry_count = latest_collect(measured, &scratch, entries);
  ORDER_SORT(entries, entry_count, latest_compare_entries);
  struct latest_case *cases = NULL;
  size_t capacity = 0;
  *count = 0;
  for (size_t i = 0; i < entry_count;) {
    size_t same_run = i + 1;
    while (same_run < entry_count && entries[same_run].place == entries[i].place &&
           entries[same_run].name == entries[i].name && entries[same_run].run == entries[i].run &&
           entries[same_run].bench == entries[i].bench) {
      same_run++;
    }
    *ARENA_ADD(arena, cases, *count, &capacity) =
        latest_summarise(&entries[i], same_run - i, values);
    size_t next = same_run;
    while (next < entry_count && entries[next].place == entries[i].place &&
           entries[next].name == entries[i].name) {
      next++;
    }
    i = next;
  }
  return cases;
}
