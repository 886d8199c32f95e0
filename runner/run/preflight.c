#include "runner/run/preflight.h"

#include "engine/base/strbuf.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN_TEXT_MAX = 4096 };

static void preflight_describe(const struct check_result *result, char text[CASE_REASON_MAX]) {
  const bool known = result->status == CHECK_FAILED;
  char where[32] = "";
  if (result->gpu >= 0) {
    snprintf(where, sizeof where, " of GPU %d", result->gpu);
  }
  snprintf(text, CASE_REASON_MAX, "check %s%s: %s %.255s%s the scenario wants %.63s",
           check_kind_text(result->kind), where, known ? "found" : "no answer:", result->found,
           known ? "," : ";", result->want);
}

/* What a check that did not pass leads to; `late`: the run is over. */
static void preflight_act(struct preflight *preflight, const struct common_options *common,
                          const struct check_result *result, bool late) {
  const enum on_fail then = result->status == CHECK_FAILED ? result->on_fail : result->on_unknown;
  if (result->status == CHECK_PASSED || then == ON_FAIL_RECORD) {
    return;
  }
  char text[CASE_REASON_MAX];
  char *reason = then == ON_FAIL_SKIP    ? preflight->skip_reason
                 : then == ON_FAIL_ABORT ? preflight->abort_reason
                                         : NULL;
  preflight_describe(result, text);
  if (late || reason == NULL) {
    say_warning(common, "%s", text);
  } else if (reason[0] == '\0') {
    memcpy(reason, text, sizeof text);
  }
}

/* One line for all checks without an answer that are recorded only: each with the first reason. */
static void preflight_say_unknown(const struct preflight *preflight,
                                  const struct common_options *common) {
  struct strbuf text;
  strbuf_init(&text, UNKNOWN_TEXT_MAX);
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
    say_note(common, "checks without an answer: %s", text.text);
  }
  strbuf_fini(&text);
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
  preflight_say_unknown(preflight, common);
}

void preflight_fini(struct preflight *preflight) {
  free(preflight->results);
}
