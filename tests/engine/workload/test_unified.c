/* Method um: both modes in all directions, both ways at once, and what is refused. */
#include "engine/method/um_pages.h"
#include "kernels/pattern_values.h"
#include "tests/engine/workload/fixture.h"

enum { SIZE_BYTES = 3000001 };

static struct flow unified(enum unified_mode mode, struct endpoint source, struct endpoint target) {
  return (struct flow){.method = METHOD_UM,
                       .source = source,
                       .target = target,
                       .size_bytes = SIZE_BYTES,
                       .unified = {.mode = mode, .touch_by = INITIATOR_TARGET}};
}

static const struct endpoint host = {.place = PLACE_NUMA, .index = 0, .memory = MEMORY_MANAGED};
static const struct endpoint gpu0 = {.place = PLACE_GPU, .index = 0, .memory = MEMORY_MANAGED};
static const struct endpoint gpu1 = {.place = PLACE_GPU, .index = 1, .memory = MEMORY_MANAGED};

static void run_one(struct fixture *fixture, struct flow flow, enum clock clock) {
  struct case_def def = fixture_transfer(&flow, 1);
  fixture_run_ok(fixture, &def);
  assert_int_equal(fixture->outcome.clock, clock);
  assert_int_equal(fixture->outcome.gated, clock == CLOCK_EVENT);
  for (uint32_t i = 0; i < fixture->trial_count; i++) {
    assert_int_equal(fixture->trials[i].iterations, 1);
  }
}

TEST(pages_move_on_demand, struct fixture *fixture) {
  run_one(fixture, unified(UNIFIED_DEMAND, host, gpu0), CLOCK_EVENT);
  assert_true(fixture->outcome.verified);
  run_one(fixture, unified(UNIFIED_DEMAND, gpu0, host), CLOCK_HOST);
  assert_true(fixture->outcome.verified);
  run_one(fixture, unified(UNIFIED_DEMAND, gpu0, gpu1), CLOCK_EVENT);
  assert_true(notes_have(&fixture->outcome.notes, NOTE_PEER_PAGES));
  assert_false(fixture->outcome.verified);
}

TEST(pages_are_prefetched, struct fixture *fixture) {
  run_one(fixture, unified(UNIFIED_PREFETCH, host, gpu0), CLOCK_EVENT);
  run_one(fixture, unified(UNIFIED_PREFETCH, gpu0, host), CLOCK_EVENT);
  run_one(fixture, unified(UNIFIED_PREFETCH, gpu0, gpu1), CLOCK_EVENT);
}

TEST(threads_and_strides_touch_all, struct fixture *fixture) {
  const uint64_t strides[] = {1, 100, 4096, 5000, 65536, (uint64_t)SIZE_BYTES * 2};
  for (size_t i = 0; i < COUNT_OF(strides); i++) {
    struct flow flow = unified(UNIFIED_DEMAND, gpu0, host);
    flow.unified.threads = (uint32_t)i + 1;
    flow.unified.stride_bytes = strides[i];
    run_one(fixture, flow, CLOCK_HOST);
    flow = unified(UNIFIED_DEMAND, host, gpu0);
    flow.unified.stride_bytes = strides[i];
    flow.kernel = (struct kernel_shape){.block = 64, .grid = 3};
    run_one(fixture, flow, CLOCK_EVENT);
  }
}

TEST(every_advice_is_taken, struct fixture *fixture) {
  for (int advise = 0; advise < (int)advise_name_count; advise++) {
    struct flow flow = unified(UNIFIED_PREFETCH, host, gpu0);
    flow.unified.advise = (enum advise)advise;
    run_one(fixture, flow, CLOCK_EVENT);
    flow = unified(UNIFIED_DEMAND, gpu0, host);
    flow.unified.advise = (enum advise)advise;
    run_one(fixture, flow, CLOCK_HOST);
  }
}

/* Pages that a GPU takes, that the driver moves, and that a thread of the host takes. */
TEST(pages_move_beside_a_load, struct fixture *fixture) {
  const enum clock clocks[] = {CLOCK_EVENT, CLOCK_EVENT, CLOCK_HOST};
  struct flow flows[] = {unified(UNIFIED_DEMAND, host, gpu0), {0}};
  flows[1] = fixture_load(METHOD_CE, fixture_node(0, MEMORY_PINNED), fixture_gpu(0, MEMORY_DEVICE),
                          16 << 20);
  for (int i = 0; i < 3; i++) {
    flows[0] = i == 2 ? unified(UNIFIED_DEMAND, gpu0, host)
                      : unified(i == 0 ? UNIFIED_DEMAND : UNIFIED_PREFETCH, host, gpu0);
    struct case_def def = fixture_transfer(flows, 2);
    fixture_run_ok(fixture, &def);
    assert_int_equal(fixture->outcome.clock, clocks[i]);
    assert_true(fixture->flow_trials[1].flow == 1 && fixture->flow_trials[1].iterations > 0);
  }
}

/* Every way of touching, by a GPU and by threads, alone and both at once: what is read adds up,
 * what is written is there. */
TEST(pages_are_touched_in_every_way, struct fixture *fixture) {
  const struct unified_shape ways[] = {
      {.access = TOUCH_READ},
      {.order = TOUCH_RANDOM},
      {.access = TOUCH_READ, .order = TOUCH_RANDOM, .passes = 3},
      {.again = true},
      {.access = TOUCH_READ, .again = true, .advise = ADVISE_READ_MOSTLY},
      {.access = TOUCH_READ, .again = true, .advise = ADVISE_ACCESSED_BY},
  };
  for (size_t i = 0; i < 4 * COUNT_OF(ways); i++) {
    const bool by_gpu = i % 2 == 0;
    struct flow flow =
        by_gpu ? unified(UNIFIED_DEMAND, host, gpu0) : unified(UNIFIED_DEMAND, gpu0, host);
    flow.unified = ways[i / 4];
    flow.unified.touch_by = INITIATOR_TARGET;
    flow.unified.threads = 3;
    flow.unified.together = i / 2 % 2 == 1;
    run_one(fixture, flow, by_gpu && !flow.unified.together ? CLOCK_EVENT : CLOCK_HOST);
  }
}

TEST(flushed_caches_go_with_it, struct fixture *fixture) {
  struct flow flow = unified(UNIFIED_DEMAND, host, gpu0);
  struct case_def def = fixture_transfer(&flow, 1);
  def.measure.host_cache = HOST_CACHE_FLUSHED;
  def.measure.device_cache = CACHE_FLUSHED;
  fixture_run_ok(fixture, &def);
}

static uint64_t flow_elapsed_ns(const struct fixture *fixture, uint32_t ordinal, uint32_t flow) {
  for (uint32_t i = 0; i < fixture->flow_trial_count; i++) {
    const struct flow_trial *trial = &fixture->flow_trials[i];
    if (trial->ordinal == ordinal && trial->flow == flow) {
      return trial->elapsed_ns;
    }
  }
  fail_msg("trial %u has no flow %u", ordinal, flow);
  return 0;
}

/* Every byte of both is verified; the window is at least as long as either flow. */
static void run_both(struct fixture *fixture, const struct flow flows[2], enum clock clock) {
  struct case_def def = fixture_transfer(flows, 2);
  fixture_run_ok(fixture, &def);
  assert_int_equal(fixture->outcome.clock, clock);
  assert_true(fixture->outcome.gated);
  assert_int_equal(fixture->flow_trial_count, 2 * fixture->trial_count);
  for (uint32_t i = 0; i < fixture->trial_count; i++) {
    const struct trial *trial = &fixture->trials[i];
    for (uint32_t flow = 0; flow < 2; flow++) {
      uint64_t elapsed_ns = flow_elapsed_ns(fixture, trial->ordinal, flow);
      assert_true(elapsed_ns > 0);
      if (clock == CLOCK_EVENT) { /* one clock: no rounding between them but that of events */
        assert_true(elapsed_ns <= trial->elapsed_ns + 1);
      }
    }
  }
}

TEST(both_ways_between_gpus, struct fixture *fixture) {
  const struct flow demand[] = {unified(UNIFIED_DEMAND, gpu0, gpu1),
                                unified(UNIFIED_DEMAND, gpu1, gpu0)};
  run_both(fixture, demand, CLOCK_EVENT);
  const struct flow prefetch[] = {unified(UNIFIED_PREFETCH, gpu0, gpu1),
                                  unified(UNIFIED_PREFETCH, gpu1, gpu0)};
  run_both(fixture, prefetch, CLOCK_EVENT);
}

TEST(both_ways_with_the_host, struct fixture *fixture) {
  const struct flow prefetch[] = {unified(UNIFIED_PREFETCH, host, gpu0),
                                  unified(UNIFIED_PREFETCH, gpu0, host)};
  run_both(fixture, prefetch, CLOCK_EVENT);
  const struct flow demand[] = {unified(UNIFIED_DEMAND, host, gpu0),
                                unified(UNIFIED_DEMAND, gpu0, host)};
  run_both(fixture, demand, CLOCK_HOST);
  assert_true(notes_have(&fixture->outcome.notes, NOTE_END_POLLED));
}

/* Other methods as well can run on streams and on threads in one case. */
TEST(copies_of_host_and_gpu_together, struct fixture *fixture) {
  const struct flow flows[] = {
      fixture_flow(METHOD_CPU, fixture_node(0, MEMORY_PAGEABLE), fixture_node(0, MEMORY_PAGEABLE),
                   SIZE_BYTES),
      {.method = METHOD_CE,
       .source = {.place = PLACE_NUMA, .index = 0, .memory = MEMORY_PINNED},
       .target = {.place = PLACE_GPU, .index = 0, .memory = MEMORY_DEVICE},
       .size_bytes = SIZE_BYTES},
  };
  run_both(fixture, flows, CLOCK_HOST);
}

static void flow_unsupported_reason(struct fixture *fixture, struct flow flow, const char *why) {
  struct case_def def = fixture_transfer(&flow, 1);
  fixture_skips(fixture, &def, why);
}

TEST(more_than_the_share_is_refused_before_allocation, struct fixture *fixture) {
  const uint64_t free_bytes = fixture->machine->gpus[0].free_memory_bytes;
  struct flow flow = unified(UNIFIED_DEMAND, host, gpu0);
  flow.size_bytes = free_bytes / 4 + 1;
  flow_unsupported_reason(fixture, flow, "free_share");
  assert_int_equal(fixture->outcome.allocate_ns, 0);
  /* Two flows that fit alone do not fit together. */
  flow.size_bytes = free_bytes / 8 + 1;
  const struct flow flows[] = {flow, unified(UNIFIED_DEMAND, gpu0, host)};
  struct flow both[] = {flows[0], flows[1]};
  both[1].size_bytes = flow.size_bytes;
  struct case_def def = fixture_transfer(both, 2);
  fixture_skips(fixture, &def, "free_share");
  /* A smaller share refuses earlier, and all of the memory is never a share. */
  flow.size_bytes = SIZE_BYTES;
  def = fixture_transfer(&flow, 1);
  def.measure.free_share = (double)SIZE_BYTES / 2 / (double)free_bytes;
  fixture_skips(fixture, &def, "free_share");
  def.measure.free_share = 1;
  fixture_skips(fixture, &def, "below 1");
  def.measure.free_share = -0.5;
  fixture_skips(fixture, &def, "below 1");
}

TEST(unsupported_unified_gives_its_reason, struct fixture *fixture) {
  struct flow flow = unified(UNIFIED_DEMAND, host, host);
  flow_unsupported_reason(fixture, flow, "needs a GPU");
  flow_unsupported_reason(fixture, unified(UNIFIED_DEMAND, gpu0, gpu0), "both ends are one");
  flow = unified(UNIFIED_DEMAND, host, gpu0);
  flow.source.memory = MEMORY_PINNED;
  flow_unsupported_reason(fixture, flow, "managed at both ends");
  flow = unified(UNIFIED_DEMAND, host, gpu0);
  flow.source.index = 17;
  flow_unsupported_reason(fixture, flow, "no NUMA node 17");
  flow = unified(UNIFIED_DEMAND, gpu0, host);
  flow.unified.threads = 100000;
  flow_unsupported_reason(fixture, flow, "processors");
  flow = unified(UNIFIED_DEMAND, host, gpu0);
  flow.kernel.block = 33;
  flow_unsupported_reason(fixture, flow, "multiple of 32");
  flow = unified(UNIFIED_DEMAND, host, gpu0);
  flow.shape = (struct copy_shape){16, 1, 1, 16};
  flow_unsupported_reason(fixture, flow, "strided");
  flow = unified(UNIFIED_DEMAND, host, gpu0);
  flow.method = METHOD_CE;
  flow_unsupported_reason(fixture, flow, "only method um");
  flow = unified(UNIFIED_DEMAND, host, gpu0);
  flow.role = FLOW_LOAD;
  flow_unsupported_reason(fixture, flow, "prefetched to and fro");
  flow = unified(UNIFIED_DEMAND, gpu0, gpu1);
  flow.unified.together = true;
  flow_unsupported_reason(fixture, flow, "one end is numa");
}

TEST(without_concurrent_access_it_is_refused, struct fixture *fixture) {
  fixture->machine->gpus[0].concurrent_managed_access = false;
  flow_unsupported_reason(fixture, unified(UNIFIED_PREFETCH, host, gpu0),
                          "no concurrent managed access");
  fixture->machine->gpus[0].concurrent_managed_access = true;
}

TEST(a_gpu_that_reads_host_pages_says_so, struct fixture *fixture) {
  fixture->machine->gpus[0].host_page_tables = true;
  run_one(fixture, unified(UNIFIED_DEMAND, host, gpu0), CLOCK_EVENT);
  assert_true(notes_have(&fixture->outcome.notes, NOTE_READ_IN_PLACE));
  assert_false(fixture->outcome.verified);
  fixture->machine->gpus[0].host_page_tables = false;
}

TEST(more_iterations_than_one_are_an_error, struct fixture *fixture) {
  struct flow flow = unified(UNIFIED_DEMAND, host, gpu0);
  struct case_def def = fixture_transfer(&flow, 1);
  def.measure.iterations = 2;
  fixture_fails(fixture, &def, CASE_FAILED, "at most 1");
}

enum { TOUCHED_BYTES = 100003, PAGE_BYTES = 4096, UNTOUCHED = 0x5a };

/* Every stride is written once, by one of the threads, and nothing else is. */
static void check_touched(uint64_t stride_bytes, uint32_t count, bool complement, bool random) {
  unsigned char *bytes = malloc(TOUCHED_BYTES);
  assert_non_null(bytes);
  memset(bytes, UNTOUCHED, TOUCHED_BYTES);
  const struct touch touch = {.bytes = bytes,
                              .size_bytes = TOUCHED_BYTES,
                              .stride_bytes = stride_bytes,
                              .page_bytes = PAGE_BYTES,
                              .seed = 99,
                              .complement = complement,
                              .random = random};
  for (uint32_t part = 0; part < count; part++) {
    (void)touch_part(&touch, part, count);
  }
  for (uint64_t offset = 0; offset < TOUCHED_BYTES; offset++) {
    unsigned char wanted = UNTOUCHED;
    if (offset % stride_bytes == 0) {
      wanted = (unsigned char)(pattern_byte(99, offset) ^ (complement ? 0xff : 0));
    }
    if (bytes[offset] != wanted) {
      fail_msg("stride %llu, %u threads: offset %llu", (unsigned long long)stride_bytes, count,
               (unsigned long long)offset);
    }
  }
  struct touch reads = touch;
  reads.reads = true;
  reads.passes = 2;
  uint64_t sum = 0;
  for (uint32_t part = 0; part < count && !complement; part++) {
    sum += touch_part(&reads, part, count);
  }
  assert_true(complement || sum == 2 * touch_expected_sum(&touch));
  free(bytes);
}

TEST(touch_part_writes_each_stride_once) {
  const uint64_t strides[] = {1, 7, 4096, 5000, 8192, TOUCHED_BYTES - 1, TOUCHED_BYTES, 1 << 20};
  for (size_t i = 0; i < COUNT_OF(strides); i++) {
    for (uint32_t count = 1; count < 40; count += 6) {
      check_touched(strides[i], count, count % 2 == 0, false);
      check_touched(strides[i], count, count % 2 == 0, true);
    }
  }
}

/* With the page as stride, a thread's first byte is the first of a page, and the parts of any two
 * threads are apart. */
TEST(touch_part_keeps_threads_on_pages_of_their_own) {
  unsigned char *bytes = memory_new(TOUCHED_BYTES, 1);
  const struct touch touch = {.bytes = bytes,
                              .size_bytes = TOUCHED_BYTES,
                              .stride_bytes = 64,
                              .page_bytes = PAGE_BYTES,
                              .seed = 1};
  uint64_t touched_pages = 0;
  for (uint32_t part = 0; part < 3; part++) {
    memset(bytes, 0, TOUCHED_BYTES);
    (void)touch_part(&touch, part, 3);
    for (uint64_t page = 0; page * PAGE_BYTES < TOUCHED_BYTES; page++) {
      const uint64_t end =
          (page + 1) * PAGE_BYTES < TOUCHED_BYTES ? (page + 1) * PAGE_BYTES : TOUCHED_BYTES;
      uint64_t written = 0;
      for (uint64_t offset = page * PAGE_BYTES; offset < end; offset += 64) {
        written += bytes[offset] == pattern_byte(1, offset) && bytes[offset] != 0;
      }
      touched_pages += written > 0;
    }
  }
  assert_int_equal(touched_pages, (TOUCHED_BYTES + PAGE_BYTES - 1) / PAGE_BYTES);
  free(bytes);
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
