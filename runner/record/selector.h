/* selector.h - finds the runs that a user names; sets and removes baselines.
 *
 *   run:ID      the run with that number, or whose UUID begins so (also without "run:")
 *   tag:NAME    the latest run with that tag
 *   driver:V    the latest run under that driver version or branch ("580.65.06", "r580")
 *   latest      the run that started last, but for those that measured some cases of another again
 *   previous    the one before it
 *   baseline:N  the runs that "haul baseline set N" named; as one run, the latest of them
 *
 * Where several runs can be meant (selector_find_all), tag:NAME and driver:V name all of theirs,
 * and a comma stands between names: "tag:monday,tag:tuesday". */
#pragma once

#include "engine/base/arena.h"
#include "runner/record/database.h"
#include "runner/record/rows.h"

#include <stdbool.h>

enum { RUN_UUID_MAX = 33 };

/* A run as every message names it, and as every command takes it: "run:" and the beginning of its
 * UUID, 24 random bits of which tell runs apart that nodes of a fleet start in one millisecond. For
 * printf(); select.sql has the same length. */
#define RUN_NAME "run:%.20s"

struct run_ref {
  int64_t id; /* run.id in this database */
  char uuid[RUN_UUID_MAX];
};
extern const struct row_member RUN_REF_MEMBERS[];

/* Whether the text is one of these forms, but for the beginning of a UUID without "run:", which may
 * as well be another word. */
bool selector_is_one(const char *text);
/* The NAME of one tag:NAME; NULL = it is another form, or several names. */
const char *selector_tag(const char *text);
/* Whether it is one name that selects new runs as well: tag:NAME or driver:V. */
bool selector_is_open(const char *text);

/* Whether it selects other runs once there are newer ones: a name in it is latest or previous. */
bool selector_moves(const char *text);

/* STATUS_NOT_FOUND: no such run; STATUS_INVALID: several, or no way to name a run. Both messages
 * list what there is. */
enum status selector_find(struct database *database, const char *selector, struct run_ref *run,
                          struct error *err) CHECK_RESULT;

/* The first run that a statement about a run gives; id 0 = there is none:
 *   select/repeat_of_run   that measured some cases of that one once more
 *   select/run_before      that started last before that one, of its scenario
 *   select/run_to_compare  the latest of the scenario of that run; run 0: of any scenario, but for
 *                          runs that measured no case */
enum status selector_find_related(struct database *database, const char *statement, int64_t run,
                                  struct run_ref *found, struct error *err) CHECK_RESULT;

/* "run:5 run:7" of that run and the same, but rather one with another tag or driver, if it has a
 * tag: runs of one tag and driver are repeats. "tag:before tag:after" where their tags differ; NULL
 * = there is none. */
enum status selector_find_sides(struct database *database, int64_t run, struct arena *arena,
                                const char **sides, struct error *err) CHECK_RESULT;

struct run_list {
  struct run_ref *runs; /* each once; in the arena */
  size_t count;
};
/* A statement once for each run of a list, which is its :run. */
enum status run_list_do(struct database *database, const char *name, const struct run_list *runs,
                        const struct parameter *parameters, struct error *err) CHECK_RESULT;

/* "1-6, 13" of one or more numbers of runs, which it sorts; the first of many. */
const char *selector_numbers(struct arena *arena, int64_t *ids, size_t count);

/* One name of them all: "run:5,run:7"; "" of none. */
const char *selector_join(struct arena *arena, const struct run_list *list);

/* As selector_find, for all runs that are meant; at least one. */
enum status selector_find_all(struct database *database, const char *selector, struct arena *arena,
                              struct run_list *list, struct error *err) CHECK_RESULT;

/* The runs of the fleet that was measured last, or of the one of its scenario before it; none where
 * there is no such fleet. */
enum status selector_find_fleet(struct database *database, bool before, struct arena *arena,
                                struct run_list *list, struct error *err) CHECK_RESULT;

/* The runs of the fleet of that name; NULL: the one that was measured last. */
enum status selector_find_named_fleet(struct database *database, const char *name,
                                      struct arena *arena, struct run_list *list,
                                      struct error *err) CHECK_RESULT;

/* Give a name to runs, in place of those that had it. *replaced: it had some. The database is open
 * for writing. */
enum status baseline_set(struct database *database, const char *name, const struct run_list *runs,
                         bool *replaced, struct error *err) CHECK_RESULT;
/* STATUS_NOT_FOUND with the names there are. */
enum status baseline_remove(struct database *database, const char *name,
                            struct error *err) CHECK_RESULT;
