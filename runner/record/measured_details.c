/* measured_details.c - what the index of medians does not have: errors, tails and undisturbed
 * rates. */
#include "engine/base/strbuf.h"
#include "runner/record/database.h"
#include "runner/record/measured.h"

#include "engine/base/order.h"

#include <stdlib.h>

/* In the order of runs, which is that of the rows in the file: to look each up by its case costs
 * three times as much. */
enum status measured_load_errors(struct measured *measured, struct database *database,
                                 struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct statement statement;
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
  while (statement_next(&statement, &status, err)) {
    const int64_t bench = sqlite3_column_int64(statement.stmt, 1);
    const uint32_t number =
        bench >= 0 && bench < measured->case_ids_end ? measured->case_numbers[bench] : 0;
    if (number == 0) {
      continue;
    }
    const int64_t run = sqlite3_column_int64(statement.stmt, 0);
    const int64_t process = sqlite3_column_int64(statement.stmt, 2);
    const struct measured_median *medians = measured->medians;
    size_t *m = &next[number - 1];
    while (*m < measured->median_count && medians[*m].bench == number - 1 &&
           (measured->runs[medians[*m].run].ref.id < run ||
            (measured->runs[medians[*m].run].ref.id == run && medians[*m].process < process))) {
      (*m)++;
    }
    if (*m < measured->median_count && medians[*m].bench == number - 1 &&
        medians[*m].process == process) {
      measured->medians[*m].error = sqlite3_column_double(statement.stmt, 3);
      measured->medians[*m].tail = sqlite3_column_double(statement.stmt, 4);
    }
  }
  statement_finalize(&statement);
  measured->has_errors = status == STATUS_OK;
  return status;
}

struct visited {
  int64_t bench, process;
  double ns;
};

ORDER_DEFINE(measured_compare_visited, struct visited,
             ORDER(x->bench, y->bench) ?: ORDER(x->process, y->process))

enum status measured_load_undisturbed(struct measured *measured, struct database *database,
                                      struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  SCOPED(arena_fini) struct arena arena = {0};
  struct visited *visited = NULL; /* sorted */
  size_t count = 0;
  size_t capacity = 0;
  SCOPED(strbuf_fini) struct strbuf runs = STRBUF(MEASURED_LIST_MAX);
  measured_run_ids(measured, &runs);
  enum status status = statement_prepare(database, "compare/undisturbed", &statement, err);
  statement_bind_text(&statement, ":runs", runs.text);
  while (statement_next(&statement, &status, err)) {
    *ARENA_ADD(&arena, visited, count, &capacity) = (struct visited){
        sqlite3_column_int64(statement.stmt, 0), sqlite3_column_int64(statement.stmt, 1),
        sqlite3_column_double(statement.stmt, 2)};
  }
  for (size_t i = 0; i < measured->median_count && count > 0; i++) {
    struct measured_median *median = &measured->medians[i];
    const struct visited wanted = {measured->cases[median->bench].id, median->process, 0};
    const struct visited *found =
        bsearch(&wanted, visited, count, sizeof *visited, measured_compare_visited);
    median->undisturbed_ns = found != NULL ? found->ns : median->undisturbed_ns;
  }
  return status;
}
