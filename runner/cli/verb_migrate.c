/* haul migrate: the latest schema for a database of an older haul. */
#include "runner/cli/options.h"
#include "runner/record/manage.h"
#include "runner/record/migrate.h"

struct migrate_options {
  const char *output;
};

static const struct verb_option VERB_MIGRATE_OPTIONS[] = {
    {"output", "FILE", "write a migrated copy to FILE, and leave the database as it is",
     OPTION_NON_EMPTY(struct migrate_options, output), .letter = 'o'},
    {0},
};

static enum status verb_migrate_run(struct command *command, struct error *err) {
  const struct migrate_options *options = command->options;
  const char *path = NULL;
  RETURN_ON_ERROR(command_path(command, &path, err));
  command->copy_noted = true; /* a note that it is read through a copy would be one too many */
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  const int version = command->database->file_version != 0 ? command->database->file_version
                                                           : command->database->version;
  const int latest = command->database->version;
  if (options->output != NULL) {
    RETURN_ON_ERROR(database_write_copy(command->database, options->output, err));
    path = options->output;
  } else if (version < latest) {
    RETURN_ON_ERROR(command_open_database(command, DATABASE_WRITE, err));
  }
  if (version < latest) {
    say_note(&command->common, "%s has schema %d.%d now, and had %d.%d", path,
             MIGRATE_MAJOR_MINOR(latest), MIGRATE_MAJOR_MINOR(version));
  } else {
    say_note(&command->common, "%s has schema %d.%d, the latest", path,
             MIGRATE_MAJOR_MINOR(latest));
  }
  return STATUS_OK;
}

const struct verb VERB_MIGRATE = {
    .name = "migrate",
    .group = VERBS_KEEP,
    .summary = "bring a database of an older haul to the latest schema",
    .doc =
        "Verbs that only read never change a file: they read an older one through a copy, which "
        "takes time with its size, for each command. This migrates the file once, as the next run "
        "that records in it does. If an archive cannot be written, -o makes a migrated copy to "
        "read.",
    .options = VERB_MIGRATE_OPTIONS,
    .options_size = sizeof(struct migrate_options),
    .word_max = 0,
    .run = verb_migrate_run,
};
