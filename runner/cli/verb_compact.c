/* haul compact: the file of a database without its free space. */
#include "engine/base/units.h"
#include "runner/cli/options.h"
#include "runner/record/manage.h"

#include <sys/stat.h>

static const char *verb_compact_size(struct arena *arena, const char *path) {
  struct stat info;
  char text[UNITS_TEXT_MAX] = "?";
  if (stat(path, &info) == 0) {
    units_format_size_short((uint64_t)info.st_size, text);
  }
  return arena_strdup(arena, text);
}

static enum status verb_compact_run(struct command *command, struct error *err) {
  const char *path = NULL;
  RETURN_ON_ERROR(command_path(command, &path, err));
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err)); /* there must be one */
  const char *before = verb_compact_size(&command->arena, path);
  RETURN_ON_ERROR(command_open_database(command, DATABASE_WRITE, err));
  RETURN_ON_ERROR(database_compact(command->database, err));
  say_note(&command->common, "%s: %s, now %s", path, before,
           verb_compact_size(&command->arena, path));
  return STATUS_OK;
}

const struct verb VERB_COMPACT = {
    .name = "compact",
    .group = VERBS_KEEP,
    .summary = "make the database file smaller",
    .doc = "Gives free space in the file back to the disk. It needs room for a copy of the "
           "database meanwhile. Other programs may use the database: haul waits until none writes.",
    .word_max = 0,
    .run = verb_compact_run,
};
