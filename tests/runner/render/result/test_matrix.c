/* Matrices to the letter: alignment, N/A, the line below, colours, parts for narrow terminals. */
#include "runner/render/result/matrix.h"

#include "tests/cmocka.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define V(number)                                                                                  \
  { .kind = MATRIX_VALUE, .value = (number) }
#define NONE                                                                                       \
  { .kind = MATRIX_NONE }

static const char *const gpus[] = {"gpu0", "gpu1", "gpu2"};

static struct matrix matrix_of(const char *const *rows, size_t row_count,
                               const char *const *columns, size_t column_count,
                               const struct matrix_cell *cells) {
  return (struct matrix){rows,   row_count, columns, column_count, cells,
                         "GB/s", false,     "",      NULL,         NULL};
}

/* To be freed. */
static char *printed(const struct matrix *matrix, unsigned width, bool colour) {
  struct error err;
  CAPTURE(out);
  struct document document;
  document_begin(&document,
                 &(struct table_options){.stream = out.stream, .width = width, .colour = colour},
                 &err);
  matrix_print(matrix, &document);
  assert_int_equal(document_end(&document), STATUS_OK);
  return capture_take(&out);
}

static void expect_matrix(const struct matrix *matrix, unsigned width, bool colour,
                          const char *expected) {
  SCOPED(memory_free) char *text = printed(matrix, width, colour);
  assert_string_equal(text, expected);
}

TEST(numbers_have_four_digits) {
  static const struct {
    double value;
    const char *text;
  } cases[] = {{55.2049, "55.20"},    {396.04, "396.0"}, {999.94, "999.9"},    {999.96, "1000"},
               {1351.4, "1351"},      {4190.3, "4190"},  {123456.7, "123457"}, {0.51234, "0.5123"},
               {0.0005, "0.0005000"}, {0, "0"},          {9.9996, "10.00"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char text[MATRIX_NUMBER_MAX];
    matrix_number(cases[i].value, text);
    assert_string_equal(text, cases[i].text);
  }
}

/* A number that stands on both sides of the diagonal is counted twice in the sum alone. */
TEST(sum_is_over_every_cell) {
  const struct matrix_cell cells[] = {
      NONE, V(100), {.kind = MATRIX_AGAIN, .value = 100}, {.kind = MATRIX_TEXT, .text = "failed"}};
  struct matrix matrix = matrix_of(gpus, 2, gpus, 2, cells);
  matrix.sum_of = "pairs";
  expect_matrix(&matrix, 0, false,
                "       gpu0    gpu1\n"
                "gpu0    N/A   100.0\n"
                "gpu1  100.0  failed\n"
                "SUM pairs 200.0 GB/s: 2 cells, measured one after the other: not a total rate\n");
}

TEST(what_was_not_measured_counts_nothing) {
  const struct matrix_cell cells[] = {
      NONE,     V(394.21), V(390.05),
      V(396.0), NONE,      {.kind = MATRIX_TEXT, .text = "failed", .mark = "[1]"},
      V(20.5),  V(396.2),  NONE};
  struct matrix matrix = matrix_of(gpus, 3, gpus, 3, cells);
  matrix.remark = "4.3 to 82.9 % of peak";
  expect_matrix(&matrix, 0, false,
                "       gpu0   gpu1    gpu2\n"
                "gpu0    N/A  394.2   390.1\n"
                "gpu1  396.0    N/A  failed  [1]\n"
                "gpu2  20.50  396.2     N/A\n"
                "min 20.50, mean 319.4, max 396.2 GB/s; 4.3 to 82.9 % of peak\n");
}

TEST(numbers_with_marks_stay_below_each_other) {
  const struct matrix_cell cells[] = {
      {.kind = MATRIX_VALUE, .value = 9.5, .mark = "[1,2]"}, V(55.25),
      {.kind = MATRIX_VALUE, .value = 8.25, .mark = "[2]"},  V(54),
      {.kind = MATRIX_VALUE, .value = 10, .mark = ""},       V(53)};
  const struct matrix matrix = matrix_of(gpus, 3, gpus, 2, cells);
  expect_matrix(&matrix, 0, false,
                "       gpu0          gpu1\n"
                "gpu0  9.500  [1,2]  55.25\n"
                "gpu1  8.250  [2]    54.00\n"
                "gpu2  10.00         53.00\n"
                "min 8.250, mean 31.67, max 55.25 GB/s\n");
}

TEST(what_is_shown_twice_counts_once) {
  const struct matrix_cell cells[] = {NONE,
                                      V(700),
                                      V(760),
                                      {.kind = MATRIX_AGAIN, .value = 700},
                                      NONE,
                                      V(790),
                                      {.kind = MATRIX_AGAIN, .value = 760},
                                      {.kind = MATRIX_AGAIN, .value = 790},
                                      NONE};
  const struct matrix matrix = matrix_of(gpus, 3, gpus, 3, cells);
  expect_matrix(&matrix, 0, false,
                "       gpu0   gpu1   gpu2\n"
                "gpu0    N/A  700.0  760.0\n"
                "gpu1  700.0    N/A  790.0\n"
                "gpu2  760.0  790.0    N/A\n"
                "min 700.0, mean 750.0, max 790.0 GB/s\n");
}

TEST(narrow_terminals_get_parts) {
  static const char *const nodes[] = {"numa0:pinned"};
  const struct matrix_cell cells[] = {V(55.2), V(55.1), V(55.3)};
  const struct matrix matrix = matrix_of(nodes, 1, gpus, 3, cells);
  expect_matrix(&matrix, 26, false,
                "               gpu0   gpu1\n"
                "numa0:pinned  55.20  55.10\n"
                "               gpu2\n"
                "numa0:pinned  55.30\n"
                "min 55.10, mean 55.20, max\n"
                "55.30 GB/s\n");
}

TEST(a_number_has_the_digits_that_its_interval_allows) {
  static const struct {
    double value, percent;
    const char *text;
  } CASES[] = {
      {55.1234, 0, "55.12"},  {55.1234, 0.05, "55.12"},  {55.1234, 0.5, "55.1"},
      {55.1234, 1.5, "55.1"}, {55.1234, 15, "55"},       {55.1234, 25, "55"},
      {55.1234, 36, "~55"},   {55.1234, 900, "~55"},     {1490.4, 0.05, "1490"},
      {1490.4, 36, "~1500"},  {0.00123, 195, "~0.0012"}, {0, 5, "0"},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    char text[MATRIX_NUMBER_MAX];
    matrix_number_within(CASES[i].value, CASES[i].percent, text);
    assert_string_equal(text, CASES[i].text);
  }
}

/* Within 1 % of the best, within 3, 10, 25, further; a latency is best when it is least. */
/* The line below has no digits that the cells leave open. */
TEST(a_rough_cell_is_marked) {
  const struct matrix_cell cells[] = {
      {.kind = MATRIX_VALUE, .value = 55.21, .percent = 43},
      {.kind = MATRIX_VALUE, .value = 54.12, .percent = 3, .unsettled = true}};
  const struct matrix matrix = matrix_of(gpus, 1, gpus, 2, cells);
  expect_matrix(&matrix, 0, false,
                "      gpu0    gpu1\n"
                "gpu0   ~55  ~54.12\n"
                "min 54.12, mean ~55, max ~55 GB/s\n");
}

TEST(heat_says_how_far_from_the_best) {
  static const char *const one[] = {""};
  static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
  const struct matrix_cell rates[] = {V(100), V(99.5), V(98), V(95), V(80), V(50)};
  struct matrix matrix = matrix_of(one, 1, names, 6, rates);
  static const char *const expected[] = {"38;5;40m100.0",  "38;5;40m99.50",  "38;5;148m98.00",
                                         "38;5;220m95.00", "38;5;208m80.00", "38;5;196m50.00"};
  for (int latency = 0; latency < 2; latency++) {
    const struct matrix_cell times[] = {V(100), V(100.5), V(102), V(105), V(125), V(200)};
    matrix.cells = latency ? times : rates;
    matrix.less_is_better = latency;
    SCOPED(memory_free) char *text = printed(&matrix, 0, true);
    const char *at = text;
    for (size_t i = 0; i < 6; i++) {
      PRINTED(colour, 16, "%.*s", (int)strcspn(expected[i], "m") + 1, expected[i]);
      at = strstr(at, colour);
      assert_non_null(at);
      at++;
    }
  }
}

/* The tones of a grid are by the best of the row. */
TEST(rows_of_a_grid_are_compared_apart) {
  static const char *const sizes[] = {"64KiB", "1MiB"};
  const struct matrix_cell cells[] = {V(10), V(5), V(100), V(100)};
  struct matrix matrix = matrix_of(sizes, 2, gpus, 2, cells);
  matrix.down_name = "size";
  matrix.remark = "what is known";
  expect_matrix(&matrix, 0, false,
                " size   gpu0   gpu1\n"
                "64KiB  10.00  5.000\n"
                " 1MiB  100.0  100.0\n"
                "what is known\n");
  SCOPED(memory_free) char *text = printed(&matrix, 0, true);
  assert_contains(text, "\033[38;5;40m10.00");
  assert_contains(text, "\033[38;5;196m5.000");
}

/* Two results never have one place: the second would hide the first. */
TEST(two_results_in_one_cell_are_a_failed_assertion) {
  struct matrix_cell cell = NONE;
  matrix_put(&cell, (struct matrix_cell)V(1));
  assert_true(cell.value == 1);
#ifndef NDEBUG
  const pid_t child = fork();
  if (child == 0) {
    (void)signal(SIGABRT, SIG_DFL);
    (void)close(STDERR_FILENO);
    matrix_put(&cell, (struct matrix_cell)V(2));
    _exit(0);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#endif
}
