/* outliers_hosts.c - whether a host is slow as a whole: one question, which its blocks answer
 * together. Chance moves their mean less than each of them. */
#include "runner/analysis/outliers_internal.h"

#include "engine/base/order.h"
#include "runner/statistics/robust.h"
#include "runner/statistics/sample.h"

#include <math.h>

/* One set of hosts. */
struct host_block {
  struct candidate **hosts; /* by environment; NULL = has no result there */
  double *means;            /* of their results */
  double spread;            /* of these, of sound hosts */
  bool counts;
};

struct host_table {
  struct host_block *blocks;
  size_t block_count;
  bool *sound; /* by environment: a host of which nothing is slow */
  size_t host_count;
  double *scratch; /* holds host_count */
};

/* The mean of a host's results in the blocks that count, but for its slowest ones, each weighted by
 * how well it tells hosts apart, which is known as in robust.h. The margin is the least; margin 0 =
 * it has no result. */
static struct robust_score host_mean(const struct host_table *table, size_t host) {
  struct robust_score mean = {0};
  double weights = 0;
  for (size_t b = 0; b < table->block_count; b++) {
    const struct host_block *block = &table->blocks[b];
    const struct candidate *candidate = block->hosts[host];
    if (!block->counts || candidate == NULL) {
      continue;
    }
    const double weight = 1 / (ROBUST_SPREAD * ROBUST_SPREAD + block->spread * block->spread);
    weights += weight;
    mean.value += weight * block->means[host];
    mean.noise = hypot(mean.noise, weight * candidate->observation.noise);
    mean.error = hypot(mean.error, weight * candidate->observation.error);
    mean.margin = mean.margin > 0 ? fmin(mean.margin, candidate->observation.margin)
                                  : candidate->observation.margin;
  }
  if (weights > 0) {
    mean.value /= weights;
    mean.noise /= weights;
    mean.error /= weights;
  }
  return mean;
}

/* Of the means of sound hosts; NAN of fewer than ROBUST_COUNT_MIN. */
static double host_spread(const struct host_table *table) {
  size_t count = 0;
  for (size_t h = 0; h < table->host_count; h++) {
    const struct robust_score mean = host_mean(table, h);
    if (table->sound[h] && mean.margin > 0) {
      table->scratch[count++] = mean.value;
    }
  }
  return count < ROBUST_COUNT_MIN ? NAN : sqrt(sample_summary(table->scratch, count).variance);
}

/* Last, blocks of which too few hosts are sound: NAN. */
ORDER_DEFINE(host_compare_blocks, struct host_block,
             ORDER(isnan(x->spread), isnan(y->spread)) ?: ORDER(x->spread, y->spread))

/* Blocks may tell the same, one of them with more of what differs between sound hosts: a block
 * counts if sound hosts differ less with it, the best one first. */
static void host_choose_blocks(struct host_table *table) {
  double least = INFINITY;
  for (size_t b = 0; b < table->block_count; b++) {
    struct host_block *block = &table->blocks[b];
    block->counts = true;
    block->spread = host_spread(table);
    block->counts = false;
  }
  ORDER_SORT(table->blocks, table->block_count, host_compare_blocks);
  for (size_t b = 0; b < table->block_count; b++) {
    table->blocks[b].counts = true;
    const double spread = host_spread(table);
    table->blocks[b].counts = spread < least;
    least = fmin(least, spread);
  }
}

/* Without as many of the lowest results as one GPU has: a bad GPU is no bad host. */
static double host_block_mean(const struct candidate *candidate, size_t gpus) {
  const size_t count = candidate->observation_count;
  const size_t of_gpu = gpus > 2 ? (count + gpus - 1) / gpus : (count + 1) / 2;
  const size_t skipped = of_gpu < count ? of_gpu : count - 1;
  const double sum = TOTAL_OF(i, count - skipped, candidate->observations[skipped + i].value);
  return sum / (double)(count - skipped);
}

static void host_add_block(struct finder *f, const struct candidate_set *set,
                           struct host_table *table) {
  const struct host_block block = {
      .hosts = arena_array(&f->arena, table->host_count, sizeof(struct candidate *)),
      .means = arena_array(&f->arena, table->host_count, sizeof(double))};
  for (size_t i = 0; i < set->count; i++) {
    struct candidate *candidate = &set->candidates[i];
    const uint32_t host = candidate->observation.component.host;
    block.hosts[host] = candidate;
    block.means[host] = host_block_mean(candidate, f->results->environments[host].gpu_count);
  }
  *ARENA_ADD(&f->arena, table->blocks, table->block_count) = block;
}

static void host_read(struct finder *f, const struct candidate_set *sets, size_t set_count,
                      struct host_table *table) {
  for (size_t h = 0; h < table->host_count; h++) {
    table->sound[h] = true;
  }
  for (size_t s = 0; s < set_count; s++) {
    const struct candidate *candidates = sets[s].candidates;
    for (size_t i = 0; i < sets[s].count; i++) {
      bool *sound = &table->sound[candidates[i].observation.component.host];
      *sound = *sound && candidates[i].state != OUTLIER_SLOW;
    }
    if (candidates->observation.component.entity == ENTITY_HOST && candidates->judged) {
      host_add_block(f, &sets[s], table);
    }
  }
}

void outliers_judge_hosts(struct finder *f, const struct candidate_set *sets, size_t set_count,
                          size_t tests) {
  const size_t hosts = f->results->environment_count;
  struct host_table table = {.host_count = hosts,
                             .sound = arena_array(&f->arena, hosts, sizeof(bool)),
                             .scratch = arena_array(&f->arena, hosts, sizeof(double))};
  struct robust_score *scores = arena_array(&f->arena, hosts, sizeof *scores);
  size_t *places = arena_array(&f->arena, hosts, sizeof *places); /* of a score: its host */
  size_t found = 0;
  host_read(f, sets, set_count, &table);
  host_choose_blocks(&table);
  for (size_t h = 0; h < hosts; h++) {
    scores[found] = host_mean(&table, h);
    places[found] = h;
    found += scores[found].margin > 0;
  }
  robust_score_all(scores, found, 0, tests, f->options->changes);
  for (size_t i = 0; i < found; i++) {
    for (size_t b = 0; b < table.block_count && scores[i].low; b++) {
      struct candidate *candidate = table.blocks[b].hosts[places[i]];
      if (candidate != NULL && candidate->state == OUTLIER_FINE &&
          candidate->score.deviation <= log1p(-candidate->observation.margin)) {
        candidate->state = OUTLIER_SLOW;
      }
    }
  }
}
