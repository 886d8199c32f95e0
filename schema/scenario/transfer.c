/* A [[transfer]]: what its flows are when nobody says. */
#include "schema/scenario/kind.h"

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
  case method_name_count:
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
  if (!copy_shape_is_strided(shape)) {
    *shape = (struct copy_shape){0};
  } else {
    flow->size_bytes = shape->width_bytes * shape->height * shape->depth;
    shape->pitch_bytes = shape->pitch_bytes == 0 ? shape->width_bytes : shape->pitch_bytes;
  }
  drop_unused(flow);
}

void transfer_finish(const struct block *block, struct setting *setting) {
  finish_flow(&setting->transfer.flow, &block->slots[0]);
  for (size_t slot = 1; slot < block->slot_count; slot++) {
    finish_flow(&block->made_flows[slot - 1], &block->slots[slot]);
  }
}
