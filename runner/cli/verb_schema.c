/* haul schema scenario|results|views|datasette|VIEW|QUERY|VERB: the keys of a scenario, the tables
 * and views of a database, for people and for Datasette, one view or saved query, and the JSON of a
 * verb. */
#include "engine/base/embed.h"
#include "engine/base/strings.h"
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

/* parts of the reference --------------------------------------------------------------------------
 */

/* One of heading, paragraph, sql and name is not NULL. */
struct described {
  const char *view; /* whose section it is in; NULL = none */
  const char *heading;
  const char *paragraph; /* its lines joined; one of a list begins with "- " */
  const char *sql;       /* the lines of a block */
  const char *name, *unit,
      *meaning; /* of a column; unit may be NULL, meaning "as in v_case, ..." */
  bool gap;     /* a blank line stands before it */
};

struct described_parts {
  struct described *items;
  size_t count;
};

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

/* "| names | unit | meaning |": a part per name; of the head of a table none. */
static void described_add_columns(struct described_parts *parts, char *line, struct described next,
                                  struct arena *arena) {
  char *rest = line + 1;
  char *names = described_cell(&rest);
  const char *unit = described_cell(&rest);
  const char *meaning = described_cell(&rest);
  if (meaning == NULL || strcmp(names, "column") == 0 || strncmp(names, "---", 3) == 0) {
    return;
  }
  for (char *name = strsep(&names, ","); name != NULL; name = strsep(&names, ",")) {
    struct described *part = ARENA_ADD(arena, parts->items, parts->count);
    *part = next;
    part->name = name + strspn(name, " ");
    part->unit = strcmp(unit, "\u2013") == 0 ? NULL : unit;
    part->meaning = meaning;
    next.gap = false;
  }
}

static struct described_parts described_read(struct arena *arena, size_t file) {
  static const char SQL_BEGINS[] = "```sql";
  struct described_parts parts = {0};
  struct described next = {0};
  const char **open = NULL; /* the last part's paragraph or block, which goes on */
  bool in_sql = false;
  char *rest = arena_strdup(arena, described_text(file));
  for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
    const size_t count = parts.count;
    if (open != NULL && in_sql) {
      in_sql = strcmp(line, "```") != 0;
      *open = in_sql ? arena_format(arena, "%s%s\n", *open, line) : *open;
      open = in_sql ? open : NULL;
      continue;
    }
    const bool goes_on = line[0] != '\0' && line[0] != '|' && line[0] != '#' &&
                         strncmp(line, "- ", 2) != 0 && strcmp(line, SQL_BEGINS) != 0;
    if (strncmp(line, "## ", 3) == 0) {
      next.view = strncmp(line, "## v_", 5) == 0 ? line + 3 : NULL;
    } else if (line[0] == '|') {
      described_add_columns(&parts, line, next, arena);
    } else if (open != NULL && goes_on) {
      *open = arena_format(arena, "%s %s", *open, line);
      continue;
    } else if (line[0] != '\0') {
      struct described *part = ARENA_ADD(arena, parts.items, parts.count);
      *part = next;
      in_sql = strcmp(line, SQL_BEGINS) == 0;
      const bool heading = strncmp(line, "### ", 4) == 0;
      open = in_sql ? &part->sql : heading ? &part->heading : &part->paragraph;
      *open = in_sql ? "" : line + (heading ? 4 : 0);
      next.gap = false;
      open = heading ? NULL : open;
      continue;
    }
    open = NULL;
    next.gap = line[0] == '\0' || (next.gap && parts.count == count);
  }
  return parts;
}

/* What the reference says of a column; the place of "as in v_case" takes what is said there. */
static const char *described_meaning(struct arena *arena, const struct described_parts *parts,
                                     const char *view, const char *column) {
  static const char AS_IN[] = "as in v_";
  const size_t i =
      FIRST_OF(k, parts->count,
               parts->items[k].name != NULL && strings_equal(parts->items[k].view, view) &&
                   strcmp(parts->items[k].name, column) == 0);
  if (i == parts->count) {
    return "";
  }
  const struct described *part = &parts->items[i];
  const char *more = part->meaning + strcspn(part->meaning, ",;");
  const char *other = arena_strndup(arena, part->meaning, (size_t)(more - part->meaning));
  if (strncmp(other, AS_IN, strlen(AS_IN)) != 0) {
    return arena_format(arena, "%s%s", arena_around(arena, "(", part->unit, ") "), part->meaning);
  }
  const char *there = described_meaning(arena, parts, other + strlen("as in "), column);
  size_t first = strcspn(there, more[0] == ',' ? ";" : "");
  const char *sentence = more[0] == ',' ? strstr(there, ". ") : NULL;
  if (sentence != NULL && (size_t)(sentence - there) < first) {
    first = (size_t)(sentence - there);
  }
  return arena_format(arena, "%.*s%s%s", (int)first, there, more, there + first);
}

/* Whether a section of a view begins there. */
static bool described_begins(const struct described_parts *parts, size_t i) {
  return parts->items[i].view != NULL &&
         (i == 0 || parts->items[i].view != parts->items[i - 1].view);
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

static void schema_say_view(struct document *document, const struct described_parts *parts,
                            const char *view) {
  struct arena *arena = &document->arena;
  document->key_width = NAME_COLUMN_WIDTH;
  document_heading(document, view);
  for (size_t i = 0; i < parts->count; i++) {
    const struct described *part = &parts->items[i];
    if (!strings_equal(part->view, view)) {
      continue;
    }
    if (part->gap && part->heading == NULL) { /* which has its own */
      document_gap(document);
    }
    if (part->heading != NULL) {
      document_part(document, "%s", part->heading);
    } else if (part->paragraph != NULL) {
      const bool item = strncmp(part->paragraph, "- ", 2) == 0;
      document_put_behind(document, item ? "- " : "", "%s",
                          schema_unlink(arena, part->paragraph + (item ? 2 : 0)));
    } else if (part->name != NULL) {
      document_key(document, TONE_NONE, part->name, "%s",
                   schema_unlink(arena, described_meaning(arena, parts, view, part->name)));
    }
  }
}

/* The first sentence of each section: "One row per case of a run: begin here." */
static void schema_say_views(struct document *document, const struct described_parts *parts) {
  document->key_width = VIEW_WIDTH;
  for (size_t i = 0; i < parts->count; i++) {
    if (described_begins(parts, i)) {
      const char *text = parts->items[i].paragraph;
      const char *end = strstr(text, ". ");
      text = end != NULL ? arena_strndup(&document->arena, text, (size_t)(end + 1 - text)) : text;
      document_key(document, TONE_NONE, parts->items[i].view, "%s",
                   schema_unlink(&document->arena, text));
    }
  }
}

/* What the query says of its column, or the first view that has it; "" = nothing. */
static const char *schema_column_meaning(struct arena *arena, const struct described_parts *parts,
                                         const struct saved_query *query, const char *column) {
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
    meaning = described_meaning(arena, parts, view, column);
  }
  return meaning;
}

static enum status schema_say_query(struct document *document, const struct described_parts *parts,
                                    const char *name, struct error *err) {
  struct arena *arena = &document->arena;
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
    const char *meaning = schema_column_meaning(arena, parts, &query, column);
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
  const struct described_parts parts = described_read(&command->arena, 0);
  struct document document;
  document_begin(&document, &options, err);
  enum status status = STATUS_OK;
  if (command->choice == SCHEMA_VIEWS) {
    schema_say_views(&document, &parts);
  } else if (strncmp(name, "v_", 2) == 0) {
    schema_say_view(&document, &parts, name);
  } else {
    status = schema_say_query(&document, &parts, name, err);
  }
  const enum status written = document_end(&document);
  return status != STATUS_OK ? status : written;
}

/* metadata of Datasette ---------------------------------------------------------------------------
 */

static void datasette_add(json_t *tables, json_t *queries, const struct described_parts *parts,
                          struct arena *arena) {
  const char *title = ""; /* the last words before a block */
  json_t *table = NULL;
  for (size_t i = 0; i < parts->count; i++) {
    const struct described *part = &parts->items[i];
    if (described_begins(parts, i)) {
      table = json_pack("{s:s, s:{}}", "description", "", "columns");
      json_object_set_new(tables, part->view, table);
    }
    json_t *columns = part->view != NULL ? json_object_get(table, "columns") : NULL;
    if (part->sql != NULL) {
      const char *name = arena_format(arena, "question-%zu", json_object_size(queries) + 1);
      json_object_set_new(queries, name, json_pack("{s:s, s:s}", "title", title, "sql", part->sql));
    } else if (part->heading != NULL) { /* "7. Which cases were slowed?" */
      const char *blank = strchr(part->heading, ' ');
      title = blank != NULL ? blank + 1 : "";
    } else if (part->name != NULL) {
      json_object_set_new(columns, part->name,
                          json_string(described_meaning(arena, parts, part->view, part->name)));
    } else {
      title = part->paragraph;
      if (columns != NULL && json_object_size(columns) == 0) {
        json_object_set_new(table, "description", json_string(title));
      }
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
  json_t *tables = json_object();
  json_t *queries = json_object();
  for (size_t i = 0; i < RESULTS_REFERENCE_FILES; i++) {
    const struct described_parts parts = described_read(&command->arena, i);
    datasette_add(tables, queries, &parts, &command->arena);
  }
  json_t *root = json_pack("{s:s, s:{s:{s:o, s:o}}}", "title", "haul", "databases", name, "tables",
                           tables, "queries", queries);
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
      static const unsigned TYPES[] = {[CELL_TEXT] = SHAPE_TEXT,
                                       [CELL_INTEGER] = SHAPE_INTEGER,
                                       [CELL_REAL] = SHAPE_NUMBER,
                                       [CELL_NULL] = SHAPE_TEXT | SHAPE_NUMBER,
                                       [CELL_BLOB] = SHAPE_TEXT | SHAPE_NUMBER};
      json_shape_value(&shape, name, TYPES[result_set_cell(&columns, 0, i)->kind] | SHAPE_NULL);
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
  const struct described_parts parts = described_read(&command->arena, 0);
  struct nearest nearest = nearest_start(name);
  bool found = verb_schema_is_query(name);
  size_t i = 0;
  while (SCHEMAS[i] != NULL && strcmp(SCHEMAS[i], name) != 0) {
    nearest_offer(&nearest, SCHEMAS[i++]);
  }
  command->choice = i;
  for (size_t k = 0; k < parts.count; k++) {
    if (described_begins(&parts, k)) {
      found = found || strcmp(parts.items[k].view, name) == 0;
      nearest_offer(&nearest, parts.items[k].view);
    }
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
