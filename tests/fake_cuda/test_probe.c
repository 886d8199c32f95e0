/* What haul finds on a fake machine is what the machine's file says. */
#include "tests/fake_cuda/in_child.h"

#include "engine/machine/machine.h"
#include "engine/machine/probe.h"
#include "schema/machine/machine_file.h"

#include <string.h>

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

static struct machine found;
static struct machine wanted;

static void compare_facts(int32_t gpu) {
  for (uint32_t i = 0; i < wanted.fact_count; i++) {
    const struct fact *fact = &wanted.facts[i];
    bool ours = fact->gpu >= 0 || strcmp(fact->name, "driver_version") == 0 ||
                strcmp(fact->name, "cuda_driver_version") == 0;
    if (fact->gpu != gpu || !ours) {
      continue;
    }
    const struct fact *answer = machine_fact(&found, fact->name, gpu);
    if (answer == NULL || answer->state != fact->state ||
        (fact->state == FACT_OK && strcmp(answer->value, fact->value) != 0)) {
      (void)fprintf(stderr, "fact %s of GPU %d: %s\n", fact->name, gpu,
                    answer == NULL ? "not there" : answer->value);
      FAIL("not so: facts agree");
    }
  }
}

static void compare_gpu(uint32_t i) {
  const struct gpu *a = &found.gpus[i];
  const struct gpu *b = &wanted.gpus[i];
  CHECK(strcmp(a->name, b->name) == 0);
  CHECK(strcmp(a->uuid, b->uuid) == 0);
  CHECK(strcmp(a->pci_address, b->pci_address) == 0);
  CHECK(a->numa_node == b->numa_node && a->cuda_ordinal == b->cuda_ordinal);
  CHECK(a->compute_major == b->compute_major && a->sm_count == b->sm_count);
  CHECK(a->copy_engine_count == b->copy_engine_count && a->l2_bytes == b->l2_bytes);
  CHECK(a->memory_bytes == b->memory_bytes && a->memory_bus_bits == b->memory_bus_bits);
  CHECK(a->memory_clock_khz == b->memory_clock_khz && a->pcie_width_max == b->pcie_width_max);
  CHECK(a->pcie_generation == b->pcie_generation && a->nvlink_count == b->nvlink_count);
  CHECK(a->nvlink_bytes_per_second == b->nvlink_bytes_per_second);
  CHECK(a->c2c_bytes_per_second == b->c2c_bytes_per_second);
  CHECK(a->process_count == b->process_count && a->host_page_tables == b->host_page_tables);
  for (uint32_t to = 0; to < wanted.gpu_count; to++) {
    CHECK(found.links[i][to].peer_access == wanted.links[i][to].peer_access);
    CHECK(found.links[i][to].nvlink_count == wanted.links[i][to].nvlink_count);
    CHECK(found.links[i][to].bytes_per_second == wanted.links[i][to].bytes_per_second);
  }
  compare_facts((int32_t)i);
}

static void machine_is_found(const struct cuda_driver *none) {
  (void)none;
  struct error error = {0};
  if (machine_file_load(getenv("HAUL_FAKE_MACHINE"), &wanted, &error) != STATUS_OK ||
      machine_probe(&found, &error) != STATUS_OK) {
    (void)fprintf(stderr, "%s\n", error.message);
    FAIL("not so: the machine is read and probed");
  }
  CHECK(found.simulated && strcmp(found.cuda_state, "ok") == 0);
  CHECK(found.gpu_count == wanted.gpu_count && found.node_count == wanted.node_count);
  CHECK(found.driver_cuda_version == wanted.driver_cuda_version);
  for (uint32_t i = 0; i < wanted.node_count; i++) {
    CHECK(found.nodes[i].number == wanted.nodes[i].number);
    CHECK(found.node_distance[0][i] == wanted.node_distance[0][i]);
  }
  compare_facts(-1);
  for (uint32_t i = 0; i < wanted.gpu_count; i++) {
    compare_gpu(i);
  }
}

static void test_machines_are_found(void **state) {
  (void)state;
  const char *machines[] = {"h100x8-nvlink.toml", "l40sx4-pcie.toml", "gh200.toml", "h200x4.toml"};
  for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
    print_message("%s\n", machines[i]);
    assert_int_equal(in_child_unloaded(machine_is_found, machines[i], NULL), 0);
  }
}

static void version_is_overridden(const struct cuda_driver *none) {
  (void)none;
  struct error error = {0};
  CHECK(machine_probe(&found, &error) == STATUS_OK);
  CHECK(strcmp(machine_fact(&found, "driver_version", -1)->value, "590.44.01") == 0);
}

static void test_version_is_overridden(void **state) {
  (void)state;
  assert_int_equal(in_child_unloaded(version_is_overridden, "h200x4.toml",
                                     "[fake]\ndriver_version = \"590.44.01\"\n"),
                   0);
}

static void nvml_needs_its_init(const struct cuda_driver *none) {
  (void)none;
  struct nvml nvml;
  struct error error = {0};
  CHECK(nvml_load(&nvml, &error) == STATUS_OK);
  struct nvml_device *device = probe_nvml_device(&nvml, "0000:1b:00.0");
  CHECK(device != NULL && probe_nvml_device(&nvml, "0000:ff:00.0") == NULL);
  unsigned value;
  unsigned long long reasons;
  CHECK(nvml.nvmlDeviceGetTemperature(device, NVML_SENSOR_OF_GPU, &value) == NVML_OK);
  CHECK(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(device, &reasons) == NVML_OK);
  CHECK(reasons == NVML_THROTTLE_SW_POWER_CAP);
  CHECK(nvml.nvmlDeviceGetHandleByIndex_v2(8, &device) == NVML_INVALID_ARGUMENT);
  struct nvml copy = nvml;
  nvml_unload(&nvml);
  CHECK(copy.nvmlDeviceGetTemperature(device, NVML_SENSOR_OF_GPU, &value) == NVML_UNINITIALIZED);
}

static void test_nvml_needs_its_init(void **state) {
  (void)state;
  assert_int_equal(in_child_unloaded(nvml_needs_its_init, "h100x8-nvlink.toml",
                                     "[fake]\nthrottle_reasons = 4\n"),
                   0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_machines_are_found),
      cmocka_unit_test(test_version_is_overridden),
      cmocka_unit_test(test_nvml_needs_its_init),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
