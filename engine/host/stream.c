#include "engine/host/stream.h"

#include "kernels/stream_values.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { VECTOR_BYTES = 32 };

/* Vectors that may be anywhere and alias anything; a processor with shorter ones takes two. */
#define VECTOR(type) type __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias))
typedef VECTOR(uint32_t) words;
typedef VECTOR(float) f32s;
typedef VECTOR(double) f64s;
typedef float half_f32s __attribute__((vector_size(VECTOR_BYTES / 2), aligned(4), may_alias));

/* index is a multiple of 8: its lower half does not overflow within the vector. */
#define WORDS_AT(index)                                                                            \
  ((words){0, 1, 2, 3, 4, 5, 6, 7} * UINT32_C(0x9E3779B1) + stream_word(index))

/* Inputs of type E (V: a vector of it) at element i, `out[i] = vector`, and the same for the last
 * elements one by one. No iteration of a caller's loop over it is merged or left out. */
#define DEFINE_MAP(name, attributes, E, V, store, fence, vector, scalar)                           \
  attributes static uint64_t name(const struct host_stream_arrays *arrays, uint64_t begin,         \
                                  uint64_t end) {                                                  \
    E *out = arrays->out;                                                                          \
    const E *a = arrays->a;                                                                        \
    const E *b = arrays->b;                                                                        \
    const uint64_t count = end / sizeof(E);                                                        \
    uint64_t i = begin / sizeof(E);                                                                \
    for (; i + sizeof(V) / sizeof(E) <= count; i += sizeof(V) / sizeof(E)) {                       \
      const V result = vector;                                                                     \
      store(V, out + i, result);                                                                   \
    }                                                                                              \
    for (; i < count; i++) {                                                                       \
      out[i] = scalar;                                                                             \
    }                                                                                              \
    fence();                                                                                       \
    __asm__ volatile("" ::"r"(out), "r"(a), "r"(b) : "memory");                                    \
    return 0;                                                                                      \
  }

#define LOADED(V, array)              (*(const V *)(const void *)((array) + i))
#define STORE_PLAIN(V, place, result) (*(V *)(void *)(place) = (result))
#define NO_FENCE()                    ((void)0)

#define DEFINE_MAPS(suffix, attributes, store, fence)                                              \
  DEFINE_MAP(copy_##suffix, attributes, uint32_t, words, store, fence, LOADED(words, a), a[i])     \
  DEFINE_MAP(write_##suffix, attributes, uint32_t, words, store, fence, WORDS_AT(i),               \
             stream_word(i))                                                                       \
  DEFINE_MAP(mul_f32_##suffix, attributes, float, f32s, store, fence,                              \
             STREAM_SCALAR *LOADED(f32s, a), STREAM_SCALAR *a[i])                                  \
  DEFINE_MAP(mul_f64_##suffix, attributes, double, f64s, store, fence,                             \
             STREAM_SCALAR *LOADED(f64s, a), STREAM_SCALAR *a[i])                                  \
  DEFINE_MAP(add_f32_##suffix, attributes, float, f32s, store, fence,                              \
             LOADED(f32s, a) + LOADED(f32s, b), a[i] + b[i])                                       \
  DEFINE_MAP(add_f64_##suffix, attributes, double, f64s, store, fence,                             \
             LOADED(f64s, a) + LOADED(f64s, b), a[i] + b[i])                                       \
  DEFINE_MAP(triad_f32_##suffix, attributes, float, f32s, store, fence,                            \
             LOADED(f32s, a) + STREAM_SCALAR * LOADED(f32s, b), a[i] + STREAM_SCALAR * b[i])       \
  DEFINE_MAP(triad_f64_##suffix, attributes, double, f64s, store, fence,                           \
             LOADED(f64s, a) + STREAM_SCALAR * LOADED(f64s, b), a[i] + STREAM_SCALAR * b[i])       \
  static const struct loops loops_##suffix = {                                                     \
      .copy = copy_##suffix,                                                                       \
      .write = write_##suffix,                                                                     \
      .mul = {mul_f32_##suffix, mul_f64_##suffix},                                                 \
      .add = {add_f32_##suffix, add_f64_##suffix},                                                 \
      .triad = {triad_f32_##suffix, triad_f64_##suffix},                                           \
  };

struct loops {
  host_stream_loop copy;
  host_stream_loop write;
  host_stream_loop mul[2]; /* f32, f64 */
  host_stream_loop add[2];
  host_stream_loop triad[2];
};

DEFINE_MAPS(plain, , STORE_PLAIN, NO_FENCE)

#if defined(__x86_64__)

#define STORE_NT(V, place, result) _mm256_stream_si256((void *)(place), (__m256i)(result))

DEFINE_MAPS(nt, __attribute__((target("avx2"))), STORE_NT, _mm_sfence)

static const struct loops *past_caches(void) {
  return __builtin_cpu_supports("avx2") ? &loops_nt : &loops_plain;
}

#else

static const struct loops *past_caches(void) {
  return &loops_plain;
}

#endif

/* Sums run in SUM_LANES vectors at once, so that no addition waits for the one before. */
enum { SUM_LANES = 4 };

static uint64_t read_words(const struct host_stream_arrays *arrays, uint64_t begin, uint64_t end) {
  const uint32_t *a = arrays->a;
  const uint64_t count = end / sizeof *a;
  const uint64_t step = sizeof(words) / sizeof *a;
  words sums[SUM_LANES] = {{0}};
  uint64_t i = begin / sizeof *a;
  for (; i + SUM_LANES * step <= count; i += SUM_LANES * step) {
    for (uint64_t lane = 0; lane < SUM_LANES; lane++) {
      sums[lane] += *(const words *)(const void *)(a + i + lane * step);
    }
  }
  uint32_t total = 0;
  for (; i < count; i++) {
    total += a[i];
  }
  for (uint64_t k = 0; k < SUM_LANES * step; k++) {
    total += sums[k / step][k % step];
  }
  __asm__ volatile("" ::"r"(a) : "memory");
  return total;
}

#define DOUBLES(pointer) (*(const f64s *)(const void *)(pointer))
#define CONVERTED(pointer)                                                                         \
  __builtin_convertvector(*(const half_f32s *)(const void *)(pointer), f64s)

#define DEFINE_DOT(name, E, converted)                                                             \
  static uint64_t name(const struct host_stream_arrays *arrays, uint64_t begin, uint64_t end) {    \
    const E *a = arrays->a;                                                                        \
    const E *b = arrays->b;                                                                        \
    const uint64_t count = end / sizeof(E);                                                        \
    const uint64_t step = sizeof(f64s) / sizeof(double);                                           \
    f64s sums[SUM_LANES] = {{0}};                                                                  \
    uint64_t i = begin / sizeof(E);                                                                \
    for (; i + SUM_LANES * step <= count; i += SUM_LANES * step) {                                 \
      for (uint64_t lane = 0; lane < SUM_LANES; lane++) {                                          \
        sums[lane] += converted(a + i + lane * step) * converted(b + i + lane * step);             \
      }                                                                                            \
    }                                                                                              \
    double total = 0;                                                                              \
    for (; i < count; i++) {                                                                       \
      total += (double)a[i] * (double)b[i];                                                        \
    }                                                                                              \
    for (uint64_t k = 0; k < SUM_LANES * step; k++) {                                              \
      total += sums[k / step][k % step];                                                           \
    }                                                                                              \
    uint64_t bits;                                                                                 \
    memcpy(&bits, &total, sizeof bits);                                                            \
    __asm__ volatile("" ::"r"(a), "r"(b) : "memory");                                              \
    return bits;                                                                                   \
  }

DEFINE_DOT(dot_f32, float, CONVERTED)
DEFINE_DOT(dot_f64, double, DOUBLES)

host_stream_loop host_stream_choose(enum stream_op op, enum number_type type,
                                    uint64_t footprint_bytes, uint64_t cache_bytes) {
  const struct loops *loops =
      cache_bytes != 0 && footprint_bytes >= cache_bytes ? past_caches() : &loops_plain;
  const int wide = type == NUMBER_F64;
  switch (op) {
  case STREAM_COPY:
    return loops->copy;
  case STREAM_MUL:
    return loops->mul[wide];
  case STREAM_ADD:
    return loops->add[wide];
  case STREAM_TRIAD:
    return loops->triad[wide];
  case STREAM_DOT:
    return wide ? dot_f64 : dot_f32;
  case STREAM_READ:
    return read_words;
  case STREAM_WRITE:
    return loops->write;
  case stream_op_word_count:
    break;
  }
  return NULL;
}
