/* measured_rows.h - rows of a statement into a struct measured; for the files of measured.h only.
 */
#ifndef HAUL_RUNNER_RECORD_MEASURED_ROWS_H
#define HAUL_RUNNER_RECORD_MEASURED_ROWS_H

#include "runner/record/database.h"
#include "runner/record/measured.h"

/* Column i of the row that the statement stands at, kept by measured; NULL for NULL. */
const char *measured_text(struct measured *measured, const struct statement *statement, int i);

/* Called for each row of a statement. */
typedef void measured_take(struct measured *measured, const struct statement *statement,
                           void *context);
/* Bind one number (parameter NULL: none), give every row to take. */
enum status measured_each_row(struct measured *measured, struct database *database,
                              const char *name, const char *parameter, int64_t value,
                              measured_take *take, void *context, struct error *err) CHECK_RESULT;

#endif
