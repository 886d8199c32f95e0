#include "runner/analysis/filter.h"

#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "schema/scenario/nearest.h"

#include <fnmatch.h>
#include <string.h>

enum { LIST_MAX = 700 };

void filter_fini(struct filter *filter) {
  arena_fini(&filter->arena);
}

enum status filter_check_fact(struct results *results, const char *fact, struct error *err) {
  if (results_knows_fact(results, fact)) {
    return STATUS_OK;
  }
  const char *const *names = results_fact_names(results);
  const char *meant = nearest_word(fact, names);
  if (meant != NULL) {
    return error_set(err, STATUS_NOT_FOUND, "no run has a fact \"%s\": did you mean \"%s\"?", fact,
                     meant);
  }
  SCOPED(strbuf_fini) struct strbuf list = STRBUF(LIST_MAX);
  for (; *names != NULL; names++) {
    strbuf_append_word(&list, *names);
  }
  return error_set(err, STATUS_NOT_FOUND, "no run has a fact \"%s\"; known facts: %s", fact,
                   list.text);
}

/* One glob, or several with commas between them. */
static bool filter_matches_value(const char *pattern, const char *value) {
  SCOPED(arena_fini) struct arena arena = {0};
  bool found = fnmatch(pattern, value, 0) == 0;
  for (char *rest = arena_strdup(&arena, pattern); !found && rest != NULL;) {
    found = fnmatch(strsep(&rest, ","), value, 0) == 0;
  }
  return found;
}

static bool filter_matches(struct results *results, size_t run, const struct filter *filter) {
  for (size_t i = 0; i < filter->where_count; i++) {
    const char *value = results_run_fact(results, run, filter->wheres[i].fact);
    if (!filter_matches_value(filter->wheres[i].pattern, value != NULL ? value : "")) {
      return false;
    }
  }
  return true;
}

static enum status filter_add_selected(struct filter *filter, struct database *database,
                                       struct results *results, const char *const *selectors,
                                       size_t count, struct error *err) {
  if (count == 0) {
    return results_add_all_runs(results, database, err);
  }
  enum status status = STATUS_OK;
  for (size_t i = 0; i < count && status == STATUS_OK; i++) {
    struct run_list list;
    const size_t before = results->run_count;
    status = selector_find_all(database, selectors[i], &filter->arena, &list, err);
    status = THEN(status, results_add_runs(results, database, list.runs, list.count, err));
    for (size_t r = before; r < results->run_count; r++) {
      results->runs[r].selector = i;
    }
  }
  return status;
}

/* For results_keep_runs(). */
struct matching {
  const bool *runs;
};

static bool filter_keep_matching(const struct results *results, size_t run, const void *context) {
  const struct matching *matching = context;
  (void)results;
  return matching->runs[run];
}

/* Whether b measured what a did, on the same host. */
static bool filter_is_again(const struct results *results, const struct results_run *a,
                            const struct results_run *b) {
  const struct results_environment *x = &results->environments[a->environment];
  const struct results_environment *y = &results->environments[b->environment];
  return x->simulated == y->simulated && strings_equal(x->node, y->node) &&
         strcmp(a->scenario, b->scenario) == 0 && strings_equal(a->only, b->only);
}

/* Unsets the runs after which the same was measured again on the same host. */
static void filter_drop_earlier(const struct results *results, bool *matching) {
  for (size_t i = 0; i < results->run_count; i++) {
    const struct results_run *run = &results->runs[i];
    for (size_t j = 0; j < results->run_count && matching[i]; j++) {
      const struct results_run *other = &results->runs[j];
      const bool later = other->started_at_ns > run->started_at_ns ||
                         (other->started_at_ns == run->started_at_ns && j > i);
      matching[i] = !(matching[j] && later && filter_is_again(results, run, other));
    }
  }
}

enum status filter_runs(struct filter *filter, struct database *database, struct results *results,
                        const char *const *selectors, size_t selector_count, struct error *err) {
  enum status status =
      filter_add_selected(filter, database, results, selectors, selector_count, err);
  for (size_t i = 0; i < filter->where_count && status == STATUS_OK; i++) {
    status = filter_check_fact(results, filter->wheres[i].fact, err);
  }
  RETURN_ON_ERROR(status);
  bool *matching = arena_array(&filter->arena, results->run_count, sizeof *matching);
  for (size_t i = 0; i < results->run_count; i++) {
    matching[i] = filter_matches(results, i, filter);
  }
  if (filter->latest_of_each) {
    filter_drop_earlier(results, matching);
  }
  results_keep_runs(results, filter_keep_matching, &(struct matching){matching});
  if (results->run_count == 0) {
    return error_set(err, STATUS_NOT_FOUND,
                     filter->where_count > 0 ? "no run matches --where"
                                             : "the database has no runs yet");
  }
  return STATUS_OK;
}
