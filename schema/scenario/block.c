#include "schema/scenario/block.h"

#include "schema/scenario/kind.h"
#include "schema/scenario/nearest.h"

#include <string.h>

/* Keys that a load or flow never inherits from its block: where that is no transfer, all. */
static bool slot_owns_key(const struct block *block, const char *key) {
  return block->kind != CASE_TRANSFER || strcmp(key, "name") == 0 ||
         strncmp(key, "from.", 5) == 0 || strncmp(key, "to.", 3) == 0;
}

static bool slot_has_any(const struct slot *slot, const char *const *prefixes) {
  for (size_t i = 0; i < slot->entries.count; i++) {
    for (size_t k = 0; prefixes[k] != NULL; k++) {
      if (strncmp(slot->entries.items[i].field->name, prefixes[k], strlen(prefixes[k])) == 0) {
        return true;
      }
    }
  }
  return false;
}

bool slot_mirrors(const struct slot *slot) {
  static const char *const ends[] = {"from.", "to.", NULL};
  return section_is_load(slot->section) && !slot_has_any(slot, ends);
}

/* Of size, shape and pieces, what a flow says itself excludes the others of its block. */
static bool slot_sizes_itself(const struct slot *slot, const char *key) {
  const bool size = entries_find(&slot->entries, "size") != NULL;
  if (strncmp(key, "shape.", 6) == 0) {
    return size || entries_find(&slot->entries, "piece_size") != NULL;
  }
  if (strncmp(key, "piece", 5) == 0) {
    return size || entries_find(&slot->entries, "shape.width") != NULL;
  }
  return strcmp(key, "size") == 0 && entries_find(&slot->entries, "pieces") != NULL;
}

/* Keys that a load or flow does not inherit from its block: those it gives itself, a shape or
 * pieces if it gives a size, and those that do not apply to its ends. */
static bool slot_hides(const struct slot *slot, const char *key) {
  const bool from_gpu = entries_find(&slot->entries, "from.gpu") != NULL;
  const bool to_gpu = entries_find(&slot->entries, "to.gpu") != NULL;
  if (slot_mirrors(slot) && (strcmp(key, "peer") == 0 || strcmp(key, "initiator") == 0)) {
    return true;
  }
  if (strcmp(key, "peer") == 0 && !(from_gpu && to_gpu)) {
    return true;
  }
  if (strcmp(key, "initiator") == 0 && from_gpu != to_gpu) {
    return true;
  }
  return entries_find(&slot->entries, key) != NULL || slot_sizes_itself(slot, key);
}

const struct entry *slot_entry(const struct block *block, size_t slot, const char *key) {
  const struct entry *own = entries_find(&block->slots[slot].entries, key);
  if (own != NULL || slot == 0 || slot_owns_key(block, key) ||
      slot_hides(&block->slots[slot], key)) {
    return own;
  }
  return entries_find(&block->slots[0].entries, key);
}

/* Keys of [measure] that do not apply to this kind of block are not taken from there. */
static bool block_takes_entry(const struct block *block, const struct entry *entry, size_t slot) {
  return (entry->field->sections & (1U << block->slots[slot].section)) != 0;
}

static void block_store_fixed(struct block *block, const struct entries *entries, size_t slot) {
  for (size_t i = 0; i < entries->count; i++) {
    const struct entry *entry = &entries->items[i];
    struct flow_setting *flow = slot == 0 ? NULL : &block->flows[slot - 1];
    void *member = setting_member(entry->field->owner, &block->base, flow);
    if (entry->values.count == 1 && member != NULL && block_takes_entry(block, entry, slot)) {
      value_store(entry->field, &entry->values.items[0], member);
    }
  }
}

/* Defaults of keys that a load or flow may have, but not its block. */
static void block_store_own_defaults(const struct block *block, struct flow_setting *flow,
                                     enum section section) {
  for (size_t i = 0; i < field_count(); i++) {
    const struct field *field = field_at(i);
    union value value;
    if (field->owner == OWNER_FLOW && (field->sections & (1U << section)) != 0 &&
        (field->sections & (1U << block->slots[0].section)) == 0 && field->default_text != NULL &&
        value_from_text(field, field->default_text, &value)) {
      value_store(field, &value, flow);
    }
  }
}

/* A load or flow starts as a copy of the block's flow, without what it does not inherit. */
static void block_make_flow(struct block *block, const struct setting *defaults, size_t at) {
  static const char *const of_method[] = {"method",   "threads",  "kernel.",
                                          "unified.", "priority", NULL};
  static const char *const of_size[] = {"size", "shape.", "piece", NULL};
  struct slot *slot = &block->slots[at];
  struct flow_setting *flow = &block->flows[at - 1];
  const struct flow_setting *usual = &defaults->transfer.flow;
  *flow = block->base.transfer.flow;
  flow->name = NULL;
  flow->from = (struct endpoint_setting){0};
  flow->to = (struct endpoint_setting){0};
  flow->base.shape = slot_hides(slot, "shape.width") ? usual->base.shape : flow->base.shape;
  flow->base.size_bytes = slot_hides(slot, "size") ? 0 : flow->base.size_bytes;
  flow->base.scatter.pieces = slot_hides(slot, "pieces") ? 0 : flow->base.scatter.pieces;
  flow->base.scatter.piece_bytes =
      slot_hides(slot, "piece_size") ? 0 : flow->base.scatter.piece_bytes;
  flow->peer = slot_hides(slot, "peer") ? usual->peer : flow->peer;
  flow->base.initiator =
      slot_hides(slot, "initiator") ? usual->base.initiator : flow->base.initiator;
  flow->mirrors = slot_mirrors(slot);
  flow->method_given = slot_has_any(slot, of_method);
  flow->size_given = slot_has_any(slot, of_size);
  block_store_own_defaults(block, flow, slot->section);
  block_store_fixed(block, &slot->entries, at);
}

/* The loads and flows of a block of any kind. */
static void block_make_slots(struct reader *reader, const struct setting *defaults,
                             struct block *block) {
  const size_t below = block->slot_count - 1;
  block->flows = arena_array(reader->arena, below, sizeof *block->flows);
  block->made_flows = arena_array(reader->arena, below, sizeof *block->made_flows);
  for (size_t i = 1; i < block->slot_count; i++) {
    block_make_flow(block, defaults, i);
  }
  struct transfer_setting *transfer = &block->base.transfer;
  transfer->loads = block->load_count > 0 ? block->made_flows : NULL;
  transfer->load_count = block->load_count;
  transfer->flows = block->flow_count > 0 ? block->made_flows + block->load_count : NULL;
  transfer->flow_count = block->flow_count;
  transfer->pairs_given = slot_entry(block, 0, "pairs") != NULL;
  for (size_t i = 0; i < block->slot_count; i++) {
    struct slot *slot = &block->slots[i];
    struct flow_setting *flow = i == 0 ? &transfer->flow : &block->flows[i - 1];
    flow->initiator_given = slot_entry(block, i, "initiator") != NULL;
    slot->from_given = (struct end_given){entries_find(&slot->entries, "from.memory") != NULL,
                                          entries_find(&slot->entries, "from.process") != NULL,
                                          entries_find(&slot->entries, "from.share") != NULL};
    slot->to_given = (struct end_given){entries_find(&slot->entries, "to.memory") != NULL,
                                        entries_find(&slot->entries, "to.process") != NULL,
                                        entries_find(&slot->entries, "to.share") != NULL};
  }
}

static void block_make_base(struct reader *reader, const struct setting *defaults,
                            const struct entries *measure, struct block *block) {
  block->base = *defaults;
  block_store_fixed(block, measure, 0);
  block_store_fixed(block, &block->slots[0].entries, 0);
  block_make_slots(reader, defaults, block);
}

/* The slots that an entry of `slot` decides about. */
static void block_find_slots(struct reader *reader, const struct block *block,
                             const struct entry *entry, size_t slot, struct axis *axis) {
  unsigned *slots = arena_array(reader->arena, block->slot_count, sizeof *slots);
  for (size_t i = slot; i < block->slot_count; i++) {
    if (i == slot || (slot == 0 && slot_entry(block, i, entry->field->name) == entry)) {
      slots[axis->slot_count++] = (unsigned)i;
    }
  }
  axis->slots = slots;
}

static void block_add_axis(struct reader *reader, struct block *block, const struct entry *entry,
                           size_t slot) {
  const struct values *values = &entry->values;
  const char **texts = arena_array(reader->arena, values->count, sizeof *texts);
  for (size_t i = 0; i < values->count; i++) {
    texts[i] = value_text(reader->arena, entry->field, &values->items[i]);
  }
  const char *label = block->slots[slot].label;
  const char *name = entry->field->name;
  struct axis axis = {.entry = entry, .texts = texts};
  axis.key = label == NULL ? name : arena_format(reader->arena, "%s.%s", label, name);
  if (entry->field->owner == OWNER_FLOW) {
    block_find_slots(reader, block, entry, slot, &axis);
  }
  *ARENA_ADD(reader->arena, block->axes, block->axis_count) = axis;
}

/* Axes of [measure] vary slowest, then those of the block, then those of its loads and flows. */
static void block_find_axes(struct reader *reader, const struct entries *measure,
                            struct block *block) {
  for (size_t i = 0; i < measure->count; i++) {
    const struct entry *entry = &measure->items[i];
    if (entry->values.count > 1 && block_takes_entry(block, entry, 0) &&
        slot_entry(block, 0, entry->field->name) == NULL) {
      block_add_axis(reader, block, entry, 0);
    }
  }
  for (size_t slot = 0; slot < block->slot_count; slot++) {
    const struct entries *entries = &block->slots[slot].entries;
    for (size_t i = 0; i < entries->count; i++) {
      if (entries->items[i].values.count > 1) {
        block_add_axis(reader, block, &entries->items[i], slot);
      }
    }
  }
  block->made_values = arena_array(reader->arena, block->axis_count, sizeof *block->made_values);
  block->base.axis_values = block->made_values;
  block->base.axis_value_count = block->axis_count;
}

enum { NO_GROUP = -1 };

/* Which axes vary in lockstep, while the settings are counted. */
struct lockstep {
  struct reader *reader;
  struct block *block;
  const struct entry *zip;
  int *groups; /* of every axis */
};

static bool zip_refuse(const struct lockstep *lockstep, const struct toml_node *node,
                       const char *suggestion, const char *what) {
  char expected[FIELD_EXPECTED_MAX];
  field_expected(lockstep->zip->field, expected);
  diagnostics_add(lockstep->reader->diagnostics, lockstep->zip->source, node->span, expected,
                  suggestion, "zip: %s", what);
  return false;
}

static bool zip_read_key(const struct lockstep *lockstep, const struct toml_node *node, int group,
                         size_t *length) {
  const struct block *block = lockstep->block;
  struct arena *arena = lockstep->reader->arena;
  if (node->kind != TOML_TEXT) {
    return zip_refuse(lockstep, node, NULL, "expected keys in quotes");
  }
  struct nearest nearest = nearest_start(node->text);
  for (size_t i = 0; i < block->axis_count; i++) {
    nearest_offer(&nearest, block->axes[i].key);
    if (strcmp(block->axes[i].key, node->text) != 0) {
      continue;
    }
    const size_t count = block->axes[i].entry->values.count;
    if (lockstep->groups[i] != NO_GROUP) {
      return zip_refuse(lockstep, node, NULL,
                        arena_format(arena, "\"%s\" is listed twice", node->text));
    }
    if (*length != 0 && *length != count) {
      return zip_refuse(lockstep, node, NULL,
                        arena_format(arena,
                                     "\"%s\" has %zu values, the axis before it %zu; axes in "
                                     "lockstep need the same number",
                                     node->text, count, *length));
    }
    lockstep->groups[i] = group;
    *length = count;
    return true;
  }
  return zip_refuse(lockstep, node, nearest.word,
                    arena_format(arena,
                                 "\"%s\" is not an axis of this block: only a key with several "
                                 "values is",
                                 node->text));
}

static bool zip_read(const struct lockstep *lockstep) {
  const struct toml_node *node = lockstep->zip->node;
  bool good = true;
  if (node->kind != TOML_ARRAY) {
    return zip_refuse(lockstep, node, NULL, "expected an array");
  }
  for (size_t g = 0; g < node->child_count; g++) {
    const struct toml_node *group = &node->children[g];
    size_t length = 0;
    if (group->kind != TOML_ARRAY || group->child_count < 2) {
      good = zip_refuse(lockstep, group, NULL, "a group must be an array of at least two keys");
      continue;
    }
    for (size_t i = 0; i < group->child_count; i++) {
      good = zip_read_key(lockstep, &group->children[i], (int)g, &length) && good;
    }
  }
  return good;
}

/* The last axis varies fastest; axes in lockstep share the stride of the last of them. */
static bool block_count_settings(const struct lockstep *lockstep) {
  struct block *block = lockstep->block;
  size_t product = 1;
  for (size_t i = block->axis_count; i-- > 0;) {
    struct axis *axis = &block->axes[i];
    const int group = lockstep->groups[i];
    for (size_t k = i + 1; k < block->axis_count && group != NO_GROUP; k++) {
      if (lockstep->groups[k] == group) {
        axis->stride = block->axes[k].stride;
        break;
      }
    }
    if (axis->stride == 0) {
      axis->stride = product;
      product *= axis->entry->values.count;
    }
    if (product > SCENARIO_SETTINGS_MAX) {
      diagnostics_add(lockstep->reader->diagnostics, block->slots[0].source,
                      block->slots[0].header_span, "fewer or shorter axes, or zip", NULL,
                      "more than %d settings in block \"%s\"", (int)SCENARIO_SETTINGS_MAX,
                      block->name);
      return false;
    }
  }
  block->setting_count = product;
  return true;
}

bool block_make(struct reader *reader, const struct setting *defaults,
                const struct entries *measure, struct block *block) {
  block_make_base(reader, defaults, measure, block);
  block_find_axes(reader, measure, block);
  struct lockstep lockstep = {reader, block, entries_find(&block->slots[0].entries, "zip"), NULL};
  lockstep.groups = arena_array(reader->arena, block->axis_count, sizeof *lockstep.groups);
  for (size_t i = 0; i < block->axis_count; i++) {
    lockstep.groups[i] = NO_GROUP;
  }
  const bool zipped = lockstep.zip == NULL || zip_read(&lockstep);
  return zipped && block_count_settings(&lockstep);
}

const char *block_name(const struct block *block) {
  return block->name;
}

const char *block_scope(const struct block *block, const char *key) {
  return slot_entry(block, 0, key) != NULL ? block->name : "measure";
}

size_t block_setting_count(const struct block *block) {
  return block->setting_count;
}

static void block_apply_axis(const struct block *block, const struct axis *axis, size_t value,
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
    block_apply_axis(block, axis, value, setting);
    block->made_values[k] = (struct axis_value){axis->key, axis->texts[value]};
  }
  kinds[block->kind]->finish(block, setting);
  transfer_finish_slots(block);
}

void block_defaults(enum case_kind kind, struct setting *defaults) {
  memset(defaults, 0, sizeof *defaults); /* padding too: settings are compared whole */
  defaults->kind = kind;
  for (size_t i = 0; i < field_count(); i++) {
    const struct field *field = field_at(i);
    void *member = setting_member(field->owner, defaults, NULL);
    union value value;
    if (member != NULL && (field->sections & (1U << (SECTION_KIND + kind))) != 0 &&
        field->default_text != NULL && value_from_text(field, field->default_text, &value)) {
      value_store(field, &value, member);
    }
  }
}
