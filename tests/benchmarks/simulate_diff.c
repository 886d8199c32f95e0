/* How often is a diff right? Machines are simulated, the real diff judges them.
 *
 * Every world is simulated twice: as A/A, where nothing changed, and with changes: of all cases one
 * in eight is 3 % slower on side b and one in eight 1.5 % slower, where 1 % matters. Process
 * medians are of 10 trials that scatter by 0.5 %. Seeded: the same table everywhere.
 *
 *   simulate_diff [DIFFS] [moderated|rank] [WORLD]
 *
 * 100 diffs and moderated unless given, which takes about two minutes; WORLD is a part of a name.
 *
 * Columns: any = share of A/A diffs that report a change; wrong = mean share of false ones among
 * the changes reported, same sign included; found = share of the cases 3 % slower that are
 * REGRESSED; same = share of the unchanged cases that are SAME; false same = share of the cases
 * 1.5 % slower that are SAME; covered = share of the 95 % intervals that hold the true change. Ends
 * with 1 when a promise is broken: from 4 processes per side on, any, wrong and false same are at
 * most 5 %, and in the first world at least 93 % are found. Chance is allowed for: two standard
 * errors. */
#include "runner/analysis/diff.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 160, SHARE = 8, PROCESSES_MAX = 20, TRIALS = 10, MEDIANS = 1 << 18, GPUS = 4 };
static const double CHANGE = -0.03, SMALL_CHANGE = -0.015, DELTA = 0.01;

struct world {
  const char *name;
  double sd_low, sd_high; /* between processes, log-uniform from case to case */
  double shared;          /* share of that variance that all cases of a process have in common */
  bool by_gpu;            /* in common are the cases of one GPU */
  double shift;           /* of the rate, in all cases */
  double a_sd;            /* of side a instead */
  size_t a_processes;     /* of side a, where it has not as many as side b */
  size_t cases;           /* 0 = CASES */
  double odd_share, odd;  /* that share of the processes' values takes so much longer */
  double placement;       /* each value is that much lower or higher, at random */
};

static const struct world WORLDS[] = {
    {"normal, 0.4 %", .sd_low = 0.004, .sd_high = 0.004},
    {"the same, and all 0.3 % faster", .sd_low = 0.004, .sd_high = 0.004, .shift = 0.003},
    {"0.1 to 1.6 %, half of it shared", .sd_low = 0.001, .sd_high = 0.016, .shared = 0.5},
    {"0.01 to 5 %", .sd_low = 0.0001, .sd_high = 0.05},
    {"noisy: 2.5 %", .sd_low = 0.025, .sd_high = 0.025},
    {"slow mode: 10 % of values, 3 %", .sd_low = 0.004, .sd_high = 0.004, .odd_share = 0.1,
     .odd = 0.03},
    {"outliers: 5 % of values, 20 %", .sd_low = 0.004, .sd_high = 0.004, .odd_share = 0.05,
     .odd = 0.2},
    {"placement: 1.5 % up or down", .sd_low = 0.002, .sd_high = 0.002, .placement = 0.015},
    {"shared by a GPU's cases, 0.8 %", .sd_low = 0.008, .sd_high = 0.008, .shared = 0.8,
     .by_gpu = true},
    {"10 cases, 2 %; A: 20 of 0.2 %", .sd_low = 0.02, .sd_high = 0.02, .a_sd = 0.002,
     .a_processes = 20, .cases = 10},
};
static const size_t PROCESSES[] = {2, 3, 5, 10};

/* xoshiro256++ (Blackman and Vigna 2019), seeded by splitmix64. */
struct generator {
  uint64_t state[4];
  double spare;
  bool has_spare;
};

static void generator_seed(struct generator *g, uint64_t seed) {
  for (int i = 0; i < 4; i++) {
    uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    g->state[i] = z ^ (z >> 31);
  }
  g->has_spare = false;
}

static uint64_t rotate(uint64_t x, int k) {
  return (x << k) | (x >> (64 - k));
}

static double uniform(struct generator *g) {
  uint64_t *s = g->state;
  const uint64_t result = rotate(s[0] + s[3], 23) + s[0];
  const uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 45);
  return ((double)(result >> 11) + 0.5) / 9007199254740992.0;
}

/* Marsaglia's polar method. */
static double normal(struct generator *g) {
  if (g->has_spare) {
    g->has_spare = false;
    return g->spare;
  }
  double u = 0;
  double v = 0;
  double s = 0;
  do {
    u = 2 * uniform(g) - 1;
    v = 2 * uniform(g) - 1;
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  const double factor = sqrt(-2 * log(s) / s);
  g->spare = v * factor;
  g->has_spare = true;
  return u * factor;
}

/* Median of 10 trials of standard deviation 1. */
static double median_of_trials(struct generator *g) {
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

struct data {
  size_t count;
  struct diff_case cases[CASES];
  double values[CASES][2][PROCESSES_MAX];
  double truth[CASES]; /* ln of the rates' ratio */
  struct diff_result results[CASES];
  double medians[MEDIANS]; /* drawn from, instead of ten trials each time: ten times as fast */
};

/* What all cases of a process have in common, on each of the GPUs. */
struct common {
  double process[2][PROCESSES_MAX][GPUS];
};

static void simulate_common(const struct world *world, struct common *common, struct generator *g) {
  for (size_t side = 0; side < 2; side++) {
    for (size_t p = 0; p < PROCESSES_MAX; p++) {
      for (size_t gpu = 0; gpu < GPUS; gpu++) {
        common->process[side][p][gpu] =
            gpu == 0 || world->by_gpu ? normal(g) : common->process[side][p][0];
      }
    }
  }
}

/* How much longer than usual one process takes for a case, ln. */
static double simulate_value(const struct world *world, double sd, double common,
                             const struct data *data, struct generator *g) {
  double value = sd * (sqrt(1 - world->shared) * normal(g) + sqrt(world->shared) * common);
  value += 0.005 * data->medians[(size_t)(uniform(g) * MEDIANS)];
  value += world->odd_share > 0 && uniform(g) < world->odd_share ? log1p(world->odd) : 0;
  if (world->placement > 0) {
    value += uniform(g) < 0.5 ? world->placement : -world->placement;
  }
  return value;
}

/* The true change of a case's rate. */
static double simulate_truth(size_t i, size_t count, bool changed) {
  const size_t share = count / SHARE;
  return !changed || i >= 2 * share ? 0 : log1p(i < share ? CHANGE : SMALL_CHANGE);
}

static void simulate(struct data *data, const struct world *world, size_t processes, bool changed,
                     struct generator *g) {
  struct common common;
  const size_t counts[2] = {world->a_processes > 0 ? world->a_processes : processes, processes};
  data->count = world->cases > 0 ? world->cases : CASES;
  simulate_common(world, &common, g);
  for (size_t i = 0; i < data->count; i++) {
    const double sd = world->sd_low * pow(world->sd_high / world->sd_low, uniform(g));
    data->truth[i] = simulate_truth(i, data->count, changed) + log1p(world->shift);
    for (size_t side = 0; side < 2; side++) {
      const double side_sd = side == 0 && world->a_sd > 0 ? world->a_sd : sd;
      for (size_t p = 0; p < counts[side]; p++) {
        data->values[i][side][p] =
            12 - (side == 1 ? data->truth[i] : 0) +
            simulate_value(world, side_sd, common.process[side][p][i % GPUS], data, g);
      }
    }
    data->cases[i] = (struct diff_case){.a = {.values = data->values[i][0], .count = counts[0]},
                                        .b = {.values = data->values[i][1], .count = counts[1]},
                                        .families = {(uint32_t)i % 4, 0, 0},
                                        .delta = DELTA};
  }
}

/* Sums over diffs. */
struct tally {
  double any, wrong, found, same, false_same, covered;
};

static void judge(const struct data *data, bool changed, struct tally *tally) {
  const size_t share = data->count / SHARE;
  size_t right = 0;
  size_t wrong = 0;
  size_t found = 0;
  size_t same = 0;
  size_t false_same = 0;
  size_t covered = 0;
  for (size_t i = 0; i < data->count; i++) {
    const struct diff_result *result = &data->results[i];
    const bool is_regressed = result->verdict == VERDICT_REGRESSED;
    const bool is_changed = changed && i < 2 * share;
    right += is_changed && is_regressed;
    wrong += (is_regressed && !is_changed) || result->verdict == VERDICT_IMPROVED;
    found += is_regressed && i < share;
    same += !is_changed && result->verdict == VERDICT_SAME;
    false_same += is_changed && i >= share && result->verdict == VERDICT_SAME;
    covered +=
        log1p(result->change_low) <= data->truth[i] && data->truth[i] <= log1p(result->change_high);
  }
  if (!changed) {
    tally->any += wrong > 0;
    tally->same += (double)same / (double)data->count;
    tally->covered += (double)covered / (double)data->count;
    return;
  }
  tally->wrong += right + wrong > 0 ? (double)wrong / (double)(right + wrong) : 0;
  tally->found += (double)found / (double)share;
  tally->false_same += (double)false_same / (double)share;
}

/* Whether a share that was found n times is at most 5 %, give or take chance. */
static bool is_rare(double share, double n) {
  return share <= 0.05 + 2 * sqrt(0.05 * 0.95 / n);
}

static bool keeps_promises(const struct world *world, size_t processes, double diffs,
                           const struct tally *t) {
  if (processes < 4) {
    return true;
  }
  return is_rare(t->any, diffs) && t->wrong <= 0.05 && is_rare(t->false_same, diffs) &&
         (world != &WORLDS[0] || t->found >= 0.93);
}

static bool run(const struct world *world, size_t processes, long diffs,
                const struct diff_options *options, struct data *data, struct generator *g) {
  struct tally t = {0};
  for (long d = 0; d < 2 * diffs; d++) {
    struct diff_summary summary;
    const bool changed = d % 2 == 1;
    simulate(data, world, processes, changed, g);
    diff_compare(data->cases, data->count, options, data->results, &summary);
    judge(data, changed, &t);
  }
  const double n = (double)diffs;
  t = (struct tally){t.any / n,  t.wrong / n,      t.found / n,
                     t.same / n, t.false_same / n, t.covered / n};
  const bool fine = keeps_promises(world, processes, n, &t);
  (void)printf(
      "| %-34s | %9zu | %5.1f %% | %5.1f %% | %5.1f %% | %5.1f %% | %9.1f %% | %5.1f %% |%s\n",
      world->name, processes, 100 * t.any, 100 * t.wrong, 100 * t.found, 100 * t.same,
      100 * t.false_same, 100 * t.covered, fine ? "" : " BROKEN");
  (void)fflush(stdout);
  return fine;
}

int main(int argc, char **argv) {
  const long diffs = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
  struct diff_options options = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05};
  if (diffs < 1 || (argc > 2 && !diff_method_parse(argv[2], &options.method))) {
    (void)fprintf(stderr, "usage: simulate_diff [DIFFS] [moderated|rank] [WORLD]\n");
    return 2;
  }
  struct data *data = calloc(1, sizeof *data);
  if (data == NULL) {
    return 1;
  }
  struct generator g;
  generator_seed(&g, 20240229);
  for (size_t i = 0; i < MEDIANS; i++) {
    data->medians[i] = median_of_trials(&g);
  }
  (void)printf(
      "| %-34s | processes |     any |   wrong |   found |    same |  false same | covered |\n"
      "|------------------------------------|----------:|--------:|--------:|--------:|"
      "--------:|------------:|--------:|\n",
      "spread between processes");
  bool fine = true;
  for (size_t w = 0; w < sizeof WORLDS / sizeof *WORLDS; w++) {
    for (size_t p = 0; p < sizeof PROCESSES / sizeof *PROCESSES; p++) {
      if (argc < 4 || strstr(WORLDS[w].name, argv[3]) != NULL) {
        generator_seed(&g, 1000 * w + p); /* one world alone is as it is among all */
        fine = run(&WORLDS[w], PROCESSES[p], diffs, &options, data, &g) && fine;
      }
    }
  }
  free(data);
  return fine || options.method != DIFF_MODERATED ? 0 : 1;
}
