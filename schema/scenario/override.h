/* override.h - --set KEY=VALUE. For schema/scenario alone. */
#ifndef HAUL_SCHEMA_SCENARIO_OVERRIDE_H
#define HAUL_SCHEMA_SCENARIO_OVERRIDE_H

#include "schema/scenario/block.h"

/* What overrides may change. */
struct override_target {
  struct entries *root;
  struct entries *measure;
  struct entries *checks;
  struct block *const *blocks;
  size_t block_count;
};

/* Give `document` the tree that the value was read from (NULL when it is bare text); it must live
 * as long as the entries. */
void override_apply(struct reader *reader, const struct scenario_override *override,
                    unsigned source_order, const struct override_target *target,
                    struct toml_document **document);

#endif
