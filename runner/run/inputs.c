#include "runner/run/inputs.h"

#include "engine/base/input_file.h"
#include "engine/base/strings.h"
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
  size_t count;
  size_t left_out; /* files of folders that measure nothing by themselves */
  const char *first_left_out;
};

static void input_add(struct input_list *list, struct input input) {
  *ARENA_ADD(list->arena, list->items, list->count) = input;
}

/* Files while a folder is walked. */
struct folder_walk {
  struct arena *arena;
  const char *suffix;
  bool below; /* in the folders of the folder, too */
  const char **files;
  size_t count;
};

static bool folder_has_suffix(const char *name, const char *suffix) {
  const char *dot = strrchr(name, '.');
  return dot != NULL && strcmp(dot, suffix) == 0;
}

/* Links to folders are not followed: they may lead back. */
static bool folder_is_below(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The files of a folder, then those of each folder in it. */
static enum status folder_walk(struct folder_walk *walk, const char *path, struct error *err) {
  struct dirent **entries = NULL;
  const int entry_count = scandir(path, &entries, NULL, alphasort);
  if (entry_count < 0) {
    return error_set_errno(err, errno, "cannot read the folder %s", path);
  }
  const size_t length = strlen(path);
  const char *slash = length > 0 && path[length - 1] == '/' ? "" : "/";
  const char **below = arena_array(walk->arena, (size_t)entry_count, sizeof *below);
  size_t below_count = 0;
  for (int i = 0; i < entry_count; i++) {
    const char *name = entries[i]->d_name;
    const char *file = arena_format(walk->arena, "%s%s%s", path, slash, name);
    const bool hidden = name[0] == '.';
    free(entries[i]);
    if (!hidden && folder_is_below(file)) {
      below[below_count] = file;
      below_count += walk->below ? 1 : 0;
    } else if (!hidden && folder_has_suffix(file, walk->suffix)) {
      *ARENA_ADD(walk->arena, walk->files, walk->count) = file;
    }
  }
  free(entries);
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < below_count; i++) {
    status = folder_walk(walk, below[i], err);
  }
  return status;
}

enum status input_find_files(const char *path, const char *suffix, const char *what, bool below,
                             struct arena *arena, const char ***files, size_t *count,
                             struct error *err) {
  struct folder_walk walk = {.arena = arena, .suffix = suffix, .below = below};
  RETURN_ON_ERROR(folder_walk(&walk, path, err));
  *files = walk.files;
  *count = walk.count;
  return *count > 0 ? STATUS_OK
                    : error_set(err, STATUS_NOT_FOUND, "no %s (*%s) in the folder %s%s", what,
                                suffix, path, below ? " or below it" : "");
}

/* Whether a line of the file begins a block, rightly ("[[stream]]") or not ("[stream]"). What
 * cannot be read is taken for a scenario: reading it says why. */
static bool input_has_block(const char *path) {
  int fd = -1;
  FILE *file = input_file_open(path, false, &fd, NULL) == STATUS_OK ? fdopen(fd, "r") : NULL;
  SCOPED(memory_free) char *line = NULL;
  size_t capacity = 0;
  bool found = file == NULL;
  while (!found && getline(&line, &capacity, file) >= 0) {
    const char *at = line + strspn(line, " \t");
    found = strncmp(at, "[[", 2) == 0;
    for (unsigned kind = 0; !found && at[0] == '[' && kind < case_kind_name_count; kind++) {
      found = strncmp(at + 1, case_kind_text(kind), strlen(case_kind_text(kind))) == 0;
    }
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return found;
}

/* Files without a block are there for others to include. */
static enum status input_add_folder(struct input_list *list, const char *path, struct error *err) {
  const char **files = NULL;
  size_t count = 0;
  const size_t before = list->count;
  RETURN_ON_ERROR(
      input_find_files(path, ".toml", "scenario", true, list->arena, &files, &count, err));
  for (size_t i = 0; i < count; i++) {
    if (input_has_block(files[i])) {
      input_add(list, (struct input){.name = files[i], .path = files[i]});
    } else {
      list->first_left_out = list->left_out++ == 0 ? files[i] : list->first_left_out;
    }
  }
  return list->count > before
             ? STATUS_OK
             : error_set(err, STATUS_NOT_FOUND,
                         "no scenario in the folder %s or below it: no block to "
                         "measure in %s%s",
                         path, files[0],
                         count == 1
                             ? ""
                             : arena_format(list->arena, " and %zu more *.toml %s", count - 1,
                                            strings_plural(count - 1, "file", "files")));
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
  const char *hint = nearest_hint(word);
  if (hint != NULL) {
    return error_set(err, STATUS_NOT_FOUND, "%s is not a scenario: %s; haul copy makes one", word,
                     hint);
  }
  if (meant != NULL) {
    return error_set(err, STATUS_NOT_FOUND,
                     "%s: no such file and no shipped scenario of that name; did you mean \"%s\"?",
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

static enum status input_add_stdin(struct input_list *list, struct error *err) {
  struct input input = {.name = "standard input", .path = "<stdin>"};
  RETURN_ON_ERROR(read_stdin("a scenario", SCENARIO_FILE_MAX, list->arena, &input.text, err));
  input_add(list, input);
  return STATUS_OK;
}

/* A shipped name without ".toml" is the shipped scenario even beside a file that is called so, such
 * as the program nvbandwidth; "./NAME" is the file. */
static enum status input_find(struct input_list *list, const char *word, struct error *err) {
  struct stat status;
  const char *dot = strrchr(word, '.');
  if ((dot == NULL || strcmp(dot, ".toml") != 0) && input_add_shipped(list, word)) {
    return STATUS_OK;
  }
  if (strcmp(word, "-") == 0) {
    return input_add_stdin(list, err);
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
  if (input->text != NULL) {
    return scenario_parse(input->text, strlen(input->text), input->path, overrides, override_count,
                          scenario, diagnostics);
  }
  if (input->embedded == NULL) {
    return scenario_load(input->path, overrides, override_count, scenario, diagnostics);
  }
  char path[SCENARIO_NAME_MAX * 2];
  snprintf(path, sizeof path, SCENARIOS_PREFIX "%s", input->embedded->name);
  const struct embedded_file *file = input->embedded;
  return scenario_parse((const char *)file->data, (size_t)(file->end - file->data), path, overrides,
                        override_count, scenario, diagnostics);
}

/* ---- all of them ---- */

int inputs_read(const struct common_options *common, const char *const *words, size_t word_count,
                struct inputs *inputs) {
  struct error err = {0};
  struct input_list list = {.arena = &inputs->arena};
  if (inputs->text != NULL) {
    input_add(&list,
              (struct input){.name = "copy", .path = "haul copy --print", .text = inputs->text});
  }
  for (size_t i = 0; i < word_count; i++) {
    if (input_find(&list, words[i], &err) != STATUS_OK) {
      return fail(common, &err);
    }
  }
  if (list.left_out > 0) {
    const size_t more = list.left_out - 1;
    say_note(common, "%s%s left out: no block to measure in %s", list.first_left_out,
             more == 0 ? " is"
                       : arena_format(&inputs->arena, " and %zu more *.toml %s are", more,
                                      strings_plural(more, "file", "files")),
             more == 0 ? "it" : "them");
  }
  inputs->items = list.items;
  inputs->count = list.count;
  inputs->scenarios = arena_array(&inputs->arena, inputs->count, sizeof(struct scenario *));
  struct diagnostics *diagnostics = diagnostics_new();
  bool valid = true;
  for (size_t i = 0; i < inputs->count; i++) {
    valid &= input_read(&inputs->items[i], inputs->overrides, inputs->override_count,
                        &inputs->scenarios[i], diagnostics) == STATUS_OK;
  }
  diagnostics_name_places(diagnostics, inputs->text_places, inputs->text_place_count);
  say_mistakes(common, diagnostics);
  diagnostics_free(diagnostics);
  return valid ? EXIT_DONE : EXIT_USAGE;
}

void inputs_fini(struct inputs *inputs) {
  for (size_t i = 0; inputs->scenarios != NULL && i < inputs->count; i++) {
    scenario_free(inputs->scenarios[i]);
  }
  arena_fini(&inputs->arena);
}
