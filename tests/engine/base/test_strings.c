#include "engine/base/strings.h"

#include "tests/cmocka.h"

TEST(a_missing_string_equals_a_missing_one_alone) {
  char copy[] = "a";
  assert_true(strings_equal(NULL, NULL));
  assert_true(strings_equal("a", copy));
  assert_false(strings_equal("a", "b"));
  assert_false(strings_equal("", NULL));
  assert_false(strings_equal(NULL, ""));
}

TEST(strings_are_sorted_and_found) {
  const char *words[] = {"gpu10", "gpu1", "", "gpu1"};
  static const char *const sorted[] = {"", "gpu1", "gpu1", "gpu10"};
  qsort(words, 4, sizeof *words, strings_compare);
  for (size_t i = 0; i < 4; i++) {
    assert_string_equal(words[i], sorted[i]);
  }
  const char *key = "gpu10";
  assert_ptr_equal(bsearch(&key, words, 4, sizeof *words, strings_compare), &words[3]);
}

TEST(words_of_a_list_are_whole) {
  assert_true(strings_has_word("gpu1", "gpu1"));
  assert_true(strings_has_word("gpu11, gpu1, gpu12", "gpu1"));
  assert_true(strings_has_word("a, pinned to device", "pinned to device"));
  assert_false(strings_has_word("gpu11, gpu12", "gpu1"));
  assert_false(strings_has_word("pinned to device", "device"));
  assert_false(strings_has_word(" a", "a"));
  assert_false(strings_has_word("", "a"));
  assert_false(strings_has_word("a", ""));
}
