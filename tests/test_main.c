/* test_main.c - runs the tests of a program that TEST() defined, and what tests share. */
#include "engine/base/order.h"
#include "tests/cmocka.h"

#include <ftw.h>
#include <sys/stat.h>

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

struct bytes bytes_read(const char *path) {
  struct bytes bytes = {0};
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    fail_msg("cannot read %s", path);
  }
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  bytes.size = (size_t)ftell(file);
  rewind(file);
  bytes.data = memory_new(1, bytes.size + 1);
  assert_int_equal(fread(bytes.data, 1, bytes.size, file), bytes.size);
  (void)fclose(file);
  return bytes;
}

void bytes_fini(struct bytes *bytes) {
  free(bytes->data);
}

void bytes_write(const char *path, struct bytes bytes) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
  assert_int_equal(fclose(file), 0);
}

void assert_bytes_equal(struct bytes a, struct bytes b) {
  assert_int_equal(a.size, b.size);
  assert_memory_equal(a.data, b.data, a.size);
}

void write_text(const char *path, const char *text) {
  bytes_write(path, (struct bytes){(char *)text, strlen(text)});
}

void folder_make(char path[FOLDER_PATH_MAX]) {
  (void)snprintf(path, FOLDER_PATH_MAX, "/tmp/haul-test-XXXXXX");
  assert_non_null(mkdtemp(path));
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk) {
  return remove(path);
}

void folder_remove(const char *path) {
  assert_int_equal(nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
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
