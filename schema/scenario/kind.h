/* kind.h - what differs between the kinds of block: one table each. For schema/scenario alone.
 *
 * A kind is a file of this folder that holds its table: the section and its keys, what a setting is
 * when nobody says, and what must hold between its keys. The list of all is CASE_KIND_LIST
 * (engine/case/enums.h). */
#ifndef HAUL_SCHEMA_SCENARIO_KIND_H
#define HAUL_SCHEMA_SCENARIO_KIND_H

#include "schema/scenario/block.h"

#include <stddef.h>

/* For rows of keys. */
#define IN(name)        (1U << SECTION_##name)
#define IN_KIND(kind)   (1U << (SECTION_KIND + CASE_##kind))
#define IN_BLOCKS       BLOCK_SECTIONS
#define SETTING(member) .owner = OWNER_SETTING, .offset = offsetof(struct setting, member)
#define WORDS(list)     .type = FIELD_WORD, .words = list
#define SIZE_LIMIT      0x1p46 /* 64 TiB */
#define COUNT_LIMIT     1e6

struct scenario_kind {
  struct section_row section; /* its tables in the file */
  /* Its keys, but for those that every block has. Those of its definition in that order. */
  const struct field *fields;
  size_t field_count;
  /* What a setting is when its axes have their values: defaults that depend on other keys. */
  void (*finish)(const struct block *block, struct setting *setting);
  /* Rules that need no values of axes combined: which keys go together. Wants slots alone. May be
   * NULL: every key goes with every other. */
  void (*check_keys)(struct reader *reader, const struct block *block);
  /* Rules between the values of a setting; false after a complaint. May be NULL. */
  bool (*check_setting)(struct reader *reader, const struct block *block,
                        const struct setting *setting);
  /* Starts of the keys that check_setting looks at; NULL-terminated. NULL: it has none. */
  const char *const *checked;
};

/* In the order of enum case_kind. */
extern const struct scenario_kind *const kinds[case_kind_name_count];

/* Where a value of that owner goes: in the setting, or in `flow`, the flow of one slot (NULL: of
 * slot 0). NULL = it belongs to no setting. */
void *setting_member(enum field_owner owner, struct setting *setting, struct flow_setting *flow);
/* Every default of that kind of block. */
void kind_defaults(enum case_kind kind, struct setting *defaults);
/* What an end is that is not named. */
void kind_finish_end(struct endpoint_setting *end, enum place place, enum selector_kind usual);

/* rules_transfer.c */
void transfer_check_keys(struct reader *reader, const struct block *block);
bool transfer_check_setting(struct reader *reader, const struct block *block,
                            const struct setting *setting);

#endif
