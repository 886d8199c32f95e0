#include "engine/host/cache.h"

#include "tests/cmocka.h"

TEST(a_line_is_a_power_of_two) {
  uint64_t line = cache_line_bytes();
  assert_true(line >= 16 && line <= 1024);
  assert_int_equal(line & (line - 1), 0);
}

TEST(a_flush_changes_no_byte) {
  unsigned char bytes[1000];
  unsigned char copy[1000];
  for (size_t i = 0; i < sizeof bytes; i++) {
    bytes[i] = copy[i] = (unsigned char)(i * 31);
  }
  for (size_t from = 0; from < 70; from++) {
    if (!cache_flush(bytes + from, sizeof bytes - 2 * from)) {
      skip();
    }
    assert_memory_equal(bytes, copy, sizeof bytes);
  }
  assert_true(cache_flush(bytes, 0));
}

/* A reload from memory is ten times and more slower than from a cache; twice is what is asked. */
TEST(the_flush_is_proven) {
  SKIP_EMULATED("has no caches to flush");
  struct cache_flush_proof proof;
  cache_flush_prove(&proof);
  if (!proof.supported) {
    skip();
  }
  print_message("warm %llu ns, flushed %llu ns\n", (unsigned long long)proof.warm_ns,
                (unsigned long long)proof.flushed_ns);
  assert_true(proof.works);
  assert_true(proof.flushed_ns >= 2 * proof.warm_ns);
}

static bool flush_nothing(const void *address, uint64_t size_bytes) {
  return true;
}

/* The stack slot of the pointer instead of the buffer: a mistake that was made before. */
static bool flush_the_pointer(const void *address, uint64_t size_bytes) {
  return cache_flush(&address, sizeof address);
}

static bool flush_cannot(const void *address, uint64_t size_bytes) {
  return false;
}

TEST(a_flush_that_does_not_work_is_found_out) {
  struct cache_flush_proof proof;
  cache_flush_prove_with(flush_nothing, &proof);
  assert_true(proof.supported);
  assert_false(proof.works);
  cache_flush_prove_with(flush_the_pointer, &proof);
  assert_false(proof.works);
  cache_flush_prove_with(flush_cannot, &proof);
  assert_false(proof.supported);
  assert_false(proof.works);
}

TEST(a_shared_cache_counts_once) {
  const int cpu = 0;
  const int twice[] = {0, 0, 0};
  uint64_t one = cache_last_level_bytes(&cpu, 1);
  assert_int_equal(cache_last_level_bytes(twice, 3), one);
  assert_int_equal(cache_last_level_bytes(NULL, 0), 0);
  const int absent = 1000000;
  assert_int_equal(cache_last_level_bytes(&absent, 1), 0);
}
