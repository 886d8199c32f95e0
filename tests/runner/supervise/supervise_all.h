/* supervise_all.h - a whole run of workers, from the first start to the last end, and a sink that
 * keeps what it is told. */
#pragma once

#include "runner/supervise/supervise.h"
#include "tests/cmocka.h"

enum { SEEN_MAX = 32 };

struct seen {
  struct seen_report {
    uint32_t process, visit;
    size_t case_index, trial_count, flow_trial_count;
    struct case_outcome outcome;
    struct trial first;
    uint64_t elapsed_sum_ns;
    bool killed;
    pid_t worker;
  } reports[SEEN_MAX];
  size_t report_count, done, total;
  unsigned started, ended; /* workers, and processes */
  pid_t worker;            /* the last */
  size_t fail_at;          /* the sink fails at this report; 0 = none */
};

static inline enum status seen_process_started(void *context, uint32_t process, pid_t pid,
                                               struct error *err) {
  struct seen *seen = context;
  seen->started++;
  seen->worker = pid;
  return STATUS_OK;
}

static inline enum status seen_case_finished(void *context, const struct case_report *report,
                                             struct error *err) {
  struct seen *seen = context;
  assert_true(seen->report_count < SEEN_MAX);
  struct seen_report *kept = &seen->reports[seen->report_count++];
  *kept = (struct seen_report){.process = report->process,
                               .visit = report->visit,
                               .case_index = report->case_index,
                               .outcome = *report->outcome,
                               .trial_count = report->trial_count,
                               .flow_trial_count = report->flow_trial_count,
                               .killed = report->killed,
                               .worker = seen->worker};
  for (size_t i = 0; i < report->trial_count; i++) {
    kept->first = report->trials[0];
    kept->elapsed_sum_ns += report->trials[i].elapsed_ns;
  }
  return seen->fail_at == seen->report_count ? error_set(err, STATUS_DATABASE, "disk full")
                                             : STATUS_OK;
}

static inline enum status seen_process_ended(void *context, uint32_t process, struct error *err) {
  ((struct seen *)context)->ended++;
  return STATUS_OK;
}

static inline void seen_progress(void *context, const struct progress *progress) {
  struct seen *seen = context;
  seen->done = progress->done;
  seen->total = progress->total;
}

/* Of a sink whose context is a struct seen, or begins with one. */
#define SEEN_SINK                                                                                  \
  .process_started = seen_process_started, .case_finished = seen_case_finished,                    \
  .process_ended = seen_process_ended, .progress = seen_progress

static inline enum status supervise_all(const struct plan *plan,
                                        const struct supervise_options *options,
                                        const struct supervise_sink *sink, struct error *err) {
  struct supervisor *supervisor = supervise_new(plan, options);
  const enum status status = supervise_run(supervisor, sink, err);
  supervise_free(supervisor);
  return status;
}
