/* scenarios/nvbandwidth.toml on 8 GPUs: every test is there, with the cases, flows and initiators
 * that its name says. */
#include "engine/case/chase.h"
#include "engine/case/stream.h"
#include "engine/case/transfer.h"
#include "engine/case/work.h"
#include "engine/machine/machine.h"
#include "tests/runner/plan/fixture.h"

static struct planned plan_for(const char *machine_name) {
  const struct scenario_override size = {"transfer.size", "64MiB"}; /* whatever its own is */
  return planned_shipped(machine_name, "nvbandwidth", &size, 1);
}

/* What the end of a name says. */
static const struct suffix {
  const char *text;
  enum method method;
  enum kernel_variant variant;
} suffixes[] = {{"_ce", METHOD_CE, KERNEL_AUTO},
                {"_sm", METHOD_SM, KERNEL_AUTO},
                {"_tma", METHOD_SM, KERNEL_BULK},
                {"", METHOD_CE, KERNEL_AUTO}};
enum { CE = 1, SM = 2, TMA = 4, PLAIN = 8, SUFFIXES = 4 };

/* What a block comes to on 8 GPUs. */
struct expected {
  const char *block;
  unsigned endings; /* of suffixes */
  size_t cases;
  uint32_t measured; /* flows of a case */
  uint32_t loads;
  enum place source, target;
  enum initiator initiator; /* of every flow between GPUs */
};

static const struct expected blocks[] = {
    {"host_to_device_memcpy", CE | SM, 8, 1, 0, PLACE_NUMA, PLACE_GPU, INITIATOR_TARGET},
    {"device_to_host_memcpy", CE | SM, 8, 1, 0, PLACE_GPU, PLACE_NUMA, INITIATOR_SOURCE},
    {"host_to_device_bidirectional_memcpy", CE | SM, 8, 1, 1, PLACE_NUMA, PLACE_GPU,
     INITIATOR_TARGET},
    {"device_to_host_bidirectional_memcpy", CE | SM, 8, 1, 1, PLACE_GPU, PLACE_NUMA,
     INITIATOR_SOURCE},
    {"device_to_device_memcpy_read", CE | SM | TMA, 56, 1, 0, PLACE_GPU, PLACE_GPU,
     INITIATOR_TARGET},
    {"device_to_device_memcpy_write", CE | SM | TMA, 56, 1, 0, PLACE_GPU, PLACE_GPU,
     INITIATOR_SOURCE},
    {"device_to_device_bidirectional_memcpy_read", CE | SM | TMA, 28, 2, 0, PLACE_GPU, PLACE_GPU,
     INITIATOR_TARGET},
    {"device_to_device_bidirectional_memcpy_write", CE | SM | TMA, 28, 2, 0, PLACE_GPU, PLACE_GPU,
     INITIATOR_SOURCE},
    {"all_to_host_memcpy", CE | SM, 1, 8, 0, PLACE_GPU, PLACE_NUMA, INITIATOR_SOURCE},
    {"all_to_host_bidirectional_memcpy", CE | SM, 1, 8, 8, PLACE_GPU, PLACE_NUMA, INITIATOR_SOURCE},
    {"host_to_all_memcpy", CE | SM, 1, 8, 0, PLACE_NUMA, PLACE_GPU, INITIATOR_TARGET},
    {"host_to_all_bidirectional_memcpy", CE | SM, 1, 8, 8, PLACE_NUMA, PLACE_GPU, INITIATOR_TARGET},
    {"all_to_one_write", CE | SM, 8, 7, 0, PLACE_GPU, PLACE_GPU, INITIATOR_SOURCE},
    {"all_to_one_read", CE | SM, 8, 7, 0, PLACE_GPU, PLACE_GPU, INITIATOR_TARGET},
    {"one_to_all_write", CE | SM, 8, 7, 0, PLACE_GPU, PLACE_GPU, INITIATOR_SOURCE},
    {"one_to_all_read", CE | SM, 8, 7, 0, PLACE_GPU, PLACE_GPU, INITIATOR_TARGET},
    {"device_local_copy", PLAIN | SM | TMA, 8, 1, 0, PLACE_GPU, PLACE_GPU, INITIATOR_SOURCE},
};

static void check_flow(const struct flow *flow, const struct expected *expected,
                       const struct suffix *suffix) {
  const bool load = flow->role == FLOW_LOAD;
  assert_int_equal(flow->method, suffix->method);
  assert_int_equal(flow->kernel.variant, suffix->variant);
  assert_int_equal(flow->size_bytes, 64 << 20);
  assert_int_equal(flow->source.place, load ? expected->target : expected->source);
  assert_int_equal(flow->target.place, load ? expected->source : expected->target);
  if (expected->source == expected->target) {
    assert_int_equal(flow->initiator, expected->initiator);
  } else { /* with a host the GPU starts, the mirrored flow as well */
    const struct endpoint *starts =
        flow->initiator == INITIATOR_SOURCE ? &flow->source : &flow->target;
    assert_int_equal(starts->place, PLACE_GPU);
  }
}

/* Flows that are loads stand last, each the mirror of a measured one. */
static void check_case(const struct case_def *def, const struct expected *expected,
                       const struct suffix *suffix) {
  assert_int_equal(def->kind, CASE_TRANSFER);
  assert_int_equal(def->flow_count, expected->measured + expected->loads);
  assert_int_equal(def->payload_bytes, (uint64_t)expected->measured << 26);
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    assert_int_equal(flow->role, i < expected->measured ? FLOW_MEASURED : FLOW_LOAD);
    check_flow(flow, expected, suffix);
    if (flow->role == FLOW_LOAD) {
      const struct flow *measured = &def->flows[i - expected->measured];
      assert_int_equal(flow->source.index, measured->target.index);
      assert_int_equal(flow->target.index, measured->source.index);
      assert_int_equal(flow->source.memory, measured->target.memory);
      assert_int_equal(flow->target.memory, measured->source.memory);
    }
  }
  if (def->flow_count == 2 && expected->measured == 2) {
    assert_int_equal(def->flows[0].source.index, def->flows[1].target.index);
    assert_int_equal(def->flows[0].target.index, def->flows[1].source.index);
  }
}

TEST(every_pattern_on_eight_gpus) {
  SCOPED(planned_fini) struct planned f = plan_for("h100x8-nvlink.toml");
  size_t seen = 0;
  assert_int_equal(f.plan->skip_count, 0);
  assert_int_equal(f.plan->duplicate_count, 0);
  for (size_t b = 0; b < COUNT_OF(blocks); b++) {
    for (unsigned m = 0; m < SUFFIXES; m++) {
      PRINTED(name, 128, "%s%s", blocks[b].block, suffixes[m].text);
      size_t count = 0;
      for (size_t i = 0; i < f.plan->case_count; i++) {
        const struct case_def *def = &f.plan->cases[i].def;
        if (strcmp(def->block, name) == 0) {
          check_case(def, &blocks[b], &suffixes[m]);
          count++;
        }
      }
      assert_int_equal(count, (blocks[b].endings >> m & 1) != 0 ? blocks[b].cases : 0);
      seen += count;
    }
  }
  assert_int_equal(f.plan->case_count, seen + 8 + 2 * 56 + 2 * 8); /* latencies; read and write */
}

/* All flows of a case end, or begin, at one GPU; in all_to_host each at its own node. */
TEST(concurrent_flows_share_what_their_name_says) {
  SCOPED(planned_fini) struct planned f = plan_for("h100x8-nvlink.toml");
  for (size_t i = 0; i < f.plan->case_count; i++) {
    const struct case_def *def = &f.plan->cases[i].def;
    const bool to_one = strncmp(def->block, "all_to_one", 10) == 0;
    const bool from_one = strncmp(def->block, "one_to_all", 10) == 0;
    const bool to_host = strncmp(def->block, "all_to_host_memcpy", 18) == 0;
    for (uint32_t k = 0; k < def->flow_count; k++) {
      const struct flow *flow = &def->flows[k];
      assert_true(!to_one || flow->target.index == def->flows[0].target.index);
      assert_true(!from_one || flow->source.index == def->flows[0].source.index);
      assert_true(!to_host || flow->target.index == f.machine->gpus[k].numa_node);
    }
  }
}

/* Within a GPU a kernel reads alone, and writes alone: what its bytes are. */
TEST(local_streams) {
  SCOPED(planned_fini) struct planned f = plan_for("h100x8-nvlink.toml");
  size_t count[stream_op_name_count] = {0};
  for (size_t i = 0; i < f.plan->case_count; i++) {
    const struct case_def *def = &f.plan->cases[i].def;
    if (def->kind == CASE_STREAM) {
      const struct stream *stream = &def->work->stream;
      assert_string_equal(def->block, stream->op == STREAM_READ ? "device_local_read_sm"
                                                                : "device_local_write_sm");
      assert_int_equal(def->payload_bytes, stream->size_bytes);
      assert_int_equal(def->traffic_bytes, stream->size_bytes);
      count[stream->op]++;
    }
  }
  assert_int_equal(count[STREAM_READ], 8);
  assert_int_equal(count[STREAM_WRITE], 8);
}

TEST(latencies) {
  SCOPED(planned_fini) struct planned f = plan_for("h100x8-nvlink.toml");
  size_t host = 0;
  size_t peer[chase_access_name_count] = {0};
  for (size_t i = 0; i < f.plan->case_count; i++) {
    const struct case_def *def = &f.plan->cases[i].def;
    if (def->kind != CASE_CHASE) {
      continue;
    }
    const struct chase *chase = &def->work->chase;
    assert_int_equal(chase->footprint_bytes, chase->space == CHASE_HOST ? 64 << 20 : 2 << 20);
    assert_int_equal(chase->stride_bytes, 128);
    assert_int_equal(chase->order, CHASE_RANDOM);
    const bool each = chase->space == CHASE_PEER; /* SM, in turn */
    assert_int_equal(chase->sm, each ? CHASE_SM_EACH : CHASE_SM_ONE);
    assert_int_equal(chase->blocks, each ? f.machine->gpus[chase->gpu].sm_count : 1);
    assert_int_equal(chase->hops, each ? 32 : 4096);
    assert_int_equal(def->payload_bytes, 0);
    assert_int_equal(def->flow_count, 0);
    assert_int_equal(def->limit, LIMIT_UNKNOWN);
    if (chase->space == CHASE_HOST) {
      assert_string_equal(def->block, "host_device_latency_sm");
      assert_int_equal(chase->memory.place, PLACE_NUMA);
      assert_int_equal(chase->memory.memory, MEMORY_PINNED);
      assert_int_equal(chase->memory.index, f.machine->gpus[chase->gpu].numa_node);
      host++;
    } else {
      assert_string_equal(def->block, chase->access == CHASE_BY_BULK
                                          ? "device_to_device_latency_tma"
                                          : "device_to_device_latency_sm");
      assert_int_equal(chase->memory.place, PLACE_GPU);
      assert_int_not_equal(chase->memory.index, chase->gpu);
      peer[chase->access]++;
    }
  }
  assert_int_equal(host, 8);
  assert_int_equal(peer[CHASE_BY_LOAD], 56);
  assert_int_equal(peer[CHASE_BY_BULK], 56);
}

/* nvbandwidth has 44 tests; the list is that of its documentation. */
TEST(all_names_are_there) {
  SCOPED(planned_fini) struct planned f = plan_for("h100x8-nvlink.toml");
  assert_int_equal(f.scenario->block_count, 44);
  for (size_t b = 0; b < COUNT_OF(blocks); b++) {
    for (unsigned m = 0; m < SUFFIXES; m++) {
      PRINTED(name, 128, "%s%s", blocks[b].block, suffixes[m].text);
      const size_t found =
          SUM_OF(i, f.scenario->block_count, strcmp(block_name(f.scenario->blocks[i]), name) == 0);
      assert_int_equal(found, blocks[b].endings >> m & 1);
    }
  }
}

/* One block, one reason: what needs a second GPU is skipped and the rest is measured. */
TEST(without_gpus_all_is_skipped) {
  struct planned f = plan_for("no-gpu.toml");
  assert_int_equal(f.plan->case_count, 44);
  assert_int_equal(f.plan->skip_count, 44);
  planned_fini(&f);
  f = plan_for("gh200.toml");
  for (size_t i = 0; i < f.plan->case_count; i++) {
    const struct plan_case *c = &f.plan->cases[i];
    const bool needs_two = strstr(c->def.block, "device_to_device") != NULL ||
                           strstr(c->def.block, "to_one") != NULL ||
                           strstr(c->def.block, "one_to") != NULL;
    assert_int_equal(c->skip_reason != NULL, needs_two);
    if (needs_two) {
      assert_string_equal(c->skip_reason, "needs two GPUs, this machine has 1");
    }
  }
  planned_fini(&f);
}
