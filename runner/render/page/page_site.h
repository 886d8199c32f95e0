/* page_site.h - years of results at a glance: what changed on single machines, what each driver
 * changed, machines by weeks or days, a small chart per block, and links to pages of runs and
 * comparisons. At most 1 MB, whatever the database holds. */
#pragma once

#include "runner/analysis/machines.h"
#include "runner/table/result_set.h"

#include <stdio.h>

/* What `haul diff` says of two drivers: "1 regressed, 77 same (gpu2, -20 %)". */
struct site_verdict {
  const char *words; /* NULL = they could not be compared */
  bool regressed;
};

/* All borrowed. */
struct site_findings {
  const struct results *results;
  const struct machines *machines;
  const struct result_set *changes;    /* saved query changes */
  const char *const *run_files;        /* by run in measured; NULL = it has no page */
  const char *const *upgrade_files;    /* by upgrade; NULL = it has none */
  const struct site_verdict *verdicts; /* by upgrade */
};

enum status page_site(FILE *page, const struct site_findings *found, const char *haul_version,
                      struct error *err) CHECK_RESULT;

/* What a machine is slower than, in words: "the others", "usual". */
const char *page_site_peers(const struct machines *machines);
/* The section of blocks, for page_site() (page_site_blocks.c). */
void page_site_blocks(FILE *page, const struct machines *machines);
