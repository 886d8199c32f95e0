/* Who follows the advice to the letter is done after three rounds: what is not decided then is said
 * to stay so. */
#include "runner/analysis/more_runs.h"
#include "tests/runner/analysis/made.h"
#include "tests/runner/statistics/numbers.h"

enum { CASES = 24, RUNS_MAX = 240, ROUNDS = 4, SEEDS = ROUNDS(8, 2) };

/* How a machine behaves. Changes are of every eighth case, logarithms of times; noise is of every
 * run. */
struct world {
  const char *name;
  unsigned runs[SIDES]; /* so far */
  bool in_turn;
  double noise, change;
  bool odd;     /* the first run of B has no change */
  double mode;  /* every second result takes that much longer */
  double drift; /* per run */
  double open;  /* share of the cases that may stay open */
};

static const struct world WORLDS[] = {
    {"one odd run", {5, 6}, .in_turn = true, .noise = 0.0005, .change = 0.03, .odd = true},
    {"one odd run, B later", {5, 6}, .noise = 0.0005, .change = 0.03, .odd = true},
    {"one odd run of 6, A 30", {30, 6}, .noise = 0.0005, .change = 0.03, .odd = true, .open = 0.02},
    {"5 and 6 runs", {5, 6}, .in_turn = true, .noise = 0.01, .change = 0.03, .open = 0.2},
    {"1 and 8 runs", {1, 8}, .noise = 0.004, .change = 0.03, .open = 0.02},
    {"one run each", {1, 1}, .noise = 0.003, .change = 0.02},
    {"drift, B later", {5, 5}, .noise = 0.002, .change = 0.03, .drift = 0.002},
    {"two modes", {4, 4}, .in_turn = true, .noise = 0.0005, .mode = 0.05, .open = 1},
    {"two modes, B later", {5, 6}, .noise = 0.0005, .mode = 0.05, .open = 1},
    {"at the limit", {5, 5}, .in_turn = true, .noise = 0.003, .change = 0.0101, .open = 0.15},
    {"near the limit", {4, 4}, .in_turn = true, .noise = 0.004, .change = 0.013, .open = 0.15},
    {"too noisy", {6, 6}, .in_turn = true, .noise = 0.04, .change = 0.03, .open = 1},
    {"quiet", {4, 4}, .in_turn = true, .noise = 0.001, .change = 0.02},
    {"two and two", {2, 2}, .in_turn = true, .noise = 0.004, .change = 0.02},
    {"two and two, B later", {2, 2}, .noise = 0.004, .change = 0.02},
    {"three and three", {3, 3}, .noise = 0.008, .change = 0.03, .open = 0.1},
    {"four, B later", {4, 4}, .noise = 0.004, .change = 0.015, .open = 0.05},
    {"10, B later", {10, 10}, .noise = 0.01, .change = 0.02, .open = 0.1},
    {"much drift, B later", {5, 5}, .noise = 0.002, .change = 0.02, .drift = 0.01},
    {"drift, in turn", {4, 4}, .in_turn = true, .noise = 0.004, .change = 0.02, .drift = 0.003},
    {"one run, ten runs", {10, 1}, .noise = 0.004, .change = 0.02},
    {"20 and 20, near", {20, 20}, .in_turn = true, .noise = 0.012, .change = 0.02, .open = 0.4},
    {"modes and change",
     {5, 5},
     .in_turn = true,
     .noise = 0.002,
     .change = 0.03,
     .mode = 0.02,
     .open = 0.5},
};

/* What was measured, run by run. */
struct measured {
  size_t runs;
  enum side sides[RUNS_MAX];
  double values[RUNS_MAX][CASES]; /* NAN = not measured */
};

static void measure(const struct world *world, enum side side, const bool *cases,
                    struct measured *m, uint64_t *seed) {
  const size_t run = m->runs++;
  assert_true(m->runs <= RUNS_MAX);
  bool first = side == SIDE_B;
  for (size_t r = 0; r < run; r++) {
    first = first && m->sides[r] != SIDE_B;
  }
  m->sides[run] = side;
  for (size_t i = 0; i < CASES; i++) {
    const bool changed = side == SIDE_B && i % 8 == 0 && !(world->odd && first);
    const double value = 14 + world->noise * noise_normal(seed) + (changed ? world->change : 0) +
                         (noise_uniform(seed) < 0.5 ? world->mode : 0) + world->drift * (double)run;
    m->values[run][i] = cases == NULL || cases[i] ? value : NAN;
  }
}

/* The runs of a database. */
static struct results *made_results(const struct measured *m) {
  struct results *results = results_new();
  const size_t environments[SIDES] = {made_environment(results, "node", "570.1", false),
                                      made_environment(results, "node", "580.1", false)};
  for (size_t r = 0; r < m->runs; r++) {
    (void)made_run(results, environments[m->sides[r]]);
  }
  for (size_t i = 0; i < CASES; i++) {
    const size_t bench = made_case(results, arena_format(&results->arena, "key%02zu", i), "block",
                                   (int)i % MADE_GPUS, UINT64_C(64) << 20);
    for (size_t r = 0; r < m->runs; r++) {
      if (!isnan(m->values[r][i])) {
        made_median(results, (struct results_median){.run = (uint32_t)r,
                                                     .bench = (uint32_t)bench,
                                                     .process = (int64_t)(1 + r),
                                                     .ns = exp(m->values[r][i]),
                                                     .status = CASE_OK});
      }
    }
  }
  return results;
}

/* Runs as the advice says; of both sides in turn, that of the last run first. */
static void follow(const struct world *world, const struct more_runs *more, const bool *cases,
                   struct measured *m, uint64_t *seed) {
  const enum side first = m->sides[m->runs - 1];
  for (unsigned i = 0; i < more->count; i++) {
    if (more->of[SIDE_A] && more->of[SIDE_B]) {
      const enum side sides[SIDES] = {i % 2 == 0 ? first : (enum side)(1 - first),
                                      i % 2 == 0 ? (enum side)(1 - first) : first};
      measure(world, sides[0], cases, m, seed);
      measure(world, sides[1], cases, m, seed);
    } else {
      measure(world, more->of[SIDE_A] ? SIDE_A : SIDE_B, cases, m, seed);
    }
  }
}

/* The runs that there are before any advice. */
static void start(const struct world *world, struct measured *m, uint64_t *seed) {
  m->runs = 0;
  for (unsigned s = 0; s < SIDES && !world->in_turn; s++) {
    for (unsigned r = 0; r < world->runs[s]; r++) {
      measure(world, (enum side)s, NULL, m, seed);
    }
  }
  for (unsigned r = 0; r < RUNS_MAX && world->in_turn; r++) {
    for (unsigned s = 0; s < SIDES; s++) {
      if (r < world->runs[s]) {
        measure(world, (enum side)s, NULL, m, seed);
      }
    }
  }
}

/* With the threshold that is named at the end, all undecided cases are the same. */
static void try_delta(const struct results *results, const struct measured *m,
                      const struct more_runs_end *end, struct error *err) {
  const struct compare_options options = {
      .diff = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05},
      .margin = 1.001 * end->delta};
  struct comparison *comparison = NULL;
  assert_true(end->delta > 0.01);
  assert_int_equal(compare(results, m->sides, &options, &comparison, err), STATUS_OK);
  assert_int_equal(more_runs_end_find(comparison).undecided, 0);
  comparison_free(comparison);
}

/* What was found, and asked for at first. */
struct outcome {
  unsigned rounds; /* until nothing more is asked for */
  size_t open;     /* cases that are undecided or provisional then */
  struct more_runs first;
};

static struct outcome follow_all(const struct world *world, uint64_t seed, struct error *err) {
  static const struct more_runs_site SITES[SIDES] = {{.elsewhere = true}, {0}};
  static const struct compare_options OPTIONS = {
      .diff = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05}};
  static struct measured m;
  struct outcome outcome = {0};
  for (start(world, &m, &seed);; outcome.rounds++) {
    SCOPED(results_free_at) struct results *results = made_results(&m);
    struct comparison *comparison = NULL;
    bool open[CASES] = {0};
    outcome.open = 0;
    assert_int_equal(compare(results, m.sides, &OPTIONS, &comparison, err), STATUS_OK);
    for (size_t i = 0; i < comparison->row_count; i++) {
      const struct comparison_row *row = &comparison->rows[i];
      open[row->bench] = comparison_row_is_open(row);
      outcome.open += open[row->bench];
    }
    const struct more_runs more = more_runs_find(comparison, SITES, false);
    const struct more_runs_end end = more_runs_end_find(comparison);
    const unsigned least = comparison->units_least[SIDE_A] < comparison->units_least[SIDE_B]
                               ? comparison->units_least[SIDE_A]
                               : comparison->units_least[SIDE_B];
    comparison_free(comparison);
    outcome.first = outcome.rounds == 0 ? more : outcome.first;
    if (more.count == 0 || more.anew) { /* what is open is said to stay so */
      if (end.undecided > 0 && !isnan(end.delta)) {
        try_delta(results, &m, &end, err);
      }
      return outcome;
    }
    const bool is_few = least < DIFF_PROCESSES_FIRM; /* one more may make it firm */
    assert_true(more.count >= (is_few ? 1 : 2) && outcome.rounds < ROUNDS);
    follow(world, &more, more.open_alone ? open : NULL, &m, &seed);
  }
}

TEST(advice_ends) {
  for (size_t w = 0; w < COUNT_OF(WORLDS); w++) {
    size_t counts[ROUNDS + 1] = {0};
    size_t open = 0;
    for (uint64_t s = 0; s < SEEDS; s++) {
      const struct outcome outcome = follow_all(&WORLDS[w], 100 * w + s, err);
      counts[outcome.rounds]++;
      open += outcome.open;
    }
    print_message("%-22s %zu ends at once, %zu after one round, %zu after two, %zu after three; "
                  "%.1f of %d cases stay open\n",
                  WORLDS[w].name, counts[0], counts[1], counts[2], counts[3], (double)open / SEEDS,
                  CASES);
    if (SEEDS == 8) { /* a share of fewer is chance */
      assert_true((double)open <= WORLDS[w].open * SEEDS * CASES);
    }
  }
}

/* The other one has runs enough, and they agree: more of it alone decide nothing. */
TEST(the_side_with_the_odd_run_is_measured) {
  for (size_t w = 0; w < COUNT_OF(WORLDS) && WORLDS[w].odd; w++) {
    for (uint64_t s = 0; s < SEEDS; s++) {
      const struct outcome outcome = follow_all(&WORLDS[w], 100 * w + s, err);
      const bool b_alone = WORLDS[w].runs[SIDE_A] == 30;
      assert_true(outcome.first.of[SIDE_B]);
      assert_int_equal(outcome.first.of[SIDE_A], !b_alone);
      assert_in_range(outcome.first.count, 2, 25);
      assert_true(outcome.open == 0 || b_alone); /* drift may explain it, to the end */
    }
  }
}

/* The first run of B, run 6, of the cases that changed. */
TEST(the_run_that_is_apart_is_named) {
  static struct measured m;
  static const struct compare_options OPTIONS = {
      .diff = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05}};
  uint64_t seed = 3;
  start(&WORLDS[1], &m, &seed);
  SCOPED(results_free_at) struct results *results = made_results(&m);
  struct comparison *comparison = NULL;
  assert_int_equal(compare(results, m.sides, &OPTIONS, &comparison, err), STATUS_OK);
  const struct more_runs_end end = more_runs_end_find(comparison);
  assert_int_equal(end.undecided, CASES / 8);
  assert_int_equal(end.apart, CASES / 8);
  assert_int_equal(end.side_apart, SIDE_B);
  assert_int_equal(end.run_apart, 6);
  assert_int_equal(end.two_modes, 0);
  comparison_free(comparison);
}
