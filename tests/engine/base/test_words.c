/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "engine/base/error.h"
#include "engine/base/words.h"

#define COLOUR_LIST(X) X(COLOUR_RED, "red") X(COLOUR_BLUE, "deep_blue")
WORDS_DECLARE(colour, COLOUR_LIST)
WORDS_DEFINE(colour, COLOUR_LIST)

static void every_value_has_its_text_and_back(void **state) {
  (void)state;
  assert_int_equal(colour_word_count, 2);
  assert_string_equal(colour_text(COLOUR_RED), "red");
  assert_string_equal(colour_text(COLOUR_BLUE), "deep_blue");
  assert_string_equal(colour_words[1], "deep_blue");
  assert_null(colour_words[2]);
  for (int i = 0; i < (int)status_word_count; i++) {
    enum status value = STATUS_OK;
    assert_true(status_parse(status_text((enum status)i), &value));
    assert_int_equal(value, i);
  }
}

static void what_is_outside_the_list_is_told(void **state) {
  (void)state;
  assert_string_equal(colour_text(colour_word_count), "?");
  static const char *const wrong[] = {"", "Red", "red ", "re", "reds", "?"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    enum colour value = COLOUR_BLUE;
    assert_false(colour_parse(wrong[i], &value));
    assert_int_equal(value, COLOUR_BLUE);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_value_has_its_text_and_back),
      cmocka_unit_test(what_is_outside_the_list_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
