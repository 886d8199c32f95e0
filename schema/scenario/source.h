/* source.h - the files a scenario is read from: by path, or among the shipped ones. For
 * schema/scenario alone. */
#ifndef HAUL_SCHEMA_SCENARIO_SOURCE_H
#define HAUL_SCHEMA_SCENARIO_SOURCE_H

#include "engine/base/arena.h"
#include "schema/scenario/diagnostics.h"

/* Read a file whole. STATUS_INVALID for what cannot be a scenario (a directory, more than
 * SCENARIO_FILE_MAX bytes); else what the system said. Fills path, text and length. */
enum status source_read(struct arena *arena, const char *path, struct source *source,
                        struct error *err) CHECK_RESULT;
/* Find and read what `includer` calls `name`: beside the includer, then among the shipped
 * scenarios. */
enum status source_read_include(struct arena *arena, const char *includer, const char *name,
                                struct source *source, struct error *err) CHECK_RESULT;
/* A text that is equal for two paths of the same file. */
const char *source_identity(struct arena *arena, const char *path);

#endif
