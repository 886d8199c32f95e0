#include "runner/run/preflight.h"

#include <stdlib.h>

static void preflight_describe(const struct check_result *result, char text[CASE_REASON_MAX]) {
  char where[32] = "";
  if (result->gpu >= 0) {
    snprintf(where, sizeof where, " of GPU %d", result->gpu);
  }
  snprintf(text, CASE_REASON_MAX, "check %s%s: found %.255s, the scenario wants %.63s",
           check_kind_text(result->kind), where, result->found, result->want);
}

/* What a failed check leads to; `late`: the run is over. */
static void preflight_act(struct preflight *preflight, const struct common_options *common,
                          const struct check_result *result, bool late) {
  char text[CASE_REASON_MAX];
  preflight_describe(result, text);
  switch (result->on_fail) {
  case ON_FAIL_RECORD:
    return;
  case ON_FAIL_SKIP:
    if (!late) {
      if (preflight->skip_reason[0] == '\0') {
        snprintf(preflight->skip_reason, sizeof preflight->skip_reason, "%s", text);
      }
      return;
    }
    break;
  case ON_FAIL_ABORT:
    if (!late) {
      if (preflight->abort_reason[0] == '\0') {
        snprintf(preflight->abort_reason, sizeof preflight->abort_reason, "%s", text);
      }
      return;
    }
    break;
  case ON_FAIL_WARN:
  case on_fail_name_count:
    break;
  }
  say_warning(common, "%s", text);
}

static void preflight_take(struct preflight *preflight, const struct common_options *common,
                           size_t count, bool late) {
  for (size_t i = 0; i < count; i++) {
    const struct check_result *result = &preflight->results[preflight->count + i];
    switch (result->status) {
    case CHECK_FAILED:
      preflight_act(preflight, common, result, late);
      break;
    case CHECK_DENIED:
      if (result->on_fail != ON_FAIL_RECORD) {
        say_warning(common, "cannot evaluate check %s: %s", check_kind_text(result->kind),
                    result->found);
      }
      break;
    case CHECK_PASSED:
    case CHECK_UNAVAILABLE: /* the machine has no such setting: nothing is wrong with it */
    case check_status_name_count:
      break;
    }
  }
  preflight->count += count;
}

static void preflight_start(struct preflight *preflight) {
  *preflight = (struct preflight){
      .results = calloc(CHECK_RESULTS_MAX + MACHINE_GPUS_MAX, sizeof *preflight->results)};
  if (preflight->results == NULL) {
    abort();
  }
}

void preflight_before(struct preflight *preflight, const struct common_options *common,
                      const struct scenario *scenario, const struct machine *machine) {
  preflight_start(preflight);
  for (size_t i = 0; i < scenario->check_count && preflight->count < CHECK_RESULTS_MAX; i++) {
    if (!check_needs_telemetry(scenario->checks[i].kind)) {
      size_t count =
          check_evaluate(&scenario->checks[i], machine, preflight->results + preflight->count);
      preflight_take(preflight, common, count, false);
    }
  }
}

void preflight_after(struct preflight *preflight, const struct common_options *common,
                     const struct scenario *scenario, const struct machine *machine,
                     const struct telemetry_extent extents[MACHINE_GPUS_MAX]) {
  preflight_start(preflight);
  for (size_t i = 0; i < scenario->check_count && preflight->count < CHECK_RESULTS_MAX; i++) {
    if (check_needs_telemetry(scenario->checks[i].kind)) {
      size_t count = check_evaluate_telemetry(&scenario->checks[i], machine, extents,
                                              preflight->results + preflight->count);
      preflight_take(preflight, common, count, true);
    }
  }
}

void preflight_fini(struct preflight *preflight) {
  free(preflight->results);
}
