#include "runner/supervise/peer_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint64_t leave_limit_ns = 10000000000; /* to free their memory */

enum { PEER_NAME_MAX = 16 }; /* what the kernel keeps of a name */

struct peer_work {
  peer_serving *serve;
  const struct machine *machine;
  uint32_t process;
};

static void peer_group_serve(int fd, const void *context) {
  const struct peer_work *work = context;
  char name[PEER_NAME_MAX];
  (void)snprintf(name, sizeof name, PEERS_NAME "%u", work->process);
  (void)prctl(PR_SET_NAME, name);
  work->serve(fd, work->machine, work->process);
  _exit(EXIT_SUCCESS);
}

static uint32_t peer_group_count(const struct peer_group *group, const struct plan *plan) {
  uint32_t processes = 0;
  for (size_t i = 0; i < plan->case_count; i++) {
    processes |=
        plan->cases[i].skip_reason == NULL ? peer_group_needed(group, &plan->cases[i].def) : 0;
  }
  uint32_t count = 0;
  while (processes >> (count + 1) != 0) {
    count++;
  }
  return count;
}

enum status peer_group_start(struct peer_group *group, const struct plan *plan, peer_needing *needs,
                             peer_serving *serve, struct error *err) {
  *group = (struct peer_group){.needs = needs};
  const uint32_t count = peer_group_count(group, plan);
  if (count == 0) {
    return STATUS_OK;
  }
  void *wait = mmap(NULL, sizeof *group->peers.wait, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  group->peers.wait = wait != MAP_FAILED ? wait : NULL;
  enum status status = STATUS_OK;
  while (status == STATUS_OK && group->peers.count < count) {
    const uint32_t at = group->peers.count;
    const struct peer_work work = {serve, plan->machine, at + 1};
    status = child_start(SOCK_SEQPACKET, "a process beside the worker", NULL, peer_group_serve,
                         &work, &group->pids[at], &group->peers.sockets[at], err);
    group->peers.count += status == STATUS_OK;
  }
  if (status != STATUS_OK) {
    peer_group_end(group, NULL);
  }
  return status;
}

void peer_group_end(struct peer_group *group, struct child_patience *patience) {
  for (uint32_t i = 0; i < group->peers.count; i++) {
    (void)close(group->peers.sockets[i]);
  }
  for (uint32_t i = 0; i < group->peers.count; i++) {
    if (!group->ends[i].ended) {
      (void)child_dismiss(group->pids[i], patience != NULL ? leave_limit_ns : 0, patience);
    }
  }
  if (group->peers.wait != NULL) {
    (void)munmap(group->peers.wait, sizeof *group->peers.wait);
  }
  *group = (struct peer_group){.peers = {.count = 0}};
}

void peer_group_watch(const struct peer_group *group, uint32_t processes, struct pollfd *rows) {
  for (uint32_t i = 0; i < PEERS_MAX; i++) {
    const bool needed = i < group->peers.count && (processes >> (i + 1) & 1) != 0;
    rows[i] = (struct pollfd){.fd = needed ? group->peers.sockets[i] : -1};
  }
}

bool peer_group_is_hit(const struct pollfd *rows) {
  return ANY_OF(i, PEERS_MAX, rows[i].revents != 0);
}

enum peer_state peer_group_state(struct peer_group *group, uint32_t processes,
                                 char text[PEER_TEXT_MAX]) {
  for (uint32_t i = 0; i < group->peers.count; i++) {
    struct pollfd looked_at = {.fd = group->peers.sockets[i]};
    if ((processes >> (i + 1) & 1) == 0 || poll(&looked_at, 1, 0) != 1) {
      continue;
    }
    if (!group->ends[i].ended) { /* its socket is closed before it can be waited for */
      group->ends[i] = child_dismiss(group->pids[i], leave_limit_ns, NULL);
    }
    char how[CHILD_TEXT_MAX];
    child_describe(&group->ends[i], how);
    (void)snprintf(text, PEER_TEXT_MAX, "process %u %s", i + 1, how);
    return child_was_killed(&group->ends[i]) ? PEER_KILLED : PEER_ENDED;
  }
  const uint32_t awaited = group->peers.wait != NULL ? atomic_load(&group->peers.wait->process) : 0;
  const unsigned request = awaited > 0 ? atomic_load(&group->peers.wait->request) : 0;
  if (awaited == 0 || request >= peer_request_name_count) {
    return PEERS_IDLE;
  }
  (void)snprintf(text, PEER_TEXT_MAX, "process %u was asked to %s", awaited,
                 peer_request_text((enum peer_request)request));
  return PEER_AWAITED;
}
