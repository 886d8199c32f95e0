#include "runner/plan/place.h"

#include <stdio.h>

_Static_assert((int)MACHINE_GPUS_MAX <= (int)PLACES_MAX, "a place list holds every GPU");

bool place_is_relative(const struct selector *selector) {
  return selector->kind == SELECTOR_LOCAL || selector->kind == SELECTOR_REMOTE;
}

bool place_has_processors(const struct machine *machine, int32_t node) {
  int i = machine_node_index(machine, node);
  return i >= 0 && machine->nodes[i].cpu_count > 0;
}

/* A node without memory cannot hold a buffer; where no node's memory is known, all are taken. */
static bool node_has_memory(const struct machine *machine, const struct numa_node *node) {
  if (node->memory_bytes > 0) {
    return true;
  }
  for (uint32_t i = 0; i < machine->node_count; i++) {
    if (machine->nodes[i].memory_bytes > 0) {
      return false;
    }
  }
  return true;
}

static void usable_nodes(const struct machine *machine, struct place_list *list) {
  list->count = 0;
  for (uint32_t i = 0; i < machine->node_count; i++) {
    const struct numa_node *node = &machine->nodes[i];
    if (node->cpu_count > 0 && node_has_memory(machine, node)) {
      list->indices[list->count++] = node->number;
    }
  }
}

static void visible_gpus(const struct machine *machine, struct place_list *list) {
  list->count = 0;
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    if (machine->gpus[i].cuda_ordinal >= 0) {
      list->indices[list->count++] = (int32_t)i;
    }
  }
}

void place_format_indices(const int32_t *indices, size_t count, const char *through,
                          struct strbuf *text) {
  for (size_t first = 0; first < count;) {
    size_t last = first;
    while (last + 1 < count && indices[last + 1] == indices[last] + 1) {
      last++;
    }
    strbuf_append(text, first > 0 ? "," : "");
    strbuf_printf(text, "%d", indices[first]);
    if (last > first) {
      strbuf_printf(text, "%s%d", last == first + 1 ? "," : through, indices[last]);
    }
    first = last + 1;
  }
}

void place_format_asked(const struct endpoint_setting *end, struct strbuf *text) {
  strbuf_append(text, place_text(end->place));
  switch (end->selector.kind) {
  case SELECTOR_NONE:
    strbuf_append(text, ".none");
    break;
  case SELECTOR_ALL:
    strbuf_append(text, ".all");
    break;
  case SELECTOR_LIST:
    place_format_indices(end->selector.indices, end->selector.count, "..", text);
    break;
  case SELECTOR_LOCAL:
    strbuf_append(text, ".local");
    break;
  case SELECTOR_REMOTE:
    strbuf_append(text, ".remote");
    break;
  }
}

/* "GPU 7: this machine has 4, 0-3" */
static void say_missing(enum place place, const struct place_list *missing,
                        const struct place_list *present, char reason[CASE_REASON_MAX]) {
  struct strbuf text;
  strbuf_init(&text, CASE_REASON_MAX - 1);
  const bool gpu = place == PLACE_GPU;
  strbuf_append(&text, gpu ? "GPU" : "NUMA node");
  strbuf_append(&text, missing->count > 1 ? "s " : " ");
  place_format_indices(missing->indices, missing->count, "-", &text);
  strbuf_printf(&text, ": this machine has %zu", present->count);
  if (present->count > 0) {
    strbuf_append(&text, ", ");
    place_format_indices(present->indices, present->count, "-", &text);
  }
  (void)snprintf(reason, CASE_REASON_MAX, "%s", text.text);
  strbuf_fini(&text);
}

static void pick(const struct endpoint_setting *end, const struct place_list *present,
                 struct place_list *list, char reason[CASE_REASON_MAX]) {
  struct place_list missing = {.count = 0};
  list->count = 0;
  for (size_t i = 0; i < end->selector.count; i++) {
    const int32_t index = end->selector.indices[i];
    bool there = false;
    for (size_t j = 0; j < present->count; j++) {
      there = there || present->indices[j] == index;
    }
    struct place_list *into = there ? list : &missing;
    if (into->count < PLACES_MAX) {
      into->indices[into->count++] = index;
    }
  }
  if (missing.count > 0) {
    say_missing(end->place, &missing, present, reason);
  }
}

static void resolve_gpus(const struct endpoint_setting *end, const struct machine *machine,
                         struct place_list *list, char reason[CASE_REASON_MAX]) {
  if (machine->gpu_count == 0) {
    const bool why = machine->cuda_state[0] != '\0' && strcmp(machine->cuda_state, "ok") != 0;
    (void)snprintf(reason, CASE_REASON_MAX, "%s",
                   why ? machine->cuda_state : "this machine has no GPU");
    return;
  }
  struct place_list visible;
  visible_gpus(machine, &visible);
  if (visible.count == 0) {
    (void)snprintf(reason, CASE_REASON_MAX, "none of the %u GPUs is visible to CUDA",
                   machine->gpu_count);
    return;
  }
  switch (end->selector.kind) {
  case SELECTOR_ALL:
    *list = visible;
    break;
  case SELECTOR_LIST: {
    pick(end, &visible, list, reason);
    if (reason[0] != '\0' && visible.count < machine->gpu_count) {
      const size_t length = strlen(reason);
      (void)snprintf(reason + length, CASE_REASON_MAX - length, " visible to CUDA (%u GPUs in all)",
                     machine->gpu_count);
    }
    break;
  }
  case SELECTOR_NONE:
  case SELECTOR_LOCAL:
  case SELECTOR_REMOTE:
    (void)snprintf(reason, CASE_REASON_MAX, "no GPU is named");
    break;
  }
}

/* The node nearest to the GPU, or -1 with the reason. */
static int32_t nearest_node(const struct machine *machine, int32_t near_gpu,
                            const struct place_list *usable, char reason[CASE_REASON_MAX]) {
  if (near_gpu < 0) {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "\"local\" and \"remote\" are seen from the GPU at the other end, and there is "
                   "none");
    return -1;
  }
  const int32_t node = machine->gpus[near_gpu].numa_node;
  if (node < 0 && usable->count == 1) {
    return usable->indices[0];
  }
  if (node < 0) {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "the NUMA node nearest to GPU %d is not known, and this machine has %zu: name "
                   "the node by its number",
                   near_gpu, usable->count);
    return -1;
  }
  if (machine_node_index(machine, node) < 0) {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "the NUMA node nearest to GPU %d is %d, which this machine does not list",
                   near_gpu, node);
    return -1;
  }
  return node;
}

static void resolve_nodes(const struct endpoint_setting *end, const struct machine *machine,
                          int32_t near_gpu, struct place_list *list, char reason[CASE_REASON_MAX]) {
  struct place_list usable;
  usable_nodes(machine, &usable);
  switch (end->selector.kind) {
  case SELECTOR_NONE:
    (void)snprintf(reason, CASE_REASON_MAX, "no NUMA node is named");
    break;
  case SELECTOR_ALL:
    *list = usable;
    if (usable.count == 0) {
      (void)snprintf(reason, CASE_REASON_MAX, "no NUMA node has processors and memory");
    }
    break;
  case SELECTOR_LIST: {
    struct place_list present = {.count = machine->node_count};
    for (uint32_t i = 0; i < machine->node_count; i++) {
      present.indices[i] = machine->nodes[i].number;
    }
    pick(end, &present, list, reason);
    break;
  }
  case SELECTOR_LOCAL: {
    const int32_t node = nearest_node(machine, near_gpu, &usable, reason);
    if (node >= 0) {
      list->indices[list->count++] = node;
    }
    break;
  }
  case SELECTOR_REMOTE: {
    const int32_t node = nearest_node(machine, near_gpu, &usable, reason);
    for (size_t i = 0; node >= 0 && i < usable.count; i++) {
      if (usable.indices[i] != node) {
        list->indices[list->count++] = usable.indices[i];
      }
    }
    if (node >= 0 && list->count == 0) {
      (void)snprintf(reason, CASE_REASON_MAX,
                     "no NUMA node is remote to GPU %d: node %d is the only one", near_gpu, node);
    }
    break;
  }
  }
}

void place_resolve(const struct endpoint_setting *end, const struct machine *machine,
                   int32_t near_gpu, struct place_list *list, char reason[CASE_REASON_MAX]) {
  list->count = 0;
  reason[0] = '\0';
  switch (end->place) {
  case PLACE_GPU:
    resolve_gpus(end, machine, list, reason);
    break;
  case PLACE_NUMA:
    resolve_nodes(end, machine, near_gpu, list, reason);
    break;
  case place_name_count:
    break;
  }
}
