/* results.h - the results that comparisons read: runs, their environments, cases, and one median
 * per case and process. Trials are never read.
 *
 * struct results owns everything and does not change after results_load(). Cases with the same
 * case_key are adjacent. */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/enum_names.h"
#include "engine/base/error.h"
#include "engine/case/enums.h"
#include "runner/record/selector.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct database;
struct strbuf;

struct results_fact {
  const char *name;
  int gpu;           /* -1 = the whole machine */
  const char *value; /* NULL = no answer */
};

struct results_gpu {
  int number;
  const char *uuid; /* NULL = not known */
  const char *name;
  int numa_node;           /* -1 = not known */
  const char *pci_address; /* NULL = not known */
};

struct results_link {
  int source, target; /* numbers of GPUs */
  bool peer_access;
  int nvlink_count;
};

struct results_environment {
  int64_t id;
  bool simulated;
  const char *host_name;
  const char *node;           /* what tells machines apart: the launcher's name, else the host's */
  const char *driver_version; /* NULL = none */
  const char *boot_id;        /* NULL = not known */
  /* The columns of environment (gpu -1) and all of environment_fact. A name stands once per GPU. */
  struct results_fact *facts;
  size_t fact_count;
  struct results_gpu *gpus;
  size_t gpu_count;
  struct results_link *links;
  size_t link_count;
};

struct results_run {
  struct run_ref ref;
  const char *tag; /* NULL = none */
  const char *scenario;
  const char *only; /* NULL = none */
  const char *origin;
  const char *argv; /* the words of its command, as JSON; NULL = not known */
  const char *haul_version;
  const char *fleet;       /* NULL = a run of its own */
  const char *slurm_nodes; /* "n[1-8]": where Slurm started the fleet; NULL = it did not */
  int64_t started_at_ns;
  unsigned processes;   /* asked for */
  unsigned looks, look; /* of haul run --decide; else 0 */
  int64_t repeats;      /* the run of which it measured some cases once more; 0 = none */
  size_t environment;   /* in results.environments */
  size_t selector;      /* for the caller: by which name the run was asked for */
};

struct results_flow {
  bool load; /* not counted */
  bool source_is_gpu, target_is_gpu;
  int source, target; /* numbers of GPUs or NUMA nodes; -1 = none */
  const char *source_memory, *target_memory;
};

struct results_case {
  int64_t id; /* bench_case.id */
  const char *key;
  const char *definition;
  const char *block, *name, *axes, *path;
  const char *aliases; /* names and blocks of the settings that come to it, in lines; NULL = none */
  enum figure figure;
  const char *method; /* "ce"; of an overhead its operation, of a chase "chase" */
  uint64_t units;     /* of the figure in one iteration: bytes, hops; else 1 */
  uint64_t size_bytes;
  const struct results_flow *flows;
  size_t flow_count;
  uint64_t gpus;  /* bit i: GPU i has a part in it */
  size_t gpu_set; /* of results.hardware: that of the cases with the same GPUs */
  /* Smallest change that matters, relative: of the runs with this case_key, what the one started
   * last says of those whose scenarios say it. 0 = none does. */
  double delta;
};

struct results_median {
  uint32_t run;    /* in results.runs */
  uint32_t bench;  /* in results.cases */
  int64_t process; /* process.id; 0 = skipped */
  double ns;       /* of one iteration; NAN = the case went wrong */
  double error;    /* results_load_errors(): standard error of ns from its trials, relative; 0 = not
                      known */
  double tail;     /* as error: 95th percentile of the trials over the median; 0 = not known */
  /* results_load_undisturbed(): the undisturbed rate of several visits; 0 = there is none. Of one
   * visit it is ns. */
  double undisturbed_ns;
  enum case_status status;
  bool above_peak; /* faster than its peak allows: not to be compared with others */
};

/* Why such a median is not compared. */
#define RESULTS_ABOVE_PEAK                                                                         \
  "above its peak: a cache served the bytes, they did not move, or the peak is wrong"

/* Whether anything may be concluded from the number. */
static inline bool results_counts(const struct results_median *median) {
  return !isnan(median->ns) && !median->above_peak;
}

#define CONDITION_LIST(X)                                                                          \
  X(CONDITION_SLOWED, "slowed_by")                                                                 \
  X(CONDITION_CHECK, "check")           /* that failed */                                          \
  X(CONDITION_INCOMPLETE, "incomplete") /* the run was interrupted, failed or has not ended */
ENUM_NAMES_DECLARE(condition, CONDITION_LIST)

/* What of a run may explain a difference. */
struct results_condition {
  size_t run; /* in results.runs */
  enum condition kind;
  const char *text;
  const char *brief; /* without the amount in which runs that were slowed alike differ */
  int gpu;           /* -1 = of none */
  unsigned results;  /* of the run that were slowed */
  int64_t run_id;
};

struct results {
  struct arena arena;
  struct results_run *runs;
  size_t run_count;
  struct results_environment *environments;
  size_t environment_count;
  struct results_case *cases;
  size_t case_count;
  uint32_t *case_numbers; /* by bench_case.id, below case_ids_end: from 1 in cases; 0 = not there */
  int64_t case_ids_end;
  size_t plan_count; /* of runs and cases in their plans, with those that are not among the cases */
  /* By environment, then set of GPUs, of results_load(); NULL = it is found for each result. */
  const uint64_t *hardware;
  size_t gpu_set_count;
  /* In the order of cases, runs' ids, processes. */
  struct results_median *medians;
  size_t median_count;
  bool has_errors; /* results_load_errors() */
  struct results_condition *conditions;
  size_t condition_count;
};

/* Whether a fake driver answered. */
static inline bool results_run_is_simulated(const struct results *results, size_t run) {
  return results->environments[results->runs[run].environment].simulated;
}

/* An empty one; results_free() accepts NULL. */
struct results *results_new(void);
void results_free(struct results *results);

/* Add runs with their environments; one that is there already is not added again. */
enum status results_add_runs(struct results *results, struct database *database,
                             const struct run_ref *runs, size_t count,
                             struct error *err) CHECK_RESULT;
/* Adds those runs, measured by haul, of the machine of a run of other that began before that time
 * and are not in other: the latest RESULTS_EARLIER_MAX, in the order they were started. */
enum { RESULTS_EARLIER_MAX = 60 };
enum status results_add_earlier_runs(struct results *results, struct database *database,
                                     const struct results *other, size_t run, int64_t before_ns,
                                     struct error *err) CHECK_RESULT;
/* Every run, in the order they were started. */
enum status results_add_all_runs(struct results *results, struct database *database,
                                 struct error *err) CHECK_RESULT;
/* Keep those runs for which keep() is true. Before results_load(). */
void results_keep_runs(struct results *results,
                       bool (*keep)(const struct results *, size_t run, const void *context),
                       const void *context);
/* Such a keep(): haul measured the run, it was not imported. context is not used. */
bool results_run_is_own(const struct results *results, size_t run, const void *context);
/* Another: its driver's version is the context, a text. */
bool results_run_has_driver(const struct results *results, size_t run, const void *context);
/* Cases of the runs and their medians. only: globs of names of cases or blocks, or case_keys, those
 * of settings that come to a case included; NULL = all. */
enum status results_load(struct results *results, struct database *database, const char *only,
                         struct error *err) CHECK_RESULT;
/* After it, the error and the tail of each median, which its index does not have. */
enum status results_load_errors(struct results *results, struct database *database,
                                struct error *err) CHECK_RESULT;
/* After it, undisturbed_ns of medians of several visits. */
enum status results_load_undisturbed(struct results *results, struct database *database,
                                     struct error *err) CHECK_RESULT;
/* How long cases of the runs took in one process, by case_key, which is sorted; the first one, if
 * it is empty, is what a process took beside its cases. Means. */
struct results_duration {
  const char *case_key;
  double ns;
  unsigned runs; /* that have a result of it */
};
enum status results_read_durations(const struct results *results, struct database *database,
                                   struct arena *arena, struct results_duration **durations,
                                   size_t *count, struct error *err) CHECK_RESULT;
/* The runs' ids as JSON, "[1,2,3]", of at most RESULTS_LIST_MAX bytes. */
enum { RESULTS_LIST_MAX = 64 << 20 };
void results_run_ids(const struct results *results, struct strbuf *list);
/* Whether results_load() would take the case with that `only`. */
bool results_case_matches(const struct results_case *bench, const char *only);
/* Why a case has no result in a run: "hung: no answer for 10 s". Owned by measured; NULL = it has
 * none that is not ok. */
enum status results_reason(struct results *results, struct database *database, size_t run,
                           size_t bench, const char **reason, struct error *err) CHECK_RESULT;

/* The ordinal of a process in its run, by process.id; -1 = there is no such process. */
enum status results_process_ordinal(struct database *database, int64_t process, int *ordinal,
                                    struct error *err) CHECK_RESULT;

/* Facts by name: the environment's, and of the run itself "tag", "scenario", "haul_version" and
 * "origin". Of a fact that every GPU has, all different values, ", " between. NULL = no answer, or
 * no such fact. */
const char *results_run_fact(struct results *results, size_t run, const char *name);
/* Whether any run has a fact of that name; nearest and the names are for the message. */
bool results_knows_fact(struct results *results, const char *name);
/* Every name once, sorted; NULL-terminated, owned by measured. */
const char *const *results_fact_names(struct results *results);

/* UUIDs of the GPUs that have a part in the case, or the host's name where none has: the hardware
 * that the median is of. 0 = not known. */
uint64_t results_hardware(const struct results *results, size_t run, size_t bench);
