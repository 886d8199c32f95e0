/* haul identify [RUN]: which GPU made a run, by earlier runs. */
#include "runner/analysis/identify.h"
#include "runner/analysis/identify_samples.h"
#include "runner/cli/options.h"
#include "runner/table/json_shape.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 256 };

struct identify_options {
  bool confusion, features;
};

static const struct verb_option VERB_IDENTIFY_OPTIONS[] = {
    {"confusion", NULL, "show which GPU was taken for which, leaving one run out at a time",
     OPTION_FLAG(struct identify_options, confusion)},
    {"features", NULL, "show how often the answer is right, by block",
     OPTION_FLAG(struct identify_options, features)},
    {0}};

/* A set of features: the GPUs of earlier runs, by UUID, and what these measured. */
struct known {
  const struct fingerprints *samples;
  const char *name; /* the block that has the features; "all" */
  size_t *features; /* of the samples */
  size_t feature_count;
  const char **uuids;
  size_t gpu_count;
  struct identify_sample *earlier;
  struct identify *identify; /* NULL: there are no earlier runs */
  size_t right, total;       /* leaving one run out at a time */
};

/* All features, and those of each block where there are several. */
struct known_sets {
  struct known *items;
  size_t count;
};

static size_t verb_identify_gpu_index(struct known *known, const char *uuid, struct arena *arena) {
  for (size_t i = 0; i < known->gpu_count; i++) {
    if (strcmp(known->uuids[i], uuid) == 0) {
      return i;
    }
  }
  known->uuids = arena_grow(arena, known->uuids, known->gpu_count, sizeof *known->uuids);
  known->uuids[known->gpu_count] = uuid;
  return known->gpu_count++;
}

/* The sample's features of the set; NULL: it has not all, and cannot be compared with those that
 * have. */
static const double *verb_identify_features(const struct known *known,
                                            const struct fingerprint *sample, struct arena *arena) {
  double *features = arena_array(arena, known->feature_count, sizeof *features);
  for (size_t i = 0; i < known->feature_count; i++) {
    features[i] = sample->features[known->features[i]];
    if (isnan(features[i])) {
      return NULL;
    }
  }
  return features;
}

static void verb_identify_learn(struct known *known, struct arena *arena) {
  const struct fingerprints *samples = known->samples;
  size_t count = 0;
  known->earlier = arena_array(arena, samples->earlier_count, sizeof *known->earlier);
  for (size_t i = 0; i < samples->earlier_count; i++) {
    const struct fingerprint *sample = &samples->items[i];
    const double *features = verb_identify_features(known, sample, arena);
    if (features != NULL) {
      known->earlier[count++] = (struct identify_sample){
          sample->run, verb_identify_gpu_index(known, sample->uuid, arena), features};
    }
  }
  if (count > 0) {
    known->identify = identify_new(known->earlier, count, known->gpu_count, known->feature_count);
    identify_accuracy(known->identify, &known->right, &known->total);
  }
}

/* block NULL: all features. */
static void verb_identify_add_set(struct known_sets *sets, const struct fingerprints *samples,
                                  const char *block, struct arena *arena) {
  for (size_t i = 0; block != NULL && i < sets->count; i++) {
    if (i > 0 && strcmp(sets->items[i].name, block) == 0) {
      return;
    }
  }
  struct known *known = ARENA_ADD(arena, sets->items, sets->count);
  *known = (struct known){.samples = samples, .name = block != NULL ? block : "all"};
  known->features = arena_array(arena, samples->feature_count, sizeof *known->features);
  for (size_t i = 0; i < samples->feature_count; i++) {
    if (block == NULL || strcmp(samples->blocks[i], block) == 0) {
      known->features[known->feature_count++] = i;
    }
  }
  verb_identify_learn(known, arena);
}

static void verb_identify_make_sets(struct known_sets *sets, const struct fingerprints *samples,
                                    struct arena *arena) {
  const bool several =
      ANY_OF(i, samples->feature_count, strcmp(samples->blocks[i], samples->blocks[0]) != 0);
  verb_identify_add_set(sets, samples, NULL, arena);
  for (size_t i = 0; several && i < samples->feature_count; i++) {
    verb_identify_add_set(sets, samples, samples->blocks[i], arena);
  }
}

/* The first of those that are right most often. */
static const struct known *verb_identify_best(const struct known_sets *sets) {
  const struct known *best = &sets->items[0];
  for (size_t i = 1; i < sets->count; i++) {
    const struct known *known = &sets->items[i];
    if (known->total > 0 &&
        (best->total == 0 || known->right * best->total > best->right * known->total)) {
      best = known;
    }
  }
  return best;
}

static const char *verb_identify_uuid_or_null(const struct known *known, size_t gpu) {
  return gpu < known->gpu_count ? known->uuids[gpu] : NULL;
}

#define IDENTIFY_COLUMNS(X)                                                                        \
  X("gpu", integer, sample->gpu)                                                                   \
  X("recorded_uuid", text, sample->uuid)                                                           \
  X("verdict", text, identify_verdict_text(identified.verdict))                                    \
  X("named_uuid", text, named ? nearest : NULL)                                                    \
  X("right", text, !named ? NULL : strcmp(nearest, sample->uuid) == 0 ? "yes" : "no")              \
  X("nearest_uuid", text, nearest)                                                                 \
  X("distance", finite, identified.distance)                                                       \
  X("second_uuid", text, verb_identify_uuid_or_null(known, identified.second))                     \
  X("second_distance", finite, identified.second_distance)                                         \
  X("rival_uuid", text, not_told_apart ? rival : NULL)                                             \
  X("reason", text, not_told_apart ? reason : NULL)                                                \
  X("by", text, known->name)

JSON_DESCRIBER_STATIC(verb_identify_describe, IDENTIFY_COLUMNS, JSON_COLUMN)

static enum status verb_identify_print_verdict(const struct known *known, size_t sets,
                                               const struct fingerprint *sample,
                                               const double *features, const struct row_sink *sink,
                                               struct error *err) {
  struct identified identified = {.verdict = IDENTIFY_TOO_FEW,
                                  .second_distance = NAN,
                                  .distance = NAN,
                                  .nearest = known->gpu_count,
                                  .second = known->gpu_count,
                                  .rival = known->gpu_count};
  if (known->identify != NULL) {
    identify_name(known->identify, features, sets, &identified);
  }
  const bool named = identified.verdict == IDENTIFY_NAMED;
  const bool not_told_apart = identified.verdict == IDENTIFY_NOT_TOLD_APART;
  const char *nearest = verb_identify_uuid_or_null(known, identified.nearest);
  const char *rival = verb_identify_uuid_or_null(known, identified.rival);
  char reason[TEXT_MAX];
  (void)snprintf(reason, sizeof reason, "of %zu runs of the two %zu were right",
                 identified.pair_total, identified.pair_right);
  return SINK_ROW(sink, err, IDENTIFY_COLUMNS(COLUMN_CELL));
}

static enum status verb_identify_print_verdicts(const struct known *known, size_t sets,
                                                struct arena *arena, const struct row_sink *sink,
                                                struct error *err) {
  enum status status = SINK_COLUMNS(sink, IDENTIFY_COLUMNS, err);
  const struct fingerprints *samples = known->samples;
  for (size_t i = samples->earlier_count; status == STATUS_OK && i < samples->count; i++) {
    const double *features = verb_identify_features(known, &samples->items[i], arena);
    if (features != NULL) {
      status = verb_identify_print_verdict(known, sets, &samples->items[i], features, sink, err);
    }
  }
  return THEN(status, sink_end(sink, err));
}

#define FEATURES_COLUMNS(X)                                                                        \
  X("features", text, known->name)                                                                 \
  X("cases", integer, (int64_t)known->feature_count)                                               \
  X("gpus", integer, (int64_t)known->gpu_count)                                                    \
  X("samples", integer, (int64_t)known->total)                                                     \
  X("right", integer, (int64_t)known->right)                                                       \
  X("right_percent", finite, 100.0 * (double)known->right / (double)known->total)                  \
  X("guess_percent", finite, 100.0 / (double)known->gpu_count)                                     \
  X("guess_p", finite, guess_p)

JSON_DESCRIBER_STATIC(verb_identify_describe_features, FEATURES_COLUMNS, JSON_COLUMN)

static enum status verb_identify_print_features(const struct known_sets *sets,
                                                const struct row_sink *sink, struct error *err) {
  enum status status = SINK_COLUMNS(sink, FEATURES_COLUMNS, err);
  for (size_t i = 0; status == STATUS_OK && i < sets->count; i++) {
    const struct known *known = &sets->items[i];
    const double guess_p = known->gpu_count > 1 && known->total > 0
                               ? identify_guess_p(known->right, known->total, known->gpu_count)
                               : NAN;
    status = SINK_ROW(sink, err, FEATURES_COLUMNS(COLUMN_CELL));
  }
  return THEN(status, sink_end(sink, err));
}

#define CONFUSION_COLUMNS(X)                                                                       \
  X("actual_uuid", text, known->uuids[actual])                                                     \
  X("named_uuid", text, known->uuids[named])                                                       \
  X("runs", integer, (int64_t)runs)

JSON_DESCRIBER_STATIC(verb_identify_describe_confusion, CONFUSION_COLUMNS, JSON_COLUMN)

static enum status verb_identify_print_confusion(const struct known *known,
                                                 const struct row_sink *sink, struct error *err) {
  enum status status = SINK_COLUMNS(sink, CONFUSION_COLUMNS, err);
  for (size_t actual = 0; known->identify != NULL && actual < known->gpu_count; actual++) {
    for (size_t named = 0; status == STATUS_OK && named < known->gpu_count; named++) {
      const size_t runs = identify_confusion(known->identify, actual, named);
      const struct cell cells[] = {CONFUSION_COLUMNS(COLUMN_CELL)};
      status = runs > 0 ? sink_row(sink, cells, err) : STATUS_OK;
    }
  }
  return THEN(status, sink_end(sink, err));
}

static void verb_identify_say_accuracy(const struct common_options *common,
                                       const struct known *known) {
  if (known->total == 0) {
    say_note(common, "no GPU has two earlier runs: how well GPUs can be told apart is unknown");
    return;
  }
  say_note(common,
           "leaving one run out at a time, %zu of %zu were right (%.0f %%), with %zu GPUs and %zu "
           "cases; guessing gives %.0f %%",
           known->right, known->total, 100.0 * (double)known->right / (double)known->total,
           known->gpu_count, known->feature_count, 100.0 / (double)known->gpu_count);
}

static enum status verb_identify_run(struct command *command, struct error *err) {
  const struct identify_options *options = command->options;
  struct fingerprints samples;
  struct known_sets sets = {0};
  const struct query_options limits = {.interrupted = watch_interrupts()};
  const struct row_sink *sink = command_rows(command, NULL);
  const char *run = command->word_count > 0 ? command->words[0] : NULL;
  RETURN_ON_ERROR(command_open_query(command, err));
  RETURN_ON_ERROR(fingerprints_read(command->query, run, &limits, &command->arena, &samples, err));
  verb_identify_make_sets(&sets, &samples, &command->arena);
  const struct known *best = verb_identify_best(&sets);
  enum status status = STATUS_OK;
  if (options->features) {
    status = verb_identify_print_features(&sets, sink, err);
  } else if (options->confusion) {
    status = verb_identify_print_confusion(best, sink, err);
  } else {
    status = verb_identify_print_verdicts(best, sets.count, &command->arena, sink, err);
  }
  if (status == STATUS_OK) {
    verb_identify_say_accuracy(&command->common, best);
  }
  for (size_t i = 0; i < sets.count; i++) {
    identify_free(sets.items[i].identify);
  }
  return status;
}

const struct verb VERB_IDENTIFY = {
    .name = "identify",
    .group = VERBS_COMPARE,
    .arguments = "[RUN]",
    .summary = "tell which GPU made a run, from earlier runs",
    .doc = "Compares each GPU of the run (default: latest) with the GPUs of earlier runs in the "
           "database, and names the nearest. haul run fingerprint makes such runs. No GPU is named "
           "if the earlier runs cannot tell two apart, or if the run is far from all of them. "
           "Leaving out one run at a time measures how often the answer is right. Of the run's "
           "blocks, the one that is right most often decides, or all of them together.",
    .options = VERB_IDENTIFY_OPTIONS,
    .options_size = sizeof(struct identify_options),
    .argument_kind = ARGUMENTS_RUNS,
    .word_max = 1,
    .too_many = "; one RUN can be identified at a time",
    .rows = (const struct verb_rows[]){{verb_identify_describe, NULL},
                                       {verb_identify_describe_features, NULL},
                                       {verb_identify_describe_confusion, NULL},
                                       {0}},
    .run = verb_identify_run,
};
