#include "runner/cli/measuring.h"

#include "runner/cli/preflight.h"
#include "runner/cli/result.h"
#include "runner/cli/status_line.h"

#include <stdlib.h>
#include <string.h>

struct measuring {
  const struct run_request *request;
  const struct plan *plan;
  struct record *record;
  uint32_t processes;
  bool resumed; /* some of it was measured before */
  struct status_line line;
  bool interrupt_said; /* that the first interrupt waits for the end of the case */
  bool lock_said;      /* that another program keeps the database locked */
  size_t done, total;  /* of the progress */
  size_t counts[case_status_name_count];
  struct telemetry_extent extents[MACHINE_GPUS_MAX];
};

/* The receiver of what the workers measure ----------------------------------------------------- */

static bool is_already_done(void *context, uint32_t process, size_t case_index) {
  const struct measuring *measuring = context;
  return record_has_case(measuring->record, process, measuring->plan->cases[case_index].bench.key);
}

static enum status take_process_started(void *context, uint32_t process, pid_t pid,
                                        struct error *err) {
  const struct measuring *measuring = context;
  return record_process_started(measuring->record, process, pid, err);
}

/* What was measured is not to be lost to somebody who looks at the database or copies it. */
static bool wait_for_database(void *context, uint64_t waited_ms) {
  enum { SAY_MS = 3000, PATIENT_MS = 600000, INTERRUPTED_MS = 30000, AT_ONCE_MS = 1000 };
  struct measuring *measuring = context;
  const int interrupts = *measuring->request->interrupted;
  if (waited_ms >= SAY_MS && !measuring->lock_said) {
    measuring->lock_said = true;
    status_line_clear(&measuring->line);
    say_warning(measuring->request->common,
                "%s: another program keeps it locked; the run waits up to %d minutes to write what "
                "was measured: end that program, or press Ctrl-C to wait 30 s at most",
                measuring->request->database, PATIENT_MS / 60000);
  }
  return waited_ms < (interrupts == 0 ? PATIENT_MS : interrupts == 1 ? INTERRUPTED_MS : AT_ONCE_MS);
}

static enum status take_case(void *context, const struct case_report *report, struct error *err) {
  struct measuring *measuring = context;
  enum status status = record_case(measuring->record, measuring->plan, report, err);
  if (status != STATUS_OK) {
    return status;
  }
  measuring->counts[report->outcome->status]++;
  measuring->done++;
  status_line_case(&measuring->line, &measuring->plan->cases[report->case_index].bench, report,
                   measuring->done, measuring->total);
  return STATUS_OK;
}

static enum status take_process_ended(void *context, uint32_t process, struct error *err) {
  const struct measuring *measuring = context;
  return record_process_ended(measuring->record, process, err);
}

static enum status take_telemetry(void *context, const struct telemetry_sample *samples,
                                  size_t count, struct error *err) {
  struct measuring *measuring = context;
  for (size_t i = 0; i < count; i++) {
    if (samples[i].gpu >= 0 && samples[i].gpu < MACHINE_GPUS_MAX) {
      telemetry_extent_add(&measuring->extents[samples[i].gpu], &samples[i]);
    }
  }
  return record_telemetry(measuring->record, samples, count, err);
}

static void take_progress(void *context, const struct progress *progress) {
  struct measuring *measuring = context;
  measuring->total = progress->total;
  if (*measuring->request->interrupted == 1 && !measuring->interrupt_said &&
      progress->case_name != NULL) {
    measuring->interrupt_said = true;
    status_line_clear(&measuring->line);
    say_note(measuring->request->common,
             "interrupted: the run ends after this case, or at once with another Ctrl-C");
  }
  status_line_show(&measuring->line, progress);
}

static void take_warning(void *context, const char *text) {
  struct measuring *measuring = context;
  status_line_clear(&measuring->line);
  say_warning(measuring->request->common, "%s", text);
}

/* One run -------------------------------------------------------------------------------------- */

static enum status measure(struct measuring *measuring, struct error *err) {
  const struct scenario *scenario = measuring->plan->scenario;
  struct supervise_sink sink = {
      .context = measuring,
      .already_done = measuring->resumed ? is_already_done : NULL,
      .process_started = take_process_started,
      .case_finished = take_case,
      .process_ended = take_process_ended,
      .telemetry = take_telemetry,
      .progress = take_progress,
      .warning = take_warning,
  };
  struct supervise_options options = {
      .ops = &supervise_real_ops,
      .processes = measuring->processes,
      .telemetry_ns = scenario->run.telemetry_ns,
      .watchdog_floor_ns = SUPERVISE_WATCHDOG_FLOOR_NS,
      .interrupted = measuring->request->interrupted,
  };
  enum status status = supervise_run(measuring->plan, &options, &sink, err);
  status_line_clear(&measuring->line);
  return status;
}

static enum status record_late_checks(struct measuring *measuring, struct error *err) {
  struct preflight late;
  preflight_after(&late, measuring->request->common, measuring->plan->scenario,
                  measuring->plan->machine, measuring->extents);
  enum status status =
      late.count > 0 ? record_checks(measuring->record, late.results, late.count, err) : STATUS_OK;
  preflight_fini(&late);
  return status;
}

static int exit_code_of_cases(const struct measuring *measuring) {
  const size_t *counts = measuring->counts;
  bool wrong =
      counts[CASE_FAILED] + counts[CASE_CRASHED] + counts[CASE_HUNG] + counts[CASE_CORRUPT] > 0;
  return wrong || counts[CASE_OK] == 0 ? EXIT_NOT_MEASURED : EXIT_DONE;
}

/* Measure what is open in the record, write how it ended, and show it. */
static int measure_and_show(struct measuring *measuring) {
  struct error err = {0};
  const struct common_options *common = measuring->request->common;
  for (size_t i = 0; i < MACHINE_GPUS_MAX; i++) {
    telemetry_extent_init(&measuring->extents[i]);
  }
  status_line_init(&measuring->line, common);
  if (measuring->plan->machine->simulated) {
    say_warning(common, "a fake driver simulates the GPUs: the numbers mean nothing");
  }
  char uuid[64];
  snprintf(uuid, sizeof uuid, "%s", record_run_uuid(measuring->record));

  record_when_locked(measuring->record, wait_for_database, measuring);
  enum status status = measure(measuring, &err);
  if (status == STATUS_OK) {
    status = record_late_checks(measuring, &err);
  }
  if (status == STATUS_OK) {
    status = record_end_run(measuring->record, "done", NULL, &err);
  } else {
    /* It may be the database that fails: the first error is the one that counts. */
    struct error second;
    bool interrupted = status == STATUS_INTERRUPTED;
    (void)!record_end_run(measuring->record, interrupted ? "interrupted" : "failed",
                          interrupted ? NULL : err.message, &second);
  }
  record_close(measuring->record);
  measuring->record = NULL;

  int code = exit_code_of_cases(measuring);
  if (status == STATUS_INTERRUPTED) {
    say_warning(common,
                "interrupted; what was measured is kept, and haul run --resume run:%.13s "
                "goes on",
                uuid);
    code = EXIT_INTERRUPTED;
  } else if (status != STATUS_OK) {
    (void)fail(common, &err);
    if (err.status != STATUS_DATABASE) { /* the record said so itself */
      say_note(common,
               "what was measured before is kept in %s, and haul run --resume run:%.13s goes on",
               measuring->request->database, uuid);
    }
    return EXIT_NOT_MEASURED;
  }
  return worse(code, result_show(measuring->request, measuring->plan, uuid));
}

/* The plan in which every case is skipped for that reason; cases belong to the caller. */
static struct plan skip_all(const struct plan *plan, const char *reason, struct plan_case **cases) {
  *cases = calloc(plan->case_count + 1, sizeof **cases);
  if (*cases == NULL) {
    abort();
  }
  for (size_t i = 0; i < plan->case_count; i++) {
    (*cases)[i] = plan->cases[i];
    if ((*cases)[i].skip_reason == NULL) {
      (*cases)[i].skip_reason = reason;
      (*cases)[i].estimate_ns = 0;
    }
  }
  struct plan skipped = *plan;
  skipped.cases = *cases;
  skipped.skip_count = plan->case_count;
  skipped.estimate_ns = 0;
  return skipped;
}

/* Which run is the latest goes by the time at which it started. */
static enum status warn_of_the_clock(const struct measuring *measuring, struct error *err) {
  enum { NS_PER_S = 1000000000 };
  int64_t lag_ns = 0;
  enum status status = record_clock_lag(measuring->record, &lag_ns, err);
  if (status == STATUS_OK && lag_ns >= NS_PER_S) {
    say_warning(measuring->request->common,
                "the clock is %lld s behind the newest run in %s: \"latest\" goes on meaning that "
                "one; set the clock right, or name the runs with --tag",
                (long long)(lag_ns / NS_PER_S), measuring->request->database);
  }
  return status;
}

/* Open the database and write all that is known before measuring. */
static enum status begin(struct measuring *measuring, const struct preflight *preflight,
                         struct error *err) {
  const struct run_request *request = measuring->request;
  struct run_info info = {
      .tag = request->tag,
      .only = request->only,
      .command_line = request->command_line,
      .haul_version = HAUL_VERSION,
      .processes = measuring->processes,
  };
  enum status status = record_open(request->database, &measuring->record, err);
  if (status == STATUS_OK) {
    status = warn_of_the_clock(measuring, err);
  }
  if (status == STATUS_OK) {
    status = record_begin_run(measuring->record, &info, measuring->plan->machine, measuring->plan,
                              preflight->results, preflight->count, err);
  }
  return status;
}

int run_plan(const struct run_request *request, const struct plan *plan) {
  struct error err = {0};
  struct preflight preflight;
  preflight_before(&preflight, request->common, plan->scenario, plan->machine);
  struct plan_case *skipped_cases = NULL;
  struct plan skipped_plan;
  if (preflight.skip_reason[0] != '\0') {
    skipped_plan = skip_all(plan, preflight.skip_reason, &skipped_cases);
    plan = &skipped_plan;
  }
  struct measuring measuring = {
      .request = request, .plan = plan, .processes = plan->scenario->run.processes};
  int code;
  if (begin(&measuring, &preflight, &err) != STATUS_OK) {
    code = fail(request->common, &err);
  } else if (preflight.abort_reason[0] != '\0') {
    (void)!record_end_run(measuring.record, "failed", preflight.abort_reason, &err);
    say_error(request->common, "%s: nothing was measured", preflight.abort_reason);
    code = EXIT_NOT_MEASURED;
  } else {
    code = measure_and_show(&measuring);
  }
  record_close(measuring.record);
  free(skipped_cases);
  preflight_fini(&preflight);
  return code;
}

/* The machine may not be in the state any more in which the run began. */
static enum status check_again(const struct run_request *request, const struct plan *plan,
                               struct record *record, struct error *err) {
  struct preflight preflight;
  preflight_before(&preflight, request->common, plan->scenario, plan->machine);
  const char *reason =
      preflight.abort_reason[0] != '\0' ? preflight.abort_reason : preflight.skip_reason;
  enum status status = STATUS_OK;
  if (reason[0] != '\0') {
    (void)!record_end_run(record, "interrupted", reason, err);
    status = error_set(err, STATUS_UNSUPPORTED, "%s: the run was not resumed", reason);
  } else if (preflight.count > 0) {
    status = record_checks(record, preflight.results, preflight.count, err);
  }
  preflight_fini(&preflight);
  return status;
}

int run_resumed(const struct run_request *request, const struct plan *plan, struct record *record,
                const struct resumed_run *resumed) {
  struct error err = {0};
  struct measuring measuring = {.request = request,
                                .plan = plan,
                                .record = record,
                                .processes = resumed->processes,
                                .resumed = true};
  int code;
  if (record_resume_run(record, resumed, plan->machine, plan, &err) != STATUS_OK ||
      check_again(request, plan, record, &err) != STATUS_OK) {
    code = worse(fail(request->common, &err), EXIT_NOT_MEASURED);
  } else {
    code = measure_and_show(&measuring);
  }
  record_close(measuring.record);
  return code;
}
