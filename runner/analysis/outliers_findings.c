/* outliers_findings.c - the observations of each component, combined, judged, and made rows. */
#include "runner/analysis/outliers_internal.h"

#include "engine/base/order.h"
#include "runner/statistics/robust.h"
#include "runner/statistics/sample.h"

#include <math.h>
#include <string.h>

/* Equal for components that are judged together. */
static int findings_compare_sets(const struct component *x, const struct component *y) {
  return ORDER(x->traits->set, y->traits->set) ?: ORDER(x->entity, y->entity) ?: ORDER(x->role, y->role) ?: ORDER(x->of_two, y->of_two) ?: ORDER(x->fitted, y->fitted);
}

static int findings_compare_components(const struct component *x, const struct component *y) {
  return findings_compare_sets(x, y) ?: ORDER(x->host, y->host) ?: ORDER(x->path.from_gpu, y->path.from_gpu) ?: ORDER(x->path.from, y->path.from) ?: ORDER(x->path.to_gpu, y->path.to_gpu) ?: ORDER(x->path.to, y->path.to) ?: ORDER(x->path.bidirectional, y->path.bidirectional);
}

ORDER_DEFINE(findings_compare_observations, struct observation, findings_compare_components(&x->component, &y->component) ?: ORDER(x->value, y->value) ?: ORDER(x->worst, y->worst))

/* ---- combining the observations of a component ---- */

/* Combines the observations of one component, sorted with the lowest first. The value is the
 * median; of two, the one that is less slow: one bad link of two is no bad GPU. */
static struct candidate findings_combine(const struct observation *observations, size_t count,
                                         double *scratch) {
  struct candidate all = {.observation = observations[count / 2],
                          .observations = observations,
                          .observation_count = count,
                          .role = observations[0].component.role,
                          .source_change = NAN,
                          .target_change = NAN};
  struct observation *observation = &all.observation;
  observation->cases = observation->slow_cases = 0;
  observation->worst_deviation = INFINITY;
  for (size_t i = 0; i < count; i++) {
    observation->cases += observations[i].cases;
    observation->slow_cases += observations[i].slow_cases;
    observation->margin = fmax(observation->margin, observations[i].margin);
    if (observations[i].worst_deviation < observation->worst_deviation) {
      observation->worst_deviation = observations[i].worst_deviation;
      observation->worst = observations[i].worst;
      observation->other = observations[i].other;
      observation->environment = observations[i].environment;
    }
    scratch[i] = observations[i].noise;
  }
  const double root = sqrt((double)count);
  observation->noise = sample_median_in_place(scratch, count) / root;
  for (size_t i = 0; i < count; i++) {
    scratch[i] = observations[i].error;
  }
  observation->error = sample_median_in_place(scratch, count) / root;
  for (size_t i = 0; i < count; i++) {
    scratch[i] = observations[i].value - observation->value;
  }
  all.scatter = count >= ROBUST_COUNT_MIN ? robust_spread(scratch, count) / root : 0;
  return all;
}

static struct candidate *findings_candidates(struct finder *f, size_t *count) {
  struct candidate *candidates =
      arena_array(&f->arena, f->observation_count, sizeof *candidates); /* as many at most */
  double *scratch = arena_array(&f->arena, f->observation_count, sizeof *scratch);
  *count = 0;
  ORDER_SORT(f->observations, f->observation_count, findings_compare_observations);
  FOR_EACH_GROUP(first, last, f->observation_count,
                 findings_compare_components(&f->observations[first].component,
                                             &f->observations[last].component) == 0) {
    candidates[(*count)++] = findings_combine(f->observations + first, last - first, scratch);
  }
  return candidates;
}

/* ---- judging ---- */

/* An effect of the median polish has longer tails than a normal value, the more so of few cells:
 * of three, one in a thousand is 4.5 standard deviations off (simulate_fleet). */
static double findings_stretch(const struct observation *observation) {
  const struct component *component = &observation->component;
  return component->fitted && component->entity == ENTITY_GPU ? 1 / (double)observation->fit_cells
                                                              : 0;
}

/* Scores of a set. noise: the least of each value; fitted: as of robust_score_all(). */
static void findings_score(const struct finder *f, struct robust_score *scores, size_t count,
                           double noise, double fitted, bool of_two, size_t tests) {
  for (size_t i = 0; i < count; i++) {
    scores[i].noise = fmax(scores[i].noise, noise);
    if (of_two) {
      robust_score_pair(&scores[i]);
    }
  }
  if (!of_two) {
    robust_score_all(scores, count, (size_t)lround(fitted), tests, f->options->changes);
  }
}

static struct robust_score findings_to_score(const struct observation *observation) {
  return (struct robust_score){.value = observation->value,
                               .noise = observation->noise,
                               .error = observation->error,
                               .margin = observation->margin};
}

/* Judges the candidates of one set by their combined values. tests: sets that share ROBUST_ALPHA.
 */
static void findings_judge_set(struct finder *f, struct candidate *candidates, size_t count,
                               size_t tests) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct robust_score *scores = arena_array(&arena, count, sizeof *scores);
  double *scratch = arena_array(&arena, count, sizeof *scratch);
  const bool of_two = candidates[0].observation.component.of_two;
  double fitted = 0;
  for (size_t i = 0; i < count; i++) {
    scratch[i] = candidates[i].scatter;
    fitted += candidates[i].observation.fitted_share;
    scores[i] = findings_to_score(&candidates[i].observation);
    scores[i].stretch = findings_stretch(&candidates[i].observation);
  }
  findings_score(f, scores, count, sample_median_in_place(scratch, count), fitted, of_two, tests);
  for (size_t i = 0; i < count; i++) {
    struct candidate *candidate = &candidates[i];
    candidate->score = scores[i];
    candidate->judged = of_two ? scores[i].low : count >= ROBUST_COUNT_MIN;
    candidate->state = !scores[i].low ? OUTLIER_FINE : of_two ? OUTLIER_UNDECIDED : OUTLIER_SLOW;
  }
}

/* Whether one observation of this component depends on no other component. */
static bool findings_may_be_single(const struct candidate *candidate) {
  const struct component *component = &candidate->observation.component;
  return candidate->observation_count > 1 &&
         (component->fitted || component->entity == ENTITY_LINK || component->role == ROLE_LOCAL);
}

/* Where the combined value of a candidate is fine, judges its worst observation by itself, among
 * all observations of the set. */
static void findings_judge_singles(struct finder *f, struct candidate *candidates, size_t count,
                                   size_t tests) {
  const struct observation *observations = candidates[0].observations; /* the whole set, sorted */
  const bool of_two = observations->component.of_two;
  size_t observation_count = 0;
  for (size_t i = 0; i < count; i++) {
    observation_count += candidates[i].observation_count;
  }
  SCOPED(arena_fini) struct arena arena = {0};
  struct robust_score *scores = arena_array(&arena, observation_count, sizeof *scores);
  double *scratch = arena_array(&arena, observation_count, sizeof *scratch);
  double fitted = 0;
  for (size_t i = 0; i < observation_count; i++) {
    scratch[i] = observations[i].noise;
    fitted += observations[i].fitted_share;
    scores[i] = findings_to_score(&observations[i]);
    scores[i].margin *= OUTLIER_SINGLE_MARGINS;
  }
  if (of_two || count >= ROBUST_COUNT_MIN) {
    /* The noise of few processes is hardly known: the smallest of many would mean nothing. */
    findings_score(f, scores, observation_count, sample_median_in_place(scratch, observation_count),
                   fitted, of_two, tests);
  }
  for (size_t i = 0; i < count; i++) {
    struct candidate *candidate = &candidates[i];
    const struct robust_score *lowest = &scores[candidate->observations - observations];
    if (candidate->state == OUTLIER_FINE && lowest->low && lowest->robust_z <= OUTLIER_SINGLE_Z &&
        findings_may_be_single(candidate)) {
      candidate->score = *lowest;
      candidate->single = candidate->judged = true;
      candidate->state = of_two ? OUTLIER_UNDECIDED : OUTLIER_SLOW;
    }
  }
}

/* ---- halves that disagree ---- */

ORDER_DEFINE(findings_compare_values, struct candidate *const,
             ORDER((*x)->observation.value, (*y)->observation.value))

/* Where one half of a set is slower than the other by more than matters and far more than the
 * members of each half differ, no middle tells which half is slow. Every member of the slower half
 * is marked with all of the other. */
static void findings_judge_halves(struct candidate *candidates, size_t count, struct arena *arena) {
  const struct component *component = &candidates[0].observation.component;
  struct candidate **sorted = arena_array(arena, count, sizeof *sorted);
  const size_t half = count / 2;
  double noise = ROBUST_SPREAD;
  double margin = 0;
  if (component->of_two || count < 4 || count % 2 != 0 ||
      (component->fitted && component->entity == ENTITY_LINK)) {
    return;
  }
  for (size_t i = 0; i < count; i++) {
    sorted[i] = &candidates[i];
    noise = fmax(noise, candidates[i].observation.noise);
    noise = fmax(noise, candidates[i].observation.error);
    margin = fmax(margin, candidates[i].observation.margin);
    if (candidates[i].state != OUTLIER_FINE) {
      return;
    }
  }
  ORDER_SORT(sorted, count, findings_compare_values);
#define VALUE(i) (sorted[i]->observation.value)
  const double gap = VALUE(half) - VALUE(half - 1);
  const double within = fmax(VALUE(half - 1) - VALUE(0), VALUE(count - 1) - VALUE(half));
  const double difference = (VALUE(half / 2) + VALUE((half - 1) / 2)) / 2 -
                            (VALUE(half + half / 2) + VALUE(half + (half - 1) / 2)) / 2;
#undef VALUE
  if (difference > log1p(-margin) || gap < OUTLIER_HALVES_GAP * fmax(within, noise)) {
    return;
  }
  for (size_t i = 0; i < half; i++) {
    sorted[i]->rivals = sorted + half;
    sorted[i]->peers = sorted;
    sorted[i]->half = half;
    sorted[i]->difference = difference;
  }
}

static bool findings_is_same_set(const struct candidate *x, const struct candidate *y) {
  return findings_compare_sets(&x->observation.component, &y->observation.component) == 0;
}

/* Which hosts are slow as a whole, and what else is slow: each has half of the error rate. */
enum { FLEET_QUESTIONS = 2 };

/* A machine is judged set by set. The list of a fleet must hold no false name as a whole, and a
 * fleet has components enough for that. The same holds for a list of changes. */
static void findings_judge_sets(struct finder *f, struct candidate *candidates, size_t count) {
  struct arena *arena = &f->arena;
  struct candidate_set *sets = NULL;
  size_t set_count = 0;
  FOR_EACH_GROUP(first, last, count, findings_is_same_set(&candidates[first], &candidates[last])) {
    *ARENA_ADD(arena, sets, set_count) = (struct candidate_set){candidates + first, last - first};
  }
  const bool is_fleet = f->outliers->is_fleet;
  const size_t tests = is_fleet ? FLEET_QUESTIONS * set_count : f->options->changes ? set_count : 1;
  for (size_t i = 0; i < set_count; i++) {
    findings_judge_set(f, sets[i].candidates, sets[i].count, tests);
    findings_judge_singles(f, sets[i].candidates, sets[i].count, tests);
    findings_judge_halves(sets[i].candidates, sets[i].count, arena);
  }
  if (is_fleet) {
    outliers_judge_hosts(f, sets, set_count, FLEET_QUESTIONS);
  }
}

/* ---- what explains what ---- */

static bool findings_same_place(const struct component *x, const struct component *y) {
  return x->host == y->host && x->traits->set == y->traits->set;
}

/* Whether a GPU in its role is an end of a link. */
static bool findings_has_link(const struct component *gpu, const struct component *link) {
  if (link->entity != ENTITY_LINK || link->fitted != gpu->fitted || link->of_two ||
      !findings_same_place(gpu, link)) {
    return false;
  }
  const struct path *path = &link->path;
  const bool starts = path->from_gpu && path->from == gpu->path.from;
  const bool ends = path->to_gpu && path->to == gpu->path.from;
  return (starts && gpu->role != ROLE_TARGET) || (ends && gpu->role != ROLE_SOURCE);
}

/* Candidates of one host, in the order of all. */
struct host_candidates {
  struct candidate **all;
  size_t count;
};

/* Whether `large`, which is slow, explains all of `small`, which is slow too. A GPU with one link
 * explains no more than the link. Fitted components are separated already. */
static bool findings_explains(const struct host_candidates *host, const struct candidate *large,
                              const struct candidate *small) {
  const struct component *x = &large->observation.component;
  const struct component *y = &small->observation.component;
  if (x->entity == ENTITY_HOST) {
    return y->entity != ENTITY_HOST && findings_same_place(x, y);
  }
  const struct component *gpu = x->entity == ENTITY_GPU ? x : y;
  const struct component *link = x->entity == ENTITY_GPU ? y : x;
  if (gpu->entity != ENTITY_GPU || !findings_has_link(gpu, link)) {
    return false;
  }
  const size_t links =
      SUM_OF(i, host->count, findings_has_link(gpu, &host->all[i]->observation.component));
  return links == 1 ? x == link : x == gpu;
}

static bool findings_is_of_slow_gpu(const struct host_candidates *host,
                                    const struct component *link) {
  return ANY_OF(i, host->count,
                host->all[i]->state == OUTLIER_SLOW &&
                    host->all[i]->observation.component.entity == ENTITY_GPU &&
                    findings_has_link(&host->all[i]->observation.component, link));
}

/* Links that are the slower half because all are of slow GPUs, which are said. */
static bool findings_explains_half(const struct host_candidates *host,
                                   const struct candidate *candidate) {
  return candidate->half > 0 &&
         ALL_OF(i, candidate->half,
                findings_is_of_slow_gpu(host, &candidate->peers[i]->observation.component));
}

static void findings_explain_host(const struct host_candidates *host, bool *explained) {
  for (size_t i = 0; i < host->count; i++) {
    const struct candidate *small = host->all[i];
    explained[i] = false;
    for (size_t j = 0; j < host->count && small->state == OUTLIER_SLOW && !explained[i]; j++) {
      const struct candidate *large = host->all[j];
      explained[i] = i != j && large->state == OUTLIER_SLOW &&
                     !large->observation.component.fitted && !small->observation.component.fitted &&
                     findings_explains(host, large, small);
    }
  }
  for (size_t i = 0; i < host->count; i++) {
    host->all[i]->half = findings_explains_half(host, host->all[i]) ? 0 : host->all[i]->half;
  }
  for (size_t i = 0; i < host->count; i++) {
    host->all[i]->state = explained[i] ? OUTLIER_EXPLAINED : host->all[i]->state;
  }
}

/* One GPU as source and as target; one link in both directions. */
static bool findings_are_halves(const struct candidate *a, const struct candidate *b) {
  const struct component *x = &a->observation.component;
  const struct component *y = &b->observation.component;
  const struct path back = path_back(y->path);
  if (x->entity != y->entity || x->fitted != y->fitted || x->host != y->host ||
      x->traits->sizes != y->traits->sizes || x->traits->block != y->traits->block) {
    return false;
  }
  if (x->entity == ENTITY_GPU) {
    return x->traits->set == y->traits->set && x->path.from == y->path.from &&
           a->role == ROLE_SOURCE && b->role == ROLE_TARGET;
  }
  return x->entity == ENTITY_LINK && a->role == ROLE_NONE && b->role == ROLE_NONE &&
         path_has_ends(&x->path, &back) && x->traits->memory == y->traits->reverse_memory;
}

static void findings_merge(struct candidate *a, struct candidate *b) {
  a->role = ROLE_BOTH;
  a->source_change = a->score.deviation;
  a->target_change = b->score.deviation;
  a->observation.cases += b->observation.cases;
  a->single = a->single && b->single;
  if (b->observation.worst_deviation < a->observation.worst_deviation) {
    a->observation.worst_deviation = b->observation.worst_deviation;
    a->observation.worst = b->observation.worst;
  }
  if (b->score.deviation < a->score.deviation) {
    a->score = b->score;
  }
  b->merged = true;
}

static void findings_merge_halves(const struct host_candidates *host) {
  for (size_t i = 0; i < host->count; i++) {
    struct candidate *a = host->all[i];
    for (size_t j = 0; j < host->count && a->state == OUTLIER_SLOW; j++) {
      struct candidate *b = host->all[j];
      if (i != j && b->state == OUTLIER_SLOW && !a->merged && !b->merged &&
          findings_are_halves(a, b)) {
        findings_merge(a, b);
      }
    }
  }
}

ORDER_DEFINE(findings_compare_hosts, struct candidate *const,
             ORDER((*x)->observation.component.host, (*y)->observation.component.host)
                 ?: ORDER(*x, *y))

/* What a host explains by itself: nothing where nothing is slow. */
static void findings_relate(struct finder *f, struct candidate *candidates, size_t count) {
  struct candidate **sorted = arena_array(&f->arena, count, sizeof *sorted);
  bool *explained = arena_array(&f->arena, count, sizeof *explained);
  bool *slow = arena_array(&f->arena, f->results->environment_count, sizeof *slow); /* by host */
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    const struct candidate *candidate = &candidates[i];
    slow[candidate->observation.component.host] |=
        candidate->state == OUTLIER_SLOW || candidate->half > 0;
  }
  for (size_t i = 0; i < count; i++) {
    if (slow[candidates[i].observation.component.host]) {
      sorted[used++] = &candidates[i];
    }
  }
  ORDER_SORT(sorted, used, findings_compare_hosts);
  FOR_EACH_GROUP(first, last, used,
                 sorted[last]->observation.component.host ==
                     sorted[first]->observation.component.host) {
    const struct host_candidates host = {sorted + first, last - first};
    findings_explain_host(&host, explained);
    findings_merge_halves(&host);
  }
}

void outliers_judge(struct finder *f) {
  size_t count = 0;
  struct candidate *candidates = findings_candidates(f, &count);
  findings_judge_sets(f, candidates, count);
  findings_relate(f, candidates, count);
  outliers_make_rows(f, candidates, count);
}
