/* outliers.c - one result per case and machine, each with its peer group. */
#include "runner/analysis/outliers_internal.h"

#include "engine/base/order.h"
#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "engine/base/text_index.h"
#include "runner/analysis/definition.h"
#include "runner/statistics/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

ENUM_NAMES_DEFINE(entity, ENTITY_LIST)
ENUM_NAMES_DEFINE(outlier_role, OUTLIER_ROLE_LIST)
ENUM_NAMES_DEFINE(size_class, SIZE_CLASS_LIST)
ENUM_NAMES_DEFINE(outlier_state, OUTLIER_STATE_LIST)

enum { MEMORY_MAX = 1 << 12 };

/* ---- peer groups ---- */

/* How two ends are connected. */
struct connection {
  bool same_node, node_known;
  bool peer_access;
  int nvlink_count;
};

const struct results_gpu *outliers_gpu(const struct results_environment *e, int number) {
  const size_t found = FIRST_OF(i, e->gpu_count, e->gpus[i].number == number);
  return number >= 0 && found < e->gpu_count ? &e->gpus[found] : NULL;
}

static struct connection connection_of(const struct results_environment *e,
                                       const struct results_flow *flow) {
  const struct results_gpu *a = outliers_gpu(e, flow->source_is_gpu ? flow->source : -1);
  const struct results_gpu *b = outliers_gpu(e, flow->target_is_gpu ? flow->target : -1);
  const int from = a != NULL ? a->numa_node : flow->source;
  const int to = b != NULL ? b->numa_node : flow->target;
  struct connection connection = {.node_known = from >= 0 && to >= 0};
  connection.same_node = connection.node_known && from == to;
  for (size_t i = 0; i < e->link_count && a != NULL && b != NULL; i++) {
    if (e->links[i].source == a->number && e->links[i].target == b->number) {
      connection.peer_access = e->links[i].peer_access;
      connection.nvlink_count = e->links[i].nvlink_count;
      connection.same_node = connection.same_node &&
                             connection.nvlink_count == 0; /* NVLink does not depend on nodes */
      connection.node_known = connection.node_known && connection.nvlink_count == 0;
    }
  }
  return connection;
}

/* Hash of the block, of the definition without the numbers of GPUs and nodes, of the GPUs' models,
 * and of how the ends of each flow are connected in that environment. */
static uint64_t peer_group_hash(const struct finder *f, size_t environment, size_t bench) {
  const struct results_environment *e = &f->results->environments[environment];
  const struct results_case *c = &f->results->cases[bench];
  uint64_t hash = XXH64(c->block, strlen(c->block), 0);
  hash = XXH64(&f->traits[bench].definition, sizeof(uint64_t), hash);
  for (size_t i = 0; i < c->flow_count; i++) {
    const struct results_flow *flow = &c->flows[i];
    const struct connection connection = connection_of(e, flow);
    const int parts[] = {connection.same_node, connection.node_known, connection.peer_access,
                         connection.nvlink_count,
                         flow->source_is_gpu && flow->target_is_gpu &&
                             flow->source == flow->target};
    hash = XXH64(parts, sizeof parts, hash);
    const struct results_gpu *gpus[] = {outliers_gpu(e, flow->source_is_gpu ? flow->source : -1),
                                        outliers_gpu(e, flow->target_is_gpu ? flow->target : -1)};
    for (size_t g = 0; g < 2; g++) {
      if (gpus[g] != NULL && gpus[g]->name != NULL) {
        hash = XXH64(gpus[g]->name, strlen(gpus[g]->name), hash);
      }
    }
  }
  return hash;
}

/* Of everything above that is of the environment: the machines of a fleet are mostly alike. */
static uint64_t *outliers_topologies(struct finder *f) {
  const struct results *results = f->results;
  uint64_t *topologies = arena_array(&f->arena, results->environment_count, sizeof *topologies);
  for (size_t e = 0; e < results->environment_count; e++) {
    const struct results_environment *environment = &results->environments[e];
    uint64_t hash = 1;
    for (size_t i = 0; i < environment->gpu_count; i++) {
      const struct results_gpu *gpu = &environment->gpus[i];
      const int parts[] = {gpu->number, gpu->numa_node, gpu->name != NULL};
      const char *name = gpu->name != NULL ? gpu->name : "";
      hash = XXH64(name, strlen(name), XXH64(parts, sizeof parts, hash));
    }
    for (size_t i = 0; i < environment->link_count; i++) {
      const struct results_link *link = &environment->links[i];
      const int parts[] = {link->source, link->target, link->peer_access, link->nvlink_count};
      hash = XXH64(parts, sizeof parts, hash);
    }
    topologies[e] = hash;
  }
  return topologies;
}

/* The peer group found last for a case: in environments of that topology; 0 = none was. */
struct found_group {
  uint64_t topology, hash;
};

static uint64_t peer_group_of(const struct finder *f, size_t environment, size_t bench) {
  struct found_group *known = &f->peer_groups[bench];
  if (known->topology != f->topologies[environment]) {
    known->topology = f->topologies[environment];
    known->hash = peer_group_hash(f, environment, bench);
  }
  return known->hash;
}

/* ---- results ---- */

/* The medians of one run and case that are of one machine; one of them counts at least. */
struct machine_run {
  uint64_t machine;
  const struct results_median *medians;
  size_t count;
};

bool result_is_slow(const struct result *result) {
  return !isnan(result->deviation) && result->deviation <= log1p(-result->traits->margin);
}

/* A chase is named from the GPU that loads to the memory, against the way of its bytes. */
bool result_is_chase(const struct results_case *bench) {
  return bench->figure == FIGURE_HOP;
}

static struct path outliers_path(const struct results_case *bench) {
  struct path path = {.known = false};
  for (size_t i = 0; i < bench->flow_count && bench->gpus != 0; i++) {
    const struct results_flow *flow = &bench->flows[i];
    const struct path way = {true,         false,       flow->source_is_gpu, flow->target_is_gpu,
                             flow->source, flow->target};
    const struct path back = path_back(way);
    if (flow->load) {
      continue;
    }
    if (!path.known) {
      path = way;
    } else if (!path_has_ends(&path, &way) && !path_has_ends(&path, &back)) {
      return (struct path){.known = false};
    }
    path.bidirectional = path.bidirectional || !path_has_ends(&path, &way);
  }
  return result_is_chase(bench) ? path_back(path) : path;
}

/* Kinds of memory at both ends of the measured flows, each pair once. */
static const char *outliers_memory(struct arena *arena, const struct results_case *bench,
                                   bool back) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(MEMORY_MAX);
  for (size_t i = 0; i < bench->flow_count; i++) {
    const struct results_flow *flow = &bench->flows[i];
    const char *from = back ? flow->target_memory : flow->source_memory;
    const char *to = back ? flow->source_memory : flow->target_memory;
    if (flow->load || (from == NULL && to == NULL)) {
      continue;
    }
    const char *pair = from == NULL || to == NULL ? (from != NULL ? from : to)
                                                  : arena_format(arena, "%s to %s", from, to);
    if (!strings_has_word(text.text, pair)) {
      strbuf_append_word(&text, pair);
    }
  }
  return arena_strdup(arena, text.text);
}

static enum size_class outliers_size_class(const struct results_case *bench) {
  if (bench->figure != FIGURE_RATE) {
    return SIZES_NONE;
  }
  return bench->size_bytes >= UINT64_C(1) << 20 ? SIZES_LARGE : SIZES_SMALL;
}

/* One pointer for equal texts. */
static const char *outliers_intern(struct text_index *texts, const char *text) {
  const size_t number = text_index_number(texts, text);
  return texts->texts[number];
}

ORDER_DEFINE(outliers_compare_traits, struct case_traits *const,
             strcmp((*x)->block, (*y)->block) ?: strcmp((*x)->memory, (*y)->memory)
                 ?: ORDER((*x)->sizes, (*y)->sizes))

static void outliers_number_sets(struct finder *f, struct case_traits *traits) {
  const size_t count = f->results->case_count;
  struct case_traits **sorted = arena_array(&f->arena, count, sizeof *sorted);
  for (size_t i = 0; i < count; i++) {
    sorted[i] = &traits[i];
  }
  ORDER_SORT(sorted, count, outliers_compare_traits);
  for (size_t i = 1; i < count; i++) {
    const bool same = outliers_compare_traits(&sorted[i - 1], &sorted[i]) == 0;
    sorted[i]->set = sorted[i - 1]->set + (same ? 0 : 1);
  }
}

/* The texts outlive the finder: rows have them. */
static const struct case_traits *outliers_traits(struct finder *f) {
  const struct results *results = f->results;
  struct arena *arena = &f->outliers->arena;
  struct case_traits *traits = arena_array(&f->arena, results->case_count, sizeof *traits);
  struct text_index texts = {.arena = arena};
  for (size_t i = 0; i < results->case_count; i++) {
    const struct results_case *bench = &results->cases[i];
    const bool again = i > 0 && strcmp(bench->key, results->cases[i - 1].key) == 0;
    traits[i] = (struct case_traits){
        .definition = definition_hash_without_places(bench->definition),
        .place = again ? traits[i - 1].place : (uint32_t)i,
        .block = outliers_intern(&texts, bench->block),
        .path = outliers_path(bench),
        .memory = outliers_intern(&texts, outliers_memory(arena, bench, false)),
        .reverse_memory = outliers_intern(&texts, outliers_memory(arena, bench, true)),
        .sizes = outliers_size_class(bench),
        .margin = figure_margin(bench, f->options->margin, NULL),
    };
  }
  outliers_number_sets(f, traits);
  return traits;
}

ORDER_DEFINE(outliers_compare_machines, struct machine_run,
             ORDER(x->machine, y->machine) ?: ORDER(x->medians, y->medians))

/* Of side A, which the others are compared with. */
static bool outliers_is_old(const struct finder *f, size_t run) {
  return f->options->changes && f->options->sides[run] == SIDE_A;
}

bool outliers_takes_run(const struct finder *f, size_t run) {
  const enum side *sides = f->options->sides;
  return sides == NULL || sides[run] == SIDE_B || outliers_is_old(f, run);
}

/* The middle of rates, and its standard error as they differ and as their trials have it. */
struct middle {
  size_t count; /* 0 = there are none, and all else is 0 */
  double rate, noise, error;
  size_t run, bench; /* the last */
};

/* Of the runs of side A, where changes are looked at, or of the others; where the latest run
 * counts, of that. The standard error of a median of normal values is sqrt(pi / 2) times that of
 * their mean. */
static struct middle outliers_middle(const struct finder *f, const struct machine_run *runs,
                                     size_t count, bool old, double *scratch) {
  const struct results_run *all = f->results->runs;
  struct middle middle = {0};
  size_t latest = SIZE_MAX;
  double squares = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t run = runs[i].medians->run;
    if (outliers_is_old(f, run) == old &&
        (latest == SIZE_MAX || all[run].started_at_ns > all[latest].started_at_ns)) {
      latest = run;
    }
  }
  for (size_t i = 0; i < count; i++) {
    const size_t run = runs[i].medians->run;
    if (f->options->latest_only ? run != latest : outliers_is_old(f, run) != old) {
      continue;
    }
    middle.run = run;
    middle.bench = runs[i].medians->bench;
    for (size_t k = 0; k < runs[i].count; k++) {
      const struct results_median *median = &runs[i].medians[k];
      if (results_counts(median)) {
        scratch[middle.count++] = -log(median->ns);
        squares += median->error * median->error;
      }
    }
  }
  if (middle.count > 0) {
    const double factor = middle.count > 2 ? 1.2533 : 1; /* the median of two is their mean */
    const struct sample sample = sample_summary(scratch, middle.count);
    middle.noise = 1.2533 * sqrt(sample.variance / (double)middle.count);
    middle.error = factor * sqrt(squares) / (double)middle.count;
    middle.rate = sample_median_in_place(scratch, middle.count);
  }
  return middle;
}

static void outliers_add_result(struct finder *f, const struct machine_run *runs, size_t count,
                                double *scratch) {
  struct middle old = {0};
  if (f->options->changes) {
    old = outliers_middle(f, runs, count, true, scratch);
  }
  const struct middle middle = outliers_middle(f, runs, count, false, scratch);
  if (middle.count == 0 || (f->options->changes && old.count == 0)) {
    return;
  }
  const size_t environment = f->results->runs[middle.run].environment;
  f->host_results[f->host_result_count++] = (struct result){
      .traits = &f->traits[middle.bench],
      .bench = (uint32_t)middle.bench,
      .environment = (uint32_t)environment,
      .host = f->hosts[environment],
      .peer_group = peer_group_of(f, environment, middle.bench),
      .rate = middle.rate - old.rate,
      .noise = hypot(middle.noise, old.noise),
      .error = hypot(middle.error, old.error),
      .deviation = NAN,
  };
}

/* Makes one result per machine of the medians of one case_key. */
static void outliers_add_case(struct finder *f, const struct results_median *medians, size_t count,
                              struct machine_run *runs, double *scratch) {
  size_t used = 0;
  FOR_EACH_GROUP(first, last, count,
                 medians[last].run == medians[first].run &&
                     medians[last].bench == medians[first].bench) {
    if (outliers_takes_run(f, medians[first].run) &&
        ANY_OF(i, last - first, results_counts(&medians[first + i]))) {
      runs[used++] = (struct machine_run){
          results_hardware(f->results, medians[first].run, medians[first].bench), medians + first,
          last - first};
    }
  }
  ORDER_SORT(runs, used, outliers_compare_machines);
  FOR_EACH_GROUP(first, last, used, runs[last].machine == runs[first].machine) {
    outliers_add_result(f, runs + first, last - first, scratch);
  }
}

ORDER_DEFINE(outliers_compare_results, struct result, ORDER(x->peer_group, y->peer_group) ?: ORDER(x->host, y->host) ?: ORDER(x->bench, y->bench))

static void outliers_read(struct finder *f) {
  const struct results *results = f->results;
  struct machine_run *runs = arena_array(&f->arena, results->median_count, sizeof *runs);
  double *scratch = arena_array(&f->arena, results->median_count, sizeof *scratch);
  f->traits = outliers_traits(f);
  f->topologies = outliers_topologies(f);
  f->peer_groups = arena_array(&f->arena, results->case_count, sizeof *f->peer_groups);
  uint32_t *hosts = analysis_equal_environments(results, false, &f->arena);
  for (size_t e = 0; e < results->environment_count; e++) {
    hosts[e] = hosts[e] != UINT32_MAX ? hosts[e] : (uint32_t)e;
  }
  f->hosts = hosts;
  f->host_results = arena_array(&f->arena, results->median_count, sizeof *f->host_results);
  FOR_EACH_GROUP(first, last, results->median_count, analysis_is_same_key(results, first, last)) {
    outliers_add_case(f, results->medians + first, last - first, runs, scratch);
  }
  ORDER_SORT(f->host_results, f->host_result_count, outliers_compare_results);
}

/* ---- the same place on many hosts ---- */

static size_t outliers_count_hosts(struct finder *f) {
  bool *seen = arena_array(&f->arena, f->results->environment_count, sizeof *seen);
  size_t hosts = 0;
  for (size_t i = 0; i < f->host_result_count; i++) {
    hosts += seen[f->host_results[i].host] ? 0 : 1;
    seen[f->host_results[i].host] = true;
  }
  return hosts;
}

ORDER_DEFINE(outliers_compare_places, struct result *const,
             ORDER((*x)->traits->place, (*y)->traits->place))

double outliers_usual(const struct finder *f, const double *values, size_t count) {
  return f->options->changes ? robust_usual_change(values, count) : sample_median(values, count);
}

/* Takes what all hosts have in common of a place out of the results of one peer group: a slot that
 * is farther from the host in every machine is no fault of one. */
static void outliers_level_places(const struct finder *f, struct result *results, size_t count,
                                  struct result **sorted, double *scratch) {
  for (size_t i = 0; i < count; i++) {
    sorted[i] = &results[i];
    scratch[i] = results[i].rate;
  }
  const double middle = outliers_usual(f, scratch, count);
  qsort(sorted, count, sizeof(void *), outliers_compare_places);
  FOR_EACH_GROUP(first, last, count, sorted[last]->traits->place == sorted[first]->traits->place) {
    if (last - first < OUTLIER_FLEET_HOSTS) {
      continue;
    }
    for (size_t i = first; i < last; i++) {
      scratch[i - first] = sorted[i]->rate;
    }
    const double usual = outliers_usual(f, scratch, last - first);
    for (size_t i = first; i < last; i++) {
      sorted[i]->rate += middle - usual;
    }
  }
}

static void outliers_level(struct finder *f) {
  struct result **sorted = arena_array(&f->arena, f->host_result_count, sizeof *sorted);
  double *scratch = arena_array(&f->arena, f->host_result_count, sizeof *scratch);
  FOR_EACH_GROUP(first, last, f->host_result_count,
                 f->host_results[last].peer_group == f->host_results[first].peer_group) {
    outliers_level_places(f, f->host_results + first, last - first, sorted, scratch);
  }
}

enum status outliers_find(const struct results *results, const struct outliers_options *options,
                          struct outliers **outliers, struct error *err) {
  size_t simulated = 0;
  for (size_t i = 0; i < results->run_count; i++) {
    simulated += results_run_is_simulated(results, i);
  }
  RETURN_ON_ERROR(analysis_check_simulated(simulated, results->run_count, err));
  struct finder f = {
      .results = results, .options = options, .outliers = memory_new(1, sizeof *f.outliers)};
  outliers_read(&f);
  f.outliers->hosts = outliers_count_hosts(&f);
  f.outliers->is_fleet = f.outliers->hosts >= OUTLIER_FLEET_HOSTS;
  if (f.outliers->is_fleet) {
    outliers_level(&f);
  }
  outliers_observe(&f);
  outliers_judge(&f);
  outliers_make_parts(&f);
  if (options->cells) {
    outliers_make_cells(&f);
  }
  free(f.observations);
  arena_fini(&f.arena);
  *outliers = f.outliers;
  return STATUS_OK;
}

void outliers_free(struct outliers *outliers) {
  if (outliers == NULL) {
    return;
  }
  arena_fini(&outliers->arena);
  free(outliers);
}
