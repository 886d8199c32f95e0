/* cmocka.h - cmocka and the headers that it expects to be included before it, in their order. */
#ifndef HAUL_TESTS_CMOCKA_H
#define HAUL_TESTS_CMOCKA_H

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#endif
