/* Which way of measuring gives the same number twice on a noisy host? Recorded or simulated
 * disturbance is replayed; the statistics of the product judge it (engine/case/visits.h).
 *
 *   settle [-c] [-r REPEATS] [-g GAP_MS]... [-s SETTLE_S] [-v VARIANT]...
 *          [FILE.csv | FILE.csv.xz]...
 *
 * Of each file, or of simulated hosts where none is given, for each variant (settle_hosts.h;
 * "plain" unless given), policy and case, over 2000 repeats unless given:
 *
 *   typical      range of the typical rate over 20 repeats, highest / lowest - 1, in %: the mean of
 *                all sets of 20, because that of one set is luck
 *   undisturbed  the same of the undisturbed rate
 *   bias         median of the undisturbed rate against the quiet one, in %
 *   known to     median half width of its interval, in %
 *   known        how many of the repeats have an undisturbed rate
 *   settled      how many are settled
 *   wrong        in how many its interval, or 0.3 % if that is wider, misses the quiet rate, or if
 *                at most one of 20 is settled, the median of the repeats
 *   visits       mean
 *   seconds      mean, of all cases together
 *   wall         seconds beside those of `once`
 *   of once      range of the typical rate beside that of `once`, or of a trace beside that of
 *                `longer`, which measures for as long
 *
 * Policies: `once` is a first round alone, `visits` the product's, with its own gap between visits
 * or that of -g, `whole` the same with later trials as long as the first (of a trace: recorded
 * trials have one length), `longer` as many trials in a row as fit into the time of those visits.
 *
 * -c ends with 1 if `visits` breaks a limit of LIMITS for a case that crosses a link, is wrong in
 * more than one repeat of 20, or takes more than three times as long as `once`. A case that is
 * settled in at most one repeat of 20 may vary by as much as half of its interval. Beside a
 * neighbour who never rests, no repeat may have a rate. How many rates are known otherwise, and how
 * the typical rate varies, is asked only of the variant "plain". */
#include "engine/case/visits.h"
#include "tests/benchmarks/settle_hosts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEATS_MAX = 2000, REPEATS_SET = 20, TRIALS_MAX = 1024, GAPS_MAX = 8 };
/* The shipped scenario nvbandwidth. */
enum { TRIALS_LEAST = 6 };
static const double PRECISION = 0.002, SET_UP_NS = 20e6;
static const double MAX_TIME_BOTH_NS = 200e6; /* of copies both ways */
static const double OTHERS_NS = 2e9; /* what cases that nothing disturbs take in a first round */

enum policy_kind { POLICY_ONCE, POLICY_LONGER, POLICY_VISITS, POLICY_WHOLE };
struct policy {
  enum policy_kind kind;
  uint64_t gap_ns; /* 0 = the product's */
};

/* One case in one repeat. */
struct measured {
  struct trial trials[TRIALS_MAX];
  double load_ns[TRIALS_MAX];
  size_t count;
  uint32_t visits;
  uint32_t iterations; /* of a trial of the first visit */
  double ended_ns;
  size_t order[SERIES_MAX]; /* of visits */
  double at_ns;             /* where in a trace a repeat begins */
  struct summary summary;
  struct visits_found found;
};

struct options {
  size_t repeats;
  double settle_ns;
  bool check;
};

/* What -c asks for, of the first row whose name a case has in its own: %. Copies to the GPU beside
 * copies from it have a rate only if their load was recorded, and no quiet rate (settle_hosts.h).
 * Of both/ the time of each flow is not recorded. */
static const struct settle_limit {
  const char *name;
  double range, bias;
  double known;   /* share of the repeats */
  double typical; /* range of the typical rate beside that of one visit */
} LIMITS[] = {{"host_to_device_bidirectional_memcpy_ce", 3, 0, 0.95, 0.5},
              {"bidirectional_memcpy_ce", 1, 0.3, 0.8, 0.5},
              {"bidirectional_memcpy_sm", 0.7, 0.3, 0.95, 0.5},
              {"both_flows/", 4, 0, 0.8, INFINITY},
              {"both/", 3, 1, 0, INFINITY},
              {"", 0.5, 0.3, 0.9, 0.5}};
static const double WRONG = 0.003, WALL = 3;
enum { ONE_IN = 20 };

/* Measuring ------------------------------------------------------------------------------------ */

static void measured_add(struct measured *measured, const struct raw *raw) {
  if (measured->count < TRIALS_MAX) {
    measured->load_ns[measured->count] = raw->load_ns;
    measured->trials[measured->count++] = (struct trial){.visit = measured->visits,
                                                         .phase = TRIAL_MEASURE,
                                                         .iterations = raw->iterations,
                                                         .elapsed_ns = (uint64_t)raw->elapsed_ns};
  }
}

/* Whether the trials from `first` on are within the precision, as the engine judges a case. */
static bool measured_precise(const struct measured *measured, size_t first) {
  double values[TRIALS_MAX];
  struct summary summary;
  const size_t count = measured->count - first;
  summary_of_trials(measured->trials + first, count, values, &summary);
  return count >= TRIALS_LEAST &&
         (summary.median_high_ns - summary.median_low_ns) / 2 <= PRECISION * summary.median_ns;
}

/* Where in a trace the first trial is that begins at from_ns or later. */
static size_t series_find(const struct series *series, double from_ns) {
  size_t at = 0;
  for (size_t step = series->count / 2; step > 0; step /= 2) { /* near it, then exactly */
    at += at + step < series->count && series->trials[at + step].start_ns < from_ns ? step : 0;
  }
  while (at < series->count && series->trials[at].start_ns < from_ns) {
    at++;
  }
  return at;
}

/* A visit that begins at now_ns; returns how long it takes, 0 where there is none left. Recorded
 * visits have trials of one length: a later one is a part of one, which begins in its first half.
 * whole: trials of a later visit are as long as those of the first. */
static double measured_visit(struct measured *measured, const struct source *source, bool whole,
                             double now_ns, double most_ns) {
  const size_t first = measured->count;
  const bool trace = source_is_trace(source);
  const bool as_recorded = !trace && first == 0;
  if (!trace && measured->visits >= source->count) {
    return 0;
  }
  struct measure measure = {.trials_min = TRIALS_LEAST,
                            .max_time_ns = (uint64_t)most_ns,
                            .min_trial_ns = (uint64_t)MIN_TRIAL_NS};
  if (first > 0) {
    visits_shorten(&measure, measured->iterations);
    measure.iterations = whole ? 0 : measure.iterations;
  }
  const struct series *series = &source->series[trace ? 0 : measured->order[measured->visits]];
  const double span_ns = series_span_ns(series);
  const double from_ns =
      trace ? series->trials[0].start_ns + fmod(measured->at_ns + now_ns, span_ns - most_ns)
            : series->trials[0].start_ns + (as_recorded ? 0 : random_share() * span_ns / 2);
  double took_ns = 0;
  bool precise = false;
  for (size_t at = series_find(series, from_ns);
       at < series->count &&
       (as_recorded || (!precise && (took_ns < (double)measure.max_time_ns ||
                                     measured->count - first < measure.trials_min)));) {
    struct raw joined;
    at = series_join(series, at, trace ? MIN_TRIAL_NS : 0, trace ? measure.iterations : 0, &joined);
    measured_add(measured, &joined);
    measured->iterations = first == 0 ? joined.iterations : measured->iterations;
    took_ns =
        (at < series->count ? series->trials[at].start_ns : series->trials[0].start_ns + span_ns) -
        from_ns;
    precise = measured_precise(measured, first);
  }
  measured->visits++;
  measured->ended_ns = now_ns + took_ns + SET_UP_NS;
  return took_ns + SET_UP_NS;
}

static void measured_judge(struct measured *measured, bool noisy) {
  double values[TRIALS_MAX];
  summary_of_trials(measured->trials, measured->count, values, &measured->summary);
  visits_judge(measured->trials, measured->load_ns, measured->count, PRECISION, noisy,
               &measured->found);
}

static double source_max_ns(const struct source *source) {
  return strstr(source->name, "_bidirectional_") != NULL ? MAX_TIME_BOTH_NS : MAX_TIME_NS;
}

/* As the product knows it of the flows of a case. */
static bool source_crosses(const struct source *source) {
  return strstr(source->name, "_local_") == NULL;
}

/* All cases of a host, as the supervisor does it; returns how long it takes. */
static double host_measure(const struct host *host, const struct policy *policy,
                           const struct options *options, double longer,
                           struct measured *measured) {
  double now_ns = 0;
  size_t imprecise = 0;
  size_t disturbed = 0;
  size_t links = 0;
  for (size_t i = 0; i < host->count; i++) {
    const double max_ns = source_max_ns(&host->sources[i]);
    const double most_ns = policy->kind == POLICY_LONGER ? longer * max_ns : max_ns;
    now_ns += measured_visit(&measured[i], &host->sources[i], false, now_ns, most_ns);
    measured_judge(&measured[i], false);
    if (source_crosses(&host->sources[i])) {
      imprecise += !measured[i].found.precise;
      disturbed += visits_is_disturbed(&measured[i].found);
      links++;
    }
  }
  now_ns += OTHERS_NS;
  const bool noisy = visits_is_noisy(links, imprecise, disturbed);
  bool visited = policy->kind == POLICY_VISITS || policy->kind == POLICY_WHOLE;
  const double end_ns = now_ns + (visited ? options->settle_ns : 0);
  for (size_t i = 0; visited && i < host->count; i++) {
    measured_judge(&measured[i], noisy && source_crosses(&host->sources[i]));
  }
  while (visited) {
    visited = false;
    for (size_t i = 0; i < host->count; i++) {
      struct measured *item = &measured[i];
      const double gap_ns = (double)(policy->gap_ns > 0 ? policy->gap_ns : VISITS_GAP_NS);
      const double due_ns = fmax(item->ended_ns + gap_ns, now_ns);
      size_t unsettled = 0;
      for (size_t j = 0; j < host->count; j++) {
        unsettled += measured[j].found.settled == SETTLED_BUDGET;
      }
      if (!visits_is_open(&item->found, links, unsettled) || due_ns + MAX_TIME_NS / 2 > end_ns) {
        continue;
      }
      const double took_ns = measured_visit(item, &host->sources[i], policy->kind == POLICY_WHOLE,
                                            due_ns, source_max_ns(&host->sources[i]));
      if (took_ns > 0) {
        visited = true;
        now_ns = due_ns + took_ns;
        measured_judge(item, noisy && source_crosses(&host->sources[i]));
      }
    }
  }
  return now_ns;
}

static void measured_begin(struct measured *measured, const struct source *source) {
  memset(measured, 0, sizeof *measured);
  for (size_t i = 0; i < source->count; i++) {
    const size_t j = (size_t)(random_share() * (double)(i + 1));
    measured->order[i] = measured->order[j];
    measured->order[j] = i;
  }
}

/* Sorts each set of values. */
static double range_of(double *values, size_t count) {
  const size_t sets = count > REPEATS_SET ? count / REPEATS_SET : 1;
  double sum = 0;
  for (size_t i = 0; i < sets; i++) {
    double *set = values + i * count / sets;
    const size_t in_set = (i + 1) * count / sets - i * count / sets;
    order_sort_values(set, in_set);
    sum += count == 0 ? NAN : set[in_set - 1] / set[0] - 1;
  }
  return 100 * sum / (double)sets;
}

static double median_of(double *values, size_t count) {
  order_sort_values(values, count);
  return count == 0 ? NAN : sorted_quantile(values, count, 0.5);
}

/* How a policy fared with one case. */
struct fared {
  double typical[REPEATS_MAX], undisturbed[REPEATS_MAX];               /* ns */
  double low[REPEATS_MAX], high[REPEATS_MAX], half_width[REPEATS_MAX]; /* ns, ns, % */
  size_t repeats, known, settled, wrong;
  double visits;
};

static void fared_add(struct fared *fared, const struct measured *measured) {
  const struct visits_found *found = &measured->found;
  fared->typical[fared->repeats++] = measured->summary.median_ns;
  fared->visits += measured->visits;
  fared->settled += found->settled == SETTLED_YES;
  if (found->undisturbed_ns > 0) {
    fared->low[fared->known] = fmin(found->low_ns, found->undisturbed_ns);
    fared->high[fared->known] = fmax(found->high_ns, found->undisturbed_ns);
    fared->half_width[fared->known] = 50 * (found->high_ns - found->low_ns) / found->undisturbed_ns;
    fared->undisturbed[fared->known++] = found->undisturbed_ns;
  }
}

static bool fared_is_settled(const struct fared *fared) {
  return ONE_IN * fared->settled > fared->repeats;
}

/* In how many repeats its interval misses that. */
static size_t fared_count_wrong(const struct fared *fared, double quiet_ns) {
  const double most = WRONG * quiet_ns;
  size_t wrong = 0;
  for (size_t i = 0; i < fared->known; i++) {
    wrong += quiet_ns < fared->low[i] - most || quiet_ns > fared->high[i] + most;
  }
  return wrong;
}

/* How a policy fared with a host. */
struct tried {
  const struct policy *policy;
  struct fared fared[CASES_MAX];
  double seconds, visits; /* means: of all cases together, of a case */
};

static void policy_try(const struct host *host, const struct policy *policy,
                       const struct options *options, double longer, struct tried *tried) {
  static struct measured measured[CASES_MAX];
  memset(tried, 0, sizeof *tried);
  tried->policy = policy;
  random_state = 29;
  for (size_t repeat = 0; repeat < options->repeats; repeat++) {
    const double at_ns = random_share() * 1e12;
    for (size_t i = 0; i < host->count; i++) {
      measured_begin(&measured[i], &host->sources[i]);
      measured[i].at_ns = at_ns;
    }
    tried->seconds += host_measure(host, policy, options, longer, measured) /
                      (SECOND_NS * (double)options->repeats);
    for (size_t i = 0; i < host->count; i++) {
      fared_add(&tried->fared[i], &measured[i]);
    }
  }
  for (size_t i = 0; i < host->count; i++) {
    tried->visits += tried->fared[i].visits / (double)(host->count * options->repeats);
  }
}

struct figures {
  double typical, undisturbed, bias, half_width; /* % */
  double wall, of_today;
};

static bool figures_are_kept(const struct figures *figures, const struct fared *fared,
                             const struct source *source, enum variant variant) {
  const struct settle_limit *limit = LIMITS;
  while (strstr(source->name, limit->name) == NULL) {
    limit++;
  }
  const bool wide = !fared_is_settled(fared) && figures->undisturbed <= figures->half_width;
  const bool without_load = limit == LIMITS && !(source->series[0].trials[0].load_ns > 0);
  const double known = without_load ? 0 : limit->known;
  if (ONE_IN * fared->wrong > fared->repeats || figures->wall > WALL) {
    return false;
  }
  if (variant == VARIANT_BUSY) {
    return fared->known == 0;
  }
  return !(figures->undisturbed > limit->range && !wide) && !(fabs(figures->bias) > limit->bias) &&
         (variant != VARIANT_PLAIN || ((double)fared->known >= known * (double)fared->repeats &&
                                       figures->of_today <= limit->typical));
}

/* today: what the typical rate is held against. Returns whether all is within the limits. */
static bool tried_print(struct tried *tried, const struct tried *once, struct tried *today,
                        const struct host *host, enum variant variant,
                        const struct options *options) {
  static const char *const NAMES[] = {"once", "longer", "visits", "whole"};
  const struct policy *policy = tried->policy;
  bool kept = true;
  char policy_name[32];
  char host_name[128];
  (void)snprintf(policy_name, sizeof policy_name, policy->gap_ns > 0 ? "%s %.0f" : "%s",
                 NAMES[policy->kind], (double)policy->gap_ns / 1e6);
  (void)snprintf(host_name, sizeof host_name, "%s%s%s", variant_text(variant),
                 host->name[0] != '\0' ? " " : "", host->name);
  for (size_t i = 0; i < host->count; i++) {
    struct fared *fared = &tried->fared[i];
    const struct source *source = &host->sources[i];
    const double today_typical = range_of(today->fared[i].typical, today->fared[i].repeats);
    struct figures figures = {.typical = range_of(fared->typical, fared->repeats),
                              .undisturbed = range_of(fared->undisturbed, fared->known),
                              .wall = tried->seconds / once->seconds};
    const double middle_ns = median_of(fared->undisturbed, fared->known);
    figures.of_today = figures.typical / today_typical;
    figures.bias = 100 * (source->quiet_ns / middle_ns - 1);
    figures.half_width = median_of(fared->half_width, fared->known);
    fared->wrong = fared_count_wrong(fared, fared_is_settled(fared) ? source->quiet_ns : middle_ns);
    const bool asked = options->check && policy->kind == POLICY_VISITS && source_crosses(source);
    const bool good = !asked || figures_are_kept(&figures, fared, source, variant);
    (void)printf(
        "%-22.22s  %-44.44s  %-10s  %7.2f  %11.2f  %6.2f  %8.2f  %4zu/%-4zu  %7zu  %5zu  %6.1f  "
        "%7.1f  %4.1f  %7.2f%s\n",
        host_name, source->name, policy_name, figures.typical, figures.undisturbed, figures.bias,
        figures.half_width, fared->known, fared->repeats, fared->settled, fared->wrong,
        fared->visits / (double)fared->repeats, tried->seconds, figures.wall, figures.of_today,
        good ? "" : "  over its limit");
    kept &= good;
  }
  return kept;
}

/* Of one host, in a variant. */
static bool host_try(struct host *host, enum variant variant, const struct policy *policies,
                     size_t policy_count, const struct options *options) {
  static const struct policy LONGER = {.kind = POLICY_LONGER}, WHOLE = {.kind = POLICY_WHOLE};
  static struct tried once, longer, tried;
  bool kept = true;
  for (size_t j = 0; j < host->count; j++) {
    if (host->sources[j].quiet_ns == 0) { /* recorded */
      source_find_quiet(&host->sources[j]);
    }
  }
  host_vary(host, variant);
  const bool trace = source_is_trace(&host->sources[0]); /* else, `longer` has no more trials */
  for (size_t j = 0; j < policy_count; j++) {
    policy_try(host, &policies[j], options, 1, &tried);
    if (policies[j].kind == POLICY_ONCE) {
      once = tried;
    } else if (j == 1 && trace) {
      policy_try(host, &LONGER, options, tried.visits, &longer);
    }
    kept &= tried_print(&tried, &once, j > 0 && trace ? &longer : &once, host, variant, options);
  }
  if (trace) {
    (void)tried_print(&longer, &once, &longer, host, variant, options);
  }
  if (!options->check) {
    policy_try(host, &WHOLE, options, 1, &tried);
    (void)tried_print(&tried, &once, trace ? &longer : &once, host, variant, options);
  }
  return kept;
}

static int misuse(void) {
  (void)fprintf(stderr, "settle [-c] [-r REPEATS] [-g GAP_MS]... [-s SETTLE_S] "
                        "[-v plain|thinned|shuffled|busy]... [FILE]...\n");
  return 2;
}

int main(int argc, char **argv) {
  static struct host host;
  struct options options = {.repeats = REPEATS_MAX, .settle_ns = 5e9};
  struct policy policies[GAPS_MAX + 2] = {{.kind = POLICY_ONCE}, {.kind = POLICY_VISITS}};
  enum variant variants[variant_name_count] = {VARIANT_PLAIN};
  size_t policy_count = 2;
  size_t variant_count = 0;
  bool kept = true;
  for (int option; (option = getopt(argc, argv, "cr:g:s:v:")) != -1;) {
    if (option == 'r') {
      options.repeats = strtoul(optarg, NULL, 10);
    } else if (option == 's') {
      options.settle_ns = SECOND_NS * strtod(optarg, NULL);
    } else if (option == 'c') {
      options.check = true;
    } else if (option == 'g' && policy_count < GAPS_MAX + 2) {
      policies[policy_count++] =
          (struct policy){POLICY_VISITS, 1000000 * strtoul(optarg, NULL, 10)};
    } else if (option != 'v' || variant_count == variant_name_count ||
               !variant_parse(optarg, &variants[variant_count++])) {
      return misuse();
    }
  }
  if (options.repeats == 0 || options.repeats > REPEATS_MAX || (options.check && optind == argc)) {
    return misuse();
  }
  (void)printf("%-22s  %-44s  %-10s  %7s  %11s  %6s  %8s  %9s  %7s  %5s  %6s  %7s  %4s  %7s\n",
               "host", "case", "policy", "typical", "undisturbed", "bias", "known to", "known",
               "settled", "wrong", "visits", "seconds", "wall", "of once");
  for (size_t v = 0; v < variant_count || v == 0; v++) {
    for (int i = optind; i < argc; i++) {
      random_state = 1;
      host_free(&host);
      host_read(&host, argv[i]);
      kept &= host_try(&host, variants[v], policies, policy_count, &options);
    }
    for (size_t i = 0; optind == argc && i < COUNT_OF(WORLDS); i++) {
      random_state = 1;
      host_free(&host);
      for (size_t j = 0; j < COUNT_OF(PATHS); j++) {
        host_simulate(&host, &WORLDS[i], PATHS[j]);
      }
      kept &= host_try(&host, variants[v], policies, policy_count, &options);
    }
  }
  return kept ? 0 : 1;
}
