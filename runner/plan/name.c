#include "runner/plan/name.h"

#include "engine/base/units.h"
#include "runner/plan/place.h"

#include <string.h>

/* A set of endpoints of one kind of place and memory. */
struct end_set {
  bool uniform;
  enum place place;
  enum memory_kind memory;
  size_t count;
  int32_t indices[CASE_FLOWS_MAX];
};

static void end_set_add(struct end_set *set, const struct endpoint *endpoint) {
  if (set->count == 0) {
    set->place = endpoint->place;
    set->memory = endpoint->memory;
    set->uniform = true;
  }
  set->uniform = set->uniform && set->place == endpoint->place && set->memory == endpoint->memory;
  size_t at = set->count;
  while (at > 0 && set->indices[at - 1] > endpoint->index) {
    at--;
  }
  if (at > 0 && set->indices[at - 1] == endpoint->index) {
    return;
  }
  memmove(&set->indices[at + 1], &set->indices[at], (set->count - at) * sizeof *set->indices);
  set->indices[at] = endpoint->index;
  set->count++;
}

static void append_memory(struct strbuf *text, enum place place, enum memory_kind memory) {
  if (place == PLACE_NUMA || memory != MEMORY_DEVICE) {
    strbuf_append_char(text, ':');
    strbuf_append(text, memory_kind_text(memory));
  }
}

static void append_end_set(struct strbuf *text, const struct end_set *set) {
  strbuf_append(text, place_text(set->place));
  place_format_indices(set->indices, set->count, "..", text);
  append_memory(text, set->place, set->memory);
}

static bool same_endpoint(const struct endpoint *a, const struct endpoint *b) {
  return a->place == b->place && a->index == b->index && a->memory == b->memory;
}

/* Every second flow goes back where the one before it came from. */
static bool goes_both_ways(const struct flow *flows, uint32_t flow_count) {
  if (flow_count == 0 || flow_count % 2 != 0) {
    return false;
  }
  for (uint32_t i = 0; i < flow_count; i += 2) {
    if (!same_endpoint(&flows[i].source, &flows[i + 1].target) ||
        !same_endpoint(&flows[i].target, &flows[i + 1].source)) {
      return false;
    }
  }
  return true;
}

static void append_endpoint(struct strbuf *text, const struct endpoint *endpoint) {
  strbuf_append(text, place_text(endpoint->place));
  place_format_indices(&endpoint->index, 1, "..", text);
  append_memory(text, endpoint->place, endpoint->memory);
}

void name_path(const struct flow *flows, uint32_t flow_count, struct strbuf *text) {
  uint32_t measured = 0;
  while (measured < flow_count && flows[measured].role == FLOW_MEASURED) {
    measured++; /* load flows stand last */
  }
  if (measured == 1) {
    append_endpoint(text, &flows[0].source);
    strbuf_append_char(text, '-');
    append_endpoint(text, &flows[0].target);
    return;
  }
  const bool both = goes_both_ways(flows, measured);
  struct end_set sources = {.count = 0};
  struct end_set targets = {.count = 0};
  for (uint32_t i = 0; i < measured; i += both ? 2 : 1) {
    end_set_add(&sources, &flows[i].source);
    end_set_add(&targets, &flows[i].target);
  }
  if (measured == 0 || !sources.uniform || !targets.uniform) {
    strbuf_printf(text, "%uflows", measured);
    return;
  }
  append_end_set(text, &sources);
  strbuf_append(text, both ? "--" : "-");
  append_end_set(text, &targets);
}

static void append_gpu(struct strbuf *text, int32_t gpu) {
  append_endpoint(text, &(struct endpoint){PLACE_GPU, gpu, MEMORY_DEVICE});
}

static void name_chase_path(const struct chase *chase, struct strbuf *text) {
  append_gpu(text, chase->gpu);
  switch (chase->space) {
  case CHASE_HOST:
  case CHASE_PEER:
    strbuf_append_char(text, '-');
    append_endpoint(text, &chase->memory);
    break;
  case CHASE_GLOBAL:
  case CHASE_SHARED:
    strbuf_append_char(text, ':');
    strbuf_append(text, chase_space_text(chase->space));
    break;
  case chase_space_name_count:
    break;
  }
}

static void name_overhead_path(const struct overhead *overhead, struct strbuf *text) {
  if (overhead->memory.place == PLACE_NUMA && overhead->gpu >= 0) {
    append_gpu(text, overhead->gpu);
    strbuf_append_char(text, '-');
  }
  append_endpoint(text, &overhead->memory);
}

void name_work_path(const struct bench_case *bench, struct strbuf *text) {
  switch (bench->kind) {
  case CASE_CHASE:
    name_chase_path(&bench->work.chase, text);
    break;
  case CASE_OVERHEAD:
    name_overhead_path(&bench->work.overhead, text);
    break;
  case CASE_STREAM:
    append_endpoint(text, &bench->work.stream.memory);
    break;
  case CASE_ARITHMETIC:
    append_gpu(text, bench->work.arithmetic.gpu);
    break;
  case CASE_TRANSFER:
  case case_kind_name_count:
    break;
  }
}

uint64_t name_work_size(const struct bench_case *bench) {
  switch (bench->kind) {
  case CASE_CHASE:
    return bench->work.chase.footprint_bytes;
  case CASE_OVERHEAD:
    return bench->work.overhead.size_bytes;
  case CASE_STREAM:
    return bench->work.stream.size_bytes;
  case CASE_ARITHMETIC:
  case CASE_TRANSFER:
  case case_kind_name_count:
    break;
  }
  return 0;
}

uint64_t name_common_size(const struct flow *flows, uint32_t flow_count) {
  uint64_t size_bytes = 0;
  for (uint32_t i = 0; i < flow_count; i++) {
    if (flows[i].role != FLOW_MEASURED) {
      continue;
    }
    if (size_bytes != 0 && flows[i].size_bytes != size_bytes) {
      return 0;
    }
    size_bytes = flows[i].size_bytes;
  }
  return size_bytes;
}

/* Shown by the path or the size already. */
static bool is_shown(const char *key) {
  return strcmp(key, "size") == 0 || strcmp(key, "direction") == 0 ||
         strncmp(key, "from.", 5) == 0 || strncmp(key, "to.", 3) == 0 ||
         strcmp(key, "footprint") == 0 || strcmp(key, "space") == 0 ||
         strncmp(key, "of.", 3) == 0 || strncmp(key, "at.", 3) == 0 || strcmp(key, "memory") == 0;
}

static bool is_safe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != '\0' && strchr("._-:=+,", c) != NULL);
}

static void append_safe(struct strbuf *text, const char *value) {
  for (; *value != '\0'; value++) {
    if (is_safe(*value)) {
      strbuf_append_char(text, *value);
    } else {
      strbuf_append_char(text, '_');
    }
  }
}

void name_axes(const struct axis_value *axes, size_t axis_count, struct strbuf *text) {
  for (size_t i = 0; i < axis_count; i++) {
    strbuf_append(text, i > 0 ? " " : "");
    strbuf_append(text, axes[i].key);
    strbuf_append_char(text, '=');
    strbuf_append(text, axes[i].text);
  }
}

void name_settings(const struct axis_value *axes, size_t axis_count, uint64_t size_bytes,
                   struct strbuf *text) {
  for (size_t i = 0; i < axis_count; i++) {
    if (!is_shown(axes[i].key)) {
      strbuf_append_char(text, '/');
      append_safe(text, axes[i].key);
      strbuf_append_char(text, '=');
      append_safe(text, axes[i].text);
    }
  }
  if (size_bytes > 0) {
    char size[UNITS_TEXT_MAX];
    units_format_size(size_bytes, size);
    strbuf_append_char(text, '/');
    strbuf_append(text, size);
  }
}
