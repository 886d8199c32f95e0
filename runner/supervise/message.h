/* message.h - what parent and worker send each other, and what the parent keeps of a case until it
 * ends.
 *
 * One SOCK_SEQPACKET socket pair: a message is one packet of one size, so it arrives whole or not
 * at all. Both ends are the same executable; still, the parent believes nothing: a packet of
 * another size, an unknown kind, a count or an enum out of range is a bad message, and its sender
 * is treated as crashed. */
#pragma once

#include "engine/base/error.h"
#include "engine/case/trial.h"
#include "engine/machine/telemetry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MESSAGE_MAGIC = 0x6c756168, MESSAGE_TRIALS_MAX = 32, MESSAGE_FLOW_TRIALS_MAX = 64 };

enum message_kind {
  MESSAGE_RUN_CASE, /* parent: measure case_index; the worker ends when the socket does */
  MESSAGE_READY,    /* worker: the engine is up */
  MESSAGE_START_FAILED /* worker: the engine cannot start; error says why */,
  MESSAGE_TRIALS,      /* worker: count trials of the current case */
  MESSAGE_FLOW_TRIALS, /* worker: count flow trials of the current case */
  MESSAGE_FINISHED,    /* worker: outcome of the current case */
  message_kind_count,
};

struct message {
  uint32_t magic;
  uint32_t kind;
  uint32_t count;        /* of trials or flow trials */
  uint32_t context_lost; /* 1 with MESSAGE_FINISHED: the worker can measure nothing more */
  uint64_t case_index;
  union {
    struct trial trials[MESSAGE_TRIALS_MAX];
    struct flow_trial flow_trials[MESSAGE_FLOW_TRIALS_MAX];
    struct case_outcome outcome;
    struct error error; /* without position */
  };
};

enum receive {
  RECEIVE_MESSAGE,
  RECEIVE_NOTHING, /* none there now; only from a socket that does not block */
  RECEIVE_END,     /* the other side is gone */
  RECEIVE_BAD,     /* not a message, or one with wrong content */
};

/* An empty message of that kind, every byte of it defined. */
void message_init(struct message *message, enum message_kind kind, uint64_t case_index);
/* false: the other side is gone. Blocks while the socket is full. */
bool message_send(int fd, const struct message *message);
/* Also checks the content; message is only valid after RECEIVE_MESSAGE. */
enum receive message_receive(int fd, struct message *message);

/* More than any scenario asks for; they bound what a runaway worker can make the parent hold. */
enum {
  COLLECT_TRIALS_MAX = 1 << 21,
  COLLECT_FLOW_TRIALS_MAX = 1 << 23,
  COLLECT_SAMPLES_MAX = 1 << 20
};

/* What arrived of the case that is being measured. */
struct collect {
  struct collected {
    void *items;
    size_t count;
  } trials, flow_trials, samples; /* of struct trial, flow_trial, telemetry_sample */
};

void collect_fini(struct collect *collect);
/* Forget what was collected, keep the memory. */
void collect_clear(struct collect *collect);
/* A MESSAGE_TRIALS or MESSAGE_FLOW_TRIALS; false: they would exceed the maximum. */
bool collect_message(struct collect *collect, const struct message *message);
/* Samples past the maximum are dropped. */
void collect_samples(struct collect *collect, const struct telemetry_sample *samples, size_t count);
