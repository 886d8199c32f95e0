#include "tests/runner/plan/planned.h"

#include "schema/machine/machine_file.h"
#include "tests/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 512 };

static void find_machine(struct planned *planned, const char *machine_name) {
  struct error err = {.message = ""};
  char path[PATH_BYTES];
  planned->machine = calloc(1, sizeof *planned->machine);
  assert_non_null(planned->machine);
  (void)snprintf(path, sizeof path, "%s/tests/machines/%s", HAUL_SOURCE_DIR, machine_name);
  assert_int_equal(machine_file_load(path, planned->machine, &err), STATUS_OK);
}

/* What the reading of the scenario came to; frees the diagnostics. */
static void make_plan(struct planned *planned, enum status status,
                      struct diagnostics *diagnostics) {
  struct error err = {.message = ""};
  if (status != STATUS_OK) {
    diagnostics_print(diagnostics, stderr, false);
    fail();
  }
  diagnostics_free(diagnostics);
  assert_int_equal(plan_new(planned->scenario, planned->machine, NULL, &planned->plan, &err),
                   STATUS_OK);
}

struct planned planned_shipped(const char *machine_name, const char *scenario_name,
                               const struct scenario_override *overrides, size_t override_count) {
  struct planned planned = {0};
  char path[PATH_BYTES];
  find_machine(&planned, machine_name);
  (void)snprintf(path, sizeof path, "%s/scenarios/%s.toml", HAUL_SOURCE_DIR, scenario_name);
  struct diagnostics *diagnostics = diagnostics_new();
  make_plan(&planned,
            scenario_load(path, overrides, override_count, &planned.scenario, diagnostics),
            diagnostics);
  return planned;
}

struct planned planned_text(const char *machine_name, const char *text) {
  struct planned planned = {0};
  find_machine(&planned, machine_name);
  struct diagnostics *diagnostics = diagnostics_new();
  make_plan(
      &planned,
      scenario_parse(text, strlen(text), "test.toml", NULL, 0, &planned.scenario, diagnostics),
      diagnostics);
  return planned;
}

void planned_fini(struct planned *planned) {
  plan_free(planned->plan);
  scenario_free(planned->scenario);
  free(planned->machine);
}
