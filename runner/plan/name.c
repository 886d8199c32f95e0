#include "runner/plan/name.h"

#include "engine/base/units.h"
#include "runner/plan/place.h"
#include "schema/scenario/setting.h"

#include <string.h>

/* A set of endpoints of one kind of place and memory. */
struct end_set {
  bool uniform;
  struct endpoint first; /* index apart, that of all */
  size_t count;
  int32_t indices[CASE_FLOWS_MAX];
};

static void end_set_add(struct end_set *set, const struct endpoint *endpoint) {
  if (set->count == 0) {
    set->first = *endpoint;
    set->uniform = true;
  }
  struct endpoint at_first = *endpoint;
  at_first.index = set->first.index;
  set->uniform = set->uniform && endpoint_is_same(&at_first, &set->first);
  place_insert(set->indices, &set->count, endpoint->index);
}

/* ":pinned"; ":ipc:process1" of memory that another process has. */
static void name_append_memory(struct strbuf *text, const struct endpoint *endpoint) {
  if (endpoint->process != 0) {
    strbuf_printf(text, ":%s:process%u", share_text(endpoint->share), endpoint->process);
  } else if (endpoint->place == PLACE_NUMA || endpoint->memory != MEMORY_DEVICE) {
    strbuf_append_char(text, ':');
    strbuf_append(text, memory_kind_text(endpoint->memory));
  }
}

static void name_append_end_set(struct strbuf *text, const struct end_set *set) {
  strbuf_append(text, place_text(set->first.place));
  place_format_indices(set->indices, set->count, "..", text);
  name_append_memory(text, &set->first);
}

/* Every second flow goes back where the one before it came from. */
static bool name_goes_both_ways(const struct flow *flows, uint32_t flow_count) {
  return flow_count > 0 && flow_count % 2 == 0 &&
         ALL_OF(i, flow_count / 2,
                endpoint_is_same(&flows[2 * i].source, &flows[2 * i + 1].target) &&
                    endpoint_is_same(&flows[2 * i].target, &flows[2 * i + 1].source));
}

void name_append_endpoint(struct strbuf *text, const struct endpoint *endpoint) {
  strbuf_append(text, place_text(endpoint->place));
  place_format_indices(&endpoint->index, 1, "..", text);
  name_append_memory(text, endpoint);
}

void name_append_gpu(struct strbuf *text, int32_t gpu) {
  name_append_endpoint(
      text, &(struct endpoint){.place = PLACE_GPU, .index = gpu, .memory = MEMORY_DEVICE});
}

void name_append_flows(struct strbuf *text, const struct flow *flows, uint32_t flow_count) {
  uint32_t measured = 0;
  while (measured < flow_count && flows[measured].role == FLOW_MEASURED) {
    measured++; /* load flows stand last */
  }
  if (measured == 1) {
    name_append_endpoint(text, &flows[0].source);
    strbuf_append_char(text, '-');
    name_append_endpoint(text, &flows[0].target);
    return;
  }
  const bool both = name_goes_both_ways(flows, measured);
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
  name_append_end_set(text, &sources);
  strbuf_append(text, both ? "--" : "-");
  name_append_end_set(text, &targets);
}

/* Shown by the path or the size already. */
static bool name_is_shown(const char *key) {
  return strcmp(key, "size") == 0 || strcmp(key, "direction") == 0 ||
         strncmp(key, "from.", 5) == 0 || strncmp(key, "to.", 3) == 0 ||
         strcmp(key, "footprint") == 0 || strcmp(key, "space") == 0 ||
         strncmp(key, "of.", 3) == 0 || strncmp(key, "at.", 3) == 0 || strcmp(key, "memory") == 0;
}

static bool name_is_safe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != '\0' && strchr("._-:=+,", c) != NULL);
}

static void name_append_safe(struct strbuf *text, const char *value) {
  for (; *value != '\0'; value++) {
    if (name_is_safe(*value)) {
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

static void name_append_setting(const struct axis_value *axis, struct strbuf *text) {
  strbuf_append_char(text, '/');
  name_append_safe(text, axis->key);
  strbuf_append_char(text, '=');
  name_append_safe(text, axis->text);
}

void name_hidden_settings(const struct axis_value *axes, size_t axis_count, struct strbuf *text) {
  for (size_t i = 0; i < axis_count; i++) {
    if (name_is_shown(axes[i].key) && strcmp(axes[i].key, "size") != 0 &&
        strcmp(axes[i].key, "footprint") != 0) {
      name_append_setting(&axes[i], text);
    }
  }
}

void name_settings(const struct axis_value *axes, size_t axis_count, uint64_t size_bytes,
                   struct strbuf *text) {
  for (size_t i = 0; i < axis_count; i++) {
    if (!name_is_shown(axes[i].key)) {
      name_append_setting(&axes[i], text);
    }
  }
  if (size_bytes > 0) {
    const char *size = units_format_size(size_bytes, UNITS_TEXT);
    strbuf_append_char(text, '/');
    strbuf_append(text, size);
  }
}
