/* A [[stream]]: its keys, their defaults, and the rules between them. */
#include "schema/scenario/block.h"
#include "schema/scenario/kind.h"

static bool stream_is_on_node(const void *work) {
  return ((const union work *)work)->stream.memory.place == PLACE_NUMA;
}

static bool stream_is_on_gpu(const void *work) {
  return !stream_is_on_node(work);
}

static bool stream_is_in_sequence(const void *work) {
  return stream_is_on_gpu(work) && ((const union work *)work)->stream.order == STREAM_SEQUENCE;
}

static bool stream_is_past_l1(const void *work) {
  return stream_is_on_gpu(work) && ((const union work *)work)->stream.cache == CACHE_L2;
}

static bool stream_has_parts(const void *work) {
  return ((const union work *)work)->stream.parts != 0;
}

static const struct field stream_fields[] = {
    KIND_KEY(
        STREAM, "op", "op", WORDS(stream_op_names), SETTING(work.stream.op), .required = true,
        HELP("Operation per element\ncopy: out = a\nmul: out = s a\nadd: out = a + b\ntriad: out = "
             "a + s b\ndot: the sum of a b\nread: the sum of a's bits\nwrite: only out")),
    KIND_KEY(STREAM, "type", "type", WORDS(number_type_names), SETTING(work.stream.type),
             .default_text = "f64", HELP("Type of the numbers. Here only f32 and f64")),
    KIND_KEY(
        STREAM, "at.gpu", NULL, .type = FIELD_GPUS, SETTING(at),
        HELP(
            "GPUs, numbered in the order of PCI addresses. Default: all, unless at.numa is given")),
    KIND_KEY(STREAM, "at.numa", NULL, .type = FIELD_NODES, SETTING(at),
             HELP("NUMA nodes whose threads work on the node's own memory")),
    KIND_KEY(STREAM, "at.memory", "memory", WORDS(memory_kind_names), SETTING(at.memory),
             RESOLVED(work.stream.memory),
             HELP("Kind of memory of the arrays. Default: device on a GPU, pageable on a node")),
    KIND_KEY(STREAM, "size", "size_bytes", SIZE(4, SIZE_LIMIT), SETTING(work.stream.size_bytes),
             .required = true, HELP("Bytes of one array, a whole number of elements")),
    KIND_KEY(STREAM, "passes", "passes", COUNT(1, COUNT_LIMIT), SETTING(work.stream.passes),
             .default_text = "1",
             HELP("Passes over the arrays per iteration, inside one kernel, for arrays that stay "
                  "in a cache. All blocks are then on the SMs at once, and each pass covers all "
                  "arrays. haul refuses larger grids")),
    KIND_KEY(STREAM, "per_sm", NULL, .type = FIELD_FLAG, SETTING(per_sm), .default_text = "false",
             HELP("Whether size is the share of each SM. An array then has that size times the "
                  "number of SMs")),
    KIND_KEY(STREAM, "threads", "threads", COUNT(1, 4096), SETTING(work.stream.threads),
             .zero_word = "all", .default_text = "all", .applies = stream_is_on_node,
             HELP("Threads per node. \"all\": one per processor")),
    KIND_KEY(STREAM, "block", "block", COUNT(1, 1024), SETTING(work.stream.block),
             .zero_word = "auto", .default_text = "auto", .applies = stream_is_on_gpu,
             HELP("Threads per block. \"auto\": the best number for the operation")),
    KIND_KEY(
        STREAM, "grid", "grid", GRID(1, 0x1p31 - 1), SETTING(grid), .zero_word = "auto",
        .default_text = "auto", RESOLVED(work.stream.grid), .applies = stream_is_on_gpu,
        HELP("Number of blocks: a number, a number per SM, or enough to cover the arrays once")),
    KIND_KEY(STREAM, "vector_bytes", "vector_bytes", COUNT(4, 16),
             SETTING(work.stream.vector_bytes), .zero_word = "auto", .power_of_two = true,
             .default_text = "auto", .applies = stream_is_on_gpu,
             HELP("Bytes per access, at least one number")),
    KIND_KEY(STREAM, "unroll", "unroll", COUNT(1, 4), SETTING(work.stream.unroll),
             .zero_word = "auto", .power_of_two = true, .default_text = "auto",
             .applies = stream_is_on_gpu,
             HELP("Accesses per thread that are in flight together: 1 or 4, not 2")),
    KIND_KEY(STREAM, "clock", "clock", WORDS(stream_clock_names), SETTING(work.stream.clock),
             .default_text = "event", .applies = stream_is_on_gpu,
             HELP("Whether cycles of the SMs are recorded in addition to the time")),
    KIND_KEY(STREAM, "order", "order", WORDS(stream_order_names), SETTING(work.stream.order),
             .default_text = "alone", .applies = stream_is_in_sequence,
             HELP("Whether repeats of an operation follow each other, or each repeat follows the "
                  "other three of copy, mul, add and triad over the same three arrays (f64). Those "
                  "empty the caches of its data. A trial then has one repeat")),
    KIND_KEY(STREAM, "cache", "cache", WORDS(cache_level_names), SETTING(work.stream.cache),
             .default_text = "l1", .applies = stream_is_past_l1,
             HELP("For copy and read: the nearest cache that loads may hit. With l2 they bypass "
                  "the L1 cache. Stores of write always bypass it")),
    KIND_KEY(STREAM, "parts", "parts", COUNT(1, 0x1p31 - 1), SETTING(work.stream.parts),
             .zero_word = "auto", .default_text = "auto", .applies = stream_has_parts,
             HELP("For read: number of parts of the array. Block number b reads part b modulo "
                  "parts. `grid` is a multiple of it. Blocks with the same part read the same "
                  "bytes at about the same time, which an L2 cache serves faster. \"auto\": a part "
                  "of its own for each block")),
};

static void stream_finish(const struct block *block, struct setting *setting) {
  kind_finish_end(&setting->at, PLACE_GPU, SELECTOR_ALL);
  if (slot_entry(block, 0, "at.memory") == NULL) {
    setting->at.memory = setting->at.place == PLACE_GPU ? MEMORY_DEVICE : MEMORY_PAGEABLE;
  }
  if (setting->work.stream.op == STREAM_WRITE) { /* loads nothing */
    setting->work.stream.cache = CACHE_L1;
  }
}

static void stream_check_memory(struct subject *subject, enum place place) {
  const struct entry *memory = subject_find(subject, "at.memory");
  for (size_t i = 0; memory != NULL && i < memory->values.count; i++) {
    const enum memory_kind kind = (enum memory_kind)memory->values.items[i].word;
    if (!memory_fits(kind, place) || kind == MEMORY_MANAGED) {
      subject_refuse(subject, memory, value_span(memory->node, i),
                     place == PLACE_GPU ? "\"device\", \"pool\", \"vmm\", or no memory at all"
                                        : "\"pageable\", \"huge\", \"pinned\", \"registered\", "
                                          "\"host_vmm\" or \"write_combined\"",
                     "at.memory: a stream on a %s does not work on \"%s\" memory",
                     place == PLACE_GPU ? "GPU" : "node", memory_kind_text(kind));
      return;
    }
  }
}

static void check_type(struct subject *subject) {
  const struct entry *type = subject_find(subject, "type");
  for (unsigned word = 0; type != NULL && word < number_type_name_count; word++) {
    if (word != NUMBER_F32 && word != NUMBER_F64 && (entry_word_set(type) & BIT(word)) != 0) {
      subject_refuse(subject, type, entry_word_span(type, word), "\"f32\" or \"f64\"",
                     "type: streams do not support %s", number_type_text((enum number_type)word));
    }
  }
}

static void stream_check_keys(struct reader *reader, const struct block *block) {
  static const char *const of_gpu[] = {"per_sm", "block", "grid",  "vector_bytes", "unroll",
                                       "clock",  "order", "cache", "parts",        NULL};
  static const char *const of_node[] = {"threads", NULL};
  struct subject subject = {reader, block, 0, 0};
  const struct entry *gpu = subject_find(&subject, "at.gpu");
  const struct entry *numa = subject_find(&subject, "at.numa");
  if (gpu != NULL && numa != NULL) {
    subject_refuse_key(&subject, numa, "at = { gpu = ... } or at = { numa = ... }",
                       "at.numa: at.gpu is given already");
    return;
  }
  if (numa != NULL && numa->values.count == 1 &&
      (numa->values.items[0].selector.kind == SELECTOR_LOCAL ||
       numa->values.items[0].selector.kind == SELECTOR_REMOTE)) {
    subject_refuse(&subject, numa, numa->node->span, "a node's number, an array of them, or \"*\"",
                   "at.numa: \"local\" and \"remote\" are relative to a GPU, and there is none");
  }
  subject_refuse_keys(&subject, numa != NULL ? of_gpu : of_node, NULL,
                      numa != NULL ? ": only a stream on a GPU has it"
                                   : ": only a stream on a node has it");
  stream_check_memory(&subject, numa != NULL ? PLACE_NUMA : PLACE_GPU);
  check_type(&subject);
}

static bool stream_check_setting(struct reader *reader, const struct block *block,
                                 const struct setting *setting) {
  struct subject subject = {reader, block, 0, 0};
  const struct stream *stream = &setting->work.stream;
  const uint32_t element_bytes = stream->type == NUMBER_F64 ? 8 : 4;
  const struct entries *entries = &block->slots[0].entries;
  if (!entries_are_read(entries, "size") || !entries_are_read(entries, "vector_bytes") ||
      !entries_are_read(entries, "unroll")) {
    return true;
  }
  const struct entry *size = subject_find(&subject, "size");
  const struct entry *vector = subject_find(&subject, "vector_bytes");
  const struct entry *unroll = subject_find(&subject, "unroll");
  const struct entry *op = subject_find(&subject, "op");
  const struct entry *type = subject_find(&subject, "type");
  if (op != NULL && stream->order == STREAM_SEQUENCE && stream->op > STREAM_TRIAD) {
    return subject_refuse(&subject, op, entry_word_span(op, stream->op),
                          "\"copy\", \"mul\", \"add\" or \"triad\"",
                          "op: %s is not in the sequence", stream_op_text(stream->op));
  }
  if (type != NULL && stream->order == STREAM_SEQUENCE && stream->type != NUMBER_F64) {
    return subject_refuse(&subject, type, entry_word_span(type, stream->type), "\"f64\"",
                          "type: only numbers of f64 stay exact through the sequence");
  }
  const struct entry *cache = subject_find(&subject, "cache");
  if (cache != NULL && stream->cache == CACHE_L2 &&
      ((stream->op != STREAM_COPY && stream->op != STREAM_READ) ||
       stream->order == STREAM_SEQUENCE)) {
    return subject_refuse(&subject, cache, entry_word_span(cache, CACHE_L2),
                          "\"l1\", or op \"copy\", \"read\" or \"write\" with order \"alone\"",
                          "cache: %s%s has no loads past the L1 cache", stream_op_text(stream->op),
                          stream->order == STREAM_SEQUENCE ? " in sequence" : "");
  }
  if (size != NULL && stream->size_bytes % element_bytes != 0) {
    return subject_refuse(&subject, size, size->node->span, "a whole number of elements",
                          "size: %llu bytes are not a whole number of %s of %u bytes",
                          (unsigned long long)stream->size_bytes, number_type_text(stream->type),
                          element_bytes);
  }
  const struct entry *parts = subject_find(&subject, "parts");
  if (parts != NULL && stream->parts > 0 && stream->op != STREAM_READ) {
    return subject_refuse(&subject, parts, parts->node->span, "op \"read\"",
                          "parts: %s has a part for each block", stream_op_text(stream->op));
  }
  if (vector != NULL && stream->vector_bytes > 0 && stream->vector_bytes < element_bytes) {
    return subject_refuse(&subject, vector, vector->node->span, "at least one number",
                          "vector_bytes: %u is less than one %s", stream->vector_bytes,
                          number_type_text(stream->type));
  }
  if (unroll != NULL && stream->unroll == 2) {
    return subject_refuse(&subject, unroll, unroll->node->span, "1, 4 or \"auto\"",
                          "unroll: there is no kernel for 2");
  }
  return true;
}

static const char *const stream_checked[] = {"size", "type",  "vector_bytes", "unroll",
                                             "op",   "order", "cache",        NULL};

const struct scenario_kind scenario_kind_stream = {
    .section =
        {SECTION_ROOT, "stream", true, "[[stream]]",
         "The bandwidth of a loop over arrays of numbers: a kernel on a GPU's own memory, or "
         "threads of a NUMA node on the node's memory. Bytes are counted as in STREAM, each array "
         "once: two arrays for copy, mul and dot, three for add and triad, one for read and write. "
         "`threads` is for nodes only; `per_sm`, `block`, `grid`, `vector_bytes`, `unroll`, "
         "`clock`, `order`, `cache` and `parts` are for GPUs only."},
    .fields = stream_fields,
    .field_count = COUNT_OF(stream_fields),
    .finish = stream_finish,
    .check_keys = stream_check_keys,
    .check_setting = stream_check_setting,
    .checked = stream_checked,
};
