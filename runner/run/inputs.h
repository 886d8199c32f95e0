/* inputs.h - the scenarios that a command line names: found, read, all of them valid before
 * anything is measured.
 *
 * An argument is the first of these that it names: a shipped scenario ("quick") or a group of them
 * ("comm-scope"); a file; a folder (its *.toml that have a block, sorted by name, then those of the
 * folders in it); "-", standard input. Texts belong to the arena. */
#pragma once

#include "engine/base/embed.h"
#include "runner/console/console.h"
#include "schema/scenario/scenario.h"

struct input {
  const char *name;                     /* for people */
  const char *path;                     /* of a file, "<stdin>"; NULL = shipped */
  const struct embedded_file *embedded; /* NULL = a file */
  const char *text;                     /* that is not in a file; else NULL */
};

/* The files of a folder whose names end in that suffix and do not begin with a dot, sorted by name.
 * below: then those of the folders in it. STATUS_NOT_FOUND: it has none; `what` says of what, for
 * the message. */
enum status input_find_files(const char *path, const char *suffix, const char *what, bool below,
                             struct arena *arena, const char ***files, size_t *count,
                             struct error *err) CHECK_RESULT;
/* The name of a shipped scenario without ".toml". */
const char *input_shipped_name(struct arena *arena, const struct embedded_file *file);
/* The shipped scenario whose name is nearest to the word, without ".toml"; NULL = none is near. */
const char *input_nearest(struct arena *arena, const char *word);
/* As scenario_load(). */
enum status input_read(const struct input *input, const struct scenario_override *overrides,
                       size_t override_count, struct scenario **scenario,
                       struct diagnostics *diagnostics) CHECK_RESULT;

struct inputs {
  struct scenario_override *overrides; /* --set and --processes, in their order */
  size_t override_count;
  const char *text; /* the one scenario, which the verb made; NULL = words name them */
  const char *const *text_places; /* by line: the option of which it was made; NULL = none */
  size_t text_place_count;
  struct input *items;
  struct scenario **scenarios; /* one per input */
  size_t count;
  const char *tests;          /* of nvbandwidth that were named, as globs; NULL = all */
  const char *unmatched_only; /* globs of --only that selected nothing so far */
  size_t left_out;            /* scenarios that --only leaves out */
  const char **nothing;       /* by scenario: why it has no case to measure here */
  struct arena arena;         /* of all the above; begin with a zeroed struct */
};

/* Read the scenarios that the words name. Every error is reported. Returns the exit code. */
int inputs_read(const struct common_options *common, const char *const *words, size_t word_count,
                struct inputs *inputs);
void inputs_fini(struct inputs *inputs);
