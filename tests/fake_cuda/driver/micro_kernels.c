/* What a kernel is follows from its name, as in kernels/kernels.h. Times are rough: loads and
 * instructions take what they take on an H200. */
#include "engine/base/macros.h"
#include "tests/fake_cuda/driver/kernels.h"

#include "tests/fake_cuda/driver/stream.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct gpu *gpu_of(const struct kernel_launch *launch) {
  return &streams_links()->config->machine.gpus[launch->context->gpu];
}

static double clock_ghz(const struct kernel_launch *launch) {
  return (double)gpu_of(launch)->sm_clock_max_khz / 1e6;
}

/* Every SM that has a block begins and ends with the rest. */
void write_spans(struct kernel_launch *launch, uint64_t address, double elapsed_ns) {
  struct sm_span *spans = kernel_memory(launch, address, SM_SPANS * sizeof *spans);
  const uint32_t sm_count = gpu_of(launch)->sm_count;
  const uint64_t begin = 1000000;
  for (uint32_t sm = 0; spans != NULL && sm < sm_count && sm < launch->grid; sm++) {
    spans[sm] = (struct sm_span){
        .first_cycle = begin,
        .last_cycle = begin + (uint64_t)(elapsed_ns * clock_ghz(launch)) + 1,
        .first_ns = begin,
        .last_ns = begin + (uint64_t)elapsed_ns + 1,
    };
  }
}

/* ---- streams ---- */

/* Bytes per ns of a GPU's memory, for kernels that note cycles. */
static const double STREAM_BYTES_PER_NS = 4200;
/* Time of bytes from the L2 by that of bytes from memory. */
static const double L2_SHARE = 0.6;

static const char *stream_name(const struct kernel_launch *launch) {
  return kernel_text(launch->kernel->kernel) + strlen("haul_stream_");
}

static bool is(const char *name, const char *op) {
  return strncmp(name, op, strlen(op)) == 0;
}

static double stream_ns(const struct stream_arguments *stream) {
  const int arrays = (stream->out != 0) + (stream->a != 0) + (stream->b != 0);
  return arrays * (double)stream->passes * (double)stream->size_bytes / STREAM_BYTES_PER_NS;
}

/* What the passes over an array are worth in bytes of memory: those that the L2 holds take less. */
static uint64_t stream_moved(const struct kernel_launch *launch,
                             const struct stream_arguments *stream, uint64_t array) {
  const bool held = caches_hold(launch->context->gpu, array, stream->size_bytes);
  return (uint64_t)((held ? L2_SHARE : 1) * (double)stream->passes * (double)stream->size_bytes);
}

void stream_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(stream_arguments, stream, launch);
  const struct kernel_access wanted[] = {
      {stream.out, stream.size_bytes, stream_moved(launch, &stream, stream.out), true},
      {stream.a, stream.size_bytes, stream_moved(launch, &stream, stream.a), false},
      {stream.b, stream.size_bytes, stream_moved(launch, &stream, stream.b), false},
      {stream.results, launch->grid * sizeof(uint64_t), 0, true},
      {stream.spans, SM_SPANS * sizeof(struct sm_span), 0, true},
  };
  *accesses = (struct kernel_accesses){0};
  for (size_t i = 0; i < COUNT_OF(wanted); i++) {
    if (wanted[i].address != 0) {
      accesses->items[accesses->count++] = wanted[i];
    }
  }
}

/* map_f32() and map_f64(): out[i] of mul, add and triad; b is NULL for mul. */
#define DEFINE_MAP(suffix, number)                                                                 \
  static void map_##suffix(const char *name, const struct stream_arguments *stream, number *out,   \
                           const number *a, const number *b) {                                     \
    for (uint64_t i = 0; i < stream->size_bytes / sizeof *out; i++) {                              \
      out[i] = is(name, "mul") ? 3 * a[i] : is(name, "add") ? a[i] + b[i] : a[i] + 3 * b[i];       \
    }                                                                                              \
  }
DEFINE_MAP(f32, float)
DEFINE_MAP(f64, double)

static uint64_t sum_words(const struct kernel_launch *launch, const struct stream_arguments *stream,
                          const uint32_t *a) {
  const uint64_t sweeps = stream->passes * (stream->parts > 0 ? launch->grid / stream->parts : 1);
  uint32_t sum = 0;
  for (uint64_t i = 0; i < stream->size_bytes / sizeof *a; i++) {
    sum += a[i];
  }
  return (uint32_t)(sum * sweeps);
}

static uint64_t sum_products(const struct stream_arguments *stream, bool wide, const void *a,
                             const void *b) {
  const float *a32 = a;
  const float *b32 = b;
  const double *a64 = a;
  const double *b64 = b;
  const uint64_t count = stream->size_bytes / (wide ? sizeof *a64 : sizeof *a32);
  /* In one sum, and so with more digits than a GPU's many short ones need. */
  long double total = 0;
  for (uint64_t i = 0; i < count; i++) {
    total += wide ? (long double)a64[i] * b64[i] : (long double)a32[i] * b32[i];
  }
  const double sum = (double)(total * stream->passes);
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  return bits;
}

static void stream_sum(struct kernel_launch *launch, const struct stream_arguments *stream,
                       bool wide, const void *a, const void *b) {
  uint64_t *results = kernel_memory(launch, stream->results, launch->grid * sizeof *results);
  if (results == NULL) {
    return;
  }
  memset(results, 0, launch->grid * sizeof *results); /* one block does it all */
  results[0] = b == NULL ? sum_words(launch, stream, a) : sum_products(stream, wide, a, b);
}

static void stream_map(const char *name, bool wide, const struct stream_arguments *stream,
                       void *out, const void *a, const void *b) {
  if (is(name, "copy")) {
    memcpy(out, a, stream->size_bytes);
  } else if (is(name, "write")) {
    for (uint64_t i = 0; i < stream->size_bytes / sizeof(uint32_t); i++) {
      ((uint32_t *)out)[i] = stream_word(i);
    }
  } else if (wide) {
    map_f64(name, stream, out, a, b);
  } else {
    map_f32(name, stream, out, a, b);
  }
}

void stream_run(struct kernel_launch *launch) {
  ARGUMENTS(stream_arguments, stream, launch);
  const char *name = stream_name(launch);
  const bool wide = strstr(name, "_f64") != NULL;
  void *out = stream.out != 0 ? kernel_memory(launch, stream.out, stream.size_bytes) : NULL;
  const void *a = stream.a != 0 ? kernel_memory(launch, stream.a, stream.size_bytes) : NULL;
  const void *b = stream.b != 0 ? kernel_memory(launch, stream.b, stream.size_bytes) : NULL;
  if (launch->illegal) {
    return;
  }
  if (is(name, "dot") || is(name, "read")) {
    stream_sum(launch, &stream, wide, a, b);
  } else {
    stream_map(name, wide, &stream, out, a, b);
  }
  if (stream.spans != 0) {
    write_spans(launch, stream.spans, stream_ns(&stream));
  }
}

void stream_data_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(stream_data_arguments, data, launch);
  const uint64_t bytes = data.count * data.values.element_bytes;
  const bool fill = launch->kernel->kernel == KERNEL_STREAM_FILL;
  *accesses = (struct kernel_accesses){.count = 1, .items = {{data.address, bytes, bytes, fill}}};
}

void stream_fill_run(struct kernel_launch *launch) {
  ARGUMENTS(stream_data_arguments, data, launch);
  const uint32_t width = data.values.element_bytes;
  unsigned char *bytes = kernel_memory(launch, data.address, data.count * width);
  for (uint64_t i = 0; bytes != NULL && i < data.count; i++) {
    const uint64_t bits = stream_bits(&data.values, i);
    memcpy(bytes + i * width, &bits, width);
  }
}

void stream_compare_run(struct kernel_launch *launch) {
  ARGUMENTS(stream_data_arguments, data, launch);
  const uint32_t width = data.values.element_bytes;
  const unsigned char *bytes = kernel_memory(launch, data.address, data.count * width);
  struct pattern_compare_result *result = kernel_memory(launch, data.result, sizeof *result);
  for (uint64_t i = data.count; bytes != NULL && result != NULL && i > 0; i--) {
    const uint64_t bits = stream_bits(&data.values, i - 1);
    if (memcmp(bytes + (i - 1) * width, &bits, width) != 0) {
      result->first_offset = i - 1;
      result->bad_bytes++;
    }
  }
}

/* ---- instructions ---- */

/* Cycles of a dependent instruction; an SM begins four warps' instructions per cycle. */
enum { INSTRUCTION_CYCLES = 4, WARPS_PER_CYCLE = 4, WARP = 32 };

struct chain_kind {
  char op; /* a, m, f, 3: add, mul, fma, add3 */
  char type[4];
  uint32_t ilp;
};

static struct chain_kind chain_kind_of(const struct kernel_launch *launch) {
  struct chain_kind kind = {0};
  char op[5];
  (void)sscanf(kernel_text(launch->kernel->kernel), "haul_arithmetic_%4[^_]_%3s_ilp%u", op,
               kind.type, &kind.ilp);
  kind.op = op[op[3] == '3' ? 3 : 0];
  return kind;
}

static double arithmetic_ns(const struct kernel_launch *launch, uint64_t rounds) {
  const uint32_t sm_count = gpu_of(launch)->sm_count;
  const uint32_t blocks = (launch->grid + sm_count - 1) / sm_count;
  const uint32_t warps = blocks * ((launch->block + WARP - 1) / WARP);
  const double issue = (double)warps / WARPS_PER_CYCLE;
  const double chain = (double)INSTRUCTION_CYCLES / chain_kind_of(launch).ilp;
  return (double)rounds * ARITHMETIC_BODY * (issue > chain ? issue : chain) / clock_ghz(launch);
}

void arithmetic_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(arithmetic_arguments, chains, launch);
  const uint64_t threads = (uint64_t)launch->grid * launch->block;
  *accesses = (struct kernel_accesses){
      .count = 2,
      .items = {{chains.results, threads * sizeof(uint64_t), 0, true},
                {chains.spans, SM_SPANS * sizeof(struct sm_span), 0, true}},
      .extra_ns = arithmetic_ns(launch, chains.rounds)};
}

/* One step in f64 with the operands of the chain; the type rounds it. */
static double plain_step(char op, double x, double b, double c) {
  return op == 'a' ? x + c : op == 'm' ? x * b : x * b + c;
}

static double half(double x) {
  int exponent;
  (void)frexp(x, &exponent);
  const double unit = ldexp(1, exponent - 11);
  return nearbyint(x / unit) * unit;
}

static uint32_t half_bits(double x) {
  int exponent;
  const double fraction = frexp(fabs(x), &exponent);
  const uint32_t bits = ((uint32_t)(exponent + 14) << 10) + ((uint32_t)ldexp(fraction, 11) - 1024);
  return x == 0 ? 0 : bits | (x < 0 ? 0x8000U : 0);
}

static const struct arithmetic_pair pairs[2] = {ARITHMETIC_PAIR_FIRST, ARITHMETIC_PAIR_SECOND};

static uint64_t f16_chain(char op, double x, uint64_t steps) {
  for (uint64_t i = 0; i < steps; i++) {
    const struct arithmetic_pair *by = &pairs[i / 8 % 2];
    x = half(plain_step(op, x, by->b, by->c));
  }
  return half_bits(x);
}

/* Products of two f32 are exact in f64; their sum with a third is not, hence fmaf. */
static uint64_t f32_chain(char op, float x, uint64_t steps) {
  for (uint64_t i = 0; i < steps; i++) {
    const struct arithmetic_pair *by = &pairs[i / 8 % 2];
    x = op == 'f' ? fmaf(x, (float)by->b, (float)by->c)
                  : (float)plain_step(op, (double)x, by->b, by->c);
  }
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static uint64_t f64_chain(char op, double x, uint64_t steps) {
  for (uint64_t i = 0; i < steps; i++) {
    const struct arithmetic_pair *by = &pairs[i / 8 % 2];
    x = op == 'f' ? fma(x, by->b, by->c) : plain_step(op, x, by->b, by->c);
  }
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static uint64_t i32_chain(char op, uint32_t start, uint64_t steps) {
  uint32_t numbers[2] = {2 * start + 3, 2 * start + 5};
  for (uint64_t i = 0; i < steps; i++) {
    const uint32_t mine = numbers[i % 2];
    const uint32_t other = numbers[(i + 1) % 2];
    numbers[i % 2] = op == 'a'   ? mine + other
                     : op == '3' ? mine + other + ARITHMETIC_INTEGER_B
                     : op == 'm' ? mine * other
                                 : mine * ARITHMETIC_INTEGER_B + other;
  }
  return (uint64_t)numbers[1] << 32 | numbers[0];
}

static uint64_t chain_end(const struct chain_kind *kind, uint32_t start, uint64_t steps) {
  const double from = 1 + start / 64.0;
  if (strcmp(kind->type, "f16") == 0) {
    return f16_chain(kind->op, from, steps) | f16_chain(kind->op, from + 1 / 64.0, steps) << 16;
  }
  if (strcmp(kind->type, "f32") == 0) {
    return f32_chain(kind->op, (float)from, steps);
  }
  return strcmp(kind->type, "f64") == 0 ? f64_chain(kind->op, from, steps)
                                        : i32_chain(kind->op, start, steps);
}

void arithmetic_run(struct kernel_launch *launch) {
  ARGUMENTS(arithmetic_arguments, chains, launch);
  const struct chain_kind kind = chain_kind_of(launch);
  const uint64_t threads = (uint64_t)launch->grid * launch->block;
  const uint64_t steps = chains.rounds * ARITHMETIC_BODY / kind.ilp;
  uint64_t *results = kernel_memory(launch, chains.results, threads * sizeof *results);
  uint64_t ends[ARITHMETIC_LANES] = {0};
  for (uint32_t lane = 0; lane < ARITHMETIC_LANES; lane++) {
    for (uint32_t chain = 0; chain < kind.ilp; chain++) {
      ends[lane] =
          arithmetic_fold(ends[lane], chain_end(&kind, arithmetic_start(lane, chain), steps));
    }
  }
  for (uint64_t i = 0; results != NULL && i < threads; i++) {
    results[i] = ends[i % launch->block % ARITHMETIC_LANES];
  }
  write_spans(launch, chains.spans, arithmetic_ns(launch, chains.rounds));
}
