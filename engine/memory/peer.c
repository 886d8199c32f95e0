#include "engine/memory/peer.h"

#include "engine/base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Send it, and wait for the answer. */
static enum status peer_ask(const struct memory_context *context, uint32_t process,
                            const struct peer_packet *packet, struct peer_answer *answer,
                            struct error *err) {
  const struct peers *peers = context->peers;
  if (peers == NULL || process == 0 || process > peers->count) {
    return error_set(err, STATUS_UNSUPPORTED, "there is no process %u beside this one", process);
  }
  const int fd = peers->sockets[process - 1];
  int file = -1;
  if (peers->wait != NULL) {
    atomic_store(&peers->wait->request, packet->request);
    atomic_store(&peers->wait->process, process);
  }
  const bool answered =
      peer_send(fd, packet, sizeof *packet, -1) && peer_receive(fd, answer, sizeof *answer, &file);
  if (peers->wait != NULL) {
    atomic_store(&peers->wait->process, 0);
  }
  if (!answered || (answer->status == STATUS_OK && answer->handle.has_file && file < 0)) {
    return error_set(err, STATUS_STICKY, "process %u ended while it was asked to %s", process,
                     peer_request_text((enum peer_request)packet->request));
  }
  answer->handle.file = file;
  if (answer->status != STATUS_OK) {
    return error_set(err, answer->status, "process %u: %.400s", process, answer->reason);
  }
  return STATUS_OK;
}

static enum status peer_ask_for_memory(const struct memory_context *context,
                                       const struct endpoint *endpoint, uint64_t size_bytes,
                                       struct peer_answer *answer, struct error *err) {
  const struct peer_packet packet = {
      .request = PEER_EXPORT, .endpoint = *endpoint, .size_bytes = size_bytes};
  return peer_ask(context, endpoint->process, &packet, answer, err);
}

enum status peer_export(const struct memory_context *context, const struct endpoint *endpoint,
                        uint64_t size_bytes, uint64_t *lent, struct share_handle *handle,
                        struct error *err) {
  struct peer_answer answer;
  RETURN_ON_ERROR(peer_ask_for_memory(context, endpoint, size_bytes, &answer, err));
  *lent = answer.lent;
  *handle = answer.handle;
  return STATUS_OK;
}

void peer_release(const struct memory_context *context, uint32_t process, uint64_t lent) {
  const struct peer_packet packet = {.request = PEER_RELEASE, .lent = lent};
  struct peer_answer answer;
  (void)peer_ask(context, process, &packet, &answer, NULL);
}

/* Later openings: as many as take no longer than that together, one at least. */
enum { REOPENINGS_MAX = 5 };
static const uint64_t reopenings_ns = 20000000;

static int peer_compare_times(const void *left, const void *right) {
  const uint64_t *a = left;
  const uint64_t *b = right;
  return (*a > *b) - (*a < *b);
}

static uint64_t peer_median(uint64_t *times, size_t count) {
  qsort(times, count, sizeof *times, peer_compare_times);
  return times[count / 2];
}

/* A driver may keep what was open, so that the first time tells little about the next. */
static enum status peer_open_again(const struct memory_context *context,
                                   const struct share_handle *handle, struct buffer *buffer,
                                   struct error *err) {
  const struct buffer closed = {.endpoint = buffer->endpoint,
                                .size_bytes = buffer->size_bytes,
                                .lent = buffer->lent,
                                .user = buffer->user,
                                .share = buffer->share};
  uint64_t open_ns[REOPENINGS_MAX];
  uint64_t close_ns[REOPENINGS_MAX];
  size_t count = 0;
  const uint64_t start_ns = clock_now_ns();
  while (count == 0 || (count < REOPENINGS_MAX && clock_now_ns() - start_ns < reopenings_ns)) {
    const uint64_t closing_ns = clock_now_ns();
    share_close(context, buffer);
    close_ns[count] = clock_now_ns() - closing_ns;
    *buffer = closed;
    const uint64_t opening_ns = clock_now_ns();
    RETURN_ON_ERROR(share_open(context, handle, buffer, err));
    open_ns[count++] = clock_now_ns() - opening_ns;
  }
  buffer->share.open_ns = peer_median(open_ns, count);
  buffer->share.close_ns = peer_median(close_ns, count);
  return STATUS_OK;
}

static enum status peer_borrow(const struct memory_context *context, struct buffer *buffer,
                               struct error *err) {
  struct peer_answer answer;
  RETURN_ON_ERROR(
      peer_ask_for_memory(context, &buffer->endpoint, buffer->size_bytes, &answer, err));
  buffer->lent = answer.lent;
  buffer->share.export_ns = answer.export_ns;
  const uint64_t start_ns = clock_now_ns();
  enum status status = share_open(context, &answer.handle, buffer, err);
  buffer->share.open_first_ns = clock_now_ns() - start_ns;
  status = THEN(status, peer_open_again(context, &answer.handle, buffer, err));
  if (answer.handle.file >= 0) {
    (void)close(answer.handle.file);
  }
  if (status != STATUS_OK) {
    peer_release(context, buffer->endpoint.process, answer.lent);
    return status;
  }
  buffer->notes |= answer.notes;
  buffer->placement_verified = answer.placement_verified;
  memcpy(buffer->unverified, answer.unverified, sizeof buffer->unverified);
  return STATUS_OK;
}

static void peer_give_back(const struct memory_context *context, struct buffer *buffer) {
  share_close(context, buffer);
  peer_release(context, buffer->endpoint.process, buffer->lent);
}

/* Declared in memory.c, whose pool uses it in place of the kinds. */
extern const struct memory_ops memory_lent;
const struct memory_ops memory_lent = {.allocate = peer_borrow, .release = peer_give_back};

enum status peer_fill(const struct memory_context *context, const struct buffer *buffer,
                      const struct peer_data *part, bool complement, struct error *err) {
  const struct peer_packet packet = {
      .request = PEER_FILL, .lent = buffer->lent, .part = *part, .complement = complement};
  struct peer_answer answer;
  return peer_ask(context, buffer->endpoint.process, &packet, &answer, err);
}

enum status peer_compare(const struct memory_context *context, const struct buffer *buffer,
                         const struct peer_data *part, struct data_difference *difference,
                         struct error *err) {
  const struct peer_packet packet = {.request = PEER_COMPARE, .lent = buffer->lent, .part = *part};
  struct peer_answer answer;
  RETURN_ON_ERROR(peer_ask(context, buffer->endpoint.process, &packet, &answer, err));
  *difference = answer.difference;
  return STATUS_OK;
}

enum status peer_signal(const struct memory_context *context, uint32_t process,
                        enum peer_request request, const struct peer_signal *signal,
                        struct peer_answer *answer, struct error *err) {
  const struct peer_packet packet = {.request = request, .signal = *signal};
  return peer_ask(context, process, &packet, answer, err);
}

enum status peer_check(const struct memory_context *context, uint32_t processes,
                       struct error *err) {
  const struct peer_packet packet = {.request = PEER_CHECK};
  enum status status = STATUS_OK;
  for (uint32_t i = 1; status == STATUS_OK && i <= PEERS_MAX; i++) {
    struct peer_answer answer;
    if ((processes >> i & 1) != 0) {
      status = peer_ask(context, i, &packet, &answer, err);
    }
  }
  return status;
}
