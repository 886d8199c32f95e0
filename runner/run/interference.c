#include "runner/run/interference.h"

#include "engine/base/clock.h"
#include "engine/machine/machine.h"

#include <stdio.h>
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

static void interference_begin_case(struct interference_gpu *gpu) {
  const struct interference_gpu was = *gpu;
  *gpu = (struct interference_gpu){.pcie_generation = -1,
                                   .pcie_width = -1,
                                   .busiest = was.busiest,
                                   .user = was.user,
                                   .last = was.last,
                                   .used_ns = was.used_ns,
                                   .idle_seen_ns = was.idle_seen_ns,
                                   .idle_percent = was.idle_percent};
}

void interference_init(struct interference *interference) {
  memset(interference, 0, sizeof *interference);
  for (size_t i = 0; i < MACHINE_GPUS_MAX; i++) {
    interference->gpus[i].used_ns = clock_now_ns();
    interference_begin_case(&interference->gpus[i]);
  }
}

static void interference_add_others(struct interference_gpu *gpu,
                                    const struct telemetry_sample *sample) {
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

static void interference_add_to(struct interference_gpu *gpu,
                                const struct telemetry_sample *sample) {
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
  interference_add_others(gpu, sample);
}

void interference_add(struct interference *interference, const struct telemetry_sample *sample) {
  if (sample->gpu >= 0 && sample->gpu < MACHINE_GPUS_MAX) {
    interference_add_to(&interference->gpus[sample->gpu], sample);
    interference->gpus[sample->gpu].last = *sample;
  }
}

/* ---- notes ---- */

static bool interference_is_by_cap(const struct interference_gpu *seen, const struct gpu *gpu) {
  return seen->capped_clock_count > 0 && gpu->sm_clock_max_khz > 0 &&
         seen->capped_clock_khz_sum / seen->capped_clock_count <
             gpu->sm_clock_max_khz * CAP_CLOCK_PERCENT / 100;
}

static void interference_note_throttling(const struct interference_gpu *seen, const struct gpu *gpu,
                                         int32_t number, struct notes *notes) {
  for (size_t i = 0; i < SLOWED_REASONS && seen->answered > 0; i++) {
    const uint32_t percent = 100 * seen->throttled[i] / seen->answered;
    const uint32_t least = SLOWED_BITS[i].power_cap ? CAP_PERCENT : ABNORMAL_PERCENT;
    if (seen->throttled[i] == 0 || percent < least ||
        (SLOWED_BITS[i].power_cap && !interference_is_by_cap(seen, gpu))) {
      continue;
    }
    /* In tenths: cases that were slowed alike share a footnote. */
    const uint32_t rounded = (percent + 5) / 10 * 10;
    struct note note = {.kind = NOTE_THROTTLED, .gpu = number, .amounts = {rounded}};
    (void)snprintf(note.what, sizeof note.what, "%s", SLOWED_BITS[i].name);
    notes_add(notes, &note);
  }
}

/* One note for all cases that were slowed alike: they share a footnote. */
static void interference_note_program(struct interference_gpu *seen, int32_t number,
                                      struct notes *notes) {
  struct note note = {.gpu = number};
  if (seen->busiest.pid != seen->other.pid ||
      seen->busiest.busy_percent < seen->other.busy_percent) {
    seen->busiest = seen->other;
  }
  char more[32] = "";
  if (seen->other_count > 1) {
    (void)snprintf(more, sizeof more, " and %d more", seen->other_count - 1);
  }
  if (seen->other.pid > 0 && seen->other.name[0] != '\0') {
    (void)snprintf(note.what, sizeof note.what, "pid %d (%.64s)%s", seen->other.pid,
                   seen->other.name, more);
  } else if (seen->other.pid > 0) {
    (void)snprintf(note.what, sizeof note.what, "pid %d%s", seen->other.pid, more);
  } else {
    (void)snprintf(note.what, sizeof note.what, "a process outside this container%s", more);
  }
  note.kind = seen->busiest.busy_percent >= 0 ? NOTE_IN_USE : NOTE_IN_USE_UNMEASURED;
  note.amounts[0] = seen->busiest.busy_percent >= 0 ? seen->busiest.busy_percent : 0;
  seen->user = (struct interference_user){.seen = true, .note = note};
  notes_add(notes, &note);
}

/* The link goes to its best under load: two samples, so that the first may come too early. */
static void interference_note_link(const struct interference_gpu *seen, const struct gpu *gpu,
                                   int32_t number, struct notes *notes) {
  if (seen->sample_count >= 2 && seen->pcie_generation > 0 && seen->pcie_width > 0 &&
      (seen->pcie_generation < gpu->pcie_generation_max ||
       seen->pcie_width < gpu->pcie_width_max)) {
    notes_add(notes,
              &(struct note){.kind = NOTE_PCIE_LINK,
                             .gpu = number,
                             .amounts = {(double)seen->pcie_generation, (double)seen->pcie_width,
                                         gpu->pcie_generation_max, gpu->pcie_width_max}});
  }
}

/* A GPU that the case at hand does not use. */
static void interference_look_at_idle(struct interference_gpu *seen) {
  if (seen->sample_count > 0 && seen->last.utilization_percent >= 0 &&
      seen->last.time_ns > seen->used_ns + IDLE_NS) {
    seen->idle_seen_ns = seen->last.time_ns;
    seen->idle_percent = seen->last.utilization_percent;
  }
}

static void interference_note_hidden(struct interference_gpu *seen, int32_t number, uint64_t now_ns,
                                     struct notes *notes) {
  if (seen->other_count == 0 && seen->idle_seen_ns > 0 && seen->idle_percent >= GPU_BUSY_PERCENT &&
      now_ns - seen->idle_seen_ns < IDLE_HOLDS_NS) {
    const struct note note = {
        .kind = NOTE_IN_USE_HIDDEN, .gpu = number, .amounts = {(double)seen->idle_percent}};
    notes_add(notes, &note);
    if (!seen->user.seen) {
      seen->user = (struct interference_user){.seen = true, .note = note};
    }
  }
}

void interference_find(struct interference *interference, const struct machine *machine,
                       const struct case_def *def, const struct claim *claim, struct notes *notes) {
  struct case_use use = {0};
  const uint64_t now_ns = clock_now_ns();
  case_use_add(&use, machine, def);
  const uint32_t shared = claim_note_others(claim, &use, notes);
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    struct interference_gpu *seen = &interference->gpus[i];
    const int32_t number = (int32_t)i;
    if ((use.gpus >> i & 1) != 0) {
      if (seen->sample_count == 0 && seen->last.time_ns > 0 &&
          now_ns - seen->last.time_ns < LAST_SAMPLE_NS) {
        interference_add_to(seen, &seen->last);
      }
      interference_note_throttling(seen, &machine->gpus[i], number, notes);
      /* The worker of a haul that is named already is not named again. */
      const bool named = (shared >> i & 1) != 0 && strcmp(seen->other.name, "haul") == 0;
      if (seen->other_count > 0 && !(named && seen->other_count == 1)) {
        interference_note_program(seen, number, notes);
      }
      interference_note_hidden(seen, number, now_ns, notes);
      seen->used_ns = now_ns;
      if ((use.links >> i & 1) != 0 && machine->gpus[i].c2c_bytes_per_second == 0) {
        interference_note_link(seen, &machine->gpus[i], number, notes);
      }
    } else {
      interference_look_at_idle(seen);
    }
    interference_begin_case(seen);
  }
}
