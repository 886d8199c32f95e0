/* bench.h - what benchmarks share: a clock, and a file as text. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static inline double bench_clock_s(clockid_t clock) {
  struct timespec now;
  (void)clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double bench_now_s(void) {
  return bench_clock_s(CLOCK_MONOTONIC_RAW);
}

/* For the caller to free(); ends the program where it cannot be read. */
static inline char *bench_read_file(const char *path) {
  struct stat info;
  FILE *file = fopen(path, "r");
  if (file == NULL || fstat(fileno(file), &info) != 0) {
    perror(path);
    exit(2);
  }
  char *text = calloc(1, (size_t)info.st_size + 1);
  if (text == NULL || fread(text, 1, (size_t)info.st_size, file) != (size_t)info.st_size) {
    perror(path);
    exit(2);
  }
  (void)fclose(file);
  return text;
}
