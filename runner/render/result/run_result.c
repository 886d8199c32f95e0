#include "runner/render/result/run_result.h"

#include "engine/base/units.h"
#include "runner/render/result/matrix.h"
#include "runner/render/result/result_block.h"
#include "runner/table/text.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* ---- rows ---- */

static const struct result_field run_row_fields[] = {
#define NAME(column, member)   {column, offsetof(struct run_row, member), false, true},
#define TEXT(column, member)   {column, offsetof(struct run_row, member), false, false},
#define NUMBER(column, member) {column, offsetof(struct run_row, member), true, false},
    RUN_ROW_LIST(NAME, TEXT, NUMBER)};

const struct result_axis *result_axes_of(struct arena *arena, const char *text, size_t *count) {
  struct result_axis *axes = NULL;
  *count = 0;
  while (text != NULL && text[0] != '\0') {
    const size_t length = strcspn(text, " ");
    const char *word = arena_strndup(arena, text, length);
    const char *equal = strchrnul(word, '=');
    *ARENA_ADD(arena, axes, *count) = (struct result_axis){
        arena_strndup(arena, word, (size_t)(equal - word)), equal[0] == '=' ? equal + 1 : equal};
    text += length;
    text += strspn(text, " ");
  }
  return axes;
}

const char *result_add_axis(struct arena *arena, const char *text, const struct result_axis *axis) {
  return arena_join(arena, text, " ", arena_format(arena, "%s=%s", axis->key, axis->value));
}

/* The settings of the case that was measured which differ from those of the row. */
static const char *run_row_different_axes(struct arena *arena, const struct run_row *row) {
  size_t count = 0;
  const struct result_axis *axes = result_axes_of(arena, row->same_axes, &count);
  const char *text = "";
  for (size_t i = 0; i < count; i++) {
    const char *own = result_axis(row, axes[i].key);
    if (own == NULL || strcmp(own, axes[i].value) != 0) {
      text = result_add_axis(arena, text, &axes[i]);
    }
  }
  return text;
}

/* "Duplicate of block up, measured once.": one text for all rows of a block that another block, or
 * the same one at another setting, has as well. */
static const char *run_row_same(struct arena *arena, const struct run_row *row) {
  if (row->same_as == NULL) {
    return NULL;
  }
  if (row->same_block != NULL && strcmp(row->same_block, row->block) != 0) {
    return arena_format(arena, "Duplicate of block %s, measured once.", row->same_block);
  }
  const char *axes = run_row_different_axes(arena, row);
  return arena_format(arena, "Duplicate of %s, measured once.",
                      axes[0] != '\0' ? axes : row->same_as);
}

static bool run_row_shares(const struct run_row *row, const struct run_row *other) {
  return row->same != NULL && other->same != NULL && strcmp(row->same, other->same) == 0 &&
         strcmp(row->block, other->block) == 0;
}

/* A case that is alone with its text, or any that has one, has that text instead; NULL: with the
 * name of the other in it. */
static void run_rows_reword_same(struct arena *arena, const struct run_rows *rows, bool all,
                                 const char *text) {
  bool before = false; /* the row before has the same text */
  for (size_t i = 0; i < rows->count; i++) {
    struct run_row *row = &rows->items[i];
    const bool after = i + 1 < rows->count && run_row_shares(row, row + 1);
    if (row->same != NULL && (all || (!before && !after))) {
      row->same = text != NULL
                      ? text
                      : arena_format(arena, "Duplicate of %s, measured once.", row->same_as);
    }
    before = after;
  }
}

/* A link is read between trials, too, where it may save power: what moved more than its generation
 * carries, 0.25 GB/s a lane and twice that from one to the next, was not slowed by it. */
static bool run_row_refutes(const struct run_row *row, const struct note *note) {
  return note->kind == NOTE_PCIE_LINK &&
         row->gbps > note->amounts[1] * ldexp(0.25, (int)fmin(note->amounts[0], 9) - 1);
}

/* [[kind, gpu, what, amount ...] ...]; what this haul does not know is left out. */
static void run_row_notes(struct arena *arena, struct run_row *row) {
  json_t *list = row->notes_json != NULL ? json_loads(row->notes_json, 0, NULL) : NULL;
  struct note *notes = arena_array(arena, json_array_size(list), sizeof *notes);
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *cells = json_array_get(list, i);
    const char *kind = json_string_value(json_array_get(cells, 0));
    const char *what = json_string_value(json_array_get(cells, 2));
    const json_t *gpu = json_array_get(cells, 1);
    struct note *note = &notes[row->note_count];
    *note =
        (struct note){.gpu = json_is_integer(gpu) ? (int32_t)json_integer_value(gpu) : NOTE_NO_GPU};
    if (what != NULL) {
      SCOPED(strbuf_fini) struct strbuf text = STRBUF((size_t)2 * NOTE_WHAT_MAX);
      text_escape(&text, what, strlen(what), ESCAPE_TERMINAL);
      (void)snprintf(note->what, sizeof note->what, "%.*s", NOTE_WHAT_MAX - 1, text.text);
    }
    for (size_t k = 0; k < NOTE_AMOUNTS_MAX; k++) {
      note->amounts[k] = json_number_value(json_array_get(cells, 3 + k));
    }
    row->note_count +=
        kind != NULL && note_kind_parse(kind, &note->kind) && !run_row_refutes(row, note);
  }
  json_decref(list);
  row->notes = notes;
}

/* The rate that measure.figure asks for, where it is known. */
static void run_row_choose_figure(struct run_row *row) {
  const double ratio = row->undisturbed_ns / row->median_ns;
  if (row->shown_figure == NULL || !(ratio > 0)) {
    return;
  }
  row->gbps /= ratio;
  row->percent_of_peak /= ratio;
  row->ns_per_hop *= ratio;
  row->ns_per_op *= ratio;
  row->median_ns = row->undisturbed_ns;
  row->low_ns = row->undisturbed_low_ns;
  row->high_ns = row->undisturbed_high_ns;
}

static struct run_rows run_rows_of(const struct result_set *set) {
  if (set == NULL) {
    return (struct run_rows){NULL, 0};
  }
  struct run_row *rows = result_set_bind(set, set->arena, run_row_fields, COUNT_OF(run_row_fields),
                                         sizeof(struct run_row));
  for (size_t i = 0; i < set->row_count; i++) {
    rows[i].swept = result_axes_of(set->arena, rows[i].axes, &rows[i].swept_count);
    run_row_choose_figure(&rows[i]);
    rows[i].same = run_row_same(set->arena, &rows[i]);
    run_row_notes(set->arena, &rows[i]);
    if (rows[i].kernel_variant != NULL && result_axis(&rows[i], "kernel.variant") == NULL) {
      rows[i].method = arena_format(set->arena, "%s (%s)", rows[i].method, rows[i].kernel_variant);
    }
  }
  const struct run_rows all = {rows, set->row_count};
  run_rows_reword_same(set->arena, &all, false, NULL);
  return all;
}

/* ---- the texts of a row ---- */

bool result_row_shown(const struct run_row *row) {
  return strcmp(row->status, "skipped") != 0;
}

const char *result_method(const struct run_row *row) {
  return row->method != NULL ? row->method : "";
}

const char *result_figure_words(struct arena *arena, const struct run_row *row, const char *words) {
  return row == NULL || row->shown_figure == NULL ? words
         : words[0] == '\0' ? arena_format(arena, "%s rates", row->shown_figure)
                            : arena_format(arena, "%s, %s", words, row->shown_figure);
}

const char *result_size(struct arena *arena, const struct run_row *row) {
  char text[UNITS_TEXT_MAX] = "";
  if (row->size_bytes >= 1) {
    units_format_size((uint64_t)row->size_bytes, text);
  }
  if (text[0] == '\0' && row->flows > 1) {
    return "several sizes";
  }
  return arena_strdup(arena, text);
}

const char *result_axis(const struct run_row *row, const char *key) {
  const size_t i = FIRST_OF(k, row->swept_count, strcmp(row->swept[k].key, key) == 0);
  return i < row->swept_count ? row->swept[i].value : NULL;
}

static bool result_axis_is_one_of(const char *key, const char *const *keys, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const size_t length = strlen(keys[i]);
    const bool is_group = keys[i][length - 1] == '.';
    if (strncmp(key, keys[i], length) == 0 && (is_group || key[length] == '\0')) {
      return true;
    }
  }
  return false;
}

bool result_axis_is_place(const char *key) {
  static const char *const KEYS[] = {"from.", "to.", "of.", "at.", "memory"};
  return result_axis_is_one_of(key, KEYS, COUNT_OF(KEYS));
}

bool result_axis_is_size(const char *key) {
  static const char *const KEYS[] = {"size", "footprint"};
  return result_axis_is_one_of(key, KEYS, COUNT_OF(KEYS));
}

const char *result_axes(struct arena *arena, const struct run_row *row) {
  static const char *const SHOWN[] = {"direction", "space", "operation", "op"}; /* by the path */
  const char *text = "";
  for (size_t i = 0; i < row->swept_count; i++) {
    const char *key = row->swept[i].key;
    if (!result_axis_is_place(key) && !result_axis_is_size(key) &&
        !result_axis_is_one_of(key, SHOWN, COUNT_OF(SHOWN))) {
      text = result_add_axis(arena, text, &row->swept[i]);
    }
  }
  return text;
}

const char *result_place(struct arena *arena, const char *place, const char *memory) {
  if (place == NULL) {
    return "";
  }
  if (memory == NULL || strcmp(memory, "device") == 0) {
    return place;
  }
  return arena_format(arena, "%s:%s", place, memory);
}

static const double SPREAD_MAX = 1e9;

double result_spread(const struct run_row *row) {
  const double percent = 50 * ((row->high_ns - row->low_ns) / row->median_ns);
  return percent < SPREAD_MAX ? percent : NAN; /* beyond: of a number that was written by hand */
}

enum limit result_limit(const struct run_row *row) {
  enum limit limit = LIMIT_UNKNOWN;
  return row->limited_by != NULL && limit_parse(row->limited_by, &limit) ? limit : LIMIT_UNKNOWN;
}

const char *result_limit_words(enum limit limit) {
#define RESULT_LIMIT_(id, name, words) [id] = words,
  static const char *const WORDS[] = {LIMIT_LIST(RESULT_LIMIT_)};
  return WORDS[limit];
}

const char *result_peak_words(struct arena *arena, const struct run_row *row) {
  const bool computes = !isnan(row->peak_tflops);
  char rate[MATRIX_NUMBER_MAX];
  matrix_number(computes ? row->peak_tflops : row->peak_gbps, rate);
  return arena_format(arena, "%s %s", rate, computes ? "TFLOP/s" : "GB/s");
}

const char *result_percent(struct arena *arena, double percent) {
  if (percent > 999) {
    return ">999";
  }
  return percent < 10 ? arena_format(arena, "%.2g", percent) : arena_format(arena, "%.0f", percent);
}

/* How much less and more the figure may be; NULL: the interval is narrow enough for one number. */
static const char *result_ends(struct arena *arena, const struct run_row *row) {
  const bool is_rate = !isnan(row->gbps) || !isnan(row->tflops) || !isnan(row->ops_per_clock_sm);
  const double less = is_rate ? row->median_ns / row->high_ns : row->low_ns / row->median_ns;
  const double more = is_rate ? row->median_ns / row->low_ns : row->high_ns / row->median_ns;
  return !(result_spread(row) > MATRIX_ROUGH_PERCENT)
             ? NULL
             : arena_format(arena, "-%s/+%s", result_percent(arena, 100 * (1 - less)),
                            result_percent(arena, 100 * (more - 1)));
}

const char *result_uncertainty(struct arena *arena, const struct run_row *row) {
  const double spread = result_spread(row);
  const char *ends = result_ends(arena, row);
  return isnan(spread)  ? ""
         : ends != NULL ? ends
                        : arena_format(arena,
                                       spread < 1    ? "%.2f"
                                       : spread < 10 ? "%.1f"
                                                     : "%.0f",
                                       spread);
}

const char *result_within(struct arena *arena, const struct run_row *row) {
  const char *ends = result_ends(arena, row);
  return ends != NULL ? arena_format(arena, "%s %%", ends)
                      : arena_format(arena, "+/- %s %%", result_percent(arena, result_spread(row)));
}

const struct run_row *result_wider(const struct run_row *widest, const struct run_row *row) {
  const double spread = widest != NULL ? result_spread(widest) : NAN;
  return isnan(spread) || result_spread(row) > spread ? row : widest;
}

/* ---- blocks ---- */

/* Blocks in the order in which their first case is measured. */
struct blocks {
  struct result_block *items;
  size_t count;
};

static struct result_block *blocks_find(struct arena *arena, struct blocks *blocks,
                                        const char *name) {
  for (size_t i = blocks->count; i-- > 0;) { /* mostly the last one */
    if (strcmp(blocks->items[i].name, name) == 0) {
      return &blocks->items[i];
    }
  }
  struct result_block *block = ARENA_ADD(arena, blocks->items, blocks->count);
  *block = (struct result_block){.name = name};
  return block;
}

static void blocks_gather(struct arena *arena, const struct run_rows *cases,
                          struct blocks *blocks) {
  for (size_t i = 0; i < cases->count; i++) {
    struct run_row *row = &cases->items[i];
    struct result_block *block = blocks_find(arena, blocks, row->block);
    *ARENA_ADD(arena, block->rows, block->count) = row;
    block->shown += result_row_shown(row);
  }
}

static void blocks_remark(struct result_remarks *remarks, const struct result_block *block,
                          bool table) {
  for (size_t i = 0; i < block->count; i++) {
    struct run_row *row = block->rows[i];
    row->range_shown = table;
    for (size_t k = 0; k < row->alike_count; k++) {
      result_remarks_add(remarks, row->alike[k]);
    }
    if (row->alike_count == 0 && result_row_shown(row)) {
      result_remarks_add(remarks, row);
    }
  }
}

/* Rates and times of different kinds do not share a table. */
static const char *block_unit(const struct result_block *block) {
  const struct run_row *row = block->rows[0];
  return strcmp(row->kind, "arithmetic") == 0 && row->measure != NULL             ? row->measure
         : strcmp(row->kind, "transfer") == 0 || strcmp(row->kind, "stream") == 0 ? "GB/s"
                                                                                  : row->kind;
}

static bool block_shares(const struct result_block *block) {
  return block->shown <= 1 || block->is_brief;
}

/* Neighbours that are tables of one case each, or brief, share one. */
static size_t blocks_sharing(const struct blocks *blocks, size_t first) {
  const char *unit = block_unit(&blocks->items[first]);
  size_t next = first + 1;
  while (block_shares(&blocks->items[first]) && next < blocks->count &&
         block_shares(&blocks->items[next]) &&
         strcmp(block_unit(&blocks->items[next]), unit) == 0) {
    next++;
  }
  return next;
}

static void blocks_print(struct result_page *page, const struct blocks *blocks,
                         const struct result_layout *layouts) {
  for (size_t i = 0; i < blocks->count;) {
    const struct result_block *block = &blocks->items[i];
    size_t next = i + 1;
    if (block->shown > 0 && layouts[i].shape != RESULT_TABLE) {
      document_section(page->document, block->name);
      result_print_matrices(page, block, &layouts[i]);
    } else if (block->shown > 0) {
      next = blocks_sharing(blocks, i);
      document_section(page->document, next - i == 1 ? block->name : NULL);
      result_print_table(page, block, next - i);
    }
    i = next;
  }
}

void run_result_print(const struct result_set *cases, const struct result_set *flows,
                      const struct run_result_options *options, struct document *document) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct blocks blocks = {0};
  const struct run_rows rows = run_rows_of(cases);
  blocks_gather(&arena, &rows, &blocks);
  struct result_remarks remarks = {.arena = &arena, .scenario = options->scenario};
  struct result_page page = {.document = document,
                             .flows = run_rows_of(flows),
                             .sums = options->sums,
                             .remarks = &remarks};
  struct result_layout *layouts = arena_array(&arena, blocks.count, sizeof *layouts);
  if (options->answer && flows == NULL) { /* on a terminal; a page has room, and -v asks for it */
    run_rows_reword_same(&arena, &rows, options->brief,
                         "Duplicate of another case, measured once.");
  }
  bool shown = false;
  for (size_t i = 0; i < blocks.count; i++) {
    shown = shown || blocks.items[i].shown > 0;
    if (options->brief) {
      result_brief_block(&arena, &blocks.items[i]);
    }
    if (blocks.items[i].is_brief) {
      layouts[i] = (struct result_layout){.shape = RESULT_TABLE};
    } else {
      result_layout_find(&page.arena, &blocks.items[i], flows != NULL, &layouts[i]);
    }
    blocks_remark(&remarks, &blocks.items[i], layouts[i].shape == RESULT_TABLE);
  }
  result_remarks_assign_marks(&remarks);
  blocks_print(&page, &blocks, layouts);
  if (!shown) {
    document_put(document, "nothing was measured");
  }
  result_remarks_print(&remarks, document);
  if (options->answer) {
    result_answer(&rows, &remarks, options->skipped_command, document);
  }
  arena_fini(&page.arena);
}

void run_result_answer(const struct result_set *cases, struct document *document) {
  const struct run_rows rows = run_rows_of(cases);
  result_answer(&rows, NULL, NULL, document);
}

const char *run_result_all_skipped(const struct result_set *cases) {
  const struct run_rows rows = run_rows_of(cases);
  return ANY_OF(i, rows.count, result_row_shown(&rows.items[i]))
             ? ""
             : result_skipped(cases->arena, &rows);
}
