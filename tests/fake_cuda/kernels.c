#include "tests/fake_cuda/kernels.h"

#include "kernels/pattern.h"
#include "tests/fake_cuda/stream.h"

#include <string.h>

void *kernel_memory(struct kernel_launch *launch, uint64_t address, uint64_t size_bytes) {
  struct memory_place place;
  bool inside = memory_locate(address, size_bytes, &place);
  int32_t gpu = launch->context->gpu;
  const struct allocation *allocation = place.allocation;
  bool reachable = inside && allocation != NULL;
  if (reachable && allocation->kind == ALLOCATION_DEVICE && allocation->gpu != gpu) {
    reachable = launch->context->peers[allocation->gpu];
  }
  if (allocation == NULL && size_bytes > 0) {
    const struct machine *machine = &streams_links()->config->machine;
    reachable = machine->gpus[gpu].host_page_tables && address != 0;
    place.data = (unsigned char *)(uintptr_t)address;
  }
  if (!reachable) {
    launch->illegal = true;
    return NULL;
  }
  return place.data;
}

/* The launch's arguments as a struct; they are aligned for any. */
#define ARGUMENTS(type, name, launch)                                                              \
  struct type name;                                                                                \
  memcpy(&name, (launch)->arguments, sizeof name)

static void gate_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(gate_arguments, gate, launch);
  *accesses = (struct kernel_accesses){
      .count = 2, .items = {{gate.flag, 4, 0, false}, {gate.report, 4, 0, true}}};
}

static bool gate_poll(struct kernel_launch *launch, uint64_t waited_ns) {
  ARGUMENTS(gate_arguments, gate, launch);
  uint32_t *flag = kernel_memory(launch, gate.flag, sizeof *flag);
  if (launch->illegal) {
    return true;
  }
  if (!launch->flag_ignored && __atomic_load_n(flag, __ATOMIC_ACQUIRE) == gate.open) {
    return true;
  }
  launch->timed_out = waited_ns >= gate.timeout_ns;
  return launch->timed_out;
}

static void gate_run(struct kernel_launch *launch) {
  ARGUMENTS(gate_arguments, gate, launch);
  uint32_t *report = kernel_memory(launch, gate.report, sizeof *report);
  if (report != NULL) {
    uint32_t answer = launch->timed_out ? GATE_TIMED_OUT : GATE_OPENED;
    __atomic_store_n(report, answer, __ATOMIC_RELEASE);
  }
}

static void fill_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(pattern_fill_arguments, fill, launch);
  *accesses = (struct kernel_accesses){
      .count = 1, .items = {{fill.address, fill.size_bytes, fill.size_bytes, true}}};
}

static void fill_run(struct kernel_launch *launch) {
  ARGUMENTS(pattern_fill_arguments, fill, launch);
  unsigned char *bytes = kernel_memory(launch, fill.address, fill.size_bytes);
  if (bytes == NULL) {
    return;
  }
  uint64_t invert = fill.complement ? UINT64_MAX : 0;
  uint64_t offset = 0;
  for (; offset + 8 <= fill.size_bytes; offset += 8) {
    uint64_t word = pattern_word(fill.seed, offset / 8) ^ invert;
    memcpy(bytes + offset, &word, sizeof word);
  }
  for (; offset < fill.size_bytes; offset++) {
    bytes[offset] = (unsigned char)(pattern_byte(fill.seed, offset) ^ (unsigned char)invert);
  }
}

static void compare_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(pattern_compare_arguments, compare, launch);
  *accesses = (struct kernel_accesses){
      .count = 2,
      .items = {{compare.address, compare.size_bytes, compare.size_bytes, false},
                {compare.result, sizeof(struct pattern_compare_result), 0, true}}};
}

static void compare_range(const unsigned char *bytes, uint64_t seed, uint64_t from, uint64_t to,
                          struct pattern_compare_result *result) {
  for (uint64_t offset = from; offset < to; offset++) {
    if (bytes[offset] != pattern_byte(seed, offset)) {
      result->bad_bytes++;
      if (offset < result->first_offset) {
        result->first_offset = offset;
      }
    }
  }
}

static void compare_run(struct kernel_launch *launch) {
  ARGUMENTS(pattern_compare_arguments, compare, launch);
  const unsigned char *bytes = kernel_memory(launch, compare.address, compare.size_bytes);
  struct pattern_compare_result *result = kernel_memory(launch, compare.result, sizeof *result);
  if (bytes == NULL || result == NULL) {
    return;
  }
  uint64_t offset = 0;
  for (; offset + 8 <= compare.size_bytes; offset += 8) {
    uint64_t word;
    memcpy(&word, bytes + offset, sizeof word);
    if (word != pattern_word(compare.seed, offset / 8)) {
      compare_range(bytes, compare.seed, offset, offset + 8, result);
    }
  }
  compare_range(bytes, compare.seed, offset, compare.size_bytes, result);
}

/* One row a kernel of kernels/kernels.h; test_kernels.c holds it against that list. */
static const struct fake_kernel kernels[] = {
    {KERNEL_GATE, sizeof(struct gate_arguments), gate_accesses, gate_run, gate_poll},
    {KERNEL_PATTERN_FILL, sizeof(struct pattern_fill_arguments), fill_accesses, fill_run, NULL},
    {KERNEL_PATTERN_COMPARE, sizeof(struct pattern_compare_arguments), compare_accesses,
     compare_run, NULL},
};

const struct fake_kernel *kernel_find(const char *name) {
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
    if (strcmp(kernel_text(kernels[i].kernel), name) == 0) {
      return &kernels[i];
    }
  }
  return NULL;
}
