/* plan.h - what `haul plan` prints.
 *
 *   table, md  for people: the cases to measure, of many the blocks, then what is skipped
 *          by reason, what is the same measurement as another case, and the totals
 *   json   one object: scenario, machine, totals, and every case with its flows, the skipped ones
 *          with skip_reason; written as it goes
 *   others one row per case, the skipped ones with skip_reason, sizes in bytes and times in ns
 *
 * Writing fails as in runner/table/table.h: a reader that went away is no error. */
#pragma once

#include "runner/plan/plan.h"
#include "runner/table/table.h"

#include <stdio.h>

struct document;
struct json_shape;
struct power_request;

/* details: with settings and loads of each block, and the checks, in the form for people. */
enum status plan_render(const struct plan *plan, uint32_t processes, bool details,
                        const struct table_options *options, struct error *err) CHECK_RESULT;
/* Those details. */
void plan_put_details(struct document *document, const struct plan *plan);
/* plan --detect: a row per number of processes, and before them, for people, the best. */
enum status plan_detect_print(const struct power_request *request,
                              const struct table_options *options, struct error *err) CHECK_RESULT;
/* The members of plan_print_json(). */
void plan_describe_json(struct json_shape *shape);
/* What plan_render() does for LAYOUT_OBJECT. */
enum status plan_print_json(const struct plan *plan, uint32_t processes, FILE *stream,
                            struct error *err) CHECK_RESULT;
