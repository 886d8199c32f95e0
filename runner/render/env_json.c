/* env_json.c - a machine as one JSON object. */
#include "engine/machine/machine.h"
#include "runner/render/env.h"
#include "runner/table/json_shape.h"
#include "schema/machine/machine_file.h"

enum { JSON_MAX = 64 << 20 };

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

static void env_describe_keys(struct json_shape *shape, const struct key *keys, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (keys[i].type == KEY_TEXT) {
      json_shape_text(shape, keys[i].name);
    } else if (keys[i].type == KEY_BOOL) {
      json_shape_boolean(shape, keys[i].name);
    } else {
      json_shape_known(shape, keys[i].name);
    }
  }
}

#define ENV_FACT(X)                                                                                \
  X("state", text, fact_state_text(fact->state))                                                   \
  X("value", text, fact->state == FACT_OK ? fact->value : NULL)                                    \
  X("reason", text, fact->state == FACT_OK ? NULL : fact->value)

JSON_DESCRIBER_STATIC(env_describe_fact, ENV_FACT, JSON_DESCRIBE)

/* gpu: -1 = of the whole machine. */
static void env_json_facts(struct json_out *json, const struct machine *machine, int32_t gpu) {
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    const struct fact *fact = &machine->facts[i];
    if (fact->gpu == gpu) {
      json_out_open(json, fact->name, '{');
      ENV_FACT(JSON_PUT)
      json_out_close(json);
    }
  }
}

static void env_json_nodes(struct json_out *json, const struct machine *machine) {
  for (uint32_t i = 0; i < machine->node_count; i++) {
    json_out_open(json, NULL, '{');
    env_json_keys(json, &machine->nodes[i], NODE_KEYS, NODE_KEY_COUNT);
    json_out_open(json, "distance", '[');
    for (uint32_t to = 0; to < machine->node_count; to++) {
      const uint8_t distance = machine->node_distance[i][to];
      JSON_PUT_known(NULL, distance > 0, distance)
    }
    json_out_close(json);
    json_out_close(json);
  }
}

static void env_describe_node(struct json_shape *shape) {
  env_describe_keys(shape, NODE_KEYS, NODE_KEY_COUNT);
  json_shape_knowns(shape, "distance");
}

/* After the keys of a GPU. */
#define ENV_GPU(X)                                                                                 \
  X("memory_peak_bytes_per_second", known, memory_peak > 0, memory_peak)                           \
  X("host_peak_bytes_per_second", known, host_peak > 0, host_peak)                                 \
  X("host_link", text, limit_text(limit))                                                          \
  X("facts", map, env_describe_fact, env_json_facts(json, machine, (int32_t)i))

static void env_json_gpus(struct json_out *json, const struct machine *machine) {
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    enum limit limit;
    const uint64_t host_peak = peak_gpu_host(&machine->gpus[i], &limit);
    const uint64_t memory_peak = peak_dram(&machine->gpus[i]);
    json_out_open(json, NULL, '{');
    json_out_integer(json, "gpu", i);
    env_json_keys(json, &machine->gpus[i], GPU_KEYS, GPU_KEY_COUNT);
    ENV_GPU(JSON_PUT)
    json_out_close(json);
  }
}

static void env_describe_gpu(struct json_shape *shape) {
  json_shape_integer(shape, "gpu");
  env_describe_keys(shape, GPU_KEYS, GPU_KEY_COUNT);
  ENV_GPU(JSON_DESCRIBE)
}

#define ENV_LINK(X)                                                                                \
  X("from", integer, from)                                                                         \
  X("to", integer, to)                                                                             \
  X("peer_access", boolean, link->peer_access)                                                     \
  X("nvlink_count", integer, link->nvlink_count)                                                   \
  X("link", text, limit_text(limit))                                                               \
  X("peak_bytes_per_second", known, peak > 0, peak)

static void env_json_links(struct json_out *json, const struct machine *machine) {
  for (uint32_t from = 0; from < machine->gpu_count; from++) {
    for (uint32_t to = 0; to < machine->gpu_count; to++) {
      const struct gpu_link *link = &machine->links[from][to];
      enum limit limit;
      if (from == to) {
        continue;
      }
      const uint64_t peak = peak_gpu_gpu(machine, from, to, &limit);
      json_out_open(json, NULL, '{');
      ENV_LINK(JSON_PUT)
      json_out_close(json);
    }
  }
}

JSON_DESCRIBER_STATIC(env_describe_link, ENV_LINK, JSON_DESCRIBE)

/* After the keys of a machine. */
#define ENV_MEMBERS(X)                                                                             \
  X("source", text, machine->source)                                                               \
  X("facts", map, env_describe_fact, env_json_facts(json, machine, -1))                            \
  X("numa_nodes", array, env_describe_node, env_json_nodes(json, machine))                         \
  X("gpus", array, env_describe_gpu, env_json_gpus(json, machine))                                 \
  X("links", array, env_describe_link, env_json_links(json, machine))

void env_describe_json(struct json_shape *shape) {
  env_describe_keys(shape, MACHINE_KEYS, MACHINE_KEY_COUNT);
  ENV_MEMBERS(JSON_DESCRIBE)
}

enum status env_print_json(const struct machine *machine, FILE *stream, struct error *err) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(JSON_MAX);
  struct json_out out = {.text = &text, .indent = 2};
  struct json_out *json = &out;
  json_out_open(json, NULL, '{');
  json_out_schema(json, "env");
  env_json_keys(json, machine, MACHINE_KEYS, MACHINE_KEY_COUNT);
  ENV_MEMBERS(JSON_PUT)
  json_out_close(json);
  strbuf_append_char(&text, '\n');
  return stream_write(stream, &text, NULL, err);
}
