#include "runner/statistics/wander_order.h"

#include "runner/statistics/sample.h"

#include <math.h>
#include <string.h>

const struct wander_model wander_models[WANDER_MODELS] = {
    {0, 0},     {0.5, 0.3},  {0.5, 1},    {0.5, 3},   {0.5, 10},   {0.5, 100}, {0.7, 0.3},
    {0.7, 1},   {0.7, 3},    {0.7, 10},   {0.7, 100}, {0.85, 0.3}, {0.85, 1},  {0.85, 3},
    {0.85, 10}, {0.85, 100}, {0.95, 0.3}, {0.95, 1},  {0.95, 3},   {0.95, 10}, {0.95, 100},
    {1, 0.01},  {1, 0.03},   {1, 0.1},    {1, 0.3},   {1, 1},      {1, 3},     {1, 30},
};

/* Of a trend that the sides have in common: its variance within a side over that of the noise. */
static const double TRENDS[WANDER_TRENDS] = {1, 10, 100, 1e3, 1e4};

/* Without the noise, which has a variance of 1. */
static double wander_covariance(size_t m, size_t i, size_t j) {
  const struct wander_model *model = &wander_models[m];
  return model->correlation < 1
             ? model->level * pow(model->correlation, fabs((double)i - (double)j))
             : model->level * (double)(i < j ? i : j);
}

enum { EFFECTS_MAX = 3 };

/* Some of the runs, while an order is made. */
struct wander_runs {
  bool is_b[WANDER_RUNS_MAX];
  size_t count, at[WANDER_RUNS_MAX];
  double counts[2];
  double fixed[EFFECTS_MAX][WANDER_RUNS_MAX]; /* of the likelihood: the sides' means; a trend */
  size_t fixed_count;
};

static void wander_add_run(struct wander_runs *runs, size_t at, bool is_b) {
  runs->at[runs->count] = at;
  runs->is_b[runs->count++] = is_b;
  runs->counts[is_b]++;
}

/* Of one side after the other, half from each; of pairs, the first ones. */
static void wander_take_near(const bool *is_b, size_t count, bool paired,
                             struct wander_runs *runs) {
  size_t sides[2] = {0, 0};
  size_t skipped[2] = {0, 0};
  for (size_t i = 0; i < count; i++) {
    sides[is_b[i]]++;
  }
  const size_t most = WANDER_RUNS_MAX / 2;
  const bool first = is_b[0];
  skipped[first] = !paired && sides[first] > most ? sides[first] - most : 0;
  for (size_t i = 0; i < count; i++) {
    if (skipped[is_b[i]] > 0) {
      skipped[is_b[i]]--;
    } else if (runs->counts[is_b[i]] < (double)most) {
      wander_add_run(runs, i, is_b[i]);
    }
  }
}

/* Every so many runs of all. */
static void wander_take_some(const bool *is_b, size_t count, struct wander_runs *runs) {
  const size_t stride = (count + WANDER_RUNS_MAX - 1) / WANDER_RUNS_MAX;
  for (size_t i = stride / 2; i < count; i += stride) {
    wander_add_run(runs, i, is_b[i]);
  }
}

static void wander_set_fixed(bool paired, struct wander_runs *runs) {
  runs->fixed_count = paired ? 3 : 2;
  for (size_t i = 0; i < runs->count; i++) {
    runs->fixed[0][i] = runs->is_b[i] ? 0 : 1;
    runs->fixed[1][i] = runs->is_b[i] ? 1 : 0;
    runs->fixed[2][i] = (double)runs->at[i] - (double)runs->at[0];
  }
}

/* Times from the mean of their side; returns the sum of squares. */
static double wander_centre_times(const struct wander_runs *runs, double *times) {
  double means[2] = {0, 0};
  double squares = 0;
  for (size_t i = 0; i < runs->count; i++) {
    means[runs->is_b[i]] += (double)runs->at[i] / runs->counts[runs->is_b[i]];
  }
  for (size_t i = 0; i < runs->count; i++) {
    times[i] = (double)runs->at[i] - means[runs->is_b[i]];
    squares += times[i] * times[i];
  }
  return squares;
}

/* c = l l', in place. */
static void wander_factorise(double *c, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j <= i; j++) {
      double sum = c[i * count + j];
      for (size_t k = 0; k < j; k++) {
        sum -= c[i * count + k] * c[j * count + k];
      }
      c[i * count + j] = i == j ? sqrt(sum) : sum / c[j * count + j];
    }
  }
}

/* Solves l l' x = v in place. */
static void wander_solve(const double *l, size_t count, double *v) {
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < i; k++) {
      v[i] -= l[i * count + k] * v[k];
    }
    v[i] /= l[i * count + i];
  }
  for (size_t i = count; i-- > 0;) {
    for (size_t k = i + 1; k < count; k++) {
      v[i] -= l[k * count + i] * v[k];
    }
    v[i] /= l[i * count + i];
  }
}

/* c: a covariance, which is lost. The inverse without the fixed effects goes to projection; returns
 * the constant of the logarithm of the likelihood. */
static double wander_project(const struct wander_runs *runs, double *c, double *projection) {
  const size_t n = runs->count;
  const size_t p = runs->fixed_count;
  double solved[EFFECTS_MAX][WANDER_RUNS_MAX];
  double information[EFFECTS_MAX * EFFECTS_MAX];
  double logs = 0;
  wander_factorise(c, n);
  for (size_t i = 0; i < n; i++) {
    logs -= log(c[i * n + i]);
  }
  for (size_t k = 0; k < p; k++) {
    memcpy(solved[k], runs->fixed[k], n * sizeof **solved);
    wander_solve(c, n, solved[k]);
  }
  for (size_t k = 0; k < p * p; k++) {
    information[k] = 0;
    for (size_t i = 0; i < n; i++) {
      information[k] += runs->fixed[k / p][i] * solved[k % p][i];
    }
  }
  wander_factorise(information, p);
  for (size_t k = 0; k < p; k++) {
    logs -= log(information[k * p + k]);
  }
  for (size_t j = 0; j < n; j++) {
    double inverse[WANDER_RUNS_MAX] = {0};
    double effects[EFFECTS_MAX];
    inverse[j] = 1;
    wander_solve(c, n, inverse);
    for (size_t k = 0; k < p; k++) {
      effects[k] = solved[k][j];
    }
    wander_solve(information, p, effects);
    for (size_t i = 0; i < n; i++) {
      for (size_t k = 0; k < p; k++) {
        inverse[i] -= solved[k][i] * effects[k];
      }
      projection[i * n + j] = inverse[i];
    }
  }
  return logs;
}

static void wander_set_likelihood(struct wander_runs *runs, struct wander_order *order,
                                  struct arena *arena) {
  const size_t n = runs->count;
  SCOPED(memory_free) double *covariance = sample_values_new(n * n);
  double times[WANDER_RUNS_MAX];
  const double squares = wander_centre_times(runs, times);
  wander_set_fixed(order->paired, runs);
  order->df = n > runs->fixed_count ? n - runs->fixed_count : 0;
  for (size_t m = 0; m < WANDER_LOGS && order->df > 0; m++) {
    const double trend =
        m < WANDER_MODELS ? 0 : TRENDS[m - WANDER_MODELS] * (double)n / fmax(squares, 1);
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) {
        covariance[i * n + j] =
            (i == j ? 1 : 0) + (m < WANDER_MODELS ? wander_covariance(m, runs->at[i], runs->at[j])
                                                  : trend * times[i] * times[j]);
      }
    }
    double *projection = arena_array(arena, n * n, sizeof *projection);
    order->constants[m] = wander_project(runs, covariance, projection);
    order->projections[m] = projection;
  }
}

/* The difference of the sides, and the variance that it is judged by. */
struct wander_form {
  size_t rows;
  double *row;      /* rows * count: the squares of their products with the values are summed */
  double spread_df; /* that the sum is divided by */
  double weights[WANDER_RUNS_MAX]; /* of the difference */
  double inflation;                /* by how much more it varies because a trend is estimated */
};

static void wander_form_pairs(const struct wander_runs *runs, struct wander_form *form) {
  const size_t n = runs->count;
  const double pairs = (double)n / 2;
  double times[WANDER_RUNS_MAX];
  const double squares = fmax(wander_centre_times(runs, times), 1);
  double apart = 0; /* how much later b is, in a pair */
  for (size_t k = 0; k < n / 2; k++) {
    apart += (runs->is_b[2 * k + 1] ? 1 : -1) / pairs;
  }
  form->rows = n / 2;
  form->spread_df = pairs - 1 - (1 - apart * apart) * pairs / (2 * squares);
  form->inflation = 1 + pairs * apart * apart / (2 * squares);
  for (size_t j = 0; j < n; j++) {
    const double sign = runs->is_b[j] ? -1 : 1;
    form->weights[j] = sign / pairs + apart * times[j] / squares;
    for (size_t k = 0; k < n / 2; k++) {
      const double later = runs->is_b[2 * k + 1] ? 1 : -1;
      form->row[k * n + j] =
          (sign * ((j / 2 == k ? 1 : 0) - 1 / pairs) + (later - apart) * times[j] / squares) /
          sqrt(2);
    }
  }
}

static struct wander_form wander_form_make(const struct wander_runs *runs, bool paired,
                                           struct arena *arena) {
  const size_t n = runs->count;
  struct wander_form form = {.rows = n,
                             .row = arena_array(arena, n * n, sizeof(double)),
                             .spread_df = (double)n - 2,
                             .inflation = 1};
  if (paired) {
    wander_form_pairs(runs, &form);
    return form;
  }
  for (size_t j = 0; j < n; j++) {
    const double share = 1 / runs->counts[runs->is_b[j]];
    form.weights[j] = runs->is_b[j] ? -share : share;
    for (size_t i = 0; i < n; i++) {
      form.row[i * n + j] = (i == j ? 1 : 0) - (runs->is_b[i] == runs->is_b[j] ? share : 0);
    }
  }
  return form;
}

/* all: how many runs each side has, of which some are looked at. Nothing without a variance within
 * the sides. */
static void wander_set_effects(const struct wander_runs *runs, const struct wander_form *form,
                               const double all[2], struct wander_order *order) {
  const size_t n = runs->count;
  if (!(form->spread_df > 0 && runs->counts[0] > 0 && runs->counts[1] > 0)) {
    return;
  }
  SCOPED(memory_free) double *moved = sample_values_new(n * n);
  const double independent = (1 / all[0] + 1 / all[1]) * form->inflation;
  for (size_t m = 0; m < WANDER_MODELS; m++) {
    double difference = independent;
    double trace = 0;
    double squares = 0;
    for (size_t j = 0; j < n; j++) {
      double covariance[WANDER_RUNS_MAX];
      for (size_t i = 0; i < n; i++) {
        covariance[i] = wander_covariance(m, runs->at[i], runs->at[j]);
        difference += form->weights[i] * covariance[i] * form->weights[j];
      }
      covariance[j] += 1;
      for (size_t r = 0; r < form->rows; r++) {
        moved[r * n + j] = wander_product(&form->row[r * n], covariance, n);
      }
    }
    for (size_t r = 0; r < form->rows; r++) {
      for (size_t s = 0; s < form->rows; s++) {
        const double product = wander_product(&moved[r * n], &form->row[s * n], n);
        trace += r == s ? product : 0;
        squares += product * product;
      }
    }
    order->factors[m] = difference / (trace / form->spread_df) / independent;
    order->dfs[m] = trace * trace / squares;
  }
}

void wander_order_init(struct wander_order *order, const bool *is_b, size_t count, bool paired,
                       struct arena *arena) {
  struct wander_runs near = {.count = 0};
  double all[2] = {0, 0};
  *order = (struct wander_order){.paired = paired};
  for (size_t i = 0; i < count; i++) {
    all[is_b[i]]++;
  }
  wander_take_near(is_b, count, paired, &near);
  const struct wander_form form = wander_form_make(&near, paired, arena);
  order->count = near.count;
  memcpy(order->at, near.at, sizeof order->at);
  order->rows = form.rows;
  order->row = form.row;
  order->spread_df = form.spread_df;
  wander_set_likelihood(&near, order, arena);
  for (size_t m = 0; m < WANDER_MODELS; m++) {
    order->factors[m] = order->dfs[m] = 1;
  }
  struct wander_runs some = {.count = 0};
  wander_take_some(is_b, count, &some);
  if (paired || near.count == count) { /* pairs are alike, however many there are */
    wander_set_effects(&near, &form, near.counts, order);
  } else {
    const struct wander_form of_all = wander_form_make(&some, false, arena);
    wander_set_effects(&some, &of_all, all, order);
  }
}
