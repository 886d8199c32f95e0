/* plan_json.c - a plan as one JSON object. */
#include "engine/case/transfer.h"
#include "engine/machine/machine.h"
#include "runner/render/plan.h"
#include "runner/table/json_shape.h"
#include "schema/scenario/scenario.h"

#include <jansson.h>
#include <stdlib.h>

/* The longest record is a case of many flows. */
enum { PLAN_RECORD_MAX = 1 << 22, PLAN_CHUNK = 1 << 16 };

#define PLAN_ENDPOINT(X)                                                                           \
  X("place", text, place_text(endpoint->place))                                                    \
  X("index", integer, endpoint->index)                                                             \
  X("memory", text, memory_kind_text(endpoint->memory))

static void plan_json_endpoint(struct json_out *json, const struct endpoint *endpoint) {
  PLAN_ENDPOINT(JSON_PUT)
}

#define PLAN_FLOW(X)                                                                               \
  X("role", text, flow_role_text(flow->role))                                                      \
  X("method", text, method_text(flow->method))                                                     \
  X("source", object, plan_describe_endpoint, plan_json_endpoint(json, &flow->source))             \
  X("target", object, plan_describe_endpoint, plan_json_endpoint(json, &flow->target))             \
  X("initiator", text, initiator_text(flow->initiator))                                            \
  X("staged", boolean, flow->staged)                                                               \
  X("cpu", known, flow->cpu.choice != CPU_ANY, flow->cpu.node)                                     \
  X("size_bytes", integer, flow->size_bytes)

static void plan_json_flows(struct json_out *json, const struct bench_case *bench) {
  for (uint32_t i = 0; i < bench->flow_count; i++) {
    const struct flow *flow = &bench->flows[i];
    json_out_open(json, NULL, '{');
    PLAN_FLOW(JSON_PUT)
    json_out_close(json);
  }
}

/* The work of a case of another kind than transfer: the members of that part of its definition. */
static void plan_json_work(struct json_out *json, const struct bench_case *bench) {
  json_t *definition = json_loads(bench->definition, 0, NULL);
  const char *key;
  json_t *value;
  json_object_foreach(json_object_get(definition, case_kind_text(bench->kind)), key, value) {
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    json_out_raw(json, key, text != NULL ? text : "null");
    free(text);
  }
  json_decref(definition);
}

#define PLAN_CASE(X)                                                                               \
  X("case", text, bench->name)                                                                     \
  X("block", text, bench->block)                                                                   \
  X("path", text, bench->path)                                                                     \
  X("axes", text, c->axes)                                                                         \
  X("case_key", text, bench->key)                                                                  \
  X("kind", text, case_kind_text(bench->kind))                                                     \
  X("work", option, plan_describe_work, bench->kind != CASE_TRANSFER, plan_json_work(json, bench)) \
  X("flows", array, plan_describe_flow, plan_json_flows(json, bench))                              \
  X("payload_bytes", integer, bench->payload_bytes)                                                \
  X("traffic_bytes", integer, bench->traffic_bytes)                                                \
  X("limited_by", text, limit_text(bench->limit))                                                  \
  X("peak_bytes_per_second", known,                                                                \
    bench->peak_bytes_per_second > 0 && !limit_is_of_operations(bench->limit),                     \
    bench->peak_bytes_per_second)                                                                  \
  X("estimate_ns", integer, c->estimate_ns)                                                        \
  X("longest_ns", integer, c->longest_ns)                                                          \
  X("host_bytes", integer, c->host_bytes)                                                          \
  X("gpu_bytes", integer, c->gpu_bytes)                                                            \
  X("skip_reason", text, c->skip_reason)

static void plan_json_case(struct json_out *json, const struct plan_case *c) {
  const struct bench_case *bench = &c->bench;
  json_out_open(json, NULL, '{');
  PLAN_CASE(JSON_PUT)
  json_out_close(json);
}

#define PLAN_DUPLICATE(X)                                                                          \
  X("case", text, duplicate->name)                                                                 \
  X("same_as", text, duplicate->same_as)

static void plan_json_duplicate(struct json_out *json, const struct plan_duplicate *duplicate) {
  json_out_open(json, NULL, '{');
  PLAN_DUPLICATE(JSON_PUT)
  json_out_close(json);
}

/* Everything but the cases and duplicates, which come one by one into the same object. */
#define PLAN_HEAD(X)                                                                               \
  X("scenario", text, scenario != NULL ? scenario->name : NULL)                                    \
  X("host_name", text, plan->machine->host_name)                                                   \
  X("machine_source", text, plan->machine->source)                                                 \
  X("case_count", integer, plan->case_count)                                                       \
  X("skip_count", integer, plan->skip_count)                                                       \
  X("processes", integer, processes)                                                               \
  X("estimate_ns_per_process", integer, plan->estimate_ns)                                         \
  X("budget_ns", integer, scenario != NULL ? scenario->run.budget_ns : 0)                          \
  X("pause_ns", integer, scenario != NULL ? scenario->run.pause_ns : 0)                            \
  X("estimate_ns", integer, plan_total_ns(plan, processes))                                        \
  X("host_bytes", integer, plan->host_bytes)                                                       \
  X("gpu_bytes", integer, plan->gpu_bytes)

static void plan_json_head(struct json_out *json, const struct plan *plan, uint32_t processes) {
  const struct scenario *scenario = plan->scenario;
  json_out_open(json, NULL, '{');
  json_out_schema(json, "plan");
  PLAN_HEAD(JSON_PUT)
}

/* ---- its JSON Schema ---- */

JSON_DESCRIBER_STATIC(plan_describe_endpoint, PLAN_ENDPOINT, JSON_DESCRIBE)

JSON_DESCRIBER_STATIC(plan_describe_flow, PLAN_FLOW, JSON_DESCRIBE)

/* The keys of a kind, which haul schema scenario has. */
static void plan_describe_work(struct json_shape *shape) {
  (void)shape;
}

JSON_DESCRIBER_STATIC(plan_describe_case, PLAN_CASE, JSON_DESCRIBE)

JSON_DESCRIBER_STATIC(plan_describe_duplicate, PLAN_DUPLICATE, JSON_DESCRIBE)

void plan_describe_json(struct json_shape *shape) {
  PLAN_HEAD(JSON_DESCRIBE)
  json_shape_array(shape, "cases", plan_describe_case);
  json_shape_array(shape, "duplicates", plan_describe_duplicate);
}

/* ---- a whole plan ---- */

/* Write out what there is, if it is more than `most`: a plan has 10^5 cases and more. */
static void plan_json_flush(struct json_out *out, size_t most, FILE *stream, enum status *status,
                            struct error *err) {
  if (out->text->length <= most) {
    return;
  }
  if (*status == STATUS_OK) {
    *status = stream_write(stream, out->text, NULL, err);
  }
  strbuf_clear(out->text);
}

enum status plan_print_json(const struct plan *plan, uint32_t processes, FILE *stream,
                            struct error *err) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(PLAN_RECORD_MAX);
  struct json_out json = {.text = &text};
  struct json_out *out = &json;
  enum status status = STATUS_OK;
  plan_json_head(out, plan, processes);
  json_out_break(out);
  json_out_open(out, "cases", '[');
  for (size_t i = 0; status == STATUS_OK && i < plan->case_count; i++) {
    json_out_break(out);
    plan_json_case(out, &plan->cases[i]);
    plan_json_flush(out, PLAN_CHUNK, stream, &status, err);
  }
  json_out_close(out);
  json_out_break(out);
  json_out_open(out, "duplicates", '[');
  for (size_t i = 0; status == STATUS_OK && i < plan->duplicate_count; i++) {
    json_out_break(out);
    plan_json_duplicate(out, &plan->duplicates[i]);
    plan_json_flush(out, PLAN_CHUNK, stream, &status, err);
  }
  json_out_close(out);
  json_out_close(out);
  strbuf_append_char(&text, '\n');
  plan_json_flush(out, 0, stream, &status, err);
  return status;
}
