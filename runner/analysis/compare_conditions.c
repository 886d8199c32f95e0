/* compare_conditions.c - what of two sides' runs may explain a difference though no fact of their
 * environments differs: runs that are not complete, checks that failed, and what slowed results. */
#include "runner/analysis/compare_internal.h"

#include "engine/base/order.h"

#include <string.h>

static unsigned conditions_sides(const struct comparison_condition *condition) {
  return (condition->runs[SIDE_A] > 0 ? 1U : 0U) + (condition->runs[SIDE_B] > 0 ? 1U : 0U);
}

/* One side before both, runs before checks before results, many results before few. */
static unsigned conditions_results(const struct comparison_condition *condition) {
  return condition->results[SIDE_A] + condition->results[SIDE_B];
}

ORDER_DEFINE(conditions_compare, struct comparison_condition, ORDER(conditions_sides(x), conditions_sides(y)) ?: ORDER(y->kind, x->kind) ?: ORDER(conditions_results(y), conditions_results(x)) ?: strcmp(x->text, y->text))

void compare_conditions(const enum side *sides, struct comparison *comparison) {
  const struct results *results = comparison->results;
  struct arena *arena = &comparison->arena;
  struct comparison_condition *found = arena_array(arena, results->condition_count, sizeof *found);
  size_t *last = arena_array(arena, results->condition_count, sizeof *last);
  size_t count = 0;
  for (size_t i = 0; i < results->condition_count; i++) {
    const struct results_condition *condition = &results->conditions[i];
    const enum side side = sides[condition->run];
    const char *text = condition->brief;
    size_t at = 0;
    if (side == SIDE_NONE) {
      continue;
    }
    while (at < count && (found[at].kind != condition->kind || strcmp(found[at].text, text) != 0)) {
      at++;
    }
    if (at == count) {
      found[count] = (struct comparison_condition){
          .kind = condition->kind, .text = text, .gpu = condition->gpu};
      last[count++] = SIZE_MAX;
    }
    found[at].runs[side] += last[at] != condition->run;
    found[at].results[side] += condition->results;
    last[at] = condition->run;
  }
  ORDER_SORT(found, count, conditions_compare);
  comparison->conditions = found;
  comparison->condition_count = count;
}
