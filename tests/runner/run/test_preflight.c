/* The checks of a scenario after the run: what changed meanwhile. */
#include "runner/run/preflight.h"

#include "engine/machine/check.h"
#include "engine/machine/machine.h"
#include "engine/machine/telemetry.h"
#include "tests/cmocka.h"

static struct machine *machine_with(const char *governor) {
  struct machine *machine = machine_new();
  assert_non_null(machine);
  machine_add_fact(machine, "governor", -1, FACT_OK, "%s", governor);
  machine_add_fact(machine, "turbo", -1, FACT_UNAVAILABLE, "no switch");
  machine_add_fact(machine, "driver_version", -1, FACT_OK, "580.1");
  return machine;
}

TEST(a_change_during_the_run_is_a_result) {
  struct check checks[] = {{CHECK_GOVERNOR, ON_FAIL_WARN, ON_FAIL_RECORD, "performance"},
                           {CHECK_TURBO, ON_FAIL_WARN, ON_FAIL_RECORD, "on"},
                           {CHECK_DRIVER, ON_FAIL_WARN, ON_FAIL_RECORD, ">=570"}};
  const struct scenario scenario = {.checks = checks, .check_count = 3};
  const struct common_options quiet = {.quiet = true};
  struct telemetry_extent extents[MACHINE_GPUS_MAX] = {0};
  SCOPED(memory_free) struct machine *before = machine_with("performance");
  SCOPED(memory_free) struct machine *same = machine_with("performance");
  SCOPED(memory_free) struct machine *other = machine_with("powersave");
  struct preflight preflight;

  preflight_check(&preflight, &quiet, &scenario, before);
  assert_int_equal(preflight.count, 3);
  assert_int_equal(preflight.results[0].status, CHECK_PASSED);
  assert_int_equal(preflight.results[1].status, CHECK_UNAVAILABLE);
  preflight_fini(&preflight);

  preflight_check_late(&preflight, &quiet, &scenario, before, extents, same);
  assert_int_equal(preflight.count, 0);
  preflight_fini(&preflight);

  preflight_check_late(&preflight, &quiet, &scenario, before, extents, other);
  assert_int_equal(preflight.count, 1);
  assert_int_equal(preflight.results[0].kind, CHECK_GOVERNOR);
  assert_int_equal(preflight.results[0].status, CHECK_FAILED);
  assert_string_equal(preflight.results[0].found,
                      "powersave at the end, performance when the run began");
  assert_string_equal(preflight.abort_reason, "");
  preflight_fini(&preflight);
}

/* Of a node that no thread can be bound to there is no answer; what that leads to is said. */
TEST(flush_of_the_caches_is_proven_on_each_node) {
  struct check check = {CHECK_CACHE_FLUSH, ON_FAIL_WARN, ON_FAIL_ABORT, "proven"};
  const struct scenario scenario = {.checks = &check, .check_count = 1};
  const struct common_options quiet = {.quiet = true};
  SCOPED(memory_free) struct machine *machine = machine_with("performance");
  struct preflight preflight;
  preflight_check(&preflight, &quiet, &scenario, machine);
  assert_int_equal(preflight.count, 1);
  assert_int_equal(preflight.results[0].kind, CHECK_CACHE_FLUSH);
  assert_int_equal(preflight.results[0].status, CHECK_DENIED);
  assert_contains(preflight.abort_reason, "check cache_flush");
  free(preflight.results);
  machine->node_count = 1;
  machine->nodes[0] = (struct numa_node){.number = 0, .cpu_count = 1};
  preflight_check(&preflight, &quiet, &scenario, machine);
  assert_int_equal(preflight.count, 1);
  assert_true(preflight.results[0].found[0] != '\0');
  free(preflight.results);
}
