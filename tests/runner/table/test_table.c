#include "runner/table/table.h"

#include "runner/table/result_set.h"
#include "runner/table/text.h"
#include "tests/cmocka.h"

#include <float.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <unistd.h>

RELEASE(json_decref, json_t)

struct output {
  char *text;
  size_t size;
  FILE *stream;
  struct table *table;
};

static const char *const COLUMNS[] = {"name", "bytes", "gbps", "note"};
enum { COLUMN_COUNT = 4 };

static void start(struct output *output, struct table_options options) {
  *output = (struct output){0};
  output->stream = open_memstream(&output->text, &output->size);
  options.stream = output->stream;
  output->table = table_new(&options);
}

static void begin(struct output *output, const char *const *columns, size_t count) {
  struct error err = {0};
  const struct row_sink *sink = table_sink(output->table);
  assert_ok(sink_begin(sink, columns, count, &err), &err);
}

static void add(struct output *output, const struct cell *cells) {
  struct error err = {0};
  const struct row_sink *sink = table_sink(output->table);
  assert_ok(sink_row(sink, cells, &err), &err);
  assert_false(sink_has_enough(sink));
}

/* The text, which the caller frees. */
static char *finish(struct output *output) {
  struct error err = {0};
  const struct row_sink *sink = table_sink(output->table);
  assert_ok(sink_end(sink, &err), &err);
  table_free(output->table);
  assert_int_equal(fclose(output->stream), 0);
  return output->text;
}

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

static void assert_text(char *text, const char *expected) {
  if (strcmp(text, expected) != 0) {
    fail_msg("got:\n%s\nexpected:\n%s", text, expected);
  }
  free(text);
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

static void lines_within(const char *text, size_t width) {
  for (const char *line = text; *line != '\0';) {
    size_t length = strcspn(line, "\n");
    size_t characters = 0;
    for (size_t i = 0; i < length; i++) {
      characters += (line[i] & 0xc0) != 0x80;
    }
    if (characters > width) {
      fail_msg("%.*s is wider than %zu", (int)length, line, width);
    }
    line += length + (line[length] == '\n');
  }
}

TEST(a_table_fits_the_terminal) {
  const char *const columns[] = {"case", "gbps", "reason"};
  struct output output;
  start(&output, (struct table_options){.format = OUTPUT_TABLE, .width = 50});
  begin(&output, columns, 3);
  for (int i = 0; i < 3; i++) {
    add(&output,
        (struct cell[]){cell_text("host_to_device/numa0:pinned-gpu0/64MiB"), cell_real(55.2),
                        cell_text("GPU 0 and GPU 1 have no peer access")});
  }
  char *text = finish(&output);
  lines_within(text, 50);
  assert_contains(text, " 55.2 ");
  free(text);
  /* Too many columns even so: one line per value. */
  const char *many[12];
  struct cell cells[12];
  for (size_t i = 0; i < 12; i++) {
    many[i] = "eight_ch";
    cells[i] = cell_integer((int64_t)i);
  }
  start(&output, (struct table_options){.format = OUTPUT_TABLE, .width = 50});
  begin(&output, many, 12);
  add(&output, cells);
  add(&output, cells);
  text = finish(&output);
  lines_within(text, 50);
  assert_contains(text, "eight_ch  11\n\neight_ch  0\n");
  free(text);
}

/* A list is never turned: columns go in their order, then from the last, and are named below. */
TEST(a_list_leaves_columns_out) {
  const char *const columns[] = {"run", "scenario", "host", "driver", "remark"};
  const struct cell cells[] = {cell_integer(7), cell_text("comm-scope-fig08"), cell_text("node7"),
                               cell_text("580.159.04"), cell_text("simulated")};
  const struct cell others[] = {cell_integer(8), cell_text("quick"), cell_text("node8"),
                                cell_text("570.1"), cell_null()};
  struct output output;
  for (unsigned width = 8; width < 120; width++) {
    bool left_out[5] = {false};
    start(&output, (struct table_options){.format = OUTPUT_TABLE,
                                          .width = width,
                                          .narrow = "remark,nothing,host",
                                          .left_out = left_out});
    begin(&output, columns, 5);
    add(&output, cells);
    add(&output, others);
    SCOPED(memory_free) char *text = finish(&output);
    assert_int_equal(strncmp(text, "run", 3), 0);
    assert_null(strstr(text, "run  7"));
    if (width == 36) {
      assert_string_equal(text, "run  scenario          driver\n"
                                "  7  comm-scope-fig08  580.159.04\n"
                                "  8  quick             570.1\n"
                                "no room for host, remark: a wider\n"
                                "            terminal or --format csv\n"
                                "            shows them\n");
      lines_within(text, width);
    }
    assert_true((strstr(text, "no room for") == NULL) == (strstr(text, "simulated") != NULL));
    assert_true(left_out[4] == (strstr(text, "simulated") == NULL));
    assert_true(left_out[2] == (strstr(text, "node7") == NULL));
  }
}

/* A text that needs room is not wrapped narrower; what else has no room goes. */
TEST(a_list_keeps_room_for_texts) {
  const char *const columns[] = {"n", "case", "gbps", "q"};
  const struct cell cells[] = {cell_integer(7), cell_text("gpu0-gpu1/copy_engine/64MiB/threads=4"),
                               cell_integer(1234), cell_text("0.0001")};
  const struct cell others[] = {cell_integer(8), cell_text("gpu0"), cell_integer(5),
                                cell_text("1")};
  struct output output;
  for (size_t rows = 1; rows <= 2; rows++) {
    start(&output, (struct table_options){
                       .format = OUTPUT_TABLE, .width = 40, .narrow = "q,gbps", .listed_min = 30});
    begin(&output, columns, 4);
    add(&output, cells);
    if (rows == 2) {
      add(&output, others);
    }
    assert_text(finish(&output), rows == 2 ? "n  case                          gbps\n"
                                             "7  gpu0-gpu1/copy_engine/64MiB/  1234\n"
                                             "   threads=4\n"
                                             "8  gpu0                             5\n"
                                             "no room for q: a wider terminal or\n"
                                             "            --format csv shows them\n"
                                           : "n  case\n"
                                             "7  gpu0-gpu1/copy_engine/64MiB/threads=4\n"
                                             "other columns: gbps=1234, q=0.0001\n");
  }
  /* Columns after the semicolon stay, also in a table of one row, of which all share the values. */
  start(&output,
        (struct table_options){.format = OUTPUT_TABLE, .width = 30, .narrow = "gbps,q;n,case"});
  begin(&output, columns, 4);
  add(&output, cells);
  assert_text(finish(&output), "n  case\n"
                               "7  gpu0-gpu1/copy_engine/\n"
                               "   64MiB/threads=4\n"
                               "other columns: gbps=1234,\n"
                               "               q=0.0001\n");
  /* The first column goes where it is named alone. */
  start(&output, (struct table_options){.format = OUTPUT_TABLE, .width = 12, .narrow = "n"});
  begin(&output, columns + 2, 2);
  add(&output, (struct cell[]){cell_integer(1234), cell_text("0.0001 and a text")});
  char *kept = finish(&output);
  assert_int_equal(strncmp(kept, "gbps", 4), 0);
  free(kept);
  start(&output, (struct table_options){.format = OUTPUT_TABLE, .width = 10, .narrow = "gbps"});
  begin(&output, columns + 2, 2);
  add(&output, (struct cell[]){cell_integer(1234), cell_text("0.0001")});
  kept = finish(&output);
  assert_int_equal(strncmp(kept, "q\n", 2), 0);
  free(kept);
}

/* A last text that is longer than a few lines beside the others has lines of its own. */
TEST(a_list_has_long_remarks_below_its_rows) {
  static const char *const columns[] = {"case", "q", "gbps", "remark"};
  struct output output;
  for (size_t with = 0; with <= 1; with++) {
    start(&output, (struct table_options){.format = OUTPUT_TABLE, .width = 50, .narrow = "q"});
    begin(&output, columns, 4);
    add(&output, (struct cell[]){cell_text("host_to_device/numa0:pinned-gpu0/256MiB"),
                                 cell_text("0.0001"), cell_real(55.35), cell_null()});
    add(&output, (struct cell[]){cell_text("host_to_device/numa0:pageable-gpu0/4KiB"),
                                 cell_text("1"), cell_real(1.725),
                                 cell_text(with > 0 ? "the time includes the driver's call, as the "
                                                      "copies block the host"
                                                    : "")});
    assert_text(finish(&output), with > 0 ? "case                                      gbps\n"
                                            "host_to_device/numa0:pinned-gpu0/256MiB  55.35\n"
                                            "host_to_device/numa0:pageable-gpu0/4KiB  1.725\n"
                                            "    the time includes the driver's call, as the\n"
                                            "    copies block the host\n"
                                            "indented: remark\n"
                                            "no room for q: a wider terminal or --format csv\n"
                                            "            shows them\n"
                                          : "case                      q        gbps  remark\n"
                                            "host_to_device/           0.0001  55.35\n"
                                            "numa0:pinned-gpu0/256MiB\n"
                                            "host_to_device/           1       1.725\n"
                                            "numa0:pageable-gpu0/4KiB\n");
  }
}

/* What all rows share stands below them, if texts are broken less often then. */
TEST(a_list_says_once_what_would_break_its_texts) {
  static const char *const columns[] = {"case", "value", "unit"};
  struct output output;
  start(&output, (struct table_options){.format = OUTPUT_TABLE, .width = 38, .narrow = "unit"});
  begin(&output, columns, 3);
  static const char *const CASES[] = {"host_to_device/numa0:pageable-gpu2/256MiB",
                                      "host_to_device/numa0:pageable-gpu3/256MiB"};
  for (size_t i = 0; i < 2; i++) {
    add(&output,
        (struct cell[]){cell_text(CASES[i]), cell_real(1.25 + (double)i), cell_text("GB/s")});
  }
  assert_text(finish(&output), "case                            value\n"
                               "host_to_device/numa0:pageable-   1.25\n"
                               "gpu2/256MiB\n"
                               "host_to_device/numa0:pageable-   2.25\n"
                               "gpu3/256MiB\n"
                               "in all rows unit=GB/s\n");
}

/* Texts, the first one too, are wrapped as far as can be before a column goes that is not named. */
TEST(a_list_keeps_columns_that_are_not_named) {
  static const char *const columns[] = {"block", "path", "gbps", "q", "remark"};
  enum { NARROWEST = 12 + 2 + 12 + 2 + 5 + 2 + 6, WIDEST = 90 };
  for (unsigned width = NARROWEST - 1; width <= WIDEST; width++) {
    struct output output;
    start(&output, (struct table_options){.format = OUTPUT_TABLE, .width = width, .narrow = "q"});
    begin(&output, columns, 5);
    add(&output,
        (struct cell[]){cell_text("host_to_device_bidirectional"), cell_text("numa0:pinned-gpu0"),
                        cell_real(55.35), cell_text("0.0001"), cell_text("[1,2]")});
    add(&output, (struct cell[]){cell_text("local"), cell_text("gpu0-gpu0"), cell_real(2077),
                                 cell_text("1"), cell_text("[2]")});
    SCOPED(memory_free) char *text = finish(&output);
    assert_true((strstr(text, "[1,2]") != NULL) == (width >= NARROWEST));
    assert_contains(text, "55.35");
    if (width == 50) {
      assert_string_equal(text, "block            path            gbps  remark\n"
                                "host_to_device_  numa0:pinned-  55.35  [1,2]\n"
                                "bidirectional    gpu0\n"
                                "local            gpu0-gpu0       2077  [2]\n"
                                "no room for q: a wider terminal or --format csv\n"
                                "            shows them\n");
    }
    lines_within(text, width);
  }
}

/* What all rows share is said once; of the others those go last without which rows are alike. */
TEST(a_list_keeps_what_tells_rows_apart) {
  static const char *const columns[] = {"block", "order", "threads", "note", "host", "gbps"};
  const char *const rows[][4] = {
      {"by_gpu", "linear", "a", "node7"},
      {"by_gpu", "random", "a", "node7"},
      {"by_host", "linear", "c", "node7"},
  };
  static const struct {
    unsigned width;
    const char *expected;
  } CASES[] = {
      {43, "block    order   threads  note  host   gbps\n"
           "by_gpu   linear        4  a     node7   1.5\n"},
      {42, "block    order   note  host   gbps\n"
           "by_gpu   linear  a     node7   1.5\n"
           "by_gpu   random  a     node7   2.5\n"
           "by_host  linear  c     node7   3.5\n"
           "in all rows threads=4\n"},
      {26, "block    order   gbps\n"
           "by_gpu   linear   1.5\n"
           "by_gpu   random   2.5\n"
           "by_host  linear   3.5\n"
           "in all rows threads=4,\n"
           "            host=node7\n"
           "no room for note: a wider\n"
           "            terminal or\n"
           "            --format csv\n"
           "            shows them\n"},
      {20, "block    gbps\n"
           "by_gpu    1.5\n"
           "by_gpu    2.5\n"},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    struct output output;
    start(&output, (struct table_options){.format = OUTPUT_TABLE,
                                          .width = CASES[i].width,
                                          .narrow = "threads,order,note"});
    begin(&output, columns, 6);
    for (size_t row = 0; row < 3; row++) {
      add(&output, (struct cell[]){cell_text(rows[row][0]), cell_text(rows[row][1]),
                                   cell_integer(4), cell_text(rows[row][2]),
                                   cell_text(rows[row][3]), cell_real(1.5 + (double)row)});
    }
    SCOPED(memory_free) char *text = finish(&output);
    if (strncmp(text, CASES[i].expected, strlen(CASES[i].expected)) != 0) {
      fail_msg("%u columns:\n%s", CASES[i].width, text);
    }
  }
}

TEST(numbers_keep_their_units) {
  SCOPED(strbuf_fini) struct strbuf text;
  strbuf_init(&text, 1000);
  text_wrap(&text, "L2 (one) 2 MiB; 48.5 GB/s (+12 %), 4 GPUs, 123456789 MiB a lot 2 MiBs", 12, 0,
            false);
  assert_string_equal(
      text.text, "L2 (one)\n2 MiB;\n48.5 GB/s\n(+12 %), 4\nGPUs,\n123456789\nMiB a lot 2\nMiBs");
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
  } CASES[] = {
      {OUTPUT_TABLE, NULL, "a  b\n"},
      {OUTPUT_TABLE, "no runs yet", "no runs yet\n"},
      {OUTPUT_MD, NULL, "| a | b |\n| --- | --- |\n"},
      {OUTPUT_CSV, "no runs yet", "a,b\r\n"},
      {OUTPUT_JSON, "no runs yet", "[]\n"},
      {OUTPUT_JSONL, "no runs yet", ""},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    struct output output;
    start(&output, (struct table_options){.format = CASES[i].format, .empty = CASES[i].empty});
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
