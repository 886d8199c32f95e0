#include "runner/analyse/history.h"

#include "runner/analyse/changes.h"
#include "runner/analyse/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(history_mark, HISTORY_MARK_LIST)

/* Of a series without a change, one in a hundred is said to have one. */
static const double ALPHA = 0.01;
enum { FACTS_NAMED = 4 };

struct builder {
  const struct measured *measured;
  struct history *history;
  size_t series_capacity;
  double *values;       /* ln of the series in hand, run by run */
  size_t *starts;       /* the first value of each point */
  struct change *found; /* as many as starts */
  const struct measured_median **entries;
};

static void *new_array(size_t count, size_t size_bytes) {
  void *array = calloc(count + 1, size_bytes);
  if (array == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  return array;
}

static const struct measured_environment *environment_of(const struct measured *measured,
                                                         size_t run) {
  return &measured->environments[measured->runs[run].environment];
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* ---- points ---- */

/* One run's values, sorted in a copy for the median. */
static void set_point(const struct builder *b, const struct history_series *series, size_t first,
                      size_t count, struct history_point *point) {
  const struct measured_case *bench = &b->measured->cases[series->bench];
  double low = INFINITY;
  double high = -INFINITY;
  for (size_t i = first; i < first + count; i++) {
    low = fmin(low, b->values[i]);
    high = fmax(high, b->values[i]);
  }
  const double one = figure_value(series->figure, bench, exp(low));
  const double other = figure_value(series->figure, bench, exp(high));
  point->value = figure_value(series->figure, bench, exp(samples_median(b->values + first, count)));
  point->low = fmin(one, other);
  point->high = fmax(one, other);
  point->processes = (unsigned)count;
}

/* Change of the figure from one stretch of values to the next. */
static double change_between(const struct builder *b, enum figure figure, size_t first, size_t at,
                             size_t last) {
  const double step =
      samples_median(b->values + at, last - at) - samples_median(b->values + first, at - first);
  return expm1(figure == FIGURE_RATE ? -step : step);
}

/* Names of facts of the whole machine that two runs differ in; NULL = none does. */
static const char *facts_that_changed(struct builder *b, size_t before, size_t after) {
  const struct measured_environment *x = environment_of(b->measured, before);
  const struct measured_environment *y = environment_of(b->measured, after);
  const char *text = NULL;
  size_t named = 0;
  for (size_t i = 0; i < x->fact_count; i++) {
    for (size_t j = 0; j < y->fact_count; j++) {
      const struct measured_fact *f = &x->facts[i];
      const struct measured_fact *g = &y->facts[j];
      if (f->gpu != g->gpu || strcmp(f->name, g->name) != 0 || same_text(f->value, g->value) ||
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

static void mark_drivers(struct builder *b, struct history_series *series) {
  for (size_t i = 1; i < series->point_count; i++) {
    const char *before = environment_of(b->measured, series->points[i - 1].run)->driver_version;
    const char *after = environment_of(b->measured, series->points[i].run)->driver_version;
    if (!same_text(before, after)) {
      series->points[i].mark = HISTORY_DRIVER;
      series->points[i].what =
          arena_format(&b->history->arena, "driver %s to %s", before != NULL ? before : "none",
                       after != NULL ? after : "none");
    }
  }
}

/* Looks for changes among the points [first, last), which are under one driver. */
static void mark_changes(struct builder *b, struct history_series *series, size_t first,
                         size_t last, size_t value_count) {
  const size_t begin = b->starts[first];
  const size_t end = last < series->point_count ? b->starts[last] : value_count;
  size_t *starts = new_array(last - first, sizeof *starts);
  for (size_t i = first; i < last; i++) {
    starts[i - first] = b->starts[i] - begin;
  }
  const size_t found = changes_find(
      b->values + begin, end - begin, starts, last - first,
      figure_margin(series->figure, &b->measured->cases[series->bench], 0, NULL), ALPHA, b->found);
  for (size_t c = 0; c < found; c++) {
    for (size_t i = first; i < last; i++) {
      struct history_point *point = &series->points[i];
      if (b->starts[i] == begin + b->found[c].at) {
        point->mark = HISTORY_CHANGE;
        point->p = b->found[c].p;
        point->what = facts_that_changed(b, series->points[i - 1].run, point->run);
      }
    }
  }
  free(starts);
}

static void set_changes(struct builder *b, struct history_series *series, size_t value_count) {
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
        change_between(b, series->figure, b->starts[last_mark], b->starts[i], end);
    last_mark = i;
  }
}

static void mark_all(struct builder *b, struct history_series *series, size_t value_count) {
  mark_drivers(b, series);
  for (size_t first = 0; first < series->point_count;) {
    size_t last = first + 1;
    while (last < series->point_count && series->points[last].mark != HISTORY_DRIVER) {
      last++;
    }
    mark_changes(b, series, first, last, value_count);
    first = last;
  }
  set_changes(b, series, value_count);
}

/* ---- series ---- */

static const char *hardware_text(struct builder *b, const struct measured_median *median) {
  const struct measured_environment *e = environment_of(b->measured, median->run);
  const uint64_t gpus = b->measured->cases[median->bench].gpus;
  const char *text = NULL;
  for (size_t g = 0; g < e->gpu_count; g++) {
    const struct measured_gpu *gpu = &e->gpus[g];
    if (gpu->uuid != NULL && gpu->number >= 0 && gpu->number < 64 &&
        (gpus >> gpu->number & 1) != 0) {
      text = text == NULL ? gpu->uuid : arena_format(&b->history->arena, "%s, %s", text, gpu->uuid);
    }
  }
  return text != NULL ? text : e->host_name;
}

/* Entries of one case and hardware, by run. */
static void add_series(struct builder *b, const struct measured_median *const *entries,
                       size_t count, bool one_of_many) {
  struct history *history = b->history;
  const size_t bench = entries[count - 1]->bench;
  struct history_series series = {
      .bench = bench,
      .figure = figure_of(&b->measured->cases[bench]),
      .hardware = one_of_many ? hardware_text(b, entries[0]) : NULL,
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
    set_point(b, &series, first, last - first, point);
    first = last;
  }
  mark_all(b, &series, count);
  history->series = arena_grow(&history->arena, history->series, history->series_count,
                               &b->series_capacity, sizeof *history->series);
  history->series[history->series_count++] = series;
}

struct sortable {
  const struct measured_median *median;
  uint64_t hardware;
};

static int compare_sortable(const void *a, const void *b) {
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

static void add_case(struct builder *b, const struct measured_median *medians, size_t count,
                     struct sortable *sortable) {
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    if (!isnan(medians[i].ns)) {
      sortable[used++] = (struct sortable){
          &medians[i], measured_hardware(b->measured, medians[i].run, medians[i].bench)};
    }
  }
  qsort(sortable, used, sizeof *sortable, compare_sortable);
  const bool many = used > 0 && sortable[0].hardware != sortable[used - 1].hardware;
  for (size_t first = 0; first < used;) {
    size_t last = first;
    for (; last < used && sortable[last].hardware == sortable[first].hardware; last++) {
      b->entries[last - first] = sortable[last].median;
    }
    add_series(b, b->entries, last - first, many);
    first = last;
  }
}

static int compare_series(const void *a, const void *b, void *context) {
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
  struct builder b = {.measured = measured};
  const size_t count = measured->median_count;
  b.history = new_array(1, sizeof *b.history);
  b.values = new_array(count, sizeof *b.values);
  b.starts = new_array(count, sizeof *b.starts);
  b.found = new_array(count, sizeof *b.found);
  b.entries = new_array(count, sizeof *b.entries);
  struct sortable *sortable = new_array(count, sizeof *sortable);
  for (size_t first = 0; first < count;) {
    const char *key = measured->cases[measured->medians[first].bench].key;
    size_t last = first + 1;
    while (last < count && strcmp(measured->cases[measured->medians[last].bench].key, key) == 0) {
      last++;
    }
    add_case(&b, measured->medians + first, last - first, sortable);
    first = last;
  }
  if (b.history->series_count > 1) {
    qsort_r(b.history->series, b.history->series_count, sizeof *b.history->series, compare_series,
            &b);
  }
  free(b.values);
  free(b.starts);
  free(b.found);
  free(b.entries);
  free(sortable);
  return b.history;
}

void history_free(struct history *history) {
  if (history == NULL) {
    return;
  }
  arena_fini(&history->arena);
  free(history);
}
