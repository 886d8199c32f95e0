#include "runner/analysis/diff_group.h"

#include "engine/base/order.h"

#include <math.h>

/* Of its cases, that a process has: undecided cases are those whose noise leans to one side, so
 * that runs of them alone would move the mean. A node has few cases because it has few GPUs. */
static const double PROCESS_SHARE = 0.9, NODE_SHARE = 0.5;

/* What a process or node adds to the group. */
struct group_unit {
  uint32_t run, number;
  size_t cases;
  double sum;
};

ORDER_DEFINE(group_compare_units, struct group_unit,
             ORDER(x->run, y->run) ?: ORDER(x->number, y->number))

static const struct process_sample *group_side(const struct diff_case *c, bool b) {
  return b ? &c->b : &c->a;
}

static uint32_t group_number(const struct diff_case *c, const struct process_sample *side,
                             size_t i) {
  return c->paired ? process_sample_run(side, i) : process_sample_process(side, i);
}

/* One value per unit of a side that has cases enough. */
static struct process_sample group_take_side(const struct diff_case *cases, const size_t *members,
                                             size_t count, bool b, const double *middles,
                                             struct arena *arena) {
  size_t end = 0;
  for (size_t m = 0; m < count; m++) {
    const struct process_sample *side = group_side(&cases[members[m]], b);
    for (size_t i = 0; i < side->count; i++) {
      const size_t number = group_number(&cases[members[m]], side, i);
      end = number >= end ? number + 1 : end;
    }
  }
  SCOPED(memory_free) struct group_unit *units = memory_new(end + 1, sizeof *units);
  size_t most = 0;
  for (size_t m = 0; m < count; m++) {
    const struct process_sample *side = group_side(&cases[members[m]], b);
    for (size_t i = 0; i < side->count; i++) {
      const uint32_t number = group_number(&cases[members[m]], side, i);
      struct group_unit *unit = &units[number];
      unit->run = process_sample_run(side, i);
      unit->number = number;
      unit->cases++;
      unit->sum += side->values[i] - middles[m];
      most = unit->cases > most ? unit->cases : most;
    }
  }
  const double least = cases[members[0]].paired ? NODE_SHARE : PROCESS_SHARE;
  size_t used = 0;
  for (size_t n = 0; n < end; n++) {
    if (units[n].cases > 0 && (double)units[n].cases >= least * (double)most) {
      units[used++] = units[n];
    }
  }
  ORDER_SORT(units, used, group_compare_units);
  double *values = arena_array(arena, used, sizeof *values);
  uint32_t *processes = arena_array(arena, used, sizeof *processes);
  uint32_t *runs = arena_array(arena, used, sizeof *runs);
  for (size_t i = 0; i < used; i++) {
    values[i] = units[i].sum / (double)units[i].cases;
    processes[i] = units[i].number;
    runs[i] = units[i].run;
  }
  return (struct process_sample){values, used, processes, runs};
}

/* By how much less than its cases the group varied in earlier runs that measured all of them; that
 * is a variance of as many degrees of freedom as these runs have. Too few tell nothing: then its
 * cases may share all of it, as they always may of what processes of a run differ by. */
static void group_take_earlier_share(const struct diff_case *cases, const size_t *members,
                                     size_t count, struct diff_case *group) {
  SCOPED(arena_fini) struct arena arena = {0};
  size_t end = 0;
  double drivers = INFINITY; /* each takes one degree of freedom */
  for (size_t m = 0; m < count; m++) {
    const struct diff_case *c = &cases[members[m]];
    drivers = fmin(drivers, (double)c->earlier.count - c->run_df);
    for (size_t i = 0; i < c->earlier.count; i++) {
      end = c->earlier.processes[i] >= end ? c->earlier.processes[i] + 1 : end;
    }
  }
  double *sums = arena_array(&arena, end, sizeof *sums);
  double *squares = arena_array(&arena, end, sizeof *squares);
  size_t *known = arena_array(&arena, end, sizeof *known);
  for (size_t m = 0; m < count; m++) {
    const struct process_sample *runs = &cases[members[m]].earlier;
    for (size_t i = 0; i < runs->count; i++) {
      sums[runs->processes[i]] += runs->values[i];
      squares[runs->processes[i]] += runs->values[i] * runs->values[i];
      known[runs->processes[i]]++;
    }
  }
  double of_group = 0;
  double own = 0;
  double df = -drivers;
  for (size_t r = 0; r < end; r++) {
    if (known[r] == count) {
      of_group += sums[r] * sums[r] / (double)(count * count);
      own += squares[r] / (double)count;
      df++;
    }
  }
  if (df >= DIFF_HISTORY_DF_MIN && own > 0) {
    const double of_runs = group->run_variance - group->process_variance;
    group->run_variance = of_runs * of_group / own + group->process_variance;
    group->run_df = fmin(group->run_df, df);
  }
}

struct diff_case diff_group_make(const struct diff_case *cases, const size_t *members, size_t count,
                                 struct arena *arena) {
  struct diff_case group = {.started = cases[members[0]].started,
                            .paired = cases[members[0]].paired};
  double *middles = arena_array(arena, count, sizeof *middles);
  double rounding = 0;
  for (size_t m = 0; m < count; m++) {
    const struct diff_case *c = &cases[members[m]];
    middles[m] = (process_sample_mean(&c->a) + process_sample_mean(&c->b)) / 2;
    group.delta += c->delta / (double)count;
    rounding += c->rounding * c->rounding;
    group.run_variance += c->run_variance / (double)count;
    group.process_variance += c->process_variance / (double)count;
    group.run_df = m == 0 || c->run_df < group.run_df ? c->run_df : group.run_df;
  }
  group_take_earlier_share(cases, members, count, &group);
  group.a = group_take_side(cases, members, count, false, middles, arena);
  group.b = group_take_side(cases, members, count, true, middles, arena);
  group.rounding =
      sqrt(rounding) / (double)count; /* each case is somewhere else between two steps */
  return group;
}

void diff_group_take_order(const struct diff_summary *cases, struct diff_options *options) {
  options->independent = cases->independent;
  options->wander = cases->wander;
}
