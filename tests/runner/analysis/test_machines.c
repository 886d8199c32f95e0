/* Machines over time: what one of them has alone is a step, what all have is not. */
#include "runner/analysis/machines.h"
#include "runner/statistics/sample.h"
#include "tests/runner/analysis/made.h"
#include "tests/runner/statistics/numbers.h"

RELEASE(machines_free, struct machines)

enum { NODES = 4, WEEKS = 32, UPGRADE = 15, STEP = 22, CASES = 4 };

static const int64_t WEEK_NS = INT64_C(7) * 86400 * 1000000000;

/* What is planted. */
struct planted {
  double driver; /* of block "up", from UPGRADE on, a week later on each machine */
  double step;   /* of gpu1 of node c in block "down", from STEP on */
};

/* Two GPUs by two blocks; results scatter by 0.3 %. */
static struct results *make_years(size_t nodes, const struct planted *planted, uint64_t *seed) {
  static const char *const HOSTS[] = {"a", "b", "c", "d"};
  static const char *const KEYS[] = {"k", "l", "m", "n"};
  struct results *m = results_new();
  size_t environments[NODES][2];
  for (size_t n = 0; n < nodes; n++) {
    environments[n][0] = made_environment(m, HOSTS[n], "580.1", false);
    environments[n][1] = made_environment(m, HOSTS[n], "590.1", false);
  }
  for (size_t week = 0; week < WEEKS; week++) {
    for (size_t n = 0; n < nodes; n++) {
      const size_t run = made_run(m, environments[n][week >= UPGRADE + n]);
      m->runs[run].started_at_ns = (int64_t)week * WEEK_NS + (int64_t)n * 1000000000;
    }
  }
  for (size_t c = 0; c < CASES; c++) {
    const bool up = c < 2;
    const size_t bench = made_case(m, KEYS[c], up ? "up" : "down", (int)(c % 2), 1 << 20);
    for (size_t run = 0; run < m->run_count; run++) {
      const size_t week = run / nodes;
      const size_t node = run % nodes;
      const double driver = up && week >= UPGRADE + node ? planted->driver : 0;
      const double step = c == 3 && node == 2 && week >= STEP ? planted->step : 0;
      made_median(m, (struct results_median){.run = (uint32_t)run,
                                             .bench = (uint32_t)bench,
                                             .process = (int64_t)(1 + 100 * run),
                                             .ns = 20000 * exp(0.003 * noise_normal(seed)) /
                                                   ((1 + driver) * (1 + step)),
                                             .status = CASE_OK});
    }
  }
  return m;
}

TEST(one_machine_that_changed_is_named) {
  uint64_t seed = 5;
  SCOPED(results_free_at)
  struct results *m = make_years(NODES, &(struct planted){-0.02, -0.04}, &seed);
  SCOPED(machines_free_at) struct machines *machines = machines_new(m);
  assert_int_equal(machines->node_count, NODES);
  assert_int_equal(machines->period_count, WEEKS);
  assert_int_equal(machines->period_ns, WEEK_NS);
  assert_int_equal(machines->step_count, 1);
  const struct machines_step *step = &machines->steps[0];
  assert_string_equal(machines->nodes[step->node], "c");
  assert_int_equal(step->gpus, 1 << 1);
  assert_int_equal(step->case_count, 1);
  assert_string_equal(step->blocks, "down");
  assert_true(step->in[1] && !step->in[0]);
  assert_true(fabs(step->change - -0.04) < 0.003);
  assert_in_range(step->until, STEP - 1, STEP + 1);
  assert_true(step->from <= step->until && step->from + 3 > STEP);
  /* Of the machine's cells, those from then on. */
  const struct machines_cell *cells = &machines->cells[2 * WEEKS];
  assert_true(cells[WEEKS - 1].ran && fabs(cells[WEEKS - 1].level - -0.04) < 0.004);
  assert_int_equal(cells[WEEKS - 1].bench, 3);
  assert_true(cells[0].level > -0.005);
  assert_true(machines->cells[WEEKS - 1].level > -0.005);
}

TEST(what_a_driver_changed_is_told_by_block) {
  uint64_t seed = 6;
  SCOPED(results_free_at)
  struct results *m = make_years(NODES, &(struct planted){-0.02, 0}, &seed);
  SCOPED(machines_free_at) struct machines *machines = machines_new(m);
  assert_int_equal(machines->step_count, 0);
  assert_int_equal(machines->upgrade_count, 1);
  const struct machines_upgrade *upgrade = &machines->upgrades[0];
  assert_string_equal(upgrade->from, "580.1");
  assert_string_equal(upgrade->to, "590.1");
  assert_int_equal(upgrade->node_count, NODES);
  assert_int_equal(upgrade->period, UPGRADE + 1); /* the second of four machines */
  assert_string_equal(machines->blocks[0].name, "up");
  assert_true(fabs(upgrade->changes[0] - -0.02) < 0.003);
  assert_true(upgrade->errors[0] < 0.002);
  assert_true(fabs(upgrade->changes[1]) < 0.003);
  const struct machines_band *bands = machines->blocks[0].bands;
  assert_true(bands[0].median - bands[WEEKS - 1].median > 0.015);
  assert_true(bands[0].low <= bands[0].median && bands[0].median <= bands[0].high);
  double values[NODES];
  for (size_t n = 0; n < NODES; n++) {
    values[n] = machines->blocks[0].values[n * WEEKS];
  }
  ASSERT_NEAR(bands[0].median, sample_median(values, NODES), 1e-12);
}

/* Nothing was planted: a step is chance in at most one look of twenty. */
TEST(sound_machines_have_no_steps) {
  enum { LOOKS = 40 };
  uint64_t seed = 7;
  size_t wrong = 0;
  for (size_t i = 0; i < LOOKS; i++) {
    SCOPED(results_free_at) struct results *m = make_years(NODES, &(struct planted){0}, &seed);
    SCOPED(machines_free_at) struct machines *machines = machines_new(m);
    wrong += machines->step_count > 0;
  }
  assert_in_range(wrong, 0, LOOKS / 20);
}

/* Without others to compare with, a new driver is a step. */
TEST(a_machine_alone_has_its_drivers) {
  uint64_t seed = 8;
  SCOPED(results_free_at) struct results *m = make_years(1, &(struct planted){-0.04, 0}, &seed);
  SCOPED(machines_free_at) struct machines *machines = machines_new(m);
  assert_int_equal(machines->step_count, 1);
  assert_int_equal(machines->steps[0].case_count, 2);
  assert_string_equal(machines->steps[0].what, "driver 580.1 to 590.1");
  assert_int_equal(machines->steps[0].until, UPGRADE);
}

/* Back and forth between two drivers is still one machine. */
TEST(a_machine_counts_once_for_a_driver) {
  SCOPED(results_free_at) struct results *m = results_new();
  const size_t environments[] = {made_environment(m, "a", "580.1", false),
                                 made_environment(m, "a", "590.1", false)};
  const size_t bench = made_case(m, "k", "up", 0, 1 << 20);
  for (size_t r = 0; r < 6; r++) {
    const size_t run = made_run(m, environments[r % 2]);
    m->runs[run].started_at_ns = (int64_t)r * WEEK_NS;
    made_median(m, (struct results_median){.run = (uint32_t)run,
                                           .bench = (uint32_t)bench,
                                           .process = (int64_t)(1 + r),
                                           .ns = 20000,
                                           .status = CASE_OK});
  }
  SCOPED(machines_free_at) struct machines *machines = machines_new(m);
  assert_int_equal(machines->upgrade_count, 2);
  assert_int_equal(machines->upgrades[0].node_count, 1);
  assert_int_equal(machines->upgrades[1].node_count, 1);
  assert_true(isnan(machines->upgrades[0].errors[0]));
}
