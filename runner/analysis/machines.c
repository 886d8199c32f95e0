#include "runner/analysis/machines.h"

#include "engine/base/order.h"
#include "engine/base/text_index.h"
#include "runner/analysis/compare_internal.h"
#include "runner/analysis/history.h"
#include "runner/statistics/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PEERS_MIN = 3, BLOCKS_NAMED = 3, DAYS_OF_WEEKS = 60 };
static const int64_t DAY_NS = INT64_C(86400000000000);
static const double DRIVER_P = 0.01;

struct machines_grid {
  const struct results *results;
  struct machines *machines;
  struct arena scratch;
  uint32_t *node_of;        /* by run */
  const uint32_t *block_of; /* by case */
  double *grid;             /* of the case at hand: ln of the time, by node and period */
  double *usual;            /* of the case at hand: by period */
  double *values;           /* one per cell */
  size_t *counts;           /* cases of each block's values */
  size_t *cell_counts;      /* of the case at hand: medians in each cell of the grid */
  struct results beside;    /* the results beside those of the others */
  double *levels;           /* by case: its usual figure beside the others */
};

static size_t machines_cell_count(const struct machines *m) {
  return m->node_count * m->period_count;
}

size_t machines_period(const struct machines *m, int64_t time_ns) {
  const int64_t since = time_ns - m->first_ns;
  const size_t period = since > 0 ? (size_t)(since / m->period_ns) : 0;
  return period < m->period_count ? period : m->period_count - 1;
}

static const struct results_environment *machines_environment(const struct machines_grid *g,
                                                              size_t run) {
  return &g->results->environments[g->results->runs[run].environment];
}

static size_t machines_period_of(const struct machines_grid *g, size_t run) {
  return machines_period(g->machines, g->results->runs[run].started_at_ns);
}

/* ---- machines, periods, blocks ---- */

static void machines_find_nodes(struct machines_grid *g) {
  struct machines *m = g->machines;
  const size_t count = g->results->run_count;
  struct text_index nodes = {.arena = &m->arena};
  g->node_of = arena_array(&g->scratch, count, sizeof *g->node_of);
  for (size_t r = 0; r < count; r++) {
    g->node_of[r] = (uint32_t)text_index_number(&nodes, machines_environment(g, r)->node);
  }
  text_index_sort(&nodes, g->node_of, count);
  m->nodes = nodes.texts;
  m->node_count = nodes.count;
  m->last_runs = arena_array(&m->arena, m->node_count, sizeof *m->last_runs);
  for (size_t r = 0; r < count; r++) {
    m->last_runs[g->node_of[r]] = r;
  }
}

static void machines_find_periods(struct machines_grid *g) {
  struct machines *m = g->machines;
  const struct results *results = g->results;
  const int64_t first_ns = results->runs[0].started_at_ns;
  const int64_t last_ns = results->runs[results->run_count - 1].started_at_ns;
  m->first_ns = first_ns / DAY_NS * DAY_NS;
  m->period_ns = last_ns - first_ns > DAYS_OF_WEEKS * DAY_NS ? 7 * DAY_NS : DAY_NS;
  m->period_count = (size_t)((last_ns - m->first_ns) / m->period_ns) + 1;
  m->cells = arena_array(&m->arena, machines_cell_count(m), sizeof *m->cells);
  for (size_t r = 0; r < results->run_count; r++) {
    m->cells[g->node_of[r] * m->period_count + machines_period_of(g, r)].ran = true;
  }
}

static void machines_find_blocks(struct machines_grid *g) {
  struct machines *m = g->machines;
  struct text_index blocks = {.arena = &g->scratch};
  g->block_of = analysis_number_blocks(g->results, &blocks, &g->scratch);
  m->block_count = blocks.count;
  m->blocks = arena_array(&m->arena, m->block_count, sizeof *m->blocks);
  for (size_t b = 0; b < m->block_count; b++) {
    m->blocks[b] = (struct machines_block){
        .name = blocks.texts[b],
        .bands = arena_array(&m->arena, m->period_count, sizeof(struct machines_band)),
        .values = arena_array(&m->arena, machines_cell_count(m), sizeof(double))};
  }
  g->counts = arena_array(&g->scratch, m->block_count * machines_cell_count(m), sizeof *g->counts);
}

/* ---- a case beside the others ---- */

/* ln of the time of a case, by machine and period: the mean over its runs and processes; NAN: none
 * has a number. */
static void machines_fill_grid(struct machines_grid *g, const struct results_median *medians,
                               size_t count) {
  struct machines *m = g->machines;
  double *sums = g->grid;
  size_t *counts = g->cell_counts;
  memset(sums, 0, machines_cell_count(m) * sizeof *sums);
  memset(counts, 0, machines_cell_count(m) * sizeof *counts);
  for (size_t i = 0; i < count; i++) {
    if (results_counts(&medians[i])) {
      const size_t run = medians[i].run;
      const size_t cell = g->node_of[run] * m->period_count + machines_period_of(g, run);
      sums[cell] += log(medians[i].ns);
      counts[cell]++;
    }
  }
  for (size_t c = 0; c < machines_cell_count(m); c++) {
    sums[c] = counts[c] > 0 ? sums[c] / (double)counts[c] : NAN;
  }
}

/* The median of each period over the machines; of too few machines the case's own. Returns that
 * one. */
static double machines_find_usual(struct machines_grid *g) {
  const struct machines *m = g->machines;
  size_t all = 0;
  for (size_t c = 0; c < machines_cell_count(m); c++) {
    if (!isnan(g->grid[c])) {
      g->values[all++] = g->grid[c];
    }
  }
  const double own = sample_median_in_place(g->values, all);
  for (size_t p = 0; p < m->period_count; p++) {
    size_t count = 0;
    for (size_t n = 0; n < m->node_count; n++) {
      const double value = g->grid[n * m->period_count + p];
      if (!isnan(value)) {
        g->values[count++] = value;
      }
    }
    g->usual[p] = count >= PEERS_MIN ? sample_median_in_place(g->values, count) : own;
  }
  return own;
}

static void machines_add_case(struct machines_grid *g, size_t bench,
                              const struct results_median *medians, size_t count) {
  struct machines *m = g->machines;
  machines_fill_grid(g, medians, count);
  const double own = machines_find_usual(g);
  const size_t block = g->block_of[bench];
  for (size_t c = 0; c < machines_cell_count(m); c++) {
    if (!isnan(g->grid[c])) {
      m->blocks[block].values[c] += own - g->grid[c];
      g->counts[block * machines_cell_count(m) + c]++;
    }
  }
  for (size_t i = 0; i < count; i++) {
    if (results_counts(&medians[i])) {
      struct results_median *added = &g->beside.medians[g->beside.median_count++];
      *added = medians[i];
      added->ns = exp(log(medians[i].ns) - g->usual[machines_period_of(g, medians[i].run)] + own);
    }
  }
}

bool machines_have_peers(const struct machines *m) {
  return m->node_count >= PEERS_MIN;
}

/* Changes of a driver are common to machines that are compared with each other. */
static void machines_begin_beside(struct machines_grid *g) {
  const struct results *results = g->results;
  g->beside = *results;
  g->beside.median_count = 0;
  g->beside.medians = arena_array(&g->scratch, results->median_count, sizeof *g->beside.medians);
  if (machines_have_peers(g->machines)) {
    struct results_environment *environments =
        arena_array(&g->scratch, results->environment_count, sizeof *environments);
    for (size_t e = 0; e < results->environment_count; e++) {
      environments[e] = results->environments[e];
      environments[e].driver_version = NULL;
    }
    g->beside.environments = environments;
  }
}

static void machines_add_cases(struct machines_grid *g) {
  const struct results *results = g->results;
  struct machines *m = g->machines;
  machines_begin_beside(g);
  g->grid = arena_array(&g->scratch, machines_cell_count(m), sizeof *g->grid);
  g->values = arena_array(&g->scratch, machines_cell_count(m) + 1, sizeof *g->values);
  g->usual = arena_array(&g->scratch, m->period_count, sizeof *g->usual);
  g->cell_counts = arena_array(&g->scratch, machines_cell_count(m), sizeof *g->cell_counts);
  FOR_EACH_GROUP(first, last, results->median_count,
                 results->medians[last].bench == results->medians[first].bench) {
    machines_add_case(g, results->medians[first].bench, results->medians + first, last - first);
  }
}

static void machines_find_bands(struct machines_grid *g) {
  struct machines *m = g->machines;
  for (size_t b = 0; b < m->block_count; b++) {
    struct machines_block *block = &m->blocks[b];
    for (size_t c = 0; c < machines_cell_count(m); c++) {
      const size_t count = g->counts[b * machines_cell_count(m) + c];
      block->values[c] = count > 0 ? expm1(block->values[c] / (double)count) : NAN;
    }
    for (size_t p = 0; p < m->period_count; p++) {
      size_t count = 0;
      for (size_t n = 0; n < m->node_count; n++) {
        const double value = block->values[n * m->period_count + p];
        if (!isnan(value)) {
          g->values[count++] = value;
        }
      }
      block->bands[p] = (struct machines_band){NAN, NAN, NAN};
      if (count > 0) {
        sample_sort(g->values, count);
        block->bands[p] =
            (struct machines_band){g->values[count / 10], sorted_quantile(g->values, count, 0.5),
                                   g->values[count - 1 - count / 10]};
      }
    }
  }
}

/* ---- steps ---- */

static bool machines_is_step(const struct machines_grid *g, const struct history_series *series,
                             const struct history_point *point) {
  const struct results_case *bench = &g->results->cases[series->bench];
  switch (point->mark) {
  case HISTORY_CHANGE:
  case HISTORY_DRIFT:
  case HISTORY_LATEST:
    return true;
  case HISTORY_DRIVER:
    return point->p < DRIVER_P && fabs(point->change) > figure_margin(bench, 0, NULL);
  case HISTORY_NO_MARK:
  case history_mark_name_count:
    break;
  }
  return false;
}

/* A change of the figure as one of speed. */
static double machines_speed_change(const struct history_series *series, double change) {
  return figure_is_rate(series->figure) ? change : 1 / (1 + change) - 1;
}

/* A mark of history.h in one case. */
struct machines_mark {
  size_t node, run, from, until, bench;
  double change;
  const char *what;
  bool drift;
};

ORDER_DEFINE(machines_compare_marks, struct machines_mark, ORDER(x->node, y->node) ?: ORDER(x->change > 0, y->change > 0) ?: ORDER(x->run, y->run))

static void machines_add_step(struct machines_grid *g, const struct machines_mark *marks,
                              size_t count) {
  struct machines *m = g->machines;
  struct machines_step step = {.node = marks[0].node,
                               .from = marks[0].from,
                               .until = marks[0].until,
                               .case_count = count,
                               .gpus = UINT64_MAX,
                               .what = marks[0].what,
                               .slow_drift = marks[0].drift,
                               .run = marks[0].run,
                               .blocks = ""};
  double *changes = arena_array(&g->scratch, count, sizeof *changes);
  bool *named = arena_array(&m->arena, m->block_count, sizeof *named);
  size_t blocks = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t block = g->block_of[marks[i].bench];
    changes[i] = marks[i].change;
    step.gpus &= g->results->cases[marks[i].bench].gpus;
    /* The narrowest: what all of them allow. */
    step.from =
        marks[i].from > step.from && marks[i].from <= step.until ? marks[i].from : step.from;
    step.until =
        marks[i].until < step.until && marks[i].until >= step.from ? marks[i].until : step.until;
    if (!named[block] && ++blocks <= BLOCKS_NAMED) {
      step.blocks = arena_add_word(&m->arena, step.blocks, m->blocks[block].name);
    }
    named[block] = true;
  }
  if (blocks > BLOCKS_NAMED) {
    step.blocks = arena_format(&m->arena, "%s and %zu more", step.blocks, blocks - BLOCKS_NAMED);
  }
  step.in = named;
  step.change = sample_median_in_place(changes, count);
  step.what = step.what != NULL ? arena_strdup(&m->arena, step.what) : NULL;
  *ARENA_ADD(&m->arena, m->steps, m->step_count) = step;
}

/* Slower before faster, and what is most in most cases first. */
static double machines_step_cost(const struct machines_step *step) {
  return step->change * (step->change < 0 ? 1e6 : -1) * sqrt((double)step->case_count);
}

ORDER_DEFINE(machines_compare_steps, struct machines_step,
             ORDER(machines_step_cost(x), machines_step_cost(y)) ?: ORDER(x->run, y->run))

/* Marks of one machine and direction that lie together are one step. */
static void machines_join_marks(struct machines_grid *g, struct machines_mark *marks,
                                size_t count) {
  struct machines *m = g->machines;
  ORDER_SORT(marks, count, machines_compare_marks);
  for (size_t first = 0; first < count;) {
    size_t last = first + 1;
    size_t until = marks[first].until;
    while (last < count && marks[last].node == marks[first].node &&
           (marks[last].change > 0) == (marks[first].change > 0) && marks[last].from <= until + 1) {
      until = marks[last].until > until ? marks[last].until : until;
      last++;
    }
    machines_add_step(g, marks + first, last - first);
    first = last;
  }
  ORDER_SORT(m->steps, m->step_count, machines_compare_steps);
}

/* The points [first, last) have one level beside the others: their cells get it where it is the
 * lowest. */
static void machines_mark_cells(struct machines_grid *g, const struct history_series *series,
                                size_t first, size_t last) {
  struct machines *m = g->machines;
  const struct results_case *bench = &g->results->cases[series->bench];
  double *levels = arena_array(&g->scratch, last - first, sizeof *levels);
  for (size_t i = first; i < last; i++) {
    levels[i - first] = series->points[i].value;
  }
  const double value = sample_median_in_place(levels, last - first);
  const double usual = g->levels[series->bench];
  const double level = figure_is_rate(series->figure) ? value / usual - 1 : usual / value - 1;
  const double margin = figure_margin(bench, 0, NULL);
  for (size_t i = first; i < last; i++) {
    const size_t run = series->points[i].run;
    struct machines_cell *cell =
        &m->cells[g->node_of[run] * m->period_count + machines_period_of(g, run)];
    if (level < 0 && level / margin < (cell->margin > 0 ? cell->level / cell->margin : 0)) {
      cell->level = level;
      cell->margin = margin;
      cell->bench = series->bench;
    }
  }
}

static void machines_find_steps(struct machines_grid *g) {
  struct history *history = history_new(&g->beside);
  struct machines_mark *marks = NULL;
  size_t count = 0;
  for (size_t s = 0; s < history->series_count; s++) {
    const struct history_series *series = &history->series[s];
    size_t first = 0;
    for (size_t i = 0; i < series->point_count; i++) {
      const struct history_point *point = &series->points[i];
      if (!machines_is_step(g, series, point)) {
        continue;
      }
      const bool drift = point->mark == HISTORY_DRIFT;
      const size_t since = drift || point->since == 0 || point->since == point->until
                               ? point->since
                               : point->since - 1;
      *ARENA_ADD(&g->scratch, marks, count) =
          (struct machines_mark){.node = g->node_of[point->run],
                                 .run = point->run,
                                 .from = machines_period_of(g, series->points[since].run),
                                 .until = machines_period_of(g, series->points[point->until].run),
                                 .bench = series->bench,
                                 .change = machines_speed_change(series, point->change),
                                 .what = point->what,
                                 .drift = drift};
      machines_mark_cells(g, series, first, i);
      first = i;
    }
    machines_mark_cells(g, series, first, series->point_count);
  }
  machines_join_marks(g, marks, count);
  history_free(history);
}

/* The figure that is usual of each case, for machines_mark_cells(). */
static void machines_find_levels(struct machines_grid *g) {
  const struct results *beside = &g->beside;
  g->levels = arena_array(&g->scratch, beside->case_count, sizeof *g->levels);
  double *values = arena_array(&g->scratch, beside->median_count, sizeof *values);
  FOR_EACH_GROUP(first, last, beside->median_count,
                 beside->medians[last].bench == beside->medians[first].bench) {
    const size_t bench = beside->medians[first].bench;
    for (size_t i = first; i < last; i++) {
      values[i - first] = beside->medians[i].ns;
    }
    g->levels[bench] =
        figure_value(&beside->cases[bench], sample_median_in_place(values, last - first));
  }
}

const char *machines_place(struct arena *arena, const struct machines *m,
                           const struct machines_step *step) {
  const bool one = step->gpus != 0 && (step->gpus & (step->gpus - 1)) == 0;
  return one ? arena_format(arena, "gpu%d of %s", __builtin_ctzll(step->gpus), m->nodes[step->node])
             : m->nodes[step->node];
}

const struct machines_cell *machines_last_cell(const struct machines *m, size_t node) {
  for (size_t p = m->period_count; p-- > 0;) {
    const struct machines_cell *cell = &m->cells[node * m->period_count + p];
    if (cell->ran) {
      return cell;
    }
  }
  return NULL;
}

struct machines *machines_new(const struct results *results) {
  struct machines *machines = memory_new(1, sizeof *machines);
  struct machines_grid g = {.results = results, .machines = machines};
  if (results->run_count > 0) {
    machines_find_nodes(&g);
    machines_find_periods(&g);
    machines_find_blocks(&g);
    machines_add_cases(&g);
    machines_find_bands(&g);
    machines_find_levels(&g);
    machines_find_steps(&g);
    machines_find_upgrades(machines, results, g.node_of);
  }
  arena_fini(&g.scratch);
  return machines;
}

void machines_free(struct machines *machines) {
  if (machines != NULL) {
    arena_fini(&machines->arena);
    free(machines);
  }
}
