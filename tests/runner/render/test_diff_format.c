/* The number of a case in a diff has its unit, but for GB/s, which the heading says. */
#include "runner/render/diff_format.h"
#include "tests/cmocka.h"

static void figures_have_their_unit(void **state) {
  static const struct {
    enum figure figure;
    const char *text;
  } ROWS[] = {{FIGURE_RATE, "55.20"}, {FIGURE_FLOPS, "55.20 GFLOP/s"}, {FIGURE_HOP, "55.20 ns"}};
  (void)state;
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
    struct comparison_row row = {.figure = ROWS[i].figure};
    char text[DIFF_WORDS_MAX];
    row.sides[SIDE_A].value = 55.2;
    diff_figure_words(&row, SIDE_A, text);
    assert_string_equal(text, ROWS[i].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(figures_have_their_unit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
