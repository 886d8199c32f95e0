#include "runner/cli/input.h"

#include "scenarios/scenarios.h"
#include "schema/scenario/nearest.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct finding {
  struct arena *arena;
  struct input_list *list;
  size_t capacity;
};

static void add(struct finding *finding, struct input input) {
  struct input_list *list = finding->list;
  list->items =
      arena_grow(finding->arena, list->items, list->count, &finding->capacity, sizeof *list->items);
  list->items[list->count++] = input;
}

static int is_scenario_file(const struct dirent *entry) {
  const char *dot = strrchr(entry->d_name, '.');
  return entry->d_name[0] != '.' && dot != NULL && strcmp(dot, ".toml") == 0;
}

static enum status add_folder(struct finding *finding, const char *path, struct error *err) {
  struct dirent **entries = NULL;
  int count = scandir(path, &entries, is_scenario_file, alphasort);
  if (count < 0) {
    return error_set_errno(err, errno, "cannot read the folder %s", path);
  }
  size_t length = strlen(path);
  const char *slash = length > 0 && path[length - 1] == '/' ? "" : "/";
  for (int i = 0; i < count; i++) {
    const char *file = arena_format(finding->arena, "%s%s%s", path, slash, entries[i]->d_name);
    add(finding, (struct input){.name = file, .path = file});
    free(entries[i]);
  }
  free(entries);
  return count > 0
             ? STATUS_OK
             : error_set(err, STATUS_NOT_FOUND, "no scenario (*.toml) in the folder %s", path);
}

/* Every shipped scenario below "word/". */
static bool add_group(struct finding *finding, const char *word) {
  size_t length = strlen(word);
  bool found = false;
  for (size_t i = 0; i < scenarios_count(); i++) {
    const struct embedded_file *file = scenarios_at(i);
    if (strncmp(file->name, word, length) == 0 && file->name[length] == '/' &&
        scenarios_runnable(file)) {
      add(finding, (struct input){.name = file->name, .embedded = file});
      found = true;
    }
  }
  return found;
}

const char *inputs_nearest(struct arena *arena, const char *word) {
  struct nearest nearest = nearest_start(word);
  for (size_t i = 0; i < scenarios_count(); i++) {
    const char *name = scenarios_at(i)->name;
    const char *dot = strrchr(name, '.');
    nearest_offer(&nearest, dot != NULL ? arena_strndup(arena, name, (size_t)(dot - name)) : name);
  }
  return nearest.word;
}

static enum status not_found(const char *word, struct arena *arena, struct error *err) {
  const char *meant = inputs_nearest(arena, word);
  if (meant != NULL) {
    return error_set(err, STATUS_NOT_FOUND,
                     "%s: no such file, and no shipped scenario of that name; did you mean '%s'?",
                     word, meant);
  }
  return error_set(err, STATUS_NOT_FOUND,
                   "%s: no such file, and no shipped scenario of that name; haul list scenarios "
                   "shows what there is",
                   word);
}

static enum status find(struct finding *finding, const char *word, struct error *err) {
  struct stat status;
  if (stat(word, &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      return add_folder(finding, word, err);
    }
    add(finding, (struct input){.name = word, .path = word});
    return STATUS_OK;
  }
  if (errno != ENOENT && errno != ENOTDIR) {
    return error_set_errno(err, errno, "cannot read %s", word);
  }
  const struct embedded_file *embedded = scenarios_find(word);
  if (embedded != NULL) {
    add(finding, (struct input){.name = embedded->name, .embedded = embedded});
    return STATUS_OK;
  }
  return add_group(finding, word) ? STATUS_OK : not_found(word, finding->arena, err);
}

enum status inputs_find(struct arena *arena, char *const *words, size_t word_count,
                        struct input_list *list, struct error *err) {
  *list = (struct input_list){0};
  struct finding finding = {.arena = arena, .list = list};
  for (size_t i = 0; i < word_count; i++) {
    enum status status = find(&finding, words[i], err);
    if (status != STATUS_OK) {
      return status;
    }
  }
  return STATUS_OK;
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
