/* What haul plan -v says of each block: how carefully it is measured, and beside which load. */
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

/* How long a trial is. */
static const char *plan_trial(struct arena *arena, const struct bench_case *bench) {
  const struct measure *measure = &bench->measure;
  const bool of_host = measure->host_cache != HOST_CACHE_AS_IS;
  if (measure->iterations > 0) {
    return arena_format(arena, "%" PRIu32 " iterations each", measure->iterations);
  }
  if (of_host || measure->device_cache == CACHE_FLUSHED) {
    return arena_format(arena, "one %s per trial, because of %s",
                        bench->kind == CASE_TRANSFER ? "copy" : "iteration",
                        of_host ? "host_cache" : "device_cache");
  }
  return arena_format(arena, "each lasts %s", plan_duration(arena, measure->min_trial_ns));
}

static const char *plan_measure(struct arena *arena, const struct bench_case *bench) {
  const struct measure *measure = &bench->measure;
  const char *until = measure->min_time_ns > 0
                          ? arena_format(arena, "their times add up to %s",
                                         plan_duration(arena, measure->min_time_ns))
                          : arena_format(arena, "+/- %.4g %%", 100 * measure->precision);
  return arena_format(
      arena,
      "%" PRIu32 " to %" PRIu32 " trials, until %s or %s; %" PRIu32
      " for warm-up; %s; verify %s; caches of host %s, of GPU %s; gate %s%s",
      measure->trials_min, measure->trials_max, until, plan_duration(arena, measure->max_time_ns),
      measure->warmup, plan_trial(arena, bench), verify_text(measure->verify),
      host_cache_text(measure->host_cache), cache_state_text(measure->device_cache),
      gating_text(measure->gating),
      measure->delta > 0 ? arena_format(arena, "; delta %.4g %%", 100 * measure->delta) : "");
}

static const char *plan_endpoint(struct arena *arena, const struct endpoint *endpoint) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(ENDPOINT_MAX);
  name_append_endpoint(&text, endpoint);
  return arena_strdup(arena, text.text);
}

/* The loads of a case; "" without any. */
static const char *plan_loads(struct arena *arena, const struct bench_case *bench) {
  const char *text = "";
  for (uint32_t i = 0; i < bench->flow_count; i++) {
    const struct flow *flow = &bench->flows[i];
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

/* A block: its first case, and whether others differ. *settings: of the block before; blocks in a
 * row that share them say them once. */
static void plan_put_block(struct document *document, const struct plan *plan, size_t first,
                           const char **settings) {
  const struct bench_case *bench = &plan->cases[first].bench;
  const char *measure = plan_measure(&document->arena, bench);
  const char *loads = plan_loads(&document->arena, bench);
  bool same_measure = true;
  bool same_loads = true;
  SCOPED(arena_fini) struct arena arena = {0};
  for (size_t i = first + 1; i < plan->case_count; i++) {
    const struct bench_case *later = &plan->cases[i].bench;
    if (strcmp(later->block, bench->block) == 0 && plan->cases[i].skip_reason == NULL) {
      same_measure = same_measure && strcmp(plan_measure(&arena, later), measure) == 0;
      same_loads = same_loads && strcmp(plan_loads(&arena, later), loads) == 0;
    }
  }
  measure = same_measure
                ? measure
                : arena_format(&document->arena, "%s (the first case; others differ)", measure);
  if (strcmp(measure, *settings) != 0) {
    document_gap(document);
    document_put_behind(document, "Settings: ", "%s", measure);
    *settings = measure;
  }
  document_put_behind(document, "  ", "%s", bench->block);
  if (loads[0] != '\0') {
    document_put_behind(document, "    beside ", "%s%s", loads,
                        same_loads ? "" : " (the first case; others likewise)");
  }
}

static bool plan_is_first_of_block(const struct plan *plan, size_t at) {
  for (size_t i = 0; i < at; i++) {
    if (plan->cases[i].skip_reason == NULL &&
        strcmp(plan->cases[i].bench.block, plan->cases[at].bench.block) == 0) {
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
  document_put_behind(document, "  ", "%s: wanted %s%s%s; on failure %s, if unknown %s",
                      check_kind_text(check->kind), check->want,
                      count == 0 ? ""
                      : known    ? ", found "
                                 : ", unknown: ",
                      count == 0 ? "" : found->found, on_fail_text(check->on_fail),
                      on_fail_text(check->on_unknown));
}

void plan_put_details(struct document *document, const struct plan *plan) {
  const struct scenario *scenario = plan->scenario;
  const char *last = NULL; /* cases of a block mostly stand together */
  const char *settings = "";
  for (size_t i = 0; i < plan->case_count; i++) {
    const char *block = plan->cases[i].bench.block;
    if ((last == NULL || strcmp(block, last) != 0) && plan_is_first_of_block(plan, i)) {
      plan_put_block(document, plan, i, &settings);
    }
    last = plan->cases[i].skip_reason == NULL ? block : last;
  }
  if (scenario != NULL && scenario->check_count > 0) {
    document_part(document, "Checks");
  }
  for (size_t i = 0; scenario != NULL && i < scenario->check_count; i++) {
    plan_put_check(document, &scenario->checks[i], plan->machine);
  }
}
