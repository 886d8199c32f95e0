/* plan_json.c - a plan as one JSON object. */
#include "engine/case/transfer.h"
#include "engine/machine/machine.h"
#include "runner/render/plan.h"
#include "runner/table/json.h"
#include "schema/scenario/scenario.h"

#include <jansson.h>
#include <stdlib.h>

/* The longest record is a case of many flows. */
enum { PLAN_RECORD_MAX = 1 << 22, PLAN_CHUNK = 1 << 16 };

static void plan_json_endpoint(struct json_out *out, const char *key,
                               const struct endpoint *endpoint) {
  json_out_open(out, key, '{');
  json_out_text(out, "place", place_text(endpoint->place));
  json_out_integer(out, "index", endpoint->index);
  json_out_text(out, "memory", memory_kind_text(endpoint->memory));
  json_out_close(out);
}

static void plan_json_flow(struct json_out *out, const struct flow *flow) {
  json_out_open(out, NULL, '{');
  json_out_text(out, "role", flow_role_text(flow->role));
  json_out_text(out, "method", method_text(flow->method));
  plan_json_endpoint(out, "source", &flow->source);
  plan_json_endpoint(out, "target", &flow->target);
  json_out_text(out, "initiator", initiator_text(flow->initiator));
  json_out_boolean(out, "staged", flow->staged);
  if (flow->cpu.choice != CPU_ANY) {
    json_out_integer(out, "cpu", flow->cpu.node);
  }
  json_out_integer(out, "size_bytes", (int64_t)flow->size_bytes);
  json_out_close(out);
}

/* The work of a case of another kind than transfer: that part of its definition. */
static void plan_json_work(struct json_out *out, const struct bench_case *bench) {
  json_t *definition = json_loads(bench->definition, 0, NULL);
  const json_t *work = json_object_get(definition, case_kind_text(bench->kind));
  char *text = work != NULL ? json_dumps(work, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
  json_out_raw(out, case_kind_text(bench->kind), text != NULL ? text : "null");
  free(text);
  json_decref(definition);
}

static void plan_json_case(struct json_out *out, const struct plan_case *c) {
  const struct bench_case *bench = &c->bench;
  json_out_open(out, NULL, '{');
  json_out_text(out, "name", bench->name);
  json_out_text(out, "block", bench->block);
  json_out_text(out, "path", bench->path);
  json_out_text(out, "axes", c->axes);
  json_out_text(out, "case_key", bench->key);
  json_out_text(out, "kind", case_kind_text(bench->kind));
  if (bench->kind != CASE_TRANSFER) {
    plan_json_work(out, bench);
  }
  json_out_open(out, "flows", '[');
  for (uint32_t i = 0; i < bench->flow_count; i++) {
    plan_json_flow(out, &bench->flows[i]);
  }
  json_out_close(out);
  json_out_integer(out, "payload_bytes", (int64_t)bench->payload_bytes);
  json_out_integer(out, "traffic_bytes", (int64_t)bench->traffic_bytes);
  json_out_text(out, "limit", limit_text(bench->limit));
  if (bench->peak_bytes_per_second > 0) {
    json_out_integer(out, "peak_bytes_per_second", (int64_t)bench->peak_bytes_per_second);
  } else {
    json_out_null(out, "peak_bytes_per_second");
  }
  json_out_integer(out, "estimate_ns", (int64_t)c->estimate_ns);
  json_out_integer(out, "longest_ns", (int64_t)c->longest_ns);
  json_out_integer(out, "host_bytes", (int64_t)c->host_bytes);
  json_out_integer(out, "gpu_bytes", (int64_t)c->gpu_bytes);
  json_out_text(out, "skip_reason", c->skip_reason);
  json_out_close(out);
}

/* Everything but the cases and duplicates, which come one by one into the same object. */
static void plan_json_head(struct json_out *out, const struct plan *plan, uint32_t processes) {
  json_out_open(out, NULL, '{');
  json_out_schema(out, "plan");
  json_out_text(out, "scenario", plan->scenario != NULL ? plan->scenario->name : NULL);
  json_out_text(out, "machine", plan->machine->host_name);
  json_out_text(out, "machine_source", plan->machine->source);
  json_out_integer(out, "case_count", (int64_t)plan->case_count);
  json_out_integer(out, "skip_count", (int64_t)plan->skip_count);
  json_out_integer(out, "processes", (int64_t)processes);
  json_out_integer(out, "estimate_ns_per_process", (int64_t)plan->estimate_ns);
  json_out_integer(out, "budget_ns",
                   plan->scenario != NULL ? (int64_t)plan->scenario->run.budget_ns : 0);
  json_out_integer(out, "pause_ns",
                   plan->scenario != NULL ? (int64_t)plan->scenario->run.pause_ns : 0);
  json_out_integer(out, "estimate_ns", (int64_t)plan_total_ns(plan, processes));
  json_out_integer(out, "host_bytes", (int64_t)plan->host_bytes);
  json_out_integer(out, "gpu_bytes", (int64_t)plan->gpu_bytes);
}

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
  struct strbuf text;
  strbuf_init(&text, PLAN_RECORD_MAX);
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
    json_out_open(out, NULL, '{');
    json_out_text(out, "name", plan->duplicates[i].name);
    json_out_text(out, "same_as", plan->duplicates[i].same_as);
    json_out_close(out);
    plan_json_flush(out, PLAN_CHUNK, stream, &status, err);
  }
  json_out_close(out);
  json_out_close(out);
  strbuf_append_char(&text, '\n');
  plan_json_flush(out, 0, stream, &status, err);
  strbuf_fini(&text);
  return status;
}
