#include "runner/analysis/diff_suspect.h"

#include "engine/base/arena.h"

static bool suspect_is_open(const struct diff_case *c, const struct diff_result *result) {
  return verdict_is_undecided(result->verdict) && result->unit == DIFF_UNIT_RUN &&
         result->units[0] < DIFF_PROCESSES_FIRM && result->units[1] < DIFF_PROCESSES_FIRM &&
         (result->change_high < -c->delta || result->change_low > c->delta);
}

static unsigned suspect_firm(unsigned units) {
  return units > DIFF_PROCESSES_FIRM ? units : DIFF_PROCESSES_FIRM;
}

void diff_suspect(const struct diff_case *cases, size_t count, const struct diff_options *options,
                  struct diff_result *results) {
  SCOPED(arena_fini) struct arena arena = {0};
  bool any = false;
  for (size_t i = 0; i < count && !any; i++) {
    any = suspect_is_open(&cases[i], &results[i]);
  }
  if (!any) {
    return; /* as of most diffs */
  }
  struct diff_case *flat = arena_array(&arena, count, sizeof *flat);
  struct diff_result *by_process = arena_array(&arena, count, sizeof *by_process);
  struct diff_summary ignored;
  for (size_t i = 0; i < count; i++) {
    flat[i] = cases[i];
    flat[i].a.runs = flat[i].b.runs = NULL;
    flat[i].run_df = 0;
  }
  diff_compare(flat, count, options, by_process, &ignored);
  for (size_t i = 0; i < count; i++) {
    const enum verdict verdict = by_process[i].verdict;
    if (verdict_is_change(verdict) && suspect_is_open(&cases[i], &results[i]) &&
        (verdict == VERDICT_REGRESSED) == (results[i].change < 0)) {
      results[i].verdict = verdict;
      results[i].q = by_process[i].q;
      results[i].doubt = DIFF_DOUBT_FEW;
      results[i].is_provisional = true;
      results[i].units_needed = suspect_firm(results[i].units_needed);
      for (size_t s = 0; s < 2; s++) {
        results[i].needed_alone[s] =
            results[i].needed_alone[s] > 0 ? suspect_firm(results[i].needed_alone[s]) : 0;
      }
    }
  }
}
