#include "tests/fake_cuda/machine/episodes.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 32, LINE_MAX_BYTES = 1024 };

void episodes_add(struct fake_noise *noise, double end_ns, double factor) {
  struct fake_episode *longer = reallocarray(noise->episodes, noise->count + 1, sizeof *longer);
  if (longer == NULL) {
    abort();
  }
  longer[noise->count++] = (struct fake_episode){end_ns, factor};
  noise->episodes = longer;
}

void episodes_fini(struct fake_noise *noise) {
  free(noise->episodes);
  noise->episodes = NULL;
  noise->count = 0;
}

double episodes_factor(const struct fake_noise *noise, double now_ns) {
  const double at_ns = noise->period_ns > 0 ? fmod(now_ns, noise->period_ns) : 0;
  size_t low = 0;
  size_t high = noise->count;
  while (low < high) { /* the first that ends later */
    const size_t middle = low + (high - low) / 2;
    if (noise->episodes[middle].end_ns <= at_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return noise->period_ns > 0 && low < noise->count ? noise->episodes[low].factor : 1;
}

static int episodes_compare(const void *a, const void *b) {
  const double x = ((const struct fake_episode *)a)->factor;
  const double y = ((const struct fake_episode *)b)->factor;
  return (x > y) - (x < y);
}

/* Of the times that the factors still are. */
static double episodes_quiet(const struct fake_episode *episodes, size_t count) {
  struct fake_episode *sorted = calloc(count, sizeof *sorted);
  if (sorted == NULL) {
    abort();
  }
  memcpy(sorted, episodes, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, episodes_compare);
  const double quiet = sorted[count / 20].factor;
  free(sorted);
  return quiet;
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

enum status episodes_read(const char *path, const char *cases, struct fake_noise *noise,
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
      noise->period_ns += elapsed_ns;
      episodes_add(noise, noise->period_ns, elapsed_ns / iterations);
    }
  }
  (void)fclose(file);
  if (noise->count == 0) {
    return error_set(err, STATUS_INVALID, "%s has no trials of %s", path, cases);
  }
  const double quiet = episodes_quiet(noise->episodes, noise->count);
  for (size_t i = 0; i < noise->count; i++) {
    noise->episodes[i].factor /= quiet;
  }
  return STATUS_OK;
}
