/* plan_rows.c - a scenario and its plan, as rows. */
#include "runner/record/record_internal.h"
#include "schema/scenario/scenario.h"

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

static void record_bench_case_key(const struct plan_case *planned, char key[CONTENT_KEY_MAX]) {
  const struct bench_case *bench = &planned->bench;
  struct content *content = content_new();
  content_text(content, bench->key);
  content_text(content, bench->block);
  content_text(content, bench->name);
  content_text(content, planned->axes);
  content_text(content, bench->path);
  content_text(content, host_cache_in_definition(bench->measure.host_cache));
  content_text(content, cache_state_text(bench->measure.device_cache));
  content_finish(content, key);
}

#define INSERT_KIND_NAME_(id, text, name) "case/insert_" text,
static const char *const INSERT_KIND_NAMES[] = {CASE_KIND_LIST(INSERT_KIND_NAME_)};

static enum status record_add_bench_case(struct record *record, const struct plan_case *planned,
                                         int64_t *id, struct error *err) {
  const struct bench_case *bench = &planned->bench;
  char key[CONTENT_KEY_MAX];
  record_bench_case_key(planned, key);
  enum status status =
      record_find(record, "case/find_bench_case", PARAMETERS(PARAMETER(":key", key)), id, err);
  if (status != STATUS_OK || *id != 0) {
    return status;
  }
  status = record_insert(
      record, "case/insert_bench_case",
      PARAMETERS(PARAMETER(":key", key), PARAMETER(":case_key", bench->key),
                 PARAMETER(":definition", bench->definition), PARAMETER(":block", bench->block),
                 PARAMETER(":name", bench->name), PARAMETER(":kind", case_kind_text(bench->kind)),
                 PARAMETER(":axes", planned->axes), PARAMETER(":path", bench->path),
                 PARAMETER(":payload_bytes", (int64_t)bench->payload_bytes),
                 PARAMETER(":operations", (int64_t)bench->operations),
                 PARAMETER(":figure", figure_text(bench->figure)),
                 PARAMETER(":figure_amount", (int64_t)bench->figure_amount),
                 PARAMETER(":host_cache", host_cache_in_definition(bench->measure.host_cache)),
                 PARAMETER(":device_cache", cache_state_text(bench->measure.device_cache))),
      id, err);
  for (int kind = 0; status == STATUS_OK && kind < (int)case_kind_name_count; kind++) {
    const bool own = kind == (int)bench->kind && case_kind_has_table(bench->kind);
    const bool flows = bench->flow_count > 0 || !case_kind_has_table(bench->kind);
    if (own || (kind == CASE_TRANSFER && flows)) {
      status = record_insert(
          record, INSERT_KIND_NAMES[kind],
          PARAMETERS(PARAMETER(":bench_case", *id), PARAMETER(":definition", bench->definition)),
          NULL, err);
    }
  }
  return status;
}

static enum status record_insert_plan_case(struct record *record, const struct plan_case *planned,
                                           int64_t bench_case, size_t position, struct error *err) {
  enum status status = record_insert(
      record, "case/insert_plan_case",
      PARAMETERS(PARAMETER(":bench_case", bench_case), PARAMETER(":position", (int64_t)position),
                 PARAMETER(":limited_by", limit_text(planned->bench.limit)),
                 PARAMETER(":peak_bytes_per_second", (int64_t)planned->bench.peak_bytes_per_second),
                 PARAMETER(":traffic_bytes", (int64_t)planned->bench.traffic_bytes),
                 PARAMETER(":operations_per_sm", (int64_t)planned->bench.operations_per_sm),
                 PARAMETER(":estimate_ns", (int64_t)planned->estimate_ns),
                 PARAMETER(":delta", planned->bench.measure.delta),
                 PARAMETER(":precision", planned->bench.measure.precision),
                 PARAMETER(":listed", (int64_t)planned->listed)),
      NULL, err);
  if (status != STATUS_OK || planned->skip_reason == NULL) {
    return status;
  }
  return record_insert(
      record, "result/insert_skipped",
      PARAMETERS(PARAMETER(":bench_case", bench_case), PARAMETER(":reason", planned->skip_reason)),
      NULL, err);
}

/* The case that is measured, as a scenario names it in another place. */
static enum status record_add_alias(struct record *record, const struct plan *plan,
                                    const struct plan_duplicate *duplicate, struct error *err) {
  struct plan_case alias = plan->cases[duplicate->measured];
  int64_t bench_case = 0;
  alias.bench.block = duplicate->block;
  alias.bench.name = duplicate->name;
  alias.axes = duplicate->axes;
  RETURN_ON_ERROR(record_add_bench_case(record, &alias, &bench_case, err));
  return record_insert(
      record, "case/insert_plan_alias",
      PARAMETERS(PARAMETER(":bench_case", bench_case),
                 PARAMETER(":measured_by", record->bench_cases[duplicate->measured]),
                 PARAMETER(":listed", (int64_t)duplicate->listed)),
      NULL, err);
}

static void record_make_room(struct record *record, const struct plan *plan) {
  record->bench_cases =
      record_reallocate(record->bench_cases, plan->case_count, sizeof *record->bench_cases);
  record->case_count = plan->case_count;
}

enum status record_add_plan(struct record *record, const struct plan *plan, struct error *err) {
  record_make_room(record, plan);
  enum status status = database_derive_settings(record->database, err);
  for (size_t i = 0; i < plan->case_count && status == STATUS_OK; i++) {
    status = record_add_bench_case(record, &plan->cases[i], &record->bench_cases[i], err);
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
    record_bench_case_key(&plan->cases[i], key);
    status = record_find(record, "case/find_plan_case", PARAMETERS(PARAMETER(":key", key)),
                         &record->bench_cases[i], err);
    if (status == STATUS_OK && record->bench_cases[i] == 0) {
      status = error_set(err, STATUS_INVALID,
                         "run %s cannot be resumed: case %s is new (another version of haul, or "
                         "other options); start a new run",
                         record->uuid, plan->cases[i].bench.name);
    }
  }
  return status;
}
