#include "schema/scenario/block.h"

#include <string.h>

const char *block_name(const struct block *block) {
  return block->name;
}

enum block_kind block_kind_of(const struct block *block) {
  return block->kind;
}

size_t block_setting_count(const struct block *block) {
  return block->setting_count;
}

/* Only what the method has is kept, so that a sweep over methods does not tell cases apart that
 * measure the same. */
static void drop_unused(struct flow_setting *flow) {
  if (flow->method != METHOD_CPU) {
    flow->threads = 0;
  }
  if (flow->method != METHOD_SM) {
    flow->kernel = (struct kernel_shape){.variant = KERNEL_AUTO};
  }
  if (flow->method == METHOD_UM) {
    flow->shape = (struct copy_shape){0};
  } else {
    flow->unified = (struct unified_shape){.mode = UNIFIED_DEMAND};
  }
}

static enum memory_kind default_memory(enum place place, enum method method) {
  switch (method) {
  case METHOD_CE:
  case METHOD_SM:
    return place == PLACE_GPU ? MEMORY_DEVICE : MEMORY_PINNED;
  case METHOD_CPU:
    return place == PLACE_GPU ? MEMORY_DEVICE : MEMORY_PAGEABLE;
  case METHOD_UM:
  case method_word_count:
    break;
  }
  return MEMORY_MANAGED;
}

static void finish_flow(struct flow_setting *flow, const struct slot *slot) {
  if (!slot->from_memory_given) {
    flow->from.memory = default_memory(flow->from.place, flow->method);
  }
  if (!slot->to_memory_given) {
    flow->to.memory = default_memory(flow->to.place, flow->method);
  }
  struct copy_shape *shape = &flow->shape;
  if (shape->width_bytes == 0) {
    *shape = (struct copy_shape){0};
  } else {
    flow->size_bytes = shape->width_bytes * shape->height * shape->depth;
    shape->pitch_bytes = shape->pitch_bytes == 0 ? shape->width_bytes : shape->pitch_bytes;
  }
  drop_unused(flow);
}

static void apply_axis(const struct block *block, const struct axis *axis, size_t value,
                       struct setting *setting) {
  const struct field *field = axis->entry->field;
  const union value *item = &axis->entry->values.items[value];
  switch (field->owner) {
  case OWNER_MEASURE:
    value_store(field, item, &setting->measure);
    break;
  case OWNER_TRANSFER:
    value_store(field, item, &setting->transfer);
    break;
  case OWNER_FLOW:
    for (size_t i = 0; i < axis->slot_count; i++) {
      const unsigned slot = axis->slots[i];
      value_store(field, item, slot == 0 ? &setting->transfer.flow : &block->made_flows[slot - 1]);
    }
    break;
  case OWNER_FILE:
  case OWNER_RUN:
  case OWNER_CHECK:
    break;
  }
}

void block_setting(const struct block *block, size_t i, struct setting *setting) {
  *setting = block->base;
  if (block->slot_count > 1) {
    memcpy(block->made_flows, block->flows, (block->slot_count - 1) * sizeof *block->flows);
  }
  for (size_t k = 0; k < block->axis_count; k++) {
    const struct axis *axis = &block->axes[k];
    const size_t value = i / axis->stride % axis->entry->values.count;
    apply_axis(block, axis, value, setting);
    block->made_values[k] = (struct axis_value){axis->key, axis->texts[value]};
  }
  finish_flow(&setting->transfer.flow, &block->slots[0]);
  for (size_t slot = 1; slot < block->slot_count; slot++) {
    finish_flow(&block->made_flows[slot - 1], &block->slots[slot]);
  }
}
