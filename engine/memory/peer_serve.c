/* The peer's side of peer.h. */
#include "engine/base/clock.h"
#include "engine/gpu/session.h"
#include "engine/machine/machine.h"
#include "engine/memory/data.h"
#include "engine/memory/peer.h"
#include "engine/memory/peer_signal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a peer has; loans by number, from 1. A free place has size_bytes 0. */
struct peer {
  struct memory_context context;
  struct data *data;
  struct buffer *loans;
  uint64_t count, capacity;
  struct peer_signals signals;
};

static enum status peer_start(struct peer *peer, const struct machine *machine, struct error *err) {
  if (peer->data != NULL) {
    return STATUS_OK;
  }
  peer->context.machine = machine;
  if (machine->gpu_count > 0 && peer->context.cuda == NULL) {
    RETURN_ON_ERROR(cuda_session_new(machine, &peer->context.cuda, err));
  }
  peer->data = data_new(&peer->context);
  return peer->data != NULL ? STATUS_OK
                            : error_set(err, STATUS_NO_MEMORY, "no memory for its buffers");
}

static struct buffer *peer_loan(struct peer *peer, uint64_t lent) {
  const bool known = lent > 0 && lent <= peer->count && peer->loans[lent - 1].size_bytes > 0;
  return known ? &peer->loans[lent - 1] : NULL;
}

static enum status peer_new_loan(struct peer *peer, uint64_t *lent, struct error *err) {
  for (uint64_t i = peer->count; i > 0 && peer->count - i < 8; i--) {
    if (peer->loans[i - 1].size_bytes == 0) {
      *lent = i;
      return STATUS_OK;
    }
  }
  if (peer->count == peer->capacity) {
    const uint64_t capacity = peer->capacity == 0 ? 16 : 2 * peer->capacity;
    struct buffer *loans = realloc(peer->loans, capacity * sizeof *loans);
    if (loans == NULL) {
      return error_set(err, STATUS_NO_MEMORY, "no memory for its buffers");
    }
    peer->loans = loans;
    peer->capacity = capacity;
  }
  peer->loans[peer->count] = (struct buffer){.size_bytes = 0};
  *lent = ++peer->count;
  return STATUS_OK;
}

static enum status peer_make(struct peer *peer, const struct peer_packet *packet,
                             struct peer_answer *answer, struct error *err) {
  const struct memory_ops *kind = memory_kinds[packet->endpoint.memory];
  char reason[CASE_REASON_MAX];
  uint64_t lent = 0;
  if (packet->endpoint.place == PLACE_GPU && peer->context.cuda == NULL) {
    return error_set(err, STATUS_UNSUPPORTED, "there is no GPU");
  }
  if (packet->endpoint.place == PLACE_GPU) {
    RETURN_ON_ERROR(cuda_session_use(peer->context.cuda, packet->endpoint.index, err));
  }
  const char *unsupported = share_unsupported_reason(&peer->context, &packet->endpoint, reason);
  if (unsupported != NULL) {
    return error_set(err, STATUS_UNSUPPORTED, "%s", unsupported);
  }
  RETURN_ON_ERROR(peer_new_loan(peer, &lent, err));
  struct buffer made = {.endpoint = packet->endpoint, .size_bytes = packet->size_bytes};
  RETURN_ON_ERROR(kind->allocate(&peer->context, &made, err));
  const uint64_t start_ns = clock_now_ns();
  enum status status = share_export(&peer->context, &made, &answer->handle, err);
  answer->export_ns = clock_now_ns() - start_ns;
  if (status != STATUS_OK) {
    kind->release(&peer->context, &made);
    return status;
  }
  answer->lent = lent;
  answer->notes = made.notes;
  answer->placement_verified = made.placement_verified;
  memcpy(answer->unverified, made.unverified, sizeof answer->unverified);
  peer->loans[lent - 1] = made;
  return STATUS_OK;
}

static enum status peer_on_loan(struct peer *peer, const struct peer_packet *packet,
                                struct peer_answer *answer, struct error *err) {
  struct buffer *loan = peer_loan(peer, packet->lent);
  const struct peer_data *part = &packet->part;
  if (loan == NULL || part->size_bytes > loan->size_bytes) {
    return error_set(err, STATUS_INVALID, "it has lent no such memory");
  }
  if (packet->request == PEER_RELEASE) {
    memory_kinds[loan->endpoint.memory]->release(&peer->context, loan);
    *loan = (struct buffer){.size_bytes = 0};
    return STATUS_OK;
  }
  if (packet->request == PEER_COMPARE) {
    return data_compare(peer->data, loan, part->size_bytes, part->seed, part->gpu,
                        &answer->difference, err);
  }
  const int32_t gpu = loan->endpoint.place == PLACE_GPU ? loan->endpoint.index : part->gpu;
  if (copy_shape_is_strided(&part->shape) && peer->context.cuda != NULL && gpu >= 0) {
    RETURN_ON_ERROR(
        cuda_session_prepare(peer->context.cuda, 1U << gpu, 1U << KERNEL_MODULE_STRIDED, err));
  }
  if (copy_shape_is_strided(&part->shape)) {
    return data_fill_rows(peer->data, loan, &part->shape, part->seed, packet->complement, part->gpu,
                          err);
  }
  return data_fill_wait(
      peer->data,
      data_fill(peer->data, loan, part->size_bytes, part->seed, packet->complement, part->gpu, err),
      err);
}

static bool peer_has_flag(const struct buffer *loan, uint64_t at) {
  return loan != NULL && loan->size_bytes >= sizeof(uint32_t) &&
         at <= loan->size_bytes - sizeof(uint32_t);
}

static enum status peer_pass_signal(struct peer *peer, const struct peer_packet *packet,
                                    struct peer_answer *answer, struct error *err) {
  const struct peer_signal *signal = &packet->signal;
  const struct buffer *watched = peer_loan(peer, signal->watched_in);
  const struct buffer *answered = peer_loan(peer, signal->answer_in);
  const bool has_flags = packet->request != PEER_EVENT_OPEN && packet->request != PEER_EVENT_PASS &&
                         packet->request != PEER_EVENT_CLOSE;
  if (has_flags && !(peer_has_flag(watched, signal->side.watched) &&
                     peer_has_flag(answered, signal->side.answer))) {
    return error_set(err, STATUS_INVALID, "it has lent no such memory");
  }
  return peer_signals_do(&peer->signals, &peer->context, packet, watched, answered, answer, err);
}

static enum status peer_check_own(struct peer *peer, struct error *err) {
  for (uint64_t i = 0; i < peer->count; i++) {
    if (peer->loans[i].size_bytes > 0) {
      return error_set(err, STATUS_STICKY, "memory was not given back");
    }
  }
  if (peer->signals.events > 0) {
    return error_set(err, STATUS_STICKY, "events were not closed");
  }
  return peer->context.cuda != NULL ? cuda_session_check(peer->context.cuda, UINT32_MAX, err)
                                    : STATUS_OK;
}

static enum status peer_do(struct peer *peer, const struct machine *machine,
                           const struct peer_packet *packet, struct peer_answer *answer,
                           struct error *err) {
  RETURN_ON_ERROR(peer_start(peer, machine, err));
  switch ((enum peer_request)packet->request) {
  case PEER_EXPORT:
    return peer_make(peer, packet, answer, err);
  case PEER_FILL:
  case PEER_COMPARE:
  case PEER_RELEASE:
    return peer_on_loan(peer, packet, answer, err);
  case PEER_SIGNAL_START:
  case PEER_SIGNAL_WAIT:
  case PEER_SIGNAL_PASS:
  case PEER_EVENT_OPEN:
  case PEER_EVENT_PASS:
  case PEER_EVENT_CLOSE:
    return peer_pass_signal(peer, packet, answer, err);
  case PEER_CHECK:
    return peer_check_own(peer, err);
  case PEER_NOTHING:
  case peer_request_name_count:
    break;
  }
  return error_set(err, STATUS_INVALID, "it was asked for something unknown");
}

void peer_serve(int fd, const struct machine *machine, uint32_t process) {
  struct peer peer = {.context = {.process = process}};
  struct peer_packet packet;
  int unused = -1;
  while (peer_receive(fd, &packet, sizeof packet, &unused)) {
    struct peer_answer answer;
    struct error err = {0};
    if (unused >= 0) {
      (void)close(unused);
    }
    memset(&answer, 0, sizeof answer); /* padding, too */
    answer.status = peer_do(&peer, machine, &packet, &answer, &err);
    memcpy(answer.reason, err.message, sizeof answer.reason);
    const int file = answer.handle.has_file ? answer.handle.file : -1;
    const bool sent = peer_send(fd, &answer, sizeof answer, file);
    if (file >= 0) {
      (void)close(file);
    }
    if (!sent) {
      break;
    }
  }
  peer_signals_fini(&peer.signals, &peer.context);
  for (uint64_t i = 0; i < peer.count; i++) {
    if (peer.loans[i].size_bytes > 0) {
      memory_kinds[peer.loans[i].endpoint.memory]->release(&peer.context, &peer.loans[i]);
    }
  }
  free(peer.loans);
  data_free(peer.data);
  cuda_session_free(peer.context.cuda);
}
