/* block.h - a block of a scenario: its axes, and what all its settings have in common.
 *
 * Private to schema/scenario; others use block_setting(). A block has slots: slot 0 is the block's
 * own table (of a transfer: its flow), followed by its loads and its explicit flows. Loads and
 * flows inherit absent keys from the block, so that an axis of the block sweeps them as well. */
#pragma once

#include "schema/scenario/entry.h"
#include "schema/scenario/setting.h"

struct axis {
  const struct entry *entry;
  const char *key;          /* "size", "load.background.size" */
  const char *const *texts; /* of the values */
  const unsigned *slots;    /* OWNER_FLOW: the slots that it changes */
  size_t slot_count;
  size_t stride; /* settings from one value to the next */
};

/* A flow of the block, with its own keys. */
struct slot {
  enum section section;
  const char *label; /* "load.background"; NULL for slot 0 */
  const struct source *source;
  const struct toml_node *node; /* the table in the file */
  struct toml_span header_span;
  struct entries entries;
  struct end_given {
    bool memory; /* otherwise the default for method and place, or what share says */
    bool process, share;
  } from_given, to_given;
};

struct block {
  const char *name;
  enum case_kind kind;
  struct slot *slots;
  size_t slot_count; /* 1 + load_count + flow_count */
  size_t load_count;
  size_t flow_count;
  bool unread;                /* its flows are in a file that has none: a diagnostic says so */
  struct setting base;        /* every value that is no axis */
  struct flow_setting *flows; /* of a transfer: the same for slots 1 on */
  struct axis *axes;
  size_t axis_count;
  size_t setting_count;
  /* Results of block_setting(), overwritten by its next call. */
  struct flow_setting *made_flows;
  struct axis_value *made_values;
};

/* Set base, axes and setting_count from the slots and the entries of [measure]. False after a
 * diagnostic: an invalid zip, or more than SCENARIO_SETTINGS_MAX settings. */
bool block_make(struct reader *reader, const struct setting *defaults,
                const struct entries *measure, struct block *block);
/* Whether this is a load without ends, which mirrors the measured flows. */
bool slot_mirrors(const struct slot *slot);
/* The entry that gives `key` in a slot: its own, an inherited one, or NULL. */
const struct entry *slot_entry(const struct block *block, size_t slot, const char *key);
/* Set every default of that kind of block. */
void block_defaults(enum case_kind kind, struct setting *defaults);
