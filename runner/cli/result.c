#include "runner/cli/result.h"

#include "runner/record/query.h"
#include "runner/render/run_result.h"

#include <stdlib.h>
#include <string.h>

enum { DUPLICATES_SHOWN_MAX = 5 };

/* Skipped cases that share a reason. */
struct skipped {
  const char *reason;
  size_t count;
  const char *block; /* NULL = of several blocks */
};

static size_t group_skipped(const struct plan *plan, struct skipped *groups) {
  size_t group_count = 0;
  for (size_t i = 0; i < plan->case_count; i++) {
    const struct plan_case *item = &plan->cases[i];
    if (item->skip_reason == NULL) {
      continue;
    }
    size_t g = 0;
    while (g < group_count && strcmp(groups[g].reason, item->skip_reason) != 0) {
      g++;
    }
    if (g == group_count) {
      groups[group_count++] = (struct skipped){item->skip_reason, 0, item->bench.block};
    }
    groups[g].count++;
    if (groups[g].block != NULL && strcmp(groups[g].block, item->bench.block) != 0) {
      groups[g].block = NULL;
    }
  }
  return group_count;
}

static void show_skipped(const struct common_options *common, const struct plan *plan) {
  struct skipped *groups = calloc(plan->skip_count + 1, sizeof *groups);
  if (groups == NULL) {
    abort();
  }
  size_t group_count = group_skipped(plan, groups);
  for (size_t i = 0; i < group_count; i++) {
    say_note(common, "skipped %zu %s%s%s: %s", groups[i].count,
             groups[i].count == 1 ? "case" : "cases", groups[i].block != NULL ? " of " : "",
             groups[i].block != NULL ? groups[i].block : "", groups[i].reason);
  }
  free(groups);
}

/* Cases that a name of this run asks for twice: measured under the first. */
static void show_duplicates(const struct common_options *common, const struct plan *plan) {
  for (size_t i = 0; i < plan->duplicate_count; i++) {
    if (i == DUPLICATES_SHOWN_MAX && plan->duplicate_count > DUPLICATES_SHOWN_MAX + 1) {
      say_note(common, "and %zu more", plan->duplicate_count - i);
      return;
    }
    say_note(common, "%s is the same measurement as %s", plan->duplicates[i].name,
             plan->duplicates[i].same_as);
  }
}

/* For people: matrices and tables. */
static enum status show_blocks(struct query *query, const struct common_options *common,
                               const struct query_parameter *run, struct error *err) {
  const struct style style = {stdout, terminal_width(stdout), use_colour(common, stdout), NULL};
  struct run_rows cases;
  struct run_rows flows;
  run_rows_init(&cases);
  run_rows_init(&flows);
  enum status status = query_run_saved(query, "run-result", run, 1, NULL, &cases.sink, err);
  if (status == STATUS_OK && common->verbose) {
    status = query_run_saved(query, "run-flows", run, 1, NULL, &flows.sink, err);
  }
  if (status == STATUS_OK) {
    status = run_result_print(&cases, common->verbose ? &flows : NULL, &style, err);
  }
  run_rows_fini(&cases);
  run_rows_fini(&flows);
  return status;
}

/* The run's sweeps. */
static enum status show_curves(struct query *query, const struct run_request *request,
                               const struct query_parameter *run, struct error *err) {
  struct curves *curves =
      open_curves(request->common, &request->plot, "nothing to draw: no block is a sweep");
  (void)putchar('\n');
  enum status status = query_run_saved(query, "curves", run, 1, NULL, curves_sink(curves), err);
  curves_free(curves);
  return status;
}

/* Where the wall time went, on stderr: it is about the run, not its result. */
static enum status show_times(struct query *query, const struct common_options *common,
                              const struct query_parameter *run, struct error *err) {
  const struct rows_options options = {.format = ROW_TABLE,
                                       .stream = stderr,
                                       .width = terminal_width(stderr),
                                       .colour = use_colour(common, stderr)};
  struct rows *rows = rows_new(&options);
  enum status status = query_run_saved(query, "run-time", run, 1, NULL, rows_sink(rows), err);
  rows_free(rows);
  return status;
}

int result_show(const struct run_request *request, const struct plan *plan, const char *uuid) {
  const struct common_options *common = request->common;
  struct error err = {0};
  struct query *query = NULL;
  char run[64];
  snprintf(run, sizeof run, "run:%s", uuid);
  const struct query_parameter parameter = {"run", run};
  enum status status = query_open(request->database, &query, &err);
  if (status == STATUS_OK) {
    status = common->format == ROW_TABLE
                 ? show_blocks(query, common, &parameter, &err)
                 : query_run_saved(query, "run-result", &parameter, 1, NULL, request->result, &err);
  }
  if (status == STATUS_OK && request->plot.wanted) {
    status = show_curves(query, request, &parameter, &err);
  }
  (void)fflush(stdout);
  if (status == STATUS_OK && common->verbose) {
    status = show_times(query, common, &parameter, &err);
  }
  query_close(query);
  if (status != STATUS_OK) {
    return worse(fail(common, &err), EXIT_NOT_MEASURED);
  }
  show_skipped(common, plan);
  show_duplicates(common, plan);
  say_note(common, "run %s of %s is in %s", uuid, plan->scenario->name, request->database);
  return EXIT_DONE;
}
