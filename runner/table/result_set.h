/* result_set.h - a result table that is kept: typed cells in rows of named columns.
 *
 * It is filled by a query (give it result_set.sink) or row by row, is asked for cells by the names
 * of columns, and can be sent to any other sink. Texts are copied, unescaped, and live as long as
 * the set, as do the texts that it returns. No errors but want of memory (then it aborts). */
#pragma once

#include "engine/base/arena.h"
#include "runner/table/table.h"

/* What the cells of a column are. */
struct column_facts {
  bool text;   /* some value is a text or a blob */
  bool real;   /* some value is a real number */
  bool filled; /* some value is neither NULL nor an empty text */
};

/* Only the first rows of each group are kept, so that a page of a very large result stays one that
 * can be read. A group is the rows in a sequence that have the same text in one column; its rows
 * that have `word` in another column are counted apart from the others. Texts are borrowed. */
struct result_limit {
  const char *group_column, *word_column, *word;
  size_t group_maximum, maximum; /* of a group, of all; each with and without the word */
  /* private: counted so far, without and with the word */
  size_t passed[2], group_passed[2];
  const char *group;
};

struct result_set {
  struct row_sink sink; /* for one result */
  bool is_matrix;       /* columns are places, as rows are: numbers have the tones of TONE_HEAT */
  struct arena *arena;
  size_t maximum;            /* rows that are kept */
  size_t left_out;           /* rows for which there was no room */
  struct result_limit limit; /* may be set after result_set_init() */
  struct column *columns;
  struct column_facts *facts; /* by column */
  size_t column_count;
  struct cell *cells; /* rows x columns */
  size_t row_count;
};

void result_set_init(struct result_set *set, size_t maximum);
void result_set_fini(struct result_set *set);

/* The number of the new column or row. Columns come before rows; a new row is of NULLs. */
size_t result_set_add_column(struct result_set *set, const struct column *column);
size_t result_set_add_row(struct result_set *set);
void result_set_put(struct result_set *set, size_t row, size_t column, struct cell cell);
/* All its cells become NULL; their tones stay. */
void result_set_clear_column(struct result_set *set, size_t column);

const struct cell *result_set_cell(const struct result_set *set, size_t row, size_t column);
/* No cell is a text: then numbers stand to the right. */
bool result_set_is_right(const struct result_set *set, size_t column);
/* A cell as people read it (text_cell()), but for control characters, which stay; NULL where the
 * cell is NULL. */
const char *result_set_text_at(const struct result_set *set, size_t row, size_t column);
/* By the column's name. Never NULL: "" where the cell is, or there is no such row or column. */
const char *result_set_text(const struct result_set *set, size_t row, const char *column);
/* The same for columns that may be NULL, which then is NULL. */
const char *result_set_optional(const struct result_set *set, size_t row, const char *column);
/* The same as a whole number; 0 where it is none. */
long long result_set_integer(const struct result_set *set, size_t row, const char *column);
/* The same as a number; NAN where it is none. */
double result_set_number(const struct result_set *set, size_t row, const char *column);
double result_set_number_at(const struct result_set *set, size_t row, size_t column);

/* Columns without a value go. */
void result_set_drop_empty(struct result_set *set);

/* Give everything to another sink. */
enum status result_set_send(const struct result_set *set, const struct row_sink *sink,
                            struct error *err) CHECK_RESULT;

/* ---- rows as structs ---- */

/* Which column goes to which member of a struct: a const char *, escaped for a terminal, or a
 * double. Members without a column or a value are NULL or NAN. */
struct result_field {
  const char *column;
  size_t offset;
  bool number;
  bool required; /* of a text: "" where there is none */
};
/* The rows as an array of structs, in that arena. */
void *result_set_bind(const struct result_set *set, struct arena *arena,
                      const struct result_field *fields, size_t field_count, size_t struct_size);
