/* What operations do to memory, and what kernels cost. */
#include "tests/fake_cuda/driver/conductor.h"

#include <string.h>

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
      links_add_memory(&conductor.links, work, gpu, access->moved_bytes);
      continue;
    }
    struct transfer transfer = {.from = access->write ? gpu : place.place,
                                .to = access->write ? place.place : gpu,
                                .bytes = access->moved_bytes,
                                .by_kernel = true};
    links_add_transfer(&conductor.links, work, &transfer);
  }
  return true;
}
