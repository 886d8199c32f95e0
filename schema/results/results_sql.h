/* results_sql.h - every .sql file of this folder, embedded in alphabetical order:
 * migrations/NNNN_X, queries/X, statements/X, views. A file of statements/ has several, each below
 * a line "-- name: NAME". */
#pragma once

#include "engine/base/embed.h"

extern const struct embedded_file results_sql[];
extern const size_t results_sql_count;
