#include "schema/expect/expect.h"

#include "engine/base/embed.h"
#include "engine/base/units.h"
#include "schema/scenario/entry.h"
#include "schema/scenario/kind.h"
#include "schema/scenario/loader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(expect_unit, EXPECT_UNIT_LIST)
ENUM_NAMES_DEFINE(expect_statement, EXPECT_STATEMENT_LIST)
ENUM_NAMES_DEFINE(expect_path, EXPECT_PATH_LIST)

/* Made by haul_embed(). */
extern const struct embedded_file expectations_embedded[];

/* What reports differ by without anything being wrong: bandwidths of one kind of host, and
 * latencies, which know of clocks and of the fabric. */
static const double TOLERANCE_RATE = 0.05;
static const double TOLERANCE_TIME = 0.15;

/* ---- units ---- */

#define UNIT_IS_TIME(id, name, time, factor) time,
#define UNIT_FACTOR(id, name, time, factor)  factor,
#define PATH_NOUN(id, name, noun)            noun,

bool expect_unit_is_time(enum expect_unit unit) {
  static const bool IS_TIME[] = {EXPECT_UNIT_LIST(UNIT_IS_TIME)};
  return IS_TIME[unit];
}

static double expect_unit_factor(enum expect_unit unit) {
  static const double FACTORS[] = {EXPECT_UNIT_LIST(UNIT_FACTOR)};
  return FACTORS[unit];
}

double expect_base(enum expect_unit unit, double value) {
  return value * expect_unit_factor(unit);
}

double expect_tolerance(const struct expect_row *row) {
  return !isnan(row->tolerance)                             ? row->tolerance
         : row->statement != EXPECT_REPORTS                 ? 0
         : expect_unit_is_time((enum expect_unit)row->unit) ? TOLERANCE_TIME
                                                            : TOLERANCE_RATE;
}

const char *expect_path_noun(enum expect_path path) {
  static const char *const NOUNS[] = {EXPECT_PATH_LIST(PATH_NOUN)};
  return NOUNS[path];
}

/* ---- the table of keys ---- */

enum { IN_ROOT, IN_MACHINE, IN_ROW, expect_section_count };

static const struct section_row *expect_section_row(enum section section) {
  static const struct section_row ROWS[expect_section_count] = {
      {(enum section)IN_ROOT, NULL, false, "the top level of the file", ""},
      {(enum section)IN_ROOT, "machine", true, "[[machine]]", "Of which machines the rows are."},
      {(enum section)IN_MACHINE, "expect", true, "[[machine.expect]]", "What they reach."}};
  return &ROWS[section];
}

#define BIT_OF(section) (1U << (section))
#define ROW(key, member, ...)                                                                      \
  KEY(key, BIT_OF(IN_ROW), .offset = offsetof(struct expect_row, member), __VA_ARGS__)
#define MACHINE(key, member, ...)                                                                  \
  KEY(key, BIT_OF(IN_MACHINE), .offset = offsetof(struct expect_machine, member), __VA_ARGS__)
#define RATE_LIMIT 1e9

/* offset: in the struct of the table. Absent is what expect_row_empty() has, and 0 of a machine. */
static const struct field expect_fields[] = {
    KEY("format", BIT_OF(IN_ROOT), COUNT(1, 1), .required = true, HELP("Version of the format")),
    KEY("description", BIT_OF(IN_ROOT), .type = FIELD_TEXT,
        .offset = offsetof(struct expect_file, description), HELP("What the file is")),

    MACHINE("name", name, .type = FIELD_TEXT, .required = true, HELP("As people call it")),
    MACHINE("gpu", gpu, .type = FIELD_TEXT, .required = true, HELP("A glob of the GPUs' name")),
    MACHINE("pcie.generation", pcie_generation, COUNT(1, 9), HELP("Best that both ends can")),
    MACHINE("pcie.width", pcie_width, COUNT(1, 32), HELP("Lanes that both ends have")),
    MACHINE("nvlink.version", nvlink_version, COUNT(1, 9), HELP("Generation of the NVLinks")),
    MACHINE("nvlink.links", nvlink_links, COUNT(1, 64), HELP("NVLinks of the best connected GPU")),
    MACHINE("c2c", c2c, .type = FIELD_FLAG, HELP("Only where a chip-to-chip link is there")),
    MACHINE("simulated", simulated, .type = FIELD_FLAG, HELP("Of a fake driver's machine")),
    MACHINE("driver", driver, .type = FIELD_VERSION, HELP("Only under these drivers")),

    ROW("kind", kind, WORDS(case_kind_names), HELP("Kind of case")),
    ROW("path", path, WORDS(expect_path_names), HELP("Between what")),
    ROW("method", method, WORDS(method_names), HELP("What moves the bytes")),
    ROW("operation", operation, WORDS(stream_op_names), HELP("Of a stream")),
    ROW("initiator", initiator, WORDS(initiator_names), HELP("The side that moves them")),
    ROW("memory", memory, WORDS(memory_kind_names), HELP("On the host; absent: pinned")),
    ROW("block", block, .type = FIELD_TEXT, HELP("A glob of the block's name")),
    ROW("axes", axes, .type = FIELD_TEXT, HELP("A glob of the case's axes")),
    ROW("size.min", size_min, SIZE(0, SIZE_LIMIT), HELP("Smallest size")),
    ROW("size.max", size_max, SIZE(0, SIZE_LIMIT), HELP("Largest size")),
    ROW("low", low, NUMBER(0, RATE_LIMIT), .exclusive = true, HELP("Least value")),
    ROW("high", high, NUMBER(0, RATE_LIMIT), .exclusive = true, HELP("Greatest value")),
    ROW("unit", unit, WORDS(expect_unit_names), .required = true, HELP("Of low and high")),
    ROW("statement", statement, WORDS(expect_statement_names), .required = true,
        HELP("What kind of statement it is")),
    ROW("count", count, COUNT(1, COUNT_LIMIT), HELP("Reports, or values learned from")),
    ROW("hosts", hosts, COUNT(1, COUNT_LIMIT), HELP("On which they were measured")),
    ROW("tolerance", tolerance, NUMBER(0, 1), HELP("How far beyond the range is still usual")),
    ROW("source", source, .type = FIELD_TEXT, .required = true, HELP("Who says so")),
    ROW("driver", driver, .type = FIELD_TEXT, HELP("Under which it was measured")),
    ROW("date", date, .type = FIELD_TEXT,
        HELP("Of the measurement or the publication, else when it was read: \"2026-11-22\"")),
};

static const struct field *expect_field_at(size_t i) {
  return i < COUNT_OF(expect_fields) ? &expect_fields[i] : NULL;
}

static const struct language LANGUAGE_EXPECT = {expect_section_row, expect_section_count,
                                                expect_field_at};

struct expect_row expect_row_empty(void) {
  return (struct expect_row){.kind = CASE_TRANSFER,
                             .path = EXPECT_ANY,
                             .method = EXPECT_ANY,
                             .operation = EXPECT_ANY,
                             .initiator = EXPECT_ANY,
                             .memory = EXPECT_ANY,
                             .low = NAN,
                             .high = NAN,
                             .tolerance = NAN};
}

/* ---- reading ---- */

static void expect_store(const struct entries *entries, void *object) {
  for (size_t i = 0; i < entries->count; i++) {
    const struct entry *entry = &entries->items[i];
    if (entry->values.count == 1 && strcmp(entry->field->name, "format") != 0) {
      value_store(entry->field, &entry->values.items[0], object);
    }
  }
}

__attribute__((format(printf, 5, 6))) static void
expect_refuse(struct reader *reader, const struct entries *entries, const char *key,
              const char *expected, const char *format, ...) {
  char message[FIELD_EXPECTED_MAX];
  const struct entry *entry = entries_find(entries, key);
  va_list args;
  va_start(args, format);
  (void)vsnprintf(message, sizeof message, format, args);
  va_end(args);
  diagnostics_add(reader->diagnostics, reader->source,
                  entry != NULL ? entry->node->span : (struct toml_span){1, 1, 1}, expected, NULL,
                  "%s: %s", key, message);
}

static bool expect_is_date(const char *text) {
  static const char FORM[] = "0000-00-00";
  size_t i = 0;
  while (FORM[i] != '\0' && (FORM[i] == '-' ? text[i] == '-' : text[i] >= '0' && text[i] <= '9')) {
    i++;
  }
  return FORM[i] == '\0' && text[i] == '\0';
}

/* Rules between the keys of one row. */
static void expect_check_row(struct reader *reader, const struct entries *entries,
                             struct toml_span header, const struct expect_row *row) {
  const bool time = expect_unit_is_time((enum expect_unit)row->unit);
  const bool rate_kind = row->kind == CASE_TRANSFER || row->kind == CASE_STREAM;
  if (isnan(row->low) && isnan(row->high) && entries_find(entries, "low") == NULL &&
      entries_find(entries, "high") == NULL) {
    diagnostics_add(reader->diagnostics, reader->source, header, "low, high or both", NULL,
                    "a row without a range says nothing");
  }
  if (row->low > row->high) {
    expect_refuse(reader, entries, "high", "low and high the other way round",
                  "the range is empty: %.15g is below low, %.15g", row->high, row->low);
  }
  if (row->size_max > 0 && row->size_min > row->size_max) {
    expect_refuse(reader, entries, "size.max", "size.min and size.max the other way round",
                  "no size is from size.min to it");
  }
  if (entries_find(entries, "unit") != NULL && entries_find(entries, "unit")->values.count == 1 &&
      time == rate_kind) {
    expect_refuse(reader, entries, "unit",
                  rate_kind ? "a rate, such as \"GB/s\"" : "\"ns\" or \"us\"",
                  "\"%s\" is no unit of a %s", expect_unit_text((enum expect_unit)row->unit),
                  case_kind_text((enum case_kind)row->kind));
  }
  if (row->date != NULL && !expect_is_date(row->date)) {
    expect_refuse(reader, entries, "date", "a date such as \"2026-11-22\"", "\"%s\" is no date",
                  row->date);
  }
  if (row->path == EXPECT_ANY && row->block == NULL) {
    diagnostics_add(reader->diagnostics, reader->source, header, "path = \"host_to_device\"", NULL,
                    "neither path nor block says of which cases the row is");
  }
}

bool expect_is_old(const struct expect_row *row, int64_t now_ns) {
  const int64_t two_years_ns = INT64_C(2) * 365 * 86400 * 1000000000;
  char limit[32];
  units_format_utc(now_ns - two_years_ns, "%Y-%m-%d", limit, sizeof limit);
  return row->date == NULL || strcmp(row->date, limit) < 0;
}

static bool expect_may_both(unsigned a, unsigned b) {
  return a == EXPECT_ANY || b == EXPECT_ANY || a == b;
}

static bool expect_same_text(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Whether a case may have both rows. */
static bool expect_rows_meet(const struct expect_row *a, const struct expect_row *b) {
  return a->kind == b->kind && expect_may_both(a->path, b->path) &&
         expect_may_both(a->method, b->method) && expect_may_both(a->operation, b->operation) &&
         expect_may_both(a->initiator, b->initiator) && expect_may_both(a->memory, b->memory) &&
         expect_same_text(a->block, b->block) && expect_same_text(a->axes, b->axes) &&
         (a->size_max == 0 || b->size_min <= a->size_max) &&
         (b->size_max == 0 || a->size_min <= b->size_max);
}

static double expect_low_of(const struct expect_row *row) {
  return isnan(row->low)
             ? 0
             : expect_base((enum expect_unit)row->unit, row->low) * (1 - expect_tolerance(row));
}

static double expect_high_of(const struct expect_row *row) {
  return isnan(row->high)
             ? INFINITY
             : expect_base((enum expect_unit)row->unit, row->high) * (1 + expect_tolerance(row));
}

/* Two rows of one machine that no value can fulfil together. */
static void expect_check_contradictions(struct reader *reader, const struct expect_machine *machine,
                                        const struct toml_node *tables) {
  for (size_t i = 0; i < machine->row_count; i++) {
    for (size_t k = 0; k < i; k++) {
      const struct expect_row *a = &machine->rows[k];
      const struct expect_row *b = &machine->rows[i];
      if (expect_rows_meet(a, b) &&
          (expect_low_of(b) > expect_high_of(a) || expect_low_of(a) > expect_high_of(b))) {
        const struct toml_node *low = toml_get(&tables->children[i], "low");
        diagnostics_add(reader->diagnostics, reader->source,
                        low != NULL ? low->span : tables->children[i].span,
                        "ranges that overlap, or rows of different cases", NULL,
                        "contradicts the row of line %u (%s): no value is in the range of both",
                        tables->children[k].span.line,
                        expect_statement_text((enum expect_statement)a->statement));
        break;
      }
    }
  }
}

static void expect_read_rows(struct reader *reader, const struct toml_node *table,
                             struct expect_machine *machine) {
  const struct toml_node *rows = entries_section(reader, table, (enum section)IN_ROW);
  const size_t mistakes = diagnostics_mistakes(reader->diagnostics);
  if (rows == NULL && toml_get(table, "expect") == NULL) {
    diagnostics_add(reader->diagnostics, reader->source, table->span, "[[machine.expect]] rows",
                    NULL, "no [[machine.expect]] in this [[machine]]");
  }
  machine->row_count = rows == NULL ? 0 : rows->child_count;
  machine->rows = arena_array(reader->arena, machine->row_count, sizeof *machine->rows);
  for (size_t i = 0; i < machine->row_count; i++) {
    const struct toml_node *row = &rows->children[i];
    struct entries entries = {0};
    machine->rows[i] = expect_row_empty();
    entries_read(reader, (enum section)IN_ROW, row, &entries);
    entries_require(reader, reader->source, (enum section)IN_ROW, &entries, row->span);
    expect_store(&entries, &machine->rows[i]);
    expect_check_row(reader, &entries, row->span, &machine->rows[i]);
  }
  if (rows != NULL && diagnostics_mistakes(reader->diagnostics) == mistakes) {
    expect_check_contradictions(reader, machine, rows);
  }
}

static void expect_read_machines(struct reader *reader, const struct toml_node *root,
                                 struct expect_file *file) {
  const struct toml_node *machines = entries_section(reader, root, (enum section)IN_MACHINE);
  if (machines == NULL && toml_get(root, "machine") == NULL) {
    diagnostics_add(reader->diagnostics, reader->source, (struct toml_span){1, 1, 1},
                    "a [[machine]] with [[machine.expect]] rows", NULL,
                    "no [[machine]] in this file");
  }
  file->machine_count = machines == NULL ? 0 : machines->child_count;
  file->machines = arena_array(reader->arena, file->machine_count, sizeof *file->machines);
  for (size_t i = 0; i < file->machine_count; i++) {
    const struct toml_node *table = &machines->children[i];
    struct entries entries = {0};
    file->machines[i] = (struct expect_machine){0};
    entries_read(reader, (enum section)IN_MACHINE, table, &entries);
    entries_require(reader, reader->source, (enum section)IN_MACHINE, &entries, table->span);
    expect_store(&entries, &file->machines[i]);
    expect_read_rows(reader, table, &file->machines[i]);
  }
}

static void expect_read_root(struct reader *reader, const struct toml_node *root,
                             struct expect_file *file) {
  struct entries entries = {0};
  entries_read(reader, (enum section)IN_ROOT, root, &entries);
  entries_require(reader, reader->source, (enum section)IN_ROOT, &entries,
                  (struct toml_span){1, 1, 1});
  expect_store(&entries, file);
  expect_read_machines(reader, root, file);
}

/* The arena of *file has the source already. */
static enum status expect_read_source(const struct source *source, struct expect_file *file,
                                      struct diagnostics *diagnostics) {
  const size_t before = diagnostics_mistakes(diagnostics);
  struct error err = {0};
  struct toml_document *document = NULL;
  struct reader reader = {.arena = &file->arena,
                          .language = &LANGUAGE_EXPECT,
                          .source = source,
                          .diagnostics = diagnostics};
  if (toml_parse(source->text, source->length, source->path, &document, &err) != STATUS_OK) {
    const struct toml_span span = {err.position.line, err.position.column, 1};
    diagnostics_add(diagnostics, source, span, NULL, NULL, "%s", err.message);
    return STATUS_INVALID;
  }
  expect_read_root(&reader, toml_root(document), file);
  toml_free(document);
  diagnostics_sort(diagnostics, before);
  return diagnostics_mistakes(diagnostics) == before ? STATUS_OK : STATUS_INVALID;
}

static struct expect_file *expect_new(void) {
  return memory_new(1, sizeof(struct expect_file));
}

static enum status expect_finish(struct expect_file *made, enum status status,
                                 struct expect_file **file) {
  if (status != STATUS_OK) {
    expect_free(made);
  } else {
    *file = made;
  }
  return status;
}

enum status expect_parse(const char *text, size_t length, const char *path,
                         struct expect_file **file, struct diagnostics *diagnostics) {
  struct expect_file *made = expect_new();
  made->path = arena_strdup(&made->arena, path);
  const struct source source = {
      .path = made->path, .text = text, .length = length, .has_lines = true};
  return expect_finish(made, expect_read_source(&source, made, diagnostics), file);
}

enum status expect_load(const char *path, struct expect_file **file,
                        struct diagnostics *diagnostics) {
  struct expect_file *made = expect_new();
  struct source source = {.has_lines = true};
  struct error err = {0};
  enum status status = source_read(&made->arena, path, true, &source, &err);
  made->path = arena_strdup(&made->arena, path);
  if (status != STATUS_OK) {
    source.path = made->path;
    source.has_lines = false;
    diagnostics_add(diagnostics, &source, (struct toml_span){1, 1, 1}, NULL, NULL, "%s",
                    err.message);
    status = STATUS_INVALID;
  } else {
    status = expect_read_source(&source, made, diagnostics);
  }
  return expect_finish(made, status, file);
}

enum status expect_load_shipped(struct expect_file **file, struct diagnostics *diagnostics) {
  const struct embedded_file *embedded = &expectations_embedded[0];
  return expect_parse((const char *)embedded->data, (size_t)(embedded->end - embedded->data),
                      "<embedded>/expectations.toml", file, diagnostics);
}

void expect_free(struct expect_file *file) {
  if (file != NULL) {
    arena_fini(&file->arena);
    free(file);
  }
}

/* ---- writing ---- */

/* The member as a value; false: it is absent. */
static bool expect_value_of(const struct field *field, const void *object, union value *value) {
  const void *member = (const char *)object + field->offset;
  uint32_t count = 0;
  memset(value, 0, sizeof *value);
  if (field->type == FIELD_WORD) {
    memcpy(&value->word, member, sizeof value->word);
    return value->word != EXPECT_ANY;
  }
  if (field->type == FIELD_NUMBER) {
    memcpy(&value->number, member, sizeof value->number);
    return !isnan(value->number);
  }
  if (field->type == FIELD_COUNT) {
    memcpy(&count, member, sizeof count);
    value->integer = count;
    return count > 0;
  }
  if (field->type == FIELD_SIZE) {
    memcpy(&value->integer, member, sizeof value->integer);
    return value->integer > 0;
  }
  if (field->type == FIELD_FLAG) {
    memcpy(&value->flag, member, sizeof value->flag);
    return value->flag;
  }
  memcpy(&value->text, member, sizeof value->text);
  return value->text != NULL;
}

static void expect_write_keys(struct strbuf *text, unsigned section, const void *object) {
  SCOPED(arena_fini) struct arena arena = {0};
  const struct field *field = NULL;
  for (size_t i = 0; (field = expect_field_at(i)) != NULL; i++) {
    union value value;
    if (field->sections != BIT_OF(section) || !expect_value_of(field, object, &value)) {
      continue;
    }
    const char *words = value_text(&arena, field, &value);
    strbuf_printf(text, "%s = ", field->name);
    if (field->type == FIELD_NUMBER || field->type == FIELD_COUNT || field->type == FIELD_FLAG) {
      strbuf_append(text, words);
    } else {
      toml_write_text(text, words);
    }
    strbuf_append_char(text, '\n');
  }
}

void expect_write(struct strbuf *text, const char *description,
                  const struct expect_machine *machines, size_t machine_count) {
  strbuf_append(text, "format = 1\n");
  if (description != NULL) {
    strbuf_append(text, "description = ");
    toml_write_text(text, description);
    strbuf_append_char(text, '\n');
  }
  for (size_t i = 0; i < machine_count; i++) {
    strbuf_append(text, "\n[[machine]]\n");
    expect_write_keys(text, IN_MACHINE, &machines[i]);
    for (size_t k = 0; k < machines[i].row_count; k++) {
      strbuf_append(text, "\n[[machine.expect]]\n");
      expect_write_keys(text, IN_ROW, &machines[i].rows[k]);
    }
  }
}
