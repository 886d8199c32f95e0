/* host_cache = "flushed": a copy of what fits a cache takes longer when the caches were emptied of
 * it before each trial. */
#include "tests/engine/workload/fixture.h"

#include "engine/host/cache.h"

#include <stdlib.h>

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

enum { TRIALS = 101 };

static int by_value(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left;
  const uint64_t b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static uint64_t median_ns(struct fixture *fixture, enum cache_state host_cache) {
  const struct flow flow = {.method = METHOD_CPU,
                            .source = fixture_node(0, MEMORY_PAGEABLE),
                            .target = fixture_node(0, MEMORY_PAGEABLE),
                            .size_bytes = 64 << 10,
                            .threads = 1};
  struct bench_case bench_case = fixture_transfer(&flow, 1);
  bench_case.measure.trials_min = TRIALS;
  bench_case.measure.trials_max = TRIALS;
  bench_case.measure.iterations = 1;
  bench_case.measure.verify = VERIFY_ONCE;
  bench_case.measure.host_cache = host_cache;
  fixture_run_ok(fixture, &bench_case);
  uint64_t values[FIXTURE_TRIALS_MAX];
  for (uint32_t i = 0; i < fixture->trial_count; i++) {
    values[i] = fixture->trials[i].elapsed_ns;
  }
  qsort(values, fixture->trial_count, sizeof *values, by_value);
  return values[fixture->trial_count / 2];
}

static void a_flushed_copy_takes_longer(void **state) {
  struct cache_flush_proof proof;
  cache_flush_prove(&proof);
  if (!proof.works) {
    skip();
  }
  /* Other work on this machine may hide it for a while, not for ever. */
  for (int attempt = 0; attempt < 5; attempt++) {
    const uint64_t warm_ns = median_ns(*state, CACHE_WARM);
    const uint64_t flushed_ns = median_ns(*state, CACHE_FLUSHED);
    if (flushed_ns > warm_ns + warm_ns / 4) {
      return;
    }
  }
  fail_msg("a flush makes no copy slower");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_flushed_copy_takes_longer),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
