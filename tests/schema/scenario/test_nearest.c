#include "schema/scenario/nearest.h"

#include "support.h"

TEST(distances_are_those_of_osa) {
  assert_int_equal(nearest_distance("size", "size", 9), 0);
  assert_int_equal(nearest_distance("size", "SIZE", 9), 0);
  assert_int_equal(nearest_distance("sise", "size", 9), 1);
  assert_int_equal(nearest_distance("isze", "size", 9), 1); /* neighbours swapped */
  assert_int_equal(nearest_distance("siz", "size", 9), 1);
  assert_int_equal(nearest_distance("", "size", 9), 4);
  assert_int_equal(nearest_distance("kitten", "sitting", 9), 3);
  assert_int_equal(nearest_distance("ca", "abc", 9), 3); /* restricted: no edit inside a swap */
  assert_int_equal(nearest_distance("kitten", "sitting", 2), 2);
  assert_int_equal(nearest_distance("a", "abcdef", 3), 3);
}

TEST(only_near_words_are_suggested) {
  static const char *const words[] = {"pageable", "pinned", "huge", "ce", NULL};
  assert_string_equal(nearest_word("pined", words), "pinned");
  assert_string_equal(nearest_word("pagable", words), "pageable");
  assert_string_equal(nearest_word("c", words), "ce");
  assert_null(nearest_word("device", words));
  assert_null(nearest_word("", words));
  char longest[200];
  memset(longest, 'x', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  assert_null(nearest_word(longest, words));
}

TEST(words_of_other_tools_are_translated) {
  static const char *const methods[] = {"ce", "sm", "um", "cpu", NULL};
  static const char *const verbs[] = {"run", "check", "diff", NULL};
  static const char *const places[] = {"*", NULL};
  assert_string_equal(nearest_word("copy_engine", methods), "ce");
  assert_string_equal(nearest_word("Managed", methods), "um");
  assert_string_equal(nearest_word("compare", verbs), "diff");
  assert_string_equal(nearest_word("all", places), "*");
  assert_null(nearest_word("compare", methods));
  static const char *const caches[] = {"as_is",      "warm",         "flushed",
                                       "host_cache", "device_cache", NULL};
  assert_string_equal(nearest_word("flush", caches), "flushed");
  assert_string_equal(nearest_word("cache", caches), "host_cache");
  assert_string_equal(nearest_word("l2_cache", caches), "device_cache");
}
