/* machines_upgrades.c - what new drivers changed, on the machines that ran both. */
#include "runner/analysis/compare_internal.h"
#include "runner/analysis/machines.h"
#include "runner/statistics/sample.h"

#include <math.h>
#include <string.h>

enum { BESIDE_UPGRADE = 8 };
static const double UPGRADE_MIN = 0.005;
static const double UPGRADE_ERRORS = 4;

bool machines_upgrade_counts(const struct machines_upgrade *upgrade, size_t block) {
  const double change = fabs(upgrade->changes[block]);
  const double error = isnan(upgrade->errors[block]) ? change : upgrade->errors[block];
  return change > UPGRADE_MIN && change > UPGRADE_ERRORS * error;
}

static struct machines_upgrade *machines_find_upgrade(struct machines *m, const char *from,
                                                      const char *to) {
  const size_t found =
      FIRST_OF(u, m->upgrade_count,
               strcmp(m->upgrades[u].from, from) == 0 && strcmp(m->upgrades[u].to, to) == 0);
  if (found == m->upgrade_count) {
    *ARENA_ADD(&m->arena, m->upgrades, m->upgrade_count) =
        (struct machines_upgrade){.from = from,
                                  .to = to,
                                  .nodes = arena_array(&m->arena, m->node_count, sizeof(bool)),
                                  .changes = arena_array(&m->arena, m->block_count, sizeof(double)),
                                  .errors = arena_array(&m->arena, m->block_count, sizeof(double))};
  }
  return &m->upgrades[found];
}

/* A machine's first run under another driver. */
struct machines_switch {
  size_t upgrade, node, period;
};

/* The mean of a block's values of a machine over some periods; NAN: it has none. */
static double machines_mean(const struct machines *m, const struct machines_block *block,
                            size_t node, size_t first, size_t last) {
  double sum = 0;
  size_t count = 0;
  for (size_t p = first; p < last; p++) {
    const double value = block->values[node * m->period_count + p];
    sum += isnan(value) ? 0 : value;
    count += isnan(value) ? 0 : 1;
  }
  return count > 0 ? sum / (double)count : NAN;
}

static void machines_measure_upgrade(struct machines *m, struct machines_upgrade *upgrade,
                                     const struct machines_switch *switches, size_t count,
                                     size_t number) {
  SCOPED(memory_free) double *values = sample_values_new(count);
  for (size_t b = 0; b < m->block_count; b++) {
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
      const struct machines_switch *at = &switches[i];
      if (at->upgrade != number) {
        continue;
      }
      const size_t first = at->period > BESIDE_UPGRADE ? at->period - BESIDE_UPGRADE : 0;
      const size_t last = at->period + BESIDE_UPGRADE < m->period_count
                              ? at->period + BESIDE_UPGRADE
                              : m->period_count;
      const double change = machines_mean(m, &m->blocks[b], at->node, at->period, last) -
                            machines_mean(m, &m->blocks[b], at->node, first, at->period);
      if (!isnan(change)) {
        values[used++] = change;
      }
    }
    const struct sample sample = sample_summary(values, used);
    upgrade->errors[b] = used > 1 ? sqrt(sample.variance / (double)used) : NAN;
    upgrade->changes[b] = used > 0 ? sample_median_in_place(values, used) : NAN;
  }
}

void machines_find_upgrades(struct machines *m, const struct results *results,
                            const uint32_t *node_of) {
  SCOPED(arena_fini) struct arena scratch = {0};
  const char **driver = arena_array(&scratch, m->node_count, sizeof *driver);
  struct machines_switch *switches = arena_array(&scratch, results->run_count, sizeof *switches);
  size_t count = 0;
  for (size_t r = 0; r < results->run_count; r++) {
    const size_t node = node_of[r];
    const char *now = results->environments[results->runs[r].environment].driver_version;
    if (now != NULL && driver[node] != NULL && strcmp(driver[node], now) != 0) {
      struct machines_upgrade *upgrade = machines_find_upgrade(m, driver[node], now);
      const size_t period = machines_period(m, results->runs[r].started_at_ns);
      if (!upgrade->nodes[node]) {
        upgrade->nodes[node] = true;
        upgrade->node_count++;
        if (2 * upgrade->node_count <= m->node_count + 1) {
          upgrade->period = period;
        }
        switches[count++] = (struct machines_switch){(size_t)(upgrade - m->upgrades), node, period};
      }
    }
    driver[node] = now != NULL ? now : driver[node];
  }
  for (size_t u = 0; u < m->upgrade_count; u++) {
    machines_measure_upgrade(m, &m->upgrades[u], switches, count, u);
  }
}
