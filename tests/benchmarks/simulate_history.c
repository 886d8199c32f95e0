/* simulate_history.c [LOOKS] - how often are the marks of history right? Looks at 228 series of 52
 * runs are simulated, history_new() judges them. Seeded: the same table everywhere. 40 looks of
 * each kind unless given.
 *
 * Every series spreads by 1 %, half of the variance common to all. In the looks with changes one
 * series in ten becomes 3 % slower, at a run between the eighth and the last eighth.
 *
 * Columns: look = share of the looks without a change that mark anything; series = share of their
 * series with a mark; wrong = share of the marked series that did not change, of looks with
 * changes; found = share of the changed series that are marked; kind = share of these marks of the
 * right kind, of a step with the true run between the first and the last that it may have begun
 * with. Ends with 1 where more than 5 % of the looks or of the marks are wrong; chance is allowed
 * for: two standard errors. */
#include "runner/analysis/history.h"
#include "tests/benchmarks/generator.h"
#include "tests/runner/analysis/made.h"

enum { SERIES = 228, RUNS = 52, ONE_IN = 10 };
static const double SPREAD = 0.01, LOSS = 0.03;

static const struct world {
  const char *name;
  double wander; /* correlation of a run with the next */
  bool drifts;   /* what changes does so from the first run to the last */
} WORLDS[] = {{"independent, steps", 0, false},
              {"independent, drifts", 0, true},
              {"wander 0.5, steps", 0.5, false},
              {"wander 0.9, steps", 0.9, false}};

struct look {
  size_t at[SERIES]; /* the run that is the first of the new level; 0 = none */
  size_t marked, changed, wrong, found, right;
};

static void look_levels(const struct world *world, double levels[RUNS], struct generator *g) {
  double level = normal(g);
  for (size_t run = 0; run < RUNS; run++) {
    levels[run] = SPREAD * sqrt(0.5) * level;
    level = world->wander * level + sqrt(1 - world->wander * world->wander) * normal(g);
  }
}

static struct results *look_make(const struct world *world, bool changed, struct look *look,
                                 struct generator *g) {
  struct results *m = results_new();
  const size_t environment = made_environment(m, "node", "580.1", false);
  double common[RUNS];
  double own[RUNS];
  look_levels(world, common, g);
  for (size_t run = 0; run < RUNS; run++) {
    made_run(m, environment);
  }
  for (size_t i = 0; i < SERIES; i++) {
    const char *key = arena_format(&m->arena, "%03zu", i);
    const size_t bench = made_case(m, key, key, 0, 1 << 20);
    look->at[i] = changed && i % ONE_IN == 0 ? RUNS / 8 + (size_t)(uniform(g) * RUNS * 3 / 4) : 0;
    look_levels(world, own, g);
    for (size_t run = 0; run < RUNS; run++) {
      const double gone = look->at[i] == 0 ? 0
                          : world->drifts  ? (double)run / (RUNS - 1)
                                           : (double)(run >= look->at[i]);
      made_median(m, (struct results_median){
                         .run = (uint32_t)run,
                         .bench = (uint32_t)bench,
                         .process = (int64_t)(1 + run),
                         .status = CASE_OK,
                         .ns = 20000 * exp(common[run] + own[run] - gone * log1p(-LOSS)),
                     });
    }
  }
  return m;
}

static void look_judge(const struct world *world, const struct results *m, struct look *look) {
  struct history *history = history_new(m);
  look->marked = look->changed = look->wrong = look->found = look->right = 0;
  for (size_t i = 0; i < SERIES; i++) {
    const struct history_point *points = history->series[i].points;
    bool marked = false;
    bool right = false;
    for (size_t run = 0; run < RUNS; run++) {
      const struct history_point *point = &points[run];
      marked = marked || point->mark != HISTORY_NO_MARK;
      right =
          right || (world->drifts ? point->mark == HISTORY_DRIFT
                                  : (point->mark == HISTORY_CHANGE && look->at[i] > 0 &&
                                     point->since <= look->at[i] && look->at[i] <= point->until));
    }
    look->marked += marked;
    look->changed += look->at[i] > 0;
    look->wrong += marked && look->at[i] == 0;
    look->found += marked && look->at[i] > 0;
    look->right += right && look->at[i] > 0;
  }
  history_free(history);
}

static bool print_world(const struct world *world, size_t looks) {
  static struct look look;
  struct generator g;
  double any = 0;
  double marked = 0;
  double wrong = 0;
  double found = 0;
  double right = 0;
  double changed = 0;
  generator_seed(&g, (uint64_t)(world - WORLDS) + 1);
  for (size_t l = 0; l < 2 * looks; l++) {
    struct results *m = look_make(world, l % 2 == 1, &look, &g);
    look_judge(world, m, &look);
    results_free(m);
    if (l % 2 == 0) {
      any += look.marked > 0;
      marked += (double)look.marked / SERIES;
    } else {
      wrong += look.marked > 0 ? (double)look.wrong / (double)look.marked : 0;
      found += (double)look.found;
      right += (double)look.right;
      changed += (double)look.changed;
    }
  }
  const double n = (double)looks;
  const double least = 0.05 + 2 * sqrt(0.05 * 0.95 / n);
  const bool fine = any / n <= least && wrong / n <= least;
  (void)printf("| %-20s | %5.1f | %6.2f | %5.1f | %5.1f |", world->name, 100 * any / n,
               100 * marked / n, 100 * wrong / n, 100 * found / changed);
  (void)printf(found > 0 ? " %5.1f |" : "     - |", 100 * right / found);
  (void)printf("%s\n", fine ? "" : " BROKEN");
  return fine;
}

int main(int argc, char **argv) {
  const size_t looks = argc > 1 ? strtoul(argv[1], NULL, 10) : 40;
  bool fine = true;
  if (looks < 1) {
    (void)fprintf(stderr, "usage: simulate_history [LOOKS]\n");
    return 2;
  }
  (void)printf("| world                |  look | series | wrong | found |  kind |\n"
               "|----------------------|------:|-------:|------:|------:|------:|\n");
  for (size_t w = 0; w < COUNT_OF(WORLDS); w++) {
    fine = print_world(&WORLDS[w], looks) && fine;
  }
  return fine ? 0 : 1;
}
