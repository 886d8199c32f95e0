/* env_json.c - a machine as one JSON object. */
#include "engine/machine/machine.h"
#include "runner/render/env.h"
#include "runner/table/json.h"
#include "schema/machine/machine_file.h"

enum { JSON_MAX = 64 << 20 };

/* null where it is not known. */
static void env_json_known(struct json_out *json, const char *key, uint64_t value) {
  if (value > 0) {
    json_out_integer(json, key, (int64_t)value);
  } else {
    json_out_null(json, key);
  }
}

static void env_json_key(struct json_out *json, const void *object, const struct key *key) {
  const int64_t number = machine_key_number(object, key);
  if (key->type == KEY_TEXT) {
    json_out_text(json, key->name, machine_key_text(object, key));
  } else if (key->type == KEY_BOOL) {
    json_out_boolean(json, key->name, number != 0);
  } else if (number == key->absent) {
    json_out_null(json, key->name);
  } else {
    json_out_integer(json, key->name, number);
  }
}

static void env_json_keys(struct json_out *json, const void *object, const struct key *keys,
                          size_t count) {
  for (size_t i = 0; i < count; i++) {
    env_json_key(json, object, &keys[i]);
  }
}

/* gpu: -1 = of the whole machine. */
static void env_json_facts(struct json_out *json, const struct machine *machine, int32_t gpu) {
  json_out_open(json, "facts", '{');
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    const struct fact *fact = &machine->facts[i];
    if (fact->gpu == gpu) {
      json_out_open(json, fact->name, '{');
      json_out_text(json, "state", fact_state_text(fact->state));
      json_out_text(json, fact->state == FACT_OK ? "value" : "reason", fact->value);
      json_out_close(json);
    }
  }
  json_out_close(json);
}

static void env_json_nodes(struct json_out *json, const struct machine *machine) {
  json_out_open(json, "numa_nodes", '[');
  for (uint32_t i = 0; i < machine->node_count; i++) {
    json_out_open(json, NULL, '{');
    env_json_keys(json, &machine->nodes[i], NODE_KEYS, NODE_KEY_COUNT);
    json_out_open(json, "distance", '[');
    for (uint32_t to = 0; to < machine->node_count; to++) {
      env_json_known(json, NULL, machine->node_distance[i][to]);
    }
    json_out_close(json);
    json_out_close(json);
  }
  json_out_close(json);
}

static void env_json_gpus(struct json_out *json, const struct machine *machine) {
  json_out_open(json, "gpus", '[');
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    enum limit limit;
    const uint64_t host_peak = peak_gpu_host(&machine->gpus[i], &limit);
    json_out_open(json, NULL, '{');
    json_out_integer(json, "gpu", i);
    env_json_keys(json, &machine->gpus[i], GPU_KEYS, GPU_KEY_COUNT);
    env_json_known(json, "memory_peak_bytes_per_second", peak_dram(&machine->gpus[i]));
    env_json_known(json, "host_peak_bytes_per_second", host_peak);
    json_out_text(json, "host_link", limit_text(limit));
    env_json_facts(json, machine, (int32_t)i);
    json_out_close(json);
  }
  json_out_close(json);
}

static void env_json_links(struct json_out *json, const struct machine *machine) {
  json_out_open(json, "links", '[');
  for (uint32_t from = 0; from < machine->gpu_count; from++) {
    for (uint32_t to = 0; to < machine->gpu_count; to++) {
      const struct gpu_link *link = &machine->links[from][to];
      enum limit limit;
      if (from == to) {
        continue;
      }
      const uint64_t peak = peak_gpu_gpu(machine, from, to, &limit);
      json_out_open(json, NULL, '{');
      json_out_integer(json, "from", from);
      json_out_integer(json, "to", to);
      json_out_boolean(json, "peer_access", link->peer_access);
      json_out_integer(json, "nvlink_count", link->nvlink_count);
      json_out_text(json, "link", limit_text(limit));
      env_json_known(json, "peak_bytes_per_second", peak);
      json_out_close(json);
    }
  }
  json_out_close(json);
}

enum status env_print_json(const struct machine *machine, FILE *stream, struct error *err) {
  struct strbuf text;
  strbuf_init(&text, JSON_MAX);
  struct json_out json = {.text = &text, .indent = 2};
  json_out_open(&json, NULL, '{');
  json_out_schema(&json, "env");
  env_json_keys(&json, machine, MACHINE_KEYS, MACHINE_KEY_COUNT);
  json_out_text(&json, "source", machine->source);
  env_json_facts(&json, machine, -1);
  env_json_nodes(&json, machine);
  env_json_gpus(&json, machine);
  env_json_links(&json, machine);
  json_out_close(&json);
  strbuf_append_char(&text, '\n');
  const enum status status = stream_write(stream, &text, NULL, err);
  strbuf_fini(&text);
  return status;
}
