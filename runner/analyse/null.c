#include "runner/analyse/null.h"

#include <stdlib.h>

static void *new_array(size_t count, size_t size_bytes) {
  void *array = calloc(count > 0 ? count : 1, size_bytes);
  if (array == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  return array;
}

/* splitmix64 */
static uint64_t next(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* The processes of side a. */
struct processes {
  uint32_t *numbers; /* each once; shuffled by each split */
  size_t count;
  bool *in_second; /* by number: the half that a split deals it to */
};

static struct processes list_processes(const struct diff_case *cases, size_t count) {
  size_t most = 0;
  for (size_t i = 0; i < count; i++) {
    for (size_t v = 0; v < cases[i].a.count; v++) {
      const size_t number = diff_process(&cases[i].a, v);
      most = number > most ? number : most;
    }
  }
  struct processes processes = {.numbers = new_array(most + 1, sizeof(uint32_t)),
                                .in_second = new_array(most + 1, sizeof(bool))};
  bool *seen = new_array(most + 1, sizeof *seen);
  for (size_t i = 0; i < count; i++) {
    for (size_t v = 0; v < cases[i].a.count; v++) {
      seen[diff_process(&cases[i].a, v)] = true;
    }
  }
  for (size_t n = 0; n <= most; n++) {
    if (seen[n]) {
      processes.numbers[processes.count++] = (uint32_t)n;
    }
  }
  free(seen);
  return processes;
}

/* Deals the processes out to two halves. */
static void deal(struct processes *processes, uint64_t *state) {
  for (size_t i = processes->count; i > 1; i--) {
    const size_t j = (size_t)(next(state) % i);
    const uint32_t other = processes->numbers[i - 1];
    processes->numbers[i - 1] = processes->numbers[j];
    processes->numbers[j] = other;
  }
  for (size_t i = 0; i < processes->count; i++) {
    processes->in_second[processes->numbers[i]] = i >= processes->count / 2;
  }
}

/* Side a of one case in two halves, in values and numbers. */
static void split_case(const struct diff_case *whole, const bool *in_second, double *values,
                       uint32_t *numbers, struct diff_case *split) {
  size_t counts[2] = {0, 0};
  *split = *whole;
  for (size_t half = 0; half < 2; half++) {
    for (size_t i = 0; i < whole->a.count; i++) {
      const uint32_t process = diff_process(&whole->a, i);
      if (in_second[process] == (half == 1)) {
        numbers[counts[0] + counts[1]] = process;
        values[counts[0] + counts[1]] = whole->a.values[i];
        counts[half]++;
      }
    }
  }
  split->a = (struct diff_side){values, counts[0], numbers};
  split->b = (struct diff_side){values + counts[0], counts[1], numbers + counts[0]};
}

/* Room for all halves of a split. */
struct room {
  double *values;
  uint32_t *numbers;
  struct diff_case *halves;
  struct diff_result *results;
};

static void split_once(const struct diff_case *cases, size_t count,
                       const struct diff_options *options, const struct processes *processes,
                       const struct room *room, struct null_rate *rate) {
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    split_case(&cases[i], processes->in_second, room->values + used, room->numbers + used,
               &room->halves[i]);
    used += cases[i].a.count;
  }
  struct diff_summary summary;
  diff_compare(room->halves, count, options, room->results, &summary);
  const size_t reported = summary.verdicts[VERDICT_REGRESSED] + summary.verdicts[VERDICT_IMPROVED];
  rate->reported += reported;
  rate->alarmed += reported > 0;
  rate->judged += summary.tests;
}

void null_split(const struct diff_case *cases, size_t count, const struct diff_options *options,
                size_t splits, uint64_t seed, struct null_rate *rate) {
  *rate = (struct null_rate){0, 0, 0, 0};
  size_t most = 0;
  size_t all = 0;
  for (size_t i = 0; i < count; i++) {
    most = cases[i].a.count > most ? cases[i].a.count : most;
    all += cases[i].a.count;
  }
  if (most < 4) {
    return;
  }
  struct processes processes = list_processes(cases, count);
  const struct room room = {new_array(all, sizeof(double)), new_array(all, sizeof(uint32_t)),
                            new_array(count, sizeof(struct diff_case)),
                            new_array(count, sizeof(struct diff_result))};
  for (rate->splits = 0; rate->splits < splits; rate->splits++) {
    deal(&processes, &seed);
    split_once(cases, count, options, &processes, &room, rate);
  }
  free(processes.numbers);
  free(processes.in_second);
  free(room.values);
  free(room.numbers);
  free(room.halves);
  free(room.results);
}
