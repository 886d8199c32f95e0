/* outliers_internal.h - what the files of outliers.h share, in the order of the work: results of
 * cases, observations of components of the machine, findings. */
#ifndef HAUL_RUNNER_ANALYSIS_OUTLIERS_INTERNAL_H
#define HAUL_RUNNER_ANALYSIS_OUTLIERS_INTERNAL_H

#include "runner/analysis/internal.h"
#include "runner/analysis/outliers.h"

/* The path that all flows of a case take. */
struct path {
  bool known;            /* false: they take several */
  bool bidirectional;    /* in both directions at once */
  bool from_gpu, to_gpu; /* false: a NUMA node */
  int from, to;
};

/* One case on one machine, over all processes of the selected runs. */
struct result {
  size_t bench, environment; /* the latest */
  uint32_t host;             /* the first environment with that name */
  uint64_t peer_group;
  struct path path;
  const char *memory;         /* of both ends: "pinned to device"; "" = not known */
  const char *reverse_memory; /* the same in the other direction */
  enum size_class sizes;
  double rate;      /* ln of 1 / ns */
  double noise;     /* its standard error, ln; 0 = not known */
  double margin;    /* relative */
  double deviation; /* from its peers, ln; NAN = it has none */
};

/* A component of the machine. */
struct component {
  enum entity entity;
  enum outlier_role role;
  uint32_t host;
  const char *block;
  const char *memory, *reverse_memory;
  enum size_class sizes;
  bool of_two;      /* compared with its only peer */
  bool fitted;      /* by median polish */
  struct path path; /* of a GPU: its number in from, the rest 0 */
};

/* What one peer group tells of one component. */
struct observation {
  struct component component;
  double value;        /* ln, against its peers */
  double noise;        /* its standard error; 0 = not known */
  double margin;       /* relative */
  double fitted_share; /* of a fitted ENTITY_LINK: parameters of the fit per cell */
  size_t cases, slow_cases;
  size_t environment, worst, other;
  double worst_deviation;
};

struct finder {
  const struct measured *measured;
  struct outliers *outliers;
  struct result *results; /* in the order of peer groups and hosts */
  size_t result_count, result_capacity;
  struct observation *observations;
  size_t observation_count, observation_capacity;
  size_t row_capacity;
  struct arena arena; /* of all that is dropped at the end */
};

bool path_is_between_gpus(const struct path *path);
bool result_is_slow(const struct result *result); /* by more than the margin */

/* outliers_observations.c: compares each result with its peers; fills observations. */
void outliers_observe(struct finder *f);
/* outliers_findings.c: combines the observations of each component, judges them, and makes rows. */
void outliers_judge(struct finder *f);

#endif
