#include "engine/base/enum_names.h"
#include "tests/cmocka.h"

#define COLOUR_LIST(X) X(COLOUR_RED, "red") X(COLOUR_BLUE, "deep_blue")
ENUM_NAMES_DECLARE(colour, COLOUR_LIST)
ENUM_NAMES_DEFINE(colour, COLOUR_LIST)

TEST(every_value_has_its_text_and_back) {
  assert_int_equal(colour_name_count, 2);
  assert_string_equal(colour_text(COLOUR_RED), "red");
  assert_string_equal(colour_text(COLOUR_BLUE), "deep_blue");
  assert_string_equal(colour_names[1], "deep_blue");
  assert_null(colour_names[2]);
  for (int i = 0; i < (int)status_name_count; i++) {
    enum status value = STATUS_OK;
    assert_true(status_parse(status_text((enum status)i), &value));
    assert_int_equal(value, i);
  }
}

TEST(value_outside_the_list_has_no_text) {
  assert_string_equal(colour_text(colour_name_count), "?");
  static const char *const wrong[] = {"", "Red", "red ", "re", "reds", "?"};
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    enum colour value = COLOUR_BLUE;
    assert_false(colour_parse(wrong[i], &value));
    assert_int_equal(value, COLOUR_BLUE);
  }
}
