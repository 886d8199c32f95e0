#include "runner/plan/key.h"

#include "engine/engine.h"

#include <xxhash.h>

/* Raised when the text below changes its meaning for all methods. */
enum { DEFINITION_VERSION = 1 };

static void append_number(struct strbuf *text, const char *before, uint64_t value) {
  char digits[20];
  size_t at = sizeof digits;
  do {
    digits[--at] = (char)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  strbuf_append(text, before);
  strbuf_append_n(text, digits + at, sizeof digits - at);
}

/* Words only: no text here needs escaping. */
static void append_word(struct strbuf *text, const char *before, const char *word) {
  strbuf_append(text, before);
  strbuf_append_char(text, '"');
  strbuf_append(text, word);
  strbuf_append_char(text, '"');
}

static void append_endpoint(struct strbuf *text, const char *before,
                            const struct endpoint *endpoint) {
  strbuf_append(text, before);
  append_word(text, "{\"place\":", place_text(endpoint->place));
  append_number(text, ",\"index\":", (uint64_t)endpoint->index);
  append_word(text, ",\"memory\":", memory_kind_text(endpoint->memory));
  strbuf_append_char(text, '}');
}

static void append_method_options(struct strbuf *text, const struct flow *flow) {
  switch (flow->method) {
  case METHOD_CE:
    break;
  case METHOD_CPU:
    append_number(text, ",\"threads\":", flow->threads);
    break;
  case METHOD_SM:
    append_word(text, ",\"kernel\":{\"variant\":", kernel_variant_text(flow->kernel.variant));
    append_number(text, ",\"block\":", flow->kernel.block);
    append_number(text, ",\"grid\":", flow->kernel.grid);
    append_number(text, ",\"vector_bytes\":", flow->kernel.vector_bytes);
    strbuf_append_char(text, '}');
    break;
  case METHOD_UM:
    append_word(text, ",\"unified\":{\"mode\":", unified_mode_text(flow->unified.mode));
    append_word(text, ",\"touch_by\":", initiator_text(flow->unified.touch_by));
    append_number(text, ",\"threads\":", flow->unified.threads);
    append_word(text, ",\"advise\":", advise_text(flow->unified.advise));
    append_number(text, ",\"stride_bytes\":", flow->unified.stride_bytes);
    strbuf_append_char(text, '}');
    break;
  case method_name_count:
    break;
  }
}

static void append_flow(struct strbuf *text, const struct flow *flow) {
  append_word(text, "{\"role\":", flow_role_text(flow->role));
  append_word(text, ",\"method\":", method_text(flow->method));
  append_number(text, ",\"method_version\":", engine_method_version(flow->method));
  append_endpoint(text, ",\"source\":", &flow->source);
  append_endpoint(text, ",\"target\":", &flow->target);
  append_word(text, ",\"initiator\":", initiator_text(flow->initiator));
  append_number(text, ",\"staged\":", flow->staged ? 1 : 0);
  append_number(text, ",\"size_bytes\":", flow->size_bytes);
  if (copy_shape_is_strided(&flow->shape)) {
    append_number(text, ",\"shape\":{\"width_bytes\":", flow->shape.width_bytes);
    append_number(text, ",\"height\":", flow->shape.height);
    append_number(text, ",\"depth\":", flow->shape.depth);
    append_number(text, ",\"pitch_bytes\":", flow->shape.pitch_bytes);
    strbuf_append_char(text, '}');
  }
  append_method_options(text, flow);
  strbuf_append_char(text, '}');
}

/* Managed pages may be on either side. */
static bool touches(const struct flow *flow, enum place place) {
  return flow->source.place == place || flow->target.place == place ||
         flow->source.memory == MEMORY_MANAGED || flow->target.memory == MEMORY_MANAGED;
}

static void append_start(struct strbuf *text, enum case_kind kind) {
  append_number(text, "{\"version\":", DEFINITION_VERSION);
  append_word(text, ",\"kind\":", case_kind_text(kind));
}

/* Opens "measure": how long a trial is. */
static void append_length(struct strbuf *text, const struct measure *measure) {
  if (measure->iterations > 0) {
    append_number(text, ",\"measure\":{\"iterations\":", measure->iterations);
  } else {
    append_number(text, ",\"measure\":{\"min_trial_ns\":", measure->min_trial_ns);
  }
}

void key_define(const struct flow *flows, uint32_t flow_count, const struct measure *measure,
                struct strbuf *text) {
  bool host = false;
  bool device = false;
  append_start(text, CASE_TRANSFER);
  strbuf_append(text, ",\"flows\":[");
  for (uint32_t i = 0; i < flow_count; i++) {
    strbuf_append(text, i > 0 ? "," : "");
    append_flow(text, &flows[i]);
    if (flows[i].role == FLOW_MEASURED) {
      host = host || touches(&flows[i], PLACE_NUMA);
      device = device || touches(&flows[i], PLACE_GPU);
    }
  }
  strbuf_append_char(text, ']');
  append_length(text, measure);
  if (host) {
    append_word(text, ",\"host_cache\":", cache_state_text(measure->host_cache));
  }
  if (device) {
    append_word(text, ",\"device_cache\":", cache_state_text(measure->device_cache));
  }
  if (measure->gating != GATING_ON) {
    append_word(text, ",\"gate\":", gating_text(measure->gating));
  }
  strbuf_append(text, "}}");
}

static void append_chase(struct strbuf *text, const struct chase *chase) {
  append_number(text, ",\"chase\":{\"method_version\":", CHASE_METHOD_VERSION);
  append_word(text, ",\"space\":", chase_space_text(chase->space));
  append_number(text, ",\"gpu\":", (uint64_t)chase->gpu);
  append_endpoint(text, ",\"memory\":", &chase->memory);
  append_number(text, ",\"footprint_bytes\":", chase->footprint_bytes);
  append_number(text, ",\"stride_bytes\":", chase->stride_bytes);
  append_word(text, ",\"order\":", chase_order_text(chase->order));
  if (chase->space == CHASE_GLOBAL) {
    append_word(text, ",\"cache\":", cache_level_text(chase->cache));
  }
  append_number(text, ",\"threads\":", chase->threads);
  append_number(text, ",\"blocks\":", chase->blocks);
  append_number(text, ",\"hops\":", chase->hops);
  strbuf_append_char(text, '}');
}

static void append_stream(struct strbuf *text, const struct stream *stream) {
  append_number(text, ",\"stream\":{\"method_version\":", STREAM_METHOD_VERSION);
  append_word(text, ",\"op\":", stream_op_text(stream->op));
  append_word(text, ",\"type\":", number_type_text(stream->type));
  append_endpoint(text, ",\"memory\":", &stream->memory);
  append_number(text, ",\"size_bytes\":", stream->size_bytes);
  append_number(text, ",\"passes\":", stream->passes);
  if (stream->memory.place == PLACE_NUMA) {
    append_number(text, ",\"threads\":", stream->threads);
  } else {
    append_number(text, ",\"block\":", stream->block);
    if (stream->grid == STREAM_GRID_FULL) {
      append_word(text, ",\"grid\":", "full");
    } else {
      append_number(text, ",\"grid\":", stream->grid);
    }
    append_number(text, ",\"vector_bytes\":", stream->vector_bytes);
    append_number(text, ",\"unroll\":", stream->unroll);
    append_word(text, ",\"clock\":", stream_clock_text(stream->clock));
  }
  strbuf_append_char(text, '}');
}

static void append_arithmetic(struct strbuf *text, const struct arithmetic *arithmetic) {
  append_number(text, ",\"arithmetic\":{\"method_version\":", ARITHMETIC_METHOD_VERSION);
  append_word(text, ",\"op\":", arithmetic_op_text(arithmetic->op));
  append_word(text, ",\"type\":", number_type_text(arithmetic->type));
  append_word(text, ",\"measure\":", arithmetic_measure_text(arithmetic->measure));
  append_number(text, ",\"gpu\":", (uint64_t)arithmetic->gpu);
  append_number(text, ",\"ilp\":", arithmetic->ilp);
  append_number(text, ",\"block\":", arithmetic->block);
  append_number(text, ",\"grid\":", arithmetic->grid);
  append_number(text, ",\"instructions\":", arithmetic->instructions);
  strbuf_append_char(text, '}');
}

static void append_overhead(struct strbuf *text, const struct overhead *overhead) {
  append_number(text, ",\"overhead\":{\"method_version\":", OVERHEAD_METHOD_VERSION);
  append_word(text, ",\"operation\":", overhead_operation_text(overhead->operation));
  if (overhead->gpu >= 0) {
    append_number(text, ",\"gpu\":", (uint64_t)overhead->gpu);
  }
  if (overhead->operation == OVERHEAD_ALLOCATE || overhead->operation == OVERHEAD_FREE) {
    append_endpoint(text, ",\"memory\":", &overhead->memory);
    append_number(text, ",\"size_bytes\":", overhead->size_bytes);
  }
  strbuf_append_char(text, '}');
}

void key_define_work(const struct bench_case *bench, const struct measure *measure,
                     struct strbuf *text) {
  append_start(text, bench->kind);
  switch (bench->kind) {
  case CASE_CHASE:
    append_chase(text, &bench->work.chase);
    break;
  case CASE_STREAM:
    append_stream(text, &bench->work.stream);
    break;
  case CASE_ARITHMETIC:
    append_arithmetic(text, &bench->work.arithmetic);
    break;
  case CASE_OVERHEAD:
    append_overhead(text, &bench->work.overhead);
    break;
  case CASE_TRANSFER:
  case case_kind_name_count:
    break;
  }
  append_length(text, measure);
  if (bench->kind == CASE_STREAM) {
    const bool host = bench->work.stream.memory.place == PLACE_NUMA;
    append_word(text, host ? ",\"host_cache\":" : ",\"device_cache\":",
                cache_state_text(host ? measure->host_cache : measure->device_cache));
  }
  strbuf_append(text, "}}");
}

void key_define_unresolved(enum case_kind kind, const char *name, struct strbuf *text) {
  append_start(text, kind);
  append_word(text, ",\"unresolved\":", name);
  strbuf_append_char(text, '}');
}

void key_of_definition(const char *definition, size_t length, char key[CASE_KEY_MAX]) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(definition, length));
  for (size_t i = 0; i < sizeof canonical.digest; i++) {
    key[2 * i] = "0123456789abcdef"[canonical.digest[i] >> 4];
    key[2 * i + 1] = "0123456789abcdef"[canonical.digest[i] & 15];
  }
  key[CASE_KEY_MAX - 1] = '\0';
}
