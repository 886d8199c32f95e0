/* Dependent loads, and what the caches of a GPU and the banks of its shared memory do to time.
 *
 * A block's hop lasts as long as its slowest warp waits, or as its SM is busy with all of them,
 * whichever is more. A warp's load is as many transactions as it touches lines of the L1, sectors
 * of the L2, or words in the fullest bank of shared memory. What a cache holds: an L1, which every
 * launch finds empty, the lines that the leading thread has touched, and a cache that is too small
 * as large a share of the loads as it is of the footprint (random replacement). */
#include "tests/fake_cuda/driver/contents.h"
#include "tests/fake_cuda/driver/kernels.h"

#include "tests/fake_cuda/driver/stream.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Cycles of a load: of one transaction alone, what each further one of the warp adds, and for how
 * long each keeps the SM busy. As on an H200 (shared-memory-latency there); memory as typical. */
struct level {
  double latency, further, busy;
};
static const struct level SHARED = {23, 2, 1};
static const struct level L1 = {32, 0.2, 1};
static const struct level L2 = {280, 2.4, 1};
static const double DRAM_CYCLES = 1100;
static const double HOST_HOP_NS = 1190;
static const double PEER_HOP_NS = 828;

enum {
  WARP = 32,
  BANKS = 32,
  WORD = 4,
  HALF = 32,
  SECTOR = 32,
  LINE = 128,
  SECTORS_PER_LINE = LINE / SECTOR,
  L1_BYTES = 213 << 10,
  L1_BYTES_LEAST = 28 << 10 /* beside the largest shared memory */
};
/* Of a larger one an L1 holds next to nothing. */
static const uint64_t L1_FOOTPRINT_MAX = UINT64_C(16) << 20;

static const struct gpu *caches_gpu(const struct kernel_launch *launch) {
  return &streams_links()->config->machine.gpus[launch->context->gpu];
}

/* ---- what the L2 of each GPU holds: ranges that kernels used, the last one first ---- */

enum { RANGES_MAX = 64 };
struct range {
  int32_t gpu;
  uint64_t address, size_bytes;
};
static struct range ranges[RANGES_MAX];
static size_t range_count;

static size_t range_find(int32_t gpu, uint64_t address, uint64_t size_bytes) {
  size_t i = 0;
  while (i < range_count && (ranges[i].gpu != gpu || ranges[i].address != address ||
                             ranges[i].size_bytes != size_bytes)) {
    i++;
  }
  return i;
}

void caches_use(int32_t gpu, uint64_t address, uint64_t size_bytes) {
  size_t last = range_find(gpu, address, size_bytes);
  if (last == range_count) {
    range_count += range_count < RANGES_MAX;
    last = range_count - 1;
  }
  memmove(&ranges[1], ranges, last * sizeof *ranges);
  ranges[0] = (struct range){gpu, address, size_bytes};
}

bool caches_hold(int32_t gpu, uint64_t address, uint64_t size_bytes) {
  const size_t place = range_find(gpu, address, size_bytes);
  uint64_t used = 0;
  for (size_t i = 0; i <= place && i < range_count; i++) {
    used += ranges[i].gpu == gpu ? ranges[i].size_bytes : 0;
  }
  return place < range_count && used <= streams_links()->config->machine.gpus[gpu].l2_bytes;
}

/* ---- one thread's way ---- */

/* Where the elements really are. Positions are offsets in shared memory, else addresses, of which
 * elements of 4 bytes hold the lower half. */
struct chain {
  const unsigned char *data;
  uint64_t base, size_bytes, upper;
  uint32_t element_bytes;
  int32_t place;
};

/* false: there is no memory at that position. */
static bool chain_find(const struct kernel_launch *launch, const struct chase_arguments *chase,
                       uint64_t position, struct chain *chain) {
  const enum kernel kernel = launch->kernel->kernel;
  const bool shared = kernel == KERNEL_CHASE_SHARED;
  const bool words = kernel == KERNEL_CHASE_L1_U32 || kernel == KERNEL_CHASE_L2_U32;
  const bool bulk = kernel == KERNEL_CHASE_BULK;
  struct memory_place place;
  *chain = (struct chain){.element_bytes = shared || words ? WORD
                                           : bulk          ? BULK_UNIT
                                                           : sizeof position,
                          .upper = words ? position >> HALF << HALF : 0};
  if (!memory_locate(shared ? chase->table : position, chain->element_bytes, &place) ||
      place.allocation == NULL) {
    return false;
  }
  contents_need(shared ? place.data : place.allocation->data,
                shared ? chase->table_bytes : place.allocation->size_bytes);
  chain->data = shared ? place.data : place.allocation->data;
  chain->base = shared ? 0 : place.allocation->base;
  chain->size_bytes = shared ? chase->table_bytes : place.allocation->size_bytes;
  chain->place = place.place;
  return true;
}

/* false: the element is not in that memory. */
static bool chain_next(const struct chain *chain, uint64_t *at) {
  const uint64_t offset = *at - chain->base;
  if (*at < chain->base || offset + chain->element_bytes > chain->size_bytes ||
      (chain->element_bytes == BULK_UNIT && *at % BULK_UNIT != 0)) {
    return false;
  }
  uint64_t element = 0;
  memcpy(&element, chain->data + offset, chain->element_bytes == WORD ? WORD : sizeof element);
  *at = chain->upper | element;
  return true;
}

struct chase_walk {
  uint64_t last, lowest, highest;
};

static bool walk(const struct chain *chain, uint64_t hops, struct chase_walk *walk) {
  walk->lowest = walk->highest = walk->last;
  for (uint64_t hop = 0; hop < hops; hop++) {
    if (!chain_next(chain, &walk->last)) {
      return false;
    }
    walk->lowest = walk->last < walk->lowest ? walk->last : walk->lowest;
    walk->highest = walk->last > walk->highest ? walk->last : walk->highest;
  }
  return true;
}

/* ---- how long a hop takes ---- */

static atomic_int carveouts[kernel_name_count];

void caches_set_carveout(enum kernel kernel, int percent) {
  atomic_store(&carveouts[kernel], percent);
}

/* Share of the measured hops from `at` on that find their sector in the L1, which has room for
 * lines. walked: the same way. */
static double l1_share(const struct kernel_launch *launch, const struct chain *chain,
                       const struct chase_arguments *chase, uint64_t at,
                       const struct chase_walk *walked) {
  const uint64_t first = walked->lowest / LINE * SECTORS_PER_LINE;
  const uint64_t sectors = (walked->highest / LINE + 1) * SECTORS_PER_LINE - first;
  bool *touched = sectors * SECTOR <= L1_FOOTPRINT_MAX ? calloc(sectors, sizeof *touched) : NULL;
  if (touched == NULL || chase->hops == 0) {
    free(touched);
    return 0;
  }
  uint64_t same = 0; /* sector as the hop before */
  uint64_t again = 0;
  uint64_t lines = 0;
  uint64_t last = UINT64_MAX;
  for (uint64_t hop = 0; hop < chase->warm_hops + chase->hops; hop++) {
    const uint64_t sector = at / SECTOR - first;
    const bool measured = hop >= chase->warm_hops;
    same += measured && sector == last;
    again += measured && sector != last && touched[sector];
    lines += memchr(&touched[sector / SECTORS_PER_LINE * SECTORS_PER_LINE], true,
                    SECTORS_PER_LINE) == NULL;
    touched[sector] = true;
    last = sector;
    (void)chain_next(chain, &at); /* it has been walked */
  }
  free(touched);
  const int shared = atomic_load(&carveouts[launch->kernel->kernel]);
  const double l1_bytes = shared >= 100 ? L1_BYTES_LEAST : L1_BYTES;
  const double held = fmin(1, l1_bytes / ((double)lines * LINE));
  return ((double)same + held * (double)again) / (double)chase->hops;
}

/* Transactions of a warp: different units in the bank that has most. */
static uint32_t transactions(const uint64_t *positions, uint32_t lanes, uint32_t unit,
                             uint32_t banks) {
  uint32_t counts[BANKS] = {0};
  uint32_t most = 0;
  for (uint32_t lane = 0; lane < lanes; lane++) {
    bool repeated = false;
    for (uint32_t i = 0; i < lane; i++) {
      repeated = repeated || positions[i] / unit == positions[lane] / unit;
    }
    uint32_t *count = &counts[positions[lane] / unit % banks];
    *count += !repeated;
    most = *count > most ? *count : most;
  }
  return most;
}

static double busy_cycles(const struct kernel_launch *launch, const uint64_t *positions,
                          const struct level *level, double latency) {
  const uint32_t unit = level == &SHARED ? WORD : level == &L1 ? LINE : SECTOR;
  uint32_t most = 1;
  uint32_t all = 0;
  for (uint32_t thread = 0; thread < launch->block; thread += WARP) {
    const uint32_t lanes = launch->block - thread < WARP ? launch->block - thread : WARP;
    const uint32_t own =
        transactions(&positions[thread], lanes, unit, level == &SHARED ? BANKS : 1);
    most = own > most ? own : most;
    all += own;
  }
  return fmax(latency + level->further * (most - 1), level->busy * all);
}

/* How much longer a hop of the SM of the last block takes than one of the first, where blocks go in
 * turn. */
#define SM_FARTHEST 0.1

/* The L2 has two parts, of which each SM is nearer to one: two SMs of four to the part that has two
 * lines of five. Block i is on SM i. */
#define PART_CYCLES 15.0 /* nearer or farther than the mean of both */

static int line_part(uint64_t address) {
  return (address / LINE * UINT64_C(0x9E3779B97F4A7C15) >> 40) % 5 < 2;
}

static double part_cycles(uint32_t sm, uint64_t address) {
  return (sm / 2 % 2 != 0) == line_part(address) ? -PART_CYCLES : PART_CYCLES;
}

/* Of the first block, whose last thread leads a strided chain. positions: before the launch. */
static double hop_ns(const struct kernel_launch *launch, const struct chase_arguments *chase,
                     const uint64_t *positions) {
  const struct gpu *gpu = caches_gpu(launch);
  const double ghz = (double)gpu->sm_clock_max_khz / 1e6;
  const enum kernel kernel = launch->kernel->kernel;
  const uint64_t leader = positions[launch->block - 1];
  struct chase_walk walked = {.last = leader};
  struct chain chain;
  if (kernel == KERNEL_CHASE_SHARED) {
    return busy_cycles(launch, positions, &SHARED, SHARED.latency) / ghz;
  }
  if (!chain_find(launch, chase, leader, &chain) ||
      !walk(&chain, chase->warm_hops + chase->hops, &walked)) {
    return 0;
  }
  if (chain.place != launch->context->gpu) {
    return chain.place == PLACE_HOST ? HOST_HOP_NS : PEER_HOP_NS;
  }
  const double footprint = (double)(walked.highest - walked.lowest + LINE);
  const double in_l2 = fmin(1, (double)gpu->l2_bytes / footprint);
  const double beyond = in_l2 * L2.latency + (1 - in_l2) * DRAM_CYCLES;
  if (kernel == KERNEL_CHASE_L1 || kernel == KERNEL_CHASE_L1_U32) {
    const double in_l1 = l1_share(launch, &chain, chase, leader, &walked);
    return busy_cycles(launch, positions, &L1, in_l1 * L1.latency + (1 - in_l1) * beyond) / ghz;
  }
  const double part = chase->by_sm != 0 ? part_cycles(0, leader) : 0; /* all lines are of one */
  return busy_cycles(launch, positions, &L2, beyond + part) / ghz;
}

/* ---- the kernels ---- */

static uint64_t *chase_positions(const struct kernel_launch *launch,
                                 const struct chase_arguments *chase) {
  struct memory_place place;
  const uint64_t bytes = (uint64_t)launch->grid * launch->block * sizeof(uint64_t);
  if (!memory_locate(chase->positions, bytes, &place)) {
    return NULL;
  }
  contents_need(place.data, bytes);
  return (uint64_t *)(void *)place.data;
}

void chase_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(chase_arguments, chase, launch);
  const uint64_t threads = (uint64_t)launch->grid * launch->block;
  const uint64_t *positions = chase_positions(launch, &chase);
  *accesses = (struct kernel_accesses){
      .count = 2,
      .items = {{chase.positions, threads * sizeof(uint64_t), 0, true},
                {chase.times, launch->grid * sizeof(struct chase_time), 0, true}}};
  if (launch->kernel->kernel == KERNEL_CHASE_SHARED) {
    accesses->items[accesses->count++] =
        (struct kernel_access){chase.table, chase.table_bytes, chase.table_bytes, false};
  } else if (positions != NULL) {
    accesses->items[accesses->count++] =
        (struct kernel_access){positions[0], WORD, chase.hops * sizeof(uint64_t), false};
  }
  if (positions != NULL) {
    accesses->extra_ns = (double)(chase.warm_hops + chase.hops) * hop_ns(launch, &chase, positions);
  }
}

/* Where every thread ends; false: one leaves its memory. One that begins where the thread before it
 * is after a hop also ends a hop after it. */
static bool walk_all(const struct kernel_launch *launch, const struct chase_arguments *chase,
                     uint64_t *positions) {
  uint64_t before = 0; /* where the thread before began, a hop further */
  for (uint64_t i = 0; i < (uint64_t)launch->grid * launch->block; i++) {
    struct chase_walk walked = {.last = positions[i]};
    uint64_t hops = chase->warm_hops + chase->hops;
    struct chain chain;
    if (!chain_find(launch, chase, positions[i], &chain)) {
      return false;
    }
    if (i > 0 && positions[i] == before) {
      walked.last = positions[i - 1];
      hops = 1;
    }
    before = positions[i];
    if (!walk(&chain, hops, &walked) || !chain_next(&chain, &before)) {
      return false;
    }
    positions[i] = walked.last;
  }
  return true;
}

void chase_run(struct kernel_launch *launch) {
  ARGUMENTS(chase_arguments, chase, launch);
  const uint64_t threads = (uint64_t)launch->grid * launch->block;
  uint64_t *positions = kernel_memory(launch, chase.positions, threads * sizeof *positions);
  struct chase_time *times = kernel_memory(launch, chase.times, launch->grid * sizeof *times);
  if (positions == NULL || times == NULL) {
    return;
  }
  const double elapsed_ns =
      (double)chase.hops * hop_ns(launch, &chase, positions) * fmax(launch->slowdown, 1);
  const double ghz = (double)caches_gpu(launch)->sm_clock_max_khz / 1e6;
  const uint64_t last = positions[threads - 1];
  launch->illegal = !walk_all(launch, &chase, positions);
  if (launch->crowded) {
    positions[threads - 1] = last;
  }
  for (uint32_t i = 0; i < launch->grid; i++) {
    const double by_sm = chase.turn != 0 ? 1 + SM_FARTHEST * i / launch->grid : 1;
    times[i] = (struct chase_time){.cycles = (uint64_t)llround(elapsed_ns * by_sm * ghz),
                                   .elapsed_ns = (uint64_t)(elapsed_ns * by_sm)};
  }
}

void chase_lines_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(chase_lines_arguments, lines, launch);
  *accesses = (struct kernel_accesses){
      .count = 2,
      .items = {
          {lines.address, lines.count * lines.stride_bytes, 0, false},
          {lines.cycles, (uint64_t)lines.sm_count * lines.count * sizeof(uint16_t), 0, true}}};
}

/* As a real one, some cycles apart from load to load. */
void chase_lines_run(struct kernel_launch *launch) {
  ARGUMENTS(chase_lines_arguments, lines, launch);
  uint16_t *cycles =
      kernel_memory(launch, lines.cycles, (uint64_t)lines.sm_count * lines.count * sizeof *cycles);
  for (uint32_t sm = 0; cycles != NULL && sm < lines.sm_count && sm < launch->grid; sm++) {
    for (uint32_t line = 0; line < lines.count; line++) {
      const uint64_t address = lines.address + line * lines.stride_bytes;
      cycles[(size_t)sm * lines.count + line] =
          (uint16_t)(L2.latency + part_cycles(sm, address) + (sm * 7 + line * 13) % 5);
    }
  }
}
