#include "runner/analysis/fingerprints.h"

#include <math.h>
#include <string.h>

/* Columns of the saved query. */
enum { RUN, RUN_UUID, STARTED_AT, HOST, GPU, UUID, GPU_NAME, FEATURE, MEDIAN_NS, BLOCK, COLUMNS };
enum { FEATURES_MAX = 1024 };

struct fingerprint_reading {
  struct arena *arena;
  struct fingerprints *into;
};

static const char *fingerprints_keep_text(struct arena *arena, const struct cell *cell) {
  return cell->kind == CELL_TEXT ? arena_strndup(arena, cell->as.text.bytes, cell->as.text.length)
                                 : "";
}

static enum status fingerprints_begin(void *context, const struct column *columns, size_t count,
                                      struct error *err) {
  (void)context;
  if (count != COLUMNS || strcmp(columns[BLOCK].name, "block") != 0) {
    return error_set(err, STATUS_INVALID, "the saved query fingerprint-samples has other columns");
  }
  return STATUS_OK;
}

/* FEATURES_MAX when there are too many. */
static size_t fingerprints_feature_index(struct fingerprint_reading *reading,
                                         const struct cell *cells) {
  const struct cell *cell = &cells[FEATURE];
  struct fingerprints *x = reading->into;
  for (size_t i = 0; i < x->feature_count; i++) {
    if (strlen(x->features[i]) == cell->as.text.length &&
        memcmp(x->features[i], cell->as.text.bytes, cell->as.text.length) == 0) {
      return i;
    }
  }
  if (x->feature_count == FEATURES_MAX) {
    return FEATURES_MAX;
  }
  x->features = arena_grow(reading->arena, x->features, x->feature_count, &x->feature_capacity,
                           sizeof *x->features);
  x->blocks = arena_grow(reading->arena, x->blocks, x->feature_count, &x->block_capacity,
                         sizeof *x->blocks);
  x->features[x->feature_count] = fingerprints_keep_text(reading->arena, cell);
  x->blocks[x->feature_count] = fingerprints_keep_text(reading->arena, &cells[BLOCK]);
  return x->feature_count++;
}

static struct fingerprint *fingerprints_find(struct fingerprint_reading *reading,
                                             const struct cell *cells) {
  struct fingerprints *x = reading->into;
  const int64_t run = cells[RUN].as.integer;
  const int64_t gpu = cells[GPU].as.integer;
  if (x->count > 0 && x->items[x->count - 1].run == run && x->items[x->count - 1].gpu == gpu) {
    return &x->items[x->count - 1];
  }
  struct fingerprint *made = ARENA_ADD(reading->arena, x->items, x->count, &x->capacity);
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

static enum status fingerprints_row(void *context, const struct cell *cells, struct error *err) {
  struct fingerprint_reading *reading = context;
  if (cells[FEATURE].kind != CELL_TEXT || cells[MEDIAN_NS].kind != CELL_REAL ||
      !(cells[MEDIAN_NS].as.real > 0)) {
    return STATUS_OK;
  }
  const size_t feature = fingerprints_feature_index(reading, cells);
  if (feature == FEATURES_MAX) {
    return error_set(err, STATUS_UNSUPPORTED, "more than %d different cases to go by",
                     (int)FEATURES_MAX);
  }
  fingerprints_find(reading, cells)->features[feature] = log(cells[MEDIAN_NS].as.real);
  return STATUS_OK;
}

static enum status fingerprints_end(void *context, struct error *err) {
  (void)context;
  (void)err;
  return STATUS_OK;
}

enum status fingerprints_read(struct query *query, const char *run,
                              const struct query_options *options, struct arena *arena,
                              struct fingerprints *fingerprints, struct error *err) {
  struct fingerprint_reading reading = {arena, fingerprints};
  const struct row_sink sink = {&reading, fingerprints_begin, fingerprints_row, fingerprints_end,
                                NULL};
  const struct query_parameter parameter = {"run", run};
  *fingerprints = (struct fingerprints){0};
  RETURN_ON_ERROR(query_run_saved(query, "fingerprint-samples", &parameter, run != NULL ? 1 : 0,
                                  options, &sink, err));
  if (fingerprints->count == 0) {
    return error_set(err, STATUS_UNSUPPORTED,
                     "the run has no streams, instructions or loads within one GPU, which identify "
                     "a GPU. haul run fingerprint measures them");
  }
  fingerprints->run = fingerprints->items[fingerprints->count - 1].run;
  for (size_t i = 0; i < fingerprints->count; i++) {
    fingerprints->earlier_count += fingerprints->items[i].run != fingerprints->run;
  }
  return STATUS_OK;
}
