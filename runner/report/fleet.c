/* fleet.c - what is known of a fleet. */
#include "runner/render/page/page_fleet.h"
#include "runner/report/report.h"

#include <string.h>

struct fleet {
  const struct fleet_request *request;
  struct arena arena;
  struct results *results;
  enum side *sides; /* by run: B is the fleet, A the one before */
  struct outliers *now, *changes;
  struct fleet_findings found;
};

static enum status fleet_add_runs(struct fleet *f, const struct run_ref *runs, size_t count,
                                  struct error *err) {
  return results_add_runs(f->results, query_database(f->request->query), runs, count, err);
}

static enum status fleet_select(struct fleet *f, struct error *err) {
  const struct fleet_request *request = f->request;
  RETURN_ON_ERROR(fleet_add_runs(f, request->before, request->before_count, err));
  const size_t before = f->results->run_count;
  RETURN_ON_ERROR(request->run_count > 0
                      ? fleet_add_runs(f, request->runs, request->run_count, err)
                      : results_add_all_runs(f->results, query_database(request->query), err));
  if (f->results->run_count == before) {
    return error_set(err, STATUS_NOT_FOUND, "the database has no runs yet");
  }
  f->sides = arena_array(&f->arena, f->results->run_count, sizeof *f->sides);
  for (size_t i = 0; i < f->results->run_count; i++) {
    f->sides[i] = i < before ? SIDE_A : SIDE_B;
  }
  f->found.before = before == 0                    ? NULL
                    : request->before_name != NULL ? request->before_name
                                                   : f->results->runs[0].fleet;
  f->found.name = f->results->runs[f->results->run_count - 1].fleet;
  return STATUS_OK;
}

static enum status fleet_load(struct fleet *f, struct error *err) {
  struct database *database = query_database(f->request->query);
  struct outliers_options options = {
      .latest_only = true, .slow_only = true, .cells = true, .sides = f->sides};
  RETURN_ON_ERROR(fleet_select(f, err));
  RETURN_ON_ERROR(results_load(f->results, database, NULL, err));
  RETURN_ON_ERROR(results_load_errors(f->results, database, err));
  options.sides = f->sides;
  RETURN_ON_ERROR(outliers_find(f->results, &options, &f->now, err));
  if (f->found.before != NULL) {
    options.changes = true;
    RETURN_ON_ERROR(outliers_find(f->results, &options, &f->changes, err));
  }
  if (f->found.name != NULL) {
    const struct query_parameter fleet = {"fleet", f->found.name};
    RETURN_ON_ERROR(
        query_run_saved(f->request->query, "nodes", &fleet, 1, NULL, &f->found.nodes.sink, err));
    RETURN_ON_ERROR(query_run_saved(f->request->query, "node-reasons", &fleet, 1, NULL,
                                    &f->found.reasons.sink, err));
  }
  f->found.absent = SUM_OF(i, f->found.nodes.row_count,
                           strcmp(result_set_text(&f->found.nodes, i, "state"), "ok") != 0);
  return STATUS_OK;
}

enum status fleet_report_print(const struct fleet_request *request, FILE *page, struct error *err) {
  struct fleet f = {.request = request, .results = results_new()};
  result_set_init(&f.found.nodes, SIZE_MAX);
  result_set_init(&f.found.reasons, SIZE_MAX);
  enum status status = fleet_load(&f, err);
  f.found.results = f.results;
  f.found.now = f.now;
  f.found.changes = f.changes;
  if (status == STATUS_OK && f.now->cases == 0) {
    status = error_set(err, STATUS_UNSUPPORTED,
                       "nothing can be compared: no three results of these runs are peers");
  }
  status = THEN(status, page_fleet(page, &f.found, request->haul_version, err));
  outliers_free(f.changes);
  outliers_free(f.now);
  result_set_fini(&f.found.reasons);
  result_set_fini(&f.found.nodes);
  results_free(f.results);
  arena_fini(&f.arena);
  return status;
}
