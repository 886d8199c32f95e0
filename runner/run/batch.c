#include "runner/run/batch.h"

#include "scenarios/scenarios.h"
#include "schema/scenario/nearest.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Inputs as they are found. */
struct input_list {
  struct arena *arena;
  struct input *items;
  size_t count, capacity;
};

static void input_add(struct input_list *list, struct input input) {
  list->items =
      arena_grow(list->arena, list->items, list->count, &list->capacity, sizeof *list->items);
  list->items[list->count++] = input;
}

enum status batch_find_files(const char *path, const char *suffix, const char *what,
                             struct arena *arena, const char ***files, size_t *count,
                             struct error *err) {
  struct dirent **entries = NULL;
  const int entry_count = scandir(path, &entries, NULL, alphasort);
  if (entry_count < 0) {
    return error_set_errno(err, errno, "cannot read the folder %s", path);
  }
  const size_t length = strlen(path);
  const char *slash = length > 0 && path[length - 1] == '/' ? "" : "/";
  *files = arena_array(arena, (size_t)entry_count, sizeof **files);
  *count = 0;
  for (int i = 0; i < entry_count; i++) {
    const char *name = entries[i]->d_name;
    const char *dot = strrchr(name, '.');
    if (name[0] != '.' && dot != NULL && strcmp(dot, suffix) == 0) {
      (*files)[(*count)++] = arena_format(arena, "%s%s%s", path, slash, name);
    }
    free(entries[i]);
  }
  free(entries);
  return *count > 0
             ? STATUS_OK
             : error_set(err, STATUS_NOT_FOUND, "no %s (*%s) in the folder %s", what, suffix, path);
}

static enum status input_add_folder(struct input_list *list, const char *path, struct error *err) {
  const char **files = NULL;
  size_t count = 0;
  RETURN_ON_ERROR(batch_find_files(path, ".toml", "scenario", list->arena, &files, &count, err));
  for (size_t i = 0; i < count; i++) {
    input_add(list, (struct input){.name = files[i], .path = files[i]});
  }
  return STATUS_OK;
}

/* Every shipped scenario below "word/". */
static bool input_add_group(struct input_list *list, const char *word) {
  size_t length = strlen(word);
  bool found = false;
  for (size_t i = 0; i < scenarios_count(); i++) {
    const struct embedded_file *file = scenarios_at(i);
    if (strncmp(file->name, word, length) == 0 && file->name[length] == '/' &&
        scenarios_runnable(file)) {
      input_add(list, (struct input){.name = file->name, .embedded = file});
      found = true;
    }
  }
  return found;
}

const char *input_shipped_name(struct arena *arena, const struct embedded_file *file) {
  const char *dot = strrchr(file->name, '.');
  return dot != NULL ? arena_strndup(arena, file->name, (size_t)(dot - file->name)) : file->name;
}

const char *input_nearest(struct arena *arena, const char *word) {
  struct nearest nearest = nearest_start(word);
  for (size_t i = 0; i < scenarios_count(); i++) {
    nearest_offer(&nearest, input_shipped_name(arena, scenarios_at(i)));
  }
  return nearest.word;
}

static enum status input_not_found(const char *word, struct arena *arena, struct error *err) {
  const char *meant = input_nearest(arena, word);
  if (meant != NULL) {
    return error_set(err, STATUS_NOT_FOUND,
                     "%s: no such file and no shipped scenario of that name; did you mean '%s'?",
                     word, meant);
  }
  return error_set(err, STATUS_NOT_FOUND,
                   "%s: no such file and no shipped scenario of that name; haul list scenarios "
                   "lists them",
                   word);
}

static bool input_add_shipped(struct input_list *list, const char *word) {
  const struct embedded_file *embedded = scenarios_find(word);
  if (embedded == NULL) {
    return input_add_group(list, word);
  }
  input_add(list, (struct input){.name = embedded->name, .embedded = embedded});
  return true;
}

/* A shipped name without ".toml" is the shipped scenario even beside a file that is called so, such
 * as the program nvbandwidth; "./NAME" is the file. */
static enum status input_find(struct input_list *list, const char *word, struct error *err) {
  struct stat status;
  const char *dot = strrchr(word, '.');
  if ((dot == NULL || strcmp(dot, ".toml") != 0) && input_add_shipped(list, word)) {
    return STATUS_OK;
  }
  if (stat(word, &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      return input_add_folder(list, word, err);
    }
    input_add(list, (struct input){.name = word, .path = word});
    return STATUS_OK;
  }
  if (errno != ENOENT && errno != ENOTDIR) {
    return error_set_errno(err, errno, "cannot read %s", word);
  }
  return input_add_shipped(list, word) ? STATUS_OK : input_not_found(word, list->arena, err);
}

enum status input_read(const struct input *input, const struct scenario_override *overrides,
                       size_t override_count, struct scenario **scenario,
                       struct diagnostics *diagnostics) {
  if (input->embedded == NULL) {
    return scenario_load(input->path, overrides, override_count, scenario, diagnostics);
  }
  char path[SCENARIO_NAME_MAX * 2];
  snprintf(path, sizeof path, SCENARIOS_PREFIX "%s", input->embedded->name);
  const struct embedded_file *file = input->embedded;
  return scenario_parse((const char *)file->data, (size_t)(file->end - file->data), path, overrides,
                        override_count, scenario, diagnostics);
}

/* ---- the batch ---- */

int batch_read(const struct common_options *common, const char *const *words, size_t word_count,
               struct batch *batch) {
  struct error err = {0};
  struct input_list list = {.arena = &batch->arena};
  for (size_t i = 0; i < word_count; i++) {
    if (input_find(&list, words[i], &err) != STATUS_OK) {
      return fail(common, &err);
    }
  }
  batch->inputs = list.items;
  batch->count = list.count;
  batch->scenarios = arena_array(&batch->arena, batch->count, sizeof(struct scenario *));
  struct diagnostics *diagnostics = diagnostics_new();
  bool valid = true;
  for (size_t i = 0; i < batch->count; i++) {
    valid &= input_read(&batch->inputs[i], batch->overrides, batch->override_count,
                        &batch->scenarios[i], diagnostics) == STATUS_OK;
  }
  diagnostics_print(diagnostics, stderr, use_colour(common, stderr));
  diagnostics_free(diagnostics);
  return valid ? EXIT_DONE : EXIT_USAGE;
}

void batch_fini(struct batch *batch) {
  for (size_t i = 0; batch->scenarios != NULL && i < batch->count; i++) {
    scenario_free(batch->scenarios[i]);
  }
  arena_fini(&batch->arena);
}
