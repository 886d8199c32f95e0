/* said.h - rows of the saved query run-result, as tests of their layout make them. */
#pragma once

#include "runner/render/result/run_result.h"
#include "tests/cmocka.h"

#include <math.h>

static const char *const said_columns[] = {"case",
                                           "block",
                                           "path",
                                           "axes",
                                           "kind",
                                           "method",
                                           "direction",
                                           "source",
                                           "source_memory",
                                           "target",
                                           "target_memory",
                                           "flows",
                                           "under_load",
                                           "size_bytes",
                                           "gbps",
                                           "percent_of_peak",
                                           "peak_gbps",
                                           "limited_by",
                                           "ns_per_hop",
                                           "median_ns",
                                           "low_ns",
                                           "high_ns",
                                           "processes",
                                           "status",
                                           "reason",
                                           "notes",
                                           "unknown",
                                           "stop",
                                           "noise",
                                           "noise_percent",
                                           "noise_ns",
                                           "cycles_per_hop",
                                           "measure",
                                           "ns_per_op",
                                           "cycles_per_op",
                                           "ops_per_clock_sm",
                                           "operation",
                                           "same_as",
                                           "same_block",
                                           "same_axes",
                                           "partial",
                                           "initiator",
                                           "special",
                                           "above_peak",
                                           "slowed_by",
                                           "case_key",
                                           "visits",
                                           "undisturbed_ns",
                                           "disturbed_percent",
                                           "disturbed_slower_percent",
                                           "figure",
                                           "settled",
                                           "undisturbed_low_ns",
                                           "undisturbed_high_ns",
                                           "fastest_ns",
                                           "reached_ns",
                                           "p95_ns",
                                           "flushed"};
enum { SAID_COLUMNS = COUNT_OF(said_columns) };

/* Notes of a row, as run-result gives them: SAID_NOTES(SAID_NOTE(kind, gpu, what, amount) ...). */
#define SAID_NOTES(notes)                   "[" notes "]"
#define SAID_NOTE(kind, gpu, what, amounts) "[\"" kind "\"," gpu ",\"" what "\"," amounts "]"
#define SAID_REMARK(text)                   SAID_NOTES(SAID_NOTE("remark", "null", text, "0"))

/* What a test says of a case; the rest is as in most cases. */
struct said {
  const char *block, *path, *axes;
  const char *source, *source_memory, *target, *target_memory;
  const char *direction;
  int flows; /* 0 = 1 */
  bool under_load, special, above_peak;
  int64_t size_bytes;
  double gbps, ns_per_hop; /* 0 = NULL */
  double cycles, ns_per_op, ops_per_clock_sm;
  const char *measure, *operation, *method, *initiator;
  const char *status, *reason, *notes, *slowed_by;
  const char *same_as, *same_block, *same_axes;
  const char *stop;
  const char *noise;
  double noise_percent, noise_ns; /* 0 = NULL */
  double spread;                  /* per cent; 0 = 0.05, below 0 = no interval */
  int processes;                  /* 0 = 1 */
  bool partial;
  int visits;                         /* 0 = 1 */
  double undisturbed;                 /* relative to the rate; 0 = NULL, and then what follows */
  double disturbed, disturbed_slower; /* per cent */
  const char *figure, *settled, *flushed;
  double fastest, reached, p95; /* relative to the rate; 0 = NULL */
};

static inline struct cell said_real(double value) {
  return value > 0 ? cell_real(value) : cell_null();
}

static inline void put_said(struct result_set *rows, const struct said *said) {
  const double median_ns = said->gbps > 0 ? (double)said->size_bytes / said->gbps : 1e6;
  const double spread = said->spread != 0 ? said->spread / 100 : 0.0005;
  const bool chase = said->ns_per_hop > 0;
  char name[256];
  (void)snprintf(name, sizeof name, "%s/%s", said->block, said->path);
  const struct cell cells[SAID_COLUMNS] = {
      cell_text(name),
      cell_text(said->block),
      cell_text(said->path),
      cell_text(said->axes != NULL ? said->axes : ""),
      cell_text(chase                     ? "chase"
                : said->measure != NULL   ? "arithmetic"
                : said->operation != NULL ? "stream"
                                          : "transfer"),
      cell_text(chase || said->operation != NULL ? NULL
                : said->method != NULL           ? said->method
                                                 : "ce"),
      cell_text(said->direction),
      cell_text(said->source),
      cell_text(said->source_memory),
      cell_text(said->target),
      cell_text(chase ? NULL : said->target_memory),
      cell_integer(said->flows > 0 ? said->flows : 1),
      cell_integer(said->under_load),
      cell_integer(said->size_bytes),
      said_real(said->gbps),
      said_real(said->gbps / 4),
      said_real(said->gbps > 0 ? 400 : 0),
      cell_text(said->gbps > 0 ? "nvlink" : NULL),
      said_real(said->ns_per_hop),
      cell_real(median_ns),
      spread > 0 ? cell_real(median_ns * (1 - spread)) : cell_null(),
      spread > 0 ? cell_real(median_ns * (1 + spread)) : cell_null(),
      cell_integer(said->processes > 0 ? said->processes : 1),
      cell_text(said->status != NULL ? said->status : "ok"),
      cell_text(said->reason),
      cell_text(said->notes),
      cell_text("not kept"),
      cell_text(said->stop),
      cell_text(said->noise),
      said->noise_percent != 0 ? cell_real(said->noise_percent) : cell_null(),
      said->noise_ns > 0 ? cell_real(said->noise_ns) : cell_null(),
      said_real(chase ? said->cycles : 0),
      cell_text(said->measure),
      said_real(said->ns_per_op),
      said_real(said->measure != NULL ? said->cycles : 0),
      said_real(said->ops_per_clock_sm),
      cell_text(said->operation),
      cell_text(said->same_as),
      cell_text(said->same_block),
      cell_text(said->same_axes),
      cell_integer(said->partial),
      cell_text(said->initiator),
      cell_integer(said->special),
      cell_integer(said->above_peak),
      cell_text(said->slowed_by),
      cell_text(name),
      cell_integer(said->visits > 0 ? said->visits : 1),
      said_real(said->undisturbed > 0 ? median_ns / said->undisturbed : 0),
      said->undisturbed > 0 ? cell_real(said->disturbed) : cell_null(),
      said->undisturbed > 0 ? cell_real(said->disturbed_slower) : cell_null(),
      cell_text(said->figure),
      cell_text(said->settled),
      said_real(said->undisturbed > 0 ? median_ns / said->undisturbed * (1 - fabs(spread)) : 0),
      said_real(said->undisturbed > 0 ? median_ns / said->undisturbed * (1 + fabs(spread)) : 0),
      said_real(said->fastest > 0 ? median_ns / said->fastest : 0),
      said_real(said->reached > 0 ? median_ns / said->reached : 0),
      said_real(said->p95 > 0 ? median_ns / said->p95 : 0),
      cell_text(said->flushed),
  };
  struct error err;
  assert_int_equal(sink_row(&rows->sink, cells, &err), STATUS_OK);
}

/* The caller ends with result_set_fini(). */
static inline void said_rows(struct result_set *rows, const struct said *said, size_t count) {
  struct error err;
  result_set_init(rows, SIZE_MAX);
  assert_int_equal(sink_begin(&rows->sink, said_columns, SAID_COLUMNS, &err), STATUS_OK);
  for (size_t i = 0; i < count; i++) {
    put_said(rows, &said[i]);
  }
  assert_int_equal(sink_end(&rows->sink, &err), STATUS_OK);
}

#define SAID_GPUS(a, b)                                                                            \
  .path = "gpu" #a "-gpu" #b, .source = "gpu" #a, .source_memory = "device", .target = "gpu" #b,   \
  .target_memory = "device", .size_bytes = 1 << 20
#define SAID_UP(gpu, kind)                                                                         \
  .path = "numa0:" kind "-gpu" #gpu, .source = "numa0", .source_memory = kind,                     \
  .target = "gpu" #gpu, .target_memory = "device", .size_bytes = 4096
#define SAID_DOWN(gpu)                                                                             \
  .path = "gpu" #gpu "-numa0:pinned", .source = "gpu" #gpu, .source_memory = "device",             \
  .target = "numa0", .target_memory = "pinned", .size_bytes = 4096

/* *text: what a terminal of that width shows, for free(). */
static inline void said_print(const struct run_result_options *options, const struct said *said,
                              size_t count, unsigned width, char **text) {
  struct result_set rows;
  struct error err;
  size_t length = 0;
  said_rows(&rows, said, count);
  FILE *stream = open_memstream(text, &length);
  assert_non_null(stream);
  struct document document;
  document_begin(&document, &(struct table_options){.stream = stream, .width = width}, &err);
  run_result_print(&rows, NULL, options, &document);
  assert_int_equal(document_end(&document), STATUS_OK);
  assert_int_equal(fclose(stream), 0);
  result_set_fini(&rows);
}

static inline void expect_result_as(const struct run_result_options *options,
                                    const struct said *said, size_t count, unsigned width,
                                    const char *expected) {
  char *text = NULL;
  said_print(options, said, count, width, &text);
  assert_string_equal(text, expected);
  free(text);
}
