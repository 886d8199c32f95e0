#include "runner/run/preflight.h"

#include "engine/base/strbuf.h"
#include "engine/base/strings.h"
#include "engine/host/cache.h"
#include "engine/host/numa.h"
#include "engine/machine/check.h"
#include "engine/machine/machine.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN_TEXT_MAX = 4096 };

/* last: the last GPU of those that have the same result. */
static void preflight_describe(const struct check_result *result, int32_t last,
                               char text[CASE_REASON_MAX]) {
  const bool known = result->status == CHECK_FAILED;
  char where[32] = "";
  if (result->gpu >= 0 && last > result->gpu) {
    snprintf(where, sizeof where, " of GPUs %d-%d", result->gpu, last);
  } else if (result->gpu >= 0) {
    snprintf(where, sizeof where, " of GPU %d", result->gpu);
  }
  snprintf(text, CASE_REASON_MAX, "check %s%s: %s %.255s%s wanted %.63s",
           check_kind_text(result->kind), where, known ? "found" : "unknown:", result->found,
           known ? "," : ";", result->want);
}

/* What a check that did not pass leads to; `late`: the run is over. */
static void preflight_act(struct preflight *preflight, const struct check_result *result,
                          int32_t last, bool late) {
  const enum on_fail then = result->status == CHECK_FAILED ? result->on_fail : result->on_unknown;
  if (result->status == CHECK_PASSED || then == ON_FAIL_RECORD) {
    return;
  }
  char text[CASE_REASON_MAX];
  char *reason = then == ON_FAIL_SKIP    ? preflight->skip_reason
                 : then == ON_FAIL_ABORT ? preflight->abort_reason
                                         : NULL;
  preflight_describe(result, last, text);
  if (late || reason == NULL) {
    say_warning(preflight->common, "%s", text);
  } else if (reason[0] == '\0') {
    memcpy(reason, text, sizeof text);
  }
}

/* One line for all checks without an answer that are recorded only: each with the first reason. */
static void preflight_say_unknown(const struct preflight *preflight) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(UNKNOWN_TEXT_MAX);
  for (size_t i = 0; i < preflight->count; i++) {
    const struct check_result *result = &preflight->results[i];
    const bool unknown = result->status == CHECK_UNAVAILABLE || result->status == CHECK_DENIED;
    const bool told = i > 0 && preflight->results[i - 1].kind == result->kind;
    if (unknown && !told && result->on_unknown == ON_FAIL_RECORD) {
      strbuf_printf(&text, "%s%s: %s", text.length > 0 ? "; " : "", check_kind_text(result->kind),
                    result->found);
    }
  }
  if (text.length > 0) {
    say_note(preflight->common, "not checked: %s", text.text);
  }
}

/* Whether a result is that of the GPU before as well. */
static bool preflight_is_same(const struct check_result *result,
                              const struct check_result *before) {
  return before->gpu >= 0 && result->gpu == before->gpu + 1 && result->kind == before->kind &&
         result->status == before->status && result->on_fail == before->on_fail &&
         result->on_unknown == before->on_unknown && strcmp(result->want, before->want) == 0 &&
         strcmp(result->found, before->found) == 0;
}

/* Acts on results that stand behind those that are counted already. */
static void preflight_add(struct preflight *preflight, size_t count, bool late) {
  const struct check_result *results = preflight->results + preflight->count;
  for (size_t i = 0, next = 0; i < count; i = next) {
    for (next = i + 1; next < count && preflight_is_same(&results[next], &results[next - 1]);) {
      next++;
    }
    preflight_act(preflight, &results[i], results[next - 1].gpu, late);
  }
  preflight->count += count;
}

/* On each node that has processors and memory; the first on which it does not work decides. */
static size_t preflight_prove_flush(const struct check *check, const struct machine *machine,
                                    struct check_result *result) {
  *result = (struct check_result){.kind = check->kind,
                                  .on_fail = check->on_fail,
                                  .on_unknown = check->on_unknown,
                                  .status = CHECK_PASSED,
                                  .gpu = -1};
  (void)snprintf(result->want, sizeof result->want, "%s", check->want);
  uint32_t nodes = 0;
  for (uint32_t i = 0; i < machine->node_count && result->status == CHECK_PASSED; i++) {
    struct numa_binding before;
    struct cache_flush_proof proof;
    if (numa_bind_thread(machine, machine->nodes[i].number, &before, NULL) != STATUS_OK) {
      continue;
    }
    cache_flush_prove(&proof);
    numa_restore_thread(&before);
    nodes++;
    if (!proof.supported) {
      result->status = CHECK_UNAVAILABLE;
      (void)snprintf(result->found, sizeof result->found,
                     "this processor has no instruction to flush its caches");
    } else if (!proof.works) {
      result->status = CHECK_FAILED;
      (void)snprintf(result->found, sizeof result->found,
                     "on node %d a reload takes %llu ns after a flush and %llu ns without",
                     (int)machine->nodes[i].number, (unsigned long long)proof.flushed_ns,
                     (unsigned long long)proof.warm_ns);
    }
  }
  if (nodes == 0) {
    result->status = CHECK_DENIED;
    (void)snprintf(result->found, sizeof result->found, "no thread may be bound to a node");
  } else if (result->status == CHECK_PASSED) {
    (void)snprintf(result->found, sizeof result->found, "proven on %u node%s", nodes,
                   strings_plural(nodes, "", "s"));
  }
  return 1;
}

/* Writes the answer of after the run if it is another one; returns how many were written. */
static size_t preflight_evaluate_again(const struct check *check, const struct machine *machine,
                                       const struct machine *now,
                                       struct check_result results[MACHINE_GPUS_MAX]) {
  struct check_result before[MACHINE_GPUS_MAX];
  const size_t count = check_evaluate(check, machine, before);
  if (count == 0 || check_evaluate(check, now, results) == 0 ||
      strcmp(before->found, results->found) == 0) {
    return 0;
  }
  char found[FACT_VALUE_MAX];
  (void)snprintf(found, sizeof found, "%.200s at the end, %.200s when the run began",
                 results->found, before->found);
  memcpy(results->found, found, sizeof found);
  return 1;
}

/* The results of a check, written to results; returns how many. */
static size_t preflight_evaluate(const struct check *check, const struct machine *machine,
                                 const struct telemetry_extent *extents, const struct machine *now,
                                 struct check_result *results) {
  if (now == NULL) {
    return check->kind == CHECK_CACHE_FLUSH ? preflight_prove_flush(check, machine, results)
                                            : check_evaluate(check, machine, results);
  }
  return check_needs_telemetry(check->kind)
             ? check_evaluate_telemetry(check, machine, extents, results)
         : check_may_change(check->kind) ? preflight_evaluate_again(check, machine, now, results)
                                         : 0;
}

void preflight_check_late(struct preflight *preflight, const struct common_options *common,
                          const struct scenario *scenario, const struct machine *machine,
                          const struct telemetry_extent *extents, const struct machine *now) {
  *preflight = (struct preflight){
      .common = common,
      .results = memory_new(CHECK_RESULTS_MAX + MACHINE_GPUS_MAX, sizeof *preflight->results)};
  for (size_t i = 0; i < scenario->check_count && preflight->count < CHECK_RESULTS_MAX; i++) {
    const size_t count = preflight_evaluate(&scenario->checks[i], machine, extents, now,
                                            preflight->results + preflight->count);
    preflight_add(preflight, count, now != NULL);
  }
  preflight_say_unknown(preflight);
}

void preflight_check(struct preflight *preflight, const struct common_options *common,
                     const struct scenario *scenario, const struct machine *machine) {
  preflight_check_late(preflight, common, scenario, machine, NULL, NULL);
}

void preflight_fini(struct preflight *preflight) {
  free(preflight->results);
}
