#include "runner/render/outliers.h"

#include "engine/base/strbuf.h"
#include "runner/render/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL_MAX = 64, TEXT_MAX = 1 << 20, PATHS_SHOWN = 4 };

static void put(struct strbuf *text, const char *untrusted) {
  text_escape(text, untrusted, strlen(untrusted), ESCAPE_TERMINAL);
}

/* In which role it is slow, in words. */
static const char *how(const struct outlier *row) {
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

/* The first of the paths, and how many there are. */
static void put_paths(struct strbuf *text, const char *paths) {
  size_t count = 0;
  for (const char *path = paths; path != NULL; count++) {
    const char *comma = strstr(path, ", ");
    const size_t length = comma != NULL ? (size_t)(comma - path) : strlen(path);
    if (count < PATHS_SHOWN) {
      strbuf_append(text, count > 0 ? ", " : "");
      strbuf_append_n(text, path, length);
    }
    path = comma != NULL ? comma + 2 : NULL;
  }
  if (count > PATHS_SHOWN) {
    strbuf_printf(text, ", ... (%zu)", count);
  }
}

/* "-3.02", or both of a GPU that is slow in both: "-3.02, -2.96". */
static void change_text(const struct outlier *row, char text[CELL_MAX]) {
  if (isnan(row->source_change)) {
    (void)snprintf(text, CELL_MAX, "%+.2f", 100 * row->change);
  } else {
    (void)snprintf(text, CELL_MAX, "%+.2f, %+.2f", 100 * row->source_change,
                   100 * row->target_change);
  }
}

/* Whether the block was measured between other kinds of memory as well. */
static bool memory_matters(const struct outliers *outliers, const struct outlier *row) {
  for (size_t i = 0; i < outliers->row_count; i++) {
    const struct outlier *other = &outliers->rows[i];
    if (strcmp(other->block, row->block) == 0 && strcmp(other->memory, row->memory) != 0) {
      return true;
    }
  }
  return false;
}

static enum status print_table(const struct measured *measured, const struct outliers *outliers,
                               bool all, const struct rows_options *options, struct error *err) {
  static const char *const COLUMNS[] = {"what",   "how",   "host",     "block",
                                        "memory", "sizes", "change %", "robust z",
                                        "cases",  "paths", "only in",  "finding"};
  struct rows_options lean = *options;
  lean.drop_empty = true;
  struct strbuf paths;
  strbuf_init(&paths, TEXT_MAX);
  struct rows *rows = rows_new(&lean);
  const struct row_sink *sink = rows_sink(rows);
  enum status status = sink->begin(sink->context, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, err);
  for (size_t i = 0; i < outliers->row_count && status == STATUS_OK; i++) {
    const struct outlier *row = &outliers->rows[i];
    char change[CELL_MAX];
    char z[CELL_MAX];
    char cases[CELL_MAX];
    if (row->finding == FINDING_UNDECIDED || (!all && row->finding != FINDING_SLOW)) {
      continue; /* put_undecided() lists it below the table */
    }
    change_text(row, change);
    strbuf_clear(&paths);
    if (row->entity == ENTITY_GPU && row->paths != NULL) {
      put_paths(&paths, row->paths);
    }
    (void)snprintf(z, sizeof z, "%+.1f", row->robust_z);
    (void)snprintf(cases, sizeof cases, "%zu of %zu", row->slow_cases, row->cases);
    const struct cell cells[] = {
        cell_text(row->name),
        cell_text(how(row)),
        cell_text(row->host),
        cell_text(row->block),
        memory_matters(outliers, row) ? cell_text(row->memory) : cell_null(),
        row->sizes != SIZES_NONE ? cell_text(size_class_text(row->sizes)) : cell_null(),
        cell_text(change),
        cell_text(z),
        cell_text(cases),
        paths.length > 0 ? cell_text(paths.text) : cell_null(),
        row->single ? cell_text(measured->cases[row->worst].name) : cell_null(),
        cell_text(all ? finding_text(row->finding) : NULL),
    };
    status = sink->row(sink->context, cells, err);
  }
  if (status == STATUS_OK) {
    status = sink->end(sink->context, err);
  }
  rows_free(rows);
  strbuf_fini(&paths);
  return status;
}

static struct cell real_cell(double value) {
  return isfinite(value) ? cell_real(value) : cell_null();
}

static enum status print_rows(const struct measured *measured, const struct outliers *outliers,
                              const struct rows_options *options, struct error *err) {
  static const char *const COLUMNS[] = {
      "finding",        "entity",        "name",          "role",           "host",
      "uuid",           "block",         "sizes",         "change_percent", "source_percent",
      "target_percent", "robust_z",      "cases",         "slow_cases",     "paths",
      "worst_case",     "worst_percent", "compared_with", "memory",         "single"};
  struct rows *rows = rows_new(options);
  const struct row_sink *sink = rows_sink(rows);
  enum status status = sink->begin(sink->context, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, err);
  for (size_t i = 0; i < outliers->row_count && status == STATUS_OK; i++) {
    const struct outlier *row = &outliers->rows[i];
    const struct cell cells[] = {
        cell_text(finding_text(row->finding)),
        cell_text(entity_text(row->entity)),
        cell_text(row->name),
        row->role != ROLE_NONE ? cell_text(outlier_role_text(row->role)) : cell_null(),
        cell_text(row->host),
        cell_text(row->uuid),
        cell_text(row->block),
        row->sizes != SIZES_NONE ? cell_text(size_class_text(row->sizes)) : cell_null(),
        cell_real(100 * row->change),
        real_cell(100 * row->source_change),
        real_cell(100 * row->target_change),
        cell_real(row->robust_z),
        cell_integer((int64_t)row->cases),
        cell_integer((int64_t)row->slow_cases),
        cell_text(row->paths),
        cell_text(measured->cases[row->worst].name),
        cell_real(100 * row->worst_change),
        row->other != SIZE_MAX ? cell_text(measured->cases[row->other].name) : cell_null(),
        row->memory[0] != '\0' ? cell_text(row->memory) : cell_null(),
        cell_integer(row->single)};
    status = sink->row(sink->context, cells, err);
  }
  if (status == STATUS_OK) {
    status = sink->end(sink->context, err);
  }
  rows_free(rows);
  return status;
}

/* Pairs of which nobody can tell the faulty one. */
static void put_undecided(struct strbuf *text, const struct measured *measured,
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
    put(text, measured->cases[row->worst].name);
    strbuf_printf(text, " is %.2f %% slower than ", -100 * row->worst_change);
    put(text, measured->cases[row->other].name);
    strbuf_append_char(text, '\n');
  }
}

static void put_summary(struct strbuf *text, const struct measured *measured,
                        const struct outliers *outliers) {
  if (outliers->undecided_count > 0) {
    put_undecided(text, measured, outliers);
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

enum status outliers_print(const struct measured *measured, const struct outliers *outliers,
                           bool all, const struct rows_options *options, struct error *err) {
  if (options->format == ROW_MD) {
    return print_table(measured, outliers, all, options, err);
  }
  if (options->format != ROW_TABLE) {
    return print_rows(measured, outliers, options, err);
  }
  enum status status = STATUS_OK;
  if (outliers->slow_count > 0 || (all && outliers->row_count > outliers->undecided_count)) {
    status = print_table(measured, outliers, all, options, err);
  }
  struct strbuf text;
  strbuf_init(&text, TEXT_MAX);
  put_summary(&text, measured, outliers);
  errno = 0;
  const bool failed = fwrite(text.text, 1, text.length, options->stream) < text.length;
  strbuf_fini(&text);
  if (status == STATUS_OK && failed && errno != EPIPE) {
    return error_set_errno(err, errno, "cannot write the result");
  }
  return status;
}
