/* measured_facts.c - facts of runs and their environments, by name. */
#include "runner/record/measured.h"

#include <stdlib.h>
#include <string.h>

static const char *const RUN_FACTS[] = {"tag", "scenario", "haul_version", "origin"};
enum { RUN_FACT_COUNT = sizeof RUN_FACTS / sizeof *RUN_FACTS };

/* False: it is no fact of the run itself. */
static bool own_fact(const struct measured_run *run, const char *name, const char **value) {
  const char *const values[RUN_FACT_COUNT] = {run->tag, run->scenario, run->haul_version,
                                              run->origin};
  for (size_t i = 0; i < RUN_FACT_COUNT; i++) {
    if (strcmp(name, RUN_FACTS[i]) == 0) {
      *value = values[i];
      return true;
    }
  }
  return false;
}

const char *measured_run_fact(struct measured *measured, size_t run, const char *name) {
  const char *value = NULL;
  if (own_fact(&measured->runs[run], name, &value)) {
    return value;
  }
  const struct measured_environment *environment =
      &measured->environments[measured->runs[run].environment];
  for (size_t i = 0; i < environment->fact_count; i++) {
    const struct measured_fact *fact = &environment->facts[i];
    if (strcmp(fact->name, name) != 0 || fact->value == NULL) {
      continue;
    }
    if (fact->gpu < 0) {
      return fact->value;
    }
    bool known = false;
    for (size_t j = 0; j < i && !known; j++) {
      const struct measured_fact *other = &environment->facts[j];
      known = other->value != NULL && strcmp(other->name, name) == 0 &&
              strcmp(other->value, fact->value) == 0;
    }
    if (value == NULL) {
      value = fact->value;
    } else if (!known) {
      value = arena_format(&measured->arena, "%s, %s", value, fact->value);
    }
  }
  return value;
}

bool measured_knows_fact(const struct measured *measured, const char *name) {
  for (size_t i = 0; i < RUN_FACT_COUNT; i++) {
    if (strcmp(name, RUN_FACTS[i]) == 0) {
      return true;
    }
  }
  for (size_t e = 0; e < measured->environment_count; e++) {
    for (size_t i = 0; i < measured->environments[e].fact_count; i++) {
      if (strcmp(measured->environments[e].facts[i].name, name) == 0) {
        return true;
      }
    }
  }
  return false;
}

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *const *measured_fact_names(struct measured *measured) {
  size_t count = 0;
  size_t capacity = 0;
  const char **names = NULL;
  for (size_t e = 0; e < measured->environment_count; e++) {
    for (size_t i = 0; i < measured->environments[e].fact_count; i++) {
      names = arena_grow(&measured->arena, names, count, &capacity, sizeof *names);
      names[count++] = measured->environments[e].facts[i].name;
    }
  }
  for (size_t i = 0; i < RUN_FACT_COUNT; i++) {
    names = arena_grow(&measured->arena, names, count, &capacity, sizeof *names);
    names[count++] = RUN_FACTS[i];
  }
  qsort(names, count, sizeof *names, compare_texts); /* the run's own are always there */
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0) {
      names[kept++] = names[i];
    }
  }
  names = arena_grow(&measured->arena, names, kept, &capacity, sizeof *names);
  names[kept] = NULL;
  return names;
}
