/* resume.c - continues an interrupted run. */
#include "engine/case/trial.h"
#include "engine/machine/machine.h"
#include "runner/record/record_internal.h"
#include "runner/record/selector.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run as it is recorded. */
struct resumable {
  struct resumed_run run;
  const char *origin;
  bool has_keys; /* it measured but some cases of its scenario */
};

static const struct row_member RESUMABLE_MEMBERS[] = {
    ROW_COLUMN_TEXT(struct resumable, run.uuid, "uuid"),
    ROW_COLUMN_TEXT(struct resumable, run.scenario_path, "scenario_path"),
    ROW_COLUMN_TEXT(struct resumable, run.scenario_text, "resolved"),
    ROW_COLUMN(struct resumable, run.only, "only_glob"),
    ROW_COLUMN(struct resumable, run.processes, "processes"),
    ROW_COLUMN(struct resumable, run.complete, "complete"),
    ROW_COLUMN(struct resumable, run.all_ok, "all_ok"),
    ROW_MEMBER_TEXT(struct resumable, origin),
    ROW_MEMBER(struct resumable, has_keys),
    {0}};

enum status record_resume_find(struct record *record, const char *selector, struct resumed_run *run,
                               struct error *err) {
  struct run_ref ref;
  bool found = false;
  RETURN_ON_ERROR(selector_find(record->database, selector, &ref, err));
  const struct parameter *parameters = PARAMETERS(PARAMETER(":run", ref.id));
  struct resumable resumable = {.run = *run};
  RETURN_ON_ERROR(database_read(record->database, "run/find_resumable", parameters,
                                RESUMABLE_MEMBERS, &resumable, &run->arena, &found, err));
  if (!found) {
    return error_set(err, STATUS_NOT_FOUND, RUN_NAME " is gone", ref.uuid);
  }
  if (strcmp(resumable.origin, "measured") != 0) {
    return error_set(err, STATUS_INVALID,
                     "run %" PRId64 " was imported: there is nothing to resume", ref.id);
  }
  resumable.run.id = ref.id;
  resumable.run.arena = run->arena;
  *run = resumable.run;
  return resumable.has_keys
             ? DATABASE_READ_ALL(record->database, "run/planned_keys", parameters, ROW_WORD,
                                 &run->arena, run->keys.items, run->keys.count, err)
             : STATUS_OK;
}

void resumed_run_fini(struct resumed_run *run) {
  arena_fini(&run->arena);
  *run = (struct resumed_run){0};
}

/* The current value of a name that the statement run/environment gives. */
static void record_current_value(const struct machine *machine, const char *name, char *text,
                                 size_t size) {
  const char *value = machine_value(machine, name, -1);
  if (strcmp(name, "simulated") == 0) {
    (void)snprintf(text, size, "%d", machine->simulated);
  } else if (strcmp(name, "gpu_count") == 0) {
    (void)snprintf(text, size, "%u", machine->gpu_count);
  } else if (strcmp(name, "host_name") == 0) {
    (void)snprintf(text, size, "%s", machine->host_name);
  } else if (strncmp(name, "gpu", 3) == 0) {
    unsigned long number = strtoul(name + 3, NULL, 10);
    const struct gpu *gpu = number < machine->gpu_count ? &machine->gpus[number] : NULL;
    (void)snprintf(text, size, "%s at %s", gpu != NULL ? gpu->uuid : "none",
                   gpu != NULL ? gpu->pci_address : "none");
  } else {
    const char *unknown = strcmp(name, "driver_version") == 0 ? "none" : "unknown";
    (void)snprintf(text, size, "%s", value != NULL ? value : unknown);
  }
}

struct resumed_fact {
  const char *name, *value;
};

static enum status record_compare_environment(struct record *record, const struct machine *machine,
                                              struct error *err) {
  static const struct row_member MEMBERS[] = {
      ROW_MEMBER_TEXT(struct resumed_fact, name), ROW_MEMBER_TEXT(struct resumed_fact, value), {0}};
  SCOPED(arena_fini) struct arena arena = {0};
  struct resumed_fact *facts = NULL;
  size_t count = 0;
  RETURN_ON_ERROR(DATABASE_READ_ALL(record->database, "run/environment",
                                    PARAMETERS(PARAMETER(":run", record->run)), MEMBERS, &arena,
                                    facts, count, err));
  for (size_t i = 0; i < count; i++) {
    char now[FACT_VALUE_MAX];
    record_current_value(machine, facts[i].name, now, sizeof now);
    if (strcmp(facts[i].value, now) != 0) {
      return error_set(err, STATUS_INVALID,
                       RUN_NAME " cannot be resumed: %s was %s and is now %s; start a new run",
                       record->uuid, facts[i].name, facts[i].value, now);
    }
  }
  return STATUS_OK;
}

enum status record_resume_run(struct record *record, const struct resumed_run *run,
                              const struct machine *machine, const struct plan *plan,
                              struct error *err) {
  record_forget_run(record);
  enum status status = record_find_run(record, run->uuid, &record->run, err);
  if (status == STATUS_OK && record->run == 0) {
    return error_set(err, STATUS_NOT_FOUND, RUN_NAME " is gone", run->uuid);
  }
  if (status == STATUS_OK) {
    (void)snprintf(record->uuid, sizeof record->uuid, "%s", run->uuid);
    status = record_compare_environment(record, machine, err);
  }
  status = THEN(status, record_match_plan(record, plan, err));
  record->run = status == STATUS_OK ? record->run : 0;
  return status;
}

bool record_has_case(struct record *record, uint32_t process, const char *case_key) {
  struct error err = {0};
  int64_t found = 0;
  return record_find(record, "run/find_result",
                     PARAMETERS(PARAMETER(":process", process), PARAMETER(":case_key", case_key)),
                     &found, &err) == STATUS_OK &&
         found != 0;
}

static const struct row_member TRIAL_MEMBERS[] = {ROW_MEMBER(struct trial, visit),
                                                  ROW_MEMBER(struct trial, ordinal),
                                                  ROW_MEMBER(struct trial, phase),
                                                  ROW_MEMBER(struct trial, status),
                                                  ROW_MEMBER(struct trial, iterations),
                                                  ROW_MEMBER(struct trial, start_ns),
                                                  ROW_MEMBER(struct trial, elapsed_ns),
                                                  ROW_MEMBER(struct trial, cycles),
                                                  ROW_MEMBER(struct trial, submit_ns),
                                                  ROW_MEMBER(struct trial, gpu_ns),
                                                  {0}};

static const struct row_member FLOW_TRIAL_MEMBERS[] = {
    ROW_MEMBER(struct flow_trial, ordinal),    ROW_MEMBER(struct flow_trial, flow),
    ROW_MEMBER(struct flow_trial, start_ns),   ROW_MEMBER(struct flow_trial, elapsed_ns),
    ROW_MEMBER(struct flow_trial, iterations), {0}};

bool record_read_visits(struct record *record, uint32_t process, const char *case_key,
                        struct visits_read *visits) {
  struct error err = {0};
  int64_t case_run = 0;
  enum status status =
      record_find(record, "result/open_case",
                  PARAMETERS(PARAMETER(":process", process), PARAMETER(":case_key", case_key)),
                  &case_run, &err);
  if (status != STATUS_OK || case_run == 0) {
    return false;
  }
  SCOPED(arena_fini) struct arena arena = {0};
  struct visits_read read = {0};
  status = DATABASE_READ_ALL(record->database, "result/trials",
                             PARAMETERS(PARAMETER(":case_run", case_run),
                                        PARAMETER(":clock_offset_ns", record->clock_offset_ns)),
                             TRIAL_MEMBERS, &arena, read.trials, read.trial_count, &err);
  status = THEN(status,
                DATABASE_READ_ALL(record->database, "result/flow_trials",
                                  PARAMETERS(PARAMETER(":case_run", case_run)), FLOW_TRIAL_MEMBERS,
                                  &arena, read.flow_trials, read.flow_trial_count, &err));
  if (status != STATUS_OK) {
    return false;
  }
  read.trials = record_copy(read.trials, read.trial_count, sizeof *read.trials);
  read.flow_trials = record_copy(read.flow_trials, read.flow_trial_count, sizeof *read.flow_trials);
  *visits = read;
  return true;
}

void visits_read_fini(struct visits_read *visits) {
  free(visits->trials);
  free(visits->flow_trials);
  *visits = (struct visits_read){0};
}
