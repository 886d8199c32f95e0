/* outliers_results.c - from medians of processes to one result a case and machine. */
#include "runner/analyse/outliers_state.h"

#include "engine/base/strbuf.h"
#include "runner/analyse/likeness.h"
#include "runner/analyse/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_MAX = 1 << 12 };

struct value {
  uint64_t machine;
  double rate;
  size_t run, bench;
};

void *outliers_array(size_t count, size_t size_bytes) {
  void *array = calloc(count + 1, size_bytes);
  if (array == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  return array;
}

bool way_between_gpus(const struct way *way) {
  return way->known && way->from_gpu && way->to_gpu && way->from != way->to;
}

bool result_is_slow(const struct result *result) {
  return !isnan(result->off) && result->off <= log1p(-result->margin);
}

static struct way way_of(const struct measured_case *bench) {
  struct way way = {.known = bench->gpus != 0};
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
    way.known = way.known && (forth || back);
    way.both = way.both || !forth;
  }
  if (first == NULL || !way.known) {
    return (struct way){.known = false};
  }
  way.from_gpu = first->source_is_gpu;
  way.from = first->source;
  way.to_gpu = first->target_is_gpu;
  way.to = first->target;
  return way;
}

/* The kinds of memory that the counted flows go from and to, each pair once. */
static const char *memory_of(struct arena *arena, const struct measured_case *bench, bool back) {
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

static uint32_t host_of(const struct measured *measured, size_t environment) {
  const char *name = measured->environments[environment].host_name;
  for (size_t e = 0; e < environment && name != NULL; e++) {
    const char *other = measured->environments[e].host_name;
    if (other != NULL && strcmp(other, name) == 0) {
      return (uint32_t)e;
    }
  }
  return (uint32_t)environment;
}

static enum size_class size_class_of(const struct measured_case *bench) {
  if (figure_of(bench) != FIGURE_RATE) {
    return SIZES_NONE;
  }
  return bench->size_bytes >= UINT64_C(1) << 20 ? SIZES_LARGE : SIZES_SMALL;
}

static int compare_machines(const void *a, const void *b) {
  const struct value *x = a;
  const struct value *y = b;
  return (x->machine > y->machine) - (x->machine < y->machine);
}

static void add_result(struct finder *f, const struct value *values, size_t count,
                       double *scratch) {
  const struct value *last = &values[count - 1];
  const struct measured_case *bench = &f->measured->cases[last->bench];
  for (size_t i = 0; i < count; i++) {
    scratch[i] = values[i].rate;
  }
  const struct sample sample = samples_summary(scratch, count);
  f->results =
      arena_grow(&f->arena, f->results, f->result_count, &f->result_capacity, sizeof *f->results);
  struct result *result = &f->results[f->result_count++];
  *result = (struct result){
      .bench = last->bench,
      .environment = f->measured->runs[last->run].environment,
      .way = way_of(bench),
      .memory = memory_of(&f->outliers->arena, bench, false),
      .memory_back = memory_of(&f->outliers->arena, bench, true),
      .sizes = size_class_of(bench),
      .rate = samples_median_in_place(scratch, count),
      /* Of a median, from normal values: sqrt(pi / 2) times that of their mean. */
      .noise = 1.2533 * sqrt(sample.variance / (double)count),
      .margin = figure_margin(figure_of(bench), bench, 0, NULL),
      .off = NAN,
  };
  result->host = host_of(f->measured, result->environment);
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

static int compare_results(const void *a, const void *b) {
  const struct result *x = a;
  const struct result *y = b;
  if (x->likeness != y->likeness) {
    return x->likeness < y->likeness ? -1 : 1;
  }
  if (x->host != y->host) {
    return x->host < y->host ? -1 : 1;
  }
  return (x->bench > y->bench) - (x->bench < y->bench);
}

void outliers_read(struct finder *f) {
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
      values = outliers_array(capacity, sizeof *values);
      scratch = outliers_array(capacity, sizeof *scratch);
    }
    add_case(f, measured->medians + first, last - first, values, scratch);
    first = last;
  }
  free(values);
  free(scratch);
  if (f->result_count > 1) { /* none is NULL */
    qsort(f->results, f->result_count, sizeof *f->results, compare_results);
  }
}
