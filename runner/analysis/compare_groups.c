/* compare_groups.c - the groups of a comparison and their verdicts (compare.h). */
#include "runner/analysis/compare_internal.h"
#include "runner/analysis/diff_group.h"

#include "engine/base/order.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

ENUM_NAMES_DEFINE(group_kind, GROUP_KIND_LIST)

enum { GROUP_CASES_MIN = 3, ENTRIES_PER_ROW_MAX = 16 };

/* A row in a group; key: of what the group is. */
struct group_entry {
  enum group_kind kind;
  uint64_t key;
  size_t row;
};

struct grouping {
  const struct results *results;
  struct comparison *comparison;
  struct group_entry *entries; /* by kind, then key, then row */
  size_t entry_count;
};

ORDER_DEFINE(groups_compare_entries, struct group_entry, ORDER(x->kind, y->kind) ?: ORDER(x->key, y->key) ?: ORDER(x->row, y->row))

/* The only kind of ends of all flows that are measured; NULL = there are several, or none. */
static const char *groups_direction(const struct results_case *bench) {
  static const char *const TEXTS[2][2] = {{"within the host", "host to GPU"},
                                          {"GPU to host", "between GPUs"}};
  const char *direction = NULL;
  for (size_t i = 0; i < bench->flow_count; i++) {
    const struct results_flow *flow = &bench->flows[i];
    if (flow->load) {
      continue;
    }
    const bool local = flow->source_is_gpu && flow->target_is_gpu && flow->source == flow->target;
    const char *text = local ? "within a GPU" : TEXTS[flow->source_is_gpu][flow->target_is_gpu];
    if (direction != NULL && direction != text) {
      return NULL;
    }
    direction = text;
  }
  return direction;
}

static const char *groups_host(const struct results *results, const struct comparison_row *row) {
  const struct comparison_side *side = &row->sides[SIDE_B];
  return row->hardware != NULL && side->run != SIZE_MAX
             ? results->environments[results->runs[side->run].environment].node
             : NULL;
}

/* "gpu0's host link", "gpu0--gpu1", of the case's only flow; NULL = it has several, or no link. */
static const char *groups_link(const struct results_case *bench, struct arena *arena) {
  const struct results_flow *flow = bench->flow_count == 1 ? &bench->flows[0] : NULL;
  if (flow == NULL || (!flow->source_is_gpu && !flow->target_is_gpu)) {
    return NULL;
  }
  if (flow->source_is_gpu != flow->target_is_gpu) {
    return arena_format(arena, "gpu%d's host link",
                        flow->source_is_gpu ? flow->source : flow->target);
  }
  const int low = flow->source < flow->target ? flow->source : flow->target;
  const int high = flow->source < flow->target ? flow->target : flow->source;
  return low == high ? NULL : arena_format(arena, "the link gpu%d--gpu%d", low, high);
}

static uint64_t groups_link_key(const struct results_case *bench) {
  const struct results_flow *flow = bench->flow_count == 1 ? &bench->flows[0] : NULL;
  if (flow == NULL || (!flow->source_is_gpu && !flow->target_is_gpu) ||
      (flow->source_is_gpu && flow->target_is_gpu && flow->source == flow->target)) {
    return 0;
  }
  const uint64_t source = flow->source_is_gpu ? (uint64_t)flow->source + 2 : 1;
  const uint64_t target = flow->target_is_gpu ? (uint64_t)flow->target + 2 : 1;
  return source < target ? source << 32 | target : target << 32 | source;
}

static void groups_add(struct grouping *g, enum group_kind kind, uint64_t key, size_t row) {
  g->entries[g->entry_count++] = (struct group_entry){kind, key, row};
}

static void groups_add_text(struct grouping *g, enum group_kind kind, const char *text,
                            size_t row) {
  if (text != NULL) {
    groups_add(g, kind, XXH64(text, strlen(text), 0), row);
  }
}

static void groups_add_row(struct grouping *g, size_t r) {
  const struct comparison_row *row = &g->comparison->rows[r];
  const struct results_case *bench = &g->results->cases[row->bench];
  groups_add(g, GROUP_ALL, 0, r);
  groups_add_text(g, GROUP_DIRECTION, groups_direction(bench), r);
  if (groups_link_key(bench) != 0) {
    groups_add(g, GROUP_LINK, groups_link_key(bench), r);
  }
  for (unsigned gpu = 0; gpu < ANALYSIS_GPUS_MAX && __builtin_popcountll(bench->gpus) <= 2; gpu++) {
    if ((bench->gpus >> gpu & 1) != 0) {
      groups_add(g, GROUP_GPU, gpu, r);
    }
  }
  groups_add_text(g, GROUP_NODE, groups_host(g->results, row), r);
  groups_add_text(g, GROUP_BLOCK, bench->block, r);
}

static const char *groups_name(const struct grouping *g, const struct group_entry *entry,
                               struct arena *arena) {
  const struct comparison_row *row = &g->comparison->rows[entry->row];
  const struct results_case *bench = &g->results->cases[row->bench];
  switch (entry->kind) {
  case GROUP_DIRECTION:
    return groups_direction(bench);
  case GROUP_LINK:
    return groups_link(bench, arena);
  case GROUP_GPU:
    return arena_format(arena, "gpu%d", (int)entry->key);
  case GROUP_NODE:
    return arena_format(arena, "node %s", groups_host(g->results, row));
  case GROUP_BLOCK:
    return arena_format(arena, "block %s", bench->block);
  case GROUP_ALL:
  case group_kind_name_count:
    break;
  }
  return "all cases";
}

/* The same cases under another name say nothing new: the first kind that has them is kept. */
static bool groups_is_again(const struct comparison *comparison, const size_t *rows, size_t count) {
  for (size_t i = 0; i < comparison->group_count; i++) {
    const struct comparison_group *other = &comparison->groups[i];
    if (other->case_count == count && memcmp(other->rows, rows, count * sizeof *rows) == 0) {
      return true;
    }
  }
  return false;
}

static void groups_take(struct grouping *g, const char *only, struct arena *arena) {
  struct comparison *comparison = g->comparison;
  for (size_t first = 0, last = 0; first < g->entry_count; first = last) {
    const bool paired = comparison->inputs[comparison->rows[g->entries[first].row].input].paired;
    size_t count = 0;
    bool kept = true;
    for (last = first; last < g->entry_count && g->entries[last].kind == g->entries[first].kind &&
                       g->entries[last].key == g->entries[first].key;) {
      last++;
    }
    size_t *rows = arena_array(arena, last - first, sizeof *rows);
    for (size_t i = first; i < last; i++) {
      const struct comparison_row *row = &comparison->rows[g->entries[i].row];
      if (comparison->inputs[row->input].paired == paired) {
        rows[count++] = g->entries[i].row;
        kept = kept && results_case_matches(&g->results->cases[row->bench], only);
      }
    }
    if (count >= GROUP_CASES_MIN && !groups_is_again(comparison, rows, count)) {
      comparison->groups[comparison->group_count++] =
          (struct comparison_group){.kind = g->entries[first].kind,
                                    .what = groups_name(g, &g->entries[first], &comparison->arena),
                                    .case_count = count,
                                    .rows = rows,
                                    .is_kept = kept};
    }
  }
}

/* The strongest evidence first. */
static int groups_compare(const void *a, const void *b) {
  const struct comparison_group *x = a;
  const struct comparison_group *y = b;
  const double p = isnan(x->result.p) ? 2 : x->result.p;
  const double q = isnan(y->result.p) ? 2 : y->result.p;
  if (p != q) {
    return p < q ? -1 : 1;
  }
  return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Rows that are in a group: by row, the number of the last group that was marked. */
struct group_marks {
  uint32_t *of;
  uint32_t now;
};

static void groups_mark(struct group_marks *marks, const struct comparison_group *group) {
  marks->now++;
  for (size_t i = 0; i < group->case_count; i++) {
    marks->of[group->rows[i]] = marks->now;
  }
}

/* The mean change of the cases that are not marked or, without marks, not reported alone; their
 * number may be 0. */
static double groups_rest(const struct comparison *comparison, const struct comparison_group *group,
                          const struct group_marks *marks, size_t *count) {
  double sum = 0;
  *count = 0;
  for (size_t i = 0; i < group->case_count; i++) {
    const struct diff_result *result = &comparison->rows[group->rows[i]].result;
    const bool left_out = marks != NULL ? marks->of[group->rows[i]] == marks->now
                                        : result->verdict == group->result.verdict;
    sum += left_out ? 0 : log1p(result->change);
    *count += !left_out;
  }
  return *count > 0 ? sum / (double)*count : 0;
}

/* Whether the group says more than its cases do alone, than a smaller group that explains half of
 * its change, and than a larger one that is news. */
static bool groups_is_news(const struct comparison *comparison,
                           const struct comparison_group *group, struct group_marks *marks) {
  const double half = log1p(group->result.change) / 2;
  size_t count = 0;
  if (fabs(groups_rest(comparison, group, NULL, &count)) <= log1p(group->delta)) {
    return false;
  }
  for (size_t i = 0; i < comparison->group_count; i++) {
    const struct comparison_group *other = &comparison->groups[i];
    const bool may_explain =
        other->case_count < group->case_count && verdict_is_change(other->result.verdict);
    if (other == group || !(other->is_news || may_explain)) {
      continue;
    }
    groups_mark(marks, other);
    const double rest = groups_rest(comparison, group, marks, &count);
    const size_t common = group->case_count - count;
    if (other->is_news && 2 * common > group->case_count) {
      return false;
    }
    if (may_explain && count > 0 && 2 * common > other->case_count && rest / half < 1) {
      return false;
    }
  }
  return true;
}

/* The largest first. */
ORDER_DEFINE(groups_compare_sizes, struct comparison_group *const, ORDER((*y)->case_count, (*x)->case_count) ?: ORDER((*x)->kind, (*y)->kind) ?: ORDER(*x, *y))

static void groups_judge(struct comparison *comparison, const struct diff_options *options) {
  SCOPED(arena_fini) struct arena arena = {0};
  const size_t count = comparison->group_count;
  struct diff_case *cases = arena_array(&arena, count, sizeof *cases);
  struct diff_result *found = arena_array(&arena, count, sizeof *found);
  struct diff_summary summary;
  struct diff_options apart = *options;
  apart.apart = true;
  diff_group_take_order(&comparison->summary, &apart);
  for (size_t i = 0; i < count; i++) {
    const struct comparison_group *group = &comparison->groups[i];
    size_t *members = arena_array(&arena, group->case_count, sizeof *members);
    for (size_t m = 0; m < group->case_count; m++) {
      members[m] = comparison->rows[group->rows[m]].input;
    }
    cases[i] = diff_group_make(comparison->inputs, members, group->case_count, &arena);
  }
  diff_compare(cases, count, &apart, found, &summary);
  for (size_t i = 0; i < count; i++) {
    struct comparison_group *group = &comparison->groups[i];
    group->result = found[i];
    group->delta = cases[i].delta;
    group->undisturbed =
        SUM_OF(m, group->case_count, comparison->rows[group->rows[m]].rates != NULL);
    group->undisturbed_same =
        SUM_OF(m, group->case_count,
               comparison_row_is_same_undisturbed(&comparison->rows[group->rows[m]]));
  }
  ORDER_SORT(comparison->groups, count, groups_compare);
  struct comparison_group **by_size = arena_array(&arena, count, sizeof(void *));
  for (size_t i = 0; i < count; i++) {
    by_size[i] = &comparison->groups[i];
  }
  struct group_marks marks = {arena_array(&arena, comparison->row_count, sizeof *marks.of), 0};
  ORDER_SORT(by_size, count, groups_compare_sizes);
  for (size_t i = 0; i < count; i++) {
    by_size[i]->is_news = by_size[i]->is_kept && verdict_is_change(by_size[i]->result.verdict) &&
                          groups_is_news(comparison, by_size[i], &marks);
  }
}

void compare_groups(const char *only, const struct diff_options *options,
                    struct comparison *comparison) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct grouping g = {.results = comparison->results, .comparison = comparison};
  g.entries = arena_array(&arena, comparison->row_count * ENTRIES_PER_ROW_MAX, sizeof *g.entries);
  for (size_t r = 0; r < comparison->row_count; r++) {
    const struct diff_case *input = &comparison->inputs[comparison->rows[r].input];
    if (input->incomparable == NULL && input->a.count > 0 && input->b.count > 0) {
      groups_add_row(&g, r);
    }
  }
  if (g.entry_count > 0) {
    ORDER_SORT(g.entries, g.entry_count, groups_compare_entries);
    size_t most = 1;
    for (size_t i = 1; i < g.entry_count; i++) {
      most +=
          g.entries[i].kind != g.entries[i - 1].kind || g.entries[i].key != g.entries[i - 1].key;
    }
    comparison->groups = arena_array(&comparison->arena, most, sizeof *comparison->groups);
    groups_take(&g, only, &arena);
    groups_judge(comparison, options);
  }
  for (size_t i = 0; i < comparison->group_count; i++) {
    comparison->groups[i].rows = NULL; /* numbers of rows that are sorted anew */
  }
}
