/* What haul plan -v says of each block: how carefully it is measured, and beside which load. */
#include "engine/base/units.h"
#include "runner/plan/name.h"
#include "runner/render/plan.h"
#include "schema/scenario/scenario.h"

#include <inttypes.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16 };

static void plan_append_duration(struct strbuf *text, const char *before, uint64_t ns) {
  char time[UNITS_TEXT_MAX];
  units_format_duration(ns, time);
  strbuf_printf(text, "%s%s", before, time);
}

static void plan_append_measure(const struct measure *measure, struct strbuf *text) {
  strbuf_printf(text, "Settings: %" PRIu32 " to %" PRIu32 " trials", measure->trials_min,
                measure->trials_max);
  if (measure->min_time_ns > 0) {
    plan_append_duration(text, ", until their times add up to ", measure->min_time_ns);
  } else {
    strbuf_printf(text, ", until +/- %.4g %%", 100 * measure->precision);
  }
  plan_append_duration(text, " or ", measure->max_time_ns);
  strbuf_printf(text, "; %" PRIu32 " for warm-up; ", measure->warmup);
  if (measure->iterations > 0) {
    strbuf_printf(text, "%" PRIu32 " iterations each", measure->iterations);
  } else {
    plan_append_duration(text, "each lasts ", measure->min_trial_ns);
  }
  strbuf_printf(text, ";\n  verify %s; caches of host %s, of GPU %s; gate %s",
                verify_text(measure->verify), host_cache_text(measure->host_cache),
                cache_state_text(measure->device_cache), gating_text(measure->gating));
  if (measure->delta > 0) {
    strbuf_printf(text, "; delta %.4g %%", 100 * measure->delta);
  }
}

static void plan_append_load(const struct flow *flow, struct strbuf *text) {
  char size[UNITS_TEXT_MAX];
  units_format_size(flow->size_bytes, size);
  name_append_endpoint(text, &flow->source);
  strbuf_append(text, " -> ");
  name_append_endpoint(text, &flow->target);
  strbuf_printf(text, " by %s, %s, started by the %s", method_text(flow->method), size,
                initiator_text(flow->initiator));
}

/* The loads of a case; nothing without any. */
static void plan_append_loads(const struct bench_case *bench, struct strbuf *text) {
  for (uint32_t i = 0; i < bench->flow_count; i++) {
    if (bench->flows[i].role == FLOW_LOAD) {
      strbuf_append(text, text->length > 0 ? "; " : "");
      plan_append_load(&bench->flows[i], text);
    }
  }
}

/* A block: of its first case, and whether the others differ. */
struct block_details {
  struct strbuf measure, loads;
  bool same_measure, same_loads;
};

static void plan_read_block(const struct plan *plan, size_t first, struct block_details *details) {
  const struct bench_case *bench = &plan->cases[first].bench;
  struct strbuf other;
  strbuf_init(&other, TEXT_MAX);
  strbuf_clear(&details->measure);
  strbuf_clear(&details->loads);
  details->same_measure = details->same_loads = true;
  plan_append_measure(&bench->measure, &details->measure);
  plan_append_loads(bench, &details->loads);
  for (size_t i = first + 1; i < plan->case_count; i++) {
    const struct bench_case *later = &plan->cases[i].bench;
    if (strcmp(later->block, bench->block) != 0 || plan->cases[i].skip_reason != NULL) {
      continue;
    }
    strbuf_clear(&other);
    plan_append_measure(&later->measure, &other);
    details->same_measure = details->same_measure && strcmp(other.text, details->measure.text) == 0;
    strbuf_clear(&other);
    plan_append_loads(later, &other);
    details->same_loads = details->same_loads && strcmp(other.text, details->loads.text) == 0;
  }
  strbuf_fini(&other);
}

/* Settings once for the blocks in a row that share them. */
static void plan_append_block(const struct bench_case *bench, const struct block_details *details,
                              struct strbuf *settings, struct strbuf *text) {
  struct strbuf own;
  strbuf_init(&own, TEXT_MAX);
  strbuf_printf(&own, "%s%s", details->measure.text,
                details->same_measure ? "" : "\n  (the first case; others differ)");
  if (strcmp(own.text, settings->text) != 0) {
    strbuf_printf(text, "\n%s\n", own.text);
    strbuf_clear(settings);
    strbuf_append(settings, own.text);
  }
  strbuf_printf(text, "  %s%s%s%s\n", bench->block,
                details->loads.length > 0 ? "\n    beside " : "", details->loads.text,
                details->same_loads ? "" : "\n    (the first case; others likewise)");
  strbuf_fini(&own);
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

/* "governor: wanted performance, found powersave; on failure warn, ...": of several GPUs, of one
 * that is otherwise than wanted. */
static void plan_append_check(const struct check *check, const struct machine *machine,
                              struct strbuf *text) {
  struct check_result results[MACHINE_GPUS_MAX];
  const struct check_result *found = results;
  const size_t count = check_evaluate(check, machine, results);
  for (size_t i = 1; i < count; i++) {
    const bool worse = results[i].status == CHECK_FAILED && found->status != CHECK_FAILED;
    found = worse || found->status == CHECK_PASSED ? &results[i] : found;
  }
  strbuf_printf(text, "  %s: wanted %s", check_kind_text(check->kind), check->want);
  if (count > 0) {
    const bool known = found->status == CHECK_PASSED || found->status == CHECK_FAILED;
    strbuf_printf(text, ", %s%s", known ? "found " : "no answer: ", found->found);
  }
  strbuf_printf(text, "; on failure %s, without an answer %s\n", on_fail_text(check->on_fail),
                on_fail_text(check->on_unknown));
}

void plan_append_details(const struct plan *plan, struct strbuf *text) {
  const char *last = NULL; /* cases of a block mostly stand together */
  struct block_details details;
  struct strbuf settings;
  strbuf_init(&details.measure, TEXT_MAX);
  strbuf_init(&details.loads, TEXT_MAX);
  strbuf_init(&settings, TEXT_MAX);
  for (size_t i = 0; i < plan->case_count; i++) {
    const char *block = plan->cases[i].bench.block;
    if ((last == NULL || strcmp(block, last) != 0) && plan_is_first_of_block(plan, i)) {
      plan_read_block(plan, i, &details);
      plan_append_block(&plan->cases[i].bench, &details, &settings, text);
    }
    last = plan->cases[i].skip_reason == NULL ? block : last;
  }
  strbuf_fini(&details.measure);
  strbuf_fini(&details.loads);
  strbuf_fini(&settings);
  const struct scenario *scenario = plan->scenario;
  strbuf_append(text, scenario != NULL && scenario->check_count > 0 ? "\nChecks\n" : "");
  for (size_t i = 0; scenario != NULL && i < scenario->check_count; i++) {
    plan_append_check(&scenario->checks[i], plan->machine, text);
  }
}
