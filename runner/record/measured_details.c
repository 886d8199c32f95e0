/* measured_details.c - what the index of medians does not have: errors, tails and undisturbed
 * rates. */
#include "engine/base/strbuf.h"
#include "runner/record/measured.h"
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
enum status measured_load_errors(struct measured *measured, struct database *database,
                                 struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  SCOPED(statement_finalize) struct statement statement = {0};
  if (measured->has_errors) {
    return STATUS_OK;
  }
  size_t *next = arena_array(&arena, measured->case_count + 1, sizeof *next); /* median, by case */
  for (size_t i = measured->median_count; i-- > 0;) {
    next[measured->medians[i].bench] = i;
  }
  SCOPED(strbuf_fini) struct strbuf runs = STRBUF(MEASURED_LIST_MAX);
  measured_run_ids(measured, &runs);
  enum status status = statement_prepare(database, "compare/errors", &statement, err);
  statement_bind_text(&statement, ":runs", runs.text);
  struct error_row row;
  while (rows_next(&statement, ERROR_MEMBERS, &row, NULL, &status, err)) {
    const bool known = row.bench_case >= 0 && row.bench_case < measured->case_ids_end;
    const uint32_t number = known ? measured->case_numbers[row.bench_case] : 0;
    if (number == 0) {
      continue;
    }
    const struct measured_median *medians = measured->medians;
    size_t *m = &next[number - 1];
    while (*m < measured->median_count && medians[*m].bench == number - 1 &&
           (measured->runs[medians[*m].run].ref.id < row.run ||
            (measured->runs[medians[*m].run].ref.id == row.run &&
             medians[*m].process < row.process))) {
      (*m)++;
    }
    if (*m < measured->median_count && medians[*m].bench == number - 1 &&
        medians[*m].process == row.process) {
      measured->medians[*m].error = row.error;
      measured->medians[*m].tail = row.tail;
    }
  }
  measured->has_errors = status == STATUS_OK;
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

ORDER_DEFINE(measured_compare_visited, struct visited,
             ORDER(x->bench, y->bench) ?: ORDER(x->process, y->process))

enum status measured_load_undisturbed(struct measured *measured, struct database *database,
                                      struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  SCOPED(strbuf_fini) struct strbuf runs = STRBUF(MEASURED_LIST_MAX);
  struct visited *visited = NULL; /* sorted */
  size_t count = 0;
  measured_run_ids(measured, &runs);
  RETURN_ON_ERROR(DATABASE_READ_ALL(database, "compare/undisturbed",
                                    PARAMETERS(PARAMETER(":runs", runs.text)), VISITED_MEMBERS,
                                    &arena, visited, count, err));
  for (size_t i = 0; i < measured->median_count && count > 0; i++) {
    struct measured_median *median = &measured->medians[i];
    const struct visited wanted = {measured->cases[median->bench].id, median->process, 0};
    const struct visited *found =
        bsearch(&wanted, visited, count, sizeof *visited, measured_compare_visited);
    median->undisturbed_ns = found != NULL ? found->ns : median->undisturbed_ns;
  }
  return STATUS_OK;
}
