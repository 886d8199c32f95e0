#include "scenarios/scenarios.h"

#include <string.h>

/* Made by haul_embed(). */
extern const struct embedded_file scenarios_embedded[];
extern const size_t scenarios_embedded_count;

const struct embedded_file *scenarios_find(const char *name) {
  const size_t prefix = strlen(SCENARIOS_PREFIX);
  const char *wanted = strncmp(name, SCENARIOS_PREFIX, prefix) == 0 ? name + prefix : name;
  const size_t length = strlen(wanted);
  for (size_t i = 0; i < scenarios_embedded_count; i++) {
    const char *found = scenarios_embedded[i].name;
    if (strncmp(found, wanted, length) == 0 &&
        (found[length] == '\0' || strcmp(found + length, ".toml") == 0)) {
      return &scenarios_embedded[i];
    }
  }
  return NULL;
}

size_t scenarios_count(void) {
  return scenarios_embedded_count;
}

const struct embedded_file *scenarios_at(size_t i) {
  return &scenarios_embedded[i];
}

bool scenarios_runnable(const struct embedded_file *file) {
  return strncmp(file->name, "common/", strlen("common/")) != 0;
}
