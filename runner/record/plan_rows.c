/* plan_rows.c - a scenario and its plan, as rows. */
#include "runner/record/record_internal.h"
#include "runner/record/selector.h"
#include "schema/scenario/scenario.h"

#include <stdlib.h>

enum status record_add_scenario(struct record *record, const struct scenario *scenario, int64_t *id,
                                struct error *err) {
  const char *description = scenario->description != NULL ? scenario->description : "";
  char key[CONTENT_KEY_MAX];
  struct content *content = content_new();
  content_text(content, scenario->name);
  content_text(content, description);
  content_text(content, scenario->text);
  content_text(content, scenario->resolved);
  content_finish(content, key);
  enum status status =
      record_find(record, "environment/find_scenario", PARAMETERS(PARAMETER(":key", key)), id, err);
  if (status != STATUS_OK || *id != 0) {
    return status;
  }
  status = record_insert(record, "environment/insert_scenario",
                         PARAMETERS(PARAMETER(":key", key), PARAMETER(":name", scenario->name),
                                    PARAMETER(":description", description),
                                    PARAMETER(":text", scenario->text),
                                    PARAMETER(":resolved", scenario->resolved)),
                         id, err);
  return status;
}

/* How much work the case is follows from its definition, but for multiply-adds: each SM of the GPU
 * does as many of them. */
static bool record_work_is_of_gpu(const struct case_def *def) {
  return def->kind == CASE_COMPUTE && def->flow_count > 0 &&
         def->flows[0].compute.op == COMPUTE_FMA;
}

static void record_case_def_key(const struct plan_case *planned, char key[CONTENT_KEY_MAX]) {
  const struct case_def *def = &planned->def;
  struct content *content = content_new();
  content_text(content, def->key);
  content_text(content, def->block);
  content_text(content, def->name);
  content_text(content, planned->axes);
  content_text(content, def->path);
  content_text(content, host_cache_in_definition(def->measure.host_cache));
  content_text(content, cache_state_text(def->measure.device_cache));
  if (record_work_is_of_gpu(def)) {
    content_int(content, (int64_t)def->operations);
  }
  content_finish(content, key);
}

#define INSERT_KIND_NAME_(id, text, name) "case/insert_" text,
static const char *const INSERT_KIND_NAMES[] = {CASE_KIND_LIST(INSERT_KIND_NAME_)};

static enum status record_add_case_def(struct record *record, const struct plan_case *planned,
                                       int64_t *id, struct error *err) {
  const struct case_def *def = &planned->def;
  char key[CONTENT_KEY_MAX];
  record_case_def_key(planned, key);
  enum status status =
      record_find(record, "case/find_bench_case", PARAMETERS(PARAMETER(":key", key)), id, err);
  if (status != STATUS_OK || *id != 0) {
    return status;
  }
  status = record_insert(
      record, "case/insert_bench_case",
      PARAMETERS(PARAMETER(":key", key), PARAMETER(":case_key", def->key),
                 PARAMETER(":definition", def->definition), PARAMETER(":block", def->block),
                 PARAMETER(":name", def->name), PARAMETER(":kind", case_kind_text(def->kind)),
                 PARAMETER(":axes", planned->axes), PARAMETER(":path", def->path),
                 PARAMETER(":payload_bytes", (int64_t)def->payload_bytes),
                 PARAMETER(":operations", (int64_t)def->operations),
                 PARAMETER(":figure", figure_text(def->figure)),
                 PARAMETER(":figure_amount", (int64_t)def->figure_amount),
                 PARAMETER(":host_cache", host_cache_in_definition(def->measure.host_cache)),
                 PARAMETER(":device_cache", cache_state_text(def->measure.device_cache))),
      id, err);
  for (int kind = 0; status == STATUS_OK && kind < (int)case_kind_name_count; kind++) {
    const bool own = kind == (int)def->kind && case_kind_has_table(def->kind);
    const bool flows = def->flow_count > 0 || !case_kind_has_table(def->kind);
    if (own || (kind == CASE_TRANSFER && flows)) {
      status = record_insert(
          record, INSERT_KIND_NAMES[kind],
          PARAMETERS(PARAMETER(":bench_case", *id), PARAMETER(":definition", def->definition)),
          NULL, err);
    }
  }
  return status;
}

static enum status record_insert_plan_case(struct record *record, const struct plan_case *planned,
                                           int64_t case_id, size_t position, struct error *err) {
  enum status status = record_insert(
      record, "case/insert_plan_case",
      PARAMETERS(PARAMETER(":bench_case", case_id), PARAMETER(":position", (int64_t)position),
                 PARAMETER(":limited_by", limit_text(planned->def.limit)),
                 PARAMETER(":peak_bytes_per_second", (int64_t)planned->def.peak_bytes_per_second),
                 PARAMETER(":traffic_bytes", (int64_t)planned->def.traffic_bytes),
                 PARAMETER(":operations_per_sm", (int64_t)planned->def.operations_per_sm),
                 PARAMETER(":estimate_ns", (int64_t)planned->estimate_ns),
                 PARAMETER(":delta", planned->def.measure.delta),
                 PARAMETER(":precision", planned->def.measure.precision),
                 PARAMETER(":listed", (int64_t)planned->listed)),
      NULL, err);
  if (status != STATUS_OK || planned->skip_reason == NULL) {
    return status;
  }
  return record_insert(
      record, "result/insert_skipped",
      PARAMETERS(PARAMETER(":bench_case", case_id), PARAMETER(":reason", planned->skip_reason)),
      NULL, err);
}

/* The case that is measured, as a scenario names it in another place. */
static enum status record_add_alias(struct record *record, const struct plan *plan,
                                    const struct plan_duplicate *duplicate, struct error *err) {
  struct plan_case alias = plan->cases[duplicate->measured];
  int64_t case_id = 0;
  alias.def.block = duplicate->block;
  alias.def.name = duplicate->name;
  alias.axes = duplicate->axes;
  RETURN_ON_ERROR(record_add_case_def(record, &alias, &case_id, err));
  return record_insert(
      record, "case/insert_plan_alias",
      PARAMETERS(PARAMETER(":bench_case", case_id),
                 PARAMETER(":measured_by", record->bench_cases[duplicate->measured]),
                 PARAMETER(":listed", (int64_t)duplicate->listed)),
      NULL, err);
}

static void record_make_room(struct record *record, const struct plan *plan) {
  free(record->bench_cases);
  record->bench_cases = memory_new(plan->case_count, sizeof *record->bench_cases);
  record->case_count = plan->case_count;
}

enum status record_add_plan(struct record *record, const struct plan *plan, struct error *err) {
  record_make_room(record, plan);
  enum status status = database_derive_settings(record->database, err);
  for (size_t i = 0; i < plan->case_count && status == STATUS_OK; i++) {
    status = record_add_case_def(record, &plan->cases[i], &record->bench_cases[i], err);
    status = THEN(status,
                  record_insert_plan_case(record, &plan->cases[i], record->bench_cases[i], i, err));
  }
  for (size_t i = 0; i < plan->duplicate_count && status == STATUS_OK; i++) {
    status = record_add_alias(record, plan, &plan->duplicates[i], err);
  }
  return status;
}

enum status record_match_plan(struct record *record, const struct plan *plan, struct error *err) {
  record_make_room(record, plan);
  enum status status = STATUS_OK;
  for (size_t i = 0; i < plan->case_count && status == STATUS_OK; i++) {
    char key[CONTENT_KEY_MAX];
    record_case_def_key(&plan->cases[i], key);
    status = record_find(record, "case/find_plan_case", PARAMETERS(PARAMETER(":key", key)),
                         &record->bench_cases[i], err);
    if (status == STATUS_OK && record->bench_cases[i] == 0) {
      status = error_set(err, STATUS_INVALID,
                         RUN_NAME " cannot be resumed: case %s is new (another version of haul, or "
                                  "other options); start a new run",
                         record->uuid, plan->cases[i].def.name);
    }
  }
  return status;
}
