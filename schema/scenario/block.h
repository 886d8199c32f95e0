/* block.h - a block made ready: its axes, and what every setting has in common.
 *
 * For schema/scenario alone; others see block_setting(). A block has slots: slot 0 is the block's
 * own table (of a transfer: its flow), then come its loads, then its spelled-out flows. What a load
 * or flow does not say is as in the block, so that an axis of the block sweeps them as well. */
#ifndef HAUL_SCHEMA_SCENARIO_BLOCK_H
#define HAUL_SCHEMA_SCENARIO_BLOCK_H

#include "schema/scenario/entry.h"

struct axis {
  const struct entry *entry;
  const char *key;          /* "size", "load.background.size" */
  const char *const *texts; /* of the values */
  const unsigned *slots;    /* OWNER_FLOW: the slots it goes to */
  size_t slot_count;
  size_t stride; /* settings from one value to the next */
};

/* A flow of the block, with what it says itself. */
struct slot {
  enum section section;
  const char *label; /* "load.background"; NULL for slot 0 */
  const struct source *source;
  const struct toml_node *node; /* the table as it stands in the file */
  struct toml_span header_span;
  struct entries entries;
  bool from_memory_given; /* else the default for method and place */
  bool to_memory_given;
};

struct block {
  const char *name;
  enum case_kind kind;
  struct slot *slots;
  size_t slot_count; /* 1 + load_count + flow_count */
  size_t load_count;
  size_t flow_count;
  struct setting base;        /* every value that is no axis */
  struct flow_setting *flows; /* of a transfer: the same for slots 1 on */
  struct axis *axes;
  size_t axis_count;
  size_t setting_count;
  /* What block_setting() hands out, overwritten by its next call. */
  struct flow_setting *made_flows;
  struct axis_value *made_values;
};

/* Give the block its base, axes and count out of slots and the entries of [measure]. False after a
 * complaint: zip that does not fit, or more than SCENARIO_SETTINGS_MAX settings. */
bool block_make(struct reader *reader, const struct setting *defaults,
                const struct entries *measure, struct block *block);
/* A load that names neither end: it mirrors the measured flows. */
bool slot_mirrors(const struct slot *slot);
/* The entry that decides about `key` in a slot: its own, the block's, or NULL. */
const struct entry *slot_entry(const struct block *block, size_t slot, const char *key);

#endif
