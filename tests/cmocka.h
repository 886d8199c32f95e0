/* cmocka.h - cmocka and the headers that it expects to be included before it, in their order. */
#pragma once

#include "engine/base/macros.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdlib.h>

/* Ends the test as skipped where an emulator runs it (cmake/aarch64.cmake); why says what that
 * cannot do. */
#define SKIP_EMULATED(why)                                                                         \
  do {                                                                                             \
    if (getenv("HAUL_EMULATED") != NULL) {                                                         \
      print_message("skipped: an emulator %s\n", why);                                             \
      skip();                                                                                      \
    }                                                                                              \
  } while (0)
