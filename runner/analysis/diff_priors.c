#include "runner/analysis/diff_internal.h"

#include "engine/base/order.h"
#include "runner/statistics/dependence.h"

#include <string.h>
#include <xxhash.h>

/* One case of a family, for sorting. */
struct member {
  uint64_t family;
  size_t index;
};

ORDER_DEFINE(priors_compare_members, struct member,
             ORDER(x->family, y->family) ?: ORDER(x->index, y->index))

enum of_side { OF_BOTH, OF_A, OF_B };

struct learning {
  const struct prior_case *cases;
  struct diff_prior *priors;
  struct member *members;
  /* Room for what a prior is fitted to. */
  double *variances, *dfs;
  struct deviations *deviations;
  /* Of all cases, one after the other. */
  double *deviation_values;
  uint32_t *deviation_numbers;
  uint32_t numbers_end; /* of the observations of one side */
};

static double priors_variance(const struct prior_case *c, enum of_side of, double *df) {
  switch (of) {
  case OF_BOTH:
    return effect_pooled_variance(&c->a_sample, &c->b_sample, df);
  case OF_A:
    *df = (double)c->a_sample.count - 1;
    return c->a_sample.variance;
  case OF_B:
    break;
  }
  *df = (double)c->b_sample.count - 1;
  return c->b_sample.variance;
}

/* Fits a prior to the members' variances, of both sides or of one. Where one side has too few
 * observations to show how its cases depend on each other, they do as on both. */
static struct variance_prior priors_fit(const struct learning *l, const struct member *members,
                                        size_t count, enum of_side of, double *dependence) {
  size_t used = 0;
  size_t room = 0;
  double df_sum = 0;
  for (size_t i = 0; i < count; i++) {
    const struct prior_case *c = &l->cases[members[i].index];
    double df = 0;
    const double variance = priors_variance(c, of, &df);
    if (df > 0) {
      l->variances[used] = variance;
      l->dfs[used] = df;
      struct deviations *deviations = &l->deviations[used++];
      *deviations = (struct deviations){.values = l->deviation_values + room,
                                        .numbers = l->deviation_numbers + room};
      deviations_set(deviations, of == OF_B ? NULL : &c->a, of == OF_A ? NULL : &c->b,
                     l->numbers_end);
      room += c->a.count + c->b.count;
      df_sum += df;
    }
  }
  if (of == OF_BOTH || df_sum >= 2 * (double)used) {
    *dependence = dependence_estimate(l->deviations, used, 2 * (size_t)l->numbers_end);
  }
  return variance_shrinkage_fit(l->variances, l->dfs, used, *dependence);
}

/* Fits priors to the members and gives them to those that have none yet. */
static void priors_learn(const struct learning *l, const struct member *members, size_t count) {
  struct diff_prior learnt = {.known = true};
  double dependence = 0;
  learnt.both = priors_fit(l, members, count, OF_BOTH, &dependence);
  double of_a = dependence;
  double of_b = dependence;
  learnt.a = priors_fit(l, members, count, OF_A, &of_a);
  learnt.b = priors_fit(l, members, count, OF_B, &of_b);
  learnt.dependence = dependence;
  for (size_t i = 0; i < count; i++) {
    struct diff_prior *prior = &l->priors[members[i].index];
    if (!prior->known) {
      *prior = learnt;
    }
  }
}

/* Families of one level; level DIFF_FAMILY_LEVELS is all cases together. */
static void priors_learn_level(const struct learning *l, size_t count, size_t level) {
  struct member *members = l->members;
  size_t member_count = 0;
  for (size_t i = 0; i < count; i++) {
    const struct prior_case *c = &l->cases[i];
    if (c->families != NULL) {
      const uint32_t family = level < DIFF_FAMILY_LEVELS ? c->families[level] : 0;
      members[member_count++] = (struct member){(uint64_t)c->unit << 32 | family, i};
    }
  }
  ORDER_SORT(members, member_count, priors_compare_members);
  FOR_EACH_GROUP(first, last, member_count, members[last].family == members[first].family) {
    if (last - first >= DIFF_FAMILY_MIN) {
      priors_learn(l, members + first, last - first);
    }
  }
}

static void priors_count_numbers(struct learning *l, const struct process_sample *side) {
  for (size_t i = 0; i < side->count; i++) {
    const uint32_t number = process_sample_process(side, i);
    l->numbers_end = number >= l->numbers_end ? number + 1 : l->numbers_end;
  }
}

/* How many values the cases that teach have, of how many cases; their numbers are counted as well.
 */
static size_t priors_count_values(struct learning *l, size_t count, size_t *teach) {
  size_t room = 0;
  *teach = 0;
  for (size_t i = 0; i < count; i++) {
    if (l->cases[i].families != NULL) {
      priors_count_numbers(l, &l->cases[i].a);
      priors_count_numbers(l, &l->cases[i].b);
      room += l->cases[i].a.count + l->cases[i].b.count;
      ++*teach;
    }
  }
  return room;
}

void diff_learn_priors(const struct prior_case *cases, size_t count, struct diff_prior *priors,
                       struct arena *arena) {
  struct learning l = {.cases = cases, .priors = priors};
  size_t teach = 0;
  const size_t room = priors_count_values(&l, count, &teach);
  l.members = arena_array(arena, count, sizeof *l.members);
  l.variances = arena_array(arena, count, sizeof *l.variances);
  l.dfs = arena_array(arena, count, sizeof *l.dfs);
  l.deviations = arena_array(arena, count, sizeof *l.deviations);
  l.deviation_values = arena_array(arena, room, sizeof *l.deviation_values);
  l.deviation_numbers = arena_array(arena, room, sizeof *l.deviation_numbers);
  for (size_t level = 0; level <= DIFF_FAMILY_LEVELS; level++) {
    priors_learn_level(&l, count, level);
  }
}

double diff_find_dependence(const struct prior_case *cases, size_t count, struct arena *arena) {
  struct learning l = {.cases = cases};
  size_t teach = 0;
  size_t room = priors_count_values(&l, count, &teach);
  const size_t stride = 1 + teach / DIFF_DEPENDENCE_MAX;
  double *values = arena_array(arena, room, sizeof *values);
  uint32_t *numbers = arena_array(arena, room, sizeof *numbers);
  struct deviations *deviations = arena_array(arena, teach / stride + 1, sizeof *deviations);
  size_t used = 0;
  size_t seen = 0;
  room = 0;
  for (size_t i = 0; i < count; i++) {
    if (cases[i].families != NULL && seen++ % stride == 0) {
      struct deviations *one = &deviations[used++];
      *one = (struct deviations){.values = values + room, .numbers = numbers + room};
      deviations_set(one, &cases[i].a, &cases[i].b, l.numbers_end);
      room += one->count;
    }
  }
  return used < DIFF_DEPENDENCE_MIN
             ? 1
             : dependence_estimate(deviations, used, 2 * (size_t)l.numbers_end);
}

double diff_usual_margin(uint64_t size_bytes) {
  return size_bytes >= UINT64_C(1) << 20 ? 0.01 : 0.03;
}

void diff_families(const char *method, const char *path, uint64_t size_bytes,
                   uint32_t families[DIFF_FAMILY_LEVELS]) {
  const uint32_t size_class = size_bytes < UINT64_C(64) << 10  ? 1
                              : size_bytes < UINT64_C(1) << 20 ? 2
                                                               : 3;
  /* Two families with one hash would only learn from each other. */
  families[2] = XXH32(method, strlen(method), 0);
  families[1] = XXH32(path, strlen(path), families[2]);
  families[0] = XXH32(&size_class, sizeof size_class, families[1]);
}
