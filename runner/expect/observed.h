/* observed.h - the rows of run-result, and the GPUs of a run, as expectations see them: what a data
 * file asks of a case, and its one number. Texts are in the reader's arena. */
#pragma once

#include "runner/table/result_set.h"
#include "schema/expect/expect.h"

/* TEXT(column of the saved query hardware, member), NUMBER(...) */
#define HARDWARE_LIST(TEXT, NUMBER)                                                                \
  TEXT("gpu", gpu)                                                                                 \
  TEXT("name", name)                                                                               \
  NUMBER("pcie_generation", pcie_generation)                                                       \
  NUMBER("pcie_width", pcie_width)                                                                 \
  NUMBER("nvlink_version", nvlink_version)                                                         \
  NUMBER("nvlink_links", nvlink_links)                                                             \
  NUMBER("c2c", c2c)                                                                               \
  NUMBER("numa_node", numa_node)                                                                   \
  TEXT("driver_version", driver_version)                                                           \
  NUMBER("simulated", simulated)                                                                   \
  TEXT("host_name", host_name)                                                                     \
  TEXT("uuid", uuid)

/* A GPU. */
struct hardware {
#define HARDWARE_TEXT(column, member)   const char *member;
#define HARDWARE_NUMBER(column, member) double member;
  HARDWARE_LIST(HARDWARE_TEXT, HARDWARE_NUMBER)
};

/* X(the column of run-result) */
#define CASE_CELL_LIST(X)                                                                          \
  X(CELL_CASE, "case")                                                                             \
  X(CELL_BLOCK, "block")                                                                           \
  X(CELL_AXES, "axes")                                                                             \
  X(CELL_KIND, "kind")                                                                             \
  X(CELL_METHOD, "method")                                                                         \
  X(CELL_OPERATION, "operation")                                                                   \
  X(CELL_SOURCE, "source")                                                                         \
  X(CELL_SOURCE_MEMORY, "source_memory")                                                           \
  X(CELL_TARGET, "target")                                                                         \
  X(CELL_TARGET_MEMORY, "target_memory")                                                           \
  X(CELL_DIRECTION, "direction")                                                                   \
  X(CELL_FLOWS, "flows")                                                                           \
  X(CELL_LOAD, "under_load")                                                                       \
  X(CELL_SIZE, "size_bytes")                                                                       \
  X(CELL_GBPS, "gbps")                                                                             \
  X(CELL_HOP, "ns_per_hop")                                                                        \
  X(CELL_MEDIAN, "median_ns")                                                                      \
  X(CELL_LOW, "low_ns")                                                                            \
  X(CELL_HIGH, "high_ns")                                                                          \
  X(CELL_PROCESSES, "processes")                                                                   \
  X(CELL_STATUS, "status")                                                                         \
  X(CELL_REASON, "reason")                                                                         \
  X(CELL_SLOWED, "slowed_by")                                                                      \
  X(CELL_SAME, "same_as")                                                                          \
  X(CELL_INITIATOR, "initiator")                                                                   \
  X(CELL_SPECIAL, "special")                                                                       \
  X(CELL_KEY, "case_key")                                                                          \
  X(CELL_PARTIAL, "partial")                                                                       \
  X(CELL_ABOVE_PEAK, "above_peak")                                                                 \
  X(CELL_FASTEST, "fastest_ns")                                                                    \
  X(CELL_REACHED, "reached_ns")                                                                    \
  X(CELL_P95, "p95_ns")                                                                            \
  X(CELL_VISITS, "visits")                                                                         \
  X(CELL_SETTLED, "settled")                                                                       \
  X(CELL_UNDISTURBED, "undisturbed_ns")                                                            \
  X(CELL_UNDISTURBED_LOW, "undisturbed_low_ns")                                                    \
  X(CELL_UNDISTURBED_HIGH, "undisturbed_high_ns")                                                  \
  X(CELL_DISTURBED, "disturbed_percent")                                                           \
  X(CELL_DISTURBED_SLOWER, "disturbed_slower_percent")
ENUM_NAMES_DECLARE(case_cell, CASE_CELL_LIST)

/* What rows of data files ask of a case. */
struct observed {
  const char *block, *axes;
  unsigned kind, path, method, operation, initiator, memory;
  uint64_t size;
  bool plain; /* measured as such cases are by default, from host memory that is far, too */
  bool near;  /* no host memory of it is farther from its GPU than need be, as far as is known */
  bool above_peak; /* nothing compares it */
  bool time;
  double value; /* the undisturbed one where a process had several visits and it is known */
  /* The 95 % interval of one process; where value is the undisturbed one, its interval. Of several
   * processes, and where it is not known, both are value. */
  double low, high;
  bool revisited; /* a process had several visits */
  /* Other programs may have slowed every trial: undisturbed, it may be better than value. That is
   * the best that two visits reached, or of one visit its median. False where telemetry knows what
   * slowed it. */
  bool all_disturbed;
  double spread; /* how much longer than the fastest trial 95 % of them took at most, relative */
  double disturbed_percent, slower_percent; /* of the trials, and by how much at most; 0 = none */
  int gpus[2];
  int node; /* of the host; -1 = none */
};

struct observed_reader {
  struct arena *arena;
  const struct hardware *gpus;
  size_t gpu_count;
  size_t cells[case_cell_name_count]; /* their columns; SIZE_MAX = there is none */
};

/* For the GPUs of a run. */
void observed_begin(struct observed_reader *reader, struct arena *arena,
                    const struct result_set *hardware);
/* For the columns of its rows. */
void observed_columns(struct observed_reader *reader, const struct column *columns, size_t count);
/* False: the row has no value, or its case is shown elsewhere. */
bool observed_read(const struct observed_reader *reader, const struct cell *cells,
                   struct observed *observed);
/* NULL where it is none. */
const char *observed_text(const struct observed_reader *reader, const struct cell *cells,
                          enum case_cell which);
/* NAN where it is none. */
double observed_number(const struct observed_reader *reader, const struct cell *cells,
                       enum case_cell which);
/* observed->near, on that machine. */
bool observed_is_near(const struct observed_reader *reader, const struct observed *observed);
/* NULL = there is no such GPU. */
const struct hardware *observed_gpu(const struct observed_reader *reader, int number);
/* Whether rows of that machine are of the GPUs of the case. */
bool observed_machine_fits(const struct observed_reader *reader,
                           const struct expect_machine *machine, const struct observed *observed);
bool observed_row_fits(const struct expect_row *row, const struct observed *observed);
