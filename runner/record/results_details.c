/* results_details.c - what the index of medians does not have: errors, tails, undisturbed rates and
 * durations. */
#include "engine/base/strbuf.h"
#include "runner/record/results.h"
#include "runner/record/rows.h"

#include "engine/base/order.h"

#include <stdlib.h>

struct error_row {
  int64_t run, bench_case, process;
  double error, tail;
};

static const struct row_member ERROR_MEMBERS[] = {
    ROW_MEMBER(struct error_row, run),     ROW_MEMBER(struct error_row, bench_case),
    ROW_MEMBER(struct error_row, process), ROW_MEMBER(struct error_row, error),
    ROW_MEMBER(struct error_row, tail),    {0}};

/* In the order of runs, which is that of the rows in the file: to look each up by its case costs
 * three times as much. */
enum status results_load_errors(struct results *results, struct database *database,
                                struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  SCOPED(statement_finalize) struct statement statement = {0};
  if (results->has_errors) {
    return STATUS_OK;
  }
  size_t *next = arena_array(&arena, results->case_count + 1, sizeof *next); /* median, by case */
  for (size_t i = results->median_count; i-- > 0;) {
    next[results->medians[i].bench] = i;
  }
  SCOPED(strbuf_fini) struct strbuf runs = STRBUF(RESULTS_LIST_MAX);
  results_run_ids(results, &runs);
  enum status status = statement_prepare(database, "compare/errors", &statement, err);
  statement_bind_text(&statement, ":runs", runs.text);
  struct error_row row;
  while (rows_next(&statement, ERROR_MEMBERS, &row, NULL, &status, err)) {
    const bool known = row.bench_case >= 0 && row.bench_case < results->case_ids_end;
    const uint32_t number = known ? results->case_numbers[row.bench_case] : 0;
    if (number == 0) {
      continue;
    }
    const struct results_median *medians = results->medians;
    size_t *m = &next[number - 1];
    while (
        *m < results->median_count && medians[*m].bench == number - 1 &&
        (results->runs[medians[*m].run].ref.id < row.run ||
         (results->runs[medians[*m].run].ref.id == row.run && medians[*m].process < row.process))) {
      (*m)++;
    }
    if (*m < results->median_count && medians[*m].bench == number - 1 &&
        medians[*m].process == row.process) {
      results->medians[*m].error = row.error;
      results->medians[*m].tail = row.tail;
    }
  }
  results->has_errors = status == STATUS_OK;
  return status;
}

struct visited {
  int64_t bench, process;
  double ns;
};

static const struct row_member VISITED_MEMBERS[] = {ROW_COLUMN(struct visited, bench, "bench_case"),
                                                    ROW_MEMBER(struct visited, process),
                                                    ROW_MEMBER(struct visited, ns),
                                                    {0}};

ORDER_DEFINE(results_compare_visited, struct visited,
             ORDER(x->bench, y->bench) ?: ORDER(x->process, y->process))

enum status results_load_undisturbed(struct results *results, struct database *database,
                                     struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  SCOPED(strbuf_fini) struct strbuf runs = STRBUF(RESULTS_LIST_MAX);
  struct visited *visited = NULL; /* sorted */
  size_t count = 0;
  results_run_ids(results, &runs);
  RETURN_ON_ERROR(DATABASE_READ_ALL(database, "compare/undisturbed",
                                    PARAMETERS(PARAMETER(":runs", runs.text)), VISITED_MEMBERS,
                                    &arena, visited, count, err));
  for (size_t i = 0; i < results->median_count && count > 0; i++) {
    struct results_median *median = &results->medians[i];
    const struct visited wanted = {results->cases[median->bench].id, median->process, 0};
    const struct visited *found =
        bsearch(&wanted, visited, count, sizeof *visited, results_compare_visited);
    median->undisturbed_ns = found != NULL ? found->ns : median->undisturbed_ns;
  }
  return STATUS_OK;
}

static const struct row_member DURATION_MEMBERS[] = {ROW_MEMBER(struct results_duration, case_key),
                                                     ROW_MEMBER(struct results_duration, ns),
                                                     ROW_MEMBER(struct results_duration, runs),
                                                     {0}};

enum status results_read_durations(const struct results *results, struct database *database,
                                   struct arena *arena, struct results_duration **durations,
                                   size_t *count, struct error *err) {
  SCOPED(strbuf_fini) struct strbuf runs = STRBUF(RESULTS_LIST_MAX);
  struct results_duration *read = NULL;
  size_t read_count = 0;
  results_run_ids(results, &runs);
  RETURN_ON_ERROR(DATABASE_READ_ALL(database, "compare/durations",
                                    PARAMETERS(PARAMETER(":runs", runs.text)), DURATION_MEMBERS,
                                    arena, read, read_count, err));
  *durations = read;
  *count = read_count;
  return STATUS_OK;
}
