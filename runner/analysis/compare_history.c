/* compare_history.c - how runs differ, where each side is one: from earlier runs of the machine. */
#include "engine/base/strings.h"
#include "runner/analysis/compare_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One case in one earlier run. */
struct earlier_run {
  size_t run; /* in results.runs of the earlier ones */
  double sum, squares;
  unsigned processes;
  bool used;
  double deviation; /* from the mean of those under its driver; NAN = it does not count */
};

struct earlier_runs {
  const struct results *results;
  size_t *first;            /* median, by case */
  struct earlier_run *runs; /* of the current case, in the order of ids */
  size_t count;
};

static void history_start(struct earlier_runs *earlier, const struct results *results,
                          struct arena *arena) {
  *earlier = (struct earlier_runs){.results = results};
  earlier->first = arena_array(arena, results->case_count, sizeof *earlier->first);
  earlier->runs = arena_array(arena, results->median_count, sizeof *earlier->runs);
  for (size_t i = 0; i < results->case_count; i++) {
    earlier->first[i] = results->median_count;
  }
  for (size_t i = results->median_count; i-- > 0;) {
    earlier->first[results->medians[i].bench] = i;
  }
}

static void history_add(struct earlier_runs *earlier, const struct results_median *median) {
  struct earlier_run *last = earlier->count > 0 ? &earlier->runs[earlier->count - 1] : NULL;
  if (last == NULL || last->run != median->run) {
    last = &earlier->runs[earlier->count++];
    *last = (struct earlier_run){.run = median->run, .deviation = NAN};
  }
  const double value = log(median->ns);
  last->sum += value;
  last->squares += value * value;
  last->processes++;
}

/* Takes the results of a case on the same hardware. */
static void history_take_case(struct earlier_runs *earlier, const char *key, uint64_t hardware) {
  const struct results *results = earlier->results;
  size_t low = 0;
  size_t high = results->case_count;
  while (low < high) { /* cases are in the order of their keys */
    const size_t middle = (low + high) / 2;
    if (strcmp(results->cases[middle].key, key) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  earlier->count = 0;
  for (; low < results->case_count && strcmp(results->cases[low].key, key) == 0; low++) {
    for (size_t i = earlier->first[low];
         i < results->median_count && results->medians[i].bench == low; i++) {
      const struct results_median *median = &results->medians[i];
      if (results_counts(median) && results_hardware(results, median->run, low) == hardware) {
        history_add(earlier, median);
      }
    }
  }
}

/* What is known of the means of runs. */
struct run_spread {
  double squares, df;       /* about the mean of those under one driver */
  double per_run, runs;     /* sum of 1 / processes */
  double within, within_df; /* squares of processes about the mean of their run */
};

/* Adds the runs under the driver of runs[first], if they cover as long a time as lies between the
 * sides: runs of one hour do not tell how those of two weeks differ. */
static void history_add_driver(struct earlier_runs *earlier, size_t first, int64_t apart_ns,
                               struct run_spread *spread) {
  const struct results *results = earlier->results;
  struct run_spread own = {0};
  int64_t begin = INT64_MAX;
  int64_t end = INT64_MIN;
  double mean = 0;
  const char *driver =
      results->environments[results->runs[earlier->runs[first].run].environment].driver_version;
  for (size_t i = first; i < earlier->count; i++) {
    struct earlier_run *run = &earlier->runs[i];
    const struct results_run *known = &results->runs[run->run];
    if (run->used ||
        !strings_equal(results->environments[known->environment].driver_version, driver)) {
      continue;
    }
    const double n = run->processes;
    const double value = run->sum / n;
    const double step = value - mean; /* Welford */
    run->used = true;
    own.runs++;
    mean += step / own.runs;
    own.squares += step * (value - mean);
    own.per_run += 1 / n;
    own.within += fmax(0, run->squares - n * value * value);
    own.within_df += n - 1;
    begin = known->started_at_ns < begin ? known->started_at_ns : begin;
    end = known->started_at_ns > end ? known->started_at_ns : end;
  }
  if (own.runs > 1 && end - begin >= apart_ns) {
    for (size_t i = first; i < earlier->count; i++) {
      struct earlier_run *run = &earlier->runs[i];
      const size_t environment = results->runs[run->run].environment;
      if (strings_equal(results->environments[environment].driver_version, driver)) {
        run->deviation = run->sum / run->processes - mean;
      }
    }
    spread->squares += own.squares;
    spread->df += own.runs - 1;
    spread->per_run += own.per_run;
    spread->runs += own.runs;
    spread->within += own.within;
    spread->within_df += own.within_df;
  }
}

/* Of one process per run more than of several: what processes of a run differ by is added where the
 * sides have fewer than the earlier runs. */
static void history_set_variance(const struct run_spread *spread, struct diff_case *c) {
  const double within = spread->within_df > 0 ? spread->within / spread->within_df : 0;
  const double sides = (1 / (double)c->a.count + 1 / (double)c->b.count) / 2;
  c->run_df = spread->df;
  c->process_variance = within * fmax(0, sides - spread->per_run / spread->runs);
  c->run_variance =
      fmax(spread->squares / spread->df + c->process_variance, DIFF_SPREAD_MIN * DIFF_SPREAD_MIN);
}

/* The runs that the variance is of. */
static struct process_sample history_deviations(const struct earlier_runs *earlier,
                                                struct arena *arena) {
  double *values = arena_array(arena, earlier->count, sizeof *values);
  uint32_t *numbers = arena_array(arena, earlier->count, sizeof *numbers);
  size_t used = 0;
  for (size_t i = 0; i < earlier->count; i++) {
    if (!isnan(earlier->runs[i].deviation)) {
      values[used] = earlier->runs[i].deviation;
      numbers[used++] = (uint32_t)earlier->runs[i].run;
    }
  }
  return (struct process_sample){.values = values, .count = used, .processes = numbers};
}

static bool history_is_asked(const struct comparison_row *row, const struct diff_case *c) {
  return row->sides[SIDE_A].runs == 1 && row->sides[SIDE_B].runs == 1 && !c->paired &&
         c->incomparable == NULL && c->a.count > 0 && c->b.count > 0;
}

void compare_set_history(const struct results *before, struct comparison *comparison) {
  const struct results *results = comparison->results;
  SCOPED(arena_fini) struct arena arena = {0};
  struct earlier_runs earlier;
  size_t asked = 0;
  size_t known = 0;
  double most = 0;
  history_start(&earlier, before, &arena);
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    struct diff_case *c = &comparison->inputs[row->input];
    if (!history_is_asked(row, c)) {
      continue;
    }
    const size_t runs[SIDES] = {row->sides[SIDE_A].run, row->sides[SIDE_B].run};
    const int64_t apart_ns = llabs(results->runs[runs[SIDE_A]].started_at_ns -
                                   results->runs[runs[SIDE_B]].started_at_ns);
    struct run_spread spread = {0};
    asked++;
    history_take_case(&earlier, results->cases[row->bench].key,
                      results_hardware(results, runs[SIDE_B], row->sides[SIDE_B].bench));
    for (size_t r = 0; r < earlier.count; r++) {
      history_add_driver(&earlier, r, apart_ns, &spread);
    }
    if (spread.df >= DIFF_HISTORY_DF_MIN) {
      history_set_variance(&spread, c);
      c->earlier = history_deviations(&earlier, &comparison->arena);
      most = fmax(most, spread.runs);
      known++;
    }
  }
  if (known == 0) {
    return;
  }
  comparison->judged = arena_format(
      &comparison->arena,
      "One run per side; run-to-run variation%s is estimated from up to %.0f earlier runs of the "
      "machine",
      known == asked ? "" : arena_format(&comparison->arena, " of %zu cases", known), most);
  comparison->confounded =
      known == asked ? NULL
                     : arena_format(&comparison->arena,
                                    "Run-to-run variation of the other %zu %s is not known: %s "
                                    "changes may be no more than it",
                                    asked - known, strings_plural(asked - known, "case", "cases"),
                                    strings_plural(asked - known, "its", "their"));
}
