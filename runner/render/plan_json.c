#include "runner/render/plan_json.h"

#include "runner/render/text.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The longest record: a case of many flows. */
enum { RECORD_MAX = 1 << 20 };

/* Plans have 10^5 cases and more: a tree of jansson for each would cost more than planning it. What
 * is not plain ASCII is still encoded by jansson. */
static void put_text(struct strbuf *out, const char *value) {
  if (value == NULL) {
    strbuf_append(out, "null");
    return;
  }
  bool plain = true;
  for (const char *c = value; *c != '\0' && plain; c++) {
    plain = *c >= 0x20 && *c < 0x7f && *c != '"' && *c != '\\';
  }
  if (plain) {
    strbuf_append_char(out, '"');
    strbuf_append(out, value);
    strbuf_append_char(out, '"');
    return;
  }
  struct strbuf repaired;
  strbuf_init(&repaired, RECORD_MAX);
  text_repair(&repaired, value, strlen(value));
  json_t *text = json_stringn(repaired.text, repaired.length);
  char *encoded = text != NULL ? json_dumps(text, JSON_ENCODE_ANY) : NULL;
  if (encoded == NULL) {
    abort(); /* out of memory: as arena.h */
  }
  strbuf_append(out, encoded);
  free(encoded);
  json_decref(text);
  strbuf_fini(&repaired);
}

/* Members of an object, each with the comma before it. */
static void put_key(struct strbuf *out, const char *key) {
  const bool first = out->length == 0 || out->text[out->length - 1] == '{';
  strbuf_append(out, first ? "\"" : ",\"");
  strbuf_append(out, key);
  strbuf_append(out, "\":");
}

static void put_member(struct strbuf *out, const char *key, const char *value) {
  put_key(out, key);
  put_text(out, value);
}

static void put_number(struct strbuf *out, const char *key, uint64_t value) {
  put_key(out, key);
  strbuf_printf(out, "%" PRIu64, value);
}

static void put_endpoint(struct strbuf *out, const char *key, const struct endpoint *endpoint) {
  put_key(out, key);
  strbuf_append_char(out, '{');
  put_member(out, "place", place_text(endpoint->place));
  put_key(out, "index");
  strbuf_printf(out, "%" PRId32, endpoint->index);
  put_member(out, "memory", memory_kind_text(endpoint->memory));
  strbuf_append_char(out, '}');
}

static void put_flow(struct strbuf *out, const struct flow *flow) {
  strbuf_append_char(out, '{');
  put_member(out, "role", flow_role_text(flow->role));
  put_member(out, "method", method_text(flow->method));
  put_endpoint(out, "source", &flow->source);
  put_endpoint(out, "target", &flow->target);
  put_member(out, "initiator", initiator_text(flow->initiator));
  put_key(out, "staged");
  strbuf_append(out, flow->staged ? "true" : "false");
  put_number(out, "size_bytes", flow->size_bytes);
  strbuf_append_char(out, '}');
}

/* What a case of another kind than transfer measures: the part of its definition that says so. */
static void put_work(struct strbuf *out, const struct bench_case *bench) {
  json_t *definition = json_loads(bench->definition, 0, NULL);
  const json_t *work = json_object_get(definition, case_kind_text(bench->kind));
  char *text = work != NULL ? json_dumps(work, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
  put_key(out, case_kind_text(bench->kind));
  strbuf_append(out, text != NULL ? text : "null");
  free(text);
  json_decref(definition);
}

static void put_case(struct strbuf *out, const struct plan_case *c) {
  const struct bench_case *bench = &c->bench;
  strbuf_append_char(out, '{');
  put_member(out, "name", bench->name);
  put_member(out, "block", bench->block);
  put_member(out, "path", bench->path);
  put_member(out, "axes", c->axes);
  put_member(out, "case_key", bench->key);
  put_member(out, "kind", case_kind_text(bench->kind));
  if (bench->kind != CASE_TRANSFER) {
    put_work(out, bench);
  }
  put_key(out, "flows");
  strbuf_append_char(out, '[');
  for (uint32_t i = 0; i < bench->flow_count; i++) {
    strbuf_append(out, i > 0 ? "," : "");
    put_flow(out, &bench->flows[i]);
  }
  strbuf_append_char(out, ']');
  put_number(out, "payload_bytes", bench->payload_bytes);
  put_number(out, "traffic_bytes", bench->traffic_bytes);
  put_member(out, "limit", limit_text(bench->limit));
  if (bench->peak_bytes_per_second > 0) {
    put_number(out, "peak_bytes_per_second", bench->peak_bytes_per_second);
  } else {
    put_member(out, "peak_bytes_per_second", NULL);
  }
  put_number(out, "estimate_ns", c->estimate_ns);
  put_number(out, "longest_ns", c->longest_ns);
  put_number(out, "host_bytes", c->host_bytes);
  put_number(out, "gpu_bytes", c->gpu_bytes);
  put_member(out, "skip_reason", c->skip_reason);
  strbuf_append_char(out, '}');
}

/* Everything but the cases and duplicates, which come one by one into the same object. */
static void put_head(struct strbuf *out, const struct plan *plan, uint32_t processes) {
  strbuf_append_char(out, '{');
  put_member(out, "scenario", plan->scenario != NULL ? plan->scenario->name : NULL);
  put_member(out, "machine", plan->machine->host_name);
  put_member(out, "machine_source", plan->machine->source);
  put_number(out, "case_count", plan->case_count);
  put_number(out, "skip_count", plan->skip_count);
  put_number(out, "processes", processes);
  put_number(out, "estimate_ns_per_process", plan->estimate_ns);
  put_number(out, "estimate_ns", plan->estimate_ns * processes);
  put_number(out, "host_bytes", plan->host_bytes);
  put_number(out, "gpu_bytes", plan->gpu_bytes);
}

/* What is in the buffer, which is empty then; false when the stream failed. */
static bool flush(struct strbuf *out, FILE *stream) {
  const bool fine = fwrite(out->text, 1, out->length, stream) == out->length;
  strbuf_clear(out);
  return fine;
}

static bool put_cases(struct strbuf *out, const struct plan *plan, FILE *stream) {
  bool fine = true;
  strbuf_append(out, ",\n\"cases\":[");
  for (size_t i = 0; fine && i < plan->case_count; i++) {
    strbuf_append(out, i > 0 ? ",\n" : "\n");
    put_case(out, &plan->cases[i]);
    fine = flush(out, stream);
  }
  return fine;
}

static bool put_duplicates(struct strbuf *out, const struct plan *plan, FILE *stream) {
  bool fine = true;
  strbuf_append(out, "],\n\"duplicates\":[");
  for (size_t i = 0; fine && i < plan->duplicate_count; i++) {
    strbuf_append(out, i > 0 ? ",\n{" : "\n{");
    put_member(out, "name", plan->duplicates[i].name);
    put_member(out, "same_as", plan->duplicates[i].same_as);
    strbuf_append_char(out, '}');
    fine = flush(out, stream);
  }
  strbuf_append(out, "]}\n");
  return fine && flush(out, stream);
}

enum status plan_render_json(const struct plan *plan, uint32_t processes, FILE *stream,
                             struct error *err) {
  struct strbuf out;
  strbuf_init(&out, RECORD_MAX);
  errno = 0;
  put_head(&out, plan, processes);
  const bool fine =
      put_cases(&out, plan, stream) && put_duplicates(&out, plan, stream) && fflush(stream) == 0;
  const int saved = errno;
  strbuf_fini(&out);
  return fine || saved == EPIPE ? STATUS_OK : error_set_errno(err, saved, "cannot write the plan");
}
