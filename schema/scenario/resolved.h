/* resolved.h - a scenario as TOML that stands alone. For schema/scenario alone. */
#ifndef HAUL_SCHEMA_SCENARIO_RESOLVED_H
#define HAUL_SCHEMA_SCENARIO_RESOLVED_H

#include "schema/scenario/block.h"

/* Includes and --set applied, defaults of [measure] written out; reads back as the same scenario.
 */
const char *resolved_write(struct arena *arena, const struct scenario *scenario,
                           const struct entries *measure, const struct entries *checks);

#endif
