#include "runner/render/outliers.h"

#include <errno.h>
#include <stdio.h>

enum { CELL_MAX = 64 };

static enum status print_table(const struct measured *measured, const struct outliers *outliers,
                               bool all, const struct rows_options *options, struct error *err) {
  static const char *const COLUMNS[] = {"what", "host",  "block",      "change %",
                                        "z",    "cases", "worst case", "worst %"};
  struct rows_options lean = *options;
  lean.drop_empty = true;
  struct rows *rows = rows_new(&lean);
  const struct row_sink *sink = rows_sink(rows);
  enum status status = sink->begin(sink->context, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, err);
  for (size_t i = 0; i < outliers->row_count && status == STATUS_OK; i++) {
    const struct outlier *row = &outliers->rows[i];
    char change[CELL_MAX];
    char worst[CELL_MAX];
    char z[CELL_MAX];
    char cases[CELL_MAX];
    if (!all && (!row->slow || row->explained)) {
      continue;
    }
    (void)snprintf(change, sizeof change, "%+.2f", 100 * row->change);
    (void)snprintf(worst, sizeof worst, "%+.2f", 100 * row->worst_change);
    (void)snprintf(z, sizeof z, "%+.1f", row->z);
    (void)snprintf(cases, sizeof cases, "%zu of %zu", row->slow_cases, row->cases);
    const struct cell cells[] = {cell_text(row->name),
                                 cell_text(row->host),
                                 cell_text(row->block),
                                 cell_text(change),
                                 cell_text(z),
                                 cell_text(cases),
                                 cell_text(measured->cases[row->worst].name),
                                 cell_text(worst)};
    status = sink->row(sink->context, cells, err);
  }
  if (status == STATUS_OK) {
    status = sink->end(sink->context, err);
  }
  rows_free(rows);
  return status;
}

static enum status print_rows(const struct measured *measured, const struct outliers *outliers,
                              const struct rows_options *options, struct error *err) {
  static const char *const COLUMNS[] = {
      "entity",         "name", "host",  "uuid",       "block",      "slow",         "explained",
      "change_percent", "z",    "cases", "slow_cases", "worst_case", "worst_percent"};
  struct rows *rows = rows_new(options);
  const struct row_sink *sink = rows_sink(rows);
  enum status status = sink->begin(sink->context, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, err);
  for (size_t i = 0; i < outliers->row_count && status == STATUS_OK; i++) {
    const struct outlier *row = &outliers->rows[i];
    const struct cell cells[] = {cell_text(entity_text(row->entity)),
                                 cell_text(row->name),
                                 cell_text(row->host),
                                 cell_text(row->uuid),
                                 cell_text(row->block),
                                 cell_integer(row->slow),
                                 cell_integer(row->explained),
                                 cell_real(100 * row->change),
                                 cell_real(row->z),
                                 cell_integer((int64_t)row->cases),
                                 cell_integer((int64_t)row->slow_cases),
                                 cell_text(measured->cases[row->worst].name),
                                 cell_real(100 * row->worst_change)};
    status = sink->row(sink->context, cells, err);
  }
  if (status == STATUS_OK) {
    status = sink->end(sink->context, err);
  }
  rows_free(rows);
  return status;
}

enum status outliers_print(const struct measured *measured, const struct outliers *outliers,
                           bool all, const struct rows_options *options, struct error *err) {
  if (options->format != ROW_TABLE) {
    return print_rows(measured, outliers, options, err);
  }
  enum status status = STATUS_OK;
  if (outliers->slow_count > 0 || (all && outliers->row_count > 0)) {
    status = print_table(measured, outliers, all, options, err);
  }
  errno = 0;
  const bool failed =
      fprintf(options->stream, "%s%zu slow; %zu %s compared with their like%s\n",
              outliers->slow_count > 0 ? "\n" : "", outliers->slow_count, outliers->cases,
              outliers->cases == 1 ? "result" : "results",
              outliers->slow_count > 0
                  ? "\nchange: of speed, against the median of the like; z: in robust spreads"
                  : "") < 0;
  if (status == STATUS_OK && failed && errno != EPIPE) {
    return error_set_errno(err, errno, "cannot write the result");
  }
  return status;
}
