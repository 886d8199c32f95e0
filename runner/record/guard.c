#include "runner/record/guard.h"

#include "engine/base/arena.h"

#include <string.h>

/* Functions of their arguments alone, of the clock and of random numbers: SQLite's own, JSON and
 * mathematics. sqlite_rename_... and sqlite_drop_column are what ALTER TABLE calls; no statement
 * can.
 */
static const char FUNCTIONS[] =
    " -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling changes char coalesce"
    " concat concat_ws content_key cos cosh count cume_dist current_date current_time "
    "current_timestamp date"
    " datetime degrees dense_rank exp first_value floor format gather glob group_concat hex if"
    " ifnull iif instr json json_array json_array_length json_error_position json_extract"
    " json_group_array json_group_object json_insert json_object json_patch json_pretty"
    " json_quote json_remove json_replace json_set json_type json_valid jsonb jsonb_array"
    " jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch"
    " jsonb_remove jsonb_replace jsonb_set julianday lag last_insert_rowid last_value lead"
    " length like likelihood likely ln log log10 log2 lower ltrim max median min mod nth_value"
    " ntile nullif octet_length percent_rank percentile percentile_cont percentile_disc pi pow"
    " power printf quote radians random randomblob rank replace round row_number rtrim sign sin"
    " sinh soundex sqlite_compileoption_get sqlite_compileoption_used sqlite_drop_column"
    " sqlite_rename_column sqlite_rename_quotefix sqlite_rename_table sqlite_rename_test"
    " sqlite_source_id sqlite_version sqrt strftime string_agg substr substring subtype sum tan"
    " tanh time timediff total total_changes trim trunc typeof unhex unicode unistr unistr_quote"
    " unixepoch unlikely upper zeroblob ";

bool guard_allows_function(const char *name) {
  const size_t length = name != NULL ? strlen(name) : 0;
  const char *word = FUNCTIONS + strspn(FUNCTIONS, " ");
  while (*word != '\0' &&
         (strcspn(word, " ") != length || sqlite3_strnicmp(word, name, (int)length) != 0)) {
    word += strcspn(word, " ");
    word += strspn(word, " ");
  }
  return *word != '\0';
}

static int guard_authorize(void *context, int action, const char *first, const char *second,
                           const char *schema, const char *trigger) {
  (void)context, (void)first, (void)schema, (void)trigger;
  return action != SQLITE_FUNCTION || guard_allows_function(second) ? SQLITE_OK : SQLITE_DENY;
}

void guard_restore(sqlite3 *handle) {
  (void)sqlite3_set_authorizer(handle, guard_authorize, NULL);
}

static void guard_limit(sqlite3 *handle) {
  static const struct {
    int limit, value;
  } LIMITS[] = {{SQLITE_LIMIT_LENGTH, GUARD_LENGTH_MAX},
                {SQLITE_LIMIT_SQL_LENGTH, GUARD_SQL_MAX},
                {SQLITE_LIMIT_COLUMN, 2000},
                {SQLITE_LIMIT_EXPR_DEPTH, 500},
                {SQLITE_LIMIT_COMPOUND_SELECT, 500},
                {SQLITE_LIMIT_VDBE_OP, 1000000},
                {SQLITE_LIMIT_FUNCTION_ARG, 100},
                {SQLITE_LIMIT_ATTACHED, 0},
                {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 4096},
                {SQLITE_LIMIT_VARIABLE_NUMBER, 1000},
                {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                {SQLITE_LIMIT_WORKER_THREADS, 0}};
  for (size_t i = 0; i < COUNT_OF(LIMITS); i++) {
    (void)sqlite3_limit(handle, LIMITS[i].limit, LIMITS[i].value);
  }
}

void guard_connection(sqlite3 *handle) {
  static const char *keep[] = {"json_each", "json_tree", NULL};
  (void)sqlite3_drop_modules(handle, keep);
  guard_restore(handle);
  guard_limit(handle);
}

void guard_limit_length(sqlite3 *handle, int length) {
  (void)sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, length);
}

void guard_allow_attaching(sqlite3 *handle) {
  (void)sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1);
}
