#include "runner/analysis/identify.h"

#include "engine/base/arena.h"
#include "runner/statistics/sample.h"
#include "runner/statistics/share_test.h"

#include <math.h>
#include <stdlib.h>

ENUM_NAMES_DEFINE(identify_verdict, IDENTIFY_VERDICT_LIST)

enum { RUN_NONE = -1 };

/* Centres of every GPU and the scale of every feature, without the samples of one run. */
struct model {
  double *centres; /* gpu_count x feature_count; NAN: the GPU has no sample left */
  double *scales;
  size_t *counts; /* samples of every GPU */
};

struct identify {
  struct arena arena;
  const struct identify_sample *samples;
  size_t sample_count, gpu_count, feature_count;
  struct model whole;
  struct model part;
  double *scratch;   /* sample_count */
  double *distances; /* sample_count x gpu_count, of each sample left out; NAN: not tested */
  size_t *confusion; /* gpu_count x gpu_count */
  double far;        /* a sample further than that is of another GPU */
};

static double *identify_centre(const struct identify *x, const struct model *model, size_t gpu) {
  return &model->centres[gpu * x->feature_count];
}

static void identify_make_centres(struct identify *x, struct model *model, int64_t without_run) {
  for (size_t gpu = 0; gpu < x->gpu_count; gpu++) {
    for (size_t f = 0; f < x->feature_count; f++) {
      size_t count = 0;
      for (size_t i = 0; i < x->sample_count; i++) {
        if (x->samples[i].gpu == gpu && x->samples[i].run != without_run) {
          x->scratch[count++] = x->samples[i].features[f];
        }
      }
      model->counts[gpu] = count;
      identify_centre(x, model, gpu)[f] = sample_median_in_place(x->scratch, count);
    }
  }
}

static void identify_make_scales(struct identify *x, struct model *model, int64_t without_run) {
  for (size_t f = 0; f < x->feature_count; f++) {
    size_t count = 0;
    for (size_t i = 0; i < x->sample_count; i++) {
      const struct identify_sample *sample = &x->samples[i];
      if (sample->run != without_run && model->counts[sample->gpu] >= 2) {
        x->scratch[count++] = fabs(sample->features[f] - identify_centre(x, model, sample->gpu)[f]);
      }
    }
    const double scale = 1.4826 * sample_median_in_place(x->scratch, count);
    model->scales[f] = scale > IDENTIFY_RESOLUTION ? scale : IDENTIFY_RESOLUTION;
  }
}

static void identify_make_model(struct identify *x, struct model *model, int64_t without_run) {
  identify_make_centres(x, model, without_run);
  identify_make_scales(x, model, without_run);
}

/* NAN for a GPU without samples. */
static double identify_distance(const struct identify *x, const struct model *model,
                                const double *features, size_t gpu) {
  const double sum =
      TOTAL_OF(f, x->feature_count,
               fabs(features[f] - identify_centre(x, model, gpu)[f]) / model->scales[f]);
  return model->counts[gpu] > 0 ? sum / (double)x->feature_count : NAN;
}

static size_t identify_nearest(const double *distances, size_t gpu_count) {
  size_t nearest = gpu_count;
  for (size_t gpu = 0; gpu < gpu_count; gpu++) {
    if (!isnan(distances[gpu]) && (nearest == gpu_count || distances[gpu] < distances[nearest])) {
      nearest = gpu;
    }
  }
  return nearest;
}

/* Leave-one-run-out: names every sample by the samples of all other runs. */
static void identify_leave_out(struct identify *x) {
  double furthest = 0;
  for (size_t i = 0; i < x->sample_count; i++) {
    const struct identify_sample *sample = &x->samples[i];
    double *distances = &x->distances[i * x->gpu_count];
    if (i == 0 || x->samples[i - 1].run != sample->run) {
      identify_make_model(x, &x->part, sample->run);
    }
    const bool tested = x->part.counts[sample->gpu] > 0;
    for (size_t gpu = 0; gpu < x->gpu_count; gpu++) {
      distances[gpu] = tested ? identify_distance(x, &x->part, sample->features, gpu) : NAN;
    }
    if (tested) {
      x->confusion[sample->gpu * x->gpu_count + identify_nearest(distances, x->gpu_count)]++;
      furthest = fmax(furthest, distances[sample->gpu]);
    }
  }
  x->far = IDENTIFY_FAR * furthest;
}

static void identify_model_init(struct identify *x, struct model *model) {
  model->centres = arena_array(&x->arena, x->gpu_count * x->feature_count, sizeof *model->centres);
  model->scales = arena_array(&x->arena, x->feature_count, sizeof *model->scales);
  model->counts = arena_array(&x->arena, x->gpu_count, sizeof *model->counts);
}

struct identify *identify_new(const struct identify_sample *samples, size_t sample_count,
                              size_t gpu_count, size_t feature_count) {
  struct identify *x = memory_new(1, sizeof *x);
  x->samples = samples;
  x->sample_count = sample_count;
  x->gpu_count = gpu_count;
  x->feature_count = feature_count;
  identify_model_init(x, &x->whole);
  identify_model_init(x, &x->part);
  x->scratch = arena_array(&x->arena, sample_count, sizeof *x->scratch);
  x->distances = arena_array(&x->arena, sample_count * gpu_count, sizeof *x->distances);
  x->confusion = arena_array(&x->arena, gpu_count * gpu_count, sizeof *x->confusion);
  identify_leave_out(x);
  identify_make_model(x, &x->whole, RUN_NONE);
  return x;
}

void identify_free(struct identify *identify) {
  if (identify != NULL) {
    arena_fini(&identify->arena);
    free(identify);
  }
}

size_t identify_confusion(const struct identify *identify, size_t actual, size_t named) {
  return identify->confusion[actual * identify->gpu_count + named];
}

void identify_accuracy(const struct identify *identify, size_t *right, size_t *total) {
  *right = 0;
  *total = 0;
  for (size_t actual = 0; actual < identify->gpu_count; actual++) {
    *right += identify_confusion(identify, actual, actual);
    for (size_t named = 0; named < identify->gpu_count; named++) {
      *total += identify_confusion(identify, actual, named);
    }
  }
}

double identify_guess_p(size_t right, size_t total, size_t gpus) {
  return share_test_binomial((struct share){right, total}, 1 / (double)gpus);
}

/* Counts the left-out samples of two GPUs that are nearer to their own than to the other. */
static void identify_judge_pair(const struct identify *x, size_t a, size_t b, size_t *right,
                                size_t *total) {
  *right = 0;
  *total = 0;
  for (size_t i = 0; i < x->sample_count; i++) {
    const size_t own = x->samples[i].gpu;
    const double *distances = &x->distances[i * x->gpu_count];
    const size_t other = own == a ? b : a;
    if ((own == a || own == b) && !isnan(distances[own]) && !isnan(distances[other])) {
      *right += distances[own] < distances[other] ? 1 : 0;
      *total += 1;
    }
  }
}

void identify_name(const struct identify *identify, const double *features, size_t sets,
                   struct identified *identified) {
  const struct identify *x = identify;
  SCOPED(memory_free) double *distances = sample_values_new(x->gpu_count);
  for (size_t gpu = 0; gpu < x->gpu_count; gpu++) {
    distances[gpu] = identify_distance(x, &x->whole, features, gpu);
  }
  const size_t nearest = identify_nearest(distances, x->gpu_count);
  *identified = (struct identified){.verdict = IDENTIFY_NAMED,
                                    .nearest = nearest,
                                    .distance = distances[nearest],
                                    .second = x->gpu_count,
                                    .second_distance = NAN,
                                    .rival = x->gpu_count};
  double worst_p = -1;
  for (size_t gpu = 0; gpu < x->gpu_count; gpu++) {
    if (gpu == nearest) {
      continue;
    }
    if (!(distances[gpu] >= identified->second_distance)) {
      identified->second = gpu;
      identified->second_distance = distances[gpu];
    }
    if (distances[gpu] > x->far) {
      continue;
    }
    size_t right = 0;
    size_t total = 0;
    identify_judge_pair(x, nearest, gpu, &right, &total);
    const double p = identify_guess_p(right, total, 2);
    if (p > worst_p) {
      worst_p = p;
      identified->rival = gpu;
      identified->pair_right = right;
      identified->pair_total = total;
    }
  }
  if (SUM_OF(gpu, x->gpu_count, x->whole.counts[gpu] >= 2) < 2) {
    identified->verdict = IDENTIFY_TOO_FEW;
  } else if (distances[nearest] > x->far) {
    identified->verdict = IDENTIFY_STRANGER;
  } else if (worst_p > IDENTIFY_ALPHA / (double)sets) {
    identified->verdict = IDENTIFY_NOT_TOLD_APART;
  }
}
