/* kind.h - what differs between the kinds of case when a plan is made: one table and one file each.
 *
 * The list of all is CASE_KIND_LIST (engine/case/enums.h). What the keys of a kind are, in a
 * scenario and in a definition, is in schema/scenario. Outside of runner/plan: what a case is
 * called and counted by. */
#pragma once

#include "runner/plan/bound.h"
#include "runner/plan/expand.h"

struct cost;      /* runner/plan/estimate.h */
struct plan_case; /* runner/plan/plan.h */

struct plan_kind {
  /* Hands out every case that the setting comes to on a machine. */
  void (*expand)(struct expander *x, const struct setting *setting);
  /* Appends where the case happens: "gpu0-numa0:pinned". See name.h. */
  void (*path)(const struct case_def *def, struct strbuf *text);
  /* The size that its name ends with; 0 = none. May be NULL: it has none. */
  uint64_t (*size_bytes)(const struct case_def *def);
  /* What it is compared by where no bytes count (FIGURE_RATE: its time), and whether by each of its
   * operations instead of by an iteration. */
  enum figure figure;
  bool by_operation;
  const char *operation; /* what its time is of, for people: "access"; NULL = an iteration */
  /* Part of the case_key: raised whenever the kind measures differently. */
  unsigned method_version;
  /* That of a case, where cases of the kind differ in it; NULL: they do not. */
  unsigned (*method_version_of)(const struct case_def *def);
  /* Appends its part of the definition, the comma in front included; NULL = an object named like
   * the kind that holds method_version and every key that has a place in the definition. */
  void (*define)(const struct case_def *def, struct strbuf *text);
  /* Whether caches of that kind of place are flushed where [measure] asks for it, and so are a part
   * of the definition. May be NULL: never. */
  bool (*has_caches)(const struct case_def *def, enum place place);
  /* Why it cannot run there, besides what the engine refuses; NULL = nothing. May be NULL. */
  const char *(*unsupported_reason)(const struct case_def *def, const struct machine *machine,
                                    char reason[CASE_REASON_MAX]);
  /* The i-th memory that the case takes; false past the last. size_bytes 0: the case itself
   * allocates it, again and again. May be NULL: it takes none. */
  bool (*memory)(const struct case_def *def, uint32_t i, struct endpoint *memory,
                 uint64_t *size_bytes);
  /* May be NULL: it moves no bytes that count. */
  void (*bound)(const struct case_def *def, const struct machine *machine, struct bound *bound);
  void (*cost)(const struct case_def *def, const struct machine *machine, struct cost *cost);
};

/* In the order of enum case_kind; in plan.c. */
extern const struct plan_kind *const plan_kinds[case_kind_name_count];

/* The i-th memory that the case takes: that of loads, then what its kind says. */
static inline bool plan_case_memory(const struct case_def *def, uint32_t i, struct endpoint *memory,
                                    uint64_t *size_bytes) {
  const struct plan_kind *kind = plan_kinds[def->kind];
  if (!case_kind_is_of_flows(def->kind)) {
    if (plan_kinds[CASE_TRANSFER]->memory(def, i, memory, size_bytes)) {
      return true;
    }
    i -= 2 * def->flow_count;
  }
  return kind->memory != NULL && kind->memory(def, i, memory, size_bytes);
}

/* What it is compared by, after its kind, payload and operations. resolved: selectors leave nothing
 * of it open, else nothing is known. In plan.c. */
void plan_set_figure(struct case_def *def, bool resolved);

/* "55.2 GB/s", "812 ns per access", for that median time of an iteration. In plan.c. */
void plan_describe_rate(const struct case_def *def, double median_ns, char *text, size_t size);

/* Why the case cannot run on this machine, for a person, in reason or static; NULL = it can.
 * Besides what its kind says: what the engine refuses (engine_case_unsupported_reason), and memory
 * that does not fit in what was free when the machine was looked at. A node or GPU whose free
 * memory is not known refuses nothing. Fills in the case's host_bytes, gpu_bytes and gpus. In
 * skipped.c. */
const char *skipped_case_reason(struct plan_case *plan_case, const struct machine *machine,
                                char reason[CASE_REASON_MAX]);
