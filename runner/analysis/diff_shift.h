/* diff_shift.h - the shift of the middle case (shift.h) of a diff.
 *
 * Where each side is one run, its interval is that of earlier runs, if all cases have some: they
 * may share all that runs differ by. Else there is none. */
#pragma once

#include "runner/analysis/diff.h"

struct shift diff_shift(const struct diff_case *cases, size_t count);
