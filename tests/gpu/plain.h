/* plain.h - what the plain programs of this folder share: the driver's functions, loaded by name, a
 * clock and an order. Each program includes it once; it has no source file, so that one call of gcc
 * builds a program. */
#pragma once

#include "engine/cuda/driver_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DECLARE_(name, version, need, arguments) static name##_function name;
CUDA_FUNCTION_LIST(DECLARE_)

static void plain_check(CUresult result, const char *what) {
  if (result != CUDA_SUCCESS) {
    fprintf(stderr, "%s: error %d\n", what, result);
    exit(1);
  }
}
#define CHECK(call) plain_check(call, #call)

/* Loads and starts the driver; exits with 77 where there is none. */
static void plain_load(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  cuGetProcAddress_v2_function get = NULL;
  if (library == NULL ||
      (get = (cuGetProcAddress_v2_function)dlsym(library, "cuGetProcAddress_v2")) == NULL) {
    fprintf(stderr, "no driver\n");
    exit(77);
  }
#define LOAD_(name, version, need, arguments)                                                      \
  get(#name, (void **)&name, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, NULL);
  CUDA_FUNCTION_LIST(LOAD_)
  CHECK(cuInit(0));
}

/* ns */
static double plain_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* For qsort(): ascending doubles. */
static int plain_order(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}
