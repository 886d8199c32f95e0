#include "runner/run/run.h"

#include "engine/base/clock.h"
#include "engine/machine/machine.h"
#include "runner/record/beside.h"
#include "runner/record/selector.h"
#include "runner/run/preflight.h"
#include "runner/run/run_internal.h"
#include "runner/statistics/noise.h"

/* What workers measure and sample with. */
static const struct supervise_ops RUN_OPS = {
    .engine_new = engine_new,
    .engine_case_processes = engine_case_processes,
    .engine_serve = engine_serve,
    .engine_expect = engine_expect,
    .engine_prepare = engine_prepare,
    .engine_run_case = engine_run_case,
    .engine_free = engine_free,
    .telemetry_new = telemetry_new,
    .telemetry_read = telemetry_read,
    .telemetry_read_errors = telemetry_read_errors,
    .telemetry_free = telemetry_free,
};

/* How long it is tried to bring a run from beside a database that is held into it: after a process,
 * and at the end. */
enum { TRY_MS = 20, GATHER_MS = 250, PATIENT_MS = 600000 };

/* The receiver of what the workers measure ----------------------------------------------------- */

static bool run_already_done(void *context, uint32_t process, size_t case_index) {
  const struct run_state *state = context;
  return record_has_case(state->record, process, state->plan->cases[case_index].def.key);
}

/* A case is reported once it is committed. */
static void run_say_written(struct run_state *state) {
  if (!record_has_pending(state->record)) {
    status_line_written(&state->line);
  }
}

static bool run_is_open(void *context, uint32_t process, size_t case_index) {
  struct run_state *state = context;
  return settle_is_open(&state->settle, state->resumed ? state->record : NULL, process, case_index);
}

static enum status run_take_process_started(void *context, uint32_t process, pid_t pid,
                                            struct error *err) {
  struct run_state *state = context;
  if (state->request->probe != NULL) {
    probe_release(state->request->probe);
  }
  RETURN_ON_ERROR(record_process_started(state->record, process, pid, err));
  run_say_written(state);
  return STATUS_OK;
}

/* Somebody who reads or copies the database must not cost results: wait. */
static bool run_wait_for_database(void *context, uint64_t waited_ms) {
  enum { SAY_MS = 3000, INTERRUPTED_MS = 30000, AT_ONCE_MS = 1000 };
  struct run_state *state = context;
  const int interrupts = *state->request->interrupted;
  if (waited_ms >= SAY_MS && !state->lock_said) {
    state->lock_said = true;
    status_line_clear(&state->line);
    say_warning(state->request->common,
                "%s is locked by another program; the run waits up to %d minutes to write its "
                "results: end that program, or press Ctrl-C to wait 30 s at most",
                state->request->database, PATIENT_MS / 60000);
  }
  return waited_ms < (interrupts == 0 ? PATIENT_MS : interrupts == 1 ? INTERRUPTED_MS : AT_ONCE_MS);
}

/* What waits to be written must not wait for a long case. */
static enum status run_take_case_start(void *context, size_t case_index, struct error *err) {
  struct run_state *state = context;
  struct shard *shard = state->request->shard;
  const bool due = shard_is_due(shard);
  RETURN_ON_ERROR(record_write_due(
      state->record, due ? UINT64_MAX : state->plan->cases[case_index].estimate_ns, err));
  run_say_written(state);
  if (due) {
    shard_publish(shard);
  }
  return STATUS_OK;
}

/* The noise of trials that ended before they were within precision: of a first visit, for time runs
 * on between two. */
static void run_mark_noise(struct case_report *report) {
  if (report->outcome->status != CASE_OK || report->visit > 0 ||
      (report->outcome->stop != STOP_TIME && report->outcome->stop != STOP_TRIALS)) {
    return;
  }
  SCOPED(memory_free)
  struct noise_trial *trials = memory_new(report->trial_count + 1, sizeof *trials);
  size_t count = 0;
  for (size_t i = 0; i < report->trial_count; i++) {
    const struct trial *trial = &report->trials[i];
    if (trial->phase == TRIAL_MEASURE && trial->status == TRIAL_OK && trial->iterations > 0 &&
        trial->elapsed_ns > 0) {
      trials[count++] = (struct noise_trial){
          .value = (double)trial->elapsed_ns / trial->iterations,
          .start = (double)(trial->start_ns - report->trials[0].start_ns),
          .end = (double)(trial->start_ns - report->trials[0].start_ns + trial->elapsed_ns)};
    }
  }
  const struct noise_found found = noise_find(trials, count);
  report->noise = noise_text(found.kind);
  report->noise_size = found.size;
  report->noise_ns = found.duration;
}

/* For the caller: what no healthy machine does, and what failed. A result counts even where the GPU
 * took no work after it. */
static void run_note_wrong(const struct run_state *state, const struct case_report *report) {
  struct run_outcome *outcome = state->request->outcome;
  const enum case_status status = report->outcome->status;
  const bool ok = status == CASE_OK;
  if (outcome == NULL || (ok && !report->context_lost) || status == CASE_SKIPPED) {
    return;
  }
  const bool broken = (status != CASE_FAILED && !report->killed) || report->context_lost;
  char *first = broken ? outcome->first_broken : outcome->first_failed;
  size_t *count = broken ? &outcome->broken : &outcome->failed;
  if ((*count)++ == 0) {
    (void)snprintf(first, sizeof outcome->first_broken, "%s: %s: %s",
                   state->plan->cases[report->case_index].def.name, case_status_text(status),
                   ok ? "but a GPU took no work after it" : report->outcome->reason);
    struct case_use use = {0};
    case_use_add(&use, state->plan->machine, &state->plan->cases[report->case_index].def);
    outcome->broken_gpus = broken ? use.gpus : outcome->broken_gpus;
  }
}

static enum status run_take_case(void *context, const struct case_report *report,
                                 struct error *err) {
  struct run_state *state = context;
  const struct case_def *def = &state->plan->cases[report->case_index].def;
  struct notes slowed = {0};
  claim_look(state->request->claim);
  interference_find(&state->interference, state->plan->machine, def, state->request->claim,
                    &slowed);
  struct case_report marked;
  if (!settle_add(&state->settle, report, &marked)) {
    status_line_clear(&state->line);
    say_warning(state->request->common,
                "case %s: %s when measured again (%s); its earlier results stay", def->name,
                case_status_text(report->outcome->status), report->outcome->reason);
    return STATUS_OK;
  }
  marked.slowed = &slowed;
  run_mark_noise(&marked);
  RETURN_ON_ERROR(record_case(state->record, state->plan, &marked, err));
  state->counts[report->outcome->status] +=
      report->visit == 0 || report->outcome->status != CASE_OK;
  state->done += report->visit == 0;
  run_note_wrong(state, report);
  status_line_case(&state->line, def, &marked, state->done, state->total);
  run_say_written(state);
  return STATUS_OK;
}

static enum status run_take_process_ended(void *context, uint32_t process, struct error *err) {
  struct run_state *state = context;
  RETURN_ON_ERROR(record_process_ended(state->record, process, err));
  run_say_written(state);
  if (state->request->shard != NULL) {
    shard_publish_process(state->request->shard);
  }
  if (record_place(state->record) != NULL) {
    struct error held = {0};
    (void)!beside_merge(state->request->database, record_place(state->record), TRY_MS, &held);
  }
  return STATUS_OK;
}

static enum status run_take_telemetry(void *context, const struct telemetry_sample *samples,
                                      size_t count, struct error *err) {
  struct run_state *state = context;
  for (size_t i = 0; i < count; i++) {
    if (samples[i].gpu >= 0 && samples[i].gpu < MACHINE_GPUS_MAX) {
      telemetry_extent_add(&state->extents[samples[i].gpu], &samples[i]);
      interference_add(&state->interference, &samples[i]);
    }
  }
  return record_telemetry(state->record, samples, count, err);
}

static void run_take_progress(void *context, const struct progress *progress) {
  struct run_state *state = context;
  state->total = progress->total;
  if (*state->request->interrupted == 1 && !state->interrupt_said && progress->def != NULL) {
    state->interrupt_said = true;
    status_line_interrupted(&state->line, progress);
  }
  status_line_show(&state->line, progress);
}

static void run_take_warning(void *context, const char *text) {
  struct run_state *state = context;
  status_line_clear(&state->line);
  say_warning(state->request->common, "%s", text);
}

/* One run -------------------------------------------------------------------------------------- */

static void run_say_worker_stays(void *context) {
  struct run_state *state = context;
  status_line_clear(&state->line);
  say_wait("waiting for the driver to free its memory; Ctrl-C ends at once");
}

static void run_supervise(struct run_state *state) {
  const struct run_settings *settings = &state->plan->scenario->run;
  state->options = (struct supervise_options){
      .ops = &RUN_OPS,
      .processes = state->processes,
      .telemetry_ns = settings->telemetry_ns,
      .pause_ns = settings->pause_ns,
      .settle_ns = settings->settle_ns,
      .doubted = state->request->info.repeats != NULL,
      .budget_ns = state->request->budget_ns > 0 ? state->request->budget_ns : settings->budget_ns,
      .watchdog_floor_ns = SUPERVISE_WATCHDOG_FLOOR_NS,
      .worker_stays = run_say_worker_stays,
      .context = state,
      .worker_stays_ns = SUPERVISE_WORKER_STAYS_NS,
      .interrupted = state->request->interrupted,
  };
  state->supervisor = supervise_new(state->plan, &state->options);
}

static enum status run_measure(struct run_state *state, struct error *err) {
  struct supervise_sink sink = {
      .context = state,
      .already_done = state->resumed ? run_already_done : NULL,
      .is_open = run_is_open,
      .process_started = run_take_process_started,
      .case_starts = run_take_case_start,
      .case_finished = run_take_case,
      .process_ended = run_take_process_ended,
      .telemetry = run_take_telemetry,
      .progress = run_take_progress,
      .warning = run_take_warning,
  };
  enum status status = supervise_run(state->supervisor, &sink, err);
  status_line_clear(&state->line);
  return status;
}

static enum status run_record_late_checks(struct run_state *state, struct error *err) {
  SCOPED(memory_free) struct machine *now = machine_new();
  enum status status = machine_probe_host(now, err);
  if (status == STATUS_OK) {
    struct preflight late;
    preflight_check_late(&late, state->request->common, state->plan->scenario, state->plan->machine,
                         state->extents, now);
    if (late.count > 0) {
      status = record_checks(state->record, late.results, late.count, err);
    }
    preflight_fini(&late);
  }
  return status;
}

static int run_exit_code(const struct run_state *state) {
  const size_t *counts = state->counts;
  struct run_outcome *outcome = state->request->outcome;
  bool wrong =
      counts[CASE_FAILED] + counts[CASE_CRASHED] + counts[CASE_HUNG] + counts[CASE_CORRUPT] > 0;
  bool measured =
      counts[CASE_OK] > 0 || (outcome != NULL && plan_has_nothing(state->plan, outcome->nothing));
  return wrong || !measured ? EXIT_NOT_MEASURED : EXIT_DONE;
}

#define RUN_STOPPED     "stopped by a signal, such as that of Ctrl-C"
#define RUN_KEPT_BEFORE "what was recorded before that is kept in %s, and %s measures the rest"

static void run_tell_outcome(const struct run_state *state, const char *uuid) {
  struct run_outcome *outcome = state->request->outcome;
  if (outcome == NULL) {
    return;
  }
  (void)snprintf(outcome->uuid, sizeof outcome->uuid, "%s", uuid);
  outcome->number = state->number;
  outcome->elapsed_ns = clock_now_ns() - state->started_ns;
  outcome->planned = state->total > outcome->planned ? state->total : outcome->planned;
  outcome->unmeasured += state->total - state->done;
  for (size_t i = 0; i < MACHINE_GPUS_MAX; i++) {
    if (!outcome->users[i].seen) {
      outcome->users[i] = state->interference.gpus[i].user;
    }
  }
}

/* Write how measuring ended, with that status and error; *ended: how that went, and end_err why.
 * Returns the status of both. */
static enum status run_record_end(struct run_state *state, enum status status, enum status *ended,
                                  struct error *err, struct error *end_err) {
  *ended = STATUS_OK;
  char nothing[CASE_REASON_MAX];
  if (status == STATUS_OK && plan_has_nothing(state->plan, nothing)) {
    const char *reason = arena_format(&state->arena, "nothing was measured: %s", nothing);
    status = *ended = record_end_run(state->record, "failed", reason, err);
    status = THEN(status, record_count_outcomes(state->record, state->counts, err));
  } else if (status == STATUS_OK) {
    status = *ended = record_end_run(
        state->record, "done", state->plan->for_gpus ? state->request->gpus_missing : NULL, err);
    status = THEN(status, record_count_outcomes(state->record, state->counts, err));
  } else if (!record_is_contested(state->record)) { /* else another ends the run */
    /* The database may be what fails: the first error is the one that counts. */
    struct error unused;
    const bool interrupted = status == STATUS_INTERRUPTED;
    const bool asked = *state->request->interrupted != 0; /* else the time for measuring is up */
    *ended = record_end_run(state->record, interrupted ? "interrupted" : "failed",
                            interrupted && asked ? RUN_STOPPED : err->message, end_err);
    (void)!record_count_outcomes(state->record, state->counts, &unused);
  }
  /* After another error nobody knows which of the last cases were written. */
  if (*ended == STATUS_OK && (status == STATUS_OK || status == STATUS_INTERRUPTED)) {
    run_say_written(state);
  }
  status_line_fini(&state->line);
  return status;
}

/* A run that was recorded beside its database comes into it, or stays there if that is still held.
 * The next reader of the results waits for it. */
static void run_gather(struct run_state *state, const char *uuid) {
  struct error err = {0};
  struct record *record = NULL;
  const char *path = state->request->database;
  enum status status =
      beside_merge(path, state->place, state->request->unshown ? PATIENT_MS : GATHER_MS, &err);
  status = THEN(status, record_open(path, &record, &err));
  if (status == STATUS_OK) {
    state->place = NULL;
    (void)!record_find_run(record, uuid, &state->number, &err);
    record_close(record);
    return;
  }
  const char *held = "it is held by another program";
  say_warning(state->request->common,
              "the run is complete in %s, but not added to %s: %s. The next run there tries again, "
              "or: haul merge %s %s",
              state->place, path, status == STATUS_TIMEOUT ? held : err.message, path,
              state->place);
}

/* By the number that the result says, where the run has its place: the name for all databases else.
 */
static const char *run_resume_command(struct run_state *state, const char *uuid) {
  struct arena *arena = &state->arena;
  const struct run_request *request = state->request;
  if (request->shard != NULL) {
    return shard_resume_command(request->shard, uuid, arena);
  }
  const char *name = state->number > 0 && record_place(state->record) == NULL
                         ? arena_format(arena, "run:%lld", (long long)state->number)
                         : arena_format(arena, RUN_NAME, uuid);
  return arena_format(arena, "haul run --resume %s%s", name,
                      console_db_option(request->common, arena));
}

/* Measure what is open in the record, write how it ended, and show it. */
static int run_measure_and_show(struct run_state *state) {
  struct error err = {0};
  const struct common_options *common = state->request->common;
  for (size_t i = 0; i < MACHINE_GPUS_MAX; i++) {
    telemetry_extent_init(&state->extents[i]);
  }
  interference_init(&state->interference);
  settle_init(&state->settle, state->plan, state->request->info.repeats != NULL);
  status_line_init(&state->line, common);
  if (state->plan->machine->simulated && !state->request->repeated) {
    say_warning(common, "a fake driver simulates the GPUs: the numbers mean nothing");
  }
  state->started_ns = clock_now_ns();
  char uuid[RUN_UUID_MAX];
  snprintf(uuid, sizeof uuid, "%s", record_run_uuid(state->record));
  record_when_locked(state->record, run_wait_for_database, state);
  struct error end_err = {0};
  enum status ended = STATUS_OK;
  enum status status = record_find_run(state->record, uuid, &state->number, &err);
  status = THEN(status, run_measure(state, &err));
  status = THEN(status, run_record_late_checks(state, &err));
  status = run_record_end(state, status, &ended, &err, &end_err);
  settle_fini(&state->settle);
  struct shard *shard = state->request->shard;
  const char *resume = run_resume_command(state, uuid);
  const bool gone = record_is_gone(state->record);
  const bool contested = record_is_contested(state->record);
  if (record_place(state->record) != NULL) {
    state->place = arena_strdup(&state->arena, record_place(state->record));
  }
  record_close(state->record);
  state->record = NULL;
  if (state->place != NULL) {
    run_gather(state, uuid);
  }
  if (shard != NULL) {
    shard_publish(shard);
  }
  if (shard != NULL && ended != STATUS_OK) {
    shard_tell_failure(shard, status == STATUS_OK ? err.message : end_err.message);
  }

  int code = run_exit_code(state);
  run_tell_outcome(state, uuid);
  if (status == STATUS_INTERRUPTED && *state->request->interrupted == 0 && ended == STATUS_OK) {
    if (!state->request->unshown) {
      say_warning(common, "%s: %zu of %zu cases were not measured", err.message,
                  state->total - state->done, state->total);
    }
    code = EXIT_NOT_MEASURED;
  } else if (status == STATUS_INTERRUPTED && ended != STATUS_OK && !gone) {
    (void)fail(common, &end_err);
    say_warning(common, "interrupted, and the end of the run was not recorded; " RUN_KEPT_BEFORE,
                shard != NULL ? shard_path(shard) : state->request->database, resume);
    code = EXIT_INTERRUPTED;
  } else if (status == STATUS_INTERRUPTED && gone) {
    say_warning(common, "interrupted; the database was deleted meanwhile, with " RUN_NAME, uuid);
    code = EXIT_INTERRUPTED;
  } else if (status == STATUS_INTERRUPTED) {
    say_warning(common, "interrupted; the results so far are kept");
    code = EXIT_INTERRUPTED;
  } else if (status != STATUS_OK) {
    (void)fail(common, &err);
    if (!gone && err.status != STATUS_DATABASE && !contested) { /* the record said so itself */
      say_note(common,
               ended == STATUS_OK ? "the results so far are kept in %s, and %s continues"
                                  : "the end of the run was not recorded; " RUN_KEPT_BEFORE,
               shard != NULL ? shard_path(shard) : state->request->database, resume);
    }
    return EXIT_NOT_MEASURED;
  }
  const char *next = status == STATUS_INTERRUPTED && ended == STATUS_OK && !gone ? resume : NULL;
  return state->request->unshown ? code : worse(code, run_show(state, uuid, next));
}

/* "latest" means the run that started last by the clock. */
static enum status run_warn_of_clock(const struct run_state *state, struct error *err) {
  enum { NS_PER_S = 1000000000 };
  int64_t lag_ns = 0;
  enum status status = record_clock_lag(state->record, &lag_ns, err);
  if (status == STATUS_OK && lag_ns >= NS_PER_S) {
    say_warning(state->request->common,
                "the clock is %lld s behind the newest run in %s: \"latest\" still selects that "
                "run; set the clock right, or tag the runs with --tag",
                (long long)(lag_ns / NS_PER_S), state->request->database);
  }
  return status;
}

/* Open the database and write all that is known before state. */
static enum status run_begin(struct run_state *state, const struct preflight *preflight,
                             struct error *err) {
  const struct run_request *request = state->request;
  struct run_info info = request->info;
  info.haul_version = HAUL_VERSION;
  info.processes = state->processes;
  if (request->shard == NULL) {
    size_t left = 0;
    struct error failed = {0};
    const enum status status = beside_take_up(request->database, &left, &failed);
    if (status != STATUS_OK && status != STATUS_TIMEOUT) {
      say_warning(request->common, "not added to %s: %s", request->database, failed.message);
    }
  }
  RETURN_ON_ERROR(record_open(request->database, &state->record, err));
  if (request->shard == NULL) {
    record_allow_beside(state->record);
  }
  RETURN_ON_ERROR(run_warn_of_clock(state, err));
  RETURN_ON_ERROR(record_begin_run(state->record, &info, state->plan->machine, state->plan,
                                   preflight->results, preflight->count, err));
  if (request->shard != NULL) {
    shard_name_run(request->shard, record_run_uuid(state->record));
  }
  claim_name_run(request->claim, record_run_uuid(state->record));
  return claim_run(&request->claiming, record_run_uuid(state->record), &state->owner, err);
}

int run_plan(const struct run_request *request, struct plan *plan) {
  struct error err = {0};
  struct preflight preflight;
  const struct common_options quiet = {.quiet = true};
  preflight_check(&preflight, request->repeated ? &quiet : request->common, plan->scenario,
                  plan->machine);
  if (preflight.skip_reason[0] != '\0') {
    plan_skip_rest(plan, preflight.skip_reason);
  }
  struct run_state state = {
      .request = request, .plan = plan, .processes = plan->scenario->run.processes};
  int code;
  if (preflight.abort_reason[0] == '\0') {
    run_supervise(&state);
    supervise_start_worker(state.supervisor); /* it opens the driver meanwhile */
  }
  if (run_begin(&state, &preflight, &err) != STATUS_OK) {
    code = fail(request->common, &err);
    shard_tell_failure(request->shard, err.message);
  } else if (preflight.abort_reason[0] != '\0') {
    (void)!record_end_run(state.record, "failed", preflight.abort_reason, &err);
    if (request->shard != NULL) {
      shard_publish(request->shard);
    }
    say_error(request->common, "nothing was measured: %s", preflight.abort_reason);
    code = EXIT_NOT_MEASURED;
  } else {
    code = run_measure_and_show(&state);
  }
  supervise_free(state.supervisor);
  record_close(state.record);
  claim_leave_run(state.owner);
  arena_fini(&state.arena);
  preflight_fini(&preflight);
  return code;
}

void run_refused(const struct run_request *request, const struct plan *plan, const char *reason) {
  struct error err = {0};
  const struct preflight preflight = {0};
  struct run_state state = {
      .request = request, .plan = plan, .processes = plan->scenario->run.processes};
  enum status status = run_begin(&state, &preflight, &err);
  status = THEN(status, record_end_run(state.record, "failed", reason, &err));
  record_close(state.record);
  claim_leave_run(state.owner);
  if (status == STATUS_OK) {
    shard_publish(request->shard);
  } else {
    (void)fail(request->common, &err);
    shard_tell_failure(request->shard, err.message);
  }
}

/* The machine may have changed since the run began. A run that is not resumed stays as it is. */
static enum status run_continue(const struct run_request *request, const struct plan *plan,
                                struct record *record, struct error *err) {
  struct preflight preflight;
  preflight_check(&preflight, request->common, plan->scenario, plan->machine);
  const char *reason =
      preflight.abort_reason[0] != '\0' ? preflight.abort_reason : preflight.skip_reason;
  const enum status status =
      reason[0] != '\0' ? error_set(err, STATUS_UNSUPPORTED, "%s: the run was not resumed", reason)
                        : record_continue_run(record, preflight.results, preflight.count, err);
  preflight_fini(&preflight);
  return status;
}

int run_resumed(const struct run_request *request, const struct plan *plan, struct record *record,
                const struct resumed_run *resumed) {
  struct error err = {0};
  struct run_state state = {.request = request,
                            .plan = plan,
                            .record = record,
                            .processes = resumed->processes,
                            .resumed = true};
  int code;
  claim_name_run(request->claim, resumed->uuid);
  if (request->shard == NULL) {
    record_allow_beside(record);
  }
  if (record_resume_run(record, resumed, plan->machine, plan, &err) != STATUS_OK ||
      run_continue(request, plan, record, &err) != STATUS_OK) {
    code = worse(fail(request->common, &err), EXIT_NOT_MEASURED);
  } else {
    run_supervise(&state);
    code = run_measure_and_show(&state);
  }
  supervise_free(state.supervisor);
  record_close(state.record);
  arena_fini(&state.arena);
  return code;
}
