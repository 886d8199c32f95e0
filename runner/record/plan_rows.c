/* plan_rows.c - a scenario and its plan, as rows. */
#include "runner/record/record_state.h"

#include <stdlib.h>
#include <string.h>

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
  bool found = false;
  enum status status = record_find(record, FIND_SCENARIO, key, id, &found, err);
  if (status != STATUS_OK || found) {
    return status;
  }
  struct statement *statement = record_statement(record, INSERT_SCENARIO);
  statement_bind_text(statement, ":key", key);
  statement_bind_text(statement, ":name", scenario->name);
  statement_bind_text(statement, ":description", description);
  statement_bind_text(statement, ":text", scenario->text);
  statement_bind_text(statement, ":resolved", scenario->resolved);
  status = statement_run(statement, err);
  *id = sqlite3_last_insert_rowid(record->database->handle);
  return status;
}

static void bench_case_key(const struct plan_case *planned, char key[CONTENT_KEY_MAX]) {
  const struct bench_case *bench = &planned->bench;
  struct content *content = content_new();
  content_text(content, bench->key);
  content_text(content, bench->block);
  content_text(content, bench->name);
  content_text(content, planned->axes);
  content_text(content, bench->path);
  content_text(content, cache_state_text(bench->measure.host_cache));
  content_text(content, cache_state_text(bench->measure.device_cache));
  content_finish(content, key);
}

/* The GPU whose clocks matter to the flow: the one that starts it, else the one it passes. */
static const struct endpoint *gpu_of(const struct flow *flow) {
  const struct endpoint *first =
      flow->initiator == INITIATOR_SOURCE ? &flow->source : &flow->target;
  const struct endpoint *second = first == &flow->source ? &flow->target : &flow->source;
  if (first->place == PLACE_GPU) {
    return first;
  }
  return second->place == PLACE_GPU ? second : NULL;
}

/* What belongs to one method only stays NULL for the others. */
static void bind_method_options(struct statement *statement, const struct flow *flow) {
  switch (flow->method) {
  case METHOD_CE:
    break;
  case METHOD_CPU:
    statement_bind_int(statement, ":threads", flow->threads);
    break;
  case METHOD_SM:
    statement_bind_text(statement, ":kernel_variant", kernel_variant_text(flow->kernel.variant));
    statement_bind_int(statement, ":kernel_block", flow->kernel.block);
    statement_bind_int(statement, ":kernel_grid", flow->kernel.grid);
    statement_bind_int(statement, ":kernel_vector_bytes", flow->kernel.vector_bytes);
    break;
  case METHOD_UM:
    statement_bind_int(statement, ":threads", flow->unified.threads);
    statement_bind_text(statement, ":unified_mode", unified_mode_text(flow->unified.mode));
    statement_bind_text(statement, ":unified_touch_by", initiator_text(flow->unified.touch_by));
    statement_bind_text(statement, ":unified_advise", advise_text(flow->unified.advise));
    statement_bind_int(statement, ":unified_stride_bytes", (int64_t)flow->unified.stride_bytes);
    break;
  case method_name_count:
    break;
  }
  if (copy_shape_is_strided(&flow->shape)) {
    statement_bind_int(statement, ":shape_width_bytes", (int64_t)flow->shape.width_bytes);
    statement_bind_int(statement, ":shape_height", (int64_t)flow->shape.height);
    statement_bind_int(statement, ":shape_depth", (int64_t)flow->shape.depth);
    statement_bind_int(statement, ":shape_pitch_bytes", (int64_t)flow->shape.pitch_bytes);
  }
}

static enum status insert_flow(struct record *record, int64_t bench_case, uint32_t ordinal,
                               const struct flow *flow, struct error *err) {
  struct statement *statement = record_statement(record, INSERT_FLOW);
  const struct endpoint *gpu = gpu_of(flow);
  statement_bind_int(statement, ":bench_case", bench_case);
  statement_bind_int(statement, ":ordinal", ordinal);
  statement_bind_text(statement, ":role", flow_role_text(flow->role));
  statement_bind_text(statement, ":method", method_text(flow->method));
  statement_bind_text(statement, ":source_place", place_text(flow->source.place));
  statement_bind_int(statement, ":source_index", flow->source.index);
  statement_bind_text(statement, ":source_memory", memory_kind_text(flow->source.memory));
  statement_bind_text(statement, ":target_place", place_text(flow->target.place));
  statement_bind_int(statement, ":target_index", flow->target.index);
  statement_bind_text(statement, ":target_memory", memory_kind_text(flow->target.memory));
  statement_bind_text(statement, ":initiator", initiator_text(flow->initiator));
  statement_bind_int(statement, ":staged", flow->staged);
  statement_bind_int(statement, ":size_bytes", (int64_t)flow->size_bytes);
  if (gpu != NULL) {
    statement_bind_int(statement, ":gpu", gpu->index);
  }
  bind_method_options(statement, flow);
  return statement_run(statement, err);
}

static enum status insert_chase(struct record *record, int64_t bench_case,
                                const struct chase *chase, struct error *err) {
  struct statement *statement = record_statement(record, INSERT_CHASE);
  statement_bind_int(statement, ":bench_case", bench_case);
  statement_bind_text(statement, ":space", chase_space_text(chase->space));
  statement_bind_int(statement, ":gpu", chase->gpu);
  statement_bind_text(statement, ":memory_place", place_text(chase->memory.place));
  statement_bind_int(statement, ":memory_index", chase->memory.index);
  statement_bind_text(statement, ":memory", memory_kind_text(chase->memory.memory));
  statement_bind_int(statement, ":footprint_bytes", (int64_t)chase->footprint_bytes);
  statement_bind_int(statement, ":stride_bytes", (int64_t)chase->stride_bytes);
  statement_bind_text(statement, ":hop_order", chase_order_text(chase->order));
  if (chase->space == CHASE_GLOBAL) {
    statement_bind_text(statement, ":cache", cache_level_text(chase->cache));
  }
  statement_bind_int(statement, ":threads", chase->threads > 0 ? chase->threads : 1);
  statement_bind_int(statement, ":blocks", chase->blocks > 0 ? chase->blocks : 1);
  statement_bind_int(statement, ":hops", (int64_t)chase->hops);
  return statement_run(statement, err);
}

static enum status insert_overhead(struct record *record, int64_t bench_case,
                                   const struct overhead *overhead, struct error *err) {
  struct statement *statement = record_statement(record, INSERT_OVERHEAD);
  statement_bind_int(statement, ":bench_case", bench_case);
  statement_bind_text(statement, ":operation", overhead_operation_text(overhead->operation));
  statement_bind_int(statement, ":gpu", overhead->gpu);
  if (overhead->operation == OVERHEAD_ALLOCATE || overhead->operation == OVERHEAD_FREE) {
    statement_bind_text(statement, ":memory_place", place_text(overhead->memory.place));
    statement_bind_int(statement, ":memory_index", overhead->memory.index);
    statement_bind_text(statement, ":memory", memory_kind_text(overhead->memory.memory));
    statement_bind_int(statement, ":size_bytes", (int64_t)overhead->size_bytes);
  }
  return statement_run(statement, err);
}

static enum status insert_stream(struct record *record, int64_t bench_case,
                                 const struct stream *stream, struct error *err) {
  struct statement *statement = record_statement(record, INSERT_STREAM);
  statement_bind_int(statement, ":bench_case", bench_case);
  statement_bind_text(statement, ":op", stream_op_text(stream->op));
  statement_bind_text(statement, ":number_type", number_type_text(stream->type));
  statement_bind_text(statement, ":memory_place", place_text(stream->memory.place));
  statement_bind_int(statement, ":memory_index", stream->memory.index);
  statement_bind_text(statement, ":memory", memory_kind_text(stream->memory.memory));
  statement_bind_int(statement, ":size_bytes", (int64_t)stream->size_bytes);
  statement_bind_int(statement, ":passes", stream->passes > 0 ? stream->passes : 1);
  if (stream->memory.place == PLACE_NUMA) {
    statement_bind_int(statement, ":threads", stream->threads);
    return statement_run(statement, err);
  }
  statement_bind_int(statement, ":gpu", stream->memory.index);
  statement_bind_int(statement, ":block", stream->block);
  if (stream->grid == STREAM_GRID_FULL) {
    statement_bind_text(statement, ":grid", "full");
  } else {
    statement_bind_int(statement, ":grid", stream->grid);
  }
  statement_bind_int(statement, ":vector_bytes", stream->vector_bytes);
  statement_bind_int(statement, ":unroll", stream->unroll);
  statement_bind_text(statement, ":clock", stream_clock_text(stream->clock));
  return statement_run(statement, err);
}

static enum status insert_arithmetic(struct record *record, int64_t bench_case,
                                     const struct arithmetic *arithmetic, struct error *err) {
  struct statement *statement = record_statement(record, INSERT_ARITHMETIC);
  statement_bind_int(statement, ":bench_case", bench_case);
  statement_bind_text(statement, ":op", arithmetic_op_text(arithmetic->op));
  statement_bind_text(statement, ":number_type", number_type_text(arithmetic->type));
  statement_bind_text(statement, ":measure", arithmetic_measure_text(arithmetic->measure));
  statement_bind_int(statement, ":gpu", arithmetic->gpu);
  statement_bind_int(statement, ":ilp", arithmetic->ilp);
  statement_bind_int(statement, ":block", arithmetic->block);
  statement_bind_int(statement, ":grid", arithmetic->grid);
  statement_bind_int(statement, ":instructions", arithmetic->instructions);
  return statement_run(statement, err);
}

/* A case whose selectors came to nothing has no row of its kind, as a transfer has no flows. */
static bool is_unresolved(const struct bench_case *bench) {
  switch (bench->kind) {
  case CASE_CHASE:
    return bench->work.chase.hops == 0;
  case CASE_STREAM:
    return bench->work.stream.size_bytes == 0;
  case CASE_ARITHMETIC:
    return bench->work.arithmetic.instructions == 0;
  case CASE_OVERHEAD: /* only allocations can do without a GPU */
    return bench->work.overhead.gpu < 0 && bench->work.overhead.operation != OVERHEAD_ALLOCATE &&
           bench->work.overhead.operation != OVERHEAD_FREE;
  case CASE_TRANSFER:
  case case_kind_name_count:
    break;
  }
  return false;
}

/* What is measured: the rows beside bench_case. */
static enum status insert_workload(struct record *record, int64_t bench_case,
                                   const struct bench_case *bench, struct error *err) {
  enum status status = STATUS_OK;
  if (is_unresolved(bench)) {
    return STATUS_OK;
  }
  switch (bench->kind) {
  case CASE_TRANSFER:
    for (uint32_t i = 0; i < bench->flow_count && status == STATUS_OK; i++) {
      status = insert_flow(record, bench_case, i, &bench->flows[i], err);
    }
    return status;
  case CASE_CHASE:
    return insert_chase(record, bench_case, &bench->work.chase, err);
  case CASE_OVERHEAD:
    return insert_overhead(record, bench_case, &bench->work.overhead, err);
  case CASE_STREAM:
    return insert_stream(record, bench_case, &bench->work.stream, err);
  case CASE_ARITHMETIC:
    return insert_arithmetic(record, bench_case, &bench->work.arithmetic, err);
  case case_kind_name_count:
    break;
  }
  abort();
}

static enum status add_bench_case(struct record *record, const struct plan_case *planned,
                                  int64_t *id, struct error *err) {
  const struct bench_case *bench = &planned->bench;
  char key[CONTENT_KEY_MAX];
  bench_case_key(planned, key);
  bool found = false;
  enum status status = record_find(record, FIND_BENCH_CASE, key, id, &found, err);
  if (status != STATUS_OK || found) {
    return status;
  }
  struct statement *statement = record_statement(record, INSERT_BENCH_CASE);
  statement_bind_text(statement, ":key", key);
  statement_bind_text(statement, ":case_key", bench->key);
  statement_bind_text(statement, ":definition", bench->definition);
  statement_bind_text(statement, ":block", bench->block);
  statement_bind_text(statement, ":name", bench->name);
  statement_bind_text(statement, ":kind", case_kind_text(bench->kind));
  statement_bind_text(statement, ":axes", planned->axes);
  statement_bind_text(statement, ":path", bench->path);
  statement_bind_int(statement, ":payload_bytes", (int64_t)bench->payload_bytes);
  statement_bind_int(statement, ":operations", (int64_t)bench->operations);
  statement_bind_text(statement, ":host_cache", cache_state_text(bench->measure.host_cache));
  statement_bind_text(statement, ":device_cache", cache_state_text(bench->measure.device_cache));
  status = statement_run(statement, err);
  *id = sqlite3_last_insert_rowid(record->database->handle);
  return status == STATUS_OK ? insert_workload(record, *id, bench, err) : status;
}

static enum status insert_plan_case(struct record *record, const struct plan_case *planned,
                                    int64_t bench_case, size_t position, struct error *err) {
  struct statement *statement = record_statement(record, INSERT_PLAN_CASE);
  statement_bind_int(statement, ":run", record->run);
  statement_bind_int(statement, ":bench_case", bench_case);
  statement_bind_int(statement, ":position", (int64_t)position);
  statement_bind_text(statement, ":limited_by", limit_text(planned->bench.limit));
  statement_bind_int(statement, ":peak_bytes_per_second",
                     (int64_t)planned->bench.peak_bytes_per_second);
  statement_bind_int(statement, ":traffic_bytes", (int64_t)planned->bench.traffic_bytes);
  statement_bind_int(statement, ":operations_per_sm", (int64_t)planned->bench.operations_per_sm);
  statement_bind_int(statement, ":estimate_ns", (int64_t)planned->estimate_ns);
  statement_bind_real(statement, ":delta", planned->bench.measure.delta);
  enum status status = statement_run(statement, err);
  if (status != STATUS_OK || planned->skip_reason == NULL) {
    return status;
  }
  statement = record_statement(record, INSERT_SKIPPED);
  statement_bind_int(statement, ":run", record->run);
  statement_bind_int(statement, ":bench_case", bench_case);
  statement_bind_text(statement, ":reason", planned->skip_reason);
  return statement_run(statement, err);
}

static void make_room(struct record *record, const struct plan *plan) {
  record->bench_cases =
      record_reallocate(record->bench_cases, plan->case_count, sizeof *record->bench_cases);
  record->case_count = plan->case_count;
}

enum status record_add_plan(struct record *record, const struct plan *plan, struct error *err) {
  make_room(record, plan);
  enum status status = STATUS_OK;
  for (size_t i = 0; i < plan->case_count && status == STATUS_OK; i++) {
    status = add_bench_case(record, &plan->cases[i], &record->bench_cases[i], err);
    if (status == STATUS_OK) {
      status = insert_plan_case(record, &plan->cases[i], record->bench_cases[i], i, err);
    }
  }
  return status;
}

enum status record_match_plan(struct record *record, const struct plan *plan, struct error *err) {
  make_room(record, plan);
  enum status status = STATUS_OK;
  for (size_t i = 0; i < plan->case_count && status == STATUS_OK; i++) {
    char key[CONTENT_KEY_MAX];
    bench_case_key(&plan->cases[i], key);
    struct statement *statement = record_statement(record, FIND_PLAN_CASE);
    bool found = false;
    statement_bind_int(statement, ":run", record->run);
    status = record_find(record, FIND_PLAN_CASE, key, &record->bench_cases[i], &found, err);
    if (status == STATUS_OK && !found) {
      status = error_set(err, STATUS_INVALID,
                         "run %s cannot be resumed: case %s is new (another version of haul, or "
                         "other options); start a new run",
                         record->uuid, plan->cases[i].bench.name);
    }
  }
  return status;
}
