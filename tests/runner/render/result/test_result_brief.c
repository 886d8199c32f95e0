/* The short form of a result: one line for a block whose places agree, and the answer. */
#include "runner/render/result/result_block.h"
#include "tests/runner/render/result/said.h"

/* A block whose places agree is one line; one that differs by more, or has a slow case, is whole.
 */
TEST(places_that_agree_are_one_line) {
  const struct said said[] = {
      {.block = "up", SAID_UP(0, "pinned"), .gbps = 55.0},
      {.block = "up", SAID_UP(1, "pinned"), .gbps = 55.5, .spread = 0.3},
      {.block = "up", SAID_UP(3, "pinned"), .status = "skipped", .reason = "why ever"},
      {.block = "down", SAID_DOWN(0), .gbps = 54, .notes = SAID_REMARK("odd")},
      {.block = "down", SAID_DOWN(2), .gbps = 54},
      {.block = "peers", SAID_GPUS(0, 1), .gbps = 300},
      {.block = "peers", SAID_GPUS(1, 0), .gbps = 290},
      {.block = "again", SAID_GPUS(0, 1), .gbps = 300, .same_as = "peers/x", .same_block = "peers"},
      {.block = "again", SAID_GPUS(1, 0), .gbps = 300, .same_as = "peers/y", .same_block = "peers"},
  };
  expect_result_as(&(struct run_result_options){.brief = true, .answer = true}, said,
                   COUNT_OF(said), 0,
                   "Size: 4KiB\n"
                   "block  path                                GB/s  +/- %  % of peak  note\n"
                   "up     numa0:pinned-gpu0..1, 2 cases  55.0-55.5   0.30       13.8\n"
                   "down   gpu0,2-numa0:pinned, 2 cases       54.00   0.05       13.5  a\n"
                   "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n"
                   "\n"
                   "peers\n"
                   "1MiB by ce: GB/s from row to column\n"
                   "       gpu0   gpu1\n"
                   "gpu0    N/A  300.0\n"
                   "gpu1  290.0    N/A\n"
                   "min 290.0, mean 295.0, max 300.0 GB/s; 72.5 to 75.0 % of peak (NVLink "
                   "400.0 GB/s); largest +/- 0.05 %\n"
                   "\n"
                   "again\n"
                   "1MiB by ce: GB/s\n"
                   "path                       GB/s  +/- %  % of peak  note\n"
                   "gpu0..1-gpu0..1, 2 cases  300.0   0.05       75.0  b\n"
                   "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n"
                   "\n"
                   "a  odd\n"
                   "b  2 cases: Duplicate of another case, measured once.\n"
                   "\n"
                   "Host to GPU   55.0-55.5 GB/s pinned (4KiB)\n"
                   "GPU to host   54.00 GB/s pinned (4KiB)\n"
                   "GPU to GPU    300.0 GB/s (1MiB)\n"
                   "Notes         3 of 9 cases have a note\n");
}

#define PLACES(from, to) .path = from "-" to, .source = from, .target = to

/* Up to four sizes and kinds of memory are rows of the table that neighbours share. */
TEST(a_line_stands_for_each_size) {
  const struct said said[] = {
      {.block = "up", PLACES("numa0", "gpu0"), .gbps = 20, .size_bytes = 4096},
      {.block = "up", PLACES("numa0", "gpu1"), .gbps = 20, .size_bytes = 4096},
      {.block = "up", PLACES("numa0", "gpu0"), .gbps = 55, .size_bytes = 64 << 20},
      {.block = "up", PLACES("numa0", "gpu1"), .gbps = 55, .size_bytes = 64 << 20},
      {.block = "down", SAID_DOWN(0), .gbps = 54},
  };
  expect_result_as(&(struct run_result_options){.brief = true}, said, COUNT_OF(said), 0,
                   "block  path                     size   GB/s  +/- %  % of peak\n"
                   "up     numa0-gpu0..1, 2 cases   4KiB  20.00   0.05        5.0\n"
                   "up     numa0-gpu0..1, 2 cases  64MiB  55.00   0.05       13.8\n"
                   "down   gpu0-numa0:pinned        4KiB  54.00   0.05       13.5\n"
                   "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n");
}

/* Of each kind of path what its pairs reach: the best of large copies, the slowest pair named. */
TEST(the_answer_stands_at_the_end) {
  const struct said said[] = {
      {.block = "s", SAID_UP(0, "pinned"), .gbps = 90},
      {.block = "s", PLACES("numa0", "gpu0"), .gbps = 50, .size_bytes = 64 << 20},
      {.block = "s", PLACES("numa0", "gpu0"), .gbps = 40, .size_bytes = 1 << 30, .axes = "x=1"},
      {.block = "p", SAID_GPUS(0, 1), .gbps = 300},
      {.block = "p", SAID_GPUS(1, 0), .gbps = 250},
      {.block = "p", SAID_GPUS(1, 2), .status = "hung", .reason = "no answer"},
      {.block = "l", SAID_GPUS(2, 2), .gbps = 2000, .spread = 60},
      {.block = "b", SAID_GPUS(2, 0), .gbps = 900, .flows = 2},
      {.block = "b", SAID_GPUS(2, 1), .gbps = 900, .under_load = true},
  };
  expect_result_as(&(struct run_result_options){.answer = true}, said, COUNT_OF(said), 0,
                   "s\n"
                   "by ce: GB/s\n"
                   "path               settings   size   GB/s  +/- %  % of peak\n"
                   "numa0:pinned-gpu0             4KiB  90.00   0.05       22.5\n"
                   "numa0-gpu0                   64MiB  50.00   0.05       12.5\n"
                   "numa0-gpu0         x=1        1GiB  40.00   0.05       10.0\n"
                   "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n"
                   "\n"
                   "p\n"
                   "1MiB by ce: GB/s from row to column\n"
                   "       gpu0   gpu1  gpu2\n"
                   "gpu0    N/A  300.0   N/A\n"
                   "gpu1  250.0    N/A  hung  a\n"
                   "min 250.0, mean 275.0, max 300.0 GB/s; 62.5 to 75.0 % of peak (NVLink "
                   "400.0 GB/s); largest +/- 0.05 %\n"
                   "\n"
                   "l\n"
                   "1MiB by ce: GB/s\n"
                   "path        GB/s     +/- %  % of peak\n"
                   "gpu2-gpu2  ~2000  -38/+150      500.0\n"
                   "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n"
                   "\n"
                   "b\n"
                   "1MiB by ce: GB/s of all flows, over one window\n"
                   "path        GB/s  +/- %  % of peak\n"
                   "gpu2-gpu0  900.0   0.05      225.0\n"
                   "gpu2-gpu1  900.0   0.05      225.0\n"
                   "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n"
                   "\n"
                   "a  no answer\n"
                   "\n"
                   "No result     1 of 9 cases: hung\n"
                   "Host to GPU   40.00 GB/s (1GiB x=1)\n"
                   "GPU to GPU    250.0-300.0 GB/s (1MiB); lowest: gpu1 to gpu0\n"
                   "Within a GPU  ~2000 GB/s (1MiB)\n"
                   "Notes         1 of 9 cases has a note\n");
}

#define UP(to, memory)                                                                             \
  .block = "up", .path = "numa0:" memory "-" to, .source = "numa0", .source_memory = memory,       \
  .target = to, .target_memory = "device"

static void expect_answer(const struct said *said, size_t count, const char *expected) {
  SCOPED(result_set_fini) struct result_set rows;
  struct document document;
  struct error err;
  said_rows(&rows, said, count);
  CAPTURE(out);
  document_begin(&document, &(struct table_options){.stream = out.stream}, &err);
  run_result_answer(&rows, &document);
  assert_int_equal(document_end(&document), STATUS_OK);
  assert_string_equal(capture_text(&out), expected);
}

/* What failed is said first, and its place is not judged by a smaller size, another memory or
 * method. */
TEST(what_failed_is_no_slow_link) {
  const struct said said[] = {
      {UP("gpu0", "pinned"), .gbps = 1.7, .size_bytes = 4096},
      {UP("gpu1", "pinned"), .gbps = 1.7, .size_bytes = 4096},
      {UP("gpu0", "pinned"), .gbps = 55, .size_bytes = 64 << 20},
      {UP("gpu1", "pinned"), .size_bytes = 64 << 20, .status = "hung", .reason = "x"},
      {UP("gpu1", "pinned"), .gbps = 40, .size_bytes = 64 << 20, .method = "sm"},
      {UP("gpu0", "pageable"), .gbps = 9, .size_bytes = 64 << 20},
      {UP("gpu1", "pageable"), .gbps = 8, .size_bytes = 64 << 20},
      {UP("gpu2", "pinned"), .size_bytes = 64 << 20, .status = "crashed", .reason = "y"},
  };
  expect_answer(said, COUNT_OF(said),
                "No result     2 of 8 cases: 1 crashed, 1 hung\n"
                "Host to GPU   55.00 GB/s pinned by ce, 40.00 by sm, 8.000-9.000 pageable (64MiB); "
                "lowest pageable: numa0 to gpu1\n");
}

/* A small copy measures latency. It stands for a link only where that is said. */
TEST(the_answer_has_the_largest_copies) {
  static const struct said SIZES[] = {
      {UP("gpu0", "pinned"), .axes = "threads=1 size=16MiB", .gbps = 77, .size_bytes = 16 << 20},
      {UP("gpu0", "pinned"), .axes = "threads=1 size=32MiB", .gbps = 60, .size_bytes = 32 << 20},
      {UP("gpu0", "pinned"), .axes = "threads=2 size=32MiB", .gbps = 70, .size_bytes = 32 << 20},
      {UP("gpu0", "pinned"), .gbps = 99, .size_bytes = 4096}};
  expect_answer(SIZES, COUNT_OF(SIZES), "Host to GPU   70.00 GB/s pinned (32MiB threads=2)\n");
  static const struct said ABOVE[] = {
      {UP("gpu0", "pinned"), .gbps = 500, .size_bytes = 256 << 20, .above_peak = true},
      {UP("gpu0", "pinned"), .gbps = 1.7, .size_bytes = 4096}};
  expect_answer(ABOVE, 2,
                "Host to GPU   1.700 GB/s pinned (4KiB); copies of 256MiB exceed their peak and do "
                "not count\n");
  expect_answer(ABOVE, 1,
                "Host to GPU   none: copies of 256MiB exceed their peak and do not count\n");
  static const struct said HOST[] = {
      {UP("gpu0", "pinned"), .gbps = 55, .size_bytes = 64 << 20},
      {UP("gpu1", "pinned"), .gbps = 40, .size_bytes = 64 << 20, .spread = 60},
      {UP("numa1", "pinned"), .gbps = 12, .size_bytes = 64 << 20}};
  expect_answer(HOST, COUNT_OF(HOST),
                "Host to GPU   ~40-55 GB/s pinned (64MiB); lowest: numa0 to gpu1\n"
                "Host to host  12.00 GB/s pinned (64MiB)\n");
  /* A latency stands beside no rate, and a rate of another size has that size. */
  static const struct said MEMORIES[] = {
      {UP("gpu0", "pinned"), .gbps = 55, .size_bytes = 256 << 20},
      {UP("gpu1", "pinned"), .gbps = 50, .size_bytes = 1 << 30},
      {UP("gpu0", "pageable"), .gbps = 1.5, .size_bytes = 4096},
      {UP("gpu1", "pageable"), .gbps = 9, .size_bytes = 64 << 20}};
  expect_answer(MEMORIES, 3,
                "Host to GPU   50.00-55.00 GB/s pinned (256MiB to 1GiB); lowest: numa0 to gpu1\n");
  expect_answer(MEMORIES, 4,
                "Host to GPU   50.00-55.00 GB/s pinned (256MiB to 1GiB), 9.000 pageable (64MiB); "
                "lowest pinned: numa0 to gpu1\n");
  /* Pageable memory is the last, whichever is faster; small copies of the other do not count. */
  static const struct said HUGE[] = {{UP("numa1", "huge"), .gbps = 1.5, .size_bytes = 4096},
                                     {UP("numa1", "pageable"), .gbps = 36, .size_bytes = 64 << 20},
                                     {UP("numa1", "huge"), .gbps = 12, .size_bytes = 64 << 20}};
  expect_answer(HUGE, 2, "Host to host  36.00 GB/s pageable (64MiB)\n");
  expect_answer(HUGE, 3, "Host to host  12.00 GB/s huge, 36.00 pageable (64MiB)\n");
  static const struct said BOTH[] = {
      {UP("gpu0", "pinned"), .gbps = 55, .size_bytes = 64 << 20},
      {UP("gpu0", "pinned"), .gbps = 92, .size_bytes = 64 << 20, .direction = "both", .flows = 2}};
  expect_answer(BOTH, COUNT_OF(BOTH),
                "Host to GPU   55.00 GB/s pinned (64MiB)\n"
                "Both ways     92.00 GB/s pinned (64MiB)\n");
}

/* A line for several places is named as its cases are: a chase by who reads, then the memory. */
TEST(a_line_has_the_path_of_its_cases) {
#define OWN(gpu)                                                                                   \
  .path = gpu ":global", .source = gpu, .source_memory = "device", .target = gpu, .size_bytes = 4096
#define HOST(gpu)                                                                                  \
  .path = gpu "-numa0:pinned", .source = "numa0", .source_memory = "pinned", .target = gpu,        \
  .size_bytes = 4096
  const struct said said[] = {
      {.block = "own", OWN("gpu0"), .ns_per_hop = 400, .cycles = 800},
      {.block = "own", OWN("gpu1"), .ns_per_hop = 400, .cycles = 800},
      {.block = "host", HOST("gpu0"), .ns_per_hop = 900, .cycles = 1800},
      {.block = "host", HOST("gpu1"), .ns_per_hop = 900, .cycles = 1800},
  };
  expect_result_as(&(struct run_result_options){.brief = true}, said, COUNT_OF(said), 0,
                   "Size: 4KiB\n"
                   "block  path                           ns/hop  cycles/hop  +/- %\n"
                   "own    gpu0..1:global, 2 cases         400.0       800.0   0.05\n"
                   "host   gpu0..1-numa0:pinned, 2 cases   900.0        1800   0.05\n");
}

TEST(the_slowest_latency_is_named_behind_its_kind) {
  const struct said said[] = {
      {.block = "host", HOST("gpu0"), .ns_per_hop = 900, .cycles = 1800},
      {.block = "host", HOST("gpu1"), .ns_per_hop = 990, .cycles = 1980},
  };
  expect_result_as(
      &(struct run_result_options){.answer = true}, said, COUNT_OF(said), 0,
      "host\n"
      "4KiB: ns per hop: row = memory, column = GPU that reads\n"
      "               gpu0   gpu1\n"
      "numa0:pinned  900.0  990.0\n"
      "min 900.0, mean 945.0, max 990.0 ns; 1800 to 1980 cycles per hop; largest +/- 0.05 %\n"
      "\n"
      "Latency       900.0-990.0 ns from a GPU to host memory; slowest: gpu1 to numa0\n");
}

/* A note on all cases has no letter, and the answer counts those that have one. */
TEST(notes_on_all_cases_do_not_count) {
  const struct said said[] = {
      {UP("gpu0", "pinned"), .gbps = 55, .size_bytes = 4096, .flushed = "host"},
      {UP("gpu1", "pinned"), .gbps = 9, .size_bytes = 4096, .flushed = "host"},
  };
  expect_result_as(&(struct run_result_options){.answer = true}, said, COUNT_OF(said), 0,
                   "up\n"
                   "4KiB by ce: GB/s from row to column\n"
                   "               gpu0   gpu1\n"
                   "numa0:pinned  55.00  9.000\n"
                   "min 9.000, mean 32.00, max 55.00 GB/s; 2.2 to 13.8 % of peak (NVLink "
                   "400.0 GB/s); largest +/- 0.05 %\n"
                   "\n"
                   "All cases: Caches of the host were flushed before each trial.\n"
                   "\n"
                   "Host to GPU   9.000-55.00 GB/s pinned (4KiB); lowest: numa0 to gpu1\n");
}

/* So that nobody takes a result for whole, or for what the GPUs can do. */
TEST(the_answer_counts_what_was_skipped_and_throttled) {
#define HOT(gpu) SAID_NOTES(SAID_NOTE("throttled", gpu, "hw_thermal", "100"))
#define SKIPPED(text)                                                                              \
  { .block = "down", SAID_DOWN(0), .status = "skipped", .reason = (text) }
  const struct said said[] = {
      {UP("gpu0", "pinned"), .gbps = 27, .size_bytes = 4096, .notes = HOT("0")},
      {UP("gpu1", "pinned"), .gbps = 27, .size_bytes = 4096, .notes = HOT("1")},
      SKIPPED("GPU 0 cannot"),
      SKIPPED("GPU 10 cannot"),
      SKIPPED("needs 200 GiB"),
  };
  const struct run_result_options options = {.answer = true, .skipped_command = "haul x"};
  expect_result_as(&options, said, COUNT_OF(said), 0,
                   "up\n"
                   "4KiB by ce: GB/s from row to column\n"
                   "               gpu0      gpu1\n"
                   "numa0:pinned  27.00  a  27.00  b\n"
                   "min 27.00, mean 27.00, max 27.00 GB/s; 6.8 % of peak (NVLink 400.0 GB/s); "
                   "largest +/- 0.05 %\n"
                   "\n"
                   "a  May be slowed: gpu0 throttled by hw_thermal for 100 % of the time\n"
                   "b  May be slowed: gpu1 throttled by hw_thermal for 100 % of the time\n"
                   "\n"
                   "Host to GPU   27.00 GB/s pinned (4KiB)\n"
                   "Skipped       3 of 5 cases: GPU 0 cannot, and others like it; 1 more reason "
                   "(haul x)\n"
                   "Slowed        2 of 5 cases: all GPUs throttled by hw_thermal\n"
                   "Notes         2 of 5 cases have a note\n");
  expect_result_as(&options, said + 4, 1, 0,
                   "nothing was measured\n"
                   "\n"
                   "Skipped       1 of 1 case: needs 200 GiB (haul x)\n");
}

/* A link that moved more than its generation carries was a faster one then. */
TEST(a_link_that_was_fast_is_not_called_slow) {
#define GEN1 SAID_NOTES(SAID_NOTE("pcie_link", "0", "", "1,16,4,16"))
  const struct said said[] = {
      {UP("gpu0", "pinned"), .gbps = 27, .size_bytes = 4096, .notes = GEN1},
      {UP("gpu1", "pinned"), .gbps = 3, .size_bytes = 4096, .notes = GEN1},
  };
  expect_result_as(&(struct run_result_options){.brief = true}, said, COUNT_OF(said), 0,
                   "up\n"
                   "4KiB by ce: GB/s from row to column\n"
                   "               gpu0   gpu1\n"
                   "numa0:pinned  27.00  3.000  a\n"
                   "min 3.000, mean 15.00, max 27.00 GB/s; 0.8 to 6.8 % of peak (NVLink "
                   "400.0 GB/s); largest +/- 0.05 %\n"
                   "\n"
                   "a  May be slowed: PCIe link of gpu0 at gen1 x16 instead of gen4 x16\n");
}

/* A number of which no two measurements agree is marked, however narrow its interval is. */
TEST(a_number_that_is_not_settled_is_marked) {
  const struct said said[] = {
      {UP("gpu0", "pinned"), .gbps = 14, .size_bytes = 4096, .spread = 28, .visits = 4},
      {.block = "two", SAID_GPUS(0, 1), .gbps = 14, .spread = 28},
  };
  expect_result_as(&(struct run_result_options){.brief = true}, said, COUNT_OF(said), 0,
                   "block  path               size  GB/s  +/- %  % of peak\n"
                   "up     numa0:pinned-gpu0  4KiB   ~14     28        3.5\n"
                   "two    gpu0-gpu1          1MiB    14     28        3.5\n"
                   "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n");
  expect_answer(said, 1, "Host to GPU   ~14 GB/s pinned (4KiB)\n");
}

/* Of the figure: a rate is the inverse of the time. */
TEST(a_wide_interval_has_both_ends) {
  static const struct {
    double gbps, low_ns, high_ns;
    const char *words, *within;
  } CASES[] = {{50, 99.95, 100.05, "0.05", "+/- 0.05 %"},
               {50, 72, 128, "28", "+/- 28 %"},
               {50, 64, 167, "-40/+56", "-40/+56 %"},
               {NAN, 64, 167, "-36/+67", "-36/+67 %"},
               {50, 0, 1e5, "-100/+>999", "-100/+>999 %"}};
  SCOPED(arena_fini) struct arena arena = {0};
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    const struct run_row row = {.gbps = CASES[i].gbps,
                                .tflops = NAN,
                                .ops_per_clock_sm = NAN,
                                .median_ns = 100,
                                .low_ns = CASES[i].low_ns,
                                .high_ns = CASES[i].high_ns};
    assert_string_equal(result_uncertainty(&arena, &row), CASES[i].words);
    assert_string_equal(result_within(&arena, &row), CASES[i].within);
  }
}
