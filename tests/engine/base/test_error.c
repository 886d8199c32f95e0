#include "tests/cmocka.h"

#include <errno.h>

TEST(an_error_holds_what_was_said) {
  memset(err, 0xFF, sizeof *err);
  assert_int_equal(error_set(err, STATUS_INVALID, "line %d is wrong", 3), STATUS_INVALID);
  assert_int_equal(err->status, STATUS_INVALID);
  assert_int_equal(err->native_code, 0);
  assert_null(err->position.file);
  assert_int_equal(err->position.line, 0);
  assert_string_equal(err->message, "line 3 is wrong");
  assert_int_equal(error_set_native(err, STATUS_CUDA, 700, "launch"), STATUS_CUDA);
  assert_int_equal(err->native_code, 700);
}

TEST(errno_values_become_their_status) {
  static const struct {
    int errno_value;
    enum status status;
  } table[] = {
      {EACCES, STATUS_DENIED},    {EPERM, STATUS_DENIED}, {ENOENT, STATUS_NOT_FOUND},
      {ENOMEM, STATUS_NO_MEMORY}, {EIO, STATUS_IO},       {ENOSPC, STATUS_IO},
  };
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    assert_int_equal(error_set_errno(err, table[i].errno_value, "opening %s", "x"),
                     table[i].status);
    assert_int_equal(err->native_code, table[i].errno_value);
    assert_true(strncmp(err->message, "opening x: ", 11) == 0);
    assert_string_equal(err->message + 11, strerror(table[i].errno_value));
  }
}

TEST(context_goes_in_front) {
  (void)error_set_native(err, STATUS_IO, 5, "cannot read");
  assert_int_equal(error_prefix(err, "case %s: ", "a/b"), STATUS_IO);
  assert_string_equal(err->message, "case a/b: cannot read");
  assert_int_equal(err->native_code, 5);
}

TEST(message_too_long_is_cut) {
  char text[2 * ERROR_MESSAGE_MAX];
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = '\0';
  (void)error_set(err, STATUS_IO, "%s", text);
  assert_int_equal(strlen(err->message), ERROR_MESSAGE_MAX - 1);
  (void)error_prefix(err, "front: ");
  assert_int_equal(strlen(err->message), ERROR_MESSAGE_MAX - 1);
  assert_true(strncmp(err->message, "front: xxx", 10) == 0);
  (void)error_prefix(err, "%s", text);
  assert_int_equal(strlen(err->message), ERROR_MESSAGE_MAX - 1);
  (void)error_set_errno(err, EIO, "%s", text);
  assert_int_equal(strlen(err->message), ERROR_MESSAGE_MAX - 1);
}

TEST(error_null_is_accepted) {
  assert_int_equal(error_set(NULL, STATUS_USAGE, "x"), STATUS_USAGE);
  assert_int_equal(error_set_errno(NULL, ENOENT, "x"), STATUS_NOT_FOUND);
  assert_int_equal(error_prefix(NULL, "x"), STATUS_IO);
}
