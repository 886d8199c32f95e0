#include "runner/render/outliers.h"

#include "engine/base/arena.h"
#include "engine/base/strbuf.h"
#include "runner/table/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20, PATHS_SHOWN = 4 };

/* The role in which it is slow. */
static const char *outliers_role_words(const struct outlier *row) {
  switch (row->role) {
  case ROLE_SOURCE:
    return "as source";
  case ROLE_TARGET:
    return "as target";
  case ROLE_BOTH:
    return row->entity == ENTITY_LINK ? "both ways" : "as source and target";
  case ROLE_LOCAL:
    return "in itself";
  case ROLE_NONE:
  case outlier_role_name_count:
    break;
  }
  return NULL;
}

/* The first of the paths of a GPU, and how many there are. */
static const char *outliers_paths_text(struct arena *arena, const struct outlier *row) {
  const char *text = NULL;
  size_t count = 0;
  for (const char *at = row->entity == ENTITY_GPU ? row->paths : NULL; at != NULL; count++) {
    const char *comma = strstr(at, ", ");
    if (count < PATHS_SHOWN) {
      text = arena_strndup(arena, row->paths,
                           strlen(row->paths) - (comma != NULL ? strlen(comma) : 0));
    }
    at = comma != NULL ? comma + 2 : NULL;
  }
  return count > PATHS_SHOWN ? arena_format(arena, "%s, ... (%zu)", text, count) : text;
}

/* "-3.02", or both of a GPU that is slow in both: "-3.02, -2.96". */
static const char *outliers_change_text(struct arena *arena, const struct outlier *row) {
  return isnan(row->source_change) ? arena_format(arena, "%+.2f", 100 * row->change)
                                   : arena_format(arena, "%+.2f, %+.2f", 100 * row->source_change,
                                                  100 * row->target_change);
}

/* Whether the block was measured between other kinds of memory as well. */
static bool outliers_memory_matters(const struct outliers *outliers, const struct outlier *row) {
  for (size_t i = 0; i < outliers->row_count; i++) {
    const struct outlier *other = &outliers->rows[i];
    if (strcmp(other->block, row->block) == 0 && strcmp(other->memory, row->memory) != 0) {
      return true;
    }
  }
  return false;
}

/* The columns for people, and their cells. Those without a value are left out. */
#define OUTLIERS_TABLE_COLUMNS(X)                                                                  \
  X("what", cell_text(row->name))                                                                  \
  X("how", cell_text(outliers_role_words(row)))                                                    \
  X("host", cell_text(row->host))                                                                  \
  X("block", cell_text(row->block))                                                                \
  X("memory", outliers_memory_matters(outliers, row) ? cell_text(row->memory) : cell_null())       \
  X("sizes", row->sizes != SIZES_NONE ? cell_text(size_class_text(row->sizes)) : cell_null())      \
  X("change %", cell_text(outliers_change_text(&arena, row)))                                      \
  X("robust z", cell_text(arena_format(&arena, "%+.1f", row->robust_z)))                           \
  X("cases", cell_text(arena_format(&arena, "%zu of %zu", row->slow_cases, row->cases)))           \
  X("paths", cell_text(outliers_paths_text(&arena, row)))                                          \
  X("only in", row->single ? cell_text(measured->cases[row->worst].name) : cell_null())            \
  X("finding", cell_text(all ? finding_text(row->finding) : NULL))

static enum status outliers_print_table(const struct measured *measured,
                                        const struct outliers *outliers, bool all,
                                        const struct table_options *options, struct error *err) {
  static const char *const COLUMNS[] = {OUTLIERS_TABLE_COLUMNS(COLUMN_NAME)};
  struct table_options lean = *options;
  struct arena arena = {0};
  lean.drop_empty = true;
  struct table *table = TABLE_OPEN(&lean, COLUMNS, err);
  for (size_t i = 0; i < outliers->row_count; i++) {
    const struct outlier *row = &outliers->rows[i];
    /* outliers_put_undecided() lists the undecided ones below the table. */
    if (row->finding == FINDING_SLOW || (all && row->finding != FINDING_UNDECIDED)) {
      const struct cell cells[] = {OUTLIERS_TABLE_COLUMNS(COLUMN_CELL)};
      table_add(table, cells, err);
    }
  }
  arena_fini(&arena);
  return table_close(table, err);
}

/* The columns of one row per entity and block, and their cells. */
#define OUTLIERS_COLUMNS(X)                                                                        \
  X("finding", cell_text(finding_text(row->finding)))                                              \
  X("entity", cell_text(entity_text(row->entity)))                                                 \
  X("name", cell_text(row->name))                                                                  \
  X("role", row->role != ROLE_NONE ? cell_text(outlier_role_text(row->role)) : cell_null())        \
  X("host", cell_text(row->host))                                                                  \
  X("uuid", cell_text(row->uuid))                                                                  \
  X("block", cell_text(row->block))                                                                \
  X("sizes", row->sizes != SIZES_NONE ? cell_text(size_class_text(row->sizes)) : cell_null())      \
  X("change_percent", cell_real(100 * row->change))                                                \
  X("source_percent", cell_finite(100 * row->source_change))                                       \
  X("target_percent", cell_finite(100 * row->target_change))                                       \
  X("robust_z", cell_real(row->robust_z))                                                          \
  X("cases", cell_integer((int64_t)row->cases))                                                    \
  X("slow_cases", cell_integer((int64_t)row->slow_cases))                                          \
  X("paths", cell_text(row->paths))                                                                \
  X("worst_case", cell_text(measured->cases[row->worst].name))                                     \
  X("worst_percent", cell_real(100 * row->worst_change))                                           \
  X("compared_with",                                                                               \
    row->other != SIZE_MAX ? cell_text(measured->cases[row->other].name) : cell_null())            \
  X("memory", row->memory[0] != '\0' ? cell_text(row->memory) : cell_null())                       \
  X("single", cell_integer(row->single))

static enum status outliers_print_rows(const struct measured *measured,
                                       const struct outliers *outliers,
                                       const struct table_options *options, struct error *err) {
  static const char *const COLUMNS[] = {OUTLIERS_COLUMNS(COLUMN_NAME)};
  struct table *table = TABLE_OPEN(options, COLUMNS, err);
  for (size_t i = 0; i < outliers->row_count; i++) {
    const struct outlier *row = &outliers->rows[i];
    const struct cell cells[] = {OUTLIERS_COLUMNS(COLUMN_CELL)};
    table_add(table, cells, err);
  }
  return table_close(table, err);
}

/* Pairs of which nobody can tell the faulty one. */
static void outliers_put_undecided(struct strbuf *text, const struct measured *measured,
                                   const struct outliers *outliers) {
  strbuf_printf(text,
                "%s%zu undecided: each has only one peer, and which of the two is faulty cannot "
                "be told\n",
                outliers->slow_count > 0 ? "\n" : "", outliers->undecided_count);
  for (size_t i = 0; i < outliers->row_count; i++) {
    const struct outlier *row = &outliers->rows[i];
    if (row->finding != FINDING_UNDECIDED) {
      continue;
    }
    strbuf_append(text, "  ");
    text_append(text, measured->cases[row->worst].name);
    strbuf_printf(text, " is %.2f %% slower than ", -100 * row->worst_change);
    text_append(text, measured->cases[row->other].name);
    strbuf_append_char(text, '\n');
  }
}

static void outliers_put_summary(struct strbuf *text, const struct measured *measured,
                                 const struct outliers *outliers) {
  if (outliers->undecided_count > 0) {
    outliers_put_undecided(text, measured, outliers);
  }
  strbuf_printf(text, "%s%zu slow; %zu %s compared with their peers",
                text->length > 0 || outliers->slow_count > 0 ? "\n" : "", outliers->slow_count,
                outliers->cases, outliers->cases == 1 ? "result" : "results");
  if (outliers->without_peers > 0) {
    strbuf_printf(text, ", %zu without enough peers", outliers->without_peers);
  }
  strbuf_append_char(text, '\n');
  if (outliers->slow_count > 0) {
    strbuf_append(text,
                  "change: of speed, against its peers; robust z: in robust standard deviations\n");
  }
  if (outliers->small_tables > 0) {
    strbuf_append(text, "Paths between so few GPUs cannot tell one that is slow to all others; "
                        "four or more can.\n");
  }
}

static enum status outliers_print_page(const struct measured *measured,
                                       const struct outliers *outliers, bool all,
                                       const struct table_options *options, struct error *err) {
  enum status status = STATUS_OK;
  if (outliers->slow_count > 0 || (all && outliers->row_count > outliers->undecided_count)) {
    status = outliers_print_table(measured, outliers, all, options, err);
  }
  struct strbuf text;
  strbuf_init(&text, TEXT_MAX);
  outliers_put_summary(&text, measured, outliers);
  status = THEN(status, stream_write(options->stream, &text, NULL, err));
  strbuf_fini(&text);
  return status;
}

enum status outliers_print(const struct measured *measured, const struct outliers *outliers,
                           bool all, const struct table_options *options, struct error *err) {
  switch (output_layout_of(options->format)) {
  case LAYOUT_PAGE:
    return outliers_print_page(measured, outliers, all, options, err);
  case LAYOUT_DIGEST:
    return outliers_print_table(measured, outliers, all, options, err);
  case LAYOUT_OBJECT:
  case LAYOUT_ROWS:
    break;
  }
  return outliers_print_rows(measured, outliers, options, err);
}
