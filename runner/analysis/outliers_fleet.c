/* outliers_fleet.c - what a reader of a fleet asks for: which part of which machine, and how each
 * machine does in each block. */
#include "runner/analysis/outliers_internal.h"

#include "engine/base/order.h"
#include "engine/base/strings.h"
#include "runner/statistics/distributions.h"
#include "runner/statistics/robust.h"
#include "runner/statistics/sample.h"

#include <math.h>
#include <string.h>

/* A GPU whose way to the host is slower by no more than this times what the GPU is slower
 * elsewhere: one fault. */
#define FLEET_ONE_FAULT 2.0
/* A host is slow as a whole in a block where that share of its results is. */
#define FLEET_SHARE_OF_HOST 0.75

/* ---- parts ---- */

static bool fleet_is_one_part(const struct outlier_verdict *x, const struct outlier_verdict *y) {
  if (strcmp(x->host, y->host) != 0 || x->gpus[0] != y->gpus[0] || x->gpus[1] != y->gpus[1] ||
      (x->entity == ENTITY_HOST) != (y->entity == ENTITY_HOST)) {
    return false;
  }
  if ((x->host_link >= 0) == (y->host_link >= 0)) {
    return true;
  }
  return fmin(x->change, y->change) >= FLEET_ONE_FAULT * fmax(x->change, y->change);
}

/* "a, b" with what of `more` is not in it; lists have ", " between. */
static const char *fleet_join(struct arena *arena, const char *list, const char *more) {
  while (*more != '\0') {
    const size_t length = strcspn(more, ",");
    const char *name = arena_strndup(arena, more, length);
    list = strings_has_word(list, name) ? list : arena_add_word(arena, list, name);
    more += length + (more[length] == ',' ? 2 : 0);
  }
  return list;
}

static void fleet_set_gpus(struct finder *f, const struct outlier_verdict *verdict,
                           struct outlier_part *part) {
  const struct results_environment *e = &f->results->environments[verdict->environment];
  struct arena *arena = &f->outliers->arena;
  for (size_t i = 0; i < 2 && verdict->gpus[i] >= 0; i++) {
    part->gpus |= verdict->gpus[i] < ANALYSIS_GPUS_MAX ? UINT64_C(1) << verdict->gpus[i] : 0;
    const struct results_gpu *gpu = outliers_gpu(e, verdict->gpus[i]);
    if (gpu != NULL && gpu->uuid != NULL) {
      part->uuid =
          part->uuid == NULL ? gpu->uuid : arena_format(arena, "%s, %s", part->uuid, gpu->uuid);
    }
    if (gpu != NULL && gpu->pci_address != NULL) {
      part->pci_address = part->pci_address == NULL
                              ? gpu->pci_address
                              : arena_format(arena, "%s, %s", part->pci_address, gpu->pci_address);
    }
  }
}

/* Whether the run before, of those on that host, says the same. */
static bool fleet_is_said(const struct finder *f, size_t condition, uint32_t host) {
  const struct results_condition *conditions = f->results->conditions;
  return ANY_OF(i, condition,
                f->hosts[f->results->runs[conditions[i].run].environment] == host &&
                    outliers_takes_run(f, conditions[i].run) &&
                    strcmp(conditions[i].text, conditions[condition].text) == 0);
}

/* What checks and telemetry said of the part. That a run is not complete slows nothing. */
static const char *fleet_evidence(struct finder *f, const struct outlier_verdict *verdict) {
  const struct results *results = f->results;
  const uint32_t host = f->hosts[verdict->environment];
  const char *evidence = NULL;
  for (size_t i = 0; i < results->condition_count; i++) {
    const struct results_condition *condition = &results->conditions[i];
    const bool here = f->hosts[results->runs[condition->run].environment] == host &&
                      outliers_takes_run(f, condition->run);
    const bool named = verdict->entity == ENTITY_HOST ||
                       (condition->gpu >= 0 &&
                        (condition->gpu == verdict->gpus[0] || condition->gpu == verdict->gpus[1]));
    if (here && named && condition->kind != CONDITION_INCOMPLETE && !fleet_is_said(f, i, host)) {
      evidence = evidence == NULL
                     ? condition->text
                     : arena_format(&f->outliers->arena, "%s; %s", evidence, condition->text);
    }
  }
  return evidence;
}

ORDER_DEFINE(fleet_compare_parts, struct outlier_part, ORDER(x->change, y->change))

static const char *fleet_part_name(struct arena *arena, const struct outlier_verdict *verdict,
                                   bool merged) {
  const bool pair = verdict->gpus[1] >= 0;
  if (verdict->gpus[0] < 0 || !(merged || (pair && verdict->direction == ROLE_BOTH))) {
    return verdict->name;
  }
  return pair ? arena_format(arena, "gpu%d--gpu%d", verdict->gpus[0], verdict->gpus[1])
              : arena_format(arena, "gpu%d", verdict->gpus[0]);
}

bool outliers_part_has(const struct outlier_part *part, const struct results_case *bench) {
  return strings_has_word(part->blocks, bench->block) && (part->gpus & bench->gpus) == part->gpus;
}

/* Whether a result says that the part changed for the worse by more than matters: against the same
 * place on the other hosts, but for those of which something else is slow, by how these differ,
 * with a share of the error rate. */
static bool fleet_is_worse(const struct finder *f, const struct result *result, const bool *slow,
                           double *scratch) {
  size_t count = 0;
  for (size_t i = 0; i < f->host_result_count; i++) {
    const struct result *other = &f->host_results[i];
    if (other->traits->place == result->traits->place && other->host != result->host &&
        !slow[other->host]) {
      scratch[count++] = other->rate;
    }
  }
  if (count < 2) {
    return false;
  }
  struct robust_usual others = robust_usual(scratch, count);
  /* Few nodes may be left: their spread is shrunk towards the usual one, as in robust.h. */
  const double own = fmax(result->error, result->noise);
  const double usual = fmax(ROBUST_SPREAD, own);
  others.spread = sqrt((ROBUST_DF * usual * usual + others.df * others.spread * others.spread) /
                       (ROBUST_DF + others.df));
  others.df += ROBUST_DF;
  const double spread = fmax(others.spread, own);
  const double excess = others.middle - result->rate + log1p(-result->traits->margin);
  const double t = excess / (spread * sqrt(1 + 1 / (double)count));
  return t > 0 && student_upper(t, others.df) * (double)f->host_result_count <= OUTLIER_ALONE_ALPHA;
}

/* A result may be an exception of its own, for what a process got differs: one that is certain
 * takes others of the part that are slower by more than matters, as many as half of them. */
static bool fleet_is_certain(const struct finder *f, const struct outlier_part *part,
                             const bool *slow, double *scratch) {
  const uint32_t host = f->hosts[part->environment];
  const bool alone = part->slow_cases < 2 || 2 * part->slow_cases < part->cases;
  for (size_t i = 0; !alone && i < f->host_result_count; i++) {
    const struct result *result = &f->host_results[i];
    if (result->host == host && outliers_part_has(part, &f->results->cases[result->bench]) &&
        fleet_is_worse(f, result, slow, scratch)) {
      return true;
    }
  }
  return false;
}

/* How the results of a host in the blocks of a list are. */
struct fleet_span {
  size_t cases, slow_cases;
  double middle; /* of what is slow: its mean change */
};

static struct fleet_span fleet_span(const struct finder *f, uint32_t host, const char *blocks) {
  struct fleet_span span = {0};
  double sum = 0;
  for (size_t i = 0; i < f->host_result_count; i++) {
    const struct result *result = &f->host_results[i];
    if (result->host == host && strings_has_word(blocks, result->traits->block)) {
      span.cases++;
      span.slow_cases += result_is_slow(result);
      sum += result_is_slow(result) ? result->deviation : 0;
    }
  }
  span.middle = span.slow_cases > 0 ? expm1(sum / (double)span.slow_cases) : 0;
  return span;
}

/* The part is the host, or most of what the host does in its blocks is slow. */
static bool fleet_is_of_host(const struct finder *f, const struct outlier_part *part) {
  const struct fleet_span span = fleet_span(f, f->hosts[part->environment], part->blocks);
  return part->gpus == 0 || FLEET_SHARE_OF_HOST * (double)span.cases <= (double)span.slow_cases;
}

static uint32_t fleet_host(const struct finder *f, const struct outlier_part *part) {
  return f->hosts[part->environment];
}

/* Parts of a machine that is slow as a whole in their blocks are said as the machine, if it is
 * named itself, or two of its GPUs are. One that is slower still keeps its line. */
static void fleet_join_host(struct finder *f, uint32_t host) {
  struct outliers *outliers = f->outliers;
  struct outlier_part *all = NULL;
  uint64_t gpus = 0;
  const char *blocks = "";
  for (size_t i = 0; i < outliers->part_count; i++) {
    struct outlier_part *part = &outliers->parts[i];
    if (fleet_host(f, part) == host && part->cases > 0 && fleet_is_of_host(f, part)) {
      gpus |= part->gpus;
      blocks = fleet_join(&outliers->arena, blocks, part->blocks);
      all = all == NULL || part->gpus == 0 ? part : all;
    }
  }
  const struct fleet_span span = fleet_span(f, host, blocks);
  if (all == NULL || (all->gpus != 0 && (gpus & (gpus - 1)) == 0)) {
    return;
  }
  const double most = FLEET_ONE_FAULT * (all->gpus == 0 ? all->change : span.middle);
  for (size_t i = 0; i < outliers->part_count; i++) {
    struct outlier_part *part = &outliers->parts[i];
    if (fleet_host(f, part) == host && part != all && fleet_is_of_host(f, part) &&
        part->change >= most) {
      part->cases = 0; /* gone */
    }
  }
  all->name = all->host;
  all->gpus = 0;
  all->uuid = all->pci_address = NULL;
  all->blocks = blocks;
  all->cases = span.cases;
  all->slow_cases = span.slow_cases;
}

/* Whether all that is slow of a host in those blocks is of some GPUs, and others of it are well. */
static bool fleet_is_of_gpus(const struct finder *f, uint32_t host, const char *blocks,
                             uint64_t gpus) {
  bool others = false;
  for (size_t i = 0; i < f->host_result_count; i++) {
    const struct result *result = &f->host_results[i];
    if (result->host == host && strings_has_word(blocks, result->traits->block) &&
        (f->results->cases[result->bench].gpus & gpus) != gpus) {
      if (result_is_slow(result)) {
        return false;
      }
      others = true;
    }
  }
  return others;
}

/* A machine is not blamed for what one of its GPUs or links explains: in the blocks of both. */
static void fleet_drop_host(struct finder *f, struct outlier_part *all) {
  for (size_t i = 0; i < f->outliers->part_count; i++) {
    struct outlier_part *part = &f->outliers->parts[i];
    if (all->gpus != 0 || part->gpus == 0 || part->cases == 0 ||
        fleet_host(f, part) != fleet_host(f, all)) {
      continue;
    }
    const char *blocks = fleet_join(&f->outliers->arena, part->blocks, all->blocks);
    if (fleet_is_of_gpus(f, fleet_host(f, all), blocks, part->gpus)) {
      part->blocks = blocks;
      all->cases = 0; /* gone */
      return;
    }
  }
}

static void fleet_join_hosts(struct finder *f) {
  struct outliers *outliers = f->outliers;
  bool *seen = arena_array(&f->arena, f->results->environment_count, sizeof *seen);
  for (size_t i = 0; i < outliers->part_count; i++) {
    fleet_drop_host(f, &outliers->parts[i]);
  }
  for (size_t i = 0; i < outliers->part_count && outliers->is_fleet; i++) {
    const uint32_t host = fleet_host(f, &outliers->parts[i]);
    if (!seen[host]) {
      fleet_join_host(f, host);
      seen[host] = true;
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < outliers->part_count; i++) {
    if (outliers->parts[i].cases > 0) {
      outliers->parts[kept++] = outliers->parts[i];
    }
  }
  outliers->part_count = kept;
}

void outliers_make_parts(struct finder *f) {
  struct outliers *outliers = f->outliers;
  struct arena *arena = &outliers->arena;
  const size_t count = outliers->verdict_count;
  bool *taken = arena_array(&f->arena, count, sizeof *taken);
  uint32_t *marks = arena_array(&f->arena, f->host_result_count, sizeof *marks);
  bool *slow = arena_array(&f->arena, f->results->environment_count, sizeof *slow); /* by host */
  double *scratch = arena_array(&f->arena, f->host_result_count, sizeof *scratch);
  outliers->parts = arena_array(arena, count, sizeof *outliers->parts);
  for (size_t i = 0; i < count; i++) {
    const struct outlier_verdict *first = &outliers->verdicts[i];
    if (taken[i] || first->state != OUTLIER_SLOW) {
      continue;
    }
    struct outlier_part *part = &outliers->parts[outliers->part_count++];
    *part = (struct outlier_part){.host = first->host,
                                  .environment = first->environment,
                                  .change = first->change,
                                  .least = first->least,
                                  .blocks = ""};
    bool merged = false;
    struct case_counts counts = {0};
    for (size_t j = i; j < count; j++) {
      const struct outlier_verdict *verdict = &outliers->verdicts[j];
      if (taken[j] || verdict->state != OUTLIER_SLOW || !fleet_is_one_part(first, verdict)) {
        continue;
      }
      taken[j] = true;
      merged = merged || (verdict->host_link >= 0) != (first->host_link >= 0) ||
               strcmp(verdict->name, first->name) != 0;
      part->change = fmin(part->change, verdict->change);
      part->least = fmax(part->least, verdict->least);
      for (size_t r = 0; r < outliers->row_count; r++) {
        if (outliers->rows[r].verdict == j && outliers->rows[r].state == OUTLIER_SLOW) {
          outliers_count_row(f, &outliers->rows[r], (uint32_t)i + 1, marks, &counts);
        }
      }
      part->blocks = fleet_join(arena, part->blocks, verdict->blocks);
    }
    part->cases = counts.cases;
    part->slow_cases = counts.slow_cases;
    part->name = fleet_part_name(arena, first, merged);
    part->evidence = fleet_evidence(f, first);
    fleet_set_gpus(f, first, part);
    slow[fleet_host(f, part)] = true;
  }
  fleet_join_hosts(f);
  for (size_t i = 0; i < outliers->part_count && f->options->changes; i++) {
    outliers->parts[i].certain = fleet_is_certain(f, &outliers->parts[i], slow, scratch);
  }
  ORDER_SORT(outliers->parts, outliers->part_count, fleet_compare_parts);
}

/* ---- cells ---- */

struct fleet_host {
  const char *name;
  uint32_t number; /* as in finder.hosts */
};

ORDER_DEFINE(fleet_compare_hosts, struct fleet_host, strcmp(x->name, y->name))

/* Hosts with results get numbers, in the order of their names. */
static size_t *fleet_number_hosts(struct finder *f) {
  const size_t count = f->results->environment_count;
  struct outliers *outliers = f->outliers;
  size_t *numbers = arena_array(&f->arena, count, sizeof *numbers);
  struct fleet_host *hosts = arena_array(&f->arena, outliers->hosts, sizeof *hosts);
  bool *seen = arena_array(&f->arena, count, sizeof *seen);
  size_t found = 0;
  for (size_t i = 0; i < f->host_result_count; i++) {
    const uint32_t host = f->host_results[i].host;
    if (!seen[host]) {
      const char *name = f->results->environments[host].node;
      hosts[found++] = (struct fleet_host){name != NULL ? name : "", host};
    }
    seen[host] = true;
  }
  ORDER_SORT(hosts, found, fleet_compare_hosts);
  outliers->host_names = arena_array(&outliers->arena, found, sizeof(char *));
  for (size_t h = 0; h < found; h++) {
    outliers->host_names[h] = hosts[h].name;
    numbers[hosts[h].number] = h;
  }
  return numbers;
}

static void fleet_add_to_cell(const struct result *result, struct outlier_cell *cell) {
  const double change = expm1(result->deviation);
  cell->cases++;
  if (!isnan(change) &&
      (cell->cases == 1 || change / result->traits->margin < cell->change / cell->margin)) {
    cell->change = change;
    cell->margin = result->traits->margin;
    cell->worst = result->bench;
  }
}

/* What is usual of each block: results are their peers' middle and a deviation. */
static void fleet_set_usual(struct finder *f, const uint32_t *block_of) {
  struct outliers *outliers = f->outliers;
  double *scratch = arena_array(&f->arena, f->host_result_count, sizeof *scratch);
  outliers->usual = arena_array(&outliers->arena, outliers->block_count, sizeof *outliers->usual);
  for (size_t b = 0; b < outliers->block_count; b++) {
    size_t count = 0;
    for (size_t i = 0; i < f->host_result_count; i++) {
      const struct result *result = &f->host_results[i];
      if (block_of[result->bench] == b && !isnan(result->deviation)) {
        scratch[count++] = result->rate - result->deviation;
      }
    }
    outliers->usual[b] = expm1(sample_median_in_place(scratch, count));
  }
}

void outliers_make_cells(struct finder *f) {
  struct outliers *outliers = f->outliers;
  struct text_index blocks = {.arena = &outliers->arena};
  const uint32_t *block_of = analysis_number_blocks(f->results, &blocks, &f->arena);
  const size_t *numbers = fleet_number_hosts(f);
  outliers->blocks = blocks.texts;
  outliers->block_count = blocks.count;
  outliers->cells =
      arena_array(&outliers->arena, outliers->hosts * blocks.count, sizeof *outliers->cells);
  for (size_t i = 0; i < f->host_result_count; i++) {
    const struct result *result = &f->host_results[i];
    fleet_add_to_cell(
        result, &outliers->cells[numbers[result->host] * blocks.count + block_of[result->bench]]);
  }
  for (size_t i = 0; i < outliers->row_count; i++) {
    const struct outlier *row = &outliers->rows[i];
    if (row->state == OUTLIER_SLOW) {
      outliers->cells[numbers[f->hosts[row->environment]] * blocks.count + block_of[row->worst]]
          .slow = true;
    }
  }
  fleet_set_usual(f, block_of);
}
