#include "engine/case/visits.h"

#include "engine/base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(settled, SETTLED_LIST)

/* What the trials that count took, the measured flows or the load, per iteration. */
struct series {
  double *values;   /* in the order of their visits */
  double *measured; /* what the measured flows took in the same trials */
  size_t count;
  size_t ends[VISITS_MAX];
  size_t visits;
  double disturbed;   /* a trial is, if it is slower by more than that */
  bool precise, calm; /* the first visit of it */
  /* Of one visit its median, of several the level; 0 = there are too few trials. */
  double ns, low_ns, high_ns;
};

bool visits_are_allowed(const struct measure *measure) {
  enum { INTERVAL_TRIALS_MIN = 6 };
  return measure->min_time_ns == 0 && measure->trials_max >= INTERVAL_TRIALS_MIN;
}

bool visits_follow(const struct measure *measure) {
  return measure->trials_min >= measure->trials_max;
}

void visits_shorten(struct measure *measure, uint32_t iterations) {
  measure->max_time_ns /= 4;
  if (measure->trials_min > VISITS_VOTES) {
    measure->trials_min = VISITS_VOTES;
  }
  if (measure->iterations == 0 && measure->min_trial_ns >= VISITS_LONG_TRIAL_NS) {
    measure->iterations = (iterations + 1) / 2;
  }
}

bool visits_is_disturbed(const struct visits_found *found) {
  return !(found->undisturbed_ns > 0) || found->disturbed_share >= VISITS_MANY;
}

bool visits_is_noisy(size_t cases, size_t imprecise, size_t disturbed) {
  return (imprecise > 0 && 5 * imprecise >= cases) || (disturbed > 0 && 10 * disturbed >= cases);
}

bool visits_is_open(const struct visits_found *found, size_t cases, size_t unsettled) {
  const bool open = found->settled == SETTLED_BUDGET;
  return cases == 0 || 8 * unsettled > cases
             ? open || found->narrows
             : open && (found->visits <= VISITS_PATIENCE || !(found->undisturbed_ns > 0));
}

static void series_add(struct series *series, double value, double measured) {
  series->values[series->count] = value;
  series->measured[series->count++] = measured;
}

static void series_end_visit(struct series *series) {
  if (series->count > (series->visits > 0 ? series->ends[series->visits - 1] : 0)) {
    series->ends[series->visits++] = series->count;
  }
}

static double series_half_width(const struct series *series) {
  return series->ns > 0 ? (series->high_ns - series->low_ns) / (2 * series->ns) : INFINITY;
}

/* scratch holds as many values as the first visit has. */
static void series_take_first(struct series *series, double precision, double *scratch) {
  struct summary summary;
  const size_t count = series->ends[0];
  memcpy(scratch, series->values, count * sizeof *scratch);
  summary_of_values(scratch, count, &summary);
  const double half_width = (summary.median_high_ns - summary.median_low_ns) / 2;
  series->precise = summary.median_high_ns > 0 && half_width <= precision * summary.median_ns;
  series->calm = summary.median_ns <= scratch[count > 1] * (1 + VISITS_CALM);
  series->ns = summary.median_ns;
  series->low_ns = series->precise ? summary.median_low_ns : summary.min_ns;
  series->high_ns = fmax(summary.median_high_ns, summary.median_ns);
}

/* Of several visits; scratch holds as many values as the longest has. */
static void series_find_level(struct series *series, double *scratch) {
  double fastest[VISITS_MAX * VISITS_VOTES];
  const size_t wanted = (size_t)VISITS_VOTES * (series->visits < 3 ? series->visits : 3);
  size_t taken = 0;
  size_t begin = 0;
  for (size_t i = 0; i < series->visits; begin = series->ends[i++]) {
    const size_t count = series->ends[i] - begin;
    memcpy(scratch, series->values + begin, count * sizeof *scratch);
    order_sort_values(scratch, count);
    for (size_t j = 0; j < VISITS_VOTES && j < count; j++) {
      fastest[taken++] = scratch[j];
    }
  }
  order_sort_values(fastest, taken);
  series->ns = taken < wanted ? 0 : sorted_quantile(fastest, wanted, 0.25);
  series->high_ns = taken < wanted ? 0 : fastest[wanted - 1];
  series->low_ns = fmax(fastest[0] - 2 * (series->high_ns - fastest[0]), 0);
}

static void series_judge(struct series *series, double precision, double *scratch) {
  if (series->visits > 0) {
    series_take_first(series, precision, scratch);
  }
  if (series->visits > 1) {
    series_find_level(series, scratch);
  }
}

static bool series_is_slower(const struct series *series, size_t i, double by) {
  return series->values[i] > series->ns * (1 + by);
}

static double series_disturbed_share(const struct series *series) {
  size_t disturbed = 0;
  for (size_t i = 0; i < series->count; i++) {
    disturbed += series_is_slower(series, i, series->disturbed);
  }
  return (double)disturbed / (double)series->count;
}

/* The half width of the interval that the disturbance leaves, of one that is `most` where no trial
 * is disturbed. */
static double series_room(const struct series *series, double most) {
  const double undisturbed_share = 1 - series_disturbed_share(series);
  return most * undisturbed_share * undisturbed_share;
}

/* Whether the undisturbed trials of a series are known. */
static bool series_is_known(const struct series *series, bool noisy) {
  return series->visits == 1 ? series->precise || (series->calm && !noisy)
                             : series_half_width(series) <= series_room(series, VISITS_WIDE);
}

/* What the measured flows took in the trials of a series from `begin` to `end` that are not slower
 * than its level by more than that, sorted; returns how many. */
static size_t series_gather(const struct series *series, size_t begin, size_t end, double slower,
                            double *values) {
  size_t count = 0;
  for (size_t i = begin; i < end; i++) {
    if (!series_is_slower(series, i, slower)) {
      values[count++] = series->measured[i];
    }
  }
  order_sort_values(values, count);
  return count;
}

/* The rate of the trials near the level of a series, with the interval of its visits. scratch holds
 * all trials. */
static void series_take_means(const struct series *series, double *scratch,
                              struct visits_found *found) {
  struct summary summary = {0};
  double sum_ns = 0;
  double low_ns = INFINITY;
  double high_ns = 0;
  size_t taking = 0;
  size_t begin = 0;
  for (size_t visit = 0; visit < series->visits; begin = series->ends[visit++]) {
    const size_t taken = series_gather(series, begin, series->ends[visit], VISITS_NEAR, scratch);
    if (taken > 0) {
      summary_of_values(scratch, taken, &summary);
      sum_ns += summary.mean_ns;
      low_ns = fmin(low_ns, summary.mean_ns);
      high_ns = fmax(high_ns, summary.mean_ns);
      taking++;
    }
  }
  const bool one = taking == 1;
  found->undisturbed_ns = one ? summary.median_ns : sum_ns / (double)taking;
  found->low_ns = one ? summary.min_ns : low_ns;
  found->high_ns = one ? fmax(summary.median_high_ns, summary.median_ns) : high_ns;
}

static void visits_take_own(const struct series *own, double *scratch, struct visits_found *found) {
  found->undisturbed_ns = own->ns;
  if (own->visits > 1) {
    series_take_means(own, scratch, found);
  }
  found->low_ns = own->low_ns;
  found->high_ns = fmax(own->high_ns, found->high_ns);
}

/* Where the load says which trials are undisturbed: false, if these are slower than others. */
static bool visits_take_of_load(const struct series *load, double *scratch,
                                struct visits_found *found) {
  struct visits_found taken;
  series_take_means(load, scratch, &taken);
  const size_t count = series_gather(load, 0, load->count, INFINITY, scratch);
  if (taken.undisturbed_ns > sorted_quantile(scratch, count, 0.5) * (1 + VISITS_DISTURBED)) {
    return false;
  }
  found->undisturbed_ns = taken.undisturbed_ns;
  found->low_ns = taken.low_ns;
  found->high_ns = taken.high_ns;
  return true;
}

/* Whether the rate of several visits is known closely enough. */
static bool visits_is_close(const struct series *judged, bool of_load,
                            const struct visits_found *found) {
  const double most = series_room(judged, VISITS_CLOSE);
  const double mean_half_width =
      (found->high_ns - found->low_ns) / (2 * found->undisturbed_ns * sqrt((double)judged->visits));
  return series_half_width(judged) <= most && (!of_load || mean_half_width <= most);
}

static void visits_take(const struct series *own, const struct series *load, double precision,
                        bool noisy, double *scratch, struct visits_found *found) {
  const bool own_known = series_is_known(own, noisy);
  const bool load_seen = load->visits > 1 || (load->visits == 1 && own->visits == 1);
  const bool of_load = !own_known && load_seen && series_is_known(load, noisy) &&
                       visits_take_of_load(load, scratch, found);
  const struct series *judged = of_load ? load : own;
  if (own_known) {
    visits_take_own(own, scratch, found);
  }
  found->precise = own->precise || load->precise;
  const bool drifts = of_load && noisy && own->visits > 1;
  const bool settled = (own_known || of_load) && !drifts &&
                       (own->visits == 1 ? !noisy : visits_is_close(judged, of_load, found));
  const bool narrow = own->visits == 1 ? settled
                                       : series_half_width(judged) <= precision &&
                                             (!noisy || judged->visits > VISITS_PATIENCE);
  found->settled = settled                    ? SETTLED_YES
                   : own->visits < VISITS_MAX ? SETTLED_BUDGET
                                              : SETTLED_NOISE;
  found->narrows = !narrow && own->visits < VISITS_MAX;
  if (found->undisturbed_ns > 0) {
    found->disturbed_share = series_disturbed_share(judged);
    for (size_t i = 0; i < own->count; i++) {
      found->disturbed_most =
          fmax(found->disturbed_most, own->values[i] / found->undisturbed_ns - 1);
    }
  }
}

void visits_judge(const struct trial *trials, const double *load_ns, size_t count, double precision,
                  bool noisy, struct visits_found *found) {
  *found = (struct visits_found){.visits = count > 0 ? trials[count - 1].visit + 1 : 0};
  double *values = memory_new(4 * count + 1, sizeof *values);
  double *scratch = values + 3 * count;
  struct series own = {.values = values, .measured = values, .disturbed = VISITS_DISTURBED};
  bool load_from_first = false;
  struct series load = {
      .values = values + count, .measured = values + 2 * count, .disturbed = VISITS_NEAR};
  for (size_t i = 0; i < count && own.visits < VISITS_MAX;) {
    const uint32_t visit = trials[i].visit;
    for (; i < count && trials[i].visit == visit; i++) {
      const double ns = (double)trials[i].elapsed_ns / (double)trials[i].iterations;
      if (!summary_takes(&trials[i])) {
        continue;
      }
      series_add(&own, ns, ns);
      if (load_ns != NULL && load_ns[i] > 0) {
        series_add(&load, load_ns[i], ns);
      }
    }
    series_end_visit(&own);
    series_end_visit(&load);
    load_from_first = load_from_first || (own.visits == 1 && load.visits == 1);
  }
  series_judge(&own, precision, scratch);
  series_judge(&load, precision, scratch);
  load.precise = load.precise && load_from_first;
  if (own.visits > 0) {
    visits_take(&own, &load, precision, noisy, scratch, found);
  }
  free(values);
}
