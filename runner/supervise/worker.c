#include "runner/supervise/worker.h"

#include "engine/case/visits.h"
#include "runner/supervise/message.h"

#include <fcntl.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint64_t leave_limit_ns = 10000000000; /* to free its memory */

/* Trials are kept back until a message is full or this old: one message per trial would wake the
 * parent after each, and one per case would lose them all when the worker dies. */
static const uint64_t flush_after_ns = 100000000;

/* The child ------------------------------------------------------------------------------------ */

/* Messages that are not full yet. */
struct outbox {
  int fd;
  struct message trials;
  struct message flow_trials;
  uint64_t flushed_ns;
};

/* The parent is gone: there is nobody to measure for. */
static void worker_send(int fd, const struct message *message) {
  if (!message_send(fd, message)) {
    _exit(EXIT_FAILURE);
  }
}

static void worker_flush(struct outbox *outbox) {
  if (outbox->trials.count > 0) {
    worker_send(outbox->fd, &outbox->trials);
    outbox->trials.count = 0;
  }
  if (outbox->flow_trials.count > 0) {
    worker_send(outbox->fd, &outbox->flow_trials);
    outbox->flow_trials.count = 0;
  }
  outbox->flushed_ns = child_now_ns();
}

static void worker_take_trial(void *context, const struct trial *trial) {
  struct outbox *outbox = context;
  outbox->trials.trials[outbox->trials.count++] = *trial;
  if (outbox->trials.count == MESSAGE_TRIALS_MAX ||
      child_now_ns() - outbox->flushed_ns > flush_after_ns) {
    worker_flush(outbox);
  }
}

static void worker_take_flow_trial(void *context, const struct flow_trial *flow_trial) {
  struct outbox *outbox = context;
  outbox->flow_trials.flow_trials[outbox->flow_trials.count++] = *flow_trial;
  if (outbox->flow_trials.count == MESSAGE_FLOW_TRIALS_MAX) {
    worker_flush(outbox);
  }
}

/* *iterations: of a trial of the first visit of the case by this worker; 0 = there was none. False:
 * the engine can measure nothing more. */
static bool worker_measure(int fd, struct engine *engine, const struct supervise_ops *ops,
                           const struct plan *plan, uint64_t case_index, uint32_t *iterations) {
  struct outbox outbox = {.fd = fd, .flushed_ns = child_now_ns()};
  struct case_def def = plan->cases[case_index].def;
  if (*iterations > 0) {
    visits_shorten(&def.measure, *iterations);
  }
  message_init(&outbox.trials, MESSAGE_TRIALS, case_index);
  message_init(&outbox.flow_trials, MESSAGE_FLOW_TRIALS, case_index);
  struct trial_sink sink = {
      .context = &outbox, .trial = worker_take_trial, .flow_trial = worker_take_flow_trial};
  struct message finished;
  message_init(&finished, MESSAGE_FINISHED, case_index);
  struct error err = {0};
  enum status status = ops->engine_run_case(engine, &def, &sink, &finished.outcome, &err);
  if (*iterations == 0 && finished.outcome.status == CASE_OK) {
    *iterations = finished.outcome.iterations;
  }
  worker_flush(&outbox);
  finished.context_lost = status != STATUS_OK;
  if (status != STATUS_OK && status != STATUS_STICKY && finished.outcome.status == CASE_OK) {
    finished.outcome.status = CASE_FAILED;
    memcpy(finished.outcome.reason, err.message, sizeof finished.outcome.reason - 1);
  }
  worker_send(fd, &finished);
  return status == STATUS_OK;
}

static noreturn void worker_run(int fd, const struct plan *plan, const struct supervise_ops *ops,
                                struct peers *peers, bool ahead) {
  struct engine *engine = NULL;
  struct message message;
  struct error err = {0};
  if (ops->engine_new(plan->machine, peers, &engine, &err) != STATUS_OK) {
    message_init(&message, MESSAGE_START_FAILED, 0);
    message.error = err;
    message.error.position = (struct position){0};
    worker_send(fd, &message);
    _exit(EXIT_FAILURE);
  }
  for (size_t i = 0; ops->engine_expect != NULL && i < plan->case_count; i++) {
    if (plan->cases[i].skip_reason == NULL) {
      ops->engine_expect(engine, &plan->cases[i].def);
    }
  }
  uint32_t *iterations = memory_new(plan->case_count + 1, sizeof *iterations);
  message_init(&message, MESSAGE_READY, 0);
  worker_send(fd, &message);
  for (size_t i = 0; ahead && ops->engine_prepare != NULL && i < plan->case_count; i++) {
    if (plan->cases[i].skip_reason == NULL) {
      ops->engine_prepare(engine, &plan->cases[i].def);
      ahead = false;
    }
  }
  while (message_receive(fd, &message) == RECEIVE_MESSAGE && message.kind == MESSAGE_RUN_CASE &&
         message.case_index < plan->case_count) {
    if (!worker_measure(fd, engine, ops, plan, message.case_index,
                        &iterations[message.case_index])) {
      /* The context is lost: taking the engine apart could fail or hang. */
      _exit(EXIT_SUCCESS);
    }
  }
  free(iterations);
  ops->engine_free(engine);
  /* Not exit(): buffers and handlers in this copy of the parent's memory belong to the parent. */
  _exit(EXIT_SUCCESS);
}

struct worker_task {
  const struct plan *plan;
  const struct supervise_ops *ops;
  struct peers peers;
  bool ahead;
};

static void worker_main(int fd, const void *context) {
  const struct worker_task *task = context;
  struct peers peers = task->peers;
  for (uint32_t i = 0; i < peers.count; i++) {
    peers.sockets[i] = CHILD_FILES + (int)i;
  }
  worker_run(fd, task->plan, task->ops, peers.count > 0 ? &peers : NULL, task->ahead);
}

/* The parent ----------------------------------------------------------------------------------- */

enum status worker_start(struct worker *worker, const struct plan *plan,
                         const struct supervise_ops *ops, bool ahead, struct error *err) {
  struct peer_group *group = &worker->group;
  RETURN_ON_ERROR(
      peer_group_start(group, plan, ops->engine_case_processes, ops->engine_serve, err));
  const struct child_files kept = {group->peers.count, group->peers.sockets};
  const struct worker_task task = {plan, ops, group->peers, ahead};
  enum status status = child_start(SOCK_SEQPACKET, "a worker process", &kept, worker_main, &task,
                                   &worker->pid, &worker->fd, err);
  if (status != STATUS_OK) {
    peer_group_end(group, NULL);
    return status;
  }
  fcntl(worker->fd, F_SETFL, O_NONBLOCK);
  return STATUS_OK;
}

void worker_leave(const struct worker *worker) {
  if (worker->pid != 0) {
    shutdown(worker->fd, SHUT_WR);
  }
}

static void worker_forget(struct worker *worker) {
  close(worker->fd);
  worker->pid = 0;
}

void worker_dismiss(struct worker *worker, struct child_patience *patience) {
  if (worker->pid != 0) {
    worker_leave(worker);
    const struct child_end end = child_await(worker->pid, leave_limit_ns, patience);
    const bool alone = worker->group.peers.count == 0;
    peer_group_end(&worker->group, patience);
    if (!end.ended) { /* it may have waited for them */
      (void)child_dismiss(worker->pid, alone ? 0 : leave_limit_ns, patience);
    }
    worker_forget(worker);
  }
}

struct child_end worker_end(struct worker *worker, bool force) {
  const struct child_end end = child_dismiss(worker->pid, force ? 0 : leave_limit_ns, NULL);
  worker_forget(worker);
  peer_group_end(&worker->group, NULL);
  return end;
}
