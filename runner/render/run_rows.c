#include "runner/render/run_rows.h"

#include "runner/render/text.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16 };

/* Where a column goes in struct run_row. */
static const struct {
  const char *column;
  size_t offset;
  bool number;
} row_fields[] = {
#define TEXT(column, member)                                                                       \
  { column, offsetof(struct run_row, member), false }
#define NUMBER(column, member)                                                                     \
  { column, offsetof(struct run_row, member), true }
    TEXT("case", name),
    TEXT("block", block),
    TEXT("path", path),
    TEXT("axes", axes),
    TEXT("kind", kind),
    TEXT("method", method),
    TEXT("operation", operation),
    TEXT("direction", direction),
    TEXT("source", source),
    TEXT("source_memory", source_memory),
    TEXT("target", target),
    TEXT("target_memory", target_memory),
    NUMBER("flows", flows),
    NUMBER("under_load", under_load),
    NUMBER("size_bytes", size_bytes),
    NUMBER("gbps", gbps),
    NUMBER("gbps_low", gbps_low),
    NUMBER("gbps_high", gbps_high),
    NUMBER("percent_of_peak", percent_of_peak),
    NUMBER("peak_gbps", peak_gbps),
    TEXT("limited_by", limited_by),
    NUMBER("ns_per_hop", ns_per_hop),
    NUMBER("cycles_per_hop", cycles_per_hop),
    TEXT("measure", measure),
    NUMBER("ns_per_op", ns_per_op),
    NUMBER("cycles_per_op", cycles_per_op),
    NUMBER("ops_per_clock_sm", ops_per_clock_sm),
    NUMBER("median_ns", median_ns),
    NUMBER("low_ns", low_ns),
    NUMBER("high_ns", high_ns),
    NUMBER("processes", processes),
    TEXT("status", status),
    TEXT("reason", reason),
    TEXT("note", note),
    TEXT("stop", stop),
#undef TEXT
#undef NUMBER
};
enum { FIELD_COUNT = sizeof row_fields / sizeof *row_fields };

static int field_of(const char *column) {
  for (int i = 0; i < FIELD_COUNT; i++) {
    if (strcmp(row_fields[i].column, column) == 0) {
      return i;
    }
  }
  return -1;
}

static enum status begin(void *context, const char *const *columns, size_t count,
                         struct error *err) {
  (void)err;
  struct run_rows *rows = context;
  rows->fields = arena_array(&rows->arena, count, sizeof *rows->fields);
  rows->column_count = count;
  for (size_t i = 0; i < count; i++) {
    rows->fields[i] = field_of(columns[i]);
  }
  return STATUS_OK;
}

static const char *text_of(struct run_rows *rows, const struct cell *cell) {
  struct strbuf text;
  strbuf_init(&text, TEXT_MAX);
  text_cell(&text, cell, ESCAPE_TERMINAL);
  const char *kept = arena_strndup(&rows->arena, text.text, text.length);
  strbuf_fini(&text);
  return kept;
}

static double number_of(const struct cell *cell) {
  return cell->kind == CELL_INTEGER ? (double)cell->as.integer
         : cell->kind == CELL_REAL  ? cell->as.real
                                    : NAN;
}

static enum status row(void *context, const struct cell *cells, struct error *err) {
  (void)err;
  struct run_rows *rows = context;
  rows->items =
      arena_grow(&rows->arena, rows->items, rows->count, &rows->capacity, sizeof *rows->items);
  struct run_row *item = &rows->items[rows->count++];
  *item = (struct run_row){.name = NULL};
  for (int i = 0; i < FIELD_COUNT; i++) {
    if (row_fields[i].number) {
      const double none = NAN;
      memcpy((char *)item + row_fields[i].offset, &none, sizeof none);
    }
  }
  for (size_t i = 0; i < rows->column_count; i++) {
    if (rows->fields[i] < 0 || cells[i].kind == CELL_NULL) {
      continue;
    }
    char *member = (char *)item + row_fields[rows->fields[i]].offset;
    if (row_fields[rows->fields[i]].number) {
      const double number = number_of(&cells[i]);
      memcpy(member, &number, sizeof number);
    } else {
      const char *text = text_of(rows, &cells[i]);
      memcpy(member, &text, sizeof text);
    }
  }
  return STATUS_OK;
}

static enum status end(void *context, struct error *err) {
  (void)context, (void)err;
  return STATUS_OK;
}

void run_rows_init(struct run_rows *rows) {
  *rows = (struct run_rows){.sink = {rows, begin, row, end, NULL}};
}

void run_rows_fini(struct run_rows *rows) {
  arena_fini(&rows->arena);
}
