/* outliers_findings.c - the observations of each component, combined, judged, and made rows. */
#include "runner/analysis/outliers_internal.h"

#include "runner/statistics/robust.h"
#include "runner/statistics/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int findings_compare_numbers(double a, double b) {
  return (a > b) - (a < b);
}

/* Equal for components that are judged together. */
static int findings_compare_sets(const struct component *x, const struct component *y) {
  int order = strcmp(x->block, y->block);
  order = order != 0 ? order : strcmp(x->memory, y->memory);
  order = order != 0 ? order : (int)x->sizes - (int)y->sizes;
  order = order != 0 ? order : (int)x->entity - (int)y->entity;
  order = order != 0 ? order : (int)x->role - (int)y->role;
  order = order != 0 ? order : x->of_two - y->of_two;
  return order != 0 ? order : x->fitted - y->fitted;
}

static int findings_compare_components(const struct component *x, const struct component *y) {
  int order = findings_compare_sets(x, y);
  order = order != 0 ? order : findings_compare_numbers(x->host, y->host);
  order = order != 0 ? order : x->path.from_gpu - y->path.from_gpu;
  order = order != 0 ? order : x->path.from - y->path.from;
  order = order != 0 ? order : x->path.to_gpu - y->path.to_gpu;
  order = order != 0 ? order : x->path.to - y->path.to;
  return order != 0 ? order : x->path.bidirectional - y->path.bidirectional;
}

static int findings_compare_observations(const void *a, const void *b) {
  const struct observation *x = a;
  const struct observation *y = b;
  const int order = findings_compare_components(&x->component, &y->component);
  if (order != 0 || x->value != y->value) {
    return order != 0 ? order : findings_compare_numbers(x->value, y->value);
  }
  return (x->worst > y->worst) - (x->worst < y->worst);
}

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
    scratch[i] = observations[i].value - observation->value;
  }
  all.scatter = count >= ROBUST_COUNT_MIN ? robust_spread(scratch, count) / root : 0;
  return all;
}

static struct candidate *findings_candidates(struct finder *f, size_t *count) {
  struct candidate *candidates = NULL;
  size_t capacity = 0;
  double *scratch = arena_array(&f->arena, f->observation_count, sizeof *scratch);
  *count = 0;
  if (f->observation_count > 1) { /* none is NULL */
    qsort(f->observations, f->observation_count, sizeof *f->observations,
          findings_compare_observations);
  }
  for (size_t first = 0; first < f->observation_count;) {
    size_t last = first + 1;
    while (last < f->observation_count &&
           findings_compare_components(&f->observations[first].component,
                                       &f->observations[last].component) == 0) {
      last++;
    }
    candidates = arena_grow(&f->arena, candidates, *count, &capacity, sizeof *candidates);
    candidates[(*count)++] = findings_combine(f->observations + first, last - first, scratch);
    first = last;
  }
  return candidates;
}

/* ---- judging ---- */

/* Judges the candidates of one set by their combined values. */
static void findings_judge_set(struct candidate *candidates, size_t count, struct arena *arena) {
  struct robust_score *scores = arena_array(arena, count, sizeof *scores);
  double *scratch = arena_array(arena, count, sizeof *scratch);
  const bool of_two = candidates[0].observation.component.of_two;
  double fitted = 0;
  for (size_t i = 0; i < count; i++) {
    scratch[i] = candidates[i].scatter;
    fitted += candidates[i].observation.fitted_share;
  }
  const double scatter = sample_median_in_place(scratch, count);
  for (size_t i = 0; i < count; i++) {
    const struct observation *observation = &candidates[i].observation;
    scores[i] = (struct robust_score){.value = observation->value,
                                      .noise = fmax(observation->noise, scatter),
                                      .margin = observation->margin};
    if (of_two) {
      robust_score_pair(&scores[i]);
    }
  }
  if (!of_two && count >= ROBUST_COUNT_MIN) {
    robust_score_all(scores, count, (size_t)lround(fitted));
  }
  for (size_t i = 0; i < count; i++) {
    struct candidate *candidate = &candidates[i];
    candidate->score = scores[i];
    candidate->judged = of_two ? scores[i].low : count >= ROBUST_COUNT_MIN;
    candidate->finding = !scores[i].low ? FINDING_FINE : of_two ? FINDING_UNDECIDED : FINDING_SLOW;
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
static void findings_judge_singles(struct candidate *candidates, size_t count,
                                   struct arena *arena) {
  const struct observation *observations = candidates[0].observations; /* the whole set, sorted */
  const bool of_two = observations->component.of_two;
  size_t observation_count = 0;
  for (size_t i = 0; i < count; i++) {
    observation_count += candidates[i].observation_count;
  }
  struct robust_score *scores = arena_array(arena, observation_count, sizeof *scores);
  double *scratch = arena_array(arena, observation_count, sizeof *scratch);
  double fitted = 0;
  for (size_t i = 0; i < observation_count; i++) {
    scratch[i] = observations[i].noise;
  }
  /* The noise of few processes is hardly known: the smallest of many would mean nothing. */
  const double noise = sample_median_in_place(scratch, observation_count);
  for (size_t i = 0; i < observation_count; i++) {
    scores[i] = (struct robust_score){.value = observations[i].value,
                                      .noise = fmax(observations[i].noise, noise),
                                      .margin = OUTLIER_SINGLE_MARGINS * observations[i].margin};
    fitted += observations[i].fitted_share;
    if (of_two) {
      robust_score_pair(&scores[i]);
    }
  }
  if (!of_two && count >= ROBUST_COUNT_MIN) {
    robust_score_all(scores, observation_count, (size_t)lround(fitted));
  }
  for (size_t i = 0; i < count; i++) {
    struct candidate *candidate = &candidates[i];
    const struct robust_score *lowest = &scores[candidate->observations - observations];
    if (candidate->finding == FINDING_FINE && lowest->low && lowest->robust_z <= OUTLIER_SINGLE_Z &&
        findings_may_be_single(candidate)) {
      candidate->score = *lowest;
      candidate->single = candidate->judged = true;
      candidate->finding = of_two ? FINDING_UNDECIDED : FINDING_SLOW;
    }
  }
}

/* ---- halves that disagree ---- */

static int findings_compare_values(const void *a, const void *b) {
  const struct candidate *const *x = a;
  const struct candidate *const *y = b;
  return findings_compare_numbers((*x)->observation.value, (*y)->observation.value);
}

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
    margin = fmax(margin, candidates[i].observation.margin);
    if (candidates[i].finding != FINDING_FINE) {
      return;
    }
  }
  qsort(sorted, count, sizeof(void *), findings_compare_values);
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

static void findings_judge_sets(struct candidate *candidates, size_t count, struct arena *arena) {
  for (size_t first = 0; first < count;) {
    size_t last = first + 1;
    while (last < count && findings_compare_sets(&candidates[first].observation.component,
                                                 &candidates[last].observation.component) == 0) {
      last++;
    }
    findings_judge_set(candidates + first, last - first, arena);
    findings_judge_singles(candidates + first, last - first, arena);
    findings_judge_halves(candidates + first, last - first, arena);
    first = last;
  }
}

/* ---- what explains what ---- */

static bool findings_same_place(const struct component *x, const struct component *y) {
  return x->host == y->host && x->sizes == y->sizes && strcmp(x->block, y->block) == 0 &&
         strcmp(x->memory, y->memory) == 0;
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

/* Whether `large`, which is slow, explains all of `small`, which is slow too. A GPU with one link
 * explains no more than the link. Fitted components are separated already. */
static bool findings_explains(const struct candidate *all, size_t count,
                              const struct component *large, const struct component *small) {
  if (large->entity == ENTITY_HOST) {
    return small->entity != ENTITY_HOST && findings_same_place(large, small);
  }
  const struct component *gpu = large->entity == ENTITY_GPU ? large : small;
  const struct component *link = large->entity == ENTITY_GPU ? small : large;
  if (gpu->entity != ENTITY_GPU || !findings_has_link(gpu, link)) {
    return false;
  }
  size_t links = 0;
  for (size_t i = 0; i < count; i++) {
    links += findings_has_link(gpu, &all[i].observation.component);
  }
  return links == 1 ? large == link : large == gpu;
}

static void findings_explain(struct candidate *all, size_t count, struct arena *arena) {
  struct candidate **slow = arena_array(arena, count, sizeof *slow);
  bool *explained = arena_array(arena, count, sizeof *explained);
  size_t slow_count = 0;
  for (size_t i = 0; i < count; i++) {
    if (all[i].finding == FINDING_SLOW && !all[i].observation.component.fitted) {
      slow[slow_count++] = &all[i];
    }
  }
  for (size_t i = 0; i < slow_count; i++) {
    for (size_t j = 0; j < slow_count && !explained[i]; j++) {
      explained[i] = i != j && findings_explains(all, count, &slow[j]->observation.component,
                                                 &slow[i]->observation.component);
    }
  }
  for (size_t i = 0; i < slow_count; i++) {
    slow[i]->finding = explained[i] ? FINDING_EXPLAINED : FINDING_SLOW;
  }
}

/* One GPU as source and as target; one link in both directions. */
static bool findings_are_halves(const struct candidate *a, const struct candidate *b) {
  const struct component *x = &a->observation.component;
  const struct component *y = &b->observation.component;
  if (x->entity != y->entity || x->fitted != y->fitted || x->host != y->host ||
      x->sizes != y->sizes || strcmp(x->block, y->block) != 0) {
    return false;
  }
  if (x->entity == ENTITY_GPU) {
    return strcmp(x->memory, y->memory) == 0 && x->path.from == y->path.from &&
           a->role == ROLE_SOURCE && b->role == ROLE_TARGET;
  }
  return x->entity == ENTITY_LINK && a->role == ROLE_NONE && b->role == ROLE_NONE &&
         x->path.from_gpu == y->path.to_gpu && x->path.from == y->path.to &&
         x->path.to_gpu == y->path.from_gpu && x->path.to == y->path.from &&
         strcmp(x->memory, y->reverse_memory) == 0;
}

static void findings_merge_halves(struct candidate *all, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < count && all[i].finding == FINDING_SLOW; j++) {
      struct candidate *a = &all[i];
      struct candidate *b = &all[j];
      if (i == j || b->finding != FINDING_SLOW || a->merged || b->merged ||
          !findings_are_halves(a, b)) {
        continue;
      }
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
  }
}

void outliers_judge(struct finder *f) {
  size_t count = 0;
  struct candidate *candidates = findings_candidates(f, &count);
  findings_judge_sets(candidates, count, &f->arena);
  findings_explain(candidates, count, &f->arena);
  findings_merge_halves(candidates, count);
  outliers_make_rows(f, candidates, count);
}
