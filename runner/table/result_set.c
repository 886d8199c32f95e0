#include "runner/table/result_set.h"

#include "runner/table/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RESULT_TEXT_MAX = 1 << 20 };

/* ---- filling ---- */

size_t result_set_add_column(struct result_set *set, const struct column *column) {
  set->columns = arena_grow(set->arena, set->columns, set->column_count, sizeof *set->columns);
  set->facts = arena_grow(set->arena, set->facts, set->column_count, sizeof *set->facts);
  set->columns[set->column_count] = *column;
  set->columns[set->column_count].name = arena_strdup(set->arena, column->name);
  set->facts[set->column_count] = (struct column_facts){false};
  return set->column_count++;
}

size_t result_set_add_row(struct result_set *set) {
  for (size_t i = 0; i < set->column_count; i++) {
    const size_t at = set->row_count * set->column_count + i;
    set->cells = arena_grow(set->arena, set->cells, at, sizeof *set->cells);
    set->cells[at] = cell_null();
  }
  return set->row_count++;
}

void result_set_put(struct result_set *set, size_t row, size_t column, struct cell cell) {
  const bool text = cell.kind == CELL_TEXT || cell.kind == CELL_BLOB;
  if (text) {
    cell.as.text.bytes = arena_strndup(set->arena, cell.as.text.bytes, cell.as.text.length);
  }
  set->facts[column].text = set->facts[column].text || text;
  set->facts[column].real = set->facts[column].real || cell.kind == CELL_REAL;
  const bool is_text = cell.kind == CELL_TEXT;
  set->facts[column].filled |= is_text ? cell.as.text.length > 0 : cell.kind != CELL_NULL;
  set->cells[row * set->column_count + column] = cell;
}

void result_set_clear_column(struct result_set *set, size_t column) {
  set->facts[column] = (struct column_facts){false};
  for (size_t row = 0; row < set->row_count; row++) {
    set->cells[row * set->column_count + column].kind = CELL_NULL;
  }
}

static enum status result_set_begin(void *context, const struct column *columns, size_t count,
                                    struct error *err) {
  (void)err;
  for (size_t i = 0; i < count; i++) {
    (void)result_set_add_column(context, &columns[i]);
  }
  return STATUS_OK;
}

static size_t result_set_find(const struct result_set *set, const char *column) {
  return FIRST_OF(i, set->column_count, strcmp(set->columns[i].name, column) == 0);
}

static bool cell_is(const struct cell *cell, const char *text) {
  return cell->kind == CELL_TEXT && cell->as.text.length == strlen(text) &&
         memcmp(cell->as.text.bytes, text, cell->as.text.length) == 0;
}

static bool result_set_has_room(struct result_set *set, const struct cell *cells) {
  struct result_limit *limit = &set->limit;
  if (limit->group_column == NULL) {
    return set->row_count < set->maximum;
  }
  const size_t group_at = result_set_find(set, limit->group_column);
  const size_t word_at = result_set_find(set, limit->word_column);
  const size_t kind = word_at < set->column_count && cell_is(&cells[word_at], limit->word) ? 1 : 0;
  if (group_at < set->column_count &&
      (limit->group == NULL || !cell_is(&cells[group_at], limit->group))) {
    const struct cell *cell = &cells[group_at];
    limit->group = cell->kind == CELL_TEXT
                       ? arena_strndup(set->arena, cell->as.text.bytes, cell->as.text.length)
                       : "";
    limit->group_passed[0] = limit->group_passed[1] = 0;
  }
  if (limit->passed[kind] == limit->maximum || limit->group_passed[kind] == limit->group_maximum) {
    return false;
  }
  limit->passed[kind]++;
  limit->group_passed[kind]++;
  return true;
}

static enum status result_set_row(void *context, const struct cell *cells, struct error *err) {
  (void)err;
  struct result_set *set = context;
  if (!result_set_has_room(set, cells)) {
    set->left_out++;
    return STATUS_OK;
  }
  const size_t row = result_set_add_row(set);
  for (size_t i = 0; i < set->column_count; i++) {
    result_set_put(set, row, i, cells[i]);
  }
  return STATUS_OK;
}

void result_set_init(struct result_set *set, size_t maximum) {
  *set = (struct result_set){
      .sink = {.context = set, .begin = result_set_begin, .row = result_set_row},
      .arena = calloc(1, sizeof(struct arena)),
      .maximum = maximum,
  };
  if (set->arena == NULL) {
    abort();
  }
}

void result_set_fini(struct result_set *set) {
  if (set->arena != NULL) {
    arena_fini(set->arena);
    free(set->arena);
  }
  *set = (struct result_set){.arena = NULL};
}

/* ---- asking ---- */

const struct cell *result_set_cell(const struct result_set *set, size_t row, size_t column) {
  return &set->cells[row * set->column_count + column];
}

bool result_set_is_right(const struct result_set *set, size_t column) {
  const enum column_align align = set->columns[column].align;
  return align == ALIGN_RIGHT || (align == ALIGN_BY_VALUE && !set->facts[column].text);
}

static const char *result_set_written(struct arena *arena, const struct cell *cell) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(RESULT_TEXT_MAX);
  text_cell(&text, cell, ESCAPE_TERMINAL);
  return arena_strndup(arena, text.text, text.length);
}

const char *result_set_text_at(const struct result_set *set, size_t row, size_t column) {
  const struct cell *cell = result_set_cell(set, row, column);
  return cell->kind == CELL_NULL   ? NULL
         : cell->kind == CELL_TEXT ? cell->as.text.bytes
                                   : result_set_written(set->arena, cell);
}

const char *result_set_optional(const struct result_set *set, size_t row, const char *column) {
  const size_t i = result_set_find(set, column);
  return i < set->column_count && row < set->row_count ? result_set_text_at(set, row, i) : NULL;
}

const char *result_set_text(const struct result_set *set, size_t row, const char *column) {
  const char *text = result_set_optional(set, row, column);
  return text != NULL ? text : "";
}

long long result_set_integer(const struct result_set *set, size_t row, const char *column) {
  return strtoll(result_set_text(set, row, column), NULL, 10);
}

double result_set_number(const struct result_set *set, size_t row, const char *column) {
  const size_t i = result_set_find(set, column);
  return i < set->column_count && row < set->row_count ? result_set_number_at(set, row, i) : NAN;
}

double result_set_number_at(const struct result_set *set, size_t row, size_t column) {
  const struct cell *cell = result_set_cell(set, row, column);
  return cell->kind == CELL_INTEGER ? (double)cell->as.integer
         : cell->kind == CELL_REAL  ? cell->as.real
                                    : NAN;
}

void result_set_drop_empty(struct result_set *set) {
  const size_t count = set->column_count;
  size_t cells = 0;
  for (size_t at = 0; at < set->row_count * count; at++) {
    if (set->facts[at % count].filled) {
      set->cells[cells++] = set->cells[at];
    }
  }
  set->column_count = 0;
  for (size_t c = 0; c < count; c++) {
    if (set->facts[c].filled) {
      set->columns[set->column_count] = set->columns[c];
      set->facts[set->column_count++] = set->facts[c];
    }
  }
}

enum status result_set_send(const struct result_set *set, const struct row_sink *sink,
                            struct error *err) {
  enum status status = sink->begin(sink->context, set->columns, set->column_count, err);
  for (size_t row = 0; row < set->row_count && status == STATUS_OK; row++) {
    status = sink_row(sink, result_set_cell(set, row, 0), err);
  }
  return THEN(status, sink_end(sink, err));
}

void *result_set_bind(const struct result_set *set, struct arena *arena,
                      const struct result_field *fields, size_t field_count, size_t struct_size) {
  char *items = arena_array(arena, set->row_count, struct_size);
  for (size_t f = 0; f < field_count; f++) {
    const size_t column = result_set_find(set, fields[f].column);
    for (size_t row = 0; row < set->row_count; row++) {
      char *member = items + row * struct_size + fields[f].offset;
      const bool known =
          column < set->column_count && result_set_cell(set, row, column)->kind != CELL_NULL;
      if (fields[f].number) {
        const double number = known ? result_set_number_at(set, row, column) : NAN;
        memcpy(member, &number, sizeof number);
      } else if (known || fields[f].required) {
        const char *text =
            known ? result_set_written(arena, result_set_cell(set, row, column)) : "";
        memcpy(member, &text, sizeof text);
      }
    }
  }
  return items;
}
