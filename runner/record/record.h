/* record.h - the only writer of results: one SQLite database, one transaction for what ends within
 * 50 ms.
 *
 * Paths, pragmas, versions and what a foreign file looks like: runner/record/database.h. SQL lives
 * in schema/results/, embedded; C holds bind names only. A disk that fills, a folder that becomes
 * read-only or a lock held too long (30 s) is an error that names the file and what was written
 * before: earlier transactions stay whole. */
#pragma once

#include "engine/case/enums.h"
#include "runner/plan/plan.h"

#include <sys/types.h>

struct case_report; /* runner/supervise/supervise.h */
struct check_result;
struct database;
struct flow_trial;
struct notes;
struct record;
struct telemetry_sample;
struct trial;

/* What the launcher of a run says: Slurm's variables, options of haul run. Texts are borrowed. */
struct run_launch {
  const char *fleet;    /* name of what was started together; NULL = a run of its own */
  const char *expected; /* its nodes, as runner/record/node_list.h has them; NULL = not known */
  struct {
    const char *name, *value;
  } facts[16];
  size_t fact_count;
};

struct run_info {
  const char *tag;          /* may be NULL */
  const char *only;         /* --only, may be NULL: needed to resume */
  const char *command_line; /* as typed, shell-quoted */
  const char *argv;         /* its words, as JSON; NULL = not known */
  const char *haul_version; /* "0.1.0" */
  uint32_t processes;
  unsigned looks, look; /* of --decide: how often at most, and which; 0 = a run of its own */
  const char *repeats;  /* uuid of the run of which some cases are measured again; NULL = none */
  const struct run_launch *launch; /* NULL = none */
  bool imported;         /* another tool measured it; record_import() only, as all below */
  const char *uuid;      /* made of its content, so that importing it again can be noticed */
  int64_t started_at_ns; /* ns since 1970 */
};

/* Creates the file and its folder when absent, migrates an older one. */
enum status record_open(const char *path, struct record **record, struct error *err) CHECK_RESULT;
void record_close(struct record *record);
/* Asked while another program keeps the database locked, with how long it was waited for; false
 * gives up (STATUS_TIMEOUT). Without it that is after 30 s. */
void record_when_locked(struct record *record, bool (*wait)(void *context, uint64_t waited_ms),
                        void *context);

/* From now on a run does not wait for others who hold the database, but goes on beside it
 * (runner/record/beside.h). */
void record_allow_beside(struct record *record);
/* Where it is recorded then; NULL = in the database. */
const char *record_place(const struct record *record);

/* By how much the newest measured run in the database starts later than now, in ns; 0 = by nothing:
 * the clock was set back since. Then "latest" is not the run that is made now. */
enum status record_clock_lag(struct record *record, int64_t *lag_ns,
                             struct error *err) CHECK_RESULT;

/* Environment, scenario, plan (every case, the skipped ones with their reason) and checks, in one
 * transaction. After it, record_run_uuid() names the run: 32 hexadecimal digits, sortable by time
 * (UUIDv7). A record serves several runs one after the other. */
enum status record_begin_run(struct record *record, const struct run_info *info,
                             const struct machine *machine, const struct plan *plan,
                             const struct check_result *checks, size_t check_count,
                             struct error *err) CHECK_RESULT;
const char *record_run_uuid(const struct record *record);
/* The database was deleted or replaced while it was open: what was recorded is gone with it. */
bool record_is_gone(const struct record *record);
/* Another process records the same run, and was first with a case. */
bool record_is_contested(const struct record *record);
/* Before the first case of each process; again when another worker goes on with it. */
enum status record_process_started(struct record *record, uint32_t process, pid_t pid,
                                   struct error *err) CHECK_RESULT;
/* A case in the process that was started last; of a further visit, in place of what it said before.
 * Its trials come in the order of their ordinals. It is written with others that end within
 * RECORD_GROUP_NS: with the case that ends so long after the first of them, with the next
 * transaction of another kind, or by record_write_due(). What is killed before loses at most those.
 * Where they cannot be written together, those that can be alone are, and the error says how many
 * cases of the run are kept. */
#define RECORD_GROUP_NS UINT64_C(50000000)
enum status record_case(struct record *record, const struct plan *plan,
                        const struct case_report *report, struct error *err) CHECK_RESULT;
/* Before something that takes busy_ns: write the cases that would wait too long. */
enum status record_write_due(struct record *record, uint64_t busy_ns,
                             struct error *err) CHECK_RESULT;
/* Whether a case waits to be written. */
bool record_has_pending(const struct record *record);
enum status record_process_ended(struct record *record, uint32_t process,
                                 struct error *err) CHECK_RESULT;
/* Kept, and written with the next case or at the end of the process or run. */
enum status record_telemetry(struct record *record, const struct telemetry_sample *samples,
                             size_t count, struct error *err) CHECK_RESULT;
/* The answers that only telemetry gives, at the end. */
enum status record_checks(struct record *record, const struct check_result *checks, size_t count,
                          struct error *err) CHECK_RESULT;
/* How many cases of the run ended in which way: what is on disk, of earlier sessions too. */
enum status record_count_outcomes(struct record *record, size_t counts[case_status_name_count],
                                  struct error *err) CHECK_RESULT;
/* status: "done", "interrupted" or "failed" with why (NULL or a reason). */
enum status record_end_run(struct record *record, const char *status, const char *reason,
                           struct error *err) CHECK_RESULT;

/* A machine alone, in a temporary database that the caller closes: its environment, and as facts
 * what changes by itself and is otherwise not recorded, by the names of a machine file
 * (utilization_percent, pcie_width ...). */
enum status record_machine(const struct machine *machine, struct database **database,
                           struct error *err) CHECK_RESULT;

/* A whole run that another tool measured, in one transaction: one process, in which case i took
 * median_ns[i] and nothing more is known of it (n = 1, no trials, no interval). notes: what
 * the reader of each number must know. */
enum status record_import(struct record *record, const struct run_info *info,
                          const struct machine *machine, const struct plan *plan,
                          const double *median_ns, const struct notes *notes,
                          struct error *err) CHECK_RESULT;
/* *run is the number of the run with that UUID, 0 = there is none. */
enum status record_find_run(struct record *record, const char *uuid, int64_t *run,
                            struct error *err) CHECK_RESULT;

/* What --resume needs of an earlier run; texts are in its arena. */
struct resumed_run {
  struct arena arena;
  int64_t id;
  const char *uuid;
  const char *scenario_path;
  const char *scenario_text; /* resolved: stands alone */
  const char *only;          /* NULL = none */
  uint32_t processes;
  bool complete;         /* nothing is left to measure */
  bool all_ok;           /* and nothing went wrong */
  struct case_keys keys; /* of a run that measured but these cases of its scenario; else none */
};
/* `selector` names the run (runner/record/selector.h). STATUS_NOT_FOUND with what there is;
 * STATUS_INVALID when the run was imported. */
enum status record_resume_find(struct record *record, const char *selector, struct resumed_run *run,
                               struct error *err) CHECK_RESULT;
void resumed_run_fini(struct resumed_run *run);
/* Whether it can go on: the environment must be the same in all that could change a number (driver,
 * GPUs by UUID, kernel, CPU), and every case of the plan must be in the run's, else STATUS_INVALID
 * naming what differs. Writes nothing. */
enum status record_resume_run(struct record *record, const struct resumed_run *run,
                              const struct machine *machine, const struct plan *plan,
                              struct error *err) CHECK_RESULT;
/* It goes on: it is running again, and was checked again. */
enum status record_continue_run(struct record *record, const struct check_result *checks,
                                size_t count, struct error *err) CHECK_RESULT;
/* The trials of a case in a process, of all its visits so far. */
struct visits_read {
  struct trial *trials;
  size_t trial_count;
  struct flow_trial *flow_trials;
  size_t flow_trial_count;
};
/* Those of an earlier session; false: the case had no open visits when that session ended, or its
 * process had, or they cannot be read: the next transaction says why. */
bool record_read_visits(struct record *record, uint32_t process, const char *case_key,
                        struct visits_read *visits);
void visits_read_fini(struct visits_read *visits);
/* True when that case has a final result in that process (ok, skipped, failed, crashed, hung or
 * corrupt all count). False also if the database cannot be read: the next transaction says why. */
bool record_has_case(struct record *record, uint32_t process, const char *case_key);
