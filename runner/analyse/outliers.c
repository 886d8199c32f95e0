#include "runner/analyse/outliers.h"

#include "runner/analyse/likeness.h"
#include "runner/analyse/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

WORDS_DEFINE(entity, ENTITY_LIST)

/* One case on one machine: what all processes of the selected runs agree on. */
struct result {
  size_t bench, environment; /* the latest */
  uint64_t likeness;
  double rate;   /* ln of 1 / ns */
  double off, z; /* against its like; NAN = there is none */
  double margin; /* ln */
};

/* That a result is about a host, a GPU or a link. */
struct part {
  enum entity entity;
  const char *host, *block;
  int from, to;                /* GPU of ENTITY_GPU in from; ends of a link */
  bool from_gpu, to_gpu, both; /* both: the link in both directions at once */
  const struct result *result;
  const struct measured_environment *environment;
};

struct finder {
  const struct measured *measured;
  struct outliers *outliers;
  struct result *results;
  size_t result_count, result_capacity;
  struct part *parts;
  size_t part_count, part_capacity;
  size_t row_capacity;
  struct arena arena; /* of what is not kept */
};

/* ---- results ---- */

struct value {
  uint64_t machine;
  double rate;
  size_t run, bench;
};

static int compare_machines(const void *a, const void *b) {
  const struct value *x = a;
  const struct value *y = b;
  return (x->machine > y->machine) - (x->machine < y->machine);
}

static void add_result(struct finder *f, const struct value *values, size_t count,
                       double *scratch) {
  const struct measured_case *bench = &f->measured->cases[values[count - 1].bench];
  for (size_t i = 0; i < count; i++) {
    scratch[i] = values[i].rate;
  }
  const double margin = figure_margin(figure_of(bench), bench, 0, NULL);
  f->results =
      arena_grow(&f->arena, f->results, f->result_count, &f->result_capacity, sizeof *f->results);
  struct result *result = &f->results[f->result_count++];
  *result = (struct result){.bench = values[count - 1].bench,
                            .environment = f->measured->runs[values[count - 1].run].environment,
                            .rate = samples_median_in_place(scratch, count),
                            .off = NAN,
                            .z = NAN,
                            .margin = log1p(margin)};
  result->likeness = likeness_of(f->measured, result->environment, result->bench);
}

/* Medians of one case_key: a result for each machine. */
static void add_case(struct finder *f, const struct measured_median *medians, size_t count,
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
    qsort(values, used, sizeof *values, compare_machines);
  }
  for (size_t first = 0; first < used;) {
    size_t last = first + 1;
    while (last < used && values[last].machine == values[first].machine) {
      last++;
    }
    add_result(f, values + first, last - first, scratch);
    first = last;
  }
}

static void *new_array(size_t count, size_t size_bytes) {
  void *array = calloc(count + 1, size_bytes);
  if (array == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  return array;
}

static void find_results(struct finder *f) {
  const struct measured *measured = f->measured;
  struct value *values = NULL;
  double *scratch = NULL;
  size_t capacity = 0;
  for (size_t first = 0; first < measured->median_count;) {
    const char *key = measured->cases[measured->medians[first].bench].key;
    size_t last = first + 1;
    while (last < measured->median_count &&
           strcmp(measured->cases[measured->medians[last].bench].key, key) == 0) {
      last++;
    }
    if (last - first > capacity) {
      capacity = last - first;
      free(values);
      free(scratch);
      values = new_array(capacity, sizeof *values);
      scratch = new_array(capacity, sizeof *scratch);
    }
    add_case(f, measured->medians + first, last - first, values, scratch);
    first = last;
  }
  free(values);
  free(scratch);
}

/* ---- against its like ---- */

static int compare_likeness(const void *a, const void *b) {
  const struct result *x = a;
  const struct result *y = b;
  return (x->likeness > y->likeness) - (x->likeness < y->likeness);
}

static void judge_group(struct result *results, size_t count, double *scratch) {
  for (size_t i = 0; i < count; i++) {
    scratch[i] = results[i].rate;
  }
  const double middle = samples_median_in_place(scratch, count);
  for (size_t i = 0; i < count; i++) {
    scratch[i] = fabs(results[i].rate - middle);
  }
  const double spread = fmax(1.4826 * samples_median_in_place(scratch, count), OUTLIERS_SPREAD_MIN);
  for (size_t i = 0; i < count; i++) {
    results[i].off = results[i].rate - middle;
    results[i].z = results[i].off / spread;
  }
}

static void judge_results(struct finder *f) {
  double *scratch = new_array(f->result_count, sizeof *scratch);
  if (f->result_count > 1) { /* none is NULL */
    qsort(f->results, f->result_count, sizeof *f->results, compare_likeness);
  }
  for (size_t first = 0; first < f->result_count;) {
    size_t last = first + 1;
    while (last < f->result_count && f->results[last].likeness == f->results[first].likeness) {
      last++;
    }
    if (last - first >= OUTLIERS_LIKE_MIN) {
      judge_group(f->results + first, last - first, scratch);
      f->outliers->cases += last - first;
    } else {
      f->outliers->alone += last - first;
    }
    first = last;
  }
  free(scratch);
}

/* ---- whom it is about ---- */

static void add_part(struct finder *f, const struct part *part) {
  f->parts = arena_grow(&f->arena, f->parts, f->part_count, &f->part_capacity, sizeof *f->parts);
  f->parts[f->part_count++] = *part;
}

static bool touches(const struct measured_flow *flow, int gpu) {
  return (flow->source_is_gpu && flow->source == gpu) ||
         (flow->target_is_gpu && flow->target == gpu);
}

/* The host always; the GPUs that all flows touch; the link where all flows use one. */
static void add_parts(struct finder *f, const struct result *result) {
  const struct measured_case *bench = &f->measured->cases[result->bench];
  const struct measured_environment *e = &f->measured->environments[result->environment];
  struct part part = {.entity = ENTITY_HOST,
                      .host = e->host_name != NULL ? e->host_name : "",
                      .block = bench->block,
                      .result = result,
                      .environment = e};
  add_part(f, &part);
  const struct measured_flow *first = NULL;
  bool one_link = true;
  bool both = false;
  uint64_t shared = bench->gpus;
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
    one_link = one_link && (forth || back);
    both = both || !forth;
    for (int gpu = 0; gpu < 64; gpu++) {
      shared &= touches(flow, gpu) ? UINT64_MAX : ~(UINT64_C(1) << gpu);
    }
  }
  for (int gpu = 0; gpu < 64; gpu++) {
    if ((shared >> gpu & 1) != 0) {
      part.entity = ENTITY_GPU;
      part.from = gpu;
      part.to = -1;
      part.from_gpu = true;
      add_part(f, &part);
    }
  }
  if (first != NULL && one_link && bench->gpus != 0) {
    part.entity = ENTITY_LINK;
    part.both = both;
    part.from = first->source;
    part.from_gpu = first->source_is_gpu;
    part.to = first->target;
    part.to_gpu = first->target_is_gpu;
    add_part(f, &part);
  }
}

static int compare_parts(const void *a, const void *b) {
  const struct part *x = a;
  const struct part *y = b;
  int order = (int)x->entity - (int)y->entity;
  order = order != 0 ? order : strcmp(x->host, y->host);
  order = order != 0 ? order : strcmp(x->block, y->block);
  order = order != 0 ? order : x->from_gpu - y->from_gpu;
  order = order != 0 ? order : x->from - y->from;
  order = order != 0 ? order : x->to_gpu - y->to_gpu;
  order = order != 0 ? order : x->to - y->to;
  return order != 0 ? order : x->both - y->both;
}

static const char *part_name(struct finder *f, const struct part *part) {
  if (part->entity == ENTITY_HOST) {
    return part->host;
  }
  if (part->entity == ENTITY_GPU) {
    return arena_format(&f->outliers->arena, "gpu%d", part->from);
  }
  /* As paths are written: runner/plan/name.h. */
  return arena_format(&f->outliers->arena, "%s%d%s%s%d", part->from_gpu ? "gpu" : "numa",
                      part->from, part->both ? "--" : "-", part->to_gpu ? "gpu" : "numa", part->to);
}

static const char *uuid_of(const struct part *part) {
  for (size_t i = 0; i < part->environment->gpu_count && part->entity == ENTITY_GPU; i++) {
    if (part->environment->gpus[i].number == part->from) {
      return part->environment->gpus[i].uuid;
    }
  }
  return NULL;
}

/* The middle value; of two, the one that is less slow: one bad link of two is no bad GPU. Sorts. */
static double milder_middle(double *values, size_t count) {
  (void)samples_median_in_place(values, count);
  return values[count / 2];
}

/* All results of one host, GPU or link in one block. */
static void add_row(struct finder *f, const struct part *parts, size_t count, double *scratch) {
  struct outlier row = {.entity = parts[0].entity,
                        .host = parts[0].host,
                        .block = parts[0].block,
                        .uuid = uuid_of(&parts[0]),
                        .name = part_name(f, &parts[0]),
                        .cases = count,
                        .worst = parts[0].result->bench};
  double worst = INFINITY;
  for (size_t i = 0; i < count; i++) {
    const struct result *result = parts[i].result;
    row.slow_cases += result->z <= -OUTLIERS_Z && result->off <= -result->margin;
    if (result->off < worst) {
      worst = result->off;
      row.worst = result->bench;
    }
    scratch[i] = result->off;
  }
  row.worst_change = expm1(worst);
  row.change = expm1(milder_middle(scratch, count));
  for (size_t i = 0; i < count; i++) {
    scratch[i] = parts[i].result->z;
  }
  row.z = milder_middle(scratch, count);
  row.slow = row.z <= -OUTLIERS_Z && row.slow_cases > 0;
  f->outliers->rows = arena_grow(&f->outliers->arena, f->outliers->rows, f->outliers->row_count,
                                 &f->row_capacity, sizeof *f->outliers->rows);
  f->outliers->rows[f->outliers->row_count++] = row;
}

static bool is_same_part(const struct part *a, const struct part *b) {
  return compare_parts(a, b) == 0;
}

static size_t count_hosts(const struct measured *measured) {
  size_t count = 0;
  for (size_t e = 0; e < measured->environment_count; e++) {
    bool known = measured->environments[e].host_name == NULL;
    for (size_t i = 0; i < e && !known; i++) {
      const char *name = measured->environments[i].host_name;
      known = name != NULL && strcmp(name, measured->environments[e].host_name) == 0;
    }
    count += !known;
  }
  return count;
}

static void find_rows(struct finder *f) {
  double *scratch = new_array(f->part_count, sizeof *scratch);
  const bool hosts = count_hosts(f->measured) >= OUTLIERS_LIKE_MIN;
  if (f->part_count > 1) {
    qsort(f->parts, f->part_count, sizeof *f->parts, compare_parts);
  }
  for (size_t first = 0; first < f->part_count;) {
    size_t last = first + 1;
    while (last < f->part_count && is_same_part(&f->parts[first], &f->parts[last])) {
      last++;
    }
    if (hosts || f->parts[first].entity != ENTITY_HOST) {
      add_row(f, f->parts + first, last - first, scratch);
    }
    first = last;
  }
  free(scratch);
}

/* ---- what explains what ---- */

/* Whether a link's name has that GPU at one of its ends. */
static bool ends_at(const char *link, const char *gpu) {
  const size_t length = strlen(gpu);
  const size_t link_length = strlen(link);
  const bool starts = strncmp(link, gpu, length) == 0 && (link[length] < '0' || link[length] > '9');
  return starts || (link_length > length && strcmp(link + link_length - length, gpu) == 0 &&
                    link[link_length - length - 1] == '-');
}

static size_t links_of(const struct outliers *outliers, const struct outlier *gpu) {
  size_t count = 0;
  for (size_t i = 0; i < outliers->row_count; i++) {
    const struct outlier *row = &outliers->rows[i];
    count += row->entity == ENTITY_LINK && strcmp(row->host, gpu->host) == 0 &&
             strcmp(row->block, gpu->block) == 0 && ends_at(row->name, gpu->name);
  }
  return count;
}

static bool is_part_of(const struct outlier *small, const struct outlier *large) {
  if (strcmp(small->host, large->host) != 0 || strcmp(small->block, large->block) != 0 ||
      small->entity <= large->entity) {
    return false;
  }
  return large->entity == ENTITY_HOST || ends_at(small->name, large->name);
}

/* A GPU of which one link was measured in a block says no more than the link. */
static void explain(struct outliers *outliers) {
  for (size_t i = 0; i < outliers->row_count; i++) {
    struct outlier *large = &outliers->rows[i];
    if (!large->slow) {
      continue;
    }
    if (large->entity == ENTITY_GPU && links_of(outliers, large) == 1) {
      large->explained = true;
      continue;
    }
    for (size_t j = 0; j < outliers->row_count; j++) {
      if (outliers->rows[j].slow && is_part_of(&outliers->rows[j], large)) {
        outliers->rows[j].explained = true;
      }
    }
  }
  for (size_t i = 0; i < outliers->row_count; i++) {
    outliers->slow_count += outliers->rows[i].slow && !outliers->rows[i].explained;
  }
}

static int compare_rows(const void *a, const void *b) {
  const struct outlier *x = a;
  const struct outlier *y = b;
  const bool slow_x = x->slow && !x->explained;
  const bool slow_y = y->slow && !y->explained;
  if (slow_x != slow_y) {
    return slow_y - slow_x;
  }
  if (x->change != y->change) {
    return x->change < y->change ? -1 : 1;
  }
  const int order = strcmp(x->host, y->host);
  return order != 0 ? order : strcmp(x->name, y->name);
}

enum status outliers_find(const struct measured *measured, struct outliers **outliers,
                          struct error *err) {
  size_t simulated = 0;
  for (size_t i = 0; i < measured->run_count; i++) {
    simulated += measured->environments[measured->runs[i].environment].simulated;
  }
  if (simulated > 0 && simulated < measured->run_count) {
    return error_set(err, STATUS_INVALID,
                     "%zu of the %zu runs are simulated: simulated and real results are never "
                     "compared; --where simulated=0 leaves the simulated ones out",
                     simulated, measured->run_count);
  }
  struct finder f = {.measured = measured, .outliers = new_array(1, sizeof *f.outliers)};
  find_results(&f);
  judge_results(&f);
  for (size_t i = 0; i < f.result_count; i++) {
    if (!isnan(f.results[i].z)) {
      add_parts(&f, &f.results[i]);
    }
  }
  find_rows(&f);
  explain(f.outliers);
  if (f.outliers->row_count > 1) {
    qsort(f.outliers->rows, f.outliers->row_count, sizeof *f.outliers->rows, compare_rows);
  }
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
