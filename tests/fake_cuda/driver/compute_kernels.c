/* The kernels that compute. What a kernel takes beside its bytes is its operations by what the SMs
 * that it has do at best, of which a matrix product gets four fifths. */
#include "tests/fake_cuda/driver/kernels.h"

#include "engine/machine/machine.h"
#include "tests/fake_cuda/driver/stream.h"

#include <stdlib.h>

static const double MATMUL_SHARE = 0.8;

static double compute_ns(const struct kernel_launch *launch, double operations, bool tensor) {
  const struct gpu *gpu = &streams_links()->config->machine.gpus[launch->context->gpu];
  const double peak = (double)(tensor ? peak_tensor(gpu) : peak_fma(gpu));
  const double share = launch->grid < gpu->sm_count ? (double)launch->grid / gpu->sm_count : 1;
  return peak > 0 ? operations * 1e9 / (peak * share) : 1;
}

/* ---- matrix products ---- */

void matmul_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(matmul_arguments, x, launch);
  const uint64_t numbers = (uint64_t)x.side * x.side;
  *accesses = (struct kernel_accesses){
      .count = 3,
      .items = {{x.out, 4 * numbers, 0, true},
                {x.a, 2 * numbers, 0, false},
                {x.b, 2 * numbers, 0, false}},
      .extra_ns = compute_ns(launch, 2 * (double)numbers * x.side, true) / MATMUL_SHARE};
}

static float of_bf16(uint16_t bits) {
  const uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

/* Whole numbers, as small as kernels/compute_values.h says. */
static int16_t *whole_numbers(const uint16_t *from, uint64_t count) {
  int16_t *numbers = malloc(count * sizeof *numbers);
  for (uint64_t i = 0; numbers != NULL && i < count; i++) {
    numbers[i] = (int16_t)of_bf16(from[i]);
  }
  return numbers;
}

static void multiply(const int16_t *a, const int16_t *b, uint32_t side, float *out) {
  enum { TOGETHER = 4 };
  for (uint64_t i = 0; i < (uint64_t)side * side; i += TOGETHER) {
    const int16_t *row = a + i / side * side;
    const int16_t *column = b + i % side * side;
    int32_t sums[TOGETHER] = {0};
    for (uint32_t k = 0; k < side; k++) {
      for (uint32_t c = 0; c < TOGETHER; c++) {
        sums[c] += row[k] * column[c * side + k];
      }
    }
    for (uint32_t c = 0; c < TOGETHER; c++) {
      out[i + c] = (float)sums[c];
    }
  }
}

static uint64_t hash_of(const uint16_t *numbers, uint64_t count) {
  uint64_t hash = count;
  for (uint64_t i = 0; i < count; i += 4) {
    uint64_t word;
    memcpy(&word, numbers + i, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 32;
  }
  return hash;
}

/* The product, which stays the same for as long as nobody writes to the operands: a trial repeats
 * it. NULL: no memory. The simulator runs one kernel at a time. */
static const float *product_of(const uint16_t *a, const uint16_t *b, uint32_t side) {
  static struct {
    uint64_t a, b;
    uint32_t side;
    float *out;
  } last;
  const uint64_t count = (uint64_t)side * side;
  const uint64_t hash_a = hash_of(a, count);
  const uint64_t hash_b = hash_of(b, count);
  if (last.out != NULL && last.side == side && last.a == hash_a && last.b == hash_b) {
    return last.out;
  }
  int16_t *numbers_a = whole_numbers(a, count);
  int16_t *numbers_b = whole_numbers(b, count);
  free(last.out);
  last.out = malloc(count * sizeof *last.out);
  if (numbers_a != NULL && numbers_b != NULL && last.out != NULL) {
    multiply(numbers_a, numbers_b, side, last.out);
    last.a = hash_a;
    last.b = hash_b;
    last.side = side;
  }
  free(numbers_a);
  free(numbers_b);
  return last.out;
}

void matmul_run(struct kernel_launch *launch) {
  ARGUMENTS(matmul_arguments, x, launch);
  const uint64_t numbers = (uint64_t)x.side * x.side;
  float *out = kernel_memory(launch, x.out, 4 * numbers);
  const uint16_t *a = kernel_memory(launch, x.a, 2 * numbers);
  const uint16_t *b = kernel_memory(launch, x.b, 2 * numbers);
  const float *product = launch->illegal ? NULL : product_of(a, b, x.side);
  if (product != NULL) {
    memcpy(out, product, 4 * numbers);
  }
}

/* ---- multiply-adds and triads ---- */

void fma_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(fma_arguments, x, launch);
  const double threads = (double)launch->grid * launch->block;
  *accesses = (struct kernel_accesses){
      .count = 1,
      .items = {{x.out, (uint64_t)threads * sizeof(float), 0, true}},
      .extra_ns = compute_ns(launch, 2 * threads * x.rounds * FMA_STEPS * FMA_CHAINS, false)};
}

void fma_run(struct kernel_launch *launch) {
  ARGUMENTS(fma_arguments, x, launch);
  const uint64_t threads = (uint64_t)launch->grid * launch->block;
  float *out = kernel_memory(launch, x.out, threads * sizeof *out);
  for (uint64_t thread = 0; out != NULL && thread < threads; thread++) {
    out[thread] = 0;
    for (int chain = 0; chain < FMA_CHAINS; chain++) {
      const float steps = (float)x.rounds * FMA_STEPS; /* with factor 1 */
      out[thread] += (float)compute_chain_start(thread, chain) + steps * x.add;
    }
  }
}

void triad_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(triad_arguments, x, launch);
  const uint64_t bytes = x.count * sizeof(float);
  *accesses = (struct kernel_accesses){
      .count = 3,
      .items = {{x.out, bytes, bytes, true},
                {x.a, bytes, bytes, false},
                {x.b, bytes, bytes, false}},
      .extra_ns =
          x.intensity > 16 ? compute_ns(launch, 2.0 * (double)x.count * x.intensity, false) : 0};
}

void triad_run(struct kernel_launch *launch) {
  ARGUMENTS(triad_arguments, x, launch);
  const uint64_t bytes = x.count * sizeof(float);
  float *out = kernel_memory(launch, x.out, bytes);
  const float *a = kernel_memory(launch, x.a, bytes);
  const float *b = kernel_memory(launch, x.b, bytes);
  for (uint64_t i = 0; !launch->illegal && i < x.count; i++) {
    out[i] = a[i] + (float)x.intensity * x.factor * b[i];
  }
}

/* ---- operands and checks ---- */

void compute_data_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(compute_data_arguments, x, launch);
  const uint64_t bytes = x.count * x.element_bytes;
  *accesses = (struct kernel_accesses){.count = 1, .items = {{x.address, bytes, bytes, true}}};
}

void compute_data_run(struct kernel_launch *launch) {
  ARGUMENTS(compute_data_arguments, x, launch);
  unsigned char *bytes = kernel_memory(launch, x.address, x.count * x.element_bytes);
  for (uint64_t i = 0; bytes != NULL && i < x.count; i++) {
    const float value = (float)compute_number(x.seed, i, x.element_bytes);
    const size_t cut = sizeof value - x.element_bytes; /* bf16: the upper half */
    memcpy(bytes + i * x.element_bytes, (const char *)&value + cut, x.element_bytes);
  }
}

void compute_check_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(compute_check_arguments, x, launch);
  *accesses = (struct kernel_accesses){
      .count = 1, .items = {{x.out, x.count * sizeof(float), x.count * sizeof(float), false}}};
}

void compute_check_run(struct kernel_launch *launch) {
  ARGUMENTS(compute_check_arguments, x, launch);
  const float *out = kernel_memory(launch, x.out, x.count * sizeof *out);
  struct pattern_compare_result *result = kernel_memory(launch, x.result, sizeof *result);
  if (launch->kernel->kernel == KERNEL_COMPUTE_CHECK_MATMUL) {
    const uint64_t operand_bytes = (uint64_t)x.side * x.side * 2;
    const uint16_t *a = kernel_memory(launch, x.a, operand_bytes);
    const uint16_t *b = kernel_memory(launch, x.b, operand_bytes);
    const float *product = launch->illegal ? NULL : product_of(a, b, x.side);
    for (uint64_t i = (uint64_t)x.side * x.side; product != NULL && i-- > 0;) {
      if (!(out[i] == product[i])) {
        result->first_offset = i;
        result->bad_bytes++;
      }
    }
    return;
  }
  const bool chains = launch->kernel->kernel == KERNEL_COMPUTE_CHECK_FMA;
  for (uint64_t i = x.count; !launch->illegal && i-- > 0;) {
    const int64_t expected =
        chains ? compute_chains_end(i, x.intensity)
               : compute_number(x.seed_a, i, 4) + x.intensity * compute_number(x.seed_b, i, 4);
    if (!(out[i] == (float)expected)) {
      result->first_offset = i;
      result->bad_bytes++;
    }
  }
}
