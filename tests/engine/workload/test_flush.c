/* host_cache = "flushed": a copy of what fits a cache takes longer when the caches were emptied of
 * it before each trial. */
#include "tests/engine/workload/fixture.h"

#include "engine/host/cache.h"
#include "tests/cmocka.h"

enum { TRIALS = 101 };

/* Other work on this machine only ever makes a copy slower. */
static uint64_t fastest_ns(struct fixture *fixture, enum cache_state host_cache) {
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
    warm_ns = fastest_ns(*state, CACHE_WARM);
    flushed_ns = fastest_ns(*state, CACHE_FLUSHED);
    if (flushed_ns > 2 * warm_ns) {
      return;
    }
  }
  fail_msg("warm %llu ns, flushed %llu ns", (unsigned long long)warm_ns,
           (unsigned long long)flushed_ns);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_flushed_copy_takes_longer),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
