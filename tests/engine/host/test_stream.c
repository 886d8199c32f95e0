/* The host's loops of streams, those with stores past the caches and those without: every element
 * of the range, and none beside it. */
#include "engine/host/stream.h"

#include "kernels/stream_values.h"
#include "tests/cmocka.h"

enum { SIZE_BYTES = 4096, GUARD = 0x5a };

/* Of the output; the inputs are one number each. */
static struct stream_values values_of(enum stream_op op, uint32_t element_bytes) {
  struct stream_values values = {.seed_a = STREAM_SEED_A,
                                 .seed_b = STREAM_SEED_B,
                                 .element_bytes = element_bytes,
                                 .factor_a = op == STREAM_MUL     ? STREAM_SCALAR
                                             : op == STREAM_WRITE ? 0
                                                                  : 1};
  values.factor_b = op == STREAM_ADD ? 1 : op == STREAM_TRIAD ? STREAM_SCALAR : 0;
  return values;
}

static void fill(unsigned char *array, uint64_t seed, uint32_t element_bytes) {
  const struct stream_values values = {
      .seed_a = seed, .factor_a = 1, .element_bytes = element_bytes};
  for (uint64_t i = 0; i < SIZE_BYTES / element_bytes; i++) {
    const uint64_t bits = stream_bits(&values, i);
    memcpy(array + i * element_bytes, &bits, element_bytes);
  }
}

static void check_output(const unsigned char *out, enum stream_op op, uint32_t element_bytes,
                         uint64_t begin, uint64_t end) {
  const struct stream_values values = values_of(op, element_bytes);
  for (uint64_t i = begin / element_bytes; i < end / element_bytes; i++) {
    const uint64_t bits = stream_bits(&values, i);
    assert_memory_equal(out + i * element_bytes, &bits, element_bytes);
  }
  for (uint64_t i = 0; i < SIZE_BYTES; i++) {
    assert_true((i >= begin && i < end) || out[i] == GUARD);
  }
}

/* Within f64's rounding of at most 1024 products. */
static void check_dot(uint64_t bits, uint32_t element_bytes, uint64_t begin, uint64_t end) {
  long double expected = 0;
  double found;
  memcpy(&found, &bits, sizeof found);
  for (uint64_t i = begin / element_bytes; i < end / element_bytes; i++) {
    expected += (long double)stream_number(STREAM_SEED_A, i, element_bytes) *
                (long double)stream_number(STREAM_SEED_B, i, element_bytes);
  }
  const long double difference = (long double)found - expected;
  assert_true(difference <= 0x1p-43L * expected && difference >= -0x1p-43L * expected);
}

static void check_read(uint64_t bits, const unsigned char *a, uint64_t begin, uint64_t end) {
  uint32_t expected = 0;
  for (uint64_t i = begin; i < end; i += sizeof expected) {
    uint32_t word;
    memcpy(&word, a + i, sizeof word);
    expected += word;
  }
  assert_int_equal(bits, expected);
}

static void run(enum stream_op op, enum number_type type, bool past_caches, uint64_t begin,
                uint64_t end) {
  _Alignas(64) static unsigned char out[SIZE_BYTES];
  _Alignas(64) static unsigned char a[SIZE_BYTES];
  _Alignas(64) static unsigned char b[SIZE_BYTES];
  const uint32_t element_bytes = type == NUMBER_F64 ? 8 : 4;
  const struct host_stream_arrays arrays = {out, a, b};
  memset(out, GUARD, sizeof out);
  fill(a, STREAM_SEED_A, element_bytes);
  fill(b, STREAM_SEED_B, element_bytes);
  const host_stream_loop loop = host_stream_choose(op, type, past_caches ? 2 : 0, 1);
  const uint64_t bits = loop(&arrays, begin, end);
  if (op == STREAM_DOT) {
    check_dot(bits, element_bytes, begin, end);
  } else if (op == STREAM_READ) {
    check_read(bits, a, begin, end);
  } else {
    assert_int_equal(bits, 0);
    check_output(out, op, element_bytes, begin, end);
  }
}

TEST(every_loop_does_its_range) {
  const uint64_t ranges[][2] = {{0, 0},     {0, 8},       {32, 64},  {64, 4096},
                                {32, 2000}, {1024, 1064}, {0, 4096}, {4064, 4096}};
  for (int op = 0; op < (int)stream_op_name_count; op++) {
    for (size_t i = 0; i < COUNT_OF(ranges); i++) {
      for (int past_caches = 0; past_caches < 2; past_caches++) {
        run((enum stream_op)op, NUMBER_F32, past_caches, ranges[i][0], ranges[i][1]);
        run((enum stream_op)op, NUMBER_F64, past_caches, ranges[i][0], ranges[i][1]);
      }
    }
  }
}

/* What makes results exact and places distinct. */
TEST(values_differ_by_place_and_are_exact) {
  for (uint64_t i = 0; i < 100000; i++) {
    const uint64_t f32 = stream_number(STREAM_SEED_A, i, 4) * (1 + STREAM_SCALAR);
    const uint64_t f64 = stream_number(STREAM_SEED_A, i, 8) * (1 + STREAM_SCALAR);
    assert_true((uint64_t)(float)f32 == f32);
    assert_true((uint64_t)(double)f64 == f64);
    assert_int_not_equal(stream_number(STREAM_SEED_A, i, 8), stream_number(STREAM_SEED_B, i, 8));
    assert_int_not_equal(stream_number(STREAM_SEED_A, i, 8),
                         stream_number(STREAM_SEED_A, i + 1, 8));
  }
  assert_int_not_equal(stream_word(1), stream_word((UINT64_C(1) << 32) + 1));
  /* A sum grows by the word that comes next, at the beginning, around repetitions and far out. */
  const uint64_t words = STREAM_SUMMED_WORDS;
  const uint64_t counts[] = {
      0, 1, 77, words - 1, words, 5 * words - 1, 5 * words, 1 << 30, (UINT64_C(1) << 40) + 12345};
  assert_int_equal(stream_words_sum(0), 0);
  for (size_t i = 0; i < COUNT_OF(counts); i++) {
    assert_int_equal(stream_words_sum(counts[i] + 1),
                     stream_words_sum(counts[i]) + stream_summed_word(counts[i]));
  }
}
