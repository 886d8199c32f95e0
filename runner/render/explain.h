/* explain.h - shows what explains a run or a machine, and the rules themselves. */
#pragma once

#include "runner/analysis/explain.h"
#include "runner/table/table.h"

struct json_shape;

/* For people findings with evidence, the shortfalls of the request that none touches, notes and
 * what was looked at (verbose: with its values); in other formats one row per rule and GPU. */
enum status explain_print(const struct explanation *explanation,
                          const struct explain_request *request, bool verbose,
                          const struct table_options *options, struct error *err) CHECK_RESULT;
/* One row per rule; whole: for people all of each. */
enum status explain_print_rules(const struct explain_rules *rules, bool whole,
                                const struct table_options *options,
                                struct error *err) CHECK_RESULT;

/* The columns of the rows of either. */
void explain_describe_json(struct json_shape *shape);
void explain_describe_rules_json(struct json_shape *shape);
