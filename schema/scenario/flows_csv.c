/* Flows of a transfer that stand in a CSV file (RFC 4180): one per line, below a line that says
 * which key of [[transfer.flow]] each column is. Empty cells are keys that are absent; empty lines
 * and those that begin with '#' are skipped. */
#include "schema/scenario/loader.h"

#include <stdlib.h>
#include <string.h>

/* Where in the text the next cell begins. */
struct csv_cursor {
  struct loader *loader;
  const struct source *source;
  const char *at;
  unsigned line;
  unsigned column; /* in characters */
};

struct csv_cell {
  const char *text; /* without quotes and the blanks around it */
  struct toml_span span;
  bool last; /* of its line */
};

/* Whether the key of a column is one of [[transfer.flow]]; `name` is "" for a column without. */
struct csv_column {
  const char *name;
  struct toml_span span;
  bool known;
};

static void csv_complain(const struct csv_cursor *cursor, struct toml_span span,
                         const char *expected, const char *message) {
  diagnostics_add(cursor->loader->reader.diagnostics, cursor->source, span, expected, NULL, "%s",
                  message);
}

static void csv_advance(struct csv_cursor *cursor) {
  cursor->column += ((unsigned char)*cursor->at & 0xc0) != 0x80;
  cursor->at++;
}

static void csv_skip_blanks(struct csv_cursor *cursor) {
  while (*cursor->at == ' ' || *cursor->at == '\t') {
    csv_advance(cursor);
  }
}

static bool csv_ends_cell(char c) {
  return c == ',' || c == '\n' || c == '\r' || c == '\0';
}

/* A quote inside quotes stands twice. */
static void csv_read_quoted(struct csv_cursor *cursor, struct strbuf *text,
                            struct toml_span opening) {
  csv_advance(cursor);
  while (*cursor->at != '\0' && *cursor->at != '\n' &&
         (*cursor->at != '"' || cursor->at[1] == '"')) {
    if (*cursor->at == '"') {
      csv_advance(cursor);
    }
    strbuf_append_char(text, *cursor->at);
    csv_advance(cursor);
  }
  if (*cursor->at != '"') {
    csv_complain(cursor, opening, "a second \"", "a cell that begins with \" has no end");
    return;
  }
  csv_advance(cursor);
  csv_skip_blanks(cursor);
  if (!csv_ends_cell(*cursor->at)) {
    csv_complain(cursor, (struct toml_span){cursor->line, cursor->column, 1}, "a comma",
                 "text behind the end of a cell in quotes");
  }
}

static struct csv_cell csv_read_cell(struct csv_cursor *cursor) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(SCENARIO_FILE_MAX);
  csv_skip_blanks(cursor);
  struct csv_cell cell = {.span = {cursor->line, cursor->column, 1}};
  if (*cursor->at == '"') {
    csv_read_quoted(cursor, &text, cell.span);
  }
  while (!csv_ends_cell(*cursor->at)) {
    strbuf_append_char(&text, *cursor->at);
    csv_advance(cursor);
  }
  cell.span.width = cursor->column > cell.span.column ? cursor->column - cell.span.column : 1;
  size_t length = text.length;
  while (length > 0 && strchr(" \t", text.text[length - 1]) != NULL) {
    length--;
  }
  cell.text = arena_strndup(cursor->loader->reader.arena, text.text, length);
  cell.last = *cursor->at != ',';
  if (!cell.last) {
    csv_advance(cursor);
  }
  return cell;
}

/* To the next line that says something; false at the end. */
static bool csv_next_line(struct csv_cursor *cursor) {
  for (;;) {
    const size_t rest = strcspn(cursor->at, "\r\n");
    const size_t blank = strspn(cursor->at, " \t");
    if (rest > 0 && blank < rest && cursor->at[blank] != '#') {
      return true;
    }
    cursor->at += rest;
    if (*cursor->at == '\0') {
      return false;
    }
    cursor->at += cursor->at[0] == '\r' && cursor->at[1] == '\n' ? 2 : 1;
    cursor->line++;
    cursor->column = 1;
  }
}

static void csv_end_line(struct csv_cursor *cursor) {
  cursor->at += strcspn(cursor->at, "\n");
  cursor->at += *cursor->at == '\n' ? 1 : 0;
  cursor->line++;
  cursor->column = 1;
}

/* As the value would stand in TOML: a number, true or false, else text. */
static const struct toml_node *csv_make_node(struct arena *arena, const struct csv_cell *cell) {
  struct toml_node *node = arena_alloc(arena, sizeof *node);
  *node = (struct toml_node){.key_span = cell->span, .span = cell->span};
  const size_t digits = strspn(cell->text, "0123456789");
  if (digits > 0 && digits < 19 && cell->text[digits] == '\0') {
    node->kind = TOML_INTEGER;
    node->integer = strtoll(cell->text, NULL, 10);
  } else if (strcmp(cell->text, "true") == 0 || strcmp(cell->text, "false") == 0) {
    node->kind = TOML_BOOLEAN;
    node->boolean = cell->text[0] == 't';
  } else {
    node->kind = TOML_TEXT;
    node->text = cell->text;
  }
  return node;
}

/* The keys that begin with that name and a dot: "from.gpu, from.numa, from.memory". The first one
 * is what is likely meant; NULL = there are none. */
static const char *csv_keys_below(struct arena *arena, const char *name, const char **first) {
  const char *keys = NULL;
  const size_t length = strlen(name);
  for (size_t i = 0; i < field_count(); i++) {
    const struct field *field = field_at(i);
    if (length > 0 && strncmp(field->name, name, length) == 0 && field->name[length] == '.' &&
        field_find(SECTION_FLOW, field->name) == field) {
      *first = keys == NULL ? field->name : *first;
      keys = keys == NULL ? field->name : arena_format(arena, "%s, %s", keys, field->name);
    }
  }
  return keys;
}

/* A first line that is none: other separators, or flows at once. */
static void csv_reject_columns(const struct csv_cursor *cursor, const struct csv_column *columns,
                               size_t count) {
  struct arena *arena = cursor->loader->reader.arena;
  const struct toml_span whole = {columns[0].span.line, columns[0].span.column,
                                  columns[count - 1].span.column + columns[count - 1].span.width -
                                      columns[0].span.column};
  const char separator = columns[0].name[strcspn(columns[0].name, ";\t")];
  if (count > 1 || separator == '\0') {
    csv_complain(cursor, whole, "keys of [[transfer.flow]], such as from.numa,to.gpu,size,count",
                 "the first line says which keys the columns are, and no column is one");
    return;
  }
  char *commas = arena_strdup(arena, columns[0].name);
  for (char *c = commas; *c != '\0'; c++) {
    if (*c == separator) {
      *c = ',';
    }
  }
  diagnostics_add(cursor->loader->reader.diagnostics, cursor->source, whole,
                  "commas between the cells of every line", commas, "the cells are separated by %s",
                  separator == ';' ? "semicolons" : "tabulators");
}

/* Reports unknown keys. False: without the columns no flow can be read. */
static bool csv_check_columns(struct csv_cursor *cursor, struct csv_column *columns, size_t count) {
  struct arena *arena = cursor->loader->reader.arena;
  struct reader *reader = &cursor->loader->reader;
  size_t known = 0;
  size_t tables = 0;
  for (size_t i = 0; i < count; i++) {
    const char *first = NULL;
    const char *keys = columns[i].known ? NULL : csv_keys_below(arena, columns[i].name, &first);
    known += columns[i].known;
    if (keys != NULL) {
      tables++;
      diagnostics_add(reader->diagnostics, cursor->source, columns[i].span,
                      arena_format(arena, "one of: %s", keys), first,
                      "%s: a column is one key of it", columns[i].name);
    }
  }
  if (known + tables == 0) {
    csv_reject_columns(cursor, columns, count);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    const struct csv_column *column = &columns[i];
    const struct csv_cell cell = {.text = column->name, .span = column->span};
    const char *unused_key = NULL;
    struct entries unused = {0};
    if (column->name[0] == '\0') {
      csv_complain(cursor, column->span, "a key of [[transfer.flow]], such as size",
                   "a column without a name");
    } else if (!column->known && csv_keys_below(arena, column->name, &unused_key) == NULL) {
      entries_read_key(reader, SECTION_FLOW, column->name, csv_make_node(arena, &cell), &unused);
    }
    for (size_t k = 0; k < i; k++) {
      if (column->known && strcmp(columns[k].name, column->name) == 0) {
        csv_complain(cursor, column->span, "each key once", "two columns of one name");
        columns[i].known = false;
      }
    }
  }
  return tables == 0;
}

/* The first line; NULL: it was reported that it says nothing of flows. */
static struct csv_column *csv_read_columns(struct csv_cursor *cursor, size_t *count) {
  struct csv_column *columns = NULL;
  bool last = false;
  while (!last) {
    const struct csv_cell cell = csv_read_cell(cursor);
    *ARENA_ADD(cursor->loader->reader.arena, columns, *count) =
        (struct csv_column){cell.text, cell.span, field_find(SECTION_FLOW, cell.text) != NULL};
    last = cell.last;
  }
  csv_end_line(cursor);
  return csv_check_columns(cursor, columns, *count) ? columns : NULL;
}

static void csv_read_flow(struct csv_cursor *cursor, const struct csv_column *columns,
                          size_t column_count, struct slot *slot) {
  struct arena *arena = cursor->loader->reader.arena;
  struct toml_node *table = arena_alloc(arena, sizeof *table);
  *table = (struct toml_node){.kind = TOML_TABLE, .span = {cursor->line, 1, 1}};
  *slot = (struct slot){
      .section = SECTION_FLOW, .source = cursor->source, .node = table, .header_span = table->span};
  bool last = false;
  for (size_t i = 0; !last; i++) {
    const struct csv_cell cell = csv_read_cell(cursor);
    last = cell.last;
    if (i >= column_count && cell.text[0] != '\0') {
      csv_complain(cursor, cell.span, "as many cells as the first line has", "a cell too many");
    } else if (i < column_count && columns[i].known && cell.text[0] != '\0') {
      entries_read_key(&cursor->loader->reader, SECTION_FLOW, columns[i].name,
                       csv_make_node(arena, &cell), &slot->entries);
    }
  }
  csv_end_line(cursor);
}

static void csv_read_flows(struct csv_cursor *cursor, struct block *block) {
  struct arena *arena = cursor->loader->reader.arena;
  const size_t first = 1 + block->load_count;
  struct slot *slots = arena_array(arena, first + CASE_FLOWS_MAX, sizeof *slots);
  memcpy(slots, block->slots, first * sizeof *slots);
  block->slots = slots;
  block->flow_count = 0;
  size_t column_count = 0;
  const struct csv_column *columns =
      csv_next_line(cursor) ? csv_read_columns(cursor, &column_count) : NULL;
  while (columns != NULL && csv_next_line(cursor)) {
    if (block->flow_count == CASE_FLOWS_MAX) {
      csv_complain(cursor, (struct toml_span){cursor->line, 1, 1},
                   "at most 1024 flows, with a count where one comes again", "too many flows");
      break;
    }
    struct slot *slot = &slots[first + block->flow_count];
    csv_read_flow(cursor, columns, column_count, slot);
    loader_name_slot(cursor->loader, slot, block->flow_count++);
  }
  block->unread = block->flow_count == 0;
  if (block->unread && (columns != NULL || column_count == 0)) {
    csv_complain(cursor, (struct toml_span){1, 1, 1},
                 "a line with keys of [[transfer.flow]], and below it one line per flow",
                 "the file has no flow");
  }
  block->slot_count = first + block->flow_count;
}

void loader_read_csv(struct loader *loader, struct block *block) {
  const struct entry *entry = entries_find(&block->slots[0].entries, "from_csv");
  if (entry == NULL || entry->values.count != 1) {
    return;
  }
  struct reader *reader = &loader->reader;
  const struct source *here = reader->source;
  struct source *source = arena_alloc(reader->arena, sizeof *source);
  const char *name = entry->values.items[0].text;
  struct error err = {0};
  if (source_read_include(reader->arena, here, name, source, &err) != STATUS_OK) {
    diagnostics_add(reader->diagnostics, here, entry->node->span,
                    "the path of a CSV file, beside this one", NULL, "from_csv \"%s\": %s", name,
                    err.message);
    block->unread = true;
  } else {
    source->order = loader->source_count++;
    source->has_lines = true;
    reader->source = source;
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, which spreadsheets put in front */
    const bool marked = strncmp(source->text, mark, sizeof mark - 1) == 0;
    struct csv_cursor cursor = {loader, source, source->text + (marked ? sizeof mark - 1 : 0), 1,
                                1};
    csv_read_flows(&cursor, block);
    reader->source = here;
  }
  /* The flows say it all: the scenario means the same without the file. */
  struct entries *own = &block->slots[0].entries;
  const size_t at = (size_t)(entry - own->items);
  memmove(&own->items[at], &own->items[at + 1], (own->count - at - 1) * sizeof *own->items);
  own->count--;
}
