#include "runner/statistics/time_order.h"

#include "engine/base/arena.h"
#include "engine/base/order.h"

#include <math.h>
#include <string.h>

struct timed {
  int64_t at;
  double value;
  uint32_t run;
  bool is_b;
};

ORDER_DEFINE(time_order_compare, struct timed, ORDER(x->at, y->at) ?: ORDER(x->run, y->run))

/* Var(mean of a - mean of b) / E(variance within sides) of a random walk. A step
 * before run k moves the runs from k on. */
static void time_order_walk(const struct timed *runs, size_t count, const size_t counts[2],
                            struct time_order *order) {
  double difference = 0;
  double within[2] = {0, 0};
  size_t later[2] = {0, 0};
  for (size_t k = count; k-- > 0;) {
    const size_t side = runs[k].is_b;
    later[side]++;
    if (k > 0) {
      const double a = (double)later[0] / (double)counts[0];
      const double b = (double)later[1] / (double)counts[1];
      difference += (a - b) * (a - b);
      within[0] += (double)later[0] * (1 - a);
      within[1] += (double)later[1] * (1 - b);
    }
  }
  const double all = within[0] + within[1];
  order->walk = count > 2 && all > 0 ? difference * ((double)count - 2) / all : 0;
}

/* Of sides with three runs or more: of two, the ratio is always 1. */
static void time_order_steps(const struct timed *runs, size_t count, const size_t counts[2],
                             struct time_order *order) {
  double steps = 0;
  double squares = 0;
  double df = 0;
  order->steps = NAN;
  for (size_t s = 0; s < 2; s++) {
    const double n = (double)counts[s];
    double mean = 0;
    double last = NAN;
    for (size_t i = 0; i < count; i++) {
      mean += runs[i].is_b == (s == 1) ? runs[i].value / n : 0;
    }
    for (size_t i = 0; i < count && n >= 3; i++) {
      if (runs[i].is_b == (s == 1)) {
        squares += (runs[i].value - mean) * (runs[i].value - mean);
        steps += isnan(last) ? 0 : (runs[i].value - last) * (runs[i].value - last);
        last = runs[i].value;
      }
    }
    if (n >= 3) {
      /* (n - 2) / (n^2 - 1) of one side; of two, each by its share of all squares, a beta variate
       */
      order->steps_variance += (n - 1) * (n + 1) * (n - 2) / (n * n - 1);
      df += n - 1;
    }
  }
  if (squares > 0) {
    order->steps = steps / (2 * squares);
    order->steps_variance /= df * (df + 2);
  }
}

static bool time_order_is_paired(const struct timed *runs, size_t count) {
  bool paired = count / 2 >= TIME_ORDER_PAIRS_MIN && count % 2 == 0;
  for (size_t i = 0; i + 1 < count && paired; i += 2) {
    paired = runs[i].is_b != runs[i + 1].is_b;
  }
  return paired;
}

/* Takes out the slope that is common to both sides. */
static void time_order_detrend(struct timed *runs, size_t count, struct time_order *order) {
  const double pairs = (double)count / 2;
  double mean_at[2] = {0, 0};
  double mean[2] = {0, 0};
  double apart = 0; /* how much later b is, in a pair */
  double apart_squares = 0;
  for (size_t i = 0; i < count; i++) {
    mean_at[runs[i].is_b] += (double)(runs[i].at - runs[0].at) / pairs;
    mean[runs[i].is_b] += runs[i].value / pairs;
  }
  double squares = 0;
  double products = 0;
  for (size_t i = 0; i < count; i++) {
    const double at = (double)(runs[i].at - runs[0].at) - mean_at[runs[i].is_b];
    squares += at * at;
    products += at * (runs[i].value - mean[runs[i].is_b]);
    if (i % 2 == 1) {
      const double later = (double)(runs[i].at - runs[i - 1].at) * (runs[i].is_b ? 1 : -1);
      apart += later / pairs;
      apart_squares += later * later;
    }
  }
  order->trend_inflation = 1;
  if (!(squares > 0)) {
    return;
  }
  /* The slope is that of all runs, so that it follows the noise of the pairs' differences little.
   */
  order->trend_df = (apart_squares - pairs * apart * apart) / (2 * squares);
  order->trend_inflation += pairs * apart * apart / (2 * squares);
  for (size_t i = 0; i < count; i++) {
    runs[i].value -= products / squares * (double)(runs[i].at - runs[0].at);
  }
}

/* runs: as many as both sides have. */
static void time_order_sort(const struct process_sample *a, const struct process_sample *b,
                            const int64_t *started, struct timed *runs) {
  for (size_t i = 0; i < a->count + b->count; i++) {
    const bool is_b = i >= a->count;
    const struct process_sample *side = is_b ? b : a;
    const size_t at = i - (is_b ? a->count : 0);
    const uint32_t run = process_sample_process(side, at);
    runs[i] = (struct timed){started[run], side->values[at], run, is_b};
  }
  ORDER_SORT(runs, a->count + b->count, time_order_compare);
}

struct time_order time_order_apply(double *a_values, uint32_t *a_runs, size_t a_count,
                                   double *b_values, uint32_t *b_runs, size_t b_count,
                                   const int64_t *started, bool pair) {
  const size_t count = a_count + b_count;
  struct time_order order = {.trend_inflation = 1};
  const struct process_sample a = {a_values, a_count, a_runs, NULL};
  const struct process_sample b = {b_values, b_count, b_runs, NULL};
  SCOPED(memory_free) struct timed *runs = memory_new(count, sizeof *runs);
  time_order_sort(&a, &b, started, runs);
  const size_t counts[2] = {a_count, b_count};
  time_order_walk(runs, count, counts, &order);
  time_order_steps(runs, count, counts, &order);
  order.paired = pair && a_count == b_count && time_order_is_paired(runs, count);
  if (order.paired) {
    time_order_detrend(runs, count, &order);
    for (size_t i = 0; i < count; i++) {
      (runs[i].is_b ? b_values : a_values)[i / 2] = runs[i].value;
      (runs[i].is_b ? b_runs : a_runs)[i / 2] = runs[i].run;
    }
  }
  return order;
}

double time_order_take_trend(const struct process_sample *a, const struct process_sample *b,
                             const int64_t *started, double *values) {
  const struct process_sample *sides[2] = {a, b};
  const int64_t first = started[process_sample_process(a, 0)];
  double mean_at[2] = {0, 0};
  double squares = 0;
  double products = 0;
  for (size_t s = 0; s < 2; s++) {
    for (size_t i = 0; i < sides[s]->count; i++) {
      mean_at[s] +=
          (double)(started[process_sample_process(sides[s], i)] - first) / (double)sides[s]->count;
    }
    for (size_t i = 0; i < sides[s]->count; i++) {
      const double at = (double)(started[process_sample_process(sides[s], i)] - first) - mean_at[s];
      squares += at * at;
      products += at * sides[s]->values[i];
    }
  }
  const double slope = squares > 0 ? products / squares : 0;
  for (size_t s = 0; s < 2; s++) {
    for (size_t i = 0; i < sides[s]->count; i++) {
      *values++ = sides[s]->values[i] -
                  slope * (double)(started[process_sample_process(sides[s], i)] - first);
    }
  }
  const double apart = mean_at[1] - mean_at[0];
  return squares > 0 ? 1 + apart * apart / squares / (1 / (double)a->count + 1 / (double)b->count)
                     : 1;
}

/* The last one first. */
static struct time_order_kind *time_order_find(struct time_order_seen *seen, const bool *is_b,
                                               size_t count, bool paired) {
  for (size_t k = 0; k < seen->count; k++) {
    const size_t at = (seen->last + k) % seen->count;
    struct time_order_kind *kind = seen->kinds[at];
    if (kind->count == count && kind->order.paired == paired &&
        memcmp(kind->is_b, is_b, count * sizeof *is_b) == 0) {
      seen->last = at;
      return kind;
    }
  }
  bool *sides = arena_array(seen->arena, count, sizeof *sides);
  struct time_order_kind *kind = arena_array(seen->arena, 1, sizeof *kind);
  memcpy(sides, is_b, count * sizeof *is_b);
  kind->is_b = sides;
  kind->count = count;
  wander_order_init(&kind->order, is_b, count, paired, seen->arena);
  seen->last = seen->count;
  *ARENA_ADD(seen->arena, seen->kinds, seen->count) = kind;
  return kind;
}

const struct time_order_kind *time_order_see(struct time_order_seen *seen,
                                             const struct process_sample *a,
                                             const struct process_sample *b, const int64_t *started,
                                             bool paired) {
  SCOPED(arena_fini) struct arena arena = {0};
  const size_t count = a->count + b->count;
  struct timed *runs = arena_array(&arena, count, sizeof *runs);
  double *values = arena_array(seen->arena, count, sizeof *values);
  bool *is_b = arena_array(&arena, count, sizeof *is_b);
  time_order_sort(a, b, started, runs);
  for (size_t i = 0; i < count; i++) {
    values[i] = runs[i].value;
    is_b[i] = runs[i].is_b;
  }
  struct time_order_kind *kind = time_order_find(seen, is_b, count, paired);
  *ARENA_ADD(seen->arena, kind->series, kind->series_count) = values;
  return kind;
}
