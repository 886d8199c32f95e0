/* kernels.h - our kernels in C, for the fake driver.
 *
 * To add a kernel of kernels/kernels.h, put a row into the table of kernels.c, with these
 * functions:
 * - accesses: which memory the kernel reads and writes, and how many bytes in all (more than the
 *   range where it passes several times over it). The time that the kernel takes and the check that
 *   this GPU may touch that memory follow from it.
 * - run: carries the kernel out when its time is over; addresses go through kernel_memory().
 * - poll: only for kernels that wait for somebody; called until it is true, then run follows. */
#pragma once

#include "kernels/kernels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct context;
struct fake_kernel;

enum { KERNEL_ARGUMENTS_MAX = 1024, KERNEL_ACCESSES_MAX = 8 };

struct kernel_launch {
  const struct fake_kernel *kernel;
  struct context *context;
  uint32_t grid, block; /* products of the three dimensions */
  bool flag_ignored;    /* a fault: poll() must not see its flag */
  bool crowded;         /* a fault: the last block runs on the SM of the one before it */
  bool timed_out;       /* for poll() and run() to use */
  bool illegal;         /* set by kernel_memory() */
  uint32_t rounds;      /* done so far, of signals */
  double slowdown;      /* of dependent loads by what else uses their way; 0 = none */
  _Alignas(16) unsigned char arguments[KERNEL_ARGUMENTS_MAX];
};

struct kernel_access {
  uint64_t address;
  uint64_t size_bytes;  /* of the range */
  uint64_t moved_bytes; /* over all passes */
  bool write;
};

struct kernel_accesses {
  uint32_t count;
  struct kernel_access items[KERNEL_ACCESSES_MAX];
  double extra_ns; /* time that is not moving bytes (dependent loads, arithmetic) */
};

struct fake_kernel {
  enum kernel kernel;
  size_t argument_bytes;
  void (*accesses)(const struct kernel_launch *launch, struct kernel_accesses *accesses);
  void (*run)(struct kernel_launch *launch);
  bool (*poll)(struct kernel_launch *launch, uint64_t waited_ns); /* may be NULL */
};

/* Most copies do not overlap, and AddressSanitizer's memmove() goes byte by byte. */
static inline void copy_bytes(unsigned char *to, const unsigned char *from, size_t size_bytes) {
  if (to + size_bytes <= from || from + size_bytes <= to) {
    memcpy(to, from, size_bytes);
  } else {
    memmove(to, from, size_bytes);
  }
}

/* The launch's arguments as a struct; they are aligned for any. */
#define ARGUMENTS(type, name, launch)                                                              \
  struct type name;                                                                                \
  memcpy(&name, (launch)->arguments, sizeof name)

static inline bool kernel_is_chase(enum kernel kernel) {
  return kernel >= KERNEL_CHASE_SYS && kernel <= KERNEL_CHASE_BULK;
}

/* By name, or NULL. */
const struct fake_kernel *kernel_find(const char *name);
/* Where the bytes at a device address really are, to be read and written. NULL, and launch->illegal
 * set: this GPU may not touch them. */
void *kernel_memory(struct kernel_launch *launch, uint64_t address, uint64_t size_bytes);
/* The same, for contents.h to read and write. */
void *kernel_place(struct kernel_launch *launch, uint64_t address, uint64_t size_bytes);

/* micro_kernels.c, caches.c: references of the kernels that measure caches, arrays and
 * instructions. compute_kernels.c: of those that compute.
 * signal_kernels.c: of those that signal.
 */
void write_spans(struct kernel_launch *launch, uint64_t address, double elapsed_ns);
void stream_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void stream_run(struct kernel_launch *launch);
void stream_data_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void stream_fill_run(struct kernel_launch *launch);
void stream_compare_run(struct kernel_launch *launch);
void arithmetic_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void arithmetic_run(struct kernel_launch *launch);
void signal_flag_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void signal_flag_run(struct kernel_launch *launch);
bool signal_flag_poll(struct kernel_launch *launch, uint64_t waited_ns);
void signal_atomic_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void signal_atomic_run(struct kernel_launch *launch);
/* Not kernels but what a stream does by itself: waits for a value, or writes one. */
extern const struct fake_kernel stream_wait_value, stream_write_value;
/* The same of a value of the host, with its address: what an event that processes share goes by. */
extern const struct fake_kernel event_wait, event_waited, event_pass;
struct stream_value_arguments {
  uint64_t address;
  uint32_t value;
  uint32_t reserved;
};
void matmul_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void matmul_run(struct kernel_launch *launch);
void fma_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void fma_run(struct kernel_launch *launch);
void triad_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void triad_run(struct kernel_launch *launch);
void compute_data_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void compute_data_run(struct kernel_launch *launch);
void compute_check_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void compute_check_run(struct kernel_launch *launch);
void chase_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void chase_run(struct kernel_launch *launch);
void chase_lines_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses);
void chase_lines_run(struct kernel_launch *launch);

/* caches.c: a kernel of that GPU has used a range of its memory; whether the L2 still holds it. */
void caches_use(int32_t gpu, uint64_t address, uint64_t size_bytes);
/* Of an SM's memory, in per cent, that is shared memory while that kernel runs; below 0: little. */
void caches_set_carveout(enum kernel kernel, int percent);
bool caches_hold(int32_t gpu, uint64_t address, uint64_t size_bytes);
