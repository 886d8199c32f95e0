/* plan.h - scenario x machine: every case that will be measured, and every one that cannot be, with
 * its reason. Once made it changes no more, but for plan_skip_rest(). Knows neither CUDA nor
 * SQLite.
 *
 * How it is made, and where the rules stand:
 *   kind.h        what differs between the kinds of case: one table and one file each, kind_KIND.c
 *   place.h       selectors -> GPUs and NUMA nodes of this machine, and pairs of them
 *   expand.h      one setting -> its cases; of transfers (direction, initiator, concurrent, loads)
 *                 kind_transfer.c
 *   name.h        path and name
 *   definition.h  what makes two cases the same measurement: definition and case_key
 *   skipped.c     why a case cannot run here, and such reasons, each once
 *   bound.h       payload, traffic, and the peak that the hardware allows
 *   estimate.h    how long it takes
 *   plan.c        puts the cases in order, each once, with names of their own
 *
 * Order: as in the file (blocks, then settings with the last axis fastest, then pairs), or with
 * order = "shuffled" ascending by XXH3-64(case_key, seed). So one seed gives one order on every
 * machine and under every driver, and cases that are left out (--only, skipped) do not move the
 * others. Every process of a run has the same order. */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/case/case.h"

struct machine;
struct scenario;
struct setting; /* schema/scenario/setting.h */

enum { PLAN_CASES_MAX = 1 << 20 };

struct plan_case {
  struct case_def def;     /* without flows where the selectors came to nothing */
  const char *skip_reason; /* NULL: will be measured */
  const char *axes;        /* "from.memory=pinned size=64KiB"; "" without axes */
  uint64_t estimate_ns;    /* usual wall time; 0 for a skipped case */
  uint64_t longest_ns;     /* wall time without its precision: for the watchdog */
  size_t listed;           /* place in the order of the file, duplicates counted as well */
  uint64_t host_bytes;
  uint64_t gpu_bytes; /* on the GPU that needs most */
  uint32_t gpus;      /* that it uses: bit i is GPU i */
};

/* A case that is the same measurement as another, and so is not measured again: the result of the
 * other is shown in its place too. */
struct plan_duplicate {
  const char *name; /* with the axes that names leave out, where the other has its name */
  const char *block;
  const char *axes;
  const char *same_as; /* name of the case that is measured */
  bool same_measure; /* false: how carefully (trials, precision, ...) differs, and that one's holds
                      */
  size_t measured;   /* its index in the plan's cases */
  size_t listed;     /* as of a case */
};

struct plan {
  const struct scenario *scenario; /* borrowed */
  const struct machine *machine;   /* borrowed */
  const struct plan_case *cases;   /* in the order of measuring; skipped ones keep their place */
  size_t case_count;
  size_t skip_count;
  const char *abort_reason; /* the check that ends a run before its first case; NULL = none */
  const struct plan_duplicate *duplicates;
  size_t duplicate_count;
  uint64_t estimate_ns; /* one process */
  uint64_t start_ns;    /* of which it takes to start */
  uint64_t host_bytes;  /* of the case that needs most */
  uint64_t gpu_bytes;
  bool for_gpus;              /* some case, skipped or not, is for a GPU or from or to one */
  const char *unmatched_only; /* of several globs those that matched nothing; NULL = none */
  struct arena arena;         /* owns what the above point to */
};

/* The time of that many processes with the pauses between them. */
uint64_t plan_total_ns(const struct plan *plan, uint32_t processes);
/* Of measure.settle_time: as long as the first round took, and at least the other. */
#define PLAN_SETTLE_AUTO UINT64_MAX
#define PLAN_SETTLE_NS   UINT64_C(5000000000)
/* The time that it means, where the first round takes so long. Both are of all processes. */
static inline uint64_t plan_settle_of(uint64_t settle_ns, uint64_t round_ns) {
  return settle_ns != PLAN_SETTLE_AUTO ? settle_ns
         : round_ns > PLAN_SETTLE_NS   ? round_ns
                                       : PLAN_SETTLE_NS;
}
/* How long that many processes may measure noisy cases again; 0 = there are no such cases, or they
 * are not measured again. */
uint64_t plan_settle_ns(const struct plan *plan, uint32_t processes);

struct case_keys {
  const char **items;
  size_t count;
};

struct plan_options {
  /* Globs (engine/base/globs.h) of blocks' names or cases' whole names; NULL = all. */
  const char *only;
  struct case_keys keys; /* only these cases, in their places and with their names; none = all */
};

/* STATUS_NOT_FOUND when `only` matches nothing, with what there is; STATUS_INVALID past
 * PLAN_CASES_MAX cases. A plan in which every case is skipped is no error. Settings that come to
 * the same case_key are measured once: the first stays, the others become duplicates (and vanish
 * where one setting comes to a case twice, where a value of an axis is listed twice, or where it is
 * skipped under the same name). options may be NULL. */
enum status plan_new(const struct scenario *scenario, const struct machine *machine,
                     const struct plan_options *options, struct plan **plan,
                     struct error *err) CHECK_RESULT;
void plan_free(struct plan *plan);

/* ---- what is skipped (skipped.c) ---- */

enum { SKIP_GROUP_CASES_MAX = 2 };

/* Skipped cases that share a reason, but for the numbers of GPUs and nodes in it. */
struct skip_group {
  const char *reason; /* where numbers differ "for example: " and the first */
  size_t count;
  const struct plan_case *cases[SKIP_GROUP_CASES_MAX]; /* the first ones */
};

/* Whether every case is skipped, and why: the reason of most of them, and how many others there
 * are.
 */
bool plan_has_nothing(const struct plan *plan, char reason[CASE_REASON_MAX]);

/* Skip every case that is not skipped yet: the machine is not as the scenario wants it. */
void plan_skip_rest(struct plan *plan, const char *reason);

/* In the order of their first cases; the array and what is new in it are in the arena. */
size_t plan_group_skipped(const struct plan *plan, struct arena *arena,
                          const struct skip_group **groups);

/* A plan in the making: cases come in one after the other. plan_new() feeds it from a scenario,
 * tests from settings made by hand. */
struct plan_builder;

/* only may be NULL. machine and only are borrowed. */
struct plan_builder *plan_builder_new(const struct machine *machine, const char *only);
void plan_builder_free(struct plan_builder *builder);
/* Every case of one setting; block and the setting are borrowed for the call. Texts that the
 * setting points to are copied where they are kept. */
enum status plan_builder_add(struct plan_builder *builder, const char *block,
                             const struct setting *setting, struct error *err) CHECK_RESULT;
/* Order, estimate, total. On success the builder is empty and *plan owns everything. */
enum status plan_builder_finish(struct plan_builder *builder, enum case_order order, uint64_t seed,
                                struct plan **plan, struct error *err) CHECK_RESULT;
