/* haul schema scenario|results|datasette|VERB: the keys of a scenario, the tables and views of a
 * database, for people and for Datasette, and the JSON of a verb. */
#include "engine/base/embed.h"
#include "runner/cli/cli.h"
#include "runner/table/result_set.h"
#include "schema/results/results_sql.h"
#include "schema/scenario/reference.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE_MAX = 64, RESULTS_REFERENCE_FILES = 2 }; /* of the columns, of questions */
extern const struct embedded_file results_reference[];

enum { SCHEMA_SCENARIO, SCHEMA_RESULTS, SCHEMA_DATASETTE, SCHEMA_VERBS };
/* The others are verbs with .json or .rows: test_outputs.py asks for each. */
static const char *const SCHEMAS[] = {
    "scenario", "results",  "datasette", "baseline", "check",    "copy",   "diff",
    "env",      "expect",   "explain",   "history",  "identify", "import", "list",
    "merge",    "outliers", "plan",      "query",    "run",      "show",   NULL};

static void verb_schema_print_sql(const char *folder) {
  for (size_t i = 0; i < results_sql_count; i++) {
    const struct embedded_file *file = &results_sql[i];
    if (strncmp(file->name, folder, strlen(folder)) == 0) {
      printf("\n-- schema/results/%s\n", file->name);
      (void)fwrite(file->data, 1, (size_t)(file->end - file->data), stdout);
    }
  }
}

/* The columns in words, then the SQL: Markdown as a whole. */
static void verb_schema_print_results(void) {
  (void)fwrite(results_reference[0].data, 1,
               (size_t)(results_reference[0].end - results_reference[0].data), stdout);
  printf("\n```sql");
  verb_schema_print_sql("migrations/");
  verb_schema_print_sql("views");
  printf("```\n");
}

/* metadata of Datasette ---------------------------------------------------------------------------
 */

/* What is being read of the reference: its lines come one after the other. */
struct datasette {
  struct arena *arena;
  json_t *tables, *queries;
  json_t *table;         /* of the view whose section this is; NULL: another section */
  const char *paragraph; /* the last one: what stands above a block says what it is */
  bool paragraph_ended;
  char *sql; /* of the block that is being read; NULL: none */
};

/* A cell of "| cell | cell |" without its blanks; *rest is what follows it. */
static char *datasette_cell(char **rest) {
  char *cell = strsep(rest, "|");
  if (cell == NULL) {
    return NULL;
  }
  cell += strspn(cell, " ");
  for (size_t length = strlen(cell); length > 0 && cell[length - 1] == ' '; length--) {
    cell[length - 1] = '\0';
  }
  return cell;
}

/* "| names | unit | meaning |" becomes a description per name. */
static void datasette_add_columns(const struct datasette *datasette, char *row) {
  char *names = datasette_cell(&row);
  const char *unit = datasette_cell(&row);
  const char *meaning = datasette_cell(&row);
  if (meaning == NULL || strcmp(names, "column") == 0 || strncmp(names, "---", 3) == 0) {
    return;
  }
  const bool has_unit = strcmp(unit, "\u2013") != 0;
  const char *text = has_unit ? arena_format(datasette->arena, "%s: %s", unit, meaning) : meaning;
  json_t *columns = json_object_get(datasette->table, "columns");
  for (char *name = strsep(&names, ","); name != NULL; name = strsep(&names, ",")) {
    json_object_set_new(columns, name + strspn(name, " "), json_string(text));
  }
}

static void datasette_add_sql(struct datasette *datasette, const char *line) {
  if (strcmp(line, "```") != 0) {
    datasette->sql = arena_format(datasette->arena, "%s%s\n", datasette->sql, line);
    return;
  }
  const char *name =
      arena_format(datasette->arena, "question-%zu", json_object_size(datasette->queries) + 1);
  json_object_set_new(
      datasette->queries, name,
      json_pack("{s:s, s:s}", "title", datasette->paragraph, "sql", datasette->sql));
  datasette->sql = NULL;
}

static void datasette_add_line(struct datasette *datasette, char *line) {
  if (datasette->sql != NULL) {
    datasette_add_sql(datasette, line);
  } else if (strcmp(line, "```sql") == 0) {
    datasette->sql = arena_strdup(datasette->arena, "");
  } else if (strncmp(line, "### ", 4) == 0) { /* "### 7. Which cases were slowed?" */
    datasette->paragraph = line + 4 + strcspn(line + 4, " ");
    datasette->paragraph += datasette->paragraph[0] == ' ';
    datasette->paragraph_ended = true;
  } else if (strncmp(line, "## ", 3) == 0) {
    datasette->table = NULL;
    if (strncmp(line, "## v_", 5) == 0) {
      datasette->table = json_pack("{s:s, s:{}}", "description", "", "columns");
      json_object_set_new(datasette->tables, line + 3, datasette->table);
    }
  } else if (datasette->table != NULL && line[0] == '|') {
    line++;
    datasette_add_columns(datasette, line);
  } else if (line[0] == '\0') {
    datasette->paragraph_ended = true;
  } else {
    datasette->paragraph = datasette->paragraph_ended ? line
                                                      : arena_format(datasette->arena, "%s %s",
                                                                     datasette->paragraph, line);
    datasette->paragraph_ended = false;
    if (datasette->table != NULL &&
        json_object_size(json_object_get(datasette->table, "columns")) == 0) {
      json_object_set_new(datasette->table, "description", json_string(datasette->paragraph));
    }
  }
}

/* https://docs.datasette.io/en/stable/metadata.html: views and columns in the words of the
 * reference, questions as canned queries. */
static enum status verb_schema_print_datasette(struct command *command, struct error *err) {
  const char *path = NULL;
  RETURN_ON_ERROR(command_path(command, &path, err));
  char *name =
      arena_strdup(&command->arena, strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path);
  char *suffix = strrchr(name, '.');
  if (suffix != NULL && suffix != name) {
    *suffix = '\0'; /* as Datasette names a database */
  }
  struct datasette datasette = {
      .arena = &command->arena, .tables = json_object(), .queries = json_object(), .paragraph = ""};
  for (size_t i = 0; i < RESULTS_REFERENCE_FILES; i++) {
    char *rest = arena_strdup(&command->arena, (const char *)results_reference[i].data);
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
      datasette_add_line(&datasette, line);
    }
  }
  json_t *root = json_pack("{s:s, s:{s:{s:o, s:o}}}", "title", "haul", "databases", name, "tables",
                           datasette.tables, "queries", datasette.queries);
  char *text = root != NULL ? json_dumps(root, JSON_INDENT(2)) : NULL;
  json_decref(root);
  if (text == NULL) {
    return error_set(err, STATUS_USAGE, "the name of the database is not UTF-8: %s", name);
  }
  errno = 0;
  const enum status status =
      stream_check(stdout, puts(text) == EOF || fflush(stdout) != 0, NULL, err);
  free(text);
  return status;
}

/* JSON of a verb
 * ------------------------------------------------------------------------------------
 */

static enum status verb_schema_add_rows(const struct verb_rows *rows, json_t *kinds,
                                        struct error *err) {
  struct json_shape shape;
  json_shape_init(&shape);
  if (rows->saved != NULL && strcmp(rows->saved, "*") != 0) {
    struct result_set columns;
    result_set_init(&columns, 1);
    const enum status status = query_describe_saved(rows->saved, &columns.sink, err);
    for (size_t i = 0; status == STATUS_OK && i < columns.column_count; i++) {
      const char *name = columns.columns[i].name;
      switch (result_set_cell(&columns, 0, i)->kind) {
      case CELL_TEXT:
        json_shape_text(&shape, name);
        break;
      case CELL_INTEGER:
        json_shape_known(&shape, name);
        break;
      case CELL_REAL:
        json_shape_real(&shape, name);
        break;
      case CELL_NULL:
      case CELL_BLOB:
        json_shape_scalar(&shape, name);
        break;
      }
    }
    result_set_fini(&columns);
    RETURN_ON_ERROR(status);
  }
  if (rows->describe != NULL) {
    rows->describe(&shape);
  }
  json_t *kind = json_shape_take(&shape);
  if (rows->saved != NULL && strcmp(rows->saved, "*") == 0) {
    json_object_set_new(kind, "additionalProperties",
                        json_pack("{s:[s, s, s]}", "type", "string", "number", "null"));
  }
  json_array_append_new(kinds, kind);
  return STATUS_OK;
}

/* https://json-schema.org/draft/2020-12 */
static enum status verb_schema_print_verb(const char *name, struct error *err) {
  const struct verb *verb = verb_find(name);
  struct json_shape shape;
  struct strbuf title;
  enum status status = STATUS_OK;
  strbuf_init(&title, TITLE_MAX);
  json_shape_init(&shape);
  json_out_schema_name(&title, name);
  json_shape_add(&shape, "schema", json_pack("{s:s}", "const", title.text));
  if (verb->json != NULL) {
    verb->json(&shape);
  } else {
    json_t *kinds = json_array();
    for (const struct verb_rows *rows = verb->rows;
         status == STATUS_OK && (rows->describe != NULL || rows->saved != NULL); rows++) {
      status = verb_schema_add_rows(rows, kinds, err);
    }
    json_shape_add(&shape, "rows",
                   json_pack("{s:s, s:{s:o}}", "type", "array", "items", "anyOf", kinds));
  }
  json_t *schema = json_shape_take(&shape);
  json_object_set_new(schema, "$schema",
                      json_string("https://json-schema.org/draft/2020-12/schema"));
  json_object_set_new(schema, "title", json_string(title.text));
  char *text = json_dumps(schema, JSON_INDENT(1));
  if (status == STATUS_OK && text != NULL) {
    status = stream_check(stdout, puts(text) == EOF || fflush(stdout) != 0, NULL, err);
  }
  free(text);
  json_decref(schema);
  strbuf_fini(&title);
  return status;
}

static enum status verb_schema_run(struct command *command, struct error *err) {
  switch (command->choice) {
  case SCHEMA_SCENARIO:
    return reference_write_schema(stdout, err);
  case SCHEMA_RESULTS:
    verb_schema_print_results();
    return STATUS_OK;
  case SCHEMA_DATASETTE:
    return verb_schema_print_datasette(command, err);
  default:
    return verb_schema_print_verb(command->words[0], err);
  }
}

const struct verb VERB_SCHEMA = {
    .name = "schema",
    .group = VERBS_MEASURE,
    .arguments = "scenario|results|datasette|VERB",
    .summary = "print the JSON Schema of scenarios or of a verb, or the database's",
    .doc = "Editors that know TOML schemas (taplo, Even Better TOML) complete and check the "
           "keys of a scenario: haul schema scenario > scenario.schema.json beside it, and "
           "as its first line: #:schema ./scenario.schema.json\nDatasette shows the meaning "
           "of views and columns: haul schema datasette > metadata.json; datasette "
           "results.db --metadata metadata.json. --db FILE names the database.\nThe JSON of "
           "every verb names its schema, for example \"haul.diff/1\"; haul schema diff "
           "prints it. The number grows when a key is renamed, removed or changes its "
           "meaning. New keys may come at any time. haul check prints \"haul.diff/1\" where "
           "it compares runs.",
    .argument_kind = ARGUMENTS_WORDS,
    .words = SCHEMAS,
    .noun = "schema",
    .word_max = 1,
    .missing = "argument: scenario, results, datasette or a verb",
    .run = verb_schema_run,
};
