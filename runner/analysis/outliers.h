/* outliers.h - compares each GPU, link and host with its peers: which one is slow, by how much,
 * where.
 *
 * A peer group: cases of one block whose definitions differ only in the numbers of GPUs and nodes,
 * on GPUs of one model, over paths of one kind (same or other node, number of NVLinks). A result is
 * the median process of a case on one machine.
 *
 * Paths between four or more GPUs of a host form a two-way table, in which every path has two GPUs:
 * a slow one is in half of the paths, so that their median would take it for usual. The table is
 * fitted as level + source + target + residual by median polish (robust.h): a slow GPU shows in its
 * own effect as source, as target, or as both, a slow link in the residual of its cell. Everything
 * else (paths to the host, within a GPU, and tables that are too small) is compared with the median
 * of its peer group, over all hosts.
 *
 * The observations of a GPU, link or host in one block, between the same kinds of memory and in one
 * class of sizes are combined: the median over its sizes. (A copy of pageable memory hardly depends
 * on the link: combined with it, a pinned one that does would be lost.) The combined value gets a
 * robust score among those of its peers (robust.h). What a slow host explains is not reported again
 * of its GPUs, nor what a slow GPU explains of its links.
 *
 * Where the combined value is fine but one result of a link, or of a GPU in itself, is slower than
 * its peers by more than OUTLIER_SINGLE_MARGINS margins and its robust z among all results of the
 * set is beyond OUTLIER_SINGLE_Z, that one is reported as slow by itself: of one size or kernel
 * only. Both limits are wide, since there are many more results than components, and false
 * positives must stay as rare.
 *
 * Where OUTLIER_FLEET_HOSTS hosts or more have results, they are a fleet: each result is also
 * compared with the same place on the other hosts (what all have in common of a place is taken out
 * first, so that a slot that is slower in every machine is no fault of one), nothing is slow of
 * which no result is slower than its place elsewhere by more than the margin, and false positives
 * are held to one in a hundred fleets instead of peer groups, as of changes always.
 *
 * Whether a host of a fleet is slow as a whole is one question. It has half of that error rate, and
 * its blocks answer it together, by the mean of its results in them: chance moves that less than
 * each block. As many of its slowest results as one GPU has are left out, since a bad GPU is no bad
 * host. Blocks may tell the same, as copies between GPUs depend on the GPUs as copies to the host
 * do, twice. So a block counts only if sound hosts differ less with it, the block in which they
 * differ least first. Of a host that is slow as a whole, each block is slow in which it is slower
 * by more than the margin.
 *
 * Changes have a zero: where they are at two levels, the one nearer to it is what is usual, and the
 * other is named, though most of the fleet is there.
 *
 * In a peer group of two nobody can tell which one is faulty: where they differ, the slower one is
 * `undecided`. So is the slower half of an even number of components of which each half is of one
 * mind: the gap between the halves is OUTLIER_HALVES_GAP times what differs within them. */
#pragma once

#include "runner/analysis/compare.h"

#define ENTITY_LIST(X) X(ENTITY_HOST, "host") X(ENTITY_GPU, "gpu") X(ENTITY_LINK, "link")
ENUM_NAMES_DECLARE(entity, ENTITY_LIST)

#define OUTLIER_SINGLE_MARGINS 5.0
#define OUTLIER_SINGLE_Z       (-10.0)
#define OUTLIER_HALVES_GAP     5.0
#define OUTLIER_ALONE_ALPHA    0.05
enum { OUTLIER_FLEET_HOSTS = 8 };

/* In which role a GPU is slow; ROLE_BOTH of a link: in each direction. */
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
  X(SIZES_NONE, "") /* all else */
ENUM_NAMES_DECLARE(size_class, SIZE_CLASS_LIST)

#define OUTLIER_STATE_LIST(X)                                                                      \
  X(OUTLIER_SLOW, "slow")                                                                          \
  X(OUTLIER_UNDECIDED, "undecided") /* slower than its only peer, or than the other half */        \
  X(OUTLIER_EXPLAINED, "explained") /* slow, as another row explains */                            \
  X(OUTLIER_FINE, "fine")
ENUM_NAMES_DECLARE(outlier_state, OUTLIER_STATE_LIST)

struct outlier {
  enum outlier_state state;
  enum entity entity;
  enum outlier_role role;
  const char *host;
  const char *name; /* "gpu3", "gpu3-numa0"; of a host its name */
  const char *uuid; /* of a GPU; NULL = not known or none */
  const char *block;
  const char *memory;  /* of both ends: "pinned to device"; "" = not known */
  bool memory_matters; /* the block was measured between other kinds as well */
  enum size_class sizes;
  bool single;                         /* one result is slow by itself: worst */
  double change;                       /* of the rate, against its peers */
  double source_change, target_change; /* of ROLE_BOTH where they were told apart; else NAN */
  double robust_z;
  size_t cases, slow_cases; /* slow_cases: slower than their peers by more than the margin */
  const char *paths;        /* of slow_cases, each once, ", " between; NULL = none is slow */
  size_t environment;       /* in results.environments */
  size_t worst;             /* in results.cases */
  double worst_change;
  size_t other;       /* of undecided: what it was compared with, in results.cases; else SIZE_MAX */
  const char *rivals; /* the faster half, "gpu0,gpu1", where name is the slower one; else NULL */
  int host_link;      /* the GPU whose way to the host this is; -1 = none */
  int gpus[2]; /* what it is made of, the lower number first; -1 = none: a GPU or its way to the
                  host has one */
  enum outlier_role direction; /* of a link as well */
  size_t verdict;              /* in outliers.verdicts; SIZE_MAX = none */
  /* Its cases while rows, verdicts and parts are made: several rows of one have a case in common.
   */
  const uint32_t *results;
};

/* What is slow, whatever the block: "gpu2's host link". */
struct outlier_verdict {
  enum outlier_state state; /* slow; undecided between two halves */
  enum entity entity;
  const char *host, *name;
  const char *rivals; /* as in struct outlier */
  int host_link;
  int gpus[2];
  size_t environment; /* in results.environments: where it was last seen */
  enum outlier_role direction;
  bool direction_is_vague; /* ROLE_BOTH, from what goes both ways at once alone */
  double change, least;    /* largest and smallest slowdown */
  size_t worst, mildest;   /* in results.cases: the one of each; SIZE_MAX = of several cases */
  size_t cases, slow_cases;
  const char *blocks; /* ", " between */
};

/* What to look at in a machine: one line for a GPU that is slow in all its ways, or for both
 * directions of a link. */
struct outlier_part {
  const char *host, *name;
  const char *uuid, *pci_address; /* of its GPU, ", " between two; NULL = of none, or not known */
  uint64_t gpus;      /* bit i: it is GPU i, or a link of all of them; 0 = the machine */
  size_t environment; /* in results.environments: where it was last seen */
  double change, least;
  size_t cases, slow_cases;
  const char *blocks;   /* ", " between */
  const char *evidence; /* checks that failed and what slowed results there; NULL = none */
  /* Of changes: at least two of its cases, and half of them, became slower by more than matters,
   * and one of them than on the other nodes, by a t test against how these differ that holds over
   * all cases and nodes (OUTLIER_ALONE_ALPHA). */
  bool certain;
};

/* A host in a block. */
struct outlier_cell {
  size_t cases;  /* with a result */
  size_t worst;  /* in results.cases: the one that is slowest, as its margin has it */
  double change; /* of its rate against its peers, relative */
  double margin;
  bool slow; /* something there is slow */
};

/* Whether the case measures the part. */
bool outliers_part_has(const struct outlier_part *part, const struct results_case *bench);

struct outliers {
  struct arena arena;
  /* By finding; the slowest first. */
  struct outlier *rows;
  size_t row_count;
  size_t slow_count, undecided_count;
  struct outlier_verdict *verdicts; /* slow ones first */
  size_t verdict_count;
  size_t cases;         /* judged */
  size_t hosts;         /* with results */
  size_t without_peers; /* not judged: fewer than three in the peer group */
  size_t small_tables;  /* of three GPUs: one that is slow to both others is not found there */
  bool is_fleet;        /* of OUTLIER_FLEET_HOSTS or more */
  /* What is slow, the slowest first. */
  struct outlier_part *parts;
  size_t part_count;
  /* With options.cells: by host, in the order of host_names, then block. */
  struct outlier_cell *cells;
  const char **host_names, **blocks;
  double *usual; /* by block; of changes: what the middle host's is, relative */
  size_t block_count;
};

struct outliers_options {
  bool latest_only; /* of each case on each machine the latest run counts, else all are pooled */
  bool slow_only;   /* no rows of what is fine */
  bool cells;
  const enum side *sides; /* by run: only those of SIDE_B are looked at; NULL = all */
  bool changes;  /* needs sides: instead of rates, what of them changed from A to B is compared */
  double margin; /* as compare_options.margin */
};

/* STATUS_INVALID: real and simulated results together. *outliers is set on success. */
enum status outliers_find(const struct results *results, const struct outliers_options *options,
                          struct outliers **outliers, struct error *err) CHECK_RESULT;
/* Accepts NULL. */
void outliers_free(struct outliers *outliers);
