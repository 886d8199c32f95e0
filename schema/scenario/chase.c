/* A [[chase]]: its keys, their defaults, and the rules between them. */
#include "schema/scenario/block.h"
#include "schema/scenario/kind.h"

static bool chase_is_global(const void *work) {
  return ((const union work *)work)->chase.space == CHASE_GLOBAL;
}

static bool chase_is_by_bulk(const void *work) {
  return ((const union work *)work)->chase.access == CHASE_BY_BULK;
}

static bool chase_has_words(const void *work) {
  return chase_is_global(work) && ((const union work *)work)->chase.element_bytes == 4;
}

static bool chase_asks_for_l1(const void *work) {
  return chase_is_global(work) && ((const union work *)work)->chase.l1_size != L1_SIZE_AUTO;
}

static bool chase_is_by_each_sm(const void *work) {
  return ((const union work *)work)->chase.sm != CHASE_SM_ONE;
}

static bool chase_is_by_part(const void *work) {
  return ((const union work *)work)->chase.lines != CHASE_PART_ALL;
}

static bool chase_is_by_gpu(const void *work) {
  return !((const union work *)work)->chase.by_processor;
}

static bool chase_is_by_processor(const void *work) {
  return !chase_is_by_gpu(work);
}

static const struct field chase_fields[] = {
    KIND_KEY(CHASE, "space", "space", WORDS(chase_space_names), SETTING(work.chase.space),
             .required = true,
             HELP("Memory that is read. \"host\": the host's, page-locked if a GPU loads. "
                  "\"peer\": another GPU's. \"global\": the GPU's own, through its caches. "
                  "\"shared\": the shared memory of a block")),
    KIND_KEY(CHASE, "at.gpu", "gpu", .type = FIELD_GPUS, SETTING(at), RESOLVED(work.chase.gpu),
             .applies = chase_is_by_gpu,
             HELP("GPUs whose threads load, numbered in the order of PCI addresses. Default: all, "
                  "unless at.numa is given")),
    KIND_KEY(CHASE, "at.numa", "node", .type = FIELD_NODES, SETTING(at), RESOLVED(work.chase.node),
             .applies = chase_is_by_processor,
             HELP("NUMA nodes whose processors load, for space host: the latency of the host's own "
                  "memory and caches")),
    KIND_KEY(CHASE, "of.gpu", NULL, .type = FIELD_GPUS, SETTING(of),
             HELP("GPUs whose memory is read, for space peer. Default: all others")),
    KIND_KEY(CHASE, "of.numa", NULL, .type = FIELD_NODES, SETTING(of),
             HELP("NUMA nodes whose memory is read, for space host. Default: \"local\", the one "
                  "nearest to the loading GPU; for processors \"*\"")),
    KIND_KEY(CHASE, "of.memory", "memory", WORDS(memory_kind_names), SETTING(of.memory),
             RESOLVED(work.chase.memory),
             HELP("Kind of memory that is read. Default: device on a GPU, pinned on a node, or "
                  "pageable if processors load")),
    KIND_KEY(CHASE, "footprint", "footprint_bytes", SIZE(8, SIZE_LIMIT),
             SETTING(work.chase.footprint_bytes),
             HELP("Bytes that the chain covers, at least two strides. Default: 2MiB, for shared "
                  "memory 32KiB")),
    KIND_KEY(CHASE, "stride", "stride_bytes", SIZE(4, SIZE_LIMIT), SETTING(work.chase.stride_bytes),
             .default_text = "128B",
             HELP("Bytes from one element to the next: a multiple of 8, in shared memory of 4, and "
                  "with the bulk copy engine of 16")),
    KIND_KEY(CHASE, "order", "order", WORDS(chase_order_names), SETTING(work.chase.order),
             .default_text = "random",
             HELP("Order of the elements in the chain: one random cycle, or by address")),
    KIND_KEY(CHASE, "cache", "cache", WORDS(cache_level_names), SETTING(work.chase.cache),
             .default_text = "l1", .applies = chase_is_global,
             HELP("The nearest cache that loads from global memory may hit")),
    KIND_KEY(CHASE, "threads", "threads", COUNT(1, 1024), SETTING(work.chase.threads),
             .default_text = "1",
             HELP("Threads per block, each following the chain from its own element")),
    KIND_KEY(CHASE, "blocks", "blocks", COUNT(1, 65535), SETTING(work.chase.blocks),
             .default_text = "1",
             HELP("Number of blocks. Each has its own shared memory. In global memory all of them "
                  "follow the same chain")),
    KIND_KEY(CHASE, "hops", "hops", INTEGER(1, 0x1p24), SETTING(work.chase.hops),
             .default_text = "4096", HELP("Loads per thread and iteration")),
    KIND_KEY(CHASE, "access", "access", WORDS(chase_access_names), SETTING(work.chase.access),
             .default_text = "load", .applies = chase_is_by_bulk,
             HELP("How an element gets to its thread: by a load, or by the bulk copy engine (TMA, "
                  "cp.async.bulk). The latter bypasses the L1 cache, and needs compute capability "
                  "9.0 and host, peer or global memory")),
    KIND_KEY(CHASE, "element_bytes", "element_bytes", COUNT(4, 8),
             SETTING(work.chase.element_bytes), .power_of_two = true, .default_text = "8",
             .applies = chase_has_words,
             HELP("Size of an element in global memory: 8, or 4 for strides of 4 bytes and a "
                  "footprint of at most 2MiB")),
    KIND_KEY(CHASE, "l1_size", "l1_size", WORDS(l1_size_names), SETTING(work.chase.l1_size),
             .default_text = "auto", .applies = chase_asks_for_l1,
             HELP("How much of an SM's memory is L1 cache: as the driver chooses, or as much or as "
                  "little as the GPU can. The smallest L1 cache is the rest of the largest shared "
                  "memory")),
    KIND_KEY(
        CHASE, "sm", "sm", WORDS(chase_sm_names), SETTING(work.chase.sm), .default_text = "one",
        .applies = chase_is_by_each_sm,
        HELP("SMs whose threads load: the one that gets the first block, or each in turn. In turn, "
             "the time is the mean over all SMs, which are not equally far from memory and links")),
    KIND_KEY(
        CHASE, "lines", "lines", WORDS(chase_part_names), SETTING(work.chase.lines),
        .default_text = "all", .applies = chase_is_by_part,
        HELP("Lines that each SM loads: all, or those of the part of the L2 cache that is near "
             "to it or far from it. haul measures which lines these are. Some GPUs have an L2 "
             "cache of two parts. It takes space global, cache l2, sm each, one thread and "
             "strides of whole lines")),
};

#define FOOTPRINT_USUAL        (UINT64_C(2) << 20)
#define FOOTPRINT_USUAL_SHARED (UINT64_C(32) << 10)

/* The memory is not that of the loading GPU; `of` says whose. */
static bool is_far(enum chase_space space) {
  return space == CHASE_HOST || space == CHASE_PEER;
}

/* Only the keys of the space are kept, so that a sweep over spaces does not yield several cases
 * that measure the same. */
static void chase_finish(const struct block *block, struct setting *setting) {
  struct chase *chase = &setting->work.chase;
  kind_finish_end(&setting->at, PLACE_GPU, SELECTOR_ALL);
  chase->by_processor = setting->at.place == PLACE_NUMA;
  setting->at.memory = MEMORY_DEVICE;
  if (slot_entry(block, 0, "footprint") == NULL) {
    chase->footprint_bytes =
        chase->space == CHASE_SHARED ? FOOTPRINT_USUAL_SHARED : FOOTPRINT_USUAL;
  }
  if (chase->space == CHASE_SHARED) {
    chase->access = CHASE_BY_LOAD;
  }
  if (chase->space != CHASE_GLOBAL) {
    chase->cache = CACHE_L1;
    chase->element_bytes = 8;
  } else if (chase->access == CHASE_BY_BULK) {
    chase->cache = CACHE_L2;
    chase->element_bytes = 8;
  }
  if (chase->space != CHASE_GLOBAL) {
    chase->lines = CHASE_PART_ALL;
  }
  if (chase->space != CHASE_GLOBAL || chase->cache != CACHE_L1) {
    chase->l1_size = L1_SIZE_AUTO; /* of no use */
  }
  if (!is_far(chase->space)) {
    const enum memory_kind memory = setting->of.memory;
    const bool named = chase->space == CHASE_GLOBAL && slot_entry(block, 0, "of.memory") != NULL;
    setting->of = setting->at;
    setting->of.memory = named ? memory : MEMORY_DEVICE;
    return;
  }
  const bool peer = chase->space == CHASE_PEER;
  kind_finish_end(&setting->of, peer ? PLACE_GPU : PLACE_NUMA,
                  peer || chase->by_processor ? SELECTOR_ALL : SELECTOR_LOCAL);
  if (slot_entry(block, 0, "of.memory") == NULL) {
    setting->of.memory = peer                  ? MEMORY_DEVICE
                         : chase->by_processor ? MEMORY_PAGEABLE
                                               : MEMORY_PINNED;
  }
}

/* The place of the memory must be that of the space. */
static void chase_check_place(struct subject *subject, unsigned spaces) {
  static const struct {
    const char *key;
    enum chase_space space; /* the one that has it */
  } ends[] = {{"of.gpu", CHASE_PEER}, {"of.numa", CHASE_HOST}};
  const struct entry *space = subject_find(subject, "space");
  for (size_t i = 0; i < COUNT_OF(ends); i++) {
    for (unsigned word = 0; word < chase_space_name_count; word++) {
      if (subject_find(subject, ends[i].key) != NULL && word != ends[i].space &&
          (spaces & BIT(word)) != 0) {
        subject_refuse(subject, space, entry_word_span(space, word),
                       ends[i].space == CHASE_PEER ? "space \"peer\", or of = { numa = ... }"
                                                   : "space \"host\", or of = { gpu = ... }",
                       "%s is memory of a %s, which space \"%s\" does not read", ends[i].key,
                       ends[i].space == CHASE_PEER ? "GPU" : "node",
                       chase_space_text((enum chase_space)word));
        break;
      }
    }
  }
}

static bool reads(enum chase_space space, enum memory_kind memory) {
  if (memory == MEMORY_MANAGED) {
    return false;
  }
  return memory_fits(memory, space == CHASE_HOST ? PLACE_NUMA : PLACE_GPU);
}

static void chase_check_memory(struct subject *subject, unsigned spaces) {
  const struct entry *memory = subject_find(subject, "of.memory");
  for (size_t i = 0; memory != NULL && i < memory->values.count; i++) {
    const enum memory_kind kind = (enum memory_kind)memory->values.items[i].word;
    for (unsigned space = 0; space < chase_space_name_count; space++) {
      if ((spaces & BIT(space)) != 0 && !reads((enum chase_space)space, kind)) {
        subject_refuse(subject, memory, value_span(memory->node, i),
                       space == CHASE_HOST ? "\"pinned\", \"registered\", \"write_combined\", "
                                             "\"huge\", \"host_vmm\" or \"pageable\""
                                           : "\"device\", \"pool\", \"vmm\", or no memory at all",
                       "of.memory: a chase through the %s does not read \"%s\" memory",
                       chase_space_text((enum chase_space)space), memory_kind_text(kind));
        return;
      }
    }
  }
}

/* What threads of a node have not. */
static void chase_check_processors(struct subject *subject, unsigned spaces) {
  static const char *const of_gpus[] = {"blocks", "access", "sm", NULL};
  const struct entry *numa = subject_find(subject, "at.numa");
  const struct entry *space = subject_find(subject, "space");
  const struct entry *of = subject_find(subject, "of.numa");
  if (numa == NULL) {
    return;
  }
  if (subject_find(subject, "at.gpu") != NULL) {
    subject_refuse_key(subject, numa, "at = { gpu = ... } or at = { numa = ... }",
                       "at.numa: at.gpu is given already");
    return;
  }
  for (unsigned word = 0; word < chase_space_name_count; word++) {
    if (word != CHASE_HOST && (spaces & BIT(word)) != 0) {
      subject_refuse(subject, space, entry_word_span(space, word), "space \"host\"",
                     "space: processors of a node load from the host's memory, not from \"%s\"",
                     chase_space_text((enum chase_space)word));
      break;
    }
  }
  const struct entry *ends[] = {numa, of};
  for (size_t i = 0; i < COUNT_OF(ends); i++) {
    if (ends[i] != NULL && ends[i]->values.count == 1 &&
        (ends[i]->values.items[0].selector.kind == SELECTOR_LOCAL ||
         ends[i]->values.items[0].selector.kind == SELECTOR_REMOTE)) {
      subject_refuse(subject, ends[i], ends[i]->node->span,
                     "a node's number, an array of them, or \"*\"",
                     "%s: \"local\" and \"remote\" are relative to a GPU, and there is none",
                     ends[i] == numa ? "at.numa" : "of.numa");
    }
  }
  subject_refuse_keys(subject, of_gpus, "at = { gpu = ... }", ": only a chase by a GPU has it");
}

static void chase_check_keys(struct reader *reader, const struct block *block) {
  static const char *const of_global[] = {"cache", "element_bytes", "l1_size", "lines", NULL};
  static const char *const of_memory[] = {"access", NULL};
  struct subject subject = {reader, block, 0, 0};
  static const char *const of_blocks[] = {"blocks", NULL};
  const unsigned spaces = entry_word_set(subject_find(&subject, "space"));
  chase_check_processors(&subject, spaces);
  chase_check_place(&subject, spaces);
  chase_check_memory(&subject, spaces);
  if ((entry_word_set(subject_find(&subject, "sm")) & BIT(CHASE_SM_EACH)) != 0) {
    subject_refuse_keys(&subject, of_blocks, "sm \"one\"",
                        ": sm \"each\" has one block on each SM");
  }
  if (spaces != 0 && (spaces & BIT(CHASE_GLOBAL)) == 0) {
    subject_refuse_keys(&subject, of_global, "space \"global\"", ": only space \"global\" uses it");
  }
  if (spaces == BIT(CHASE_SHARED)) {
    subject_refuse_keys(&subject, of_memory, "space \"host\", \"peer\" or \"global\"",
                        ": shared memory is read by loads");
  } else if (entry_word_set(subject_find(&subject, "access")) == BIT(CHASE_BY_BULK)) {
    subject_refuse_keys(&subject, of_global, "access \"load\"",
                        ": the bulk copy engine passes the L1 cache, in units of 16 bytes");
  }
}

static bool chase_check_setting(struct reader *reader, const struct block *block,
                                const struct setting *setting) {
  struct subject subject = {reader, block, 0, 0};
  const struct chase *chase = &setting->work.chase;
  const struct entry *stride = subject_find(&subject, "stride");
  const struct entry *footprint = subject_find(&subject, "footprint");
  if (!entries_are_read(&block->slots[0].entries, "stride") ||
      !entries_are_read(&block->slots[0].entries, "footprint")) {
    return true;
  }
  const bool bulk = chase->access == CHASE_BY_BULK;
  const unsigned element_bytes = chase->space == CHASE_SHARED ? 4
                                 : bulk                       ? 16
                                                              : chase->element_bytes;
  if (stride != NULL && chase->stride_bytes % element_bytes != 0) {
    return subject_refuse(&subject, stride, stride->node->span,
                          element_bytes == 4    ? "a multiple of 4 bytes"
                          : element_bytes == 16 ? "a multiple of 16 bytes"
                          : chase->space == CHASE_GLOBAL
                              ? "a multiple of 8 bytes, or element_bytes = 4"
                              : "a multiple of 8 bytes",
                          "stride: elements have %u bytes, and %llu is not a multiple of %u",
                          element_bytes, (unsigned long long)chase->stride_bytes, element_bytes);
  }
  if (footprint != NULL && chase->space == CHASE_GLOBAL && element_bytes == 4 &&
      chase->footprint_bytes > CHASE_WORDS_FOOTPRINT_MAX) {
    return subject_refuse(&subject, footprint, footprint->node->span,
                          "at most 2MiB, or element_bytes = 8",
                          "footprint: elements of 4 bytes hold the lower half of an address, which "
                          "tells 2 MiB apart, not %llu bytes",
                          (unsigned long long)chase->footprint_bytes);
  }
  if (chase->footprint_bytes / chase->stride_bytes < 2) {
    const struct entry *at = entry_either(footprint, stride);
    return subject_refuse(&subject, at, at->node->span, "two strides or more",
                          "footprint: %llu bytes are less than two strides of %llu bytes",
                          (unsigned long long)chase->footprint_bytes,
                          (unsigned long long)chase->stride_bytes);
  }
  if (chase->footprint_bytes / chase->stride_bytes > UINT32_MAX) {
    const struct entry *at = entry_either(footprint, stride);
    return subject_refuse(&subject, at, at->node->span, "at most 4294967295 elements",
                          "footprint: too many elements of %llu bytes",
                          (unsigned long long)chase->stride_bytes);
  }
  return true;
}

static const char *const chase_checked[] = {"footprint", "stride",        "space",
                                            "access",    "element_bytes", NULL};

const struct scenario_kind scenario_kind_chase = {
    .section = {SECTION_ROOT, "chase", true, "[[chase]]",
                "The latency of memory. Threads of a GPU or of a NUMA node follow a chain of "
                "addresses, so each load depends on the one before it (pointer chasing). "
                "The threads time themselves, so the time has no kernel launch. The slowest thread "
                "counts.\n\n"
                "- For host and peer memory there is a case for each pair of a loading GPU (`at`) "
                "and a place of memory (`of`). A GPU's own memory is left out.\n"
                "- For global and shared memory there is a case for each GPU, for processors one "
                "for each pair of nodes.\n"
                "- Thread t of a strided chain starts at element t, so the accesses of a warp are "
                "one stride apart.\n"
                "- `verify`, `host_cache` and `device_cache` do not apply. Every trial checks "
                "where the chain ends. Host memory starts outside the processor's caches. The "
                "footprint decides which caches of the GPU are hit."},
    .fields = chase_fields,
    .field_count = COUNT_OF(chase_fields),
    .finish = chase_finish,
    .check_keys = chase_check_keys,
    .check_setting = chase_check_setting,
    .checked = chase_checked,
};
