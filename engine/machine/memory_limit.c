#include "engine/machine/memory_limit.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MEMORY_PATH_MAX = 1024 };

/* The files of a version, and the folder below which its groups are. */
struct group_files {
  const char *folder, *limit, *usage, *inactive; /* inactive: a line of memory.stat */
};
static const struct group_files VERSION_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                             "memory.usage_in_bytes", "total_inactive_file "};
static const struct group_files VERSION_2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                             "inactive_file "};

static FILE *memory_open(const char *root, const struct group_files *files, const char *group,
                         const char *name) {
  char path[3 * MEMORY_PATH_MAX];
  (void)snprintf(path, sizeof path, "%s%s%s/%s", root, files->folder, group, name);
  return fopen(path, "re");
}

static bool memory_read(const char *root, const struct group_files *files, const char *group,
                        const char *name, uint64_t *value) {
  FILE *file = memory_open(root, files, group, name);
  const bool read = file != NULL && fscanf(file, "%" SCNu64, value) == 1; /* not "max" */
  if (file != NULL) {
    (void)fclose(file);
  }
  return read;
}

static uint64_t memory_read_inactive(const char *root, const struct group_files *files,
                                     const char *group) {
  char line[256];
  uint64_t bytes = 0;
  FILE *file = memory_open(root, files, group, "memory.stat");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, files->inactive, strlen(files->inactive)) == 0) {
      (void)sscanf(line + strlen(files->inactive), "%" SCNu64, &bytes);
    }
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return bytes;
}

static uint64_t memory_left_of_group(const char *root, const struct group_files *files,
                                     const char *group) {
  uint64_t limit = 0;
  uint64_t usage = 0;
  if (!memory_read(root, files, group, files->limit, &limit) ||
      !memory_read(root, files, group, files->usage, &usage)) {
    return UINT64_MAX;
  }
  const uint64_t inactive = memory_read_inactive(root, files, group);
  usage -= inactive < usage ? inactive : usage;
  return limit > usage ? limit - usage : 0;
}

/* Of the group and all above it. In a container the path may be the host's: what is not there says
 * nothing. */
static uint64_t memory_left_of_path(const char *root, const struct group_files *files,
                                    char *group) {
  uint64_t least = UINT64_MAX;
  for (char *end = group + strlen(group);; end = strrchr(group, '/')) {
    if (end == NULL) {
      break;
    }
    *end = '\0';
    const uint64_t left = memory_left_of_group(root, files, group);
    least = left < least ? left : least;
    if (group[0] == '\0') {
      break;
    }
  }
  return least;
}

uint64_t memory_limit_left(const char *root) {
  char path[MEMORY_PATH_MAX];
  char line[MEMORY_PATH_MAX];
  uint64_t least = UINT64_MAX;
  (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  FILE *file = fopen(path, "re");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL) {
      continue;
    }
    *group++ = '\0';
    controllers++;
    const bool version_2 = controllers[0] == '\0';
    if (version_2 || strstr(controllers, "memory") != NULL) {
      const uint64_t left = memory_left_of_path(root, version_2 ? &VERSION_2 : &VERSION_1, group);
      least = left < least ? left : least;
    }
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return least;
}
