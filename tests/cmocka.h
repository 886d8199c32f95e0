/* cmocka.h - cmocka, the headers that it expects to be included before it, in their order, those
 * that most tests need, and tests that need no list: tests/test_main.c runs those of a program in
 * the order of their lines.
 *
 *   TEST(half_a_megabyte_is_a_size) {
 *     assert_int_equal(...);
 *   }
 *   TEST(sizes_add_up, struct pool *pool) {
 *     assert_ok(pool_take(pool, err), err);
 *   }
 *
 * The parameter after the name is what set_up left as cmocka's state. Each test has an err, which
 * is zero. */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/macros.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* set_up and tear_down stand before it; either may be NULL. */
#define TEST_WITH(name, set_up, tear_down, ...)                                                    \
  static void name(__attribute__((unused)) struct error *err __VA_OPT__(, ) __VA_ARGS__);          \
  static void name##_run(__attribute__((unused)) void **state) {                                   \
    name(&(struct error){0} __VA_OPT__(, *state));                                                 \
  }                                                                                                \
  static const struct test name##_test = {{#name, name##_run, set_up, tear_down, NULL}, __LINE__}; \
  static const struct test *name##_entry __attribute__((used, section("haul_tests"))) =            \
      &name##_test;                                                                                \
  static void name(__attribute__((unused)) struct error *err __VA_OPT__(, ) __VA_ARGS__)
#define TEST(name, ...) TEST_WITH(name, NULL, NULL __VA_OPT__(, ) __VA_ARGS__)
struct test {
  struct CMUnitTest test;
  int line;
};

/* What is done before the first and after the last test of a program; either may be NULL. */
#define TEST_GROUP(set_up, tear_down) const struct test_group test_group = {set_up, tear_down}
extern const struct test_group { CMFixtureFunction set_up, tear_down; } test_group;

/* What a program does with its command line before its tests: the code that it ends with, or
 * TEST_GO_ON. */
int test_options(int argc, char **argv);
enum { TEST_GO_ON = -1 };

/* Defines NAME_at(), by which SCOPED() frees a pointer at the end of its scope:
 *   RELEASE(plan_free, struct plan)
 *   SCOPED(plan_free_at) struct plan *plan = plan_of(TEXT); */
#define RELEASE(name, type)                                                                        \
  __attribute__((unused)) static inline void name##_at(type **variable) {                          \
    name(*variable);                                                                               \
  }

/* Declares char name[size] with what printf() would print of the rest. */
#define PRINTED(name, size, ...)                                                                   \
  char name[size];                                                                                 \
  (void)snprintf(name, sizeof name, __VA_ARGS__)

/* How many rounds a simulation has: with AddressSanitizer, which takes ten times as long, fewer. */
#ifdef __SANITIZE_ADDRESS__
#define ROUNDS(many, sanitized) (sanitized)
#else
#define ROUNDS(many, sanitized) (many)
#endif

/* The status of a call; err holds the message where that is not STATUS_OK. */
#define assert_ok(status, err)                                                                     \
  do {                                                                                             \
    if ((status) != STATUS_OK) {                                                                   \
      fail_msg("%s", (err)->message);                                                              \
    }                                                                                              \
  } while (0)

/* The call fails with that status, and its message has these words. */
#define assert_fails(status, expected, err, words)                                                 \
  test_assert_fails(status, expected, err, words, __FILE__, __LINE__)
void test_assert_fails(enum status status, enum status expected, const struct error *err,
                       const char *words, const char *file, int line);

#define assert_contains(text, part) test_assert_contains(text, part, __FILE__, __LINE__)
void test_assert_contains(const char *text, const char *part, const char *file, int line);

/* The content of a file, and a 0 behind it. */
struct bytes {
  char *data;
  size_t size;
};
struct bytes bytes_read(const char *path);
void bytes_fini(struct bytes *bytes);
void bytes_write(const char *path, struct bytes bytes);
void assert_bytes_equal(struct bytes a, struct bytes b);
void write_text(const char *path, const char *text);

/* A folder of its own, empty; and away with it and all that is in it. */
enum { FOLDER_PATH_MAX = 32 };
void folder_make(char path[FOLDER_PATH_MAX]);
void folder_remove(const char *path);
/* Fails if there is anything but files of these names, of which some may be missing; NULL ends
 * them. */
void folder_remove_only(const char *path, const char *const *names);

/* Declares a stream, name.stream, whose text is freed at the end of the scope:
 *   CAPTURE(out);
 *   machine_file_save(out.stream, machine, err);
 *   assert_string_equal(capture_text(&out), "..."); */
#define CAPTURE(name)                                                                              \
  SCOPED(capture_fini) struct capture name;                                                        \
  capture_init(&name)
struct capture {
  FILE *stream;
  char *text;
  size_t size;
};
void capture_init(struct capture *capture);
/* What was printed; the stream is closed then. */
char *capture_text(struct capture *capture);
/* The same, for the caller to free. */
char *capture_take(struct capture *capture);
void capture_fini(struct capture *capture);

/* Ends the test as skipped where an emulator runs it (cmake/aarch64.cmake); why says what that
 * cannot do. */
#define SKIP_EMULATED(why)                                                                         \
  do {                                                                                             \
    if (getenv("HAUL_EMULATED") != NULL) {                                                         \
      print_message("skipped: an emulator %s\n", why);                                             \
      skip();                                                                                      \
    }                                                                                              \
  } while (0)
