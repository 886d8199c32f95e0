#include "engine/case/transfer.h"
#include "engine/machine/machine.h"
#include "engine/method/method.h"
#include "kernels/pattern_values.h"
#include "tests/cmocka.h"

#include <sched.h>

extern const struct method_ops method_cpu;

static struct machine machine = {.node_count = 3};
static const struct memory_context context = {.machine = &machine};
static int32_t home;

static int set_up(void **state) {
  int cpus[NUMA_CPUS_MAX];
  for (home = 0; home < MACHINE_NODES_MAX; home++) {
    size_t count = numa_node_cpus(&machine, home, cpus, NUMA_CPUS_MAX);
    if (count > 0) {
      machine.nodes[0] = (struct numa_node){.number = home, .cpu_count = (uint32_t)count};
      machine.nodes[1] = (struct numa_node){.number = 900, .cpu_count = 0};
      machine.nodes[2] = (struct numa_node){.number = 901, .cpu_count = 4};
      return 0;
    }
  }
  return 1;
}

TEST_GROUP(set_up, NULL);

static struct flow pageable_flow(uint64_t size_bytes, uint32_t threads) {
  return (struct flow){
      .role = FLOW_MEASURED,
      .method = METHOD_CPU,
      .source = {.place = PLACE_NUMA, .index = home, .memory = MEMORY_PAGEABLE},
      .target = {.place = PLACE_NUMA, .index = home, .memory = MEMORY_PAGEABLE},
      .size_bytes = size_bytes,
      .threads = threads,
  };
}

/* Copies once and compares whole, with what lies around the target. */
static void copy_and_check(uint64_t size_bytes, uint32_t threads, size_t shift) {
  enum { AROUND = 64 };
  struct flow flow = pageable_flow(size_bytes, threads);
  unsigned char *from = malloc(size_bytes + AROUND);
  unsigned char *to = malloc(size_bytes + 2 * AROUND);
  assert_non_null(from);
  assert_non_null(to);
  struct buffer source = {.endpoint = flow.source, .size_bytes = size_bytes, .host = from + shift};
  struct buffer target = {.endpoint = flow.target, .size_bytes = size_bytes, .host = to + AROUND};
  for (uint64_t i = 0; i < size_bytes; i++) {
    source.host[i] = pattern_byte(11, i);
    target.host[i] = (unsigned char)~pattern_byte(11, i);
  }
  memset(to, 0x5A, AROUND);
  memset(target.host + size_bytes, 0x5A, AROUND);
  struct flow_run run = {.flow = &flow, .source = &source, .target = &target, .gpu = -1};
  struct error err = {0};
  assert_ok(method_cpu.prepare(&context, &run, &err), &err);
  uint32_t expected = method_cpu.thread_count(&run);
  assert_int_equal(expected, threads == 0 ? machine.nodes[0].cpu_count : threads);
  struct host_start start = {.expected = expected};
  assert_ok(method_cpu.execute(&run, 3, &start, &err), &err);
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  method_cpu.wait(&run, &start_ns, &end_ns);
  assert_true(end_ns > start_ns);
  for (uint64_t i = 0; i < size_bytes; i++) {
    if (target.host[i] != pattern_byte(11, i)) {
      fail_msg("byte %llu of %llu is wrong", (unsigned long long)i, (unsigned long long)size_bytes);
    }
  }
  for (size_t i = 0; i < AROUND; i++) {
    assert_int_equal(to[i], 0x5A);
    assert_int_equal(target.host[size_bytes + i], 0x5A);
  }
  method_cpu.release(&context, &run);
  assert_null(run.state);
  free(from);
  free(to);
}

TEST(any_size_and_alignment_arrives_whole) {
  static const uint64_t sizes[] = {1, 2, 63, 4095, 4096, 4097, 8191, 12289, 100001, 1048577};
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    copy_and_check(sizes[i], 0, 0);
    copy_and_check(sizes[i], 1, i % 64);
  }
}

/* Past every cache, where the rule takes another loop. */
TEST(a_size_past_the_caches_arrives_whole) {
  copy_and_check((UINT64_C(40) << 20) + 12345, 0, 16);
}

TEST(a_load_flow_runs_until_it_is_stopped) {
  struct flow flow = pageable_flow(8192, 1);
  flow.role = FLOW_LOAD;
  unsigned char from[8192];
  unsigned char to[8192] = {0};
  for (size_t i = 0; i < sizeof from; i++) {
    from[i] = pattern_byte(1, i);
  }
  struct buffer source = {.endpoint = flow.source, .size_bytes = sizeof from, .host = from};
  struct buffer target = {.endpoint = flow.target, .size_bytes = sizeof to, .host = to};
  struct flow_run run = {.flow = &flow, .source = &source, .target = &target, .gpu = -1};
  assert_ok(method_cpu.prepare(&context, &run, err), err);
  struct host_start start = {.expected = 1};
  assert_ok(method_cpu.execute(&run, 1, &start, err), err);
  while (atomic_load(&start.ready) < 1) {
    (void)sched_yield();
  }
  atomic_store(&start.stop, true);
  method_cpu.wait(&run, NULL, NULL);
  assert_memory_equal(from, to, sizeof from);
  method_cpu.release(&context, &run);
}

TEST(the_initiating_side_gives_the_threads) {
  char reason[CASE_REASON_MAX];
  struct flow flow = pageable_flow(1, 0);
  flow.source.index = 901;
  assert_null(method_cpu.unsupported_reason(&flow, &machine, reason));
  flow.threads = 5;
  assert_contains(method_cpu.unsupported_reason(&flow, &machine, reason), "901");
  flow.initiator = INITIATOR_TARGET;
  flow.threads = machine.nodes[0].cpu_count;
  assert_null(method_cpu.unsupported_reason(&flow, &machine, reason));
}

TEST(unsupported_flow_gives_its_reason) {
  char reason[CASE_REASON_MAX];
  struct flow flow = pageable_flow(1, 0);
  assert_null(method_cpu.unsupported_reason(&flow, &machine, reason));
  flow.source = (struct endpoint){.place = PLACE_GPU, .memory = MEMORY_DEVICE};
  assert_contains(method_cpu.unsupported_reason(&flow, &machine, reason), "GPU");
  flow = pageable_flow(1, 0);
  flow.target.memory = MEMORY_MANAGED;
  assert_contains(method_cpu.unsupported_reason(&flow, &machine, reason), "managed");
  flow = pageable_flow(1, 0);
  flow.target.index = 77;
  assert_contains(method_cpu.unsupported_reason(&flow, &machine, reason), "77");
  flow = pageable_flow(1, machine.nodes[0].cpu_count + 1);
  assert_contains(method_cpu.unsupported_reason(&flow, &machine, reason), "threads");
  flow = pageable_flow(1, 0);
  flow.source.index = 900;
  assert_contains(method_cpu.unsupported_reason(&flow, &machine, reason), "no processors");
  flow = pageable_flow(1, 0);
  flow.shape.width_bytes = 16;
  assert_non_null(method_cpu.unsupported_reason(&flow, &machine, reason));
  assert_int_equal(method_cpu.gpu(&flow), -1);
}

TEST(two_flows_on_one_node_share_its_processors) {
  if (machine.nodes[0].cpu_count < 2) {
    skip();
  }
  struct flow flow = pageable_flow(4096, 0);
  unsigned char bytes[2][4096] = {{0}};
  struct buffer source = {.endpoint = flow.source, .size_bytes = 4096, .host = bytes[0]};
  struct buffer target = {.endpoint = flow.target, .size_bytes = 4096, .host = bytes[1]};
  struct cpu_reservation reservation = {0};
  struct flow_run runs[2];
  for (size_t i = 0; i < 2; i++) {
    method_cpu.expect_cpus(&flow, &machine, &reservation);
  }
  for (size_t i = 0; i < 2; i++) {
    runs[i] = (struct flow_run){.flow = &flow,
                                .source = &source,
                                .target = &target,
                                .gpu = -1,
                                .reservation = &reservation};
    assert_ok(method_cpu.prepare(&context, &runs[i], err), err);
  }
  assert_int_equal(method_cpu.thread_count(&runs[0]) + method_cpu.thread_count(&runs[1]),
                   machine.nodes[0].cpu_count);
  for (size_t i = 0; i < 2; i++) {
    method_cpu.release(&context, &runs[i]);
  }
}
