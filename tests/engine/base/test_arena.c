#include "tests/cmocka.h"

#include <signal.h>
#include <stdalign.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(memory_is_zeroed_aligned_and_apart) {
  struct arena arena = {0};
  unsigned char *blocks[200];
  for (size_t i = 0; i < 200; i++) {
    blocks[i] = arena_alloc(&arena, i * 13);
    assert_int_equal((uintptr_t)blocks[i] % alignof(max_align_t), 0);
    for (size_t j = 0; j < i * 13; j++) {
      assert_int_equal(blocks[i][j], 0);
    }
    memset(blocks[i], (int)i, i * 13);
  }
  for (size_t i = 0; i < 200; i++) {
    for (size_t j = 0; j < i * 13; j++) {
      assert_int_equal(blocks[i][j], (unsigned char)i);
    }
  }
  arena_fini(&arena);
  assert_null(arena.last);
}

TEST(large_pieces_and_small_ones_mix) {
  struct arena arena = {0};
  char *small = arena_strdup(&arena, "before");
  unsigned char *large = arena_alloc(&arena, (size_t)1 << 20);
  memset(large, 0xFF, (size_t)1 << 20);
  char *after = arena_strdup(&arena, "after");
  assert_string_equal(small, "before");
  assert_string_equal(after, "after");
  assert_int_equal(large[((size_t)1 << 20) - 1], 0xFF);
  arena_fini(&arena);
  arena_fini(&arena);
}

TEST(texts_are_copied) {
  SCOPED(arena_fini) struct arena arena = {0};
  char text[] = "abcdef";
  char *whole = arena_strdup(&arena, text);
  char *part = arena_strndup(&arena, text, 3);
  char *none = arena_strndup(&arena, text, 0);
  text[0] = 'x';
  assert_string_equal(whole, "abcdef");
  assert_string_equal(part, "abc");
  assert_string_equal(none, "");
  assert_string_equal(arena_format(&arena, "%d-%s", 7, "x"), "7-x");
  assert_string_equal(arena_format(&arena, "%s", ""), "");
}

TEST(arrays_grow_and_keep_their_items) {
  SCOPED(arena_fini) struct arena arena = {0};
  size_t *items = NULL;
  size_t count = 0;
  for (size_t i = 0; i < 5000; i++) {
    items = arena_grow(&arena, items, count, sizeof *items);
    items[count++] = i;
  }
  for (size_t i = 0; i < 5000; i++) {
    assert_int_equal(items[i], i);
  }
}

/* A size that no machine has ends the process by abort(), never with a wrapped size. */
TEST(sizes_that_overflow_abort) {
  for (int which = 0; which < 3; which++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      struct arena arena = {0};
      (void)signal(SIGABRT, SIG_DFL);
      (void)close(STDERR_FILENO);
      (void)(which == 0   ? arena_array(&arena, SIZE_MAX / 4, 8)
             : which == 1 ? arena_alloc(&arena, SIZE_MAX)
                          : arena_array(&arena, SIZE_MAX / 2 - 1, 1));
      _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
  }
}

/* Of none nothing holds for one, and everything for all. */
TEST(what_holds_for_some_elements_is_counted) {
  static const int NUMBERS[] = {3, 5, 5, 8};
  assert_int_equal(FIRST_OF(i, COUNT_OF(NUMBERS), NUMBERS[i] == 5), 1);
  assert_int_equal(FIRST_OF(i, COUNT_OF(NUMBERS), NUMBERS[i] == 4), COUNT_OF(NUMBERS));
  assert_int_equal(SUM_OF(i, COUNT_OF(NUMBERS), NUMBERS[i] == 5), 2);
  assert_true(ANY_OF(i, COUNT_OF(NUMBERS), ANY_OF(k, i, NUMBERS[k] == NUMBERS[i])));
  const size_t none = 0;
  assert_false(ANY_OF(i, none, true));
  assert_true(ALL_OF(i, COUNT_OF(NUMBERS), NUMBERS[i] > 2) && ALL_OF(i, none, false));
}

TEST(special_characters_are_quoted) {
  SCOPED(arena_fini) struct arena arena = {0};
  assert_string_equal(shell_word(&arena, "--db=/tmp/a-b_1.db"), "--db=/tmp/a-b_1.db");
  assert_string_equal(shell_word(&arena, "my runs.db"), "'my runs.db'");
  assert_string_equal(shell_word(&arena, "it's $HOME"), "'it'\\''s $HOME'");
  assert_string_equal(shell_word(&arena, ""), "''");
}
