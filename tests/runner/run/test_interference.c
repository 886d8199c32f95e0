/* What is said to have slowed a case, from samples. */
#include "runner/run/interference.h"

#include "engine/base/clock.h"
#include "engine/case/transfer.h"
#include "engine/case/work.h"
#include "engine/machine/machine.h"
#include "tests/cmocka.h"

static struct machine machine;
static struct interference interference;

/* Host memory to GPU 1. */
static const struct flow FLOW = {.source = {.place = PLACE_NUMA, .memory = MEMORY_PINNED},
                                 .target = {.place = PLACE_GPU, .index = 1}};
static const struct case_def CASE = {.kind = CASE_TRANSFER, .flows = &FLOW, .flow_count = 1};

static int set_up(void **state) {
  machine = (struct machine){.gpu_count = 2};
  for (size_t i = 0; i < 2; i++) {
    machine.gpus[i] =
        (struct gpu){.sm_clock_max_khz = 1980000, .pcie_generation_max = 5, .pcie_width_max = 16};
  }
  interference_init(&interference);
  return 0;
}

static struct telemetry_sample sample_of(int32_t gpu) {
  return (struct telemetry_sample){.time_ns = clock_now_ns(),
                                   .gpu = gpu,
                                   .sm_clock_khz = 1980000,
                                   .pcie_generation = 5,
                                   .pcie_width = 16,
                                   .other_count = 0};
}

static void expect_of(const struct case_def *def, const char *wanted) {
  struct notes notes = {0};
  SCOPED(strbuf_fini) struct strbuf text;
  strbuf_init(&text, 4096);
  interference_find(&interference, &machine, def, NULL, &notes);
  for (uint32_t i = 0; i < notes.count; i++) {
    assert_true(note_slows(notes.items[i].kind));
    note_put_words(&text, &notes.items[i], NULL);
  }
  assert_string_equal(text.text, wanted);
}

static void expect(const char *wanted) {
  expect_of(&CASE, wanted);
}

TEST_WITH(throttling_counts_by_its_reason_and_share, set_up, NULL) {
  struct telemetry_sample sample = sample_of(1);
  for (size_t i = 0; i < 20; i++) {
    sample.throttle_reasons = i < 9 ? 0x40 | 0x1 : 0x1; /* hw_thermal; idle is none */
    interference_add(&interference, &sample);
  }
  expect("gpu1 throttled by hw_thermal for 50 % of the time");
  for (size_t i = 0; i < 20; i++) {
    sample.throttle_reasons = i < 1 ? 0x8 : 0x2; /* 5 %; application clocks are a setting */
    interference_add(&interference, &sample);
  }
  expect("");
  sample.gpu = 0; /* not of this case */
  sample.throttle_reasons = 0xff;
  interference_add(&interference, &sample);
  expect("");
}

TEST_WITH(a_power_cap_counts_where_it_costs_clocks, set_up, NULL) {
  struct telemetry_sample sample = sample_of(1);
  sample.throttle_reasons = 0x4;
  for (size_t i = 0; i < 10; i++) {
    interference_add(&interference, &sample);
  }
  expect("");
  sample.sm_clock_khz = 1700000;
  for (size_t i = 0; i < 10; i++) {
    interference_add(&interference, &sample);
  }
  expect("gpu1 throttled by sw_power_cap for 100 % of the time");
  for (size_t i = 0; i < 10; i++) {
    sample.throttle_reasons = i < 4 ? 0x4 : 0;
    interference_add(&interference, &sample);
  }
  expect("");
}

TEST_WITH(other_programs_count_where_they_do_something, set_up, NULL) {
  struct telemetry_sample sample = sample_of(1);
  sample.other_count = 1;
  sample.others[0] = (struct telemetry_process){.pid = 4242, .busy_percent = 2, .name = "idle"};
  interference_add(&interference, &sample);
  expect("");
  sample.others[0] = (struct telemetry_process){.pid = 4242, .busy_percent = 98, .name = "python"};
  interference_add(&interference, &sample);
  expect("gpu1 in use by pid 4242 (python), 98 % busy");
  sample.others[0].busy_percent = 60; /* one text for all cases of the run */
  interference_add(&interference, &sample);
  expect("gpu1 in use by pid 4242 (python), 98 % busy");
  sample.other_count = 2;
  sample.others[1] = (struct telemetry_process){.pid = 7, .busy_percent = 99, .name = "b"};
  interference_add(&interference, &sample);
  expect("gpu1 in use by pid 7 (b) and 1 more, 99 % busy");
  sample.other_count = 1;
  sample.others[0] = (struct telemetry_process){.busy_percent = -1};
  interference_add(&interference, &sample);
  expect("gpu1 in use by a process outside this container");
}

/* A case that ends before the next sample. */
TEST_WITH(the_last_sample_stands_for_a_case_without_one, set_up, NULL) {
  struct telemetry_sample sample = sample_of(1);
  sample.other_count = 1;
  sample.others[0] = (struct telemetry_process){.pid = 4242, .busy_percent = 98, .name = "python"};
  interference_add(&interference, &sample);
  expect("gpu1 in use by pid 4242 (python), 98 % busy");
  expect("gpu1 in use by pid 4242 (python), 98 % busy");
  interference.gpus[1].last.time_ns -= UINT64_C(2000000000);
  expect("");
}

TEST_WITH(a_link_below_its_best_counts_where_it_is_loaded, set_up, NULL) {
  struct telemetry_sample sample = sample_of(1);
  sample.pcie_generation = 3;
  interference_add(&interference, &sample);
  expect(""); /* it may still have been on its way up */
  interference_add(&interference, &sample);
  interference_add(&interference, &sample);
  expect("PCIe link of gpu1 at gen3 x16 instead of gen5 x16");
  interference_add(&interference, &sample);
  sample.pcie_generation = 5;
  interference_add(&interference, &sample);
  expect("");
  machine.gpus[1].c2c_bytes_per_second = 1; /* the way to the host is another */
  sample.pcie_generation = 1;
  interference_add(&interference, &sample);
  interference_add(&interference, &sample);
  expect("");
}

/* In a container whose NVML lists nobody. */
TEST_WITH(work_on_an_idle_gpu_is_another_programs, set_up, NULL) {
  static const union work work = {.arithmetic = {.gpu = 0}};
  static const struct case_def on_gpu_0 = {.kind = CASE_ARITHMETIC, .work = &work};
  struct telemetry_sample sample = sample_of(1);
  sample.utilization_percent = 98;
  interference_add(&interference, &sample); /* may still be the load of this run */
  expect_of(&on_gpu_0, "");
  expect("");
  interference.gpus[1].used_ns -= UINT64_C(2000000000);
  interference_add(&interference, &sample);
  expect_of(&on_gpu_0, "");
  expect("gpu1 in use by another program, 98 % busy while this run left it idle");
  interference_add(&interference, &sample); /* this run's own load, in its own case */
  expect("gpu1 in use by another program, 98 % busy while this run left it idle");
  interference.gpus[1].used_ns -= UINT64_C(2000000000);
  sample.utilization_percent = 1;
  sample.time_ns = clock_now_ns();
  interference_add(&interference, &sample);
  expect_of(&on_gpu_0, "");
  expect("");
}
