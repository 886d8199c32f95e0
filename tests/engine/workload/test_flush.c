/* host_cache: a copy of what fits a cache takes longer when the caches were emptied of it before
 * each trial, and no longer when its buffers were written. */
#include "tests/engine/workload/fixture.h"

#include "engine/host/cache.h"
#include "tests/cmocka.h"

enum { TRIALS = 101 };

/* Its proof is in the outcome, unless nothing was to be proven. */
static void check_proof(const struct case_outcome *outcome, enum host_cache host_cache) {
  assert_int_equal(outcome->cache_warm_ns > 0, host_cache != HOST_CACHE_AS_IS);
  assert_int_equal(outcome->cache_flushed_ns > outcome->cache_warm_ns,
                   host_cache != HOST_CACHE_AS_IS);
}

/* Other work on this machine only ever makes a copy slower. */
static uint64_t fastest_ns(struct fixture *fixture, enum host_cache host_cache) {
  const struct flow flow = {.method = METHOD_CPU,
                            .source = fixture_node(0, MEMORY_PAGEABLE),
                            .target = fixture_node(0, MEMORY_PAGEABLE),
                            .size_bytes = UINT64_C(64) << 10,
                            .threads = 1};
  struct bench_case bench_case = fixture_transfer(&flow, 1);
  bench_case.measure.trials_min = TRIALS;
  bench_case.measure.trials_max = TRIALS;
  bench_case.measure.iterations = 1;
  bench_case.measure.verify = VERIFY_ONCE;
  bench_case.measure.host_cache = host_cache;
  fixture_run_ok(fixture, &bench_case);
  check_proof(&fixture->outcome, host_cache);
  uint64_t fastest = UINT64_MAX;
  for (uint32_t i = 0; i < fixture->trial_count; i++) {
    const uint64_t elapsed_ns = fixture->trials[i].elapsed_ns;
    fastest = elapsed_ns < fastest ? elapsed_ns : fastest;
  }
  return fastest;
}

static void a_flushed_copy_takes_longer(void **state) {
  struct cache_flush_proof proof;
  cache_flush_prove(&proof);
  if (!proof.works) {
    skip();
  }
  uint64_t warm_ns = 0;
  uint64_t flushed_ns = 0;
  for (int attempt = 0; attempt < 5; attempt++) { /* another's work may empty the caches as well */
    warm_ns = fastest_ns(*state, HOST_CACHE_WARM);
    flushed_ns = fastest_ns(*state, HOST_CACHE_FLUSHED);
    if (flushed_ns > 2 * warm_ns) {
      return;
    }
  }
  fail_msg("warm %llu ns, flushed %llu ns", (unsigned long long)warm_ns,
           (unsigned long long)flushed_ns);
}

/* Whatever the memory, every byte arrives; an iteration is one copy, since only the first finds the
 * caches as they were made. */
static void written_buffers_arrive(void **state) {
  static const enum memory_kind kinds[] = {MEMORY_PINNED, MEMORY_PAGEABLE, MEMORY_WRITE_COMBINED};
  for (size_t i = 0; i < 2 * sizeof kinds / sizeof *kinds; i++) {
    struct flow flow = {.method = METHOD_CE,
                        .source = fixture_node(0, kinds[i / 2]),
                        .target = fixture_gpu(0, MEMORY_DEVICE),
                        .initiator = INITIATOR_TARGET,
                        .size_bytes = (UINT64_C(64) << 10) + 13};
    if (i % 2 == 1) {
      flow.target = flow.source;
      flow.source = fixture_gpu(0, MEMORY_DEVICE);
      flow.initiator = INITIATOR_SOURCE;
    }
    struct bench_case bench_case = fixture_transfer(&flow, 1);
    bench_case.measure.host_cache = HOST_CACHE_WARM;
    fixture_run_ok(*state, &bench_case);
    const struct fixture *fixture = *state;
    assert_int_equal(fixture->outcome.iterations, 1);
  }
}

/* Managed memory is written where its pages are on the host, and stays where it is elsewhere. */
static void managed_memory_is_warm_where_it_is(void **state) {
  const struct flow flow = {.method = METHOD_UM,
                            .source = fixture_node(0, MEMORY_MANAGED),
                            .target = fixture_gpu(0, MEMORY_MANAGED),
                            .initiator = INITIATOR_TARGET,
                            .size_bytes = UINT64_C(1) << 20};
  struct bench_case bench_case = fixture_transfer(&flow, 1);
  bench_case.measure.host_cache = HOST_CACHE_WARM;
  fixture_run_ok(*state, &bench_case);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_flushed_copy_takes_longer),
      cmocka_unit_test(written_buffers_arrive),
      cmocka_unit_test(managed_memory_is_warm_where_it_is),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
