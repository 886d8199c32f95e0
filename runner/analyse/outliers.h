/* outliers.h - each GPU, link and host against its like: which one is slow, by how much, where.
 *
 * Like is like: cases of one block whose definitions differ only in the numbers of GPUs and nodes,
 * on GPUs of one model, over paths of one kind (same or other node, number of NVLinks). A result is
 * the median process of a case on one machine.
 *
 * Paths between four or more GPUs of a host are a table, and every path has two GPUs: one that is
 * slow is in half of them, so that a median over the paths would take it for what is usual. The
 * table is fitted as level + source + target + rest by medians (polish.h): a GPU that is slow shows
 * in its own effect as source, as target, or as both, and a slow link in the rest of its cell.
 * Everything else (paths to the host, within a GPU, and tables that are too small) is compared with
 * the median of its like, over all hosts.
 *
 * What was found of a GPU, link or host in one block, between the same kinds of memory and in one
 * class of sizes is taken together: the middle over its sizes. (A copy of pageable memory hardly
 * depends on the link: with it, a pinned one that does would be lost.) That is judged against the
 * same of all others (stand_out.h). What a slow host explains is not said again of its GPUs, nor
 * what a slow GPU explains of its links.
 *
 * Where the middle is fine but one result of a link, or of a GPU in itself, is slower than its like
 * by more than OUTLIER_SINGLE_MARGINS margins and stands out among all results of the set with a z
 * beyond OUTLIER_SINGLE_Z, that one is slow by itself: of one size or kernel only. Both are wide,
 * since there are many more results than parts, and false alarms must stay as rare.
 *
 * Of two that are alike nobody can tell which one is not as it should be: where they differ, the
 * slower one is `undecided`. */
#ifndef HAUL_RUNNER_ANALYSE_OUTLIERS_H
#define HAUL_RUNNER_ANALYSE_OUTLIERS_H

#include "runner/analyse/compare.h"

#define ENTITY_LIST(X) X(ENTITY_HOST, "host") X(ENTITY_GPU, "gpu") X(ENTITY_LINK, "link")
ENUM_NAMES_DECLARE(entity, ENTITY_LIST)

#define OUTLIER_SINGLE_MARGINS 5.0
#define OUTLIER_SINGLE_Z       (-10.0)

/* In what a GPU is slow; of a link, whether in one direction or in each by itself. */
#define OUTLIER_ROLE_LIST(X)                                                                       \
  X(ROLE_NONE, "")                                                                                 \
  X(ROLE_SOURCE, "source")                                                                         \
  X(ROLE_TARGET, "target")                                                                         \
  X(ROLE_BOTH, "both")                                                                             \
  X(ROLE_LOCAL, "local") /* its own memory, or its own SMs */
ENUM_NAMES_DECLARE(outlier_role, OUTLIER_ROLE_LIST)

#define SIZE_CLASS_LIST(X)                                                                         \
  X(SIZES_LARGE, "from 1MiB") /* of bandwidth */                                                   \
  X(SIZES_SMALL, "below 1MiB")                                                                     \
  X(SIZES_NONE, "") /* of all else */
ENUM_NAMES_DECLARE(size_class, SIZE_CLASS_LIST)

#define FINDING_LIST(X)                                                                            \
  X(FINDING_SLOW, "slow")                                                                          \
  X(FINDING_UNDECIDED, "undecided") /* slower than the only other one like it */                   \
  X(FINDING_EXPLAINED, "explained") /* slow, by a row of what it is part of */                     \
  X(FINDING_FINE, "fine")
ENUM_NAMES_DECLARE(finding, FINDING_LIST)

struct outlier {
  enum finding finding;
  enum entity entity;
  enum outlier_role role;
  const char *host;
  const char *name; /* "gpu3", "gpu3-numa0"; of a host its name */
  const char *uuid; /* of a GPU; NULL = not known or none */
  const char *block;
  const char *memory; /* of both ends: "pinned to device"; "" = not known */
  enum size_class sizes;
  bool single;                         /* one result is slow by itself: worst */
  double change;                       /* of the rate, against its like */
  double source_change, target_change; /* of ROLE_BOTH where they were told apart; else NAN */
  double z;
  size_t cases, slow_cases; /* slow_cases: slower than their like by more than the margin */
  const char *paths;        /* those of slow_cases, each once, ", " between; NULL = none is */
  size_t worst;             /* in measured.cases */
  double worst_change;
  size_t other; /* of undecided: what it was compared with, in measured.cases; else SIZE_MAX */
};

struct outliers {
  struct arena arena;
  /* By finding; the slowest first. */
  struct outlier *rows;
  size_t row_count;
  size_t slow_count, undecided_count;
  size_t cases;        /* judged */
  size_t alone;        /* not judged: fewer than three alike */
  size_t small_tables; /* paths between three GPUs: one slow to both others hides there */
};

/* STATUS_INVALID: real and simulated results together. *outliers is set on success. */
enum status outliers_find(const struct measured *measured, struct outliers **outliers,
                          struct error *err) CHECK_RESULT;
/* Accepts NULL. */
void outliers_free(struct outliers *outliers);

#endif
