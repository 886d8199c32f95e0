/* What operations do to memory, and how long they take.
 *
 * Noise: durations of operations scatter, and the mean of a path differs a little from process to
 * process. Drawn from splitmix64 (Steele, Lea, Flood, OOPSLA 2014, figure 17); the draws of
 * operations depend on the seed alone, those of a process on its id as well. */
#include "tests/fake_cuda/driver/simulator.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static void copy_rows(const struct copy_region *copy) {
  for (size_t plane = 0; plane < copy->depth; plane++) {
    for (size_t row = 0; row < copy->height; row++) {
      memmove(copy->to + plane * copy->to_plane + row * copy->to_pitch,
              copy->from + plane * copy->from_plane + row * copy->from_pitch, copy->width);
    }
  }
}

/* offset < bytes of the copy */
static void flip_byte(const struct copy_region *copy, uint64_t offset) {
  size_t row = offset / copy->width;
  unsigned char *byte = copy->to + row / copy->height * copy->to_plane +
                        row % copy->height * copy->to_pitch + offset % copy->width;
  *byte = (unsigned char)~*byte;
}

static void carry_out_copy(const struct operation *operation) {
  if (!operation->repeats) {
    copy_rows(&operation->copy);
  }
  if (operation->fault != NULL && operation->fault->kind == FAULT_FLIP_BYTE) {
    flip_byte(&operation->copy, operation->fault->offset);
  }
}

static void carry_out_set(const struct operation *operation) {
  if (operation->set.unit_bytes == 1) {
    memset(operation->set.to, (int)operation->set.value, operation->set.count);
    return;
  }
  for (size_t i = 0; i < operation->set.count; i++) {
    memcpy(operation->set.to + i * operation->set.unit_bytes, &operation->set.value,
           operation->set.unit_bytes);
  }
}

/* Managed pages that a kernel touches come to its GPU, and stay. */
static void migrate(const struct kernel_launch *launch) {
  struct kernel_accesses accesses = {0};
  launch->kernel->accesses(launch, &accesses);
  for (uint32_t i = 0; i < accesses.count; i++) {
    struct allocation *allocation = memory_containing(accesses.items[i].address);
    if (allocation != NULL && allocation->kind == ALLOCATION_MANAGED && !allocation->read_mostly &&
        accesses.items[i].moved_bytes > 0) {
      memory_set_location(allocation, launch->context->gpu);
    }
  }
}

bool operation_carry_out(struct operation *operation) {
  if (operation->fault != NULL && operation->fault->kind == FAULT_DROP) {
    return true;
  }
  switch (operation->kind) {
  case OPERATION_COPY:
    carry_out_copy(operation);
    return true;
  case OPERATION_SET:
    carry_out_set(operation);
    return true;
  case OPERATION_KERNEL:
    if (!operation->kernel.illegal) {
      operation->kernel.kernel->run(&operation->kernel);
      migrate(&operation->kernel);
    }
    return !operation->kernel.illegal;
  case OPERATION_HOST:
    operation->host.function(operation->host.data);
    return true;
  case OPERATION_PREFETCH:
    memory_set_location(operation->prefetch.allocation, operation->prefetch.to);
    return true;
  case OPERATION_RECORD:
  case OPERATION_WAIT:
    return true;
  }
  return true;
}

bool kernel_work(struct kernel_launch *launch, struct work *work) {
  struct kernel_accesses accesses = {0};
  launch->kernel->accesses(launch, &accesses);
  int32_t gpu = launch->context->gpu;
  work->latency_ns += accesses.extra_ns;
  for (uint32_t i = 0; i < accesses.count; i++) {
    const struct kernel_access *access = &accesses.items[i];
    struct memory_place place = {0};
    (void)memory_locate(access->address, access->size_bytes, &place);
    if (access->size_bytes > 0 &&
        kernel_memory(launch, access->address, access->size_bytes) == NULL) {
      return false;
    }
    work->bytes += (double)access->moved_bytes;
    if (place.place == gpu) {
      links_add_memory(&simulator.links, work, gpu, access->moved_bytes);
      continue;
    }
    struct transfer transfer = {.from = access->write ? gpu : place.place,
                                .to = access->write ? place.place : gpu,
                                .bytes = access->moved_bytes,
                                .by_kernel = true};
    links_add_transfer(&simulator.links, work, &transfer);
  }
  return true;
}

static uint64_t splitmix(uint64_t *state) {
  *state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

static double uniform(uint64_t *state) {
  return ((double)(splitmix(state) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller, one of the two values. */
static double normal(uint64_t *state) {
  double radius = sqrt(-2 * log(uniform(state)));
  return radius * cos(2 * 3.14159265358979323846 * uniform(state));
}

/* The same path in the same process has the same factor. */
static double process_factor(const struct fake_config *config, const struct work *work) {
  uint64_t state = config->seed ^ ((uint64_t)getpid() << 32);
  for (uint32_t i = 0; i < work->use_count; i++) {
    state ^= work->uses[i].resource + 1;
    state = splitmix(&state);
  }
  return 1 + config->noise_between * normal(&state);
}

double noise_factor(const struct work *work) {
  const struct fake_config *config = simulator.config;
  if (config->noise_within <= 0 && config->noise_between <= 0) {
    return 1;
  }
  if (simulator.random == 0) {
    simulator.random = config->seed + 1;
  }
  double factor =
      process_factor(config, work) * (1 + config->noise_within * normal(&simulator.random));
  return fmax(factor, 0.1); /* a duration is positive, whatever was drawn */
}
