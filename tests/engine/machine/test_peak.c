/* Theoretical rates against published ones, and the small functions of machine.c. */
#include "engine/machine/machine.h"

#include "tests/cmocka.h"

static void assert_gigabytes(uint64_t bytes_per_second, double expected, double tolerance) {
  double found = (double)bytes_per_second / 1e9;
  if (found < expected - tolerance || found > expected + tolerance) {
    fail_msg("%.3f GB/s, expected %.3f", found, expected);
  }
}

TEST(test_dram) {
  /* H200: 4814 GB/s; H100 SXM: 3352; L40S: 864 (NVIDIA's data sheets round them). */
  assert_gigabytes(peak_dram(&(struct gpu){.memory_clock_khz = 3201000, .memory_bus_bits = 6016}),
                   4814.3, 0.1);
  assert_gigabytes(peak_dram(&(struct gpu){.memory_clock_khz = 2619000, .memory_bus_bits = 5120}),
                   3352.3, 0.1);
  assert_gigabytes(peak_dram(&(struct gpu){.memory_clock_khz = 9001000, .memory_bus_bits = 384}),
                   864.1, 0.1);
  assert_int_equal(peak_dram(&(struct gpu){.memory_bus_bits = 384}), 0);
}

TEST(test_pcie) {
  assert_gigabytes(peak_pcie(1, 16), 4.0, 0.001);
  assert_gigabytes(peak_pcie(2, 8), 4.0, 0.001);
  assert_gigabytes(peak_pcie(3, 16), 15.754, 0.001);
  assert_gigabytes(peak_pcie(4, 16), 31.508, 0.001);
  assert_gigabytes(peak_pcie(5, 16), 63.015, 0.001);
  assert_gigabytes(peak_pcie(6, 16), 121.0, 0.001);
  assert_int_equal(peak_pcie(0, 16), 0);
  assert_int_equal(peak_pcie(5, 0), 0);
  assert_int_equal(peak_pcie(99, 16), 0);
}

TEST(test_gpu_host) {
  enum limit limit;
  struct gpu gpu = {.pcie_generation_max = 5, .pcie_width_max = 16};
  assert_gigabytes(peak_gpu_host(&gpu, &limit), 63.015, 0.001);
  assert_int_equal(limit, LIMIT_PCIE);
  gpu.c2c_bytes_per_second = 447120000000;
  assert_int_equal(peak_gpu_host(&gpu, &limit), 447120000000);
  assert_int_equal(limit, LIMIT_C2C);
  assert_int_equal(peak_gpu_host(&(struct gpu){0}, &limit), 0);
  assert_int_equal(limit, LIMIT_UNKNOWN);
}

/* Nodes 0 and 2 with processors, 1 without memory that this process may use, 4 and 5 without
 * processors (CXL); 4 is nearer to 2, of 5 nothing is known. */
TEST(test_nodes) {
  SCOPED(memory_free) struct machine *machine = machine_new();
  assert_non_null(machine);
  const struct numa_node nodes[] = {{.number = 1, .cpu_count = 4},
                                    {.number = 0, .cpu_count = 4, .memory_bytes = 1},
                                    {.number = 2, .cpu_count = 4, .memory_bytes = 1},
                                    {.number = 4, .memory_bytes = 1},
                                    {.number = 5, .memory_bytes = 1}};
  machine->node_count = COUNT_OF(nodes);
  memcpy(machine->nodes, nodes, sizeof nodes);
  const uint8_t distances[] = {30, 24, 14, 10};
  memcpy(machine->node_distance[3], distances, sizeof distances);
  assert_int_equal(machine_processor_node(machine, 2), 2);
  assert_int_equal(machine_processor_node(machine, 4), 2);
  assert_int_equal(machine_processor_node(machine, 5), 1);
  assert_int_equal(machine_processor_node(machine, 7), -1);
  machine->gpu_count = 3;
  machine->gpus[0].numa_node = 2;
  machine->gpus[1].numa_node = 1;
  machine->gpus[2].numa_node = 7; /* another's cpuset */
  assert_int_equal(machine_memory_node(machine, 0), 2);
  assert_int_equal(machine_memory_node(machine, 1), 0);
  assert_int_equal(machine_memory_node(machine, 2), 0);
}

TEST(test_gpu_gpu) {
  enum limit limit;
  SCOPED(memory_free) struct machine *machine = memory_new(1, sizeof *machine);
  machine->gpu_count = 2;
  machine->gpus[0] = (struct gpu){.pcie_generation_max = 5,
                                  .pcie_width_max = 16,
                                  .memory_clock_khz = 3201000,
                                  .memory_bus_bits = 6016};
  machine->gpus[1] = (struct gpu){.pcie_generation_max = 4, .pcie_width_max = 8};
  assert_gigabytes(peak_gpu_gpu(machine, 0, 1, &limit), 15.754, 0.001);
  assert_int_equal(limit, LIMIT_PCIE);
  machine->links[0][1] =
      (struct gpu_link){.nvlink_count = 18, .bytes_per_second = 18 * UINT64_C(26562000000)};
  assert_gigabytes(peak_gpu_gpu(machine, 0, 1, &limit), 478.116, 0.001);
  assert_int_equal(limit, LIMIT_NVLINK);
  assert_gigabytes(peak_gpu_gpu(machine, 0, 0, &limit), 4814.3, 0.1);
  assert_int_equal(limit, LIMIT_DRAM);
  /* Links of unknown speed: unknown, and not the speed of PCIe. */
  machine->links[0][1].bytes_per_second = 0;
  assert_int_equal(peak_gpu_gpu(machine, 0, 1, &limit), 0);
}

TEST(test_pci_addresses) {
  char address[16];
  assert_true(machine_normalise_pci("00000000:0A:00.0", address));
  assert_string_equal(address, "0000:0a:00.0");
  assert_true(machine_normalise_pci("00010002:01:1f.7", address));
  assert_string_equal(address, "10002:01:1f.7");
  assert_false(machine_normalise_pci("", address));
  assert_false(machine_normalise_pci("0000:01:00", address));
  assert_false(machine_normalise_pci("0000:01:20.0", address));
  assert_false(machine_normalise_pci("0000:01:00.8", address));
  assert_false(machine_normalise_pci("0000:01:00.0 ", address));
  assert_true(machine_compare_pci("0000:0a:00.0", "0000:1b:00.0") < 0);
  assert_true(machine_compare_pci("ffff:0a:00.0", "10000:01:00.0") < 0);
  assert_int_equal(machine_compare_pci("0000:0a:00.0", "0000:0a:00.0"), 0);
}

TEST(test_facts_are_found_and_bounded) {
  SCOPED(memory_free) struct machine *machine = memory_new(1, sizeof *machine);
  machine_add_fact(machine, "ecc", 1, FACT_OK, "o%s", "n");
  machine_add_fact(machine, "odd", -1, FACT_DENIED, "a\tb\033[m");
  assert_null(machine_fact(machine, "ecc", 0));
  assert_string_equal(machine_fact(machine, "ecc", 1)->value, "on");
  assert_string_equal(machine_fact(machine, "odd", -1)->value, "a b [m");
  machine_add_fact(machine, "long", -1, FACT_OK, "%0*d", FACT_VALUE_MAX + 10, 1);
  const struct fact *fact = machine_fact(machine, "long", -1);
  assert_int_equal(strlen(fact->value), FACT_VALUE_MAX - 1);
  assert_string_equal(fact->value + FACT_VALUE_MAX - 4, "...");
  for (int i = 0; i < 2 * MACHINE_FACTS_MAX; i++) {
    machine_add_fact(machine, "many", -1, FACT_OK, "%d", i);
  }
  assert_int_equal(machine->fact_count, MACHINE_FACTS_MAX);
}
