/* outliers.c - one result per case and machine, each with its peer group. */
#include "runner/analysis/outliers_internal.h"

#include "engine/base/strbuf.h"
#include "runner/analysis/definition.h"
#include "runner/statistics/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

ENUM_NAMES_DEFINE(entity, ENTITY_LIST)
ENUM_NAMES_DEFINE(outlier_role, OUTLIER_ROLE_LIST)
ENUM_NAMES_DEFINE(size_class, SIZE_CLASS_LIST)
ENUM_NAMES_DEFINE(finding, FINDING_LIST)

enum { MEMORY_MAX = 1 << 12 };

/* ---- peer groups ---- */

/* How two ends are connected. */
struct connection {
  bool same_node, node_known;
  bool peer_access;
  int nvlink_count;
};

static const struct measured_gpu *peer_group_gpu(const struct measured_environment *e, bool is_gpu,
                                                 int number) {
  for (size_t i = 0; i < e->gpu_count && is_gpu; i++) {
    if (e->gpus[i].number == number) {
      return &e->gpus[i];
    }
  }
  return NULL;
}

static struct connection connection_of(const struct measured_environment *e,
                                       const struct measured_flow *flow) {
  const struct measured_gpu *a = peer_group_gpu(e, flow->source_is_gpu, flow->source);
  const struct measured_gpu *b = peer_group_gpu(e, flow->target_is_gpu, flow->target);
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
static uint64_t peer_group_of(const struct measured *measured, size_t environment, size_t bench) {
  const struct measured_environment *e = &measured->environments[environment];
  const struct measured_case *c = &measured->cases[bench];
  uint64_t hash = XXH64(c->block, strlen(c->block), 0);
  const uint64_t definition = definition_hash_without_places(c->definition);
  hash = XXH64(&definition, sizeof definition, hash);
  for (size_t i = 0; i < c->flow_count; i++) {
    const struct measured_flow *flow = &c->flows[i];
    const struct connection connection = connection_of(e, flow);
    const int parts[] = {connection.same_node, connection.node_known, connection.peer_access,
                         connection.nvlink_count,
                         flow->source_is_gpu && flow->target_is_gpu &&
                             flow->source == flow->target};
    hash = XXH64(parts, sizeof parts, hash);
    const struct measured_gpu *gpus[] = {peer_group_gpu(e, flow->source_is_gpu, flow->source),
                                         peer_group_gpu(e, flow->target_is_gpu, flow->target)};
    for (size_t g = 0; g < 2; g++) {
      if (gpus[g] != NULL && gpus[g]->name != NULL) {
        hash = XXH64(gpus[g]->name, strlen(gpus[g]->name), hash);
      }
    }
  }
  return hash;
}

/* ---- results ---- */

/* One median. */
struct value {
  uint64_t machine;
  double rate;
  size_t run, bench;
};

bool path_is_between_gpus(const struct path *path) {
  return path->known && path->from_gpu && path->to_gpu && path->from != path->to;
}

bool result_is_slow(const struct result *result) {
  return !isnan(result->deviation) && result->deviation <= log1p(-result->margin);
}

/* A chase is named from the GPU that loads to the memory, against the way of its bytes. */
bool result_is_chase(const struct measured_case *bench) {
  return bench->figure == FIGURE_HOP;
}

static struct path outliers_path(const struct measured_case *bench) {
  struct path path = {.known = bench->gpus != 0};
  const struct measured_flow *first = NULL;
  for (size_t i = 0; i < bench->flow_count; i++) {
    const struct measured_flow *flow = &bench->flows[i];
    if (flow->load) {
      continue;
    }
    first = first == NULL ? flow : first;
    const bool forth = flow->source_is_gpu == first->source_is_gpu &&
                       flow->source == first->source &&
                       flow->target_is_gpu == first->target_is_gpu && flow->target == first->target;
    const bool back = flow->source_is_gpu == first->target_is_gpu &&
                      flow->source == first->target &&
                      flow->target_is_gpu == first->source_is_gpu && flow->target == first->source;
    path.known = path.known && (forth || back);
    path.bidirectional = path.bidirectional || !forth;
  }
  if (first == NULL || !path.known) {
    return (struct path){.known = false};
  }
  path.from_gpu = first->source_is_gpu;
  path.from = first->source;
  path.to_gpu = first->target_is_gpu;
  path.to = first->target;
  if (result_is_chase(bench)) {
    path = (struct path){.known = true,
                         .from_gpu = path.to_gpu,
                         .from = path.to,
                         .to_gpu = path.from_gpu,
                         .to = path.from};
  }
  return path;
}

/* Kinds of memory at both ends of the measured flows, each pair once. */
static const char *outliers_memory(struct arena *arena, const struct measured_case *bench,
                                   bool back) {
  struct strbuf text;
  strbuf_init(&text, MEMORY_MAX);
  for (size_t i = 0; i < bench->flow_count; i++) {
    const struct measured_flow *flow = &bench->flows[i];
    const char *from = back ? flow->target_memory : flow->source_memory;
    const char *to = back ? flow->source_memory : flow->target_memory;
    if (flow->load || (from == NULL && to == NULL)) {
      continue;
    }
    const char *pair = from == NULL || to == NULL ? (from != NULL ? from : to)
                                                  : arena_format(arena, "%s to %s", from, to);
    if (strstr(text.text, pair) == NULL) {
      strbuf_printf(&text, "%s%s", text.length > 0 ? ", " : "", pair);
    }
  }
  const char *memory = arena_strdup(arena, text.text);
  strbuf_fini(&text);
  return memory;
}

static uint32_t outliers_host(const struct measured *measured, size_t environment) {
  const char *name = measured->environments[environment].node;
  for (size_t e = 0; e < environment && name != NULL; e++) {
    const char *other = measured->environments[e].node;
    if (other != NULL && strcmp(other, name) == 0) {
      return (uint32_t)e;
    }
  }
  return (uint32_t)environment;
}

static enum size_class outliers_size_class(const struct measured_case *bench) {
  if (bench->figure != FIGURE_RATE) {
    return SIZES_NONE;
  }
  return bench->size_bytes >= UINT64_C(1) << 20 ? SIZES_LARGE : SIZES_SMALL;
}

static int outliers_compare_machines(const void *a, const void *b) {
  const struct value *x = a;
  const struct value *y = b;
  return (x->machine > y->machine) - (x->machine < y->machine);
}

static void outliers_add_result(struct finder *f, const struct value *values, size_t count,
                                double *scratch) {
  const struct value *last = &values[count - 1];
  const struct measured_case *bench = &f->measured->cases[last->bench];
  for (size_t i = 0; i < count; i++) {
    scratch[i] = values[i].rate;
  }
  const struct sample sample = sample_summary(scratch, count);
  f->results =
      arena_grow(&f->arena, f->results, f->result_count, &f->result_capacity, sizeof *f->results);
  struct result *result = &f->results[f->result_count++];
  *result = (struct result){
      .bench = last->bench,
      .environment = f->measured->runs[last->run].environment,
      .path = outliers_path(bench),
      .memory = outliers_memory(&f->outliers->arena, bench, false),
      .reverse_memory = outliers_memory(&f->outliers->arena, bench, true),
      .sizes = outliers_size_class(bench),
      .rate = sample_median_in_place(scratch, count),
      /* The standard error of a median of normal values: sqrt(pi / 2) times that of their mean. */
      .noise = 1.2533 * sqrt(sample.variance / (double)count),
      .margin = figure_margin(bench, 0, NULL),
      .deviation = NAN,
  };
  result->host = outliers_host(f->measured, result->environment);
  result->peer_group = peer_group_of(f->measured, result->environment, result->bench);
}

/* Keeps the values of the latest of their runs; returns how many. */
static size_t outliers_keep_latest(const struct finder *f, struct value *values, size_t count) {
  const struct measured_run *runs = f->measured->runs;
  size_t latest = values[0].run;
  size_t kept = 0;
  for (size_t i = 1; i < count; i++) {
    if (runs[values[i].run].started_at_ns > runs[latest].started_at_ns) {
      latest = values[i].run;
    }
  }
  for (size_t i = 0; i < count; i++) {
    if (values[i].run == latest) {
      values[kept++] = values[i];
    }
  }
  return kept;
}

/* Makes one result per machine of the medians of one case_key. */
static void outliers_add_case(struct finder *f, const struct measured_median *medians, size_t count,
                              struct value *values, double *scratch) {
  size_t used = 0;
  uint64_t machine = 0;
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || medians[i].run != medians[i - 1].run ||
        medians[i].bench != medians[i - 1].bench) {
      machine = measured_hardware(f->measured, medians[i].run, medians[i].bench);
    }
    if (!isnan(medians[i].ns)) {
      values[used++] =
          (struct value){machine, -log(medians[i].ns), medians[i].run, medians[i].bench};
    }
  }
  if (used > 0 && values[0].machine != values[used - 1].machine) {
    qsort(values, used, sizeof *values, outliers_compare_machines);
  }
  for (size_t first = 0; first < used;) {
    size_t last = first + 1;
    while (last < used && values[last].machine == values[first].machine) {
      last++;
    }
    const size_t kept =
        f->latest_only ? outliers_keep_latest(f, values + first, last - first) : last - first;
    outliers_add_result(f, values + first, kept, scratch);
    first = last;
  }
}

static int outliers_compare_results(const void *a, const void *b) {
  const struct result *x = a;
  const struct result *y = b;
  if (x->peer_group != y->peer_group) {
    return x->peer_group < y->peer_group ? -1 : 1;
  }
  if (x->host != y->host) {
    return x->host < y->host ? -1 : 1;
  }
  return (x->bench > y->bench) - (x->bench < y->bench);
}

static void outliers_read(struct finder *f) {
  const struct measured *measured = f->measured;
  struct value *values = arena_array(&f->arena, measured->median_count, sizeof *values);
  double *scratch = arena_array(&f->arena, measured->median_count, sizeof *scratch);
  for (size_t first = 0; first < measured->median_count;) {
    const size_t last = analysis_key_end(measured, first);
    outliers_add_case(f, measured->medians + first, last - first, values, scratch);
    first = last;
  }
  if (f->result_count > 1) { /* an empty array is NULL */
    qsort(f->results, f->result_count, sizeof *f->results, outliers_compare_results);
  }
}

enum status outliers_find(const struct measured *measured, bool latest_only,
                          struct outliers **outliers, struct error *err) {
  size_t simulated = 0;
  for (size_t i = 0; i < measured->run_count; i++) {
    simulated += measured->environments[measured->runs[i].environment].simulated;
  }
  const enum status status = analysis_check_simulated(simulated, measured->run_count, err);
  if (status != STATUS_OK) {
    return status;
  }
  struct finder f = {
      .measured = measured, .latest_only = latest_only, .outliers = calloc(1, sizeof *f.outliers)};
  if (f.outliers == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  outliers_read(&f);
  outliers_observe(&f);
  outliers_judge(&f);
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
