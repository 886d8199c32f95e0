#include "runner/cli/fleet_gate.h"

#include "engine/base/strings.h"
#include "runner/analysis/outliers.h"
#include "runner/cli/analysis.h"
#include "runner/table/json_shape.h"
#include "runner/table/result_set.h"

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
    command->fleet_fails |= 1U << reason;
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

/* Parts that are slow among their peers, over all nodes. */
static enum status fleet_gate_add_slow(struct command *command, const char *fleet,
                                       struct result_set *rows, struct error *err) {
  struct run_list runs;
  struct outliers *outliers = NULL;
  const struct outliers_options options = {.latest_only = true, .slow_only = true};
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(selector_find_named_fleet(command->database, fleet, &command->arena, &runs, err));
  const char **selectors = arena_array(&command->arena, runs.count, sizeof *selectors);
  for (size_t i = 0; i < runs.count; i++) {
    selectors[i] = arena_format(&command->arena, "%lld", (long long)runs.runs[i].id);
  }
  RETURN_ON_ERROR(analysis_load(command, selectors, runs.count, err));
  enum status status = measured_load_errors(command->measured, command->database, err);
  status = THEN(status, outliers_find(command->measured, &options, &outliers, err));
  for (size_t i = 0; status == STATUS_OK && i < outliers->part_count; i++) {
    const struct outlier_part *part = &outliers->parts[i];
    fleet_gate_add(rows, part->host, fleet_reason_text(FLEET_SLOW),
                   arena_format(&command->arena, "%s %.1f %% slower than its peers%s%s%s%s",
                                part->name, -100 * part->change, part->uuid != NULL ? ", " : "",
                                part->uuid != NULL ? part->uuid : "",
                                part->evidence != NULL ? "; " : "",
                                part->evidence != NULL ? part->evidence : ""));
  }
  outliers_free(outliers);
  return status;
}

static bool fleet_gate_fails(const struct command *command, const struct result_set *all,
                             size_t row) {
  enum fleet_reason reason;
  const unsigned fails = command->fleet_fails != 0 ? command->fleet_fails : ~0U;
  return fleet_reason_parse(result_set_text(all, row, "reason"), &reason) &&
         (fails & 1U << reason) != 0;
}

#define FLEET_GATE_COLUMNS(X)                                                                      \
  X("node", text, result_set_text(all, i, "node"))                                                 \
  X("reason", text, result_set_text(all, i, "reason"))                                             \
  X("what", text, result_set_text(all, i, "what"))

void fleet_gate_describe_json(struct json_shape *shape) {
  FLEET_GATE_COLUMNS(JSON_COLUMN)
}

/* The rows whose reason fails. */
static enum status fleet_gate_print(struct command *command, const struct result_set *all,
                                    struct error *err) {
  static const char *const COLUMNS[] = {FLEET_GATE_COLUMNS(COLUMN_NAME)};
  size_t count = 0;
  for (size_t i = 0; i < all->row_count; i++) {
    count += fleet_gate_fails(command, all, i);
  }
  if (count == 0 && output_layout_of(command->common.format) == LAYOUT_PAGE) {
    say_note(&command->common, "the nodes are well");
    return STATUS_OK;
  }
  const struct row_sink *sink = command_rows(command, NULL);
  enum status status = sink_begin(sink, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, err);
  for (size_t i = 0; i < all->row_count && status == STATUS_OK; i++) {
    if (fleet_gate_fails(command, all, i)) {
      const struct cell cells[] = {FLEET_GATE_COLUMNS(COLUMN_CELL)};
      status = sink_row(sink, cells, err);
    }
  }
  command->code = count > 0 ? worse(command->code, EXIT_REGRESSED) : command->code;
  return THEN(status, sink_end(sink, err));
}

enum status fleet_gate_check(struct command *command, const char *fleet, struct error *err) {
  struct result_set rows;
  struct result_set known;
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
  status = THEN(status, fleet_gate_print(command, &rows, err));
  result_set_fini(&rows);
  result_set_fini(&known);
  return status;
}
