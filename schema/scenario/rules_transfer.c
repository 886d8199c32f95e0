/* Rules between the keys of a [[transfer]] and of its flows. */
#include "schema/scenario/block.h"
#include "schema/scenario/kind.h"

#include <stdio.h>
#include <string.h>

/* An end of a flow: the keys that give its place. */
struct end {
  const char *name; /* "from" */
  const struct entry *gpu;
  const struct entry *numa;
  const struct entry *memory;
  enum place place;
  bool known; /* exactly one of gpu and numa */
};

static struct end find_end(const struct subject *subject, const char *name, const char *gpu,
                           const char *numa, const char *memory) {
  struct end end = {.name = name,
                    .gpu = subject_find(subject, gpu),
                    .numa = subject_find(subject, numa),
                    .memory = subject_find(subject, memory)};
  end.known = (end.gpu == NULL) != (end.numa == NULL);
  end.place = end.gpu != NULL ? PLACE_GPU : PLACE_NUMA;
  return end;
}

static void refuse_missing(struct subject *subject, const char *key, struct toml_span span,
                           const char *expected) {
  subject_refuse(subject, NULL, span, expected, "missing \"%s\" in %s", key,
                 section_row(subject_slot(subject)->section)->title);
}

/* Keys of the slot itself that mean nothing without another key. */
static void check_needs(struct subject *subject, const char *const *keys, const char *needed) {
  char expected[64];
  (void)snprintf(expected, sizeof expected, "%s as well", needed);
  for (size_t i = 0; keys[i] != NULL && subject_find(subject, needed) == NULL; i++) {
    const struct entry *entry = entries_find(&subject_slot(subject)->entries, keys[i]);
    if (entry != NULL) {
      subject_refuse(subject, entry, entry->key_span, expected, "%s has no effect without %s",
                     keys[i], needed);
    }
  }
}

static void transfer_check_place(struct subject *subject, const struct end *end) {
  if (end->gpu != NULL && end->numa != NULL) {
    subject_refuse(subject, end->numa, end->numa->key_span, "one of the two",
                   "%s: gpu and numa cannot both be given", end->name);
  } else if (!end->known && end->memory != NULL) {
    subject_refuse(subject, end->memory, end->memory->key_span, "gpu or numa as well",
                   "%s: missing gpu or numa", end->name);
  } else if (!end->known) {
    const struct toml_node *node = toml_get(subject_slot(subject)->node, end->name);
    if (node != NULL || entries_mean(&subject_slot(subject)->entries, end->name)) {
      return; /* what stands there has been complained about */
    }
    refuse_missing(subject, end->name,
                   node == NULL ? subject_slot(subject)->header_span : node->key_span,
                   "{ gpu = ... } or { numa = ... }, with memory if it is not the default");
  }
}

static void transfer_check_memory(struct subject *subject, const struct end *end) {
  if (!end->known || end->memory == NULL) {
    return;
  }
  const bool unified = (subject->methods & BIT(METHOD_UM)) != 0;
  for (size_t i = 0; i < end->memory->values.count; i++) {
    const enum memory_kind memory = (enum memory_kind)end->memory->values.items[i].word;
    const struct toml_span span = value_span(end->memory->node, i);
    if (!memory_fits(memory, end->place)) {
      subject_refuse(
          subject, end->memory, span,
          end->place == PLACE_GPU
              ? "\"device\", \"pool\", \"vmm\" or \"managed\" on a GPU"
              : "\"pageable\", \"pinned\", \"registered\", \"write_combined\", \"huge\", "
                "\"host_vmm\", \"shared\" or \"managed\" on a NUMA node",
          "%s.memory: there is no \"%s\" memory on a %s", end->name, memory_kind_text(memory),
          end->place == PLACE_GPU ? "GPU" : "NUMA node");
    } else if (unified && memory != MEMORY_MANAGED) {
      subject_refuse(subject, end->memory, span, "\"managed\", or no memory at all",
                     "%s.memory: method \"um\" moves managed memory, not \"%s\"", end->name,
                     memory_kind_text(memory));
    }
  }
}

/* What another process can share, and which methods move it. */
static void transfer_check_process(struct subject *subject, const struct end *end) {
  const struct entries *own = &subject_slot(subject)->entries;
  const bool from = strcmp(end->name, "from") == 0;
  const struct entry *process = entries_find(own, from ? "from.process" : "to.process");
  const struct entry *share = entries_find(own, from ? "from.share" : "to.share");
  bool other = false;
  for (size_t i = 0; process != NULL && i < process->values.count; i++) {
    other = other || process->values.items[i].integer > 0;
  }
  if (share != NULL && end->memory != NULL) {
    subject_refuse(subject, end->memory, end->memory->key_span, "one of the two",
                   "%s.share says which kind of memory it is", end->name);
    return;
  }
  if (share != NULL && end->known) {
    subject_check_share(subject, share, end->place, end->name);
  }
  for (size_t i = 0; other && end->memory != NULL && i < end->memory->values.count; i++) {
    const enum memory_kind memory = (enum memory_kind)end->memory->values.items[i].word;
    if (!memory_is_shareable(memory)) {
      subject_refuse(subject, end->memory, value_span(end->memory->node, i),
                     "\"device\", \"vmm\", \"pool\" or \"shared\"",
                     "%s.memory: no process opens \"%s\" memory of another one", end->name,
                     memory_kind_text(memory));
    }
  }
  const unsigned alone = subject->methods & (BIT(METHOD_UM) | BIT(METHOD_PIN));
  if (other && alone != 0) {
    subject_refuse_key(subject, process, "method \"ce\", \"sm\" or \"cpu\"",
                       "methods um and pin work on memory of their own process");
  }
  if (other && subject_find(subject, "piece_size") != NULL) {
    subject_refuse_key(subject, process, "no pieces, or process = 0",
                       "the pieces of a scattered copy are in memory of the process that measures");
  }
}

static void check_nodes(struct subject *subject, const struct end *end, const struct end *other) {
  if (!end->known || !other->known || end->numa == NULL || end->numa->values.count == 0 ||
      other->place == PLACE_GPU) {
    return;
  }
  const enum selector_kind kind = end->numa->values.items[0].selector.kind;
  if (kind == SELECTOR_LOCAL || kind == SELECTOR_REMOTE) {
    subject_refuse(subject, end->numa, end->numa->node->span, "the number of a node, or \"*\"",
                   "%s.numa: \"%s\" is relative to a GPU, and the other end is not one", end->name,
                   kind == SELECTOR_LOCAL ? "local" : "remote");
  }
}

#define METHOD_IS_HOST_CUDA                         false
#define METHOD_IS_HOST_HOST                         true
#define METHOD_IS_HOST_(id, text, name, build, ...) [id] = METHOD_IS_HOST_##build,
static const bool method_is_host[method_name_count] = {METHOD_LIST(METHOD_IS_HOST_)};

/* Methods whose processors can reach both ends. */
static void check_method(struct subject *subject, const struct end *from, const struct end *to) {
  const struct entry *method = subject_find(subject, "method");
  const bool load = section_is_load(subject_slot(subject)->section);
  if (method != NULL && !load && (subject->methods & BIT(METHOD_COMPUTE)) != 0) {
    subject_refuse(subject, method, entry_word_span(method, METHOD_COMPUTE),
                   "[[compute]], or a load with that method",
                   "method \"compute\" moves nothing: it is measured by [[compute]]");
  }
  if (method == NULL || !from->known || !to->known) {
    return;
  }
  const bool has_gpu = from->place == PLACE_GPU || to->place == PLACE_GPU;
  for (unsigned i = 0; i < method_name_count && has_gpu; i++) {
    if (method_is_host[i] && (subject->methods & BIT(i)) != 0) {
      subject_refuse(subject, method, entry_word_span(method, i), "\"ce\", \"sm\" or \"um\"",
                     "method \"%s\" copies between NUMA nodes, and \"%s\" is a GPU",
                     method_text((enum method)i), from->place == PLACE_GPU ? "from" : "to");
    }
  }
  for (unsigned i = METHOD_SM; i <= METHOD_UM && !has_gpu; i++) {
    if ((subject->methods & BIT(i)) != 0) {
      subject_refuse(subject, method, entry_word_span(method, i), "\"cpu\" or \"ce\"",
                     "method \"%s\" needs a GPU at one end or both", method_text((enum method)i));
    }
  }
}

/* Between a GPU and a node only the GPU can initiate a flow. */
static void check_initiator(struct subject *subject, const struct end *from, const struct end *to) {
  const struct entry *initiator = subject_find(subject, "initiator");
  if (initiator == NULL || !from->known || !to->known || from->place == to->place ||
      (subject->methods & (BIT(METHOD_CE) | BIT(METHOD_SM))) == 0) {
    return;
  }
  const struct entry *direction = subject->slot == 0 ? subject_find(subject, "direction") : NULL;
  const unsigned directions =
      direction == NULL ? BIT(DIRECTION_FORWARD) : entry_word_set(direction);
  const bool gpu_is_to = to->place == PLACE_GPU;
  unsigned wrong = 0;
  if ((directions & (BIT(DIRECTION_FORWARD) | BIT(DIRECTION_BOTH))) != 0) {
    wrong |= BIT(gpu_is_to ? INITIATOR_SOURCE : INITIATOR_TARGET);
  }
  if ((directions & (BIT(DIRECTION_REVERSE) | BIT(DIRECTION_BOTH))) != 0) {
    wrong |= BIT(gpu_is_to ? INITIATOR_TARGET : INITIATOR_SOURCE);
  }
  for (unsigned i = 0; i < initiator_name_count; i++) {
    if ((wrong & entry_word_set(initiator) & BIT(i)) != 0) {
      subject_refuse(subject, initiator, entry_word_span(initiator, i),
                     "no initiator: the GPU initiates the flow",
                     "initiator \"%s\" would be a NUMA node here",
                     initiator_text((enum initiator)i));
    }
  }
}

static void check_peer(struct subject *subject, const struct end *from, const struct end *to) {
  const struct entry *peer = subject_find(subject, "peer");
  if (peer == NULL || !from->known || !to->known) {
    return;
  }
  if (from->place != PLACE_GPU || to->place != PLACE_GPU) {
    subject_refuse_key(subject, peer, "no peer", "peer applies to flows between two GPUs only");
    return;
  }
  for (size_t i = 0; i < peer->values.count; i++) {
    if (!peer->values.items[i].flag && subject->methods != 0 &&
        (subject->methods & BIT(METHOD_CE)) == 0) {
      subject_refuse(subject, peer, value_span(peer->node, i), "method \"ce\", or peer = true",
                     "only copy engines can stage a flow through the host");
    }
  }
}

/* Whether a processor makes a copy at some setting: of what check_peer() says, and of memory. */
static bool transfer_has_host_copies(const struct subject *subject) {
  const struct entry *peer = subject_find(subject, "peer");
  const unsigned pageable = BIT(MEMORY_PAGEABLE);
  bool found = ((entry_word_set(subject_find(subject, "from.memory")) |
                 entry_word_set(subject_find(subject, "to.memory"))) &
                pageable) != 0;
  for (size_t i = 0; peer != NULL && i < peer->values.count; i++) {
    found = found || !peer->values.items[i].flag;
  }
  return found;
}

static void check_cpu(struct subject *subject) {
  const struct entry *cpu = entries_find(&subject_slot(subject)->entries, "cpu");
  if (cpu != NULL && (subject->methods & BIT(METHOD_CE)) != 0 &&
      entries_are_read(&subject_slot(subject)->entries, "from.memory") &&
      entries_are_read(&subject_slot(subject)->entries, "to.memory") &&
      !transfer_has_host_copies(subject)) {
    subject_refuse_key(subject, cpu, "memory = \"pageable\" at one end, or peer = false",
                       "cpu has no effect: no processor makes these copies");
  }
}

/* Keys that none of the methods uses. */
static void check_unused(struct subject *subject) {
  const struct entries *entries = &subject_slot(subject)->entries;
  for (size_t i = 0; i < entries->count; i++) {
    const struct entry *entry = &entries->items[i];
    if (entry->field->methods == 0 || (entry->field->methods & subject->methods) != 0) {
      continue;
    }
    char methods[128] = "method";
    size_t length = strlen(methods);
    for (unsigned m = 0; m < method_name_count && length < sizeof methods - 16; m++) {
      if ((entry->field->methods & BIT(m)) != 0) {
        length += (size_t)snprintf(methods + length, sizeof methods - length, "%s\"%s\"",
                                   length == 6 ? " " : " or ", method_text((enum method)m));
      }
    }
    subject_refuse(subject, entry, entry->key_span, methods,
                   "\"%s\" has no effect with this method", entry->field->name);
  }
}

/* What a flow that is listed has from its block: flows on a stream are a GPU's. */
static void check_stream(struct subject *subject) {
  const struct entry *stream = subject_find(subject, "stream");
  const unsigned others = subject->methods & ~(BIT(METHOD_CE) | BIT(METHOD_SM));
  if (subject->slot > 0 && stream != NULL && others != 0 && others == subject->methods) {
    const struct entry *method = subject_find(subject, "method");
    subject_refuse_key(subject, method, "\"ce\" or \"sm\", or stream = \"own\" for this flow alone",
                       "only flows of copy engines and kernels can share a stream");
  }
}

/* What is divided among streams is bytes in a row, once. */
static void check_streams(struct subject *subject) {
  static const char *const whole[] = {"shape.width", "pieces", "piece_size",
                                      "stream",      "count",  NULL};
  const struct entry *streams = subject_find(subject, "streams");
  for (size_t i = 0; streams != NULL && whole[i] != NULL; i++) {
    const struct entry *other = subject_find(subject, whole[i]);
    if (other != NULL) {
      subject_refuse_key(subject, streams, "one of the two",
                         "streams divides contiguous bytes that are copied once");
      return;
    }
  }
}

/* Of size and pieces one is given, where there are pieces. */
static void check_pieces(struct subject *subject) {
  const struct entries *own = &subject_slot(subject)->entries;
  const struct entry *pieces = subject_find(subject, "pieces");
  const struct entry *piece_size = subject_find(subject, "piece_size");
  static const char *const parts[] = {"pieces",      "places",        "submit", "run",
                                      "batch.order", "batch.overlap", NULL};
  check_needs(subject, parts, "piece_size");
  if (pieces != NULL && piece_size != NULL && subject_find(subject, "size") != NULL) {
    subject_refuse_key(subject, entry_either(entries_find(own, "size"), pieces), "one of the two",
                       "pieces defines the size: pieces x piece_size");
  }
  if (piece_size != NULL && entries_find(own, "shape.width") != NULL) {
    subject_refuse_key(subject, entries_find(own, "shape.width"), "one of the two",
                       "a copy cannot have both a shape and pieces");
  }
  const struct entry *batch =
      entry_either(subject_find(subject, "batch.order"), subject_find(subject, "batch.overlap"));
  const struct entry *submit = subject_find(subject, "submit");
  if (batch != NULL && piece_size != NULL && (entry_word_set(submit) & BIT(SUBMIT_BATCH)) == 0) {
    subject_refuse_key(subject, batch, "submit = \"batch\" as well",
                       "what a batch is asked for has no effect without one");
  }
}

/* needed: false if another flow has the size. */
static void check_size(struct subject *subject, bool needed) {
  const struct entries *own = &subject_slot(subject)->entries;
  const struct entry *size = subject_find(subject, "size");
  const struct entry *width = subject_find(subject, "shape.width");
  static const char *const parts[] = {"shape.height", "shape.depth", "shape.pitch", NULL};
  if (entries_find(own, "size") != NULL && entries_find(own, "shape.width") != NULL) {
    subject_refuse_key(subject, entries_find(own, "size"), "one of the two",
                       "shape defines the size: width x height x depth");
  }
  check_pieces(subject);
  const bool pieces =
      subject_find(subject, "pieces") != NULL && subject_find(subject, "piece_size") != NULL;
  const bool computes = subject->methods == BIT(METHOD_COMPUTE);
  if (needed && !computes && size == NULL && width == NULL && !pieces &&
      !entries_mean(own, "size")) {
    refuse_missing(subject, "size", subject_slot(subject)->header_span,
                   "size = \"64MiB\", an array of sizes, or { from, to, factor }");
  }
  check_needs(subject, parts, "shape.width");
}

/* Keys that apply only if the block itself selects the flows. */
static void check_selection(struct subject *subject, const struct end *from, const struct end *to) {
  const struct entry *pairs = subject_find(subject, "pairs");
  const struct entry *samples = subject_find(subject, "samples");
  if (samples != NULL && (entry_word_set(pairs) & BIT(PAIRS_SAMPLE)) == 0) {
    subject_refuse_key(subject, samples, "pairs = \"sample\" as well",
                       "samples has no effect without pairs \"sample\"");
  }
  if (!from->known || !to->known || from->place == to->place) {
    return;
  }
  for (unsigned i = PAIRS_SAME; i <= PAIRS_SAMPLE; i++) {
    if ((entry_word_set(pairs) & BIT(i)) != 0) {
      subject_refuse(subject, pairs, entry_word_span(pairs, i), "\"ordered\" or \"unordered\"",
                     "pairs \"%s\" needs both ends to be GPUs, or both NUMA nodes",
                     pairs_text((enum pairs)i));
    }
  }
  const struct entry *concurrent = subject_find(subject, "concurrent");
  for (unsigned i = CONCURRENT_RING; i <= CONCURRENT_BISECT; i++) {
    if ((entry_word_set(concurrent) & BIT(i)) != 0) {
      subject_refuse(subject, concurrent, entry_word_span(concurrent, i),
                     "\"none\", \"per_target\", \"per_source\" or \"all\"",
                     "concurrent \"%s\" needs both ends to be GPUs, or both NUMA nodes",
                     concurrent_text((enum concurrent)i));
    }
  }
}

static void check_method_given(struct subject *subject) {
  if (subject_find(subject, "method") == NULL &&
      !entries_mean(&subject_slot(subject)->entries, "method")) {
    char expected[FIELD_EXPECTED_MAX];
    field_expected(field_find(SECTION_TRANSFER, "method"), expected);
    refuse_missing(subject, "method", subject_slot(subject)->header_span, expected);
  }
}

static void check_flow(struct subject *subject) {
  const struct entry *direction =
      subject->slot > 0 ? entries_find(&subject_slot(subject)->entries, "direction") : NULL;
  if (direction != NULL) {
    subject_refuse_key(subject, direction, "no direction, or neither from nor to",
                       "direction applies to loads without from and to, which mirror the measured "
                       "flows");
  }
  const struct end from = find_end(subject, "from", "from.gpu", "from.numa", "from.memory");
  const struct end to = find_end(subject, "to", "to.gpu", "to.numa", "to.memory");
  check_method_given(subject);
  transfer_check_place(subject, &from);
  transfer_check_place(subject, &to);
  transfer_check_memory(subject, &from);
  transfer_check_memory(subject, &to);
  transfer_check_process(subject, &from);
  transfer_check_process(subject, &to);
  check_nodes(subject, &from, &to);
  check_nodes(subject, &to, &from);
  check_method(subject, &from, &to);
  check_initiator(subject, &from, &to);
  check_peer(subject, &from, &to);
  check_stream(subject);
  check_streams(subject);
  check_cpu(subject);
  check_size(subject, true);
  check_selection(subject, &from, &to);
}

/* A load without ends has those of the measured flows. */
static void check_mirror(struct subject *subject) {
  const struct entries *own = &subject_slot(subject)->entries;
  const struct entry *peer = entries_find(own, "peer");
  const struct entry *initiator = entries_find(own, "initiator");
  if (peer != NULL) {
    subject_refuse_key(subject, peer, "no peer, or from and to",
                       "a load without from and to takes the path of the measured flows");
  }
  if (initiator != NULL && (slot_entry(subject->block, 0, "from.numa") != NULL) !=
                               (slot_entry(subject->block, 0, "to.numa") != NULL)) {
    subject_refuse_key(subject, initiator, "no initiator: the GPU initiates the flow",
                       "between a NUMA node and a GPU the GPU initiates every flow");
  }
  for (size_t i = 0; i < own->count; i++) {
    if (own->items[i].field->methods != 0 && strncmp(own->items[i].field->name, "shape.", 6) != 0 &&
        subject_find(subject, "method") == NULL) {
      subject_refuse_key(subject, &own->items[i], "method as well",
                         "the method to which this applies is not known");
    }
  }
  check_size(subject, subject->block->kind != CASE_TRANSFER);
}

static void check_labels(struct subject *subject) {
  const struct slot *slot = subject_slot(subject);
  for (size_t i = 1; i < subject->slot; i++) {
    if (strcmp(subject->block->slots[i].label, slot->label) == 0) {
      const struct entry *name = entries_find(&slot->entries, "name");
      subject_refuse(subject, name, name == NULL ? slot->header_span : name->node->span,
                     "a unique name", "\"%s\" is listed twice", slot->label);
    }
  }
}

void transfer_check_keys(struct reader *reader, const struct block *block) {
  /* With [[transfer.flow]] the block itself copies nothing. */
  static const char *const of_selection[] = {
      "from.gpu",   "from.numa", "from.memory", "from.process", "from.share", "to.gpu",
      "to.numa",    "to.memory", "to.process",  "to.share",     "pairs",      "samples",
      "concurrent", NULL};
  unsigned any_method = 0;
  bool unknown = false; /* a method is missing or wrong: one complaint about it is enough */
  for (size_t i = block->slot_count; i-- > 0;) {
    const struct entry *method = slot_entry(block, i, "method");
    const bool mirrors = slot_mirrors(&block->slots[i]);
    const bool selects = !mirrors && (i > 0 || block->flow_count == 0);
    struct subject subject = {reader, block, i, entry_word_set(method)};
    unknown = unknown || (subject.methods == 0 && (selects || method != NULL));
    any_method |= subject.methods;
    if (i > 0) {
      check_labels(&subject);
    }
    if (mirrors) {
      check_mirror(&subject);
    } else if (selects) {
      check_flow(&subject);
    } else {
      subject_refuse_keys(&subject, of_selection, "the key in the flows, or no [[transfer.flow]]",
                          " has no effect with [[transfer.flow]]");
    }
    if (i == 0) { /* what the block says holds for its loads and flows as well */
      subject.methods = unknown ? 0 : any_method;
    }
    if (subject.methods != 0) {
      check_unused(&subject);
    }
  }
}

static bool check_shape(struct subject *subject, const struct flow_setting *flow) {
  const struct copy_shape *shape = &flow->base.shape;
  const double bytes = (double)shape->width_bytes * (double)shape->height * (double)shape->depth;
  if (!copy_shape_is_strided(shape)) {
    return true;
  }
  const struct entry *width = subject_find(subject, "shape.width");
  if (bytes > 0x1p46) {
    return subject_refuse(subject, width, width->node->span, "at most 64TiB in all",
                          "the shape is too large");
  }
  if (shape->pitch_bytes < shape->width_bytes) {
    const struct entry *pitch = entry_either(subject_find(subject, "shape.pitch"), width);
    return subject_refuse(subject, pitch, pitch->node->span, "a pitch of the width or more",
                          "shape: rows of %llu bytes cannot stand %llu bytes apart",
                          (unsigned long long)shape->width_bytes,
                          (unsigned long long)shape->pitch_bytes);
  }
  return true;
}

void loads_check_keys(struct reader *reader, const struct block *block) {
  for (size_t i = block->slot_count; i-- > 1;) {
    struct subject subject = {reader, block, i, entry_word_set(slot_entry(block, i, "method"))};
    check_labels(&subject);
    if (slot_mirrors(&block->slots[i])) {
      check_method_given(&subject);
      check_mirror(&subject);
    } else {
      check_flow(&subject);
    }
    if (subject.methods != 0) {
      check_unused(&subject);
    }
  }
}

static bool check_scatter(struct subject *subject, const struct flow_setting *flow) {
  const struct scatter_shape *scatter = &flow->base.scatter;
  const struct entry *piece_size = subject_find(subject, "piece_size");
  if (scatter->piece_bytes == 0 || piece_size == NULL) {
    return true;
  }
  if (scatter->pieces * scatter->piece_bytes != flow->base.size_bytes) {
    return subject_refuse(subject, piece_size, piece_size->node->span, "a divisor of the size",
                          "pieces of %llu bytes do not divide a size of %llu",
                          (unsigned long long)scatter->piece_bytes,
                          (unsigned long long)flow->base.size_bytes);
  }
  if (scatter->pieces > SCATTER_PIECES_MAX ||
      (double)scatter->pieces * (double)scatter->piece_bytes > SIZE_LIMIT) { /* may pass 64 bits */
    return subject_refuse(
        subject, piece_size, piece_size->node->span, "at most 16777216 pieces, and 64TiB in all",
        "%llu pieces of %llu bytes are too many", (unsigned long long)scatter->pieces,
        (unsigned long long)scatter->piece_bytes);
  }
  return true;
}

bool transfer_check_setting(struct reader *reader, const struct block *block,
                            const struct setting *setting) {
  struct subject subject = {reader, block, 0, 0};
  bool good = true;
  for (size_t i = 0; i < block->slot_count; i++) {
    const struct flow_setting *flow = i == 0 ? &setting->transfer.flow : &block->made_flows[i - 1];
    subject.slot = i;
    if (entries_are_read(&block->slots[0].entries, "shape.") &&
        entries_are_read(&block->slots[i].entries, "shape.")) {
      good = check_shape(&subject, flow) && good;
    }
    if (entries_are_read(&block->slots[0].entries, "piece") &&
        entries_are_read(&block->slots[0].entries, "size") &&
        entries_are_read(&block->slots[i].entries, "piece") &&
        entries_are_read(&block->slots[i].entries, "size")) {
      good = check_scatter(&subject, flow) && good;
    }
  }
  return good;
}
