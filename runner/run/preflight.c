#include "runner/run/preflight.h"

#include <stdlib.h>
#include <string.h>

static void preflight_describe(const struct check_result *result, char text[CASE_REASON_MAX]) {
  char where[32] = "";
  if (result->gpu >= 0) {
    snprintf(where, sizeof where, " of GPU %d", result->gpu);
  }
  snprintf(text, CASE_REASON_MAX, "check %s%s: found %.255s, the scenario wants %.63s",
           check_kind_text(result->kind), where, result->found, result->want);
}

/* What a check that did not pass leads to; `late`: the run is over. A setting that the machine does
 * not have is no fault of it. */
static void preflight_act(struct preflight *preflight, const struct common_options *common,
                          const struct check_result *result, bool late) {
  if (result->on_fail == ON_FAIL_RECORD) {
    return;
  }
  if (result->status == CHECK_DENIED) {
    say_warning(common, "cannot evaluate check %s: %s", check_kind_text(result->kind),
                result->found);
  }
  if (result->status != CHECK_FAILED) {
    return;
  }
  char text[CASE_REASON_MAX];
  char *reason = result->on_fail == ON_FAIL_SKIP    ? preflight->skip_reason
                 : result->on_fail == ON_FAIL_ABORT ? preflight->abort_reason
                                                    : NULL;
  preflight_describe(result, text);
  if (late || reason == NULL) {
    say_warning(common, "%s", text);
  } else if (reason[0] == '\0') {
    memcpy(reason, text, sizeof text);
  }
}

void preflight_check(struct preflight *preflight, const struct common_options *common,
                     const struct scenario *scenario, const struct machine *machine,
                     const struct telemetry_extent *extents) {
  *preflight = (struct preflight){
      .results = calloc(CHECK_RESULTS_MAX + MACHINE_GPUS_MAX, sizeof *preflight->results)};
  if (preflight->results == NULL) {
    abort();
  }
  const bool late = extents != NULL;
  for (size_t i = 0; i < scenario->check_count && preflight->count < CHECK_RESULTS_MAX; i++) {
    const struct check *check = &scenario->checks[i];
    struct check_result *results = preflight->results + preflight->count;
    if (check_needs_telemetry(check->kind) != late) {
      continue;
    }
    const size_t count = late ? check_evaluate_telemetry(check, machine, extents, results)
                              : check_evaluate(check, machine, results);
    for (size_t r = 0; r < count; r++) {
      preflight_act(preflight, common, &results[r], late);
    }
    preflight->count += count;
  }
}

void preflight_fini(struct preflight *preflight) {
  free(preflight->results);
}
