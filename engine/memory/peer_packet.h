/* peer_packet.h - the packets between two processes of engine/memory/peer.h. */
#pragma once

#include "engine/case/transfer.h"
#include "engine/gpu/signal_side.h"
#include "engine/memory/share.h"

/* What a peer can be asked for. Behind the name: for a person, after "while it was asked to". */
#define PEER_REQUEST_LIST(X)                                                                       \
  X(PEER_NOTHING, "do nothing")                                                                    \
  X(PEER_EXPORT, "allocate and export memory")                                                     \
  X(PEER_FILL, "fill memory")                                                                      \
  X(PEER_COMPARE, "verify memory")                                                                 \
  X(PEER_RELEASE, "free memory")                                                                   \
  X(PEER_SIGNAL_START, "answer signals")                                                           \
  X(PEER_SIGNAL_WAIT, "wait for its signals")                                                      \
  X(PEER_SIGNAL_PASS, "pass signals")                                                              \
  X(PEER_EVENT_OPEN, "open an event")                                                              \
  X(PEER_EVENT_PASS, "pass an event on")                                                           \
  X(PEER_EVENT_CLOSE, "close events")                                                              \
  X(PEER_CHECK, "say whether its contexts work")
ENUM_NAMES_DECLARE(peer_request, PEER_REQUEST_LIST)

/* What is filled or compared. */
struct peer_data {
  uint64_t size_bytes;
  struct copy_shape shape; /* to fill the rows of it alone */
  uint64_t seed;
  int32_t gpu; /* that may do it for memory of the host */
};

/* What passes a signal on. Between START and WAIT a kernel or a stream answers; PASS is all rounds
 * by a thread, which begins them. An event is opened by its number once, in order, and then passed
 * on: the peer's stream waits for it and records the peer's own of that number. */
struct peer_signal {
  int32_t index;                  /* the GPU; of a thread its node */
  bool by_stream;                 /* else by a kernel */
  uint64_t watched_in, answer_in; /* loans that have the flags */
  struct signal_side side;        /* addresses count from the start of those loans */
  uint32_t event;
  unsigned char handle[64]; /* of cuIpcGetEventHandle */
};
enum { PEER_EVENTS_MAX = 64 };

struct peer_packet {
  uint32_t request; /* enum peer_request */
  struct endpoint endpoint;
  uint64_t size_bytes;   /* of PEER_EXPORT */
  uint64_t lent;         /* of the next three */
  struct peer_data part; /* of PEER_FILL and PEER_COMPARE */
  bool complement;
  struct peer_signal signal;
};

struct peer_answer {
  enum status status;
  uint64_t lent;
  uint64_t export_ns;
  uint64_t notes; /* of the buffer */
  bool placement_verified;
  char unverified[NOTE_WHAT_MAX];
  struct share_handle handle; /* its file comes beside the packet */
  struct data_difference difference;
  uint64_t elapsed_ns; /* of PEER_SIGNAL_PASS */
  bool in_time;        /* of signals: none got lost */
  int32_t cpu;         /* whose thread it was */
  unsigned char handle_of_event[64];
  char reason[ERROR_MESSAGE_MAX];
};

/* With the file, where there is one: -1 = none. */
bool peer_send(int fd, const void *packet, size_t size_bytes, int file);
/* False: the other side is gone, or sent something else. */
bool peer_receive(int fd, void *packet, size_t size_bytes, int *file);
