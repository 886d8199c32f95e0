#include "runner/analysis/history.h"

#include "engine/base/order.h"
#include "engine/base/strings.h"
#include "runner/analysis/compare_internal.h"
#include "runner/analysis/definition.h"
#include "runner/statistics/distributions.h"
#include "runner/statistics/series.h"
#include "runner/statistics/t_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(history_mark, HISTORY_MARK_LIST)

/* At most one in a hundred series without a change is said to have one. */
static const double ALPHA = 0.01;
/* The same of the latest run alone, and of the last two, three ... RECENT_MAX together. */
static const double ALPHA_LATEST = 0.02;
static const double ALPHA_RECENT = 0.01;
static const double ALPHA_LAST = 0.03; /* of both */
/* Of the marks of one kind, over all series of a look. */
static const double FALSE_DISCOVERY_RATE = 0.05;
enum { FACTS_NAMED = 4, RECENT_MAX = 8, DRIFT_END = 5 };
enum { USUAL_SERIES_MIN = 8 }; /* that show what is usual of the series of a look */

struct builder {
  const struct results *results;
  struct history *history;
  struct arena scratch;
  double *processes;  /* ln of the current run, one by one */
  double *values;     /* ln of the median of each run, of the current series */
  double *all_values; /* of all series one after the other */
  size_t all_count;
  double **values_of;         /* by series */
  struct change_point *found; /* as many as values */
  const char **hardware;      /* texts, as results.hardware; NULL = not made yet */
};

/* A median of one case, by its hardware. */
struct history_entry {
  const struct results_median *median;
  uint64_t hardware;
};

static const struct results_environment *history_environment(const struct results *results,
                                                             size_t run) {
  return &results->environments[results->runs[run].environment];
}

/* ---- points ---- */

/* A point of one run's processes; values: those of the series. */
static void history_add_point(struct builder *b, struct history_series *series, double *values,
                              const struct history_entry *entries, size_t count) {
  const struct results_case *bench = &b->results->cases[series->bench];
  for (size_t i = 0; i < count; i++) {
    b->processes[i] = log(entries[i].median->ns);
  }
  sample_sort(b->processes, count);
  const double one = figure_value(bench, exp(b->processes[0]));
  const double other = figure_value(bench, exp(b->processes[count - 1]));
  const double median = sorted_quantile(b->processes, count, 0.5);
  values[series->point_count] = median;
  series->points[series->point_count++] =
      (struct history_point){.run = entries[0].median->run,
                             .value = figure_value(bench, exp(median)),
                             .low = fmin(one, other),
                             .high = fmax(one, other),
                             .processes = (unsigned)count,
                             .change = NAN,
                             .p = NAN};
}

/* Change of the figure from the values [before, at) to [at, end). */
static double history_change_between(const struct builder *b, enum figure figure, size_t before,
                                     size_t at, size_t end) {
  const double step =
      sample_median(b->values + at, end - at) - sample_median(b->values + before, at - before);
  return expm1(figure_is_rate(figure) ? -step : step);
}

/* Names of facts of the whole machine that two runs differ in; NULL = none does. */
static const char *history_changed_facts(struct builder *b, size_t before, size_t after) {
  const struct results_environment *x = history_environment(b->results, before);
  const struct results_environment *y = history_environment(b->results, after);
  const char *text = NULL;
  size_t named = 0;
  for (size_t i = 0; i < x->fact_count; i++) {
    for (size_t j = 0; j < y->fact_count; j++) {
      const struct results_fact *f = &x->facts[i];
      const struct results_fact *g = &y->facts[j];
      if (f->gpu != g->gpu || strcmp(f->name, g->name) != 0 || strings_equal(f->value, g->value) ||
          strcmp(f->name, "boot_id") == 0 || named > FACTS_NAMED) {
        continue;
      }
      named++;
      const char *name = named > FACTS_NAMED ? "..." : f->name;
      text = text == NULL ? name : arena_format(&b->history->arena, "%s, %s", text, name);
    }
  }
  return text;
}

/* ---- marks ---- */

static void history_mark_drivers(struct builder *b, struct history_series *series) {
  for (size_t i = 1; i < series->point_count; i++) {
    const char *before = history_environment(b->results, series->points[i - 1].run)->driver_version;
    const char *after = history_environment(b->results, series->points[i].run)->driver_version;
    if (!strings_equal(before, after)) {
      series->points[i].mark = HISTORY_DRIVER;
      series->points[i].since = series->points[i].until = i;
      series->points[i].what =
          arena_format(&b->history->arena, "driver %s to %s", before != NULL ? before : "none",
                       after != NULL ? after : "none");
    }
  }
}

static double history_margin(const struct builder *b, const struct history_series *series) {
  return figure_margin(&b->results->cases[series->bench], 0, NULL);
}

static void history_mark(struct builder *b, struct history_series *series, size_t at,
                         enum history_mark mark, double p) {
  struct history_point *point = &series->points[at];
  point->mark = mark;
  point->p = p;
  point->since = point->until = at;
  point->what = history_changed_facts(b, series->points[at - 1].run, point->run);
}

/* Looks for changes among the points [first, last), which are under one driver. */
static void history_mark_changes(struct builder *b, struct history_series *series, size_t first,
                                 size_t last) {
  const double margin = history_margin(b, series);
  const double r = series->autocorrelation;
  const size_t count = last - first;
  struct series_drift drift;
  const size_t found =
      change_point_find(b->values + first, count, margin, ALPHA, series_worth(r), b->found);
  if (found > 0 && series_is_drift(b->values + first, count, b->found, found, r, &drift)) {
    if (drift.p < ALPHA && fabs(drift.change) >= log1p(margin)) {
      history_mark(b, series, last - 1, HISTORY_DRIFT, drift.p);
      series->points[last - 1].what =
          history_changed_facts(b, series->points[first].run, series->points[last - 1].run);
      series->points[last - 1].since = first;
      series->points[last - 1].change =
          expm1(figure_is_rate(series->figure) ? -drift.change : drift.change);
    }
    return;
  }
  for (size_t c = 0; c < found; c++) {
    const size_t from = c > 0 ? b->found[c - 1].at : 0;
    const size_t to = c + 1 < found ? b->found[c + 1].at : count;
    const struct series_range range = series_change_range(b->values + first + from, to - from, r);
    history_mark(b, series, first + b->found[c].at, HISTORY_CHANGE, b->found[c].p);
    series->points[first + b->found[c].at].since = first + from + range.first;
    series->points[first + b->found[c].at].until = first + from + range.last;
  }
}

/* The values [first, at) against [at, last), by their pooled variance: that of the former alone,
 * where the latter are one. Values that are like their neighbours are worth fewer, and spread less
 * than those of the same level would. */
static struct effect history_effect(const struct builder *b, const struct history_series *series,
                                    size_t first, size_t at, size_t last) {
  const double worth = series_worth(series->autocorrelation);
  struct sample before = sample_summary(b->values + first, at - first);
  struct sample after = sample_summary(b->values + at, last - at);
  before.variance = fmax(before.variance, DIFF_SPREAD_MIN * DIFF_SPREAD_MIN);
  after.variance = fmax(after.variance, DIFF_SPREAD_MIN * DIFF_SPREAD_MIN);
  const double df = (double)(last - first) - 2;
  struct effect effect =
      effect_moderated(&before, &after, &(struct variance_prior){.pooled_df = df});
  if (worth < 1) {
    const double n = (double)(last - first) * worth;
    const double spread = n > 1.5 ? n / (n - 1) : 3; /* E(s^2) is less by that */
    const double parts =
        1 / fmax((double)(at - first) * worth, 1) + 1 / fmax((double)(last - at) * worth, 1);
    effect.error *= sqrt(spread * parts / (1 / (double)(at - first) + 1 / (double)(last - at)));
    effect.df = fmax(effect.df * worth, 1);
  }
  return effect;
}

/* The last point that is marked, or 0. */
static size_t history_last_mark(const struct history_series *series, size_t before) {
  size_t at = before - 1;
  while (at > 0 && series->points[at].mark == HISTORY_NO_MARK) {
    at--;
  }
  return at;
}

/* The next one that is marked, or the end. */
static size_t history_next_mark(const struct history_series *series, size_t at) {
  do {
    at++;
  } while (at < series->point_count && series->points[at].mark == HISTORY_NO_MARK);
  return at;
}

/* Holds the last points against those before them, since the last mark. alone: the share of its
 * level that a mark is held to that is the only one of a look. */
static void history_mark_latest(struct builder *b, struct history_series *series, double alone) {
  const size_t count = series->point_count;
  const size_t first = history_last_mark(series, count);
  const double margin = log1p(history_margin(b, series));
  series->earlier = count - 1 - first;
  series->least_change = NAN;
  if (series->earlier < HISTORY_EARLIER_MIN) {
    return;
  }
  const struct effect latest = history_effect(b, series, first, count - 1, count);
  series->least_change =
      expm1(margin + latest.error * student_quantile(1 - alone * ALPHA_LATEST / 2, latest.df));
  size_t recent = series->earlier + 1 - HISTORY_EARLIER_MIN;
  recent = recent < RECENT_MAX ? recent : RECENT_MAX;
  double best = 1; /* p as a share of its level */
  size_t best_at = count;
  for (size_t k = 1; k <= recent; k++) {
    const double level = k == 1 ? ALPHA_LATEST : ALPHA_RECENT / (double)(recent - 1);
    const struct effect effect = history_effect(b, series, first, count - k, count);
    const double p = effect_p(&effect, margin);
    if (p / level < best) {
      best = p / level;
      best_at = count - k;
    }
  }
  if (best_at < count) {
    history_mark(b, series, best_at, HISTORY_LATEST, best * ALPHA_LAST);
  }
}

/* Whether what a new driver did is more than chance. */
static void history_test_drivers(struct builder *b, struct history_series *series) {
  const double margin = log1p(history_margin(b, series));
  for (size_t i = 1; i < series->point_count; i++) {
    const size_t first = history_last_mark(series, i);
    const size_t last = history_next_mark(series, i);
    if (series->points[i].mark == HISTORY_DRIVER && i - first >= HISTORY_EARLIER_MIN) {
      const struct effect effect = history_effect(b, series, first, i, last);
      series->points[i].p = effect_p(&effect, margin);
    }
  }
}

static void history_set_changes(struct builder *b, struct history_series *series) {
  size_t last_mark = 0;
  for (size_t i = 1; i < series->point_count; i++) {
    if (series->points[i].mark == HISTORY_NO_MARK) {
      continue;
    }
    const size_t next = history_next_mark(series, i);
    if (series->points[i].mark == HISTORY_DRIFT) { /* its end is the level of what follows */
      last_mark = i + 1 - last_mark > DRIFT_END ? i + 1 - DRIFT_END : last_mark;
      continue;
    }
    series->points[i].change = history_change_between(b, series->figure, last_mark, i, next);
    last_mark = i;
  }
}

static bool history_is_tested(const struct history_series *series) {
  return series->point_count > HISTORY_EARLIER_MIN;
}

/* Takes back the marks of a kind that may be chance among so many series: q values beyond the false
 * discovery rate. */
static void history_keep_certain(struct builder *b, enum history_mark mark) {
  double *q = arena_array(&b->scratch, b->all_count, sizeof *q);
  const struct history *history = b->history;
  size_t count = 0;
  for (size_t s = 0; s < history->series_count; s++) {
    const struct history_series *series = &history->series[s];
    const size_t before = count;
    for (size_t i = 0; i < series->point_count; i++) {
      if (series->points[i].mark == mark) {
        q[count++] = series->points[i].p;
      }
    }
    if (count == before && history_is_tested(series)) {
      q[count++] = 1;
    }
  }
  (void)fdr_q_values(q, count, q);
  size_t at = 0;
  for (size_t s = 0; s < history->series_count; s++) {
    const struct history_series *series = &history->series[s];
    const size_t before = at;
    for (size_t i = 0; i < series->point_count; i++) {
      struct history_point *point = &series->points[i];
      if (point->mark == mark && q[at++] > FALSE_DISCOVERY_RATE) {
        point->mark = HISTORY_NO_MARK;
        point->p = point->change = NAN;
        point->what = NULL;
      }
    }
    at += at == before && history_is_tested(series);
  }
}

static struct history_series *history_choose(struct builder *b, size_t series) {
  b->values = b->values_of[series];
  return &b->history->series[series];
}

static void history_mark_all_changes(struct builder *b, struct history_series *series) {
  FOR_EACH_GROUP(first, last, series->point_count, series->points[last].mark != HISTORY_DRIVER) {
    history_mark_changes(b, series, first, last);
  }
}

/* Series of one look see one machine, or one fleet: together they show an autocorrelation that few
 * runs of each hide. */
static void history_set_autocorrelations(struct builder *b) {
  const size_t count = b->history->series_count;
  SCOPED(memory_free) double *seen = sample_values_new(count);
  size_t known = 0;
  for (size_t i = 0; i < count; i++) {
    struct history_series *series = history_choose(b, i);
    series->autocorrelation = series_seen_autocorrelation(b->values, series->point_count);
    if (series->point_count >= SERIES_MIN) {
      seen[known++] = series->autocorrelation;
    }
  }
  const double usual = known >= USUAL_SERIES_MIN ? sample_median_in_place(seen, known) : 0;
  for (size_t i = 0; i < count; i++) {
    struct history_series *series = &b->history->series[i];
    series->autocorrelation =
        series->point_count < SERIES_MIN
            ? 0
            : series_autocorrelation(series->autocorrelation, usual, series->point_count);
  }
}

static void history_mark_all(struct builder *b) {
  const size_t count = b->history->series_count;
  size_t tested = 0;
  history_set_autocorrelations(b);
  for (size_t i = 0; i < count; i++) {
    struct history_series *series = history_choose(b, i);
    history_mark_drivers(b, series);
    history_mark_all_changes(b, series);
    tested += history_is_tested(series);
  }
  history_keep_certain(b, HISTORY_CHANGE);
  history_keep_certain(b, HISTORY_DRIFT);
  const double alone =
      tested > 1 ? fmin(1, FALSE_DISCOVERY_RATE / (ALPHA_LAST * (double)tested)) : 1;
  for (size_t i = 0; i < count; i++) {
    history_mark_latest(b, history_choose(b, i), alone);
  }
  history_keep_certain(b, HISTORY_LATEST);
  for (size_t i = 0; i < count; i++) {
    struct history_series *series = history_choose(b, i);
    history_test_drivers(b, series);
    history_set_changes(b, series);
  }
}

/* ---- series ---- */

/* Made once for the cases of the same GPUs, which are many. */
static const char *history_hardware(struct builder *b, size_t run, size_t bench) {
  const struct results *results = b->results;
  const char *once = NULL;
  const char **text = results->hardware != NULL
                          ? &b->hardware[results->runs[run].environment * results->gpu_set_count +
                                         results->cases[bench].gpu_set]
                          : &once;
  if (*text == NULL) {
    *text = analysis_hardware_text(results, run, bench, &b->history->arena);
  }
  return *text;
}

/* Entries of one case and hardware, by run. */
static void history_add_series(struct builder *b, const struct history_entry *entries, size_t count,
                               bool one_of_many) {
  struct history *history = b->history;
  const size_t bench = entries[count - 1].median->bench;
  double *values = b->all_values + b->all_count;
  struct history_series series = {
      .bench = bench,
      .name = b->results->cases[bench].name,
      .figure = b->results->cases[bench].figure,
      .hardware = one_of_many
                      ? history_hardware(b, entries[0].median->run, entries[0].median->bench)
                      : NULL,
      .points = arena_array(&history->arena, count, sizeof *series.points),
  };
  FOR_EACH_GROUP(first, last, count, entries[last].median->run == entries[first].median->run) {
    history_add_point(b, &series, values, entries + first, last - first);
  }
  b->all_count += series.point_count;
  b->values_of[history->series_count] = values;
  *ARENA_ADD(&history->arena, history->series, history->series_count) = series;
}

ORDER_DEFINE(history_compare_entries, struct history_entry, ORDER(x->hardware, y->hardware) ?: ORDER(x->median->run, y->median->run) ?: ORDER(x->median->process, y->median->process))

static void history_add_case(struct builder *b, const struct results_median *medians, size_t count,
                             struct history_entry *entries) {
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    if (results_counts(&medians[i])) {
      entries[used++] = (struct history_entry){
          &medians[i], results_hardware(b->results, medians[i].run, medians[i].bench)};
    }
  }
  ORDER_SORT(entries, used, history_compare_entries);
  const bool many = used > 0 && entries[0].hardware != entries[used - 1].hardware;
  FOR_EACH_GROUP(first, last, used, entries[last].hardware == entries[first].hardware) {
    history_add_series(b, entries + first, last - first, many);
  }
}

ORDER_DEFINE(history_compare_series, struct history_series, strcmp(x->name, y->name) ?: strcmp(x->hardware != NULL ? x->hardware : "", y->hardware != NULL ? y->hardware : "") ?: ORDER(x->bench, y->bench))

/* The first series with the case of series i, of those from `first` on. */
static size_t history_first_of_case(const struct builder *b, size_t first, size_t i) {
  const char *key = b->results->cases[b->history->series[i].bench].key;
  while (strcmp(b->results->cases[b->history->series[first].bench].key, key) != 0) {
    first++;
  }
  return first;
}

/* Of the series [first, last), which have one name. */
static void history_set_settings(struct builder *b, size_t first, size_t last) {
  struct arena *arena = &b->history->arena;
  struct history_series *series = b->history->series;
  for (size_t i = first; i < last; i++) {
    const struct results_case *own = &b->results->cases[series[i].bench];
    const size_t same = history_first_of_case(b, first, i);
    if (same < i) {
      series[i].settings = series[same].settings;
      continue;
    }
    for (size_t j = first; j < last; j++) {
      if (j != i && history_first_of_case(b, first, j) == j) {
        series[i].settings = definition_add_own_values(
            arena, series[i].settings != NULL ? series[i].settings : "", own->definition,
            b->results->cases[series[j].bench].definition);
      }
    }
    if (series[i].settings != NULL && series[i].settings[0] == '\0') {
      series[i].settings = arena_format(arena, "case_key %s", own->key);
    }
  }
}

struct history *history_new(const struct results *results) {
  const size_t count = results->median_count;
  struct builder b = {.results = results, .history = memory_new(1, sizeof *b.history)};
  b.all_values = arena_array(&b.scratch, count, sizeof *b.all_values);
  b.values_of = arena_array(&b.scratch, count, sizeof *b.values_of);
  b.processes = arena_array(&b.scratch, count, sizeof *b.processes);
  b.found = arena_array(&b.scratch, count, sizeof *b.found);
  b.hardware = arena_array(&b.scratch, results->environment_count * results->gpu_set_count,
                           sizeof *b.hardware);
  struct history_entry *entries = arena_array(&b.scratch, count, sizeof *entries);
  FOR_EACH_GROUP(first, last, count, analysis_is_same_key(results, first, last)) {
    history_add_case(&b, results->medians + first, last - first, entries);
  }
  history_mark_all(&b);
  struct history_series *series = b.history->series;
  ORDER_SORT(series, b.history->series_count, history_compare_series);
  FOR_EACH_GROUP(first, last, b.history->series_count,
                 strcmp(series[first].name, series[last].name) == 0) {
    history_set_settings(&b, first, last);
  }
  arena_fini(&b.scratch);
  return b.history;
}

void history_free(struct history *history) {
  if (history == NULL) {
    return;
  }
  arena_fini(&history->arena);
  free(history);
}
