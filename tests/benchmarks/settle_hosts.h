/* settle_hosts.h - hosts for settle.c, as trials of each of their cases: recorded or simulated.
 *
 * A file holds one row per trial, with the columns case_name, start_ns, iterations, elapsed_ns, and
 * perhaps run, process, phase and load_ns. The trials of a process are a visit where they last less
 * than LONG_S: a repeat draws visits without putting any back. Else they are a trace, in which each
 * repeat starts at another time. The quiet rate is what a quiet host gives: the median of the
 * trials of quiet visits, or of quiet tenths of a second. A visit is quiet if at least three
 * quarters of its trials are slower than its fastest by at most VISITS_DISTURBED. There is no quiet
 * rate without two such visits. Copies to a GPU by copy engines beside copies from it have none:
 * their rate has no level. Nor have both together (both_flows/), of which load_ns is the time of
 * those from the GPU. A variant changes the trials before they are measured (enum variant). */
#pragma once

#include "engine/base/enum_names.h"
#include "engine/base/order.h"
#include "engine/case/visits.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES_MAX = 32, SERIES_MAX = 128, QUIET_VISITS = 2 };
static const double LONG_S = 2, SECOND_NS = 1e9;
/* Of the shipped scenario nvbandwidth. */
static const double MIN_TRIAL_NS = 8e6, MAX_TIME_NS = 100e6;

struct raw {
  double start_ns, elapsed_ns; /* of all iterations */
  double load_ns;              /* of one iteration of the load in the other direction; 0 = none */
  uint32_t iterations;
};

struct series {
  char from[32]; /* run and process */
  struct raw *trials;
  size_t count, room;
};

struct source {
  char name[128];
  struct series series[SERIES_MAX];
  size_t count;
  double quiet_ns; /* per iteration */
};

struct host {
  char name[96];
  struct source sources[CASES_MAX];
  size_t count;
};

static uint64_t random_state;

static double random_share(void) { /* splitmix64, Steele and others 2014 */
  uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double random_exponential(double mean) {
  return -mean * log(1 - random_share());
}

static double random_normal(void) {
  return sqrt(-2 * log(1 - random_share())) * cos(2 * M_PI * random_share());
}

static void *settle_grow(void *items, size_t count, size_t size_bytes) {
  void *longer = reallocarray(items, count, size_bytes);
  if (longer == NULL) {
    perror("settle");
    exit(2);
  }
  return longer;
}

static void series_add(struct series *series, struct raw trial) {
  if (series->count == series->room) {
    series->room = 2 * series->room + 64;
    series->trials = settle_grow(series->trials, series->room, sizeof *series->trials);
  }
  series->trials[series->count++] = trial;
}

static double series_span_ns(const struct series *series) {
  const struct raw *last = &series->trials[series->count - 1];
  return last->start_ns + last->elapsed_ns - series->trials[0].start_ns;
}

static bool source_is_trace(const struct source *source) {
  return source->count == 1 && series_span_ns(&source->series[0]) > LONG_S * SECOND_NS;
}

/* Several trials as one that lasts so long, or has so many iterations if they are not 0; returns
 * where the next begins. */
static size_t series_join(const struct series *series, size_t at, double trial_ns,
                          uint32_t iterations, struct raw *joined) {
  *joined = series->trials[at++];
  while ((iterations > 0 ? joined->iterations < iterations : joined->elapsed_ns < trial_ns) &&
         at < series->count) {
    const struct raw *next = &series->trials[at++];
    joined->elapsed_ns += next->elapsed_ns;
    joined->iterations += next->iterations;
    joined->load_ns += (next->load_ns - joined->load_ns) * next->iterations / joined->iterations;
  }
  return at;
}

static const char *const WITHOUT_LEVEL[] = {"host_to_device_bidirectional_memcpy_ce",
                                            "both_flows/"};

/* The trials of a visit, or of 0.1 s of a trace, from `at` on; returns where the next visit begins.
 * Trials of a trace count as long as those of a later visit are. */
static size_t series_gather_visit(const struct series *series, size_t at, bool trace,
                                  double *values, size_t *count) {
  const double end_ns = trace ? series->trials[at].start_ns + MAX_TIME_NS : INFINITY;
  for (*count = 0; at < series->count && series->trials[at].start_ns < end_ns;) {
    struct raw joined;
    at = series_join(series, at, trace ? MIN_TRIAL_NS / 2 : 0, 0, &joined);
    values[(*count)++] = joined.elapsed_ns / joined.iterations;
  }
  order_sort_values(values, *count);
  return at;
}

static void source_find_quiet(struct source *source) {
  const bool trace = source_is_trace(source);
  double *quiet = NULL;
  size_t quiet_count = 0;
  size_t visits = 0;
  for (size_t i = 0; i < source->count; i++) {
    const struct series *series = &source->series[i];
    for (size_t at = 0; at < series->count;) {
      size_t count;
      quiet = settle_grow(quiet, quiet_count + series->count - at, sizeof *quiet);
      double *values = quiet + quiet_count;
      at = series_gather_visit(series, at, trace, values, &count);
      if (sorted_quantile(values, count, 0.75) <= values[0] * (1 + VISITS_DISTURBED)) {
        quiet_count += count;
        visits++;
      }
    }
  }
  order_sort_values(quiet, quiet_count);
  source->quiet_ns = visits >= QUIET_VISITS ? sorted_quantile(quiet, quiet_count, 0.5) : NAN;
  for (size_t i = 0; i < COUNT_OF(WITHOUT_LEVEL); i++) {
    source->quiet_ns = strstr(source->name, WITHOUT_LEVEL[i]) != NULL ? NAN : source->quiet_ns;
  }
  free(quiet);
}

static void host_free(struct host *host) {
  for (size_t i = 0; i < host->count; i++) {
    for (size_t j = 0; j < host->sources[i].count; j++) {
      free(host->sources[i].series[j].trials);
    }
  }
  memset(host, 0, sizeof *host);
}

/* Recorded hosts ------------------------------------------------------------------------------- */

enum column { CASE_NAME, RUN, PROCESS, PHASE, START, ITERATIONS, ELAPSED, LOAD, COLUMNS };
static const char *const COLUMN_NAMES[COLUMNS] = {
    "case_name", "run", "process", "phase", "start_ns", "iterations", "elapsed_ns", "load_ns"};

static struct series *host_series(struct host *host, const char *name, const char *from) {
  size_t i = 0;
  while (i < host->count && strcmp(host->sources[i].name, name) != 0) {
    i++;
  }
  struct source *source = &host->sources[i];
  size_t j = 0;
  while (i < host->count && j < source->count && strcmp(source->series[j].from, from) != 0) {
    j++;
  }
  if (i == CASES_MAX || j == SERIES_MAX) {
    (void)fprintf(stderr, "settle: more than %d cases or %d processes\n", CASES_MAX, SERIES_MAX);
    exit(2);
  }
  if (i == host->count) {
    (void)snprintf(host->sources[host->count++].name, sizeof source->name, "%s", name);
  }
  if (j == source->count) {
    (void)snprintf(source->series[source->count++].from, sizeof source->series->from, "%s", from);
  }
  return &source->series[j];
}

/* Cells in quotes may hold commas, and no quotes. */
static size_t split_line(char *line, char *cells[], size_t most) {
  size_t count = 0;
  line[strcspn(line, "\r\n")] = '\0';
  while (line != NULL && count < most) {
    const bool quoted = *line == '"';
    char *end = strchr(line + quoted, quoted ? '"' : ',');
    cells[count++] = line + quoted;
    if (end != NULL) {
      *end = '\0';
    }
    line = end == NULL ? NULL : quoted ? (end[1] == ',' ? end + 2 : NULL) : end + 1;
  }
  return count;
}

static void host_read(struct host *host, const char *path) {
  enum { CELLS_MAX = 24, PATH_BYTES = 512 };
  char command[PATH_BYTES];
  char line[1024];
  char *cells[CELLS_MAX] = {0};
  size_t places[COLUMNS];
  const size_t length = strlen(path);
  const bool packed = length > 3 && strcmp(path + length - 3, ".xz") == 0;
  (void)snprintf(command, sizeof command, "xz -dc -- '%s'", path);
  FILE *file = packed ? popen(command, "r") : fopen(path, "r"); /* NOLINT(cert-env33-c): by hand */
  if (file == NULL || fgets(line, sizeof line, file) == NULL) {
    perror(path);
    exit(2);
  }
  const char *base = strrchr(path, '/');
  (void)snprintf(host->name, sizeof host->name, "%s", base != NULL ? base + 1 : path);
  size_t count = split_line(line, cells, CELLS_MAX);
  for (size_t i = 0; i < COLUMNS; i++) {
    for (places[i] = 0; places[i] < count && strcmp(cells[places[i]], COLUMN_NAMES[i]) != 0;) {
      places[i]++;
    }
    places[i] = places[i] < count ? places[i] : CELLS_MAX;
  }
  while (fgets(line, sizeof line, file) != NULL) {
    char *with[CELLS_MAX + 1] = {0};
    char from[32];
    (void)split_line(line, with, CELLS_MAX);
    if (with[places[PHASE]] != NULL && strcmp(with[places[PHASE]], "warmup") == 0) {
      continue;
    }
    if (with[places[CASE_NAME]] == NULL || with[places[START]] == NULL ||
        with[places[ITERATIONS]] == NULL || with[places[ELAPSED]] == NULL) {
      (void)fprintf(stderr, "%s: no table of trials\n", path);
      exit(2);
    }
    const char *run = with[places[RUN]] != NULL ? with[places[RUN]] : "";
    const char *process = with[places[PROCESS]] != NULL ? with[places[PROCESS]] : "";
    (void)snprintf(from, sizeof from, "%.15s.%.15s", run, process);
    series_add(
        host_series(host, with[places[CASE_NAME]], from),
        (struct raw){.start_ns = strtod(with[places[START]], NULL),
                     .iterations = (uint32_t)strtoul(with[places[ITERATIONS]], NULL, 10),
                     .elapsed_ns = strtod(with[places[ELAPSED]], NULL),
                     .load_ns = with[places[LOAD]] != NULL ? strtod(with[places[LOAD]], NULL) : 0});
  }
  (void)(packed ? pclose(file) : fclose(file));
}

/* Simulated hosts ------------------------------------------------------------------------------ */

struct world {
  const char *name;
  double busy, episode_ns, slower; /* share of the time, mean length, mean slowdown of an episode */
  bool even;                       /* all copies of an episode are slowed alike */
  double jitter;                   /* of each copy, exponential: slows, never speeds up */
  double level, level_ns;          /* hardware is that much slower half of the time, in turns */
  double drift;                    /* from the first to the last copy of the minute */
  double tick_ns;                  /* of the clock */
  double truth;                    /* how much slower the quiet hardware is */
  double spread;                   /* relative standard deviation of trials of four copies */
};

static const struct world WORLDS[] = {
    {.name = "quiet"},
    {.name = "quiet, clock of 1 us", .tick_ns = 1000},
    {.name = "short episodes, 30 %", .busy = 0.3, .episode_ns = 2e6, .slower = 0.2},
    {.name = "episodes of 0.1 s, 30 %", .busy = 0.3, .episode_ns = 1e8, .slower = 0.15},
    {.name = "episodes of 0.1 s, 60 %", .busy = 0.6, .episode_ns = 1e8, .slower = 0.15},
    {.name = "episodes of 0.5 s, 50 %", .busy = 0.5, .episode_ns = 5e8, .slower = 0.15},
    {.name = "the same, 3 % slower", .busy = 0.5, .episode_ns = 5e8, .slower = 0.15, .truth = 0.03},
    {.name = "spread of 0.3 %", .spread = 0.003},
    {.name = "the same, 0.1 s, 60 %",
     .busy = 0.6,
     .episode_ns = 1e8,
     .slower = 0.15,
     .spread = 0.003},
    {.name = "the same, by only 3 %",
     .busy = 0.6,
     .episode_ns = 1e8,
     .slower = 0.03,
     .spread = 0.003},
    {.name = "jitter of 2 %", .jitter = 0.02},
    {.name = "two levels, 3 %, 1 s", .level = 0.03, .level_ns = 1e9},
    {.name = "drift of 2 % a minute", .drift = 0.02},
    {.name = "even episodes of 0.5 s",
     .busy = 0.5,
     .episode_ns = 5e8,
     .slower = 0.15,
     .even = true},
    {.name = "a neighbour who never rests", .busy = 1, .episode_ns = 3e7, .slower = 0.25},
};

static const char *const PATHS[] = {"a", "b", "c", "d"};

static void host_simulate(struct host *host, const struct world *world, const char *name) {
  static const double COPY_NS = 1214500, PAUSE_NS = 45000, TRACE_NS = 60e9;
  struct series *series = host_series(host, name, "");
  double ends_ns = 0;
  bool busy = false;
  double slower = 0;
  (void)snprintf(host->name, sizeof host->name, "%s", world->name);
  for (double at_ns = 0; at_ns < TRACE_NS;) {
    if (at_ns >= ends_ns && world->busy > 0) {
      const double rest_ns = world->episode_ns * (1 - world->busy) / world->busy;
      busy = rest_ns == 0 || !busy;
      ends_ns = at_ns + random_exponential(busy ? world->episode_ns : rest_ns);
      slower = busy ? random_exponential(world->slower) : 0;
    }
    const bool low = world->level_ns > 0 && fmod(at_ns, 2 * world->level_ns) >= world->level_ns;
    const double now_slower = world->even ? slower : slower * (0.3 + 1.4 * random_share());
    double elapsed_ns = COPY_NS * (1 + world->truth) * (1 + now_slower) *
                        (low ? 1 + world->level : 1) * (1 + world->drift * at_ns / TRACE_NS) *
                        (1 + fmax(2 * world->spread, 0.0003) * random_normal()) *
                        (1 + (world->jitter > 0 ? random_exponential(world->jitter) : 0));
    if (world->tick_ns > 0) {
      elapsed_ns = world->tick_ns * round(elapsed_ns / world->tick_ns);
    }
    series_add(series, (struct raw){.start_ns = at_ns, .elapsed_ns = elapsed_ns, .iterations = 1});
    at_ns += elapsed_ns + PAUSE_NS;
  }
  host->sources[host->count - 1].quiet_ns = COPY_NS * (1 + world->truth);
}

/* Variants ------------------------------------------------------------------------------------- */

#define VARIANT_LIST(X)                                                                            \
  X(VARIANT_PLAIN, "plain")                                                                        \
  X(VARIANT_THINNED, "thinned")   /* half of the trials are left out, at random */                 \
  X(VARIANT_SHUFFLED, "shuffled") /* blocks of 0.1 s change places */                              \
  X(VARIANT_BUSY, "busy")         /* a neighbour who never rests slows each trial further */
ENUM_NAMES_DECLARE(variant, VARIANT_LIST)
ENUM_NAMES_DEFINE(variant, VARIANT_LIST)

static void series_thin(struct series *series) {
  size_t kept = 0;
  for (size_t k = 0; k < series->count; k++) {
    if (random_share() < 0.5 || series->count - k <= 2 - (kept < 2 ? kept : 2)) {
      series->trials[kept++] = series->trials[k];
    }
  }
  series->count = kept;
}

/* What lies between the trials goes with them. */
static void series_shuffle(struct series *series) {
  const size_t blocks = (size_t)(series_span_ns(series) / MAX_TIME_NS);
  const size_t block_trials = blocks > 0 ? series->count / blocks : 0;
  struct series mixed = {0};
  double at_ns = 0;
  size_t *order = settle_grow(NULL, blocks + 1, sizeof *order);
  for (size_t j = 0; j < blocks; j++) {
    const size_t other = (size_t)(random_share() * (double)(j + 1));
    order[j] = order[other];
    order[other] = j;
  }
  for (size_t j = 0; j < blocks * block_trials; j++) {
    const size_t from = order[j / block_trials] * block_trials + j % block_trials;
    struct raw trial = series->trials[from];
    const double next_ns = from + 1 < series->count ? series->trials[from + 1].start_ns
                                                    : trial.start_ns + trial.elapsed_ns;
    const double step_ns = next_ns - trial.start_ns;
    trial.start_ns = at_ns;
    at_ns += step_ns;
    series_add(&mixed, trial);
  }
  free(order);
  if (mixed.count > 0) {
    free(series->trials);
    series->trials = mixed.trials;
    series->count = mixed.count;
    series->room = mixed.room;
  }
}

/* Episodes of 30 ms follow each other; in each, copies are slower by 0.6 % at least. */
static void series_disturb(struct series *series) {
  static const double EPISODE_NS = 3e7, LEAST = 0.02, MORE = 0.1;
  double ends_ns = 0;
  double slower = 0;
  double later_ns = 0;
  for (size_t i = 0; i < series->count; i++) {
    struct raw *trial = &series->trials[i];
    if (i == 0 || trial->start_ns >= ends_ns) {
      ends_ns = trial->start_ns + random_exponential(EPISODE_NS);
      slower = LEAST + random_exponential(MORE);
    }
    const double more_ns = trial->elapsed_ns * slower * (0.3 + 1.4 * random_share());
    trial->start_ns += later_ns;
    trial->elapsed_ns += more_ns;
    trial->load_ns *= 1 + slower * (0.3 + 1.4 * random_share());
    later_ns += more_ns;
  }
}

static void host_vary(struct host *host, enum variant variant) {
  for (size_t i = 0; i < host->count; i++) {
    struct source *source = &host->sources[i];
    const bool trace = source_is_trace(source);
    for (size_t j = 0; j < source->count; j++) {
      if (variant == VARIANT_THINNED) {
        series_thin(&source->series[j]);
      } else if (variant == VARIANT_SHUFFLED && trace) {
        series_shuffle(&source->series[j]);
      } else if (variant == VARIANT_BUSY) {
        series_disturb(&source->series[j]);
      }
    }
  }
}
