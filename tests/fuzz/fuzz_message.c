/* Any bytes as messages of a worker process: the parent takes a good one or calls it bad, and what
 * it collects is what the message says. Bytes that are too few for a message stand for its first
 * ones. */
#include "runner/supervise/message.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/socket.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int pair[2] = {-1, -1};
  static struct message sent, received;
  static struct collect collect;
  if (pair[0] < 0) {
    fuzz_require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) == 0, "no sockets");
  }
  if (size == 0) {
    return 0;
  }
  /* The first byte: a whole message of which the rest is zero, or a packet as it is. */
  const bool whole = (data[0] & 1) != 0;
  data++;
  size = size - 1 < sizeof sent ? size - 1 : sizeof sent;
  message_init(&sent, MESSAGE_READY, 0);
  memcpy((char *)&sent + (whole ? sizeof sent.magic : 0), data,
         whole && size > sizeof sent - sizeof sent.magic ? sizeof sent - sizeof sent.magic : size);
  if (send(pair[0], &sent, whole ? sizeof sent : size > 0 ? size : 1, 0) < 0) {
    return 0;
  }
  if (message_receive(pair[1], &received) == RECEIVE_MESSAGE) {
    fuzz_require(received.kind < message_kind_count, "a kind is not known");
    if (received.kind == MESSAGE_TRIALS || received.kind == MESSAGE_FLOW_TRIALS) {
      collect_clear(&collect);
      fuzz_require(collect_message(&collect, &received), "one message is too many");
      fuzz_require(collect.trials.count + collect.flow_trials.count == received.count,
                   "trials are lost");
    } else if (received.kind == MESSAGE_FINISHED) {
      fuzz_require(case_status_text(received.outcome.status) != NULL &&
                       strlen(received.outcome.reason) < CASE_REASON_MAX,
                   "an outcome is not checked");
    } else if (received.kind == MESSAGE_START_FAILED) {
      fuzz_require(strlen(received.error.message) < ERROR_MESSAGE_MAX, "an error is not checked");
    }
  }
  return 0;
}
