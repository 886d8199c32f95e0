/* peer_group.h - the processes beside a worker whose memory its cases have (engine/memory/peer.h):
 * started before it, ended after it, so that a fresh worker has fresh ones. */
#pragma once

#include "engine/memory/peer.h"
#include "runner/plan/plan.h"
#include "runner/supervise/child.h"

#include <poll.h>

/* What the processes do until the socket ends, and which of them a case needs (bit i: process i).
 */
typedef void peer_serving(int fd, const struct machine *machine, uint32_t process);
typedef uint32_t peer_needing(const struct case_def *def);

struct peer_group {
  peer_needing *needs; /* NULL: no case has memory of another process */
  struct peers peers;  /* sockets: both this process and the worker hold them */
  pid_t pids[PEERS_MAX];
  struct child_end ends[PEERS_MAX]; /* of those that were found to have ended */
};

/* As many as the cases of the plan need (needs NULL: none); a group without any is one of zeros. */
enum status peer_group_start(struct peer_group *group, const struct plan *plan, peer_needing *needs,
                             peer_serving *serve, struct error *err) CHECK_RESULT;
static inline uint32_t peer_group_needed(const struct peer_group *group,
                                         const struct case_def *def) {
  return group->needs != NULL ? group->needs(def) : 0;
}
/* The worker has ended. They free what they have first; patience NULL: kill them. */
void peer_group_end(struct peer_group *group, struct child_patience *patience);

enum { PEER_TEXT_MAX = CHILD_TEXT_MAX + 32 };
enum peer_state { PEERS_IDLE, PEER_ENDED, PEER_KILLED, PEER_AWAITED };
/* Of these processes (bit i: process i): one has ended (killed: by a user or the kernel), or the
 * worker waits for one; text says which and how, or what for. */
enum peer_state peer_group_state(struct peer_group *group, uint32_t processes,
                                 char text[PEER_TEXT_MAX]);
/* Whether one has ended. */
static inline bool peer_group_has_lost(struct peer_group *group, uint32_t processes,
                                       char text[PEER_TEXT_MAX]) {
  const enum peer_state state = peer_group_state(group, processes, text);
  return state == PEER_ENDED || state == PEER_KILLED;
}

/* For poll(): of each of these processes its end, in PEERS_MAX rows; and whether there was one. */
void peer_group_watch(const struct peer_group *group, uint32_t processes, struct pollfd *rows);
bool peer_group_is_hit(const struct pollfd *rows);
