#include "runner/render/plan_json.h"

#include "runner/render/text.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

enum { TEXT_MAX = 1 << 16 };

/* Text of any bytes: jansson takes valid UTF-8 only. */
static json_t *any_text(const char *value) {
  if (value == NULL) {
    return json_null();
  }
  struct strbuf repaired;
  strbuf_init(&repaired, TEXT_MAX);
  text_repair(&repaired, value, strlen(value));
  json_t *text = json_stringn(repaired.text, repaired.length);
  strbuf_fini(&repaired);
  return text;
}

static json_t *number(uint64_t value) {
  return json_integer((json_int_t)value);
}

static void set(json_t *object, const char *key, json_t *value) {
  if (value == NULL || json_object_set_new(object, key, value) != 0) {
    abort(); /* out of memory: as arena.h */
  }
}

static json_t *new_object(void) {
  json_t *object = json_object();
  if (object == NULL) {
    abort();
  }
  return object;
}

static json_t *endpoint_json(const struct endpoint *endpoint) {
  json_t *object = new_object();
  set(object, "place", any_text(place_text(endpoint->place)));
  set(object, "index", json_integer(endpoint->index));
  set(object, "memory", any_text(memory_kind_text(endpoint->memory)));
  return object;
}

static json_t *flow_json(const struct flow *flow) {
  json_t *object = new_object();
  set(object, "role", any_text(flow_role_text(flow->role)));
  set(object, "method", any_text(method_text(flow->method)));
  set(object, "source", endpoint_json(&flow->source));
  set(object, "target", endpoint_json(&flow->target));
  set(object, "initiator", any_text(initiator_text(flow->initiator)));
  set(object, "staged", json_boolean(flow->staged));
  set(object, "size_bytes", number(flow->size_bytes));
  return object;
}

/* What a case of another kind than transfer measures: the part of its definition that says so. */
static json_t *work_json(const struct bench_case *bench) {
  json_t *definition = json_loads(bench->definition, 0, NULL);
  json_t *work = json_incref(json_object_get(definition, case_kind_text(bench->kind)));
  json_decref(definition);
  return work;
}

static json_t *case_json(const struct plan_case *c) {
  const struct bench_case *bench = &c->bench;
  json_t *object = new_object();
  set(object, "name", any_text(bench->name));
  set(object, "block", any_text(bench->block));
  set(object, "path", any_text(bench->path));
  set(object, "axes", any_text(c->axes));
  set(object, "case_key", any_text(bench->key));
  set(object, "kind", any_text(case_kind_text(bench->kind)));
  if (bench->kind != CASE_TRANSFER) {
    json_t *work = work_json(bench);
    set(object, case_kind_text(bench->kind), work != NULL ? work : json_null());
  }
  json_t *flows = json_array();
  for (uint32_t i = 0; i < bench->flow_count; i++) {
    if (flows == NULL || json_array_append_new(flows, flow_json(&bench->flows[i])) != 0) {
      abort();
    }
  }
  set(object, "flows", flows);
  set(object, "payload_bytes", number(bench->payload_bytes));
  set(object, "traffic_bytes", number(bench->traffic_bytes));
  set(object, "limit", any_text(limit_text(bench->limit)));
  const bool known = bench->peak_bytes_per_second > 0;
  set(object, "peak_bytes_per_second", known ? number(bench->peak_bytes_per_second) : json_null());
  set(object, "estimate_ns", number(c->estimate_ns));
  set(object, "longest_ns", number(c->longest_ns));
  set(object, "host_bytes", number(c->host_bytes));
  set(object, "gpu_bytes", number(c->gpu_bytes));
  set(object, "skip_reason", any_text(c->skip_reason));
  return object;
}

/* Everything but the cases and duplicates, which come one by one. */
static json_t *head_json(const struct plan *plan, uint32_t processes) {
  json_t *object = new_object();
  set(object, "scenario", any_text(plan->scenario != NULL ? plan->scenario->name : NULL));
  set(object, "machine", any_text(plan->machine->host_name));
  set(object, "machine_source", any_text(plan->machine->source));
  set(object, "case_count", number(plan->case_count));
  set(object, "skip_count", number(plan->skip_count));
  set(object, "processes", number(processes));
  set(object, "estimate_ns_per_process", number(plan->estimate_ns));
  set(object, "estimate_ns", number(plan->estimate_ns * processes));
  set(object, "host_bytes", number(plan->host_bytes));
  set(object, "gpu_bytes", number(plan->gpu_bytes));
  return object;
}

/* Write `before` and the object, which is freed; false when the stream failed. */
static bool put(FILE *stream, const char *before, json_t *object) {
  char *text = json_dumps(object, JSON_COMPACT);
  json_decref(object);
  if (text == NULL) {
    abort();
  }
  const bool fine = fputs(before, stream) != EOF && fputs(text, stream) != EOF;
  free(text);
  return fine;
}

static bool put_cases(const struct plan *plan, FILE *stream) {
  bool fine = fputs(",\n\"cases\":[", stream) != EOF;
  for (size_t i = 0; fine && i < plan->case_count; i++) {
    fine = put(stream, i > 0 ? ",\n" : "\n", case_json(&plan->cases[i]));
  }
  return fine && fputs("],\n\"duplicates\":[", stream) != EOF;
}

static bool put_duplicates(const struct plan *plan, FILE *stream) {
  bool fine = true;
  for (size_t i = 0; fine && i < plan->duplicate_count; i++) {
    json_t *object = new_object();
    set(object, "name", any_text(plan->duplicates[i].name));
    set(object, "same_as", any_text(plan->duplicates[i].same_as));
    fine = put(stream, i > 0 ? ",\n" : "\n", object);
  }
  return fine;
}

enum status plan_render_json(const struct plan *plan, uint32_t processes, FILE *stream,
                             struct error *err) {
  json_t *head = head_json(plan, processes);
  char *text = json_dumps(head, JSON_INDENT(0));
  json_decref(head);
  if (text == NULL) {
    abort();
  }
  /* The cases go into the same object: without its closing brace. */
  text[strlen(text) - 1] = '\0';
  errno = 0;
  const bool fine = fputs(text, stream) != EOF && put_cases(plan, stream) &&
                    put_duplicates(plan, stream) && fputs("]}\n", stream) != EOF &&
                    fflush(stream) == 0;
  const int saved = errno;
  free(text);
  return fine || saved == EPIPE ? STATUS_OK : error_set_errno(err, saved, "cannot write the plan");
}
