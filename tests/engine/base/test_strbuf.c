#include "engine/base/strbuf.h"

#include "tests/cmocka.h"

TEST(an_empty_buffer_is_an_empty_text) {
  SCOPED(strbuf_fini) struct strbuf buffer;
  strbuf_init(&buffer, 10);
  assert_string_equal(buffer.text, "");
  strbuf_clear(&buffer);
  strbuf_append(&buffer, "");
  strbuf_append_n(&buffer, "x", 0);
  strbuf_printf(&buffer, "%s", "");
  assert_string_equal(buffer.text, "");
  assert_int_equal(buffer.length, 0);
  assert_false(buffer.truncated);
}

TEST(pieces_are_joined) {
  SCOPED(strbuf_fini) struct strbuf buffer;
  strbuf_init(&buffer, 1 << 20);
  strbuf_append(&buffer, "one");
  strbuf_append_char(&buffer, ' ');
  strbuf_append_n(&buffer, "two three", 3);
  strbuf_printf(&buffer, " %d", 3);
  assert_string_equal(buffer.text, "one two 3");
  assert_int_equal(buffer.length, 9);
  for (int i = 0; i < 1000; i++) {
    strbuf_append(&buffer, "0123456789");
  }
  assert_int_equal(buffer.length, 10009);
  assert_int_equal(strlen(buffer.text), 10009);
  strbuf_clear(&buffer);
  assert_string_equal(buffer.text, "");
}

TEST(words_have_commas_between) {
  SCOPED(strbuf_fini) struct strbuf buffer;
  SCOPED(arena_fini) struct arena arena = {0};
  strbuf_init(&buffer, 100);
  strbuf_append_word(&buffer, "one");
  strbuf_append_word(&buffer, "two");
  assert_string_equal(buffer.text, "one, two");
  assert_string_equal(arena_add_word(&arena, NULL, "one"), "one");
  assert_string_equal(arena_add_word(&arena, arena_add_word(&arena, "", "one"), "two"), "one, two");
}

TEST(long_formats_come_whole) {
  SCOPED(strbuf_fini) struct strbuf buffer;
  strbuf_init(&buffer, 1 << 20);
  for (int width = 250; width < 262; width++) {
    strbuf_clear(&buffer);
    strbuf_printf(&buffer, "%*d", width, 7);
    assert_int_equal(buffer.length, width);
    assert_int_equal(buffer.text[width - 1], '7');
  }
}

TEST(text_past_the_maximum_is_cut_and_marked) {
  SCOPED(strbuf_fini) struct strbuf buffer;
  strbuf_init(&buffer, 10);
  strbuf_append(&buffer, "0123456789");
  assert_false(buffer.truncated);
  strbuf_append_char(&buffer, 'x');
  assert_true(buffer.truncated);
  assert_string_equal(buffer.text, "0123456789");
  strbuf_printf(&buffer, "%d", 12345);
  assert_string_equal(buffer.text, "0123456789");
  strbuf_clear(&buffer);
  assert_false(buffer.truncated);
  strbuf_printf(&buffer, "%s", "0123456789abc");
  assert_string_equal(buffer.text, "0123456789");
  assert_true(buffer.truncated);
}

TEST(a_finished_buffer_can_be_used_again) {
  struct strbuf buffer;
  strbuf_init(&buffer, 0);
  strbuf_append(&buffer, "x");
  assert_string_equal(buffer.text, "");
  assert_true(buffer.truncated);
  strbuf_fini(&buffer);
  strbuf_init(&buffer, 5);
  strbuf_append(&buffer, "abc");
  strbuf_fini(&buffer);
  assert_string_equal(buffer.text, "");
  strbuf_append(&buffer, "defghi");
  assert_string_equal(buffer.text, "defgh");
  strbuf_fini(&buffer);
}
