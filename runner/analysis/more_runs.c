#include "runner/analysis/more_runs.h"

#include "engine/base/order.h"

#include <math.h>

/* Whether drift may explain a provisional change: runs of both sides in turn settle that. */
static bool more_runs_in_order(const struct comparison *comparison) {
  return comparison->need == NEED_CONFIRM_CHANGE &&
         comparison->summary.doubts[DIFF_DOUBT_ORDER] > 0;
}

/* Of both sides, so that those in turn weigh as much as the blocks before them. */
static unsigned more_runs_in_turn(const struct comparison *comparison) {
  const unsigned *have = comparison->units_least;
  const bool a_is_longer = have[SIDE_A] > have[SIDE_B];
  const unsigned fewer = have[a_is_longer ? SIDE_B : SIDE_A];
  const unsigned half = have[a_is_longer ? SIDE_A : SIDE_B] / 2;
  const unsigned runs = fewer > half ? fewer : half;
  return !more_runs_in_order(comparison) || fewer >= DIFF_PROCESSES_MAX ? 0
         : runs > DIFF_PROCESSES_FIRM                                   ? runs
                                                                        : DIFF_PROCESSES_FIRM;
}

/* Of one side alone, if they decide all; else 0. One run of the other side shows a change of this
 * one, but rarely for good. */
static unsigned more_runs_alone(const struct comparison *comparison, size_t side) {
  const bool decides = comparison->decided_alone[side] == comparison->to_decide &&
                       !more_runs_in_order(comparison) &&
                       (comparison->units_least[1 - side] >= DIFF_PROCESSES_FIRM ||
                        comparison->need == NEED_CONFIRM_SAME);
  const unsigned have = comparison->units_least[side];
  return decides && comparison->needed_alone[side] > have ? comparison->needed_alone[side] - have
                                                          : 0;
}

struct more_runs more_runs_find(const struct comparison *comparison,
                                const struct more_runs_site sites[SIDES], bool anew) {
  unsigned alone[SIDES];
  unsigned both = more_runs_in_turn(comparison);
  anew = anew || (more_runs_in_order(comparison) && both == 0);
  const bool few = comparison->units_least[SIDE_A] < DIFF_PROCESSES_FIRM ||
                   comparison->units_least[SIDE_B] < DIFF_PROCESSES_FIRM;
  for (size_t s = 0; s < SIDES; s++) {
    const unsigned have = anew ? 0 : comparison->units_least[s];
    const unsigned needed = comparison->units_needed;
    both = needed > have + both ? needed - have : both;
    alone[s] = anew || sites[s].imported ? 0 : more_runs_alone(comparison, s);
  }
  for (size_t s = 0; s < SIDES; s++) { /* as many as both, or half of all where that is here */
    alone[s] = alone[s] > (sites[s].elsewhere ? both : 2 * both) ? 0 : alone[s];
  }
  if (alone[SIDE_A] > 0 || alone[SIDE_B] > 0) { /* that of this machine as it is, then the fewer */
    const bool is_a =
        (ORDER(alone[SIDE_A] > 0, alone[SIDE_B] > 0)
             ?: ORDER(sites[SIDE_B].elsewhere, sites[SIDE_A].elsewhere)
             ?: ORDER(alone[SIDE_B], alone[SIDE_A])) > 0;
    return (struct more_runs){{is_a, !is_a}, alone[is_a ? SIDE_A : SIDE_B], !few && !anew, anew};
  }
  return (struct more_runs){{both > 0, both > 0}, both, !few && !anew, anew};
}

/* In how many undecided cases that run is apart from the others of its side. */
static size_t more_runs_count_apart(const struct comparison *comparison, size_t side, int64_t run) {
  const struct comparison_row *rows = comparison->rows;
  return SUM_OF(i, comparison->row_count,
                verdict_is_undecided(rows[i].result.verdict) && rows[i].sides[side].runs > 1 &&
                    rows[i].sides[side].shape.kind == SHAPE_OUTLIER &&
                    rows[i].sides[side].shape.run_id == run);
}

/* The smallest threshold by which the case is the same. Of a decided change, one that it exceeds
 * by two half-widths of its interval: enough for q, which counts all cases. */
static double more_runs_delta(const struct diff_result *result) {
  const double low = fabs(log1p(result->change_low));
  const double high = fabs(log1p(result->change_high));
  const double near = fmin(low, high);
  return expm1(verdict_is_change(result->verdict) ? near - (fmax(low, high) - near) / 2
                                                  : fmax(low, high));
}

struct more_runs_end more_runs_end_find(const struct comparison *comparison) {
  struct more_runs_end end = {0};
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    if (!verdict_is_undecided(row->result.verdict)) {
      continue;
    }
    end.undecided++;
    bool modes = false;
    for (unsigned s = 0; s < SIDES; s++) {
      const struct side_shape *shape = &row->sides[s].shape;
      modes = modes || shape->kind == SHAPE_TWO_MODES;
      const size_t apart =
          shape->kind == SHAPE_OUTLIER ? more_runs_count_apart(comparison, s, shape->run_id) : 0;
      if (apart > end.apart) {
        end.apart = apart;
        end.run_apart = shape->run_id;
        end.side_apart = (enum side)s;
      }
    }
    end.two_modes += modes;
    const double delta = more_runs_delta(&row->result);
    end.delta = isnan(end.delta) || isnan(delta) ? NAN : fmax(end.delta, delta);
  }
  for (size_t i = 0; i < comparison->row_count; i++) { /* what is decided stays so */
    const struct diff_result *result = &comparison->rows[i].result;
    const bool lost = verdict_is_change(result->verdict) && more_runs_delta(result) <= end.delta;
    end.delta = lost ? NAN : end.delta;
  }
  return end;
}
