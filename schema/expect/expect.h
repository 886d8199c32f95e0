/* expect.h - data files of expectations: what a machine should reach, by whom that was said.
 *
 * A file has [[machine]] tables, which say of which machines they are, each with [[machine.expect]]
 * rows: which cases, a range, and what kind of statement it is. Values stay in the unit of their
 * source; expect_base() converts one. A key that is absent
 * holds for all. The comment that expectations.toml, the shipped file, begins with describes every
 * key; it is read by the machinery of scenarios, and mistakes are diagnostics with positions.
 * A file owns all of its texts and does not change. */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/strbuf.h"
#include "engine/case/enums.h"
#include "schema/scenario/scenario.h"

/* X(enum, name, time or rate, how many GB/s or ns it is) */
#define EXPECT_UNIT_LIST(X)                                                                        \
  X(EXPECT_GBPS, "GB/s", false, 1.0)                                                               \
  X(EXPECT_GIBPS, "GiB/s", false, 1.073741824)                                                     \
  X(EXPECT_MBPS, "MB/s", false, 0.001)                                                             \
  X(EXPECT_TBPS, "TB/s", false, 1000.0)                                                            \
  X(EXPECT_GBPS_TWICE, "GB/s read and written", false, 0.5) /* each byte is counted twice */       \
  X(EXPECT_NS, "ns", true, 1.0)                                                                    \
  X(EXPECT_US, "us", true, 1000.0)
ENUM_NAMES_DECLARE(expect_unit, EXPECT_UNIT_LIST)

#define EXPECT_STATEMENT_LIST(X)                                                                   \
  X(EXPECT_REPORTS, "reports") /* what somebody measured: usual, not guaranteed */                 \
  X(EXPECT_FLOOR, "floor")     /* below it a check of the vendor or the operator fails */          \
  X(EXPECT_LIMIT, "limit")     /* physics: nothing is beyond it */
ENUM_NAMES_DECLARE(expect_statement, EXPECT_STATEMENT_LIST)

/* Between what bytes go. `both` ways is one case of two flows. */
#define EXPECT_PATH_LIST(X)                                                                        \
  X(EXPECT_HOST_TO_DEVICE, "host_to_device", "host link")                                          \
  X(EXPECT_DEVICE_TO_HOST, "device_to_host", "host link")                                          \
  X(EXPECT_HOST_BOTH, "host_device_both", "host link")                                             \
  X(EXPECT_DEVICE_TO_DEVICE, "device_to_device", "peer link")                                      \
  X(EXPECT_DEVICE_BOTH, "device_device_both", "peer link")                                         \
  X(EXPECT_LOCAL, "local", "memory")                                                               \
  X(EXPECT_HOST_TO_HOST, "host_to_host", "host memory")                                            \
  X(EXPECT_SEVERAL, "several", "flows at once")                                                    \
  X(EXPECT_CALL, "call", "driver call")
ENUM_NAMES_DECLARE(expect_path, EXPECT_PATH_LIST)
/* What such cases are about: "host link". */
const char *expect_path_noun(enum expect_path path);

#define EXPECT_ANY (~0U) /* of a word that is absent */

struct expect_row {
  unsigned kind, path, method, operation, initiator, memory; /* of enumerations, or EXPECT_ANY */
  const char *block, *axes;                                  /* globs; NULL = every plain case */
  uint64_t size_min, size_max;                               /* bytes; size_max 0 = no limit */
  double low, high;                                          /* in `unit`; NAN = open */
  unsigned unit;                                             /* enum expect_unit */
  unsigned statement;                                        /* enum expect_statement */
  uint32_t count, hosts;                                     /* values or reports; 0 = not said */
  double tolerance;                                          /* beyond the range; NAN = usual */
  const char *source, *driver;
  const char *date; /* "2026-11-22"; NULL = not said */
};

struct expect_machine {
  const char *name;
  const char *gpu;                                                    /* a glob of the GPUs' name */
  uint32_t pcie_generation, pcie_width, nvlink_version, nvlink_links; /* 0 = any */
  bool c2c;                                                           /* only where there is one */
  bool simulated;     /* of a fake driver: these and real ones are never judged by each other */
  const char *driver; /* ">=570"; NULL = any */
  struct expect_row *rows;
  size_t row_count;
};

struct expect_file {
  const char *path; /* "<embedded>/expectations.toml" of the shipped one */
  const char *description;
  struct expect_machine *machines;
  size_t machine_count;
  struct arena arena;
};

/* STATUS_INVALID: there are new diagnostics, and *file is not set. */
enum status expect_load(const char *path, struct expect_file **file,
                        struct diagnostics *diagnostics) CHECK_RESULT;
enum status expect_parse(const char *text, size_t length, const char *path,
                         struct expect_file **file, struct diagnostics *diagnostics) CHECK_RESULT;
enum status expect_load_shipped(struct expect_file **file,
                                struct diagnostics *diagnostics) CHECK_RESULT;
/* Accepts NULL. */
void expect_free(struct expect_file *file);

/* Appends a file that reads back as equal machines. */
void expect_write(struct strbuf *text, const char *description,
                  const struct expect_machine *machines, size_t machine_count);
/* Rows and machines in which every key is absent. */
struct expect_row expect_row_empty(void);

bool expect_unit_is_time(enum expect_unit unit);
/* GB/s or ns. */
double expect_base(enum expect_unit unit, double value);
/* Whether it has no date, or one more than two years before that time (ns since 1970). */
bool expect_is_old(const struct expect_row *row, int64_t now_ns);
/* How far beyond its range a value may be, relative. */
double expect_tolerance(const struct expect_row *row);
