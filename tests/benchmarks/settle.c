/* Which way of measuring gives the same number twice on a noisy host? Recorded or simulated
 * disturbance is replayed; the statistics of the product judge it (engine/case/visits.h).
 *
 *   settle [-r REPEATS] [-g GAP_MS]... [-s SETTLE_S] [-t] [-b] [FILE.csv | FILE.csv.xz]...
 *
 * Of each file, or of simulated hosts where none is given, for each policy and case, over 20
 * repeats unless given:
 *
 *   typical      range of the typical rate, highest / lowest - 1, in %
 *   undisturbed  the same of the undisturbed rate
 *   bias         median of the undisturbed rate against the quiet one, in %
 *   settled      how many of the repeats have an undisturbed rate
 *   visits       mean
 *   seconds      mean, of all cases together
 *
 * Policies: `once` is a first round alone, `longer` as many trials in a row as fit into the time
 * that the visits of the next line took, `visits` the product's, with its own gap between visits or
 * that of -g. */
#include "engine/case/visits.h"
#include "tests/benchmarks/settle_hosts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEATS_MAX = 200, TRIALS_MAX = 1024, GAPS_MAX = 8, HOSTS_MAX = 16 };
/* The shipped scenario nvbandwidth. */
enum { TRIALS_LEAST = 6 };
static const double PRECISION = 0.002, SET_UP_NS = 20e6;
static const double OTHERS_NS = 2e9; /* what cases that nothing disturbs take in a first round */

enum policy_kind { POLICY_ONCE, POLICY_LONGER, POLICY_VISITS };
struct policy {
  enum policy_kind kind;
  uint64_t gap_ns; /* 0 = the product's */
};

/* One case in one repeat. */
struct measured {
  struct trial trials[TRIALS_MAX];
  size_t count;
  uint32_t visits;
  double ended_ns;
  size_t order[SERIES_MAX]; /* of visits */
  double at_ns;             /* where in a trace a repeat begins */
  struct summary summary;
  struct visits_found found;
};

struct options {
  size_t repeats;
  double settle_ns;
};

/* Measuring ------------------------------------------------------------------------------------ */

static void measured_add(struct measured *measured, const struct raw *raw) {
  if (measured->count < TRIALS_MAX) {
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

/* A visit that begins at now_ns; returns how long it takes, 0 where there is none left. */
static double measured_visit(struct measured *measured, const struct source *source, double now_ns,
                             double most_ns) {
  const size_t first = measured->count;
  double took_ns = 0;
  bool precise = false;
  if (source_is_trace(source)) {
    const struct series *series = &source->series[0];
    const double span_ns = series_span_ns(series);
    const double from_ns =
        series->trials[0].start_ns + fmod(measured->at_ns + now_ns, span_ns - most_ns);
    size_t at = 0;
    for (size_t step = series->count / 2; step > 0; step /= 2) { /* near it, then exactly */
      at += at + step < series->count && series->trials[at + step].start_ns < from_ns ? step : 0;
    }
    while (at < series->count && series->trials[at].start_ns < from_ns) {
      at++;
    }
    while (at < series->count && !precise && took_ns < most_ns) {
      struct raw joined;
      at = series_join(series, at, &joined);
      measured_add(measured, &joined);
      took_ns = (at < series->count ? series->trials[at].start_ns
                                    : series->trials[0].start_ns + span_ns) -
                from_ns;
      precise = measured_precise(measured, first);
    }
  } else if (measured->visits < source->count) {
    const struct series *series = &source->series[measured->order[measured->visits]];
    for (size_t at = 0; at < series->count; at++) {
      measured_add(measured, &series->trials[at]);
    }
    took_ns = series_span_ns(series);
  } else {
    return 0;
  }
  measured->visits++;
  measured->ended_ns = now_ns + took_ns + SET_UP_NS;
  return took_ns + SET_UP_NS;
}

static void measured_judge(struct measured *measured, bool noisy) {
  double values[TRIALS_MAX];
  summary_of_trials(measured->trials, measured->count, values, &measured->summary);
  visits_judge(measured->trials, measured->count, PRECISION, noisy, &measured->found);
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
  size_t disturbed = 0;
  size_t links = 0;
  for (size_t i = 0; i < host->count; i++) {
    const double most_ns = policy->kind == POLICY_LONGER ? longer * MAX_TIME_NS : MAX_TIME_NS;
    now_ns += measured_visit(&measured[i], &host->sources[i], now_ns, most_ns);
    measured_judge(&measured[i], false);
    disturbed += source_crosses(&host->sources[i]) && !measured[i].found.precise;
    links += source_crosses(&host->sources[i]);
  }
  now_ns += OTHERS_NS;
  const bool noisy = VISITS_NOISY * disturbed >= links;
  const double end_ns = now_ns + (policy->kind == POLICY_VISITS ? options->settle_ns : 0);
  bool visited = policy->kind == POLICY_VISITS;
  for (size_t i = 0; visited && i < host->count; i++) {
    measured_judge(&measured[i], noisy && source_crosses(&host->sources[i]));
  }
  while (visited) {
    visited = false;
    for (size_t i = 0; i < host->count; i++) {
      struct measured *item = &measured[i];
      const double gap_ns =
          (double)(policy->gap_ns > 0 ? policy->gap_ns : visits_gap_ns(item->visits));
      const double due_ns = fmax(item->ended_ns + gap_ns, now_ns);
      if (item->found.settled != SETTLED_BUDGET || due_ns + MAX_TIME_NS > end_ns) {
        continue;
      }
      const double took_ns = measured_visit(item, &host->sources[i], due_ns, MAX_TIME_NS);
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

static double range_of(double *values, size_t count) {
  qsort(values, count, sizeof *values, compare_doubles);
  return count == 0 ? NAN : 100 * (values[count - 1] / values[0] - 1);
}

static void policy_try(const struct host *host, const struct policy *policy,
                       const struct options *options, double longer, double *visits_mean) {
  static struct measured measured[CASES_MAX];
  double typical[CASES_MAX][REPEATS_MAX];
  double undisturbed[CASES_MAX][REPEATS_MAX];
  size_t settled[CASES_MAX] = {0};
  double visits[CASES_MAX] = {0};
  double seconds = 0;
  *visits_mean = 0;
  random_state = 29;
  for (size_t repeat = 0; repeat < options->repeats; repeat++) {
    const double at_ns = random_share() * 1e12;
    for (size_t i = 0; i < host->count; i++) {
      measured_begin(&measured[i], &host->sources[i]);
      measured[i].at_ns = at_ns;
    }
    seconds += host_measure(host, policy, options, longer, measured) / SECOND_NS;
    for (size_t i = 0; i < host->count; i++) {
      typical[i][repeat] = measured[i].summary.median_ns;
      visits[i] += measured[i].visits;
      *visits_mean += measured[i].visits / (double)(host->count * options->repeats);
      if (measured[i].found.undisturbed_ns > 0) {
        undisturbed[i][settled[i]++] = measured[i].found.undisturbed_ns;
      }
    }
  }
  for (size_t i = 0; i < host->count; i++) {
    static const char *const NAMES[] = {"once", "longer", "visits"};
    const double typical_range = range_of(typical[i], options->repeats);
    const double undisturbed_range = range_of(undisturbed[i], settled[i]);
    const double bias =
        settled[i] > 0
            ? 100 *
                  (host->sources[i].quiet_ns / sorted_quantile(undisturbed[i], settled[i], 0.5) - 1)
            : NAN;
    char policy_name[32];
    (void)snprintf(policy_name, sizeof policy_name, policy->gap_ns > 0 ? "%s %.0f" : "%s",
                   NAMES[policy->kind], (double)policy->gap_ns / 1e6);
    (void)printf("%-26.26s  %-40.40s  %-10s  %7.2f  %11.2f  %6.2f  %4zu/%-4zu  %6.1f  %7.1f\n",
                 host->name, host->sources[i].name, policy_name, typical_range, undisturbed_range,
                 bias, settled[i], options->repeats, visits[i] / (double)options->repeats,
                 seconds / (double)options->repeats);
  }
}

static int misuse(void) {
  (void)fprintf(stderr, "settle [-r REPEATS] [-g GAP_MS]... [-s SETTLE_S] [-t] [-b] [FILE]...\n");
  return 2;
}

int main(int argc, char **argv) {
  static struct host hosts[HOSTS_MAX];
  struct options options = {.repeats = 20, .settle_ns = 5e9};
  struct policy policies[GAPS_MAX + 2] = {{.kind = POLICY_ONCE}, {.kind = POLICY_VISITS}};
  size_t policy_count = 2;
  size_t host_count = 0;
  bool thin = false;
  bool shuffle = false;
  for (int option; (option = getopt(argc, argv, "r:g:s:tb")) != -1;) {
    if (option == 'r') {
      options.repeats = strtoul(optarg, NULL, 10);
    } else if (option == 's') {
      options.settle_ns = SECOND_NS * strtod(optarg, NULL);
    } else if (option == 'g' && policy_count < GAPS_MAX + 2) {
      policies[policy_count++] =
          (struct policy){POLICY_VISITS, 1000000 * strtoul(optarg, NULL, 10)};
    } else if (option == 't' || option == 'b') {
      thin = thin || option == 't';
      shuffle = shuffle || option == 'b';
    } else {
      return misuse();
    }
  }
  if (options.repeats == 0 || options.repeats > REPEATS_MAX || argc - optind > HOSTS_MAX) {
    return misuse();
  }
  random_state = 1;
  for (; optind < argc; optind++) {
    host_read(&hosts[host_count++], argv[optind]);
  }
  for (size_t i = 0; i < host_count; i++) {
    for (size_t j = 0; j < hosts[i].count; j++) {
      source_find_quiet(&hosts[i].sources[j]);
    }
  }
  const size_t worlds = host_count > 0 ? 0 : sizeof WORLDS / sizeof *WORLDS;
  for (size_t i = 0; i < worlds; i++, host_count++) {
    for (size_t j = 0; j < sizeof PATHS / sizeof *PATHS; j++) {
      host_simulate(&hosts[i], &WORLDS[i], PATHS[j]);
    }
  }
  (void)printf("%-26s  %-40s  %-10s  %7s  %11s  %6s  %9s  %6s  %7s\n", "host", "case", "policy",
               "typical", "undisturbed", "bias", "settled", "visits", "seconds");
  for (size_t i = 0; i < host_count; i++) {
    double visits = 1;
    if (thin) {
      host_thin(&hosts[i]);
    }
    if (shuffle) {
      host_shuffle(&hosts[i]);
    }
    for (size_t j = 0; j < policy_count; j++) {
      policy_try(&hosts[i], &policies[j], &options, 1, &visits);
    }
    policy_try(&hosts[i], &(struct policy){.kind = POLICY_LONGER}, &options, visits, &visits);
  }
  return 0;
}
