/* Extents of samples and the words for throttling. */
#include "engine/machine/telemetry.h"

#include "engine/machine/machine.h"
#include "tests/cmocka.h"

TEST(test_extent) {
  struct telemetry_extent extent;
  telemetry_extent_init(&extent);
  const struct telemetry_sample unknown = {.sm_clock_khz = -1,
                                           .power_mw = -1,
                                           .temperature_c = -1,
                                           .pcie_generation = -1,
                                           .pcie_width = -1,
                                           .throttle_reasons = -1};
  telemetry_extent_add(&extent, &unknown);
  assert_int_equal(extent.sample_count, 1);
  assert_int_equal(extent.sm_clock_min_khz, -1);
  assert_int_equal(extent.throttle_reasons, -1);
  struct telemetry_sample sample = {.sm_clock_khz = 1980000,
                                    .power_mw = 300000,
                                    .temperature_c = 40,
                                    .pcie_generation = 1,
                                    .pcie_width = 16,
                                    .throttle_reasons = 1};
  telemetry_extent_add(&extent, &sample);
  sample.sm_clock_khz = 1200000;
  sample.power_mw = 650000;
  sample.pcie_generation = 5;
  sample.throttle_reasons = 4;
  telemetry_extent_add(&extent, &sample);
  assert_int_equal(extent.sample_count, 3);
  assert_int_equal(extent.sm_clock_min_khz, 1200000);
  assert_int_equal(extent.sm_clock_max_khz, 1980000);
  assert_int_equal(extent.power_max_mw, 650000);
  assert_int_equal(extent.temperature_max_c, 40);
  assert_int_equal(extent.pcie_generation_max, 5);
  assert_int_equal(extent.pcie_width_max, 16);
  assert_int_equal(extent.throttle_reasons, 5);
}

TEST(test_throttle_text) {
  char text[FACT_VALUE_MAX];
  telemetry_throttle_text(0, text);
  assert_string_equal(text, "none");
  telemetry_throttle_text(0x1 | 0x2 | 0x100, text); /* idle and settings */
  assert_string_equal(text, "none");
  telemetry_throttle_text(0x4 | 0x40, text);
  assert_string_equal(text, "sw_power_cap,hw_thermal");
  telemetry_throttle_text(-1, text);
  assert_string_equal(text, "none");
}

TEST(test_no_gpus) {
  SCOPED(memory_free) struct machine *machine = memory_new(1, sizeof *machine);
  struct telemetry *telemetry = NULL;

  assert_int_equal(telemetry_new(machine, &telemetry, err), STATUS_UNSUPPORTED);
  assert_string_not_equal(err->message, "");
  telemetry_free(telemetry);
}
