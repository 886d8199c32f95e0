/* Every kind of check against machines in known states. */
#include "engine/machine/check.h"

#include "engine/machine/machine.h"
#include "engine/machine/telemetry.h"
#include "tests/cmocka.h"

static struct machine *machine;

static int make_machine(void **state) {
  machine = memory_new(1, sizeof *machine);
  machine->gpu_count = 2;
  for (uint32_t i = 0; i < 2; i++) {
    struct gpu *gpu = &machine->gpus[i];
    *gpu = (struct gpu){.memory_bytes = UINT64_C(80) << 30,
                        .free_memory_bytes = UINT64_C(76) << 30,
                        .pcie_generation_max = 5,
                        .pcie_width_max = 16};
    (void)snprintf(gpu->name, sizeof gpu->name, "NVIDIA H200");
  }
  return 0;
}

static int drop_machine(void **state) {
  free(machine);
  return 0;
}

/* The result for one GPU, or for the machine at index 0. */
static struct check_result evaluate(enum check_kind kind, const char *want, size_t index) {
  struct check_result results[MACHINE_GPUS_MAX];
  const struct check check = {.kind = kind, .on_fail = ON_FAIL_WARN, .want = want};
  size_t count = check_evaluate(&check, machine, results);
  assert_true(index < count);
  assert_int_equal(results[index].kind, kind);
  assert_int_equal(results[index].on_fail, ON_FAIL_WARN);
  assert_string_equal(results[index].want, want);
  return results[index];
}

static void assert_host(enum check_kind kind, const char *want, enum check_status status,
                        const char *found) {
  struct check_result result = evaluate(kind, want, 0);
  assert_int_equal(result.gpu, -1);
  assert_int_equal(result.status, status);
  assert_string_equal(result.found, found);
}

static void assert_gpu(enum check_kind kind, const char *want, uint32_t gpu,
                       enum check_status status, const char *found) {
  struct check_result result = evaluate(kind, want, gpu);
  assert_int_equal(result.gpu, gpu);
  assert_int_equal(result.status, status);
  assert_string_equal(result.found, found);
}

TEST_WITH(test_host_facts, make_machine, drop_machine) {
  machine_add_fact(machine, "governor", -1, FACT_OK, "powersave");
  machine_add_fact(machine, "turbo", -1, FACT_UNAVAILABLE, "no switch");
  machine_add_fact(machine, "numa_balancing", -1, FACT_DENIED, "not for you");
  machine_add_fact(machine, "huge_pages", -1, FACT_OK, "madvise");
  assert_host(CHECK_GOVERNOR, "performance", CHECK_FAILED, "powersave");
  assert_host(CHECK_GOVERNOR, "powersave", CHECK_PASSED, "powersave");
  assert_host(CHECK_TURBO, "off", CHECK_UNAVAILABLE, "no switch");
  assert_host(CHECK_NUMA_BALANCING, "off", CHECK_DENIED, "not for you");
  assert_host(CHECK_HUGE_PAGES, "madvise", CHECK_PASSED, "madvise");
  assert_host(CHECK_DRIVER, ">=570", CHECK_UNAVAILABLE, "the machine does not say");
}

TEST_WITH(test_booleans_are_on_and_off, make_machine, drop_machine) {
  machine_add_fact(machine, "turbo", -1, FACT_OK, "on");
  assert_host(CHECK_TURBO, "true", CHECK_PASSED, "on");
  assert_host(CHECK_TURBO, "false", CHECK_FAILED, "on");
  assert_host(CHECK_TURBO, "off", CHECK_FAILED, "on");
}

TEST_WITH(test_driver_versions, make_machine, drop_machine) {
  static const struct {
    const char *want;
    bool passes;
  } CASES[] = {{">=570", true},         {">=580.159.04", true},
               {">=580.159.5", false},  {">= 580.16", true} /* 159 is more than 16 */,
               {">580.159.04", false},  {">580.99", true},
               {"<590", true},          {"<580.159.04", false},
               {"<=580.159.04", true},  {"==580.159.04", true},
               {"==580", false},        {"!=580.95.05", true},
               {"!=580.159.04", false}, {"580", true},
               {"580.159", true},       {"580.15", false},
               {"58", false},           {"580.159.04.1", false}};
  machine_add_fact(machine, "driver_version", -1, FACT_OK, "580.159.04");
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    struct check_result result = evaluate(CHECK_DRIVER, CASES[i].want, 0);
    if ((result.status == CHECK_PASSED) != CASES[i].passes) {
      fail_msg("%s: %s", CASES[i].want, check_status_text(result.status));
    }
  }
}

TEST_WITH(test_gpu_facts, make_machine, drop_machine) {
  machine_add_fact(machine, "ecc", 0, FACT_OK, "on");
  machine_add_fact(machine, "ecc", 1, FACT_OK, "off");
  machine_add_fact(machine, "mig", 0, FACT_OK, "off");
  machine_add_fact(machine, "mig", 1, FACT_UNAVAILABLE, "Not Supported");
  machine_add_fact(machine, "persistence", 0, FACT_OK, "on");
  machine_add_fact(machine, "persistence", 1, FACT_DENIED, "no");
  machine_add_fact(machine, "gpu_clocks", 0, FACT_OK, "default");
  machine_add_fact(machine, "gpu_clocks", 1, FACT_OK, "locked");
  assert_gpu(CHECK_ECC, "on", 0, CHECK_PASSED, "on");
  assert_gpu(CHECK_ECC, "true", 1, CHECK_FAILED, "off");
  assert_gpu(CHECK_MIG, "off", 0, CHECK_PASSED, "off");
  assert_gpu(CHECK_MIG, "off", 1, CHECK_UNAVAILABLE, "Not Supported");
  assert_gpu(CHECK_PERSISTENCE, "on", 0, CHECK_PASSED, "on");
  assert_gpu(CHECK_PERSISTENCE, "on", 1, CHECK_DENIED, "no");
  assert_gpu(CHECK_GPU_CLOCKS, "default", 0, CHECK_PASSED, "default");
  assert_gpu(CHECK_GPU_CLOCKS, "default", 1, CHECK_FAILED, "locked");
}

TEST_WITH(test_idle, make_machine, drop_machine) {
  machine->gpus[0].utilization_percent = 2; /* asking is not work */
  machine->gpus[1].utilization_percent = 97;
  machine->gpus[1].process_count = 1;
  assert_gpu(CHECK_GPU_IDLE, "true", 0, CHECK_PASSED, "idle");
  assert_gpu(CHECK_GPU_IDLE, "true", 1, CHECK_FAILED, "1 compute process, 97 % busy");
  assert_gpu(CHECK_GPU_IDLE, "false", 1, CHECK_PASSED, "1 compute process, 97 % busy");
  machine->gpus[0].process_count = 2;
  assert_gpu(CHECK_GPU_IDLE, "true", 0, CHECK_FAILED, "2 compute processes, 2 % busy");
  machine->gpus[1].utilization_percent = -1;
  machine->gpus[1].process_count = -1;
  assert_int_equal(evaluate(CHECK_GPU_IDLE, "true", 1).status, CHECK_UNAVAILABLE);
}

TEST_WITH(test_names, make_machine, drop_machine) {
  (void)snprintf(machine->gpus[1].name, sizeof machine->gpus[1].name, "NVIDIA L40S");
  assert_gpu(CHECK_GPU_NAME, "*h200*", 0, CHECK_PASSED, "NVIDIA H200");
  assert_gpu(CHECK_GPU_NAME, "*h200*", 1, CHECK_FAILED, "NVIDIA L40S");
  assert_gpu(CHECK_GPU_NAME, "NVIDIA ?40S", 1, CHECK_PASSED, "NVIDIA L40S");
}

TEST_WITH(test_free_memory, make_machine, drop_machine) {
  static const char FOUND[] = "76.0 GiB free, 95.0 % of 80.0 GiB";
  assert_gpu(CHECK_FREE_MEMORY, "0.9", 0, CHECK_PASSED, FOUND);
  assert_gpu(CHECK_FREE_MEMORY, "0.96", 0, CHECK_FAILED, FOUND);
  assert_gpu(CHECK_FREE_MEMORY, "1", 0, CHECK_FAILED, FOUND);
  assert_gpu(CHECK_FREE_MEMORY, "76GiB", 0, CHECK_PASSED, FOUND);
  assert_gpu(CHECK_FREE_MEMORY, "77GiB", 0, CHECK_FAILED, FOUND);
  machine->gpus[1].free_memory_bytes = 0;
  assert_int_equal(evaluate(CHECK_FREE_MEMORY, "0.9", 1).status, CHECK_UNAVAILABLE);
  assert_int_equal(evaluate(CHECK_FREE_MEMORY, "much", 0).status, CHECK_FAILED);
}

TEST_WITH(test_telemetry, make_machine, drop_machine) {
  struct telemetry_extent extents[MACHINE_GPUS_MAX];
  struct check_result results[MACHINE_GPUS_MAX];
  telemetry_extent_init(&extents[0]);
  telemetry_extent_init(&extents[1]);
  extents[0].throttle_reasons = 0x4;
  extents[0].pcie_generation_max = 5;
  extents[0].pcie_width_max = 8;
  struct check check = {.kind = CHECK_THROTTLING, .want = "none"};
  assert_true(check_needs_telemetry(CHECK_THROTTLING));
  assert_int_equal(check_evaluate(&check, machine, results), 0);
  assert_int_equal(check_evaluate_telemetry(&check, machine, extents, results), 2);
  assert_int_equal(results[0].status, CHECK_FAILED);
  assert_string_equal(results[0].found, "sw_power_cap");
  assert_int_equal(results[1].status, CHECK_UNAVAILABLE);
  check = (struct check){.kind = CHECK_PCIE_LINK, .want = "max"};
  assert_int_equal(check_evaluate_telemetry(&check, machine, extents, results), 2);
  assert_int_equal(results[0].status, CHECK_FAILED);
  assert_string_equal(results[0].found, "gen5 x8");
  assert_int_equal(results[1].status, CHECK_UNAVAILABLE);
  extents[0].pcie_width_max = 16;
  (void)check_evaluate_telemetry(&check, machine, extents, results);
  assert_int_equal(results[0].status, CHECK_PASSED);
  check.want = "gen4 x8";
  (void)check_evaluate_telemetry(&check, machine, extents, results);
  assert_int_equal(results[0].status, CHECK_PASSED);
  check.kind = CHECK_ECC;
  assert_int_equal(check_evaluate_telemetry(&check, machine, extents, results), 0);
}

TEST_WITH(test_no_gpus, make_machine, drop_machine) {
  struct check_result results[MACHINE_GPUS_MAX];
  machine->gpu_count = 0;
  const struct check check = {.kind = CHECK_ECC, .want = "on"};
  assert_int_equal(check_evaluate(&check, machine, results), 0);
}
