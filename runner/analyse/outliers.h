/* outliers.h - each GPU, link and host against its like: which one is slow, by how much, where.
 *
 * Like is like: cases of one block whose definitions differ only in the numbers of GPUs and nodes,
 * on GPUs of one model, over paths of one kind (same or other node, number of NVLinks). A case's
 * rate (its median process) is compared with the median of its like; what it is off is divided by
 * the robust spread of the like (1.4826 median absolute deviation, never below
 * OUTLIERS_SPREAD_MIN).
 *
 * A GPU, link or host is judged block by block, by the middle one of its cases there: it is slow
 * where its z is at most -OUTLIERS_Z (Iglewicz and Hoaglin 1993, "How to Detect and Handle
 * Outliers": 3.5) and a case is that slow by more than the margin of diff.h. What a slow host
 * explains is not said again of its GPUs, nor what a slow GPU explains of its links. */
#ifndef HAUL_RUNNER_ANALYSE_OUTLIERS_H
#define HAUL_RUNNER_ANALYSE_OUTLIERS_H

#include "runner/analyse/compare.h"

#define OUTLIERS_Z          3.5
#define OUTLIERS_SPREAD_MIN 0.002 /* two processes of a quiet machine differ by about that much */
enum { OUTLIERS_LIKE_MIN = 3 };   /* with two there is no telling which one is slow */

#define ENTITY_LIST(X) X(ENTITY_HOST, "host") X(ENTITY_GPU, "gpu") X(ENTITY_LINK, "link")
WORDS_DECLARE(entity, ENTITY_LIST)

struct outlier {
  enum entity entity;
  const char *host;
  const char *name; /* "gpu3", "gpu3-numa0"; of a host its name */
  const char *uuid; /* of a GPU; NULL = not known or none */
  const char *block;
  double change; /* of the rate, against its like */
  double z;
  size_t cases, slow_cases;
  size_t worst; /* in measured.cases */
  double worst_change;
  bool slow;
  bool explained; /* by a row of what it is part of */
};

struct outliers {
  struct arena arena;
  /* Those that are slow and not explained first, slowest first. */
  struct outlier *rows;
  size_t row_count;
  size_t slow_count; /* not explained */
  size_t cases;      /* judged */
  size_t alone;      /* not judged: fewer than OUTLIERS_LIKE_MIN alike */
};

/* STATUS_INVALID: real and simulated results together. *outliers is set on success. */
enum status outliers_find(const struct measured *measured, struct outliers **outliers,
                          struct error *err) CHECK_RESULT;
/* Accepts NULL. */
void outliers_free(struct outliers *outliers);

#endif
