/* outliers_state.h - what the files of outliers.h share while they look: results first, then what
 * was seen of every part of the machine, then rows. */
#ifndef HAUL_RUNNER_ANALYSE_OUTLIERS_STATE_H
#define HAUL_RUNNER_ANALYSE_OUTLIERS_STATE_H

#include "runner/analyse/outliers.h"

enum { OUTLIERS_GPUS_MAX = 64 }; /* bits of measured_case.gpus */

/* The one way that all flows of a case take. */
struct way {
  bool known;            /* else they take several */
  bool both;             /* in both directions at once */
  bool from_gpu, to_gpu; /* else a node */
  int from, to;
};

/* One case on one machine: what all processes of the selected runs agree on. */
struct result {
  size_t bench, environment; /* the latest */
  uint32_t host;             /* the first environment with that name */
  uint64_t likeness;
  struct way way;
  const char *memory;      /* of both ends: "pinned to device"; "" = not known */
  const char *memory_back; /* the same of the way back */
  enum size_class sizes;
  double rate;   /* ln of 1 / ns */
  double noise;  /* standard error of it, ln; 0 = not known */
  double margin; /* relative */
  double off;    /* against its like; NAN = there is none */
};

/* A part of the machine that results are about. */
struct part {
  enum entity entity;
  enum outlier_role role;
  uint32_t host;
  const char *block;
  const char *memory, *memory_back;
  enum size_class sizes;
  bool of_two;    /* seen against the only other one */
  bool fitted;    /* seen in a fitted table */
  struct way way; /* of a GPU: its number in from, the rest 0 */
};

/* What one set of results that are alike says of a part. */
struct sight {
  struct part part;
  double value;        /* ln, against its like */
  double noise;        /* standard error; 0 = not known */
  double margin;       /* relative */
  double fitted_share; /* of ENTITY_LINK in a table: parameters of the fit a cell */
  size_t cases, slow_cases;
  size_t environment, worst, other;
  double worst_off;
};

struct finder {
  const struct measured *measured;
  struct outliers *outliers;
  struct result *results;
  size_t result_count, result_capacity;
  struct sight *sights;
  size_t sight_count, sight_capacity;
  size_t row_capacity;
  struct arena arena; /* of what is not kept */
};

/* outliers_results.c: fills results, in the order of likeness and host. */
void outliers_read(struct finder *f);
bool way_between_gpus(const struct way *way);
bool result_is_slow(const struct result *result); /* by more than the margin */
void *outliers_array(size_t count, size_t size_bytes);

/* outliers_sights.c: what sets of results that are alike say; fills sights. */
void outliers_look(struct finder *f);
void outliers_add_sight(struct finder *f, const struct sight *sight);
/* outliers_table.c: the same of the paths between the GPUs of one host, by a fit; false = the table
 * is too small. *level is that of the host. */
bool outliers_look_at_table(struct finder *f, struct result *results, size_t count, double *level);

/* outliers_rows.c: takes the sights of each part together, judges them, and makes rows. */
void outliers_judge(struct finder *f);

#endif
