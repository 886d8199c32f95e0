#include "runner/run/slowed.h"

#include "engine/base/clock.h"
#include "engine/machine/machine.h"

#include <string.h>

/* A mark must mean something. Thermal and hardware reasons, and power brakes, are never normal: a
 * tenth of the time of a case is enough to move its median. A power cap is the normal state of
 * heavy kernels on many GPUs, and its bit is set long before clocks fall: it counts where it lasted
 * for half of the time and the SM clock was 5 % below its best, which a kernel that is bound by its
 * SMs can feel. */
enum { ABNORMAL_PERCENT = 10, CAP_PERCENT = 50, CAP_CLOCK_PERCENT = 95 };
/* The last sample stands for a case too short to have one of its own. */
#define LAST_SAMPLE_NS UINT64_C(1000000000)
/* NVML's utilization is of the last second at most; and how long what it said of an idle GPU holds.
 */
#define IDLE_NS       UINT64_C(1300000000)
#define IDLE_HOLDS_NS UINT64_C(30000000000)

static const struct {
  int64_t bit; /* NVML's */
  const char *name;
  bool power_cap;
} SLOWED_BITS[SLOWED_REASONS] = {
    {0x4, "sw_power_cap", true}, {0x8, "hw_slowdown", false}, {0x10, "sync_boost", false},
    {0x20, "sw_thermal", false}, {0x40, "hw_thermal", false}, {0x80, "hw_power_brake", false},
};

static void slowed_begin_case(struct slowed_gpu *gpu) {
  const struct slowed_gpu was = *gpu;
  *gpu = (struct slowed_gpu){.pcie_generation = -1,
                             .pcie_width = -1,
                             .busiest = was.busiest,
                             .user = was.user,
                             .last = was.last,
                             .used_ns = was.used_ns,
                             .idle_seen_ns = was.idle_seen_ns,
                             .idle_percent = was.idle_percent};
}

void slowed_init(struct slowed *slowed) {
  memset(slowed, 0, sizeof *slowed);
  for (size_t i = 0; i < MACHINE_GPUS_MAX; i++) {
    slowed->gpus[i].used_ns = clock_now_ns();
    slowed_begin_case(&slowed->gpus[i]);
  }
}

static void slowed_add_others(struct slowed_gpu *gpu, const struct telemetry_sample *sample) {
  int32_t busy = 0;
  for (int32_t i = 0; i < sample->other_count && i < TELEMETRY_OTHERS_MAX; i++) {
    const struct telemetry_process *other = &sample->others[i];
    /* A program that only holds memory slows nothing. */
    if (other->busy_percent >= 0 && other->busy_percent < GPU_BUSY_PERCENT) {
      continue;
    }
    busy++;
    if (gpu->other_count == 0 || other->busy_percent > gpu->other.busy_percent) {
      gpu->other = *other;
      gpu->other_count = gpu->other_count > 0 ? gpu->other_count : 1;
    }
  }
  gpu->other_count = busy > gpu->other_count ? busy : gpu->other_count;
}

static void slowed_add_to(struct slowed_gpu *gpu, const struct telemetry_sample *sample) {
  gpu->sample_count++;
  if (sample->throttle_reasons >= 0) {
    gpu->answered++;
    for (size_t i = 0; i < SLOWED_REASONS; i++) {
      gpu->throttled[i] += (sample->throttle_reasons & SLOWED_BITS[i].bit) != 0;
    }
    if ((sample->throttle_reasons & SLOWED_BITS[0].bit) != 0 && sample->sm_clock_khz > 0) {
      gpu->capped_clock_khz_sum += (uint64_t)sample->sm_clock_khz;
      gpu->capped_clock_count++;
    }
  }
  gpu->pcie_generation = sample->pcie_generation > gpu->pcie_generation ? sample->pcie_generation
                                                                        : gpu->pcie_generation;
  gpu->pcie_width = sample->pcie_width > gpu->pcie_width ? sample->pcie_width : gpu->pcie_width;
  slowed_add_others(gpu, sample);
}

void slowed_add(struct slowed *slowed, const struct telemetry_sample *sample) {
  if (sample->gpu >= 0 && sample->gpu < MACHINE_GPUS_MAX) {
    slowed_add_to(&slowed->gpus[sample->gpu], sample);
    slowed->gpus[sample->gpu].last = *sample;
  }
}

/* ---- text ---- */

static void slowed_append(char text[CASE_REASON_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void slowed_append(char text[CASE_REASON_MAX], const char *format, ...) {
  size_t length = strlen(text);
  if (length > 0) {
    (void)snprintf(text + length, CASE_REASON_MAX - length, "; ");
    length = strlen(text);
  }
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text + length, CASE_REASON_MAX - length, format, args);
  va_end(args);
}

static bool slowed_by_cap(const struct slowed_gpu *seen, const struct gpu *gpu) {
  return seen->capped_clock_count > 0 && gpu->sm_clock_max_khz > 0 &&
         seen->capped_clock_khz_sum / seen->capped_clock_count <
             gpu->sm_clock_max_khz * CAP_CLOCK_PERCENT / 100;
}

static void slowed_describe_throttling(const struct slowed_gpu *seen, const struct gpu *gpu,
                                       uint32_t number, char text[CASE_REASON_MAX]) {
  for (size_t i = 0; i < SLOWED_REASONS && seen->answered > 0; i++) {
    const uint32_t percent = 100 * seen->throttled[i] / seen->answered;
    const uint32_t least = SLOWED_BITS[i].power_cap ? CAP_PERCENT : ABNORMAL_PERCENT;
    if (seen->throttled[i] == 0 || percent < least ||
        (SLOWED_BITS[i].power_cap && !slowed_by_cap(seen, gpu))) {
      continue;
    }
    /* In tenths: cases that were slowed alike share a footnote. */
    slowed_append(text, "gpu%u throttled by %s for %u %% of the time", number, SLOWED_BITS[i].name,
                  (percent + 5) / 10 * 10);
  }
}

/* One text for all cases that were slowed alike: they share a footnote. */
static void slowed_describe_program(struct slowed_gpu *seen, uint32_t number,
                                    char text[CASE_REASON_MAX]) {
  char who[64];
  char busy[32] = "";
  if (seen->busiest.pid != seen->other.pid ||
      seen->busiest.busy_percent < seen->other.busy_percent) {
    seen->busiest = seen->other;
  }
  char more[32] = "";
  if (seen->other.pid > 0 && seen->other.name[0] != '\0') {
    (void)snprintf(who, sizeof who, "pid %d (%s)", seen->other.pid, seen->other.name);
  } else if (seen->other.pid > 0) {
    (void)snprintf(who, sizeof who, "pid %d", seen->other.pid);
  } else {
    (void)snprintf(who, sizeof who, "a process outside this container");
  }
  if (seen->busiest.busy_percent >= 0) {
    (void)snprintf(busy, sizeof busy, ", %d %% busy", seen->busiest.busy_percent);
  }
  if (seen->other_count > 1) {
    (void)snprintf(more, sizeof more, " and %d more", seen->other_count - 1);
  }
  (void)snprintf(seen->user.who, sizeof seen->user.who, "%.50s%.20s%.24s", who, busy, more);
  seen->user.hidden = false;
  slowed_append(text, "gpu%u in use by %s", number, seen->user.who);
}

/* The link goes to its best under load: two samples, so that the first may come too early. */
static void slowed_describe_link(const struct slowed_gpu *seen, const struct gpu *gpu,
                                 uint32_t number, char text[CASE_REASON_MAX]) {
  if (seen->sample_count >= 2 && seen->pcie_generation > 0 && seen->pcie_width > 0 &&
      (seen->pcie_generation < gpu->pcie_generation_max ||
       seen->pcie_width < gpu->pcie_width_max)) {
    slowed_append(text, "PCIe link of gpu%u at gen%lld x%lld, its best is gen%u x%u", number,
                  (long long)seen->pcie_generation, (long long)seen->pcie_width,
                  gpu->pcie_generation_max, gpu->pcie_width_max);
  }
}

/* A GPU that the case at hand does not use. */
static void slowed_look_at_idle(struct slowed_gpu *seen) {
  if (seen->sample_count > 0 && seen->last.utilization_percent >= 0 &&
      seen->last.time_ns > seen->used_ns + IDLE_NS) {
    seen->idle_seen_ns = seen->last.time_ns;
    seen->idle_percent = seen->last.utilization_percent;
  }
}

static void slowed_describe_hidden(struct slowed_gpu *seen, uint32_t number, uint64_t now_ns,
                                   char text[CASE_REASON_MAX]) {
  if (seen->other_count == 0 && seen->idle_seen_ns > 0 && seen->idle_percent >= GPU_BUSY_PERCENT &&
      now_ns - seen->idle_seen_ns < IDLE_HOLDS_NS) {
    char who[sizeof seen->user.who];
    (void)snprintf(who, sizeof who, "another program, %lld %% busy while this run left it idle",
                   (long long)seen->idle_percent);
    slowed_append(text, "gpu%u in use by %s", number, who);
    if (seen->user.who[0] == '\0') {
      memcpy(seen->user.who, who, sizeof who);
      seen->user.hidden = true;
    }
  }
}

void slowed_describe(struct slowed *slowed, const struct machine *machine,
                     const struct bench_case *bench_case, const struct claim *claim,
                     char text[CASE_REASON_MAX]) {
  struct case_use use = {0};
  const uint64_t now_ns = clock_now_ns();
  case_use_add(&use, machine, bench_case);
  const uint32_t shared = claim_describe_others(claim, &use, text);
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    struct slowed_gpu *seen = &slowed->gpus[i];
    if ((use.gpus >> i & 1) != 0) {
      if (seen->sample_count == 0 && seen->last.time_ns > 0 &&
          now_ns - seen->last.time_ns < LAST_SAMPLE_NS) {
        slowed_add_to(seen, &seen->last);
      }
      slowed_describe_throttling(seen, &machine->gpus[i], i, text);
      /* The worker of a haul that is named already is not named again. */
      const bool named = (shared >> i & 1) != 0 && strcmp(seen->other.name, "haul") == 0;
      if (seen->other_count > 0 && !(named && seen->other_count == 1)) {
        slowed_describe_program(seen, i, text);
      }
      slowed_describe_hidden(seen, i, now_ns, text);
      seen->used_ns = now_ns;
      if ((use.links >> i & 1) != 0 && machine->gpus[i].c2c_bytes_per_second == 0) {
        slowed_describe_link(seen, &machine->gpus[i], i, text);
      }
    } else {
      slowed_look_at_idle(seen);
    }
    slowed_begin_case(seen);
  }
}
