/* A result as people see it: which blocks are matrices, which are tables, what stands below. */
#include "runner/render/result/result_block.h"
#include "tests/runner/render/result/said.h"

static void expect_result(const struct said *said, size_t count, unsigned width,
                          const char *expected) {
  expect_result_as(&(struct run_result_options){0}, said, count, width, expected);
}
#define EXPECT(said, width, expected)                                                              \
  expect_result(said, sizeof(said) / sizeof *(said), width, expected)

TEST(what_was_left_out_is_not_impossible) {
  const struct said said[] = {
      {.block = "d2d", SAID_GPUS(0, 1), .gbps = 300, .partial = true},
      {.block = "d2d", SAID_GPUS(1, 2), .status = "skipped", .reason = "why ever", .partial = true},
      {.block = "d2d", SAID_GPUS(2, 0), .gbps = 300, .partial = true},
  };
  EXPECT(said, 0,
         "d2d\n"
         "1MiB by ce: GB/s from row to column\n"
         "       gpu0   gpu1  gpu2\n"
         "gpu0    N/A  300.0     -\n"
         "gpu1      -    N/A   N/A\n"
         "gpu2  300.0      -   N/A\n"
         "min 300.0, mean 300.0, max 300.0 GB/s; 75.0 % of peak (NVLink 400.0 GB/s); largest "
         "+/- 0.05 %\n"
         "- = not measured\n");
}

/* A case whose first measurement was precise, and whose others vary, is as noisy as any. */
TEST(what_was_precise_at_first_has_a_mark) {
  const struct said said[] = {
      {.block = "up",
       SAID_GPUS(0, 1),
       .gbps = 50,
       .stop = "precision",
       .visits = 7,
       .undisturbed = 1.1,
       .settled = "settled",
       .spread = 6.7},
      {.block = "up",
       SAID_GPUS(1, 0),
       .gbps = 50,
       .stop = "precision",
       .visits = 4,
       .undisturbed = 1,
       .settled = "settled",
       .spread = 0.3},
  };
  EXPECT(said, 0,
         "up\n"
         "1MiB by ce: GB/s from row to column\n"
         "       gpu0   gpu1\n"
         "gpu0    N/A  50.00  a\n"
         "gpu1  50.00    N/A\n"
         "min 50.00, mean 50.00, max 50.00 GB/s; 12.5 % of peak (NVLink 400.0 GB/s); largest "
         "+/- 6.7 %\n"
         "\n"
         "a  Noisy: measured up to 7 times. The fastest trials agree on an undisturbed rate.\n");
}

/* What visits tried, and in the heading which of the two rates is shown; where that is not known
 * the typical one stands. */
TEST(visits_are_told_and_the_figure_is_chosen) {
  struct said said[] = {
      {.block = "d2d",
       SAID_GPUS(0, 1),
       .gbps = 300,
       .stop = "time",
       .visits = 4,
       .undisturbed = 1.1,
       .settled = "settled"},
      {.block = "d2d",
       SAID_GPUS(1, 0),
       .gbps = 300,
       .stop = "time",
       .visits = 5,
       .settled = "budget"},
      {.block = "down", SAID_DOWN(0), .gbps = 55, .undisturbed = 1, .settled = "settled"},
  };
  static const char NOTE[] = "a  2 cases: Noisy: measured up to 5 times. The fastest trials agree "
                             "on an undisturbed rate for 1 of "
                             "2. More time may help: --set measure.settle_time=TIME\n";
  char expected[1024];
  for (int shown = 0; shown < 2; shown++) {
    const char *figure = shown ? ", undisturbed" : "";
    (void)snprintf(
        expected, sizeof expected,
        "d2d\n"
        "1MiB by ce: GB/s from row to column%s\n"
        "        gpu0      gpu1\n"
        "gpu0     N/A     %s  a\n"
        "gpu1  ~300.0  a    N/A\n"
        "min 300.0, mean %s GB/s; %s %% of peak (NVLink 400.0 GB/s); largest +/- 0.05 %%\n"
        "\n"
        "down\n"
        "4KiB by ce: GB/s%s\n"
        "path                GB/s  +/- %%  %% of peak\n"
        "gpu0-numa0:pinned  55.00   0.05       13.8\n"
        "%% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n"
        "\n%s",
        figure, shown ? "330.0" : "300.0", shown ? "315.0, max 330.0" : "300.0, max 300.0",
        shown ? "75.0 to 82.5" : "75.0", figure, NOTE);
    EXPECT(said, 0, expected);
    for (size_t i = 0; i < COUNT_OF(said); i++) {
      said[i].figure = "undisturbed";
    }
  }
}

TEST(a_direction_that_varies_beside_a_steady_one_is_explained) {
  struct said said[] = {{.block = "down",
                         SAID_DOWN(0),
                         .gbps = 45,
                         .under_load = true,
                         .stop = "time",
                         .noise = "white",
                         .spread = 2,
                         .undisturbed = 1.02,
                         .settled = "settled"}};
  static const char *const NOTES[] = {
      "Note: Copies in one direction are steady. The other direction gets what they leave, and "
      "varies more. More processes help: --processes N\n",
      "Note: Precision target missed in some processes when max_time ended. The noise is random. "
      "More time helps: --set measure.max_time=TIME\n"};
  for (int several = 0; several < 2; several++) { /* processes: the rates may be of others */
    said->processes = 1 + several;
    PRINTED(expected, 1024,
            "down\n"
            "4KiB by ce: GB/s, while load runs beside them\n"
            "path               GB/s  +/- %%  %% of peak\n"
            "gpu0-numa0:pinned  45.0    2.0       11.2\n"
            "%% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n"
            "\n%s",
            NOTES[several]);
    EXPECT(said, 0, expected);
  }
}

TEST(pairs_are_matrices) {
  const struct said said[] = {
      {.block = "d2d", SAID_GPUS(0, 1), .gbps = 300},
      {.block = "d2d", SAID_GPUS(0, 10), .gbps = 200},
      {.block = "d2d", SAID_GPUS(1, 0), .gbps = 300},
      {.block = "d2d", SAID_GPUS(1, 10), .status = "skipped", .reason = "why ever"},
      {.block = "down", SAID_DOWN(0), .gbps = 55, .under_load = true},
      {.block = "down", SAID_DOWN(1), .gbps = 54, .under_load = true},
      {.block = "local", SAID_GPUS(0, 0), .gbps = 100},
      {.block = "local", SAID_GPUS(1, 1), .gbps = 100},
      {.block = "gone", SAID_GPUS(1, 2), .status = "skipped", .reason = "why ever"},
  };
  EXPECT(said, 0,
         "d2d\n"
         "1MiB by ce: GB/s from row to column\n"
         "       gpu0   gpu1  gpu10\n"
         "gpu0    N/A  300.0  200.0\n"
         "gpu1  300.0    N/A    N/A\n"
         "min 200.0, mean 266.7, max 300.0 GB/s; 50.0 to 75.0 % of peak (NVLink 400.0 GB/s); "
         "largest +/- 0.05 %\n"
         "\n"
         "down\n"
         "4KiB by ce: GB/s from column to row, while load runs beside it\n"
         "               gpu0   gpu1\n"
         "numa0:pinned  55.00  54.00\n"
         "min 54.00, mean 54.50, max 55.00 GB/s; 13.5 to 13.8 % of peak (NVLink 400.0 GB/s); "
         "largest +/- 0.05 %\n"
         "\n"
         "local\n"
         "1MiB by ce: GB/s copied within each GPU\n"
         " gpu0   gpu1\n"
         "100.0  100.0\n"
         "min 100.0, mean 100.0, max 100.0 GB/s; 25.0 % of peak (NVLink 400.0 GB/s); largest "
         "+/- 0.05 %\n");
}

TEST(both_ways_stand_on_both_sides) {
  const struct said said[] = {
      {.block = "both", SAID_GPUS(0, 1), .flows = 2, .direction = "both", .gbps = 700},
      {.block = "both",
       SAID_GPUS(0, 2),
       .flows = 2,
       .direction = "both",
       .status = "hung",
       .reason = "no answer"},
      {.block = "both", SAID_GPUS(1, 2), .flows = 2, .direction = "both", .gbps = 720},
  };
  EXPECT(said, 60,
         "both\n"
         "1MiB by ce: both ways, total GB/s between row and column\n"
         "       gpu0      gpu1   gpu2\n"
         "gpu0    N/A     700.0   hung  a\n"
         "gpu1  700.0       N/A  720.0\n"
         "gpu2   hung  a  720.0    N/A\n"
         "min 700.0, mean 710.0, max 720.0 GB/s; 175.0 to 180.0 % of\n"
         "peak (NVLink 400.0 GB/s); largest +/- 0.05 %\n"
         "\n"
         "a  no answer\n");
}

/* Between a host and GPUs there is one number a pair, and one line. */
TEST(both_ways_with_the_host_stand_once) {
  const struct said said[] = {
      {.block = "both", SAID_UP(0, "pinned"), .flows = 2, .direction = "both", .gbps = 100},
      {.block = "both", SAID_UP(1, "pinned"), .flows = 2, .direction = "both", .gbps = 101},
  };
  EXPECT(said, 0,
         "both\n"
         "4KiB by ce: both ways, total GB/s between row and column\n"
         "               gpu0   gpu1\n"
         "numa0:pinned  100.0  101.0\n"
         "min 100.0, mean 100.5, max 101.0 GB/s; 25.0 to 25.2 % of peak (NVLink 400.0 GB/s); "
         "largest +/- 0.05 %\n");
}

/* Each direction is a matrix of its own, and nodes are rows whichever way the bytes go. */
TEST(directions_are_not_mixed) {
  const struct said said[] = {
      {.block = "d2d", SAID_GPUS(0, 1), .axes = "direction=forward", .gbps = 374},
      {.block = "d2d", SAID_GPUS(1, 0), .axes = "direction=forward", .gbps = 375},
      {.block = "d2d",
       SAID_GPUS(0, 1),
       .axes = "direction=both",
       .flows = 2,
       .direction = "both",
       .gbps = 748},
      {.block = "host", SAID_UP(0, "pinned"), .axes = "direction=forward", .gbps = 55},
      {.block = "host", SAID_UP(1, "pinned"), .axes = "direction=forward", .gbps = 54},
      {.block = "host", SAID_DOWN(0), .axes = "direction=reverse", .gbps = 50},
      {.block = "host", SAID_DOWN(1), .axes = "direction=reverse", .gbps = 51},
      {.block = "host",
       SAID_UP(0, "pinned"),
       .axes = "direction=both",
       .flows = 2,
       .direction = "both",
       .gbps = 90},
      {.block = "host",
       SAID_UP(1, "pinned"),
       .axes = "direction=both",
       .flows = 2,
       .direction = "both",
       .gbps = 91},
  };
  EXPECT(said, 0,
         "d2d\n"
         "1MiB by ce\n"
         "GB/s from row to column\n"
         "       gpu0   gpu1\n"
         "gpu0    N/A  374.0\n"
         "gpu1  375.0    N/A\n"
         "min 374.0, mean 374.5, max 375.0 GB/s; 93.5 to 93.8 % of peak (NVLink 400.0 GB/s); "
         "largest +/- 0.05 %\n"
         "both ways, total GB/s between row and column\n"
         "       gpu1\n"
         "gpu0  748.0\n"
         "187.0 % of peak (NVLink 400.0 GB/s); largest +/- 0.05 %\n"
         "\n"
         "host\n"
         "4KiB by ce\n"
         "GB/s from row to column\n"
         "               gpu0   gpu1\n"
         "numa0:pinned  55.00  54.00\n"
         "min 54.00, mean 54.50, max 55.00 GB/s; 13.5 to 13.8 % of peak (NVLink 400.0 GB/s); "
         "largest +/- 0.05 %\n"
         "GB/s from column to row\n"
         "               gpu0   gpu1\n"
         "numa0:pinned  50.00  51.00\n"
         "min 50.00, mean 50.50, max 51.00 GB/s; 12.5 to 12.8 % of peak (NVLink 400.0 GB/s); "
         "largest +/- 0.05 %\n"
         "both ways, total GB/s between row and column\n"
         "               gpu0   gpu1\n"
         "numa0:pinned  90.00  91.00\n"
         "min 90.00, mean 90.50, max 91.00 GB/s; 22.5 to 22.8 % of peak (NVLink 400.0 GB/s); "
         "largest +/- 0.05 %\n");
}

#define UP_OF(gpu, bytes)                                                                          \
  .path = "numa0:pinned-gpu" #gpu, .source = "numa0", .source_memory = "pinned",                   \
  .target = "gpu" #gpu, .target_memory = "device", .size_bytes = (bytes)

/* One number that is swept over several places: its values in their order, and one table. What was
 * measured elsewhere has its number and says where. */
TEST(a_sweep_over_places_is_a_grid) {
  const struct said said[] = {
      {.block = "up", UP_OF(0, 1 << 20), .axes = "size=1MiB", .gbps = 40},
      {.block = "up", UP_OF(1, 1 << 20), .axes = "size=1MiB", .gbps = 41},
      {.block = "up",
       UP_OF(0, 65536),
       .axes = "size=64KiB",
       .gbps = 10,
       .same_as = "before/numa0:pinned-gpu0/64KiB",
       .same_block = "before",
       .same_axes = ""},
      {.block = "up", UP_OF(1, 65536), .axes = "size=64KiB", .status = "hung", .reason = "why"},
      {.block = "again",
       UP_OF(0, 65536),
       .axes = "initiator=target",
       .gbps = 10,
       .same_as = "up/numa0:pinned-gpu0/64KiB",
       .same_block = "up",
       .same_axes = "size=64KiB"},
  };
  EXPECT(said, 0,
         "up\n"
         "by ce: GB/s from numa0:pinned to each GPU\n"
         " size   gpu0      gpu1\n"
         "64KiB  10.00  a   hung  b\n"
         " 1MiB  40.00     41.00\n"
         "2.5 to 10.2 % of peak (NVLink 400.0 GB/s); largest +/- 0.05 %\n"
         "\n"
         "again\n"
         "64KiB by ce: GB/s\n"
         "path               settings           GB/s  +/- %  % of peak  note\n"
         "numa0:pinned-gpu0  initiator=target  10.00   0.05        2.5  c\n"
         "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n"
         "\n"
         "a  Duplicate of before/numa0:pinned-gpu0/64KiB, measured once.\n"
         "b  why\n"
         "c  Duplicate of up/numa0:pinned-gpu0/64KiB, measured once.\n");
}

/* Where path and settings are those of another row, all axes are shown. */
TEST(rows_of_a_table_are_told_apart) {
  const struct said said[] = {
      {.block = "t",
       SAID_GPUS(0, 1),
       .axes = "direction=forward trials.min=5",
       .flows = 3,
       .gbps = 10},
      {.block = "t",
       SAID_GPUS(0, 1),
       .axes = "direction=reverse trials.min=5",
       .flows = 3,
       .gbps = 11},
  };
  EXPECT(said, 0,
         "t\n"
         "1MiB by ce: GB/s of all flows, over one window\n"
         "path       settings                         GB/s  +/- %  % of peak\n"
         "gpu0-gpu1  direction=forward trials.min=5  10.00   0.05        2.5\n"
         "gpu0-gpu1  direction=reverse trials.min=5  11.00   0.05        2.8\n"
         "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n");
}

TEST(sizes_and_memories_are_headings) {
  const struct said said[] = {
      {.block = "up", SAID_UP(0, "pinned"), .axes = "from.memory=pinned", .gbps = 50},
      {.block = "up", SAID_UP(1, "pinned"), .axes = "from.memory=pinned", .gbps = 51},
      {.block = "up",
       SAID_UP(0, "pageable"),
       .axes = "from.memory=pageable",
       .gbps = 9,
       .notes = SAID_REMARK("slow")},
      {.block = "up",
       SAID_UP(1, "pageable"),
       .axes = "from.memory=pageable",
       .gbps = 8,
       .notes = SAID_REMARK("slow")},
  };
  EXPECT(said, 0,
         "up\n"
         "GB/s from row to column by ce\n"
         "4KiB, pinned memory\n"
         "        gpu0   gpu1\n"
         "numa0  50.00  51.00\n"
         "min 50.00, mean 50.50, max 51.00 GB/s; 12.5 to 12.8 % of peak (NVLink 400.0 GB/s); "
         "largest +/- 0.05 %\n"
         "4KiB, pageable memory\n"
         "        gpu0      gpu1\n"
         "numa0  9.000  a  8.000  a\n"
         "min 8.000, mean 8.500, max 9.000 GB/s; 2.0 to 2.2 % of peak (NVLink 400.0 GB/s); "
         "largest +/- 0.05 %\n"
         "\n"
         "a  2 cases: slow\n");
}

TEST(latencies_are_in_ns) {
  const struct said said[] = {
      {.block = "chase", SAID_UP(0, "pinned"), .ns_per_hop = 1190.2, .cycles = 2356.4},
      {.block = "chase", SAID_UP(1, "pinned"), .ns_per_hop = 1210.4, .cycles = 2396.6},
  };
  EXPECT(said, 0,
         "chase\n"
         "4KiB: ns per hop: row = memory, column = GPU that reads\n"
         "              gpu0  gpu1\n"
         "numa0:pinned  1190  1210\n"
         "min 1190, mean 1200, max 1210 ns; 2356 to 2397 cycles per hop; largest +/- 0.05 "
         "%\n");
}

/* A sweep of one pair, flows at once, and blocks of one case each. */
TEST(the_rest_is_tables) {
  const struct said said[] = {
      {.block = "sweep", SAID_UP(0, "pinned"), .axes = "method=sm size=4KiB", .gbps = 10},
      {.block = "sweep",
       SAID_UP(0, "pinned"),
       .axes = "method=ce size=4KiB",
       .status = "failed",
       .reason = "broken"},
      {.block = "all_up", SAID_UP(0, "pinned"), .flows = 4, .gbps = 200},
      {.block = "all_down",
       SAID_DOWN(1),
       .flows = 4,
       .gbps = 201,
       .under_load = true,
       .notes = SAID_REMARK("odd")},
      {.block = "mixed", SAID_GPUS(0, 1), .flows = 3, .gbps = 300},
      {.block = "mixed", SAID_GPUS(0, 2), .flows = 3, .gbps = 1300},
  };
  EXPECT(said, 0,
         "sweep\n"
         "4KiB: GB/s\n"
         "path               settings    GB/s  +/- %  % of peak  note\n"
         "numa0:pinned-gpu0  method=sm  10.00   0.05        2.5\n"
         "numa0:pinned-gpu0  method=ce                           failed a\n"
         "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n"
         "\n"
         "Size: 4KiB; GB/s of all flows, over one window\n"
         "block     path                GB/s  +/- %  % of peak  note\n"
         "all_up    numa0:pinned-gpu0  200.0   0.05       50.0\n"
         "all_down  gpu1-numa0:pinned  201.0   0.05       50.2  b\n"
         "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n"
         "\n"
         "mixed\n"
         "1MiB by ce: GB/s of all flows, over one window\n"
         "path        GB/s  +/- %  % of peak\n"
         "gpu0-gpu1  300.0   0.05       75.0\n"
         "gpu0-gpu2   1300   0.05      325.0\n"
         "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n"
         "\n"
         "a  broken\n"
         "b  odd\n");
  /* Too narrow: the interval, which both have, goes first, then the peak. */
  EXPECT(((const struct said[]){said[4], said[5]}), 24,
         "mixed\n"
         "1MiB by ce: GB/s of all\n"
         "flows, over one window\n"
         "in all rows +/- %=0.05\n"
         "path        GB/s\n"
         "gpu0-gpu1  300.0\n"
         "gpu0-gpu2   1300\n"
         "no room for % of peak:\n"
         "            use a wider\n"
         "            terminal or\n"
         "            --format csv\n");
  /* What all have goes rather than that settings are wrapped; these are where that is enough. */
  const struct said settings[] = {{.block = "s",
                                   SAID_UP(0, "pinned"),
                                   .axes = "kernel.grid=per_sm*1 kernel.block=128",
                                   .gbps = 10},
                                  {.block = "s",
                                   SAID_UP(0, "pinned"),
                                   .axes = "kernel.grid=per_sm*2 kernel.block=256",
                                   .gbps = 20}};
  EXPECT(settings, 70,
         "s\n"
         "4KiB by ce: GB/s\n"
         "in all rows path=numa0:pinned-gpu0, +/- %=0.05\n"
         "settings                                GB/s  % of peak\n"
         "kernel.grid=per_sm*1 kernel.block=128  10.00        2.5\n"
         "kernel.grid=per_sm*2 kernel.block=256  20.00        5.0\n"
         "% of peak: of the theoretical rate of NVLink "
         "(400.0 GB/s)\n");
  EXPECT(settings, 52,
         "s\n"
         "4KiB by ce: GB/s\n"
         "in all rows path=numa0:pinned-gpu0, +/- %=0.05\n"
         "settings               GB/s  % of peak\n"
         "kernel.grid=per_sm*1  10.00        2.5\n"
         "kernel.block=128\n"
         "kernel.grid=per_sm*2  20.00        5.0\n"
         "kernel.block=256\n"
         "% of peak: of the theoretical rate of NVLink\n"
         "(400.0 GB/s)\n");
  EXPECT(((const struct said[]){{.block = "mix", .path = "2flows", .flows = 2, .gbps = 80}}), 0,
         "mix\n"
         "several sizes by ce: GB/s of all flows, over one window\n"
         "path     GB/s  % of peak\n"
         "2flows  80.00       20.0\n"
         "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n");
  const struct said both[] = {{.block = "g",
                               .path = "numa0--gpu1",
                               .axes = "method=ce",
                               .flows = 2,
                               .direction = "both",
                               .gbps = 80},
                              {.block = "g",
                               .path = "numa0--gpu1",
                               .axes = "method=sm",
                               .flows = 2,
                               .direction = "both",
                               .gbps = 80}};
  EXPECT(both, 0,
         "g\n"
         "several sizes: GB/s of both ways (--) together, over one window\n"
         "path         settings    GB/s  % of peak\n"
         "numa0--gpu1  method=ce  80.00       20.0\n"
         "numa0--gpu1  method=sm  80.00       20.0\n"
         "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n");
}

/* A chase in ns and clocks per hop, arithmetic in what its measure is called by. */
TEST(every_kind_has_its_unit) {
  const struct said said[] = {
      {.block = "l1", .path = "gpu0:global", .size_bytes = 4096, .ns_per_hop = 17, .cycles = 33.66},
      {.block = "latency",
       .path = "gpu0",
       .axes = "op=fma type=f32",
       .operation = "fma",
       .measure = "latency",
       .ns_per_op = 2.02,
       .cycles = 4},
      {.block = "latency",
       .path = "gpu0",
       .axes = "op=add type=f32",
       .operation = "add",
       .measure = "latency",
       .ns_per_op = 2.02,
       .cycles = 4},
      {.block = "throughput",
       .path = "gpu0",
       .axes = "op=fma type=f16",
       .operation = "fma",
       .measure = "throughput",
       .ns_per_op = 8,
       .cycles = 16,
       .ops_per_clock_sm = 256},
  };
  EXPECT(said, 0,
         "l1\n"
         "4KiB: ns per hop: one load of a pointer chase\n"
         "path         ns/hop  cycles/hop  +/- %\n"
         "gpu0:global   17.00       33.66   0.05\n"
         "\n"
         "latency\n"
         "time of one operation that waits for the one before\n"
         "path      settings  ns/op  cycles/op  +/- %\n"
         "fma gpu0  type=f32  2.020      4.000   0.05\n"
         "add gpu0  type=f32  2.020      4.000   0.05\n"
         "\n"
         "throughput\n"
         "operations per clock on one SM, of independent chains\n"
         "path      settings  ops/clock/SM  +/- %\n"
         "fma gpu0  type=f16         256.0   0.05\n");
}

/* One footnote a reason, beside the notes of the measurement; without a mark where all have it. */
TEST(what_is_not_precise_enough_is_marked) {
  const struct said sweep[] = {
      {.block = "sweep",
       SAID_UP(0, "pinned"),
       .axes = "threads=1",
       .gbps = 10,
       .stop = "precision"},
      {.block = "sweep",
       SAID_UP(0, "pinned"),
       .axes = "threads=2",
       .gbps = 11,
       .stop = "time",
       .noise = "white",
       .spread = 0.94,
       .notes = SAID_REMARK("not gated")},
      {.block = "sweep",
       SAID_UP(0, "pinned"),
       .axes = "threads=3",
       .gbps = 12,
       .stop = "time",
       .noise = "white",
       .spread = 0.78},
      {.block = "sweep",
       SAID_UP(0, "pinned"),
       .axes = "threads=4",
       .gbps = 13,
       .stop = "trials",
       .processes = 10},
  };
  EXPECT(sweep, 100,
         "sweep\n"
         "4KiB by ce: GB/s\n"
         "path               settings    GB/s  +/- %  % of peak  note\n"
         "numa0:pinned-gpu0  threads=1  10.00   0.05        2.5\n"
         "numa0:pinned-gpu0  threads=2   11.0   0.94        2.8  a,b\n"
         "numa0:pinned-gpu0  threads=3  12.00   0.78        3.0  b\n"
         "numa0:pinned-gpu0  threads=4  13.00   0.05        3.2  c\n"
         "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n"
         "\n"
         "a  Not gated\n"
         "b  2 cases: Precision target missed: up to +/- 0.94 % when max_time ended. The noise is "
         "random. More\n"
         "   time helps: --set measure.max_time=TIME\n"
         "c  Precision target missed in some processes after trials.max trials. More trials may "
         "help: --set\n"
         "   measure.trials.max=N\n");
  const struct said pairs[] = {
      {.block = "up",
       SAID_UP(0, "pinned"),
       .gbps = 50,
       .notes = SAID_REMARK("not gated"),
       .stop = "time",
       .spread = 2},
      {.block = "up",
       SAID_UP(1, "pinned"),
       .gbps = 51,
       .notes = SAID_REMARK("not gated"),
       .stop = "precision"},
  };
  EXPECT(pairs, 0,
         "up\n"
         "4KiB by ce: GB/s from row to column\n"
         "               gpu0      gpu1\n"
         "numa0:pinned  50.00  a  51.00\n"
         "min 50.00, mean 50.50, max 51.00 GB/s; 12.5 to 12.8 % of peak (NVLink 400.0 GB/s); "
         "largest +/- 2 %\n"
         "\n"
         "a  Precision target missed: +/- 2 % when max_time ended. More time may help: --set "
         "measure.max_time=TIME\n"
         "All cases: Not gated\n");
}

/* What helps depends on the noise: more trials only where they differ by chance. */
TEST(kinds_of_noise_have_a_remark_each) {
#define NOISY(kind, threads, percent, length)                                                      \
  {                                                                                                \
    .block = "sweep", SAID_UP(0, "pinned"), .axes = "threads=" #threads, .gbps = 10,               \
    .stop = "time", .noise = kind, .noise_percent = percent, .noise_ns = length, .spread = 1       \
  }
  const struct said sweep[] = {NOISY("dips", 1, 14, 5.2e6), NOISY("dips", 2, 3.3, 17.7e6),
                               NOISY("drift", 3, -8.04, 0), NOISY("two_modes", 4, 4.1, 0),
                               NOISY("unknown", 5, 0, 0)};
#undef NOISY
  EXPECT(sweep, 80,
         "sweep\n"
         "4KiB by ce: GB/s\n"
         "path               settings   GB/s  +/- %  % of peak  note\n"
         "numa0:pinned-gpu0  threads=1  10.0    1.0        2.5  a\n"
         "numa0:pinned-gpu0  threads=2  10.0    1.0        2.5  a\n"
         "numa0:pinned-gpu0  threads=3  10.0    1.0        2.5  b\n"
         "numa0:pinned-gpu0  threads=4  10.0    1.0        2.5  c\n"
         "numa0:pinned-gpu0  threads=5  10.0    1.0        2.5  d\n"
         "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n"
         "\n"
         "a  2 cases: Precision target missed: up to +/- 1 % when max_time ended. Dips of\n"
         "   5.2 to 18 ms, up to 14 % slower, as when other programs use the host's memory\n"
         "   or processors. More time does not help.\n"
         "b  Precision target missed: +/- 1 % when max_time ended. Results drifted by up\n"
         "   to 8 % during the case. More time does not help. If the first trials are\n"
         "   slow, raise measure.warmup.\n"
         "c  Precision target missed: +/- 1 % when max_time ended. Trials have two modes,\n"
         "   up to 4.1 % apart. The median may be in either. More time does not help.\n"
         "d  Precision target missed: +/- 1 % when max_time ended. Too few trials to\n"
         "   classify the noise. More time may help: --set measure.max_time=TIME\n");
}

/* What differs by figures is one footnote; parts of a note stand alone; names are no figures. */
TEST(footnotes_that_differ_by_figures_are_one) {
#define SWEPT(threads, list)                                                                       \
  {                                                                                                \
    .block = "sweep", SAID_UP(0, "pinned"), .axes = "threads=" #threads, .gbps = 10,               \
    .notes = SAID_NOTES(list)                                                                      \
  }
#define CLOCK(from, to)         SAID_NOTE("cpu_clock", "null", "", from "," to)
#define THROTTLED(gpu, percent) SAID_NOTE("throttled", gpu, "hw_thermal", percent)
#define IN_USE(pid)             SAID_NOTE("in_use_unmeasured", "0", "pid " pid " (x)", "0")
#define PAGES                   SAID_NOTE("reserved_pages", "null", "", "0")
  const struct said sweep[] = {SWEPT(1, CLOCK("3", "2.7") "," THROTTLED("0", "50")),
                               SWEPT(2, PAGES "," CLOCK("2.9", "3.05") "," IN_USE("7")),
                               SWEPT(3, PAGES "," THROTTLED("1", "50")),
                               SWEPT(4, THROTTLED("0", "90")), SWEPT(5, IN_USE("8"))};
#undef SWEPT
  EXPECT(sweep, 80,
         "sweep\n"
         "4KiB by ce: GB/s\n"
         "path               settings    GB/s  +/- %  % of peak  note\n"
         "numa0:pinned-gpu0  threads=1  10.00   0.05        2.5  a,b\n"
         "numa0:pinned-gpu0  threads=2  10.00   0.05        2.5  a,c,d\n"
         "numa0:pinned-gpu0  threads=3  10.00   0.05        2.5  c,e\n"
         "numa0:pinned-gpu0  threads=4  10.00   0.05        2.5  b\n"
         "numa0:pinned-gpu0  threads=5  10.00   0.05        2.5  f\n"
         "% of peak: of the theoretical rate of NVLink (400.0 GB/s)\n"
         "\n"
         "a  2 cases: The processor's clock changed during the case (2.7 to 3.05 GHz)\n"
         "b  2 cases: May be slowed: gpu0 throttled by hw_thermal for 50-90 % of the time\n"
         "c  2 cases: The memory is in reserved huge pages (2 MiB)\n"
         "d  May be slowed: gpu0 in use by pid 7 (x)\n"
         "e  May be slowed: gpu1 throttled by hw_thermal for 50 % of the time\n"
         "f  May be slowed: gpu0 in use by pid 8 (x)\n");
}

TEST(nothing_is_said_too) {
  const struct said said[] = {
      {.block = "gone", SAID_GPUS(1, 2), .status = "skipped", .reason = "why ever"}};
  EXPECT(said, 80, "nothing was measured\n");
}
