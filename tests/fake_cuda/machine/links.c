#include "tests/fake_cuda/machine/links.h"

#include <math.h>

/* Share of the theoretical peak that copies reach on real machines; measured on 4 x H200. */
static const double PCIE_SHARE = 0.875;
static const double NVLINK_SHARE = 0.825;
static const double DRAM_SHARE = 0.87;
static const double C2C_SHARE = 0.85;
static const double STAGED_SHARE = 0.7;

/* Where a machine file does not say what its links can do. */
static const double UNKNOWN_LINK = 10e9;
static const double UNKNOWN_MEMORY = 1000e9;

enum gpu_resource { GPU_UP, GPU_DOWN, GPU_OUT, GPU_IN, GPU_MEMORY };

static uint32_t gpu_resource(int32_t gpu, enum gpu_resource which) {
  return (uint32_t)gpu * RESOURCES_PER_GPU + (uint32_t)which;
}

static uint32_t pair_resource(int32_t from, int32_t to) {
  return MACHINE_GPUS_MAX * RESOURCES_PER_GPU + (uint32_t)from * MACHINE_GPUS_MAX + (uint32_t)to;
}

static double choose(double wanted, double derived, double unknown) {
  if (wanted > 0) {
    return wanted;
  }
  return derived > 0 ? derived : unknown;
}

static double host_link(const struct gpu *gpu) {
  enum limit limit;
  double peak = (double)peak_gpu_host(gpu, &limit);
  return peak * (limit == LIMIT_C2C ? C2C_SHARE : PCIE_SHARE);
}

static double factor(const struct fake_config *config, int32_t from, int32_t to) {
  double product = 1;
  for (uint32_t i = 0; i < config->link_count; i++) {
    const struct link_factor *link = &config->links[i];
    if ((link->from == PLACE_ANY || link->from == from) &&
        (link->to == PLACE_ANY || link->to == to)) {
      product *= link->factor;
    }
  }
  return product;
}

/* The way between two GPUs; its ports are as wide as the widest way. */
static void init_pair(struct links *links, int32_t from, int32_t to) {
  const struct fake_config *config = links->config;
  const struct gpu_link *link = &config->machine.links[from][to];
  double share = link->nvlink_count > 0 ? NVLINK_SHARE : PCIE_SHARE;
  double speed = choose(config->speeds[SPEED_DEVICE_TO_DEVICE],
                        (double)link->bytes_per_second * share, UNKNOWN_LINK);
  double *out = &links->capacities[gpu_resource(from, GPU_OUT)];
  double *in = &links->capacities[gpu_resource(to, GPU_IN)];
  *out = fmax(*out, speed);
  *in = fmax(*in, speed);
  links->capacities[pair_resource(from, to)] = speed * factor(config, from, to);
}

void links_init(struct links *links, const struct fake_config *config) {
  *links = (struct links){.config = config};
  int32_t count = (int32_t)config->machine.gpu_count;
  for (int32_t gpu = 0; gpu < count; gpu++) {
    const struct gpu *facts = &config->machine.gpus[gpu];
    links->capacities[gpu_resource(gpu, GPU_UP)] =
        choose(config->speeds[SPEED_DEVICE_TO_HOST], host_link(facts), UNKNOWN_LINK) *
        factor(config, gpu, PLACE_HOST);
    links->capacities[gpu_resource(gpu, GPU_DOWN)] =
        choose(config->speeds[SPEED_HOST_TO_DEVICE], host_link(facts), UNKNOWN_LINK) *
        factor(config, PLACE_HOST, gpu);
    links->capacities[gpu_resource(gpu, GPU_MEMORY)] =
        choose(config->speeds[SPEED_LOCAL], (double)peak_dram(facts) * DRAM_SHARE, UNKNOWN_MEMORY) *
        factor(config, gpu, gpu);
    for (int32_t to = 0; to < count; to++) {
      if (to != gpu) {
        init_pair(links, gpu, to);
      }
    }
  }
}

static void use(struct work *work, uint32_t resource, uint64_t bytes) {
  for (uint32_t i = 0; i < work->use_count; i++) {
    if (work->uses[i].resource == resource) {
      work->uses[i].bytes += (double)bytes;
      return;
    }
  }
  if (work->use_count < WORK_USES_MAX) {
    work->uses[work->use_count++] = (struct work_use){resource, (double)bytes};
  }
}

/* These bytes go no faster than `speed`, whatever else is idle. */
static void limit(struct work *work, uint64_t bytes, double speed) {
  if (speed > 0) {
    work->least_ns = fmax(work->least_ns, (double)bytes / speed * 1e9);
  }
}

static double capacity(const struct links *links, uint32_t resource) {
  return links->capacities[resource];
}

void links_add_memory(const struct links *links, struct work *work, int32_t gpu, uint64_t bytes) {
  use(work, gpu_resource(gpu, GPU_MEMORY), bytes);
}

static void add_peer(const struct links *links, struct work *work,
                     const struct transfer *transfer) {
  uint32_t pair = pair_resource(transfer->from, transfer->to);
  if (links->config->machine.links[transfer->from][transfer->to].nvlink_count > 0) {
    use(work, gpu_resource(transfer->from, GPU_OUT), transfer->bytes);
    use(work, gpu_resource(transfer->to, GPU_IN), transfer->bytes);
  } else {
    use(work, gpu_resource(transfer->from, GPU_UP), transfer->bytes);
    use(work, gpu_resource(transfer->to, GPU_DOWN), transfer->bytes);
  }
  use(work, pair, transfer->bytes);
  if (transfer->by_kernel) {
    limit(work, transfer->bytes, capacity(links, pair) * links->config->sm_factor);
  }
}

static void add_staged(const struct links *links, struct work *work,
                       const struct transfer *transfer) {
  uint32_t up = gpu_resource(transfer->from, GPU_UP);
  uint32_t down = gpu_resource(transfer->to, GPU_DOWN);
  use(work, up, transfer->bytes);
  use(work, down, transfer->bytes);
  double slower = fmin(capacity(links, up), capacity(links, down));
  limit(work, transfer->bytes,
        choose(links->config->speeds[SPEED_STAGED], slower * STAGED_SHARE, 0) *
            (transfer->remote ? links->config->remote_factor : 1));
}

static void add_host(const struct links *links, struct work *work,
                     const struct transfer *transfer) {
  bool to_gpu = transfer->to >= 0;
  uint32_t link =
      to_gpu ? gpu_resource(transfer->to, GPU_DOWN) : gpu_resource(transfer->from, GPU_UP);
  use(work, link, transfer->bytes);
  if (transfer->pageable) {
    limit(work, transfer->bytes,
          links->config->speeds[to_gpu ? SPEED_PAGEABLE_TO_DEVICE : SPEED_DEVICE_TO_PAGEABLE] *
              (transfer->remote ? links->config->remote_factor : 1));
  }
  if (transfer->by_kernel) {
    limit(work, transfer->bytes, capacity(links, link) * links->config->sm_factor);
  }
}

void links_add_transfer(const struct links *links, struct work *work,
                        const struct transfer *transfer) {
  if (transfer->from >= 0) {
    links_add_memory(links, work, transfer->from, transfer->bytes);
  }
  if (transfer->to >= 0) {
    links_add_memory(links, work, transfer->to, transfer->bytes);
  }
  if (transfer->from == PLACE_HOST && transfer->to == PLACE_HOST) {
    limit(work, transfer->bytes, links->config->speeds[SPEED_HOST_TO_HOST]);
  } else if (transfer->from == PLACE_HOST || transfer->to == PLACE_HOST) {
    add_host(links, work, transfer);
  } else if (transfer->from != transfer->to) {
    if (transfer->staged) {
      add_staged(links, work, transfer);
    } else {
      add_peer(links, work, transfer);
    }
  }
}

static bool place_fits(int32_t wanted, int32_t place) {
  return wanted == PLACE_ANY || wanted == place;
}

bool links_go(const struct work *work, int32_t from, int32_t to) {
  int32_t memory = PLACE_ANY;
  bool leaves = false;
  for (uint32_t i = 0; i < work->use_count; i++) {
    const uint32_t resource = work->uses[i].resource;
    const bool pair = resource >= MACHINE_GPUS_MAX * RESOURCES_PER_GPU;
    const uint32_t way = resource - MACHINE_GPUS_MAX * RESOURCES_PER_GPU;
    const int32_t gpu = (int32_t)(pair ? way / MACHINE_GPUS_MAX : resource / RESOURCES_PER_GPU);
    const uint32_t which = pair ? GPU_OUT : resource % RESOURCES_PER_GPU;
    const bool up = !pair && which == GPU_UP;
    const bool down = !pair && which == GPU_DOWN;
    leaves = leaves || pair || which != GPU_MEMORY;
    memory = which == GPU_MEMORY ? gpu : memory;
    if ((up && place_fits(from, gpu) && place_fits(to, PLACE_HOST)) ||
        (down && place_fits(from, PLACE_HOST) && place_fits(to, gpu)) ||
        (pair && place_fits(from, gpu) && place_fits(to, (int32_t)(way % MACHINE_GPUS_MAX)))) {
      return true;
    }
  }
  return !leaves && memory != PLACE_ANY && place_fits(from, memory) && place_fits(to, memory);
}

/* Weight of a resource in a work: its bytes per byte of the work. */
static double weight(const struct work *work, uint32_t resource) {
  for (uint32_t i = 0; i < work->use_count; i++) {
    if (work->uses[i].resource == resource) {
      return work->uses[i].bytes / work->bytes;
    }
  }
  return 0;
}

/* The rate that all works without a rate yet could have by this resource (-1 = they do not use
 * it). */
static double fair_share(const struct links *links, const struct work *const *work, size_t count,
                         const double *rates, uint32_t resource) {
  double left = links->capacities[resource];
  double weights = 0;
  for (size_t i = 0; i < count; i++) {
    double w = weight(work[i], resource);
    if (rates[i] >= 0) {
      left -= rates[i] * w;
    } else {
      weights += w;
    }
  }
  return weights > 0 ? fmax(left, 0) / weights : -1;
}

/* Find the smallest rate that anything imposes on works without a rate, and the resource that does;
 * `own` is the work whose own limit it is, or -1. */
static double tightest(const struct links *links, const struct work *const *work, size_t count,
                       const double *rates, uint32_t *resource, long *own) {
  double lowest = HUGE_VAL;
  *own = -1;
  for (size_t i = 0; i < count; i++) {
    if (rates[i] >= 0) {
      continue;
    }
    if (work[i]->least_ns > 0 && work[i]->bytes / work[i]->least_ns * 1e9 < lowest) {
      lowest = work[i]->bytes / work[i]->least_ns * 1e9;
      *own = (long)i;
    }
    for (uint32_t u = 0; u < work[i]->use_count; u++) {
      double share = fair_share(links, work, count, rates, work[i]->uses[u].resource);
      if (share >= 0 && share < lowest) {
        lowest = share;
        *own = -1;
        *resource = work[i]->uses[u].resource;
      }
    }
  }
  return lowest;
}

void links_share(const struct links *links, const struct work *const *work, size_t count,
                 double *rates) {
  for (size_t i = 0; i < count; i++) {
    rates[i] = -1;
  }
  size_t left = count;
  while (left > 0) {
    uint32_t resource = 0;
    long own;
    double rate = tightest(links, work, count, rates, &resource, &own);
    for (size_t i = 0; i < count; i++) {
      bool bound = own >= 0 ? (long)i == own : isinf(rate) || weight(work[i], resource) > 0;
      if (rates[i] < 0 && bound) {
        rates[i] = rate;
        left--;
      }
    }
  }
  for (size_t i = 0; i < count; i++) {
    rates[i] = isinf(rates[i]) ? 1e9 : rates[i] / 1e9; /* bytes per second -> bytes per ns */
  }
}

double links_load(const struct links *links, const struct work *work, const struct work *other) {
  double rate = 0;
  double most = 0;
  links_share(links, &other, 1, &rate);
  for (uint32_t i = 0; i < work->use_count && other->bytes > 0; i++) {
    const uint32_t resource = work->uses[i].resource;
    if (work->uses[i].bytes > 0 && links->capacities[resource] > 0) {
      most = fmax(most, rate * 1e9 * weight(other, resource) / links->capacities[resource]);
    }
  }
  return most;
}
