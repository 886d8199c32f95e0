/* outliers_rows.c - what was judged as rows, and one verdict per component over all blocks. */
#include "runner/analysis/outliers_internal.h"

#include "engine/base/order.h"
#include "engine/base/strbuf.h"
#include "engine/base/strings.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16, HALF_NAMED = 3 };

/* ---- names ---- */

/* Paths are written as in runner/plan/name.h. */
static const char *rows_path_name(struct arena *arena, const struct path *path, bool both) {
  return arena_format(arena, "%s%d%s%s%d", path->from_gpu ? "gpu" : "numa", path->from,
                      both ? "--" : "-", path->to_gpu ? "gpu" : "numa", path->to);
}

static const char *rows_host_name(const struct finder *f, const struct component *component) {
  const char *name = f->results->environments[component->host].node;
  return name != NULL ? name : "";
}

static const char *rows_component_name(struct finder *f, const struct component *component) {
  switch (component->entity) {
  case ENTITY_HOST:
    return rows_host_name(f, component);
  case ENTITY_GPU:
    return arena_format(&f->outliers->arena, "gpu%d", component->path.from);
  case ENTITY_LINK:
  case entity_name_count:
    break;
  }
  return rows_path_name(&f->outliers->arena, &component->path, component->path.bidirectional);
}

static bool rows_is_about(const struct finder *f, const struct result *result,
                          const struct candidate *candidate) {
  const struct component *component = &candidate->observation.component;
  const struct results_case *bench = &f->results->cases[result->bench];
  const struct case_traits *traits = result->traits;
  const struct path *path = &traits->path;
  const struct path reverse = path_back(component->path);
  const bool back = candidate->role == ROLE_BOTH && component->entity == ENTITY_LINK &&
                    traits->block == component->traits->block &&
                    traits->sizes == component->traits->sizes &&
                    traits->memory == component->traits->reverse_memory;
  if (result->host != component->host || (!back && traits->set != component->traits->set)) {
    return false;
  }
  switch (component->entity) {
  case ENTITY_HOST:
    return true;
  case ENTITY_LINK:
    return path->known && path->bidirectional == component->path.bidirectional &&
           (path_has_ends(path, &component->path) ||
            (candidate->role == ROLE_BOTH && path_has_ends(path, &reverse)));
  case ENTITY_GPU:
  case entity_name_count:
    break;
  }
  const int gpu = component->path.from;
  if (path->known && !path->bidirectional && candidate->role == ROLE_SOURCE) {
    return path->from_gpu && path->from == gpu;
  }
  if (path->known && !path->bidirectional && candidate->role == ROLE_TARGET) {
    return path->to_gpu && path->to == gpu;
  }
  return (bench->gpus >> gpu & 1) != 0;
}

/* Counts the cases that have peers, and of them those that are slow, and names their paths, each
 * once. */
static void rows_count_cases(struct finder *f, const struct candidate *candidate,
                             struct outlier *row) {
  uint32_t *results = NULL;
  row->cases = row->slow_cases = 0;
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(TEXT_MAX);
  for (size_t i = 0; i < f->host_result_count; i++) {
    const struct result *result = &f->host_results[i];
    if (isnan(result->deviation) || !rows_is_about(f, result, candidate)) {
      continue;
    }
    *ARENA_ADD(&f->arena, results, row->cases) = (uint32_t)i;
    if (!result_is_slow(result)) {
      continue;
    }
    row->slow_cases++;
    if (!result->traits->path.known) {
      continue;
    }
    const char *name =
        rows_path_name(&f->arena, &result->traits->path, result->traits->path.bidirectional);
    if (!strings_has_word(text.text, name)) {
      strbuf_append_word(&text, name);
    }
  }
  row->results = results;
  row->paths = text.length > 0 ? arena_strdup(&f->outliers->arena, text.text) : NULL;
}

/* The GPU whose way to the host the component is; -1 = it is none. */
static int rows_host_link(const struct finder *f, const struct observation *observation) {
  const struct component *component = &observation->component;
  const struct results_case *bench = &f->results->cases[observation->worst];
  if (component->entity == ENTITY_LINK) {
    const struct path *path = &component->path;
    return path->from_gpu == path->to_gpu ? -1 : path->from_gpu ? path->from : path->to;
  }
  const struct results_flow *flows = bench->flows;
  const bool host = component->entity == ENTITY_GPU && bench->flow_count > 0 &&
                    ALL_OF(i, bench->flow_count,
                           flows[i].load || flows[i].source_is_gpu != flows[i].target_is_gpu);
  return host ? component->path.from : -1;
}

/* Which way a component carries what is slow. */
static enum outlier_role rows_direction(const struct candidate *candidate) {
  const struct component *component = &candidate->observation.component;
  if (component->entity != ENTITY_LINK) {
    return candidate->role;
  }
  if (candidate->role == ROLE_BOTH || component->path.bidirectional) {
    return ROLE_BOTH;
  }
  return component->path.from_gpu ? ROLE_SOURCE : ROLE_TARGET;
}

/* "gpu0,gpu1": the components of a half, in the order of their numbers, of several hosts with
 * those; of a fleet the first of them, "gpu0 of n0001, gpu1 of n0001 and 48 more". */
static const char *rows_join_half(struct finder *f, struct candidate *const *half, size_t count) {
  const char *text = NULL;
  const struct candidate *last = NULL;
  for (size_t n = 0; n < count; n++) {
    const struct candidate *next = NULL;
    for (size_t i = 0; i < count; i++) { /* candidates are an array in the order of components */
      if (half[i] > last && (next == NULL || half[i] < next)) {
        next = half[i];
      }
    }
    if (next == NULL) {
      break;
    }
    last = next;
    const struct component *component = &next->observation.component;
    const char *name = rows_component_name(f, component);
    if (f->outliers->is_fleet && n == HALF_NAMED) {
      return arena_format(&f->outliers->arena, "%s and %zu more", text, count - n);
    }
    if (f->outliers->hosts > 1 && component->entity != ENTITY_HOST) {
      name = arena_format(&f->outliers->arena, "%s of %s", name, rows_host_name(f, component));
    }
    text = text == NULL
               ? name
               : arena_join(&f->outliers->arena, text, f->outliers->hosts > 1 ? ", " : ",", name);
  }
  return text;
}

/* Whether a block has several kinds of memory. */
static bool rows_has_memories(const struct finder *f, const char *block) {
  const char *memory = NULL;
  for (size_t i = 0; i < f->results->case_count; i++) {
    const struct case_traits *traits = &f->traits[i];
    if (traits->block == block && memory != NULL && traits->memory != memory) {
      return true;
    }
    memory = traits->block == block ? traits->memory : memory;
  }
  return false;
}

static void rows_set_gpus(const struct component *component, struct outlier *row) {
  const struct path *path = &component->path;
  const int from = component->entity != ENTITY_HOST && path->from_gpu ? path->from : -1;
  const int to = component->entity == ENTITY_LINK && path->to_gpu ? path->to : -1;
  row->gpus[0] = row->host_link >= 0 ? row->host_link : to >= 0 && to < from ? to : from;
  row->gpus[1] = row->host_link >= 0 || to < 0 || to == from ? -1 : to < from ? from : to;
}

static void rows_add_row(struct finder *f, const struct candidate *candidate) {
  const struct observation *observation = &candidate->observation;
  const struct component *component = &observation->component;
  struct outlier row = {
      .state = candidate->state,
      .entity = component->entity,
      .role = candidate->role,
      .host = rows_host_name(f, component),
      .name = rows_component_name(f, component),
      .environment = observation->environment,
      .block = component->traits->block,
      .memory = component->traits->memory,
      .memory_matters = rows_has_memories(f, component->traits->block),
      .single = candidate->single,
      .sizes = component->traits->sizes,
      .change = expm1(candidate->score.deviation),
      .source_change = expm1(candidate->source_change),
      .target_change = expm1(candidate->target_change),
      .robust_z = candidate->score.robust_z,
      .cases = observation->cases,
      .slow_cases = observation->slow_cases,
      .worst = observation->worst,
      .worst_change = expm1(observation->worst_deviation),
      .other = observation->other,
      .host_link = rows_host_link(f, observation),
      .direction = rows_direction(candidate),
      .verdict = SIZE_MAX,
  };
  const struct results_gpu *gpu =
      outliers_gpu(&f->results->environments[row.environment],
                   component->entity == ENTITY_GPU ? component->path.from : -1);
  row.uuid = gpu != NULL ? gpu->uuid : NULL;
  rows_set_gpus(component, &row);
  if (candidate->state == OUTLIER_SLOW || candidate->state == OUTLIER_EXPLAINED) {
    rows_count_cases(f, candidate, &row);
    /* In a fleet each result has its place on other hosts to be slow against: a GPU that is slower
     * than those of a fast host is none. */
    row.state = f->outliers->is_fleet && row.slow_cases == 0 ? OUTLIER_FINE : row.state;
  }
  f->outliers->slow_count += row.state == OUTLIER_SLOW;
  f->outliers->undecided_count += row.state == OUTLIER_UNDECIDED;
  *ARENA_ADD(&f->outliers->arena, f->outliers->rows, f->outliers->row_count) = row;
}

/* One row for the slower half of a set. */
static void rows_add_half(struct finder *f, const struct candidate *candidate) {
  const size_t at = f->outliers->row_count;
  rows_add_row(f, candidate);
  struct outlier *row = &f->outliers->rows[at];
  row->state = OUTLIER_UNDECIDED;
  row->name = rows_join_half(f, candidate->peers, candidate->half);
  row->rivals = rows_join_half(f, candidate->rivals, candidate->half);
  row->change = expm1(candidate->difference);
  row->other = candidate->rivals[0]->observation.worst;
  row->uuid = NULL;
  row->cases = row->slow_cases = 0;
  for (size_t i = 0; i < candidate->half; i++) {
    row->cases += candidate->peers[i]->observation.cases;
  }
  f->outliers->undecided_count++;
}

/* The links of a half are not said again where its GPUs are. */
static bool rows_is_said(const struct candidate *candidates, size_t count,
                         const struct candidate *link) {
  const struct component *x = &link->observation.component;
  for (size_t i = 0; i < count && x->entity == ENTITY_LINK; i++) {
    const struct component *y = &candidates[i].observation.component;
    if (candidates[i].half > 0 && y->entity == ENTITY_GPU && x->traits->set == y->traits->set) {
      return true;
    }
  }
  return false;
}

ORDER_DEFINE(rows_compare_rows, struct outlier, ORDER(x->state, y->state) ?: ORDER(x->change, y->change) ?: strcmp(x->host, y->host) ?: strcmp(x->name, y->name) ?: strcmp(x->block, y->block))

/* ---- verdicts ---- */

/* What a row is about, whatever the block. */
static const char *rows_verdict_name(struct arena *arena, const struct outlier *row) {
  if (row->rivals != NULL) {
    return row->name;
  }
  return row->host_link >= 0 ? arena_format(arena, "gpu%d's host link", row->host_link) : row->name;
}

static struct outlier_verdict *rows_verdict(struct outliers *outliers, const struct outlier *row) {
  const char *name = rows_verdict_name(&outliers->arena, row);
  const bool local = row->direction == ROLE_LOCAL;
  for (size_t i = 0; i < outliers->verdict_count; i++) {
    struct outlier_verdict *verdict = &outliers->verdicts[i];
    if (verdict->state == row->state && strcmp(verdict->name, name) == 0 &&
        strcmp(verdict->host, row->host) == 0 && strings_equal(verdict->rivals, row->rivals) &&
        (verdict->direction == ROLE_LOCAL) == local) {
      return verdict;
    }
  }
  struct outlier_verdict *verdict =
      ARENA_ADD(&outliers->arena, outliers->verdicts, outliers->verdict_count);
  *verdict = (struct outlier_verdict){.state = row->state,
                                      .entity = row->entity,
                                      .host = row->host,
                                      .name = name,
                                      .rivals = row->rivals,
                                      .host_link = row->host_link,
                                      .gpus = {row->gpus[0], row->gpus[1]},
                                      .environment = row->environment,
                                      .direction = row->direction,
                                      .direction_is_vague = true,
                                      .change = row->change,
                                      .least = row->change,
                                      .worst = SIZE_MAX,
                                      .mildest = SIZE_MAX,
                                      .blocks = ""};
  return verdict;
}

/* What goes both ways at once does not tell which of them is slow: blocks of one direction do. */
static void rows_narrow_direction(struct outlier_verdict *verdict, const struct outlier *row) {
  const bool vague = row->direction == ROLE_BOTH && isnan(row->source_change);
  if (verdict->direction_is_vague) {
    verdict->direction = row->direction;
    verdict->direction_is_vague = vague;
  } else if (!vague && verdict->direction != row->direction) {
    verdict->direction = ROLE_BOTH;
  }
}

/* How slow it is at its worst: of a way to the host, or within a GPU, the slowest case tells;
 * between GPUs a case has the effects of two GPUs as well. */
static double rows_worst_change(const struct outlier *row) {
  const bool alone = row->host_link >= 0 || row->direction == ROLE_LOCAL;
  return alone ? fmin(row->change, row->worst_change) : row->change;
}

/* The row is in the verdict. A row of one case names it, as the slowest case does. */
static void rows_extend_change(struct outlier_verdict *verdict, const struct outlier *row) {
  const double change = rows_worst_change(row);
  const bool is_first = verdict->cases == 0;
  if (is_first || change < verdict->change) {
    verdict->change = change;
    verdict->worst = row->cases == 1 || change < row->change ? row->worst : SIZE_MAX;
  }
  if (is_first || row->change > verdict->least) {
    verdict->least = row->change;
    verdict->mildest = row->cases == 1 ? row->worst : SIZE_MAX;
  }
}

void outliers_count_row(const struct finder *f, const struct outlier *row, uint32_t number,
                        uint32_t *marks, struct case_counts *counts) {
  for (size_t i = 0; i < row->cases && row->results != NULL; i++) {
    const uint32_t at = row->results[i];
    if (marks[at] != number) {
      marks[at] = number;
      counts->cases++;
      counts->slow_cases += result_is_slow(&f->host_results[at]);
    }
  }
}

/* A case counts once, though it tells of a GPU as source and as target. */
static void rows_count_verdicts(struct finder *f) {
  struct outliers *outliers = f->outliers;
  uint32_t *marks = arena_array(&f->arena, f->host_result_count, sizeof *marks);
  for (size_t v = 0; v < outliers->verdict_count; v++) {
    struct outlier_verdict *verdict = &outliers->verdicts[v];
    struct case_counts counts = {0};
    for (size_t i = 0; i < outliers->row_count; i++) {
      if (outliers->rows[i].verdict == v && outliers->rows[i].state == OUTLIER_SLOW) {
        outliers_count_row(f, &outliers->rows[i], (uint32_t)v + 1, marks, &counts);
      }
    }
    if (counts.cases > 0) {
      verdict->cases = counts.cases;
      verdict->slow_cases = counts.slow_cases;
    }
  }
}

/* One verdict per component over the rows of all blocks, the slowest first. */
static void rows_make_verdicts(struct finder *f) {
  struct outliers *outliers = f->outliers;
  for (size_t i = 0; i < outliers->row_count; i++) {
    struct outlier *row = &outliers->rows[i];
    if (row->state != OUTLIER_SLOW && (row->state != OUTLIER_UNDECIDED || row->rivals == NULL)) {
      continue;
    }
    struct outlier_verdict *verdict = rows_verdict(outliers, row);
    row->verdict = (size_t)(verdict - outliers->verdicts);
    rows_narrow_direction(verdict, row);
    rows_extend_change(verdict, row);
    verdict->cases += row->cases;
    verdict->slow_cases += row->slow_cases;
    if (!strings_has_word(verdict->blocks, row->block)) {
      verdict->blocks = arena_add_word(&outliers->arena, verdict->blocks, row->block);
    }
  }
  rows_count_verdicts(f);
}

/* ---- the whole ---- */

void outliers_make_rows(struct finder *f, struct candidate *candidates, size_t count) {
  const bool slow_only = f->options->slow_only;
  for (size_t i = 0; i < count; i++) {
    if (candidates[i].judged && !candidates[i].merged &&
        !(slow_only && candidates[i].state == OUTLIER_FINE)) {
      rows_add_row(f, &candidates[i]);
    }
    if (candidates[i].half > 0 && candidates[i].peers[0] == &candidates[i] &&
        !rows_is_said(candidates, count, &candidates[i])) {
      rows_add_half(f, &candidates[i]);
    }
  }
  ORDER_SORT(f->outliers->rows, f->outliers->row_count, rows_compare_rows);
  rows_make_verdicts(f);
}
