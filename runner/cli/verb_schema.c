/* haul schema scenario|results|views|datasette|VIEW|QUERY|VERB: the keys of a scenario, the tables
 * and views of a database, for people and for Datasette, one view or saved query, and the JSON of a
 * verb. */
#include "engine/base/embed.h"
#include "runner/cli/options.h"
#include "runner/document/document.h"
#include "runner/record/saved.h"
#include "schema/results/results_sql.h"
#include "schema/scenario/nearest.h"
#include "schema/scenario/reference.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

enum { TITLE_MAX = 64, RESULTS_REFERENCE_FILES = 2 }; /* of the columns, of questions */
extern const struct embedded_file results_reference[];

enum { SCHEMA_SCENARIO, SCHEMA_RESULTS, SCHEMA_VIEWS, SCHEMA_DATASETTE, SCHEMA_VERBS };
/* The others are verbs with .json or .rows: test_outputs.py asks for each. Views and saved queries
 * are told by their names as well. */
static const char *const SCHEMAS[] = {
    "scenario", "results", "views",   "datasette", "baseline", "check",  "copy", "diff",
    "env",      "expect",  "explain", "history",   "identify", "import", "list", "merge",
    "outliers", "plan",    "query",   "run",       "show",     NULL};

static const char *described_text(size_t file) {
  return (const char *)results_reference[file].data;
}

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
  (void)fputs(described_text(0), stdout);
  printf("\n```sql");
  verb_schema_print_sql("migrations/");
  verb_schema_print_sql("views");
  printf("```\n");
}

/* lines of the reference --------------------------------------------------------------------------
 */

/* A cell of "| cell | cell |" without its blanks; *rest is what follows it. */
static char *described_cell(char **rest) {
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

/* Columns of a view that are described together. */
struct described_row {
  char *names;         /* with ", " between */
  const char *unit;    /* NULL = none */
  const char *meaning; /* may be "as in v_case, ..." */
};

/* "| names | unit | meaning |", which is cut into pieces. false: the head of a table. */
static bool described_split(char *line, struct described_row *row) {
  char *rest = line + 1;
  row->names = described_cell(&rest);
  row->unit = described_cell(&rest);
  row->meaning = described_cell(&rest);
  if (row->meaning != NULL && strcmp(row->unit, "\u2013") == 0) {
    row->unit = NULL;
  }
  return row->meaning != NULL && strcmp(row->names, "column") != 0 &&
         strncmp(row->names, "---", 3) != 0;
}

/* What stands between "## view" and the next such heading, in the arena. */
static char *described_section(struct arena *arena, const char *view) {
  const char *heading = arena_format(arena, "\n## %s\n", view);
  const char *from = strstr(described_text(0), heading);
  if (from == NULL) {
    return arena_strdup(arena, "");
  }
  from += strlen(heading);
  const char *to = strstr(from, "\n## ");
  return arena_strndup(arena, from, to != NULL ? (size_t)(to - from) : strlen(from));
}

/* The view that is described from *at on, in the arena, and *at moved past it; NULL: no more. */
static const char *described_next_view(struct arena *arena, const char **at) {
  static const char HEADING[] = "\n## v_";
  const char *found = strstr(*at, HEADING);
  if (found == NULL) {
    return NULL;
  }
  found += strlen("\n## ");
  *at = found + strcspn(found, "\n");
  return arena_strndup(arena, found, (size_t)(*at - found));
}

/* What the reference says of a column; the place of "as in v_case" takes what is said there. */
static const char *described_meaning(struct arena *arena, const char *view, const char *column) {
  static const char AS_IN[] = "as in v_";
  char *rest = described_section(arena, view);
  for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
    struct described_row row;
    if (line[0] != '|' || !described_split(line, &row)) {
      continue;
    }
    for (char *name = strsep(&row.names, ","); name != NULL; name = strsep(&row.names, ",")) {
      if (strcmp(name + strspn(name, " "), column) != 0) {
        continue;
      }
      const char *more = row.meaning + strcspn(row.meaning, ",;");
      const char *other = arena_strndup(arena, row.meaning, (size_t)(more - row.meaning));
      if (strncmp(other, AS_IN, strlen(AS_IN)) != 0) {
        return arena_format(arena, "%s%s", arena_around(arena, "(", row.unit, ") "), row.meaning);
      }
      const char *there = described_meaning(arena, other + strlen("as in "), column);
      size_t first = strcspn(there, more[0] == ',' ? ";" : "");
      const char *sentence = more[0] == ',' ? strstr(there, ". ") : NULL;
      if (sentence != NULL && (size_t)(sentence - there) < first) {
        first = (size_t)(sentence - there);
      }
      return arena_format(arena, "%.*s%s%s", (int)first, there, more, there + first);
    }
  }
  return "";
}

/* one view or saved query -------------------------------------------------------------------------
 */

/* "[transfer](../scenario/README.md#transfer)" becomes "transfer". */
static const char *schema_unlink(struct arena *arena, const char *text) {
  const char *middle;
  while ((middle = strstr(text, "](")) != NULL && strchr(middle, ')') != NULL) {
    const char *open = middle;
    while (open > text && *open != '[') {
      open--;
    }
    text = arena_format(arena, "%.*s%.*s%s", (int)(open - text), text, (int)(middle - open - 1),
                        open + 1, strchr(middle, ')') + 1);
  }
  return text;
}

/* disturbed_slower_percent, v_node_difference */
enum { NAME_COLUMN_WIDTH = 24, VIEW_WIDTH = 17 };

static void schema_say_view(struct document *document, struct arena *arena, const char *view) {
  const char *paragraph = "";
  bool gap = false;
  char *rest = arena_format(arena, "%s\n\n", described_section(arena, view));
  document->key_width = NAME_COLUMN_WIDTH;
  document_heading(document, view);
  for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
    struct described_row row;
    const bool in_text = line[0] != '\0' && line[0] != '|' && line[0] != '#';
    if (paragraph[0] != '\0' && (!in_text || strncmp(line, "- ", 2) == 0)) {
      const bool item = strncmp(paragraph, "- ", 2) == 0;
      document_put_behind(document, item ? "- " : "", "%s",
                          schema_unlink(arena, paragraph + (item ? 2 : 0)));
      paragraph = "";
    }
    if (gap && line[0] != '\0' && line[0] != '#') { /* a heading has its own */
      document_gap(document);
    }
    gap = line[0] == '\0';
    if (in_text) {
      paragraph = arena_format(arena, "%s%s%s", paragraph, paragraph[0] != '\0' ? " " : "", line);
    } else if (strncmp(line, "### ", 4) == 0) {
      document_part(document, "%s", line + 4);
    } else if (line[0] == '|' && described_split(line, &row)) {
      for (char *name = strsep(&row.names, ","); name != NULL; name = strsep(&row.names, ",")) {
        name += strspn(name, " ");
        document_key(document, TONE_NONE, name, "%s",
                     schema_unlink(arena, described_meaning(arena, view, name)));
      }
    }
  }
}

/* The first sentence of each section: "One row per case of a run: begin here." */
static void schema_say_views(struct document *document, struct arena *arena) {
  const char *at = described_text(0);
  document->key_width = VIEW_WIDTH;
  for (const char *view; (view = described_next_view(arena, &at)) != NULL;) {
    char *text = described_section(arena, view);
    text += strspn(text, "\n");
    for (char *c = text; *c != '\0'; c++) {
      if (c[0] == '.' && (c[1] == ' ' || c[1] == '\n')) {
        c[1] = '\0';
      }
      if (*c == '\n') {
        *c = ' ';
      }
    }
    document_key(document, TONE_NONE, view, "%s", schema_unlink(arena, text));
  }
}

/* What the query says of its column, or the first view that has it; "" = nothing. */
static const char *schema_column_meaning(struct arena *arena, const struct saved_query *query,
                                         const char *column) {
  for (size_t i = 0; i < query->column_count; i++) {
    char *names = arena_strdup(arena, query->columns[i].names);
    for (char *name = strsep(&names, ","); name != NULL; name = strsep(&names, ",")) {
      if (strcmp(name + strspn(name, " "), column) == 0) {
        return query->columns[i].meaning;
      }
    }
  }
  char *views = arena_strdup(arena, query->columns_of != NULL ? query->columns_of : "");
  const char *meaning = "";
  for (char *view = strsep(&views, ","); view != NULL && meaning[0] == '\0';
       view = strsep(&views, ",")) {
    meaning = described_meaning(arena, view, column);
  }
  return meaning;
}

static enum status schema_say_query(struct document *document, struct arena *arena,
                                    const char *name, struct error *err) {
  struct saved_query query;
  SCOPED(result_set_fini) struct result_set columns;
  const char *names = "";
  result_set_init(&columns, 1);
  RETURN_ON_ERROR(saved_query_find(name, arena, &query, err));
  RETURN_ON_ERROR(query_describe_saved(name, &columns.sink, err));
  document->key_width = NAME_COLUMN_WIDTH;
  document_heading(document, name);
  document_put(document, "%s", query.title);
  document_gap(document);
  document_put(document, "%s", query.shows);
  document_gap(document);
  for (size_t i = 0; i < columns.column_count; i++) {
    const char *column = columns.columns[i].name;
    const char *meaning = schema_column_meaning(arena, &query, column);
    if (meaning[0] != '\0') {
      document_key(document, TONE_NONE, column, "%s", schema_unlink(arena, meaning));
    } else {
      names = arena_add_word(arena, names, column);
    }
  }
  if (names[0] != '\0') {
    document_put_behind(
        document,
        query.column_count > 0 || query.columns_of != NULL ? "Other columns: " : "Columns: ", "%s",
        names);
  }
  document_gap(document);
  for (size_t i = 0; i < query.parameter_count; i++) {
    const struct saved_parameter *parameter = &query.parameters[i];
    const char *standard = strcmp(parameter->standard, "null") != 0 ? parameter->standard : NULL;
    document_key(document, TONE_NONE, parameter->name, "%s%s", parameter->help,
                 arena_around(arena, " (default: ", standard, ")"));
  }
  return STATUS_OK;
}

static enum status verb_schema_print_words(struct command *command, struct error *err) {
  const char *name = command->words[0];
  const struct table_options options = table_to_stdout(&command->common);
  struct document document;
  document_begin(&document, &options, err);
  enum status status = STATUS_OK;
  if (command->choice == SCHEMA_VIEWS) {
    schema_say_views(&document, &command->arena);
  } else if (strncmp(name, "v_", 2) == 0) {
    schema_say_view(&document, &command->arena, name);
  } else {
    status = schema_say_query(&document, &command->arena, name, err);
  }
  const enum status written = document_end(&document);
  return status != STATUS_OK ? status : written;
}

/* metadata of Datasette ---------------------------------------------------------------------------
 */

/* What is being read of the reference: its lines come one after the other. */
struct datasette {
  struct arena *arena;
  json_t *tables, *queries;
  json_t *table;         /* of the view whose section this is; NULL: another section */
  const char *view;      /* its name */
  const char *paragraph; /* the last one: what stands above a block says what it is */
  bool paragraph_ended;
  char *sql; /* of the block that is being read; NULL: none */
};

/* "| names | unit | meaning |" becomes a description per name. */
static void datasette_add_columns(const struct datasette *datasette, char *line) {
  struct described_row row;
  if (!described_split(line, &row)) {
    return;
  }
  json_t *columns = json_object_get(datasette->table, "columns");
  for (char *name = strsep(&row.names, ","); name != NULL; name = strsep(&row.names, ",")) {
    name += strspn(name, " ");
    json_object_set_new(columns, name,
                        json_string(described_meaning(datasette->arena, datasette->view, name)));
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
      datasette->view = line + 3;
      datasette->table = json_pack("{s:s, s:{}}", "description", "", "columns");
      json_object_set_new(datasette->tables, line + 3, datasette->table);
    }
  } else if (datasette->table != NULL && line[0] == '|') {
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
    char *rest = arena_strdup(&command->arena, described_text(i));
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
      datasette_add_line(&datasette, line);
    }
  }
  json_t *root = json_pack("{s:s, s:{s:{s:o, s:o}}}", "title", "haul", "databases", name, "tables",
                           datasette.tables, "queries", datasette.queries);
  SCOPED(memory_free) char *text = root != NULL ? json_dumps(root, JSON_INDENT(2)) : NULL;
  json_decref(root);
  if (text == NULL) {
    return error_set(err, STATUS_USAGE, "the name of the database is not UTF-8: %s", name);
  }
  errno = 0;
  return stream_check(stdout, puts(text) == EOF || fflush(stdout) != 0, NULL, err);
}

/* JSON of a verb
 * ------------------------------------------------------------------------------------
 */

static enum status verb_schema_add_rows(const struct verb_rows *rows, json_t *kinds,
                                        struct error *err) {
  struct json_shape shape;
  json_shape_init(&shape);
  if (rows->saved != NULL && strcmp(rows->saved, "*") != 0) {
    SCOPED(result_set_fini) struct result_set columns;
    result_set_init(&columns, 1);
    const enum status status = query_describe_saved(rows->saved, &columns.sink, err);
    for (size_t i = 0; status == STATUS_OK && i < columns.column_count; i++) {
      const char *name = columns.columns[i].name;
      if (columns.columns[i].is_json) {
        json_shape_add(&shape, name, json_pack("{s:[s, s, s]}", "type", "array", "string", "null"));
        continue;
      }
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
    RETURN_ON_ERROR(status);
  }
  if (rows->describe != NULL) {
    rows->describe(&shape);
  }
  json_t *kind = json_shape_take(&shape);
  if (rows->saved != NULL && strcmp(rows->saved, "*") == 0) {
    json_object_set_new(kind, "additionalProperties",
                        json_pack("{s:[s, s, s, s]}", "type", "string", "number", "array", "null"));
  }
  json_array_append_new(kinds, kind);
  return STATUS_OK;
}

/* https://json-schema.org/draft/2020-12 */
static enum status verb_schema_print_verb(const char *name, struct error *err) {
  const struct verb *verb = verb_find(name);
  struct json_shape shape;
  enum status status = STATUS_OK;
  SCOPED(strbuf_fini) struct strbuf title = STRBUF(TITLE_MAX);
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
  SCOPED(memory_free) char *text = json_dumps(schema, JSON_INDENT(1));
  if (status == STATUS_OK && text != NULL) {
    status = stream_check(stdout, puts(text) == EOF || fflush(stdout) != 0, NULL, err);
  }
  json_decref(schema);
  return status;
}

static bool verb_schema_is_query(const char *name) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct saved_query query;
  return saved_query_find(name, &arena, &query, NULL) == STATUS_OK;
}

static void verb_schema_check(struct command *command, struct argp_state *state) {
  const char *name = command->words[0];
  const char *at = described_text(0);
  struct nearest nearest = nearest_start(name);
  bool found = verb_schema_is_query(name);
  size_t i = 0;
  while (SCHEMAS[i] != NULL && strcmp(SCHEMAS[i], name) != 0) {
    nearest_offer(&nearest, SCHEMAS[i++]);
  }
  command->choice = i;
  for (const char *view; (view = described_next_view(&command->arena, &at)) != NULL;) {
    found = found || strcmp(view, name) == 0;
    nearest_offer(&nearest, view);
  }
  OPTIONS_REFUSE(SCHEMAS[i] == NULL && !found, state,
                 "there is no schema \"%s\"%s: scenario, results, views, datasette, a view "
                 "such as v_result, a saved query or a verb",
                 name, arena_around(&command->arena, " (did you mean \"", nearest.word, "\"?)"));
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
    return verb_find(command->words[0]) != NULL ? verb_schema_print_verb(command->words[0], err)
                                                : verb_schema_print_words(command, err);
  }
}

const struct verb VERB_SCHEMA = {
    .name = "schema",
    .group = VERBS_MEASURE,
    .arguments = "scenario|results|views|datasette|VIEW|QUERY|VERB",
    .summary = "explain the columns of a view or query, or print a JSON Schema",
    .doc =
        "  haul schema views       the views of a database\n"
        "  haul schema v_result    the columns of a view\n"
        "  haul schema run-result  the columns of a saved query\n"
        "  haul schema results     all views, with their SQL\n"
        "  haul schema diff        JSON Schema of haul diff --json\n"
        "  haul schema scenario    JSON Schema of scenarios, for editors\n"
        "  haul schema datasette   what views and columns mean, for Datasette\n"
        "\nEditors with TOML schemas (taplo, Even Better TOML) complete and check keys:\n"
        "  haul schema scenario > scenario.schema.json\n"
        "  and the first line of the scenario is: #:schema ./scenario.schema.json\n"
        "\nFor Datasette (--db FILE names the database):\n"
        "  haul schema datasette > metadata.json\n"
        "  datasette results.db --metadata metadata.json\n"
        "\nJSON names its schema first, for example \"haul.diff/1\". The number grows if a key is "
        "renamed, removed or gets another meaning. New keys may come at any time. haul check "
        "prints \"haul.diff/1\" if it compares runs.",
    .argument_kind = ARGUMENTS_WORDS,
    .words = SCHEMAS,
    .word_max = 1,
    .missing = "argument: scenario, results, views, datasette, a view, a saved query or a verb",
    .check = verb_schema_check,
    .run = verb_schema_run,
};
