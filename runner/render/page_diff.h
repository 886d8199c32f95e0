/* page_diff.h - a comparison on a page: what `haul diff` says, strongest evidence first.
 *
 * Nothing is computed here but where things are drawn. Writing fails as in html.h. */
#ifndef HAUL_RUNNER_RENDER_PAGE_DIFF_H
#define HAUL_RUNNER_RENDER_PAGE_DIFF_H

#include "runner/analysis/compare.h"

#include <stdio.h>

/* Cases with a row of their own; the rest is counted. */
enum { PAGE_DIFF_CASES_MAX = 500 };

/* A section whose id is "comparison". names: what the sides were called. */
void page_diff(FILE *page, const struct measured *measured, const struct comparison *comparison,
               const char *const names[SIDES]);

#endif
