#include "runner/analyse/outliers_state.h"

#include <stdlib.h>

ENUM_NAMES_DEFINE(entity, ENTITY_LIST)
ENUM_NAMES_DEFINE(outlier_role, OUTLIER_ROLE_LIST)
ENUM_NAMES_DEFINE(size_class, SIZE_CLASS_LIST)
ENUM_NAMES_DEFINE(finding, FINDING_LIST)

enum status outliers_find(const struct measured *measured, struct outliers **outliers,
                          struct error *err) {
  size_t simulated = 0;
  for (size_t i = 0; i < measured->run_count; i++) {
    simulated += measured->environments[measured->runs[i].environment].simulated;
  }
  if (simulated > 0 && simulated < measured->run_count) {
    return error_set(err, STATUS_INVALID,
                     "%zu of the %zu runs are simulated: simulated and real results are never "
                     "compared; --where simulated=0 leaves the simulated ones out",
                     simulated, measured->run_count);
  }
  struct finder f = {.measured = measured, .outliers = outliers_array(1, sizeof *f.outliers)};
  outliers_read(&f);
  outliers_look(&f);
  outliers_judge(&f);
  arena_fini(&f.arena);
  *outliers = f.outliers;
  return STATUS_OK;
}

void outliers_free(struct outliers *outliers) {
  if (outliers == NULL) {
    return;
  }
  arena_fini(&outliers->arena);
  free(outliers);
}
