/* plan_json.h - a plan as one JSON object; see plan.h. */
#ifndef HAUL_RUNNER_RENDER_PLAN_JSON_H
#define HAUL_RUNNER_RENDER_PLAN_JSON_H

#include "runner/plan/plan.h"

#include <stdio.h>

enum status plan_render_json(const struct plan *plan, uint32_t processes, FILE *stream,
                             struct error *err) CHECK_RESULT;

#endif
