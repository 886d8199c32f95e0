/* links.h - how fast bytes go: resources with a capacity, shared by the operations that use them.
 *
 * Resources are each GPU's link to the host (one a direction), its memory, its ports of the GPU
 * network (one a direction), and the way between two GPUs. Operations that run at once share every
 * resource by max-min fairness: no operation can be faster without one that is not faster than it
 * becoming slower (Bertsekas and Gallager, Data Networks, section 6.5.2). */
#pragma once

#include "tests/fake_cuda/machine/config.h"

enum {
  RESOURCES_PER_GPU = 5,
  RESOURCES_MAX = MACHINE_GPUS_MAX * RESOURCES_PER_GPU + MACHINE_GPUS_MAX * MACHINE_GPUS_MAX,
  WORK_USES_MAX = 24,
};

/* Bytes that an operation moves over a resource. */
struct work_use {
  uint32_t resource;
  double bytes;
};

/* What an operation takes: first latency_ns, then all uses in proportion to each other. */
struct work {
  double latency_ns;
  double bytes;    /* its own size: the unit of its rate */
  double least_ns; /* the time its bytes take when nothing else runs; 0 = no limit of its own */
  uint32_t use_count;
  struct work_use uses[WORK_USES_MAX];
};

struct links {
  const struct fake_config *config;
  double capacities[RESOURCES_MAX]; /* bytes per second */
};

void links_init(struct links *links, const struct fake_config *config);

/* Add a transfer of bytes to work->uses. from and to: GPU or PLACE_HOST; equal: local, which reads
 * and writes the bytes in one memory. */
struct transfer {
  int32_t from, to;
  uint64_t bytes;
  bool pageable; /* the host side is not page-locked */
  bool staged;   /* GPU to GPU through the host */
  bool remote;   /* pageable, staged: by a thread on another node than the GPU's */
  bool by_kernel;
};
void links_add_transfer(const struct links *links, struct work *work,
                        const struct transfer *transfer);
/* Add bytes that are read or written in one GPU's memory. */
void links_add_memory(const struct links *links, struct work *work, int32_t gpu, uint64_t bytes);

/* Whether its bytes go that way. from and to: GPU, PLACE_HOST or PLACE_ANY; equal GPUs: within one,
 * and nowhere else. */
bool links_go(const struct work *work, int32_t from, int32_t to);

/* rates[i] becomes the bytes per ns (of work[i]->bytes) of works that run at once. */
void links_share(const struct links *links, const struct work *const *work, size_t count,
                 double *rates);

/* Which share of a resource of `work` another takes when it runs alone: of that it takes most of.
 */
double links_load(const struct links *links, const struct work *work, const struct work *other);
