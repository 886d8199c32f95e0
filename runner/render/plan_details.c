/* What haul plan -v says of each block: how carefully it is measured, and beside which load. */
#include "engine/base/text_index.h"
#include "engine/base/units.h"
#include "engine/case/transfer.h"
#include "engine/machine/check.h"
#include "runner/document/document.h"
#include "runner/plan/name.h"
#include "runner/render/plan.h"
#include "schema/scenario/scenario.h"

#include <inttypes.h>
#include <string.h>

enum { ENDPOINT_MAX = 1 << 12 };

static const char *plan_duration(struct arena *arena, uint64_t ns) {
  return arena_strdup(arena, units_format_duration(ns, UNITS_TEXT));
}

static const char *plan_trial(struct arena *arena, const struct case_def *def) {
  const struct measure *measure = &def->measure;
  const bool of_host = measure->host_cache != HOST_CACHE_AS_IS;
  if (measure->iterations > 0) {
    return arena_format(arena, "%" PRIu32 " iterations each", measure->iterations);
  }
  if (of_host || measure->device_cache == CACHE_FLUSHED) {
    return arena_format(arena, "one %s per trial, because of %s",
                        def->kind == CASE_TRANSFER ? "copy" : "iteration",
                        of_host ? "host_cache" : "device_cache");
  }
  return arena_format(arena, "each lasts %s", plan_duration(arena, measure->min_trial_ns));
}

/* How a case is measured, in parts. */
enum { PLAN_PARTS = 8 };
static void plan_measure(struct arena *arena, const struct case_def *def,
                         const char *parts[PLAN_PARTS]) {
  const struct measure *measure = &def->measure;
  const char *until = measure->min_time_ns > 0
                          ? arena_format(arena, "their times add up to %s",
                                         plan_duration(arena, measure->min_time_ns))
                          : arena_format(arena, "+/- %.4g %%", 100 * measure->precision);
  const char *const all[PLAN_PARTS] = {
      arena_format(arena, "%" PRIu32 " to %" PRIu32 " trials, until %s or %s", measure->trials_min,
                   measure->trials_max, until, plan_duration(arena, measure->max_time_ns)),
      arena_format(arena, "%" PRIu32 " for warm-up", measure->warmup),
      plan_trial(arena, def),
      arena_format(arena, "verify %s", verify_text(measure->verify)),
      arena_format(arena, "host_cache %s", host_cache_text(measure->host_cache)),
      arena_format(arena, "device_cache %s", cache_state_text(measure->device_cache)),
      arena_format(arena, "gate %s", gating_text(measure->gating)),
      measure->delta > 0 ? arena_format(arena, "delta %.4g %%", 100 * measure->delta) : "",
  };
  memcpy(parts, all, sizeof all);
}

static const char *plan_endpoint(struct arena *arena, const struct endpoint *endpoint) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(ENDPOINT_MAX);
  name_append_endpoint(&text, endpoint);
  return arena_strdup(arena, text.text);
}

/* The loads of a case; "" without any. */
static const char *plan_loads(struct arena *arena, const struct case_def *def) {
  const char *text = "";
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    char size[UNITS_TEXT_MAX];
    if (flow->role == FLOW_LOAD) {
      units_format_size(flow->size_bytes, size);
      text = arena_join(arena, text, "; ",
                        arena_format(arena, "%s -> %s by %s, %s, started by the %s",
                                     plan_endpoint(arena, &flow->source),
                                     plan_endpoint(arena, &flow->target), method_text(flow->method),
                                     size, initiator_text(flow->initiator)));
    }
  }
  return text;
}

/* What a block's cases have in common; where they differ, each value of a part: "host_cache warm or
 * host_cache flushed". */
struct plan_block {
  const char *name, *settings, *loads;
  bool same_loads;
};

static struct plan_block plan_describe_block(const struct plan *plan, size_t first,
                                             struct arena *arena) {
  const char *block = plan->cases[first].def.block;
  struct plan_block found = {.name = block,
                             .settings = "",
                             .loads = plan_loads(arena, &plan->cases[first].def),
                             .same_loads = true};
  struct text_index values[PLAN_PARTS];
  for (size_t part = 0; part < PLAN_PARTS; part++) {
    values[part] = (struct text_index){.arena = arena};
  }
  for (size_t i = first; i < plan->case_count; i++) {
    const struct case_def *def = &plan->cases[i].def;
    if (strcmp(def->block, block) != 0 || plan->cases[i].skip_reason != NULL) {
      continue;
    }
    const char *parts[PLAN_PARTS];
    plan_measure(arena, def, parts);
    for (size_t part = 0; part < PLAN_PARTS; part++) {
      (void)text_index_number(&values[part], parts[part]);
    }
    found.same_loads = found.same_loads && strcmp(plan_loads(arena, def), found.loads) == 0;
  }
  for (size_t part = 0; part < PLAN_PARTS; part++) {
    const char *either = "";
    for (size_t i = 0; i < values[part].count; i++) {
      either = arena_join(arena, either, " or ", values[part].texts[i]);
    }
    found.settings = arena_join(arena, found.settings, "; ", either);
  }
  return found;
}

/* Blocks in a row that share their settings, and the loads of each. */
static void plan_put_blocks(struct document *document, const struct plan_block *blocks,
                            size_t count) {
  const char *names = "";
  for (size_t i = 0; i < count; i++) {
    names = arena_add_word(&document->arena, names, blocks[i].name);
  }
  document_gap(document);
  document_put_behind(document, "Settings of ", "%s: %s", names, blocks[0].settings);
  for (size_t i = 0; i < count; i++) {
    if (blocks[i].loads[0] != '\0') {
      document_put_behind(document, "  ", "%s beside %s%s", blocks[i].name, blocks[i].loads,
                          blocks[i].same_loads ? "" : " (its first case; the others likewise)");
    }
  }
}

static bool plan_is_first_of_block(const struct plan *plan, size_t at) {
  for (size_t i = 0; i < at; i++) {
    if (plan->cases[i].skip_reason == NULL &&
        strcmp(plan->cases[i].def.block, plan->cases[at].def.block) == 0) {
      return false;
    }
  }
  return plan->cases[at].skip_reason == NULL;
}

/* "wanted performance, found powersave; on failure warn, ...": of several GPUs, of one that is
 * otherwise than wanted. */
static void plan_put_check(struct document *document, const struct check *check,
                           const struct machine *machine) {
  struct check_result results[MACHINE_GPUS_MAX];
  const struct check_result *found = results;
  const size_t count = check_evaluate(check, machine, results);
  for (size_t i = 1; i < count; i++) {
    const bool worse = results[i].status == CHECK_FAILED && found->status != CHECK_FAILED;
    found = worse || found->status == CHECK_PASSED ? &results[i] : found;
  }
  const bool known = count > 0 && (found->status == CHECK_PASSED || found->status == CHECK_FAILED);
  const char *outcome =
      count > 0 ? arena_format(&document->arena, known ? "found %s" : "unknown: %s", found->found)
      : check_needs_telemetry(check->kind) ? "not checked now: a run looks at it while it measures"
      : check->kind == CHECK_CACHE_FLUSH   ? "not checked now: a run proves it before it measures"
                                           : "not checked: there is no GPU";
  document_put_behind(document, "  ", "%s: wanted %s, %s; on failure %s, if unknown %s",
                      check_kind_text(check->kind), check->want, outcome,
                      on_fail_text(check->on_fail), on_fail_text(check->on_unknown));
}

void plan_put_details(struct document *document, const struct plan *plan) {
  const struct scenario *scenario = plan->scenario;
  const char *last = ""; /* cases of a block mostly stand together */
  SCOPED(arena_fini) struct arena arena = {0};
  struct plan_block *blocks = NULL;
  size_t count = 0;
  for (size_t i = 0; i < plan->case_count; i++) {
    const char *block = plan->cases[i].def.block;
    if (strcmp(block, last) != 0 && plan_is_first_of_block(plan, i)) {
      *ARENA_ADD(&arena, blocks, count) = plan_describe_block(plan, i, &arena);
    }
    last = plan->cases[i].skip_reason == NULL ? block : last;
  }
  for (size_t first = 0, next = 0; first < count; first = next) {
    while (next < count && strcmp(blocks[next].settings, blocks[first].settings) == 0) {
      next++;
    }
    plan_put_blocks(document, &blocks[first], next - first);
  }
  if (scenario != NULL && scenario->check_count > 0) {
    document_part(document, "Checks");
  }
  for (size_t i = 0; scenario != NULL && i < scenario->check_count; i++) {
    plan_put_check(document, &scenario->checks[i], plan->machine);
  }
}
