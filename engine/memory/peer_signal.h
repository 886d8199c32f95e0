/* peer_signal.h - the peer's side of signals: flags that a kernel, a stream or a thread of the peer
 * answers, and events that it opens and passes on. */
#pragma once

#include "engine/memory/peer_packet.h"

/* A zeroed one is ready for use. */
struct peer_signals {
  struct signal_time *time; /* page-locked, for the kernel; made at first use */
  CUdeviceptr time_device;
  struct signal_side side; /* that is under way */
  uint32_t events;         /* that are open */
  CUevent opened[PEER_EVENTS_MAX], own[PEER_EVENTS_MAX];
};

/* watched, answered: loans with the flags; of events NULL. */
enum status peer_signals_do(struct peer_signals *signals, const struct memory_context *context,
                            const struct peer_packet *packet, const struct buffer *watched,
                            const struct buffer *answered, struct peer_answer *answer,
                            struct error *err) CHECK_RESULT;
void peer_signals_fini(struct peer_signals *signals, const struct memory_context *context);
