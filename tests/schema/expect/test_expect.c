/* Data files of expectations: the shipped one, units, what is written reads back, and mistakes. */
#include "schema/expect/expect.h"

#include "tests/cmocka.h"

#include <math.h>

RELEASE(diagnostics_free, struct diagnostics)

static struct expect_file *shipped(void) {
  struct expect_file *file = NULL;
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = diagnostics_new();
  const enum status status = expect_load_shipped(&file, diagnostics);
  diagnostics_print(diagnostics, stderr, 0, false);
  assert_int_equal(status, STATUS_OK);
  return file;
}

TEST(every_value_converts_to_its_source_and_back) {
  struct expect_file *file = shipped();
  size_t values = 0;
  for (size_t m = 0; m < file->machine_count; m++) {
    for (size_t r = 0; r < file->machines[m].row_count; r++) {
      const struct expect_row *row = &file->machines[m].rows[r];
      const enum expect_unit unit = (enum expect_unit)row->unit;
      const double both[] = {row->low, row->high};
      assert_non_null(row->date);
      for (size_t i = 0; i < 2; i++) {
        if (!isnan(both[i])) {
          const double back = expect_base(unit, both[i]) / expect_base(unit, 1);
          assert_true(fabs(back - both[i]) <= 1e-12 * both[i]);
          values++;
        }
      }
      /* Nothing moves 20 TB/s today, and no load takes 0.1 us or 10 us: a slip of units. */
      const double base = expect_base(unit, isnan(row->low) ? row->high : row->low);
      const bool time = expect_unit_is_time(unit);
      assert_true(time ? base > 100 && base < 10000 : base > 10 && base < 20000);
    }
  }
  assert_true(values > 2 * file->machine_count);
  expect_free(file);
}

TEST(units_are_what_they_say) {
  static const struct {
    enum expect_unit unit;
    double value, base;
  } CASES[] = {{EXPECT_GBPS, 55.2, 55.2},       {EXPECT_GIBPS, 1, 1.073741824},
               {EXPECT_MBPS, 12500, 12.5},      {EXPECT_TBPS, 4.8, 4800},
               {EXPECT_GBPS_TWICE, 4250, 2125}, {EXPECT_NS, 826, 826},
               {EXPECT_US, 1.2, 1200}};
  assert_int_equal(COUNT_OF(CASES), expect_unit_name_count);
  for (size_t i = 0; i < expect_unit_name_count; i++) {
    assert_true(fabs(expect_base(CASES[i].unit, CASES[i].value) - CASES[i].base) < 1e-9);
    assert_int_equal(expect_unit_is_time(CASES[i].unit), i >= EXPECT_NS);
  }
}

TEST(what_is_written_reads_back) {
  struct expect_file *file = shipped();
  struct expect_file *again = NULL;
  struct strbuf text[2];
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = diagnostics_new();
  for (size_t i = 0; i < 2; i++) {
    const struct expect_file *from = i == 0 ? file : again;
    strbuf_init(&text[i], 1 << 20);
    expect_write(&text[i], from->description, from->machines, from->machine_count);
    if (i == 0) {
      assert_int_equal(expect_parse(text[0].text, text[0].length, "w", &again, diagnostics),
                       STATUS_OK);
    }
  }
  assert_int_equal(file->machine_count, again->machine_count);
  assert_string_equal(text[0].text, text[1].text);
  strbuf_fini(&text[0]);
  strbuf_fini(&text[1]);
  expect_free(again);
  expect_free(file);
}

#define HEAD "format = 1\n[[machine]]\nname = \"m\"\ngpu = \"*\"\n"
#define ROW(more)                                                                                  \
  "[[machine.expect]]\npath = \"host_to_device\"\nstatement = \"reports\"\nsource = \"s\"\n" more

TEST(mistakes_have_places_and_help) {
  static const struct {
    const char *text;
    unsigned line, column;
    const char *message, *help; /* parts of them */
  } CASES[] = {
      {HEAD ROW("low = 5\nunit = \"GBs\"\n"), 10, 8, "invalid value \"GBs\"", "GB/s"},
      {HEAD ROW("low = 5\nunit = \"ns\"\n"), 10, 8, "is no unit of a transfer", "GB/s"},
      {HEAD ROW("low = 5\nhigh = 4\nunit = \"GB/s\"\n"), 10, 8, "the range is empty", "other way"},
      {HEAD ROW("unit = \"GB/s\"\n"), 5, 1, "without a range", "low, high"},
      {HEAD ROW("lwo = 5\nlow = 5\nunit = \"GB/s\"\n"), 9, 1, "unknown key \"lwo\"", "low"},
      {HEAD ROW("low = 0\nunit = \"GB/s\"\n"), 9, 7, "low: 0 is out of range", "above 0"},
      {HEAD ROW("low = 5\nsize.min = \"2MiB\"\nsize.max = \"1MiB\"\nunit = \"GB/s\"\n"), 11, 12,
       "no size is from", "other way"},
      {HEAD ROW("low = 5\nhigh = 6\nunit = \"GB/s\"\n")
           ROW("low = 50\nhigh = 51\nunit = \"GB/s\"\n"),
       16, 7, "contradicts the row of line 5", "overlap"},
      {HEAD ROW("low = 55\nhigh = 56\nunit = \"GB/s\"\n") "[[machine.expect]]\npath = "
                                                          "\"host_to_device\"\nstatement = "
                                                          "\"floor\"\nsource = \"s\"\n"
                                                          "low = 60\nunit = \"GB/s\"\n",
       16, 7, "line 5 (reports): no value is in the range of both", "overlap"},
      {"format = 1\n[[machine]]\nname = \"m\"\n", 2, 1, "missing \"gpu\" in [[machine]]", ""},
      {"format = 2\n[[machine]]\nname = \"m\"\ngpu = \"*\"\n", 1, 10, "2 is not supported", ""},
      {"format = 1\n[[machin]]\nname = \"m\"\n", 2, 3, "unknown key \"machin\"", "machine"},
      {HEAD, 2, 1, "no [[machine.expect]] in this", "[[machine.expect]]"},
      {"format = 1\n", 1, 1, "no [[machine]] in this file", "[[machine]]"},
      {"format = 1\n[machine]\nname = \"m\"\n", 2, 2, "must be written as [[machine]]", ""},
      {HEAD "[[machine.expect]]\nlow = 1\nunit = \"GB/s\"\nstatement = \"limit\"\nsource = \"s\"\n",
       5, 1, "neither path nor block", "path"},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    struct expect_file *file = NULL;
    SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = diagnostics_new();
    assert_int_equal(expect_parse(CASES[i].text, strlen(CASES[i].text), "f", &file, diagnostics),
                     STATUS_INVALID);
    assert_null(file);
    bool found = false;
    for (size_t d = 0; d < diagnostics_count(diagnostics); d++) {
      const struct diagnostic *made = diagnostics_at(diagnostics, d);
      const char *expected = made->expected != NULL ? made->expected : "";
      const char *meant = made->suggestion != NULL ? made->suggestion : "";
      found = found ||
              (made->error.position.line == CASES[i].line &&
               made->error.position.column == CASES[i].column &&
               strstr(made->error.message, CASES[i].message) != NULL &&
               (strstr(expected, CASES[i].help) != NULL || strstr(meant, CASES[i].help) != NULL));
    }
    if (!found) {
      diagnostics_print(diagnostics, stderr, 0, false);
      fail_msg("mistake %zu is not reported as expected", i);
    }
  }
}

TEST(rows_are_old_after_two_years_or_without_a_date) {
  struct expect_row row = expect_row_empty();
  const int64_t day_ns = INT64_C(86400000000000);
  const int64_t then_ns = INT64_C(1774224000) * 1000000000; /* 2026-03-23 */
  assert_true(expect_is_old(&row, then_ns));
  row.date = "2026-03-23";
  assert_false(expect_is_old(&row, then_ns));
  assert_false(expect_is_old(&row, then_ns + 730 * day_ns));
  assert_true(expect_is_old(&row, then_ns + 731 * day_ns));
}
