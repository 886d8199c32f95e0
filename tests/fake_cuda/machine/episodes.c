#include "tests/fake_cuda/machine/episodes.h"

#include "engine/base/text_index.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 32, LINE_MAX_BYTES = 1024 };

void episodes_add(struct fake_disturbance *disturbance, double end_ns, double factor) {
  struct fake_episode *longer =
      reallocarray(disturbance->episodes, disturbance->count + 1, sizeof *longer);
  if (longer == NULL) {
    abort();
  }
  longer[disturbance->count++] = (struct fake_episode){end_ns, factor};
  disturbance->episodes = longer;
}

void episodes_fini(struct fake_disturbance *disturbance) {
  free(disturbance->episodes);
  disturbance->episodes = NULL;
  disturbance->count = 0;
}

double episodes_factor(const struct fake_disturbance *disturbance, double now_ns) {
  const double at_ns = disturbance->period_ns > 0 ? fmod(now_ns, disturbance->period_ns) : 0;
  size_t low = 0;
  size_t high = disturbance->count;
  while (low < high) { /* the first that ends later */
    const size_t middle = low + (high - low) / 2;
    if (disturbance->episodes[middle].end_ns <= at_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return disturbance->period_ns > 0 && low < disturbance->count ? disturbance->episodes[low].factor
                                                                : 1;
}

/* A trial that was read, and the case that it is of. */
struct trial {
  size_t number; /* in the file's order */
  size_t case_number;
  double ns;
};

static int episodes_compare(const void *a, const void *b) {
  const struct trial *x = a;
  const struct trial *y = b;
  const int cases = (x->case_number > y->case_number) - (x->case_number < y->case_number);
  return cases != 0 ? cases : (x->ns > y->ns) - (x->ns < y->ns);
}

/* Trials of another case may have another size: each is as slow as it is beside those of its own.
 */
static void episodes_relate(struct trial *trials, struct fake_disturbance *disturbance) {
  const size_t count = disturbance->count;
  qsort(trials, count, sizeof *trials, episodes_compare);
  for (size_t begin = 0, end = 0; begin < count; begin = end) {
    while (end < count && trials[end].case_number == trials[begin].case_number) {
      end++;
    }
    const double quiet_ns = trials[begin + (end - begin) / 20].ns;
    for (size_t i = begin; i < end; i++) {
      disturbance->episodes[trials[i].number].factor = quiet_ns / trials[i].ns;
    }
  }
}

enum column { CASE_NAME, PHASE, ITERATIONS, ELAPSED, COLUMNS };

/* Which cell of a line is which; CELLS_MAX: there is none. */
static void episodes_read_head(char *line, size_t places[COLUMNS]) {
  static const char *const NAMES[COLUMNS] = {"case_name", "phase", "iterations", "elapsed_ns"};
  size_t place = 0;
  for (size_t i = 0; i < COLUMNS; i++) {
    places[i] = CELLS_MAX;
  }
  for (char *cell = strsep(&line, ",\r\n"); cell != NULL; cell = strsep(&line, ",\r\n"), place++) {
    for (size_t i = 0; i < COLUMNS && place < CELLS_MAX; i++) {
      places[i] = strcmp(cell, NAMES[i]) == 0 ? place : places[i];
    }
  }
}

enum status episodes_read(const char *path, const char *cases, struct fake_disturbance *disturbance,
                          struct error *err) {
  FILE *file = fopen(path, "re");
  char line[LINE_MAX_BYTES];
  size_t places[COLUMNS];
  if (file == NULL) {
    return error_set_errno(err, errno, "%s", path);
  }
  if (fgets(line, sizeof line, file) != NULL) {
    episodes_read_head(line, places);
  }
  struct arena arena = {NULL};
  struct text_index names = {.arena = &arena};
  struct trial *trials = NULL;
  while (fgets(line, sizeof line, file) != NULL) {
    const char *cells[CELLS_MAX + 1] = {NULL};
    char *rest = line;
    for (size_t i = 0; i < CELLS_MAX && rest != NULL; i++) {
      cells[i] = strsep(&rest, ",\r\n");
    }
    const char *phase = cells[places[PHASE]];
    const char *name = cells[places[CASE_NAME]];
    if (name == NULL || fnmatch(cases, name, 0) != 0 || cells[places[ITERATIONS]] == NULL ||
        cells[places[ELAPSED]] == NULL || (phase != NULL && strcmp(phase, "warmup") == 0)) {
      continue;
    }
    const double elapsed_ns = strtod(cells[places[ELAPSED]], NULL);
    const double iterations = strtod(cells[places[ITERATIONS]], NULL);
    if (elapsed_ns > 0 && iterations > 0) {
      const size_t count = disturbance->count;
      trials = reallocarray(trials, count + 1, sizeof *trials);
      if (trials == NULL) {
        abort();
      }
      trials[count] = (struct trial){count, text_index_number(&names, arena_strdup(&arena, name)),
                                     elapsed_ns / iterations};
      disturbance->period_ns += elapsed_ns;
      episodes_add(disturbance, disturbance->period_ns, 1);
    }
  }
  (void)fclose(file);
  arena_fini(&arena);
  if (disturbance->count == 0) {
    return error_set(err, STATUS_INVALID, "%s has no trials of %s", path, cases);
  }
  episodes_relate(trials, disturbance);
  free(trials);
  return STATUS_OK;
}
