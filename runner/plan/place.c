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
static bool place_node_has_memory(const struct machine *machine, const struct numa_node *node) {
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

static void place_usable_nodes(const struct machine *machine, struct place_list *list) {
  list->count = 0;
  for (uint32_t i = 0; i < machine->node_count; i++) {
    const struct numa_node *node = &machine->nodes[i];
    if (node->cpu_count > 0 && place_node_has_memory(machine, node)) {
      list->indices[list->count++] = node->number;
    }
  }
}

static void place_visible_gpus(const struct machine *machine, struct place_list *list) {
  list->count = 0;
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    if (machine->gpus[i].cuda_ordinal >= 0) {
      list->indices[list->count++] = (int32_t)i;
    }
  }
}

void place_insert(int32_t *indices, size_t *count, int32_t index) {
  size_t at = *count;
  while (at > 0 && indices[at - 1] > index) {
    at--;
  }
  if (at > 0 && indices[at - 1] == index) {
    return;
  }
  memmove(&indices[at + 1], &indices[at], ((*count)++ - at) * sizeof *indices);
  indices[at] = index;
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
  static const char *const texts[] = {[SELECTOR_NONE] = ".none",
                                      [SELECTOR_ALL] = ".all",
                                      [SELECTOR_LIST] = "",
                                      [SELECTOR_LOCAL] = ".local",
                                      [SELECTOR_REMOTE] = ".remote"};
  strbuf_append(text, place_text(end->place));
  strbuf_append(text, texts[end->selector.kind]);
  place_format_indices(end->selector.indices, end->selector.count, "..", text);
}

/* "GPU 7: this machine has 4, 0-3" */
static void place_say_missing(enum place place, const struct place_list *missing,
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

static void place_pick(const struct endpoint_setting *end, const struct place_list *present,
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
    place_say_missing(end->place, &missing, present, reason);
  }
}

static void place_resolve_gpus(const struct endpoint_setting *end, const struct machine *machine,
                               struct place_list *list, char reason[CASE_REASON_MAX]) {
  if (machine->gpu_count == 0) {
    const bool why = machine->cuda_state[0] != '\0' && strcmp(machine->cuda_state, "ok") != 0;
    (void)snprintf(reason, CASE_REASON_MAX, "%s",
                   why ? machine->cuda_state : "this machine has no GPU");
    return;
  }
  struct place_list visible;
  place_visible_gpus(machine, &visible);
  if (visible.count == 0) {
    (void)snprintf(reason, CASE_REASON_MAX, "none of the %u GPUs is visible to CUDA",
                   machine->gpu_count);
    return;
  }
  switch (end->selector.kind) {
  case SELECTOR_ALL:
    *list = visible;
    break;
  case SELECTOR_LIST:
    place_pick(end, &visible, list, reason);
    if (reason[0] != '\0' && visible.count < machine->gpu_count) {
      const size_t length = strlen(reason);
      (void)snprintf(reason + length, CASE_REASON_MAX - length, " visible to CUDA (%u GPUs in all)",
                     machine->gpu_count);
    }
    break;
  case SELECTOR_NONE:
  case SELECTOR_LOCAL:
  case SELECTOR_REMOTE:
    (void)snprintf(reason, CASE_REASON_MAX, "no GPU is named");
    break;
  }
}

/* The node nearest to the GPU, or -1 with the reason. */
static int32_t place_nearest_node(const struct machine *machine, int32_t near_gpu,
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

static void place_resolve_nodes(const struct endpoint_setting *end, const struct machine *machine,
                                int32_t near_gpu, struct place_list *list,
                                char reason[CASE_REASON_MAX]) {
  struct place_list usable;
  place_usable_nodes(machine, &usable);
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
    place_pick(end, &present, list, reason);
    break;
  }
  case SELECTOR_LOCAL:
    list->indices[0] = place_nearest_node(machine, near_gpu, &usable, reason);
    list->count = list->indices[0] >= 0 ? 1 : 0;
    break;
  case SELECTOR_REMOTE: {
    const int32_t node = place_nearest_node(machine, near_gpu, &usable, reason);
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
  if (end->place == PLACE_GPU) {
    place_resolve_gpus(end, machine, list, reason);
  } else {
    place_resolve_nodes(end, machine, near_gpu, list, reason);
  }
}

/* ---- pairs ---- */

static void pairs_complain(struct pair_set *x, int32_t near_gpu, const char *reason) {
  if (reason[0] != '\0' && x->complaint_count < COMPLAINTS_MAX) {
    struct complaint *complaint = &x->complaints[x->complaint_count++];
    complaint->near_gpu = near_gpu;
    (void)snprintf(complaint->reason, sizeof complaint->reason, "%s", reason);
  }
}

static void pairs_add(struct pair_set *x, int32_t from, int32_t to) {
  x->pairs[x->pair_count++] = (struct pair){from, to};
}

/* One end is local or remote to the GPUs of the other. */
static void pairs_resolve_relative(struct pair_set *x, const struct endpoint_setting *near,
                                   const struct endpoint_setting *gpus, bool near_is_from) {
  struct place_list gpu_list;
  char reason[CASE_REASON_MAX];
  place_resolve(gpus, x->machine, -1, &gpu_list, reason);
  pairs_complain(x, -1, reason);
  for (size_t i = 0; i < gpu_list.count; i++) {
    const int32_t gpu = gpu_list.indices[i];
    struct place_list nodes;
    place_resolve(near, x->machine, gpu, &nodes, reason);
    pairs_complain(x, gpu, reason);
    for (size_t j = 0; j < nodes.count; j++) {
      const int32_t node = nodes.indices[j];
      pairs_add(x, near_is_from ? node : gpu, near_is_from ? gpu : node);
    }
  }
}

void pairs_resolve(struct pair_set *x, const struct endpoint_setting *from,
                   const struct endpoint_setting *to) {
  x->pair_count = 0;
  x->complaint_count = 0;
  if (place_is_relative(&from->selector) && to->place == PLACE_GPU) {
    pairs_resolve_relative(x, from, to, true);
    return;
  }
  if (place_is_relative(&to->selector) && from->place == PLACE_GPU) {
    pairs_resolve_relative(x, to, from, false);
    return;
  }
  struct place_list from_list;
  struct place_list to_list;
  char from_reason[CASE_REASON_MAX];
  char to_reason[CASE_REASON_MAX];
  place_resolve(from, x->machine, -1, &from_list, from_reason);
  place_resolve(to, x->machine, -1, &to_list, to_reason);
  const bool both =
      from_reason[0] != '\0' && to_reason[0] != '\0' && strcmp(from_reason, to_reason) != 0;
  char reason[CASE_REASON_MAX];
  (void)snprintf(reason, sizeof reason, "%.250s%s%.250s", from_reason, both ? "; " : "",
                 both || from_reason[0] == '\0' ? to_reason : "");
  pairs_complain(x, -1, reason);
  for (size_t i = 0; i < from_list.count; i++) {
    for (size_t j = 0; j < to_list.count; j++) {
      pairs_add(x, from_list.indices[i], to_list.indices[j]);
    }
  }
}

static bool pairs_has(const struct pair_set *x, int32_t from, int32_t to) {
  for (size_t i = 0; i < x->pair_count; i++) {
    if (x->pairs[i].from == from && x->pairs[i].to == to) {
      return true;
    }
  }
  return false;
}

/* Why no pair is left. */
static void pairs_say_none(const struct pair_set *x, enum place from, enum place to,
                           struct pair_rule rule, char reason[CASE_REASON_MAX]) {
  const bool gpu = from == PLACE_GPU;
  const uint32_t count = gpu ? x->machine->gpu_count : x->machine->node_count;
  const char *what = gpu ? "GPU" : "NUMA node";
  if (from != to) {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "pairs = \"same\" needs two ends of one kind, not a GPU and a NUMA node");
  } else if (!rule.unequal) {
    (void)snprintf(reason, CASE_REASON_MAX, "no %s is in both from and to", what);
  } else if (count < 2) {
    (void)snprintf(reason, CASE_REASON_MAX, "needs two %ss, this machine has %u", what, count);
  } else {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "from and to come to the same %s; pairs = \"same\" copies inside one", what);
  }
}

void pairs_apply(struct pair_set *x, enum place from, enum place to, struct pair_rule rule,
                 char reason[CASE_REASON_MAX]) {
  /* Decide before dropping: pairs_has() looks at all of them. */
  for (size_t i = 0; i < x->pair_count; i++) {
    const struct pair pair = x->pairs[i];
    const bool wanted = from == to && pair.from == pair.to ? rule.equal : rule.unequal;
    const bool again =
        from == to && rule.once && pair.from > pair.to && pairs_has(x, pair.to, pair.from);
    x->dropped[i] = !wanted || again;
  }
  size_t kept = 0;
  for (size_t i = 0; i < x->pair_count; i++) {
    if (!x->dropped[i]) {
      x->pairs[kept++] = x->pairs[i];
    }
  }
  x->pair_count = kept;
  if (kept == 0) {
    pairs_say_none(x, from, to, rule, reason);
  }
}

/* The places of both ends together, ascending; ends must be of one kind. */
static size_t pairs_list_places(const struct pair_set *x, int32_t places[2 * PLACES_MAX]) {
  size_t count = 0;
  for (size_t i = 0; i < x->pair_count; i++) {
    place_insert(places, &count, x->pairs[i].from);
    place_insert(places, &count, x->pairs[i].to);
  }
  return count;
}

void pairs_make_pattern(struct pair_set *x, enum place from, enum place to, enum concurrent pattern,
                        char reason[CASE_REASON_MAX]) {
  const bool ring = pattern == CONCURRENT_RING;
  int32_t places[2 * PLACES_MAX + 1];
  size_t count = pairs_list_places(x, places);
  x->pair_count = 0;
  if (from != to) {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "concurrent = \"%s\" needs two ends of one kind, not a GPU and a NUMA node",
                   concurrent_text(pattern));
    return;
  }
  if (count < 2) {
    (void)snprintf(reason, CASE_REASON_MAX, "concurrent = \"%s\" needs two places, there is %zu",
                   concurrent_text(pattern), count);
    return;
  }
  count -= ring ? 0 : count % 2;
  const size_t step = ring ? 1 : count / 2;
  for (size_t i = 0; i < count; i++) {
    pairs_add(x, places[i], places[(i + step) % count]);
  }
}
