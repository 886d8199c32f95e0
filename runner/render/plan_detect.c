/* plan --detect: how many runs find a change. */
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "runner/analysis/power.h"
#include "runner/document/document.h"
#include "runner/render/plan.h"

#include <math.h>

static void plan_detect_put_delta(struct document *document, const struct power_request *request) {
  struct arena *arena = &document->arena;
  const double least = 100 * request->near_least;
  const double most = 100 * request->near_most;
  document_put(
      document,
      "This needs a threshold of %g %%: haul diff --delta %g. Without it, the threshold %sis %g%s "
      "%%, too close to %g %%.",
      100 * request->delta, 100 * request->delta,
      request->near < request->count
          ? arena_format(arena, "of %zu of the %zu cases ", request->near, request->count)
          : "",
      least, most > least ? arena_format(arena, " to %g", most) : "", 100 * request->change);
}

/* Never rounded up to all cases. */
static double plan_detect_percent(const struct power_way *way) {
  return floor(1000 * way->found) / 10;
}

/* What a share is of: a single case is found in some comparisons, and not in others. */
static const char *plan_detect_whole(struct document *document,
                                     const struct power_request *request) {
  return request->count == 1 ? "comparisons"
                             : arena_format(&document->arena, "the %zu cases", request->count);
}

/* The answer, before the table of all ways. */
static void plan_detect_put_answer(struct document *document, const struct power_request *request) {
  const struct power_way *best = &request->ways[0];
  if (best->runs > 0) {
    document_put(document,
                 "With %u %s of %u %s per side, %g %% of %s would show a change of %g %%. This "
                 "takes about %s per side.",
                 best->runs, strings_plural(best->runs, "run", "runs"), best->processes,
                 strings_plural(best->processes, "process", "processes"), plan_detect_percent(best),
                 plan_detect_whole(document, request), 100 * request->change,
                 units_format_duration_short(best->duration_ns, UNITS_TEXT));
  } else {
    document_put(document,
                 "%d runs per side are not enough to show a change of %g %% in 80 %% of %s.",
                 DIFF_PROCESSES_MAX, 100 * request->change, plan_detect_whole(document, request));
  }
  if (request->delta > 0) {
    plan_detect_put_delta(document, request);
  }
  if (request->recorded == 0) {
    document_put(document, "This assumes a quiet machine, as %s.",
                 !request->has_a          ? "no run is named (--compare A)"
                 : request->runs_of_a > 0 ? "A has one result of each case, which does not tell "
                                            "how they vary"
                                          : "A has no result of these cases");
  } else {
    document_put(document, "This is based on how they varied %s %zu recorded %s%s.",
                 request->spreads.runs > 1 ? "over up to" : "within", request->spreads.runs,
                 strings_plural(request->spreads.runs, "run", "runs"),
                 request->spreads.between_known
                     ? ""
                     : "; runs are taken to differ as much as its processes do");
  }
  if (request->left_out > 0) {
    document_put(
        document,
        "A has no result of %zu more %s, which %s not count. The time is that of all cases.",
        request->left_out, strings_plural(request->left_out, "case", "cases"),
        strings_plural(request->left_out, "does", "do"));
  }
  if (request->runs_of_a > 0 && best->runs > request->runs_of_a) {
    document_put(document, "A has %zu %s: measure %zu more, in turn with B.", request->runs_of_a,
                 strings_plural(request->runs_of_a, "run", "runs"),
                 best->runs - request->runs_of_a);
  }
  document_gap(document);
}

#define DETECT_COLUMNS(X)                                                                          \
  X("processes", integer, way->processes)                                                          \
  X("runs", integer, way->runs > 0 ? way->runs : DIFF_PROCESSES_MAX)                               \
  X("found_percent", real, plan_detect_percent(way))                                               \
  X("duration_s", real, round((double)way->duration_ns / 1e8) / 10)

enum status plan_detect_print(const struct power_request *request,
                              const struct table_options *options, struct error *err) {
  struct document document;
  document_begin(&document, options, err);
  plan_detect_put_answer(&document, request);
  DOCUMENT_COLUMNS(&document, DETECT_COLUMNS, .wraps = true);
  for (const struct power_way *way = request->ways; way < request->ways + POWER_WAYS; way++) {
    DOCUMENT_ROW(&document, DETECT_COLUMNS(COLUMN_CELL));
  }
  document_table_end(&document);
  return document_end(&document);
}
