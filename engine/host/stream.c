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
#if defined(__x86_64__)
#define ORDER_STORES() ((void)0) /* plain stores are in order */
#else
#define ORDER_STORES() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

#define DEFINE_MAPS(suffix, attributes, store, fence, sums)                                        \
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
      .dot = {dot_f32_##sums, dot_f64_##sums},                                                     \
      .read = read_##sums,                                                                         \
  };

/* Sums run in SUM_LANES vectors at once, so that no addition waits for the one before. `one` and
 * `many` add what is at element i and at a whole vector from there to a sum. */
enum { SUM_LANES = 4 };

#define DEFINE_SUM(name, attributes, E, S, V, many, one)                                           \
  attributes static uint64_t name(const struct host_stream_arrays *arrays, uint64_t begin,         \
                                  uint64_t end) {                                                  \
    const E *a = arrays->a;                                                                        \
    const E *b = arrays->b;                                                                        \
    const uint64_t count = end / sizeof(E);                                                        \
    const uint64_t step = sizeof(V) / sizeof(S);                                                   \
    V sums[SUM_LANES] = {{0}};                                                                     \
    uint64_t i = begin / sizeof(E);                                                                \
    for (; i + SUM_LANES * step <= count; i += SUM_LANES * step) {                                 \
      _Pragma("GCC unroll 4") for (uint64_t lane = 0; lane < SUM_LANES; lane++) {                  \
        sums[lane] += many(i + lane * step);                                                       \
      }                                                                                            \
    }                                                                                              \
    S total = 0;                                                                                   \
    for (; i < count; i++) {                                                                       \
      total += one(i);                                                                             \
    }                                                                                              \
    for (uint64_t k = 0; k < SUM_LANES * step; k++) {                                              \
      total += sums[k / step][k % step];                                                           \
    }                                                                                              \
    uint64_t bits = 0;                                                                             \
    memcpy(&bits, &total, sizeof total);                                                           \
    __asm__ volatile("" ::"r"(a), "r"(b) : "memory");                                              \
    return bits;                                                                                   \
  }

#define MANY_WORDS(i)  (*(const words *)(const void *)(a + (i)))
#define ONE_WORD(i)    a[i]
#define DOUBLES(p)     (*(const f64s *)(const void *)(p))
#define CONVERTED(p)   __builtin_convertvector(*(const half_f32s *)(const void *)(p), f64s)
#define MANY_F32(i)    (CONVERTED(a + (i)) * CONVERTED(b + (i)))
#define MANY_F64(i)    (DOUBLES(a + (i)) * DOUBLES(b + (i)))
#define ONE_PRODUCT(i) ((double)a[i] * (double)b[i])

#define DEFINE_SUMS(suffix, attributes)                                                            \
  DEFINE_SUM(read_##suffix, attributes, uint32_t, uint32_t, words, MANY_WORDS, ONE_WORD)           \
  DEFINE_SUM(dot_f32_##suffix, attributes, float, double, f64s, MANY_F32, ONE_PRODUCT)             \
  DEFINE_SUM(dot_f64_##suffix, attributes, double, double, f64s, MANY_F64, ONE_PRODUCT)

struct loops {
  host_stream_loop copy;
  host_stream_loop write;
  host_stream_loop mul[2]; /* f32, f64 */
  host_stream_loop add[2];
  host_stream_loop triad[2];
  host_stream_loop dot[2];
  host_stream_loop read;
};

DEFINE_SUMS(plain, )
DEFINE_MAPS(plain, , STORE_PLAIN, ORDER_STORES, plain)

#if defined(__x86_64__)

#define AVX2                       __attribute__((target("avx2")))
#define STORE_NT(V, place, result) _mm256_stream_si256((void *)(place), (__m256i)(result))

DEFINE_SUMS(avx2, AVX2)
DEFINE_MAPS(avx2, AVX2, STORE_PLAIN, ORDER_STORES, avx2)
DEFINE_MAPS(nt, AVX2, STORE_NT, _mm_sfence, avx2)

static const struct loops *loops_for(bool past_caches) {
  return !__builtin_cpu_supports("avx2") ? &loops_plain : past_caches ? &loops_nt : &loops_avx2;
}

#elif defined(__aarch64__)

/* STNP takes a pair of registers, each half a vector of 4 or 8 elements. */
#define LOW(v)                                                                                     \
  __builtin_choose_expr(sizeof(v)[0] == 8, __builtin_shufflevector(v, v, 0, 1),                    \
                        __builtin_shufflevector(v, v, 0, 1, 2, 3))
#define HIGH(v)                                                                                    \
  __builtin_choose_expr(sizeof(v)[0] == 8, __builtin_shufflevector(v, v, 2, 3),                    \
                        __builtin_shufflevector(v, v, 4, 5, 6, 7))
#define STORE_NT(V, place, result)                                                                 \
  __asm__ volatile("stnp %q1, %q2, %0"                                                             \
                   : "=Q"(*(V *)(void *)(place))                                                   \
                   : "w"(LOW(result)), "w"(HIGH(result)))

DEFINE_MAPS(nt, , STORE_NT, ORDER_STORES, plain)

static const struct loops *loops_for(bool past_caches) {
  return past_caches ? &loops_nt : &loops_plain;
}

#else

static const struct loops *loops_for(bool past_caches) {
  (void)past_caches;
  return &loops_plain;
}

#endif

host_stream_loop host_stream_choose(enum stream_op op, enum number_type type,
                                    uint64_t footprint_bytes, uint64_t cache_bytes) {
  const struct loops *loops = loops_for(cache_bytes != 0 && footprint_bytes >= cache_bytes);
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
    return loops->dot[wide];
  case STREAM_READ:
    return loops->read;
  case STREAM_WRITE:
    return loops->write;
  case stream_op_name_count:
    break;
  }
  return NULL;
}
