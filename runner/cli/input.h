/* input.h - where scenarios come from: files, folders, and those in the executable.
 *
 * A word of the command line is the first of these that it fits: a file; a folder (its *.toml in
 * the order of their names); a shipped scenario ("quick"); a group of shipped scenarios
 * ("comm-scope"). Texts are put into the arena. */
#ifndef HAUL_RUNNER_CLI_INPUT_H
#define HAUL_RUNNER_CLI_INPUT_H

#include "engine/base/arena.h"
#include "engine/base/embed.h"
#include "schema/scenario/scenario.h"

struct input {
  const char *name;                     /* for people */
  const char *path;                     /* of a file; NULL = shipped */
  const struct embedded_file *embedded; /* NULL = a file */
};

struct input_list {
  struct input *items;
  size_t count;
};

/* STATUS_NOT_FOUND names what is like a word that fits nothing. */
enum status inputs_find(struct arena *arena, char *const *words, size_t word_count,
                        struct input_list *list, struct error *err) CHECK_RESULT;
/* The shipped scenario whose name is most like the word, without ".toml"; NULL = none is. */
const char *inputs_nearest(struct arena *arena, const char *word);
/* As scenario_load(). */
enum status input_read(const struct input *input, const struct scenario_override *overrides,
                       size_t override_count, struct scenario **scenario,
                       struct diagnostics *diagnostics) CHECK_RESULT;

#endif
