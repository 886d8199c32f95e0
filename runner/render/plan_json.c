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
JSON_OBJECT(plan_json_endpoint, PLAN_ENDPOINT, const struct endpoint *endpoint)

#define PLAN_FLOW(X)                                                                               \
  X("role", text, flow_role_text(flow->role))                                                      \
  X("method", text, method_text(flow->method))                                                     \
  X("source", object, plan_json_endpoint, &flow->source)                                           \
  X("target", object, plan_json_endpoint, &flow->target)                                           \
  X("initiator", text, initiator_text(flow->initiator))                                            \
  X("staged", boolean, flow->staged)                                                               \
  X("cpu", known, flow->cpu.choice != CPU_ANY, flow->cpu.node)                                     \
  X("size_bytes", integer, flow->size_bytes)
JSON_OBJECT(plan_json_flow, PLAN_FLOW, const struct flow *flow)

/* The work of a case of another kind than transfer: the members of that part of its definition,
 * which haul schema scenario describes. */
static void plan_json_work(struct json_out *json, const struct case_def *def) {
  json_t *definition = json_loads(def->definition, 0, NULL);
  const char *key;
  json_t *value;
  json_object_foreach(json_object_get(definition, case_kind_text(def->kind)), key, value) {
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    json_out_raw(json, key, text != NULL ? text : "null");
    free(text);
  }
  json_decref(definition);
}

static void plan_json_work_shape(struct json_shape *shape) {
  (void)shape;
}

#define PLAN_CASE(X)                                                                               \
  X("case", text, def->name)                                                                       \
  X("block", text, def->block)                                                                     \
  X("path", text, def->path)                                                                       \
  X("axes", text, c->axes)                                                                         \
  X("case_key", text, def->key)                                                                    \
  X("kind", text, case_kind_text(def->kind))                                                       \
  X("work", option, plan_json_work, def->kind != CASE_TRANSFER, def)                               \
  X("flows", array, plan_json_flow, i, def->flow_count, &def->flows[i])                            \
  X("payload_bytes", integer, def->payload_bytes)                                                  \
  X("traffic_bytes", integer, def->traffic_bytes)                                                  \
  X("limited_by", text, limit_text(def->limit))                                                    \
  X("peak_bytes_per_second", known,                                                                \
    def->peak_bytes_per_second > 0 && !limit_is_of_operations(def->limit),                         \
    def->peak_bytes_per_second)                                                                    \
  X("estimate_ns", integer, c->estimate_ns)                                                        \
  X("longest_ns", integer, c->longest_ns)                                                          \
  X("host_bytes", integer, c->host_bytes)                                                          \
  X("gpu_bytes", integer, c->gpu_bytes)                                                            \
  X("skip_reason", text, c->skip_reason)
JSON_OBJECT(plan_json_case, PLAN_CASE, const struct plan_case *c, const struct case_def *def)

#define PLAN_DUPLICATE(X)                                                                          \
  X("case", text, duplicate->name)                                                                 \
  X("same_as", text, duplicate->same_as)
JSON_OBJECT(plan_json_duplicate, PLAN_DUPLICATE, const struct plan_duplicate *duplicate)

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
JSON_OBJECT(plan_json_head, PLAN_HEAD, const struct plan *plan, const struct scenario *scenario,
            uint32_t processes)

void plan_describe_json(struct json_shape *shape) {
  plan_json_head_shape(shape);
  json_shape_array(shape, "cases", plan_json_case_shape);
  json_shape_array(shape, "duplicates", plan_json_duplicate_shape);
}

/* ---- a whole plan ---- */

/* Write out what there is, if it is more than `most`: a plan has 10^5 cases and more. */
static void plan_json_flush(struct json_out *out, size_t most, FILE *stream, enum status *status,
                            struct error *err) {
  if (out->text->length <= most) {
    return;
  }
  if (*status == STATUS_OK) {
    *status = stream_print(stream, out->text, NULL, err);
  }
  strbuf_clear(out->text);
}

enum status plan_print_json(const struct plan *plan, uint32_t processes, FILE *stream,
                            struct error *err) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(PLAN_RECORD_MAX);
  struct json_out out = json_out_begin(&text, "plan", 0);
  struct json_out *json = &out;
  enum status status = STATUS_OK;
  plan_json_head(json, plan, plan->scenario, processes);
  json_out_break(json);
  json_out_open(json, "cases", '[');
  for (size_t i = 0; status == STATUS_OK && i < plan->case_count; i++) {
    json_out_break(json);
    JSON_PUT_object(NULL, plan_json_case, &plan->cases[i], &plan->cases[i].def)
        plan_json_flush(json, PLAN_CHUNK, stream, &status, err);
  }
  json_out_close(json);
  json_out_break(json);
  json_out_open(json, "duplicates", '[');
  for (size_t i = 0; status == STATUS_OK && i < plan->duplicate_count; i++) {
    json_out_break(json);
    JSON_PUT_object(NULL, plan_json_duplicate, &plan->duplicates[i])
        plan_json_flush(json, PLAN_CHUNK, stream, &status, err);
  }
  json_out_close(json);
  return status == STATUS_OK ? json_out_end(json, stream, err) : status;
}
