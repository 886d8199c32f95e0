#include "runner/run/settle.h"

#include "engine/case/transfer.h"
#include "engine/case/trial.h"
#include "runner/supervise/supervise.h"
#include "schema/scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

static const struct visits_found VISITED_ONCE = {.visits = 1};

void settle_init(struct settle *settle, const struct plan *plan, bool doubted) {
  *settle = (struct settle){
      .plan = plan, .wanted = plan->scenario->run.settle_ns > 0, .doubted = doubted};
  settle->cases = memory_new(plan->case_count + 1, sizeof *settle->cases);
}

static void settle_forget(struct settle_case *item) {
  visits_read_fini(&item->visits);
  *item = (struct settle_case){0};
}

void settle_fini(struct settle *settle) {
  for (size_t i = 0; settle->cases != NULL && i < settle->plan->case_count; i++) {
    settle_forget(&settle->cases[i]);
  }
  free(settle->cases);
  settle->cases = NULL;
}

static struct settle_case *settle_find(struct settle *settle, uint32_t process, size_t case_index) {
  if (settle->process != process) {
    for (size_t i = 0; i < settle->plan->case_count; i++) {
      settle_forget(&settle->cases[i]);
    }
    settle->process = process;
    settle->looked = false;
  }
  return &settle->cases[case_index];
}

static bool settle_may_visit(const struct settle *settle, size_t case_index) {
  return settle->wanted &&
         (settle->doubted || visits_are_allowed(&settle->plan->cases[case_index].def.measure));
}

static bool settle_follows(const struct settle *settle, size_t case_index) {
  return !settle->doubted && visits_follow(&settle->plan->cases[case_index].def.measure);
}

static void *settle_append(void *items, size_t count, const void *more, size_t more_count,
                           size_t size_bytes) {
  char *longer = reallocarray(items, count + more_count + 1, size_bytes);
  if (longer == NULL) {
    abort();
  }
  if (more_count > 0) {
    memcpy(longer + count * size_bytes, more, more_count * size_bytes);
  }
  return longer;
}

/* The trials of another visit, numbered on. */
static void settle_append_visit(struct visits_read *visits, const struct case_report *report) {
  const bool first = visits->trial_count == 0;
  const struct trial *last = first ? NULL : &visits->trials[visits->trial_count - 1];
  const uint32_t visit = first ? 0 : last->visit + 1;
  const uint32_t ordinal = first ? 0 : last->ordinal + 1;
  visits->trials = settle_append(visits->trials, visits->trial_count, report->trials,
                                 report->trial_count, sizeof *visits->trials);
  visits->flow_trials =
      settle_append(visits->flow_trials, visits->flow_trial_count, report->flow_trials,
                    report->flow_trial_count, sizeof *visits->flow_trials);
  for (size_t i = 0; i < report->trial_count; i++) {
    struct trial *trial = &visits->trials[visits->trial_count + i];
    trial->visit = visit;
    trial->ordinal += ordinal;
  }
  for (size_t i = 0; i < report->flow_trial_count; i++) {
    visits->flow_trials[visits->flow_trial_count + i].ordinal += ordinal;
  }
  visits->trial_count += report->trial_count;
  visits->flow_trial_count += report->flow_trial_count;
}

/* Whether a measured flow copies between the same places as this one, the other way. */
static bool settle_is_opposite(const struct case_def *def, const struct flow *other) {
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    if (flow->role == FLOW_MEASURED && flow->source.place == other->target.place &&
        flow->source.index == other->target.index && flow->target.place == other->source.place &&
        flow->target.index == other->source.index) {
      return true;
    }
  }
  return false;
}

/* Whether a flow tells which trials of the others are undisturbed: a load or, of two measured
 * directions, the one from a GPU to the host, which the hardware serves first. */
static bool settle_is_load(const struct case_def *def, const struct flow *flow) {
  return flow->role == FLOW_LOAD ||
         (flow->source.place == PLACE_GPU && flow->target.place == PLACE_NUMA &&
          settle_is_opposite(def, flow));
}

/* What an iteration of the loads took in each trial, for free(); NULL: not all loads copy in the
 * other direction, or there is none. Loads go on alone when the other flows end. So they have
 * another rate in trials of another number of iterations than the last: 0. */
static double *settle_load_times(const struct case_def *def, const struct case_report *report) {
  uint32_t loads = 0;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    if (flow->role == FLOW_LOAD && !settle_is_opposite(def, flow)) {
      return NULL;
    }
    loads += settle_is_load(def, flow);
  }
  if (loads == 0) {
    return NULL;
  }
  double *times = memory_new(report->trial_count + 1, sizeof *times);
  size_t at = 0;
  for (size_t i = 0; i < report->trial_count; i++) {
    const struct trial *trial = &report->trials[i];
    for (; at < report->flow_trial_count && report->flow_trials[at].ordinal <= trial->ordinal;
         at++) {
      const struct flow_trial *flow = &report->flow_trials[at];
      const double iterations =
          (double)(flow->iterations > 0 ? flow->iterations : trial->iterations);
      if (flow->flow < def->flow_count && settle_is_load(def, &def->flows[flow->flow]) &&
          trial->iterations == report->trials[report->trial_count - 1].iterations) {
        times[i] += (double)flow->elapsed_ns / (iterations * loads);
      }
    }
  }
  return times;
}

static void settle_judge(const struct settle *settle, const struct case_report *report, bool noisy,
                         struct visits_found *found) {
  const struct case_def *def = &settle->plan->cases[report->case_index].def;
  double *load_ns = settle_load_times(def, report);
  visits_judge(report->trials, load_ns, report->trial_count, def->measure.precision, noisy, found);
  free(load_ns);
}

bool settle_add(struct settle *settle, const struct case_report *report,
                struct case_report *whole) {
  struct settle_case *item = settle_find(settle, report->process, report->case_index);
  const enum case_status status = report->outcome->status;
  const bool may_visit = settle_may_visit(settle, report->case_index);
  const bool failed = status == CASE_FAILED || status == CASE_SKIPPED || report->killed;
  *whole = *report;
  if (report->visit > 0 && failed) {
    item->found = (struct visits_found){.visits = item->found.visits};
    return false;
  }
  if (may_visit) {
    whole->recorded_trials = item->visits.trial_count;
    whole->recorded_flow_trials = item->visits.flow_trial_count;
    settle_append_visit(&item->visits, report);
    whole->trials = item->visits.trials;
    whole->trial_count = item->visits.trial_count;
    whole->flow_trials = item->visits.flow_trials;
    whole->flow_trial_count = item->visits.flow_trial_count;
  }
  settle_judge(settle, whole, item->noisy, &item->found);
  if (status != CASE_OK || !(item->found.precise || may_visit)) {
    item->found = (struct visits_found){.visits = item->found.visits};
  }
  const bool as_asked = settle_follows(settle, report->case_index) && item->found.visits == 1;
  whole->visits = as_asked && !item->found.precise ? &VISITED_ONCE : &item->found;
  return true;
}

static enum settle_way settle_find_way(const struct case_def *def) {
  enum settle_way way = WAY_NONE;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    const struct endpoint *source = &flow->source;
    const struct endpoint *target = &flow->target;
    if (source->place != target->place || source->index != target->index) {
      const bool gpus = source->place == PLACE_GPU && target->place == PLACE_GPU && !flow->staged;
      way = gpus && way != WAY_HOST ? WAY_GPUS : WAY_HOST;
    }
  }
  return way;
}

/* The same of all its visits so far. */
static void settle_judge_again(const struct settle *settle, size_t case_index, bool noisy) {
  struct settle_case *item = &settle->cases[case_index];
  const struct case_report report = {.case_index = case_index,
                                     .trials = item->visits.trials,
                                     .trial_count = item->visits.trial_count,
                                     .flow_trials = item->visits.flow_trials,
                                     .flow_trial_count = item->visits.flow_trial_count};
  settle_judge(settle, &report, noisy, &item->found);
}

/* Of cases, of which one without trials was not measured. */
struct first_round {
  size_t cases, imprecise, disturbed;
};

static void settle_count(struct first_round *round, const struct settle_case *item) {
  const bool measured = item->visits.trial_count > 0;
  round->cases++;
  round->imprecise += measured && !item->found.precise;
  round->disturbed += measured && visits_is_disturbed(&item->found);
}

static bool settle_is_noisy(const struct first_round *round) {
  return visits_is_noisy(round->cases, round->imprecise, round->disturbed);
}

static void settle_look(struct settle *settle, struct record *resumed) {
  struct first_round ways[WAYS] = {{0}};
  struct first_round all = {0};
  for (size_t i = 0; i < settle->plan->case_count; i++) {
    struct settle_case *item = &settle->cases[i];
    const struct plan_case *plan_case = &settle->plan->cases[i];
    if (!settle_may_visit(settle, i) || plan_case->skip_reason != NULL) {
      continue;
    }
    if (item->visits.trial_count == 0 && resumed != NULL &&
        record_read_visits(resumed, settle->process, plan_case->def.key, &item->visits)) {
      settle_judge_again(settle, i, false);
    }
    item->way = settle_find_way(&plan_case->def);
    if (settle_follows(settle, i)) {
      continue;
    }
    settle_count(&ways[item->way], item);
    if (item->way != WAY_NONE) {
      settle_count(&all, item);
    }
  }
  settle->crossing = all.cases;
  for (size_t i = 0; i < settle->plan->case_count; i++) {
    struct settle_case *item = &settle->cases[i];
    item->noisy = item->way != WAY_NONE &&
                  (settle->doubted || (settle_is_noisy(&all) && settle_is_noisy(&ways[item->way])));
    if (item->noisy && item->found.settled != SETTLED_NOT) {
      settle_judge_again(settle, i, true);
    }
  }
}

/* Whether a case that follows had its visits for those of the others on such ways. */
static bool settle_keeps_up(const struct settle *settle, const struct settle_case *item) {
  uint32_t most = 0;
  for (size_t i = 0; i < settle->plan->case_count; i++) {
    const struct settle_case *other = &settle->cases[i];
    if (other->way == item->way && other->found.visits > most && !settle_follows(settle, i)) {
      most = other->found.visits;
    }
  }
  return item->found.visits > most / SETTLE_ROUNDS;
}

bool settle_is_open(struct settle *settle, struct record *resumed, uint32_t process,
                    size_t case_index) {
  const struct settle_case *item = settle_find(settle, process, case_index);
  if (!settle->looked) {
    settle->looked = true;
    settle_look(settle, resumed);
  }
  size_t unsettled = 0;
  if (settle_follows(settle, case_index) && (!item->noisy || settle_keeps_up(settle, item))) {
    return false;
  }
  if (settle->doubted && item->noisy) {
    return item->found.settled != SETTLED_NOT && item->found.visits < VISITS_MAX;
  }
  if (item->found.settled != SETTLED_BUDGET && !item->found.narrows) {
    return false;
  }
  for (size_t i = 0; i < settle->plan->case_count; i++) {
    unsettled += settle->cases[i].found.settled == SETTLED_BUDGET && !settle_follows(settle, i);
  }
  return visits_is_open(&item->found, settle->doubted ? 0 : settle->crossing, unsettled);
}
