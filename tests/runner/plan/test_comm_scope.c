/* scenarios/comm-scope/table1.toml on 8 GPUs and 2 nodes: every microbenchmark of the paper is
 * there, once, with the cases and flows that its name says. */
#include "engine/case/transfer.h"
#include "engine/machine/machine.h"
#include "tests/runner/plan/fixture.h"

static struct planned plan_for(const char *machine_name) {
  return planned_shipped(machine_name, "comm-scope/table1", NULL, 0);
}

enum ends { HOST_TO_GPU, GPU_TO_HOST, HOST_TO_HOST, GPU_TO_GPU };

/* What a block comes to on 8 GPUs, 4 a node. */
struct expected {
  const char *block;
  enum method method;
  enum ends ends;
  enum memory_kind host; /* of host memory; of its source between host memories */
  size_t cases;
  bool both;
};

static const struct expected blocks[] = {
    {"pageable_to_gpu", METHOD_CE, HOST_TO_GPU, MEMORY_PAGEABLE, 8, false},
    {"gpu_to_pageable", METHOD_CE, GPU_TO_HOST, MEMORY_PAGEABLE, 8, false},
    {"pinned_to_gpu", METHOD_CE, HOST_TO_GPU, MEMORY_REGISTERED, 8, false},
    {"gpu_to_pinned", METHOD_CE, GPU_TO_HOST, MEMORY_REGISTERED, 8, false},
    {"pageable_to_pinned", METHOD_CPU, HOST_TO_HOST, MEMORY_PAGEABLE, 4, false},
    {"gpu_to_gpu_no_peer", METHOD_CE, GPU_TO_GPU, MEMORY_DEVICE, 56, false},
    {"gpu_to_gpu_peer", METHOD_CE, GPU_TO_GPU, MEMORY_DEVICE, 56, false},
    {"duplex_pageable", METHOD_CE, HOST_TO_GPU, MEMORY_PAGEABLE, 8, true},
    {"duplex_pinned", METHOD_CE, HOST_TO_GPU, MEMORY_REGISTERED, 8, true},
    {"duplex_gpu_no_peer", METHOD_CE, GPU_TO_GPU, MEMORY_DEVICE, 28, true},
    {"duplex_gpu_peer", METHOD_CE, GPU_TO_GPU, MEMORY_DEVICE, 28, true},
    {"demand_host_to_gpu", METHOD_UM, HOST_TO_GPU, MEMORY_MANAGED, 8, false},
    {"demand_gpu_to_host", METHOD_UM, GPU_TO_HOST, MEMORY_MANAGED, 8, false},
    {"demand_gpu_to_host_threads", METHOD_UM, GPU_TO_HOST, MEMORY_MANAGED, 8, false},
    {"demand_gpu_to_gpu", METHOD_UM, GPU_TO_GPU, MEMORY_MANAGED, 56, false},
    {"demand_duplex_host", METHOD_UM, HOST_TO_GPU, MEMORY_MANAGED, 8, true},
    {"demand_duplex_gpu", METHOD_UM, GPU_TO_GPU, MEMORY_MANAGED, 28, true},
    {"prefetch_host_to_gpu", METHOD_UM, HOST_TO_GPU, MEMORY_MANAGED, 8, false},
    {"prefetch_gpu_to_host", METHOD_UM, GPU_TO_HOST, MEMORY_MANAGED, 8, false},
    {"prefetch_gpu_to_gpu", METHOD_UM, GPU_TO_GPU, MEMORY_MANAGED, 56, false},
    {"prefetch_duplex_host", METHOD_UM, HOST_TO_GPU, MEMORY_MANAGED, 8, true},
    {"prefetch_duplex_gpu", METHOD_UM, GPU_TO_GPU, MEMORY_MANAGED, 28, true},
    {"zero_copy_host_read", METHOD_SM, HOST_TO_GPU, MEMORY_REGISTERED, 8, false},
    {"zero_copy_host_write", METHOD_SM, GPU_TO_HOST, MEMORY_REGISTERED, 8, false},
    {"zero_copy_gpu_read", METHOD_SM, GPU_TO_GPU, MEMORY_DEVICE, 56, false},
    {"zero_copy_gpu_write", METHOD_SM, GPU_TO_GPU, MEMORY_DEVICE, 56, false},
    {"zero_copy_duplex_gpu_read", METHOD_SM, GPU_TO_GPU, MEMORY_DEVICE, 28, true},
    {"zero_copy_duplex_gpu_write", METHOD_SM, GPU_TO_GPU, MEMORY_DEVICE, 28, true},
};
enum { BLOCK_COUNT = COUNT_OF(blocks) };

static void check_unified(const struct flow *flow, const char *block) {
  const bool prefetch = strncmp(block, "prefetch", 8) == 0;
  assert_int_equal(flow->unified.mode, prefetch ? UNIFIED_PREFETCH : UNIFIED_DEMAND);
  assert_int_equal(flow->unified.touch_by, INITIATOR_TARGET);
  assert_int_equal(flow->unified.threads, strcmp(block, "demand_gpu_to_host_threads") == 0 ? 8 : 1);
  assert_int_equal(flow->source.memory, MEMORY_MANAGED);
  assert_int_equal(flow->target.memory, MEMORY_MANAGED);
}

static void check_flow(const struct planned *f, const struct flow *flow,
                       const struct expected *expected, bool back) {
  const struct endpoint *from = back ? &flow->target : &flow->source;
  const struct endpoint *to = back ? &flow->source : &flow->target;
  const bool from_gpu = expected->ends == GPU_TO_HOST || expected->ends == GPU_TO_GPU;
  const bool to_gpu = expected->ends == HOST_TO_GPU || expected->ends == GPU_TO_GPU;
  assert_int_equal(flow->method, expected->method);
  assert_int_equal(flow->role, FLOW_MEASURED);
  assert_int_equal(flow->size_bytes, 64 << 20);
  assert_int_equal(from->place, from_gpu ? PLACE_GPU : PLACE_NUMA);
  assert_int_equal(to->place, to_gpu ? PLACE_GPU : PLACE_NUMA);
  assert_int_equal((from_gpu ? to : from)->memory, expected->host);
  if (from_gpu != to_gpu) { /* local */
    const struct endpoint *gpu = from_gpu ? from : to;
    const struct endpoint *node = from_gpu ? to : from;
    assert_int_equal(node->index, f->machine->gpus[gpu->index].numa_node);
  }
  assert_int_equal(flow->staged, strstr(expected->block, "no_peer") != NULL);
  if (expected->method == METHOD_UM) {
    check_unified(flow, expected->block);
  }
  if (expected->method == METHOD_SM) {
    const bool read = strstr(expected->block, "read") != NULL;
    assert_int_equal(flow->initiator, read ? INITIATOR_TARGET : INITIATOR_SOURCE);
    assert_int_equal(flow->kernel.variant, KERNEL_SCALAR);
  }
  /* What a processor copies, one of the memory's node or, between GPUs, of the source's does. */
  const struct endpoint *beside = from_gpu ? (to_gpu ? &flow->source : to) : from;
  assert_int_equal(flow->cpu.choice, flow_blocks_host(flow) ? CPU_LOCAL : CPU_ANY);
  if (flow_blocks_host(flow)) {
    assert_int_equal(flow->cpu.node, beside->place == PLACE_NUMA
                                         ? beside->index
                                         : f->machine->gpus[beside->index].numa_node);
  }
  if (expected->method == METHOD_CPU) {
    assert_int_equal(flow->threads, 1);
    assert_int_equal(to->memory, MEMORY_REGISTERED);
  }
}

TEST(every_microbenchmark_on_eight_gpus) {
  SCOPED(planned_fini) struct planned f = plan_for("h100x8-nvlink.toml");
  size_t seen = 0;
  assert_int_equal(BLOCK_COUNT, 28); /* the paper's 27, and both ways without peer access */
  assert_int_equal(f.scenario->block_count, BLOCK_COUNT);
  assert_int_equal(f.plan->skip_count, 0);
  assert_int_equal(f.plan->duplicate_count, 0);
  for (size_t b = 0; b < BLOCK_COUNT; b++) {
    size_t count = 0;
    assert_string_equal(block_name(f.scenario->blocks[b]), blocks[b].block);
    for (size_t i = 0; i < f.plan->case_count; i++) {
      const struct case_def *def = &f.plan->cases[i].def;
      if (strcmp(def->block, blocks[b].block) != 0) {
        continue;
      }
      const bool zero_copy_host = strncmp(def->block, "zero_copy_host", 14) == 0;
      assert_int_equal(def->measure.host_cache,
                       zero_copy_host ? HOST_CACHE_FLUSHED : HOST_CACHE_AS_IS);
      assert_int_equal(def->measure.iterations, 1);
      const bool with_threads = strcmp(def->block, "demand_duplex_host") == 0;
      assert_int_equal(def->measure.gating, with_threads ? GATING_ON : GATING_OFF);
      assert_int_equal(def->measure.callers, CALLERS_ONE);
      assert_int_equal(def->flow_count, blocks[b].both ? 2 : 1);
      assert_int_equal(def->payload_bytes, (blocks[b].both ? UINT64_C(2) : 1) << 26);
      check_flow(&f, &def->flows[0], &blocks[b], false);
      if (blocks[b].both) {
        check_flow(&f, &def->flows[1], &blocks[b], true);
        assert_int_equal(def->flows[0].source.index, def->flows[1].target.index);
        assert_int_equal(def->flows[0].target.index, def->flows[1].source.index);
      }
      count++;
    }
    assert_int_equal(count, blocks[b].cases);
    seen += count;
  }
  assert_int_equal(f.plan->case_count, seen);
}

/* One GPU: what needs two has one row that says so. */
TEST(one_gpu_skips_what_needs_two) {
  SCOPED(planned_fini) struct planned f = plan_for("gh200.toml");
  assert_int_equal(f.plan->case_count, BLOCK_COUNT);
  for (size_t i = 0; i < f.plan->case_count; i++) {
    const struct plan_case *c = &f.plan->cases[i];
    const bool needs_two = blocks[i].ends == GPU_TO_GPU;
    assert_string_equal(c->def.block, blocks[i].block);
    assert_int_equal(c->skip_reason != NULL, needs_two);
    if (needs_two) {
      assert_string_equal(c->skip_reason, "needs two GPUs, this machine has 1");
    }
  }
}
