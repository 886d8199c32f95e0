#include "runner/record/foreign.h"

#include "engine/base/strbuf.h"
#include "runner/record/migrate.h"
#include "runner/record/rows.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_SHOWN = 3, NAMES_MAX = 300, TEXT_MAX = 8 << 20 };

struct object {
  const char *type, *name;
  const char *text; /* with one space for blanks and comments */
};

struct objects {
  struct arena arena;
  struct object *items;
  size_t count;
};

/* The end of a token that blanks are a part of: a quoted name or text, or a comment. */
static const char *foreign_skip(const char *at) {
  const char *end = NULL;
  if (*at == '\'' || *at == '"' || *at == '`') {
    end = strchr(at + 1, *at);
  } else if (*at == '[') {
    end = strchr(at, ']');
  } else if (strncmp(at, "--", 2) == 0) {
    end = strchr(at, '\n');
  } else if (strncmp(at, "/*", 2) == 0) {
    end = strstr(at + 2, "*/");
    end = end != NULL ? end + 1 : NULL;
  } else {
    return at + 1;
  }
  return end != NULL ? end + 1 : at + strlen(at);
}

/* Versions of SQLite, and of haul's comments, differ in blanks. */
static const char *foreign_plain(const char *sql, struct arena *arena) {
  char *plain = arena_alloc(arena, strlen(sql) + 1); /* a blank takes the place of one at least */
  size_t used = 0;
  bool blank = false;
  for (const char *at = sql; *at != '\0';) {
    const char *end = foreign_skip(at);
    const bool comment = strncmp(at, "--", 2) == 0 || strncmp(at, "/*", 2) == 0;
    const bool separates = comment || isspace((unsigned char)*at);
    if (!separates) {
      if (blank) {
        plain[used++] = ' ';
      }
      memcpy(plain + used, at, (size_t)(end - at));
      used += (size_t)(end - at);
    }
    blank = separates;
    at = end;
  }
  plain[used] = '\0';
  return plain;
}

static enum status foreign_read(struct database *database, struct objects *objects,
                                struct error *err) {
  static const struct row_member MEMBERS[] = {ROW_MEMBER_TEXT(struct object, type),
                                              ROW_MEMBER_TEXT(struct object, name),
                                              ROW_COLUMN_TEXT(struct object, text, "sql"),
                                              {0}};
  SCOPED(statement_finalize) struct statement statement = {0};
  struct object object;
  enum status status = statement_prepare(database, "foreign/objects", &statement, err);
  while (rows_next(&statement, MEMBERS, &object, &objects->arena, &status, err)) {
    object.text = foreign_plain(object.text, &objects->arena);
    *ARENA_ADD(&objects->arena, objects->items, objects->count) = object;
  }
  return status;
}

/* Lines of "type name text", sorted as objects are. */
static void foreign_read_latest(struct objects *objects) {
  SCOPED(memory_free) char *lines = database_sql("objects.txt");
  char *rest = arena_strdup(&objects->arena, lines); /* what the objects point into */
  for (char *line = strsep(&rest, "\n"); rest != NULL; line = strsep(&rest, "\n")) {
    struct object *object = ARENA_ADD(&objects->arena, objects->items, objects->count);
    object->type = strsep(&line, " ");
    object->name = strsep(&line, " ");
    object->text = line;
  }
}

/* Of a version that this build knows. An older one has no views: migrating makes them anew. */
static enum status foreign_read_expected(int version, struct objects *objects, struct error *err) {
  if (version == migrate_latest_version()) {
    foreign_read_latest(objects);
    return STATUS_OK;
  }
  struct database made;
  enum status status = migrate_make(&made, version, err);
  status = THEN(status, foreign_read(&made, objects, err));
  database_close_handle(&made);
  return status;
}

enum status foreign_print(struct database *database, FILE *stream, struct error *err) {
  struct objects objects = {0};
  const enum status status = foreign_read(database, &objects, err);
  for (size_t i = 0; i < objects.count; i++) {
    const struct object *object = &objects.items[i];
    (void)fprintf(stream, "%s %s %s\n", object->type, object->name, object->text);
  }
  arena_fini(&objects.arena);
  return status;
}

/* ---- what differs ---- */

static int foreign_compare_names(const struct object *a, const struct object *b) {
  const int order = strcmp(a->type, b->type);
  return order != 0 ? order : strcmp(a->name, b->name);
}

/* Migrating makes them anew. */
static bool foreign_is_passing(const struct object *object, int version) {
  return version < migrate_latest_version() && strcmp(object->type, "view") == 0 &&
         strncmp(object->name, "v_", 2) == 0;
}

/* What differs, as "trigger t, view v_run (changed), table x (missing)"; "" = nothing. */
static void foreign_list(const struct objects *found, const struct objects *expected, int version,
                         struct strbuf *list) {
  size_t shown = 0;
  for (size_t i = 0, j = 0; i < found->count || j < expected->count;) {
    const struct object *here = found->items + i;
    const struct object *wanted = expected->items + j;
    const int order = i == found->count      ? 1
                      : j == expected->count ? -1
                                             : foreign_compare_names(here, wanted);
    const struct object *named = order <= 0 ? here : wanted;
    const bool same = order == 0 && strcmp(here->text, wanted->text) == 0;
    i += order <= 0;
    j += order >= 0;
    if (same || foreign_is_passing(named, version)) {
      continue;
    }
    if (shown++ < NAMES_SHOWN) {
      strbuf_printf(list, "%s%s %.60s%s", shown > 1 ? ", " : "", named->type, named->name,
                    order == 0  ? " (changed)"
                    : order > 0 ? " (missing)"
                                : "");
    }
  }
  if (shown > NAMES_SHOWN) {
    strbuf_printf(list, " and %zu more", shown - NAMES_SHOWN);
  }
}

/* ---- what is done about it ---- */

static const char *foreign_table_text(const struct objects *objects, const char *name) {
  const size_t i = FIRST_OF(k, objects->count,
                            strcmp(objects->items[k].type, "table") == 0 &&
                                strcmp(objects->items[k].name, name) == 0);
  return i < objects->count ? objects->items[i].text : "";
}

enum status foreign_check_tables(struct database *database, struct error *err) {
  const int latest = migrate_latest_version();
  struct objects found = {0};
  struct objects expected = {0};
  enum status status = foreign_read(database, &found, err);
  status =
      THEN(status, foreign_read_expected(database->version < latest ? database->version : latest,
                                         &expected, err));
  const bool has_text = foreign_table_text(&found, "schema_text")[0] != '\0';
  for (size_t i = 0; i < expected.count && status == STATUS_OK; i++) {
    const struct object *object = &expected.items[i];
    if (strcmp(object->type, "table") != 0) {
      continue;
    }
    /* SQLite has no such data of a view. */
    const bool view = sqlite3_table_column_metadata(database->handle, "main", object->name, NULL,
                                                    NULL, NULL, NULL, NULL, NULL) != SQLITE_OK;
    bool refused = false;
    status = database_read(database, "foreign/no_plain_table",
                           PARAMETERS(PARAMETER(":name", object->name), PARAMETER(":view", view)),
                           NULL, NULL, NULL, &refused, err);
    if (refused) {
      status = error_set(err, STATUS_INVALID,
                         "its %s is not a table whose columns are stored: it was changed by other "
                         "means",
                         object->name);
    } else if (status == STATUS_OK && !has_text &&
               strcmp(foreign_table_text(&found, object->name), object->text) != 0) {
      status = migrate_refuse_schema(
          database,
          arena_format(&expected.arena, "its table %s is missing or altered", object->name), err);
    }
  }
  arena_fini(&expected.arena);
  arena_fini(&found.arena);
  return status;
}

static enum status foreign_use_own_views(struct database *database, struct error *err) {
  static const char HEAD[] = "\nCREATE "; /* nothing but views */
  enum status status = STATUS_OK;
  for (size_t i = 0; migrate_views[i] != NULL && status == STATUS_OK; i++) {
    SCOPED(strbuf_fini) struct strbuf script = STRBUF(TEXT_MAX);
    char *sql = database_sql(migrate_views[i]);
    const char *from = sql;
    for (const char *at = strstr(from, HEAD); at != NULL; at = strstr(from, HEAD)) {
      strbuf_append_n(&script, from, (size_t)(at - from) + strlen(HEAD));
      strbuf_append(&script, "TEMP ");
      from = at + strlen(HEAD);
    }
    strbuf_append(&script, from);
    status = database_run_sql(database, script.text, err);
    free(sql);
  }
  return status;
}

static enum status foreign_list_encoding(struct database *database, struct strbuf *list,
                                         struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  const char *encoding[ROW_WORDS];
  RETURN_ON_ERROR(database_read_words(database, "foreign/encoding", NULL, &arena, encoding, err));
  if (encoding[0] != NULL) {
    strbuf_append_word(list, arena_format(&arena, "encoding %s", encoding[0]));
  }
  return STATUS_OK;
}

enum status foreign_check(struct database *database, enum database_access access,
                          struct error *err) {
  struct objects found = {0};
  SCOPED(strbuf_fini) struct strbuf list = STRBUF(NAMES_MAX);
  /* What a newer version has besides is not known here. */
  const bool newer = database->version > migrate_latest_version();
  enum status status = foreign_read(database, &found, err);
  if (status == STATUS_OK && !newer) {
    struct objects expected = {0};
    status = foreign_read_expected(database->version, &expected, err);
    if (status == STATUS_OK) {
      foreign_list(&found, &expected, database->version, &list);
    }
    arena_fini(&expected.arena);
  }
  arena_fini(&found.arena);
  status = THEN(status, foreign_list_encoding(database, &list, err));
  const bool foreign = list.text[0] != '\0';
  if (status == STATUS_OK && (foreign || newer) &&
      foreign_check_tables(database, err) != STATUS_OK) {
    status = error_prefix(err, "%s: ", database->path);
  }
  if (status == STATUS_OK && foreign && access == DATABASE_WRITE) {
    status = error_set(err, STATUS_INVALID,
                       "%s is not written: its schema is not haul's (%s). Drop what others added, "
                       "or copy the results with \"haul merge NEW.db FILE\"",
                       database->path, list.text);
  } else if (status == STATUS_OK && (foreign || newer)) {
    status = foreign_use_own_views(database, err);
  }
  if (status == STATUS_OK && foreign) {
    database->foreign = strdup(list.text);
  }
  return status;
}
