/* signal_side.h - one side of flags that pass to and fro: a kernel, a stream or a thread of the
 * host that watches one flag and writes the other. Whichever process has a side, it runs this.
 *
 * Flags count up, and a side waits for the very next value. Nobody waits longer than
 * SIGNAL_TIMEOUT_NS. */
#pragma once

#include "engine/gpu/session.h"

#define SIGNAL_TIMEOUT_NS        UINT64_C(4000000000)
#define SIGNAL_STREAM_TIMEOUT_NS UINT64_C(1000000000) /* of the few rounds in a stream */
/* The first rounds of a trial are not timed: in them both sides arrive. */
enum { SIGNAL_WARM_ROUNDS = 4 };

struct signal_side {
  uint64_t watched,
      answer;      /* flags of 32 bits: addresses for the GPU; of a thread, for processors */
  uint32_t first;  /* value of the first round */
  uint32_t rounds; /* besides those that are not timed */
  bool begins;     /* writes before it waits, and has the time */
};

static inline uint32_t signal_side_last(const struct signal_side *side) {
  return side->first + SIGNAL_WARM_ROUNDS + side->rounds - 1;
}

/* On the GPU's stream for work outside timed parts. The kernel notes its time (struct signal_time)
 * at that address, and gives up by itself. */
enum status signal_side_launch(struct cuda_session *session, int32_t gpu,
                               const struct signal_side *side, uint64_t time,
                               struct error *err) CHECK_RESULT;
/* On that stream, by itself. On failure a side that answers is not left waiting; who begins calls
 * signal_side_wait(). start: recorded where the timed rounds begin; NULL: nowhere. The
 * context of the stream is current. STATUS_UNSUPPORTED: this driver's streams cannot do it. */
enum status signal_side_queue(struct cuda_session *session, CUstream stream,
                              const struct signal_side *side, CUevent start,
                              struct error *err) CHECK_RESULT;
/* Wait until that stream of the GPU is idle. A stream cannot give up by itself: when the time is
 * over, the last value is written for it and for the other side. */
enum status signal_side_wait(struct cuda_session *session, int32_t gpu, CUstream stream,
                             const struct signal_side *side, bool *in_time,
                             struct error *err) CHECK_RESULT;
/* By the calling thread; false: a value did not come in time. */
bool signal_side_poll(const struct signal_side *side, uint64_t *elapsed_ns);
