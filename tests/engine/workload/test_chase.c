/* [[chase]] through every space, in both orders, by one thread and many, and beside loads. */
#include "engine/memory/data.h"
#include "tests/engine/workload/fixture.h"

static struct case_def chase_case(enum chase_space space, struct endpoint memory) {
  struct case_def def = fixture_case(CASE_CHASE);
  work.chase = (struct chase){.space = space,
                              .memory = memory,
                              .footprint_bytes = 64 << 10,
                              .stride_bytes = 128,
                              .order = CHASE_RANDOM,
                              .hops = 100};
  def.operations = work.chase.hops;
  return def;
}

static const struct endpoint own = {.place = PLACE_GPU, .index = 0, .memory = MEMORY_DEVICE};
static const struct endpoint peer = {.place = PLACE_GPU, .index = 1, .memory = MEMORY_DEVICE};
static const struct endpoint host = {.place = PLACE_NUMA, .index = 0, .memory = MEMORY_PINNED};

/* The slowest thread's, per hop. */
static double cycles_of(struct fixture *fixture, const struct case_def *def) {
  fixture_run_ok(fixture, def);
  assert_int_equal(fixture->outcome.clock, CLOCK_KERNEL);
  const struct trial *trial = &fixture->trials[fixture->trial_count - 1];
  assert_true(trial->cycles > 0);
  return (double)trial->cycles / ((double)trial->iterations * (double)work.chase.hops);
}

TEST(every_space_and_order, struct fixture *fixture) {
  const struct {
    enum chase_space space;
    struct endpoint memory;
  } spaces[] = {{CHASE_HOST, host}, {CHASE_PEER, peer}, {CHASE_GLOBAL, own}, {CHASE_SHARED, own}};
  for (size_t i = 0; i < COUNT_OF(spaces); i++) {
    struct case_def def = chase_case(spaces[i].space, spaces[i].memory);
    for (int order = 0; order < (int)chase_order_name_count; order++) {
      work.chase.access = CHASE_BY_LOAD;
      work.chase.order = (enum chase_order)order;
      work.chase.threads = 0;
      work.chase.blocks = 0;
      (void)cycles_of(fixture, &def);
      work.chase.threads = 96;
      work.chase.blocks = 3;
      (void)cycles_of(fixture, &def);
      if (spaces[i].space != CHASE_SHARED) {
        work.chase.access = CHASE_BY_BULK;
        (void)cycles_of(fixture, &def);
      }
    }
  }
}

/* The time of SMs in turn is their mean; each has its own way along the chain. */
TEST(each_sm_in_turn, struct fixture *fixture) {
  const uint32_t sms = fixture->machine->gpus[0].sm_count;
  const double farthest = 0.1; /* tests/fake_cuda/driver/caches.c: SM_FARTHEST */
  struct case_def def = chase_case(CHASE_PEER, peer);
  const double one = cycles_of(fixture, &def);
  work.chase.sm = CHASE_SM_EACH;
  work.chase.blocks = sms;
  const double each = cycles_of(fixture, &def);
  const double expected = 1 + farthest * (sms - 1) / (2.0 * sms);
  assert_true(each / one > expected - 0.002 && each / one < expected + 0.002);
}

/* Elements of the GPU's memory are written in parts: several, the last one short; one each. */
/* Of the two parts of the L2 cache each SM follows a chain through the one that is near to it, or
 * far: 15 cycles less than the mean, or more. */
TEST(near_and_far_lines, struct fixture *fixture) {
  struct case_def def = chase_case(CHASE_GLOBAL, own);
  work.chase.cache = CACHE_L2;
  work.chase.sm = CHASE_SM_EACH;
  work.chase.blocks = fixture->machine->gpus[0].sm_count;
  for (unsigned order = 0; order < chase_order_name_count; order++) {
    double cycles[chase_part_name_count];
    work.chase.order = (enum chase_order)order;
    for (unsigned part = 0; part < chase_part_name_count; part++) {
      work.chase.lines = (enum chase_part)part;
      cycles[part] = cycles_of(fixture, &def);
    }
    const double scale =
        2 * cycles[CHASE_PART_ALL] / (cycles[CHASE_PART_NEAR] + cycles[CHASE_PART_FAR]);
    assert_true(scale > 0.99 && scale < 1.01);
    const double apart = cycles[CHASE_PART_FAR] - cycles[CHASE_PART_NEAR];
    assert_true(apart > 29 && apart < 33);
    const struct note *note = &fixture->outcome.notes.items[0];
    assert_int_equal(note->kind, NOTE_L2_PARTS);
    assert_true(note->amounts[1] + note->amounts[3] == work.chase.blocks);
    assert_true(note->amounts[0] > 50 || note->amounts[2] > 50);
    assert_true(note->amounts[0] + note->amounts[2] > 99.9);
  }
  work.chase.order = CHASE_RANDOM;
  work.chase.hops = 4096; /* goes round either chain more than once */
  (void)cycles_of(fixture, &def);
}

/* Which says nothing of the bytes. */
TEST(an_sm_without_a_block_is_not_corruption, struct fixture *fixture) {
  const struct endpoint last = {.place = PLACE_GPU, .index = 3, .memory = MEMORY_DEVICE};
  struct case_def def = chase_case(CHASE_GLOBAL, last);
  work.chase.gpu = 3;
  work.chase.cache = CACHE_L2;
  work.chase.sm = CHASE_SM_EACH;
  work.chase.blocks = fixture->machine->gpus[3].sm_count;
  work.chase.lines = CHASE_PART_NEAR;
  fixture_fails(fixture, &def, CASE_FAILED, "none ran on SM");
  work.chase.lines = CHASE_PART_ALL; /* where any block takes any chain */
  fixture_run(fixture, &def);
  assert_int_equal(fixture->outcome.status, CASE_CORRUPT);
}

TEST(a_footprint_of_several_parts, struct fixture *fixture) {
  struct case_def def = chase_case(CHASE_GLOBAL, own);
  work.chase.footprint_bytes = (40 << 20) + 4096;
  work.chase.stride_bytes = 1 << 20;
  (void)cycles_of(fixture, &def);
  work.chase.footprint_bytes = 96 << 20;
  work.chase.stride_bytes = 24 << 20;
  (void)cycles_of(fixture, &def);
}

TEST(cache_of_the_chase_follows_the_footprint, struct fixture *fixture) {
  struct case_def def = chase_case(CHASE_GLOBAL, own);
  const double first = cycles_of(fixture, &def);
  work.chase.cache = CACHE_L2;
  const double second = cycles_of(fixture, &def);
  work.chase.cache = CACHE_L1;
  work.chase.footprint_bytes = 4 << 20;
  const double beyond = cycles_of(fixture, &def);
  assert_true(first < second);
  assert_true(beyond > 0.9 * second && beyond < 1.1 * second);
}

/* The linker (--wrap) gives the engine's calls to this, by the name that stands in __asm__. */
static int32_t flushed_gpu = -1;
enum status real_flush(struct data *data, int32_t gpu,
                       struct error *err) __asm__("__real_data_flush_gpu_cache");
enum status noted_flush(struct data *data, int32_t gpu,
                        struct error *err) __asm__("__wrap_data_flush_gpu_cache");
enum status noted_flush(struct data *data, int32_t gpu, struct error *err) {
  flushed_gpu = gpu;
  return real_flush(data, gpu, err);
}

/* Left there, the last elements written would be hits: on an H100 they took a fifth off the latency
 * of 104 MiB. */
TEST(l2_keeps_nothing_of_what_it_cannot_hold, struct fixture *fixture) {
  const struct {
    enum chase_space space;
    struct endpoint memory;
    uint64_t footprint_l2s; /* times the size of the L2 */
    int32_t flushed;
  } cases[] = {{CHASE_GLOBAL, own, 2, -1},
               {CHASE_GLOBAL, own, 3, 0},
               {CHASE_PEER, peer, 2, -1},
               {CHASE_PEER, peer, 3, 1},
               {CHASE_HOST, host, 3, -1}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct case_def def = chase_case(cases[i].space, cases[i].memory);
    work.chase.footprint_bytes = cases[i].footprint_l2s * fixture->machine->gpus[0].l2_bytes;
    work.chase.stride_bytes = 64 << 10;
    flushed_gpu = -1;
    (void)cycles_of(fixture, &def);
    assert_int_equal(flushed_gpu, cases[i].flushed);
  }
}

/* The shapes of tables I and II: each further thread at a bank adds the same, and from some number
 * of warps on the SM is busy all the time. */
TEST(conflicts_of_banks_add_up, struct fixture *fixture) {
  struct case_def def = chase_case(CHASE_SHARED, own);
  struct chase *chase = &work.chase;
  chase->order = CHASE_STRIDED;
  chase->threads = 32;
  chase->stride_bytes = 4;
  const double none = cycles_of(fixture, &def);
  chase->stride_bytes = 8;
  const double way = cycles_of(fixture, &def) - none;
  assert_true(way > 0);
  for (uint32_t ways = 4; ways <= 32; ways *= 2) {
    chase->stride_bytes = UINT64_C(4) * ways;
    const double slope = (cycles_of(fixture, &def) - none) / (ways - 1);
    assert_true(slope > 0.99 * way && slope < 1.01 * way);
  }
  chase->threads = 1;
  assert_true(cycles_of(fixture, &def) < 1.01 * none);
  chase->threads = 256;
  const double many = cycles_of(fixture, &def);
  chase->threads = 512;
  assert_true(cycles_of(fixture, &def) > 1.9 * many);
}

/* Figure 2: the same strides through 2 MiB, with elements of 4 bytes. */
TEST(words_are_chased_through_the_caches, struct fixture *fixture) {
  struct case_def def = chase_case(CHASE_GLOBAL, own);
  struct chase *chase = &work.chase;
  chase->order = CHASE_STRIDED;
  chase->element_bytes = 4;
  chase->footprint_bytes = 2 << 20;
  double nearest[2];
  for (int cache = 0; cache < 2; cache++) {
    chase->cache = cache == 0 ? CACHE_L1 : CACHE_L2;
    chase->threads = 1;
    chase->stride_bytes = 4;
    chase->hops = 4096;
    nearest[cache] = cycles_of(fixture, &def);
    chase->threads = 1024;
    assert_true(cycles_of(fixture, &def) < 1.1 * nearest[cache]);
    chase->stride_bytes = 128;
    assert_true(cycles_of(fixture, &def) > 1.5 * nearest[cache]);
  }
  assert_true(nearest[1] > 4 * nearest[0]);
}

/* Table I of seed 003 has no number for 1024 threads 32 words apart in 64 KiB. */
TEST(threads_beyond_the_footprint_are_unsupported, struct fixture *fixture) {
  struct case_def def = chase_case(CHASE_SHARED, own);
  work.chase.order = CHASE_STRIDED;
  for (uint32_t threads = 1; threads <= 1024; threads *= 2) {
    for (uint64_t stride = 4; stride <= 128; stride *= 2) {
      work.chase.threads = threads;
      work.chase.stride_bytes = stride;
      if (threads * stride <= 64 << 10) {
        (void)cycles_of(fixture, &def);
      } else {
        fixture_fails(fixture, &def, CASE_SKIPPED, "need more than the footprint");
      }
    }
  }
}

static struct flow copy_beside(struct endpoint source, struct endpoint target, uint64_t size) {
  return (struct flow){.role = FLOW_LOAD,
                       .method = METHOD_CE,
                       .source = source,
                       .target = target,
                       .initiator = INITIATOR_TARGET,
                       .size_bytes = size};
}

/* One load runs beside the chase and is timed by itself; one on the chase's own way slows it, one
 * the other way does not. */
TEST(loads_beside_it_slow_its_way, struct fixture *fixture) {
  const struct {
    enum chase_space space;
    struct endpoint memory, loading;
  } ways[] = {{CHASE_HOST, host, own}, {CHASE_PEER, peer, own}};
  for (size_t i = 0; i < COUNT_OF(ways); i++) {
    const struct flow forward = copy_beside(ways[i].memory, ways[i].loading, 8 << 20);
    const struct flow reverse = copy_beside(ways[i].loading, ways[i].memory, 8 << 20);
    struct case_def def = chase_case(ways[i].space, ways[i].memory);
    const double idle = cycles_of(fixture, &def);
    def.flow_count = 1;
    def.flows = &forward;
    const double slowed = cycles_of(fixture, &def);
    assert_true(fixture->flow_trial_count >= fixture->trial_count);
    for (uint32_t k = 0; k < fixture->flow_trial_count; k++) {
      const struct flow_trial *load = &fixture->flow_trials[k];
      assert_int_equal(load->flow, 0);
      assert_true(load->elapsed_ns > fixture->trials[0].elapsed_ns && load->iterations > 0);
    }
    assert_true(slowed > 1.5 * idle);
    def.flows = &reverse;
    assert_true(cycles_of(fixture, &def) < 1.05 * idle);
  }
}

/* Host threads copy until the GPU's chain has ended. */
TEST(threads_load_beside_it, struct fixture *fixture) {
  struct flow load = copy_beside(endpoint_own(PLACE_NUMA, 0, MEMORY_PAGEABLE),
                                 endpoint_own(PLACE_NUMA, 0, MEMORY_PAGEABLE), 1 << 20);
  load.method = METHOD_CPU;
  load.threads = 1;
  struct case_def def = chase_case(CHASE_HOST, host);
  def.flow_count = 1;
  def.flows = &load;
  (void)cycles_of(fixture, &def);
  assert_true(fixture->flow_trials[0].iterations > 0);
  /* Not every host lets the place of memory and the flush of caches be proven, which is noted. */
  assert_int_equal(fixture->outcome.notes.count, 0);
}

TEST(unsupported_chase_gives_its_reason, struct fixture *fixture) {
  struct case_def def = chase_case(CHASE_GLOBAL, peer);
  fixture_skips(fixture, &def, "own (device, pool or vmm) memory");
  def = chase_case(CHASE_SHARED, host);
  fixture_skips(fixture, &def, "own (device, pool or vmm) memory");
  def = chase_case(CHASE_PEER, own);
  fixture_skips(fixture, &def, "another GPU");
  def = chase_case(CHASE_SHARED, own);
  work.chase.footprint_bytes = 228 << 10;
  fixture_skips(fixture, &def, "bytes of shared memory to spare");
  def = chase_case(CHASE_GLOBAL, own);
  work.chase.stride_bytes = 4;
  fixture_skips(fixture, &def, "multiple of 8");
  work.chase.element_bytes = 4;
  work.chase.footprint_bytes = 4 << 20;
  fixture_skips(fixture, &def, "at most 2 MiB");
  work.chase.element_bytes = 8;
  work.chase.stride_bytes = 8;
  work.chase.threads = 1025;
  fixture_skips(fixture, &def, "at most 1024");
  def = chase_case(CHASE_SHARED, own);
  work.chase.access = CHASE_BY_BULK;
  fixture_skips(fixture, &def, "brings bytes into shared memory");
  work.chase.space = CHASE_GLOBAL;
  work.chase.stride_bytes = 24;
  fixture_skips(fixture, &def, "multiple of 16");
  struct flow load = copy_beside(endpoint_own(PLACE_NUMA, 0, MEMORY_MANAGED), own, 1 << 20);
  def = chase_case(CHASE_GLOBAL, own);
  def.flow_count = 1;
  def.flows = &load;
  fixture_skips(fixture, &def, "only method um");
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
