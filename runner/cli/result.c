#include "runner/cli/result.h"

#include "runner/record/query.h"

#include <stdlib.h>
#include <string.h>

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

int result_show(const struct run_request *request, const struct plan *plan, const char *uuid) {
  struct error err = {0};
  struct query *query = NULL;
  char run[64];
  snprintf(run, sizeof run, "run:%s", uuid);
  const struct query_parameter parameter = {"run", run};
  enum status status = query_open(request->database, &query, &err);
  if (status == STATUS_OK) {
    status = query_run_saved(query, "run-table", &parameter, 1, NULL, request->result, &err);
  }
  query_close(query);
  (void)fflush(stdout);
  if (status != STATUS_OK) {
    return worse(fail(request->common, &err), EXIT_NOT_MEASURED);
  }
  show_skipped(request->common, plan);
  say_note(request->common, "run %s of %s is in %s", uuid, plan->scenario->name, request->database);
  return EXIT_DONE;
}
