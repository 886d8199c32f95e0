#include "runner/analysis/a_a_test.h"

#include "engine/base/arena.h"
#include "engine/base/random.h"

#include <stdlib.h>

enum { RUNS_MIN = 4 }; /* two on each side of a split */

/* The runs of side a, or its processes. */
struct parts {
  uint32_t *numbers; /* each once; shuffled by each split */
  size_t count;
  bool *in_second; /* by number: whether it is in the second half */
  bool by_run;
};

static uint32_t a_a_part(const struct process_sample *side, size_t i, bool by_run) {
  return by_run ? process_sample_run(side, i) : process_sample_process(side, i);
}

static struct parts a_a_list_parts(const struct diff_case *cases, size_t count, bool by_run,
                                   struct arena *arena) {
  size_t most = 0;
  for (size_t i = 0; i < count; i++) {
    for (size_t v = 0; v < cases[i].a.count; v++) {
      const size_t number = a_a_part(&cases[i].a, v, by_run);
      most = number > most ? number : most;
    }
  }
  struct parts parts = {.numbers = arena_array(arena, most + 1, sizeof(uint32_t)),
                        .in_second = arena_array(arena, most + 1, sizeof(bool)),
                        .by_run = by_run};
  bool *seen = arena_array(arena, most + 1, sizeof *seen);
  for (size_t i = 0; i < count; i++) {
    for (size_t v = 0; v < cases[i].a.count; v++) {
      seen[a_a_part(&cases[i].a, v, by_run)] = true;
    }
  }
  for (size_t n = 0; n <= most; n++) {
    if (seen[n]) {
      parts.numbers[parts.count++] = (uint32_t)n;
    }
  }
  return parts;
}

/* Fisher and Yates: assigns every part to one of two halves. */
static void a_a_shuffle(struct parts *parts, uint64_t *state) {
  for (size_t i = parts->count; i > 1; i--) {
    const size_t j = (size_t)(random_next(state) % i);
    const uint32_t other = parts->numbers[i - 1];
    parts->numbers[i - 1] = parts->numbers[j];
    parts->numbers[j] = other;
  }
  for (size_t i = 0; i < parts->count; i++) {
    parts->in_second[parts->numbers[i]] = i >= parts->count / 2;
  }
}

/* Room for all halves of a split. */
struct room {
  double *values;
  uint32_t *numbers, *runs;
  struct diff_case *halves;
  struct diff_result *results;
};

/* Splits side a of one case; the halves are written from `at` on. */
static void a_a_split_case(const struct diff_case *whole, const struct parts *parts,
                           const struct room *room, size_t at, struct diff_case *split) {
  double *values = room->values + at;
  uint32_t *numbers = room->numbers + at;
  uint32_t *runs = room->runs + at;
  size_t counts[2] = {0, 0};
  *split = *whole;
  split->a_not_ok = split->b_not_ok = split->corrupt = 0;
  for (size_t half = 0; half < 2; half++) {
    for (size_t i = 0; i < whole->a.count; i++) {
      if (parts->in_second[a_a_part(&whole->a, i, parts->by_run)] == (half == 1)) {
        numbers[counts[0] + counts[1]] = process_sample_process(&whole->a, i);
        runs[counts[0] + counts[1]] = parts->by_run ? process_sample_run(&whole->a, i) : 0;
        values[counts[0] + counts[1]] = whole->a.values[i];
        counts[half]++;
      }
    }
  }
  split->a = (struct process_sample){values, counts[0], numbers, runs};
  split->b =
      (struct process_sample){values + counts[0], counts[1], numbers + counts[0], runs + counts[0]};
}

static void a_a_split_once(const struct diff_case *cases, size_t count,
                           const struct diff_options *options, const struct parts *parts,
                           const struct room *room, struct a_a_result *result) {
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    a_a_split_case(&cases[i], parts, room, used, &room->halves[i]);
    used += cases[i].a.count;
  }
  struct diff_summary summary;
  diff_compare(room->halves, count, options, room->results, &summary);
  const size_t reported = summary.verdicts[VERDICT_REGRESSED] + summary.verdicts[VERDICT_IMPROVED];
  result->false_positives += reported;
  result->splits_reporting += reported > 0;
  result->judged += summary.tests;
}

static int a_a_compare_times(const void *a, const void *b, void *started) {
  const int64_t *times = started;
  const uint32_t x = *(const uint32_t *)a;
  const uint32_t y = *(const uint32_t *)b;
  return times[x] != times[y] ? (times[x] > times[y]) - (times[x] < times[y]) : (x > y) - (x < y);
}

/* The earlier half of the runs against the later. */
static void a_a_split_in_time(const struct diff_case *cases, size_t count,
                              const struct diff_options *options, struct parts *parts,
                              const struct room *room, struct a_a_result *result) {
  struct a_a_result halves = {0};
  struct diff_options independent = *options;
  independent.independent = true;
  qsort_r(parts->numbers, parts->count, sizeof *parts->numbers, a_a_compare_times,
          (void *)(uintptr_t)cases[0].started);
  for (size_t i = 0; i < parts->count; i++) {
    parts->in_second[parts->numbers[i]] = i >= parts->count / 2;
  }
  a_a_split_once(cases, count, &independent, parts, room, &halves);
  result->in_time_judged = halves.judged;
  result->in_time_reported = halves.false_positives;
}

struct a_a_result a_a_test(const struct diff_case *cases, size_t count,
                           const struct diff_options *options, size_t splits, uint64_t seed) {
  struct a_a_result result = {0};
  SCOPED(arena_fini) struct arena arena = {0};
  size_t most = 0;
  size_t all = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t runs = process_sample_count_runs(&cases[i].a);
    result.runs = runs > result.runs ? runs : result.runs;
    most = cases[i].a.count > most ? cases[i].a.count : most;
    all += cases[i].a.count;
  }
  result.by_run = result.runs >= RUNS_MIN;
  if (most < 4) {
    return result;
  }
  struct parts parts = a_a_list_parts(cases, count, result.by_run, &arena);
  const struct room room = {arena_array(&arena, all, sizeof(double)),
                            arena_array(&arena, all, sizeof(uint32_t)),
                            arena_array(&arena, all, sizeof(uint32_t)),
                            arena_array(&arena, count, sizeof(struct diff_case)),
                            arena_array(&arena, count, sizeof(struct diff_result))};
  for (; result.splits < splits; result.splits++) {
    a_a_shuffle(&parts, &seed);
    a_a_split_once(cases, count, options, &parts, &room, &result);
  }
  if (result.by_run && cases[0].started != NULL) {
    a_a_split_in_time(cases, count, options, &parts, &room, &result);
  }
  return result;
}
