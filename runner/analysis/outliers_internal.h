/* outliers_internal.h - what the files of outliers.h share, in the order of the work: results of
 * cases, observations of components of the machine, findings. */
#pragma once

#include "runner/analysis/compare_internal.h"
#include "runner/analysis/outliers.h"
#include "runner/statistics/robust.h"

/* The path that all flows of a case take. */
struct path {
  bool known;            /* false: they take several */
  bool bidirectional;    /* in both directions at once */
  bool from_gpu, to_gpu; /* false: a NUMA node */
  int from, to;
};

/* What is the same of a case on every machine. Equal texts are one pointer, in all cases. */
struct case_traits {
  uint64_t definition; /* hash, without places */
  uint32_t place;      /* the first case with its case_key */
  uint32_t set;        /* of cases with its block, memory and sizes: in the order of these */
  const char *block;
  struct path path;
  const char *memory;         /* of both ends: "pinned to device"; "" = not known */
  const char *reverse_memory; /* the same in the other direction */
  enum size_class sizes;
  double margin; /* relative */
};

/* One case on one machine, over all processes of the selected runs. */
struct result {
  const struct case_traits *traits;
  uint32_t bench, environment; /* the latest */
  uint32_t host;               /* the first environment with that name */
  uint64_t peer_group;
  double rate;      /* ln of 1 / ns; where many hosts tell, without what is usual of its place */
  double noise;     /* its standard error, ln; 0 = not known */
  double error;     /* the same from trials alone: the least that it is */
  double deviation; /* from its peers, ln; NAN = it has none */
};

/* A component of the machine. */
struct component {
  enum entity entity;
  enum outlier_role role;
  uint32_t host;
  bool of_two;                      /* compared with its only peer */
  bool fitted;                      /* by median polish */
  struct path path;                 /* of a GPU: its number in from, the rest 0 */
  const struct case_traits *traits; /* of one of its cases, which are of one set */
};

/* What one peer group tells of one component. */
struct observation {
  struct component component;
  double value;        /* ln, against its peers */
  double noise;        /* its standard error; 0 = not known */
  double error;        /* the least that it is */
  double margin;       /* relative */
  double fitted_share; /* of a fitted ENTITY_LINK: parameters of the fit per cell */
  size_t fit_cells;    /* of a fitted ENTITY_GPU: that have its effect, at least 1 */
  size_t cases, slow_cases;
  size_t environment, worst, other;
  double worst_deviation;
};

/* All observations of one component. */
struct candidate {
  struct observation observation; /* value, noise and cases of all combined */
  double scatter; /* of the value, from the differences of the observations; 0 = unknown */
  struct robust_score score;
  const struct observation *observations; /* the lowest first */
  size_t observation_count;
  enum outlier_state state;
  enum outlier_role role;
  double source_change, target_change; /* ln; of ROLE_BOTH, merged of two; else NAN */
  bool judged;                         /* its set is large enough */
  bool merged;                         /* into another candidate */
  bool single;                         /* only its worst observation is low */
  /* Of the slower half of a set, where which half is slow cannot be told; else NULL, 0. */
  struct candidate **peers, **rivals; /* both halves, each of `half` */
  size_t half;
  double difference; /* ln, of the halves' medians */
};

struct finder {
  const struct results *results;
  const struct outliers_options *options;
  const struct case_traits *traits; /* by case */
  const uint32_t *hosts;            /* by environment: the first with its name */
  struct outliers *outliers;
  struct result *host_results; /* in the order of peer groups and hosts */
  size_t host_result_count;
  struct observation *observations; /* with memory of its own: there are many */
  size_t observation_count;
  uint64_t *topologies;            /* by environment: hash of its GPUs and links */
  struct found_group *peer_groups; /* by case */
  struct arena arena;              /* of all that is dropped at the end */
};

static inline bool path_is_between_gpus(const struct path *path) {
  return path->known && path->from_gpu && path->to_gpu && path->from != path->to;
}
/* Within a GPU. */
static inline bool path_is_local(const struct path *path) {
  return path->known && path->from_gpu && path->to_gpu && path->from == path->to;
}
/* The same ends in the same order. */
static inline bool path_has_ends(const struct path *path, const struct path *other) {
  return path->from_gpu == other->from_gpu && path->from == other->from &&
         path->to_gpu == other->to_gpu && path->to == other->to;
}
static inline struct path path_back(struct path path) {
  return (struct path){path.known, path.bidirectional, path.to_gpu, path.from_gpu,
                       path.to,    path.from};
}
/* NULL = there is no GPU of that number, which may be -1. */
const struct results_gpu *outliers_gpu(const struct results_environment *e, int number);
bool result_is_slow(const struct result *result); /* by more than the margin */
/* What is usual among rates, the median, or among changes (robust_usual_change()). */
double outliers_usual(const struct finder *f, const double *values, size_t count);
/* By options.sides. */
bool outliers_takes_run(const struct finder *f, size_t run);
bool result_is_chase(const struct results_case *bench);

/* What a result tells of a component that the caller sets. */
struct observation result_observation(const struct result *result);

/* outliers_observations.c: compares each result with its peers; fills observations. */
void outliers_observe(struct finder *f);
/* outliers_findings.c: combines the observations of each component, and judges them. */
void outliers_judge(struct finder *f);
/* outliers_hosts.c: after all sets were judged, marks as slow the blocks of hosts that are slow as
 * a whole and there by more than the margin. tests: that share ROBUST_ALPHA. */
struct candidate_set { /* candidates that are judged together: of one entity */
  struct candidate *candidates;
  size_t count;
};
void outliers_judge_hosts(struct finder *f, const struct candidate_set *sets, size_t set_count,
                          size_t tests);
/* outliers_rows.c: rows of what was judged, and verdicts over all blocks. */
struct case_counts {
  size_t cases, slow_cases;
};
/* Adds the cases of a row that are not marked with that number, and marks them. marks: by result.
 */
void outliers_count_row(const struct finder *f, const struct outlier *row, uint32_t number,
                        uint32_t *marks, struct case_counts *counts);
void outliers_make_rows(struct finder *f, struct candidate *candidates, size_t count);
/* outliers_fleet.c: the parts of a fleet, and cells. */
void outliers_make_parts(struct finder *f);
void outliers_make_cells(struct finder *f);
