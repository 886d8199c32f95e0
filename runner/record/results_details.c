/* results_details.c - what the index of medians does not have: errors, tails, undisturbed rates and
 * durations. */
#include "engine/base/strbuf.h"
#include "runner/record/results.h"
#include "runner/record/rows.h"

#include "engine/base/order.h"

#include <stdlib.h>

struct error_reading {
  struct results *results;
  size_t *firsts; /* medians: by case the first one, and their end */
  size_t *next;   /* the one that the next row is likely of: most come in the order of medians */
};

/* Of a median: whether it comes before that run and process (below 0), or is of it. */
static int errors_compare(const struct results *results, const struct results_median *median,
                          int64_t run, int64_t process) {
  return ORDER(results->runs[median->run].ref.id, run) ?: ORDER(median->process, process);
}

/* The first median of the case, from `first` to `last`, that does not come before. */
static size_t errors_search(const struct results *results, size_t first, size_t last, int64_t run,
                            int64_t process) {
  while (first < last) {
    const size_t middle = (first + last) / 2;
    if (errors_compare(results, &results->medians[middle], run, process) < 0) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

static void errors_take(void *context, sqlite3_value **row) {
  enum { RUN, BENCH_CASE, PROCESS, ERROR, TAIL };
  struct error_reading *reading = context;
  struct results *results = reading->results;
  const int64_t bench = sqlite3_value_int64(row[BENCH_CASE]);
  const int64_t run = sqlite3_value_int64(row[RUN]);
  const int64_t process = sqlite3_value_int64(row[PROCESS]);
  const bool known = bench >= 0 && bench < results->case_ids_end;
  const uint32_t number = known ? results->case_numbers[bench] : 0;
  if (number == 0) {
    return;
  }
  const size_t end = reading->firsts[number];
  size_t at = reading->next[number - 1];
  if (at == end || errors_compare(results, &results->medians[at], run, process) != 0) {
    at = errors_search(results, reading->firsts[number - 1], end, run, process);
  }
  if (at < end && errors_compare(results, &results->medians[at], run, process) == 0) {
    results->medians[at].error = sqlite3_value_double(row[ERROR]);
    results->medians[at].tail = sqlite3_value_double(row[TAIL]);
    reading->next[number - 1] = at + 1;
  }
}

enum status results_load_errors(struct results *results, struct database *database,
                                struct error *err) {
  if (results->has_errors) {
    return STATUS_OK;
  }
  SCOPED(arena_fini) struct arena arena = {0};
  SCOPED(statement_finalize) struct statement statement = {0};
  SCOPED(strbuf_fini) struct strbuf runs = STRBUF(RESULTS_LIST_MAX);
  const size_t cases = results->case_count;
  struct error_reading reading = {results, arena_array(&arena, cases + 1, sizeof(size_t)),
                                  arena_array(&arena, cases + 1, sizeof(size_t))};
  for (size_t i = 0; i < results->median_count; i++) {
    reading.firsts[results->medians[i].bench + 1]++;
  }
  for (size_t i = 0; i < cases; i++) {
    reading.firsts[i + 1] += reading.firsts[i];
    reading.next[i] = reading.firsts[i];
  }
  results_run_ids(results, &runs);
  RETURN_ON_ERROR(statement_prepare(database, "compare/errors", &statement, err));
  statement_bind_text(&statement, ":runs", runs.text);
  RETURN_ON_ERROR(statement_gather(&statement, errors_take, &reading, err));
  results->has_errors = true;
  return STATUS_OK;
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
