#include "engine/host/copy.h"

#include "engine/base/macros.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static bool always(void) {
  return true;
}

static void copy_libc(void *target, const void *source, size_t size_bytes) {
  memcpy(target, source, size_bytes);
  /* Keeps the compiler from merging or dropping iterations of a caller's loop over a copy. */
  __asm__ volatile("" ::"r"(target), "r"(source) : "memory");
  __atomic_thread_fence(__ATOMIC_RELEASE); /* no instruction on x86, where stores are in order */
}

#if defined(__x86_64__) || defined(__aarch64__)

/* Copies up to the first line boundary of the target; returns how much. */
static size_t copy_head(void *target, const void *source, size_t size_bytes) {
  size_t head = (64 - (uintptr_t)target % 64) % 64;
  head = head < size_bytes ? head : size_bytes;
  memcpy(target, source, head);
  return head;
}

#endif

#if defined(__x86_64__)

/* Defines one function: whole target lines by vectors of `width` bytes, four lines per turn, the
 * rest by memcpy; fenced at the end, since non-temporal stores are not ordered by themselves. */
#define DEFINE_COPY(name, isa, vector, width, load, store)                                         \
  __attribute__((target(isa))) static void name(void *target, const void *source,                  \
                                                size_t size_bytes) {                               \
    size_t done = copy_head(target, source, size_bytes);                                           \
    char *to = (char *)target + done;                                                              \
    const char *from = (const char *)source + done;                                                \
    const size_t turns = (size_bytes - done) / 256;                                                \
    for (size_t turn = 0; turn < turns; turn++, to += 256, from += 256) {                          \
      vector part[256 / (width)];                                                                  \
      _Pragma("GCC unroll 16") for (size_t i = 0; i < 256 / (width); i++) {                        \
        part[i] = load(from + i * (width));                                                        \
      }                                                                                            \
      _Pragma("GCC unroll 16") for (size_t i = 0; i < 256 / (width); i++) {                        \
        store(to + i * (width), part[i]);                                                          \
      }                                                                                            \
    }                                                                                              \
    memcpy(to, from, (size_bytes - done) % 256);                                                   \
    _mm_sfence();                                                                                  \
  }

#define LOAD_128(p)        _mm_loadu_si128((const void *)(p))
#define STORE_128(p, v)    _mm_stream_si128((void *)(p), (v))
#define LOAD_256(p)        _mm256_loadu_si256((const void *)(p))
#define STORE_256(p, v)    _mm256_stream_si256((void *)(p), (v))
#define LOAD_512(p)        _mm512_loadu_si512((const void *)(p))
#define STORE_512(p, v)    _mm512_stream_si512((void *)(p), (v))
#define STREAM_LOAD_256(p) _mm256_stream_load_si256((const void *)(p))
#define STREAM_LOAD_512(p) _mm512_stream_load_si512((void *)(uintptr_t)(p))

DEFINE_COPY(copy_nt_sse2, "sse2", __m128i, 16, LOAD_128, STORE_128)
DEFINE_COPY(copy_nt_avx2, "avx2", __m256i, 32, LOAD_256, STORE_256)
DEFINE_COPY(copy_nt_avx512, "avx512f", __m512i, 64, LOAD_512, STORE_512)
DEFINE_COPY(copy_stream_avx2_aligned, "avx2", __m256i, 32, STREAM_LOAD_256, STORE_256)
DEFINE_COPY(copy_stream_avx512_aligned, "avx512f", __m512i, 64, STREAM_LOAD_512, STORE_512)

/* Streaming loads need source and target at the same place of a line. */
static bool same_place(const void *target, const void *source) {
  return ((uintptr_t)target - (uintptr_t)source) % 64 == 0;
}

static void copy_stream_avx2(void *target, const void *source, size_t size_bytes) {
  (same_place(target, source) ? copy_stream_avx2_aligned : copy_nt_avx2)(target, source,
                                                                         size_bytes);
}

static void copy_stream_avx512(void *target, const void *source, size_t size_bytes) {
  (same_place(target, source) ? copy_stream_avx512_aligned : copy_nt_avx512)(target, source,
                                                                             size_bytes);
}

static bool has_avx2(void) {
  return __builtin_cpu_supports("avx2");
}

static bool has_avx512f(void) {
  return __builtin_cpu_supports("avx512f");
}

#elif defined(__aarch64__)

/* Whole target lines by pairs of 16-byte vectors, stored with the hint that nobody reads them soon
 * ("Arm Architecture Reference Manual", STNP (SIMD&FP)); the rest by memcpy. */
static void copy_nt_stnp(void *target, const void *source, size_t size_bytes) {
  size_t done = copy_head(target, source, size_bytes);
  char *to = (char *)target + done;
  const char *from = (const char *)source + done;
  for (size_t turns = (size_bytes - done) / 64; turns > 0; turns--, to += 64, from += 64) {
    __asm__ volatile("ldp q0, q1, [%1]\n\t"
                     "ldp q2, q3, [%1, #32]\n\t"
                     "stnp q0, q1, [%0]\n\t"
                     "stnp q2, q3, [%0, #32]"
                     :
                     : "r"(to), "r"(from)
                     : "v0", "v1", "v2", "v3", "memory");
  }
  memcpy(to, from, (size_bytes - done) % 64);
  __atomic_thread_fence(__ATOMIC_RELEASE);
}

#endif

const struct host_copy host_copies[] = {
#if defined(__x86_64__)
    {"nt_avx2", copy_nt_avx2, true, false, has_avx2},
    {"nt_avx512", copy_nt_avx512, true, false, has_avx512f},
    {"nt_sse2", copy_nt_sse2, true, false, always},
    {"stream_avx512", copy_stream_avx512, true, true, has_avx512f},
    {"stream_avx2", copy_stream_avx2, true, true, has_avx2},
#elif defined(__aarch64__)
    {"nt_stnp", copy_nt_stnp, true, false, always},
#endif
    {"memcpy", copy_libc, false, false, always},
};
const size_t host_copies_count = COUNT_OF(host_copies);

const struct host_copy *host_copy_choose(bool write_combined, uint64_t footprint_bytes,
                                         uint64_t cache_bytes) {
  bool past_caches = cache_bytes != 0 && footprint_bytes >= cache_bytes;
  for (size_t i = 0; i < host_copies_count - 1 && (write_combined || past_caches); i++) {
    const struct host_copy *candidate = &host_copies[i];
    if (candidate->streaming_loads == write_combined && candidate->supported()) {
      return candidate;
    }
  }
  return &host_copies[host_copies_count - 1];
}
