/* kind.h - what differs between the kinds of block, one row each. For schema/scenario alone.
 *
 * A new kind is a section and rows in field_table.c, a struct in scenario.h's union, a row in
 * kinds.c, and a file with the functions of that row. */
#ifndef HAUL_SCHEMA_SCENARIO_KIND_H
#define HAUL_SCHEMA_SCENARIO_KIND_H

#include "schema/scenario/block.h"

struct kind {
  enum section section; /* its tables in the file */
  /* What a setting is when its axes have their values: defaults that depend on other keys. */
  void (*finish)(const struct block *block, struct setting *setting);
  /* Rules that need no values of axes combined: which keys go together. Wants slots alone. */
  void (*check_keys)(struct reader *reader, const struct block *block);
  /* Rules between the values of a setting; false after a complaint. */
  bool (*check_setting)(struct reader *reader, const struct block *block,
                        const struct setting *setting);
  /* Starts of the keys that check_setting looks at; NULL-terminated. */
  const char *const *checked;
};

extern const struct kind kinds[case_kind_name_count];

/* Where a value of that owner goes: in the setting, or in `flow`, the flow of one slot (NULL: of
 * slot 0). NULL = it belongs to no setting. */
void *setting_member(enum field_owner owner, struct setting *setting, struct flow_setting *flow);
/* Every default of that kind of block. */
void kind_defaults(enum case_kind kind, struct setting *defaults);

/* transfer.c */
void transfer_finish(const struct block *block, struct setting *setting);
/* rules_transfer.c */
void transfer_check_keys(struct reader *reader, const struct block *block);
bool transfer_check_setting(struct reader *reader, const struct block *block,
                            const struct setting *setting);
/* What an end is that is not named. */
void kind_finish_end(struct endpoint_setting *end, enum place place, enum selector_kind usual);

/* chase.c */
void chase_finish(const struct block *block, struct setting *setting);
void chase_check_keys(struct reader *reader, const struct block *block);
bool chase_check_setting(struct reader *reader, const struct block *block,
                         const struct setting *setting);
/* stream.c */
void stream_finish(const struct block *block, struct setting *setting);
void stream_check_keys(struct reader *reader, const struct block *block);
bool stream_check_setting(struct reader *reader, const struct block *block,
                          const struct setting *setting);
/* arithmetic.c */
void arithmetic_finish(const struct block *block, struct setting *setting);
void arithmetic_check_keys(struct reader *reader, const struct block *block);
bool arithmetic_check_setting(struct reader *reader, const struct block *block,
                              const struct setting *setting);
/* overhead.c */
void overhead_finish(const struct block *block, struct setting *setting);
void overhead_check_keys(struct reader *reader, const struct block *block);
bool overhead_check_setting(struct reader *reader, const struct block *block,
                            const struct setting *setting);

#endif
