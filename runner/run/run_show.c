#include "runner/run/run_internal.h"

#include "engine/base/clock.h"
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "engine/cuda/driver.h"
#include "engine/machine/machine.h"
#include "runner/record/query.h"
#include "runner/record/saved.h"
#include "runner/run/expectations.h"

#include <stdio.h>
#include <string.h>

enum { CASES_SHOWN_MAX = 2000 }; /* by themselves, to people; of more, their blocks */

/* "next: haul query --saved energy --plot" */
static void run_show_queries(const struct common_options *common, const char *scenario) {
  SCOPED(arena_fini) struct arena arena = {0};
  const char *names = "";
  const char *drawn = "";
  size_t count = 0;
  for (size_t i = 0; i < saved_query_count(); i++) {
    struct saved_query saved;
    saved_query_at(i, &arena, &saved);
    if (saved_query_is_of(&saved, scenario)) {
      names = arena_add_word(&arena, names, saved.name);
      drawn = saved.plot_count > 0 ? arena_add_word(&arena, drawn, saved.name) : drawn;
      count++;
    }
  }
  if (count == 1) {
    say_next(common, "haul query --saved %s%s%s", names, console_db_option(common, &arena),
             drawn[0] != '\0' ? " --plot" : "");
  } else if (count > 1) {
    say_note(common, "next: haul query --saved NAME%s; NAME: %s%s%s",
             console_db_option(common, &arena), names, drawn[0] != '\0' ? "; with --plot: " : "",
             drawn);
  }
}

/* For people, where the cases are more than anybody reads: a line for each block. */
static enum status run_show_summary(struct query *query, const struct run_state *state,
                                    const struct common_options *common,
                                    const struct query_parameter *run, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  const struct table_options options = table_to_stdout(common);
  struct table *rows = table_new(&options);
  enum status status = query_run_saved(query, "run-blocks", run, 1, NULL, table_sink(rows), err);
  status = THEN(status, table_end_all(rows, err));
  table_free(rows);
  (void)fflush(stdout);
  say_note(common,
           "of %zu cases the blocks are shown; all of them: haul query --saved run-result --param "
           "run=%.17s%s",
           state->plan->case_count, run->value, console_db_option(common, &arena));
  return status;
}

static enum status run_show_curves(struct query *query, const struct run_request *request,
                                   const struct query_parameter *run, struct error *err) {
  struct curves *curves =
      plot_open(request->common, &request->plot, "nothing to draw: no block is a sweep");
  (void)putchar('\n');
  enum status status = query_run_saved(query, "curves", run, 1, NULL, curves_sink(curves), err);
  curves_free(curves);
  return status;
}

/* Commands to go on with, one to a line: what measures the rest, or what reads the results. */
static void run_show_next(const struct run_state *state, const struct common_options *common,
                          const char *resume) {
  SCOPED(arena_fini) struct arena arena = {0};
  const char *db = console_db_option(common, &arena);
  if (resume != NULL) {
    say_next(common, "%s", resume);
    return;
  }
  if (state->counts[CASE_OK] > 0) {
    run_show_queries(common, state->plan->scenario->name);
    say_next(common, "haul report run.html%s", db);
  }
  if (state->done > state->counts[CASE_SKIPPED]) {
    say_next(common, "haul explain%s", db);
  }
  if (state->counts[CASE_SKIPPED] > 0 &&
      strncmp(state->plan->machine->cuda_state, CUDA_NO_DRIVER, strlen(CUDA_NO_DRIVER)) == 0) {
    say_next(common, "tests/fake_cuda/README.md: try haul without a GPU, with its fake driver");
  }
}

/* "51 ok, 1 hung, 20 not measured (12 cases x 6 processes), 3 skipped in 3.1 s"; of a resumed run
 * "48 measured now in 3.1 s; in all 78 ok". A case that the plan skips counts once. */
static void run_describe_counts(const struct run_state *state, char *text, size_t size) {
  static const enum case_status ORDER[] = {CASE_OK, CASE_FAILED, CASE_CRASHED, CASE_HUNG,
                                           CASE_CORRUPT};
  _Static_assert(COUNT_OF(ORDER) + 1 == case_status_name_count, "every status is said");
  size_t length = 0;
  const char *time = units_format_duration_short(clock_now_ns() - state->started_ns, UNITS_TEXT);
  if (state->resumed) {
    length += (size_t)snprintf(text, size, "%zu measured now in %s; in all ", state->done, time);
  }
  const size_t first = length;
  for (size_t i = 0; i < COUNT_OF(ORDER); i++) {
    const size_t count = state->counts[ORDER[i]];
    if (count > 0 || ORDER[i] == CASE_OK) {
      length += (size_t)snprintf(text + length, size - length, "%s%zu %s",
                                 length > first ? ", " : "", count, case_status_text(ORDER[i]));
    }
  }
  if (state->done < state->total) {
    length += (size_t)snprintf(text + length, size - length, ", %zu not measured",
                               state->total - state->done);
  }
  const struct plan *plan = state->plan;
  const size_t cases = plan->case_count - plan->skip_count;
  if (plan->scenario->run.processes > 1 && cases > 0) { /* each process measures each case */
    length +=
        (size_t)snprintf(text + length, size - length, " (%zu %s x %u processes)", cases,
                         strings_plural(cases, "case", "cases"), plan->scenario->run.processes);
  }
  if (state->counts[CASE_SKIPPED] > 0) {
    length += (size_t)snprintf(text + length, size - length, ", %zu skipped",
                               state->counts[CASE_SKIPPED]);
  }
  if (!state->resumed) {
    (void)snprintf(text + length, size - length, " in %s", time);
  }
}

int run_show(const struct run_state *state, const char *uuid, const char *resume) {
  const struct run_request *request = state->request;
  const struct plan *plan = state->plan;
  /* Commands to go on with name the shard as they do a database that was given. */
  struct common_options for_shard = *request->common;
  const struct common_options *common = request->common;
  if (request->shard != NULL) {
    for_shard.db = shard_path(request->shard);
    common = &for_shard;
  }
  const char *database = state->place != NULL ? state->place : request->database;
  char counts[256];
  struct error err = {0};
  struct query *query = NULL;
  char run[80];
  snprintf(run, sizeof run, "run:%s", uuid);
  const struct query_parameter parameter = {"run", run};
  /* An interrupted run shows its results; an interrupt from here on ends this.
   */
  const struct query_options options = {
      .interrupted = *request->interrupted == 0 ? request->interrupted : NULL};
  SCOPED(arena_fini) struct arena arena = {0};
  const struct result_view view = {
      common,
      request->expectations,
      request->result,
      request->sums,
      .brief = true,
      .scenario = plan->scenario,
      .skipped_command =
          arena_format(&arena, "haul query --saved skipped%s", console_db_option(common, &arena))};
  enum status status = query_open(database, &query, &err);
  const bool many = plan->case_count > CASES_SHOWN_MAX;
  if (status == STATUS_OK && many && output_layout_of(common->format) == LAYOUT_PAGE) {
    status = run_show_summary(query, state, common, &parameter, &err);
  } else {
    status = THEN(status, expectations_show_run(&view, query, run, &options, &err));
  }
  if (status == STATUS_OK && request->plot.wanted) {
    status = run_show_curves(query, request, &parameter, &err);
  }
  (void)fflush(stdout);
  if (status == STATUS_OK && common->verbose) {
    status = expectations_show_times(common, query, run, &err);
  }
  query_close(query);
  if (status != STATUS_OK) {
    (void)error_prefix(&err,
                       "run %lld is recorded in %s, but not shown: ", (long long)state->number,
                       request->shard != NULL ? shard_path(request->shard) : database);
    return worse(fail(common, &err), EXIT_NOT_MEASURED);
  }
  run_describe_counts(state, counts, sizeof counts);
  say_note(common, "%s; run %lld%s of %s is in %s", counts, (long long)state->number,
           common->verbose ? arena_around(&arena, " (", uuid, ")") : "", plan->scenario->name,
           request->shard != NULL ? shard_path(request->shard) : database);
  run_show_next(state, common, resume);
  return EXIT_DONE;
}
