/* host_cache: what is done to the caches before each trial is proven, and every byte arrives. */
#include "tests/engine/workload/fixture.h"

#include "engine/host/cache.h"

/* Its proof is in the outcome, unless nothing was to be proven. */
static void check_proof(const struct case_outcome *outcome, enum host_cache host_cache) {
  assert_int_equal(outcome->cache_warm_ns > 0, host_cache != HOST_CACHE_AS_IS);
  assert_int_equal(outcome->cache_flushed_ns > outcome->cache_warm_ns,
                   host_cache != HOST_CACHE_AS_IS);
}

/* What the engine asks of the host's caches: the linker (--wrap) gives its calls to these, by the
 * names that stand in __asm__. */
static struct asked {
  uint64_t flushed_bytes;
  uint64_t written_bytes;
} asked;

bool real_flush(const void *address, uint64_t size_bytes) __asm__("__real_cache_flush");
bool counted_flush(const void *address, uint64_t size_bytes) __asm__("__wrap_cache_flush");
bool counted_flush(const void *address, uint64_t size_bytes) {
  asked.flushed_bytes += size_bytes;
  return real_flush(address, size_bytes);
}

void real_write(const struct machine *machine, void *address, uint64_t size_bytes,
                uint64_t line_bytes, int32_t node) __asm__("__real_numa_write_lines");
void counted_write(const struct machine *machine, void *address, uint64_t size_bytes,
                   uint64_t line_bytes, int32_t node) __asm__("__wrap_numa_write_lines");
void counted_write(const struct machine *machine, void *address, uint64_t size_bytes,
                   uint64_t line_bytes, int32_t node) {
  asked.written_bytes += size_bytes;
  real_write(machine, address, size_bytes, line_bytes, node);
}

/* The proof in a buffer of the case, which may be made to fail. */
static bool proof_fails;
static uint32_t proofs;
void real_proof(void *memory, uint64_t size_bytes,
                struct cache_flush_proof *proof) __asm__("__real_cache_flush_prove_at");
void counted_proof(void *memory, uint64_t size_bytes,
                   struct cache_flush_proof *proof) __asm__("__wrap_cache_flush_prove_at");
void counted_proof(void *memory, uint64_t size_bytes, struct cache_flush_proof *proof) {
  real_proof(memory, size_bytes, proof);
  proof->works = proof->works && !proof_fails;
  proofs++;
}

/* Before each trial both ends are treated as asked. How long the copies take then depends on what
 * else the machine does: the proof, a chase through a buffer treated the same way, says whether it
 * works. */
TEST(every_trial_finds_the_caches_as_asked, struct fixture *fixture) {
  enum { SIZE_BYTES = 64 << 10, BOTH_ENDS = 2 };
  struct cache_flush_proof proof;
  cache_flush_prove(&proof);
  if (!proof.works) {
    skip();
  }
  static const enum host_cache wanted[] = {HOST_CACHE_AS_IS, HOST_CACHE_WARM, HOST_CACHE_FLUSHED};
  for (size_t i = 0; i < COUNT_OF(wanted); i++) {
    const struct flow flow = fixture_flow(METHOD_CPU, fixture_node(0, MEMORY_PAGEABLE),
                                          fixture_node(0, MEMORY_PAGEABLE), SIZE_BYTES);
    struct case_def def = fixture_transfer(&flow, 1);
    def.measure.trials_min = 3;
    def.measure.trials_max = 3;
    def.measure.iterations = 1;
    def.measure.host_cache = wanted[i];
    asked = (struct asked){0};
    fixture_run_ok(fixture, &def);
    check_proof(&fixture->outcome, wanted[i]);
    const uint64_t trials = (uint64_t)def.measure.trials_min + def.measure.warmup;
    const uint64_t expected = BOTH_ENDS * SIZE_BYTES * trials;
    assert_int_equal(asked.flushed_bytes, wanted[i] == HOST_CACHE_FLUSHED ? expected : 0);
    assert_int_equal(asked.written_bytes, wanted[i] == HOST_CACHE_WARM ? expected : 0);
  }
}

/* Without the check it is measured, and a note says so. */
TEST(case_whose_flush_is_not_proven_is_skipped_where_the_check_wants_it, struct fixture *fixture) {
  const struct flow flow = fixture_flow(METHOD_CPU, fixture_node(0, MEMORY_PAGEABLE),
                                        fixture_node(0, MEMORY_PAGEABLE), 64 << 10);
  struct case_def def = fixture_transfer(&flow, 1);
  def.measure.host_cache = HOST_CACHE_FLUSHED;
  proofs = 0;
  proof_fails = true;
  fixture_run_ok(fixture, &def);
  assert_int_equal(proofs, 2); /* each end's buffer */
  assert_true(notes_have(&fixture->outcome.notes, NOTE_FLUSH_UNPROVEN) ||
              notes_have(&fixture->outcome.notes, NOTE_NO_FLUSH));
  def.measure.unflushed = ON_FAIL_SKIP;
  fixture_run(fixture, &def);
  proof_fails = false;
  assert_int_equal(fixture->outcome.status, CASE_SKIPPED);
  assert_contains(fixture->outcome.reason, "check cache_flush");
}

/* Whatever the memory, every byte arrives; an iteration is one copy, since only the first finds the
 * caches as they were made. */
TEST(written_buffers_arrive, struct fixture *fixture) {
  static const enum memory_kind kinds[] = {MEMORY_PINNED, MEMORY_PAGEABLE, MEMORY_WRITE_COMBINED};
  for (size_t i = 0; i < 2 * COUNT_OF(kinds); i++) {
    struct flow flow = fixture_flow(METHOD_CE, fixture_node(0, kinds[i / 2]),
                                    fixture_gpu(0, MEMORY_DEVICE), (UINT64_C(64) << 10) + 13);
    if (i % 2 == 1) {
      flow.target = flow.source;
      flow.source = fixture_gpu(0, MEMORY_DEVICE);
      flow.initiator = INITIATOR_SOURCE;
    }
    struct case_def def = fixture_transfer(&flow, 1);
    def.measure.host_cache = HOST_CACHE_WARM;
    fixture_run_ok(fixture, &def);
    assert_int_equal(fixture->outcome.iterations, 1);
  }
}

/* Managed memory is written where its pages are on the host, and stays where it is elsewhere. */
TEST(managed_memory_is_warm_where_it_is, struct fixture *fixture) {
  const struct flow flow = fixture_flow(METHOD_UM, fixture_node(0, MEMORY_MANAGED),
                                        fixture_gpu(0, MEMORY_MANAGED), UINT64_C(1) << 20);
  struct case_def def = fixture_transfer(&flow, 1);
  def.measure.host_cache = HOST_CACHE_WARM;
  fixture_run_ok(fixture, &def);
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
