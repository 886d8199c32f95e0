/* diff_json.c - a comparison for programs: a row per case, one JSON object, a report of tests. */
#include "engine/base/strings.h"
#include "runner/document/document.h"
#include "runner/render/diff.h"
#include "runner/render/diff_format.h"
#include "runner/render/diff_layout.h"
#include "runner/render/outliers.h"
#include "runner/table/json.h"

#include <math.h>

enum { JSON_MAX = 1 << 30, NOTES_MAX = 1 << 16 };

/* ---- one row per case ---- */

static struct cell diff_count_cell(unsigned value) {
  return cell_integer((int64_t)value);
}

static struct cell diff_needed_cell(const struct diff_result *result, enum diff_unit unit) {
  return result->units_needed > 0 && result->unit == unit ? diff_count_cell(result->units_needed)
                                                          : cell_null();
}

static struct cell diff_distribution_cell(const struct comparison_row *row, enum side side) {
  return row->distribution.kind == DISTRIBUTION_SAME ? cell_null()
                                                     : cell_finite(row->distribution.values[side]);
}

enum diff_row_use { ROW_BOTH, ROW_FLAT };

/* What is known of a case: X(column, where, cell). ROW_BOTH: a column of CSV and a member of JSON,
 * where the sides are objects; ROW_FLAT: of CSV alone. */
#define DIFF_ROW_FIELDS(X)                                                                         \
  X("verdict", ROW_BOTH, cell_text(verdict_text(result->verdict)))                                 \
  X("case", ROW_BOTH, cell_text(bench->name))                                                      \
  X("case_key", ROW_BOTH, cell_text(bench->key))                                                   \
  X("block", ROW_BOTH, cell_text(bench->block))                                                    \
  X("method", ROW_BOTH, cell_text(bench->method))                                                  \
  X("path", ROW_BOTH, cell_text(bench->path))                                                      \
  X("axes", ROW_BOTH, cell_text(bench->axes))                                                      \
  X("size_bytes", ROW_BOTH, cell_integer((int64_t)bench->size_bytes))                              \
  X("unit", ROW_BOTH, cell_text(figure_text(row->figure)))                                         \
  X("a", ROW_FLAT, cell_finite(a->value))                                                          \
  X("b", ROW_FLAT, cell_finite(b->value))                                                          \
  X("change_percent", ROW_BOTH, cell_finite(100 * row->change))                                    \
  X("low_percent", ROW_BOTH, cell_finite(100 * row->change_low))                                   \
  X("high_percent", ROW_BOTH, cell_finite(100 * row->change_high))                                 \
  X("p", ROW_BOTH, cell_finite(result->p))                                                         \
  X("q", ROW_BOTH, cell_finite(result->q))                                                         \
  X("test", ROW_BOTH, cell_text(diff_test_text(result->test)))                                     \
  X("sd_percent", ROW_BOTH, cell_finite(100 * result->sd))                                         \
  X("processes_a", ROW_FLAT, diff_count_cell(a->processes))                                        \
  X("processes_b", ROW_FLAT, diff_count_cell(b->processes))                                        \
  X("boots_a", ROW_FLAT, diff_count_cell(a->boots))                                                \
  X("boots_b", ROW_FLAT, diff_count_cell(b->boots))                                                \
  X("gpus_a", ROW_FLAT, diff_count_cell(a->gpus))                                                  \
  X("gpus_b", ROW_FLAT, diff_count_cell(b->gpus))                                                  \
  X("processes_needed", ROW_BOTH, diff_needed_cell(result, DIFF_UNIT_PROCESS))                     \
  X("hardware", ROW_BOTH, cell_text(row->hardware))                                                \
  X("reason", ROW_BOTH, cell_text(row->reason))                                                    \
  X("delta_percent", ROW_BOTH, cell_finite(100 * row->delta))                                      \
  X("delta_from", ROW_BOTH, cell_text(delta_source_text(row->delta_from)))                         \
  X("not_ok_a", ROW_FLAT, cell_integer(row->sides[SIDE_A].not_ok))                                 \
  X("not_ok_b", ROW_FLAT, cell_integer(row->sides[SIDE_B].not_ok))                                 \
  X("provisional", ROW_FLAT, cell_integer(row->result.is_provisional))                             \
  X("judged_by", ROW_BOTH, cell_text(diff_unit_text(result->unit)))                                \
  X("runs_a", ROW_FLAT, diff_count_cell(a->runs))                                                  \
  X("runs_b", ROW_FLAT, diff_count_cell(b->runs))                                                  \
  X("runs_needed", ROW_BOTH, diff_needed_cell(result, DIFF_UNIT_RUN))                              \
  X("doubt", ROW_BOTH, cell_text(result->is_provisional ? diff_doubt_text(result->doubt) : NULL))  \
  X("distribution", ROW_FLAT, cell_text(distribution_text(row->distribution.kind)))                \
  X("distribution_a", ROW_FLAT, diff_distribution_cell(row, SIDE_A))                               \
  X("distribution_b", ROW_FLAT, diff_distribution_cell(row, SIDE_B))                               \
  X("distribution_q", ROW_FLAT, cell_finite(row->distribution.q))                                  \
  X("moved", ROW_BOTH, cell_text(row->moved != MOVED_UNKNOWN ? moved_text(row->moved) : NULL))
#define DIFF_ROW_NAME(name, use, cell) name,
#define DIFF_ROW_CELL(name, use, cell) cell,
#define DIFF_ROW_USE(name, use, cell)  use,

/* Of a part that became slower unlike the other nodes. */
static struct cell diff_part_cell(const char *column, const struct outlier_part *part,
                                  const char *name, const char *sentence) {
  const struct {
    const char *column;
    struct cell cell;
  } CELLS[] = {{"verdict", cell_text(verdict_text(VERDICT_REGRESSED))},
               {"case", cell_text(name)},
               {"block", cell_text(part->blocks)},
               {"change_percent", cell_finite(100 * part->change)},
               {"hardware", cell_text(part->uuid != NULL ? part->uuid : part->host)},
               {"reason", cell_text(sentence)},
               {"provisional", cell_integer(!part->certain)},
               {"judged_by", cell_text(diff_unit_text(DIFF_UNIT_NODE))}};
  for (size_t i = 0; i < sizeof CELLS / sizeof *CELLS; i++) {
    if (strcmp(CELLS[i].column, column) == 0) {
      return CELLS[i].cell;
    }
  }
  return cell_null();
}

void diff_say_rows(struct document *document, const struct measured *measured,
                   const struct comparison *comparison) {
  static const char *const COLUMNS[] = {DIFF_ROW_FIELDS(DIFF_ROW_NAME)};
  struct arena *arena = &document->arena;
  DOCUMENT_TABLE(document, COLUMNS, 0);
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const struct measured_case *bench = &measured->cases[row->bench];
    const struct comparison_side *a = &row->sides[SIDE_A];
    const struct comparison_side *b = &row->sides[SIDE_B];
    const struct diff_result *result = &row->result;
    const struct cell cells[] = {DIFF_ROW_FIELDS(DIFF_ROW_CELL)};
    document_row(document, cells);
  }
  for (size_t i = 0; i < comparison->alone_count; i++) {
    const struct outlier_part *part = &comparison->alone->parts[i];
    struct cell cells[sizeof COLUMNS / sizeof *COLUMNS];
    for (size_t c = 0; c < sizeof COLUMNS / sizeof *COLUMNS; c++) {
      cells[c] = diff_part_cell(COLUMNS[c], part, diff_part_name(arena, part),
                                outliers_alone_words(arena, part));
    }
    document_row(document, cells);
  }
  document_table_end(document);
}

/* ---- JSON ---- */

static void diff_json_shape(struct json_out *json, const struct side_shape *shape) {
  static const char *const KINDS[] = {NULL, "two modes", "process apart"};
  if (shape->kind == SHAPE_PLAIN) {
    json_out_null(json, "shape");
    return;
  }
  json_out_open(json, "shape", '{');
  json_out_text(json, "kind", KINDS[shape->kind]);
  json_out_open(json, "parts", '[');
  for (size_t i = 0; i < 2; i++) {
    json_out_open(json, NULL, '{');
    json_out_integer(json, "processes", (int64_t)shape->counts[i]);
    json_out_real(json, "value", shape->values[i]);
    json_out_close(json);
  }
  json_out_close(json);
  if (shape->kind == SHAPE_OUTLIER) {
    json_out_integer(json, "run", shape->run_id);
    json_out_integer(json, "process", shape->ordinal);
  }
  json_out_close(json);
}

static void diff_json_side(struct json_out *json, const char *key, const struct measured *measured,
                           const struct comparison_side *side) {
  json_out_open(json, key, '{');
  json_out_real(json, "value", side->value);
  json_out_integer(json, "processes", side->processes);
  json_out_integer(json, "runs", side->runs);
  json_out_integer(json, "boots", side->boots);
  json_out_integer(json, "gpus", side->gpus);
  json_out_open(json, "not_ok", '{');
  for (unsigned s = CASE_FAILED; s < case_status_name_count; s++) {
    json_out_integer(json, case_status_text((enum case_status)s), side->by_status[s]);
  }
  json_out_close(json);
  diff_json_shape(json, &side->shape);
  json_out_text(json, "case", side->bench != SIZE_MAX ? measured->cases[side->bench].name : NULL);
  json_out_close(json);
}

static void diff_json_cell(struct json_out *json, const char *key, const struct cell *cell) {
  switch (cell->kind) {
  case CELL_INTEGER:
    json_out_integer(json, key, cell->as.integer);
    break;
  case CELL_REAL:
    json_out_real(json, key, cell->as.real);
    break;
  case CELL_TEXT:
    json_out_text(json, key, cell->as.text.bytes);
    break;
  case CELL_NULL:
  case CELL_BLOB:
    json_out_null(json, key);
    break;
  }
}

static void diff_json_case(struct json_out *json, const struct measured *measured,
                           const struct comparison_row *row) {
  static const char *const NAMES[] = {DIFF_ROW_FIELDS(DIFF_ROW_NAME)};
  static const enum diff_row_use USES[] = {DIFF_ROW_FIELDS(DIFF_ROW_USE)};
  const struct measured_case *bench = &measured->cases[row->bench];
  const struct comparison_side *a = &row->sides[SIDE_A];
  const struct comparison_side *b = &row->sides[SIDE_B];
  const struct diff_result *result = &row->result;
  const struct cell cells[] = {DIFF_ROW_FIELDS(DIFF_ROW_CELL)};
  json_out_open(json, NULL, '{');
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
    if (USES[i] == ROW_BOTH) {
      diff_json_cell(json, NAMES[i], &cells[i]);
    }
  }
  json_out_boolean(json, "provisional", result->is_provisional);
  json_out_open(json, "distribution", '{');
  json_out_text(json, "kind", distribution_text(row->distribution.kind));
  if (row->distribution.kind != DISTRIBUTION_SAME) {
    json_out_boolean(json, "worse", row->distribution.is_worse);
    json_out_boolean(json, "provisional", row->distribution.is_provisional);
    json_out_real(json, "a", row->distribution.values[SIDE_A]);
    json_out_real(json, "b", row->distribution.values[SIDE_B]);
    json_out_real(json, "q", row->distribution.q);
  }
  json_out_close(json);
  json_out_text(json, "better", row->figure == FIGURE_RATE ? "more" : "less");
  diff_json_side(json, "a", measured, a);
  diff_json_side(json, "b", measured, b);
  json_out_close(json);
}

static void diff_json_total(struct json_out *json, const char *key, const char *name,
                            const struct comparison_total *total) {
  json_out_open(json, key, '{');
  json_out_text(json, "name", name);
  json_out_integer(json, "runs", (int64_t)total->runs);
  json_out_text(json, "which", total->which);
  json_out_integer(json, "processes", total->processes);
  json_out_integer(json, "boots", total->boots);
  json_out_integer(json, "gpus", total->gpus);
  json_out_text(json, "host_name", total->hosts);
  json_out_text(json, "driver_version", total->drivers);
  json_out_close(json);
}

static void diff_json_facts(struct json_out *json, const struct comparison *comparison) {
  json_out_open(json, "environment", '[');
  for (size_t i = 0; i < comparison->fact_count; i++) {
    const struct fact_difference *fact = &comparison->facts[i];
    json_out_open(json, NULL, '{');
    json_out_text(json, "fact", fact->name);
    if (fact->gpu >= 0) {
      json_out_integer(json, "gpu", fact->gpu);
    } else {
      json_out_text(json, "gpu", fact->gpu == -2 ? "every" : NULL);
    }
    json_out_text(json, "a", fact->values[SIDE_A]);
    json_out_text(json, "b", fact->values[SIDE_B]);
    json_out_close(json);
  }
  json_out_close(json);
}

static void diff_json_conditions(struct json_out *json, const struct comparison *comparison) {
  json_out_open(json, "conditions", '[');
  for (size_t i = 0; i < comparison->condition_count; i++) {
    const struct comparison_condition *condition = &comparison->conditions[i];
    json_out_open(json, NULL, '{');
    json_out_text(json, "what", condition_text(condition->kind));
    json_out_text(json, "text", condition->text);
    json_out_integer(json, "runs_a", condition->runs[SIDE_A]);
    json_out_integer(json, "runs_b", condition->runs[SIDE_B]);
    if (condition->kind == CONDITION_SLOWED) {
      json_out_integer(json, "results_a", condition->results[SIDE_A]);
      json_out_integer(json, "results_b", condition->results[SIDE_B]);
    }
    json_out_close(json);
  }
  json_out_close(json);
}

static void diff_json_conclusions(struct json_out *json, const struct comparison *comparison,
                                  const struct diff_layout *layout, struct arena *arena) {
  json_out_open(json, "conclusions", '[');
  for (size_t i = 0; i < layout->conclusion_count; i++) {
    const struct conclusion *conclusion = &layout->conclusions[i];
    json_out_open(json, NULL, '{');
    json_out_text(json, "verdict", verdict_text(conclusion->verdict));
    json_out_text(json, "what", conclusion->what != NULL ? conclusion->what : "nearly all cases");
    json_out_integer(json, "cases", (int64_t)conclusion->cases);
    json_out_integer(json, "changed", (int64_t)conclusion->changed);
    json_out_integer(json, "others", (int64_t)conclusion->others);
    json_out_integer(json, "others_changed", (int64_t)conclusion->others_changed);
    json_out_real(json, "speed_percent", 100 * conclusion->change);
    json_out_close(json);
  }
  for (size_t i = 0; i < comparison->alone_count; i++) {
    const struct outlier_part *part = &comparison->alone->parts[i];
    json_out_open(json, NULL, '{');
    json_out_text(json, "verdict", verdict_text(VERDICT_REGRESSED));
    json_out_text(json, "what", diff_part_name(arena, part));
    json_out_integer(json, "cases", (int64_t)part->cases);
    json_out_integer(json, "changed", (int64_t)part->slow_cases);
    json_out_null(json, "others");
    json_out_null(json, "others_changed");
    json_out_real(json, "speed_percent", 100 * part->change);
    json_out_boolean(json, "provisional", !part->certain);
    json_out_text(json, "node", part->host);
    json_out_text(json, "part", part->name);
    json_out_text(json, "uuid", part->uuid);
    json_out_text(json, "pci_address", part->pci_address);
    json_out_text(json, "text", outliers_alone_words(arena, part));
    json_out_close(json);
  }
  json_out_close(json);
}

static void diff_json_groups(struct json_out *json, const struct comparison *comparison) {
  json_out_open(json, "groups", '[');
  for (size_t i = 0; i < comparison->group_count; i++) {
    const struct comparison_group *group = &comparison->groups[i];
    const struct diff_result *result = &group->result;
    if (!group->is_kept) {
      continue;
    }
    json_out_open(json, NULL, '{');
    json_out_text(json, "kind", group_kind_text(group->kind));
    json_out_text(json, "what", group->what);
    json_out_integer(json, "cases", (int64_t)group->case_count);
    json_out_text(json, "verdict", verdict_text(result->verdict));
    json_out_boolean(json, "provisional", result->is_provisional);
    json_out_text(json, "doubt", result->is_provisional ? diff_doubt_text(result->doubt) : NULL);
    json_out_real(json, "speed_percent", 100 * result->change);
    json_out_real(json, "low_percent", 100 * result->change_low);
    json_out_real(json, "high_percent", 100 * result->change_high);
    json_out_real(json, "delta_percent", 100 * group->delta);
    json_out_real(json, "q", result->q);
    json_out_text(json, "judged_by", diff_unit_text(result->unit));
    json_out_close(json);
  }
  json_out_close(json);
}

static void diff_json_counts(struct json_out *json, const char *key,
                             const size_t verdicts[verdict_name_count]) {
  json_out_open(json, key, '{');
  for (int v = 0; v < (int)verdict_name_count; v++) {
    json_out_integer(json, verdict_text((enum verdict)v), (int64_t)verdicts[v]);
  }
  json_out_close(json);
}

static void diff_json_blocks(struct json_out *json, const struct diff_layout *layout) {
  json_out_open(json, "blocks", '[');
  for (size_t i = 0; i < layout->block_count; i++) {
    const struct diff_block *block = &layout->blocks[i];
    json_out_open(json, NULL, '{');
    json_out_text(json, "block", block->name);
    json_out_integer(json, "cases", (int64_t)block->cases);
    json_out_integer(json, "compared", (int64_t)block->compared);
    json_out_real(json, "speed_percent", 100 * block->change);
    diff_json_counts(json, "summary", block->verdicts);
    json_out_close(json);
  }
  json_out_close(json);
}

static void diff_json_a_a(struct json_out *json, const struct a_a_result *a_a) {
  if (a_a == NULL) {
    json_out_null(json, "a_a_test");
    return;
  }
  json_out_open(json, "a_a_test", '{');
  json_out_integer(json, "splits", (int64_t)a_a->splits);
  json_out_text(json, "split", a_a->by_run ? "run" : "process");
  json_out_integer(json, "splits_reporting", (int64_t)a_a->splits_reporting);
  json_out_integer(json, "cases", (int64_t)a_a->judged);
  json_out_integer(json, "false_positives", (int64_t)a_a->false_positives);
  json_out_integer(json, "in_time_cases", (int64_t)a_a->in_time_judged);
  json_out_integer(json, "in_time_reported", (int64_t)a_a->in_time_reported);
  json_out_close(json);
}

enum status diff_print_json(const struct measured *measured, const struct comparison *comparison,
                            const struct diff_show *show, FILE *stream, struct error *err) {
  static const bool NO_ROWS[verdict_name_count] = {false};
  const struct shift *shift = &comparison->summary.shift;
  struct diff_layout layout;
  struct strbuf text;
  diff_layout_init(&layout, measured, comparison, NO_ROWS, true);
  strbuf_init(&text, JSON_MAX);
  struct json_out out = {.text = &text, .indent = 1};
  struct json_out *json = &out;
  json_out_open(json, NULL, '{');
  json_out_schema(json, "diff");
  diff_json_total(json, "a", show->names[SIDE_A], &comparison->totals[SIDE_A]);
  diff_json_total(json, "b", show->names[SIDE_B], &comparison->totals[SIDE_B]);
  json_out_boolean(json, "simulated", comparison->simulated);
  json_out_boolean(json, "other_hardware", comparison->other_machine);
  json_out_boolean(json, "driver_compiled", comparison->driver_compiled);
  json_out_text(json, "confounded", comparison->confounded);
  json_out_text(json, "judged", comparison->judged);
  json_out_integer(json, "looks", comparison->looks > 1 ? comparison->looks : 1);
  json_out_open(json, "shift", '{');
  json_out_integer(json, "cases", (int64_t)shift->pairs);
  json_out_real(json, "speed_percent", shift->pairs > 0 ? 100 * shift->change : NAN);
  json_out_real(json, "low_percent", 100 * shift->change_low);
  json_out_real(json, "high_percent", 100 * shift->change_high);
  json_out_real(json, "share_percent", 100 * comparison->summary.shift_share);
  json_out_boolean(json, "common", comparison->summary.shift_is_common);
  json_out_close(json);
  diff_json_conclusions(json, comparison, &layout, &layout.arena);
  diff_json_groups(json, comparison);
  diff_json_facts(json, comparison);
  diff_json_conditions(json, comparison);
  json_out_integer(json, "cases_judged", (int64_t)comparison->judged_count);
  json_out_integer(json, "cases_flaky", (int64_t)comparison->flaky_count);
  diff_json_counts(json, "summary", comparison->summary.verdicts);
  diff_json_blocks(json, &layout);
  if (comparison->summary.rank_processes_least > 0) {
    json_out_open(json, "rank", '{');
    json_out_integer(json, "processes_least", comparison->summary.rank_processes_least);
    json_out_integer(json, "cases_with_fewer", (int64_t)comparison->summary.rank_too_few);
    json_out_close(json);
  } else {
    json_out_null(json, "rank");
  }
  diff_json_a_a(json, show->a_a);
  json_out_open(json, "cases", '[');
  for (size_t i = 0; i < comparison->row_count; i++) {
    diff_json_case(json, measured, &comparison->rows[i]);
  }
  json_out_close(json);
  json_out_close(json);
  strbuf_append_char(&text, '\n');
  const enum status status = stream_write(stream, &text, NULL, err);
  strbuf_fini(&text);
  diff_layout_fini(&layout);
  return status;
}

/* ---- reports of tests ---- */

static enum test_outcome diff_outcome_of(const struct diff_show *show, enum verdict verdict,
                                         bool is_provisional) {
  if (is_provisional && !show->suspect_fails) {
    return show->undecided_fails ? TEST_ERROR : TEST_SKIPPED;
  }
  if (show->fails[verdict]) {
    return TEST_FAILED;
  }
  switch (verdict) {
  case VERDICT_UNCLEAR:
  case VERDICT_INSUFFICIENT:
    return show->undecided_fails ? TEST_ERROR : TEST_SKIPPED;
  case VERDICT_BROKEN:
  case VERDICT_NEW:
  case VERDICT_MISSING:
  case VERDICT_INCOMPARABLE:
    return TEST_SKIPPED;
  case VERDICT_REGRESSED:
  case VERDICT_IMPROVED:
  case VERDICT_SAME:
  case verdict_name_count:
    break;
  }
  return TEST_PASSED;
}

static const char *diff_test_message(struct arena *arena, const struct comparison_row *row) {
  const char *text = arena_format(arena, "%s%s", verdict_text(row->result.verdict),
                                  row->result.is_provisional ? " (provisional)" : "");
  if (isfinite(row->change)) {
    text =
        arena_format(arena, "%s: %+.2f %% (%.5g to %.5g %s)", text, 100 * row->change,
                     row->sides[SIDE_A].value, row->sides[SIDE_B].value, figure_text(row->figure));
  }
  struct strbuf notes;
  strbuf_init(&notes, NOTES_MAX);
  diff_note_words(&notes, row);
  text = notes.length > 0 ? arena_format(arena, "%s: %s", text, notes.text) : text;
  strbuf_fini(&notes);
  return text;
}

enum status diff_print_tests(const struct measured *measured, const struct comparison *comparison,
                             const struct diff_show *show, enum test_format format, FILE *stream,
                             struct error *err) {
  struct arena arena = {0};
  const size_t count = comparison->row_count + comparison->alone_count + comparison->group_count;
  struct test_case *cases = arena_array(&arena, count, sizeof *cases);
  struct test_property sides[SIDES];
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const struct measured_case *bench = &measured->cases[row->bench];
    const char *name = row->hardware != NULL
                           ? arena_format(&arena, "%s [%s]", bench->name, row->hardware)
                           : bench->name;
    cases[i] = (struct test_case){
        bench->block, name, diff_outcome_of(show, row->result.verdict, row->result.is_provisional),
        diff_test_message(&arena, row)};
  }
  for (size_t i = 0; i < comparison->alone_count; i++) {
    const struct outlier_part *part = &comparison->alone->parts[i];
    cases[comparison->row_count + i] =
        (struct test_case){part->host, diff_part_name(&arena, part),
                           diff_outcome_of(show, VERDICT_REGRESSED, !part->certain),
                           outliers_alone_words(&arena, part)};
  }
  for (size_t s = 0; s < SIDES; s++) {
    sides[s] = (struct test_property){
        s == SIDE_A ? "a" : "b",
        arena_format(&arena, "%s, %s %s, driver %s", show->names[s],
                     strings_plural(comparison->totals[s].runs, "run", "runs"),
                     comparison->totals[s].which, comparison->totals[s].drivers)};
  }
  size_t used = comparison->row_count + comparison->alone_count;
  for (size_t i = 0; i < comparison->group_count; i++) {
    const struct comparison_group *group = &comparison->groups[i];
    if (group->is_news) {
      struct strbuf words;
      strbuf_init(&words, NOTES_MAX);
      diff_group_sentence(&words, group);
      cases[used++] = (struct test_case){
          "groups", group->what,
          diff_outcome_of(show, group->result.verdict, group->result.is_provisional),
          arena_strdup(&arena, words.text)};
      strbuf_fini(&words);
    }
  }
  const struct test_report report = {.name = "haul check",
                                     .version = show->version,
                                     .properties = sides,
                                     .property_count = SIDES,
                                     .cases = cases,
                                     .case_count = used};
  const enum status status = test_report_write(&report, format, stream, err);
  arena_fini(&arena);
  return status;
}
