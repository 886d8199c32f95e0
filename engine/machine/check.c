#include "engine/machine/check.h"

#include "engine/base/macros.h"
#include "engine/base/units.h"
#include "engine/machine/machine.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

ENUM_NAMES_DEFINE(check_kind, CHECK_KIND_LIST)
ENUM_NAMES_DEFINE(check_status, CHECK_STATUS_LIST)

/* Where the answer to a check comes from. */
enum source { FROM_HOST_FACT, FROM_GPU_FACT, FROM_GPU, FROM_TELEMETRY, FROM_PROOF };

static enum source source_of(enum check_kind kind) {
  switch (kind) {
  case CHECK_GOVERNOR:
  case CHECK_TURBO:
  case CHECK_NUMA_BALANCING:
  case CHECK_HUGE_PAGES:
  case CHECK_DRIVER:
    return FROM_HOST_FACT;
  case CHECK_PERSISTENCE:
  case CHECK_GPU_CLOCKS:
  case CHECK_ECC:
  case CHECK_MIG:
    return FROM_GPU_FACT;
  case CHECK_GPU_IDLE:
  case CHECK_GPU_NAME:
  case CHECK_FREE_MEMORY:
    return FROM_GPU;
  case CHECK_THROTTLING:
  case CHECK_PCIE_LINK:
  case check_kind_name_count:
    return FROM_TELEMETRY;
  case CHECK_CACHE_FLUSH:
    return FROM_PROOF;
  }
  return FROM_TELEMETRY;
}

bool check_needs_telemetry(enum check_kind kind) {
  return source_of(kind) == FROM_TELEMETRY;
}

bool check_may_change(enum check_kind kind) {
  return source_of(kind) == FROM_HOST_FACT && kind != CHECK_DRIVER;
}

static void decide(struct check_result *result, bool passed) {
  result->status = passed ? CHECK_PASSED : CHECK_FAILED;
}

static void no_answer(struct check_result *result, enum check_status status, const char *why) {
  result->status = status;
  (void)snprintf(result->found, sizeof result->found, "%s", why);
}

/* "true" and "false" mean "on" and "off": TOML has booleans, facts are text. */
static const char *on_off(const char *want) {
  if (strcmp(want, "true") == 0) {
    return "on";
  }
  return strcmp(want, "false") == 0 ? "off" : want;
}

int check_compare_versions(const char *a, const char *b) {
  while (*a != '\0' || *b != '\0') {
    char *end_a = NULL;
    char *end_b = NULL;
    unsigned long number_a = strtoul(a, &end_a, 10);
    unsigned long number_b = strtoul(b, &end_b, 10);
    if (number_a != number_b) {
      return number_a < number_b ? -1 : 1;
    }
    a = *end_a == '.' ? end_a + 1 : "";
    b = *end_b == '.' ? end_b + 1 : "";
  }
  return 0;
}

bool check_version_fits(const char *want, const char *found) {
  static const struct {
    const char *text;
    bool less, equal, greater;
  } OPERATORS[] = {{">=", false, true, true}, {"<=", true, true, false}, {"==", false, true, false},
                   {"!=", true, false, true}, {">", false, false, true}, {"<", true, false, false}};
  for (size_t i = 0; i < COUNT_OF(OPERATORS); i++) {
    size_t length = strlen(OPERATORS[i].text);
    if (strncmp(want, OPERATORS[i].text, length) == 0) {
      const char *version = want + length + strspn(want + length, " ");
      int order = check_compare_versions(found, version);
      return order < 0 ? OPERATORS[i].less : order > 0 ? OPERATORS[i].greater : OPERATORS[i].equal;
    }
  }
  size_t length = strlen(want);
  return strncmp(found, want, length) == 0 && (found[length] == '\0' || found[length] == '.');
}

static void judge_fact(const struct check *check, const struct fact *fact,
                       struct check_result *result) {
  if (fact == NULL || fact->state != FACT_OK) {
    no_answer(result, fact != NULL && fact->state == FACT_DENIED ? CHECK_DENIED : CHECK_UNAVAILABLE,
              fact == NULL ? "the machine does not say" : fact->value);
    return;
  }
  (void)snprintf(result->found, sizeof result->found, "%s", fact->value);
  if (check->kind == CHECK_DRIVER) {
    decide(result, check_version_fits(check->want, fact->value));
  } else {
    decide(result, strcmp(on_off(check->want), fact->value) == 0);
  }
}

static void judge_idle(const struct check *check, const struct gpu *gpu,
                       struct check_result *result) {
  if (gpu->utilization_percent < 0 && gpu->process_count < 0) {
    no_answer(result, CHECK_UNAVAILABLE, "NVML tells neither utilization nor processes");
    return;
  }
  bool idle = gpu->utilization_percent < GPU_BUSY_PERCENT && gpu->process_count <= 0;
  if (idle) {
    (void)snprintf(result->found, sizeof result->found, "idle");
  } else {
    (void)snprintf(result->found, sizeof result->found, "%d compute process%s, %d %% busy",
                   gpu->process_count > 0 ? gpu->process_count : 0,
                   gpu->process_count == 1 ? "" : "es",
                   gpu->utilization_percent > 0 ? gpu->utilization_percent : 0);
  }
  decide(result, idle == (strcmp(on_off(check->want), "on") == 0));
}

/* Upper and lower case are the same: "*h200*" finds "NVIDIA H200". */
static void judge_name(const struct check *check, const struct gpu *gpu,
                       struct check_result *result) {
  (void)snprintf(result->found, sizeof result->found, "%s", gpu->name);
  decide(result, fnmatch(check->want, gpu->name, FNM_CASEFOLD) == 0);
}

/* A number up to 1 is a share of the GPU's memory, anything else a size. */
static void judge_free_memory(const struct check *check, const struct gpu *gpu,
                              struct check_result *result) {
  if (gpu->free_memory_bytes == 0 || gpu->memory_bytes == 0) {
    no_answer(result, CHECK_UNAVAILABLE, "NVML does not tell how much memory is free");
    return;
  }
  char *end = NULL;
  double share = strtod(check->want, &end);
  uint64_t wanted_bytes;
  if (end != check->want && *end == '\0' && share >= 0 && share <= 1) {
    wanted_bytes = (uint64_t)(share * (double)gpu->memory_bytes);
  } else if (!units_parse_size(check->want, &wanted_bytes)) {
    no_answer(result, CHECK_FAILED, "want is neither a share nor a size");
    return;
  }
  (void)snprintf(result->found, sizeof result->found, "%.1f GiB free, %.1f %% of %.1f GiB",
                 (double)gpu->free_memory_bytes / 0x1p30,
                 100.0 * (double)gpu->free_memory_bytes / (double)gpu->memory_bytes,
                 (double)gpu->memory_bytes / 0x1p30);
  decide(result, gpu->free_memory_bytes >= wanted_bytes);
}

static void judge_gpu(const struct check *check, const struct gpu *gpu,
                      struct check_result *result) {
  if (check->kind == CHECK_GPU_IDLE) {
    judge_idle(check, gpu, result);
  } else if (check->kind == CHECK_GPU_NAME) {
    judge_name(check, gpu, result);
  } else {
    judge_free_memory(check, gpu, result);
  }
}

static struct check_result check_begin(const struct check *check, int32_t gpu) {
  struct check_result result = {
      .kind = check->kind, .on_fail = check->on_fail, .on_unknown = check->on_unknown, .gpu = gpu};
  (void)snprintf(result.want, sizeof result.want, "%s", check->want);
  return result;
}

size_t check_evaluate(const struct check *check, const struct machine *machine,
                      struct check_result results[MACHINE_GPUS_MAX]) {
  enum source source = source_of(check->kind);
  const char *name = check_kind_text(check->kind);
  if (source == FROM_TELEMETRY || source == FROM_PROOF) {
    return 0;
  }
  if (source == FROM_HOST_FACT) {
    results[0] = check_begin(check, -1);
    judge_fact(check,
               machine_fact(machine, check->kind == CHECK_DRIVER ? "driver_version" : name, -1),
               &results[0]);
    return 1;
  }
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    results[i] = check_begin(check, (int32_t)i);
    if (source == FROM_GPU_FACT) {
      judge_fact(check, machine_fact(machine, name, (int32_t)i), &results[i]);
    } else {
      judge_gpu(check, &machine->gpus[i], &results[i]);
    }
  }
  return machine->gpu_count;
}

static void judge_throttling(const struct check *check, const struct telemetry_extent *extent,
                             struct check_result *result) {
  if (extent->throttle_reasons < 0) {
    no_answer(result, CHECK_UNAVAILABLE, "never sampled during the run");
    return;
  }
  telemetry_throttle_text(extent->throttle_reasons, result->found);
  decide(result, strcmp(result->found, check->want) == 0);
}

/* "gen5 x16" -> 5 and 16; false: it is not such a text. */
static bool parse_link(const char *text, unsigned *generation, unsigned *width) {
  int end = 0;
  return sscanf(text, "gen%u x%u%n", generation, width, &end) == 2 && text[end] == '\0';
}

/* "max": the best that GPU and slot can do together, or a link such as "gen5 x16". */
static void judge_link(const struct check *check, const struct gpu *gpu,
                       const struct telemetry_extent *extent, struct check_result *result) {
  unsigned generation = gpu->pcie_generation_max;
  unsigned width = gpu->pcie_width_max;
  bool given = parse_link(check->want, &generation, &width);
  if (extent->pcie_generation_max <= 0 || extent->pcie_width_max <= 0) {
    no_answer(result, CHECK_UNAVAILABLE, "never sampled during the run");
    return;
  }
  if (!given && (generation == 0 || width == 0)) {
    no_answer(result, CHECK_UNAVAILABLE, "NVML does not tell the best link");
    return;
  }
  (void)snprintf(result->found, sizeof result->found, "gen%lld x%lld",
                 (long long)extent->pcie_generation_max, (long long)extent->pcie_width_max);
  decide(result, extent->pcie_generation_max >= generation && extent->pcie_width_max >= width);
}

size_t check_evaluate_telemetry(const struct check *check, const struct machine *machine,
                                const struct telemetry_extent extents[MACHINE_GPUS_MAX],
                                struct check_result results[MACHINE_GPUS_MAX]) {
  if (!check_needs_telemetry(check->kind)) {
    return 0;
  }
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    results[i] = check_begin(check, (int32_t)i);
    if (check->kind == CHECK_THROTTLING) {
      judge_throttling(check, &extents[i], &results[i]);
    } else {
      judge_link(check, &machine->gpus[i], &extents[i], &results[i]);
    }
  }
  return machine->gpu_count;
}
