#include "runner/analysis/more_runs.h"

#include "engine/base/order.h"

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
    return (struct more_runs){{is_a, !is_a}, alone[is_a ? SIDE_A : SIDE_B], !few && !anew};
  }
  return (struct more_runs){{both > 0, both > 0}, both, !few && !anew};
}
