/* A [[chase]]: what it is when nobody says, and what must hold between its keys. */
#include "schema/scenario/rules.h"

#define FOOTPRINT_USUAL        (UINT64_C(2) << 20)
#define FOOTPRINT_USUAL_SHARED (UINT64_C(32) << 10)

/* The memory belongs to somebody else than the GPU that loads: `of` says to whom. */
static bool is_far(enum chase_space space) {
  return space == CHASE_HOST || space == CHASE_PEER;
}

/* Only what the space has is kept, so that a sweep over spaces does not tell cases apart that
 * measure the same. */
void chase_finish(const struct block *block, struct setting *setting) {
  struct chase_setting *chase = &setting->chase;
  kind_finish_end(&chase->at, PLACE_GPU, SELECTOR_ALL);
  chase->at.memory = MEMORY_DEVICE;
  if (slot_entry(block, 0, "footprint") == NULL) {
    chase->footprint_bytes =
        chase->space == CHASE_SHARED ? FOOTPRINT_USUAL_SHARED : FOOTPRINT_USUAL;
  }
  if (chase->space != CHASE_GLOBAL) {
    chase->cache = CACHE_L1;
  }
  if (!is_far(chase->space)) {
    chase->of = chase->at;
    return;
  }
  const bool peer = chase->space == CHASE_PEER;
  kind_finish_end(&chase->of, peer ? PLACE_GPU : PLACE_NUMA, peer ? SELECTOR_ALL : SELECTOR_LOCAL);
  if (slot_entry(block, 0, "of.memory") == NULL) {
    chase->of.memory = peer ? MEMORY_DEVICE : MEMORY_PINNED;
  }
}

/* The place of the memory is the space's. */
static void check_place(struct subject *subject, unsigned spaces) {
  static const struct {
    const char *key;
    enum chase_space space; /* the one that has it */
  } ends[] = {{"of.gpu", CHASE_PEER}, {"of.numa", CHASE_HOST}};
  const struct entry *space = subject_find(subject, "space");
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    for (unsigned word = 0; word < chase_space_name_count; word++) {
      if (subject_find(subject, ends[i].key) != NULL && word != ends[i].space &&
          (spaces & BIT(word)) != 0) {
        subject_refuse(subject, space, entry_word_span(space, word),
                       ends[i].space == CHASE_PEER ? "space \"peer\", or of = { numa = ... }"
                                                   : "space \"host\", or of = { gpu = ... }",
                       "%s is the memory of a %s, which space \"%s\" does not read", ends[i].key,
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

static void check_memory(struct subject *subject, unsigned spaces) {
  const struct entry *memory = subject_find(subject, "of.memory");
  for (size_t i = 0; memory != NULL && i < memory->values.count; i++) {
    const enum memory_kind kind = (enum memory_kind)memory->values.items[i].word;
    for (unsigned space = 0; space < chase_space_name_count; space++) {
      if ((spaces & BIT(space)) != 0 && !reads((enum chase_space)space, kind)) {
        subject_refuse(subject, memory, value_span(memory->node, i),
                       space == CHASE_HOST ? "\"pinned\", \"registered\", \"write_combined\", "
                                             "\"huge\" or \"pageable\""
                                           : "\"device\", or no memory at all",
                       "of.memory: a chase through the %s does not read \"%s\" memory",
                       chase_space_text((enum chase_space)space), memory_kind_text(kind));
        return;
      }
    }
  }
}

static void check_cache(struct subject *subject, unsigned spaces) {
  const struct entry *cache = subject_find(subject, "cache");
  if (cache != NULL && spaces != 0 && (spaces & BIT(CHASE_GLOBAL)) == 0) {
    subject_refuse_key(subject, cache, "space \"global\"",
                       "cache: only a chase through the global space says which caches may help");
  }
}

void chase_check_keys(struct reader *reader, const struct block *block) {
  struct subject subject = {reader, block, 0, 0};
  const unsigned spaces = entry_word_set(subject_find(&subject, "space"));
  check_place(&subject, spaces);
  check_memory(&subject, spaces);
  check_cache(&subject, spaces);
}

bool chase_check_setting(struct reader *reader, const struct block *block,
                         const struct setting *setting) {
  struct subject subject = {reader, block, 0, 0};
  const struct chase_setting *chase = &setting->chase;
  const struct entry *stride = subject_find(&subject, "stride");
  const struct entry *footprint = subject_find(&subject, "footprint");
  if (!all_read(&block->slots[0].entries, "stride") ||
      !all_read(&block->slots[0].entries, "footprint")) {
    return true;
  }
  const unsigned element_bytes = chase->space == CHASE_SHARED ? 4 : 8;
  if (stride != NULL && chase->stride_bytes % element_bytes != 0) {
    subject_refuse(&subject, stride, stride->node->span,
                   element_bytes == 4 ? "a multiple of 4 bytes" : "a multiple of 8 bytes",
                   "stride: an element has %u bytes, and %llu is no multiple of %u", element_bytes,
                   (unsigned long long)chase->stride_bytes, element_bytes);
    return false;
  }
  if (chase->footprint_bytes / chase->stride_bytes < 2) {
    const struct entry *at = either(footprint, stride);
    subject_refuse(&subject, at, at->node->span, "two strides or more",
                   "footprint: %llu bytes hold less than two elements %llu bytes apart",
                   (unsigned long long)chase->footprint_bytes,
                   (unsigned long long)chase->stride_bytes);
    return false;
  }
  if (chase->footprint_bytes / chase->stride_bytes > UINT32_MAX) {
    const struct entry *at = either(footprint, stride);
    subject_refuse(&subject, at, at->node->span, "at most 4294967295 elements",
                   "footprint: too many elements of %llu bytes",
                   (unsigned long long)chase->stride_bytes);
    return false;
  }
  return true;
}
