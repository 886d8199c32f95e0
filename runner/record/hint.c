#include "runner/record/hint.h"

#include "runner/record/rows.h"
#include "runner/record/saved.h"
#include "schema/scenario/nearest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Letters by which a name may differ from a view's, from which on another is meant. */
enum { VIEW_DISTANCE = 3 };

static const char NO_TABLE[] = "no such table: ";
static const char NO_COLUMN[] = "no such column: ";
static const char NO_FUNCTION[] = "no such function: ";
static const char AMBIGUOUS[] = "ambiguous column name: ";

/* What follows the beginning of a message; NULL: it begins otherwise. */
static const char *hint_after(const char *message, const char *begin) {
  const size_t length = strlen(begin);
  return strncmp(message, begin, length) == 0 ? message + length : NULL;
}

static bool hint_in_name(char c) {
  return c == '_' || isalnum((unsigned char)c);
}

/* Where the SQL has that word, from `from` on; NULL: nowhere. */
static const char *hint_word(const char *sql, const char *from, const char *word) {
  const size_t length = strlen(word);
  const char *at = length > 0 ? from : NULL;
  while (at != NULL && (at = strcasestr(at, word)) != NULL &&
         ((at > sql && hint_in_name(at[-1])) || hint_in_name(at[length]))) {
    at += length;
  }
  return at;
}

/* What people try first. */
static const char *hint_function(const char *name) {
  static const char *const STATISTICS[] = {"median", "percentile", "quantile", "stddev",
                                           "stdev",  "variance",   "std"};
  for (size_t i = 0; i < COUNT_OF(STATISTICS); i++) {
    if (strcasecmp(name, STATISTICS[i]) == 0) {
      return "; v_case has the median (gbps, median_ns), gbps_p5, gbps_p95 and cv of each case";
    }
  }
  return "";
}

/* Of the tables and views, or of the columns of those that the SQL names. */
struct names {
  const char **names;
  size_t count;
};

static struct names hint_names(struct database *database, const char *name, const char *sql,
                               struct arena *arena) {
  struct names list = {NULL, 0};
  struct error unused = {0};
  (void)!DATABASE_READ_ALL(database, name, sql != NULL ? PARAMETERS(PARAMETER(":sql", sql)) : NULL,
                           ROW_WORD, arena, list.names, list.count, &unused);
  return list;
}

/* The view that the SQL reads; NULL: none, or several. */
static const char *hint_view(struct database *database, const char *sql, struct arena *arena) {
  const struct names tables = hint_names(database, "database/table_names", NULL, arena);
  const char *view = NULL;
  size_t count = 0;
  for (size_t i = 0; i < tables.count; i++) {
    if (strncmp(tables.names[i], "v_", 2) == 0 && hint_word(sql, sql, tables.names[i]) != NULL) {
      view = tables.names[i];
      count++;
    }
  }
  return count == 1 ? view : NULL;
}

static const char *hint_syntax(struct database *database, const char *sql, struct arena *arena) {
  struct saved_query saved;
  if (saved_query_find(sql, arena, &saved, NULL) == STATUS_OK) {
    return arena_format(arena, "; %s is a saved query: haul query --saved %s", sql, sql);
  }
  const char *view = hint_view(database, sql, arena);
  if (view != NULL && strncasecmp(sql, "desc", 4) == 0) {
    return arena_format(arena, "; haul schema %s explains its columns", view);
  }
  if (strncasecmp(sql, "show ", 5) == 0 || sql[0] == '.') {
    return "; haul schema views lists the views";
  }
  return strcasestr(sql, "case") != NULL && strcasestr(sql, "when") == NULL
             ? "; the column is case_name, because case is a word of SQL"
             : "";
}

/* The first row of a statement about a column, as one text; NULL: there is none. */
static const char *hint_ask(struct database *database, const char *name, const char *column,
                            const char *view, struct arena *arena) {
  struct error unused = {0};
  const char *words[ROW_WORDS];
  (void)!database_read_words(
      database, name,
      PARAMETERS(PARAMETER(":column", column), PARAMETER(":view", view != NULL ? view : "")), arena,
      words, &unused);
  return words[0];
}

/* `"quick"`, or quick behind "=": a text without the quotes of one. */
static bool hint_is_text(const char *sql, const char *name) {
  for (const char *at = hint_word(sql, sql, name); at != NULL;
       at = hint_word(sql, at + strlen(name), name)) {
    const char *before = at;
    while (before > sql && isspace((unsigned char)before[-1])) {
      before--;
    }
    if (before > sql && (before[-1] == '"' || before[-1] == '=')) {
      return true;
    }
  }
  return false;
}

/* The table, view or column of that name that is meant; NULL: none is near. */
static const char *hint_nearest(struct database *database, const char *sql, const char *wanted,
                                bool table, struct arena *arena) {
  struct nearest nearest = nearest_start(wanted);
  const char *longer = NULL;
  const char *view = NULL;
  const struct names names = table ? hint_names(database, "database/table_names", NULL, arena)
                                   : hint_names(database, "database/column_names", sql, arena);
  const size_t length = strlen(wanted);
  for (size_t i = 0; i < names.count; i++) {
    const char *offered = names.names[i];
    if (strncasecmp(offered, wanted, length) == 0 && offered[length] == '_' &&
        (longer == NULL || strlen(offered) < strlen(longer))) {
      longer = offered; /* "host" of "host_name" rather than of "host_cache" */
    }
    if (strcasecmp(offered, wanted) != 0) { /* a column of another table */
      nearest_offer(&nearest, offered);
    }
    /* "v_trial" for "trials", rather than the table "trial" */
    if (table && strncmp(offered, "v_", 2) == 0 &&
        nearest_distance(wanted, offered + 2, VIEW_DISTANCE) < VIEW_DISTANCE) {
      view = offered;
    }
  }
  return view != NULL ? view : nearest.word != NULL ? nearest.word : longer;
}

static const char *hint_column(struct database *database, const char *sql, const char *column,
                               struct arena *arena) {
  const char *view = hint_view(database, sql, arena);
  const char *nearest = hint_nearest(database, sql, column, false, arena);
  const char *known = NULL;
  if (nearest == NULL && hint_is_text(sql, column)) {
    return arena_format(arena, "; text goes in single quotes: '%s'", column);
  }
  /* "processes", which v_result has, is not "process" of v_case; "host" is "host_name". */
  if (nearest == NULL || strlen(nearest) < strlen(column)) {
    known = hint_ask(database, "database/view_with", column, view, arena);
  }
  if (known != NULL) {
    return arena_format(arena, "%s%s; %s", view != NULL ? " in " : "", view != NULL ? view : "",
                        known);
  }
  if (nearest != NULL) {
    return arena_format(arena, ": did you mean \"%s\"?", nearest);
  }
  if (hint_ask(database, "database/fact", column, NULL, arena) != NULL) {
    return arena_format(
        arena, "; it is a fact: SELECT gpu, value FROM v_fact WHERE run = :run AND fact = '%s'",
        column);
  }
  return view != NULL ? arena_format(arena, "; haul schema %s lists its columns", view)
                      : "; haul schema views lists the views";
}

/* The other name that the SQL gives a view here, behind it; NULL: none. */
static const char *hint_alias(const char *behind, struct arena *arena) {
  static const char AS[] = "as";
  for (bool said = false;; said = true) {
    behind += strspn(behind, " \t\r\n");
    size_t length = 0;
    while (hint_in_name(behind[length])) {
      length++;
    }
    if (!said && length == sizeof AS - 1 && strncasecmp(behind, AS, length) == 0) {
      behind += length;
      continue;
    }
    return length > 0 && sqlite3_keyword_check(behind, (int)length) == 0
               ? arena_strndup(arena, behind, length)
               : NULL;
  }
}

/* What tells a column of the first view that has it from those of others; NULL: no view has it. */
static const char *hint_qualifier(struct database *database, const char *sql, const char *column,
                                  struct arena *arena) {
  struct names views = {NULL, 0};
  struct error unused = {0};
  (void)!DATABASE_READ_ALL(database, "database/tables_with",
                           PARAMETERS(PARAMETER(":sql", sql), PARAMETER(":column", column)),
                           ROW_WORD, arena, views.names, views.count, &unused);
  const char *first = NULL;
  const char *qualifier = NULL;
  for (size_t i = 0; i < views.count; i++) {
    const size_t length = strlen(views.names[i]);
    const char *at = hint_word(sql, sql, views.names[i]);
    while (at != NULL && at[length] == '.') { /* it is the qualifier of another column */
      at = hint_word(sql, at + length, views.names[i]);
    }
    if (at != NULL && (first == NULL || at < first)) {
      const char *alias = hint_alias(at + length, arena);
      first = at;
      qualifier = alias != NULL ? alias : views.names[i];
    }
  }
  return qualifier;
}

const char *hint_for(struct database *database, const char *sql, const char *message,
                     struct arena *arena) {
  const char *name;
  if ((name = hint_after(message, NO_FUNCTION)) != NULL) {
    return hint_function(name);
  }
  if ((name = hint_after(message, AMBIGUOUS)) != NULL) {
    const char *view = hint_qualifier(database, sql, name, arena);
    return view != NULL ? arena_format(arena, "; say of which view it is, as in %s.%s", view, name)
                        : "; say of which view it is";
  }
  const bool table = hint_after(message, NO_TABLE) != NULL;
  name = hint_after(message, table ? NO_TABLE : NO_COLUMN);
  if (name == NULL) {
    return strstr(message, "syntax error") != NULL ? hint_syntax(database, sql, arena) : "";
  }
  /* SQLite 3.46 and later: no such column: "quick" - should this be a string literal ... */
  if (name[0] == '"') {
    name = arena_strndup(arena, name + 1, strcspn(name + 1, "\""));
  }
  const char *dot = strrchr(name, '.'); /* "c.name", "main.table" */
  name = dot != NULL ? dot + 1 : name;
  if (!table) {
    return hint_column(database, sql, name, arena);
  }
  const char *nearest = hint_nearest(database, sql, name, true, arena);
  return nearest != NULL ? arena_format(arena, ": did you mean \"%s\"?", nearest)
                         : "; haul schema views lists the views";
}
