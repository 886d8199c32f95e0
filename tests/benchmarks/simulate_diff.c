/* How often is a diff right? Machines are simulated, the real diff judges them.
 *
 * 400 cases; process medians of 10 trials; standard deviation between processes 0.4 %, between
 * trials 0.5 %. Three worlds: 20 cases really 3 % slower; the same with 0.3 % shift of all cases;
 * and nothing changed. A fourth is less kind than asked for: the spread differs from case to case
 * (between processes 0.1 to 1.6 %, log-uniform), and half of it is shared by all cases of a
 * process. Seeded: the same table everywhere.
 *
 *   simulate_diff [DIFFS] [moderated|rank]      default 200 moderated, about a minute
 *
 * Columns: false discoveries = mean share of false ones among those reported; found = share of the
 * real changes reported; any = share of diffs that report anything; same = share of the unchanged
 * cases shown to be so. Ends with 1 when a promise is broken: false discoveries at most 5 %; found
 * at least 80 % at 3 and 93 % at 5 processes; any at most 1 % where nothing changed. */
#include "runner/analysis/diff.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 400, CHANGED = 20, PROCESSES_MAX = 10, TRIALS = 10, MEDIANS = 1 << 18 };

struct world {
  const char *name;
  double change; /* of the rate, in CHANGED cases */
  double shift;  /* of the rate, in all cases */
  bool unkind;
};

static const struct world WORLDS[] = {
    {"20 of 400 are 3 % slower", -0.03, 0, false},
    {"the same, and all 0.3 % faster", -0.03, 0.003, false},
    {"nothing changed", 0, 0, false},
    {"20 slower, unequal and shared spread", -0.03, 0, true},
    {"nothing changed, unequal and shared spread", 0, 0, true},
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
  struct diff_case cases[CASES];
  double values[CASES][2][PROCESSES_MAX];
  struct diff_result results[CASES];
  double medians[MEDIANS]; /* drawn from, instead of ten trials each time: ten times as fast */
};

static void simulate(struct data *data, const struct world *world, size_t processes,
                     struct generator *g) {
  double shared[2][PROCESSES_MAX];
  for (size_t side = 0; side < 2; side++) {
    for (size_t p = 0; p < processes; p++) {
      shared[side][p] = normal(g);
    }
  }
  for (size_t i = 0; i < CASES; i++) {
    const double sd = world->unkind ? 0.001 * pow(16, uniform(g)) : 0.004;
    for (size_t side = 0; side < 2; side++) {
      const double rate =
          side == 1 ? log1p(i < CHANGED ? world->change : 0) + log1p(world->shift) : 0;
      for (size_t p = 0; p < processes; p++) {
        const double own = normal(g);
        const double spread = world->unkind ? (own + shared[side][p]) / sqrt(2) : own;
        const double trial_noise = data->medians[(size_t)(uniform(g) * MEDIANS)];
        data->values[i][side][p] = 12 - rate + sd * spread + 0.005 * trial_noise;
      }
    }
    data->cases[i] = (struct diff_case){.a = {.values = data->values[i][0], .count = processes},
                                        .b = {.values = data->values[i][1], .count = processes},
                                        .families = {(uint32_t)i % 4, 0, 0},
                                        .margin = 0.01};
  }
}

struct tally {
  double false_discoveries, found, any, same;
};

static void judge(const struct data *data, const struct world *world, struct tally *tally) {
  size_t right = 0;
  size_t wrong = 0;
  size_t same = 0;
  const size_t changed = world->change < 0 ? CHANGED : 0;
  for (size_t i = 0; i < CASES; i++) {
    const enum verdict verdict = data->results[i].verdict;
    const bool reported = verdict == VERDICT_REGRESSED || verdict == VERDICT_IMPROVED;
    right += i < changed && verdict == VERDICT_REGRESSED;
    wrong += reported && !(i < changed && verdict == VERDICT_REGRESSED);
    same += i >= changed && verdict == VERDICT_SAME;
  }
  tally->false_discoveries += right + wrong > 0 ? (double)wrong / (double)(right + wrong) : 0;
  tally->found += changed > 0 ? (double)right / (double)changed : 0;
  tally->any += right + wrong > 0;
  tally->same += (double)same / (double)(CASES - changed);
}

/* True when what is promised holds. */
static bool keeps_promises(const struct world *world, size_t processes, const struct tally *t) {
  if (world->unkind) {
    return t->false_discoveries <= 0.05;
  }
  if (world->change == 0) {
    return t->any <= 0.01;
  }
  const double least = processes >= 5 ? 0.93 : processes >= 3 ? 0.80 : 0;
  return t->false_discoveries <= 0.05 && t->found >= least;
}

static bool run(const struct world *world, size_t processes, long diffs,
                const struct diff_options *options, struct data *data, struct generator *g) {
  struct tally tally = {0, 0, 0, 0};
  for (long d = 0; d < diffs; d++) {
    struct diff_summary summary;
    simulate(data, world, processes, g);
    diff_compare(data->cases, CASES, options, data->results, &summary);
    judge(data, world, &tally);
  }
  const double n = (double)diffs;
  tally =
      (struct tally){tally.false_discoveries / n, tally.found / n, tally.any / n, tally.same / n};
  const bool fine = keeps_promises(world, processes, &tally);
  char found[16] = "-";
  if (world->change < 0) {
    (void)snprintf(found, sizeof found, "%.1f %%", 100 * tally.found);
  }
  (void)printf("| %-42s | %9zu | %15.2f %% | %8s | %6.1f %% | %6.1f %% |%s\n", world->name,
               processes, 100 * tally.false_discoveries, found, 100 * tally.any, 100 * tally.same,
               fine ? "" : " BROKEN");
  return fine;
}

int main(int argc, char **argv) {
  const long diffs = argc > 1 ? strtol(argv[1], NULL, 10) : 200;
  struct diff_options options = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05};
  if (diffs < 1 || (argc > 2 && !diff_method_parse(argv[2], &options.method))) {
    (void)fprintf(stderr, "usage: simulate_diff [DIFFS] [moderated|rank]\n");
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
  (void)printf("| %-42s | processes | false discoveries |    found |      any |     same |\n"
               "|--------------------------------------------|----------:|------------------:|"
               "---------:|---------:|---------:|\n",
               "simulated");
  bool fine = true;
  for (size_t w = 0; w < sizeof WORLDS / sizeof *WORLDS; w++) {
    for (size_t p = 0; p < sizeof PROCESSES / sizeof *PROCESSES; p++) {
      fine = run(&WORLDS[w], PROCESSES[p], diffs, &options, data, &g) && fine;
    }
  }
  free(data);
  return fine || options.method != DIFF_MODERATED ? 0 : 1;
}
