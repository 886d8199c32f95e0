#include "runner/supervise/supervise.h"

#include "engine/base/units.h"
#include "engine/machine/machine.h"
#include "runner/supervise/child.h"
#include "runner/supervise/message.h"
#include "runner/supervise/sampler.h"
#include "runner/supervise/set_aside.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t tick_ns = 200000000; /* between progress reports */
enum { STARTS_MAX = 3, START_LIMIT_FLOORS = 4 /* a driver may take long to wake its GPUs */ };
/* What a start or a case has at least, however little is left of the budget. */
static const uint64_t budget_grace_ns = 2000000000;

/* When a case was last measured. */
struct visit_time {
  uint64_t ended_ns, took_ns;
};

struct supervisor {
  const struct plan *plan;
  const struct supervise_options *options;
  const struct supervise_sink *sink;
  struct worker worker;
  bool announced;       /* the sink knows of the worker */
  bool process_started; /* and of the present process */
  unsigned lost;        /* workers in a row that ended outside a case */
  struct collect collect;
  struct sampler sampler;
  struct set_aside aside;
  uint64_t next_tick_ns;
  uint64_t started_ns;
  uint64_t case_started_ns; /* 0 = none is being measured */
  uint64_t case_longest_ns; /* that the plan expects of it */
  uint32_t case_processes;  /* beside the worker whose memory it has: bit i is process i */
  uint64_t stop_by_ns;      /* after an interrupt: the case is stopped then; 0 = none */
  struct eta eta;
  uint32_t pauses_left;     /* that did not begin yet */
  uint64_t pause_end_ns;    /* of the present one; 0 = there is none */
  bool measured;            /* a process has ended */
  struct visit_time *times; /* of each case in the present process */
  uint64_t settle_end_ns;   /* of the time for further visits */
  struct progress progress;
};

/* How a wait for the worker ended. */
enum event {
  EVENT_MESSAGE,
  EVENT_END,     /* the worker is gone */
  EVENT_BAD,     /* it sent something that is not a message */
  EVENT_TIMEOUT, /* the deadline passed */
  EVENT_STOPPED, /* the user asked to end */
  EVENT_PEER,    /* a process beside the worker is gone, whose memory the case has */
};

static void supervise_report_progress(struct supervisor *supervisor, uint64_t now_ns) {
  supervisor->next_tick_ns = now_ns + tick_ns;
  if (supervisor->sink->progress == NULL) {
    return;
  }
  struct progress *progress = &supervisor->progress;
  uint64_t running_ns = supervisor->case_started_ns ? now_ns - supervisor->case_started_ns : 0;
  progress->elapsed_ns = now_ns - supervisor->started_ns;
  progress->trials = supervisor->collect.trials.items;
  progress->trial_count = progress->def != NULL ? supervisor->collect.trials.count : 0;
  progress->pause_left_ns =
      supervisor->pause_end_ns > now_ns ? supervisor->pause_end_ns - now_ns : 0;
  progress->case_left_ns =
      supervisor->case_longest_ns > running_ns ? supervisor->case_longest_ns - running_ns : 0;
  const uint64_t settle_left_ns = progress->visit > 0 && supervisor->settle_end_ns > now_ns
                                      ? supervisor->settle_end_ns - now_ns
                                      : 0;
  progress->left_ns = eta_left_ns(&supervisor->eta, running_ns) + settle_left_ns +
                      progress->pause_left_ns +
                      supervisor->pauses_left * supervisor->options->pause_ns;
  supervisor->sink->progress(supervisor->sink->context, progress);
}

static void supervise_warn(const struct supervisor *supervisor, const char *text) {
  if (supervisor->sink->warning != NULL) {
    supervisor->sink->warning(supervisor->sink->context, text);
  }
}

/* Take the samples of the GPUs that arrived; collect NULL: drop them, no case runs. */
static void supervise_take_samples(struct supervisor *supervisor, struct collect *collect) {
  char text[SAMPLER_TEXT_MAX];
  if (sampler_read(&supervisor->sampler, collect, supervisor->options->watchdog_floor_ns, text)) {
    supervise_warn(supervisor, text);
  }
}

/* NVML was asked; silent: it gave no answer in time. */
static void supervise_warn_of_silence(const struct supervisor *supervisor, bool silent) {
  if (silent) {
    supervise_warn(supervisor, "NVML gives no answer: error counters are not read in this run; "
                               "check whether nvidia-smi answers");
  }
}

/* Telemetry, and progress when it is due; collect NULL: no case runs. */
static void supervise_tick(struct supervisor *supervisor, struct collect *collect,
                           uint64_t now_ns) {
  supervise_take_samples(supervisor, collect);
  if (now_ns >= supervisor->next_tick_ns) {
    supervise_report_progress(supervisor, now_ns);
  }
}

static int supervise_poll_timeout_ms(const struct supervisor *supervisor, uint64_t now_ns,
                                     uint64_t deadline_ns) {
  uint64_t until = deadline_ns < supervisor->next_tick_ns ? deadline_ns : supervisor->next_tick_ns;
  return until <= now_ns ? 0 : (int)((until - now_ns + 999999) / 1000000);
}

/* SUPERVISE_STOP_NS after a first interrupt. */
static bool supervise_is_overdue(struct supervisor *supervisor, uint64_t now_ns) {
  if (*supervisor->options->interrupted == 0 || supervisor->case_started_ns == 0) {
    return false;
  }
  if (supervisor->stop_by_ns == 0) {
    supervisor->stop_by_ns = now_ns + supervisor->options->watchdog_floor_ns / SUPERVISE_STOP_PARTS;
  }
  return now_ns >= supervisor->stop_by_ns;
}

/* Wait for the worker until the deadline; stop_level is the value of *interrupted that ends it. */
static enum event supervise_next_event(struct supervisor *supervisor, uint64_t deadline_ns,
                                       int stop_level, struct message *message) {
  for (;;) {
    uint64_t now_ns = child_now_ns();
    if (*supervisor->options->interrupted >= stop_level ||
        supervise_is_overdue(supervisor, now_ns)) {
      return EVENT_STOPPED;
    }
    if (now_ns >= deadline_ns) {
      return EVENT_TIMEOUT;
    }
    supervise_tick(supervisor, &supervisor->collect, now_ns);
    switch (message_receive(supervisor->worker.fd, message)) {
    case RECEIVE_MESSAGE:
      return EVENT_MESSAGE;
    case RECEIVE_END:
      return EVENT_END;
    case RECEIVE_BAD:
      return EVENT_BAD;
    case RECEIVE_NOTHING:
      break;
    }
    struct pollfd waited[2 + PEERS_MAX] = {{.fd = supervisor->worker.fd, .events = POLLIN},
                                           {.fd = supervisor->sampler.fd, .events = POLLIN}};
    peer_group_watch(&supervisor->worker.group, supervisor->case_processes, &waited[2]);
    (void)poll(waited, 2 + PEERS_MAX, supervise_poll_timeout_ms(supervisor, now_ns, deadline_ns));
    if (peer_group_is_hit(&waited[2])) {
      return EVENT_PEER;
    }
  }
}

/* Of the budget; UINT64_MAX = there is none. */
static uint64_t supervise_left_ns(const struct supervisor *supervisor) {
  const uint64_t budget_ns = supervisor->options->budget_ns;
  const uint64_t spent_ns = child_now_ns() - supervisor->started_ns;
  return budget_ns == 0 ? UINT64_MAX : spent_ns < budget_ns ? budget_ns - spent_ns : 0;
}

/* A limit for silence that does not outlast the budget by more than the grace. */
static uint64_t supervise_within_budget(const struct supervisor *supervisor, uint64_t limit_ns) {
  const uint64_t left_ns = supervise_left_ns(supervisor);
  const uint64_t most_ns = left_ns > budget_grace_ns ? left_ns : budget_grace_ns;
  return limit_ns < most_ns ? limit_ns : most_ns;
}

/* Workers ------------------------------------------------------------------------------------- */

/* A worker ended outside a case: start-up, or between two cases. */
__attribute__((format(printf, 3, 4))) static enum status
supervise_lose_worker(struct supervisor *supervisor, struct error *err, const char *format, ...) {
  char reason[ERROR_MESSAGE_MAX];
  char text[ERROR_MESSAGE_MAX + 96];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  if (++supervisor->lost >= STARTS_MAX) {
    return error_set(err, STATUS_CRASHED, "the worker process cannot start, tried %u times: %s",
                     supervisor->lost, reason);
  }
  (void)snprintf(text, sizeof text,
                 "a worker process was lost while it measured no case, another one is started: %s",
                 reason);
  supervise_warn(supervisor, text);
  return STATUS_OK;
}

static enum status supervise_fork_worker(struct supervisor *supervisor, bool ahead,
                                         struct error *err) {
  supervisor->announced = false;
  return worker_start(&supervisor->worker, supervisor->plan, supervisor->options->ops, ahead, err);
}

/* STATUS_OK without a worker: this try failed, and another may succeed. */
static enum status supervise_ready_worker(struct supervisor *supervisor, struct error *err) {
  if (supervisor->worker.pid == 0) {
    RETURN_ON_ERROR(supervise_fork_worker(supervisor, false, err));
  }
  struct message message;
  uint64_t limit_ns = supervise_within_budget(
      supervisor, START_LIMIT_FLOORS * supervisor->options->watchdog_floor_ns);
  enum event event = supervise_next_event(supervisor, child_now_ns() + limit_ns, 1, &message);
  if (event == EVENT_MESSAGE && message.kind == MESSAGE_READY) {
    return STATUS_OK;
  }
  if (event == EVENT_MESSAGE && message.kind == MESSAGE_START_FAILED) {
    (void)worker_end(&supervisor->worker, false);
    return supervise_lose_worker(supervisor, err, "%s", message.error.message);
  }
  struct child_end end = worker_end(&supervisor->worker, event != EVENT_END);
  char how[CHILD_TEXT_MAX];
  if (event == EVENT_STOPPED) {
    return error_set(err, STATUS_INTERRUPTED, "interrupted");
  }
  if (event == EVENT_TIMEOUT) {
    units_format_duration_short(limit_ns, how);
    return supervise_lose_worker(supervisor, err, "it was not ready after %s", how);
  }
  if (event == EVENT_END) {
    child_describe(&end, how);
    return supervise_lose_worker(supervisor, err, "it %s", how);
  }
  return supervise_lose_worker(supervisor, err, "it sent something unreadable");
}

/* Cases --------------------------------------------------------------------------------------- */

static uint64_t supervise_watchdog_ns(const struct supervisor *supervisor,
                                      const struct plan_case *item) {
  uint64_t floor_ns = supervisor->options->watchdog_floor_ns;
  uint64_t limit_ns = SUPERVISE_WATCHDOG_FACTOR * item->longest_ns;
  return supervise_within_budget(supervisor, limit_ns > floor_ns ? limit_ns : floor_ns);
}

static enum status supervise_end_budget(const struct supervisor *supervisor, struct error *err) {
  const char *budget = units_format_duration_short(supervisor->options->budget_ns, UNITS_TEXT);
  return error_set(err, STATUS_INTERRUPTED, "the time for measuring, %s (measure.budget), is up",
                   budget);
}

/* The worker did not finish the case: kill it and write the outcome. True: a user or the kernel
 * killed it, which does not speak against a GPU. */
static bool supervise_fail_case(struct supervisor *supervisor, enum event event, uint64_t limit_ns,
                                struct case_outcome *outcome) {
  char peer[PEER_TEXT_MAX] = "";
  const enum peer_state state =
      peer_group_state(&supervisor->worker.group, supervisor->case_processes, peer);
  struct child_end end = worker_end(&supervisor->worker, event != EVENT_END);
  char how[CHILD_TEXT_MAX];
  child_describe(&end, how);
  memset(outcome, 0, sizeof *outcome);
  outcome->total_ns = child_now_ns() - supervisor->case_started_ns;
  outcome->status = CASE_CRASHED;
  if (state == PEER_ENDED || state == PEER_KILLED) {
    snprintf(outcome->reason, sizeof outcome->reason, "%s; its memory is part of this case", peer);
    return state == PEER_KILLED;
  }
  if (event == EVENT_TIMEOUT) {
    const char *limit = units_format_duration_short(limit_ns, UNITS_TEXT);
    outcome->status = CASE_HUNG;
    snprintf(outcome->reason, sizeof outcome->reason, "no answer for %s%s%s; the worker process %s",
             limit, peer[0] != '\0' ? ": " : "", peer, end.ended ? "was killed" : how);
  } else {
    snprintf(outcome->reason, sizeof outcome->reason, "the worker process %s",
             event == EVENT_END ? how : "sent something unreadable and was killed");
  }
  return event == EVENT_END && child_was_killed(&end);
}

/* The case cost its worker. */
static void supervise_blame(struct supervisor *supervisor, size_t case_index, const char *reason) {
  const uint32_t gpus = supervisor->plan->cases[case_index].gpus;
  char warning[SET_ASIDE_WARNING_MAX];
  if (set_aside_note_failure(&supervisor->aside, gpus, reason, warning)) {
    supervise_warn(supervisor, warning);
  }
}

static enum status supervise_hand_samples(struct supervisor *supervisor, struct error *err) {
  const struct supervise_sink *sink = supervisor->sink;
  struct collect *collect = &supervisor->collect;
  return collect->samples.count == 0
             ? STATUS_OK
             : sink->telemetry(sink->context, collect->samples.items, collect->samples.count, err);
}

/* The case ended: hand over what was collected of it. */
static enum status supervise_hand_over(struct supervisor *supervisor, size_t case_index,
                                       struct case_report *report, struct error *err) {
  struct collect *collect = &supervisor->collect;
  const struct supervise_sink *sink = supervisor->sink;
  RETURN_ON_ERROR(supervise_hand_samples(supervisor, err));
  report->process = supervisor->progress.process;
  report->visit = supervisor->progress.visit;
  report->case_index = case_index;
  report->trials = collect->trials.items;
  report->trial_count = collect->trials.count;
  report->flow_trials = collect->flow_trials.items;
  report->flow_trial_count = collect->flow_trials.count;
  return sink->case_finished(sink->context, report, err);
}

/* Listen until the case ends, whichever way; true when outcome is set, and with it what the report
 * says of the worker. Every message is a sign of
 * life: a machine that is slow because others use it yields poor numbers, but it does not hang. */
static bool supervise_await_case(struct supervisor *supervisor, size_t case_index,
                                 struct case_outcome *outcome, struct case_report *report) {
  const struct plan_case *item = &supervisor->plan->cases[case_index];
  const uint64_t limit_ns = supervise_watchdog_ns(supervisor, item);
  const bool too_short = limit_ns < SUPERVISE_WATCHDOG_FACTOR * item->longest_ns;
  uint64_t heard_ns = supervisor->case_started_ns;
  for (;;) {
    struct message message;
    char peer[PEER_TEXT_MAX];
    enum event event = supervise_next_event(supervisor, heard_ns + limit_ns, 2, &message);
    /* Where the budget ends before silence can mean a hang, the case is left for --resume. */
    if (event == EVENT_STOPPED || (event == EVENT_TIMEOUT && too_short)) {
      (void)worker_end(&supervisor->worker, true);
      return false;
    }
    if (event == EVENT_MESSAGE && message.case_index == case_index) {
      heard_ns = child_now_ns();
      if (message.kind == MESSAGE_FINISHED &&
          !peer_group_has_lost(&supervisor->worker.group, supervisor->case_processes, peer)) {
        *outcome = message.outcome;
        report->context_lost = message.context_lost != 0;
        if (message.context_lost) {
          (void)worker_end(&supervisor->worker, false);
        }
        if (message.context_lost && outcome->status != CASE_OK) {
          supervise_blame(supervisor, case_index, outcome->reason);
        } else {
          set_aside_note_success(&supervisor->aside, supervisor->plan->cases[case_index].gpus);
        }
        return true;
      }
      if ((message.kind == MESSAGE_TRIALS || message.kind == MESSAGE_FLOW_TRIALS) &&
          collect_message(&supervisor->collect, &message)) {
        continue;
      }
    }
    report->killed = supervise_fail_case(supervisor, event, limit_ns, outcome);
    if (!report->killed) {
      supervise_blame(supervisor, case_index, outcome->reason);
    }
    return true;
  }
}

/* STATUS_OK with *started false: the worker had ended already, and the case is still to be
 * measured. */
static enum status supervise_run_case(struct supervisor *supervisor, size_t case_index,
                                      bool *started, struct error *err) {
  const struct plan_case *item = &supervisor->plan->cases[case_index];
  if (supervisor->sink->case_starts != NULL) {
    RETURN_ON_ERROR(supervisor->sink->case_starts(supervisor->sink->context, case_index, err));
  }
  struct error_counts before[MACHINE_GPUS_MAX];
  supervise_warn_of_silence(supervisor,
                            sampler_ask_before(&supervisor->sampler, item->gpus, before));
  supervisor->case_processes = peer_group_needed(&supervisor->worker.group, &item->def);
  char peer[PEER_TEXT_MAX];
  if (peer_group_has_lost(&supervisor->worker.group, supervisor->case_processes, peer)) {
    (void)worker_end(&supervisor->worker, true);
    return supervise_lose_worker(supervisor, err, "%s", peer);
  }
  struct message request;
  message_init(&request, MESSAGE_RUN_CASE, case_index);
  struct message unexpected;
  *started = message_receive(supervisor->worker.fd, &unexpected) == RECEIVE_NOTHING &&
             message_send(supervisor->worker.fd, &request);
  if (!*started) {
    struct child_end end = worker_end(&supervisor->worker, true);
    char how[CHILD_TEXT_MAX];
    child_describe(&end, how);
    return supervise_lose_worker(supervisor, err, "it %s", how);
  }
  supervise_take_samples(supervisor, NULL);
  collect_clear(&supervisor->collect);
  supervisor->case_started_ns = child_now_ns();
  supervisor->case_longest_ns = item->longest_ns;
  supervisor->progress.def = &item->def;
  supervise_report_progress(supervisor, supervisor->case_started_ns);

  struct case_outcome outcome;
  struct case_report report = {.outcome = &outcome};
  bool ended = supervise_await_case(supervisor, case_index, &outcome, &report);
  supervise_take_samples(supervisor, &supervisor->collect);
  uint64_t now_ns = child_now_ns();
  supervisor->times[case_index] = (struct visit_time){now_ns, now_ns - supervisor->case_started_ns};
  if (supervisor->progress.visit == 0) {
    eta_finish(&supervisor->eta, item->estimate_ns, now_ns - supervisor->case_started_ns);
  }
  supervisor->case_started_ns = 0;
  supervisor->case_processes = 0;
  if (!ended && *supervisor->options->interrupted == 0) {
    /* A visit that did not end leaves the case as it was. */
    return supervisor->progress.visit == 0 ? supervise_end_budget(supervisor, err) : STATUS_OK;
  }
  if (!ended) {
    return error_set(err, STATUS_INTERRUPTED, "interrupted in case %s", item->def.name);
  }
  struct error_counts after[MACHINE_GPUS_MAX];
  supervise_warn_of_silence(
      supervisor, sampler_ask(&supervisor->sampler, item->gpus, &supervisor->collect, after));
  for (int32_t gpu = 0; gpu < MACHINE_GPUS_MAX; gpu++) {
    error_counts_note(gpu, &before[gpu], &after[gpu], &outcome.notes);
  }
  supervisor->lost = 0;
  supervisor->progress.done += supervisor->progress.visit == 0;
  supervisor->progress.def = NULL;
  enum status status = supervise_hand_over(supervisor, case_index, &report, err);
  supervise_report_progress(supervisor, child_now_ns());
  return status;
}

static bool supervise_is_wanted(const struct supervisor *supervisor, uint32_t process,
                                size_t case_index) {
  const struct supervise_sink *sink = supervisor->sink;
  return supervisor->plan->cases[case_index].skip_reason == NULL &&
         (sink->already_done == NULL || !sink->already_done(sink->context, process, case_index));
}

/* True: the case's GPUs were set aside, and that is its outcome. */
static bool supervise_leave_out(struct supervisor *supervisor, size_t case_index,
                                enum status *status, struct error *err) {
  const struct plan_case *item = &supervisor->plan->cases[case_index];
  struct case_outcome outcome = {.status = CASE_FAILED};
  if (!set_aside_has(&supervisor->aside, item->gpus, outcome.reason)) {
    return false;
  }
  struct case_report report = {.outcome = &outcome};
  collect_clear(&supervisor->collect);
  eta_finish(&supervisor->eta, item->estimate_ns, 0);
  supervisor->progress.done++;
  *status = supervise_hand_over(supervisor, case_index, &report, err);
  supervise_report_progress(supervisor, child_now_ns());
  return true;
}

/* Measure one case; start workers until one begins with it. */
static enum status supervise_run_wanted_case(struct supervisor *supervisor, size_t case_index,
                                             struct error *err) {
  const struct supervise_sink *sink = supervisor->sink;
  for (;;) {
    if (*supervisor->options->interrupted != 0) {
      return error_set(err, STATUS_INTERRUPTED, "interrupted");
    }
    if (supervise_left_ns(supervisor) == 0) {
      return supervise_end_budget(supervisor, err);
    }
    if (supervisor->worker.pid == 0 || !supervisor->announced) {
      RETURN_ON_ERROR(supervise_ready_worker(supervisor, err));
      if (supervisor->worker.pid == 0) {
        continue;
      }
      supervisor->announced = true;
      supervisor->process_started = true;
      RETURN_ON_ERROR(sink->process_started(sink->context, supervisor->progress.process,
                                            supervisor->worker.pid, err));
    }
    enum status status = STATUS_OK;
    if (supervise_leave_out(supervisor, case_index, &status, err)) {
      return status;
    }
    bool started = false;
    status = supervise_run_case(supervisor, case_index, &started, err);
    if (status != STATUS_OK || started) {
      return status;
    }
  }
}

/* Samples of the GPUs are dropped meanwhile. */
static void supervise_wait_until(struct supervisor *supervisor, uint64_t due_ns) {
  for (uint64_t now_ns = child_now_ns(); now_ns < due_ns && *supervisor->options->interrupted == 0;
       now_ns = child_now_ns()) {
    supervise_tick(supervisor, NULL, now_ns);
    struct pollfd waited = {.fd = supervisor->sampler.fd, .events = POLLIN};
    (void)poll(&waited, 1, supervise_poll_timeout_ms(supervisor, now_ns, due_ns));
  }
}

/* Between two processes, when no worker is there. */
static enum status supervise_pause(struct supervisor *supervisor, struct error *err) {
  supervisor->next_tick_ns = child_now_ns();
  supervisor->pauses_left--;
  supervisor->pause_end_ns = supervisor->next_tick_ns + supervisor->options->pause_ns;
  supervise_wait_until(supervisor, supervisor->pause_end_ns);
  supervisor->pause_end_ns = 0;
  return *supervisor->options->interrupted == 0
             ? STATUS_OK
             : error_set(err, STATUS_INTERRUPTED, "interrupted in the pause before process %u",
                         supervisor->progress.process + 1);
}

/* Further visits ------------------------------------------------------------------------------- */

static uint64_t supervise_settle_ns(const struct supervisor *supervisor, uint64_t first_round_ns) {
  const struct supervise_options *options = supervisor->options;
  const uint64_t processes = options->processes;
  const bool twice = options->doubted && options->settle_ns != PLAN_SETTLE_AUTO;
  return plan_settle_of(options->settle_ns, first_round_ns * processes) / processes *
         (twice ? 2 : 1);
}

static bool supervise_is_open(const struct supervisor *supervisor, size_t case_index) {
  char unused[CASE_REASON_MAX];
  return supervisor->plan->cases[case_index].skip_reason == NULL &&
         supervisor->sink->is_open(supervisor->sink->context, supervisor->progress.process,
                                   case_index) &&
         !set_aside_has(&supervisor->aside, supervisor->plan->cases[case_index].gpus, unused);
}

/* One more visit to each open case for which there is time; *visited: there was one. */
static enum status supervise_visit_all(struct supervisor *supervisor, bool *visited,
                                       struct error *err) {
  for (size_t i = 0; i < supervisor->plan->case_count; i++) {
    const struct visit_time *last = &supervisor->times[i];
    const uint64_t now_ns = child_now_ns();
    const uint64_t gap_ns = VISITS_GAP_NS * (supervisor->options->doubted ? 2 : 1);
    const uint64_t gap_end_ns = last->ended_ns + gap_ns;
    const uint64_t due_ns = gap_end_ns > now_ns ? gap_end_ns : now_ns;
    if (due_ns + last->took_ns > supervisor->settle_end_ns || !supervise_is_open(supervisor, i)) {
      continue;
    }
    supervise_wait_until(supervisor, due_ns); /* the worker stays */
    if (supervise_left_ns(supervisor) == 0) {
      return STATUS_OK;
    }
    *visited = true;
    RETURN_ON_ERROR(supervise_run_wanted_case(supervisor, i, err));
  }
  return STATUS_OK;
}

static enum status supervise_settle(struct supervisor *supervisor, uint64_t first_round_ns,
                                    struct error *err) {
  const uint64_t now_ns = child_now_ns();
  const uint64_t left_ns = supervise_left_ns(supervisor);
  const uint64_t settle_ns = supervise_settle_ns(supervisor, first_round_ns);
  enum status status = STATUS_OK;
  bool visited = supervisor->sink->is_open != NULL && left_ns > 0;
  supervisor->settle_end_ns = now_ns + (settle_ns < left_ns ? settle_ns : left_ns);
  while (visited && status == STATUS_OK && supervise_left_ns(supervisor) > 0) {
    visited = false;
    supervisor->progress.visit++;
    status = supervise_visit_all(supervisor, &visited, err);
  }
  supervisor->progress.visit = 0;
  return status;
}

static struct child_patience supervise_patience(const struct supervisor *supervisor) {
  const struct supervise_options *options = supervisor->options;
  return (struct child_patience){.interrupted = options->interrupted,
                                 .interrupts = *options->interrupted == 0 ? 0 : 1,
                                 .say_at_ns = child_now_ns() + options->worker_stays_ns,
                                 .say = options->worker_stays,
                                 .context = options->context};
}

static enum status supervise_run_process(struct supervisor *supervisor, uint32_t process,
                                         struct error *err) {
  const struct supervise_sink *sink = supervisor->sink;
  supervisor->progress.process = process;
  supervisor->process_started = false;
  uint64_t started_ns = child_now_ns();
  memset(supervisor->times, 0, supervisor->plan->case_count * sizeof *supervisor->times);
  for (size_t i = 0; i < supervisor->plan->case_count; i++) {
    if (!supervise_is_wanted(supervisor, process, i)) {
      continue;
    }
    if (!supervisor->process_started && supervisor->measured && supervisor->options->pause_ns > 0) {
      RETURN_ON_ERROR(supervise_pause(supervisor, err));
      started_ns = child_now_ns();
    }
    RETURN_ON_ERROR(supervise_run_wanted_case(supervisor, i, err));
  }
  RETURN_ON_ERROR(supervise_settle(supervisor, child_now_ns() - started_ns, err));
  if (process + 1 < supervisor->options->processes) {
    struct child_patience patience = supervise_patience(supervisor);
    worker_dismiss(&supervisor->worker, &patience);
  } else {
    worker_leave(&supervisor->worker); /* supervise_free() waits for it */
  }
  supervisor->measured |= supervisor->process_started;
  return supervisor->process_started ? sink->process_ended(sink->context, process, err) : STATUS_OK;
}

/* What is to be measured, for the progress. */
static void supervise_count(struct supervisor *supervisor) {
  uint32_t processes = 0;
  for (uint32_t process = 0; process < supervisor->options->processes; process++) {
    const size_t before = supervisor->progress.total;
    for (size_t i = 0; i < supervisor->plan->case_count; i++) {
      if (supervise_is_wanted(supervisor, process, i)) {
        supervisor->progress.total++;
        eta_add(&supervisor->eta, supervisor->plan->cases[i].estimate_ns);
      }
    }
    processes += supervisor->progress.total > before;
  }
  supervisor->pauses_left = processes > 0 ? processes - 1 : 0;
}

struct supervisor *supervise_new(const struct plan *plan, const struct supervise_options *options) {
  struct supervisor *supervisor = memory_new(1, sizeof *supervisor);
  supervisor->plan = plan;
  supervisor->options = options;
  supervisor->times = memory_new(plan->case_count + 1, sizeof *supervisor->times);
  supervisor->progress.process_count = options->processes;
  sampler_start(&supervisor->sampler, options->ops, plan->machine, options->telemetry_ns);
  return supervisor;
}

void supervise_start_worker(struct supervisor *supervisor) {
  if (supervisor->plan->case_count > supervisor->plan->skip_count) {
    (void)!supervise_fork_worker(supervisor, true, NULL); /* supervise_run() tries again */
  }
}

enum status supervise_run(struct supervisor *supervisor, const struct supervise_sink *sink,
                          struct error *err) {
  const struct supervise_options *options = supervisor->options;
  supervisor->sink = sink;
  supervisor->started_ns = child_now_ns();
  supervise_count(supervisor);
  supervise_report_progress(supervisor, supervisor->started_ns); /* the total, whatever comes */
  enum status status = STATUS_OK;
  for (uint32_t process = 0; process < options->processes && status == STATUS_OK; process++) {
    status = supervise_run_process(supervisor, process, err);
  }
  if (status == STATUS_OK && *options->interrupted == 0 && sink->telemetry != NULL) {
    collect_clear(&supervisor->collect);
    sampler_finish(&supervisor->sampler, &supervisor->collect);
    status = supervise_hand_samples(supervisor, err);
  }
  return status;
}

void supervise_free(struct supervisor *supervisor) {
  if (supervisor == NULL) {
    return;
  }
  /* Nothing is being measured: the worker can leave in order, but for a user who asked twice. */
  struct child_patience patience = supervise_patience(supervisor);
  worker_dismiss(&supervisor->worker, &patience);
  sampler_stop(&supervisor->sampler, child_patience_is_over(&patience));
  collect_fini(&supervisor->collect);
  free(supervisor->times);
  free(supervisor);
}
