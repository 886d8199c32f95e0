/* test_main.c - runs the tests of a program that TEST() defined, and what tests share. */
#include "engine/base/order.h"
#include "tests/cmocka.h"

/* The linker's names of both ends of the section. */
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern const struct test *__start_haul_tests[], *__stop_haul_tests[];

/* Unless the program has them. */
const struct test_group test_group __attribute__((weak)) = {NULL, NULL};
__attribute__((weak)) int test_options(int argc, char **argv) {
  return TEST_GO_ON;
}

void test_assert_fails(enum status status, enum status expected, const struct error *err,
                       const char *words, const char *file, int line) {
  if (status != expected || strstr(err->message, words) == NULL) {
    print_error("status %s, not %s with '%s': %s\n", status_text(status), status_text(expected),
                words, status != STATUS_OK ? err->message : "");
    _fail(file, line);
  }
}

void test_assert_contains(const char *text, const char *part, const char *file, int line) {
  if (text == NULL || strstr(text, part) == NULL) {
    print_error("no '%s' in: %.4000s\n", part, text != NULL ? text : "NULL");
    _fail(file, line);
  }
}

void capture_init(struct capture *capture) {
  *capture = (struct capture){0};
  capture->stream = open_memstream(&capture->text, &capture->size);
  assert_non_null(capture->stream);
}

char *capture_text(struct capture *capture) {
  if (capture->stream != NULL) {
    assert_int_equal(fclose(capture->stream), 0);
    capture->stream = NULL;
  }
  return capture->text;
}

char *capture_take(struct capture *capture) {
  (void)capture_text(capture);
  char *text = capture->text;
  capture->text = NULL;
  return text;
}

void capture_fini(struct capture *capture) {
  (void)capture_text(capture);
  free(capture->text);
}

ORDER_DEFINE(test_compare, struct test *const, ORDER((*x)->line, (*y)->line))

int main(int argc, char **argv) {
  const int code = test_options(argc, argv);
  if (code != TEST_GO_ON) {
    return code;
  }
  const size_t count = (size_t)(__stop_haul_tests - __start_haul_tests);
  SCOPED(memory_free) struct CMUnitTest *tests = memory_new(count, sizeof *tests);
  ORDER_SORT(__start_haul_tests, count, test_compare);
  for (size_t i = 0; i < count; i++) {
    tests[i] = __start_haul_tests[i]->test;
  }
  return _cmocka_run_group_tests("tests", tests, count, test_group.set_up, test_group.tear_down);
}
