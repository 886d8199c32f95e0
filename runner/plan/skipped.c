/* skipped.c - why cases are skipped: what the machine has no room or means for, and such reasons,
 * each once. */
#include "runner/plan/plan.h"

#include "engine/base/strings.h"
#include "engine/engine.h"
#include "engine/machine/machine.h"
#include "runner/plan/kind.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- what a machine refuses ---- */

/* "150.0 GiB": refusals are read by people, exact bytes stand in the flow. */
static void skipped_format_gib(uint64_t bytes, char text[32]) {
  const double mib = (double)bytes / 1048576.0;
  (void)snprintf(text, 32, mib >= 1024 ? "%.1f GiB" : "%.1f MiB", mib >= 1024 ? mib / 1024 : mib);
}

static bool skipped_uses_node(const struct case_def *def, int32_t node) {
  struct endpoint endpoint;
  uint64_t size_bytes = 0;
  for (uint32_t i = 0; plan_case_memory(def, i, &endpoint, &size_bytes); i++) {
    if (endpoint.place == PLACE_NUMA && endpoint.index == node) {
      return true;
    }
  }
  return false;
}

/* Free memory of the nodes that the case uses, or of all where it names none (staging). 0 = not
 * known. */
static uint64_t skipped_free_host_bytes(const struct case_def *def, const struct machine *machine,
                                        struct strbuf *nodes) {
  int32_t used[MACHINE_NODES_MAX];
  size_t used_count = 0;
  uint64_t used_bytes = 0;
  uint64_t all_bytes = 0;
  for (uint32_t i = 0; i < machine->node_count; i++) {
    const struct numa_node *node = &machine->nodes[i];
    all_bytes += node->free_memory_bytes;
    if (skipped_uses_node(def, node->number)) {
      used[used_count++] = node->number;
      used_bytes += node->free_memory_bytes;
    }
  }
  if (used_count == 0) {
    strbuf_append(nodes, "this machine has");
    return all_bytes;
  }
  strbuf_append(nodes, used_count > 1 ? "NUMA nodes " : "NUMA node ");
  place_format_indices(used, used_count, "-", nodes);
  strbuf_append(nodes, used_count > 1 ? " have" : " has");
  return used_bytes;
}

static const char *skipped_memory_reason(struct plan_case *plan_case, const struct machine *machine,
                                         char reason[CASE_REASON_MAX]) {
  uint64_t gpu_bytes[MACHINE_GPUS_MAX] = {0};
  plan_case->gpus = engine_case_gpus(&plan_case->def);
  engine_memory_needs(&plan_case->def, machine, &plan_case->host_bytes, gpu_bytes);
  char need[32];
  char have[32];
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    const struct gpu *gpu = &machine->gpus[i];
    const uint64_t there = gpu->free_memory_bytes > 0 ? gpu->free_memory_bytes : gpu->memory_bytes;
    plan_case->gpu_bytes =
        gpu_bytes[i] > plan_case->gpu_bytes ? gpu_bytes[i] : plan_case->gpu_bytes;
    if (there > 0 && gpu_bytes[i] > there) {
      skipped_format_gib(gpu_bytes[i], need);
      skipped_format_gib(there, have);
      return CASE_REASON(reason, "needs %s on GPU %u, which has %s free", need, i, have);
    }
  }
  if (plan_case->host_bytes == 0) {
    return NULL;
  }
  SCOPED(strbuf_fini) struct strbuf nodes = STRBUF(CASE_REASON_MAX / 2);
  const uint64_t there = skipped_free_host_bytes(&plan_case->def, machine, &nodes);
  const bool refused = there > 0 && plan_case->host_bytes > there;
  if (refused) {
    skipped_format_gib(plan_case->host_bytes, need);
    skipped_format_gib(there, have);
    (void)snprintf(reason, CASE_REASON_MAX, "needs %s of host memory, %s %s free", need, nodes.text,
                   have);
  }
  return refused ? reason : NULL;
}

const char *skipped_case_reason(struct plan_case *plan_case, const struct machine *machine,
                                char reason[CASE_REASON_MAX]) {
  const struct case_def *def = &plan_case->def;
  const struct plan_kind *kind = plan_kinds[def->kind];
  const char *unsupported = NULL;
  if (kind->unsupported_reason != NULL) {
    unsupported = kind->unsupported_reason(def, machine, reason);
  }
  if (unsupported == NULL) {
    unsupported = engine_case_unsupported_reason(def, machine, reason);
  }
  return unsupported != NULL ? unsupported : skipped_memory_reason(plan_case, machine, reason);
}

/* ---- reasons, each once ---- */

/* Numbers after these words tell pairs apart, not reasons. */
static size_t skipped_place_length(const char *at) {
  static const char *const WORDS[] = {"GPU ", "node "};
  for (size_t i = 0; i < COUNT_OF(WORDS); i++) {
    const size_t length = strlen(WORDS[i]);
    if (strncmp(at, WORDS[i], length) == 0 && isdigit((unsigned char)at[length]) != 0) {
      return length;
    }
  }
  return 0;
}

/* "GPU x and GPU y have no peer access" of "GPU 0 and GPU 3 have no peer access". */
static const char *skipped_pattern(struct arena *arena, const char *reason) {
  static const char LETTERS[] = "xyz";
  char *pattern = arena_strdup(arena, reason);
  char *to = pattern;
  size_t places = 0;
  for (const char *at = reason; *at != '\0';) {
    const size_t length = places < strlen(LETTERS) ? skipped_place_length(at) : 0;
    if (length == 0) {
      *to++ = *at++;
      continue;
    }
    to = mempcpy(to, at, length);
    *to++ = LETTERS[places++];
    at += length;
    at += strspn(at, "0123456789");
  }
  *to = '\0';
  return pattern;
}

struct skipped_known {
  const char *pattern, *reason;
};

size_t plan_group_skipped(const struct plan *plan, struct arena *arena,
                          const struct skip_group **groups) {
  struct skip_group *items = NULL;
  struct skipped_known *known = NULL;
  size_t count = 0;
  size_t last = 0; /* neighbours mostly share their reason */
  for (size_t i = 0; i < plan->case_count; i++) {
    const struct plan_case *c = &plan->cases[i];
    if (c->skip_reason == NULL) {
      continue;
    }
    if (last >= count || strcmp(known[last].reason, c->skip_reason) != 0) {
      const char *pattern = skipped_pattern(arena, c->skip_reason);
      last = 0;
      while (last < count && strcmp(known[last].pattern, pattern) != 0) {
        last++;
      }
      if (last == count) {
        items = arena_grow(arena, items, count, sizeof *items);
        known = arena_grow(arena, known, count, sizeof *known);
        items[count] = (struct skip_group){.reason = c->skip_reason};
        known[count++] = (struct skipped_known){pattern, c->skip_reason};
      }
    }
    struct skip_group *group = &items[last];
    if (strcmp(group->reason, c->skip_reason) != 0) {
      group->reason = arena_format(arena, "%s, for example", known[last].reason);
    }
    if (group->count < SKIP_GROUP_CASES_MAX) {
      group->cases[group->count] = c;
    }
    group->count++;
  }
  *groups = items;
  return count;
}

void plan_skip_rest(struct plan *plan, const char *reason) {
  struct plan_case *cases = arena_array(&plan->arena, plan->case_count, sizeof *cases);
  const char *kept = arena_strdup(&plan->arena, reason);
  for (size_t i = 0; i < plan->case_count; i++) {
    cases[i] = plan->cases[i];
    if (cases[i].skip_reason == NULL) {
      cases[i].skip_reason = kept;
      cases[i].estimate_ns = 0;
    }
  }
  plan->cases = cases;
  plan->skip_count = plan->case_count;
  plan->estimate_ns = plan->start_ns = plan->host_bytes = plan->gpu_bytes = 0;
}

bool plan_has_nothing(const struct plan *plan, char reason[CASE_REASON_MAX]) {
  SCOPED(arena_fini) struct arena arena = {0};
  const struct skip_group *groups = NULL;
  if (plan->skip_count < plan->case_count) {
    return false;
  }
  const size_t count = plan_group_skipped(plan, &arena, &groups);
  size_t most = 0;
  for (size_t i = 1; i < count; i++) {
    most = groups[i].count > groups[most].count ? i : most;
  }
  const int length = snprintf(reason, CASE_REASON_MAX, "%s", count > 0 ? groups[most].reason : "");
  if (count > 1 && length > 0 && length < CASE_REASON_MAX) {
    (void)snprintf(reason + length, CASE_REASON_MAX - (size_t)length, ", and %zu more reason%s",
                   count - 1, strings_plural(count - 1, "", "s"));
  }
  return true;
}
