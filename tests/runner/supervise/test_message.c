#include "runner/supervise/message.h"

#include "tests/cmocka.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

struct ends {
  int from, to;
};

static int open_ends(void **state) {
  static struct ends ends;
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0) {
    return -1;
  }
  fcntl(pair[1], F_SETFL, O_NONBLOCK);
  ends = (struct ends){pair[0], pair[1]};
  *state = &ends;
  return 0;
}

static int close_ends(void **state) {
  struct ends *ends = *state;
  if (ends->from >= 0) {
    close(ends->from);
  }
  close(ends->to);
  return 0;
}

static enum receive pass(const struct ends *ends, const struct message *message) {
  assert_true(message_send(ends->from, message));
  struct message got;
  return message_receive(ends->to, &got);
}

TEST_WITH(message_arrives_as_sent, open_ends, close_ends, const struct ends *ends) {
  struct message sent, got;
  message_init(&sent, MESSAGE_TRIALS, 7);
  sent.count = 2;
  sent.trials[1] = (struct trial){.ordinal = 1, .phase = TRIAL_MEASURE, .elapsed_ns = 42};
  assert_true(message_send(ends->from, &sent));
  assert_int_equal(message_receive(ends->to, &got), RECEIVE_MESSAGE);
  assert_memory_equal(&sent, &got, sizeof sent);
  assert_int_equal(message_receive(ends->to, &got), RECEIVE_NOTHING);
}

TEST_WITH(end_differs_from_nothing_yet, open_ends, close_ends, struct ends *ends) {
  struct message got;
  close(ends->from);
  ends->from = -1;
  assert_int_equal(message_receive(ends->to, &got), RECEIVE_END);
  message_init(&got, MESSAGE_READY, 0);
  assert_false(message_send(ends->to, &got));
}

TEST_WITH(message_of_other_size_is_bad, open_ends, close_ends, const struct ends *ends) {
  struct message got;
  char bytes[sizeof got + 1];
  memset(bytes, 0, sizeof bytes);
  struct message ready;
  message_init(&ready, MESSAGE_READY, 0);
  memcpy(bytes, &ready, sizeof ready);
  assert_int_equal(send(ends->from, bytes, sizeof ready - 1, 0), sizeof ready - 1);
  assert_int_equal(message_receive(ends->to, &got), RECEIVE_BAD);
  assert_int_equal(send(ends->from, bytes, sizeof bytes, 0), sizeof bytes);
  assert_int_equal(message_receive(ends->to, &got), RECEIVE_BAD);
}

TEST_WITH(unknown_header_is_bad, open_ends, close_ends, const struct ends *ends) {
  struct message message;
  message_init(&message, MESSAGE_READY, 0);
  message.magic++;
  assert_int_equal(pass(ends, &message), RECEIVE_BAD);
  message_init(&message, MESSAGE_READY, 0);
  message.kind = message_kind_count;
  assert_int_equal(pass(ends, &message), RECEIVE_BAD);
  message_init(&message, MESSAGE_READY, 0);
  message.context_lost = 2;
  assert_int_equal(pass(ends, &message), RECEIVE_BAD);
}

TEST_WITH(counts_and_enums_are_checked, open_ends, close_ends, const struct ends *ends) {
  struct message message;
  message_init(&message, MESSAGE_TRIALS, 0);
  message.count = MESSAGE_TRIALS_MAX;
  assert_int_equal(pass(ends, &message), RECEIVE_MESSAGE);
  message.count = MESSAGE_TRIALS_MAX + 1;
  assert_int_equal(pass(ends, &message), RECEIVE_BAD);
  message.count = 1;
  memset(&message.trials[0].status, 0xff, sizeof message.trials[0].status);
  assert_int_equal(pass(ends, &message), RECEIVE_BAD);
  message_init(&message, MESSAGE_FLOW_TRIALS, 0);
  message.count = MESSAGE_FLOW_TRIALS_MAX + 1;
  assert_int_equal(pass(ends, &message), RECEIVE_BAD);
}

TEST_WITH(outcome_fields_are_checked, open_ends, close_ends, const struct ends *ends) {
  struct message message;
  message_init(&message, MESSAGE_FINISHED, 0);
  assert_int_equal(pass(ends, &message), RECEIVE_MESSAGE);
  memset(&message.outcome.gated, 2, 1);
  assert_int_equal(pass(ends, &message), RECEIVE_BAD);
  message_init(&message, MESSAGE_FINISHED, 0);
  message.outcome.notes.count = NOTES_MAX + 1;
  assert_int_equal(pass(ends, &message), RECEIVE_BAD);
  message.outcome.notes.count = 1;
  memset(message.outcome.notes.items[0].what, 'x', NOTE_WHAT_MAX);
  assert_int_equal(pass(ends, &message), RECEIVE_BAD);
  message.outcome.notes.items[0] = (struct note){.kind = note_kind_name_count};
  assert_int_equal(pass(ends, &message), RECEIVE_BAD);
  message_init(&message, MESSAGE_FINISHED, 0);
  memset(&message.outcome.status, 0xff, sizeof message.outcome.status);
  assert_int_equal(pass(ends, &message), RECEIVE_BAD);
  message_init(&message, MESSAGE_START_FAILED, 0);
  memset(message.error.message, 'x', sizeof message.error.message);
  assert_int_equal(pass(ends, &message), RECEIVE_BAD);
}
