/* diff_json.c - a comparison for programs: a row per case, or one JSON object. */
#include "engine/base/strings.h"
#include "runner/analysis/conclusion.h"
#include "runner/document/document.h"
#include "runner/render/diff.h"
#include "runner/render/diff_format.h"
#include "runner/render/diff_layout.h"
#include "runner/render/outliers.h"
#include "runner/table/json_shape.h"

#include <math.h>

enum { JSON_MAX = 1 << 30 };

/* ---- one row per case ---- */

static bool diff_needs(const struct diff_result *result, enum diff_unit unit) {
  return result->units_needed > 0 && result->unit == unit;
}

static double diff_distribution_value(const struct comparison_row *row, enum side side) {
  return row->distribution.kind == DISTRIBUTION_SAME ? NAN : row->distribution.values[side];
}

static const struct rate_change *diff_rate(const struct comparison_row *row, enum rate_kind kind) {
  static const struct rate_change NONE = {.values = {NAN, NAN}, NAN, NAN, NAN};
  return row->rates != NULL ? &row->rates->of[kind] : &NONE;
}

/* What is known of a case: X(column, where, cell). ROW_BOTH: a column of CSV and a member of JSON,
 * where the sides are objects; ROW_FLAT: of CSV alone. */
#define DIFF_ROW_FIELDS(X)                                                                         \
  X("verdict", ROW_BOTH, text, verdict_text(result->verdict))                                      \
  X("case", ROW_BOTH, text, bench->name)                                                           \
  X("case_key", ROW_BOTH, text, bench->key)                                                        \
  X("block", ROW_BOTH, text, bench->block)                                                         \
  X("method", ROW_BOTH, text, bench->method)                                                       \
  X("path", ROW_BOTH, text, bench->path)                                                           \
  X("axes", ROW_BOTH, text, bench->axes)                                                           \
  X("size_bytes", ROW_BOTH, integer, (int64_t)bench->size_bytes)                                   \
  X("unit", ROW_BOTH, text, figure_text(row->figure))                                              \
  X("a", ROW_FLAT, finite, a->value)                                                               \
  X("b", ROW_FLAT, finite, b->value)                                                               \
  X("change_percent", ROW_BOTH, finite, 100 * row->change)                                         \
  X("low_percent", ROW_BOTH, finite, 100 * row->change_low)                                        \
  X("high_percent", ROW_BOTH, finite, 100 * row->change_high)                                      \
  X("p", ROW_BOTH, finite, result->p)                                                              \
  X("q", ROW_BOTH, finite, result->q)                                                              \
  X("test", ROW_BOTH, text, diff_test_text(result->test))                                          \
  X("sd_percent", ROW_BOTH, finite, 100 * result->sd)                                              \
  X("processes_a", ROW_FLAT, integer, (int64_t)a->processes)                                       \
  X("processes_b", ROW_FLAT, integer, (int64_t)b->processes)                                       \
  X("boots_a", ROW_FLAT, integer, (int64_t)a->boots)                                               \
  X("boots_b", ROW_FLAT, integer, (int64_t)b->boots)                                               \
  X("gpus_a", ROW_FLAT, integer, (int64_t)a->gpus)                                                 \
  X("gpus_b", ROW_FLAT, integer, (int64_t)b->gpus)                                                 \
  X("processes_needed", ROW_BOTH, known, diff_needs(result, DIFF_UNIT_PROCESS),                    \
    (int64_t)result->units_needed)                                                                 \
  X("hardware", ROW_BOTH, text, row->hardware)                                                     \
  X("node", ROW_BOTH, text, row->node)                                                             \
  X("reason", ROW_BOTH, text, row->reason)                                                         \
  X("reason_a", ROW_FLAT, text, a->reason)                                                         \
  X("reason_b", ROW_FLAT, text, b->reason)                                                         \
  X("delta_percent", ROW_BOTH, finite, 100 * row->delta)                                           \
  X("delta_from", ROW_BOTH, text, delta_source_text(row->delta_from))                              \
  X("not_ok_a", ROW_FLAT, integer, row->sides[SIDE_A].not_ok)                                      \
  X("not_ok_b", ROW_FLAT, integer, row->sides[SIDE_B].not_ok)                                      \
  X("provisional", ROW_FLAT, integer, row->result.is_provisional)                                  \
  X("judged_by", ROW_BOTH, text, diff_unit_text(result->unit))                                     \
  X("runs_a", ROW_FLAT, integer, (int64_t)a->runs)                                                 \
  X("runs_b", ROW_FLAT, integer, (int64_t)b->runs)                                                 \
  X("runs_needed", ROW_BOTH, known, diff_needs(result, DIFF_UNIT_RUN) && !result->needed_is_least, \
    (int64_t)result->units_needed)                                                                 \
  X("doubt", ROW_BOTH, text, result->is_provisional ? diff_doubt_text(result->doubt) : NULL)       \
  X("distribution", ROW_FLAT, text, distribution_text(row->distribution.kind))                     \
  X("distribution_a", ROW_FLAT, finite, diff_distribution_value(row, SIDE_A))                      \
  X("distribution_b", ROW_FLAT, finite, diff_distribution_value(row, SIDE_B))                      \
  X("distribution_q", ROW_FLAT, finite, row->distribution.q)                                       \
  X("moved", ROW_BOTH, text, row->moved != MOVED_UNKNOWN ? moved_text(row->moved) : NULL)          \
  X("left_out_a", ROW_FLAT, integer, (int64_t)a->left_out)                                         \
  X("left_out_b", ROW_FLAT, integer, (int64_t)b->left_out)                                         \
  X("runs_needed_least", ROW_BOTH, known, diff_needs(result, DIFF_UNIT_RUN),                       \
    (int64_t)result->units_needed)                                                                 \
  X("figure", ROW_BOTH, text, row->rates != NULL ? rate_kind_text(row->rate) : NULL)               \
  X("conservative", ROW_FLAT, integer, result->is_conservative)                                    \
  DIFF_FLAT_RATE(X, "typical", RATE_TYPICAL)                                                       \
  DIFF_FLAT_RATE(X, "undisturbed", RATE_UNDISTURBED)
/* Of both rates, where a case has them. */
#define DIFF_FLAT_RATE(X, name, kind)                                                              \
  X(name "_verdict", ROW_FLAT, text,                                                               \
    row->rates != NULL ? verdict_text(row->rates->of[kind].result.verdict) : NULL)                 \
  X(name "_a", ROW_FLAT, finite, diff_rate(row, kind)->values[SIDE_A])                             \
  X(name "_b", ROW_FLAT, finite, diff_rate(row, kind)->values[SIDE_B])                             \
  X(name "_change_percent", ROW_FLAT, finite, 100 * diff_rate(row, kind)->change)                  \
  X(name "_low_percent", ROW_FLAT, finite, 100 * diff_rate(row, kind)->change_low)                 \
  X(name "_high_percent", ROW_FLAT, finite, 100 * diff_rate(row, kind)->change_high)
#define DIFF_ROW_NAME(name, use, ...)     name,
#define DIFF_ROW_CELL(name, use, ...)     COLUMN_CELL(name, __VA_ARGS__)
#define DIFF_ROW_PUT(name, use, ...)      use(JSON_PUT(name, __VA_ARGS__))
#define DIFF_ROW_DESCRIBE(name, use, ...) use(JSON_DESCRIBE(name, __VA_ARGS__))
#define ROW_BOTH(member)                  member
#define ROW_FLAT(member)

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
               {"node", cell_text(part->host)},
               {"reason", cell_text(sentence)},
               {"provisional", cell_integer(!part->certain)},
               {"judged_by", cell_text(diff_unit_text(DIFF_UNIT_NODE))}};
  const size_t i = FIRST_OF(k, COUNT_OF(CELLS), strcmp(CELLS[k].column, column) == 0);
  return i < COUNT_OF(CELLS) ? CELLS[i].cell : cell_null();
}

void diff_put_rows(struct document *document, const struct comparison *comparison) {
  /* Names of two parts are meant. NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
  static const char *const COLUMNS[] = {DIFF_ROW_FIELDS(DIFF_ROW_NAME)};
  struct arena *arena = &document->arena;
  DOCUMENT_TABLE(document, COLUMNS, 0);
  for (size_t i = 0; i < comparison->row_count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const struct results_case *bench = &comparison->results->cases[row->bench];
    const struct comparison_side *a = &row->sides[SIDE_A];
    const struct comparison_side *b = &row->sides[SIDE_B];
    const struct diff_result *result = &row->result;
    DOCUMENT_ROW(document, DIFF_ROW_FIELDS(DIFF_ROW_CELL));
  }
  for (size_t i = 0; i < comparison->alone_count; i++) {
    const struct outlier_part *part = &comparison->alone->parts[i];
    struct cell cells[COUNT_OF(COLUMNS)];
    for (size_t c = 0; c < COUNT_OF(COLUMNS); c++) {
      cells[c] = diff_part_cell(COLUMNS[c], part, diff_part_name(arena, part),
                                outliers_alone_words(arena, part));
    }
    document_row(document, cells);
  }
  document_table_end(document);
}

/* ---- JSON ---- */

#define DIFF_SHAPE_PART(X)                                                                         \
  X("processes", integer, shape->counts[i])                                                        \
  X("value", real, shape->values[i])
JSON_OBJECT(diff_json_mode, DIFF_SHAPE_PART, const struct side_shape *shape, size_t i)

#define DIFF_SHAPE(X)                                                                              \
  X("kind", text, shape->kind == SHAPE_TWO_MODES ? "two modes" : "process apart")                  \
  X("parts", array, diff_json_mode, i, 2, shape, i)                                                \
  X("run", known, shape->kind == SHAPE_OUTLIER, shape->run_id)                                     \
  X("process", known, shape->kind == SHAPE_OUTLIER, shape->ordinal)
JSON_OBJECT(diff_json_form, DIFF_SHAPE, const struct side_shape *shape)

#define DIFF_SIDE(X)                                                                               \
  X("value", real, side->value)                                                                    \
  X("processes", integer, side->processes)                                                         \
  X("runs", integer, side->runs)                                                                   \
  X("boots", integer, side->boots)                                                                 \
  X("gpus", integer, side->gpus)                                                                   \
  X("left_out", integer, side->left_out)                                                           \
  X("not_ok", numbers, s, CASE_FAILED, case_status_name_count,                                     \
    case_status_text((enum case_status)s), side->by_status[s])                                     \
  X("reason", text, side->reason)                                                                  \
  X("shape", option, diff_json_form, side->shape.kind != SHAPE_PLAIN, &side->shape)                \
  X("case", text, side->bench != SIZE_MAX ? results->cases[side->bench].name : NULL)
JSON_OBJECT(diff_json_side, DIFF_SIDE, const struct results *results,
            const struct comparison_side *side)

#define DIFF_DISTRIBUTION(X)                                                                       \
  X("kind", text, distribution_text(found->kind))                                                  \
  X("worse", decided, differs, found->is_worse)                                                    \
  X("provisional", decided, differs, found->is_provisional)                                        \
  X("a", real, differs ? found->values[SIDE_A] : NAN)                                              \
  X("b", real, differs ? found->values[SIDE_B] : NAN)                                              \
  X("q", real, differs ? found->q : NAN)
JSON_OBJECT(diff_json_distribution, DIFF_DISTRIBUTION, const struct distribution_change *found,
            bool differs)

#define DIFF_RATE(X)                                                                               \
  X("verdict", text, verdict_text(rate->result.verdict))                                           \
  X("provisional", boolean, rate->result.is_provisional)                                           \
  X("a", real, rate->values[SIDE_A])                                                               \
  X("b", real, rate->values[SIDE_B])                                                               \
  X("change_percent", real, 100 * rate->change)                                                    \
  X("low_percent", real, 100 * rate->change_low)                                                   \
  X("high_percent", real, 100 * rate->change_high)                                                 \
  X("conservative", boolean, rate->result.is_conservative)                                         \
  X("q", real, rate->result.q)
JSON_OBJECT(diff_json_rate, DIFF_RATE, const struct rate_change *rate)

/* Beside the columns of DIFF_ROW_FIELDS. */
#define DIFF_CASE(X)                                                                               \
  X("typical", option, diff_json_rate, row->rates != NULL, diff_rate(row, RATE_TYPICAL))           \
  X("undisturbed", option, diff_json_rate, row->rates != NULL, diff_rate(row, RATE_UNDISTURBED))   \
  X("provisional", boolean, result->is_provisional)                                                \
  X("conservative", boolean, result->is_conservative)                                              \
  X("distribution", object, diff_json_distribution, &row->distribution,                            \
    row->distribution.kind != DISTRIBUTION_SAME)                                                   \
  X("better", text, figure_is_rate(row->figure) ? "more" : "less")                                 \
  X("a", object, diff_json_side, results, a)                                                       \
  X("b", object, diff_json_side, results, b)

static void diff_json_case(struct json_out *json, const struct results *results,
                           const struct comparison_row *row) {
  const struct results_case *bench = &results->cases[row->bench];
  const struct comparison_side *a = &row->sides[SIDE_A];
  const struct comparison_side *b = &row->sides[SIDE_B];
  const struct diff_result *result = &row->result;
  DIFF_ROW_FIELDS(DIFF_ROW_PUT)
  DIFF_CASE(JSON_PUT)
}

static void diff_json_case_shape(struct json_shape *shape){DIFF_ROW_FIELDS(DIFF_ROW_DESCRIBE)
                                                               DIFF_CASE(JSON_DESCRIBE)}

#define DIFF_TOTAL(X)                                                                              \
  X("name", text, name)                                                                            \
  X("runs", integer, total->runs)                                                                  \
  X("which", text, total->which)                                                                   \
  X("processes", integer, total->processes)                                                        \
  X("boots", integer, total->boots)                                                                \
  X("gpus", integer, total->gpus)                                                                  \
  X("host_name", text, total->hosts)                                                               \
  X("driver_version", text, total->drivers)

JSON_OBJECT(diff_json_total, DIFF_TOTAL, const char *name, const struct comparison_total *total)

#define DIFF_FACT(X)                                                                               \
  X("fact", text, fact->name)                                                                      \
  X("gpu", known, fact->gpu >= 0, fact->gpu)                                                       \
  X("every_gpu", boolean, fact->gpu == -2)                                                         \
  X("a", text, fact->values[SIDE_A])                                                               \
  X("b", text, fact->values[SIDE_B])                                                               \
  X("nodes", text, fact->nodes)
    JSON_OBJECT(diff_json_fact, DIFF_FACT, const struct fact_difference *fact)

#define DIFF_CONDITION(X)                                                                          \
  X("what", text, condition_text(condition->kind))                                                 \
  X("text", text, condition->text)                                                                 \
  X("runs_a", integer, condition->runs[SIDE_A])                                                    \
  X("runs_b", integer, condition->runs[SIDE_B])                                                    \
  X("results_a", known, slowed, condition->results[SIDE_A])                                        \
  X("results_b", known, slowed, condition->results[SIDE_B])
        JSON_OBJECT(diff_json_condition, DIFF_CONDITION,
                    const struct comparison_condition *condition, bool slowed)

/* part: NULL for what changed cases have in common, else a part that became slower alone. */
#define DIFF_CONCLUSION(X)                                                                         \
  X("verdict", text, verdict_text(found->verdict))                                                 \
  X("what", text, found->what != NULL ? found->what : "nearly all cases")                          \
  X("cases", integer, found->cases)                                                                \
  X("changed", integer, found->changed)                                                            \
  X("others", known, part == NULL, found->others)                                                  \
  X("others_changed", known, part == NULL, found->others_changed)                                  \
  X("speed_percent", real, 100 * found->change)                                                    \
  X("provisional", decided, part != NULL, !part->certain)                                          \
  X("node", text, part != NULL ? part->host : NULL)                                                \
  X("part", text, part != NULL ? part->name : NULL)                                                \
  X("uuid", text, part != NULL ? part->uuid : NULL)                                                \
  X("pci_address", text, part != NULL ? part->pci_address : NULL)                                  \
  X("text", text, part != NULL ? outliers_alone_words(arena, part) : NULL)
            JSON_OBJECT(diff_json_conclusion, DIFF_CONCLUSION, struct arena *arena,
                        const struct conclusion *found, const struct outlier_part *part)

                static void diff_json_conclusions(struct json_out *json,
                                                  const struct comparison *comparison,
                                                  struct arena *arena) {
  for (size_t i = 0; i < comparison->conclusion_count; i++) {
    JSON_PUT_object(NULL, diff_json_conclusion, arena, &comparison->conclusions[i], NULL)
  }
  for (size_t i = 0; i < comparison->alone_count; i++) {
    const struct outlier_part *part = &comparison->alone->parts[i];
    const struct conclusion found = {.verdict = VERDICT_REGRESSED,
                                     .what = diff_part_name(arena, part),
                                     .cases = part->cases,
                                     .changed = part->slow_cases,
                                     .change = part->change};
    JSON_PUT_object(NULL, diff_json_conclusion, arena, &found, part)
  }
}

#define DIFF_GROUP(X)                                                                              \
  X("kind", text, group_kind_text(group->kind))                                                    \
  X("what", text, group->what)                                                                     \
  X("cases", integer, group->case_count)                                                           \
  X("undisturbed", integer, group->undisturbed)                                                    \
  X("undisturbed_same", integer, group->undisturbed_same)                                          \
  X("verdict", text, verdict_text(result->verdict))                                                \
  X("provisional", boolean, result->is_provisional)                                                \
  X("doubt", text, result->is_provisional ? diff_doubt_text(result->doubt) : NULL)                 \
  X("speed_percent", real, 100 * result->change)                                                   \
  X("low_percent", real, 100 * result->change_low)                                                 \
  X("high_percent", real, 100 * result->change_high)                                               \
  X("conservative", boolean, result->is_conservative)                                              \
  X("delta_percent", real, 100 * group->delta)                                                     \
  X("q", real, result->q)                                                                          \
  X("judged_by", text, diff_unit_text(result->unit))
JSON_OBJECT(diff_json_group, DIFF_GROUP, const struct comparison_group *group,
            const struct diff_result *result)

static void diff_json_groups(struct json_out *json, const struct comparison *comparison) {
  for (size_t i = 0; i < comparison->group_count; i++) {
    const struct comparison_group *group = &comparison->groups[i];
    if (group->is_kept) {
      JSON_PUT_object(NULL, diff_json_group, group, &group->result)
    }
  }
}

#define DIFF_BLOCK(X)                                                                              \
  X("block", text, block->name)                                                                    \
  X("cases", integer, block->cases)                                                                \
  X("compared", integer, block->compared)                                                          \
  X("speed_percent", real, 100 * block->change)                                                    \
  X("summary", numbers, v, 0, verdict_name_count, verdict_text((enum verdict)v), block->verdicts[v])
JSON_OBJECT(diff_json_block, DIFF_BLOCK, const struct diff_block *block)

#define DIFF_SHIFT(X)                                                                              \
  X("cases", integer, shift->pairs)                                                                \
  X("speed_percent", real, shift->pairs > 0 ? 100 * shift->change : NAN)                           \
  X("low_percent", real, 100 * shift->change_low)                                                  \
  X("high_percent", real, 100 * shift->change_high)                                                \
  X("share_percent", real, 100 * summary->shift_share)                                             \
  X("common", boolean, summary->shift_is_common)
JSON_OBJECT(diff_json_shift, DIFF_SHIFT, const struct diff_summary *summary,
            const struct shift *shift)

#define DIFF_RANK(X)                                                                               \
  X("processes_least", integer, summary->rank_processes_least)                                     \
  X("cases_with_fewer", integer, summary->rank_too_few)
JSON_OBJECT(diff_json_rank, DIFF_RANK, const struct diff_summary *summary)

#define DIFF_A_A(X)                                                                                \
  X("splits", integer, a_a->splits)                                                                \
  X("split", text, a_a->by_run ? "run" : "process")                                                \
  X("splits_reporting", integer, a_a->splits_reporting)                                            \
  X("cases", integer, a_a->judged)                                                                 \
  X("false_positives", integer, a_a->false_positives)                                              \
  X("in_time_cases", integer, a_a->in_time_judged)                                                 \
  X("in_time_reported", integer, a_a->in_time_reported)
JSON_OBJECT(diff_json_a_a, DIFF_A_A, const struct a_a_result *a_a)

#define DIFF_MEMBERS(X)                                                                            \
  X("a", object, diff_json_total, show->names[SIDE_A], &comparison->totals[SIDE_A])                \
  X("b", object, diff_json_total, show->names[SIDE_B], &comparison->totals[SIDE_B])                \
  X("simulated", boolean, comparison->simulated)                                                   \
  X("other_hardware", boolean, comparison->other_machine)                                          \
  X("driver_compiled", boolean, comparison->driver_compiled)                                       \
  X("confounded", text, comparison->confounded)                                                    \
  X("scenarios_left_out", text, comparison->left_out)                                              \
  X("judged", text, comparison->judged)                                                            \
  X("looks", integer, comparison->looks > 1 ? comparison->looks : 1)                               \
  X("shift", object, diff_json_shift, summary, &summary->shift)                                    \
  X("conclusions", list, diff_json_conclusion,                                                     \
    diff_json_conclusions(json, comparison, &layout->arena))                                       \
  X("groups", list, diff_json_group, diff_json_groups(json, comparison))                           \
  X("environment", array, diff_json_fact, i, comparison->fact_count, &comparison->facts[i])        \
  X("conditions", array, diff_json_condition, i, comparison->condition_count,                      \
    &comparison->conditions[i], comparison->conditions[i].kind == CONDITION_SLOWED)                \
  X("cases_judged", integer, comparison->judged_count)                                             \
  X("cases_flaky", integer, comparison->flaky_count)                                               \
  X("summary", numbers, v, 0, verdict_name_count, verdict_text((enum verdict)v),                   \
    summary->verdicts[v])                                                                          \
  X("blocks", array, diff_json_block, i, layout->block_count, &layout->blocks[i])                  \
  X("rank", option, diff_json_rank, summary->rank_processes_least > 0, summary)                    \
  X("a_a_test", option, diff_json_a_a, show->a_a != NULL, show->a_a)                               \
  X("cases", array, diff_json_case, i, comparison->row_count, comparison->results,                 \
    &comparison->rows[i])
JSON_OBJECT(diff_json_members, DIFF_MEMBERS, const struct comparison *comparison,
            const struct diff_summary *summary, const struct diff_show *show,
            struct diff_layout *layout)

void diff_describe_json(struct json_shape *shape) {
  diff_json_members_shape(shape);
}

enum status diff_print_json(const struct comparison *comparison, const struct diff_show *show,
                            FILE *stream, struct error *err) {
  static const bool NO_ROWS[verdict_name_count] = {false};
  struct diff_layout layout;
  diff_layout_init(&layout, comparison, NO_ROWS, true);
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(JSON_MAX);
  struct json_out json = json_out_begin(&text, "diff", 1);
  diff_json_members(&json, comparison, &comparison->summary, show, &layout);
  diff_layout_fini(&layout);
  return json_out_end(&json, stream, err);
}
