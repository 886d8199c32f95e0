/* A stream by host threads: what is found of arrays that are not as they ought to be. */
#include "engine/workload/stream.h"
#include "tests/engine/workload/fixture.h"

enum { ELEMENTS = 5000 };

TEST(wrong_elements_are_counted, struct fixture *fixture) {
  const struct memory_context context = {.machine = fixture->machine};
  static const struct {
    enum number_type type;
    uint32_t bytes;
  } TYPES[] = {{NUMBER_F32, 4}, {NUMBER_F64, 8}};
  for (size_t t = 0; t < COUNT_OF(TYPES); t++) {
    const uint32_t bytes = TYPES[t].bytes;
    const struct stream stream = {.op = STREAM_COPY,
                                  .type = TYPES[t].type,
                                  .memory = fixture_node(0, MEMORY_PAGEABLE),
                                  .size_bytes = (uint64_t)ELEMENTS * bytes,
                                  .threads = 2};
    unsigned char *memory = aligned_alloc(4096, (size_t)ELEMENTS * bytes / 4096 * 4096 + 4096);
    assert_non_null(memory);
    const struct buffer array = {.host = memory, .size_bytes = stream.size_bytes};
    const struct stream_arrays arrays = {.out = &array, .a = &array};
    const struct stream_values values = {.seed_a = 7, .factor_a = 1, .element_bytes = bytes};
    struct pattern_compare_result found;
    void *host = NULL;
    assert_ok(stream_host.create(&context, &stream, &arrays, &host, err), err);
    assert_ok(stream_host.fill(host, &array, &values, err), err);
    assert_ok(stream_host.compare(host, &array, &values, &found, err), err);
    assert_int_equal(found.bad_bytes, 0);
    assert_true(found.first_offset == UINT64_MAX);
    /* Of either thread; of an element with two wrong bytes, the element. */
    static const size_t WRONG[] = {ELEMENTS - 1, 4000, 1234, 17};
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
      memory[WRONG[i] * bytes] ^= 1;
      memory[WRONG[i] * bytes + bytes - 1] ^= 1;
      assert_ok(stream_host.compare(host, &array, &values, &found, err), err);
      assert_int_equal(found.bad_bytes, i + 1);
      assert_int_equal(found.first_offset, WRONG[i]);
    }
    stream_host.destroy(host);
    free(memory);
  }
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
