/* rules.h - what must hold between the keys of a block. For schema/scenario alone. */
#ifndef HAUL_SCHEMA_SCENARIO_RULES_H
#define HAUL_SCHEMA_SCENARIO_RULES_H

#include "schema/scenario/block.h"

/* Rules that need no values of axes combined: which keys go together. Wants slots alone; false
 * after a complaint. */
void rules_check_keys(struct reader *reader, const struct block *block);
/* Rules between numbers, over every setting of a made block: trials.min and max, shapes. Stops at
 * the first setting that breaks one. */
void rules_check_settings(struct reader *reader, const struct entries *measure,
                          const struct block *block);

#endif
