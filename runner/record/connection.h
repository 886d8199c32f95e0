/* connection.h - an open database: its statements, transactions, errors and limits of time.
 *
 * Statements come from schema/results by name. They may take DATABASE_LIMIT_S in all, and a second
 * more for each MiB of the file: no database that haul made comes near that. Opening a file, which
 * decides whether it is haul's, is in database.h. */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/error.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum { DATABASE_LIMIT_S = 60, DATABASE_APPLICATION_ID = 0x6861756c /* "haul" */ };

enum database_access { DATABASE_READ, DATABASE_WRITE };

/* Asked again and again while another program keeps the database locked; false: give up. */
typedef bool database_wait(void *context, uint64_t waited_ms);

struct statement;
struct database {
  sqlite3 *handle;
  char *path;
  int version;                     /* user_version: major * 1000 + minor */
  int file_version;                /* the file's own, where a migrated copy of it is read; else 0 */
  const char *network_file_system; /* its name; NULL = a local file system */
  char *foreign;                   /* what is in it that haul did not make; NULL = nothing */
  database_wait *wait;             /* NULL: for as long as it was opened to wait */
  void *wait_context;
  int64_t wait_started_ns;
  /* Statements may take that long in all; 0 = as long as they take. */
  uint64_t limit_ns, used_ns, step_started_ns;
  bool out_of_time;
  const volatile sig_atomic_t *interrupted; /* may be NULL; not 0: stop */
  struct statement *idle;                   /* finalized ones, to be used again */
  size_t idle_count;
  unsigned reading; /* database_begin_reading() without its end */
};

/* Ends the statements that wait to be used again. */
void database_drop_idle(struct database *database);
/* That, and sqlite3_close() of the handle. */
void database_close_handle(struct database *database);

/* From now on statements may take that long in all; limit_ns 0: as long as they take. interrupted
 * may be NULL. */
void database_limit_time(struct database *database, uint64_t limit_ns,
                         const volatile sig_atomic_t *interrupted);
/* What a file of that size may take. */
uint64_t database_time_for(int64_t size_bytes);
/* Whether a statement that runs is to end: asked by SQLite every few thousand steps. */
bool database_must_stop(struct database *database);
/* Again, after another progress handler was set. */
void database_watch_time(struct database *database);
/* sqlite3_step(), of which the time is taken. */
int database_step(struct database *database, sqlite3_stmt *stmt);
/* All pages of one database to another, which is empty. Errors are worded for the reader of `from`:
 * "cannot be copied ...". */
enum status database_copy_pages(const struct database *from, sqlite3 *to,
                                struct error *err) CHECK_RESULT;

/* SQL of schema/results by its name: "case/insert_chase" is the section "-- name: insert_chase" of
 * statements/case.sql, "views.sql" that whole file. It must exist. The caller frees. */
char *database_sql(const char *name);

/* One prepared statement from schema/results/statements. A finalized one is kept and used again
 * when the statement of that name is prepared next. */
enum { STATEMENT_MEMBERS_MAX = 16 };
struct statement {
  struct database *database;
  sqlite3_stmt *stmt;
  const char *name; /* "case/insert_chase" */
  const char *sql;  /* where schema/results has it; NULL = elsewhere */
  /* Of rows.h: the members that were read last, and the columns that they come from. */
  const struct row_member *members;
  unsigned char columns[STATEMENT_MEMBERS_MAX];
};

/* name: static text. A statement that failed takes values and is finalized like any other, and has
 * no rows. */
enum status statement_prepare(struct database *database, const char *name,
                              struct statement *statement, struct error *err) CHECK_RESULT;
void statement_finalize(struct statement *statement);
/* Index of ":name" for sqlite3_bind_*(), for statements that are run often; it must be there. */
int statement_parameter(const struct statement *statement, const char *parameter);
/* parameter: ":name", which must be in the statement. Bound text is borrowed until the next bind
 * or reset. NULL text binds NULL. */
void statement_bind_int(struct statement *statement, const char *parameter, int64_t value);
void statement_bind_real(struct statement *statement, const char *parameter, double value);
void statement_bind_text(struct statement *statement, const char *parameter, const char *text);
/* Run a statement that returns no rows, and make it ready for the next binding. */
enum status statement_run(struct statement *statement, struct error *err) CHECK_RESULT;
/* Step to the next row, if *status is STATUS_OK. False: there is none, or *status says what went
 * wrong; the statement is reset. */
bool statement_next(struct statement *statement, enum status *status, struct error *err);
/* Run SELECT gather(:take, ...): SQLite hands the values behind :take of every row to take(),
 * within its own loop, which takes half as long as to return each row and to ask for its columns.
 */
typedef void statement_take(void *context, sqlite3_value **values);
enum status statement_gather(struct statement *statement, statement_take *take, void *context,
                             struct error *err) CHECK_RESULT;
/* For a connection: gather(), and content_key(TEXT), the key of content (content.h) that is a text
 * of netstrings. */
void database_add_functions(sqlite3 *handle);
/* NAN for NULL. */
double value_real(sqlite3_value *value);
/* After a row was read and no more are wanted: reset and clear the bindings. */
void statement_reset(struct statement *statement);
/* Column i of the row at hand as text, valid until the next step. Never NULL: what the schema says
 * of NULLs, a file need not keep to, and so NULL is "". */
const char *statement_text(const struct statement *statement, int i);
/* Kept by the arena; NULL for NULL. */
char *statement_column_optional(const struct statement *statement, int i, struct arena *arena);
/* How many columns the statement has. */
int statement_column_count(const struct statement *statement);

/* Run SQL of several statements by its name, as database_sql() has it. */
enum status database_script(struct database *database, const char *name,
                            struct error *err) CHECK_RESULT;
/* The statements that are the rows of the statement of that name; the caller frees. */
enum status database_generate(struct database *database, const char *name, char **sql,
                              struct error *err) CHECK_RESULT;
/* Run them. */
enum status database_run_generated(struct database *database, const char *name,
                                   struct error *err) CHECK_RESULT;
/* Run SQL of several statements. */
enum status database_run_sql(struct database *database, const char *sql,
                             struct error *err) CHECK_RESULT;
/* A write transaction; a failing commit rolls back. Rolling back never fails. */
enum status database_begin(struct database *database, struct error *err) CHECK_RESULT;
enum status database_commit(struct database *database, struct error *err) CHECK_RESULT;
void database_rollback(struct database *database);
/* Between both, which may be nested, all statements read one state of the file, which others can
 * then not change, and take its lock once. */
enum status database_begin_reading(struct database *database, struct error *err) CHECK_RESULT;
void database_end_reading(struct database *database);
/* Commit if the work since the beginning came to STATUS_OK, else roll back. */
enum status database_end(struct database *database, enum status status,
                         struct error *err) CHECK_RESULT;

/* Fill err from the handle's last error: the file, SQLite's message, and
 * for the usual causes (full disk, lock, read-only) what to do. SQL of haul's own that names what
 * is not there: the file is not what its version says (DATABASE_ALTERED). */
enum status database_error(const struct database *database, struct error *err);
/* What to do about a damaged database, behind a message: "; to save ...: haul export ...". */
const char *database_rescue(struct arena *arena, const char *path);
/* What follows "it has no column TABLE.COLUMN". */
#define DATABASE_ALTERED                                                                           \
  ", which its version of the schema has: it was not made by a released haul, or was changed by "  \
  "other means"
/* "column: f.pieces", "table: fleet", of an error that says that there is none; NULL: of another.
 */
const char *database_missing(const struct database *database);
