#include "engine/base/text_index.h"
#include "tests/cmocka.h"

TEST(equal_texts_have_one_number) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct text_index index = {.arena = &arena};
  char same[] = "b";
  size_t number = 9;
  assert_true(text_index_add(&index, "b", &number));
  assert_int_equal(number, 0);
  assert_int_equal(text_index_number(&index, "a"), 1);
  assert_false(text_index_add(&index, same, &number));
  assert_int_equal(number, 0);
  assert_int_equal(text_index_number(&index, ""), 2);
  assert_int_equal(index.count, 3);
  assert_string_equal(index.texts[1], "a");
}

TEST(many_texts_keep_their_numbers_until_they_are_sorted) {
  enum { COUNT = 10000 };
  SCOPED(arena_fini) struct arena arena = {0};
  struct text_index index = {.arena = &arena};
  for (size_t i = 0; i < COUNT; i++) {
    assert_int_equal(text_index_number(&index, arena_format(&arena, "%zu", COUNT - i)), i);
  }
  assert_int_equal(text_index_number(&index, "1"), COUNT - 1);
  uint32_t numbers[] = {COUNT - 1, 0, COUNT - 1};
  text_index_sort(&index, numbers, COUNT_OF(numbers));
  assert_int_equal(numbers[0], 0);
  assert_int_equal(numbers[2], 0);
  assert_string_equal(index.texts[numbers[1]], "10000");
  assert_string_equal(index.texts[0], "1");
  for (size_t i = 0; i < COUNT; i++) {
    assert_true(i == 0 || strcmp(index.texts[i - 1], index.texts[i]) < 0);
    assert_int_equal(text_index_number(&index, index.texts[i]), i);
  }
  assert_int_equal(index.count, COUNT);
}

TEST(an_empty_index_can_be_sorted) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct text_index index = {.arena = &arena};
  text_index_sort(&index, NULL, 0);
  assert_int_equal(index.count, 0);
}
