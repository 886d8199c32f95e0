/* telemetry.h - clocks, power, temperature, throttling and error counters of the GPUs, and who else
 * uses them, sampled through NVML while workers measure. Needs no CUDA context. */
#pragma once

#include "engine/base/error.h"
#include "engine/machine/error_counters.h"
#include "engine/machine/limits.h"

#include <stdint.h>

struct machine;

enum { TELEMETRY_OTHERS_MAX = 4, TELEMETRY_NAME_MAX = 16 /* of the kernel: TASK_COMM_LEN */ };

/* A compute process on a GPU. */
struct telemetry_process {
  int32_t pid;                   /* 0 = runs outside this container */
  int32_t busy_percent;          /* of its GPU's time or memory; -1 = cannot be known */
  char name[TELEMETRY_NAME_MAX]; /* "" = not known */
};

/* One GPU at one moment. A value that cannot be read is -1. */
struct telemetry_sample {
  uint64_t time_ns; /* CLOCK_MONOTONIC_RAW */
  int32_t gpu;
  int64_t sm_clock_khz;
  int64_t memory_clock_khz;
  int64_t power_mw;
  int64_t energy_mj; /* since the driver was loaded; from Volta on */
  int64_t temperature_c;
  int64_t utilization_percent;
  int64_t pcie_generation;
  int64_t pcie_width;
  int64_t throttle_reasons; /* NVML bits, idle and application clocks included */
  int32_t other_count;      /* compute processes that are not of this run; -1 = not known */
  struct telemetry_process others[TELEMETRY_OTHERS_MAX]; /* the first of them */
  int64_t memory_temperature_c;
  struct error_counts errors;
};

/* What was seen of one GPU over a run. Lowest and highest, -1 = never read. */
struct telemetry_extent {
  uint64_t sample_count;
  int64_t sm_clock_min_khz, sm_clock_max_khz;
  int64_t power_max_mw;
  int64_t temperature_max_c;
  int64_t pcie_generation_max, pcie_width_max; /* under load the link goes to its best */
  int64_t throttle_reasons;                    /* all bits seen, or-ed */
};

struct telemetry;

/* STATUS_UNSUPPORTED without NVML or GPUs. machine is borrowed. Processes of this run are the
 * parent of the calling process and its children. */
enum status telemetry_new(const struct machine *machine, struct telemetry **telemetry,
                          struct error *err) CHECK_RESULT;
void telemetry_free(struct telemetry *telemetry);
/* A sample of that GPU, which takes NVML some milliseconds; false: there is no such GPU. */
bool telemetry_read(struct telemetry *telemetry, uint32_t gpu, struct telemetry_sample *sample);
/* The error counters alone, of these GPUs (bit i: GPU i); of others they are not available. */
void telemetry_read_errors(struct telemetry *telemetry, uint32_t gpus,
                           struct error_counts errors[MACHINE_GPUS_MAX]);
/* An empty extent, and one widened by a sample. */
void telemetry_extent_init(struct telemetry_extent *extent);
void telemetry_extent_add(struct telemetry_extent *extent, const struct telemetry_sample *sample);
/* NVML throttle bits that mean "slower than it could be" as text "sw_power_cap,hw_thermal"; "none".
 */
void telemetry_throttle_text(int64_t throttle_reasons, char text[FACT_VALUE_MAX]);
