#include "runner/cli/fleet_gate.h"

#include "engine/base/strings.h"
#include "runner/analysis/outliers.h"
#include "runner/cli/analysis.h"
#include "runner/render/outliers.h"
#include "runner/table/json_shape.h"
#include "runner/table/result_set.h"

#include <math.h>
#include <string.h>

ENUM_NAMES_DEFINE(fleet_reason, FLEET_REASON_LIST)

bool fleet_gate_take(const struct option_use *use) {
  struct command *command = use->command;
  for (const char *word = use->arg; word != NULL;) {
    const size_t length = strcspn(word, ",");
    const char *name = arena_strndup(&command->arena, word, length);
    enum fleet_reason reason;
    if (!fleet_reason_parse(name, &reason)) {
      options_reject_name(use->state, "reason", name, fleet_reason_names);
      return false;
    }
    *(unsigned *)use->field |= 1U << reason;
    word = word[length] == ',' ? word + length + 1 : NULL;
  }
  return true;
}

static void fleet_gate_add(struct result_set *rows, const char *node, const char *reason,
                           const char *what) {
  const size_t row = result_set_add_row(rows);
  result_set_put(rows, row, 0, cell_text(node));
  result_set_put(rows, row, 1, cell_text(reason));
  result_set_put(rows, row, 2, cell_text(what));
}

static bool fleet_gate_has(const struct outliers *outliers, const struct outlier_part *part) {
  for (size_t i = 0; i < outliers->part_count; i++) {
    const struct outlier_part *other = &outliers->parts[i];
    if (strcmp(other->host, part->host) == 0 && (other->gpus & part->gpus) == other->gpus) {
      return true;
    }
  }
  return false;
}

/* said: parts that have their line already; NULL = these are the first. */
static void fleet_gate_add_parts(struct command *command, const struct outliers *outliers,
                                 const struct outliers *said, const char *than,
                                 struct result_set *rows) {
  for (size_t i = 0; i < outliers->part_count; i++) {
    const struct outlier_part *part = &outliers->parts[i];
    if (said != NULL && (!part->certain || fleet_gate_has(said, part))) {
      continue;
    }
    fleet_gate_add(rows, part->host, fleet_reason_text(FLEET_SLOW),
                   arena_format(&command->arena, "%s %s %% slower than %s%s%s", part->name,
                                outliers_range_words(&command->arena, part->least, part->change),
                                than, arena_around(&command->arena, ", ", part->uuid, ""),
                                arena_around(&command->arena, "; ", part->evidence, "")));
  }
}

/* Blocks in which the middle node became slower by more than matters. */
static void fleet_gate_add_all(struct command *command, const struct outliers *changes,
                               const char *than, struct result_set *rows) {
  for (size_t b = 0; b < changes->block_count && changes->is_fleet; b++) {
    double margin = 0;
    for (size_t h = 0; h < changes->hosts; h++) {
      margin = fmax(margin, changes->cells[h * changes->block_count + b].margin);
    }
    if (margin > 0 && changes->usual[b] <= -margin) {
      fleet_gate_add(rows, "all", fleet_reason_text(FLEET_SLOW),
                     arena_format(&command->arena, "%s %.1f %% slower than %s", changes->blocks[b],
                                  -100 * changes->usual[b], than));
    }
  }
}

/* Parts that are slow among their peers, over all nodes, and those that became slower since the
 * fleet before: if most of a fleet did, its peers do not tell. */
static enum status fleet_gate_add_slow(struct command *command, const char *fleet,
                                       struct result_set *rows, struct error *err) {
  struct run_list runs;
  struct run_list before = {0};
  struct outliers *now = NULL;
  struct outliers *changes = NULL;
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(selector_find_named_fleet(command->database, fleet, &command->arena, &runs, err));
  if (fleet == NULL) {
    RETURN_ON_ERROR(selector_find_fleet(command->database, true, &command->arena, &before, err));
  }
  const bool compares = before.count > 0;
  const char *const selectors[] = {selector_join(&command->arena, &before),
                                   selector_join(&command->arena, &runs)};
  RETURN_ON_ERROR(
      analysis_load(command, compares ? selectors : &selectors[1], compares ? 2 : 1, err));
  struct results *results = command->results;
  enum side *sides = arena_array(&command->arena, results->run_count, sizeof *sides);
  for (size_t i = 0; i < results->run_count; i++) {
    sides[i] = compares && results->runs[i].selector == 0 ? SIDE_A : SIDE_B;
  }
  struct outliers_options options = {.latest_only = true, .slow_only = true, .sides = sides};
  enum status status = results_load_errors(results, command->database, err);
  status = THEN(status, outliers_find(results, &options, &now, err));
  if (status == STATUS_OK) {
    fleet_gate_add_parts(command, now, NULL, "its peers", rows);
  }
  options.changes = options.cells = true;
  if (status == STATUS_OK && compares) {
    status = outliers_find(results, &options, &changes, err);
  }
  if (status == STATUS_OK && changes != NULL) {
    const char *than = arena_format(&command->arena, "in fleet %s", results->runs[0].fleet);
    fleet_gate_add_all(command, changes, than, rows);
    fleet_gate_add_parts(command, changes, now, than, rows);
  }
  outliers_free(changes);
  outliers_free(now);
  return status;
}

static bool fleet_gate_fails(unsigned fails, const struct result_set *all, size_t row) {
  enum fleet_reason reason;
  return fleet_reason_parse(result_set_text(all, row, "reason"), &reason) &&
         (fails & 1U << reason) != 0;
}

/* What was found and does not fail: "3 slow, 1 different"; "" = nothing. */
static const char *fleet_gate_left_out(struct arena *arena, const struct result_set *all,
                                       unsigned fails) {
  const char *text = "";
  for (size_t r = 0; r < fleet_reason_name_count; r++) {
    const unsigned bit = (fails & 1U << r) == 0 ? 1U << r : 0;
    const size_t count = SUM_OF(i, all->row_count, fleet_gate_fails(bit, all, i));
    text = count > 0 ? arena_add_word(arena, text,
                                      arena_format(arena, "%zu %s", count, fleet_reason_names[r]))
                     : text;
  }
  return text;
}

/* What a person is told beside the rows that fail. */
static void fleet_gate_say(struct command *command, const struct result_set *all, unsigned fails,
                           size_t count) {
  struct arena *arena = &command->arena;
  const char *left_out = fleet_gate_left_out(arena, all, fails);
  const char *asked = "";
  for (size_t r = 0; r < fleet_reason_name_count; r++) {
    asked =
        (fails & 1U << r) != 0 ? arena_join(arena, asked, " or ", fleet_reason_names[r]) : asked;
  }
  if (left_out[0] != '\0') {
    say_note(&command->common, "%sfound, but left out by --fail-on: %s",
             count == 0 ? arena_format(arena, "no node is %s; ", asked) : "", left_out);
  } else if (count == 0) {
    say_note(&command->common, "the nodes are well");
  }
}

#define FLEET_GATE_COLUMNS(X)                                                                      \
  X("node", text, result_set_text(all, i, "node"))                                                 \
  X("reason", text, result_set_text(all, i, "reason"))                                             \
  X("what", text, result_set_text(all, i, "what"))

JSON_DESCRIBER(fleet_gate_describe_json, FLEET_GATE_COLUMNS, JSON_COLUMN)

/* The rows whose reason fails. */
static enum status fleet_gate_print(struct command *command, const struct result_set *all,
                                    unsigned fails, struct error *err) {
  const size_t count = SUM_OF(i, all->row_count, fleet_gate_fails(fails, all, i));
  const bool is_page = output_layout_of(command->common.format) == LAYOUT_PAGE;
  enum status status = STATUS_OK;
  if (count > 0 || !is_page) {
    const struct row_sink *sink = command_rows(command, NULL);
    status = SINK_COLUMNS(sink, FLEET_GATE_COLUMNS, err);
    for (size_t i = 0; i < all->row_count && status == STATUS_OK; i++) {
      if (fleet_gate_fails(fails, all, i)) {
        status = SINK_ROW(sink, err, FLEET_GATE_COLUMNS(COLUMN_CELL));
      }
    }
    status = THEN(status, sink_end(sink, err));
  }
  if (is_page && status == STATUS_OK) {
    fleet_gate_say(command, all, fails, count);
  }
  command->code = count > 0 ? worse(command->code, EXIT_REGRESSED) : command->code;
  return status;
}

enum status fleet_gate_check(struct command *command, const char *fleet, unsigned fails,
                             struct error *err) {
  SCOPED(result_set_fini) struct result_set rows;
  SCOPED(result_set_fini) struct result_set known;
  result_set_init(&rows, SIZE_MAX);
  result_set_init(&known, SIZE_MAX);
  const struct query_parameter parameter = {"fleet", fleet};
  enum status status = command_open_query(command, err);
  if (fleet == NULL && status == STATUS_OK) {
    status = query_run_saved(command->query, "fleets", NULL, 0, NULL, &known.sink, err);
    if (status == STATUS_OK && known.row_count == 0) {
      status =
          error_set(err, STATUS_NOT_FOUND,
                    "there is no fleet: haul run --shard on each node makes one, and haul merge "
                    "brings it together");
    }
  }
  status = THEN(status, query_run_saved(command->query, "node-reasons", &parameter,
                                        fleet != NULL ? 1 : 0, NULL, &rows.sink, err));
  status = THEN(status, fleet_gate_add_slow(command, fleet, &rows, err));
  return THEN(status, fleet_gate_print(command, &rows, fails != 0 ? fails : ~0U, err));
}
