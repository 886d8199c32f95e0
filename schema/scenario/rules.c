#include "schema/scenario/rules.h"

#include <stdio.h>
#include <string.h>

#define BIT(x) (1U << (x))

/* One slot under examination. */
struct subject {
  struct reader *reader;
  const struct block *block;
  size_t slot;
  unsigned methods; /* bit set of enum method: what its method may be; 0 = not known */
};

/* An end of a flow: which keys say where it is. */
struct end {
  const char *name; /* "from" */
  const struct entry *gpu;
  const struct entry *numa;
  const struct entry *memory;
  enum place place;
  bool known; /* exactly one of gpu and numa */
};

static const struct entry *find(const struct subject *subject, const char *key) {
  return slot_entry(subject->block, subject->slot, key);
}

static const struct slot *slot_of(const struct subject *subject) {
  return &subject->block->slots[subject->slot];
}

__attribute__((format(printf, 5, 6))) static void
refuse(struct subject *subject, const struct entry *entry, struct toml_span span,
       const char *expected, const char *format, ...) {
  char message[ERROR_MESSAGE_MAX];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(message, sizeof message, format, args);
  va_end(args);
  complain(subject->reader->diagnostics, entry == NULL ? slot_of(subject)->source : entry->source,
           span, expected, NULL, "%s", message);
}

static void refuse_key(struct subject *subject, const struct entry *entry, const char *expected,
                       const char *message) {
  refuse(subject, entry, entry->key_span, expected, "%s", message);
}

/* The words that an entry has, as a bit set. */
static unsigned word_set(const struct entry *entry) {
  unsigned set = 0;
  for (size_t i = 0; entry != NULL && i < entry->values.count; i++) {
    set |= BIT(entry->values.items[i].word);
  }
  return set;
}

/* Where the first value with that word stands. */
static struct toml_span word_span(const struct entry *entry, unsigned word) {
  for (size_t i = 0; i < entry->values.count; i++) {
    if (entry->values.items[i].word == word) {
      return value_span(entry->node, i);
    }
  }
  return entry->node->span;
}

static struct end find_end(const struct subject *subject, const char *name, const char *gpu,
                           const char *numa, const char *memory) {
  struct end end = {.name = name,
                    .gpu = find(subject, gpu),
                    .numa = find(subject, numa),
                    .memory = find(subject, memory)};
  end.known = (end.gpu == NULL) != (end.numa == NULL);
  end.place = end.gpu != NULL ? PLACE_GPU : PLACE_NUMA;
  return end;
}

static void check_place(struct subject *subject, const struct end *end) {
  if (end->gpu != NULL && end->numa != NULL) {
    refuse(subject, end->numa, end->numa->key_span, "one of the two",
           "%s: a flow has one end: gpu and numa cannot both be given", end->name);
  } else if (!end->known && end->memory != NULL) {
    refuse(subject, end->memory, end->memory->key_span, "gpu or numa beside it",
           "%s: the place is missing", end->name);
  } else if (!end->known) {
    const struct toml_node *node = toml_get(slot_of(subject)->node, end->name);
    if (node != NULL && (node->kind != TOML_TABLE || node->child_count > 0)) {
      return; /* what stands there has been complained about */
    }
    refuse(subject, NULL, node == NULL ? slot_of(subject)->header_span : node->key_span,
           "{ gpu = ... } or { numa = ... }, with memory where it is not the default",
           "missing \"%s\" in %s", end->name, sections[slot_of(subject)->section].title);
  }
}

static bool memory_fits(enum memory_kind memory, enum place place) {
  return memory == MEMORY_MANAGED || (memory == MEMORY_DEVICE) == (place == PLACE_GPU);
}

static void check_memory(struct subject *subject, const struct end *end) {
  if (!end->known || end->memory == NULL) {
    return;
  }
  const bool unified = (subject->methods & BIT(METHOD_UM)) != 0;
  for (size_t i = 0; i < end->memory->values.count; i++) {
    const enum memory_kind memory = (enum memory_kind)end->memory->values.items[i].word;
    const struct toml_span span = value_span(end->memory->node, i);
    if (!memory_fits(memory, end->place)) {
      refuse(subject, end->memory, span,
             end->place == PLACE_GPU ? "\"device\" or \"managed\" on a GPU"
                                     : "\"pageable\", \"pinned\", \"registered\", "
                                       "\"write_combined\", \"huge\" or \"managed\" on a NUMA node",
             "%s.memory: there is no \"%s\" memory on a %s", end->name, memory_kind_text(memory),
             end->place == PLACE_GPU ? "GPU" : "NUMA node");
    } else if (unified && memory != MEMORY_MANAGED) {
      refuse(subject, end->memory, span, "\"managed\", or no memory at all",
             "%s.memory: method \"um\" moves managed memory, not \"%s\"", end->name,
             memory_kind_text(memory));
    }
  }
}

static void check_nodes(struct subject *subject, const struct end *end, const struct end *other) {
  if (!end->known || !other->known || end->numa == NULL || end->numa->values.count == 0 ||
      other->place == PLACE_GPU) {
    return;
  }
  const enum selector_kind kind = end->numa->values.items[0].selector.kind;
  if (kind == SELECTOR_LOCAL || kind == SELECTOR_REMOTE) {
    refuse(subject, end->numa, end->numa->node->span, "the number of a node, or \"*\"",
           "%s.numa: \"%s\" is seen from a GPU, and the other end is none", end->name,
           kind == SELECTOR_LOCAL ? "local" : "remote");
  }
}

/* Which processors can reach both ends. */
static void check_method(struct subject *subject, const struct end *from, const struct end *to) {
  const struct entry *method = find(subject, "method");
  if (method == NULL || !from->known || !to->known) {
    return;
  }
  const bool has_gpu = from->place == PLACE_GPU || to->place == PLACE_GPU;
  if ((subject->methods & BIT(METHOD_CPU)) != 0 && has_gpu) {
    refuse(subject, method, word_span(method, METHOD_CPU), "\"ce\", \"sm\" or \"um\"",
           "method \"cpu\" moves bytes between NUMA nodes, and \"%s\" is a GPU",
           from->place == PLACE_GPU ? "from" : "to");
  }
  for (unsigned i = METHOD_SM; i <= METHOD_UM && !has_gpu; i++) {
    if ((subject->methods & BIT(i)) != 0) {
      refuse(subject, method, word_span(method, i), "\"cpu\" or \"ce\"",
             "method \"%s\" needs a GPU at one end at least", method_text((enum method)i));
    }
  }
}

/* The end that would start a flow must be the GPU where the other is a node. */
static void check_initiator(struct subject *subject, const struct end *from, const struct end *to) {
  const struct entry *initiator = find(subject, "initiator");
  if (initiator == NULL || !from->known || !to->known || from->place == to->place ||
      (subject->methods & (BIT(METHOD_CE) | BIT(METHOD_SM))) == 0) {
    return;
  }
  const struct entry *direction = subject->slot == 0 ? find(subject, "direction") : NULL;
  const unsigned directions = direction == NULL ? BIT(DIRECTION_FORWARD) : word_set(direction);
  const bool gpu_is_to = to->place == PLACE_GPU;
  unsigned wrong = 0;
  if ((directions & (BIT(DIRECTION_FORWARD) | BIT(DIRECTION_BOTH))) != 0) {
    wrong |= BIT(gpu_is_to ? INITIATOR_SOURCE : INITIATOR_TARGET);
  }
  if ((directions & (BIT(DIRECTION_REVERSE) | BIT(DIRECTION_BOTH))) != 0) {
    wrong |= BIT(gpu_is_to ? INITIATOR_TARGET : INITIATOR_SOURCE);
  }
  for (unsigned i = 0; i < initiator_word_count; i++) {
    if ((wrong & word_set(initiator) & BIT(i)) != 0) {
      refuse(subject, initiator, word_span(initiator, i), "no initiator: the GPU starts the flow",
             "initiator \"%s\" would be a NUMA node here", initiator_text((enum initiator)i));
    }
  }
}

static void check_peer(struct subject *subject, const struct end *from, const struct end *to) {
  const struct entry *peer = find(subject, "peer");
  if (peer == NULL || !from->known || !to->known) {
    return;
  }
  if (from->place != PLACE_GPU || to->place != PLACE_GPU) {
    refuse_key(subject, peer, "no peer", "peer is for flows between two GPUs");
    return;
  }
  for (size_t i = 0; i < peer->values.count; i++) {
    if (!peer->values.items[i].flag && subject->methods != 0 &&
        (subject->methods & BIT(METHOD_CE)) == 0) {
      refuse(subject, peer, value_span(peer->node, i), "method \"ce\", or peer = true",
             "only copy engines can stage a flow through the host");
    }
  }
}

/* Keys that no method here uses. */
static void check_unused(struct subject *subject) {
  const struct entries *entries = &slot_of(subject)->entries;
  for (size_t i = 0; i < entries->count; i++) {
    const struct entry *entry = &entries->items[i];
    if (entry->field->methods == 0 || (entry->field->methods & subject->methods) != 0) {
      continue;
    }
    char methods[128] = "method";
    size_t length = strlen(methods);
    for (unsigned m = 0; m < method_word_count && length < sizeof methods - 16; m++) {
      if ((entry->field->methods & BIT(m)) != 0) {
        length += (size_t)snprintf(methods + length, sizeof methods - length, "%s\"%s\"",
                                   length == 6 ? " " : " or ", method_text((enum method)m));
      }
    }
    refuse(subject, entry, entry->key_span, methods, "\"%s\" has no effect with this method",
           entry->field->name);
  }
}

static void check_size(struct subject *subject) {
  const struct entries *own = &slot_of(subject)->entries;
  const struct entry *size = find(subject, "size");
  const struct entry *width = find(subject, "shape.width");
  static const char *const parts[] = {"shape.height", "shape.depth", "shape.pitch"};
  if (entries_find(own, "size") != NULL && entries_find(own, "shape.width") != NULL) {
    refuse_key(subject, entries_find(own, "size"), "one of the two",
               "the size follows from shape: width x height x depth");
  }
  if (size == NULL && width == NULL) {
    refuse(subject, NULL, slot_of(subject)->header_span,
           "size = \"64MiB\", an array of sizes, or { from, to, factor }", "missing \"size\" in %s",
           sections[slot_of(subject)->section].title);
  }
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (width == NULL && entries_find(own, parts[i]) != NULL) {
      refuse(subject, entries_find(own, parts[i]), entries_find(own, parts[i])->key_span,
             "shape.width beside it", "%s means nothing without shape.width", parts[i]);
    }
  }
}

static void check_flow(struct subject *subject) {
  const struct end from = find_end(subject, "from", "from.gpu", "from.numa", "from.memory");
  const struct end to = find_end(subject, "to", "to.gpu", "to.numa", "to.memory");
  if (find(subject, "method") == NULL) {
    refuse(subject, NULL, slot_of(subject)->header_span, "\"ce\", \"sm\", \"um\" or \"cpu\"",
           "missing \"method\" in %s", sections[slot_of(subject)->section].title);
  }
  check_place(subject, &from);
  check_place(subject, &to);
  check_memory(subject, &from);
  check_memory(subject, &to);
  check_nodes(subject, &from, &to);
  check_nodes(subject, &to, &from);
  check_method(subject, &from, &to);
  check_initiator(subject, &from, &to);
  check_peer(subject, &from, &to);
  check_size(subject);
}

/* What only makes sense where the block itself selects the flows. */
static void check_selection(struct subject *subject) {
  const struct end from = find_end(subject, "from", "from.gpu", "from.numa", "from.memory");
  const struct end to = find_end(subject, "to", "to.gpu", "to.numa", "to.memory");
  if (!from.known || !to.known || from.place == to.place) {
    return;
  }
  const struct entry *pairs = find(subject, "pairs");
  if ((word_set(pairs) & BIT(PAIRS_SAME)) != 0) {
    refuse(subject, pairs, word_span(pairs, PAIRS_SAME), "\"ordered\" or \"unordered\"",
           "pairs \"same\" needs both ends to be GPUs, or both NUMA nodes");
  }
  const struct entry *concurrent = find(subject, "concurrent");
  for (unsigned i = CONCURRENT_RING; i <= CONCURRENT_BISECT; i++) {
    if ((word_set(concurrent) & BIT(i)) != 0) {
      refuse(subject, concurrent, word_span(concurrent, i),
             "\"none\", \"per_target\", \"per_source\" or \"all\"",
             "concurrent \"%s\" needs both ends to be GPUs, or both NUMA nodes",
             concurrent_text((enum concurrent)i));
    }
  }
}

/* With [[transfer.flow]] the block itself moves nothing. */
static void check_no_selection(struct subject *subject) {
  static const char *const keys[] = {"from.gpu", "from.numa", "from.memory", "to.gpu",
                                     "to.numa",  "to.memory", "pairs",       "concurrent"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const struct entry *entry = find(subject, keys[i]);
    if (entry != NULL) {
      refuse(subject, entry, entry->key_span, "it in the flows, or no [[transfer.flow]]",
             "%s has no meaning beside [[transfer.flow]]", keys[i]);
    }
  }
}

static void check_labels(struct subject *subject) {
  const struct slot *slot = slot_of(subject);
  for (size_t i = 1; i < subject->slot; i++) {
    if (strcmp(subject->block->slots[i].label, slot->label) == 0) {
      const struct entry *name = entries_find(&slot->entries, "name");
      refuse(subject, name, name == NULL ? slot->header_span : name->node->span,
             "a name of its own", "\"%s\" is named twice", slot->label);
    }
  }
}

void rules_check_keys(struct reader *reader, const struct block *block) {
  unsigned any_method = 0;
  bool unknown = false; /* a method is missing or wrong: one complaint about it is enough */
  for (size_t i = block->slot_count; i-- > 0;) {
    const struct entry *method = slot_entry(block, i, "method");
    const bool selects = i > 0 || block->flow_count == 0;
    struct subject subject = {reader, block, i, word_set(method)};
    unknown = unknown || (subject.methods == 0 && (selects || method != NULL));
    any_method |= subject.methods;
    if (i > 0) {
      check_labels(&subject);
    }
    if (selects) {
      check_flow(&subject);
      check_selection(&subject);
    } else {
      check_no_selection(&subject);
    }
    if (i == 0) { /* what the block says holds for its loads and flows as well */
      subject.methods = unknown ? 0 : any_method;
    }
    if (subject.methods != 0) {
      check_unused(&subject);
    }
  }
}

static const struct entry *either(const struct entry *first, const struct entry *second) {
  return first != NULL ? first : second;
}

/* The entry that decides about a key of [measure] in this block. */
static const struct entry *measure_entry(const struct entries *measure, const struct block *block,
                                         const char *key) {
  return either(slot_entry(block, 0, key), entries_find(measure, key));
}

static bool check_trials(struct subject *subject, const struct entries *measure,
                         const struct measure *made) {
  if (made->trials_min <= made->trials_max) {
    return true;
  }
  const struct entry *max = measure_entry(measure, subject->block, "trials.max");
  const struct entry *min = measure_entry(measure, subject->block, "trials.min");
  const struct entry *at = either(max, min);
  refuse(subject, at, at->node->span, "min up to max", "trials: min is %u, above max, %u%s",
         made->trials_min, made->trials_max, max == NULL ? " by default" : "");
  return false;
}

static bool check_shape(struct subject *subject, const struct flow_setting *flow) {
  const struct copy_shape *shape = &flow->shape;
  const double bytes = (double)shape->width_bytes * (double)shape->height * (double)shape->depth;
  if (shape->width_bytes == 0) {
    return true;
  }
  const struct entry *width = find(subject, "shape.width");
  if (bytes > 0x1p46) {
    refuse(subject, width, width->node->span, "at most 64TiB in all", "the shape is too large");
    return false;
  }
  if (shape->pitch_bytes < shape->width_bytes) {
    const struct entry *pitch = either(find(subject, "shape.pitch"), width);
    refuse(subject, pitch, pitch->node->span, "a pitch of the width or more",
           "shape: rows of %llu bytes cannot stand %llu bytes apart",
           (unsigned long long)shape->width_bytes, (unsigned long long)shape->pitch_bytes);
    return false;
  }
  return true;
}

/* Keys that could not be read have been complained about: no more rules about them. */
static bool all_read(const struct entries *entries, const char *prefix) {
  for (size_t i = 0; i < entries->count; i++) {
    if (strncmp(entries->items[i].field->name, prefix, strlen(prefix)) == 0 &&
        entries->items[i].values.count == 0) {
      return false;
    }
  }
  return true;
}

static bool check_setting(struct reader *reader, const struct entries *measure,
                          const struct block *block, const struct setting *setting) {
  struct subject subject = {reader, block, 0, 0};
  bool good = true;
  if (all_read(measure, "trials.") && all_read(&block->slots[0].entries, "trials.")) {
    good = check_trials(&subject, measure, &setting->measure);
  }
  for (size_t i = 0; i < block->slot_count; i++) {
    const struct flow_setting *flow = i == 0 ? &setting->transfer.flow : &block->made_flows[i - 1];
    subject.slot = i;
    if (all_read(&block->slots[0].entries, "shape.") &&
        all_read(&block->slots[i].entries, "shape.")) {
      good = check_shape(&subject, flow) && good;
    }
  }
  return good;
}

/* Without an axis among the keys in question one setting stands for all. */
static size_t settings_to_check(const struct block *block) {
  for (size_t i = 0; i < block->axis_count; i++) {
    const char *key = block->axes[i].entry->field->name;
    if (strncmp(key, "trials.", 7) == 0 || strncmp(key, "shape.", 6) == 0) {
      return block->setting_count;
    }
  }
  return 1;
}

void rules_check_settings(struct reader *reader, const struct entries *measure,
                          const struct block *block) {
  const size_t count = settings_to_check(block);
  for (size_t i = 0; i < count; i++) {
    struct setting setting;
    block_setting(block, i, &setting);
    if (!check_setting(reader, measure, block, &setting)) {
      return;
    }
  }
}
