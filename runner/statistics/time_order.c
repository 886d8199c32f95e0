#include "runner/statistics/time_order.h"

#include "engine/base/arena.h"
#include "engine/base/order.h"

#include <math.h>
#include <stdlib.h>

struct timed {
  int64_t at;
  double value;
  uint32_t run;
  bool is_b;
};

ORDER_DEFINE(time_order_compare, struct timed, ORDER(x->at, y->at) ?: ORDER(x->run, y->run))

/* Var(mean of a - mean of b) / E(variance within sides) of a random walk, and its steps. A step
 * before run k moves the runs from k on. */
static void time_order_walk(const struct timed *runs, size_t count, const size_t counts[2],
                            struct time_order *order) {
  double difference = 0;
  double within[2] = {0, 0};
  double steps[2] = {0, 0};
  size_t later[2] = {0, 0};
  size_t next[2] = {0, 0};
  for (size_t k = count; k-- > 0;) {
    const size_t side = runs[k].is_b;
    steps[side] += later[side] > 0 ? (double)(next[side] - k) / 2 : 0;
    next[side] = k;
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
  for (size_t s = 0; s < 2; s++) { /* of two runs, the ratio is always 1 */
    within[s] = counts[s] < 3 ? 0 : within[s];
    steps[s] = counts[s] < 3 ? 0 : steps[s];
  }
  order->walk_steps = (steps[0] + steps[1]) / (within[0] + within[1]);
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
  order->trend_df = apart_squares > 0 ? 1 - pairs * apart * apart / apart_squares : 0;
  if (!(squares > 0) || pairs - 1 - order->trend_df < 1) {
    order->trend_df = 0;
    return;
  }
  order->trend_inflation += pairs * apart * apart / (2 * squares);
  for (size_t i = 0; i < count; i++) {
    runs[i].value -= products / squares * (double)(runs[i].at - runs[0].at);
  }
}

struct time_order time_order_apply(double *a_values, uint32_t *a_runs, size_t a_count,
                                   double *b_values, uint32_t *b_runs, size_t b_count,
                                   const int64_t *started, bool pair) {
  const size_t count = a_count + b_count;
  struct time_order order = {.trend_inflation = 1};
  SCOPED(memory_free) struct timed *runs = memory_new(count, sizeof *runs);
  for (size_t i = 0; i < count; i++) {
    const bool is_b = i >= a_count;
    const uint32_t run = is_b ? b_runs[i - a_count] : a_runs[i];
    runs[i] = (struct timed){started[run], is_b ? b_values[i - a_count] : a_values[i], run, is_b};
  }
  ORDER_SORT(runs, count, time_order_compare);
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
