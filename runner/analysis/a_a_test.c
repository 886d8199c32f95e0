#include "runner/analysis/a_a_test.h"

#include "engine/base/arena.h"

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t a_a_random(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* The processes of side a. */
struct processes {
  uint32_t *numbers; /* each once; shuffled by each split */
  size_t count;
  bool *in_second; /* by number: whether it is in the second half */
};

static struct processes a_a_list_processes(const struct diff_case *cases, size_t count,
                                           struct arena *arena) {
  size_t most = 0;
  for (size_t i = 0; i < count; i++) {
    for (size_t v = 0; v < cases[i].a.count; v++) {
      const size_t number = process_sample_process(&cases[i].a, v);
      most = number > most ? number : most;
    }
  }
  struct processes processes = {.numbers = arena_array(arena, most + 1, sizeof(uint32_t)),
                                .in_second = arena_array(arena, most + 1, sizeof(bool))};
  bool *seen = arena_array(arena, most + 1, sizeof *seen);
  for (size_t i = 0; i < count; i++) {
    for (size_t v = 0; v < cases[i].a.count; v++) {
      seen[process_sample_process(&cases[i].a, v)] = true;
    }
  }
  for (size_t n = 0; n <= most; n++) {
    if (seen[n]) {
      processes.numbers[processes.count++] = (uint32_t)n;
    }
  }
  return processes;
}

/* Fisher and Yates: assigns every process to one of two halves. */
static void a_a_shuffle(struct processes *processes, uint64_t *state) {
  for (size_t i = processes->count; i > 1; i--) {
    const size_t j = (size_t)(a_a_random(state) % i);
    const uint32_t other = processes->numbers[i - 1];
    processes->numbers[i - 1] = processes->numbers[j];
    processes->numbers[j] = other;
  }
  for (size_t i = 0; i < processes->count; i++) {
    processes->in_second[processes->numbers[i]] = i >= processes->count / 2;
  }
}

/* Splits side a of one case; the halves are written to values and numbers. */
static void a_a_split_case(const struct diff_case *whole, const bool *in_second, double *values,
                           uint32_t *numbers, struct diff_case *split) {
  size_t counts[2] = {0, 0};
  *split = *whole;
  split->a_not_ok = split->b_not_ok = 0;
  for (size_t half = 0; half < 2; half++) {
    for (size_t i = 0; i < whole->a.count; i++) {
      const uint32_t process = process_sample_process(&whole->a, i);
      if (in_second[process] == (half == 1)) {
        numbers[counts[0] + counts[1]] = process;
        values[counts[0] + counts[1]] = whole->a.values[i];
        counts[half]++;
      }
    }
  }
  split->a = (struct process_sample){values, counts[0], numbers};
  split->b = (struct process_sample){values + counts[0], counts[1], numbers + counts[0]};
}

/* Room for all halves of a split. */
struct room {
  double *values;
  uint32_t *numbers;
  struct diff_case *halves;
  struct diff_result *results;
};

static void a_a_split_once(const struct diff_case *cases, size_t count,
                           const struct diff_options *options, const struct processes *processes,
                           const struct room *room, struct a_a_result *result) {
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    a_a_split_case(&cases[i], processes->in_second, room->values + used, room->numbers + used,
                   &room->halves[i]);
    used += cases[i].a.count;
  }
  struct diff_summary summary;
  diff_compare(room->halves, count, options, room->results, &summary);
  const size_t reported = summary.verdicts[VERDICT_REGRESSED] + summary.verdicts[VERDICT_IMPROVED];
  result->false_positives += reported;
  result->splits_reporting += reported > 0;
  result->judged += summary.tests;
}

struct a_a_result a_a_test(const struct diff_case *cases, size_t count,
                           const struct diff_options *options, size_t splits, uint64_t seed) {
  struct a_a_result result = {0};
  struct arena arena = {0};
  size_t most = 0;
  size_t all = 0;
  for (size_t i = 0; i < count; i++) {
    most = cases[i].a.count > most ? cases[i].a.count : most;
    all += cases[i].a.count;
  }
  if (most < 4) {
    return result;
  }
  struct processes processes = a_a_list_processes(cases, count, &arena);
  const struct room room = {arena_array(&arena, all, sizeof(double)),
                            arena_array(&arena, all, sizeof(uint32_t)),
                            arena_array(&arena, count, sizeof(struct diff_case)),
                            arena_array(&arena, count, sizeof(struct diff_result))};
  for (; result.splits < splits; result.splits++) {
    a_a_shuffle(&processes, &seed);
    a_a_split_once(cases, count, options, &processes, &room, &result);
  }
  arena_fini(&arena);
  return result;
}
