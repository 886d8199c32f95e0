#include "runner/plan/place.h"

#include "engine/base/order.h"
#include "engine/machine/machine.h"
#include "schema/scenario/setting.h"

#include <stdio.h>
#include <strings.h>
#include <xxhash.h>

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
  return node->memory_bytes > 0 ||
         ALL_OF(i, machine->node_count, machine->nodes[i].memory_bytes == 0);
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

int32_t place_near_gpu(const struct machine *machine, int32_t gpu) {
  struct place_list usable;
  place_usable_nodes(machine, &usable);
  const int32_t node = machine->gpus[gpu].numa_node;
  return node < 0 && usable.count == 1 ? usable.indices[0] : node;
}

int32_t place_far_node(const struct machine *machine, int32_t node) {
  struct place_list usable;
  place_usable_nodes(machine, &usable);
  const int from = machine_node_index(machine, node);
  int32_t far = -1;
  int farthest = -1;
  for (size_t i = 0; from >= 0 && i < usable.count; i++) {
    const int to = machine_node_index(machine, usable.indices[i]);
    if (to != from && machine->node_distance[from][to] > farthest) {
      farthest = machine->node_distance[from][to];
      far = usable.indices[i];
    }
  }
  return far;
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
  for (size_t i = 0; i < end->selector.uuid_count; i++) {
    strbuf_printf(text, "%s%s", i > 0 || end->selector.count > 0 ? "," : ".",
                  end->selector.uuids[i]);
  }
}

/* "there is no GPU 7 (GPUs: 0-3)" */
static void place_say_missing(enum place place, const struct place_list *missing,
                              const struct place_list *present, char reason[CASE_REASON_MAX]) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(CASE_REASON_MAX - 1);
  const bool gpu = place == PLACE_GPU;
  strbuf_printf(&text, "there is no %s ", gpu ? "GPU" : "NUMA node");
  place_format_indices(missing->indices, missing->count, "-", &text);
  strbuf_append(&text, gpu ? " (GPUs: " : " (nodes: ");
  place_format_indices(present->indices, present->count, "-", &text);
  strbuf_append(&text, present->count > 0 ? ")" : "none)");
  (void)snprintf(reason, CASE_REASON_MAX, "%s", text.text);
}

static void place_pick(const struct endpoint_setting *end, const struct place_list *present,
                       struct place_list *list, char reason[CASE_REASON_MAX]) {
  struct place_list missing = {.count = 0};
  list->count = 0;
  for (size_t i = 0; i < end->selector.count; i++) {
    const int32_t index = end->selector.indices[i];
    const bool there = ANY_OF(j, present->count, present->indices[j] == index);
    struct place_list *into = there ? list : &missing;
    if (into->count < PLACES_MAX) {
      into->indices[into->count++] = index;
    }
  }
  if (missing.count > 0) {
    place_say_missing(end->place, &missing, present, reason);
  }
}

static bool place_uuid_begins(const struct gpu *gpu, const char *text, size_t length) {
  return strncasecmp(gpu->uuid, text, length) == 0;
}

/* How much of the UUIDs tells them apart, and no less than people are used to. */
static size_t place_uuid_length(const struct machine *machine) {
  enum { USUAL = 12 }; /* "GPU-8932f937" */
  size_t length = USUAL;
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    for (uint32_t j = 0; j < i; j++) {
      while (length < sizeof machine->gpus[i].uuid &&
             place_uuid_begins(&machine->gpus[i], machine->gpus[j].uuid, length)) {
        length++;
      }
    }
  }
  return length;
}

/* "no GPU with the UUID GPU-12: here are gpu0 GPU-8932f937, gpu1 GPU-5d1eaf55" */
static void place_say_no_uuid(const struct machine *machine, const char *uuid, size_t found,
                              char reason[CASE_REASON_MAX]) {
  const int length = (int)place_uuid_length(machine);
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(CASE_REASON_MAX - 1);
  strbuf_printf(
      &text, found > 0 ? "%s is the beginning of several UUIDs" : "no GPU with the UUID %s", uuid);
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    strbuf_printf(&text, "%s gpu%u %.*s", i > 0 ? "," : ": here are", i, length,
                  machine->gpus[i].uuid[0] != '\0' ? machine->gpus[i].uuid : "of no known UUID");
  }
  (void)snprintf(reason, CASE_REASON_MAX, "%s", text.text);
}

/* The GPUs that are named by UUID join the list; what of them is not there is the reason. */
static void place_pick_uuids(const struct selector *selector, const struct machine *machine,
                             struct place_list *list, char reason[CASE_REASON_MAX]) {
  for (size_t i = 0; i < selector->uuid_count; i++) {
    const char *uuid = selector->uuids[i];
    uint32_t gpu = 0;
    size_t found = 0;
    for (uint32_t g = 0; g < machine->gpu_count; g++) {
      if (place_uuid_begins(&machine->gpus[g], uuid, strlen(uuid))) {
        gpu = g;
        found++;
      }
    }
    if (found == 1 && machine->gpus[gpu].cuda_ordinal >= 0) {
      place_insert(list->indices, &list->count, (int32_t)gpu);
    } else if (found == 1 && reason[0] == '\0') {
      (void)snprintf(reason, CASE_REASON_MAX, "gpu%u, %s, is not visible to CUDA", gpu,
                     machine->gpus[gpu].uuid);
    } else if (reason[0] == '\0') {
      place_say_no_uuid(machine, uuid, found, reason);
    }
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
      (void)snprintf(reason + length, CASE_REASON_MAX - length,
                     ": of %u GPUs, CUDA sees only these", machine->gpu_count);
    }
    place_pick_uuids(&end->selector, machine, list, reason);
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
                     "no NUMA node is remote to GPU %d: node %d is the only one%s", near_gpu, node,
                     machine->node_count > 1 ? " with processors and memory" : "");
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

struct endpoint place_endpoint(const struct endpoint_setting *end, int32_t index) {
  return (struct endpoint){.place = end->place,
                           .index = index,
                           .memory = end->memory,
                           .process = end->process,
                           .share = end->share};
}

/* ---- pairs ---- */

static void pairs_complain(struct pair_set *x, int32_t near_gpu, const char *reason) {
  if (reason[0] != '\0' && x->complaint_count < COMPLAINTS_MAX) {
    struct place_complaint *complaint = &x->complaints[x->complaint_count++];
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
  if (both) {
    (void)snprintf(reason, sizeof reason, "%.250s; %.250s", from_reason, to_reason);
  } else {
    (void)snprintf(reason, sizeof reason, "%s", from_reason[0] != '\0' ? from_reason : to_reason);
  }
  pairs_complain(x, -1, reason);
  for (size_t i = 0; i < from_list.count; i++) {
    for (size_t j = 0; j < to_list.count; j++) {
      pairs_add(x, from_list.indices[i], to_list.indices[j]);
    }
  }
}

static bool pairs_has(const struct pair_set *x, int32_t from, int32_t to) {
  return ANY_OF(i, x->pair_count, x->pairs[i].from == from && x->pairs[i].to == to);
}

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
    (void)snprintf(reason, CASE_REASON_MAX, "both ends are the same %s%s%s", what,
                   rule.if_equal != NULL ? ": " : "", rule.if_equal != NULL ? rule.if_equal : "");
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

ORDER_DEFINE(pairs_compare, struct pair, ORDER(x->from, y->from) ?: ORDER(x->to, y->to))

uint64_t place_random(uint64_t i, enum shuffle which, uint64_t seed) {
  const uint64_t number[2] = {i, which};
  return XXH3_64bits_withSeed(number, sizeof number, seed);
}

/* Fisher and Yates. */
static void pairs_shuffle(int32_t *items, size_t count, uint64_t seed, enum shuffle which) {
  for (size_t i = count; i > 1; i--) {
    const size_t at = place_random(i, which, seed) % i;
    const int32_t item = items[at];
    items[at] = items[i - 1];
    items[i - 1] = item;
  }
}

/* The places stand in a circle in random order, and each goes to the one that is some steps
 * further: for one number of steps, every place is the source once and the target once. Where of
 * {a, b} one is wanted, each place is in two pairs, or in one where the steps are half of the
 * circle. */
static void pairs_sample(struct pair_set *x, struct pair_rule rule, char reason[CASE_REASON_MAX]) {
  int32_t places[2 * PLACES_MAX + 1];
  int32_t steps[2 * PLACES_MAX];
  const size_t count = pairs_list_places(x, places);
  if (x->pair_count != count * (count - 1)) {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "pairs = \"sample\" needs the same places in from and to");
    x->pair_count = 0;
    return;
  }
  size_t step_count = 0;
  const bool odd_half = rule.once && count % 2 == 0 && rule.samples % 2 == 1;
  for (size_t i = 1; rule.once ? 2 * i < count : i < count; i++) {
    steps[step_count++] = (int32_t)i;
  }
  pairs_shuffle(places, count, rule.seed, SHUFFLE_PLACES);
  pairs_shuffle(steps, step_count, rule.seed, SHUFFLE_STEPS);
  if (rule.once && count % 2 == 0) { /* first where it makes the number odd, else last */
    memmove(&steps[odd_half ? 1 : 0], steps, step_count * sizeof *steps);
    steps[odd_half ? 0 : step_count] = (int32_t)(count / 2);
    step_count++;
  }
  x->pair_count = 0;
  for (size_t s = 0, times = 0; s < step_count && times < rule.samples; s++) {
    const bool half = rule.once && 2 * (size_t)steps[s] == count;
    for (size_t i = 0; i < (half ? count / 2 : count); i++) {
      const int32_t a = places[i];
      const int32_t b = places[(i + (size_t)steps[s]) % count];
      pairs_add(x, rule.once && b < a ? b : a, rule.once && b < a ? a : b);
    }
    times += rule.once && !half ? 2 : 1;
  }
  ORDER_SORT(x->pairs, x->pair_count, pairs_compare);
}

void pairs_apply(struct pair_set *x, enum place from, enum place to, struct pair_rule rule,
                 char reason[CASE_REASON_MAX]) {
  /* Decide before dropping: pairs_has() looks at all of them. */
  for (size_t i = 0; i < x->pair_count; i++) {
    const struct pair pair = x->pairs[i];
    const bool wanted = from == to && pair.from == pair.to ? rule.equal : rule.unequal;
    const bool again = from == to && rule.once && rule.samples == 0 && pair.from > pair.to &&
                       pairs_has(x, pair.to, pair.from);
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
  } else if (rule.samples > 0) {
    pairs_sample(x, rule, reason);
  }
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
