#include "runner/table/table.h"

#include "runner/table/result_set.h"
#include "runner/table/text.h"
#include "tests/cmocka.h"
#include "tests/runner/table/output.h"

#include <float.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <unistd.h>

RELEASE(json_decref, json_t)

static const char *const COLUMNS[] = {"name", "bytes", "gbps", "note"};
enum { COLUMN_COUNT = 4 };

static char *two_rows(struct table_options options) {
  struct output output;
  start(&output, options);
  begin(&output, COLUMNS, COLUMN_COUNT);
  add(&output,
      (struct cell[]){cell_text("host"), cell_integer(67108864), cell_real(55.2341), cell_null()});
  add(&output, (struct cell[]){cell_text("a \"b\",\n\x1b[2J|é"), cell_integer(-1), cell_real(0.1),
                               cell_text("")});
  return finish(&output);
}

TEST(csv_follows_rfc_4180) {
  assert_text(two_rows((struct table_options){.format = OUTPUT_CSV}),
              "name,bytes,gbps,note\r\n"
              "host,67108864,55.2341,\r\n"
              "\"a \"\"b\"\",\n\x1b[2J|é\",-1,0.1,\"\"\r\n");
}

/* Formulas become texts, and nothing else is touched. */
TEST(spreadsheets_get_no_formulas) {
  const char *const columns[] = {"=tag", "n", "text"};
  struct output output;
  start(&output, (struct table_options){.format = OUTPUT_CSV_SAFE});
  begin(&output, columns, 3);
  add(&output,
      (struct cell[]){cell_text("=cmd|' /C calc'!A0"), cell_integer(-5), cell_text("a=1")});
  add(&output, (struct cell[]){cell_text("@SUM(1,2)"), cell_real(-0.5), cell_text("+1")});
  add(&output, (struct cell[]){cell_text("\t=1"), cell_null(), cell_text("-")});
  assert_text(finish(&output), "'=tag,n,text\r\n"
                               "'=cmd|' /C calc'!A0,-5,a=1\r\n"
                               "\"'@SUM(1,2)\",-0.5,'+1\r\n"
                               "'\t=1,,'-\r\n");
}

TEST(json_has_true_numbers) {
  SCOPED(memory_free) char *text = two_rows((struct table_options){.format = OUTPUT_JSON});
  assert_string_equal(text,
                      "[\n"
                      "{\"name\":\"host\",\"bytes\":67108864,\"gbps\":55.2341,\"note\":null},\n"
                      "{\"name\":\"a \\\"b\\\",\\n\\u001B[2J|é\",\"bytes\":-1,\"gbps\":0.1,"
                      "\"note\":\"\"}\n]\n");
  SCOPED(json_decref_at) json_t *rows = json_loads(text, 0, NULL);
  assert_int_equal(json_array_size(rows), 2);
  assert_true(json_is_integer(json_object_get(json_array_get(rows, 0), "bytes")));
  assert_true(json_real_value(json_object_get(json_array_get(rows, 1), "gbps")) == 0.1);
}

/* Unless a text has lost its end. */
TEST(json_has_arrays_of_columns_that_hold_them) {
  static const struct column columns[] = {{.name = "notes", .is_json = true}, {.name = "text"}};
  struct output output;
  start(&output, (struct table_options){.format = OUTPUT_JSONL});
  const struct row_sink *sink = table_sink(output.table);
  assert_ok(sink->begin(sink->context, columns, COUNT_OF(columns), err), err);
  add(&output, (struct cell[]){cell_text("[[\"a\", 1,\n null]]"), cell_text("[]")});
  add(&output, (struct cell[]){cell_text("[[\"a..."), cell_null()});
  add(&output, (struct cell[]){cell_null(), cell_null()});
  assert_text(finish(&output), "{\"notes\":[[\"a\",1,null]],\"text\":\"[]\"}\n"
                               "{\"notes\":\"[[\\\"a...\",\"text\":null}\n"
                               "{\"notes\":null,\"text\":null}\n");
}

TEST(jsonl_is_one_object_a_line) {
  SCOPED(memory_free) char *text = two_rows((struct table_options){.format = OUTPUT_JSONL});
  char *second = strchr(text, '\n') + 1;
  assert_int_equal(strchr(second, '\n') - second, strlen(second) - 1);
  SCOPED(json_decref_at) json_t *row = json_loads(second, 0, NULL);
  assert_string_equal(json_string_value(json_object_get(row, "name")), "a \"b\",\n\x1b[2J|é");
}

TEST(markdown_is_escaped) {
  assert_text(two_rows((struct table_options){.format = OUTPUT_MD}),
              "| name | bytes | gbps | note |\n"
              "| --- | ---: | ---: | --- |\n"
              "| host | 67108864 | 55.234 |  |\n"
              "| a \"b\",\\u000a\\u001b[2J\\|é | -1 | 0.1 |  |\n");
  struct output output;
  start(&output, (struct table_options){.format = OUTPUT_MD});
  begin(&output, (const char *const[]){"x"}, 1);
  add(&output, (struct cell[]){cell_text("<b> & *a* `c` \\")});
  assert_text(finish(&output), "| x |\n| --- |\n| &lt;b> &amp; \\*a\\* \\`c\\` \\\\ |\n");
}

TEST(a_table_is_aligned) {
  assert_text(two_rows((struct table_options){.format = OUTPUT_TABLE}),
              "name                        bytes    gbps  note\n"
              "host                     67108864  55.234\n"
              "a \"b\",\\u000a\\u001b[2J|é        -1     0.1\n");
}

TEST(texts_break_between_words) {
  const char *const columns[] = {"what", "gbps", "why"};
  struct output output;
  start(&output, (struct table_options){.format = OUTPUT_TABLE, .width = 40});
  begin(&output, columns, 3);
  add(&output, (struct cell[]){cell_text("é short"), cell_real(1.23456789012),
                               cell_text("the link was not as wide as it can be")});
  add(&output, (struct cell[]){cell_null(), cell_null(),
                               cell_text("aWordThatIsWiderThanItsColumnCanBe is cut")});
  add(&output, (struct cell[]){cell_null(), cell_null(),
                               cell_text("numa0:pageable-numa1:pageable/threads=2/4KiB")});
  add(&output, (struct cell[]){cell_null(), cell_null(),
                               cell_text("load.copy.direction=forward by_threads")});
  assert_text(finish(&output), "what       gbps  why\n"
                               "é short  1.2346  the link was not as\n"
                               "                 wide as it can be\n"
                               "                 aWordThatIsWiderThanIts\n"
                               "                 ColumnCanBe is cut\n"
                               "                 numa0:pageable-\n"
                               "                 numa1:pageable/\n"
                               "                 threads=2/4KiB\n"
                               "                 load.copy.direction=\n"
                               "                 forward by_threads\n");
}

TEST(empty_columns_are_left_out) {
  const char *const columns[] = {"number", "always_empty", "text"};
  static const struct {
    unsigned width;
    bool drop_empty;
    const char *expected;
  } CASES[] = {{0, false, "number  always_empty  text\n     1                x\n"},
               {0, true, "number  text\n     1  x\n"},
               {20, false, "number  text\n     1  x\n"}};
  for (size_t i = 0; i < 2 * COUNT_OF(CASES); i++) {
    const size_t k = i / 2;
    struct output output;
    start(&output, (struct table_options){.format = OUTPUT_TABLE,
                                          .width = CASES[k].width,
                                          .drop_empty = CASES[k].drop_empty});
    begin(&output, columns, 3);
    add(&output,
        (struct cell[]){cell_integer(1), i % 2 == 0 ? cell_null() : cell_text(""), cell_text("x")});
    assert_text(finish(&output), CASES[k].expected);
  }
}

TEST(nothing_is_told) {
  static const struct {
    enum output_format format;
    const char *empty;
    const char *expected;
    unsigned width;
  } CASES[] = {
      {OUTPUT_TABLE, NULL, "a  b\n", 0},
      {OUTPUT_TABLE, NULL, "a  b\n", 4},
      {OUTPUT_TABLE, NULL, "a\nb\n", 3},
      {OUTPUT_TABLE, "no runs yet", "no runs yet\n", 0},
      {OUTPUT_MD, NULL, "| a | b |\n| --- | --- |\n", 0},
      {OUTPUT_CSV, "no runs yet", "a,b\r\n", 0},
      {OUTPUT_JSON, "no runs yet", "[]\n", 0},
      {OUTPUT_JSONL, "no runs yet", "", 0},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    struct output output;
    start(&output, (struct table_options){.format = CASES[i].format,
                                          .empty = CASES[i].empty,
                                          .width = CASES[i].width});
    begin(&output, (const char *const[]){"a", "b"}, 2);
    assert_text(finish(&output), CASES[i].expected);
  }
}

TEST(bad_bytes_harm_no_format) {
  /* Invalid UTF-8, an overlong form, a surrogate, NUL, a C1 control, a direction mark (U+202E). */
  static const char BYTES[] = {'\xff', '\xc0', '\xaf', '\xed', '\xa0', '\x80',
                               '\0',   '\xc2', '\x9b', '\xe2', '\x80', '\xae'};
  for (int format = 0; format < (int)output_format_name_count; format++) {
    struct output output;
    struct cell cell = {.kind = CELL_TEXT, .as.text = {BYTES, sizeof BYTES}};
    start(&output, (struct table_options){.format = (enum output_format)format, .width = 80});
    begin(&output, (const char *const[]){"x"}, 1);
    add(&output, &cell);
    SCOPED(memory_free) char *text = finish(&output);
    if (format == OUTPUT_JSON || format == OUTPUT_JSONL) {
      SCOPED(json_decref_at) json_t *value = json_loads(text, JSON_ALLOW_NUL, NULL);
      assert_non_null(value);
    }
    if (format == OUTPUT_TABLE || format == OUTPUT_MD) {
      assert_contains(text, "\\u0000\\u009b\\u202e");
    }
  }
}

static void assert_reads_back(double value) {
  char text[NUMBER_TEXT_MAX];
  text_real_exact(value, text);
  assert_true(strtod(text, NULL) == value);
  struct output output;
  start(&output, (struct table_options){.format = OUTPUT_JSONL});
  begin(&output, (const char *const[]){"x"}, 1);
  add(&output, (struct cell[]){cell_real(value)});
  SCOPED(memory_free) char *line = finish(&output);
  SCOPED(json_decref_at) json_t *row = json_loads(line, 0, NULL);
  assert_true(json_is_real(json_object_get(row, "x")));
  if (json_real_value(json_object_get(row, "x")) != value) {
    fail_msg("%.17g is %s", value, line);
  }
}

TEST(reals_are_exact_for_machines) {
  static const double VALUES[] = {0.1,
                                  1.0 / 3,
                                  55.2341,
                                  1e300,
                                  5e-324,
                                  -0.0,
                                  123456.,
                                  1e15,
                                  4000000.000001,
                                  2.5e-5,
                                  100,
                                  1e22,
                                  M_PI,
                                  2.0 / 3,
                                  9007199254740993.,
                                  1.1125369292536007e-308,
                                  0.0001,
                                  0.00001234567890123456,
                                  -123456789012345678.,
                                  1234567890123456.,
                                  -1.0 / 3e200};
  char text[NUMBER_TEXT_MAX];
  char printed[320];
  for (size_t i = 0; i < COUNT_OF(VALUES); i++) {
    text_real_exact(VALUES[i], text);
    int digits = 15;
    do {
      (void)snprintf(printed, sizeof printed, "%.*g", digits++, VALUES[i]);
    } while (strtod(printed, NULL) != VALUES[i]);
    assert_true(strcmp(text, printed) == 0 || fabs(VALUES[i]) < DBL_MIN);
    assert_reads_back(VALUES[i]);
  }
  for (int power = -1074; power <= 1023; power++) {
    assert_reads_back(ldexp(1, power));
    assert_reads_back(-ldexp(1, power));
  }
  struct output output;
  start(&output, (struct table_options){.format = OUTPUT_JSONL});
  begin(&output, (const char *const[]){"x"}, 1);
  add(&output, (struct cell[]){cell_real(INFINITY)});
  assert_text(finish(&output), "{\"x\":null}\n");
}

TEST(reals_are_short_for_people) {
  static const struct {
    double value;
    const char *text;
  } CASES[] = {{0, "0"},
               {55.2, "55.2"},
               {55.35, "55.35"},
               {0.087, "0.087"},
               {-2.5, "-2.5"},
               {17, "17"},
               {4190.25, "4190.25"},
               {4190.3125, "4190.3"},
               {1234567.89, "1234567.89"},
               {0.3, "0.3"},
               {0.1 + 0.2, "0.30000"},
               {100.0 / 3, "33.333"},
               {4190.31234567, "4190.3"},
               {1e7 / 3, "3333333"},
               {1e14, "100000000000000"},
               {0.00123456789012, "0.0012346"},
               {1.23456e-9, "1.2346e-09"},
               {1e20, "1.0000e+20"}};
  char text[NUMBER_TEXT_MAX];
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    text_real_short(CASES[i].value, text);
    assert_string_equal(text, CASES[i].text);
  }
}

TEST(what_is_rounded_to_zero_has_no_sign) {
  static const struct {
    double value;
    int decimals;
    const char *expected;
  } CASES[] = {{-0.049, 1, "+0.0"}, {-0.051, 1, "-0.1"}, {-0.004, 2, "+0.00"}, {0.04, 1, "+0.0"}};
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    PRINTED(text, 16, "%+.*f", CASES[i].decimals, text_rounded(CASES[i].value, CASES[i].decimals));
    assert_string_equal(text, CASES[i].expected);
  }
}

TEST(long_tables_start_again) {
  struct output output;
  start(&output, (struct table_options){.format = OUTPUT_TABLE});
  begin(&output, (const char *const[]){"number"}, 1);
  for (int64_t i = 0; i <= TABLE_CHUNK_ROWS; i++) {
    add(&output, (struct cell[]){cell_integer(i)});
  }
  SCOPED(memory_free) char *text = finish(&output);
  assert_contains(text, " 19999\n\nnumber\n 20000\n");
}

/* What is written at once is not kept. */
TEST(rows_are_written_as_they_come) {
  static const enum output_format FORMATS[] = {OUTPUT_CSV, OUTPUT_JSON, OUTPUT_JSONL, OUTPUT_MD};
  for (size_t f = 0; f < COUNT_OF(FORMATS); f++) {
    struct output output;
    start(&output, (struct table_options){.format = FORMATS[f]});
    begin(&output, (const char *const[]){"a"}, 1);
    for (int64_t i = 0; i < 100; i++) {
      size_t before = output.size;
      add(&output, (struct cell[]){cell_integer(i)});
      assert_int_equal(fflush(output.stream), 0);
      assert_true(output.size > before);
    }
    free(finish(&output));
  }
}

TEST(a_reader_that_left_is_no_error) {
  (void)signal(SIGPIPE, SIG_IGN);
  for (int format = 0; format < (int)output_format_name_count; format++) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    (void)close(ends[0]);
    FILE *stream = fdopen(ends[1], "w");
    struct table_options options = {.format = (enum output_format)format, .stream = stream};
    struct table *table = table_new(&options);
    const struct row_sink *sink = table_sink(table);
    assert_ok(sink_begin(sink, (const char *const[]){"x"}, 1, err), err);
    for (int64_t i = 0; i < 30000; i++) {
      assert_ok(sink_row(sink, (struct cell[]){cell_integer(i)}, err), err);
    }
    assert_ok(sink_end(sink, err), err);
    assert_true(table_reader_gone(table));
    table_free(table);
    (void)fclose(stream);
  }
}

/* What is said of the failure begins on a line of its own. */
TEST(a_result_without_an_end_ends_its_line) {
  for (int format = 0; format < (int)output_format_name_count; format++) {
    struct output output;
    start(&output, (struct table_options){.format = (enum output_format)format});
    begin(&output, (const char *const[]){"x"}, 1);
    add(&output, (struct cell[]){cell_integer(1)});
    table_free(output.table);
    (void)fclose(output.stream);
    const size_t length = strlen(output.text);
    assert_true(length == 0 || output.text[length - 1] == '\n');
    free(output.text);
  }
}

TEST(a_full_device_is_an_error) {
  for (int format = 0; format < (int)output_format_name_count; format++) {
    FILE *stream = fopen("/dev/full", "w");
    struct table_options options = {.format = (enum output_format)format, .stream = stream};
    struct table *table = table_new(&options);
    const struct row_sink *sink = table_sink(table);
    assert_ok(sink_begin(sink, (const char *const[]){"x"}, 1, err), err);
    assert_ok(sink_row(sink, (struct cell[]){cell_integer(1)}, err), err);
    assert_fails(sink_end(sink, err), STATUS_IO, err, "cannot write the result");
    assert_false(table_reader_gone(table));
    table_free(table);
    (void)fclose(stream);
  }
}

TEST(a_sink_serves_several_results) {
  struct output output;
  start(&output, (struct table_options){.format = OUTPUT_CSV});
  const struct row_sink *sink = table_sink(output.table);
  for (int i = 0; i < 2; i++) {
    begin(&output, (const char *const[]){"x", "y"}, i == 0 ? 1 : 2);
    add(&output, (struct cell[]){cell_integer(i), cell_null()});
    if (i == 0) {
      assert_ok(sink_end(sink, err), err);
    }
  }
  assert_text(finish(&output), "x\r\n0\r\nx,y\r\n1,\r\n");
}

static int set_up(void **state) {
  return setlocale(LC_CTYPE, "C.UTF-8") != NULL ? 0 : -1;
}

TEST_GROUP(set_up, NULL);
