/* page_fleet.h - a fleet on one page: what to swap, who is missing, nodes x blocks, and what
 * changed since the last fleet. */
#pragma once

#include "runner/analysis/outliers.h"
#include "runner/table/result_set.h"

#include <stdio.h>

/* What is known of a fleet; all borrowed but for the rows of queries. */
struct fleet_findings {
  const struct results *results; /* the last of its runs is one of the fleet */
  const char *name, *before; /* of both fleets; NULL = they have none, or there is none before */
  const struct outliers *now, *changes; /* changes: NULL = there is nothing before */
  struct result_set nodes;              /* saved query nodes */
  struct result_set reasons;            /* saved query node-reasons */
  size_t absent;                        /* nodes that are not ok */
};

enum status page_fleet(FILE *page, const struct fleet_findings *found, const char *haul_version,
                       struct error *err) CHECK_RESULT;
