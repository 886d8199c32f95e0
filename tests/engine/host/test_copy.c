#include "engine/host/copy.h"
#include "kernels/pattern_values.h"
#include "tests/cmocka.h"

enum { ROOM = 20000, MARK = 0xA5 };

static _Alignas(64) unsigned char source[ROOM];
static _Alignas(64) unsigned char target[ROOM];

static void check(const struct host_copy *loop, size_t to, size_t from, size_t size_bytes) {
  memset(target, MARK, sizeof target);
  loop->copy(target + to, source + from, size_bytes);
  for (size_t i = 0; i < ROOM; i++) {
    unsigned char expected =
        i < to || i >= to + size_bytes ? MARK : pattern_byte(3, from + (i - to));
    if (target[i] != expected) {
      fail_msg("%s of %zu bytes from +%zu to +%zu: byte %zu is %02x, expected %02x", loop->name,
               size_bytes, from, to, i, target[i], expected);
    }
  }
}

TEST(every_loop_copies_any_size_and_alignment) {
  for (size_t i = 0; i < ROOM; i++) {
    source[i] = pattern_byte(3, i);
  }
  static const size_t sizes[] = {0, 1, 7, 63, 64, 65, 127, 255, 256, 257, 319, 1000, 4096, 16385};
  static const size_t offsets[] = {0, 1, 8, 31, 33, 63, 64};
  for (size_t loop = 0; loop < host_copies_count; loop++) {
    if (!host_copies[loop].supported()) {
      continue;
    }
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
      for (size_t t = 0; t < COUNT_OF(offsets); t++) {
        check(&host_copies[loop], offsets[t], offsets[(t + s) % 7], sizes[s]);
        check(&host_copies[loop], offsets[t], offsets[t], sizes[s]);
      }
    }
  }
}

TEST(the_rule_follows_the_footprint) {
  const uint64_t cache = UINT64_C(32) << 20;
  assert_string_equal(host_copy_choose(false, cache - 1, cache)->name, "memcpy");
  assert_string_equal(host_copy_choose(false, UINT64_C(1) << 40, 0)->name, "memcpy");
  const struct host_copy *large = host_copy_choose(false, cache, cache);
  assert_true(large->supported());
  assert_false(large->streaming_loads);
#if defined(__x86_64__) || defined(__aarch64__)
  assert_true(large->non_temporal);
  const struct host_copy *combined = host_copy_choose(true, 1, cache);
  assert_true(combined->supported());
  assert_true(combined->streaming_loads || strcmp(combined->name, "memcpy") == 0);
#endif
}
