#include "engine/workload/chase_lines.h"

#include "engine/gpu/session.h"
#include "engine/machine/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the scores of two parts: how far their means are apart, in standard deviations (Ashman et al.
 * 1994, D). A normal distribution cut at its mean has 2.65, a uniform one 3.46; an H100 has 8. */
#define SEPARATION_LEAST 5.0
enum { POWER_STEPS = 24 }; /* of the power iteration: the first component is far above the others */

/* Scores of lines: the direction in which the rows of SMs vary most, by power iteration. weights:
 * of SMs. */
static void first_component(const struct chase_lines *lines, const float *rows, double *scores,
                            double *weights) {
  for (uint32_t line = 0; line < lines->count; line++) {
    scores[line] = rows[line];
  }
  for (int step = 0; step < POWER_STEPS; step++) {
    double square = 0;
    for (uint32_t sm = 0; sm < lines->sm_count; sm++) {
      const float *row = rows + (size_t)sm * lines->count;
      weights[sm] = 0;
      for (uint32_t line = 0; line < lines->count; line++) {
        weights[sm] += (double)row[line] * scores[line];
      }
    }
    memset(scores, 0, lines->count * sizeof *scores);
    for (uint32_t sm = 0; sm < lines->sm_count; sm++) {
      const float *row = rows + (size_t)sm * lines->count;
      for (uint32_t line = 0; line < lines->count; line++) {
        scores[line] += weights[sm] * (double)row[line];
      }
    }
    for (uint32_t line = 0; line < lines->count; line++) {
      square += scores[line] * scores[line];
    }
    for (uint32_t line = 0; line < lines->count && square > 0; line++) {
      scores[line] /= sqrt(square);
    }
  }
}

/* Each row less its mean: SMs differ in their distance to all lines, too. */
static void center_rows(const struct chase_lines *lines, const uint16_t *cycles, float *rows) {
  for (uint32_t sm = 0; sm < lines->sm_count; sm++) {
    const uint16_t *row = cycles + (size_t)sm * lines->count;
    double sum = 0;
    for (uint32_t line = 0; line < lines->count; line++) {
      sum += row[line];
    }
    for (uint32_t line = 0; line < lines->count; line++) {
      rows[(size_t)sm * lines->count + line] = (float)(row[line] - sum / lines->count);
    }
  }
}

/* Whether positive and negative scores are two classes. */
static bool scores_separate(const double *scores, uint32_t count) {
  double n[2] = {0}, sum[2] = {0}, square[2] = {0};
  for (uint32_t i = 0; i < count; i++) {
    const int part = scores[i] > 0;
    n[part]++;
    sum[part] += scores[i];
    square[part] += scores[i] * scores[i];
  }
  if (n[0] < 2 || n[1] < 2) {
    return false;
  }
  const double variance[2] = {square[0] / n[0] - sum[0] / n[0] * sum[0] / n[0],
                              square[1] / n[1] - sum[1] / n[1] * sum[1] / n[1]};
  const double apart = sum[1] / n[1] - sum[0] / n[0];
  return apart >= SEPARATION_LEAST * sqrt(fmax(0, variance[0] + variance[1]) / 2) && apart > 0;
}

bool chase_lines_divide(struct chase_lines *lines, const uint16_t *cycles) {
  float *rows = calloc((size_t)lines->sm_count * lines->count, sizeof *rows);
  double *scores = calloc(lines->count, sizeof *scores);
  double *weights = calloc(lines->sm_count, sizeof *weights);
  bool two = false;
  if (rows != NULL && scores != NULL && weights != NULL) {
    center_rows(lines, cycles, rows);
    first_component(lines, rows, scores, weights);
    two = scores_separate(scores, lines->count);
    for (uint32_t line = 0; line < lines->count; line++) {
      lines->line_part[line] = scores[line] > 0;
      lines->lines[lines->line_part[line]]++;
    }
    for (uint32_t sm = 0; sm < lines->sm_count; sm++) {
      lines->sm_part[sm] = weights[sm] < 0; /* of weight > 0: lines of part 1 take it longer */
      lines->sms[lines->sm_part[sm]]++;
    }
    two = two && lines->sms[0] > 0 && lines->sms[1] > 0;
  }
  free(weights);
  free(scores);
  free(rows);
  return two;
}

/* What all SMs note; cycles: sm_count rows. */
static enum status time_lines(struct cuda_session *session, int32_t gpu,
                              struct chase_lines_arguments *arguments, uint16_t *cycles,
                              struct error *err) {
  const struct cuda_driver *driver = &session->driver;
  CUstream stream = session->gpus[gpu].stream;
  const uint64_t bytes = (uint64_t)arguments->sm_count * arguments->count * sizeof *cycles;
  CUdeviceptr device = 0;
  RETURN_ON_ERROR(
      cuda_check(driver, driver->cuMemAlloc(&device, bytes), err, "allocating the times of lines"));
  arguments->cycles = device;
  enum status status = cuda_check(driver, driver->cuMemsetD8Async(device, 0, bytes, stream), err,
                                  "clearing the times of lines");
  status =
      THEN(status,
           cuda_check(driver,
                      driver->cuMemsetD8Async(arguments->address, 0,
                                              arguments->count * arguments->stride_bytes, stream),
                      err, "clearing lines"));
  status = THEN(status, cuda_session_launch(session, gpu, KERNEL_CHASE_LINES, arguments->sm_count,
                                            1, stream, arguments, err));
  status = THEN(status, cuda_check(driver, driver->cuMemcpyDtoHAsync(cycles, device, bytes, stream),
                                   err, "reading the times of lines"));
  status = THEN(status, cuda_session_wait(session, stream, "timing lines", err));
  (void)driver->cuMemFree(device);
  return status;
}

static enum status divide_lines(struct chase_lines *lines, const uint16_t *cycles,
                                struct error *err) {
  for (uint32_t sm = 0; sm < lines->sm_count; sm++) {
    if (cycles[(size_t)sm * lines->count] == 0) {
      return error_set(err, STATUS_UNSUPPORTED,
                       "the driver did not run one block on each SM: none ran on SM %u", sm);
    }
  }
  return chase_lines_divide(lines, cycles)
             ? STATUS_OK
             : error_set(err, STATUS_UNSUPPORTED,
                         "no line of the L2 cache is nearer to some SMs than to others: lines = "
                         "\"all\"");
}

enum status chase_lines_new(struct cuda_session *session, int32_t gpu, uint64_t address,
                            uint64_t stride_bytes, uint32_t count, struct chase_lines *lines,
                            struct error *err) {
  const uint32_t sm_count = session->machine->gpus[gpu].sm_count;
  uint16_t *cycles = calloc((size_t)sm_count * count, sizeof *cycles);
  struct chase_lines_arguments arguments = {
      .address = address, .stride_bytes = stride_bytes, .count = count, .sm_count = sm_count};
  struct chase_lines made = {.count = count,
                             .sm_count = sm_count,
                             .line_part = calloc(count, sizeof *made.line_part),
                             .sm_part = calloc(sm_count, sizeof *made.sm_part)};
  enum status status = STATUS_OK;
  if (cycles == NULL || made.line_part == NULL || made.sm_part == NULL) {
    status = error_set(err, STATUS_NO_MEMORY, "no memory for the times of %u lines", count);
  }
  status = THEN(status, cuda_session_use(session, gpu, err));
  status = THEN(status, time_lines(session, gpu, &arguments, cycles, err));
  status = THEN(status, divide_lines(&made, cycles, err));
  free(cycles);
  if (status != STATUS_OK) {
    chase_lines_fini(&made);
    return status;
  }
  *lines = made;
  return STATUS_OK;
}

void chase_lines_fini(struct chase_lines *lines) {
  free(lines->line_part);
  free(lines->sm_part);
  *lines = (struct chase_lines){0};
}
