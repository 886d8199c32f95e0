/* place.h - the selectors of a scenario, matched with what a machine has.
 *
 *   gpu   by index in PCI order, or by UUID or the beginning of one, which comes to the index: what
 *         is measured is the case of that index. "*" = every GPU that CUDA can see.
 *   numa  by the operating system's node number. "*" = every node with processors and memory:
 *         memory-only nodes (CXL, the GPU's own memory on GH200 and GB200) are measured when they
 *         are named, as what they are: a node that is GPU memory has that GPU's peaks (bound.h).
 *   local, remote: seen from the GPU at the other end. local = the node nearest to it (numa_node);
 *         where that is not known and there is only one node, that one. remote = every other node
 *         that "*" would give.
 *
 * What is not there is no error: it is left out, and a reason for a person says so. */
#pragma once

#include "engine/base/strbuf.h"
#include "engine/case/transfer.h"
#include "engine/machine/limits.h"
#include "schema/scenario/selector.h"

struct endpoint_setting; /* schema/scenario/setting.h */
struct machine;

enum { PLACES_MAX = MACHINE_NODES_MAX };

struct place_list {
  int32_t indices[PLACES_MAX]; /* ascending */
  size_t count;
};

/* True for local and remote, which need a GPU at the other end. */
bool place_is_relative(const struct selector *selector);

/* Fill list. near_gpu is the GPU at the other end, used for local and remote only. reason is
 * emptied, or says what of the selector this machine does not have; list then holds the rest. */
void place_resolve(const struct endpoint_setting *end, const struct machine *machine,
                   int32_t near_gpu, struct place_list *list, char reason[CASE_REASON_MAX]);

/* That end at the place of that index. */
struct endpoint place_endpoint(const struct endpoint_setting *end, int32_t index);

/* True when node has processors, so that host threads can run there. */
bool place_has_processors(const struct machine *machine, int32_t node);

/* The node with processors that is nearest to the GPU, or -1: not known. */
int32_t place_near_gpu(const struct machine *machine, int32_t gpu);
/* The node with processors that is farthest from the other, the first of several; -1: none. */
int32_t place_far_node(const struct machine *machine, int32_t node);

/* Put an index where it belongs among ascending ones, unless it is there already. */
void place_insert(int32_t *indices, size_t *count, int32_t index);
/* Ascending indices in short: "0..3,6" with ".." for through. */
void place_format_indices(const int32_t *indices, size_t count, const char *through,
                          struct strbuf *text);
/* The selector as asked for, as part of a path: "gpu.all", "gpu7", "numa.local". */
void place_format_asked(const struct endpoint_setting *end, struct strbuf *text);

/* What is shuffled: the seeds of two shuffles differ. */
enum shuffle { SHUFFLE_PLACES, SHUFFLE_STEPS, SHUFFLE_COPIES };
/* The i-th number of a shuffle, which follows from the scenario's seed. */
uint64_t place_random(uint64_t i, enum shuffle which, uint64_t seed);

/* ---- pairs: the pairs of places that two ends come to, and which of them are wanted ---- */

enum { PAIRS_MAX = PLACES_MAX * PLACES_MAX, COMPLAINTS_MAX = MACHINE_GPUS_MAX + 2 };

struct pair {
  int32_t from, to;
};

/* Something that was asked for and is not there. near_gpu: the GPU for which it is not, or -1. */
struct place_complaint {
  int32_t near_gpu;
  char reason[CASE_REASON_MAX];
};

/* Large: not for the stack. */
struct pair_set {
  const struct machine *machine;
  size_t pair_count;
  struct pair pairs[PAIRS_MAX];
  bool dropped[PAIRS_MAX]; /* scratch */
  size_t complaint_count;
  struct place_complaint complaints[COMPLAINTS_MAX];
};

struct pair_rule {
  bool equal;   /* (a, a) is wanted */
  bool unequal; /* (a, b) is wanted */
  bool once;    /* of (a, b) and (b, a) only the first */
  /* Not 0: of those that are wanted only so many out of each place, and as many into it; with
   * `once` so many with it. */
  uint32_t samples;
  uint64_t seed;        /* decides which */
  const char *if_equal; /* where all are (a, a) and not wanted: what to write; NULL = nothing */
};

/* from x to, each resolved as place.h says; what is missing becomes complaints. */
void pairs_resolve(struct pair_set *x, const struct endpoint_setting *from,
                   const struct endpoint_setting *to);
/* Drop the pairs that the rule does not want; ends of different kinds are all unequal. The reason
 * is set where none is left. */
void pairs_apply(struct pair_set *x, enum place from, enum place to, struct pair_rule rule,
                 char reason[CASE_REASON_MAX]);
/* Replace the pairs by a ring or by a bisection of their places; none and the reason where the ends
 * are of different kinds or there are too few places. */
void pairs_make_pattern(struct pair_set *x, enum place from, enum place to, enum concurrent pattern,
                        char reason[CASE_REASON_MAX]);
