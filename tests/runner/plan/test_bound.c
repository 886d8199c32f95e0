/* The least window of a case: rates worked out by hand from the machines' numbers. */
#include "engine/case/transfer.h"
#include "engine/machine/machine.h"
#include "runner/plan/bound.h"
#include "tests/runner/plan/fixture.h"

#define SIZE  (UINT64_C(64) << 20)
#define PCIE5 (UINT64_C(32000000000) * 16 * 128 / 130 / 8) /* 63.0 GB/s */
#define PCIE4 (UINT64_C(16000000000) * 16 * 128 / 130 / 8)
#define NV18  (UINT64_C(26570000000) * 18)          /* 478.3 GB/s */
#define DRAM  (UINT64_C(2619000000) * 2 * 5120 / 8) /* 3352 GB/s */
#define C2C   UINT64_C(450000000000)

static struct flow gpu_gpu(int32_t from, int32_t to) {
  return (struct flow){.method = METHOD_CE,
                       .source = {.place = PLACE_GPU, .index = from, .memory = MEMORY_DEVICE},
                       .target = {.place = PLACE_GPU, .index = to, .memory = MEMORY_DEVICE},
                       .size_bytes = SIZE};
}

static struct flow host_gpu(int32_t node, int32_t gpu) {
  struct flow flow = gpu_gpu(gpu, gpu);
  flow.source = endpoint_own(PLACE_NUMA, node, MEMORY_PINNED);
  return flow;
}

static struct flow gpu_host(int32_t gpu, int32_t node) {
  struct flow flow = gpu_gpu(gpu, gpu);
  flow.target = endpoint_own(PLACE_NUMA, node, MEMORY_PINNED);
  return flow;
}

static void expect(struct machine *machine, const struct flow *flows, uint32_t count,
                   enum limit limit, uint64_t payload_bytes, uint64_t traffic_bytes,
                   uint64_t peak) {
  struct bound bound;
  bound_of_flows(flows, count, machine, &bound);
  assert_int_equal(bound.limit, limit);
  assert_int_equal(bound.payload_bytes, payload_bytes);
  assert_int_equal(bound.traffic_bytes, traffic_bytes);
  assert_int_equal(bound.peak_bytes_per_second, peak);
  free(machine);
}

TEST(one_flow_has_the_peak_of_its_link) {
  expect(machine_8xh100(), (struct flow[]){host_gpu(0, 0)}, 1, LIMIT_PCIE, SIZE, SIZE, PCIE5);
  expect(machine_8xh100(), (struct flow[]){gpu_host(3, 1)}, 1, LIMIT_PCIE, SIZE, SIZE, PCIE5);
  expect(machine_gh200(), (struct flow[]){host_gpu(0, 0)}, 1, LIMIT_C2C, SIZE, SIZE, C2C);
  expect(machine_8xh100(), (struct flow[]){gpu_gpu(0, 1)}, 1, LIMIT_NVLINK, SIZE, SIZE, NV18);
  expect(machine_4xl40s(), (struct flow[]){gpu_gpu(0, 1)}, 1, LIMIT_PCIE, SIZE, SIZE, PCIE4);
}

static struct flow nodes(int32_t from, int32_t to) {
  struct flow flow = host_gpu(from, 0);
  flow.target = endpoint_own(PLACE_NUMA, to, MEMORY_PAGEABLE);
  return flow;
}

/* Node 1 of a GH200 is its GPU's memory. */
TEST(a_node_that_is_gpu_memory_has_the_peaks_of_that_gpu) {
  expect(machine_gh200(), (struct flow[]){nodes(0, 1)}, 1, LIMIT_C2C, SIZE, SIZE, C2C);
  expect(machine_gh200(), (struct flow[]){nodes(1, 0)}, 1, LIMIT_C2C, SIZE, SIZE, C2C);
  expect(machine_gh200(), (struct flow[]){host_gpu(1, 0)}, 1, LIMIT_DRAM, SIZE, 2 * SIZE, DRAM);
  expect(machine_gh200(), (struct flow[]){nodes(0, 0)}, 1, LIMIT_UNKNOWN, SIZE, SIZE, 0);
  struct machine *kept_by_the_driver = machine_gh200();
  kept_by_the_driver->gpus[0].memory_node = -1;
  expect(kept_by_the_driver, (struct flow[]){nodes(0, 1)}, 1, LIMIT_UNKNOWN, SIZE, SIZE, 0);
}

TEST(a_local_copy_reads_and_writes) {
  expect(machine_8xh100(), (struct flow[]){gpu_gpu(2, 2)}, 1, LIMIT_DRAM, SIZE, 2 * SIZE, DRAM);
  /* Two memories at once: twice the bytes in the same time. */
  expect(machine_8xh100(), (struct flow[]){gpu_gpu(2, 2), gpu_gpu(3, 3)}, 2, LIMIT_DRAM, 2 * SIZE,
         4 * SIZE, 2 * DRAM);
}

/* Up to twice the 50 MiB of the L2 cache, all copies inside the GPU together. */
TEST(a_local_copy_that_a_cache_may_serve_has_no_peak) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  const uint64_t l2_bytes = machine->gpus[2].l2_bytes;
  struct flow small = gpu_gpu(2, 2);
  small.size_bytes = l2_bytes;
  expect(machine_8xh100(), &small, 1, LIMIT_UNKNOWN, l2_bytes, l2_bytes, 0);
  small.size_bytes++;
  expect(machine_8xh100(), &small, 1, LIMIT_DRAM, l2_bytes + 1, 2 * (l2_bytes + 1), DRAM);
  expect(machine_8xh100(), (struct flow[]){small, small}, 2, LIMIT_DRAM, 2 * (l2_bytes + 1),
         4 * (l2_bytes + 1), DRAM);
  small.size_bytes = l2_bytes / 4;
  expect(machine_8xh100(), (struct flow[]){small, gpu_gpu(2, 2)}, 2, LIMIT_DRAM,
         SIZE + l2_bytes / 4, 2 * (SIZE + l2_bytes / 4), DRAM);
  /* Links have no cache before them. */
  small = host_gpu(0, 0);
  small.size_bytes = 4096;
  expect(machine_8xh100(), &small, 1, LIMIT_PCIE, 4096, 4096, PCIE5);
}

TEST(one_per_cent_above_the_peak_is_exceeded) {
  assert_false(bound_is_exceeded(1010, UINT64_C(1000000000), 1000));
  assert_true(bound_is_exceeded(1011, UINT64_C(1000000000), 1000));
  assert_false(bound_is_exceeded(1011, 0, 1));
}

TEST(both_directions_have_twice_the_peak) {
  expect(machine_8xh100(), (struct flow[]){host_gpu(0, 0), gpu_host(0, 0)}, 2, LIMIT_PCIE, 2 * SIZE,
         2 * SIZE, 2 * PCIE5);
  expect(machine_8xh100(), (struct flow[]){gpu_gpu(0, 1), gpu_gpu(1, 0)}, 2, LIMIT_NVLINK, 2 * SIZE,
         2 * SIZE, 2 * NV18);
  /* Not so where both flows go the same way. */
  expect(machine_8xh100(), (struct flow[]){host_gpu(0, 0), host_gpu(1, 0)}, 2, LIMIT_PCIE, 2 * SIZE,
         2 * SIZE, PCIE5);
}

TEST(many_links_add_up_and_one_port_does_not) {
  struct flow flows[8];
  for (int32_t i = 0; i < 8; i++) {
    flows[i] = host_gpu(i / 4, i);
  }
  expect(machine_8xh100(), flows, 8, LIMIT_PCIE, 8 * SIZE, 8 * SIZE, 8 * PCIE5);
  for (int32_t i = 0; i < 7; i++) {
    flows[i] = gpu_gpu(i + 1, 0);
  }
  expect(machine_8xh100(), flows, 7, LIMIT_NVLINK, 7 * SIZE, 7 * SIZE, NV18);
  for (int32_t i = 0; i < 8; i++) {
    flows[i] = gpu_gpu(i, (i + 1) % 8);
  }
  expect(machine_8xh100(), flows, 8, LIMIT_NVLINK, 8 * SIZE, 8 * SIZE, 8 * NV18);
}

TEST(unequal_flows_wait_for_the_slowest) {
  /* 64 MiB over PCIe take longer than as much over NVLink: 128 MiB in SIZE / PCIE5. */
  struct flow flows[2] = {host_gpu(0, 0), gpu_gpu(2, 3)};
  expect(machine_8xh100(), flows, 2, LIMIT_PCIE, 2 * SIZE, 2 * SIZE, 2 * PCIE5);
  flows[1].size_bytes = 16 * SIZE; /* 16 / 478.3 > 1 / 63.0 */
  expect(machine_8xh100(), flows, 2, LIMIT_NVLINK, 17 * SIZE, 17 * SIZE,
         (uint64_t)((unsigned __int128)17 * NV18 / 16));
}

TEST(a_staged_flow_crosses_both_host_links) {
  struct flow staged = gpu_gpu(0, 1);
  staged.staged = true;
  expect(machine_8xh100(), &staged, 1, LIMIT_PCIE, SIZE, SIZE, PCIE5);
  /* It shares GPU 1's link with a copy from the host. */
  expect(machine_8xh100(), (struct flow[]){staged, host_gpu(0, 1)}, 2, LIMIT_PCIE, 2 * SIZE,
         2 * SIZE, PCIE5);
}

TEST(memory_can_limit_a_link) {
  struct machine *machine = machine_8xh100();
  machine->gpus[1].memory_bus_bits = 128; /* 83.8 GB/s, below NV18 */
  const uint64_t slow = UINT64_C(2619000000) * 2 * 128 / 8;
  /* Read from GPU 0 and written to GPU 1: two memories of one copy each. */
  expect(machine, (struct flow[]){gpu_gpu(0, 1)}, 1, LIMIT_DRAM, SIZE, 2 * SIZE, 2 * slow);
}

TEST(loads_do_not_count) {
  struct flow flows[2] = {host_gpu(0, 0), host_gpu(0, 0)};
  flows[1].role = FLOW_LOAD;
  expect(machine_8xh100(), flows, 2, LIMIT_PCIE, SIZE, SIZE, PCIE5);
}

TEST(what_is_not_known_has_no_peak) {
  struct flow host = {.method = METHOD_CPU,
                      .source = {.place = PLACE_NUMA, .index = 0, .memory = MEMORY_PAGEABLE},
                      .target = {.place = PLACE_NUMA, .index = 1, .memory = MEMORY_PAGEABLE},
                      .size_bytes = SIZE};
  expect(machine_8xh100(), &host, 1, LIMIT_UNKNOWN, SIZE, SIZE, 0);
  expect(machine_8xh100(), (struct flow[]){host, host_gpu(0, 0)}, 2, LIMIT_UNKNOWN, 2 * SIZE,
         2 * SIZE, 0);
  struct machine *machine = machine_8xh100();
  machine->gpus[0].pcie_width_max = 0;
  expect(machine, (struct flow[]){host_gpu(0, 0)}, 1, LIMIT_UNKNOWN, SIZE, SIZE, 0);
  machine = machine_8xh100();
  machine->gpus[0].memory_clock_khz = 0;
  expect(machine, (struct flow[]){gpu_gpu(0, 0)}, 1, LIMIT_UNKNOWN, SIZE, SIZE, 0);
  expect(machine_8xh100(), NULL, 0, LIMIT_UNKNOWN, 0, 0, 0);
  struct flow pages = host_gpu(0, 0);
  pages.method = METHOD_UM;
  pages.unified.advise = ADVISE_ACCESSED_BY; /* its pages may stay, and nothing goes over a link */
  expect(machine_8xh100(), &pages, 1, LIMIT_UNKNOWN, SIZE, SIZE, 0);
  pages.unified.advise = ADVISE_NONE;
  pages.unified.again = true;
  expect(machine_8xh100(), &pages, 1, LIMIT_UNKNOWN, SIZE, SIZE, 0);
}

TEST(typical_times_are_there_for_everything) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  struct flow host = host_gpu(0, 0);
  host.target = endpoint_own(PLACE_NUMA, 1, MEMORY_PAGEABLE);
  assert_true(bound_typical_ns(&host, 1, machine) > 1e6); /* 64 MiB at 20 GB/s: 3.4 ms */
  assert_true(bound_typical_ns(&host, 1, machine) < 1e7);
  struct flow pinned = host_gpu(0, 0);
  const double pinned_ns = bound_typical_ns(&pinned, 1, machine);
  assert_true(pinned_ns > 1.0e6 && pinned_ns < 1.1e6); /* 64 MiB at 63 GB/s */
  struct flow pageable = pinned;
  pageable.source.memory = MEMORY_PAGEABLE;
  assert_true(bound_typical_ns(&pageable, 1, machine) > 5 * pinned_ns);
  assert_true(bound_typical_ns(NULL, 0, machine) >= 1);
}
