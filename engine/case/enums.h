/* enums.h - the kinds of case, and how cases end: what most of the program knows of cases. The
 * names are the same in C, TOML, SQL and the documentation. Every other list of names stands beside
 * the struct that uses it: those of one kind in transfer.h, chase.h ..., those of several kinds in
 * case.h, those of trials in trial.h. A new name compiles only the files that use that struct. */
#pragma once

#include "engine/base/enum_names.h"

/* What a case measures, and a block of a scenario describes. The third member names the tables of
 * the kind: workload_NAME (engine/workload), scenario_kind_NAME (schema/scenario) and
 * plan_kind_NAME (runner/plan). */
#define CASE_KIND_LIST(X)                                                                          \
  X(CASE_TRANSFER, "transfer", transfer)       /* flows of bytes */                                \
  X(CASE_CHASE, "chase", chase)                /* latency of dependent loads */                    \
  X(CASE_STREAM, "stream", stream)             /* bandwidth of loops over arrays of numbers */     \
  X(CASE_ARITHMETIC, "arithmetic", arithmetic) /* latency and throughput of instructions */        \
  X(CASE_OVERHEAD, "overhead", overhead)       /* what calls of the driver cost the host */        \
  X(CASE_COMPUTE, "compute", compute)          /* rate of kernels that compute */                  \
  X(CASE_SIGNAL, "signal", signal)             /* flags and atomic additions */
ENUM_NAMES_DECLARE(case_kind, CASE_KIND_LIST)
/* Kinds whose measured work is flows; of the others flows are loads beside it. */
static inline int case_kind_is_of_flows(enum case_kind kind) {
  return kind == CASE_TRANSFER || kind == CASE_COMPUTE;
}
/* Kinds with a table of their own in the database, where columns of bench_case came to be enough.
 */
static inline int case_kind_has_table(enum case_kind kind) {
  return kind == CASE_CHASE || kind == CASE_STREAM || kind == CASE_ARITHMETIC ||
         kind == CASE_OVERHEAD;
}

/* The one number that a case is compared by. */
#define FIGURE_LIST(X)                                                                             \
  X(FIGURE_RATE, "GB/s")     /* 10^9 bytes per second: more is better */                           \
  X(FIGURE_FLOPS, "GFLOP/s") /* 10^9 floating-point operations per second: more is better */       \
  X(FIGURE_HOP, "ns/hop")    /* one dependent load: less is better */                              \
  X(FIGURE_CALL, "ns/call")  /* one call of the driver: less is better */                          \
  X(FIGURE_TIME, "ns")       /* one iteration: less is better */
ENUM_NAMES_DECLARE(figure, FIGURE_LIST)
/* A rate; of the others less is better. */
static inline int figure_is_rate(enum figure figure) {
  return figure == FIGURE_RATE || figure == FIGURE_FLOPS;
}

#define CASE_ORDER_LIST(X)                                                                         \
  X(CASE_ORDER_FILE, "file")                                                                       \
  X(CASE_ORDER_SHUFFLED, "shuffled")
ENUM_NAMES_DECLARE(case_order, CASE_ORDER_LIST)

#define CASE_STATUS_LIST(X)                                                                        \
  X(CASE_OK, "ok")                                                                                 \
  X(CASE_SKIPPED, "skipped") /* cannot run on this machine; the reason says why */                 \
  X(CASE_FAILED, "failed")   /* an error of the system or of a driver call */                      \
  X(CASE_CRASHED, "crashed") /* the worker process died */                                         \
  X(CASE_HUNG, "hung")       /* the watchdog ended the worker process */                           \
  X(CASE_CORRUPT, "corrupt") /* bytes arrived that were not sent */
ENUM_NAMES_DECLARE(case_status, CASE_STATUS_LIST)
