#include "runner/plan/pairs.h"

#include <stdio.h>

static void complain(struct pair_set *x, int32_t near_gpu, const char *reason) {
  if (reason[0] != '\0' && x->complaint_count < COMPLAINTS_MAX) {
    struct complaint *complaint = &x->complaints[x->complaint_count++];
    complaint->near_gpu = near_gpu;
    (void)snprintf(complaint->reason, sizeof complaint->reason, "%s", reason);
  }
}

static void add_pair(struct pair_set *x, int32_t from, int32_t to) {
  x->pairs[x->pair_count++] = (struct pair){from, to};
}

/* One end is local or remote to the GPUs of the other. */
static void resolve_relative(struct pair_set *x, const struct endpoint_setting *near,
                             const struct endpoint_setting *gpus, bool near_is_from) {
  struct place_list gpu_list;
  char reason[CASE_REASON_MAX];
  place_resolve(gpus, x->machine, -1, &gpu_list, reason);
  complain(x, -1, reason);
  for (size_t i = 0; i < gpu_list.count; i++) {
    const int32_t gpu = gpu_list.indices[i];
    struct place_list nodes;
    place_resolve(near, x->machine, gpu, &nodes, reason);
    complain(x, gpu, reason);
    for (size_t j = 0; j < nodes.count; j++) {
      const int32_t node = nodes.indices[j];
      add_pair(x, near_is_from ? node : gpu, near_is_from ? gpu : node);
    }
  }
}

/* from x to into x->pairs, and what is missing into x->complaints. */
void pairs_resolve(struct pair_set *x, const struct endpoint_setting *from,
                   const struct endpoint_setting *to) {
  x->pair_count = 0;
  x->complaint_count = 0;
  if (place_is_relative(&from->selector) && to->place == PLACE_GPU) {
    resolve_relative(x, from, to, true);
    return;
  }
  if (place_is_relative(&to->selector) && from->place == PLACE_GPU) {
    resolve_relative(x, to, from, false);
    return;
  }
  struct place_list from_list;
  struct place_list to_list;
  char from_reason[CASE_REASON_MAX];
  char to_reason[CASE_REASON_MAX];
  place_resolve(from, x->machine, -1, &from_list, from_reason);
  place_resolve(to, x->machine, -1, &to_list, to_reason);
  const bool both =
      from_reason[0] != '\0' && to_reason[0] != '\0' && strcmp(from_reason, to_reason) != 0;
  char reason[CASE_REASON_MAX];
  (void)snprintf(reason, sizeof reason, "%.250s%s%.250s", from_reason, both ? "; " : "",
                 both || from_reason[0] == '\0' ? to_reason : "");
  complain(x, -1, reason);
  for (size_t i = 0; i < from_list.count; i++) {
    for (size_t j = 0; j < to_list.count; j++) {
      add_pair(x, from_list.indices[i], to_list.indices[j]);
    }
  }
}

static bool has_pair(const struct pair_set *x, int32_t from, int32_t to) {
  for (size_t i = 0; i < x->pair_count; i++) {
    if (x->pairs[i].from == from && x->pairs[i].to == to) {
      return true;
    }
  }
  return false;
}

/* Drop the pairs that the rule does not want. */
void pairs_apply(struct pair_set *x, enum place from, enum place to, struct pair_rule rule) {
  if (from != to) {
    x->pair_count = rule.unequal ? x->pair_count : 0;
    return;
  }
  /* Decide before dropping: has_pair() looks at all of them. */
  for (size_t i = 0; i < x->pair_count; i++) {
    const struct pair pair = x->pairs[i];
    const bool wanted = pair.from == pair.to ? rule.equal : rule.unequal;
    const bool again = rule.once && pair.from > pair.to && has_pair(x, pair.to, pair.from);
    x->dropped[i] = !wanted || again;
  }
  size_t kept = 0;
  for (size_t i = 0; i < x->pair_count; i++) {
    if (!x->dropped[i]) {
      x->pairs[kept++] = x->pairs[i];
    }
  }
  x->pair_count = kept;
}

void pairs_say_none(const struct pair_set *x, enum place from, enum place to, struct pair_rule rule,
                    char reason[CASE_REASON_MAX]) {
  const bool gpu = from == PLACE_GPU;
  const uint32_t count = gpu ? x->machine->gpu_count : x->machine->node_count;
  const char *what = gpu ? "GPU" : "NUMA node";
  if (from != to) {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "pairs = \"same\" needs two ends of one kind, not a GPU and a NUMA node");
  } else if (!rule.unequal) {
    (void)snprintf(reason, CASE_REASON_MAX, "no %s is in both from and to", what);
  } else if (count < 2) {
    (void)snprintf(reason, CASE_REASON_MAX, "needs two %ss, this machine has %u", what, count);
  } else {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "from and to come to the same %s; pairs = \"same\" copies inside one", what);
  }
}

/* The places of both ends together, ascending; ends must be of one kind. */
static size_t places_of_both(const struct pair_set *x, int32_t places[2 * PLACES_MAX]) {
  size_t count = 0;
  for (size_t i = 0; i < x->pair_count; i++) {
    const int32_t ends[2] = {x->pairs[i].from, x->pairs[i].to};
    for (size_t e = 0; e < 2; e++) {
      size_t at = 0;
      while (at < count && places[at] < ends[e]) {
        at++;
      }
      if (at == count || places[at] != ends[e]) {
        memmove(&places[at + 1], &places[at], (count - at) * sizeof *places);
        places[at] = ends[e];
        count++;
      }
    }
  }
  return count;
}

void pairs_make_pattern(struct pair_set *x, enum concurrent pattern, char reason[CASE_REASON_MAX]) {
  const bool ring = pattern == CONCURRENT_RING;
  int32_t places[2 * PLACES_MAX + 1];
  size_t count = places_of_both(x, places);
  x->pair_count = 0;
  if (count < 2) {
    (void)snprintf(reason, CASE_REASON_MAX, "concurrent = \"%s\" needs two places, there is %zu",
                   concurrent_text(pattern), count);
    return;
  }
  count -= ring ? 0 : count % 2;
  const size_t step = ring ? 1 : count / 2;
  for (size_t i = 0; i < count; i++) {
    add_pair(x, places[i], places[(i + step) % count]);
  }
}
