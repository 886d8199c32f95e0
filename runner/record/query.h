/* query.h - runs the SQL of users and the saved queries, read-only.
 *
 * The connection is read-only and an authorizer lets only reading through: no ATTACH, no writing,
 * no pragma that sets something, no function that is not on the list of guard.h. One statement per
 * call. Parameters are :name, @name or $name. */
#pragma once

#include "runner/record/database.h"
#include "runner/table/table.h"

#include <signal.h>

struct query;

struct query_parameter {
  const char *name;  /* "run" or ":run" */
  const char *value; /* bound as an integer or real where it is one, else as text; :run is a run
                      * selector */
};

struct query_options {
  uint64_t time_limit_ns; /* 0 = none; STATUS_TIMEOUT past it */
  /* May be NULL. Not 0: stop with STATUS_INTERRUPTED. */
  const volatile sig_atomic_t *interrupted;
};

/* STATUS_NOT_FOUND: there is no database yet. */
enum status query_open(const char *path, struct query **query, struct error *err) CHECK_RESULT;
/* Accepts NULL. */
void query_close(struct query *query);
/* For selector_find(). */
struct database *query_database(struct query *query);

/* Run one statement and give its rows to the sink. options may be NULL. A parameter :run that is
 * not given is the latest run; another one that is not given, or given and not in the statement, is
 * STATUS_USAGE. An error in the SQL is STATUS_INVALID with its position in err->position where
 * SQLite knows it (and in the message). */
enum status query_run(struct query *query, const char *sql,
                      const struct query_parameter *parameters, size_t parameter_count,
                      const struct query_options *options, const struct row_sink *sink,
                      struct error *err) CHECK_RESULT;
/* The same for a saved query (runner/record/saved.h), with its types and defaults. */
enum status query_run_saved(struct query *query, const char *name,
                            const struct query_parameter *parameters, size_t parameter_count,
                            const struct query_options *options, const struct row_sink *sink,
                            struct error *err) CHECK_RESULT;

/* The columns of a saved query in a row of examples: "" for a column of texts, 0 or 0.0 for
 * numbers, NULL where the schema does not say. It needs no database. */
enum status query_describe_saved(const char *name, const struct row_sink *sink,
                                 struct error *err) CHECK_RESULT;
