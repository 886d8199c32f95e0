#include "runner/supervise/message.h"

#include "engine/base/arena.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

void message_init(struct message *message, enum message_kind kind, uint64_t case_index) {
  memset(message, 0, sizeof *message);
  message->magic = MESSAGE_MAGIC;
  message->kind = kind;
  message->case_index = case_index;
}

bool message_send(int fd, const struct message *message) {
  ssize_t sent;
  do {
    sent = send(fd, message, sizeof *message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == (ssize_t)sizeof *message;
}

static bool message_is_text(const char *text, size_t size) {
  return memchr(text, '\0', size) != NULL;
}

/* A bool that came from elsewhere may hold any byte, and reading such a bool is undefined. */
static bool message_is_bool(const bool *value) {
  unsigned char byte;
  memcpy(&byte, value, 1);
  return byte <= 1;
}

static bool message_trials_are_sound(const struct message *message) {
  for (uint32_t i = 0; i < message->count; i++) {
    const struct trial *trial = &message->trials[i];
    if ((unsigned)trial->phase >= trial_phase_name_count ||
        (unsigned)trial->status >= trial_status_name_count) {
      return false;
    }
  }
  return true;
}

static bool message_notes_are_sound(const struct notes *notes) {
  bool sound = notes->count <= NOTES_MAX;
  for (uint32_t i = 0; sound && i < notes->count; i++) {
    const struct note *note = &notes->items[i];
    sound = (unsigned)note->kind < note_kind_name_count && note->gpu >= NOTE_NO_GPU &&
            note->gpu < MACHINE_GPUS_MAX && message_is_text(note->what, sizeof note->what);
    for (size_t k = 0; k < NOTE_AMOUNTS_MAX; k++) {
      sound = sound && isfinite(note->amounts[k]);
    }
  }
  return sound;
}

static bool message_outcome_is_sound(const struct case_outcome *outcome) {
  return (unsigned)outcome->status < case_status_name_count &&
         (unsigned)outcome->stop < stop_name_count && (unsigned)outcome->clock < clock_name_count &&
         message_is_bool(&outcome->gated) && message_is_bool(&outcome->verified) &&
         message_is_bool(&outcome->unproven) && message_is_bool(&outcome->serialised) &&
         message_is_text(outcome->reason, sizeof outcome->reason) &&
         message_notes_are_sound(&outcome->notes);
}

static bool message_is_sound(const struct message *message) {
  if (message->magic != MESSAGE_MAGIC || message->kind >= message_kind_count ||
      message->context_lost > 1) {
    return false;
  }
  switch ((enum message_kind)message->kind) {
  case MESSAGE_RUN_CASE:
  case MESSAGE_READY:
    return true;
  case MESSAGE_START_FAILED:
    return (unsigned)message->error.status < status_name_count &&
           message_is_text(message->error.message, sizeof message->error.message);
  case MESSAGE_TRIALS:
    return message->count <= MESSAGE_TRIALS_MAX && message_trials_are_sound(message);
  case MESSAGE_FLOW_TRIALS:
    return message->count <= MESSAGE_FLOW_TRIALS_MAX;
  case MESSAGE_FINISHED:
    return message_outcome_is_sound(&message->outcome);
  case message_kind_count:
    break;
  }
  return false;
}

enum receive message_receive(int fd, struct message *message) {
  /* MSG_TRUNC: the length of the packet itself, so that one too long is seen as well. */
  ssize_t got;
  do {
    got = recv(fd, message, sizeof *message, MSG_TRUNC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    return errno == EAGAIN || errno == EWOULDBLOCK ? RECEIVE_NOTHING : RECEIVE_END;
  }
  if (got == 0) {
    return RECEIVE_END;
  }
  return got == (ssize_t)sizeof *message && message_is_sound(message) ? RECEIVE_MESSAGE
                                                                      : RECEIVE_BAD;
}

/* ---- what the parent keeps ---- */

void collect_fini(struct collect *collect) {
  free(collect->trials.items);
  free(collect->flow_trials.items);
  free(collect->samples.items);
  *collect = (struct collect){0};
}

void collect_clear(struct collect *collect) {
  collect->trials.count = 0;
  collect->flow_trials.count = 0;
  collect->samples.count = 0;
}

/* false: there would be more than maximum. */
static bool collect_append(struct collected *list, size_t maximum, const void *more, size_t count,
                           size_t size_bytes) {
  if (count > maximum - list->count) {
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    list->items = memory_grow(list->items, list->count, size_bytes);
    memcpy((char *)list->items + list->count++ * size_bytes, (const char *)more + i * size_bytes,
           size_bytes);
  }
  return true;
}

bool collect_message(struct collect *collect, const struct message *message) {
  return message->kind == MESSAGE_TRIALS
             ? collect_append(&collect->trials, COLLECT_TRIALS_MAX, message->trials, message->count,
                              sizeof *message->trials)
             : collect_append(&collect->flow_trials, COLLECT_FLOW_TRIALS_MAX, message->flow_trials,
                              message->count, sizeof *message->flow_trials);
}

void collect_samples(struct collect *collect, const struct telemetry_sample *samples,
                     size_t count) {
  (void)collect_append(&collect->samples, COLLECT_SAMPLES_MAX, samples, count, sizeof *samples);
}
