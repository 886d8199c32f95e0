#include "schema/scenario/kind.h"

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

static void apply_axis(const struct block *block, const struct axis *axis, size_t value,
                       struct setting *setting) {
  const struct field *field = axis->entry->field;
  const union value *item = &axis->entry->values.items[value];
  if (field->owner != OWNER_FLOW) {
    value_store(field, item, setting_member(field->owner, setting, NULL));
    return;
  }
  for (size_t i = 0; i < axis->slot_count; i++) {
    const unsigned slot = axis->slots[i];
    struct flow_setting *flow = slot == 0 ? NULL : &block->made_flows[slot - 1];
    value_store(field, item, setting_member(field->owner, setting, flow));
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
  kinds[block->kind].finish(block, setting);
}
