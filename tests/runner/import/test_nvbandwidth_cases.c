/* nvbandwidth's values come to the cases that measure the same, and to no others. */
#include "engine/case/transfer.h"
#include "engine/case/work.h"
#include "engine/machine/machine.h"
#include "runner/import/nvbandwidth_cases.h"
#include "scenarios/scenarios.h"
#include "schema/machine/machine_file.h"
#include "schema/scenario/scenario.h"
#include "tests/cmocka.h"

#include <math.h>

RELEASE(diagnostics_free, struct diagnostics)

#define REAL_FILE HAUL_SOURCE_DIR "/tests/data/nvbandwidth-0.8-4xH200.json"
#define H200X4    HAUL_SOURCE_DIR "/tests/machines/h200x4.toml"
#define H100X8    HAUL_SOURCE_DIR "/tests/machines/h100x8-nvlink.toml"

struct importing {
  struct arena arena;
  struct nvbandwidth_file file;
  struct machine *machine, *saved;
  struct scenario *scenario;
  struct plan *plan;
  int32_t gpu_of_device[MACHINE_GPUS_MAX];
  struct imported_cases cases;
};

static int set_up(void **state) {
  struct importing *importing = memory_new(1, sizeof *importing);
  importing->machine = calloc(1, sizeof *importing->machine);
  importing->saved = calloc(1, sizeof *importing->saved);
  assert_non_null(importing->machine);
  assert_non_null(importing->saved);
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = diagnostics_new();
  const struct embedded_file *shipped = scenarios_find("nvbandwidth");
  assert_non_null(shipped);
  assert_int_equal(scenario_parse((const char *)shipped->data,
                                  (size_t)(shipped->end - shipped->data),
                                  SCENARIOS_PREFIX "nvbandwidth.toml", NULL, 0,
                                  &importing->scenario, diagnostics),
                   STATUS_OK);
  *state = importing;
  return 0;
}

static int tear_down(void **state) {
  SCOPED(memory_free) struct importing *importing = *state;
  plan_free(importing->plan);
  scenario_free(importing->scenario);
  free(importing->machine);
  free(importing->saved);
  arena_fini(&importing->arena);
  return 0;
}

static void take(struct importing *importing, const struct machine *saved) {
  struct error err = {0};
  if (nvbandwidth_machine(&importing->file, saved, NULL, importing->machine,
                          importing->gpu_of_device, &err) != STATUS_OK ||
      plan_new(importing->scenario, importing->machine, NULL, &importing->plan, &err) !=
          STATUS_OK) {
    fail_msg("%s", err.message);
  }
  nvbandwidth_cases(&importing->file, importing->plan, importing->gpu_of_device, &importing->arena,
                    &importing->cases);
}

static void read_file(struct importing *importing, const char *path) {
  struct error err = {0};
  assert_ok(nvbandwidth_read(path, &importing->arena, &importing->file, &err), &err);
}

static void parse_text(struct importing *importing, const char *text) {
  struct error err = {0};
  assert_ok(
      nvbandwidth_parse(text, strlen(text), "nvb.json", &importing->arena, &importing->file, &err),
      &err);
}

static const struct imported_test *test_of(const struct importing *importing, const char *name) {
  for (size_t i = 0; i < importing->cases.test_count; i++) {
    if (strcmp(importing->cases.tests[i].name, name) == 0) {
      return &importing->cases.tests[i];
    }
  }
  fail_msg("no test %s", name);
  return NULL;
}

/* The imported rate of the case whose first measured flow and number of flows are these; 0: none.
 */
static double rate_of(const struct importing *importing, enum method method, uint32_t flow_count,
                      enum place source_place, int source, enum place target_place, int target,
                      enum initiator initiator, bool any_initiator) {
  double found = 0;
  for (size_t i = 0; i < importing->cases.plan.case_count; i++) {
    const struct case_def *def = &importing->cases.plan.cases[i].def;
    const struct flow *flow = &def->flows[0];
    if (def->flow_count == flow_count && flow->method == method &&
        flow->source.place == source_place && flow->source.index == source &&
        flow->target.place == target_place && flow->target.index == target &&
        (any_initiator || flow->initiator == initiator)) {
      assert_true(found == 0);
      found = (double)def->payload_bytes / importing->cases.median_ns[i];
    }
  }
  return found;
}

static void assert_rate(double rate, double expected) {
  if (fabs(rate - expected) > 1e-9 * expected) {
    fail_msg("%.9g is not %.9g", rate, expected);
  }
}

static double pair_rate(const struct importing *importing, enum method method, int source,
                        int target, enum initiator initiator) {
  return rate_of(importing, method, 1, PLACE_GPU, source, PLACE_GPU, target, initiator,
                 source == target);
}

TEST_WITH(real_file_gives_rates_of_cases, set_up, tear_down, struct importing *importing) {
  read_file(importing, REAL_FILE);
  take(importing, NULL);
  assert_string_equal(importing->machine->host_name, "vm");
  assert_false(importing->machine->simulated);
  assert_string_equal(machine_fact(importing->machine, "driver_version", -1)->value, "580.159.04");
  assert_string_equal(machine_fact(importing->machine, "driver_branch", -1)->value, "r580");
  assert_int_equal(machine_fact(importing->machine, "kernel", -1)->state, FACT_UNAVAILABLE);
  assert_string_equal(machine_fact(importing->machine, "nvbandwidth_version", -1)->value, "0.8");

  assert_rate(rate_of(importing, METHOD_CE, 1, PLACE_NUMA, 0, PLACE_GPU, 1, INITIATOR_SOURCE, true),
              55.052);
  assert_rate(rate_of(importing, METHOD_SM, 1, PLACE_GPU, 3, PLACE_NUMA, 0, INITIATOR_SOURCE, true),
              52.544);
  /* Beside a copy back. */
  assert_rate(rate_of(importing, METHOD_CE, 2, PLACE_NUMA, 0, PLACE_GPU, 0, INITIATOR_SOURCE, true),
              46.3004);
  assert_rate(rate_of(importing, METHOD_CE, 2, PLACE_GPU, 0, PLACE_NUMA, 0, INITIATOR_SOURCE, true),
              51.5361);
  /* "read", row 2, column 0: GPU 2 pulls from GPU 0. "write": GPU 2 pushes to GPU 0. */
  assert_rate(pair_rate(importing, METHOD_CE, 0, 2, INITIATOR_TARGET), 394.052);
  assert_rate(pair_rate(importing, METHOD_CE, 0, 3, INITIATOR_TARGET), 394.142);
  assert_rate(pair_rate(importing, METHOD_CE, 3, 0, INITIATOR_TARGET), 393.925);
  assert_rate(pair_rate(importing, METHOD_CE, 2, 1, INITIATOR_SOURCE), 396.489);
  assert_rate(pair_rate(importing, METHOD_SM, 1, 3, INITIATOR_SOURCE), 369.799);
  /* What arrives, not read and written apart. */
  assert_rate(pair_rate(importing, METHOD_CE, 3, 3, INITIATOR_SOURCE), 2097.15);

  const struct imported_test *test = test_of(importing, "host_device_latency_sm");
  assert_int_equal(test->values, 4);
  assert_int_equal(test->taken, 0);
  assert_contains(test->reason, "launch");
  test = test_of(importing, "device_to_device_bidirectional_memcpy_read_ce");
  assert_int_equal(test->values, 36);
  assert_int_equal(test->taken, 0);
  assert_contains(test->reason, "one window");
  assert_contains(test_of(importing, "all_to_host_memcpy_sm")->reason, "one GPU at a time");
  size_t taken = 0;
  for (size_t i = 0; i < importing->cases.test_count; i++) {
    test = &importing->cases.tests[i];
    taken += test->taken;
    assert_int_equal(test->taken == test->values, test->reason == NULL);
  }
  assert_int_equal(taken, importing->cases.plan.case_count);
  assert_true(taken >= 88);
}

/* all_to_one_read_ce copies out of the one GPU, and the others start it. */
/* The scenario has each test of the list of 0.10, which is that of 0.8 up to the last but one.
 * nvbandwidth -j prints tests in the order of its list. */
TEST_WITH(tests_have_the_numbers_of_the_list, set_up, tear_down, struct importing *importing) {
  read_file(importing, REAL_FILE);
  const size_t last = importing->file.test_count - 1; /* 0.10 has its new tests around it */
  size_t count = 0;
  for (const char *name; (name = nvbandwidth_test_name(count)) != NULL; count++) {
    if (count < last) {
      assert_string_equal(name, importing->file.tests[count].name);
    }
    bool found = false;
    for (size_t i = 0; i < importing->scenario->block_count && !found; i++) {
      found = strcmp(block_name(importing->scenario->blocks[i]), name) == 0;
    }
    assert_true(found);
  }
  assert_string_equal(importing->file.tests[last].name, "device_local_copy");
  assert_string_equal(nvbandwidth_test_name(38), "device_local_copy");
  assert_int_equal(count, 44);
  assert_int_equal(count, importing->scenario->block_count);
}

TEST_WITH(concurrent_flows_match_by_initiator, set_up, tear_down, struct importing *importing) {
  read_file(importing, REAL_FILE);
  take(importing, NULL);
  int seen = 0;
  for (size_t i = 0; i < importing->cases.plan.case_count; i++) {
    const struct case_def *def = &importing->cases.plan.cases[i].def;
    const struct flow *flow = &def->flows[0];
    const double rate = (double)def->payload_bytes / importing->cases.median_ns[i];
    if (def->flow_count != 3) {
      continue;
    }
    const bool into_1 = flow->target.index == 1 && def->flows[1].target.index == 1;
    const bool out_of_1 = flow->source.index == 1 && def->flows[1].source.index == 1;
    const bool pushed = flow->initiator == INITIATOR_SOURCE;
    seen += into_1 || out_of_1 ? 1 : 0;
    if (into_1 && flow->method == METHOD_CE) {
      assert_rate(rate, pushed ? 398.958 : 399.229);
    }
    if (out_of_1 && flow->method == METHOD_CE) {
      assert_rate(rate, pushed ? 339.331 : 337.755);
    }
    if (into_1 && flow->method == METHOD_SM) {
      assert_rate(rate, 376.268);
    }
    if (out_of_1 && flow->method == METHOD_SM) {
      assert_rate(rate, 348.356);
    }
  }
  assert_int_equal(seen, 6);
}

TEST_WITH(saved_machine_must_match, set_up, tear_down, struct importing *importing) {
  read_file(importing, REAL_FILE);
  assert_ok(machine_file_load(H200X4, importing->saved, err), err);
  importing->saved->simulated = true;
  take(importing, importing->saved);
  assert_string_equal(importing->machine->host_name, "h200x4");
  assert_true(importing->machine->simulated);
  assert_string_equal(importing->machine->gpus[1].uuid, importing->saved->gpus[1].uuid);
  assert_string_equal(machine_fact(importing->machine, "cpu_model", -1)->value,
                      "INTEL(R) XEON(R) PLATINUM 8568Y+");
  /* May have changed since. */
  assert_int_equal(machine_fact(importing->machine, "boot_id", -1)->state, FACT_UNAVAILABLE);
  assert_int_equal(machine_fact(importing->machine, "vbios", 2)->state, FACT_UNAVAILABLE);
  assert_rate(rate_of(importing, METHOD_CE, 1, PLACE_NUMA, 0, PLACE_GPU, 1, INITIATOR_SOURCE, true),
              55.052);

  assert_ok(machine_file_load(H100X8, importing->saved, err), err);
  assert_fails(nvbandwidth_machine(&importing->file, importing->saved, NULL, importing->machine,
                                   importing->gpu_of_device, err),
               STATUS_INVALID, err, "4 GPUs (NVIDIA H200)");
  assert_contains(err->message, "has 8");
}

/* nvbandwidth numbers GPUs as CUDA does, which may be by speed; haul by PCI address. */
TEST_WITH(gpus_are_matched_by_address, set_up, tear_down, struct importing *importing) {
  parse_text(importing, "{\"nvbandwidth\": {\"version\": \"v0.6\", \"GPU Device list\": [\"0: Fast "
                        "(00000000:81:00)\", \"1: Slow (00000000:0a:00)\"], \"testcases\": [{"
                        "\"name\": \"device_local_copy\", \"status\": \"Passed\", "
                        "\"bandwidth_matrix\": [[\"2000\", \"1000\"]]}, {\"name\": "
                        "\"device_to_device_memcpy_write_ce\", \"status\": \"Passed\", "
                        "\"bandwidth_matrix\": [[\"N/A\", \"20\"], [\"10\", \"N/A\"]]}, {\"name\": "
                        "\"all_to_one_write_ce\", \"status\": \"Passed\", \"bandwidth_matrix\": "
                        "[[\"10\", \"20\"]]}]}}");
  take(importing, NULL);
  assert_string_equal(importing->machine->gpus[0].name, "Slow");
  assert_rate(pair_rate(importing, METHOD_CE, 0, 0, INITIATOR_SOURCE), 1000);
  assert_rate(pair_rate(importing, METHOD_CE, 1, 1, INITIATOR_SOURCE), 2000);
  assert_rate(pair_rate(importing, METHOD_CE, 1, 0, INITIATOR_SOURCE), 20);
  /* With two GPUs, all others are one: the same case, which has one value. */
  const struct imported_test *test = test_of(importing, "all_to_one_write_ce");
  assert_int_equal(test->taken, 0);
  assert_contains(test->reason, "the same case");
}

/* Of the nine that 0.10 added, those that count what their cases do; by kernels of another kind
 * than the cases of the same flows. */
TEST_WITH(newer_tests_have_cases_of_their_own, set_up, tear_down, struct importing *importing) {
#define PAIRS(name, rates)                                                                         \
  "{\"name\": \"device_" name "\", \"status\": \"Passed\", \"bandwidth_matrix\": [" rates "]}, "
  parse_text(
      importing,
      "{\"nvbandwidth\": {\"version\": \"v0.10.0\", \"GPU Device list\": [\"0: NVIDIA H200 "
      "(00000000:06:00)\", \"1: NVIDIA H200 (00000000:07:00)\"], \"testcases\": [" PAIRS(
          "to_device_memcpy_read_tma",
          "[\"N/A\", \"381\"], [\"382\", \"N/A\"]") PAIRS("to_device_memcpy_read_sm",
                                                          "[\"N/A\", \"371\"], [\"372\", \"N/A\"]")
          PAIRS("to_device_memcpy_write_tma", "[\"N/A\", \"383\"], [\"384\", \"N/A\"]") PAIRS(
              "to_device_bidirectional_memcpy_read_tma", "[\"N/A\", \"7\"], [\"7\", \"N/A\"]")
              PAIRS("local_copy_tma", "[\"2101\", \"2102\"]") PAIRS("local_copy_sm",
                                                                    "[\"2111\", \"2112\"]")
                  PAIRS("local_read_sm",
                        "[\"4601\", \"4602\"]") "{\"name\": \"device_local_write_sm\", \"status\": "
                                                "\"Passed\", "
                                                "\"bandwidth_matrix\": [[\"4401\", \"4402\"]]}]}}");
#undef PAIRS
  take(importing, NULL);
  double sum = 0;
  for (size_t i = 0; i < importing->cases.plan.case_count; i++) {
    const struct case_def *def = &importing->cases.plan.cases[i].def;
    const double rate = (double)def->payload_bytes / importing->cases.median_ns[i];
    const bool bulk = strstr(def->block, "_tma") != NULL;
    sum += rate;
    if (def->kind == CASE_STREAM) {
      const struct stream *stream = &def->work->stream;
      assert_rate(rate, (stream->op == STREAM_READ ? 4601 : 4401) + stream->memory.index);
    } else {
      assert_int_equal(def->flows[0].kernel.variant, bulk ? KERNEL_BULK : KERNEL_AUTO);
      const double least = strstr(def->block, "_local_") != NULL      ? (bulk ? 2101 : 2111)
                           : strstr(def->block, "_write_tma") != NULL ? 383
                           : bulk                                     ? 381
                                                                      : 371;
      const struct flow *flow = &def->flows[0];
      /* Row 0, column 1: GPU 0 is the target of a read and the source of a write. */
      const int first = flow->source.index == flow->target.index ? flow->source.index
                        : flow->initiator == INITIATOR_TARGET    ? flow->target.index
                                                                 : flow->source.index;
      assert_rate(rate, least + first);
    }
  }
  assert_int_equal(importing->cases.plan.case_count, 14);
  assert_rate(sum, 2 * (381 + 371 + 383 + 2101 + 2111 + 4601 + 4401) + 7);
  const struct imported_test *test =
      test_of(importing, "device_to_device_bidirectional_memcpy_read_tma");
  assert_int_equal(test->taken, 0);
  assert_contains(test->reason, "one window");
}

TEST_WITH(unknown_tests_are_left_out, set_up, tear_down, struct importing *importing) {
  parse_text(
      importing,
      "{\"nvbandwidth\": {\"version\": \"v0.5\", \"testcases\": [{\"name\": "
      "\"host_to_device_memcpy_ce\", \"bandwidth_matrix\": [[\"50\", \"N/A\", \"0\"]]}, "
      "{\"name\": \"multinode_x\", \"bandwidth_matrix\": [[\"1\"]]}, {\"name\": "
      "\"device_to_host_memcpy_ce\", \"status\": \"Error\"}, {\"name\": "
      "\"device_to_device_latency_tma\", \"bandwidth_matrix\": [[\"1\", \"2\", \"3\"]]}, "
      "{\"name\": "
      "\"device_local_write_sm\", \"status\": \"Waived\", \"waived_because\": \"too old\"}, "
      "{\"name\": \"device_local_copy\", \"status\": \"Running\"}, {\"name\": "
      "\"device_to_device_memcpy_read_ce\", \"bandwidth_matrix\": [[\"1\", \"2\", \"3\"]]}]}}");
  take(importing, NULL);
  assert_string_equal(importing->machine->host_name, "unknown");
  assert_int_equal(importing->machine->gpu_count, 3);
  const struct imported_test *test = test_of(importing, "host_to_device_memcpy_ce");
  assert_int_equal(test->values, 2);
  assert_int_equal(test->taken, 1);
  assert_string_equal(test->reason, "it is no rate");
  assert_contains(test_of(importing, "multinode_x")->reason, "not a test");
  assert_string_equal(test_of(importing, "device_to_host_memcpy_ce")->reason,
                      "nvbandwidth says: Error");
  assert_contains(test_of(importing, "device_to_device_latency_tma")->reason, "launch");
  assert_string_equal(test_of(importing, "device_local_write_sm")->reason,
                      "nvbandwidth says: Waived: too old");
  assert_string_equal(test_of(importing, "device_local_copy")->reason,
                      "nvbandwidth ended while it ran");
  assert_string_equal(test_of(importing, "device_to_device_memcpy_read_ce")->reason,
                      "its matrix is 1 by 3, not 3 by 3 as of 3 GPUs");
}
