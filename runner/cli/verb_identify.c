/* haul identify [RUN]: which GPU made a run, by earlier runs. */
#include "runner/analysis/fingerprints.h"
#include "runner/analysis/identify.h"
#include "runner/cli/options.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 256 };

static const struct verb_option VERB_IDENTIFY_OPTIONS[] = {
    {"confusion", NULL, "show which GPU was taken for which, leaving one run out at a time",
     OPTION_FLAG(confusion)},
    {0}};

/* The GPUs of earlier runs, by UUID, and what they measured. */
struct known {
  struct fingerprints samples;
  const char **uuids;
  size_t gpu_count, capacity;
  struct identify_sample *earlier;
  struct identify *identify; /* NULL: there are no earlier runs */
};

static size_t verb_identify_gpu_index(struct known *known, const char *uuid, struct arena *arena) {
  for (size_t i = 0; i < known->gpu_count; i++) {
    if (strcmp(known->uuids[i], uuid) == 0) {
      return i;
    }
  }
  known->uuids =
      arena_grow(arena, known->uuids, known->gpu_count, &known->capacity, sizeof *known->uuids);
  known->uuids[known->gpu_count] = uuid;
  return known->gpu_count++;
}

static void verb_identify_learn(struct known *known, struct arena *arena) {
  const struct fingerprints *samples = &known->samples;
  known->earlier = arena_array(arena, samples->earlier_count, sizeof *known->earlier);
  for (size_t i = 0; i < samples->earlier_count; i++) {
    const struct fingerprint *sample = &samples->items[i];
    known->earlier[i] = (struct identify_sample){
        sample->run, verb_identify_gpu_index(known, sample->uuid, arena), sample->features};
  }
  if (samples->earlier_count > 0) {
    known->identify = identify_new(known->earlier, samples->earlier_count, known->gpu_count,
                                   samples->feature_count);
  }
}

static const char *verb_identify_uuid_or_null(const struct known *known, size_t gpu) {
  return gpu < known->gpu_count ? known->uuids[gpu] : NULL;
}

#define IDENTIFY_COLUMNS(X)                                                                        \
  X("gpu", cell_integer(sample->gpu))                                                              \
  X("recorded_uuid", cell_text(sample->uuid))                                                      \
  X("verdict", cell_text(identify_verdict_text(identified.verdict)))                               \
  X("named_uuid", cell_text(named ? nearest : NULL))                                               \
  X("right", cell_text(!named ? NULL : strcmp(nearest, sample->uuid) == 0 ? "yes" : "no"))         \
  X("nearest_uuid", cell_text(nearest))                                                            \
  X("distance", cell_finite(identified.distance))                                                  \
  X("second_uuid", cell_text(verb_identify_uuid_or_null(known, identified.second)))                \
  X("second_distance", cell_finite(identified.second_distance))                                    \
  X("rival_uuid", cell_text(not_told_apart ? rival : NULL))                                        \
  X("reason", cell_text(not_told_apart ? reason : NULL))

static enum status verb_identify_print_verdict(const struct known *known,
                                               const struct fingerprint *sample,
                                               const struct row_sink *sink, struct error *err) {
  struct identified identified = {.verdict = IDENTIFY_TOO_FEW,
                                  .second_distance = NAN,
                                  .distance = NAN,
                                  .nearest = known->gpu_count,
                                  .second = known->gpu_count,
                                  .rival = known->gpu_count};
  if (known->identify != NULL) {
    identify_name(known->identify, sample->features, &identified);
  }
  const bool named = identified.verdict == IDENTIFY_NAMED;
  const bool not_told_apart = identified.verdict == IDENTIFY_NOT_TOLD_APART;
  const char *nearest = verb_identify_uuid_or_null(known, identified.nearest);
  const char *rival = verb_identify_uuid_or_null(known, identified.rival);
  char reason[TEXT_MAX];
  (void)snprintf(reason, sizeof reason, "of %zu runs of the two %zu were right",
                 identified.pair_total, identified.pair_right);
  const struct cell cells[] = {IDENTIFY_COLUMNS(COLUMN_CELL)};
  return sink_row(sink, cells, err);
}

static enum status verb_identify_print_verdicts(const struct known *known,
                                                const struct row_sink *sink, struct error *err) {
  static const char *const COLUMNS[] = {IDENTIFY_COLUMNS(COLUMN_NAME)};
  enum status status = sink_begin(sink, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, err);
  const struct fingerprints *samples = &known->samples;
  for (size_t i = samples->earlier_count; status == STATUS_OK && i < samples->count; i++) {
    status = verb_identify_print_verdict(known, &samples->items[i], sink, err);
  }
  return THEN(status, sink_end(sink, err));
}

#define CONFUSION_COLUMNS(X)                                                                       \
  X("actual_uuid", cell_text(known->uuids[actual]))                                                \
  X("named_uuid", cell_text(known->uuids[named]))                                                  \
  X("runs", cell_integer((int64_t)runs))

static enum status verb_identify_print_confusion(const struct known *known,
                                                 const struct row_sink *sink, struct error *err) {
  static const char *const COLUMNS[] = {CONFUSION_COLUMNS(COLUMN_NAME)};
  enum status status = sink_begin(sink, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, err);
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
  size_t right = 0;
  size_t total = 0;
  if (known->identify != NULL) {
    identify_accuracy(known->identify, &right, &total);
  }
  if (total == 0) {
    say_note(common, "no GPU has two earlier runs: how well GPUs can be told apart is unknown");
    return;
  }
  say_note(common,
           "leaving one run out at a time, %zu of %zu were right (%.0f %%), with %zu GPUs and %zu "
           "cases; guessing gives %.0f %%",
           right, total, 100.0 * (double)right / (double)total, known->gpu_count,
           known->samples.feature_count, 100.0 / (double)known->gpu_count);
}

static enum status verb_identify_run(struct command *command, struct error *err) {
  struct known known = {0};
  const struct query_options options = {.interrupted = watch_interrupts()};
  const struct row_sink *sink = command_rows(command, NULL);
  const char *run = command->word_count > 0 ? command->words[0] : NULL;
  RETURN_ON_ERROR(command_open_query(command, err));
  RETURN_ON_ERROR(
      fingerprints_read(command->query, run, &options, &command->arena, &known.samples, err));
  verb_identify_learn(&known, &command->arena);
  const enum status status = command->confusion ? verb_identify_print_confusion(&known, sink, err)
                                                : verb_identify_print_verdicts(&known, sink, err);
  if (status == STATUS_OK) {
    verb_identify_say_accuracy(&command->common, &known);
  }
  identify_free(known.identify);
  return status;
}

const struct verb VERB_IDENTIFY = {
    .name = "identify",
    .arguments = "[RUN]",
    .summary = "tell which GPU made a run, from earlier runs",
    .doc =
        "Compares what each GPU of the run (default: latest) measured by itself with the GPUs of "
        "earlier runs in the database, and names the nearest; haul run fingerprint makes such "
        "runs. No GPU is named if the earlier runs cannot tell it from another, or if the run is "
        "far from all of them. Leaving one run out at a time tells how often that is right.",
    .options = VERB_IDENTIFY_OPTIONS,
    .argument_kind = ARGUMENTS_RUNS,
    .word_max = 1,
    .too_many = "; one RUN can be identified at a time",
    .run = verb_identify_run,
};
