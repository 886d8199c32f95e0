/* signal.h - flags that are passed to and fro, and atomic additions: case kind signal. */
#pragma once

#include "engine/case/case.h"

#define SIGNAL_OP_LIST(X)                                                                          \
  X(SIGNAL_FLAG, "flag")       /* a kernel and a host thread, or kernels of two GPUs */            \
  X(SIGNAL_STREAM, "stream")   /* a stream that waits for a value and writes one, and a thread or  \
                                  another stream */                                                \
  X(SIGNAL_ATOMIC, "atomic")   /* one addition after the other */                                  \
  X(SIGNAL_ATOMICS, "atomics") /* many threads, no answers */                                      \
  X(SIGNAL_EVENT, "event")     /* a stream that waits for what another one has recorded */
ENUM_NAMES_DECLARE(signal_op, SIGNAL_OP_LIST)

/* Whose memory has a flag between two GPUs: that of the GPU that polls it, or of the one that
 * writes it. */
#define SIGNAL_HOME_LIST(X)                                                                        \
  X(SIGNAL_AT_RECEIVER, "receiver")                                                                \
  X(SIGNAL_AT_SENDER, "sender")
ENUM_NAMES_DECLARE(signal_home, SIGNAL_HOME_LIST)

/* Part of a signal's case_key: raised whenever it measures differently. */
enum { SIGNAL_METHOD_VERSION = 1 };

/* Of one trial. Rounds of a stream stand in its queue before the first is answered, beside those
 * that are not timed; each round of events has two of its own. */
enum { SIGNAL_STREAM_ROUNDS_MAX = 124, SIGNAL_EVENTS_MAX = 64, SIGNAL_ROUNDS_MAX = 1 << 20 };

struct signal {
  enum signal_op op;
  int32_t gpu; /* whose kernel or stream */
  /* Who answers: a thread of that node, or that GPU, in that process, which has the flags; of
   * atomics the memory, which may be its own. */
  struct endpoint other;
  enum signal_home home; /* of flags between GPUs */
  uint32_t rounds;       /* of one iteration: there and back; of atomics additions of each thread */
  uint32_t blocks, threads, addresses; /* of atomics */
};

/* Between streams or kernels of GPUs, or a stream and itself. */
static inline bool signal_is_answered_by_gpu(const struct signal *signal) {
  return signal->other.place == PLACE_GPU && signal->op != SIGNAL_ATOMIC &&
         signal->op != SIGNAL_ATOMICS;
}

static inline uint32_t signal_rounds_max(const struct signal *signal) {
  return signal->op == SIGNAL_STREAM  ? SIGNAL_STREAM_ROUNDS_MAX
         : signal->op == SIGNAL_EVENT ? SIGNAL_EVENTS_MAX
                                      : SIGNAL_ROUNDS_MAX;
}

/* Of one iteration. */
static inline uint64_t signal_operations(const struct signal *signal) {
  return signal->op == SIGNAL_ATOMICS ? (uint64_t)signal->rounds * signal->blocks * signal->threads
                                      : signal->rounds;
}
