#include "runner/console/console.h"

#include "tests/cmocka.h"

TEST(special_characters_are_quoted) {
  SCOPED(arena_fini) struct arena arena = {0};
  assert_string_equal(shell_word(&arena, "--db=/tmp/a-b_1.db"), "--db=/tmp/a-b_1.db");
  assert_string_equal(shell_word(&arena, "my runs.db"), "'my runs.db'");
  assert_string_equal(shell_word(&arena, "it's $HOME"), "'it'\\''s $HOME'");
  assert_string_equal(shell_word(&arena, ""), "''");
}
