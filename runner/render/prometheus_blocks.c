/* prometheus_blocks.c - series per host, block and statistic over its cases. */
#include "runner/render/prometheus_internal.h"
#include "runner/statistics/sample.h"

#include "engine/base/order.h"

#include <math.h>
#include <string.h>

/* One case of a run. */
struct block_value {
  const char *host, *scenario, *block;
  const struct measured_case *bench;
  size_t run;
  double ns; /* NAN: a process has no number */
  bool simulated;
};

ORDER_DEFINE(prometheus_compare_values, struct block_value, strcmp(x->host, y->host) ?: ORDER(x->simulated, y->simulated) ?: strcmp(x->scenario, y->scenario) ?: strcmp(x->block, y->block) ?: ORDER(x->bench->figure, y->bench->figure) ?: ORDER(x->run, y->run) ?: ORDER(x->ns, y->ns))

static struct block_value prometheus_value(const struct writing *writing, size_t run, size_t bench,
                                           double ns) {
  const struct measured_environment *at = prometheus_environment(writing, run);
  return (struct block_value){.host = prometheus_host(at),
                              .scenario = writing->measured->runs[run].scenario,
                              .block = writing->measured->cases[bench].block,
                              .bench = &writing->measured->cases[bench],
                              .run = run,
                              .ns = ns,
                              .simulated = at->simulated};
}

/* Of every run: the median over the processes of each case that was not skipped. */
static size_t prometheus_gather(struct writing *writing, struct block_value *values) {
  const struct measured *measured = writing->measured;
  double *processes = arena_array(&writing->arena, measured->median_count, sizeof *processes);
  size_t count = 0;
  for (size_t first = 0; first < measured->median_count;) {
    const struct measured_median *at = &measured->medians[first];
    size_t used = 0;
    size_t last = first;
    bool skipped = true;
    for (; last < measured->median_count && measured->medians[last].bench == at->bench &&
           measured->medians[last].run == at->run;
         last++) {
      skipped = skipped && measured->medians[last].status == CASE_SKIPPED;
      processes[used] = measured->medians[last].ns;
      used += isnan(processes[used]) ? 0 : 1;
    }
    if (!skipped) {
      const bool whole = used == last - first;
      values[count++] = prometheus_value(writing, at->run, at->bench,
                                         whole ? sample_median_in_place(processes, used) : NAN);
    }
    first = last;
  }
  return count;
}

/* Which family the figure is of, and what a ns of it is there; false: of none. */
static bool prometheus_block_family(const struct measured_case *bench, double ns,
                                    enum family_index *family, double *value) {
  const double figure = figure_value(bench, ns);
  *value = figure_is_rate(bench->figure) ? figure * NS_PER_S : figure / NS_PER_S;
  switch (bench->figure) {
  case FIGURE_RATE:
    *family = FAMILY_BLOCK_BANDWIDTH;
    return true;
  case FIGURE_FLOPS:
    *family = FAMILY_BLOCK_FLOPS;
    return true;
  case FIGURE_HOP:
    *family = FAMILY_BLOCK_HOP;
    return true;
  case FIGURE_CALL:
    *family = FAMILY_BLOCK_CALL;
    return true;
  case FIGURE_TIME:
  case figure_name_count:
    break;
  }
  return false;
}

enum { STATS_COUNT = 3 };
static const char *const STATS[STATS_COUNT] = {"min", "median", "max"};

/* The labels of a block of a host, by statistic, and of its cases that are ok and not. */
struct block_labels {
  const char *stats[STATS_COUNT], *ok, *not_ok;
};

static const char *prometheus_block_labels(struct writing *writing, const struct block_value *of,
                                           const char *name, const char *value) {
  const struct label labels[] = {{"host", of->host},
                                 {"scenario", of->scenario},
                                 {"block", of->block},
                                 {"simulated", of->simulated ? "1" : NULL},
                                 {name, value}};
  return prometheus_labels(writing, labels, COUNT_OF(labels));
}

static bool prometheus_is_same_block(const struct block_value *a, const struct block_value *b) {
  return a->simulated == b->simulated && strcmp(a->host, b->host) == 0 &&
         strcmp(a->scenario, b->scenario) == 0 && strcmp(a->block, b->block) == 0;
}

/* The values [0, count), in the order of their times, are of one block, figure and run. */
static void prometheus_add_block(struct writing *writing, const struct block_value *values,
                                 size_t count, const struct block_labels *labels) {
  double *found = arena_array(&writing->arena, count, sizeof *found);
  enum family_index family = FAMILIES;
  size_t used = 0;
  const int64_t at_ns = writing->timed ? writing->measured->runs[values[0].run].started_at_ns : 0;
  for (size_t i = 0; i < count; i++) {
    if (!isnan(values[i].ns) &&
        prometheus_block_family(values[i].bench, values[i].ns, &family, &found[used])) {
      used++;
    }
  }
  sample_sort(found, used);
  const double middle = sample_median(found, used);
  for (size_t q = 0; q < STATS_COUNT && used > 0; q++) {
    const double value = q == 0 ? found[0] : q == 1 ? middle : found[used - 1];
    prometheus_add_sample_at(writing, family, labels->stats[q], value, at_ns);
  }
}

/* By run, zero but while a block is counted. */
struct block_counts {
  size_t *ok, *all;
};

/* How many cases of a run and block are ok; figures of one block are counted together. */
static void prometheus_count_cases(struct writing *writing, const struct block_value *values,
                                   size_t count, const struct block_labels *labels,
                                   const struct block_counts *counts) {
  for (size_t i = 0; i < count; i++) {
    counts->all[values[i].run]++;
    counts->ok[values[i].run] += isnan(values[i].ns) ? 0 : 1;
  }
  for (size_t i = 0; i < count; i++) {
    const size_t run = values[i].run;
    const int64_t at_ns = writing->timed ? writing->measured->runs[run].started_at_ns : 0;
    if (counts->all[run] > 0) {
      const size_t ok = counts->ok[run];
      prometheus_add_sample_at(writing, FAMILY_BLOCK_CASES, labels->ok, (double)ok, at_ns);
      prometheus_add_sample_at(writing, FAMILY_BLOCK_CASES, labels->not_ok,
                               (double)(counts->all[run] - ok), at_ns);
      counts->all[run] = counts->ok[run] = 0;
    }
  }
}

/* The values [0, count) are of one block. */
static void prometheus_add_runs_of_block(struct writing *writing, const struct block_value *values,
                                         size_t count, const struct block_counts *counts) {
  struct block_labels labels = {.ok = prometheus_block_labels(writing, values, "status", "ok"),
                                .not_ok =
                                    prometheus_block_labels(writing, values, "status", "not_ok")};
  for (size_t q = 0; q < STATS_COUNT; q++) {
    labels.stats[q] = prometheus_block_labels(writing, values, "stat", STATS[q]);
  }
  FOR_EACH_GROUP(first, last, count,
                 values[last].run == values[first].run &&
                     values[last].bench->figure == values[first].bench->figure) {
    prometheus_add_block(writing, values + first, last - first, &labels);
  }
  prometheus_count_cases(writing, values, count, &labels, counts);
}

enum status prometheus_print_blocks(struct measured *measured, const struct latest_case *latest,
                                    size_t latest_count, FILE *stream, struct error *err) {
  struct writing writing = {.measured = measured, .timed = latest == NULL};
  const size_t capacity = latest != NULL ? latest_count : measured->median_count;
  struct block_value *values = arena_array(&writing.arena, capacity, sizeof *values);
  const struct block_counts counts = {
      arena_array(&writing.arena, measured->run_count, sizeof(size_t)),
      arena_array(&writing.arena, measured->run_count, sizeof(size_t))};
  size_t count = 0;
  for (; latest != NULL && count < latest_count; count++) {
    const struct latest_case *of = &latest[count];
    values[count] =
        prometheus_value(&writing, of->run, of->bench, of->went_wrong == 0 ? of->ns : (double)NAN);
  }
  count = latest == NULL ? prometheus_gather(&writing, values) : count;
  ORDER_SORT(values, count, prometheus_compare_values);
  FOR_EACH_GROUP(first, last, count, prometheus_is_same_block(&values[first], &values[last])) {
    prometheus_add_runs_of_block(&writing, values + first, last - first, &counts);
  }
  if (latest != NULL) {
    prometheus_add_hosts(&writing, latest, latest_count);
  }
  for (size_t r = 0; latest == NULL && r < measured->run_count; r++) {
    prometheus_add_host(&writing, r, measured->runs[r].started_at_ns);
  }
  return prometheus_print_all(&writing, stream, err);
}
