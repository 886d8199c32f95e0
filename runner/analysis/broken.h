/* broken.h - which cases are not ok more often on side b, beyond chance. */
#pragma once

#include "runner/analysis/diff.h"

/* broken holds count. */
void broken_find(const struct diff_case *cases, size_t count, double false_discovery_rate,
                 bool *broken);
