/* Scenarios in TOML x the machines of tests/machines: the whole way to a plan. */
#include "engine/case/chase.h"
#include "engine/case/transfer.h"
#include "engine/case/work.h"
#include "engine/machine/machine.h"
#include "schema/scenario/scenario.h"
#include "tests/runner/plan/fixture.h"

static size_t count_with(const struct plan *plan, const char *part, bool skipped) {
  size_t count = 0;
  for (size_t i = 0; i < plan->case_count; i++) {
    const struct plan_case *c = &plan->cases[i];
    count += (c->skip_reason != NULL) == skipped && strstr(c->def.name, part) != NULL;
  }
  return count;
}

#define HEAD "schema_version = 1\nname = \"test\"\n"
#define PAIRS                                                                                      \
  "[[transfer]]\nname = \"d2d\"\nmethod = \"ce\"\nfrom = { gpu = \"*\" }\nto = { gpu = \"*\" }\n"

TEST(eight_gpus_on_a_laptop) {
  struct planned made =
      planned_text("h100x8-nvlink.toml", HEAD PAIRS "size = [\"4KiB\", \"1MiB\"]\n");
  assert_int_equal(made.plan->case_count, 112);
  assert_int_equal(made.plan->skip_count, 0);
  assert_string_equal(made.plan->cases[0].def.name, "d2d/gpu0-gpu1/4KiB");
  assert_string_equal(made.plan->cases[56].def.name, "d2d/gpu0-gpu1/1MiB");
  assert_int_equal(made.plan->cases[0].def.limit, LIMIT_NVLINK);
  assert_ptr_equal(made.plan->scenario, made.scenario);
  planned_fini(&made);
}

TEST(without_peer_access_and_without_gpus) {
  struct planned made =
      planned_text("l40sx4-pcie.toml", HEAD PAIRS "size = \"4KiB\"\npeer = [true, false]\n");
  assert_int_equal(count_with(made.plan, "peer=true", true), 12);
  assert_int_equal(count_with(made.plan, "peer=false", false), 12);
  planned_fini(&made);
  made = planned_text("no-gpu.toml", HEAD PAIRS "size = [\"4KiB\", \"1MiB\"]\n");
  assert_int_equal(made.plan->case_count, 2);
  assert_int_equal(made.plan->skip_count, 2);
  assert_string_equal(made.plan->cases[0].skip_reason, made.machine->cuda_state);
  planned_fini(&made);
}

/* Names differ, and stay when another size is added. */
TEST(names_are_unique_and_stable) {
  static const char *const sizes[] = {"size = \"4KiB\"\n", "size = [\"4KiB\", \"64MiB\"]\n"};
  struct planned made[2];
  for (size_t i = 0; i < 2; i++) {
    PRINTED(text, 1024, "%s%s%s",
            HEAD "[[transfer]]\nname = \"h2d\"\nmethod = \"ce\"\n"
                 "from = { numa = \"*\", memory = [\"pinned\", \"pageable\"] }\n"
                 "to = { gpu = \"*\" }\ndirection = [\"forward\", \"reverse\", \"both\"]\n",
            sizes[i], "host_cache = [\"warm\", \"flushed\"]\n");
    made[i] = planned_text("h100x8-nvlink.toml", text);
  }
  const struct plan *one = made[0].plan;
  const struct plan *two = made[1].plan;
  assert_int_equal(one->duplicate_count, 0);
  assert_int_equal(two->case_count, 2 * one->case_count);
  for (size_t i = 0; i < one->case_count; i++) {
    bool found = false;
    for (size_t j = 0; j < two->case_count; j++) {
      if (strcmp(one->cases[i].def.name, two->cases[j].def.name) == 0) {
        assert_string_equal(one->cases[i].def.key, two->cases[j].def.key);
        assert_false(found);
        found = true;
      }
    }
    assert_true(found);
  }
  planned_fini(&made[0]);
  planned_fini(&made[1]);
}

TEST(loads_and_flows_of_a_scenario) {
  SCOPED(planned_fini)
  struct planned made = planned_text(
      "h100x8-nvlink.toml", HEAD PAIRS
      "size = \"4KiB\"\n[[transfer.load]]\nmethod = \"ce\"\nfrom = { numa = \"local\", memory = "
      "\"pinned\" }\nto = { gpu = 0 }\nsize = \"1MiB\"\n"
      "[[transfer]]\nname = \"spelled\"\nmethod = \"ce\"\n"
      "[[transfer.flow]]\nfrom = { gpu = 0 }\nto = { gpu = 1 }\nsize = \"2MiB\"\n"
      "[[transfer.flow]]\nfrom = { gpu = 2 }\nto = { gpu = 3 }\nsize = \"1MiB\"\n");
  assert_int_equal(made.plan->case_count, 57);
  assert_int_equal(made.plan->cases[0].def.flow_count, 2);
  assert_int_equal(made.plan->cases[0].def.flows[1].role, FLOW_LOAD);
  const struct case_def *spelled = &made.plan->cases[56].def;
  assert_string_equal(spelled->name, "spelled/gpu0,2-gpu1,3");
  assert_int_equal(spelled->payload_bytes, 3 << 20);
}

#define CHASE HEAD "[[chase]]\nname = \"c\"\n"

TEST(chases_have_names_keys_and_estimates) {
  SCOPED(planned_fini)
  struct planned made = planned_text(
      "h100x8-nvlink.toml", CHASE "space = \"host\"\nat.gpu = [0, 5]\nof = { memory = [\"pinned\", "
                                  "\"huge\"] }\nfootprint = [\"2MiB\", \"64MiB\"]\nhops = 64\n");
  assert_int_equal(made.plan->case_count, 8);
  assert_int_equal(made.plan->skip_count, 0);
  const struct plan_case *first = &made.plan->cases[0];
  assert_string_equal(first->def.name, "c/gpu0-numa0:pinned/2MiB");
  assert_string_equal(first->def.path, "gpu0-numa0:pinned");
  assert_string_equal(made.plan->cases[7].def.name, "c/gpu5-numa1:huge/64MiB");
  assert_string_equal(
      first->def.definition,
      "{\"version\":1,\"kind\":\"chase\",\"chase\":{\"method_version\":3,\"space\":\"host\","
      "\"gpu\":0,"
      "\"memory\":{\"place\":\"numa\",\"index\":0,\"memory\":\"pinned\"},"
      "\"footprint_bytes\":2097152,\"stride_bytes\":128,\"order\":\"random\",\"threads\":1,"
      "\"blocks\":1,\"hops\":64},"
      "\"measure\":{\"min_trial_ns\":200000}}");
  assert_true(first->estimate_ns > 0);
  assert_true(first->longest_ns >= first->estimate_ns);
  for (size_t i = 1; i < made.plan->case_count; i++) {
    assert_string_not_equal(made.plan->cases[i].def.key, first->def.key);
  }
}

TEST(chases_that_cannot_be) {
  struct planned made = planned_text("gh200.toml", CHASE "space = \"peer\"\n");
  assert_int_equal(made.plan->case_count, 1);
  assert_string_equal(made.plan->cases[0].def.name, "c/gpu.all-gpu.all/2MiB");
  assert_string_equal(made.plan->cases[0].skip_reason, "needs two GPUs, this machine has 1");
  assert_int_equal(made.plan->cases[0].def.kind, CASE_CHASE);
  assert_int_equal(made.plan->cases[0].def.work->chase.hops, 0);
  planned_fini(&made);
  made = planned_text("h100x8-nvlink.toml", CHASE "space = \"peer\"\nat.gpu = 9\n");
  assert_int_equal(made.plan->skip_count, 1);
  planned_fini(&made);
}

TEST(chases_of_the_own_gpu) {
  struct planned made = planned_text(
      "h200x4.toml", CHASE "space = [\"global\", \"shared\"]\nat.gpu = 1\nthreads = [1, 32]\n"
                           "stride = 32\ncache = [\"l1\", \"l2\"]\n");
  /* Shared memory knows no cache: measured once. */
  assert_int_equal(made.plan->case_count, 6);
  assert_int_equal(made.plan->duplicate_count, 2);
  const struct case_def *global = planned_case(made.plan, "c/gpu1:global/threads=32/cache=l2/2MiB");
  assert_int_equal(global->work->chase.memory.place, PLACE_GPU);
  assert_int_equal(global->work->chase.memory.index, 1);
  assert_int_equal(global->work->chase.cache, CACHE_L2);
  assert_int_equal(global->operations, 4096);
  assert_int_equal(global->payload_bytes, 0);
  assert_contains(global->definition, "\"cache\":\"l2\",\"threads\":32,\"blocks\":1");
  const struct case_def *shared = planned_case(made.plan, "c/gpu1:shared/threads=1/cache=l1/32KiB");
  assert_int_equal(shared->work->chase.footprint_bytes, 32 << 10);
  assert_null(strstr(shared->definition, "cache\":\"l"));
  planned_fini(&made);
  made = planned_text("no-gpu.toml", CHASE "space = [\"global\", \"shared\"]\nfootprint = 4096\n");
  assert_int_equal(made.plan->case_count, 2);
  assert_int_equal(made.plan->skip_count, 2);
  assert_string_equal(made.plan->cases[1].def.name, "c/gpu.all:shared/4KiB");
  planned_fini(&made);
}

/* Names leave the direction out, and both directions are the same pairs: the second has a name of
 * its own. In a shuffled plan a duplicate still belongs to its case. */
TEST(directions_of_the_same_pairs_are_measured_once) {
  SCOPED(planned_fini)
  struct planned made = planned_text("h200x4.toml", HEAD
                                     "[measure]\norder = \"shuffled\"\n[[transfer]]\nname = \"d\"\n"
                                     "from.gpu = \"*\"\nto.gpu = \"*\"\nmethod = \"ce\"\n"
                                     "size = 4096\ndirection = [\"forward\", \"reverse\"]\n");
  assert_int_equal(made.plan->case_count, 12);
  assert_int_equal(made.plan->duplicate_count, 12);
  for (size_t i = 0; i < made.plan->duplicate_count; i++) {
    const struct plan_duplicate *duplicate = &made.plan->duplicates[i];
    const struct plan_case *measured = &made.plan->cases[duplicate->measured];
    char name[128];
    assert_string_equal(duplicate->same_as, measured->def.name);
    (void)snprintf(name, sizeof name, "d/%s/direction=reverse/4KiB", measured->def.path);
    assert_string_equal(duplicate->name, name);
    assert_string_equal(duplicate->axes, "direction=reverse");
    assert_int_equal(duplicate->listed, 12 + i);
    assert_true(measured->listed < 12);
  }
}

/* A reason that names its pair is one for all pairs. */
TEST(reasons_are_grouped_over_pairs) {
  SCOPED(arena_fini) struct arena arena = {0};
  const struct skip_group *groups = NULL;
  struct planned made =
      planned_text("l40sx4-pcie.toml", HEAD PAIRS
                   "size = 4096\ndirection = \"both\"\n[[transfer]]\nname = \"d\"\nfrom.gpu = 9\n"
                   "to.gpu = [0, 1]\nmethod = \"ce\"\nsize = 4096\n");
  assert_int_equal(plan_group_skipped(made.plan, &arena, &groups), 2);
  assert_string_equal(
      groups[0].reason,
      "GPU 0 and GPU 1 have no peer access (to copy through the host instead: peer = false), for "
      "example");
  assert_int_equal(groups[0].count, 6);
  assert_ptr_equal(groups[0].cases[1], &made.plan->cases[1]);
  assert_string_equal(groups[1].reason, "there is no GPU 9 (GPUs: 0-3)");
  assert_int_equal(groups[1].count, 1);
  planned_fini(&made);
}

#define STREAM HEAD "[[stream]]\nname = \"s\"\n"

TEST(streams_count_as_stream_does) {
  SCOPED(planned_fini)
  struct planned made = planned_text(
      "h200x4.toml", STREAM "op = [\"copy\", \"triad\", \"read\"]\nat.gpu = 0\nsize = \"1GiB\"\n"
                            "grid = [\"per_sm*2\", 264, \"full\", \"auto\"]\ntype = \"f32\"\n");
  const uint64_t gib = UINT64_C(1) << 30;
  assert_int_equal(made.plan->case_count, 9); /* 264 is per_sm*2 here */
  assert_int_equal(made.plan->duplicate_count, 3);
  assert_int_equal(made.plan->skip_count, 0);
  const struct case_def *copy = planned_case(made.plan, "s/gpu0/op=copy/grid=per_sm_2/1GiB");
  assert_int_equal(copy->kind, CASE_STREAM);
  assert_int_equal(copy->work->stream.grid, 264);
  assert_int_equal(copy->payload_bytes, 2 * gib);
  assert_int_equal(copy->traffic_bytes, 2 * gib);
  assert_int_equal(copy->limit, LIMIT_DRAM);
  assert_int_equal(copy->peak_bytes_per_second, peak_dram(&made.machine->gpus[0]));
  assert_string_equal(copy->path, "gpu0");
  assert_int_equal(planned_case(made.plan, "s/gpu0/op=triad/grid=full/1GiB")->payload_bytes,
                   3 * gib);
  assert_int_equal(planned_case(made.plan, "s/gpu0/op=read/grid=auto/1GiB")->payload_bytes, gib);
  assert_string_equal(
      planned_case(made.plan, "s/gpu0/op=read/grid=full/1GiB")->definition,
      "{\"version\":1,\"kind\":\"stream\",\"stream\":{\"method_version\":1,\"op\":\"read\","
      "\"type\":\"f32\",\"memory\":{\"place\":\"gpu\",\"index\":0,\"memory\":\"device\"},"
      "\"size_bytes\":1073741824,\"passes\":1,\"block\":0,\"grid\":\"full\",\"vector_bytes\":0,"
      "\"unroll\":0,\"clock\":\"event\"},\"measure\":{\"min_trial_ns\":200000,"
      "\"device_cache\":\"warm\"}}");
}

/* Memory is no limit to arrays that the L2 cache holds, nor to what is written of them after a
 * flush. */
TEST(arrays_in_the_cache_have_no_peak) {
  struct planned made =
      planned_text("h200x4.toml", STREAM "op = [\"copy\", \"read\"]\nat.gpu = 0\nsize = \"1MiB\"\n"
                                         "passes = [1, 10]\n"
                                         "device_cache = [\"warm\", \"flushed\"]\n");
  assert_int_equal(made.plan->case_count, 8);
  for (size_t i = 0; i < 8; i++) {
    const struct case_def *def = &made.plan->cases[i].def;
    const bool reads = def->work->stream.op == STREAM_READ;
    const bool cold =
        reads && def->work->stream.passes == 1 && def->measure.device_cache == CACHE_FLUSHED;
    assert_int_equal(def->limit, cold ? LIMIT_DRAM : LIMIT_UNKNOWN);
    assert_int_equal(def->peak_bytes_per_second > 0, cold);
    assert_int_equal(def->payload_bytes, ((reads ? 1U : 2U) << 20) * def->work->stream.passes);
  }
  planned_fini(&made);
}

TEST(streams_of_the_host) {
  struct planned made =
      planned_text("h100x8-nvlink.toml",
                   STREAM "op = \"add\"\nat = { numa = \"*\", memory = [\"pageable\", \"huge\"] }\n"
                          "size = \"1MiB\"\nthreads = [1, \"all\"]\n");
  assert_int_equal(made.plan->case_count, 8);
  const struct case_def *def = planned_case(made.plan, "s/numa1:huge/threads=all/1MiB");
  assert_int_equal(def->work->stream.memory.index, 1);
  assert_int_equal(def->limit, LIMIT_UNKNOWN);
  assert_contains(def->definition, "\"threads\":0}");
  /* As a trial finds them: what the first schema called warm. */
  assert_contains(def->definition, "\"host_cache\":\"warm\"");
  planned_fini(&made);
}

TEST(arithmetic_knows_what_an_sm_does) {
  SCOPED(planned_fini)
  struct planned made = planned_text(
      "h200x4.toml", HEAD "[[arithmetic]]\nname = \"a\"\nop = [\"add\", \"fma\"]\n"
                          "type = [\"f16\", \"f32\"]\nat.gpu = 3\n"
                          "measure = [\"latency\", \"throughput\"]\ninstructions = 512\n"
                          "[[arithmetic]]\nname = \"odd\"\nop = \"add\"\ntype = \"f32\"\n"
                          "measure = \"throughput\"\nat.gpu = 0\ngrid = 133\nblock = 64\n"
                          "instructions = 1024\n");
  assert_int_equal(made.plan->case_count, 9);
  const struct case_def *latency =
      planned_case(made.plan, "a/gpu3/op=fma/type=f32/measure=latency");
  assert_int_equal(latency->kind, CASE_ARITHMETIC);
  assert_int_equal(latency->operations, 512);
  assert_int_equal(latency->operations_per_sm, 0);
  const struct case_def *packed =
      planned_case(made.plan, "a/gpu3/op=add/type=f16/measure=throughput");
  assert_int_equal(packed->work->arithmetic.grid, 264);
  assert_int_equal(packed->operations_per_sm, 2 * 512 * 1024 * 2);
  /* One SM has two blocks. */
  assert_int_equal(planned_case(made.plan, "odd/gpu0")->operations_per_sm, 2 * 1024 * 64);
}

/* Another process is named at its end, and in the definition; what is of this one keeps its key,
 * and does without the way to share it. */
TEST(ends_in_another_process) {
  struct planned made =
      planned_text("h200x4.toml", HEAD
                   "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\n"
                   "from = { gpu = 0, process = [0, 2], share = [\"ipc\", \"fd\"] }\n"
                   "to.gpu = 1\nsize = 4096\n"
                   "[[transfer]]\nname = \"h\"\nmethod = \"ce\"\nfrom.gpu = 3\n"
                   "to = { numa = \"local\", process = [0, 1], share = [\"memfd\", \"shm\"] }\n"
                   "size = 4096\n"
                   "[[transfer]]\nname = \"d\"\nmethod = \"ce\"\nto.gpu = 1\nsize = 4096\n"
                   "from = { gpu = 0, process = 7, memory = [\"device\", \"pool\"] }\n"
                   "[[transfer]]\nname = \"own\"\nmethod = \"ce\"\nfrom.gpu = 0\n"
                   "to.gpu = 1\nsize = 4096\n");
  const struct case_def *ipc = planned_case(made.plan, "b/gpu0:ipc:process2-gpu1/4KiB");
  const struct endpoint *source = &ipc->flows[0].source;
  assert_int_equal(source->process, 2);
  assert_int_equal(source->memory, MEMORY_DEVICE);
  assert_contains(ipc->definition,
                  "\"source\":{\"place\":\"gpu\",\"index\":0,\"memory\":\"device\","
                  "\"process\":2,\"share\":\"ipc\"}");
  assert_int_equal(planned_case(made.plan, "b/gpu0:fd:process2-gpu1/4KiB")->flows[0].source.memory,
                   MEMORY_VMM);
  const struct case_def *own = planned_case(made.plan, "b/gpu0-gpu1/4KiB");
  assert_null(strstr(own->definition, "process"));
  assert_null(strstr(own->definition, "share"));
  (void)planned_case(made.plan, "b/gpu0:vmm-gpu1/4KiB");
  const struct endpoint *target =
      &planned_case(made.plan, "h/gpu3-numa0:shm:process1/4KiB")->flows[0].target;
  assert_int_equal(target->share, SHARE_SHM);
  assert_int_equal(target->memory, MEMORY_SHARED);
  assert_int_equal(count_with(made.plan, "h/gpu3-numa0:shared/", false), 1); /* of both files */
  assert_int_equal(planned_case(made.plan, "d/gpu0:pool:process7-gpu1/4KiB")->flows[0].source.share,
                   SHARE_POOL);
  assert_int_equal(planned_case(made.plan, "d/gpu0:ipc:process7-gpu1/4KiB")->flows[0].source.share,
                   SHARE_IPC);
  planned_fini(&made);
}

#define OVERHEAD HEAD "[[overhead]]\nname = \"o\"\n"

TEST(overheads_of_calls_and_allocations) {
  struct planned made =
      planned_text("h100x8-nvlink.toml",
                   OVERHEAD "operation = [\"kernel_launch\", \"allocate\"]\nat.gpu = [0, 5]\n"
                            "memory = [\"device\", \"managed\", \"pinned\", \"pageable\"]\n"
                            "size = [4096, \"1MiB\"]\n");
  /* Two launches; sizes x (2 device, 2 managed, 2 pinned, 2 nodes). */
  assert_int_equal(made.plan->case_count, 2 + 2 * 8);
  const struct case_def *launch = planned_case(made.plan, "o/gpu5/operation=kernel_launch");
  assert_int_equal(launch->kind, CASE_OVERHEAD);
  assert_int_equal(launch->work->overhead.gpu, 5);
  assert_null(strstr(launch->definition, "memory"));
  const struct case_def *pinned =
      planned_case(made.plan, "o/gpu5-numa1:pinned/operation=allocate/1MiB");
  assert_int_equal(pinned->work->overhead.memory.index, 1);
  const struct case_def *pageable =
      planned_case(made.plan, "o/numa1:pageable/operation=allocate/4KiB");
  assert_int_equal(pageable->work->overhead.gpu, -1);
  assert_int_equal(planned_case(made.plan, "o/gpu0:managed/operation=allocate/4KiB")
                       ->work->overhead.memory.place,
                   PLACE_GPU);
  planned_fini(&made);
  made = planned_text("no-gpu.toml",
                      OVERHEAD "operation = \"free\"\nmemory = [\"huge\", \"pinned\"]\n");
  assert_int_equal(count_with(made.plan, "numa0:huge", false), 1);
  assert_int_equal(count_with(made.plan, "pinned", true), 1);
  planned_fini(&made);
}

/* On every machine everything is planned or skipped with a reason, and has a time. */
TEST(every_machine_has_a_plan_for_every_kind) {
  static const char *const machines[] = {"gh200.toml",  "gb200x4.toml",     "h100x8-nvlink.toml",
                                         "h200x4.toml", "l40sx4-pcie.toml", "no-gpu.toml"};
  for (size_t i = 0; i < COUNT_OF(machines); i++) {
    SCOPED(planned_fini)
    struct planned made = planned_text(
        machines[i],
        HEAD "[[stream]]\nname = \"s\"\nop = \"dot\"\nsize = [\"1MiB\", \"1GiB\"]\n"
             "grid = [1, \"per_sm*4\", \"full\"]\nblock = [1, 1024]\n"
             "[[stream]]\nname = \"h\"\nop = \"copy\"\nat = { numa = \"*\" }\nsize = \"1MiB\"\n"
             "[[chase]]\nname = \"c\"\nspace = [\"global\", \"shared\"]\nthreads = 32\n"
             "[[arithmetic]]\nname = \"a\"\nop = \"mul\"\ntype = \"f64\"\nmeasure = "
             "[\"latency\", \"throughput\"]\n"
             "[[compute]]\nname = \"k\"\nop = [\"matmul\", \"fma\", \"triad\"]\n"
             "[[signal]]\nname = \"f\"\nop = [\"flag\", \"stream\", \"atomic\", \"atomics\"]\n"
             "[[overhead]]\nname = \"o\"\noperation = [\"graph_launch\", \"allocate\"]\n");
    assert_true(made.plan->case_count > 10);
    for (size_t k = 0; k < made.plan->case_count; k++) {
      const struct plan_case *c = &made.plan->cases[k];
      assert_true((c->skip_reason != NULL) == (c->estimate_ns == 0));
      assert_true(c->longest_ns >= c->estimate_ns);
    }
    assert_int_equal(count_with(made.plan, "h/numa", true), 0);
  }
}

/* Seconds that runs of shipped scenarios took on hosts with so many H200s (driver 580.159.04; the
 * column duration_s of haul list runs, by process). */
TEST(estimates_are_near_what_was_recorded) {
  static const struct {
    const char *scenario;
    uint32_t gpus;
    double recorded_s;
  } RUNS[] = {
      {"loaded-latency", 1, 11.5}, {"loaded-latency", 2, 16.7},
      {"nvbandwidth", 1, 2.3},     {"nvbandwidth", 2, 7.7},
      {"quick", 1, 1.5},           {"quick", 2, 3.5},
      {"quick", 4, 6.7},           {"fingerprint", 2, 2.5},
      {"health", 2, 1.1},          {"scattered-copies", 2, 9.0},
      {"energy", 2, 33.7},         {"um-access", 2, 15.8},
      {"replay", 2, 1.5},          {"shared-cache-scaling", 1, 13.3},
  };
  for (size_t i = 0; i < COUNT_OF(RUNS); i++) {
    SCOPED(planned_fini)
    struct planned made = planned_shipped("h200x4.toml", RUNS[i].scenario, NULL, 0);
    SCOPED(plan_free_at) struct plan *plan = NULL;
    made.machine->gpu_count = RUNS[i].gpus;
    assert_ok(plan_new(made.scenario, made.machine, NULL, &plan, err), err);
    const double ratio = RUNS[i].recorded_s / ((double)plan->estimate_ns / 1e9);
    if (ratio < 1 / 1.5 || ratio > 1.5) {
      fail_msg("%s on %u GPUs took %.2f times the estimate", RUNS[i].scenario, RUNS[i].gpus, ratio);
    }
  }
}

#define LOADED(load)                                                                               \
  HEAD "[[transfer]]\nname = \"t\"\nmethod = \"sm\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 4096\n"      \
       "initiator = \"target\"\n[[transfer.load]]\n" load

TEST(mirrors_take_what_they_do_not_say) {
  struct planned made = planned_text("h100x8-nvlink.toml", LOADED(""));
  assert_int_equal(made.plan->case_count, 1);
  assert_string_equal(made.plan->cases[0].def.path, "gpu0-gpu1"); /* of what is measured */
  assert_int_equal(made.plan->cases[0].def.payload_bytes, 4096);
  assert_int_equal(made.plan->cases[0].def.flow_count, 2);
  const struct flow *load = &made.plan->cases[0].def.flows[1];
  assert_int_equal(load->role, FLOW_LOAD);
  assert_int_equal(load->method, METHOD_SM);
  assert_int_equal(load->source.index, 1);
  assert_int_equal(load->target.index, 0);
  assert_int_equal(load->initiator, INITIATOR_TARGET); /* the same end by role */
  assert_int_equal(load->size_bytes, 4096);
  planned_fini(&made);
  made =
      planned_text("h100x8-nvlink.toml", LOADED("direction = \"forward\"\nmethod = \"ce\"\nsize = "
                                                "8192\ninitiator = \"source\"\n"));
  load = &made.plan->cases[0].def.flows[1];
  assert_int_equal(load->method, METHOD_CE);
  assert_int_equal(load->source.index, 0);
  assert_int_equal(load->initiator, INITIATOR_SOURCE);
  assert_int_equal(load->size_bytes, 8192);
  planned_fini(&made);
}

TEST(mirrors_follow_spelled_flows_and_both_directions) {
  SCOPED(planned_fini)
  struct planned made = planned_text(
      "h100x8-nvlink.toml",
      HEAD "[[transfer]]\nname = \"spelled\"\n"
           "[[transfer.flow]]\nmethod = \"ce\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 4096\n"
           "[[transfer.flow]]\nmethod = \"sm\"\nfrom.numa = 0\nto.gpu = 2\nsize = 8192\n"
           "[[transfer.load]]\n"
           "[[transfer]]\nname = \"both\"\nmethod = \"ce\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 4096\n"
           "direction = \"both\"\n[[transfer.load]]\nsize = 64\n");
  const struct case_def *spelled = &made.plan->cases[0].def;
  assert_int_equal(spelled->flow_count, 4);
  assert_int_equal(spelled->flows[2].method, METHOD_CE);
  assert_int_equal(spelled->flows[2].size_bytes, 4096);
  assert_int_equal(spelled->flows[3].method, METHOD_SM);
  assert_int_equal(spelled->flows[3].size_bytes, 8192);
  assert_int_equal(spelled->flows[3].source.place, PLACE_GPU);
  assert_int_equal(spelled->flows[3].initiator, INITIATOR_SOURCE); /* the GPU */
  const struct case_def *both = &made.plan->cases[1].def;
  assert_int_equal(both->flow_count, 4);
  assert_int_equal(both->flows[2].source.index, 1);
  assert_int_equal(both->flows[3].source.index, 0);
  assert_int_equal(both->flows[3].size_bytes, 64);
}

#define SEQUENCE                                                                                   \
  HEAD "[[transfer]]\nname = \"mix\"\nmethod = \"ce\"\nstream = [1, \"own\"]\nstream_order = "     \
       "[\"file\", \"shuffled\"]\n"                                                                \
       "[[transfer.flow]]\nfrom.numa = 0\nto.gpu = 0\nsize = \"1MiB\"\ncount = 3\n"                \
       "[[transfer.flow]]\nfrom.gpu = 0\nto.gpu = 1\nsize = \"2MiB\"\ncount = 2\n"

/* In sequence each flow has the link for itself, and the sum of their times is the least. */
TEST(flows_that_share_a_stream) {
  SCOPED(planned_fini) struct planned made = planned_text("h100x8-nvlink.toml", SEQUENCE);
  assert_int_equal(made.plan->case_count, 3); /* own streams have no order */
  const struct case_def *listed = &made.plan->cases[0].def;
  const struct case_def *shuffled = &made.plan->cases[1].def;
  const struct case_def *own = &made.plan->cases[2].def;
  assert_string_equal(shuffled->name, "mix/2flows/stream=1/stream_order=shuffled");
  assert_int_equal(listed->payload_bytes, 7 << 20);
  assert_null(listed->order.flows);
  const double sum_ns = 3 * 0x1p20 / 63.015384615 + 4 * 0x1p20 / 478.116;
  assert_int_equal(listed->limit, LIMIT_PCIE);
  assert_int_equal((double)listed->peak_bytes_per_second / 1e8, 7 * 0x1p20 / sum_ns * 10);
  assert_int_equal((double)own->peak_bytes_per_second / 1e8, 7 * 63.015384615 / 3 * 10);
  assert_int_equal(shuffled->order.count, 5);
  uint32_t copies[2] = {0};
  for (uint32_t i = 0; i < shuffled->order.count; i++) {
    copies[shuffled->order.flows[i]]++;
  }
  assert_int_equal(copies[0], 3);
  assert_int_equal(copies[1], 2);
  assert_contains(listed->definition, "\"size_bytes\":1048576,\"copies\":3,\"stream\":1}");
  assert_null(strstr(listed->definition, "stream_order"));
  assert_contains(shuffled->definition, "],\"stream_order\":{\"shuffled\":1}");
  assert_contains(own->definition, "\"size_bytes\":1048576,\"copies\":3}");
}

/* A load repeats for as long as the others last, beside them. */
TEST(loads_are_on_no_stream) {
  struct planned made = planned_text("h100x8-nvlink.toml", SEQUENCE "[[transfer.load]]\n");
  const struct case_def *loaded = &made.plan->cases[0].def;
  assert_int_equal(loaded->flow_count, 4);
  assert_int_equal(loaded->flows[1].stream, 1);
  assert_int_equal(loaded->flows[2].stream, 0);
  assert_int_equal(loaded->flows[2].copies, 0);
  planned_fini(&made);
  made = planned_text("h100x8-nvlink.toml", HEAD
                      "[[transfer]]\nname = \"m\"\nmethod = \"ce\"\nstream = 1\nstream_order = "
                      "\"shuffled\"\ncount = 65536\nsize = 4\n[[transfer.flow]]\nfrom.gpu = "
                      "0\nto.gpu = 1\n[[transfer.flow]]\nfrom.gpu = 1\nto.gpu = 0\n");
  assert_string_equal(made.plan->cases[0].skip_reason, "more than 65536 copies in shuffled order");
  planned_fini(&made);
}

/* Each keeps the name and the place that it has among all. */
TEST(a_plan_of_some_keys) {
  SCOPED(planned_fini)
  struct planned made = planned_shipped("h100x8-nvlink.toml", "quick", NULL, 0);
  const size_t last = made.plan->case_count - 1;
  const char *keys[] = {made.plan->cases[last].def.key, made.plan->cases[1].def.key, "0"};
  const struct plan_options options = {.keys = {keys, 3}};
  SCOPED(plan_free_at) struct plan *plan = NULL;
  assert_ok(plan_new(made.scenario, made.machine, &options, &plan, err), err);
  assert_int_equal(plan->case_count, 2);
  assert_string_equal(plan->cases[0].def.name, made.plan->cases[1].def.name);
  assert_string_equal(plan->cases[1].def.name, made.plan->cases[last].def.name);
  assert_int_equal(plan->estimate_ns < made.plan->estimate_ns, 1);
}
