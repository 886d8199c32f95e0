#include "runner/analysis/history.h"

#include "runner/analysis/internal.h"
#include "runner/statistics/rank_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(history_mark, HISTORY_MARK_LIST)

/* At most one in a hundred series without a change is said to have one. */
static const double ALPHA = 0.01;
enum { FACTS_NAMED = 4 };

struct builder {
  const struct measured *measured;
  struct history *history;
  struct arena scratch;
  size_t series_capacity;
  double *values;             /* ln of the current series, run by run */
  size_t *starts;             /* the first value of each point */
  size_t *stretch_starts;     /* the same of the points under one driver, from the first of them */
  struct change_point *found; /* as many as starts */
  const struct measured_median **entries;
};

static const struct measured_environment *history_environment(const struct measured *measured,
                                                              size_t run) {
  return &measured->environments[measured->runs[run].environment];
}

static bool history_same_text(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* ---- points ---- */

/* One run's values, sorted in a copy for the median. */
static void history_set_point(const struct builder *b, const struct history_series *series,
                              size_t first, size_t count, struct history_point *point) {
  const struct measured_case *bench = &b->measured->cases[series->bench];
  double low = INFINITY;
  double high = -INFINITY;
  for (size_t i = first; i < first + count; i++) {
    low = fmin(low, b->values[i]);
    high = fmax(high, b->values[i]);
  }
  const double one = figure_value(bench, exp(low));
  const double other = figure_value(bench, exp(high));
  point->value = figure_value(bench, exp(sample_median(b->values + first, count)));
  point->low = fmin(one, other);
  point->high = fmax(one, other);
  point->processes = (unsigned)count;
}

/* Change of the figure from one stretch of values to the next. */
static double history_change_between(const struct builder *b, enum figure figure, size_t first,
                                     size_t at, size_t last) {
  const double step =
      sample_median(b->values + at, last - at) - sample_median(b->values + first, at - first);
  return expm1(figure == FIGURE_RATE ? -step : step);
}

/* Names of facts of the whole machine that two runs differ in; NULL = none does. */
static const char *history_changed_facts(struct builder *b, size_t before, size_t after) {
  const struct measured_environment *x = history_environment(b->measured, before);
  const struct measured_environment *y = history_environment(b->measured, after);
  const char *text = NULL;
  size_t named = 0;
  for (size_t i = 0; i < x->fact_count; i++) {
    for (size_t j = 0; j < y->fact_count; j++) {
      const struct measured_fact *f = &x->facts[i];
      const struct measured_fact *g = &y->facts[j];
      if (f->gpu != g->gpu || strcmp(f->name, g->name) != 0 ||
          history_same_text(f->value, g->value) || strcmp(f->name, "boot_id") == 0 ||
          named > FACTS_NAMED) {
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
    const char *before =
        history_environment(b->measured, series->points[i - 1].run)->driver_version;
    const char *after = history_environment(b->measured, series->points[i].run)->driver_version;
    if (!history_same_text(before, after)) {
      series->points[i].mark = HISTORY_DRIVER;
      series->points[i].what =
          arena_format(&b->history->arena, "driver %s to %s", before != NULL ? before : "none",
                       after != NULL ? after : "none");
    }
  }
}

/* Looks for changes among the points [first, last), which are under one driver. */
static void history_mark_changes(struct builder *b, struct history_series *series, size_t first,
                                 size_t last, size_t value_count) {
  const size_t begin = b->starts[first];
  const size_t end = last < series->point_count ? b->starts[last] : value_count;
  size_t *starts = b->stretch_starts;
  for (size_t i = first; i < last; i++) {
    starts[i - first] = b->starts[i] - begin;
  }
  const size_t found = change_point_find(b->values + begin, end - begin, starts, last - first,
                                         figure_margin(&b->measured->cases[series->bench], 0, NULL),
                                         ALPHA, b->found);
  for (size_t c = 0; c < found; c++) {
    for (size_t i = first; i < last; i++) {
      struct history_point *point = &series->points[i];
      if (b->starts[i] == begin + b->found[c].at) {
        point->mark = HISTORY_CHANGE;
        point->p = b->found[c].p;
        point->what = history_changed_facts(b, series->points[i - 1].run, point->run);
      }
    }
  }
}

static void history_set_changes(struct builder *b, struct history_series *series,
                                size_t value_count) {
  size_t last_mark = 0;
  for (size_t i = 1; i < series->point_count; i++) {
    if (series->points[i].mark == HISTORY_NO_MARK) {
      continue;
    }
    size_t next = i + 1;
    while (next < series->point_count && series->points[next].mark == HISTORY_NO_MARK) {
      next++;
    }
    const size_t end = next < series->point_count ? b->starts[next] : value_count;
    series->points[i].change =
        history_change_between(b, series->figure, b->starts[last_mark], b->starts[i], end);
    last_mark = i;
  }
}

static void history_mark_all(struct builder *b, struct history_series *series, size_t value_count) {
  history_mark_drivers(b, series);
  for (size_t first = 0; first < series->point_count;) {
    size_t last = first + 1;
    while (last < series->point_count && series->points[last].mark != HISTORY_DRIVER) {
      last++;
    }
    history_mark_changes(b, series, first, last, value_count);
    first = last;
  }
  history_set_changes(b, series, value_count);
}

/* ---- series ---- */

/* Entries of one case and hardware, by run. */
static void history_add_series(struct builder *b, const struct measured_median *const *entries,
                               size_t count, bool one_of_many) {
  struct history *history = b->history;
  const size_t bench = entries[count - 1]->bench;
  struct history_series series = {
      .bench = bench,
      .figure = b->measured->cases[bench].figure,
      .hardware = one_of_many ? analysis_hardware_text(b->measured, entries[0]->run,
                                                       entries[0]->bench, &history->arena)
                              : NULL,
      .points = arena_array(&history->arena, count, sizeof *series.points),
  };
  for (size_t i = 0; i < count; i++) {
    b->values[i] = log(entries[i]->ns);
  }
  for (size_t first = 0; first < count;) {
    size_t last = first + 1;
    while (last < count && entries[last]->run == entries[first]->run) {
      last++;
    }
    struct history_point *point = &series.points[series.point_count];
    *point = (struct history_point){.run = entries[first]->run, .change = NAN, .p = NAN};
    b->starts[series.point_count++] = first;
    history_set_point(b, &series, first, last - first, point);
    first = last;
  }
  history_mark_all(b, &series, count);
  history->series = arena_grow(&history->arena, history->series, history->series_count,
                               &b->series_capacity, sizeof *history->series);
  history->series[history->series_count++] = series;
}

struct sortable {
  const struct measured_median *median;
  uint64_t hardware;
};

static int history_compare_sortable(const void *a, const void *b) {
  const struct sortable *x = a;
  const struct sortable *y = b;
  if (x->hardware != y->hardware) {
    return x->hardware < y->hardware ? -1 : 1;
  }
  if (x->median->run != y->median->run) {
    return x->median->run < y->median->run ? -1 : 1;
  }
  return (x->median->process > y->median->process) - (x->median->process < y->median->process);
}

static void history_add_case(struct builder *b, const struct measured_median *medians, size_t count,
                             struct sortable *sortable) {
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    if (!isnan(medians[i].ns)) {
      sortable[used++] = (struct sortable){
          &medians[i], measured_hardware(b->measured, medians[i].run, medians[i].bench)};
    }
  }
  qsort(sortable, used, sizeof *sortable, history_compare_sortable);
  const bool many = used > 0 && sortable[0].hardware != sortable[used - 1].hardware;
  for (size_t first = 0; first < used;) {
    size_t last = first;
    for (; last < used && sortable[last].hardware == sortable[first].hardware; last++) {
      b->entries[last - first] = sortable[last].median;
    }
    history_add_series(b, b->entries, last - first, many);
    first = last;
  }
}

static int history_compare_series(const void *a, const void *b, void *context) {
  const struct measured *measured = ((const struct builder *)context)->measured;
  const struct history_series *x = a;
  const struct history_series *y = b;
  const int order = strcmp(measured->cases[x->bench].name, measured->cases[y->bench].name);
  if (order != 0 || x->hardware == NULL || y->hardware == NULL) {
    return order;
  }
  return strcmp(x->hardware, y->hardware);
}

struct history *history_new(const struct measured *measured) {
  const size_t count = measured->median_count;
  struct builder b = {.measured = measured, .history = calloc(1, sizeof *b.history)};
  if (b.history == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  b.values = arena_array(&b.scratch, count, sizeof *b.values);
  b.starts = arena_array(&b.scratch, count, sizeof *b.starts);
  b.found = arena_array(&b.scratch, count, sizeof *b.found);
  b.entries = arena_array(&b.scratch, count, sizeof *b.entries);
  b.stretch_starts = arena_array(&b.scratch, count, sizeof *b.stretch_starts);
  struct sortable *sortable = arena_array(&b.scratch, count, sizeof *sortable);
  for (size_t first = 0; first < count;) {
    const size_t last = analysis_key_end(measured, first);
    history_add_case(&b, measured->medians + first, last - first, sortable);
    first = last;
  }
  if (b.history->series_count > 1) {
    qsort_r(b.history->series, b.history->series_count, sizeof *b.history->series,
            history_compare_series, &b);
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

/* ---- the latest result of every case ---- */

/* A median with what it is ordered by, as numbers: each text is compared once, not once per pair.
 */
struct latest_entry {
  uint32_t place; /* host and scenario of the run */
  uint32_t name;  /* of the case */
  int64_t started_at_ns;
  uint32_t run, bench;
  double ns;
};

static int latest_compare_texts(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The rank of a text among sorted ones without duplicates. */
static uint32_t latest_rank(const char *text, const char *const *sorted, size_t count) {
  const char *const *found = bsearch(&text, sorted, count, sizeof *sorted, latest_compare_texts);
  return (uint32_t)(found - sorted);
}

static size_t latest_sort_texts(const char **texts, size_t count) {
  qsort(texts, count, sizeof *texts, latest_compare_texts);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (kept == 0 || strcmp(texts[kept - 1], texts[i]) != 0) {
      texts[kept++] = texts[i];
    }
  }
  return kept;
}

static uint32_t *latest_rank_names(const struct measured *measured, struct arena *arena) {
  const size_t count = measured->case_count;
  const char **names = arena_array(arena, count, sizeof *names);
  uint32_t *ranks = arena_array(arena, count, sizeof *ranks);
  for (size_t i = 0; i < count; i++) {
    names[i] = measured->cases[i].name;
  }
  const size_t different = latest_sort_texts(names, count);
  for (size_t i = 0; i < count; i++) {
    ranks[i] = latest_rank(measured->cases[i].name, names, different);
  }
  return ranks;
}

static uint32_t *latest_rank_places(const struct measured *measured, struct arena *arena) {
  const size_t count = measured->run_count;
  const char **places = arena_array(arena, count, sizeof *places);
  const char **own = arena_array(arena, count, sizeof *own);
  uint32_t *ranks = arena_array(arena, count, sizeof *ranks);
  for (size_t i = 0; i < count; i++) {
    const struct measured_run *run = &measured->runs[i];
    const struct measured_environment *at = &measured->environments[run->environment];
    own[i] = arena_format(arena, "%s\n%d\n%s", at->host_name, at->simulated, run->scenario);
    places[i] = own[i];
  }
  const size_t different = latest_sort_texts(places, count);
  for (size_t i = 0; i < count; i++) {
    ranks[i] = latest_rank(own[i], places, different);
  }
  return ranks;
}

#define ORDER(a, b)                                                                                \
  do {                                                                                             \
    if ((a) != (b))                                                                                \
      return (a) < (b) ? -1 : 1;                                                                   \
  } while (0)

/* Of one case of one place, the latest run first. */
static int latest_compare_entries(const void *left, const void *right) {
  const struct latest_entry *a = left;
  const struct latest_entry *b = right;
  ORDER(a->place, b->place);
  ORDER(a->name, b->name);
  ORDER(b->started_at_ns, a->started_at_ns);
  ORDER(b->run, a->run);
  ORDER(a->bench, b->bench);
  return 0;
}

static size_t latest_collect(const struct measured *measured, struct arena *arena,
                             struct latest_entry *entries) {
  const uint32_t *names = latest_rank_names(measured, arena);
  const uint32_t *places = latest_rank_places(measured, arena);
  size_t count = 0;
  for (size_t i = 0; i < measured->median_count; i++) {
    const struct measured_median *median = &measured->medians[i];
    if (median->process == 0) {
      continue; /* skipped */
    }
    entries[count++] =
        (struct latest_entry){.place = places[median->run],
                              .name = names[median->bench],
                              .started_at_ns = measured->runs[median->run].started_at_ns,
                              .run = median->run,
                              .bench = median->bench,
                              .ns = median->ns};
  }
  return count;
}

/* Of entries that are one case in one run. values holds as many. */
static struct latest_case latest_summarise(const struct latest_entry *entries, size_t count,
                                           double *values) {
  struct latest_case latest = {.run = entries[0].run, .bench = entries[0].bench};
  for (size_t i = 0; i < count; i++) {
    if (isnan(entries[i].ns)) {
      latest.went_wrong++;
    } else {
      values[latest.processes++] = entries[i].ns;
    }
  }
  latest.ns = sample_median_in_place(values, latest.processes);
  return latest;
}

struct latest_case *latest_cases(const struct measured *measured, struct arena *arena,
                                 size_t *count) {
  struct arena scratch = {0};
  struct latest_entry *entries = arena_array(&scratch, measured->median_count, sizeof *entries);
  double *values = arena_array(&scratch, measured->median_count, sizeof *values);
  const size_t entry_count = latest_collect(measured, &scratch, entries);
  qsort(entries, entry_count, sizeof *entries, latest_compare_entries);
  struct latest_case *cases = NULL;
  size_t capacity = 0;
  *count = 0;
  for (size_t i = 0; i < entry_count;) {
    size_t same_run = i + 1;
    while (same_run < entry_count && entries[same_run].place == entries[i].place &&
           entries[same_run].name == entries[i].name && entries[same_run].run == entries[i].run &&
           entries[same_run].bench == entries[i].bench) {
      same_run++;
    }
    cases = arena_grow(arena, cases, *count, &capacity, sizeof *cases);
    cases[(*count)++] = latest_summarise(&entries[i], same_run - i, values);
    size_t next = same_run;
    while (next < entry_count && entries[next].place == entries[i].place &&
           entries[next].name == entries[i].name) {
      next++;
    }
    i = next;
  }
  arena_fini(&scratch);
  return cases;
}
