/* fuzz.h - what the fuzz targets share. Each is one file with libFuzzer's entry point; fuzz_main.c
 * runs it without libFuzzer. */
#ifndef HAUL_TESTS_FUZZ_FUZZ_H
#define HAUL_TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_require(bool condition, const char *what) {
  if (!condition) {
    (void)fprintf(stderr, "fuzz: %s\n", what);
    abort();
  }
}

#endif
