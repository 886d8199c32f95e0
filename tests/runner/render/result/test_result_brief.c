/* The short form of a result: one line for a block whose places agree, and the answer. */
#include "tests/runner/render/result/said.h"

/* A block whose places agree is one line; one that differs by more, or has a slow case, is whole.
 */
static void places_that_agree_are_one_line(void **state) {
  (void)state;
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
                   sizeof said / sizeof *said, 0,
                   "4KiB each\n"
                   "block  path                                GB/s  +/- %  % of peak  note\n"
                   "up     numa0:pinned-gpu0..1, 2 cases  55.0-55.5   0.30       13.8\n"
                   "down   gpu0,2-numa0:pinned, 2 cases       54.00   0.05       13.5  a\n"
                   "% of peak: nvlink raw, 400.0 GB/s\n"
                   "\n"
                   "peers\n"
                   "1MiB by ce: GB/s from row to column\n"
                   "       gpu0   gpu1\n"
                   "gpu0    N/A  300.0\n"
                   "gpu1  290.0    N/A\n"
                   "min 290.0, mean 295.0, max 300.0 GB/s; 72.5 to 75.0 % of peak (nvlink raw, "
                   "400.0 GB/s); 95 % interval within 0.05 %\n"
                   "\n"
                   "again\n"
                   "1MiB by ce: GB/s\n"
                   "path                       GB/s  +/- %  % of peak  note\n"
                   "gpu0..1-gpu0..1, 2 cases  300.0   0.05       75.0  b\n"
                   "% of peak: nvlink raw, 400.0 GB/s\n"
                   "\n"
                   "a  odd\n"
                   "b  2 cases: Duplicate of another case, measured once.\n"
                   "\n"
                   "Host to GPU   55.0-55.5 GB/s; back 54.00 GB/s\n"
                   "GPU to GPU    300.0 GB/s\n"
                   "Notes         3 of 8 cases have one\n");
}

#define PLACES(from, to) .path = from "-" to, .source = from, .target = to

/* Up to four sizes and kinds of memory are rows of the table that neighbours share. */
static void a_line_stands_for_each_size(void **state) {
  (void)state;
  const struct said said[] = {
      {.block = "up", PLACES("numa0", "gpu0"), .gbps = 20, .size_bytes = 4096},
      {.block = "up", PLACES("numa0", "gpu1"), .gbps = 20, .size_bytes = 4096},
      {.block = "up", PLACES("numa0", "gpu0"), .gbps = 55, .size_bytes = 64 << 20},
      {.block = "up", PLACES("numa0", "gpu1"), .gbps = 55, .size_bytes = 64 << 20},
      {.block = "down", SAID_DOWN(0), .gbps = 54},
  };
  expect_result_as(&(struct run_result_options){.brief = true}, said, sizeof said / sizeof *said, 0,
                   "block  path                     size   GB/s  +/- %  % of peak\n"
                   "up     numa0-gpu0..1, 2 cases   4KiB  20.00   0.05        5.0\n"
                   "up     numa0-gpu0..1, 2 cases  64MiB  55.00   0.05       13.8\n"
                   "down   gpu0-numa0:pinned        4KiB  54.00   0.05       13.5\n"
                   "% of peak: nvlink raw, 400.0 GB/s\n");
}

/* Of each kind of path what its pairs reach: the best of large copies, the slowest pair named. */
static void the_answer_stands_at_the_end(void **state) {
  (void)state;
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
  expect_result_as(&(struct run_result_options){.answer = true}, said, sizeof said / sizeof *said,
                   0,
                   "s\n"
                   "by ce: GB/s\n"
                   "path               settings   size   GB/s  +/- %  % of peak\n"
                   "numa0:pinned-gpu0             4KiB  90.00   0.05       22.5\n"
                   "numa0-gpu0                   64MiB  50.00   0.05       12.5\n"
                   "numa0-gpu0         x=1        1GiB  40.00   0.05       10.0\n"
                   "% of peak: nvlink raw, 400.0 GB/s\n"
                   "\n"
                   "p\n"
                   "1MiB by ce: GB/s from row to column\n"
                   "       gpu0   gpu1  gpu2\n"
                   "gpu0    N/A  300.0   N/A\n"
                   "gpu1  250.0    N/A  hung  a\n"
                   "min 250.0, mean 275.0, max 300.0 GB/s; 62.5 to 75.0 % of peak (nvlink raw, "
                   "400.0 GB/s); 95 % interval within 0.05 %\n"
                   "\n"
                   "l\n"
                   "1MiB by ce: GB/s\n"
                   "path        GB/s  +/- %  % of peak\n"
                   "gpu2-gpu2  ~2000     60      500.0\n"
                   "% of peak: nvlink raw, 400.0 GB/s\n"
                   "\n"
                   "b\n"
                   "1MiB by ce: GB/s of all flows, over one window\n"
                   "path        GB/s  +/- %  % of peak\n"
                   "gpu2-gpu0  900.0   0.05      225.0\n"
                   "gpu2-gpu1  900.0   0.05      225.0\n"
                   "% of peak: nvlink raw, 400.0 GB/s\n"
                   "\n"
                   "a  no answer\n"
                   "\n"
                   "Host to GPU   50.00 GB/s\n"
                   "GPU to GPU    250.0-300.0 GB/s; lowest: gpu1 to gpu0\n"
                   "Within a GPU  ~2000 GB/s\n"
                   "Notes         1 of 9 cases has one\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_that_agree_are_one_line),
      cmocka_unit_test(a_line_stands_for_each_size),
      cmocka_unit_test(the_answer_stands_at_the_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
