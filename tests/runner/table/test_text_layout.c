#include "runner/table/text_layout.h"

#include "tests/runner/table/output.h"

#include <locale.h>

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

/* What has no value in any row is named once. */
TEST(a_table_of_records_leaves_out_empty_columns) {
  static const char *const columns[] = {"case_name", "tag", "gbps", "reason", "driver_version"};
  struct output output;
  start(&output, (struct table_options){.format = OUTPUT_TABLE, .width = 30});
  begin(&output, columns, 5);
  for (size_t i = 0; i < 2; i++) {
    add(&output, (struct cell[]){cell_text("up/numa0:pinned-gpu0/64MiB"), cell_null(),
                                 cell_real(55 + (double)i), cell_text(""),
                                 cell_text(i > 0 ? "580.159.04" : NULL)});
  }
  assert_text(finish(&output), "case_name       up/\n"
                               "                numa0:pinned-\n"
                               "                gpu0/64MiB\n"
                               "gbps            55\n"
                               "driver_version\n"
                               "\n"
                               "case_name       up/\n"
                               "                numa0:pinned-\n"
                               "                gpu0/64MiB\n"
                               "gbps            56\n"
                               "driver_version  580.159.04\n"
                               "\n"
                               "without a value: tag, reason\n");
}

TEST(a_table_of_records_may_have_columns_without_a_name) {
  static const char *const columns[] = {"case_name_that_is_long", ""};
  struct output output;
  start(&output, (struct table_options){.format = OUTPUT_TABLE, .width = 24});
  begin(&output, columns, 2);
  add(&output, (struct cell[]){cell_integer(1), cell_null()});
  add(&output, (struct cell[]){cell_integer(2), cell_text("580.159.04")});
  assert_text(finish(&output), "case_name_that_is_long  1\n"
                               "\n"
                               "\n"
                               "case_name_that_is_long  2\n"
                               "                        580.159.04\n");
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
                                "no room for host, remark: use a\n"
                                "            wider terminal or\n"
                                "            --format csv\n");
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
                                             "no room for q: use a wider terminal or\n"
                                             "            --format csv\n"
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
                                            "Indented lines: remark\n"
                                            "no room for q: use a wider terminal or --format\n"
                                            "            csv\n"
                                          : "case                      q        gbps  remark\n"
                                            "host_to_device/           0.0001  55.35\n"
                                            "numa0:pinned-gpu0/256MiB\n"
                                            "host_to_device/           1       1.725\n"
                                            "numa0:pageable-gpu0/4KiB\n");
  }
}

/* Once for rows after one another. */
TEST(a_list_says_the_same_remark_once) {
  static const char *const columns[] = {"case", "gbps", "reason"};
  static const char *const CASES[] = {"device_to_device_read_ce", "device_to_device_read_sm",
                                      "device_to_device_write_ce", "host_to_device_ce",
                                      "device_to_device_write_sm"};
  static const char TWO[] = "needs two GPUs, this machine has 1";
  struct output output;
  start(&output, (struct table_options){.format = OUTPUT_TABLE, .width = 44, .narrow = "reason"});
  begin(&output, columns, 3);
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    const bool is_skipped = i != 3;
    add(&output, (struct cell[]){cell_text(CASES[i]), is_skipped ? cell_null() : cell_real(55.35),
                                 is_skipped ? cell_text(i == 2 ? "too old" : TWO) : cell_null()});
  }
  assert_text(finish(&output), "case                        gbps\n"
                               "device_to_device_read_ce\n"
                               "device_to_device_read_sm\n"
                               "    needs two GPUs, this machine has 1 (the\n"
                               "    2 rows above)\n"
                               "device_to_device_write_ce\n"
                               "    too old\n"
                               "host_to_device_ce          55.35\n"
                               "device_to_device_write_sm\n"
                               "    needs two GPUs, this machine has 1\n"
                               "Indented lines: reason\n");
}

/* It has them too where other columns, which are needed less, leave no room for it. */
TEST(a_list_hides_no_long_remark) {
  static const char *const columns[] = {"run", "scenario", "host", "status", "reason"};
  struct output output;
  for (unsigned width = 2 * (20 + 1); width < 100; width++) {
    start(&output, (struct table_options){
                       .format = OUTPUT_TABLE, .width = width, .narrow = "host,reason,status"});
    begin(&output, columns, 5);
    add(&output, (struct cell[]){cell_integer(7), cell_text("comm-scope-fig08"), cell_text("node7"),
                                 cell_text("interrupted"), cell_text("stopped by SIGTERM at 3 %")});
    add(&output, (struct cell[]){cell_integer(8), cell_text("quick"), cell_text("node8"),
                                 cell_text("done"), cell_null()});
    SCOPED(memory_free) char *text = finish(&output);
    assert_contains(text, "SIGTERM");
    if (width == 42) {
      assert_string_equal(text, "run  scenario          host   status\n"
                                "  7  comm-scope-fig08  node7  interrupted\n"
                                "    stopped by SIGTERM at 3 %\n"
                                "  8  quick             node8  done\n"
                                "Indented lines: reason\n");
    }
    lines_within(text, width);
  }
}

/* Columns that it can do without go where names would be broken over many lines, and where they
 * would not, they stay. */
TEST(a_list_breaks_few_names) {
  static const char *const columns[] = {"case", "trials", "peak", "gbps"};
  for (size_t i = 0; i < 2; i++) {
    struct output output;
    start(&output,
          (struct table_options){.format = OUTPUT_TABLE, .width = 50, .narrow = "trials,peak"});
    begin(&output, columns, 4);
    for (size_t row = 0; row < 20; row++) {
      PRINTED(name, 64, "gpu%zu%s", row,
              row > 2 && i == 0 ? "" : "/host_to_device_by_copy_engine/64MiB");
      add(&output, (struct cell[]){cell_text(name), cell_integer((int64_t)row),
                                   cell_real(55 + (double)row), cell_real(54 + (double)row)});
    }
    SCOPED(memory_free) char *text = finish(&output);
    assert_true((strstr(text, "trials  peak") != NULL) == (i == 0));
    assert_true((strstr(text, "\ngpu1/host_to_device_by_copy_engine/64MiB") != NULL) == (i == 1));
  }
}

/* What all rows share stands above them, if texts are broken less often then. */
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
  assert_text(finish(&output), "in all rows unit=GB/s\n"
                               "case                            value\n"
                               "host_to_device/numa0:pageable-   1.25\n"
                               "gpu2/256MiB\n"
                               "host_to_device/numa0:pageable-   2.25\n"
                               "gpu3/256MiB\n");
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
                                "no room for q: use a wider terminal or --format\n"
                                "            csv\n");
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
      {42, "in all rows threads=4\n"
           "block    order   note  host   gbps\n"
           "by_gpu   linear  a     node7   1.5\n"
           "by_gpu   random  a     node7   2.5\n"
           "by_host  linear  c     node7   3.5\n"},
      {26, "in all rows threads=4,\n"
           "            host=node7\n"
           "block    order   gbps\n"
           "by_gpu   linear   1.5\n"
           "by_gpu   random   2.5\n"
           "by_host  linear   3.5\n"
           "no room for note: use a\n"
           "            wider terminal\n"
           "            or --format\n"
           "            csv\n"},
      {20, "in all rows threads=4,\n"
           "            host=node7\n"
           "block    gbps\n"
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

/* No row loses its last number: of the others, the names break first. */
TEST(a_list_keeps_a_number_in_each_row) {
  static const char *const columns[] = {"case", "gbps", "percent", "median_ns", "ns_per_hop"};
  static const char BANDWIDTH[] = "case                   gbps  ns_per_hop\n"
                                  "up/numa0:pinned-gpu0   55.1\n"
                                  "latency/numa0:pinned-            1190.5\n"
                                  "gpu0\n";
  struct output output;
  start(&output, (struct table_options){.format = OUTPUT_TABLE,
                                        .width = 42,
                                        .narrow = "percent,median_ns,ns_per_hop"});
  begin(&output, columns, 5);
  add(&output, (struct cell[]){cell_text("up/numa0:pinned-gpu0"), cell_real(55.1), cell_real(87.4),
                               cell_real(4096.5), cell_null()});
  add(&output, (struct cell[]){cell_text("latency/numa0:pinned-gpu0"), cell_null(), cell_null(),
                               cell_real(8192.5), cell_real(1190.5)});
  char *text = finish(&output);
  if (strncmp(text, BANDWIDTH, strlen(BANDWIDTH)) != 0) {
    fail_msg("%s", text);
  }
  free(text);
}

/* Two columns to be compared go together, when names cannot be broken further. */
TEST(a_list_leaves_out_both_sides_or_none) {
  static const char *const columns[] = {"case", "A +", "B +", "change %", "q"};
  bool both = false;
  for (unsigned width = 28; width < 80; width++) {
    struct output output;
    start(&output, (struct table_options){
                       .format = OUTPUT_TABLE, .width = width, .narrow = "q,A +&B +;case"});
    begin(&output, columns, 5);
    for (int i = 0; i < 2; i++) {
      add(&output,
          (struct cell[]){cell_text(i > 0 ? "host_to_device/numa0:pinned-gpu0/64MiB" : "local"),
                          cell_text("55.11 GB/s"), cell_text(i > 0 ? "50.11 GB/s" : "1190 ns"),
                          cell_text("-8.38 .. -5.57"), cell_text("0.0001")});
    }
    SCOPED(memory_free) char *text = finish(&output);
    const bool a = strstr(text, "55.11") != NULL;
    assert_true(a == (strstr(text, "50.11") != NULL));
    assert_true(a == (strstr(text, "A +,") == NULL && strstr(text, "A +=") == NULL));
    assert_true(a || !both);
    assert_true(a == (width >= 12 + 2 + 10 + 2 + 10 + 2 + 12));
    assert_contains(text, "-8.38");
    both = a;
  }
}

/* Signed numbers are measured, also as texts: that they differ does not tell what rows are. */
TEST(a_list_keeps_what_tells_rows_apart_but_for_numbers) {
  static const char *const columns[] = {"what", "block", "memory", "change %", "slow cases"};
  struct output output;
  start(&output,
        (struct table_options){.format = OUTPUT_TABLE, .width = 30, .narrow = "slow cases,memory"});
  begin(&output, columns, 5);
  for (int i = 0; i < 2; i++) {
    add(&output, (struct cell[]){cell_text("gpu0"), cell_text("host_to_device"),
                                 cell_text(i > 0 ? "pageable" : "pinned"),
                                 cell_text(i > 0 ? "+0.02" : "-0.01, -0.02"),
                                 cell_text(i > 0 ? "1 of 2" : "0 of 2")});
  }
  assert_text(finish(&output), "in all rows what=gpu0,\n"
                               "            block=host_to_device\n"
                               "memory    change %\n"
                               "pinned    -0.01, -0.02\n"
                               "pageable  +0.02\n"
                               "no room for slow cases: use a\n"
                               "            wider terminal or\n"
                               "            --format csv\n");
}

static int set_up(void **state) {
  return setlocale(LC_CTYPE, "C.UTF-8") != NULL ? 0 : -1;
}

TEST_GROUP(set_up, NULL);
