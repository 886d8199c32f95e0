#include "runner/console/shell_word.h"

#include "tests/cmocka.h"

#include <string.h>

static void special_characters_are_quoted(void **state) {
  (void)state;
  struct arena arena = {0};
  assert_string_equal(shell_word(&arena, "--db=/tmp/a-b_1.db"), "--db=/tmp/a-b_1.db");
  assert_string_equal(shell_word(&arena, "my runs.db"), "'my runs.db'");
  assert_string_equal(shell_word(&arena, "it's $HOME"), "'it'\\''s $HOME'");
  assert_string_equal(shell_word(&arena, ""), "''");
  arena_fini(&arena);
}

static void quoted_words_parse_back(void **state) {
  (void)state;
  const char *const texts[] = {"plain", "two words", "it's", "", "a\\b", "'", "x'y z'"};
  struct arena arena = {0};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const char *line = arena_format(&arena, "%s rest", shell_word(&arena, texts[i]));
    const char *end = shell_word_end(line);
    assert_string_equal(end, " rest");
    const char *word = arena_format(&arena, "%.*s", (int)(end - line), line);
    assert_string_equal(shell_word_text(&arena, word), texts[i]);
  }
  arena_fini(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(special_characters_are_quoted),
      cmocka_unit_test(quoted_words_parse_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
