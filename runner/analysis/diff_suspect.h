/* diff_suspect.h - changes that few runs leave open and their processes show.
 *
 * Two or three runs a side seldom decide a case (diff.h), so that one run more could hide a change
 * that one run a side shows. A case that is open, whose 95 % interval lies beyond the threshold,
 * and whose processes show the change as they would with one run per side, is reported: with the
 * doubt FEW. */
#pragma once

#include "runner/analysis/diff.h"

/* results: of diff_compare() with the same options. */
void diff_suspect(const struct diff_case *cases, size_t count, const struct diff_options *options,
                  struct diff_result *results);
