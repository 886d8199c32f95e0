/* planned.h - a scenario planned for a machine of tests/machines, as haul does it; whatever goes
 * wrong fails the test. */
#ifndef HAUL_TESTS_RUNNER_PLAN_PLANNED_H
#define HAUL_TESTS_RUNNER_PLAN_PLANNED_H

#include "runner/plan/plan.h"

struct planned {
  struct scenario *scenario;
  struct machine *machine;
  struct plan *plan;
};

/* A shipped scenario: scenario_name is its file in scenarios/, without ".toml". */
struct planned planned_shipped(const char *machine_name, const char *scenario_name,
                               const struct scenario_override *overrides, size_t override_count);
/* The text of a scenario. */
struct planned planned_text(const char *machine_name, const char *text);
void planned_fini(struct planned *planned);

#endif
