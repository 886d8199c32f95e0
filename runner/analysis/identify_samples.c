#include "runner/analysis/identify_samples.h"

#include "engine/base/text_index.h"

#include <math.h>

#define FINGERPRINT_COLUMN_LIST(X)                                                                 \
  X(RUN, "run")                                                                                    \
  X(RUN_UUID, "run_uuid")                                                                          \
  X(STARTED_AT, "started_at")                                                                      \
  X(HOST, "host_name")                                                                             \
  X(GPU, "gpu")                                                                                    \
  X(UUID, "uuid")                                                                                  \
  X(GPU_NAME, "gpu_name")                                                                          \
  X(FEATURE, "feature")                                                                            \
  X(MEDIAN_NS, "median_ns")                                                                        \
  X(BLOCK, "block")
ENUM_NAMES_DECLARE(fingerprint_column, FINGERPRINT_COLUMN_LIST)
ENUM_NAMES_DEFINE(fingerprint_column, FINGERPRINT_COLUMN_LIST)

enum { COLUMNS = fingerprint_column_name_count, FEATURES_MAX = 1024 };

struct fingerprint_reading {
  struct arena *arena;
  struct fingerprints *into;
  struct text_index features;
  size_t columns[COLUMNS];
};

static const char *fingerprints_keep_text(struct arena *arena, const struct cell *cell) {
  return cell->kind == CELL_TEXT ? arena_strdup(arena, cell->as.text.bytes) : "";
}

static enum status fingerprints_begin(void *context, const struct column *columns, size_t count,
                                      struct error *err) {
  (void)err;
  struct fingerprint_reading *reading = context;
  columns_number(columns, count, fingerprint_column_names, reading->columns);
  return STATUS_OK;
}

static struct fingerprint *fingerprints_find(struct fingerprint_reading *reading,
                                             const struct cell *cells) {
  struct fingerprints *x = reading->into;
  const int64_t run = cells[RUN].as.integer;
  const int64_t gpu = cells[GPU].as.integer;
  if (x->count > 0 && x->items[x->count - 1].run == run && x->items[x->count - 1].gpu == gpu) {
    return &x->items[x->count - 1];
  }
  struct fingerprint *made = ARENA_ADD(reading->arena, x->items, x->count);
  *made = (struct fingerprint){
      .run = run,
      .run_uuid = fingerprints_keep_text(reading->arena, &cells[RUN_UUID]),
      .started_at = fingerprints_keep_text(reading->arena, &cells[STARTED_AT]),
      .host = fingerprints_keep_text(reading->arena, &cells[HOST]),
      .gpu = gpu,
      .uuid = fingerprints_keep_text(reading->arena, &cells[UUID]),
      .name = fingerprints_keep_text(reading->arena, &cells[GPU_NAME]),
      .features = arena_array(reading->arena, FEATURES_MAX, sizeof *made->features)};
  for (size_t i = 0; i < FEATURES_MAX; i++) {
    made->features[i] = NAN;
  }
  return made;
}

static enum status fingerprints_row(void *context, const struct cell *row, struct error *err) {
  struct fingerprint_reading *reading = context;
  struct fingerprints *x = reading->into;
  struct cell cells[COLUMNS];
  size_t feature = 0;
  for (size_t i = 0; i < COLUMNS; i++) {
    cells[i] = row[reading->columns[i]];
  }
  if (cells[FEATURE].kind != CELL_TEXT || cells[MEDIAN_NS].kind != CELL_REAL ||
      !(cells[MEDIAN_NS].as.real > 0)) {
    return STATUS_OK;
  }
  if (text_index_add(&reading->features, cells[FEATURE].as.text.bytes, &feature)) {
    reading->features.texts[feature] = fingerprints_keep_text(reading->arena, &cells[FEATURE]);
    *ARENA_ADD(reading->arena, x->blocks, x->feature_count) =
        fingerprints_keep_text(reading->arena, &cells[BLOCK]);
  }
  if (feature == FEATURES_MAX) {
    return error_set(err, STATUS_UNSUPPORTED, "more than %d different cases to go by",
                     (int)FEATURES_MAX);
  }
  fingerprints_find(reading, cells)->features[feature] = log(cells[MEDIAN_NS].as.real);
  return STATUS_OK;
}

enum status fingerprints_read(struct query *query, const char *run,
                              const struct query_options *options, struct arena *arena,
                              struct fingerprints *fingerprints, struct error *err) {
  struct fingerprint_reading reading = {
      .arena = arena, .into = fingerprints, .features = {.arena = arena}};
  const struct row_sink sink = {
      .context = &reading, .begin = fingerprints_begin, .row = fingerprints_row};
  const struct query_parameter parameter = {"run", run};
  *fingerprints = (struct fingerprints){0};
  RETURN_ON_ERROR(query_run_saved(query, "fingerprint-samples", &parameter, run != NULL ? 1 : 0,
                                  options, &sink, err));
  if (fingerprints->count == 0) {
    return error_set(err, STATUS_UNSUPPORTED,
                     "the run has no streams, instructions or loads within one GPU, which identify "
                     "a GPU. haul run fingerprint measures them");
  }
  fingerprints->features = reading.features.texts;
  fingerprints->run = fingerprints->items[fingerprints->count - 1].run;
  for (size_t i = 0; i < fingerprints->count; i++) {
    fingerprints->earlier_count += fingerprints->items[i].run != fingerprints->run;
  }
  return STATUS_OK;
}
