/* rows.h - statements in one call: parameters bound from values, rows read into structs by the
 * names of their columns.
 *
 *   static const struct row_member MEMBERS[] = {
 *       ROW_MEMBER(struct run_ref, id), ROW_MEMBER(struct run_ref, uuid), {0}};
 *   status = DATABASE_READ_ALL(database, "manage/running_runs",
 *                              PARAMETERS(PARAMETER(":host", host)), MEMBERS, arena, runs->runs,
 *                              runs->count, err);
 *
 * A column that the statement does not have is a mistake in this program, as is a parameter.
 * Members without a row in the table stay as they are. */
#pragma once

#include "runner/record/connection.h"

#include <stddef.h>

/* ---- parameters ---- */

struct parameter {
  const char *name; /* ":run"; NULL ends them */
  enum { BIND_INT, BIND_REAL, BIND_TEXT } type;
  int64_t integer;
  double real;
  const char *text; /* NULL binds NULL */
};
static inline struct parameter parameter_int(const char *name, int64_t value) {
  return (struct parameter){.name = name, .type = BIND_INT, .integer = value};
}
static inline struct parameter parameter_real(const char *name, double value) {
  return (struct parameter){.name = name, .type = BIND_REAL, .real = value};
}
static inline struct parameter parameter_text(const char *name, const char *value) {
  return (struct parameter){.name = name, .type = BIND_TEXT, .text = value};
}
/* A text, a double or an integer. */
#define PARAMETER(name, value)                                                                     \
  _Generic((value), char * : parameter_text, const char * : parameter_text, double                 \
           : parameter_real, default                                                               \
           : parameter_int)((name), (value))
#define PARAMETERS(...) ((const struct parameter[]){__VA_ARGS__, {0}})

/* ---- members ---- */

enum row_type {
  ROW_INTEGER,  /* of 4 or 8 bytes; NULL is 0 */
  ROW_NUMBER,   /* int; NULL is -1 */
  ROW_BOOL,     /* NULL is false */
  ROW_REAL,     /* NULL is NAN */
  ROW_OPTIONAL, /* const char *; NULL is NULL */
  ROW_TEXT,     /* const char *; NULL, which a file need not keep out, is "" */
  ROW_ARRAY,    /* char[size], cut where it is longer */
  ROW_ENUM,     /* one of names, else `other`; NULL is the first */
};

/* One column, and where its value goes. A row without a column ends a table. */
struct row_member {
  const char *column;
  enum row_type type;
  size_t offset, size;
  const char *const *names; /* of ENUM_NAMES_DECLARE() */
  int other;
};

#define ROW_MEMBER_OF_(T, member) (((T *)0)->member)
#define ROW_TYPE_OF_(T, member)                                                                    \
  _Generic(ROW_MEMBER_OF_(T, member), bool                                                         \
           : ROW_BOOL, int                                                                         \
           : ROW_NUMBER, double                                                                    \
           : ROW_REAL, const char *                                                                \
           : ROW_OPTIONAL, char *                                                                  \
           : ROW_ARRAY, default                                                                    \
           : ROW_INTEGER)
/* A column with the name of the member; one with another name. */
#define ROW_MEMBER(T, member) ROW_COLUMN(T, member, #member)
#define ROW_COLUMN(T, member, name)                                                                \
  {                                                                                                \
    .column = (name), .type = ROW_TYPE_OF_(T, member), .offset = offsetof(T, member),              \
    .size = sizeof ROW_MEMBER_OF_(T, member)                                                       \
  }
/* A text that is not NULL in any database of haul's. */
#define ROW_MEMBER_TEXT(T, member) ROW_COLUMN_TEXT(T, member, #member)
#define ROW_COLUMN_TEXT(T, member, name)                                                           \
  { .column = (name), .type = ROW_TEXT, .offset = offsetof(T, member) }
#define ROW_MEMBER_ENUM(T, member, texts, unknown)                                                 \
  {                                                                                                \
    .column = #member, .type = ROW_ENUM, .offset = offsetof(T, member), .names = (texts),          \
    .other = (unknown)                                                                             \
  }

/* ---- statements ---- */

/* statement_next(), and the row's values go into the struct. Texts are kept by the arena, which may
 * be NULL where no member is one. */
bool rows_next(struct statement *statement, const struct row_member *members, void *row,
               struct arena *arena, enum status *status, struct error *err);
/* Binds them; NULL = none. */
void statement_bind(struct statement *statement, const struct parameter *parameters);
/* A statement without rows, once. parameters: NULL = none. */
enum status database_do(struct database *database, const char *name,
                        const struct parameter *parameters, struct error *err) CHECK_RESULT;
/* Its first row; without one the struct stays as it is, and *found, which may be NULL, is false.
 * members NULL: nothing is read of it. */
enum status database_read(struct database *database, const char *name,
                          const struct parameter *parameters, const struct row_member *members,
                          void *row, struct arena *arena, bool *found,
                          struct error *err) CHECK_RESULT;
/* All its rows: items, a pointer to structs, and their count. */
#define DATABASE_READ_ALL(database, name, parameters, members, arena, items, count, err)           \
  database_read_all((database), (name), (parameters), (members), (arena),                          \
                    &(struct row_array){&(items), sizeof *(items), &(count)}, (err))
struct row_array {
  void *items; /* address of the pointer */
  size_t size_bytes;
  size_t *count;
};
enum status database_read_all(struct database *database, const char *name,
                              const struct parameter *parameters, const struct row_member *members,
                              struct arena *arena, const struct row_array *rows,
                              struct error *err) CHECK_RESULT;

/* The first columns of its first row, which a message is made of, as texts; NULL where there is no
 * row, or no value. */
enum { ROW_WORDS = 2 };
enum status database_read_words(struct database *database, const char *name,
                                const struct parameter *parameters, struct arena *arena,
                                const char *words[ROW_WORDS], struct error *err) CHECK_RESULT;

/* `refused` where the statement has a row: the message takes those two texts of it. */
enum status database_refuse_row(struct database *database, const char *name, enum status refused,
                                const char *format, struct error *err) CHECK_RESULT
    __attribute__((format(printf, 4, 0)));

/* What a table of a text alone reads; lists of it are arrays of const char *. */
extern const struct row_member ROW_WORD[];
