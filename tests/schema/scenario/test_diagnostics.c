/* What complaints look like on the screen. */
#include "support.h"

static char *print_wide(const struct diagnostics *diagnostics, unsigned width, bool colour) {
  CAPTURE(out);
  diagnostics_print(diagnostics, out.stream, width, colour);
  return capture_take(&out);
}

static char *print(const struct diagnostics *diagnostics, bool colour) {
  return print_wide(diagnostics, 0, colour);
}

static void assert_printed(const char *scenario, const char *expected) {
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = must_refuse(scenario);
  SCOPED(memory_free) char *text = print(diagnostics, false);
  assert_string_equal(text, expected);
}

TEST(an_empty_line_is_not_shown) {
  assert_printed("# nothing\n", "t.toml:1:1: error: the file is empty\n"
                                "     1 | # nothing\n"
                                "       | ^\n"
                                "       = expected schema_version, name and a block\n");
  assert_printed("\n", "t.toml:1:1: error: the file is empty\n"
                       "       = expected schema_version, name and a block\n");
}

TEST(a_complaint_shows_line_caret_and_help) {
  assert_printed(HEAD BLOCK "size = 1\ntrials.mni = 9\n",
                 "t.toml:9:8: error: unknown key \"trials.mni\" in [[transfer]]\n"
                 "     9 | trials.mni = 9\n"
                 "       |        ^~~\n"
                 "       = did you mean \"min\"?\n"
                 "       = expected one of: min, max\n");
}

TEST(a_complaint_is_as_wide_as_the_terminal) {
  SCOPED(diagnostics_free_at)
  struct diagnostics *diagnostics = must_refuse(HEAD BLOCK "size = 0\n");
  SCOPED(memory_free) char *text = print_wide(diagnostics, 40, false);
  assert_string_equal(text, "t.toml:8:8: error: size: 0 is out of\n"
                            "                   range\n"
                            "     8 | size = 0\n"
                            "       |        ^\n"
                            "       = expected a size such as 65536,\n"
                            "         \"64KiB\" or \"64kB\", from 1B to\n"
                            "         64TiB\n");
}

TEST(carets_stand_under_the_mistake) {
  /* A tab moves to a column of eight, a wide character takes two, a combining one none. */
  assert_printed(HEAD BLOCK "size = 1\n\tverify = \"x\" # tab\n",
                 "t.toml:9:11: error: verify: invalid value \"x\"\n"
                 "     9 |         verify = \"x\" # tab\n"
                 "       |                  ^~~\n"
                 "       = expected \"off\", \"once\" or \"every\"\n");
  assert_printed(HEAD BLOCK
                 "size = 1\nverify = [\"\xe4\xb8\xad\xe6\x96\x87\", \"e\xcc\x81\", \"y\"]\n",
                 "t.toml:9:11: error: verify: invalid value \"\xe4\xb8\xad\xe6\x96\x87\"\n"
                 "     9 | verify = [\"\xe4\xb8\xad\xe6\x96\x87\", \"e\xcc\x81\", \"y\"]\n"
                 "       |           ^~~~~~\n"
                 "       = expected \"off\", \"once\" or \"every\"\n"
                 "t.toml:9:17: error: verify: invalid value \"e\xcc\x81\"\n"
                 "     9 | verify = [\"\xe4\xb8\xad\xe6\x96\x87\", \"e\xcc\x81\", \"y\"]\n"
                 "       |                   ^~~\n"
                 "       = expected \"off\", \"once\" or \"every\"\n"
                 "t.toml:9:23: error: verify: invalid value \"y\"\n"
                 "     9 | verify = [\"\xe4\xb8\xad\xe6\x96\x87\", \"e\xcc\x81\", \"y\"]\n"
                 "       |                        ^~~\n"
                 "       = expected \"off\", \"once\" or \"every\"\n");
}

TEST(nothing_reaches_the_terminal_unescaped) {
  static const char text[] =
      HEAD BLOCK "size = 1\nverify = \"\\u001b[31m\xc2\x9b\" # \xe2\x80\xae txet \xef\xbb\xbf\n";
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = must_refuse(text);
  SCOPED(memory_free) char *printed = print(diagnostics, false);
  assert_null(strchr(printed, '\033'));
  assert_null(strstr(printed, "\xc2\x9b"));
  assert_null(strstr(printed, "\xe2\x80\xae"));
  assert_contains(printed, "verify: invalid value \"\\x1b[31m\\x9b\"");
  assert_contains(printed, "\\u202e txet \\ufeff");
}

TEST(colour_is_optional) {
  SCOPED(diagnostics_free_at)
  struct diagnostics *diagnostics = must_refuse(HEAD BLOCK "size = 0\n");
  SCOPED(memory_free) char *plain = print(diagnostics, false);
  SCOPED(memory_free) char *coloured = print(diagnostics, true);
  assert_null(strchr(plain, '\033'));
  assert_contains(coloured, "\033[1;31merror:\033[0m");
}

TEST(a_long_line_is_cut_around_the_mistake) {
  enum { VALUES = 100000 };
  SCOPED(memory_free) char *text = malloc(VALUES * 3 + 1024);
  assert_non_null(text);
  char *end = stpcpy(text, HEAD BLOCK "size = [");
  for (int i = 0; i < VALUES; i++) {
    end = stpcpy(end, i == VALUES / 2 ? "0, " : "1, ");
  }
  (void)stpcpy(end, "]\n");
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = must_refuse(text);
  assert_one(diagnostics, 8, 9 + VALUES / 2 * 3, "0 is out of range");
  SCOPED(memory_free) char *printed = print(diagnostics, false);
  assert_true(strlen(printed) < 600);
  char *line = strstr(printed, " | ...");
  char *carets = strstr(printed, "\n       | ");
  assert_non_null(line);
  assert_non_null(carets);
  const size_t column = (size_t)(strchr(carets, '^') - carets) - strlen("\n       | ");
  assert_int_equal(line[strlen(" | ") + column], '0');
}

TEST(too_many_mistakes_are_counted) {
  enum { MISTAKES = 5000 };
  SCOPED(memory_free) char *text = malloc(MISTAKES * 16 + 256);
  assert_non_null(text);
  char *end = stpcpy(text, HEAD);
  for (int i = 0; i < MISTAKES; i++) {
    end += sprintf(end, "xyzzy%d = 1\n", i);
  }
  (void)stpcpy(end, BLOCK "size = 1\n");
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = must_refuse(text);
  const size_t count = diagnostics_count(diagnostics);
  PRINTED(expected, 64, "%zu more are not shown", MISTAKES - count + 1);
  assert_true(count < 1000);
  assert_contains(diagnostics_at(diagnostics, count - 1)->error.message, expected);
  assert_int_equal(diagnostics_at(diagnostics, 0)->error.position.line, 3);
  /* The next file is refused, too, though none of its mistakes fits. */
  static const char *const more[] = {HEAD "[[transfer]\n", HEAD "x = 1\n", HEAD};
  for (size_t i = 0; i < COUNT_OF(more); i++) {
    struct scenario *scenario = NULL;
    assert_int_equal(
        scenario_parse(more[i], strlen(more[i]), "more.toml", NULL, 0, &scenario, diagnostics),
        STATUS_INVALID);
    assert_null(scenario);
  }
}

/* The second time its diagnostics are there already. */
TEST(scenario_is_refused_each_time) {
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = diagnostics_new();
  struct scenario *scenario = NULL;
  static const char text[] = HEAD BLOCK "size = 0\n";
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(scenario_parse(text, strlen(text), "a.toml", NULL, 0, &scenario, diagnostics),
                     STATUS_INVALID);
  }
}

TEST(several_scenarios_share_a_list) {
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = diagnostics_new();
  struct scenario *scenario = NULL;
  static const char *const paths[] = {"z.toml", "a.toml"};
  for (size_t i = 0; i < 2; i++) {
    static const char text[] = HEAD BLOCK "size = 0\nx = 1\n";
    assert_int_equal(scenario_parse(text, strlen(text), paths[i], NULL, 0, &scenario, diagnostics),
                     STATUS_INVALID);
  }
  assert_int_equal(diagnostics_count(diagnostics), 4);
  assert_string_equal(diagnostics_at(diagnostics, 0)->error.position.file, "z.toml");
  assert_string_equal(diagnostics_at(diagnostics, 3)->error.position.file, "a.toml");
  diagnostics_free(NULL);
}
