/* kind.h - what differs between the kinds of block: one table each. Private to schema/scenario.
 *
 * The file of a kind holds its table: its section and keys, defaults that depend on other keys, and
 * the rules between its keys. CASE_KIND_LIST (engine/case/enums.h) lists the kinds. */
#pragma once

#include "schema/scenario/field.h"
#include "schema/scenario/setting.h"
#include "schema/toml/toml.h"

#include <stddef.h>

struct block;
struct entries;
struct entry;
struct reader;

/* Rows of keys. path: the key's place in the definition of a case, or NULL. */
#define KEY(key, in, ...)                                                                          \
  { .name = key, .sections = in, __VA_ARGS__ }
#define KIND_KEY(kind, key, path, ...) KEY(key, IN_KIND(kind), .json = path, __VA_ARGS__)

#define IN(name)      (1U << SECTION_##name)
#define IN_KIND(kind) (1U << (SECTION_KIND + CASE_##kind))
#define IN_BLOCKS     BLOCK_SECTIONS

#define WORDS(list)         .type = FIELD_WORD, .words = list
#define COUNT(low, high)    .type = FIELD_COUNT, .minimum = low, .maximum = high
#define INTEGER(low, high)  .type = FIELD_INTEGER, .minimum = low, .maximum = high
#define NUMBER(low, high)   .type = FIELD_NUMBER, .minimum = low, .maximum = high
#define SIZE(low, high)     .type = FIELD_SIZE, .minimum = low, .maximum = high
#define DURATION(low, high) .type = FIELD_DURATION, .minimum = low, .maximum = high
#define GRID(low, high)     .type = FIELD_GRID, .minimum = low, .maximum = high
#define SETTING(member)     .owner = OWNER_SETTING, .offset = offsetof(struct setting, member)
#define RESOLVED(member)    .resolved = offsetof(struct setting, member)
#define HELP(text)          .help = text
/* A line of a help: "ipc (device memory): a handle of cuIpcGetMemHandle" */
#define SHARE_KIND_MEMORY_DEVICE            "device"
#define SHARE_KIND_MEMORY_VMM               "vmm"
#define SHARE_KIND_MEMORY_POOL              "pool"
#define SHARE_KIND_MEMORY_SHARED            "shared"
#define SHARE_HELP_(id, text, memory, what) "\n" text " (" SHARE_KIND_##memory " memory): " what
#define SIZE_LIMIT                          0x1p46 /* 64 TiB */
#define COUNT_LIMIT                         1e6

struct scenario_kind {
  struct section_row section; /* its tables in the file */
  /* Its keys, without those that every block has; those of its definition in the order of the
   * definition. */
  const struct field *fields;
  size_t field_count;
  /* Besides required keys, sets of keys ("from to size") of which one must be there, whole.
   * NULL-terminated; NULL: none need be. For the JSON Schema; check_keys says it better. */
  const char *const *needs;
  /* Completes a setting whose axes have their values: defaults that depend on other keys. */
  void (*finish)(const struct block *block, struct setting *setting);
  /* Checks which keys are allowed together; looks at the slots only. NULL: every combination is. */
  void (*check_keys)(struct reader *reader, const struct block *block);
  /* Checks rules between the values of a setting; false after a diagnostic. May be NULL. */
  bool (*check_setting)(struct reader *reader, const struct block *block,
                        const struct setting *setting);
  /* Prefixes of the keys that check_setting looks at, NULL-terminated; NULL if there are none. */
  const char *const *checked;
};

/* In the order of enum case_kind. */
extern const struct scenario_kind *const kinds[case_kind_name_count];

/* The struct of that owner: in the setting, or `flow`, the flow of one slot (NULL: of slot 0).
 * NULL: it is not part of a setting. */
void *setting_member(enum field_owner owner, struct setting *setting, struct flow_setting *flow);
/* Give an endpoint that is absent the place and selector that it has by default. */
void kind_finish_end(struct endpoint_setting *end, enum place place, enum selector_kind usual);

/* Rules between the keys of a block: what the rules of all kinds share. */

#define BIT(x) (1U << (x))

/* One slot under examination. */
struct subject {
  struct reader *reader;
  const struct block *block;
  size_t slot;
  unsigned methods; /* bit set of enum method: the methods it may have; 0 = not known */
};

/* Check the rules between numbers for every setting of a block: trials.min and max, and those of
 * the kind. Stops at the first setting that breaks one. */
void rules_check_settings(struct reader *reader, const struct entries *measure,
                          const struct block *block);

/* The entry that decides about a key in the slot, or NULL. */
const struct entry *subject_find(const struct subject *subject, const char *key);
const struct slot *subject_slot(const struct subject *subject);
/* Add a diagnostic about an entry (NULL: about the table itself) at that place; returns false. */
__attribute__((format(printf, 5, 6))) bool
subject_refuse(struct subject *subject, const struct entry *entry, struct toml_span span,
               const char *expected, const char *format, ...);
void subject_refuse_key(struct subject *subject, const struct entry *entry, const char *expected,
                        const char *message);
/* Add a diagnostic "KEY why" about each of the keys that the slot has; NULL-terminated. */
void subject_refuse_keys(struct subject *subject, const char *const *keys, const char *expected,
                         const char *why);
/* The words among the values of an entry, as a bit set; 0 for NULL. */
unsigned entry_word_set(const struct entry *entry);
/* The place of the first value with that word. */
struct toml_span entry_word_span(const struct entry *entry, unsigned word);
bool memory_fits(enum memory_kind memory, enum place place);
/* Each way to share memory must be for memory of that place; end: "from". */
void subject_check_share(struct subject *subject, const struct entry *share, enum place place,
                         const char *end);
const struct entry *entry_either(const struct entry *first, const struct entry *second);
/* Whether all keys with that prefix have valid values; rules skip keys with mistakes, which have
 * been reported already. */
bool entries_are_read(const struct entries *entries, const char *prefix);

/* Completes the loads and flows of a block of any kind, as `finish` of its kind does the rest. */
void transfer_finish_slots(const struct block *block);

/* rules_transfer.c */
void transfer_check_keys(struct reader *reader, const struct block *block);
/* Of a block of another kind: its loads. */
void loads_check_keys(struct reader *reader, const struct block *block);
bool transfer_check_setting(struct reader *reader, const struct block *block,
                            const struct setting *setting);
