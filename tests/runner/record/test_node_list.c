/* Names of nodes in short, read and written. */
#include "runner/record/node_list.h"
#include "tests/cmocka.h"

static void assert_expands(const char *text, const char *expected) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct node_list list = {0};
  struct error err = {0};
  if (node_list_expand(text, &arena, &list, &err) != STATUS_OK) {
    fail_msg("%s: %s", text, err.message);
  }
  const char *joined = "";
  for (size_t i = 0; i < list.count; i++) {
    joined = arena_format(&arena, "%s%s%s", joined, i > 0 ? " " : "", list.names[i]);
  }
  assert_string_equal(joined, expected);
}

TEST(lists_are_expanded) {
  assert_expands("", "");
  assert_expands("a[1-3,7],b2", "a1 a2 a3 a7 b2");
  assert_expands("n[008-011]", "n008 n009 n010 n011");
  assert_expands("n[9-11]", "n9 n10 n11");
  assert_expands("r[1-2]n[01-02]-ib", "r1n01-ib r1n02-ib r2n01-ib r2n02-ib");
  assert_expands(" a\n b,,c\t", "a b c");
}

TEST(what_is_no_list_is_refused) {
  static const char *const WRONG[][2] = {{"a,b[1-3", "bracket is not closed"},
                                         {"b[3-1]", "goes backwards"},
                                         {"b[x]", "something else than numbers"},
                                         {"b[]c", "something else than numbers"},
                                         {"b[1-2-3]", "something else than numbers"},
                                         {"b[0-999999999]", "more than 100000"},
                                         {"b[1-9999999999]", "something else than numbers"}};
  for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
    SCOPED(arena_fini) struct arena arena = {0};
    struct node_list list = {0};
    assert_int_equal(node_list_expand(WRONG[i][0], &arena, &list, err), STATUS_INVALID);
    assert_contains(err->message, WRONG[i][1]);
  }
}

TEST(names_are_joined) {
  static const char *const NAMES[] = {"login", "n8",  "n9",  "n10", "n12",
                                      "n012",  "p09", "p10", "p11"};
  SCOPED(arena_fini) struct arena arena = {0};
  assert_string_equal(node_list_join(NAMES, 9, 9, &arena), "login,n[8-10],n12,n012,p[09-11]");
  assert_string_equal(node_list_join(NAMES, 9, 3, &arena), "login,n[8-9],...");
  assert_string_equal(node_list_join(NAMES, 0, 3, &arena), "");
}
