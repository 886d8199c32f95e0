/* A [[chase]]: what it is when nobody says, and what must hold between its keys. */
#include "schema/scenario/rules.h"

static void finish_end(struct endpoint_setting *end, enum place place, enum selector_kind usual) {
  if (end->selector.kind == SELECTOR_NONE) {
    end->place = place;
    end->selector.kind = usual;
  }
}

void chase_finish(const struct block *block, struct setting *setting) {
  struct chase_setting *chase = &setting->chase;
  const bool peer = chase->space == CHASE_PEER;
  finish_end(&chase->at, PLACE_GPU, SELECTOR_ALL);
  finish_end(&chase->of, peer ? PLACE_GPU : PLACE_NUMA, peer ? SELECTOR_ALL : SELECTOR_LOCAL);
  chase->at.memory = MEMORY_DEVICE;
  if (slot_entry(block, 0, "of.memory") == NULL) {
    chase->of.memory = peer ? MEMORY_DEVICE : MEMORY_PINNED;
  }
}

/* The place of the memory is the space's. */
static void check_place(struct subject *subject, unsigned spaces) {
  const struct entry *gpu = subject_find(subject, "of.gpu");
  const struct entry *numa = subject_find(subject, "of.numa");
  const struct entry *space = subject_find(subject, "space");
  if (gpu != NULL && (spaces & BIT(CHASE_HOST)) != 0) {
    subject_refuse(subject, space, entry_word_span(space, CHASE_HOST),
                   "space \"peer\", or of = { numa = ... }",
                   "of.gpu is the memory of a GPU, which space \"host\" does not read");
  }
  if (numa != NULL && (spaces & BIT(CHASE_PEER)) != 0) {
    subject_refuse(subject, space, entry_word_span(space, CHASE_PEER),
                   "space \"host\", or of = { gpu = ... }",
                   "of.numa is the memory of a node, which space \"peer\" does not read");
  }
}

static void check_memory(struct subject *subject, unsigned spaces) {
  const struct entry *memory = subject_find(subject, "of.memory");
  for (size_t i = 0; memory != NULL && i < memory->values.count; i++) {
    const enum memory_kind kind = (enum memory_kind)memory->values.items[i].word;
    for (unsigned space = 0; space < chase_space_word_count; space++) {
      const enum place place = space == CHASE_PEER ? PLACE_GPU : PLACE_NUMA;
      if ((spaces & BIT(space)) != 0 && (!memory_fits(kind, place) || kind == MEMORY_MANAGED)) {
        subject_refuse(subject, memory, value_span(memory->node, i),
                       place == PLACE_GPU ? "\"device\", or no memory at all"
                                          : "\"pinned\", \"registered\", \"write_combined\", "
                                            "\"huge\" or \"pageable\"",
                       "of.memory: a chase through the %s does not read \"%s\" memory",
                       chase_space_text((enum chase_space)space), memory_kind_text(kind));
        return;
      }
    }
  }
}

void chase_check_keys(struct reader *reader, const struct block *block) {
  struct subject subject = {reader, block, 0, 0};
  const unsigned spaces = entry_word_set(subject_find(&subject, "space"));
  check_place(&subject, spaces);
  check_memory(&subject, spaces);
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
  if (chase->stride_bytes % 8 != 0) {
    subject_refuse(&subject, stride, stride->node->span, "a multiple of 8 bytes",
                   "stride: an element holds an address of 8 bytes, and %llu is no multiple of 8",
                   (unsigned long long)chase->stride_bytes);
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
