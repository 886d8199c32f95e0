#include "schema/scenario/source.h"

#include "scenarios/scenarios.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_shipped(const char *path) {
  return strncmp(path, SCENARIOS_PREFIX, strlen(SCENARIOS_PREFIX)) == 0;
}

/* Up to SCENARIO_FILE_MAX + 1 bytes; files that are no regular ones (a pipe) do not know their size
 * beforehand. */
static enum status read_all(struct arena *arena, int file, struct source *source,
                            struct error *err) {
  char *text = NULL;
  size_t capacity = 0;
  size_t length = 0;
  for (;;) {
    if (length == capacity) {
      capacity = capacity == 0 ? 1 << 16 : capacity * 2;
      char *larger = arena_alloc(arena, capacity + 1);
      if (length > 0) {
        memcpy(larger, text, length);
      }
      text = larger;
    }
    const ssize_t got = read(file, text + length, capacity - length);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return error_set_errno(err, errno, "cannot read the file");
    }
    if (got == 0) {
      break;
    }
    length += (size_t)got;
    if (length > SCENARIO_FILE_MAX) {
      return error_set(err, STATUS_INVALID, "the file is larger than a scenario may be, 4 MiB");
    }
  }
  text[length] = '\0';
  source->text = text;
  source->length = length;
  return STATUS_OK;
}

enum status source_read(struct arena *arena, const char *path, struct source *source,
                        struct error *err) {
  source->path = arena_strdup(arena, path);
  source->text = "";
  source->length = 0;
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (file < 0) {
    return error_set_errno(err, errno, "cannot open the file");
  }
  struct stat info;
  enum status status = STATUS_OK;
  if (fstat(file, &info) != 0) {
    status = error_set_errno(err, errno, "cannot look at the file");
  } else if (S_ISDIR(info.st_mode)) {
    status = error_set(err, STATUS_INVALID, "this is a directory, not a scenario file");
  } else {
    status = read_all(arena, file, source, err);
  }
  (void)close(file);
  return status;
}

/* Without "." and "..", which cannot lead above the top. */
static char *normalise(struct arena *arena, const char *path) {
  char *out = arena_alloc(arena, strlen(path) + 1);
  size_t length = 0;
  while (*path != '\0') {
    const size_t part = strcspn(path, "/");
    if (part == 2 && strncmp(path, "..", 2) == 0) {
      while (length > 0 && out[--length] != '/') {
      }
    } else if (part > 0 && !(part == 1 && path[0] == '.')) {
      if (length > 0) {
        out[length++] = '/';
      }
      memcpy(out + length, path, part);
      length += part;
    }
    path += part + (path[part] == '/' ? 1 : 0);
  }
  out[length] = '\0';
  return out;
}

static const char *beside(struct arena *arena, const char *includer, const char *name) {
  const char *slash = strrchr(includer, '/');
  if (name[0] == '/' || slash == NULL) {
    return name;
  }
  return arena_format(arena, "%.*s/%s", (int)(slash - includer), includer, name);
}

static bool read_shipped(struct arena *arena, const char *path, struct source *source) {
  const char *name = normalise(arena, path);
  const struct embedded_file *file = name[0] == '\0' ? NULL : scenarios_find(name);
  if (file == NULL) {
    return false;
  }
  source->path = arena_format(arena, "%s%s", SCENARIOS_PREFIX, file->name);
  source->text = (const char *)file->data;
  source->length = (size_t)(file->end - file->data);
  return true;
}

enum status source_read_include(struct arena *arena, const char *includer, const char *name,
                                struct source *source, struct error *err) {
  const char *path = beside(arena, includer, name);
  if (is_shipped(includer)) {
    if (read_shipped(arena, path + strlen(SCENARIOS_PREFIX), source) ||
        read_shipped(arena, name, source)) {
      return STATUS_OK;
    }
    return error_set(err, STATUS_NOT_FOUND, "there is no shipped scenario of that name");
  }
  const enum status status = source_read(arena, path, source, err);
  if (status == STATUS_NOT_FOUND && read_shipped(arena, name, source)) {
    return STATUS_OK;
  }
  return status;
}

const char *source_identity(struct arena *arena, const char *path) {
  char *real = is_shipped(path) ? NULL : realpath(path, NULL);
  const char *identity = arena_strdup(arena, real == NULL ? path : real);
  free(real);
  return identity;
}
