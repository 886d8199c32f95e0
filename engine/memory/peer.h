/* peer.h - memory that other processes have: borrowed from them, filled and compared by them; and
 * signals that they answer.
 *
 * A peer is a process like the one that measures, started with it (runner/supervise). It waits for
 * requests on a SOCK_SEQPACKET socket, one packet each, and answers every one; descriptors travel
 * with the answers (SCM_RIGHTS). It starts CUDA when it needs it first. Requests have no time-out:
 * who watches the processes ends them, and learns here for whom the measuring process waits. A peer
 * that has ended or that lost its context is STATUS_STICKY: both processes are to be replaced. */
#pragma once

#include "engine/memory/peer_packet.h"

#include <stdatomic.h>

/* Read by the process that watches; in memory that it shares. */
struct peer_wait {
  atomic_uint process; /* for which the measuring process waits; 0 = for none */
  atomic_uint request; /* enum peer_request */
};

/* What the measuring process has of its peers; borrowed. */
struct peers {
  uint32_t count;         /* processes 1 to count */
  int sockets[PEERS_MAX]; /* of process i + 1 */
  struct peer_wait *wait; /* NULL: nobody watches */
};

/* The peer's side: until the other one closes the socket. */
void peer_serve(int fd, const struct machine *machine, uint32_t process);

/* Have a peer make and export memory. The caller gives the number back, and closes the file; the
 * pool (memory.h) does all that by itself, and opens it: first once, then again for the times of
 * later openings. STATUS_UNSUPPORTED: there is no such sharing here. */
enum status peer_export(const struct memory_context *context, const struct endpoint *endpoint,
                        uint64_t size_bytes, uint64_t *lent, struct share_handle *handle,
                        struct error *err) CHECK_RESULT;
/* What fails shows in peer_check(). */
void peer_release(const struct memory_context *context, uint32_t process, uint64_t lent);
/* data.h's, by the process whose memory it is. */
enum status peer_fill(const struct memory_context *context, const struct buffer *buffer,
                      const struct peer_data *part, bool complement,
                      struct error *err) CHECK_RESULT;
enum status peer_compare(const struct memory_context *context, const struct buffer *buffer,
                         const struct peer_data *part, struct data_difference *difference,
                         struct error *err) CHECK_RESULT;
/* One of the requests for signals and events; answer: as peer_packet.h has it. */
enum status peer_signal(const struct memory_context *context, uint32_t process,
                        enum peer_request request, const struct peer_signal *signal,
                        struct peer_answer *answer, struct error *err) CHECK_RESULT;
/* Whether these processes (bit i: process i) are there, have freed all memory, and their contexts
 * work. */
enum status peer_check(const struct memory_context *context, uint32_t processes,
                       struct error *err) CHECK_RESULT;
