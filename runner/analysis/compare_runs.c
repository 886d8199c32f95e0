#include "runner/analysis/compare_runs.h"

#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "engine/machine/check.h"
#include "runner/analysis/compare_internal.h"
#include "runner/analysis/conclusion.h"
#include "runner/analysis/outliers.h"
#include "runner/statistics/robust.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { TAILS_MAX = 250000, PROCESSES_TELL = 3, MACHINES_EARLIER = 8 };
enum { SPLITS_USUAL = 20, LIST_MAX = 700, VALUES_SHOWN = 8 };
/* One seed, one result: nobody should be able to try until it looks well. */
#define A_A_SEED UINT64_C(1)

void compare_request_init(struct compare_request *request) {
  request->compare.diff =
      (struct diff_options){.method = DIFF_MODERATED, .false_discovery_rate = 0.05};
  request->splits = SPLITS_USUAL;
}

void compare_request_fini(struct compare_request *request) {
  filter_fini(&request->filter);
}

/* ---- sides by name ---- */

static enum status compare_sides_by_name(struct database *database, struct compare_request *request,
                                         struct compare_result *result, enum side **sides,
                                         struct error *err) {
  struct arena *arena = &request->filter.arena;
  struct run_list lists[SIDES] = {{NULL, 0}, {NULL, 0}};
  for (size_t s = 0; s < request->name_count; s++) {
    enum status status = selector_find_all(database, request->names[s], arena, &lists[s], err);
    if (status != STATUS_OK) {
      return error_prefix(err, "side %c: ", side_letter(s));
    }
  }
  for (size_t a = 0; a < lists[0].count && request->name_count == SIDES; a++) {
    for (size_t b = 0; b < lists[1].count; b++) {
      if (lists[0].runs[a].id == lists[1].runs[b].id) {
        return error_set(err, STATUS_INVALID,
                         "run %lld is on both sides (\"%s\" and \"%s\"); --a-a shows what a run "
                         "against itself would report",
                         (long long)lists[0].runs[a].id, request->names[0], request->names[1]);
      }
    }
  }
  RETURN_ON_ERROR(filter_runs(&request->filter, database, result->results, request->names,
                              request->name_count, err));
  *sides = arena_array(arena, result->results->run_count, sizeof **sides);
  for (size_t i = 0; i < result->results->run_count; i++) {
    (*sides)[i] = result->results->runs[i].selector == 0 ? SIDE_A : SIDE_B;
  }
  return STATUS_OK;
}

/* ---- sides by a fact ---- */

struct fact_values {
  const char **values; /* every different one, in the order of the runs */
  size_t count;
};

static void compare_list_values(struct arena *arena, struct results *results, const char *fact,
                                struct fact_values *list) {
  for (size_t i = 0; i < results->run_count; i++) {
    const char *value = results_run_fact(results, i, fact);
    bool known = value == NULL;
    for (size_t v = 0; v < list->count && !known; v++) {
      known = strcmp(list->values[v], value) == 0;
    }
    if (!known) {
      *ARENA_ADD(arena, list->values, list->count) = value;
    }
  }
}

/* "580.159.04", "13000" */
static bool compare_is_number(const char *value) {
  static const char DIGITS[] = "0123456789";
  const size_t length = strspn(value, DIGITS);
  return length > 0 && (value[length] == '\0' ||
                        (value[length] == '.' && strspn(value + length + 1, DIGITS) > 0));
}

/* Of two values there is one way to compare: the lower version with the higher one, whichever was
 * measured first; of other values then with now. */
static void compare_choose_values(struct compare_request *request, const struct fact_values *list) {
  const char *const *values = list->values;
  const bool reverse = compare_is_number(values[0]) && compare_is_number(values[1]) &&
                       check_compare_versions(values[0], values[1]) > 0;
  request->from = values[reverse];
  request->to = values[!reverse];
}

static enum status compare_refuse_value(const struct fact_values *list, const char *message,
                                        struct error *err) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(LIST_MAX);
  for (size_t i = 0; i < list->count && i < VALUES_SHOWN; i++) {
    strbuf_append_word(&text, list->values[i]);
  }
  return error_set(err, STATUS_NOT_FOUND, "%s; there %s: %s%s", message,
                   strings_plural(list->count, "is", "are"), list->count > 0 ? text.text : "none",
                   list->count > VALUES_SHOWN ? " ..." : "");
}

static bool compare_has_value(const struct fact_values *list, const char *value) {
  size_t i = 0;
  while (i < list->count && strcmp(list->values[i], value) != 0) {
    i++;
  }
  return i < list->count;
}

/* How much of the value is given: all of it, or, where no value is the given one, parts between
 * dots from its begin, as 580 of 580.95.05; 0 = it is another one. */
static size_t compare_fits(const struct fact_values *list, const char *value, const char *given) {
  const size_t length = strlen(given);
  const bool begins = length > 0 && strncmp(value, given, length) == 0 && value[length] == '.' &&
                      !compare_has_value(list, given);
  return begins || strcmp(value, given) == 0 ? 1 + length : 0;
}

static enum status compare_find_value(const struct fact_values *list, const char *by,
                                      const char *value, struct error *err) {
  for (size_t i = 0; i < list->count; i++) {
    if (compare_fits(list, list->values[i], value) > 0) {
      return STATUS_OK;
    }
  }
  char message[256];
  (void)snprintf(message, sizeof message, "no run has the %s \"%s\"", by, value);
  return compare_refuse_value(list, message, err);
}

/* A scenario, and the sides that ran it, a bit each. */
struct sided_scenario {
  const char *name;
  unsigned sides;
};

/* By a fact every run is on a side. Runs of scenarios that one side alone ran are left out, unless
 * no scenario is on both. Returns the names of these scenarios; NULL = none. */
static const char *compare_leave_out(struct arena *arena, const struct results *results,
                                     enum side *sides) {
  struct sided_scenario *list = arena_array(arena, results->run_count, sizeof *list);
  size_t *of = arena_array(arena, results->run_count, sizeof *of);
  const char *names = "";
  size_t count = 0;
  bool common = false;
  for (size_t i = 0; i < results->run_count; i++) {
    while (of[i] < count && strcmp(list[of[i]].name, results->runs[i].scenario) != 0) {
      of[i]++;
    }
    if (of[i] == count) {
      list[count++].name = results->runs[i].scenario;
    }
    list[of[i]].sides |= sides[i] == SIDE_NONE ? 0 : 1U << sides[i];
    common = common || list[of[i]].sides == 3;
  }
  for (size_t i = 0; i < count && common; i++) {
    const bool alone = list[i].sides == 1U << SIDE_A || list[i].sides == 1U << SIDE_B;
    names = alone ? arena_add_word(arena, names, list[i].name) : names;
  }
  for (size_t i = 0; i < results->run_count && common; i++) {
    sides[i] = list[of[i]].sides == 3 ? sides[i] : SIDE_NONE;
  }
  return names[0] != '\0' ? names : NULL;
}

static enum status compare_sides_by_fact(struct database *database, struct compare_request *request,
                                         struct compare_result *result, enum side **sides,
                                         struct error *err) {
  struct results *results = result->results;
  struct arena *arena = &request->filter.arena;
  struct fact_values list = {0};
  enum status status = filter_runs(&request->filter, database, results, NULL, 0, err);
  status = THEN(status, filter_check_fact(results, request->by, err));
  RETURN_ON_ERROR(status);
  compare_list_values(arena, results, request->by, &list);
  if (request->from == NULL && request->to == NULL && list.count == 2) {
    compare_choose_values(request, &list);
  }
  if (request->from == NULL && request->to == NULL && list.count == 1) {
    return error_set(err, STATUS_NOT_FOUND,
                     "every run has the %s %s: there is nothing to compare it with", request->by,
                     list.values[0]);
  }
  if (request->from == NULL || request->to == NULL) {
    char message[256];
    (void)snprintf(message, sizeof message, "--by %s needs --from and --to, values of it",
                   request->by);
    return compare_refuse_value(&list, message, err);
  }
  status = compare_find_value(&list, request->by, request->from, err);
  status = THEN(status, compare_find_value(&list, request->by, request->to, err));
  if (status == STATUS_OK && strcmp(request->from, request->to) == 0) {
    status = error_set(err, STATUS_INVALID, "--from and --to are the same: %s", request->from);
  }
  *sides = arena_array(arena, results->run_count, sizeof **sides);
  for (size_t i = 0; i < results->run_count; i++) {
    const char *value = results_run_fact(results, i, request->by);
    const size_t from = value != NULL ? compare_fits(&list, value, request->from) : 0;
    const size_t to = value != NULL ? compare_fits(&list, value, request->to) : 0;
    (*sides)[i] = from > to ? SIDE_A : to > 0 ? SIDE_B : SIDE_NONE;
  }
  request->left_out = compare_leave_out(arena, results, *sides);
  request->names[SIDE_A] = arena_format(arena, "%s=%s", request->by, request->from);
  request->names[SIDE_B] = arena_format(arena, "%s=%s", request->by, request->to);
  request->compare.by = request->by;
  return status;
}

/* ---- the comparison ---- */

/* Runs on no side are not read. */
struct side_filter {
  const enum side *sides;
};

static bool compare_keep_sided(const struct results *results, size_t run, const void *context) {
  const struct side_filter *filter = context;
  (void)results;
  return filter->sides[run] != SIDE_NONE;
}

static void compare_drop_unsided(struct results *results, enum side *sides) {
  const size_t count = results->run_count;
  results_keep_runs(results, compare_keep_sided, &(struct side_filter){sides});
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (sides[i] != SIDE_NONE) {
      sides[kept++] = sides[i];
    }
  }
}

/* Why a side has no result of a case, or why a process of it is not ok. */
static enum status compare_find_side_reason(struct database *database, struct results *results,
                                            struct comparison_side *side, struct error *err) {
  if (side->not_ok > 0) {
    return results_reason(results, database, side->not_ok_run, side->not_ok_bench, &side->reason,
                          err);
  }
  return side->run != SIZE_MAX && side->processes == 0
             ? results_reason(results, database, side->run, side->bench, &side->reason, err)
             : STATUS_OK;
}

/* Of the cases that one side alone has a result of, and of the broken ones. */
static enum status compare_find_reasons(struct database *database, struct compare_result *result,
                                        struct error *err) {
  enum status status = STATUS_OK;
  for (size_t i = 0; i < result->comparison->row_count && status == STATUS_OK; i++) {
    struct comparison_row *row = &result->comparison->rows[i];
    const enum verdict verdict = row->result.verdict;
    if (verdict != VERDICT_BROKEN && verdict != VERDICT_MISSING && verdict != VERDICT_NEW) {
      continue;
    }
    for (size_t s = 0; s < SIDES && status == STATUS_OK; s++) {
      status = compare_find_side_reason(database, result->results, &row->sides[s], err);
    }
    const bool in_a =
        verdict == VERDICT_BROKEN ? row->sides[SIDE_B].not_ok == 0 : verdict == VERDICT_NEW;
    if (verdict == VERDICT_BROKEN || row->reason == NULL) {
      row->reason = row->sides[in_a ? SIDE_A : SIDE_B].reason;
    }
  }
  return status;
}

/* What people call the processes that are named. */
static enum status compare_find_ordinals(struct database *database, struct comparison *comparison,
                                         struct error *err) {
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < SIDES * comparison->row_count; i++) {
    struct side_shape *shape = &comparison->rows[i / SIDES].sides[i % SIDES].shape;
    if (shape->kind == SHAPE_OUTLIER) {
      status = results_process_ordinal(database, shape->process_id, &shape->ordinal, err);
    }
  }
  return status;
}

/* Whether a case of the part is among those that are asked for. */
static bool compare_part_matches(const struct results *results, const struct outlier_part *part,
                                 const char *only) {
  for (size_t i = 0; i < results->case_count; i++) {
    const struct results_case *bench = &results->cases[i];
    if (outliers_part_has(part, bench) && results_case_matches(bench, only)) {
      return true;
    }
  }
  return false;
}

bool compare_part_is_row(const struct comparison *comparison, const struct outlier_part *part) {
  const struct results *results = comparison->results;
  for (size_t i = 0; i < comparison->row_count && part->slow_cases < 2; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const size_t run = row->sides[SIDE_B].run;
    if (row->result.unit != DIFF_UNIT_NODE && run != SIZE_MAX &&
        outliers_part_has(part, &results->cases[row->bench]) &&
        strings_equal(results->environments[results->runs[run].environment].node, part->host)) {
      return true;
    }
  }
  return false;
}

static bool compare_has_nodes(const struct results *results) {
  SCOPED(arena_fini) struct arena arena = {0};
  const uint32_t *first = analysis_equal_environments(results, false, &arena);
  return SUM_OF(e, results->environment_count, first[e] == e) >= ROBUST_COUNT_MIN;
}

static bool compare_has_few_processes(const struct results *results) {
  return results->median_count < PROCESSES_TELL * results->plan_count;
}

/* Tails and errors stand in no index: of more results than that, they would take most of the time.
 * The differences of three processes say more than the trials of one. */
static enum status compare_load_errors(struct database *database, struct results *results,
                                       bool of_few, struct error *err) {
  const bool few = compare_has_few_processes(results);
  return results->median_count > TAILS_MAX && !(of_few && few)
             ? STATUS_OK
             : results_load_errors(results, database, err);
}

/* What of one node changed unlike that of the others. To find it takes as long as to compare the
 * sides, and a thread does it meanwhile: both only read the results. */
struct alone_search {
  const struct results *results;
  struct outliers_options options;
  bool wanted, started;
  pthread_t thread;
  struct outliers *found;
  enum status status;
  struct error err;
};

static void *compare_search_alone(void *context) {
  struct alone_search *search = context;
  search->status = outliers_find(search->results, &search->options, &search->found, &search->err);
  return NULL;
}

/* Where errors are yet to be read for it, which the comparison must not see, it waits. */
static void compare_start_alone(const struct compare_request *request,
                                const struct compare_result *result, struct alone_search *search) {
  *search = (struct alone_search){.results = result->results,
                                  .options = {.slow_only = true,
                                              .sides = result->sides,
                                              .changes = true,
                                              .margin = request->compare.margin},
                                  .wanted = !request->compare.one_side &&
                                            compare_has_nodes(result->results)};
  const bool ready = result->results->has_errors || !compare_has_few_processes(result->results);
  search->started = search->wanted && ready &&
                    pthread_create(&search->thread, NULL, compare_search_alone, search) == 0;
}

/* Returns the status so far, or that of the search. */
static enum status compare_end_alone(struct database *database, struct compare_result *result,
                                     struct alone_search *search, enum status status,
                                     struct error *err) {
  if (search->started) {
    (void)pthread_join(search->thread, NULL);
  } else if (search->wanted && status == STATUS_OK) {
    RETURN_ON_ERROR(compare_load_errors(database, result->results, true, err));
    (void)compare_search_alone(search);
  }
  result->alone = search->found;
  if (status == STATUS_OK && search->status != STATUS_OK) {
    *err = search->err;
  }
  return THEN(status, search->status);
}

/* Keeps the parts that are asked for and in no row. */
static void compare_add_alone(const struct compare_request *request,
                              struct compare_result *result) {
  struct comparison *comparison = result->comparison;
  struct outliers *alone = result->alone;
  for (size_t i = 0; i < alone->part_count && alone->hosts >= ROBUST_COUNT_MIN; i++) {
    const struct outlier_part part = alone->parts[i];
    if (compare_part_matches(result->results, &part, request->filter.only) &&
        !compare_part_is_row(comparison, &part)) {
      alone->parts[i] = alone->parts[comparison->alone_count];
      alone->parts[comparison->alone_count++] = part;
      comparison->alone_certain += part.certain;
    }
  }
  comparison->alone = alone;
}

/* The machines that have one run on either side: what their earlier runs say of how runs differ. Of
 * more machines than that, each is judged by the others. */
static enum status compare_load_earlier(struct database *database, const enum side *sides,
                                        const struct results *results, struct results *earlier,
                                        struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  const uint32_t *first = analysis_equal_environments(results, false, &arena);
  unsigned(*runs)[SIDES] = arena_array(&arena, results->environment_count, sizeof *runs);
  enum status status = STATUS_OK;
  size_t machines = 0;
  int64_t last_ns = 0;
  for (size_t i = 0; i < results->run_count; i++) {
    const uint32_t machine = first[results->runs[i].environment];
    if (machine != UINT32_MAX) {
      runs[machine][sides[i]]++;
      last_ns = results->runs[i].started_at_ns > last_ns ? results->runs[i].started_at_ns : last_ns;
    }
  }
  for (size_t i = 0; i < results->run_count && machines < MACHINES_EARLIER && status == STATUS_OK;
       i++) {
    const uint32_t machine = first[results->runs[i].environment];
    if (machine != UINT32_MAX && sides[i] == SIDE_B && runs[machine][SIDE_A] == 1 &&
        runs[machine][SIDE_B] == 1) {
      status = results_add_earlier_runs(earlier, database, results, i, last_ns, err);
      machines++;
    }
  }
  return earlier->run_count > 0 ? THEN(status, results_load(earlier, database, NULL, err)) : status;
}

static bool compare_any_matches(const struct results *results, const char *only) {
  for (size_t i = 0; i < results->case_count; i++) {
    if (results_case_matches(&results->cases[i], only)) {
      return true;
    }
  }
  return false;
}

enum status compare_runs(struct database *database, struct compare_request *request,
                         struct compare_result *result, struct error *err) {
  enum side *sides = NULL;
  struct results *earlier = results_new();
  struct alone_search alone = {.status = STATUS_OK};
  *result = (struct compare_result){.results = results_new()};
  enum status status = request->by != NULL
                           ? compare_sides_by_fact(database, request, result, &sides, err)
                           : compare_sides_by_name(database, request, result, &sides, err);
  if (status == STATUS_OK) {
    compare_drop_unsided(result->results, sides);
    result->sides = sides;
    status = results_load(result->results, database, NULL, err);
    status = THEN(status, results_load_undisturbed(result->results, database, err));
  }
  if (status == STATUS_OK && !compare_any_matches(result->results, request->filter.only)) {
    const char *only = request->filter.only != NULL ? request->filter.only : "*";
    const char *wider = arena_format(&request->filter.arena, "*%s*", only);
    const char *hint = compare_any_matches(result->results, wider)
                           ? arena_format(&request->filter.arena, "; did you mean \"%s\"?", wider)
                           : "";
    status = error_set(err, STATUS_NOT_FOUND, "no case of these runs is named like \"%s\"%s", only,
                       hint);
  }
  status = THEN(status, compare_load_errors(database, result->results, false, err));
  if (status == STATUS_OK) {
    request->compare.only = request->filter.only;
    request->compare.one_side = request->a_a && request->name_count == 1;
    status = request->compare.one_side
                 ? STATUS_OK
                 : compare_load_earlier(database, sides, result->results, earlier, err);
    request->compare.earlier = earlier->median_count > 0 ? earlier : NULL;
  }
  if (status == STATUS_OK) {
    compare_start_alone(request, result, &alone);
  }
  status =
      THEN(status, compare(result->results, sides, &request->compare, &result->comparison, err));
  if (status == STATUS_OK) {
    result->comparison->left_out = request->left_out;
    status = compare_find_reasons(database, result, err);
  }
  if (status == STATUS_OK) {
    conclusions_add(result->comparison);
  }
  status = THEN(status, compare_find_ordinals(database, result->comparison, err));
  status = compare_end_alone(database, result, &alone, status, err);
  if (status == STATUS_OK && alone.wanted) {
    compare_add_alone(request, result);
  }
  if (status == STATUS_OK && request->a_a) {
    result->a_a = a_a_test(result->comparison->inputs, result->comparison->input_count,
                           &request->compare.diff, request->splits, A_A_SEED);
  }
  request->compare.earlier = NULL;
  results_free(earlier);
  return status;
}

void compare_result_fini(struct compare_result *result) {
  outliers_free(result->alone);
  comparison_free(result->comparison);
  results_free(result->results);
}
