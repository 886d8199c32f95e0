/* judged.h - runs judged by rows of data files, for the tests of the judge. */
#pragma once

#include "runner/expect/judge.h"
#include "tests/runner/render/result/said.h"

#include <math.h>

RELEASE(diagnostics_free, struct diagnostics)

#define MACHINE_OF(keys)                                                                           \
  "[[machine]]\nname = \"H200s\"\ngpu = \"NVIDIA H200\"\n"                                         \
  "pcie = { generation = 5, width = 16 }\nnvlink = { version = 4, links = 18 }\n" keys
#define ROW(statement, keys)                                                                       \
  "[[machine.expect]]\nstatement = \"" statement "\"\nsource = \"" statement "\"\n" keys "\n"
#define RATE(path, keys) "path = \"" path "\"\nunit = \"GB/s\"\n" keys
/* Edges that binary numbers have: 25 and 90 GB/s; of times 500 and 1800 ns. */
#define UP_USUAL                                                                                   \
  ROW("reports", RATE("host_to_device", "low = 50\nhigh = 60\ntolerance = 0.5\ncount = 3"))
#define UP_FLOOR              ROW("floor", RATE("host_to_device", "low = 20"))
#define UP_LIMIT              ROW("limit", RATE("host_to_device", "high = 100"))
#define HOPS(statement, keys) ROW(statement, "kind = \"chase\"\npath = \"host_to_device\"\n" keys)
#define HOPS_USUAL            HOPS("reports", "unit = \"ns\"\nlow = 1000\nhigh = 1200\ntolerance = 0.5")

#define BETWEEN(from, to)   .block = "b", .path = from "-" to, .source = from, .target = to
#define UP_TO(gpu)          BETWEEN("numa0", gpu), .source_memory = "pinned", .size_bytes = 1 << 26
#define UP                  UP_TO("gpu0")
#define HOP                 BETWEEN("numa0", "gpu0"), .source_memory = "pinned", .size_bytes = 1 << 21
#define PEERS(a, b)         BETWEEN(a, b), .target_memory = "device", .size_bytes = 1 << 26
#define ON(gpu)             .block = "b", .path = gpu, .source = gpu, .source_memory = "device"
#define EXACT               .spread = -1
#define CAME_BACK(n, times) .visits = n, .undisturbed = times
/* How the visits ended, beside the median: the best trial, and what 95 % of them reached. */
#define BEST(how, times, most) .settled = how, .fastest = times, .p95 = most, EXACT
#define TWICE(times)           .visits = 6, .reached = times
#define LEVEL(how, percent, wide)                                                                  \
  UP, .gbps = 24, .settled = how, .fastest = 1.03, .p95 = 0.9, TWICE(1.02), .undisturbed = 1.01,   \
      .disturbed = percent, .spread = wide
#define NEVER_RESTS       UP, .gbps = 24, BEST("budget", 1.05, 0.9), TWICE(1.03)
#define DISTURBED         "disturbed: 24.72 GB/s at best, usual 50-60"
#define RANGE(path, more) ROW("reports", RATE(path, "low = 50\nhigh = 60\n" more))
#define UP_RANGE(more)    RANGE("host_to_device", more)
#define COUNTED(array)    (array), sizeof(array) / sizeof *(array)

/* Rows without a machine are of MACHINE_OF(""). */
static inline struct expect_file *parsed(const char *rows) {
  SCOPED(strbuf_fini) struct strbuf text;
  struct expect_file *file = NULL;
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = diagnostics_new();
  strbuf_init(&text, 1 << 16);
  strbuf_printf(&text, "format = 1\n%s%s",
                strncmp(rows, "[[machine]]", 11) == 0 ? "" : MACHINE_OF(""), rows);
  const enum status status = expect_parse(text.text, text.length, "test", &file, diagnostics);
  diagnostics_print(diagnostics, stderr, 0, false);
  assert_int_equal(status, STATUS_OK);
  return file;
}

/* A GPU of which a test says more than that it is the usual one. */
struct part {
  const char *name, *driver;
  int pcie_width, nvlink_links; /* 0 = 16, 18; below 0 = NULL */
  bool c2c, simulated;
  int numa_node;
};

/* The machine's four GPUs are alike; the part NULL = the usual one. */
static inline void hardware_rows(struct result_set *rows, const struct part *part) {
  static const char *const NAMES[] = {"gpu",          "name",      "pcie_generation", "pcie_width",
                                      "nvlink_links", "numa_node", "nvlink_version",  "c2c",
                                      "simulated",    "uuid",      "driver_version"};
  enum { COLUMNS = COUNT_OF(NAMES), GPUS = 4 };
  struct error err;
  const struct part usual = part != NULL ? *part : (struct part){0};
  result_set_init(rows, SIZE_MAX);
  assert_int_equal(sink_begin(&rows->sink, NAMES, COLUMNS, &err), STATUS_OK);
  for (int g = 0; g < GPUS; g++) {
    PRINTED(gpu, 16, "gpu%d", g);
    const int width = usual.pcie_width != 0 ? usual.pcie_width : 16;
    const int links = usual.nvlink_links != 0 ? usual.nvlink_links : 18;
    const struct cell cells[COLUMNS] = {
        cell_text(gpu),
        cell_text(usual.name != NULL ? usual.name : "NVIDIA H200"),
        cell_integer(5),
        width > 0 ? cell_integer(width) : cell_null(),
        links > 0 ? cell_integer(links) : cell_null(),
        cell_integer(usual.numa_node),
        cell_integer(4),
        cell_integer(usual.c2c),
        cell_integer(usual.simulated),
        cell_null(),
        cell_text(usual.driver != NULL ? usual.driver : "580.95.05")};
    assert_int_equal(sink_row(&rows->sink, cells, &err), STATUS_OK);
  }
  assert_int_equal(sink_end(&rows->sink, &err), STATUS_OK);
}

/* A run judged by the user's rows and the shipped ones; either may be NULL. */
struct judged {
  struct expect_set set;
  struct expect_file *files[EXPECT_FILES_MAX];
  struct result_set hardware, rows, passed; /* passed: what the judge gave to the next sink */
  struct expect_judge *judge;
  const struct expect_judgement *judgements;
  size_t count;
};

static inline struct judged judge_once_more(const char *mine, const char *shipped,
                                            const struct part *part, const struct said *said,
                                            size_t count, struct judged *again) {
  struct judged judged = {
      {{NULL, NULL}},
      {mine != NULL ? parsed(mine) : NULL, shipped != NULL ? parsed(shipped) : NULL},
      .judge = NULL};
  struct error err;
  judged.set = (struct expect_set){{judged.files[0], judged.files[1]}};
  hardware_rows(&judged.hardware, part);
  said_rows(&judged.rows, said, count);
  result_set_init(&judged.passed, SIZE_MAX);
  judged.judge = expect_judge_new(&judged.set, &judged.hardware);
  if (again != NULL) {
    expect_judge_set_again(judged.judge, again->judge);
    again->judge = NULL;
  }
  assert_int_equal(
      result_set_send(&judged.rows, expect_judge_sink(judged.judge, &judged.passed.sink), &err),
      STATUS_OK);
  judged.judgements = expect_judge_judged(judged.judge)->judgements;
  judged.count = expect_judge_judged(judged.judge)->count;
  return judged;
}

static inline struct judged judge_machine(const char *mine, const char *shipped,
                                          const struct part *part, const struct said *said,
                                          size_t count) {
  return judge_once_more(mine, shipped, part, said, count, NULL);
}

static inline struct judged judge_rows(const char *rows, const struct said *said, size_t count) {
  return judge_machine(NULL, rows, NULL, said, count);
}

static inline void judged_fini(struct judged *judged) {
  expect_judge_free(judged->judge);
  result_set_fini(&judged->passed);
  result_set_fini(&judged->rows);
  result_set_fini(&judged->hardware);
  expect_free(judged->files[0]);
  expect_free(judged->files[1]);
}

/* "short: 27 GB/s, usual 50-60" of the first judgement, "nothing is known" or "not measured". */
static inline void assert_said(struct judged *judged, const char *expected) {
  SCOPED(arena_fini) struct arena arena = {0};
  const char *found =
      judged->count > 0
          ? arena_format(&arena, "%s: %s", expect_verdict_text(judged->judgements[0].verdict),
                         expect_judgement_words(&arena, &judged->judgements[0]))
      : expect_judge_judged(judged->judge)->unknown > 0 ? "nothing is known"
                                                        : "not measured";
  assert_string_equal(found, expected);
  judged_fini(judged);
}

/* What is said of one case by rows of the shipped file. */
struct verdict_case {
  const char *rows;
  struct said said;
  const char *expected;
};

static inline void assert_each(const struct verdict_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct judged judged = judge_rows(cases[i].rows, &cases[i].said, 1);
    assert_said(&judged, cases[i].expected);
  }
}
