#include "engine/base/globs.h"

#include "tests/cmocka.h"

TEST(a_list_matches_what_one_of_its_globs_matches) {
  static const struct {
    const char *globs, *text;
    bool matches;
  } table[] = {
      {"*", "a/b", true},
      {"a", "a", true},
      {"a", "ab", false},
      {"a,b*", "bc", true},
      {"a, b*", "bc", true},

      {",a,,", "a", true},
      {"", "a", false},
      {",", "", false},
      {"[ab]*,c", "b1", true},
      /* An index behind a comma is a part of the name. */
      {"x/gpu0,1-numa0", "x/gpu0,1-numa0", true},
      {"x/gpu0,1-numa0", "x/gpu0", false},
      {"x/gpu0,1-numa0,y", "y", true},
      {"x, 12ab", "12ab", true},
      {"x,12ab", "12ab", false},
  };
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    if (globs_match(table[i].globs, table[i].text) != table[i].matches) {
      fail_msg("\"%s\" and \"%s\"", table[i].globs, table[i].text);
    }
  }
  char text[1000];
  memset(text, 'a', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  assert_true(globs_match(text, text));
}

TEST(globs_come_one_after_the_other) {
  SCOPED(arena_fini) struct arena arena = {0};
  const char *rest = "a*, b,c/gpu0,1";
  assert_string_equal(globs_next(&rest, &arena), "a*");
  assert_string_equal(globs_next(&rest, &arena), "b");
  assert_string_equal(globs_next(&rest, &arena), "c/gpu0,1");
  assert_null(globs_next(&rest, &arena));
}

TEST(a_list_grows_by_whole_globs) {
  SCOPED(arena_fini) struct arena arena = {0};
  const char *globs = globs_add(NULL, "a", &arena);
  globs = globs_add(globs, "b*", &arena);
  assert_string_equal(globs, "a,b*");
  globs = globs_add(globs, "0123", &arena);
  assert_true(globs_match(globs, "0123"));
  assert_true(globs_match(globs, "b1"));
  assert_false(globs_match(globs, "0"));
}

TEST(a_list_is_json) {
  SCOPED(arena_fini) struct arena arena = {0};
  assert_null(globs_json(NULL, &arena));
  assert_string_equal(globs_json("", &arena), "[]");
  assert_string_equal(globs_json("a,\"\\\x01*", &arena), "[\"a\",\"\\\"\\\\\\u0001*\"]");
}
