/* manage.h - runs after they were recorded: the scenario and the machine of one, tags, deletion. */
#pragma once

#include "runner/record/selector.h"

struct machine;

/* What a run was made of; texts belong to the arena. */
struct run_scenario {
  const char *name, *path;
  const char *text;     /* the file as read */
  const char *resolved; /* means the same alone: includes and --set applied */
  const char *command_line;
  int64_t started_at_ns;
  bool measured;             /* else imported */
  const char *host, *driver; /* NULL = not recorded */
  bool simulated;
  const char *status;                   /* of the run: "done", "running", "interrupted", "failed" */
  const char *reason;                   /* why it was interrupted or failed; may be NULL */
  int64_t cases_wanted, cases_measured; /* once for each process, without skipped ones */
};
enum status run_scenario_read(struct database *database, int64_t run, struct arena *arena,
                              struct run_scenario *scenario, struct error *err) CHECK_RESULT;

/* Why the run failed; NULL = it did not. In the arena. */
enum status run_failure_read(struct database *database, int64_t run, struct arena *arena,
                             const char **reason, struct error *err) CHECK_RESULT;

/* The machine that it ran on, as far as it is recorded: what changes by itself (free memory, use of
 * the GPUs, the speed of idle links) is "not known". */
enum status run_machine_read(struct database *database, int64_t run, struct machine *machine,
                             struct error *err) CHECK_RESULT;

/* Words that name runs, NULL-terminated: "latest", "run:9", "tag:before", "baseline:good". */
enum status run_words_read(struct database *database, struct arena *arena,
                           const char *const **words, struct error *err) CHECK_RESULT;

/* Give all of the runs that tag; NULL takes it away. The database is open for writing. */
enum status run_tag_set(struct database *database, const struct run_list *runs, const char *tag,
                        struct error *err) CHECK_RESULT;

/* A run that is to be deleted, or reported while it goes on. */
struct run_to_delete {
  const char *scenario, *tag, *started_at; /* tag may be NULL */
  const char *baselines;                   /* that name it: "a, b"; NULL = none does */
  bool running;                            /* as recorded: it may have been killed since */
  int64_t results;
};
enum status run_to_delete_read(struct database *database, int64_t run, struct arena *arena,
                               struct run_to_delete *found, struct error *err) CHECK_RESULT;
/* The runs of that host that are recorded as running: each is being measured, or was killed. */
enum status running_runs_read(struct database *database, const char *host, struct arena *arena,
                              struct run_list *runs, struct error *err) CHECK_RESULT;
/* The oldest untagged runs of that scenario that began before, limit of them at most. */
enum status old_health_runs_read(struct database *database, const char *scenario, int64_t before_ns,
                                 size_t limit, struct arena *arena, struct run_list *runs,
                                 struct error *err) CHECK_RESULT;
/* Delete the runs with everything that no other run has, in one transaction, from baselines too. */
enum status runs_delete(struct database *database, const struct run_list *runs,
                        struct error *err) CHECK_RESULT;
/* Which trials go, and how many did. */
struct trials_to_prune {
  int64_t before_ns; /* of runs that began before, since 1970 */
  const struct run_list *kept;
  bool keep_baselines; /* runs that a baseline names */
  bool dry_run;        /* only count */
  int64_t runs, trials;
};
/* Deletes them in one transaction and marks their runs. The database is open for writing. */
enum status trials_prune(struct database *database, struct trials_to_prune *prune,
                         struct error *err) CHECK_RESULT;
/* Write the file anew, without free pages. */
enum status database_compact(struct database *database, struct error *err) CHECK_RESULT;
/* A copy of a database that is open for reading, as it is read; a file at the path is refused. */
enum status database_write_copy(const struct database *database, const char *path,
                                struct error *err) CHECK_RESULT;

/* Give unused pages back to the file system where they are a quarter of the file or more (which
 * takes room for a copy of the rest); fewer are filled by later runs. *shrunk: it was done. */
enum status database_shrink(struct database *database, bool *shrunk,
                            struct error *err) CHECK_RESULT;
