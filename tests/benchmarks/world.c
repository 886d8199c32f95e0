#include "tests/benchmarks/world.h"

#include "runner/statistics/sample.h"

#include <math.h>

static const double NODE_SD = 0.02, TRIALS_SD = 0.005;
static const double LENGTHS =
    0.35; /* of the cases that a clock's steps matter to, ln, either way */
/* Of the median of TRIALS values of variance 1. */
static const double MEDIAN_VARIANCE = 0.1383;

#define NORMAL .sd_low = 0.004, .sd_high = 0.004
#define QUIET  .sd_low = 0.001, .sd_high = 0.001

const struct world WORLDS[] = {
    {"normal, 0.4 %", NORMAL},
    {"the same, all of A before B", NORMAL, .order = A_THEN_B},
    {"the same, and all 0.3 % faster", NORMAL, .shift = 0.003},
    {"0.1 to 1.6 %, half of it shared", .sd_low = 0.001, .sd_high = 0.016, .shared = 0.5},
    {"0.01 to 5 %", .sd_low = 0.0001, .sd_high = 0.05},
    {"normal, 1.5 %", .sd_low = 0.015, .sd_high = 0.015},
    {"slow mode: 10 % of values, 3 %", NORMAL, .odd_share = 0.1, .odd = 0.03},
    {"slow mode: 10 % of processes, 3 %", NORMAL, .odd_share = 0.1, .odd = 0.03, .whole = true},
    {"outliers: 5 % of values, 20 %", NORMAL, .odd_share = 0.05, .odd = 0.2},
    {"outliers: 5 % of processes, 20 %", NORMAL, .odd_share = 0.05, .odd = 0.2, .whole = true},
    {"two modes of values, 3 % apart", .sd_low = 0.002, .sd_high = 0.002, .placement = 0.015},
    {"two tight modes of values, 5 % apart", .sd_low = 0.0005, .sd_high = 0.0005,
     .placement = 0.025},
    {"the same, 24 cases", .sd_low = 0.0005, .sd_high = 0.0005, .placement = 0.025, .cases = 24},
    {"two tight modes of processes, 5 %", .sd_low = 0.0005, .sd_high = 0.0005, .placement = 0.025,
     .whole = true},
    {"a clock of 2 %; 0.8 % slower", QUIET, .tick = 0.02, .small = -0.008},
    {"a clock of 2 %, all cases change", QUIET, .tick = 0.02, .changes = 0.02},
    {"a clock of 2 %, noise of 0.6 %", .sd_low = 0.006, .sd_high = 0.006, .tick = 0.02,
     .changes = 0.02},
    {"no spread at all", .sd_low = 1e-9, .sd_high = 1e-9, .tick = 0.001},
    {"shared by a GPU's cases, 0.8 %", .sd_low = 0.008, .sd_high = 0.008, .shared = 0.8,
     .by_gpu = true},
    {"10 cases, 2 %; A: 20 of 0.2 %", .sd_low = 0.02, .sd_high = 0.02, .a_sd = 0.002,
     .a_processes = 20, .cases = 10, .order = A_THEN_B},
    {"noisy: 3 %, all 2 % slower", .sd_low = 0.03, .sd_high = 0.03, .all_small = true,
     .small = -0.02},
    {"the same, 28 cases", .sd_low = 0.03, .sd_high = 0.03, .all_small = true, .small = -0.02,
     .cases = 28},
    {"one run each, runs differ by 0.3 %", NORMAL, .run_sd = 0.003, .layout = ONE_RUN},
    {"one run each, runs differ by 1 %", NORMAL, .run_sd = 0.01, .layout = ONE_RUN},
    {"the same, 10 earlier runs known", NORMAL, .run_sd = 0.01, .layout = ONE_RUN,
     .history_runs = 10},
    {"runs of 2 differ by 0.3 %", NORMAL, .run_sd = 0.003, .layout = RUNS_OF_TWO},
    {"runs of 2 differ by 1 %", NORMAL, .run_sd = 0.01, .layout = RUNS_OF_TWO},
    {"runs differ by 1 %", NORMAL, .run_sd = 0.01},
    {"runs differ by 1 %, A then B", NORMAL, .run_sd = 0.01, .order = A_THEN_B},
    {"runs differ by 1 %: A one, B more", NORMAL, .run_sd = 0.01, .layout = A_ONE_RUN,
     .order = A_THEN_B},
    {"wander 0.7 of 1 %, A then B", QUIET, .run_sd = 0.01, .wander = 0.7, .order = A_THEN_B},
    {"wander 0.95 of 1 %, A then B", QUIET, .run_sd = 0.01, .wander = 0.95, .order = A_THEN_B},
    {"wander 0.95 of 0.3 %, B then A", QUIET, .run_sd = 0.003, .wander = 0.95, .order = B_THEN_A},
    {"wander 0.95 of 1 %, ABAB", QUIET, .run_sd = 0.01, .wander = 0.95},
    {"wander 0.95 of 1 %, ABBA", QUIET, .run_sd = 0.01, .wander = 0.95, .order = ABBA},
    {"wander 0.9, in all alike, A then B", QUIET, .run_sd = 0.01, .run_shared = true, .wander = 0.9,
     .order = A_THEN_B},
    {"drift of 4 %, A then B", QUIET, .drift = 0.04, .order = A_THEN_B},
    {"drift of 4 %, ABAB", QUIET, .drift = 0.04},
    {"drift of 4 %, ABBA", QUIET, .drift = 0.04, .order = ABBA},
    {"1 %, 5 looks, uncorrected; 1.01 %", .sd_low = 0.01, .sd_high = 0.01, .order = A_THEN_B,
     .small = -0.0101, .looks = LOOKS_UNTOLD},
    {"1 %, 5 looks of --decide; 1.01 %", .sd_low = 0.01, .sd_high = 0.01, .order = A_THEN_B,
     .small = -0.0101, .looks = LOOKS_TOLD},
    {"nodes differ by 2 %, runs by 0.3 %", NORMAL, .run_sd = 0.003, .layout = NODES},
    {"the same; one node in ten 20 % off", NORMAL, .run_sd = 0.003, .layout = NODES,
     .odd_share = 0.05, .odd = 0.2, .whole = true},
};
const size_t WORLD_COUNT = COUNT_OF(WORLDS);

/* Median of 10 trials of standard deviation 1. */
static double world_median_of_trials(struct generator *g) {
  double trials[TRIALS];
  for (int i = 0; i < TRIALS; i++) {
    const double value = normal(g);
    int at = i;
    for (; at > 0 && trials[at - 1] > value; at--) {
      trials[at] = trials[at - 1];
    }
    trials[at] = value;
  }
  return (trials[TRIALS / 2 - 1] + trials[TRIALS / 2]) / 2;
}

void world_init(struct data *data) {
  struct generator g;
  generator_seed(&g, 20240229);
  for (size_t i = 0; i < MEDIANS; i++) {
    data->medians[i] = world_median_of_trials(&g);
  }
}

/* ---- what all cases of a process or run have in common ---- */

struct common {
  double process[SIDES][PROCESSES_MAX][GPUS];
  double level[SIDES * PROCESSES_MAX]; /* of runs in the order of time */
  double whole[SIDES][PROCESSES_MAX];  /* ln */
  double node[PROCESSES_MAX];          /* ln, on both sides */
  double earlier[HISTORY_MAX];         /* levels of earlier runs */
};

/* What a value, or a whole process, takes longer now and then, ln. */
static double world_odd(const struct world *world, struct generator *g) {
  double value = world->odd_share > 0 && uniform(g) < world->odd_share ? log1p(world->odd) : 0;
  if (world->placement > 0) {
    value += uniform(g) < 0.5 ? world->placement : -world->placement;
  }
  return value;
}

/* A stationary autoregressive series of standard deviation 1. */
static void world_levels(const struct world *world, double levels[SIDES * PROCESSES_MAX],
                         struct generator *g) {
  for (size_t t = 0; t < SIDES * (size_t)PROCESSES_MAX; t++) {
    const double fresh = normal(g);
    levels[t] =
        t == 0 ? fresh
               : world->wander * levels[t - 1] + sqrt(1 - world->wander * world->wander) * fresh;
  }
}

static void world_common(const struct world *world, struct common *common, struct generator *g) {
  for (size_t side = 0; side < SIDES; side++) {
    for (size_t p = 0; p < PROCESSES_MAX; p++) {
      for (size_t gpu = 0; gpu < GPUS; gpu++) {
        common->process[side][p][gpu] =
            gpu == 0 || world->by_gpu ? normal(g) : common->process[side][p][0];
      }
      common->whole[side][p] = world->whole ? world_odd(world, g) : 0;
    }
  }
  for (size_t p = 0; p < PROCESSES_MAX; p++) {
    common->node[p] = world->layout == NODES ? NODE_SD * normal(g) : 0;
  }
  world_levels(world, common->level, g);
  for (size_t r = 0; r < (size_t)world->history_runs; r++) {
    common->earlier[r] = normal(g);
  }
}

/* The run of a side's process, in the side. */
static size_t world_run(const struct world *world, size_t side, size_t process) {
  switch (world->layout) {
  case ONE_RUN:
    return 0;
  case RUNS_OF_TWO:
    return process / 2;
  case RUNS_OF_ONE:
  case NODES:
    break;
  case A_ONE_RUN:
    return side == SIDE_A ? 0 : process;
  }
  return process;
}

/* When a side's run is made, from 0. */
static size_t world_time(const struct world *world, const size_t runs[SIDES], size_t side,
                         size_t run) {
  switch (world->order) {
  case ABAB:
    return 2 * run + side;
  case ABBA:
    return 2 * run + (run % 2 == 1 ? 1 - side : side);
  case A_THEN_B:
    return side == SIDE_A ? run : runs[SIDE_A] + run;
  case B_THEN_A:
    break;
  }
  return side == SIDE_B ? run : runs[SIDE_B] + run;
}

/* ---- cases ---- */

/* How much longer than usual one process takes for a case, ln; without its run. */
static double world_value(const struct world *world, double sd, double common,
                          const struct data *data, struct generator *g) {
  const double value = sd * (sqrt(1 - world->shared) * normal(g) + sqrt(world->shared) * common);
  const double trials = sd < 1e-6 ? 0 : TRIALS_SD;
  return value + trials * data->medians[(size_t)(uniform(g) * MEDIANS)];
}

/* ---- the oracle ---- */

/* The units that an oracle weighs: runs. */
struct oracle_unit {
  double value, time, variance;
  bool is_b;
};

/* Solves c x = v for both v in place, c symmetric and positive, by Cholesky; c is lost. */
static void oracle_solve(double c[][SIDES * PROCESSES_MAX], size_t count,
                         double v[SIDES][SIDES * PROCESSES_MAX]) {
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j <= i; j++) {
      double sum = c[i][j];
      for (size_t k = 0; k < j; k++) {
        sum -= c[i][k] * c[j][k];
      }
      c[i][j] = i == j ? sqrt(sum) : sum / c[j][j];
    }
  }
  for (size_t s = 0; s < SIDES; s++) {
    for (size_t i = 0; i < count; i++) {
      for (size_t k = 0; k < i; k++) {
        v[s][i] -= c[i][k] * v[s][k];
      }
      v[s][i] /= c[i][i];
    }
    for (size_t i = count; i-- > 0;) {
      for (size_t k = i + 1; k < count; k++) {
        v[s][i] -= c[k][i] * v[s][k];
      }
      v[s][i] /= c[i][i];
    }
  }
}

/* Generalised least squares of two levels. */
static struct oracle oracle_estimate(const struct world *world, const struct oracle_unit *units,
                                     size_t count) {
  static double c[SIDES * PROCESSES_MAX][SIDES * PROCESSES_MAX];
  double v[SIDES][SIDES * PROCESSES_MAX];
  double information[SIDES][SIDES] = {{0}};
  double right[SIDES] = {0};
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j <= i; j++) {
      c[i][j] = world->run_sd * world->run_sd *
                    (i == j ? 1 : pow(world->wander, fabs(units[i].time - units[j].time))) +
                (i == j ? units[i].variance : 0);
    }
    v[SIDE_A][i] = units[i].is_b ? 0 : 1;
    v[SIDE_B][i] = units[i].is_b ? 1 : 0;
  }
  oracle_solve(c, count, v);
  for (size_t s = 0; s < SIDES; s++) {
    for (size_t i = 0; i < count; i++) {
      information[s][units[i].is_b] += v[s][i];
      right[s] += v[s][i] * units[i].value;
    }
  }
  const double determinant =
      information[0][0] * information[1][1] - information[0][1] * information[1][0];
  const double a = (right[0] * information[1][1] - right[1] * information[0][1]) / determinant;
  const double b = (right[1] * information[0][0] - right[0] * information[1][0]) / determinant;
  const double variance =
      (information[0][0] + information[1][1] + information[0][1] + information[1][0]) / determinant;
  return (struct oracle){a - b, sqrt(variance)};
}

/* The true change of a case's rate. */
static double world_truth(const struct world *world, size_t i, size_t count, bool changed,
                          struct generator *g) {
  const size_t share = count / SHARE;
  const double small = log1p(world->small < 0 ? world->small : SMALL_CHANGE);
  if (!changed) {
    return 0;
  }
  if (world->changes > 0) {
    return world->changes * (2 * uniform(g) - 1);
  }
  return world->all_small ? small : i < share ? log1p(CHANGE) : i < 2 * share ? small : 0;
}

/* Earlier runs of as many processes as side b, long before both sides. */
static void world_history(struct data *data, const struct world *world, size_t i,
                          const struct common *common, double sd, struct generator *g) {
  const size_t runs = (size_t)world->history_runs;
  const double within =
      sqrt((sd * sd + TRIALS_SD * TRIALS_SD * MEDIAN_VARIANCE) / (double)data->counts[SIDE_B]);
  double *values = data->earlier[i];
  for (size_t r = 0; r < runs; r++) {
    values[r] = world->run_sd * sqrt(0.5) * (common->earlier[r] + normal(g)) + within * normal(g);
    data->earlier_runs[r] = (uint32_t)r;
  }
  const struct sample sample = sample_summary(values, runs);
  for (size_t r = 0; r < runs; r++) {
    values[r] -= sample.mean;
  }
  data->cases[i].run_df = world->history_runs - 1;
  data->cases[i].run_variance = sample.variance;
  data->cases[i].earlier = (struct process_sample){values, runs, data->earlier_runs, NULL};
}

static void world_case(struct data *data, const struct world *world, size_t i,
                       const struct common *common, double last, const size_t used[SIDES],
                       struct generator *g) {
  const double sd = world->sd_low * pow(world->sd_high / world->sd_low, uniform(g));
  const double length = world->tick > 0 ? LENGTHS * (2 * uniform(g) - 1) : 0;
  const double share_common = world->run_shared ? 1 : 0.5;
  double own[SIDES * PROCESSES_MAX] = {0};
  if (world->run_sd > 0) {
    world_levels(world, own, g);
  }
  struct oracle_unit units[SIDES * PROCESSES_MAX] = {{0}};
  size_t unit_count = 0;
  for (size_t side = 0; side < SIDES; side++) {
    const double side_sd = side == 0 && world->a_sd > 0 ? world->a_sd : sd;
    const double trials = sd < 1e-6 ? 0 : TRIALS_SD;
    const double variance = side_sd * side_sd + trials * trials * MEDIAN_VARIANCE;
    for (size_t p = 0; p < data->counts[side]; p++) {
      const size_t time = world->layout == NODES ? side * PROCESSES_MAX + p
                                                 : (size_t)data->started[data->runs[side][p]];
      const double drift = world->drift * (double)time / last;
      const double of_run = world->run_sd * (sqrt(share_common) * common->level[time] +
                                             sqrt(1 - share_common) * own[time]) +
                            drift;
      const double odd = world->whole ? common->whole[side][p] : world_odd(world, g);
      double value = 12 - (side == SIDE_B ? data->truth[i] : 0) + of_run + odd + common->node[p] +
                     world_value(world, side_sd, common->process[side][p][i % GPUS], data, g);
      if (world->tick > 0) {
        value = log(fmax(1, round(exp(value - 12 + length) / world->tick)) * world->tick) + 12;
      }
      data->values[i][side][p] = value;
      if (p < used[side]) {
        const size_t in_run =
            world->layout == RUNS_OF_TWO                                            ? 2
            : world->layout == ONE_RUN || (world->layout == A_ONE_RUN && side == 0) ? used[side]
                                                                                    : 1;
        struct oracle_unit *unit = &units[unit_count - (p % in_run > 0)];
        unit_count += p % in_run == 0;
        const double share = 1 / fmin((double)in_run, (double)(used[side] - p + p % in_run));
        unit->value += share * (value - odd - common->node[p] - drift);
        unit->time = (double)time;
        unit->variance = variance * share;
        unit->is_b = side == SIDE_B;
      }
    }
  }
  data->oracles[i] = oracle_estimate(world, units, unit_count);
  data->oracles[i].error = hypot(data->oracles[i].error, world->tick / exp(length) / sqrt(6));
  data->cases[i] = (struct diff_case){.delta = DELTA,
                                      .families = {(uint32_t)i % 4, 0, 0},
                                      .paired = world->layout == NODES,
                                      .started = world->layout == NODES ? NULL : data->started};
  if (world->history_runs > 1) {
    world_history(data, world, i, common, sd, g);
  }
}

bool world_goes_on(const struct world *world) {
  return world->layout == RUNS_OF_ONE && world->looks == ONE_LOOK && world->a_processes == 0 &&
         (world->order == ABAB || world->order == ABBA);
}

void world_simulate(struct data *data, const struct world *world, size_t processes, bool changed,
                    struct generator *g) {
  struct common common;
  const size_t later = world->looks == ONE_LOOK ? 0 : LOOK_RUNS * (LOOKS - 1);
  size_t runs[SIDES];
  const size_t used[SIDES] = {world->a_processes > 0 ? world->a_processes : processes, processes};
  for (size_t side = 0; side < SIDES; side++) {
    data->counts[side] =
        world_goes_on(world) ? PROCESSES_MAX : used[side] + (side == SIDE_B ? later : 0);
  }
  data->count = world->cases > 0 ? world->cases : CASES;
  world_common(world, &common, g);
  for (size_t side = 0; side < SIDES; side++) {
    runs[side] = world_run(world, side, data->counts[side] - 1) + 1;
  }
  for (size_t side = 0; side < SIDES; side++) {
    const size_t first = world->layout == NODES ? 0 : side * PROCESSES_MAX;
    for (size_t p = 0; p < data->counts[side]; p++) {
      const size_t run = world_run(world, side, p);
      data->runs[side][p] = (uint32_t)(first + run);
      data->started[first + run] = (int64_t)world_time(world, runs, side, run);
    }
  }
  double last = -1; /* of what is used, or may be measured until it is decided */
  for (size_t side = 0; side < SIDES; side++) {
    last += (double)world_run(world, side, used[side] + (side == SIDE_B ? later : 0) - 1) + 1;
  }
  for (size_t i = 0; i < data->count; i++) {
    data->truth[i] = world_truth(world, i, data->count, changed, g) + log1p(world->shift);
    world_case(data, world, i, &common, last, used, g);
    struct process_sample *const sides[SIDES] = {&data->cases[i].a, &data->cases[i].b};
    for (size_t side = 0; side < SIDES; side++) {
      *sides[side] =
          (struct process_sample){data->values[i][side], used[side], NULL, data->runs[side]};
    }
  }
}
