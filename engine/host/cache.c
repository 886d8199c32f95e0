#include "engine/host/cache.h"

#include "engine/base/clock.h"
#include "engine/base/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

enum { PROOF_ROUNDS = 15, PROOF_BYTES = 128 << 10, LINE_FALLBACK = 64, LINE_MAX = 256 };

#if defined(__x86_64__)

uint64_t cache_line_bytes(void) {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  uint64_t line = __get_cpuid(1, &a, &b, &c, &d) != 0 ? (b >> 8 & 0xff) * UINT64_C(8) : 0;
  return line != 0 ? line : LINE_FALLBACK;
}

/* Unordered among themselves: many lines are on their way at once. */
__attribute__((target("clflushopt"))) static void flush_unordered(const char *from, const char *to,
                                                                  uint64_t line) {
  for (const char *p = from; p < to; p += line) {
    _mm_clflushopt((void *)(uintptr_t)p);
  }
}

static void flush_ordered(const char *from, const char *to, uint64_t line) {
  for (const char *p = from; p < to; p += line) {
    _mm_clflush(p);
  }
}

static bool flush_lines(const char *from, const char *to, uint64_t line) {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  _mm_mfence();
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_CLFLUSHOPT) != 0) {
    flush_unordered(from, to, line);
  } else {
    flush_ordered(from, to, line); /* part of x86-64 */
  }
  _mm_mfence(); /* sfence would let later loads pass the flushes */
  return true;
}

#elif defined(__aarch64__)

uint64_t cache_line_bytes(void) {
  uint64_t type;
  __asm__("mrs %0, ctr_el0" : "=r"(type));
  return UINT64_C(4) << (type >> 16 & 0xf); /* DminLine: log2 of 4-byte words */
}

static bool flush_lines(const char *from, const char *to, uint64_t line) {
  __asm__ volatile("dsb sy" ::: "memory");
  for (const char *p = from; p < to; p += line) {
    __asm__ volatile("dc civac, %0" ::"r"(p) : "memory");
  }
  __asm__ volatile("dsb sy\n\tisb" ::: "memory");
  return true;
}

#elif defined(__powerpc64__)

uint64_t cache_line_bytes(void) {
  long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
  return line > 0 ? (uint64_t)line : 128;
}

static bool flush_lines(const char *from, const char *to, uint64_t line) {
  for (const char *p = from; p < to; p += line) {
    __asm__ volatile("dcbf 0, %0" ::"r"(p) : "memory");
  }
  __asm__ volatile("sync\n\tisync" ::: "memory");
  return true;
}

#else

uint64_t cache_line_bytes(void) {
  long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
  return line > 0 ? (uint64_t)line : LINE_FALLBACK;
}

static bool flush_lines(const char *from, const char *to, uint64_t line) {
  (void)from;
  (void)to;
  (void)line;
  return false;
}

#endif

bool cache_flush(const void *address, uint64_t size_bytes) {
  const uint64_t line = cache_line_bytes();
  const char *first = (const char *)address - (uintptr_t)address % line;
  return flush_lines(first, (const char *)address + size_bytes, line);
}

/* Links the lines of the probe to one circle in random order (Sattolo's shuffle). */
static void link_probe(unsigned char *probe, uint64_t size_bytes, uint64_t line) {
  enum { LINES_MAX = PROOF_BYTES / 16 };
  uint32_t order[LINES_MAX];
  uint32_t lines = (uint32_t)(size_bytes / line);
  uint64_t random = 1;
  for (uint32_t i = 0; i < lines; i++) {
    order[i] = i;
  }
  for (uint32_t i = lines - 1; i > 0; i--) {
    uint32_t j = (uint32_t)(random_next(&random) % i);
    uint32_t swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
  for (uint32_t i = 0; i < lines; i++) {
    void *next = probe + order[(i + 1) % lines] * line;
    memcpy(probe + order[i] * line, &next, sizeof next);
  }
}

static uint64_t time_circle(void *probe, uint64_t lines) {
  void *volatile *at = probe;
  uint64_t start = clock_now_ns();
  for (uint64_t i = 0; i < lines; i++) {
    at = *at;
  }
  uint64_t end = clock_now_ns();
  /* The last address is looked at, so that no load can be left out. */
  return end - start + (at == NULL);
}

static int compare_times(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a;
  uint64_t y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void prove_flush(bool (*flush)(const void *address, uint64_t size_bytes),
                        unsigned char *probe, uint64_t size_bytes,
                        struct cache_flush_proof *proof) {
  const uint64_t line = cache_line_bytes();
  *proof = (struct cache_flush_proof){.probe_bytes = size_bytes};
  if (line < 16 || line > LINE_MAX) {
    return;
  }
  memset(probe, 0, size_bytes);
  link_probe(probe, size_bytes, line);
  const uint64_t lines = size_bytes / line;
  uint64_t warm[PROOF_ROUNDS];
  uint64_t flushed[PROOF_ROUNDS];
  proof->supported = true;
  for (int round = 0; proof->supported && round < PROOF_ROUNDS; round++) {
    for (uint64_t i = 0; i < lines; i++) { /* as they are: what numa_write_lines() does */
      __atomic_fetch_or(probe + i * line, (unsigned char)0, __ATOMIC_RELAXED);
    }
    warm[round] = time_circle(probe, lines);
    proof->supported = flush(probe, size_bytes);
    flushed[round] = time_circle(probe, lines);
  }
  if (!proof->supported) {
    return;
  }
  qsort(warm, PROOF_ROUNDS, sizeof *warm, compare_times);
  qsort(flushed, PROOF_ROUNDS, sizeof *flushed, compare_times);
  proof->warm_ns = warm[PROOF_ROUNDS / 2];
  proof->flushed_ns = flushed[PROOF_ROUNDS / 2];
  proof->works = proof->flushed_ns >= 2 * proof->warm_ns &&
                 flushed[PROOF_ROUNDS / 4] > warm[PROOF_ROUNDS - 1 - PROOF_ROUNDS / 4];
}

void cache_flush_prove_with(bool (*flush)(const void *address, uint64_t size_bytes),
                            struct cache_flush_proof *proof) {
  unsigned char *probe = aligned_alloc(4096, PROOF_BYTES);
  *proof = (struct cache_flush_proof){.probe_bytes = PROOF_BYTES};
  if (probe != NULL) {
    prove_flush(flush, probe, PROOF_BYTES, proof);
  }
  free(probe);
}

void cache_flush_prove(struct cache_flush_proof *proof) {
  cache_flush_prove_with(cache_flush, proof);
}

void cache_flush_prove_at(void *memory, uint64_t size_bytes, struct cache_flush_proof *proof) {
  const uint64_t line = cache_line_bytes();
  unsigned char *first = memory;
  const uint64_t before = (line - (uintptr_t)first % line) % line;
  const uint64_t rest = (size_bytes - before) / line * line;
  prove_flush(cache_flush, first + before, rest < PROOF_BYTES ? rest : PROOF_BYTES, proof);
}

/* One line of a file of /sys; false when there is none. */
static bool read_cache_file(int cpu, int index, const char *name, char *text, size_t size) {
  char path[128];
  (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index,
                 name);
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    return false;
  }
  bool read = fgets(text, (int)size, file) != NULL;
  (void)fclose(file);
  return read;
}

/* The number that such a file begins with ("0-3,8" gives 0); false when there is none. */
static bool read_cache_number(int cpu, int index, const char *name, int *number) {
  char text[64];
  return read_cache_file(cpu, index, name, text, sizeof text) && sscanf(text, "%d", number) == 1;
}

/* Size of the highest-level cache of one processor, and the lowest processor that shares it. */
static uint64_t last_level_of(int cpu, int *first_sharer) {
  uint64_t size_bytes = 0;
  int highest = 0;
  int level = 0;
  for (int index = 0; read_cache_number(cpu, index, "level", &level); index++) {
    char text[64];
    uint64_t number = 0;
    char unit = 'K';
    if (level <= highest || !read_cache_file(cpu, index, "size", text, sizeof text) ||
        sscanf(text, "%" SCNu64 "%c", &number, &unit) < 1) {
      continue;
    }
    highest = level;
    size_bytes = number << (unit == 'M' ? 20 : unit == 'G' ? 30 : 10);
    if (!read_cache_number(cpu, index, "shared_cpu_list", first_sharer)) {
      *first_sharer = cpu;
    }
  }
  return size_bytes;
}

uint64_t cache_last_level_bytes(const int *cpus, size_t count) {
  int *seen = calloc(count + 1, sizeof *seen);
  size_t seen_count = 0;
  uint64_t total = 0;
  for (size_t i = 0; seen != NULL && i < count; i++) {
    int first = cpus[i];
    uint64_t size_bytes = last_level_of(cpus[i], &first);
    size_t at = 0;
    while (at < seen_count && seen[at] != first) {
      at++;
    }
    if (at == seen_count) {
      seen[seen_count++] = first;
      total += size_bytes;
    }
  }
  free(seen);
  return total;
}
