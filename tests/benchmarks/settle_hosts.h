/* settle_hosts.h - hosts for settle.c, as trials of each of their cases: recorded or simulated.
 *
 * A file holds one row per trial, with the columns case_name, start_ns, iterations, elapsed_ns, and
 * perhaps run, process and phase. The trials of a process are a visit where they last less than
 * LONG_S: a repeat draws visits without putting any back. Else they are a trace, in which each
 * repeat starts at another time. The quiet rate is the middle of the fastest tenth of all trials of
 * a visit's length. -t leaves out half of the trials at random, -b moves blocks of a trace that
 * are as long as a visit. */
#ifndef HAUL_TESTS_BENCHMARKS_SETTLE_HOSTS_H
#define HAUL_TESTS_BENCHMARKS_SETTLE_HOSTS_H

#include "engine/case/statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES_MAX = 32, SERIES_MAX = 128 };
static const double LONG_S = 2, SECOND_NS = 1e9;
/* Of the shipped scenario nvbandwidth. */
static const double MIN_TRIAL_NS = 8e6, MAX_TIME_NS = 100e6;

struct raw {
  double start_ns, elapsed_ns; /* of all iterations */
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

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a;
  const double y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Several trials as one that lasts as long as the scenario wants; returns where the next begins. */
static size_t series_join(const struct series *series, size_t at, struct raw *joined) {
  *joined = series->trials[at++];
  while (joined->elapsed_ns < MIN_TRIAL_NS && at < series->count) {
    joined->elapsed_ns += series->trials[at].elapsed_ns;
    joined->iterations += series->trials[at++].iterations;
  }
  return at;
}

static void source_find_quiet(struct source *source) {
  double *values = NULL;
  size_t count = 0;
  for (size_t i = 0; i < source->count; i++) {
    for (size_t at = 0; at < source->series[i].count;) {
      struct raw joined;
      at = series_join(&source->series[i], at, &joined);
      values = settle_grow(values, count + 1, sizeof *values);
      values[count++] = joined.elapsed_ns / joined.iterations;
    }
  }
  qsort(values, count, sizeof *values, compare_doubles);
  source->quiet_ns = sorted_quantile(values, count, 0.05);
  free(values);
}

/* Recorded hosts ------------------------------------------------------------------------------- */

enum column { CASE_NAME, RUN, PROCESS, PHASE, START, ITERATIONS, ELAPSED, COLUMNS };
static const char *const COLUMN_NAMES[COLUMNS] = {"case_name", "run",        "process",   "phase",
                                                  "start_ns",  "iterations", "elapsed_ns"};

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

static size_t split_line(char *line, char *cells[], size_t most) {
  size_t count = 0;
  line[strcspn(line, "\r\n")] = '\0';
  for (char *cell = strsep(&line, ","); cell != NULL && count < most; cell = strsep(&line, ",")) {
    cells[count++] = cell;
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
    series_add(host_series(host, with[places[CASE_NAME]], from),
               (struct raw){.start_ns = strtod(with[places[START]], NULL),
                            .iterations = (uint32_t)strtoul(with[places[ITERATIONS]], NULL, 10),
                            .elapsed_ns = strtod(with[places[ELAPSED]], NULL)});
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
};

static const struct world WORLDS[] = {
    {.name = "quiet"},
    {.name = "quiet, clock of 1 us", .tick_ns = 1000},
    {.name = "short episodes, 30 %", .busy = 0.3, .episode_ns = 2e6, .slower = 0.2},
    {.name = "episodes of 0.1 s, 30 %", .busy = 0.3, .episode_ns = 1e8, .slower = 0.15},
    {.name = "episodes of 0.1 s, 60 %", .busy = 0.6, .episode_ns = 1e8, .slower = 0.15},
    {.name = "episodes of 0.5 s, 50 %", .busy = 0.5, .episode_ns = 5e8, .slower = 0.15},
    {.name = "the same, 3 % slower", .busy = 0.5, .episode_ns = 5e8, .slower = 0.15, .truth = 0.03},
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
                        (1 + 0.0003 * random_normal()) *
                        (1 + (world->jitter > 0 ? random_exponential(world->jitter) : 0));
    if (world->tick_ns > 0) {
      elapsed_ns = world->tick_ns * round(elapsed_ns / world->tick_ns);
    }
    series_add(series, (struct raw){at_ns, elapsed_ns, 1});
    at_ns += elapsed_ns + PAUSE_NS;
  }
  host->sources[host->count - 1].quiet_ns = COPY_NS * (1 + world->truth);
}

/* Half of the trials are left out, at random; two at least stay. */
static void host_thin(struct host *host) {
  for (size_t i = 0; i < host->count; i++) {
    for (size_t j = 0; j < host->sources[i].count; j++) {
      struct series *series = &host->sources[i].series[j];
      size_t kept = 0;
      for (size_t k = 0; k < series->count; k++) {
        if (random_share() < 0.5 || series->count - k <= 2 - (kept < 2 ? kept : 2)) {
          series->trials[kept++] = series->trials[k];
        }
      }
      series->count = kept;
    }
  }
}

/* Blocks of a trace change places, each as long as a visit. */
static void host_shuffle(struct host *host) {
  for (size_t i = 0; i < host->count; i++) {
    if (!source_is_trace(&host->sources[i])) {
      continue;
    }
    const struct series old = host->sources[i].series[0];
    struct series *series = &host->sources[i].series[0];
    const size_t blocks = (size_t)(series_span_ns(&old) / MAX_TIME_NS);
    const size_t block_trials = old.count / blocks;
    size_t *order = settle_grow(NULL, blocks, sizeof *order);
    double at_ns = 0;
    *series = (struct series){0};
    for (size_t j = 0; j < blocks; j++) {
      const size_t other = (size_t)(random_share() * (double)(j + 1));
      order[j] = order[other];
      order[other] = j;
    }
    for (size_t j = 0; j < blocks * block_trials; j++) {
      struct raw trial = old.trials[order[j / block_trials] * block_trials + j % block_trials];
      trial.start_ns = at_ns;
      at_ns += trial.elapsed_ns + 50000;
      series_add(series, trial);
    }
    free(order);
    free(old.trials);
  }
}

#endif
