#include "engine/host/touch.h"

#include "kernels/pattern.h"

#include <stdlib.h>
#include <string.h>

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

enum { SIZE_BYTES = 100003, PAGE_BYTES = 4096, UNTOUCHED = 0x5a };

/* Every stride is written once, by one of the threads, and nothing else is. */
static void check_parts(uint64_t stride_bytes, uint32_t count, bool complement) {
  unsigned char *bytes = malloc(SIZE_BYTES);
  assert_non_null(bytes);
  memset(bytes, UNTOUCHED, SIZE_BYTES);
  const struct touch touch = {.bytes = bytes,
                              .size_bytes = SIZE_BYTES,
                              .stride_bytes = stride_bytes,
                              .page_bytes = PAGE_BYTES,
                              .seed = 99,
                              .complement = complement};
  for (uint32_t part = 0; part < count; part++) {
    touch_part(&touch, part, count);
  }
  for (uint64_t offset = 0; offset < SIZE_BYTES; offset++) {
    unsigned char wanted = UNTOUCHED;
    if (offset % stride_bytes == 0) {
      wanted = (unsigned char)(pattern_byte(99, offset) ^ (complement ? 0xff : 0));
    }
    if (bytes[offset] != wanted) {
      fail_msg("stride %llu, %u threads: offset %llu", (unsigned long long)stride_bytes, count,
               (unsigned long long)offset);
    }
  }
  free(bytes);
}

static void all_strides_by_any_number_of_threads(void **state) {
  (void)state;
  const uint64_t strides[] = {1, 7, 4096, 5000, 8192, SIZE_BYTES - 1, SIZE_BYTES, 1 << 20};
  for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
    for (uint32_t count = 1; count < 40; count += 6) {
      check_parts(strides[i], count, count % 2 == 0);
    }
  }
}

/* With the page as stride, a thread's first byte is the first of a page, and the parts of any two
 * threads are apart. */
static void parts_are_whole_pages(void **state) {
  (void)state;
  unsigned char *bytes = calloc(SIZE_BYTES, 1);
  assert_non_null(bytes);
  const struct touch touch = {.bytes = bytes,
                              .size_bytes = SIZE_BYTES,
                              .stride_bytes = 64,
                              .page_bytes = PAGE_BYTES,
                              .seed = 1};
  uint64_t touched_pages = 0;
  for (uint32_t part = 0; part < 3; part++) {
    memset(bytes, 0, SIZE_BYTES);
    touch_part(&touch, part, 3);
    for (uint64_t page = 0; page * PAGE_BYTES < SIZE_BYTES; page++) {
      const uint64_t end =
          (page + 1) * PAGE_BYTES < SIZE_BYTES ? (page + 1) * PAGE_BYTES : SIZE_BYTES;
      uint64_t written = 0;
      for (uint64_t offset = page * PAGE_BYTES; offset < end; offset += 64) {
        written += bytes[offset] == pattern_byte(1, offset) && bytes[offset] != 0;
      }
      touched_pages += written > 0;
    }
  }
  assert_int_equal(touched_pages, (SIZE_BYTES + PAGE_BYTES - 1) / PAGE_BYTES);
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_strides_by_any_number_of_threads),
      cmocka_unit_test(parts_are_whole_pages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
